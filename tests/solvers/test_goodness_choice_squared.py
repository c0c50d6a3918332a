"""Goodness with a choice function for the squared loss, by interior points."""

from __future__ import annotations

import numpy as np
import pytest

from simopt.arithmetic import RATIONAL
from simopt.model.status import Status
from simopt.problems.goodness import Goodness
from simopt.problems.goodness_choice import GoodnessChoice
from simopt.solvers.goodness.knapsack_squares import KnapsackSquares
from simopt.solving.driver import choose
from simopt.solving.entry_points import certify, solve


def plane(n: int, bound: float, density: float, seed: int = 0, light: float = 1.0) -> GoodnessChoice:
    """A Gaussian similarity of points of the plane, noisy targets; the first mass is `light` times the others."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    gram = np.exp(-np.sum((x[:, None] - x) ** 2, axis=2) / 2)
    p = np.ones(n)
    p[0] = light
    return GoodnessChoice(gram, np.sin(2 * x[:, 0]) + 0.3 * rng.normal(size=n), bound, density, p / p.sum(), "squared")


@pytest.mark.parametrize("density", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("bound", [1e-3, 1.0, 30.0, 3000.0])
def test_it_closes_the_gap_and_agrees_with_clarabel(bound: float, density: float) -> None:
    problem = plane(25, bound, density)
    found, peer = solve(problem, "interior-point", tol=1e-9), solve(problem, "clarabel", tol=1e-7)
    assert found.certificate is not None and peer.certificate is not None
    assert found.optimal or found.certificate.gap <= 1e-9 * problem.scale(), "with large weights rounding of the residuals is left"
    assert found.certificate.lower <= peer.certificate.upper + 1e-12 and peer.certificate.lower <= found.certificate.upper + 1e-12
    assert found.point is not None and found.multipliers is not None
    v, R = np.asarray(found.point["v"]), np.asarray(found.point["R"])
    assert np.all(np.abs(v) <= R + 1e-15) and np.all(R <= 1 + 1e-15) and problem.mass @ R == pytest.approx(density, rel=1e-12)
    exact = certify(problem, dict(found.point), dict(found.multipliers), RATIONAL)
    assert exact.gap >= 0.0 and exact.gap <= 2e-9 * problem.scale()


def test_with_density_one_it_is_goodness() -> None:
    problem = plane(40, 20.0, 1.0)
    whole = solve(Goodness(problem.gram, problem.targets, 20.0, problem.masses, "squared"), tol=1e-10)
    assert solve(problem, "interior-point", tol=1e-10).value == pytest.approx(whole.value, rel=1e-8)


def test_small_masses_and_points_without_mass() -> None:
    for light in (0.0, 1e-12, 1e6):
        assert solve(plane(20, 10.0, 0.3, light=light), "interior-point", tol=1e-9).optimal


def test_the_gap_of_any_point_is_that_of_the_problem() -> None:
    problem = plane(15, 5.0, 0.4)
    p = problem.support_masses()
    root = np.sqrt(p)
    squares = KnapsackSquares(problem.core * (5.0 / 0.4 * p) * root[:, None], root * problem.support_targets(), p, 0.4 * float(np.sum(p)))
    for seed in range(5):
        v = np.random.default_rng(seed).uniform(-1, 1, size=15) * 0.2
        R, gap = squares.choice(v, squares.pull(squares.b - squares.A @ v))
        assert np.all(R >= np.abs(v)) and np.all(R <= 1) and p @ R == pytest.approx(0.4, rel=1e-12)
        point = {"v": v, "R": R}
        assert gap == pytest.approx(float(problem.gap(point, problem.multipliers(point))), rel=1e-9)


def test_each_loss_has_its_own_solver() -> None:
    squared = plane(10, 2.0, 0.5)
    linear = GoodnessChoice(squared.gram, squared.targets, 2.0, 0.5)
    assert choose(squared, None).name == "interior-point" and choose(linear, None).name == "simplex"
    refused = solve(linear, "interior-point")
    assert refused.status is Status.UNSUPPORTED and "simplex" in refused.message
    assert solve(squared, "interior-point", max_iter=2).status is Status.ITERATION_LIMIT
