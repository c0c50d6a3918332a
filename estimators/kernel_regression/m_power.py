r"""M-RLSR: kernel least squares with a power of the norm as penalty."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from simopt.core.arrays import Array
from simopt.data.similarities.defaults import DEFAULT_KERNEL
from simopt.estimators.base import TOL, KernelEstimator, flag
from simopt.estimators.leave_one_out import points_of, ridge_of_gram
from simopt.estimators.scikit_learn import RegressorMixin
from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty, weighted


class MPowerRegressor(RegressorMixin, KernelEstimator):
    r"""min_f (1/n) Σ_i (f(x_i) + c − y_i)² + λ ‖f‖_H^m,   f = Σ_j a_j K(·, x_j);   c = 0 or the mean of y.

    m = 2 is kernel ridge regression. For every data set each m ≥ 1 gives the same functions, at other λ (weak equivalence); how λ has to
    move with the data is what differs. So λ is chosen for m = 2, by leaving one point out in closed form
    (`simopt.estimators.leave_one_out`), and what gives the same function for m is λ = 2 λ₂ ‖f‖^{2−m}/m.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, positive semidefinite; see `simopt.estimators.base`.
    power : float
        m ≥ 1.
    regularization : float, optional
        λ > 0; by default the one of least squared error at points left out.
    fit_intercept : bool, optional
        whether c is the mean of y; by default where λ is chosen, so that a λ that is given means what it means without c.
    solver, tol, time_limit
        as for `simopt.solve`.

    Attributes
    ----------
    dual_coef_ : (n,) array
        the coefficients a.
    regularization_, intercept_ : float
        λ and c.
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
    >>> 0.0 < MPowerRegressor().fit(X, np.sin(X[:, 0])).regularization_ < 1e-3
    True
    """

    _loss_of_errors = True

    def __init__(
        self,
        similarity: Any = DEFAULT_KERNEL,
        *,
        power: float = 1.5,
        regularization: float | None = None,
        fit_intercept: bool | None = None,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
    ) -> None:
        self.similarity = similarity
        self.power = power
        self.regularization = regularization
        self.fit_intercept = fit_intercept
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
        X, y, weights, _ = self._with_weights(X, y, sample_weight)
        power = PowerPenalty(1.0, self.power).power  # a number > 0
        gram = self._gram(X, weights)
        centred = self.regularization is None if self.fit_intercept is None else flag("fit_intercept", self.fit_intercept)
        self.intercept_ = float(np.average(y, weights=weights)) if centred else 0.0
        self.regularization_ = self._strength(X, y, gram, weights, power) if self.regularization is None else self.regularization
        targets, bound = y - self.intercept_, PowerPenalty(self.regularization_, power)
        problem, stretch = (MPowerRLS(gram, targets, bound), 1.0) if weights is None else weighted(gram, targets, bound, weights)
        self.dual_coef_ = stretch * self._solved(problem, self.solver, self.tol, self.time_limit)["alpha"]
        return self

    def _strength(self, X: Array, y: Array, gram: Array, weights: Array | None, power: float) -> float:
        """λ for m, from the ridge of least error at points left out."""
        points = points_of(X, y, weights)
        ridge = ridge_of_gram(gram[np.ix_(points.rows, points.rows)], points, self.intercept_ != 0.0)
        strength = ridge.regularization * len(points.rows) / points.whole
        return strength * (2.0 * ridge.norm ** (2.0 - power) / power if ridge.norm > 0.0 else 1.0)

    def predict(self, X: Any) -> Array:
        """f at the rows of X, shape (m,)."""
        queries = self._queries(X)
        return self._values(queries, self.dual_coef_) + self.intercept_
