"""The folder of a comparison: one JSON file a run, written whole or not at all; tables in Parquet; other folders merged in.

DIR/runs/<key>-<machine>.json   the records; what is here is not run again
DIR/runs.parquet, traces.parquet, comparison.json, table.md, plots/   made from them, and made again whenever they change
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simopt import jsonio
from simopt.compare.cell import FORMAT
from simopt.compare.record import INTERRUPTED, Record, from_row
from simopt.errors import NotAvailable
from simopt.jsonio import InvalidFile

RUNS = "runs"
FAMILY = FORMAT.partition("/")[0]


def prepare(folder: str | os.PathLike[str]) -> Path:
    """The folder, made if need be, once it is sure that files can be written there.

    Raises
    ------
    OSError
        with the path: it is a file, its parent does not exist, it is read-only, or the disk is full.
    """
    target = Path(folder)
    runs = target / RUNS
    try:
        runs.mkdir(parents=True, exist_ok=True)
        jsonio.write_text(runs / ".writable", "x" * 4096)
        (runs / ".writable").unlink()
    except OSError as error:
        raise told(error, target, 0) from error
    return target


def save(folder: Path, record: Record, kept: int) -> Path:
    """Write one record; `kept` others are there already, for the message when the disk is full.

    Raises
    ------
    OSError
        with the folder and what to do.
    """
    machine = hashlib.sha256(record.machine.encode()).hexdigest()[:6]
    path = folder / RUNS / f"{record.cell.key}-{machine}.json"
    try:
        jsonio.write(path, record.describe())
    except OSError as error:
        raise told(error, folder, kept) from error
    return path


def told(error: OSError, folder: Path, kept: int) -> OSError:
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
    rest = f"; {kept} runs are safe there, and the same command goes on from them" if kept else "; name another folder"
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
    files = sorted(target.glob(f"{RUNS}/*.json"))
    if files:
        return [_record(path) for path in files]
    if (target / "runs.parquet").is_file():
        from simopt.compare import parquet

        return parquet.read(target)
    raise NotAvailable(f"{target}: holds no runs (neither {RUNS}/*.json nor runs.parquet)")


def held(folder: Path) -> list[Record]:
    """What `load` finds; nothing for a new folder."""
    return load(folder) if (folder / "runs.parquet").is_file() or any(folder.glob(f"{RUNS}/*.json")) else []


def _record(path: Path) -> Record:
    content = jsonio.read(path)
    if not isinstance(content, dict):
        raise InvalidFile(f"{path}: not a run of `simopt compare`")
    check_format(content.get("format"), str(path))
    record = from_row(content, content.get("trace") or (), str(path))
    return record


def check_format(found: Any, where: str) -> None:
    """Refuse what was written in another format.

    Raises
    ------
    InvalidFile
        saying which format was found, and which one this version reads.
    """
    if found == FORMAT:
        return
    if isinstance(found, str) and found.partition("/")[0] == FAMILY:
        raise InvalidFile(
            f"{where}: written in the format {found}, and this version of simopt reads {FORMAT}; "
            "use the version that wrote it, or measure again into another folder"
        )
    raise InvalidFile(f"{where}: not a run of `simopt compare` (format {found!r}, expected {FORMAT!r})")


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
    """For each cell and machine the last run, in the order of the first ones; interrupted runs are left out."""
    kept: dict[tuple[str, str], Record] = {}
    for record in records:
        name = (record.cell.key, record.machine)
        if record.status != INTERRUPTED and (name not in kept or record.started >= kept[name].started):
            kept[name] = record
    return list(kept.values())


def write_summary(folder: Path, summary: dict[str, Any], text: str, records: list[Record]) -> None:
    """The tables that are made from the records: Parquet, JSON, and Markdown.

    Raises
    ------
    OSError
        with the folder, when it cannot be written; the records are not touched.
    """
    from simopt.compare import parquet

    try:
        parquet.write(folder, records)
        jsonio.write(folder / "comparison.json", {"format": FORMAT, **summary})
        jsonio.write_text(folder / "table.md", text)
    except OSError as error:
        raise told(error, folder, len(records)) from error
