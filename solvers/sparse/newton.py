r"""Smoothed ε-insensitive regression over the ℓ₁ ball by a fully corrective active set, with a certified gap after every sweep.

The certificate costs one product Xᵀc: with c_i = ℓ̃_β'(r_i) and G = Xᵀc/n the gap is ⟨G, w⟩ + B‖G‖_∞ (where samples have weights their
weights stand in place of 1/n). Columns of large |G_j| join S, on which a semismooth Newton method minimises the loss (`active_columns`). If
S grows past `dense`, or the gap stays open, the interior-point method of `sparse_interior` takes over. It needs a square matrix of the
columns: if they are more than `wide`, accelerated projected gradients take over instead.

β = ∞, a linear programme, is solved by proximal points of its dual. min over |c| ≤ 1 of … + (1/2β)‖c − c_k‖² is the smoothed problem with
targets y − c_k/β, and its c is the next c_k. Each c bounds the optimum; the gap of the ε-insensitive loss has the further part
(1/n) Σ ℓ_ε(r_i) − (c_i r_i − ε|c_i|) ≥ 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simopt.core.arrays import Array
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.sparse.active_columns import ActiveSet, SmoothedLoss, accelerated
from simopt.solvers.sparse.sparse_interior import interior_point
from simopt.solving.solution import Iterate

INNER = 0.05  # fraction of the gap to which S is solved before all columns are looked at again
GRADIENT_STEPS = 20  # between two looks
PATIENCE = 12  # looks without progress
FIRST_BETA, STEEPER, LAST_BETA = 10.0, 4.0, 1e9
ROUGH = 0.1  # fraction of the first gap at which the solution for a smaller β is left
EASY = 0.3  # a proximal point is exact enough where the ball's part of the gap is this fraction of the hinges'


def fully_corrective(problem: SparseLandmarked, tol: float, max_iter: int, dense: int, wide: int, adding: float) -> Iterator[Iterate]:
    """An iterate at every look at all columns; then, if the gap is still open, w with multipliers 0, and interior points."""
    goal = tol * problem.scale()
    y, beta, narrow, sample_weights = problem.targets, problem.smoothness, problem.features.shape[1] <= wide, problem.sample_weights.floats
    first = SmoothedLoss(y, problem.epsilon, beta if beta < math.inf else FIRST_BETA, sample_weights)
    active, gap = ActiveSet(problem.features, first, problem.radius), math.inf
    run = _smoothed if beta < math.inf else _proximal
    for found in run(active, goal, max_iter, dense, adding):
        yield found
        gap = found.gap
        if gap > goal and narrow and len(active.S) > dense:
            break
    if gap > goal:  # a loss that is itself so small needs no multipliers
        yield Iterate(
            {"w": active.weights_of_all()},
            multipliers(np.zeros(len(y)), sample_weights),
            float(problem.objective({"w": active.weights_of_all()})),
        )
    if gap > goal and narrow:
        yield from interior_point(problem, tol=tol)


def multipliers(c: Array, sample_weights: Array) -> dict[str, Array]:
    """p and q of the rows `above` and `below`: c times the weights of the samples, 1/n or others, split by sign."""
    return {"above": sample_weights * np.maximum(c, 0.0), "below": sample_weights * np.maximum(-c, 0.0)}


def _smoothed(active: ActiveSet, goal: float, max_iter: int, dense: int, adding: float) -> Iterator[Iterate]:
    """Looks at β, after rough solutions for smaller β where it is large: their quadratic zones hold more samples."""
    last, sweeps = active.loss, 0
    beta = min(FIRST_BETA, last.beta)
    while sweeps < max_iter:
        active.loss = last if beta == last.beta else SmoothedLoss(last.targets, last.epsilon, beta, last.sample_weights)
        start, best, waited = 0.0, math.inf, 0
        while sweeps < max_iter:
            sweeps += 1
            c = active.loss.slopes(active.residual)
            G = active.gradient(c)
            gap = active.gap(G)
            start = max(start, gap)
            yield Iterate(
                {"w": active.weights_of_all()}, multipliers(c, active.loss.sample_weights), gap if beta == last.beta else math.inf
            )
            if beta < last.beta and gap <= max(ROUGH * start, goal):
                break
            best, waited = (gap, 0) if gap < 0.9 * best else (best, waited + 1)
            if gap == 0.0 or waited > PATIENCE:
                break
            _improve(active, G, max(INNER * gap, 0.2 * goal if gap > goal else 0.0), dense, adding, stuck=waited > PATIENCE // 2)
        if beta == last.beta:
            return
        beta = min(STEEPER * beta, last.beta)


def _improve(active: ActiveSet, G: Array, goal: float, dense: int, adding: float, stuck: bool = False) -> None:
    if (len(active.S) > dense) != stuck:  # what made no progress gives way to the other
        accelerated(active, GRADIENT_STEPS)
        return
    active.grow(G, adding)
    active.correct(goal)


def _proximal(active: ActiveSet, goal: float, max_iter: int, dense: int, adding: float) -> Iterator[Iterate]:
    y, epsilon, beta, sample_weights = active.loss.targets, active.loss.epsilon, FIRST_BETA, active.loss.sample_weights
    c = np.zeros(len(y))
    sweeps, previous = 0, math.inf
    while sweeps < max_iter:
        active.loss = SmoothedLoss(y - c / beta, epsilon, beta, sample_weights)
        active.refresh()
        best, waited = math.inf, 0
        while sweeps < max_iter:
            sweeps += 1
            slopes = active.loss.slopes(active.residual)
            G = active.gradient(slopes)
            r = active.residual - c / beta
            ball = active.gap(G)
            kinks = float(sample_weights @ (np.maximum(np.abs(r) - epsilon, 0.0) - (slopes * r - epsilon * np.abs(slopes))))
            yield Iterate({"w": active.weights_of_all()}, multipliers(slopes, sample_weights), ball + kinks)
            if ball <= EASY * kinks or ball <= 0.25 * goal:
                break
            best, waited = (ball, 0) if ball < 0.9 * best else (best, waited + 1)
            if waited > PATIENCE:
                return
            _improve(active, G, max(INNER * ball, 0.1 * goal), dense, adding, stuck=waited > PATIENCE // 2)
        c = slopes
        if kinks > 0.3 * previous:
            beta = min(STEEPER * beta, LAST_BETA)
        previous = kinks
