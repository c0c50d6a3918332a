"""EXC with given thresholds by the engines of landmarked SVR: the ends lo_i = b_{y_i − 1} + γ and hi_i = b_{y_i} − γ are data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.data.row_blocks import RowBlocks
from simopt.ground.arrays import Array, Multipliers
from simopt.problems.exc_fixed import EXCFixed
from simopt.solvers.hinges.hinge_interior import interior
from simopt.solvers.hinges.hinge_newton import ROOM, compile_kernels, first_width, hinge_fits
from simopt.solvers.hinges.landmarked_newton import span
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import Bound, bound_of
from simopt.solvers.ordinal.ordinal_newton import BRIEF
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

MISSING = 1e30  # an end that is not there


def ends(problem: EXCFixed) -> Hinges:
    """The two hinges of each sample; they may cross, where thresholds are nearer than 2γ."""
    y, n = problem.labels.astype(np.intp), len(problem.labels)
    low = np.concatenate([[-MISSING], problem.thresholds + problem.gamma])
    high = np.concatenate([problem.thresholds - problem.gamma, [MISSING]])
    return Hinges(low[y - 1], high[y - 1], np.full(n, 1.0 / n))


def parts(problem: EXCFixed) -> tuple[RowBlocks, Hinges, Bound, Array | None]:
    """Rows, hinges and bound of a problem; and the basis in whose coordinates the rows are given, if any."""
    features, basis = span(problem.features)
    return RowBlocks(features), ends(problem), bound_of(problem.bound), basis


def multipliers(problem: EXCFixed, below: Array, above: Array) -> Multipliers:
    """Those of the declared rows, from one of each kind a sample in units of its share."""
    n = len(problem.labels)
    return {"below": below[problem.low_rows] / n, "above": above[problem.high_rows] / n}


@solver(
    "newton",
    solves=EXCFixed,
    summary="semismooth Newton on working sets, interior point at the end",
    rank=10,
    warm_up=compile_kernels,
)
def newton(problem: EXCFixed, *, tol: float, room: float = ROOM) -> Iterator[Iterate]:
    """Time linear in n: a few passes over Ψ, and Newton steps of d³/3 + 20 d³ multiplications on ever fewer samples.

    Of a small problem only points with a gap of their own are given out: a stage takes less time than judging the point it ends at.
    """
    rows, hinges, bound, basis = parts(problem)
    for fit in hinge_fits(rows, hinges, bound, goal=tol * problem.scale(), room=room):
        known = bool(np.isfinite(fit.gap))
        if known or rows.shape[0] * rows.shape[1] > BRIEF:
            w = fit.w if basis is None else basis @ fit.w
            yield Iterate({"w": w}, multipliers(problem, fit.below, fit.above) if known else None, fit.gap, fit.word)


@solver(
    "interior-point",
    solves=EXCFixed,
    summary="Mehrotra's predictor-corrector with d × d normal equations and exact steps in the ball",
    rank=5,
    warm_up=compile_kernels,
)
def interior_point(problem: EXCFixed, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """10 to 30 iterations of n d² + d³/3 multiplications whatever λ or B; 25 vectors of n numbers beside Ψ."""
    rows, hinges, bound, basis = parts(problem)
    zero, goal = np.zeros(rows.shape[1]), tol * problem.scale()
    for state in interior(rows, hinges, bound, zero, zero, first_width(hinges), goal, max_iter):
        w = state.w if basis is None else basis @ state.w
        yield Iterate({"w": w}, multipliers(problem, state.below, state.above), state.gap)
