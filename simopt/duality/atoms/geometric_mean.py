"""−Π z_i^{w_i}, the negative of a weighted geometric mean."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arrays import Array
from simopt.duality.atoms.base import SPARE, Atom
from simopt.duality.vectors import Mask, Value, above, at_least_zero, broadcast, divisor, enclosing, full, is_zero, known, nothing, vector

LEAST = 2.0**-60  # of the scale: the multiplier that takes the place of one outside
LIFTED = 2.0**-1000  # stands for an entry of a ball that may be 0: the mean grows with each


class NegativeGeometricMean(Atom):
    """φ(z) = −Π z_i^{w_i} for z ≥ 0, w > 0, Σ w_i = 1; (sφ)*(u) = 0 for u ≤ 0 with Π (−u_i/w_i)^{w_i} ≥ s.

    By the inequality of the arithmetic and the geometric mean, Σ −u_i z_i = Σ w_i (−u_i z_i/w_i) ≥ Π (−u_i/w_i)^{w_i} Π z_i^{w_i}.
    The remainder is Σ −u_i z_i − s Π z_i^{w_i}.
    """

    formula, conjugate_formula, domain_formula = "−Π z_i^{w_i}", "0", "u ≤ 0, Π (−u_i/w_i)^{w_i} ≥ 1"

    def __init__(self, weights: tuple[Fraction, ...]) -> None:
        self.weights = tuple(Fraction(w) for w in weights)
        if min(self.weights) <= 0 or sum(self.weights) != 1:
            raise ValueError("weights must be positive and have the sum 1")

    @property
    def degree(self) -> float | None:
        return 1.0

    def _w(self, num: Arithmetic) -> Value:
        return num.lift(np.array([float(w.numerator) for w in self.weights])) / num.lift(
            np.array([float(w.denominator) for w in self.weights])
        )

    def _mean(self, num: Arithmetic, x: Value) -> Value:
        """Π x_i^{w_i} of x ≥ 0."""
        if num.name == "rational":
            common = int(np.lcm.reduce([w.denominator for w in self.weights]))
            product = vector(num, num.lift(1.0))
            for entry, w in zip(x, self.weights, strict=True):
                product = product * num.power(entry, float(w * common))
            return product if common == 1 else num.power(product, 1.0 / common)
        if is_zero(num, x).any():
            return num.zeros(1)
        some = above(num, x)
        mean = vector(num, num.exp(num.dot(self._w(num), num.log(num.maximum(x, full(num, LIFTED, len(x)))))))
        return mean if some.all() else num.zeros(1) if num is FLOAT else enclosing(num, num.zeros(1), mean)

    def value(self, num: Arithmetic, z: Value) -> Value:
        return -self._mean(num, z)

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return nonnegative | at_least_zero(num, z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """u made negative and, where it is too small, longer."""
        price = num.maximum(-u, broadcast(num, s, len(u)) * LEAST)
        mean, some = divisor(num, self._mean(num, price / self._w(num)))
        if not some.all():
            return num.zeros(len(u)) if is_zero(num, s).all() else -price
        return -price * broadcast(num, num.maximum(s / mean, num.lift(1.0)), len(u))

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if above(num, u).any():
            return nothing(num)
        mean = self._mean(num, num.pos(-u) / self._w(num))
        short = above(num, s, mean * (1.0 + SPARE) if num is FLOAT else mean).any()
        return nothing(num) if short or not known(num, num.sum(mean)) else num.lift(0.0)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return num.pos(num.sum(-u * z) - num.sum(s * self._mean(num, z)))

    def slope(self, z: Array, s: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(-s * self._mean(FLOAT, z) * self._w(FLOAT) / z)
