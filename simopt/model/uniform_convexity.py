r"""How far f is from the optimum f* of a convex P that has a power of the norm in it: λ‖f‖^m with m > 1.

Write h = λ‖·‖^m and g for the gap. Let P − h be convex. From 0 ∈ ∂P(f*) follows g ≥ P(f) − P(f*) ≥ D_h(f, f*), the Bregman divergence.

(a) If P ≥ h, then λ‖f*‖^m ≤ P(f*) ≤ upper, and λt^m ≤ upper: all norms on the segment from f to f* are ≤ M = (upper/λ)^{1/m}.
(b) m ≥ 2: ‖(f+f*)/2‖^m + ‖(f−f*)/2‖^m ≤ (‖f‖^m + ‖f*‖^m)/2 (Clarkson; Hilbert space), and P((f+f*)/2) ≥ P(f*), so
    λ(R/2)^m ≤ (P(f) − P(f*))/2 ≤ g/2, that is R ≤ (2^{m−1} g/λ)^{1/m}.
(c) 1 < m ≤ 2: at norm r the Hessian of h is at least λm(m−1)r^{m−2}, decreasing in r; by (a) and Taylor's formula
    D_h(f, f*) ≥ ½λm(m−1)M^{m−2}R². Without (a), M ≤ t + R for t = ‖f‖: the right side still increases with R.
(d) If R ≤ R_k is known, norms on the segment lie in [t − R_k, t + R_k]. The Hessian is at least λm min(1, m−1) r^{m−2} with r = t − R_k for
    m ≥ 2 (where positive) and r = t + R_k for m ≤ 2. So R ≤ √(2g/(λm min(1, m−1) r^{m−2})). Repeat.

For m ≤ 1 only (a): R ≤ t + M.
"""

from __future__ import annotations

import math

ROUNDS = 20  # refinements of the distance bound; each is valid by itself
HALVINGS = 80  # of an interval of logarithms no longer than 1500, to below one rounding


def distance(gap: float, t: float | None, strength: float, m: float, upper: float = math.inf) -> float:
    """R with ‖f − f*‖_H ≤ R, from the gap, t = ‖f‖ (None: unknown), λ = `strength`, and P(f) ≤ `upper` where P ≥ λ‖·‖^m (else ∞)."""
    if gap == 0.0 and m > 1:
        return 0.0
    log_strength = math.log(strength)
    if not math.isfinite(gap):
        return math.inf
    bound = math.inf
    if math.isfinite(upper):
        bound = math.exp(min((math.log(upper) - log_strength) / m, 700.0)) if upper > 0 else 0.0
    known = bound if t is None else t
    radius = known + bound
    if m <= 1:
        return radius
    log_gap = math.log(gap)
    if m >= 2:
        radius = min(radius, _exp(((m - 1.0) * math.log(2.0) + log_gap - log_strength) / m))
    elif math.isfinite(bound):
        radius = min(radius, curved(log_gap, log_strength, m, max(bound, known)))
    elif t is not None:
        radius = _without_bound(log_gap, log_strength, m, t)
    if t is None:
        return radius
    for _ in range(ROUNDS):
        r = t - radius if m >= 2 else t + radius
        if not 0.0 < r < math.inf:
            break
        better = curved(log_gap, log_strength, m, r)
        if better >= radius * (1.0 - 1e-3):
            radius = min(radius, better)
            break
        radius = better
    return radius


def curved(log_gap: float, log_strength: float, m: float, r: float) -> float:
    """√(2g/(λm min(1, m−1) r^{m−2}))."""
    if r <= 0.0:
        return math.inf
    return _exp(0.5 * (math.log(2.0) + log_gap - log_strength - math.log(m * min(1.0, m - 1.0)) - (m - 2.0) * math.log(r)))


def _without_bound(log_gap: float, log_strength: float, m: float, t: float) -> float:
    """The R with g = ½λm(m−1)(t + R)^{m−2}R²: (c) with M ≤ t + R."""
    level = math.log(2.0) + log_gap - log_strength - math.log(m * (m - 1.0))
    low, high = -750.0, 700.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        above = 2.0 * middle + (m - 2.0) * math.log(t + math.exp(middle)) >= level if t + math.exp(middle) > 0.0 else False
        low, high = (low, middle) if above else (middle, high)
    return _exp(high) if high < 699.0 else math.inf


def _exp(x: float) -> float:
    return math.exp(x) if x < 709.0 else math.inf
