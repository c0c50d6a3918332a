"""Every class of attack once, and docs/attacks.md: the cases that were tried and the failures, as they were counted.

    make attacks               all but the slow ones, random kills and broken solvers in all their cases; the table is printed
    make attacks ARGS=--all    the slow ones, too; the page is written, which counts all

Ends with status 0 if nothing failed and each class had at least the cases that were asked for.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

from attacks import Class, Count, counts

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE, BENCHMARKS = ROOT / "docs" / "attacks.md", ROOT / "docs" / "benchmarks.md"
WHOLE = ("test_random_kills.py", "test_broken_solvers.py")  # with their slow cases, which are few
WORKERS = ("-n", "logical", "--maxprocesses", "8", "--dist", "worksteal")  # as `make test` has them
LOAD = {
    "SVR, 10⁶ × 100, from a memory map and from Dask": "landmarked SVR, d = 100, streamed",
    "SVR, 10⁷ × 100, two Dask workers, one of them killed": "landmarked SVR, d = 100, chunks made anew",
    "herd of 10⁵": "memory at n = 100000",
    "isotonic, 10⁷": "memory of LPAV at m = 1e+07",
    "500 runs of a comparison": "500 runs of a comparison",
}
HEAD = """# Attacks

What files of other people, broken solvers, full disks, kills and threads may do is tried by `tests/adversarial`; `SECURITY.md` says what
must hold. A case is one thing tried: a value in the place of an argument, a damaged file, an answer of a server, a kill. Cases and failures
are counted while they run, slow ones included, and the page is written by `make attacks ARGS=--all`. Asked for are as many cases as first
found the defects of each class.

"""


def ran(report: Path, *selection: str) -> int:
    """The status of pytest, and its results in a file."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-r", "fE", *WORKERS, f"--junitxml={report}", *selection]
    threads = {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **threads}, check=False).returncode


def results(report: Path) -> Iterator[tuple[str, str, str, int]]:
    """File, test, outcome and cases of each."""
    for test in ET.parse(report).iter("testcase"):
        tags = {each.tag for each in test}
        outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        cases = next((int(each.get("value", "1")) for each in test.iter("property") if each.get("name") == "cases"), 1)
        yield str(test.get("classname")).rpartition(".")[2], str(test.get("name")), outcome, cases


def lines(counts: dict[Class, Count]) -> list[str]:
    """The table."""
    made = ["| class of attack | asked for | cases | failures | not run here |", "|---|---:|---:|---:|---:|"]
    for kind, count in counts.items():
        least = "" if kind.least is None else f"{kind.least}"
        made.append(f"| {kind.name} | {least} | {count.cases} | {count.failures} | {count.skipped or ''} |")
    total = [sum(getattr(count, name) for count in counts.values()) for name in ("cases", "failures", "skipped")]
    return [*made, f"| **all** | | **{total[0]}** | **{total[1]}** | {total[2] or ''} |"]


def load_lines() -> list[str]:
    """Load: of each benchmark the targets and how many were missed, as docs/benchmarks.md has them."""
    parts = [part.partition("\n") for part in re.split(r"^## ", BENCHMARKS.read_text(encoding="utf-8"), flags=re.M)[1:]]
    made = [
        "",
        "Load is measured by `make bench`, outside of this run:",
        "",
        "| load | measured | targets | missed |",
        "|---|---|---:|---:|",
    ]
    for name, title in LOAD.items():
        body = next((text for head, _, text in parts if head.startswith(title)), None)
        day = "not yet" if body is None else body.strip()[:10]
        met, missed = (0, 0) if body is None else (body.count(": met)"), body.count(": MISSED)"))
        made.append(f"| {name} | {day} | {met + missed or ''} | {missed if met + missed else ''} |")
    return made


def page(counts: dict[Class, Count], what: str, seconds: float) -> str:
    """docs/attacks.md."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    day = f"{datetime.date.today().isoformat()}, commit {commit}, Python {platform.python_version()}, {os.cpu_count()} cores"
    words = f"{day}; {what}, {seconds / 60:.0f} minutes."
    return HEAD + "\n".join([words, "", *lines(counts), *load_lines()]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="make attacks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="slow tests, too")
    parser.add_argument("--no-page", action="store_true", help="print the table and leave the page as it is")
    options = parser.parse_args(arguments)
    whole = [str(HERE / name) for name in WHOLE]
    selections = [[str(HERE)]] if options.all else [[str(HERE), "-m", "not slow"], [*whole, "-m", "slow"]]
    begun, status, rows = time.monotonic(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number, selection in enumerate(selections):
            report = Path(folder) / f"{number}.xml"
            status = ran(report, *selection) or status
            rows += list(results(report))
    found = counts(rows)
    text = page(found, "slow tests included", time.monotonic() - begun)
    if options.all and not options.no_page:
        PAGE.write_text(text, encoding="utf-8")
    print("\n".join(lines(found)))
    few = [kind.name for kind, count in found.items() if count.cases < (kind.least or 1)]
    for name in few:
        print(f"{name}: fewer cases than were asked for")
    return 1 if few or any(count.failures for count in found.values()) else status


if __name__ == "__main__":
    sys.exit(main())
