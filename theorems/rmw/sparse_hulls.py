r"""Best sparse approximations in a hull and entropy numbers of finite sets of rational vectors, exactly, by enumeration.

An m-sparse point of co(S) nearest to ω is the projection of ω on the affine hull of at most m affinely independent points, with weights
≥ 0. The smallest ball around a set is the circumscribed ball of some of its points, with the centre in their hull. Both are linear systems.
Costs grow like 2^|S|: sets of up to eight points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from simopt.theorems.rmw.hull_geometry import null_vector
from simopt.theorems.small_worlds.worlds import Vector, add, dot, minus, plus, scaled, squared

Points = Sequence[Vector]


def solution(matrix: Sequence[Vector], right: Vector) -> list[Fraction] | None:
    """x with matrix · x = right for a square matrix; None if it is singular."""
    found = null_vector([[*row, -value] for row, value in zip(matrix, right, strict=True)], len(matrix) + 1)
    if found is None or found[-1] == 0:
        return None
    return [value / found[-1] for value in found[:-1]]


def _inside(points: Points, right: Vector) -> list[Fraction] | None:
    """z_0 + Σ c_i (z_i − z_0) with ⟨z_i − z_0, Σ c_j (z_j − z_0)⟩ = right_i, if it exists once and lies in the hull of the points."""
    ways = [minus(p, points[0]) for p in points[1:]]
    weights = solution([[dot(a, b) for b in ways] for a in ways], right) if ways else []
    if weights is None or min(weights, default=Fraction(0)) < 0 or add(weights) > 1:
        return None
    found = list(points[0])
    for weight, way in zip(weights, ways, strict=True):
        found = plus(found, scaled(way, weight))
    return found


def best_sparse(points: Points, target: Vector, most: int) -> list[Fraction]:
    """min ‖ω − ω̃‖² over the convex combinations ω̃ of at most m of the points, for m = 1, …, `most`."""
    best = [Fraction(min(squared(minus(target, p)) for p in points))]
    for size in range(2, most + 1):
        best.append(best[-1])
        for chosen in combinations(points, size):
            near = _inside(chosen, [dot(minus(p, chosen[0]), minus(target, chosen[0])) for p in chosen[1:]])
            if near is not None:
                best[-1] = min(best[-1], Fraction(squared(minus(target, near))))
    return best


def smallest_balls(points: Points) -> dict[tuple[int, ...], Fraction]:
    """Squared radius of the smallest ball around every non-empty set of the points, by their increasing indices.

    That ball is circumscribed to some of the points, with its centre in their hull. A ball that is so for a part of a set is the
    smallest one around the part, hence no larger than that around the set. So the largest of them, over all parts, is the one.
    """
    made: dict[tuple[int, ...], Fraction] = {}
    for size in range(1, len(points) + 1):
        for chosen in combinations(range(len(points)), size):
            first, *others = (points[i] for i in chosen)
            centre = _inside([first, *others], [squared(minus(p, first)) / 2 for p in others]) if size <= len(first) + 1 else None
            own = Fraction(0) if centre is None else Fraction(squared(minus(first, centre)))
            made[chosen] = max([own, *(made[part] for part in combinations(chosen, size - 1) if part)])
    return made


def partitions(size: int, blocks: int) -> Iterator[list[list[int]]]:
    """All ways to split 0, …, size − 1 into exactly `blocks` non-empty blocks."""
    if size == 0:
        if blocks == 0:
            yield []
        return
    for rest in partitions(size - 1, blocks - 1):
        yield [*rest, [size - 1]]
    for rest in partitions(size - 1, blocks):
        for i in range(blocks):
            yield [*rest[:i], [*rest[i], size - 1], *rest[i + 1 :]]


def squared_entropy_number(points: Points, balls: int) -> Fraction:
    """ε_m(S)² for m = `balls` ≤ |S|: the least radius of m balls, centred anywhere, that cover S."""
    radii = smallest_balls(points)
    return min(max(radii[tuple(block)] for block in split) for split in partitions(len(points), balls))
