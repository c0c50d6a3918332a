"""The driver: runs any solver on any problem, stops the clock while it certifies, and decides the status.

Problems are solved in natural units and judged as they were given. OPTIMAL means that the certificate closed. The solver's own status is
kept beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.arithmetic import FLOAT, arithmetic_for
from simopt.backends.table import CLARABEL, FIRST_CLASS, BackEnd, check_options, find, listed
from simopt.certificates.assessment import Report
from simopt.core import validate
from simopt.core.errors import Interrupted, InvalidProblem, NotAvailable, UnknownName
from simopt.core.registry import fold
from simopt.model.problem import Problem, Rescale, as_it_is, twin
from simopt.model.status import Status
from simopt.solving import provenance
from simopt.solving.chain import UNITS, chain_of, units_text
from simopt.solving.run import Declare, Ending, Progress, Run, iterate, sweep
from simopt.solving.solution import Solution, Trace, frozen
from simopt.solving.solver import SolverSpec, solvers_of


def solve(
    problem: Problem,
    solver: str | None = None,
    *,
    tol: float = 1e-8,
    time_limit: float = 60.0,
    rigorous: bool | str = False,
    progress: Progress | None = None,
    declare: Declare | None = None,
    record: bool = True,
    report: Report | None = None,
    **options: Any,
) -> Solution:
    """Solve a problem of simopt and certify the answer; see `simopt.solve`. Each step of the solving chain calls `report`, if given."""
    tol, time_limit = _tolerance(tol), validate.seconds("time_limit", time_limit)
    num = arithmetic_for(rigorous)
    if num.name not in problem.arithmetics:
        raise InvalidProblem(f"rigorous: {problem.name} has no {num.name} bounds; it has {', '.join(problem.arithmetics)}")
    chosen = choose(problem, solver)
    name = chosen.name
    _check_options(chosen, options)
    with np.errstate(all="ignore"):  # an overflow shows in the certificate, which says what it did
        run = Run(as_it_is(problem), tol, num, Rescale(), progress, sparing=not validate.truth("record", record), report=report)
        if report is not None:
            report("chain", chain_of(problem, chosen).names)
        try:
            normal, run.rescale = run.watch(lambda problem: natural(problem.as_certified(num)[0]))
            if report is not None:
                report(UNITS, units_text(run.about, normal))
            run.sparing |= run.mark is not None
            if isinstance(chosen, SolverSpec):
                ended = iterate(run, chosen, normal, time_limit, options)
            else:
                ended = sweep(run, chosen, normal, time_limit, options, declare or _declare)
        except KeyboardInterrupt:
            raise Interrupted(_finish(run, name, options, (Status.INTERRUPTED, "interrupted", "stopped by the user"))) from None
        return _finish(run, name, options, ended)


def _tolerance(tol: float) -> float:
    tol = validate.finite("tol", tol)
    if not 0 < tol < 1:
        raise InvalidProblem(f"tol: must be a positive number below 1 (of a larger one a gap as large as the optimum closes), got {tol!r}")
    return tol


def _check_options(chosen: SolverSpec | BackEnd, options: dict[str, Any]) -> None:
    if options.get("max_iter") is not None:
        options["max_iter"] = validate.whole("max_iter", options["max_iter"])
    if isinstance(chosen, SolverSpec):
        chosen.check_options(options)
    else:
        check_options(chosen, options)


def natural(problem: Problem) -> tuple[Problem, Rescale]:
    """The problem in natural units, or as it was given where a number would leave float64; never the object that is judged."""
    try:
        normal, back = problem.normalised()
    except (InvalidProblem, ArithmeticError):
        normal, back = problem, Rescale()
    return twin(normal) if normal is problem else normal, back


def choose(problem: Problem | type[Problem], name: str | None) -> SolverSpec | BackEnd:
    """The solver called `name`, or the default one of this problem."""
    own = solvers_of(problem)
    if name is None:
        usable = [s for s in own if isinstance(problem, type) or s.reason_against(problem) is None]
        return usable[0] if usable else CLARABEL
    for spec in own:
        if fold(spec.name) == fold(name):
            return spec
    backend = find(name)
    if backend is None:
        known = listed()
        for absent in known:
            if fold(absent.name) == fold(name):
                raise NotAvailable(absent.missing or f"{absent.name}: CVXPY does not find {absent.cvxpy_name}")
        raise UnknownName(f"solver of {problem.name}" if own else "solver", name, [s.name for s in own] + [b.name for b in known])
    if backend in FIRST_CLASS and backend.missing is not None:  # any other one was found among those that CVXPY has installed
        raise NotAvailable(backend.missing)
    return backend


def reason_against(problem: Problem, chosen: SolverSpec | BackEnd) -> str | None:
    """Why the solver cannot solve this problem; None when it can."""
    if isinstance(chosen, SolverSpec):
        return chosen.reason_against(problem)
    from simopt.backends import adapter

    try:
        adapter.canonicalise(problem.for_back_ends(cones=chosen.cones), chosen)
    except (adapter.Refused, InvalidProblem) as error:
        return str(error)
    return None


def unanswered(problem: Problem, solver: str | None, tol: float, options: dict[str, Any], how: str) -> Solution:
    """The solution FAILED, without a point, of a solve whose process ended; `how` says why."""
    run = Run(problem, tol, FLOAT, Rescale(), None)
    return _finish(run, choose(problem, solver).name, options, (Status.FAILED, "no answer", how))


def _declare(problem: Problem, cones: frozenset[str]) -> Any:
    return problem.for_back_ends(cones=cones)


def _finish(run: Run, solver: str, options: dict[str, Any], ended: Ending) -> Solution:
    (status, reported, message), best = run.finalize(ended)
    record = provenance.record(
        solver=solver,
        problem=run.problem,
        tol=run.tol,
        options=options,
        iterations=run.iterations,
        setup_seconds=run.setup_seconds,
        solve_seconds=run.solve_seconds,
        fingerprint=run.mark or ("" if run.sparing else run.problem.fingerprint()),
    )
    run.report_step("status", f"{status.name} ({reported})" + (f": {message}" if message else ""))
    return Solution(
        status=status,
        reported_status=reported,
        point=None if best is None else frozen(best.point),
        multipliers=None if best is None else frozen(best.multipliers),
        certificate=None if best is None else best.certificate,
        trace=Trace(tuple(run.samples), run.sampling),
        provenance=record,
        message="; ".join(part for part in (message, "" if best is None else best.certificate.open) if part),
    )
