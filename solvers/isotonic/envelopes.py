"""Envelopes of given values by monotone Lipschitz functions: the least one above them, and the greatest one below them."""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array
from simopt.problems.sup_distance import SupDistance


def enveloped(problem: SupDistance) -> tuple[Array, Array]:
    """A_j = max_i (y_i − c(j, i)) and B_j = min_i (y_i + c(i, j)), with c(i, j) the largest u(z_j) − u(z_i) of the class.

    A is the least function u of the class with u ≥ y, B the greatest with u ≤ y. O(n).
    """
    y, starts = problem.targets, problem.groups()
    above, below = np.maximum.accumulate(y), np.minimum.accumulate(y[::-1])[::-1]
    if starts.size == 1:
        rise = np.concatenate([[0.0], np.cumsum(problem.steps(FLOAT))])
        reduced = y - rise
        later, earlier = np.maximum.accumulate(reduced[::-1])[::-1] + rise, np.minimum.accumulate(reduced) + rise
    else:  # L = ∞: beyond their order, only samples of equal z constrain each other
        lengths = np.diff(np.append(starts, y.size))
        later, earlier = np.repeat(np.maximum.reduceat(y, starts), lengths), np.repeat(np.minimum.reduceat(y, starts), lengths)
    return np.maximum(above, later), np.minimum(below, earlier)
