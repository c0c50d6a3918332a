"""What a fit says of itself: of what its certificate is, that rounds were cut short, that a ball holds it back."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from simopt import estimators


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
