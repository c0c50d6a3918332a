"""Semidefinite models of practice in any size: graphs, matrices of low rank, control, geometry, experiments, quantum states.

Each function takes the order n of its matrices and the random numbers that its data are made of. Linear maps of a matrix X are one matrix
times vec(X): rows of traces cost CVXPY more than the whole certificate. Some of CVXPY's forms are very large, so that their matrices are
smaller than n: an entropy has a block for each eigenvalue, and a relative entropy has matrices of order n². Hermitian matrices are of order
n/2: that of their real form is n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

Build = Callable[[int, np.random.Generator], cp.Problem]
HERMITIAN, ENTROPY, KRONECKER = 2, 2, 5  # by which n is divided
BOUND = 1e3  # of Lyapunov matrices, where the set of all is not bounded


@dataclass(frozen=True)
class SizedModel:
    """A model of any size; `promised` says whether its certificate should close."""

    name: str
    build: Build
    promised: bool = True


MODELS: dict[str, SizedModel] = {}


def model(name: str, promised: bool = True) -> Callable[[Build], Build]:
    """Registers a function that builds a problem."""

    def registered(build: Build) -> Build:
        MODELS[name] = SizedModel(name, build, promised)
        return build

    return registered


def symmetric(rng: np.random.Generator, n: int) -> np.ndarray:
    """A symmetric matrix of normal entries."""
    half = rng.normal(size=(n, n))
    return (half + half.T) / 2


def edges(rng: np.random.Generator, n: int, density: float) -> np.ndarray:
    """The upper triangle of the adjacency matrix of a random graph, a path among its edges so that it is connected."""
    return np.triu(np.maximum(rng.random((n, n)) < density, np.eye(n, k=1)), 1) * 1.0


def stable(rng: np.random.Generator, n: int) -> np.ndarray:
    """A matrix whose eigenvalues have real parts of −1/2 at most."""
    matrix = rng.normal(size=(n, n)) / math.sqrt(n)
    return matrix - (np.linalg.eigvals(matrix).real.max() + 0.5) * np.eye(n)


def squares(vectors: np.ndarray) -> np.ndarray:
    """The matrix whose product with vec(X), by rows, is v*Xv for each row v; its transpose times w is vec(Σw_kv_kv_kᵀ) of real v."""
    return (vectors.conj()[:, :, None] * vectors[:, None, :]).reshape(len(vectors), -1)


def observables(rng: np.random.Generator, n: int, count: int) -> np.ndarray:
    """Hermitian matrices of complex normal entries."""
    halves = rng.normal(size=(count, n, n)) + 1j * rng.normal(size=(count, n, n))
    return (halves + halves.conj().transpose(0, 2, 1)) / 2


def traces(matrices: np.ndarray, X: cp.Expression) -> cp.Expression:
    """tr A_k X of Hermitian matrices A_k, real."""
    return cp.real(matrices.transpose(0, 2, 1).reshape(len(matrices), -1) @ cp.vec(X, order="C"))


def pure_state(rng: np.random.Generator, n: int) -> np.ndarray:
    """vv* of a complex unit vector."""
    v = rng.normal(size=n) + 1j * rng.normal(size=n)
    return np.outer(v, v.conj()) / (v.conj() @ v).real


# Graphs.


@model("MAX-CUT")
def maxcut(n: int, rng: np.random.Generator) -> cp.Problem:
    """max ¼ ΣW_ij(1 − X_ij), X_ii = 1, X ⪰ 0 (Goemans and Williamson 1995)."""
    half = edges(rng, n, 0.3)
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(half + half.T, 1 - X)) / 4), [cp.diag(X) == 1])


@model("MAX-3-CUT")
def max_three_cut(n: int, rng: np.random.Generator) -> cp.Problem:
    """max ⅓ ΣW_ij(1 − X_ij), X_ii = 1, X_ij ≥ −½ (Frieze and Jerrum 1997)."""
    half = edges(rng, n, 0.3)
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(half + half.T, 1 - X)) / 3), [cp.diag(X) == 1, X >= -0.5])


@model("Lovász θ")
def lovasz_theta(n: int, rng: np.random.Generator) -> cp.Problem:
    """max ΣX_ij, tr X = 1, X_ij = 0 on edges (Lovász 1979)."""
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, cp.multiply(edges(rng, n, 0.3), X) == 0])


@model("θ' with X ≥ 0")
def schrijver_theta(n: int, rng: np.random.Generator) -> cp.Problem:
    """The same with X ≥ 0 in each entry (Schrijver 1979)."""
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, cp.multiply(edges(rng, n, 0.3), X) == 0, X >= 0])


def chain(n: int, rng: np.random.Generator) -> tuple[cp.Variable, list[cp.Constraint]]:
    """Symmetric transition probabilities on the edges of a graph."""
    half = edges(rng, n, 0.4)
    P = cp.Variable((n, n), symmetric=True)
    absent = 1 - half - half.T - np.eye(n)
    return P, [P >= 0, P @ np.ones(n) == 1, cp.multiply(np.triu(absent), P) == 0]


@model("fastest mixing, σ_max")
def fastest_mixing(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖P − 11ᵀ/n‖₂ (Boyd, Diaconis and Xiao 2004)."""
    P, rows = chain(n, rng)
    return cp.Problem(cp.Minimize(cp.sigma_max(P - np.ones((n, n)) / n)), rows)


@model("fastest mixing, two LMIs")
def fastest_mixing_by_lmis(n: int, rng: np.random.Generator) -> cp.Problem:
    """min t, −tI ⪯ P − 11ᵀ/n ⪯ tI."""
    P, rows = chain(n, rng)
    t, rest = cp.Variable(), P - np.ones((n, n)) / n
    return cp.Problem(cp.Minimize(t), [*rows, rest << t * np.eye(n), rest >> -t * np.eye(n)])


@model("algebraic connectivity")
def algebraic_connectivity(n: int, rng: np.random.Generator) -> cp.Problem:
    """max λ_min(L(w) + 11ᵀ), weights w ≥ 0 of the edges with a sum of n (Fiedler 1989)."""
    tails, heads = np.nonzero(edges(rng, n, 0.2))
    incidence = np.eye(n)[tails] - np.eye(n)[heads]
    w = cp.Variable(len(tails), nonneg=True)
    laplacian = cp.reshape(squares(incidence).T @ w, (n, n), order="C")
    return cp.Problem(cp.Maximize(cp.lambda_min(laplacian + np.ones((n, n)))), [cp.sum(w) == n])


# Matrices: nearest ones, those of low rank, covariances.


@model("nearest correlation")
def nearest_correlation(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖X − C‖_F, X_ii = 1, X ⪰ 0 (Higham 2002)."""
    C = rng.uniform(-1, 1, (n, n))
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.norm(X - (C + C.T) / 2, "fro")), [cp.diag(X) == 1])


@model("nearest Toeplitz covariance")
def nearest_toeplitz(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖T(c) − S‖_F², T(c) ⪰ 0, S the covariance of a sample."""
    sample = rng.normal(size=(n // 2, n))
    bands = np.array([(np.eye(n, k=k) + (np.eye(n, k=-k) if k else 0)).ravel() for k in range(n)])
    c = cp.Variable(n)
    T = cp.reshape(bands.T @ c, (n, n), order="C")
    return cp.Problem(cp.Minimize(cp.sum_squares(T - sample.T @ sample / (n // 2))), [T >> 0])


def low_rank(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A matrix n × (n − 2) of rank 2 with entries around 1, and which of them are known, 6 of 10."""
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, n - 2)), (rng.random((n, n - 2)) < 0.6) * 1.0


@model("matrix completion, exact")
def matrix_completion(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖X‖_* with the known entries (Candès and Recht 2009)."""
    M, known = low_rank(n, rng)
    X = cp.Variable(M.shape)
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [cp.multiply(known, X) == known * M])


@model("matrix completion, noise")
def noisy_completion(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ½‖K∘(X − M)‖_F² + λ‖X‖_* (Mazumder, Hastie and Tibshirani 2010)."""
    M, known = low_rank(n, rng)
    seen = known * (M + 0.1 * rng.normal(size=M.shape))
    X = cp.Variable(M.shape)
    return cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(known, X) - seen) / 2 + cp.normNuc(X)))


@model("robust PCA")
def robust_principal_components(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖L‖_* + Σ|M − L|/√n (Candès, Li, Ma and Wright 2011)."""
    M, gross = low_rank(n, rng)[0], rng.random((n, n - 2)) < 0.05
    L = cp.Variable(M.shape)
    return cp.Problem(cp.Minimize(cp.normNuc(L) + cp.sum(cp.abs(M + 5 * gross - L)) / math.sqrt(n)))


@model("multi-task regression")
def multi_task(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ½‖XW − Y‖_F² + λ‖W‖_*, n features, n/2 tasks (Argyriou, Evgeniou and Pontil 2008)."""
    X = rng.normal(size=(2 * n, n))
    Y = X @ rng.normal(size=(n, 2)) @ rng.normal(size=(2, n // 2)) + rng.normal(size=(2 * n, n // 2))
    W = cp.Variable((n, n // 2))
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ W - Y) / 2 + 2 * math.sqrt(n) * cp.normNuc(W)))


@model("multi-task regression, ball")
def multi_task_in_a_ball(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖XW − Y‖_F², ‖W‖_* ≤ ρ."""
    X, Y = rng.normal(size=(2 * n, n)), rng.normal(size=(2 * n, n // 2))
    W = cp.Variable((n, n // 2))
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ W - Y)), [cp.normNuc(W) <= 1])


@model("portfolios of few funds")
def portfolios_of_few_funds(n: int, rng: np.random.Generator) -> cp.Problem:
    """max Σμ_ijW_ij − risk − λ‖W‖_*, n assets, n/4 clients."""
    clients = n // 4
    returns, F = rng.uniform(0.0, 0.3, (n, clients)), rng.normal(size=(4, n))
    W = cp.Variable((n, clients))
    risk = cp.sum_squares(F @ W) / 4 + cp.sum_squares(W) / 2
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(returns, W)) - risk - 0.05 * cp.normNuc(W)), [cp.sum(W, axis=0) == 1, W >= 0])


@model("spectral norm of a pencil")
def spectral_norm(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖A₀ + Σx_iA_i‖₂ (Boyd and Vandenberghe, §4.6.3)."""
    A, A0 = rng.normal(size=(n * n, 5)), rng.normal(size=(n, n))
    x = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.sigma_max(A0 + cp.reshape(A @ x, (n, n), order="C"))))


@model("largest eigenvalue")
def largest_eigenvalue(n: int, rng: np.random.Generator) -> cp.Problem:
    """min λ_max(A₀ + Σx_iA_i)."""
    A, A0 = np.array([symmetric(rng, n).ravel() for _ in range(5)]).T, symmetric(rng, n)
    x = cp.Variable(5)
    return cp.Problem(cp.Minimize(cp.lambda_max(A0 + cp.reshape(A @ x, (n, n), order="C"))))


@model("three largest eigenvalues")
def largest_eigenvalues(n: int, rng: np.random.Generator) -> cp.Problem:
    """min λ₁ + λ₂ + λ₃ of A + diag(d), Σd_i = 0 (Overton and Womersley 1993)."""
    d = cp.Variable(n)
    return cp.Problem(cp.Minimize(cp.lambda_sum_largest(symmetric(rng, n) + cp.diag(d), 3)), [cp.sum(d) == 0])


@model("covariance selection")
def covariance_selection(n: int, rng: np.random.Generator) -> cp.Problem:
    """max log det S − tr ΣS − λΣ|S_ij| (Banerjee, El Ghaoui and d'Aspremont 2008)."""
    sample = rng.normal(size=(3 * n, n))
    S = cp.Variable((n, n), PSD=True)
    likelihood = cp.log_det(S) - cp.sum(cp.multiply(sample.T @ sample / (3 * n), S))
    return cp.Problem(cp.Maximize(likelihood - 0.1 * cp.sum(cp.abs(S))))


@model("sparse PCA")
def sparse_principal_component(n: int, rng: np.random.Generator) -> cp.Problem:
    """max tr ΣX − ρΣ|X_ij|, tr X = 1 (d'Aspremont et al. 2007)."""
    sample = rng.normal(size=(2 * n, n))
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(sample.T @ sample / (2 * n), X)) - 0.2 * cp.sum(cp.abs(X))), [cp.trace(X) == 1])


@model("metric learning")
def metric_learning(n: int, rng: np.random.Generator) -> cp.Problem:
    """min Σ d²(near pairs), Σ d(far pairs) ≥ 1 (Xing et al. 2003)."""
    near, far = rng.normal(size=(3 * n, n)), rng.normal(size=(3 * n, n))
    M = cp.Variable((n, n), PSD=True)
    flat = cp.vec(M, order="C")
    return cp.Problem(cp.Minimize(cp.sum(squares(near) @ flat) / n), [cp.sum(cp.sqrt(squares(far) @ flat)) >= n])


@model("worst-case risk")
def worst_case_risk(n: int, rng: np.random.Generator) -> cp.Problem:
    """max wᵀSw, |S − C| ≤ 0.2, S ⪰ 0 (Boyd and Vandenberghe, §4.6.3)."""
    F, w = rng.normal(size=(2 * n, n)), rng.dirichlet(np.ones(n))
    S = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(n * cp.sum(cp.multiply(np.outer(w, w), S))), [cp.abs(S - F.T @ F / (2 * n)) <= 0.2])


@model("quadratic form on a box")
def box_quadratic(n: int, rng: np.random.Generator) -> cp.Problem:
    """max xᵀQx, |x_i| ≤ 1, relaxed: max tr QX, X_ii ≤ 1 (Nesterov 1998)."""
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Maximize(cp.sum(cp.multiply(symmetric(rng, n), X))), [cp.diag(X) <= 1])


# Geometry.


@model("smallest ellipsoid")
def smallest_ellipsoid(n: int, rng: np.random.Generator) -> cp.Problem:
    """min −log det A, ‖Ax_k + b‖ ≤ 1, 3n points (Boyd and Vandenberghe, §8.4.1)."""
    points = rng.normal(size=(3 * n, n))
    A, b = cp.Variable((n, n), PSD=True), cp.Variable((1, n))
    return cp.Problem(cp.Minimize(-cp.log_det(A)), [cp.norm(points @ A + np.ones((3 * n, 1)) @ b, axis=1) <= 1])


@model("largest ellipsoid")
def largest_ellipsoid(n: int, rng: np.random.Generator) -> cp.Problem:
    """max log det B, ‖Ba_i‖ + a_iᵀd ≤ b_i, 3n faces (Boyd and Vandenberghe, §8.4.2)."""
    A, b = rng.normal(size=(3 * n, n)), rng.uniform(1, 2, 3 * n)
    B, d = cp.Variable((n, n), PSD=True), cp.Variable(n)
    return cp.Problem(cp.Maximize(cp.log_det(B)), [cp.norm(A @ B, axis=1) + A @ d <= b])


def distances(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Differences of pairs of n points in space, and noisy squares of the distances."""
    points = rng.normal(size=(n, 3))
    tails, heads = np.nonzero(edges(rng, n, 0.3))
    steps = np.eye(n)[tails] - np.eye(n)[heads]
    return squares(steps), ((steps @ points) ** 2).sum(axis=1) * (1 + 0.1 * rng.normal(size=len(steps)))


@model("distances")
def euclidean_distances(n: int, rng: np.random.Generator) -> cp.Problem:
    """min Σ|d²(G) − seen| + 0.1 tr G, G the Gram matrix of n points (Alfakih, Khandani and Wolkowicz 1999)."""
    A, seen = distances(n, rng)
    G = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.norm1(A @ cp.vec(G, order="C") - seen) + 0.1 * cp.trace(G)))


@model("distances, centred")
def centred_distances(n: int, rng: np.random.Generator) -> cp.Problem:
    """The same with ΣG_ij = 0 in each row: all feasible G lie on a face, that of G1 = 0."""
    A, seen = distances(n, rng)
    G = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.norm1(A @ cp.vec(G, order="C") - seen) + 0.1 * cp.trace(G)), [cp.sum(G, axis=1) == 0])


@model("sensor localization")
def sensor_localization(n: int, rng: np.random.Generator) -> cp.Problem:
    """n − 2 sensors in the plane, from noisy distances to anchors and each other (Biswas and Ye 2004)."""
    count = n - 2
    anchors, points = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), rng.uniform(-1, 1, (count, 2))
    tails, heads = np.nonzero(edges(rng, count, 0.2))
    pairs = np.hstack([np.zeros((len(tails), 2)), np.eye(count)[tails] - np.eye(count)[heads]])
    rays = np.vstack([np.hstack([np.tile(a, (count, 1)), -np.eye(count)]) for a in anchors] + [pairs])
    truth = np.vstack([np.eye(2), points])
    seen = ((rays @ truth) ** 2).sum(axis=1) * (1 + 0.05 * rng.normal(size=len(rays)))
    Z = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.norm1(squares(rays) @ cp.vec(Z, order="C") - seen)), [Z[:2, :2] == np.eye(2)])


# Polynomials.


@model("sum of squares")
def sum_of_squares(n: int, rng: np.random.Generator) -> cp.Problem:
    """max γ with p − γ a sum of squares: a quartic p with the leading terms 2Σx_i⁴.

    It has as many variables as a Gram matrix of order n + 1 allows.
    """
    count = max(k for k in range(2, n) if math.comb(k + 2, 2) <= n + 1)
    unit = np.eye(count, dtype=int)
    monomials = [np.zeros(count, dtype=int), *unit, *(unit[i] + unit[j] for i in range(count) for j in range(i + 1))]
    terms: dict[tuple[int, ...], list[int]] = {}
    for position, power in enumerate(tuple(a + b) for a in monomials for b in monomials):
        terms.setdefault(power, []).append(position)
    match = np.zeros((len(terms), len(monomials) ** 2))
    for row, positions in enumerate(terms.values()):
        match[row, positions] = 1
    even = [max(power) == 4 for power in terms]
    p = np.where([sum(power) <= 3 for power in terms], rng.normal(size=len(terms)), np.where(even, 2.0, 0.0))
    first = np.array([sum(power) == 0 for power in terms]) * 1.0
    Q, bound = cp.Variable((len(monomials),) * 2, PSD=True), cp.Variable()
    return cp.Problem(cp.Maximize(bound), [match @ cp.vec(Q, order="C") == p - bound * first])


# Control.


@model("Lyapunov inequality")
def lyapunov(n: int, rng: np.random.Generator) -> cp.Problem:
    """min tr P, P ⪰ I, AᵀP + PA ⪯ −I."""
    A = stable(rng, n)
    P = cp.Variable((n, n), symmetric=True)
    return cp.Problem(cp.Minimize(cp.trace(P)), [P >> np.eye(n), A.T @ P + P @ A << -np.eye(n)])


@model("invariant ellipsoid")
def invariant_ellipsoid(n: int, rng: np.random.Generator) -> cp.Problem:
    """min tr Q, AQ + QAᵀ + αQ + BBᵀ/α ⪯ 0 (Abedor, Nagpal and Poolla 1996)."""
    A, B = stable(rng, n), rng.normal(size=(n, 2))
    Q = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.trace(Q)), [A @ Q + Q @ A.T + 0.5 * Q + 2 * B @ B.T << 0])


def bounded_real(n: int, rng: np.random.Generator) -> tuple[cp.Variable, cp.Variable, cp.Expression]:
    """P, g and the block matrix of the bounded real lemma, of n/2 states, two inputs and two outputs."""
    states = n // 2
    A, B, C = stable(rng, states), rng.normal(size=(states, 2)), rng.normal(size=(2, states))
    P, g = cp.Variable((states, states), PSD=True), cp.Variable()
    return P, g, cp.bmat([[A.T @ P + P @ A + C.T @ C, P @ B], [B.T @ P, -g * np.eye(2)]])


@model("H∞ norm")
def h_infinity(n: int, rng: np.random.Generator) -> cp.Problem:
    """min g, the block matrix ⪯ 0: √g is the largest gain (Boyd et al. 1994, §6.3.2)."""
    _, g, block = bounded_real(n, rng)
    return cp.Problem(cp.Minimize(g), [block << 0])


@model("H∞ norm, P bounded")
def bounded_h_infinity(n: int, rng: np.random.Generator) -> cp.Problem:
    """The same with P ⪯ 1000 I, without which the optimal P are all but unbounded."""
    P, g, block = bounded_real(n, rng)
    return cp.Problem(cp.Minimize(g), [block << 0, P << BOUND * np.eye(P.shape[0])])


@model("state feedback")
def state_feedback(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖Y‖_F, I ⪯ Q ⪯ 1000 I, QAᵀ + AQ + YᵀBᵀ + BY ⪯ −Q (Boyd et al. 1994, §7.2)."""
    A, B = rng.normal(size=(n, n)) / math.sqrt(n), rng.normal(size=(n, n // 2))
    Q, Y = cp.Variable((n, n), symmetric=True), cp.Variable((n // 2, n))
    falls = Q @ A.T + A @ Q + Y.T @ B.T + B @ Y + Q
    return cp.Problem(cp.Minimize(cp.norm(Y, "fro")), [Q >> np.eye(n), Q << BOUND * np.eye(n), falls << 0])


# Experiments and structures: an information matrix Σw_kv_kv_kᵀ of 5n vectors.


def information(n: int, rng: np.random.Generator) -> tuple[cp.Variable, cp.Expression, list[cp.Constraint]]:
    """Weights, the information matrix, and that the weights are those of a mean."""
    w = cp.Variable(5 * n, nonneg=True)
    return w, cp.reshape(squares(rng.normal(size=(5 * n, n))).T @ w, (n, n), order="C"), [cp.sum(w) == 1]


@model("D-optimal design")
def d_optimal(n: int, rng: np.random.Generator) -> cp.Problem:
    """max log det."""
    _, matrix, rows = information(n, rng)
    return cp.Problem(cp.Maximize(cp.log_det(matrix)), rows)


@model("E-optimal design")
def e_optimal(n: int, rng: np.random.Generator) -> cp.Problem:
    """max λ_min."""
    _, matrix, rows = information(n, rng)
    return cp.Problem(cp.Maximize(cp.lambda_min(matrix)), rows)


@model("A-optimal design")
def a_optimal(n: int, rng: np.random.Generator) -> cp.Problem:
    """min tr of the inverse."""
    _, matrix, rows = information(n, rng)
    return cp.Problem(cp.Minimize(cp.tr_inv(matrix)), rows)


@model("c-optimal design")
def c_optimal(n: int, rng: np.random.Generator) -> cp.Problem:
    """min cᵀ(·)⁻¹c."""
    _, matrix, rows = information(n, rng)
    return cp.Problem(cp.Minimize(cp.matrix_frac(rng.normal(size=n), matrix)), rows)


@model("sensor placement")
def sensor_placement(n: int, rng: np.random.Generator) -> cp.Problem:
    """max log det, weights of at most 1 with a sum of 2n (Joshi and Boyd 2009)."""
    w, matrix, _ = information(n, rng)
    return cp.Problem(cp.Maximize(cp.log_det(matrix)), [cp.sum(w) == 2 * n, w <= 1])


@model("truss, two loads")
def truss(n: int, rng: np.random.Generator) -> cp.Problem:
    """min t with [[t, fᵀ], [f, K(w)]] ⪰ 0 for both loads f (Ben-Tal and Nemirovski 1997)."""
    _, matrix, rows = information(n, rng)
    t = cp.Variable((1, 1))
    loads = rng.normal(size=(2, n, 1))
    return cp.Problem(cp.Minimize(cp.sum(t)), [*rows, *(cp.bmat([[t, f.T], [f, matrix]]) >> 0 for f in loads)])


# Signals, power and quantum states: Hermitian matrices.


def intensities(n: int, rng: np.random.Generator) -> tuple[cp.Variable, cp.Expression, np.ndarray]:
    """A Hermitian matrix of order n/2, its products a*Xa with 5 vectors a per entry of a signal, and those of the signal."""
    order = n // HERMITIAN
    A = rng.normal(size=(5 * order, order)) + 1j * rng.normal(size=(5 * order, order))
    X = cp.Variable((order, order), hermitian=True)
    signal = pure_state(rng, order)
    return X, cp.real(squares(A) @ cp.vec(X, order="C")), np.real(squares(A) @ signal.ravel())


@model("PhaseLift, noise")
def phase_lift(n: int, rng: np.random.Generator) -> cp.Problem:
    """min ‖𝒜(X) − seen‖² + λ tr X, X ⪰ 0 (Candès, Strohmer and Voroninski 2013)."""
    X, products, seen = intensities(n, rng)
    noisy = seen + 0.1 * rng.normal(size=len(seen))
    return cp.Problem(cp.Minimize(cp.sum_squares(products - noisy) + 0.5 * cp.real(cp.trace(X))), [X >> 0])


@model("PhaseLift, exact", promised=False)
def exact_phase_lift(n: int, rng: np.random.Generator) -> cp.Problem:
    """min tr X, 𝒜(X) = seen: one point is feasible, of rank 1, and its face is irrational."""
    X, products, seen = intensities(n, rng)
    return cp.Problem(cp.Minimize(cp.real(cp.trace(X))), [X >> 0, products == seen])


def measurements(n: int, rng: np.random.Generator) -> tuple[cp.Variable, np.ndarray, np.ndarray, list[cp.Constraint]]:
    """A density matrix of order n/2, observables, one less than its numbers, their noisy values for a pure state, and what states obey."""
    order = n // HERMITIAN
    A = observables(rng, order, order**2 - 1)
    values = np.real(np.einsum("kij,ji->k", A, pure_state(rng, order))) + 0.1 * rng.normal(size=len(A))
    X = cp.Variable((order, order), hermitian=True)
    return X, A, values, [X >> 0, cp.real(cp.trace(X)) == 1]


@model("tomography, least squares")
def state_tomography(n: int, rng: np.random.Generator) -> cp.Problem:
    """min Σ(tr A_kX − y_k)² over states (Hradil 1997)."""
    X, A, values, rows = measurements(n, rng)
    return cp.Problem(cp.Minimize(cp.sum_squares(traces(A, X) - values)), rows)


@model("tomography, likelihood")
def likely_state(n: int, rng: np.random.Generator) -> cp.Problem:
    """max Σ f_k log a_k*Xa_k over states, counts f_k (Hradil 1997)."""
    order = n // HERMITIAN
    A = rng.normal(size=(4 * order, order)) + 1j * rng.normal(size=(4 * order, order))
    products = squares(A)
    chances = np.real(products @ pure_state(rng, order).ravel())
    counts = rng.poisson(100 * chances / chances.sum()) + 1
    X = cp.Variable((order, order), hermitian=True)
    likelihood = counts @ cp.log(cp.real(products @ cp.vec(X, order="C"))) / counts.sum()
    return cp.Problem(cp.Maximize(likelihood), [X >> 0, cp.real(cp.trace(X)) == 1])


@model("ground state")
def least_energy(n: int, rng: np.random.Generator) -> cp.Problem:
    """min tr HX over states, of a bounded second observable."""
    order = n // HERMITIAN
    A = observables(rng, order, 2)
    X = cp.Variable((order, order), hermitian=True)
    energy, other = traces(A[:1], X), traces(A[1:], X)
    return cp.Problem(cp.Minimize(cp.sum(energy)), [X >> 0, cp.real(cp.trace(X)) == 1, other >= 0.5])


@model("state discrimination")
def state_discrimination(n: int, rng: np.random.Generator) -> cp.Problem:
    """max ⅓Σ tr ρ_kM_k, M_k ⪰ 0, ΣM_k = I, of three states (Eldar, Megretski and Verghese 2003)."""
    order = n // HERMITIAN
    halves = rng.normal(size=(3, order, 2)) + 1j * rng.normal(size=(3, order, 2))
    states = halves @ halves.conj().transpose(0, 2, 1) / np.sum(np.abs(halves) ** 2, axis=(1, 2))[:, None, None]
    M = [cp.Variable((order, order), hermitian=True) for _ in range(2)]
    every = [*M, np.eye(order) - M[0] - M[1]]
    right = sum(cp.sum(traces(state[None], each)) for state, each in zip(states, every, strict=True)) / 3
    return cp.Problem(cp.Maximize(right), [each >> 0 for each in every])


@model("optimal power flow")
def power_flow(n: int, rng: np.random.Generator) -> cp.Problem:
    """min losses, W ⪰ 0 in place of vv*, n/2 buses of which every third has a plant (Lavaei and Low 2012)."""
    buses = n // HERMITIAN
    tails, heads = np.nonzero(edges(rng, buses, 0.2))
    incidence = np.eye(buses)[tails] - np.eye(buses)[heads]
    Y = incidence.T @ np.diag(1 / (rng.uniform(0.01, 0.03, len(tails)) + 1j * rng.uniform(0.05, 0.15, len(tails)))) @ incidence
    W = cp.Variable((buses, buses), hermitian=True)
    power, size = cp.sum(cp.multiply(Y.conj(), W), axis=1), cp.real(cp.diag(W))
    plants = np.arange(buses) % 3 == 0
    load = rng.uniform(0.05, 0.15, buses)
    rows = [W >> 0, size >= 0.81, size <= 1.21, cp.real(power)[~plants] == -load[~plants], cp.imag(power)[~plants] == -0.3 * load[~plants]]
    made = cp.real(power)[plants] + load[plants]
    return cp.Problem(cp.Minimize(cp.sum(made)), [*rows, made >= 0, made <= 2])


@model("maximal entropy")
def maximal_entropy(n: int, rng: np.random.Generator) -> cp.Problem:
    """max −tr X log X over real states of order n/2 whose energy is at most half of the least."""
    order = n // ENTROPY
    H, X = symmetric(rng, order), cp.Variable((order, order), PSD=True)
    energy = cp.sum(cp.multiply(H, X))
    return cp.Problem(cp.Maximize(cp.von_neumann_entr(X)), [cp.trace(X) == 1, energy <= np.linalg.eigvalsh(H)[0] / 2])


@model("nearest state, relative entropy")
def nearest_state(n: int, rng: np.random.Generator) -> cp.Problem:
    """min tr X(log X − log C) over real states of order n/5 whose energy is at most halfway from that of C to the least (Umegaki 1962)."""
    order = n // KRONECKER
    half = rng.normal(size=(order, 2 * order))
    C = half @ half.T
    C, H = C / np.trace(C), symmetric(rng, order)
    X = cp.Variable((order, order), symmetric=True)
    least = (np.linalg.eigvalsh(H)[0] + np.sum(H * C)) / 2
    return cp.Problem(cp.Minimize(cp.quantum_rel_entr(X, C)), [cp.trace(X) == 1, cp.sum(cp.multiply(H, X)) <= least])
