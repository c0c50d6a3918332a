"""Parts of the two forms of M-RLSR: units of the norm and of the data, and the angle term of the gap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array
from simopt.problems.norms import squares
from simopt.problems.norms.gram_factor import Factor


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
    """Whether st − vᵀKα has a smaller rounding error in floats than the square (t/2s)‖v − (s/t)α‖²_K, by a factor of two at least.

    With [a] = Σ |a_i| √K_ii, an aᵀKb is off by n ε [a][b] at most. So the square is off by [v − (s/t)α]² n ε t/2s, the plain difference
    by [v][α] n ε (st ≤ [v][α]). Off the ball, where Kv is 0 to rounding, s is ε^½‖v‖ and the first is some ε^½, the second some ε.
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
