"""docs/league.md from the runs of a league: what was played, who is fastest in each class, whose claims are true, and each false one."""

from __future__ import annotations

import datetime
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.league.entries import CLASSES, SETS, Entry
from benchmarks.league.false_claims import Reproduction, reproduced
from benchmarks.league.play import TIGHT, TOL, EntryState, Rules
from simopt.backends.table import COPIES
from simopt.compare.machine_load import load_of_runs
from simopt.compare.record import Record
from simopt.compare.solver_claims import FALSE, NOT_PROVEN, TRUE
from simopt.core.foreign_text import in_markdown

BY_HAND = Path(__file__).with_name("by_hand.md")  # what was looked into, with its day; to be written anew when verdicts or solvers change
GAPS = (1e-4, TOL)
COLUMNS = ("taken", *(f"to {gap:g}" for gap in GAPS), *(f"first to {gap:g}" for gap in GAPS), TRUE, NOT_PROVEN, FALSE)
HEAD = """# The league of solvers

Written by `make league` from a run. Each solver takes each problem that it can take, on its own settings and on tight ones, in a process
of its own with one thread. What counts is the time to a *certified* relative gap, set-up included, and whether what a solver claims at its
own stop is true ([the terms](comparing.md)). A league is of one machine, and of problems that are small: it ranks nobody on yours, which
`simopt compare` does.
"""


@dataclass(frozen=True)
class Played:
    """An entry with what is known of it, its runs, and the folder that they are in."""

    entry: Entry
    state: EntryState
    runs: tuple[Record, ...]
    home: Path


def written(played: Sequence[Played], whole: int, missing: Sequence[str], absent: Sequence[str], rules: Rules) -> str:
    """The page; `whole` entries were to be played, `missing` sets and `absent` solvers were not at hand."""
    assessed = [each for each in played if each.state.played and each.runs]
    runs = [run for each in assessed for run in each.runs]
    parts = [HEAD, "\n".join(_what_was_run(played, whole, missing, absent, rules))]
    if runs:
        parts += [
            "\n".join(_summary(assessed)),
            *(_table(kind, [each for each in assessed if each.state.kind == kind]) for kind in CLASSES),
        ]
        parts += [BY_HAND.read_text(encoding="utf-8"), "\n".join(_false(assessed))]
    parts.append("\n".join(_left_out(played)))
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _what_was_run(played: Sequence[Played], whole: int, missing: Sequence[str], absent: Sequence[str], rules: Rules) -> Iterator[str]:
    yield "## What was run\n"
    runs = [run for each in played if each.state.played for run in each.runs]
    done = len([each for each in played if each.state.played])
    yield f"* **{done} of {whole} problems**" + ("." if done == whole else ": the league was cut short, and is not the whole one.")
    counts = Counter(each.entry.set for each in played if each.state.played)
    yield from (f"* {SETS[name]}: {count}." for name, count in counts.items())
    yield from (f"* Not at hand. {line}." for line in missing)
    days = sorted({run.started[:10] for run in runs}) or [datetime.date.today().isoformat()]
    yield f"* {len(runs)} runs, {days[0]}" + (f" to {days[-1]}" if days[0] != days[-1] else "") + ", one of each solver and setting."
    yield from (f"* Machine: {machine}." for machine in sorted({run.machine for run in runs if run.machine}))
    if (load := load_of_runs(runs)) is not None:
        yield f"* Load of the machine: {load}."
    jobs = max((run.jobs for run in runs), default=rules.jobs)
    beside = "One run at a time" if jobs == 1 else f"Up to {jobs} runs at the same time, which share caches and memory"
    yield f"* {beside}; limit {rules.time_limit:g} s for each solve."
    versions = sorted({f"{run.cell.solver} {run.solver_version}" for run in runs if run.cell.solver in rules.solvers})
    yield f"* Solvers: {', '.join(versions)}." + (f" Not installed: {', '.join(absent)}." if absent else "")
    packages = sorted({f"{name} {version}" for run in runs for name, version in json.loads(run.versions).items()})
    yield f"* {', '.join(packages)}."
    yield f"* *tight*: each tolerance is {TIGHT:g}, or the least that the solver takes, where it is known which options those are."
    yield f"* Left out as copies: {', '.join(f'{name} (of {other})' for name, other in COPIES.items())}."


def _label(run: Record) -> str:
    return run.cell.solver + ("" if run.cell.options == "{}" else ", tight")


def _summary(assessed: Sequence[Played]) -> Iterator[str]:
    """The answer, in a few sentences."""
    yield "## The answer\n"
    runs = [run for each in assessed for run in each.runs]
    for gap in GAPS:
        first = Counter(_first(each.runs, gap) for each in assessed)
        solved = len(assessed) - first.pop("", 0)
        named = ", ".join(f"{name} on {count}" for name, count in first.most_common(4))
        yield f"* First to a certified {gap:g}: {named}, of {solved} problems that anybody brought there ({len(assessed)} played)."
    claims = Counter(run.claim_verdict for run in runs if run.claim_verdict)
    yield f"* Of {claims.total()} claims {claims[TRUE]} are true, {claims[NOT_PROVEN]} not proven, **{claims[FALSE]} FALSE**."
    liars = Counter(f"{_label(run)}: {run.claimed}" for run in runs if run.claim_verdict == FALSE)
    yield from (f"    * {name}, {count} times" for name, count in liars.most_common())


def _first(runs: Sequence[Record], gap: float) -> str:
    """The label of the run of the least time to a gap; "" where there is none."""
    best = min(runs, key=lambda run: run.time_to(gap), default=None)
    return "" if best is None or math.isinf(best.time_to(gap)) else _label(best)


def _table(kind: str, played: Sequence[Played]) -> str:
    if not played:
        return ""
    by_label: dict[str, list[Record]] = defaultdict(list)
    for each in played:
        for run in each.runs:
            by_label[_label(run)].append(run)
    wins = {gap: Counter(_first(each.runs, gap) for each in played) for gap in GAPS}
    rows = []
    for label, runs in by_label.items():
        solved = [sum(math.isfinite(run.time_to(gap)) for run in runs) for gap in GAPS]
        shares = [f"{count} ({count / len(runs):.0%})" for count in solved]
        verdicts = Counter(run.claim_verdict for run in runs)
        counts = [str(verdicts[name] or "") for name in (TRUE, NOT_PROVEN, FALSE)]
        rows.append(
            (
                solved[-1] / len(runs),
                wins[TOL][label],
                [label, str(len(runs)), *shares, *(str(wins[gap][label] or "") for gap in GAPS), *counts],
            )
        )
    rows.sort(key=lambda row: (-row[1], -row[0], row[2][0]))
    sizes = Counter(each.entry.set for each in played)
    words = ", ".join(f"{count} of {name}" for name, count in sizes.items())
    lines = [f"## {kind.capitalize()}", "", f"{words}.", "", f"| solver | {' | '.join(COLUMNS)} |"]
    lines += ["|---" + "|---:" * len(COLUMNS) + "|", *(f"| {' | '.join(cells)} |" for _, _, cells in rows)]
    return "\n".join(lines)


def _false(assessed: Sequence[Played]) -> Iterator[str]:
    """Each false claim with the lines that reproduce it; one that a solver makes on both settings is one."""
    found: dict[tuple[str, str, str], list[tuple[Played, Record]]] = defaultdict(list)
    for each in assessed:
        for run in each.runs:
            if run.claim_verdict == FALSE:
                found[(run.cell.solver, each.entry.name, run.claimed)].append((each, run))
    yield "## False claims\n"
    if not found:
        yield "None was found."
        return
    yield "The lines of each were run before this page was written, and printed what stands below them."
    for name, runs in sorted(found.items()):
        yield from _one(name, runs)


def _one(name: tuple[str, str, str], runs: Sequence[tuple[Played, Record]]) -> Iterator[str]:
    solver, problem, claimed = name
    yield f"\n### {solver}: {problem} {claimed}\n"
    tried = [(run, reproduced(each.entry, run, each.home)) for each, run in runs]
    for run, made in tried:
        value = "" if math.isnan(run.claimed_value) else f" with the optimum {run.claimed_value:.9g} (of a maximum, its negative)"
        settings = "its own" if run.cell.options == "{}" else "tight"
        yield f"On {settings} settings it claims *{run.claimed}*{value}, at the tolerance {run.claim_tolerance:g}. {_how(made)}"
    shown = next((made for _, made in tried if made.holds), tried[0][1])
    yield f"Run in {runs[0][0].entry.home}:\n\n```python\n" + "\n".join(shown.lines) + f"\n```\n\n```text\n{shown.printed}\n```"


def _how(made: Reproduction) -> str:
    if not made.holds:
        return "**Not reproduced:** neither CVXPY alone nor the comparison once more had it claim that again."
    return (
        "Reproduced by CVXPY alone."
        if made.alone
        else "Not by CVXPY alone, but of the form that a comparison hands to it; both have one optimum."
    )


def _left_out(played: Sequence[Played]) -> Iterator[str]:
    """Problems that nobody played, with the reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for each in played:
        if each.state.left_out:
            reasons[each.state.left_out.removeprefix(f"InvalidProblem: {each.entry.name}: ")].append(each.entry.name)
    if reasons:
        yield "## Left out\n"
    yield from (f"* {', '.join(names)}: {in_markdown(reason)}" for reason, names in reasons.items())


def load(home: Path, entry: Entry, state: EntryState) -> Played:
    """An entry with the runs that its folder has."""
    from simopt.compare import comparison

    there = any((home / "runs").glob("*.json"))
    return Played(entry, state, tuple(comparison.load(home).records) if there else (), home)
