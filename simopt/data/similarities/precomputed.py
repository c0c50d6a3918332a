"""Similarities that somebody else computed: a matrix, whose points are the numbers of its rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.similarities.base import Similarity


@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(Similarity):
    """K(i, j) = matrix[i, j]. A point is one row number, so X has shape (n, 1) and whole entries; `points` gives all of them.

    Symmetry, PSD and boundedness are looked up in the matrix, to the tolerances of `simopt.core.validate`, when first asked for: O(n^3)
    at most. Two of them are equal if their matrices are.
    """

    matrix: Array
    kind: ClassVar[str] = "precomputed"

    def __post_init__(self) -> None:
        square = validate.matrix("matrix", self.matrix)
        if square.shape[0] != square.shape[1]:
            raise InvalidProblem(
                f"matrix: shape {square.shape} is not square, as the similarities of n points with each other are; of similarities to "
                "other points, the landmarks, `simopt.data.landmarks.scaled` makes features"
            )
        object.__setattr__(self, "matrix", square)

    def __repr__(self) -> str:
        return f"Precomputed({self.matrix.shape[0]} points, {self.fingerprint()})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Precomputed) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    @property
    def points(self) -> Array:
        """The row numbers 0, …, n - 1 as points, shape (n, 1)."""
        return np.arange(self.matrix.shape[0], dtype=np.float64)[:, None]

    @cached_property
    def symmetric(self) -> bool:
        return self._is_gram(psd=False)

    @cached_property
    def psd(self) -> bool:
        return self._is_gram(psd=True)

    @cached_property
    def bound(self) -> float:
        return float(max(np.max(self.matrix), -np.min(self.matrix)))

    def values(self, X: Array, Y: Array) -> Array:
        return self.matrix[np.ix_(self._rows("X", X), self._rows("Y", Y))]

    def diagonal_values(self, X: Array) -> Array:
        rows = self._rows("X", X)
        return self.matrix[rows, rows]

    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits of the hash of the matrix."""
        digest = hashlib.sha256(str(self.matrix.shape).encode())
        digest.update(self.matrix.tobytes())
        return digest.hexdigest()[:16]

    def _rows(self, name: str, X: Array) -> npt.NDArray[np.int64]:
        if X.shape[1] != 1:
            raise InvalidProblem(f"{name}: a precomputed similarity takes row numbers, shape (n, 1), but the shape is {X.shape}")
        rows: npt.NDArray[np.int64] = X[:, 0].astype(np.int64)
        wrong = (rows != X[:, 0]) | (rows < 0) | (rows >= self.matrix.shape[0])
        if wrong.any():
            first = int(np.argmax(wrong))
            raise InvalidProblem(f"{name}: {X[first, 0]:g} at index {first} is not a row number between 0 and {self.matrix.shape[0] - 1}")
        return rows

    def _is_gram(self, **options: Any) -> bool:
        try:
            validate.gram("matrix", self.matrix, **options)
        except InvalidProblem:
            return False
        return True
