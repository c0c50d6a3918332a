"""Data at the border of what float64 holds, and beyond: refused by name, or solved with an honest status and no warning."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from simopt import certify, solve
from simopt.arithmetic import FLOAT, INTERVAL
from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.problems.m_power_rls import MPowerRLS, PowerBall, PowerPenalty

registry.load("problems")
K = np.exp(-np.square(np.subtract.outer(np.arange(7.0), np.arange(7.0))))
Y = np.array([1.0, -0.5, 0.3, 2.0, -1.0, 0.7, 0.1])


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_targets_whose_squares_leave_float64_are_refused(size: float) -> None:
    z = np.arange(7.0)
    makes: tuple[Any, ...] = (
        lambda y: KernelRidge(K, y, 1.0),
        lambda y: MPowerRLS(K, y, PowerPenalty(1.0, 1.5)),
        lambda y: MPowerRLS(K, y, PowerBall(1.0, 1.5)),
        lambda y: LipschitzIsotonic(z, y, 1.0),
        lambda y: LandmarkedSVR(K, y, Ball(1.0)),
    )
    for make in makes:
        with pytest.raises(InvalidProblem, match="targets: the largest entry is .* float64 cannot hold its square"):
            make(size * Y)
        make(0.0 * Y)
    with pytest.raises(InvalidProblem, match="gram: the largest entry"):
        KernelRidge(size * K, Y, 1.0)


@pytest.mark.parametrize("size", [1e-140, 1e-12, 1e12, 1e150])
@pytest.mark.parametrize("power", [1.0, 1.0 + 1e-6, 1.5, 3.0, 12.0])
@pytest.mark.parametrize("strength", [1e-12, 1.0, 1e12])
def test_extreme_units_end_in_a_status_without_a_warning(size: float, power: float, strength: float) -> None:
    powers = [MPowerRLS(K, size * Y, bound) for bound in (PowerPenalty(strength, power), PowerBall(strength, power))]
    for problem in (*powers, KernelRidge(K, size * Y, strength)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solution = solve(problem)
        assert solution.status in (Status.OPTIMAL, Status.GAP_OPEN)
        assert solution.certificate is not None and solution.certificate.gap >= 0.0
        assert not certify(problem, problem.trivial_point()).closes(1e-8) or solution.optimal


def test_a_bound_on_the_norm_that_leaves_float64_is_refused() -> None:
    with pytest.raises(InvalidProblem, match="radius: the bound"):
        MPowerRLS(K, Y, PowerBall(1e9, 0.01))


def test_a_restored_isotonic_point_does_not_drown_its_steps() -> None:
    problem = LipschitzIsotonic(np.arange(7.0), Y, 1.0)
    steps = np.array([0.0, 0.1, 0.3, 0.4, 0.8, 0.9, 1.0])
    near, far = (problem.restore({"x": offset + steps})["x"] for offset in (0.0, 2.0**40))
    assert np.allclose(near, far, atol=1e-3)
    for offset in (1e30, 1e150):
        flat = problem.restore({"x": np.full(7, offset)})["x"]
        assert np.allclose(flat, Y.mean(), atol=1e-12), "a constant is restored to the best constant, however large"
    alone = LipschitzIsotonic(np.array([0.0]), np.array([2.0]))
    assert alone.restore({"x": np.array([1e30])})["x"] == pytest.approx(2.0)


def test_natural_units_keep_a_finite_lipschitz_bound_finite() -> None:
    problem = LipschitzIsotonic(1e140 * np.arange(7.0), 1e-140 * Y, 1e100)
    natural, _ = problem.normalised()
    assert isinstance(natural, LipschitzIsotonic) and math.isfinite(natural.lipschitz)
    assert solve(problem, "clarabel").status in (Status.OPTIMAL, Status.GAP_OPEN, Status.FAILED)


@pytest.mark.parametrize("bound", [Ball(1.0), Penalty(1.0)])
def test_svr_without_anything_to_learn_is_closed_in_every_arithmetic(bound: Any) -> None:
    problem = LandmarkedSVR(K, 0.0 * Y, bound, 0.0)
    for num in (FLOAT, INTERVAL):
        assert certify(problem, problem.trivial_point(), None, num).relative_gap == 0.0
    assert solve(problem, "clarabel", rigorous=True).optimal


@pytest.mark.parametrize("bound", [Ball(1.0), Penalty(1.0)])
@pytest.mark.parametrize("features", [K, np.zeros((7, 2))])
def test_an_epsilon_far_above_the_targets_is_no_trouble(bound: Any, features: Any) -> None:
    assert solve(LandmarkedSVR(features, Y, bound, 1e9), "clarabel").optimal


def test_a_point_of_the_factor_must_have_its_width() -> None:
    with pytest.raises(InvalidProblem, match="point: u has 3 values, expected 7"):
        certify(KernelRidge(K, Y, 1.0), {"u": np.zeros(3)})


@pytest.mark.parametrize("radius", [1e-3, 0.5, 2.0, 100.0])
@pytest.mark.parametrize("gram", [K, np.outer(Y, Y), np.ones((7, 7))], ids=["gaussian", "rank 1", "ones"])
def test_the_ball_bounds_the_distance_by_its_curvature(radius: float, gram: Any) -> None:
    problem = MPowerRLS(gram, Y, PowerBall(radius, 1.0))
    best = solve(problem, tol=1e-14).point
    assert best is not None
    active = float(best["alpha"] @ gram @ best["alpha"]) > (1 - 1e-9) * radius**2
    rng = np.random.default_rng(3)
    for size in (0.0, 1e-9, 1e-6, 1e-3, 1.0):
        point = problem.restore({"alpha": best["alpha"] + size * radius * rng.normal(size=7)})
        step = point["alpha"] - best["alpha"]
        length = math.sqrt(max(float(step @ gram @ step), 0.0))
        assert length <= problem.distance(float("nan"), point) * (1 + 1e-9) + 1e-9 * radius
    assert problem.distance(0.0) == 2.0 * radius
    tight = problem.distance(0.0, dict(best))
    assert tight < 1e-5 * radius if active else tight <= 2.0 * radius


@pytest.mark.parametrize("size", [1e-9, 1e-5, 1.0, 1e9])
def test_constant_targets_have_units_too(size: float) -> None:
    assert solve(LipschitzIsotonic(np.arange(7.0), np.full(7, 3.0 * size), size), "clarabel", tol=1e-6).optimal
