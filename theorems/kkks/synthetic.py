r"""The data of Section 6.1, on which Isotron overfits: one coordinate tells all, another one of 399 is noise.

x_1 is uniform on {−1, 0, 1}, one of the other coordinates, chosen uniformly, is 1, all others are 0; y ∈ {0, 1} with E[y|x] = (1 + x_1)/2.
There are 3 (d − 1) different x, so that the error of a predictor is a finite sum: no test sample is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.estimators.index_models.index_model import IndexModel
from simopt.estimators.index_models.index_record import Function
from simopt.estimators.index_models.isotron import l_isotron
from simopt.theorems.kkks.protocol import folds

DIMENSION, SAMPLES = 400, 600
VARIANCE = 0.25  # of y: E[y] = 1/2
LEARNERS = {"L-Isotron": 1.0, "Isotron": np.inf}  # Lipschitz constant of the fit


@dataclass(frozen=True, eq=False)
class Draw:
    """Samples: features (n, d), labels (n,), and E[y|x] (n,)."""

    features: Array
    labels: Array
    means: Array


def draw(rng: np.random.Generator, n: int = SAMPLES, d: int = DIMENSION) -> Draw:
    """n samples."""
    X = np.zeros((n, d))
    X[:, 0] = rng.integers(-1, 2, n)
    X[np.arange(n), rng.integers(1, d, n)] = 1.0
    means = (1.0 + X[:, 0]) / 2.0
    return Draw(X, (rng.random(n) < means).astype(float), means)


def all_points(d: int = DIMENSION) -> Draw:
    """Every x once, all equally likely; the labels are E[y|x]."""
    X = np.zeros((3 * (d - 1), d))
    X[:, 0] = np.repeat([-1.0, 0.0, 1.0], d - 1)
    X[np.arange(len(X)), np.tile(np.arange(1, d), 3)] = 1.0
    means = (1.0 + X[:, 0]) / 2.0
    return Draw(X, means, means)


def expected_error(model: Function) -> float:
    """E (h(x) − y)²/Var(y) = [E (h(x) − E[y|x])² + E Var(y|x)]/Var(y)."""
    points = all_points()
    noise = float(np.mean(points.means * (1.0 - points.means)))
    return (float(np.mean(np.square(model(points.features) - points.means))) + noise) / VARIANCE


def ten_folds(sample: Draw, rng: np.random.Generator, rounds: int, learners: Mapping[str, float] = LEARNERS) -> dict[str, Array]:
    """Mean squared error of each fold over the variance of y in the sample, shape (10,), for each Lipschitz constant; x as it is."""
    variance = float(sample.labels.var())
    errors: dict[str, list[float]] = {name: [] for name in learners}
    for train, test in folds(len(sample.labels), rng):
        for name, values in errors.items():
            model = l_isotron(sample.features[train], sample.labels[train], learners[name], max_iter=rounds).model
            values.append(model.error(sample.features[test], sample.labels[test]) / variance)
    return {name: np.array(values) for name, values in errors.items()}


def at_one_half(model: IndexModel, sample: Draw) -> Array:
    """Predictions at the samples with E[y|x] = 1/2."""
    return model(sample.features[sample.means == 0.5])
