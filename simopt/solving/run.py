"""One solve: the iterates of a hand-written solver, or a back end at tighter and tighter tolerances, certified as they come."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import islice
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.backends.table import BackEnd
from simopt.certificates.assessment import FAR, Assessment, Report, judge, rank
from simopt.certificates.certificate import Certificate
from simopt.core.errors import InvalidProblem
from simopt.core.threads import lock
from simopt.model.entries import checked
from simopt.model.problem import Problem, Rescale, owns_its_data, with_digest
from simopt.model.status import Status
from simopt.solving.chain import form_name, form_text
from simopt.solving.solution import Iterate, Sample
from simopt.solving.solver import SolverSpec

ATTEMPTS = 4  # a back end is run at the tolerance asked for, then at most three times tighter
GROWTH = 1.2  # certificates are taken at geometrically spaced iterations: an answer must not depend on the clock
# of a solver on data that it cannot handle, or that would end the process or the loop around it; other exceptions are defects
FAILURES = (ArithmeticError, np.linalg.LinAlgError, InvalidProblem, SystemExit, GeneratorExit)
AHEAD = 1e-3  # of the tolerance: what a solver is asked for, as its unit may be larger than the certificate's; the driver ends it in time
HALF, LEAST_TOL = 0.5, 1e-15  # the fraction of the tolerance that a solver is asked for after it missed it; the smallest tolerance
T = TypeVar("T")
Progress = Callable[[Sample], None]
Declare = Callable[[Problem, frozenset[str]], Any]
Ending = tuple[Status, str, str | None]
CHANGED: Ending = (Status.FAILED, "data changed", "the data of the problem changed during the solve: no bound is about them")
INFEASIBLE: Ending = (Status.INFEASIBLE, "infeasible", "the multipliers prove that no point is feasible")
FINISHED: Ending = (Status.GAP_OPEN, "finished", "the solver finished before the certificate closed")


@dataclass
class Run:
    """State of one solve.

    `mark` is the last fingerprint of the data where others hold memory of them; None where nobody can change them. `digest` is the
    fingerprint of the data that the best certificate read, if it is known. `sparing`: no certificates of iterates whose solver knows that
    they are not yet good enough. `report` is called at each step of the chain.
    """

    problem: Problem
    tol: float
    num: Arithmetic
    rescale: Rescale
    progress: Progress | None
    mark: str | None = None
    digest: str | None = None
    sparing: bool = False
    sampling: str = "iterates"
    samples: list[Sample] = field(default_factory=list)
    best: Assessment | None = None
    iterations: int = 0
    setup_seconds: float = 0.0
    solve_seconds: float = 0.0
    report: Report | None = None

    def report_step(self, step: str, text: str) -> None:
        """Report a step of the solving chain, where that is asked for."""
        if self.report is not None:
            self.report(step, text)

    def watch(self, meanwhile: Callable[[Problem], T]) -> T:
        """Take the fingerprint of data that others could change, while `meanwhile` reads them."""
        if owns_its_data(self.problem):
            return meanwhile(self.problem)
        problem, digest = with_digest(self.problem)
        result = meanwhile(problem)
        self.mark = digest() or self.problem.fingerprint()
        return result

    @property
    def about(self) -> Problem:
        """The problem that is solved, whose bounds are asked for in the end; see `Problem.as_certified`."""
        return self.problem.as_certified(self.num)[0]

    def certify(self, point: dict[str, Any], multipliers: dict[str, Any] | None, coarse: bool = False) -> bool:
        """Judge a point of the normalised problem as a point of the original; True when the certificate closes.

        With `coarse` it is known to be far from the optimum; see `judge`.
        """
        assessed, digest = self._assess(self.about, point, multipliers, back=self.rescale, near=self._near, coarse=coarse)
        if assessed.certificate.closes(self.tol) and self.num is not FLOAT:
            anew, digest = self._assess(self.problem, assessed.point, assessed.multipliers, self.num)
            assessed = replace(assessed, certificate=anew.certificate)
        verdict = assessed.certificate
        closed = verdict.closes(self.tol)
        sample = Sample(self.solve_seconds, self.iterations, verdict.upper, verdict.lower, verdict.gap, verdict.rounding)
        self.samples.append(sample)
        if closed or self.best is None or rank(verdict) <= rank(self.best.certificate):
            multipliers = None if assessed.multipliers is None else _copy(assessed.multipliers)
            self.best = Assessment(verdict, _copy(assessed.point), multipliers, assessed.coarse)
            self.digest = digest
        if self.progress is not None:
            self.progress(sample)
        return closed

    @property
    def _near(self) -> float:
        return math.nextafter(self.tol, 1.0)

    def in_own_unit(self, target_tol: float) -> float:
        """The tolerance in units of `Problem.scale` at which the certificate is expected to close, at most `target_tol`.

        Solvers measure their gaps against the objective at the trivial point, which is known before they begin. The certificate's unit is
        known with the first certificate; where it is smaller, so is the gap that closes.
        """
        best = None if self.best is None else self.best.certificate
        scale = self._own_unit
        if best is None or not (math.isfinite(best.scale) and 0.0 < best.scale < scale < math.inf):
            return target_tol
        return min(target_tol, max(HALF * self.tol * best.scale / scale, LEAST_TOL))

    @cached_property
    def _own_unit(self) -> float:
        return self.problem.scale()

    def _assess(self, problem: Problem, *inputs: Any, **options: Any) -> tuple[Assessment, str | None]:
        """An assessment, and the fingerprint of the data that were read for it, where that is wanted and known."""
        options["report"] = self.report
        if self.mark is None:
            return judge(problem, *inputs, **options), None
        problem, digest = with_digest(problem)
        assessed = judge(problem, *inputs, **options)
        return assessed, digest()

    def final(self) -> Assessment | None:
        """The best assessment, its bounds in the arithmetic asked for; evaluated anew where it was coarse or the data may have changed."""
        best = self.best
        if best is None or (best.certificate.arithmetic == self.num.name and self.mark == self.digest and not best.coarse):
            return best
        return replace(best, certificate=self._certificate(best), coarse=False)

    def _certificate(self, best: Assessment) -> Certificate:
        return judge(self.problem, best.point, best.multipliers, self.num, near=self._near, report=self.report).certificate

    def finalize(self, ended: Ending) -> tuple[Ending, Assessment | None]:
        """The final status, and the best assessment; none where the data are no longer those at the start."""
        try:
            best = self.final()
        except InvalidProblem:  # the data are no longer those that were validated
            best = None
        if self.mark is not None and self.mark != self.digest:
            begun, self.mark = self.mark, self.problem.fingerprint()
            if begun != self.mark:
                return CHANGED, None
        # A certificate closed and is open when it is evaluated again: it was of other data, which have been set back since.
        if ended[0] is Status.OPTIMAL and not (best is not None and best.certificate.closes(self.tol)):
            return CHANGED, best
        return ended, best

    @property
    def infeasible(self) -> bool:
        """Whether the best certificate is a proof, in the arithmetic that was asked for, that no point is feasible."""
        found = self.final() if self.best is not None and self.best.certificate.infeasible else None
        return found is not None and found.certificate.infeasible


def _copy(values: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(value, dtype=float) for name, value in values.items()}


def _copied(step: Iterate) -> Iterate:
    """A copy, because the solver may write on its buffers when it is resumed, even if it only ends then."""
    multipliers = None if step.multipliers is None else _copy(checked("multipliers", step.multipliers, {}))
    return Iterate(_copy(checked("point", step.point, {})), multipliers, word=step.word)


def _claims(spec: SolverSpec, step: Any, bound: float) -> bool:
    """Whether a solver says that its gap is at most `bound`."""
    if not isinstance(step, Iterate):
        raise InvalidProblem(f"{spec.name} yielded {step!r:.60}, an Iterate needed")
    try:
        return float(step.gap) <= bound
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"{spec.name} gives {step.gap!r:.60} for its gap, a number needed") from error


def iterate(run: Run, spec: SolverSpec, normal: Problem, time_limit: float, options: dict[str, Any]) -> Ending:
    """Run a hand-written solver on the problem in natural units until the certificate closes, the time is up or the solver ends."""
    reason = spec.reason_against(normal)
    if reason is not None:
        return Status.UNSUPPORTED, "", reason
    try:
        warm_up(spec, type(normal), options)
        target_tol = max(AHEAD * run.tol, min(run.tol, LEAST_TOL))
        while True:
            ended = _pull(run, spec, normal, time_limit, options, target_tol)
            tighter = run.in_own_unit(target_tol)
            if ended[:2] != FINISHED[:2] or tighter >= target_tol:
                return ended
            target_tol = tighter
    except FAILURES as error:
        return Status.FAILED, f"{type(error).__name__}: {error}", failed(spec.name, error)


def failed(solver: str, error: BaseException) -> str:
    """The message of a solver's failure, with the exception's name, as some have no other text (`sys.exit(0)`)."""
    text = str(error) if isinstance(error, InvalidProblem) else f"{type(error).__name__}: {error}".removesuffix(": ")
    return f"{solver} failed: {text}"


def stepwise(spec: SolverSpec, problem: Problem, **options: Any) -> Generator[Iterate, None, None]:
    """The iterates of a solver, as a generator that can be closed."""
    yield from spec.run(problem, **options)


@contextmanager
def pulled(spec: SolverSpec, problem: Problem, **options: Any) -> Iterator[Iterator[Iterate]]:
    """The iterates of a solver, closed at the end. Exceptions that the solver raises when it is closed are suppressed."""
    iterates = stepwise(spec, problem, **options)
    try:
        yield iterates
    finally:
        with suppress(Exception, SystemExit, GeneratorExit):
            iterates.close()


def _pull(run: Run, spec: SolverSpec, normal: Problem, time_limit: float, options: dict[str, Any], target_tol: float) -> Ending:
    """One run of the solver, which stops by itself where its gap is at most target_tol · scale; the driver may stop earlier or go on."""
    scale = normal.scale()

    def certified(at: Iterate, coarse: bool = False) -> bool:
        run.report_step(spec.name, f"iteration {run.iterations}, own gap {float(at.gap):.1e}, {run.solve_seconds:.3g} s")
        return run.certify(at.point, at.multipliers, coarse)

    last: Iterate | None = None
    next_due, next_claim = 0.0, 0.0  # the iterations of the next certificate, and of the next one for a claim of the solver
    known: tuple[float, Iterate | None] = (math.inf, None)  # the least own gap of an iterate without a certificate, and that iterate
    mark = time.perf_counter()
    with pulled(spec, normal, tol=target_tol, **options) as iterates:
        for step in iterates:
            run.solve_seconds += time.perf_counter() - mark
            run.iterations += 1
            out_of_time = run.solve_seconds > time_limit
            claims = _claims(spec, step, run.in_own_unit(run.tol) * scale) and run.iterations >= next_claim
            spared = run.sparing and (math.isfinite(float(step.gap)) or known[1] is not None)
            due = run.iterations >= next_due and not spared
            if due or claims or out_of_time:
                next_due = GROWTH * run.iterations
                if claims:  # a solver that is wrong about its gap is not believed at every step
                    next_claim = GROWTH * run.iterations
                if certified(step, coarse=not (claims or out_of_time) and FAR * scale < float(step.gap) < math.inf):
                    return Status.OPTIMAL, _converged(step), None
                last = None
            else:
                last = _copied(step)
                if float(step.gap) < known[0]:
                    known = float(step.gap), last
            if out_of_time:
                if known[1] is not None and certified(known[1]):
                    return Status.OPTIMAL, _converged(known[1]), None
                return Status.TIME_LIMIT, "stopped", f"the gap was still open after {time_limit:g} s"
            mark = time.perf_counter()
        run.solve_seconds += time.perf_counter() - mark
    if last is not None and certified(last):
        return Status.OPTIMAL, _converged(last), None
    if known[1] is not None and known[1] is not last and certified(known[1]):
        return Status.OPTIMAL, _converged(known[1]), None
    if run.infeasible:
        return INFEASIBLE
    limit = options.get("max_iter", spec.options.get("max_iter"))
    if isinstance(limit, Integral) and run.iterations >= limit:
        return Status.ITERATION_LIMIT, "iteration limit", f"the gap was still open after {run.iterations} iterations"
    return FINISHED


def _converged(step: Iterate) -> str:
    return f"converged ({step.word})" if step.word else "converged"


_warm: set[tuple[Any, ...]] = set()
_begun: set[tuple[Any, ...]] = set()  # warming up may itself solve what is warmed up
_warming = lock()
WARM_UP_ITERATES = 25  # enough to reach every kernel; a solver that never stops by itself must not hang here


def warm_up(spec: SolverSpec, kind: type[Problem], options: dict[str, Any]) -> None:
    """Run the solver once on a small example of the problem, and its own warm-up, so that compilation stays outside the clock."""
    # options that choose a method; numbers and arrays may belong to the problem at hand
    choices = {name: value for name, value in options.items() if isinstance(value, (str, bool))}
    key = (spec.name, kind.name, *sorted(choices.items()))
    if key in _warm:
        return
    with _warming:  # another thread's clock must not start before this is done, either
        if key in _begun:
            return
        _begun.add(key)
        try:
            _compile(spec, kind, choices)
        finally:
            _warm.add(key)


def _compile(spec: SolverSpec, kind: type[Problem], choices: dict[str, Any]) -> None:
    if spec.warm_up is not None:
        spec.warm_up()
    for example in kind.examples(np.random.default_rng(0)):
        if not example.degenerate and spec.reason_against(example.problem) is None:
            # what fails on an example may work on the problem at hand; if not, the solve itself will say so
            with suppress(*FAILURES), pulled(spec, example.problem.normalised()[0], tol=1e-6, **choices) as iterates:
                for _ in islice(iterates, WARM_UP_ITERATES):
                    pass
            return


def sweep(run: Run, backend: BackEnd, normal: Problem, time_limit: float, options: dict[str, Any], declare: Declare) -> Ending:
    """Run a back end at the tolerance asked for, then at tighter ones while that brings the certificate nearer."""
    try:
        return _sweep(run, backend, normal, time_limit, options, declare)
    except FAILURES as error:
        return Status.FAILED, f"{type(error).__name__}: {error}", failed(backend.name, error)


def _examined(run: Run, ended: Ending) -> Ending:
    """INFEASIBLE where the problem's ray proves it; else FAILED, because a back end's status alone proves nothing.

    UNBOUNDED needs a ray of points along which the objective falls without end. Only declared problems have one; their proof comes later
    (`simopt.duality.infeasibility.unbounded`).
    """
    assessed = judge(run.problem, run.problem.trivial_point(), run.problem.ray(), report=run.report)
    bounds = assessed.certificate
    if bounds.infeasible:
        run.best = assessed
        if run.infeasible:
            return Status.INFEASIBLE, ended[1], INFEASIBLE[2]
    bounds = bounds.of_the_maximum() if run.problem.maximises else bounds
    link = "although" if math.isfinite(bounds.upper) and math.isfinite(bounds.lower) else "which no ray proves;"
    return Status.FAILED, ended[1], f"{ended[2]}, {link} {bounds.lower:.6g} ≤ optimum ≤ {bounds.upper:.6g}"


def _sweep(run: Run, backend: BackEnd, normal: Problem, time_limit: float, options: dict[str, Any], declare: Declare) -> Ending:
    import_module("cvxpy")  # here, so that its second of start-up stays outside the clock
    from simopt.backends import adapter

    run.sampling = "tolerance"
    own = dict(options)
    max_iter = own.pop("max_iter", None)
    ended: Ending = (Status.NOT_SOLVED, "", "not run")
    native_tol, previous = max(run.tol, backend.floor), math.inf
    start = time.perf_counter()
    try:
        declaration = declare(normal, backend.cones)
    except InvalidProblem as error:
        return Status.UNSUPPORTED, "", str(error)
    run.setup_seconds += time.perf_counter() - start
    if run.report is not None:
        run.report_step(form_name(type(normal)), form_text(declaration))
    for _ in range(ATTEMPTS):
        seconds_left = time_limit - run.solve_seconds
        if seconds_left <= 0:
            return Status.TIME_LIMIT, ended[1], f"the gap was still open after {time_limit:g} s"
        try:
            tol = None if normal.own_tolerance else native_tol
            result = adapter.run(declaration, backend, tol=tol, max_iter=max_iter, time_limit=seconds_left, options=own)
        except adapter.Refused as error:
            return Status.UNSUPPORTED, "", str(error)
        run.report_step(backend.name, f"{result.summary}, tolerance {'its own' if tol is None else format(tol, '.0e')}")
        run.setup_seconds += result.setup_seconds
        run.solve_seconds += result.solve_seconds
        run.iterations += result.iterations
        if result.point is None:
            ended = (result.status, result.status_text, f"{backend.name} returned no point: {result.status_text}")
            if result.status in (Status.INFEASIBLE, Status.UNBOUNDED):
                return _examined(run, ended)
            if result.status is Status.TIME_LIMIT:
                return ended
        elif run.certify(result.point, result.multipliers):
            return Status.OPTIMAL, result.status_text, None
        else:
            status = Status.GAP_OPEN if result.status in (Status.OPTIMAL, Status.FAILED, Status.NOT_SOLVED) else result.status
            ended = (status, result.status_text, f"{backend.name} says {result.status_text!r}, the certificate is open")
            reached = run.samples[-1].gap
            if status is Status.TIME_LIMIT or (max_iter is not None and status is Status.ITERATION_LIMIT) or reached > 0.5 * previous:
                return ended
            previous = reached
        tighter = max(native_tol * 1e-2, 1e-15, backend.floor)
        if normal.own_tolerance:
            return ended
        if not backend.tolerance or tighter >= native_tol:
            floor = f"; its smallest tolerance is {backend.floor:g}" if backend.floor else ""
            return ended[0], ended[1], f"{ended[2]}{floor}"
        native_tol = tighter
    return ended
