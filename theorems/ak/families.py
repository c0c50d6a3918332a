"""The learners of the paper as families: KRR, KRR with λ/|Z|, M-RLSR, and their Ivanov (ball) forms, by fast solvers.

Every function carries the radius that its certificate gives: the duality gap, evaluated without cancellation with K itself, through
`Problem.distance`. The fast families cost one eigendecomposition per training set and O(n²) per parameter.
"""

from __future__ import annotations

import math
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
import scipy.optimize

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.equivalence.family import Family, family
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.model.problem import Problem
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty
from simopt.solvers.squares.secular import SecularRoot, path_point, secular_root
from simopt.solvers.squares.spectrum import Eigensystem, Spectrum
from simopt.solving.entry_points import certify

ROUNDING = 8 * EPS  # a certificate evaluated in floats is trusted to this share of ‖f‖

_systems: WeakKeyDictionary[TrainingSet, Eigensystem] = WeakKeyDictionary()
_ridges: WeakKeyDictionary[TrainingSet, KernelRidge] = WeakKeyDictionary()


def eigensystem(Z: TrainingSet) -> Eigensystem:
    """Eigendecomposition of K with the targets' coordinates, from the training set's own, in the form that `simopt.solvers` takes."""
    if Z not in _systems:
        _systems[Z] = Eigensystem(Z.spectrum.vectors, Z.spectrum.values, Z.coordinates)
    return _systems[Z]


def ridge_problem(Z: TrainingSet, regularization: float) -> KernelRidge:
    """KRR on Z; the Gram matrix is validated once per training set."""
    if Z not in _ridges:
        _ridges[Z] = KernelRidge(Z.gram, Z.targets, 1.0)
    return replace(_ridges[Z], regularization=regularization)


def power_problem(Z: TrainingSet, regularization: float, power: float) -> MPowerRLS:
    """M-RLSR on Z, on the same validated Gram matrix."""
    return MPowerRLS(ridge_problem(Z, 1.0).gram, Z.targets, PowerPenalty(regularization, power))


def certified(problem: Problem, Z: TrainingSet, alpha: Array, log_norm: float | None = None, bound: float = math.inf) -> KernelFunction:
    """Σ_j α_j k(·, x_j) with the radius of its certificate on the problem, or a smaller bound on it that is known otherwise."""
    point = {"alpha": alpha}
    radius = problem.distance(certify(problem, point).gap, point)
    f = Z.function(alpha, log_norm=log_norm)
    return replace(f, error=min(radius, bound) + ROUNDING * f.norm())


def residual_radius(Z: TrainingSet, alpha: Array, mu: float) -> float:
    """Bound on ‖Σ α_j k(·, x_j) − f_μ‖, f_μ the KRR function with nλ = μ: ‖K^{1/2} (K + μI)⁻¹ r‖ with r = y − (K + μI) α.

    It is evaluated in the eigenbasis, where eigenvalues that count as 0 enter with the rounding that they may hide. The rounding of r
    itself is bounded by its size times the largest weight √d/(d + μ) that occurs. O(n²).
    """
    d = Z.spectrum.values
    largest = float(d[-1])
    hidden = np.maximum(d, Z.n * EPS * largest)
    weights = np.sqrt(hidden) / (hidden + mu)
    residual = Z.targets - Z.gram @ alpha - mu * alpha
    rounding = 4 * EPS * (float(np.linalg.norm(Z.targets)) + (largest + mu) * float(np.linalg.norm(alpha)))
    return float(np.linalg.norm(weights * (Z.spectrum.vectors.T @ residual))) + float(np.max(weights)) * rounding


def secular_radius(Z: TrainingSet, alpha: Array, root: SecularRoot, regularization: float, power: float) -> float:
    r"""Bound on ‖f − f*‖ for M-RLSR's f from what is left of its two equations; sharp also where f is 10^-50, as happens for m near 1.

    With e = ‖f − f_μ‖ from the linear system, the secular equation at ‖f_μ‖ is off by at most |G| + |m − 2| e/‖f‖. So log μ is off by at
    most δ, which is that over min(1, m − 1). And ‖d f_μ / d log μ‖ ≤ ‖f_μ‖, so f_μ by (e^δ − 1) ‖f_μ‖.
    """
    if not (abs(root.log_mu) < 600.0 and root.log_norm > -600.0):
        return math.inf
    t = math.exp(root.log_norm)
    first = residual_radius(Z, alpha, math.exp(root.log_mu))
    level = math.log(Z.n * power / 2) + math.log(regularization)
    off = abs(root.log_mu - (power - 2) * root.log_norm - level) + abs(power - 2) * first / t
    off += 4 * EPS * (abs(root.log_mu) + abs(level) + abs(power - 2) * abs(root.log_norm))
    shift = off / min(1.0, power - 1.0)
    return first + math.expm1(min(shift, 700.0)) * (t + first)


@family("kernel-ridge", summary="KRR: (1/n) Σ (y − f(x))² + λ ‖f‖²")
def kernel_ridge() -> Family:
    """KRR, equation (2) of the paper."""
    return m_power_rls(2.0)


@family("kernel-ridge-over-n", summary="modified KRR: (1/n) Σ (y − f(x))² + (λ/n) ‖f‖²")
def kernel_ridge_over_n() -> Family:
    """KRR with λ/|Z| in the place of λ (the example after Definition 4.2)."""
    ridge = kernel_ridge()
    return Family("kernel-ridge-over-n", lambda lam, Z: ridge.fit(lam / Z.n, Z))


@family("m-power-rls", summary="M-RLSR(m): (1/n) Σ (y − f(x))² + λ ‖f‖^m, m > 1")
def m_power_rls(power: float = 3.0) -> Family:
    """M-RLSR for one m > 1, equation (8) of the paper, through the root of its secular equation.

    Raises
    ------
    InvalidProblem
        for m ≤ 1, where the path contains f = 0 for all large λ (m = 1) or the problem is not convex.
    """
    m = validate.positive("power", power)
    if m <= 1:
        raise InvalidProblem(f"power: m = {m:g}; the family is defined for m > 1")

    def fit(lam: float, Z: TrainingSet) -> KernelFunction:
        """f at λ from the root of the secular equation, with a proven distance to the optimum."""
        system = eigensystem(Z)
        root = secular_root(system.spectrum, lam, m)
        problem = ridge_problem(Z, lam) if m == 2 else power_problem(Z, lam, m)
        if root.zero:
            return Z.function(np.zeros(Z.n))
        alpha = system.coefficients(root.log_mu)
        return certified(problem, Z, alpha, root.log_norm, secular_radius(Z, alpha, root, lam, m))

    return Family("kernel-ridge" if m == 2 else f"m-power-rls({m:g})", fit)


@family("kernel-ridge-ball", summary="Ivanov KRR: (1/n) Σ (y − f(x))² subject to ‖f‖ ≤ r; of several solutions the one of least norm")
def kernel_ridge_ball() -> Family:
    """Ivanov's form of KRR. For r ≥ ‖f_0‖, the least norm of a least-squares fit, the solution is f_0 whatever r."""
    return Family("kernel-ridge-ball", fit_ball)


@family("m-power-rls-ball", summary="Ivanov M-RLSR(m): (1/n) Σ (y − f(x))² subject to ‖f‖^m ≤ ρ")
def m_power_rls_ball(power: float = 3.0) -> Family:
    """Ivanov's form of M-RLSR: the ball of radius ρ^{1/m}."""
    m = validate.positive("power", power)
    return Family(f"m-power-rls-ball({m:g})", lambda level, Z: fit_ball(level ** (1.0 / m), Z))


def least_norm(Z: TrainingSet) -> float:
    """‖f_0‖ = √(Σ z_i²/d_i over d_i > 0), the norm of the smallest least-squares fit and the supremum of the norms on the KRR path."""
    d = Z.spectrum.values
    positive = d > 0
    return float(np.linalg.norm(Z.coordinates[positive] / np.sqrt(d[positive])))


def fit_ball(radius: float, Z: TrainingSet) -> KernelFunction:
    """argmin (1/n) Σ (y − f(x))² subject to ‖f‖ ≤ r.

    The KRR function with ‖f_μ‖ = r; f_0 if r ≥ ‖f_0‖. Its radius: with δ the relative error of ‖f_μ‖ = r and q the weights of ‖f_μ‖² over
    the eigenvalues, log μ is off by δ / E_q[u], u = μ/(d + μ). This moves f by √E_q[u²] δ / E_q[u] relative to r; to this comes the
    radius of the KRR certificate at μ, which enters δ too.
    """
    system = eigensystem(Z)
    if system.spectrum.empty:
        return Z.function(np.zeros(Z.n))
    floor = EPS * Z.n * float(Z.spectrum.values[-1]) / float(np.min(Z.spectrum.values[Z.spectrum.values > 0]))
    if radius >= least_norm(Z):
        return Z.function(system.least_norm(), error=floor * least_norm(Z))
    log_mu = on_sphere(system.spectrum, math.log(radius))
    alpha = system.coefficients(log_mu)
    f = certified(ridge_problem(Z, math.exp(log_mu) / Z.n), Z, alpha, bound=residual_radius(Z, alpha, math.exp(log_mu)))
    off = abs(f.norm() - radius) / radius + f.error / radius + ROUNDING
    d = Z.spectrum.values
    share = math.exp(log_mu) / (d + math.exp(log_mu))
    weights = d * Z.coordinates**2 / (d + math.exp(log_mu)) ** 2
    weights = weights / np.sum(weights)
    stretch = math.sqrt(float(weights @ share**2)) / float(weights @ share)
    return replace(f, error=f.error + 2 * stretch * off * radius)


def on_sphere(spectrum: Spectrum, log_radius: float) -> float:
    """log μ with ‖f_μ‖ = r, for r < ‖f_0‖: ‖f_μ‖ falls from ‖f_0‖ to 0, and never by more than μ grows."""
    goal = log_radius - spectrum.unit

    def excess(s: float) -> float:
        return path_point(spectrum.values, spectrum.energies, s)[0] - goal

    low, high = -40.0, 1.0
    while excess(high) > 0:
        high += max(1.0, excess(high))
    while excess(low) < 0 and low > -700.0:
        low *= 2
    if excess(low) <= 0:
        return low + spectrum.log_size
    return float(scipy.optimize.brentq(excess, low, high, xtol=1e-15, rtol=4 * EPS, maxiter=300)) + spectrum.log_size
