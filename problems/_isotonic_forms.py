"""Isotonic regression with bounds on slopes and range, in CVXPY."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.arrays import Array

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.problems.lipschitz_isotonic import LipschitzIsotonic


def programme(problem: LipschitzIsotonic) -> cp.Problem:
    """½ Σ w(x − y)² over the rows `monotone`, `lipschitz` (if L < ∞), `upper` (steps with a bound of their own), `low` and `high`."""
    import cvxpy as cp

    x = cp.Variable(len(problem.targets), name="x")
    rows = []
    if len(problem.targets) > 1:
        d = x[1:] - x[:-1]
        rows.append((d >= problem.least_steps(FLOAT)).set_label("monotone"))
        if problem.lipschitz < math.inf:
            bound = cp.Parameter(nonneg=True, name="lipschitz", value=problem.lipschitz)
            rows.append((d <= bound * np.diff(problem.positions)).set_label("lipschitz"))
        if problem.capped.size:
            rows.append((d[problem.capped] <= _caps(problem)).set_label("upper"))
    if problem.low is not None:
        rows.append((x[0] >= problem.low).set_label("low"))
    if problem.high is not None:
        rows.append((x[-1] <= problem.high).set_label("high"))
    residual = cp.multiply(np.sqrt(problem.mass), x - problem.targets)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(residual)), rows)


def _caps(problem: LipschitzIsotonic) -> Array:
    """b_i (z_{i+1} − z_i) of the steps `capped`; 0 for ties, where b may be ∞."""
    rise = np.diff(problem.positions)[problem.capped]
    if problem.upper_slopes is None:
        return np.zeros_like(rise)
    return rise * np.where(rise > 0, problem.upper_slopes[problem.capped], 0.0)
