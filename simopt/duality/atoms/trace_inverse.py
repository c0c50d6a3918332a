"""The trace of an inverse."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arithmetic.eigenvalues import eigenvalues
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate
from simopt.duality.atoms.semidefinite_cone import DecreasingMatrixAtom
from simopt.duality.atoms.symmetric_matrix import inverted
from simopt.duality.graph.vectors import Value, above, nothing, vector


class TraceInverse(DecreasingMatrixAtom):
    """φ(Z) = tr Z⁻¹ for Z ≻ 0, (sφ)*(U) = −2√s tr (−U)^½ for −U ⪰ 0."""

    formula, conjugate_formula = "tr Z⁻¹", "−2 tr (−U)^½"
    degree_formula = "−1"

    @property
    def degree(self) -> float | None:
        return -1.0

    def value(self, num: Arithmetic, z: Value) -> Value:
        values = eigenvalues(num, self.matrix(num, z))
        return vector(num, num.sum(num.lift(np.ones(self.n)) / values) if above(num, values).all() else nothing(num))

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if not self.distance(num, u, s) >= 0.0:
            return nothing(num)
        return num.sqrt(s[0]) * num.sum(num.sqrt(num.pos(eigenvalues(num, -self.dual_matrix(num, u))))) * -2.0

    def declared(self, z: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
        """min tr W with [[W, I], [I, Z]] ⪰ 0: one cone of 2n rows in place of CVXPY's n cones of n + 1."""
        inverse, one = cp.Variable((self.n, self.n), symmetric=True), np.eye(self.n)
        return cp.trace(inverse), [cp.bmat([[inverse, one], [one, z]]) >> 0]

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        """−2 max tr W with [[−U, W], [W, sI]] ⪰ 0."""
        root = cp.Variable((self.n, self.n), symmetric=True)
        block = cp.bmat([[-self.declared_dual(u), root], [root, s[0] * np.eye(self.n)]])
        return -2.0 * cp.trace(root), [block >> 0]

    def slope(self, z: Array, s: Array) -> Array:
        inverse = inverted(self.matrix(FLOAT, z))
        return self.coordinates(-s[0] * inverse @ inverse)
