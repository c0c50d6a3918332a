r"""ε-insensitive regression on few of many landmarks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from simopt.data.similarities.defaults import DEFAULT_ON_LANDMARKS
from simopt.estimators.base import TOL
from simopt.estimators.landmarked.median_centred import MedianCentred, scale_of
from simopt.estimators.leave_one_out import radius_for
from simopt.problems.sparse_landmarked import SparseLandmarked


class SparseLandmarkedSVRegressor(MedianCentred):
    r"""min_w (1/n) Σ_i ℓ̃_β(⟨w, Ψ(x_i)⟩ + c − y_i)   subject to   ‖w‖₁ ≤ B;   f(x) = ⟨w, Ψ(x)⟩ + c.

    ℓ̃_β(r) = min_v βv²/2 + max(|r − v| − ε, 0) is the ε-insensitive loss, smoothed (β = ∞: as it is). A bound on the sum of the absolute
    weights leaves few landmarks with weight: f rests on `selected_` alone, though `predict` compares with all. c is the median of y.

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, see `simopt.estimators.base`.
    landmarks : int or (d, p) array
        as for `LandmarkedSVRegressor`; those to choose from.
    radius : float, optional
        B > 0; by default ‖w‖₁ of the ridge regression of least squared error at points left out
        (`simopt.estimators.leave_one_out`).
    epsilon : float, optional
        as for `LandmarkedSVRegressor`.
    smoothness : float, optional
        β > 0, possibly ∞; by default 1/β is a tenth of the standard deviation of y.
    solver, tol, time_limit, random_state
        as for `LandmarkedSVRegressor`.

    Attributes
    ----------
    coef_, intercept_ : (d,) array and float
        w and c.
    radius_ : float
        B.
    landmark_map_, certificate_, n_iter_, solution_, n_features_in_
        as for `LandmarkedSVRegressor`.

    Source: Kar & Jain 2012, Equation 2 and Appendix D.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import SparseLandmarkedSVRegressor
    >>> X = np.linspace(-3.0, 3.0, 60)[:, None]
    >>> model = SparseLandmarkedSVRegressor(landmarks=60, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.certificate_.closes(1e-6), len(model.selected_) < 30
    (True, True)
    """

    def __init__(
        self,
        similarity: Any = DEFAULT_ON_LANDMARKS,
        *,
        landmarks: Any = None,
        radius: float | None = None,
        epsilon: float | None = None,
        smoothness: float | None = None,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.landmarks = landmarks
        self.radius = radius
        self.epsilon = epsilon
        self.smoothness = smoothness
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or n × n similarities, y (n,) and weights ≥ 0 (n,), whose shares stand in place of 1/n."""
        X, y, features, weights = self._fit_centred(X, y, sample_weight)
        std = scale_of(y, weights)
        self.radius_ = radius_for(X, features, y, weights, norm=lambda w: np.linalg.norm(w, 1)) if self.radius is None else self.radius
        problem = SparseLandmarked(
            features,
            y - self.intercept_,
            self.radius_,
            self._epsilon(std),
            10.0 / std if self.smoothness is None else self.smoothness,
            weights,
        )
        self.coef_ = self._solved(problem, self.solver, self.tol, self.time_limit)["w"]
        return self

    @property
    def selected_(self) -> NDArray[np.intp]:
        """Which landmarks have weight."""
        return np.flatnonzero(self.coef_)
