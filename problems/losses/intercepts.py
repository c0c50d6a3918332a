r"""The intercept of a margin problem: its best value for given predictions, and multipliers that it cannot exploit.

For given f the mean hinge loss (1/n) Σ [1 − y_i(f_i + b)]_+ is piecewise linear in b with one kink a sample, at t_i = y_i − f_i. There the
slope rises by 1/n (a hinge of label +1 stops falling, one of label −1 starts to rise). The slope is −n_+/n on the far left, so with the
kinks in increasing order b is optimal exactly on [t_(n_+), t_(n_+ + 1)], t_(0) = −∞, t_(n+1) = ∞. With shares p_i (`shares`) the slope
rises by p_i at t_i from −Σ p_i over the samples of label +1, and b is optimal where it passes 0.

The Lagrangian Σ a_i(1 − y_i(f_i + b)) is bounded below in b only if Σ a_i y_i = 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simopt.arithmetic import INTERVAL, RATIONAL, Arithmetic, Value
from simopt.core.arrays import Array

ROUNDING = 1e-14  # of the sum of all weights
VANISHING = 1e-280  # a class whose multipliers sum to less is taken to have none: no ratio of such sums is safe from underflow


def best_intercept(num: Arithmetic, fitted: Value, labels: Array, near: Value | None = None, weights: Array | None = None) -> Value:
    """The optimal b nearest to `near`; without it the middle of the optimal interval, or its end where it is unbounded. O(n log n).

    Exact in fractions. Every b is feasible, so in intervals the floats at the midpoints are searched, and b is the float found there.
    """
    kinks = num.lift(labels) - fitted
    low, high = _optimal(num, INTERVAL.mid(kinks) if num is INTERVAL else kinks, labels, weights)
    if near is None:
        return num.lift(_midpoint(low, high))
    b = num.mid(near) if num is INTERVAL else num.lift(near)
    if low is not None and b < low:
        b = low
    if high is not None and b > high:
        b = high
    return num.lift(b)


def _optimal(num: Arithmetic, kinks: Any, labels: Array, weights: Array | None) -> tuple[Any, Any]:
    """The ends of the optimal interval, None where it has none."""
    if weights is None:
        ordered, positive = np.sort(kinks), int(np.count_nonzero(labels > 0))
        return ordered[positive - 1] if positive > 0 else None, ordered[positive] if positive < len(labels) else None
    counted = weights > 0
    order = np.argsort(kinks[counted], kind="stable")
    rises = (num.lift(weights) if num is RATIONAL else weights)[counted][order]
    signs, ordered = labels[counted][order], kinks[counted][order]
    passed = np.cumsum(rises)
    # in floats a slope that cancels to its last digits is taken for 0: either end of the kinks there is then as good
    start, blur = sum(rises[signs > 0]), 0.0 if num is RATIONAL else ROUNDING * passed[-1]
    below, above = np.count_nonzero(passed < start - blur), np.count_nonzero(passed <= start + blur)
    low = ordered[below] if np.any(signs > 0) else None
    return low, ordered[above] if np.any(signs < 0) and above < len(ordered) else None


def _midpoint(low: Any, high: Any) -> Any:
    if low is None:
        return high
    return low if high is None else low + (high - low) / 2


def best_constant(labels: Array, weights: Array | None = None) -> tuple[float, float]:
    """The b of smallest loss at f = 0 (a label; 0 when the classes are of one size) and that loss, 2 min(n_+, n_−)/n, or of weights."""
    mass = np.ones(len(labels)) if weights is None else weights
    above, below = float(mass @ (labels > 0)), float(mass @ (labels < 0))
    balance = above - below
    return math.copysign(1.0, balance) if balance else 0.0, 2.0 * min(above, below) / (above + below)


def balanced(num: Arithmetic, multipliers: Value, labels: Array) -> Value:
    """a ≥ 0 with the multipliers of the heavier class scaled down, so that Σ a_i y_i = 0; they stay within their caps. O(n).

    With A_± the sums of the classes and T = min(A_+, A_−), a_i becomes a_i T/A_{y_i}. Real numbers by
    this formula sum to exactly 0. Hence intervals evaluated with it enclose the dual at a feasible point. 0 where a class has none.
    """
    positive = labels > 0
    plain = num.mid(multipliers)
    if min(float(np.sum(plain[positive])), float(np.sum(plain[~positive]))) < VANISHING:
        return num.zeros(len(labels))
    above, below = num.sum(multipliers[positive]), num.sum(multipliers[~positive])
    least = num.minimum(above, below)
    ratio = num.lift(positive.astype(float)) * (least / above) + num.lift((~positive).astype(float)) * (least / below)
    return multipliers * ratio
