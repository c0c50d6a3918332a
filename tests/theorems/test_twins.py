"""Tikhonov and Ivanov twins: every problem with both forms has them, under its own name, and they are equivalent within their radii."""

import math
from dataclasses import fields

import numpy as np
import pytest

from simopt.core import registry
from simopt.equivalence.decide import decide
from simopt.equivalence.equivalence import Answer, Equivalence
from simopt.equivalence.samples import sample_for, synthetic
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import verify_weak
from simopt.problems.bounds import Bounded, InBall, Penalised
from simopt.theorems.twins.equivalences import PenalisedPath, in_ball, penalised, seen
from simopt.theorems.twins.forms import Twin, twins

TWINS = {" ".join(twin.names): twin for twin in twins()}
QUICK = ("landmarked-ridge landmarked-least-squares",)
EACH = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in TWINS]


def registered(twin: Twin) -> Equivalence:
    made: Equivalence = registry.find("equivalence", "-to-".join(twin.names)).build()
    return made


def sample(twin: Twin) -> TrainingSet:
    return sample_for([penalised(twin), in_ball(twin)], synthetic(10)).Z


def test_every_problem_with_a_penalty_and_a_ball_is_there() -> None:
    """By its forms, not by the twins themselves: a penalty of one number beside a ball of one number, in one class."""
    registry.load("problems", "theorems")
    by_class: dict[type, list[type]] = {}
    for _, form in registry.items("problem"):
        if issubclass(form, Bounded):
            by_class.setdefault(form.__bases__[0], []).append(form)
    wanted = []
    for forms in by_class.values():
        single = [form for form in forms if len(fields(form.bounds[form.key])) == 1]
        bounds = [form.bounds[form.key] for form in single]
        if any(issubclass(bound, Penalised) for bound in bounds) and any(issubclass(bound, InBall) for bound in bounds):
            wanted += [form.name for form in single]
    assert len(wanted) >= 16
    for name in wanted:
        assert registry.has("family", name), name
        assert any(name in twin.names and not twin.missing() for twin in TWINS.values()), name
    for twin in TWINS.values():
        assert registry.has("equivalence", "-to-".join(twin.names))


def test_what_is_written_by_hand_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.load("theorems")
    for name in ("hinge-svm", "hinge-svm-ball", "landmarked-svr", "landmarked-svr-penalised"):
        assert "twins" not in registry.module_of("family", name)
    assert "twins" in registry.module_of("family", "landmarked-ridge")
    assert "epsilon" in str(registry.get("equivalence", "landmarked-svr-penalised-to-landmarked-svr").build.__signature__)


@pytest.mark.parametrize("name", EACH)
def test_the_norm_is_the_map(name: str) -> None:
    twin = TWINS[name]
    claimed, Z = registered(twin), sample(twin)
    low = claimed.intervals(Z)[0].low
    lams = [low + x for x in (0.02, 0.3, 3.0)]
    report = verify_weak(claimed, Z, lams, resolution=1e-3)
    assert not report.refuted, report.reason
    for what in ("distance", "monotone"):
        assert all(finding.satisfied(1e-3) for finding in report.findings if finding.what == what), report.reason
    assert not report.increasing
    found = decide(claimed.source, claimed.target, Z, lams, resolution=1e-4)
    assert found.answer is Answer.HOLDS and found.monotone == "decreasing", found.reason
    for row in found.forward:
        assert claimed.map(row.parameter, Z) == pytest.approx(row.value, rel=2.0 * claimed.accuracy)
        assert claimed.inverse(row.value, Z) == pytest.approx(row.parameter, rel=1e-2)


@pytest.mark.parametrize("name", EACH)
def test_radii_of_both_forms_hold_the_solutions_of_another_solver(name: str) -> None:
    """A loose solve is within its own radius and that of a tight one, in the ball where it binds as with the penalty."""
    twin = TWINS[name]
    Z = sample(twin)
    for make in (penalised, in_ball):
        tight, loose = make(twin), make(twin, solver="clarabel", tol=1e-4)
        size = 0.2 * penalised(twin)(0.05, Z).norm() if make is in_ball else 0.05
        f, g = tight(size, Z), loose(size, Z)
        assert f.distance(g) <= f.error + g.error
        assert f.error <= 1e-3 * f.norm()


def test_a_ball_that_does_not_bind_says_so() -> None:
    """Far beyond the least-squares fit the radius is that of the ball, or that of a solution known otherwise: never a small one."""
    twin = TWINS["exc-ordinal-penalised exc-ordinal"]
    Z = sample(twin)
    f = in_ball(twin)(1e3, Z)
    assert f.error >= f.norm()


def test_pieces_that_rest_are_seen() -> None:
    Z = synthetic(6)
    sample = TrainingSet(Z.features, Z.targets, lambda X, Y: X @ Y.T + np.eye(len(X), len(Y)))

    def fit(lam: float):
        strength = 1.0 / lam if lam > 10.0 or 0.1 < lam < 1.0 else 0.05 if lam >= 1.0 else 20.0
        return sample.function(np.ones(6) * strength, error=1e-12)

    found = seen(fit)
    assert isinstance(found, PenalisedPath)
    ((low, high, size),) = found.pieces
    assert 1.0 <= low <= 1.3 and 7.0 <= high <= 10.0 and size == pytest.approx(fit(2.0).norm())
    assert 0.05 < found.low <= 0.1 * math.sqrt(10)
    assert seen(lambda lam: sample.function(np.zeros(6))) is None
