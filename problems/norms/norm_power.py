r"""The penalty λ‖f‖^m in numbers that do not overflow, its conjugate, and their Fenchel–Young difference without cancellation.

For t, s ≥ 0 and m > 1 the conjugate of λt^m at s is (m−1)λτ^m = (1 − 1/m) sτ, where τ = (s/(λm))^{1/(m−1)} is the norm at which s is the
slope. The Fenchel–Young difference is λ times the Bregman divergence of x^m,
    λt^m + (1 − 1/m)sτ − st = λτ^m B(t/τ − 1),   λτ^m = sτ/m.
    B(e) = (1+e)^m − 1 − me = (1+e)((1+e)^{m−1} − 1) − (m−1)e = ½m(m−1)e²(1+θe)^{m−2},  0 ≤ θ ≤ 1.
(The same as λt^m φ_m(ρ), φ_m(ρ) = 1 + (m−1)ρ^{m/(m−1)} − mρ, ρ = s/(λm t^{m−1}); written in τ because for m near 1 the power m/(m−1)
makes every rounding of ρ large.) For m = 1 the conjugate is 0 if s ≤ λ and +∞ otherwise.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from simopt.arithmetic import Arithmetic, Value
from simopt.arithmetic.interval import Interval
from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.problems.norms import squares

LARGEST = 1e100  # power whose products with logarithms float64 holds
SMALL = 0.02  # m|e| below which B is evaluated by its series (FLOAT) or its mean value form (INTERVAL)
TERMS = 12


def representable(name: str, m: float) -> float:
    """m ≤ 1e100."""
    if m > LARGEST:
        raise InvalidProblem(f"{name}: {m:g} given, a power of at most {LARGEST:g} needed")
    return m


Exponent = Annotated[float, validate.positive, representable]


def norm(num: Arithmetic, alpha: Value, image: Value) -> Value:
    """t = (αᵀKα)^½ from α and Kα, both first divided by a power of two near max |α_i|, so that no square sinks or overflows."""
    unit = num.lift(squares.power_of_two(squares.largest(num.mid(alpha))))
    return num.sqrt(num.pos(num.dot(alpha / unit, image / unit))) * unit


def penalty(num: Arithmetic, t: Value, strength: float, m: float) -> Value:
    """λ t^m, as (λ^{1/m} t)^m: no intermediate result overflows unless the value does."""
    return num.power(power(num, num.lift(strength), 1.0 / m) * t, m)


def slope_norm(num: Arithmetic, s: Value, strength: float, m: float) -> Value:
    """τ = (s/(λm))^{1/(m−1)}, for m > 1."""
    return power(num, s / (num.lift(strength) * num.lift(m)), 1.0 / (m - 1.0))


def power(num: Arithmetic, x: Value, exponent: float) -> Value:
    """x^p for a scalar x ≥ 0 where `exponent` is p rounded to a float: an interval holds the result for every p within one rounding."""
    if num.name != "interval":
        return num.power(x, exponent)
    ends = [num.power(x, math.nextafter(exponent, side)) for side in (-math.inf, math.inf)]
    return Interval.hull(min(num.lower(end) for end in ends), max(num.upper(end) for end in ends))


def conjugate(num: Arithmetic, s: Value, strength: float, m: float) -> Value:
    """(1 − 1/m) sτ, the conjugate of λt^m at s, for m > 1. +∞ where it leaves the floats."""
    with np.errstate(over="ignore"):
        return s * slope_norm(num, s, strength, m) * (num.lift(m) - num.lift(1.0)) / num.lift(m)


def fenchel_young(num: Arithmetic, t: Value, s: Value, strength: float, m: float) -> Value:
    """λt^m + conjugate(s) − st ≥ 0, for m > 1."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        tau = slope_norm(num, s, strength, m)
        if num.lower(tau) > 0 and math.isfinite(num.upper(tau)):
            e = (t - tau) / tau
            factor = _divergence(num, e, m)
            if factor is not None:
                return s * tau / num.lift(m) * factor
        direct = penalty(num, t, strength, m) + conjugate(num, s, strength, m) - s * t
        return num.pos(direct)


def _divergence(num: Arithmetic, e: Value, m: float) -> Value | None:
    """B(e) where it can be had without cancellation, else None."""
    low, high = num.lower(e), num.upper(e)
    if num.name == "float":
        if m * abs(e) > SMALL:
            value = (1.0 + e) * math.expm1(min((m - 1.0) * math.log1p(e), 700.0)) - (m - 1.0) * e if e > -1.0 else m - 1.0
            return value if (m - 1.0) * math.log1p(max(e, 0.0)) < 600.0 else None
        return _series(float(e), m)
    if m * max(abs(low), abs(high)) > SMALL:
        return None
    # (1+θe)^{m−2} lies between its values at the two ends of [min(e, 0), max(e, 0)].
    middle = num.power(Interval.hull(1.0 + min(low, 0.0), 1.0 + max(high, 0.0)), abs(m - 2.0))
    shape = middle if m >= 2.0 else num.lift(1.0) / middle
    return e * e * shape * (num.lift(m) * (num.lift(m) - num.lift(1.0))) / 2.0


def _series(e: float, m: float) -> float:
    """Σ_{k ≥ 2} C(m, k) e^k, the first TERMS of them: with m|e| ≤ 0.02 the rest is below 1e-20 of the sum."""
    total, term = 1.0, 1.0
    for k in range(3, TERMS + 2):
        term *= (m - k + 1) * e / k
        total += term
    return 0.5 * m * (m - 1.0) * e * e * total
