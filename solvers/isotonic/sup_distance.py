"""The monotone Lipschitz function nearest to given values in the largest distance: the mean of two envelopes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.ground.arrays import Array
from simopt.problems.sup_distance import SupDistance
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


@solver("envelopes", solves=SupDistance, summary="the mean of the least member above and the greatest below, exactly, O(n)", rank=1)
def envelopes(problem: SupDistance, *, tol: float) -> Iterator[Iterate]:
    """x = (A + B)/2, A the least monotone Lipschitz function above y and B the greatest below, with the worst pair's multipliers. O(n)."""
    above, below = enveloped(problem)
    x = 0.5 * (above + below)
    yield Iterate({"x": x}, problem.multipliers({"x": x}))


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
