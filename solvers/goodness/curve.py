r"""The whole curve B ↦ ε₀(B): at given bounds with one warm simplex basis, or all its breakpoints.

The loss is convex and B only scales the box, so ε₀ falls and is convex; for the insensitive and the hinge loss it is piecewise linear, and
multipliers q that are optimal at B give the line Σ c(q) − B' Σ_j p_j|Σ_i q_i K_ij| below it that touches at B.
Breakpoints: where the lines of two bounds meet, the curve is solved. If it touches there, that is the only breakpoint between; else the
line found at the meeting point splits the interval in two. k breakpoints cost at most 2k + 1 programmes, each a few pivots from the last.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import FLOAT
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem
from simopt.problems.goodness import Goodness
from simopt.solvers.goodness.box_squares import squared_iterates
from simopt.solvers.goodness.curve_record import GoodnessCurve
from simopt.solvers.goodness.simplex import GoodnessSimplex
from simopt.solving import provenance

TOUCH = 1e-11  # of the scale: how near to both lines the curve counts as touching them
SQUARED_TOL = 1e-10  # relative gap of the squared loss at each bound
HALVINGS = 200  # of the bound, until its line passes through ε₀(0)
MOST = 100_000  # breakpoints


@dataclass(frozen=True)
class Place:
    """One bound with its vertex: upper and lower value, slope, v and q."""

    bound: float
    upper: float
    lower: float
    slope: float
    v: Array
    q: Array

    def line(self, bound: float) -> float:
        """The supporting line there."""
        return self.lower + self.slope * (bound - self.bound)


class Walk:
    """Solves at one bound after another and counts."""

    def __init__(self, problem: Goodness, *, few_pivots: bool = False, squared_tol: float = SQUARED_TOL) -> None:
        self.problem, self.start, self.iterations = problem, time.perf_counter(), 0
        self.squared_tol = squared_tol
        self.p, self.y = problem.charges(), problem.aims()
        self.simplex = None if problem.loss == "squared" else GoodnessSimplex(problem, few_pivots=few_pivots)

    def at(self, bound: float) -> Place:
        """The certified value at a bound; at 0, the loss of f = 0 with its slope: there is nothing to prove, so lower = upper."""
        if bound == 0.0:
            zero, known = np.zeros(len(self.problem.targets)), self.problem.loss_at_zero()
            return replace(self._judged(0.0, zero, self.problem.multipliers({"v": zero})["predictions"]), upper=known, lower=known)
        if self.simplex is None:
            return self._squared(bound)
        vertex = self.simplex.solve(bound)
        self.iterations += vertex.iterations
        return self._judged(bound, vertex.v, vertex.q)

    def _squared(self, bound: float) -> Place:
        natural, back = replace(self.problem, bound=bound).normalised()
        found = list(squared_iterates(natural, self.squared_tol, 80))
        self.iterations += len(found)
        best = min(found, key=lambda iterate: iterate.gap)
        return self._judged(bound, best.point["v"], back.multipliers(best.multipliers or {})["predictions"])

    def _judged(self, bound: float, v: Array, q: Array) -> Place:
        loss, kept = self.problem.loss_function, self.problem.charged
        v = np.zeros_like(v) if self.problem.vacant else np.clip(v, -1.0, 1.0)
        f = self.problem.core @ (self.p * v[kept]) * bound
        prices = loss.admitted(FLOAT, q[kept], self.p, self.y)
        slope = -float(self.p @ np.abs(self.problem.core.T @ prices))
        fixed = float(np.sum(loss.dual_term(FLOAT, prices, self.p, self.y)))
        return Place(bound, float(self.p @ loss.value(FLOAT, f, self.y)), fixed + slope * bound, slope, v, q)

    def curve(self, places: list[Place], breakpoints: bool) -> GoodnessCurve:
        """The record."""
        columns: dict[str, Any] = {
            "bounds": [place.bound for place in places],
            "upper": [place.upper for place in places],
            "lower": [place.lower for place in places],
            "slopes": [place.slope for place in places],
            "weights": [place.v for place in places],
            "prices": [place.q for place in places],
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

    The bounds are visited upwards, which takes a quarter fewer pivots than downwards.

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
    walk = Walk(problem)
    return walk.curve([walk.at(float(bound)) for bound in at], False)


def goodness_breakpoints(problem: Goodness, high: float, low: float = 0.0) -> GoodnessCurve:
    """All breakpoints of B ↦ ε₀(B) in [low, high], with both ends (the first piece from 0 ends at its first breakpoint if low = 0).

    Two pieces whose slopes differ by less than rounding count as one.

    Raises
    ------
    InvalidProblem
        for the squared loss, whose curve has none; unless 0 ≤ low < high.
    ArithmeticError
        when HiGHS gives up, or after 100 000 breakpoints.
    """
    if problem.loss == "squared":
        raise InvalidProblem("loss: the curve of the squared loss is smooth in pieces and has no breakpoints; use goodness_curve")
    low, high = validate.nonnegative("low", low), validate.positive("high", high)
    for name, end in (("low", low), ("high", high)):
        validate.squarable(name, np.array([end]))
    if low >= high:
        raise InvalidProblem(f"low: {low:g} given, a number below high = {high:g} needed")
    walk = Walk(problem, few_pivots=True)
    tolerance = TOUCH * (problem.loss_unit() or 1.0)
    last = walk.at(high)
    first = walk.at(low) if low > 0.0 else _first_piece(walk, last, tolerance)
    found, waiting = [first] if low > 0.0 else [], [(first, last)]
    while waiting:
        left, right = waiting.pop()
        if left.line(right.bound) >= right.lower - tolerance:
            continue
        meeting = (left.lower - left.slope * left.bound - right.lower + right.slope * right.bound) / (right.slope - left.slope)
        if not left.bound < meeting < right.bound:
            continue
        middle = walk.at(meeting)
        if middle.lower - left.line(meeting) <= tolerance:
            found.append(middle)
        else:
            waiting += [(middle, right), (left, middle)]
        if len(found) > MOST:
            raise ArithmeticError(f"more than {MOST} breakpoints in [{low:g}, {high:g}]; ask for a shorter interval")
    return walk.curve([*found, last], True)


def _first_piece(walk: Walk, last: Place, tolerance: float) -> Place:
    """A place on the first piece: its line passes through ε₀(0)."""
    goal, place = walk.problem.loss_at_zero(), last
    for _ in range(HALVINGS):
        if place.line(0.0) >= goal - tolerance:
            return place
        place = walk.at(0.5 * place.bound)
    raise ArithmeticError("no piece of the curve at 0 was found")
