"""The negative logarithm of a determinant."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arithmetic.eigenvalues import log_determinant
from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.atoms.base import DeclaredConjugate
from simopt.duality.atoms.semidefinite_cone import DecreasingMatrixAtom
from simopt.duality.atoms.symmetric_matrix import inverted
from simopt.duality.graph.vectors import Value, above, is_zero, nothing, vector


class NegativeLogDeterminant(DecreasingMatrixAtom):
    """φ(Z) = −log det Z for Z ≻ 0, (sφ)*(U) = −sn + sn log s − s log det(−U)."""

    formula, conjugate_formula, domain_formula = "−log det Z", "−n − log det(−U)", "−U ≻ 0"

    def value(self, num: Arithmetic, z: Value) -> Value:
        logarithm = log_determinant(num, self.matrix(num, z))
        return vector(num, nothing(num) if logarithm is None else -logarithm)

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if not above(num, s).all():
            return num.lift(0.0) if is_zero(num, s).all() and self.distance(num, u, s) >= 0.0 else nothing(num)
        logarithm = log_determinant(num, -self.dual_matrix(num, u))
        if logarithm is None:
            return nothing(num)
        return s[0] * ((num.log(s[0]) - 1.0) * float(self.n) - logarithm)

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        if not s.is_constant():
            raise Unreadable("the conjugate of log_det with a multiplier as its factor", str(s))
        scale = float(np.asarray(s.value).item())
        return scale * (self.n * (np.log(scale) - 1.0) - cp.log_det(-self.declared_dual(u))), []

    def slope(self, z: Array, s: Array) -> Array:
        return self.coordinates(-s[0] * inverted(self.matrix(FLOAT, z)))
