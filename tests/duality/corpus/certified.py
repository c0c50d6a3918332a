"""What the reader takes of the list, and which certificates close: a line a problem in results.jsonl, so that a run may be resumed."""

from __future__ import annotations

import json
import math
import multiprocessing
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path

import cvxpy as cp
from corpus import CorpusSolve, FurtherSolve, entries, further, wanted
from fingerprint import fingerprint
from intercept import intercepted
from values import compared

import simopt
from simopt.arithmetic import FLOAT, INTERVAL
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality import Declared
from simopt.duality.graph_form import best_of, candidates

RESULTS = Path(__file__).with_name("results.jsonl")
FURTHER_RESULTS = Path(__file__).with_name("further_results.jsonl")
CLOSED = {"float": 1e-8, "interval": 1e-6}  # of |optimum|
ZERO = 1e-8  # of its terms: what an optimum 0 may be read as
STANDING = 60.0  # times as long by the clock: a process that uses no processor at all
MISSED = 1e-4  # of 1 + |optimum|: what CLARABEL's answer, with its default tolerances, may be off by


@dataclass(frozen=True)
class Result:
    """What became of a problem: `refused` by the reader, with its reason; else bounds by arithmetic, what is open, and the time.

    `values` are those of random points that were compared with CVXPY's, `misread` the first that is another.
    `solvers` are the back ends that were asked, one after the other until a gap closed. `moved` says that its numbers are
    not those of the list: a few are another solve's answer, whose last digits are the machine's.
    Of the second list: `proven` is "infeasible" or "unbounded" where both arithmetics prove it, and bounds are those of the problem as
    written, which may be a maximum (`maximises`).
    """

    id: str
    fingerprint: str
    moved: bool = False
    refused: str = ""
    failed: str = ""
    values: int = 0
    misread: str = ""
    lower: dict[str, float] = field(default_factory=dict)
    upper: dict[str, float] = field(default_factory=dict)
    gap: dict[str, float] = field(default_factory=dict)
    terms: dict[str, float] = field(default_factory=dict)
    rounding: dict[str, bool] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    seconds: float = 0.0
    solvers: list[str] = field(default_factory=list)
    proven: str = ""
    maximises: bool = False

    def closed(self, entry: CorpusSolve) -> bool:
        """Whether the gap is small in both arithmetics, relative to an optimum other than 0."""
        size = abs(entry.optimum or 0.0)
        return all(self.gap.get(name, math.inf) <= most * size for name, most in CLOSED.items())

    def reads_zero(self) -> bool:
        """Whether both arithmetics close by rounding, or read zero to a small fraction of the terms."""
        return all(self.gap.get(name) == 0.0 or self.terms.get(name, math.inf) <= ZERO for name in CLOSED)

    def accurate(self, entry: CorpusSolve) -> bool:
        """Whether it closes, or reads an optimum 0 as zero."""
        return self.closed(entry) if entry.optimum else self.closes() or self.reads_zero()

    def closes(self) -> bool:
        """Whether both certificates of an optimum 0 are exact, or no farther apart than rounding."""
        return all(self.gap.get(name) == 0.0 or self.rounding.get(name, False) for name in CLOSED)

    def answered(self, entry: FurtherSolve) -> bool:
        """Whether a problem of the second list has an answer: see the page."""
        if self.refused or self.failed:
            return False
        if self.proven:
            return True
        if entry.integer:
            return all(math.isfinite(end.get(name, math.inf)) for end in (self.lower, self.upper) for name in CLOSED)
        return self.accurate(entry)

    def contradicts(self, entry: CorpusSolve) -> str:
        """How a bound contradicts what CLARABEL says or the other arithmetic; nothing if none does."""
        slack = MISSED * (1.0 + abs(entry.optimum or 0.0))
        if self.proven and entry.status in ("optimal", "infeasible", "unbounded") and entry.status != self.proven:
            return f"{self.proven}, CVXPY's back end: {entry.status}"
        for name in self.lower:
            low, high = self.lower[name], self.upper[name]
            if entry.optimum is not None and entry.status == "optimal" and not low - slack <= entry.optimum <= high + slack:
                return f"{name}: {low:.6g} ≤ optimum ≤ {high:.6g}, CLARABEL: {entry.optimum:.6g}"
            value, feasible = (low, low > -math.inf) if self.maximises else (high, high < math.inf)
            if entry.status == "infeasible" and feasible:
                return f"{name}: a point with the value {value:.6g}, CLARABEL: infeasible"
            if entry.status == "unbounded" and low > -math.inf and high < math.inf:
                return f"{name}: {low:.6g} ≤ optimum, CLARABEL: unbounded"
            if low > high + slack:
                return f"{name}: {low:.6g} ≤ optimum ≤ {high:.6g}"
        return ""


def results(path: Path = RESULTS) -> dict[str, Result]:
    """The lines that are there, by id."""
    if not path.exists():
        return {}
    return {line["id"]: Result(**line) for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def certify(seconds: float, chosen: Sequence[CorpusSolve], path: Path) -> None:
    """Judge what has no line yet, or one of another problem; each in a process of its own, which has so many seconds of a processor."""
    done = results(path)
    left = [entry for entry in chosen if entry.id not in done or done[entry.id].fingerprint != entry.fingerprint]
    listed = {entry.id: entry for entry in left}
    with path.open("a", encoding="utf-8") as lines:
        for number, each in enumerate(intercepted(wanted(left)) if left else (), 1):
            entry, problem = listed[each.id], each.problem()
            result = replace(_alone(entry, problem, seconds), moved=fingerprint(problem) != entry.fingerprint)
            lines.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
            lines.flush()
            print(f"\r{number} of {len(left)}, {result.seconds:5.1f} s: {each.id[-80:]:80}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _alone(entry: CorpusSolve, problem: cp.Problem, seconds: float) -> Result:
    """The result of a process that may take so much of a processor, whatever else that has to do, or end by itself."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_send, args=(theirs, entry, problem, math.ceil(seconds)))
    child.start()
    theirs.close()
    late = Result(entry.id, entry.fingerprint, failed=f"not ready after {seconds:g} s", seconds=seconds)
    try:
        if not ours.poll(STANDING * seconds):
            return late
        found: Result = ours.recv()
        return found
    except EOFError:
        child.join()
        return late if child.exitcode == -signal.SIGXCPU else Result(entry.id, entry.fingerprint, failed="its process ended")
    finally:
        child.kill()
        child.join()
        ours.close()


def _send(pipe: Connection, entry: CorpusSolve, problem: cp.Problem, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    pipe.send(certified(entry, problem))


def certified(entry: CorpusSolve, problem: cp.Problem) -> Result:
    """Read, solved in graph form, and bounded in floats and balls; bounds of what is maximised are turned back."""
    if isinstance(entry, FurtherSolve):
        return _of_further(entry, problem)
    started = time.process_time()

    def result(**fields: object) -> Result:
        return Result(entry.id, entry.fingerprint, seconds=round(time.process_time() - started, 3), **fields)  # type: ignore[arg-type]

    try:
        declared = Declared.of(problem)
    except (Unreadable, InvalidProblem) as error:
        return result(refused=reason(error))
    except Exception as error:  # the reader's own errors are to be seen
        return result(failed=f"reading: {type(error).__name__}: {error}"[:300])
    values, misread = compared(declared)
    lower, upper, gap, terms, rounding, left, asked = {}, {}, {}, {}, {}, list[str](), list[str]()
    try:
        found = list(candidates(declared))
        above, below = best_of(found)
        point, multipliers = above.point, below.multipliers
        asked += dict.fromkeys(each.solver for each in found)
        for num in (FLOAT, INTERVAL):
            certificate = simopt.certify(declared, point, multipliers, num=num)
            sign = -1.0 if declared.programme.maximises else 1.0
            ends = sorted((sign * certificate.lower, sign * certificate.upper))
            lower[num.name], upper[num.name], gap[num.name] = *ends, certificate.gap
            terms[num.name], rounding[num.name] = certificate.gap_over_terms, certificate.rounding
            if certificate.gap > CLOSED[num.name] * abs(entry.optimum or 0.0) and not certificate.rounding:
                left += declared.open(multipliers, declared.restore(point, num), num)
    except Exception as error:
        failed = f"{type(error).__name__}: {error}"[:300]
    else:
        failed = ""
    return result(
        failed=failed,
        values=values,
        misread=misread,
        lower=lower,
        upper=upper,
        gap=gap,
        terms=terms,
        rounding=rounding,
        open=list(dict.fromkeys(left)),
        solvers=[] if failed else asked,
    )


def _of_further(entry: FurtherSolve, problem: cp.Problem) -> Result:
    """Solved and bounded in floats and in balls, as `simopt.solve` does it for a user."""
    started = time.process_time()
    result = Result(entry.id, entry.fingerprint, maximises=isinstance(problem.objective, cp.Maximize))
    proofs = set[str]()
    try:
        for name, tol in CLOSED.items():
            solution = simopt.solve(problem, gp=entry.geometric, rigorous=name == INTERVAL.name, tol=tol)
            status, found = solution.status.name.lower(), solution.certificate
            proofs.add(status if status in ("infeasible", "unbounded") else "")
            result.solvers.extend({solution.provenance.solver} - {"", *result.solvers})
            if found is None:
                result.open.append(solution.message)
                continue
            if not proofs - {""}:
                result.lower[name], result.upper[name], result.gap[name] = found.lower, found.upper, found.gap
                result.terms[name], result.rounding[name] = found.gap_over_terms, found.rounding
            if found.gap > tol * abs(entry.optimum or 0.0) and not found.rounding:
                result.open.extend({found.open or solution.message} - {"", *result.open})
    except (Unreadable, InvalidProblem) as error:
        result = replace(result, refused=reason(error))
    except Exception as error:
        result = replace(result, failed=f"{type(error).__name__}: {error}"[:300])
    proven = proofs.pop() if len(proofs) == 1 else ""
    return replace(result, proven="" if result.failed else proven, seconds=round(time.process_time() - started, 3))


def reason(error: Exception) -> str:
    """What a refusal is of, without the names and numbers of the one problem."""
    what = str(getattr(error, "what", error))
    return what.partition(": ")[2] or what


def counted() -> Iterator[tuple[CorpusSolve, Result]]:
    """The list with its results, where there are any."""
    found = results()
    return ((entry, found[entry.id]) for entry in entries() if entry.id in found)


def counted_further() -> Iterator[tuple[FurtherSolve, Result]]:
    """The second list with its results, where there are any."""
    found = results(FURTHER_RESULTS)
    return ((entry, found[entry.id]) for entry in further() if entry.id in found)
