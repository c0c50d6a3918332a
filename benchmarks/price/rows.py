"""Problems whose price the first section tells by name: control, storage, filters, networks, and what learning fits."""

from __future__ import annotations

from functools import partial

import cvxpy as cp
import numpy as np

from benchmarks.price.measure import TimedProblem
from benchmarks.price.models import power_flow, robust_kalman

CONTROL, DYNAMICS, LEARNING, FREE = "control", "dynamics and networks", "learning and transport", "nothing to search"
TARGETS = {CONTROL: 3.0, DYNAMICS: 3.0, LEARNING: 1.0}  # prices, of floats and intervals; of FREE there is none


def control(steps: int) -> cp.Problem:
    """Six states of spectral radius 1, three inputs of size 1 at most, all steps in one row."""
    rng = np.random.default_rng(3)
    step = rng.normal(size=(6, 6))
    step, push = step / np.abs(np.linalg.eigvals(step)).max(), rng.normal(size=(6, 3))
    x, u = cp.Variable((6, steps + 1)), cp.Variable((3, steps))
    rows = [x[:, 0] == rng.normal(size=6), x[:, 1:] == step @ x[:, :-1] + push @ u, cp.abs(u) <= 1]
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + 0.1 * cp.norm1(u)), rows)


def predictive_control(steps: int) -> cp.Problem:
    """Two carts on a spring, with position and speed: bounded forces on both, a bound on the first one's way, rest at the end."""
    rate = 0.1
    flow = np.array([[0, 1, 0, 0], [-1, -0.1, 1, 0], [0, 0, 0, 1], [1, 0, -1, -0.1]])
    step, push = np.eye(4) + rate * flow, rate * np.array([[0, 0], [1, 0], [0, 0], [0, 1]])
    x, u = cp.Variable((4, steps + 1)), cp.Variable((2, steps))
    cost = sum(cp.quad_form(x[:, t], np.diag([10.0, 1.0, 10.0, 1.0])) for t in range(steps + 1)) + 0.1 * cp.sum_squares(u)
    rows = [x[:, 1:] == step @ x[:, :-1] + push @ u, x[:, 0] == [1, 0, -1, 0.5], x[:, steps] == 0, cp.abs(u) <= 2, cp.abs(x[0]) <= 1.5]
    return cp.Problem(cp.Minimize(cost), rows)


def battery(steps: int) -> cp.Problem:
    """A battery bought against a price that changes over days of 96 quarters of an hour; nothing is sold, and it ends as it began."""
    hours = np.arange(steps)
    price = np.exp(-np.cos((hours - 15) * 2 * np.pi / 96)) + 0.01 * np.random.default_rng(41).normal(size=steps)
    used = 2 * np.exp(-0.6 * np.cos((hours + 40) * np.pi / 96) - 0.7 * np.cos(hours * 4 * np.pi / 96))
    charge, bought = cp.Variable(steps), cp.Variable(steps)
    rows = [charge[1:] == charge[:-1] + bought[:-1], charge[0] == charge[-1] + bought[-1], used + bought >= 0]
    return cp.Problem(cp.Minimize(price @ (used + bought)), [*rows, charge >= 0, charge <= 35, bought >= -3, bought <= 3])


def masked_trend(samples: int) -> cp.Problem:
    """An ℓ₁ trend filter of which a fifth of the samples is missing."""
    rng, x = np.random.default_rng(14), cp.Variable(samples)
    signal, seen = 0.1 * np.cumsum(rng.normal(size=samples)), rng.random(samples) < 0.8
    return cp.Problem(cp.Minimize(0.5 * cp.norm1(cp.diff(x, k=2)) + 0.75 * cp.sum_squares(x[seen] - signal[seen])))


def svm(n: int) -> cp.Problem:
    """Hinge loss with a bias, 20 features."""
    rng, w, b = np.random.default_rng(6), cp.Variable(20), cp.Variable()
    rows = rng.normal(size=(n, 20))
    labels = np.where(rows[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 100 / n * cp.sum(cp.pos(1 - cp.multiply(labels, rows @ w + b)))))


def quantile(n: int) -> cp.Problem:
    """The quantile 0.9 with a constant, ten features, heavy tails."""
    rng, w, b = np.random.default_rng(7), cp.Variable(10), cp.Variable()
    rows = rng.normal(size=(n, 10))
    errors = rows.sum(axis=1) + rng.standard_t(3, size=n) - rows @ w - b
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(0.9 * errors, -0.1 * errors)) / n))


def transport(points: int) -> cp.Problem:
    """Between two measures on points of the unit square, at the price of the distance; their sums are equal exactly."""
    rng, plan = np.random.default_rng(8), cp.Variable((points, points), nonneg=True)
    here, there = rng.random((2, points, 2))
    price = np.linalg.norm(here[:, None] - there, axis=2)
    left, right = rng.multinomial(2**12, np.ones(points) / points, size=2) / 2**12
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(price, plan))), [cp.sum(plan, axis=1) == left, cp.sum(plan, axis=0) == right])


def lasso(n: int) -> cp.Problem:
    """n samples of n / 2 Gaussian features."""
    rng, x = np.random.default_rng(9), cp.Variable(n // 2)
    rows = rng.normal(size=(n, n // 2))
    targets = rows[:, :10].sum(axis=1) + rng.normal(size=n)
    return cp.Problem(cp.Minimize(cp.sum_squares(rows @ x - targets) / n + 0.2 * cp.norm1(x)))


def factor_portfolio(assets: int) -> cp.Problem:
    """Thirty factors and variances of the assets' own; long positions only."""
    rng, w = np.random.default_rng(10), cp.Variable(assets)
    factors, own = rng.normal(size=(30, assets)) / np.sqrt(30), np.sqrt(0.1 + rng.random(assets))
    risk = cp.sum_squares(factors @ w) + cp.sum_squares(cp.multiply(own, w))
    return cp.Problem(cp.Maximize(0.2 * rng.random(assets) @ w - risk), [cp.sum(w) == 1, w >= 0])


def cases(quick: bool) -> list[TimedProblem]:
    """Cheap ones first; small ones where it is quick."""
    if quick:
        return [
            TimedProblem("control T=10", partial(control, 10), CONTROL),
            TimedProblem("quantile n=100", partial(quantile, 100), LEARNING),
        ]
    return [
        *(TimedProblem(f"control T={steps}", partial(control, steps), CONTROL) for steps in (30, 100, 1000)),
        TimedProblem("predictive control T=60", partial(predictive_control, 60), DYNAMICS),
        TimedProblem("battery T=192", partial(battery, 192), DYNAMICS),
        TimedProblem("power flow, 60 buses", power_flow, DYNAMICS),
        TimedProblem("robust Kalman T=200", robust_kalman, DYNAMICS),
        TimedProblem("trend, masked T=3000", partial(masked_trend, 3000), DYNAMICS),
        *(TimedProblem(f"SVM with bias n={n}", partial(svm, n), LEARNING) for n in (1000, 10_000)),
        TimedProblem("quantile n=1000", partial(quantile, 1000), LEARNING),
        TimedProblem("transport 60x60", partial(transport, 60), LEARNING),
        TimedProblem("lasso n=1000", partial(lasso, 1000), FREE),
        TimedProblem("factor portfolio n=1000", partial(factor_portfolio, 1000), FREE),
    ]
