"""Landmarked SVR, penalised or in a ball, plain or smoothed, by semismooth Newton on working sets (see `hinge_newton`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simopt.data.row_blocks import RowBlocks
from simopt.ground.arrays import Array
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solvers.hinges.hinge_newton import ROOM, compile_kernels, hinge_fits
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import Bound, bound_of
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


def span(features: Any) -> tuple[Any, Array | None]:
    """The features; for no more samples than features, in coordinates of an orthonormal basis of the span of the ψ_i, and this basis.

    The part of w outside the span would only make it longer. The basis begins with the longest rows, so that short ones have coordinates of
    their own, which scaling tells apart.
    """
    from scipy.linalg import qr

    n, d = features.shape
    if n > d:
        return features, None
    basis, triangle, order = qr(np.asarray(features, dtype=float).T, mode="economic", pivoting=True)
    rows = np.empty((n, n))
    rows[order] = triangle.T
    return rows, basis


def parts(problem: LandmarkedSVR) -> tuple[RowBlocks, Hinges, Bound, Array | None]:
    """Rows, hinges and bound of a problem; and, for no more samples than features, the basis in whose coordinates the rows are given."""
    y = problem.targets
    features, basis = span(problem.features)
    hinges = Hinges(y - problem.epsilon, y + problem.epsilon, np.full(y.size, 1.0 / y.size), 1.0 / problem.smoothness)
    return RowBlocks(features), hinges, bound_of(problem.bound), basis


def iterate(w: Array, below: Array | None, above: Array | None, gap: float, basis: Array | None, word: str) -> Iterate:
    """A point and multipliers of the declared problem."""
    point = {"w": w if basis is None else basis @ w}
    if below is None or above is None:
        return Iterate(point, None, gap, word)
    return Iterate(point, {"below": below / below.size, "above": above / above.size}, gap, word)


@solver(
    "newton",
    solves=LandmarkedSVR,
    summary="semismooth Newton on working sets, interior point at the end",
    rank=10,
    warm_up=compile_kernels,
)
def newton(problem: LandmarkedSVR, *, tol: float, room: float = ROOM) -> Iterator[Iterate]:
    """Time linear in n: a few passes over Ψ, and Newton steps of d³/3 + 20 d³ multiplications on ever fewer samples.

    Memory beside Ψ: 10 vectors of n numbers and `room` bytes. A stage that makes no progress is left to the interior-point method, and the
    reported status says so.
    """
    rows, hinges, bound, basis = parts(problem)
    for fit in hinge_fits(rows, hinges, bound, goal=tol * problem.scale(), room=room):
        known = np.isfinite(fit.gap)
        yield iterate(fit.w, fit.below if known else None, fit.above if known else None, fit.gap, basis, fit.word)
