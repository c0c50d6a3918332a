"""A feasible point of a polyhedron near a given one: floats, and intervals that are proven to contain a step from them to one.

*Tight* rows are those that hold with equality: all equalities, and inequalities that cannot be kept otherwise. Floats are moved onto them by
least steps in units of their distances from their bounds. An inequality that is near counts as an equality with a slack, whose distance
from 0 is the unit of its step; one that rounding may violate gets a little slack. Then, r = −b − A x being what is left of the tight rows, a
step s with A s = r is bounded in one of two ways:

1. With M = A diag(m), m ≤ the distances from the bounds, and σ ≤ the least singular value of Mᵀ, there is one with |s_j| ≤ m_j ‖r‖₂/σ, and
   for every step s̃ of floats one with |s_j − s̃_j| ≤ m_j ‖r − As̃‖₂/σ. σ is proven by one factorisation of MMᵀ.
2. Where rows are dependent, or nearly, as many entries as there are independent rows, the pivots, are solved for. The other rows follow.

All other rows have to hold for all numbers in the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import INTERVAL, Interval
from simopt.arithmetic.interval import EPS, TINY
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.linear import exponents_of, rescaled, solve
from simopt.arithmetic.residual import residual
from simopt.arithmetic.singular_value import least_of_rows, norms
from simopt.core.arrays import Array
from simopt.duality.evaluation.equalities import independent, reach
from simopt.duality.evaluation.least_step import least_step
from simopt.duality.graph.vectors import Indices, Mask
from simopt.duality.quadratic.following_rows import following_rows
from simopt.duality.vertices.linear_programme import LinearProgramme

ROUNDS = 3  # of inequalities that become tight
STEPS = 6  # in floats
INTO = 8.0  # times the rounding of a row: the least slack that a step leaves
FAINT = 1e-100  # units and entries whose products with others may underflow
NEAR = 1e-4  # of the sizes in a row: a larger slack needs no unit


@dataclass(frozen=True, eq=False)
class FeasiblePoint:
    """x + s is feasible for one s in the intervals `step`, and A s = −b − A x in the rows `tight`."""

    x: Array
    step: Interval
    tight: Indices


def feasible_point(linear: LinearProgramme, near: Array, y: Array, d: Array) -> FeasiblePoint | None:
    """The point; None where none is proven.

    If it is not proven near the given one as that is, entries and rows are put to an end that are nearer to it than their multipliers d and
    y are to 0, in units of the largest. Where many are, all tight rows may hold for numbers that are exact only.
    """
    if not np.all(linear.low <= linear.high):
        return None
    found = _feasible(linear, np.clip(near, linear.low, linear.high), linear.equality)
    if found is not None:
        return found
    x, slack = np.clip(near, linear.low, linear.high), -(linear.matrix.mid @ near + linear.constants.mid)
    active = linear.equality | (slack < _in_units(y, slack))
    size = _in_units(d, x)
    x = np.where(x - linear.low < size, linear.low, np.where(linear.high - x < -size, linear.high, x))
    return _feasible(linear, x, active)


def _in_units(multipliers: Array, of: Array) -> Array:
    """Multipliers times the ratio of the largest entries."""
    largest = float(np.max(np.abs(multipliers), initial=0.0))
    found: Array = multipliers * (float(np.max(np.abs(of), initial=0.0)) / largest if largest > 0.0 else 0.0)
    return found


def _feasible(linear: LinearProgramme, x: Array, tight: Mask) -> FeasiblePoint | None:
    for _ in range(ROUNDS):
        x = _moved(linear, x, tight)
        rows = np.flatnonzero(tight)
        step = _step(linear, x, rows)
        if step is None:
            return None
        above = ~tight & ~((linear.matrix.matvec(Interval(x) + step) + linear.constants).high <= 0.0)
        if not above.any():
            return FeasiblePoint(x, step, rows)
        tight = tight | above
    return None


def _margin(linear: LinearProgramme, x: Array) -> Array:
    """The distances from the bounds, at most a multiple of the size."""
    found: Array = np.minimum(np.minimum(x - linear.low, linear.high - x), reach(x))
    return found


def left_of(linear: LinearProgramme, rows: Indices, x: Array) -> Interval:
    """−b − A x."""
    return residual(linear.matrix[rows], -_column(linear.constants[rows]), x[:, None])[:, 0]


def _column(x: Interval) -> Interval:
    return Interval(x.mid[:, None], x.rad[:, None])


def _moved(linear: LinearProgramme, x: Array, tight: Mask) -> Array:
    """The point moved onto the tight rows, and to a little slack in others, in floats, as long as it is farther off than rounding."""
    every, matrix = np.arange(len(tight)), linear.matrix.mid
    for _ in range(STEPS if len(tight) else 0):
        left, size = left_of(linear, every, x), np.asarray(abs(matrix) @ np.abs(x)) + np.abs(linear.constants.mid)
        rounding = size * EPS + left.rad
        lacking = np.where(tight, np.abs(left.mid) > rounding, left.mid < INTO / 2.0 * rounding)
        if not lacking.any():
            break
        slack = np.where(tight, 0.0, np.maximum(left.mid, INTO * rounding))
        rows = np.flatnonzero(tight | lacking | (slack < NEAR * size))
        both = sp.hstack([matrix[rows], sp.eye_array(len(rows))], format="csr")
        units = np.concatenate([_margin(linear, x), slack[rows]])
        step = least_step(both, np.where(units > FAINT, units, 0.0), (left.mid - slack)[rows], rounding[rows], roughly=True)
        x = np.clip(x + step[: len(x)], linear.low, linear.high)
    return x


def _step(linear: LinearProgramme, x: Array, rows: Indices) -> Interval | None:
    """s, 0 where nothing is left of these rows; None where none is proven to stay within the bounds."""
    left = left_of(linear, rows, x)
    if not np.any(left.mid) and not np.any(left.rad):
        return Interval(np.zeros(len(x)))
    found = _by_norm(linear.matrix[rows], left, _margin(linear, x))
    return _by_pivots(linear, x, rows, left) if found is None else found


def _by_norm(matrix: IntervalMatrix, left: Interval, margin: Array) -> Interval | None:
    """The first way, m powers of two and the rows scaled by such, so that M is exact; None where no σ is proven, or ‖r‖₂ ≥ σ."""
    if not matrix.exact:
        return None
    m = np.where(margin > FAINT, np.ldexp(0.5, np.frexp(margin)[1]), 0.0)
    scaled = sp.csr_array(matrix.mid @ sp.diags_array(m))
    exponents, _ = exponents_of(scaled)
    if np.any((np.abs(matrix.mid.data) < FAINT) & (matrix.mid.data != 0.0)):
        return None  # something may underflow
    scaled = rescaled(scaled, exponents, np.zeros(scaled.shape[1], dtype=int))
    least, factors = least_of_rows(scaled)
    if not least > 0.0:
        return None
    step = m * (scaled.T @ factors.solve(np.ldexp(left.mid, -exponents)))
    further = residual(matrix, _column(left), step[:, None])[:, 0]
    size = np.ldexp((np.abs(further.mid) + further.rad) * (1.0 + 4 * EPS), -exponents) + TINY
    bound = float(norms(size[:, None])[0]) / least * (1.0 + 4 * EPS)
    found = Interval(step, m * bound * (1.0 + 4 * EPS) + TINY * (m > 0.0))
    return found if np.all(np.abs(found.mid) + found.rad <= margin * (1.0 - 4 * EPS)) else None


def _by_pivots(linear: LinearProgramme, x: Array, rows: Indices, left: Interval) -> Interval | None:
    """The second way."""
    matrix = linear.matrix[rows]
    chosen, pivots = independent(matrix.mid, _margin(linear, x))
    others = np.setdiff1d(np.arange(len(rows)), chosen)
    if len(others):
        values = following_rows(matrix, linear.constants[rows], chosen, pivots, others, x)
        if values is None or np.any(values.mid) or np.any(values.rad):
            return None
    step = solve(INTERVAL, matrix[chosen].columns(pivots), left[chosen])
    if step is None:
        return None
    moved = Interval(x[pivots]) + step
    if np.any(moved.low < linear.low[pivots]) or np.any(moved.high > linear.high[pivots]):
        return None
    mid, rad = np.zeros(len(x)), np.zeros(len(x))
    mid[pivots], rad[pivots] = step.mid, step.rad
    return Interval(mid, rad)
