"""z log z."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import TAIL, ConjugateDomain, DeclaredConjugate, Elementwise
from simopt.duality.graph.vectors import Mask, Value, above, at_least_zero, divisor, full, is_zero, where


class Entropy(Elementwise):
    """φ(z) = z log z − c(z − 1) for z ≥ 0, (sφ)*(u) = s(y − c) with y = e^{u/s − 1 + c}; the remainder is s y b(z/y − 1).

    b is Bennett's function, b(h) = (1 + h) log(1 + h) − h; c is 0 or 1, where φ ≥ 0. For s = 0 the conjugate is the support function of
    z ≥ 0: 0 for u ≤ 0.
    """

    formula, conjugate_formula, domain_formula = "z log z, z ≥ 0", "e^{u−1}", "ℝ"
    conjugate_domain = ConjugateDomain.FULL

    def __init__(self, tilt: float = 0.0) -> None:
        self.tilt = tilt

    def value(self, num: Arithmetic, z: Value) -> Value:
        return num.xlogx(z) - (z - 1.0) * self.tilt

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return nonnegative | at_least_zero(num, z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return where(num, divisor(num, s)[1], u, num.minimum(u, num.lift(0.0)))

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        positive = divisor(num, s)[1]
        return np.asarray(~positive & (~is_zero(num, s) | above(num, u)))

    def _best(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """y, the z at which u is the slope; 1 where s is not known to be positive."""
        scale, positive = divisor(num, s)
        return num.exp(where(num, positive, u / scale - 1.0 + self.tilt, num.zeros(len(u))))

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return where(num, divisor(num, s)[1], s * (self._best(num, u, s) - self.tilt), num.zeros(len(u)))

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        best = self._best(num, u, s)
        near = divisor(num, s)[1] & above(num, best, TAIL)
        kept = where(num, near, best, full(num, 1.0, len(u)))
        far = num.pos(s * self.value(num, z) + self.conjugates(num, u, s) - u * z)
        return where(num, near, s * (kept * num.bennett(z / kept - 1.0)), far)

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        best = cp.Variable(u.size, name=f"exponential of {u.name()}")  # sy
        return best - self.tilt * s, [cp.ExpCone(u + (self.tilt - 1.0) * s, s, best)]

    def slope(self, z: Array, s: Array) -> Array:
        return s * (1.0 - self.tilt + np.log(np.maximum(z, np.finfo(float).tiny)))
