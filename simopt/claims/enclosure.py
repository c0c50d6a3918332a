"""Numbers of every arithmetic as enclosures [low, high] that know what evidence they are.

Python's integers and fractions are exact, `Interval` numbers are rigorous, everything else is a float. So are NumPy's integers: they wrap
around without a word (2⁶² · 4 = 0), so that what stands behind one cannot be known. Mixing them weakens the evidence to the weakest of the
parts. Expressions (`simopt.claims.expression`) enclose themselves and keep the formula for the proof file.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.arithmetic.interval import Interval
from simopt.claims.expression import Expr
from simopt.claims.kinds import Evidence, weakest

Number = Fraction | float


class NotComparable(ValueError):
    """A number that no bound can be compared with: NaN, a complex number, an array where one number was expected."""


@dataclass(frozen=True)
class Enclosure:
    """low ≤ value ≤ high, with the evidence for it and, for expressions, the formula."""

    low: Number
    high: Number
    evidence: Evidence = Evidence.FLOAT
    expression: Expr | None = None

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise NotComparable(f"an enclosure needs low <= high and no NaN, got [{self.low}, {self.high}]")

    def widened(self, error: Any) -> Enclosure:
        """Return the enclosure with `error` ≥ 0 added on both sides."""
        if isinstance(error, int) and error == 0:
            return self
        extra = enclose(error)
        if extra.low < 0:
            raise NotComparable(f"an error bar must be non-negative, got {extra.low}")
        if extra.high == 0:
            return self
        down, up = _outward(self.low - extra.high, self.high + extra.high, self.evidence)
        return Enclosure(down, up, weakest(self.evidence, extra.evidence))


def between(low: Any, high: Any) -> Enclosure:
    """Bracket for a value of which only two bounds are known, as a certificate gives them (its lower and upper bound)."""
    below, above = enclose(low), enclose(high)
    return Enclosure(below.low, above.high, weakest(below.evidence, above.evidence))


def enclose(value: Any) -> Enclosure:
    """Return the enclosure of one number of any arithmetic.

    Raises
    ------
    NotComparable
        for NaN, complex numbers, strings and arrays with more than one entry.
    """
    if isinstance(value, Enclosure):
        return value
    if isinstance(value, float):  # also NumPy's float64
        return _point(float(value))
    if isinstance(value, Expr):
        return Enclosure(value.low, value.high, Evidence.EXACT if value.low == value.high else Evidence.INTERVAL, value)
    if isinstance(value, Interval):
        if value.size != 1:
            raise NotComparable(f"one number expected, got an interval array of shape {value.shape}")
        return Enclosure(float(value.low.item()), float(value.high.item()), Evidence.INTERVAL)
    if isinstance(value, np.ndarray):
        if value.size != 1:
            raise NotComparable(f"one number expected, got an array of shape {value.shape}")
        return enclose(value.reshape(-1)[0])
    if isinstance(value, bool | int | np.bool_):
        number = Fraction(int(value))
        return Enclosure(number, number, Evidence.EXACT)
    if isinstance(value, np.integer):
        return Enclosure(Fraction(int(value)), Fraction(int(value)), Evidence.FLOAT)
    if isinstance(value, Fraction):
        exact = type(value.numerator) is int and type(value.denominator) is int  # Fraction(np.int64(1)) computes with NumPy's integers
        number = Fraction(int(value.numerator), int(value.denominator))
        formula = getattr(value, "formula", None)  # of a fraction that was traced
        return Enclosure(number, number, Evidence.EXACT if exact else Evidence.FLOAT, formula)
    if isinstance(value, np.floating):
        return _point(float(value))
    raise NotComparable(f"a number is expected, got {type(value).__name__}")


def _point(number: float) -> Enclosure:
    if math.isnan(number):
        raise NotComparable("not a number (NaN) cannot be compared with a bound")
    return Enclosure(number, number, Evidence.FLOAT)


def entries(*values: Any) -> Iterator[tuple[Any, ...]]:
    """Walk through arrays, lists and numbers together, entry by entry, with NumPy's broadcasting."""
    if not any(isinstance(value, np.ndarray | list | tuple | Interval) for value in values):
        yield values
        return
    arrays = [_as_array(value) for value in values]
    for row in np.broadcast(*arrays) if len(arrays) > 1 else ((entry,) for entry in arrays[0].flat):
        yield tuple(row)


def _as_array(value: Any) -> Any:
    if isinstance(value, Interval):
        parts = [Enclosure(float(a), float(b), Evidence.INTERVAL) for a, b in zip(value.low.flat, value.high.flat, strict=True)]
        return _objects(parts).reshape(value.shape)
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list | tuple):
        return _objects(list(value))
    return _objects([value]).reshape(())


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def as_float(value: Number) -> float:
    """The nearest float; what is beyond all floats is an infinity."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def difference(left: Enclosure, right: Enclosure, scale: Fraction) -> tuple[Number, Number]:
    """Enclosure of (left − right)/scale, rounded outward where the parts are rigorous balls."""
    evidence = weakest(left.evidence, right.evidence)
    low, high = _outward(left.low - right.high, left.high - right.low, evidence)
    return _outward(_over(low, scale), _over(high, scale), evidence) if scale != 1 else (low, high)


def _over(value: Number, scale: Fraction) -> Number:
    return value / scale if isinstance(value, Fraction) else value / float(scale)


def _outward(low: Number, high: Number, evidence: Evidence) -> tuple[Number, Number]:
    if evidence is Evidence.INTERVAL:
        if not isinstance(low, Fraction):
            low = math.nextafter(low, -math.inf)
        if not isinstance(high, Fraction):
            high = math.nextafter(high, math.inf)
    return low, high
