"""Everything that `make test` leaves out, in steps: slow tests, every BLAS kernel, random properties, full effort, mutants and more.

    make full                          what is not done yet for this code; docs/full.md says what was run, when and where
    make full ARGS="--list"            the steps, and which are done
    make full ARGS="tests properties"  the steps whose names begin so

A step that is done is kept in .full/ under the content of all files that it may read, with what it printed, and not run again while they
are the same. A step that fails does not stop the others, an interrupt keeps what is done.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
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
OF_CLAIMS = ("simopt", "problems", "solvers", "theorems", "estimators", "data", "pyproject.toml", "requirements", "Makefile")
WRITTEN = ("docs/full.md", "docs/mutants.md", "docs/attacks.md")  # by runs like this one; nothing else depends on what they say
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "ARGS")  # by these an inner make would take the ARGS of `make full` for its own
PAGE = """# The last full run

`make full` runs the whole suite with its slow tests; without them, and all claims, under each of the BLAS kernels that are named below;
properties with random seeds; the claims at full effort; mutants, other Pythons, the oldest CVXPY, notebooks and docs. Written by it, with
what each step printed last.

{date}, {machine}. Between the commits that are named nothing changed that the step reads.

| step | result | seconds | commit |
|---|---|---:|---|
{rows}
"""


@dataclass(frozen=True)
class Step:
    """A command, the variables that it runs under, and what of the tree it may read; nothing named is everything."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    reads: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """A name of all that the step may read, as it is committed; another interpreter or folder of data is another content."""
        files = [line for line in git("ls-tree", "-r", "HEAD", *self.reads).splitlines() if not line.endswith(WRITTEN)]
        return hashlib.sha256("\n".join([sys.version, os.environ.get("SIMOPT_DATA", ""), *files]).encode()).hexdigest()


def steps() -> list[Step]:
    """All steps, quick ones first."""

    def make(target: str, arguments: str = "") -> list[str]:
        return ["make", f"VENV={BIN.parent}", target, f"ARGS={arguments}"]

    verify = make("verify", "--evidence .full/evidence")
    planned = [Step(name, make(name)) for name in ("lint", "types")]
    planned += [Step("verify", verify, reads=OF_CLAIMS), Step("tests", make("test", "-m 'not slow'"))]
    fuzz = "a_thousand_random_points"  # of both judges: a step by itself, so that what interrupts it costs no other
    planned += [Step("slow tests", make("test", f"-m slow -k 'not {fuzz}'")), Step("second judge", make("test", f"-m slow -k {fuzz}"))]
    for kernel in kernels():
        # Plain vector instructions for compiled loops too, beside the plainest kernel of BLAS.
        under = {"OPENBLAS_CORETYPE": kernel} | ({"NUMBA_CPU_NAME": "generic"} if kernel == "Prescott" else {})
        planned += [Step(f"verify, {kernel}", verify, under, OF_CLAIMS), Step(f"tests, {kernel}", make("test", "-m 'not slow'"), under)]
    first = int(Step("", ()).content[:7], 16)  # other code, other seeds; the step's name says which
    for seed in range(first, first + RANDOM_SEEDS):
        drawn = f"-m hypothesis --hypothesis-profile random --hypothesis-seed {seed}"
        planned.append(Step(f"properties, seed {seed}", make("test", drawn)))
    planned += [Step(name, make(name)) for name in ("notebooks", "docs", "other-pythons", "oldest-cvxpy")]
    planned.append(Step("verify, full effort", make("verify", "--evidence .full/evidence --effort full"), reads=OF_CLAIMS))
    return [*planned, Step("attacks", make("attacks", "--all")), Step("mutants", make("mutants"))]


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
    """The counts that pytest or `simopt verify` print last, or that the command failed, or did not come to its end."""
    rows = "; ".join(re.findall(r"^(?:Python|CVXPY) \d[\d.]*: .*", output, re.M))
    counts = re.findall(r"(?:\d+ \w+, )*\d+ passed.* in [\d.:]+ ?s|\d+ of \d+ claims in .*", output)
    said = rows or (counts[-1].strip(" =") if counts else "ok" if status == 0 else "")
    if status == 0:
        return said
    stopped = re.findall(r"^(?:!+|INTERNALERROR>) (.*(?:Interrupted|KeyboardInterrupt|Error|Exit).*?)(?: !+)?$", output, re.M)
    inner = re.findall(r"^make: \*\*\* .* Error (\d+)$", output, re.M)  # make ends with 2, whatever its command ends with
    word = f"INTERRUPTED, {stopped[-1]}:" if stopped else "FAILED"
    return f"{word} ({inner[-1] if inner else status}) {said}"


def run(step: Step, folder: Path) -> dict[str, object]:
    """Run a step, its output in a file; the result, when, and how long."""
    log = folder / f"{step.name.replace(',', '').replace(' ', '-')}.log"
    start = time.monotonic()
    with log.open("w", encoding="utf-8") as out:
        out.write(f"{step.environment or ''} {shlex.join(step.command)}\n")
        out.flush()
        inherited = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
        done = subprocess.run(step.command, cwd=ROOT, env=inherited | step.environment, stdout=out, stderr=subprocess.STDOUT, check=False)
    said = result_of(log.read_text(encoding="utf-8", errors="replace"), done.returncode)
    outcome = {"result": said, "ok": done.returncode == 0, "seconds": round(time.monotonic() - start)}
    return outcome | {"content": step.content, "commit": git("rev-parse", "HEAD")[:10]}


def page(planned: Sequence[Step], done: dict[str, dict[str, object]]) -> str:
    """docs/full.md: every step with its result, or that it was not run."""
    from numpy.version import version

    from simopt.core.errors import NotAvailable
    from simopt.data.datasets import descriptions, load_dataset

    missing = []
    for each in descriptions():
        try:
            load_dataset(each.name)
        except NotAvailable:
            missing.append(each.name)
    entries = [(step.name, done.get(step.name, {"result": "not run", "seconds": "", "commit": ""})) for step in planned]
    rows = "\n".join(f"| {name} | {entry['result']} | {entry['seconds']} | {entry['commit']} |" for name, entry in entries)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, numpy {version}"
    machine += f"; data sets missing: {', '.join(missing) or 'none'}"
    return PAGE.format(date=datetime.date.today().isoformat(), machine=machine, rows=rows)


def main(planned: Callable[[], list[Step]] = steps) -> int:
    """Run what is left; 0 if all that was asked for is done and passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="beginnings of the names of steps; default: all")
    parser.add_argument("--list", action="store_true", help="show the steps and which are done")
    asked = parser.parse_args()
    folder = ROOT / ".full"
    record = folder / "done.json"
    every = planned()
    known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    done = {step.name: known[step.name] for step in every if known.get(step.name, {}).get("content") == step.content}
    chosen = [step for step in every if step.name.startswith(tuple(asked.names or [""]))]
    left = [step for step in chosen if not done.get(step.name, {}).get("ok")]
    if not chosen:
        parser.error(f"no step is called {', '.join(asked.names)}; see --list")
    if asked.list:
        print("\n".join([*(f"{name}: {entry['result']}" for name, entry in done.items()), *(f"{step.name}: to do" for step in left)]))
        return 0
    if git("status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{page}" for page in WRITTEN)):
        print("there are changes that are not committed: what runs would be no commit", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(left, 1):
        print(f"[{number}/{len(left)}] {step.name} …", end=" ", flush=True)
        done[step.name] = run(step, folder)
        print(f"{done[step.name]['result']} ({done[step.name]['seconds']} s)", flush=True)
        record.with_suffix(".part").write_text(json.dumps(known | done, indent=1), encoding="utf-8")
        os.replace(record.with_suffix(".part"), record)
    failed = [name for name, entry in done.items() if not entry["ok"]]
    (ROOT / "docs" / "full.md").write_text(page(every, done), encoding="utf-8")
    print("docs/full.md is written: commit it")
    print(f"failed: {', '.join(failed)}; see .full/" if failed else "nothing failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted: what is done is kept; `make full` goes on")
