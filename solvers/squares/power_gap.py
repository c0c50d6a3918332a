r"""The duality gap of M-power RLS as a sum of two terms that are never negative and never the difference of large numbers.

P(a) = (1/n) ‖y − Ka‖² + λ tᵐ with t² = aᵀKa has the Fenchel dual  D(v) = yᵀv − (n/4) ‖v‖² − (m − 1) λ (√(vᵀKv) / (λ m))^{m/(m−1)}.
At v = (2μ/n) a, for any a and any μ > 0,

    P(a) − D(v) = (1/n) ‖y − (K + μI) a‖² + λ tᵐ φ(ρ),   ρ = 2 μ t^{2−m} / (n λ m),   φ(ρ) = 1 + (m − 1) ρ^{m/(m−1)} − m ρ ≥ 0.

(Expand the squares; the cross terms vanish because yᵀv = (y − Ka)ᵀv + vᵀKa.) For m = 1 the last term of D is the constraint
√(vᵀKv) ≤ λ, that is ρ ≤ 1, and v is scaled into it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.model.gap_unit import ratio

SERIES = 0.05  # below this |m′ log ρ| the difference of exponentials would lose digits


@kernel
def young(log_rho: float, power: float) -> float:
    """φ(ρ) = 1 + (m − 1) ρ^{m/(m−1)} − m ρ for m > 1, to full relative accuracy near ρ = 1 too; inf if it overflows."""
    conjugate = power / (power - 1.0)
    x = conjugate * log_rho
    if x > 700.0:
        return math.inf
    if abs(x) >= SERIES:
        return max(0.0, (power - 1.0) * (math.expm1(x) - conjugate * math.expm1(log_rho)))
    # (m − 1) Σ_{k ≥ 2} (x^k − m′ (log ρ)^k) / k!, the terms k = 1 cancel exactly
    total = 0.0
    first, second, factorial = x, log_rho, 1.0
    for k in range(2, 12):
        first, second, factorial = first * x, second * log_rho, factorial * k
        total += (first - conjugate * second) / factorial
    return max(0.0, (power - 1.0) * total)


@dataclass(frozen=True)
class GapBracket:
    """Value of the primal at a point and the gap to the dual: upper − gap ≤ optimum ≤ upper."""

    upper: float
    gap: float
    norm: float

    @property
    def gap_over_upper(self) -> float:
        """gap / |upper|, with 0/0 = 0."""
        return ratio(self.gap, abs(self.upper))


def power_bracket(
    gram: Array, a: Array, targets: Array, log_mu: float, regularization: float, power: float, dual: Array | None = None
) -> GapBracket:
    """Value and gap of the point a with the dual point v = (2μ/n) a; one product with K, n² flops.

    With another dual point v (two products) s = √(vᵀKv) takes the place of (2μ/n) t in ρ = s / (λ m t^{m−1}). There is then a third term,
    st − vᵀKa = (st/2) ‖v/s − a/t‖²_K. A point with aᵀKa = 0 stands for f = 0 and is judged with v = (2/n) y, the limit μ → ∞.
    """
    n = targets.size
    image = symmetric_product(gram, a)
    residual = targets - image
    norm = math.sqrt(max(0.0, float(a @ image)))
    if norm == 0.0:
        return _bracket_at_zero(gram, targets, regularization, power)
    upper = float(residual @ residual) / n + regularization * norm**power
    angle, log_rho = 0.0, math.log(2.0) + log_mu + (2.0 - power) * math.log(norm)
    log_rho -= math.log(n) + math.log(regularization) + math.log(power)
    if dual is None:
        dual = (2.0 / n * math.exp(min(log_mu, 700.0))) * a
    else:
        pull = symmetric_product(gram, dual)
        level = math.sqrt(max(float(dual @ pull), 1e-300))
        log_rho = math.log(level) - math.log(regularization) - math.log(power) - (power - 1.0) * math.log(norm)
        angle = 0.5 * level * norm * max(0.0, float((dual / level - a / norm) @ (pull / level - image / norm)))
    shrink = math.exp(min(0.0, -log_rho)) if power == 1.0 else 1.0  # for m = 1, ρ ≤ 1 is a constraint
    slack = 1.0 - shrink * math.exp(log_rho) if power == 1.0 else young(log_rho, power)
    mismatch = residual - (0.5 * n * shrink) * dual
    gap = float(mismatch @ mismatch) / n + regularization * norm**power * slack + shrink * angle
    if math.isnan(gap):  # 0 · ∞ at powers whose logarithms float64 does not hold: nothing is known
        gap = math.inf
    return GapBracket(upper, gap, norm)


def touching(gram: Array, a: Array, regularization: float) -> float:
    """For m = 1 the log μ at which v = (2μ/n) a has √(vᵀKv) = λ, with aᵀKa as it is computed; −∞ if that is 0. One product.

    The gap has λt (1 − ρ), so that a rounding error of t² would count once, while one of μ counts by its square.
    """
    square = float(a @ symmetric_product(gram, a))
    return math.log(0.5 * a.size * regularization) - 0.5 * math.log(square) if square > 0.0 else -math.inf


def _bracket_at_zero(gram: Array, targets: Array, regularization: float, power: float) -> GapBracket:
    n = targets.size
    scale = float(targets @ targets) / n
    level = 2.0 / n * math.sqrt(max(0.0, float(targets @ symmetric_product(gram, targets))))  # √(vᵀKv)
    if level == 0.0:
        return GapBracket(scale, 0.0, 0.0)
    if power == 1.0:
        theta = min(1.0, regularization / level)  # v is scaled by θ, and D = (2θ − θ²) ‖y‖²/n
        return GapBracket(scale, (1.0 - theta) ** 2 * scale, 0.0)
    exponent = power / (power - 1.0) * (math.log(level) - math.log(regularization) - math.log(power))
    exponent += math.log(power - 1.0) + math.log(regularization)
    return GapBracket(scale, math.exp(exponent) if exponent < 700.0 else math.inf, 0.0)


def symmetric_product(gram: Array, a: Array) -> Array:
    """Ka from one triangle of K, without copying K when it is contiguous; n² flops of reading half the matrix."""
    from scipy.linalg.blas import dsymv

    result: Array = dsymv(1.0, column_major(gram), a, lower=1)
    return result


def column_major(gram: Array) -> Array:
    """A symmetric matrix as BLAS wants it: its transpose if that is free, else a copy."""
    if gram.flags.f_contiguous:
        return gram
    return np.asfortranarray(gram.T)
