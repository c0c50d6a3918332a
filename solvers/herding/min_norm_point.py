r"""The fully corrective step: after every new atom, the best weights on all atoms that have any (Wolfe's nearest-point algorithm).

Let S be the atoms and G their Gram matrix. The point of their affine hull nearest to ω is reached from the present weights w by the d
with Σ d = 0 and

    (G + δI) d = −g − ν1,    g = G w − b,    b_j = ⟨ω, ψ_j⟩.

If w + d has negative entries, w goes towards it until the first weight is gone. That atom is dropped, and d is computed again. δ is some
rounding units of the largest ‖ψ_j‖². The step minimises ‖ω − ω̃‖² + δ‖d‖², a proximal step, so that δ does not move the solution. The
factor exists also for atoms that are dependent to rounding. As g is computed from the weights each time, errors in the factor do not add
up.

RᵀR = G + δI is kept. A new atom appends a column (one triangular solve). A dropped one deletes a column; then the rows below take up the
deleted row by a rank-one update, which cannot break down. Both are O(|S|²). A step is O(|S|²) for the new atom and for each that it drops,
and one product with |S| columns of k numbers.
Source: Wolfe 1976; Lacoste-Julien & Jaggi 2015.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.herding.atoms import StoredAtoms
from simopt.solvers.herding.frank_wolfe_steps import FULL, STALLED, STEP_TAKEN, StepRule
from simopt.solvers.herding.walk import Walk

PROXIMAL = 2.0**-46  # δ in units of the largest ‖ψ_j‖²
PATIENCE = 12  # steps without a smaller error before the rule says that it has stalled


@kernel(any_order=True)
def forward(factor: Array, size: int, x: Array) -> None:
    """x ← R⁻ᵀ x."""
    for t in range(size):
        x[t] /= factor[t, t]
        value = x[t]
        row = factor[t]
        for q in range(t + 1, size):
            x[q] -= value * row[q]


@kernel(any_order=True)
def backward(factor: Array, size: int, x: Array) -> None:
    """x ← R⁻¹ x."""
    for t in range(size - 1, -1, -1):
        row = factor[t]
        total = 0.0
        for q in range(t + 1, size):
            total += row[q] * x[q]
        x[t] = (x[t] - total) / row[t]


@kernel(any_order=True)
def delete(factor: Array, gram: Array, size: int, i: int, carried: Array) -> None:
    """Take atom i out of the factor and the Gram matrix. `carried` is workspace of `size` numbers."""
    for q in range(i + 1, size):
        carried[q - 1] = factor[i, q]
    for t in range(i):
        for q in range(i, size - 1):
            factor[t, q] = factor[t, q + 1]
    for t in range(i, size - 1):
        for q in range(t, size - 1):
            factor[t, q] = factor[t + 1, q + 1]
    for t in range(i, size - 1):  # RᵀR + c cᵀ, row by row
        row = factor[t]
        length = math.hypot(row[t], carried[t])
        cosine, sine = row[t] / length, carried[t] / length
        row[t] = length
        for q in range(t + 1, size - 1):
            old = row[q]
            row[q] = cosine * old + sine * carried[q]
            carried[q] = cosine * carried[q] - sine * old
    for t in range(size):
        if t != i:
            to = t if t < i else t - 1
            for q in range(i):
                gram[to, q] = gram[t, q]
            for q in range(i, size - 1):
                gram[to, q] = gram[t, q + 1]


@kernel
def correct(factor: Array, gram: Array, size: int, order: npt.NDArray[np.intp], w: Array, g: Array, delta: float) -> int:
    """Weights that are best on some of the atoms in `order`, which is shortened to them; returns how many are left.

    `g` is Gw − b on entry. It is carried along by G d = −g − ν1 − δd, up to a multiple of 1, to which d is indifferent.
    """
    one = np.empty(size)
    d = np.empty(size)
    carried = np.empty(size)
    while size > 1:
        for i in range(size):
            d[i] = -g[i]
            one[i] = 1.0
        forward(factor, size, d)
        backward(factor, size, d)
        forward(factor, size, one)
        backward(factor, size, one)
        along = 0.0
        total = 0.0
        for i in range(size):
            along += d[i]
            total += one[i]
        step = 1.0
        blocking = -1
        for i in range(size):
            d[i] -= along / total * one[i]
            if w[i] + step * d[i] < 0.0:
                step = max(-w[i] / d[i], 0.0)
                blocking = i
        for i in range(size):
            w[i] = max(w[i] + step * d[i], 0.0)
            g[i] = (1.0 - step) * g[i] - step * delta * d[i]
        if blocking < 0:
            break
        delete(factor, gram, size, blocking, carried)
        size -= 1
        for i in range(blocking, size):
            order[i] = order[i + 1]
            w[i] = w[i + 1]
            g[i] = g[i + 1]
    if size == 1:
        w[0] = 1.0
    return size


class FullyCorrective(StepRule):
    """The rule "fully-corrective": append the atom of the Frank–Wolfe step, then solve for all weights.

    Steps end where the gap is not positive, or more than 12 steps in a row have left no smaller error. They also end where the new atom
    depends on the others to rounding, or has no weight in the end. The first step of a walk with several atoms solves for these alone.
    """

    keeps_columns = True
    descends = True
    converges_linearly = True

    def __init__(self) -> None:
        self._size = 0
        self._order = np.empty(0, dtype=np.intp)
        self._factor = np.empty((0, 0))
        self._gram = np.empty((0, 0))
        self._delta = 0.0
        self._best = math.inf
        self._waited = 0

    def step(self, walk: Walk, scores: Array, s: int, gap: float, may_grow: bool) -> str:
        warm = self._size == 0 and len(walk.support) > 1
        if self._size == 0:
            self._load(walk)
        self._waited = 0 if walk.error_squared < self._best else self._waited + 1
        self._best = min(self._best, walk.error_squared)
        if not gap > 0.0 or self._waited > PATIENCE:
            return STALLED
        if s not in walk and not warm:
            if not may_grow:
                return FULL
            if not self._append(walk, s):
                return STALLED
        return self._solve(walk, s if not warm else -1)

    def _load(self, walk: Walk) -> None:
        order = np.sort(walk.support)
        self._size, self._order = len(order), order
        largest = float(np.max(walk.atoms.diagonal))
        self._delta = PROXIMAL * largest if largest > 0.0 else 1.0
        self._gram = walk.atoms.block(order, order)
        while True:
            try:
                self._factor = np.ascontiguousarray(np.linalg.cholesky(self._gram + self._delta * np.eye(self._size)).T)
                return
            except np.linalg.LinAlgError:  # more dependent than δ can bridge; a larger δ only makes the first steps shorter
                self._delta *= 16.0

    def _append(self, walk: Walk, s: int) -> bool:
        k = self._size
        if k == len(self._order):
            self._grow(max(64, 2 * k))
        column = walk.atoms.block([s], self._order[:k])[0]
        own = float(walk.atoms.diagonal[s])
        self._gram[k, :k] = self._gram[:k, k] = column
        self._gram[k, k] = own
        forward(self._factor, k, column)
        pivot = own + self._delta - float(column @ column)
        if not pivot > 0.25 * self._delta:
            return False
        self._factor[:k, k], self._factor[k, k] = column, math.sqrt(pivot)
        self._order[k] = s
        self._size = k + 1
        return True

    def _grow(self, capacity: int) -> None:
        k = self._size
        order = np.empty(capacity, dtype=np.intp)
        factor, gram = np.zeros((capacity, capacity)), np.zeros((capacity, capacity))
        order[:k], factor[:k, :k], gram[:k, :k] = self._order[:k], self._factor[:k, :k], self._gram[:k, :k]
        self._order, self._factor, self._gram = order, factor, gram

    def _solve(self, walk: Walk, s: int) -> str:
        k = self._size
        order = self._order[:k]
        weights = walk.raw[order] / walk.mass
        g = self._gram[:k, :k] @ weights - walk.atoms.linear[order]
        self._size = correct(self._factor, self._gram, k, self._order, weights, g, self._delta)
        if s >= 0 and s not in self._order[: self._size]:
            return STALLED
        weights = weights[: self._size]
        walk.assign(self._order[: self._size], weights / float(np.sum(weights)))
        return STEP_TAKEN


def best_weights(gram: Array, linear: Array, square: float, start: Array, *, tol: float = 1e-15, max_iter: int = 10_000) -> Array:
    """Weights w ≥ 0, Σ w = 1, that minimise wᵀGw − 2bᵀw, begun at `start`: the nearest point of a hull to ω by active sets.

    Atoms whose best weight is 0 get exactly 0. Ends when the Frank–Wolfe gap is at most `tol` times the largest G_jj, or no step helps, or
    after `max_iter` steps; of all weights on the way those of least error are the answer.
    O(k³) and O(k²) for every atom that is dropped or comes back.
    """
    atoms = StoredAtoms(gram, np.ones(len(gram)), linear, square)
    atoms.keep_columns(8.0 * len(gram) ** 2)
    walk, rule = Walk(atoms), FullyCorrective()
    positive = np.flatnonzero(start > 0.0)
    walk.assign(positive, start[positive] / math.fsum(start[positive]))
    enough = tol * float(np.max(atoms.diagonal))
    least, best = math.inf, walk.dense
    for _ in range(max_iter):
        scores = walk.scores()
        s = int(np.argmin(scores))
        gap = walk.slope - float(scores[s]) / walk.mass
        if walk.error_squared < least:
            least, best = walk.error_squared, walk.dense
        if gap <= enough or rule.step(walk, scores, s, gap, True) != STEP_TAKEN:
            break
    return best
