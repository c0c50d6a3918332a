"""A false claim as lines of Python, run before anybody reads them: the solver's claim by CVXPY alone, and the bounds that contradict it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import cvxpy as cp

from benchmarks.league.entries import Entry
from simopt.backends import table
from simopt.compare.record import Record
from simopt.compare.solver_claims import BEYOND, FALSE
from simopt.core import jsonio

SECONDS = 300.0  # for the lines


@dataclass(frozen=True)
class Reproduction:
    """The lines, what they printed, whether its last line says FALSE, and whether the solver is called by CVXPY `alone`."""

    lines: tuple[str, ...]
    printed: str
    holds: bool
    alone: bool


def reproduced(entry: Entry, run: Record, cached: Path) -> Reproduction:
    """By CVXPY alone; where that does not reproduce the claim, by `simopt.compare_solvers`, which hands the solver another form.

    What came of it is kept in a folder, and told again of the same run and lines.
    """
    tried = ((True, _by_cvxpy(entry, run)), (False, _by_comparison(entry, run)))
    path = cached / f"reproduced-{run.cell.key}.json"
    key = [run.started, *("\n".join(lines) for _, lines in tried)]
    if path.exists() and (known := jsonio.read(path))["key"] == key:
        return Reproduction(tuple(known["lines"]), known["printed"], known["holds"], known["alone"])
    found = _run(entry, tried)
    jsonio.write(path, {"key": key, **asdict(found)})
    return found


def _run(entry: Entry, tried: Sequence[tuple[bool, tuple[str, ...]]]) -> Reproduction:
    """The first that reproduces the claim, or else the last."""
    for alone, lines in tried:
        command = [sys.executable, "-W", "ignore", "-c", "\n".join(lines)]
        try:
            done = subprocess.run(command, cwd=entry.folder, capture_output=True, text=True, timeout=SECONDS, check=False)
            printed = done.stdout.strip() or (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        except subprocess.TimeoutExpired:
            printed = f"not done after {SECONDS:g} s"
        last = (printed.splitlines() or [""])[-1]
        found = Reproduction(lines, printed, last.endswith(FALSE), alone)
        if found.holds:
            return found
    return found


def _by_cvxpy(entry: Entry, run: Record) -> tuple[str, ...]:
    """The claim, the proven bounds, and whether they exclude each other."""
    backend = table.find(run.cell.solver)
    assert backend is not None
    options = "".join(f", {name}={value!r}" for name, value in json.loads(run.cell.options).items())
    return (
        *entry.lines,
        f"problem.solve(solver={backend.cvxpy_name!r}{options})",
        "status, value = problem.status, problem.value",
        'print("claimed:", status, value)',
        'proven = simopt.solve(problem, "clarabel", tol=1e-8, rigorous=True).certificate',
        'print("proven:", proven.lower, "≤ optimum ≤", proven.upper)',
        *_assessed(entry, run),
    )


def _assessed(entry: Entry, run: Record) -> Iterator[str]:
    """The line that compares both, and prints FALSE where they exclude each other."""
    if run.claimed == "optimal":
        yield f"slack = {BEYOND:g} * {run.claim_tolerance:g} * (1 + max(abs(proven.lower), abs(proven.upper)))"
        yield "outside = value < proven.lower - slack or value > proven.upper + slack"
        yield f'print({FALSE!r} if status == "optimal" and outside else "not reproduced")'
        return
    made = entry.make()
    problem = made if isinstance(made, cp.Problem) else made.declare()
    above = isinstance(problem.objective, cp.Minimize) is (run.claimed == "infeasible")  # the side on which a finite bound contradicts
    finite = 'proven.upper < float("inf")' if above else 'proven.lower > -float("inf")'
    yield f'print({FALSE!r} if status.startswith({run.claimed!r}) and {finite} else "not reproduced")'


def _by_comparison(entry: Entry, run: Record) -> tuple[str, ...]:
    """What the league itself did, for this claim."""
    options = json.loads(run.cell.options)
    limits = f"repetitions=1, tol={run.cell.tol:g}, time_limit={run.cell.time_limit:g}"
    return (
        *entry.lines,
        f"found = simopt.compare_solvers({{'problem': problem}}, [({run.cell.solver!r}, {options!r})], {limits})",
        "run = found.records[0]",
        'print("claimed:", run.claimed, run.claimed_value)',
        "print(run.claim_verdict)",
    )
