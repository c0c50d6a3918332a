"""One process serves many runs: what that must not change is isolation, and what a number means."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt.compare import memory, plan, processes
from simopt.compare.child import ChildTask
from simopt.compare.comparison import measure
from simopt.processes import worker

pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")
pytest.importorskip("pandas", reason="tables of a comparison need pandas")
pytestmark = pytest.mark.skipif(not memory.can_be_set_back(), reason="a process serves one run where the mark of memory cannot be set back")

SOLVERS = """
import os, threading, time
import numpy as np
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

@solver("of-two-minds", solves=KernelRidge)
def of_two_minds(problem, *, tol, crash=0, leave=""):
    "It ends its process at one size, and leaves something behind at any."
    if len(problem.targets) == crash:
        os._exit(7)
    if leave == "thread":
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    if leave == "folder":
        os.chdir("/")
    if leave == "threads of BLAS":
        os.environ["OMP_NUM_THREADS"] = "64"
    yield Iterate({"alpha": np.zeros(len(problem.targets))})
"""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[worker.Worker]]:
    """The processes that comparisons start."""
    made: list[worker.Worker] = []

    def start(*arguments: Any, **options: Any) -> worker.Worker:
        made.append(worker.Worker(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(processes, "Worker", start)
    yield made
    assert not any(each.alive for each in made) and not processes._idle and not processes._running


@pytest.fixture
def two_minds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A plug-in solver that ends its process when it is told to."""
    from simopt.core import registry

    (tmp_path / "two_minds.py").write_text(SOLVERS)
    monkeypatch.syspath_prepend(tmp_path)
    registry.load("problems", "solvers")
    entries = {kind: dict(known) for kind, known in registry._entries.items()}
    import two_minds  # type: ignore[import-not-found]  # noqa: F401

    yield
    del sys.modules["two_minds"]
    for kind, known in entries.items():
        registry._entries[kind].clear()
        registry._entries[kind].update(known)


def test_one_process_serves_the_runs_of_a_comparison(started: list[worker.Worker]) -> None:
    made = measure("kernel-ridge", ["cholesky", "clarabel"], sizes=[20, 30], repetitions=2, tol=1e-6)
    assert [r.success for r in made.records] == [True] * 8 and all(r.warm and r.threads_seen == 1 for r in made.records)
    assert [each.calls for each in started] == [8]


def test_a_process_is_replaced_after_so_many_cells_and_when_it_has_grown(
    started: list[worker.Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "CELLS", 2)
    measure("kernel-ridge", ["cholesky"], sizes=[20], repetitions=5)
    assert [each.calls for each in started] == [2, 2, 1]
    monkeypatch.setattr(processes, "GROWN", -1.0)
    measure("kernel-ridge", ["cholesky"], sizes=[20], repetitions=2)
    assert [each.calls for each in started[3:]] == [1, 1]


def test_a_crash_in_the_third_run_of_a_process_loses_one_cell(started: list[worker.Worker], two_minds: None) -> None:
    made = measure("kernel-ridge", [("of-two-minds", {"crash": 22}), "cholesky"], sizes=[20, 22, 24], repetitions=1)
    assert [r.status == "failed" for r in made.records] == [False, False, True, False, False, False]
    assert "ended with status 7" in made.records[2].message
    # the cell is tried once more in a new process: the old one might have died of an earlier cell
    assert [each.calls for each in started] == [3, 1, 3]


@pytest.mark.parametrize("leave", ["thread", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("folder", "threads of BLAS"))])
def test_a_process_in_which_a_run_has_left_something_serves_no_other(leave: str, started: list[worker.Worker], two_minds: None) -> None:
    measure("kernel-ridge", [("of-two-minds", {"leave": leave}), "cholesky"], sizes=[20, 22], repetitions=1)
    assert [each.calls for each in started] == [1, 2, 1]


def megabytes(tasks: list[ChildTask], comparison: str) -> list[float]:
    with processes.keeping(comparison):
        return [processes.perform(task, comparison).megabytes for task in tasks]


@pytest.mark.parametrize("solver", ["clarabel", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("scs", "ecos"))])
def test_memory_of_a_run_does_not_depend_on_the_runs_before(solver: str, started: list[worker.Worker]) -> None:
    made = plan.make(plan.Design("landmarked-svr", [solver], sizes=[100, 2000], settings={"landmarks": 60}, tol=1e-3))
    small, large = made.wave(0)
    alone = megabytes([small], "a") + megabytes([large], "b")
    assert [each.calls for each in started] == [1, 1]
    together = megabytes([small, large, small, large], "c")
    assert [each.calls for each in started[2:]] == [4], "one process"
    assert alone[1] > 4 * alone[0] + 4, "or the test shows nothing"
    assert np.allclose(together, [*alone, *alone], rtol=0.15, atol=2.0), (alone, together)
