"""Euclidean norms."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate, GroupNorm
from simopt.duality.graph.vectors import Value, divisor, vector, where


class EuclideanNorm(GroupNorm):
    """φ(z) = ‖z‖₂, (sφ)*(u) = 0 for ‖u‖₂ ≤ s.

    The remainder is (s − ‖u‖)‖z‖ + (‖u‖‖z‖ − ⟨u, z⟩), the second part written ‖u‖‖z‖ ‖z/‖z‖ − u/‖u‖‖²/2.
    """

    formula, domain_formula = "‖z‖₂", "‖u‖₂ ≤ 1"

    def _norm(self, num: Arithmetic, z: Value) -> Value:
        if self.count == 1:
            return vector(num, num.norm(z))
        if num is not FLOAT:
            return num.sqrt(num.pos(num.group_sum(z * z, self.group, self.count)))
        unit, _ = divisor(num, num.group_max(np.abs(z), self.group, self.count))  # squares may overflow or underflow
        part = z / unit[self.group]
        return unit * np.sqrt(num.group_sum(part * part, self.group, self.count))

    def value(self, num: Arithmetic, z: Value) -> Value:
        return self._norm(num, z)

    def need(self, num: Arithmetic, u: Value) -> Value:
        return self._norm(num, u)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        size, dual_norm = self._norm(num, z), self._norm(num, u)
        (long, reached), (dual_unit, some_dual) = divisor(num, size), divisor(num, dual_norm)
        apart = z / long[self.group] - u / dual_unit[self.group]
        angle = size * dual_norm * num.group_sum(apart * apart, self.group, self.count) / 2
        plain = num.pos(size * dual_norm - num.group_sum(u * z, self.group, self.count))
        return num.sum(num.pos(s - dual_norm) * size + where(num, reached & some_dual, angle, plain))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        order, sizes = np.argsort(self.group, kind="stable"), np.bincount(self.group, minlength=self.count)
        inside = np.arange(np.max(sizes)) < sizes[:, None]  # of the largest group's positions, those that a group has
        index = np.full(inside.shape, len(self.group))
        index[inside] = order
        filled = u if inside.all() else cp.hstack([u, np.zeros(1)])
        groups = cp.reshape(filled[index.reshape(-1)], inside.shape[::-1], order="F")
        return cp.Constant(0.0), [cp.SOC(s, groups, axis=0)]

    def slope(self, z: Array, s: Array) -> Array:
        norm = np.sqrt(np.bincount(self.group, weights=z * z, minlength=self.count))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(norm[self.group] > 0.0, (s / norm)[self.group] * z, 0.0)
