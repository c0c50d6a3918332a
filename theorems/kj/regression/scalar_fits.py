r"""Empirical minimisers of the absolute loss, exactly, with their worst ties: one dimension, and orthonormal features.

On the line f(x) = s x with |s| ≤ B, points x_i ∈ [−1, 1], targets y_i: the minimisers of Σ k_i |s x_i − y_i| are an interval between
kinks. The risk, being convex, is worst at one of its ends.

Orthonormal: Ψ(x_i) = e_i, i ≤ N, of equal masses, y = B/√N, so that w = (y, …, y) has norm B and no loss. A sample that meets m points is
fitted without loss by every w that has y there. The worst of those with norm ≤ B has −y elsewhere: the risk is (2B/√N)(1 − m/N). N is a
square, so that this is rational.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.small_worlds.exact_tails import multinomial
from simopt.theorems.small_worlds.sampled_worlds import weights

ONE, ZERO = Fraction(1), Fraction(0)
Law = list[tuple[Fraction, Fraction]]


def loss(weights: Sequence[Any], points: Sequence[Fraction], targets: Sequence[Fraction], s: Fraction) -> Fraction:
    """Σ share_i |s x_i − y_i|."""
    return sum((k * abs(s * x - y) for k, x, y in zip(weights, points, targets, strict=True)), ZERO)


def on_the_line(masses: Sequence[Any], points: Sequence[Any], targets: Sequence[Any], n: int) -> sc.Instance:
    """B = 1."""
    return {"kind": "line", "masses": [Fraction(p) for p in masses], "points": [Fraction(x) for x in points],
            "targets": [Fraction(y) for y in targets], "n": n}  # fmt: skip


def excesses(
    kind: str, n: int, N: int = 0, masses: Sequence[Fraction] = (), points: Sequence[Fraction] = (), targets: Sequence[Fraction] = ()
) -> Law:
    """Values of L(ŵ) − min L for the worst empirical minimiser, with their probabilities."""
    return _orthonormal(N, n) if kind == "orthonormal" else _line(masses, points, targets, n)


def _line(masses: Sequence[Fraction], points: Sequence[Fraction], targets: Sequence[Fraction], n: int) -> Law:
    kinks = {max(-ONE, min(ONE, y / x)) for x, y in zip(points, targets, strict=True) if x} | {-ONE, ONE}
    risks = {s: loss(masses, points, targets, s) for s in kinks}
    least = min(risks.values())
    found: Law = []
    for drawn, mass in multinomial(n, tuple(masses)):
        seen = {s: loss(drawn, points, targets, s) for s in kinks}
        lowest = min(seen.values())
        found.append((max(risks[s] for s in kinks if seen[s] == lowest) - least, mass))
    return found


def _orthonormal(N: int, n: int) -> Law:
    """By the number m of points met: P(m) = Σ over steps of the chain m → m, m + 1."""
    chances = [0] * (N + 1)
    chances[0] = 1
    for _ in range(n):
        chances = [c * m + (chances[m - 1] * (N - m + 1) if m else 0) for m, c in enumerate(chances)]
    height = Fraction(2, isqrt(N))
    return [(height * Fraction(N - m, N), Fraction(c, N**n)) for m, c in enumerate(chances) if c]


def fits(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Nearly fair signs, orthonormal features with half as many labels, random domains of two and three points on the line."""
    for n in (1, 5, 21, 101):
        for p in ("1/2", "11/20", "3/5", "4/5"):
            yield on_the_line([Fraction(p), 1 - Fraction(p)], [1, 1], [1, -1], n)
    for root in (2, 3, 5, trial.count(8, 16)):
        for share in (4, 2, 1):
            yield {"kind": "orthonormal", "N": root**2, "n": max(1, root**2 // share)}
    for _ in range(trial.count(15, 120)):
        count = int(trial.rng.integers(2, 4))
        points = [Fraction(int(x), 2) for x in trial.rng.integers(-2, 3, size=count)]
        targets = [Fraction(int(y), 2) for y in trial.rng.integers(-6, 7, size=count)]
        yield on_the_line(weights(trial.rng, count), points, targets, int(trial.rng.integers(1, 30 if count == 2 else 9)))


def decoded(point: Array, trial: sc.Trial) -> sc.Instance:
    """Two points on the line with targets in [−2, 2] and n ≤ 12 from [0, 1]^6, in multiples of 1/32."""
    u = [Fraction(round(32 * float(np.clip(value, 0, 1))), 32) for value in point]
    p = (u[4] + Fraction(1, 32)) / Fraction(17, 16)
    return on_the_line([p, 1 - p], [2 * u[0] - 1, 2 * u[1] - 1], [4 * u[2] - 2, 4 * u[3] - 2], 1 + min(11, int(12 * u[5])))
