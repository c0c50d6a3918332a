"""Landmark features as a transformer, and ridge regression on them: the choice of landmarks, whitening, peers."""

from typing import Any

import numpy as np
import pytest
from made_data import data
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.landmarks import LandmarkMap
from simopt.data.similarities import Gaussian, Linear, Manhattan
from simopt.estimators import LandmarkedRidgeRegressor, LandmarkTransformer
from simopt.estimators.base import usual_number
from simopt.estimators.landmarked.landmark_choice import greedy, whitening

WIDTH = Gaussian(2.0)


def points(n: int = 60) -> Any:
    return data(np.random.default_rng(31), n)


def test_features_are_the_landmark_map_of_the_same_draw() -> None:
    X, _ = points()
    model = LandmarkTransformer(Manhattan(), landmarks=12, random_state=5).fit(X)
    psi = LandmarkMap.from_data(X, 12, np.random.default_rng(5), Manhattan())
    np.testing.assert_array_equal(model.transform(X), psi(X))
    np.testing.assert_array_equal(model.fit_transform(X), psi(X))
    assert model.get_feature_names_out().tolist() == [f"landmarktransformer{k}" for k in range(12)]


def test_whitened_features_are_those_of_nystroem_up_to_a_rotation() -> None:
    X, _ = points()
    model = LandmarkTransformer(WIDTH, landmarks=X[:15], whiten=True).fit(X)
    peer = Nystroem(kernel=lambda x, z: float(WIDTH(x[None], z[None])[0, 0]), n_components=15)
    peer.fit(X[:15])
    ours, theirs = model.transform(X), peer.transform(X)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-6)
    np.testing.assert_allclose(ours[:15] @ ours.T, WIDTH(X[:15], X), atol=1e-6)  # K where one point is a landmark
    assert np.all(np.sum(np.square(ours), axis=1) <= 1.0 + 1e-9)  # and below K(x, x) = 1 elsewhere


def test_a_singular_matrix_of_landmarks_is_whitened_by_its_pseudoinverse() -> None:
    X, _ = points()
    root = whitening(Linear()(X[:9], X[:9]))  # of rank 2
    np.testing.assert_allclose(root @ root, np.linalg.pinv(Linear()(X[:9], X[:9])), atol=1e-10)
    features = LandmarkTransformer(Linear(), landmarks=X[:9], whiten=True).fit_transform(X)
    np.testing.assert_allclose(features @ features.T, X @ X.T, atol=1e-10)


def test_greedy_choice_takes_the_point_that_is_represented_worst() -> None:
    X, _ = points()
    K = WIDTH.gram(X)
    chosen = greedy(np.diagonal(K), lambda i: K[i], 8)
    for k in range(1, 8):
        known = chosen[:k]
        left = np.diagonal(K) - np.einsum("ij,ji->i", K[:, known], np.linalg.solve(K[np.ix_(known, known)], K[known]))
        assert left[chosen[k]] == pytest.approx(left.max(), abs=1e-9)
    assert greedy(np.diagonal(X @ X.T), lambda i: (X @ X.T)[i], 8).size == 2  # the rank
    assert greedy(np.zeros(3), lambda i: np.zeros(3), 2).size == 1
    with pytest.raises(InvalidProblem, match=r"training point .* less what 1 others explain is -"):
        greedy(np.ones(2), lambda i: np.array([1.0, 2.0])[:: 1 if i == 0 else -1], 2)


@pytest.mark.parametrize("selection", ["greedy", "k-means++"])
def test_chosen_landmarks_leave_less_of_the_kernel_than_drawn_ones(selection: str) -> None:
    """tr(K − K̂) over the training points, the mean of ten draws: 200 points in six heaps of unequal size."""
    rng = np.random.default_rng(32)
    X = np.repeat(rng.normal(scale=5.0, size=(6, 2)), [150, 20, 10, 10, 5, 5], axis=0) + 0.1 * rng.normal(size=(200, 2))

    def missing(rule: str, seed: int) -> float:
        features = LandmarkTransformer(WIDTH, landmarks=8, selection=rule, whiten=True, random_state=seed).fit_transform(X)
        return float(len(X) - np.sum(np.square(features)))

    assert np.mean([missing(selection, seed) for seed in range(10)]) < 0.7 * np.mean([missing("random", seed) for seed in range(10)])


def test_precomputed_similarities_choose_the_same_landmarks() -> None:
    X, _ = points()
    K = WIDTH.gram(X)
    for options in ({"selection": "greedy"}, {"selection": "greedy", "whiten": True}, {"random_state": 3, "whiten": True}):
        by_points = LandmarkTransformer(WIDTH, landmarks=10, **options).fit(X)
        by_matrix = LandmarkTransformer("precomputed", landmarks=10, **options).fit(K)
        np.testing.assert_allclose(by_matrix.transform(K[:5]), by_points.transform(X[:5]), atol=1e-9)
        np.testing.assert_array_equal(X[by_matrix.landmark_indices_], by_points.landmark_map_.landmarks)


def test_any_linear_model_may_follow() -> None:
    X, y = points(90)
    model = make_pipeline(LandmarkTransformer("laplacian", landmarks=30, random_state=0), LogisticRegression(C=1e4)).fit(X, y > 0)
    assert model.score(X, y > 0) > 0.9
    assert clone(model).set_params(landmarktransformer__whiten=True).fit(X, y > 0).score(X, y > 0) > 0.9


def test_what_a_similarity_does_not_allow_is_refused_with_a_remedy() -> None:
    X, _ = points()
    with pytest.raises(InvalidProblem, match="not positive semidefinite, and its features cannot be whitened; take whiten=False"):
        LandmarkTransformer(Manhattan(), landmarks=5, whiten=True, random_state=0).fit(X)
    with pytest.raises(InvalidProblem, match="take selection='random' or 'k-means"):
        LandmarkTransformer(Manhattan(), landmarks=5, selection="greedy").fit(X)
    with pytest.raises(InvalidProblem, match=r"similarity of the landmarks: .*not positive semidefinite"):
        LandmarkTransformer(lambda x, z: -(x @ z.T), landmarks=5, whiten=True, random_state=0).fit(X)
    with pytest.raises(InvalidProblem, match="take 'random' or 'greedy'"):
        LandmarkTransformer("precomputed", landmarks=5, selection="k-means++").fit(WIDTH.gram(X))
    with pytest.raises(UnknownName, match="unknown selection 'best'"):
        LandmarkTransformer(landmarks=5, selection="best").fit(X)


def test_ridge_on_landmarks_is_ridge_on_the_features() -> None:
    X, y = points()
    for options in ({}, {"whiten": True, "selection": "greedy"}):
        model = LandmarkedRidgeRegressor(WIDTH, landmarks=12, regularization=1e-3, random_state=1, **options).fit(X, y + 7.0)
        features = LandmarkTransformer(WIDTH, landmarks=12, random_state=1, **options)
        peer = make_pipeline(features, Ridge(alpha=1e-3 * len(y))).fit(X, y + 7.0)
        np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-8)
        assert model.intercept_ == pytest.approx(peer[-1].intercept_, abs=1e-8)


def test_ridge_whitened_on_all_points_is_kernel_ridge() -> None:
    X, y = points(40)
    model = LandmarkedRidgeRegressor(WIDTH, landmarks=X, whiten=True, regularization=1e-2, fit_intercept=False).fit(X, y)
    peer = KernelRidge(alpha=1e-2 * len(y), kernel="precomputed").fit(WIDTH.gram(X), y)
    np.testing.assert_allclose(model.predict(X), peer.predict(WIDTH.gram(X)), atol=1e-6)


def test_ridge_in_a_ball_has_the_norm_of_the_ball() -> None:
    X, y = points()
    free = LandmarkedRidgeRegressor(WIDTH, landmarks=12, regularization=1e-3, random_state=1).fit(X, y)
    size = float(np.linalg.norm(free.coef_))
    ball = LandmarkedRidgeRegressor(WIDTH, landmarks=12, radius=size, random_state=1).fit(X, y)
    np.testing.assert_allclose(ball.predict(X), free.predict(X), atol=1e-4)  # the same λ, by duality
    assert np.linalg.norm(ball.coef_) == pytest.approx(size, rel=1e-9) and ball.regularization_ is None
    with pytest.raises(InvalidProblem, match="both given"):
        LandmarkedRidgeRegressor(radius=1.0, regularization=1.0).fit(X, y)


def test_the_usual_number_of_landmarks_grows_with_the_root_between_its_ends() -> None:
    assert [usual_number(n) for n in (5, 299, 400, 1600, 10_000_000)] == [5, 299, 300, 400, 500]
