r"""M-RLSR: kernel least squares with a power of the norm as penalty."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from simopt.estimators.facades.base import TOL, KernelEstimator
from simopt.ground.arrays import Array
from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty, weighted


class MPowerRegressor(RegressorMixin, KernelEstimator):
    r"""min_f (1/n) Σ_i (f(x_i) − y_i)² + λ ‖f‖_H^m,   f = Σ_j a_j K(·, x_j).

    m = 2 is kernel ridge regression. For every data set each m ≥ 1 gives the same functions, at other λ (weak equivalence); how λ has to
    move with the data is what differs. There is no intercept: centre y if it is far from 0.

    Parameters
    ----------
    similarity : str, Similarity, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.facades.base`.
    power : float
        m ≥ 1.
    regularization : float
        λ > 0.
    solver, tol, time_limit
        as for `simopt.solve`.

    Attributes
    ----------
    dual_coef_ : (n,) array
        a.
    similarity_, X_fit_
        K with its parameters and the training points, unless similarities are precomputed.
    certificate_, n_iter_, solution_, n_features_in_
        with weights `solution_` has the coefficients a_i/√(n p_i) (`simopt.problems.m_power_rls.weighted`).

    Source: Audiffren & Kadri 2014, equation (8).

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import MPowerRegressor
    >>> X = np.linspace(-3.0, 3.0, 40)[:, None]
    >>> model = MPowerRegressor(power=1.5, regularization=1e-3).fit(X, np.sin(X[:, 0]))
    >>> model.certificate_.closes(1e-6), model.score(X, np.sin(X[:, 0])) > 0.99
    (True, True)
    """

    def __init__(
        self,
        similarity: Any = "gaussian",
        *,
        power: float = 1.5,
        regularization: float = 1e-2,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
    ) -> None:
        self.similarity = similarity
        self.power = power
        self.regularization = regularization
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, y (n,) and weights ≥ 0 (n,), whose shares stand in place of 1/n.

        Raises
        ------
        InvalidProblem
            for a similarity that is not positive semidefinite (with the eigenvalue), λ ≤ 0 or m < 1.
        """
        X, y = self._training(X, y)
        X, y, weights, _ = self._weighed(X, y, sample_weight)
        gram, bound = self._gram(X, weights), PowerPenalty(self.regularization, self.power)
        problem, stretch = (MPowerRLS(gram, y, bound), 1.0) if weights is None else weighted(gram, y, bound, weights)
        self.dual_coef_ = stretch * self._solved(problem, self.solver, self.tol, self.time_limit)["alpha"]
        return self

    def predict(self, X: Any) -> Array:
        """f at the rows of X, shape (m,)."""
        queries = self._queries(X)
        return self._values(queries, self.dual_coef_)
