"""Ordinal regression with learned thresholds by semismooth Newton on working sets (see `threshold_newton`)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from simopt.solvers.hinges.hinge_newton import ROOM
from simopt.solvers.ordinal.ordinal_parts import LEARNED, Learned, Ordinal
from simopt.solvers.ordinal.threshold_newton import compile_kernels, threshold_fits
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

BRIEF = 1 << 18  # numbers of Ψ up to which a stage takes less time than judging the point it ends at


@solver(
    "newton",
    solves=LEARNED,
    summary="semismooth Newton on working sets with the thresholds eliminated, interior point at the end",
    rank=10,
    warm_up=compile_kernels,
)
def newton(problem: Learned, *, tol: float, room: float = ROOM) -> Iterator[Iterate]:
    """Time linear in n: a few passes over Ψ, and Newton steps of d³/3 + 20 d³ multiplications on ever fewer samples.

    Memory beside Ψ: 10 vectors of n numbers, 4 more for each hinge of a sample, and `room` bytes. A stage that makes no progress is left to
    the interior-point method, and the reported status says so. Of a small problem only points with a gap of their own are given out.
    """
    parts = Ordinal.of(problem)
    if parts is None:
        yield Ordinal.only_class(problem)
        return
    for fit in threshold_fits(parts.rows, parts.chain.hinges, parts.bound, goal=tol * problem.scale(), room=room):
        if math.isfinite(fit.gap) or math.prod(parts.rows.shape) > BRIEF:
            yield parts.iterate(fit)
