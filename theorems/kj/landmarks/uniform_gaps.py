r"""sup_w (L_w − L̂_w) of linear predictors with the absolute loss, for samples from a finite domain; exact.

The domain has atoms (x, y) with masses p; with q_j the share of atom j in the sample, L_w − L̂_w = Σ_j (p_j − q_j) |⟨w, x_j⟩ − y_j|. The
supremum over ‖w‖₁ ≤ C, or over |w| ≤ C on the line, is reached at a corner (piecewise_linear.py). The number of a sample's outcomes is
multinomial. `centred` takes ℓ(⟨w, x⟩, y) − ℓ(0, y) for the loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import simopt.claims as sc
from simopt.theorems.kj.landmarks.piecewise_linear import cross_polytope, largest, mass_differences
from simopt.theorems.small_worlds.exact_tails import multinomial
from simopt.theorems.small_worlds.sampled_worlds import weights

ONE = Fraction(1)
HALF = Fraction(1, 2)


class WeightedPoints(NamedTuple):
    """Masses p, points x, targets y, a bound of ‖w‖, and the size n of a sample."""

    masses: Sequence[Fraction]
    points: Sequence[list[Fraction]]
    targets: Sequence[Fraction]
    radius: Fraction
    n: int


def atoms(masses: Sequence[Fraction], points: Sequence[Sequence[Any]], targets: Sequence[Any], radius: Any, n: int) -> sc.Instance:
    """Atoms as plain data; `radius` bounds ‖w‖."""
    return {
        "masses": list(masses),
        "points": [[Fraction(a) for a in x] for x in points],
        "targets": [Fraction(y) for y in targets],
        "radius": Fraction(radius),
        "n": n,
    }


def gaps(here: WeightedPoints, *, centred: bool = False) -> list[tuple[Fraction, Fraction]]:
    """Values of sup_w (L_w − L̂_w) over ‖w‖₁ ≤ radius with their probabilities."""
    masses, points, targets, radius, n = here
    facets = cross_polytope(len(points[0]), radius)
    made = []
    for drawn, mass in multinomial(n, tuple(masses)):
        off = mass_differences(masses, drawn)
        top = largest(off, points, targets, facets)
        if centred:
            top -= sum((c * abs(y) for c, y in zip(off, targets, strict=True)), Fraction(0))
        made.append((top, mass))
    return made


def reach(radius: Any, points: Any) -> Fraction:
    """C_X C_W: the radius times the largest coordinate."""
    return Fraction(radius * max(abs(a) for x in points for a in x))


def indistinct(n: int, radius: Any) -> sc.Instance:
    """x = ±1 with equal chances, y = 1 for x = 1 and 0 for x = −1: the targets may be far larger than any prediction."""
    return atoms([HALF, HALF], [[1], [-1]], [1, 0], radius, n)


def coins(n: int) -> sc.Instance:
    """x = ±1 with equal chances and y = 1 = radius: the gap is |mean of n fair signs|."""
    return atoms([HALF, HALF], [[1], [-1]], [1, 1], 1, n)


def corners(n: int) -> sc.Instance:
    """x uniform on the four corners of a square, y = 1: the gap is the larger of two means of n fair signs."""
    return atoms([Fraction(1, 4)] * 4, [[1, 1], [1, -1], [-1, 1], [-1, -1]], [1] * 4, 1, n)


def random_atoms(rng: np.random.Generator, count: int, dimension: int, n: int, far: int) -> sc.Instance:
    """Random points with coordinates in {−1, −1/2, 0, 1/2, 1} and targets of size up to far/2; radius 1."""
    points = [[Fraction(int(v), 2) for v in rng.integers(-2, 3, size=dimension)] for _ in range(count)]
    targets = [Fraction(int(v), 2) for v in rng.integers(-far, far + 1, size=count)]
    points[0][0] = ONE
    return atoms(weights(rng, count), points, targets, 1, n)


def on_the_line(trial: sc.Trial, far: int = 2) -> Iterator[sc.Instance]:
    """One dimension: fair coins with n up to 200, and random atoms."""
    for n in (1, 2, 3, 5, 10, 40, trial.count(100, 200)):
        yield coins(n)
    for _ in range(trial.count(12, 80)):
        count = int(trial.rng.integers(2, 4))
        yield random_atoms(trial.rng, count, 1, int(trial.rng.integers(1, 30 if count == 2 else 10)), far)


def in_the_plane(trial: sc.Trial, far: int = 2) -> Iterator[sc.Instance]:
    """Two dimensions: corners of a square, and random atoms, n small."""
    for n in (1, 2, 3, trial.count(4, 6)):
        yield corners(n)
    for _ in range(trial.count(6, 40)):
        yield random_atoms(trial.rng, 3, 2, int(trial.rng.integers(1, 6)), far)
