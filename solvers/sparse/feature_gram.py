r"""Rows of G = XᵀX of features, in float64, and how G is guessed beforehand.

Only the rows at the picks are needed. For features in memory, and picks that are not very few or a quarter of all columns, G is guessed if
the columns are coherent; if not, those of largest |⟨x_j, r⟩| are a good guess. If eigenvalues fall fast and rows are many, a few rows of X
and the rows of G that are there already make the guess (`sampled_gram`). Else, or if that has failed ten times, it is made of products in
float32, at twice the speed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.data.rows import MEMORY, Rows
from simopt.solvers.sparse.gram_rows import GramRows, WholeGuess
from simopt.solvers.sparse.orthogonal_rows import Indices
from simopt.solvers.sparse.sampled_gram import SampledGram

STEP = 1024  # rows of X multiplied in float32 at a time; their products are added in float64
FEW = 64  # picks up to this fraction of d never pay for the whole Gram matrix
COHERENT = 0.3  # mean |cosine| of the columns of largest product above which guesses without the Gram matrix fail
SAMPLED = 512  # rows of X from which cosines are estimated, and G guessed
TRIES = 10  # passes that guesses from these rows are given
ENOUGH = 8 * SAMPLED  # rows of X of which these few are worth their trouble
SMOOTH = 0.25  # λ_k/λ_{k/2} below which k columns leave next to nothing of the others
SMALL = 2e7  # multiplications that are not worth a choice
SINGLE = 3e-7  # shares of the largest eigenvalue that float32 sums still show
TINY, HUGE = 1e-20, 1e20  # squares of columns within which float32 neither overflows nor vanishes
PATIENCE = 24  # passes that take about as long as the whole Gram matrix does: after these it is made
METHODS = ("auto", "gram", "float32", "sample", "rows")


class FeatureGram(GramRows):
    """G of the columns of features, which may be an array, a memory map or a Dask array.

    Parameters
    ----------
    features : (n, d)
    targets : (n,)
    memory : float
        bytes that Gram matrices and blocks may take.
    """

    def __init__(self, features: Any, targets: npt.ArrayLike, memory: float = MEMORY) -> None:
        self.data = Rows.of("features", features, memory=memory)
        self.targets = validate.squarable("targets", validate.vector("targets", targets, length=self.data.n))
        products, square = np.zeros(self.data.width), float(self.targets @ self.targets)
        self._whole = np.zeros((self.data.width, self.data.width)) if not self.data.resident and self._fits(8) else None
        for start, block in self.data.blocks():
            products += self.targets[start : start + len(block)] @ block
            if self._whole is not None:
                self._whole += block.T @ block
        super().__init__(products, square, self.data.width)
        self._patience = np.inf
        self._otherwise = ""  # how G is made where guesses from a few rows have failed
        self._stored: list[tuple[Indices, Array]] = []  # columns read by `fetch`, of X in memory
        if self._whole is not None:
            self.use_whole(self._whole)

    def fetch(self, columns: Iterable[int]) -> None:
        """Rows of these columns; the whole matrix where so many passes were needed that it would have been quicker.

        After ten passes, guesses that "auto" made from a few rows give way to the whole matrix or one in float32.
        """
        missing = [j for j in columns if self.row_of[j] < 0]
        if missing and self.passes >= self._patience:
            self._patience, self.guess = np.inf, None
            self.use_whole(self.data.array.T @ self.data.array)
        elif missing and self.passes >= TRIES and self._otherwise:
            self._make(self._otherwise)
            self._otherwise = ""
        super().fetch(missing)

    def approximation(self) -> GramRows | None:
        """The guess, with all that is known."""
        if isinstance(self.guess, SampledGram):
            known = np.flatnonzero(self.row_of >= 0)
            self.guess.learn(known, self.rows[self.row_of[known]])
        return self.guess

    def limit_passes(self, more: int) -> None:
        """The same; only where the method is "auto" and chose guesses in float32, which further passes do not make better."""
        if isinstance(self.guess, WholeGuess) and np.isfinite(self._patience):
            self._patience = min(self._patience, self.passes + more)

    def _fits(self, bytes_each: int) -> bool:
        return bytes_each * self.data.width**2 <= self.data.memory / 2

    def prepare(self, method: str, count: int, demanding: bool = False) -> None:
        """Make the float64 Gram matrix, the float32 one, a guess from a few rows, or nothing, as the method says; nothing if G is there.

        "auto" takes what is expected to take least time for `count` picks.

        `demanding` choices depend on ‖x̃_j‖², which float32 loses earlier than it loses ⟨x_j, r⟩.
        """
        if self._whole is not None:
            return
        chosen = self._cheapest(count, demanding) if method == "auto" else method
        if method == "auto" and self.data.resident and self._fits(8):
            self._patience = PATIENCE
        if chosen == "sample" and method == "auto":
            self._otherwise = "gram" if self._decay(count) < SINGLE else "float32"
        self._make(chosen)

    def _make(self, chosen: str) -> None:
        self.guess = None
        if chosen == "gram":
            self.use_whole(self.data.array.T @ self.data.array)
        elif chosen == "float32":
            self._make_guess()
        elif chosen == "sample":
            sample = self._few_rows()
            self.guess = SampledGram(self.products, self.square, sample * np.sqrt(self.data.n / len(sample)))

    def _cheapest(self, count: int, demanding: bool) -> str:
        n, d = self.data.n, self.width
        if not self._fits(8) or not self.data.resident:
            return "rows"
        if float(n) * d * d <= SMALL or 4 * count >= d:
            return "gram"
        if FEW * count <= d or self._coherence() <= COHERENT:
            return "rows"
        decay = self._decay(count)
        if n >= ENOUGH and decay < SMOOTH * self._decay(max(count // 2, 1)):
            return "sample"
        return "gram" if demanding and decay < SINGLE else "float32"

    def _few_rows(self) -> Array:
        return self.data.take(np.unique(np.linspace(0, self.data.n - 1, SAMPLED).astype(np.intp)))

    def _coherence(self) -> float:
        """Mean |cosine| between 16 columns of large product, estimated from a few rows."""
        columns = self._few_rows()[:, np.argsort(-np.abs(self.products), kind="stable")[:16]]
        lengths = np.linalg.norm(columns, axis=0)
        columns = columns / np.where(lengths > 0.0, lengths, 1.0)
        count = columns.shape[1]
        return float((np.sum(np.abs(columns.T @ columns)) - count) / max(count * (count - 1), 1))

    def _decay(self, count: int) -> float:
        """λ_k/λ_1 of the Gram matrix of 2k columns on a few rows: what is left after k picks."""
        columns = self._few_rows()[:, np.unique(np.linspace(0, self.width - 1, 2 * count).astype(np.intp))]
        values = np.linalg.eigvalsh(columns.T @ columns)[::-1]
        return float(values[min(count, len(values)) - 1] / values[0]) if values[0] > 0.0 else 0.0

    def use_whole(self, gram: Array) -> None:
        """Serve rows from this matrix."""
        self.rows, self.row_of, self._count = gram, np.arange(self.width), self.width

    def _make_guess(self) -> None:
        gram, unit = self._single(1.0), 1.0
        top = float(np.max(np.diagonal(gram)))
        if not TINY <= top <= HUGE:  # squares that float32 cannot hold: measure X in units of its largest entry
            X = self.data.array
            unit = max(float(np.max(X)), -float(np.min(X))) or 1.0
            gram = self._single(unit)
        self.guess = WholeGuess(self, gram, unit * unit)

    def _single(self, unit: float) -> Array:
        gram = np.zeros((self.width, self.width))
        X = self.data.array
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, self.data.n, STEP):
                block = X[start : start + STEP]
                small = (block if unit == 1.0 else block / unit).astype(np.float32)
                gram += small.T @ small
        return gram

    def _compute(self, columns: Indices, out: Array) -> None:
        out[:] = 0.0
        for _, block in self.data.blocks():
            chosen = np.ascontiguousarray(block[:, columns])
            out += chosen.T @ block
            if self.data.resident:
                self._stored.append((columns, chosen))

    def diagonal(self) -> Array:
        """‖x_j‖²; one pass."""
        if self._count == self.width:
            return self.rows[self.row_of, np.arange(self.width)]
        total = np.zeros(self.width)
        for _, block in self.data.blocks():
            total += np.einsum("ij,ij->j", block, block)
        return total

    def column_products(self, columns: Indices, weights: Array) -> tuple[Array, float]:
        """X_Sᵀ(y − X_S w) and ‖y − X_S w‖²; one pass, over the columns that `fetch` has read where X is in memory."""
        dense = np.zeros(self.width)
        dense[columns] = weights
        kept = sum(len(chosen) for chosen, _ in self._stored)
        if len(columns) and kept and not np.setdiff1d(columns, np.concatenate([chosen for chosen, _ in self._stored])).size:
            rest = self.targets - sum(part @ dense[chosen] for chosen, part in self._stored)
            for chosen, part in self._stored:
                dense[chosen] = rest @ part
            return dense[columns], float(rest @ rest)
        products, square = np.zeros(len(columns)), 0.0
        for start, block in self.data.blocks():
            part = block[:, columns]
            rest = self.targets[start : start + len(block)] - part @ weights
            products += rest @ part
            square += float(rest @ rest)
        return products, square
