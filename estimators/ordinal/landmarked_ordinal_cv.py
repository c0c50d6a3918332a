r"""Ordinal regression on landmarks that chooses λ or B by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array, Point
from simopt.core.errors import InvalidProblem
from simopt.estimators.cross_validation.landmark_folds import LandmarkFolds, Part
from simopt.estimators.cross_validation.selection import Candidate
from simopt.estimators.ordinal.landmarked_ordinal import DATA, PROBLEM, UNITS, DataUnits, LandmarkedOrdinalClassifier, categories_of, ranked
from simopt.estimators.ordinal.ordinal import cuts_and_margins, ordinal_problem, thresholds_of, unit_of_strength
from simopt.estimators.scikit_learn import ClassifierMixin, check_classification_targets
from simopt.model.problem import Problem

STRONGEST = 100.0  # λ of a grid in the unit of the data


class Ordered(Part):
    """A training part with its labels as numbers 1, …, r."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        model = self.model
        self.classes, place = ranked(self.y, model._order)
        self.labels, self.counts = place + 1, np.bincount(place, minlength=len(self.classes))
        self.needed = DataUnits(model, self.points, self.features, place, self.weights)
        self.cuts, self.margins = cuts_and_margins(model.thresholds, len(self.classes), model.gamma, model.delta)

    def problem(self, candidate: Candidate) -> Problem:
        """With λ or B."""
        bound = self.needed.of_the_problem(candidate.get("radius"), candidate.get("regularization"))
        classes = len(self.counts)
        return ordinal_problem(self.features, self.labels, classes, self.cuts, self.model.form, *bound, self.margins, self.weights)

    def predict(self, point: Point) -> NDArray[Any]:
        """The class in whose interval f lies."""
        assert self.classes is not None
        w = np.asarray(point["w"])
        b = thresholds_of(point, self.cuts, self.features @ w, self.labels, self.counts, self.margins)
        out: NDArray[Any] = self.classes[np.searchsorted(b, self.held_out @ w, side="right")]
        return out


@dataclass(eq=False, repr=False, kw_only=True)
class LandmarkedOrdinalClassifierCV(ClassifierMixin, LandmarkFolds):
    r"""λ, or B, of best cross-validated score for `LandmarkedOrdinalClassifier`: EXC or IMC, thresholds learned or given.

    It finds what GridSearchCV over that does, on the same folds and the same grid. A fold has its features once, and each candidate a run
    of the solver, to the tolerance asked for.

    Parameters
    ----------
    similarity, landmarks, order, thresholds, form, units, gamma, delta, random_state
        as for `LandmarkedOrdinalClassifier`; landmarks are drawn from each training part. Give a `random_state`: with None they are other
        ones for each fold and for the last fit.
    class_weight : "balanced" or dict, optional
        as for `LandmarkedOrdinalClassifier`, in all fits; scores do not look at it. "balanced" weighs the classes of each training part.
    regularizations : int or array
        the λ to choose from; or how many, at equal ratios from 0.1 down to 1e-8 in the unit mean ‖Ψ(x_i)‖²/γ, or with units="data" from 100
        down to 1e-5.
    radii : array, optional
        the B to choose from; then there is no λ.
    cv, scoring, n_jobs, solver, tol, time_limit
        as for `simopt.estimators.cross_validation.selection.SelectedByFolds`; scorers of distances, such as "neg_mean_absolute_error",
        need labels that are numbers.

    Attributes
    ----------
    regularization_ or radius_ : float
        λ or B, chosen, in the units of the grid; `best_estimator_` has those of the problem.
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, n_splits_
        as in GridSearchCV.
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

    order: Any = None
    thresholds: Any = "learned"
    form: str = "exc"
    class_weight: Any = None
    units: str = PROBLEM
    gamma: float | None = None
    delta: float = 0.0

    plain: ClassVar[type] = LandmarkedOrdinalClassifier
    part: ClassVar[type[Part]] = Ordered
    weakest: ClassVar[float] = 1e-8
    strongest: ClassVar[float] = 1e-1

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose on folds of X (n, p), or of n × n similarities, labels y (n,) and weights ≥ 0 (n,); then fit to all samples.

        Raises
        ------
        InvalidProblem
            for what the plain estimator refuses, and a grid that is empty or has values that are not positive.
        """
        self._order = categories_of(y) if self.order is None else self.order
        return super().fit(X, y, sample_weight)

    def _plain(self, **chosen: Any) -> Any:
        """With the order of the labels of the present fit."""
        return super()._plain(**chosen).set_params(order=getattr(self, "_order", self.order))

    def _validate(self, X: Array, y: NDArray[Any]) -> None:
        """Refuse what are no classes."""
        super()._validate(X, y)
        validate.choice("units", self.units, UNITS)
        check_classification_targets(y)
        masses = self._masses(y)
        classes, _ = ranked(y if masses is None else y[masses > 0], self._order)
        if len(classes) < 2:
            raise InvalidProblem(
                f"y: 1 class, {classes.tolist()[0]!r}, in all {len(y)} samples; at least two are needed to tell classes apart"
            )

    def _scale(self, X: Array, y: NDArray[Any], common: Any) -> float:
        """mean ‖Ψ(x_i)‖²/γ, or so large a part of the data's unit that the grid goes on both sides of 1."""
        if self.units == DATA:
            return STRONGEST / self.strongest
        features, labels, weights = self._all_features(X, y)
        _, margins = cuts_and_margins(self.thresholds, len(np.unique(labels)), self.gamma, self.delta)
        return unit_of_strength(features, margins["gamma"], weights)

    def scores(self, X: Any) -> Array:
        """f at the rows of X, shape (m,): where on the line x stands, in the units of `thresholds_`."""
        queries = self._queries(X)
        out: Array = self.best_estimator_.scores(queries)
        return out
