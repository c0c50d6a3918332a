r"""Two hinges a sample by semismooth Newton: their stage, and the fits it ends in.

    min over w of  R(w) + Σ_i c_i (s(lo_i − f_i) + s(f_i − hi_i)),   f = Ψw,   R a penalty or a ball.

A stage minimises  R(w) + ⟨fixed, w⟩ + Σ_i c_i env_i(⟨w, ψ_i⟩)  where env_i has the multipliers of `two_hinges` as slopes. A Newton step of
full length is one pass over Ψ; where the line search shortens it, only the rows are read whose multipliers differ.

Memory: f, the move, the pull, two multipliers and two centres are vectors of n numbers; besides, 40 d free rows of streamed features.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg.blas import dsyrk

from simopt.core.arrays import Array
from simopt.data.row_blocks import RowBlocks, RowPass
from simopt.solvers.hinges import two_hinges
from simopt.solvers.hinges.hinge_interior import interior
from simopt.solvers.hinges.newton import FEW, FEW_STATUS, MEMORY_LIMIT, far, newton_fits, sampled
from simopt.solvers.hinges.stage import FreeRows, Indices, Line, Notes, Stage, StageFit
from simopt.solvers.hinges.two_hinges import Hinges, Pair
from simopt.solvers.hinges.weight_bounds import QuadraticPenalty, WeightBound


class WeightedFreeRows(FreeRows):
    """Free rows with their weight in the second derivative."""

    def curvature(self, factor: float) -> Array:
        """factor · Σ bend_i ψ_i ψ_iᵀ, its lower half."""
        H = np.zeros((self.d, self.d), order="F")
        for rows, numbers in self.panels():
            np.multiply(rows, np.sqrt(factor * self.stride * numbers)[:, None], out=rows)
            H = dsyrk(1.0, rows.T, beta=1.0, c=H, lower=1, overwrite_c=1)
        return H


class HingeStage(Stage):
    """Samples with two hinges each."""

    multipliers: Pair
    centres: Pair
    _free_rows: WeightedFreeRows
    local = True

    def __init__(self, rows: RowBlocks, hinges: Hinges, bound: WeightBound, fixed: Array, w: Array, width: float) -> None:
        super().__init__(rows, bound, fixed, w, width)
        n = rows.shape[0]
        self.hinges = hinges
        self.multipliers, self.centres = Pair.zeros(n), Pair.zeros(n)
        self._free_rows = WeightedFreeRows(rows)

    @property
    def vectors(self) -> int:
        """12."""
        return 12

    def first_width(self) -> float:
        """The width of the hinges."""
        return self.hinges.first_width()

    def unit(self) -> float:
        """The loss at 0."""
        return self.hinges.loss_at_zero()

    def some(self, rows: RowBlocks, chosen: Indices | slice, fixed: Array, for_all: bool = False) -> HingeStage:
        """A stage at this point of some of the samples."""
        return HingeStage(rows, self.hinges.take(chosen, for_all), self.bound, fixed, self.w, self.width)

    def suggest(self) -> None:
        """The multipliers that f = Ψw suggests by itself, away from the kinks."""
        if np.any(self.w):
            self.set_predictions()
        low, high, _, shift = self.hinges
        for h, a in zip((low - self.f, self.f - high), self.multipliers, strict=True):
            a[:] = h > 0.0 if shift == 0.0 else np.clip(h / shift, 0.0, 1.0)
        self.update_gap()

    def blank(self) -> Notes:
        """One free hinge a sample."""
        return Notes.of(self.rows.step, self.rows.step, float)

    def update_multipliers(self, part: slice, width: float | None = None) -> tuple[int, int, float]:
        """As `two_hinges` has it."""
        if part.start not in self._views:
            found = (self.hinges.on(part), self.centres.on(part), self.multipliers.on(part))
            self._views[part.start] = (self.f[part], *map(tuple, found), self.pull[part])  # numba takes plain tuples four times as fast
        f, hinges, centres, multipliers, pull = self._views[part.start]
        notes: Any = tuple(self.notes)
        return two_hinges.update_multipliers(f, hinges, centres, self.width if width is None else width, multipliers, pull, notes)

    def audit(self, part: slice) -> float:
        """As `two_hinges` has it."""
        return two_hinges.audit(self.f[part], *self.hinges.on(part), *self.multipliers.on(part), self.pull[part])

    def curvature(self) -> Array:
        """Second derivative of the stage's loss in w, its lower half."""
        return self._free_rows.curvature(1.0 / (self.width + self.hinges.shift))

    def along(self, line: Line) -> float:
        """t in (0, 1] that the line search finds on the way of the last move, whose end f is."""
        return two_hinges.line_search(self.f, self.move, self.hinges, self.centres, self.width, line)

    def near(self, reach: float) -> Indices:
        """The samples within reach · width of a kink, or with a multiplier that does not stand where it should."""
        rows = np.empty(self.f.size, dtype=np.intp)
        return rows[: two_hinges.near(self.f, self.hinges, self.multipliers, reach * self.width, rows)]

    def interior(self, width: float, goal: float, max_iter: int = 100, status_text: str = "") -> Iterator[StageFit]:
        """The interior-point method, from w and a width."""
        for state in interior(self.rows, self.hinges, self.bound, self.fixed, self.w, width, goal, max_iter):
            yield StageFit(state.w, Pair(state.below, state.above), state.gap, status_text)


def at_zero(rows: RowBlocks, hinges: Hinges, bound: WeightBound) -> HingeStage:
    """The stage at w = 0."""
    d = rows.shape[1]
    return HingeStage(rows, hinges, bound, np.zeros(d), np.zeros(d), 0.0)


def hinge_fits(rows: RowPass, hinges: Hinges, bound: WeightBound, *, goal: float, memory_limit: float = MEMORY_LIMIT) -> Iterator[StageFit]:
    """Fits of which the last has a gap of at most `goal`, unless rounding forbids. Their arrays are written on when it goes on."""
    stage = at_zero(rows, hinges, bound)
    chosen = sampled(rows, stage.vectors, memory_limit)
    if chosen is not None and far(rows):
        rows.copy_ahead(chosen)
    stage.suggest()
    yield stage.fit(stage.gap)
    if stage.gap <= goal:
        return
    del stage
    if rows.shape[0] <= FEW * rows.shape[1]:
        yield from interior_fits(rows, hinges, bound, goal=goal, status_text=FEW_STATUS)
    else:
        yield from newton_fits(at_zero(rows, hinges, bound), goal, memory_limit)


def interior_fits(
    rows: RowBlocks, hinges: Hinges, bound: WeightBound, *, goal: float, max_iter: int = 100, status_text: str = ""
) -> Iterator[StageFit]:
    """The iterates of the interior-point method from w = 0."""
    yield from at_zero(rows, hinges, bound).interior(hinges.first_width(), goal, max_iter, status_text)


def compile_kernels() -> None:
    """Call every kernel of the method once, on one sample: a small problem needs only some of them."""
    one = np.ones(1)
    stage = HingeStage(RowBlocks(np.ones((1, 1))), Hinges(-one, one, one.copy(), 1.0), QuadraticPenalty(1.0), np.zeros(1), one, 1.0)
    stage.suggest()
    stage.sweep(one)
    stage.along(Line(0.0, 1.0, -1.0))
    stage.near(1.0)
    for _ in stage.interior(1.0, -1.0, max_iter=1):  # no gap is small enough
        pass
