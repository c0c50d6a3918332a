r"""One level of the two-hinge Newton method: some of the samples, the others standing still as a linear term, at a point w.

A stage of the augmented Lagrangian minimises  R(w) + ⟨fixed, w⟩ + Σ_i c_i env_i(⟨w, ψ_i⟩),  R a penalty or a ball, where env_i has the
multipliers of `two_hinges` as slopes. It is evaluated in blocks of rows that stay in the cache: predictions, multipliers, what changes in
the gradient, and copies of the bent rows, of which the second derivative is made when a step is taken. A Newton step of full length is one
pass over Ψ; where the line search shortens it, only the rows are read whose multipliers differ.

Memory: f, the move, the pull, two multipliers and two centres are vectors of n numbers; besides, 40 d bent rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.data.row_blocks import RowBlocks
from simopt.ground.arrays import Array
from simopt.solvers.hinges.hinge_interior import Interior, interior
from simopt.solvers.hinges.stage import MANY, BentRows, Stage
from simopt.solvers.hinges.two_hinges import Hinges, Indices, audit, line_search, near, price
from simopt.solvers.hinges.weight_bounds import Bound


class Bends(BentRows):
    """Bent rows with their share of the second derivative."""

    def curvature(self, factor: float) -> Array:
        """factor · Σ bend_i ψ_i ψ_iᵀ, its lower half."""
        from scipy.linalg.blas import dsyrk

        H = np.zeros((self.d, self.d), order="F")
        for rows, bends in zip(self.rows, self.numbers, strict=True):
            H = dsyrk(1.0, (rows * np.sqrt(factor * self.stride * bends)[:, None]).T, beta=1.0, c=H, lower=1, overwrite_c=1)
        return H


class Level(Stage):
    """Samples with a point w, multipliers, centres and a width."""

    def __init__(self, rows: RowBlocks, hinges: Hinges, bound: Bound, fixed: Array, w: Array, width: float) -> None:
        super().__init__(rows, bound, fixed, w, width)
        n, d = rows.shape
        self.hinges = hinges
        self.below, self.above, self.centre_below, self.centre_above = (np.zeros(n) for _ in range(4))
        self._bends = Bends(d)
        size = rows.step
        self._whole, self._change, self._bend = (np.empty(size) for _ in range(3))
        self._changed, self._bent = (np.empty(size, dtype=np.intp) for _ in range(2))

    def suggest(self) -> None:
        """The multipliers that f = Ψw suggests by itself, away from the kinks."""
        self.place()
        low, high, shift = self.hinges.low, self.hinges.high, self.hinges.shift
        for h, a in ((low - self.f, self.below), (self.f - high, self.above)):
            a[:] = h > 0.0 if shift == 0.0 else np.clip(h / shift, 0.0, 1.0)
        self.judge()

    def judge(self) -> None:
        """f = Ψw, and the gradient and the gap of the multipliers as they are; one pass, free of what rounding has piled up."""
        h = self.hinges
        self.g, self.rest = self.fixed.copy(), 0.0
        for part, block in self.rows:
            f, pull = self.f[part], self.pull[part]
            np.matmul(block, self.w, out=f)
            self.rest += audit(f, h.low[part], h.high[part], h.share[part], h.shift, self.below[part], self.above[part], pull)
            self.g += pull @ block
        self.excess = self.bound.excess(self.g, self.w)

    def sweep(self, step: Array | None = None) -> None:
        """Multipliers, gradient and parts of the gap at f, or at f + Ψ step, which then is the new f."""
        self._bends.clear()
        self.rest = 0.0
        for part, block in self.rows:
            if step is not None:
                np.matmul(block, step, out=self.move[part])
                self.f[part] += self.move[part]
            self._price(part, block)
        if step is not None:
            self.w = self.w + step
        self.excess = self.bound.excess(self.g, self.w)

    def _price(self, part: slice, block: Array) -> None:
        h, f = self.hinges, self.f[part]
        moved, count, rest = price(
            f,
            h.low[part],
            h.high[part],
            h.share[part],
            self.centre_below[part],
            self.centre_above[part],
            self.width,
            h.shift,
            self.below[part],
            self.above[part],
            self.pull[part],
            self._changed,
            self._change,
            self._bent,
            self._bend,
        )
        self.rest += rest
        if moved > MANY * f.size:
            whole = self._whole[: f.size]
            whole[:] = 0.0
            whole[self._changed[:moved]] = self._change[:moved]
            self.g += whole @ block
        elif moved:
            self.g += self._change[:moved] @ block[self._changed[:moved]]
        if count:
            self._bends.add(block, self._bent[:count], self._bend[:count])

    def curvature(self) -> Array:
        """Second derivative of the stage's loss in w, its lower half."""
        return self._bends.curvature(1.0 / (self.width + self.hinges.shift))

    def along(self, slope: float, curvature: float, at_zero: float, at_one: float) -> float:
        """t in (0, 1) that the line search finds on the way of the last move, whose end f is."""
        h = self.hinges
        return line_search(
            self.f,
            self.move,
            h.low,
            h.high,
            h.share,
            self.centre_below,
            self.centre_above,
            self.width,
            h.shift,
            slope,
            curvature,
            at_zero,
            at_one,
        )

    def recentre(self, factor: float) -> None:
        """The multipliers become the centres, and the width is multiplied."""
        self.centre_below[:], self.centre_above[:] = self.below, self.above
        self.width *= factor

    def near(self, reach: float) -> Indices:
        """The samples within reach · width of a kink, or with a multiplier that does not stand where it should."""
        h = self.hinges
        rows = np.empty(self.f.size, dtype=np.intp)
        count = near(self.f, h.low, h.high, self.below, self.above, reach * self.width, h.shift, rows)
        return rows[:count]

    def part(self, rows: Indices) -> Level:
        """A level of these samples, the others frozen at their multipliers."""
        chosen = self.rows.take(rows)
        pull = self.pull[rows]
        own = Level(RowBlocks(chosen), self.hinges.take(rows), self.bound, self.g - pull @ chosen, self.w, self.width)
        own.f[:], own.below[:], own.above[:], own.pull[:] = self.f[rows], self.below[rows], self.above[rows], pull
        own.centre_below[:], own.centre_above[:] = own.below, own.above
        own.g = self.g.copy()
        return own

    def adopt(self, own: Level, rows: Indices) -> None:
        """The point and the multipliers that a part has reached, judged on all samples of this level."""
        self.w = own.w.copy()
        self.below[rows], self.above[rows] = own.below, own.above
        self.newtons += own.newtons
        self.judge()

    def inward(self, goal: float) -> Iterator[Interior]:
        """States of the interior-point method from w and half the width; the best of them so far is taken over."""
        best = np.inf
        for state in interior(self.rows, self.hinges, self.bound, self.fixed, self.w, 0.5 * self.width, goal):
            if state.gap < best:
                best = state.gap
                self.w, self.below[:], self.above[:] = state.w.copy(), state.below, state.above
            yield state
