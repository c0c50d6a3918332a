"""The experimental protocol of Audiffren and Kadri as far as it is stated (§5.3, Appendix E), and our choices where it is not.

Stated: Gaussian kernel with μ the mean squared distance; 70 % for training; error √(mean squared error)/max y. For M-RLSR first m by
cross-validation with λ = 1, then λ by ten-fold cross-validation with m fixed; for KRR λ₂ by ten-fold cross-validation.

Ours:

* Inputs and targets are as they are in the data: no scaling is mentioned, and only so do the targets give the λ₂ printed for Concrete in
  Figure 1. `table1` has other readings for printed numbers that this misses.
* μ is over the training inputs, max y over the whole data set.
* Every cross-validation is ten-fold within the training part, on the same folds.
* For m < 1, where the problem is not convex, the minimiser is the global one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import Dataset, friedman, load_dataset
from simopt.data.similarities import Gaussian
from simopt.theorems.ak.ridge_path_errors import HeldOut

POWERS = np.round(np.arange(1, 30) / 10, 1)  # 0.1, 0.2, …, 2.9
REGULARIZATIONS = np.logspace(-5, 2, 7)  # seven values from 1e-5 to 1e2, as stated: they are not decades
RIDGES = np.logspace(-7, 3, 25)
RIDGE = np.array([2.0])
FOLDS = 10
TRAINED = 0.7
SYNTHETIC = "friedman"

Indices = NDArray[np.intp]


def scaled_error(predictions: Array, truth: Array, top: float) -> float:
    """(1/max y) √((1/n) Σ (y_i − f(x_i))²), the scaled RMSE of Appendix E; `top` is max y."""
    if not top > 0:
        raise InvalidProblem(f"max y: {top} given, a number > 0 needed to scale by")
    return math.sqrt(float(np.mean(np.square(predictions - truth)))) / top


def standardised(X: Array) -> Array:
    """Columns of mean 0 and variance 1; constant columns become 0."""
    spread = X.std(axis=0)
    out: Array = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return out


def with_subject(source: Dataset) -> Array:
    """The inputs with the subject number in front, as the file of the Parkinson's data has it; the loader keeps it apart, as `groups`.

    Raises
    ------
    InvalidProblem
        for data without subjects.
    """
    if source.groups is None:
        raise InvalidProblem(f"{source.name}: no subject number in this set")
    return np.column_stack([source.groups, source.features])


def data(name: str, rng: np.random.Generator) -> Dataset:
    """The data set, or a new draw of the synthetic one."""
    return friedman(rng) if name == SYNTHETIC else load_dataset(name)


@dataclass(frozen=True, eq=False)
class Split:
    """One random division of a data set into training and test part, with the Gram matrix of all points.

    Attributes
    ----------
    gram : Array (n, n)
    targets : Array (n,)
    train, test : Array of int
    top : float
        max y of the whole data set.
    folds : tuple of arrays of int
        the validation parts, which cover `train`.
    """

    gram: Array
    targets: Array
    train: Indices
    test: Indices
    top: float
    folds: tuple[Indices, ...]

    @classmethod
    def of(cls, X: Array, y: Array, rng: np.random.Generator, *, limit: int | None = None, fraction: float = TRAINED) -> Split:
        """A random split; at most `limit` samples are used."""
        order = rng.permutation(y.size)[:limit]
        count = round(fraction * order.size)
        train = order[:count]
        used, inverse = np.unique(order, return_inverse=True)
        gram = Gaussian.mean_squared_distance(X[train]).gram(X[used])
        inner, outer = inverse[:count].astype(np.intp), inverse[count:].astype(np.intp)
        return cls(gram, y[used], inner, outer, float(y.max()), tuple(np.array_split(inner, FOLDS)))

    def with_targets(self, targets: Array, top: float) -> Split:
        """The same split for other targets, shape (n,)."""
        return Split(self.gram, targets, self.train, self.test, top, self.folds)

    def part(self, fraction: float) -> Split:
        """The same split with the first share of the training part only; its folds are new."""
        train = self.train[: max(FOLDS, round(fraction * self.train.size))]
        return Split(self.gram, self.targets, train, self.test, self.top, tuple(np.array_split(train, FOLDS)))

    @cached_property
    def validated(self) -> tuple[Array, Array]:
        """Ten-fold cross-validation RMSE / max y on the training part.

        Returns
        -------
        power : Array (29, 8)
            of M-RLSR, over `POWERS` and `REGULARIZATIONS` with λ = 1 as an eighth column.
        ridge : Array (25,)
            of KRR, over `RIDGES`.
        """
        levels = np.append(REGULARIZATIONS, 1.0)
        power, ridge = np.zeros((POWERS.size, levels.size)), np.zeros(RIDGES.size)
        for fold in self.folds:
            seen = HeldOut(self.gram, self.targets, np.setdiff1d(self.train, fold), fold)
            power += seen.fits(POWERS, levels).mean_square * fold.size
            ridge += seen.fits(RIDGE, RIDGES).mean_square[0] * fold.size
        return np.sqrt(power / self.train.size) / self.top, np.sqrt(ridge / self.train.size) / self.top

    @cached_property
    def path(self) -> HeldOut:
        """The ridge path of the training part, seen from the test part."""
        return HeldOut(self.gram, self.targets, self.train, self.test)

    def tested(self, power: float, regularization: float) -> tuple[float, float]:
        """(test RMSE / max y, log λ₂ of the KRR with the same function) of one learner; log λ₂ = ∞ for f = 0."""
        fit = self.path.fits(np.array([power]), np.array([regularization]))
        return math.sqrt(float(fit.mean_square[0, 0])) / self.top, float(fit.log_mu[0, 0]) - math.log(self.train.size)

    def floor(self) -> float:
        """The smallest test RMSE / max y on the whole path: no KRR and no M-RLSR, however tuned, is below it on this split."""
        return math.sqrt(self.path.best()[1]) / self.top


def tuned_ridge(split: Split) -> tuple[float, float]:
    """(test error, λ₂) of KRR with λ₂ by ten-fold cross-validation among 25 values; of equals the largest."""
    lam = last_best(split.validated[1], RIDGES)
    return split.tested(2.0, lam)[0], lam


def tuned_power(split: Split, power: float) -> tuple[float, float, float]:
    """(test error, λ, log λ₂) of M-RLSR(m), m in `POWERS`, with λ by ten-fold cross-validation among 7 values, the largest of equals."""
    row = int(np.flatnonzero(power == POWERS)[0])
    lam = last_best(split.validated[0][row, :-1], REGULARIZATIONS)
    error, ridge = split.tested(power, lam)
    return error, lam, ridge


def last_best(errors: Array, values: Array) -> float:
    """The largest of the values with the smallest error, so that ties at the end of a grid do not pick the most extreme fit."""
    return float(values[np.flatnonzero(errors <= errors.min())[-1]])
