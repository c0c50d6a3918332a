"""A feasible point of a polyhedron near a given one: an interval vector that is proven to contain one.

Rows that hold with equality, the *tight* ones, are those that have to, and inequalities that the point violates. Floats are moved onto them
by least steps in units of their distances from their bounds. Then as many entries as there are independent tight rows, the pivots, get
intervals that are proven to contain a solution for the others as they are. All other rows have to hold for all numbers in the intervals.
"""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import INTERVAL, Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.linear import solve
from simopt.arithmetic.residual import residual
from simopt.core.arrays import Array
from simopt.duality.evaluation.equalities import independent, reach
from simopt.duality.evaluation.least_step import least_step
from simopt.duality.graph.vectors import Indices
from simopt.duality.quadratic.following_rows import following_rows
from simopt.duality.vertices.linear_programme import LinearProgramme

ROUNDS = 4  # of rows that join the tight ones
STEPS = 6  # in floats


def feasible_point(linear: LinearProgramme, near: Array) -> Interval | None:
    """The intervals; None where none are proven."""
    if not np.all(linear.low <= linear.high):
        return None
    x, tight = np.clip(near, linear.low, linear.high), linear.equality.copy()
    for _ in range(ROUNDS):
        rows = np.flatnonzero(tight)
        x = _corrected(linear, x, rows)
        found = _solved(linear, x, rows)
        if found is None:
            return None
        others = np.flatnonzero(~tight)
        above = (linear.matrix[others].matvec(found) + linear.constants[others]).high > 0.0
        if not above.any():
            return found
        tight[others[above]] = True
    return None


def _margin(linear: LinearProgramme, x: Array) -> Array:
    """The distances from the bounds, at most a multiple of the size."""
    found: Array = np.minimum(np.minimum(x - linear.low, linear.high - x), reach(x))
    return found


def _left(matrix: IntervalMatrix, constants: Interval, x: Array) -> Interval:
    """−b − A x."""
    found = residual(matrix, -Interval(constants.mid[:, None], constants.rad[:, None]), x[:, None])
    return found[:, 0]


def _corrected(linear: LinearProgramme, x: Array, rows: Indices) -> Array:
    """The point moved towards the rows, in floats, as long as they are farther off than rounding."""
    matrix, constants = linear.matrix[rows], linear.constants[rows]
    for _ in range(STEPS if len(rows) else 0):
        left = _left(matrix, constants, x)
        rounding = np.asarray(abs(matrix.mid) @ np.abs(x)) * np.finfo(float).eps + left.rad
        if np.all(np.abs(left.mid) <= rounding):
            break
        x = np.clip(x + least_step(matrix.mid, _margin(linear, x), left.mid, rounding), linear.low, linear.high)
    return x


def _solved(linear: LinearProgramme, x: Array, rows: Indices) -> Interval | None:
    """The floats with intervals at pivots, in which these rows hold; None where that is not proven."""
    matrix, constants, margin = linear.matrix[rows], linear.constants[rows], _margin(linear, x)
    left = _left(matrix, constants, x)
    if not np.any(left.mid) and not np.any(left.rad):
        return Interval(x)
    chosen, pivots = independent(matrix.mid, margin)
    others = np.setdiff1d(np.arange(len(rows)), chosen)
    if len(others):
        values = following_rows(matrix, constants, chosen, pivots, others, x)
        if values is None or np.any((values.high > 0.0) | (linear.equality[rows[others]] & ((values.mid != 0.0) | (values.rad != 0.0)))):
            return None
    step = solve(INTERVAL, matrix[chosen].columns(pivots), left[chosen])
    if step is None:
        return None
    moved = Interval(x[pivots]) + step
    if np.any(moved.low < linear.low[pivots]) or np.any(moved.high > linear.high[pivots]):
        return None
    mid, rad = x.copy(), np.zeros(len(x))
    mid[pivots], rad[pivots] = moved.mid, moved.rad
    return Interval(mid, rad)
