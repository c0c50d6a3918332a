"""Checking many claims: selection, workers, progress events, evidence files, and the record of the run.

Claims are spread over workers, the longest first. A claim may end its worker: that is its own verdict, ERROR, and the others go on in
another. One BLAS thread a worker: more make small problems slower and the seconds meaningless.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simopt import __version__
from simopt.claims import catalogue, costs, proof
from simopt.claims.claim import Claim
from simopt.claims.kinds import Effort, Evidence, Expected, Verdict
from simopt.claims.looseness import remark
from simopt.claims.proof_status import status
from simopt.claims.runner import ClaimResult, failed, run, stopped
from simopt.claims.serialization import Sent, received, sent
from simopt.claims.tally import RowResult
from simopt.core import evidence, jsonio, validate
from simopt.core.threads import until_stopped
from simopt.core.writing import write_text
from simopt.processes.worker import Died, Workers
from simopt.solving.provenance import versions

Row = dict[str, Any]
Event = Mapping[str, Any]

SECONDS_FILE = "seconds.json"
UNWRITTEN = "unwritten"


@dataclass(frozen=True)
class Record:
    """The record of a run: a row a claim, in the order of the selection, and the machine."""

    rows: tuple[Row, ...]
    effort: Effort
    seed: int
    jobs: int
    seconds: float
    selected: int
    interrupted: bool = False
    versions: Mapping[str, str] = field(default_factory=dict)
    unwritten: tuple[str, ...] = ()  # files of this run that could not be written, each with the reason

    @property
    def exit_ok(self) -> bool:
        """Whether every claim that ran came out as expected and nothing was cut short; NOT_RUN does not fail."""
        return not self.interrupted and all(row["ok"] for row in self.rows)

    def counts(self) -> dict[str, int]:
        """Number of claims of every verdict that occurs."""
        found = [row["verdict"] for row in self.rows]
        return {verdict.value: found.count(verdict.value) for verdict in Verdict if verdict.value in found}

    def by_steps(self) -> int:
        """Number of claims that hold by exact steps: their proof files were checked, and are less than their sentences."""
        return sum(row["evidence"] == Evidence.EXACT_STEPS for row in self.rows)

    def evidence(self) -> Generator[tuple[str, str, str]]:
        """Verdict, row and the command that checks it again, for each proof file and witness that was written."""
        for row in self.rows:
            for name, part in ((row["id"], row), *row["rows"].items()):
                if part["proof"]:
                    yield part["verdict"], name, f"simopt recheck {part['proof']}"
                if part["witness"]:
                    yield part["verdict"], name, f"simopt replay {part['witness']}"

    def to_json(self) -> list[dict[str, Any]]:
        """One JSON-ready object a claim, as `list theorems` gives it, with the verdict and the run it comes from; undefined is null.

        The data for the plots of a report (`measured`) are left out; `rows` has it, and the JSON of a report.
        """
        run = {"effort": self.effort.value, "jobs": self.jobs, "versions": dict(self.versions)}
        return [
            {**_without_measured(row), "rows": {name: _without_measured(part) for name, part in row["rows"].items()}, **run}
            for row in self.rows
        ]


def verify(
    selection: Sequence[str] = (),
    *,
    section: str | None = None,
    effort: Effort | str = Effort.QUICK,
    seed: int = 0,
    jobs: int | None = None,
    mutants: bool = False,
    evidence_dir: str | Path | None = evidence.FOLDER,
    on_event: Callable[[Event], None] | None = None,
) -> Record:
    """Run the selected claims (ids, rows or paper keys; nothing: all) and return the record.

    Parameters
    ----------
    effort : quick (one seed) or full (five seeds, larger counts)
    jobs : number of processes; default: the cores of the machine
    evidence_dir : folder for witnesses, proof files, a list of them and timings; None writes nothing
    on_event : called in this process with {"event": "start", "selected", "jobs"}, {"event": "row", "row", "done", "selected"} for every
        claim that finishes, {"event": "interrupted", "done", "selected"} after Ctrl-C, and {"event": "end", "record"}

    An interrupt keeps the rows that are done: the record says so and `exit_ok` is false. A file that cannot be written takes no verdict
    with it: the record names it in `unwritten`.

    Raises
    ------
    UnknownName
        for an unknown id, paper or section, before anything runs.
    """
    effort, seed = Effort(effort), validate.seed("seed", seed)
    chosen = catalogue.select(list(selection), section)
    workers = validate.jobs("jobs", jobs, len(chosen))
    folder = None if evidence_dir is None else Path(evidence_dir)
    tell = on_event or _silent
    start = time.perf_counter()
    rows: dict[str, Row] = {}
    unwritten: list[str] = []
    interrupted = False
    try:
        task = Task(effort, seed, mutants, folder)
        with closing(Workers(task, workers if chosen else 0, fork=True)) as pool:  # before anything that is told may start a thread
            tell({"event": "start", "selected": len(chosen), "jobs": workers})
            with closing(_results(longest_first(chosen, folder), workers, task, pool)) as results:
                for row in results:
                    unwritten += row.pop(UNWRITTEN)
                    rows[row["id"]] = row
                    tell({"event": "row", "row": row, "done": len(rows), "selected": len(chosen)})
    except KeyboardInterrupt:
        interrupted = True
        tell({"event": "interrupted", "done": len(rows), "selected": len(chosen)})
    ordered = tuple(rows[claim.id] for claim in chosen if claim.id in rows)
    record = Record(ordered, effort, seed, workers, time.perf_counter() - start, len(chosen), interrupted, versions())
    if folder is not None and effort is Effort.QUICK and rows:
        _write(folder / SECONDS_FILE, jsonio.dumps(_hints(folder) | {row["id"]: row["seconds"] for row in ordered}), unwritten)
    if folder is not None:
        _write(folder / evidence.LIST, _list(record), unwritten)
    record = replace(record, unwritten=tuple(unwritten))
    tell({"event": "end", "record": record})
    return record


def _without_measured(part: Row) -> Row:
    return {name: value for name, value in part.items() if name != "measured"}


def _silent(event: Event) -> None:
    del event


@dataclass(frozen=True)
class Task:
    """The work on a claim in a worker."""

    effort: Effort
    seed: int
    mutants: bool
    folder: Path | None

    def __call__(self, claim: Sent) -> Row:
        """Run one claim in this process, with one BLAS thread, and return its row."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            result = run(received(claim), effort=self.effort, seed=self.seed, mutants=self.mutants)
        try:
            return to_row(result, self.folder)
        except (TypeError, ValueError) as error:  # an instance that no file can hold is a defect of its claim, not of the run
            return to_row(failed(result, error), None)


def _results(claims: Sequence[Claim], jobs: int, task: Task, pool: Workers) -> Generator[Row]:
    """Rows as they come. Claims run in processes of their own, so that threads suffice here."""
    if jobs == 1:
        yield from (_row(claim, task, pool) for claim in claims)
        return
    from joblib import Parallel, delayed

    # one claim at a time, and no more than can be begun: the longest first
    parallel = Parallel(n_jobs=jobs, require="sharedmem", return_as="generator_unordered", batch_size=1, pre_dispatch=jobs)
    yield from until_stopped(parallel(delayed(_row)(claim, task, pool) for claim in claims), pool.close)


def _row(claim: Claim, task: Task, pool: Workers) -> Row:
    """The row of a claim; ERROR with the reason where nothing comes of it, or no row."""
    start, trace = time.perf_counter(), ""
    try:
        row: Row = pool.call(sent(claim))
        return row
    except Died as error:
        reason = str(error)
    except Exception as error:  # it does not reach the worker, or its row does not come back
        reason, trace = f"{type(error).__name__}: {error}", "".join(getattr(error, "__notes__", ()))
    return to_row(stopped(claim, Verdict.ERROR, reason, task.effort, (task.seed,), time.perf_counter() - start, trace))


def to_row(result: ClaimResult, folder: Path | None = None) -> Row:
    """One claim's result as plain JSON-ready data; its witnesses and proofs are written to `folder`.

    Files that could not be written are listed under UNWRITTEN, for the record of the run.
    """
    claim = result.claim
    unwritten: list[str] = []
    parts = {name: _part(result, row, folder, unwritten) for name, row in result.rows.items()}
    own = parts[claim.id]
    return {
        **claim.describe(),
        "says": claim.says,
        "note": claim.note,
        **own,
        "seconds": round(result.seconds, 4),
        "seeds": list(result.seeds),
        "met": own["ok"],
        "ok": result.ok,
        "rows": {name: part for name, part in parts.items() if name != claim.id},
        "mutants": [
            {"name": m.name, "caught": m.caught, "verdicts": {k: v.value for k, v in m.verdicts.items()}, "reason": m.reason}
            for m in result.mutants
        ],
        "trace": result.trace or None,
        UNWRITTEN: unwritten,
    }


def _part(result: ClaimResult, row: RowResult, folder: Path | None, unwritten: list[str]) -> Row:
    return {
        "verdict": row.verdict.value,
        "evidence": None if row.evidence is None else row.evidence.value,
        "scope": None if row.scope is None else row.scope.value,
        "checks": row.checks,
        "instances": row.instances,
        "worst_slack": row.worst_slack,
        "tightness": row.tightness,
        "reason": row.reason or None,
        "status": None if (found := status(result.claim, row)) is None else found.value,
        "ok": result.claim.met_by(row.verdict),
        "witness": _write_witness(row, folder, unwritten),
        "proof": _write_proof(result.claim, row, folder, unwritten),
        "where": row.where or None,
        "computed": row.computed or None,
        "remains": row.remains or None,
        "remark": remark(row, result.claim.kind) or None,
        "measured": row.measured,
    }


def _write_witness(row: RowResult, folder: Path | None, unwritten: list[str]) -> str | None:
    if row.witness is None or folder is None:
        return None
    text = jsonio.dumps(row.witness.document() | {"simopt": __version__})
    return _write(evidence.file_of(folder, row.row, "witness"), text, unwritten)


def _write_proof(claim: Claim, row: RowResult, folder: Path | None, unwritten: list[str]) -> str | None:
    if not row.filed or row.proof is None or folder is None:
        return None
    document = proof.document(claim, row.row, str(row.scope), row.proof, __version__)
    return _write(evidence.file_of(folder, row.row, "proof"), jsonio.dumps(document), unwritten)


def _list(record: Record) -> str:
    """How to check each file of a run again, to stand beside them: it is as long as the run."""
    files = list(record.evidence())
    width = max((len(name) for _, name, _ in files), default=0)
    return "".join(f"{verdict:<9} {name:<{width}} {command}\n" for verdict, name, command in files)


def _write(path: Path, text: str, unwritten: list[str]) -> str | None:
    """The path, once the file is there; else None, and what is the matter with it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    except OSError as error:
        unwritten.append(f"{error.filename or path}: {error.strerror or error}")
        return None
    return str(path)


def longest_first(claims: Sequence[Claim], folder: Path | None = None) -> list[Claim]:
    """Claims by decreasing cost: the seconds of an earlier run in `folder`, else those of `costs`."""
    hints = _hints(folder)
    return sorted(claims, key=lambda claim: -hints.get(claim.id, costs.seconds(claim)))


def _hints(folder: Path | None) -> dict[str, float]:
    if folder is None:
        return {}
    try:
        found = jsonio.read(folder / SECONDS_FILE)
        hints = {str(name): float(seconds) for name, seconds in found.items()}
        return {name: seconds for name, seconds in hints.items() if math.isfinite(seconds)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # timings are a hint: without them, or with a damaged file, only the order of work differs


def summary(row: Row) -> str:
    """Verdict in words: "HOLDS (exact, 2178 instances)", "HOLDS (exact steps, exhaustive; remains: …)", "NOT_RUN (…reason)"."""
    verdict, expected = row["verdict"], Expected(row["expected"])
    if verdict in (Verdict.NOT_RUN, Verdict.ERROR, Verdict.INCONCLUSIVE):
        return f"{verdict} ({row['reason']})" if row["reason"] else verdict
    details = [word for word in (row["evidence"], row["defect"] if expected is Expected.REFUTED else None) if word]
    if row["where"]:
        details.append(f"where {row['where']}")
    if row["computed"]:
        details.append(f"computed: {row['computed']}")
    if row["remains"]:
        return f"{verdict} ({', '.join([*details, row['scope']])}; remains: {row['remains']})"
    if verdict == Verdict.HOLDS and row["scope"] != "witness":
        details.append(f"{row['instances']} instance{'' if row['instances'] == 1 else 's'}")
    elif row["scope"]:
        details.append(row["scope"])
    doubt = f"; {row['remark']}" if row["remark"] else ""
    return f"{verdict} ({', '.join(details)}{doubt})" if details else str(verdict)
