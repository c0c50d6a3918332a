"""What every test needs: where the data are, a catalogue of its own.

At the end: which back ends really ran, and what check_estimator made of each estimator.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simopt import conformance, registry
from simopt.backends.table import FIRST_CLASS
from simopt.claims import Claim

CHECKS = "estimators/test_checks.py::test_scikit_learn_checks["
executed: Counter[str] = Counter()


def pytest_configure(config: pytest.Config) -> None:
    """Use the data folder beside the clone, if there is one and nobody chose another."""
    data = Path(__file__).resolve().parents[2] / "shared" / "data"
    if data.is_dir():
        os.environ.setdefault("SIMOPT_DATA", str(data))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a back end that is not installed: it is marked so, or one of its parameters is the name."""
    absent = {backend.name: backend.missing for backend in FIRST_CLASS if backend.missing}
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
    """Back ends that never ran, but for one that is not installed because it has no wheels for this Python."""
    return [b.name for b in FIRST_CLASS if not executed[b.name] and (b.has_wheels or not b.missing)]


def _is_full_run(config: pytest.Config) -> bool:
    chosen = config.option.keyword or config.option.markexpr
    return not chosen and config.args_source is not pytest.Config.ArgsSource.ARGS


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Replace the catalogue by the given claims for one test."""

    def put(*claims: Claim) -> None:
        monkeypatch.setattr(registry, "load", lambda *groups: None)
        monkeypatch.setitem(registry._entries, "claim", {claim.id: claim for claim in claims})

    return put
