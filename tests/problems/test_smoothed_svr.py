"""The smoothed ε-insensitive loss: its formula against its definition, its conjugate, the duals that it enters, and its limits."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from simopt import path, solve
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import load_dataset
from simopt.problems import recipes
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.problems.losses import insensitive as smoothed
from simopt.problems.sample_weights import SampleWeights
from simopt.solving.entry_points import certify

BETAS = [0.3, 1.0, 7.0, 1e4]


def insensitive(r: Any, epsilon: float) -> Any:
    return np.maximum(np.abs(r) - epsilon, 0.0)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_the_smoothed_loss_is_the_infimal_convolution(beta: float, epsilon: float) -> None:
    for r in (-3.0, -0.7, -0.4, 0.0, 0.2, 0.45, 1.1, 5.0):
        corners = np.array([0.0, r - epsilon, r + epsilon, 1.0 / beta, -1.0 / beta])  # v where slopes change, and where βv is a slope
        best = np.min(0.5 * beta * corners**2 + insensitive(r - corners, epsilon))
        found = smoothed.loss(np.array([r]), epsilon, beta)[0]
        assert found == pytest.approx(best, rel=1e-13, abs=1e-15)
        v = np.linspace(-6.0, 6.0, 4001)
        assert found <= np.min(0.5 * beta * v**2 + insensitive(r - v, epsilon)) + 1e-15


def test_the_formula_of_the_paper_and_its_distance_from_the_plain_loss() -> None:
    r = np.linspace(-3.0, 3.0, 601)
    for beta in BETAS:
        size = np.abs(r)
        printed = np.where(size <= 0.4, 0.0, np.where(size < 0.4 + 1 / beta, 0.5 * beta * (size - 0.4) ** 2, size - 0.4 - 0.5 / beta))
        found = smoothed.loss(r, 0.4, beta)
        np.testing.assert_allclose(found, printed, rtol=1e-12, atol=1e-13)
        off = insensitive(r, 0.4) - found
        assert np.min(off) >= -1e-15
        assert np.max(off) <= 0.5 / beta + 1e-15  # entries of size 3 are rounded by 4e-16
    np.testing.assert_array_equal(smoothed.loss(r, 0.4, math.inf), insensitive(r, 0.4))


@pytest.mark.parametrize("beta", [0.25, 8.0])
def test_hinges_bounds_and_what_is_left_are_exact_in_fractions_and_enclosed(beta: float) -> None:
    rng = np.random.default_rng(0)
    h, n = rng.normal(size=40), 40
    a = rng.uniform(0.0, 1.0 / 64, size=40)
    values: dict[str, Any] = {}
    for num in (FLOAT, INTERVAL, RATIONAL):
        lifted, multipliers = num.lift(h), num.lift(a)
        upper = smoothed.mean_loss(num, lifted, sample_weights=SampleWeights(n), smoothness=beta)
        lower = num.dot(multipliers, lifted) - smoothed.cost(num, multipliers, sample_weights=SampleWeights(n), smoothness=beta)
        values[num.name] = (upper, lower, smoothed.slack(num, lifted, multipliers, SampleWeights(n), beta))
    upper, lower, slack = values["rational"]
    assert slack == upper - lower > 0
    for exact, ball, plain in zip(values["rational"], values["interval"], values["float"], strict=True):
        assert Fraction(INTERVAL.lower(ball)) <= exact <= Fraction(INTERVAL.upper(ball))
        assert plain == pytest.approx(float(exact), rel=1e-12)


def test_the_suggested_multipliers_leave_nothing_of_a_smoothed_hinge() -> None:
    h = np.linspace(-2.0, 2.0, 81)
    a = smoothed.suggested(h, SampleWeights(81), 1.5)
    assert smoothed.slack(FLOAT, h, a, SampleWeights(81), 1.5) <= 1e-30
    assert smoothed.slack(FLOAT, h, a * 0.9, SampleWeights(81), 1.5) > 1e-3


def pair(beta: float) -> tuple[LandmarkedSVR, LandmarkedSVR]:
    features, targets = recipes.small_regression(np.random.default_rng(5), 40, 4)
    return LandmarkedSVR(features, targets, Ball(1.0), 0.1, beta), LandmarkedSVR(features, targets, Penalty(0.02), 0.1, beta)


@pytest.mark.parametrize("beta", [0.4, 5.0, math.inf])
def test_declared_duals_have_the_primal_s_value_and_its_multipliers(beta: float) -> None:
    for problem in pair(beta):
        primal, dual = problem.declare(), problem.declare_dual()
        assert dual.is_dcp() and all(row.label for row in dual.constraints)
        tight: dict[str, Any] = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
        primal.solve(solver="CLARABEL", **tight)
        dual.solve(solver="CLARABEL", **tight)
        assert dual.value == pytest.approx(primal.value, rel=1e-8)
        assert ("v" in {v.name() for v in primal.variables()}) == (beta < math.inf)
        point = {"w": primal.var_dict["w"].value}
        multipliers = {key: dual.var_dict[key].value for key in ("above", "below")}
        assert float(problem.objective(problem.restore(point))) == pytest.approx(primal.value, rel=1e-8)
        assert certify(problem, point, multipliers).relative_gap <= 1e-7


def test_a_smooth_loss_needs_no_multipliers_of_the_solver() -> None:
    """For β < ∞ the gradient gives the multipliers of a point exactly: at the optimum of the penalised form the point alone closes the
    certificate."""
    _, problem = pair(2.0)

    def value(w: Any) -> float:
        return float(problem.objective({"w": w}))

    best = scipy.optimize.minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-10}).x
    found = certify(problem, {"w": best})
    assert found.multipliers_from == "point"
    assert found.relative_gap <= 1e-10


def test_large_beta_tends_to_the_plain_loss_and_the_optima_differ_by_at_most_half_its_inverse() -> None:
    for plain in pair(math.inf):
        optimum = solve(plain, "clarabel", tol=1e-8)
        for beta in (1.0, 10.0, 1000.0):
            soft = solve(replace(plain, smoothness=beta), "clarabel", tol=1e-8)
            assert soft.optimal
            assert -1e-7 <= optimum.value - soft.value <= 0.5 / beta + 1e-7


def test_an_absurd_beta_is_judged_like_the_plain_loss() -> None:
    for plain, steep in zip(pair(math.inf), pair(1e100), strict=True):
        solution = solve(plain, "clarabel", tol=1e-8)
        assert solution.point is not None
        multipliers = None if solution.multipliers is None else dict(solution.multipliers)
        for num in (FLOAT, INTERVAL):
            found = certify(steep, dict(solution.point), multipliers, num)
            assert found.relative_gap <= 2e-8


def test_a_path_over_beta_may_end_at_infinity() -> None:
    problem = pair(1.0)[0]
    values = [solution.value for _, solution in path(problem, "smoothness", [1.0, 30.0, math.inf, 2.0], "clarabel")]
    fresh = [solve(replace(problem, smoothness=beta), "clarabel").value for beta in (1.0, 30.0, math.inf, 2.0)]
    np.testing.assert_allclose(values, fresh, rtol=1e-6)
    assert values[0] < values[3] < values[1] < values[2]


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, -math.inf, 1e-200, "steep"])
def test_a_beta_that_is_not_positive_is_refused(bad: Any) -> None:
    features, targets = recipes.small_regression(np.random.default_rng(5), 10, 2)
    with pytest.raises(InvalidProblem, match="smoothness"):
        LandmarkedSVR(features, targets, Ball(1.0), 0.1, bad)


def test_recipes_refuse_more_landmarks_than_samples_and_take_all_of_few_by_default() -> None:
    dataset = load_dataset("abalone")
    with pytest.raises(InvalidProblem, match="landmarks: 31 asked for, but there are only 30"):
        LandmarkedSVR.from_data(dataset, np.random.default_rng(0), samples=30, landmarks=31)
    assert LandmarkedSVR.from_data(dataset, np.random.default_rng(0), samples=30).features.shape == (30, 30)
    soft = LandmarkedSVR.form("penalty").from_data(dataset, np.random.default_rng(0), samples=60, smoothness=3.0)
    assert soft.features.shape == (60, 50) and soft.smoothness == 3.0


def test_duplicated_landmarks_are_reported_and_solved() -> None:
    features, targets = recipes.small_regression(np.random.default_rng(5), 40, 4)
    twice = np.hstack([features, features[:, 1:3]])
    for beta in (2.0, math.inf):
        problem = LandmarkedSVR(twice, targets, Penalty(0.02), 0.1, beta)
        assert problem.duplicates == ((1, 4), (2, 5))
        assert LandmarkedSVR(features, targets, Ball(1.0), 0.1, beta).duplicates == ()
        solution = solve(problem, tol=1e-7)
        assert solution.optimal and solution.point is not None
        w = np.asarray(solution.point["w"])
        np.testing.assert_allclose(w[1:3], w[4:], atol=1e-2)
