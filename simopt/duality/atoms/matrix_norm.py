"""Norms of matrices by their singular values."""

from __future__ import annotations

from abc import abstractmethod

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic, Interval
from simopt.arithmetic.eigenvalues import singular_values
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate, GroupNorm
from simopt.duality.graph.vectors import Value, inner, vector


class MatrixNorm(GroupNorm):
    """A norm of the singular values of a p × q matrix, column by column."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape
        super().__init__(np.zeros(shape[0] * shape[1], dtype=np.intp), 1)

    def matrix(self, z: Value) -> Value:
        """The entries as a matrix."""
        if isinstance(z, Interval):
            return Interval(z.mid.reshape(self.shape, order="F"), z.rad.reshape(self.shape, order="F"))
        return z.reshape(self.shape, order="F")

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return num.pos(inner(num, s, self.value(num, z)) - inner(num, u, z))

    @abstractmethod
    def slope(self, z: Array, s: Array) -> Array: ...


class SpectralNorm(MatrixNorm):
    """φ(Z) = σ_max, (sφ)* = 0 for ‖U‖_* ≤ s."""

    formula, domain_formula = "σ₁", "Σ σ_i(U) ≤ 1"

    def value(self, num: Arithmetic, z: Value) -> Value:
        return vector(num, num.max(singular_values(num, self.matrix(z))))

    def need(self, num: Arithmetic, u: Value) -> Value:
        return vector(num, num.sum(singular_values(num, self.matrix(u))))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.Constant(0.0), [cp.normNuc(cp.reshape(u, self.shape, order="F")) <= s[0]]

    def slope(self, z: Array, s: Array) -> Array:
        left, _, right = np.linalg.svd(self.matrix(z), full_matrices=False)
        return np.asarray(s[0] * np.outer(left[:, 0], right[0]).reshape(-1, order="F"))


class NuclearNorm(MatrixNorm):
    """φ(Z) = Σ σ_i, (sφ)* = 0 for σ_max(U) ≤ s."""

    formula, domain_formula = "Σ σ_i", "σ₁(U) ≤ 1"

    def value(self, num: Arithmetic, z: Value) -> Value:
        return vector(num, num.sum(singular_values(num, self.matrix(z))))

    def need(self, num: Arithmetic, u: Value) -> Value:
        return vector(num, num.max(singular_values(num, self.matrix(u))))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.Constant(0.0), [cp.sigma_max(cp.reshape(u, self.shape, order="F")) <= s[0]]

    def slope(self, z: Array, s: Array) -> Array:
        left, values, right = np.linalg.svd(self.matrix(z), full_matrices=False)
        present = values > np.finfo(float).eps * max(self.shape) * values.max(initial=0.0)
        return np.asarray(s[0] * (left[:, present] @ right[present]).reshape(-1, order="F"))
