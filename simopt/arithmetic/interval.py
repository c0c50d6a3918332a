"""Mid-radius intervals in NumPy: every result is an interval that contains the real value of the formula.

Rounding is bounded a priori: sums of n products in any order are off by at most γ_n Σ|x_i y_i|, γ_n = n u/(1 − n u). So BLAS may be used.
All radii are inflated generously. A midpoint that overflowed does not tell where the number lies, however small the bound of its rounding
errors: its interval is all numbers. Comparisons between intervals are refused: NumPy would answer them wrongly and silently.

Intervals hold real numbers. A number with an infinite radius is still known to be one: 0 times it is 0, as in IEEE 1788. A lifted infinity
is no number, and 0 times it may be anything. An exact 0 stays exact: sums are exact where they are small enough to underflow, and products
that may underflow get a radius, unless a factor is 0. Powers with general exponents go through `flint.arb`, one scalar at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simopt.arithmetic import elementary, sparse
from simopt.arithmetic.base import Arithmetic, Value, largest_of_groups, members
from simopt.arithmetic.precision import workprec
from simopt.core.arrays import Array
from simopt.core.frozen_matrix import base_of, matvec

EPS = 2.0**-52  # twice the unit round-off: a factor two to spare in every bound
FAINT = 2.0**-960  # smaller products may lose bits
TINY = 2.0**-1060  # covers underflow
SMALLEST = 2.0**-1074  # the smallest positive float
AROUND = (0.36787944117144, 0.36787944117145)  # 1/e, where x log x is least
BLOCK = 1 << 18  # entries of a matrix whose absolute values are in memory at a time: a processor's cache, and no copy of a large matrix


class Interval:
    """Intervals {x : |x − mid| ≤ rad} of real numbers, scalar or array; rad = ∞ says that nothing is known of the number."""

    __slots__ = ("mid", "rad")
    __array_ufunc__ = None  # NumPy defers to our operators

    def __init__(self, mid: Any, rad: Any = 0.0) -> None:
        self.mid: Array = np.asarray(mid, dtype=float)
        radius: Array = np.asarray(rad, dtype=float)
        self.rad = radius if radius.shape == self.mid.shape else np.broadcast_to(radius, self.mid.shape)

    @classmethod
    def hull(cls, low: Any, high: Any) -> Interval:
        """Smallest interval around [low, high]; the number itself where both ends are one."""
        low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite ends: the interval becomes all numbers
            mid = np.where(low == high, low, 0.5 * low + 0.5 * high)
            exact = ((low == 0.0) | (high == 0.0)) & (mid + mid == low + high)  # keeps the sign of a number that is known to be ≥ 0, or ≤ 0
            around = _midrad(mid, np.maximum(high - mid, mid - low))
            return cls(around.mid, np.where(exact & np.isfinite(mid), np.abs(mid), around.rad))

    @property
    def low(self) -> Array:
        """Lower end points (−∞ after an overflow); an interval of radius 0 is the number itself."""
        return self._end(-1)

    @property
    def high(self) -> Array:
        """Upper end points (∞ after an overflow); an interval of radius 0 is the number itself."""
        return self._end(1)

    def _end(self, side: int) -> Array:
        if not self.rad.any() and not np.isnan(self.mid).any():
            return self.mid
        with np.errstate(invalid="ignore", over="ignore"):
            ends = np.where(self.rad == 0.0, self.mid, _next(self.mid + side * self.rad, side))
        return np.where(np.isnan(ends), side * np.inf, ends)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of intervals."""
        return self.mid.shape

    @property
    def size(self) -> int:
        """Number of intervals."""
        return int(self.mid.size)

    @property
    def T(self) -> Interval:
        """Transposed array."""
        return Interval(self.mid.T, self.rad.T)

    def __len__(self) -> int:
        return len(self.mid)

    def __getitem__(self, index: Any) -> Interval:
        return Interval(self.mid[index], self.rad[index])

    def __neg__(self) -> Interval:
        return Interval(-self.mid, self.rad)

    def __add__(self, other: Any) -> Interval:
        other = as_interval(other)
        mid = self.mid + other.mid
        rounded = np.where((self.mid == 0.0) | (other.mid == 0.0), 0.0, EPS * np.abs(mid))  # a sum with 0 is exact
        return _midrad(mid, self.rad + other.rad + rounded)

    def __sub__(self, other: Any) -> Interval:
        return self + (-as_interval(other))

    def __mul__(self, other: Any) -> Interval:
        other = as_interval(other)
        mid = self.mid * other.mid
        rad = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return _product(mid, rad + EPS * np.abs(mid), lambda: _is_zero(self) | _is_zero(other))

    def __truediv__(self, other: Any) -> Interval:
        other = as_interval(other)
        least = np.abs(other.mid) - other.rad
        if np.any(least <= 0.0):
            raise ZeroDivisionError("interval division by an interval that contains 0")
        mid = self.mid / other.mid
        # quotients first: products such as |mid| · rad may underflow where their quotient by `least` does not
        rad = self.rad / least + np.abs(mid) * (other.rad / least)
        return _product(mid, rad + EPS * np.abs(mid), lambda: _is_zero(self) & (least > 0.0))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Interval:
        return as_interval(other) - self

    def __rtruediv__(self, other: Any) -> Interval:
        return as_interval(other) / self

    def _refuse(self, other: Any) -> bool:
        raise TypeError("intervals cannot be compared; compare num.lower(x) or num.upper(x)")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __eq__ = _refuse
    __ne__ = _refuse

    def __hash__(self) -> int:
        raise TypeError("an interval is equal to nothing and has no hash")

    def __bool__(self) -> bool:
        raise TypeError("an interval has no truth value")

    def __repr__(self) -> str:
        return f"Interval({self.mid!r} ± {self.rad!r})"


def _midrad(mid: Any, radius: Any) -> Interval:
    """The interval around mid with the radius inflated against its own rounding; all numbers where the midpoint overflowed."""
    radius = radius * (1.0 + 16 * EPS)
    known = np.isfinite(mid)
    if known.all():
        return Interval(mid, radius)
    return Interval(np.where(known, mid, 0.0), np.where(known, radius, np.inf))


def _product(mid: Any, radius: Any, zero: Callable[[], Any], tiny: Any = TINY) -> Interval:
    """The interval of a product or quotient: `tiny` covers its underflow, but where zero() says that it is exactly 0. A radius 0·∞ is ∞."""
    least = radius.min(initial=np.inf)
    radius = radius + tiny
    if not least > 0.0:
        radius = np.where(zero(), 0.0, radius)
    if np.isnan(least):
        radius = np.where(np.isnan(radius), np.inf, radius)
    return _midrad(mid, radius)


def _is_zero(x: Interval) -> Any:
    """Which intervals are the number 0."""
    return (x.mid == 0.0) & (x.rad == 0.0)


def _next(x: Array, direction: int) -> Array:
    """The next float below (−1) or above (+1) a rounded sum or root x, eight times as fast as NumPy's. One that is 0 is exact and stays.

    Floats of one sign are ordered like their bits, read as integers; beyond an infinity lies what is no number.
    """
    bits = np.ascontiguousarray(x).view(np.int64)
    out: Array = (bits + direction * np.sign(bits)).view(np.float64)
    return out.reshape(np.shape(x))


def _enclosing_radius(x: Interval, gamma: float) -> Array:
    """rad + γ |mid|, not below its real value where γ |mid| underflows."""
    bound: Array = x.rad + gamma * np.abs(x.mid) + SMALLEST * (x.mid != 0.0)
    return bound


def _absolute(a: Array, x: Array) -> Array:
    """|A| x, the absolute values of a few rows at a time (of a few columns, where those lie together in memory)."""
    out: Array
    base = base_of(a)
    if base is not None and base.nonnegative:
        return matvec(a, x)
    if a.size <= BLOCK or a.ndim != 2:
        out = np.abs(a) @ x
        return out
    n, d = a.shape
    if a.flags.f_contiguous:
        step = max(1, BLOCK // n)
        out = np.add.reduce([np.abs(a[:, j : j + step]) @ x[j : j + step] for j in range(0, d, step)])
        return out
    step = max(1, BLOCK // d)
    return np.concatenate([np.abs(a[i : i + step]) @ x for i in range(0, n, step)])


def scaled_exactly(x: Interval, c: Any) -> Interval:
    """x times floats c: a power of two, or 0, rounds nothing."""
    found: Interval = x * c
    rad = x.rad * np.abs(c)
    large = ((np.abs(found.mid) > FAINT) | (x.mid == 0.0)) & ((rad > FAINT) | (x.rad == 0.0))
    exact = ((np.abs(np.frexp(c)[0]) == 0.5) & large | (c == 0.0)) & np.isfinite(found.rad)
    return Interval(found.mid, np.where(exact, rad, found.rad))


def as_interval(x: Any) -> Interval:
    """Return an interval; floats stand for themselves."""
    return x if isinstance(x, Interval) else Interval(x)


def _column(matrix: Any, x: Interval) -> Interval | None:
    """A x for a unit vector x: a column of A itself, without rounding. None for other vectors."""
    if x.mid.ndim != 1 or np.count_nonzero(x.mid) != 1 or x.rad.any():
        return None
    at = int(np.argmax(x.mid != 0.0))
    if x.mid[at] != 1.0 or not getattr(matrix, "has_canonical_format", True):  # the same place stored twice is a sum
        return None
    if sparse.is_sparse(matrix):
        return Interval(sparse.compressed(matrix)[:, [at]].toarray().reshape(-1))
    return as_interval(matrix)[:, at]


def _dense_product(matrix: Any, x: Interval) -> Interval:
    """A x for an array of floats or of intervals."""
    a = as_interval(matrix)
    gamma = (a.shape[-1] + 4) * EPS
    rad = _absolute(a.mid, _enclosing_radius(x, gamma))
    if isinstance(matrix, Interval):
        rad = rad + a.rad @ (np.abs(x.mid) + x.rad)
    return _product(matvec(a.mid, x.mid), rad * (1.0 + gamma), lambda: _vanishes(a, x, rad), a.shape[-1] * TINY)


def _sparse_product(matrix: Any, x: Interval) -> Interval:
    """A x for a compressed matrix of floats."""
    moduli, count = sparse.with_entries(matrix, np.abs(matrix.data)), sparse.terms(matrix).reshape(-1, *[1] * (x.mid.ndim - 1))
    gamma = np.where(count > 0, (count + 4) * EPS, 0.0)
    rad = gamma * (moduli @ np.abs(x.mid))
    if x.rad.any():
        rad = rad + moduli @ x.rad
    return _product(matrix @ x.mid, rad * (1.0 + gamma), lambda: _vanishes(matrix, x, rad), count * TINY)


def _vanishes(matrix: Any, x: Interval, rad: Any) -> Any:
    """Which entries of A x are exactly 0: those of rows that meet only exact zeros in x, if they have no radius above 0."""
    live = ~_is_zero(x)
    if not live.any():
        return np.ones(np.shape(rad), dtype=bool)
    if isinstance(matrix, Interval) and matrix.mid.ndim == 2 and rad.ndim == 1:
        bare = ~(rad > 0.0)
        bare[bare] = ~_meets(matrix[bare], live)
        return bare
    return ~_meets(matrix, live)


def _meets(matrix: Any, which: Any) -> Any:
    """The rows with an entry other than 0 in one of these columns."""
    if sparse.is_sparse(matrix):
        given = sparse.compressed(matrix)
        return sparse.with_entries(given, (given.data != 0.0).astype(float)) @ which.astype(float) > 0.0
    return ~_is_zero(as_interval(matrix)) @ which


class MidRadius(Arithmetic):
    """Interval arithmetic with a-priori rounding bounds."""

    name = "interval"

    def lift(self, x: Any) -> Value:
        """Intervals of radius 0 around floats."""
        return as_interval(x)

    def matvec(self, matrix: Any, x: Value) -> Value:
        r"""A x: midpoint by BLAS, radius |A| (rad + γ |mid|) (plus the matrix's own radius).

        Row i of a sparse matrix gives a sum over its k_i stored entries. In any order it is off by at most γ Σ_j |a_ij||x_j|,
        γ = k_i u/(1 − k_i u) (Higham 2002, §3.1), and by 2⁻¹⁰⁷⁵ for each product that underflows. The two sums of the radius,
        |A| rad and |A||mid|, are rounded like this as well, by at most γ of themselves.
        """
        x = as_interval(x)
        if (column := _column(matrix, x)) is not None:
            return column
        lost = np.isinf(x.rad)
        if lost.any():  # the rows that meet such an entry are lost; BLAS would lose them all, by 0·∞
            rest = self.matvec(matrix, Interval(np.where(lost, 0.0, x.mid), np.where(lost, 0.0, x.rad)))
            return Interval(rest.mid, np.where(_meets(matrix, lost), np.inf, rest.rad))
        return _sparse_product(sparse.compressed(matrix), x) if sparse.is_sparse(matrix) else _dense_product(matrix, x)

    def dot(self, x: Value, y: Value) -> Value:
        """Σ x_i y_i."""
        x, y = as_interval(x), as_interval(y)
        gamma = (x.size + 4) * EPS
        mid, rad = x.mid @ y.mid, np.abs(x.mid) @ _enclosing_radius(y, gamma) + x.rad @ (np.abs(y.mid) + y.rad)
        if 0.0 < rad < np.inf:
            return _midrad(mid, rad * (1.0 + gamma) + x.size * TINY)
        return self.sum(x * y)  # each product for itself: 0 where one factor is, whatever the other

    def sum(self, x: Value) -> Value:
        """Σ x_i. Terms so small that they might underflow are added exactly."""
        x = as_interval(x)
        gamma = (x.size + 4) * EPS
        return _midrad(np.sum(x.mid), (np.sum(x.rad) + gamma * np.sum(np.abs(x.mid))) * (1.0 + gamma))

    def cumsum(self, x: Value) -> Value:
        """Partial sums."""
        x = as_interval(x)
        gamma = (x.size + 4) * EPS
        return _midrad(np.cumsum(x.mid), (np.cumsum(x.rad) + gamma * np.cumsum(np.abs(x.mid))) * (1.0 + gamma))

    def group_sum(self, x: Value, groups: Any, count: int) -> Value:
        """Σ of the entries of each group, off by at most γ Σ |x_i| with as many terms as the group has; one entry alone is itself."""
        x, sizes = as_interval(x), members(groups, count)
        mid, size, rad = (np.bincount(groups, weights=part, minlength=count) for part in (x.mid, np.abs(x.mid), x.rad))
        gamma = np.where(sizes > 1, (sizes + 4) * EPS, 0.0)
        return _midrad(mid, (rad + gamma * size) * (1.0 + gamma))

    def group_max(self, x: Value, groups: Any, count: int) -> Value:
        """Largest entry of each group: between the largest lower end and the largest upper end."""
        x = as_interval(x)
        members(groups, count, least=1)
        return Interval.hull(largest_of_groups(x.low, groups, count), largest_of_groups(x.high, groups, count))

    def minimum(self, x: Value, y: Value) -> Value:
        """Elementwise minimum."""
        x, y = as_interval(x), as_interval(y)
        return Interval.hull(np.minimum(x.low, y.low), np.minimum(x.high, y.high))

    def maximum(self, x: Value, y: Value) -> Value:
        """Elementwise maximum."""
        x, y = as_interval(x), as_interval(y)
        return Interval.hull(np.maximum(x.low, y.low), np.maximum(x.high, y.high))

    def abs(self, x: Value) -> Value:
        """Elementwise |x|."""
        low, high = x.low, x.high
        return Interval.hull(np.maximum(0.0, np.maximum(low, -high)), np.maximum(-low, high))

    def sqrt(self, x: Value) -> Value:
        """Square root of x, which is known to be ≥ 0 (the part of the interval below 0 is cut off)."""
        low, high = (np.sqrt(np.maximum(end, 0.0)) for end in (x.low, x.high))
        return Interval.hull(np.maximum(_next(low, -1), 0.0), np.where(np.isinf(high), np.inf, _next(high, 1)))

    def power(self, x: Value, exponent: float) -> Value:
        """x^p of x, which is known to be ≥ 0, by `flint.arb` at 128 bits."""
        p = float(exponent)
        low, high = np.maximum(x.low, 0.0), np.maximum(x.high, 0.0)
        ends = (low, high) if p >= 0 else (high, low)
        bounds = [np.reshape([_arb_power(float(v), p)[side] for v in np.ravel(end)], end.shape) for side, end in enumerate(ends)]
        return Interval.hull(bounds[0], bounds[1])

    def exp(self, x: Value) -> Value:
        """e^x."""
        return _increasing(elementary.exp, as_interval(x), least=0.0)

    def expm1(self, x: Value) -> Value:
        """e^x − 1."""
        return _increasing(elementary.expm1, as_interval(x), least=-1.0)

    def log(self, x: Value) -> Value:
        """log x; −∞ at the lower end of an interval that reaches down to 0."""
        return _increasing(elementary.log, as_interval(x))

    def log1p(self, x: Value) -> Value:
        """log(1 + x); −∞ at the lower end of an interval that reaches down to −1."""
        return _increasing(elementary.log1p, as_interval(x))

    def xlogx(self, x: Value) -> Value:
        """x log x of x, which is known to be ≥ 0: it falls down to −1/e at 1/e, and rises from there."""
        x = as_interval(x)
        value, error = elementary.exp(-1.0)
        return _valley(elementary.xlogx, x, 0.0, AROUND, -_outward(value, error, 1))

    def bennett(self, x: Value) -> Value:
        """(1 + x) log(1 + x) − x of x, which is known to be ≥ −1: it falls down to 0 at 0, and rises from there."""
        return _valley(elementary.bennett, as_interval(x), -1.0, (0.0, 0.0), 0.0)

    def max(self, x: Value) -> Value:
        """Largest entry."""
        return Interval.hull(np.max(x.low), np.max(x.high))

    def zeros(self, n: int) -> Value:
        """n zeros."""
        return Interval(np.zeros(n))

    def concat(self, parts: Sequence[Value]) -> Value:
        """One array after another."""
        intervals = [as_interval(p) for p in parts]
        return Interval(
            np.concatenate([np.atleast_1d(b.mid) for b in intervals]), np.concatenate([np.atleast_1d(b.rad) for b in intervals])
        )

    def lower(self, x: Value) -> float:
        """Lower end point."""
        return float(as_interval(x).low)

    def upper(self, x: Value) -> float:
        """Upper end point."""
        return float(as_interval(x).high)

    def mid(self, x: Value) -> Array:
        """Midpoints."""
        return as_interval(x).mid


def _arb_power(x: float, p: float) -> tuple[float, float]:
    """Floats below and above x^p."""
    if x == 0.0:
        return (0.0, 0.0) if p > 0 else ((1.0, 1.0) if p == 0 else (np.inf, np.inf))
    import flint

    with workprec(128):
        value = flint.arb(x) ** flint.arb(p)
        mid, rad = float(value.mid()), float(value.rad())
    if not np.isfinite(mid):
        return 0.0, np.inf
    slack = rad + EPS * mid + TINY
    return max(0.0, mid - slack), mid + slack


def _outward(value: Array, error: Array, direction: int) -> Array:
    """value ± error, rounded outward."""
    return np.where(error == 0.0, value, _next(value + direction * error, direction))


def _increasing(function: Callable[[Any], elementary.Result], x: Interval, least: float = -np.inf) -> Interval:
    """The image of each interval under an increasing function with values above `least`."""
    value, error = function(x.low)
    if not x.rad.any():
        return _midrad(value, error)
    with np.errstate(invalid="ignore"):
        low = np.maximum(_outward(value, error, -1), least)
        return Interval.hull(low, _outward(*function(x.high), 1))


def _valley(function: Callable[[Any], elementary.Result], x: Interval, start: float, bottom: tuple[float, float], least: Any) -> Interval:
    """The image of each interval, cut off below `start`, under a function that falls, is least within `bottom`, and rises."""
    low, high = np.maximum(x.low, start), np.maximum(x.high, start)
    value, error = function(low)
    if not x.rad.any():
        return _midrad(value, error)
    other, doubt = function(high)
    with np.errstate(invalid="ignore"):
        below = np.minimum(_outward(value, error, -1), _outward(other, doubt, -1))
        below = np.where((low <= bottom[1]) & (bottom[0] <= high), least, np.maximum(below, least))
        return Interval.hull(below, np.maximum(_outward(value, error, 1), _outward(other, doubt, 1)))


INTERVAL = MidRadius()
