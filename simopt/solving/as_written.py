"""A `cvxpy.Problem` as its user wrote it: its values are judged, or it is solved and the solution put into it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.certificates.assessment import Assessment, Report, repair
from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import Interrupted
from simopt.duality.declared import AsDeclared, Declared
from simopt.duality.helping_solves import IterationBudget
from simopt.duality.written_form import LikeCvxpy, WrittenForm, dual_variables
from simopt.model.status import Status
from simopt.solving import cvxpy_values, driver
from simopt.solving.attempt import attempt
from simopt.solving.back_end_solves import back_end
from simopt.solving.best_bounds import assessed, of_nothing
from simopt.solving.cvxpy_values import turns
from simopt.solving.helped_solutions import with_faces, with_refined_values
from simopt.solving.joined_solutions import data_changed, joined_solutions, later, of_changed_data
from simopt.solving.missing_multipliers import missing_multipliers
from simopt.solving.no_optimum import proof_of_infeasibility, proof_of_unboundedness, without_optimum
from simopt.solving.problem_sense import explained, infinite_bounds, sample_in_sense
from simopt.solving.remedies import UNPROVEN
from simopt.solving.run import Progress
from simopt.solving.search import BoundSearch
from simopt.solving.solution import Sample, Solution, frozen

# statuses after which the problem as written is tried; the fraction of the time that the graph form gets
UNFINISHED, GRAPH_FORM = (Status.GAP_OPEN, Status.FAILED, Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.UNSUPPORTED), 0.75


def certify(
    problem: cp.Problem,
    point: Point | None,
    multipliers: Multipliers | None,
    num: Arithmetic,
    solver: str | None,
    tol: float,
    values_stay: bool = False,
    solved: cp.Problem | None = None,
) -> Certificate:
    """See `simopt.certify`. With `values_stay` the problem's own values are judged, even where a solve finds better ones.

    `solved` is the problem that was solved, where this is another form of it.
    """
    with turns.of(variable.id for variable in problem.variables()):
        declared = cvxpy_values.read(problem)
        declared = declared.with_iterations(IterationBudget(declared.programme, solved))
        values = cvxpy_values.values(declared, needed=solver is None) if point is None else point
        known = cvxpy_values.dual_values(declared) if multipliers is None else multipliers
        if solver is None:
            assert values is not None  # they are needed
            return _of_values(declared, values, known, num, tol)
        stays = values_stay or point is not None
        return _searched(
            BoundSearch(declared, values, known, back_end(solver), num, tol, stays, anywhere=not stays and multipliers is None)
        )


def _of_values(declared: Declared, values: Point, known: Multipliers, num: Arithmetic, tol: float) -> Certificate:
    """What values and multipliers prove, without a solve."""
    reasons = list[str]()
    best = attempt(lambda: assessed(declared, values, known, num, tol), reasons)
    if best is None:
        best = attempt(lambda: of_nothing(declared, known, num, tol), reasons)
    return _unproven(declared, num, reasons) if best is None else _with_reasons(explained(declared, best, tol), "", reasons)


def _searched(search: BoundSearch) -> Certificate:
    """The best bounds of a search, or the proof that there is no optimum."""
    declared, num, reasons = search.declared, search.num, search.reasons
    best = search.best()
    if reasons and (best is None or best.certificate.gap == math.inf):
        proof = attempt(lambda: proof_of_infeasibility(declared) or proof_of_unboundedness(declared, num), reasons)
        if proof is not None and (proof.infeasible or proof.unbounded or best is None):
            return proof
    if best is None:
        best = attempt(lambda: of_nothing(declared, search.known, num, search.tol), reasons)
    if best is None:
        return _unproven(declared, num, reasons)
    also = ""
    if best.certificate.lower == -math.inf:
        start = best.point
        proof = attempt(lambda: proof_of_unboundedness(declared, num, start), reasons)
        if proof is not None and proof.unbounded:
            return proof
        also = "" if proof is None else f"; {proof.open}"
    if search.point is not None:
        best = replace(best, certificate=replace(best.certificate, infeasibility=repair(search.point, best.point)))
    bounds = explained(declared, best, search.tol)
    return _with_reasons(bounds, also + (search.closing_bound(best) if bounds.open else ""), reasons)


def _unproven(declared: Declared, num: Arithmetic, reasons: list[str]) -> Certificate:
    message = "; ".join([*dict.fromkeys(reasons), UNPROVEN])
    return infinite_bounds(declared, math.inf, -math.inf, "none", num.name, message)


def _with_reasons(bounds: Certificate, also: str, reasons: list[str]) -> Certificate:
    failed = "".join(f"; {reason}" for reason in dict.fromkeys(reasons)) if bounds.open else ""
    return replace(bounds, open=bounds.open + also + failed)


def solve(problem: cp.Problem, progress: Progress | None, time_limit: float, **options: Any) -> Solution:
    """Have the driver solve the problem; see `simopt.solve`."""
    with turns.of(variable.id for variable in problem.variables()):
        declared = cvxpy_values.read(problem)
        return _put(declared, _FormSolves(declared, progress, validate.seconds("time_limit", time_limit), options).solution())


@dataclass
class _FormSolves:
    """Solves of several forms of a problem, one after the other in one limit of time; `joined` is the solution of those so far."""

    declared: Declared
    progress: Progress | None
    time_limit: float
    options: dict[str, Any]
    joined: Solution | None = None

    def solution(self) -> Solution:
        """That of the graph form and, where its certificate does not close, of the problem as written; the better of each bound is kept."""
        declared = self.declared
        self._report("read", lambda: _sizes(declared))
        best = first = self._run(declared)
        if best.point is None:
            best = without_optimum(declared, best)
        if best.status is Status.GAP_OPEN:
            best = with_refined_values(declared, best)
        for form in (LikeCvxpy, WrittenForm, AsDeclared):
            bounded = best.certificate is not None and best.certificate.gap < math.inf
            if _unfinished(best) and best.provenance.solve_seconds < self.time_limit and not (form is AsDeclared and bounded):
                self._report("form", lambda form=form: (form.__doc__ or "").partition("\n")[0])  # type: ignore[misc]
                self.joined = best
                best = self._run(form(declared.programme))  # a back end may succeed in other units or in CVXPY's form
        if best is not first and declared.fingerprint() != first.provenance.fingerprint:  # the last sample's listener may have changed them
            best = of_changed_data(best)
        if declared.cones and _unfinished(best):
            best = with_faces(declared, best)
        if best.point is not None:
            best = without_optimum(declared, best)
        if best.status is Status.TIME_LIMIT:
            best = replace(best, message=f"the gap was still open after {best.provenance.solve_seconds:.3g} s")
        return best

    def _report(self, step: str, text: Callable[[], str]) -> None:
        report: Report | None = self.options.get("report")
        if report is not None:
            report(step, text())

    def _run(self, form: Declared) -> Solution:
        """Solve one form in what is left of the time, and join the result to that of the forms before."""
        declared, before = self.declared, self.joined
        left = GRAPH_FORM * self.time_limit if before is None else self.time_limit - before.provenance.solve_seconds
        try:
            more = driver.solve(form, progress=self._sampled, time_limit=left, **self.options)
        except Interrupted as stop:
            raise Interrupted(_put(declared, stop.done if before is None else joined_solutions(declared, before, stop.done))) from None
        if before is None:
            return more
        joined = joined_solutions(declared, before, more)
        if self.progress is not None and len(joined.trace.samples) > len(before.trace.samples) + len(more.trace.samples):
            try:
                self.progress(sample_in_sense(declared, joined.trace.samples[-1]))
            except KeyboardInterrupt:
                stopped = replace(joined, status=Status.INTERRUPTED, reported_status="interrupted", message="stopped by the user")
                raise Interrupted(_put(declared, stopped)) from None
        return joined

    def _sampled(self, sample: Sample) -> None:
        if self.progress is not None:
            self.progress(sample_in_sense(self.declared, sample if self.joined is None else later(sample, self.joined)))


def _sizes(declared: Declared) -> str:
    programme = declared.programme
    sizes = f"{len(programme.leaves)} variables, {len(programme.terms)} terms, {len(programme.every_row)} constraints"
    return f"the cvxpy.Problem as a graph: {sizes}" + (", max f as min −f" if declared.maximises else "")


def _unfinished(solution: Solution) -> bool:
    return solution.status in UNFINISHED and not data_changed(solution)


def _put(declared: Declared, solution: Solution) -> Solution:
    """The solution as written; its values and dual values replace those of an earlier solve in the problem."""
    problem = declared.programme.problem
    cvxpy_values.clear(problem)
    if solution.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        cvxpy_values.put_no_optimum(problem, solution.status)
        return solution
    if solution.point is None or solution.certificate is None:
        return solution
    point, multipliers = dict(solution.point), dict(solution.multipliers or {})
    whole = declared.variables(point)
    values = {v.id: np.zeros(v.shape) for v in problem.variables()} | {v.id: whole[name] for v, name in declared.written}
    cvxpy_values.put_values(problem, solution.status, values)
    multipliers |= missing_multipliers(declared, multipliers)
    for name, _, dual, sign in dual_variables(declared):
        if name in multipliers:
            dual.save_value(np.reshape(sign * multipliers[name], dual.shape, order="F"))
    certificate = explained(declared, Assessment(solution.certificate, point, multipliers), solution.provenance.tol)
    trace = replace(solution.trace, samples=tuple(sample_in_sense(declared, sample) for sample in solution.trace.samples))
    return replace(solution, point=frozen(whole), certificate=certificate, trace=trace)
