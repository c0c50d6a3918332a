"""|z|."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import ConjugateDomain, DeclaredConjugate, Elementwise
from simopt.duality.graph.vectors import Mask, Value, above


class Absolute(Elementwise):
    """φ(z) = |z|, (sφ)*(u) = 0 for |u| ≤ s; the remainder is (s − |u|)|z| + (|u||z| − uz)."""

    has_kinks = True
    formula, conjugate_formula, domain_formula = "|z|", "0", "|u| ≤ 1"
    degree_formula = "1"
    conjugate_domain = ConjugateDomain.BALL

    @property
    def degree(self) -> float | None:
        return 1.0

    def value(self, num: Arithmetic, z: Value) -> Value:
        return num.abs(z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(num.maximum(u, -s), s)

    def need(self, num: Arithmetic, u: Value) -> Value:
        return num.abs(u)

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return s - num.abs(u)

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        return above(num, num.abs(u), s)

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.zeros(len(u))

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        size, dual_norm = num.abs(z), num.abs(u)
        return num.pos(s - dual_norm) * size + num.pos(dual_norm * size - u * z)

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.Constant(np.zeros(u.size)), [cp.abs(u) <= s]

    def slope(self, z: Array, s: Array) -> Array:
        return s * np.sign(z)

    def on_kinks(self, z: Array, width: float) -> Array:
        return np.where(np.abs(z) <= width, 0.0, z)
