r"""The constrained (Ivanov) form: min (1/n) ‖y − Ka‖² subject to ‖f‖ = √(aᵀKa) ≤ B.

If the least-squares fit of smallest norm, a₀ = K⁺y, has norm ≤ B, it is the solution and the constraint's multiplier is 0. Otherwise
a = (K + μI)⁻¹ y with t(μ) = B. Since 1/t is concave and increasing in μ, Newton's method on 1/t − 1/B increases monotonically to the root
from any start below it. The larger of two tangents, those at μ = 0 and at μ = ∞, is such a start. For eigenvalues over many decades its
first steps can be short, so that a bracket in log μ is kept and bisected whenever a step does not halve it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.core.errors import InvalidProblem
from simopt.solvers.squares.secular import LIMIT, SecularRoot, asymptotic_tangent, path_point
from simopt.solvers.squares.spectrum import EPSILON, Eigensystem, Spectrum, decompose


@kernel
def _norm_root(values: Array, energies: Array, level: float, low: float, high: float) -> tuple[float, float, int]:
    """(s, log t, evaluations) with log t(e^s) = level, for low ≤ s ≤ high."""
    s = low
    log_t = 0.0
    for count in range(1, LIMIT + 1):
        log_t, w, log_d, _, _ = path_point(values, energies, s)
        excess = log_t - level
        if excess > 0.0:
            low = max(low, s)
        else:
            high = min(high, s)
        # the tangent (D + μ)/A of 1/t reaches e^−level at μ = A e^−level − D = e^s + (D + e^s) (e^excess − 1)
        change = math.expm1(excess) * (1.0 + math.exp(min(log_d - s, 700.0)))
        proposal = s + math.log1p(change) if change > -1.0 else low
        if abs(excess) <= 4.0 * EPSILON * (1.0 + abs(level)) or abs(proposal - s) <= EPSILON * max(1.0, abs(s)):
            return proposal, log_t - w * (proposal - s), count
        width = high - low
        if not low < proposal < high or (count > 8 and count % 2 == 0):
            proposal = 0.5 * (low + high)
        if proposal == s or width <= EPSILON * max(1.0, abs(s)):
            return s, log_t, count
        s = proposal
    return s, log_t, LIMIT


def norm_root(spectrum: Spectrum, norm_bound: float) -> SecularRoot:
    """μ with ‖f_μ‖ = B; log μ = −∞ if the least-squares fit of smallest norm lies inside the ball. O(n) an evaluation.

    Raises
    ------
    InvalidProblem
        B < 0 or not finite.
    """
    if not (norm_bound >= 0.0 and math.isfinite(norm_bound)):
        raise InvalidProblem(f"norm bound: {norm_bound} given, a finite number ≥ 0 needed")
    if spectrum.empty:
        return SecularRoot(-math.inf, -math.inf, 0)
    if norm_bound == 0.0:
        return SecularRoot(math.inf, -math.inf, 0)
    level = math.log(norm_bound) - spectrum.unit
    free = 0.5 * math.log(float(np.sum(spectrum.energies / spectrum.values)))
    if level >= free:
        return SecularRoot(-math.inf, free + spectrum.unit, 1)
    log_a, log_d = asymptotic_tangent(spectrum)
    high = log_a - level  # t ≤ A/μ
    slack = high - log_d
    # from below: the tangents at μ = ∞ and at μ = 0 of the concave function 1/t, both of which reach 1/B too early
    low = log_d + math.log(math.expm1(slack)) if 0.0 < slack < 30.0 else (high - 1e-12 if slack >= 30.0 else -math.inf)
    weights = spectrum.energies / spectrum.values
    start = math.log(float(np.sum(weights)) / float(np.sum(weights / spectrum.values)))
    low = max(low, start + math.log(math.expm1(min(free - level, 700.0))))
    s, log_t, count = _norm_root(spectrum.values, spectrum.energies, level, min(low, high), high)
    return SecularRoot(s + spectrum.log_size, log_t + spectrum.unit, count + 1)


@dataclass(frozen=True, eq=False)
class ConstrainedFit:
    r"""Solution of the constrained form.

    Attributes
    ----------
    coefficients : Array (n,)
        a, with √(aᵀKa) ≤ B up to rounding.
    dual : Array (n,)
        v = (2/n) (y − Ka), the multipliers of the rows f = Ka, from the eigenbasis (no cancellation).
    log_mu, norm : float
        the ridge parameter of the same fit (−∞: the constraint is not active); ‖f‖.
    gap : float
        (1/n) ‖y − Ka − (n/2) v‖² + σ (B − t) + (σt − vᵀKa),  σ = √(vᵀKv), t = ‖f‖: a bound on the distance to the optimum.
    upper : float
        (1/n) ‖y − Ka‖².
    """

    coefficients: Array
    dual: Array
    log_mu: float
    norm: float
    upper: float
    gap: float


def constrained_fit(gram: npt.ArrayLike, targets: npt.ArrayLike, norm_bound: float) -> ConstrainedFit:
    """Solve the constrained form by one eigendecomposition: about 9 n³ flops, 3 n² numbers. The inputs are not changed.

    Raises
    ------
    InvalidProblem
        data that are not finite or disagree in size, B < 0 or not finite.
    """
    norm_bound = validate.nonnegative("norm bound", norm_bound)
    K, y = validate.kernel_data(gram, targets)
    return spectral_constrained_fit(decompose(K, y), K, y, norm_bound)


def spectral_constrained_fit(system: Eigensystem, gram: Array, targets: Array, norm_bound: float) -> ConstrainedFit:
    """The same from an eigendecomposition that is there already; 6 n² flops."""
    from simopt.solvers.squares.power_gap import symmetric_product

    n = targets.size
    root = norm_root(system.spectrum, norm_bound)
    if root.zero:
        a = np.zeros_like(targets)
    else:
        a = system.least_norm() if root.log_mu == -math.inf else system.coefficients(root.log_mu)
    image = symmetric_product(gram, a)
    norm = math.sqrt(max(0.0, float(a @ image)))
    if norm > norm_bound:  # by rounding
        a, image, norm = a * (norm_bound / norm), image * (norm_bound / norm), norm_bound
    residual = targets - image
    dual = system.residual(root.log_mu) * (2.0 / n)
    pull = symmetric_product(gram, dual)
    sigma = math.sqrt(max(0.0, float(dual @ pull)))
    mismatch = residual - 0.5 * n * dual
    gap = float(mismatch @ mismatch) / n + sigma * max(0.0, norm_bound - norm) + _angle(gram, a, dual, norm, sigma)
    return ConstrainedFit(a, dual, root.log_mu, norm, float(residual @ residual) / n, gap)


def _angle(gram: Array, a: Array, v: Array, t: float, sigma: float) -> float:
    """σt − vᵀKa = (σt/2) ‖v/σ − a/t‖²_K, without cancellation."""
    from simopt.solvers.squares.power_gap import symmetric_product

    if t == 0.0 or sigma == 0.0:
        return 0.0
    difference = v / sigma - a / t
    return 0.5 * sigma * t * max(0.0, float(difference @ symmetric_product(gram, difference)))
