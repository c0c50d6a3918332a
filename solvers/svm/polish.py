r"""Semismooth Newton on the SVM's dual: from a rough solution to one near the last digits, in a few Cholesky factorisations.

A stage has a width h > 0 and centres w⁰ and minimises over f = C Kβ (and the intercept b) the smoothed primal

    (C/2) βᵀKβ + Σ e_i(y_i − f_i − b),    whose loss has the slope  w_i = clip(w⁰_i + (y_i − f_i − b)/h) between the bounds of the box:

the proximal step max Σ y_i w_i − (C/2) wᵀKw − (h/2)‖w − w⁰‖² of the dual. With e = w − β and the samples J strictly inside their
bounds, Newton's direction is β ← w, then on J alone

    (hI + C K_JJ) u = −C (Ke)_J − δ,     Σ_J u_j = s − Σ w_i  (this row and the change δ of b only with an intercept, for weights of sum s);

the step is searched along the line exactly. At the end of a stage w becomes the centre and h shrinks. With a smoothing that is too narrow
Newton's steps diverge. So the first width is such that the part G = (C/2) eᵀKe of the gap is at most three times the rest. A stage that
ends with G far above the rest is followed by a wider one. The point that a stage of exact steps ends with has β = w.

Cost of a step, with |J| = k: k³/3 flops, and k rows of K read; k² numbers of memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.svm.dual import best_intercept, box, complementarity, product, weighted_intercept
from simopt.solvers.svm.pair_selection import submatrix

BALANCE = 3.0  # G at most this many times the rest of the gap, at the first width
HOPELESS = 10.0  # G above this many times the rest: the stage has failed, widen
WIDEN = 4.0  # factor of a width that is too small, to the power of the stages in a row that made no progress
NARROW = 1.0 / 3.0
NARROW_FAST = 0.1  # after a stage that needed one step
NARROW_FAR = 1e-3  # after one that needed one step and brought next to nothing
INNER = 30  # Newton steps a stage
PROGRESS = 0.9  # a stage that leaves more than this fraction of the smallest gap of (β, w) so far has made no progress;
IDLE = 5  # after so many of them in a row the rest is rounding


@dataclass(frozen=True, eq=False)
class Polished:
    """Weights in the box, their residual y − C Kw, n times their gap (the best intercept taken), and the number of Newton steps."""

    weights: Array
    residual: Array
    gap: float
    steps: int


@kernel
def centre(reach: Array, low: Array, high: Array, width: float, total: float, start: float) -> float:
    """b with Σ clip((reach_i − b)/h, low_i, high_i) = total: the root of a decreasing piecewise linear function, by Newton in a bracket."""
    left = np.inf
    right = -np.inf
    for p in range(reach.size):
        left = min(left, reach[p] - width * high[p])
        right = max(right, reach[p] - width * low[p])
    b = min(max(start, left), right)
    for _ in range(200):
        excess = -total
        inside = 0
        for p in range(reach.size):
            w = (reach[p] - b) / width
            excess += min(max(w, low[p]), high[p])
            inside += low[p] < w < high[p]
        if excess > 0.0:
            left = b
        elif excess < 0.0:
            right = b
        else:
            break
        step = b + width * excess / inside if inside else np.inf
        proposal = step if left < step < right else 0.5 * (left + right)
        if proposal == b or proposal == left or proposal == right:
            break
        b = proposal
    return b


class _PolishState:
    """State of the iteration: β, its residual y − C Kβ, intercept, width and centres; and what follows from them."""

    def __init__(
        self,
        gram: Array,
        labels: Array,
        cost: float,
        weights: Array,
        residual: Array,
        total: float | None,
        goal: float,
        caps: Array | None,
    ) -> None:
        self.gram, self.labels, self.cost, self.total, self.goal = gram, labels, cost, total, goal
        self.caps: Array | float = 1.0 if caps is None else caps
        self.low, self.high = box(labels, self.caps)
        self.beta, self.residual, self.centres = weights.copy(), residual.copy(), weights.copy()
        self.intercept = self._best_intercept(residual)
        self.best = Polished(weights, residual, complementarity(labels, weights, residual - self.intercept, self.caps), 0)
        self.rest = self.best.gap  # the gap without G
        self.width, self.excess, self.steps = self._first_width(), 0.0, 0
        self.narrowest, self.reached, self.idle = 0.0, np.inf, 0
        self.refresh()

    def _first_width(self) -> float:
        """h for which a free Newton step has G = 3 × the rest of the gap: e = r/h on the samples that may move."""
        r = self.residual - self.intercept
        moving = np.where(r > 0, self.centres < self.high, self.centres > self.low)
        e = np.where(moving, r, 0.0)
        square = self.cost * float(e @ product(self.gram, e))
        return float(np.sqrt(max(square, 0.0) / (2.0 * BALANCE * max(self.rest, 1e-300)))) or 1.0

    def slope(self, residual: Array, intercept: float) -> Array:
        """w = clip(w⁰ + (r − b)/h)."""
        clipped: Array = np.clip(self.centres + (residual - intercept) / self.width, self.low, self.high)
        return clipped

    def centred(self, residual: Array, start: float) -> float:
        """b for which Σ w is what it must be."""
        if self.total is None:
            return 0.0
        return centre(residual + self.width * self.centres, self.low, self.high, self.width, self.total, start)

    def refresh(self) -> None:
        """w, e, Ke, the two parts of the gap at (β, b), and the gap of w by itself."""
        self.intercept = self.centred(self.residual, self.intercept)
        self.weights = self.slope(self.residual, self.intercept)
        if self.total is not None:  # what is left of the sum is a rounding of b, divided by a small width
            inside = (self.weights > self.low) & (self.weights < self.high)
            self.weights[inside] -= (np.sum(self.weights) - self.total) / max(1, int(np.count_nonzero(inside)))
        self.change = self.weights - self.beta
        self.moved = product(self.gram, self.change)
        self.excess = 0.5 * self.cost * max(float(self.change @ self.moved), 0.0)
        self.rest = complementarity(self.labels, self.weights, self.residual - self.intercept, self.caps)
        own = self.residual - self.cost * self.moved
        gap = complementarity(self.labels, self.weights, own - self._best_intercept(own), self.caps)
        if gap < self.best.gap:
            self.best = Polished(self.weights, own, gap, self.steps)

    def _best_intercept(self, residual: Array) -> float:
        if self.total is None:
            return 0.0
        if isinstance(self.caps, float):
            return best_intercept(self.labels, residual, self.total)
        return weighted_intercept(self.labels, residual, self.caps, self.total)

    def unfinished(self) -> bool:
        """Whether to go on at this width: G still matters, or β and w together have reached the goal, so that β = w will."""
        return self.excess > self.rest or self.excess + self.rest <= self.goal

    def newton(self) -> bool:
        """One step; False where none can be made.

        Then the stage is solved to rounding, or hI + C K_JJ is not positive definite, which leaves G = ∞: the width is too small for this
        K.
        """
        import scipy.linalg

        shifted = self.centres + (self.residual - self.intercept) / self.width
        free = np.flatnonzero((shifted > self.low) & (shifted < self.high))
        direction, drift, slide = self.change.copy(), self.moved.copy(), 0.0
        if free.size:
            block = np.empty((free.size, free.size))
            submatrix(self.gram, free, block)
            block *= self.cost
            block.flat[:: free.size + 1] += self.width
            factor, info = scipy.linalg.lapack.dpotrf(block.T, lower=1, overwrite_a=1, clean=0)
            if info:
                self.excess = np.inf
                return False
            sides = np.column_stack([-self.cost * self.moved[free], np.ones(free.size)])
            solved = scipy.linalg.lapack.dpotrs(factor, sides, lower=1)[0]
            u = solved[:, 0]
            if self.total is not None:
                slide = float((np.sum(u) + np.sum(self.weights) - self.total) / np.sum(solved[:, 1]))
                u = u - slide * solved[:, 1]
            step = np.zeros_like(direction)
            step[free] = u
            direction += step
            drift += product(self.gram, step)
        self.steps += 1
        t = self._along(direction, drift, slide)
        if t == 0.0:
            return False
        self.beta += t * direction
        self.residual -= t * self.cost * drift
        self.intercept += t * slide
        self.refresh()
        return True

    def end(self, inner: int) -> None:
        """Ends a stage after `inner` steps: w becomes the centre of the next one, of another width."""
        now = self.excess + self.rest
        self.idle = self.idle + 1 if now > PROGRESS * self.reached else 0
        self.reached = min(self.reached, now)
        if np.isinf(now):
            self.narrowest = WIDEN * self.width
        # where (β, w) has reached the goal and w has not, r/h is rounding: the width is too small for the digits of r
        if self.excess > HOPELESS * self.rest or now <= self.goal:
            self.width *= WIDEN ** max(1, self.idle)
        else:
            factor = NARROW if inner > 1 else NARROW_FAR if self.idle else NARROW_FAST
            self.width = max(self.width * factor, self.narrowest)
        self.centres = self.weights
        self.refresh()

    def _along(self, direction: Array, drift: Array, slide: float) -> float:
        """Step length in [0, 1]: 0 if the derivative, which is increasing, is not negative at 0; 1 if it is at most a tenth of that at 1.

        Else false position and bisection by turns approach its root. They stop where it is at most a tenth of its start in size, or after
        40 tries.

        The intercept is the best one at every length: where several samples change sides at one and the same b, moving b evenly soon
        costs more than the step gains. It is never beyond 1: where J fixes f, a step hardly moves it. 10⁵ times that step would fill β with
        what K does not see, in which w − β and its rounding drown.
        """

        def derivative(t: float) -> float:
            residual = self.residual - t * self.cost * drift
            w = self.slope(residual, self.centred(residual, self.intercept + t * slide))
            return float(self.cost * (drift @ (self.beta + t * direction - w)))

        start = derivative(0.0)
        if not start < 0.0:
            return 0.0
        low, at_low, high, at_high = 0.0, start, 1.0, derivative(1.0)
        t, value = high, max(at_high, 0.0)
        for attempt in range(40):
            if abs(value) <= 0.1 * abs(start):
                break
            t = low - at_low * (high - low) / (at_high - at_low) if attempt % 2 == 0 else 0.5 * (low + high)
            value = derivative(t)
            if value < 0:
                low, at_low = t, value
            else:
                high, at_high = t, value
        return t


def polish(
    gram: Array,
    labels: Array,
    cost: float,
    weights: Array,
    residual: Array,
    *,
    goal: float,
    total: float | None = None,
    caps: Array | None = None,
) -> Iterator[Polished]:
    """The weights of smallest gap so far, never worse than those given, until n times that gap is at most `goal`.

    They come at the start, after each Newton step and after each stage.

    `gram` is (m, m), C-contiguous; `residual` is y − C Kw for the given w, from which also what samples outside this m contribute may have
    been subtracted. With an intercept, `total` is what the m weights must sum to (0, less the weights outside). Stops where rounding
    forbids the goal.
    """
    stage = _PolishState(gram, labels, cost, weights, residual, total, goal, caps)
    while stage.best.gap > goal and stage.excess > BALANCE * stage.rest:
        stage.width *= WIDEN
        stage.refresh()
    inner, sound = 0, True
    while True:
        yield replace(stage.best, steps=stage.steps)
        if stage.best.gap <= goal or stage.idle >= IDLE:
            return
        if sound and inner < INNER and (inner == 0 or stage.unfinished()):
            sound, inner = stage.newton(), inner + 1
        else:
            stage.end(inner)
            inner, sound = 0, True
