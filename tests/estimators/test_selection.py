"""Estimators that choose their parameters: the choice and the scores of GridSearchCV over the plain ones; grids in units of the data."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_data import data
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from simopt import estimators
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian, Linear
from simopt.estimators.cross_validation import selection
from simopt.problems.bounds import Ball
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solving.solution import Iterate


@dataclass(frozen=True)
class ChoiceAndGrid:
    """A pair of estimators with common options, a grid of the one that chooses, and how near the scores must be."""

    chooses: str
    grid: dict[str, Any]
    options: dict[str, Any]
    atol: float = 1e-6
    several: bool = False  # classes

    @property
    def plain(self) -> Any:
        name = "LandmarkedRidgeRegressor" if self.chooses == "LandmarkedRidgeCV" else self.chooses.removesuffix("CV")
        return getattr(estimators, name)(**self.options)

    def choosing(self, **more: Any) -> Any:
        return getattr(estimators, self.chooses)(**{**self.options, **self.grid, **more})

    def targets(self, y: Any) -> Any:
        if self.several or "Ordinal" in self.chooses:
            return np.digitize(y, [-0.7, 0.7])
        return np.where(y > 0, "up", "down") if self.chooses.endswith("ClassifierCV") else y

    def __str__(self) -> str:
        return f"{self.chooses} {self.options.get('similarity', '')} {sorted(self.grid)}"


LAMBDAS = np.array([1.0, 0.1, 1e-2, 1e-3, 1e-4])
CASES = [
    ChoiceAndGrid(
        "MPowerRegressorCV",
        {"regularizations": LAMBDAS, "powers": [1.0, 1.5, 2.0, 3.0]},
        {"similarity": "gaussian", "tol": 1e-9, "fit_intercept": True},
    ),
    ChoiceAndGrid(
        "MPowerRegressorCV",
        {"regularizations": LAMBDAS, "powers": [1.5, 2.0]},
        {"similarity": Gaussian(2.0), "tol": 1e-10, "fit_intercept": False},
    ),
    ChoiceAndGrid("HingeSVMClassifierCV", {"regularizations": LAMBDAS}, {"similarity": "gaussian", "tol": 1e-9}, several=True),
    ChoiceAndGrid(
        "HingeSVMClassifierCV", {"regularizations": LAMBDAS[::-1]}, {"similarity": Gaussian(2.0), "fit_intercept": False, "tol": 1e-9}
    ),
    ChoiceAndGrid("LandmarkedSVRegressorCV", {"regularizations": LAMBDAS}, {"landmarks": 9, "random_state": 0, "tol": 1e-9}),
    ChoiceAndGrid(
        "LandmarkedSVRegressorCV", {"radii": [0.1, 1.0, 10.0]}, {"similarity": "manhattan", "landmarks": 9, "random_state": 0, "tol": 1e-9}
    ),
    ChoiceAndGrid("LandmarkedOrdinalClassifierCV", {"regularizations": LAMBDAS}, {"landmarks": 9, "random_state": 0}),
    ChoiceAndGrid(
        "LandmarkedOrdinalClassifierCV", {"radii": [1.0, 10.0, 100.0]}, {"landmarks": 9, "random_state": 0, "thresholds": "equispaced"}
    ),
    ChoiceAndGrid(
        "LandmarkedOrdinalClassifierCV", {"regularizations": [30.0, 1.0, 0.03]}, {"landmarks": 9, "random_state": 0, "units": "data"}
    ),
    ChoiceAndGrid("LandmarkedOrdinalClassifierCV", {"radii": [0.03, 0.1, 0.3, 1.0]}, {"landmarks": 9, "random_state": 0, "units": "data"}),
    ChoiceAndGrid("LandmarkedRidgeCV", {"regularizations": LAMBDAS}, {"similarity": "manhattan", "landmarks": 15, "random_state": 0}),
    ChoiceAndGrid(
        "LandmarkedRidgeCV",
        {"radii": [0.1, 1.0, 10.0]},
        {"landmarks": 9, "selection": "greedy", "whiten": True, "similarity": Gaussian(2.0)},
    ),
    ChoiceAndGrid(
        "LandmarkedRidgeCV",
        {"regularizations": LAMBDAS},
        {"landmarks": 9, "selection": "k-means++", "fit_intercept": False, "random_state": 0},
    ),
]
WORST = make_scorer(max_error, greater_is_better=False)
SINGULAR = {"regularizations": "regularization", "powers": "power", "radii": "radius"}


def searched(case: ChoiceAndGrid, X: Any, y: Any, **more: Any) -> Any:
    """GridSearchCV over the plain estimator."""
    grid = {SINGULAR[name]: values for name, values in case.grid.items()}
    return GridSearchCV(case.plain, grid, **more).fit(X, y)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_choice_is_that_of_grid_search(case: ChoiceAndGrid) -> None:
    X, y = data(np.random.default_rng(21), 75)
    y = case.targets(y)
    cv = KFold(3, shuffle=True, random_state=0)
    model, search = case.choosing(cv=cv).fit(X, y), searched(case, X, y, cv=cv)
    assert model.best_params_ == search.best_params_ and model.best_index_ == search.best_index_
    assert model.best_score_ == pytest.approx(search.best_score_, abs=case.atol)
    for key in ("split0_test_score", "split2_test_score", "mean_test_score", "std_test_score"):
        np.testing.assert_allclose(model.cv_results_[key], search.cv_results_[key], atol=case.atol)
    assert model.cv_results_["params"] == search.cv_results_["params"]
    for name in model.best_params_:
        np.testing.assert_array_equal(model.cv_results_[f"param_{name}"], search.cv_results_[f"param_{name}"])
        assert getattr(model, f"{name}_") == model.best_params_[name]
    np.testing.assert_array_equal(model.predict(X), search.best_estimator_.predict(X))
    assert model.certificate_ == search.best_estimator_.certificate_ and model.certificate_.closes(1e-6)
    assert len(set(model.cv_results_["mean_test_score"].round(6))) > 2  # the grid makes a difference


def test_a_constant_that_is_added_to_y_changes_no_score_of_a_model_with_an_intercept() -> None:
    X, y = data(np.random.default_rng(34), 60)
    near, far = (estimators.MPowerRegressorCV(cv=3).fit(X, targets) for targets in (y, y + 100.0))
    np.testing.assert_allclose(far.cv_results_["mean_test_score"], near.cv_results_["mean_test_score"], atol=1e-6)
    np.testing.assert_allclose(far.predict(X), near.predict(X) + 100.0, atol=1e-4)
    assert far.intercept_ == pytest.approx(100.0 + np.mean(y)) and far.best_score_ > 0.9
    without = estimators.MPowerRegressorCV(cv=3, fit_intercept=False).fit(X, y + 100.0)
    assert without.intercept_ == 0.0 and without.best_score_ < far.best_score_


@pytest.mark.parametrize("case", CASES[:1], ids=str)
@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_mean_absolute_error", WORST])
def test_any_scorer_may_judge(case: ChoiceAndGrid, scoring: Any) -> None:
    X, y = data(np.random.default_rng(22), 60)
    model, search = case.choosing(cv=3, scoring=scoring).fit(X, y), searched(case, X, y, cv=3, scoring=scoring)
    assert model.best_params_ == search.best_params_
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=1e-6)


def test_a_scorer_that_asks_for_other_points_is_refused() -> None:
    X, y = data(np.random.default_rng(23), 30)
    with pytest.raises(InvalidProblem, match="other points than those held out; take GridSearchCV"):
        estimators.MPowerRegressorCV(scoring=lambda model, X, y: float(model.predict(X + 1.0)[0])).fit(X, y)


def test_folds_are_whatever_scikit_learn_takes_for_folds() -> None:
    X, y = data(np.random.default_rng(24), 40)
    groups = np.arange(40) % 4
    by_groups = estimators.MPowerRegressorCV(cv=GroupKFold(4).split(X, y, groups)).fit(X, y)
    by_hand = estimators.MPowerRegressorCV(cv=[(np.flatnonzero(groups != k), np.flatnonzero(groups == k)) for k in range(4)]).fit(X, y)
    assert by_groups.n_splits_ == by_hand.n_splits_ == 4
    assert sorted(by_groups.cv_results_["mean_test_score"]) == pytest.approx(sorted(by_hand.cv_results_["mean_test_score"]), abs=1e-9)
    alone = estimators.MPowerRegressorCV(regularizations=3, cv=LeaveOneOut(), scoring="neg_mean_squared_error").fit(X, y)
    assert alone.n_splits_ == 40 and alone.best_score_ < 0.0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_folds_on_threads_are_the_same_folds(case: ChoiceAndGrid) -> None:
    X, y = data(np.random.default_rng(25), 60)
    y = case.targets(y)
    one, two = case.choosing(cv=3).fit(X, y), case.choosing(cv=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


@pytest.mark.parametrize("name", [name for name in estimators.__all__ if name.endswith("CV")])
def test_grids_made_from_the_data_follow_its_units_and_not_its_size(name: str) -> None:
    """y times 8 (regressors) and K times 4: the same scores all along the grid, whose λ have moved; samples twice: the same λ."""
    X, y = data(np.random.default_rng(26), 48)
    case = ChoiceAndGrid(name, {}, {"random_state": 0, "landmarks": X[:12]} if "Landmarked" in name else {})
    case.grid["regularizations"] = 5
    labels = case.targets(y)
    one = case.choosing(similarity=Linear(), cv=4).fit(X, labels)
    two = case.choosing(similarity=4.0 * Linear(), cv=4).fit(X, 8.0 * labels if labels.dtype.kind == "f" else labels)
    np.testing.assert_allclose(two.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"], atol=1e-5)
    first = next(iter(set(one.best_params_) - {"power"}))
    assert two.best_params_[first] != one.best_params_[first]
    twice = case.choosing(similarity=Linear(), cv=4).fit(np.repeat(X, 2, axis=0), np.repeat(labels, 2))
    found, expected = (np.asarray(model.cv_results_[f"param_{first}"], dtype=float) for model in (twice, one))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_choice_is_made_in_a_pipeline_from_the_transformed_points() -> None:
    X, y = data(np.random.default_rng(27), 60)
    model = make_pipeline(StandardScaler(), estimators.MPowerRegressorCV("gaussian", cv=3)).fit(X * [1.0, 1e3], y)
    assert model[-1].best_score_ > 0.5 and model.score(X * [1.0, 1e3], y) > 0.8


def test_grids_are_refused_by_name_and_place() -> None:
    X, y = data(np.random.default_rng(28), 20)
    with pytest.raises(InvalidProblem, match="regularizations: entry 1 is -1"):
        estimators.MPowerRegressorCV(regularizations=[1.0, -1.0]).fit(X, y)
    with pytest.raises(InvalidProblem, match="regularizations: 0 given"):
        estimators.MPowerRegressorCV(regularizations=0).fit(X, y)
    with pytest.raises(InvalidProblem, match="powers: entry 0 is 0.5"):
        estimators.MPowerRegressorCV(powers=[0.5]).fit(X, y)


def test_constant_targets_and_features_of_length_zero_have_a_grid_all_the_same():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = estimators.MPowerRegressorCV(regularizations=3, cv=2).fit(X, np.full(20, 3.0))
    assert np.allclose(model.predict(X), 3.0) and all(0 < each["regularization"] < np.inf for each in model.cv_results_["params"])
    nothing = estimators.LandmarkedRidgeCV("linear", regularizations=3, cv=2).fit(np.zeros((20, 2)), X[:, 0])
    assert np.allclose(nothing.predict(X), X[:, 0].mean()) and nothing.best_params_["regularization"] > 0


def test_fits_on_folds_that_stay_open_are_counted_and_said(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = estimators.MPowerRegressorCV(regularizations=3, powers=[2.0], cv=3)
    answers = type(model)._answers
    monkeypatch.setattr(type(model), "_answers", lambda self, *args: replace(answers(self, *args), open=2))
    with pytest.warns(ConvergenceWarning, match="6 of 9 fits on folds did not close"):
        model.fit(X, X[:, 0])


@pytest.mark.parametrize(("part", "closed"), [(0.2, True), (0.8, False)])
def test_a_fit_on_a_fold_is_closed_where_its_gap_is_small_beside_the_scale(part, closed, monkeypatch):
    """In natural units the scale of this problem is a half."""
    spec = SimpleNamespace(reason_against=lambda problem: None)
    spec.run = lambda problem, tol: iter([Iterate(problem.trivial_point(), None, part * tol)])
    monkeypatch.setattr(selection, "solvers_of", lambda problem: [spec])
    problem = LandmarkedSVR(np.eye(3), np.array([3.0, 0.0, 1.0]), Ball(2.0), 0.5)
    assert problem.normalised()[0].scale() == 0.5 and selection.unjudged(problem, 1e-6)[1] is closed
