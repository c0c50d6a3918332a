r"""What keeps w small, as one field: `bound=Ball(B)`, ‖w‖ ≤ B (Ivanov), or `bound=Penalty(λ)`, (λ/2)‖w‖² in the objective (Tikhonov).

Both are R(w) = (λ/2)‖w‖² on the ball ‖w‖ ≤ B, with λ = 0 or B = ∞. For the slope g of a loss in w, v = −g,
    ball:     min R + ⟨g, w⟩ = −B‖g‖,        R(w) + ⟨g, w⟩ − min = (B − ‖w‖)‖g‖ + ½‖w‖‖g‖·‖w/‖w‖ + g/‖g‖‖²;
    penalty:  min R + ⟨g, w⟩ = −‖g‖²/(2λ),   R(w) + ⟨g, w⟩ − min = ‖g + λw‖²/(2λ).
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem
from simopt.ground.fields import Positive, checked
from simopt.problems import _hinges
from simopt.solving.forms import Formed

Value = Any
UPWARDS = 1.0 + 1e-14


@dataclass(frozen=True)
class Bound(ABC):
    """R(w), convex, 0 at w = 0."""

    def __post_init__(self) -> None:
        for name, value in checked(type(self), {item.name: getattr(self, item.name) for item in fields(self)}).items():
            object.__setattr__(self, name, value)

    @abstractmethod
    def value(self, num: Arithmetic, w: Value) -> Value:
        """R(w) of a feasible w."""

    @abstractmethod
    def dual(self, num: Arithmetic, g: Value) -> Value:
        """min_w R(w) + ⟨g, w⟩."""

    @abstractmethod
    def gap(self, num: Arithmetic, w: Value, g: Value) -> Value:
        """R(w) + ⟨g, w⟩ minus its minimum, as a sum of terms ≥ 0."""

    @abstractmethod
    def inside(self, num: Arithmetic, w: Any) -> Value:
        """A feasible point near w."""

    @abstractmethod
    def distance(self, gap: float) -> float:
        """A bound on ‖w − w*‖ for a w whose gap is this."""

    @abstractmethod
    def length(self, upper: float) -> float:
        """A bound on ‖w*‖ where the optimum is at most `upper`, rounded up."""

    @abstractmethod
    def in_units(self, w: float, value: float) -> Self:
        """The same with w and values in other units: both multiplied."""


@dataclass(frozen=True)
class Ball(Bound):
    """‖w‖ ≤ B, B > 0."""

    radius: Positive

    def value(self, num: Arithmetic, w: Value) -> Value:
        """0 in the ball."""
        return num.lift(0.0)

    def dual(self, num: Arithmetic, g: Value) -> Value:
        """−B‖g‖."""
        return num.norm(g) * num.lift(-self.radius)

    def gap(self, num: Arithmetic, w: Value, g: Value) -> Value:
        """⟨g, w⟩ + B‖g‖."""
        return _hinges.ball_term(num, w, g, self.radius)

    def inside(self, num: Arithmetic, w: Any) -> Value:
        """w drawn back into the ball."""
        plain: Array = np.asarray(num.mid(num.lift(w)), dtype=float).reshape(-1)
        return _hinges.inside_ball(num, plain, self.radius)

    def distance(self, gap: float) -> float:
        """2B: all that is known is the ball."""
        return 2.0 * self.radius

    def length(self, upper: float) -> float:
        """B."""
        return self.radius

    def in_units(self, w: float, value: float) -> Self:
        """B × w."""
        return type(self)(self.radius * w)


@dataclass(frozen=True)
class Penalty(Bound):
    """(λ/2)‖w‖² in the objective, λ > 0."""

    regularization: Positive

    def value(self, num: Arithmetic, w: Value) -> Value:
        """(λ/2)‖w‖²."""
        return num.dot(w, w) * num.lift(self.regularization) / 2

    def dual(self, num: Arithmetic, g: Value) -> Value:
        """−‖g‖²/(2λ)."""
        return num.dot(g, g) / (num.lift(self.regularization) * -2)

    def gap(self, num: Arithmetic, w: Value, g: Value) -> Value:
        """‖g + λw‖²/(2λ)."""
        return _hinges.penalty_term(num, w, g, self.regularization)

    def inside(self, num: Arithmetic, w: Any) -> Value:
        """w as it is."""
        return num.lift(w)

    def distance(self, gap: float) -> float:
        """√(2 gap/λ)."""
        return math.sqrt(2.0 * max(gap, 0.0) / self.regularization)

    def length(self, upper: float) -> float:
        """√(2U/λ)."""
        return math.sqrt(2.0 * upper / self.regularization) * UPWARDS

    def in_units(self, w: float, value: float) -> Self:
        """λ × value/w²."""
        return type(self)(self.regularization * (value / w / w))


class Bounded(Formed):
    """A problem with `bound`; its forms are "ball" and "penalty", unless it says otherwise. The numbers of the bound are read on it too."""

    bound: Bound
    bounds: ClassVar[dict[str, type[Bound]]] = {"ball": Ball, "penalty": Penalty}

    def taken(self) -> str:
        """By the type of the bound."""
        return next(key for key, kind in self.bounds.items() if isinstance(self.bound, kind))

    def _check_bound(self) -> None:
        """Raise InvalidProblem for what is no bound of this problem."""
        if not isinstance(self.bound, tuple(self.bounds.values())):
            known = " or ".join(f"{kind.__name__}({', '.join(item.name for item in fields(kind))})" for kind in self.bounds.values())
            raise InvalidProblem(f"bound: {self.bound!r} given, {known} needed")

    @property
    def radius(self) -> float:
        """B; ∞ of a penalty."""
        return self.bound.radius if isinstance(self.bound, Ball) else math.inf

    @property
    def regularization(self) -> float:
        """λ; 0 of a ball."""
        return self.bound.regularization if isinstance(self.bound, Penalty) else 0.0

    @classmethod
    def holding(cls) -> dict[str, str]:
        """The numbers of the bound."""
        return {item.name: "bound" for item in fields(cls.bounds[cls.key])}

    @classmethod
    def recipe_options(cls) -> dict[str, Any]:
        """Those of the recipe, without the numbers of the other bound."""
        others = {item.name for kind in cls.bounds.values() for item in fields(kind)} - set(cls.holding())
        return {name: option for name, option in super().recipe_options().items() if name not in others}

    @classmethod
    def modern(cls, given: dict[str, Any]) -> dict[str, Any]:
        """`radius=B` and `regularization=λ` as bounds."""
        for kind in cls.bounds.values():
            old = [item.name for item in fields(kind) if item.name in given]
            if old:
                numbers = {name: given[name] for name in old}
                shown = f"{kind.__name__}({', '.join(old)})"
                warnings.warn(f"{cls.__name__}: {', '.join(old)} is old, write bound={shown}", DeprecationWarning, stacklevel=4)
                return {**{name: value for name, value in given.items() if name not in old}, "bound": kind(**numbers)}
        return given

    @classmethod
    def bounded(cls, usual: Bound, **numbers: float | None) -> Bound:
        """The bound that a recipe was given numbers for, `usual` where it was given none.

        Raises
        ------
        InvalidProblem
            for a number that is none of the bound's.
        """
        given = {name: number for name, number in numbers.items() if number is not None}
        for name in given:
            if name not in cls.holding():
                raise InvalidProblem(f"{name}: {cls.name} has none; give {', '.join(cls.holding())}")
        return type(usual)(**given) if given else usual
