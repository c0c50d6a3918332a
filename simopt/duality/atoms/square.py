"""z²."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import ConjugateDomain, DeclaredConjugate, Elementwise
from simopt.duality.graph.vectors import Mask, Value, divisor, is_zero, where


class Square(Elementwise):
    """φ(z) = z², (sφ)*(u) = u²/(4s); the remainder is s(z − u/(2s))²."""

    formula, conjugate_formula, domain_formula = "z²", "u²/4", "ℝ"
    degree_formula = "2"
    conjugate_domain = ConjugateDomain.FULL

    @property
    def degree(self) -> float | None:
        return 2.0

    def value(self, num: Arithmetic, z: Value) -> Value:
        return z * z

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return where(num, divisor(num, s)[1], u, num.zeros(len(u)))

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        return np.asarray(~divisor(num, s)[1] & ~is_zero(num, u))

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u / (divisor(num, s)[0] * 4) * u  # u² may overflow where u²/(4s) does not

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        apart = z - u / (divisor(num, s)[0] * 2)
        return s * (apart * apart)

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return squares_over(u, s)

    def slope(self, z: Array, s: Array) -> Array:
        return 2.0 * s * z


def squares_over(u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
    """u_i²/(4s_i); for a variable s the least t_i with u_i² ≤ 4 s_i t_i, that is ‖(u_i, s_i − t_i)‖ ≤ s_i + t_i."""
    known = s.value if s.is_constant() else None
    if known is not None and np.all(known > 0):
        return cp.multiply(cp.square(u), 0.25 / known), []
    t = cp.Variable(u.size, name=f"square of {u.name()}")
    return t, [cp.SOC(s + t, cp.vstack([u, s - t]), axis=0)]
