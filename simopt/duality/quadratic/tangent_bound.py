"""A lower bound of a quadratic programme from any point w and any multipliers y, y ≥ 0 at inequalities, in intervals.

With d = Qw + c + Aᵀy, q the curvature, and t = x − w, every feasible x has

    f(x) ≥ f(x) + ⟨y, Ax + b⟩ ≥ f(w) + ⟨y, Aw + b⟩ + Σ_j min (d_j t_j + ½ q_j t_j²),    low − w ≤ t ≤ high − w.

The ends may be those that rows imply. Where d_j has a sign for which x_j has no end, and q_j is not positive, d_j has to be 0: as many
multipliers as there are such entries, the pivots, are solved for. They get intervals that are proven to contain a solution.

Source: A. Neumaier and O. Shcherbina, Safe bounds in linear and mixed-integer programming, Math. Program. 99 (2004), for Q = 0.
"""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import INTERVAL, Interval
from simopt.arithmetic.linear import solve
from simopt.core.arrays import Array
from simopt.duality.evaluation.equalities import independent
from simopt.duality.graph.vectors import Indices, Mask
from simopt.duality.quadratic.following_rows import following_rows
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme

ROUNDS = 12  # of pivots, as the correction of one residual may give another one the wrong sign


def tangent_bound(quadratic: QuadraticProgramme, w: Array, multipliers: Array, ends: tuple[Array, Array]) -> float:
    """The bound, for low ≤ w ≤ high; −∞ where pivots do not suffice."""
    linear, at = quadratic.linear, Interval(w)
    y = Interval(np.where(linear.equality, multipliers, np.maximum(multipliers, 0.0)))
    gradient = quadratic.gradient(at)
    zero = np.zeros(len(w), dtype=bool)
    d = gradient + linear.matrix.T.matvec(y)
    for _ in range(ROUNDS):
        least = _least(d, quadratic.curvature, ends[0] - w, ends[1] - w)
        without = np.isinf(least)
        if not without.any():
            value = quadratic.value(at) + INTERVAL.dot(y, linear.matrix.matvec(at) + linear.constants) + INTERVAL.sum(Interval(least))
            return INTERVAL.lower(value)
        if np.all(zero[without]):
            break
        zero |= without
        corrected = _corrected(quadratic, gradient, multipliers, zero)
        if corrected is None:
            break
        y, d = corrected
    return -np.inf


def _least(d: Interval, curvature: Array, down: Array, up: Array) -> Array:
    """A lower bound of each min d t + ½ q t² over down ≤ t ≤ up, for down ≤ 0 ≤ up: at an end, or of a parabola."""
    concave, convex = np.minimum(curvature, 0.0), curvature > 0.0
    least = np.zeros(len(curvature))
    for end, falls in ((np.nextafter(down, -np.inf), d.high > 0.0), (np.nextafter(up, np.inf), d.low < 0.0)):
        known = np.isfinite(end)
        t = Interval(np.where(known, end, 0.0))
        there = (t * (d + t * (Interval(concave) * 0.5))).low
        least = np.minimum(least, np.where(known, there, np.where(falls | (concave < 0.0), -np.inf, 0.0)))
    largest = Interval(np.where(convex, np.maximum(np.abs(d.low), np.abs(d.high)), 0.0))
    bottom = -(largest * largest / Interval(np.where(convex, curvature, 1.0)) * 0.5).high
    found: Array = np.where(convex, np.maximum(least, bottom), least)
    return found


def _corrected(quadratic: QuadraticProgramme, gradient: Interval, multipliers: Array, zero: Mask) -> tuple[Interval, Interval] | None:
    """Multipliers with d = 0 at as many of these entries as are independent, and d; None where none are proven."""
    linear = quadratic.linear
    y = np.where(linear.equality, multipliers, np.maximum(multipliers, 0.0))
    size = np.abs(y) + float(np.max(np.abs(y), initial=0.0))
    entries: Indices = np.flatnonzero(zero)
    across = linear.matrix.T
    equations, pivots = independent(across.mid[entries], np.where(linear.equality, size, y))
    left = gradient[entries] + across[entries].matvec(Interval(y))
    step = solve(INTERVAL, across[entries[equations]].columns(pivots), -left[equations]) if len(pivots) else Interval(np.zeros(0))
    if step is None:
        return None
    moved = Interval(y)[pivots] + step
    if np.any((moved.low < 0.0) & ~linear.equality[pivots]):
        return None
    mid, rad = y.copy(), np.zeros(len(y))
    mid[pivots], rad[pivots] = moved.mid, moved.rad
    d = gradient + across.matvec(Interval(mid, rad))
    d.mid[entries[equations]], d.rad[entries[equations]] = 0.0, 0.0
    others = np.setdiff1d(np.arange(len(entries)), equations)
    if len(others):
        values = following_rows(across, gradient, entries[equations], pivots, entries[others], y)
        if values is None:
            return None
        d.mid[entries[others]], d.rad[entries[others]] = values.mid, values.rad
    return Interval(mid, rad), d
