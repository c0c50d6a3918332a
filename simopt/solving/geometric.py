"""Geometric programmes (gp=True): the convex problem of their logarithms is certified, and its bounds are mapped back by exp in intervals.

f* = e^{F*} for the optimum F* of the convex problem, so l ≤ F* ≤ u gives e^l ≤ f* ≤ e^u, rounded outwards. A gap u − l of logarithms is
the relative gap 1 − e^{l − u} of f. It is measured against 1 and not against |F*|, so a number is added to F that puts F* near 1/2.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import INTERVAL, Arithmetic
from simopt.arithmetic.elementary import LARGEST
from simopt.backends import table
from simopt.backends.adapter import dense_value
from simopt.certificates.assessment import rank
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import Interrupted, InvalidProblem
from simopt.core.threads import quiet
from simopt.duality.reading.geometric import LogProblem, log_problem
from simopt.model.gap_unit import ratio
from simopt.model.status import Status
from simopt.solving import as_written, cvxpy_values
from simopt.solving.as_written import UNFINISHED
from simopt.solving.cvxpy_values import turns, untouched
from simopt.solving.run import Progress
from simopt.solving.solution import Sample, Solution, frozen

SOLVES = 3  # of one problem, each with another offset, until the relative gap closes
TARGET = 0.5  # F* with its offset: below 1, so that a relative gap of it is a smaller one of f
NEAR = 0.25  # as far from TARGET another offset would change nothing
EIGHTH = 8.0  # offsets are multiples of 1/8: sums with them are exact, or nearly so
NO_MINIMUM = "the infimum is 0, and no point attains it"


def certify(
    problem: cp.Problem,
    point: Point | None,
    multipliers: Multipliers | None,
    num: Arithmetic,
    solver: str | None,
    tol: float,
    values_stay: bool = False,
) -> Certificate:
    """Bounds on the optimum of a geometric programme; see `simopt.certify`."""
    with turns.of(variable.id for variable in problem.variables()):
        form = log_problem(problem)
        known = None if point is None else _logarithms(form, point)
        if known is None:
            _take_values(form, needed=solver is None)
        _take_dual_values(form)
    form.offset.value = _offset(_estimate(form, solver, known))
    best: Certificate | None = None
    for _ in range(SOLVES):
        inner = as_written.certify(form.problem, known, multipliers, num, solver, tol, values_stay)
        outer = of_logarithms(inner, form.shift, tol)
        best = outer if best is None or rank(outer) < rank(best) else best
        if best.closes(tol) or not _another_offset(form, inner):
            break
    assert best is not None
    return best


def solve(problem: cp.Problem, progress: Progress | None, time_limit: float, *, tol: float, **options: Any) -> Solution:
    """Solve a geometric programme, and put values, dual values, value and status into it as `problem.solve(gp=True)` does."""
    with turns.of(variable.id for variable in problem.variables()):
        form = log_problem(problem)
        form.offset.value = _offset(_estimate(form, options.get("solver") or table.CLARABEL.name, None))
        best: Solution | None = None
        duals: list[Any] = []
        left = time_limit

        def sampled(sample: Sample) -> None:
            if progress is not None:
                progress(_sample(sample, form.shift))

        for _ in range(SOLVES):
            try:
                inner = as_written.solve(form.problem, sampled, left, tol=tol, **options)
            except Interrupted as stop:
                raise Interrupted(_put(form, problem, _of_logarithms(form, stop.done, tol), _dual_values(form))) from None
            outer = _of_logarithms(form, inner, tol)
            left -= inner.provenance.solve_seconds
            if (
                best is None
                or best.certificate is None
                or (outer.certificate is not None and rank(outer.certificate) < rank(best.certificate))
            ):
                best, duals = outer, _dual_values(form)
            if (
                best.status is not Status.GAP_OPEN
                or left <= 0.0
                or inner.certificate is None
                or not _another_offset(form, inner.certificate)
            ):
                break
        assert best is not None
        return _put(form, problem, best, duals)


def of_logarithms(inner: Certificate, offset: float, tol: float) -> Certificate:
    """Bounds on f* from bounds on F* + offset, the optimum of the problem of logarithms.

    f > 0, so that the lower bound of a minimum is 0 at least. A minimum whose logarithm falls without end has the infimum 0.
    """
    if not inner.maximises and inner.upper == -math.inf:
        attained = f"{NO_MINIMUM}; in logarithms: {inner.open}"
        return replace(
            inner, upper=0.0, lower=0.0, gap=0.0, relative_gap=0.0, gap_over_upper=0.0, scale=0.0, gap_over_terms=0.0, open=attained
        )
    lower, upper, gap = _mapped(inner.lower, inner.upper, inner.gap, offset)
    if not inner.maximises and lower == -math.inf:
        lower = 0.0
        gap = upper
    scale = max(abs(lower), abs(upper))
    over = ratio(gap, scale)  # the terms of a posynomial are positive: their sizes add up to it
    rest = {name: getattr(inner, name) for name in ("infeasibility", "multipliers_from", "arithmetic", "maximises", "judged")}
    outer = Certificate.of_bounds(upper, lower, gap, over, **rest)
    outer = replace(outer, gap_over_upper=ratio(gap, abs(outer.value)))
    if outer.closes(tol):
        return outer
    gap_left = f"the gap is above {tol:g} of max(|lower|, |upper|); values and multipliers of a tighter solve would help"
    return replace(outer, open=f"in logarithms: {inner.open}" if inner.open else gap_left)


def _mapped(lower: float, upper: float, gap: float, offset: float) -> tuple[float, float, float]:
    """e^{lower − offset}, e^{upper − offset} and their gap, rounded outwards; infinite ends and gaps stay."""
    least, most = _exponential(lower, offset, -1), _exponential(upper, offset, 1)
    if not (gap < math.inf and math.isfinite(least) and math.isfinite(most)):
        return least, most, math.inf
    return least, most, math.nextafter(most - least, math.inf) if least < most else 0.0


def _exponential(end: float, offset: float, side: int) -> float:
    """A float not above e^{end − offset}, or not below it where the side is 1; an infinite end stays."""
    if not math.isfinite(end):
        return end
    exponent = INTERVAL.lift(end) - INTERVAL.lift(offset)
    if side < 0:
        return sys.float_info.max if INTERVAL.lower(exponent) > LARGEST else max(INTERVAL.lower(INTERVAL.exp(exponent)), 0.0)
    return math.inf if INTERVAL.upper(exponent) > LARGEST else max(INTERVAL.upper(INTERVAL.exp(exponent)), math.ulp(0.0))


def _sample(sample: Sample, offset: float) -> Sample:
    lower, upper, gap = _mapped(sample.lower, sample.upper, sample.gap, offset)
    return replace(sample, lower=lower, upper=upper, gap=gap)


def _offset(logarithm: float) -> float:
    return float(round(EIGHTH * (TARGET - logarithm))) / EIGHTH if math.isfinite(logarithm) else 0.0


def _another_offset(form: LogProblem, inner: Certificate) -> bool:
    """Set the offset that the bounds suggest; whether it differs from the one before."""
    if not (math.isfinite(inner.lower) and math.isfinite(inner.upper)):
        return False
    before = form.shift
    middle = inner.value
    form.offset.value = _offset(middle - before)
    return abs(middle - TARGET) > NEAR


def offset_of(problem: cp.Problem) -> float:
    """The number that brings the optimum of the problem of logarithms near 1/2, where its relative gap is near that of the problem."""
    form = log_problem(problem)
    form.offset.value = 0.0
    return _offset(_estimate(form, table.CLARABEL.name, None))


def _estimate(form: LogProblem, solver: str | None, known: Point | None) -> float:
    """log f near the optimum: at the point or the values of the problem, else by a solve that nothing has to believe; nan if both fail."""
    if known is not None:
        for variable, name, inner in form.variables:
            inner.save_value(np.reshape(known[f"log {name}"], variable.shape, order="F"))
    with quiet(), np.errstate(all="ignore"):
        value = form.problem.objective.value
        if value is not None and np.all(np.isfinite(value)):
            return float(np.ravel(value)[0]) - form.shift
        backend = None if solver is None else table.find(solver)
        if backend is None or backend.missing is not None or "exp" not in backend.cones:
            return math.nan
        with untouched(form.problem):
            try:
                trial = cp.Problem(form.problem.objective, [row.copy() for row in form.problem.constraints])
                value = trial.solve(solver=backend.cvxpy_name)
            except (KeyboardInterrupt, MemoryError):
                raise
            except BaseException:  # back ends raise whatever they like; the solve proper says what is wrong
                return math.nan
        return math.nan if value is None else float(np.ravel(np.asarray(value))[0]) - form.shift


def _logarithms(form: LogProblem, point: Point) -> Point:
    """A point of the user's, by name, as one of logarithms."""
    found = {}
    for _, name, _ in form.variables:
        if name not in point:
            raise InvalidProblem(f"point: {name} is missing; it has {', '.join(sorted(point)) or 'nothing'}")
        found[f"log {name}"] = _logarithm(f"point: {name}", np.asarray(point[name], dtype=float))
    return found


def _logarithm(what: str, value: Any) -> Any:
    if not np.all(value > 0.0):
        raise InvalidProblem(f"{what}: it has the entry {np.min(value):g}; a variable of a geometric programme is positive")
    return np.log(value)


def _take_values(form: LogProblem, needed: bool) -> None:
    """The logarithms of the problem's values; none of them, or an error where they are needed, if one is missing or not positive."""
    found = []
    for variable, name, inner in form.variables:
        value = dense_value(variable)
        if value is None and needed:
            raise InvalidProblem(f"variable {name}: it has no value; solve the problem first, or name a solver")
        if needed and value is not None:
            _logarithm(f"variable {name}", value)
        found.append((inner, value))
    if all(value is not None and np.all(value > 0.0) for _, value in found):
        for inner, value in found:
            inner.save_value(np.log(np.asarray(value)))
        form.put_auxiliary_values()


def _take_dual_values(form: LogProblem) -> None:
    for constraint, inner in form.constraints:
        for dual, copy in zip(constraint.dual_variables, inner.dual_variables, strict=True):
            copy.save_value(dual.value)


def _of_logarithms(form: LogProblem, inner: Solution, tol: float) -> Solution:
    """The solution for the variables of the geometric programme."""
    offset = form.shift
    certificate = None if inner.certificate is None else of_logarithms(inner.certificate, offset, tol)
    trace = replace(inner.trace, samples=tuple(_sample(sample, offset) for sample in inner.trace.samples))
    point = None
    if inner.point is not None:
        with np.errstate(over="ignore"):
            point = frozen({name: np.exp(np.asarray(inner.point[f"log {name}"])) for _, name, _ in form.variables})
    status, message = inner.status, inner.message
    closes = certificate is not None and certificate.closes(tol)
    if closes and status in UNFINISHED:
        status, message = Status.OPTIMAL, ""
    elif status is Status.OPTIMAL and not closes:
        status, message = Status.GAP_OPEN, "" if certificate is None else certificate.open
    elif message:
        message = f"in logarithms: {message}"
    return replace(inner, status=status, message=message, point=point, certificate=certificate, trace=trace)


def _put(form: LogProblem, problem: cp.Problem, solution: Solution, duals: list[Any]) -> Solution:
    """Values and dual values into the problem, as CVXPY does: those of constraints are those of their logarithms."""
    cvxpy_values.clear(problem)
    if solution.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        cvxpy_values.put_no_optimum(problem, solution.status, infimum=0.0)
        return solution
    if solution.point is None or solution.certificate is None:
        return solution
    values = {v.id: np.ones(v.shape) for v in problem.variables()} | {v.id: np.array(solution.point[name]) for v, name, _ in form.variables}
    cvxpy_values.put_values(problem, solution.status, values)
    own = [dual for constraint, _ in form.constraints for dual in constraint.dual_variables]
    for dual, value in zip(own, duals, strict=True):
        dual.save_value(value)
    return solution


def _dual_values(form: LogProblem) -> list[Any]:
    return [dual.value for _, inner in form.constraints for dual in inner.dual_variables]
