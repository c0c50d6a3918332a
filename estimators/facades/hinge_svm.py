r"""The kernel support vector machine, with and without intercept."""

from __future__ import annotations

from typing import Any, Self

from simopt.estimators.facades.base import TOL, KernelEstimator, flag
from simopt.estimators.facades.two_classes import TwoClassMixin, two_classes
from simopt.ground.arrays import Array
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM


class HingeSVMClassifier(TwoClassMixin, KernelEstimator):
    r"""min_{f,b} (1/n) Σ_i [1 − y_i(f(x_i) + b)]_+ + (λ/2) ‖f‖²_H,   f = Σ_j a_j K(·, x_j),   y_i = ±1;   b = 0 without intercept.

    LIBSVM's C is 1/(nλ). The first of the two sorted labels is −1, the second +1.

    Parameters
    ----------
    similarity : str, Similarity, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.facades.base`.
    regularization : float
        λ > 0.
    fit_intercept : bool
        whether there is a b.
    solver, tol, time_limit
        as for `simopt.solve`.

    Attributes
    ----------
    classes_ : (2,) array
    dual_coef_, intercept_ : (n,) array and float
        a and b.
    similarity_, X_fit_
        K with its parameters and the training points, unless similarities are precomputed.
    certificate_, n_iter_, solution_, n_features_in_

    Source: Cortes & Vapnik 1995; van Rooyen, Menon & Williamson 2015, §3.2; Steinwart, Hush & Scovel 2011 without intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import HingeSVMClassifier
    >>> X = np.array([[0.0], [0.5], [2.5], [3.0]])
    >>> model = HingeSVMClassifier().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[0.2], [2.8]]).tolist(), model.certificate_.closes(1e-8)
    (['low', 'high'], True)
    """

    def __init__(
        self,
        similarity: Any = "gaussian",
        *,
        regularization: float = 1e-3,
        fit_intercept: bool = True,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
    ) -> None:
        self.similarity = similarity
        self.regularization = regularization
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, and labels y (n,) of two kinds.

        Raises
        ------
        InvalidProblem
            for a similarity that is not positive semidefinite (with the eigenvalue), λ ≤ 0, or a single class.
        """
        X, y = self._training(X, y, numeric=False)
        self.classes_, signs = two_classes(y)
        problem = HingeSVM(self._gram(X), signs, Penalty(self.regularization), flag("fit_intercept", self.fit_intercept))
        point = self._solved(problem, self.solver, self.tol, self.time_limit)
        self.dual_coef_, self.intercept_ = point["alpha"], float(point.get("bias", 0.0))
        return self

    def decision_function(self, X: Any) -> Array:
        """f + b at the rows of X, shape (m,); positive for the second class."""
        queries = self._queries(X)
        return self._values(queries, self.dual_coef_) + self.intercept_
