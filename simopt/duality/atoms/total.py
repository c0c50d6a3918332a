"""Σφ(z_i), the sum of one function of many numbers with a common scale."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import Atom, DeclaredConjugate, Elementwise
from simopt.duality.graph.vectors import Mask, Value, broadcast, vector


class Total(Atom):
    """φ(z) = Σ_i ψ(z_i), (sφ)*(u) = Σ_i (sψ)*(u_i): the function of a perspective of a sum."""

    formula, conjugate_formula, domain_formula = "Σ ψ(z_i)", "Σ ψ*(u_i)", "that of ψ*"
    degree_formula = "p"

    def __init__(self, atom: Elementwise) -> None:
        self.atom = atom

    @property
    def degree(self) -> float | None:
        return self.atom.degree

    def value(self, num: Arithmetic, z: Value) -> Value:
        return vector(num, num.sum(self.atom.value(num, z)))

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return self.atom.inside(num, z, nonnegative)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return self.atom.project(num, u, broadcast(num, s, len(u)))

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return self.atom.margin(num, u, broadcast(num, s, len(u)))

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return self.atom.conjugate(num, u, broadcast(num, s, len(u)))

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return self.atom.remainder(num, z, u, broadcast(num, s, len(u)))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return self.atom.declared_conjugate(u, cp.multiply(np.ones(u.size), s))

    def slope(self, z: Array, s: Array) -> Array:
        return self.atom.slope(z, s)
