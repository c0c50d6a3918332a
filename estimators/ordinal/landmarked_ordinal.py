r"""Ordinal regression on landmarks: EXC and IMC."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities.defaults import DEFAULT_ON_LANDMARKS
from simopt.estimators.base import TOL, LandmarkEstimator, open_gap, remedy_for
from simopt.estimators.class_labels import demand_labels
from simopt.estimators.landmarked.landmark_predictor import demand_one_bound
from simopt.estimators.leave_one_out import RidgeChoice, ridge_for
from simopt.estimators.ordinal.ordinal import cuts_and_margins, middles, rule_on
from simopt.estimators.scikit_learn import ClassifierMixin, check_classification_targets
from simopt.model.status import Status

UNITS = PROBLEM, DATA = "problem", "data"


class DataUnits:
    """The units of B and λ that are those of the data: the B and λ of least squares on the middles of the classes' intervals.

    Parameters
    ----------
    model
        an estimator with thresholds, gamma, delta and units.
    X, features : (n, p) and (n, d) arrays
        points and Ψ of them.
    ranks, weights : (n,) arrays
        ranks 0, …, r − 1 of the labels; weights None where they are all the same.
    """

    def __init__(self, model: Any, X: Array, features: Array, ranks: NDArray[np.intp], weights: Array | None) -> None:
        self.model, self.X, self.features, self.ranks, self.weights = model, X, features, ranks, weights
        self.of_data = validate.choice("units", model.units, UNITS) == DATA

    @cached_property
    def _ridge_and_margin(self) -> tuple[RidgeChoice, float]:
        """The ridge regression, and γ."""
        model, classes = self.model, int(self.ranks.max()) + 1
        cuts, margins = cuts_and_margins(model.thresholds, classes, model.gamma, model.delta)
        targets = middles(cuts, classes, margins["gamma"])[self.ranks]
        return ridge_for(self.X, self.features, targets, self.weights, intercept=cuts is None), margins["gamma"]

    def of_the_problem(self, radius: float | None, regularization: float | None) -> tuple[float | None, float | None]:
        """B and λ of the problem, from those in the units of the model; B by default.

        A loss of hinges is about as large as squares of residuals over γ, so that its λ is 2/γ times that of the squares.
        """
        demand_one_bound(radius, regularization)
        if not self.of_data and not (radius is None and regularization is None):
            return radius, regularization
        ridge, gamma = self._ridge_and_margin
        if regularization is not None:
            return None, validate.positive("regularization", regularization) * 2.0 * ridge.regularization / gamma
        return (1.0 if radius is None else validate.positive("radius", radius)) * ridge.norm, None


class LandmarkedOrdinalClassifier(ClassifierMixin, LandmarkEstimator):
    r"""min_{w,b} (1/n) Σ_i [b_{y_i−1} + γ − f(x_i)]_+ + [f(x_i) − b_{y_i} + γ]_+   with ‖w‖ ≤ B or + (λ/2)‖w‖²,   f(x) = ⟨w, Ψ(x)⟩.

    The label of x is the y with b_{y−1} ≤ f(x) < b_y. Labels may be any values: `classes_` holds them from the least to the greatest, and
    the problem sees their ranks 1, …, r. Without an `order` they are sorted, words by the alphabet: then "high" is below "low".

    Parameters
    ----------
    similarity : str, Similarity, SimilarityRule, callable or "precomputed"
        K, see `simopt.estimators.base`.
    landmarks : int or (d, p) array
        how many are drawn from the training points (all of fewer), or the landmarks themselves; by default
        `simopt.estimators.base.usual_number` of them, 300 for up to 900 points.
    order : sequence, optional
        the labels from the least to the greatest; those that do not occur in y are left out. By default that of the categories, if y is an
        ordered pandas Categorical or a column of them, else the sorted one.
    thresholds : "learned", "equispaced" or (r − 1,) array
        b: learned with w, at equal distances, or these numbers.
    form : str
        "exc" (a sample pays for its own interval) or "imc" (it pays at every threshold).
    class_weight : "balanced" or dict, optional
        by label, what the weights of its samples are multiplied by; "balanced": so that all classes weigh the same.
    radius, regularization : float, optional
        B or λ, not both. By default B is as long as w of the ridge regression on the middles of the classes' intervals, 2γ apart if they
        are learned. The λ of that regression errs least at points left out (`simopt.estimators.leave_one_out`).
    units : "problem" or "data"
        the units of radius and regularization. "problem": those of the formula above, where a good λ may be 1e-5 or 1e-9. "data": what that
        ridge regression needs, its ‖w‖ and 2λ/γ. There 1 is a good start, whatever d and the scale of K are, and radius=1 is the default.
    gamma, delta : float, optional
        the margin γ and the spacing Δ, with the defaults of `simopt.estimators.ordinal.ordinal.ordinal`.
    solver, tol, time_limit
        as for `simopt.solve`; by default the best solver that the problem has, and where its certificate stays open the next one.
    random_state : int, RandomState or None
        of the draw of landmarks.

    Attributes
    ----------
    classes_ : (r,) array
        the labels that occur in y, from the least to the greatest.
    rule_ : OrdinalRule
        weights, thresholds, margins, errors and a plot, for labels 1, …, r.
    coef_, thresholds_ : (d,) and (r − 1,) arrays
        w and b.
    radius_, regularization_ : float or None
        B and λ of the formula, the one that there is.
    certificate_, n_iter_, n_features_in_

    Source: Chu & Keerthi 2007; Kar & Jain 2012, §3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from simopt.estimators import LandmarkedOrdinalClassifier
    >>> X = np.linspace(0.0, 3.0, 90)[:, None]
    >>> grades = np.array(["a", "b", "c"])[np.minimum(X[:, 0], 2.9).astype(int)]
    >>> model = LandmarkedOrdinalClassifier(random_state=0).fit(X, grades)
    >>> model.predict([[0.2], [1.5], [2.8]]).tolist(), model.certificate_.closes(1e-6)
    (['a', 'b', 'c'], True)
    """

    def __init__(
        self,
        similarity: Any = DEFAULT_ON_LANDMARKS,
        *,
        landmarks: Any = None,
        order: Any = None,
        thresholds: Any = "learned",
        form: str = "exc",
        class_weight: Any = None,
        radius: float | None = None,
        regularization: float | None = None,
        units: str = PROBLEM,
        gamma: float | None = None,
        delta: float = 0.0,
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
        self.class_weight = class_weight
        self.radius = radius
        self.regularization = regularization
        self.units = units
        self.gamma = gamma
        self.delta = delta
        self.solver = solver
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Precomputed similarities are inner products there. A rule on them cuts along one direction, and in none do the three blobs that
        # are judged lie one after another: the best one is right for 73 % of the samples.
        tags.classifier_tags.poor_score = self._precomputed
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), or n × n similarities, labels y (n,) and weights ≥ 0 (n,), whose shares stand in place of 1/n.

        With weights a back end learns the thresholds: the solver of ours counts the samples on either side of them.

        Raises
        ------
        InvalidProblem
            for a single class, labels that `order` does not have, and for thresholds, margins and bounds that `ordinal` refuses.
        """
        order = categories_of(y) if self.order is None else self.order
        X, y = self._training(X, y, numeric=False)
        check_classification_targets(y)
        self._demand_square(X)
        X, y, weights, counts = self._with_weights(X, y, sample_weight, self.class_weight)
        self.classes_, ranks = ranked(y, order)
        if len(self.classes_) < 2:
            raise InvalidProblem(
                f"y: 1 class, {self.classes_.tolist()[0]!r}, in all {len(y)} samples; at least two are needed to tell classes apart"
            )
        psi = self._fit_map(X, counts)
        features = psi(self._points(X))
        needed = DataUnits(self, X, features, ranks, weights)
        self.radius_, self.regularization_ = needed.of_the_problem(self.radius, self.regularization)
        self.rule_ = rule_on(
            psi,
            features,
            ranks + 1,
            len(self.classes_),
            *cuts_and_margins(self.thresholds, len(self.classes_), self.gamma, self.delta),
            weights,
            form=self.form,
            radius=self.radius_,
            regularization=self.regularization_,
            solver=self.solver,
            tol=self.tol,
            time_limit=self.time_limit,
        )
        self.coef_, self.thresholds_ = self.rule_.weights, self.rule_.thresholds
        made, certificate = self.rule_.provenance, self.rule_.certificate
        closed = made["status"] == Status.OPTIMAL.value
        self._concluded(
            certificate, made["iterations"], "" if closed else open_gap(certificate, self.tol, remedy_for(made["status"], self.time_limit))
        )
        return self

    def scores(self, X: Any) -> Array:
        """f at the rows of X, shape (m,): where on the line x stands, in the units of `thresholds_`."""
        queries = self._queries(X)
        return self.rule_.scores(self._points(queries))

    def decision_function(self, X: Any) -> Array:
        """How deep f lies in the interval of each class, min(f − b_{y−1}, b_y − f), shape (m, r); of two classes f − b_1, shape (m,).

        With b_0 = −∞ and b_r = ∞. It is positive for the class that is predicted alone; at a threshold it is 0 for both neighbours.
        """
        scores, b = self.scores(X), self.thresholds_
        if len(b) == 1:
            return np.asarray(scores - b[0])
        over = scores[:, None] - np.concatenate([[-np.inf], b])
        under = np.concatenate([b, [np.inf]]) - scores[:, None]
        out: Array = np.minimum(over, under)
        return out

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels of the rows of X, shape (m,)."""
        scores = self.scores(X)
        out: NDArray[Any] = self.classes_[self.rule_.labels_of(scores) - 1]
        return out


def categories_of(y: Any) -> Any:
    """The categories of an ordered pandas Categorical or of a column of them, from the least to the greatest; None for anything else."""
    kind: Any = getattr(y, "dtype", None)
    return kind.categories.tolist() if getattr(kind, "ordered", False) else None


def ranked(y: NDArray[Any], order: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The labels that occur, from the least to the greatest, and for each sample which of them it has.

    Raises
    ------
    InvalidProblem
        for an order that is no list of different labels, or lacks one that occurs (with its first index).
    """
    classes, inverse = np.unique(y, return_inverse=True)
    if order is None:
        return classes, inverse
    listed = list(order) if np.ndim(order) == 1 else []
    demand_labels("order", listed)
    rank = {label: i for i, label in enumerate(listed)}
    if not listed or len(rank) < len(listed):
        raise InvalidProblem(f"order: {order!r} given; the labels from the least to the greatest needed, each once")
    for k, label in enumerate(classes.tolist()):
        if label not in rank:
            raise InvalidProblem(f"order: {label!r}, the label at index {int(np.argmax(inverse == k))} of y, is not in {listed!r}")
    ranks = np.array([rank[label] for label in classes.tolist()])
    by_rank = np.argsort(ranks)
    return classes[by_rank], np.argsort(by_rank)[inverse]
