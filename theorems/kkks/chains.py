"""Chains (z, y) on which LPAV is tested: all small ones on a grid, and random ones, with ties in z."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import simopt.claims as sc
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO
from simopt.theorems.kkks.rational_lpav import rational_lpav


def all_chains(gaps: Sequence[Fraction], labels: Sequence[Fraction], lengths: Sequence[int]) -> Iterator[sc.Instance]:
    """Every chain of these lengths whose gaps in z and whose labels come from these lists; z starts at 0."""
    for m in lengths:
        for steps in product(gaps, repeat=m - 1):
            z = [sum(steps[:i], Fraction(0)) for i in range(m)]
            for y in product(labels, repeat=m):
                yield {"z": z, "y": list(y)}


def chains(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All of up to 3 points with gaps 0, 1/4, 1 and labels 0, 1/2, 1; of 4 (full: and 5) with 0, 1/4 and 0, 1; random ones."""
    yield from all_chains((Fraction(0), Fraction(1, 4), Fraction(1)), (Fraction(0), Fraction(1, 2), Fraction(1)), (1, 2, 3))
    yield from all_chains((Fraction(0), Fraction(1, 4)), (Fraction(0), Fraction(1)), range(4, trial.count(5, 6)))
    for _ in range(trial.count(40, 120)):
        m = int(trial.rng.integers(2, 13))
        z = sorted(Fraction(int(k), 16) for k in trial.rng.integers(-16, 17, m))
        binary = trial.rng.integers(2)
        y = [Fraction(int(k), 1 if binary else 12) for k in trial.rng.integers(0, 2 if binary else 13, m)]
        yield {"z": z, "y": y}


def falling(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Labels that fall, for which the class with and without 'nondecreasing' differ; W ≥ 1."""
    for width in (ONE, Fraction(3, 2), Fraction(2)):
        yield {"z": [-width, width], "y": [ONE, ZERO]}
        yield {"z": [-width, ZERO, width], "y": [ONE, Fraction(1, 2), ZERO]}


def small_chains(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Labels 1, 0, 1 at 0, 1, 2, and 0, 1, 1 at 0, 1/4, 2: LPAV pools the first two, or keeps their step at its bound."""
    yield {"z": [ZERO, ONE, Fraction(2)], "y": [ONE, ZERO, ONE]}
    yield {"z": [ZERO, Fraction(1, 4), Fraction(2)], "y": [ZERO, ONE, ONE]}


def gaps(z: Sequence[Fraction]) -> list[Fraction]:
    """z_{i+1} − z_i."""
    return [b - a for a, b in pairwise(z)]


def fit(y: Any, z: Any, lipschitz: Fraction = Fraction(1), low: Fraction | None = None, high: Fraction | None = None) -> list[Fraction]:
    """ŷ of LPAV with this Lipschitz constant, and this range if any."""
    return rational_lpav(y, [lipschitz * gap for gap in gaps(z)], None, low, high)


def square_sum(x: list[Fraction], y: list[Fraction]) -> Fraction:
    """Σ (x_i − y_i)²."""
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), ZERO)
