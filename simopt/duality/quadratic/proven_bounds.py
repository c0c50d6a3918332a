"""The bounds of a quadratic programme at given values, and at those of an accurate solve, as floats."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import INTERVAL, Interval
from simopt.core.arrays import Array
from simopt.duality.quadratic.accurate_solve import accurate_solves
from simopt.duality.quadratic.feasible_point import FeasiblePoint, feasible_points, left_of
from simopt.duality.quadratic.implied_ends import implied_ends
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme
from simopt.duality.quadratic.tangent_bound import tangent_loss
from simopt.model.gap_unit import ratio


@dataclass(frozen=True, eq=False)
class ProvenBounds:
    """lower ≤ optimum ≤ upper and upper − lower ≤ gap, with the point and the multipliers that gave them; a bound that is not proven is ∞.

    The gap may be much smaller than what rounding leaves of the difference. `solved` says that the point is that of a solve.
    """

    point: Array
    multipliers: Array
    lower: float = -math.inf
    upper: float = math.inf
    gap: float = math.inf
    solved: bool = False

    @property
    def relative_gap(self) -> float:
        """The gap over the larger size."""
        return ratio(self.gap, max(abs(self.lower), abs(self.upper)))


def proven_bounds(quadratic: QuadraticProgramme, point: Array | None, multipliers: Array, tol: float) -> ProvenBounds | None:
    """Those of the given values and, if they do not close, of accurate solves, or the best of each; None without any values.

    None also where the bounds contradict each other. A feasible point is sought where the objective is near the lower bound, and of solves.
    """
    linear, best = quadratic.linear, None
    ends = implied_ends(linear)
    with np.errstate(all="ignore"):
        for accurate, x, y in _values(quadratic, point, multipliers):
            found = _bounds_at(quadratic, np.clip(x, linear.low, linear.high), y, ends, tol, accurate)
            best = found if best is None or found.relative_gap <= tol else _better(best, found)
            if best.relative_gap <= tol:
                break
    return None if best is not None and best.lower > best.upper else best


def _better(one: ProvenBounds, other: ProvenBounds) -> ProvenBounds:
    """The better of each bound."""
    low, high = max(one, other, key=lambda each: each.lower), min(one, other, key=lambda each: each.upper)
    gap = low.gap if low is high else math.nextafter(high.upper - low.lower, math.inf)
    return ProvenBounds(high.point, low.multipliers, low.lower, high.upper, gap, high.solved)


def _values(quadratic: QuadraticProgramme, point: Array | None, multipliers: Array) -> Iterator[tuple[bool, Array, Array]]:
    """Whether they are those of a solve, a point, and multipliers."""
    if point is not None and np.isfinite(point).all() and np.isfinite(multipliers).all():
        yield False, point, multipliers
    for solved in accurate_solves(quadratic):
        yield True, *solved


def _bounds_at(quadratic: QuadraticProgramme, x: Array, y: Array, ends: tuple[Array, Array], tol: float, accurate: bool) -> ProvenBounds:
    value = quadratic.value(Interval(x))
    allowed = tol / 2 * abs(float(value.mid))
    loss = tangent_loss(quadratic, x, y, ends, allowed)
    lower = INTERVAL.lower(value - Interval(loss)) if math.isfinite(loss) else -math.inf
    best = ProvenBounds(x, y, lower)
    if accurate or loss <= 2 * allowed:
        reduced = quadratic.gradient(Interval(x)) + quadratic.linear.matrix.T.matvec(Interval(y))
        for near in feasible_points(quadratic.linear, x, y, reduced.mid):
            rise = _rise(quadratic, x, y, near)
            upper, gap = INTERVAL.upper(value + rise), INTERVAL.upper(rise + Interval(loss))
            if upper < best.upper and gap >= 0.0:
                best = ProvenBounds(near.x + near.step.mid, y, lower, upper, gap, accurate)
            if best.relative_gap <= tol:
                break
    return best


def _rise(quadratic: QuadraticProgramme, x: Array, y: Array, near: FeasiblePoint) -> Interval:
    """f(x̃ + s) − f(x̃) = ⟨d, s⟩ − ⟨y, As⟩ + ½⟨s, Qs⟩ for the step to the feasible point, y of the tight rows, in which As is known."""
    step = Interval(near.x) - Interval(x) + near.step
    own = Interval(y[near.tight])
    d = quadratic.gradient(Interval(x)) + quadratic.linear.matrix[near.tight].T.matvec(own)
    along = INTERVAL.dot(d, step) - INTERVAL.dot(own, left_of(quadratic.linear, near.tight, x))
    found: Interval = along + INTERVAL.dot(step, quadratic.hessian.matvec(step)) * 0.5
    return found
