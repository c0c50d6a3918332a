r"""Covers in the sup norm, made explicitly: of nondecreasing 1-Lipschitz functions, of linear functions on the unit ball, of both composed.

Functions. u − x/2 rises and falls with slope at most 1/2. Follow it on a grid of width 2ε by a path that goes up or down by ε in each
cell, up where u − x/2 is above the path. Started within ε it stays within ε, at the grid points and hence between them. Adding x/2 again
gives slopes 0 and 1; clipped to [0, 1] the function lies in the class. It is named by the start (⌈1/(2ε)⌉ of them) and ⌈W/ε⌉ choices.

Linear functions on the unit ball: sup |⟨w − v, x⟩| = ‖w − v‖. The points of a cubic lattice of width s, s√d ≤ 2ε, nearest to the points
of the ball of radius W lie in that of radius W + ε. Those outside of the ball are moved onto it, which brings them nearer to all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import simopt.claims as sc
from simopt.theorems.kkks.piecewise_linear import ONE, PiecewiseLinear
from simopt.theorems.small_worlds.worlds import scaled, squared

Vector = Sequence[Fraction]
HALF = Fraction(1, 2)
FINE = Fraction(1, 10**6)


@dataclass(frozen=True)
class CoverPath:
    """A member of a cover of the transfer functions on [−W, W]: its first value, the width of a cell, and whether each cell goes up."""

    W: Fraction
    width: Fraction
    first: Fraction
    rises: tuple[bool, ...]

    def function(self) -> PiecewiseLinear:
        """Slope 1 in cells that go up and 0 in the others, clipped to [0, 1]."""
        values = [self.first]
        for rise in self.rises:
            values.append(values[-1] + (self.width if rise else 0))
        return PiecewiseLinear(tuple(-self.W + i * self.width for i in range(len(values))), tuple(values)).clipped()


def starts_and_cells(W: Fraction, epsilon: Fraction) -> tuple[int, int]:
    """⌈1/(2ε)⌉ and ⌈W/ε⌉."""
    return math.ceil(1 / (2 * epsilon)), math.ceil(W / epsilon)


def path_near(u: PiecewiseLinear, W: Fraction, epsilon: Fraction) -> CoverPath:
    """The member of our cover that follows u, within ε if u is nondecreasing and 1-Lipschitz into [0, 1]."""
    starts, cells = starts_and_cells(W, epsilon)
    first = epsilon * (2 * min(math.floor(u(-W) / (2 * epsilon)), starts - 1) + 1)
    # Functions and path less x/2: up where u(x') − ε, which is what u − x/2 is short of the middle, is not below the path.
    return _follow(u, W, epsilon, 2 * epsilon, first, cells)


def printed_path_near(u: PiecewiseLinear, W: Fraction, epsilon: Fraction) -> CoverPath:
    """The member of the paper's cover, for integers 1/ε and 2W/ε: cells of width ε, and values at or below those of u on the grid."""
    if (1 / epsilon).denominator != 1 or (2 * W / epsilon).denominator != 1:
        raise ValueError(f"the grid of the paper needs integers 1/ε and 2W/ε, got {1 / epsilon} and {2 * W / epsilon}")
    first = epsilon * min(math.floor(u(-W) / epsilon), int(1 / epsilon) - 1)
    return _follow(u, W, epsilon, epsilon, first, int(2 * W / epsilon))


def _follow(u: PiecewiseLinear, W: Fraction, epsilon: Fraction, width: Fraction, first: Fraction, cells: int) -> CoverPath:
    """Up in a cell if u at its end is at least the value at its beginning plus ε; u is constant beyond W."""
    value, rises = first, []
    for i in range(1, cells + 1):
        rises.append(u(min(-W + i * width, W)) >= value + epsilon)
        value += width if rises[-1] else 0
    return CoverPath(W, width, first, tuple(rises))


def size_of_function_cover(W: Fraction, epsilon: Fraction) -> int:
    """⌈1/(2ε)⌉ 2^⌈W/ε⌉."""
    starts, cells = starts_and_cells(W, epsilon)
    return starts * int(2**cells)


def function_bound(W: Fraction, epsilon: Fraction, factor: Fraction = Fraction(2)) -> Any:
    """The printed (1/ε) 2^{2W/ε}; `factor` stands for the 2 in the exponent."""
    return power(Fraction(2), factor * W / epsilon) / epsilon


def power(base: Fraction, exponent: Fraction) -> Any:
    """base^exponent for a rational exponent, enclosed where it is not an integer."""
    if exponent.denominator == 1:
        return base ** int(exponent)
    return sc.root(sc.rational(base) ** exponent.numerator, exponent.denominator)


def lattice_width(dimension: int, W: Fraction, epsilon: Fraction) -> Fraction:
    """A rational s with s√d/2 ≤ ε − W/10⁶, as large as a millionth allows: what is moved onto the ball may be off by W/10⁶."""
    reach = epsilon - FINE * W
    whole = math.isqrt(math.floor(4 * reach**2 / (dimension * FINE**2)))
    return whole * FINE


def nearest_in_cover(w: Vector, W: Fraction, epsilon: Fraction) -> list[Fraction]:
    """The member of the cover of the ball of radius W for w: the nearest lattice point, moved to the ball if it lies outside."""
    s = lattice_width(len(w), W, epsilon)
    point = [s * round(value / s) for value in w]
    square = Fraction(squared(point))
    if square <= W**2:
        return point
    norm = Fraction(math.isqrt(math.floor(square / FINE**4)) + 1) * FINE**2  # rounded up, so that the point comes to lie inside
    return scaled(point, W / norm)


@cache
def lattice_points(dimension: int, square: int) -> int:
    """Number of integer vectors k with |k|² ≤ square."""
    if square < 0:
        return 0
    if dimension == 0:
        return 1
    top = math.isqrt(square)
    return sum((1 if k == 0 else 2) * lattice_points(dimension - 1, square - k * k) for k in range(top + 1))


def size_of_ball_cover(dimension: int, W: Fraction, epsilon: Fraction) -> int:
    """Number of lattice points within W + ε of 0."""
    s = lattice_width(dimension, W, epsilon)
    return lattice_points(dimension, math.floor(((W + epsilon) / s) ** 2))


def toward_zero(w: Vector, epsilon: Fraction) -> list[Fraction]:
    """Each coordinate brought down to a multiple of ε: shorter than w, and within ε of it in every coordinate."""
    return [(1 if value > 0 else -1) * epsilon * math.floor(abs(value) / epsilon) for value in w]


def packing(points: Sequence[Vector], apart: Fraction) -> list[Vector]:
    """A largest-possible choice, greedily, of points whose distances are ≥ `apart`."""
    kept: list[Vector] = []
    for p in points:
        if all(sum((a - b) ** 2 for a, b in zip(p, q, strict=True)) >= apart**2 for q in kept):
            kept.append(p)
    return kept


def unit(dimension: int, i: int) -> list[Fraction]:
    """e_i."""
    return [ONE if i == j else Fraction(0) for j in range(dimension)]
