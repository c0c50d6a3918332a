"""Everything that `make test` leaves out, in steps: slow tests, every BLAS kernel, random properties, full effort, notebooks, docs.

    make full                          what is not done yet for this commit; then docs/full.md says what was run, when and where
    make full ARGS="--list"            the steps, and which are done
    make full ARGS="tests properties"  the steps whose names begin so

A step that is done is kept in .full/ under the commit, with what it printed, and not run again. A step that fails does not stop the others,
an interrupt keeps what is done.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
KERNELS = {"Prescott": "SSE3", "Haswell": "AVX2", "SkylakeX": "AVX512_SKX"}  # OpenBLAS's names, and what the processor needs for each
RANDOM_SEEDS = 3
PAGE = """# The last full run

`make full` runs everything: the whole suite with its slow tests, the rest of it under each of OpenBLAS's kernels, properties with random
seeds, all claims at full effort and with each kernel, notebooks and docs. Written by it, with what it printed.

{date}, commit {commit}, {machine}

| step | result | seconds |
|---|---|---:|
{rows}
"""


@dataclass(frozen=True)
class Step:
    """A command, and the variables that it runs under."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)


def steps() -> list[Step]:
    """All steps, quick ones first."""
    pytest = [str(BIN / "pytest"), "-q", "-n", "logical", "--dist", "worksteal"]
    verify = [str(BIN / "simopt"), "verify", "--evidence", ".full/evidence"]
    planned = [Step(name, ["make", name]) for name in ("lint", "types")]
    planned += [Step("verify", verify), Step("tests", [*pytest, "-m", "not slow"]), Step("slow tests", [*pytest, "-m", "slow"])]
    for kernel in kernels():
        # Plain vector instructions for compiled loops too, beside the plainest kernel of BLAS.
        under = {"OPENBLAS_CORETYPE": kernel} | ({"NUMBA_CPU_NAME": "generic"} if kernel == "Prescott" else {})
        planned += [Step(f"verify, {kernel}", verify, under), Step(f"tests, {kernel}", [*pytest, "-m", "not slow"], under)]
    random = [*pytest, "-m", "hypothesis", "--hypothesis-profile", "random", "--hypothesis-seed"]
    first = int(git("rev-parse", "HEAD")[:7], 16)  # another commit, other seeds; the step's name says which
    planned += [Step(f"properties, seed {seed}", [*random, str(seed)]) for seed in range(first, first + RANDOM_SEEDS)]
    planned += [Step(name, ["make", name]) for name in ("notebooks", "docs", "other-pythons")]
    return [*planned, Step("verify, full effort", [*verify, "--effort", "full"])]


def kernels() -> list[str]:
    """The kernels of OpenBLAS that this processor can run, without that which it runs by itself."""
    from numpy._core._multiarray_umath import __cpu_features__
    from threadpoolctl import threadpool_info

    own = {library.get("architecture") for library in threadpool_info()}
    return [kernel for kernel, feature in KERNELS.items() if __cpu_features__.get(feature) and kernel not in own]


def git(*arguments: str) -> str:
    """What git answers."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def result_of(output: str, status: int) -> str:
    """The counts that pytest or `simopt verify` print last, or that the command failed."""
    counts = re.findall(r"\d+ passed.* in [\d.:]+ ?s|\d+ of \d+ claims in .*", output)
    return ("" if status == 0 else f"FAILED ({status}) ") + (counts[-1].strip(" =") if counts else "ok" if status == 0 else "")


def run(step: Step, folder: Path) -> dict[str, object]:
    """Run a step, its output in a file; the result, when, and how long."""
    log = folder / f"{step.name.replace(',', '').replace(' ', '-')}.log"
    start = time.monotonic()
    with log.open("w", encoding="utf-8") as out:
        out.write(f"{step.environment or ''} {shlex.join(step.command)}\n")
        out.flush()
        done = subprocess.run(step.command, cwd=ROOT, env=os.environ | step.environment, stdout=out, stderr=subprocess.STDOUT, check=False)
    said = result_of(log.read_text(encoding="utf-8", errors="replace"), done.returncode)
    return {"result": said, "ok": done.returncode == 0, "seconds": round(time.monotonic() - start)}


def page(done: dict[str, dict[str, object]], commit: str) -> str:
    """docs/full.md."""
    rows = "\n".join(f"| {name} | {entry['result']} | {entry['seconds']} |" for name, entry in done.items())
    from numpy.version import version

    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, numpy {version}"
    return PAGE.format(date=datetime.date.today().isoformat(), commit=commit[:10], machine=machine, rows=rows)


def main(planned: Callable[[], list[Step]] = steps) -> int:
    """Run what is left; 0 if all that was asked for is done and passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="beginnings of the names of steps; default: all")
    parser.add_argument("--list", action="store_true", help="show the steps and which are done")
    asked = parser.parse_args()
    commit = git("rev-parse", "HEAD")
    folder = ROOT / ".full"
    record = folder / "done.json"
    known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    done = known.get(commit, {})
    left = [step for step in planned() if not done.get(step.name, {}).get("ok") and step.name.startswith(tuple(asked.names or [""]))]
    if asked.list:
        print("\n".join([*(f"{name}: {entry['result']}" for name, entry in done.items()), *(f"{step.name}: to do" for step in left)]))
        return 0
    if git("status", "--porcelain", "--untracked-files=no"):
        print("there are changes that are not committed: what runs would be no commit", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(left, 1):
        print(f"[{number}/{len(left)}] {step.name} …", end=" ", flush=True)
        done[step.name] = run(step, folder)
        print(f"{done[step.name]['result']} ({done[step.name]['seconds']} s)", flush=True)
        record.write_text(json.dumps({commit: done}, indent=1), encoding="utf-8")
    failed = [name for name, entry in done.items() if not entry["ok"]]
    if not failed and all(step.name in done for step in planned()):
        (ROOT / "docs" / "full.md").write_text(page(done, commit), encoding="utf-8")
        print("docs/full.md is written: commit it")
    print(f"failed: {', '.join(failed)}; see .full/" if failed else "nothing failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted: what is done is kept; `make full` goes on")
