"""A lower bound of a linear programme from any multipliers of its rows, in intervals.

For y ≥ 0 at inequalities and d = c + Aᵀy, every feasible x has ⟨c, x⟩ + c₀ ≥ c₀ + ⟨b, y⟩ + min over low ≤ x ≤ high of ⟨d, x⟩.

Source: A. Neumaier and O. Shcherbina, Safe bounds in linear and mixed-integer programming, Math. Program. 99 (2004).
"""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import INTERVAL, Interval
from simopt.core.arrays import Array
from simopt.duality.vertices.linear_programme import LinearProgramme


def safe_bound(linear: LinearProgramme, multipliers: Array) -> float:
    """The bound; −∞ where a d_j may have a sign for which x_j has no end."""
    y = Interval(np.where(linear.equality, multipliers, np.maximum(multipliers, 0.0)))
    reduced = linear.reduced_costs(y)
    up, down = np.maximum(reduced.high, 0.0), np.minimum(reduced.low, 0.0)
    if np.any((up > 0.0) & np.isinf(linear.low)) or np.any((down < 0.0) & np.isinf(linear.high)):
        return -np.inf
    at_low, at_high = (
        (reduced * Interval(np.where(np.isfinite(end), end, 0.0))).low for end in (linear.low, linear.high)
    )  # of an interval that contains 0 both ends count
    least = np.where(reduced.low >= 0.0, at_low, np.where(reduced.high <= 0.0, at_high, np.minimum(at_low, at_high)))
    return INTERVAL.lower(linear.offset[0] + INTERVAL.dot(linear.constants, y) + INTERVAL.sum(Interval(least)))
