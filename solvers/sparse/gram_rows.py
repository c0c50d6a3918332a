r"""Rows of a Gram matrix G = XᵀX as greedy selection needs them: given all at once, or fetched a few at a time; and guesses of all.

Picks depend on Xᵀy, on ‖y‖² and on the rows of G at the picks only. So a guess of G suffices to predict the picks; their rows are then
fetched together and the picks replayed with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.solvers.sparse.orthogonal_rows import Indices

AGREEMENT = 1e-6  # by which rounding may make |⟨x_j, y⟩| exceed ‖x_j‖ ‖y‖


class GramRows:
    """Xᵀy, ‖y‖² and the rows of XᵀX that were asked for, in float64; row `row_of[j]` of `rows` is G_j, −1 where it is not there."""

    def __init__(self, products: Array, square: float, width: int) -> None:
        self.products, self.square, self.width = products, square, width
        self.rows = np.empty((0, width))
        self.row_of: Indices = np.full(width, -1)
        self.unit = 1.0  # of the rows: G_j is row row_of[j] times unit
        self.guess: GramRows | None = None  # what G is about
        self.passes = 0
        self._count = 0

    def fetch(self, columns: Iterable[int]) -> None:
        """Have the rows of these columns, computing those that are missing in one pass."""
        missing = np.array([j for j in dict.fromkeys(int(c) for c in columns) if self.row_of[j] < 0], dtype=np.intp)
        if not missing.size:
            return
        self.passes += 1
        end = self._count + len(missing)
        if end > len(self.rows):
            grown = np.empty((max(end, 2 * len(self.rows)), self.width))
            grown[: self._count] = self.rows[: self._count]
            self.rows = grown
        self._compute(missing, self.rows[self._count : end])
        self.row_of[missing] = np.arange(self._count, end)
        self._count = end

    def limit_passes(self, more: int) -> None:
        """Make the whole matrix, where rows are guessed and there is a choice, after `more` further passes."""

    def approximation(self) -> GramRows | None:
        """An approximation of G, if there is one."""
        return self.guess

    def among(self, columns: Indices) -> Array:
        """G_SS."""
        self.fetch(columns)
        return self.rows[np.ix_(self.row_of[columns], columns)]

    def diagonal(self) -> Array:
        """‖x_j‖², shape (d,)."""
        raise NotImplementedError

    def column_products(self, columns: Indices, weights: Array) -> tuple[Array, float] | None:
        """X_Sᵀ(y − X_S w) and ‖y − X_S w‖² from the columns themselves, free of the cancellation of G; None if there are none."""
        return None

    def _compute(self, columns: Indices, out: Array) -> None:
        raise NotImplementedError


class KnownGram(GramRows):
    """A Gram matrix that is at hand."""

    def __init__(self, gram: npt.ArrayLike, products: npt.ArrayLike, square: float) -> None:
        b = validate.squarable("products", validate.vector("products", products))
        raw = gram if type(gram) is np.ndarray and gram.dtype == np.float64 and gram.ndim == 2 else validate.matrix("gram", gram)
        if raw.shape != (len(b), len(b)):
            raise InvalidProblem(f"gram: shape {raw.shape}, expected ({len(b)}, {len(b)}), one row and column a product")
        super().__init__(b, validate.nonnegative("square", square), len(b))
        self.rows, self.row_of = raw, np.arange(len(b))
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
            i, j = (int(columns[row_of]) for row_of in np.unravel_index(int(np.argmax(difference)), difference.shape))
            raise InvalidProblem(f"gram: not symmetric, entry ({i}, {j}) is {self.rows[i, j]:.6g} and ({j}, {i}) is {self.rows[j, i]:.6g}")


class WholeGuess(GramRows):
    """A matrix, to float32 accuracy, that times `unit` is about G."""

    def __init__(self, source: GramRows, gram: npt.NDArray[Any], unit: float) -> None:
        super().__init__(source.products, source.square, source.width)
        self.rows, self.row_of, self.unit = gram, np.arange(self.width), unit
