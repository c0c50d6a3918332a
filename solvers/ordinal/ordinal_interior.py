"""Ordinal regression with learned thresholds by the interior-point method of `threshold_interior`."""

from __future__ import annotations

from collections.abc import Iterator

from simopt.solvers.ordinal.ordinal_parts import LEARNED, Learned, Ordinal
from simopt.solvers.ordinal.threshold_newton import compile_kernels, interior_fits
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


@solver(
    "interior-point",
    solves=LEARNED,
    summary="Mehrotra's predictor-corrector with d × d normal equations and exact steps in the ball",
    rank=5,
    warm_up=compile_kernels,
)
def interior_point(problem: Learned, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """10 to 30 iterations of n d² + d³/3 multiplications whatever λ or B; 20 vectors of n numbers beside Ψ for each hinge of a sample."""
    parts = Ordinal.of(problem)
    if parts is None:
        yield Ordinal.only_class(problem)
        return
    for fit in interior_fits(parts.rows, parts.chain.hinges, parts.bound, goal=tol * problem.scale(), max_iter=max_iter):
        yield parts.iterate(fit)
