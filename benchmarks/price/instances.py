"""Files of linear and convex quadratic programmes that the benchmark solves: MPS and QPS, read as every user's files are (`simopt.read`).

They lie in the folder that SIMOPT_INSTANCES names: `lp/*.mps.gz` and `qp/*.qps.gz`, such as Netlib's, and those of Maros and Mészáros
(*A repository of convex quadratic programming problems*, 1999). simopt carries none of them.
"""

from __future__ import annotations

import os
from pathlib import Path

from simopt.core.errors import NotAvailable

FOLDER = "SIMOPT_INSTANCES"
ENDINGS = {"lp": ".mps.gz", "qp": ".qps.gz"}  # of the files in these subfolders


def files(kind: str) -> list[Path]:
    """The files of "lp" or "qp", small ones first.

    Raises
    ------
    NotAvailable
        when SIMOPT_INSTANCES is not set, or has no such file.
    """
    ending, named = ENDINGS[kind], os.environ.get(FOLDER, "")
    remedy = f"set {FOLDER} to a folder with {kind}/*{ending}"
    if not named:
        raise NotAvailable(f"{FOLDER} is not set; {remedy}")
    found = sorted((Path(named) / kind).glob(f"*{ending}"), key=lambda path: (path.stat().st_size, path.name))
    if not found:
        raise NotAvailable(f"{FOLDER}={named}: no {kind}/*{ending} there; {remedy}")
    return found
