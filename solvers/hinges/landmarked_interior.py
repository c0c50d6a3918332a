"""Landmarked SVR, penalised or in a ball, plain or smoothed, by the interior-point method of `hinge_interior`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solvers.hinges.hinge_interior import interior
from simopt.solvers.hinges.hinge_newton import first_width
from simopt.solvers.hinges.landmarked_newton import iterate, parts
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


@solver(
    "interior-point",
    solves=LandmarkedSVR,
    summary="Mehrotra's predictor-corrector with d × d normal equations and exact steps in the ball",
    rank=5,
)
def interior_point(problem: LandmarkedSVR, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """10 to 30 iterations of n d² + d³/3 multiplications whatever λ, B or β; 25 vectors of n numbers beside Ψ."""
    rows, hinges, bound, basis = parts(problem)
    goal = tol * problem.scale()
    for state in interior(rows, hinges, bound, np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), first_width(hinges), goal, max_iter):
        yield iterate(state.w, state.below, state.above, state.gap, basis, "")
