"""Landmark maps: the formula, streams in bounded memory from any kind of array, and bad similarities named by pair."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap, checked_values, equal_columns, scaled
from simopt.data.rows import Rows
from simopt.data.similarities import Gaussian, Linear, Manhattan, Normalised, Precomputed, Sigmoid


def points(n: int, p: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(n, p))


def test_features_are_similarities_over_the_root_of_their_number() -> None:
    X = points(7, 3)
    psi = LandmarkMap(Gaussian(2.0), X[:4])
    for i in range(7):
        for j in range(4):
            assert psi(X)[i, j] == pytest.approx(np.exp(-np.sum((X[i] - X[j]) ** 2) / 2.0) / 2.0, rel=1e-14)
    assert psi.d == 4


def test_an_asymmetric_function_is_called_with_points_first() -> None:
    X = points(5, 2)
    psi = LandmarkMap(lambda x, landmarks: x[:, :1] - 2.0 * landmarks[:, 1][None, :], X[:3])
    expected = (X[:, :1] - 2.0 * X[:3, 1][None, :]) / np.sqrt(3)
    np.testing.assert_array_equal(psi(X), expected)


@pytest.mark.parametrize("kind", ["array", "float32", "memory map", "dask", "rows"])
def test_every_kind_of_array_gives_the_same_blocks(kind: str, tmp_path: Path) -> None:
    X = points(300, 5).astype(np.float32).astype(float)
    psi = LandmarkMap(Manhattan(), X[::30])
    given: Any = X
    if kind == "float32":
        given = X.astype(np.float32)
    elif kind == "memory map":
        np.save(tmp_path / "x.npy", X)
        given = np.load(tmp_path / "x.npy", mmap_mode="r")
    elif kind == "dask":
        given = pytest.importorskip("dask.array").from_array(X, chunks=(70, 2))
    elif kind == "rows":
        given = Rows("X", X)
    whole = LandmarkMap(Manhattan(), X[::30])(X)
    seen = np.zeros(300, dtype=int)
    for rows, block in psi.blocks(given, memory=8000):
        assert 8 * block.size <= 8000
        np.testing.assert_array_equal(block, whole[rows])
        seen[rows] += 1
    np.testing.assert_array_equal(seen, 1)
    np.testing.assert_array_equal(psi(given, memory=8000), whole)
    w = np.arange(10.0)
    np.testing.assert_allclose(psi.predict(given, w, memory=8000), whole @ w, rtol=1e-13)


def test_a_lazy_map_computes_its_blocks_and_names_pairs_by_their_place_in_the_whole() -> None:
    da = pytest.importorskip("dask.array")
    X = points(100, 4)
    psi = LandmarkMap(Gaussian(3.0), X[:6])
    lazy = psi.lazy(da.from_array(X, chunks=(30, 2)))
    assert lazy.shape == (100, 6) and lazy.chunks[0] == (30, 30, 30, 10)
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), psi(X))
    bad = LandmarkMap(lambda x, z: np.where(x[:, :1] == X[71, 0], np.nan, 1.0) * np.ones(len(z)), X[:6])
    with pytest.raises(InvalidProblem, match=r"\(i, j\) = \(71, 0\)"):
        bad.lazy(da.from_array(X, chunks=(30, 2))).compute(scheduler="synchronous")
    X[50, 1] = np.inf
    with pytest.raises(InvalidProblem, match="30…59"):
        psi.lazy(da.from_array(X, chunks=(30, 4))).compute(scheduler="synchronous")
    with pytest.raises(InvalidProblem, match="Dask"):
        psi.lazy(X)


def test_features_stream_into_a_memory_map_in_bounded_memory(tmp_path: Path) -> None:
    n, d, memory = 60_000, 40, 1 << 20
    source = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float32, shape=(n, 8))
    source[:] = points(n, 8)
    out = np.lib.format.open_memmap(tmp_path / "psi.npy", mode="w+", dtype=np.float64, shape=(n, d))
    psi = LandmarkMap.from_data(source, d, np.random.default_rng(1), Gaussian(8.0))
    psi.write(source, out, memory=memory)  # warm: imports of SciPy do not count
    tracemalloc.start()
    psi.write(source, out, memory=memory)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= memory  # the features alone are 19 MB, the points 2 MB
    np.testing.assert_array_equal(out[12345], psi(source[12345:12346])[0])
    with pytest.raises(InvalidProblem, match="out: shape"):
        psi.write(source, out[:-1])


def test_landmarks_are_rows_drawn_without_replacement() -> None:
    X = points(20, 2)
    psi = LandmarkMap.from_data(X, 20, np.random.default_rng(3))
    np.testing.assert_array_equal(psi.landmarks, X)  # all of them, in their order
    some = LandmarkMap.from_data(X, 5, np.random.default_rng(3))
    again = LandmarkMap.from_data(X, 5, np.random.default_rng(3))
    np.testing.assert_array_equal(some.landmarks, again.landmarks)
    assert len({tuple(row) for row in some.landmarks} & {tuple(row) for row in X}) == 5
    assert some.similarity == Gaussian.mean_distance(X)


@pytest.mark.parametrize("count", [21, 0, -3, 2.5, np.nan])
def test_impossible_numbers_of_landmarks_are_refused(count: Any) -> None:
    with pytest.raises(InvalidProblem, match="landmarks"):
        LandmarkMap.from_data(points(20, 2), count, np.random.default_rng(0))


def test_duplicated_landmarks_are_listed() -> None:
    X = points(5, 3)
    psi = LandmarkMap(Linear(), X[[0, 1, 0, 2, 1, 0]])
    assert psi.duplicates == ((0, 2), (1, 4), (0, 5))
    assert LandmarkMap(Linear(), X).duplicates == ()
    np.testing.assert_array_equal(psi(X)[:, 0], psi(X)[:, 5])


def test_equal_features_are_found_also_where_only_the_tail_differs() -> None:
    features = np.repeat(points(400, 4), 2, axis=1)[:, [0, 2, 1, 3, 4, 5, 1]]
    assert equal_columns(features) == ((0, 2), (1, 3), (4, 5), (0, 6))
    features = features.copy()
    features[399, 3] += 1e-9
    assert equal_columns(features) == ((0, 2), (4, 5), (0, 6))
    assert equal_columns(np.array([[0.0, -0.0, 1.0]])) == ((0, 1),)


def test_values_that_are_not_finite_name_the_pair() -> None:
    X = points(50, 2)
    where = X[33, 0]

    def broken(x: Array, landmarks: Array) -> Array:
        out = x @ landmarks.T
        out[x[:, 0] == where, 2] = np.inf
        return out

    psi = LandmarkMap(broken, X[:4])
    for memory in (1 << 20, 500):
        with pytest.raises(InvalidProblem, match=r"similarity broken: inf for the pair \(i, j\) = \(33, 2\).*not finite"):
            psi(X, memory=memory)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda x, z: np.ones(len(x)), r"shape \(6,\).*i = 0…5.*j = 0…2.*expected \(6, 3\)"),
        (lambda x, z: np.ones((len(z), len(x))), r"shape \(3, 6\)"),
        (lambda x, z: np.ones((len(x), len(z) + 1)), r"shape \(6, 4\)"),
        (lambda x, z: "similar", "values that are not numbers|shape"),
        (lambda x, z: np.full((len(x), len(z)), 1j), "numbers"),
    ],
)
def test_values_of_the_wrong_shape_or_kind_are_refused(values: Any, message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        LandmarkMap(values, points(3, 2))(points(6, 2))


def test_where_a_bound_is_needed_similarities_without_one_are_refused() -> None:
    X = points(4, 3)
    for unbounded in (Linear(), Linear() * 0.5):
        with pytest.raises(InvalidProblem, match=r"needs \|K\| ≤ 1"):
            LandmarkMap(unbounded, X, bounded=True)
    for fine in (Gaussian(1.0), Sigmoid(0.5, 0.0), Normalised(Linear())):
        assert np.max(np.abs(LandmarkMap(fine, X, bounded=True)(X))) <= 0.5 * (1 + 1e-12)
    function = LandmarkMap(lambda x, z: np.minimum(1.5, x @ z.T), np.eye(3), bounded=True)
    with pytest.raises(InvalidProblem, match=r"1.5 for the pair \(i, j\) = \(1, 2\).*exceeds 1"):
        function(np.array([[1.0, 0.5, 0.2], [0.0, 0.0, 7.0]]))


def test_precomputed_similarities() -> None:
    K = points(6, 6)
    psi = LandmarkMap(Precomputed(K), np.array([[4.0], [1.0]]))
    np.testing.assert_array_equal(psi(Precomputed(K).points), K[:, [4, 1]] / np.sqrt(2))
    with pytest.raises(InvalidProblem, match="not square"):
        Precomputed(K[:, :4])
    np.testing.assert_array_equal(scaled(K[:, :4]), K[:, :4] / 2.0)
    bad = K.copy()
    bad[5, 3] = np.nan
    with pytest.raises(InvalidProblem, match=r"\(i, j\) = \(5, 3\)"):
        scaled(bad)
    with pytest.raises(InvalidProblem, match="exceeds 1"):
        scaled(np.array([[0.5, -1.5]]), bounded=True)
    with pytest.raises(InvalidProblem, match="shape"):
        scaled(K[0])


def test_points_with_other_coordinates_or_infinite_ones_are_refused(tmp_path: Path) -> None:
    psi = LandmarkMap(Gaussian(1.0), points(3, 2))
    with pytest.raises(InvalidProblem, match="3 columns, but the landmarks have 2"):
        psi(points(4, 3))
    X = points(400, 2)
    X[321, 1] = np.inf  # whose Gaussian similarity is 0
    np.save(tmp_path / "x.npy", X)
    for given in (X, np.load(tmp_path / "x.npy", mmap_mode="r")):
        with pytest.raises(InvalidProblem, match="321, column 1"):
            psi(given, memory=2000)
    with pytest.raises(InvalidProblem, match="landmarks"):
        LandmarkMap(Gaussian(1.0), np.array([[np.nan]]))
    name: Any = "gaussian"
    with pytest.raises(InvalidProblem, match="neither"):
        LandmarkMap(name, points(3, 2))


def test_a_map_can_be_pickled() -> None:
    X = points(9, 2)
    psi = LandmarkMap.from_data(X, 4, np.random.default_rng(0))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(psi))(X), psi(X))


def test_a_map_prints_short_and_says_how_many_landmarks_are_equal() -> None:
    points = np.random.default_rng(0).normal(size=(200, 3))
    points[7] = points[2]
    assert (
        repr(LandmarkMap(Gaussian(mu=1.0), points))
        == "<200 landmarks (1 of them equal to an earlier one) of 3 coordinates, similarity Gaussian(mu=1.0)>"
    )


def test_values_up_to_one_may_be_off_by_their_rounding_and_no_more() -> None:
    for sign in (1.0, -1.0):
        assert checked_values([[sign * (1.0 + 0.9e-12)]], (1, 1), bounded=True).shape == (1, 1)
        with pytest.raises(InvalidProblem, match="finite values up to 1 needed"):
            checked_values([[sign * (1.0 + 2e-12)]], (1, 1), bounded=True)
