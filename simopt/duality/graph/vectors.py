"""Vectors of any arithmetic, with the operations of the sweeps that `simopt.arithmetic` does not have.

A vector is flat (matrices column by column, as in CVXPY) and has at least one axis. `above(x, y)` marks the entries where x > y is
*proven*: of two overlapping intervals neither is above the other. Exact zeros are preserved where these functions can see them. An interval
of radius 0 around 0 states that a number is 0, which no interval with a positive radius can.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval
from simopt.arithmetic.interval import as_interval
from simopt.core.arrays import Array
from simopt.duality.graph.symbolic import Symbol

Value = Any
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]


def vector(num: Arithmetic, values: Any) -> Value:
    """Floats or values as a flat vector; matrices column by column."""
    if isinstance(values, Symbol):
        return values
    if isinstance(values, Interval):
        return Interval(values.mid.reshape(-1, order="F"), values.rad.reshape(-1, order="F"))
    flat = np.asarray(values).reshape(-1, order="F")
    return flat if flat.dtype == object else num.lift(flat)


def full(num: Arithmetic, x: float, n: int) -> Value:
    """The number x, n times."""
    return num.lift(np.full(n, x))


def broadcast(num: Arithmetic, x: Value, n: int) -> Value:
    """A vector of one entry repeated n times; one of n entries unchanged."""
    return x if len(x) == n else x[np.zeros(n, dtype=np.intp)]


def nothing(num: Arithmetic) -> Value:
    """+∞ as a scalar, for a conjugate outside of its domain; in intervals the one that contains all numbers."""
    return Interval(0.0, math.inf) if num is INTERVAL else math.inf


def known(num: Arithmetic, x: Value) -> bool:
    """Whether the scalar x is finite, and not the result of an overflow."""
    if num is INTERVAL:
        return math.isfinite(abs(float(x.mid)) + float(x.rad))
    return not isinstance(x, float) or math.isfinite(x)


def above(num: Arithmetic, x: Value, y: Value | float = 0.0) -> Mask:
    """Entries with x > y proven. An interval is compared with 0 without rounding: mid > rad."""
    if num is INTERVAL:
        x = as_interval(x)
        return np.asarray(x.mid > x.rad if isinstance(y, float) and y == 0.0 else x.low > as_interval(y).high)
    return np.asarray(x > y, dtype=bool)


def at_least_zero(num: Arithmetic, x: Value) -> Mask:
    """Entries with x ≥ 0 proven."""
    if num is INTERVAL:
        x = as_interval(x)
        return np.asarray(x.mid >= x.rad)
    return np.asarray(x >= 0, dtype=bool)


def is_zero(num: Arithmetic, x: Value) -> Mask:
    """Entries where x is known to be exactly 0."""
    if num is INTERVAL:
        return np.asarray((x.mid == 0.0) & (x.rad == 0.0))
    return np.asarray(x == 0, dtype=bool)


def where(num: Arithmetic, mask: Mask, x: Value, y: Value) -> Value:
    """x where the mask is set, y elsewhere."""
    if num is INTERVAL:
        x, y = as_interval(x), as_interval(y)
        return Interval(np.where(mask, x.mid, y.mid), np.where(mask, x.rad, y.rad))
    return np.where(mask, x, y)


def replaced(num: Arithmetic, x: Value, entries: Indices, y: Value) -> Value:
    """x with y at these entries."""
    if num is INTERVAL:
        return Interval(*(replaced(FLOAT, old, entries, new) for old, new in ((x.mid, y.mid), (x.rad, y.rad))))
    out = x.copy()
    out[entries] = y
    return out


def positive_part(num: Arithmetic, x: Value) -> Value:
    """max(x, 0); entries known to be ≤ 0 become an exact 0, and an interval known to be ≥ 0 stays unchanged."""
    if num is not INTERVAL:
        return num.pos(x)
    if not x.rad.any():
        return Interval(np.maximum(x.mid, 0.0))
    none, some = x.mid <= -x.rad, at_least_zero(num, x)
    out = where(num, none, num.zeros(len(x)), x)
    unsure = np.flatnonzero(~(none | some))
    return replaced(num, out, unsure, Interval.hull(0.0, x[unsure].high)) if len(unsure) else out


def divisor(num: Arithmetic, x: Value) -> tuple[Value, Mask]:
    """x where it is proven to be positive, else 1; and the mask of these entries."""
    positive = above(num, x)
    return where(num, positive, x, full(num, 1.0, len(x))), positive


def exactly(num: Arithmetic, fractions: Sequence[Fraction]) -> Value:
    """Fractions as numbers; those that are no floats become the interval around the nearest float."""
    if num is RATIONAL:
        return num.lift(np.array(fractions, dtype=object))
    nearest = np.array([float(x) for x in fractions])
    off = np.array([Fraction(near) != x for near, x in zip(nearest, fractions, strict=True)])
    return Interval(nearest, off * np.spacing(nearest)) if num is INTERVAL else nearest


def enclosing(num: Arithmetic, x: Value, y: Value) -> Value:
    """Intervals that contain all numbers between x and y."""
    x, y = as_interval(x), as_interval(y)
    return Interval.hull(np.minimum(x.low, y.low), np.maximum(x.high, y.high))


def inner(num: Arithmetic, x: Value, y: Value) -> Value:
    """Σ x_i y_i as a scalar. An exact 0 counts as 0, also when multiplied with a number that overflowed."""
    total = num.dot(x, y)
    if num is not INTERVAL or known(num, total):
        return total
    live = ~(is_zero(num, x) | is_zero(num, y))
    return num.dot(x[live], y[live])


def product(num: Arithmetic, matrix: Any, x: Value, columns: int = 1) -> Value:
    """A X for X of so many columns, given one below the other; A dense or sparse, of floats or lifted."""
    if columns == 1:
        return num.matvec(matrix, x)
    k = len(x) // columns
    if num is FLOAT:
        return num.matvec(matrix, x.reshape(k, columns, order="F")).reshape(-1, order="F")
    if num is INTERVAL:
        found = num.matvec(matrix, Interval(*(part.reshape(k, columns, order="F") for part in (x.mid, x.rad))))
        return Interval(*(part.reshape(-1, order="F") for part in (found.mid, found.rad)))
    return num.concat([num.matvec(matrix, x[np.arange(j * k, (j + 1) * k)]) for j in range(columns)])


def stack(num: Arithmetic, parts: Sequence[Value]) -> Value:
    """One vector after another."""
    return parts[0] if len(parts) == 1 else num.concat(parts)


def upper_ends(num: Arithmetic, x: Value) -> Array:
    """Floats that are not below x, up to rounding."""
    return np.asarray(x.high) if num is INTERVAL else floats(num, x)


def floats(num: Arithmetic, x: Value) -> Array:
    """Nearest floats, flat."""
    return np.asarray(num.mid(x), dtype=float).reshape(-1, order="F")
