r"""Ordinal regression by semismooth Newton on the augmented Lagrangian, on ever fewer samples, with the thresholds eliminated.

    min over w, b of  R(w) + c Σ [±(⟨w, ψ_i⟩ − b_j) + γ]_+   such that  b_{j+1} − b_j ≥ Δ_j,   R a penalty or a ball.

The stages, working sets and safety nets are those of `hinges.newton`; what differs is what a stage does with the thresholds: it takes the
best ones for its scores (`threshold_choice`), so that no width, proximal term or multiplier of theirs has to be steered. One net more: the
gap of the last point is computed anew, and where it is above the goal the interior-point method has the last word.

Cost: as for landmarked SVR, but up to two passes over Ψ a step. Memory: 10 vectors of n numbers, 4 more for each hinge of a sample, `room`
bytes for copies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simopt.data.row_blocks import RowBlocks
from simopt.ground.arrays import Array
from simopt.solvers.hinges.newton import FEW, FIRST, ROOM, SAMPLE_GAP, SAMPLED, climb, settled
from simopt.solvers.hinges.weight_bounds import Bound, Penalty
from simopt.solvers.ordinal.level import ThresholdLevel
from simopt.solvers.ordinal.threshold_hinges import ThresholdHinges, audit
from simopt.solvers.ordinal.threshold_interior import threshold_interior

RESCUED = "interior point, after Newton's steps had ended with a gap"


@dataclass(frozen=True, eq=False)
class ThresholdFit:
    """A point, multipliers in [0, 1] (in units of their share), their gap (∞ if not computed on all samples), and how it was found."""

    w: Array
    b: Array
    multipliers: Array
    gap: float
    word: str


def at_zero(rows: RowBlocks, hinges: ThresholdHinges, bound: Bound) -> ThresholdLevel:
    """The level at w = 0, with a first width of 0.3 times the margin."""
    d = rows.shape[1]
    level = ThresholdLevel(rows, hinges, bound, np.zeros(d), np.zeros(hinges.count), np.zeros(d), hinges.steps, FIRST * hinges.gamma)
    level.sweep()
    return level


def loss(level: ThresholdLevel) -> float:
    """Σ of the hinges at f and b."""
    h = level.hinges
    zero, pull, g_b = np.zeros(h.table), np.empty(level.f.size), np.zeros(h.count)
    return audit(level.f, h.rank, level.b, h.gamma, h.share, h.every, zero, pull, g_b)


def threshold_fits(rows: RowBlocks, hinges: ThresholdHinges, bound: Bound, *, goal: float, room: float = ROOM) -> Iterator[ThresholdFit]:
    """Fits of which the last has a gap of at most `goal`, unless rounding forbids. Their arrays are written on when it goes on."""
    n, d = rows.shape
    if n <= FEW * d:
        yield from interior_fits(rows, hinges, bound, goal=goal, word="interior point, for few samples")
        return
    w, b, width = from_subsample(rows, hinges, bound, room)
    level = settled(ThresholdLevel(rows, hinges, bound, np.zeros(d), np.zeros(hinges.count), w, b, width))
    for _ in climb(level, goal, room):
        yield ThresholdFit(level.w, level.b, level.a, math.inf, level.word)
    level.judge()
    yield ThresholdFit(level.w, level.b, level.a, level.gap, level.word)
    if not level.gap <= goal:
        yield from rescued(level, goal)


def rescued(level: ThresholdLevel, goal: float) -> Iterator[ThresholdFit]:
    """Iterates of the interior-point method from w = 0, once the gap of a stage, which knows nothing of what pulls thresholds that are not
    balanced, has turned out to be another: the start of the method is free of what went wrong. The last fit has the smallest gap of all.
    """
    best = ThresholdFit(level.w, level.b, level.a, level.gap, level.word)
    for fit in interior_fits(level.rows, level.hinges, level.bound, goal=goal, word=RESCUED):
        yield fit
        if not best.gap <= fit.gap:
            best = fit
    if best is not fit:
        yield best


def interior_fits(
    rows: RowBlocks, hinges: ThresholdHinges, bound: Bound, *, goal: float, max_iter: int = 100, word: str = ""
) -> Iterator[ThresholdFit]:
    """The iterates of the interior-point method from w = 0."""
    start = at_zero(rows, hinges, bound)
    start.width = max(start.width, FIRST * loss(start))
    start.sweep()
    places = (start.fixed, start.fixed_b, start.w, start.b, start.prices(), start.width)
    for state in threshold_interior(rows, hinges, bound, *places, goal, max_iter):
        yield ThresholdFit(state.w, state.b, state.multipliers, state.gap, word)


def from_subsample(rows: RowBlocks, hinges: ThresholdHinges, bound: Bound, room: float) -> tuple[Array, Array, float]:
    """w, b and a width to start with: those at which a subsample, evenly spread, is solved roughly; w = 0 if there are few samples."""
    n, d = rows.shape
    if n < SAMPLED[0] * d:
        return np.zeros(d), hinges.steps, FIRST * hinges.gamma
    stride = 8 if n >= SAMPLED[1] * d else 4
    stride = max(stride, math.ceil(8 * n * (d + 10 + 4 * hinges.columns) / (0.8 * room)))
    part = slice(stride // 2, None, stride)
    chosen = RowBlocks(rows.take(part))
    few = hinges.take(part, hinges.share * n / chosen.shape[0])
    w, b, width = from_subsample(chosen, few, bound, room)
    sample = settled(ThresholdLevel(chosen, few, bound, np.zeros(d), np.zeros(few.count), w, b, width))
    for _ in climb(sample, SAMPLE_GAP * hinges.gamma, room):
        pass
    return sample.w, sample.b, sample.width


def compile_kernels() -> None:
    """Call every kernel of the method once, on two samples: a small problem needs only some of them."""
    hinges = ThresholdHinges(np.array([0, 1]), np.zeros(1), 1.0, 0.5)
    level = at_zero(RowBlocks(np.array([[-1.0], [1.0]])), hinges, Penalty(1.0))
    level.sweep(np.ones(1))
    level.along(0.0, 1.0, -1.0, 1.0)
    level.near(1.0)
    level.judge()
    for _ in interior_fits(level.rows, hinges, level.bound, goal=-1.0, max_iter=1):  # no gap is small enough
        pass
