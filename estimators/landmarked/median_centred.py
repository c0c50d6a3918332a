r"""The base of ε-insensitive regression on landmarks, with dense and with sparse weights: features, and targets minus their median."""

from __future__ import annotations

from typing import Any

from simopt.core.arrays import Array
from simopt.estimators.base import LandmarkEstimator
from simopt.estimators.sample_weights import deviation, median
from simopt.estimators.scikit_learn import RegressorMixin


class MedianCentred(RegressorMixin, LandmarkEstimator):
    """f(x) = ⟨w, Ψ(x)⟩ + c with c the median of y: the problem has no intercept, and ε is a tenth of y's standard deviation by default."""

    _loss_of_errors = True

    epsilon: float | None
    intercept_: float
    coef_: Array

    def _fit_centred(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array, Array | None]:
        """The points, y, Ψ and the weights of the samples that have one; sets `intercept_` and `landmark_map_`."""
        X, y = self._training(X, y)
        self._demand_square(X)
        X, y, weights, _ = self._with_weights(X, y, sample_weight)
        psi = self._fit_map(X, weights)
        self.intercept_ = median(y, weights)
        return X, y, psi(self._points(X)), weights

    def _epsilon(self, std: float) -> float:
        """The ε that was given, or a tenth of the targets' standard deviation."""
        return 0.1 * std if self.epsilon is None else self.epsilon

    def predict(self, X: Any) -> Array:
        """⟨w, Ψ(x)⟩ + c at the rows of X, shape (m,)."""
        queries = self._queries(X)
        return self.landmark_map_.predict(self._points(queries), self.coef_) + self.intercept_


def scale_of(y: Array, weights: Array | None) -> float:
    """The standard deviation of y, or 1 if that is 0."""
    return deviation(y, weights) or 1.0
