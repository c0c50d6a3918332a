r"""Ordinal regression by Mehrotra's primal-dual interior-point method, with thresholds and their order, and d × d normal equations.

The hinges, with arguments ±(f_i − b_j) + γ, are those of `simopt.solvers.hinges.central_path`, on which it starts. An order row has the
slack t_j = b_{j+1} − b_j − Δ_j > 0, which every step keeps exact, and a multiplier ν_j (in units of the weight) with ν_j t_j = μ. Newton's
equations leave a quadratic model in (w, b): its second derivative is Σ D (ψ_i, −e_j)(ψ_i, −e_j)ᵀ over the hinges, plus Σ (ν/t) of the order
rows in b. The thresholds are eliminated, and the bound's own step solves what is left, in the ball as a trust region.

An iteration costs n d² multiplications, two steps of the bound and five products with Ψ; there are 10 to 30 of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.data.row_blocks import RowBlocks
from simopt.solvers.hinges.central_path import FRACTION_TO_BOUNDARY, central_point, max_step, newton_step, newton_term
from simopt.solvers.hinges.weight_bounds import WeightBound, factor, solve
from simopt.solvers.interior.predictor_corrector import Lengths, PredictorCorrector
from simopt.solvers.ordinal.threshold_hinges import ThresholdHinges
from simopt.solvers.ordinal.threshold_order import NoOrder, OrderRows

TINY = 1e-300  # a weight
Moves = tuple[Array, Array]  # of w and b


@kernel
def centre(h: Array, mu: float, state: Array) -> None:
    """a, ā, x, s (rows 0-3) of hinges with arguments h on the central path."""
    for k in range(h.size):
        state[0, k], state[1, k], state[2, k], state[3, k] = central_point(h[k], mu)


@kernel
def newton_terms(h: Array, state: Array, move: Array, mu: float, weight: Array, q: Array) -> None:
    """D and q of each hinge; `move` holds the predictor's da, dx, ds, or 0."""
    for k in range(h.size):
        hinge = state[0, k], state[1, k], state[2, k], state[3, k]
        weight[k], q[k] = newton_term(h[k], 0.0, hinge, (move[0, k], move[1, k], move[2, k]), mu)


@kernel
def directions(dh: Array, state: Array, move: Array, mu: float, q: Array) -> float:
    """da, dx, ds (in the place of the predictor's) for the step dh of the arguments, and the largest t ≤ 1 that keeps all positive."""
    longest = 1.0
    for k in range(dh.size):
        hinge = state[0, k], state[1, k], state[2, k], state[3, k]
        step = newton_step(dh[k], q[k], 0.0, hinge, (move[0, k], move[1, k], move[2, k]), mu)
        move[0, k], move[1, k], move[2, k] = step
        longest = max_step(hinge, step, longest)
    return longest


@kernel
def products(state: Array, move: Array, t: float) -> float:
    """Σ as + āx at state + t move."""
    total = 0.0
    for k in range(state.shape[1]):
        total += (state[0, k] + t * move[0, k]) * (state[3, k] + t * move[2, k])
        total += (state[1, k] - t * move[0, k]) * (state[2, k] + t * move[1, k])
    return total


class ThresholdInterior(PredictorCorrector[Moves]):
    """The method's state: w, thresholds b, `multipliers` in a table; their gap is `rest` (hinges, order) and `excess` (the bound's)."""

    back: ClassVar[float] = FRACTION_TO_BOUNDARY
    patience: ClassVar[int] = 10
    fall: ClassVar[float] = 1.0  # any smaller gap is progress

    def __init__(
        self,
        rows: RowBlocks,
        hinges: ThresholdHinges,
        bound: WeightBound,
        fixed: Array,
        fixed_b: Array,
        w: Array,
        b: Array,
        order_multipliers: Array,
        mu: float,
    ) -> None:
        n = rows.shape[0]
        self.rows, self.hinges, self.bound, self.fixed, self.fixed_b = rows, hinges, bound, fixed, fixed_b
        self.w, self.b = w.copy(), b.copy()
        self._order: OrderRows = NoOrder(b.size - 1)
        if hinges.ordered:
            slack = np.maximum(np.diff(b - hinges.steps), mu / np.maximum(order_multipliers, b.size))
            self._order = OrderRows(slack, mu)
            self.b = b[0] - hinges.steps[0] + hinges.steps + np.concatenate([[0.0], np.cumsum(slack)])
        self.rest = self.excess = math.inf
        ends = hinges.first()[:, None] + np.arange(hinges.columns)
        self._sample, self._column = np.nonzero((ends >= 0) & (ends < hinges.count))
        self._end = ends[self._sample, self._column]
        self._sign = np.where(self._end < hinges.rank[self._sample], -1.0, 1.0)
        size = self._sample.size
        self._f, self._df = np.zeros(n), np.zeros(n)
        self._state, self._move = np.empty((4, size)), np.zeros((3, size))
        self._weight, self._q = np.empty(size), np.empty(size)
        self._multiply(self.w, self._f)
        centre(self._arguments(), mu, self._state)
        self.update_gap()

    @property
    def multipliers(self) -> Array:
        """The table of a, balanced."""
        out = np.zeros(self.hinges.table)
        out[self._sample, self._column] = self._balanced
        return out

    def factorise(self) -> None:
        self._move[:] = 0.0
        order = self._order
        order.d_slack, order.d_multiplier = np.zeros_like(order.slack), np.zeros_like(order.slack)
        newton_terms(self._arguments(), self._state, self._move, 0.0, self._weight, self._q)
        self._curved = self._curvatures()

    def direction(self, target: float, predictor: Moves | None = None, reached: Lengths = (0.0, 0.0)) -> tuple[Moves, Lengths]:
        """Newton's step towards products of the size `target`, second-order terms of a predictor among them."""
        order, sample_weight = self._order, self.hinges.sample_weight
        if predictor is not None:
            self._move *= reached[0]  # of a predictor that is cut short, products of steps say little
            order.d_slack, order.d_multiplier = reached[0] * order.d_slack, reached[0] * order.d_multiplier
            newton_terms(self._arguments(), self._state, self._move, target, self._weight, self._q)
        S, cross, H_b = self._curved
        g, g_b = self._gradients(sample_weight * (self._sign * (self._state[0] + self._weight * self._q)))
        constant, _ = order.newton_terms(target)
        order_multipliers = sample_weight * (order.multiplier + constant)
        g_b[:-1] += order_multipliers
        g_b[1:] -= order_multipliers
        answer = solve(factor(H_b, 0.0), np.asfortranarray(np.column_stack([cross.T, g_b])))
        dw = self.bound.step(S, g - cross @ answer[:, -1], self.w, self.rest)
        db = -answer[:, -1] - answer[:, :-1] @ dw
        self._multiply(dw, self._df)
        longest = directions(self._sign * (self._df[self._sample] - db[self._end]), self._state, self._move, target, self._q)
        longest = min(longest, order.direct(target, db)) if np.all(np.isfinite(dw)) and np.all(np.isfinite(db)) else 0.0
        return (dw, db), (longest, longest)

    def mean(self, move: Moves | None = None, lengths: Lengths = (0.0, 0.0)) -> float:
        order, t = self._order, lengths[0]
        rows = float((order.slack + t * order.d_slack) @ (order.multiplier + t * order.d_multiplier))
        return (products(self._state, self._move, t) + rows) / (2.0 * self._state.shape[1] + order.size)

    def advance(self, move: Moves, lengths: Lengths) -> None:
        (dw, db), t = move, lengths[0]
        self._state[0] += t * self._move[0]
        self._state[1] -= t * self._move[0]
        self._state[2:] += t * self._move[1:]
        self.w, self.b = self.w + t * dw, self.b + t * db
        self._f += t * self._df
        self._order.advance(t, self.b, self.hinges.steps)

    def _arguments(self) -> Array:
        out: Array = self._sign * (self._f[self._sample] - self.b[self._end]) + self.hinges.gamma
        return out

    def _curvatures(self) -> tuple[Array, Array, Array]:
        """The second derivatives in w once the thresholds are eliminated, in w and b, and in b; lower halves.

        W_ij = c D_ij are weights with row sums W_i and column sums β_j. The means are m_j = Σ_i W_ij ψ_i/β_j, and T is the derivative of
        the order rows. The first is
            Σ_i W_i(ψ_i − Σ_j W_ij m_j/W_i)(…)ᵀ + M(diag(β) − Σ_i W_i·W_i·ᵀ/W_i + diag(β)(diag(β) + T)^{−1}T)Mᵀ.
        It has no difference of large numbers where the free rows of a threshold are nearly alike in a direction, as they always are in w.
        """
        from scipy.linalg.blas import dsyrk

        n, d = self.rows.shape
        m, sample_weight = self.hinges.count, self.hinges.sample_weight
        weights = np.zeros((n, m))
        weights[self._sample, self._end] = sample_weight * self._weight
        row, column = np.maximum(weights.sum(axis=1), TINY), weights.sum(axis=0)
        cross, S = np.zeros((d, m)), np.zeros((d, d), order="F")
        for part, block in self.rows:
            cross -= block.T @ weights[part]
        means = -cross / np.maximum(column, TINY)
        parts = weights / row[:, None]
        for part, block in self.rows:
            centred = (block - parts[part] @ means.T) * np.sqrt(row[part, None])
            S = dsyrk(1.0, centred.T, beta=1.0, c=S, lower=1, overwrite_c=1)
        H_b = self._curvature_in_b()
        order = np.tril(H_b) + np.tril(H_b, -1).T - np.diag(column)
        between = np.diag(column) - weights.T @ parts + column[:, None] * solve(factor(H_b, 0.0), order)
        S += means @ (0.5 * (between + between.T)) @ means.T
        return S, cross, H_b

    def _curvature_in_b(self) -> Array:
        """Its lower half."""
        j = np.arange(self.b.size)
        ratio = self._order.multiplier / self._order.slack
        H_b = np.zeros((j.size, j.size), order="F")
        H_b[j, j] = np.bincount(self._end, weights=self._weight, minlength=j.size)
        H_b[j[:-1], j[:-1]] += ratio
        H_b[j[1:], j[1:]] += ratio
        H_b[j[1:], j[:-1]] -= ratio
        H_b *= self.hinges.sample_weight
        return H_b

    def _gradients(self, pulls: Array) -> tuple[Array, Array]:
        """Gradients in w and b for signed multipliers, one a hinge, in absolute units; order rows left out."""
        pull = np.bincount(self._sample, weights=pulls, minlength=self._f.size)
        g = self.fixed.copy()
        for part, block in self.rows:
            g += pull[part] @ block
        return g, self.fixed_b - np.bincount(self._end, weights=pulls, minlength=self.b.size)

    def _balance(self) -> tuple[Array, Array]:
        """Multipliers of hinges and order rows after a step of b alone, after which the gradient in b is 0 to rounding."""
        a, sample_weight, order = self._state[0], self.hinges.sample_weight, self._order
        newton_terms(self._arguments(), self._state, self._move, 0.0, self._weight, self._q)
        left = self.fixed_b - sample_weight * np.bincount(self._end, weights=self._sign * a, minlength=self.b.size)
        left[:-1] += sample_weight * order.multiplier
        left[1:] -= sample_weight * order.multiplier
        db = -solve(factor(self._curvature_in_b(), 0.0), left)
        balanced = np.clip(a - self._sign * self._weight * db[self._end], 0.0, 1.0)
        return balanced, np.maximum(order.multiplier * (1.0 - np.diff(db) / order.slack), 0.0)

    def update_gap(self) -> None:
        """The gap of the balanced multipliers; the gradient that rounding and clipping leave in b counts times how far a balance moves an
        argument."""
        self._balanced, order_multipliers = self._balance()
        a, h, sample_weight = self._balanced, self._arguments(), self.hinges.sample_weight
        g, left = self._gradients(sample_weight * (self._sign * a))
        left[:-1] += sample_weight * order_multipliers
        left[1:] -= sample_weight * order_multipliers
        length = float(np.max(np.abs(self._f)) + np.max(np.abs(self.b))) + self.hinges.gamma
        hinges = sample_weight * float((1.0 - a) @ np.maximum(h, 0.0) + a @ np.maximum(-h, 0.0))
        self.rest = hinges + sample_weight * float(order_multipliers @ self._order.slack) + float(np.sum(np.abs(left))) * length
        self.excess = self.bound.excess(g, self.w)
        self.gap = self.rest + self.excess

    def _multiply(self, w: Array, out: Array) -> None:
        for part, block in self.rows:
            np.matmul(block, w, out=out[part])


def threshold_interior(
    rows: RowBlocks,
    hinges: ThresholdHinges,
    bound: WeightBound,
    fixed: Array,
    fixed_b: Array,
    w: Array,
    b: Array,
    order_multipliers: Array,
    mu: float,
    goal: float,
    max_iter: int = 100,
) -> Iterator[ThresholdInterior]:
    """The state at w and b and after each iteration, until the gap is at most the goal or rounding forbids a step.

    `fixed` and `fixed_b` are linear terms in w and b; b_j − steps_j does not fall. The order rows have about these multipliers, in units of
    the weight; μ > 0, in units of f, is the width to start with.
    """
    yield from ThresholdInterior(rows, hinges, bound, fixed, fixed_b, w, b, order_multipliers, mu).iterates(goal, max_iter)
