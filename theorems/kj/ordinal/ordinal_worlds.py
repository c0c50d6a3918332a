r"""Ordinal regression on finite domains in fractions: the γ-margin loss, labels by thresholds, what no learner can do.

Thresholds are the list b_2 ≤ … ≤ b_r; b_1 = −∞ and b_{r+1} = ∞ are not in it. A learner that sees x through K only gives one and the same
(random) label to all points of a cell that K does not tell apart. So its error is at least that of the best label in each cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.theorems.small_worlds.sampled_worlds import weights

ONE, ZERO, HALF = Fraction(1), Fraction(0), Fraction(1, 2)
Numbers = Sequence[Fraction]


def label(f: Fraction, thresholds: Numbers) -> int:
    """The largest i with f ≥ b_i (E.1)."""
    return 1 + sum(f >= b for b in thresholds)


def reduced(labels: int, offset: Fraction) -> list[Fraction]:
    """The fixed thresholds b_i = i − offset, i = 2, …, r, of the direct reduction."""
    return [i - offset for i in range(2, labels + 1)]


def margin_loss(f: Fraction, y: int, thresholds: Numbers, gamma: Fraction) -> Fraction:
    """h = [γ − (f − b_y)]_+ + [γ − (b_{y+1} − f)]_+; there is no hinge at ±∞."""
    loss = ZERO
    if y >= 2:
        loss += max(gamma - (f - thresholds[y - 2]), ZERO)
    if y <= len(thresholds):
        loss += max(gamma - (thresholds[y - 1] - f), ZERO)
    return loss


def spaced(labels: int, delta: Fraction) -> list[Fraction]:
    """b_i = (i − 2)Δ."""
    return [i * delta for i in range(labels - 1)]


def one_cell(chances: dict[int, Fraction], labels: int, f: Fraction, gamma: Fraction, delta: Fraction) -> sc.Instance:
    """K ≡ 1 and labels with these chances: every f is a constant, here f (B ≥ |f|), with thresholds (i − 2)Δ."""
    return {"shares": dict(chances), "labels": labels, "f": f, "thresholds": spaced(labels, delta), "gamma": gamma, "delta": delta}


def goodness(f: Any, thresholds: list[Fraction], gamma: Any, shares: Any) -> Fraction:
    """E h of the constant predictor: K is (ε_0, B)-good for every larger ε_0."""
    b = thresholds
    return sum((p * margin_loss(f, y, b, gamma) for y, p in shares.items()), ZERO)


def least_absolute(shares: Any, labels: Any) -> Fraction:
    """min_c E |c − y|, which random labels do not improve: the least ordinal error of any learner."""
    return min(sum((p * abs(c - y) for y, p in shares.items()), ZERO) for c in range(1, labels + 1))


def least_mislabelled(shares: Any) -> Fraction:
    """1 − max_c P(y = c): the least mislabelling of any learner."""
    most: Fraction = max(shares.values())
    return ONE - most


def random_thresholds(rng: np.random.Generator, labels: int, delta: Fraction) -> list[Fraction]:
    """Δ-spaced, about half of the gaps wider."""
    gaps = [delta * (1 + (Fraction(int(rng.integers(1, 9)), 4) if rng.random() < 0.5 else ZERO)) for _ in range(labels - 2)]
    made = [ZERO]
    for gap in gaps:
        made.append(made[-1] + gap)
    return made


def random_cells(rng: np.random.Generator, cells: int) -> sc.Instance:
    """r ≤ 6 labels, rational γ and Δ, Δ-spaced thresholds; in each cell an f near a threshold or anywhere, and chances of the labels."""
    labels = int(rng.integers(2, 7))
    gamma, delta = Fraction(int(rng.integers(1, 17)), 8), Fraction(int(rng.integers(1, 25)), 8)
    b = random_thresholds(rng, labels, delta)
    nearby = [ZERO, gamma, -gamma, delta / 2, -delta / 2, Fraction(1, 64), -Fraction(1, 64)]
    f, chances = [], []
    for _ in range(cells):
        base = b[int(rng.integers(0, len(b)))]
        f.append(base + (nearby[int(rng.integers(0, 7))] if rng.random() < 0.5 else Fraction(int(rng.integers(-48, 49)), 16)))
        drawn = weights(rng, labels) if rng.random() < 0.5 else _two_labels(rng, labels)
        chances.append(drawn)
    return {"masses": weights(rng, cells), "f": f, "chances": chances, "thresholds": b, "gamma": gamma, "delta": delta, "labels": labels}


def _two_labels(rng: np.random.Generator, labels: int) -> list[Fraction]:
    first, second = (int(i) for i in rng.choice(labels, size=2, replace=False))
    share = Fraction(int(rng.integers(1, 8)), 8)
    return [share if i == first else 1 - share if i == second else ZERO for i in range(labels)]
