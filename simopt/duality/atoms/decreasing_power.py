"""Powers on z > 0 that are convex when they fall: z^p for p < 0, and −z^p for 0 < p < 1."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, RATIONAL, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate, Elementwise
from simopt.duality.atoms.powers import SMALL, raised
from simopt.duality.graph.vectors import Mask, Value, above, at_least_zero, divisor, enclosing, exactly, is_zero, where

LEAST = 2.0**-60  # of the scale: the multiplier that replaces one outside of the domain


class DecreasingPower(Elementwise):
    """φ(z) = σz^p for z > 0, σ the sign of −p for p < 1; (sφ)*(u) = −σs(1 − p) y^p for u < 0, y = (−u/(s|p|))^{1/(p−1)}.

    At u = 0 the conjugate is 0 for p < 0 and ∞ for 0 < p. For s = 0 it is the support function of z > 0: 0 for u ≤ 0.
    With u = sσp y^{p−1} the remainder is sσ(z^p − y^p − p y^{p−1}(z − y)) = sσp(p − 1) ξ^{p−2} (z − y)²/2 with a ξ between z and y.
    """

    formula, conjugate_formula, domain_formula = "z^p (p < 0), −z^p (0 < p < 1)", "∓(1 − p)(−u/|p|)^{p/(p−1)}", "u < 0"
    degree_formula = "p"

    def __init__(self, exponent: float) -> None:
        self.p = Fraction(exponent)
        self.sign = 1.0 if self.p < 0 else -1.0

    @property
    def degree(self) -> float | None:
        return float(self.p)

    def value(self, num: Arithmetic, z: Value) -> Value:
        return raised(num, z if self.p < 0 else num.pos(z), self.p) * self.sign

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return above(num, z) if self.p < 0 else nonnegative | at_least_zero(num, z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(u, num.lift(0.0) if self.p < 0 else s * -LEAST)

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(-u, s)

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        off = above(num, u)
        if self.p < 0:
            return off
        return np.asarray(off | (~is_zero(num, s) & ~(divisor(num, s)[1] & above(num, -u))))

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """−σ(1 − p) s^{1/(1−p)} (−u/|p|)^{p/(p−1)}; for 0 < p it is known if s > 0 and u < 0 are."""
        quotient = num.pos(-u) / exactly(num, [abs(self.p)])
        conjugate = (
            raised(num, s, 1 / (1 - self.p)) * raised(num, quotient, self.p / (self.p - 1)) * exactly(num, [1 - self.p]) * -self.sign
        )
        return conjugate if self.p < 0 else where(num, divisor(num, s)[1], conjugate, num.zeros(len(u)))

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        """Taylor's form around the z at which u is the slope, where both are positive; else the plain difference, which may cancel."""
        scale, positive = divisor(num, s)
        quotient, nonzero = divisor(num, -u / (scale * exactly(num, [abs(self.p)])))
        best, known = raised(num, quotient, 1 / (self.p - 1)), positive & nonzero
        plain = num.pos(s * self.value(num, z) + self.conjugates(num, u, s) - u * z)
        if num is RATIONAL:
            return plain
        if num is FLOAT:
            close = s * self._apart(z, best)
        else:
            between, d = enclosing(num, z, best), z - best
            known = known & above(num, between)
            curve = exactly(num, [abs(self.p * (self.p - 1)) / 2])
            close = s * (d * d) * raised(num, between, self.p - 2) * curve
        return where(num, known, close, plain)

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        """With a = 1/(1 − p), w = −u/|p|: −(1 − p) s^a w^{1−a}, a mean, for p < 0; (1 − p) s^a w^{1−a}, with s as the mean, for p > 0."""
        p, w = float(self.p), -u / abs(float(self.p))
        power = cp.Variable(u.size, name=f"power of {u.name()}")
        if p < 0.0:
            return -(1.0 - p) * power, [cp.PowCone3D(s, w, power, 1.0 / (1.0 - p))]
        return (1.0 - p) * power, [cp.PowCone3D(power, w, s, 1.0 - p)]

    def _apart(self, z: Array, best: Array) -> Array:
        """σ(z^p − y^p − p y^{p−1}(z − y)) in floats."""
        p, ratio = float(self.p), z / best
        h = ratio - 1.0
        with np.errstate(all="ignore"):
            grown = np.where(h > -0.5, np.expm1(p * np.log1p(np.maximum(h, -0.5))), ratio**p - 1.0)
            plain = self.sign * (grown - p * h)
        series = self.sign * p * (p - 1) / 2 * h * h * (1 + (p - 2) * h / 3 * (1 + (p - 3) * h / 4))
        return np.asarray(best**p * np.where(np.abs(h) < SMALL, series, np.maximum(plain, 0.0)))

    def slope(self, z: Array, s: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(s * self.sign * float(self.p) * np.maximum(z, 0.0) ** (float(self.p) - 1.0))
