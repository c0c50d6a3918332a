r"""The kernel support vector machine, with and without intercept."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from simopt.core.arrays import Array, Point
from simopt.data.similarities.defaults import DEFAULT_KERNEL
from simopt.estimators.base import TOL, KernelEstimator, flag
from simopt.estimators.one_against_rest import OneAgainstRestMixin, joined, signs_of_classes
from simopt.estimators.sample_weights import distinct
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM

COST = 10.0  # C by default, where the mean of K(x, x) is 1


class HingeSVMClassifier(OneAgainstRestMixin, KernelEstimator):
    r"""min_{f,b} (1/n) Σ_i [1 − y_i(f(x_i) + b)]_+ + (λ/2) ‖f‖²_H,   f = Σ_j a_j K(·, x_j),   y_i = ±1;   b = 0 without intercept.

    LIBSVM's C is 1/(nλ). The first of two sorted labels is −1, the second +1; of more, each against the rest, whose f + b are compared.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.base`.
    regularization : float, optional
        λ > 0; by default κ/(10n), κ the mean of K(x_i, x_i) and n the number of distinct points: C = 10 where κ = 1.
    fit_intercept : bool
        whether there is a b.
    class_weight : "balanced" or dict, optional
        by label, what the weights of its samples are multiplied by; "balanced": so that all classes weigh the same.
    solver, tol, time_limit
        as for `simopt.solve`, of each problem.

    Attributes
    ----------
    classes_ : (k,) array
    support_ : (s,) array
        the samples with a_j ≠ 0, those on the margin or inside it, in any of the problems.
    dual_coef_, intercept_ : (s,) array and float; of k > 2 classes (s, k) and (k,) arrays
        their a_j, and b.
    regularization_ : float
        λ.
    similarity_, X_fit_
        K with its parameters and these samples' points, unless similarities are precomputed.
    certificates_, certificate_, n_iter_, solution_, n_features_in_
        the certificates of all problems, and the one with the largest gap; iterations of all; the `Solution` of the last problem.

    Source: Cortes & Vapnik 1995; van Rooyen, Menon & Williamson 2015, §3.2; Steinwart, Hush & Scovel 2011 without intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import HingeSVMClassifier
    >>> X = np.array([[0.0], [0.5], [2.5], [3.0]])
    >>> model = HingeSVMClassifier().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.2], [2.8]]).tolist(), model.certificate_.closes(1e-6)
    (['low', 'high'], True)
    """

    def __init__(
        self,
        similarity: Any = DEFAULT_KERNEL,
        *,
        regularization: float | None = None,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
    ) -> None:
        self.similarity = similarity
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, labels y (n,) of two kinds or more, and weights ≥ 0 (n,).

        The share w_i/Σ w of a sample stands in place of 1/n.

        Raises
        ------
        InvalidProblem
            for a similarity that is not positive semidefinite (with the eigenvalue), λ ≤ 0, or a single class.
        """
        X, y = self._training(X, y, numeric=False)
        X, y, weights, counts = self._with_weights(X, y, sample_weight, self.class_weight)
        self.classes_, every = signs_of_classes(y, weights)
        gram, intercept = self._gram(X, counts), flag("fit_intercept", self.fit_intercept)
        self.regularization_ = self._strength(X, gram, weights) if self.regularization is None else self.regularization
        bound = Penalty(self.regularization_)

        def fit(signs: Array) -> Point:
            return self._solved(HingeSVM(gram, signs, bound, intercept, weights), self.solver, self.tol, self.time_limit)

        points = self._one_by_one(every, fit)
        self._keep(joined([point["alpha"] for point in points]))
        biases = [float(point.get("bias", 0.0)) for point in points]
        self.intercept_ = biases[0] if len(biases) == 1 else np.array(biases)
        return self

    def _strength(self, X: Array, gram: Array, weights: Array | None) -> float:
        """κ/(C n) of the distinct points."""
        counted = np.arange(X.shape[0]) if weights is None else np.flatnonzero(weights)
        rows = counted[distinct(X[counted])]
        return (float(np.diagonal(gram)[rows].mean()) or 1.0) / (COST * len(rows))

    def decision_function(self, X: Any) -> Array:
        """f + b at the rows of X, shape (m,), positive for the second class; of k > 2 classes all of them, shape (m, k)."""
        queries = self._queries(X)
        return self._values(queries[:, self.support_] if self._precomputed else queries, self.dual_coef_) + self.intercept_
