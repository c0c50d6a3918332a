r"""All minimisers of a weighted sum of hinges in the plane, exactly: F(w) = Σ p_i [1 − y_i⟨w, φ_i⟩]₊ by enumeration of vertices.

F is convex and affine between the lines y_i⟨w, φ_i⟩ = 1. If F grows in every direction, its minimisers form a bounded polygon whose
corners are crossings of these lines, and so it is the convex hull of the best crossings. F grows in every direction iff no u ≠ 0 has
y_i⟨u, φ_i⟩ ≥ 0 for all i of positive mass. If two points span the plane and at each of them both labels have positive mass, there is none.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from simopt.core.errors import InvalidProblem
from simopt.theorems.small_worlds.worlds import World, by, dot, risk

Point = tuple[Fraction, Fraction]


def hinge(y: int, v: Fraction) -> Fraction:
    """[1 − yv]₊."""
    return max(1 - y * v, Fraction(0))


def crossings(world: World) -> set[Point]:
    """The points where two of the lines y⟨w, φ⟩ = 1 cross."""
    found = set()
    for (_, y, (a, b)), (_, z, (c, d)) in itertools.combinations(world, 2):
        determinant = a * d - b * c
        if determinant != 0:
            found.add(((y * d - z * b) / determinant, (a * z - c * y) / determinant))
    return found


def grows(world: World) -> bool:
    """Whether F tends to infinity in every direction: the open half-planes y⟨u, φ⟩ < 0 cover all u ≠ 0."""
    normals = [(y * a, y * b) for p, y, (a, b) in world if p > 0]
    rays = [ray for a, b in normals for ray in ((-b, a), (b, -a)) if (a, b) != (0, 0)]
    return bool(rays) and all(any(dot(n, ray) < 0 for n in normals) for ray in rays)


def corners(world: World) -> tuple[Fraction, list[Point]]:
    """Minimum of F and the corners of the set where it is attained.

    Raises
    ------
    InvalidProblem
        if F does not grow in every direction.
    """
    if not grows(world):
        raise InvalidProblem(
            "world: the hinge risk does not grow in every direction, so its minimisers may be unbounded; both labels must occur"
        )
    values = {w: risk(world, hinge, by(w)) for w in crossings(world)}
    least = min(values.values())
    return least, sorted(w for w, value in values.items() if value == least)
