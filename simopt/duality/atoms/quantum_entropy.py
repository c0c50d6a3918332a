"""The entropy of a density matrix."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arithmetic.eigenvalues import eigenvalues, is_semidefinite
from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.atoms.base import ConjugateDomain, DeclaredConjugate
from simopt.duality.atoms.symmetric_matrix import SymmetricMatrixAtom, decomposed
from simopt.duality.graph.vectors import Mask, Value, above, is_zero, nothing, vector


class NegativeQuantumEntropy(SymmetricMatrixAtom):
    """φ(Z) = tr Z log Z for Z ⪰ 0, (sφ)*(U) = s tr e^{U/s − I}."""

    formula, conjugate_formula, domain_formula = "tr Z log Z", "tr e^{U − I}", "all U"
    conjugate_domain = ConjugateDomain.FULL

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return np.full(self.length, is_semidefinite(num, self.matrix(num, z)))

    def value(self, num: Arithmetic, z: Value) -> Value:
        return vector(num, num.sum(num.xlogx(num.pos(eigenvalues(num, self.matrix(num, z))))))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u

    def distance(self, num: Arithmetic, u: Value, s: Value) -> float:
        return num.lower(s[0])

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if not above(num, s).all():
            return num.lift(0.0) if is_zero(num, s).all() and is_zero(num, u).all() else nothing(num)
        return s[0] * num.sum(num.exp(eigenvalues(num, self.dual_matrix(num, u)) / s[0] - 1.0))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        raise Unreadable("tr e^{U}, the conjugate of a quantum entropy", str(u))

    def slope(self, z: Array, s: Array) -> Array:
        values, vectors = decomposed(self.matrix(FLOAT, z))
        logarithms = np.log(np.maximum(values, np.finfo(float).tiny)) + 1.0
        return self.coordinates(s[0] * (vectors * logarithms) @ vectors.T)
