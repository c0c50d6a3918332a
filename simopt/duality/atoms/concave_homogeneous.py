"""−μ(z) for a concave function μ ≥ 0 of z ≥ 0 that is homogeneous of degree 1: the base of geometric means and of p-norms with p < 1."""

from __future__ import annotations

from abc import abstractmethod

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import SPARE, Atom, DeclaredConjugate
from simopt.duality.graph.vectors import Mask, Value, above, at_least_zero, broadcast, divisor, full, is_zero, known, nothing, vector

LEAST = 2.0**-60  # of the scale: the multiplier that replaces one outside of the domain


class ConcaveHomogeneous(Atom):
    """φ(z) = −μ(z) for z ≥ 0; (sφ)*(u) = 0 for u ≤ 0 with μ°(−u) ≥ s, where μ°(w) is the largest c with ⟨w, z⟩ ≥ c μ(z) for all z ≥ 0.

    The remainder is Σ −u_i z_i − s μ(z).
    """

    conjugate_formula = "0"
    degree_formula = "1"

    @property
    def degree(self) -> float | None:
        return 1.0

    @abstractmethod
    def mean(self, num: Arithmetic, x: Value) -> Value:
        """μ(x) of x ≥ 0, a vector of one entry."""

    @abstractmethod
    def polar(self, num: Arithmetic, w: Value) -> Value:
        """μ°(w) of w ≥ 0, a vector of one entry."""

    @abstractmethod
    def declared_polar(self, w: cp.Expression) -> cp.Expression:
        """μ°(w), a concave expression."""

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        return cp.Constant(0.0), [u <= 0, self.declared_polar(-u) >= s]

    def value(self, num: Arithmetic, z: Value) -> Value:
        return -self.mean(num, z)

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        return nonnegative | at_least_zero(num, z)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """u made negative and, where it is too small, longer: all of it or, if it would more than double, its small entries.

        With w ≥ t in every entry μ°(w) ≥ t μ°(1, …, 1), so that t = s/μ°(1, …, 1) is enough. A scale that may be 0 counts as its upper end,
        since the domain shrinks with s. Where μ°(w) is not proven to be positive, no number is known to be a multiplier.
        """
        if is_zero(num, s).all():
            return -num.pos(-u)
        if num is INTERVAL and not above(num, s).all():
            s = num.lift(s.high)
        w = num.maximum(-u, broadcast(num, s, len(u)) * LEAST)
        polar = self.polar(num, w)
        if above(num, s, polar + polar).all():
            w = num.maximum(w, broadcast(num, s / self.polar(num, full(num, 1.0, len(u))), len(u)))
            polar = self.polar(num, w)
        polar, some = divisor(num, polar)
        if not some.all():
            return -w + broadcast(num, vector(num, nothing(num)), len(u)) if num is INTERVAL else -w
        return -w * broadcast(num, num.maximum(s / polar, num.lift(1.0)), len(u))

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """All entries together may shrink by the factor s/μ°(−u), which is 0 for s = 0."""
        if is_zero(num, s).all():
            return -u
        polar, some = divisor(num, self.polar(num, num.pos(-u)))
        if not some.all():
            return full(num, -1.0, len(u))
        return -u * broadcast(num, 1.0 - s / polar, len(u))

    def inward(self, u: Array, by: float) -> Array:
        return u * (1.0 + by)

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if above(num, u).any():
            return nothing(num)
        polar = self.polar(num, num.pos(-u))
        short = above(num, s, polar * (1.0 + SPARE) if num is FLOAT else polar).any()
        return nothing(num) if short or not known(num, num.sum(polar)) else num.lift(0.0)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return num.pos(num.sum(-u * z) - num.sum(s * self.mean(num, z)))

    def _slope(self, s: Array, gradient: Array) -> Array:
        """−sμ'(z), 0 where it is not finite."""
        return np.where(np.isfinite(gradient), -s * gradient, 0.0)
