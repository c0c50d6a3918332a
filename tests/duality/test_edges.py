"""Edges: of domains, of the floats, and of what CVXPY lets one write."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.duality import Declared
from simopt.duality.atoms.decreasing_power import DecreasingPower
from simopt.duality.atoms.entropy import Entropy
from simopt.duality.atoms.power import Power
from simopt.duality.evaluation.bounds import box


@pytest.mark.parametrize("atom", [DecreasingPower(0.5), DecreasingPower(0.3), Power(1.5), Entropy()], ids=["root", "0.3", "1.5", "entropy"])
def test_an_argument_that_rounding_put_below_0_has_the_value_at_0(atom: DecreasingPower | Power | Entropy) -> None:
    """Its domain is z ≥ 0, where the argument is known to be: of an interval that reaches below 0 the part above 0 counts."""
    assert abs(atom.value(FLOAT, np.full(1, -1e-300))[0]) <= 1e-290
    interval = INTERVAL.lift(np.zeros(1)) + INTERVAL.sqrt(INTERVAL.lift(np.full(1, 2.0))) - INTERVAL.sqrt(INTERVAL.lift(np.full(1, 2.0)))
    assert interval.low[0] < 0.0 < interval.high[0]
    value = atom.value(INTERVAL, interval)
    assert value.low[0] <= 0.0 <= value.high[0] and math.isfinite(value.low[0]) and math.isfinite(value.high[0])


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_a_row_that_is_no_number_is_not_satisfied(num: Arithmetic) -> None:
    """1e308 x − 1e308 y ≤ −1 at x = y = 10 reads ∞ − ∞ in floats."""
    x = cp.Variable(2, name="x")
    rows = [1e308 * x[0] - 1e308 * x[1] <= -1, x <= 20]
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum(x)), rows))
    with np.errstate(all="ignore"):
        assert declared.objective({"x": np.full(2, 10.0)}, num) == math.inf


def test_what_overflows_implies_no_bound() -> None:
    """x₁ ≥ −1e200 x₀ says x₁ ≥ −1e400 for x₀ ≤ 1e200, which is no float, and x₁ ≥ −1e200 for −1e200 ≤ x₀ ≤ 1."""
    x = cp.Variable(2, name="x")
    for rows, optimum in (([x[0] <= 1e200], -math.inf), ([x[0] <= 1, x[0] >= -1e200], -1e200)):
        declared = Declared.of(cp.Problem(cp.Minimize(x[1]), [-1e200 * x[0] - x[1] <= 0, *rows]))
        for num in (FLOAT, INTERVAL, RATIONAL):
            assert num.lower(declared.dual_bound({}, num)) <= optimum


def test_a_root_of_what_is_below_0_is_infeasible_and_no_error() -> None:
    x = cp.Variable(2, name="x")
    for root in (cp.sqrt(x), -cp.power(x, 1.5)):
        declared = Declared.of(cp.Problem(cp.Maximize(cp.sum(root))))
        for num in (FLOAT, INTERVAL, RATIONAL):
            assert declared.objective({"x": np.array([1.0, -1.0])}, num) == math.inf


def test_powers_0_and_1_and_products_with_plain_vectors_are_read() -> None:
    X = cp.Variable((3, 2), name="X")
    c, point = np.array([1.0, -2.0, 0.5]), np.arange(6.0).reshape(3, 2)
    for e, value in (
        (cp.sum(cp.power(X, 0)), 6.0),
        (cp.sum(cp.power(X, 1)), 15.0),
        (cp.sum(c @ X), float(np.sum(c @ point))),
        (cp.sum(X.T @ c), float(np.sum(c @ point))),
    ):
        assert Declared.of(cp.Problem(cp.Minimize(e + cp.sum_squares(X)))).objective({"X": point}) == value + 55.0


def test_a_parameter_may_be_0_whatever_its_sign() -> None:
    x = cp.Variable(2, name="x")
    below, above = cp.Parameter(2, nonpos=True, value=[0.0, -1.0]), cp.Parameter(nonneg=True, value=0.0)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x - below) + above * cp.norm(x))))
    assert declared.objective({"x": np.zeros(2)}) == 1.0
    below.value = np.array([-0.0, -2.0])
    assert declared.objective({"x": np.zeros(2)}) == 4.0


def test_a_factor_of_0_takes_no_multiplier_from_the_equality_that_defines_its_argument() -> None:
    """Fᵀv + Cᵀu = 0 says nothing of u where C has become 0, and whatever u is there bounds: min ‖p∘f − 1‖² + ‖x‖², f = x, is 2."""
    x, f, p = cp.Variable(3, name="x"), cp.Variable(3, name="f"), cp.Parameter(3, nonneg=True, value=[1.0, 0.0, 1.0])
    goal = cp.sum_squares(cp.multiply(p, f) - 1) + cp.sum_squares(x)
    declared = Declared.of(cp.Problem(cp.Minimize(goal), [f == x]))
    for num in (FLOAT, INTERVAL, RATIONAL):
        bound = declared.dual_bound({"row 0": np.ones(3)}, num)
        assert 0.9 <= num.lower(bound) <= 2.0


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_of_many_bounds_of_an_entry_the_tightest_counts(num: Arithmetic) -> None:
    """c x_i + b ≤ 0 for c > 0 bounds x_i from above, for c < 0 from below; an equation does both; an entry without any is free."""
    rng = np.random.default_rng(0)
    x, factors, limits = cp.Variable(5), rng.choice([-2.0, -1.0, 1.0, 4.0], size=40), rng.integers(-9, 9, size=40) / 4.0
    entries = rng.integers(0, 3, size=40)
    rows = [cp.multiply(factors[:25], x[entries[:25]]) <= limits[:25]]
    rows += [float(c) * x[int(i)] <= float(limit) for c, i, limit in zip(factors[25:], entries[25:], limits[25:], strict=True)]
    programme = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x)), [*rows, x[3] == 0.75])).programme
    found = box(num, programme, next(iter(programme.leaves.values())))
    ends = limits / factors  # all exact
    for i in range(3):
        high, low = (ends[(entries == i) & (np.sign(factors) == sign)] for sign in (1, -1))
        for end, best in ((found.high[i], high.min()), (found.low[i], low.max())):
            assert num.lower(end) <= best <= num.upper(end) <= num.lower(end) + 4e-15  # intervals round a division
    assert found.above[:3].all() and found.below[:3].all() and not (found.above[4] or found.below[4])
    assert not found.above[3] or num.lower(found.low[3]) == num.upper(found.high[3]) == 0.75
