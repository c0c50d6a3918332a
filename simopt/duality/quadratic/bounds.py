"""The bounds of a quadratic programme at given values, and at those of an accurate solve, as floats."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from simopt.arithmetic import INTERVAL, Interval
from simopt.core.arrays import Array
from simopt.duality.quadratic.accurate_solve import accurate_solve
from simopt.duality.quadratic.feasible_point import feasible_point
from simopt.duality.quadratic.implied_ends import implied_ends
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme
from simopt.duality.quadratic.tangent_bound import tangent_bound


@dataclass(frozen=True, eq=False)
class ProvenBounds:
    """lower ≤ optimum ≤ upper, with the point and the multipliers that gave them; a bound that is not proven is infinite."""

    point: Array
    multipliers: Array
    lower: float = -math.inf
    upper: float = math.inf

    @property
    def relative_gap(self) -> float:
        """The difference over the larger size."""
        size = max(abs(self.lower), abs(self.upper))
        return (self.upper - self.lower) / size if 0.0 < size < math.inf else math.inf


def proven_bounds(quadratic: QuadraticProgramme, point: Array | None, multipliers: Array, tol: float) -> ProvenBounds | None:
    """Each bound the best of the given values and, if these do not close, of an accurate solve; None without any values.

    None also where the bounds contradict each other. A feasible point is sought where the objective is near the lower bound, and of the last values.
    """
    linear, best = quadratic.linear, None
    ends = implied_ends(linear)
    with np.errstate(all="ignore"):
        for last, x, y in _values(quadratic, point, multipliers):
            x = np.clip(x, linear.low, linear.high)
            found = ProvenBounds(x, y, tangent_bound(quadratic, x, y, ends))
            value = INTERVAL.upper(quadratic.value(Interval(x)))
            if last or value - found.lower <= tol * max(abs(value), abs(found.lower)):
                feasible = feasible_point(linear, x)
                if feasible is not None:
                    found = replace(found, point=feasible.mid, upper=INTERVAL.upper(quadratic.value(feasible)))
            if best is not None:
                low = found if found.lower >= best.lower else best
                high = found if found.upper <= best.upper else best
                found = ProvenBounds(high.point, low.multipliers, low.lower, high.upper)
            best = found
            if best.relative_gap <= tol:
                break
    return None if best is not None and best.lower > best.upper else best


def _values(quadratic: QuadraticProgramme, point: Array | None, multipliers: Array) -> Iterator[tuple[bool, Array, Array]]:
    if point is not None and np.isfinite(point).all() and np.isfinite(multipliers).all():
        yield False, point, multipliers
    solved = accurate_solve(quadratic)
    if solved is not None:
        yield True, *solved
