"""The smallest bound by Newton's method on the convex falling curve B ↦ ε₀(B), one warm programme a step."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simopt.problems.goodness import Goodness
from simopt.problems.smallest_bound import SmallestBound
from simopt.solvers.goodness.curve import BoundSweep
from simopt.solving.solution import Iterate

STILL = 1e-15  # relative growth of B that counts as none
SQUARED_TOL = 1e-14  # relative gap asked of the squared loss, which ends where rounding lets it: B needs it divided by the curve's slope


def newton_on_curve(problem: SmallestBound, max_iter: int) -> Iterator[Iterate]:
    """From B = 0, each bound is where the line of the last multipliers meets ε₀: lower bounds that increase, and end at the root.

    For the linear losses the curve is piecewise linear and the steps are finitely many (rarely over 20); for the squared loss they converge
    quadratically. Multipliers whose line is level above ε₀ prove that no B suffices. Kar & Jain 2012, Definition 2.
    """
    w = np.zeros(len(problem.targets))
    yield Iterate({"w": w}, None, math.inf)
    start = problem.multipliers({"w": w})
    bound = float(problem.dual_bound(start))
    if bound == 0.0 or bound == math.inf:
        yield Iterate({"w": w}, start, 0.0)
        return
    curve = Goodness(problem.gram, problem.targets, bound, problem.masses, problem.loss, problem.epsilon, problem.margin)
    walk, proof = BoundSweep(curve, squared_tol=SQUARED_TOL), start
    for _ in range(max_iter):
        place = walk.at(bound) if curve.loss == "squared" else walk.by_highs(bound)  # bounds jump: the walk would pass all breakpoints
        multipliers = {"predictions": place.q, "level": np.array(1.0)}
        point = {"w": bound * place.v}
        lower = float(problem.dual_bound(multipliers))
        if lower < bound:  # at a breakpoint the vertex may belong to the next piece; the multipliers that led here prove `bound`
            multipliers, lower = proof, bound
        upper = float(problem.objective(problem.restore(point)))
        yield Iterate(point, multipliers, 0.0 if lower == math.inf else max(upper - lower, 0.0))
        if lower == math.inf or lower <= bound * (1.0 + STILL):
            return
        bound, proof = lower, multipliers
