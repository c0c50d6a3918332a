"""Newton and projected GLM-tron on the matching loss: certified for every transfer, on separable data and with many features."""

from __future__ import annotations

import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL
from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.losses.transfers import TRANSFERS
from simopt.problems.matching_loss import MatchingLoss
from simopt.solvers.isotonic.matching_loss import ball_step, newton_in_ball
from simopt.solving.entry_points import certify, solve


def data(m: int, d: int, transfer: str, kind: str, radius: float, seed: int = 0) -> MatchingLoss:
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(m, d)) / np.sqrt(d), 3.0 * rng.normal(size=d)
    chance = TRANSFERS["logistic"].transfer(X @ w)
    y = {"labels": rng.uniform(size=m) < chance, "separable": X @ w > 0, "fractions": chance}[kind].astype(float)
    return MatchingLoss(X, y, transfer, radius)


@pytest.mark.parametrize("transfer", list(TRANSFERS))
@pytest.mark.parametrize("kind", ["labels", "separable", "fractions"])
@pytest.mark.parametrize(("m", "d"), [(300, 8), (30, 60)])
@pytest.mark.parametrize("radius", [0.5, 8.0, 500.0])
def test_newton_certifies(transfer: str, kind: str, m: int, d: int, radius: float) -> None:
    solution = solve(data(m, d, transfer, kind, radius), "newton", tol=1e-9)
    assert solution.status is Status.OPTIMAL, (solution.certificate, solution.message)


@pytest.mark.parametrize("radius", [1e3, 1e4])
def test_clipped_transfers_of_separable_sparse_data_certify(radius: float) -> None:
    """Beyond the kinks there is no curvature: full Newton steps overshoot, and steps with the largest one everywhere hardly move."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        X = rng.normal(size=(1000, 60)) / np.sqrt(60) * (rng.uniform(size=(1000, 60)) < 0.1)
        y = (X @ rng.normal(size=60) > 0).astype(float)
        solution = solve(MatchingLoss(X, y, "clipped", radius), "newton", tol=1e-8)
        assert solution.status is Status.OPTIMAL, (solution.certificate, solution.message)


@pytest.mark.parametrize("transfer", list(TRANSFERS))
@pytest.mark.parametrize("size", [1e-8, 1e6])
@pytest.mark.parametrize("outlier", [False, True])
def test_extreme_data_certify_or_say_that_they_do_not(transfer: str, size: float, outlier: bool) -> None:
    rng = np.random.default_rng(8)
    X = size * rng.normal(size=(30, 3))
    y = (X @ rng.normal(size=3) > 0).astype(float)
    y[0] = 1.0 - y[0] if outlier else y[0]
    for radius in (1e-3 / size, 1.0 / size, 1e3 / size):
        problem = MatchingLoss(X, y, transfer, radius)
        solution, peer = solve(problem, "newton", tol=1e-8), solve(problem, "clarabel", tol=1e-6)
        assert solution.status is Status.OPTIMAL, (solution.certificate, solution.message)
        assert peer.certificate is not None and solution.certificate is not None
        assert peer.certificate.lower <= solution.certificate.upper + 1e-8 * problem.scale()
        assert solution.certificate.lower <= peer.certificate.upper + 1e-8 * problem.scale()
    far = solve(MatchingLoss(X, y, transfer, 1e10 / size), "newton", tol=1e-8)
    assert far.certificate is not None and far.optimal == far.certificate.closes(1e-8)


@pytest.mark.parametrize("transfer", list(TRANSFERS))
def test_glm_tron_meets_newton(transfer: str) -> None:
    problem = data(200, 5, transfer, "labels", 4.0)
    one, two = solve(problem, "glm-tron", tol=1e-8), solve(problem, "newton", tol=1e-8)
    assert one.optimal and two.optimal
    assert one.value == pytest.approx(two.value, abs=2e-8)


def test_first_order_steps_that_are_too_few_are_reported_as_such() -> None:
    solution = solve(data(300, 20, "logistic", "separable", 1e3), "glm-tron", tol=1e-9, max_iter=50)
    assert solution.status is not Status.OPTIMAL and solution.certificate is not None
    best = solve(data(300, 20, "logistic", "separable", 1e3), "newton", tol=1e-9).value
    assert solution.certificate.lower <= best <= solution.certificate.upper


def test_how_often_a_step_is_shown_is_a_whole_number() -> None:
    for every in (1.5, -1):
        with pytest.raises(InvalidProblem, match=f"every: {every:g} given, a whole number >= 0 needed"):
            solve(data(30, 2, "logistic", "labels", 1.0), "glm-tron", every=every)
    solution = solve(data(30, 2, "logistic", "labels", 1.0), "glm-tron", every=0)
    assert solution.status is Status.FAILED and "every: 0 given, a whole number >= 1 needed" in solution.message


@pytest.mark.parametrize("rank", [0, 2, 5])
def test_the_model_is_minimised_over_the_ball(rank: int) -> None:
    rng = np.random.default_rng(rank)
    for radius in (0.1, 1.0, 50.0):
        A = rng.normal(size=(5, rank))
        H, g, w = A @ A.T, rng.normal(size=5), rng.normal(size=5)
        w *= 0.9 * radius / np.linalg.norm(w)
        v = ball_step(H, g, w, radius)
        pull = g + H @ (v - w)
        length = np.linalg.norm(v)
        assert length <= radius * (1 + 1e-14)
        # optimal iff −pull is normal to the ball at v: W‖pull‖ + ⟨pull, v⟩ = 0
        assert radius * np.linalg.norm(pull) + pull @ v <= 1e-9 * radius * (1 + np.linalg.norm(g) + np.linalg.norm(H) * radius)


@pytest.mark.parametrize("transfer", ["logistic", "probit", "clipped"])
def test_predictions_far_beyond_their_unit_excuse_no_error(transfer: str) -> None:
    """Terms of 1e13 cancel at the first sample; the loss of the second could be 0, and is U(0)."""
    problem = MatchingLoss(np.eye(2), np.ones(2), transfer, 1e14)
    for num in (FLOAT, INTERVAL):
        assert not certify(problem, {"w": np.array([1e13, 0.0])}, num=num).closes(1e-2)
    assert certify(MatchingLoss(np.eye(2), np.ones(2), transfer, 2e3), {"w": np.array([1e3, 1e3])}).closes(1e-8)


def test_a_start_that_is_the_optimum_ends_the_solver():
    """With targets u(0) the gradient at w = 0 is 0: there is one iterate, with a gap of 0."""
    problem = MatchingLoss(np.eye(3), np.full(3, 0.5), "logistic", 1.0)
    (only,) = newton_in_ball(problem, 50)
    assert only.gap == 0.0 and not np.any(only.point["w"])
