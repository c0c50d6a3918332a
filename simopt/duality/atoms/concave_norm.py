"""−‖z‖_p for p < 1, p ≠ 0: on z ≥ 0 the p-norm is concave there; harmonic means are its case p = −1."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.concave_homogeneous import ConcaveHomogeneous
from simopt.duality.atoms.powers import raised
from simopt.duality.graph.vectors import Value, above, enclosing, floats, full, is_zero, vector

LIFTED = 2.0**-1000  # replaces an interval entry that may be 0; the norm grows with each entry


class NegativePowerNorm(ConcaveHomogeneous):
    """φ(z) = −(Σ z_i^p)^{1/p} for z ≥ 0; (sφ)*(u) = 0 for u ≤ 0 with ‖−u‖_q ≥ s, 1/p + 1/q = 1 (Hölder's inequality, reversed).

    For p < 0 it is 0 where an entry is 0. Of p and q one is negative, the other between 0 and 1.
    """

    formula, domain_formula = "−‖z‖_p, p < 1, z ≥ 0", "u ≤ 0, ‖u‖_q ≥ 1"

    def __init__(self, exponent: float) -> None:
        self.p = Fraction(exponent)
        self.q = self.p / (self.p - 1)

    def mean(self, num: Arithmetic, x: Value) -> Value:
        return _norm(num, x, self.p)

    def polar(self, num: Arithmetic, w: Value) -> Value:
        return _norm(num, w, self.q)

    def declared_polar(self, w: cp.Expression) -> cp.Expression:
        norm: cp.Expression = cp.pnorm(w, float(self.q), approx=False)  # type: ignore[arg-type]  # any p ≠ 0 is taken
        return norm

    def slope(self, z: Array, s: Array) -> Array:
        with np.errstate(all="ignore"):
            return self._slope(s, (self.mean(FLOAT, z) / z) ** (1.0 - float(self.p)))


def _norm(num: Arithmetic, x: Value, r: Fraction) -> Value:
    """(Σ x_i^r)^{1/r} of x ≥ 0, for r < 1."""
    zero = is_zero(num, x)
    if zero.any():
        return num.zeros(1) if r < 0 or zero.all() else _norm(num, x[~zero], r)
    some = above(num, x)
    size = floats(num, x)
    unit = float(np.min(size) if r < 0 else np.max(size))
    unit = unit if 0.0 < unit < np.inf else 1.0
    part = x / num.lift(unit)
    part = num.maximum(part, full(num, LIFTED, len(x))) if r < 0 and not some.all() else part
    norm = raised(num, vector(num, num.sum(raised(num, part, r))), 1 / r) * num.lift(unit)
    return norm if some.all() else num.zeros(1) if num is FLOAT else enclosing(num, num.zeros(1), norm)
