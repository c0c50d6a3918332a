r"""The least step onto linear equations: min Σ (d_i/w_i)² subject to Jd = r, or as near to it as d can come, in floats.

Let A = SJW, S the rows brought to size 1, W = diag(w), b = Sr and d = Wy. Where the equations are sparse, y is found without a dense
matrix. Rows with one entry that may move decide it, to the last bit. For the others y = Aᵀz with AAᵀz = b, by one sparse factorisation of
M = AAᵀ + δ diag(AAᵀ), refined: z ← z + M⁻¹(b − AAᵀz). Rows that follow from others leave AAᵀ singular; δ makes it definite, and the
refinement removes what δ changes, as b is in its range. So the condition of A enters squared. If the residual says that this was too much,
or that no y solves the equations, A itself is factorised, dense: LAPACK's complete orthogonal factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from simopt.arithmetic.linear import blocks
from simopt.arithmetic.sparse import scaled_columns, scaled_rows
from simopt.core.arrays import Array

MOST = 2000  # equations or unknowns: beyond that the factorisations of dense matrices take minutes
DEPENDENT = 1e-11  # a row of size 1 as near as this to the span of the others is taken to follow from them
SHIFT = 1e-12  # δ
REFINEMENTS = 4
SOLVED = 1e-8  # of the right-hand side: a residual that counts as 0, as whoever moves by d looks again
SMALL = 100  # equations, of which a dense factorisation costs less than the other's set-up
FILLED = 0.2  # the fraction of entries of AAᵀ from which it is factorised as a dense matrix
PRODUCTS = 10**7  # in AAᵀ at most


def least_step(jacobian: Any, weights: Array, right: Array, rounding: Array, roughly: bool = False) -> Array:
    """d of a sparse J, weights w ≥ 0 and r, known up to `rounding`; 0 where nothing can move, or there is too much to factorise.

    With `roughly` d is that of the sparse factorisation, however much of the condition it takes.
    """
    scaled = scaled_columns(jacobian, weights)
    sizes = np.zeros(scaled.shape[0])
    np.maximum.at(sizes, np.repeat(np.arange(len(sizes)), np.diff(scaled.indptr)), np.abs(scaled.data))
    live = np.flatnonzero(sizes > 0.0)
    if not (len(live) and np.isfinite(scaled.data).all() and np.isfinite(right).all()):
        return np.zeros(len(weights))
    scaled = scaled_rows(scaled[live], 1.0 / sizes[live])
    goal, known = right[live] / sizes[live], rounding[live] / sizes[live]
    known = np.where(np.isfinite(known), known, 0.0)
    found = _sparse(scaled, goal)
    return weights * (found if roughly or _solves(scaled, goal, known, found) else _by_blocks(scaled, goal, known, found))


def _solves(matrix: Any, goal: Array, rounding: Array, y: Array) -> bool:
    """Whether Ay = b to `SOLVED`, or to its rounding."""
    return bool(np.all(np.abs(goal - matrix @ y) <= np.maximum(SOLVED * float(np.max(np.abs(goal))), rounding)))


def _by_blocks(matrix: Any, goal: Array, rounding: Array, whole: Array) -> Array:
    """y, in blocks that it does not solve from a system of their own, if need be a dense one; 0 where there is too much to factorise."""
    out = whole.copy()
    for rows, columns in blocks(matrix):
        if not len(rows) or not len(columns):
            continue
        part, own, known = matrix[rows][:, columns], goal[rows], rounding[rows]
        if _solves(part, own, known, whole[columns]):
            continue
        found = _sparse(part, own)
        if not _solves(part, own, known, found):
            if len(rows) <= MOST:
                found = _dense(part.toarray(), own)
            elif len(columns) <= MOST:
                found = _dense((part.T @ part).toarray(), part.T @ own)
            else:
                found = np.zeros(len(columns))
        out[columns] = found
    return out


def _sparse(matrix: Any, goal: Array) -> Array:
    """y without a dense matrix, as far as rows with one entry and the normal equations of the others give it."""
    matrix.eliminate_zeros()
    rows = np.flatnonzero(np.diff(matrix.indptr) == 1)
    columns, first = np.unique(matrix.indices[matrix.indptr[rows]], return_index=True)
    found = np.zeros(matrix.shape[1])
    found[columns] = goal[rows[first]] / matrix.data[matrix.indptr[rows[first]]]
    free = np.ones(matrix.shape[1])
    free[columns] = 0.0
    rest = scaled_columns(matrix, free)
    rest.eliminate_zeros()
    left = np.flatnonzero(np.diff(rest.indptr))
    if len(left):
        found += _by_rows(rest[left], (goal - matrix @ found)[left])
    return found


def _by_rows(matrix: Any, goal: Array) -> Array:
    """Aᵀz by the normal equations of the rows; 0 where these are too many."""
    counts = np.diff(matrix.tocsc().indptr).astype(float)
    y, rest = np.zeros(matrix.shape[1]), goal
    if float(counts @ counts) > PRODUCTS:
        return y
    factor = gram_solver(matrix)
    if factor is None:
        return y
    for _ in range(REFINEMENTS):
        better = y + matrix.T @ factor(rest)
        left = goal - matrix @ better
        if not float(np.max(np.abs(left))) <= float(np.max(np.abs(rest))):
            break
        y, rest = better, left
    return np.asarray(y)


def gram_solver(matrix: Any) -> Callable[[Array], Array] | None:
    """b ↦ (AAᵀ + δ diag(AAᵀ))⁻¹b by one factorisation, dense where that is small or filled; None where there is none."""
    gram = matrix @ matrix.T
    diagonal = gram.diagonal()
    shift = SHIFT * np.where(diagonal > 0.0, diagonal, 1.0)
    if gram.shape[0] <= SMALL or gram.nnz > FILLED * gram.shape[0] ** 2:
        with suppress(np.linalg.LinAlgError):  # not definite to rounding
            triangle = scipy.linalg.cho_factor(gram.toarray() + np.diag(shift), check_finite=False)
            return partial(scipy.linalg.cho_solve, triangle, check_finite=False)
    try:
        return splu(sp.csc_matrix(gram + sp.diags_array(shift)), "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True}).solve  # type: ignore[no-any-return]
    except RuntimeError:  # singular to SuperLU
        return None


def _dense(matrix: Array, goal: Array) -> Array:
    return np.asarray(scipy.linalg.lstsq(matrix, goal, cond=DEPENDENT, lapack_driver="gelsy")[0])
