"""Rules that choose the parameters of a similarity from the points. An object of one may stand wherever the name of one may."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.data.similarities.base import Similarity
from simopt.data.similarities.radial import Gaussian
from simopt.data.similarities.scaled import Scaled


class SimilarityRule(ABC):
    """A similarity whose parameters depend on the points.

    Attributes
    ----------
    takes_sparse : bool
        whether the points may be a sparse matrix.
    """

    takes_sparse: ClassVar[bool] = False

    @abstractmethod
    def choose(self, X: Array, weights: Array | None = None) -> Similarity:
        """The similarity for points X (n, p), a frozen array, and their weights (n,), ≥ 0 and not all 0; None where all weigh the same."""

    def __call__(self, X: Array, weights: Array | None = None) -> Similarity:
        return self.choose(X, weights)


@dataclass(frozen=True)
class GaussianWidth(SimilarityRule):
    """K(x, x') = exp(−‖x − x'‖²/μ), μ from a mean distance D of the points.

    Parameters
    ----------
    factor : float
        c > 0 by which the length D is multiplied: c = 2 makes μ four times as large.
    squared : bool
        True: D² is the mean squared distance and μ = (cD)² (Audiffren and Kadri). False: D is the mean distance and μ = 2(cD)², so that
        σ = cD (Kar and Jain).
    standardise : bool
        whether the columns of X are divided by their standard deviations first.
    """

    takes_sparse: ClassVar[bool] = True

    factor: float = 1.0
    squared: bool = True
    standardise: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", validate.positive("factor", self.factor))

    def choose(self, X: Array, weights: Array | None = None) -> Similarity:
        """`Gaussian`, or `Scaled` by the standard deviations."""
        return Scaled.standardised(self._gaussian, X, weights) if self.standardise else self._gaussian(X, weights)

    def _gaussian(self, X: Array, weights: Array | None) -> Gaussian:
        usual = Gaussian.mean_squared_distance(X, weights) if self.squared else Gaussian.mean_distance(X, weights)
        return usual if self.factor == 1.0 else Gaussian(usual.mu * self.factor**2)
