r"""Explicit bounds behind Theorems 1 and 2: uniform over all u ∈ 𝒰 and ‖w‖ ≤ R, in any dimension, each with probability ≥ 1 − δ.

Covers. The nondecreasing 1-Lipschitz u: [−R, R] → [0, 1] have an ε-cover of ⌈1/(2ε)⌉ 2^⌈R/ε⌉ elements. u(t) − t/2 has slopes within ±1/2;
follow it by slopes ±1/2 on steps of 2ε, the sign of each chosen so as to end within ε; add t/2 again, clip.

One function. Let φ be 1-Lipschitz with |φ| ≤ b, and ξ_i independent of mean 0, each in an interval of length 1. Symmetrisation and
Talagrand's contraction give E sup_w (1/m) Σ ξ_i φ(w·x_i) ≤ R/√m. McDiarmid's inequality gives that it exceeds R/√m + b √(log(1/δ)/(2m))
with probability ≤ δ. With signs σ_i for ξ_i the same holds with 2b for b.

Chaining. u_k is a nearest element of the cover at ε_k = 2^{−k−1}, u_0 = 1/2, so that φ = u_k − u_{k−1} is 1-Lipschitz with |φ| ≤ 3ε_k, and
|u − u_K| ≤ ε_K. Each of the K levels costs R/√m: that is the factor log m in which these bounds exceed O(√(W² log(m/δ)/m)).
"""

from __future__ import annotations

import math

LEVELS = range(1, 40)


def noise_radius(m: float, delta: float) -> float:
    """2 (1 + √(log(1/δ)/2))/√m, the bound of Lemma 2 on the norm of a mean of m vectors of norm ≤ 1."""
    return 2.0 * (1.0 + math.sqrt(math.log(1.0 / delta) / 2.0)) / math.sqrt(m)


def log_cover(epsilon: float, radius: float) -> float:
    """log ⌈1/(2ε)⌉ 2^⌈R/ε⌉."""
    return math.log(math.ceil(0.5 / epsilon)) + math.ceil(radius / epsilon) * math.log(2.0)


def _pairs(k: int, radius: float) -> float:
    """log of the number of pairs (u_k, u_{k−1})."""
    return log_cover(2.0 ** (-k - 1), radius) + (log_cover(2.0**-k, radius) if k > 1 else 0.0)


def noise_against_fits(m: float, radius: float, delta: float) -> float:
    r"""sup over ‖w‖ ≤ R and u, u' ∈ 𝒰 of (1/m) Σ ξ_i (u − u')(w·x_i), ξ_i = y_i − E[y|x_i].

    2 Σ_{k≤K} (R/√m + 3ε_k √(log(2^{k+1} N_k N_{k−1}/δ)/(2m))) + 2ε_K, the least over K.
    """
    total, best = 0.0, math.inf
    for k in LEVELS:
        step = 2.0 ** (-k - 1)
        level = (k + 1) * math.log(2.0) + _pairs(k, radius) - math.log(delta)
        total += radius / math.sqrt(m) + 3.0 * step * math.sqrt(level / (2.0 * m))
        best = min(best, 2.0 * (total + step))
    return best


def fits_apart(m: float, radius: float, delta: float) -> float:
    r"""sup over ‖w‖ ≤ R of (1/m) Σ |û(w·x_i) − ũ(w·x_i)|, û fitted to y and ũ to E[y|x].

    Both are projections on one convex set, hence mean (û − ũ)² ≤ (1/m) Σ ξ_i (û − ũ)(w·x_i): the root of `noise_against_fits`.
    """
    return math.sqrt(noise_against_fits(m, radius, delta))


def complexity(m: float, radius: float) -> float:
    r"""Rademacher complexity E sup (1/m) Σ σ_i u(w·x_i): Σ_{k≤K} (R/√m + 3ε_k √(2 log(N_k N_{k−1})/m)) + ε_K, the least over K."""
    total, best = 0.0, math.inf
    for k in LEVELS:
        step = 2.0 ** (-k - 1)
        total += radius / math.sqrt(m) + 3.0 * step * math.sqrt(2.0 * _pairs(k, radius) / m)
        best = min(best, total + step)
    return best


def deviation(m: float, radius: float, delta: float) -> float:
    r"""sup |mean − E| of (u(w·x) − y)², of (u(w·x) − E[y|x])² or of |u − u'|(w·x): 4 complexity(m, R) + √(log(2/δ)/(2m)).

    Squared differences in [0, 1] are 2-Lipschitz, |u − u'| has two functions: each doubles the complexity, symmetrisation does again.
    """
    return 4.0 * complexity(m, radius) + math.sqrt(math.log(2.0 / delta) / (2.0 * m))


def one_direction_deviation(m: float, radius: float, delta: float) -> float:
    r"""`deviation` for one fixed w: 4 (Σ_{k≤K} 3ε_k √(2 log(N_k N_{k−1})/m) + ε_K) + √(log(2/δ)/(2m)), the least over K.

    A supremum over finitely many functions at each level, and none over w: the R/√m of every level goes, and with them log m.
    """
    total, best = 0.0, math.inf
    for k in LEVELS:
        step = 2.0 ** (-k - 1)
        total += 3.0 * step * math.sqrt(2.0 * _pairs(k, radius) / m)
        best = min(best, total + step)
    return 4.0 * best + math.sqrt(math.log(2.0 / delta) / (2.0 * m))


def known_transfer_deviation(m: float, W: float, delta: float) -> float:
    r"""sup over ‖v − w‖ ≤ W of ε(h) − ε̂(h) for h = u(v·x), u known: 4W/√m + √(log(1/δ)/(2m)).

    (u(w·x + s) − u(w·x))² is 2-Lipschitz in s = (v − w)·x, a class of complexity W/√m: no cover, and no log m.
    """
    return 4.0 * W / math.sqrt(m) + math.sqrt(math.log(1.0 / delta) / (2.0 * m))
