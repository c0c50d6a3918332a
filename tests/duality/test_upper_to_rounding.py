"""What floats may claim of the objective at a point that holds its rows to rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from simopt.duality import Declared


def one_row(weights: np.ndarray, total: float) -> Declared:
    """min Σ x_i² over Σ w_i x_i = total: no float may solve the row."""
    x = cp.Variable(len(weights), name="x")
    return Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x)), [(weights @ x == total).set_label("total")]))


@pytest.mark.parametrize("seed", range(8))
def test_it_is_not_below_the_optimum_and_as_near_to_it_as_rounding(seed: int) -> None:
    """The optimum is total²/Σ w_i², at x = w total/Σ w_i² with the multiplier −2 total/Σ w_i²: f(x) + |y| |h(x)| is not below it."""
    weights, total = np.random.default_rng(seed).normal(size=5), 1.0 + 0.1 * seed
    squares = sum(Fraction(w) ** 2 for w in weights)
    optimum = Fraction(total) ** 2 / squares
    point = {"x": weights * float(Fraction(total) / squares)}
    multipliers = {"total": np.array([-2.0 * float(Fraction(total) / squares)]), "quad_over_lin 1": 2.0 * point["x"]}
    found = one_row(weights, total).upper_to_rounding(point, multipliers)
    assert optimum * (1 - Fraction(2) ** -100) <= Fraction(found) <= optimum * (1 + Fraction(1, 10**12))


def test_a_row_off_by_more_costs_its_multiplier() -> None:
    declared = one_row(np.array([1.0, 1.0]), 2.0)
    multipliers = {"total": np.array([-2.0])}
    assert declared.upper_to_rounding({"x": np.array([1.0, 1.0])}, multipliers) == pytest.approx(2.0, abs=1e-12)
    assert declared.upper_to_rounding({"x": np.array([1.0, 0.5])}, multipliers) == pytest.approx(1.25 + 2.0 * 0.5)
    assert declared.upper_to_rounding({"x": np.array([1.0, 0.5])}, {}) == math.inf, "no multiplier, no price"


def test_what_cancels_in_a_row_counts_with_its_rounding() -> None:
    """1e20 (x_1 − x_2) = total: the row may be off by 1e4 and look as if it held."""
    declared = one_row(np.array([1e20, -1e20]), 0.1)
    point = {"x": np.array([1.0 / 3.0, 1.0 / 3.0])}
    assert declared.upper_to_rounding(point, {"total": np.array([1.0])}) > 100.0


def test_a_point_outside_of_a_domain_or_of_bounds_has_none() -> None:
    x = cp.Variable(2, name="x", nonneg=True)
    declared = Declared.of(cp.Problem(cp.Maximize(cp.sum(cp.log(x - 1))), [(x[0] + x[1] <= 4).set_label("sum")]))
    multipliers = {"sum": np.array([1.0])}
    assert math.isfinite(declared.upper_to_rounding({"x": np.array([2.0, 2.0])}, multipliers))
    assert declared.upper_to_rounding({"x": np.array([1.0, 2.0])}, multipliers) == math.inf
    assert declared.upper_to_rounding({"x": np.array([-1.0, 2.0])}, multipliers) == math.inf
