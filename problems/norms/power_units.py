"""What the two forms of M-RLSR share: units of the norm and of the data, the angle term of the gap, and the distance bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.ground.arrays import Array
from simopt.problems.norms import squares
from simopt.problems.norms.gram_factor import Factor

ROUNDS = 20  # refinements of the distance bound; each is valid by itself


def norm_unit(factor: Factor, targets: Array, strength: float, m: float) -> float:
    """A power of two near an upper bound on ‖u*‖; 1 where ‖u‖^m stays moderate, or would leave the floats.

    ‖u*‖ is at most the norm of the least-squares solution, and λ‖u*‖^m ≤ ‖y‖²/n.
    """
    r = factor.rank
    if m == 1 or m == 2 or r == 0 or not np.any(targets):
        return 1.0
    interpolating = float(np.linalg.norm((factor.vectors[:, :r].T @ targets) / np.sqrt(factor.values[:r])))
    if interpolating == 0.0:
        return 1.0
    energy = (2.0 * math.log(float(np.linalg.norm(targets))) - math.log(len(targets)) - math.log(strength)) / m
    exponent = round(min(math.log(interpolating), energy) / math.log(2.0))
    return math.ldexp(1.0, exponent) if 4.0 < abs(exponent) * m < 900.0 else 1.0


def angle(num: Arithmetic, gram: Array, alpha: Value, v: Value, t: Value, s: Value) -> Value:
    """st − vᵀKα = (t/2s)‖v − (s/t)α‖²_K: what Cauchy–Schwarz leaves; 0 when s or t is 0."""
    if num.upper(t) == 0.0 or num.upper(s) == 0.0:
        return num.lift(0.0)
    if num.lower(t) > 0.0 and num.lower(s) > 0.0:
        ratio = s / t
        if 0.0 < num.lower(ratio) and num.upper(ratio) < math.inf:
            difference = v - alpha * ratio
            if num is not FLOAT or not _cancels_less(gram, alpha, v, difference, ratio):
                return squares.squared_norm(num, gram, difference) / (ratio * 2)
    return num.pos(s * t - num.dot(v, num.matvec(gram, alpha)))


def _cancels_less(gram: Array, alpha: Array, v: Array, difference: Array, ratio: float) -> bool:
    """Whether st − vᵀKα has the smaller rounding error in floats.

    With [a] = Σ |a_i| √K_ii, an aᵀKb is off by n ε [a][b] at most: the square above by [v − (s/t)α]² n ε t/2s, the plain difference by
    [v][α] n ε (st ≤ [v][α]). Off the ball, where Kv is 0 to rounding, s is ε^½‖v‖ and the first is some ε^½, the second some ε.
    """
    size = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    length = float(np.abs(difference) @ size)
    square = length * length / (2.0 * ratio)  # ∞ where it leaves the floats; a power would raise
    return square > 2.0 * float(np.abs(v) @ size) * float(np.abs(alpha) @ size)


def exact_product(x: float, powers: Sequence[tuple[float, float]]) -> float:
    """x Π b^p; for powers of two b only the fractional part of the exponent of two is rounded."""
    x *= math.prod((2.0 * math.frexp(b)[0]) ** p for b, p in powers)
    exponent = sum(p * (math.frexp(b)[1] - 1) for b, p in powers)
    whole = math.floor(exponent)
    if whole > 2200:  # no float brings that back; what does leave float64 is refused by the problem it is meant for
        return math.inf
    return math.ldexp(x * 2.0 ** (exponent - whole), whole)


def units(gram: Array, targets: Array, m: float, *, strength: float = 0.0, radius: float = math.inf) -> tuple[float, float]:
    """Powers of two σ for the targets and of four κ for the kernel, so that conic solvers meet numbers of size 1.

    σ is near max |y_i|, and κ near max K_ii (1 for a Gaussian kernel: the matrix is not copied). Only where ‖u‖^m would leave
    [2^-20, 2^20] is κ chosen so that the solution's norm √κ t/σ is near 1 instead. Its size t is estimated from above by
    λt^m ≤ ‖y‖²/n, by λmt^{m−1} ≤ (2/n)√(yᵀKy), by the norm ‖y‖²/√(yᵀKy) of the function along Ky that reaches y, and by the radius.
    """
    sigma = squares.power_of_two(squares.largest(targets))
    kappa = squares.power_of_four(float(np.max(np.diagonal(gram))))
    y = targets / sigma
    energy = float(y @ (gram @ y)) / kappa
    n, square = len(y), float(y @ y)
    if energy <= 0.0 or square == 0.0:
        return sigma, kappa
    # log2 of t√κ/σ
    sizes = [math.log2(square) - 0.5 * math.log2(energy)]
    if strength > 0.0:
        natural = math.log2(strength) + (m - 2.0) * math.log2(sigma) - 0.5 * m * math.log2(kappa)
        sizes.append((math.log2(square / n) - natural) / m)
        if m > 1:
            sizes.append((math.log2(2.0 / (n * m)) + 0.5 * math.log2(energy) - natural) / (m - 1.0))
    sizes.append(math.log2(radius) / m + 0.5 * math.log2(kappa) - math.log2(sigma))
    size = min(sizes)
    if abs(size) * m > 20.0:
        shift = max(-400, min(400, 2 * round(size)))
        kappa = math.ldexp(kappa, -shift)
    return sigma, kappa


def distance(gap: float, upper: float, t: float | None, strength: float, m: float) -> float:
    r"""R with ‖f − f*‖_H ≤ R, from the gap, P(f) ≤ upper, and t = ‖f‖ (None: unknown).

    Write h = λ‖·‖^m and g for the gap. Since 0 ∈ ∂P(f*) and P − h is convex, g ≥ P(f) − P(f*) ≥ D_h(f, f*), the Bregman divergence.
    (a) Always λ‖f*‖^m ≤ P(f*) ≤ upper, and λt^m ≤ upper, so all norms on the segment from f to f* are ≤ M = (upper/λ)^{1/m}.
    (b) m ≥ 2: ‖(f+f*)/2‖^m + ‖(f−f*)/2‖^m ≤ (‖f‖^m + ‖f*‖^m)/2 (Clarkson; Hilbert space), and P((f+f*)/2) ≥ P(f*), so
        λ(R/2)^m ≤ (P(f) − P(f*))/2 ≤ g/2, that is R ≤ (2^{m−1} g/λ)^{1/m}.
    (c) 1 < m ≤ 2: at norm r the Hessian of h is at least λm(m−1)r^{m−2}, decreasing in r; by (a) and Taylor's formula
        D_h(f, f*) ≥ ½λm(m−1)M^{m−2}R².
    (d) If R ≤ R_k is known, norms on the segment lie in [t − R_k, t + R_k]; the Hessian is at least λm min(1, m−1) r^{m−2} with
        r = t − R_k for m ≥ 2 (where positive) and r = t + R_k for m ≤ 2, so R ≤ √(2g/(λm min(1, m−1) r^{m−2})). Repeat.
    For m ≤ 1 only (a): R ≤ t + M.
    """
    if gap == 0.0 and m > 1:
        return 0.0
    log_strength = math.log(strength)
    if not math.isfinite(upper) or not math.isfinite(gap):
        return math.inf
    bound = math.exp(min((math.log(upper) - log_strength) / m, 700.0)) if upper > 0 else 0.0
    known = bound if t is None else t
    radius = known + bound
    if m <= 1:
        return radius
    log_gap = math.log(gap)
    if m >= 2:
        radius = min(radius, _exp(((m - 1.0) * math.log(2.0) + log_gap - log_strength) / m))
    else:
        radius = min(radius, _curved(log_gap, log_strength, m, max(bound, known)))
    if t is None:
        return radius
    for _ in range(ROUNDS):
        r = t - radius if m >= 2 else t + radius
        if r <= 0.0:
            break
        better = _curved(log_gap, log_strength, m, r)
        if better >= radius * (1.0 - 1e-3):
            radius = min(radius, better)
            break
        radius = better
    return radius


def _curved(log_gap: float, log_strength: float, m: float, r: float) -> float:
    """√(2g/(λm min(1, m−1) r^{m−2}))."""
    if r <= 0.0:
        return math.inf
    return _exp(0.5 * (math.log(2.0) + log_gap - log_strength - math.log(m * min(1.0, m - 1.0)) - (m - 2.0) * math.log(r)))


def _exp(x: float) -> float:
    return math.exp(x) if x < 709.0 else math.inf
