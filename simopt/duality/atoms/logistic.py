"""log(1 + e^z)."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import DeclaredConjugate, Elementwise
from simopt.duality.atoms.relative_entropy import relative_entropies
from simopt.duality.graph.vectors import Mask, Value, above, divisor, full, is_zero, positive_part, where

FAR = 30.0  # beyond, the terms of the difference itself do not cancel


class LogisticAtom(Elementwise):
    """φ(z) = log(1 + e^z), (sφ)*(u) = s(p log p + (1 − p) log(1 − p)) with p = u/s in [0, 1].

    The remainder is s times the relative entropy of (p, 1 − p) to (σ, 1 − σ), σ = 1/(1 + e^{−z}).
    """

    formula, conjugate_formula, domain_formula = "log(1 + e^z)", "u log u + (1 − u) log(1 − u)", "0 ≤ u ≤ 1"

    def value(self, num: Arithmetic, z: Value) -> Value:
        return num.pos(z) + num.log1p(num.exp(-num.abs(z)))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(positive_part(num, u), s)

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.minimum(u, s - u)

    def outside(self, num: Arithmetic, u: Value, s: Value) -> Mask:
        blind = ~divisor(num, s)[1] & ~is_zero(num, s)
        return np.asarray(above(num, -u) | above(num, u, s) | (blind & ~is_zero(num, u)))

    def conjugates(self, num: Arithmetic, u: Value, s: Value) -> Value:
        p = num.clip(u / divisor(num, s)[0], 0.0, 1.0)
        return s * (num.xlogx(p) + num.xlogx(num.pos(1.0 - p)))

    def remainders(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        """s KL(u/s ‖ σ(z)) of two outcomes; for large |z|, where one has almost no probability, by log(1 + e^{−|z|})."""
        p = num.clip(u / divisor(num, s)[0], 0.0, 1.0)
        near = above(num, full(num, FAR, len(z)), num.abs(z))
        x = where(num, near, z, num.zeros(len(z)))
        up, down = num.exp(x) + 1.0, num.exp(-x) + 1.0  # 1/(1 − σ) and 1/σ, neither by subtraction
        apart = p - 1.0 / down
        close = num.bennett(apart * down) / down + num.bennett(-apart * up) / up
        rest = num.pos(1.0 - p)
        tail = num.log1p(num.exp(-num.abs(z))) + num.xlogx(p) + num.xlogx(rest)
        return s * where(num, near, close, num.pos(rest * num.pos(z) + p * num.pos(-z) + tail))

    def declared_conjugates(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        entropy, domain = relative_entropies(u, s, f"entropy of {u.name()}")
        rest, other = relative_entropies(s - u, s, f"other entropy of {u.name()}")
        return entropy + rest, domain + other

    def slope(self, z: Array, s: Array) -> Array:
        with np.errstate(over="ignore"):
            return s / (1.0 + np.exp(-z))
