"""Fixed multipliers: affine in their scale and with an exact sum, so that the residual of stationarity is affine in them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simopt.arithmetic import INTERVAL, Arithmetic
from simopt.arithmetic.interval import scaled_exactly
from simopt.core.arrays import Array
from simopt.duality.atoms.base import Atom, Elementwise, Grouped
from simopt.duality.atoms.perspective import Perspective
from simopt.duality.graph.affine import Key
from simopt.duality.graph.vectors import Indices, Mask, Value, at_least_zero, where


def groups(atom: Atom, n: int) -> tuple[Indices, int]:
    """The index of the scale of each of n entries, and the number of scales."""
    if isinstance(atom, Elementwise):
        return np.arange(n), n
    if isinstance(atom, Perspective) and atom.count == atom.length:
        return np.tile(np.arange(atom.count), 2), atom.count
    return (atom.group, atom.count) if isinstance(atom, Grouped) else (np.zeros(n, dtype=np.intp), 1)


@dataclass(frozen=True, eq=False)
class FixedMultipliers:
    """u = own + unit · s on the entries of `mask`; at the entries `rest`, one of each group, total · s less the others.

    Of an atom whose domain is the range of a matrix A (`Atom.image`), own + unit · s is x, and u = Ax.

    Nothing is projected. Instead, each entry of `proven` must be proven to lie in the domain. `unit` lies in that of φ*.
    """

    own: Value
    unit: Array
    mask: Mask
    proven: Mask
    rest: Mask | None = None

    def value(self, num: Arithmetic, atom: Atom, s: Value, own: Value | None = None) -> Value:
        """u for the scale s; with 0 in place of `own` the part of u that follows s."""
        group, count = groups(atom, len(self.unit))
        following = scaled_exactly(s[group], self.unit) if num is INTERVAL else s[group] * num.lift(self.unit)
        u = (num.lift(self.own) if own is None else own) + following
        if self.rest is None:
            matrix = atom.image(num)
            return u if matrix is None else num.matvec(matrix, u)
        others = num.group_sum(where(num, self.rest, num.zeros(len(u)), u), group, count)
        return where(num, self.rest, (s * num.lift(float(atom.total or 0.0)) - others)[group], u)

    def outside(self, num: Arithmetic, atom: Atom, monotonicity: Indices, u: Value, s: Value) -> Mask:
        """Entries of `proven` that are not proven to lie in the domain, or to have the required sign."""
        inside = at_least_zero(num, atom.margin(num, u, s))
        for side in (1, -1):
            inside &= (monotonicity != side) | at_least_zero(num, u * float(side))
        return np.asarray(self.proven & ~inside)


@dataclass(frozen=True, eq=False)
class DualRepair:
    """The fixed multipliers of rows (`own` alone) and nodes, and the entries of leaves at which the residual is then 0."""

    fixed: dict[Key, FixedMultipliers] = field(default_factory=dict)
    entries: dict[Key, Mask] = field(default_factory=dict)
