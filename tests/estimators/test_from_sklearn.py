"""The page that says what scikit-learn's parameters are here: both are fitted, for every row of its tables, and what they say agrees."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_data import data
from sklearn.isotonic import IsotonicRegression
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVR

from simopt import estimators
from simopt.data import similarities
from simopt.data.similarities import Gaussian, named

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "from_sklearn.md").read_text(encoding="utf-8")
GAMMA = 0.3
Row = Callable[[], None]
ROWS: dict[str, Row] = {}


def row(first_cell: str) -> Callable[[Row], Row]:
    """The row of the page that begins so."""

    def listed(check: Row) -> Row:
        ROWS[first_cell] = check
        return check

    return listed


def sample(seed: int, n: int = 90) -> tuple[Any, Any, Any]:
    """Points, a noisy function of them, and two classes of different size."""
    X, y = data(np.random.default_rng(seed), n)
    return X, y, np.where(y + 0.4 * np.sin(9.0 * X[:, 1]) > 0.4, 1, 0)


def landmark_features(X: Any, landmarks: Any) -> Any:
    """Ψ."""
    return estimators.LandmarkTransformer(Gaussian(1.0 / GAMMA), landmarks=landmarks).fit(X).transform(X)


@row("KernelRidge(alpha")
def kernel_ridge() -> None:
    X, y, _ = sample(0)
    theirs = KernelRidge(alpha=0.7, kernel="rbf", gamma=GAMMA).fit(X, y)
    ours = estimators.MPowerRegressor(Gaussian(1.0 / GAMMA), power=2, regularization=0.7 / len(X), tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)


@row("SVC(C, kernel")
def svc() -> None:
    X, _, classes = sample(1)
    weights = np.random.default_rng(2).uniform(0.2, 2.0, size=len(X))
    theirs = SVC(C=5.0, gamma=GAMMA, tol=1e-9)
    for mass in (None, weights):
        strength = 1.0 / (5.0 * (len(X) if mass is None else mass.sum()))
        ours = estimators.HingeSVMClassifier(Gaussian(1.0 / GAMMA), regularization=strength, tol=1e-9).fit(X, classes, mass)
        expected = theirs.fit(X, classes, mass).decision_function(X)
        np.testing.assert_allclose(ours.decision_function(X), expected, atol=1e-3)


@row("SVC(class_weight")
def svc_balanced() -> None:
    X, _, classes = sample(3)
    assert len(set(np.bincount(classes))) == 2
    theirs = SVC(C=5.0, gamma=GAMMA, tol=1e-9, class_weight="balanced").fit(X, classes)
    ours = estimators.HingeSVMClassifier(Gaussian(1.0 / GAMMA), regularization=1.0 / (5.0 * len(X)), class_weight="balanced", tol=1e-9)
    np.testing.assert_allclose(ours.fit(X, classes).decision_function(X), theirs.decision_function(X), atol=1e-3)


@row("LinearSVR(C, epsilon")
def linear_svr() -> None:
    X, y, _ = sample(4)
    C, epsilon, landmarks = 50.0, 0.1, X[:12]
    features, height = landmark_features(X, landmarks), np.median(y)
    theirs = LinearSVR(C=C, epsilon=epsilon, fit_intercept=False, tol=1e-10, max_iter=1_000_000, random_state=0).fit(features, y - height)
    ours = estimators.LandmarkedSVRegressor(
        Gaussian(1.0 / GAMMA), landmarks=landmarks, regularization=1.0 / (len(X) * C), epsilon=epsilon, tol=1e-9
    ).fit(X, y)

    def objective(w: Any) -> float:
        return float(C * np.maximum(np.abs(features @ w - y + height) - epsilon, 0.0).sum() + 0.5 * w @ w)

    assert objective(ours.coef_) == pytest.approx(objective(theirs.coef_), rel=1e-5)
    assert ours.certificate_.upper * len(X) * C == pytest.approx(objective(ours.coef_), rel=1e-8)
    bounded = ours.set_params(regularization=None, radius=float(np.linalg.norm(ours.coef_)))
    expected = ours.predict(X)
    np.testing.assert_allclose(bounded.fit(X, y).predict(X), expected, atol=1e-3)


@row("Ridge(alpha")
def ridge() -> None:
    X, y, _ = sample(5)
    theirs = Ridge(alpha=1e-3).fit(landmark_features(X, X[:12]), y)
    ours = estimators.LandmarkedRidgeRegressor(Gaussian(1.0 / GAMMA), landmarks=X[:12], regularization=1e-3 / len(X)).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(landmark_features(X, X[:12])), atol=1e-7)


@row("Nystroem(gamma")
def nystroem() -> None:
    X, _, _ = sample(6)
    theirs = Nystroem(gamma=GAMMA, n_components=15, random_state=0).fit(X)
    ours = estimators.LandmarkTransformer(Gaussian(1.0 / GAMMA), landmarks=theirs.components_, whiten=True).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-6)


@row("Lasso(alpha")
def lasso() -> None:
    X, y, _ = sample(7)
    features, height = landmark_features(X, X[:12]), np.median(y)
    theirs = Lasso(alpha=1e-4, fit_intercept=False, tol=1e-12, max_iter=1_000_000).fit(features, y - height)
    residuals = np.abs(y - height - features @ theirs.coef_)
    ours = estimators.SparseLandmarkedSVRegressor(
        Gaussian(1.0 / GAMMA),
        landmarks=X[:12],
        radius=float(np.abs(theirs.coef_).sum()),
        epsilon=0.0,
        smoothness=float(0.1 / residuals.max()),
        tol=1e-10,
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), features @ theirs.coef_ + height, atol=1e-3)


@row("NearestCentroid(")
def nearest_centroid() -> None:
    X, _, classes = sample(8)
    theirs = NearestCentroid().fit(X, classes)
    middle = theirs.centroids_.mean(axis=0)
    queries = np.random.default_rng(9).normal(size=(500, 2))
    ours = estimators.MeanSimilarityClassifier("linear").fit(X - middle, classes)
    np.testing.assert_array_equal(ours.predict(queries - middle), theirs.predict(queries))


@row("IsotonicRegression(")
def isotonic() -> None:
    X, y, _ = sample(10)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(X[:, 0], y)
    ours = estimators.LipschitzIsotonicRegressor(np.inf, feature=0).fit(X[:, :1], y)
    queries = np.linspace(-5.0, 5.0, 99)
    np.testing.assert_allclose(ours.predict(queries[:, None]), theirs.predict(queries), atol=1e-9)


@row("LogisticRegression(C")
def logistic() -> None:
    X, _, classes = sample(11)
    theirs = LogisticRegression(C=0.2, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, classes)
    kappa = np.max(np.linalg.norm(X, axis=1))
    radius = float(kappa * np.linalg.norm(theirs.coef_))
    ours = estimators.GLMTronRegressor("logistic", radius=radius, fit_intercept=False, tol=1e-10).fit(X, classes)
    assert ours.ball_active_
    np.testing.assert_allclose(ours.coef_, theirs.coef_[0], atol=1e-4)
    np.testing.assert_allclose(ours.predict(X), theirs.predict_proba(X)[:, 1], atol=1e-4)


@row("LinearSVC(loss")
def two_ordered_classes() -> None:
    X, _, classes = sample(12)
    margin, C, landmarks = 0.5, 40.0, X[:12]
    features = landmark_features(X, landmarks)
    theirs = SVC(kernel="linear", C=C, tol=1e-9).fit(features, classes)  # LinearSVC penalises its intercept
    ours = estimators.LandmarkedOrdinalClassifier(
        Gaussian(1.0 / GAMMA), landmarks=landmarks, regularization=1.0 / (len(X) * C * margin), gamma=margin, tol=1e-9
    ).fit(X, classes)
    np.testing.assert_allclose(ours.decision_function(X) / margin, theirs.decision_function(features), atol=1e-3)


@row("GridSearchCV(KernelRidge")
def grid_search() -> None:
    X, y, _ = sample(13, 100)
    alphas, cv = np.geomspace(1e-3, 10.0, 9), KFold(5)
    theirs = GridSearchCV(KernelRidge(kernel="rbf", gamma=GAMMA), {"alpha": alphas}, cv=cv, scoring="r2").fit(X, y)
    grid = {"powers": [2.0], "regularizations": alphas / 80}
    ours = estimators.MPowerRegressorCV(Gaussian(1.0 / GAMMA), **grid, fit_intercept=False, cv=cv).fit(X, y)
    assert ours.best_index_ == theirs.best_index_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-6)


@row("StandardScaler(")
def scale() -> None:
    X, _, classes = sample(14)
    moved = X * [1e3, 1e-2] + 5.0
    standard = StandardScaler().fit_transform(moved)
    theirs = SVC(gamma="scale").fit(standard, classes)
    ours = named("standardised-gaussian", moved)
    assert theirs._gamma == pytest.approx(1.0 / 2)
    assert ours.base.mu == pytest.approx(2.0 * 2) == 2.0 / theirs._gamma  # type: ignore[attr-defined]
    np.testing.assert_allclose(ours(moved), pairwise.rbf_kernel(standard, gamma=0.5 * theirs._gamma), atol=1e-12)


@row("rbf_kernel(")
def rbf() -> None:
    X, _, _ = sample(15)
    expected = pairwise.rbf_kernel(X, gamma=GAMMA)
    np.testing.assert_allclose(Gaussian(1.0 / GAMMA)(X), expected, atol=1e-12)
    np.testing.assert_allclose(Gaussian.with_sigma(np.sqrt(0.5 / GAMMA))(X), expected, atol=1e-12)


@row("laplacian_kernel(")
def laplacian() -> None:
    X, _, _ = sample(16)
    np.testing.assert_allclose(similarities.Laplacian(1.0 / GAMMA)(X), pairwise.laplacian_kernel(X, gamma=GAMMA), atol=1e-12)


@row("polynomial_kernel(")
def polynomial() -> None:
    X, _, _ = sample(17)
    expected = pairwise.polynomial_kernel(X, degree=3, gamma=GAMMA, coef0=0.5)
    np.testing.assert_allclose(similarities.Polynomial(3, GAMMA, 0.5)(X), expected, rtol=1e-10)


@row("sigmoid_kernel(")
def sigmoid() -> None:
    X, _, _ = sample(18)
    np.testing.assert_allclose(similarities.Sigmoid(GAMMA, 0.5)(X), pairwise.sigmoid_kernel(X, gamma=GAMMA, coef0=0.5), atol=1e-12)


@row("linear_kernel")
def linear() -> None:
    X, _, _ = sample(19)
    np.testing.assert_allclose(similarities.Linear()(X), pairwise.linear_kernel(X), atol=1e-12)


@row('kernel="precomputed"')
def precomputed() -> None:
    X, _, classes = sample(20)
    K = pairwise.rbf_kernel(X, gamma=GAMMA)
    theirs = SVC(C=5.0, kernel="precomputed", tol=1e-9).fit(K, classes)
    ours = estimators.HingeSVMClassifier("precomputed", regularization=1.0 / (5.0 * len(X)), tol=1e-9).fit(K, classes)
    np.testing.assert_allclose(ours.decision_function(K), theirs.decision_function(K), atol=1e-3)


@pytest.mark.parametrize("name", ROWS)
def test_parameters_are_what_the_page_says(name: str) -> None:
    ROWS[name]()


def test_every_row_of_the_page_is_tested() -> None:
    cells = [re.match(r"\| `([^`]+)`", line) for line in PAGE.splitlines()]
    found = [cell[1] for cell in cells if cell is not None and cell[1] != "sklearn.metrics.pairwise"]
    assert len(found) == len(ROWS)
    for cell in found:
        assert sum(cell.startswith(name) for name in ROWS) == 1, cell
