r"""Choosing parameters by cross-validation, the whole grid at once on each fold: the answer of scikit-learn's GridSearchCV, by a path.

On a fold, similarities and features are computed once, and one decomposition or one path of warm starts has the predictions of every
candidate. Scores are those that GridSearchCV gives to the plain estimator on the same folds and the same grid, up to the accuracy of the
fits. The rules of GridSearchCV choose among them: the best mean over folds, each fold counting alike; of equals the first in the grid. Then
the plain estimator is fitted to all samples with what was chosen, and its certificate is what is kept.

Grids that are made from the data go from the strongest regularization to the weakest, so that the strongest of equals is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import rankdata

from simopt.arithmetic.sparse import is_sparse
from simopt.core import validate
from simopt.core.arrays import Array, Point
from simopt.core.errors import InvalidProblem
from simopt.data.similarities.defaults import DEFAULT_KERNEL
from simopt.estimators.base import TOL, SimilarityEstimator
from simopt.estimators.one_fit import warn
from simopt.estimators.sample_weights import uneven, weights_of, with_classes
from simopt.estimators.scikit_learn import ConvergenceWarning, check_cv, check_scoring, clone, get_tags, is_classifier
from simopt.model.problem import Problem
from simopt.solving.entry_points import solve
from simopt.solving.solver import solvers_of

Candidate = dict[str, float]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
Scores = Callable[[NDArray[Any], NDArray[Any], Array | None], NDArray[Any] | None]


@dataclass(frozen=True, eq=False)
class CandidatePredictions:
    """The predictions of all candidates for the samples held out.

    Attributes
    ----------
    predicted : (candidates, m) array
        numbers or labels.
    decisions : (candidates, m) array, optional
        the function whose sign decides between two classes.
    classes : array, optional
        labels that occur in the training part.
    open : int
        fits whose gap is not what was asked for.
    """

    predicted: NDArray[Any]
    decisions: Array | None = None
    classes: NDArray[Any] | None = None
    open: int = 0


def r_squared(truth: Array, predicted: Array, weights: Array | None) -> Array | None:
    """1 − Σ w(y − f)²/Σ w(y − ȳ)² for each row f; None where y is constant, of which scikit-learn has rules of its own."""
    variance = float(np.average(np.square(truth - np.average(truth, weights=weights)), weights=weights))
    return 1.0 + negative_mean_square(truth, predicted, weights) / variance if variance > 0.0 else None


def negative_mean_square(truth: Array, predicted: Array, weights: Array | None) -> Array:
    """−Σ w(y − f)²/Σ w for each row f."""
    return -np.asarray(np.average(np.square(predicted - truth), axis=1, weights=weights))


def accuracy(truth: NDArray[Any], predicted: NDArray[Any], weights: Array | None) -> Array:
    """Share of equal labels for each row."""
    return np.asarray(np.average(predicted == truth, axis=1, weights=weights))


AT_ONCE: dict[str, Scores] = {"r2": r_squared, "neg_mean_squared_error": negative_mean_square, "accuracy": accuracy}


def values_of(name: str, grid: Any, low: float, high: float, unit: float) -> list[float]:
    """A grid as it is given, or so many values from high · unit down to low · unit, at equal ratios.

    Raises
    ------
    InvalidProblem
        for anything but a whole number ≥ 1 and numbers above the smallest normal one: of others 1/λ, or λ in other units, may be none.
    """
    if np.ndim(grid) == 0 and not hasattr(grid, "__len__"):
        count = validate.whole(name, grid, minimum=1)
        return [float(unit * value) for value in np.geomspace(high, low, count)]
    return [float(value) for value in validate.grid(name, grid, low=float(np.finfo(float).smallest_normal), strict=True)]


def results_of(candidates: Sequence[Candidate], scores: Array) -> dict[str, Any]:
    """`cv_results_` as GridSearchCV has it, but for the times, which candidates of one path share.

    `scores` is (folds, candidates). Means that are no numbers rank last.
    """
    out: dict[str, Any] = {"params": list(candidates)}
    for name in sorted({name for candidate in candidates for name in candidate}):
        out[f"param_{name}"] = np.ma.array([candidate[name] for candidate in candidates])
    out |= {f"split{k}_test_score": row for k, row in enumerate(scores)}
    mean = np.average(scores, axis=0)
    out["mean_test_score"] = mean
    out["std_test_score"] = np.sqrt(np.average((scores - mean) ** 2, axis=0))
    known = mean[~np.isnan(mean)]
    filled = np.where(np.isnan(mean), float(np.min(known, initial=0.0)) - 1.0, mean)
    out["rank_test_score"] = rankdata(-filled, method="min").astype(np.int32)
    return out


def unjudged(problem: Problem, tol: float) -> tuple[Point, bool]:
    """The point of least gap that the best solver of the problem finds, in natural units; whether it says that the gap is closed.

    Scores need no certificate; the last fit, to all samples, has one. If no hand-written solver takes the problem, CLARABEL solves it.

    Raises
    ------
    InvalidProblem
        when it finds no point.
    """
    tol = float(tol)
    normal, back = problem.normalised()
    able = [spec for spec in solvers_of(normal) if spec.reason_against(normal) is None]
    if not able:
        solution = solve(problem, "clarabel", tol=tol, record=False)
        if solution.point is None:
            raise InvalidProblem(f"{problem.name}: no point was found ({solution.message or solution.status.value})")
        return dict(solution.point), solution.optimal
    best = None
    for iterate in able[0].run(normal, tol=tol):
        if best is None or iterate.gap <= best.gap:
            best = iterate
    assert best is not None  # every solver yields a point
    return problem.restore(back.point(best.point)), best.gap <= tol * normal.scale()


@dataclass(eq=False, repr=False)
class SelectedByFolds(SimilarityEstimator):
    """An estimator that chooses parameters of a plain one; subclasses say which, from what grid, and what the candidates answer on a fold.

    Weights of samples count in the fits, in the scores, and in the unit of a grid that is made from the data; those of classes in the fits
    alone. Parameters are fields: these here, and what a subclass adds.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test), or None
        folds; 5 for None, of consecutive samples, or with the classes in equal proportions.
    scoring : str, callable or None
        a scorer of scikit-learn's form; R², or accuracy, for None.
    n_jobs : int or None
        folds at a time, as in joblib.
    solver, time_limit
        of the fit to all samples, as for the plain estimator.
    tol : float
        relative gap of the fit to all samples, and of those on folds where they are iterative.

    Attributes that a fit leaves, beside those of the plain estimator:

    best_params_, best_score_, best_index_
        the candidate chosen, its mean score, and its place in the grid.
    best_estimator_
        the plain estimator with it, fitted to all samples.
    cv_results_ : dict
        params, scores of each fold, their mean, standard deviation and rank, one a candidate.
    n_splits_ : int
    """

    similarity: Any = DEFAULT_KERNEL
    _: KW_ONLY
    regularizations: Any = 15
    cv: Any = None
    scoring: Any = None
    n_jobs: int | None = None
    solver: str | None = None
    tol: float = TOL
    time_limit: float = 60.0

    plain: ClassVar[type]
    weakest: ClassVar[float]  # λ in its unit, of a grid that is made from the data
    strongest: ClassVar[float] = 1.0
    _sample_weight: ClassVar[Array | None] = None  # weights of the samples, while there is a fit

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._plain())

    def _plain(self, **chosen: Any) -> Any:
        """The plain estimator with the parameters that it shares with this one, and those chosen."""
        common = set(self.plain._get_param_names())  # type: ignore[attr-defined]  # an estimator of scikit-learn
        return clone(self.plain(**{name: value for name, value in self.get_params(deep=False).items() if name in common}, **chosen))

    def _candidates(self, X: Array, y: NDArray[Any], common: Any) -> list[Candidate]:
        """The grid: every B if they are given, else every λ."""
        radii = getattr(self, "radii", None)
        made = radii is None and np.ndim(self.regularizations) == 0 and not hasattr(self.regularizations, "__len__")
        unit = self._scale(X, y, common) if made else 1.0
        strengths = values_of("regularizations", self.regularizations, self.weakest, self.strongest, unit)
        if radii is None:
            return [{"regularization": strength} for strength in strengths]
        return [{"radius": float(radius)} for radius in validate.grid("radii", radii, low=0.0, strict=True)]

    def _scale(self, X: Array, y: NDArray[Any], common: Any) -> float:
        """The unit of λ."""
        raise NotImplementedError

    def _weights(self, rows: NDArray[np.intp] | slice = slice(None)) -> Array | None:
        """Those of these samples, None where they are all the same."""
        return None if self._sample_weight is None else uneven(self._sample_weight[rows])

    def _masses(self, y: NDArray[Any]) -> Array | None:
        """Weights times those of classes, None where there are neither."""
        return with_classes(getattr(self, "class_weight", None), y, self._sample_weight)

    def _losses(self, y: NDArray[Any], rows: NDArray[np.intp]) -> Array | None:
        """The weights of these samples in the loss of a fit to them; None where they are all the same."""
        by_class, labels = getattr(self, "class_weight", None), y[rows]
        if isinstance(by_class, Mapping):  # of labels that a part of the samples lacks there is nothing to weigh
            by_class = {label: by_class[label] for label in np.unique(labels).tolist() if label in by_class}
        mass = with_classes(by_class, labels, None if self._sample_weight is None else self._sample_weight[rows])
        return uneven(mass)

    def _counted(self, X: Array, y: NDArray[Any]) -> tuple[Array, NDArray[Any], Array | None]:
        """The samples that have a weight, as the plain estimator looks at them (similarities stay whole), and their weights."""
        masses = self._masses(y)
        if masses is None or self._precomputed:
            return X, y, self._weights()
        kept = np.flatnonzero(masses)
        return X[kept], y[kept], self._weights(kept)

    def _common(self, X: Array) -> Any:
        """What all folds have in common, computed once."""
        return None

    def _parts(self, X: Array, fold: Fold) -> tuple[Array, Array]:
        """The points of the training part and those held out; of precomputed similarities those to the training part."""
        train, test = fold
        if is_sparse(X):
            return X[train], X[test]
        columns = train if self._precomputed else np.arange(X.shape[1])
        return X[np.ix_(train, columns)], X[np.ix_(test, columns)]

    def _answers(self, X: Array, y: NDArray[Any], fold: Fold, candidates: Sequence[Candidate], common: Any) -> CandidatePredictions:
        """The predictions of the candidates for the samples held out, when they are fitted to the others."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose on folds of X (n, p), or of n × n similarities, y (n,) and weights ≥ 0 (n,); then fit to all samples with what was chosen.

        Raises
        ------
        InvalidProblem
            for what the plain estimator refuses, a grid that is empty or has values that are not positive, and folds without weight.
        """
        X, y = self._training(X, y, numeric=not is_classifier(self))
        self._demand_square(X)
        if sample_weight is not None:
            self._sample_weight = weights_of(sample_weight, X.shape[0])  # type: ignore[misc]  # of this fit alone
        try:
            return self._choose(X, y)
        finally:
            self.__dict__.pop("_sample_weight", None)

    def _folds(self, X: Array, y: NDArray[Any]) -> list[Fold]:
        """Training parts, without samples of weight 0, and those held out."""
        folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))
        masses = self._masses(y)
        if masses is None:
            return folds
        for number, (train, test) in enumerate(folds):
            for part, rows, counted in (("trains on", train, masses), ("holds out", test, self._sample_weight)):
                if counted is not None and not np.any(counted[rows]):
                    raise InvalidProblem(f"cv: fold {number} {part} samples of weight 0 only; give other folds, or fewer")
        return [(train[masses[train] > 0], test) for train, test in folds]

    def _choose(self, X: Array, y: NDArray[Any]) -> Self:
        self._validate(X, y)
        common = self._common(X)
        candidates = self._candidates(X, y, common)
        folds = self._folds(X, y)
        at_a_time = None if self.n_jobs is None else validate.jobs("n_jobs", self.n_jobs, len(folds))
        jobs = (delayed(self._scored)(X, y, fold, candidates, common) for fold in folds)
        rows = Parallel(n_jobs=at_a_time, prefer="threads")(jobs)
        self.n_splits_ = len(folds)
        self.cv_results_ = results_of(candidates, np.array([row for row, _ in rows]))
        self.best_index_ = int(np.argmin(self.cv_results_["rank_test_score"]))
        self.best_params_: Mapping[str, float] = candidates[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self._say(sum(left for _, left in rows), len(folds) * len(candidates))
        self._refit(X, y)
        return self

    def _validate(self, X: Array, y: NDArray[Any]) -> None:
        """Refuse what the plain estimator would refuse on all samples, before there are folds."""

    def _refit(self, X: Array, y: NDArray[Any]) -> None:
        """Fit the plain estimator to all samples, and keep what it leaves as what this one leaves."""
        weighed = {} if self._sample_weight is None else {"sample_weight": self._sample_weight}
        self.best_estimator_ = self._plain(**self.best_params_).fit(X, y, **weighed)
        mine = set(vars(self))
        for name, value in vars(self.best_estimator_).items():
            if name.endswith("_") and name not in mine:
                setattr(self, name, value)
        for name, value in self.best_params_.items():
            setattr(self, f"{name}_", value)

    def _say(self, left: int, fits: int) -> None:
        if left:
            message = f"{type(self).__name__}: {left} of {fits} fits on folds did not close to tol={self.get_params()['tol']:.2g}"
            warn(f"{message}; their scores are of the best points found (raise tol)", ConvergenceWarning)

    def _scored(
        self, X: Array, y: NDArray[Any], fold: Fold, candidates: Sequence[Candidate], common: Any
    ) -> tuple[NDArray[np.float64], int]:
        """Scores of all candidates on a fold, and how many of their fits are open."""
        answers = self._answers(X, y, fold, candidates, common)
        test = fold[1]
        usual = "accuracy" if is_classifier(self) else "r2"
        name = usual if self.scoring is None else self.scoring
        at_once = AT_ONCE.get(name) if isinstance(name, str) else None
        weights = self._weights(test)
        found = at_once(y[test], answers.predicted, weights) if at_once is not None and test.size > 1 else None
        if found is None:
            found = np.array(self._one_by_one(X[test], y[test], answers, weights))
        return np.asarray(found, dtype=np.float64), answers.open

    def _one_by_one(self, X: Array, y: NDArray[Any], answers: CandidatePredictions, weights: Array | None) -> list[float]:
        """Scores by any scorer of scikit-learn's form, which is given an estimator that knows what to say of the samples held out."""
        scorer = check_scoring(self._plain(), scoring=self.scoring)
        weighed = {} if weights is None else {"sample_weight": weights}
        found = []
        for k, predicted in enumerate(answers.predicted):
            model = self._plain()
            said = {"predict": answering("predict", X, predicted)}
            if answers.decisions is not None:
                said["decision_function"] = answering("decision_function", X, answers.decisions[k])
            vars(model).update(said)
            if answers.classes is not None:
                model.classes_ = answers.classes
            found.append(float(scorer(model, X, y, **weighed)))
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """The predictions of the plain estimator with the parameters chosen at the rows of X, shape (m,)."""
        queries = self._queries(X)
        out: NDArray[Any] = self.best_estimator_.predict(queries)
        return out


def answering(name: str, points: Array, values: NDArray[Any]) -> Callable[[Any], NDArray[Any]]:
    """A method that knows its values at these points, and at no others."""

    def method(X: npt.ArrayLike) -> NDArray[Any]:
        if X is not points and not np.array_equal(X, points):
            raise InvalidProblem("scoring: it asks for predictions at other points than those held out; take GridSearchCV for it")
        return values

    method.__name__ = name  # by which scorers tell what they have got
    return method
