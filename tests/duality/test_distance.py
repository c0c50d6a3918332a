"""The ball that holds every optimum: against optima in closed form, from points near and far, and where there is no ball."""

from __future__ import annotations

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from simopt.duality import Declared

rng = np.random.default_rng(0)
A, y = rng.normal(size=(12, 3)), rng.normal(size=12)


def test_a_point_of_ridge_regression_is_as_near_as_its_gap_says() -> None:
    """w* solves (AᵀA + λI)w = Aᵀy."""
    for strength in (1e-3, 0.5, 40.0):
        w = cp.Variable(3, name="w")
        declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(A @ w - y) + strength * cp.sum_squares(w))))
        best = np.linalg.solve(A.T @ A + strength * np.eye(3), A.T @ y)
        for size in (1e-3, 1.0, 1e3):
            point = best + size * rng.normal(size=3)
            gap = float(declared.objective({"w": point})) - float(declared.objective({"w": best}))
            assert np.linalg.norm(point - best) <= declared.distance(gap) * (1 + 1e-12)


def test_the_bound_is_attained_and_rounded_outwards() -> None:
    """min Σ c_i² s x_i²: from x = e_i of the least factor the gap is s c_i², and the distance 1."""
    x = cp.Variable(2, name="x")
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply([0.1, 3.0], x)) / 0.7)))
    gap = float(Fraction(0.1) ** 2 / Fraction(0.7))
    found = declared.distance(gap)
    assert 1.0 - 1e-15 <= found <= 1.0 + 1e-12
    assert Fraction(found) ** 2 * Fraction(0.1) ** 2 >= Fraction(gap) * Fraction(0.7)


def test_forms_parameters_and_constraints_count() -> None:
    P = np.array([[2.0, 1.0], [1.0, 2.0]])  # λ_min = 1
    x, strength = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, value=4.0)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.quad_form(x - 1, P) + cp.sum(x)), [x >= 3]))
    gap = float(declared.objective({"x": np.array([4.0, 4.0])})) - float(declared.objective({"x": np.array([3.0, 3.0])}))
    assert math.sqrt(2.0) <= declared.distance(gap) <= 2.01 * math.sqrt(gap)  # λ_min is proven to a half
    z = cp.Variable(2, name="z")
    live = Declared.of(cp.Problem(cp.Minimize(strength * cp.sum_squares(z) + cp.norm1(z))))
    assert live.distance(1.0) == pytest.approx(0.5)
    strength.value = 1.0
    assert live.distance(1.0) == pytest.approx(1.0)


def test_a_variable_without_a_square_has_no_ball_and_the_others_have_theirs() -> None:
    w, b = cp.Variable(3, name="w"), cp.Variable(name="b")
    declared = Declared.of(cp.Problem(cp.Minimize(cp.norm1(A @ w + b - y) + 0.5 * cp.sum_squares(w))))
    assert declared.distance(0.1) == math.inf
    assert declared.distances(0.1)["b"] == math.inf and declared.distances(0.5)["w"] == pytest.approx(1.0)
    half = Declared.of(cp.Problem(cp.Minimize(cp.norm1(A @ w - y) + cp.sum_squares(w[:2]))))
    assert half.distances(0.1) == {"w": math.inf}
    assert declared.distances(math.inf)["w"] == math.inf and declared.distances(math.nan)["w"] == math.inf
    assert declared.distances(-1e-20)["w"] <= 1e-100  # the gap of floats may be below 0 by rounding


def test_squares_that_are_no_part_of_the_objective_do_not_count() -> None:
    """In a row or in a maximum a square says nothing of how the objective grows."""
    x = cp.Variable(2, name="x")
    in_row = cp.Problem(cp.Minimize(cp.sum(x)), [cp.sum_squares(x) <= 1])
    in_maximum = cp.Problem(cp.Minimize(cp.maximum(cp.sum_squares(x), 4)))
    mixed = cp.Problem(cp.Minimize(cp.sum_squares(A[:2, :2] @ x)))  # its rows have several entries
    for problem in (in_row, in_maximum, mixed):
        assert Declared.of(problem).distance(1e-3) == math.inf
