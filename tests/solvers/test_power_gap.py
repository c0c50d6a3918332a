"""The gap as a sum of non-negative terms: equal to primal minus dual, and accurate where that difference is all cancellation."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty
from simopt.solvers.squares.power_gap import column_major, power_bracket, symmetric_product, young


def textbook(gram, y, a, v, lam, m):
    """Primal minus dual, as they are written in the paper."""
    n = y.size
    primal = np.sum((y - gram @ a) ** 2) / n + lam * (a @ gram @ a) ** (m / 2)
    dual = y @ v - n / 4 * v @ v - (m - 1) * lam * (math.sqrt(v @ gram @ v) / (lam * m)) ** (m / (m - 1))
    return primal - dual, primal


@pytest.mark.parametrize("m", [1.2, 1.5, 2.0, 3.0, 7.0])
def test_equals_primal_minus_dual_away_from_the_optimum(kernel_problem, m):
    gram, y = kernel_problem(25)
    rng = np.random.default_rng(3)
    for mu in (0.01, 0.3, 2.0):
        a = np.linalg.solve(gram + 0.1 * np.eye(25), y) * rng.uniform(0.5, 1.5) + 0.01 * rng.normal(size=25)
        bracket = power_bracket(gram, a, y, math.log(mu), 0.05, m)
        expected, primal = textbook(gram, y, a, 2 * mu / 25 * a, 0.05, m)
        assert bracket.gap == pytest.approx(expected, rel=1e-9)
        assert bracket.upper == pytest.approx(primal, rel=1e-12)


def test_agrees_with_the_problem_that_certifies(kernel_problem):
    gram, y = kernel_problem(25)
    other = np.random.default_rng(1).normal(size=25) / 25
    for m in (1.0, 1.5, 3.0):
        problem = MPowerRLS(gram, y, PowerPenalty(0.05, m))
        a = np.linalg.solve(gram + 0.3 * np.eye(25), y)
        for mu in (0.01, 0.2, 5.0):  # for m = 1 the last of them violates √(vᵀKv) ≤ λ and is scaled
            bracket = power_bracket(gram, a, y, math.log(mu), 0.05, m)
            v = 2 * mu / 25 * a
            assert bracket.gap == pytest.approx(float(problem.gap({"alpha": a}, {"predictions": v})), rel=1e-8)
            v = v + 0.3 * other
            bracket = power_bracket(gram, a, y, math.log(mu), 0.05, m, v)
            assert bracket.gap == pytest.approx(float(problem.gap({"alpha": a}, {"predictions": v})), rel=1e-8)


def test_another_dual_point_is_primal_minus_dual_too(kernel_problem):
    gram, y = kernel_problem(25)
    rng = np.random.default_rng(3)
    a, v = rng.normal(size=25), rng.normal(size=25) / 25
    for m in (1.2, 2.0, 5.0):
        expected, _ = textbook(gram, y, a, v, 0.05, m)
        assert power_bracket(gram, a, y, 0.0, 0.05, m, v).gap == pytest.approx(expected, rel=1e-9)


@settings(max_examples=200, deadline=None)
@given(st.floats(-9, 2), st.booleans(), st.floats(-4, math.log10(50)))
def test_young_to_full_accuracy(size, positive, excess):
    log_rho, m = (1 if positive else -1) * 10.0**size, 1 + 10.0**excess
    ctx.prec = 400
    try:
        x, power = arb(log_rho), arb(m)
        value = 1 + (power - 1) * (x * power / (power - 1)).exp() - power * x.exp()
        expected = float(value.mid())
    except OverflowError:
        expected = math.inf
    finally:
        ctx.prec = 53
    ours = young(log_rho, m)
    if math.isinf(expected) or expected > 1e300:
        assert ours > 1e290
    else:
        # near the largest exponents the argument's own rounding is magnified
        conjugate = m / (m - 1)
        assert ours == pytest.approx(expected, rel=1e-11 + 1e-15 * conjugate * abs(log_rho) * conjugate + 4e-14 * max(1.0, m), abs=1e-300)


def test_zero_is_judged_by_the_limit_of_its_multipliers(kernel_problem):
    gram, y = kernel_problem(20)
    zero = np.zeros(20)
    threshold = 2 / 20 * math.sqrt(y @ gram @ y)
    assert power_bracket(gram, zero, y, math.inf, 1.001 * threshold, 1.0).gap == 0.0
    assert power_bracket(gram, zero, y, math.inf, 0.5 * threshold, 1.0).gap == pytest.approx(0.25 * (y @ y) / 20, rel=1e-12)
    expected, _ = textbook(gram, y, zero, 2 / 20 * y, 0.3, 3.0)
    assert power_bracket(gram, zero, y, 0.0, 0.3, 3.0).gap == pytest.approx(expected, rel=1e-10)


def test_product_reads_any_layout_without_writing(kernel_problem):
    gram, y = kernel_problem(30)
    for layout in (np.ascontiguousarray(gram), np.asfortranarray(gram), np.repeat(gram, 2, axis=1)[:, ::2]):
        layout.setflags(write=False)
        assert symmetric_product(layout, y) == pytest.approx(gram @ y, rel=1e-12)
    c = np.ascontiguousarray(gram)
    assert np.shares_memory(column_major(c), c)
