"""Piecewise linear functions of one variable with rational corners: transfer functions u, and what LPAV returns as a function."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

Numbers = Sequence[Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class PiecewiseLinear:
    """u with u(knots[i]) = values[i], linear between the knots (strictly increasing, at least one) and constant beyond them."""

    knots: tuple[Fraction, ...]
    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not self.knots or len(self.knots) != len(self.values):
            raise ValueError(f"as many knots as values, at least one, got {len(self.knots)} and {len(self.values)}")
        falls = [i for i, (a, b) in enumerate(pairwise(self.knots)) if b <= a]
        if falls:
            raise ValueError(f"knots must increase strictly, entries {falls[0]} and {falls[0] + 1} do not")

    def __call__(self, t: Fraction) -> Fraction:
        """u(t)."""
        i = bisect_right(self.knots, t)
        if i == 0 or i == len(self.knots):
            return self.values[max(i - 1, 0)]
        (a, b), (u, v) = self.knots[i - 1 : i + 1], self.values[i - 1 : i + 1]
        return u + (v - u) * (t - a) / (b - a)

    def slopes(self) -> list[Fraction]:
        """Slopes between the knots; beyond them they are 0."""
        return [(v - u) / (b - a) for (a, b), (u, v) in zip(pairwise(self.knots), pairwise(self.values), strict=True)]

    def lipschitz(self) -> Fraction:
        """The Lipschitz constant."""
        return max((abs(slope) for slope in self.slopes()), default=ZERO)

    def nondecreasing(self) -> bool:
        """Whether no slope is negative."""
        return all(slope >= 0 for slope in self.slopes())

    def rescaled(self, by: Fraction) -> PiecewiseLinear:
        """t ↦ u(by · t) for by > 0."""
        return PiecewiseLinear(tuple(t / by for t in self.knots), self.values)

    def clipped(self, low: Fraction = ZERO, high: Fraction = ONE) -> PiecewiseLinear:
        """min(max(u, low), high), with new knots where u crosses an end of the range."""
        knots = set(self.knots)
        for (a, b), (u, v) in zip(pairwise(self.knots), pairwise(self.values), strict=True):
            knots |= {a + (level - u) * (b - a) / (v - u) for level in (low, high) if min(u, v) < level < max(u, v)}
        places = tuple(sorted(knots))
        return PiecewiseLinear(places, tuple(min(max(self(t), low), high) for t in places))

    def distance(self, other: PiecewiseLinear, low: Fraction, high: Fraction) -> Fraction:
        """Largest |u − v| on [low, high]: it is reached at a knot of either or at an end."""
        places = {low, high} | {t for t in (*self.knots, *other.knots) if low < t < high}
        return max(abs(self(t) - other(t)) for t in places)


def interpolating(positions: Numbers, values: Numbers) -> PiecewiseLinear:
    """The predictor of LPAV: linear between the points (z_i, ŷ_i), constant beyond them; equal z must have equal values.

    Raises
    ------
    ValueError
        if two points have one z and different values.
    """
    found: dict[Fraction, Fraction] = {}
    for z, value in zip(positions, values, strict=True):
        if found.setdefault(z, value) != value:
            raise ValueError(f"two values at {z}: {found[z]} and {value}")
    places = sorted(found)
    return PiecewiseLinear(tuple(places), tuple(found[z] for z in places))


def ramp(start: Fraction, slope: Fraction = ONE) -> PiecewiseLinear:
    """clip(slope · (t − start), 0, 1)."""
    return PiecewiseLinear((start, start + 1 / slope), (ZERO, ONE))


def constant(value: Fraction) -> PiecewiseLinear:
    """The same value everywhere."""
    return PiecewiseLinear((ZERO,), (value,))


def random_transfer(rng: np.random.Generator, reach: int, steps: int = 8, falling: bool = False) -> PiecewiseLinear:
    """A random 1-Lipschitz function into [0, 1] with corners in [−reach, reach], flat and of slope 1 in many places.

    Nondecreasing, unless it may be `falling` in parts.
    """
    count = int(rng.integers(1, 6))
    places = sorted({Fraction(int(k), steps) for k in rng.integers(-reach * steps, reach * steps + 1, size=count)})
    values = [Fraction(int(rng.integers(0, steps + 1)), steps) * int(rng.integers(0, 2))]
    for a, b in pairwise(places):
        slope = (ZERO, ONE, Fraction(int(rng.integers(0, 5)), 4))[int(rng.integers(3))]
        sign = -1 if falling and rng.integers(2) else 1
        values.append(values[-1] + sign * slope * (b - a))
    return PiecewiseLinear(tuple(places), tuple(values)).clipped()
