"""Implied bounds: they hold at every feasible point below the level, they close what pivots do not, and they are never too narrow."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.duality import Declared, solved
from simopt.duality.stationarity.implied import implied

each_arithmetic = pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
draw = np.random.default_rng(3)
A = draw.integers(-8, 9, (9, 3)) / 4.0


def limits(problem: cp.Problem, upper: float) -> dict[str, tuple[Any, Any]]:
    """The ends of each leaf by its name, all entries wanted."""
    programme = Declared.of(problem).programme
    wanted = {key: np.ones(leaf.size, dtype=bool) for key, leaf in programme.leaves.items()}
    return {programme.leaves[key].name: ends for key, ends in implied(programme, upper, wanted).items()}


def test_a_simplex_bounds_its_entries() -> None:
    x = cp.Variable(3, name="x", nonneg=True)
    low, high = limits(cp.Problem(cp.Minimize(A[0] @ x), [cp.sum(x) == 1]), math.inf)["x"]
    assert np.array_equal(low, np.zeros(3)) and np.all(high >= 1.0) and np.all(high <= 1.0 + 1e-14)


def test_the_ends_are_rounded_outward() -> None:
    """0.1 x ≤ 0.3 with the floats that these are: the largest x is a fraction between two floats."""
    x = cp.Variable(2, name="x")
    _, high = limits(cp.Problem(cp.Minimize(cp.sum_squares(x)), [0.1 * x[0] + 0.7 * x[1] <= 0.3, x >= 0]), math.inf)["x"]
    assert all(Fraction(float(end)) >= Fraction(0.3) / Fraction(c) for end, c in zip(high, (0.1, 0.7), strict=True))
    assert np.allclose(high, [3.0, 3.0 / 7.0], rtol=1e-14)


def test_a_row_bounds_its_one_entry_without_an_end_and_none_of_two() -> None:
    """2y + x ≤ 3 with x ≥ 1 gives y ≤ 1, whatever the other side of y; of two entries that may be −∞ neither gets an end."""
    x, y, z = cp.Variable(name="x"), cp.Variable(name="y"), cp.Variable(2, name="z")
    found = limits(cp.Problem(cp.Minimize(x), [2 * y + x <= 3, x >= 1, cp.sum(z) <= 4]), math.inf)
    assert found["y"][0].tolist() == [-np.inf] and found["y"][1] == pytest.approx([1.0], rel=1e-14)
    assert found["z"][0].tolist() == [-np.inf] * 2 and found["z"][1].tolist() == [np.inf] * 2


FUNCTIONS = {
    "absolute": lambda w: cp.norm1(A @ w),
    "norms": lambda w: cp.norm(w) + cp.norm_inf(A @ w),
    "squares": lambda w: cp.sum_squares(w) + cp.sum(cp.pos(A @ w)),
    "Huber": lambda w: cp.sum(cp.huber(w, 0.5)),
    "logistic": lambda w: cp.sum(cp.logistic(A @ w)) + cp.sum(cp.logistic(-(A @ w))),
    "hinge": lambda w: cp.sum(cp.pos(w - 1)) + cp.sum(cp.pos(-w - 2)),
    "maximum below 0": lambda w: cp.max(cp.hstack([w - 3, -w - 3])),
    "nested": lambda w: cp.sum(cp.pos(cp.abs(w) - 1)),
    "p-norm": lambda w: cp.pnorm(w, 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("level", [-2.0, -0.5, 0.25, 3.0, 40.0])
def test_no_point_below_the_level_is_cut_off(name: str, level: float) -> None:
    """Points that are scaled until f(x) ≤ level, the level being taken as it comes out there."""
    w = cp.Variable(3, name="w")
    problem = cp.Problem(cp.Minimize(FUNCTIONS[name](w)))
    low, high = limits(problem, level)["w"]
    bounded = 0
    for x in draw.normal(size=(40, 3)):
        for size in (0.0, 1e-3, 0.1, 1.0, 3.0, 10.0):
            w.value = size * x
            if problem.objective.value <= level:
                bounded += 1
                assert np.all(low <= w.value) and np.all(w.value <= high)
    assert bounded or level < 0.25 or name == "logistic"


@each_arithmetic
def test_the_shortest_point_of_a_simplex_closes_by_what_the_simplex_implies(num: Arithmetic) -> None:
    """min c·x over the simplex: the least entry of c, whatever the multiplier of the sum."""
    x = cp.Variable(3, name="x", nonneg=True)
    declared = Declared.of(cp.Problem(cp.Minimize(np.array([0.5, 0.25, 2.0]) @ x), [(cp.sum(x) == 1).set_label("sum")]))
    for multiplier in (-0.25, -0.5, 0.0, 7.0, -3.0):
        lower = num.lower(declared.dual_bound({"sum": multiplier}, num, 0.25))
        assert lower <= 0.25 * (1 + (1e-15 if num is FLOAT else 0.0))
    assert num.lower(declared.dual_bound({"sum": -0.25}, num, 0.25)) == pytest.approx(0.25, abs=1e-14)


@each_arithmetic
def test_a_level_bounds_the_optimum_however_far_above_it_is(num: Arithmetic) -> None:
    """min ‖w‖₁ + w₀/2 with w₀ ≥ 1: the optimum is 3/2; the multipliers are none, so that only the level bounds w."""
    w = cp.Variable(2, name="w")
    declared = Declared.of(cp.Problem(cp.Minimize(cp.norm1(w) + 0.5 * w[0]), [(w[0] + 0 * w[1] >= 1).set_label("row")]))
    for upper in (1.5, 2.0, 10.0, 1e9, math.inf):
        for multiplier in (0.0, 0.5, 1.5, 4.0):
            assert num.lower(declared.dual_bound({"row": multiplier}, num, upper)) <= 1.5


def test_an_empty_class_leaves_a_threshold_to_its_implied_bounds() -> None:
    """Thresholds of an ordinal fit where no sample is of the middle class."""
    w, theta = cp.Variable(3, name="w"), cp.Variable(3, name="thresholds")
    z = A @ w
    below, above = cp.sum(cp.pos(1 - (theta[0] - z[:4]))), cp.sum(cp.pos(1 + theta[2] - z[4:]))
    rows = [cp.norm(w) <= 2, theta[:-1] <= theta[1:]]
    declared = Declared.of(cp.Problem(cp.Minimize((below + above) / 9), rows))
    point, multipliers = solved(declared)
    for num, tol in ((FLOAT, 1e-8), (INTERVAL, 1e-6)):
        certificate = simopt.certify(declared, point, multipliers, num)
        assert certificate.gap <= tol, (certificate, declared.open(multipliers, declared.restore(point, num), num))


def test_what_cancels_in_floats_is_no_bound() -> None:
    """(1 + 2⁻⁶⁰ − 1)x ≤ 1 says x ≤ 2⁶⁰, and floats that x may be anything or, of a row that rounds the other way, nothing."""
    x, parts = cp.Variable(2, name="x"), [cp.Parameter(value=value) for value in (1.0, 2.0**-60, -1.0)]
    low, high = limits(cp.Problem(cp.Minimize(cp.sum(x)), [sum(parts) * x[0] + x[1] <= 1, x[1] >= 0]), math.inf)["x"]
    assert high[0] >= 2.0**60 and low[0] == -math.inf
