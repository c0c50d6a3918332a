"""An answer must not depend on the clock: when certificates are looked at is counted in iterations."""

from itertools import count

import numpy as np
import pytest

import simopt
from simopt.data.similarities import Laplacian
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM


class Clock:
    """Time that passes at each look by an ever larger, or an ever smaller, step."""

    def __init__(self, factor: float) -> None:
        self._steps = (1e-6 * factor**i for i in count())
        self._now = 0.0

    def __call__(self) -> float:
        self._now += next(self._steps)
        return self._now


@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-7])
def test_slow_and_fast_machines_give_the_same_answer(tol: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    problem = HingeSVM(Laplacian(3.0).gram(X), np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, 1.0, -1.0), Penalty(1e-3))
    simopt.solve(problem, "svm")  # compiled outside of what is measured
    answers = []
    for factor in (1.0, 1.3, 0.1):
        monkeypatch.setattr("simopt.solving.run.time.perf_counter", Clock(factor))
        answers.append(simopt.solve(problem, "svm", tol=tol, time_limit=1e9))
    monkeypatch.undo()
    assert len({answer.provenance.iterations for answer in answers}) == 1
    for answer in answers:
        assert answer.optimal and answer.point is not None and answers[0].point is not None
        np.testing.assert_array_equal(answer.point["alpha"], answers[0].point["alpha"])
