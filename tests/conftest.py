"""What every test needs: where the data are, and at the end a word on which back ends really ran."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from simopt import conformance

FIRST_CLASS = ("clarabel", "ecos", "scs")
executed: Counter[str] = Counter()


def pytest_configure(config: pytest.Config) -> None:
    """Use the data folder beside the clone, if there is one and nobody chose another."""
    data = Path(__file__).resolve().parents[2] / "shared" / "data"
    if data.is_dir():
        os.environ.setdefault("SIMOPT_DATA", str(data))


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
    """Say how many (problem, solver) pairs each solver really solved."""
    if not executed:
        return
    terminalreporter.section("conformance: solves by solver")
    terminalreporter.write_line(", ".join(f"{name} {count}" for name, count in sorted(executed.items())))
    for name in _missing():
        terminalreporter.write_line(f"{name} did not run", red=True)


def _missing() -> list[str]:
    return [name for name in FIRST_CLASS if not executed[name]]


def _is_full_run(config: pytest.Config) -> bool:
    chosen = config.option.keyword or config.option.markexpr
    return not chosen and config.args_source is not pytest.Config.ArgsSource.ARGS
