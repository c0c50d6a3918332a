"""A command answers for what it names: the folder may hold runs of older versions of a problem, and to other tolerances."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_records import record
from typer.testing import Result

import simopt
from simopt.compare import comparison, plan
from simopt.compare import folder as files

Run = Callable[..., Result]
OWN = """
import cvxpy as cp

def simplex():
    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(x[0] + {} * x[1]), [cp.sum(x) == 1, x >= 0])
"""


def measured(folder: Path, seconds: float, solvers: tuple[str, ...] = ("clarabel",), **design: Any) -> None:
    """Runs of own.py as it is now, which a command finds done."""
    files.prepare(folder)
    versions = json.dumps({"simopt": simopt.__version__})
    for task in plan.make_all(["own.py:simplex"], solvers, repetitions=1, **design).wave(0):
        made = record(task.cell.solver, seconds, size=None)
        files.save(folder, replace(made, cell=task.cell, versions=versions), 0)


@pytest.fixture(autouse=True)
def byte_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python writes it, as it does for users: an edit within a second that keeps the size has to be seen all the same."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)


def two_versions(folder: Path) -> None:
    """A run of own.py, and one of it after an edit."""
    for number in (2, 3):
        (folder.parent / "own.py").write_text(OWN.format(number))
        measured(folder, 1.0)


def test_older_versions_of_a_problem_and_other_tolerances_have_no_part_in_the_answer(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the page needs jinja2")
    place = tmp_path / "out"
    two_versions(place)
    measured(place, 1.0, tol=1e-4)
    what = ("own.py:simplex", "--solvers", "clarabel", "--repetitions", 1, "--report", "out")
    result = run("compare", *what)
    assert result.exit_code == 0, result.output
    first, second, *_ = result.stdout.splitlines()
    assert first == "clarabel alone was run: it certified 1 of 1 instance"
    line = "Not in it: 2 more runs in the folder, on 2 instances that this command does not name. `simopt compare --report {}` shows all."
    assert second == line.format("out") and "1 run, complete." in result.stdout
    page = (place / "index.html").read_text(encoding="utf-8")
    assert page.count('class="claim entry"') == 1 and "2 more runs in the folder" in page
    assert line.format("DIR") in (place / "table.md").read_text(encoding="utf-8").replace("\\", "")
    assert json.loads((place / "comparison.json").read_text())["other_runs"] == 2
    assert len(comparison.load(place).records) == 3

    everything = run("compare", "--report", "out")
    assert "it certified 3 of 3 instances" in everything.stdout and "Not in it" not in everything.stdout
    assert (place / "index.html").read_text(encoding="utf-8").count('class="claim entry"') == 3
    assert json.loads((place / "comparison.json").read_text())["planned"] == 3


def test_other_solvers_on_what_is_named_are_in_the_answer(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN.format(2))
    measured(tmp_path / "out", 1.0, ("clarabel", "scs"))
    result = run("compare", "own.py:simplex", "--solvers", "scs", "--repetitions", 1, "--report", "out")
    assert "Not in it" not in result.stdout and "2 runs, complete." in result.stdout, result.output


def test_tables_that_come_without_their_runs_have_those_of_earlier_commands(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")
    place = tmp_path / "out"
    two_versions(place)
    run("compare", "own.py:simplex", "--solvers", "clarabel", "--repetitions", 1, "--report", "out")
    for path in (place / "runs").iterdir():
        path.unlink()
    assert len(comparison.load(place).records) == 2
