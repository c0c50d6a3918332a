"""The interface of a convex function to the sweeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import Enum
from functools import reduce
from operator import add
from typing import Any, ClassVar

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.graph.symbolic import SYMBOLIC, Symbol, expression
from simopt.duality.graph.vectors import Indices, Mask, Value, above, broadcast, full, is_zero, known, nothing, where

DeclaredConjugate = tuple[cp.Expression, list[cp.Constraint]]  # a convex expression, and the constraints under which it is finite


class ConjugateDomain(Enum):
    """The domain of φ*, which decides whether a term can cancel a residual of stationarity, that is, take a prescribed multiplier."""

    OTHER = "any other set: no prescribed multiplier is certain to be in it"
    FULL = "ℝⁿ: (sφ)* is finite everywhere if s > 0"
    CONE = "a set whose form does not depend on the scale s > 0: a prescribed multiplier is one if it is proven to be in it"
    BALL = "the unit ball of a norm: (sφ)*(u) is 0 for s ≥ need(u), else ∞; any multiplier is possible if the scale may be chosen"


class Atom(ABC):
    """A closed convex function φ: ℝⁿ → ℝᵐ (m functions, a scale s ≥ 0 for each: sφ(z) = Σ_j s_j φ_j(z)).

    The conjugate (sφ)*(u) = sup_z ⟨u, z⟩ − sφ(z) is s φ*(u/s) for s > 0. For s = 0 it is the sup of ⟨u, z⟩ over the domain of φ, so that on
    a full domain it is +∞ for u ≠ 0. For all z and u (Fenchel–Young)
        sφ(z) + (sφ)*(u) − ⟨u, z⟩ ≥ 0,
    with equality where u is a subgradient of sφ at z. All methods take vectors of any arithmetic.

    Attributes
    ----------
    formula, conjugate_formula, domain_formula : str
        φ, φ* and the domain of φ*, for the table in the documentation.
    conjugate_domain : ConjugateDomain
        see there.
    total : float or None
        for an atom whose domain fixes the sum of the multipliers of a group: Σu = total · s.
    degree : float or None
        the p of φ(cz) = c^p φ(z), c > 0, for a change of units of z; `degree_formula` for the table.
    expanded : bool
        whether φ is a sum of products of entries of z that may cancel, so that rounding is relative to these products.
    has_kinks : bool
        whether the slopes at a point may be many, and all others are at an end of them.
    """

    formula: ClassVar[str]
    conjugate_formula: ClassVar[str]
    domain_formula: ClassVar[str]
    degree_formula: ClassVar[str] = "–"
    conjugate_domain: ClassVar[ConjugateDomain] = ConjugateDomain.OTHER
    total: float | None = None
    expanded: ClassVar[bool] = False
    has_kinks: ClassVar[bool] = False

    @property
    def degree(self) -> float | None:
        """The degree of homogeneity, where there is one."""
        return None

    @abstractmethod
    def value(self, num: Arithmetic, z: Value) -> Value:
        """φ(z), m entries."""

    def outputs(self, n: int) -> int:
        """m for n entries."""
        return 1

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        """Entries at which z is proven to be in the domain of φ; `nonnegative` marks those where z ≥ 0 is known otherwise."""
        return np.ones(len(z), dtype=bool)

    @abstractmethod
    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """A multiplier near u for which (sφ)* is finite; u itself if it is one."""

    @abstractmethod
    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """(sφ)*(u), a scalar; +∞ (`nothing`) where u is proven to be outside of the domain.

        An interval that reaches over the boundary of the domain stands for a number inside, as `project` made it.
        """

    @abstractmethod
    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        """sφ(z) + (sφ)*(u) − ⟨u, z⟩ for a u in the domain, a scalar, as a sum of terms ≥ 0 without large cancellation."""

    @abstractmethod
    def slope(self, z: Array, s: Array) -> Array:
        """A subgradient of sφ at z, in floats."""

    def on_kinks(self, z: Array, width: float) -> Array:
        """z, with entries that are at most `width` away from a kink put there: where it has several subgradients, `slope` is amid them."""
        return z

    @abstractmethod
    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        """(sφ)*(u) for CVXPY's expressions u and s ≥ 0, of n and of m entries; the caller constrains s ≥ 0.

        Raises
        ------
        Unreadable
            where it cannot be declared.
        """

    def doubt(self, num: Arithmetic) -> str:
        """Why φ is not proven to be convex, so that the conjugate is ∞ for every multiplier; empty where it is proven."""
        return ""

    def need(self, num: Arithmetic, u: Value) -> Value:
        """The least s for which (sφ)*(u) is finite, for an atom with `ConjugateDomain.BALL`."""
        raise NotImplementedError

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """How far u may move at each entry by itself before (sφ)*(u) is ∞, fixed sums aside; below 0 where nothing is known.

        Where it is above 0, `project` leaves u unchanged. The domain is s times that of φ*: s times the margin at (u, 1) is that at (su,
        s).
        """
        return broadcast(num, s, len(u)) if self.conjugate_domain is ConjugateDomain.FULL else full(num, -1.0, len(u))

    def image(self, num: Arithmetic) -> Any:
        """A matrix A whose range is the domain of (sφ)*: u = Ax, of a `project`ed u, too; `margin` is then that of the free x. Or None."""
        return None

    def preimage(self, u: Array) -> Array:
        """An x in floats with u near Ax; u itself where there is no A."""
        return u

    def inward(self, u: Array, by: float) -> Array:
        """u in floats, moved inside of the domain by a fraction of itself."""
        return u * (1.0 - by)


class Elementwise(Atom):
    """One function of one number for each entry: m = n."""

    def outputs(self, n: int) -> int:
        return n

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if self.outside(num, u, s).any():
            return nothing(num)
        return num.sum(self.conjugates(num, u, s))

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return num.sum(self.remainders(num, z, u, s))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        conjugates, domain = self.declared_conjugates(u, s)
        return cp.sum(conjugates), domain

    @abstractmethod
    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        """(s_i φ)*(u_i), an expression of n entries."""

    @abstractmethod
    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        """Entries at which (sφ)*(u) is certainly ∞, or at which s would have to be positive and is not known to be."""

    @abstractmethod
    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """(s_i φ)*(u_i)."""

    @abstractmethod
    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        """The terms of the remainder."""


class Grouped(Atom):
    """A function of several numbers for each group of entries: entry i belongs to group `group[i]` of 0, …, m − 1."""

    def __init__(self, group: Indices, count: int) -> None:
        self.group, self.count = np.asarray(group, dtype=np.intp), count
        layers, rest = divmod(len(self.group), max(count, 1))
        stacked = not rest and layers <= count and np.array_equal(self.group, np.tile(np.arange(count), layers))
        self.layers = layers if stacked else 0  # number of layers whose entry i belongs to group i; 0 for any other order of groups

    def sums(self, num: Arithmetic, x: Value) -> Value:
        """Σ of each group."""
        if not self.layers:
            return num.group_sum(x, self.group, self.count)
        return reduce(add, self._layers(x))

    def largest(self, num: Arithmetic, x: Value) -> Value:
        """Largest entry of each group."""
        if not self.layers:
            return num.group_max(x, self.group, self.count)
        return reduce(num.maximum, self._layers(x))

    def per_entry(self, num: Arithmetic, s: Value) -> Value:
        """The number of its group for each entry."""
        return num.concat([s] * self.layers) if self.layers else s[self.group]

    def _layers(self, x: Value) -> Iterator[Value]:
        return (x[i * self.count : (i + 1) * self.count] for i in range(self.layers))

    def outputs(self, n: int) -> int:
        return self.count

    def declared_sums(self, u: cp.Expression) -> cp.Expression:
        """Σ of each group."""
        return expression(SYMBOLIC.group_sum(Symbol(u), self.group, self.count))

    @classmethod
    def of(cls, n: int) -> Grouped:
        """All n entries are one group."""
        return cls(np.zeros(n, dtype=np.intp), 1)


class GroupNorm(Grouped):
    """A norm of each group: (s‖·‖)*(u) is 0 if the dual norm of u is at most s, else ∞. `need` is the dual norm."""

    conjugate_domain = ConjugateDomain.BALL
    has_kinks = True
    conjugate_formula = "0"
    degree_formula = "1"

    @property
    def degree(self) -> float | None:
        return 1.0

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """u s/max(s, ‖u‖_*)."""
        largest = num.maximum(self.need(num, u), s)
        zero = ~above(num, largest)
        shrink = s / where(num, zero, num.lift(np.ones(self.count)), largest)
        return where(num, (zero | is_zero(num, s))[self.group], num.zeros(len(u)), u * shrink[self.group])

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        need = self.need(num, u)
        excess = need - s * (1.0 + SPARE) if num is FLOAT else need - s
        return nothing(num) if above(num, excess).any() or not known(num, num.sum(need)) else num.lift(0.0)

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return (s - self.need(num, u))[self.group]

    def on_kinks(self, z: Array, width: float) -> Array:
        return np.where((self.value(FLOAT, z) <= width)[self.group], 0.0, z)


SPARE = (
    1e-12  # relative: a float projected onto the boundary of a domain is off by rounding; only a number farther out is certainly outside
)
TAIL = 2.0**-100  # below this value of e^z cancellation is not visible, and quotients may overflow
