"""Linear objectives −⟨m, f⟩ over the unit ball ‖f‖_H ≤ 1: points drawn into it, what Cauchy–Schwarz leaves, and the way to the optimum.

m and f are given by their coefficients; min −⟨m, f⟩ = −‖m‖ at f = m/‖m‖. With s = ‖m‖ and t = ‖f‖ ≤ 1 the gap is
    s − ⟨m, f⟩ = s(1 − t) + (t/(2s)) ‖m − (s/t) f‖²,     and     ‖f − m/s‖² ≤ 2(1 − ⟨m, f⟩/s) = 2 gap/s.
"""

from __future__ import annotations

import math

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array
from simopt.problems.norms import power_units, squares, vectors


def length(num: Arithmetic, gram: Array, a: Value) -> Value:
    """‖Σ a_j k(·, x_j)‖; exactly 0 if K = 0 or a = 0, also where radii of intervals would say otherwise."""
    if not np.any(np.diagonal(gram)) or squares.all_zero(num, a):
        return num.lift(0.0)
    return num.sqrt(squares.squared_norm(num, gram, a))


def pairing(num: Arithmetic, gram: Array, a: Value, b: Value) -> Value:
    """⟨Σ a_j k(·, x_j), Σ b_j k(·, x_j)⟩; exactly 0 if K = 0, a = 0 or b = 0."""
    if not np.any(np.diagonal(gram)) or squares.all_zero(num, a) or squares.all_zero(num, b):
        return num.lift(0.0)
    return num.dot(a, num.matvec(gram, b))


def inside(num: Arithmetic, gram: Array, alpha: Array) -> Value:
    """α, or α drawn back until ‖f‖ ≤ 1 provably holds."""
    return vectors.inside_ball(num, alpha, 1.0, lambda arithmetic, a: length(arithmetic, gram, a))


def slack(num: Arithmetic, gram: Array, mean: Value, alpha: Value) -> Value:
    """s(1 − t) + (t/(2s)) ‖m − (s/t) f‖², both terms ≥ 0; exactly 0 if m = 0."""
    s, t = length(num, gram, mean), length(num, gram, alpha)
    if num.upper(s) == 0.0:
        return num.lift(0.0)
    return s * num.pos(num.lift(1.0) - t) + power_units.angle(num, gram, alpha, mean, t, s)


def distance(gap: float, gram: Array, mean: Array) -> float:
    """√(2 gap/‖m‖), and never more than 2, the diameter of the ball; 2 where m = 0, for then every f is optimal."""
    size = float(length(FLOAT, gram, mean))
    return min(2.0, math.sqrt(2.0 * max(gap, 0.0) / size)) if size > 0 else 2.0
