"""Sparse matrices of intervals: an affine map, composed of its parts, as one matrix that is proven to hold the exact one.

An entry of a product of floats has no radius where it is one product by a power of two, and an entry of a sum where nothing is rounded. So
the data of a problem stay exact as long as its formula only selects, stacks, negates and multiplies them once.

Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms (2002), §3.1, for the bound of a sum's rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from simopt.arithmetic.error_free import two_sum
from simopt.arithmetic.interval import EPS, FAINT, INTERVAL, TINY, Interval, as_interval
from simopt.arithmetic.sparse import is_identity


class IntervalMatrix:
    """The matrices A with |A − mid| ≤ rad, entry by entry; an entry that is not stored is 0, exactly.

    Parameters
    ----------
    mid, rad : sparse matrix
        in CSR format, of one shape, each entry stored once; without a `rad` the floats themselves.
    """

    __array_ufunc__ = None  # NumPy and SciPy defer to these operators

    def __init__(self, mid: Any, rad: Any = None) -> None:
        self.mid = mid
        self.exact = rad is None or not rad.nnz
        self._rad = rad

    @property
    def rad(self) -> Any:
        """The radii, sparse."""
        if self._rad is None:
            self._rad = sp.csr_array(self.mid.shape)
        return self._rad

    @classmethod
    def of(cls, values: Any) -> IntervalMatrix:
        """Floats, dense or sparse, or a dense array of intervals, as such a matrix."""
        if isinstance(values, IntervalMatrix):
            return values
        if isinstance(values, Interval):
            return cls(sp.csr_array(values.mid), sp.csr_array(values.rad))
        given = sp.csr_array(values)
        if given.has_canonical_format:
            return cls(given)
        stored = sp.csr_array((np.abs(given.data), given.indices, given.indptr), shape=given.shape, copy=True)
        mid, counts = given.copy(), _pattern(given)
        for matrix in (stored, mid, counts):  # entries of one place are added, as SciPy would at any time
            matrix.sum_duplicates()
        several = np.where(counts.data > 1.0, (counts.data + 4) * EPS * stored.data, 0.0)
        return cls(mid, _with_data(stored, several))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        height, width = self.mid.shape
        return int(height), int(width)

    @property
    def nnz(self) -> int:
        """How many entries are stored."""
        return int(self.mid.nnz) + (0 if self.exact else int(self.rad.nnz))

    @property
    def T(self) -> IntervalMatrix:
        """The transposed matrix."""
        return self._each(lambda matrix: sp.csr_array(matrix.T))

    def _each(self, function: Callable[[Any], Any]) -> IntervalMatrix:
        """A function that rounds nothing, of both."""
        return IntervalMatrix(function(self.mid), None if self.exact else function(self.rad))

    @property
    def exact_rows(self) -> NDArray[np.bool_]:
        """Rows whose entries have no radius."""
        exact: NDArray[np.bool_] = np.ones(self.shape[0], dtype=bool) if self.exact else np.diff(self.rad.indptr) == 0
        return exact

    @property
    def selects(self) -> bool:
        """Whether each row is 0 or takes one entry, unchanged: a product with it from the left rounds nothing."""
        return self.exact and bool(np.all(self.mid.data == 1.0)) and int(np.diff(self.mid.indptr).max(initial=0)) <= 1

    def __getitem__(self, rows: Any) -> IntervalMatrix:
        return self._each(lambda matrix: matrix[rows])

    def columns(self, index: NDArray[np.intp]) -> IntervalMatrix:
        """These columns."""
        return self._each(lambda matrix: matrix[:, index])

    def dense(self) -> Interval:
        """The matrix as an array."""
        return Interval(self.mid.toarray(), np.zeros(self.shape) if self.exact else self.rad.toarray())

    def __neg__(self) -> IntervalMatrix:
        return IntervalMatrix(-self.mid, self._rad)

    def __add__(self, other: Any) -> IntervalMatrix:
        other = IntervalMatrix.of(other)
        if not other.nnz or not self.nnz:
            return self if self.nnz else other
        mid = self.mid + other.mid
        if self.exact and other.exact and mid.nnz == self.mid.nnz + other.mid.nnz:  # no place has an entry of both
            return IntervalMatrix(mid)
        rad = self.rad + other.rad
        rows, columns = _pattern(self.mid).multiply(_pattern(other.mid)).nonzero()
        if len(rows):
            x, y = (np.asarray(matrix[rows, columns]).reshape(-1) for matrix in (self.mid, other.mid))
            total, lost = two_sum(x, y)
            rounded = np.flatnonzero(lost)
            sizes = EPS * np.abs(total)[rounded] + TINY
            rad = rad + sp.csr_array((sizes, (rows[rounded], columns[rounded])), shape=self.shape)
        return IntervalMatrix(mid, _inflated(rad))

    __radd__ = __add__

    def __matmul__(self, other: Any) -> IntervalMatrix:
        right = IntervalMatrix.of(other)
        if right.exact and is_identity(right.mid):
            return self
        if right.selects and int(np.bincount(right.mid.indices, minlength=1).max()) <= 1:
            return self._each(lambda matrix: matrix @ right.mid)
        if self.selects:
            return right._each(lambda matrix: self.mid @ matrix)
        sizes, beside = abs(self.mid), abs(right.mid)
        rad = sizes @ right.rad + self.rad @ (beside + right.rad)
        terms = _pattern(self.mid) @ _pattern(right.mid)
        rounded = _uneven(self.mid) @ _uneven(right.mid) + _with_data(terms, terms.data > 1.0)
        rounded.eliminate_zeros()
        most = float(terms.data.max(initial=0.0))
        if rounded.nnz:
            rad = rad + (sizes @ beside).multiply(_pattern(rounded)) * ((most + 4) * EPS)
        if _least(self.mid) * _least(right.mid) < FAINT:
            rad = rad + terms * TINY
        return IntervalMatrix(self.mid @ right.mid, _inflated(sp.csr_array(rad), most))

    def __rmatmul__(self, other: Any) -> IntervalMatrix:
        return IntervalMatrix.of(other) @ self

    def scaled(self, factors: Interval) -> IntervalMatrix:
        """diag(c) A."""
        if not self.exact or factors.rad.any():
            return IntervalMatrix(*(sp.diags_array(side).tocsr() for side in (factors.mid, factors.rad))) @ self
        of_rows = np.repeat(factors.mid, np.diff(self.mid.indptr))
        products = of_rows * self.mid.data
        rounded = (np.abs(np.frexp(of_rows)[0]) != 0.5) & (np.abs(np.frexp(self.mid.data)[0]) != 0.5) & (products != 0.0)
        if rounded.any() or np.min(np.abs(products), initial=1.0, where=(of_rows != 0.0) & (self.mid.data != 0.0)) < FAINT:
            return IntervalMatrix(sp.diags_array(factors.mid).tocsr()) @ self
        return IntervalMatrix(_with_data(self.mid, products))

    def matvec(self, x: Interval) -> Interval:
        """A x for a vector."""
        found = as_interval(INTERVAL.matvec(self.mid, x))
        if self.exact:
            return found
        return found + Interval(np.zeros(len(found)), INTERVAL.matvec(self.rad, np.abs(x.mid) + x.rad).high)


def reciprocal(x: Interval) -> Interval:
    """1/x, without a radius where x is a power of two."""
    found = 1.0 / x
    return Interval(found.mid, np.where((x.rad == 0.0) & (np.abs(np.frexp(x.mid)[0]) == 0.5), 0.0, found.rad))


def below_each_other(parts: Sequence[Any]) -> Any:
    """Matrices of floats or of intervals as one."""
    if not any(isinstance(part, IntervalMatrix) for part in parts):
        return sp.vstack(parts, format="csr")
    matrices = [IntervalMatrix.of(part) for part in parts]
    mid = sp.vstack([matrix.mid for matrix in matrices], format="csr")
    exact = all(matrix.exact for matrix in matrices)
    return IntervalMatrix(mid, None if exact else sp.vstack([matrix.rad for matrix in matrices], format="csr"))


def side_by_side(one: IntervalMatrix, other: IntervalMatrix) -> IntervalMatrix:
    """[A B]."""
    mid = sp.hstack([one.mid, other.mid], format="csr")
    return IntervalMatrix(mid, None if one.exact and other.exact else sp.hstack([one.rad, other.rad], format="csr"))


def _with_data(matrix: Any, data: Any) -> Any:
    """The same places with other numbers; places with a 0 are not stored."""
    out = sp.csr_array((np.asarray(data, dtype=float), matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    out.eliminate_zeros()
    return out


def _pattern(matrix: Any) -> Any:
    """1 where an entry is stored."""
    return sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)


def _uneven(matrix: Any) -> Any:
    """1 where an entry is no power of two: a product with one is exact."""
    return _with_data(matrix, np.abs(np.frexp(matrix.data)[0]) != 0.5)


def _least(matrix: Any) -> float:
    """The size of the smallest entry that is not 0."""
    sizes = np.abs(matrix.data)
    return float(np.min(sizes, initial=1.0, where=sizes > 0.0))


def _inflated(rad: Any, terms: float = 0.0) -> Any:
    """Radii, raised by what their own computation may have lost."""
    return rad * (1.0 + (terms + 16) * EPS) if rad.nnz else rad
