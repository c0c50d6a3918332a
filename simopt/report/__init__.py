"""The verdict report: what `simopt verify --report DIR` writes.

`index.html` and `errata.html` are self-contained pages (no network: style, script, drawings and mathematics are inside). `verdicts.md` and
`errata.md` say the same in Markdown. `verdicts.json` holds the whole record, with everything that the plots are made of.
"""

from __future__ import annotations

import errno
import os
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simopt.core import jsonio
from simopt.core.errors import NotAvailable
from simopt.core.extras import install
from simopt.core.writing import try_folder, write_text

if TYPE_CHECKING:
    from simopt.claims.verification import Record

NEEDS = ("jinja2", "latex2mathml")
BYTES = 2 * 2**20  # bytes of a report without claims, and of each claim of it
BYTES_A_CLAIM = 60_000
TABLE, ERRATA_TABLE, RECORD = "verdicts.md", "errata.md", "verdicts.json"


def prepare(folder: str | Path, claims: int = 0) -> Path:
    """The folder, made and tried: called before a long run, so that what would stop the report is known then.

    Raises
    ------
    NotAvailable
        when a package of the extra `report` is missing.
    OSError
        with the path, when the folder cannot be made or written to, or has no space.
    """
    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise NotAvailable(f"--report needs {' and '.join(missing)}: {install('report')}")
    target = try_folder(folder)
    need, free = BYTES + BYTES_A_CLAIM * claims, shutil.disk_usage(target).free
    if free < need:
        words = f"{os.strerror(errno.ENOSPC)}: a report takes up to {need / 1e6:.0f} MB, {free / 1e6:.0f} MB are free"
        raise OSError(errno.ENOSPC, words, str(target))
    return target


def write(record: Record, folder: str | Path, kernel: str | Path | None = None) -> dict[str, Path]:
    """Write the report of a run, an interrupted one included, and return its files by name. Each is whole or not there.

    `kernel` is a folder of `make coq`, whose answers are shown beside the verdicts.

    Raises
    ------
    NotAvailable
        when a package of the extra `report` is missing, or the folder of `make coq` holds no answers.
    OSError
        with the path, when something cannot be written.
    """
    from simopt.report import markdown, pages
    from simopt.report.entries import gather

    target = prepare(folder, len(record.rows))
    found = gather(record.rows)
    texts = pages.render(record, kernel) | {
        TABLE: f"# Verdicts\n\n{about(record)}\n\n{markdown.summary(record.rows)}\n\n{markdown.verdict_table(record.rows)}\n",
        ERRATA_TABLE: f"# Errata\n\n{about(record)}\n\n{markdown.errata(found)}\n",
        RECORD: jsonio.dumps(document(record)),
    }
    for name, text in texts.items():
        write_text(target / name, text)
    return {name: target / name for name in texts}


def document(record: Record) -> dict[str, Any]:
    """The record as one JSON object: the run, and a row a claim with what was measured."""
    return {
        "format": "simopt-report/1",
        "effort": record.effort.value,
        "seed": record.seed,
        "jobs": record.jobs,
        "seconds": round(record.seconds, 3),
        "selected": record.selected,
        "interrupted": record.interrupted,
        "versions": dict(record.versions),
        "claims": list(record.rows),
    }


def about(record: Record) -> str:
    """The run, in a line."""
    done = f"{len(record.rows)} of {record.selected} claims"
    said = f"{done}, {record.effort} effort, first seed {record.seed}, simopt {record.versions.get('simopt', 'unknown')}."
    return f"{said} **Interrupted: the rest was not checked.**" if record.interrupted else said
