"""Changes of units read from declarations: against pencil and paper, against those that problems state by hand, and where there is none."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt.conformance import PROBLEM_CHECKS
from simopt.core import registry
from simopt.core.fields import Matrix, Positive, Vector
from simopt.duality.declaration import DeclaredProblem
from simopt.duality.units import dimensions
from simopt.duality.units.dimensions import UnitChange, changes_of, natural, numbers, scaled
from simopt.model.problem import ALL_CONES, Example, Problem

OWN_UNITS = {"m-power-rls", "m-power-rls-ball"}  # their declarations are in a power of two of their own, which the data choose


@dataclasses.dataclass(frozen=True, eq=False)
class Alone(DeclaredProblem):
    """Without examples and recipe."""

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """None."""
        return iter(())

    @classmethod
    def from_data(cls, dataset: Any, rng: np.random.Generator) -> Any:
        """None."""


@dataclasses.dataclass(frozen=True)
class RidgeTerm:
    """(λ/2)‖w‖²."""

    regularization: float = 0.1


@dataclasses.dataclass(frozen=True, eq=False)
class Tube(Alone):
    """min (1/n) Σ max(±(Xw − y) − ε, 0) + (λ/2)‖w‖² + c, the constants y + ε and y − ε written together."""

    features: Matrix
    targets: Vector
    epsilon: Positive = 0.1
    penalty: RidgeTerm = dataclasses.field(default_factory=RidgeTerm)
    shift: float = 0.0

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        w = cp.Variable(self.features.shape[1], name="w")
        f = self.features @ w
        loss = cp.sum(cp.maximum(f - (self.targets + self.epsilon), (self.targets - self.epsilon) - f, 0)) / len(self.targets)
        return cp.Problem(cp.Minimize(loss + self.penalty.regularization / 2 * cp.sum_squares(w) + self.shift))


def tube(**other: Any) -> Tube:
    rng = np.random.default_rng(0)
    return Tube(rng.normal(size=(9, 3)), rng.normal(size=9), **other)


def test_numbers_that_are_added_up_and_those_of_parts_take_their_unit_together() -> None:
    one, other = changes_of(tube())[:2]
    assert str(one) == "features × s, penalty.regularization × s^2"
    assert str(other) == "targets × s, epsilon × s, penalty.regularization × s^-1"
    assert (one.values["w"], other.values["w"], one.objective, other.objective) == (-1, 1, 0, 1)


def test_a_number_of_no_unit_stays_and_takes_others_with_it() -> None:
    """What is added to P has its unit; what is added to a plain 1 has none, and so no loss may be measured in another one."""
    assert [str(change) for change in changes_of(tube(shift=1.0))] == [
        "features × s, penalty.regularization × s^2",
        "targets × s, epsilon × s, penalty.regularization × s^-1, shift × s",
    ]

    class Fixed(Tube):
        def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
            declared = super().declare(cones=cones)
            return cp.Problem(cp.Minimize(cp.square(declared.objective.expr + 1.0)))

    fixed = dataclasses.dataclass(frozen=True, eq=False)(Fixed)(tube().features, tube().targets, shift=1.0)
    assert [str(change) for change in changes_of(fixed)] == ["features × s, penalty.regularization × s^2"]


def test_an_exponent_that_is_a_field_is_no_number_in_a_unit() -> None:
    class AnyPower(Alone):
        features: Matrix
        targets: Vector
        power: Positive = 1.5
        regularization: Positive = 0.1

        def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
            w = cp.Variable(self.features.shape[1], name="w")
            return cp.Problem(
                cp.Minimize(
                    cp.sum_squares(self.features @ w - self.targets) + self.regularization * cp.sum(cp.power(cp.abs(w), self.power))
                )
            )

    problem = dataclasses.dataclass(frozen=True, eq=False)(AnyPower)(tube().features, tube().targets)
    assert [str(change) for change in changes_of(problem)] == ["features × s^2, regularization × s^3", "targets × s^2, regularization × s"]


def test_natural_units_bring_what_leads_to_size_1_and_leave_0_and_infinity() -> None:
    problem = scaled(tube(), {"features": 1e7, "targets": 1e-6, "penalty.regularization": 1e3})
    changes = changes_of(problem)
    found = numbers(natural(problem, changes).by(problem, 2.0))
    assert all(0.5 <= np.max(np.abs(found[name])) <= 2.0 for name in ("features", "targets"))
    zero = scaled(tube(), {"targets": 0.0})
    assert np.array_equal(natural(zero, [UnitChange({"targets": 1})]).by(zero, 2.0).targets, zero.targets)
    endless = dataclasses.replace(tube(), penalty=RidgeTerm(math.inf))
    assert natural(endless, [UnitChange({"penalty.regularization": 1})]).fields == {"penalty.regularization": 0}


def test_a_law_that_does_not_hold_is_found_by_conformance(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is derived is proposed, not proven: here all functions are taken for cubes."""

    class RidgeTakenForCubes(Alone):
        """min ‖Xw − y‖² + λ‖w‖²."""

        name = "toy-cubes"
        features: Matrix
        targets: Vector
        regularization: Positive = 0.1

        def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
            w = cp.Variable(self.features.shape[1], name="w")
            return cp.Problem(cp.Minimize(cp.sum_squares(self.features @ w - self.targets) + self.regularization * cp.sum_squares(w)))

        @classmethod
        def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
            yield Example("one", cls(rng.normal(size=(5, 2)), rng.normal(size=5)))

    monkeypatch.setattr(dimensions, "_known", {})
    monkeypatch.setattr(dimensions, "degree", lambda atom: 3.0)
    with pytest.raises(AssertionError, match="law 'features × s, regularization × s"):
        PROBLEM_CHECKS["laws"](dataclasses.dataclass(frozen=True, eq=False)(RidgeTakenForCubes))


@dataclasses.dataclass(frozen=True, eq=False)
class ByHand(Alone):
    """A problem whose formulas are written by hand, its declaration alone."""

    base: Problem

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        return self.base.declare(cones=cones)


def exponents(law: Any, problem: Problem) -> dict[str, float]:
    """How the law at s = 2 multiplies each number, and the objective."""
    image = law.by(problem, 2.0)
    found = {"objective": math.log2(image.factor)}
    for name, before in numbers(problem).items():
        after = numbers(image.problem)[name]
        if np.any(before) and np.all(np.isfinite(before)):
            at = np.unravel_index(int(np.argmax(np.abs(before))), np.shape(before))
            found[f"base.{name}"] = round(math.log2(np.asarray(after)[at] / np.asarray(before)[at]), 9)
    return found


@pytest.mark.slow
def test_the_units_that_problems_state_by_hand_are_among_the_derived() -> None:
    registry.load("problems")
    compared = 0
    for name, cls in registry.items("problem"):
        if not cls.__module__.startswith("simopt.problems.") or name in OWN_UNITS:
            continue
        problem = next(example.problem for example in cls.examples(np.random.default_rng(0)) if not example.degenerate)
        derived = [{**change.fields, "objective": change.objective} for change in changes_of(ByHand(problem))]
        for law in cls.laws():
            if law.by is not None:
                wanted = exponents(law, problem)
                keys = sorted({*wanted, *(key for change in derived for key in change)})
                table = np.array([[change.get(key, 0) for key in keys] for change in derived], dtype=float)
                goal = np.array([wanted.get(key, 0.0) for key in keys])
                share = np.linalg.lstsq(table.T, goal, rcond=None)[0]
                assert table.T @ share == pytest.approx(goal, abs=1e-9), (name, law.name, derived)
                compared += 1
    assert compared >= 25
