"""The tables of a comparison as rows of words, as Markdown, and as plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from simopt.compare import statistics
from simopt.compare.record import Record
from simopt.core import jsonio
from simopt.core.foreign_text import in_markdown

HEADINGS = ("solver", "solved", "seconds", "range", "set-up", "solve", "× fastest", "in pairs", "MB", "gap/scale", "sampling", "its claim")


def seconds(value: float) -> str:
    """Seconds to three digits, "–" for none, "never" for ∞."""
    if math.isnan(value):
        return "–"
    return "never" if math.isinf(value) else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def headings(records: Sequence[Record]) -> tuple[str, ...]:
    """The headings of `rows`: those above, times to gaps after "range", and the failure at the end."""
    times = tuple(f"to {gap:g}" for gap in statistics.gaps(records))
    return (*HEADINGS[:4], *times, *HEADINGS[4:], "failure")


def blocks(records: Sequence[Record]) -> list[tuple[str, list[list[str]]]]:
    """For each instance and machine its title, and a row of words a solver."""
    machines = {record.machine for record in records}
    found: dict[str, list[list[str]]] = {}
    for row in statistics.summary(records):
        title = row.instance + (f"   ({row.machine})" if len(machines) > 1 else "")
        found.setdefault(title, []).append(cells(row))
    return list(found.items())


def cells(row: statistics.SummaryRow) -> list[str]:
    """One row."""
    spread = "" if row.successes < 2 else f"{seconds(row.seconds_low)}–{seconds(row.seconds_high)}"
    pairs = "" if row.successes < 2 or math.isnan(row.ratio) else f"{row.ratio_low:.2g}–{row.ratio_high:.2g}"
    ratio = "" if math.isnan(row.ratio) else f"{row.ratio:.3g}"
    failure = "" if row.successes == row.runs else row.status.upper() + (f": {row.reason}" if row.reason else "")
    return [
        row.solver, f"{row.successes}/{row.runs}", seconds(row.seconds), spread, *map(seconds, row.seconds_to_gap),
        seconds(row.setup_seconds), seconds(row.solve_seconds), ratio, pairs,
        "–" if math.isnan(row.megabytes) else f"{row.megabytes:.0f}",
        "–" if math.isnan(row.relative_gap) else f"{row.relative_gap:.1e}", row.sampling, row.claim_verdict, failure,
    ]  # fmt: skip


def success_lines(records: Sequence[Record]) -> list[str]:
    """Success rate of each solver, and its share of wins from the performance profile."""
    tolerances = {record.cell.tol for record in records}
    tol = max(tolerances, default=1e-8)
    wanted = f"{tol:g}" if len(tolerances) < 2 else "the tolerance asked for"
    profiles = {profile.solver: profile for profile in statistics.profiles(records, tol)}
    lines = []
    for name, (certified, runs) in statistics.success_rates(records).items():
        line = f"{name}: {certified} of {runs} runs certified to {wanted} ({certified / runs:.0%})"
        profile = profiles[name]
        if profile.instances:
            within = ", ".join(f"within {ratio:g} × the fastest on {profile.at(ratio):.0%}" for ratio in (2.0, 10.0))
            line += f"; fastest on {profile.at(1.0):.0%} of {profile.instances} instances, {within}"
        lines.append(line)
    return lines


def scaling_lines(records: Sequence[Record]) -> list[str]:
    """Exponents in words."""
    lines = []
    for fit in statistics.scaling(records):
        interval = "" if math.isnan(fit.low) else f" (95 %: {fit.low:.2f} to {fit.high:.2f})"
        failed = f"; not solved at {', '.join(map(str, fit.failed))}" if fit.failed else ""
        sizes = f"from {len(fit.sizes)} sizes, {fit.sizes[0]} to {fit.sizes[-1]}"
        lines.append(f"{fit.solver}: seconds ~ n^{fit.exponent:.2f}{interval}, {sizes}{failed}   [{fit.series}]")
    return lines


def notes(records: Sequence[Record]) -> list[str]:
    """Notes for reading the tables: sampling, threads, machines, versions, other runs at the same time."""
    threads = sorted({record.threads_seen for record in records if record.threads_seen})
    machines = sorted({record.machine for record in records if record.machine})
    solvers = sorted({f"{record.cell.solver} {record.solver_version}" for record in records if record.solver_version})
    jobs = max((record.jobs for record in records), default=1)
    lines = [
        "Seconds are set-up and solve together, medians over the runs that were certified; every gap is a certified one, over the scale.",
        "To 0.01, …: seconds until that gap. × fastest: over the fastest solver's in the same round, the median; in pairs: least–most.",
        "MB: the most memory of a run above what it held before it began.",
        "Its claim: what a back end says at its own tolerance, by certified bounds; FALSE: they miss its value by over ten times",
        "the tolerance, or prove a point where it says infeasible, or a bound where it says unbounded, for the data as they are.",
        "Sampling: `iterates` were certified with the clock stopped; `tolerance`: one fresh run a native tolerance.",
        f"Threads of linear algebra: {', '.join(map(str, threads)) or 'unknown'}."
        + (f" Solvers: {', '.join(solvers)}." if solvers else ""),
        *(f"Machine: {machine}" for machine in machines),
    ]
    return lines + ([f"Up to {jobs} runs went on at the same time and may have disturbed one another."] if jobs > 1 else [])


def unsuitable_lines(unsuitable: Sequence[tuple[str, str, str]]) -> list[str]:
    """Back ends that were left out, with the reason, once for all instances that share it."""
    found: dict[tuple[str, str], list[str]] = {}
    for instance, name, reason in unsuitable:
        found.setdefault((name, reason), []).append(instance)
    several = len({instance for instance, _, _ in unsuitable}) > 1
    return [f"{name}: {reason}" + (f"   [{'; '.join(where)}]" if several else "") for (name, reason), where in found.items()]


def markdown(records: Sequence[Record], *, complete: bool = True, unsuitable: Sequence[tuple[str, str, str]] = ()) -> str:
    """Everything as one Markdown text."""
    lines = ["# Comparison of solvers", ""]
    lines += [] if complete else ["**Interrupted: not all runs are here.**", ""]
    for title, rows in blocks(records):
        heads = headings(records)
        lines += [f"## {in_markdown(title)}", "", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        lines += ["| " + " | ".join(map(in_markdown, row)) + " |" for row in rows] + [""]
    sections = (
        ("Not suitable", unsuitable_lines(unsuitable)),
        ("Success", success_lines(records)),
        ("Scaling", scaling_lines(records)),
        ("Notes", notes(records)),
    )
    for title, found in sections:
        lines += [f"## {title}", "", *(f"* {in_markdown(line)}" for line in found), ""] if found else []
    return "\n".join(lines)


def plain(records: Sequence[Record], unsuitable: Sequence[tuple[str, str, str]] = ()) -> dict[str, Any]:
    """Summary, success, profiles, scaling and back ends that were left out, for JSON; ∞ and nan become null."""
    tol = max((record.cell.tol for record in records), default=1e-8)
    wanted = statistics.gaps(records)
    rows = []
    for row in statistics.summary(records):
        times = {f"{gap:g}": time for gap, time in zip(wanted, row.seconds_to_gap, strict=True)}
        rows.append({**jsonio.plain(row), "times": times})
    systems = {record.machine: json.loads(record.system) for record in records if record.machine}
    return {
        "runs": len(records),
        "tol": tol,
        "summary": rows,
        "success": {name: {"certified": good, "runs": whole} for name, (good, whole) in statistics.success_rates(records).items()},
        "profile": [jsonio.plain(made) for made in statistics.profiles(records, tol)],
        "scaling": [jsonio.plain(fit) for fit in statistics.scaling(records)],
        "unsuitable": [{"instance": instance, "solver": name, "reason": reason} for instance, name, reason in unsuitable],
        "systems": list(systems.values()),
        "notes": notes(records),
    }
