"""Norms in an RKHS whose rounding errors do not depend on the sizes of the points: by the eigenvectors of the cosines."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array
from simopt.problems.norms import unit_ball
from simopt.problems.norms.gram_factor import KernelProblem

EPS = float(np.finfo(np.float64).eps)


class CosineNorm(KernelProblem):
    """A kernel problem that measures ‖Σ a_j φ(x_j)‖ in coordinates."""

    @cached_property
    def _cosines(self) -> tuple[Array, Array, Array]:
        """√K_ii, and eigenvalues and vectors of K_ij/√(K_ii K_jj), whose rounding errors do not depend on the size of φ(x_i).

        Eigenvalues that are rounding, n ε times the largest and below, count as 0.
        """
        import scipy.linalg

        size = np.sqrt(np.maximum(np.diagonal(self.gram), 0.0))
        size[size == 0.0] = 1.0
        values, vectors = scipy.linalg.eigh(self.gram / size / size[:, None], driver="evd")
        return size, np.where(values > len(values) * EPS * values[-1], values, 0.0), vectors

    def coordinates(self, a: Array) -> Array:
        """Σ a_j φ(x_j) in orthonormal coordinates."""
        size, values, vectors = self._cosines
        out: Array = np.sqrt(values) * (vectors.T @ (size * a))
        return out

    def norm(self, num: Arithmetic, a: Value) -> Value:
        """‖Σ a_j φ(x_j)‖: in floats by coordinates, for √(aᵀKa) loses half the digits where the sum cancels, as it does off the ball."""
        return num.norm(self.coordinates(a)) if num is FLOAT else unit_ball.length(num, self.gram, a)
