r"""Rows of a Gram matrix G = XᵀX as greedy selection needs them: given, all at once, or a few at a time; and guesses of all.

Picks depend on Xᵀy, on ‖y‖² and on the rows of G at the picks only. A Gram matrix of float32 products, made at twice the speed, suffices to
guess the picks; the rows at these are then computed in float64 and the picks replayed with them (see `forward_selection`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.data.rows import MEMORY, Rows
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem
from simopt.solvers.sparse.orthogonal_rows import Indices

STEP = 1024  # rows of X multiplied in float32 at a time; their products are added in float64
FEW = 64  # picks up to this share of d never pay for the whole Gram matrix
COHERENT = 0.3  # mean |cosine| of the columns of largest product above which guesses without the Gram matrix fail
SAMPLED = 512  # rows of X from which cosines are estimated
SMALL = 2e7  # multiplications that are not worth a choice
SINGLE = 3e-7  # shares of the largest eigenvalue that float32 sums still show
TINY, HUGE = 1e-20, 1e20  # squares of columns within which float32 has room on both sides
PATIENCE = 24  # passes that take about as long as the whole Gram matrix does: after these it is made
AGREEMENT = 1e-6  # by which rounding may make |⟨x_j, y⟩| exceed ‖x_j‖ ‖y‖
METHODS = ("auto", "gram", "float32", "rows")


class GramRows:
    """Xᵀy, ‖y‖² and the rows of XᵀX that were asked for, in float64; row `place[j]` of `rows` is G_j, −1 where it is not there."""

    def __init__(self, products: Array, square: float, width: int) -> None:
        self.products, self.square, self.width = products, square, width
        self.rows = np.empty((0, width))
        self.place: Indices = np.full(width, -1)
        self.guess: Array | None = None  # Gram matrix to float32 accuracy, divided by guess_unit
        self.guess_unit = 1.0
        self.passes = 0
        self._count = 0

    def fetch(self, columns: Iterable[int]) -> None:
        """Have the rows of these columns, computing those that are missing in one pass."""
        missing = np.array([j for j in dict.fromkeys(int(c) for c in columns) if self.place[j] < 0], dtype=np.intp)
        if not missing.size:
            return
        self.passes += 1
        end = self._count + len(missing)
        if end > len(self.rows):
            grown = np.empty((max(end, 2 * len(self.rows)), self.width))
            grown[: self._count] = self.rows[: self._count]
            self.rows = grown
        self._compute(missing, self.rows[self._count : end])
        self.place[missing] = np.arange(self._count, end)
        self._count = end

    def limit_passes(self, more: int) -> None:
        """Make the whole matrix, where rows are guessed and there is a choice, after `more` further passes."""

    def among(self, columns: Indices) -> Array:
        """G_SS."""
        self.fetch(columns)
        return self.rows[np.ix_(self.place[columns], columns)]

    def diagonal(self) -> Array:
        """‖x_j‖², shape (d,)."""
        raise NotImplementedError

    def column_products(self, columns: Indices, weights: Array) -> tuple[Array, float] | None:
        """X_Sᵀ(y − X_S w) and ‖y − X_S w‖² from the columns themselves, free of the cancellation of G; None if there are none."""
        return None

    def _compute(self, columns: Indices, out: Array) -> None:
        raise NotImplementedError


class GivenGram(GramRows):
    """A Gram matrix that is at hand."""

    def __init__(self, gram: npt.ArrayLike, products: npt.ArrayLike, square: float) -> None:
        b = validate.squarable("products", validate.vector("products", products))
        raw = gram if type(gram) is np.ndarray and gram.dtype == np.float64 and gram.ndim == 2 else validate.matrix("gram", gram)
        if raw.shape != (len(b), len(b)):
            raise InvalidProblem(f"gram: shape {raw.shape}, expected ({len(b)}, {len(b)}), one row and column a product")
        super().__init__(b, validate.nonnegative("square", square), len(b))
        self.rows, self.place = raw, np.arange(len(b))
        if not np.all(np.isfinite(self.diagonal())):
            validate.matrix("gram", raw)
        self._agree()

    def _agree(self) -> None:
        """Cauchy and Schwarz: |⟨x_j, y⟩| ≤ ‖x_j‖ ‖y‖, else the three are not of one X and y."""
        most = np.sqrt(np.maximum(self.diagonal(), 0.0)) * math.sqrt(self.square)
        wrong = np.abs(self.products) > most * (1.0 + AGREEMENT)
        if wrong.any():
            j = int(np.argmax(wrong))
            raise InvalidProblem(
                f"square, products: entry {j} of the products is {self.products[j]:g}, and at most √(gram[{j}, {j}]) √square = {most[j]:g} "
                "is possible; XᵀX, Xᵀy and ‖y‖² of one X and y needed"
            )

    def diagonal(self) -> Array:
        """G_jj."""
        return np.diagonal(self.rows).copy()

    def check(self, columns: Indices) -> None:
        """Raise InvalidProblem if the rows of these columns are not finite, or not symmetric among themselves."""
        rows = self.rows[columns]
        if not np.isfinite(np.sum(rows)):
            validate.matrix("gram", self.rows)
        square = rows[:, columns]
        difference = np.abs(square - square.T)
        if np.max(difference, initial=0.0) > validate.SYMMETRY * np.max(np.abs(square), initial=0.0):
            i, j = (int(columns[place]) for place in np.unravel_index(int(np.argmax(difference)), difference.shape))
            raise InvalidProblem(f"gram: not symmetric, entry ({i}, {j}) is {self.rows[i, j]:.6g} and ({j}, {i}) is {self.rows[j, i]:.6g}")


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
        self._kept: list[tuple[Indices, Array]] = []  # columns read by `fetch`, of X in memory
        if self._whole is not None:
            self.use_whole(self._whole)

    def fetch(self, columns: Iterable[int]) -> None:
        """Rows of these columns; the whole matrix where so many passes were needed that it would have been quicker."""
        if self.passes >= self._patience:
            self._patience, self.guess = np.inf, None
            self.use_whole(self.data.array.T @ self.data.array)
        super().fetch(columns)

    def limit_passes(self, more: int) -> None:
        """The same; only where the method is "auto" and chose guesses."""
        if self.guess is not None and np.isfinite(self._patience):
            self._patience = min(self._patience, self.passes + more)

    def _fits(self, bytes_each: int) -> bool:
        return bytes_each * self.data.width**2 <= self.data.memory / 2

    def prepare(self, method: str, count: int, demanding: bool = False) -> None:
        """Make the float64 Gram matrix, the float32 one, or neither, whichever is expected to take least time for `count` picks.

        `demanding` choices depend on ‖x̃_j‖², which float32 loses earlier than it loses ⟨x_j, r⟩.
        """
        if self._whole is not None:
            return
        chosen = self._cheapest(count, demanding) if method == "auto" else method
        if method == "auto" and self.data.resident and self._fits(8):
            self._patience = PATIENCE
        if chosen == "gram":
            self.use_whole(self.data.array.T @ self.data.array)
        elif chosen == "float32":
            self._make_guess()

    def _cheapest(self, count: int, demanding: bool) -> str:
        n, d = self.data.n, self.width
        if not self._fits(8) or not self.data.resident:
            return "rows"
        if float(n) * d * d <= SMALL or 4 * count >= d:
            return "gram"
        if FEW * count <= d or self._coherence() <= COHERENT:
            return "rows"
        return "gram" if demanding and self._decay(count) < SINGLE else "float32"

    def _few_rows(self, columns: Indices) -> Array:
        picked = np.unique(np.linspace(0, self.data.n - 1, SAMPLED).astype(np.intp))
        return self.data.take(picked)[:, columns]

    def _coherence(self) -> float:
        """Mean |cosine| between 16 columns of large product, estimated from a few rows."""
        columns = self._few_rows(np.argsort(-np.abs(self.products), kind="stable")[:16])
        lengths = np.linalg.norm(columns, axis=0)
        columns = columns / np.where(lengths > 0.0, lengths, 1.0)
        count = columns.shape[1]
        return float((np.sum(np.abs(columns.T @ columns)) - count) / max(count * (count - 1), 1))

    def _decay(self, count: int) -> float:
        """λ_k/λ_1 of the Gram matrix of 2k columns on a few rows: what is left after k picks."""
        columns = self._few_rows(np.unique(np.linspace(0, self.width - 1, 2 * count).astype(np.intp)))
        values = np.linalg.eigvalsh(columns.T @ columns)[::-1]
        return float(values[min(count, len(values)) - 1] / values[0]) if values[0] > 0.0 else 0.0

    def use_whole(self, gram: Array) -> None:
        """Serve rows from this matrix."""
        self.rows, self.place, self._count = gram, np.arange(self.width), self.width

    def _make_guess(self) -> None:
        gram, unit = self._single(1.0), 1.0
        top = float(np.max(np.diagonal(gram)))
        if not TINY <= top <= HUGE:  # squares that float32 cannot hold: measure X in units of its largest entry
            X = self.data.array
            unit = max(float(np.max(X)), -float(np.min(X))) or 1.0
            gram = self._single(unit)
        self.guess, self.guess_unit = gram, unit * unit

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
                self._kept.append((columns, chosen))

    def diagonal(self) -> Array:
        """‖x_j‖²; one pass."""
        if self._count == self.width:
            return self.rows[self.place, np.arange(self.width)]
        total = np.zeros(self.width)
        for _, block in self.data.blocks():
            total += np.einsum("ij,ij->j", block, block)
        return total

    def column_products(self, columns: Indices, weights: Array) -> tuple[Array, float]:
        """X_Sᵀ(y − X_S w) and ‖y − X_S w‖²; one pass, over the columns that `fetch` has read where X is in memory."""
        dense = np.zeros(self.width)
        dense[columns] = weights
        kept = sum(len(chosen) for chosen, _ in self._kept)
        if len(columns) and kept and not np.setdiff1d(columns, np.concatenate([chosen for chosen, _ in self._kept])).size:
            rest = self.targets - sum(part @ dense[chosen] for chosen, part in self._kept)
            for chosen, part in self._kept:
                dense[chosen] = rest @ part
            return dense[columns], float(rest @ rest)
        products, square = np.zeros(len(columns)), 0.0
        for start, block in self.data.blocks():
            part = block[:, columns]
            rest = self.targets[start : start + len(block)] - part @ weights
            products += rest @ part
            square += float(rest @ rest)
        return products, square
