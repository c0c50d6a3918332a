"""Small labelled samples with rational features in the unit ball for the claims on the SVM, in general position and degenerate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import simopt.claims as sc
from simopt.theorems.small_worlds.worlds import Vector, scaled

Points = list[list[Fraction]]
STEPS = 8
SPECIAL: tuple[tuple[Points, list[int]], ...] = (
    ([[Fraction(1)]], [1]),
    ([[Fraction(1)], [Fraction(1, 2)]], [1, 1]),
    ([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1, 2)]], [1, 1]),
    ([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(-1)]], [1, -1]),
    ([[Fraction(4, 5), Fraction(3, 5)], [Fraction(4, 5), Fraction(-3, 5)]], [1, 1]),
    ([[Fraction(1, 2), Fraction(0)], [Fraction(1, 2), Fraction(0)]], [1, -1]),
    ([[Fraction(0), Fraction(0)], [Fraction(1), Fraction(0)]], [-1, 1]),
    ([[Fraction(1), Fraction(0)]] * 2 + [[Fraction(-3, 5), Fraction(4, 5)]], [1, 1, 1]),
)
"""One point; two on a line; unequal and equal margins; equal margins again; ω_S = 0; a zero feature; a point that the mean
misclassifies."""


def special(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The samples worth trying by name."""
    for features, labels in SPECIAL:
        yield {"features": features, "labels": labels}


def samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Special samples, then random ones: independent, in a space of fewer dimensions, with a point repeated under any label."""
    yield from special(trial)
    kinds = (independent_points, few_dimensions, repeated_point)
    for i in range(trial.count(24, 96)):
        features = kinds[i % 3](trial.rng)
        yield {"features": features, "labels": random_labels(trial.rng, len(features))}


def independent_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Linearly independent feature vectors: some with equal margins y f_S(x), most not."""
    for features, labels in (SPECIAL[0], SPECIAL[2], SPECIAL[3], SPECIAL[4]):
        yield {"features": features, "labels": labels}
    for _ in range(trial.count(24, 96)):
        features = independent_points(trial.rng)
        yield {"features": features, "labels": random_labels(trial.rng, len(features))}


def dependent_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Feature vectors on a line: dependent as soon as there are two."""
    yield {"features": SPECIAL[1][0], "labels": SPECIAL[1][1]}


def independent_points(rng: np.random.Generator) -> Points:
    """One to four independent vectors of ℝ⁴ with entries k/8, |k| ≤ 4."""
    n = int(rng.integers(1, 5))
    while True:
        points = rng.integers(-STEPS // 2, STEPS // 2 + 1, size=(n, 4))
        if round(float(np.linalg.det((points @ points.T).astype(float)))) != 0:  # an integer far below 2^53
            return _eighths(points)


def few_dimensions(rng: np.random.Generator) -> Points:
    """Two to five vectors of ℝ or ℝ²."""
    return _eighths(rng.integers(-STEPS // 2, STEPS // 2 + 1, size=(int(rng.integers(2, 6)), int(rng.integers(1, 3)))))


def repeated_point(rng: np.random.Generator) -> Points:
    """Two or three vectors of ℝ³, the first of them twice."""
    points = rng.integers(-STEPS // 2, STEPS // 2 + 1, size=(int(rng.integers(2, 4)), 3))
    return _eighths(np.vstack([points, points[:1]]))


def random_labels(rng: np.random.Generator, n: int) -> list[int]:
    """n labels ±1."""
    return [int(y) for y in rng.choice([-1, 1], size=n)]


def atoms_of(labels: Any, features: Any) -> list[Vector]:
    """ψ_i = y_i φ(x_i)."""
    return [scaled(point, Fraction(y)) for y, point in zip(labels, features, strict=True)]


def _eighths(points: npt.NDArray[np.int64]) -> Points:
    return [[Fraction(int(k), STEPS) for k in point] for point in points]
