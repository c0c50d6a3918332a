"""The vectors ψ_j that Frank–Wolfe steps move towards, by their inner products: a stored Gram matrix, or columns made when they are needed.

An atom set knows ⟨ω, ψ_j⟩, ‖ω‖² and ‖ψ_j‖², and makes columns ⟨ψ_i, ψ_j⟩, i = 1 … k, one at a time. Those used last are kept, as far as the
memory goes. Columns may be float32, for speed; blocks, from which certificates are computed, are always the similarity's own float64
values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from simopt.core.arrays import Array
from simopt.data.rows import Indices, Rows
from simopt.data.similarities import Gaussian, Similarity
from simopt.solvers.herding.gaussian_tiles import Fast, Floats, signed_powers32, signed_powers64

ROWS = 512  # rows of a Gram matrix looked at in one go
FIRST = 64  # columns that the store has at first


class SelectedColumns(NamedTuple):
    """The columns rows[slots[0]], rows[slots[1]], …"""

    rows: Any
    slots: Indices


class Atoms(ABC):
    """k atoms and the vector ω that is to be approximated.

    Attributes
    ----------
    linear : (k,) array
        ⟨ω, ψ_j⟩.
    square : float
        ‖ω‖².
    diagonal : (k,) array
        ‖ψ_j‖².
    """

    def __init__(self, linear: Array, square: float, diagonal: Array, precision: str = "float64") -> None:
        self.linear = linear
        self.square = square
        self.diagonal = diagonal
        self._precision = precision
        self._capacity = 0
        self._store: Any = np.empty((0, len(linear)), dtype=precision)
        self._slots = np.full(len(linear), -1, dtype=np.intp)  # the row of the store that holds a column
        self._stored: OrderedDict[int, None] = OrderedDict()  # the columns in the store, used last at the end

    def __len__(self) -> int:
        return len(self.linear)

    @abstractmethod
    def make_column(self, j: int) -> Floats:
        """⟨ψ_i, ψ_j⟩ for all i, shape (k,); the array may be used again by the next call."""

    @abstractmethod
    def block(self, rows: Sequence[int] | Indices, columns: Sequence[int] | Indices) -> Array:
        """⟨ψ_i, ψ_j⟩ for i in `rows` and j in `columns`, in float64 whatever the columns are."""

    def keep_columns(self, memory: float) -> None:
        """Keep columns that were made, as many as fit into `memory` bytes; the one that was used least recently gives way."""
        self._capacity = min(len(self), int(memory / (self._store.itemsize * len(self))))

    def column(self, j: int) -> Floats:
        """⟨ψ_i, ψ_j⟩ for all i, shape (k,), from the store if it is there. O(k p) if not."""
        if self._capacity == 0:
            return self.make_column(j)
        if j in self._stored:
            self._stored.move_to_end(j)
        else:
            made = self.make_column(j)
            slot = self._free_slot()
            self._store[slot] = made
            self._stored[j] = None
            self._slots[j] = slot
        found: Floats = self._store[self._slots[j]]
        return found

    def columns(self, wanted: Indices) -> SelectedColumns | None:
        """Several columns at once, as they are kept; None where they do not all fit."""
        if self._capacity < len(wanted):
            return None
        known = self._slots[wanted] >= 0
        if len(self._stored) + np.count_nonzero(~known) > self._capacity:
            for j in wanted[known].tolist():  # these must not give way to the others
                self._stored.move_to_end(j)
        for j in wanted[~known].tolist():
            self.column(j)
        return SelectedColumns(self._store, self._slots[wanted])

    def combination(self, support: Indices, weights: Array) -> Array:
        """Σ_j w_j ⟨ψ_i, ψ_j⟩ over the support, for all i. Reads the kept columns once; those that do not fit are made again."""
        self._tidy(support)
        for j in support[self._slots[support] < 0].tolist():
            if len(self._stored) < self._capacity:
                self.column(j)
        slots = self._slots[support]
        coefficients = np.zeros(len(self._stored), dtype=self._store.dtype)
        coefficients[slots[slots >= 0]] = weights[slots >= 0]
        out: Array = (coefficients @ self._store[: len(coefficients)]).astype(np.float64)
        for j, w in zip(support[slots < 0].tolist(), weights[slots < 0].tolist(), strict=True):
            out += w * self.make_column(j)
        return out

    def _free_slot(self) -> int:
        if len(self._stored) >= self._capacity:
            oldest, _ = self._stored.popitem(last=False)
            slot = int(self._slots[oldest])
            self._slots[oldest] = -1
            return slot
        slot = len(self._stored)
        if slot == len(self._store):
            larger = np.empty((min(self._capacity, max(FIRST, 2 * slot)), len(self)), dtype=self._store.dtype)
            larger[:slot] = self._store
            self._store = larger
        return slot

    def _tidy(self, support: Indices) -> None:
        """Forget columns outside the support S where more than 2|S| + 64 are kept, so that a combination does not read them."""
        if len(self._stored) <= 2 * len(support) + FIRST:
            return
        stay = support[self._slots[support] >= 0]
        stay = stay[np.argsort(self._slots[stay])]
        for slot, old in enumerate(self._slots[stay].tolist()):
            self._store[slot] = self._store[old]  # slots only move down, past those that have moved
        self._slots[:] = -1
        self._slots[stay] = np.arange(len(stay))
        self._stored = OrderedDict.fromkeys(stay.tolist())


class StoredAtoms(Atoms):
    """Atoms whose Gram matrix is at hand: ⟨ψ_i, ψ_j⟩ = signs_i signs_j gram_ij for the rows `chosen` (None: all)."""

    def __init__(self, gram: Array, signs: Array, linear: Array, square: float, chosen: Indices | None = None) -> None:
        self._gram = gram
        self._chosen = np.arange(len(gram)) if chosen is None else chosen
        self._all = chosen is None
        self._signs = signs[self._chosen]
        super().__init__(linear, square, np.diagonal(gram)[self._chosen].copy())

    def make_column(self, j: int) -> Array:
        row = self._gram[self._chosen[j]]
        column: Array = (row if self._all else row[self._chosen]) * self._signs
        return column if self._signs[j] > 0 else -column

    def block(self, rows: Sequence[int] | Indices, columns: Sequence[int] | Indices) -> Array:
        part = self._gram[np.ix_(self._chosen[np.asarray(rows)], self._chosen[np.asarray(columns)])]
        out: Array = self._signs[np.asarray(rows)][:, None] * part * self._signs[np.asarray(columns)]
        return out


class LazyAtoms(Atoms):
    """Labelled points: ⟨ψ_i, ψ_j⟩ = y_i y_j K(x_i, x_j), from fast tiles where there are any, else from the similarity's own values."""

    def __init__(
        self, rows: Rows, labels: Array, similarity: Similarity, linear: Array, square: float, diagonal: Array, fast: Fast | None
    ) -> None:
        super().__init__(linear, square, diagonal, "float64" if fast is None else fast.precision)
        self._rows = rows
        self._labels = labels
        self._similarity = similarity
        self._fast = fast
        self._signs: Any = labels.astype(self._precision)
        self._buffer: Any = np.empty(len(labels), dtype=self._precision)
        self._seen: dict[int, Array] = {}

    def make_column(self, j: int) -> Floats:
        """Column j of yᵢ yⱼ k(xᵢ, xⱼ), into the buffer: block by block, or by fast coordinates."""
        out: Floats = self._buffer
        if self._fast is None:
            point = self._points([j])
            for start, block in self._rows.blocks():
                out[start : start + len(block)] = self._similarity.values(block, point)[:, 0]
            out *= self._signs
            out *= self._labels[j]
            return out
        if (coordinates_of_all := self._fast.coordinates_of_all) is not None:
            np.dot(coordinates_of_all.row(j), coordinates_of_all.columns, out=out)
        else:
            left = self._fast.coordinates_at(self._points([j])).row(0)
            for start in range(0, self._rows.n, self._rows.step):
                stop = min(start + self._rows.step, self._rows.n)
                np.dot(left, self._fast.coordinates(self._rows, start, stop).columns, out=out[start:stop])
        powers = signed_powers32 if self._precision == "float32" else signed_powers64
        powers(out, self._signs, float(self._labels[j]))
        return out

    def block(self, rows: Sequence[int] | Indices, columns: Sequence[int] | Indices) -> Array:
        """yᵢ yⱼ k(xᵢ, xⱼ) of some rows and columns."""
        i, j = np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp)
        if len(i) == 1 and isinstance(self._similarity, Gaussian):  # the row that a new atom needs, without the detours of a general call
            apart = self._points(j.tolist()) - self._points(i.tolist())
            row: Array = np.exp(np.einsum("ij,ij->i", apart, apart) / -self._similarity.mu)
            signed: Array = row * self._labels[j] * self._labels[i]
            return signed[None, :]
        values = self._similarity.values(self._points(i.tolist()), self._points(j.tolist()))
        return self._labels[i][:, None] * values * self._labels[j]

    def _points(self, indices: list[int]) -> Array:
        if self._rows.resident:
            return self._rows.array[indices]
        missing = [j for j in indices if j not in self._seen]
        self._seen.update(zip(missing, self._rows.take(missing), strict=True))
        return np.array([self._seen[j] for j in indices])


def largest_margin(gram: Array, labels: Array) -> float:
    """max_ij y_i y_j K_ij: no function in the hull of the labelled points has a larger margin."""
    largest = -np.inf
    for start in range(0, len(labels), ROWS):
        rows = slice(start, start + ROWS)
        largest = max(largest, float(np.max(labels[rows, None] * gram[rows] * labels)))
    return largest
