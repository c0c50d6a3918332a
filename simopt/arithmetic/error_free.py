"""Sums and products of floats as two floats: the rounded result, and what rounding took from it."""

from __future__ import annotations

from simopt.core.arrays import Array

HALVES = 2.0**27 + 1.0  # Veltkamp's constant: splits a float in two halves


def two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """x + y = s + e exactly (Knuth)."""
    s = x + y
    z = s - x
    return s, (x - (s - z)) + (y - z)


def two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """x y = p + e exactly, unless something underflows (Dekker); nan where the halves overflow."""
    p = x * y
    (a, b), (c, d) = _halves(x), _halves(y)
    return p, b * d - (((p - a * c) - b * c) - a * d)


def _halves(z: Array) -> tuple[Array, Array]:
    c = HALVES * z
    upper = c - (c - z)
    return upper, z - upper
