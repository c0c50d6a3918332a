"""Runs benchmarks: `python -m benchmarks [--quick | --page] [--again] [--all | name …]`. Each is a script, or a row of compare.py; without
names those of our solvers against their peers, which end within forty minutes, and with --all every one.

The output of a benchmark that ended well is stored in .bench/, under a digest of all files that it may read, with the day and its seconds.
A second call prints it again and goes on with what is missing, so that an interrupt costs one benchmark. --again measures anew.

--page writes the sections of docs/benchmarks.md (of docs/defaults.md, for `defaults`) that were measured anew, and from them the README's
table. `price` reads programmes from the folder that SIMOPT_INSTANCES names. Further options are handed on to a single benchmark: `python -m
benchmarks landmarked_svr --sizes=1000x50,10000x100`. With --against it is another question: is this tree slower than that commit of it? See
against.py.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import against, page
from benchmarks.compare import TABLE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = ROOT / ".bench"
READ = ("simopt", "problems", "solvers", "theorems", "estimators", "benchmarks", "data", "requirements")
HELPERS = {"__init__", "__main__", "against", "by_hand", "compare", "operations", "page", "pairs"}
SCRIPTS = {path.stem: [str(path)] for path in HERE.glob("*.py") if path.stem not in HELPERS}
SCRIPTS |= {name: ["-m", f"benchmarks.{name}"] for name in ("by_hand", "derived", "growth")}  # they import others of these
SCRIPTS |= {name: ["-m", f"benchmarks.{name}", "--folder", f"{{kept}}/{name}"] for name in ("price", "semidefinite")}
SCRIPTS |= {f"compare_{name}": [str(HERE / "compare.py"), name, "--folder", "{kept}"] for name in TABLE}
OF_SOLVERS = ["exc", "fit", "goodness", "greedy", "growth", "herding", "isotron", "landmarked_svr", "landmarked_svr_stream"]
OF_SOLVERS += ["lpav", "svm", "two_threads"]


def run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """The exit status, and what was printed, which is shown as it comes."""
    said = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8") as script:
        for line in script.stdout or ():
            print(line, end="", flush=True)
            said.append(line)
    return script.returncode, "".join(said)


def folder(quick: bool) -> Path:
    """Where the answers of this tree and this interpreter are kept: a name of every byte that a benchmark may read."""
    names = (name for top in READ for name in sorted((ROOT / top).rglob("*")) or [ROOT / top])
    files = (name for name in names if name.is_file() and "__pycache__" not in name.parts)
    content = hashlib.sha256(f"{sys.version}{os.environ.get('SIMOPT_INSTANCES', '')}".encode())  # the folder of what price reads
    for name in files:
        content.update(b"%s %d " % (name.relative_to(ROOT).as_posix().encode(), name.stat().st_size) + name.read_bytes())
    return CACHE / (content.hexdigest()[:12] + ("-quick" if quick else ""))


def main() -> int:
    """The exit status is that of the first script that failed."""
    names = sorted(SCRIPTS)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="small sizes and two pairs, to see that they run")
    parser.add_argument(
        "--page", action="store_true", help="write what was measured into docs/benchmarks.md and README.md, or docs/defaults.md"
    )
    parser.add_argument("--all", action="store_true", help="every benchmark, some with time limits of minutes for each cell")
    parser.add_argument("--again", action="store_true", help="measure what is kept of this tree, too")
    parser.add_argument("--against", metavar="COMMIT", help="time this tree against that commit; names are those of problems, or start-up")
    options, further = parser.parse_known_args()
    if options.against:
        if further or options.page:
            parser.error("--against takes --quick and names only")
        return against.main(options.against, options.names, options.quick)
    if further and len(options.names) != 1:
        parser.error(f"{' '.join(further)}: options of one benchmark; name it")
    if options.page and (options.quick or further):
        parser.error("--page keeps whole benchmarks only: not with --quick or options of one benchmark")
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"no benchmark called {', '.join(unknown)}; there are {', '.join(names)}")
    one_thread = {key: "1" for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}
    environment = {**os.environ, **one_thread, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
    here, status, total = folder(options.quick), 0, 0.0
    for name in options.names or (names if options.all else OF_SOLVERS):
        kept = here / f"{name}.txt"
        if not (options.again or further) and kept.exists():
            first, _, said = kept.read_text(encoding="utf-8").partition("\n")
            print(said, end="")
        else:
            start = time.monotonic()
            ended, said = run(
                [sys.executable, *(part.format(kept=here) for part in SCRIPTS[name]), *(["--quick"] if options.quick else []), *further],
                environment,
            )
            status = status or ended
            first = f"{datetime.date.today()} {time.monotonic() - start:.1f} s"
            if ended or further:
                continue
            here.mkdir(parents=True, exist_ok=True)
            kept.write_text(f"{first}\n{said}", encoding="utf-8")
        day, seconds, _ = first.split()
        total += float(seconds)
        print(f"[{name}: {seconds} s, of {day}]", file=sys.stderr)
        if options.page:
            page.write(said, datetime.date.fromisoformat(day), name)
    print(f"[all of these: {total / 60:.1f} min]", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
