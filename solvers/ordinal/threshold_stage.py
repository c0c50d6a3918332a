r"""Ordinal regression by semismooth Newton, with the thresholds eliminated: its stage, and the fits it ends in.

    min over w, b of  R(w) + c Σ [±(⟨w, ψ_i⟩ − b_j) + γ]_+   such that  b_{j+1} − b_j ≥ Δ_j,   R a penalty or a ball.

Stages, working sets and safety nets are those of `hinges.newton`; what differs is what a stage does with the thresholds. It minimises
R(w) + ⟨fixed, w⟩ + min over b of ⟨fixed_b, b⟩ + Σ env(±(⟨w, ψ_i⟩ − b_j) + γ)  in w alone. `threshold_choice` gives the best thresholds for
its scores, so that no width, proximal term or multiplier of theirs has to be steered, and the derivative of the minimum is the partial one
there. With pools P of thresholds that move together, and the free hinges of each, its second derivative is c/h times

    Σ_P Σ_{free (i, j), j ∈ P} (ψ_i − ψ̄_P)(ψ_i − ψ̄_P)ᵀ,     ψ̄_P the mean of the free rows of the pool,

the Schur complement of the pools, computed without cancellation. A Newton step of full length is two passes over Ψ at most. The first is
for scores, the second, at their thresholds, for what has changed in the gradient: where few multipliers differ, only their rows are read.

One net more: the gap of the last point is computed anew, and where it is above the goal the interior-point method has the last word.

Memory: f, the move, the pull and, for each hinge, a multiplier, a centre, its ramp and its position; besides, 40 d free rows of streamed
features.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from simopt.core.arrays import Array
from simopt.data.row_blocks import RowBlocks
from simopt.solvers.hinges.newton import FEW, FEW_STATUS, MEMORY_LIMIT, newton_fits
from simopt.solvers.hinges.stage import FreeRows, Indices, Line, Notes, Stage, StageFit
from simopt.solvers.hinges.two_hinges import FIRST
from simopt.solvers.hinges.weight_bounds import QuadraticPenalty, WeightBound
from simopt.solvers.ordinal.threshold_choice import Ramps, choose, line_search
from simopt.solvers.ordinal.threshold_hinges import ThresholdHinges, audit, balance, near, update_multipliers
from simopt.solvers.ordinal.threshold_interior import threshold_interior

RESCUED = "interior point, after Newton's steps had ended with a gap"


class PooledFreeRows(FreeRows):
    """Free rows, each with its threshold."""

    def curvature(self, factor: float, pools: Indices) -> Array:
        """factor · Σ (ψ − ψ̄)(ψ − ψ̄)ᵀ over the free hinges, ψ̄ the mean of their pool; its lower half."""
        H = np.zeros((self.d, self.d), order="F")
        if not self.count:
            return H
        sums, counts = np.zeros((pools[-1] + 1, self.d)), np.zeros(pools[-1] + 1)
        for rows, ends in self.panels():
            mark = (pools[ends][:, None] == np.arange(counts.size)).astype(float)
            sums += mark.T @ rows
            counts += mark.sum(axis=0)
        means = sums / np.maximum(counts, 1.0)[:, None]
        for rows, ends in self.panels():
            np.subtract(rows, means[pools[ends]], out=rows)
            H = dsyrk(factor * self.stride, rows.T, beta=1.0, c=H, lower=1, overwrite_c=1)
        return H


class ThresholdStage(Stage):
    """Samples with hinges against thresholds b, which are the best ones for f; `g_b` is the derivative in b without order rows."""

    _free_rows: PooledFreeRows

    def __init__(
        self, rows: RowBlocks, hinges: ThresholdHinges, bound: WeightBound, fixed: Array, fixed_b: Array, w: Array, b: Array, width: float
    ) -> None:
        super().__init__(rows, bound, fixed, w, width)
        self.hinges, self.fixed_b = hinges, fixed_b
        self.b, self.g_b = b.copy(), fixed_b.copy()
        self.a, self.centre = np.zeros(hinges.table), np.zeros(hinges.table)
        self.multipliers, self.centres = (self.a,), (self.centre,)
        self._free_rows = PooledFreeRows(rows)
        self._pools = np.arange(hinges.count)
        self._plain: Any = (tuple(hinges), tuple(Ramps.of(hinges)))  # numba takes plain tuples four times as fast

    @property
    def vectors(self) -> int:
        """10 and 4 for each hinge of a sample."""
        return 10 + 4 * self.hinges.columns

    def first_width(self) -> float:
        """0.3 times the margin."""
        return FIRST * self.hinges.gamma

    def unit(self) -> float:
        """The margin."""
        return self.hinges.gamma

    def some(self, rows: RowBlocks, chosen: Indices | slice, fixed: Array, for_all: bool = False) -> ThresholdStage:
        """A stage at this point of some of the samples."""
        return ThresholdStage(rows, self.hinges.take(chosen, for_all), self.bound, fixed, self.fixed_b, self.w, self.b, self.width)

    def moved(self, step: Array | None) -> Iterator[tuple[slice, Array]]:
        """The blocks, all of f having moved, and the thresholds with it."""
        if step is not None:
            self.go(step)
        hinges, ramps = self._plain
        choose(self.f, self.move, 0.0, hinges, self.fixed_b, self.centre, self.width, ramps, self.b, self._pools)
        self.g_b = self.fixed_b.copy()
        yield from self.rows

    def blank(self) -> Notes:
        """Each hinge of a sample may be free."""
        return Notes.of(self.rows.step, self.rows.step * self.hinges.columns + 1, np.intp)

    def update_multipliers(self, part: slice, width: float | None = None) -> tuple[int, int, float]:
        """As `threshold_hinges` has it; adds to g_b."""
        if part.start not in self._views:
            found = (self.f[part], tuple(self.hinges.on(part)), self.centre[part], self.a[part], self.pull[part])
            self._views[part.start] = (*found, tuple(self.notes))
        f, hinges, centre, a, pull, notes = self._views[part.start]
        return update_multipliers(f, self.b, hinges, centre, self.width if width is None else width, a, pull, self.g_b, notes)

    def audit(self, part: slice) -> float:
        """As `threshold_hinges` has it; adds to g_b."""
        return audit(self.f[part], self.b, self.hinges.on(part), self.a[part], self.pull[part], self.g_b)

    def update_gap(self) -> None:
        """f = Ψw, and the gradient and the gap of the multipliers as they are, but for rounding; one pass, free of what has piled up.

        The part of g_b that the order rows do not take counts times how far the thresholds could be moved.
        """
        balance(self.hinges, self.fixed_b, self.a)
        self.g_b = self.fixed_b.copy()
        super().update_gap()
        self.rest += order_part(self.f, self.b, self.g_b, self.hinges)

    def curvature(self) -> Array:
        """Second derivative of the stage, with the thresholds at their best."""
        return self._free_rows.curvature(self.hinges.sample_weight / self.width, self._pools)

    def along(self, line: Line) -> float:
        """t in (0, 1] that the line search finds on the way of the last move, whose end f is."""
        hinges, ramps = self._plain
        return line_search(self.f, self.move, hinges, self.fixed_b, self.centre, self.width, ramps, self.b, self._pools, line)

    def near(self, reach: float) -> Indices:
        """The samples within reach · width of a kink, or with a multiplier that does not stand where it should; of each threshold some."""
        rows, nearest = np.empty(self.f.size, dtype=np.intp), np.empty((2, self.hinges.count), dtype=np.intp)
        return rows[: near(self.f, self.b, self.hinges, self.a, reach * self.width, nearest, rows)]

    def part(self, rows: Indices) -> ThresholdStage:
        """A stage of these samples, the others frozen at their multipliers."""
        own, g_b = super().part(rows), np.zeros(self.hinges.count)
        audit(own.f, own.b, own.hinges, own.a, own.pull, g_b)
        own.fixed_b = self.g_b - g_b
        return own

    def follow(self, fit: StageFit) -> None:
        """w and b of a fit."""
        super().follow(fit)
        self.b = fit.b.copy()

    def fit(self, gap: float = np.inf) -> StageFit:
        """The point and the multipliers as they are."""
        return StageFit(self.w, self.multipliers, gap, self.status_text, self.b)

    def order_multipliers(self) -> Array:
        """Multipliers of the order rows, in units of the share: running sums of what pulls the thresholds."""
        out: Array = np.maximum(-np.cumsum(self.g_b)[:-1], 0.0) / self.hinges.sample_weight
        return out

    def interior(self, width: float, goal: float, max_iter: int = 100, status_text: str = "") -> Iterator[StageFit]:
        """The interior-point method, from w, b, the multipliers of their order and a width."""
        start = (self.fixed, self.fixed_b, self.w, self.b, self.order_multipliers(), width)
        for state in threshold_interior(self.rows, self.hinges, self.bound, *start, goal, max_iter):
            yield StageFit(state.w, (state.multipliers,), state.gap, status_text, state.b)


def order_part(f: Array, b: Array, g_b: Array, hinges: ThresholdHinges) -> float:
    """The part of order rows and thresholds in the gap.

    It is ν_j(b_{j+1} − b_j − Δ_j), where ν_j is the running sum −Σ_{i ≤ j} g_b,i if that is not negative, else 0. What is then left of g_b
    is added, in size, times the length in which a balance of the multipliers moves an argument.
    """
    length = float(np.max(np.abs(f)) + np.max(np.abs(b))) + hinges.gamma
    if not hinges.ordered:
        return float(np.sum(np.abs(g_b))) * length
    running = -np.cumsum(g_b)
    order_multipliers = np.maximum(running[:-1], 0.0)
    left = np.abs(np.diff(np.minimum(running, 0.0), prepend=0.0))
    left[-1] += max(running[-1], 0.0)
    return float(order_multipliers @ np.maximum(np.diff(b - hinges.steps), 0.0)) + float(np.sum(left)) * length


def at_zero(rows: RowBlocks, hinges: ThresholdHinges, bound: WeightBound) -> ThresholdStage:
    """The stage at w = 0."""
    d = rows.shape[1]
    return ThresholdStage(rows, hinges, bound, np.zeros(d), np.zeros(hinges.count), np.zeros(d), hinges.steps, FIRST * hinges.gamma)


def threshold_fits(
    rows: RowBlocks, hinges: ThresholdHinges, bound: WeightBound, *, goal: float, memory_limit: float = MEMORY_LIMIT
) -> Iterator[StageFit]:
    """Fits of which the last has a gap of at most `goal`, unless rounding forbids. Their arrays are written on when it goes on."""
    if rows.shape[0] <= FEW * rows.shape[1]:
        yield from interior_fits(rows, hinges, bound, goal=goal, status_text=FEW_STATUS)
        return
    stage = at_zero(rows, hinges, bound)
    yield from newton_fits(stage, goal, memory_limit)
    if not stage.gap <= goal:
        yield from rescued(stage, goal)


def rescued(stage: ThresholdStage, goal: float) -> Iterator[StageFit]:
    """Iterates of the interior-point method from w = 0, once the gap of a stage has turned out to be another.

    A stage knows nothing of what pulls thresholds that are not balanced. The start of the method is free of what went wrong. The last fit
    has the smallest gap of all.
    """
    best = stage.fit(stage.gap)
    for fit in interior_fits(stage.rows, stage.hinges, stage.bound, goal=goal, status_text=RESCUED):
        yield fit
        if not best.gap <= fit.gap:
            best = fit
    if best is not fit:
        yield best


def interior_fits(
    rows: RowBlocks, hinges: ThresholdHinges, bound: WeightBound, *, goal: float, max_iter: int = 100, status_text: str = ""
) -> Iterator[StageFit]:
    """The iterates of the interior-point method from w = 0."""
    start = at_zero(rows, hinges, bound)
    start.sweep()
    start.width = max(start.width, FIRST * loss(start))
    start.sweep()
    yield from start.interior(start.width, goal, max_iter, status_text)


def loss(stage: ThresholdStage) -> float:
    """Σ of the hinges at f and b."""
    h = stage.hinges
    return audit(stage.f, stage.b, h, np.zeros(h.table), np.empty(stage.f.size), np.zeros(h.count))


def compile_kernels() -> None:
    """Call every kernel of the method once, on two samples: a small problem needs only some of them."""
    hinges = ThresholdHinges(np.array([0, 1]), np.zeros(1), 1.0, 0.5)
    stage = at_zero(RowBlocks(np.array([[-1.0], [1.0]])), hinges, QuadraticPenalty(1.0))
    stage.sweep()
    stage.sweep(np.ones(1))
    stage.along(Line(0.0, 1.0, -1.0))
    stage.near(1.0)
    stage.update_gap()
    for _ in interior_fits(stage.rows, hinges, stage.bound, goal=-1.0, max_iter=1):  # no gap is small enough
        pass
