r"""The hinge SVM by pair selection on a shrinking set of samples, then a semismooth Newton polish.

Samples at a bound whose residual points out of the box by more than the largest violation are left out (LIBSVM's shrinking). When half of
the samples have gone the rest is copied, so that its rows are contiguous. When the rest is solved, the residual is computed for all
samples, and what was left out wrongly comes back. The polish takes over when a model of the costs says that it is the quicker way to the
target gap. Pairs gain digits at a steady rate; Newton's steps cost k³/3 for k samples inside their bounds and gain a digit or so each.

Cost: pair steps of about 2 ns a sample in play; for each of a few checks one product of K with the weights. Memory: K itself, at most n²/4
numbers for the copy, and k² for the polish.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.solvers.svm.dual import best_intercept, box, complementarity, product, weighted_intercept
from simopt.solvers.svm.pair_selection import ascend, ascend_balanced, submatrix
from simopt.solvers.svm.polish import polish

NOTHING = 1e-250
PROBES = 8  # samples whose margin under the mean is looked at before all of them are
SHRUNK = 0.5  # the samples left in play are copied when they are at most this share
FEWEST = 200  # below this many nothing is gained by leaving samples out
CHUNK = (100, 1000)  # pair steps between two looks at the gap
STAGE = 1e-2  # the gap of the samples in play falls by this factor before all samples are looked at
WINDOW = 6  # looks over which the rate of the pair steps is measured
SURE = 0.5  # of the gap asked for: what the samples in play are solved to, which leaves a margin for rounding elsewhere
STALLED = 0.9  # a look at all samples that finds more than this fraction of the smallest gap so far has found no progress:
STALLS = 3  # at the first of these all samples come back for good, the third ends the solve


@dataclass(frozen=True, eq=False)
class SVMFit:
    """One hinge SVM f = C K w (+ b), certified by its own weights.

    Attributes
    ----------
    weights : Array (n,)
        w_i = n a_i y_i, signed weights in the box.
    residual : Array (n,)
        y − f − b.
    cost : float
        C = 1/(nλ).
    intercept : float
        b; 0 for the problem without intercept.
    gap : float
        duality gap of the problem (a mean over samples); ∞ where the residual is not up to date.
    pair_steps, newton_steps : int
        work done so far.
    """

    weights: Array
    residual: Array
    cost: float
    intercept: float
    gap: float
    pair_steps: int
    newton_steps: int

    @property
    def coefficients(self) -> Array:
        """α with f = Σ α_j k(·, x_j) + b."""
        return self.weights * self.cost

    @property
    def multipliers(self) -> Array:
        """a_i ∈ [0, 1/n]."""
        return np.abs(self.weights) / self.weights.size


class _InPlay:
    """Some of the samples (or all, `index` None) with their part of K, their weights and residuals."""

    def __init__(
        self,
        gram: Array,
        labels: Array,
        weights: Array,
        residual: Array,
        index: NDArray[np.intp] | None,
        total: float | None,
        caps: Array | None = None,
    ) -> None:
        self.gram, self.labels, self.weights, self.residual = gram, labels, weights, residual
        self.index, self.total, self.caps = index, total, caps
        self.low, self.high = box(labels, 1.0 if caps is None else caps)
        diagonal = np.diagonal(gram)
        # where K_ii ≤ 0 the row is 0 but for rounding: next to no curvature sends the weight to its bound
        self.diagonal = np.where(diagonal > 0, diagonal, NOTHING)
        self.buffers = np.empty((4, len(labels)))
        self.history: list[tuple[int, float]] = []

    def ascend(self, cost: float, steps: int) -> int:
        """At most `steps` pair steps at C = `cost`, with Σ w kept where there is an intercept; how many were of use."""
        step = ascend if self.total is None else ascend_balanced
        return step(self.gram, self.diagonal, self.weights, self.residual, self.low, self.high, cost, self.buffers, steps)

    def intercept(self) -> float:
        """b that minimises Σ [1 − y_i (f_i + b)]_+; 0 in the form without intercept."""
        if self.total is None:
            return 0.0
        if self.caps is None:
            return best_intercept(self.labels, self.residual, self.total)
        return weighted_intercept(self.labels, self.residual, self.caps, self.total)

    def gap(self) -> float:
        """n times the part of the gap of these samples."""
        return complementarity(self.labels, self.weights, self.residual - self.intercept(), 1.0 if self.caps is None else self.caps)

    def worth_keeping(self) -> NDArray[np.bool_]:
        """All but those at a bound whose residual points outwards by more than the largest violation."""
        r = self.residual - self.intercept()
        at_low, at_high = self.weights <= self.low, self.weights >= self.high
        inward = np.maximum(np.where(at_high, 0.0, r), np.where(at_low, 0.0, -r))
        worst = float(np.max(inward))
        keep: NDArray[np.bool_] = ~((at_high & (r > worst)) | (at_low & (r < -worst)))
        return keep

    def subset(self, keep: NDArray[np.bool_]) -> _InPlay:
        """A copy with the kept samples only."""
        rows = np.flatnonzero(keep)
        gram = np.empty((rows.size, rows.size))
        submatrix(self.gram, rows, gram)
        gram.setflags(write=False)
        total = None if self.total is None else self.total - float(np.sum(self.weights[~keep]))
        index = rows if self.index is None else self.index[rows]
        caps = None if self.caps is None else self.caps[rows]
        return _InPlay(gram, self.labels[rows], self.weights[rows], self.residual[rows], index, total, caps)

    def polish_is_quicker(self, goal: float) -> bool:
        """Whether Newton's steps would reach n·gap = goal before the pair steps do; both costs in nanoseconds on one core."""
        if len(self.history) < WINDOW:
            return False
        (first, before), (last, now) = self.history[-WINDOW], self.history[-1]
        m = len(self.labels)
        k = int(np.count_nonzero((self.weights > self.low) & (self.weights < self.high)))
        now = max(now, NOTHING)
        decades = math.log10(now) - math.log10(max(goal, NOTHING))
        rate = math.log10(before / now) / max(last - first, 1)
        by_pairs = math.inf if rate <= 0 else decades / rate * (1.5 * m + 300.0)
        one_newton = k**3 / 45.0 + 3.0 * k**2 + m * k + 30.0 * m + 1e5
        return (8.0 + 2.0 * decades) * one_newton < by_pairs


class _Solve:
    """All samples, those in play, and what has been done."""

    def __init__(self, everything: _InPlay, cost: float, goal: float, shrinking: bool, polishing: bool) -> None:
        self.everything, self.play, self.cost, self.goal = everything, everything, cost, goal
        self.shrinking, self.polishing = shrinking, polishing
        self.target = goal
        self.pair_steps = self.newton_steps = 0

    def overall_gap(self) -> float:
        """n·gap over all samples, their residual computed afresh; those in play are chosen anew unless the others are still idle."""
        whole, play = self.everything, self.play
        if play.index is not None:
            whole.weights[play.index] = play.weights
        whole.residual = whole.labels - self.cost * product(whole.gram, whole.weights)
        reached = whole.gap()
        if self.shrinking and reached > self.goal:
            self._choose(whole.worth_keeping())
        self.target = self.goal if self.play is whole else max(self.goal, STAGE * reached)
        return reached

    def _choose(self, keep: NDArray[np.bool_]) -> None:
        whole, play = self.everything, self.play
        if play.index is not None:
            missed = keep.copy()
            missed[play.index] = False
            if not np.any(missed):
                play.residual = whole.residual[play.index]
                return
            keep[play.index] = True  # some were left out too early: only add to those in play
        self.play = whole.subset(keep) if _few(keep) else whole

    def give_up_shrinking(self) -> None:
        """All samples into play, for good."""
        self.play, self.shrinking, self.target = self.everything, False, self.goal

    def improve(self) -> Iterator[None]:
        """Pair steps until n·gap of the samples in play is at most the target, shrinking them on the way; or else the polish."""
        while True:
            play = self.play
            wanted = min(max(len(play.labels) // 4, CHUNK[0]), CHUNK[1])
            done = play.ascend(self.cost, wanted)
            self.pair_steps += done
            reached = play.gap()
            play.history.append((self.pair_steps, reached))
            if reached <= self.target:
                return
            if done < wanted or (self.polishing and play.polish_is_quicker(self.goal)):
                if self.polishing:
                    yield from self._polish()
                return
            if self.shrinking:
                keep = play.worth_keeping()
                if _few(keep):
                    if play.index is not None:
                        self.everything.weights[play.index] = play.weights
                    self.play = play.subset(keep)
                    self.target = max(self.goal, STAGE * reached)
            yield

    def _polish(self) -> Iterator[None]:
        play, before = self.play, self.newton_steps
        start = (play.gram, play.labels, self.cost, play.weights, play.residual)
        for polished in polish(*start, goal=self.goal, total=play.total, caps=play.caps):
            self.newton_steps = before + polished.steps
            play.weights, play.residual = polished.weights, polished.residual
            yield
        # the pair steps write on their arrays
        play.weights, play.residual = play.weights.copy(), play.residual.copy()
        play.history.clear()

    def fit(self, gap: float) -> SVMFit:
        """The present weights as a fit."""
        whole, play = self.everything, self.play
        if play.index is not None:
            whole.weights[play.index] = play.weights
        b = whole.intercept()
        return SVMFit(whole.weights.copy(), whole.residual - b, self.cost, b, gap, self.pair_steps, self.newton_steps)


def _few(keep: NDArray[np.bool_]) -> bool:
    return keep.size > FEWEST and int(np.count_nonzero(keep)) <= SHRUNK * keep.size


def cost_of(labels: Array, regularization: float) -> float:
    """LIBSVM's C = 1/(nλ)."""
    return 1.0 / (len(labels) * regularization)


def mean_start(gram: Array, labels: Array, cost: float, caps: Array | None = None) -> Array | None:
    """w = c∘y, which is f = ω_S/λ, if no one of a few samples has a margin above 1 there; else None. A few rows of K."""
    rows = np.unique(np.linspace(0, len(labels) - 1, PROBES).astype(np.intp))
    full = labels.copy() if caps is None else caps * labels
    return full if np.all(cost * labels[rows] * (gram[rows] @ full) <= 1.0) else None


def contiguous(gram: Array) -> Array:
    """K with contiguous rows, read-only; without a copy if its rows or its columns are contiguous (K is symmetric)."""
    rows = gram if gram.flags.c_contiguous else np.ascontiguousarray(gram.T)
    view = rows.view()
    view.setflags(write=False)
    return view


@cache
def compile_kernels() -> None:
    """Compile (or load) every kernel once, on four samples: which of them a fit reaches depends on its data."""
    gram, labels = contiguous(np.eye(4)), np.array([1.0, -1.0, 1.0, -1.0])
    for total in (None, 0.0):
        play = _InPlay(gram, labels, np.zeros(4), labels.copy(), None, total)
        play.ascend(0.5, 4)
        part = play.subset(np.array([True, True, False, False]))
        product(part.gram, np.array([0.5, 0.0]))
        for _ in polish(gram, labels, 0.5, np.zeros(4), labels.copy(), goal=0.1, total=total):
            pass


def svm_fits(
    gram: Array,
    labels: Array,
    cost: float,
    *,
    goal: float,
    balanced: bool = False,
    start: Array | None = None,
    shrinking: bool = True,
    polishing: bool = True,
    caps: Array | None = None,
) -> Iterator[SVMFit]:
    """Fits of falling gap, the last of them with a gap of at most `goal` unless rounding forbids; those in between may have gap = ∞.

    `gram` is (n, n), symmetric, C-contiguous; `labels` are ±1. `balanced` adds an intercept. `start`: signed weights to begin with; they
    are clipped to the box, and sum to 0 if `balanced`. `caps`: c_i ≥ 0 of mean 1, else all 1. Arrays of a fit are not written to later.
    """
    compile_kernels()
    n = len(labels)
    weights = np.zeros(n) if start is None else np.clip(start, *box(labels, 1.0 if caps is None else caps))
    residual = labels.copy() if start is None else labels - cost * product(gram, weights)
    everything = _InPlay(gram, labels, weights, residual, None, 0.0 if balanced else None, caps)
    solve = _Solve(everything, cost, SURE * goal * n, shrinking, polishing)
    best, stalls = math.inf, 0
    reached = everything.gap()
    yield solve.fit(reached / n)
    while reached > goal * n and stalls < STALLS:
        for _ in solve.improve():
            yield solve.fit(math.inf)
        reached = solve.overall_gap()
        yield solve.fit(reached / n)
        if reached > STALLED * best:
            stalls += 1
            solve.give_up_shrinking()
        best = min(best, reached)
