r"""Small single-index models in rational numbers, and everything that one step of GLM-tron or L-Isotron says about them.

An instance holds features x_i in the unit ball with counts, and labels y_i in [0, 1]. It also holds w, w^t, a bound W on ‖w‖ and ‖w − w^t‖,
and the transfer function u by its knots. ȳ_i = u(w·x_i), D_i = (w − w^t)·x_i.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.kkks.piecewise_linear import PiecewiseLinear, constant, ramp, random_transfer
from simopt.theorems.kkks.rational_lpav import lpav
from simopt.theorems.kkks.rational_tron import mean, mean_vector
from simopt.theorems.small_worlds.sampled_worlds import on_circle
from simopt.theorems.small_worlds.worlds import dot, minus, plus, squared

Vector = Sequence[Fraction]
ONE = Fraction(1)
SMALL = Fraction(1, 100)
GRID = 1 << 20


def length(square: Fraction) -> Fraction | sc.Expr:
    """√square: exactly where it is rational, otherwise enclosed."""
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    return Fraction(top, bottom) if top * top == square.numerator and bottom * bottom == square.denominator else sc.root(square)


def least_bound(*vectors: Vector, floor: Fraction = ONE) -> Fraction:
    """The least W ≥ floor that is ≥ every norm, rounded up to a multiple of 2⁻²⁰ unless the norm is rational."""
    square = max(Fraction(squared(v)) for v in vectors)
    norm = length(square)
    if isinstance(norm, sc.Expr):
        whole = math.isqrt(math.floor(square * GRID * GRID)) + 1
        norm = Fraction(whole, GRID)
    return max(floor, norm)


def model(
    features: Sequence[Vector], labels: Vector, w: Vector, current: Vector, u: PiecewiseLinear, counts: Sequence[int] | None = None,
    floor: Fraction = ONE,
) -> sc.Instance:  # fmt: skip
    """An instance, with the least bound W ≥ floor."""
    return {
        "features": [list(x) for x in features], "labels": list(labels), "counts": [1] * len(labels) if counts is None else list(counts),
        "w": list(w), "current": list(current), "knots": list(u.knots), "values": list(u.values),
        "W": least_bound(w, minus(w, current), floor=floor),
    }  # fmt: skip


def transfer(knots: Vector, values: Vector) -> PiecewiseLinear:
    """u."""
    return PiecewiseLinear(tuple(knots), tuple(values))


@dataclass(frozen=True)
class IterateStep:
    """One step from w^t: what Lemmas 3 and 5 speak of. For GLM-tron ỹ = ŷ."""

    counts: Sequence[int]
    features: Sequence[Vector]
    apart: list[Fraction]  # D_i = w·x_i − w^t·x_i
    labels: Vector  # y
    means: list[Fraction]  # ȳ
    predictions: list[Fraction]  # ŷ
    hypothetical: list[Fraction]  # ỹ
    difference: list[Fraction]  # w − w^t

    def error(self) -> Fraction:
        """ε̂(h^t) = mean (ŷ − ȳ)²."""
        return mean([(a - b) ** 2 for a, b in zip(self.predictions, self.means, strict=True)], self.counts)

    def hypothetical_error(self) -> Fraction:
        """ε̂(h̃^t) = mean (ỹ − ȳ)²."""
        return mean([(a - b) ** 2 for a, b in zip(self.hypothetical, self.means, strict=True)], self.counts)

    def noise(self) -> list[Fraction]:
        """mean (y − ȳ) x."""
        return mean_vector(minus(self.labels, self.means), self.features, self.counts)

    def eta1(self) -> Any:
        """‖mean (y − ȳ) x‖."""
        return length(Fraction(squared(self.noise())))

    def eta2(self) -> Fraction:
        """mean |ŷ − ỹ|."""
        return mean([abs(a - b) for a, b in zip(self.predictions, self.hypothetical, strict=True)], self.counts)

    def move(self) -> list[Fraction]:
        """w^{t+1} − w^t."""
        return mean_vector(minus(self.labels, self.predictions), self.features, self.counts)

    def square_before(self) -> Fraction:
        """‖w^t − w‖²."""
        square: Fraction = squared(self.difference)
        return square

    def square_after(self) -> Fraction:
        """‖w^{t+1} − w‖²."""
        return Fraction(squared(minus(self.difference, self.move())))

    def decrease(self) -> Fraction:
        """‖w^t − w‖² − ‖w^{t+1} − w‖²."""
        return self.square_before() - self.square_after()

    def along(self, values: Sequence[Fraction]) -> Fraction:
        """(2/m) Σ v_i (w·x_i − w^t·x_i)."""
        return 2 * mean([a * b for a, b in zip(values, self.apart, strict=True)], self.counts)


def step(instance: sc.Instance, known: bool) -> IterateStep:
    """The step from w^t: with u known (GLM-tron) or fitted by LPAV (L-Isotron)."""
    X, y, w, now, counts = (instance[key] for key in ("features", "labels", "w", "current", "counts"))
    u = transfer(instance["knots"], instance["values"])
    scores, positions = [Fraction(dot(w, x)) for x in X], [Fraction(dot(now, x)) for x in X]
    means = [u(t) for t in scores]
    if known:
        predictions = hypothetical = [u(z) for z in positions]
    else:
        weights = [Fraction(c) for c in counts]
        predictions, hypothetical = lpav(positions, y, weights), lpav(positions, means, weights)
    return IterateStep(counts, X, minus(scores, positions), y, means, predictions, hypothetical, minus(w, now))


def ball_point(rng: np.random.Generator, dimension: int) -> list[Fraction]:
    """A rational point of the unit ball: a signed unit vector, a point of the circle of the first two axes, or one inside."""
    kind = int(rng.integers(3))
    if kind == 0 or dimension == 1:
        point = [Fraction(0)] * dimension
        point[int(rng.integers(dimension))] = ONE if kind == 0 else Fraction(int(rng.integers(-8, 9)), 8)
        return [-value for value in point] if rng.integers(2) else point
    if kind == 1:
        return on_circle(Fraction(int(rng.integers(-12, 13)), 4)) + [Fraction(0)] * (dimension - 2)
    return [Fraction(int(rng.integers(-8, 9)), 8 * dimension) for _ in range(dimension)]


def random_model(rng: np.random.Generator, floor: Fraction, dimension: int | None = None) -> sc.Instance:
    """Up to five different samples in up to three dimensions, labels that are 0 or 1, in eighths, or free of noise."""
    p = int(rng.integers(1, 4)) if dimension is None else dimension
    m = int(rng.integers(1, 6))
    size = floor * (1, Fraction(1, 2), 2, 3)[int(rng.integers(4))] if floor >= 1 else floor
    features = [ball_point(rng, p) for _ in range(m)]
    w = [size * value for value in ball_point(rng, p)]
    back = [size * value for value in ball_point(rng, p)] if rng.integers(3) else [-value for value in w]
    # Half of the time u rises with slope 1 around 0: a random u is flat at most scores, and then ε̂ = 0.
    u = ramp(-Fraction(int(rng.integers(0, 9)), 8)) if rng.integers(2) else random_transfer(rng, math.ceil(size) + 1)
    kind = int(rng.integers(3))
    eighths = [Fraction(int(k), 8) for k in rng.integers(0, 9, m)]
    labels = [(Fraction(round(k)), k, u(Fraction(dot(w, x))))[kind] for x, k in zip(features, eighths, strict=True)]
    return model(features, labels, w, plus(w, back), u, [int(c) for c in rng.integers(1, 6, m)], floor)


def sharp_models(floor: Fraction) -> Iterator[sc.Instance]:
    """Models that come near the bounds, found by search: pure noise against the direction of w − w^t, and noise that only LPAV sees."""
    low, high = constant(Fraction(0)), constant(ONE)
    for W in (floor, 2 * floor, 5 * floor):
        # u = 0 and y = 1: the step is the noise, away from w.
        yield model([[ONE]], [ONE], [Fraction(0)], [W], low, floor=floor)
        yield model([[ONE]], [Fraction(0)], [Fraction(0)], [-W], high, floor=floor)
        # Two kinds of samples whose noise cancels in mean (y − ȳ) x, all tied, while LPAV fits a constant to it.
        for share in (4, 20, 100):
            yield model([[ONE], [-ONE]], [Fraction(1, share), ONE], [W], [Fraction(0)], low, [share, 1], floor)
        # Labels that fall where the fit may not: ŷ = ỹ = ȳ = 1/2, so that η₂ = 0 and ε̂ = 0, and the step is the noise −1/2, away from w.
        yield model([[-ONE], [ONE]], [ONE, Fraction(0)], [W], [Fraction(0)], constant(Fraction(1, 2)), floor=floor)
        # ȳ = 0 < ŷ = 1 at D = W, and the noise there cancelled by other samples.
        yield model([[ONE], [-ONE], [-ONE]], [ONE, ONE, Fraction(0)], [Fraction(0)], [-W], low, [1, 1, 1], floor)
    half = Fraction(1, 2)
    yield model([[ONE]], [ONE], [Fraction(0)], [Fraction(0)], constant(half), floor=floor)  # w = w^t = 0: all is noise
    yield model([[ONE], [-ONE]], [ONE, Fraction(0)], [half], [Fraction(0)], ramp(-half), None, floor)


def models(trial: sc.Trial, floor: Fraction, count: int) -> Iterator[sc.Instance]:
    """The sharp ones and random ones."""
    yield from sharp_models(floor)
    for _ in range(count):
        yield random_model(trial.rng, floor)


def decoded_model(point: Array, floor: Fraction) -> sc.Instance:
    """Three kinds of samples on the line, from [0, 1]¹⁰: places, labels, shares, w, w^t, and where u = clip(t − s) begins."""
    v = [Fraction(round(64 * float(x)), 64) for x in point]
    features = [[2 * value - 1] for value in v[:3]]
    w, back = 2 * v[6] - 1, 2 * v[7] - 1
    size = max(floor, ONE)
    u = ramp(size * (4 * v[8] - 2)) if v[9] < Fraction(3, 4) else constant(v[8])
    counts = [1, 1 + int(16 * v[9]), 1 + int(48 * v[8] * v[9])]
    return model(features, v[3:6], [size * w], [size * (w + back)], u, counts, floor)


def wide(trial: sc.Trial) -> Iterator[sc.Instance]:
    """W ≥ 1, and as small as the vectors allow."""
    return models(trial, ONE, trial.count(120, 360))


def narrow(trial: sc.Trial) -> Iterator[sc.Instance]:
    """W = 1/100."""
    return models(trial, SMALL, 20)


def of_every_width(trial: sc.Trial) -> Iterator[sc.Instance]:
    """W = 1/100, 1/4 and ≥ 1."""
    for floor in (SMALL, Fraction(1, 4), ONE):
        yield from models(trial, floor, trial.count(40, 120))


def decoded_wide(point: Array, trial: sc.Trial) -> sc.Instance:
    """Three kinds of samples on the line, W ≥ 1."""
    return decoded_model(point, ONE)


def decoded_narrow(point: Array, trial: sc.Trial) -> sc.Instance:
    """Three kinds of samples on the line, W as small as the vectors allow."""
    return decoded_model(point, SMALL)
