"""z log z."""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.arrays import Array
from simopt.duality.atoms.base import Absorbs, Elementwise
from simopt.duality.atoms.logarithms import TAIL, entropy_distance, x_log_x
from simopt.duality.vectors import Mask, Value, above, at_least_zero, divisor, full, is_zero, where


class Entropy(Elementwise):
    """φ(z) = z log z for z ≥ 0, (sφ)*(u) = s y with y = e^{u/s − 1}; the remainder is s y f(z/y − 1), f(h) = (1 + h) log(1 + h) − h.

    For s = 0 the conjugate is the support function of z ≥ 0: 0 for u ≤ 0.
    """

    formula, conjugate_formula, domain_formula = "z log z", "e^{u−1}", "ℝ"
    absorbs = Absorbs.ALL

    def value(self, num: Arithmetic, z: Value) -> Value:
        return x_log_x(num, z)

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return nonnegative | at_least_zero(num, z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return where(num, divisor(num, s)[1], u, num.minimum(u, num.lift(0.0)))

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        positive = divisor(num, s)[1]
        return np.asarray(~positive & (~is_zero(num, s) | above(num, u)))

    def _best(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.exp(u / divisor(num, s)[0] - 1.0)

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        positive = divisor(num, s)[1]
        return where(num, positive, s * self._best(num, where(num, positive, u, num.zeros(len(u))), s), num.zeros(len(u)))

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        positive = divisor(num, s)[1]
        best = self._best(num, where(num, positive, u, num.zeros(len(u))), s)
        near = positive & above(num, best, TAIL)
        kept = where(num, near, best, full(num, 1.0, len(u)))
        far = num.pos(s * x_log_x(num, z) + self.conjugates(num, u, s) - u * z)
        return where(num, near, s * (kept * entropy_distance(num, z / kept - 1.0)), far)

    def slope(self, z: Array, s: Array) -> Array:
        return s * (1.0 + np.log(np.maximum(z, np.finfo(float).tiny)))
