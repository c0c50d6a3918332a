r"""Kernel regression of Nadaraya and Watson: a weighted mean of the targets."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Self

import numpy as np

from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.data.similarities.defaults import DEFAULT_OF_MEANS
from simopt.estimators.base import SimilarityEstimator, some_of
from simopt.estimators.scikit_learn import RegressorMixin, check_is_fitted
from simopt.estimators.widths import width_rule
from simopt.problems.domains.weighted_mean import weighted_means
from simopt.problems.kernel_regression import KernelRegression
from simopt.solvers.squares.kernel_regression import NadarayaWatson
from simopt.solving.entry_points import certify

MEAN = "mean"


class NadarayaWatsonRegressor(RegressorMixin, SimilarityEstimator):
    r"""f(x) = Σ_i y_i (K(x, x_i) + s) / Σ_i (K(x, x_i) + s), which for positive weights minimises Σ_i (K(x, x_i) + s)(c − y_i)² over c.

    There is nothing to train: `fit` keeps the samples, and one step is all that it counts. K and −K give the same f. Where the weights are
    negative, as for −‖x − x'‖₁ and s = 0, the points that are least similar weigh most. A shift s that makes them positive mends that.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, which need not be positive semidefinite; see `simopt.estimators.base`; by default ("auto") a Gaussian of the standardised
        columns, of the width that errs least at points left out (`simopt.estimators.widths`).
    shift : float
        s.
    fallback : "mean", float or None
        f(x) where the weights sum to 0, to rounding: the mean of y, a number, or an error (None).

    Attributes
    ----------
    y_fit_, weights_fit_ : (n,) array; and another, or None where all samples weigh the same
    similarity_, X_fit_
        K with its parameters and the training points (their similarities, if those are precomputed).
    certificate_ : Certificate
        of the predictions at the training points; n² similarities, computed when it is asked for. `certify` does it for any queries.
    n_iter_, n_features_in_

    Source: Nadaraya 1964; Watson 1964; Kar & Jain 2012, §4, the baseline KR.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import NadarayaWatsonRegressor
    >>> from simopt.data.similarities import Gaussian
    >>> X = np.linspace(-3.0, 3.0, 60)[:, None]
    >>> model = NadarayaWatsonRegressor(Gaussian(0.1)).fit(X, np.sin(X[:, 0]))
    >>> model.certificate_.closes(1e-12), model.score(X, np.sin(X[:, 0])) > 0.9
    (True, True)
    """

    def __init__(self, similarity: Any = DEFAULT_OF_MEANS, *, shift: float = 0.0, fallback: Any = MEAN) -> None:
        self.similarity = similarity
        self.shift = shift
        self.fallback = fallback

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # the mean distance, which is the paper's width, blurs what ten noisy coordinates hide; other widths are judged
        tags.regressor_tags.poor_score = isinstance(self.similarity, str) and width_rule(self.similarity) is None
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Keep X (n, p), or n × n similarities, y (n,) and weights v ≥ 0 (n,), by which the K(x, x_i) + s are multiplied."""
        X, y = self._training(X, y)
        self._demand_square(X)
        X, y, weights, _ = self._with_weights(X, y, sample_weight)
        self.X_fit_, self.y_fit_, self.weights_fit_ = np.array(X), np.array(y), weights
        if not self._precomputed:
            self.similarity_ = self._chosen_for(X, y, weights)
        self.n_iter_ = 1
        return self

    def _chosen_for(self, X: Array, y: Array, weights: Array | None) -> Any:
        """The similarity, with its parameters chosen from few of many samples if it is given by name."""
        few = some_of(len(X))
        some = None if weights is None else weights[few]
        if (rule := width_rule(self.similarity)) is not None:
            return rule.for_targets(X[few], y[few], some, validate.finite("shift", self.shift))
        return self._chosen(X[few], some)

    def predict(self, X: Any) -> Array:
        """f at the rows of X, shape (m,).

        Raises
        ------
        InvalidProblem
            without a fallback, where the weights of a query sum to 0.
        """
        check_is_fitted(self)
        queries = self._queries(X)
        shift = validate.finite("shift", self.shift)
        power = int(np.frexp(np.max(np.abs(self.y_fit_)))[1])  # of two: the targets near 1, since sums overflow where means do not
        y = np.ldexp(self.y_fit_, -power)
        fallback = self._fallback(y, power)
        if self._precomputed:
            means = weighted_means((queries + shift) * self._mass, y, fallback=fallback)
        else:
            means = NadarayaWatson(self.similarity_, self.X_fit_, y, shift, fallback, self.weights_fit_)(queries)
        out: Array = np.ldexp(means, power)
        return out

    @property
    def _mass(self) -> Array:
        return np.ones(len(self.y_fit_)) if self.weights_fit_ is None else self.weights_fit_

    def _fallback(self, y: Array, power: int) -> float | None:
        """In units of 2^power, as y is."""
        if isinstance(self.fallback, str) and self.fallback == MEAN:
            return float(np.average(y, weights=self._mass))
        return None if self.fallback is None else math.ldexp(validate.finite("fallback", self.fallback), -power)

    def certify(self, X: Any) -> Certificate:
        """Bounds on the optimum of the problem whose solution is the predictions at the rows of X; it holds m × n similarities.

        Raises
        ------
        InvalidProblem
            for queries whose weights sum to 0, of which the problem has no solution.
        """
        predicted = self.predict(X)
        queries = self._queries(X)
        values = queries if self._precomputed else np.asarray(self.similarity_(queries, self.X_fit_), dtype=np.float64)
        return certify(KernelRegression((values + self.shift) * self._mass, self.y_fit_), {"c": predicted})

    @cached_property
    def certificate_(self) -> Certificate:
        """The certificate of the predictions at the training points."""
        check_is_fitted(self)
        return self.certify(self.X_fit_)
