"""One solver on one problem, certified as it goes: gap against seconds.

Hand-written solvers show their iterates, the clock standing still while one is certified ("iterates"). Back ends show none: they are run
afresh at one tolerance after another, and each run is one point, at the seconds that this run alone took ("tolerance").
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.backends.table import BackEnd
from simopt.core.errors import InvalidProblem
from simopt.model.gap_unit import ratio
from simopt.model.problem import Problem
from simopt.model.status import Status
from simopt.solving.driver import natural
from simopt.solving.run import FAILURES, Ending, Run, failed, iterate
from simopt.solving.solution import Sample
from simopt.solving.solver import SolverSpec

NATIVE = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14)  # tolerances of a sweep; the one asked for is put among them
LESS = 0.5  # a tighter tolerance that does not even halve the gap is the last one, once the wanted one has been tried
WARM_LIMIT = 10.0  # seconds for a back end on a small example


@dataclass(frozen=True)
class Point:
    """A certified point: what it took (set-up and solve apart), and the bracket. `tolerance` is the native one of a sweep, else nan."""

    setup: float
    solve: float
    iteration: int
    tolerance: float
    upper: float
    lower: float
    gap: float
    relative_gap: float

    @property
    def seconds(self) -> float:
        """Set-up and solve."""
        return self.setup + self.solve


@dataclass
class RunOutcome:
    """How a run went."""

    status: Status
    reported: str
    message: str
    sampling: str
    scale: float = math.nan  # max(|lower|, |upper|) of the best point
    setup: float = 0.0  # of the run that counts: the last one of a sweep
    solve: float = 0.0
    spent: float = 0.0  # on the clock in all
    iterations: int = 0
    points: list[Point] = field(default_factory=list)

    @property
    def best(self) -> Point | None:
        """The point of the smallest gap."""
        return min(self.points, key=lambda point: _order(point.gap), default=None)


def _order(gap: float) -> float:
    return math.inf if math.isnan(gap) else gap


def measure(problem: Problem, chosen: SolverSpec | BackEnd, *, tol: float, time_limit: float, options: dict[str, object]) -> RunOutcome:
    """Run the solver until its certificate closes to `tol`, with a trace of certified points."""
    with np.errstate(all="ignore"):
        start = time.perf_counter()
        normal, rescale = natural(problem)
        units = time.perf_counter() - start
        run = Run(problem, tol, FLOAT, rescale, None)
        run.watch(lambda _: None)
        if isinstance(chosen, SolverSpec):
            made = _iterates(run, chosen, normal, units, time_limit, options)
        else:
            made = _sweep(run, chosen, normal, units, time_limit, options)
        ended, best = run.finalize((made.status, made.reported, made.message))
        made.points = [] if best is None else made.points
        return _ended(made, ended)


def _point(sample: Sample, setup: float, solve: float, iteration: int, tolerance: float) -> Point:
    """A gap that is rounding closes at any tolerance, and counts as 0."""
    relative = 0.0 if sample.rounding else ratio(sample.gap, _unit(sample))
    return Point(setup, solve, iteration, tolerance, sample.upper, sample.lower, sample.gap, relative)


def _unit(bracket: Sample | Point) -> float:
    """The unit of a relative gap, max(|lower|, |upper|)."""
    return max(abs(bracket.lower), abs(bracket.upper))


def _iterates(run: Run, spec: SolverSpec, normal: Problem, units: float, time_limit: float, options: dict[str, object]) -> RunOutcome:
    status, word, message = iterate(run, spec, normal, time_limit, options)
    made = RunOutcome(status, word, message or "", "iterates")
    made.setup, made.solve, made.iterations = units, run.solve_seconds, run.iterations
    made.spent = made.setup + made.solve
    made.points = [_point(s, units, s.seconds, s.iteration, math.nan) for s in run.samples]
    return made


def warm_up(backend: BackEnd, kind: type[Problem]) -> None:
    """Run a back end once on a small example of the problem, so that what it imports and compiles stays outside of the clock."""
    import_module("cvxpy")
    from simopt.backends import adapter

    for example in kind.examples(np.random.default_rng(0)):
        if not example.degenerate:
            try:
                declared = natural(example.problem)[0].for_back_ends(cones=backend.cones)
                adapter.run(declared, backend, tol=1e-2, max_iter=None, time_limit=WARM_LIMIT, options={})
            except (*FAILURES, adapter.Refused):
                pass  # what fails on an example may work on the problem at hand; if not, the run itself will say so
            return


def _sweep(run: Run, backend: BackEnd, normal: Problem, units: float, time_limit: float, options: dict[str, object]) -> RunOutcome:
    from simopt.backends import adapter

    made = RunOutcome(Status.NOT_SOLVED, "", "not run", "tolerance")
    own = dict(options)
    max_iter = own.pop("max_iter", None)
    previous = math.inf
    for tolerance in sorted({*NATIVE, run.tol}, reverse=True):
        start = time.perf_counter()
        try:
            declared = normal.for_back_ends(cones=backend.cones)
            setup = units + time.perf_counter() - start
            limit = None if max_iter is None else int(str(max_iter))
            result = adapter.run(declared, backend, tol=tolerance, max_iter=limit, time_limit=time_limit, options=own)
        except (adapter.Refused, InvalidProblem) as error:
            return _ended(made, (Status.UNSUPPORTED, "", str(error)))
        except FAILURES as error:
            return _ended(made, (Status.FAILED, type(error).__name__, failed(backend.name, error)))
        made.setup, made.solve = setup + result.setup_seconds, result.solve_seconds
        made.spent += made.setup + made.solve
        made.iterations = result.iterations
        run.solve_seconds, run.iterations = result.solve_seconds, result.iterations
        closed = False
        if result.point is not None:
            closed = run.certify(result.point, result.multipliers)
            made.points.append(_point(run.samples[-1], made.setup, made.solve, made.iterations, tolerance))
        ended = _ending(run, backend, closed, result.status, result.status_text, time_limit)
        _ended(made, ended)
        over = result.status is Status.TIME_LIMIT or result.solve_seconds > time_limit
        if closed or over or result.status in (Status.INFEASIBLE, Status.UNBOUNDED):
            return made
        reached = run.samples[-1].gap if result.point is not None else math.inf
        if tolerance <= run.tol and not reached <= LESS * previous:
            return made
        previous = min(previous, reached)
    return made


def _ending(run: Run, backend: BackEnd, closed: bool, status: Status, reported: str, time_limit: float) -> Ending:
    if closed:
        return Status.OPTIMAL, reported, None
    if status is Status.TIME_LIMIT:
        return status, reported, f"over {time_limit:g} s"
    if not run.samples:
        return (Status.FAILED if status is Status.OPTIMAL else status), reported, f"{backend.name} returned no point: {reported}"
    kept = Status.GAP_OPEN if status in (Status.OPTIMAL, Status.FAILED, Status.NOT_SOLVED) else status
    return kept, reported, f"{backend.name} says {reported!r}, the certificate is open"


def _ended(made: RunOutcome, ended: Ending) -> RunOutcome:
    made.status, made.reported, made.message = ended[0], ended[1], ended[2] or ""
    made.scale = math.nan if made.best is None else _unit(made.best)
    return made
