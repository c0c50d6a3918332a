"""Names and atomic writing of evidence files."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any


def slug(row: str) -> str:
    """File name of a row: ids contain `+` and `/`."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", row.replace("+", "plus"))


def write_json(path: Path, document: Any) -> None:
    """Write a JSON file completely or not at all; NaN and infinities are refused, because JSON has none.

    Raises
    ------
    ValueError
        if the document contains NaN or an infinity.
    """
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text + "\n", encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
