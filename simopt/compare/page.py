"""The page of a comparison: the answer, every table, curves, claims with their verdicts, machines and versions, in one HTML file."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from simopt.backends.table import listed
from simopt.compare import bands, drawings, profiles, statistics, table
from simopt.compare.answer import answer, beside
from simopt.compare.claim_rows import ClaimRow, certified_bounds, claim_rows
from simopt.compare.endings import UNSUPPORTED
from simopt.compare.instance_seconds import InstanceSeconds, instance_seconds, with_optimum
from simopt.compare.machine_load import load_of_runs
from simopt.compare.pairs import SolverPair, pairs
from simopt.compare.record import Record
from simopt.compare.solver_claims import FALSE
from simopt.compare.standings import Standing, standings
from simopt.core.foreign_text import in_utf8, on_terminal

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

CUT = 240  # characters of a name or a message that are shown
REASON = "claim reason"
EVIDENCE = {
    "claim residual": "largest residual of its own point",
    "claim bound": "the bound that contradicts it",
    "claim point": "the point that proves it",
}  # names in the record, and words
FILTERS = ("class", "variables", "fastest", "solved", "claims", "machine")
NOBODY, LEVEL = "nobody", "level"


@dataclass(frozen=True)
class SolverOnInstance:
    """One row of an instance's table: cells for the headings after the second. Seconds are the median to the tolerance, ∞ for a failure."""

    id: str
    name: str
    cells: list[str]
    failure: str
    seconds: float
    leads: bool
    status: str
    claim: ClaimRow | None


@dataclass(frozen=True)
class InstanceOnPage:
    """One instance on one machine."""

    id: str
    name: str
    medians: InstanceSeconds
    lower: float
    upper: float
    solvers: dict[str, SolverOnInstance]
    curves: Markup | None
    fields: dict[str, str]  # what the filters markers at


@dataclass(frozen=True)
class MachineOnPage:
    """One machine with the statistics over its instances."""

    id: str
    name: str
    sentences: list[str]
    standings: list[Standing]
    performance: Markup | None
    data: Markup | None
    compared: int
    pairs: dict[tuple[str, str], SolverPair]
    bands: list[bands.Band]
    instances: list[InstanceOnPage]
    about: list[tuple[str, str]]

    @property
    def names(self) -> list[str]:
        """Its solvers."""
        return [row.solver for row in self.standings]


def render(
    records: Sequence[Record],
    *,
    complete: bool,
    planned: int,
    unsuitable: Sequence[tuple[str, str, str]],
    others: Sequence[Record] = (),
) -> str:
    """The page.

    Raises
    ------
    ImportError
        where jinja2 is missing.
    """
    markers = drawings.markers(record.cell.candidate for record in records)
    machines = [_machine(name, own, markers, complete) for name, own in statistics.by_machine(records).items()]
    instances = [instance for machine in machines for instance in machine.instances]
    return _template().render(
        machines=machines,
        instances=instances,
        choices=choices(instances, len(machines) > 1),
        claims=claim_rows(records),
        ids={(machine.name, each.medians.instance): each.id for machine in machines for each in machine.instances},
        runs=len(records),
        complete=complete,
        planned=planned,
        beside=beside(others),
        headings=_headings(records),
        standing_headings=table.STANDING_HEADINGS,
        tolerances=sorted({record.cell.tol for record in records}),
        unsuitable=table.unsuitable_lines(unsuitable, records),
        scaling=table.scaling_lines(records),
        notes=table.notes(records),
    )


@cache
def _template() -> Template:
    from simopt.report.environment import environment

    made = environment()
    made.filters.update(plain=shown, whole=in_full, shows=shows, bound=bound, ratio=table.ratio)
    made.filters["seconds"] = lambda value: signed(table.seconds(value))
    return made.get_template("comparison.html.jinja")


def _headings(records: Sequence[Record]) -> list[str]:
    """Those of an instance's table: as on the terminal, but the claim comes first, and failures stand below the table."""
    solver, *middle, claim, _ = table.headings(records)
    return [solver, claim, *map(signed, middle)]


def shown(text: str) -> str:
    """Text from elsewhere on one line: what would command the direction of writing is escaped, and what is too long is cut."""
    line = in_full(text)
    return line if len(line) <= CUT else f"{line[: CUT - 1]}…"


def in_full(text: str) -> str:
    """As `shown`, and not cut."""
    return on_terminal(in_utf8(" ".join(str(text).split())))


def shows(claim: ClaimRow) -> list[str]:
    """What else shows whether a claim is true, with the sign that all numbers of the page have."""
    texts = [f"{EVIDENCE.get(name, name)}: {text}" if name != REASON else text for name, text in claim.evidence]
    return [signed(text) for text in texts]


def signed(text: str) -> str:
    """With a minus where a number has a hyphen, also in its exponent; hyphens of names stay."""
    return re.sub(r"(?<![\w.])-(?=[\d.])|(?<=\de)-(?=\d)", "−", text)


def bound(value: float) -> str:
    """A value of the objective to nine digits, ∞ for what is beyond all numbers."""
    text = "–" if math.isnan(value) else "∞" if math.isinf(value) else signed(f"{abs(value):.9g}")
    return f"−{text}" if value < 0 else text


def name_of(*parts: str) -> str:
    """The name of a part of the page in addresses: the same for the same instance, solver and machine."""
    letters = re.sub(r"[^a-z0-9]+", "-", parts[0].lower()).strip("-")[:40]
    return f"{letters}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:6]}".lstrip("-")


def _machine(name: str, records: Sequence[Record], markers: drawings.Markers, complete: bool) -> MachineOnPage:
    medians = with_optimum(records)
    performance, data = profiles.performance(medians), profiles.data(medians)
    return MachineOnPage(
        name_of("machine", name),
        name,
        answer(records, complete),
        standings(records),
        drawings.profile(performance, markers, "seconds over those of the fastest", 1.0),
        drawings.profile(data, markers, "seconds / (variables + 1)"),
        performance[0].instances if performance else 0,
        {(each.one, each.other): each for pair in pairs(medians) for each in (pair, pair.exchanged)},
        bands.bands(medians),
        _instances(records, markers),
        about(records),
    )


def _instances(records: Sequence[Record], markers: drawings.Markers) -> list[InstanceOnPage]:
    """The instances of one machine, in the order of their runs."""
    summary = {(row.instance, row.solver): row for row in statistics.summary(records)}
    claims = {(row.instance, row.solver): row for row in claim_rows(records)}
    settings = {instance: solvers for (instance, _), solvers in statistics.by_setting(records).items()}
    found = []
    for each in instance_seconds(records):
        name = name_of(each.instance, each.machine)
        runs = settings[each.instance]
        solvers = {
            solver: _solver(f"{name}-{name_of(solver)}", each, summary[each.instance, solver], claims.get((each.instance, solver)))
            for solver in runs
        }
        bounds = certified_bounds([run for own in runs.values() for run in own])
        curves = drawings.gap_curves(runs, markers)
        found.append(InstanceOnPage(name, each.instance, each, *bounds, solvers, curves, fields(each, list(solvers.values()))))
    return found


def _solver(name: str, medians: InstanceSeconds, row: statistics.SummaryRow, claim: ClaimRow | None) -> SolverOnInstance:
    seconds = medians.seconds.get(row.solver, math.nan)
    failed = "cannot take it" if row.status == UNSUPPORTED else f"{row.no_optimum}, proven" if row.no_optimum else row.status
    status = "" if math.isfinite(seconds) else failed
    *cells, _, failure = table.cells(row)
    shown_cells = [signed(cell) for cell in cells[1:]]
    return SolverOnInstance(name, row.solver, shown_cells, failure, seconds, row.solver in medians.leaders, status, claim)


def fields(medians: InstanceSeconds, solvers: Sequence[SolverOnInstance]) -> dict[str, str]:
    """The values of an instance that the filters markers at."""
    certified = sum(math.isfinite(seconds) for seconds in medians.seconds.values())
    false = any(each.claim is not None and each.claim.verdict == FALSE for each in solvers)
    leader = medians.leaders[0] if len(medians.leaders) == 1 else LEVEL if medians.leaders else NOBODY
    return {
        "class": medians.problem_class or bands.UNKNOWN,
        "variables": bands.decade(medians.variables),
        "fastest": medians.no_optimum or leader,
        "solved": medians.no_optimum or ("by all" if certified == len(medians.seconds) > 0 else "by some" if certified else "by none"),
        "claims": "FALSE" if false else "none is false",
        "machine": medians.machine,
    }


def choices(instances: Sequence[InstanceOnPage], several: bool) -> list[tuple[str, list[tuple[str, int]]]]:
    """The filters, each with its values and how many instances have them; one that leaves no choice is left out."""
    made = []
    for name in FILTERS:
        values = [each.fields[name] for each in instances]
        if len(set(values)) > 1 and (name != "machine" or several):
            ranked = sorted(dict.fromkeys(values), key=lambda value: _rank(name, value))
            made.append((name, [(value, values.count(value)) for value in ranked]))
    return made


def _rank(name: str, value: str) -> tuple[float, str]:
    """Sizes and classes rise, names go by the alphabet, and what is no size, class or solver comes last."""
    if name == "variables":
        return (math.inf if value == bands.UNKNOWN else float(value.partition("–")[0])), ""
    if name == "class":
        return (float(bands.CLASSES.index(value)) if value in bands.CLASSES else math.inf), value
    return (1.0 if value in (NOBODY, LEVEL, "infeasible", "unbounded") else 0.0), value.casefold()


def about(records: Sequence[Record]) -> list[tuple[str, str]]:
    """Machine, settings and versions of some runs, as names and texts; what differs between runs is listed."""
    system: Mapping[str, Any] = next((found for record in reversed(records) if (found := json.loads(record.system))), {})
    cells = [record.cell for record in records]
    lines = [
        ("machine", records[0].machine),
        ("system", system.get("system")),
        ("cores", system.get("cores")),
        ("load", load_of_runs(records)),
        ("memory", None if (size := system.get("memory_megabytes")) is None else f"{_number(size) / 1024:.1f} GB"),
        ("libraries", _libraries(system.get("libraries"))),
        ("tolerance", _listed(signed(f"{cell.tol:g}") for cell in cells)),
        ("time limit", _listed(f"{cell.time_limit:g} s" for cell in cells)),
        ("threads", _listed(str(cell.threads) for cell in cells)),
        ("runs at a time", _listed(str(record.jobs) for record in records)),
        ("repetitions", str(1 + max(cell.repetition for cell in cells))),
        ("first and last run", " to ".join(sorted({min(r.started for r in records)[:19], max(r.started for r in records)[:19]}))),
        ("solvers", _listed(f"{record.cell.solver} {record.solver_version}" for record in records if record.solver_version)),
        ("options", _listed(cell.candidate for cell in cells if cell.options != "{}")),
    ]
    versions = [{**json.loads(record.versions), **_package(record)} for record in records]
    names = dict.fromkeys(name for each in versions for name in each)
    lines.append(("packages", ", ".join(f"{name} {_listed(str(each[name]) for each in versions if name in each)}" for name in names)))
    return [(name, str(text)) for name, text in lines if text not in (None, "")]


def _package(record: Record) -> dict[str, str]:
    """The package of the back end that was run, with its version; nothing of a hand-written solver, which has that of simopt."""
    name, version = record.cell.solver, record.solver_version
    if not version or version == json.loads(record.versions).get("simopt"):
        return {}
    known = {backend.name: backend.distribution or backend.package for backend in listed()}
    return {known.get(name, name): version}


def _listed(values: Any) -> str:
    return ", ".join(dict.fromkeys(values))


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _libraries(pools: Any) -> str:
    """Of each library of linear algebra its name, version and threads."""
    if not isinstance(pools, list):
        return ""
    return _listed(
        f"{pool.get('internal_api')} {pool.get('version') or ''} ({pool.get('num_threads')} threads)"
        for pool in pools
        if isinstance(pool, dict)
    )
