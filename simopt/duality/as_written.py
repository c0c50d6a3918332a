"""A `cvxpy.Problem` as its user wrote it: what a solve left in it is judged, what is found is put into it, bounds have its sense.

`Declared` minimises −f where the problem maximises f. Here bounds on min −f become those on max f, so that
lower ≤ optimum ≤ upper is always said of the problem as it was written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints import Equality, Inequality
from cvxpy.reductions.solution import Solution as Unpacked

from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, Arithmetic, NotRational
from simopt.duality.declared import AsDeclared, Declared
from simopt.duality.graph_form import solved
from simopt.duality.no_optimum.infeasible import infeasible
from simopt.duality.no_optimum.unbounded import Unbounded, unbounded
from simopt.duality.reading.leaves import value_of
from simopt.ground.arrays import Multipliers, Point
from simopt.ground.errors import Interrupted, InvalidProblem, NotAvailable, UnknownName
from simopt.ground.threads import Turns, quiet
from simopt.solving.backends import table
from simopt.solving.backends.adapter import held
from simopt.solving.judgement import Certificate, Judgement, judge
from simopt.solving.run import CHANGED, Progress
from simopt.solving.solution import Sample, Solution, Status, frozen

WORDS = {Status.OPTIMAL: cp.OPTIMAL, Status.INFEASIBLE: cp.INFEASIBLE, Status.UNBOUNDED: cp.UNBOUNDED} | dict.fromkeys(
    (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.INTERRUPTED), cp.settings.USER_LIMIT
)  # what CVXPY calls them; a point with any other status is "optimal_inaccurate" there
HELP = {
    "no bound takes it": "bounds on this variable would help",
    "is not proven to be ≤ 0": "a point at which all inequalities hold with room (a Slater point) would help",
    "equality is not proven to hold": "a variable in it that nothing else bounds would help: the equality then defines it",
    "not proven to be in the domain": "a point inside of the domain, with room, would help",
    "not proven to be within its bounds": "bounds that are apart would help",
    "its scale is 0": "a multiplier > 0 of the row in which it stands would help",
    "outside of the domain of the conjugate": "numbers nearer to 1, or another back end, would help",
    "that stationarity asks for": "a tighter solve, another back end, or bounds on the variables in it would help",
    "its scale is": "multipliers of another back end would help",
    "may be 0": "a factor that is known not to be 0 would help",
    "its factor in": "a factor that is known to be positive would help",
    "more than rounding leaves": "a tighter solve, or interval arithmetic, would help",
    "not proven to be convex": "bounds on the variables in it, or a sum of squares in its place, would help",
    "pivots: ": "a small square of the variables in the objective, or bounds on them, would help",
}  # part of a reason -> remedy
UNPROVEN = "of which no proof was found (another back end, bounds on the variables, or numbers nearer to 1 would help)"
_turns = Turns()  # variables hold the values of one solve, and are scratch paper during it
ROWS = (Equality, Inequality, cp.Zero, cp.NonPos, cp.NonNeg, cp.SOC)  # of which a row's multiplier is a dual variable


def certify(
    problem: cp.Problem, point: Point | None, multipliers: Multipliers | None, num: Arithmetic, solver: str | None, tol: float
) -> Certificate:
    """See `simopt.certify`."""
    with _turns.of(variable.id for variable in problem.variables()):
        return _certified(_read(problem), point, multipliers, num, solver, tol)


def _certified(
    declared: Declared, point: Point | None, multipliers: Multipliers | None, num: Arithmetic, solver: str | None, tol: float
) -> Certificate:
    given = _values(declared, needed=solver is None) if point is None else point
    known = _duals(declared) if multipliers is None else multipliers
    found = [] if given is None else [judge(declared, given, _completed(declared, given, known), num)]
    if solver is not None and not (found and (found[0].certificate.closes(tol) or _has_all(declared, known))):
        backend = table.find(solver)
        if backend is None:
            raise UnknownName("solver", solver, [known.name for known in table.FIRST_CLASS])
        try:
            with _untouched(declared.programme.problem):
                other, more = solved(declared, backend.solver)
        except NotAvailable as error:
            proof = _no_point(declared) or _certificate(declared, _no_end(declared, num))
            if proof is not None and (proof.infeasible or proof.unbounded or not found):
                return proof
            if not found and error.__cause__ is not None:
                raise
            if not found:
                return _infinite(declared, math.inf, -math.inf, "none", num.name, f"{error}; {UNPROVEN}")
        else:
            found.append(judge(declared, other if given is None else given, more, num))
    also = ""
    best = min(found, key=lambda judged: (judged.certificate.gap, judged.certificate.upper, -judged.certificate.lower))
    if solver is not None and best.certificate.lower == -math.inf:
        proof = _certificate(declared, _no_end(declared, num, best.point))
        if proof is not None and proof.unbounded:
            return proof
        also = "" if proof is None else f"; {proof.open}"
    bounds = _as_written(declared, best, tol)
    return replace(bounds, open=bounds.open + also)


def solve(problem: cp.Problem, progress: Progress | None, driver: Callable[..., Solution]) -> Solution:
    """Have the driver solve the problem; see `simopt.solve`."""
    with _turns.of(variable.id for variable in problem.variables()):
        return _solved(_read(problem), progress, driver)


def _solved(declared: Declared, progress: Progress | None, driver: Callable[..., Solution]) -> Solution:
    told = None if progress is None else lambda sample: progress(_sample(declared, sample))
    try:
        found = _without_optimum(declared, driver(declared, progress=told))
        failed = found.status is Status.FAILED and found.point is None and found.reported_status != CHANGED[1]
        if failed:  # in the units of the declaration a back end may do what it cannot in others
            again = driver(AsDeclared(declared.programme), progress=told)
            found = found if again.point is None else again
        return _put(declared, found)
    except Interrupted as stop:
        raise Interrupted(_put(declared, stop.done)) from None


def _no_point(declared: Declared) -> Certificate | None:
    """A proof in intervals that no point is feasible, if one solve finds it."""
    with _untouched(declared.programme.problem):
        proof = infeasible(declared)
    if proof is None:
        return None
    said = f"no point is feasible: each violates {proof.reason} by at least {proof.violation:.3g}"
    return _infinite(declared, math.inf, math.inf, "none" if proof.multipliers is None else "solver", proof.arithmetic, said)


def _no_end(declared: Declared, num: Arithmetic, point: Point | None = None) -> Unbounded | None:
    """A proof that the objective falls for ever, if one solve finds it: in intervals, unless fractions are asked for and suffice."""
    with _untouched(declared.programme.problem):
        try:
            return unbounded(declared, INTERVAL if num is FLOAT else num, point)
        except NotRational:
            return unbounded(declared, INTERVAL, point)


def _certificate(declared: Declared, proof: Unbounded | None) -> Certificate | None:
    """What a direction without end says."""
    if proof is None:
        return None
    verb = "rises" if declared.maximises else "falls"
    rate = f", by at least {-proof.slope:.3g} for each unit of a direction with entries of at most 1" if proof.steady else ""
    said = f"the objective {verb} without end{rate}"
    if proof.point is None:
        said = f"unbounded if feasible: {said}, but no point is proven to be feasible{remedy('is not proven to be ≤ 0')}"
    return _infinite(declared, -math.inf if proof.point is not None else math.inf, -math.inf, "none", proof.arithmetic, said)


def _infinite(declared: Declared, upper: float, lower: float, multipliers_from: str, arithmetic: str, said: str) -> Certificate:
    """Bounds on the minimum that are infinite, in the problem's sense."""
    size = math.inf  # of the gap in every measure, of the scale, and of what has to be repaired
    found = Certificate(upper, lower, size, size, size, size, size, multipliers_from, arithmetic, open=said)
    return found.of_the_maximum() if declared.maximises else found


def _read(problem: cp.Problem) -> Declared:
    declared = Declared.of(problem)
    for parameter in problem.parameters():
        value_of(parameter)
    return declared


def _put(declared: Declared, found: Solution) -> Solution:
    """The solution as written, its values and dual values in the problem; those of an earlier solve do not stay."""
    problem = declared.programme.problem
    for variable in (*problem.variables(), *(dual for constraint in problem.constraints for dual in constraint.dual_variables)):
        variable.save_value(None)
    if found.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        worst = math.inf if declared.maximises is (found.status is Status.UNBOUNDED) else -math.inf
        problem.unpack(Unpacked(WORDS[found.status], worst, {}, {}, {}))
        return found
    if found.point is None or found.certificate is None:
        return found
    point, multipliers = dict(found.point), dict(found.multipliers or {})
    whole = declared.variables(point)
    values = {v.id: np.zeros(v.shape) for v in problem.variables()} | {v.id: whole[name] for v, name in declared.written}
    with quiet():
        problem.unpack(Unpacked(WORDS.get(found.status, cp.OPTIMAL_INACCURATE), None, values, {}, {}))
    for name, dual, sign in _dual_variables(declared):
        if name in multipliers:
            dual.save_value(np.reshape(sign * multipliers[name], dual.shape, order="F"))
    certificate = _as_written(declared, Judgement(found.certificate, point, multipliers), found.provenance.tol)
    trace = replace(found.trace, samples=tuple(_sample(declared, sample) for sample in found.trace.samples))
    return replace(found, point=frozen(whole), certificate=certificate, trace=trace)


def _without_optimum(declared: Declared, found: Solution) -> Solution:
    """A solution that has no point, or no bound, with the proof that there is no optimum, where one is found."""
    lost = found.status is Status.FAILED and found.point is None
    if lost and (said := _no_point(declared)) is not None:
        return replace(found, status=Status.INFEASIBLE, certificate=said, message=said.open)
    bound = math.nan if found.certificate is None else found.certificate.lower
    if not (lost or (bound == -math.inf and found.status in (Status.FAILED, Status.GAP_OPEN))):
        return found
    start = None if found.point is None else dict(found.point)
    proof = _no_end(declared, BY_NAME[found.certificate.arithmetic] if found.certificate else INTERVAL, start)
    said = _certificate(declared, proof)
    if proof is None or said is None:
        return found
    if proof.point is None:
        return replace(found, certificate=said if lost else found.certificate, message=f"{found.message}; {said.open}")
    point = frozen(declared.variables(declared.restore(proof.point)))
    return replace(found, status=Status.UNBOUNDED, certificate=said, message=said.open, point=point, direction=frozen(proof.direction))


def _as_written(declared: Declared, judged: Judgement, tol: float) -> Certificate:
    """Bounds in the problem's sense and, where they do not close, why."""
    found = judged.certificate
    why = "" if found.closes(tol) or found.infeasible or found.unbounded else _why(declared, judged, tol)
    found = replace(found, open=why)
    return found.of_the_maximum() if declared.maximises else found


def _why(declared: Declared, judged: Judgement, tol: float) -> str:
    num = BY_NAME[judged.certificate.arithmetic]
    reasons = declared.open(judged.multipliers or {}, declared.restore(judged.point, num), num)
    if not reasons:
        return f"the gap is above {tol:g} of the scale; values and multipliers of a tighter solve would help"
    return "; ".join(reason + remedy(reason) for reason in reasons)


def remedy(reason: str) -> str:
    """What would help, in brackets."""
    return next((f" ({help})" for part, help in HELP.items() if part in reason), "")


def _sample(declared: Declared, sample: Sample) -> Sample:
    return replace(sample, lower=-sample.upper, upper=-sample.lower) if declared.maximises else sample


def _values(declared: Declared, needed: bool) -> Point | None:
    """What the variables hold; None where one holds nothing, or an error where it is needed."""
    found: Point = {}
    for leaf in declared.programme.leaves.values():
        value = held(leaf.variable)
        if value is None and needed:
            raise InvalidProblem(f"variable {leaf.name}: it has no value; solve the problem first, or name a solver")
        if value is None:
            return None
        found[leaf.name] = value
    return found


def _duals(declared: Declared) -> Multipliers:
    """The dual values that the constraints hold."""
    held = ((name, dual.value, sign) for name, dual, sign in _dual_variables(declared))
    return {name: sign * np.asarray(value, dtype=float) for name, value, sign in held if value is not None}


def _dual_variables(declared: Declared) -> Iterator[tuple[str, Any, float]]:
    """Rows by name, with the dual variable that holds their multiplier, and its sign in it.

    The cone ‖x‖ ≤ t has two: that of t is the row's multiplier y, that of x is −u of the norm, ‖u‖ ≤ y.
    """
    terms = {term.key: term for term in declared.programme.terms}
    for number, constraint in enumerate(declared.programme.problem.constraints):
        name = constraint.label or f"row {number}"
        if not isinstance(constraint, ROWS) or name not in declared.names:
            continue
        yield name, constraint.dual_variables[0], 1.0
        row = declared.names[name][0]
        for key in row.map.below if isinstance(constraint, cp.SOC) and row is not None else ():
            if key in terms and terms[key].source.args[0] is constraint.args[1]:
                yield terms[key].name, constraint.dual_variables[1], -1.0


def _has_all(declared: Declared, known: Multipliers) -> bool:
    """Whether every row and term has a multiplier that can have one of use; bounds take what the others leave."""
    bounds = {bound.row.name for bounds in declared.programme.bounds.values() for bound in bounds}
    return set(declared.names) <= set(known) | bounds


def _completed(declared: Declared, point: Point, rows: Multipliers) -> Multipliers:
    """The multipliers of rows, and beside them the slopes of the terms at the restored point, where it has any."""
    declared.candidates(rows)
    if not rows:
        return {}
    restored = declared.restore({name: np.asarray(value, dtype=float) for name, value in point.items()})
    return {**(declared.multipliers(restored, rows) or {}), **rows}


@contextmanager
def _untouched(problem: cp.Problem) -> Iterator[None]:
    """Put the variables' values back, which a form of the problem shares."""
    kept = [(v, v.value if v.sparse_idx is None else v.value_sparse) for v in problem.variables()]
    try:
        yield
    finally:
        for v, value in kept:
            v.save_value(value, sparse_path=v.sparse_idx is not None)
