"""Isotonic regression with bounds on slopes and range, and its dual, in CVXPY."""

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


def dual(problem: LipschitzIsotonic) -> cp.Problem:
    """D over `lipschitz` = τ^+ (0 where u = ∞), `monotone` = τ^−, `low` = −τ_0 and `high` = −τ_n; q by the row `balance`, of price ±x."""
    import cvxpy as cp

    n, c, mass = len(problem.targets), problem.centre, problem.mass
    q, ends = cp.Variable(n, name="q"), {name: cp.Variable(name=name) for name in ("low", "high")}
    steps = {} if n == 1 else {name: cp.Variable(n - 1, name=name) for name in ("lipschitz", "monotone")}
    inner = [steps["lipschitz"] - steps["monotone"]] if steps else []
    tau = cp.hstack([-ends["low"], *inner, -ends["high"]])
    rows = [(q == tau[:-1] - tau[1:]).set_label("balance")]
    rows += [(variable >= 0).set_label(f"{name}_nonneg") for name, variable in (steps | ends).items()]
    bounds = {name: bound for name, bound in (("low", problem.low), ("high", problem.high)) if bound is not None}
    rows += [(ends[name] == 0).set_label(f"no_{name}") for name in ends if name not in bounds]
    if np.any(mass == 0):
        rows.append((q[np.flatnonzero(mass == 0)] == 0).set_label("no_mass"))
    root = np.where(mass > 0, 1.0 / np.sqrt(np.where(mass > 0, mass, 1.0)), 0.0)
    value = (problem.targets - c) @ q - 0.5 * cp.sum_squares(cp.multiply(root, q))
    if steps:
        value = value + problem.least_steps(FLOAT) @ steps["monotone"] - problem.steps(FLOAT) @ steps["lipschitz"]
        if np.any(problem.free):
            rows.append((steps["lipschitz"][np.flatnonzero(problem.free)] == 0).set_label("no_bound"))
    for name, bound in bounds.items():
        value = value + ends[name] * (bound - c) * (1.0 if name == "low" else -1.0)
    return cp.Problem(cp.Maximize(value), rows)
