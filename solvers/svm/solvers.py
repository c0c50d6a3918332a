"""The hinge SVM without and with intercept, and with its norm bounded: pairs of dual weights, then Newton steps on the margin.

The penalised forms are solved by `fit`: second-order pair selection on a shrinking set of samples, until semismooth Newton steps (`polish`)
are the quicker way to the gap asked for. With its norm bounded the SVM is the penalised one at the λ at which the norm is that of the ball;
`ball` finds it along the path. Many λ in one go are fitted by `path.svm_path`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simopt.core.arrays import Array
from simopt.model.problem import Problem
from simopt.problems.hinge_svm import HingeSVM
from simopt.solvers.svm.ball import ball_candidates
from simopt.solvers.svm.fit import contiguous, cost_of, mean_start, svm_fits
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


def caps_of(problem: HingeSVM) -> Array | None:
    """n p_i, the caps of n a_i; None where all are 1."""
    return None if problem.weights is None else len(problem.labels) * problem.sample_weights.floats


@solver(
    "svm", solves=HingeSVM.form("penalty"), summary="second-order pair selection with shrinking, then a semismooth Newton polish", rank=10
)
def svm(problem: HingeSVM, *, tol: float, shrinking: bool = True, polishing: bool = True) -> Iterator[Iterate]:
    """f = C Σ w_i k(·, x_i), |w_i| ≤ 1 or n p_i, C = 1/(nλ).

    Time: pair steps of about 2 ns a sample in play, each of which reads two rows of K. There are about n of them at C = 1 and 10 n at
    C = 100. A few products of K with the weights. If tight gaps or large C make that the quicker way, k³/3 flops a Newton step for k
    samples on the margin. Memory: at most n²/4 numbers besides K. `shrinking` = False keeps all samples in play, `polishing` = False leaves
    all work to the pairs.
    """
    gram, labels = contiguous(problem.gram), problem.labels
    cost = cost_of(labels, problem.regularization)
    caps, goal = caps_of(problem), tol * problem.scale()
    start = mean_start(gram, labels, cost, caps)
    for fit in svm_fits(gram, labels, cost, goal=goal, start=start, shrinking=shrinking, polishing=polishing, caps=caps):
        yield Iterate({"alpha": fit.coefficients}, {"margins": fit.multipliers}, fit.gap)


@solver(
    "svm",
    solves=HingeSVM.form("penalty_intercept"),
    summary="working set selection 2 with shrinking, then a semismooth Newton polish",
    rank=10,
)
def svm_bias(problem: HingeSVM, *, tol: float, shrinking: bool = True, polishing: bool = True) -> Iterator[Iterate]:
    """f = C Σ w_i k(·, x_i), |w_i| ≤ 1, Σ w_i = 0, and an optimal intercept for it. Cost and options as without intercept."""
    gram, labels = contiguous(problem.gram), problem.labels
    cost, goal = cost_of(labels, problem.regularization), tol * problem.scale()
    for fit in svm_fits(gram, labels, cost, goal=goal, balanced=True, shrinking=shrinking, polishing=polishing, caps=caps_of(problem)):
        point = {"alpha": fit.coefficients, "bias": np.asarray(fit.intercept)}
        yield Iterate(point, {"margins": fit.multipliers}, fit.gap)


def alike(problem: Problem) -> str | None:
    """Why the path is not followed: it is that of samples of one weight."""
    return "samples have weights; a back end takes them" if getattr(problem, "weights", None) is not None else None


@solver(
    "svm",
    solves=HingeSVM.form("ball"),
    summary="the penalised SVM along λ, to the λ at which its norm is that of the ball",
    supports=alike,
    rank=10,
)
def svm_ball(problem: HingeSVM, *, tol: float) -> Iterator[Iterate]:
    """f = C Σ w_i k(·, x_i) with ‖f‖² = c, |w_i| ≤ 1; or a minimiser of the loss, if one lies inside the ball.

    Time and memory: about ten penalised SVMs, each started from the one before; see `svm`.
    """
    for found in ball_candidates(contiguous(problem.gram), problem.labels, math.sqrt(problem.capacity), tol * problem.scale()):
        yield Iterate({"alpha": found.alpha}, {"margins": found.multipliers}, found.gap)
