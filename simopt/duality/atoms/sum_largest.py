"""The sum of the k largest entries."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import SPARE, Atom, DeclaredConjugate
from simopt.duality.graph.vectors import Value, above, broadcast, divisor, enclosing, floats, known, nothing, positive_part, vector


class SumLargest(Atom):
    """φ(z) = min_τ kτ + Σ_i [z_i − τ]_+, which for whole k is the sum of the k largest; (sφ)*(u) = 0 for 0 ≤ u ≤ s with Σ u_i = ks.

    The remainder is Σ_i (s − u_i)[z_i − τ]_+ + u_i [τ − z_i]_+ at the best τ, the ⌈k⌉-th largest entry.
    """

    has_kinks = True
    formula, conjugate_formula, domain_formula = "Σ of the k largest z_i", "0", "0 ≤ u ≤ 1, Σ u_i = k"
    degree_formula = "1"

    def __init__(self, k: float) -> None:
        self.k = self.total = float(k)

    @property
    def degree(self) -> float | None:
        return 1.0

    def _level(self, num: Arithmetic, z: Value) -> Value:
        """A best τ; for intervals that of their midpoints: each τ bounds φ, and the remainder, from above."""
        order = np.argsort(-(z if num is RATIONAL else floats(num, z)), kind="stable")  # fractions that round to one float differ
        index = order[min(int(np.ceil(self.k)), len(order)) - 1]
        return num.lift(num.mid(z)[index]) if num is INTERVAL else z[index]

    def value(self, num: Arithmetic, z: Value) -> Value:
        """φ rises with each entry: of intervals its values lie between those of their lower and of their upper ends."""
        if num is INTERVAL and np.any(z.rad):
            return enclosing(num, *(self.value(num, num.lift(end)) for end in (z.low, z.high)))
        level = self._level(num, z)
        return vector(num, num.sum(num.pos(z - level)) + level * num.lift(self.k))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """Clipped to [0, s], then moved towards 0 or towards s until the sum is ks."""
        n, k = len(u), num.lift(self.k)
        u = num.minimum(positive_part(num, u), broadcast(num, s, n))
        total = vector(num, num.sum(u))
        (some, positive), (rest, margin) = divisor(num, total), divisor(num, s * n - total)
        if above(num, total, s * k).all() and positive.all():
            return u * broadcast(num, s * k / some, n)
        if margin.all():
            return u + (broadcast(num, s, n) - u) * broadcast(num, (s * k - total) / rest, n)
        return broadcast(num, s * k / n, n)

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(u, broadcast(num, s, len(u)) - u)

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        total, whole = vector(num, num.sum(u)), s * num.lift(self.k)
        margin = whole * (SPARE * len(u)) if num is FLOAT else num.zeros(1)
        edge = s * (1.0 + SPARE) if num is FLOAT else s
        off: Any = above(num, -u).any() or above(num, u, broadcast(num, edge, len(u))).any()
        off = off or above(num, total, whole + margin).any() or above(num, whole, total + margin).any()
        return nothing(num) if off or not known(num, num.sum(total)) else num.lift(0.0)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        level = self._level(num, z)
        return num.sum(num.pos(broadcast(num, s, len(u)) - u) * num.pos(z - level) + num.pos(u) * num.pos(level - z))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.Constant(0.0), [u >= 0, u <= s, cp.sum(u) == self.k * s]

    def slope(self, z: Array, s: Array) -> Array:
        order, out = np.argsort(-z, kind="stable"), np.zeros(len(z))
        whole = int(self.k)
        out[order[:whole]] = s[0]
        if whole < len(z):
            out[order[whole]] = (self.k - whole) * s[0]
        return out
