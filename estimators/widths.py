r"""How wide a Gaussian is, for estimators that have no other parameter: by leaving out one point at a time, in closed form.

The prediction of a mean at x_i without the samples at x_i is its prediction less K(x_i, x_i) times their weight. So a width costs one Gram
matrix. The widths μ are those of the default of kernels, whose columns have unit variance, times 4, 2, 1, 1/2, …, 1/128; of equals the
widest is taken. If there are more than MOST distinct points, it is chosen on MOST of them (`leave_one_out`). An object of a subclass of
`WidthRule` may be given as the similarity (docs/extending.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian, Scaled, Similarity, named
from simopt.data.similarities.defaults import DEFAULT_KERNEL, WIDTHS
from simopt.estimators.leave_one_out import points_of


class WidthRule(ABC):
    """A similarity that is chosen from the points and what is to be predicted.

    Attributes
    ----------
    takes_sparse : bool
        whether the points may be a sparse matrix.
    """

    takes_sparse: ClassVar[bool] = False

    @abstractmethod
    def for_classes(self, X: Array, classes: NDArray[np.intp], weights: Array | None, counts: Array | None) -> Similarity:
        """For points X (n, p) of the classes 0, 1, …, (n,).

        `weights` say what a sample counts, also as one of its class, and `counts` without the weights of the classes; None: all the same.
        """

    @abstractmethod
    def for_targets(self, X: Array, y: Array, weights: Array | None, shift: float) -> Similarity:
        """For a mean of targets y (n,) with the weights v_i (K(x, x_i) + shift)."""


@dataclass(frozen=True)
class LeaveOneOutWidth(WidthRule):
    """The Gaussian of standardised columns that errs least at points left out.

    Parameters
    ----------
    widths : tuple of float
        μ to choose from, as multiples of that of the default of kernels; of equals the first is taken.
    """

    takes_sparse: ClassVar[bool] = True

    widths: tuple[float, ...] = WIDTHS

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", tuple(validate.grid("widths", self.widths, low=0.0, strict=True).tolist()))

    def for_classes(self, X: Array, classes: NDArray[np.intp], weights: Array | None, counts: Array | None) -> Similarity:
        """Fewest samples, by weight, in another class than that whose mean, without their point, is most similar to them."""
        points = points_of(X, np.zeros(len(classes)), weights)
        masses = np.zeros((len(points.rows) + 1, int(classes.max()) + 1))
        np.add.at(masses, (points.point, classes), np.ones(len(classes)) if weights is None else weights)
        masses = masses[:-1]
        everything = masses.sum(axis=0)

        def error(K: Array) -> float:
            left = everything - masses
            nearness = np.divide(K @ masses, left, out=np.zeros_like(left), where=left > 0.0) * everything
            return float(masses.sum() - masses[np.arange(len(masses)), np.argmax(nearness, axis=1)].sum())

        return self._best(X, counts, error, points.rows)

    def for_targets(self, X: Array, y: Array, weights: Array | None, shift: float) -> Similarity:
        """Least squared error of the weighted mean of the other points' targets."""
        points = points_of(X, y, weights)
        centre = float(points.sample_weights @ points.targets)
        around = points.targets - centre

        def error(K: Array) -> float:
            """Σ wᵢ (yᵢ − ŷᵢ)², with ŷᵢ the weighted mean of all targets but yᵢ."""
            mass = (K + shift) * points.sample_weights
            np.fill_diagonal(mass, 0.0)
            total = mass.sum(axis=1)
            predicted = np.divide(mass @ around, total, out=np.zeros_like(total), where=total != 0.0)
            return float(points.sample_weights @ np.square(around - predicted))

        return self._best(X, weights, error, points.rows)

    def _best(self, X: Array, weights: Array | None, error: Callable[[Array], float], rows: NDArray[np.intp]) -> Scaled:
        """The one whose Gram matrix on `rows`, with 0 on the diagonal, has the least error."""
        usual = named(DEFAULT_KERNEL, X, weights)
        if not (isinstance(usual, Scaled) and isinstance(usual.base, Gaussian)):
            raise InvalidProblem(f"widths: multiples of a Gaussian's, but the default of kernels is {usual!r}")
        candidates = [Scaled(Gaussian(usual.base.mu * width), usual.factors) for width in self.widths]
        errors = []
        for candidate in candidates:
            K = candidate.gram(X[rows])
            np.fill_diagonal(K, 0.0)
            errors.append(error(K))
        return candidates[int(np.argmin(errors))]


WIDTH_RULES: dict[str, WidthRule] = {"auto": LeaveOneOutWidth()}


def width_rule(similarity: Any) -> WidthRule | None:
    """The rule, or the one of that name; None for a similarity that is chosen otherwise."""
    if isinstance(similarity, str):
        return WIDTH_RULES.get(similarity)
    return similarity if isinstance(similarity, WidthRule) else None
