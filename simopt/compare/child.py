"""One cell in a process of its own: what `simopt.compare.processes` has done there, and the answer that comes back.

The libraries read how many threads they may use when they are loaded, memory can be told apart, and what hangs can be ended. A process may
serve several cells, one after another: imports and compiled code stay, problems and freed memory do not.
"""

from __future__ import annotations

import gc
import os
import pickle
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simopt.compare.cell import PlannedRun

QUICK = 10.0  # seconds of a canonicalisation that is done once more, off the clock, to know class and size of a problem
AGAIN = 1.0  # seconds; what takes less is run a second time, with warm caches, and the second run counts


@dataclass(frozen=True)
class ChildTask:
    """One cell with what a child needs beside its numbers: classes, data and options, not their names, so that it looks nothing up."""

    cell: PlannedRun
    kind: Any  # the problem class
    problem: Any  # an instance, an OwnProblem, or None to build one
    data: Any  # a Dataset, or None to generate one
    settings: dict[str, Any]
    chosen: Any  # SolverSpec or BackEnd
    options: dict[str, Any]


@dataclass
class ChildAnswer:
    """The result, as plain values."""

    status: str
    reported: str = ""
    message: str = ""
    sampling: str = ""
    fingerprint: str = ""
    shapes: dict[str, Any] = field(default_factory=dict)
    scale: float = float("nan")
    setup_seconds: float = float("nan")
    solve_seconds: float = float("nan")
    spent_seconds: float = float("nan")
    certificate_seconds: float = float("nan")
    iterations: int = 0
    megabytes: float = float("nan")
    warm: bool = False
    threads_seen: int = 0
    points: list[dict[str, Any]] = field(default_factory=list)
    claimed: str = ""
    claimed_value: float = float("nan")
    claim_tolerance: float = float("nan")
    claim_gap: float = float("nan")
    claim_residual: float = float("nan")
    claim_bound: float = float("nan")
    claim_verdict: str = ""
    claim_reason: str = ""
    claim_point: str = ""
    problem_class: str = ""
    variables: int = 0
    nonzeros: int = 0
    versions: dict[str, str] = field(default_factory=dict)
    solver_version: str = ""
    system: dict[str, Any] = field(default_factory=dict)


@dataclass
class Served:
    """An answer, and whether the process may serve another cell; `megabytes` is what it holds between two."""

    answer: ChildAnswer
    reusable: bool
    megabytes: float


def serve(task: bytes) -> Served:
    """`perform` for a pickled task, of which nothing is left afterwards: what a process holds between two cells belongs to neither."""
    before = _Surroundings()
    answer = perform(pickle.loads(task))
    return _tidied(answer, before)


def _tidied(answer: ChildAnswer, before: _Surroundings) -> Served:
    """The answer, once memory is given back.

    A process in which a run has failed, or has left threads, processes, another folder or another environment behind, serves no other.
    """
    from simopt.compare import memory
    from simopt.processes import worker

    worker.give_back()
    gc.freeze()  # what lives now stays: later collections, of which each run has several, need not look at modules again
    strangers = set(memory.children()) - {helper.pid for helper in worker.living()}
    clean = answer.status != "failed" and not strangers and before.are_left()
    return Served(answer, clean and memory.can_be_set_back(), memory.resident())


class _Surroundings:
    """What one run could leave to the next one beside memory: threads, the working folder, the environment."""

    def __init__(self) -> None:
        self._threads, self._folder, self._environment = threading.active_count(), os.getcwd(), dict(os.environ)

    def are_left(self) -> bool:
        """Whether they are as they were. Variables may have been added: libraries do so when they are imported."""
        same = threading.active_count() <= self._threads and os.getcwd() == self._folder
        return same and self._environment.items() <= dict(os.environ).items()


def perform(task: ChildTask) -> ChildAnswer:
    """Build the problem, warm up, run, and once more where that was quick.

    A failure is an answer too, with its reason: a comparison shows failures as failures.
    """
    from threadpoolctl import threadpool_limits

    from simopt.compare import instances
    from simopt.compare.own_problems import OwnProblem
    from simopt.core.errors import InvalidProblem

    cell = task.cell
    with threadpool_limits(cell.threads):
        try:
            problem = task.problem
            if problem is None:
                problem = instances.build(
                    task.kind, task.data, size=cell.size, conditioning=cell.conditioning, settings=task.settings, seed=cell.seed
                )
            elif isinstance(problem, OwnProblem):
                problem = problem.read()
            elif cell.conditioning is not None:
                problem = instances.conditioned(problem, cell.conditioning)
        except InvalidProblem as error:
            return described(ChildAnswer("not solved", message=str(error)), task)
        except MemoryError as error:
            return described(ChildAnswer("failed", message=_memory("out of memory while the problem was built", error)), task)
        return described(_run(task, problem), task)


def _run(task: ChildTask, problem: Any) -> ChildAnswer:
    from simopt.compare import traces
    from simopt.compare.memory import PeakMemory

    answer = ChildAnswer("not solved", fingerprint=problem.fingerprint(), shapes=_shapes(problem))
    for warm in (False, True):
        try:
            if not warm:
                _warm_up(task, type(problem))
            memory = PeakMemory()
            gc.disable()
            start = time.perf_counter()
            found = traces.measure(problem, task.chosen, tol=task.cell.tol, time_limit=task.cell.time_limit, options=task.options)
        except MemoryError as error:
            answer.status, answer.message = "failed", _memory("out of memory", error)
            return answer
        except Exception as error:  # a defect of a solver is its failure here, not the end of the comparison
            answer.status, answer.reported = "failed", type(error).__name__
            answer.message = f"{type(error).__name__}: {error}"
            return answer
        finally:
            gc.enable()
        took = time.perf_counter() - start
        answer.megabytes, answer.warm = memory.megabytes(), warm
        if took > AGAIN:
            break
    answer.status, answer.reported, answer.message = found.status.value, found.reported, found.message
    answer.sampling, answer.scale, answer.iterations = found.sampling, found.scale, found.iterations
    answer.setup_seconds, answer.solve_seconds, answer.spent_seconds = found.setup, found.solve, found.spent
    answer.certificate_seconds = found.certificate
    answer.points = [asdict(point) for point in found.points]
    _examine(task, problem, answer)
    _measure_size(task, problem, answer)
    return answer


def _examine(task: ChildTask, problem: Any, answer: ChildAnswer) -> None:
    """What a back end claims by itself, if it stops within its limits."""
    from simopt.backends.adapter import Refused
    from simopt.backends.table import BackEnd
    from simopt.compare import solver_claims
    from simopt.core.errors import InvalidProblem
    from simopt.solving.run import FAILURES

    if not isinstance(task.chosen, BackEnd) or answer.status in ("unsupported", "time limit", "failed"):
        return
    with suppress(*FAILURES, Refused, InvalidProblem):  # the run has said so, or it is no claim
        claim = solver_claims.examine(problem, task.chosen, time_limit=task.cell.time_limit, options=task.options)
        if claim is not None:
            answer.claimed, answer.claimed_value, answer.claim_tolerance = claim.claimed, claim.value, claim.tolerance
            answer.claim_gap, answer.claim_residual, answer.claim_bound = claim.gap, claim.residual, claim.bound
            answer.claim_verdict, answer.claim_reason, answer.claim_point = claim.verdict, claim.reason, claim.point


def _measure_size(task: ChildTask, problem: Any, answer: ChildAnswer) -> None:
    """Class, variables and nonzeros, where a back end has made a cone programme of the problem already, and that was quick."""
    from simopt.backends.table import BackEnd
    from simopt.compare import problem_size

    if isinstance(task.chosen, BackEnd) and answer.setup_seconds < min(QUICK, task.cell.time_limit):
        size = problem_size.problem_size(problem)
        answer.problem_class, answer.variables, answer.nonzeros = size.problem_class, size.variables, size.nonzeros


def _memory(text: str, error: MemoryError) -> str:
    return f"{text} ({error})" if str(error) else text  # what comes from C code has nothing to say


def _warm_up(task: ChildTask, kind: Any) -> None:
    from simopt.backends.table import BackEnd
    from simopt.compare import traces
    from simopt.solving.run import FAILURES, warm_up

    if isinstance(task.chosen, BackEnd):
        traces.warm_up(task.chosen, kind)
    else:
        with suppress(*FAILURES):  # the run itself will say so
            warm_up(task.chosen, kind, task.options)


def _shapes(problem: Any) -> dict[str, Any]:
    """Shapes of the arrays of a problem, values of its numbers."""
    import dataclasses

    values = {item.name: getattr(problem, item.name) for item in dataclasses.fields(problem)}
    return {name: list(v.shape) if hasattr(v, "shape") and v.shape else v for name, v in values.items() if v is not None and _plain(v)}


def _plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str)) or bool(getattr(value, "shape", ()))


def described(answer: ChildAnswer, task: ChildTask) -> ChildAnswer:
    """The answer with versions, threads and system of this process."""
    from importlib.metadata import PackageNotFoundError, version

    from simopt.backends.table import BackEnd
    from simopt.compare import system
    from simopt.solving import provenance

    answer.versions = dict(provenance.versions())
    with suppress(PackageNotFoundError):
        answer.solver_version = task.chosen.version if isinstance(task.chosen, BackEnd) else version("simopt")
    answer.threads_seen, answer.system = provenance.threads(), system.describe()
    return answer
