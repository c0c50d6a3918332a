"""(K + μI)⁻¹ through one Cholesky factor, kept in a workspace of its own: K is never changed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.squares.power_gap import symmetric_product
from simopt.solvers.squares.spectrum import EPSILON

PANEL = 64  # columns copied at a time
ATTEMPTS = 3


class ShiftedInverse:
    """v ↦ (K + shift·I)⁻¹ v by two triangular solves with L, K + shift·I = L Lᵀ; n² flops each, n²/2 numbers read."""

    def __init__(self, factor: Array, shift: float) -> None:
        from scipy.linalg.blas import dtrsv

        self.factor = factor
        self.shift = shift
        self._solve = dtrsv

    def __call__(self, v: Array) -> Array:
        half = self._solve(self.factor, v, lower=1)
        result: Array = self._solve(self.factor, half, lower=1, trans=1)
        return result


def shifted_copy(gram: Array, shift: float) -> Array:
    """The lower triangle of K + shift·I, column-major. The upper triangle is not written, so half of the memory is never paged in."""
    n = gram.shape[0]
    work = np.empty((n, n), order="F")
    for start in range(0, n, PANEL):
        stop = min(n, start + PANEL)
        work[start:, start:stop] = gram[start:, start:stop]
    diagonal = np.einsum("ii->i", work)
    diagonal += shift
    return work


def factor(gram: Array, shift: float) -> ShiftedInverse | None:
    """Cholesky of K + shift·I (column-major K, lower triangle read): n³/3 flops, n² numbers; None if it is not positive definite."""
    from scipy.linalg.lapack import dpotrf

    lower, info = dpotrf(shifted_copy(gram, shift), lower=1, overwrite_a=1, clean=0)
    return ShiftedInverse(lower, shift) if info == 0 else None


def factor_near(gram: Array, log_mu: float) -> ShiftedInverse | None:
    """Cholesky at a shift near μ: at least n ε tr K, below which rounding decides the sign of a pivot, and larger if that fails."""
    shift = max(math.exp(min(log_mu, 700.0)), gram.shape[0] * EPSILON * float(np.trace(gram)))
    for _ in range(ATTEMPTS):
        inverse = factor(gram, shift)
        if inverse is not None:
            return inverse
        shift *= 1e3
    return None


def refined(gram: Array, targets: Array, inverse: ShiftedInverse, most: int) -> Iterator[tuple[Array, Array]]:
    """a = (K + μI)⁻¹ y with its residual y − (K + μI)a, after 0, 1, … steps of iterative refinement: 4 n² flops each."""
    a = inverse(targets)
    for _ in range(most):
        residual = targets - symmetric_product(gram, a) - inverse.shift * a
        yield a, residual
        a = a + inverse(residual)
