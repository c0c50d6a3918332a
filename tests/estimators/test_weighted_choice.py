"""Weights of samples in estimators that choose: a weight of 2 is the sample twice in the fits, the scores and the grid, 0 is no sample."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from simopt import estimators
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian

FEW = {"landmarks": 12, "random_state": 0, "regularizations": 5}
MODELS = [
    estimators.MPowerRegressorCV(regularizations=5),
    estimators.MPowerRegressorCV(Gaussian(3.0), regularizations=5, powers=[3.0]),
    estimators.HingeSVMClassifierCV(regularizations=5),
    estimators.HingeSVMClassifierCV(Gaussian(3.0), regularizations=5, fit_intercept=False),
    estimators.HingeSVMClassifierCV(regularizations=5, class_weight="balanced"),
    estimators.HingeSVMClassifierCV(Gaussian(3.0), regularizations=5, fit_intercept=False, class_weight={"a": 3.0, "b": 0.5}),
    estimators.LandmarkedRidgeCV(**FEW),
    estimators.LandmarkedRidgeCV(landmarks=12, random_state=0, radii=[0.5, 5.0, 50.0], whiten=True),
    estimators.LandmarkedSVRegressorCV(**FEW),
    estimators.LandmarkedOrdinalClassifierCV(thresholds="equispaced", **FEW),
    estimators.LandmarkedOrdinalClassifierCV(thresholds="equispaced", class_weight="balanced", **FEW),
    estimators.LandmarkedOrdinalClassifierCV(landmarks=12, random_state=0, regularizations=[1e-4, 1e-6]),
]


def weighted(model: Any, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=60)
    classes = np.array(["a", "b"] if "Hinge" in type(model).__name__ else ["a", "b", "c"])
    cuts = np.quantile(y, np.linspace(0.0, 1.0, len(classes) + 1)[1:-1])
    return X, classes[np.digitize(y, cuts)] if "Classifier" in type(model).__name__ else y, rng.integers(0, 4, size=60)


def message(model: Any, X: Any) -> Any:
    for name in ("decision_function", "scores"):
        if hasattr(model, name):
            return getattr(model, name)(X)
    return model.predict(X)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_weight_is_how_often_a_sample_is_there(model: Any) -> None:
    X, y, weights = weighted(model, 0)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    twice = np.repeat(np.arange(60), weights)
    doubled = [(np.flatnonzero(np.isin(twice, train)), np.flatnonzero(np.isin(twice, held))) for train, held in folds]
    one = clone(model).set_params(cv=folds, tol=1e-8).fit(X, y, sample_weight=weights)
    two = clone(model).set_params(cv=doubled, tol=1e-8).fit(X[twice], y[twice])
    for here, there in zip(one.cv_results_["params"], two.cv_results_["params"], strict=True):
        assert here == pytest.approx(there, rel=1e-9)
    np.testing.assert_allclose(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"], atol=2e-4)
    assert one.best_index_ == two.best_index_
    np.testing.assert_allclose(message(one, X), message(two, X), atol=1e-3)
    assert (one.certificate_.closes(1e-6) and not hasattr(one, "_sample_weight")) or one._sample_weight is None


@pytest.fixture
def routed() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routed")
@pytest.mark.parametrize("model", [m for m in MODELS if "Ordinal" not in type(m).__name__], ids=repr)
@pytest.mark.parametrize("scoring", [None, "other"])
def test_it_is_what_gridsearchcv_finds_that_hands_weights_on(model: Any, scoring: str | None) -> None:
    X, y, weights = weighted(model, 1)
    kind = "balanced_accuracy" if "Classifier" in type(model).__name__ else "neg_mean_absolute_error"
    model = clone(model).set_params(cv=3, tol=1e-8, scoring=kind if scoring else None)
    model.fit(X, y, sample_weight=weights + 0.5)
    plain = model._plain().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scorer = None if scoring is None else sklearn.metrics.get_scorer(kind).set_score_request(sample_weight=True)
    grid = [{name: [value] for name, value in candidate.items()} for candidate in model.cv_results_["params"]]
    search = GridSearchCV(plain, grid, cv=3, scoring=scorer).fit(X, y, sample_weight=weights + 0.5)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=2e-4)
    assert model.best_score_ == pytest.approx(search.best_score_, abs=2e-4)


def test_folds_without_weight_are_refused() -> None:
    X, y, _ = weighted(estimators.LandmarkedRidgeCV(), 2)
    model = estimators.LandmarkedRidgeCV(landmarks=5, random_state=0, cv=3)
    with pytest.raises(InvalidProblem, match="cv: fold 1 holds out samples of weight 0 only"):
        model.fit(X, y, sample_weight=np.where((np.arange(60) >= 20) & (np.arange(60) < 40), 0.0, 1.0))
    with pytest.raises(InvalidProblem, match="cv: fold 0 trains on samples of weight 0 only"):
        model.fit(X, y, sample_weight=np.where(np.arange(60) < 20, 1.0, 0.0))
    with pytest.raises(InvalidProblem, match="sample_weight: entry 3 is -1"):
        model.fit(X, y, sample_weight=np.where(np.arange(60) == 3, -1.0, 1.0))


CLASSES = {"a": 4.0, "c": 0.0}
WITH_CLASSES = [
    estimators.HingeSVMClassifierCV(Gaussian(3.0), regularizations=[0.1, 1e-2, 1e-3]),
    estimators.HingeSVMClassifierCV(regularizations=[0.1, 1e-2, 1e-3], fit_intercept=False),
    estimators.LandmarkedOrdinalClassifierCV(thresholds="equispaced", landmarks=12, random_state=0, regularizations=[0.1, 1e-2, 1e-3]),
]


@pytest.mark.parametrize("by_class", ["balanced", CLASSES], ids=str)
@pytest.mark.parametrize("model", WITH_CLASSES, ids=repr)
def test_weights_of_classes_are_those_of_grid_search(model: Any, by_class: Any) -> None:
    """Of a class of weight 0 no sample is learned from, but they are scored."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 2))
    y = np.array(["a", "b", "c"])[np.digitize(np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=90), [-1.0, 1.2])]
    model = clone(model).set_params(class_weight=by_class, cv=3, tol=1e-8)
    model.fit(X, y)
    grid = {"regularization": model.regularizations}
    search = GridSearchCV(model._plain(), grid, cv=3).fit(X, y)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=1e-9)
    assert model.best_params_ == search.best_params_
    np.testing.assert_array_equal(model.predict(X), search.predict(X))
    assert ("c" in model.classes_) == (by_class == "balanced")
    plain = clone(model).set_params(class_weight=None).fit(X, y)
    assert np.max(np.abs(plain.cv_results_["mean_test_score"] - model.cv_results_["mean_test_score"])) > 0.01


@pytest.mark.parametrize("model", WITH_CLASSES[:1], ids=repr)
def test_a_label_that_a_training_part_lacks_is_no_error_and_one_that_y_lacks_is(model: Any) -> None:
    X, y = np.random.default_rng(5).normal(size=(40, 2)), np.array(["a", "b"] * 18 + ["c", "d"] * 2)
    folds = [(np.arange(36), np.arange(36, 40)), (np.arange(4, 40), np.arange(4))]
    with_c = clone(model).set_params(class_weight={"c": 2.0, "a": 3.0}, cv=folds)
    assert list(with_c.fit(X, y).classes_) == ["a", "b", "c", "d"]
    with pytest.raises(InvalidProblem, match="class_weight: 'e' is no label of y"):
        clone(model).set_params(class_weight={"e": 2.0}, cv=folds).fit(X, y)
    with pytest.raises(InvalidProblem, match="cv: fold 0 trains on samples of weight 0 only"):
        clone(model).set_params(class_weight={"a": 0.0, "b": 0.0}, cv=folds).fit(X, y)


def test_parameters_are_fields_and_the_similarity_is_the_only_one_by_place() -> None:
    for kind in (type(model) for model in MODELS):
        made = kind(Gaussian(1.0))
        assert made.similarity == Gaussian(1.0) and set(made.get_params()) >= {
            "regularizations",
            "cv",
            "scoring",
            "n_jobs",
            "tol",
            "solver",
        }
        with pytest.raises(TypeError, match="positional"):
            kind(Gaussian(1.0), 5)
