r"""The one equation behind every M-power RLS fit, and its root.

For m ≥ 1 the minimiser f = Σ a_j k(·, x_j) ≠ 0 of  (1/n) ‖y − Ka‖² + λ (aᵀKa)^{m/2}  has a = (K + μI)⁻¹ y, where μ solves

    μ = (n λ m / 2) t(μ)^{m−2},      t(μ)² = aᵀKa = Σ d_i b_i² / (d_i + μ)².

In s = log μ this is G(s) = s − (m − 2) log t − κ = 0. With the weights q_i ∝ d_i b_i² / (d_i + μ)² and w = E_q[μ / (d + μ)] in [0, 1],

    G′ = (1 − w) + (m − 1) w   lies between 1 and m − 1,

so the root is unique for m > 1, and one value of G brackets it. Further 1/t is a concave function of μ, with the tangent
(D + μ) / A,  D = E_q[d / (d + μ)] / E_q[1 / (d + μ)],  A = t / E_q[1 / (d + μ)].  The iteration replaces t in the equation by A / (D + μ)
and solves that scalar equation. After the first step it is monotone, because a tangent lies above a concave function: towards the root from
above for m < 2, from below for m > 2. It converges quadratically. Each evaluation costs O(n); there are two or three of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.core.errors import InvalidProblem
from simopt.solvers.squares.spectrum import EPSILON, Spectrum

EPS = EPSILON
LIMIT = 200  # evaluations; the safeguard halves a bracket, so this is never reached


@kernel
def log_sum(x: float, y: float) -> float:
    """log(e^x + e^y)."""
    if x < y:
        return y + math.log1p(math.exp(x - y))
    return x + math.log1p(math.exp(y - x))


@kernel(any_order=True)
def path_point(values: Array, energies: Array, s: float) -> tuple[float, float, float, float, float]:
    """(log t, w, log D, log A, ‖y − Ka‖² without the null space) at μ = e^s, natural units; μ itself is never formed when it is large.

    A sum of n positive terms has a relative error of at most about n ε in any order, and no certificate rests on this order.
    """
    residual = 0.0
    norm = 0.0
    first = 0.0
    second = 0.0
    if s <= 0.0:
        mu = math.exp(s)
        for i in range(values.size):
            p = 1.0 / (values[i] + mu)
            x = energies[i] * p * p
            y = x * values[i]
            residual += x
            norm += y
            first += y * p
            second += y * p * values[i]
        residual *= mu * mu
        w = mu * first / norm
        log_t = 0.5 * math.log(norm)
        return log_t, w, math.log(second / first), log_t + math.log(norm / first), residual
    inverse = math.exp(-s)
    for i in range(values.size):
        p = 1.0 / (1.0 + values[i] * inverse)
        x = energies[i] * p * p
        y = x * values[i]
        residual += x
        norm += y
        first += y * p
        second += y * p * values[i]
    log_t = 0.5 * math.log(norm)
    return log_t - s, first / norm, math.log(second / first), log_t + math.log(norm / first), residual


@kernel
def model_root(kappa: float, m: float, log_a: float, log_d: float) -> float:
    """The s with s − (m − 2) (log A − log(D + e^s)) = κ. A scalar Newton iteration that is monotone from its start."""
    if m == 1.0:
        slack = kappa - log_a
        return log_d + slack - math.log(-math.expm1(slack)) if slack < 0.0 else math.inf
    low = kappa + (m - 2.0) * (log_a - log_d)  # root if μ were far below D
    high = (kappa + (m - 2.0) * log_a) / (m - 1.0)  # root if μ were far above D
    s = min(low, high) if m > 2.0 else max(low, high)
    for _ in range(100):
        total = log_sum(log_d, s)
        value = s - (m - 2.0) * (log_a - total) - kappa
        slope = 1.0 + (m - 2.0) * math.exp(s - total)
        step = value / slope
        s -= step
        if abs(step) <= EPS * max(1.0, abs(s)) or (m > 2.0) != (value > 0.0):
            break  # the start lies on the side from which Newton is monotone: a reversal is rounding
    return s


@kernel
def tangent_secular(
    values: Array, energies: Array, kappa: float, m: float, log_a: float, log_d: float
) -> tuple[float, float, float, float, float, int, bool]:
    """(s, log t, log A, log D, residual, evaluations, converged) from a starting tangent. `residual` belongs to the last evaluated s."""
    smallest = min(1.0, m - 1.0)
    low = -math.inf
    high = math.inf
    s = model_root(kappa, m, log_a, log_d)
    log_t = 0.0
    residual = 0.0
    for count in range(1, LIMIT + 1):
        log_t, w, log_d, log_a, residual = path_point(values, energies, s)
        value = s - (m - 2.0) * log_t - kappa
        noise = EPS * (abs(s) + abs(kappa) + abs(m - 2.0) * (1.0 + abs(log_t)))
        bound = s - value / smallest if smallest > 0.0 else -math.copysign(math.inf, value)
        if value > 0.0:
            high = s
            low = max(low, bound)
        else:
            low = s
            high = min(high, bound)
        proposal = model_root(kappa, m, log_a, log_d)
        slope = 1.0 + (m - 2.0) * w
        step = proposal - s
        # |log t − model| ≤ (3/8) step², since both second derivatives lie in [−1/2, 1/4]; next to m = 2 only log t feels it.
        off = 0.375 * step * step
        rounds = abs(m - 2.0) * off <= 0.25 * EPS * slope * max(1.0, abs(proposal)) and off <= 0.25 * EPS * max(1.0, abs(log_t))
        if abs(value) <= noise or rounds:
            return proposal, log_a - log_sum(log_d, proposal), log_a, log_d, residual, count, True
        slack = 4.0 * EPS * (abs(s) + 1.0)
        if proposal < low - slack or proposal > high + slack or (count > 20 and count % 2 == 0):
            proposal = 0.5 * (low + high) if math.isfinite(low) and math.isfinite(high) else proposal
        if proposal == s:
            return s, log_t, log_a, log_d, residual, count, True
        s = proposal
    return s, log_t, log_a, log_d, residual, LIMIT, False


@dataclass(frozen=True)
class SecularRoot:
    """The root of the secular equation in the units of the data: log μ, log ‖f‖ (−∞ for f = 0), and how many times t(μ) was evaluated."""

    log_mu: float
    log_norm: float
    evaluations: int

    @property
    def zero(self) -> bool:
        """Whether f = 0."""
        return self.log_norm == -math.inf


def asymptotic_tangent(spectrum: Spectrum) -> tuple[float, float]:
    """(log A, log D) of the tangent of 1/t at μ = ∞, which needs no evaluation of t."""
    weights = spectrum.values * spectrum.energies
    total = float(np.sum(weights))
    return 0.5 * math.log(total), math.log(float(weights @ spectrum.values) / total)


def vanishes(spectrum: Spectrum, kappa: float, power: float) -> bool:
    """Whether f = 0 is the minimiser: Ky = 0; or m = 1 and λ ≥ (2/n) √(yᵀKy)."""
    return spectrum.empty or (power == 1.0 and kappa >= asymptotic_tangent(spectrum)[0])


def secular_root(spectrum: Spectrum, regularization: float, power: float) -> SecularRoot:
    r"""μ and ‖f‖ of the minimiser of (1/n) ‖y − Ka‖² + λ (aᵀKa)^{m/2}, m ≥ 1.

    O(n) time per evaluation of t, no memory. The relative error of μ is a few ε / min(1, m − 1), which is the conditioning of the equation.
    log μ and log ‖f‖ are returned, because for m near 1 both μ and 1/‖f‖ can leave the range of float64. For m = 2, μ = n λ.
    For f = 0, log μ is the limit −∞ (m > 2), log(n λ) (m = 2) or +∞ (m < 2).

    Raises
    ------
    InvalidProblem
        λ ≤ 0 or m < 1 (see `stationary_points` for m < 1).
    """
    if not (regularization > 0.0 and math.isfinite(regularization)):
        raise InvalidProblem(f"regularization: {regularization} given, a finite number > 0 needed")
    if not (power >= 1.0 and math.isfinite(power)):
        raise InvalidProblem(f"power: {power} given, a finite number ≥ 1 needed; for powers below 1 use stationary_points")
    kappa = spectrum.log_level(regularization, power)
    if vanishes(spectrum, kappa, power):
        limit = kappa + spectrum.log_size if power == 2.0 else math.copysign(math.inf, 2.0 - power)
        return SecularRoot(limit, -math.inf, 0)
    if power == 2.0:
        log_t = path_point(spectrum.values, spectrum.energies, kappa)[0]
        return SecularRoot(kappa + spectrum.log_size, log_t + spectrum.unit, 1)
    s, log_t, _, _, _, count, converged = tangent_secular(spectrum.values, spectrum.energies, kappa, power, *asymptotic_tangent(spectrum))
    if not converged:
        raise ArithmeticError(f"the secular equation did not converge in {count} evaluations (λ = {regularization}, m = {power})")
    return SecularRoot(s + spectrum.log_size, log_t + spectrum.unit, count)
