"""The tables of a comparison as rows of words, as Markdown, and as plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from simopt.compare import profiles, statistics
from simopt.compare.answer import answers, beside
from simopt.compare.bands import bands
from simopt.compare.claim_rows import claim_rows
from simopt.compare.endings import UNSUPPORTED, in_words
from simopt.compare.instance_seconds import instance_seconds, with_optimum
from simopt.compare.pairs import pairs
from simopt.compare.record import Record
from simopt.compare.standings import standings
from simopt.core import jsonio
from simopt.core.foreign_text import in_markdown

STANDING_HEADINGS = (
    "solver", "fastest on", "certified on", "mean +1 s", "mean +10 s", "failures", "within 2 ×", "within 10 ×", "false claims", "unproven",
)  # fmt: skip
PAIR_HEADINGS = ("one : other", "faster", "slower", "level", "neither", "median ratio")
BAND_HEADINGS = ("by", "which", "instances", "solver", "fastest on", "mean +1 s", "mean +10 s", "failures")
HEADINGS = (
    "solver", "solved", "seconds", "range", "set-up", "solve", "certificates", "× fastest", "in pairs", "MB", "gap/scale", "sampling",
    "its claim",
)  # fmt: skip


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
    in_pairs = "" if row.successes < 2 or math.isnan(row.ratio) else f"{row.ratio_low:.2g}–{row.ratio_high:.2g}"
    words = "" if row.successes == row.runs or row.no_optimum else in_words(row.status, row.reason, row.relative_gap)
    failure = words if row.status == UNSUPPORTED else words.replace(row.status, row.status.upper(), 1)
    solved = f"{row.no_optimum}, proven" if row.no_optimum else "–" if row.status == UNSUPPORTED else f"{row.successes}/{row.runs}"
    return [
        row.solver, solved, seconds(row.seconds), spread, *map(seconds, row.seconds_to_gap),
        seconds(row.setup_seconds), seconds(row.solve_seconds), seconds(row.certificate_seconds), ratio(row.ratio), in_pairs,
        "–" if math.isnan(row.megabytes) else f"{row.megabytes:.0f}",
        "–" if math.isnan(row.relative_gap) else f"{row.relative_gap:.1e}", row.sampling, row.claim_verdict, failure,
    ]  # fmt: skip


def standing_rows(records: Sequence[Record]) -> list[list[str]]:
    """Each solver over all instances of one machine, below `STANDING_HEADINGS`."""
    return [
        [
            row.solver,
            f"{row.fastest} of {row.instances}",
            f"{row.certified} of {row.instances}",
            *map(seconds, row.means),
            f"{row.failures} of {row.compared}" if row.compared else "–",
            *("–" if math.isnan(fraction) else f"{fraction:.0%}" for fraction in row.within),
            str(row.false_claims or ""),
            str(row.unproven_claims or ""),
        ]
        for row in standings(records)
    ]


def pair_rows(records: Sequence[Record]) -> list[list[str]]:
    """Each two solvers of one machine, below `PAIR_HEADINGS`."""
    numbers = ((pair, (pair.wins, pair.losses, pair.ties, pair.neither)) for pair in pairs(with_optimum(records)))
    return [[f"{pair.one} : {pair.other}", *map(str, counts), ratio(pair.ratio)] for pair, counts in numbers]


def band_rows(records: Sequence[Record]) -> list[list[str]]:
    """Each solver in each class and size of the instances of one machine, below `BAND_HEADINGS`."""
    return [
        [band.by, band.name, str(band.instances), row.solver, str(band.fastest[row.solver]), *map(seconds, row.means),
         f"{row.failures} of {row.instances}"]
        for band in bands(with_optimum(records)) for row in band.means
    ]  # fmt: skip


def over_instances(records: Sequence[Record]) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """The tables over instances with their titles and headings, of each machine its own."""
    machines = statistics.by_machine(records)
    found: list[tuple[str, tuple[str, ...], list[list[str]]]] = []
    for machine, own in machines.items():
        at = f"   ({machine})" if len(machines) > 1 else ""
        if len({record.cell.frame for record in own}) > 1 and with_optimum(own):
            found.append((f"Over instances{at}", STANDING_HEADINGS, standing_rows(own)))
            found.append((f"In pairs{at}", PAIR_HEADINGS, pair_rows(own)))
            found.append((f"By class and size{at}", BAND_HEADINGS, band_rows(own)))
    return [each for each in found if each[2]]


def ratio(value: float) -> str:
    """A ratio to three digits, nothing for none."""
    return "" if math.isnan(value) else f"{value:.3g}"


def success_lines(records: Sequence[Record]) -> list[str]:
    """Success rate of each solver, on each machine."""
    tolerances = {record.cell.tol for record in records}
    wanted = f"{max(tolerances, default=1e-8):g}" if len(tolerances) < 2 else "the tolerance asked for"
    machines = statistics.by_machine(records)
    return [
        f"{name}: {certified} of {runs} runs certified to {wanted} ({certified / runs:.0%})"
        + (f"   ({machine})" if len(machines) > 1 else "")
        for machine, own in machines.items()
        for name, (certified, runs) in statistics.success_rates(own).items()
        if runs
    ]


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
        "To 0.01, …: seconds until that gap. × fastest: over those of the solver of the least median, in the same round, the median; in "
        "pairs: least–most.",
        "MB: the most memory of a run above what it held before it began.",
        "Certificates: the seconds of all certificates of a run, which are not in the other columns.",
        "Its claim: what a back end says at its own tolerance, by certified bounds. FALSE: they miss its value, and its own residuals are "
        "over ten times that tolerance; or there is a point where it says infeasible, or a bound where it says unbounded, for all data "
        "within 1e-6.",
        "Sampling: `iterates` were certified with the clock stopped; `tolerance`: one fresh run a native tolerance.",
        f"Threads of linear algebra: {', '.join(map(str, threads)) or 'unknown'}."
        + (f" Solvers: {', '.join(solvers)}." if solvers else ""),
        *(f"Machine: {machine}" for machine in machines),
    ]
    return lines + ([f"Up to {jobs} runs went on at the same time and may have disturbed one another."] if jobs > 1 else [])


def unsuitable_lines(unsuitable: Sequence[tuple[str, str, str]], records: Sequence[Record] = ()) -> list[str]:
    """Back ends that were left out, with the reason, once for all instances that share it, which are named where there are others."""
    found: dict[tuple[str, str], list[str]] = {}
    for instance, name, reason in unsuitable:
        found.setdefault((name, reason), []).append(instance)
    several = len({instance for instance, _, _ in unsuitable} | {record.cell.instance for record in records}) > 1
    return [f"{name}: {reason}" + (f"   [{'; '.join(where)}]" if several else "") for (name, reason), where in found.items()]


def markdown(
    records: Sequence[Record],
    *,
    complete: bool = True,
    unsuitable: Sequence[tuple[str, str, str]] = (),
    others: Sequence[Record] = (),
) -> str:
    """Everything as one Markdown text; its first line after the title is the answer."""
    lines = ["# Comparison of solvers", "", *(line for each in answers(records, complete) for line in (f"**{in_markdown(each)}**", ""))]
    lines += [] if complete else ["**Interrupted: not all runs are here.**", ""]
    lines += [line for each in beside(others) for line in (each, "")]
    tables = [(title, headings(records), rows) for title, rows in blocks(records)]
    for title, heads, rows in (*over_instances(records), *tables):
        lines += [f"## {in_markdown(title)}", "", "| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        lines += ["| " + " | ".join(map(in_markdown, row)) + " |" for row in rows] + [""]
    sections = (
        ("Not suitable", unsuitable_lines(unsuitable, records)),
        ("Success", success_lines(records)),
        ("Scaling", scaling_lines(records)),
        ("Notes", notes(records)),
    )
    for title, found in sections:
        lines += [f"## {title}", "", *(f"* {in_markdown(line)}" for line in found), ""] if found else []
    return "\n".join(lines)


def plain(records: Sequence[Record], unsuitable: Sequence[tuple[str, str, str]] = (), complete: bool = True) -> dict[str, Any]:
    """Answer, summary, statistics over instances, scaling, and back ends that were left out, for JSON; ∞ and nan become null."""
    wanted = statistics.gaps(records)
    rows = []
    for row in statistics.summary(records):
        times = {f"{gap:g}": time for gap, time in zip(wanted, row.seconds_to_gap, strict=True)}
        rows.append({**jsonio.plain(row), "times": times})
    systems = {record.machine: json.loads(record.system) for record in records if record.machine}
    machines = statistics.by_machine(records)
    performance = [
        {**jsonio.plain(made), "machine": machine} for machine, own in machines.items() for made in profiles.performance(with_optimum(own))
    ]
    return {
        "answer": answers(records, complete),
        "runs": len(records),
        "tol": max((record.cell.tol for record in records), default=1e-8),
        "summary": rows,
        "success": {
            f"{name} ({machine})" if len(machines) > 1 else name: {"certified": good, "runs": whole}
            for machine, own in machines.items()
            for name, (good, whole) in statistics.success_rates(own).items()
        },
        "profile": performance,
        "machines": [{"machine": machine, **_of_one_machine(own)} for machine, own in machines.items()],
        "claims": [jsonio.plain(row) for row in claim_rows(records)],
        "scaling": [jsonio.plain(fit) for fit in statistics.scaling(records)],
        "unsuitable": [{"instance": instance, "solver": name, "reason": reason} for instance, name, reason in unsuitable],
        "systems": list(systems.values()),
        "notes": notes(records),
    }


def _of_one_machine(records: Sequence[Record]) -> dict[str, Any]:
    """The statistics over instances."""
    instances = with_optimum(records)
    everything = instance_seconds(records)
    made: dict[str, Sequence[Any]] = {
        "instances": everything, "standings": standings(records), "data_profile": profiles.data(instances), "pairs": pairs(instances),
        "bands": bands(instances),
    }  # fmt: skip
    return {name: [jsonio.plain(each) for each in rows] for name, rows in made.items()}
