"""Programmes of their own, and waiting for what must come to pass."""

import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # what the attacks share lies beside them: `damage`, `entry_points`, `strange`
import counted

Environment = dict[str, str]
OF_THE_TREE = ("test_attacks", "test_entry_points", "test_security_page")
PATIENCE = 300.0  # seconds on a machine that has other things to do; what fails to come fails by this, what comes does not wait for it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Attacks take long; whether each has a class, and each entry point a valid call, `make test` asks all the same."""
    for item in items:
        if Path(__file__).parent in item.path.parents and (item.path.stem not in OF_THE_TREE or item.get_closest_marker("parametrize")):
            item.add_marker(pytest.mark.thorough)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Beside each result stands how many attacks the test has made: one, if it does not say."""
    counted.taken()
    try:
        return (yield)
    finally:
        item.user_properties.append(("cases", counted.taken() or 1))


def until(holds: Callable[[], object]) -> bool:
    """Whether something comes to hold in time."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def marked(mark: str) -> list[int]:
    """Processes with a word in their environment: those that were started for a test, wherever they belong by now."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:  # ended, or somebody else's
            continue
    return [process for process in found if process != os.getpid()]


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    """A word for the environment of what a test starts; nothing of it is left behind."""
    word = f"SIMOPT_TEST={tmp_path}"
    yield word
    for process in marked(word):
        os.kill(process, 9)


@pytest.fixture
def environment(tmp_path: Path, mark: str) -> Environment:
    """Of a programme that imports what lies in the folder of the test."""
    name, _, value = mark.partition("=")
    return {**os.environ, name: value, "PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "250"}


def command(*arguments: object) -> list[str]:
    """`simopt`, as it is installed: the working folder is no place to import from."""
    return [sys.executable, "-P", "-m", "simopt", *map(str, arguments)]
