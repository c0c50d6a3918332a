"""The better of each bound: of a point with several multipliers, and of two assessments, from wherever they come."""

from __future__ import annotations

import math

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arithmetic.interval import EPS
from simopt.certificates.assessment import CLAIMS_NOTHING, Assessment, judge, over_terms, rank
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.duality.declared import Declared
from simopt.duality.written_form import completed


def assessed(declared: Declared, point: Point, known: Multipliers, num: Arithmetic, tol: float) -> Assessment:
    """The assessment of a point with multipliers of rows, `completed` in one way after the other until it closes, or all have been tried.

    Whoever asks briefly need not know more of a gap above `tol`.
    """
    best: Assessment | None = None
    near = tol if declared.brief else CLAIMS_NOTHING
    for multipliers in completed(declared, point, known):
        found = judge(declared, point, multipliers, num, near=near, coarse=declared.brief, enough=tol)
        if best is None:
            best = found
        elif declared.brief:
            best = min(best, found, key=lambda each: rank(each.certificate))
        else:
            best = paired(declared, best, found, num)
        if best.certificate.closes(tol):
            break
    assert best is not None  # there is one completion at least
    return best


def of_nothing(declared: Declared, known: Multipliers, num: Arithmetic, tol: float) -> Assessment | None:
    """The assessment of 0, drawn into the bounds, for a problem that no back end takes; None where it has no finite bound."""
    found = assessed(declared, declared.trivial_point(), known, num, tol)
    return found if math.isfinite(found.certificate.upper) or math.isfinite(found.certificate.lower) else None


def joined(declared: Declared, one: Assessment | None, other: Assessment | None, num: Arithmetic) -> Assessment | None:
    """`paired`, where there are two."""
    return one if other is None else other if one is None else paired(declared, one, other, num)


def paired(declared: Declared, one: Assessment, other: Assessment, num: Arithmetic) -> Assessment:
    """The better of each bound: the point of the smaller upper bound and the multipliers of the larger lower bound, judged together.

    lower ≤ optimum ≤ upper holds for bounds from different assessments, too. The assessment of the pair may be worse than both, by rounding
    or by the repair of multipliers. Then the bounds stay as they were, and the gap is upper − lower, rounded outwards.
    """
    first, second = one.certificate, other.certificate
    high = one if (first.upper, first.gap) <= (second.upper, second.gap) else other
    low = one if (-first.lower, first.gap) <= (-second.lower, second.gap) else other
    if high is low:
        return high
    upper, lower = high.certificate.upper, low.certificate.lower
    if not (math.isfinite(upper) and math.isfinite(lower)):  # each has one bound only: of a point or of multipliers
        return high if math.isfinite(upper) else low
    together = judge(declared, high.point, low.multipliers, num)
    pair = together.certificate
    if pair.upper <= upper and pair.lower >= lower and pair.gap < math.inf:
        return together
    rounding = 0.0 if num is not FLOAT else EPS * (abs(upper) + abs(lower)) * (4 + max(map(np.size, high.point.values()), default=0))
    gap = math.nextafter(upper - lower + rounding, math.inf)
    if gap < 0.0:  # they contradict each other: one of the formulas is wrong, or a number overflowed
        return one if (first.gap, first.upper) <= (second.gap, second.upper) else other
    bounds = Certificate.of_bounds(
        upper,
        lower,
        gap,
        over_terms(declared, high.point, upper, lower, gap),
        infeasibility=pair.infeasibility,
        multipliers_from=pair.multipliers_from,
        arithmetic=pair.arithmetic,
    )
    return Assessment(bounds, high.point, low.multipliers)
