r"""How far a large sparse matrix is from a singular one: a lower bound of its least singular value, proven by one factorisation in floats.

Let σ² be a little below the least eigenvalue of AᵀA, and L D Lᵀ near M = AᵀA − σ²I, of floats with D ≥ 0. Then L D Lᵀ ⪰ 0, so

    AᵀA = σ²I + L D Lᵀ + (M − L D Lᵀ) ⪰ (σ² − δ) I,    δ ≥ ‖M − L D Lᵀ‖₂,

as in `definite`. As A is squared, this works up to a condition of some 10⁶. For matrices B with |B − A| ≤ R the bound is less by
‖R‖₂ ≤ (‖R‖₁‖R‖_∞)^½.

Source: S. M. Rump, Verified solution of large systems, and his Verification methods, Acta Numerica 19 (2010), §10.8.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from simopt.arithmetic.definite import FILLED, factor_distance
from simopt.arithmetic.interval import EPS, TINY
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.core.arrays import Array

ROUNDS = 6  # of inverse iteration
PRODUCTS = 10**7  # in MMᵀ at most
BELOW = (0.4, 0.1)  # of the eigenvalue that floats see: where σ² is tried


def least_singular_value(a: IntervalMatrix, factors: Any) -> float:
    """A float σ with ‖Bx‖₂ ≥ σ‖x‖₂ proven for all x and all B in the square A; 0 where none is proven.

    `factors` is SciPy's LU factorisation of the midpoints, whose entries are of size 1 at most.
    """
    gram = sp.csc_array(a.mid.T @ a.mid)
    if gram.nnz > FILLED * gram.shape[0] ** 2:
        return 0.0
    sizes = abs(a.mid)
    terms = int(np.bincount(a.mid.indices, minlength=1).max())
    lost = float(np.max(sizes.T @ (sizes @ np.ones(len(factors.perm_r))))) * (terms + 4) * EPS + gram.shape[0] * terms * TINY
    beyond = _norm(a.rad)
    for share in BELOW:
        square = share * _eigenvalue(factors)
        proven = square - (lost + factor_distance(gram, square)) * (1.0 + 8 * EPS)
        if proven > 0.0:
            return max((math.sqrt(proven) - beyond) * (1.0 - 8 * EPS), 0.0)
    return 0.0


def least_of_rows(matrix: Any) -> tuple[float, Any]:
    """A float σ with ‖Mᵀz‖₂ ≥ σ‖z‖₂ proven for all z, of a sparse M of floats with fewer rows than columns; 0 where none is proven.

    With it SciPy's factorisation of MMᵀ, if there is one.
    """
    counts = np.bincount(matrix.indices, minlength=1).astype(float)
    if not matrix.shape[0] or counts @ counts > PRODUCTS:
        return 0.0, None
    gram, sizes = sp.csc_array(matrix @ matrix.T), abs(matrix)
    try:
        factors = splu(sp.csc_matrix(gram), "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return 0.0, None
    v, size = np.cos(np.arange(gram.shape[0], dtype=float)), 1.0  # of no structure
    for _ in range(ROUNDS):
        v = factors.solve(v / np.linalg.norm(v))
        size = float(np.linalg.norm(v))
    terms = int(np.diff(matrix.indptr).max())
    lost = float(np.max(sizes @ (sizes.T @ np.ones(gram.shape[0])))) * (terms + 4) * EPS + gram.shape[0] * terms * TINY
    if not 0.0 < size < BELOW[0] / lost:
        return 0.0, factors
    for share in BELOW:
        square = share / size
        proven = square - (lost + factor_distance(gram, square)) * (1.0 + 8 * EPS)
        if proven > 0.0:
            return math.sqrt(proven) * (1.0 - 8 * EPS), factors
    return 0.0, factors


def _eigenvalue(factors: Any) -> float:
    """About the least eigenvalue of AᵀA."""
    v = np.cos(np.arange(len(factors.perm_r), dtype=float))  # of no structure
    size = 1.0
    for _ in range(ROUNDS):
        v = factors.solve(factors.solve(v / np.linalg.norm(v), "T"))
        size = float(np.linalg.norm(v))
    return 1.0 / size if 0.0 < size < math.inf else 0.0


def _norm(rad: Any) -> float:
    """(‖R‖₁‖R‖_∞)^½ at most."""
    if not rad.nnz:
        return 0.0
    across, down = (float(np.max(rad.sum(axis=axis))) for axis in (0, 1))
    found: float = math.sqrt(across * down) * (1.0 + (rad.shape[0] + 8) * EPS)
    return found


def norms(columns: Array) -> Array:
    """‖·‖₂ of each column at most; of numbers ≥ 0."""
    largest = np.max(columns, axis=0, initial=0.0)
    scaled = columns / np.where(largest > 0.0, largest, 1.0)
    sums = np.sqrt(np.sum(scaled * scaled, axis=0)) * largest
    found: Array = sums * (1.0 + (len(columns) + 8) * EPS) + len(columns) * TINY
    return found
