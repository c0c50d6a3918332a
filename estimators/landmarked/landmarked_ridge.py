r"""Ridge regression on landmarks, ‖w‖² penalised or ‖w‖ bounded."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from simopt.core.arrays import Array
from simopt.data.similarities.defaults import DEFAULT_ON_LANDMARKS
from simopt.estimators.base import TOL, Certified, flag
from simopt.estimators.landmarked.landmark_choice import LandmarkSelection
from simopt.estimators.landmarked.landmark_predictor import demand_one_bound
from simopt.estimators.landmarked.selected_landmarks import SelectedLandmarks
from simopt.estimators.leave_one_out import points_of, ridge_of_features
from simopt.estimators.scikit_learn import RegressorMixin
from simopt.problems.bounds import Ball, Ridge
from simopt.problems.landmarked_least_squares import LandmarkedLeastSquares


def mean_square(features: Array, weights: Array | None = None) -> float:
    """Σ p_i ‖ψ_i‖², p = 1/n or shares; 1 where it is 0."""
    return float(np.average(np.einsum("ij,ij->i", features, features), weights=weights)) or 1.0


class LandmarkedRidgeRegressor(RegressorMixin, Certified, SelectedLandmarks):
    r"""min_{w,c} (1/n) Σ_i (⟨w, Ψ(x_i)⟩ + c − y_i)² + λ‖w‖²,   or subject to ‖w‖ ≤ B;   f(x) = ⟨w, Ψ(x)⟩ + c.

    The best c for each w is the mean of y − ⟨w, Ψ(x)⟩. So w is fitted to y and Ψ less their means, and the certificate is of that. With
    `whiten` and all points as landmarks it is kernel ridge regression (scikit-learn's `alpha` is nλ) with an intercept.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, see `simopt.estimators.base`.
    landmarks, selection, whiten, random_state
        the features, as for `LandmarkTransformer`.
    regularization, radius : float, optional
        λ or B, not both; by default the λ of least squared error at points left out (`simopt.estimators.leave_one_out`).
    fit_intercept : bool
        whether there is a c.
    solver, tol, time_limit
        as for `simopt.solve`.

    Attributes
    ----------
    coef_, intercept_ : (d,) array and float
        w and c.
    regularization_ : float or None
        λ, where ‖w‖ is not bounded.
    landmark_map_, landmark_indices_, whitening_
        as for `LandmarkTransformer`.
    certificate_, n_iter_, solution_, n_features_in_

    Source: Kar & Jain 2012, Algorithm 1 with the squared loss; Hoerl & Kennard 1970.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import LandmarkedRidgeRegressor
    >>> X = np.linspace(-3.0, 3.0, 60)[:, None]
    >>> model = LandmarkedRidgeRegressor("manhattan", landmarks=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.certificate_.closes(1e-6), model.score(X, np.sin(X[:, 0])) > 0.9
    (True, True)
    """

    _loss_of_errors = True

    def __init__(
        self,
        similarity: Any = DEFAULT_ON_LANDMARKS,
        *,
        landmarks: Any = None,
        selection: str | LandmarkSelection = "random",
        whiten: bool = False,
        regularization: float | None = None,
        radius: float | None = None,
        fit_intercept: bool = True,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.landmarks = landmarks
        self.selection = selection
        self.whiten = whiten
        self.regularization = regularization
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or n × n similarities, y (n,) and weights ≥ 0 (n,), whose shares stand in place of 1/n.

        With shares p the problem is that of means of the rows √(n p_i) (ψ_i, y_i), and the certificate is of that.

        Raises
        ------
        InvalidProblem
            for both λ and B, and for what the features or the problem refuse.
        """
        X, y = self._training(X, y)
        demand_one_bound(self.radius, self.regularization)
        self._demand_square(X)
        X, y, weights, _ = self._with_weights(X, y, sample_weight)
        whole = self._fit_features(X, weights)
        features, middle, targets, height = self._centred(whole, y, weights)
        strength: Any = self.regularization
        if strength is None and self.radius is None:
            points = points_of(X, y, weights)
            strength = ridge_of_features(whole[points.rows], points, self.fit_intercept) * len(points.rows) / points.whole
        self.regularization_ = strength
        bound = Ball(self.radius) if self.radius is not None else Ridge(strength)
        self.coef_ = self._solved(LandmarkedLeastSquares(features, targets, bound), self.solver, self.tol, self.time_limit)["w"]
        self.intercept_ = height - float(middle @ self.coef_)
        return self

    def _centred(self, features: Array, y: Array, weights: Array | None) -> tuple[Array, Array, Array, float]:
        """Features and targets less their means, times √(n p_i), and the means; without intercept they are 0."""
        middle, height = np.zeros(features.shape[1]), 0.0
        if flag("fit_intercept", self.fit_intercept):
            middle, height = np.average(features, axis=0, weights=weights), float(np.average(y, weights=weights))
            features, y = features - middle, y - height
        if weights is not None:
            stretch = np.sqrt(len(y) * (weights / weights.sum()))
            features, y = features * stretch[:, None], y * stretch
        return features, middle, y, height

    def predict(self, X: Any) -> Array:
        """⟨w, Ψ(x)⟩ + c at the rows of X, shape (m,)."""
        queries = self._queries(X)
        weights = self.coef_ if self.whitening_ is None else self.whitening_ @ self.coef_
        return self.landmark_map_.predict(self._points(queries), weights) + self.intercept_
