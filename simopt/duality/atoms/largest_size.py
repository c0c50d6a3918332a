"""The largest absolute value."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate, GroupNorm
from simopt.duality.graph.vectors import Value


class LargestSize(GroupNorm):
    """φ(z) = ‖z‖_∞, (sφ)*(u) = 0 for ‖u‖₁ ≤ s; the remainder is (s − ‖u‖₁)‖z‖_∞ + Σ_i (|u_i|‖z‖_∞ − u_i z_i)."""

    formula, domain_formula = "‖z‖_∞", "‖u‖₁ ≤ 1"

    def value(self, num: Arithmetic, z: Value) -> Value:
        return num.group_max(num.abs(z), self.group, self.count)

    def need(self, num: Arithmetic, u: Value) -> Value:
        return num.group_sum(num.abs(u), self.group, self.count)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        size = self.value(num, z)
        return num.sum(num.pos(s - self.need(num, u)) * size) + num.sum(num.pos(num.abs(u) * size[self.group] - u * z))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.Constant(0.0), [self.declared_sums(cp.abs(u)) <= s]

    def slope(self, z: Array, s: Array) -> Array:
        size = np.abs(z)
        top = np.full(self.count, -np.inf)
        np.maximum.at(top, self.group, size)
        first = np.zeros(len(z), dtype=bool)
        reached = np.flatnonzero(size == top[self.group])
        first[reached[np.unique(self.group[reached], return_index=True)[1]]] = True
        return np.where(first, s[self.group] * np.sign(z), 0.0)
