"""z²."""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.arrays import Array
from simopt.duality.atoms.base import Absorbs, Elementwise
from simopt.duality.vectors import Mask, Value, divisor, is_zero, where


class Square(Elementwise):
    """φ(z) = z², (sφ)*(u) = u²/(4s); the remainder is s(z − u/(2s))²."""

    formula, conjugate_formula, domain_formula = "z²", "u²/4", "ℝ"
    degree_formula = "2"
    absorbs = Absorbs.ALL

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
        return u / (divisor(num, s)[0] * 4) * u  # u² may leave the floats where u²/(4s) does not

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        apart = z - u / (divisor(num, s)[0] * 2)
        return s * (apart * apart)

    def declared_conjugate(self, u: Any, s: Any) -> tuple[Any, list[Any]]:
        return squares_over(u, s), []

    def slope(self, z: Array, s: Array) -> Array:
        return 2.0 * s * z


def squares_over(u: Any, s: Any) -> Any:
    """Σ u_i²/(4s_i) as CVXPY knows it."""
    import cvxpy as cp

    if s.is_constant() and (s.value > 0).all():
        return cp.sum_squares(cp.multiply(u, 0.5 / np.sqrt(s.value)))
    return sum(cp.quad_over_lin(u[i], 4 * s[i % s.size]) for i in range(u.size))
