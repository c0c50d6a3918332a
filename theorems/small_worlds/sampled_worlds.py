r"""Finite worlds to draw samples from: the instances of the claims on concentration (Theorems 3, 4 and 5).

A world is a list of rational probabilities and of vectors y φ(x) in the unit ball of ℝ or ℝ², with the number n of draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array

ONE = Fraction(1)
SUPPORTS = tuple((ONE, Fraction(b, 4)) for b in (-4, -3, -2, -1, 0, 2))


def coin(n: int, p: Fraction, support: tuple[Fraction, Fraction] = (ONE, -ONE)) -> sc.Instance:
    """n draws of y φ(x) ∈ ℝ, the first value of the support with probability p."""
    return {"probabilities": [p, 1 - p], "features": [[value] for value in support], "n": n}


def two_points(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Two points on the line: six supports, a grid of probabilities, n up to 100 (full effort: 300)."""
    for n in (1, 2, 3, 4, 6, 10, 24):
        for support in SUPPORTS:
            for k in range(trial.count(5, 2), 60, trial.count(5, 2)):
                yield coin(n, Fraction(k, 60), support)
    for n in (100, *trial.count(0, 1) * (50, 200, 300)):
        for support in SUPPORTS[::3]:
            for k in (1, 30, 50):
                yield coin(n, Fraction(k, 60), support)


def three_points(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Three points of the unit disc, n up to 6 (full effort: 12)."""
    for _ in range(trial.count(12, 40)):
        n = int(trial.rng.integers(2, trial.count(7, 13)))
        yield {"probabilities": weights(trial.rng, 3), "features": [disc_point(trial.rng) for _ in range(3)], "n": n}


def worlds(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Both."""
    yield from two_points(trial)
    yield from three_points(trial)


def on_circle(t: Fraction, radius: Fraction = ONE) -> list[Fraction]:
    """A rational point at distance `radius` from 0, all of the circle but one point as t runs through ℚ."""
    return [radius * (1 - t**2) / (1 + t**2), radius * 2 * t / (1 + t**2)]


def disc_point(rng: np.random.Generator) -> list[Fraction]:
    """A random rational point of the unit disc, every second time on the circle."""
    radius = ONE if rng.integers(2) else Fraction(int(rng.integers(0, 9)), 8)
    t = Fraction(int(rng.integers(-8, 9)), 4)
    point = on_circle(t, radius)
    return point if rng.integers(2) else [-value for value in point]


def weights(rng: np.random.Generator, count: int) -> list[Fraction]:
    """Random positive rational probabilities with a small denominator."""
    parts = [int(part) for part in rng.integers(1, 7, size=count)]
    return [Fraction(part, sum(parts)) for part in parts]


def decoded_world(point: Array, trial: sc.Trial) -> sc.Instance:
    """Three points of the disc, the first of them (1, 0), their probabilities and 1 ≤ n ≤ 6, from the cube [0, 1]⁷."""
    u = [Fraction(round(64 * float(value)), 64) for value in point]
    features = [[ONE, Fraction(0)]] + [on_circle(8 * u[i] - 4, u[i + 1]) for i in (0, 2)]
    parts = [u[4] + Fraction(1, 64), u[5], 1 - u[5] + Fraction(1, 64)]
    parts = [part / sum(parts) for part in parts]
    return {"probabilities": parts, "features": features, "n": 1 + min(5, int(6 * u[6]))}
