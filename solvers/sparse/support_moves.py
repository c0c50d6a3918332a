r"""A support S with its best fit, and the exact cost of every move: adding a column, removing one, exchanging one for another.

Let G = XᵀX, M = G_SS^{-1}, B = M G_S, w = M X_Sᵀy, a = Xᵀr, and h_j = ‖x̃_j‖² as in `orthogonal_rows`. Row s of B holds the weights with
which columns lean on the s-th of S.
    Adding j lowers ‖r‖² by a_j²/h_j.                       Removing i raises it by c_i = w_i²/M_ii.
    Without i, a_j becomes a_j + w_i B_ij/M_ii and h_j becomes h_j + B_ij²/M_ii, so exchanging i for j lowers ‖r‖² by
        (a_j + w_i B_ij/M_ii)²/(h_j + B_ij²/M_ii) − c_i.
(For d_i = X_S M e_i is orthogonal to the rest of S, ⟨d_i, x_i⟩ = 1, ‖d_i‖² = M_ii, ⟨d_i, x_j⟩ = B_ij, and r becomes r + w_i d_i/M_ii.)
All k(d − k) exchanges are evaluated in O(kd), and each move changes M, B, w, a, h by terms of rank one in O(kd).
Source: Zhang 2008 (FoBa) for the moves in turn; the costs are those of the sweep operator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.sparse.orthogonal_rows import DEPENDENCE, DONE, EXHAUSTED, NEEDED, Indices

WORTH = 1e-6  # an exchange must gain so much more than it costs
ROUNDING = 1e-15  # of ‖y‖²: gains below it are none
REFRESH = 64  # moves after which everything is computed afresh
STALE = 5


class Tableau(NamedTuple):
    """S (the first `size[0]` entries of `support`), which columns are inside, M, B, w, a, h and ‖x_j‖²; and what the moves did.

    `state` is ‖r‖², the moves made, those left until a refresh, and the gain that is rounding. Capacities: k + 1 columns.
    """

    size: Indices
    support: Indices
    inside: npt.NDArray[np.bool_]
    M: Array
    B: Array
    w: Array
    a: Array
    h: Array
    diagonal: Array
    state: Array
    trace: Array
    gains: Array


@kernel
def _remove(T: Tableau, i: int) -> float:
    """Take the i-th column of S out; the last one takes its place. Returns what that adds to ‖r‖²."""
    support, M, B, w, a, h, k, d = T.support, T.M, T.B, T.w, T.a, T.h, T.size[0], len(T.a)
    pivot = M[i, i]
    share = w[i] / pivot
    cost = w[i] * share
    for j in range(d):
        a[j] += share * B[i, j]
        h[j] += B[i, j] * B[i, j] / pivot
    for s in range(k):
        if s != i:
            factor = M[s, i] / pivot
            w[s] -= M[s, i] * share
            for j in range(d):
                B[s, j] -= factor * B[i, j]
            for t in range(k):
                if t != i:
                    M[s, t] -= factor * M[i, t]
    T.inside[support[i]] = False
    last = k - 1
    support[i], w[i] = support[last], w[last]
    for j in range(d):
        B[i, j] = B[last, j]
    for t in range(k):
        M[i, t] = M[last, t]
    for t in range(k):
        M[t, i] = M[t, last]
    T.size[0] = last
    _record(T, cost)
    return float(cost)


@kernel
def _insert(T: Tableau, j: int, rows: Any, row_of: Any, unit: float) -> float:
    """Append column j to S. Returns what that takes off ‖r‖²."""
    support, M, B, w, a, h, k, d = T.support, T.M, T.B, T.w, T.a, T.h, T.size[0], len(T.a)
    g, row = B[k], rows[row_of[j]]
    for t in range(d):
        g[t] = row[t] * unit
    for s in range(k):
        factor, other = B[s, j] * unit, rows[row_of[support[s]]]
        for t in range(d):
            g[t] -= factor * other[t]
    square = g[j]
    new = a[j] / square
    gain = a[j] * new
    for t in range(d):
        a[t] -= new * g[t]
        h[t] -= g[t] * g[t] / square
    for s in range(k):
        M[k, s] = -B[s, j] / square
        M[s, k] = M[k, s]
    for s in range(k):
        v = B[s, j]
        w[s] -= v * new
        for t in range(k):
            M[s, t] -= v * M[k, t]
        for t in range(d):
            B[s, t] -= v * g[t] / square
    for t in range(d):
        g[t] /= square
    M[k, k] = 1.0 / square
    support[k], T.inside[j], w[k] = j, True, new
    for s in range(k + 1):
        a[support[s]], h[support[s]] = 0.0, 0.0
    T.size[0] = k + 1
    _record(T, -gain)
    return float(gain)


@kernel
def _record(T: Tableau, change: float) -> None:
    T.state[0] = max(T.state[0] + change, 0.0)
    if int(T.state[1]) < len(T.trace):
        T.trace[int(T.state[1])] = T.state[0]
    T.state[1] += 1.0
    T.state[2] -= 1.0


@kernel
def _best_addition(T: Tableau) -> tuple[int, float]:
    best, value = -1, 0.0
    for j in range(len(T.a)):
        if not T.inside[j] and T.h[j] > DEPENDENCE * T.diagonal[j]:
            gain = T.a[j] * T.a[j] / T.h[j]
            if gain > value:
                best, value = j, gain
    return best, value


@kernel
def _cheapest_removal(T: Tableau) -> tuple[int, float]:
    best, value = -1, np.inf
    for i in range(T.size[0]):
        cost = T.w[i] * T.w[i] / T.M[i, i]
        if cost < value:
            best, value = i, cost
    return best, value


@kernel
def _best_exchange(T: Tableau) -> tuple[int, int, float, float]:
    """(i, j, gain of j without i, cost of i) of the exchange that lowers ‖r‖² most; of equal ones the first."""
    out, into, value, kept = -1, -1, -np.inf, 0.0
    for i in range(T.size[0]):
        inverse = 1.0 / T.M[i, i]
        share, row = T.w[i] * inverse, T.B[i]
        cost = T.w[i] * share
        for j in range(len(T.a)):
            if not T.inside[j]:
                square = T.h[j] + row[j] * row[j] * inverse
                product = T.a[j] + share * row[j]
                # a quotient only where it can win: products are cheaper
                if product * product > (value + cost) * square and square > DEPENDENCE * T.diagonal[j]:
                    out, into, value, kept = i, j, product * product / square - cost, cost
    return out, into, value + kept, kept


@kernel
def _exchange(T: Tableau, rows: Any, row_of: Any, unit: float) -> tuple[int, int]:
    """Exchanges until none is worth it, a row is missing, the trace is full or a refresh is due."""
    while int(T.state[1]) + 1 < len(T.trace):
        if not T.state[2] > 0.0:
            return STALE, -1
        i, j, gain, cost = _best_exchange(T)
        if j < 0 or not gain > cost * (1.0 + WORTH) + T.state[3]:
            return EXHAUSTED, -1
        if row_of[j] < 0:
            return NEEDED, j
        _remove(T, i)
        _insert(T, j, rows, row_of, unit)
    return DONE, -1


@kernel
def _forward_backward(T: Tableau, rows: Any, row_of: Any, unit: float, count: int, ratio: float, enough: float) -> tuple[int, int]:
    """Additions, each followed by the removals that cost at most `ratio` of the gain that reached the present size."""
    while True:
        while T.size[0] > 1:
            i, cost = _cheapest_removal(T)
            if cost > ratio * T.gains[T.size[0] - 1]:
                break
            _remove(T, i)
        if T.size[0] == count or T.state[0] <= enough or int(T.state[1]) >= len(T.trace):
            return DONE, -1
        if not T.state[2] > 0.0:
            return STALE, -1
        j, gain = _best_addition(T)
        if j < 0 or gain <= T.state[3]:
            return EXHAUSTED, -1
        if row_of[j] < 0:
            return NEEDED, j
        k = T.size[0]
        T.gains[k] = _insert(T, j, rows, row_of, unit)


class Support:
    """S with its best fit; `rows` and `row_of` give the rows of G (times `unit`) as in `orthogonal_rows`."""

    def __init__(self, products: Array, square: float, diagonal: Array, capacity: int, moves: int) -> None:
        d, k = len(products), capacity + 1
        self.products, self.square = products, square
        state = np.array([square, 0.0, float(REFRESH), ROUNDING * square])
        empty = np.zeros((k, k)), np.zeros((k, d)), np.zeros(k), products.copy(), diagonal.copy(), diagonal
        kinds = np.zeros(1, dtype=np.intp), np.zeros(k, dtype=np.intp), np.zeros(d, dtype=bool)
        self.tableau = Tableau(*kinds, *empty, state, np.zeros(moves), np.zeros(k))

    @property
    def columns(self) -> Indices:
        """S."""
        return self.tableau.support[: int(self.tableau.size[0])].copy()

    @property
    def left(self) -> float:
        """‖r‖²."""
        return float(self.tableau.state[0])

    @property
    def visited(self) -> Array:
        """‖r‖² after every move."""
        return self.tableau.trace[: int(self.tableau.state[1])]

    def copy(self) -> Support:
        """A copy to try moves on."""
        twin = object.__new__(Support)
        twin.products, twin.square = self.products, self.square
        twin.tableau = self.tableau._replace(**{name: array.copy() for name, array in self.tableau._asdict().items()})
        return twin

    def refit(self, columns: Indices, rows: npt.NDArray[Any], row_of: Indices, unit: float = 1.0) -> None:
        """Everything afresh for S = columns. O(dk² + k³)."""
        T, k = self.tableau, len(columns)
        G = np.asarray(rows[row_of[columns]], dtype=np.float64) * unit
        T.inside[:] = False
        T.inside[columns] = True
        T.size[0], T.support[:k] = k, columns
        if k:
            T.M[:k, :k] = np.linalg.inv(G[:, columns])
            T.B[:k] = np.linalg.solve(G[:, columns], G)
        T.w[:k] = np.linalg.solve(G[:, columns], self.products[columns]) if k else 0.0
        T.a[:] = self.products - T.w[:k] @ G
        T.h[:] = T.diagonal - np.einsum("sj,sj->j", T.B[:k], G)
        T.a[columns], T.h[columns] = 0.0, 0.0
        T.state[0] = max(self.square - float(T.w[:k] @ self.products[columns]), 0.0)
        T.state[2] = REFRESH

    def exchange(self, rows: npt.NDArray[Any], row_of: Indices, unit: float = 1.0) -> tuple[int, int]:
        """The best exchanges one after the other; why it stopped, and the column whose row is missing."""
        return _exchange(self.tableau, rows, row_of, unit)

    def forward_backward(
        self, rows: npt.NDArray[Any], row_of: Indices, unit: float, count: int, ratio: float, enough: float
    ) -> tuple[int, int]:
        """Additions and removals up to `count` columns or ‖r‖² ≤ enough."""
        return _forward_backward(self.tableau, rows, row_of, unit, count, ratio, enough)

    def addition_gains(self) -> Array:
        """a_j²/h_j, shape (d,); 0 for columns in S or dependent on it."""
        T = self.tableau
        free = ~T.inside & (DEPENDENCE * T.diagonal < T.h)
        return np.where(free, T.a**2 / np.where(free, T.h, 1.0), 0.0)

    def promising(self, count: int) -> Indices:
        """The columns of largest gain."""
        return np.argsort(-self.addition_gains(), kind="stable")[:count]
