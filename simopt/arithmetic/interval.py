"""Mid-radius intervals in NumPy: every result is a ball that contains the real value of the formula.

Rounding is bounded a priori (sums of n products in any order are off by at most γ_n Σ|x_i y_i|, γ_n = n u/(1 − n u)), so that BLAS may be
used; all radii are inflated generously. A midpoint that overflowed says nothing of where the number lies, however small the bound of its
rounding errors: its ball is all numbers. Comparisons between intervals are refused: NumPy would answer them wrongly and silently.
Powers with general exponents go through `flint.arb`, one scalar at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simopt.arithmetic.base import Arithmetic, Value
from simopt.arrays import Array

EPS = 2.0**-52  # twice the unit round-off: a factor two to spare in every bound
TINY = 2.0**-1060  # covers underflow
SMALLEST = 2.0**-1074  # the smallest positive float
BLOCK = 1 << 18  # entries of a matrix whose absolute values are held at a time: a processor's cache, and no copy of a large matrix


class Interval:
    """Balls {x : |x − mid| ≤ rad}, scalar or array."""

    __slots__ = ("mid", "rad")
    __array_ufunc__ = None  # NumPy defers to our operators

    def __init__(self, mid: Any, rad: Any = 0.0) -> None:
        self.mid: Array = np.asarray(mid, dtype=float)
        radius: Array = np.asarray(rad, dtype=float)
        self.rad = radius if radius.shape == self.mid.shape else np.broadcast_to(radius, self.mid.shape)

    @classmethod
    def hull(cls, low: Any, high: Any) -> Interval:
        """Smallest ball around [low, high]."""
        low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite ends: the ball becomes all numbers
            mid = 0.5 * low + 0.5 * high
            return _ball(mid, np.maximum(high - mid, mid - low) + EPS * np.abs(mid))

    @property
    def low(self) -> Array:
        """Lower end points (−∞ after an overflow); a ball of radius 0 is the number itself."""
        with np.errstate(invalid="ignore", over="ignore"):
            ends = np.where(self.rad == 0.0, self.mid, np.nextafter(self.mid - self.rad, -np.inf))
        return np.where(np.isnan(ends), -np.inf, ends)

    @property
    def high(self) -> Array:
        """Upper end points (∞ after an overflow); a ball of radius 0 is the number itself."""
        with np.errstate(invalid="ignore", over="ignore"):
            ends = np.where(self.rad == 0.0, self.mid, np.nextafter(self.mid + self.rad, np.inf))
        return np.where(np.isnan(ends), np.inf, ends)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of balls."""
        return self.mid.shape

    @property
    def size(self) -> int:
        """Number of balls."""
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
        return _ball(mid, self.rad + other.rad + EPS * np.abs(mid))

    def __sub__(self, other: Any) -> Interval:
        return self + (-as_interval(other))

    def __mul__(self, other: Any) -> Interval:
        other = as_interval(other)
        mid = self.mid * other.mid
        rad = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return _ball(mid, rad + EPS * np.abs(mid))

    def __truediv__(self, other: Any) -> Interval:
        other = as_interval(other)
        room = np.abs(other.mid) - other.rad
        if np.any(room <= 0.0):
            raise ZeroDivisionError("interval division by an interval that contains 0")
        mid = self.mid / other.mid
        # quotients first: products such as |mid| · rad may underflow where their quotient by `room` does not
        return _ball(mid, self.rad / room + np.abs(mid) * (other.rad / room) + EPS * np.abs(mid))

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


def _ball(mid: Any, radius: Any) -> Interval:
    """The ball around mid with the radius inflated against its own rounding; all numbers where the midpoint overflowed."""
    radius = radius * (1.0 + 16 * EPS) + TINY
    known = np.isfinite(mid)
    if known.all():
        return Interval(mid, radius)
    return Interval(np.where(known, mid, 0.0), np.where(known, radius, np.inf))


def _spread(x: Interval, gamma: float) -> Array:
    """rad + γ |mid|, not below its real value where γ |mid| underflows."""
    bound: Array = x.rad + gamma * np.abs(x.mid) + SMALLEST * (x.mid != 0.0)
    return bound


def _absolute(a: Array, x: Array) -> Array:
    """|A| x, the absolute values of a few rows at a time (of a few columns, where those lie together in memory)."""
    out: Array
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


def as_interval(x: Any) -> Interval:
    """Return an interval; floats stand for themselves."""
    return x if isinstance(x, Interval) else Interval(x)


class MidRadius(Arithmetic):
    """Ball arithmetic with a-priori rounding bounds."""

    name = "interval"

    def lift(self, x: Any) -> Value:
        """Balls of radius 0 around floats."""
        return as_interval(x)

    def matvec(self, matrix: Any, x: Value) -> Value:
        """A x: midpoint by BLAS, radius |A| (rad + γ |mid|) (plus the matrix's own radius)."""
        a, x = as_interval(matrix), as_interval(x)
        gamma = (a.shape[-1] + 4) * EPS
        spread = _spread(x, gamma)
        rad = _absolute(a.mid, spread)
        if isinstance(matrix, Interval):
            rad = rad + a.rad @ (np.abs(x.mid) + x.rad)
        return _ball(a.mid @ x.mid, rad * (1.0 + gamma) + a.shape[-1] * TINY)

    def dot(self, x: Value, y: Value) -> Value:
        """Σ x_i y_i."""
        x, y = as_interval(x), as_interval(y)
        gamma = (x.size + 4) * EPS
        rad = np.abs(x.mid) @ _spread(y, gamma) + x.rad @ (np.abs(y.mid) + y.rad)
        return _ball(x.mid @ y.mid, rad * (1.0 + gamma) + x.size * TINY)

    def sum(self, x: Value) -> Value:
        """Σ x_i."""
        x = as_interval(x)
        gamma = (x.size + 4) * EPS
        return _ball(np.sum(x.mid), (np.sum(x.rad) + gamma * np.sum(np.abs(x.mid))) * (1.0 + gamma))

    def cumsum(self, x: Value) -> Value:
        """Partial sums."""
        x = as_interval(x)
        gamma = (x.size + 4) * EPS
        return _ball(np.cumsum(x.mid), (np.cumsum(x.rad) + gamma * np.cumsum(np.abs(x.mid))) * (1.0 + gamma))

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
        """Square root of x, which is known to be ≥ 0 (the part of the ball below 0 is cut off)."""
        low = np.nextafter(np.sqrt(np.maximum(x.low, 0.0)), -np.inf)
        return Interval.hull(np.maximum(low, 0.0), np.nextafter(np.sqrt(np.maximum(x.high, 0.0)), np.inf))

    def power(self, x: Value, exponent: float) -> Value:
        """x^p of x, which is known to be ≥ 0, by `flint.arb` at 128 bits."""
        p = float(exponent)
        low, high = np.maximum(x.low, 0.0), np.maximum(x.high, 0.0)
        ends = (low, high) if p >= 0 else (high, low)
        bounds = [np.reshape([_arb_power(float(v), p)[side] for v in np.ravel(end)], end.shape) for side, end in enumerate(ends)]
        return Interval.hull(bounds[0], bounds[1])

    def exp(self, x: Value) -> Value:
        """e^x by `flint.arb` at 128 bits."""
        return _increasing(_arb_exp, as_interval(x))

    def log(self, x: Value) -> Value:
        """log x by `flint.arb` at 128 bits; −∞ at the lower end of a ball that reaches down to 0."""
        return _increasing(_arb_log, as_interval(x))

    def max(self, x: Value) -> Value:
        """Largest entry."""
        return Interval.hull(np.max(x.low), np.max(x.high))

    def zeros(self, n: int) -> Value:
        """n zeros."""
        return Interval(np.zeros(n))

    def concat(self, parts: Sequence[Value]) -> Value:
        """One array after another."""
        balls = [as_interval(p) for p in parts]
        return Interval(np.concatenate([np.atleast_1d(b.mid) for b in balls]), np.concatenate([np.atleast_1d(b.rad) for b in balls]))

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

    with flint.ctx.workprec(128):
        value = flint.arb(x) ** flint.arb(p)
        mid, rad = float(value.mid()), float(value.rad())
    if not np.isfinite(mid):
        return 0.0, np.inf
    slack = rad + EPS * mid + TINY
    return max(0.0, mid - slack), mid + slack


def _arb_exp(x: float) -> tuple[float, float]:
    """Floats below and above e^x."""
    if not np.isfinite(x):
        return (0.0, 0.0) if x < 0 else (0.0, np.inf)
    import flint

    with flint.ctx.workprec(128):
        value = flint.arb(x).exp()
        mid, rad = float(value.mid()), float(value.rad())
    if not np.isfinite(mid):
        return float(np.finfo(float).max), np.inf
    slack = rad + EPS * mid + TINY
    return max(0.0, mid - slack), mid + slack


def _arb_log(x: float) -> tuple[float, float]:
    """Floats below and above log x, −∞ for x ≤ 0."""
    if x <= 0.0:
        return -np.inf, -np.inf
    if not np.isfinite(x):
        return float(np.log(np.finfo(float).max)), np.inf
    import flint

    with flint.ctx.workprec(128):
        value = flint.arb(x).log()
        mid, rad = float(value.mid()), float(value.rad())
    slack = rad + EPS * abs(mid) + TINY
    return mid - slack, mid + slack


def _increasing(bounds: Callable[[float], tuple[float, float]], x: Interval) -> Interval:
    """The image of each ball under an increasing function, given floats below and above its value at a float."""
    low, high = x.low, x.high
    ends = [np.reshape([bounds(float(v))[side] for v in np.ravel(end)], end.shape) for side, end in enumerate((low, high))]
    return Interval.hull(ends[0], ends[1])


INTERVAL = MidRadius()
