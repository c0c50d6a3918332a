"""A weight of 2 is the sample twice and a weight of 0 no sample: for every estimator that takes weights, to within the certified gaps."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from made_data import data
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import has_fit_parameter

from simopt import estimators
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian
from simopt.estimators import sample_weights
from simopt.estimators.index_models.isotron import l_isotron
from simopt.problems.m_power_rls import PowerBall, PowerPenalty, weighted
from simopt.problems.sample_weights import SampleWeights
from simopt.solving.entry_points import solve

WITHOUT = {"LandmarkTransformer"}
MODELS = [
    estimators.GLMTronRegressor(),
    estimators.GLMTronRegressor("clipped", similarity=Gaussian(3.0), radius=3.0),
    estimators.HerdedMeanClassifier(class_weight="balanced", error=0.02),
    estimators.HingeSVMClassifier(),
    estimators.HingeSVMClassifier(fit_intercept=False, class_weight="balanced"),
    estimators.LIsotronRegressor(),
    estimators.LIsotronRegressor(2.0, similarity=Gaussian(3.0), max_iter=60),
    estimators.LandmarkedOrdinalClassifier(landmarks=12, random_state=0),
    estimators.LandmarkedOrdinalClassifier(landmarks=12, form="imc", radius=20.0, class_weight="balanced", random_state=0),
    estimators.LandmarkedOrdinalClassifier("manhattan", landmarks=12, thresholds="equispaced", random_state=0),
    estimators.LandmarkedRidgeRegressor(landmarks=12, random_state=0),
    estimators.LandmarkedRidgeRegressor("gaussian", landmarks=12, whiten=True, radius=30.0, random_state=0),
    estimators.LandmarkedRidgeRegressor(landmarks=70, fit_intercept=False, regularization=1e-3, random_state=0),
    estimators.LandmarkedSVRegressor(landmarks=12, random_state=0),
    estimators.LandmarkedSVRegressor("manhattan", landmarks=70, regularization=1e-4, random_state=0),
    estimators.LipschitzIsotonicRegressor(feature="best"),
    estimators.MPowerRegressor(),
    estimators.MPowerRegressor("laplacian", power=2.0),
    estimators.MeanSimilarityClassifier(),
    estimators.MeanSimilarityClassifier(class_weight="balanced"),
    estimators.NadarayaWatsonRegressor(),
    estimators.SparseLandmarkedSVRegressor(landmarks=12, random_state=0),
    estimators.SparseLandmarkedSVRegressor("manhattan", landmarks=12, radius=3.0, smoothness=np.inf, random_state=0),
]


def weighted_data(seed: int, model: Any) -> tuple[Any, Any, Any]:
    """Points, targets and whole weights, some of them 0."""
    rng = np.random.default_rng(seed)
    X, y = data(rng, 60)
    return X, np.array(["high", "low", "mid"])[np.digitize(y, [-0.5, 0.5])] if is_classifier(model) else y, rng.integers(0, 4, size=60)


def outputs(model: Any, queries: Any) -> Any:
    """Numbers that predictions are made from."""
    return model.decision_function(queries) if hasattr(model, "decision_function") else model.predict(queries)


def all_certificates(model: Any, queries: Any) -> Any:
    """One for each problem that was solved; where that has the queries in it, of the predictions there."""
    if hasattr(model, "certify"):
        return (model.certify(queries),)
    return getattr(model, "certificates_", (model.certificate_,))


def same(one: Any, two: Any, queries: Any, others: Any) -> None:
    """Brackets that meet, and functions that differ by what the gaps allow."""
    for first, second in zip(all_certificates(one, queries), all_certificates(two, others), strict=True):
        allowed = 1e-9 * max(first.scale, second.scale)
        assert max(first.lower, second.lower) <= min(first.upper, second.upper) + allowed
    found, expected = outputs(one, queries), outputs(two, others)
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.max(np.abs(expected[np.isfinite(expected)])))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_weights_count_how_often_a_sample_is_there(model: Any) -> None:
    X, y, weights = weighted_data(0, model)
    model = clone(model).set_params(**({"tol": 1e-8} if "solver" in model.get_params() else {}))
    order, twice = np.random.default_rng(1).permutation(60), np.repeat(np.arange(60), weights)
    one = clone(model).fit(X[order], y[order], sample_weight=weights[order])
    two = clone(model).fit(X[twice], y[twice])
    same(one, two, X[:9], X[:9])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("similarity", ["linear", Gaussian(3.0)], ids=str)
def test_what_an_error_on_the_hold_out_counts_is_the_weight_of_the_sample(similarity: Any) -> None:
    X, y, weights = weighted_data(9, estimators.LIsotronRegressor())
    model = estimators.LIsotronRegressor(similarity=similarity, validation_fraction=0.3, max_iter=30, random_state=2)
    model.fit(X, y, sample_weight=weights)
    counted = np.flatnonzero(weights)
    held = counted[model._split(counted.size)[1]]
    errors = np.square(model.target_range_.down(model.predict(X[held])) - model.target_range_.down(y[held]))
    found = model.fit_.trace[model.fit_.chosen - 1].held_out
    assert found == pytest.approx(np.average(errors, weights=weights[held]), rel=1e-9)
    assert found != pytest.approx(np.mean(errors), rel=1e-3)


def test_of_weights_on_the_hold_out_only_the_choice_of_the_round_knows() -> None:
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(40, 2)) / 4.0, rng.uniform(size=40)
    outside, held, weights = rng.normal(size=(12, 2)) / 4.0, rng.uniform(size=12), rng.integers(1, 5, size=12)
    plain = l_isotron(X, y, validation=(outside, held), max_iter=20)
    weighed = l_isotron(X, y, validation=(outside, held), held_weights=weights, max_iter=20)
    repeated = l_isotron(X, y, validation=(np.repeat(outside, weights, axis=0), np.repeat(held, weights)), max_iter=20)
    np.testing.assert_array_equal(weighed.errors, plain.errors)
    np.testing.assert_allclose(weighed.held_out, repeated.held_out, rtol=1e-12)
    assert not np.allclose(weighed.held_out, plain.held_out, rtol=1e-3)


def test_rounds_want_weights_above_0() -> None:
    with pytest.raises(InvalidProblem, match="weights: entry 1 is 0, numbers > 0 needed"):
        l_isotron([[0.1], [0.2], [0.3]], [0.0, 0.5, 1.0], weights=[1.0, 0.0, 2.0])
    outside = ([[0.1], [0.2]], [0.0, 0.5])
    with pytest.raises(InvalidProblem, match="held_weights: 3 values, expected 2, as many as rows of the X of validation"):
        l_isotron([[0.1], [0.2], [0.3]], [0.0, 0.5, 1.0], validation=outside, held_weights=[1.0, 1.0, 2.0])
    with pytest.raises(InvalidProblem, match="held_weights: there is no validation"):
        l_isotron([[0.1], [0.2], [0.3]], [0.0, 0.5, 1.0], held_weights=[1.0, 1.0, 2.0])


OF_SIMILARITIES = ["HerdedMeanClassifier", "HingeSVMClassifier", "LIsotronRegressor", "MPowerRegressor", "NadarayaWatsonRegressor"]


@pytest.mark.parametrize("name", OF_SIMILARITIES)
def test_weights_of_precomputed_similarities(name: str) -> None:
    model = getattr(estimators, name)(similarity="precomputed")
    model.set_params(**({"tol": 1e-8} if "solver" in model.get_params() else {}))
    X, y, weights = weighted_data(2, model)
    twice = np.repeat(np.arange(60), weights)
    K = Gaussian(3.0)(X)
    one, two = clone(model).fit(K, y, sample_weight=weights), clone(model).fit(K[np.ix_(twice, twice)], y[twice])
    same(one, two, K[:9], K[:9][:, twice])


@pytest.mark.parametrize("name", ["HerdedMeanClassifier", "HingeSVMClassifier", "LandmarkedOrdinalClassifier", "MeanSimilarityClassifier"])
def test_weights_of_classes_are_those_of_their_samples(name: str) -> None:
    model = getattr(estimators, name)(Gaussian(3.0))
    model.set_params(**({"tol": 1e-8} if "tol" in model.get_params() else {}))
    X, y, weights = weighted_data(3, model)
    if "landmarks" in model.get_params():
        model.set_params(landmarks=X[:9])
    by_class = {"low": 3.0, "high": 0.5}
    one = clone(model).set_params(class_weight=by_class).fit(X, y, sample_weight=weights)
    model = model.set_params(class_weight=None)
    two = clone(model).fit(X, y, sample_weight=weights * np.array([by_class.get(label, 1.0) for label in y]))
    np.testing.assert_array_equal(outputs(one, X), outputs(two, X))
    totals = {label: float(weights[y == label].sum()) for label in set(y)}
    balanced = clone(model).set_params(class_weight="balanced").fit(X, y, sample_weight=weights)
    by_hand = clone(model).fit(X, y, sample_weight=weights / np.array([totals[label] for label in y]))
    np.testing.assert_allclose(outputs(balanced, X), outputs(by_hand, X), atol=2e-5)
    for wrong, words in (
        (2.0, "None, 'balanced' or"),
        ("even", "None, 'balanced' or"),
        ({"none": 1.0}, "no label of y"),
        ({"low": -1.0}, "low"),
    ):
        with pytest.raises(InvalidProblem, match=f"class_weight.*{words}"):
            clone(model).set_params(class_weight=wrong).fit(X, y)


def test_weights_are_refused_where_there_are_none() -> None:
    X, y = data(np.random.default_rng(4), 20)
    for name in estimators.__all__:
        model = getattr(estimators, name)()
        if not has_fit_parameter(model, "sample_weight"):
            with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight'"):
                model.fit(X, y, sample_weight=np.ones(20))
    refusing = {name for name in estimators.__all__ if not has_fit_parameter(getattr(estimators, name)(), "sample_weight")}
    assert {name for name in refusing if not name.endswith("CV")} == WITHOUT
    with pytest.raises(InvalidProblem, match="sample_weight: entry 3 is -1"):
        estimators.MPowerRegressor().fit(X, y, sample_weight=np.where(np.arange(20) == 3, -1.0, 1.0))


def test_the_weighted_svm_is_that_of_libsvm() -> None:
    from sklearn.svm import SVC

    X, y, weights = weighted_data(5, estimators.HingeSVMClassifier())
    weights = weights + np.random.default_rng(6).uniform(size=60)
    K, labels = Gaussian(3.0)(X), y == "low"
    model = estimators.HingeSVMClassifier("precomputed", regularization=0.003, tol=1e-9).fit(K, labels, sample_weight=weights)
    peer = SVC(C=1.0 / (0.003 * weights.sum()), kernel="precomputed", tol=1e-10).fit(K, labels, sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(K), peer.decision_function(K), atol=1e-4)


@pytest.mark.parametrize("bound", [PowerPenalty(0.05, 1.5), PowerBall(2.0, 2.0)])
def test_weighted_least_squares_are_means_in_other_coordinates(bound: Any) -> None:
    X, y, weights = weighted_data(7, estimators.MPowerRegressor())
    K = Gaussian(3.0).gram(X)
    problem, stretch = weighted(K, y, bound, weights)
    solution = solve(problem)
    assert solution.point is not None and solution.certificate is not None and solution.optimal
    share, factor = weights / weights.sum(), np.linalg.cholesky(K + 1e-12 * np.eye(60))
    u = cp.Variable(60)
    loss = cp.sum_squares(cp.multiply(np.sqrt(share), y - factor @ u))
    if isinstance(bound, PowerBall):
        declared = cp.Problem(cp.Minimize(loss), [cp.norm(u) <= bound.norm_bound])
    else:
        declared = cp.Problem(cp.Minimize(loss + bound.regularization * cp.power(cp.norm(u), bound.power)))
    declared.solve(solver="CLARABEL")
    assert solution.certificate.upper == pytest.approx(float(declared.value), rel=1e-6)
    fitted = K @ (stretch * solution.point["alpha"])
    np.testing.assert_allclose(fitted, factor @ u.value, atol=1e-4)


def test_medians_deviations_and_distinct_points_are_those_of_the_repeated_sample() -> None:
    rng = np.random.default_rng(8)
    for n in range(1, 9):
        y, weights = rng.integers(0, 5, size=n).astype(float), rng.integers(1, 4, size=n).astype(float)
        repeated = np.repeat(y, weights.astype(int))
        assert sample_weights.median(y, weights) == np.median(repeated) == sample_weights.median(y, 0.3 * weights)
        assert sample_weights.deviation(y, weights) == pytest.approx(np.std(repeated), abs=1e-14)
    X = rng.integers(0, 3, size=(40, 2)).astype(float)
    order = rng.permutation(np.repeat(np.arange(40), rng.integers(1, 3, size=40)))
    np.testing.assert_array_equal(X[order][sample_weights.distinct(X[order])], X[sample_weights.distinct(X)])
    np.testing.assert_array_equal(np.unique(X, axis=0), X[sample_weights.distinct(X)])


def test_weights_are_as_many_as_the_samples() -> None:
    from simopt.problems.bounds import Penalty
    from simopt.problems.hinge_svm import HingeSVM

    with pytest.raises(InvalidProblem, match="weights: 3 values, expected 2, as many as labels"):
        HingeSVM(np.eye(2), [1.0, -1.0], Penalty(1.0), weights=np.ones(3))
    np.testing.assert_allclose(SampleWeights.of(2, np.array([1.0, 3.0])).floats, [0.25, 0.75])


def test_a_sample_of_weight_zero_is_left_out_of_an_isotonic_fit() -> None:
    """It decides neither the number of knots nor where the fit ends, nor which column is taken."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    X[7], y[7], weights = (50.0, -50.0), 1e3, np.where(np.arange(30) == 7, 0.0, 1.0)
    for options in ({"feature": "best"}, {"feature": 0, "lipschitz": 2.0}):
        whole = estimators.LipschitzIsotonicRegressor(**options).fit(X, y, sample_weight=weights)
        without = estimators.LipschitzIsotonicRegressor(**options).fit(np.delete(X, 7, 0), np.delete(y, 7), sample_weight=np.ones(29))
        assert len(whole.fit_.x) == 29 and whole.feature_ == without.feature_
        np.testing.assert_array_equal(whole.predict(X), without.predict(X))
