"""Huber's function, as CVXPY scales it."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate, Elementwise
from simopt.duality.atoms.square import squares_over
from simopt.duality.graph.vectors import Mask, Value, above, divisor, is_zero


class Huber(Elementwise):
    """φ(z) = z² for |z| ≤ M, else 2M|z| − M²; (sφ)*(u) = u²/(4s) for |u| ≤ 2Ms.

    With z = i + o, i = z clipped to [−M, M], the remainder is s(i − u/(2s))² + |o|(2Ms ∓ u): no term is negative.
    """

    formula, conjugate_formula, domain_formula = "z² (|z| ≤ M), 2M|z| − M²", "u²/4", "|u| ≤ 2M"

    def __init__(self, threshold: Callable[[Arithmetic], Value]) -> None:
        self.threshold = threshold  # M, read each time: it may be a parameter

    def _clipped(self, num: Arithmetic, z: Value) -> Value:
        m = self.threshold(num)
        return num.clip(z, -m, m)

    def _cap(self, num: Arithmetic, s: Value) -> Value:
        return s * self.threshold(num) * 2

    def value(self, num: Arithmetic, z: Value) -> Value:
        size, m = num.abs(z), self.threshold(num)
        inside = num.minimum(size, num.lift(m))
        return inside * inside + (size - inside) * (m * 2)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        cap = self._cap(num, s)
        return num.minimum(num.maximum(u, -cap), cap)

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return self._cap(num, s) - num.abs(u)

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        blind = ~divisor(num, s)[1] & ~is_zero(num, s)  # a scale that may be 0: nothing is known of u²/(4s)
        return np.asarray(above(num, num.abs(u), self._cap(num, s)) | (blind & ~is_zero(num, u)))

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u / (divisor(num, s)[0] * 4) * u  # u² may overflow where u²/(4s) does not

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        inside = self._clipped(num, z)
        beyond, apart = z - inside, inside - u / (divisor(num, s)[0] * 2)
        return s * (apart * apart) + num.pos(num.abs(beyond) * self._cap(num, s) - beyond * u)

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        conjugates, domain = squares_over(u, s)
        return conjugates, [*domain, cp.abs(u) <= 2 * cp.multiply(self.threshold(FLOAT), s)]

    def slope(self, z: Array, s: Array) -> Array:
        return np.asarray(2.0 * s * self._clipped(FLOAT, z))
