"""−log z."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate, Elementwise
from simopt.duality.atoms.relative_entropy import relative_entropies
from simopt.duality.graph.vectors import Mask, Value, above, divisor, full, is_zero, where

LEAST = 2.0**-60  # of the scale: the multiplier that replaces one outside of the domain


class NegativeLogarithm(Elementwise):
    """φ(z) = −log z for z > 0, (sφ)*(u) = −s − s log(−u/s) for u < 0; the remainder is s(q − 1 − log q), q = −uz/s.

    Without cancellation q − 1 − log q = q b(1/q − 1), b Bennett's function, b(h) = (1 + h) log(1 + h) − h.

    For s = 0 the conjugate is the support function of z > 0: 0 for u ≤ 0.
    """

    formula, conjugate_formula, domain_formula = "−log z, z > 0", "−1 − log(−u)", "u < 0"

    def value(self, num: Arithmetic, z: Value) -> Value:
        return -num.log(z)

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return above(num, z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(u, s * -LEAST)

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(-u, s)

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        off = above(num, u)
        return np.asarray(off | (~is_zero(num, s) & ~(divisor(num, s)[1] & above(num, -u))))

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        scale, positive = divisor(num, s)
        size = where(num, positive, -u, full(num, 1.0, len(u)))
        return where(num, positive, -scale - scale * num.log(size / scale), num.zeros(len(u)))

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        scale, positive = divisor(num, s)
        q, some = divisor(num, where(num, positive, -u * z / scale, full(num, 1.0, len(u))))
        far = num.pos(s * self.value(num, z) + self.conjugates(num, u, s) - u * z) if not some.all() else -u * z
        return where(num, positive & some, scale * (q * num.bennett(1.0 / q - 1.0)), far)

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        conjugates, domain = relative_entropies(s, -u, f"entropy of {u.name()}")
        return conjugates - s, domain

    def slope(self, z: Array, s: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return -s / z
