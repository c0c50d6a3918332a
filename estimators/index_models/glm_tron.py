r"""GLM-tron: a generalised linear model with a known transfer function, by its matching loss."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from simopt.core.arrays import Array
from simopt.estimators.base import TOL, KernelEstimator, flag
from simopt.estimators.index_models.index_scaling import TargetRange, is_linear, largest_length
from simopt.estimators.one_fit import warn
from simopt.estimators.scikit_learn import RegressorMixin
from simopt.problems.matching_loss import MatchingLoss
from simopt.problems.norms.gram_factor import factor_of

RADIUS = 10.0  # W by default
ACTIVE = 1e-6  # of the radius: how near w is where the ball is active


class GLMTronRegressor(RegressorMixin, KernelEstimator):
    r"""min over ‖w‖ ≤ W of (1/n) Σ_i U(⟨w, z_i⟩) − t_i⟨w, z_i⟩,   U' = u,   z_i = (x_i, 1)/κ,  t_i ∈ [0, 1];   f(x) = u(⟨w, z⟩).

    U is convex since the transfer function u does not fall, and GLM-tron's step w + (η/n) Σ (t_i − u(⟨w, z_i⟩)) z_i is one of gradient
    descent on this loss. Here κ = max ‖(x_i, 1)‖, and t is y mapped to [0, 1] (and f back), as the paper supposes. With a similarity, x
    stands for φ(x), K(x, x') = ⟨φ(x), φ(x')⟩.

    Parameters
    ----------
    transfer : str
        u: "identity", "logistic", "probit" or "clipped".
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, positive semidefinite; "linear" is the model in x itself.
    radius : float, optional
        W > 0, in the units of z; by default 10.
    fit_intercept : bool
        whether z has the coordinate 1.
    target_range : pair of floats, optional
        what becomes [0, 1]; by default [0, 1] itself if it holds y, else from the least to the greatest y. Not used by the identity.
    solver : str, optional
        "glm-tron" (its steps, projected, of the length that always descends), "newton", or a back end; by default the fastest.
    tol, time_limit
        as for `simopt.solve`. GLM-tron's error falls as 1/t at worst: ask it for 1e-4, not for 1e-8.

    Attributes
    ----------
    coef_, dual_coef_, intercept_
        f(x) = u(⟨coef_, x⟩ + intercept_) of a linear model, u(Σ_j dual_coef_j K(x, x_j) + intercept_) of others.
    ball_active_ : bool
        whether ‖w‖ = W, so that another radius is another fit; a warning says so where the radius is the default.
    target_range_, link_ : TargetRange and Integrated
        the range, and u with its integral U.
    similarity_, X_fit_
        K with its parameters and the training points, unless the model is linear or similarities are precomputed.
    certificate_, n_iter_, solution_, n_features_in_

    Source: Kakade, Kalai, Kanade & Shamir 2011, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import GLMTronRegressor
    >>> X = np.linspace(-3.0, 3.0, 50)[:, None]
    >>> y = 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))
    >>> model = GLMTronRegressor(radius=50.0).fit(X, y)
    >>> model.certificate_.closes(1e-6), bool(abs(model.coef_[0] - 2.0) < 0.1)
    (True, True)
    """

    of_points = False

    def __init__(
        self,
        transfer: str = "logistic",
        *,
        similarity: Any = "linear",
        radius: float | None = None,
        fit_intercept: bool = True,
        target_range: Any = None,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
    ) -> None:
        self.transfer = transfer
        self.similarity = similarity
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.target_range = target_range
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or the n × n Gram matrix, y (n,) and weights ≥ 0 (n,), whose shares stand in place of 1/n.

        Raises
        ------
        InvalidProblem
            for a similarity that is not positive semidefinite, W ≤ 0, or targets outside of the range given.
        """
        X, y = self._training(X, y)
        X, y, weights, _ = self._with_weights(X, y, sample_weight)
        self.target_range_ = TargetRange(0.0, 1.0) if self.transfer == "identity" else TargetRange.of(y, self.target_range)
        factor = None if is_linear(self.similarity) else factor_of(self._gram(X, weights))
        features = X if factor is None else factor.matrix
        if flag("fit_intercept", self.fit_intercept):
            features = np.column_stack([features, np.ones(len(X))])
        unit = largest_length(features)
        W = RADIUS if self.radius is None else self.radius
        problem = MatchingLoss(features / unit, self.target_range_.down(y), self.transfer, W, weights)
        inside = self._solved(problem, self.solver, self.tol, self.time_limit)["w"]
        self.ball_active_ = bool(np.linalg.norm(inside) >= problem.radius * (1.0 - ACTIVE))
        if self.ball_active_ and self.radius is None:
            warn(f"GLMTronRegressor: the ball ‖w‖ ≤ {W:g} is active and holds the fit back; choose a radius", UserWarning)
        w = inside / unit
        self.link_ = problem.link
        self.intercept_ = float(w[-1]) if self.fit_intercept else 0.0
        slopes = w[:-1] if self.fit_intercept else w
        if factor is None:
            self.coef_ = slopes
        else:
            r = factor.rank
            self.dual_coef_ = factor.vectors[:, :r] @ (slopes[:r] / np.sqrt(factor.values[:r]))
        return self

    def predict(self, X: Any) -> Array:
        """f at the rows of X, shape (m,)."""
        queries = self._queries(X)
        scores = queries @ self.coef_ if is_linear(self.similarity) else self._values(queries, self.dual_coef_)
        return self.target_range_.up(self.link_.transfer(scores + self.intercept_))
