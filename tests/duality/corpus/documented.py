"""The kinds of model that CVXPY's documentation works out, with data of our own; the first ten are those of issue 16.

`models()` gives (name, problem) one after the other. Every model draws from a generator of its own with one and the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import cvxpy as cp
import numpy as np

Generator = np.random.Generator
MODELS: dict[str, Callable[[Generator], cp.Problem]] = {}


def model(declare: Callable[[Generator], cp.Problem]) -> Callable[[Generator], cp.Problem]:
    """Enter a model under the name of its function."""
    MODELS[declare.__name__.replace("_", " ")] = declare
    return declare


def models() -> Iterator[tuple[str, cp.Problem]]:
    """(name, problem) of every model."""
    for name, declare in MODELS.items():
        yield name, declare(np.random.default_rng(0))


def line_with_noise(rng: Generator, n: int = 60, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Features, and targets that a linear function of them explains but for noise, some of it far out."""
    features = rng.normal(size=(n, d))
    return features, features @ rng.normal(size=d) + 0.3 * rng.standard_t(2, size=n)


def two_classes(rng: Generator, n: int = 60, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Features, and labels ±1 that overlap."""
    features = rng.normal(size=(n, d))
    return features, np.where(features @ rng.normal(size=d) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)


# The ten models that the issue names


@model
def portfolio(rng: Generator) -> cp.Problem:
    """max μᵀw − γ wᵀΣw   subject to w ≥ 0, Σ w = 1."""
    n = 12
    factors = rng.normal(size=(n, 4))
    covariance = factors @ factors.T / 4 + np.diag(rng.uniform(0.1, 0.5, n))
    w = cp.Variable(n)
    returns = rng.uniform(0.0, 0.3, n) @ w
    return cp.Problem(cp.Maximize(returns - 0.5 * cp.quad_form(w, covariance)), [cp.sum(w) == 1, w >= 0])


@model
def group_lasso(rng: Generator) -> cp.Problem:
    """min ‖y − Xw − b‖²/2n + λ Σ_g ‖w_g‖."""
    X, y = line_with_noise(rng, d=12)
    w, b = cp.Variable(12), cp.Variable()
    groups = cp.norm(cp.reshape(w, (4, 3), order="C"), 2, axis=1)
    return cp.Problem(cp.Minimize(cp.sum_squares(y - X @ w - b) / (2 * len(y)) + 0.1 * cp.sum(groups)))


@model
def quantile_regression(rng: Generator) -> cp.Problem:
    """min Σ max(τ r, (τ − 1) r),   r = y − Xw − b."""
    X, y = line_with_noise(rng)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    r, tau = y - X @ w - b, 0.8
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(tau * r, (tau - 1) * r))))


@model
def logistic_regression(rng: Generator) -> cp.Problem:
    """min (1/n) Σ log(1 + exp(−y (Xw + b))) + λ ‖w‖₁."""
    X, y = two_classes(rng)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(y, X @ w + b))) / len(y) + 0.02 * cp.norm1(w)))


@model
def optimal_control(rng: Generator) -> cp.Problem:
    """min Σ ‖x_t‖² + ‖u_t‖²   subject to x_{t+1} = A x_t + B u_t, |u| ≤ 1, x_T = 0."""
    n, m, steps = 4, 2, 12
    A, B = np.eye(n) + 0.2 * rng.normal(size=(n, n)), rng.normal(size=(n, m))
    x, u = cp.Variable((n, steps + 1)), cp.Variable((m, steps))
    rows = [x[:, 1:] == A @ x[:, :-1] + B @ u, cp.norm_inf(cp.vec(u, order="F")) <= 1, x[:, 0] == rng.normal(size=n), x[:, steps] == 0]
    return cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum_squares(u)), rows)


@model
def robust_Kalman_filter(rng: Generator) -> cp.Problem:
    """min Σ ‖w_t‖² + ρ huber(‖v_t‖)   subject to x_{t+1} = A x_t + B w_t, y_t = C x_t + v_t."""
    steps = 15
    A = np.kron(np.array([[1.0, 0.9], [0.0, 0.9]]), np.eye(2))
    B, C = np.vstack([0.5 * np.eye(2), np.eye(2)]), np.hstack([np.eye(2), np.zeros((2, 2))])
    y, state = np.zeros((2, steps)), np.zeros(4)
    for t in range(steps):
        y[:, t] = C @ state + rng.normal(size=2) * (10 if rng.uniform() < 0.2 else 0.3)
        state = A @ state + B @ rng.normal(size=2)
    x, w, v = cp.Variable((4, steps + 1)), cp.Variable((2, steps)), cp.Variable((2, steps))
    misses = cp.huber(cp.norm(v, 2, axis=0), 1)
    rows = [x[:, 1:] == A @ x[:, :-1] + B @ w, y == C @ x[:, :-1] + v]
    return cp.Problem(cp.Minimize(cp.sum_squares(w) + 2.0 * cp.sum(misses)), rows)


@model
def maximum_entropy(rng: Generator) -> cp.Problem:
    """max −Σ p log p   subject to Fp ≤ g, Σ p = 1."""
    n = 15
    F, p0 = rng.normal(size=(4, n)), rng.dirichlet(np.ones(n))
    p = cp.Variable(n)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [F @ p <= F @ p0, cp.sum(p) == 1])


@model
def nu_svm(rng: Generator) -> cp.Problem:
    """min ‖w‖²/2 − νρ + (1/n) Σ max(ρ − y (Xw + b), 0)   subject to ρ ≥ 0."""
    X, y = two_classes(rng)
    w, b, margin = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(nonneg=True)
    hinges = cp.pos(margin - cp.multiply(y, X @ w + b))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 - 0.6 * margin + cp.sum(hinges) / len(y)))


@model
def total_variation(rng: Generator) -> cp.Problem:
    """min tv(U)   subject to U = the picture where it is known."""
    rows, columns = 10, 12
    picture = np.where(np.add.outer(np.arange(rows), np.arange(columns)) > 10, 1.0, 0.0) + 0.1 * rng.normal(size=(rows, columns))
    known = (rng.uniform(size=(rows, columns)) > 0.4).astype(float)
    U = cp.Variable((rows, columns))
    return cp.Problem(cp.Minimize(cp.tv(U)), [cp.multiply(known, U) == known * picture])


@model
def Chebyshev_centre(rng: Generator) -> cp.Problem:
    """max r   subject to a_iᵀx + r ‖a_i‖ ≤ b_i."""
    A = rng.normal(size=(20, 3))
    b = 1 + rng.uniform(size=20)
    x, r = cp.Variable(3), cp.Variable()
    return cp.Problem(cp.Maximize(r), [A @ x + r * np.linalg.norm(A, axis=1) <= b])


# Others of the documentation: standard forms


@model
def least_squares(rng: Generator) -> cp.Problem:
    """min ‖Xw − y‖²."""
    X, y = line_with_noise(rng)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ cp.Variable(X.shape[1]) - y)))


@model
def linear_programme(rng: Generator) -> cp.Problem:
    """min cᵀx   subject to Ax ≤ b, with c = −Aᵀλ for some λ ≥ 0, so that there is an optimum."""
    m, n = 15, 10
    A, slack, multipliers = rng.normal(size=(m, n)), rng.uniform(size=m), rng.uniform(size=m)
    x = cp.Variable(n)
    return cp.Problem(cp.Minimize(-(A.T @ multipliers) @ x), [A @ x <= A @ rng.normal(size=n) + slack])


@model
def quadratic_programme(rng: Generator) -> cp.Problem:
    """min xᵀPx/2 + qᵀx   subject to Gx ≤ h, Ax = b."""
    n = 10
    root, G, A = rng.normal(size=(n, n)), rng.normal(size=(15, n)), rng.normal(size=(3, n))
    inside = rng.normal(size=n)
    x = cp.Variable(n)
    rows = [G @ x <= G @ inside + rng.uniform(size=15), A @ x == A @ inside]
    return cp.Problem(cp.Minimize(cp.quad_form(x, root.T @ root + np.eye(n)) / 2 + rng.normal(size=n) @ x), rows)


@model
def second_order_cone_programme(rng: Generator) -> cp.Problem:
    """min fᵀx   subject to ‖A_i x + b_i‖ ≤ c_iᵀx + d_i, Fx = g, and ‖x‖ ≤ 5 so that there is an optimum."""
    n = 6
    x, inside = cp.Variable(n), rng.normal(size=n)
    rows: list[cp.Constraint] = [cp.SOC(cp.Constant(5.0), x)]
    for _ in range(3):
        A, b, c = rng.normal(size=(4, n)), rng.normal(size=4), rng.normal(size=n)
        rows.append(cp.SOC(c @ x + np.linalg.norm(A @ inside + b) - c @ inside + 0.5, A @ x + b))
    F = rng.normal(size=(2, n))
    return cp.Problem(cp.Minimize(rng.normal(size=n) @ x), [*rows, F @ x == F @ inside])


@model
def semidefinite_programme(rng: Generator) -> cp.Problem:
    """min ⟨C, X⟩   subject to ⟨A_i, X⟩ = b_i, X ⪰ 0, with C ≻ 0."""
    n = 4
    root, inside = rng.normal(size=(n, n)), rng.normal(size=(n, n))
    X = cp.Variable((n, n), symmetric=True)
    rows: list[cp.Constraint] = [X >> 0]
    for _ in range(3):
        A = rng.normal(size=(n, n))
        rows.append(cp.trace(A @ X) == np.trace(A @ inside @ inside.T))
    return cp.Problem(cp.Minimize(cp.trace((root @ root.T + np.eye(n)) @ X)), rows)


# Regression and classification


@model
def ridge_regression(rng: Generator) -> cp.Problem:
    """min ‖Xw − y‖²/n + λ ‖w‖²."""
    X, y = line_with_noise(rng)
    w = cp.Variable(X.shape[1])
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / len(y) + 0.1 * cp.sum_squares(w)))


@model
def lasso(rng: Generator) -> cp.Problem:
    """min ‖Xw − y‖² + λ ‖w‖₁, λ a parameter."""
    X, y = line_with_noise(rng, d=10)
    w, strength = cp.Variable(10), cp.Parameter(nonneg=True, value=5.0)
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + strength * cp.norm(w, 1)))


@model
def Huber_regression(rng: Generator) -> cp.Problem:
    """min Σ huber(y − Xw)."""
    X, y = line_with_noise(rng)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(y - X @ cp.Variable(X.shape[1]), 0.5))))  # type: ignore[arg-type]


@model
def p_norm_regression(rng: Generator) -> cp.Problem:
    """min ‖Xw − y‖₃."""
    X, y = line_with_noise(rng)
    return cp.Problem(cp.Minimize(cp.pnorm(X @ cp.Variable(X.shape[1]) - y, 3)))


@model
def minimax_fit(rng: Generator) -> cp.Problem:
    """min ‖Xw − y‖_∞."""
    X, y = line_with_noise(rng)
    return cp.Problem(cp.Minimize(cp.norm(X @ cp.Variable(X.shape[1]) - y, "inf")))


@model
def censored_regression(rng: Generator) -> cp.Problem:
    """min ‖X₁w − y‖²   subject to X₂w ≥ D: of some samples it is only known that their target is beyond D."""
    X, y = line_with_noise(rng)
    limit = np.quantile(y, 0.7)
    w = cp.Variable(X.shape[1])
    seen = y < limit
    return cp.Problem(cp.Minimize(cp.sum_squares(X[seen] @ w - y[seen])), [X[~seen] @ w >= 0.5 * limit])


@model
def support_vector_machine(rng: Generator) -> cp.Problem:
    """min (1/n) Σ max(1 − y (Xw + b), 0) + λ ‖w‖₁."""
    X, y = two_classes(rng)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    return cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b))) / len(y) + 0.05 * cp.norm1(w)))


@model
def multinomial_logistic_regression(rng: Generator) -> cp.Problem:
    """min Σ_i log Σ_k exp(⟨w_k, x_i⟩) − ⟨w_{y_i}, x_i⟩ + λ ‖W‖²."""
    X, classes = rng.normal(size=(40, 3)), rng.integers(3, size=40)
    W = cp.Variable((3, 3))
    scores = X @ W
    losses = cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(np.eye(3)[classes], scores))
    return cp.Problem(cp.Minimize(losses + 0.5 * cp.sum_squares(W)))


@model
def sparse_inverse_covariance(rng: Generator) -> cp.Problem:
    """max log det S − ⟨S, Y⟩ − α ‖S‖₁."""
    Y = np.cov(rng.normal(size=(4, 30)))
    S = cp.Variable((4, 4), PSD=True)
    return cp.Problem(cp.Maximize(cp.log_det(S) - cp.trace(S @ Y) - 0.1 * cp.sum(cp.abs(S))))


# Signals


@model
def l1_trend_filtering(rng: Generator) -> cp.Problem:
    """min ‖y − x‖²/2 + λ ‖D²x‖₁."""
    n = 40
    y = np.cumsum(np.cumsum(rng.normal(size=n) * (rng.uniform(size=n) < 0.1))) + 0.3 * rng.normal(size=n)
    x = cp.Variable(n)
    return cp.Problem(cp.Minimize(cp.sum_squares(y - x) / 2 + 2.0 * cp.norm1(cp.diff(x, 2))))


@model
def basis_pursuit(rng: Generator) -> cp.Problem:
    """min ‖x‖₁   subject to Ax = b."""
    A = rng.normal(size=(10, 30))
    x = cp.Variable(30)
    return cp.Problem(cp.Minimize(cp.norm1(x)), [A @ x == A[:, :3] @ rng.normal(size=3)])


@model
def fault_detection(rng: Generator) -> cp.Problem:
    """min ‖Ax − y‖² + λ Σ x   subject to 0 ≤ x ≤ 1."""
    A = rng.normal(size=(15, 25))
    y = A @ (rng.uniform(size=25) < 0.1) + 0.2 * rng.normal(size=15)
    x = cp.Variable(25, bounds=[0, 1])
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - y) + 0.5 * cp.sum(x)))


# Resources


@model
def water_filling(rng: Generator) -> cp.Problem:
    """max Σ log(α + x)   subject to x ≥ 0, Σ x = 1."""
    x = cp.Variable(8)
    return cp.Problem(cp.Maximize(cp.sum(cp.log(rng.uniform(0.1, 1.5, 8) + x))), [x >= 0, cp.sum(x) == 1])


@model
def Kelly_betting(rng: Generator) -> cp.Problem:
    """max Σ_j π_j log(r_jᵀb)   subject to b ≥ 0, Σ b = 1; the last bet is not to bet."""
    returns = np.hstack([rng.uniform(0, 2.4, size=(15, 4)), np.ones((15, 1))])
    b = cp.Variable(5)
    return cp.Problem(cp.Maximize(rng.dirichlet(np.ones(15)) @ cp.log(returns @ b)), [cp.sum(b) == 1, b >= 0])


@model
def conditional_value_at_risk(rng: Generator) -> cp.Problem:
    """min CVaR_{0.8}(−Rw)   subject to w ≥ 0, Σ w = 1, μᵀw ≥ a return."""
    R = rng.normal(loc=rng.uniform(0, 0.2, 6), size=(50, 6))
    w = cp.Variable(6, nonneg=True)
    target = np.mean(R)
    return cp.Problem(cp.Minimize(cp.cvar(-R @ w, 0.8)), [cp.sum(w) == 1, np.mean(R, axis=0) @ w >= target])


@model
def optimal_advertising(rng: Generator) -> cp.Problem:
    """max Σ_i min(R_i Σ_t P_it D_it, B_i)   subject to D ≥ 0, Σ_i D_it ≤ T_t, Σ_t D_it ≥ c_i."""
    m, hours = 4, 10
    rates, worth, budget = rng.uniform(size=(m, hours)), rng.uniform(1, 3, m), rng.uniform(20, 40, m)
    D = cp.Variable((m, hours))
    income = cp.minimum(cp.multiply(worth, cp.sum(cp.multiply(rates, D), axis=1)), budget)
    rows = [D >= 0, cp.sum(D, axis=0) <= rng.uniform(10, 20, hours), cp.sum(D, axis=1) >= rng.uniform(2, 5, m)]
    return cp.Problem(cp.Maximize(cp.sum(income)), rows)


@model
def bargaining(rng: Generator) -> cp.Problem:
    """max (Π u_i)^{1/k}, u = Ux   subject to x ≥ 0, Σ x = 1: what Nash would agree on."""
    x = cp.Variable(6)
    return cp.Problem(cp.Maximize(cp.geo_mean(rng.uniform(size=(4, 6)) @ x)), [x >= 0, cp.sum(x) == 1])


@model
def maximum_flow(rng: Generator) -> cp.Problem:
    """max what leaves the source   subject to what comes to a node leaves it, 0 ≤ flow ≤ capacity."""
    layers = [[0], [1, 2, 3], [4, 5, 6], [7]]
    edges = [(a, b) for left, right in pairwise(layers) for a in left for b in right]
    incidence = np.zeros((8, len(edges)))
    for number, (a, b) in enumerate(edges):
        incidence[a, number], incidence[b, number] = -1.0, 1.0
    flow = cp.Variable(len(edges))
    rows = [incidence[1:-1] @ flow == 0, flow >= 0, flow <= rng.uniform(size=len(edges))]
    return cp.Problem(cp.Maximize(-incidence[0] @ flow), rows)


@model
def analytic_centre(rng: Generator) -> cp.Problem:
    """min −Σ log(b_i − a_iᵀx)."""
    A = rng.normal(size=(20, 3))
    return cp.Problem(cp.Minimize(-cp.sum(cp.log(1 + rng.uniform(size=20) - A @ cp.Variable(3)))))
