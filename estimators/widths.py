r"""How wide a Gaussian is, for estimators that have no other parameter: by leaving out one point at a time, in closed form.

What a mean says at x_i without the samples at x_i is what it says less K(x_i, x_i) times their share, so that a width costs one Gram
matrix. The widths are those of the similarity named `STANDARDISED`, whose columns have unit variance, times 4, 2, 1, 1/2, …, 1/128; of
equals the widest is taken. Where there are more than MOST distinct points, it is chosen on MOST of them (`leave_one_out`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.data.similarities import Gaussian, Scaled
from simopt.data.similarities.named import STANDARDISED, named
from simopt.estimators.leave_one_out import points_of

AUTO = "auto"
WIDTHS = tuple(2.0**k for k in range(2, -8, -1))  # from the widest


def automatic(similarity: Any) -> bool:
    """Whether it is left to the estimator."""
    return isinstance(similarity, str) and similarity == AUTO


def chosen_width(X: Array, weights: Array | None, error: Callable[[Array], float], rows: NDArray[np.intp]) -> Scaled:
    """The Gaussian of standardised columns of X whose Gram matrix on `rows`, with 0 on the diagonal, has the least error."""
    usual = named(STANDARDISED, X, weights)
    assert isinstance(usual, Scaled) and isinstance(usual.base, Gaussian)
    found = [Scaled(Gaussian(usual.base.mu * width), usual.factors) for width in WIDTHS]
    errors = []
    for candidate in found:
        K = candidate.gram(X[rows])
        np.fill_diagonal(K, 0.0)
        errors.append(error(K))
    return found[int(np.argmin(errors))]


def for_classes(X: Array, classes: NDArray[np.intp], weights: Array | None, counts: Array | None) -> Scaled:
    """Of least share of samples in another class than that whose mean, without their point, is most similar to them.

    `classes` numbers the classes; `weights` say what a sample counts, also as one of its class, and `counts` without the classes' weights.
    """
    points = points_of(X, np.zeros(len(classes)), weights)
    masses = np.zeros((len(points.rows) + 1, int(classes.max()) + 1))
    np.add.at(masses, (points.point, classes), np.ones(len(classes)) if weights is None else weights)
    masses = masses[:-1]
    everything = masses.sum(axis=0)

    def error(K: Array) -> float:
        left = everything - masses
        nearness = np.divide(K @ masses, left, out=np.zeros_like(left), where=left > 0.0) * everything
        return float(masses.sum() - masses[np.arange(len(masses)), np.argmax(nearness, axis=1)].sum())

    return chosen_width(X, counts, error, points.rows)


def for_targets(X: Array, y: Array, weights: Array | None, shift: float) -> Scaled:
    """Of least squared error of the weighted mean of the other points' targets."""
    points = points_of(X, y, weights)
    centre = float(points.sample_weights @ points.targets)
    around = points.targets - centre

    def error(K: Array) -> float:
        mass = (K + shift) * points.sample_weights
        np.fill_diagonal(mass, 0.0)
        total = mass.sum(axis=1)
        said = np.divide(mass @ around, total, out=np.zeros_like(total), where=total != 0.0)
        return float(points.sample_weights @ np.square(around - said))

    return chosen_width(X, weights, error, points.rows)
