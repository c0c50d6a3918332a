"""The Lanczos process with full reorthogonalisation: the spectrum of a symmetric operator as one vector sees it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.squares.spectrum import EPSILON


class Lanczos:
    r"""A V = V T + β v eᵀ for a symmetric operator A, started at y.

    The eigenpairs (θ_j, s_j) of the tridiagonal T are a Gauss quadrature of the spectral measure of y. Functions yᵀ g(A) y become
    ‖y‖² Σ s_j0² g(θ_j), exact for polynomials of degree 2k − 1, and g(A) y becomes ‖y‖ V s g(θ) s_0.

    A step costs one product with A and 8 n k flops for orthogonalising twice (once is not enough to keep the quadrature Gaussian);
    memory n (k + 1) numbers.
    """

    def __init__(self, operator: Callable[[Array], Array], start: Array, capacity: int) -> None:
        self.operator = operator
        self.length = float(np.linalg.norm(start))
        self.basis = np.empty((start.size, min(capacity, start.size) + 1), order="F")
        self.basis[:, 0] = start / self.length
        self.diagonal: list[float] = []
        self.beta: list[float] = []

    @property
    def steps(self) -> int:
        """Steps done so far."""
        return len(self.diagonal)

    @property
    def full(self) -> bool:
        """Whether the basis is full."""
        return self.steps >= self.basis.shape[1] - 1

    @property
    def exhausted(self) -> bool:
        """Whether the Krylov space is invariant, so that T says all there is."""
        return self.steps > 0 and self.beta[-1] == 0.0

    def step(self) -> None:
        """One more basis vector."""
        k = self.steps
        v = self.basis[:, k]
        w = self.operator(v)
        before = float(np.linalg.norm(w))
        known = self.basis[:, : k + 1]
        weights = known.T @ w
        w = w - known @ weights
        correction = known.T @ w
        w -= known @ correction
        self.diagonal.append(float(weights[k] + correction[k]))
        beta = float(np.linalg.norm(w))
        if beta <= EPSILON * before:
            beta = 0.0
        else:
            self.basis[:, k + 1] = w / beta
        self.beta.append(beta)

    def ritz(self) -> tuple[Array, Array]:
        """Eigenvalues θ (k,) and eigenvectors S (k, k) of T; O(k³), small."""
        from scipy.linalg import eigh_tridiagonal

        if self.steps == 1:
            return np.array(self.diagonal), np.ones((1, 1))
        theta, vectors = eigh_tridiagonal(np.array(self.diagonal), np.array(self.beta[:-1]), check_finite=False)
        return theta, vectors

    def combination(self, vectors: Array) -> Callable[[Array], Array]:
        """From coordinates in the Ritz vectors V · vectors to the vector itself."""
        return lambda weights: self.basis[:, : len(vectors)] @ (vectors @ weights)
