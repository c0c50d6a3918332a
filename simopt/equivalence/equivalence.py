r"""Equivalences between families of learning algorithms (Audiffren & Kadri, Definitions 3.3 and 3.4).

A(·) and B(·) are weakly equivalent if for each training set Z there is a bijection Φ(·, Z) between their parameter intervals with
A(λ)(Z) = B(Φ(λ, Z))(Z). They are strongly equivalent if one Φ serves every Z. Weak equivalence is an equivalence relation: `identity`,
`Equivalence.inverted` and `Equivalence.then` are its reflexivity, symmetry and transitivity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from simopt.core import registry, validate
from simopt.core.errors import InvalidProblem
from simopt.equivalence.family import Family, Interval, RegistryEntry, first_line
from simopt.equivalence.training import TrainingSet

Map = Callable[[float, TrainingSet], float]


class Answer(Enum):
    """The three answers of `verify_weak`, `verify_strong` and `find_map`."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


class Strength(Enum):
    """For which pairs of training sets one map serves both: none in general, all of one size, or all."""

    WEAK = "weak"
    SAME_SIZE = "strong among sets of one size"
    STRONG = "strong"

    def __and__(self, other: Strength) -> Strength:
        """Strength of a composition."""
        order = list(Strength)
        return order[min(order.index(self), order.index(other))]


@dataclass(frozen=True)
class Flat:
    """A piece on which a map is not one-to-one: every source parameter and every target parameter of it give the same function.

    Attributes
    ----------
    source, target : (low, high)
        closed ranges; a single point is (x, x).
    """

    source: tuple[float, float]
    target: tuple[float, float]

    def swapped(self) -> Flat:
        """The piece of the inverted equivalence."""
        return Flat(self.target, self.source)


def _no_pieces(Z: TrainingSet) -> tuple[Flat, ...]:
    return ()


@dataclass(frozen=True)
class Equivalence:
    """A map Φ between two families with A(λ)(Z) = B(Φ(λ, Z))(Z), and its inverse.

    Attributes
    ----------
    name : str
    source, target : Family
        A and B.
    map, inverse : callable
        (λ, Z) → Φ(λ, Z) and back; ArithmeticError where they cannot be computed, InvalidProblem where there is no such parameter.
    source_interval, target_interval : callable
        Z → Interval, between which Φ(·, Z) is claimed to be a bijection; by default the domains of the families.
    strength : Strength
        what is claimed beyond weak equivalence.
    accuracy : float
        relative error of the values of the maps.
    flat : callable
        Z → pieces inside the intervals where the map is not one-to-one; it has no inverse there.
    exists : callable
        Z → None, or the reason why there is nothing to be equivalent on this set (K Y = 0).
    monotone : bool
        whether the bijection is claimed to be strictly monotone, as every continuous bijection of intervals is. Definition 3.3 does not ask
        for it.
    """

    name: str
    source: Family
    target: Family
    map: Map
    inverse: Map
    source_interval: Callable[[TrainingSet], Interval] | None = None
    target_interval: Callable[[TrainingSet], Interval] | None = None
    strength: Strength = Strength.WEAK
    accuracy: float = 1e-12
    flat: Callable[[TrainingSet], tuple[Flat, ...]] = _no_pieces
    exists: Callable[[TrainingSet], str | None] = field(default=lambda Z: None)
    monotone: bool = True

    def intervals(self, Z: TrainingSet) -> tuple[Interval, Interval]:
        """The two intervals that Φ(·, Z) is claimed to map onto each other."""
        source = self.source_interval or self.source.domain
        target = self.target_interval or self.target.domain
        return source(Z), target(Z)

    def __call__(self, parameter: float, Z: TrainingSet) -> float:
        """Φ(λ, Z).

        Raises
        ------
        InvalidProblem
            outside the source interval, or where the equivalence does not exist.
        """
        return float(self.map(self._checked(Z, 0, parameter), Z))

    def back(self, parameter: float, Z: TrainingSet) -> float:
        """The λ with Φ(λ, Z) = `parameter`.

        Raises
        ------
        InvalidProblem
            outside the target interval, on a flat piece, or where the equivalence does not exist.
        """
        parameter = self._checked(Z, 1, parameter)
        for piece in self.flat(Z):
            if piece.target[0] <= parameter <= piece.target[1]:
                raise InvalidProblem(f"{self.name}: no inverse at {parameter:g}, on the flat piece {piece.target} of {self.target.name}")
        return float(self.inverse(parameter, Z))

    def inverted(self) -> Equivalence:
        """B → A by the inverse map."""
        return replace(
            self,
            name=f"inverse of {self.name}",
            source=self.target,
            target=self.source,
            map=self.inverse,
            inverse=self.map,
            source_interval=lambda Z: self.intervals(Z)[1],
            target_interval=lambda Z: self.intervals(Z)[0],
            flat=lambda Z: tuple(piece.swapped() for piece in self.flat(Z)),
        )

    def then(self, other: Equivalence) -> Equivalence:
        """A → C for A → B and B → C.

        The intervals are those parts that survive. Where the target interval of the first and the source interval of the second differ,
        their intersection is mapped back into A and forth into C.

        Raises
        ------
        InvalidProblem
            when the families in the middle have different names, or (when used) no part survives on a set.
        """
        if self.target.name != other.source.name:
            raise InvalidProblem(f"composition: {self.name} ends in {self.target.name}, {other.name} begins in {other.source.name}")
        return Equivalence(
            name=f"{self.name}, then {other.name}",
            source=self.source,
            target=other.target,
            map=lambda lam, Z: other.map(self.map(lam, Z), Z),
            inverse=lambda lam, Z: self.inverse(other.inverse(lam, Z), Z),
            source_interval=lambda Z: _image(self.inverted(), _between(self, other, Z), Z),
            target_interval=lambda Z: _image(other, _between(self, other, Z), Z),
            strength=self.strength & other.strength,
            accuracy=self.accuracy + other.accuracy,
            flat=lambda Z: _joined_pieces(self, other, Z),
            exists=lambda Z: self.exists(Z) or other.exists(Z),
            monotone=self.monotone and other.monotone,
        )

    def _checked(self, Z: TrainingSet, side: int, parameter: float) -> float:
        parameter = validate.finite("parameter", parameter)
        reason = self.exists(Z)
        if reason is not None:
            raise InvalidProblem(f"{self.name}: {reason}")
        interval = self.intervals(Z)[side]
        if parameter not in interval:
            raise InvalidProblem(
                f"{self.name}: parameter {parameter:g} is outside {interval}, between whose ends the map is defined on this set"
            )
        return parameter


def identity(family: Family) -> Equivalence:
    """A → A with Φ = λ."""
    return Equivalence(f"identity of {family.name}", family, family, _same, _same, strength=Strength.STRONG, accuracy=0.0)


def _same(parameter: float, Z: TrainingSet) -> float:
    return parameter


def _between(first: Equivalence, second: Equivalence, Z: TrainingSet) -> Interval:
    one, two = first.intervals(Z)[1], second.intervals(Z)[0]
    return Interval(max(one.low, two.low), min(one.high, two.high))


def _image(step: Equivalence, part: Interval, Z: TrainingSet) -> Interval:
    """Φ(part), where part lies in the source interval; an end that is an end there goes to an end."""
    source, target = step.intervals(Z)
    inner = Interval(*sorted((source.at(-0.5), source.at(0.5))))
    increasing = step.map(inner.low, Z) < step.map(inner.high, Z)
    ends = (target.low, target.high) if increasing else (target.high, target.low)
    low = ends[0] if part.low <= source.low else step.map(part.low, Z)
    high = ends[1] if part.high >= source.high else step.map(part.high, Z)
    return Interval(min(low, high), max(low, high))


def _joined_pieces(first: Equivalence, second: Equivalence, Z: TrainingSet) -> tuple[Flat, ...]:
    """Pieces of A → B, carried to C, and pieces of B → C, carried back to A; a piece that both have is one."""
    pieces = []
    for one in first.flat(Z):
        partner = next((two for two in second.flat(Z) if two.source[0] <= one.target[1] and one.target[0] <= two.source[1]), None)
        pieces.append(Flat(one.source, partner.target if partner is not None else _carried(one.target, second.map, Z)))
    for two in second.flat(Z):
        if not any(two.source[0] <= one.target[1] and one.target[0] <= two.source[1] for one in first.flat(Z)):
            pieces.append(Flat(_carried(two.source, first.inverse, Z), two.target))
    return tuple(pieces)


def _carried(ends: tuple[float, float], by: Map, Z: TrainingSet) -> tuple[float, float]:
    low, high = sorted(by(end, Z) for end in ends)
    return low, high


def equivalence(name: str, *, summary: str = "") -> Callable[[Callable[..., Equivalence]], Callable[..., Equivalence]]:
    """Register a function (options → Equivalence) under `name`; `simopt list equivalences` shows it."""

    def add(build: Callable[..., Equivalence]) -> Callable[..., Equivalence]:
        registry.register("equivalence", name, RegistryEntry(name, summary or first_line(build), build), build.__module__)
        return build

    return add
