"""Squared-loss landmark regression: against the formulas, its kernel forms and scikit-learn; ill-conditioned features; blocks; duals."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt import solve
from simopt.arithmetic import INTERVAL
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import load_dataset
from simopt.data.landmarks import LandmarkMap
from simopt.data.similarities import Gaussian
from simopt.problems.bounds import Ball, Bound, Ridge
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.landmarked_least_squares import LandmarkedLeastSquares
from simopt.problems.m_power_rls import MPowerRLS, PowerBall
from simopt.solvers.squares import landmarked
from simopt.solvers.squares.landmarked import singular_system
from simopt.solvers.squares.solvers import landmark_cholesky
from simopt.solving.entry_points import certify

TIGHT = 1e-12


def instance(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    return features, features @ rng.normal(size=d) + 0.5 * rng.normal(size=n)


def smooth(n: int, d: int) -> tuple[Array, Array]:
    """A wide Gaussian on an interval: singular values fall to rounding errors."""
    x = np.random.default_rng(1).uniform(size=(n, 1))
    return LandmarkMap(Gaussian(2.0), x[:d])(x), np.sin(9.0 * x[:, 0])


def weights(solution: Any) -> Array:
    assert solution.point is not None
    return np.asarray(solution.point["w"])


@pytest.mark.parametrize(("n", "d"), [(50, 7), (7, 50), (30, 30)])
@pytest.mark.parametrize("solver", ["cholesky", "svd"])
def test_ridge_is_the_textbook_formula_and_scikit_learn_s(n: int, d: int, solver: str) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    features, targets = instance(n, d)
    for strength in (1e-4, 0.1, 30.0):
        solution = solve(LandmarkedLeastSquares(features, targets, Ridge(strength)), solver, tol=TIGHT)
        assert solution.optimal
        best = np.linalg.solve(features.T @ features + n * strength * np.eye(d), features.T @ targets)
        np.testing.assert_allclose(weights(solution), best, rtol=1e-7, atol=1e-9)
        peer = linear_model.Ridge(alpha=n * strength, fit_intercept=False).fit(features, targets)
        np.testing.assert_allclose(weights(solution), peer.coef_, rtol=1e-7, atol=1e-9)


def test_ridge_and_ball_are_regression_in_the_space_of_the_landmark_kernel() -> None:
    features, targets = instance(40, 6)
    gram = features @ features.T
    one = solve(LandmarkedLeastSquares(features, targets, Ridge(0.03)), tol=TIGHT)
    two = solve(KernelRidge(gram, targets, 0.03), tol=TIGHT)
    assert one.value == pytest.approx(two.value, rel=1e-10)
    assert two.point is not None
    np.testing.assert_allclose(weights(one), features.T @ two.point["alpha"], rtol=1e-7)
    ball = solve(LandmarkedLeastSquares(features, targets, Ball(0.7)), tol=TIGHT)
    power = solve(MPowerRLS(gram, targets, PowerBall(0.7, 1.0)), tol=1e-10)
    assert ball.value == pytest.approx(power.value, rel=1e-9)


@pytest.mark.parametrize(("n", "d"), [(60, 8), (8, 60)])
def test_the_ball_is_reached_by_the_ridge_parameter_of_its_multiplier(n: int, d: int) -> None:
    features, targets = instance(n, d)
    free = np.linalg.lstsq(features, targets, rcond=None)[0]
    for share in (1e-6, 0.3, 0.999):
        radius = share * float(np.linalg.norm(free))
        solution = solve(LandmarkedLeastSquares(features, targets, Ball(radius)), tol=TIGHT)
        w = weights(solution)
        assert solution.optimal
        assert np.linalg.norm(w) == pytest.approx(radius, rel=1e-12)
        pull = features.T @ (targets - features @ w)
        strength = float(pull @ w) / radius**2 / n
        assert strength > 0
        np.testing.assert_allclose(pull, n * strength * w, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(weights(solve(LandmarkedLeastSquares(features, targets, Ridge(strength)), tol=TIGHT)), w, rtol=1e-6)
    inside = solve(LandmarkedLeastSquares(features, targets, Ball(1.5 * float(np.linalg.norm(free)))), tol=TIGHT)
    assert inside.optimal
    np.testing.assert_allclose(weights(inside), free, rtol=1e-8, atol=1e-10)


def families() -> list[tuple[Array, Array]]:
    """Numerical rank 15 or so: as it is, with equal landmarks, with fewer samples than landmarks."""
    features, targets = smooth(300, 40)
    return [(features, targets), (np.hstack([features, features[:, :3]]), targets), (features[:20], targets[:20])]


@pytest.mark.parametrize("strength", [1e-2, 1e-9, 1e-16])
@pytest.mark.parametrize("solver", ["cholesky", "svd"])
def test_singular_values_of_rounding_size_do_not_stop_the_certificate(strength: float, solver: str) -> None:
    for features, targets in families():
        problem = LandmarkedLeastSquares(features, targets, Ridge(strength))
        solution = solve(problem, solver, tol=1e-10)
        assert solution.optimal
        found = certify(problem, dict(solution.point or {}), dict(solution.multipliers or {}), INTERVAL)
        assert found.relative_gap <= 1e-8
    features, targets = families()[1]
    w = weights(solve(LandmarkedLeastSquares(features, targets, Ridge(1e-4)), solver, tol=TIGHT))
    assert LandmarkedLeastSquares(features, targets, Ridge(1e-4)).duplicates == ((0, 40), (1, 41), (2, 42))
    np.testing.assert_allclose(w[:3], w[40:], rtol=1e-5)  # equal landmarks share the weight


@pytest.mark.parametrize("radius", [1e-3, 1.0, 1e3, 1e6])
def test_balls_of_every_size_on_features_of_low_rank(radius: float) -> None:
    for features, targets in families():
        problem = LandmarkedLeastSquares(features, targets, Ball(radius))
        solution = solve(problem, tol=1e-10)
        assert solution.optimal
        assert np.linalg.norm(weights(solution)) == pytest.approx(radius, rel=1e-14)
        assert certify(problem, dict(solution.point or {}), dict(solution.multipliers or {}), INTERVAL).relative_gap <= 1e-10


def test_refinement_makes_up_for_the_condition_number_of_the_normal_equations() -> None:
    features, targets = smooth(300, 40)
    iterates = landmark_cholesky(LandmarkedLeastSquares(features, targets, Ridge(1e-13)), tol=1e-30)
    gaps = [iterate.gap or 0.0 for iterate in islice(iterates, 4)]
    assert gaps[1] < 1e-4 * gaps[0] and gaps[2] < 1e-4 * gaps[1]


def test_what_float64_cannot_decide_is_not_called_optimal() -> None:
    for features, targets in families():
        for bound in (Ridge(1e-30), Ball(1e14)):
            problem = LandmarkedLeastSquares(features, targets, bound)
            solution = solve(problem, tol=1e-10)
            assert not solution.optimal
            assert solution.certificate is not None and solution.certificate.lower <= solution.value < problem.scale()


def test_reduction_by_blocks_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    features, targets = instance(500, 6)
    whole = singular_system(features, targets)
    monkeypatch.setattr(landmarked, "BLOCK", 30 * 7)
    blocks = singular_system(features, targets)
    np.testing.assert_allclose(blocks.values, whole.values, rtol=1e-13)
    np.testing.assert_allclose(np.abs(blocks.coordinates), np.abs(whole.coordinates), rtol=1e-11)
    np.testing.assert_allclose(whole.values, np.linalg.svd(features, compute_uv=False), rtol=1e-13)
    np.save(tmp_path / "psi.npy", features)
    mapped = np.load(tmp_path / "psi.npy", mmap_mode="r")
    for strength in (1e-3, 1.0):
        one, two = (solve(LandmarkedLeastSquares(psi, targets, Ridge(strength)), "cholesky", tol=TIGHT) for psi in (features, mapped))
        assert one.optimal and two.optimal
        np.testing.assert_allclose(weights(one), weights(two), rtol=1e-12)
    assert np.shares_memory(LandmarkedLeastSquares(mapped, targets, Ridge(1.0)).features, mapped)


@pytest.mark.parametrize("bound", [Ridge(0.05), Ball(0.5)])
def test_declared_duals_have_the_primal_s_value_and_its_multipliers(bound: Bound) -> None:
    problem = LandmarkedLeastSquares(*instance(30, 4), bound)
    best = solve(problem, tol=TIGHT)
    dual = problem.declare_dual()
    dual.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert dual.value == pytest.approx(best.value, rel=1e-7)
    known = {"predictions": dual.var_dict["predictions"].value}
    assert certify(problem, dict(best.point or {}), known).relative_gap <= 1e-7
    np.testing.assert_allclose(known["predictions"], (best.multipliers or {})["predictions"], atol=1e-5)


def test_the_dual_of_the_ball_is_the_minimum_of_the_lagrangian() -> None:
    features, targets = instance(5, 2)
    v = np.random.default_rng(4).normal(size=5)
    angles = np.linspace(0, 2 * np.pi, 40001)
    f = targets - 2.5 * v
    linear = float((targets - f) @ (targets - f) / 5 + v @ f)
    best = linear - float(np.max((features.T @ v) @ np.stack([np.cos(angles), np.sin(angles)]))) * 1.3
    assert float(LandmarkedLeastSquares(features, targets, Ball(1.3)).dual_bound({"predictions": v})) == pytest.approx(best, rel=1e-7)


def test_distances_hold_the_optimum() -> None:
    features, targets = instance(30, 4)
    rng = np.random.default_rng(3)
    for kept in (Ridge(0.05), Ball(0.5)):
        problem = LandmarkedLeastSquares(features, targets, kept)
        best = weights(solve(problem, tol=1e-14))
        for size in (1e-6, 1e-3, 0.1):
            point = problem.restore({"w": best + size * rng.normal(size=4)})
            gap = float(problem.gap(point, problem.multipliers(point)))
            deviation = float(np.linalg.norm(np.asarray(point["w"]) - best))
            bound = problem.distance(gap, point)
            assert deviation <= bound * (1 + 1e-6) + 1e-7
            assert bound < 1.0 or size == 0.1  # and says something


@pytest.mark.parametrize("data", ["abalone", "concrete"])
def test_recipes_on_real_data(data: str) -> None:
    dataset = load_dataset(data)
    for cls in LandmarkedLeastSquares.each_form():
        problem = cls.from_data(dataset, np.random.default_rng(0), samples=400)
        assert problem.features.shape == (400, 50)
        assert abs(np.mean(problem.targets)) <= 1e-12 * np.max(np.abs(problem.targets))
        one, two = solve(problem, tol=1e-10), solve(problem, "clarabel")
        assert one.optimal and one.value <= two.value * (1 + 1e-9)
        assert one.value < 0.7 * problem.scale()


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_what_bounds_w_must_be_positive(bad: float) -> None:
    features, targets = instance(10, 2)
    with pytest.raises(InvalidProblem, match="regularization"):
        LandmarkedLeastSquares(features, targets, Ridge(bad))
    with pytest.raises(InvalidProblem, match="radius"):
        LandmarkedLeastSquares(features, targets, Ball(bad))
    with pytest.raises(InvalidProblem, match="features"):
        LandmarkedLeastSquares(features[:-1], targets, Ridge(1.0))


def test_features_of_natural_size_are_not_copied_on_the_way_to_a_solver() -> None:
    features, targets = instance(50, 5)
    for bound in (Ridge(0.1), Ball(1.0)):
        problem = LandmarkedLeastSquares(features, 1e5 * targets, bound)
        natural, _ = problem.normalised()
        assert np.shares_memory(natural.features, problem.features)
        assert np.max(np.abs(natural.targets)) <= 2.0
    natural, back = LandmarkedLeastSquares(1e5 * features, targets, Ridge(0.1)).normalised()
    assert np.max(np.linalg.norm(natural.features, axis=1)) <= 2.0
    point = {"w": np.ones(5)}
    plain = float(LandmarkedLeastSquares(1e5 * features, targets, Ridge(0.1)).objective(back.point(point)))
    assert plain == pytest.approx(float(natural.objective(point)) * (targets / natural.targets)[0] ** 2, rel=1e-12)


@pytest.mark.parametrize("deviation", [1e-3, 1e-7, 1e-11])
def test_a_fit_without_residuals_is_optimal_and_one_with_small_residuals_is_not(deviation: float) -> None:
    """Of squares a residual is compared with the data, and not its square: residuals of 1e-7 are no rounding."""
    features, targets = instance(8, 60)
    best = np.linalg.lstsq(features, targets, rcond=None)[0]
    problem = LandmarkedLeastSquares(features, targets, Ball(2.0 * float(np.linalg.norm(best))))
    assert certify(problem, {"w": best}).closes(TIGHT)
    found = certify(problem, {"w": (1.0 + deviation) * best})
    assert not found.closes(TIGHT) and found.gap_over_terms == pytest.approx(min(deviation, 1.0), rel=1e-2)
