"""Similarities that fall off with the distance: Gaussian and Laplacian, with the bandwidth rules of the papers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from simopt.arithmetic.sparse import is_sparse
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import distances
from simopt.data.similarities.base import Similarity
from simopt.data.similarities.points import points


def _squarable(X: npt.ArrayLike, weights: npt.ArrayLike | None) -> tuple[Array, Array | None]:
    """Points whose squared distances float64 holds, else a width of 0 or infinity would be chosen; and their weights."""
    given, checked = _weighted(X, weights, sparse=True)
    validate.squarable("inputs", np.asarray(given.data) if is_sparse(given) else given)
    return given, checked


def _weighted(X: npt.ArrayLike, weights: npt.ArrayLike | None, *, sparse: bool = False) -> tuple[Array, Array | None]:
    given = points("inputs", X, sparse=sparse)
    return given, None if weights is None else validate.weights("weights", weights, length=given.shape[0], like="inputs")


@dataclass(frozen=True)
class Gaussian(Similarity):
    r"""K(x, x') = exp(-||x - x'||_2^2 / mu), mu > 0.

    Audiffren and Kadri (appendix E) write it so, with mu the mean squared distance: `Gaussian.mean_squared_distance(X)`.
    Kar and Jain (appendix G) write exp(-||x - x'||^2 / (2 sigma^2)), that is mu = 2 sigma^2, with sigma the mean distance:
    `Gaussian.mean_distance(X)`. PSD for every mu, by Bochner's theorem; between 0 and 1.
    """

    mu: float
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", validate.positive("mu", self.mu))

    @classmethod
    def with_sigma(cls, sigma: float) -> Gaussian:
        """exp(-||x - x'||^2 / (2 sigma^2)), sigma > 0."""
        sigma = validate.positive("sigma", sigma)
        mu = 2.0 * sigma * sigma
        if not 0.0 < mu < math.inf:
            raise InvalidProblem(f"sigma: float64 does not hold the square of {sigma:g}; a number nearer 1 needed, in another unit")
        return cls(mu)

    @classmethod
    def mean_squared_distance(cls, X: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Gaussian:
        """mu = (1/n^2) sum_{i,j} ||x_i - x_j||^2 (Audiffren and Kadri); 1 if all points are equal, where any mu gives K = 1. O(n p)."""
        mu = distances.mean_squared_distance(*_squarable(X, weights))
        return cls(mu if mu > 0 else 1.0)

    @classmethod
    def mean_distance(cls, X: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Gaussian:
        """sigma = mean of ||x_i - x_j|| over pairs i < j (Kar and Jain); 1 if all points are equal, where any sigma gives K = 1.

        The paper says "average pairwise distance"; pairs of a point with itself are left out here, a factor (n - 1)/n. O(n^2 p).
        """
        given, checked = _squarable(X, weights)
        sigma = distances.mean_distance(given, weights=checked)
        return cls.with_sigma(sigma if sigma > 0 else 1.0)

    @property
    def sigma(self) -> float:
        """The sigma of the other parametrisation: sqrt(mu / 2)."""
        return math.sqrt(self.mu / 2.0)

    @property
    def psd(self) -> bool:
        return True

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def takes_sparse(self) -> bool:
        return True

    def values(self, X: Array, Y: Array) -> Array:
        out = distances.squared(X, Y)
        out /= -self.mu
        return np.exp(out, out=out)

    def diagonal_values(self, X: Array) -> Array:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Laplacian(Similarity):
    r"""K(x, x') = exp(-||x - x'||_q / width) with q = `norm`, 1 or 2, and width > 0.

    PSD in both norms: for q = 1 it is a product of exp(-|t| / width) over the coordinates, for q = 2 a mixture of Gaussians.
    """

    width: float
    norm: int = 1
    kind: ClassVar[str] = "laplacian"

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", validate.positive("width", self.width))
        object.__setattr__(self, "norm", validate.choice("norm", validate.whole("norm", self.norm), (1, 2)))

    @classmethod
    def mean_distance(cls, X: npt.ArrayLike, weights: npt.ArrayLike | None = None, *, norm: int = 1) -> Laplacian:
        """width = mean of ||x_i - x_j||_q over pairs i < j; 1 if all points are equal. O(n^2 p)."""
        given, checked = _weighted(X, weights)
        width = distances.mean_distance(given, weights=checked, norm=validate.choice("norm", validate.whole("norm", norm), (1, 2)))
        return cls(width if width > 0 else 1.0, norm)

    @property
    def psd(self) -> bool:
        return True

    @property
    def bound(self) -> float:
        return 1.0

    def values(self, X: Array, Y: Array) -> Array:
        out = distances.manhattan(X, Y) if self.norm == 1 else np.sqrt(distances.squared(X, Y))
        out /= -self.width
        return np.exp(out, out=out)

    def diagonal_values(self, X: Array) -> Array:
        return np.ones(X.shape[0])
