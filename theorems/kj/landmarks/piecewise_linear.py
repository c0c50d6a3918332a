r"""Largest value of Σ_j c_j |⟨a_j, w⟩ − y_j| over a polytope, exactly: the largest gap between an absolute loss and its sample mean.

The c_j are masses minus shares in a sample, of either sign. Terms with c_j ≥ 0 are convex. So the sum is convex on each cell that the
hyperplanes ⟨a_j, w⟩ = y_j with c_j < 0 cut out of the polytope. It is largest at a corner of a cell. Corners are crossings of as many of
these hyperplanes and of the facets as there are dimensions. Meant for three dimensions at most.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

Vector = Sequence[Fraction]
Plane = tuple[Vector, Fraction]


def mass_differences(masses: Vector, counts: Sequence[int]) -> list[Fraction]:
    """c_j = p_j − k_j/n, with k_j of the n draws at j."""
    n = sum(counts)
    return [p - Fraction(k, n) for p, k in zip(masses, counts, strict=True)]


def box(sides: Vector) -> list[Plane]:
    """Facets ±w_k ≤ side_k, as pairs (normal, offset)."""
    made: list[Plane] = []
    for k, side in enumerate(sides):
        for sign in (1, -1):
            made.append(([Fraction(sign * (i == k)) for i in range(len(sides))], side))
    return made


def cross_polytope(dimension: int, radius: Fraction) -> list[Plane]:
    """Facets ±w_1 ± … ± w_k ≤ radius of the ball ‖w‖₁ ≤ radius."""
    return [([Fraction(sign) for sign in signs], radius) for signs in itertools.product((1, -1), repeat=dimension)]


def largest(coefficients: Vector, slopes: Sequence[Vector], offsets: Vector, facets: Sequence[Plane]) -> Fraction:
    """max Σ_j c_j |⟨a_j, w⟩ − y_j| over the bounded polytope {w: ⟨n, w⟩ ≤ b for all facets (n, b)}."""
    kinks = [(a, y) for c, a, y in zip(coefficients, slopes, offsets, strict=True) if c < 0 and any(a)]
    return max(value(coefficients, slopes, offsets, w) for w in corners([*kinks, *facets], facets))


def value(coefficients: Vector, slopes: Sequence[Vector], offsets: Vector, w: Vector) -> Fraction:
    """Σ_j c_j |⟨a_j, w⟩ − y_j|."""
    total = Fraction(0)
    for c, a, y in zip(coefficients, slopes, offsets, strict=True):
        total += c * abs(inner(a, w) - y)
    return total


def range_of_loss(reach: Fraction, targets: Vector) -> Fraction:
    """M = C + max |y|: the absolute loss of predictions of size at most C takes values in [0, M]."""
    return reach + max(abs(y) for y in targets)


def corners(planes: Sequence[Plane], facets: Sequence[Plane]) -> Iterator[list[Fraction]]:
    """Crossings of the planes that lie in the polytope."""
    for chosen in itertools.combinations(planes, len(facets[0][0])):
        w = crossing(chosen)
        if w is not None and all(inner(normal, w) <= b for normal, b in facets):
            yield w


def crossing(planes: Sequence[Plane]) -> list[Fraction] | None:
    """The point on all of k planes in k dimensions, or None if there is none or more than one."""
    rows = [[*normal, b] for normal, b in planes]
    k = len(rows)
    for i in range(k):
        pivot = next((r for r in range(i, k) if rows[r][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        scale = rows[i][i]
        rows[i] = [entry / scale for entry in rows[i]]
        for r in range(k):
            factor = rows[r][i]
            if r != i and factor != 0:
                rows[r] = [entry - factor * base for entry, base in zip(rows[r], rows[i], strict=True)]
    return [row[k] for row in rows]


def inner(a: Vector, w: Vector) -> Fraction:
    """⟨a, w⟩."""
    return sum((x * y for x, y in zip(a, w, strict=True)), Fraction(0))
