"""Problems with boolean and integer variables: the user's integer point on one side, the relaxation on the other, no branching.

For a minimum, lower is the proven lower bound of the relaxation and upper the value of a feasible point whose integers are exact. What lies
between them is a property of the problem and its relaxation; no more accurate solve closes it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic, arithmetic_for
from simopt.backends import table
from simopt.certificates.assessment import Report
from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import Interrupted, InvalidProblem
from simopt.duality.declared import Declared
from simopt.duality.reading.geometric import log_problem
from simopt.duality.reading.integers import NEAR, Relaxation, relaxation
from simopt.model.status import Status
from simopt.solving import cvxpy_values, provenance
from simopt.solving.branching import completed, solved_by_branching
from simopt.solving.cvxpy_values import turns, untouched
from simopt.solving.integer_bounds import IntegerBounds, convex_problem
from simopt.solving.integer_values import Values, shapes, values, values_at
from simopt.solving.run import Progress
from simopt.solving.solution import Sample, Solution, Trace, frozen

NO_POINT = "no integer point is known; solve the problem first, or give one"


def certify(
    problem: cp.Problem,
    point: Point | None,
    multipliers: Multipliers | None,
    num: Arithmetic,
    solver: str | None,
    tol: float,
    values_stay: bool = False,
    *,
    gp: bool = False,
) -> Certificate:
    """Bounds on the optimum of a problem with integers; see `simopt.certify`."""
    with turns.of(variable.id for variable in problem.variables()):
        form, claimed = _read(problem, gp), problem
        known = values(form) if point is None else values_at(form, point)
        if solver is None:
            for name, value in known.items():
                if value is None:
                    raise InvalidProblem(f"variable {name}: it has no value; solve the problem first, or name a solver")
        elif _incomplete(known):
            with untouched(problem):
                reason, claimed = solved_by_branching(form, None, {})
                known = values(form)
                known |= {each.name: each.rounded(known[each.name], NEAR)[0] for each in form.variables if known[each.name] is not None}
            if _incomplete(known):
                return IntegerBounds(form, num, solver, tol, claimed).without_point(known, multipliers, reason or NO_POINT)
        return IntegerBounds(form, num, solver, tol, claimed, values_stay).of(known, multipliers)


def solve(
    problem: cp.Problem,
    progress: Progress | None,
    time_limit: float,
    *,
    solver: str | None = None,
    tol: float = 1e-8,
    rigorous: bool | str = False,
    record: bool = True,
    report: Report | None = None,
    gp: bool = False,
    **options: Any,
) -> Solution:
    """Have CVXPY's back end for integers solve the problem, fix its integers, and certify the point and the relaxation."""
    num = arithmetic_for(rigorous)
    tol, time_limit = validate.positive("tol", tol), validate.seconds("time_limit", time_limit)
    with turns.of(variable.id for variable in problem.variables()):
        begun = time.perf_counter()
        form = _read(problem, gp)
        fingerprint = Declared.of(convex_problem(form)).fingerprint() if record else ""
        cvxpy_values.clear(problem)
        known: Values = {}
        bounds, name, reported = None, "", "interrupted"
        try:
            reason, trial = solved_by_branching(form, solver, options, time_limit)
            name = "" if trial.solver_stats is None else str(trial.solver_stats.solver_name).lower()
            reported = reason or str(trial.status)
            if report is not None:
                report("integers", f"{name or solver or 'CVXPY'} says {reported}")
            known = values(form)
            sought = IntegerBounds(form, num, table.CLARABEL.name, tol, trial, values_stay=True)
            if _incomplete(known):
                bounds = sought.without_point(known, None, reason or NO_POINT)
            else:
                known = completed(form, known, tol, max(time_limit - (time.perf_counter() - begun), 1.0))
                bounds = sought.of(known, None)
        except KeyboardInterrupt:
            bounds = None
        seconds = time.perf_counter() - begun
        origin = provenance.record(
            problem=Declared.of(convex_problem(form)),
            solver=name or (solver or ""),
            fingerprint=fingerprint,
            tol=tol,
            options=options,
            solve_seconds=seconds,
        )
        if bounds is None:
            stopped = Solution(Status.INTERRUPTED, reported, None, None, None, Trace((), "tolerance"), origin, "stopped by the user")
            raise Interrupted(_put(problem, form, stopped))
        sample = Sample(seconds, 0, bounds.upper, bounds.lower, bounds.gap)
        if progress is not None:
            progress(sample)
        status, whole = _status(bounds, tol), None
        if math.isfinite(bounds.value):
            whole = frozen({v: np.reshape(np.asarray(known[v]), shape, order="F") for v, shape in shapes(form)})
        message = "" if status is Status.OPTIMAL else bounds.open
        return _put(problem, form, Solution(status, reported, whole, None, bounds, Trace((sample,), "tolerance"), origin, message))


def _incomplete(known: Values) -> bool:
    return any(value is None for value in known.values())


def _read(problem: cp.Problem, gp: bool) -> Relaxation:
    if gp and not problem.is_dgp():
        log_problem(problem)  # refuses it with its reason
    form = relaxation(problem, gp)
    Declared.of(convex_problem(form))
    return form


def _status(bounds: Certificate, tol: float) -> Status:
    proven: list[tuple[Status, Callable[[], bool]]] = [
        (Status.INFEASIBLE, lambda: bounds.infeasible),
        (Status.UNBOUNDED, lambda: bounds.unbounded),
        (Status.OPTIMAL, lambda: bounds.closes(tol)),
        (Status.FAILED, lambda: not math.isfinite(bounds.value)),
    ]
    return next((status for status, holds in proven if holds()), Status.GAP_OPEN)


def _put(problem: cp.Problem, form: Relaxation, solution: Solution) -> Solution:
    """Values, value and status into the problem; constraints of a problem with integers have no dual values."""
    cvxpy_values.clear(problem)
    if solution.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        cvxpy_values.put_no_optimum(problem, solution.status)
        return solution
    if solution.point is None:
        return solution
    by_id: dict[int, Any] = {v.id: np.zeros(v.shape) for v in problem.variables()}
    by_id |= {each.variable.id: np.array(solution.point[each.name]) for each in form.variables}
    by_id |= {v.id: np.array(solution.point[name]) for v, name in form.others}
    cvxpy_values.put_values(problem, solution.status, by_id)
    return solution
