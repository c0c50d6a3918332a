"""p-norms for 1 < p < ∞."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate, GroupNorm
from simopt.duality.atoms.powers import raised
from simopt.duality.graph.vectors import Indices, Value, divisor, exactly, where


class PowerNorm(GroupNorm):
    """φ(z) = ‖z‖_p = (Σ|z_i|^p)^{1/p}, (sφ)*(u) = 0 for ‖u‖_q ≤ s, 1/p + 1/q = 1 (Hölder).

    The remainder is (s − ‖u‖_q)‖z‖_p + (‖u‖_q‖z‖_p − ⟨u, z⟩). The second part, with a = |u|/‖u‖_q and b = |z|/‖z‖_p, is
    ‖u‖_q‖z‖_p Σ_i (a_i^q/q + b_i^p/p − a_i b_i) + Σ_i (|u_i z_i| − u_i z_i), by Young's inequality a sum of terms ≥ 0.
    """

    formula, domain_formula = "‖z‖_p, p > 1", "‖u‖_q ≤ 1"

    def __init__(self, group: Indices, count: int, exponent: float) -> None:
        super().__init__(group, count)
        self.p = Fraction(exponent)
        self.q = self.p / (self.p - 1)

    def _norm(self, num: Arithmetic, x: Value, power: Fraction) -> Value:
        size = num.abs(x)
        unit, _ = divisor(num, num.group_max(size, self.group, self.count))
        total = num.group_sum(raised(num, size / unit[self.group], power), self.group, self.count)
        return unit * raised(num, num.pos(total), 1 / power)

    def value(self, num: Arithmetic, z: Value) -> Value:
        return self._norm(num, z, self.p)

    def need(self, num: Arithmetic, u: Value) -> Value:
        return self._norm(num, u, self.q)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        """(s − ‖u‖_q)‖z‖_p + ‖z‖_p‖u‖_q − ⟨u, z⟩, the latter by Young's inequality entry by entry."""
        size, dual_norm = self.value(num, z), self.need(num, u)
        (long, reached), (dual_unit, some_dual) = divisor(num, size), divisor(num, dual_norm)
        a, b = num.abs(u) / dual_unit[self.group], num.abs(z) / long[self.group]
        p, q = (exactly(num, [x]) for x in (self.p, self.q))
        young = num.pos(raised(num, a, self.q) / q + raised(num, b, self.p) / p - a * b)
        sides = num.group_sum(num.pos(num.abs(u) * num.abs(z) - u * z), self.group, self.count)
        close = size * dual_norm * num.group_sum(young, self.group, self.count) + sides
        plain = num.pos(size * dual_norm - num.group_sum(u * z, self.group, self.count))
        return num.sum(num.pos(s - dual_norm) * size + where(num, reached & some_dual, close, plain))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        """|u_i| ≤ t_i^{1/q} s^{1−1/q} with Σ t_i ≤ s."""
        power = cp.Variable(u.size, name=f"power of {u.name()}")
        return cp.Constant(0.0), [cp.PowCone3D(power, s[self.group], u, 1.0 / float(self.q)), self.declared_sums(power) <= s]

    def slope(self, z: Array, s: Array) -> Array:
        size = self.value(FLOAT, z)[self.group]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(size > 0.0, s[self.group] * np.sign(z) * (np.abs(z) / size) ** (float(self.p) - 1.0), 0.0)
