"""p-norms for 1 < p < ∞."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Interval
from simopt.arrays import Array
from simopt.duality.atoms.base import Gauge
from simopt.duality.vectors import Indices, Value, divisor, group_max, scatter, where


class PowerNorm(Gauge):
    """φ(z) = ‖z‖_p = (Σ|z_i|^p)^{1/p}, (sφ)*(u) = 0 for ‖u‖_q ≤ s, 1/p + 1/q = 1 (Hölder).

    The remainder is (s − ‖u‖_q)‖z‖_p + (‖u‖_q‖z‖_p − ⟨u, z⟩); the second part, with a = |u|/‖u‖_q and b = |z|/‖z‖_p, is
    ‖u‖_q‖z‖_p Σ_i (a_i^q/q + b_i^p/p − a_i b_i) + Σ_i (|u_i z_i| − u_i z_i), by Young's inequality a sum of terms ≥ 0.
    """

    formula, domain_formula = "‖z‖_p", "‖u‖_q ≤ 1"

    def __init__(self, group: Indices, count: int, exponent: float) -> None:
        super().__init__(group, count)
        self.p = Fraction(exponent)
        self.q = self.p / (self.p - 1)

    def _raised(self, num: Arithmetic, x: Value, power: Fraction) -> Value:
        """x^power of x ≥ 0, also where the exponent is no float."""
        if num is not INTERVAL or Fraction(float(power)) == power:
            return num.power(x, float(power))
        positive, some = divisor(num, x)
        exponent = num.lift(float(power.numerator)) / num.lift(float(power.denominator))
        raised = num.exp(num.log(positive) * exponent)
        nearest = num.power(x, float(power))  # of a ball that holds 0 only the upper end counts
        high = num.power(x, float(np.nextafter(float(power), 0.0)))
        higher = np.maximum(np.maximum(nearest.high, high.high), num.power(x, float(np.nextafter(float(power), np.inf))).high)
        return where(num, some, raised, Interval.hull(np.zeros(len(x)), higher))

    def _norm(self, num: Arithmetic, x: Value, power: Fraction) -> Value:
        size = num.abs(x)
        unit, _ = divisor(num, group_max(num, size, self.group, self.count))
        total = scatter(num, self._raised(num, size / unit[self.group], power), self.group, self.count)
        return unit * self._raised(num, num.pos(total), 1 / power)

    def value(self, num: Arithmetic, z: Value) -> Value:
        return self._norm(num, z, self.p)

    def need(self, num: Arithmetic, u: Value) -> Value:
        return self._norm(num, u, self.q)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        size, price = self.value(num, z), self.need(num, u)
        (long, reached), (dear, priced) = divisor(num, size), divisor(num, price)
        a, b = num.abs(u) / dear[self.group], num.abs(z) / long[self.group]
        p, q = (num.lift(float(x.numerator)) / num.lift(float(x.denominator)) for x in (self.p, self.q))
        young = num.pos(self._raised(num, a, self.q) / q + self._raised(num, b, self.p) / p - a * b)
        sides = scatter(num, num.pos(num.abs(u) * num.abs(z) - u * z), self.group, self.count)
        close = size * price * scatter(num, young, self.group, self.count) + sides
        plain = num.pos(size * price - scatter(num, u * z, self.group, self.count))
        return num.sum(num.pos(s - price) * size + where(num, reached & priced, close, plain))

    def slope(self, z: Array, s: Array) -> Array:
        size = self.value(FLOAT, z)[self.group]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(size > 0.0, s[self.group] * np.sign(z) * (np.abs(z) / size) ** (float(self.p) - 1.0), 0.0)
