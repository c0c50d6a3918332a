"""What estimators choose where they are told nothing: by leaving out points, as the formula says, in the units of the data."""

from typing import Any

import numpy as np
import pytest
from made_data import data
from sklearn.base import clone, is_classifier

from simopt import estimators
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.similarities import Gaussian, Scaled, named
from simopt.data.similarities.defaults import DEFAULT_KERNEL
from simopt.estimators import base, leave_one_out, widths
from simopt.estimators.leave_one_out import Points, points_of
from simopt.estimators.ordinal.ordinal import middles

REGRESSORS = [
    "MPowerRegressor",
    "LandmarkedRidgeRegressor",
    "LandmarkedSVRegressor",
    "SparseLandmarkedSVRegressor",
    "NadarayaWatsonRegressor",
]
CLASSIFIERS = ["HingeSVMClassifier", "MeanSimilarityClassifier", "HerdedMeanClassifier", "LandmarkedOrdinalClassifier"]


def made(name: str) -> Any:
    """The estimator as it comes, with a fixed draw of landmarks."""
    model = getattr(estimators, name)()
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def output(model: Any, X: Any) -> Any:
    """Numbers that predictions are made from."""
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def ridge(K: Any, y: Any, p: Any, strength: float) -> Any:
    """α of min Σ p_i (y_i − (Kα)_i)² + λ αᵀKα, from the normal equations."""
    return np.linalg.solve(np.diag(p) @ K + strength * np.eye(len(y)), p * y)


@pytest.mark.parametrize("intercept", [False, True])
def test_what_a_ridge_errs_by_at_a_point_left_out_needs_no_other_fit(intercept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = data(rng, 25)
    K, p = Gaussian(2.0)(X), rng.dirichlet(np.ones(25))
    shown: dict[str, Any] = {}

    def observed(residuals: Any, free: Any) -> int:
        shown["errors"] = np.square(residuals / free).mean(axis=0)
        return 0

    monkeypatch.setattr(leave_one_out, "least", observed)
    points = Points(np.arange(25), y + 3.0, p, 25, np.arange(25))
    leave_one_out.ridge_of_gram(K, points, intercept)
    targets, strengths = y + 3.0, leave_one_out.grid(float(p @ np.diagonal(K)), leave_one_out.WEAKEST_OF_GRAM)
    size = np.max(np.abs(targets - (p @ targets if intercept else 0.0)))
    for k in (0, 8, 16):  # λ from 10 down to 1e-3
        errors = []
        for i in range(25):
            rest = np.arange(25) != i
            height = (p[rest] @ targets[rest]) / p[rest].sum() if intercept else 0.0
            alpha = ridge(K[np.ix_(rest, rest)], targets[rest] - height, p[rest], strengths[k])
            errors.append(targets[i] - height - K[i, rest] @ alpha)
        assert shown["errors"][k] * size**2 == pytest.approx(p @ np.square(errors), rel=1e-7)
    Z, w = rng.normal(size=(25, 4)), np.sqrt(p)
    leave_one_out.ridge_of_features(Z, points, intercept)
    around = Z - p @ Z if intercept else Z
    strengths = leave_one_out.grid(float(p @ np.square(around).sum(axis=1)), leave_one_out.WEAKEST_OF_FEATURES)
    design = np.column_stack([Z, np.ones(25)]) if intercept else Z
    for k in (0, 8, 40):
        penalty = strengths[k] * np.diag([1.0] * 4 + [0.0] * intercept)
        errors = []
        for i in range(25):
            rest = np.arange(25) != i
            A = design[rest] * w[rest, None]
            errors.append(targets[i] - design[i] @ np.linalg.solve(A.T @ A + penalty, A.T @ (w[rest] * targets[rest])))
        assert shown["errors"][k] * size**2 == pytest.approx(p @ np.square(errors), rel=1e-6)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
def test_for_every_power_the_function_is_that_of_the_ridge(power: float) -> None:
    X, y = data(np.random.default_rng(1), 80)
    two, other = (estimators.MPowerRegressor(power=m, tol=1e-10).fit(X, y) for m in (2.0, power))
    np.testing.assert_allclose(other.predict(X), two.predict(X), atol=1e-4)
    assert other.certificate_.closes(1e-9)


@pytest.mark.parametrize("name", REGRESSORS + CLASSIFIERS)
def test_defaults_follow_the_units_of_the_columns_and_of_the_targets(name: str) -> None:
    X, y = data(np.random.default_rng(2), 70)
    labels = np.digitize(y, [0.0]) if name in CLASSIFIERS else y
    tight = {"tol": 1e-9} if "tol" in made(name).get_params() else {}
    model, moved = made(name).set_params(**tight).fit(X, labels), X * [1e-3, 1e4]
    size = np.max(np.abs(output(model, X)))
    np.testing.assert_allclose(output(clone(model).fit(moved, labels), moved), output(model, X), atol=1e-4 * size)
    if name in REGRESSORS:
        np.testing.assert_allclose(clone(model).fit(X, 1e3 * y + 5e3).predict(X), 1e3 * model.predict(X) + 5e3, atol=0.1 * size)


@pytest.mark.parametrize("name", REGRESSORS + CLASSIFIERS)
def test_what_was_chosen_can_be_given(name: str) -> None:
    X, y = data(np.random.default_rng(3), 70)
    labels = np.digitize(y, [-0.5, 0.5]) if name in CLASSIFIERS else y
    model = made(name).fit(X, labels)
    chosen = {key: getattr(model, f"{key}_") for key in ("regularization", "radius") if getattr(model, f"{key}_", None) is not None}
    if hasattr(model, "landmark_map_"):
        chosen |= {"similarity": model.landmark_map_.similarity, "landmarks": model.landmark_map_.landmarks}
    else:
        chosen["similarity"] = model.similarity_
    if name == "MPowerRegressor":
        chosen["fit_intercept"] = True
    again = made(name).set_params(**chosen).fit(X, labels)
    np.testing.assert_array_equal(output(again, X), output(model, X))


def test_numbers_that_are_given_mean_what_they_meant_before_there_was_a_choice() -> None:
    X, y = data(np.random.default_rng(4), 50)
    y = y + 7.0
    model = estimators.MPowerRegressor(Gaussian(2.0), power=2.0, regularization=0.01).fit(X, y)
    K = Gaussian(2.0)(X)
    np.testing.assert_allclose(model.predict(X), K @ np.linalg.solve(K + 0.5 * np.eye(50), y), rtol=1e-6)
    assert model.intercept_ == 0.0 and model.regularization_ == 0.01
    given = estimators.LandmarkedSVRegressor(regularization=1e-3, random_state=0).fit(X, y)
    assert given.radius_ is None


def test_of_many_points_some_choose_and_n_lambda_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(np.random.default_rng(5), 120)
    y = y + np.random.default_rng(6).normal(size=120)
    monkeypatch.setattr(leave_one_out, "MOST", 40)
    points = points_of(X, y, None)
    assert points.rows.size == 40 and points.whole == 120 and points.sample_weights.sum() == pytest.approx(1.0)
    model = estimators.MPowerRegressor(power=2.0).fit(X, y)
    few = leave_one_out.ridge_of_gram(model.similarity_(X[points.rows]), points, True)
    assert model.regularization_ == pytest.approx(few.regularization * 40 / 120)


def test_samples_alike_are_one_point_and_are_left_out_together() -> None:
    X = np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0], [0.0, -0.0], [-0.0, 0.0]])
    points = points_of(X, np.array([1.0, 2.0, 4.0, 5.0, 5.0]), np.array([1.0, 1.0, 2.0, 0.0, 0.0]))
    np.testing.assert_array_equal(X[points.rows], [[0.0, 5.0], [2.0, 1.0]])
    np.testing.assert_allclose(points.targets, [2.0, 3.0])
    np.testing.assert_allclose(points.sample_weights, [0.25, 0.75])
    assert points.whole == 2 and points.point.tolist() == [1, 0, 1, 2, 2]


def test_the_width_of_the_means_is_the_one_that_errs_least_when_points_are_left_out() -> None:
    rng = np.random.default_rng(7)
    X, y = data(rng, 60)
    classes = np.digitize(y, [-0.5, 0.9])
    model = estimators.MeanSimilarityClassifier().fit(X, classes)
    usual = named(DEFAULT_KERNEL, X)
    assert isinstance(usual, Scaled) and isinstance(usual.base, Gaussian)
    errors = []
    for width in widths.WIDTHS:
        K = Scaled(Gaussian(usual.base.mu * width), usual.factors)
        wrong = np.zeros(60)
        for i in range(60):
            rest = np.arange(60) != i
            means = [K(X[i : i + 1], X[rest & (classes == c)]).mean() for c in range(3)]
            wrong[i] = classes[i] != int(np.argmax(means))
        errors.append(np.mean([wrong[classes == c].mean() for c in range(3)]))
    assert model.similarity_.base.mu == usual.base.mu * widths.WIDTHS[int(np.argmin(errors))]
    few = estimators.HerdedMeanClassifier().fit(X, classes)
    assert few.similarity_ == model.similarity_
    kernel = estimators.NadarayaWatsonRegressor().fit(X, y)
    errors = []
    for width in widths.WIDTHS:
        K = Scaled(Gaussian(usual.base.mu * width), usual.factors)(X)
        np.fill_diagonal(K, 0.0)
        errors.append(np.mean(np.square(y - K @ y / K.sum(axis=1))))
    assert kernel.similarity_.base.mu == usual.base.mu * widths.WIDTHS[int(np.argmin(errors))]


def test_no_more_is_chosen_than_there_is() -> None:
    for name in REGRESSORS:
        one = made(name).fit([[1.0, 2.0]], [3.0])
        np.testing.assert_allclose(one.predict([[1.0, 2.0]]), [3.0], atol=1e-6)
        flat = made(name).fit(np.ones((6, 2)), np.full(6, 2.0))
        np.testing.assert_allclose(flat.predict([[1.0, 2.0]]), [2.0], atol=1e-5)
    for n, expected in ((1, 1), (300, 300), (900, 300), (1600, 400), (10_000, 500)):
        assert base.usual_number(n) == expected


def test_middles_of_intervals() -> None:
    np.testing.assert_array_equal(middles(None, 3, 0.5), [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(middles(np.array([1.5, 2.5, 4.5]), 4, 0.5), [1.0, 2.0, 3.5, 5.0])


@pytest.mark.parametrize("thresholds", ["learned", "equispaced"])
def test_an_ordinal_rule_in_units_of_the_data_knows_no_scale_of_the_similarity_and_no_margin(thresholds: str) -> None:
    """K times 4 is Ψ times 4: in the units of the problem λ times 16, and B over 4. γ times 4 is λ over 4, and B times 4."""
    X, y = data(np.random.default_rng(40), 80)
    labels = np.digitize(y, [-0.7, 0.0, 0.7])
    model = estimators.LandmarkedOrdinalClassifier(Gaussian(2.0), landmarks=X[:20], thresholds=thresholds, units="data", tol=1e-9)
    scaled = {"similarity": 4.0 * Gaussian(2.0)}
    wider = {"gamma": 4.0} if thresholds == "learned" else None
    for given in ({"regularization": 0.5}, {"radius": 0.5}):
        one, two = clone(model).set_params(**given).fit(X, labels), clone(model).set_params(**given, **scaled).fit(X, labels)
        np.testing.assert_allclose(two.scores(X), one.scores(X), atol=1e-3)
        if "radius" in given:
            assert two.radius_ == pytest.approx(one.radius_ / 4.0, rel=1e-6) and one.regularization_ is None
        else:
            assert two.regularization_ == pytest.approx(16.0 * one.regularization_, rel=1e-6) and one.radius_ is None
        again = clone(model).set_params(units="problem", radius=one.radius_, regularization=one.regularization_).fit(X, labels)
        np.testing.assert_array_equal(again.scores(X), one.scores(X))
        if wider is not None:
            three = clone(model).set_params(**given, **wider).fit(X, labels)
            np.testing.assert_allclose(three.scores(X) - three.thresholds_[0], 4.0 * (one.scores(X) - one.thresholds_[0]), atol=5e-3)


def test_a_radius_of_1_in_units_of_the_data_is_the_default_and_other_units_are_refused() -> None:
    X, y = data(np.random.default_rng(41), 60)
    labels = np.digitize(y, [-0.7, 0.7])
    model = estimators.LandmarkedOrdinalClassifier(landmarks=12, random_state=0)
    usual, given = clone(model).fit(X, labels), clone(model).set_params(units="data", radius=1.0).fit(X, labels)
    assert usual.radius_ == given.radius_
    np.testing.assert_array_equal(usual.scores(X), given.scores(X))
    with pytest.raises(UnknownName, match="unknown units 'metres'; there are data, problem"):
        clone(model).set_params(units="metres").fit(X, labels)
    with pytest.raises(InvalidProblem, match="radius: -1"):
        clone(model).set_params(units="data", radius=-1.0).fit(X, labels)
    choosing = estimators.LandmarkedOrdinalClassifierCV(landmarks=12, random_state=0, units="data", cv=3).fit(X, labels)
    values = np.asarray(choosing.cv_results_["param_regularization"], dtype=float)
    assert values[0] == pytest.approx(100.0) and values[-1] == pytest.approx(1e-5)
    again = clone(model).set_params(regularization=choosing.best_estimator_.regularization_).fit(X, labels)
    np.testing.assert_array_equal(choosing.predict(X), again.predict(X))
