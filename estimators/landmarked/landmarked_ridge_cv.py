r"""Ridge regression on landmarks that chooses λ or B by cross-validation, the whole grid of a fold from one SVD."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.data.similarities.defaults import DEFAULT_ON_LANDMARKS
from simopt.estimators.cross_validation.selection import Candidate, CandidatePredictions, Fold, SelectedByFolds
from simopt.estimators.landmarked.landmark_choice import LandmarkSelection
from simopt.estimators.landmarked.landmarked_ridge import LandmarkedRidgeRegressor, mean_square
from simopt.estimators.landmarked.selected_landmarks import SelectedLandmarks
from simopt.estimators.scikit_learn import RegressorMixin
from simopt.solvers.squares.landmarked import singular_system


@dataclass(eq=False, repr=False, kw_only=True)
class LandmarkedRidgeCV(RegressorMixin, SelectedByFolds, SelectedLandmarks):
    r"""λ, or B, of least cross-validated error for min_{w,c} (1/n) Σ_i (⟨w, Ψ(x_i)⟩ + c − y_i)² + λ‖w‖²,   or subject to ‖w‖ ≤ B.

    It finds what GridSearchCV over `LandmarkedRidgeRegressor` does, on the same folds and the same grid. A fold costs one QR and one SVD of
    its features, 2 n d² + O(d³) flops, and O(d²) for each λ or B.

    Parameters
    ----------
    similarity, landmarks, selection, whiten, fit_intercept, random_state
        as for `LandmarkedRidgeRegressor`; landmarks are chosen in each training part. Give a `random_state`: with None they are other ones
        for each fold and for the last fit.
    regularizations : int or array
        the λ to choose from; or how many, at equal ratios from 1 down to 1e-10 times the mean of ‖Ψ(x_i) − Ψ̄‖².
    radii : array, optional
        the B to choose from; then there is no λ.
    cv, scoring, n_jobs, solver, tol, time_limit
        as for `simopt.estimators.cross_validation.selection.SelectedByFolds`.

    Attributes
    ----------
    regularization_ or radius_ : float
        λ or B, chosen.
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        as in GridSearchCV.
    coef_, intercept_, landmark_map_, whitening_, certificate_, n_iter_, solution_, n_features_in_
        of `best_estimator_`, the fit to all samples.

    Source: Kar & Jain 2012, Algorithm 1 with the squared loss; Hoerl & Kennard 1970.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import LandmarkedRidgeCV
    >>> X = np.random.default_rng(0).uniform(-3.0, 3.0, size=(60, 1))
    >>> model = LandmarkedRidgeCV(landmarks=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> len(model.cv_results_["params"]), model.best_score_ > 0.99, model.certificate_.closes(1e-6)
    (30, True, True)
    """

    similarity: Any = field(default=DEFAULT_ON_LANDMARKS, kw_only=False)
    landmarks: Any = None
    selection: str | LandmarkSelection = "random"
    whiten: bool = False
    regularizations: Any = 30
    radii: Any = None
    fit_intercept: bool = True
    random_state: Any = None

    plain: ClassVar[type] = LandmarkedRidgeRegressor
    weakest: ClassVar[float] = 1e-10

    def _scale(self, X: Array, y: NDArray[Any], common: Any) -> float:
        """The mean of ‖Ψ(x_i) − Ψ̄‖²."""
        model = self._plain()
        points, targets, weights = self._counted(X, y)
        return mean_square(model._centred(model._fit_features(points, weights), targets, weights)[0])

    def _answers(self, X: Array, y: NDArray[Any], fold: Fold, candidates: Sequence[Candidate], common: Any) -> CandidatePredictions:
        """Predictions of every candidate from the singular values of the training part."""
        model, train, weights = self._plain(), fold[0], self._weights(fold[0])
        points, test = self._parts(X, fold)
        features, centre, targets, height = model._centred(model._fit_features(points, weights), y[train], weights)
        system = singular_system(features, targets)
        logs = [
            math.log(train.size) + math.log(candidate["regularization"])
            if "regularization" in candidate
            else system.radius_root(candidate["radius"])
            for candidate in candidates
        ]
        slopes = np.array([system.weights(log_mu) for log_mu in logs])
        return CandidatePredictions(height + slopes @ (model._features(test) - centre).T)
