r"""The solvers of ordinal regression, with thresholds learned or given: those of landmarked SVR, too.

  thresholds learned   newton first: semismooth Newton steps with the thresholds eliminated (threshold_stage.py), on ever fewer samples;
                       else the interior-point method (threshold_interior.py). With one class only nothing is left to solve
  thresholds given     the ends lo_i = b_{y_i − 1} + γ and hi_i = b_{y_i} − γ are data: two hinges a sample, for the methods of
                       `solvers.hinges`, newton first

Newton's method is the default (it has the highest rank of `@solver`): its time is linear in n, where every interior-point iteration costs
n d². It takes the interior-point method for few samples, for what is left of the samples in the end, and where a stage stalls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simopt.core.arrays import Array, Multipliers
from simopt.data.row_blocks import RowPass
from simopt.model.problem import Problem
from simopt.problems.exc_fixed import EXCFixed
from simopt.problems.sample_weights import SampleWeights
from simopt.solvers.hinges import hinge_stage
from simopt.solvers.hinges.newton import MEMORY_LIMIT, RENAMED
from simopt.solvers.hinges.stage import StageFit
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import WeightBound, bound_of, span
from simopt.solvers.ordinal.learned_thresholds import LEARNED, Learned, Ordinal
from simopt.solvers.ordinal.threshold_stage import compile_kernels, interior_fits, threshold_fits
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

MISSING = 1e30  # an end that is not there


def alike(problem: Problem) -> str | None:
    """Why thresholds are not learned here: their choice counts the samples on either side."""
    return "samples have weights; a back end takes them" if getattr(problem, "weights", None) is not None else None


@solver(
    "newton",
    solves=LEARNED,
    summary="semismooth Newton on working sets with the thresholds eliminated, interior point at the end",
    supports=alike,
    rank=10,
    warm_up=compile_kernels,
    renamed=RENAMED,
)
def newton(problem: Learned, *, tol: float, memory_limit: float = MEMORY_LIMIT) -> Iterator[Iterate]:
    """Time linear in n: a few passes over Ψ, and Newton steps of d³/3 + 20 d³ multiplications on ever fewer samples.

    Memory beside Ψ: 10 vectors of n numbers, 4 more for each hinge of a sample, and `memory_limit` bytes. A stage that makes no progress is
    left to the interior-point method, and the reported status says so. A small problem yields only the last point.
    """
    parts = Ordinal.of(problem)
    if parts is None:
        yield Ordinal.only_class(problem)
        return
    for fit in threshold_fits(parts.rows, parts.chain.hinges, parts.bound, goal=tol * problem.scale(), memory_limit=memory_limit):
        yield parts.iterate(fit)


@solver(
    "interior-point",
    solves=LEARNED,
    summary="Mehrotra's predictor-corrector with d × d normal equations and exact steps in the ball",
    supports=alike,
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


def sample_weights_of(problem: EXCFixed) -> Array:
    """The weight of each sample."""
    return SampleWeights.of(len(problem.labels), problem.weights).floats


def fixed_parts(problem: EXCFixed) -> tuple[RowPass, Hinges, WeightBound, Array | None]:
    """Rows, hinges, which cross where thresholds are nearer than 2γ, and bound; and the basis in whose coordinates the rows are given."""
    y = problem.labels.astype(np.intp)
    low = np.concatenate([[-MISSING], problem.thresholds + problem.gamma])
    high = np.concatenate([problem.thresholds - problem.gamma, [MISSING]])
    features, basis = span(problem.features)
    return RowPass(features), Hinges(low[y - 1], high[y - 1], sample_weights_of(problem)), bound_of(problem.bound), basis


def fixed_iterate(problem: EXCFixed, fit: StageFit, basis: Array | None) -> Iterate:
    """A point of the declared problem and, where their gap is known, the multipliers of its rows, which are those with an end."""
    known: Multipliers | None = None
    if math.isfinite(fit.gap):
        (below, above), sample_weight = fit.multipliers, sample_weights_of(problem)
        known = {"below": (sample_weight * below)[problem.low_rows], "above": (sample_weight * above)[problem.high_rows]}
    return Iterate({"w": fit.w if basis is None else basis @ fit.w}, known, fit.gap, fit.status_text)


@solver(
    "newton",
    solves=EXCFixed,
    summary="semismooth Newton on working sets, interior point at the end",
    rank=10,
    warm_up=hinge_stage.compile_kernels,
    renamed=RENAMED,
)
def fixed_newton(problem: EXCFixed, *, tol: float, memory_limit: float = MEMORY_LIMIT) -> Iterator[Iterate]:
    """Time linear in n: a few passes over Ψ, and Newton steps of d³/3 + 20 d³ multiplications on ever fewer samples.

    A small problem yields only the first and the last point.
    """
    rows, hinges, bound, basis = fixed_parts(problem)
    for fit in hinge_stage.hinge_fits(rows, hinges, bound, goal=tol * problem.scale(), memory_limit=memory_limit):
        yield fixed_iterate(problem, fit, basis)


@solver(
    "interior-point",
    solves=EXCFixed,
    summary="Mehrotra's predictor-corrector with d × d normal equations and exact steps in the ball",
    rank=5,
    warm_up=hinge_stage.compile_kernels,
)
def fixed_interior_point(problem: EXCFixed, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """10 to 30 iterations of n d² + d³/3 multiplications whatever λ or B; 25 vectors of n numbers beside Ψ."""
    rows, hinges, bound, basis = fixed_parts(problem)
    for fit in hinge_stage.interior_fits(rows, hinges, bound, goal=tol * problem.scale(), max_iter=max_iter):
        yield fixed_iterate(problem, fit, basis)
