"""Names of the files that `simopt verify` leaves behind: a witness or a proof a row, in one folder, and the list of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

FOLDER = "simopt-evidence"
LIST = "evidence.txt"


def file_of(folder: str | Path, row: str, kind: str) -> Path:
    """The file of the evidence for one row of the catalogue; `kind` is "witness" or "proof"."""
    slug = re.sub(r"[^A-Za-z0-9._-]", "_", row.replace("+", "plus"))  # ids contain `+` and `/`
    return Path(folder) / f"{slug}.{kind}.json"


def named(spelled: str, kind: str) -> str:
    """The path that is meant: `spelled` itself, or the file that a run left in the usual folder for the row of that name."""
    default = file_of(FOLDER, spelled, kind)
    return str(default) if not Path(spelled).exists() and default.exists() else spelled


def several(spelled: Sequence[str]) -> bool:
    """Whether more than one file may be meant: more than one name, or a folder."""
    return len(spelled) > 1 or any(Path(name).is_dir() for name in spelled)


def files(spelled: Sequence[str], kind: str) -> list[str]:
    """The paths that are meant, each once: of a folder all files that runs left there.

    Raises
    ------
    InvalidFile
        for a folder without such files.
    """
    found: list[str] = []
    for name in spelled:
        if not Path(name).is_dir():
            found.append(named(name, kind))
            continue
        inside = sorted(map(str, Path(name).glob(f"*.{kind}.json")))
        if not inside:
            from simopt.core.errors import InvalidFile

            other, command = ("witness", "replay") if kind == "proof" else ("proof", "recheck")
            there = len(list(Path(name).glob(f"*.{other}.json")))
            found_there = f"its {other} files ({there}) are for `simopt {command}`"
            remedy = found_there if there else "`simopt verify --evidence DIR` leaves them in DIR"
            raise InvalidFile(f"{name}: no *.{kind}.json in this folder; {remedy}")
        found += inside
    return list(dict.fromkeys(found))
