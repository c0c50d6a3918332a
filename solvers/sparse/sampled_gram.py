r"""A Gram matrix G = XᵀX guessed from m rows of X and the rows of G that are known exactly.

Let Y be the sampled rows times √(n/m), so that G ≈ YᵀY, and F the columns whose rows G_F are known. Projection onto the span of X_F
splits G into a part that G_F gives exactly, and what is left, which the sample estimates.
    G ≈ G_Fᵀ G_FF^{-1} G_F + Y⊥ᵀY⊥,      Y⊥ = Y − QQᵀY,  Q an orthonormal basis of the span of Y_F.
It is exact at F, and the sample's error of 1/√m is one of what F leaves of the columns. That is next to nothing of smooth similarities to
many landmarks, however coherent they are. A row of the guess costs (|F| + m)d multiplications, whatever n.
"""

from __future__ import annotations

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.sparse.gram_rows import GramRows
from simopt.solvers.sparse.orthogonal_rows import Indices

DEPENDENT = 1e-13  # eigenvalues of what G_FF leaves, in units of its diagonal, that are rounding


class SampledGram(GramRows):
    """The guess from Y, shape (m, d), and G_F as F grows."""

    def __init__(self, products: Array, square: float, sample: Array) -> None:
        super().__init__(products, square, sample.shape[1])
        self._left = sample  # Y⊥
        self._exact = np.empty((0, self.width))  # G_FF^{-1/2} G_F, up to a rotation
        self._known = np.zeros(self.width, dtype=bool)

    def learn(self, columns: Indices, rows: Array) -> None:
        """G_j for more columns. O((|F| + m)d) for each of them."""
        new = ~self._known[columns]
        columns, rows = columns[new], rows[new]
        self._known[columns] = True
        units = np.sqrt(np.maximum(rows[np.arange(len(columns)), columns], np.finfo(float).tiny))[:, None]
        beside = (rows - self._exact[:, columns].T @ self._exact) / units
        values, vectors = np.linalg.eigh(beside[:, columns] / units.T)
        sure = values > DEPENDENT
        self._exact = np.vstack([self._exact, (vectors[:, sure] / np.sqrt(values[sure])).T @ beside])
        basis = np.linalg.qr(self._left[:, columns] / units.T)[0]
        self._left -= basis @ (basis.T @ self._left)
        self.row_of[:], self._count = -1, 0

    def _compute(self, columns: Indices, out: Array) -> None:
        np.matmul(self._left[:, columns].T, self._left, out=out)
        out += self._exact[:, columns].T @ self._exact
