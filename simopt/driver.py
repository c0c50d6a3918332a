"""The one driver: runs any solver on any problem, stops the clock while it certifies, and decides how the solve ended.

Problems are solved in natural units and judged as they were given. OPTIMAL means that the certificate closed; what the solver itself says
is kept beside it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np

from simopt import provenance
from simopt.arithmetic import BY_NAME, FLOAT, Arithmetic
from simopt.backends.table import CLARABEL, FIRST_CLASS, BackEnd, check_options, find
from simopt.certificate import Judgement, judge
from simopt.errors import InvalidProblem, UnknownName
from simopt.problem import Problem, Rescale
from simopt.registry import fold
from simopt.solution import Iterate, Sample, Solution, Status, Trace, frozen
from simopt.solver import SolverSpec, solvers_of

ATTEMPTS = 4  # a back end is run at the tolerance asked for, then at most three times tighter
GROWTH = 1.2  # certificates are taken at geometrically spaced times
FAILURES = (ArithmeticError, np.linalg.LinAlgError, InvalidProblem)  # of a solver on data it cannot handle; all else is a defect in it
Progress = Callable[[Sample], None]
Declare = Callable[[Problem, frozenset[str]], Any]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a solve; `solution` holds the best certified point so far (status INTERRUPTED)."""

    def __init__(self, solution: Solution) -> None:
        super().__init__("interrupted")
        self.solution = solution

    def __reduce__(self) -> tuple[Any, ...]:
        return Interrupted, (self.solution,)


@dataclass
class _Run:
    """State of one solve."""

    problem: Problem
    tol: float
    num: Arithmetic
    rescale: Rescale
    progress: Progress | None
    sampling: str = "iterates"
    samples: list[Sample] = field(default_factory=list)
    best: Judgement | None = None
    iterations: int = 0
    setup_seconds: float = 0.0
    solve_seconds: float = 0.0

    def certify(self, point: dict[str, Any], multipliers: dict[str, Any] | None) -> bool:
        """Judge a point of the normalised problem as a point of the original; True when the certificate closes."""
        mapped = None if multipliers is None else self.rescale.multipliers(multipliers)
        judged = judge(self.problem, self.rescale.point(point), mapped)
        if judged.certificate.closes(self.tol) and self.num is not FLOAT:
            judged = replace(judged, certificate=judge(self.problem, judged.point, judged.multipliers, self.num).certificate)
        verdict = judged.certificate
        sample = Sample(self.solve_seconds, self.iterations, verdict.upper, verdict.lower, verdict.gap)
        self.samples.append(sample)
        if self.best is None or (verdict.gap, verdict.upper) <= (self.best.certificate.gap, self.best.certificate.upper):
            self.best = Judgement(verdict, _copy(judged.point), None if judged.multipliers is None else _copy(judged.multipliers))
        if self.progress is not None:
            self.progress(sample)
        return verdict.closes(self.tol)

    def final(self) -> Judgement | None:
        """The best judgement, its bounds in the arithmetic that was asked for."""
        if self.best is None or self.best.certificate.arithmetic == self.num.name:
            return self.best
        return replace(self.best, certificate=judge(self.problem, self.best.point, self.best.multipliers, self.num).certificate)


def _copy(values: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(value, dtype=float) for name, value in values.items()}


def _arithmetic(rigorous: bool | str) -> Arithmetic:
    if isinstance(rigorous, str):
        if rigorous not in BY_NAME:
            raise UnknownName("arithmetic", rigorous, BY_NAME)
        return BY_NAME[rigorous]
    return BY_NAME["interval"] if rigorous else FLOAT


def solve(
    problem: Problem,
    solver: str | None = None,
    *,
    tol: float = 1e-8,
    time_limit: float = 60.0,
    rigorous: bool | str = False,
    progress: Progress | None = None,
    declare: Declare | None = None,
    **options: Any,
) -> Solution:
    """Solve a problem and certify the answer.

    Parameters
    ----------
    problem : Problem
    solver : str, optional
        "clarabel", "ecos", "scs", another solver that CVXPY has installed, or a hand-written one of this problem; by default the best
        hand-written one, else "clarabel".
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
    **options
        options of the solver; an unknown one is an error.

    Raises
    ------
    UnknownName
        for a solver or option that does not exist, with the nearest name.
    Interrupted
        on Ctrl-C; carries the best solution so far.
    """
    if not (isinstance(tol, (int, float)) and tol > 0):
        raise InvalidProblem(f"tol: must be a positive number, got {tol!r}")
    if not time_limit > 0:
        raise InvalidProblem(f"time_limit: must be positive seconds, got {time_limit!r}")
    num = _arithmetic(rigorous)
    if num.name not in problem.arithmetics:
        raise InvalidProblem(f"rigorous: {problem.name} has no {num.name} bounds; it has {', '.join(problem.arithmetics)}")
    chosen = choose(problem, solver)
    name = chosen.name
    if isinstance(chosen, SolverSpec):
        chosen.check_options(options)
    else:
        check_options(chosen, options)
    normal, rescale = problem.normalised()
    run = _Run(problem, tol, num, rescale, progress)
    try:
        if isinstance(chosen, SolverSpec):
            ended = _iterate(run, chosen, normal, time_limit, options)
        else:
            ended = _sweep(run, chosen, normal, time_limit, options, declare or _declare)
    except KeyboardInterrupt:
        raise Interrupted(_finish(run, name, options, (Status.INTERRUPTED, "interrupted", "stopped by the user"))) from None
    return _finish(run, name, options, ended)


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
        raise UnknownName(f"solver of {problem.name}", name, [s.name for s in own] + [b.name for b in FIRST_CLASS])
    return backend


def reason_against(problem: Problem, chosen: SolverSpec | BackEnd) -> str | None:
    """Why the solver cannot solve this problem; None when it can."""
    if isinstance(chosen, SolverSpec):
        return chosen.reason_against(problem)
    from simopt.backends import adapter

    try:
        adapter.canonicalise(problem.declare(cones=chosen.cones), chosen)
    except (adapter.Refused, InvalidProblem) as error:
        return str(error)
    return None


def _declare(problem: Problem, cones: frozenset[str]) -> Any:
    return problem.declare(cones=cones)


Ending = tuple[Status, str, str | None]


def _iterate(run: _Run, spec: SolverSpec, normal: Problem, time_limit: float, options: dict[str, Any]) -> Ending:
    reason = spec.reason_against(normal)
    if reason is not None:
        return Status.UNSUPPORTED, "", reason
    try:
        _warm_up(spec, type(normal), options)
        return _pull(run, spec, normal, time_limit, options)
    except FAILURES as error:
        return Status.FAILED, f"{type(error).__name__}: {error}", f"{spec.name} failed: {error}"


def _iterates(spec: SolverSpec, problem: Problem, **options: Any) -> Generator[Iterate, None, None]:
    yield from spec.run(problem, **options)


def _pull(run: _Run, spec: SolverSpec, normal: Problem, time_limit: float, options: dict[str, Any]) -> Ending:
    scale = normal.scale()
    last: Iterate | None = None
    next_look, next_claim = 0.0, 0.0
    mark = time.perf_counter()
    with closing(_iterates(spec, normal, tol=run.tol, **options)) as iterates:
        for iterate in iterates:
            run.solve_seconds += time.perf_counter() - mark
            run.iterations += 1
            out_of_time = run.solve_seconds > time_limit
            claims = iterate.gap <= run.tol * scale and run.iterations >= next_claim
            if run.solve_seconds >= next_look or claims or out_of_time:
                next_look = GROWTH * run.solve_seconds
                if claims:  # a solver that is wrong about its gap is not asked again at every step
                    next_claim = GROWTH * run.iterations
                if run.certify(iterate.point, iterate.multipliers):
                    return Status.OPTIMAL, "converged", None
                last = None
            else:  # the solver may write on its buffers when it is resumed, if only to find that it is at its end
                last = Iterate(_copy(iterate.point), None if iterate.multipliers is None else _copy(iterate.multipliers))
            if out_of_time:
                return Status.TIME_LIMIT, "stopped", f"the gap was still open after {time_limit:g} s"
            mark = time.perf_counter()
        run.solve_seconds += time.perf_counter() - mark
    if last is not None and run.certify(last.point, last.multipliers):
        return Status.OPTIMAL, "converged", None
    limit = options.get("max_iter", spec.options.get("max_iter"))
    if isinstance(limit, Integral) and run.iterations >= limit:
        return Status.ITERATION_LIMIT, "iteration limit", f"the gap was still open after {run.iterations} iterations"
    return Status.GAP_OPEN, "finished", "the solver finished before the certificate closed"


_warm: set[tuple[Any, ...]] = set()
WARM_UP_ITERATES = 25  # enough to reach every kernel; a solver that never stops by itself must not hang here


def _warm_up(spec: SolverSpec, kind: type[Problem], options: dict[str, Any]) -> None:
    """Run the solver once on a small example of the problem, so that compilation stays outside the clock."""
    # options that choose a method; numbers and arrays may belong to the problem at hand
    choices = {name: value for name, value in options.items() if isinstance(value, (str, bool))}
    key = (spec.name, kind.name, *sorted(choices.items()))
    if key in _warm:
        return
    _warm.add(key)
    for example in kind.examples(np.random.default_rng(0)):
        if not example.degenerate and spec.reason_against(example.problem) is None:
            # what fails on an example may work on the problem at hand; if not, the solve itself will say so
            with suppress(*FAILURES), closing(_iterates(spec, example.problem.normalised()[0], tol=1e-6, **choices)) as iterates:
                for _ in islice(iterates, WARM_UP_ITERATES):
                    pass
            return


def _sweep(run: _Run, backend: BackEnd, normal: Problem, time_limit: float, options: dict[str, Any], declare: Declare) -> Ending:
    import cvxpy  # noqa: F401 - imported here so that its second of start-up stays outside the clock

    from simopt.backends import adapter

    run.sampling = "tolerance"
    own = dict(options)
    max_iter = own.pop("max_iter", None)
    ended: Ending = (Status.NOT_SOLVED, "", "not run")
    native_tol, previous = run.tol, math.inf
    start = time.perf_counter()
    try:
        declaration = declare(normal, backend.cones)
    except InvalidProblem as error:
        return Status.UNSUPPORTED, "", str(error)
    run.setup_seconds += time.perf_counter() - start
    for _ in range(ATTEMPTS):
        room = time_limit - run.solve_seconds
        if room <= 0:
            return Status.TIME_LIMIT, ended[1], f"the gap was still open after {time_limit:g} s"
        try:
            result = adapter.run(declaration, backend, tol=native_tol, max_iter=max_iter, time_limit=room, options=own)
        except adapter.Refused as error:
            return Status.UNSUPPORTED, "", str(error)
        run.setup_seconds += result.setup_seconds
        run.solve_seconds += result.solve_seconds
        run.iterations += result.iterations
        if result.point is None:
            ended = (result.status, result.word, f"{backend.name} returned no point: {result.word}")
            if result.status in (Status.INFEASIBLE, Status.UNBOUNDED, Status.TIME_LIMIT):
                return ended
        elif run.certify(result.point, result.multipliers):
            return Status.OPTIMAL, result.word, None
        else:
            status = Status.GAP_OPEN if result.status in (Status.OPTIMAL, Status.FAILED, Status.NOT_SOLVED) else result.status
            ended = (status, result.word, f"{backend.name} says {result.word!r}, the certificate is open")
            reached = run.samples[-1].gap
            if status is Status.TIME_LIMIT or (max_iter is not None and status is Status.ITERATION_LIMIT) or reached > 0.5 * previous:
                return ended
            previous = reached
        native_tol = max(native_tol * 1e-2, 1e-15)
    return ended


def _finish(run: _Run, solver: str, options: dict[str, Any], ended: Ending) -> Solution:
    status, word, message = ended
    best = run.final()
    record = provenance.record(
        solver=solver,
        problem=run.problem,
        tol=run.tol,
        options=options,
        iterations=run.iterations,
        setup_seconds=run.setup_seconds,
        solve_seconds=run.solve_seconds,
    )
    return Solution(
        status=status,
        reported_status=word,
        point=None if best is None else frozen(best.point),
        multipliers=None if best is None else frozen(best.multipliers),
        certificate=None if best is None else best.certificate,
        trace=Trace(tuple(run.samples), run.sampling),
        provenance=record,
        message=message or "",
    )
