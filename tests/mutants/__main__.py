"""Change one line at a time of what decides whether an answer is right, and see whether the tests notice.

    make mutants                                 the sample that docs/mutants.md is about; what is done is kept, an interrupt loses nothing
    make mutants ARGS="--count 800 --jobs 2"     more, and two at a time
    make mutants ARGS="--only ID"                one of them: the line before and after, and what its tests said
    make mutants ARGS="--list"                   the sample, and what became of each

Ends with status 0 if at least 95 in 100 are killed, every survivor has its reason in survivors.toml, and no reason is about a dead one.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # before numpy: a process that has threads cannot be forked well

import concerned
import mutants_page
import trying
from concerned import ROOT, Tests
from mutants_page import Tried
from mutate import Mutant, differs, mutants

SEED, COUNT, ENOUGH = 0, 416, 0.95
CACHE = ROOT / ".full" / "mutants"
PAGE = ROOT / "docs" / "mutants.md"


def drawn(seed: int, count: int) -> list[tuple[str, Mutant]]:
    """(group, mutant), `count` of them: of each group its share, at most one a line; a larger sample begins with the smaller one.

    The order within a group is by a hash of seed and id, so that a change elsewhere in the file leaves the other mutants where they are.
    """
    shares: list[tuple[float, str, Mutant]] = []
    total = sum(each.weight for each in concerned.groups())
    for group in concerned.groups():
        for number, mutant in enumerate(_of_group(group, seed, 2 + count * group.weight // total)):
            shares.append(((number + 0.5) * total / group.weight, group.name, mutant))
    shares.sort(key=lambda share: share[0])
    return [(group, mutant) for _, group, mutant in shares[:count]]


def _of_group(group: concerned.Group, seed: int, count: int) -> Iterator[Mutant]:
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in group.modules}
    without = concerned.WITHOUT if group.name == "problems" else ()
    every = [mutant for path, text in texts.items() for mutant in mutants(path, text, without)]
    every.sort(key=lambda mutant: hashlib.sha256(f"{seed} {mutant.id}".encode()).hexdigest())
    taken: set[tuple[str, int]] = set()
    for mutant in every:
        if len(taken) < count and (mutant.path, mutant.line) not in taken and differs(texts[mutant.path], mutant):
            taken.add((mutant.path, mutant.line))
            yield mutant


def mutants_named(pattern: str) -> list[tuple[str, Mutant]]:
    """All mutants, drawn or not, whose id contains the pattern."""
    matching = []
    for group in concerned.groups():
        for path in group.modules:
            if path.removesuffix(".py") in pattern or pattern in path:
                text = (ROOT / path).read_text(encoding="utf-8")
                matching += [(group.name, mutant) for mutant in mutants(path, text) if pattern in mutant.id and differs(text, mutant)]
    return matching


def hashed(*paths: str) -> str:
    """A hash of what files hold."""
    return hashlib.sha256(b"\0".join((ROOT / path).read_bytes() for path in paths)).hexdigest()[:16]


def known() -> dict[str, list[dict[str, Any]]]:
    """What was found, by mutant."""
    file = CACHE / "results.jsonl"
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in map(json.loads, file.read_text(encoding="utf-8").splitlines() if file.exists() else []):
        found.setdefault(entry["id"], []).append(entry)
    return found


def keep(name: str, entry: dict[str, Any]) -> None:
    """Add a result."""
    with (CACHE / "results.jsonl").open("a", encoding="utf-8") as out:
        out.write(json.dumps({"id": name, **entry}) + "\n")


def rests_on(group: str, mutant: Mutant, result: dict[str, Any]) -> dict[str, str]:
    """What a result depends on: the module and, of a dead one, the file of the test that killed it, else all tests that were tried."""
    tests = concerned.tests_of(group, mutant.path)
    files = {each.path for each in tests}
    if result["outcome"] in mutants_page.DEAD:
        files &= {result["by"].partition("::")[0]}
    selection = {} if result["outcome"] in mutants_page.DEAD else {each.path: " ".join(sorted(each.names)) for each in tests}
    return {path: f"{hashed(path)} {selection.get(path, '')}".strip() for path in sorted({mutant.path, *files})}


def _read(group: str, mutant: Mutant) -> list[str]:
    return [hashed(path) for path in (mutant.path, *(each.path for each in concerned.tests_of(group, mutant.path)))]


def result_of(group: str, mutant: Mutant, done: dict[str, list[dict[str, Any]]]) -> dict[str, Any] | None:
    """The last result that rests on nothing that has changed since."""
    valid = (entry for entry in reversed(done.get(mutant.id, [])) if entry["rests on"] == rests_on(group, mutant, entry))
    return next(valid, None)


def sound(sample: Sequence[tuple[str, Mutant]]) -> bool:
    """Whether the tests that killed a mutant pass without one; what fails by itself kills nothing. Kept while no file changes."""
    done = known()
    results = [result_of(*each, done) for each in sample]
    killers = {entry["by"] for entry in results if entry and entry["by"]}
    files = sorted({by.partition("::")[0] for by in killers})
    folders = [ROOT / folder for folder in ("simopt", "problems", "solvers", "estimators", "theorems")]
    sources = sorted(path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("*.py"))
    name = f"unmutated {hashed(*sources, *files)} {hashlib.sha256(' '.join(sorted(killers)).encode()).hexdigest()[:8]}"
    if killers and name not in done:
        print(f"without a mutant, the {len(killers)} tests that killed one …", end=" ", flush=True)
        child = trying.start(CACHE / "unmutated", [Tests(path) for path in files], only=killers)
        _, status = os.waitpid(child, 0)
        file = CACHE / "unmutated" / "result.json"
        told: dict[str, Any] = {"status": status, "failed": ["(crashed)"], "seconds": {}}
        told |= json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        # A file that cannot be read fails at import, under its own name, and is then no test that ran.
        failed = sorted({*told["failed"], *({by for by in killers if "::" in by} - set(told["seconds"]))})
        print(f"{len(told['seconds'])} ran, {len(failed)} failed", flush=True)
        keep(name, {"failed": failed})
    failed = known()[name][-1]["failed"] if killers else []
    if failed:
        print("\n".join(["these fail without any mutant, or did not run, so they kill none:", *failed]), file=sys.stderr)
    return not failed


def run(sample: Sequence[tuple[str, Mutant]], jobs: int, within: int) -> None:
    """Try what is left of the sample, `jobs` at a time, and keep each result as it comes; what is not dead `within` the time is left."""
    done = known()
    left = [(group, mutant) for group, mutant in sample if result_of(group, mutant, done) is None]
    left.sort(key=lambda entry: list(trying.UNTOUCHED).index(entry[0]))
    total, number = len(left), 0
    running: dict[int, tuple[float, Path]] = {}
    of: dict[int, tuple[str, Mutant]] = {}
    began: dict[int, list[str]] = {}
    try:
        while left or running:
            while left and len(running) < jobs:
                group, mutant = left.pop(0)
                trying.warm_for(group)
                folder = (
                    CACHE
                    / f"slot{os.getpid()}-{min(set(range(jobs)) - {int(used.name.rpartition('-')[2]) for _, used in running.values()})}"
                )
                text = mutant.applied((ROOT / mutant.path).read_text(encoding="utf-8"))
                child = trying.start(folder, concerned.tests_of(group, mutant.path), mutant.path, text, within=within)
                running[child], of[child] = (time.monotonic(), folder), (group, mutant)
                began[child] = _read(group, mutant)
            child, result = trying.wait(running)
            seconds = time.monotonic() - running.pop(child)[0]
            group, mutant = of.pop(child)
            if began.pop(child) != _read(group, mutant):
                result = {"outcome": "later", "by": "", "why": "a file was changed meanwhile"}
            if result["outcome"] != "later":
                keep(mutant.id, {**result, "seconds": round(seconds, 1), "rests on": rests_on(group, mutant, result)})
            number += 1
            told = "SURVIVED" if result["outcome"] == "survived" else f"{result['outcome']}: {result['by'] or result['why']}"
            print(f"[{number}/{total}] {seconds:5.1f} s  {mutant.id}  {told}", flush=True)
    finally:
        for child in running:
            trying.end_all(child)
        for slot in CACHE.glob(f"slot{os.getpid()}-*"):
            shutil.rmtree(slot, ignore_errors=True)


def replay(patterns: Sequence[str]) -> int:
    """Show a mutant and what its tests say; nothing is kept."""
    survivors = 0
    for pattern in patterns:
        matching = mutants_named(pattern)
        if not matching:
            print(f"no mutant's id contains {pattern}", file=sys.stderr)
            return 2
        for group, mutant in matching:
            text = mutant.applied((ROOT / mutant.path).read_text(encoding="utf-8"))
            print(f"{mutant.id}\n{mutant.diff}", flush=True)
            child = trying.start(CACHE / "only", concerned.tests_of(group, mutant.path), mutant.path, text)
            _, result = trying.wait({child: (time.monotonic(), CACHE / "only")})
            print((CACHE / "only" / "log.txt").read_text(encoding="utf-8", errors="replace"))
            print(f"{mutant.id}: {result['outcome']} {result['by']}", flush=True)
            survivors += result["outcome"] == "survived"
    return 1 if survivors else 0


def report(sample: Sequence[tuple[str, Mutant]], write: bool) -> int:
    """Write the page and say what it says; 0 if enough are killed and every survivor has a reason."""
    done = known()
    entries = [(group, mutant, entry) for group, mutant in sample if (entry := result_of(group, mutant, done))]
    tried = [Tried(mutant, group, entry["outcome"], entry["by"], entry["why"]) for group, mutant, entry in entries]
    reasons = mutants_page.reasons()
    if write:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout[:10]
        minutes = sum(entry["seconds"] for _, _, entry in entries) / 60
        when = f"{datetime.date.today().isoformat()}, commit {commit}, Python {platform.python_version()}, {minutes:.0f} minutes"
        PAGE.write_text(mutants_page.page(tried, reasons, when), encoding="utf-8")
    counted = mutants_page.summary(tried, reasons)
    print(counted)
    for title, ids in (("unexplained", counted.unexplained), ("stale reason", counted.stale)):
        for name in ids:
            print(f"{title}: {name}")
    return 0 if counted.fraction >= ENOUGH and not counted.unexplained and not counted.stale else 1


def main() -> int:
    """Read the arguments."""
    parser = argparse.ArgumentParser(prog="make mutants", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=COUNT, help=f"how many mutants (default {COUNT})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"which (default {SEED})")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (default 1)")
    parser.add_argument("--within", type=int, default=0, help="seconds of the processor for one; what lives longer is left for another run")
    parser.add_argument("--among", default="", metavar="PATH", help="of the sample, those in files whose path begins so")
    parser.add_argument("--only", nargs="+", metavar="ID", help="replay those whose id contains this")
    parser.add_argument("--list", action="store_true", help="show the sample and what became of each")
    asked = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    if asked.only:
        trying.warm()
        return replay(asked.only)
    sample = [each for each in drawn(asked.seed, asked.count) if each[1].path.startswith(asked.among)]
    if asked.list:
        done = known()
        for group, mutant in sample:
            entry = result_of(group, mutant, done) or {"outcome": "to do", "by": ""}
            print(f"{mutant.id}\t{entry['outcome']}\t{entry['by']}\t{mutant.kind}")
        return 0
    trying.warm()
    run(sample, max(1, asked.jobs), asked.within)
    if asked.within or asked.among:
        print("a part of the sample, or of its tests, makes no page")
        return 1
    if not sound(sample):
        return 2
    return report(sample, (asked.seed, asked.count) == (SEED, COUNT))


if __name__ == "__main__":
    sys.exit(main())
