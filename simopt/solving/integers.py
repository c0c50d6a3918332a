"""Problems with boolean and integer variables: the user's integer point on one side, the relaxation on the other, no branching.

For a minimum, lower is the proven lower bound of the relaxation and upper the value of a feasible point whose integers are exact. What lies
between them is a property of the problem and its relaxation; no more accurate solve closes it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, NotRational, arithmetic_for
from simopt.backends import table
from simopt.backends.adapter import dense_value
from simopt.certificates.assessment import Report
from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import Interrupted, InvalidProblem, NotAvailable, UnknownName, Unreadable
from simopt.core.threads import quiet
from simopt.duality.declared import Declared
from simopt.duality.reading.complex_numbers import SplitVariable, is_complex, real_problem
from simopt.duality.reading.geometric import log_problem
from simopt.duality.reading.integers import NEAR, Relaxation, relaxation
from simopt.model.gap_unit import ratio
from simopt.model.status import Status
from simopt.solving import as_written, complex_numbers, cvxpy_values, geometric, provenance
from simopt.solving.back_end_solves import TIME_LIMIT
from simopt.solving.cvxpy_values import turns, untouched
from simopt.solving.remedies import HELP
from simopt.solving.run import Progress
from simopt.solving.solution import Sample, Solution, Trace, frozen

SLACK = "with the numbers as floats hold them; integers cannot be moved by rounding, slack in the row would help"
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
        known = _values(form) if point is None else _of_point(form, point)
        if solver is None:
            for name, value in known.items():
                if value is None:
                    raise InvalidProblem(f"variable {name}: it has no value; solve the problem first, or name a solver")
        elif any(value is None for value in known.values()):
            with untouched(problem):
                said, claimed = _solved_by_branching(form, None, {})
                known = _values(form)
                known |= {each.name: each.rounded(known[each.name], NEAR)[0] for each in form.variables if known[each.name] is not None}
            if any(value is None for value in known.values()):
                return _without_point(form, _of_relaxation(form, known, multipliers, num, solver, tol), said or NO_POINT, tol, claimed)
        return _certified(form, known, multipliers, num, solver, tol, values_stay, claimed)


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
        fingerprint = Declared.of(_convex(form)).fingerprint() if record else ""
        cvxpy_values.clear(problem)
        known: dict[str, Array | None] = {}
        found, name, reported = None, "", "interrupted"
        try:
            said, trial = _solved_by_branching(form, solver, options, time_limit)
            name = "" if trial.solver_stats is None else str(trial.solver_stats.solver_name).lower()
            reported = said or str(trial.status)
            if report is not None:
                report("integers", f"{name or solver or 'CVXPY'} says {reported}")
            known = _values(form)
            if any(value is None for value in known.values()):
                below = _of_relaxation(form, known, None, num, table.CLARABEL.name, tol)
                found = _without_point(form, below, said or NO_POINT, tol, trial)
            else:
                known = _completed(form, known, tol, max(time_limit - (time.perf_counter() - begun), 1.0))
                found = _certified(form, known, None, num, table.CLARABEL.name, tol, True, trial)
        except KeyboardInterrupt:
            found = None
        seconds = time.perf_counter() - begun
        origin = provenance.record(
            problem=Declared.of(_convex(form)),
            solver=name or (solver or ""),
            fingerprint=fingerprint,
            tol=tol,
            options=options,
            solve_seconds=seconds,
        )
        if found is None:
            stopped = Solution(Status.INTERRUPTED, reported, None, None, None, Trace((), "tolerance"), origin, "stopped by the user")
            raise Interrupted(_put(problem, form, stopped))
        sample = Sample(seconds, 0, found.upper, found.lower, found.gap)
        if progress is not None:
            progress(sample)
        status = _status(found, tol)
        whole = None
        if math.isfinite(found.value):
            whole = frozen({v: np.reshape(np.asarray(known[v]), shape, order="F") for v, shape in _shapes(form)})
        message = "" if status is Status.OPTIMAL else found.open
        return _put(problem, form, Solution(status, reported, whole, None, found, Trace((sample,), "tolerance"), origin, message))


def _read(problem: cp.Problem, gp: bool) -> Relaxation:
    if gp and not problem.is_dgp():
        log_problem(problem)  # refuses it with its reason
    form = relaxation(problem, gp)
    Declared.of(_convex(form))
    return form


def _convex(form: Relaxation) -> cp.Problem:
    """The convex problem in real numbers that is read for the relaxation."""
    if form.geometric:
        return log_problem(form.problem).problem
    return real_problem(form.problem).problem if is_complex(form.problem) else form.problem


def _judge(form: Relaxation) -> Any:
    """The module whose `certify` and `solve` take the relaxation, and the problem with fixed integers."""
    return geometric if form.geometric else complex_numbers if is_complex(form.original) else as_written


def _certified(
    form: Relaxation,
    known: dict[str, Array | None],
    multipliers: Multipliers | None,
    num: Arithmetic,
    solver: str | None,
    tol: float,
    values_stay: bool,
    claimed: cp.Problem,
) -> Certificate:
    """The bounds of a point and of the relaxation; `claimed` is the problem as a back end for integers solved it."""
    below = _of_relaxation(form, known, multipliers, num, solver, tol)
    if below.infeasible:
        return replace(below, open=f"of the relaxation: {below.open}")
    integers, reasons, moved = dict[str, Array](), list[str](), 0.0
    for each in form.variables:
        value = known[each.name]
        assert value is not None
        integers[each.name], why = each.rounded(value)
        given = np.asarray(value, dtype=float).reshape(-1, order="F")
        moved = max(moved, float(np.max(np.abs(given - integers[each.name]) / (1 + np.abs(given)))))
        reasons += [why] if why else []
    if reasons:
        return _without_point(form, below, "; ".join(reasons), tol, claimed)
    above = _of_point_with(form, integers, known, num, solver, tol, values_stay)
    if above.unbounded:
        return replace(above, open=f"with these integers: {above.open}")
    if not math.isfinite(above.value):
        why = above.open.replace(HELP["is not proven to be ≤ 0"], SLACK) if form.pure else above.open
        return _without_point(form, below, f"with these integers: {why}", tol, claimed)
    return _between(form, above.value, below, max(moved, above.infeasibility), tol, "", claimed)


def _of_relaxation(
    form: Relaxation, known: dict[str, Array | None], multipliers: Multipliers | None, num: Arithmetic, solver: str | None, tol: float
) -> Certificate:
    for each in form.variables:
        value = known[each.name]
        each.relaxed.save_value(None if value is None else np.reshape(value, each.variable.shape, order="F"))
    for constraint, inner in form.constraints:
        for dual, copy in zip(constraint.dual_variables, inner.dual_variables, strict=True):
            copy.save_value(dual.value)
    form.put_decisions()
    below: Certificate = _judge(form).certify(form.problem, None, multipliers, num, solver, tol)
    if below.gap < math.inf or below.infeasible or below.unbounded or solver is None:
        return below
    with untouched(form.original):  # a solve looks further for a proof that there is no optimum
        proof = _judge(form).solve(form.problem, None, TIME_LIMIT, tol=tol, rigorous=num is not FLOAT).certificate
    return proof if proof is not None and (proof.infeasible or proof.unbounded) else below


def _of_point_with(
    form: Relaxation,
    integers: dict[str, Array],
    known: dict[str, Array | None],
    num: Arithmetic,
    solver: str | None,
    tol: float,
    values_stay: bool,
) -> Certificate:
    """The certificate of the problem with these integers; without other variables it is in fractions, where its functions have some."""
    judge: Any = _judge(form)
    if form.pure:
        try:
            return _of_constants(form.fixed(integers), num, as_written if form.geometric else judge, tol)
        except Unreadable:  # functions of geometric programmes alone
            if not form.geometric:
                raise
        point = {"t": np.ones(())}
        found: Certificate = judge.certify(form.fixed(integers, in_logarithms=True), point, {}, num, None, tol)
        return found
    fixed = form.fixed(integers)
    if form.geometric:
        fixed = _without_constant_rows(fixed, num, tol)
    for each in form.variables:
        each.relaxed.save_value(np.reshape(integers[each.name], each.variable.shape, order="F"))
    with _other_values(form, known):
        found = judge.certify(fixed, None, None, num, solver, tol, values_stay)
    return found


def _of_constants(fixed: cp.Problem, num: Arithmetic, judge: Any, tol: float) -> Certificate:
    """The certificate of a problem whose only variable is t, at t = 0, in fractions where its functions have some."""
    point = {"t": np.zeros(())}
    found: Certificate
    try:
        found = judge.certify(fixed, point, {}, RATIONAL, None, tol)
    except (NotRational, InvalidProblem):
        found = judge.certify(fixed, point, {}, INTERVAL if num is RATIONAL else num, None, tol)
    if not math.isfinite(found.value) and num is FLOAT:
        found = judge.certify(fixed, point, {}, num, None, tol)  # in floats an equality holds to rounding
    return found


def _without_constant_rows(fixed: cp.Problem, num: Arithmetic, tol: float) -> cp.Problem:
    """The problem without the rows in which integers are all that varied, if these are proven: logarithms of numbers are not exact."""
    rows = [row for row in fixed.constraints if not row.variables()]
    if not rows:
        return fixed
    check = cp.Problem(cp.Minimize(cp.Variable(nonneg=True, name="t")), rows)
    with suppress(InvalidProblem):
        if math.isfinite(_of_constants(check, num, as_written, tol).value):
            return cp.Problem(fixed.objective, [row for row in fixed.constraints if row.variables()])
    return fixed


def _between(form: Relaxation, value: float, below: Certificate, moved: float, tol: float, why: str, claimed: cp.Problem) -> Certificate:
    """The certificate of a point's value and the bound of the relaxation; `why` there is no point, if there is none."""
    maximises = isinstance(form.original.objective, cp.Maximize)
    lower, upper = (value, below.upper) if maximises else (below.lower, value)
    finite_bounds = math.isfinite(lower) and math.isfinite(upper)
    gap = (math.nextafter(upper - lower, math.inf) if lower < upper else 0.0) if finite_bounds else math.inf
    over = ratio(gap, max(abs(lower), abs(upper))) if finite_bounds else math.inf
    rest = {"multipliers_from": below.multipliers_from, "arithmetic": below.arithmetic, "maximises": maximises}
    found = Certificate.of_bounds(upper, lower, gap, over, infeasibility=moved, **rest)
    found = replace(found, gap_over_upper=ratio(gap, abs(value)))
    if found.closes(tol):
        return found
    reasons = [why] if why else []
    accurate = below.closes(tol) or below.gap <= tol * found.scale
    if finite_bounds:
        nearer = "lower the bound, a better point raise its value" if maximises else "raise the bound, a better point lower its value"
        own = "" if accurate else ", whose own gap is open"
        reasons.append(
            f"the gap is that between the integer point and the relaxation, in which integers are real numbers{own}, "
            f"and not one of a solver: branching or cuts would {nearer}"
        )
    reasons += [f"of the relaxation: {below.open}"] if below.open and not accurate else []
    if below.unbounded:
        verb = "rises" if maximises else "falls"
        reasons.append(f"the relaxation {verb} without end, which does not prove that its integer points do; bounds on them would help")
    claim = _claim(claimed)
    reasons += [claim] if claim else []
    return replace(found, open="; ".join(reasons))


def _without_point(form: Relaxation, below: Certificate, why: str, tol: float, claimed: cp.Problem) -> Certificate:
    """The bound of the relaxation alone."""
    if below.infeasible:
        return replace(below, open=f"of the relaxation: {below.open}")
    return _between(form, -math.inf if below.maximises else math.inf, below, 0.0, tol, why, claimed)


def _claim(problem: cp.Problem) -> str:
    """The bound that HiGHS claims for the problem that it solved, or that a back end calls it infeasible; empty where there is no claim."""
    if problem.solver_stats is not None and problem.status == cp.INFEASIBLE:
        return f"{problem.solver_stats.solver_name} claims that no point is feasible, which is not proven"
    more = None if problem.solver_stats is None else problem.solver_stats.extra_stats
    bound, value = getattr(more, "mip_dual_bound", None), getattr(more, "objective_function_value", None)
    if bound is None or value is None or problem.value is None or not all(map(math.isfinite, (bound, value, float(problem.value)))):
        return ""
    sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    claimed = float(problem.value) + sign * (float(bound) - float(value))  # HiGHS minimises, without the constant of the objective
    return f"{problem.solver_stats.solver_name} claims the bound {claimed:.12g}, which is not proven"


def _solved_by_branching(
    form: Relaxation, solver: str | None, options: dict[str, Any], time_limit: float = math.inf
) -> tuple[str, cp.Problem]:
    """Solve a copy of the problem as CVXPY does, which shares its variables; why that failed, or nothing, and the copy.

    One with complex numbers is solved in real ones: CVXPY 1.9 takes moduli of complex numbers for linear functions when it chooses a back
    end, and HiGHS then solves another problem.
    """
    split: tuple[SplitVariable, ...] = ()
    if is_complex(form.original):
        real = real_problem(form.original)
        trial, split = real.problem, real.variables
    else:
        trial = cp.Problem(form.original.objective, [row.copy() for row in form.original.constraints])
    if form.geometric:  # CVXPY drops integers there
        return _solved_without_branching(form, solver, options, time_limit), trial
    more, backend = dict(options), None
    if solver is not None:
        backend = table.find(solver)
        if backend is None:
            raise UnknownName("solver", solver, [known.name for known in table.listed() if known.missing is None])
        if backend.missing is not None:
            raise NotAvailable(backend.missing)
    elif table.HIGHS.missing is None and (convex := _convex(form)).is_qp() and convex.objective.expr.is_pwl():
        backend = table.HIGHS
    if backend is not None and math.isfinite(time_limit) and isinstance(backend.time_limit, str) and backend.time_limit:
        more.setdefault(backend.time_limit, time_limit)
    try:
        with quiet():
            trial.solve(solver=None if backend is None else backend.cvxpy_name, **more)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # back ends raise whatever they like
        return f"{type(error).__name__}: {error}".removesuffix(": "), trial
    for each in split:
        parts = [None if part is None else dense_value(part) for part in (each.real, each.imaginary)]
        each.variable.save_value(None if all(part is None for part in parts) else each.value(*parts))
    return "", trial


def _solved_without_branching(form: Relaxation, solver: str | None, options: dict[str, Any], time_limit: float) -> str:
    """Solve the relaxation, and take its values where its integers are integers; why there are none, or nothing."""
    found = _judge(form).solve(form.problem, None, time_limit, tol=1e-8, solver=solver, **options)
    if found.point is None:
        return f"the relaxation: {found.message}"
    for each in form.variables:
        if each.rounded(dense_value(each.relaxed), NEAR)[1]:
            for v, _ in form.others:
                v.save_value(None)
            return "no back end looks for integers of geometric programmes, and those of the relaxation are none; give a point"
        each.variable.save_value(dense_value(each.relaxed))
    return ""


def _completed(form: Relaxation, known: dict[str, Array | None], tol: float, time_limit: float) -> dict[str, Array | None]:
    """The values with integers rounded, and those of the other variables from a certified solve with these integers, if there are any."""
    whole = dict(known)
    for each in form.variables:
        flat, why = each.rounded(known[each.name], NEAR)
        if why:
            return known
        whole[each.name] = flat
    if form.pure:
        return whole
    fixed = form.fixed({each.name: np.asarray(whole[each.name]) for each in form.variables})
    solution = _judge(form).solve(fixed, None, time_limit, tol=tol)
    if solution.point is None:
        return whole
    for v, name in [*form.others, *((each.relaxed, each.name) for each in form.variables if not each.whole)]:
        value = _value(v)
        whole[name] = whole[name] if value is None else value.reshape(-1, order="F")
    for each in form.variables:
        flat = np.array(whole[each.name])
        flat[each.entries] = np.rint(flat[each.entries])
        whole[each.name] = flat
    return whole


def _shapes(form: Relaxation) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes of all variables that have entries, those with integers first."""
    return [(each.name, each.variable.shape) for each in form.variables] + [(name, v.shape) for v, name in form.others]


def _values(form: Relaxation) -> dict[str, Array | None]:
    """The values of the variables, flat, by name."""
    own = {each.name: _value(each.variable) for each in form.variables}
    own |= {name: _value(v) for v, name in form.others}
    return {name: None if value is None else value.reshape(-1, order="F") for name, value in own.items()}


def _value(variable: cp.Variable) -> Array | None:
    """The value of a real or complex variable as a dense array, if it has one."""
    return complex_numbers.complex_value(variable) if variable.is_complex() else dense_value(variable)


def _of_point(form: Relaxation, point: Point) -> dict[str, Array | None]:
    found: dict[str, Array | None] = {}
    complex_names = {name for v, name in form.others if v.is_complex()}
    for name, shape in _shapes(form):
        if name not in point:
            raise InvalidProblem(f"point: {name} is missing; it has {', '.join(sorted(point)) or 'nothing'}")
        value = np.asarray(point[name], dtype=complex if name in complex_names else float).reshape(-1, order="F")
        if value.size != math.prod(shape):
            raise InvalidProblem(f"point: {name} has {value.size} entries, expected {math.prod(shape)}")
        found[name] = value
    return found


@contextmanager
def _other_values(form: Relaxation, known: dict[str, Array | None]) -> Iterator[None]:
    """These values in the variables without integers, and afterwards those that they had."""
    with untouched(form.original):
        for v, name in form.others:
            value = known[name]
            v.save_value(None if value is None else np.reshape(value, v.shape, order="F"))
        yield


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
    values: dict[int, Any] = {v.id: np.zeros(v.shape) for v in problem.variables()}
    values |= {each.variable.id: np.array(solution.point[each.name]) for each in form.variables}
    values |= {v.id: np.array(solution.point[name]) for v, name in form.others}
    cvxpy_values.put_values(problem, solution.status, values)
    return solution
