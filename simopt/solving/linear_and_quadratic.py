"""Bounds of linear and quadratic programmes without a search: by the optimal vertex, or by the matrices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Interval
from simopt.backends import table
from simopt.certificates.assessment import Assessment, over_terms
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.duality.declared import Declared
from simopt.duality.infeasibility.contradiction import contradiction
from simopt.duality.quadratic.proven_bounds import proven_bounds
from simopt.duality.quadratic.quadratic_programme import QuadraticProgramme
from simopt.duality.vertices.optimum import vertex_of
from simopt.model.gap_unit import ratio


def by_vertex(declared: Declared, point: Point | None, num: Arithmetic, tol: float) -> Assessment | None:
    """What the optimal vertex of a linear programme proves, in fractions; None for another problem, or without HiGHS."""
    optimum = vertex_of(declared.programme) if table.HIGHS.missing is None else None
    if optimum is None:
        return None
    vertex, upper = optimum.point, optimum.upper
    if upper == math.inf:  # rounding of the data leaves it outside of a row: intervals draw it back
        vertex = declared.restore(optimum.point)
        upper = INTERVAL.upper(declared.objective(declared.restore(vertex, INTERVAL), INTERVAL))
    gap = math.nextafter(upper - optimum.lower, math.inf) if optimum.lower < upper else 0.0
    proving = Assessment(_bounds(declared, vertex, (optimum.lower, upper, gap), num, tol), vertex, optimum.multipliers)
    return _at_the_point(declared, proving, point, tol)


def by_matrices(declared: Declared, point: Point | None, known: Multipliers, num: Arithmetic, tol: float) -> Assessment | None:
    """What the matrices of a quadratic programme prove, at the given values or at those of an accurate solve; None for another problem.

    Where they prove no upper bound because no point is exactly feasible, the certificate says which equalities contradict one another.
    """
    with np.errstate(all="ignore"):
        quadratic = QuadraticProgramme.of(declared.programme)
    if quadratic is None:
        return None
    declared.candidates(known)  # an error where they are no multipliers of this problem
    linear = quadratic.linear
    values = None if point is None else linear.point(declared.values(point))
    found = proven_bounds(quadratic, values, linear.multipliers_of(known), tol)
    if found is None:
        return None
    disagreeing = contradiction(linear) if num is not FLOAT and found.upper == math.inf else None
    at, rows = linear.by_name(found.point), linear.multipliers(found.multipliers)
    if num is FLOAT and found.upper == math.inf:  # rounding of the data may leave no point that is feasible
        at = declared.restore_without_solves(at)
        upper = float(declared.objective(at))
        found = replace(found, upper=upper, gap=abs(upper - found.lower))
    multipliers = rows if found.relative_gap <= tol else declared.multipliers(at, rows)
    if values is not None and (not found.solved or abs(quadratic.value(Interval(values)).mid - found.upper) > tol * abs(found.upper)):
        point = None  # it is the one that proves the bound, or not as good
    bounds = _bounds(declared, at, (found.lower, found.upper, found.gap), num, tol)
    if disagreeing is not None and math.isfinite(found.lower):
        bounds = replace(bounds, open=f"{disagreeing} (bounds in floats, without rigorous=True, allow for that)")
    return _at_the_point(declared, Assessment(bounds, at, multipliers or rows), point, tol)


def _bounds(declared: Declared, point: Point, proven: tuple[float, float, float], num: Arithmetic, tol: float) -> Certificate:
    """The certificate of proven bounds, lower and upper, and their gap; the point proves the upper one."""
    lower, upper, gap = proven
    relative = ratio(gap, max(abs(lower), abs(upper)))
    over = relative if relative <= tol else over_terms(declared, point, upper, lower, gap)
    return Certificate.of_bounds(upper, lower, gap, over, multipliers_from="solver", arithmetic=num.name)


def _at_the_point(declared: Declared, proving: Assessment, point: Point | None, tol: float) -> Assessment:
    """The same bounds at the given point, restored, if its objective is the upper bound up to `tol`; else at the one that proves them.

    No Slater point is solved for: that may cost more than all the rest, and no bound depends on it. Where a bound is missing the point is
    looked at later, with all else.
    """
    bounds = proving.certificate
    restored = None if point is None or not math.isfinite(bounds.gap) else declared.restore_without_solves(point)
    if restored is None or not abs(declared.objective(restored) - bounds.upper) <= tol * bounds.scale:
        return proving
    return replace(proving, point=restored)
