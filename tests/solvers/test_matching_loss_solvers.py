"""Newton and projected GLM-tron on the matching loss: certified for every transfer, on separable data and with many features."""

from __future__ import annotations

import numpy as np
import pytest

from simopt.driver import solve
from simopt.problems._transfers import TRANSFERS
from simopt.problems.matching_loss import MatchingLoss
from simopt.solution import Status
from simopt.solvers.matching_loss import ball_step


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
