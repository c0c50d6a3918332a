"""A feasible point of a polyhedron near a given one: floats, and intervals that are proven to contain a step from them to one.

*Tight* rows are those that hold with equality: all equalities, and inequalities that cannot be kept otherwise. Floats are moved onto them
by least steps in units of their distances from their bounds. An inequality that is near counts as an equality with a slack, whose
distance from 0 is the unit of its step; one that rounding may violate gets a little slack. Then, r = −b − A x being what is left of these
rows, slacks included, a step s with A s = r is bounded in one of two ways:

1. With M = A diag(m), m ≤ the distances from the bounds, and σ ≤ the least singular value of Mᵀ, there is one with |s_j| ≤ m_j ‖r‖₂/σ, and
   for every step s̃ of floats one with |s_j − s̃_j| ≤ m_j ‖r − As̃‖₂/σ. σ is proven by one factorisation of MMᵀ.
2. Where rows are dependent, or nearly, as many entries as there are independent rows, the pivots, are solved for. The other rows follow.

All other rows have to hold for all numbers in the intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import INTERVAL, Interval
from simopt.arithmetic.interval import EPS, TINY
from simopt.arithmetic.interval_matrix import IntervalMatrix, side_by_side
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
INSIDE = 1e-10  # of the size of an entry: how far it is drawn inside
FAINT = 1e-100  # units and entries whose products with others may underflow
NEAR = 1e-4  # of the sizes in a row: a larger slack needs no unit


@dataclass(frozen=True, eq=False)
class FeasiblePoint:
    """x + s is feasible for one s in the intervals `step`, and A s = −b − A x in the rows `tight`."""

    x: Array
    step: Interval
    tight: Indices


def feasible_points(linear: LinearProgramme, near: Array, y: Array, d: Array) -> Iterator[FeasiblePoint]:
    """Points near the given one as it is, and with entries and rows at an end that are nearer to it than their multipliers d and y to 0.

    Both in units of the largest. Where many are at an end, all tight rows may hold for numbers that are exact only. At last entries are
    drawn inside of their bounds first.
    """
    if not np.all(linear.low <= linear.high):
        return
    x, slack = np.clip(near, linear.low, linear.high), -(linear.matrix.mid @ near + linear.constants.mid)
    inside = INSIDE * np.minimum(reach(x), (linear.high - linear.low) / 2.0)
    active, size = linear.equality | (slack < _in_units(y, slack)), _in_units(d, x)
    starts = (
        (x, linear.equality),
        (np.where(x - linear.low < size, linear.low, np.where(linear.high - x < -size, linear.high, x)), active),
        (np.clip(x, linear.low + inside, linear.high - inside), linear.equality),
    )
    found = (_feasible(linear, start, tight) for start, tight in starts)
    yield from (each for each in found if each is not None)


def _in_units(multipliers: Array, of: Array) -> Array:
    """Multipliers times the ratio of the largest entries."""
    largest = float(np.max(np.abs(multipliers), initial=0.0))
    found: Array = multipliers * (float(np.max(np.abs(of), initial=0.0)) / largest if largest > 0.0 else 0.0)
    return found


def _feasible(linear: LinearProgramme, x: Array, tight: Mask) -> FeasiblePoint | None:
    for _ in range(ROUNDS):
        x, near = _moved(linear, x, tight)
        if not (np.isfinite(x).all() and np.isfinite(near.slack).all()):  # sums overflow
            return None
        above = None
        for step, held in _steps(linear, x, near):
            above = ~tight & ~((linear.matrix.matvec(Interval(x) + step) + linear.constants).high <= 0.0)
            above[held] = False
            if not above.any():
                return FeasiblePoint(x, step, np.flatnonzero(tight))
        if above is None:
            return None
        tight = tight | above
    return None


@dataclass(frozen=True, eq=False)
class _Near:
    """Tight rows and near ones as equalities A x + s + b = 0: with slacks s, 0 in tight rows, what is left, −b − A x − s, and its rounding.

    `lacks` says where a tight row is farther off than rounding, and a slack smaller.
    """

    rows: Indices
    matrix: IntervalMatrix
    slack: Array
    margin: Array
    left: Interval
    rounding: Array
    lacks: bool

    def tight(self) -> _Near:
        """The tight rows alone."""
        some = np.flatnonzero(self.slack == 0.0)
        entries = len(self.margin) - len(self.rows)
        columns = np.concatenate([np.arange(entries), entries + some])
        return replace(
            self,
            rows=self.rows[some],
            matrix=self.matrix[some].columns(columns),
            slack=self.slack[some],
            margin=self.margin[columns],
            left=self.left[some],
            rounding=self.rounding[some],
        )


def _near(linear: LinearProgramme, x: Array, tight: Mask) -> _Near:
    left = residual(linear.matrix, -_column(linear.constants), x[:, None])[:, 0]
    enclosed = linear.matrix.matvec(Interval(x)) + linear.constants
    size = np.asarray(abs(linear.matrix.mid) @ np.abs(x)) + np.abs(linear.constants.mid)
    rounding = np.where(tight, size * EPS, enclosed.rad) + left.rad
    lacking = np.where(tight, np.abs(left.mid) > rounding, left.mid < INTO / 2.0 * rounding)
    slack = np.where(tight, 0.0, np.maximum(left.mid, INTO * rounding))
    rows = np.flatnonzero(tight | lacking | (slack < NEAR * size))
    units = np.concatenate([np.minimum(np.minimum(x - linear.low, linear.high - x), reach(x)), slack[rows]])
    beside = IntervalMatrix(sp.eye_array(len(rows), format="csr"))
    return _Near(
        rows,
        side_by_side(linear.matrix[rows], beside),
        slack[rows],
        np.where(units > FAINT, units, 0.0),
        left[rows] - Interval(slack[rows]),
        rounding[rows],
        bool(lacking.any()),
    )


def _moved(linear: LinearProgramme, x: Array, tight: Mask) -> tuple[Array, _Near]:
    """The point moved onto the tight rows, and to a little slack in others, in floats, as long as it is farther off than rounding."""
    near = _near(linear, x, tight)
    for _ in range(STEPS if near.lacks else 0):
        step = least_step(near.matrix.mid, near.margin, near.left.mid, near.rounding, roughly=True)
        x = np.clip(x + step[: len(x)], linear.low, linear.high)
        near = _near(linear, x, tight)
        if not near.lacks:
            break
    return x, near


def left_of(linear: LinearProgramme, rows: Indices, x: Array) -> Interval:
    """−b − A x."""
    return residual(linear.matrix[rows], -_column(linear.constants[rows]), x[:, None])[:, 0]


def _column(x: Interval) -> Interval:
    return Interval(x.mid[:, None], x.rad[:, None])


def _steps(linear: LinearProgramme, x: Array, near: _Near) -> Iterator[tuple[Interval, Indices]]:
    """Steps that are proven to lead onto the rows, and to stay within the bounds, and the rows that hold then: in both ways."""
    some = [near, near.tight()] if near.slack.any() else [near]
    if not len(some[-1].rows):
        yield Interval(np.zeros(len(x))), some[-1].rows
    for way in (_by_norm, partial(_by_pivots, linear, x)):
        for each in some:
            found = way(each) if len(each.rows) else None
            if found is not None:
                yield found[: len(x)], each.rows


def _by_norm(near: _Near) -> Interval | None:
    """The first way, m powers of two and the rows scaled by such, so that M is exact; None where no σ is proven, or ‖r‖₂ ≥ σ."""
    matrix = near.matrix
    if not matrix.exact or np.any((np.abs(matrix.mid.data) < FAINT) & (matrix.mid.data != 0.0)):  # something may underflow
        return None
    m = np.where(near.margin > 0.0, np.ldexp(0.5, np.frexp(near.margin)[1]), 0.0)
    scaled = sp.csr_array(matrix.mid @ sp.diags_array(m))
    exponents, _ = exponents_of(scaled)
    scaled = rescaled(scaled, exponents, np.zeros(scaled.shape[1], dtype=int))
    least, factors = least_of_rows(scaled)
    if not least > 0.0:
        return None
    step = m * (scaled.T @ factors.solve(np.ldexp(near.left.mid, -exponents)))
    further = residual(matrix, _column(near.left), step[:, None])[:, 0]
    size = np.ldexp((np.abs(further.mid) + further.rad) * (1.0 + 4 * EPS), -exponents) + TINY
    bound = float(norms(size[:, None])[0]) / least * (1.0 + 4 * EPS)
    found = Interval(step, m * bound * (1.0 + 4 * EPS) + TINY * (m > 0.0))
    return found if np.all(np.abs(found.mid) + found.rad <= near.margin * (1.0 - 4 * EPS)) else None


def _by_pivots(linear: LinearProgramme, x: Array, near: _Near) -> Interval | None:
    """The second way."""
    both, low = np.concatenate([x, near.slack]), np.concatenate([linear.low, np.zeros(len(near.rows))])
    high = np.concatenate([linear.high, np.where(near.slack > 0.0, np.inf, 0.0)])
    chosen, pivots = independent(near.matrix.mid, near.margin)
    others = np.setdiff1d(np.arange(len(near.rows)), chosen)
    if len(others):
        values = following_rows(near.matrix, linear.constants[near.rows], chosen, pivots, others, both)
        if values is None or np.any(values.mid) or np.any(values.rad):
            return None
    step = solve(INTERVAL, near.matrix[chosen].columns(pivots), near.left[chosen])
    if step is None:
        return None
    moved = Interval(both[pivots]) + step
    if np.any(moved.low < low[pivots]) or np.any(moved.high > high[pivots]):
        return None
    mid, rad = np.zeros(len(both)), np.zeros(len(both))
    mid[pivots], rad[pivots] = step.mid, step.rad
    return Interval(mid, rad)
