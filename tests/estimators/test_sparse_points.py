"""Sparse points: the fits of the dense ones, where those would not fit into memory, and a word where a similarity needs them dense."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from simopt import estimators
from simopt.core.errors import InvalidProblem
from simopt.data.similarities import Gaussian, Laplacian, Linear, Normalised, Polynomial, Similarity
from simopt.data.similarities.distances import mean_squared_distance, squared
from simopt.data.similarities.named import RULES, named, takes_sparse
from simopt.estimators.sample_weights import distinct

TAKEN: list[Similarity] = [Linear(), Polynomial(3, 0.5, 1.0), Gaussian(4.0), Normalised(Linear() + Gaussian(1.0)), Gaussian(2.0) * Linear()]
FEW = {"landmarks": 25, "random_state": 0}
MODELS = [
    estimators.MPowerRegressor(),
    estimators.MPowerRegressor("polynomial"),
    estimators.HingeSVMClassifier(),
    estimators.MeanSimilarityClassifier("linear"),
    estimators.LandmarkedSVRegressor(**FEW),
    estimators.LandmarkedRidgeRegressor(**FEW),
    estimators.LandmarkedRidgeRegressor(Linear(), selection="k-means++", **FEW),
    estimators.LandmarkedRidgeRegressor("gaussian", selection="greedy", whiten=True, **FEW),
    estimators.LandmarkedOrdinalClassifier(**FEW),
    estimators.SparseLandmarkedSVRegressor(**FEW),
    estimators.MPowerRegressorCV(regularizations=4),
    estimators.HingeSVMClassifierCV(Normalised(Linear() + Gaussian(1.0)), regularizations=4),
    estimators.LandmarkedRidgeCV(regularizations=4, **FEW),
    estimators.LandmarkedSVRegressorCV(regularizations=4, **FEW),
    estimators.LandmarkedOrdinalClassifierCV(regularizations=4, **FEW),
]
UNABLE = [
    estimators.GLMTronRegressor(),
    estimators.LIsotronRegressor(),
    estimators.LipschitzIsotonicRegressor(feature="best"),
    estimators.NadarayaWatsonRegressor(),
    estimators.HerdedMeanClassifier(),
    estimators.MPowerRegressor("laplacian"),
    estimators.MPowerRegressor(Laplacian(1.0) + Gaussian(1.0)),
    estimators.LandmarkedSVRegressor("manhattan"),
    estimators.LandmarkedSVRegressor(lambda A, B: A @ B.T),
    estimators.HingeSVMClassifier("precomputed"),
]


def data(n: int = 90) -> tuple[Any, Any, Any]:
    """Points of which half the entries are 0, one of them twice and one without entries; targets and labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * (rng.uniform(size=(n, 5)) < 0.5)
    X[3], X[8] = X[7], 0.0
    X[:, 4] += 1.0  # no point is 0, so that cosines are known
    y = X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=n)
    return X, y, np.where(y > np.median(y), "high", "low")


def targets(model: Any, y: Any, labels: Any) -> Any:
    return labels if "Classifier" in type(model).__name__ else y


@pytest.mark.parametrize("K", TAKEN, ids=repr)
def test_values_are_those_of_the_dense_points(K: Similarity) -> None:
    X, _, _ = data()
    S = scipy.sparse.csc_matrix(X)  # any format
    assert K.takes_sparse
    np.testing.assert_allclose(K(S), K(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(K(S, X[:7]), K(X, X[:7]), rtol=1e-12, atol=1e-12)
    gram = K.gram(S)
    assert np.array_equal(gram, gram.T)
    np.testing.assert_allclose(K.diagonal(S), np.diagonal(gram), rtol=1e-12)


def test_distances_are_exact_for_equal_points_and_good_for_near_ones() -> None:
    rng = np.random.default_rng(1)
    X = np.zeros((40, 30))
    X[:, ::3] = 1e3 + rng.normal(size=(40, 10))
    X[20:] = X[:20] * (1.0 + 1e-7)
    X[5] = X[4]
    S = scipy.sparse.csr_array(X)
    exact = np.array([[float(np.sum(np.square(np.longdouble(a) - np.longdouble(b)))) for b in X] for a in X])
    np.testing.assert_allclose(squared(S, S), exact, rtol=1e-11)
    assert squared(S, S)[4, 5] == 0.0
    weights = rng.uniform(size=40)
    assert mean_squared_distance(S) == pytest.approx(mean_squared_distance(X), rel=1e-12)
    assert mean_squared_distance(S, weights) == pytest.approx(mean_squared_distance(X, weights), rel=1e-12)


def test_names_take_sparse_points_where_their_similarities_do() -> None:
    X, _, _ = data()
    S = scipy.sparse.coo_array(X)
    for name in RULES:
        assert takes_sparse(name) == named(name, X).takes_sparse
        if not takes_sparse(name):
            with pytest.raises(InvalidProblem, match=r"inputs: a sparse matrix, .* toarray\(\)"):
                named(name, S)
            continue
        for weights in (None, np.arange(90.0)):
            np.testing.assert_allclose(named(name, S, weights)(S), named(name, X, weights)(X), rtol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_distinct_rows_are_found_in_the_order_of_the_dense_ones(seed: int) -> None:
    X = np.random.default_rng(seed).integers(-1, 2, size=(60, 4)).astype(float)
    np.testing.assert_array_equal(distinct(scipy.sparse.csr_array(X)), distinct(X))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_fit_to_sparse_points_is_that_to_dense_ones(model: Any) -> None:
    X, y, labels = data()
    t, S = targets(model, y, labels), scipy.sparse.csr_matrix(X)
    dense = model.fit(X, t).predict(X)
    bounds = model.certificate_
    found = model.fit(S, t).predict(S)
    assert max(bounds.lower, model.certificate_.lower) <= min(bounds.upper, model.certificate_.upper) * (1.0 + 1e-9) + 1e-12
    assert model.certificate_.closes(1e-6)
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, dense, atol=1e-4 * np.std(y))
        np.testing.assert_allclose(model.predict(S[:0:-1]), found[:0:-1], atol=1e-12)
    else:
        assert np.mean(found == dense) > 0.97


SINGLE = [model for model in MODELS if "CV" not in type(model).__name__]


@pytest.mark.parametrize("model", [SINGLE[0], *(pytest.param(each, marks=pytest.mark.slow) for each in SINGLE[1:])], ids=repr)
def test_points_that_could_not_be_made_dense(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """2000 points of 1 000 000 coordinates are 16 GB; their similarities are 32 MB."""
    n, p = 2000, 1_000_000
    rng = np.random.default_rng(2)
    rows, columns = np.repeat(np.arange(n), 30), rng.integers(0, 400, size=30 * n) * (p // 400)
    X = scipy.sparse.csr_array((rng.uniform(0.5, 1.5, size=30 * n), (rows, columns)), shape=(n, p))
    X.sum_duplicates()
    signal = X[:, [0, p // 400, 2 * (p // 400)]].toarray() @ np.array([1.0, -1.0, 2.0]) + 0.01 * rng.normal(size=n)
    t = targets(model, signal, np.where(signal > np.median(signal), "a", "b"))
    make = scipy.sparse.csr_array.toarray

    def small(self: Any, *args: Any, **kwargs: Any) -> Any:
        assert self.shape[1] < p or self.shape[0] == 1, "points were made dense"  # scikit-learn's k-means++ takes centres one by one
        return make(self, *args, **kwargs)

    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", small)
    tracemalloc.start()
    try:
        predicted = clone(model).set_params(tol=1e-3).fit(X, t).predict(X[:300])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert predicted.shape == (300,) and peak < 600e6, peak  # a few matrices of 2000 × 2000; k-means++ has the centres, 25 × 1 000 000


def kind_of(similarity: Any) -> str:
    """Its name, or that of its class: what a process that collects tests calls it, another has to call it, too."""
    return similarity if isinstance(similarity, str) else type(similarity).__name__


@pytest.mark.parametrize("model", UNABLE, ids=lambda model: f"{type(model).__name__}, {kind_of(getattr(model, 'similarity', None))}")
def test_elsewhere_a_sparse_matrix_is_refused_with_the_remedy(model: Any) -> None:
    X, y, labels = data()
    with pytest.raises(InvalidProblem, match=r"X: a sparse matrix, a dense one needed here: give X.toarray\(\)"):
        model.fit(scipy.sparse.csr_array(X), targets(model, y, labels))
    assert not model.__sklearn_tags__().input_tags.sparse


def test_queries_may_be_dense_and_landmarks_may_be_given() -> None:
    X, y, _ = data()
    S = scipy.sparse.csr_array(X)
    model = estimators.LandmarkedSVRegressor(Gaussian(4.0), landmarks=S[:20]).fit(S, y)
    np.testing.assert_allclose(model.predict(X), model.predict(S), atol=1e-12)
    other = estimators.LandmarkedSVRegressor(Gaussian(4.0), landmarks=X[:20]).fit(X, y)
    np.testing.assert_allclose(model.predict(S), other.predict(X), atol=1e-4)
    kernel = estimators.MPowerRegressor(Gaussian(4.0)).fit(S, y)
    np.testing.assert_allclose(kernel.predict(X), kernel.predict(S), atol=1e-12)
    with pytest.raises(InvalidProblem, match="fit` saw dense points"):
        other.predict(S)
    with pytest.raises(InvalidProblem, match="landmarks: shape"):
        estimators.LandmarkedSVRegressor(Gaussian(4.0), landmarks=S[:20, :3]).fit(S, y)
    holed = S.copy()
    holed.data[5] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        estimators.MPowerRegressor(Gaussian(4.0)).fit(holed, y)
    with pytest.raises(InvalidProblem, match="stored entries: 1 of"):
        Gaussian(4.0).gram(holed)


def test_a_transformer_in_a_pipeline() -> None:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    X, y, _ = data()
    S = scipy.sparse.csr_array(X)
    sparse, dense = (
        make_pipeline(estimators.LandmarkTransformer("gaussian", landmarks=20, selection="greedy", whiten=True), Ridge(1e-2)).fit(P, y)
        for P in (S, X)
    )
    np.testing.assert_allclose(sparse.predict(S), dense.predict(X), atol=1e-6)
