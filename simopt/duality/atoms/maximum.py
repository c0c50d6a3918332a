"""The largest entry of each group."""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arrays import Array
from simopt.duality.atoms.base import SPARE, Grouped
from simopt.duality.vectors import (
    Indices,
    Mask,
    Value,
    above,
    at_least_zero,
    divisor,
    known,
    nothing,
    positive_part,
    where,
)


class Maximum(Grouped):
    """φ_j(z) = max of the z_i of group j, (sφ)*(u) = 0 for u ≥ 0 with Σ_i u_i = s_j; the remainder is Σ_i u_i (max − z_i).

    This is the hinge max(z, 0), max(z_1, z_2), ‖·‖_∞ of a pair (z, −z), and a variable t that only has to satisfy t_j ≥ z_i.

    Parameters
    ----------
    fixed : mask, optional
        entries that are constants: what the others leave of s goes to the first of them, and else is shared out in proportion.
    """

    formula, conjugate_formula, domain_formula = "max z_i", "0", "u ≥ 0, Σ u_i = 1"

    def __init__(self, group: Indices, count: int, fixed: Mask | None = None) -> None:
        super().__init__(group, count)
        chosen = np.flatnonzero(np.zeros(len(self.group), dtype=bool) if fixed is None else fixed)
        rest, first = np.unique(self.group[chosen], return_index=True)
        self.rest = np.full(count, -1, dtype=np.intp)  # the entry of each group that takes what is left
        self.rest[rest] = chosen[first]

    @property
    def degree(self) -> float | None:
        return 1.0

    def value(self, num: Arithmetic, z: Value) -> Value:
        return num.group_max(z, self.group, self.count)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """[u]_+, scaled down to the sum s_j where it is more; what is missing goes to a constant, or all are scaled up."""
        n, spare = len(u), self.rest[self.rest >= 0]
        takes = np.zeros(n, dtype=bool)
        takes[spare] = True
        u = positive_part(num, u)
        u = where(num, takes, num.zeros(n), u)
        total = num.group_sum(u, self.group, self.count)
        has_rest = self.rest >= 0
        left = s - total
        room = has_rest & at_least_zero(num, left)
        whole, some = divisor(num, total)
        share = s / whole
        alike = ~room & ~some & ~has_rest  # nobody was given a price: all take the same
        count = np.bincount(self.group, minlength=self.count).astype(float)
        scaled = where(num, room[self.group], u, u * where(num, some, share, num.zeros(self.count))[self.group])
        scaled = where(num, alike[self.group], (s / num.lift(count))[self.group], scaled)
        rest = where(num, room, left, where(num, some, num.zeros(self.count), s))
        return where(num, takes, rest[self.group], scaled)

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        total = num.group_sum(u, self.group, self.count)
        room = s * (SPARE * len(u)) if num is FLOAT else num.zeros(self.count)
        off = above(num, -u).any() or above(num, total, s + room).any() or above(num, s, total + room).any()
        return nothing(num) if off or not known(num, num.sum(total)) else num.lift(0.0)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return num.sum(u * num.pos(self.value(num, z)[self.group] - z))

    def slope(self, z: Array, s: Array) -> Array:
        """Shared alike by all entries that reach the maximum."""
        reached = z == self.value(FLOAT, z)[self.group]
        return np.where(reached, (s / np.bincount(self.group, weights=reached, minlength=self.count))[self.group], 0.0)
