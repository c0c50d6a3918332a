"""The sum of the largest eigenvalues."""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Interval
from simopt.arithmetic.eigenvalues import eigenvalues, least_bound
from simopt.core.arrays import Array
from simopt.duality.atoms.base import SPARE, DeclaredConjugate
from simopt.duality.atoms.symmetric_matrix import INSIDE, SymmetricMatrixAtom, decomposed
from simopt.duality.graph.vectors import Value, above, is_zero, nothing, vector


class SumLargestEigenvalues(SymmetricMatrixAtom):
    """φ(Z) = λ₁ + … + λ_k, for a k that is not whole also (k − ⌊k⌋)λ_{⌊k⌋+1}; (sφ)* = 0 for 0 ⪯ U ⪯ sI with tr U = ks.

    Parameters
    ----------
    n : int
    k : float
        0 < k ≤ n; λ_max for k = 1.

    Source: S. Boyd and L. Vandenberghe, Convex Optimization (2004), exercise 3.26.
    """

    formula, conjugate_formula, domain_formula = "λ₁ + … + λ_k", "0", "0 ⪯ U ⪯ I, tr U = k"
    degree_formula = "1"
    trace = True

    def __init__(self, n: int, k: float = 1.0) -> None:
        super().__init__(n)
        self.k = self.total = float(k)

    @property
    def degree(self) -> float | None:
        return 1.0

    def value(self, num: Arithmetic, z: Value) -> Value:
        falling = eigenvalues(num, self.matrix(num, z))[::-1]
        whole = int(np.floor(self.k))
        largest = num.sum(falling[:whole]) if whole else num.lift(0.0)
        return vector(num, largest + falling[whole] * (self.k - whole) if whole < self.k else largest)

    def distance(self, num: Arithmetic, u: Value, s: Value) -> float:
        matrix = self.dual_matrix(num, u)
        low = least_bound(num, matrix)
        return low if self.k == 1.0 else min(low, least_bound(num, num.lift(np.eye(self.n)) * s[0] - matrix))

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """U/s with eigenvalues in [0, 1], a little inside, and the trace k: those of a matrix of floats, times s."""
        if is_zero(num, s).all():
            return num.zeros(self.length)
        scale = float(num.mid(s)[0]) or 1.0
        unit = np.asarray(num.mid(self.dual_matrix(num, u)), dtype=float) / scale
        values, vectors = decomposed(unit)
        if not np.isfinite(values).all():
            values, vectors = decomposed(np.eye(self.n))
        edge = 4 * self.n * INSIDE
        values = _moved_to(values, edge, 1.0 - edge if self.k > 1.0 else np.inf, self.k)
        flat = self.coordinates((vectors * values) @ vectors.T)
        return num.lift(flat) * (s[0] * self.k / _sum(num, flat))

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if not self.distance(num, u, s) >= 0.0:
            return nothing(num)
        trace, whole = vector(num, num.sum(u)), s * num.lift(self.k)
        margin = whole * (SPARE * len(u)) if num is FLOAT else num.zeros(1)
        off = above(num, trace, whole + margin).any() or above(num, whole, trace + margin).any()
        return nothing(num) if off else num.lift(0.0)

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        matrix = self.declared_dual(u)
        above = [] if self.k == 1.0 else [s[0] * np.eye(self.n) - matrix >> 0]
        return cp.Constant(0.0), [matrix >> 0, *above, cp.sum(u) == self.k * s[0]]

    def slope(self, z: Array, s: Array) -> Array:
        vectors = decomposed(self.matrix(FLOAT, z))[1]
        weights = np.clip(self.k - np.arange(self.n), 0.0, 1.0)[::-1]
        return self.coordinates(s[0] * (vectors * weights) @ vectors.T)

    def drawn(self, e: Any, z: Any, by: float) -> Any:
        """(1 − δ)φ + δ(k/n) tr."""
        return (1.0 - by) * e + by * self.k / self.n * cp.trace(z)


def _sum(num: Arithmetic, x: Array) -> Value:
    """Σx of floats; in intervals that of the sum that is rounded once, as an interval as wide as n roundings leads out of the domain."""
    if num is not INTERVAL or not np.isfinite(x).all():
        return num.sum(num.lift(x))
    total = math.fsum(x)
    return Interval.hull(np.array(math.nextafter(total, -math.inf)), np.array(math.nextafter(total, math.inf)))


def _moved_to(values: Array, low: float, high: float, total: float) -> Array:
    """Values moved by one number and clipped, so that their sum is the total; the number is found by bisection."""
    least, most = total / len(values) - float(np.max(values)) - 1.0 - abs(low), total - float(np.min(values)) + 1.0
    for _ in range(200):
        middle = (least + most) / 2
        least, most = (middle, most) if np.clip(values + middle, low, high).sum() < total else (least, middle)
    return np.clip(values + most, low, high)
