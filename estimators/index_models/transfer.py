"""Transfer functions of generalised linear models: the known ones, one's own, and a search for places where one is faulty."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.core.fields import extended
from simopt.core.monotone_function import MonotoneFunction
from simopt.problems.losses.transfers import TRANSFERS

Function = Callable[[Array], Any]
ROUNDING = 8 * 2.0**-52  # of |u(a)| + |u(b)|: what evaluation alone may make u fall or climb
GRID, PARTS, WORST, ROUNDS = 2049, 8, 24, 14


@dataclass(frozen=True)
class Violation:
    """a < b where u falls, or climbs by more than L(b − a), or has a value that is not finite (then a = b)."""

    fault: str
    a: float
    b: float
    at_a: float
    at_b: float
    lipschitz: float

    @property
    def slope(self) -> float:
        """(u(b) − u(a))/(b − a)."""
        return (self.at_b - self.at_a) / (self.b - self.a) if self.b > self.a else math.nan

    def __str__(self) -> str:
        if self.fault == "not finite":
            return f"u({self.a:.17g}) = {self.at_a} is not finite"
        values = f"u({self.a:.17g}) = {self.at_a:.17g} and u({self.b:.17g}) = {self.at_b:.17g}"
        if self.fault == "falls":
            return f"it is not monotone: {values}"
        return f"it is not {self.lipschitz:g}-Lipschitz: {values}, a slope of {self.slope:.12g}"


def find_fault(u: Function, lipschitz: float = 1.0, interval: tuple[float, float] = (-10.0, 10.0)) -> Violation | None:
    """A pair of points at which u falls or climbs faster than L, or None if the search finds none.

    The interval is cut into 2048 parts; those with the least and the greatest slopes are cut again and again, each time keeping the
    extreme ones. A part always has a subpart at least as steep, so slopes only grow towards a fault. A fault narrower than the parts that
    shows in none of them escapes: a None is no proof. A `MonotoneFunction` is decided exactly, by its slopes. About 14 000 evaluations.

    Parameters
    ----------
    u : callable
        (k,) array -> (k,) array.
    lipschitz : float
        L ≥ 0, possibly ∞.
    interval : pair of floats

    Raises
    ------
    InvalidProblem
        when u is no function of arrays that returns one real number for each of its arguments.
    """
    if not callable(u):
        raise InvalidProblem(f"transfer: {u!r} given; a function of arrays, a Transfer or one of {', '.join(TRANSFERS)} needed")
    bound = extended("lipschitz", lipschitz)
    low, high = validate.finite("interval", interval[0]), validate.finite("interval", interval[1])
    if not 0.0 < high - low < math.inf:
        raise InvalidProblem(f"interval: the lower end must come first, and the length be finite; got ({low:g}, {high:g})")
    if isinstance(u, MonotoneFunction):
        return _steepest_piece(u, bound)
    edges = np.unique(np.linspace(low, high, GRID))
    left, right = edges[:-1], edges[1:]
    for _ in range(ROUNDS):
        values = _values(u, np.concatenate([left, right]))
        found = _fault(left, right, *values, bound)
        if found is not None:
            return found
        slopes = (values[1] - values[0]) / (right - left)
        order = np.argsort(slopes)
        chosen = np.unique(np.concatenate([order[:WORST], order[-WORST:]]))
        fraction = np.arange(PARTS + 1) / PARTS
        cuts = left[chosen, None] + (right - left)[chosen, None] * fraction
        cuts[:, -1] = right[chosen]
        left, right = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
        kept = right > left
        left, right = left[kept], right[kept]
        if left.size == 0:
            return None
    return None


def _values(u: Function, at: Array) -> tuple[Array, Array]:
    try:
        given = np.asarray(u(at))
        values = given.astype(float) if given.dtype.kind != "c" else None
    except (TypeError, ValueError) as error:
        raise InvalidProblem(
            f"transfer: fails for an array of shape {at.shape} ({error}); np.vectorize makes a function of numbers one of arrays"
        ) from error
    if values is None:
        raise InvalidProblem("transfer: returned complex numbers, real ones needed")
    if values.shape != at.shape:
        raise InvalidProblem(f"transfer: returned shape {values.shape} for arguments of shape {at.shape}; one number for each is needed")
    half = at.size // 2
    return values[:half], values[half:]


def _fault(left: Array, right: Array, at_left: Array, at_right: Array, bound: float) -> Violation | None:
    """The worst fault among the intervals."""
    for positions, values in ((left, at_left), (right, at_right)):
        wrong = ~np.isfinite(values)
        if np.any(wrong):
            i = int(np.argmax(wrong))
            place, value = float(positions[i]), float(values[i])
            return Violation("not finite", place, place, value, value, bound)
    tolerance = ROUNDING * (np.abs(at_left) + np.abs(at_right))
    rise = at_right - at_left
    excesses = (("falls", -rise - tolerance), ("too steep", rise - bound * (right - left) - tolerance))
    for fault, excess in excesses if math.isfinite(bound) else excesses[:1]:
        if np.any(excess > 0):
            i = int(np.argmax(excess))
            return Violation(fault, float(left[i]), float(right[i]), float(at_left[i]), float(at_right[i]), bound)
    return None


def _steepest_piece(u: MonotoneFunction, bound: float) -> Violation | None:
    t, v = u.nodes, u.values
    if t.size == 1:
        return None
    i = int(np.argmax(u.slopes))
    return _fault(t[i : i + 1], t[i + 1 : i + 2], v[i : i + 1], v[i + 1 : i + 2], bound)


@dataclass(frozen=True, eq=False)
class Transfer:
    """u with the Lipschitz constant that it is known, or was checked, to have.

    Attributes
    ----------
    name : str
    function : callable
        (k,) array -> (k,) array.
    lipschitz : float
    proven : bool
        whether the constant is a theorem; else it passed `find_fault` on the interval that was asked for.
    """

    name: str
    function: Function
    lipschitz: float
    proven: bool = False

    def __call__(self, t: Array) -> Array:
        """u(t)."""
        return np.asarray(self.function(t), dtype=float)


def known_transfer(name: str) -> Transfer:
    """identity, logistic, probit or clipped ((1 + t)/2 in [0, 1]).

    Raises
    ------
    UnknownName
        with the nearest name.
    """
    if name not in TRANSFERS:
        raise UnknownName("transfer", name, list(TRANSFERS))
    return Transfer(name, TRANSFERS[name].transfer, TRANSFERS[name].lipschitz, True)


@dataclass(frozen=True)
class Ramp:
    """u(t) = slope · t + intercept, clipped to [0, 1]."""

    slope: float
    intercept: float

    def __call__(self, t: Array) -> Array:
        """u(t)."""
        return np.clip(self.slope * np.asarray(t, dtype=float) + self.intercept, 0.0, 1.0)


def clipped_linear(slope: float = 1.0, intercept: float = 0.0) -> Transfer:
    """u(t) = slope · t + intercept, clipped to [0, 1]; slope ≥ 0."""
    ramp = Ramp(validate.nonnegative("slope", slope), validate.finite("intercept", intercept))
    return Transfer(f"clip({ramp.slope:g} t + {ramp.intercept:g})", ramp, ramp.slope, True)


def checked_transfer(
    u: Function | str | Transfer, lipschitz: float = 1.0, interval: tuple[float, float] = (-10.0, 10.0), name: str = "user"
) -> Transfer:
    """One's own function as a transfer, after a search for faults; a name or a transfer passes if its constant is at most L.

    Raises
    ------
    InvalidProblem
        with the witness, for a function that is found not to be monotone or not L-Lipschitz.
    """
    lipschitz = extended("lipschitz", lipschitz)
    found = known_transfer(u) if isinstance(u, str) else u
    if isinstance(found, Transfer):
        if found.lipschitz > lipschitz:
            raise InvalidProblem(f"transfer: {found.name} has Lipschitz constant {found.lipschitz:g}, at most {lipschitz:g} asked for")
        return found
    witness = find_fault(found, lipschitz, interval)
    if witness is not None:
        raise InvalidProblem(f"transfer: {witness}; a non-decreasing function with slopes of at most {lipschitz:g} is needed")
    return Transfer(name, found, lipschitz, isinstance(found, MonotoneFunction))
