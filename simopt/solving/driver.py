"""The one driver: runs any solver on any problem, stops the clock while it certifies, and decides how the solve ended.

Problems are solved in natural units and judged as they were given. OPTIMAL means that the certificate closed; what the solver itself says
is kept beside it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.ground import validate
from simopt.ground.errors import Interrupted, InvalidProblem, NotAvailable, UnknownName
from simopt.ground.registry import fold
from simopt.solving import provenance
from simopt.solving.backends.table import CLARABEL, FIRST_CLASS, BackEnd, check_options, find, listed
from simopt.solving.certificate import arithmetic
from simopt.solving.problem import Problem, Rescale, as_it_is, is_cvxpy, twin
from simopt.solving.run import Declare, Ending, Progress, Run, iterate, sweep
from simopt.solving.solution import Solution, Status, Trace, frozen
from simopt.solving.solver import SolverSpec, solvers_of

if TYPE_CHECKING:
    import cvxpy as cp


def solve(
    problem: Problem | cp.Problem,
    solver: str | None = None,
    *,
    tol: float = 1e-8,
    time_limit: float = 60.0,
    rigorous: bool | str = False,
    progress: Progress | None = None,
    declare: Declare | None = None,
    record: bool = True,
    **options: Any,
) -> Solution:
    """Solve a problem and certify the answer.

    Of a `cvxpy.Problem` the solution's point has the values of all variables by name, and the bounds are those of the problem as it was
    written. Values, dual values, value and status are put into the problem too; "optimal" there means certified. Where its certificate does
    not close, the back end is given the problem as written, too, and the better of each bound is kept.

    Parameters
    ----------
    problem : Problem or cvxpy.Problem
    solver : str, optional
        "clarabel", "ecos", "scs", another back end (`simopt list solvers`: all that CVXPY has installed, and those of packages), or a
        hand-written one of this problem; by default the best hand-written one, else "clarabel".
    tol : float
        relative gap (gap / scale) that the certificate must reach.
    time_limit : float
        seconds on the solver's clock.
    rigorous : bool or str
        True (or "interval") evaluates the final bounds in interval arithmetic, "rational" in exact fractions.
    progress : callable, optional
        called with each certified `Sample`.
    declare : callable, optional
        gives the declaration of the normalised problem for a set of cones; `simopt.path` passes one that keeps it.
    record : bool
        False spares what is only for the record, which on a Gram matrix costs more than many a solve: certificates of iterates that the
        solver does not call good enough (the trace has the last ones only), and the fingerprint of the data (""). Of data that stay
        where they are (large arrays, memory maps, Dask), which a certificate reads several times, these certificates are spared anyway.
    **options
        options of the solver; an unknown one is an error. Those of back ends are native ones and handed on: `abstol=1e-10` of "qoco".

    Raises
    ------
    UnknownName
        for a solver or option that does not exist, with the nearest name.
    NotAvailable
        for a back end that is not installed.
    Interrupted
        on Ctrl-C; `done` is the solution with the best certified point so far (status INTERRUPTED).
    """
    if is_cvxpy(problem):
        from simopt.duality import as_written

        driver = partial(solve, solver=solver, tol=tol, rigorous=rigorous, record=record, **options)
        return as_written.solve(problem, progress, time_limit, driver)
    tol, time_limit = _tolerance(tol), validate.seconds("time_limit", time_limit)
    num = arithmetic(rigorous)
    if num.name not in problem.arithmetics:
        raise InvalidProblem(f"rigorous: {problem.name} has no {num.name} bounds; it has {', '.join(problem.arithmetics)}")
    chosen = choose(problem, solver)
    name = chosen.name
    _check_options(chosen, options)
    with np.errstate(all="ignore"):  # an overflow shows in the certificate, which says what it did
        run = Run(as_it_is(problem), tol, num, Rescale(), progress, sparing=not validate.truth("record", record))
        try:
            normal, run.rescale = run.watch(lambda: natural(run.about))
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
        raise InvalidProblem(f"tol: must be a positive number below 1 (a gap as large as the scale closes at once), got {tol!r}")
    return tol


def _check_options(chosen: SolverSpec | BackEnd, options: dict[str, Any]) -> None:
    if options.get("max_iter") is not None:
        options["max_iter"] = validate.whole("max_iter", options["max_iter"])
    if isinstance(chosen, SolverSpec):
        chosen.check_options(options)
    else:
        check_options(chosen, options)


def natural(problem: Problem) -> tuple[Problem, Rescale]:
    """The problem in natural units; as it was given where one of its numbers would leave float64 there. Never the object that is judged."""
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
        raise UnknownName(f"solver of {problem.name}", name, [s.name for s in own] + [b.name for b in known])
    if backend in FIRST_CLASS and backend.missing is not None:  # any other one was found among those that CVXPY has installed
        raise NotAvailable(backend.missing)
    return backend


def reason_against(problem: Problem, chosen: SolverSpec | BackEnd) -> str | None:
    """Why the solver cannot solve this problem; None when it can."""
    if isinstance(chosen, SolverSpec):
        return chosen.reason_against(problem)
    from simopt.solving.backends import adapter

    try:
        adapter.canonicalise(problem.for_back_ends(cones=chosen.cones), chosen)
    except (adapter.Refused, InvalidProblem) as error:
        return str(error)
    return None


def unanswered(problem: Problem, solver: str | None, tol: float, options: dict[str, Any], how: str) -> Solution:
    """FAILED, without a point: the solution where the process of a solve came to its end, and `how`."""
    run = Run(problem, tol, FLOAT, Rescale(), None)
    return _finish(run, choose(problem, solver).name, options, (Status.FAILED, "no answer", how))


def _declare(problem: Problem, cones: frozenset[str]) -> Any:
    return problem.for_back_ends(cones=cones)


def _finish(run: Run, solver: str, options: dict[str, Any], ended: Ending) -> Solution:
    (status, word, message), best = run.settled(ended)
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
    return Solution(
        status=status,
        reported_status=word,
        point=None if best is None else frozen(best.point),
        multipliers=None if best is None else frozen(best.multipliers),
        certificate=None if best is None else best.certificate,
        trace=Trace(tuple(run.samples), run.sampling),
        provenance=record,
        message="; ".join(part for part in (message, "" if best is None else best.certificate.open) if part),
    )
