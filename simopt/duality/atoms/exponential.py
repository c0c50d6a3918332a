"""e^z."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import TAIL, DeclaredConjugate, Elementwise
from simopt.duality.atoms.relative_entropy import relative_entropies
from simopt.duality.graph.vectors import Mask, Value, above, divisor, full, is_zero, positive_part, where


class Exponential(Elementwise):
    """φ(z) = e^z, (sφ)*(u) = u log(u/s) − u for u ≥ 0; the remainder is e f(u/e − 1), e = s e^z, f(h) = (1 + h) log(1 + h) − h."""

    formula, conjugate_formula, domain_formula = "e^z", "u log u − u", "u ≥ 0"

    def value(self, num: Arithmetic, z: Value) -> Value:
        return num.exp(z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return where(num, divisor(num, s)[1], positive_part(num, u), num.zeros(len(u)))

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(u, s)

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        return np.asarray(above(num, -u) | (~divisor(num, s)[1] & ~is_zero(num, u)))

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        scale, _ = divisor(num, s)
        return scale * num.xlogx(u / scale) - u

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        unit, reached = num.exp(z), s * num.exp(z)
        near = above(num, unit, TAIL) & divisor(num, reached)[1]
        kept = where(num, near, reached, full(num, 1.0, len(u)))
        far = num.pos(reached + self.conjugates(num, u, s) - u * z)
        return where(num, near, kept * num.bennett(u / kept - 1.0), far)

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        conjugates, domain = relative_entropies(u, s, f"entropy of {u.name()}")
        return conjugates - u, domain

    def slope(self, z: Array, s: Array) -> Array:
        return s * np.exp(z)
