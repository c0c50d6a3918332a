r"""The dual of the hinge SVM in signed weights: its box, what complementarity leaves of the gap, and the best intercept.

w_i = n a_i y_i lies between min(c_i y_i, 0) and max(c_i y_i, 0). The caps are c_i = 1, or n p_i of samples with shares p_i (their mean is
1). For f = C Kw, C = 1/(nλ), and residual r = y − f − b the duality gap is (1/n) of

    Σ (c_i − |w_i|) [y_i r_i]_+ + |w_i| [−y_i r_i]_+,

every term of which is non-negative: 0 where a sample inside the margin has its full weight and one beyond it has none.
"""

from __future__ import annotations

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.svm.pair_selection import add_rows

ROUNDING = 1e-13  # of the sum of the caps


def box(labels: Array, caps: Array | float = 1.0) -> tuple[Array, Array]:
    """Lower and upper bounds of the signed weights."""
    return np.minimum(labels * caps, 0.0), np.maximum(labels * caps, 0.0)


def complementarity(labels: Array, weights: Array, residual: Array, caps: Array | float = 1.0) -> float:
    """n times the duality gap of f = C Kw and its own weights; `residual` is y − f − b. O(n)."""
    margin = labels * residual
    size = np.abs(weights)
    return float(np.dot(caps - size, np.maximum(margin, 0.0)) + np.dot(size, np.maximum(-margin, 0.0)))


def weighted_intercept(labels: Array, residual: Array, caps: Array, total: float = 0.0) -> float:
    """`best_intercept` of Σ c_i [1 − y_i (f_i + b)]_+, where the kink at r_i raises the slope by c_i. O(n log n)."""
    counted = caps > 0.0
    kinks, rises, signs = residual[counted], caps[counted], labels[counted]
    start, order = float(np.sum(rises[signs > 0])) - total, np.argsort(kinks)
    passed, ordered = np.cumsum(rises[order]), kinks[order]
    blur = ROUNDING * float(np.sum(caps))  # a slope that cancels to its last digits is 0
    below, above = (int(np.count_nonzero(part)) for part in (passed < start - blur, passed <= start + blur))
    low = float(ordered[below]) if start > blur and below < kinks.size else -np.inf
    high = float(ordered[above]) if above < kinks.size else np.inf
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    return float(min(max(0.0, low), high))


def best_intercept(labels: Array, residual: Array, total: float = 0.0) -> float:
    """b that minimises Σ [1 − y_i (f_i + b)]_+, with residual y − f: the middle of the minimisers. O(n).

    The loss has its kinks at the r_i and the slope #{y_i = −1: r_i < b} − #{y_i = +1: r_i > b}. Every kink raises the slope by 1: it is 0
    between two consecutive order statistics. If samples at their bounds are left out, whose weights sum to −`total`, they shift the slope
    by `total`. If the minimisers are unbounded (one class only), the nearest to 0 is returned.
    """
    rank = int(np.count_nonzero(labels > 0)) - round(total)
    rank = min(max(rank, 0), residual.size)
    inner = [k for k in (rank - 1, rank) if 0 <= k < residual.size]
    ordered = np.partition(residual, inner)
    low = float(ordered[rank - 1]) if rank > 0 else -np.inf
    high = float(ordered[rank]) if rank < residual.size else np.inf
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    return float(min(max(0.0, low), high))


def product(gram: Array, weights: Array) -> Array:
    """K w. Reads the rows of the support (all of K, through BLAS, when that is most of them); copies none."""
    support = np.flatnonzero(weights)
    if 2 * support.size > weights.size:
        whole: Array = gram @ weights
        return whole
    total = np.zeros(gram.shape[0])
    add_rows(gram, support, weights[support], total)
    return total
