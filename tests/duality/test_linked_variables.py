"""Problems whose equations link one moment to the next: products with many columns, points without room, more equations than are dense."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Interval
from simopt.duality import Declared, solved
from simopt.duality.evaluation.equalities import drawn, equalities, holding
from simopt.duality.graph.vectors import product


def battery(steps: int) -> cp.Problem:
    """Bought against a price: what is held is the sum of what was charged, and nothing is left at the end but what was there."""
    t = np.arange(steps)
    price = np.exp(-np.cos((t - 15) * 2 * np.pi / 96)) + 0.01 * np.random.default_rng(41).normal(size=steps)
    use = 2 * np.exp(-0.6 * np.cos((t + 40) * np.pi / 96) - 0.7 * np.cos(t * 4 * np.pi / 96))
    held, charged = cp.Variable(steps, name="held"), cp.Variable(steps, name="charged")
    rows = [held[1:] == held[:-1] + charged[:-1], held[0] == held[-1] + charged[-1], use + charged >= 0]
    return cp.Problem(cp.Minimize(price @ (use + charged)), [*rows, held >= 0, held <= 35, charged >= -3, charged <= 3])


def control(steps: int) -> cp.Problem:
    """A linear system of four states, all moments in one product."""
    rng = np.random.default_rng(0)
    A, B = np.eye(4) + 0.1 * rng.normal(size=(4, 4)), rng.normal(size=(4, 2))
    x, u = cp.Variable((4, steps + 1), name="x"), cp.Variable((2, steps), name="u")
    rows = [x[:, 0] == rng.normal(size=4), x[:, 1:] == A @ x[:, :-1] + B @ u, cp.abs(u) <= 1]
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum_squares(u)), rows)


def carts(steps: int) -> cp.Problem:
    """Two carts on a spring, drawn to rest: the matchings that SciPy looks for in these steps do not end."""
    flow = np.array([[0, 1, 0, 0], [-1, -0.1, 1, 0], [0, 0, 0, 1], [1, 0, -1, -0.1]])
    A, B = np.eye(4) + 0.1 * flow, 0.1 * np.array([[0, 0], [1, 0], [0, 0], [0, 1]])
    x, u = cp.Variable((4, steps + 1), name="x"), cp.Variable((2, steps), name="u")
    rows = [x[:, 1:] == A @ x[:, :-1] + B @ u, x[:, 0] == [1, 0, -1, 0.5], x[:, steps] == 0, cp.abs(u) <= 2, cp.abs(x[0]) <= 1.5]
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + 0.1 * cp.sum_squares(u)), rows)


def transport(size: int) -> cp.Problem:
    """Row and column sums, one of which follows from the others."""
    costs, plan = np.random.default_rng(0).random((size, size)), cp.Variable((size, size), nonneg=True, name="plan")
    even = np.ones(size) / size
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs, plan))), [cp.sum(plan, 0) == even, cp.sum(plan, 1) == even])


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize(
    "problem",
    [battery(24), battery(48), control(20), control(300), carts(60), transport(12)],
    ids=["battery 24", "battery 48", "control", "long control", "carts", "transport"],
)
def test_what_clarabel_leaves_is_moved_onto_the_equations(problem: cp.Problem, rigorous: bool) -> None:
    problem.solve(solver="CLARABEL")
    found = simopt.certify(problem, rigorous=rigorous)
    assert found.closes(1e-8), str(found)
    assert found.lower <= problem.value + 1e-7 and problem.value - 1e-7 <= found.upper


def chain() -> cp.Problem:
    """A chain that mixes: row sums, and columns that stay, one of which follows from the others."""
    rng, moves = np.random.default_rng(22), cp.Variable((12, 12), nonneg=True)
    stays = rng.dirichlet(5 * np.ones(12))
    away = cp.max(cp.abs(moves - np.tile(stays, (12, 1))))
    return cp.Problem(cp.Minimize(away + 0.1 * cp.sum(cp.abs(moves))), [cp.sum(moves, axis=1) == 1, stays @ moves == stays])


def robust_filter(steps: int) -> cp.Problem:
    """States that nothing bounds, and outliers; a multiplier of a norm lies along an axis, but for 4e-4 of it."""
    rng = np.random.default_rng(83)
    A, B, C = np.eye(2) + np.array([[0.0, 0.1], [0.0, 0.0]]), np.array([[0.01], [0.1]]), np.eye(2)
    y = np.cumsum(rng.normal(size=(2, steps)), axis=1) + 10 * rng.normal(size=(2, steps)) * (rng.random(steps) < 0.2)
    x, w, v = cp.Variable((2, steps + 1), name="x"), cp.Variable((1, steps), name="w"), cp.Variable((2, steps), name="v")
    rows = [x[:, 1:] == A @ x[:, :-1] + B @ w, C @ x[:, :-1] + v == y]
    return cp.Problem(cp.Minimize(cp.sum_squares(w) + cp.sum(cp.huber(cp.norm(v, axis=0), 1.0))), rows)


def channels(size: int) -> cp.Problem:
    """Total variation of three channels that are known at half of their entries: the multipliers of each are a block."""
    rng = np.random.default_rng(5)
    known, picture = rng.random((size, size)) < 0.5, rng.random((3, size, size))
    parts = [cp.Variable((size, size), name=name) for name in "rgb"]
    return cp.Problem(
        cp.Minimize(cp.tv(*parts)), [cp.multiply(known, part) == known * part_of for part, part_of in zip(parts, picture, strict=True)]
    )


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("problem", [chain(), robust_filter(60), channels(8)], ids=["chain", "filter", "channels"])
def test_redundant_equations_curved_edges_and_blocks_close(problem: cp.Problem, rigorous: bool) -> None:
    problem.solve(solver=cp.CLARABEL)
    assert simopt.certify(problem, rigorous=rigorous).closes(1e-8)


def test_a_multiplier_nearly_along_an_axis_stays_in_the_ball() -> None:
    """Its large entry is 1 to 6e-8 of the scale. Taken for 1, it leaves nothing of the ball to the small one."""
    declared = Declared.of(robust_filter(60))
    point, multipliers = solved(declared)
    bound = declared.briefly(1e-8).dual_bound(multipliers)
    assert declared.objective(declared.restore(point)) - bound <= 1e-8 * bound


def test_more_equations_than_a_dense_factorisation_takes() -> None:
    problem = control(600)
    problem.solve(solver="CLARABEL")
    assert simopt.certify(problem).closes(1e-8)


def test_equations_hold_for_numbers_that_round_to_the_floats() -> None:
    """x₁ − x₂ + x₃ = 0 has no floats next to x₁ = x₂ + 1e-9 + 1e-17, x₃ = −1e-9; numbers that round to them solve it."""
    x = cp.Variable(3, name="x")
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum(x)), [x[0] - x[1] + x[2] == 0, x[2] >= -1, x <= 2]))
    (leaf,) = declared.programme.leaves.values()
    near = np.array([1.0, 1.0, 1e-17])
    assert holding(FLOAT, equalities(declared.programme), {leaf.key: near})[0].all()
    assert not holding(RATIONAL, equalities(declared.programme), {leaf.key: RATIONAL.lift(near)})[0].any()
    far = np.array([1.0, 1.0, 1e-15])
    assert not holding(FLOAT, equalities(declared.programme), {leaf.key: far})[0].any()
    moved = drawn(FLOAT, declared.programme, {leaf.key: far})
    assert holding(FLOAT, equalities(declared.programme), moved)[0].all()


@pytest.mark.parametrize("sparse", [False, True])
def test_products_with_many_columns_are_those_of_each(sparse: bool) -> None:
    rng = np.random.default_rng(3)
    A = np.where(rng.random((5, 4)) < 0.5, rng.normal(size=(5, 4)), 0.0)
    given: Any = sp.csr_array(A) if sparse else A
    x = rng.normal(size=12)
    np.testing.assert_allclose(product(FLOAT, given, x, 3), np.concatenate([given @ x[4 * j : 4 * j + 4] for j in range(3)]), rtol=1e-13)
    rad = np.where(rng.random(12) < 0.5, 1e-9, 0.0)
    rad[5] = np.inf
    found = product(INTERVAL, given, Interval(x, rad), 3)
    each = [INTERVAL.matvec(given, Interval(x[4 * j : 4 * j + 4], rad[4 * j : 4 * j + 4])) for j in range(3)]
    np.testing.assert_allclose(found.mid, np.concatenate([part.mid for part in each]), rtol=1e-14)
    np.testing.assert_array_equal(np.isinf(found.rad), np.concatenate([np.isinf(part.rad) for part in each]))
    exact = product(RATIONAL, given, RATIONAL.lift(x), 3)
    finite = np.isfinite(found.rad)
    inside = [
        Fraction(m) - Fraction(r) <= e <= Fraction(m) + Fraction(r)
        for m, r, e in zip(found.mid[finite], found.rad[finite], exact[finite], strict=True)
    ]
    assert all(inside)


def test_products_of_interval_matrices_with_many_columns_are_those_of_each() -> None:
    rng = np.random.default_rng(4)
    mid = np.where(rng.random((6, 5)) < 0.6, rng.normal(size=(6, 5)), 0.0)
    mid[2] = 0.0  # a row of zeros: its products are exact
    matrix = Interval(mid, np.abs(mid) * 1e-8)
    x = np.where(rng.random(20) < 0.8, rng.normal(size=20), 0.0)
    rad = np.abs(x) * np.where(rng.random(20) < 0.5, 1e-9, 0.0)
    whole = product(INTERVAL, matrix, Interval(x, rad), 4)
    each = [INTERVAL.matvec(matrix, Interval(x[5 * j : 5 * j + 5], rad[5 * j : 5 * j + 5])) for j in range(4)]
    np.testing.assert_allclose(whole.mid, np.concatenate([part.mid for part in each]), rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(whole.rad, np.concatenate([part.rad for part in each]), rtol=1e-6)
    assert (whole.rad == 0.0).sum() == 4
    for _ in range(50):
        signs = rng.choice([-1.0, 1.0], mid.shape), rng.choice([-1.0, 1.0], x.shape)
        member = RATIONAL.lift(mid) + RATIONAL.lift(matrix.rad * signs[0])
        exact = product(RATIONAL, member, RATIONAL.lift(x) + RATIONAL.lift(rad * signs[1]), 4)
        assert all(abs(e - Fraction(m)) <= Fraction(r) for m, r, e in zip(whole.mid, whole.rad, exact, strict=True))


def test_jacobians_follow_the_parameters() -> None:
    """What is kept of the equations is that of the present parameters."""
    slope, x = cp.Parameter(value=2.0), cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [slope * x[0] + x[1] == 4, x >= 0])
    for value in (2.0, 1.0, 3.0):
        slope.value = value
        problem.solve(solver="CLARABEL")
        for rigorous in (False, True):
            found = simopt.certify(problem, rigorous=rigorous)
            assert found.closes(1e-7) and found.lower <= 16 / (value**2 + 1) <= found.upper + 1e-12
