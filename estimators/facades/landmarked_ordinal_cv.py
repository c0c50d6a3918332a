r"""Ordinal regression on landmarks that chooses λ or B by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from simopt.data.similarities.named import STANDARDISED_MEAN
from simopt.estimators.facades.base import TOL
from simopt.estimators.facades.landmark_folds import LandmarkFolds, unjudged
from simopt.estimators.facades.landmarked_ordinal import LandmarkedOrdinalClassifier, categories_of, ranked
from simopt.estimators.facades.selection import Answers, Candidate, Fold
from simopt.estimators.ordinal.ordinal import cuts_and_margins, ordinal_problem, thresholds_of, unit_of_strength
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem

WEAKEST, STRONGEST = 1e-8, 1e-1  # λ in its unit


class LandmarkedOrdinalClassifierCV(ClassifierMixin, LandmarkFolds):
    r"""λ, or B, of best cross-validated score for `LandmarkedOrdinalClassifier`: EXC or IMC, thresholds learned or given.

    What GridSearchCV finds over it, on the same folds and the same grid. A fold has its features once, and each candidate a run of the
    solver, to the tolerance asked for.

    Parameters
    ----------
    similarity, landmarks, order, thresholds, form, gamma, delta, random_state
        as for `LandmarkedOrdinalClassifier`; landmarks are drawn from each training part. Give a `random_state`: with None they are other
        ones for each fold and for the last fit.
    regularizations : int or array
        the λ to choose from; or how many, at equal ratios from 0.1 down to 1e-8 in the unit mean ‖Ψ(x_i)‖²/γ.
    radii : array, optional
        the B to choose from; then there is no λ.
    cv : int, splitter, iterable of (train, test), or None
        folds; 5 with the classes in equal shares for None.
    scoring : str, callable or None
        a scorer of scikit-learn's form, accuracy for None. Scorers of distances, such as "neg_mean_absolute_error", need labels that are
        numbers.
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
    classes_, rule_, coef_, thresholds_, landmark_map_, certificate_, n_iter_, n_features_in_
        of `best_estimator_`, the fit to all samples.

    Source: Chu & Keerthi 2007; Kar & Jain 2012, §3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import LandmarkedOrdinalClassifierCV
    >>> X = np.random.default_rng(0).uniform(0.0, 3.0, size=(90, 1))
    >>> grades = np.array(["a", "b", "c"])[X[:, 0].astype(int)]
    >>> model = LandmarkedOrdinalClassifierCV(landmarks=15, random_state=0).fit(X, grades)
    >>> model.best_score_ > 0.9, model.predict([[0.2], [1.5], [2.8]]).tolist(), model.certificate_.closes(1e-6)
    (True, ['a', 'b', 'c'], True)
    """

    plain: ClassVar[type] = LandmarkedOrdinalClassifier

    def __init__(
        self,
        similarity: Any = STANDARDISED_MEAN,
        *,
        landmarks: Any = 50,
        order: Any = None,
        thresholds: Any = "learned",
        form: str = "exc",
        regularizations: Any = 15,
        radii: Any = None,
        gamma: float | None = None,
        delta: float = 0.0,
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
        self.order = order
        self.thresholds = thresholds
        self.form = form
        self.regularizations = regularizations
        self.radii = radii
        self.gamma = gamma
        self.delta = delta
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose on folds of X (n, p), or of n × n similarities, and labels y (n,); then fit to all samples with what was chosen.

        Raises
        ------
        InvalidProblem
            for what the plain estimator refuses, and a grid that is empty or has values that are not positive.
        """
        self._order = categories_of(y) if self.order is None else self.order
        return super().fit(X, y)

    def _plain(self, **chosen: Any) -> Any:
        """With the order of the labels of the present fit."""
        return super()._plain(**chosen).set_params(order=getattr(self, "_order", self.order))

    def _look(self, X: Array, y: NDArray[Any]) -> None:
        """Refuse what are no classes."""
        validate.between_0_and_1("tol", self.tol)
        check_classification_targets(y)
        classes, _ = ranked(y, self._order)
        if len(classes) < 2:
            raise InvalidProblem(
                f"y: 1 class, {classes.tolist()[0]!r}, in all {len(y)} samples; at least two are needed to tell classes apart"
            )

    def _candidates(self, X: Array, y: NDArray[Any], shared: Any) -> list[Candidate]:
        """Every λ or B."""
        _, margins = cuts_and_margins(self.thresholds, len(np.unique(y)), self.gamma, self.delta)
        return self._bounds(WEAKEST, STRONGEST, unit_of_strength(self._all_features(X), margins["gamma"]))

    def _answers(self, X: Array, y: NDArray[Any], fold: Fold, candidates: Sequence[Candidate], shared: Any) -> Answers:
        """Labels by every candidate."""
        features, held = self._fold_features(X, fold)
        classes, place = ranked(y[fold[0]], self._order)
        cuts, margins = cuts_and_margins(self.thresholds, len(classes), self.gamma, self.delta)
        counts = np.bincount(place, minlength=len(classes))
        predicted, still_open = [], 0
        for candidate in candidates:
            bound = candidate.get("radius"), candidate.get("regularization")
            point, closed = unjudged(ordinal_problem(features, place + 1, len(classes), cuts, self.form, *bound, margins), self.tol)
            w = np.asarray(point["w"])
            b = thresholds_of(point, cuts, features @ w, place + 1, counts, margins)
            predicted.append(classes[np.searchsorted(b, held @ w, side="right")])
            still_open += not closed
        return Answers(np.array(predicted), classes=classes, open=still_open)

    def scores(self, X: Any) -> Array:
        """f at the rows of X, shape (m,): where on the line x stands, in the units of `thresholds_`."""
        queries = self._queries(X)
        out: Array = self.best_estimator_.scores(queries)
        return out
