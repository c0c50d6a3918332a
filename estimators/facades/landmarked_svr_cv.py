r"""ε-insensitive regression on landmarks that chooses λ or B by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from simopt.data.similarities.named import STANDARDISED_MEAN
from simopt.estimators.facades.base import TOL
from simopt.estimators.facades.landmark_folds import LandmarkFolds, unjudged
from simopt.estimators.facades.landmarked_ridge import mean_square
from simopt.estimators.facades.landmarked_svr import LandmarkedSVRegressor
from simopt.estimators.facades.selection import Answers, Candidate, Fold
from simopt.ground import validate
from simopt.ground.arrays import Array

WEAKEST, STRONGEST = 1e-7, 1.0  # λ in its unit


class LandmarkedSVRegressorCV(RegressorMixin, LandmarkFolds):
    r"""λ, or B, of best cross-validated score for min_w (1/n) Σ_i max(|⟨w, Ψ(x_i)⟩ + c − y_i| − ε, 0) + (λ/2)‖w‖², or with ‖w‖ ≤ B.

    What GridSearchCV finds over `LandmarkedSVRegressor`, on the same folds and the same grid. A fold has its features once, and each
    candidate a run of the solver, to the tolerance asked for.

    Parameters
    ----------
    similarity, landmarks, random_state
        as for `LandmarkedSVRegressor`; landmarks are drawn from each training part. Give a `random_state`: with None they are other ones
        for each fold and for the last fit.
    regularizations : int or array
        the λ to choose from; or how many, at equal ratios from 1 down to 1e-7 in the unit u²/s, u² the mean of ‖Ψ(x_i)‖² and s the standard
        deviation of y.
    radii : array, optional
        the B to choose from; then there is no λ.
    epsilon : float, optional
        ε, as for `LandmarkedSVRegressor`.
    cv : int, splitter, iterable of (train, test), or None
        folds; 5 of consecutive samples for None.
    scoring : str, callable or None
        a scorer of scikit-learn's form, R² for None.
    n_jobs : int or None
        folds at a time, as in joblib.
    solver, time_limit
        of the fit to all samples.
    tol : float
        relative gap of all fits.

    Attributes
    ----------
    regularization_ or radius_ : float
        λ or B, chosen.
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        as in GridSearchCV; of `cv_results_` params, scores and rank.
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

    plain: ClassVar[type] = LandmarkedSVRegressor

    def __init__(
        self,
        similarity: Any = STANDARDISED_MEAN,
        *,
        landmarks: Any = 50,
        regularizations: Any = 15,
        radii: Any = None,
        epsilon: float | None = None,
        cv: Any = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        solver: str | None = None,
        tol: float = TOL,
        time_limit: float = 60.0,
        random_state: Any = None,
    ) -> None:
        self.similarity = similarity
        self.landmarks = landmarks
        self.regularizations = regularizations
        self.radii = radii
        self.epsilon = epsilon
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    def _candidates(self, X: Array, y: NDArray[Any], shared: Any) -> list[Candidate]:
        """Every λ or B."""
        validate.between_0_and_1("tol", self.tol)
        return self._bounds(WEAKEST, STRONGEST, mean_square(self._all_features(X)) / (float(np.std(y)) or 1.0))

    def _answers(self, X: Array, y: NDArray[Any], fold: Fold, candidates: Sequence[Candidate], shared: Any) -> Answers:
        """Predictions of every candidate."""
        features, held = self._fold_features(X, fold)
        middle, spread = float(np.median(y[fold[0]])), float(np.std(y[fold[0]])) or 1.0
        targets = y[fold[0]] - middle
        predicted, still_open = [], 0
        for candidate in candidates:
            point, closed = unjudged(self._plain(**candidate)._problem(features, targets, spread), self.tol)
            predicted.append(held @ point["w"] + middle)
            still_open += not closed
        return Answers(np.array(predicted), open=still_open)
