"""Models of the literature in sizes that are used: regression, classification, portfolios, design, control, networks, matrices.

Each function makes its problem anew, of the same data. All are convex as CVXPY reads them, one as a geometric programme. Those with a
semidefinite cone are in SEMIDEFINITE: they count for the price, but nothing is promised of their gaps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

Make = Callable[[], cp.Problem]
MODELS: dict[str, Make] = {}
SEMIDEFINITE = {
    "inscribed ellipsoid", "matrix completion", "max cut", "Lyapunov inequality", "nearest correlation", "D-optimal design",
    "sum of squares", "ground state",
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {"power control": {"gp": True}}


def model(name: str) -> Callable[[Make], Make]:
    """Registers a function that makes a problem."""

    def registered(make: Make) -> Make:
        MODELS[name] = make
        return make

    return registered


def draws(seed: int) -> np.random.Generator:
    """Numbers of this model."""
    return np.random.default_rng(1000 + seed)


def simplex(x: cp.Expression) -> list[cp.Constraint]:
    """x ≥ 0, Σ x = 1."""
    return [cp.sum(x) == 1, x >= 0]


# Regression and classification.


@model("sparse lasso")
def _() -> cp.Problem:
    rng, x = draws(0), cp.Variable(800)
    matrix = sp.random_array((2000, 800), density=0.02, rng=rng, format="csr")
    targets = matrix[:, :40] @ rng.normal(size=40) + 0.01 * rng.normal(size=2000)
    return cp.Problem(cp.Minimize(cp.sum_squares(matrix @ x - targets) + 0.05 * cp.norm1(x)))


@model("fused lasso")
def _() -> cp.Problem:
    rng, x = draws(1), cp.Variable(500)
    signal = np.repeat(rng.normal(size=10), 50) + 0.2 * rng.normal(size=500)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - signal) + 0.5 * cp.norm1(x) + 2 * cp.tv(x)))


@model("isotonic regression")
def _() -> cp.Problem:
    x = cp.Variable(1000)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - np.linspace(0, 3, 1000) - draws(2).normal(size=1000))), [cp.diff(x) >= 0])


@model("hinge SVM")
def _() -> cp.Problem:
    rng, w, b = draws(3), cp.Variable(20), cp.Variable()
    rows = rng.normal(size=(1000, 20))
    labels = np.where(rows[:, 0] + 0.5 * rng.normal(size=1000) > 0, 1.0, -1.0)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.1 * cp.sum(cp.pos(1 - cp.multiply(labels, rows @ w + b)))))


@model("dual of a kernel SVM")
def _() -> cp.Problem:
    rows, a = draws(4).normal(size=(300, 3)), cp.Variable(300)
    labels = np.where(rows[:, 0] * rows[:, 1] > 0, 1.0, -1.0)
    gram = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=-1))
    value = cp.sum(a) - 0.5 * cp.quad_form(cp.multiply(labels, a), cp.psd_wrap(gram))
    return cp.Problem(cp.Maximize(value), [a >= 0, a <= 10, labels @ a == 0])


@model("multinomial logistic")
def _() -> cp.Problem:
    rng, w = draws(5), cp.Variable((8, 4))
    rows, labels = rng.normal(size=(200, 8)), np.eye(4)[rng.integers(4, size=200)]
    loss = cp.sum(cp.log_sum_exp(rows @ w, axis=1)) - cp.sum(cp.multiply(labels, rows @ w))
    return cp.Problem(cp.Minimize(loss / 200 + 0.01 * cp.sum_squares(w)))


@model("quantiles that do not cross")
def _() -> cp.Problem:
    rng, w, b = draws(6), cp.Variable((5, 3)), cp.Variable((1, 3))
    rows = rng.normal(size=(300, 5))
    targets = rows.sum(axis=1) + rng.standard_t(3, size=300)
    levels = np.tile([0.1, 0.5, 0.9], (300, 1))
    fitted = rows @ w + np.ones((300, 1)) @ b
    errors = np.tile(targets[:, None], 3) - fitted
    loss = cp.sum(cp.maximum(cp.multiply(levels, errors), cp.multiply(levels - 1, errors)))
    return cp.Problem(cp.Minimize(loss), [fitted[:, 0] <= fitted[:, 1], fitted[:, 1] <= fitted[:, 2]])


@model("group lasso")
def _() -> cp.Problem:
    rng, w = draws(7), cp.Variable((30, 4))
    errors = rng.normal(size=(200, 120)) @ cp.vec(w, order="C") - rng.normal(size=200)
    return cp.Problem(cp.Minimize(cp.sum_squares(errors) / 400 + 0.1 * cp.mixed_norm(w, 2, 1)))


@model("Dantzig selector")
def _() -> cp.Problem:
    rng, x = draws(8), cp.Variable(200)
    rows = rng.normal(size=(80, 200))
    targets = rows[:, :5].sum(axis=1) + 0.1 * rng.normal(size=80)
    return cp.Problem(cp.Minimize(cp.norm1(x)), [cp.norm_inf(rows.T @ (targets - rows @ x)) <= 3])


# Portfolios.


@model("Markowitz")
def _() -> cp.Problem:
    rng, w = draws(9), cp.Variable(200)
    factors = rng.normal(size=(200, 20))
    return cp.Problem(cp.Maximize(rng.random(200) @ w - 2 * cp.quad_form(w, factors @ factors.T / 20 + 0.1 * np.eye(200))), simplex(w))


@model("tracking with turnover")
def _() -> cp.Problem:
    rng, w = draws(10), cp.Variable(100)
    returns, index, held = 0.01 * rng.normal(size=(250, 100)), rng.dirichlet(np.ones(100)), rng.dirichlet(np.ones(100))
    return cp.Problem(cp.Minimize(cp.norm(returns @ (w - index)) + 0.001 * cp.norm1(w - held)), [*simplex(w), w <= 0.05])


@model("largest Sharpe ratio")
def _() -> cp.Problem:
    rng, y, k = draws(11), cp.Variable(50), cp.Variable()
    half = rng.normal(size=(50, 50))
    excess = 0.005 + 0.1 * rng.random(50)
    risk = cp.quad_form(y, half @ half.T / 50 + 0.01 * np.eye(50))
    return cp.Problem(cp.Minimize(risk), [excess @ y == 1, cp.sum(y) == k, y >= 0, k >= 0])


@model("Kelly bets")
def _() -> cp.Problem:
    b, odds = cp.Variable(20), np.abs(1 + 0.1 * draws(12).normal(size=(100, 20)))
    return cp.Problem(cp.Maximize(cp.sum(cp.log(odds @ b)) / 100), simplex(b))


# Design, control and networks.


@model("minimax filter")
def _() -> cp.Problem:
    h, t, angles = cp.Variable(20), cp.Variable(), np.linspace(0, np.pi, 400)
    waves = 2 * np.cos(np.outer(angles, np.arange(20)))
    waves[:, 0] = 1
    passed, stopped = waves[angles <= 0.26 * np.pi], waves[angles >= 0.34 * np.pi]
    return cp.Problem(cp.Minimize(t), [cp.abs(stopped @ h) <= t, passed @ h <= 1.12, passed @ h >= 0.89])


@model("predictive control in loops")
def _() -> cp.Problem:
    step, push = np.array([[1.0, 0.2], [0.0, 1.0]]), np.array([[0.0], [0.2]])
    states, inputs = [cp.Variable(2) for _ in range(41)], [cp.Variable(1) for _ in range(40)]
    rules = [states[0] == np.array([4.0, 0.0])]
    for now, then, u in zip(states[:-1], states[1:], inputs, strict=True):
        rules += [then == step @ now + push @ u, cp.abs(u) <= 3]
    return cp.Problem(cp.Minimize(sum(map(cp.sum_squares, states)) + 0.1 * sum(map(cp.norm1, inputs))), rules)


@model("robust Kalman filter")
def robust_kalman() -> cp.Problem:
    """A path in the plane, of T = 200 positions with errors, a tenth of them gross."""
    rng, steps = draws(14), 200
    x, w, v = cp.Variable((4, steps + 1)), cp.Variable((2, steps)), cp.Variable((2, steps))
    step, push = np.eye(4) + 0.1 * np.eye(4, k=2), np.vstack([0.005 * np.eye(2), 0.1 * np.eye(2)])
    seen = np.cumsum(0.1 * rng.normal(size=(2, steps)), axis=1) + 5 * (rng.random((2, steps)) < 0.1)
    cost = cp.sum_squares(w) + cp.sum(cp.huber(cp.norm(v, axis=0), 1))
    return cp.Problem(cp.Minimize(cost), [x[:, 1:] == step @ x[:, :-1] + push @ w, x[:2, :-1] + v == seen])


@model("power flow")
def power_flow() -> cp.Problem:
    """Direct-current optimal power flow: a ring of 60 buses with chords, of which 12 have generators."""
    rng, buses, plants = draws(15), 60, 12
    ends = [(i, (i + 1) % buses) for i in range(buses)] + [(int(i), int(j)) for i, j in rng.integers(buses, size=(30, 2)) if i != j]
    number = range(len(ends))
    lines = sp.coo_array((np.ones(len(ends)), (number, [i for i, _ in ends])), shape=(len(ends), buses))
    lines = sp.csr_array(lines - sp.coo_array((np.ones(len(ends)), (number, [j for _, j in ends])), shape=(len(ends), buses)))
    where = np.eye(buses)[:, rng.permutation(buses)[:plants]]
    angle, made = cp.Variable(buses), cp.Variable(plants, nonneg=True)
    flow = cp.multiply(5 + 5 * rng.random(len(ends)), lines @ angle)
    cost = cp.sum_squares(cp.multiply(np.sqrt(0.1 + rng.random(plants)), made)) + (1 + rng.random(plants)) @ made
    balance = where @ made - rng.random(buses) == lines.T @ flow
    return cp.Problem(cp.Minimize(cost), [balance, cp.abs(flow) <= 6, made <= 8, angle[0] == 0])


@model("diet")
def _() -> cp.Problem:
    rng, x = draws(16), cp.Variable(100, nonneg=True)
    return cp.Problem(cp.Minimize((0.1 + rng.random(100)) @ x), [10 * rng.random((30, 100)) @ x >= 20 + 30 * rng.random(30), x <= 8])


@model("entropic transport")
def _() -> cp.Problem:
    rng, x = draws(17), cp.Variable((15, 15))
    left, right = rng.multinomial(2**12, np.ones(15) / 15, size=2) / 2**12  # whose sums are equal exactly
    cost = cp.sum(cp.multiply(rng.random((15, 15)), x)) - 0.05 * cp.sum(cp.entr(x))
    return cp.Problem(cp.Minimize(cost), [cp.sum(x, axis=1) == left, cp.sum(x, axis=0) == right])


@model("water filling")
def _() -> cp.Problem:
    x = cp.Variable(100)
    return cp.Problem(cp.Maximize(cp.sum(cp.log(0.2 + draws(18).random(100) + x))), simplex(x))


@model("fair wireless power")
def _() -> cp.Problem:
    p = cp.Variable(10)
    gains = 0.05 * draws(19).random((10, 10)) + np.eye(10)
    return cp.Problem(cp.Maximize(cp.geo_mean(p)), [gains @ p <= 2, p <= 1.5, p >= 0])


@model("power control")
def _() -> cp.Problem:
    p = cp.Variable(5, pos=True)
    gains = 0.05 * draws(20).random((5, 5)) + np.eye(5)
    rows = [0.1 + sum(gains[i, j] * p[j] for j in range(5) if j != i) <= 0.5 * gains[i, i] * p[i] for i in range(5)]
    return cp.Problem(cp.Minimize(cp.sum(p)), rows)


@model("projection in relative entropy")
def _() -> cp.Problem:
    rng, p = draws(21), cp.Variable(50)
    return cp.Problem(cp.Minimize(cp.sum(cp.kl_div(p, rng.dirichlet(np.ones(50))))), [cp.sum(p) == 1, rng.normal(size=(5, 50)) @ p <= 0.1])


@model("mixing chain, as a linear programme")
def _() -> cp.Problem:
    rng, chain = draws(22), cp.Variable((12, 12), nonneg=True)
    stays = rng.dirichlet(5 * np.ones(12))
    away = cp.max(cp.abs(chain - np.tile(stays, (12, 1))))
    return cp.Problem(cp.Minimize(away + 0.1 * cp.sum(cp.abs(chain))), [cp.sum(chain, axis=1) == 1, stays @ chain == stays])


@model("robust linear programme")
def _() -> cp.Problem:
    rng, x = draws(23), cp.Variable(15)
    rows = [row @ x + 0.1 * cp.norm(x) <= 5 for row in 0.2 + rng.random((30, 15))]
    return cp.Problem(cp.Maximize(rng.random(15) @ x), [*rows, x >= -10])


@model("smallest ball")
def _() -> cp.Problem:
    centre, radius = cp.Variable((1, 3)), cp.Variable()
    away = draws(24).normal(size=(200, 3)) - np.ones((200, 1)) @ centre
    return cp.Problem(cp.Minimize(radius), [cp.norm(away, axis=1) <= radius])


@model("inpainting by total variation")
def _() -> cp.Problem:
    rng, colours = draws(25), [cp.Variable((24, 24)) for _ in range(3)]
    seen = (rng.random((24, 24)) < 0.6).astype(float)
    return cp.Problem(cp.Minimize(cp.tv(*colours)), [cp.multiply(seen, each) == seen * rng.random((24, 24)) for each in colours])


# Matrices.


@model("inscribed ellipsoid")
def _() -> cp.Problem:
    a, b = cp.Variable((2, 2), symmetric=True), cp.Variable(2)
    return cp.Problem(cp.Minimize(-cp.log_det(a)), [cp.norm(a @ point + b) <= 1 for point in draws(26).normal(size=(40, 2))])


@model("matrix completion")
def _() -> cp.Problem:
    rng, x = draws(27), cp.Variable((20, 15))
    full, seen = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 15)), (rng.random((20, 15)) < 0.6).astype(float)
    return cp.Problem(cp.Minimize(cp.normNuc(x)), [cp.multiply(seen, x) == seen * full])


@model("max cut")
def _() -> cp.Problem:
    x = cp.Variable((20, 20), PSD=True)
    weights = np.triu(draws(28).random((20, 20)) < 0.3, 1).astype(float)
    return cp.Problem(cp.Maximize(0.5 * cp.sum(cp.multiply(weights, 1 - x))), [cp.diag(x) == 1])


@model("Lyapunov inequality")
def _() -> cp.Problem:
    x, flow = cp.Variable((3, 3), symmetric=True), np.array([[-1.0, 2.0, 0.0], [0.0, -2.0, 1.0], [0.1, 0.0, -1.5]])
    return cp.Problem(cp.Minimize(cp.trace(x)), [x >> np.eye(3), flow.T @ x + x @ flow << -0.1 * np.eye(3)])


@model("nearest correlation")
def _() -> cp.Problem:
    x, half = cp.Variable((10, 10), PSD=True), draws(29).random((10, 10))
    return cp.Problem(cp.Minimize(cp.norm(x - (half + half.T) / 2, "fro")), [cp.diag(x) == 1])


@model("D-optimal design")
def _() -> cp.Problem:
    w, rows = cp.Variable(20, nonneg=True), draws(30).normal(size=(4, 20))
    return cp.Problem(cp.Maximize(cp.log_det(rows @ cp.diag(w) @ rows.T)), [cp.sum(w) == 1])


@model("sum of squares")
def _() -> cp.Problem:
    """The largest g for which t⁴ − t² − 3t + 2 − g is a sum of squares."""
    gram, bound = cp.Variable((3, 3), PSD=True), cp.Variable()
    rows = [gram[0, 0] == 2 - bound, 2 * gram[0, 1] == -3, 2 * gram[0, 2] + gram[1, 1] == -1, gram[1, 2] == 0, gram[2, 2] == 1]
    return cp.Problem(cp.Maximize(bound), rows)


@model("ground state")
def _() -> cp.Problem:
    rng, state = draws(31), cp.Variable((4, 4), hermitian=True)
    half = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    return cp.Problem(cp.Minimize(cp.real(cp.trace((half + half.conj().T) @ state))), [state >> 0, cp.real(cp.trace(state)) == 1])
