"""A lower bound of a quadratic programme from any point w and any multipliers y, y ≥ 0 at inequalities, in intervals.

With d = Qw + c + Aᵀy, q the curvature, and t = x − w, every feasible x has

    f(x) ≥ f(x) + ⟨y, Ax + b⟩ ≥ f(w) + ⟨y, Aw + b⟩ + Σ_j min (d_j t_j + ½ q_j t_j²),    low − w ≤ t ≤ high − w.

The ends may be those that rows imply. Where d_j has a sign for which x_j has no end, and q_j is not positive, d_j has to be 0. As many
multipliers, and entries of w, as there are such j, the pivots, are solved for. They get intervals that are proven to contain a solution.

For w = x̃ + v, v the correction of pivots, f(w) + ⟨y, Aw + b⟩ = f(x̃) + ⟨y, Ax̃ + b⟩ + ⟨d, v⟩ − ½⟨v, Qv⟩. So what is lost against f(x̃) is
a sum of small numbers.

Source: A. Neumaier and O. Shcherbina, Safe bounds in linear and mixed-integer programming, Math. Program. 99 (2004), for Q = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import INTERVAL, Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix, side_by_side
from simopt.arithmetic.linear import solve
from simopt.arithmetic.residual import residual
from simopt.core.arrays import Array
from simopt.duality.evaluation.equalities import independent, reach
from simopt.duality.graph.vectors import Indices, Mask
from simopt.duality.quadratic.following_rows import following_rows
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme

ROUNDS = 12  # of pivots, as the correction of one residual may give another one the wrong sign
BESIDE = 10.0  # times the largest residual that is corrected: others as small, with a sign that they may lose, are corrected at once
COSTLY = 0.01  # of the allowed loss: an entry that loses more is corrected, too


def tangent_loss(quadratic: QuadraticProgramme, x: Array, multipliers: Array, ends: tuple[Array, Array], allowed: float) -> float:
    """A bound of f(x̃) − optimum from above, for low ≤ x̃ ≤ high; ∞ where pivots do not suffice.

    The search for pivots ends where it is at most `allowed`.
    """
    linear = quadratic.linear
    multipliers = np.where(linear.equality, multipliers, np.maximum(multipliers, 0.0))
    rows, system = linear.matrix.matvec(Interval(x)) + linear.constants, side_by_side(linear.matrix.T, quadratic.hessian)
    left = residual(system, -_column(quadratic.slope), np.concatenate([multipliers, x])[:, None])[:, 0]
    found = _Stationary(Interval(multipliers), Interval(np.zeros(len(x))), -left)
    zero, loss = np.zeros(len(x), dtype=bool), np.inf
    for _ in range(ROUNDS):
        away = [_apart(end, x, found.v) for end in ends]
        least = _least(found.d, quadratic.curvature, away[0].low, away[1].high)
        step = INTERVAL.dot(found.d, found.v) - INTERVAL.dot(found.v, quadratic.hessian.matvec(found.v)) * 0.5
        value, open_ = step + INTERVAL.dot(found.y, rows), np.isinf(least)
        if not open_.any():
            loss = min(loss, -INTERVAL.lower(value + INTERVAL.sum(Interval(least))))
        held = ((found.d.mid > 0.0) & np.isfinite(linear.low)) | ((found.d.mid < 0.0) & np.isfinite(linear.high))
        wanted = open_ if open_.any() else ~held & (least < -COSTLY * allowed)
        others = -INTERVAL.lower(value + INTERVAL.sum(Interval(np.where(held & ~open_, least, 0.0))))
        if loss <= allowed or others > allowed or not np.any(wanted & ~zero):
            break
        nearly = Interval(found.d.mid, found.d.rad + BESIDE * float(np.max(np.abs(found.d.mid[wanted]))))
        several = wanted | np.isinf(_least(nearly, quadratic.curvature, away[0].low, away[1].high))
        for more in (several, wanted):
            corrected = _corrected(quadratic, x, system, left, multipliers, zero | more)
            if corrected is not None:
                break
        else:
            break
        zero, found = zero | more, corrected
    return loss


@dataclass(frozen=True, eq=False)
class _Stationary:
    """y, v and d = Q(x̃ + v) + c + Aᵀy."""

    y: Interval
    v: Interval
    d: Interval


def _apart(end: Array, x: Array, v: Interval) -> Interval:
    """end − x̃ − v, where that is finite."""
    known = np.isfinite(end)
    found = Interval(np.where(known, end, 0.0)) - Interval(x) - v
    return Interval(np.where(known, found.mid, end), np.where(known, found.rad, 0.0))


def _least(d: Interval, curvature: Array, down: Array, up: Array) -> Array:
    """A lower bound of each min d t + ½ q t² over down ≤ t ≤ up: that at 0 or at an end, or of a parabola."""
    concave, convex = np.minimum(curvature, 0.0), curvature > 0.0
    least = np.zeros(len(curvature))
    for end, falls in ((down, d.high > 0.0), (up, d.low < 0.0)):
        known = np.isfinite(end)
        t = Interval(np.where(known, end, 0.0))
        there = (t * (d + t * (Interval(concave) * 0.5))).low
        least = np.minimum(least, np.where(known, there, np.where(falls | (concave < 0.0), -np.inf, 0.0)))
    largest = Interval(np.where(convex, np.maximum(np.abs(d.low), np.abs(d.high)), 0.0))
    bottom = -(largest * largest / Interval(np.where(convex, curvature, 1.0)) * 0.5).high
    found: Array = np.where(convex, np.maximum(least, bottom), least)
    return found


def _corrected(quadratic: QuadraticProgramme, x: Array, matrix: IntervalMatrix, left: Interval, y: Array, zero: Mask) -> _Stationary | None:
    """d = −r + [Aᵀ Q] step with 0 at as many of these entries as are independent; None where that, or what follows, is not proven."""
    linear = quadratic.linear
    entries: Indices = np.flatnonzero(zero)
    margin = np.where(linear.equality, np.abs(y) + float(np.max(np.abs(y), initial=0.0)), y)
    equations, pivots = independent(matrix.mid[entries], np.concatenate([margin, reach(x)]))
    chosen, others = entries[equations], np.delete(entries, equations)
    step = solve(INTERVAL, matrix[chosen].columns(pivots), left[chosen]) if len(pivots) else Interval(np.zeros(0))
    if step is None:
        return None
    mid, rad = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    mid[pivots], rad[pivots] = step.mid, step.rad
    both = Interval(mid, rad)
    moved = Interval(y) + both[: len(y)]
    if np.any((moved.low < 0.0) & ~linear.equality):
        return None
    d = matrix.matvec(both) - left
    d.mid[chosen], d.rad[chosen] = 0.0, 0.0
    if len(others):
        values = following_rows(matrix, quadratic.slope, chosen, pivots, others, np.concatenate([y, x]))
        if values is None:
            return None
        d.mid[others], d.rad[others] = values.mid, values.rad
    return _Stationary(moved, both[len(y) :], d)


def _column(x: Interval) -> Interval:
    return Interval(x.mid[:, None], x.rad[:, None])
