r"""ε-insensitive regression on landmarks that chooses λ or B by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array, Point
from simopt.estimators.cross_validation.landmark_folds import LandmarkFolds, Part
from simopt.estimators.cross_validation.selection import Candidate
from simopt.estimators.landmarked.landmarked_ridge import mean_square
from simopt.estimators.landmarked.landmarked_svr import LandmarkedSVRegressor
from simopt.estimators.landmarked.median_centred import scale_of
from simopt.estimators.sample_weights import median
from simopt.estimators.scikit_learn import RegressorMixin
from simopt.model.problem import Problem


class TwoHinges(Part):
    """A training part with its targets less their median."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.centre, self.std = median(self.y, self.weights), scale_of(self.y, self.weights)

    def problem(self, candidate: Candidate) -> Problem:
        """With λ or B."""
        plain = self.model._plain(**candidate)
        out: Problem = plain._problem(self.features, self.y - self.centre, self.std, self.weights)
        return out

    def predict(self, point: Point) -> Array:
        """⟨w, Ψ⟩ + c."""
        return np.asarray(self.held_out @ point["w"] + self.centre)


@dataclass(eq=False, repr=False, kw_only=True)
class LandmarkedSVRegressorCV(RegressorMixin, LandmarkFolds):
    r"""λ, or B, of best cross-validated score for min_w (1/n) Σ_i max(|⟨w, Ψ(x_i)⟩ + c − y_i| − ε, 0) + (λ/2)‖w‖², or with ‖w‖ ≤ B.

    It finds what GridSearchCV over `LandmarkedSVRegressor` does, on the same folds and the same grid. A fold has its features once, and
    each candidate a run of the solver, to the tolerance asked for.

    Parameters
    ----------
    similarity, landmarks, random_state
        as for `LandmarkedSVRegressor`; landmarks are drawn from each training part. Give a `random_state`: with None they are other ones
        for each fold and for the last fit.
    regularizations : int or array
        the λ to choose from; or how many, at equal ratios from 1 down to 1e-7 in the unit u²/s. There u² is the mean of ‖Ψ(x_i)‖² and s the
        standard deviation of y.
    radii : array, optional
        the B to choose from; then there is no λ.
    epsilon : float, optional
        ε, as for `LandmarkedSVRegressor`.
    cv, scoring, n_jobs, solver, tol, time_limit
        as for `simopt.estimators.cross_validation.selection.SelectedByFolds`.

    Attributes
    ----------
    regularization_ or radius_ : float
        λ or B, chosen.
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        as in GridSearchCV.
    coef_, intercept_, landmark_map_, certificate_, n_iter_, solution_, n_features_in_
        of `best_estimator_`, the fit to all samples.

    Source: Kar & Jain 2012, Algorithm 1 with §3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import LandmarkedSVRegressorCV
    >>> X = np.random.default_rng(0).uniform(-3.0, 3.0, size=(60, 1))
    >>> model = LandmarkedSVRegressorCV(landmarks=15, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> len(model.cv_results_["params"]), model.best_score_ > 0.9, model.certificate_.closes(1e-6)
    (15, True, True)
    """

    epsilon: float | None = None

    plain: ClassVar[type] = LandmarkedSVRegressor
    part: ClassVar[type[Part]] = TwoHinges
    weakest: ClassVar[float] = 1e-7

    def _scale(self, X: Array, y: NDArray[Any], common: Any) -> float:
        """u²/s."""
        features, targets, weights = self._all_features(X, y)
        return mean_square(features, weights) / scale_of(targets, weights)
