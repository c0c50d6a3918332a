"""Is this tree slower than another commit of it? `python -m benchmarks --against COMMIT [--quick] [problem | start-up …]`

Each tree runs in a process of its own, on one thread. Both make a problem from one recipe, by the names of the command line. They do one
thing with it in turn, in random order: every solver of ours, certificates, copies, paths. A run gets a copy of the problem that nothing has
been remembered of. Seconds are those of the processor, so that what else the machine does counts little.

Of the ratios pair by pair the median is told with an interval that holds the true one with 95 %, whatever their distribution: two order
statistics. A row is slower where that interval lies above 1.05, twice. The second time is in new processes, since where a process lies in
memory may cost a few per cent too.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import math
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pairs import machine

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = 1.05  # what the lower end of a ratio's interval may be
PAIRS, FEWEST = 9, 6  # the range of six pairs, and that of nine but their ends, are intervals of 95 %
BUDGET = 3.0  # seconds; a slow row takes as many pairs as fit, FEWEST at least
BATCH = 0.005  # seconds; what is faster is done several times within a run
MOST = 100  # times
DIGITS = 2  # of the ratios
SMALL, MIDDLING = 60, 400  # samples
SIZES = {  # where those are no solves of 1 ms to 2 s
    "goodness-choice": (30, 80),
    "smallest-bound": (30, 100),
    "ranking-goodness": (20, 40),
}
RANKING = ("kernel-ranking", "landmarked-ranking", "landmarked-ranking-penalised", "ranking-goodness")  # their recipes count queries
DOCUMENTS, GRADES = 10, 5  # a query
FACTORS = (0.5, 1.0, 2.0)  # of the value of its field, on a path
START_UP = ("list problems", "solve kernel-ridge --data=friedman", "solve landmarked-svr --data=friedman", "verify AK-T1")
THREADS = {key: "1" for key in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}


class Missing(Exception):
    """A tree cannot do what a row is about."""


@dataclass(frozen=True)
class Timings:
    """One thing that both trees do, and the milliseconds of this one and the other, or why there are none."""

    label: str
    ours: float = math.nan
    theirs: float = math.nan
    ratios: tuple[float, ...] = ()
    missing: str = ""

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the 95 % interval of the median ratio."""
        return interval(self.ratios)

    @property
    def slower(self) -> bool:
        """Whether this tree is."""
        return not self.missing and self.interval[0] > ALLOWED

    def __str__(self) -> str:
        if self.missing:
            return f"{self.label:<58} {self.missing}"
        low, high = self.interval
        ratio = f"{statistics.median(self.ratios):.{DIGITS}f} ({low:.{DIGITS}f}-{high:.{DIGITS}f})"
        return f"{self.label:<58} {self.ours:>10.2f} {self.theirs:>10.2f} {ratio:>18} {len(self.ratios):>5}{'  SLOWER' * self.slower}"


def so_far() -> float:
    """Seconds of the processor, of this process and of those that it started and waited for."""
    used = (resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def spent(work: Callable[[], object]) -> float:
    """Seconds of the processor that a call takes, in this process and in those that it starts and waits for."""
    gc.collect()
    gc.disable()
    try:
        start = so_far()
        work()
        return so_far() - start
    finally:
        gc.enable()


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The k-th least and the k-th largest value, for the largest k at which 2 P(Bin(n, ½) < k) ≤ 5 %: the median lies between them."""
    n, k, below = len(values), 0, 2.0 ** -len(values)
    while 2 * below <= 0.05:
        k += 1
        below += math.comb(n, k) * 2.0**-n
    ordered = sorted(values)
    return (ordered[k - 1], ordered[n - k]) if k else (-math.inf, math.inf)


class Tree:
    """A tree of this repository, and a process that has imported its simopt."""

    def __init__(self, source: Path, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder / name
        packaged = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-dir"]
        package = self.folder / "simopt"  # what an installed copy would be, of links
        package.mkdir(parents=True)
        links = {part.name: part for part in (source / packaged.pop("simopt")).iterdir() if part.name != "__pycache__"}
        links |= {name.removeprefix("simopt."): source / part for name, part in packaged.items()}
        for name, part in links.items():
            (package / name).symlink_to(part)
        # -P and this order: the working folder, or the root of this repository, would put its own simopt first
        self.environment = {**os.environ, **THREADS, "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}"}
        self.python = [sys.executable, "-P", "-m"]
        self.process = subprocess.Popen(
            [*self.python, "benchmarks.against"], env=self.environment, cwd=self.folder, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip

    def ask(self, do: str, *values: Any) -> Any:
        """What the process answers.

        Raises
        ------
        Missing
            when it cannot do that.
        """
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([do, *values]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "its process has ended"}')
        if "error" in answer:
            raise Missing(answer["error"])
        return answer["value"]

    def command(self, line: str) -> str:
        """What `simopt LINE` prints, in a process of its own."""
        done = subprocess.run(
            [*self.python, "simopt", *line.split()],
            env=self.environment,
            cwd=self.folder,
            check=False,
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode:
            raise Missing(f"status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        return done.stdout

    def seconds(self, count: int, work: Sequence[Any]) -> float:
        """The time that so many runs take: commands as whole processes, all else in the one that waits."""
        if work[0] == "command":
            return spent(lambda: [self.command(work[1]) for _ in range(count)])
        return float(self.ask("time", count, *work))

    def end(self) -> None:
        """Stop its process."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def checked_out(commit: str, folder: Path) -> Iterator[Path]:
    """A work tree of the commit, while it is needed."""
    path, git = folder / "checked-out", ["git", "-C", str(ROOT), "worktree"]
    added = subprocess.run([*git, "add", "--quiet", "--detach", str(path), commit], check=False, capture_output=True, text=True)
    if added.returncode:
        raise SystemExit(f"--against {commit}: {added.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run([*git, "remove", "--force", str(path)], check=True)


@contextmanager
def both(other: Path, folder: Path) -> Iterator[tuple[Tree, Tree]]:
    """This tree and the other, with new processes."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        trees = Tree(ROOT, "this", place), Tree(other, "other", place)
        for tree in trees:
            stack.callback(tree.end)
        yield trees


def written(folder: Path, size: int, ranking: bool) -> Path:
    """Friedman's function with noise at points of the cube, as a file; or its values as grades of documents of queries."""
    path = folder / f"{'ranking' if ranking else 'numbers'}{size}.csv"
    rng = np.random.default_rng(size)
    x = rng.uniform(size=(size, 5))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4] + rng.normal(size=size)
    columns, names = [x, y], "a,b,c,d,e,target"
    if ranking:
        grades = np.floor(GRADES * np.argsort(np.argsort(y)) / size)
        columns, names = [np.arange(float(size)) // DOCUMENTS, x, grades], f"qid,{names}"
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=names, comments="")
    return path


class Race:
    """Times rows in both trees, and keeps them."""

    def __init__(self, other: Path, folder: Path, quick: bool) -> None:
        self.other, self.folder, self.quick = other, folder, quick
        self.rows: dict[str, Timings] = {}
        self.rng = random.Random(0)

    def run(self, names: Sequence[str], only: set[str] | None = None) -> None:
        """All rows of these problems (none named: of all, and of start-up), or of them only those of these labels."""
        with both(self.other, self.folder) as trees:
            listed = [{row["name"]: row for row in json.loads(tree.command("list problems --json"))} for tree in trees]
            known = [*dict.fromkeys([*listed[0], *listed[1]])]
            unknown = [name for name in names if name not in (*known, "start-up")]
            if unknown:
                raise SystemExit(f"no rows called {', '.join(unknown)}; there are start-up, {', '.join(known)}")
            for name in names or (*known, "start-up"):
                if name == "start-up":
                    for line in START_UP[:1] if self.quick else START_UP:
                        self.time(f"start-up: {line}", trees, ["command", line], only)
                    continue
                for size in SIZES.get(name, (SMALL, MIDDLING))[: 1 if self.quick else 2]:
                    if only is None or any(label.startswith(f"{name} {size}:") for label in only):
                        self.problem(name, size, trees, [row.get(name, {}) for row in listed], only)

    def problem(self, name: str, size: int, trees: tuple[Tree, Tree], listed: Sequence[dict[str, Any]], only: set[str] | None) -> None:
        """The rows of one problem of one size."""
        ranking = name in RANKING
        path = written(self.folder, size, ranking)
        options = {"queries": str(size // DOCUMENTS)} if ranking else {"samples": str(size)}
        values: dict[str, float] = {}
        for tree in trees:
            try:
                values = tree.ask("build", name, str(path), options) | values
            except Missing as reason:
                self.keep(Timings(f"{name} {size}", missing=f"not in {tree.name}: {reason}"))
                return
        solvers = [*dict.fromkeys([*listed[0].get("solvers", ()), *listed[1].get("solvers", ())])] or ["clarabel"]
        works: list[list[Any]] = [["solve", solver] for solver in solvers]
        works += [["certify", "float"], ["certify", "interval"], ["replace"]]
        works += [["path", field, [factor * value for factor in FACTORS]] for field, value in values.items()]
        for work in works[:2] if self.quick else works:
            self.time(f"{name} {size}: {' '.join(work[:2])}", trees, work, only)

    def time(self, label: str, trees: tuple[Tree, Tree], work: list[Any], only: set[str] | None) -> None:
        """One row."""
        if only is not None and label not in only:
            return
        first = []
        for tree in trees:
            try:
                tree.seconds(1, work)  # compiles and imports
                first.append(tree.seconds(1, work))
            except Missing as reason:
                self.keep(Timings(label, missing=f"not in {tree.name}: {reason}"))
                return
        count = max(1, min(MOST, int(BATCH / max(1e-5, *first))))
        times: tuple[list[float], list[float]] = ([], [])
        start = time.perf_counter()
        pairs = FEWEST if self.quick else PAIRS
        while len(times[0]) < FEWEST or (len(times[0]) < pairs and time.perf_counter() - start < BUDGET):
            for which in self.rng.sample((0, 1), 2):
                times[which].append(1e3 * trees[which].seconds(count, work) / count)
        ratios = tuple(ours / theirs for ours, theirs in zip(*times, strict=True))
        self.keep(Timings(label, statistics.median(times[0]), statistics.median(times[1]), ratios))

    def keep(self, row: Timings) -> None:
        """Shows it and keeps it, in the place of what was measured the first time."""
        self.rows[row.label] = row
        print(row, flush=True)

    def table(self) -> Iterator[str]:
        """What is done so far, the worst ratio first; what is in one tree only at the end."""
        timed = sorted((row for row in self.rows.values() if not row.missing), key=lambda row: -statistics.median(row.ratios))
        yield f"\n{'row':<58} {'this ms':>10} {'other ms':>10} {'ratio (95 %)':>18} pairs"
        yield from map(str, timed)
        yield from (str(row) for row in self.rows.values() if row.missing)
        if timed:
            median = statistics.median(statistics.median(row.ratios) for row in timed)
            slower = sum(row.slower for row in timed)
            yield f"{len(timed)} rows, median ratio {median:.3f}; {slower} slower, {len(self.rows) - len(timed)} in one tree only or none"


def main(commit: str, names: Sequence[str], quick: bool) -> int:
    """The exit status: 1 if a row is slower, 130 if interrupted."""
    status = 0
    with tempfile.TemporaryDirectory() as made, checked_out(commit, Path(made)) as other:
        race = Race(other, Path(made), quick)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        print(f"this tree against {commit}\n{machine()}", flush=True)
        try:
            race.run(names)
            slower = {label: row for label, row in race.rows.items() if row.slower}
            if slower:
                print(f"\n{len(slower)} rows again, in new processes:", flush=True)
                race.run([*dict.fromkeys(label.split()[0].removesuffix(":") for label in slower)], set(slower))
        except KeyboardInterrupt:
            status = 130
        print(*race.table(), sep="\n", flush=True)
        return status or int(any(row.slower for row in race.rows.values()))


class TreeProcess:
    """What the process of a tree does when it is asked to."""

    problem: Any
    point: Any
    multipliers: Any

    def build(self, name: str, data: str, options: dict[str, str]) -> dict[str, float]:
        """Make the problem as `simopt solve` does, and solve it; the numbers of its fields along which there are paths."""
        import simopt
        from simopt.cli.solve import build

        self.problem = build(name, data, None, options)
        solution = simopt.solve(self.fresh())
        self.point, self.multipliers = solution.point, solution.multipliers
        values = {field: getattr(self.problem, field, None) for field in self.problem.parameters}
        return {field: float(value) for field, value in values.items() if isinstance(value, (int, float)) and math.isfinite(value)}

    def fresh(self) -> Any:
        """The problem with arrays of its own, so that nothing is remembered of them."""
        fields = {item.name: getattr(self.problem, item.name) for item in dataclasses.fields(self.problem) if item.init}
        return dataclasses.replace(self.problem, **{name: x.copy() for name, x in fields.items() if isinstance(x, np.ndarray)})

    def time(self, count: int, work: str, *how: Any) -> float:
        """The seconds of so many runs."""
        import simopt
        from simopt.arithmetic import FLOAT, INTERVAL

        do: dict[str, Callable[[Any], Any]] = {
            "solve": lambda problem: simopt.solve(problem, *how),
            "certify": lambda problem: simopt.certify(
                problem, self.point, self.multipliers, {"float": FLOAT, "interval": INTERVAL}[how[0]]
            ),
            "replace": dataclasses.replace,
            "path": lambda problem: list(simopt.path(problem, *how)),
        }
        problems = [self.fresh() for _ in range(count)]
        return spent(lambda: [do[work](problem) for problem in problems])


def serve() -> None:
    """Answer what is asked on standard input, a line each; what simopt prints does not mix with the answers."""
    answers, lines = TreeProcess(), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        do, *values = json.loads(line)
        try:
            answer = {"value": getattr(answers, do)(*values)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=lines, flush=True)


if __name__ == "__main__":
    serve()
