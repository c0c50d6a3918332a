"""Estimators in scikit-learn's machinery: pipelines, grid search, cross-validation, clones, pickles; warnings, and bad input."""

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from made_data import PREDICTORS, data, seeded, targets_for
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from simopt import estimators
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.landmarks import CHOSEN_BY
from simopt.data.similarities import Gaussian, Laplacian
from simopt.estimators.base import KernelEstimator, some_of

GRAM = [name for name in estimators.__all__ if issubclass(getattr(estimators, name), KernelEstimator)]


@pytest.mark.parametrize("name", PREDICTORS)
def test_clones_and_pickles_predict_the_same_to_the_last_bit(name: str) -> None:
    X, y = data(np.random.default_rng(0))
    model = seeded(name)
    y = targets_for(model, y)
    expected = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), expected)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.predict(X), expected)
    assert back.certificate_ == model.certificate_


@pytest.mark.parametrize("name", PREDICTORS)
def test_a_fit_keeps_what_it_needs_and_nothing_of_an_earlier_one(name: str) -> None:
    X, y = data(np.random.default_rng(12), 40)
    model = seeded(name)
    y = targets_for(model, y)
    if "landmarks" in model.get_params():
        model.set_params(landmarks=X[:5])
    new, mine = X[:7].copy(), X.copy()
    expected = model.fit(mine, y).predict(new)
    mine[:] = 0.0
    X[:] = 0.0  # given landmarks are rows of it
    np.testing.assert_array_equal(model.predict(new), expected)
    if "similarity" in model.get_params():
        K = Gaussian(3.0)(new, new)
        if "cv" in model.get_params():
            model.set_params(cv=2)
        model.set_params(similarity="precomputed", **({"landmarks": 3} if "landmarks" in model.get_params() else {}))
        model.fit(K, np.resize(np.unique(y)[[0, -1]], 7))
        assert not {"similarity_", "coef_"} & set(vars(model)) or "landmarks" in model.get_params()
        assert model.certificate_.lower <= model.certificate_.upper * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", PREDICTORS)
def test_every_estimator_predicts_in_a_pipeline_under_cross_validation(name: str) -> None:
    X, y = data(np.random.default_rng(1), 90)
    model = make_pipeline(StandardScaler(), seeded(name))
    y = targets_for(model[-1], y)
    found = cross_val_predict(model, X, y, cv=KFold(3))
    assert found.shape == y.shape
    if y.dtype.kind == "U":
        assert np.mean(found == y) > 0.7
    else:
        assert np.mean((found - y) ** 2) < np.var(y)


@pytest.mark.parametrize("name", [name for name in PREDICTORS if name != "LipschitzIsotonicRegressor"])
def test_cross_validation_cuts_rows_and_columns_of_precomputed_similarities(name: str) -> None:
    X, y = data(np.random.default_rng(2))
    K = Gaussian(3.0).gram(X)
    y = targets_for(seeded(name), y)
    by_matrix = cross_val_predict(seeded(name, similarity="precomputed"), K, y, cv=KFold(4))
    by_points = cross_val_predict(seeded(name, similarity=Gaussian(3.0)), X, y, cv=KFold(4))
    if y.dtype.kind == "U":
        assert np.mean(by_matrix == by_points) > 0.98
    else:
        np.testing.assert_allclose(by_matrix, by_points, atol=1e-5)


def test_grid_search_chooses_similarities_and_strengths() -> None:
    X, y = data(np.random.default_rng(3), 80)
    grid = {"similarity": ["gaussian", "laplacian", Gaussian(3.0), Laplacian(2.0)], "regularization": [1e-4, 10.0]}
    search = GridSearchCV(estimators.MPowerRegressor(power=2.0), grid, cv=KFold(3)).fit(X, y)
    assert search.best_params_["regularization"] == 1e-4
    assert search.best_estimator_.certificate_.closes(1e-8)
    ordinal = GridSearchCV(seeded("LandmarkedOrdinalClassifier"), {"form": ["exc", "imc"]}, cv=3).fit(X, np.digitize(y, [-0.5, 0.5]))
    assert ordinal.best_score_ > 0.5


def test_parameters_of_a_similarity_are_searched_and_cloned() -> None:
    X, y = data(np.random.default_rng(3), 80)
    widths = [0.01, 3.0, 1e4]
    search = GridSearchCV(estimators.MPowerRegressor(Gaussian(1.0), power=2.0), {"similarity__mu": widths}, cv=KFold(3)).fit(X, y)
    by_objects = GridSearchCV(estimators.MPowerRegressor(power=2.0), {"similarity": [Gaussian(mu) for mu in widths]}, cv=KFold(3)).fit(X, y)
    assert search.best_params_ == {"similarity__mu": 3.0}
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], by_objects.cv_results_["mean_test_score"])
    shared = Gaussian(1.0)
    model = make_pipeline(StandardScaler(), seeded("LandmarkedSVRegressor", similarity=Laplacian(1.0) + shared))
    other = clone(model).set_params(landmarkedsvregressor__similarity__terms__1__mu=2.0)
    assert model.get_params()["landmarkedsvregressor__similarity__terms__1__mu"] == 1.0 == shared.mu
    assert other[-1].similarity == Laplacian(1.0) + Gaussian(2.0)
    assert clone(other)[-1].similarity == other[-1].similarity
    assert "mu=2.0" in repr(other) and other._repr_html_()
    assert model[-1].set_params(similarity=Gaussian(1.0), similarity__mu=5.0).similarity == Gaussian(5.0)
    with pytest.raises(InvalidProblem, match="similarity__mu: similarity is 'gaussian', which has no parameters; give an object"):
        estimators.MPowerRegressor("gaussian").set_params(similarity__mu=1.0)
    with pytest.raises(UnknownName, match="parameter of the gaussian similarity 'nu'; there are mu"):
        estimators.MPowerRegressor(Gaussian(1.0)).set_params(similarity__nu=1.0)


@pytest.mark.parametrize("name", ["HingeSVMClassifier", "HerdedMeanClassifier", "MeanSimilarityClassifier"])
def test_several_classes_are_told_one_from_the_rest_each_with_its_certificate(name: str) -> None:
    X, y = data(np.random.default_rng(4), 90)
    ranks = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    plain = getattr(estimators, name)("gaussian", class_weight=None)  # else a choice depends on all classes
    model = clone(plain).fit(X, ranks)
    peer = OneVsRestClassifier(plain).fit(X, ranks)
    assert model.classes_.tolist() == ["high", "low", "middle"] == peer.classes_.tolist()
    values, expected = model.decision_function(X), peer.decision_function(X)
    if name == "MeanSimilarityClassifier":  # the lengths of the means count too
        lengths = np.array([1.0 - certificate.upper for certificate in model.certificates_])
        expected = expected * lengths / np.linalg.norm(lengths)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), model.classes_[np.argmax(values, axis=1)])
    for one, two in zip(model.certificates_, peer.estimators_, strict=True):
        assert one.upper == pytest.approx(two.certificate_.upper, rel=1e-7, abs=1e-12)
    assert model.certificate_ in model.certificates_
    assert model.certificate_.relative_gap == max(certificate.relative_gap for certificate in model.certificates_)
    assert model.n_iter_ == sum(two.n_iter_ for two in peer.estimators_)
    two = clone(plain).fit(X, y > 0)
    assert two.decision_function(X).shape == (90,) and two.certificates_ == (two.certificate_,)


def test_an_open_certificate_is_a_warning_that_says_how_far_it_is_open() -> None:
    X, y = data(np.random.default_rng(5))
    with pytest.warns(
        ConvergenceWarning,
        match=r"LandmarkedSVRegressor: the certificate did not close, its relative gap is .* 1e-17 was asked \(raise tol",
    ):
        model = seeded("LandmarkedSVRegressor", solver="clarabel", tol=1e-17).fit(X, y)
    assert not model.certificate_.closes(1e-17) and np.isfinite(model.predict(X)).all()
    with pytest.warns(ConvergenceWarning, match=r"time_limit=1e-09 s is over: raise it, or tol"):
        seeded("LandmarkedSVRegressor", time_limit=1e-9).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"HerdedMeanClassifier: the error is .*, asked 1e-06 .*; raise `error`") as caught:
        estimators.HerdedMeanClassifier(error=1e-6, atoms=5).fit(X, y > 0)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(ConvergenceWarning, match="HingeSVMClassifier: the certificate did not close") as caught:
        estimators.HingeSVMClassifier(solver="clarabel", tol=1e-17).fit(X, np.digitize(y, [-0.5, 0.5]))
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(ConvergenceWarning, match="LIsotronRegressor: the rounds diverged"):
        estimators.LIsotronRegressor(np.inf, similarity="gaussian", rate=1e200).fit(X, y)


@pytest.mark.parametrize("name", PREDICTORS)
def test_a_closed_certificate_is_no_warning(name: str) -> None:
    X, y = data(np.random.default_rng(6))
    model = seeded(name)
    if name == "LIsotronRegressor":
        model.set_params(max_iter=2000)  # after 200 its steps are still longer than tol, of which it warns whatever the certificate says
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, targets_for(model, y))


def test_landmarks_follow_the_random_state() -> None:
    X, y = data(np.random.default_rng(7))
    first = estimators.LandmarkedSVRegressor(landmarks=10, random_state=0).fit(X, y)
    again = estimators.LandmarkedSVRegressor(landmarks=10, random_state=0).fit(X, y)
    other = estimators.LandmarkedSVRegressor(landmarks=10, random_state=np.random.RandomState(1)).fit(X, y)
    np.testing.assert_array_equal(first.landmark_map_.landmarks, again.landmark_map_.landmarks)
    assert not np.array_equal(first.landmark_map_.landmarks, other.landmark_map_.landmarks)
    given = estimators.LandmarkedSVRegressor(landmarks=X[:5]).fit(X, y)
    np.testing.assert_array_equal(given.landmark_map_.landmarks, X[:5])
    matrix = estimators.LandmarkedSVRegressor("precomputed", landmarks=10, random_state=0).fit(Gaussian(3.0).gram(X), y)
    np.testing.assert_array_equal(X[matrix.landmark_indices_], first.landmark_map_.landmarks)


def test_bad_input_is_refused_with_a_reason() -> None:
    X, y = data(np.random.default_rng(8))
    with pytest.raises(UnknownName, match="did you mean 'gaussian'"):
        estimators.MPowerRegressor("gausian").fit(X, y)
    with pytest.raises(InvalidProblem, match="not positive semidefinite"):
        estimators.MPowerRegressor("manhattan").fit(X, y)
    with pytest.raises(InvalidProblem, match="both given"):
        estimators.LandmarkedSVRegressor(radius=1.0, regularization=1.0).fit(X, y)
    with pytest.raises(InvalidProblem, match="1 class, 'a'"):
        estimators.MeanSimilarityClassifier().fit(X, ["a"] * len(X))
    with pytest.raises(InvalidProblem, match="sample_weight: entry 2 is -1"):
        estimators.LipschitzIsotonicRegressor(feature="best").fit(X, y, sample_weight=np.where(np.arange(len(y)) == 2, -1.0, 1.0))
    with pytest.raises(InvalidProblem, match="say how many"):
        estimators.LandmarkedSVRegressor("precomputed", landmarks=X[:3]).fit(Gaussian(3.0).gram(X), y)
    with pytest.raises(InvalidProblem, match="first end must be below"):
        estimators.GLMTronRegressor(target_range=(1.0, 0.0)).fit(X, y)
    with pytest.raises(InvalidProblem, match="fit_intercept: 'no' given, True or False"):
        estimators.HingeSVMClassifier(fit_intercept="no").fit(X, y > 0)
    with pytest.raises(UnknownName, match="there are False, True, auto"):
        estimators.LipschitzIsotonicRegressor(feature="best", increasing="up").fit(X, y)
    with pytest.raises(NotFittedError):
        estimators.NadarayaWatsonRegressor().predict(X)
    with pytest.raises(NotFittedError):
        _ = estimators.NadarayaWatsonRegressor().certificate_


@pytest.mark.parametrize("name", [name for name in PREDICTORS if name != "LipschitzIsotonicRegressor"])
def test_what_is_no_similarity_is_refused_as_such(name: str) -> None:
    X, y = data(np.random.default_rng(9))
    with pytest.raises(InvalidProblem, match="similarity: 3 "):
        seeded(name, similarity=3).fit(X, targets_for(seeded(name), y))


@pytest.mark.parametrize("name", GRAM)
def test_precomputed_similarities_in_single_precision_are_taken_for_what_they_are(name: str) -> None:
    """Computed in float32 they are indefinite by rounding; a function in a ball of the space moves by the root of that at most."""
    X = np.random.default_rng(10).normal(size=(60, 30)).astype(np.float32)
    y = targets_for(seeded(name), X[:, 0].astype(np.float64))
    single, K = X @ X.T, X.astype(np.float64) @ X.astype(np.float64).T
    # where λ is chosen, from a grid, rounding may choose the next one
    given = {"regularization": 1e-3} if "regularization" in seeded(name).get_params() else {}
    model = seeded(name, similarity="precomputed", **given).fit(single, y)
    peer = seeded(name, similarity="precomputed", **given).fit(K, y)
    if y.dtype.kind == "U":
        np.testing.assert_allclose(model.decision_function(single), peer.decision_function(K), atol=1e-4)
    else:
        np.testing.assert_allclose(model.predict(single), peer.predict(K), atol=np.sqrt(np.finfo(np.float32).eps) * np.ptp(y))
    with pytest.raises(InvalidProblem, match="not positive semidefinite"):  # the same error in double precision is no rounding
        seeded(name, similarity="precomputed").fit(single.astype(np.float64) * (1.0 + 1e-12), y)
    with pytest.raises(InvalidProblem, match="not positive semidefinite"):
        seeded(name, similarity="precomputed").fit(np.rint(K), y)


@pytest.mark.parametrize("kind", ["precomputed", "function"])
@pytest.mark.parametrize("name", GRAM)
def test_similarities_that_are_indefinite_by_more_than_rounding_and_little_are_raised(name: str, kind: str) -> None:
    """A problem with such a matrix has no optimum, and is refused; an estimator fits the nearest one that is none."""
    X = np.random.default_rng(10).normal(size=(40, 3))
    K = X @ X.T
    away = np.linalg.qr(np.column_stack([X, np.ones(len(X))]))[0][:, -1]
    sunk = K - 1e-9 * np.linalg.eigvalsh(K)[-1] * np.outer(away, away)
    sunk = (sunk + sunk.T) / 2
    y = targets_for(seeded(name), X[:, 0])
    given = {"regularization": 1e-3} if "regularization" in seeded(name).get_params() else {}

    def fit(matrix: np.ndarray) -> Any:
        if kind == "precomputed":
            return seeded(name, similarity="precomputed", **given).fit(matrix, y).predict(matrix)
        return seeded(name, similarity=lambda A, B: matrix if len(A) == len(B) == len(X) else A @ B.T, **given).fit(X, y).predict(X)

    here, there = fit(sunk), fit(K)
    if y.dtype.kind == "U":
        assert np.mean(here == there) > 0.9
    else:
        np.testing.assert_allclose(here, there, atol=1e-3 * np.ptp(y))


def test_named_widths_of_nadaraya_watson_are_chosen_from_few_points() -> None:
    X, y = data(np.random.default_rng(11), CHOSEN_BY + 500)
    plain = estimators.NadarayaWatsonRegressor("gaussian-mean-distance")
    model = clone(plain).fit(X, y)
    assert model.similarity_ == clone(plain).fit(X, y).similarity_
    assert model.similarity_.sigma == pytest.approx(Gaussian.mean_distance(X).sigma, rel=0.02)
    assert np.unique(some_of(len(X))).shape == (CHOSEN_BY,)


def test_without_scikit_learn_the_error_names_the_extra_and_simopt_itself_does_not_need_it() -> None:
    program = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import simopt, simopt.estimators.herding.herd\n"
        "try:\n    from simopt.estimators import MPowerRegressor\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'simopt-convex[ml]'" in done.stdout
    light = subprocess.run(
        [sys.executable, "-c", "import simopt, sys; print('sklearn' in sys.modules)"], capture_output=True, text=True, check=True
    )
    assert light.stdout.strip() == "False"
