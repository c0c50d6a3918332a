"""The record of a run: one flat row, with its trace; the same in JSON, in Parquet and in memory."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from simopt.compare.cell import FORMAT, PlannedRun
from simopt.compare.child import ChildAnswer
from simopt.core.errors import InvalidFile
from simopt.core.foreign_text import in_utf8

SUCCESS = "optimal"
INTERRUPTED = "interrupted"  # never kept: it says nothing about the solver
CELL = tuple(item.name for item in dataclasses.fields(PlannedRun))
FAMILY = FORMAT.partition("/")[0]
OPENED = ("shapes", "versions", "system")  # texts that hold JSON
POINT = ("setup", "solve", "iteration", "tolerance", "upper", "lower", "gap", "relative_gap")  # what is kept of a certified point
CLAIM = (
    "claimed", "claimed_value", "claim_tolerance", "claim_gap", "claim_residual", "claim_bound", "claim_verdict", "claim_reason",
    "claim_point",
)  # fmt: skip
SIZE = ("problem_class", "variables", "nonzeros")  # as `problem_size.ProblemSize`
LATER = (*CLAIM, *SIZE, "certificate_seconds")  # files of earlier versions have none of these, or not all
LARGEST = 2**63 - 1  # what a column of whole numbers holds


@dataclass(frozen=True)
class Record:
    """A cell, what came of it, and where and when. Unknown numbers are nan.

    `setup_seconds` and `solve_seconds` are those of the whole run; of a sweep, of the last point. `spent_seconds` is everything that was on
    the clock; certificates are not, and `certificate_seconds` is what they took. `seconds` is set-up and solve together. `claimed` and
    what follows is the claim of a back end at its own tolerance: see `solver_claims.SolverClaim`. `problem_class` and what follows
    describe the instance, see `problem_size.ProblemSize`; "" and 0 where no back end was run, or no cone programme could be made of it.
    """

    cell: PlannedRun
    status: str
    reported_status: str = ""
    message: str = ""
    sampling: str = ""
    problem_fingerprint: str = ""
    shapes: str = "{}"
    scale: float = math.nan
    upper: float = math.nan
    lower: float = math.nan
    gap: float = math.nan
    relative_gap: float = math.nan
    setup_seconds: float = math.nan
    solve_seconds: float = math.nan
    spent_seconds: float = math.nan
    certificate_seconds: float = math.nan
    wall_seconds: float = math.nan
    iterations: int = 0
    megabytes: float = math.nan
    warm: bool = False
    threads_seen: int = 0
    jobs: int = 1
    started: str = ""
    machine: str = ""
    solver_version: str = ""
    versions: str = "{}"
    system: str = "{}"
    claimed: str = ""
    claimed_value: float = math.nan
    claim_tolerance: float = math.nan
    claim_gap: float = math.nan
    claim_residual: float = math.nan
    claim_bound: float = math.nan
    claim_verdict: str = ""
    claim_reason: str = ""
    claim_point: str = ""
    problem_class: str = ""
    variables: int = 0
    nonzeros: int = 0
    points: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    @property
    def seconds(self) -> float:
        """Set-up and solve."""
        return self.setup_seconds + self.solve_seconds

    @property
    def success(self) -> bool:
        """Whether the certificate closed."""
        return self.status == SUCCESS

    def time_to(self, gap: float) -> float:
        """Seconds, set-up included, until the certified relative gap was at most `gap`; ∞ where it never was.

        Of a sweep they are those of the first run, at the loosest tolerance, that got there: that a tighter one was faster is chance.
        """
        return next((point["setup"] + point["solve"] for point in self.points if point["relative_gap"] <= gap), math.inf)

    def descent(self) -> list[tuple[float, float]]:
        """For each point the seconds, set-up included, and the smallest relative gap until then; ∞ before the first that is a number."""
        pairs = sorted((point["setup"] + point["solve"], point["relative_gap"]) for point in self.points)
        best = itertools.accumulate((math.inf if math.isnan(gap) else gap for _, gap in pairs), min)
        return [(seconds, gap) for (seconds, _), gap in zip(pairs, best, strict=True)]

    def row(self) -> dict[str, Any]:
        """All but the trace, flat."""
        values = {item.name: getattr(self, item.name) for item in dataclasses.fields(self) if item.name not in ("cell", "points")}
        return {"key": self.cell.key, **dataclasses.asdict(self.cell), **values}

    def describe(self) -> dict[str, Any]:
        """Plain data, for JSON; texts that hold JSON are opened."""
        opened = {name: json.loads(getattr(self, name)) for name in OPENED}
        return {"format": FORMAT, **self.row(), **opened, "trace": list(self.points)}


def from_answer(cell: PlannedRun, answer: ChildAnswer, *, wall_seconds: float, jobs: int, started: str) -> Record:
    """The record of what a process answered."""
    best = min(answer.points, key=lambda point: point["gap"] if not math.isnan(point["gap"]) else math.inf, default=None)
    bracket = {} if best is None else {name: best[name] for name in ("upper", "lower", "gap", "relative_gap")}
    return Record(
        cell,
        answer.status,
        answer.reported,
        " ".join(answer.message.split()),
        answer.sampling,
        answer.fingerprint,
        json.dumps(_finite(answer.shapes), sort_keys=True),
        answer.scale,
        **bracket,
        setup_seconds=answer.setup_seconds,
        solve_seconds=answer.solve_seconds,
        spent_seconds=answer.spent_seconds,
        certificate_seconds=answer.certificate_seconds,
        wall_seconds=wall_seconds,
        iterations=answer.iterations,
        megabytes=answer.megabytes,
        warm=answer.warm,
        threads_seen=answer.threads_seen,
        jobs=jobs,
        started=started,
        machine=str(answer.system.get("machine", "")),
        solver_version=answer.solver_version,
        versions=json.dumps(answer.versions, sort_keys=True),
        system=json.dumps(_finite(answer.system), sort_keys=True),
        **{name: getattr(answer, name) for name in (*CLAIM, *SIZE)},
        points=tuple(answer.points),
    )


def _finite(values: Any) -> Any:
    from simopt.core import jsonio

    return jsonio.plain(values)


def from_row(row: dict[str, Any], points: Any, where: str) -> Record:
    """The record that `row` and the trace came from.

    Raises
    ------
    InvalidFile
        naming `where`, and the field that is missing or is of another kind.
    """
    try:
        cell = PlannedRun(**{name: _read(PlannedRun, name, row[name]) for name in CELL})
        names = [item.name for item in dataclasses.fields(Record) if item.name not in ("cell", "points")]
        kept = tuple({name: (_whole if name == "iteration" else _number)(name, dict(point)[name]) for name in POINT} for point in points)
        names = [name for name in names if name not in LATER or row.get(name) is not None]
        made = Record(cell, **{name: _read(Record, name, row[name]) for name in names}, points=kept)
        _check_cell(cell)
        for name in ("variables", "nonzeros"):
            if (count := getattr(made, name)) < 0:
                raise ValueError(f"{name} is {count}, a whole number >= 0 is needed")
    except KeyError as error:
        raise InvalidFile(f"{where}: the entry {error} is missing") from error
    except (ArithmeticError, AttributeError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidFile(f"{where}: {error}") from error
    if row.get("key") != cell.key:
        raise InvalidFile(f"{where}: the key {row.get('key')} is not that of its entries; it was changed by hand or damaged")
    return made


def _check_cell(cell: PlannedRun) -> None:
    """Refuse what no run was ever asked for, and what tables and pictures could make nothing of."""
    positive = {"tol": cell.tol, "time_limit": cell.time_limit, "conditioning": 1.0 if cell.conditioning is None else cell.conditioning}
    for name, number in positive.items():
        if not 0 < number < math.inf:
            raise ValueError(f"{name} is {number:g}, a finite number > 0 is needed")
    for name, count in {"size": cell.size or 0, "seed": cell.seed, "threads": cell.threads, "repetition": cell.repetition}.items():
        if count < 0:
            raise ValueError(f"{name} is {count}, a whole number >= 0 is needed")
    for name, text in {"settings": cell.settings, "options": cell.options}.items():
        if not isinstance(json.loads(text), dict):
            raise TypeError(f"{name} is {text!r}, names with values are needed")


def _read(kind: type[Any], name: str, value: Any) -> Any:
    wanted = next(str(item.type) for item in dataclasses.fields(kind) if item.name == name)
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    if "None" in wanted and missing:
        return None
    if wanted.startswith("float"):
        return _number(name, value)
    if wanted.startswith("int"):
        return _whole(name, value)
    if wanted == "bool":
        if not isinstance(value, bool):
            raise TypeError(f"{name} is {value!r}, true or false is needed")
        return value
    if name in OPENED:
        value = json.loads(value) if isinstance(value, str) else value
        if not isinstance(value, dict):
            raise TypeError(f"{name} is {value!r}, names with values are needed")
        return json.dumps(value, sort_keys=True)
    if not isinstance(value, str) or in_utf8(value) != value:
        raise TypeError(f"{name} is {value!r}, a text is needed")
    return value


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not (value is None or isinstance(value, Real)):
        raise TypeError(f"{name} is {value!r}, a number is needed")
    return math.nan if value is None else float(value)


def _whole(name: str, value: Any) -> int:
    found: Any = value if isinstance(value, Real) and not isinstance(value, bool) else 0.5
    if not -LARGEST <= found <= LARGEST or int(found) != found:
        raise TypeError(f"{name} is {value!r}, a whole number is needed")
    return int(found)


def check_format(document: Any, where: str) -> None:
    """Refuse what was written in another format.

    Raises
    ------
    InvalidFile
        saying which format was found, and which one this version reads.
    """
    if document == FORMAT:
        return
    if isinstance(document, str) and document.partition("/")[0] == FAMILY:
        raise InvalidFile(
            f"{where}: written in the format {document}, and this version of simopt reads {FORMAT}; "
            "use the version that wrote it, or measure again into another folder"
        )
    raise InvalidFile(f"{where}: not a run of `simopt compare` (format {document!r}, expected {FORMAT!r})")
