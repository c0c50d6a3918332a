r"""Forward selection by orthonormalised rows of the Gram matrix: what a pick costs, and the state that picks change.

Let S be the columns picked so far, x̃ what is left of a column x after projection onto their complement, r = ỹ the residual. The state is
    a_j = ⟨x_j, r⟩,      h_j = ‖x̃_j‖²,      and the orthonormal rows P_t = (⟨e_t, x_j⟩)_j,  e_t the normalised x̃ of the t-th pick.
Picking j adds the row p = G_j − Σ_s P_s[j] P_s, divided by √p[j], and with q = a_j/√h_j
    a ← a − q p,     h ← h − p²,     ‖r‖² ← ‖r‖² − q².
No linear system is solved: O(dk) for the k-th pick. The rows P_t at the picks are the factor R of X_S = QR, so Rw = q gives the weights.
Matching pursuit takes the largest |a_j|, orthogonal least squares the largest a_j²/h_j, which is what the pick takes off ‖r‖².
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simopt.core.arrays import Array
from simopt.core.compiled import kernel

Indices = npt.NDArray[np.intp]
FREE, PICKED, DEPENDENT, SILENT = 0, 1, 2, 3
DEPENDENCE = 1e-12  # ‖x̃_j‖² up to this fraction of ‖x_j‖² is rounding
SILENCE = 1e-13  # |⟨x_j, r⟩| up to this fraction of ‖x_j‖ ‖y‖ is rounding
DONE, NEEDED, EXHAUSTED, NEGATIVE, NOT_FINITE = 0, 1, 2, 3, 4


@kernel
def _best(a: Any, h: Any, marks: Any, by_gain: bool) -> int:
    """The free column of the largest |⟨x̃_j, r⟩|, or gain of that squared over ‖x̃_j‖², the first of equals; −1 if none has any."""
    best, value = -1, 0.0
    for j in range(len(a)):
        if marks[j] == FREE:
            score = abs(a[j])
            if by_gain:
                score = score * score / h[j] if h[j] > 0.0 else 0.0
            if score > value:
                best, value = j, score
    return best


class SelectionState(NamedTuple):
    """The arrays that picks change, and ‖x_j‖²; see `Selection`."""

    products: Any
    heights: Any
    diagonal: Any
    marks: Any
    basis: Any
    order: Any
    coordinates: Any
    residuals: Any


@kernel
def _advance(rows: Any, row_of: Any, unit: float, state: SelectionState, size: int, enough: float, by_gain: bool) -> tuple[int, int, int]:
    """Pick until all are picked, or ‖r‖² ≤ `enough`, or no column helps, or a row is missing. Returns (why, column, number of picks)."""
    a, h, diagonal, marks, basis, order, coordinates, residuals = state
    d = len(a)
    silence = SILENCE * SILENCE * residuals[0]
    while size < len(order) and residuals[size] > enough:
        best = _best(a, h, marks, by_gain)
        if best < 0:
            return EXHAUSTED, -1, size
        if row_of[best] < 0:
            return NEEDED, best, size
        row = rows[row_of[best]]
        square = row[best] * unit
        if a[best] * a[best] <= silence * square:
            marks[best] = SILENT
            continue
        p = basis[size]
        for j in range(d):
            p[j] = row[j] * unit
        for s in range(size):
            factor = basis[s, best]
            other = basis[s]
            for j in range(d):
                p[j] -= factor * other[j]
        pivot = p[best]
        if not pivot > DEPENDENCE * square:
            if pivot != pivot:
                return NOT_FINITE, best, size
            if pivot < -1e-6 * square or square < 0.0:
                return NEGATIVE, best, size
            marks[best] = DEPENDENT
            continue
        scale = 1.0 / np.sqrt(pivot)
        q = a[best] * scale
        for j in range(d):
            p[j] *= scale
            a[j] -= q * p[j]
            if marks[j] == SILENT:
                marks[j] = FREE
        if by_gain:
            for j in range(d):
                h[j] -= p[j] * p[j]
                if marks[j] == FREE and h[j] <= DEPENDENCE * diagonal[j]:
                    marks[j] = DEPENDENT
        a[best] = 0.0
        marks[best] = PICKED
        order[size], coordinates[size] = best, q
        residuals[size + 1] = max(residuals[size] - q * q, 0.0)
        size += 1
    return DONE, -1, size


@dataclass
class Selection:
    """Columns picked so far and what is left of the others.

    Attributes
    ----------
    products : (d,) array
        a = X̃ᵀr; exactly 0 at picks.
    heights : (d,) array
        h_j = ‖x̃_j‖² (kept for least squares only).
    diagonal : (d,) array
        ‖x_j‖².
    marks : (d,) array
        FREE, PICKED, DEPENDENT (on the picks, to rounding) or SILENT (orthogonal to the residual, to rounding; asked again after a pick).
    basis : (count, d) array
        P, of which the first `size` rows are filled.
    order, coordinates, residuals : (count,), (count,) and (count + 1,) arrays
        picks, q, and ‖r‖² before the first and after every pick.
    by_gain : bool
        whether picks are those of least squares.
    """

    products: Array
    heights: Array
    diagonal: Array
    marks: npt.NDArray[np.uint8]
    basis: Array
    order: Indices
    coordinates: Array
    residuals: Array
    by_gain: bool
    size: int = 0
    wanted: int = -1

    @classmethod
    def begin(cls, products: Array, square: float, diagonal: Array, count: int, by_gain: bool) -> Selection:
        """Nothing picked: a = Xᵀy, ‖r‖² = yᵀy, h = diagonal."""
        d = len(products)
        marks = np.where((diagonal <= 0.0) & by_gain, DEPENDENT, FREE).astype(np.uint8)
        residuals = np.zeros(count + 1)
        residuals[0] = square
        basis, order, coordinates = np.empty((count, d)), np.zeros(count, dtype=np.intp), np.zeros(count)
        return cls(products.copy(), diagonal.copy(), diagonal, marks, basis, order, coordinates, residuals, by_gain)

    def copy(self) -> Selection:
        """A copy to try picks on."""
        changed = ("products", "heights", "marks", "order", "coordinates", "residuals")
        twin = replace(self, **{name: getattr(self, name).copy() for name in changed}, basis=np.empty_like(self.basis))
        twin.basis[: self.size] = self.basis[: self.size]
        return twin

    def advance(self, rows: npt.NDArray[Any], row_of: Indices, enough: float, unit: float = 1.0) -> int:
        """Pick from the rows given (row `row_of[j]` times `unit` is G_j; −1: not there), until something stops it; returns what.

        O(dk) for the k-th pick. After NEEDED, `wanted` is the column whose row is missing.
        """
        state = SelectionState(
            self.products, self.heights, self.diagonal, self.marks, self.basis, self.order, self.coordinates, self.residuals
        )
        why, self.wanted, self.size = _advance(rows, row_of, unit, state, self.size, enough, self.by_gain)
        return why

    @property
    def picks(self) -> Indices:
        """Columns in the order in which they were picked."""
        return self.order[: self.size]

    @property
    def factor(self) -> Array:
        """R of X_S = QR, upper triangular."""
        return np.triu(self.basis[: self.size, self.picks])

    def promising(self, count: int) -> Indices:
        """The free columns that would be picked first if each pick left the others as they are."""
        free = np.flatnonzero(self.marks == FREE)
        scores = np.abs(self.products[free])
        if self.by_gain:
            scores = scores**2 / self.heights[free]
        if len(free) > count:
            best = np.argpartition(scores, len(free) - count)[-count:]
            free, scores = free[best], scores[best]
        return free[np.argsort(-scores, kind="stable")]
