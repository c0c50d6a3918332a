"""Solvers of the penalised hinge SVM, without and with intercept, by second-order pair selection and a semismooth Newton polish."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.ground.arrays import Array
from simopt.problems.hinge_svm import HingeSVM
from simopt.solvers.svm.svm_fit import SVMFit, contiguous, svm_fits
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

PROBES = 8  # samples whose margin under the mean is looked at before all of them are


def cost_of(labels: Array, regularization: float) -> float:
    """LIBSVM's C = 1/(nλ)."""
    return 1.0 / (len(labels) * regularization)


def mean_start(gram: Array, labels: Array, cost: float) -> Array | None:
    """w = y, which is f = ω_S/λ, if no one of a few samples has a margin above 1 there; else None. A few rows of K."""
    rows = np.unique(np.linspace(0, len(labels) - 1, PROBES).astype(np.intp))
    return labels.copy() if np.all(cost * labels[rows] * (gram[rows] @ labels) <= 1.0) else None


def _iterates(fits: Iterator[SVMFit], biased: bool) -> Iterator[Iterate]:
    for fit in fits:
        point: dict[str, Array] = {"alpha": fit.coefficients}
        if biased:
            point["bias"] = np.asarray(fit.intercept)
        yield Iterate(point, {"margins": fit.multipliers}, fit.gap)


@solver(
    "svm", solves=HingeSVM.form("penalty"), summary="second-order pair selection with shrinking, then a semismooth Newton polish", rank=10
)
def svm(problem: HingeSVM, *, tol: float, shrinking: bool = True, polishing: bool = True) -> Iterator[Iterate]:
    """f = C Σ w_i k(·, x_i), |w_i| ≤ 1, C = 1/(nλ).

    Time: pair steps of about 2 ns a sample in play, about n of them at C = 1 and 10 n at C = 100, each of which reads two rows of K; a few
    products of K with the weights; then, where tight gaps or large C make that the quicker way, k³/3 flops a Newton step for k samples
    on the margin. Memory: at most n²/4 numbers besides K. `shrinking` = False keeps all samples in play, `polishing` = False leaves all
    work to the pairs.
    """
    gram, labels = contiguous(problem.gram), problem.labels
    cost = cost_of(labels, problem.regularization)
    start, goal = mean_start(gram, labels, cost), tol * problem.scale()
    return _iterates(svm_fits(gram, labels, cost, goal=goal, start=start, shrinking=shrinking, polishing=polishing), False)


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
    return _iterates(svm_fits(gram, labels, cost, goal=goal, balanced=True, shrinking=shrinking, polishing=polishing), True)
