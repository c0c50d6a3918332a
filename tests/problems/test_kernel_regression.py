"""Kernel regression: its formula, its invariance under K → −K and what the programme of −K is, rows without weight, the predictor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt import solve
from simopt.arithmetic import RATIONAL
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import load_dataset
from simopt.data.similarities import Gaussian, Manhattan, Sigmoid
from simopt.problems.domains import weighted_mean
from simopt.problems.kernel_regression import KernelRegression
from simopt.solvers.squares.kernel_regression import NadarayaWatson
from simopt.solving.entry_points import certify


def data(seed: int = 0, n: int = 30, m: int = 8) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    x, queries = rng.uniform(size=(n, 2)), rng.uniform(size=(m, 2))
    return x, x[:, 0] + 0.1 * rng.normal(size=n), queries


def literal(K: Array, y: Array, c: Array) -> Array:
    """½ Σ_i K_qi (c_q − y_i)², without any sign, for each query."""
    return 0.5 * np.sum(K * (c[:, None] - y[None, :]) ** 2, axis=1)


@pytest.mark.parametrize("similarity", [Gaussian(0.3), Manhattan(), Sigmoid(0.5, -1.0)])
def test_every_back_end_finds_the_formula_of_the_paper(similarity: Any) -> None:
    x, y, queries = data()
    K = similarity(queries, x)
    problem = KernelRegression(K, y)
    expected = np.array([sum(K[q] * y) / sum(K[q]) for q in range(len(K))])
    for solver in ("closed-form", "clarabel"):
        solution = solve(problem, solver, tol=1e-9)
        assert solution.optimal and solution.point is not None
        np.testing.assert_allclose(solution.point["c"], expected, rtol=1e-12 if solver == "closed-form" else 1e-3)


def test_the_objective_is_the_oriented_sum_over_all_pairs() -> None:
    x, y, queries = data()
    for K in (Gaussian(0.3)(queries, x), Manhattan()(queries, x), np.random.default_rng(1).normal(size=(8, 30))):
        problem = KernelRegression(K, y)
        c = np.random.default_rng(2).normal(size=8)
        total = float(np.sign(K.sum(axis=1)) @ literal(K, y, c))
        assert float(problem.objective({"c": c})) == pytest.approx(total, rel=1e-11)
        assert float(problem.objective({"c": c}, RATIONAL)) == pytest.approx(total, rel=1e-11)
        best = solve(problem)
        value = float(np.sign(K.sum(axis=1)) @ literal(K, y, np.asarray((best.point or {})["c"])))
        assert best.value == pytest.approx(value, rel=1e-9, abs=1e-12)


def test_the_predictor_is_the_same_for_minus_k_though_the_programme_of_minus_k_has_it_as_its_worst_point() -> None:
    x, y, queries = data()
    K = -Manhattan()(queries, x)  # distances: positive
    one, two = solve(KernelRegression(K, y)), solve(KernelRegression(-K, y))
    assert one.point is not None and two.point is not None
    c = np.asarray(one.point["c"])
    np.testing.assert_allclose(two.point["c"], c, rtol=1e-13)
    assert one.value == two.value > 0
    assert len(KernelRegression(K, y).negative_queries) == 0
    np.testing.assert_array_equal(KernelRegression(-K, y).negative_queries, np.arange(8))
    rng = np.random.default_rng(3)
    for size in (1e-3, 1.0, 1e3):
        other = c + size * rng.normal(size=8)
        assert np.all(literal(K, y, other) > literal(K, y, c))
        assert np.all(literal(-K, y, other) < literal(-K, y, c))  # a maximum of the programme without signs
    assert np.all(literal(-K, y, c + 1e6) < -1e10)  # which is unbounded below


def test_a_negative_similarity_makes_far_points_count_most_and_a_shift_repairs_it() -> None:
    """The target is the first coordinate; the predictor with −‖x − x'‖₁ runs against it."""
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(200, 1))
    queries = np.linspace(0.05, 0.95, 19)[:, None]
    plain, shifted = (NadarayaWatson(Manhattan(), x, x[:, 0], shift)(queries) for shift in (0.0, 1.0))
    assert np.corrcoef(plain, queries[:, 0])[0, 1] < -0.8
    assert np.corrcoef(shifted, queries[:, 0])[0, 1] > 0.8
    assert np.mean((plain - queries[:, 0]) ** 2) > np.var(x) > np.mean((shifted - queries[:, 0]) ** 2)


def test_rows_without_weight_are_refused_by_the_number_of_the_query() -> None:
    K = np.array([[1.0, 2.0, 3.0], [1.0, -3.0, 2.0], [0.0, 0.0, 0.0]])
    y = np.arange(3.0)
    with pytest.raises(InvalidProblem, match=r"query 1 to the 3 samples sum to 0, which is 0 to rounding \(2 such of 3"):
        KernelRegression(K, y)
    with pytest.raises(InvalidProblem, match="query 1 to the 3 samples are all 0"):
        KernelRegression(K[[0, 2]], y)
    with pytest.raises(InvalidProblem, match="which is 0 to rounding"):
        KernelRegression(np.array([[0.1, 0.2, -0.3]]), y)  # 5e-17 in floats
    assert KernelRegression(np.array([[1e-200, 0.0, 1e-201]]) * 1e60, y).signs[0] == 1.0  # small is not 0
    with pytest.raises(InvalidProblem, match=r"shape \(3, 3\).*2 columns"):
        KernelRegression(K, y[:2])


def test_the_dual_has_one_feasible_point_and_its_value() -> None:
    x, y, queries = data()
    for K in (Gaussian(0.3)(queries, x), Manhattan()(queries, x)):
        problem = KernelRegression(K, y)
        best = solve(problem)
        dual = problem.declare_dual()
        dual.solve(solver="CLARABEL")
        assert dual.value == pytest.approx(best.value, rel=1e-7)
        np.testing.assert_allclose(dual.var_dict["predictions"].value, (best.multipliers or {})["predictions"], rtol=1e-7)
        anything = {"predictions": np.full(8, 1e6)}
        assert float(problem.dual_bound(anything)) == pytest.approx(best.value, rel=1e-11)  # repaired


def test_certificates_of_wrong_answers_stay_open() -> None:
    x, y, queries = data()
    problem = KernelRegression(Manhattan()(queries, x), y)
    c = np.asarray((solve(problem).point or {})["c"])
    off = c.copy()
    off[3] += 0.1
    found = certify(problem, {"c": off})
    assert found.gap == pytest.approx(0.5 * abs(problem.similarities[3].sum()) * 0.01, rel=1e-10)
    assert np.linalg.norm(off - c) <= problem.distance(found.gap) * (1 + 1e-12)


def test_large_offsets_of_the_targets_cost_no_digits() -> None:
    x, y, queries = data()
    K = Gaussian(0.3)(queries, x)
    near, far = (solve(KernelRegression(K, y + shift), tol=1e-12) for shift in (0.0, 2.0**20))
    assert near.optimal and far.optimal
    np.testing.assert_allclose(np.asarray((far.point or {})["c"]) - 2.0**20, (near.point or {})["c"], atol=1e-9)


@pytest.mark.parametrize("kind", ["array", "memory map", "dask"])
def test_the_predictor_streams_and_agrees_with_the_problem(kind: str, tmp_path: Path) -> None:
    x, y, queries = data(m=300)
    given: Any = queries
    if kind == "memory map":
        np.save(tmp_path / "q.npy", queries)
        given = np.load(tmp_path / "q.npy", mmap_mode="r")
    elif kind == "dask":
        given = pytest.importorskip("dask.array").from_array(queries, chunks=(64, 1))
    f = NadarayaWatson(Gaussian(0.2), x, y)
    expected = (solve(KernelRegression(Gaussian(0.2)(queries, x), y)).point or {})["c"]
    np.testing.assert_allclose(f(given, memory=20_000), expected, rtol=1e-12)


def test_queries_that_nothing_is_similar_to_are_named_or_get_the_fallback() -> None:
    x, y, queries = data()
    queries[5] = 1e3
    with pytest.raises(InvalidProblem, match="query 5 to the 30 samples are all 0"):
        NadarayaWatson(Gaussian(0.2), x, y)(queries, memory=1000)
    found = NadarayaWatson(Gaussian(0.2), x, y, fallback=-7.0)(queries)
    assert found[5] == -7.0 and np.all(found[:5] > -1.0)

    def broken(a: Array, b: Array) -> Array:
        return np.where(a[:, :1] > 100.0, np.nan, 1.0) * np.ones(len(b))

    with pytest.raises(InvalidProblem, match=r"\(i, j\) = \(5, 0\)"):
        NadarayaWatson(broken, x, y)(queries)
    with pytest.raises(InvalidProblem, match="targets"):
        NadarayaWatson(Gaussian(0.2), x, y[:-1])


def test_the_recipe_predicts_rows_from_the_others() -> None:
    dataset = load_dataset("abalone")
    problem = KernelRegression.from_data(dataset, np.random.default_rng(0), samples=300, queries=0.1)
    assert problem.similarities.shape == (30, 270)
    manhattan = KernelRegression.from_data(dataset, np.random.default_rng(0), samples=300, similarity="manhattan")
    assert len(manhattan.negative_queries) == 60
    for bad in (0.0, 1.0, -0.5, np.nan):
        with pytest.raises(InvalidProblem, match="queries"):
            KernelRegression.from_data(dataset, np.random.default_rng(0), samples=300, queries=bad)


@pytest.mark.parametrize(("n", "fraction", "count"), [(2, 0.01, 1), (2, 0.99, 1), (10, 0.99, 9), (10, 0.3, 3)])
def test_of_any_fraction_a_sample_and_a_query_are_left(n: int, fraction: float, count: int) -> None:
    known, queries = weighted_mean.split(n, fraction, np.random.default_rng(0))
    assert len(queries) == count and np.array_equal(np.sort([*known, *queries]), np.arange(n))
