"""Transfers, their integrals and conjugates; the matching loss against scipy, its declared dual, and GLM-tron's step as its gradient."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
import pytest
import scipy.optimize
from scipy.special import ndtr

from simopt.arithmetic import FLOAT, INTERVAL
from simopt.core.errors import InvalidProblem
from simopt.problems.losses import gaussian
from simopt.problems.losses.transfers import TRANSFERS
from simopt.problems.matching_loss import MatchingLoss
from simopt.solving.entry_points import certify

NAMES = list(TRANSFERS)
T = np.linspace(-6, 6, 241)


@pytest.mark.parametrize("name", NAMES)
def test_each_integral_has_the_transfer_as_its_slope_and_keeps_its_lipschitz_constant(name: str) -> None:
    link, h = TRANSFERS[name], 1e-6
    slopes = (link.value(FLOAT, T + h) - link.value(FLOAT, T - h)) / (2 * h)
    np.testing.assert_allclose(slopes, link.transfer(T), atol=1e-6)
    fine = np.linspace(-3, 3, 60001)
    steepest = float(np.max(np.diff(link.transfer(fine)) / np.diff(fine)))
    assert steepest == pytest.approx(link.lipschitz, rel=1e-6)
    assert np.max(link.slope(fine)) == pytest.approx(link.lipschitz, rel=1e-6)
    middle = np.abs(np.abs(T) - 1.0) > 1e-3  # away from the kinks of the clipped transfer
    np.testing.assert_allclose(((link.transfer(T + h) - link.transfer(T - h)) / (2 * h))[middle], link.slope(T)[middle], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_conjugate_is_a_supremum_and_the_slack_is_what_is_left(name: str) -> None:
    link: Any = TRANSFERS[name]
    for s in (0.0, 0.02, 0.3, 0.5, 0.9, 1.0):
        theta = link.parameter(np.full(T.size, s))
        np.testing.assert_allclose(link.at(FLOAT, theta), s, atol=1e-15)
        best = -scipy.optimize.minimize_scalar(lambda t, s=s: float(link.value(FLOAT, np.array([t]))[0] - s * t), bounds=(-40, 40)).fun
        assert float(link.conjugate(FLOAT, theta)[0]) == pytest.approx(best, abs=1e-8)
        slack = link.slack(FLOAT, theta, T)
        np.testing.assert_allclose(slack, link.value(FLOAT, T) + link.conjugate(FLOAT, theta) - link.at(FLOAT, theta) * T, atol=1e-14)
        assert np.all(slack >= 0.0)
        at = float(link.slack(FLOAT, link.parameter(link.transfer(T)), T)[120])
        assert at == pytest.approx(0.0, abs=1e-15)


def test_the_normal_distribution_is_enclosed_far_into_its_tails() -> None:
    t = np.array([-38.0, -37.0, -20.5, -3.0, -1e-9, 0.0, 0.7, 5.0, 9.0, 40.0])
    ball = gaussian.cdf(INTERVAL, INTERVAL.lift(t))
    bell = gaussian.density(INTERVAL, INTERVAL.lift(t))
    with flint.ctx.workprec(300):
        for k, value in enumerate(t):
            exact = (flint.arb(-value) / flint.arb(2).sqrt()).erfc() / 2
            height = (-(flint.arb(value) ** 2) / 2).exp() / (2 * flint.arb.pi()).sqrt()
            for enclosure, truth in ((ball, exact), (bell, height)):
                assert flint.arb(float(enclosure.low[k])) <= truth <= flint.arb(float(enclosure.high[k]))
    assert np.all(ball.rad <= 1e-15 * ball.mid + 1e-300)


def test_the_mixture_that_cvxpy_sees_is_as_near_to_the_probit_as_it_says() -> None:
    nodes, shares = gaussian.mixture()
    t, h = np.linspace(-12, 12, 4801), gaussian.WIDTH
    spread = (t[:, None] - nodes) / h
    logistic = np.exp(-np.logaddexp(0.0, -spread)) @ shares
    assert np.max(np.abs(logistic - ndtr(t))) < 2e-7
    integral = h * np.logaddexp(0.0, spread) @ shares
    assert np.max(np.abs(integral - TRANSFERS["probit"].value(FLOAT, t))) < 5e-9
    assert nodes.size == 61 and np.all(shares > 0)


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_is_glm_trons_step(name: str) -> None:
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(30, 4)), rng.uniform(size=30), rng.normal(size=4)
    problem = MatchingLoss(X, y, name, 100.0)
    step = np.mean((y - TRANSFERS[name].transfer(X @ w))[:, None] * X, axis=0)
    for k in range(4):
        h = 1e-6 * np.eye(4)[k]
        slope = (problem.objective({"w": w + h}) - problem.objective({"w": w - h})) / 2e-6
        assert slope == pytest.approx(-step[k], abs=1e-8)


def test_the_point_alone_certifies_an_inner_optimum_to_second_order() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 5)) / np.sqrt(5)
    for name in ("identity", "logistic", "probit"):
        problem = MatchingLoss(X, rng.uniform(size=200), name, 100.0)
        best = scipy.optimize.minimize(lambda w, p=problem: float(p.objective({"w": w})), np.zeros(5), tol=1e-15).x
        off = best + 1e-4 * rng.normal(size=5)
        excess = float(problem.objective({"w": off}) - problem.objective({"w": best}))
        assert excess <= certify(problem, {"w": off}).gap <= 3.0 * excess + 1e-12


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"transfer": "logistic", "targets": np.array([0.0, 1.5, 1.0])},
            "targets: 1 of 3 lie outside of .0, 1., the range of the logistic",
        ),
        ({"targets": np.zeros(4)}, "features: shape .3, 2. has 3 rows, expected 4"),
        ({"radius": 0.0}, "radius"),
        ({"transfer": 3}, "transfer: 3 given, one of identity, logistic"),
    ],
)
def test_what_has_no_meaning_is_refused(fields: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"features": np.ones((3, 2)), "targets": np.ones(3)}
    with pytest.raises(InvalidProblem, match=message):
        MatchingLoss(**{**good, **fields})
    assert MatchingLoss(np.ones((3, 2)), np.array([-1.0, 0.0, 7.0]), "identity").scale() == pytest.approx(50 / 6)
