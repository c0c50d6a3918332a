r"""§8: herding a sample, then the herd, and so on; in one piece or in blocks (Lemma 18).

Every herd approximates the one before it. "Herding the herd" takes the herd as what Algorithm 1 returns, a weighted set: its mean is
Σ α y φ(x). Forgetting the weights is another reading (`weighted=False`).

The Gram matrix is kept in float32: each of the first herd's picks needs a column of n similarities between images, and half of all columns
are picked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.data.rows import Indices
from simopt.solvers.herding.atoms import StoredAtoms
from simopt.solvers.herding.frank_wolfe import FrankWolfe
from simopt.solvers.herding.gaussian_tiles import Floats
from simopt.theorems.rmw.bandwidth_readings import BandwidthReading, Images, relative_similarities, squared_distances

Gram = Callable[[Indices], Array]


@dataclass(frozen=True, eq=False)
class HerdStage:
    """A herd: indices into the sample, weights with sum 1, and the distance to the mean of the stage before it."""

    indices: Indices
    weights: Array
    error: float

    @property
    def size(self) -> int:
        """Number of points."""
        return int(self.indices.size)


def herd_weights(gram: Floats, mass: Array, tolerance: float) -> tuple[Array, float]:
    """Weights and ‖Σ mass_i ψ_i − Σ w_i ψ_i‖ of Algorithm 1 on a Gram matrix of ψ, stopped at the tolerance.

    It also stops where no atom promises progress. O(n²) for the first mean and O(n) a step; the Gram matrix may be float32, sums are
    float64.
    """
    linear = np.concatenate([gram[i : i + 1024].astype(np.float64) @ mass for i in range(0, len(gram), 1024)])
    stored: Any = gram  # single columns are read, of either precision
    run = FrankWolfe(StoredAtoms(stored, np.ones(len(gram)), linear, float(mass @ linear)), "line-search")
    squared = float("inf")
    for look in run:
        squared = look.error_squared
        if squared <= tolerance**2:
            break
    return run.walk.dense, float(np.sqrt(max(squared, 0.0)))


def recursion(gram: Floats, tolerance: float, *, least: int = 100, weighted: bool = True) -> Iterator[HerdStage]:
    """The herd of the sample, the herd of the herd, … until `least` points are left or a herd gets no smaller."""
    n = len(gram)
    before = HerdStage(np.arange(n), np.full(n, 1.0 / n), 0.0)
    while before.size > least:
        mass = before.weights if weighted else np.full(before.size, 1.0 / before.size)
        weights, error = herd_weights(gram, mass, tolerance)
        stage = support(before, weights, error)
        if stage.size == before.size:
            return
        yield stage
        chosen = np.flatnonzero(weights > 0)
        before, gram = stage, gram[np.ix_(chosen, chosen)]


def support(before: HerdStage, weights: Array, error: float) -> HerdStage:
    """The points of positive weight."""
    found = weights > 0
    return HerdStage(before.indices[found], weights[found] / weights[found].sum(), error)


def recursion_in_blocks(
    gram: Gram, n: int, tolerance: float, rng: np.random.Generator, *, largest: int = 200, least: int = 100
) -> Iterator[HerdStage]:
    """The same, each herd put together from herds of random blocks of at most `largest` points; gram(i) gives y_i y_j K(x_i, x_j)."""
    before = HerdStage(np.arange(n), np.full(n, 1.0 / n), 0.0)
    while before.size > least:
        weights, bound = np.zeros(before.size), 0.0
        for block in np.array_split(rng.permutation(before.size), -(-before.size // largest)):
            share = float(before.weights[block].sum())
            found, error = herd_weights(gram(before.indices[block]), before.weights[block] / share, tolerance)
            weights[block] = share * found
            bound += share * error  # the triangle inequality, Lemma 18
        stage = support(before, weights, bound)
        if stage.size == before.size:
            return
        yield stage
        before = stage


def gram_of(images: Images, reading: BandwidthReading) -> Gram:
    """indices ↦ y_i y_j K(x_i, x_j) in float64."""
    c = reading.rate(images.train)

    def gram(indices: Indices) -> Array:
        X, y = images.train[indices].astype(np.float64), images.labels[indices]
        K: Array = np.exp(-reading.exponents(squared_distances(X, X), c)) * np.outer(y, y)
        np.fill_diagonal(K, 1.0)
        return K

    return gram


class OnTestImages:
    """Accuracy on the test images of weighted subsets of the training images; keeps n × n_test similarities in float32."""

    def __init__(self, images: Images, reading: BandwidthReading) -> None:
        self.truth, self.n = images.truth, len(images.labels)
        self.similarities = np.empty((self.n, len(self.truth)), dtype=np.float32)
        for rows, K in relative_similarities(images, reading):
            self.similarities[:, rows] = K.T
        self.similarities *= images.labels.astype(np.float32)[:, None]

    def of(self, stage: HerdStage) -> float:
        """Share of test images with the right sign of Σ w_i y_i K(x, x_i); a score of 0 is wrong."""
        scores = np.zeros(len(self.truth))
        for start in range(0, stage.size, 1024):
            part = slice(start, start + 1024)
            scores += stage.weights[part] @ self.similarities[stage.indices[part]].astype(np.float64)
        return float(np.mean(np.sign(scores) == self.truth))

    def whole(self) -> float:
        """The mean classifier of all training images."""
        return self.of(HerdStage(np.arange(self.n), np.full(self.n, 1.0 / self.n), 0.0))

    def random(self, size: int, rng: np.random.Generator) -> float:
        """The mean classifier of so many training images drawn at random."""
        return self.of(HerdStage(rng.choice(self.n, size, replace=False), np.full(size, 1.0 / size), 0.0))


def mean_norm(gram: Floats) -> float:
    """‖ω_S‖, the root of the mean of y_i y_j K(x_i, x_j)."""
    return float(np.sqrt(np.mean([row.mean(dtype=np.float64) for row in gram])))
