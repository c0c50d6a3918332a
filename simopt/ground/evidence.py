"""Names of the files that `simopt verify` leaves behind: a witness or a proof a row, in one folder, and the list of them."""

from __future__ import annotations

import re
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
