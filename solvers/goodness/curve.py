r"""The whole curve B ↦ ε₀(B): at given bounds, or all its breakpoints.

The loss is convex and B only scales the box, so ε₀ falls and is convex. For the insensitive and the hinge loss it is piecewise linear.
Multipliers q that are optimal at B give the line Σ c(q) − B' Σ_j p_j|Σ_i q_i K_ij| below it that touches at B.
A parametric simplex method walks along it, one pivot a piece (parametric.py). Breakpoints are where pieces meet. That a piece is straight,
so that none was missed, is proved by its line, which has to come near the certified values at both its ends. If rounding made the walk turn
too early, it does not; then the curve is solved where the two lines meet.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import FLOAT
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.goodness import Goodness
from simopt.solvers.goodness.box_squares import squared_iterates
from simopt.solvers.goodness.curve_record import GoodnessCurve
from simopt.solvers.goodness.parametric import ParametricSimplex
from simopt.solvers.goodness.simplex import GoodnessSimplex
from simopt.solving import provenance

TOUCH = 1e-11  # of the scale: how near to a line the curve counts as touching it
CLOSED = 1e-9  # of the scale: a larger gap of the walk is left to HiGHS
STRAIGHT = 1e-8  # of the scale: how far from its line a piece that counts as straight may end
SQUARED_TOL = 1e-10  # relative gap of the squared loss at each bound
MOST = 100_000  # breakpoints


@dataclass(frozen=True)
class CurvePoint:
    """One bound with its vertex: upper and lower value, slope, v and q."""

    bound: float
    upper: float
    lower: float
    slope: float
    v: Array
    q: Array

    @property
    def gap(self) -> float:
        """upper − lower."""
        return self.upper - self.lower

    def line(self, bound: float) -> float:
        """The supporting line there."""
        return self.lower + self.slope * (bound - self.bound)

    def meets(self, other: CurvePoint) -> float:
        """The bound at which the lines of two points meet; nan where they are parallel."""
        turn = other.slope - self.slope
        return (self.line(0.0) - other.line(0.0)) / turn if turn else math.nan


class BoundSweep:
    """Solves at one bound after another, upwards, and counts."""

    def __init__(self, problem: Goodness, *, squared_tol: float = SQUARED_TOL) -> None:
        self.problem, self.start, self.iterations = problem, time.perf_counter(), 0
        self.squared_tol = squared_tol
        self.p, self.y = problem.support_masses(), problem.support_targets()
        self.unit, self.trivial = problem.loss_unit() or 1.0, problem.trivial
        self.path = None if problem.loss == "squared" else ParametricSimplex(problem)

    def at(self, bound: float) -> CurvePoint:
        """The certified value at a bound; at 0, the loss of f = 0 with its slope: there is nothing to prove, so lower = upper."""
        if bound == 0.0:
            zero, known = np.zeros(len(self.problem.targets)), self.problem.loss_at_zero()
            return replace(self._certified(0.0, zero, self.problem.multipliers({"v": zero})["predictions"]), upper=known, lower=known)
        return self._squared(bound) if self.path is None else self._walked(self.path, bound)

    def events(self, bound: float) -> Iterator[CurvePoint]:
        """The points at which the walk changes its basis, each with multipliers of the piece that ends there, and its end, `bound`."""
        assert self.path is not None
        at = -1.0
        while at < bound:
            at = self.path.advance(bound, single=True)
            yield self._closed(self._certified(at, *self.path.vertex()))
        self.iterations = self.path.iterations

    def _walked(self, path: ParametricSimplex, bound: float) -> CurvePoint:
        """The end of the walk, or the vertex of HiGHS where rounding stops it."""
        try:
            path.advance(bound)
        except ArithmeticError:
            return self.by_highs(bound)
        finally:
            self.iterations = path.iterations
        return self._closed(self._certified(bound, *path.vertex()))

    def _closed(self, point: CurvePoint) -> CurvePoint:
        """The place; where rounding has kept its gap open, the vertex of HiGHS if that is better."""
        if point.gap <= CLOSED * self.unit:
            return point
        return min(point, self.by_highs(point.bound), key=lambda one: one.gap)

    def by_highs(self, bound: float) -> CurvePoint:
        """The vertex of HiGHS."""
        vertex = self.simplex.solve(bound)
        return self._certified(bound, vertex.v, vertex.q)

    @cached_property
    def simplex(self) -> GoodnessSimplex:
        """Kept between the bounds that need it."""
        return GoodnessSimplex(self.problem)

    def ended(self, piece: CurvePoint, end: CurvePoint) -> CurvePoint:
        """The end of a piece with its multipliers, not those of a piece between that is as short as rounding."""
        return end if piece is end else self._certified(end.bound, end.v, piece.q)

    def _squared(self, bound: float) -> CurvePoint:
        natural, back = replace(self.problem, bound=bound).normalised()
        found = list(squared_iterates(natural, self.squared_tol, 80))
        self.iterations += len(found)
        best = min(found, key=lambda iterate: iterate.gap)
        return self._certified(bound, best.point["v"], back.multipliers(best.multipliers or {})["predictions"])

    def _certified(self, bound: float, v: Array, q: Array) -> CurvePoint:
        loss, kept = self.problem.loss_function, self.problem.support
        v = np.zeros_like(v) if self.trivial else np.clip(v, -1.0, 1.0)
        f = self.problem.core @ (self.p * v[kept]) * bound
        multipliers = loss.admitted(FLOAT, q[kept], self.p, self.y)
        slope = -float(self.p @ np.abs(self.problem.core.T @ multipliers))
        fixed = float(np.sum(loss.dual_term(FLOAT, multipliers, self.p, self.y)))
        return CurvePoint(bound, float(self.p @ loss.value(FLOAT, f, self.y)), fixed + slope * bound, slope, v, q)

    def curve(self, points: list[CurvePoint], breakpoints: bool) -> GoodnessCurve:
        """The record."""
        columns: dict[str, Any] = {
            "bounds": [point.bound for point in points],
            "upper": [point.upper for point in points],
            "lower": [point.lower for point in points],
            "slopes": [point.slope for point in points],
            "weights": [point.v for point in points],
            "prices": [point.q for point in points],
        }
        return GoodnessCurve(
            **{name: np.array(values) for name, values in columns.items()},
            at_zero=self.problem.loss_at_zero(),
            breakpoints=breakpoints,
            iterations=self.iterations,
            seconds=time.perf_counter() - self.start,
            problem_bound=self.problem.bound,
            fingerprint=self.problem.fingerprint(),
            provenance={"problem": self.problem.name, "loss": self.problem.loss, "versions": dict(provenance.versions())},
        )


def goodness_curve(problem: Goodness, bounds: npt.ArrayLike) -> GoodnessCurve:
    """ε₀ at given bounds, each with its certificate; `problem.bound` does not matter.

    The bounds are visited upwards; the walk passes all breakpoints between them.

    Parameters
    ----------
    problem : Goodness
        any loss; the squared one is solved by interior points at each bound.
    bounds : array-like of B ≥ 0
        in any order; equal ones count once. ε₀(0) is the loss of f = 0.

    Raises
    ------
    InvalidProblem
        for a bound that is negative, with its index.
    ArithmeticError
        when HiGHS gives up.
    """
    at = np.unique(validate.grid("bounds", bounds, low=0.0, strict=False))
    walk = BoundSweep(problem)
    return walk.curve([walk.at(float(bound)) for bound in at], False)


def goodness_breakpoints(problem: Goodness, high: float, low: float = 0.0) -> GoodnessCurve:
    """All breakpoints of B ↦ ε₀(B) in [low, high], with both ends (the first piece from 0 ends at its first breakpoint if low = 0).

    Two pieces whose lines differ by less than rounding count as one. If a piece could not be proved to be straight to 1e-8 of the scale,
    the values are certified all the same. But the record does not say that its bounds are all the breakpoints (`breakpoints` is False).

    Raises
    ------
    InvalidProblem
        for the squared loss, whose curve has none; unless 0 ≤ low < high.
    ArithmeticError
        when rounding stops the walk, or after 100 000 breakpoints.
    """
    if problem.loss == "squared":
        raise InvalidProblem("loss: the curve of the squared loss is smooth in pieces and has no breakpoints; use goodness_curve")
    low, high = validate.nonnegative("low", low), validate.positive("high", high)
    for name, end in (("low", low), ("high", high)):
        validate.squarable(name, np.array([end]))
    if low >= high:
        raise InvalidProblem(f"low: {low:g} given, a number below high = {high:g} needed")
    walk = BoundSweep(problem)
    first = walk.at(low)
    events = walk.events(high)
    left = here = next(events)  # whose line was met last, and the last place on it
    found, straight = [first] if low > 0.0 else [], _on_line(first, left, walk.unit)
    for event in events:
        waiting = [event]
        while waiting:
            right = waiting[-1]
            if left.line(right.bound) >= right.lower - TOUCH * walk.unit:
                here = waiting.pop()
                continue
            meeting = left.meets(right)
            if _on_line(here, right, walk.unit) or not here.bound < meeting < right.bound:
                straight = straight and _on_line(here, right, walk.unit)
                found.append(walk.ended(left, here))
                left = here = waiting.pop()
            else:  # rounding made the walk turn too early
                waiting.append(walk.by_highs(meeting))
        if len(found) > MOST:
            raise ArithmeticError(f"more than {MOST} breakpoints in [{low:g}, {high:g}]; ask for a shorter interval")
    return walk.curve([*found, walk.ended(left, here)], straight)


def _on_line(left: CurvePoint, right: CurvePoint, unit: float) -> bool:
    """Whether the line of a place is near the value at another, so that ε₀ is straight between them."""
    return left.upper - right.line(left.bound) <= STRAIGHT * unit
