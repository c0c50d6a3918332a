"""One entry of the league: who can take it, on which settings, and the runs, by `simopt.compare_solvers`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import simopt
from benchmarks.league.entries import Entry, class_of
from simopt.backends.table import COPIES, BackEnd, usable
from simopt.compare import own_problems
from simopt.compare.own_problems import OwnProblem
from simopt.compare.record import Record
from simopt.core import jsonio
from simopt.model.problem import is_cvxpy
from simopt.solving.solver import solvers_of

TOL = 1e-6  # certified
TIGHT = 1e-10  # each tolerance of a back end, on tight settings
WANTED = ("clarabel", "ecos", "scs", "osqp", "highs", "piqp", "proxqp", "qpalm", "daqp", "qoco", "cvxopt", "sdpa")
STATE = "entry.json"
Candidate = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Rules:
    """What holds for every run."""

    time_limit: float
    jobs: int
    solvers: tuple[str, ...]


@dataclass
class EntryState:
    """What is known of an entry beside its runs."""

    played: list[str] = field(default_factory=list)  # candidates, where all are done
    kind: str = ""
    unsuitable: dict[str, str] = field(default_factory=dict)
    left_out: str = ""  # why nobody plays it


def taking_part(named: Sequence[str] | None) -> tuple[list[BackEnd], list[str]]:
    """The back ends that play, and the names of those that are not installed."""
    found = [each for each in usable() if each.name not in COPIES and (named is None or each.name in named)]
    names = {each.name for each in found}
    return found, [name for name in (named or WANTED) if name not in names]


def settings_of(backend: BackEnd) -> list[Candidate]:
    """Its own settings, and tight ones where it is known which options those are."""
    tight = dict.fromkeys(backend.tolerance, max(TIGHT, backend.floor))
    return [(backend.name, {}), *([(backend.name, tight)] if tight else [])]


def home_of(folder: Path, entry: Entry) -> Path:
    """Where the runs of an entry are."""
    return folder / entry.set / entry.name


def state_of(folder: Path, entry: Entry) -> EntryState:
    """What is known of an entry by now."""
    path = home_of(folder, entry) / STATE
    return EntryState(**jsonio.read(path)) if path.exists() else EntryState()


def play(folder: Path, entry: Entry, rules: Rules, progress: Callable[[int, int, Record], None]) -> None:
    """Run what is missing of an entry; one that is done already takes no time.

    Whatever is wrong with an entry is told on the page, and ends no league.

    Raises
    ------
    KeyboardInterrupt
        what is done is kept.
    """
    key = [simopt.__version__, f"{rules.time_limit:g} s", *rules.solvers]
    if state_of(folder, entry).played == key:
        return
    target = home_of(folder, entry)
    target.mkdir(parents=True, exist_ok=True)
    state = EntryState()
    try:
        _play(target, entry, rules, state, progress)
    except Exception as error:
        state.left_out = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    state.played = key
    jsonio.write(target / STATE, asdict(state))


def _play(target: Path, entry: Entry, rules: Rules, state: EntryState, progress: Callable[[int, int, Record], None]) -> None:
    problem = entry.make()
    own = OwnProblem.of(entry.name, problem) if is_cvxpy(problem) else problem
    state.kind = class_of(problem if is_cvxpy(problem) else problem.declare())
    playing = [each for each in usable() if each.name in rules.solvers]
    suited, state.unsuitable = own_problems.suitable(own, playing)
    candidates = [each for backend in suited for each in settings_of(backend)]
    design: dict[str, Any] = {}
    if not is_cvxpy(problem):
        candidates = [*((spec.name, {}) for spec in solvers_of(type(problem))), *candidates]
        design["sizes"] = [entry.size]
    if candidates:
        limits = {"repetitions": 1, "tol": TOL, "time_limit": rules.time_limit}
        what = {entry.name: problem} if is_cvxpy(problem) else entry.name
        simopt.compare_solvers(what, candidates, jobs=rules.jobs, folder=target, progress=progress, **limits, **design)
    else:
        state.left_out = "no solver can take it"
