"""What every test needs: what happens where data are missing, a catalogue of its own.

At the end: which data sets were missing, which back ends really ran, and what check_estimator made of each estimator.
"""

import gc
import os
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from simopt import conformance
from simopt.backends.table import FIRST_CLASS, OTHERS
from simopt.claims import Claim
from simopt.core import registry
from simopt.core.errors import MissingDataset
from simopt.data.datasets import describe, loader

MISSING = "missing data set"
CHECKS = "estimators/test_checks.py::test_scikit_learn_checks["
executed: Counter[str] = Counter()

# Properties are tried on the same instances everywhere, so that a failure is one of the code; `make full` draws others, and more of them.
# What it finds becomes an @example of its test.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("random", database=None, deadline=None, print_blob=True)
settings.load_profile("fixed")
MORE = 3  # examples of a random run for one of a fixed run


def pytest_configure(config: pytest.Config) -> None:
    """The suite downloads nothing: what is not here is not here, with a network or without. Tests of fetching serve their own answers."""
    for repository in ("SIMOPT_OPENML", "SIMOPT_UCI"):
        os.environ[repository] = "https://127.0.0.1:9"  # the port of `discard`: nobody answers
    if not hasattr(config, "workerinput"):  # what a shell starts in the background ignores Ctrl-C, and so would all that tests start
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Any:
    """Collect without looking for garbage: there is none among tens of thousands of tests, and later searches need not pass them again.

    These are rarer, too: problems of CVXPY are many small objects, and a search after each 700 of them was a tenth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)
        gc.enable()


def pytest_report_header() -> str:
    """On which kernels the numbers come about."""
    from threadpoolctl import threadpool_info

    kernels = sorted({library["architecture"] for library in threadpool_info() if library.get("architecture")})
    return f"BLAS kernels: {', '.join(kernels)}; compiled loops: {os.environ.get('NUMBA_CPU_NAME', 'this processor')}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Any:
    """Skip where a fixture misses data that may not be passed on."""
    return (yield from _skipped_without_data(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    """Skip where a test misses data that may not be passed on."""
    return (yield from _skipped_without_data(item))


def _skipped_without_data(item: pytest.Item) -> Generator[None, Any, Any]:
    """A data set that the repository carries is no reason to skip: without it the test fails."""
    try:
        return (yield)
    except MissingDataset as missing:
        if any(describe(name).carried for name in missing.names):
            raise
        item.user_properties += [(MISSING, name) for name in missing.names]  # the process that reports for the workers reads these
        pytest.skip(str(missing))


@pytest.hookimpl(trylast=True)  # after Hypothesis has marked its own
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what needs a back end that is not installed: it is marked so, or one of its parameters is the name. More of what is random."""
    if config.getoption("--hypothesis-profile") == "random":
        for test in {item.obj for item in items if isinstance(item, pytest.Function) and item.get_closest_marker("hypothesis")}:
            # A profile cannot do it: tests that say their own number of examples do not look at it.
            own = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = settings(own, max_examples=MORE * own.max_examples)
    absent = {backend.name: backend.missing for backend in (*FIRST_CLASS, *OTHERS) if backend.missing}
    for item in items:
        parameters = item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
        named = {mark.args[0] for mark in item.iter_markers("backend")} | {value for value in parameters if isinstance(value, str)}
        for name in named & absent.keys():
            item.add_marker(pytest.mark.skip(reason=absent[name]))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Collect what the workers of pytest-xdist ran."""
    executed.update(getattr(node, "workeroutput", {}).get("executed", {}))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A full run in which a first-class back end never ran is a failure, however green the rest is."""
    executed.update(conformance.executed)
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["executed"] = dict(conformance.executed)
        return
    if executed and exitstatus == pytest.ExitCode.OK and _is_full_run(session.config) and _missing():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many (problem, solver) pairs each solver really solved, and what scikit-learn's check_estimator made of the estimators."""
    _skips_by_data_set(terminalreporter)
    _checks_by_estimator(terminalreporter)
    if not executed:
        return
    terminalreporter.section("conformance: solves by solver")
    terminalreporter.write_line(", ".join(f"{name} {count}" for name, count in sorted(executed.items())))
    for name in _missing():
        terminalreporter.write_line(f"{name} did not run", red=True)
    for backend in FIRST_CLASS:
        if backend.missing:
            skipped = [report.nodeid for report in terminalreporter.stats.get("skipped", []) if backend.missing in str(report.longrepr)]
            pairs = {test.partition(f"-{backend.name}-")[0] for test in skipped if "::test_pair[" in test}
            terminalreporter.write_line(f"{backend.missing}: {len(pairs)} pairs skipped ({len(skipped)} tests)")


def _skips_by_data_set(terminalreporter: Any) -> None:
    """How many tests were skipped for want of which data set; a test may want several."""
    skipped = [[name for key, name in report.user_properties if key == MISSING] for report in terminalreporter.stats.get("skipped", [])]
    wanted = Counter(name for names in skipped for name in names)
    if wanted:
        terminalreporter.section("skipped for want of data that the repository may not carry")
        terminalreporter.write_line(", ".join(f"{name} {count}" for name, count in sorted(wanted.items())))
        terminalreporter.write_line(
            f"{sum(map(bool, skipped))} tests; `simopt datasets fetch NAME` shows the terms and downloads what it can"
        )


def _checks_by_estimator(terminalreporter: Any) -> None:
    """A line an estimator: checks passed, skipped and expected to fail, the last with their reasons. Here, and not beside those tests,
    since the process that reports for the workers of pytest-xdist loads this file only.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, list[str]] = defaultdict(list)
    for outcome in ("passed", "failed", "skipped", "xfailed", "xpassed"):
        for report in terminalreporter.stats.get(outcome, []):
            _, here, rest = report.nodeid.partition(CHECKS)
            if here:
                estimator, check = rest.removesuffix("]").rsplit("-check_", 1)
                counts[estimator][outcome] += 1
                if outcome == "xfailed":
                    reasons[estimator].append(f"check_{check}: {report.wasxfail.removeprefix('reason: ')}")
    if counts:
        terminalreporter.section("check_estimator, by estimator")
    for estimator in sorted(counts):
        terminalreporter.write_line(f"{estimator}: {', '.join(f'{number} {outcome}' for outcome, number in counts[estimator].items())}")
        for reason in sorted(reasons[estimator]):
            terminalreporter.write_line(f"    expected to fail: {reason}")


def _missing() -> list[str]:
    """Back ends that are installed and never ran."""
    return [backend.name for backend in FIRST_CLASS if not executed[backend.name] and not backend.missing]


def _is_full_run(config: pytest.Config) -> bool:
    chosen = config.option.keyword or config.option.markexpr not in ("", "not slow", "not slow and not thorough")
    return not chosen and config.args_source is not pytest.Config.ArgsSource.ARGS


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the catalogue by the given claims for one test; workers can import the tests that they are made of."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1])

    def put(*claims: Claim) -> None:
        monkeypatch.setattr(registry, "load", lambda *groups: None)
        monkeypatch.setitem(registry._entries, "claim", {claim.id: claim for claim in claims})

    return put


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No data set is here for one test, not even those that the repository carries."""
    monkeypatch.setenv("SIMOPT_DATA", str(tmp_path))
    monkeypatch.setenv("SIMOPT_CACHE", str(tmp_path))
    monkeypatch.setattr(loader, "source_tree", lambda: None)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`run("list", "problems")`: the command line in an empty folder, with a wide screen so that no cell is folded."""
    from typer.testing import CliRunner

    from simopt.cli.main import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])
