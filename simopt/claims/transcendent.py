"""Rational enclosures of roots, exponentials and logarithms by integer arithmetic; `simopt.recheck` confirms them its own way."""

from __future__ import annotations

import math
from fractions import Fraction

from simopt.recheck import exp_bounds

BITS = 200
Bounds = tuple[Fraction, Fraction]

__all__ = ["exp_bounds", "log_bounds", "root_bounds"]


def root_bounds(x: Fraction, order: int, bits: int = BITS) -> Bounds:
    """Two rationals around the root of the given order of x ≥ 0, at most 2^-bits apart (relative to 1)."""
    if x < 0 or order < 1:
        raise ValueError(f"root of order {order} of {x}")
    scaled = (x.numerator << (order * bits)) // x.denominator
    low = _integer_root(scaled, order)
    exact = low**order == scaled and (x.numerator << (order * bits)) % x.denominator == 0
    return Fraction(low, 1 << bits), Fraction(low + (0 if exact else 1), 1 << bits)


def _integer_root(n: int, order: int) -> int:
    if n == 0:
        return 0
    guess = 1 << (n.bit_length() // order + 1)
    while True:
        better = ((order - 1) * guess + n // guess ** (order - 1)) // order
        if better >= guess:
            return guess
        guess = better


def log_bounds(x: Fraction, bits: int = BITS) -> Bounds:
    """Two rationals around log(x), x > 0: Halley's method from a floating-point start, each end confirmed through exp."""
    if x <= 0:
        raise ValueError(f"logarithm of {x}")
    if x == 1:
        return Fraction(0), Fraction(0)
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    power = Fraction(1 << max(shift, 0), 1 << max(-shift, 0))
    guess = shift * Fraction(math.log(2)) + Fraction(math.log(x / power))
    for _ in range(5):  # only the confirmation below counts
        value = exp_bounds(guess, bits)[0]
        guess = _rounded(guess + 2 * (x - value) / (x + value), bits + 20)
    step = Fraction(1, 2**bits)
    low, high = guess - step, guess + step
    while exp_bounds(low, bits + 40)[1] > x:
        low -= step
        step *= 2
    while exp_bounds(high, bits + 40)[0] < x:
        high += step
        step *= 2
    return low, high


def _rounded(x: Fraction, bits: int) -> Fraction:
    return Fraction((x.numerator << bits) // x.denominator, 1 << bits)
