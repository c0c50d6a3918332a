"""One mutant and its tests, in a process of its own that starts with numpy, scipy, cvxpy, numba and pytest in memory.

The file on the disk is never changed: the child compiles the mutated text in its place when the module is imported. What a test starts
in yet another process sees the module as it is, which can let a mutant live, and cannot kill one.
"""

from __future__ import annotations

import importlib
import json
import linecache
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Collection, Sequence
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from itertools import permutations
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from concerned import ROOT, Tests, dotted

UNTOUCHED = {  # what the mutants of a group build on: imported once before the first of them, so groups are tried in this order
    "certificate": (),
    "arithmetic": (),
    "duality": (
        "simopt.solving.driver",
        "simopt.backends.table",
        "simopt.data.datasets",
    ),  # without simopt.conformance, which reads declarations
    "claims": ("simopt.conformance", "simopt.data.datasets", "simopt.backends.table"),
    "equivalence": ("simopt.claims",),
    "problems": (),
    "solvers": ("simopt.conformance", "simopt.data.landmarks", "simopt.data.similarities"),
    "estimators": ("sklearn.base", "sklearn.model_selection", "sklearn.utils.estimator_checks"),
}
HEAVY = ("numpy", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.stats", "scipy.special", "cvxpy", "numba", "hypothesis", "flint")
QUIET = "ignore::pytest.PytestAssertRewriteWarning"  # of plug-ins that are in memory already
MEMORY = 8 * 2**30  # bytes of address space; the whole suite stays below half of it
PER_TEST = 120  # seconds for one test: on an idle machine none takes twenty
PER_MUTANT = 900  # seconds for all


def warm() -> None:
    """Import what every child needs and no mutant touches."""
    for name in HEAVY:
        importlib.import_module(name)
    for plugin in entry_points(group="pytest11"):
        plugin.load()


def warm_for(group: str) -> None:
    """Import what the mutants of a group, and of those behind it, build on and do not touch."""
    for name in UNTOUCHED[group]:
        importlib.import_module(name)


class Chosen:
    """The plug-in of a child: keeps the tests that concern the module, and notes the first that fails and what each took."""

    def __init__(self, tests: Sequence[Tests], only: Collection[str] = ()) -> None:
        self.only = only
        self.names = {str(ROOT / each.path): each.names for each in tests}
        self.first = ""
        self.why = ""
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Drop those that are parametrised by other names."""
        kept = [item for item in items if self.concerns(item)]
        dropped = [item for item in items if not self.concerns(item)]
        items[:] = kept
        config.hook.pytest_deselected(items=dropped)

    def concerns(self, item: pytest.Item) -> bool:
        """Whether a test is of one of the names, or its file is taken whole."""
        if self.only:
            return item.nodeid in self.only
        names = self.names.get(str(item.path)) or frozenset()
        parameters = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        told = {value if isinstance(value, str) else str(getattr(value, "name", "")) for value in parameters}
        return not names or bool(names & (told | {"-".join(pair) for pair in permutations(told, 2)}))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of tests that cannot even be read."""
        if report.failed:
            self.note(report.nodeid, report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One test."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.note(report.nodeid, report)

    def note(self, test: str, report: Any) -> None:
        """Keep the first failure."""
        self.failed.append(test)
        if not self.first:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.first, self.why = test, str(crash.message if crash else report.longrepr)[:300]


def mutated(path: str, source: str) -> list[str]:
    """From now on importing the file at `path` compiles `source`; the list will hold the names under which it was imported."""
    target, plain = str(ROOT / path), SourceFileLoader.get_code
    if dotted(path) in sys.modules:
        raise RuntimeError(f"{path} is imported already: its mutants would not be")
    met: list[str] = []

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        if os.path.realpath(loader.path) != target:
            return plain(loader, name)
        met.append(name)
        return compile(source, target, "exec", dont_inherit=True)

    _not_cached(target)
    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    linecache.cache[target] = (len(source), None, source.splitlines(keepends=True), target)
    return met


def _not_cached(target: str) -> None:
    """Kernels that hold code of the file are compiled in memory.

    Their stamp is of the file on the disk: they would be found there as they are without the mutant, or be left there with it.
    """
    from simopt.core import kernel_cache

    kept, read = kernel_cache.cache_of, kernel_cache._source
    met: list[str] = []

    def source(path: str | None) -> bytes:
        if path and os.path.realpath(path) == target:
            met.append(path)
        return read(path)

    def cached_without(function: Callable[..., Any]) -> Any:
        met.clear()
        kernel_cache.stamp(function)
        return None if met else kept(function)

    kernel_cache._source, kernel_cache.cache_of = source, cached_without


def start(folder: Path, tests: Sequence[Tests], path: str = "", source: str = "", only: Collection[str] = (), within: int = 0) -> int:
    """Fork a child that runs the tests with the file at `path` reading `source`; its process id. It writes into `folder`.

    It stops at the first failure, or after the given seconds of the processor. Given tests by name it runs `only` those, all of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "result.json").unlink(missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    status = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if within:
            resource.setrlimit(resource.RLIMIT_CPU, (within, within + 1))
        log = os.open(folder / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.path[:] = [entry for entry in sys.path if entry != str(Path(__file__).parent)]
        os.chdir(ROOT)
        met = mutated(path, source) if path else [path]
        chosen = Chosen(tests, only)
        options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-W", QUIET, f"--timeout={PER_TEST}", f"--basetemp={folder / 'tmp'}"]
        code = pytest.ExitCode.NO_TESTS_COLLECTED
        for file in dict.fromkeys(each.path for each in tests):  # one after the other: the later ones are mostly not needed
            done = pytest.main([*options, *([] if only else ["-x"]), file], plugins=[chosen])
            if done != pytest.ExitCode.NO_TESTS_COLLECTED:
                code = pytest.ExitCode(done)
            if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and not only:
                break
        told = {
            "status": int(code),
            "met": bool(met),
            "first": chosen.first,
            "why": chosen.why,
            "failed": chosen.failed,
            "seconds": chosen.seconds,
        }
        (folder / "result.json").write_text(json.dumps(told), encoding="utf-8")
        status = int(code)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def verdict(folder: Path, status: int, timed_out: bool) -> dict[str, Any]:
    """What became of a mutant whose child ended with `status`, or was ended because it was late."""
    if timed_out:
        return {"outcome": "time", "by": "", "why": f"not done after {PER_MUTANT} s"}
    file = folder / "result.json"
    if not file.exists():
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return {"outcome": "later", "by": "", "why": ""}
        return {"outcome": "crash", "by": "", "why": f"the process ended with status {os.waitstatus_to_exitcode(status)}"}
    told = json.loads(file.read_text(encoding="utf-8"))
    if told["status"] == pytest.ExitCode.NO_TESTS_COLLECTED or not told["met"]:
        return {"outcome": "no tests", "by": "", "why": "no test concerns this module, or simopt is imported from elsewhere"}
    if told["status"] == pytest.ExitCode.OK:
        return {"outcome": "survived", "by": "", "why": ""}
    if told["status"] == pytest.ExitCode.TESTS_FAILED and told["first"]:
        outcome = "time" if told["why"].startswith("Failed: Timeout") else "test"
        return {"outcome": outcome, "by": told["first"], "why": told["why"]}
    return {"outcome": "import", "by": told["first"], "why": told["why"]}


def wait(running: dict[int, tuple[float, Path]]) -> tuple[int, dict[str, Any]]:
    """Wait for one of the children (process id → start, folder); its id and verdict. One that is late is ended with all that it started."""
    while True:
        for child, (began, folder) in running.items():
            timed_out = time.monotonic() - began > PER_MUTANT
            if timed_out:
                os.killpg(child, signal.SIGKILL)
            found, status = os.waitpid(child, 0 if timed_out else os.WNOHANG)
            if found:
                end_all(child)
                return child, verdict(folder, status, timed_out)
        time.sleep(0.02)


def end_all(child: int) -> None:
    """End what a child left behind."""
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        return
