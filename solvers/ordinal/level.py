r"""One level of the Newton method of ordinal regression: some of the samples, the others standing still, at w and its best thresholds.

A stage minimises  R(w) + ⟨fixed, w⟩ + min over b of ⟨fixed_b, b⟩ + Σ env(±(⟨w, ψ_i⟩ − b_j) + γ)  in w alone: `threshold_choice` gives the
best thresholds, and the derivative of the minimum is the partial one there. With pools P of thresholds that move together, and the bent
hinges of each, its second derivative is c/h times

    Σ_P Σ_{bent (i, j), j ∈ P} (ψ_i − ψ̄_P)(ψ_i − ψ̄_P)ᵀ,     ψ̄_P the mean of the bent rows of the pool,

the Schur complement of the pools, computed without cancellation. A Newton step of full length is two passes over Ψ at most: scores first,
then, at their thresholds, what has changed in the gradient, for which only rows are read whose multipliers differ where these are few.

Memory: f, the move, the pull and, for each hinge, a multiplier, a centre, its ramp and its place; besides, 40 d bent rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.data.row_blocks import RowBlocks
from simopt.ground.arrays import Array
from simopt.solvers.hinges.stage import MANY, BentRows, Stage
from simopt.solvers.hinges.weight_bounds import Bound
from simopt.solvers.ordinal.threshold_choice import by_threshold, choose, line_search
from simopt.solvers.ordinal.threshold_hinges import Indices, ThresholdHinges, audit, balance, near, price
from simopt.solvers.ordinal.threshold_interior import ThresholdInterior, threshold_interior


class PooledBends(BentRows):
    """Bent rows with the threshold that bends them."""

    def curvature(self, factor: float, pools: Indices) -> Array:
        """factor · Σ (ψ − ψ̄)(ψ − ψ̄)ᵀ over the bent hinges, ψ̄ the mean of their pool; its lower half."""
        from scipy.linalg.blas import dsyrk

        H = np.zeros((self.d, self.d), order="F")
        if not self.rows:
            return H
        marks = [(pools[ends][:, None] == np.arange(pools[-1] + 1)).astype(float) for ends in self.numbers]
        sums = sum(mark.T @ rows for mark, rows in zip(marks, self.rows, strict=True))
        means = sums / np.maximum(sum(mark.sum(axis=0) for mark in marks), 1.0)[:, None]
        for rows, ends in zip(self.rows, self.numbers, strict=True):
            centred = rows - means[pools[ends]]
            H = dsyrk(factor * self.stride, centred.T, beta=1.0, c=H, lower=1, overwrite_c=1)
        return H


class ThresholdLevel(Stage):
    """Samples with w, thresholds b, multipliers a, centres and a width; `g_b` is the derivative in b without order rows."""

    def __init__(
        self,
        rows: RowBlocks,
        hinges: ThresholdHinges,
        bound: Bound,
        fixed: Array,
        fixed_b: Array,
        w: Array,
        b: Array,
        width: float,
    ) -> None:
        super().__init__(rows, bound, fixed, w, width)
        self.hinges, self.fixed_b = hinges, fixed_b
        self.b, self.g_b = b.copy(), fixed_b.copy()
        self.a, self.centre = np.zeros(hinges.table), np.zeros(hinges.table)
        self._bends = PooledBends(rows.shape[1])
        self._pools = np.arange(hinges.count)
        self._segments, self._places = np.zeros(2 * hinges.count + 1, dtype=np.intp), np.empty(self.a.size, dtype=np.intp)
        by_threshold(hinges.rank, hinges.count, hinges.every, self._segments, self._places)
        self._u = np.empty(self.a.size)
        size = rows.step
        self._whole, self._change = np.empty(size), np.empty(size)
        self._changed = np.empty(size, dtype=np.intp)
        self._bent, self._ends = (np.empty(size * hinges.columns + 1, dtype=np.intp) for _ in range(2))

    def sweep(self, step: Array | None = None) -> None:
        """Thresholds, multipliers, gradient and parts of the gap at f, or at f + Ψ step, which then is the new f."""
        h = self.hinges
        if step is not None:
            for part, block in self.rows:
                np.matmul(block, step, out=self.move[part])
            self.f += self.move
            self.w = self.w + step
        choose(
            self.f,
            self.move,
            0.0,
            h.gamma,
            h.share,
            h.ordered,
            h.steps,
            self.fixed_b,
            self.centre,
            self.width,
            self._segments,
            self._places,
            self._u,
            self.b,
            self._pools,
        )
        self._bends.clear()
        self.rest, self.g_b = 0.0, self.fixed_b.copy()
        for part, block in self.rows:
            self._price(part, block)
        self.excess = self.bound.excess(self.g, self.w)

    def _price(self, part: slice, block: Array) -> None:
        h, f = self.hinges, self.f[part]
        moved, count, rest = price(
            f,
            h.rank[part],
            self.b,
            h.gamma,
            h.share,
            h.every,
            self.centre[part],
            self.width,
            self.a[part],
            self.pull[part],
            self.g_b,
            self._changed,
            self._change,
            self._bent,
            self._ends,
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
            self._bends.add(block, self._bent[:count], self._ends[:count])

    def judge(self) -> None:
        """f = Ψw, and the gradient and the gap of the multipliers as they are, but for rounding; one pass, free of what has piled up.

        What is left of g_b, once the order rows have taken their part, is priced by how far the thresholds could be moved.
        """
        h = self.hinges
        balance(h.rank, h.every, h.share, self.fixed_b, self.a)
        self.g, self.g_b, self.rest = self.fixed.copy(), self.fixed_b.copy(), 0.0
        for part, block in self.rows:
            f, pull = self.f[part], self.pull[part]
            np.matmul(block, self.w, out=f)
            self.rest += audit(f, h.rank[part], self.b, h.gamma, h.share, h.every, self.a[part], pull, self.g_b)
            self.g += pull @ block
        self.rest += order_part(self.f, self.b, self.g_b, h)
        self.excess = self.bound.excess(self.g, self.w)

    def curvature(self) -> Array:
        """Second derivative of the stage, with the thresholds at their best."""
        return self._bends.curvature(self.hinges.share / self.width, self._pools)

    def along(self, slope: float, curvature: float, at_zero: float, at_one: float) -> float:
        """t in (0, 1) that the line search finds on the way of the last move, whose end f is."""
        h = self.hinges
        return line_search(
            self.f,
            self.move,
            h.rank,
            h.gamma,
            h.share,
            h.every,
            h.steps,
            self.fixed_b,
            self.centre,
            self.width,
            self._segments,
            self._places,
            self._u,
            self.b,
            self._pools,
            slope,
            curvature,
            at_zero,
            at_one,
        )

    def recentre(self, factor: float) -> None:
        """The multipliers become the centres, and the width is multiplied."""
        self.centre[:] = self.a
        self.width *= factor

    def near(self, reach: float) -> Indices:
        """The samples within reach · width of a kink, or with a multiplier that does not stand where it should; of each threshold some."""
        h = self.hinges
        rows, nearest = np.empty(self.f.size, dtype=np.intp), np.empty((2, h.count), dtype=np.intp)
        count = near(self.f, h.rank, self.b, h.gamma, h.every, self.a, reach * self.width, nearest, rows)
        return rows[:count]

    def part(self, rows: Indices) -> ThresholdLevel:
        """A level of these samples, the others frozen at their multipliers."""
        chosen, h = self.rows.take(rows), self.hinges.take(rows)
        pull, g_b = self.pull[rows], np.zeros(h.count)
        own = ThresholdLevel(RowBlocks(chosen), h, self.bound, self.g - pull @ chosen, self.fixed_b, self.w, self.b, self.width)
        own.f[:], own.a[:], own.centre[:] = self.f[rows], self.a[rows], self.a[rows]
        audit(own.f, h.rank, own.b, h.gamma, h.share, h.every, own.a, own.pull, g_b)
        own.fixed_b = self.g_b - g_b
        own.g = self.g.copy()
        return own

    def adopt(self, own: ThresholdLevel, rows: Indices) -> None:
        """The point and the multipliers that a part has reached, judged on all samples of this level."""
        self.w, self.b = own.w.copy(), own.b.copy()
        self.a[rows] = own.a
        self.newtons += own.newtons
        self.judge()

    def prices(self) -> Array:
        """Multipliers of the order rows, in units of the share: running sums of what pulls the thresholds."""
        out: Array = np.maximum(-np.cumsum(self.g_b)[:-1], 0.0) / self.hinges.share
        return out

    def inward(self, goal: float) -> Iterator[ThresholdInterior]:
        """States of the interior-point method from w and half the width; the best of them so far is taken over."""
        best = np.inf
        start = (self.fixed, self.fixed_b, self.w, self.b, self.prices(), 0.5 * self.width)
        for state in threshold_interior(self.rows, self.hinges, self.bound, *start, goal):
            if state.gap < best:
                best = state.gap
                self.w, self.b, self.a[:] = state.w.copy(), state.b.copy(), state.multipliers
            yield state


def order_part(f: Array, b: Array, g_b: Array, hinges: ThresholdHinges) -> float:
    """What order rows and thresholds leave of the gap: ν_j(b_{j+1} − b_j − Δ_j) with the running sums −Σ_{i ≤ j} g_b,i as ν_j where these
    are not negative, and |what of g_b is then left| times the length in which a balance of the multipliers moves an argument.
    """
    length = float(np.max(np.abs(f)) + np.max(np.abs(b))) + hinges.gamma
    if not hinges.ordered:
        return float(np.sum(np.abs(g_b))) * length
    running = -np.cumsum(g_b)
    prices = np.maximum(running[:-1], 0.0)
    left = np.abs(np.diff(np.minimum(running, 0.0), prepend=0.0))
    left[-1] += max(running[-1], 0.0)
    return float(prices @ np.maximum(np.diff(b - hinges.steps), 0.0)) + float(np.sum(left)) * length
