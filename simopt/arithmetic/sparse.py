"""Sparse matrices of SciPy for sums of products: each stored entry is a term of its own.

SciPy adds entries that are stored twice, in floats, when it changes formats or takes absolute values. A rounded number would then take the
place of the exact one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_sparse(matrix: Any) -> bool:
    """Whether this is a matrix or array of scipy.sparse."""
    return not isinstance(matrix, np.ndarray) and hasattr(matrix, "tocoo")


def compressed(matrix: Any) -> Any:
    """The matrix by rows or by columns (CSR or CSC), in float64; no copy of one that is."""
    if matrix.format in ("csr", "csc"):
        return matrix if matrix.dtype == float else with_entries(matrix, matrix.data.astype(float))
    import scipy.sparse

    stored = matrix.tocoo()
    order = np.argsort(stored.row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(stored.row, minlength=stored.shape[0]))])
    return scipy.sparse.csr_array((stored.data[order].astype(float), stored.col[order], starts), shape=stored.shape)


def with_entries(matrix: Any, entries: Any) -> Any:
    """The compressed matrix with other numbers in the places that are stored."""
    import scipy.sparse

    kind = scipy.sparse.csr_array if matrix.format == "csr" else scipy.sparse.csc_array
    return kind((entries, matrix.indices, matrix.indptr), shape=matrix.shape)


def scaled_rows(matrix: Any, factors: Any) -> Any:
    """diag(c) A of a matrix by rows: SciPy's product takes seven times as long where A is small."""
    return _own(matrix, matrix.data * np.repeat(factors, np.diff(matrix.indptr)))


def scaled_columns(matrix: Any, factors: Any) -> Any:
    """A diag(c) of a matrix by rows."""
    return _own(matrix, matrix.data * factors[matrix.indices])


def _own(matrix: Any, entries: Any) -> Any:
    """`with_entries`, in places of its own: whoever drops entries does not drop them from both."""
    made = with_entries(matrix, entries)
    made.indices, made.indptr = made.indices.copy(), made.indptr.copy()
    return made


def block_diagonal(matrix: Any, count: int) -> Any:
    """I ⊗ A of a matrix by rows, I of this order."""
    import scipy.sparse

    if count == 1:
        return matrix
    (height, width), each = matrix.shape, np.arange(count, dtype=matrix.indices.dtype)[:, None]
    columns, ends = matrix.indices + width * each, matrix.indptr[1:] + len(matrix.data) * each
    starts = np.concatenate([matrix.indptr[:1], ends.reshape(-1)])
    return scipy.sparse.csr_array((np.tile(matrix.data, count), columns.reshape(-1), starts), shape=(count * height, count * width))


def is_identity(matrix: Any) -> bool:
    """Whether a matrix by rows is stored as I."""
    n, width = matrix.shape
    return n == width == matrix.nnz and bool((matrix.data == 1.0).all()) and np.array_equal(matrix.indices, np.arange(n))


def terms(matrix: Any) -> NDArray[np.intp]:
    """How many entries each row of the compressed matrix has."""
    count: NDArray[np.intp]
    count = np.diff(matrix.indptr) if matrix.format == "csr" else np.bincount(matrix.indices, minlength=matrix.shape[0])
    return count


def rows(matrix: Any) -> Iterator[tuple[NDArray[np.float64], NDArray[np.intp]]]:
    """Entries and columns, row by row."""
    given = compressed(matrix)
    if given.format == "csc":
        given = compressed(given.tocoo())
    for i in range(given.shape[0]):
        part = slice(given.indptr[i], given.indptr[i + 1])
        yield given.data[part], given.indices[part]
