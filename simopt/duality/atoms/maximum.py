"""The largest entry of each group."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import SPARE, DeclaredConjugate, Grouped
from simopt.duality.graph.vectors import (
    Indices,
    Mask,
    Value,
    above,
    at_least_zero,
    divisor,
    inner,
    known,
    nothing,
    positive_part,
    replaced,
    where,
)


class Maximum(Grouped):
    """φ_j(z) = max of the z_i of group j, (sφ)*(u) = 0 for u ≥ 0 with Σ_i u_i = s_j; the remainder is Σ_i u_i (max − z_i).

    This is the hinge max(z, 0), max(z_1, z_2), ‖·‖_∞ of a pair (z, −z), and a variable t that only has to satisfy t_j ≥ z_i.

    Parameters
    ----------
    fixed : mask, optional
        entries that are constants: the first of them takes the rest of s; in a group without one the rest is distributed in proportion.
    """

    has_kinks = True
    formula, conjugate_formula, domain_formula = "max z_i", "0", "u ≥ 0, Σ u_i = 1"
    degree_formula = "1"
    total = 1.0

    def __init__(self, group: Indices, count: int, fixed: Mask | None = None) -> None:
        super().__init__(group, count)
        chosen = np.flatnonzero(np.zeros(len(self.group), dtype=bool) if fixed is None else fixed)
        first = np.full(count, -1)
        first[self.group[chosen[::-1]]] = chosen[::-1]
        self.has_rest, self.takes = first >= 0, np.zeros(len(self.group), dtype=bool)  # groups and entries that take the rest
        self.takes[first[self.has_rest]] = True

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u

    @property
    def degree(self) -> float | None:
        return 1.0

    def value(self, num: Arithmetic, z: Value) -> Value:
        return self.largest(num, z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """[u]_+, scaled down to the sum s_j where it is more; a smaller sum is completed by a constant, or by scaling up."""
        u = where(num, self.takes, num.zeros(len(u)), positive_part(num, u))
        total = self.sums(num, u)
        left = s - total
        tight = np.flatnonzero(~(self.has_rest & at_least_zero(num, left)))
        if len(tight):
            entries, index = self._of(tight)
            own, none = s[tight], num.zeros(len(tight))
            whole, some = divisor(num, total[tight])
            parts = u[entries] * where(num, some, own / whole, none)[index]
            alike = ~some & ~self.has_rest[tight]  # all multipliers are 0: each entry takes the same
            if alike.any():
                count = np.bincount(index, minlength=len(tight)).astype(float)
                parts = where(num, alike[index], (own / num.lift(count))[index], parts)
            u = replaced(num, u, entries, parts)
            left = replaced(num, left, tight, where(num, some, none, own))
        return where(num, self.takes, self.per_entry(num, left), u)

    def _of(self, groups: Indices) -> tuple[Indices, Indices]:
        """The entries of these groups, and the index of their group in the list."""
        number = np.full(self.count, -1)
        number[groups] = np.arange(len(groups))
        index = number[self.group]
        entries = np.flatnonzero(index >= 0)
        return entries, index[entries]

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        total = self.sums(num, u)
        apart = s - total
        margin = s * (SPARE * len(u)) if num is FLOAT else 0.0
        off = above(num, -u).any() or above(num, apart, margin).any() or above(num, -apart, margin).any()
        return nothing(num) if off or not known(num, num.sum(total)) else num.lift(0.0)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return inner(num, u, positive_part(num, self.per_entry(num, self.value(num, z)) - z))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.Constant(0.0), [u >= 0, self.declared_sums(u) == s]

    def slope(self, z: Array, s: Array) -> Array:
        """s divided equally among the entries that attain the maximum."""
        reached = z == self.per_entry(FLOAT, self.value(FLOAT, z))
        return np.where(reached, self.per_entry(FLOAT, s / self.sums(FLOAT, reached.astype(float))), 0.0)

    def on_kinks(self, z: Array, width: float) -> Array:
        top = self.per_entry(FLOAT, self.value(FLOAT, z))
        return np.where(top - z <= width, top, z)
