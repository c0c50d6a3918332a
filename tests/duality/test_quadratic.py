"""Quadratic programmes from their matrices: bounds against planted optima in fractions, also where rows depend on each other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import simopt
from simopt.arithmetic import INTERVAL, RATIONAL, Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.singular_value import least_of_rows
from simopt.duality import Declared
from simopt.duality.quadratic.feasible_point import feasible_points
from simopt.duality.quadratic.following_rows import following_rows
from simopt.duality.quadratic.implied_ends import implied_ends
from simopt.duality.quadratic.proven_bounds import proven_bounds
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme
from simopt.duality.quadratic.tangent_bound import tangent_loss
from simopt.solving.search import BoundSearch

KINDS = ("regular", "dependent rows", "degenerate", "free entries", "no room")


def planted(kind: str, seed: int) -> tuple[cp.Problem, Fraction]:
    """min ½⟨x, Qx⟩ + ⟨c, x⟩ with an optimum and multipliers that are whole numbers, Q of rank 4, and entries that no square contains."""
    rng = np.random.default_rng(seed)
    n, m, k = 12, 8, 5
    x = cp.Variable(n, name="x")
    factor = np.zeros((n, 4))
    factor[: n - 4] = rng.integers(-2, 3, (n - 4, 4))
    quadratic = factor @ factor.T + np.diag(np.where(np.arange(n) < 3, 1.0, 0.0))
    rows, equal = (rng.integers(-3, 4, shape).astype(float) for shape in ((m, n), (k, n)))
    if kind == "dependent rows":
        equal[-2:] = equal[0] - equal[1], equal[1] + 2 * equal[2]
        rows[-1] = rows[0] + equal[0]
    at, y = rng.integers(-2, 3, n).astype(float), rng.integers(1, 4, m) * (rng.random(m) < 0.4)
    slack = np.where((y > 0) | (kind == "degenerate"), 0.0, rng.integers(1, 4, m))
    v, z = rng.integers(-3, 4, k), rng.integers(1, 4, n) * (rng.random(n) < 0.5)
    below = np.zeros(n, dtype=bool) if kind == "free entries" else np.ones(n, dtype=bool)
    z = np.where(below, z, 0)
    low = at - np.where((z > 0) | (kind == "degenerate"), 0.0, rng.integers(1, 4, n))
    cost = z - quadratic @ at - rows.T @ y - equal.T @ v
    constraints = [rows @ x <= rows @ at + slack, equal @ x == equal @ at]
    if below.any():
        constraints.append(x >= low)
    if kind == "no room":
        constraints.append(-rows[:2] @ x <= -rows[:2] @ at - slack[:2])
    optimum = RATIONAL.lift(at) @ RATIONAL.lift(quadratic) @ RATIONAL.lift(at) / 2 + RATIONAL.lift(cost) @ RATIONAL.lift(at)
    if kind == "no room":  # the first two rows hold with equality, whatever their slack was
        constraints[0] = rows @ x <= rows @ at + np.where(np.arange(m) < 2, 0.0, slack)
        constraints[-1] = -rows[:2] @ x <= -rows[:2] @ at
    return cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, sp.csc_array(quadratic), assume_PSD=True) + cost @ x), constraints), optimum


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_optimum_is_enclosed_closely(kind: str, rigorous: bool) -> None:
    for seed in range(6):
        problem, optimum = planted(kind, seed)
        problem.solve(solver="CLARABEL")
        found = simopt.certify(problem, rigorous=rigorous)
        rounding = Fraction(0 if rigorous else 1e-13) * (1 + abs(optimum))
        assert Fraction(found.lower) - rounding <= optimum <= Fraction(found.upper) + rounding
        assert found.closes(1e-8), (kind, seed, found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrices_prove_it_without_any_search(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: Any) -> None:
        raise AssertionError("a search")

    monkeypatch.setattr(BoundSearch, "by_solves", search)
    monkeypatch.setattr(Declared, "is_stationary", lambda *_: False)  # else a brief search comes first
    closed = 0
    for seed in range(10):
        problem, _ = planted(kind, seed)
        problem.solve(solver="CLARABEL")
        try:
            closed += simopt.certify(problem, rigorous=True).closes(1e-8)
        except AssertionError:
            pass
    assert closed >= 8


def read(problem: cp.Problem) -> QuadraticProgramme:
    found = QuadraticProgramme.of(Declared.of(problem).programme)
    assert found is not None
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_no_point_and_no_multipliers_give_a_bound_above_the_optimum(kind: str) -> None:
    for seed in range(20):
        problem, optimum = planted(kind, seed)
        quadratic, rng = read(problem), np.random.default_rng(seed)
        linear = quadratic.linear
        x = np.clip(rng.integers(-3, 4, len(linear.low)) * 1.0, linear.low, linear.high)
        y = rng.normal(size=len(linear.equality))
        loss = tangent_loss(quadratic, x, y, implied_ends(linear), 1e-8)
        if np.isfinite(loss):
            assert Fraction(INTERVAL.lower(quadratic.value(Interval(x)) - Interval(loss))) <= optimum
        for near in feasible_points(linear, x, y, rng.normal(size=len(x))):
            assert Fraction(INTERVAL.upper(quadratic.value(Interval(near.x) + near.step))) >= optimum


def test_the_values_of_the_terms_are_those_of_the_declaration() -> None:
    x = cp.Variable(3, name="x")
    form = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    problem = cp.Problem(cp.Maximize(1 - cp.quad_form(x, form) - 3 * cp.sum_squares(2 * x - 1) + x[2]), [x <= 4])
    quadratic, declared = read(problem), Declared.of(problem)
    for seed in range(3):
        x.value = np.random.default_rng(seed).normal(size=3)
        at = np.concatenate([x.value, np.zeros(len(quadratic.linear.low) - 3)])
        value = quadratic.value(Interval(at))
        assert value.low <= float(declared.objective({"x": x.value})) + 1e-12 and abs(value.mid + problem.objective.value) <= 1e-12
        assert np.all(np.linalg.eigvalsh(quadratic.hessian.mid.toarray() - np.diag(quadratic.curvature)) >= -1e-12)
    assert quadratic.curvature[2] >= 23.9  # of 3(2x − 1)²


@pytest.mark.parametrize(
    "objective",
    [
        cp.norm1,
        lambda x: cp.square(cp.norm1(x) + 1),
        lambda x: cp.sum_squares(x) + cp.norm(x),
        cp.sum,
    ],
)
def test_other_programmes_are_not_read(objective: Any) -> None:
    x = cp.Variable(3, name="x")
    assert QuadraticProgramme.of(Declared.of(cp.Problem(cp.Minimize(objective(x)), [x >= 1])).programme) is None


@pytest.mark.parametrize("row", [lambda x: cp.sum_squares(x) <= 1, lambda x: cp.square(x[0]) <= 0.5, lambda x: 2 * cp.square(x[1]) <= x[0]])
def test_squares_in_rows_are_not_read(row: Any) -> None:
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [row(x), cp.sum(x) == 1])
    assert QuadraticProgramme.of(Declared.of(problem).programme) is None
    assert QuadraticProgramme.of(Declared.of(cp.Problem(cp.Minimize(x[0]), [row(x), x[0] == 1.0])).programme) is None


def test_a_gap_is_small_where_rounding_of_the_value_is_not() -> None:
    """10⁸((x₁ − x₂)² + 2⁻²⁰x₂²): its value is a difference of terms around 10¹⁴."""
    x = cp.Variable(2, name="x")
    form = np.array([[1.0, -1.0], [-1.0, 1.0 + 2.0**-20]])
    problem = cp.Problem(cp.Minimize(1e8 * cp.quad_form(x, form)), [x[1] == 1e3, x >= 0])
    problem.solve(solver="CLARABEL")
    found = simopt.certify(problem, rigorous=True)
    exact = Fraction(10) ** 8 * Fraction(10) ** 6 * (1 + Fraction(1, 2**20) - 1)
    assert Fraction(found.lower) <= exact <= Fraction(found.upper) and found.closes(1e-8)


def test_bounds_that_rows_imply_hold_in_fractions() -> None:
    x = cp.Variable(3, name="x")
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(x)), [0.1 * x[0] + 0.3 * x[1] + x[2] <= 1, x[:2] >= 0, x[2] >= -0.7, x[0] - x[1] == 0.2]
    )
    linear = read(problem).linear
    low, high = implied_ends(linear)
    most = (Fraction(1) + Fraction(0.7)) / Fraction(0.1)
    assert most <= Fraction(high[0]) <= most * (1 + Fraction(1, 10**12)) and np.isfinite(high[:3]).all()
    assert np.array_equal(low[:3], linear.low[:3])


def test_a_bound_that_a_row_implies_holds_where_its_products_underflow() -> None:
    """10⁻³⁰⁰x ≤ 10⁻²⁰⁰z with z ≤ 10⁻²⁰⁰ leaves x = 10⁻¹⁰⁰, of which −10¹⁰⁰x makes −1."""
    x, z = cp.Variable(name="x"), cp.Variable(name="z")
    problem = cp.Problem(cp.Minimize(cp.square(z) - 1e100 * x), [1e-300 * x <= 1e-200 * z, z <= 1e-200, z >= 0, x >= 0])
    quadratic = read(problem)
    most = Fraction(1e-200) * Fraction(1e-200) / Fraction(1e-300)
    assert Fraction(float(quadratic.linear.by_name(implied_ends(quadratic.linear)[1])["x"])) >= most
    found = proven_bounds(quadratic, np.zeros(len(quadratic.linear.low)), np.zeros(len(quadratic.linear.equality)), 1e-8)
    assert found is not None and Fraction(found.lower) <= Fraction(1e-200) ** 2 - Fraction(1e100) * most


def test_a_form_that_curves_downwards_does_so_where_its_products_underflow() -> None:
    """−10⁻¹⁰(10⁻¹⁷⁰x)² is −10²⁵⁰ at 10³⁰⁰."""
    x = cp.Variable(2, name="x")
    form = cp.quad_form(1e-170 * x, np.diag([1.0, -1e-10]), assume_PSD=True)
    quadratic = read(cp.Problem(cp.Minimize(form), [x >= -1e300, x <= 1e300]))
    found = proven_bounds(quadratic, np.zeros(len(quadratic.linear.low)), np.zeros(len(quadratic.linear.equality)), 1e-8)
    assert found is not None and found.lower <= -1e250


def test_numbers_beyond_all_floats_prove_nothing() -> None:
    rows = IntervalMatrix(sp.csr_array([[1e-200, 1.0], [1e200, 0.0]]))
    one = np.arange(1)
    assert following_rows(rows, Interval(np.zeros(2)), one, one, one + 1, np.array([0.0, 1.0])) is None
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [3 * x[0] + x[1] == 1, 9 * x[0] + 3 * x[1] == 3, x[0] - 2 * x[1] <= 7])
    linear = read(problem).linear
    for size in (1e300, 1e308, -1.7e308):
        for near in feasible_points(linear, np.full(len(linear.low), size), np.zeros(len(linear.equality)), np.zeros(len(linear.low))):
            assert np.isfinite(near.x).all()


def test_values_of_rows_that_follow_are_exact() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        a = rng.integers(-3, 4, (4, 7)).astype(float)
        a[:, :4] += 10 * np.eye(4)
        factors = rng.integers(-2, 3, (2, 4)).astype(float)
        whole = IntervalMatrix(sp.csr_array(np.vstack([a, factors @ a + [[0.0] * 6 + [1.0]] * 2])))
        x, b = rng.integers(-2, 3, 7) / 4.0, rng.integers(-2, 3, 6).astype(float)
        found = following_rows(whole, Interval(b), np.arange(4), np.arange(4), np.arange(4, 6), x)
        assert found is not None
        np.testing.assert_array_equal(found.mid, x[6] + b[4:] - factors @ b[:4])
        assert not found.rad.any()


def test_the_least_singular_value_of_rows_is_bounded_from_below() -> None:
    rng = np.random.default_rng(1)
    for n in (5, 60):
        a = rng.normal(size=(n, 2 * n)) * (rng.random((n, 2 * n)) < 0.3) + np.eye(n, 2 * n)
        least = np.linalg.svd(a, compute_uv=False)[-1]
        found, _ = least_of_rows(sp.csr_array(a))
        assert 0.2 * least <= found <= least * (1 + 1e-12)
        assert least_of_rows(sp.csr_array(np.vstack([a, a[0]])))[0] == 0.0


def test_bounds_that_contradict_each_other_give_none(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, _ = planted("regular", 0)
    problem.solve(solver="CLARABEL")
    quadratic = read(problem)
    linear = quadratic.linear
    point = np.concatenate([problem.variables()[0].value, np.zeros(len(linear.low) - 12)])
    wrong = replace(quadratic, curvature=np.full(len(linear.low), 1e9))  # Q − diag(q) is not semidefinite then
    assert proven_bounds(quadratic, point, np.zeros(len(linear.equality)), 1e-8) is not None
    found = proven_bounds(wrong, point + 1.0, np.zeros(len(linear.equality)), 1e-8)
    assert found is None or found.lower <= found.upper
