"""One solver on one problem, certified as it goes: gap against seconds.

Hand-written solvers show their iterates, the clock standing still while one is certified ("iterates"). Back ends show none: they are run
afresh at one tolerance after another, and each run is one point, at the seconds that this run alone took ("tolerance").
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.backends.table import BackEnd
from simopt.compare.back_end_form import as_written
from simopt.compare.known_optimum import lower_bound_by_all_means
from simopt.compare.with_integers import WithIntegers
from simopt.core.errors import InvalidProblem
from simopt.model.gap_unit import ROUNDING, ratio
from simopt.model.problem import Problem
from simopt.model.status import Status
from simopt.solving.driver import natural
from simopt.solving.run import FAILURES, Ending, Run, failed, iterate
from simopt.solving.solution import Sample
from simopt.solving.solver import SolverSpec

NATIVE = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14)  # tolerances of a sweep; the one asked for is put among them
RELAXED = "the gap is that between the integer point and the relaxation, not one of the solver"
UNFINISHED = (Status.GAP_OPEN, Status.ITERATION_LIMIT)  # after which points are judged by all means
LESS = 0.5  # beyond the tolerance asked for a sweep goes on only while each gap is at most this fraction of the least one before
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
    certificate: float = 0.0  # seconds of certificates, which are not on the clock
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
        normalised, rescale = (as_written(problem) if isinstance(chosen, BackEnd) else None) or natural(problem)
        unit_seconds = time.perf_counter() - start
        run = Run(problem, tol, FLOAT, rescale, None)
        run.watch(lambda _: None)
        if isinstance(chosen, SolverSpec):
            outcome = _iterates(run, chosen, normalised, unit_seconds, time_limit, options)
        else:
            outcome = _sweep(run, chosen, normalised, unit_seconds, time_limit, options)
        start = time.perf_counter()
        ending, best = run.finalize((outcome.status, outcome.reported, outcome.message))
        if best is None:
            outcome.points = []
        outcome = _with_ending(outcome, ending)
        if isinstance(chosen, BackEnd) and outcome.points and outcome.status in UNFINISHED:
            outcome = _with_bound(outcome, lower_bound_by_all_means(problem, tol), tol)
        outcome.certificate += time.perf_counter() - start
        if isinstance(problem, WithIntegers) and outcome.status in UNFINISHED and outcome.best is not None:
            outcome.message = RELAXED
        return outcome


def _with_bound(outcome: RunOutcome, lower: float, tol: float) -> RunOutcome:
    """The outcome with its points held against a lower bound; what counts then is the first of them that closes."""
    outcome.points = [_above(point, lower) for point in outcome.points]
    closing = next((point for point in outcome.points if point.relative_gap <= tol), None)
    if closing is None:
        return _with_ending(outcome, (outcome.status, outcome.reported, outcome.message))
    outcome.setup, outcome.solve, outcome.iterations = closing.setup, closing.solve, closing.iteration
    return _with_ending(outcome, (Status.OPTIMAL, outcome.reported, None))


def _above(point: Point, lower: float) -> Point:
    """The point with this lower bound, if that is the better one; a bound above its objective by more than rounding is not believed.

    A bound of ∞ proves that there is no feasible point; so there is no gap at one.
    """
    size = max(abs(point.upper), abs(lower))
    if not (math.isfinite(lower) and point.lower < lower <= point.upper + ROUNDING * size):
        return point
    gap = math.nextafter(point.upper - lower, math.inf) if lower < point.upper else 0.0
    return replace(point, lower=lower, gap=gap, relative_gap=ratio(gap, size))


def _point(sample: Sample, setup: float, solve: float, iteration: int, tolerance: float) -> Point:
    """A gap that is rounding closes at any tolerance, and counts as 0."""
    relative = 0.0 if sample.rounding else ratio(sample.gap, _unit(sample))
    return Point(setup, solve, iteration, tolerance, sample.upper, sample.lower, sample.gap, relative)


def _unit(bracket: Sample | Point) -> float:
    """The unit of a relative gap, max(|lower|, |upper|)."""
    return max(abs(bracket.lower), abs(bracket.upper))


def _iterates(
    run: Run, spec: SolverSpec, normalised: Problem, unit_seconds: float, time_limit: float, options: dict[str, object]
) -> RunOutcome:
    start = time.perf_counter()
    status, reported, message = iterate(run, spec, normalised, time_limit, options)
    took = time.perf_counter() - start
    outcome = RunOutcome(status, reported, message or "", "iterates")
    outcome.setup, outcome.solve, outcome.iterations = unit_seconds, run.solve_seconds, run.iterations
    outcome.spent, outcome.certificate = outcome.setup + outcome.solve, max(took - run.solve_seconds, 0.0)
    outcome.points = [_point(sample, unit_seconds, sample.seconds, sample.iteration, math.nan) for sample in run.samples]
    return outcome


def warm_up(backend: BackEnd, kind: type[Problem]) -> None:
    """Run a back end once on a small example of the problem, so that what it imports and compiles stays outside of the clock."""
    import_module("cvxpy")
    from simopt.backends import adapter

    for problem in _small(kind):
        try:
            declared = (as_written(problem) or natural(problem))[0].for_back_ends(cones=backend.cones)
            adapter.run(declared, backend, tol=1e-2, max_iter=None, time_limit=WARM_LIMIT, options={})
        except (*FAILURES, adapter.Refused):
            pass  # what fails on an example may work on the problem at hand; if not, the run itself will say so


def _small(kind: type[Problem]) -> Iterator[Problem]:
    """One example; of declared problems, which have none, a linear and a quadratic programme and one with a norm."""
    yield from islice((example.problem for example in kind.examples(np.random.default_rng(0)) if not example.degenerate), 1)
    import cvxpy as cp

    from simopt.duality.declared import Declared

    if issubclass(kind, Declared):
        x = cp.Variable(2, name="x")
        for objective in (cp.sum(x), cp.sum_squares(x), cp.norm(x)):  # each takes other ways through CVXPY
            yield Declared.of(cp.Problem(cp.Minimize(objective), [x >= 1]))


def _sweep(
    run: Run,
    backend: BackEnd,
    normalised: Problem,
    unit_seconds: float,
    time_limit: float,
    options: dict[str, object],
) -> RunOutcome:
    """Runs at one tolerance after the other, until one closes: by its own multipliers or, from the tolerance asked for on, by all means."""
    from simopt.backends import adapter

    outcome = RunOutcome(Status.NOT_SOLVED, "", "not run", "tolerance")
    native = dict(options)
    max_iter = native.pop("max_iter", None)
    least = math.inf  # gap of the runs before
    # where options set each tolerance, or none is known, one run would be that of every other tolerance again
    fixed = all(name in native for name in backend.tolerance)
    for tolerance in [run.tol] if fixed else sorted({*NATIVE, run.tol}, reverse=True):
        start = time.perf_counter()
        try:
            declared = normalised.for_back_ends(cones=backend.cones)
            setup = unit_seconds + time.perf_counter() - start
            limit = None if max_iter is None else int(str(max_iter))
            result = adapter.run(declared, backend, tol=tolerance, max_iter=limit, time_limit=time_limit, options=native)
        except (adapter.Refused, InvalidProblem) as error:
            return _with_ending(outcome, (Status.UNSUPPORTED, "", str(error)))
        except FAILURES as error:
            return _with_ending(outcome, (Status.FAILED, type(error).__name__, failed(backend.name, error)))
        outcome.setup, outcome.solve = setup + result.setup_seconds, result.solve_seconds
        outcome.spent += outcome.setup + outcome.solve
        outcome.iterations = result.iterations
        run.solve_seconds, run.iterations = result.solve_seconds, result.iterations
        closed = False
        if result.point is not None:
            start = time.perf_counter()
            closed = run.certify(result.point, result.multipliers)
            outcome.certificate += time.perf_counter() - start
            outcome.points.append(_point(run.samples[-1], outcome.setup, outcome.solve, outcome.iterations, tolerance))
        out_of_time = result.status is Status.TIME_LIMIT or result.solve_seconds > time_limit
        status = Status.TIME_LIMIT if out_of_time else result.status
        _with_ending(outcome, _ending(run, backend, closed, status, result.status_text, time_limit))
        without_optimum = result.status in (Status.INFEASIBLE, Status.UNBOUNDED)
        if closed or out_of_time or (without_optimum and tolerance <= run.tol):  # a looser one may be the reason for saying so
            return outcome
        gap = run.samples[-1].gap if result.point is not None else math.inf
        if tolerance <= run.tol and (not gap <= LESS * least or _closes_by_all_means(run.problem, outcome, run.tol)):
            return outcome
        least = min(least, gap)
    return outcome


def _closes_by_all_means(problem: Problem, outcome: RunOutcome, tol: float) -> bool:
    """Whether the last point closes with the proven bound, which is off the clock."""
    start = time.perf_counter()
    closes = bool(outcome.points) and _above(outcome.points[-1], lower_bound_by_all_means(problem, tol)).relative_gap <= tol
    outcome.certificate += time.perf_counter() - start
    return closes


def _ending(run: Run, backend: BackEnd, closed: bool, status: Status, reported: str, time_limit: float) -> Ending:
    """How a run of a back end ended: OPTIMAL is what the certificate says, not the back end."""
    if closed:
        return Status.OPTIMAL, reported, None
    if status is Status.TIME_LIMIT:
        return status, reported, f"over {time_limit:g} s"
    if not run.samples:
        without_point = Status.FAILED if status is Status.OPTIMAL else status
        return without_point, reported, f"{backend.name} returned no point: {reported}"
    with_point = Status.GAP_OPEN if status in (Status.OPTIMAL, Status.FAILED, Status.NOT_SOLVED) else status
    return with_point, reported, f"{backend.name} says {reported!r}, the certificate is open"


def _with_ending(outcome: RunOutcome, ending: Ending) -> RunOutcome:
    """The same outcome, with this ending and the scale of its best point."""
    status, reported, message = ending
    outcome.status, outcome.reported, outcome.message = status, reported, message or ""
    outcome.scale = math.nan if outcome.best is None else _unit(outcome.best)
    return outcome
