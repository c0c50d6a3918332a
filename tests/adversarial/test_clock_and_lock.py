"""A comparison whose clock is set back, and two in one folder."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simopt.compare import folder as files
from simopt.compare import plan as plans
from simopt.compare import work
from simopt.compare.child import ChildAnswer
from simopt.compare.comparison import measure
from simopt.compare.record import Record, from_answer
from simopt.core.errors import Interrupted

pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")
pytest.importorskip("pandas", reason="tables of a comparison need pandas")

FAILED, SOLVED = "failed", "optimal"
POINT = {"seconds": 0.1, "setup": 0.0, "solve": 0.1, "iteration": 1, "tolerance": float("nan"), "upper": 1.0, "lower": 1.0, "gap": 0.0}
CLOCKS = ["2030-01-01T00:00:00.000+00:00", "2020-01-01T00:00:00.000+00:00", "2010-01-01T00:00:00.000+00:00"]


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Runs that end as they are told to, when they are told to."""
    told: dict[str, Any] = {"status": FAILED, "clock": CLOCKS[0]}

    def perform(task: Any, comparison: str = "") -> tuple[Any, ChildAnswer, float, str]:
        points = [{**POINT, "relative_gap": 0.0}] if told["status"] == SOLVED else []
        answer = ChildAnswer(told["status"], message=told["status"], versions={"simopt": work.simopt.__version__}, points=points)
        answer.system = {"machine": "this one"}
        return task.cell, answer, 0.1, told["clock"]

    monkeypatch.setattr(work, "perform", perform)
    return told


def run(folder: Path, **options: Any) -> list[Record]:
    return measure("kernel-ridge", ["cholesky"], sizes=[20], repetitions=1, folder=folder, **options).records


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("first", CLOCKS)
def test_what_is_run_again_is_what_counts_whatever_the_clock_says(first: str, clock: str, tmp_path: Path, pretend: dict[str, Any]) -> None:
    pretend["clock"] = first
    assert [r.status for r in run(tmp_path)] == [FAILED]
    pretend.update(clock=clock, status=SOLVED)
    assert [r.status for r in run(tmp_path, retry=True)] == [SOLVED]
    assert [r.status for r in run(tmp_path)] == [SOLVED], "and when they are read again"
    assert len(list(tmp_path.glob("runs/*.json"))) == 1


def test_again_and_again(tmp_path: Path, pretend: dict[str, Any]) -> None:
    for clock in CLOCKS:
        pretend["clock"] = clock
        assert [(r.status, r.started) for r in run(tmp_path, retry=True)] == [(FAILED, clock)]


def test_an_older_version_s_run_is_replaced_too(tmp_path: Path, pretend: dict[str, Any]) -> None:
    (old,) = run(tmp_path)
    files.save(tmp_path, replace(old, versions='{"simopt": "0.0.1"}'), 0)
    pretend.update(clock=CLOCKS[2], status=SOLVED)
    assert [r.status for r in run(tmp_path)] == [SOLVED]


SECOND = """
import sys
from simopt.compare import folder as files
try:
    with files.alone(files.prepare(sys.argv[1])):
        print("held")
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks")
@pytest.mark.parametrize("folder_state", ["nothing", "runs", "tables only", "tables and an empty folder"])
def test_a_second_comparison_does_not_get_in(folder_state: str, tmp_path: Path, pretend: dict[str, Any]) -> None:
    place = tmp_path / "r"
    if folder_state != "nothing":
        run(place)
    if folder_state.startswith("tables"):
        for path in place.glob("runs/*.json"):
            path.unlink()
        if folder_state == "tables only":
            (place / "runs").rmdir()
    said: list[str] = []

    def second(done: int, left: int, record: Record) -> None:
        said.append(subprocess.run([sys.executable, "-c", SECOND, str(place)], capture_output=True, text=True, check=True).stdout)
        raise KeyboardInterrupt

    pretend.update(status=FAILED)
    with pytest.raises(Interrupted):
        run(place, retry=True, progress=second)
    assert len(said) == 1 and said[0].startswith("another comparison is under way there")
    assert subprocess.run([sys.executable, "-c", SECOND, str(place)], capture_output=True, text=True, check=True).stdout == "held\n"


def test_two_threads_do_not_share_a_folder(tmp_path: Path) -> None:
    place = files.prepare(tmp_path / "r")
    with files.alone(place), pytest.raises(OSError, match="another comparison is under way"), files.alone(place):
        pass


def test_the_pretence_is_of_the_form_of_a_run(pretend: dict[str, Any]) -> None:
    (task,) = plans.make(plans.Design("kernel-ridge", ["cholesky"], sizes=[20], repetitions=1)).wave(0)
    cell, answer, seconds, started = work.perform(task, "")
    assert from_answer(cell, answer, wall_seconds=seconds, jobs=1, started=started).status == FAILED
