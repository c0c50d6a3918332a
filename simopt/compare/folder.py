"""The folder of a comparison: one JSON file a run, written whole or not at all; tables in Parquet; other folders merged in.

DIR/runs/<key>-<machine>.json   the records; what is here is not run again
DIR/index.html, table.md, comparison.json, runs.parquet, traces.parquet, plots/   made from them, and made again whenever they change
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from simopt.compare.cell import FORMAT, PlannedRun
from simopt.compare.record import INTERRUPTED, Record, check_format, from_row
from simopt.core import jsonio, reading
from simopt.core.errors import InvalidFile, NotAvailable
from simopt.core.extras import install
from simopt.core.writing import try_folder, write_text

RUNS = "runs"
PAGE, TABLE, DOCUMENT, PARQUET = "index.html", "table.md", "comparison.json", ("runs.parquet", "traces.parquet")
PARTS = {"jinja2": f"the page {PAGE}", "pyarrow": "the tables in Parquet", "matplotlib": "the pictures"}  # packages and what needs them


def left_out() -> str:
    """What cannot be written here, and how to get it, in a sentence; "" if nothing is left out."""
    missing = [f"{what} ({package} is not installed)" for package, what in PARTS.items() if not installed(package)]
    return f"Left out: {', '.join(missing)}: {install('compare')}" if missing else ""


def installed(package: str) -> bool:
    """Whether a package of the extra `compare` can be imported."""
    return find_spec(package) is not None


def prepare(folder: str | os.PathLike[str]) -> Path:
    """The folder, made if need be, once it is sure that files can be written there.

    Raises
    ------
    OSError
        with the path: it is a file, its parent does not exist, it is read-only, or the disk is full.
    """
    target = Path(folder)
    try:
        try_folder(target / RUNS)
    except OSError as error:
        raise explained(error, target, 0) from error
    return target


@contextmanager
def alone(folder: Path | None) -> Iterator[None]:
    """Hold a folder (None: nothing): two comparisons in it would repeat each other's runs and disturb their times.

    The system gives the folder free when the process ends, however it ends. Without such locks (Windows, some network drives)
    nothing is locked; files stay whole there as well.

    Raises
    ------
    OSError
        when another comparison holds it.
    """
    if folder is None or find_spec("fcntl") is None:
        yield
        return
    fcntl: Any = import_module("fcntl")
    place = os.open(folder, os.O_RDONLY)  # not its runs: `resumed` may put another folder in their place
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            words = "another comparison is under way there; wait for it, or name another folder and merge the two afterwards"
            raise OSError(error.errno, words, str(folder)) from error
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(place)


def save(folder: Path, record: Record, n_saved: int) -> Path:
    """Write one record; `n_saved` others are there already, for the message when the disk is full.

    Raises
    ------
    OSError
        with the folder and what to do.
    """
    path = folder / RUNS / _file(record)
    try:
        jsonio.write(path, record.describe())
    except OSError as error:
        raise explained(error, folder, n_saved) from error
    return path


def _file(record: Record) -> str:
    return f"{record.cell.key}-{hashlib.sha256(record.machine.encode(errors='backslashreplace')).hexdigest()[:6]}.json"


def explained(error: OSError, folder: Path, n_saved: int) -> OSError:
    """The error with the folder, what is wrong with it, and what is safe there."""
    words = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "it cannot be written to",
        errno.EPERM: "it cannot be written to",
        errno.ENOTDIR: "it, or a part of its path, is a file and no folder",
        errno.EEXIST: "it is a file and no folder",
    }
    text = words.get(error.errno or 0, error.strerror or str(error))
    rest = f"; {n_saved} runs are safe there, and the same command goes on from them" if n_saved else "; name another folder"
    return OSError(error.errno, text + rest, str(folder))


def load(folder: str | os.PathLike[str]) -> list[Record]:
    """The records of a folder, from runs/*.json, or where there are none from runs.parquet with traces.parquet.

    Raises
    ------
    NotAvailable
        when there is no such folder, or nothing in it.
    InvalidFile
        for a file of another version, or one that is damaged, by name.
    """
    target = Path(folder)
    if not target.is_dir():
        raise NotAvailable(f"{target}: no such folder")
    files = reading.plain_files(target, f"{RUNS}/*.json")
    if files:
        return [_record(path) for path in files]
    if (target / "runs.parquet").is_file():
        from simopt.compare import parquet

        return parquet.read(target)
    raise NotAvailable(f"{target}: holds no runs (neither {RUNS}/*.json nor runs.parquet)")


def resumed(folder: Path) -> list[Record]:
    """The records that `load` finds in a folder that is prepared; none in a new one.

    Tables that came without their runs are taken apart into runs first, all or none: else the first new run would hide what they hold.

    Raises
    ------
    NotAvailable, InvalidFile
        as `load`.
    OSError
        when the runs cannot be written.
    """
    if any(folder.glob(f"{RUNS}/*.json")):
        return load(folder)
    if not (folder / "runs.parquet").is_file():
        return []
    records, parts = load(folder), folder / f".{RUNS}.part"
    try:
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir()
        for record in records:
            jsonio.write(parts / _file(record), record.describe())
        (folder / RUNS).rmdir()
        parts.rename(folder / RUNS)
    except OSError as error:
        raise explained(error, folder, len(records)) from error
    finally:
        shutil.rmtree(parts, ignore_errors=True)
    return records


def _record(path: Path) -> Record:
    content = jsonio.read(path, reading.EVIDENCE)
    if not isinstance(content, dict):
        raise InvalidFile(f"{path}: not a run of `simopt compare`")
    check_format(content.get("format"), str(path))
    record = from_row(content, content.get("trace") or (), str(path))
    return record


def merged(own: Iterable[Record], others: Iterable[str | os.PathLike[str]]) -> list[Record]:
    """Records of several folders. One and the same run (key, machine, start) is taken once.

    Raises
    ------
    InvalidFile, NotAvailable
        for a folder that cannot be read; nothing is merged then.
    """
    found = list(own)
    seen = {(r.cell.key, r.machine, r.started) for r in found}
    for folder in others:
        for record in load(folder):
            name = (record.cell.key, record.machine, record.started)
            if name not in seen:
                seen.add(name)
                found.append(record)
    return found


def newest(records: Iterable[Record]) -> list[Record]:
    """For each cell and machine the last run, by instance and then in the order in which they were made; interrupted runs are left out."""
    kept: dict[tuple[str, str], Record] = {}
    for record in records:
        name = (record.cell.key, record.machine)
        if record.status != INTERRUPTED and (name not in kept or record.started >= kept[name].started):
            kept[name] = record
    return sorted(kept.values(), key=lambda r: (_order(r.cell), r.machine, r.cell.repetition, r.started))


def _order(cell: PlannedRun) -> tuple[str | float, ...]:
    """Rising sizes and condition numbers of one problem on one data set."""
    data = (cell.problem, cell.data, cell.fingerprint, cell.settings)
    number = -1.0 if cell.conditioning is None else cell.conditioning
    return *data, number, cell.size or 0, cell.seed, cell.tol, cell.time_limit, cell.threads


@dataclass(frozen=True)
class FolderState:
    """What the runs of a folder do not say: the runs that were planned, whether all of them are done, and back ends that were left out.

    `other_runs` are those that the folder had beside what the last command named.
    """

    complete: bool = True
    planned: int = 0
    unsuitable: tuple[tuple[str, str, str], ...] = ()
    other_runs: int = 0


def state(folder: str | os.PathLike[str]) -> FolderState:
    """The state that the last command has left in `comparison.json`; a folder without one is complete.

    Raises
    ------
    InvalidFile
        for a damaged file, by name.
    """
    path = Path(folder) / DOCUMENT
    if not path.is_file():
        return FolderState()
    content = jsonio.read(path, reading.EVIDENCE)
    try:
        check_format(content.get("format"), str(path))
        unsuitable = tuple((row["instance"], row["solver"], row["reason"]) for row in content.get("unsuitable", ()))
        complete, planned, other_runs = content["complete"], content["planned"], content.get("other_runs", 0)
        whole = isinstance(planned, int) and isinstance(other_runs, int)
        if not (isinstance(complete, bool) and whole and all(isinstance(text, str) for row in unsuitable for text in row)):
            raise TypeError("an entry is of another kind")
    except (AttributeError, KeyError, TypeError) as error:
        raise InvalidFile(f"{path}: not written by `simopt compare` ({error}); remove it, it is made from {RUNS}/*.json") from error
    return FolderState(complete, planned, unsuitable, other_runs)


def write_document(folder: Path, summary: dict[str, Any], n_saved: int) -> None:
    """comparison.json.

    Raises
    ------
    OSError
        with the folder, when it cannot be written.
    """
    try:
        jsonio.write(folder / DOCUMENT, {"format": FORMAT, **summary})
    except OSError as error:
        raise explained(error, folder, n_saved) from error


def write_summary(folder: Path, summary: dict[str, Any], texts: dict[str, str], records: list[Record]) -> None:
    """All that is made from the records: JSON, texts by file name, and tables in Parquet.

    What cannot be made here is removed where it stands, so that nothing speaks of earlier runs: the page, and tables whose runs are there.

    Raises
    ------
    OSError
        with the folder, when it cannot be written; the records are not touched.
    """
    write_document(folder, summary, len(records))
    try:
        if installed("pyarrow"):
            from simopt.compare import parquet

            parquet.write(folder, records)
        for name, text in texts.items():
            write_text(folder / name, text)
        stale = [*([] if PAGE in texts else [PAGE]), *([] if installed("pyarrow") or not any(folder.glob(f"{RUNS}/*.json")) else PARQUET)]
        for name in stale:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise explained(error, folder, len(records)) from error
