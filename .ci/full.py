"""Everything that `make test` leaves out, in steps: slow tests, every BLAS kernel, random properties, full effort, mutants and more.

    make full                          what is not done yet for this code; docs/full.md says what was run, when and where
    make full ARGS="--list"            the steps, and which are done
    make full ARGS="tests properties"  the steps whose names begin so

A step that is done is kept in docs/full.json under the content of all files that it may read, and not run again while they are the same;
what it printed is in .full/. A step that fails does not stop the others, an interrupt keeps what is done. The page shows the last result
of each step and how many of the files that it reads have changed since, so that a full run may take several sittings.
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
WRITTEN = ("docs/full.md", "docs/full.json", "docs/mutants.md", "docs/attacks.md")  # by such runs; nothing depends on what they say
RECORD = ROOT / "docs" / "full.json"
SLOW = ("estimators", "theorems", "problems", "duality", "conformance", "solvers")  # folders whose slow tests are a step each
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "ARGS")  # by these an inner make would take the ARGS of `make full` for its own
PAGE = """# The last full run

`make full` runs the whole suite with its slow tests; without them, and all claims, under each of the BLAS kernels that are named below;
properties with random seeds; the claims at full effort; mutants, other Pythons, the oldest CVXPY, notebooks and docs. Written by it, with
what each step printed last.

{date}, {machine}. Of each step the last run, at its commit; "changed since" counts the files that the step reads and that are
others at commit {commit}.

| step | result | seconds | commit | changed since |
|---|---|---:|---|---:|
{rows}
"""


@dataclass(frozen=True)
class CheckStep:
    """A command, the variables that it runs under, and what of the tree it may read; nothing named is everything."""

    name: str
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    prose: bool = False  # whether pages (*.md) are read, too
    note: str = ""  # said beside the result

    @property
    def content(self) -> str:
        """A name of all that the step may read, as it is committed; another interpreter or folder of data is another content."""
        data = "data" if os.environ.get("SIMOPT_DATA") else ""
        files = sorted(" ".join(entry) for entry in self.files("HEAD").items())
        return hashlib.sha256("\n".join([platform.python_version(), data, *files]).encode()).hexdigest()

    def files(self, commit: str) -> dict[str, str]:
        """Name and hash of each file of a commit that the step may read."""
        listed = (line.split("\t") for line in git("ls-tree", "-r", commit, *self.reads).splitlines())
        every = {path: about.split()[2] for about, path in listed if path not in WRITTEN}
        return {path: of for path, of in every.items() if self.prose or not path.endswith(".md")}

    def changed_since(self, commit: str) -> int:
        """How many of these files are others than at that commit, or are gone, or new."""
        before, now = self.files(commit), self.files("HEAD")
        return sum(before.get(path) != now.get(path) for path in {*before, *now})


def steps() -> list[CheckStep]:
    """All steps, quick ones first."""

    def make(target: str, arguments: str = "") -> list[str]:
        return ["make", f"VENV={BIN.parent}", target, f"ARGS={arguments}"]

    verify = make("verify", "--evidence .full/evidence")
    planned = [CheckStep(name, make(name), prose=True) for name in ("lint", "types")]
    planned += [CheckStep("verify", verify, reads=OF_CLAIMS), CheckStep("tests", make("test", "-m 'not slow'"), prose=True)]
    fuzz = "a_thousand_random_points"  # of both judges: a step by itself, so that what interrupts it costs no other
    planned += [CheckStep(f"slow tests, {folder}", make("test", f"-m slow -k 'not {fuzz}' tests/{folder}")) for folder in SLOW]
    elsewhere = " ".join(f"--ignore=tests/{folder}" for folder in (*SLOW, "adversarial"))  # slow attacks are in the step "attacks"
    planned.append(CheckStep("slow tests, elsewhere", make("test", f"-m slow {elsewhere}"), prose=True))
    planned.append(CheckStep("second judge", make("test", f"-m slow -k {fuzz} tests/duality")))
    for kernel in kernels():
        # Plain vector instructions for compiled loops too, beside the plainest kernel of BLAS.
        under = {"OPENBLAS_CORETYPE": kernel} | ({"NUMBA_CPU_NAME": "generic"} if kernel == "Prescott" else {})
        planned += [
            CheckStep(f"verify, {kernel}", verify, under, OF_CLAIMS),
            CheckStep(f"tests, {kernel}", make("test", "-m 'not slow'"), under),
        ]
    first = int(CheckStep("", ()).content[:7], 16)  # other code, other seeds
    for number in range(RANDOM_SEEDS):
        drawn = f"-m hypothesis --hypothesis-profile random --hypothesis-seed {first + number}"
        planned.append(CheckStep(f"properties, draw {number + 1}", make("test", drawn), note=f"seed {first + number}"))
    planned += [CheckStep("notebooks", make("notebooks")), CheckStep("docs", make("docs"), prose=True)]
    planned += [CheckStep(name, make(name)) for name in ("other-pythons", "oldest-cvxpy")]
    planned.append(CheckStep("verify, full effort", make("verify", "--evidence .full/evidence --effort full"), reads=OF_CLAIMS))
    return [*planned, CheckStep("attacks", make("attacks", "--all")), CheckStep("mutants", make("mutants"))]


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


def run(step: CheckStep, folder: Path) -> dict[str, object]:
    """Run a step, its output in a file; the result, when, and how long."""
    log = folder / f"{step.name.replace(',', '').replace(' ', '-')}.log"
    start = time.monotonic()
    with log.open("w", encoding="utf-8") as out:
        out.write(f"{step.environment or ''} {shlex.join(step.command)}\n")
        out.flush()
        inherited = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
        done = subprocess.run(step.command, cwd=ROOT, env=inherited | step.environment, stdout=out, stderr=subprocess.STDOUT, check=False)
    said = "; ".join(filter(None, (result_of(log.read_text(encoding="utf-8", errors="replace"), done.returncode), step.note)))
    outcome = {"result": said, "ok": done.returncode == 0, "seconds": round(time.monotonic() - start)}
    return outcome | {"content": step.content, "commit": git("rev-parse", "HEAD")[:10], "date": datetime.date.today().isoformat()}


def page(planned: Sequence[CheckStep], done: dict[str, dict[str, object]]) -> str:
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
    rows = "\n".join(_row(step, done.get(step.name)) for step in planned)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, numpy {version}"
    machine += f"; data sets missing: {', '.join(missing) or 'none'}"
    return PAGE.format(date=datetime.date.today().isoformat(), machine=machine, rows=rows, commit=git("rev-parse", "HEAD")[:10])


def _row(step: CheckStep, entry: dict[str, object] | None) -> str:
    """A line of the table."""
    if entry is None:
        return f"| {step.name} | not run | | | |"
    return f"| {step.name} | {entry['result']} | {entry['seconds']} | {entry['commit']} | {step.changed_since(str(entry['commit']))} |"


def main(planned: Callable[[], list[CheckStep]] = steps) -> int:
    """Run what is left; 0 if all that was asked for is done and passed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="beginnings of the names of steps; default: all")
    parser.add_argument("--list", action="store_true", help="show the steps and which are done")
    asked = parser.parse_args()
    folder = ROOT / ".full"
    every = planned()
    known = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    fresh = {step.name for step in every if known.get(step.name, {}).get("ok") and known[step.name]["content"] == step.content}
    chosen = [step for step in every if step.name.startswith(tuple(asked.names or [""]))]
    left = [step for step in chosen if step.name not in fresh]
    if not chosen:
        parser.error(f"no step is called {', '.join(asked.names)}; see --list")
    if asked.list:
        print("\n".join(f"{step.name}: {known[step.name]['result'] if step.name in fresh else 'to do'}" for step in every))
        return 0
    if git("status", "--porcelain", "--untracked-files=no", "--", ".", *(f":!{page}" for page in WRITTEN)):
        print("there are changes that are not committed: what runs would be no commit", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(left, 1):
        print(f"[{number}/{len(left)}] {step.name} …", end=" ", flush=True)
        known[step.name] = run(step, folder)
        print(f"{known[step.name]['result']} ({known[step.name]['seconds']} s)", flush=True)
        kept = {step.name: known[step.name] for step in every if step.name in known}
        RECORD.with_suffix(".part").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        os.replace(RECORD.with_suffix(".part"), RECORD)
    failed = [step.name for step in chosen if not known[step.name]["ok"]]
    (ROOT / "docs" / "full.md").write_text(page(every, known), encoding="utf-8")
    print("docs/full.md and docs/full.json are written: commit them")
    print(f"failed: {', '.join(failed)}; see .full/" if failed else "nothing failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted: what is done is kept; `make full` goes on")
