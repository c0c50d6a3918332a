r"""Two-hinge problems by Mehrotra's primal-dual interior-point method with d × d normal equations.

The hinges, with arguments h = lo − f and f − hi, are those of `central_path`, on which the method starts: at any w, but for the gradient in
w. Newton's equations leave for w

    min over w + dw of  R(w + dw) + ⟨g + Ψᵀ c(D_above q_above − D_below q_below), dw⟩ + ½ dwᵀ Ψᵀ diag(c(D_below + D_above)) Ψ dw,

which the bound's own step solves exactly: the ball is no barrier here but a trust region, and costs no more iterations than the penalty.
(With a barrier for the ball, 3 to 4 times as many were needed.) An iteration (solvers/interior) costs n d² multiplications, two steps of
the bound and five products with Ψ; there are 10 to 30 of them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.data.row_blocks import RowBlocks
from simopt.solvers.hinges.central_path import FRACTION_TO_BOUNDARY, central_point, max_step, newton_step, newton_term
from simopt.solvers.hinges.two_hinges import Hinges, audit
from simopt.solvers.hinges.weight_bounds import WeightBound
from simopt.solvers.interior.predictor_corrector import Lengths, Move, PredictorCorrector


@kernel
def centre(f: Array, low: Array, high: Array, mu: float, shift: float, state: Array) -> None:
    """a, ā, x, s of both hinges (below in rows 0-3, above in rows 4-7) on the central path at f (near it, if β < ∞)."""
    for i in range(f.size):
        for k in range(0, 8, 4):
            h = low[i] - f[i] if k == 0 else f[i] - high[i]
            if shift > 0.0:
                h -= shift * min(max(h / shift, 0.0), 1.0)
            state[k, i], state[k + 1, i], state[k + 2, i], state[k + 3, i] = central_point(h, mu)


@kernel
def newton_terms(
    f: Array,
    low: Array,
    high: Array,
    sample_weight: Array,
    shift: float,
    state: Array,
    move: Array,
    mu: float,
    weight: Array,
    pull: Array,
    q: Array,
) -> None:
    """weight = c(D_below + D_above), pull = c(D_above q_above − D_below q_below) and q; `move` holds the predictor's da, dx, ds, or 0."""
    for i in range(f.size):
        weight[i], pull[i] = 0.0, 0.0
        for k in range(2):
            h = low[i] - f[i] if k == 0 else f[i] - high[i]
            hinge = state[4 * k, i], state[4 * k + 1, i], state[4 * k + 2, i], state[4 * k + 3, i]
            D, q[k, i] = newton_term(h, shift, hinge, (move[3 * k, i], move[3 * k + 1, i], move[3 * k + 2, i]), mu)
            weight[i] += sample_weight[i] * D
            pull[i] += sample_weight[i] * D * q[k, i] * (1.0 if k == 1 else -1.0)


@kernel
def directions(df: Array, shift: float, state: Array, move: Array, mu: float, q: Array) -> float:
    """da, dx, ds (in the place of the predictor's) for the step df of f, and the largest t ≤ 1 that keeps a, ā, x and s positive."""
    longest = 1.0
    for i in range(df.size):
        for k in range(2):
            dh = df[i] if k == 1 else -df[i]
            hinge = state[4 * k, i], state[4 * k + 1, i], state[4 * k + 2, i], state[4 * k + 3, i]
            step = newton_step(dh, q[k, i], shift, hinge, (move[3 * k, i], move[3 * k + 1, i], move[3 * k + 2, i]), mu)
            move[3 * k, i], move[3 * k + 1, i], move[3 * k + 2, i] = step
            longest = max_step(hinge, step, longest)
    return longest


@kernel
def mean_product(sample_weight: Array, state: Array, move: Array, t: float) -> float:
    """Mean of as and āx over both hinges at state + t move, weighted by the samples' weights."""
    total, weights = 0.0, 0.0
    for i in range(sample_weight.size):
        for k in range(2):
            da, dx, ds = move[3 * k, i], move[3 * k + 1, i], move[3 * k + 2, i]
            total += sample_weight[i] * (state[4 * k, i] + t * da) * (state[4 * k + 3, i] + t * ds)
            total += sample_weight[i] * (state[4 * k + 1, i] - t * da) * (state[4 * k + 2, i] + t * dx)
        weights += 4.0 * sample_weight[i]
    return total / weights


@kernel
def advance(state: Array, move: Array, t: float) -> None:
    """state + t move."""
    for k in range(2):
        for i in range(state.shape[1]):
            state[4 * k, i] += t * move[3 * k, i]
            state[4 * k + 1, i] -= t * move[3 * k, i]
            state[4 * k + 2, i] += t * move[3 * k + 1, i]
            state[4 * k + 3, i] += t * move[3 * k + 2, i]


class HingeRun(PredictorCorrector[Move]):
    """The base of runs over two hinges a sample: w, multipliers `below` and `above` in (0, 1), and their gap.

    Attributes
    ----------
    rest, excess : float
        the parts of the hinges and of the bound in the gap.
    """

    back: ClassVar[float] = FRACTION_TO_BOUNDARY
    patience: ClassVar[int] = 10
    fall: ClassVar[float] = 1.0  # any smaller gap is progress
    rest = excess = math.inf

    def __init__(self, rows: RowBlocks, hinges: Hinges, fixed: Array, w: Array, mu: float) -> None:
        n = rows.shape[0]
        self.rows, self.hinges, self.fixed = rows, hinges, fixed
        self.w, self.g = w.copy(), fixed.copy()
        self._f, self._df, self._weight, self._pull = (np.zeros(n) for _ in range(4))
        self._state, self._move, self._q = np.empty((8, n)), np.zeros((6, n)), np.empty((2, n))
        self._multiply(self.w, self._f)
        centre(self._f, hinges.low, hinges.high, mu, hinges.shift, self._state)
        self.update_gap()

    @property
    def below(self) -> Array:
        """Multipliers of lo − f."""
        row: Array = self._state[0]
        return row

    @property
    def above(self) -> Array:
        """Multipliers of f − hi."""
        row: Array = self._state[4]
        return row

    @abstractmethod
    def left(self) -> float:
        """The bound's part of the gap at w and g."""

    def update_gap(self) -> None:
        """The gap of w and the multipliers."""
        h = self.hinges
        self.rest = audit(self._f, h.low, h.high, h.sample_weight, h.shift, self.below, self.above, self._pull)
        self.g = self.fixed + self._pulled()
        self.excess = self.left()
        self.gap = self.rest + self.excess

    def advance(self, move: Move, lengths: Lengths) -> None:
        """f and the hinges; w is the subclass's."""
        advance(self._state, self._move, lengths[0])
        self._f += lengths[0] * self._df

    def _mean(self, t: float) -> float:
        return mean_product(self.hinges.sample_weight, self._state, self._move, t)

    def _reach(self, dw: Array, mu: float) -> float:
        """The step of the hinges for dw, and how far it may go; 0 where dw is not finite."""
        self._multiply(dw, self._df)
        longest = directions(self._df, self.hinges.shift, self._state, self._move, mu, self._q)
        return longest if np.all(np.isfinite(dw)) else 0.0

    def _set_newton_terms(self, mu: float) -> None:
        h = self.hinges
        newton_terms(self._f, h.low, h.high, h.sample_weight, h.shift, self._state, self._move, mu, self._weight, self._pull, self._q)

    def _multiply(self, w: Array, out: Array) -> None:
        for part, block in self.rows:
            np.matmul(block, w, out=out[part])

    def _pulled(self) -> Array:
        total = np.zeros_like(self.w)
        for part, block in self.rows:
            total += self._pull[part] @ block
        return total

    def _curvature(self) -> Array:
        """The second derivative of the hinges, after terms for products 0 without a predictor."""
        from scipy.linalg.blas import dsyrk

        self._move[:] = 0.0
        self._set_newton_terms(0.0)
        H = np.zeros((self.w.size, self.w.size), order="F")
        for part, block in self.rows:
            H = dsyrk(1.0, (block * np.sqrt(self._weight[part])[:, None]).T, beta=1.0, c=H, lower=1, overwrite_c=1)
        return H


class Interior(HingeRun[Array]):
    """A run with a bound that makes its own step."""

    def __init__(self, rows: RowBlocks, hinges: Hinges, bound: WeightBound, fixed: Array, w: Array, mu: float) -> None:
        self.bound = bound
        super().__init__(rows, hinges, fixed, w, mu)

    def left(self) -> float:
        return self.bound.excess(self.g, self.w)

    def factorise(self) -> None:
        self._H = self._curvature()

    def mean(self, move: Array | None = None, lengths: Lengths = (0.0, 0.0)) -> float:
        return self._mean(lengths[0])

    def direction(self, target: float, predictor: Array | None = None, reached: Lengths = (0.0, 0.0)) -> tuple[Array, Lengths]:
        if predictor is not None:
            self._set_newton_terms(target)
        dw = self.bound.step(self._H, self.g + self._pulled(), self.w, self.rest)
        return dw, (self._reach(dw, target),) * 2

    def advance(self, move: Array, lengths: Lengths) -> None:
        super().advance(move, lengths)
        self.w += lengths[0] * move


def interior(
    rows: RowBlocks, hinges: Hinges, bound: WeightBound, fixed: Array, w: Array, mu: float, goal: float, max_iter: int = 100
) -> Iterator[Interior]:
    """The state at w and after each iteration, until the gap is at most the goal or rounding forbids a step; 25 vectors of n numbers.

    `fixed` is a linear term ⟨fixed, w⟩, and μ > 0 a length in units of f: the width to start with.
    """
    yield from Interior(rows, hinges, bound, fixed, w, mu).iterates(goal, max_iter)
