r"""The bound on w, as one field: `bound=Ball(B)`, ‖w‖ ≤ B (Ivanov), or `bound=Penalty(λ)`, (λ/2)‖w‖² in the objective (Tikhonov).

Least squares has λ‖w‖² by custom: `bound=Ridge(λ)`. All are R(w) = (s/2)‖w‖² on the ball ‖w‖ ≤ B, with s = 0 or B = ∞, s = λ or 2λ. For the
slope g of a loss in w, v = −g,
    ball:     min R + ⟨g, w⟩ = −B‖g‖,        R(w) + ⟨g, w⟩ − min = (B − ‖w‖)‖g‖ + ½‖w‖‖g‖·‖w/‖w‖ + g/‖g‖‖².
    penalty:  min R + ⟨g, w⟩ = −‖g‖²/(2s),   R(w) + ⟨g, w⟩ − min = ‖g + sw‖²/(2s).

The space is that of vectors, or with a Gram matrix K the one in which w = Σ α_j k(x_j, ·). In the latter α and the coefficients of g are
given, and ‖w‖² = αᵀKα.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np

from simopt.arithmetic import Arithmetic, Value
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Positive, checked
from simopt.model.forms import Formed
from simopt.problems.norms import power_units, squares, unit_ball, vectors

L = TypeVar("L", bound="Limit")
UPWARDS = 1.0 + 1e-14


@dataclass(frozen=True)
class Limit:
    """The numbers that tell how small w is kept, checked by their types."""

    def __post_init__(self) -> None:
        for name, value in checked(self).items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Bound(Limit, ABC):
    """R(w), convex, 0 at w = 0."""

    @abstractmethod
    def value(self, num: Arithmetic, w: Value, image: Value | None = None) -> Value:
        """R(w) of a feasible w; `image` is Kα where there is a Gram matrix."""

    @abstractmethod
    def dual(self, num: Arithmetic, g: Value, gram: Array | None = None) -> Value:
        """min_w R(w) + ⟨g, w⟩."""

    @abstractmethod
    def gap(self, num: Arithmetic, w: Value, g: Value, gram: Array | None = None) -> Value:
        """R(w) + ⟨g, w⟩ minus its minimum, as a sum of terms ≥ 0."""

    @abstractmethod
    def inside(self, num: Arithmetic, w: Any, gram: Array | None = None) -> Value:
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
class InBall(Bound):
    """R = 0 where ‖w‖ is at most a radius; balls differ in what says which."""

    @classmethod
    @abstractmethod
    def of_length(cls, length: float) -> Self:
        """The ball of this radius."""

    @abstractmethod
    def size(self, num: Arithmetic) -> Value:
        """The radius B."""

    def norm(self, num: Arithmetic, w: Value, gram: Array | None) -> Value:
        """‖w‖."""
        return num.norm(w) if gram is None else num.sqrt(squares.squared_norm(num, gram, w))

    def value(self, num: Arithmetic, w: Value, image: Value | None = None) -> Value:
        """0 in the ball."""
        return num.lift(0.0)

    def dual(self, num: Arithmetic, g: Value, gram: Array | None = None) -> Value:
        """−B‖g‖."""
        return -(self.size(num) * self.norm(num, g, gram))

    def gap(self, num: Arithmetic, w: Value, g: Value, gram: Array | None = None) -> Value:
        """⟨g, w⟩ + B‖g‖; with s = ‖g‖, t = ‖w‖ as s(B − t) + (t/2s)‖g + (s/t)w‖²."""
        if gram is None:
            return vectors.ball_term(num, w, g, self.size(num))
        s, t = self.norm(num, g, gram), self.norm(num, w, gram)
        return s * num.pos(self.size(num) - t) + power_units.angle(num, gram, w, -g, t, s)

    def inside(self, num: Arithmetic, w: Any, gram: Array | None = None) -> Value:
        """w drawn back until it is provably in the ball."""
        plain: Array = np.asarray(num.mid(num.lift(w)), dtype=float).reshape(-1)
        return vectors.inside_ball(num, plain, num.lower(self.size(num)), lambda arithmetic, x: self.norm(arithmetic, x, gram))


@dataclass(frozen=True)
class Ball(InBall):
    """‖w‖ ≤ B, B > 0."""

    radius: Positive

    @classmethod
    def of_length(cls, length: float) -> Self:
        """B = length."""
        return cls(length)

    def size(self, num: Arithmetic) -> Value:
        """B."""
        return num.lift(self.radius)

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
class Capacity(InBall):
    """‖w‖² ≤ c, c > 0: the ball of radius √c, told by its square."""

    capacity: Positive

    @classmethod
    def of_length(cls, length: float) -> Self:
        """c = length²."""
        return cls(length * length)

    def size(self, num: Arithmetic) -> Value:
        """√c."""
        return num.sqrt(num.lift(self.capacity))

    def distance(self, gap: float) -> float:
        """2√c: all that is known is the ball."""
        return 2.0 * math.sqrt(self.capacity)

    def length(self, upper: float) -> float:
        """√c."""
        return math.sqrt(self.capacity) * UPWARDS

    def in_units(self, w: float, value: float) -> Self:
        """c × w²."""
        return type(self)(self.capacity * w * w)


@dataclass(frozen=True)
class UnitBall(InBall):
    """‖w‖ ≤ 1, where the radius is but a unit of w."""

    @classmethod
    def of_length(cls, length: float) -> Self:
        """The unit ball is of length 1.

        Raises
        ------
        InvalidProblem
            for another.
        """
        if length != 1.0:
            raise InvalidProblem(f"length: {length!r} given, but the unit ball has the radius 1")
        return cls()

    def size(self, num: Arithmetic) -> Value:
        """1."""
        return num.lift(1.0)

    def norm(self, num: Arithmetic, w: Value, gram: Array | None) -> Value:
        """‖w‖, exactly 0 where the mean of the labels is, so that nothing of a constant objective is left."""
        return super().norm(num, w, None) if gram is None else unit_ball.length(num, gram, w)

    def dual(self, num: Arithmetic, g: Value, gram: Array | None = None) -> Value:
        """−‖g‖."""
        return -self.norm(num, g, gram)

    def distance(self, gap: float) -> float:
        """2: all that is known is the ball."""
        return 2.0

    def length(self, upper: float) -> float:
        """1."""
        return 1.0

    def in_units(self, w: float, value: float) -> Self:
        """Itself."""
        return self


@dataclass(frozen=True)
class Penalised(Bound):
    """R = (s/2)‖w‖²; penalties differ in how λ > 0 tells the strength s."""

    regularization: Positive

    @property
    @abstractmethod
    def strength(self) -> float:
        """s."""

    @classmethod
    def of_strength(cls, strength: float) -> Self:
        """The penalty with this s, which is linear in λ."""
        return cls(strength / cls(1.0).strength)

    def value(self, num: Arithmetic, w: Value, image: Value | None = None) -> Value:
        """(s/2)‖w‖²."""
        square = num.dot(w, w) if image is None else num.pos(num.dot(w, image))
        return square * num.lift(self.strength) / 2

    def dual(self, num: Arithmetic, g: Value, gram: Array | None = None) -> Value:
        """−‖g‖²/(2s)."""
        square = num.dot(g, g) if gram is None else squares.squared_norm(num, gram, g)
        return square / (num.lift(self.strength) * -2)

    def gap(self, num: Arithmetic, w: Value, g: Value, gram: Array | None = None) -> Value:
        """‖g + sw‖²/(2s); of functions, (s/2)‖w + g/s‖²."""
        if gram is None:
            return vectors.penalty_term(num, w, g, self.strength)
        strength = num.lift(self.strength)
        return squares.squared_norm(num, gram, w + g / strength) * strength / 2

    def inside(self, num: Arithmetic, w: Any, gram: Array | None = None) -> Value:
        """w as it is."""
        return num.lift(w)

    def distance(self, gap: float) -> float:
        """√(2 gap/s)."""
        return math.sqrt(2.0 * max(gap, 0.0) / self.strength)

    def length(self, upper: float) -> float:
        """√(2U/s)."""
        return math.sqrt(2.0 * upper / self.strength) * UPWARDS

    def in_units(self, w: float, value: float) -> Self:
        """λ × value/w²."""
        return type(self)(self.regularization * (value / w / w))


@dataclass(frozen=True)
class Penalty(Penalised):
    """(λ/2)‖w‖² in the objective, λ > 0."""

    @property
    def strength(self) -> float:
        """λ."""
        return self.regularization


@dataclass(frozen=True)
class Ridge(Penalised):
    """λ‖w‖² in the objective, λ > 0, as least squares has it."""

    @property
    def strength(self) -> float:
        """2λ."""
        return 2.0 * self.regularization


class Bounded(Formed):
    """A problem with `bound`; its forms are "ball" and "penalty", unless it says otherwise. The numbers of the bound are read on it too."""

    bound: Limit
    bounds: ClassVar[Mapping[str, type[Limit]]] = {"ball": Ball, "penalty": Penalty}

    def taken(self) -> str:
        """By the type of the bound."""
        for key, kind in self.bounds.items():
            if type(self.bound) is kind:
                return key
        return self._no_bound()

    def __post_init__(self) -> None:
        super().__post_init__()
        if type(self.bound) not in self.bounds.values():
            self._no_bound()

    def _no_bound(self) -> NoReturn:
        kinds = dict.fromkeys(self.bounds.values())
        known = " or ".join(f"{kind.__name__}({', '.join(item.name for item in fields(kind))})" for kind in kinds)
        raise InvalidProblem(f"bound: {self.bound!r} given, {known} needed")

    @property
    def radius(self) -> float:
        """B; ∞ of a penalty."""
        return float(getattr(self.bound, "radius", math.inf))

    @property
    def regularization(self) -> float:
        """λ; 0 of a ball."""
        return float(getattr(self.bound, "regularization", 0.0))

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
    def modern(cls, numbers: dict[str, Any]) -> dict[str, Any]:
        """`radius=B` and `regularization=λ` as bounds; a number that is not given is that of the bound that is."""

        def numbers_of(kind: type[Limit], by: Mapping[str, Any]) -> dict[str, Any]:
            return {item.name: by[item.name] for item in fields(kind) if item.name in by}

        held = numbers.get("bound")
        known = {**vars(held), **numbers} if isinstance(held, Limit) else numbers
        kind = max(cls.bounds.values(), key=lambda kind: (len(numbers_of(kind, numbers)), len(numbers_of(kind, known))))
        old = numbers_of(kind, numbers)
        if old:
            shown = f"{kind.__name__}({', '.join(old)})"
            warnings.warn(f"{cls.__name__}: {', '.join(old)} is old, write bound={shown}", DeprecationWarning, stacklevel=4)
            return {**{name: value for name, value in numbers.items() if name not in old}, "bound": kind(**numbers_of(kind, known))}
        return numbers

    @classmethod
    def bounded(cls, usual: L, **numbers: float | None) -> L:
        """The bound that a recipe was given numbers for, `usual` where it was given none.

        Raises
        ------
        InvalidProblem
            for a number that is none of the bound's.
        """
        chosen = {name: number for name, number in numbers.items() if number is not None}
        for name in chosen:
            if name not in cls.holding():
                raise InvalidProblem(f"{name}: {cls.name} has none; give {', '.join(cls.holding())}")
        return replace(usual, **chosen)
