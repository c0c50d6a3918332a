"""log Σ e^{z_i}."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import SPARE, TAIL, DeclaredConjugate, Grouped
from simopt.duality.atoms.relative_entropy import relative_entropies
from simopt.duality.graph.vectors import Value, above, divisor, enclosing, floats, full, known, nothing, positive_part, where

LEAST = 2.0**-100  # of the scale: the least multiplier of an entry


class LogSumExp(Grouped):
    """φ(z) = log Σ e^{z_i}, (sφ)*(u) = Σ u_i log(u_i/s) for u ≥ 0 with Σ u_i = s.

    The remainder is s times the relative entropy of u/s to the probabilities e^{z_i}/Σ e^{z_j}.
    """

    formula, conjugate_formula, domain_formula = "log Σ e^{z_i}", "Σ u_i log u_i", "u ≥ 0, Σ u_i = 1"
    total = 1.0

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return u

    def _shifted(self, num: Arithmetic, z: Value) -> tuple[Value, Value, Array]:
        """e^{z − c}, their sums, and c, a float near the largest entry."""
        top = np.full(self.count, -np.inf)
        np.maximum.at(top, self.group, floats(num, z))
        weights = num.exp(z - num.lift(top)[self.group])
        return weights, num.group_sum(weights, self.group, self.count), top

    def value(self, num: Arithmetic, z: Value) -> Value:
        _, total, top = self._shifted(num, z)
        return num.log(total) + num.lift(top)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        u = num.maximum(positive_part(num, u), s[self.group] * LEAST)
        total, some = divisor(num, num.group_sum(u, self.group, self.count))
        return u * where(num, some, s / total, num.zeros(self.count))[self.group]

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """Σ u log(u/s) where u ≥ 0 sums to s in each group."""
        total = num.group_sum(u, self.group, self.count)
        margin = s * (SPARE * len(u)) if num is FLOAT else num.zeros(self.count)
        off = above(num, -u).any() or above(num, total, s + margin).any() or above(num, s, total + margin).any()
        scale, positive = divisor(num, s)
        if off or not known(num, num.sum(total)):
            return nothing(num)
        entropies = scale[self.group] * num.xlogx(u / scale[self.group])
        small = enclosing(num, num.zeros(len(u)), -s[self.group]) if num is INTERVAL else num.zeros(len(u))  # −s/e ≤ u log(u/s) ≤ 0
        return num.sum(where(num, positive[self.group], entropies, small))

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        """s KL(u/s ‖ softmax(z)), term by term as σ·((1 + h) log(1 + h) − h)."""
        weights, total, top = self._shifted(num, z)
        scale, positive = divisor(num, s)
        p = u / scale[self.group]
        chance = weights / total[self.group]
        some = above(num, chance, TAIL)
        chance = where(num, some, chance, full(num, 1.0, len(u)))
        logs = z - (num.log(total) + num.lift(top))[self.group]
        far = num.pos(num.xlogx(p) - p * logs - p + weights / total[self.group])
        lost = where(num, some, chance * num.bennett(p / chance - 1.0), far)
        return num.sum(where(num, positive[self.group], s[self.group] * lost, num.zeros(len(u))))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        entropies, domain = relative_entropies(u, s[self.group], f"entropy of {u.name()}")
        return cp.sum(entropies), [*domain, self.declared_sums(u) == s]

    def slope(self, z: Array, s: Array) -> Array:
        weights, total, _ = self._shifted(FLOAT, z)
        probability: Array = (s / total)[self.group] * weights
        return probability
