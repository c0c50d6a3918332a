"""Defects that ugly data brought to light in EXC and IMC: what a large spacing must not spoil, and numbers that are no classes."""

from __future__ import annotations

import numpy as np
import pytest

from simopt import solve
from simopt.core.errors import InvalidProblem
from simopt.estimators.ordinal.ordinal import ordinal
from simopt.model.status import Status
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.problems.thresholds.constant_scores import best_constant_thresholds


@pytest.mark.parametrize("solver", [pytest.param("newton", marks=pytest.mark.slow), "interior-point", "clarabel"])
def test_with_one_threshold_a_large_spacing_does_not_matter(solver: str) -> None:
    rng = np.random.default_rng(5)
    features, labels = rng.normal(size=(12, 2)), 1.0 + (np.arange(12) > 6)
    found = [solve(EXCOrdinal(features, labels, 2, 1e-8, delta, bound=Penalty(1.0)), solver) for delta in (0.0, 1e6)]
    assert [solution.status for solution in found] == [Status.OPTIMAL, Status.OPTIMAL]
    assert found[0].certificate is not None and found[1].certificate is not None
    assert found[0].certificate.upper == pytest.approx(found[1].certificate.upper, rel=1e-7)


def test_a_threshold_beside_a_large_spacing_is_not_rounded() -> None:
    problem = EXCOrdinal(np.ones((3, 1)), [1.0, 2.0, 2.0], 2, 1e-8, 1e6, bound=Ball(1.0))
    assert problem.restore({"w": np.zeros(1), "thresholds": np.array([3e-9])})["thresholds"][0] == 3e-9


@pytest.mark.parametrize("label", [1, 2, 3])
def test_one_class_costs_nothing_whatever_the_spacing(label: int) -> None:
    problem = EXCOrdinal(np.ones((4, 1)), np.full(4, label), 3, 1e-8, 0.5, bound=Penalty(1.0))
    assert problem.start == 0.0
    assert problem.scale() == 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_best_constant_thresholds_are_spaced_and_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes, gamma, delta = 4, 1.0, float(rng.choice([0.0, 0.5, 3.0]))
    counts = rng.integers(0, 6, size=classes) + (np.arange(classes) == 1)
    labels = np.repeat(np.arange(1, classes + 1), counts)
    b = best_constant_thresholds(labels, classes, gamma, delta)
    assert np.all(np.diff(b) >= delta)
    kinks = sorted({sign * gamma + k * delta for sign in (-1, 1) for k in range(-3, 4)})

    def loss(b: tuple[float, ...]) -> float:
        below, above = np.maximum(np.array(b) + gamma, 0.0), np.maximum(gamma - np.array(b), 0.0)
        return float(counts[1:] @ below + counts[:-1] @ above)

    spaced = [(x, y, z) for x in kinks for y in kinks for z in kinks if y - x >= delta and z - y >= delta]
    assert loss(tuple(b)) == pytest.approx(min(map(loss, spaced)), abs=1e-12)


@pytest.mark.parametrize("classes", [2001, 10**6, 10**15])
def test_so_many_classes_are_refused_before_memory_is(classes: int) -> None:
    with pytest.raises(InvalidProblem, match=f"^classes: {classes} given, at most 2000 possible"):
        EXCOrdinal(np.ones((3, 1)), [1.0, 2.0, 2.0], classes, 1.0, 0.5, bound=Ball(1.0))
    with pytest.raises(InvalidProblem, match="^classes: .* at most 2000"):
        OrdinalGoodness(np.ones((3, 3)), [1.0, 2.0, 2.0], classes, 1.0)
    for thresholds in ("learned", "equispaced"):
        with pytest.raises(InvalidProblem, match="^classes: .* at most 2000"):
            ordinal(np.arange(6.0).reshape(3, 2), [1, 2, 2], classes=classes, thresholds=thresholds)
