"""Runs every benchmark, or those named: `python -m benchmarks [--quick] [name …]`. Each is a script, or a row of the table in compare.py.

Further options are handed on to a single benchmark: `python -m benchmarks landmarked_svr --sizes=1000x50,10000x100`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.compare import TABLE

HERE = Path(__file__).resolve().parent
HELPERS = {"__main__", "compare", "pairs"}
SCRIPTS = {path.stem: [str(path)] for path in HERE.glob("*.py") if path.stem not in HELPERS}
SCRIPTS |= {f"compare_{name}": [str(HERE / "compare.py"), name] for name in TABLE}


def main() -> int:
    """The exit status is that of the first script that failed."""
    names = sorted(SCRIPTS)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small sizes and two pairs, to see that they run")
    options, further = parser.parse_known_args()
    if further and len(options.names) != 1:
        parser.error(f"{' '.join(further)}: options of one benchmark; name it")
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"no benchmark called {', '.join(unknown)}; there are {', '.join(names)}")
    one_thread = {key: "1" for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}
    status = 0
    for name in options.names or names:
        command = [sys.executable, *SCRIPTS[name], *(["--quick"] if options.quick else []), *further]
        status = status or subprocess.run(command, env={**os.environ, **one_thread}, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
