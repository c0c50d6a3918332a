"""The envelopes of given values among monotone Lipschitz functions: the least that is above, and the greatest that is below."""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array
from simopt.problems.sup_distance import SupDistance


def enveloped(problem: SupDistance) -> tuple[Array, Array]:
    """A_j = max_i (y_i − c(j, i)) and B_j = min_i (y_i + c(i, j)), with c the most that the class may climb from one place to the other.

    A is the least member of the class that is nowhere below y, B the greatest that is nowhere above. O(n).
    """
    y, starts = problem.targets, problem.groups()
    above, below = np.maximum.accumulate(y), np.minimum.accumulate(y[::-1])[::-1]
    if starts.size == 1:
        climb = np.concatenate([[0.0], np.cumsum(problem.steps(FLOAT))])
        reach = y - climb
        later, earlier = np.maximum.accumulate(reach[::-1])[::-1] + climb, np.minimum.accumulate(reach) + climb
    else:  # without a bound only samples at one place hold each other
        lengths = np.diff(np.append(starts, y.size))
        later, earlier = np.repeat(np.maximum.reduceat(y, starts), lengths), np.repeat(np.minimum.reduceat(y, starts), lengths)
    return np.maximum(above, later), np.minimum(below, earlier)
