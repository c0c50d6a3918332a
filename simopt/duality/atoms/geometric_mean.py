"""−Π z_i^{w_i}, the negative of a weighted geometric mean."""

from __future__ import annotations

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, RATIONAL, Arithmetic, NotRational
from simopt.core.arrays import Array
from simopt.duality.atoms.concave_homogeneous import ConcaveHomogeneous
from simopt.duality.graph.vectors import Value, above, enclosing, exactly, full, is_zero, vector

MOST = 64  # the largest common denominator of the weights for which fractions are tried
LIFTED = 2.0**-1000  # replaces an interval entry that may be 0; the mean grows with each entry


class NegativeGeometricMean(ConcaveHomogeneous):
    """φ(z) = −Π z_i^{w_i} for z ≥ 0, w > 0, Σ w_i = 1; (sφ)*(u) = 0 for u ≤ 0 with Π (−u_i/w_i)^{w_i} ≥ s.

    By the inequality of the arithmetic and the geometric mean, Σ −u_i z_i = Σ w_i (−u_i z_i/w_i) ≥ Π (−u_i/w_i)^{w_i} Π z_i^{w_i}.
    """

    formula, domain_formula = "−Π z_i^{w_i}, z ≥ 0", "u ≤ 0, Π (−u_i/w_i)^{w_i} ≥ 1"

    def __init__(self, weights: tuple[Fraction, ...]) -> None:
        self.weights = tuple(Fraction(w) for w in weights)
        if min(self.weights) <= 0 or sum(self.weights) != 1:
            raise ValueError("weights must be positive and have the sum 1")

    def mean(self, num: Arithmetic, x: Value) -> Value:
        if num is RATIONAL:
            return self._root(num, x)
        if is_zero(num, x).any():
            return num.zeros(1)
        some = above(num, x)
        mean = vector(num, num.exp(num.dot(exactly(num, self.weights), num.log(num.maximum(x, full(num, LIFTED, len(x)))))))
        return mean if some.all() else num.zeros(1) if num is FLOAT else enclosing(num, num.zeros(1), mean)

    def _root(self, num: Arithmetic, x: Value) -> Value:
        common = math.lcm(*(w.denominator for w in self.weights))
        if common > MOST:
            raise NotRational(f"a mean with weights of the common denominator {common} is the root of a power too high; use INTERVAL")
        product = vector(num, num.lift(1.0))
        for entry, w in zip(x, self.weights, strict=True):
            product = product * num.power(entry, float(w * common))
        return product if common == 1 else num.power(product, 1.0 / common)

    def polar(self, num: Arithmetic, w: Value) -> Value:
        return self.mean(num, w / exactly(num, self.weights))

    def declared_polar(self, w: cp.Expression) -> cp.Expression:
        return cp.geo_mean(cp.multiply(w, 1.0 / exactly(FLOAT, self.weights)), list(self.weights), approx=False)

    def slope(self, z: Array, s: Array) -> Array:
        with np.errstate(all="ignore"):
            return self._slope(s, self.mean(FLOAT, z) * exactly(FLOAT, self.weights) / z)
