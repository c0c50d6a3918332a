"""The suite notices what it is there for: each class here breaks the contract in one place, and the check that guards it says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL
from simopt.backends.table import installed
from simopt.conformance import PROBLEM_CHECKS, SOLVER_CHECKS, NotConforming, check_problem, check_solver, conformance, executed, pairs
from simopt.conformance.setting import examples_of, reference
from simopt.core import registry
from simopt.core.errors import UnknownName
from simopt.model.problem import Image, Law, Rescale
from simopt.problems.bounds import Ball
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


class OptimisticDual(KernelRidge):
    """A dual without its quadratic term."""

    def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = float("inf")) -> Any:
        """Too large."""
        return num.dot(num.lift(multipliers["predictions"]), num.lift(self.targets))


class OtherGap(KernelRidge):
    """A gap that is twice as large as it should be."""

    def gap(self, point: Any, multipliers: Any, num: Any = FLOAT) -> Any:
        """Twice."""
        return super().gap(point, multipliers, num) * 2


class Restless(LandmarkedSVR):
    """Restoring shrinks the point every time."""

    def restore(self, point: Any, num: Any = FLOAT) -> Any:
        """0.9 w."""
        w = super().restore(point, num)["w"]
        return {"w": w * 0.9}


class RestoresOutsideTheBall(LandmarkedSVR):
    """Restoring forgets the ball."""

    def restore(self, point: Any, num: Any = FLOAT) -> Any:
        """w as it is."""
        return {"w": num.lift(point["w"])}


class PlainNumpy(KernelRidge):
    """A formula that leaves the arithmetic it is given."""

    def objective(self, point: Any, num: Any = FLOAT) -> Any:
        """A float stands in for the enclosure."""
        return num.lift(float(super().objective(point, FLOAT))) if num is INTERVAL else super().objective(point, num)


class Careless(KernelRidge):
    """No validation, and arrays that anybody may write on."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", np.array(self.targets))
        object.__setattr__(self, "gram", np.array(self.gram))


class Unlabelled(KernelRidge, same_programme=True):
    """A constraint without a label."""

    def declare(self, *, cones: Any = frozenset()) -> Any:
        """One row more."""
        import cvxpy as cp

        plain = super().declare(cones=cones)
        return cp.Problem(plain.objective, [*plain.constraints, plain.var_dict["u"] <= 1e9])


class Nameless(KernelRidge, same_programme=True):
    """A parameter that is not named like a field."""

    def declare(self, *, cones: Any = frozenset()) -> Any:
        """One variable more."""
        import cvxpy as cp

        plain = super().declare(cones=cones)
        return cp.Problem(cp.Minimize(plain.objective.expr + cp.square(cp.Variable())), plain.constraints)


class PowerHungry(KernelRidge, same_programme=True):
    """A power cone whatever cones are offered."""

    def declare(self, *, cones: Any = frozenset()) -> Any:
        """Another loss."""
        import cvxpy as cp

        plain = super().declare(cones=cones)
        penalty = cp.sum(cp.power(cp.abs(plain.var_dict["f"]), 2.3, approx=False))
        return cp.Problem(cp.Minimize(plain.objective.expr + penalty), plain.constraints)


class WrongLaw(KernelRidge):
    """Scaling that forgets the square."""

    @classmethod
    def laws(cls) -> list[Law]:
        """Factor s instead of s²."""

        def scaled(problem: Any, rng: np.random.Generator) -> Image:
            return Image(replace(problem, targets=problem.targets * 4.0), 4.0, lambda p: {"alpha": p["alpha"] * 4.0})

        return [Law("targets × 4", scaled)]


class AbsoluteScale(KernelRidge):
    """Gaps measured against 1 at least."""

    def scale(self) -> float:
        """max(1, …)."""
        return max(1.0, super().scale())


class AbsoluteUnits(LandmarkedSVR):
    """Solved in the units of the data."""

    def normalised(self) -> Any:
        """Not at all."""
        return self, Rescale()


class Forgetful(KernelRidge):
    """A fingerprint that leaves the targets out."""

    def fingerprint(self) -> str:
        """The matrix alone."""
        return str(float(np.sum(self.gram)))


class OneExample(KernelRidge):
    """Not enough examples."""

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Any]:
        """The first."""
        yield next(iter(super().examples(rng)))


class OtherDeclaration(LandmarkedSVR, same_programme=True):
    """Declares a ball that is smaller by a hundredth than the one that it judges."""

    def declare(self, **options: Any) -> Any:
        """The problem of another radius."""
        return LandmarkedSVR(self.features, self.targets, Ball(0.99 * self.radius), self.epsilon).declare(**options)


class OtherLoss(LandmarkedSVR):
    """Judges a loss that is larger by a thousandth than the one that it declares."""

    def objective(self, point: Any, num: Any = FLOAT) -> Any:
        """1.001 P(w)."""
        return super().objective(point, num) * 1.001


BROKEN = [
    (OptimisticDual, "second judge", "its formulas give, in .* a lower bound"),
    (OtherDeclaration, "second judge", "derived from its declaration give, in .* a lower bound"),
    (OtherLoss, "second judge", "by its formula, and .* as it is declared"),
    (OptimisticDual, "weak duality", "dual feasible first|proven lower bound"),
    (OtherGap, "gap", "must be the same number"),
    (Restless, "restore", "idempotent"),
    (RestoresOutsideTheBall, "weak duality", "is it feasible"),
    (PlainNumpy, "arithmetics", "outside its interval"),
    (Careless, "data", "read-only"),
    (Unlabelled, "declaration", "needs a label"),
    (Nameless, "declaration", "need names"),
    (PowerHungry, "declaration", "keep to the cones"),
    (WrongLaw, "laws", "the objective of the image"),
    (WrongLaw, "units", "change_of_units"),
    (AbsoluteScale, "units", "scale-free"),
    (Forgetful, "data", "fingerprint does not see"),
    (OneExample, "examples", "at least two"),
    (OtherGap, "identity", "decorate it with @problem"),
]


@pytest.mark.parametrize(("cls", "check", "message"), BROKEN, ids=lambda value: value.__name__ if isinstance(value, type) else str(value))
def test_a_broken_problem_is_caught(cls: Any, check: str, message: str) -> None:
    with pytest.raises(NotConforming, match=message):
        PROBLEM_CHECKS[check](cls)


class NothingAtZero(LandmarkedSVR, same_programme=True):
    """The multipliers 0 give no bound."""

    def dual_bound(self, multipliers: Any, num: Any = FLOAT, upper: float = float("inf")) -> Any:
        """−∞ at 0."""
        nothing = not any(np.any(np.asarray(value, dtype=float)) for value in multipliers.values())
        return -np.inf if nothing else super().dual_bound(multipliers, num, upper)


def test_where_zero_gives_no_bound_any_suggestion_that_does_is_good(monkeypatch: pytest.MonkeyPatch) -> None:
    PROBLEM_CHECKS["suggested multipliers"](NothingAtZero)
    suggest = LandmarkedSVR.multipliers
    monkeypatch.setattr(NothingAtZero, "multipliers", lambda self, point: {name: 0.0 * v for name, v in suggest(self, point).items()})
    with pytest.raises(NotConforming, match="on 0 of"):
        PROBLEM_CHECKS["suggested multipliers"](NothingAtZero)


@pytest.mark.parametrize("cls", sorted({cls for cls, _ in pairs()}, key=lambda cls: cls.name), ids=lambda cls: cls.name)
def test_suggested_multipliers_of_the_wrong_sign_are_caught(cls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every problem, but those in which 0 is the best or nothing is suggested: there it makes no difference."""
    suggest = cls.multipliers
    differs = []

    def negated(self: Any, point: Any) -> Any:
        found = suggest(self, point)
        return None if found is None else {name: -np.asarray(value) for name, value in found.items()}

    for index, example in enumerate(examples_of(cls)):
        point, _, lower, upper = reference(cls, index)
        found = suggest(example.problem, point)
        if found is not None and lower - example.problem.dual_bound({k: 0.0 * np.asarray(v) for k, v in found.items()}) > 1e-3 * abs(upper):
            differs.append(example.name)
    monkeypatch.setattr(cls, "multipliers", negated)
    if differs:
        with pytest.raises(NotConforming, match="has multipliers.. the sign of the Lagrangian"):
            PROBLEM_CHECKS["suggested multipliers"](cls)
    else:
        PROBLEM_CHECKS["suggested multipliers"](cls)


def hasty(problem: KernelRidge, *, tol: float) -> Iterator[Iterate]:
    """Stops at the first point."""
    yield Iterate(problem.trivial_point())


def vandal(problem: KernelRidge, *, tol: float) -> Iterator[Iterate]:
    """Writes on its input, or would if it were let."""
    targets = np.asarray(problem.targets)
    base = targets.base if isinstance(targets.base, np.ndarray) else targets
    base.setflags(write=True)
    base *= 0.5
    yield Iterate(problem.trivial_point())


def crash(problem: KernelRidge, *, tol: float, shape: int) -> Iterator[Iterate]:
    """Raises what it should not, and has an option without a default."""
    raise KeyError("alpha")
    yield Iterate(problem.trivial_point())


@pytest.fixture(autouse=True)
def bad_solvers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register the solvers above for the time of one test; solves of broken things do not count as solves of the suite."""
    registry.load("problems", "solvers")
    for table in ("_entries", "_modules"):
        monkeypatch.setattr(registry, table, {k: dict(v) if isinstance(v, dict) else v for k, v in getattr(registry, table).items()})
    for run in (hasty, vandal, crash):
        solver(run.__name__, solves=KernelRidge)(run)
    counted = dict(executed)
    yield
    executed.clear()
    executed.update(counted)


def test_broken_solvers_are_caught() -> None:
    class Alone(KernelRidge):
        """Its solves are not shared with the real class."""

        def normalised(self) -> Any:
            """As it is, so that the solver sees the data themselves."""
            return self, Rescale()

    for name, check, word in [
        ("hasty", "statuses", "gap open"),
        ("vandal", "statuses", "vandal on kernel-ridge raised ValueError: cannot set WRITEABLE flag"),
        ("crash", "statuses", "raised TypeError|raised KeyError"),
        ("crash", "options", "have no default"),
    ]:
        with pytest.raises(NotConforming, match=word):
            SOLVER_CHECKS[check](Alone, name)


def test_natural_units_are_asked_for() -> None:
    with pytest.raises(NotConforming, match=r"normalised\(\)|does not meet|without a point"):
        SOLVER_CHECKS["any unit"](AbsoluteUnits, "scs")


def test_the_error_lists_everything_that_is_wrong() -> None:
    with pytest.raises(NotConforming) as caught:
        check_problem(OptimisticDual)
    lines = str(caught.value)
    assert "identity:" in lines and "weak duality:" in lines and "gap:" in lines and "declaration:" not in lines
    with pytest.raises(NotConforming, match="statuses:"):
        check_solver(KernelRidge, "hasty")


def test_a_report_names_what_failed_and_what_ran() -> None:
    report = conformance(["mean_classifier"])
    assert report.ok and "0 failed" in str(report) and {backend.name for backend in installed()} <= set(report.executed)
    failing = dataclasses.replace(report, rows=(*report.rows, dataclasses.replace(report.rows[0], failure="what to change")))
    assert not failing.ok and "mean-classifier: identity: what to change" in str(failing)
    with pytest.raises(UnknownName, match="did you mean 'kernel-ridge'"):
        conformance(["kernel-rigde"])
