r"""Exponentials and logarithms of arrays of floats, each with a proven bound on its error: value and error, |f(x) − value| ≤ error.

No library's exp or log is trusted. The argument is reduced to a break point, where a table knows the function to 2⁻¹⁰⁵ (`flint.arb`,
once), and a polynomial whose remainder is bounded. All of it takes sums, products and quotients of float64, which are rounded to nearest,
u = 2⁻⁵³, so that every error below is counted. A sum of two floats is represented exactly, as their rounded sum and the rounding error
(Knuth's TwoSum). Results are high + low ± error; the interval is then a little more than half a unit in the last place wide on each side.
No argument is nan.

exp: x = n ln2/64 + r, n = 64k + j, T = 2^{j/64}. Let ln2/64 = C₁ + C₂ + C₃, of which C₁ and C₂ have 36 bits. Then nC₁ and nC₂ are exact, so
    that r is known as r + low up to 2⁻¹⁰⁰; |r| < 2^{−7.5}, |low| < 2^{−59.5}. With w = r²/2 + … + r⁶/720 + low,
        e^x = 2^k T (1 + r + w + δ),    |δ| ≤ 2⁻⁵⁶|r| + 2⁻⁹⁸.
    The remainder of the series is below |r|⁷/5000 ≤ 2^{−57.2}|r|. The rounding of r²/2 + … (3.1u of it) is below 2^{−59.8}|r|, r·low below
    2^{−59.5}|r|, and the rounding of their sum with low below u(2^{−8.4}|r| + 2^{−59.5}). T = high + low as well, low ≤ u; of T(1 + r + w)
    the product low·w is left out and the rest rounded, together by less than (2.3|r| + 2⁻⁵⁰)uT. In all 3u|r|T + 2⁻⁹⁶, without the last term
    where n = 0: there T = 1 and both low parts are 0.
log: x = 2^k m, m between √½ and √2; c, of 10 bits, is near 1/m, and 1 where m is near 1. r = mc − 1 is exact as a sum of two floats,
    |r| < 2^{−7.1}, and with q = −r²/2 + r³/3 − … − r⁸/8
        log x = k ln2 − log c + r + q + δ,    |δ| ≤ 2⁻⁵⁷|r|.
    The remainder is below |r|⁹/8.9 ≤ 2^{−59.9}|r|, the rounding of q (3.1u of it) below 2^{−59.4}|r|, what r² leaves out of r's low
    part, 2⁻⁶¹, below 2^{−60.9}|r|. k ln2 is split in two, the first part of 42 bits, and known to 2⁻⁸⁴. The low parts but q are below 2⁻³¹
    together and are summed before it; q is in two steps, and all round by less than 2u|q| + 6·2⁻³¹u ≤ 2⁻⁶⁰|r| + 2⁻⁸¹. In all
    2⁻⁵⁶|r| + 2⁻⁸⁰, without the last term where k = 0 and c = 1: there r is exact and k ln2 and log c are 0.
The rounding of a subnormal result is at most 2⁻¹⁰⁷⁵, which SMALLEST = 2⁻¹⁰⁷⁴ covers.

Source: Tang, Table-driven implementation of the exponential function, ACM TOMS 15 (1989), and of the logarithm function, TOMS 16 (1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic.precision import workprec
from simopt.core.arrays import Array

U = 2.0**-53  # unit round-off
SMALLEST = 2.0**-1074
LARGEST = 709.782712893384  # the largest float whose exponential is one
STEPS = 64  # of the table of exp between 1 and 2
CELLS = 128  # of the table of log in a unit
SERIES = 0.125  # |h| up to which (1 + h) log(1 + h) − h is a power series
TERMS = 18  # of that series: the rest is below 2⁻⁶¹ of the sum
Parts = tuple[Array, Array, Array]  # high, low, error
Result = tuple[Array, Array]  # value, error


def exp(x: Any) -> Result:
    """e^x; ∞ where it overflows, 1 exactly for x = 0."""
    return _elementwise(lambda v: _ends(_rounded(*_scaled(*_exp_parts(v))), (v > LARGEST, np.inf)), x)


def expm1(x: Any) -> Result:
    """e^x − 1 without cancellation; ∞ where it overflows, 0 exactly for x = 0."""

    def shifted(v: Array) -> Result:
        high, low, error = _scaled(*_exp_parts(v))
        difference, rest = _two_sum(high, -1.0)
        tail, lost = _two_sum(rest, low)
        return _ends(_rounded(difference, tail, error + np.abs(lost)), (v > LARGEST, np.inf))

    return _elementwise(shifted, x)


def log(x: Any) -> Result:
    """log x; −∞ for x ≤ 0, 0 exactly for x = 1, ∞ for x = ∞."""
    return _elementwise(lambda v: _ends(_rounded(*_log_parts(v)), (v <= 0.0, -np.inf), (v == np.inf, np.inf)), x)


def log1p(h: Any) -> Result:
    """log(1 + h) without cancellation; −∞ for h ≤ −1, 0 exactly for h = 0, ∞ for h = ∞."""
    return _elementwise(lambda v: _ends(_rounded(*_log1p_parts(v)), (v <= -1.0, -np.inf), (v == np.inf, np.inf)), h)


def xlogx(x: Any) -> Result:
    """x log x for x ≥ 0, with 0 log 0 = 0."""

    def product(v: Array) -> Result:
        high, low, error = _log_parts(v)
        value = v * high
        bound = (U * np.abs(value) + v * (np.abs(low) + error)) * (1 + 8 * U) + 2 * SMALLEST * (high != 0.0)
        return _ends((value, bound), (v == 0.0, 0.0), (v == np.inf, np.inf))

    return _elementwise(product, x)


def bennett(h: Any) -> Result:
    r"""(1 + h) log(1 + h) − h ≥ 0 for h ≥ −1 without cancellation: 1 for h = −1, 0 exactly for h = 0.

    Up to |h| = 1/8 it is h²(1/2 − h/6 + h²/12 − … ± h^k/((k+1)(k+2)) …), rounded relatively by less than 4u, its square included. Beyond,
    1 + h = s + e and log(1 + h) = high + low ± error give (s·high − h) + (s·low + e·high). The first product is rounded by u of itself, and
    is at most 18 times the difference. The two sums round that by u each. All else is below u times these.
    """

    def remainder(v: Array) -> Result:
        small = np.abs(v) <= SERIES
        t = np.where(small, v, 0.0)
        total = np.zeros_like(t)
        for k in range(TERMS + 1, 1, -1):
            total = 1.0 / (k * (k - 1)) - t * total
        near = t * (t * total)
        high, low, error = _log1p_parts(v)
        onward, lost = _two_sum(1.0, v)
        product = onward * high
        far = product - v + (onward * low + lost * high)
        off = onward * error * (1 + 8 * U) + 1.125 * U * np.abs(product) + 3 * U * np.abs(far)
        value, bound = np.where(small, near, far), np.where(small, 4 * U * near + 2 * SMALLEST * (t != 0.0), off)
        return _ends((value, bound), (v == -1.0, 1.0), (v == np.inf, np.inf))

    return _elementwise(remainder, h)


def _elementwise(function: Callable[[Array], Result], x: Any) -> Result:
    """On arrays of any shape, without NumPy's warnings; an infinite value says that it overflowed, and needs no error."""
    array = np.asarray(x, dtype=float)
    with np.errstate(all="ignore"):
        value, error = function(array.ravel())
    return value.reshape(array.shape), np.where(np.isinf(value), 0.0, error).reshape(array.shape)


def _two_sum(a: Any, b: Any) -> tuple[Array, Array]:
    """a + b exactly: its rounded value and the rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _rounded(high: Array, low: Array, error: Array) -> Result:
    """high + low ± error as one float and a bound (its own rounding included)."""
    value, lost = _two_sum(high, low)
    return value, (np.abs(lost) + error) * (1 + 8 * U)


def _ends(result: Result, *cases: tuple[NDArray[np.bool_], float]) -> Result:
    """The result, with exact (or infinite) values where the cases say so."""
    value, error = result
    for where, number in cases:
        value, error = np.where(where, number, value), np.where(where, 0.0, error)
    return value, error


def _exp_parts(x: Array) -> tuple[Array, Array, Array, Array]:
    """k, high, low and error with e^x = 2^k (high + low ± error), high between 0.99 and 2.02."""
    first, second, third, powers, rests = _exp_table()
    n = np.rint(np.clip(x, -800.0, 800.0) * (STEPS / math.log(2.0)))  # any integer near the quotient will do
    t, lost = _two_sum(np.clip(x, -800.0, 800.0), -n * first)
    r, more = _two_sum(t, -n * second)
    low = lost + more - n * third
    w = low + r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720)))))
    j = np.mod(n, STEPS).astype(np.intp)
    T, rest = powers[j], rests[j]
    high, low = _two_sum(T, T * r + (T * w + (rest + rest * r)))
    return (n - j) / STEPS, high, low, 3 * U * np.abs(r) * T + 2.0**-96 * (n != 0.0) + SMALLEST * (r != 0.0)


def _scaled(k: Array, high: Array, low: Array, error: Array) -> Parts:
    """2^k times these, exactly, but for what is rounded below 2⁻¹⁰²²."""
    power = k.astype(np.int32)
    return np.ldexp(high, power), np.ldexp(low, power), np.ldexp(error, power) + 3 * SMALLEST * (k < 0.0)


def _log_parts(x: Array) -> Parts:
    """log x = high + low ± error for 0 < x < ∞; anything elsewhere."""
    first, second, inverses, logs, rests = _log_table()
    m, power = np.frexp(np.where((x > 0.0) & (x < np.inf), x, 1.0))
    less = m < 0.70703125
    m, k = np.where(less, 2 * m, m), (power - less).astype(float)
    cell = np.rint(m * CELLS).astype(np.intp)
    c = inverses[cell]
    head = (m + 3.0 * 2.0**26) - 3.0 * 2.0**26  # the multiple of 2⁻²⁵ next to it: products with c are exact
    r, low = _two_sum(c * head - 1.0, c * (m - head))
    q = -r * r * (1 / 2 - r * (1 / 3 - r * (1 / 4 - r * (1 / 5 - r * (1 / 6 - r * (1 / 7 - r * (1 / 8)))))))
    total, lost = _two_sum(k * first, logs[cell])
    total, more = _two_sum(total, r)
    high, rest = _two_sum(total, lost + more + k * second + rests[cell] + (q + low))
    return high, rest, 2.0**-56 * np.abs(r) + 2.0**-80 * ((k != 0.0) | (cell != CELLS))


def _log1p_parts(h: Array) -> Parts:
    """log(1 + h) = high + low ± error for −1 < h < ∞: 1 + h = s + e exactly, and log(1 + e/s) = e/s up to (e/s)² ≤ u|e/s|."""
    s, e = _two_sum(1.0, h)
    high, low, error = _log_parts(s)
    t = e / s
    high, rest = _two_sum(high, t)
    return high, rest + low, error + 2 * U * (np.abs(t) + np.abs(rest) + np.abs(low)) + SMALLEST * (t != 0.0)


@lru_cache(maxsize=1)
def _exp_table() -> tuple[float, float, float, Array, Array]:
    """ln2/64 in three parts, and 2^{j/64} in two."""
    import flint

    with workprec(300):
        ln2 = flint.arb.const_log2()
        pairs = [_two_floats((ln2 * j / STEPS).exp()) for j in range(STEPS)]
        constant = _fraction(ln2 / STEPS)
    first = _cut(constant, 36)
    second = _cut(constant - Fraction(first), 36)
    third = float(constant - Fraction(first) - Fraction(second))
    return first, second, third, np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


@lru_cache(maxsize=1)
def _log_table() -> tuple[float, float, Array, Array, Array]:
    """ln2 in two parts, c near 128/i and −log c in two parts, by i from 90 to 181, which are all that 128m is rounded to."""
    import flint

    with workprec(300):
        constant = _fraction(flint.arb.const_log2())
        inverses = [round(512 * CELLS / i) / 512 if i >= 90 else 1.0 for i in range(182)]
        pairs = [_two_floats(-flint.arb(c).log()) for c in inverses]
    first = _cut(constant, 42)
    second = float(constant - Fraction(first))
    return first, second, np.array(inverses), np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])


def _fraction(x: Any) -> Fraction:
    """The midpoint of a `flint.arb` as a fraction."""
    mantissa, exponent = x.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _two_floats(x: Any) -> tuple[float, float]:
    exact = _fraction(x)
    high = float(exact)
    return high, float(exact - Fraction(high))


def _cut(x: Fraction, bits: int) -> float:
    """x > 0 to so many leading bits."""
    shift = bits - 1 - (math.frexp(float(x))[1] - 1)
    return math.ldexp(math.floor(x * Fraction(2) ** shift), -shift)
