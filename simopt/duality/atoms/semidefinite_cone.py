"""The cone of semidefinite matrices, and functions that fall in it."""

from __future__ import annotations

from typing import ClassVar

import cvxpy as cp
import numpy as np

from simopt.arithmetic import RATIONAL, Arithmetic
from simopt.arithmetic.eigenvalues import is_semidefinite, least_bound
from simopt.core.arrays import Array
from simopt.duality.atoms.base import ConjugateDomain, DeclaredConjugate
from simopt.duality.atoms.symmetric_matrix import SymmetricMatrixAtom, clipped
from simopt.duality.graph.vectors import Mask, Value, nothing


class DecreasingMatrixAtom(SymmetricMatrixAtom):
    """A function that is finite for Z ≻ 0, or Z ⪰ 0, and falls in Z: each −U ≻ 0 is a multiplier for s > 0, and no other than −U ⪰ 0."""

    conjugate_domain = ConjugateDomain.CONE
    domain_formula = "−U ⪰ 0"
    strict: ClassVar[bool] = True  # whether Z has to be definite

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        matrix = self.matrix(num, z)
        if num is RATIONAL or not self.strict:
            return np.full(self.length, is_semidefinite(num, matrix))
        return np.full(self.length, least_bound(num, matrix) > 0.0)

    def distance(self, num: Arithmetic, u: Value, s: Value) -> float:
        return least_bound(num, -self.dual_matrix(num, u))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """u itself if −U ⪰ 0 is proven, else floats whose eigenvalues are clipped."""
        if self.distance(num, u, s) >= 0.0:
            return u
        return num.lift(-self.coordinates(clipped(-np.asarray(num.mid(self.dual_matrix(num, u)), dtype=float))))


class SemidefiniteCone(DecreasingMatrixAtom):
    """φ(Z) = 0 for Z ⪰ 0, else ∞; (sφ)* = 0 for −U ⪰ 0. sφ = φ for every s: the cone stands in the objective."""

    formula, conjugate_formula = "0 for Z ⪰ 0", "0"
    strict = False

    @property
    def degree(self) -> float | None:
        return 1.0

    def value(self, num: Arithmetic, z: Value) -> Value:
        return num.zeros(1)

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.lift(0.0) if self.distance(num, u, s) >= 0.0 else nothing(num)

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.Constant(0.0), [self.declared_dual(u) << 0]

    def slope(self, z: Array, s: Array) -> Array:
        return np.zeros(self.length)
