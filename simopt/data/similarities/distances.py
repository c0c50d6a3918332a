"""Distances between the rows of two matrices, accurate also for points that nearly coincide."""

from typing import Any

import numpy as np

from simopt.arithmetic.sparse import is_sparse
from simopt.core.arrays import Array
from simopt.data.similarities.points import inner, squared_norms, variances

DIRECT = 64  # up to this dimension differences are formed one by one: as fast as a matrix product, and exact zeros
CLOSE = 1e-4  # pairs whose squared distance is this small beside the squared norms are computed again from their differences


def squared(X: Array, Y: Array) -> Array:
    """||x_i - y_j||_2^2, shape (n, m), with relative error below 1e-11 and exactly 0 for equal rows. O(n m p).

    In high dimension it is |x|^2 + |y|^2 - 2 <x, y> of centred points, a matrix product. That loses digits where x is close to y: these
    pairs are computed again from x - y. Sparse points are treated alike in any dimension, but are not centred.
    """
    from scipy.spatial.distance import cdist

    if is_sparse(X) or is_sparse(Y):
        return _by_products(X, Y, X, Y)
    if X.shape[1] <= DIRECT or min(X.shape[0], Y.shape[0]) == 0:
        direct: Array = cdist(X, Y, "sqeuclidean") if X.shape[1] else np.zeros((X.shape[0], Y.shape[0]))
        return direct
    centre = Y.mean(axis=0)
    return _by_products(X, Y, X - centre, Y - centre)


def _by_products(X: Any, Y: Any, left: Any, right: Any) -> Array:
    """Squared distances of X and Y by products of `left` and `right`, which are X and Y moved so that products lose fewer digits."""
    size = squared_norms(left)[:, None] + squared_norms(right)[None, :]
    out: Array = size - 2.0 * inner(left, right)
    rows, columns = np.nonzero(out <= CLOSE * size)
    width = X.nnz // X.shape[0] + 1 if is_sparse(X) else X.shape[1]
    step = max(1, (1 << 20) // width)
    for start in range(0, rows.size, step):
        i, j = rows[start : start + step], columns[start : start + step]
        out[i, j] = squared_norms(X[i] - Y[j])
    return out


def manhattan(X: Array, Y: Array) -> Array:
    """||x_i - y_j||_1, shape (n, m). O(n m p)."""
    from scipy.spatial.distance import cdist

    out: Array = cdist(X, Y, "cityblock") if X.shape[1] else np.zeros((X.shape[0], Y.shape[0]))
    return out


def mean_squared_distance(X: Array, weights: Array | None = None) -> float:
    """(1/n^2) sum_{i,j} ||x_i - x_j||^2 = (2/n) sum_i ||x_i - mean||^2, over all n^2 ordered pairs. O(n p).

    With weights w >= 0 it is sum_{i,j} w_i w_j ||x_i - x_j||^2 / (sum w)^2: a point of weight 2 counts as two equal points.
    """
    if weights is not None:
        return 2.0 * float(np.sum(variances(X, weights / np.sum(weights))))
    if is_sparse(X):
        return 2.0 * float(np.sum(variances(X, np.full(X.shape[0], 1.0 / X.shape[0]))))
    centred = X - X.mean(axis=0)
    return 2.0 * float(np.einsum("ij,ij->", centred, centred)) / len(X)


def mean_distance(X: Array, *, weights: Array | None = None, norm: int = 2, memory: int = 1 << 26) -> float:
    """The mean of ||x_i - x_j|| over the n (n - 1) / 2 pairs of different indices; 0 for one point. O(n^2 p) time, `memory` bytes.

    Weights w >= 0 that are whole numbers count how often a point occurs: W = sum w takes the place of n. With other weights it is the
    weighted mean over pairs of different indices, of weights w_i w_j.
    """
    n = int(X.shape[0])
    if n < 2:
        return 0.0
    total = 0.0
    step = max(1, memory // (24 * n))
    for start in range(0, n, step):
        block = X[start : start + step]
        lengths = np.sqrt(squared(block, X)) if norm == 2 else manhattan(block, X)
        total += float(np.sum(lengths) if weights is None else weights[start : start + step] @ (lengths @ weights))
    if weights is None:
        return total / (n * (n - 1.0))
    size = float(np.sum(weights))
    pairs = size * (size - 1.0) if np.all(weights == np.round(weights)) else size * size - float(weights @ weights)
    return total / pairs if pairs > 0 else 0.0
