r"""The solvers of landmarked support vector regression: two hinges a sample, one below y − ε and one above y + ε.

    min over w of  R(w) + (1/n) Σ_i s([|⟨w, ψ_i⟩ − y_i| − ε]),     R(w) = (λ/2)‖w‖² or the ball ‖w‖ ≤ B,   s plain or smoothed.

  newton           comes first: semismooth Newton steps on ever fewer samples (newton.py), linear in n; for n ≤ 5 d, for what is left of
                   the samples, and where a stage stalls, the interior-point method
  interior-point   10 to 30 iterations on all samples, whatever λ, B or β (hinge_interior.py)

Newton's method is the default (it has the highest rank of `@solver`): it reads ever fewer samples, interior points all of them. For no more
samples than features both work in coordinates of the span of the ψ_i. `solvers.ordinal` registers them for ordinal regression with given
thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simopt.core.arrays import Array
from simopt.data.row_blocks import RowPass
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solvers.hinges.hinge_stage import compile_kernels, hinge_fits, interior_fits
from simopt.solvers.hinges.newton import MEMORY_LIMIT, RENAMED
from simopt.solvers.hinges.stage import StageFit
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import WeightBound, bound_of, span
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


def parts(problem: LandmarkedSVR) -> tuple[RowPass, Hinges, WeightBound, Array | None]:
    """Rows, hinges and bound of a problem; and, for no more samples than features, the basis in whose coordinates the rows are given."""
    y = problem.targets
    features, basis = span(problem.features)
    hinges = Hinges(y - problem.epsilon, y + problem.epsilon, problem.sample_weights.floats, 1.0 / problem.smoothness)
    return RowPass(features), hinges, bound_of(problem.bound), basis


def iterate(problem: LandmarkedSVR, fit: StageFit, basis: Array | None) -> Iterate:
    """A point of the declared problem and, where their gap is known, its multipliers."""
    (below, above), sample_weight = fit.multipliers, problem.sample_weights.floats
    known = {"below": sample_weight * below, "above": sample_weight * above} if math.isfinite(fit.gap) else None
    return Iterate({"w": fit.w if basis is None else basis @ fit.w}, known, fit.gap, fit.status_text)


@solver(
    "newton",
    solves=LandmarkedSVR,
    summary="semismooth Newton on working sets, interior point at the end",
    rank=10,
    warm_up=compile_kernels,
    renamed=RENAMED,
)
def newton(problem: LandmarkedSVR, *, tol: float, memory_limit: float = MEMORY_LIMIT) -> Iterator[Iterate]:
    """Time linear in n: a few passes over Ψ, and Newton steps of d³/3 + 20 d³ multiplications on ever fewer samples.

    Memory beside Ψ: 10 vectors of n numbers and `memory_limit` bytes. A stage that makes no progress is left to the interior-point method,
    and the reported status says so.
    """
    rows, hinges, bound, basis = parts(problem)
    for fit in hinge_fits(rows, hinges, bound, goal=tol * problem.scale(), memory_limit=memory_limit):
        yield iterate(problem, fit, basis)


@solver(
    "interior-point",
    solves=LandmarkedSVR,
    summary="Mehrotra's predictor-corrector with d × d normal equations and exact steps in the ball",
    rank=5,
)
def interior_point(problem: LandmarkedSVR, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """10 to 30 iterations of n d² + d³/3 multiplications whatever λ, B or β; 25 vectors of n numbers beside Ψ."""
    rows, hinges, bound, basis = parts(problem)
    for fit in interior_fits(rows, hinges, bound, goal=tol * problem.scale(), max_iter=max_iter):
        yield iterate(problem, fit, basis)
