r"""The exact law of E_x |f̃(x) − f(x)| over d landmarks drawn from a finite domain (Lemma 15).

f(x) = Σ_l p_l w_l K(x, l) and f̃(x) = Σ_l q_l w_l K(x, l), q_l the share of landmark l among the d draws: the counts are multinomial.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.small_worlds.exact_tails import multinomial
from simopt.theorems.small_worlds.sampled_worlds import weights

ONE = Fraction(1)


def landmarked(masses: list[Fraction], gram: list[list[Any]], w: list[Any], d: int) -> sc.Instance:
    """Domain with masses p, similarity K (rows x, columns landmarks) and weights w ∈ [−B, B], B = 1, as plain data."""
    return {
        "masses": masses,
        "gram": [[Fraction(k) for k in row] for row in gram],
        "weights": [Fraction(v) for v in w],
        "d": d,
    }


def deviations(masses: Any, weights: list[Fraction], d: Any, gram: Any) -> Iterator[tuple[list[Fraction], Fraction]]:
    """The vectors (f̃(x) − f(x))_x with their probabilities."""
    w = weights
    for drawn, mass in multinomial(d, tuple(masses)):
        off = [(Fraction(k, d) - p) * v for k, p, v in zip(drawn, masses, w, strict=True)]
        yield [sum((a * k for a, k in zip(off, row, strict=True)), Fraction(0)) for row in gram], mass


def mean_sizes(instance: sc.Instance) -> list[tuple[Fraction, Fraction]]:
    """Values of E_x |f̃(x) − f(x)| with their probabilities."""
    masses = instance["masses"]
    found = deviations(masses, instance["weights"], instance["d"], instance["gram"])
    return [(sum((p * abs(e) for p, e in zip(masses, off, strict=True)), Fraction(0)), mass) for off, mass in found]


def signs(d: int, p: Fraction = Fraction(1, 2)) -> sc.Instance:
    """K of rank one, with entries ±1: E_x |f̃ − f| is |mean of d signs − its expectation|."""
    return landmarked([p, 1 - p], [[1, -1], [-1, 1]], [1, 1], d)


def hadamard(d: int) -> sc.Instance:
    """Four orthogonal columns: f̃ − f is spread over the whole domain."""
    rows = [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]
    return landmarked([Fraction(1, 4)] * 4, rows, [1, 1, 1, 1], d)


def random_landmarks(rng: np.random.Generator, points: int, d: int) -> sc.Instance:
    """K ∈ {−1, −1/2, 1/2, 1}, w ∈ {−1, 1/2, 1}."""
    gram = [[Fraction(int(rng.choice([-2, -1, 1, 2])), 2) for _ in range(points)] for _ in range(points)]
    return landmarked(weights(rng, points), gram, [Fraction(int(rng.choice([-2, 1, 2])), 2) for _ in range(points)], d)


def draws(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Rank one with up to 120 landmarks, orthogonal columns, random domains of two and three points."""
    for d in (1, 2, 3, 4, 6, 9, 20, 60, trial.count(120, 300)):
        for p in (Fraction(1, 2), Fraction(1, 10)):
            yield signs(d, p)
    for d in (1, 2, 4, 7):
        yield hadamard(d)
    for _ in range(trial.count(10, 60)):
        points = int(trial.rng.integers(2, 4))
        yield random_landmarks(trial.rng, points, int(trial.rng.integers(1, 30 if points == 2 else 12)))


def decoded_landmarks(point: Array, trial: sc.Trial) -> sc.Instance:
    """Two points and 1 ≤ d ≤ 12 from the cube [0, 1]^8: four similarities, two weights, a mass, d."""
    u = [Fraction(round(32 * float(value)), 32) for value in point]
    gram = [[2 * u[0] - 1, 2 * u[1] - 1], [2 * u[2] - 1, 2 * u[3] - 1]]
    p = (u[6] + Fraction(1, 32)) / Fraction(17, 16)
    return landmarked([p, 1 - p], gram, [2 * u[4] - 1, 2 * u[5] - 1], 1 + min(11, int(12 * u[7])))
