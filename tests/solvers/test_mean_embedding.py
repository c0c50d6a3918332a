"""The streamed mean against exact sums: values, norm, and the bounds on what rounding did to them; arrays that do not fit into memory."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelled_points import sample

from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.rows import Rows
from simopt.data.similarities import Gaussian, Laplacian, Linear, Normalised, Polynomial, Precomputed, Sigmoid
from simopt.problems.mean_classifier import MeanClassifier
from simopt.solvers.herding import gaussian_tiles
from simopt.solvers.herding.gaussian_tiles import POWER, UNIT, Fast, powers_and_sums32, powers_and_sums64, signed_powers32, signed_powers64
from simopt.solvers.herding.mean_embedding import PRECISIONS, mean_embedding
from simopt.solvers.herding.mean_function import mean_function


def precise(x, y, p, mu):
    """⟨ω, ψ_i⟩ and ‖ω‖² in extended precision."""
    x = x.astype(np.longdouble)
    kernel = np.exp(-np.sum((x[:, None] - x[None]) ** 2, axis=-1) / np.longdouble(mu))
    values = y * (kernel @ (p.astype(np.longdouble) * y))
    return values, np.sum(p * values)


def agrees(result, values, square):
    assert np.all(np.abs(result.values - values) <= result.value_errors)
    assert abs(result.square - square) <= result.square_error


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("n,p", [(1, 1), (2, 3), (17, 2), (130, 5)])
def test_values_and_norm_within_their_bounds(precision, n, p):
    x, y = sample(n, p)
    found = mean_embedding(x, y, Gaussian(2.0 * p), precision=precision)
    agrees(found, *precise(x, y, np.full(n, 1.0 / n), 2.0 * p))
    assert found.precision == precision
    assert found.value_errors.max() < {"float32": 1e-5, "float64": 1e-13, "direct": 1e-12}[precision]
    np.testing.assert_array_equal(found.lengths, 1.0)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "name,change",
    [
        ("far from the origin", lambda x: x + 1e6),
        ("tiny", lambda x: x * 1e-9),
        ("collinear", lambda x: np.outer(x[:, 0], np.ones(x.shape[1]))),
        ("all equal", np.ones_like),
        ("duplicated", lambda x: np.repeat(x[::2], 2, axis=0)),
        ("two clusters", lambda x: x * 1e-3 + np.where(np.arange(len(x)) % 2, 3.0, -3.0)[:, None]),
        ("one outlier", lambda x: np.vstack([x[:-1], x[-1:] + 40.0])),
        ("huge", lambda x: x * 1e8),
        ("beyond squares", lambda x: x * 1e160),
    ],
)
def test_ugly_points(precision, name, change):
    x, y = sample(90, 3, seed=3)
    x = change(x)
    found = mean_embedding(x, y, Gaussian(3.0), precision=precision)
    agrees(found, *precise(x, y, np.full(90, 1.0 / 90), 3.0))


def test_fast_tiles_are_left_where_they_would_lose_digits():
    x, y = sample(60, 3, std=1e5)
    assert mean_embedding(x, y, Gaussian(1.0), precision="float32").precision == "direct"
    x[:, :] = np.where(np.arange(60) < 59, 0.0, 1e300)[:, None]
    assert mean_embedding(x, y, Gaussian(1.0), precision="float64").precision == "direct"


@pytest.mark.parametrize("precision", ["float32", "float64", "direct"])
def test_tiles_blocks_and_weights(precision, monkeypatch):
    """Sizes that are no multiples of tiles, one-row tiles, blocks smaller than the data, zero weights, one class: always the same sums."""
    monkeypatch.setattr(gaussian_tiles, "TILE", {"float32": 37, "float64": 23})
    monkeypatch.setattr("simopt.solvers.herding.mean_embedding._Values.size", 19)
    x, y = sample(301, 4, seed=5)
    p = np.random.default_rng(1).exponential(size=301)
    p[::7] = 0.0
    p /= p.sum()
    for labels in (y, np.ones(301), -np.ones(301)):
        values, square = precise(x, labels, p, 8.0)
        agrees(mean_embedding(x, labels, Gaussian(8.0), target=p, precision=precision), values, square)


@settings(max_examples=60, deadline=None)
@given(exponents=st.lists(st.floats(-140, 0.4), min_size=1, max_size=40))
def test_powers_of_two(exponents):
    t = np.array([exponents])
    for run, tile_sums, kind, lowest in (
        (signed_powers32, powers_and_sums32, np.float32, -125.0),
        (signed_powers64, powers_and_sums64, np.float64, -1020.0),
    ):
        rounded = t.astype(kind)
        true = np.exp2(np.maximum(rounded, lowest).astype(np.longdouble))
        unit = UNIT[np.dtype(kind).name]
        column = rounded[0].copy()
        run(column, -np.ones(column.size, dtype=kind), -1.0)
        assert np.all(np.abs(column - true[0]) <= POWER * unit * true[0])
        ones, along, down = np.ones(t.size, dtype=kind), np.zeros((2, 1)), np.zeros((2, t.size))
        lengths = np.zeros(t.size)
        tile_sums(rounded, ones[:1], ones, lengths[:1], lengths, along, down, np.empty(t.size, dtype=kind))
        assert np.all(np.abs(down[0] - true[0]) <= (POWER + 2) * unit * true[0])
        assert abs(along[0, 0] - true.sum()) <= (POWER + 2) * unit * true.sum() + 1e-16


def test_long_products_in_float32_are_cut():
    x, y = sample(40, 300, seed=2, std=0.05)
    found = mean_embedding(x, y, Gaussian(1.5), precision="float32")
    assert found.precision == "float32"
    agrees(found, *precise(x, y, np.full(40, 1 / 40), 1.5))


@pytest.mark.parametrize("similarity", [Linear(), Polynomial(2, 1.0, 1.0), Precomputed])
def test_other_similarities_in_exact_fractions(similarity):
    rng = np.random.default_rng(4)
    x = rng.integers(-4, 5, size=(33, 3)).astype(float)
    y = rng.choice([-1.0, 1.0], 33)
    exact = [[sum(Fraction(a) * Fraction(b) for a, b in zip(u, v, strict=True)) for v in x.tolist()] for u in x.tolist()]
    if isinstance(similarity, Polynomial):
        exact = [[(k + 1) ** 2 for k in row] for row in exact]
    points = x
    if similarity is Precomputed:
        similarity = Precomputed(np.array([[float(k) for k in row] for row in exact]))
        points = similarity.points
    found = mean_embedding(points, y, similarity)
    signs = [int(v) for v in y]
    values = [si * sum(sj * k for sj, k in zip(signs, row, strict=True)) / 33 for si, row in zip(signs, exact, strict=True)]
    for v, e, true in zip(found.values, found.value_errors, values, strict=True):
        assert abs(Fraction(v) - true) <= Fraction(e)
    assert abs(Fraction(found.square) - sum(values) / 33) <= Fraction(found.square_error)


def test_laplacian_and_normalised_are_taken_from_the_similarity():
    x, y = sample(50, 3)
    for kernel in (Laplacian(2.0), Normalised(Polynomial(3, 1.0, 1.0))):
        found = mean_embedding(x, y, kernel)
        gram = kernel.gram(x)
        agrees(found, y * (gram @ y) / 50, y @ gram @ y / 2500)


def test_a_mean_of_zero_is_known_to_be():
    x = np.repeat(np.random.default_rng(0).normal(size=(5, 2)), 2, axis=0)
    y = np.tile([1.0, -1.0], 5)
    assert mean_embedding(x, y, Gaussian(1.0)).vanishes
    assert not mean_embedding(x, np.ones(10), Gaussian(1.0)).vanishes


def stored(tmp_path, x, dtype):
    path = tmp_path / f"points-{np.dtype(dtype).name}"
    array = np.memmap(path, dtype=dtype, mode="w+", shape=x.shape)
    array[:] = x
    array.flush()
    return np.memmap(path, dtype=dtype, mode="r", shape=x.shape)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_maps_are_read_in_blocks(tmp_path, precision, dtype):
    x, y = sample(700, 3, seed=1)
    x = x.astype(dtype).astype(float)
    away = stored(tmp_path, x, dtype)
    rows = Rows("points", away, memory=4000.0)
    assert not rows.resident and 1 < rows.step < 100
    whole = mean_embedding(x, y, Gaussian(6.0), precision=precision)
    found = mean_embedding(away, y, Gaussian(6.0), precision=precision, memory=4000.0)
    assert np.all(np.abs(found.values - whole.values) <= found.value_errors + whole.value_errors)
    assert Fast.of(Gaussian(6.0), rows, "float32").coordinates_of_all is None


def test_dask_arrays(tmp_path):
    da = pytest.importorskip("dask.array")
    x, y = sample(300, 3, seed=1)
    away = da.from_array(x, chunks=(64, 3))
    whole = mean_embedding(x, y, Gaussian(6.0))
    for memory in (3000.0, 1e8):
        found = mean_embedding(away, da.from_array(y, chunks=50), Gaussian(6.0), memory=memory)
        np.testing.assert_allclose(found.values, whole.values, atol=1e-13)
        rule = mean_function(away, y, Gaussian(6.0), memory=memory)
        np.testing.assert_allclose(rule.decision(da.from_array(x[:40], chunks=(7, 3))), y[:40] * whole.values[:40], atol=1e-13)


def test_the_mean_classifier_out_of_core_is_the_problem_solved(tmp_path):
    x, y = sample(160, 4, seed=8)
    kernel = Gaussian(8.0)
    rule = mean_function(stored(tmp_path, x, np.float64), y, kernel, memory=3000.0)
    problem = MeanClassifier(kernel.gram(x), y)
    new = np.random.default_rng(3).normal(size=(70, 4))
    np.testing.assert_allclose(rule.decision(new), kernel(new, x) @ y / 160, atol=1e-14)
    assert float(problem.dual_bound({})) == pytest.approx(1 - np.sqrt(mean_embedding(x, y, kernel).square), abs=1e-13)
    np.testing.assert_array_equal(rule.predict(new), np.sign(kernel(new, x) @ y))
    far = np.vstack([new, 1e200 * np.ones((1, 4))])
    assert rule.decision(far)[-1] == 0.0
    linear = mean_function(x, y, Linear())
    np.testing.assert_allclose(linear.decision(new), new @ (x.T @ y) / 160, atol=1e-12)


def test_no_matrix_of_size_n_by_n():
    x, y = sample(3000, 3)
    mean_embedding(x[:50], y[:50], Gaussian(6.0))  # numba compiles outside
    tracemalloc.start()
    mean_embedding(x, y, Gaussian(6.0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000**2 * 8 / 8


def test_bad_input():
    x, y = sample(12, 2)
    wrong = y.copy()
    wrong[5] = 2.0
    with pytest.raises(InvalidProblem, match="first at index 5: 2"):
        mean_embedding(x, wrong, Gaussian(1.0))
    with pytest.raises(InvalidProblem, match="points has 12 rows, labels has 11"):
        mean_embedding(x, y[:-1], Gaussian(1.0))
    with pytest.raises(InvalidProblem, match="points has 12 rows, target has 11"):
        mean_embedding(x, y, Gaussian(1.0), target=np.full(11, 1 / 11))
    with pytest.raises(InvalidProblem, match="sum to 0.5"):
        mean_embedding(x, y, Gaussian(1.0), target=np.full(12, 0.5 / 12))
    with pytest.raises(InvalidProblem, match="index 3 is negative"):
        mean_embedding(x, y, Gaussian(1.0), target=np.where(np.arange(12) == 3, -0.1, 1.1 / 11))
    with pytest.raises(InvalidProblem, match="sigmoid is not known to be positive semidefinite"):
        mean_embedding(x, y, Sigmoid(1.0, -1.0))
    with pytest.raises(InvalidProblem, match="smallest eigenvalue is -1"):
        mean_embedding(np.arange(2.0)[:, None], y[:2], Precomputed(np.array([[0.0, 1.0], [1.0, 0.0]])))
    with pytest.raises(InvalidProblem, match="not a similarity"):
        mean_embedding(x, y, np.dot)
    with pytest.raises(UnknownName, match="gaussian"):
        mean_embedding(x, y, "gausian")
    with pytest.raises(UnknownName, match="float32"):
        mean_embedding(x, y, Gaussian(1.0), precision="float23")
    with pytest.raises(InvalidProblem, match="3 columns, expected 2"):
        mean_function(x, y, Gaussian(1.0)).decision(np.ones((2, 3)))
    with pytest.raises(InvalidProblem, match=r"K\(x, x\): the largest entry"):
        mean_embedding(x * 1e90, y, Linear())


def test_bad_rows(tmp_path):
    x, _ = sample(700, 3)
    x[611, 2] = np.nan
    away = stored(tmp_path, x, np.float64)
    with pytest.raises(InvalidProblem, match="nan at row 611, column 2"):
        Rows("points", away, memory=4000.0)
    with pytest.raises(InvalidProblem, match="row 611, column 2"):
        Rows("points", x)
    with pytest.raises(InvalidProblem, match="rows of a matrix"):
        Rows("points", stored(tmp_path, np.ones((5, 1)), np.float64)[:, 0])
    da = pytest.importorskip("dask.array")
    unknown = da.from_array(np.arange(12.0).reshape(6, 2), chunks=(2, 2))
    with pytest.raises(InvalidProblem, match="compute_chunk_sizes"):
        Rows("points", unknown[unknown[:, 0] > 3])
    with pytest.raises(InvalidProblem, match="real numbers"):
        Rows("points", da.from_array(np.array([["a", "b"]]), chunks=(1, 2)))
