"""What a fit says of itself: of what its certificate is, that rounds were cut short, that a ball holds it back."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler

from simopt import estimators
from simopt.core.errors import ConstantFit, InvalidProblem


def test_the_step_of_l_isotron_depends_neither_on_the_farthest_point_nor_on_units() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    X[0] *= 50
    y = np.tanh(X @ [1.0, -1.0, 0.5, 0.0]) + 0.1 * rng.normal(size=1000)
    model = estimators.LIsotronRegressor(max_iter=1000).fit(X, y)
    assert model.score(X, y) > max(0.95, LinearRegression().fit(X, y).score(X, y))
    other = estimators.LIsotronRegressor(max_iter=1000).fit(X * [1.0, 100.0, 0.01, 7.0], y)
    np.testing.assert_allclose(other.predict(X * [1.0, 100.0, 0.01, 7.0]), model.predict(X), atol=1e-6)


def test_rounds_that_are_cut_short_are_said() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        estimators.LIsotronRegressor(max_iter=2).fit(X, np.tanh(3.0 * X[:, 0]))


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(5))
def test_rounds_of_a_linear_model_come_to_an_end_by_default(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 5))
    z = X @ rng.normal(size=5)
    for y in (z, np.tanh(z), np.maximum(z, 0.0)):
        model = estimators.LIsotronRegressor().fit(X, y + 0.2 * rng.normal(size=300))
        assert model.fit_.stopped == "converged" and model.n_iter_ < 2000


def test_glm_tron_says_that_its_ball_is_active() -> None:
    X = np.linspace(-3.0, 3.0, 50)[:, None]
    y = 1.0 / (1.0 + np.exp(-9.0 * X[:, 0]))
    with pytest.warns(UserWarning, match="ball"):
        held = estimators.GLMTronRegressor().fit(X, y)
    free = estimators.GLMTronRegressor(radius=1e3).fit(X, y)
    assert held.ball_active_ and not free.ball_active_ and free.score(X, y) > held.score(X, y)


def test_a_certificate_says_of_what_it_is() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    of = estimators.LandmarkedSVRegressor(regularization=0.25, landmarks=9, random_state=0).fit(X, X[:, 0]).certificate_.of
    assert (
        "landmarked-svr" in of
        and "regularization = 0.25" in of
        and of.endswith("not the choice of the similarity, the landmarks and the parameters")
    )
    assert "hinge-svm" in estimators.HingeSVMClassifier().fit(X, X[:, 0] > 0).certificate_.of
    assert "m-power-rls" in estimators.MPowerRegressor().fit(X, X[:, 0]).certificate_.of


def test_positions_nearer_than_a_quotient_of_floats_predict_what_was_fitted() -> None:
    tiny = 5e-324
    z = np.array([0.0, tiny, 2 * tiny, 1.0, 2.0])
    y = np.array([-1.0, 0.5, 1.0, 3.0, 3.5])
    model = estimators.LipschitzIsotonicRegressor(np.inf, feature=0).fit(z[:, None], y)
    np.testing.assert_array_equal(model.predict(z[:, None]), y)
    between = model.predict([[0.5], [1.5], [-1.0], [9.0]])
    np.testing.assert_allclose(between, [2.0, 3.25, -1.0, 3.5], rtol=1e-12)


def test_isotonic_predictions_need_the_ends_of_flat_pieces_only() -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=500)
    model = estimators.LipschitzIsotonicRegressor(np.inf, feature=0).fit(z[:, None], z + rng.normal(size=500))
    queries = np.concatenate([z, rng.normal(size=500), [-9.0, 9.0]])
    assert model.function_.nodes.size < 200 < model.fit_.function.nodes.size
    np.testing.assert_array_equal(model.predict(queries[:, None]), model.fit_.function(queries))


def raw_columns(seed: int) -> tuple[Any, Any]:
    """Columns of very different sizes, around other numbers than 0, of which the smallest matters most."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(1000.0, 300.0, 150), rng.normal(0.0, 1e-2, 150), rng.normal(50.0, 10.0, 150)])
    return X, 400.0 * X[:, 1] + 0.1 * rng.normal(size=150)


ON_RAW_COLUMNS = [
    estimators.LandmarkedSVRegressor("linear", random_state=0),
    estimators.LandmarkedSVRegressor("linear", radius=1e-6, random_state=0),
    estimators.LandmarkedSVRegressor("linear", regularization=1e6, random_state=0),
    estimators.LandmarkedSVRegressorCV("linear", cv=2, regularizations=[1e6, 1e7], random_state=0),
    estimators.SparseLandmarkedSVRegressor("linear", random_state=0),
    estimators.LandmarkedRidgeRegressor("linear", random_state=0),
    estimators.LandmarkedRidgeCV("linear", cv=2, random_state=0),
    estimators.MPowerRegressor("linear", regularization=1e9),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", ON_RAW_COLUMNS, ids=repr)
def test_an_optimum_that_is_hardly_better_than_a_constant_is_said(model: Any, seed: int) -> None:
    X, y = raw_columns(seed)
    with pytest.warns(ConstantFit, match=r"hardly better than a constant: the loss is at least .*standardise the columns of X, ") as caught:
        model.fit(X, y)
    assert model.score(X, y) < 0.2 and {warning.filename for warning in caught} == {__file__}
    assert model.certificate_.closes(1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", ON_RAW_COLUMNS, ids=repr)
def test_its_remedy_helps(model: Any, seed: int) -> None:
    X, y = raw_columns(seed)
    strength = "regularizations" if hasattr(model, "regularizations") else "regularization"
    given = {name: None for name in ("radius", "regularization") if name in model.get_params()}
    if strength == "regularizations":
        given = {"regularizations": 5}
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstantFit)
        better = type(model)(**model.get_params() | given).fit(StandardScaler().fit_transform(X), y)
    assert better.score(StandardScaler().fit_transform(X), y) > 0.9


def test_a_constant_is_no_word_where_there_is_nothing_else_to_learn() -> None:
    X, _ = raw_columns(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstantFit)
        estimators.LandmarkedSVRegressor("linear", random_state=0).fit(X, np.full(len(X), 3.0))


@pytest.mark.parametrize("columns", [2, 5])
def test_a_function_of_one_number_refuses_several_columns(columns: int) -> None:
    X = np.random.default_rng(4).normal(size=(40, columns))
    y = X[:, -1]
    with pytest.raises(InvalidProblem, match=f'^X: {columns} columns, 1 needed, .* give feature=0, …, {columns - 1}, or feature="best"'):
        estimators.LipschitzIsotonicRegressor().fit(X, y)
    best, last = (estimators.LipschitzIsotonicRegressor(feature=feature).fit(X, y) for feature in ("best", columns - 1))
    alone = estimators.LipschitzIsotonicRegressor().fit(X[:, -1:], y)
    assert best.feature_ == columns - 1 and alone.feature_ == 0
    np.testing.assert_array_equal(best.predict(X), last.predict(X))
    np.testing.assert_array_equal(best.predict(X), alone.predict(X[:, -1:]))
    with pytest.raises(InvalidProblem, match="^feature: 'worst' given, the number of a column or 'best' needed"):
        estimators.LipschitzIsotonicRegressor(feature="worst").fit(X, y)
