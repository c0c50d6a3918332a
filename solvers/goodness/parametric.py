r"""The curve B ↦ ε₀(B) of a piecewise linear loss by a parametric simplex method: one pivot a piece, from B = 0 upwards.

In natural units, with x_j = w_j, A_ij = K_ij p_j/max p and costs c_i = p_i/max p, the programme at θ = B·max p is
    min Σ_v φ_v(z_v)   over z = (x, f),  f = Ax.
Each φ_v is convex and linear between at most two kinks r_v + θ s_v. Those of x_j are −θ and θ, with slopes −∞, 0, ∞; those of f_i
are the loss's, and do not move. A basis fixes as many predictions E at kinks as it leaves weights W free between theirs. All other weights
are at ±θ, so that x_W = A_EW^{-1}(f_E − A_EN x_N), and all z are affine in θ. The dual of a variable between kinks is the slope of φ_v
there, that of a fixed one any number between the slopes on both sides. The basis is optimal as long as
    dual(x_j) + Σ_i A_ij dual(f_i) = 0    for all j.
This does not depend on θ: the curve is linear with slope −Σ_j |dual(x_j)|, until a variable reaches a kink. It is fixed there, and its
dual grows until the dual of some fixed variable comes to the end of its range. That variable is set free (dual ratio test), unless the own
dual reaches the slope of the next segment first. The slope grows with each pivot, but for ties.
A_EW^{-1} is kept between pivots, and changed by a matrix of rank one. A row and a column of the tableau are made anew from A for each
pivot, 2N|W| + 3|W|² multiplications. They are refined if entries that have to be 0 or 1 are not, to rounding. The error that remains tells
when the inverse is worn out. It is then computed afresh, as it is after `REFRESH` pivots. A pivot has to be well above that error. Ties go
to the largest pivot: where rows or columns are equal, equal to rounding or dependent, none of the size of rounding is made.
Source: Gass and Saaty 1955, The computational algorithm for the parametric objective function; here its dual, with bounds that move.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.problems.goodness import Goodness

REFRESH = 50  # pivots after which the inverse is computed anew
FINE = 1e-14  # rounding in a row or a column of the tableau up to which it is not refined
WORN = 1e-11  # rounding in a row of the tableau, of its size, at which it is computed anew before that
APART = 1e-9  # relative, of a pivot's value in its row and in its column: likewise
YOUNG = 32  # an inverse of no more than |W|/32 pivots is not computed anew for that: it costs as much as |W|/2 pivots
PIVOT, ABOVE = 1e-9, 100.0  # a pivot is larger than that fraction of its row, and than that many times the rounding found in the row
DRIFT = 1e-12  # of values and of the largest speed by which a pivot moves fixed predictions, at which it is computed anew
SLOW = 1e-13  # closing speeds below that fraction of the largest speed are rounding
STILL = 20  # pivots without progress, times 2N, that are given up after
REACHED, EVENT, TIRED, STUCK = 0, 1, 2, 3
Index = NDArray[np.intp]


class Pieces(NamedTuple):
    """A, Aᵀ, (N, N); kinks r, paces s, (2N, 2); slopes of the segments, (2N, 3); the largest |A_ij| of each x_j, 1 for f, (2N,)."""

    matrix: Array
    turned: Array
    kinks: Array
    paces: Array
    slopes: Array
    sizes: Array


class KinkState(NamedTuple):
    """For each of 2N variables: whether it is between kinks, in which segment or at which kink, its value, speed dz/dθ, and dual."""

    moving: NDArray[np.bool_]
    side: Index
    value: Array
    speed: Array
    dual: Array


class Basis(NamedTuple):
    """Free weights W and fixed predictions E, their places in these lists, (2N,), and A_EW^{-1}: the first |W| entries of each."""

    free: Index
    fixed: Index
    slot: Index
    inverse: Array


@kernel
def next_event(pieces: Pieces, state: KinkState, theta: float, slow: float) -> tuple[int, int, float]:
    """The variable that reaches a kink first, up (1) or down (−1), and after which Δθ ≥ 0; of several the one that closes in fastest."""
    first, way, step, fastest = -1, 0, np.inf, 0.0
    for v in range(len(state.value)):
        if state.moving[v]:
            for up in (-1, 1):
                k = state.side[v] if up > 0 else state.side[v] - 1
                if 0 <= k < 2:
                    closing = up * (state.speed[v] - pieces.paces[v, k])
                    if closing > slow:
                        slack = up * (pieces.kinks[v, k] + pieces.paces[v, k] * theta - state.value[v])
                        wait = max(slack, 0.0) / closing
                        if wait < step or (wait == step and closing > fastest):
                            first, way, step, fastest = v, up, wait, closing
    return first, way, step


@kernel(any_order=True)
def subtract(target: Array, matrix: Array, i: int, factor: float) -> None:
    """target −= factor · row i of the matrix, as far as that goes."""
    for j in range(matrix.shape[1]):
        target[j] -= factor * matrix[i, j]


@kernel(any_order=True)
def tableau_row(pieces: Pieces, basis: Basis, size: int, leaving: int, row: Array, mix: Array) -> tuple[float, float]:
    """∂z_leaving by each fixed variable, in `row`, those by fixed predictions also in `mix`; their size, and what rounding leaves.

    The row is 0 at free weights, but −1 at the leaving one: what it is instead, of the size of A's column, is told, after one refinement.
    """
    n = len(pieces.matrix)
    for v in range(len(row)):
        row[v] = 0.0
    for b in range(size):
        mix[b] = basis.inverse[basis.slot[leaving], b] if leaving < n else 0.0
    if leaving >= n:
        subtract(row, pieces.matrix, leaving - n, -1.0)
        for a in range(size):
            factor = row[basis.free[a]]
            for b in range(size):
                mix[b] += factor * basis.inverse[a, b]
    for b in range(size):
        subtract(row, pieces.matrix, basis.fixed[b], mix[b])
    off, edge = 0.0, np.empty(size)
    for again in range(2):
        off = 0.0
        for a in range(size):
            w = basis.free[a]
            edge[a] = row[w] + (1.0 if w == leaving else 0.0)
            off = max(off, abs(edge[a]) / pieces.sizes[w])
        if off <= FINE or again == 1:
            break
        for b in range(size):
            more = 0.0
            for a in range(size):
                more += edge[a] * basis.inverse[a, b]
            mix[b] += more
            subtract(row, pieces.matrix, basis.fixed[b], more)
    largest = 0.0 if leaving < n else 1.0
    for b in range(size):
        row[n + basis.fixed[b]] = mix[b]
        largest = max(largest, abs(mix[b]))
    return largest, off


@kernel(any_order=True)
def tableau_column(pieces: Pieces, basis: Basis, size: int, entering: int, column: Array, mix: Array) -> None:
    """∂f by the fixed variable `entering`, in `column`, and ∂x_W, in `mix`; refined as the row is, where f_E do not stay."""
    n = len(pieces.matrix)
    edge = np.empty(size)
    for a in range(size):
        mix[a] = 0.0
    for i in range(n):
        column[i] = pieces.turned[entering, i] if entering < n else 0.0
    for _ in range(2):
        off = 0.0
        for b in range(size):
            i = basis.fixed[b]
            edge[b] = (1.0 if n + i == entering else 0.0) - column[i]
            off = max(off, abs(edge[b]))
        if off <= FINE:
            break
        for a in range(size):
            more = 0.0
            for b in range(size):
                more += basis.inverse[a, b] * edge[b]
            mix[a] += more
            subtract(column, pieces.turned, basis.free[a], -more)


@kernel
def ratio_test(pieces: Pieces, state: KinkState, row: Array, way: int, least: float) -> tuple[int, float]:
    """The fixed variable whose dual first comes to the end of its range, and after which change of the leaving one's; −1 for none."""
    first, change, largest = -1, np.inf, 0.0
    for v in range(len(row)):
        if not state.moving[v]:
            rate = way * row[v]
            if abs(rate) > least * pieces.sizes[v]:
                low, high = pieces.slopes[v, state.side[v]], pieces.slopes[v, state.side[v] + 1]
                slack = state.dual[v] - low if rate > 0.0 else high - state.dual[v]
                t = max(slack, 0.0) / abs(rate)
                if t < change or (t == change and abs(rate) > largest):
                    first, change, largest = v, t, abs(rate)
    return first, change


@kernel(any_order=True)
def exchange(basis: Basis, size: int, leaving: int, entering: int, pivot: float, row: Array, column: Array, n: int) -> int:
    """A_EW^{-1} after the pivot, given the parts of its row and its column that belong to E and W; |W| after it."""
    M, slot = basis.inverse, basis.slot
    for a in range(size):
        factor = column[a] / pivot
        for b in range(size):
            M[a, b] -= factor * row[b]
    if leaving < n and entering >= n:  # one row and one column less: the last ones take their places
        a, b, last = slot[leaving], slot[entering], size - 1
        for c in range(size):
            M[a, c] = M[last, c]
        for c in range(last):
            M[c, b] = M[c, last]
        basis.free[a], basis.fixed[b] = basis.free[last], basis.fixed[last]
        slot[basis.free[a]], slot[n + basis.fixed[b]] = a, b
        return last
    if entering < n:
        a = slot[leaving] if leaving < n else size
        for b in range(size):
            M[a, b] = -row[b] / pivot
        basis.free[a], slot[entering] = entering, a
    if leaving >= n:
        b = slot[entering] if entering >= n else size
        for a in range(size):
            M[a, b] = column[a] / pivot
        basis.fixed[b], slot[leaving] = leaving - n, b
    if entering < n and leaving >= n:
        M[size, size] = 1.0 / pivot
        return size + 1
    return size


@kernel(any_order=True)
def walk(
    pieces: Pieces, state: KinkState, basis: Basis, size: int, theta: float, stop: float, age: int, single: bool
) -> tuple[int, float, int, int]:
    """Pivots until θ = `stop`, or the inverse, of `age` pivots, is too old or worn, or (`single`) the next event after progress in θ.

    Returns why it ended, θ, |W|, and the age.
    """
    n = len(pieces.matrix)
    moving, side, value, speed, dual = state
    row, column, along, across = np.empty(2 * n), np.empty(n), np.empty(n), np.empty(n)
    while age < REFRESH:
        fastest = 1.0
        for a in range(size):
            fastest = max(fastest, abs(speed[basis.free[a]]))
        leaving, way, step = next_event(pieces, state, theta, SLOW * fastest)
        last = leaving < 0 or theta + step >= stop
        if last:
            step = stop - theta
        ahead = stop if last else theta + step
        if ahead > theta:
            for v in range(2 * n):
                value[v] += step * speed[v]
        if last or (single and ahead > theta):
            return REACHED if last else EVENT, ahead, size, age
        theta = ahead
        now = side[leaving]
        own = way * (pieces.slopes[leaving, now + way] - pieces.slopes[leaving, now])
        largest, off = tableau_row(pieces, basis, size, leaving, row, along)
        if off > WORN * largest and age > size // YOUNG:
            return TIRED, theta, size, age
        entering, change = ratio_test(pieces, state, row, way, max(PIVOT * largest, ABOVE * off))
        if own <= change:
            if own == np.inf:
                return STUCK, theta, size, age
            side[leaving] = now + way
            dual[leaving] = pieces.slopes[leaving, now + way]
            for v in range(2 * n):
                if not moving[v]:
                    dual[v] -= way * own * row[v]
            age += 1
            continue
        pivot = row[entering]
        tableau_column(pieces, basis, size, entering, column, across)
        seen = column[leaving - n] if leaving >= n else across[basis.slot[leaving]]
        if abs(pivot - seen) > APART * abs(pivot) and age > size // YOUNG:
            return TIRED, theta, size, age
        kink = now if way > 0 else now - 1
        at, pace = pieces.kinks[leaving, kink] + pieces.paces[leaving, kink] * theta, pieces.paces[leaving, kink]
        shift, turn = (at - value[leaving]) / pivot, (pace - speed[leaving]) / pivot
        for a in range(size):
            value[basis.free[a]] += across[a] * shift
            speed[basis.free[a]] += across[a] * turn
        for i in range(n):
            value[n + i] += column[i] * shift
            speed[n + i] += column[i] * turn
        drift = 0.0
        for b in range(size):  # these stay where they are, but for rounding
            v = n + basis.fixed[b]
            if v != entering:
                drift = max(drift, abs(value[v] - pieces.kinks[v, side[v]]), abs(speed[v]) / fastest)
                value[v], speed[v] = pieces.kinks[v, side[v]], 0.0
        from_kink = side[entering]
        value[entering] = pieces.kinks[entering, from_kink] + pieces.paces[entering, from_kink] * theta + shift
        speed[entering] = pieces.paces[entering, from_kink] + turn
        value[leaving], speed[leaving] = at, pace
        for v in range(2 * n):
            if not moving[v]:
                dual[v] -= way * change * row[v]
        dual[leaving] = pieces.slopes[leaving, now] + way * change
        side[leaving], side[entering] = kink, from_kink if way * pivot > 0.0 else from_kink + 1
        dual[entering] = pieces.slopes[entering, side[entering]]
        moving[leaving], moving[entering] = False, True
        size = exchange(basis, size, leaving, entering, pivot, along, across, n)
        age += 1
        if drift > DRIFT and age > size // YOUNG:
            return TIRED, theta, size, age
    return TIRED, theta, size, age


class ParametricSimplex:
    """Optimal vertices of a `Goodness` problem with the insensitive or the hinge loss for one bound after another, upwards from B = 0.

    Attributes
    ----------
    iterations : int
        pivots so far.
    """

    def __init__(self, problem: Goodness) -> None:
        self.problem, self.iterations = problem, 0
        natural, _ = problem.normalised()
        p, y = natural.support_masses(), natural.support_targets()
        n, self.unit = len(p), float(np.max(p))
        self.labels = y if natural.loss == "hinge" else None
        self.ratio = natural.bound / problem.bound * self.unit
        costs = p / self.unit
        A = natural.core * costs if self.labels is None else natural.core * costs * y[:, None]
        kinks, paces, slopes = np.full((2 * n, 2), np.inf), np.zeros((2 * n, 2)), np.zeros((2 * n, 3))
        kinks[:n], paces[:n], slopes[:n] = 0.0, (-1.0, 1.0), (-np.inf, 0.0, np.inf)
        if self.labels is not None:
            kinks[n:, 0], slopes[n:, 0] = natural.margin, -costs
        else:
            kinks[n:, 0], slopes[n:, 0], slopes[n:, 1:] = y - natural.epsilon, -costs, costs[:, None]
            if natural.epsilon > 0.0:
                kinks[n:, 1], slopes[n:, 1] = y + natural.epsilon, 0.0
        self.pieces = Pieces(np.ascontiguousarray(A), np.ascontiguousarray(A.T), kinks, paces, slopes, np.ones(2 * n))
        self.pieces.sizes[:n] = np.max(np.abs(A), axis=0)
        self.theta, self.size, self.age = 0.0, 0, 0
        moving = np.arange(2 * n) >= n
        self.state = KinkState(moving, np.zeros(2 * n, dtype=np.intp), np.zeros(2 * n), np.zeros(2 * n), np.zeros(2 * n))
        zeros = np.zeros((3, 2 * n), dtype=np.intp)
        self.basis = Basis(zeros[0], zeros[1], zeros[2], np.zeros((n, n)))
        self.state.side[n:] = np.sum(kinks[n:] < 0.0, axis=1)
        self.state.side[:n] = self.pieces.turned @ slopes[np.arange(n, 2 * n), self.state.side[n:]] < 0.0
        self._refresh()

    def _refresh(self) -> None:
        """Inverse, values, speeds and duals from the basis."""
        (A, turned, kinks, paces, slopes, _), (moving, side, value, speed, dual) = self.pieces, self.state
        n, W, E = len(A), self.basis.free[: self.size], self.basis.fixed[: self.size]
        try:
            self.basis.inverse[: self.size, : self.size] = np.linalg.inv(A[np.ix_(E, W)])
        except np.linalg.LinAlgError:
            raise ArithmeticError(f"the parametric simplex method has a singular basis at B = {self.theta / self.ratio:g}") from None
        self.age = 0
        fixed, between = np.flatnonzero(~moving), np.flatnonzero(moving)
        value[fixed] = kinks[fixed, side[fixed]] + paces[fixed, side[fixed]] * self.theta
        speed[fixed] = paces[fixed, side[fixed]]
        dual[between] = slopes[between, side[between]]
        for z in (value, speed):
            z[W], goal = 0.0, z[n + E]
            self._solve(z)
            self._solve(z)
            z[n:] = A @ z[:n]
            z[n + E] = goal
        dual[n + E] = 0.0
        self._update_duals()
        self._update_duals()
        dual[:n] = -(turned @ dual[n:])
        dual[W] = 0.0

    def _solve(self, z: Array) -> None:
        """x_W from f_E and what they leave of it."""
        A, W, E = self.pieces.matrix, self.basis.free[: self.size], self.basis.fixed[: self.size]
        z[W] += self._inverse() @ (z[len(A) + E] - A[E] @ z[: len(A)])

    def _update_duals(self) -> None:
        """Duals of f_E from the others, and from the error that they leave."""
        turned, W, E = self.pieces.turned, self.basis.free[: self.size], self.basis.fixed[: self.size]
        duals = self.state.dual[len(turned) :]
        duals[E] -= self._inverse().T @ (turned[W] @ duals)

    def _inverse(self) -> Array:
        return self.basis.inverse[: self.size, : self.size]

    def advance(self, bound: float, *, single: bool = False) -> float:
        """On to B = `bound`, no less than the last one, or (`single`) to the next event, whichever is first: which bound that is.

        Raises
        ------
        ArithmeticError
            when rounding leaves no pivot, or no progress.
        """
        stop, still, why = bound * self.ratio, 0, TIRED
        while why == TIRED:
            before, done = self.theta, self.age
            why, self.theta, self.size, self.age = walk(self.pieces, self.state, self.basis, self.size, self.theta, stop, self.age, single)
            done = self.age - done
            self.iterations += done
            still = 0 if self.theta > before else still + done
            if why == STUCK or still > STILL * len(self.state.value):
                raise ArithmeticError(f"the parametric simplex method is stuck at B = {self.theta / self.ratio:g}")
            if why == TIRED:
                self._refresh()
        return bound if why == REACHED else self.theta / self.ratio

    def vertex(self) -> tuple[Array, Array]:
        """v and q of all N points (0 without mass) where the walk is."""
        self._solve(self.state.value)
        self._update_duals()
        n = len(self.pieces.matrix)
        v, q = np.zeros(len(self.problem.targets)), np.zeros(len(self.problem.targets))
        duals = -self.unit * self.state.dual[n:]
        v[self.problem.support] = np.clip(self.state.value[:n] / self.theta, -1.0, 1.0)
        q[self.problem.support] = duals if self.labels is None else duals * self.labels
        return v, q
