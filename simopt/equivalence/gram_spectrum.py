"""The eigendecomposition of a Gram matrix, in which norms of functions are sums of squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class GramSpectrum:
    """K = Q diag(d) Qᵀ with d ascending; eigenvalues of at most n ε d_max (rounding, of either sign) are 0.

    Attributes
    ----------
    values : Array, shape (n,)
        d ≥ 0, ascending.
    vectors : Array, shape (n, n)
        Q, eigenvectors in columns.
    """

    values: Array
    vectors: Array

    def norm(self, coefficients: Array) -> float:
        """‖Σ_j a_j k(·, x_j)‖_H = ‖diag(√d) Qᵀ a‖; safe from underflow. O(n²)."""
        unit = float(np.max(np.abs(coefficients), initial=0.0))
        return unit * float(np.linalg.norm(self.features(coefficients / unit))) if unit > 0 else 0.0

    def features(self, coefficients: Array) -> Array:
        """diag(√d) Qᵀ a: orthonormal coordinates of the function, whose Euclidean geometry is that of H. Shape (n,). O(n²)."""
        out: Array = np.sqrt(self.values) * (self.vectors.T @ coefficients)
        return out


def spectrum(gram: Array) -> GramSpectrum:
    """Eigendecomposition of a Gram matrix, with the rounding noise around 0 set to 0. O(n³) time, O(n²) memory.

    Raises
    ------
    InvalidProblem
        when the smallest eigenvalue is below −1e-8 times the largest, naming it.
    """
    d, Q = scipy.linalg.eigh(0.5 * (gram + gram.T), driver="evd")
    largest = float(max(d[-1], 0.0))
    if d[0] < -validate.INDEFINITE * max(largest, -float(d[0])):
        raise InvalidProblem(
            f"gram: not positive semidefinite, the smallest eigenvalue is {float(d[0]):.6g} (the largest {largest:.6g}); "
            "a norm needs a positive semidefinite similarity"
        )
    values = np.where(d > d.size * EPS * largest, d, 0.0)
    return GramSpectrum(values, Q)
