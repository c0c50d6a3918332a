"""What the recipes share: rows drawn from a data set, standardised columns, the default similarity, landmarks, and small test kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from simopt import validate
from simopt.typing import Array

if TYPE_CHECKING:
    from simopt.datasets import Dataset

Similarity = Callable[[Array, Array], Array]


def sample(dataset: Dataset, rng: np.random.Generator, samples: int | None, standardise: bool) -> tuple[Array, Array]:
    """At most `samples` rows (None: all) in the order of the data set, with columns of mean 0 and variance 1 if `standardise`.

    Constant columns become 0. Returns inputs (n, p) and targets (n,).
    """
    inputs, targets = np.asarray(dataset.features, dtype=float), np.asarray(dataset.targets, dtype=float)
    if samples is not None:
        count = validate.whole("samples", samples, minimum=1)
        if count < len(targets):
            rows = np.sort(rng.choice(len(targets), size=count, replace=False))
            inputs, targets = inputs[rows], targets[rows]
    return (standardised(inputs) if standardise else inputs), targets


def standardised(inputs: Array) -> Array:
    """Columns minus their mean, over their standard deviation; constant columns become 0."""
    centred = inputs - inputs.mean(axis=0)
    spread = centred.std(axis=0)
    out: Array = centred / np.where(spread > 0, spread, 1.0)
    return out


def squared_distances(a: Array, b: Array) -> Array:
    """‖a_i − b_j‖², shape (n, m)."""
    cross = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2.0 * a @ b.T
    out: Array = np.maximum(cross, 0.0)
    return out


def mean_squared_distance(inputs: Array) -> float:
    """(1/n²) Σ_ij ‖x_i − x_j‖² = 2 Σ_k var(x_k): Audiffren & Kadri's bandwidth μ. 1 when all rows are equal."""
    return 2.0 * float(inputs.var(axis=0).sum()) or 1.0


def gaussian(inputs: Array) -> Similarity:
    """exp(−‖x − x'‖²/μ) with μ the mean squared distance between the inputs."""
    mu = mean_squared_distance(inputs)
    return lambda a, b: np.exp(-squared_distances(a, b) / mu)


def gram(inputs: Array, similarity: Similarity | None) -> Array:
    """Gram matrix of the inputs, exactly symmetric; Gaussian unless another similarity is given."""
    K = (similarity or gaussian(inputs))(inputs, inputs)
    return 0.5 * (K + K.T)


def small_kernel(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """A Gaussian Gram matrix on n points of the plane and noisy targets of size 1, for examples."""
    inputs = rng.normal(size=(n, 2))
    targets = np.sin(2.0 * inputs[:, 0]) + 0.3 * rng.normal(size=n)
    K = np.exp(-squared_distances(inputs, inputs))
    return 0.5 * (K + K.T), targets
