r"""The hull C of finitely many rational points: its diameter D, and the distance d from a point of it to its relative boundary.

Interior and boundary are relative to the affine hull: n points in a space of dimension n or more have no ambient interior.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from simopt.theorems.small_worlds.worlds import Vector, dot, minus, plus, scaled, squared


def squared_diameter(points: Sequence[Vector]) -> Any:
    """D² = max ‖ψ_i − ψ_j‖², which is the squared diameter of the hull."""
    return max((squared(minus(a, b)) for a, b in combinations(points, 2)), default=Fraction(0))


def directions(points: Sequence[Vector]) -> list[list[Any]]:
    """A basis of the span of ψ_i − ψ_1, chosen among these differences."""
    basis: list[list[Any]] = []
    for point in points[1:]:
        way = minus(point, points[0])
        if rank([*basis, way]) > len(basis):
            basis.append(way)
    return basis


def squared_distance_to_boundary(points: Sequence[Vector], inside: Vector) -> Fraction | None:
    """d², d the distance from a point of the hull to the hull's relative boundary; None where the hull is a single point and has none.

    The distance to the nearest supporting hyperplane of the affine hull that r of the points span, r its dimension: O(n^r) of them.
    """
    basis = directions(points)
    least: Fraction | None = None
    for corner in combinations(points, len(basis)):
        normal = _normal(basis, [minus(p, corner[0]) for p in corner[1:]]) if basis else None
        if normal is None:
            continue
        heights = [dot(normal, minus(p, corner[0])) for p in points]
        if min(heights) < 0 < max(heights):
            continue
        found = dot(normal, minus(inside, corner[0])) ** 2 / squared(normal)
        least = found if least is None else min(least, found)
    return least


def _normal(basis: Sequence[Vector], directions: Sequence[Vector]) -> list[Any] | None:
    """The vector in the span of the basis that is orthogonal to the ways, one fewer than the basis; None if they are dependent."""
    coefficients = null_vector([[dot(direction, b) for b in basis] for direction in directions], len(basis))
    if coefficients is None:
        return None
    normal: list[Any] = [Fraction(0)] * len(basis[0])
    for c, b in zip(coefficients, basis, strict=True):
        normal = plus(normal, scaled(b, c))
    return normal


def rank(rows: Sequence[Vector]) -> int:
    """Rank of a rational matrix."""
    return len(_reduced(rows)[1])


def null_vector(rows: Sequence[Vector], width: int) -> list[Fraction] | None:
    """The solution x ≠ 0 of rows · x = 0, unique up to its length; None if there is none or more than one."""
    reduced, pivots = _reduced(rows)
    if len(pivots) != width - 1:
        return None
    free = next(j for j in range(width) if j not in pivots)
    found = [Fraction(0)] * width
    found[free] = Fraction(1)
    for row, j in zip(reduced, pivots, strict=False):
        found[j] = -row[free]
    return found


def _reduced(rows: Sequence[Vector]) -> tuple[list[list[Fraction]], list[int]]:
    """Reduced row echelon form and its pivot columns."""
    left = [[Fraction(x) for x in row] for row in rows]
    pivots: list[int] = []
    for j in range(len(left[0]) if left else 0):
        k = len(pivots)
        chosen = next((i for i in range(k, len(left)) if left[i][j] != 0), None)
        if chosen is None:
            continue
        left[k], left[chosen] = left[chosen], left[k]
        left[k] = [x / left[k][j] for x in left[k]]
        for i in range(len(left)):
            if i != k and left[i][j] != 0:
                left[i] = [x - left[i][j] * y for x, y in zip(left[i], left[k], strict=True)]
        pivots.append(j)
    return left, pivots
