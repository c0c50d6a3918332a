r"""ε-insensitive support vector regression on landmarks, dense weights."""

from __future__ import annotations

from typing import Any, Self

from simopt.core.arrays import Array
from simopt.data.similarities.defaults import DEFAULT_ON_LANDMARKS
from simopt.estimators.base import TOL
from simopt.estimators.landmarked.landmark_predictor import demand_one_bound
from simopt.estimators.landmarked.median_centred import MedianCentred, scale_of
from simopt.estimators.leave_one_out import radius_for
from simopt.model.problem import Problem
from simopt.problems.bounds import Ball, Bound, Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR


class LandmarkedSVRegressor(MedianCentred):
    r"""min_w (1/n) Σ_i max(|⟨w, Ψ(x_i)⟩ + c − y_i| − ε, 0)   subject to ‖w‖ ≤ B, or with + (λ/2)‖w‖²;   f(x) = ⟨w, Ψ(x)⟩ + c.

    Ψ(x) = d^{-1/2} (K(x, l_1), …, K(x, l_d)); K may be any similarity, symmetric or not, positive semidefinite or not. c is the median
    of y: the problem has no intercept.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, see `simopt.estimators.base`.
    landmarks : int or (d, p) array
        how many are drawn from the training points (all of fewer), or the landmarks themselves; by default
        `simopt.estimators.base.usual_number` of them, 300 for up to 900 points.
    radius, regularization : float, optional
        B or λ, not both; by default B is as long as w of the ridge regression of least squared error at points left out
        (`simopt.estimators.leave_one_out`).
    epsilon : float, optional
        ε ≥ 0, in the units of y; by default a tenth of its standard deviation.
    solver, tol, time_limit
        as for `simopt.solve`; by default the best solver that the problem has, and where its certificate stays open the next one.
    random_state : int, RandomState or None
        of the draw of landmarks.

    Attributes
    ----------
    coef_, intercept_ : (d,) array and float
        w and c.
    radius_ : float or None
        B, where ‖w‖ is not penalised.
    landmark_map_ : LandmarkMap
        Ψ; `landmark_indices_` are the landmarks' columns where similarities are precomputed.
    certificate_, n_iter_, solution_
        bounds on the optimum, iterations, and the whole `Solution`.
    n_features_in_ : int

    Source: Kar & Jain 2012, Algorithm 1 with §3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import LandmarkedSVRegressor
    >>> X = np.linspace(-3.0, 3.0, 60)[:, None]
    >>> model = LandmarkedSVRegressor("manhattan", landmarks=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.certificate_.closes(1e-6), model.score(X, np.sin(X[:, 0])) > 0.9
    (True, True)
    """

    def __init__(
        self,
        similarity: Any = DEFAULT_ON_LANDMARKS,
        *,
        landmarks: Any = None,
        radius: float | None = None,
        regularization: float | None = None,
        epsilon: float | None = None,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.landmarks = landmarks
        self.radius = radius
        self.regularization = regularization
        self.epsilon = epsilon
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or n × n similarities, y (n,) and weights ≥ 0 (n,), whose shares stand in place of 1/n.

        Raises
        ------
        InvalidProblem
            for both B and λ, and for what the problem refuses.
        """
        X, y, features, weights = self._fit_centred(X, y, sample_weight)
        self.radius_ = self.radius
        if self.radius is None and self.regularization is None:
            self.radius_ = radius_for(X, features, y, weights)
        problem = self._problem(features, y - self.intercept_, scale_of(y, weights), weights)
        self.coef_ = self._solved(problem, self.solver, self.tol, self.time_limit)["w"]
        return self

    def _problem(self, features: Array, targets: Array, std: float, weights: Array | None = None) -> Problem:
        demand_one_bound(self.radius, self.regularization)
        radius: Any = getattr(self, "radius_", self.radius)
        bound: Bound = Ball(radius) if self.regularization is None else Penalty(self.regularization)
        return LandmarkedSVR(features, targets, bound, self._epsilon(std), weights=weights)
