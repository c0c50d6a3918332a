"""Finite sets of rational vectors in the unit ball on which herding is tried."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

Points = list[list[Fraction]]
SHIFT = Fraction(1, 1000)
SIZE = Fraction(9, 10)  # keeps the corners of the triangle inside the unit ball


def triangle(h: Fraction) -> Points:
    """9/10 times the corners (0, −2h), (±1, h) moved by (0, −1/1000): for h ≤ 2/5 in the unit ball, D = 9/5, d = 9h/10 for the mean."""
    corners = [(Fraction(0), -2 * h), (Fraction(-1), h), (Fraction(1), h)]
    return [[SIZE * x, SIZE * (y - SHIFT)] for x, y in corners]


def orthonormal(n: int) -> Points:
    """e_1, …, e_n in ℝⁿ."""
    return [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]


def general(rng: np.random.Generator, n: int, dimension: int, steps: int = 60) -> Points:
    """n different vectors with entries k/steps, divided by √dimension rounded up, so that they lie in the unit ball."""
    size = steps * (math.isqrt(dimension - 1) + 1)  # ≥ steps · √dimension
    found: list[tuple[int, ...]] = []
    while len(found) < n:
        drawn = tuple(int(k) for k in rng.integers(-steps, steps + 1, size=dimension))
        if drawn not in found:
            found.append(drawn)
    return [[Fraction(k, size) for k in drawn] for drawn in found]


def in_more_dimensions(points: Points, extra: int) -> Points:
    """The same set in a space of `extra` dimensions more, moved off the origin along them: no ambient interior is left."""
    return [[*(x / 2 for x in point), *[Fraction(1, 2 * extra)] * extra] for point in points]
