"""Rows and columns of a matrix that are far from dependent, as far as floats can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, onenormest, splu

from simopt.arithmetic.matching import largest_product
from simopt.arithmetic.sparse import scaled_rows
from simopt.core.arrays import Array

LARGE = 128  # rows beyond which a matching is tried before a factorisation of all columns
CONDITION = 1e8  # of the matched columns, scaled: below it they count as far from dependent

Indices = NDArray[np.intp]


def forced(pattern: Any) -> tuple[Indices, Indices]:
    """Rows with one entry each, once the columns of the rows before them are left out, and the columns of these entries.

    A choice of columns in which these rows are independent has no other way. Rows and columns form a triangle.
    """
    by_row, by_column = sp.csr_array(pattern), sp.csc_array(pattern)
    counts, taken = np.diff(by_row.indptr).tolist(), np.zeros(by_row.shape[1], dtype=bool)
    rows, columns = list[int](), list[int]()
    queue = [i for i, count in enumerate(counts) if count == 1]
    for i in queue:
        if counts[i] != 1:  # another row has taken its column
            continue
        entries = by_row.indices[by_row.indptr[i] : by_row.indptr[i + 1]]
        column = int(entries[~taken[entries]][0])
        taken[column] = True
        rows.append(i)
        columns.append(column)
        for other in by_column.indices[by_column.indptr[column] : by_column.indptr[column + 1]].tolist():
            counts[other] -= 1
            if counts[other] == 1:
                queue.append(other)
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)


def with_unit_rows(matrix: Array) -> Array:
    """Each row over its largest entry; rows of zeros stay."""
    largest = np.max(np.abs(matrix), axis=1, keepdims=True, initial=0.0)
    scaled: Array = matrix / np.where(largest > 0.0, largest, 1.0)
    return scaled


def pivoted(matrix: Array) -> tuple[Array, Indices]:
    """The sizes of the diagonal of R in a QR factorisation with column pivoting, and the order of the columns."""
    triangle, order = la.qr(matrix, mode="r", pivoting=True, check_finite=False)
    return np.abs(np.diag(triangle)), order


def matched(matrix: Any) -> Indices | None:
    """A column for each row of a sparse matrix, the product of their entries as large as possible; None where they are dependent.

    Whether they are is seen of the condition of these columns, scaled.
    """
    by_row = sp.csr_array(matrix)
    by_row.eliminate_zeros()
    height, width = by_row.shape
    if height > width or not np.diff(by_row.indptr).all():
        return None
    by_row = scaled_rows(by_row, 1.0 / np.maximum.reduceat(np.abs(by_row.data), by_row.indptr[:-1]))
    chosen = largest_product(by_row)
    if chosen is None:
        return None
    square = sp.csc_array(by_row[:, chosen])
    largest = abs(square).max(axis=0).toarray().reshape(-1)
    square = sp.csc_matrix(square @ sp.diags_array(1.0 / largest))
    try:
        factors = splu(square)
    except RuntimeError:
        return None
    inverse = LinearOperator(square.shape, matvec=factors.solve, rmatvec=lambda x: factors.solve(x, "T"), dtype=float)
    with np.errstate(all="ignore"):
        condition = float(onenormest(inverse)) * float(abs(square).sum(axis=0).max())
    return chosen if condition <= CONDITION else None
