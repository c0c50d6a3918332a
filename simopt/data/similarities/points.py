r"""Points in rows, dense or sparse: their validation, and the quantities that similarities need.

Only stored entries of a sparse matrix (scipy.sparse, by rows) are read: n points cost as much as they have entries, however many
coordinates there are. Quantities of pairs, as ⟨x_i, x'_j⟩, are dense, n × m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic.sparse import is_sparse, with_entries
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.rows import Rows

TAKE_SPARSE = (
    "linear, polynomial and gaussian similarities, and sums, products, Scaled and Normalised of them (Normalised(Linear()) is the cosine)"
)


def points(name: str, X: Any, *, sparse: bool) -> Any:
    """A finite matrix of float64, as `validate.matrix` has it; if `sparse`, also a csr_array whose entries are stored once, by columns.

    `Rows` in memory were checked when they were made.

    Raises
    ------
    InvalidProblem
        for a sparse matrix where there must be none, and for entries that are not finite.
    """
    if isinstance(X, Rows):
        return X.array if X.resident else validate.matrix(name, X.array)
    if not is_sparse(X):
        return validate.matrix(name, X)
    if not sparse:
        raise InvalidProblem(f"{name}: a sparse matrix, a dense one needed: give its toarray(); sparse points are taken by {TAKE_SPARSE}")
    import scipy.sparse

    if X.dtype.kind not in "biuf":
        raise InvalidProblem(f"{name}: a sparse matrix of {X.dtype}, real numbers needed")
    out = scipy.sparse.csr_array(X, dtype=np.float64, copy=False)
    if out.ndim != 2 or 0 in out.shape:
        raise InvalidProblem(f"{name}: shape {out.shape}, at least one row and one column needed")
    if not out.has_canonical_format:
        out = out.copy()
        out.sum_duplicates()
    validate.all_finite(f"{name}, its stored entries", out.data)
    return out


def inner(X: Any, Y: Any) -> Array:
    """⟨x_i, y_j⟩, shape (n, m)."""
    out = X @ Y.T
    return out.toarray() if is_sparse(out) else np.asarray(out)


def squared_norms(X: Any) -> Array:
    """‖x_i‖², shape (n,)."""
    if not is_sparse(X):
        out: Array = np.einsum("ij,ij->i", X, X)
        return out
    return np.asarray(np.bincount(rows_of_entries(X), weights=np.square(X.data), minlength=X.shape[0]), dtype=np.float64)


def rows_of_entries(X: Any) -> NDArray[np.intp]:
    """The row of each stored entry."""
    return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))


def variances(X: Any, weights: Array) -> Array:
    """Σ_i p_i (x_ij − x̄_j)² of each column, x̄ = Σ p_i x_i, for weights p with Σ p_i = 1; shape (p,). Entries not stored give x̄_j²."""
    if not is_sparse(X):
        out: Array = weights @ np.square(X - weights @ X)
        return out
    weight, width = weights[rows_of_entries(X)], X.shape[1]
    mean = np.bincount(X.indices, weights=weight * X.data, minlength=width)
    stored = np.bincount(X.indices, weights=weight, minlength=width)
    around = np.bincount(X.indices, weights=weight * np.square(X.data - mean[X.indices]), minlength=width)
    return np.asarray(around + np.maximum(1.0 - stored, 0.0) * np.square(mean), dtype=np.float64)


def largest(X: Any) -> Array:
    """max_i |x_ij| of each column, shape (p,)."""
    if not is_sparse(X):
        out: Array = np.max(np.abs(X), axis=0)
        return out
    out = np.zeros(X.shape[1])
    np.maximum.at(out, X.indices, np.abs(X.data))
    return out


def scaled_columns(X: Any, factors: Array) -> Any:
    """X diag(factors), stored as X is."""
    return with_entries(X, X.data * factors[X.indices]) if is_sparse(X) else X * factors


def kinds_of_rows(X: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first of each kind of rows of sparse points, ordered by their first different entries, and for each row the index of its kind."""
    first: dict[Any, int] = {}
    keys = []
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        keys.append(_key(X.indices[part].tolist(), X.data[part].tolist()))
        first.setdefault(keys[-1], i)
    index = {key: k for k, key in enumerate(sorted(first))}
    return np.array([first[key] for key in index], dtype=np.intp), np.array([index[key] for key in keys], dtype=np.intp)


def _key(columns: list[int], entries: list[float]) -> Any:
    """A key for the order of rows by their first different entries: a positive one is more than 0, the more so the earlier it comes."""
    signed = [(1, -j, x) if x > 0.0 else (-1, j, x) for j, x in zip(columns, entries, strict=True) if x != 0.0]
    return (*signed, (0, 0, 0.0))
