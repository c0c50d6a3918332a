"""z^p for p > 1."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import ConjugateDomain, DeclaredConjugate, Elementwise
from simopt.duality.atoms.powers import SMALL, raised
from simopt.duality.graph.vectors import Mask, Value, above, at_least_zero, divisor, enclosing, is_zero, where


class Power(Elementwise):
    """φ(z) = |z|^p for an even p, else z^p for z ≥ 0; (sφ)*(u) = s(p − 1) y^p, y = (|u|/(sp))^{1/(p−1)}.

    On z ≥ 0 [u]_+ takes the place of |u|. The remainder is s(|z|^p − y^p − p y^{p−1}(|z| − y)) + (|u||z| − uz). By Taylor's theorem the
    first part is s p(p − 1) ξ^{p−2} (|z| − y)²/2 with a ξ between |z| and y.
    """

    formula, conjugate_formula, domain_formula = "z^p, p > 1, z ≥ 0 or p even", "(p − 1)(u/p)^{p/(p−1)}", "ℝ"
    degree_formula = "p"
    conjugate_domain = ConjugateDomain.FULL

    def __init__(self, exponent: float) -> None:
        self.p, self.even = float(exponent), exponent % 2 == 0
        self.root = 1 / (Fraction(self.p) - 1)

    @property
    def degree(self) -> float | None:
        return self.p

    def _size(self, num: Arithmetic, x: Value) -> Value:
        return num.abs(x) if self.even else num.pos(x)

    def value(self, num: Arithmetic, z: Value) -> Value:
        return num.power(self._size(num, z), self.p)

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return np.ones(len(z), dtype=bool) if self.even else nonnegative | at_least_zero(num, z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        kept = num.zeros(len(u)) if self.even else num.minimum(u, num.lift(0.0))
        return where(num, divisor(num, s)[1], u, kept)

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        return np.asarray(~divisor(num, s)[1] & (~is_zero(num, u) if self.even else above(num, u)))

    def _best(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """y, the z at which u is the slope."""
        q = self._size(num, u) / (divisor(num, s)[0] * num.lift(self.p))
        return raised(num, q, self.root)

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return s * num.power(self._best(num, u, s), self.p) * (num.lift(self.p) - 1.0)

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        """Taylor's form around the |z| at which u is the slope, in intervals; relative to it in floats. A wrong sign counts in full."""
        size, best = self._size(num, z), self._best(num, u, s)
        if num is FLOAT:
            return s * self._apart(size, best) + (np.maximum(np.abs(u) * size - u * z, 0.0) if self.even else np.maximum(-u, 0.0) * size)
        opposite = num.pos(num.abs(u) * size - u * z) if self.even else num.pos(-u) * size
        plain = num.pos(s * num.power(size, self.p) + self.conjugates(num, u, s) - u * z)
        if num is not INTERVAL:
            return plain
        p, d, between = num.lift(self.p), size - best, enclosing(num, size, best)
        between = num.pos(between)
        taylor = s * (d * d) * num.power(between, self.p - 2.0) * (p * (p - 1.0) / 2.0) + opposite
        return where(num, above(num, between) if self.p < 2.0 else np.ones(len(z), dtype=bool), taylor, plain)

    def _apart(self, size: Array, best: Array) -> Array:
        p, some = self.p, best > 0.0
        unit = np.where(some, best, 1.0)
        h = (size - best) / unit
        with np.errstate(all="ignore"):
            plain = np.expm1(p * np.log1p(h)) - p * h
        series = p * (p - 1) / 2 * h * h * (1 + (p - 2) * h / 3 * (1 + (p - 3) * h / 4))
        found: Array = np.where(some, best**p * np.where(np.abs(h) < SMALL, series, np.maximum(plain, 0.0)), size**p)
        return found

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        """(p − 1) p^{−q} |u|^q s^{1−q}, 1/p + 1/q = 1; or with [u]_+, the least number that is not below u."""
        q, n = self.p / (self.p - 1.0), u.size
        size = u if self.even else cp.Variable(n, name=f"positive part of {u.name()}")
        power = cp.Variable(n, name=f"power of {u.name()}")
        rows: list[cp.Constraint] = [cp.PowCone3D(power, s, size, 1.0 / q)]
        return (self.p - 1.0) * self.p**-q * power, rows if self.even else [*rows, u <= size]

    def slope(self, z: Array, s: Array) -> Array:
        return np.asarray(s * self.p * self._size(FLOAT, z) ** (self.p - 1.0) * np.sign(z))
