r"""Laws of what the algorithms return on one or two points, summed over all samples: a probability that is computed, and not drawn.

A sample of size m from two points is the number N of draws of the second one and the numbers of labels 1 at each: binomial, given N. At a
point whose mean label is 0 or 1 labels do not vary. So the algorithms run on all samples at once, as arrays. Counts farther than `WINDOW`
deviations from their mean are left out; their mass, which is known, counts as bad.

P(value > bound) ≤ δ if and only if the (1 − δ)-quantile is at most the bound; over the bound it is the tightness.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special
from scipy.stats import binom

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.theorems.kkks.float_tron import Transfer

WINDOW = 4.5  # deviations: what is left out has a mass of 1e-5
LEAST = 1e-15  # mass of a sample that is kept


@dataclass(frozen=True, eq=False)
class Samples:
    """All samples of a law in the window: masses (S,), shares of the points and their mean labels (S, k); `left_out` has the rest."""

    masses: Array
    frequencies: Array
    labels: Array

    @property
    def left_out(self) -> float:
        """Mass of the samples outside the window."""
        return max(0.0, 1.0 - float(self.masses.sum()))


def samples(means: Array, m: int, *, noise: bool = True) -> Samples:
    """All samples of size m from one point, or from two that are equally likely, with labels 0 and 1 of these means, or equal to them.

    At most one of two points may have labels that vary.
    """
    means = np.asarray(means, dtype=float)
    varying = (means > 0) & (means < 1) & noise
    if means.size > 2 or varying.sum() > 1:
        raise InvalidProblem(f"means: one or two points, at most one of them with labels that vary, needed; got {means}")
    counts = np.array([m]) if means.size == 1 else _window(m, 0.5)
    sizes = counts[:, None] if means.size == 1 else np.column_stack([m - counts, counts])
    chances = np.ones(len(sizes)) if means.size == 1 else binom.pmf(counts, m, 0.5)
    if not varying.any():
        return Samples(chances, sizes / m, np.tile(means, (len(sizes), 1)))
    at, p = int(np.argmax(varying)), float(means[varying][0])
    ones = np.arange(_window(int(sizes[:, at].min()), p)[0], _window(int(sizes[:, at].max()), p)[-1] + 1)
    size = sizes[:, at, None]
    masses = chances[:, None] * _binomial(ones, size, p)
    kept = masses > LEAST
    labels = np.tile(means, (int(kept.sum()), 1))
    labels[:, at] = (ones / np.maximum(size, 1))[kept]
    return Samples(masses[kept], np.repeat(sizes / m, kept.sum(axis=1), axis=0), labels)


def _binomial(ones: Array, size: Array, p: float) -> Array:
    """C(n, k) p^k (1 − p)^{n − k}, for sizes up to 10⁶ to ten digits; 0 where k > n."""
    rest = size - ones
    chosen = special.gammaln(size + 1.0) - special.gammaln(ones + 1.0) - special.gammaln(np.maximum(rest, 0) + 1.0)
    out: Array = np.where(rest < 0, 0.0, np.exp(chosen + ones * math.log(p) + rest * math.log1p(-p)))
    return out


def _window(n: int, p: float) -> Array:
    """The counts of n draws with chance p, those in the window."""
    away = WINDOW * np.sqrt(n * p * (1 - p)) + WINDOW**2 / 3
    return np.arange(max(0, int(n * p - away)), min(n, int(n * p + away) + 1) + 1, dtype=float)


def glm_tron(law: Samples, gram: Array, transfer: Transfer, steps: int) -> Iterator[Array]:
    """Predictions (S, k) of h^t, t = 1, …, steps: w = Σ v_j x_j, v_j grows by share_j (ȳ_j − u(w·x_j))."""
    v = np.zeros_like(law.frequencies)
    for _ in range(steps):
        predictions = transfer(v @ gram)
        yield predictions
        v = v + law.frequencies * (law.labels - predictions)


def two_point_fit(law: Samples, labels: Array, apart: Array) -> Array:
    """LPAV to two points with these labels: their mean is kept, and the difference of the fits lies between 0 and that of the points."""
    difference = np.clip(labels[..., 1] - labels[..., 0], np.minimum(apart, 0.0), np.maximum(apart, 0.0))
    base = np.sum(law.frequencies * labels, axis=1) - law.frequencies[:, 1] * difference
    return np.column_stack([base, base + difference])


def l_isotron(law: Samples, half: float, steps: int) -> Iterator[tuple[Array, Array]]:
    """Predictions (S, 2) of h^t on the points ∓half of the line, t = 1, …, steps; how far apart the points are in the direction of w^t."""
    w = np.zeros(len(law.masses))
    for _ in range(steps):
        apart = 2.0 * half * w
        predictions = two_point_fit(law, law.labels, apart)
        yield predictions, apart
        w = w + half * np.sum(np.array([-1.0, 1.0]) * law.frequencies * (law.labels - predictions), axis=1)


def errors(law: Samples, predictions: Array, means: Array) -> tuple[Array, Array]:
    """ε̂ and ε of predictions on every sample."""
    squares = np.square(predictions - means)
    return np.sum(law.frequencies * squares, axis=1), squares.mean(axis=1)


def quantile(law: Samples, values: Array, level: float) -> float:
    """The least value v with P(value > v) ≤ 1 − share; ∞ where what was left out is more than that."""
    order = np.argsort(values)
    below = np.cumsum(law.masses[order])
    reached = int(np.searchsorted(below, level))
    return float(values[order][reached]) if reached < values.size else float("inf")


def decided(law: Samples, ratios: Array, delta: float, name: str) -> Iterator[sc.Check]:
    """P(ratio > 1) ≤ δ, and the (1 − δ)-quantile of the ratio of what is bounded to its bound."""
    bad = float(law.masses[ratios > 1].sum())
    yield sc.probability(bad, min(1.0, bad + law.left_out), delta, f"{name}: chance of a larger value")
    yield sc.at_most(quantile(law, ratios, 1.0 - delta), 1.0, f"{name}: {1 - delta:g}-quantile over its bound")
