r"""GLM-tron, L-Isotron and Isotron in rational arithmetic: one loop, w ← w + mean (y_i − ŷ_i) x_i, over three ways to predict.

The digits of w grow by a fixed number a step, so that tens of steps are cheap and hundreds are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from simopt.theorems.kkks.piecewise_linear import PiecewiseLinear
from simopt.theorems.kkks.rational_lpav import lpav
from simopt.theorems.small_worlds.worlds import dot

Vector = Sequence[Fraction]
Fit = Callable[[list[Fraction]], list[Fraction]]


@dataclass(frozen=True)
class RationalIterate:
    """w^t, and the predictions ŷ_i of h^t on the sample."""

    w: list[Fraction]
    predictions: list[Fraction]


def mean(values: Sequence[Fraction], counts: Sequence[int]) -> Fraction:
    """(1/m) Σ v_i, value i counted counts[i] times."""
    return sum((c * v for c, v in zip(counts, values, strict=True)), Fraction(0)) / sum(counts)


def mean_vector(coefficients: Sequence[Fraction], features: Sequence[Vector], counts: Sequence[int]) -> list[Fraction]:
    """(1/m) Σ c_i x_i."""
    return [mean([c * x for c, x in zip(coefficients, column, strict=True)], counts) for column in zip(*features, strict=True)]


def known(transfer: PiecewiseLinear) -> Fit:
    """GLM-tron: ŷ_i = u(z_i)."""
    return lambda positions: [transfer(z) for z in positions]


def fitted(labels: Sequence[Fraction], counts: Sequence[int], lipschitz: Fraction | None = Fraction(1)) -> Fit:
    """L-Isotron: ŷ = LPAV(z, y); without a Lipschitz bound (None) Isotron."""
    weights = [Fraction(c) for c in counts]
    return lambda positions: lpav(positions, labels, weights, lipschitz)


def iterates(
    features: Sequence[Vector], labels: Vector, fit: Fit, counts: Sequence[int] | None = None, start: Vector | None = None
) -> Iterator[RationalIterate]:
    """w^1, w^2, … without end, from w^1 = 0 or `start`.

    Source: Kakade, Kalai, Kanade & Shamir 2011, Algorithms 1 and 2.
    """
    times = [1] * len(features) if counts is None else counts
    w = [Fraction(0)] * len(features[0]) if start is None else list(start)
    while True:
        predictions = fit([Fraction(dot(w, x)) for x in features])
        yield RationalIterate(w, predictions)
        step = mean_vector([y - p for y, p in zip(labels, predictions, strict=True)], features, times)
        w = [a + b for a, b in zip(w, step, strict=True)]
