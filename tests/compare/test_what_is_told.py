"""What the terminal tells of a comparison: gaps that stay open, runs that are left out, a busy machine, tables that go on."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cvxpy as cp
import pytest
from made_records import record
from typer.testing import Result

from simopt.cli.console import console, fitted
from simopt.compare import child, plan, processes, system, table
from simopt.compare.comparison import measure
from simopt.compare.endings import in_words

Run = Callable[..., Result]
OWN = "import cvxpy as cp\nx = cp.Variable()\np = cp.Problem(cp.Minimize(x), [x >= 1])\n"


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of cells that were run: they answer at once that they are optimal."""
    labels: list[str] = []

    def perform(task: child.ChildTask, comparison: str) -> child.ChildAnswer:
        labels.append(task.cell.label)
        answer = child.ChildAnswer("optimal", points=list(record("a", 1.0).points))
        return child.described(answer, task)

    monkeypatch.setattr(processes, "perform", perform)
    return labels


def test_an_open_gap_has_its_size_and_open_stands_once() -> None:
    message = "highs says 'kOptimal', the certificate is open"
    assert in_words("gap open", message, 3.21e-5) == "gap open at 3.2e-05: highs says 'kOptimal'"
    run = replace(record("highs", None), status="gap open", message=message, relative_gap=3.21e-5)
    assert table.blocks([run])[0][1][0][-1] == "GAP OPEN at 3.2e-05: highs says 'kOptimal'"
    assert in_words("time limit", "over 5 s", float("nan")) == "time limit: over 5 s"


def test_a_table_in_parts_says_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rows = [[f"solver-number-{i}", "1.0"] for i in range(6)]
    titles = [made.title for made in fitted(["solver", "s" * 41], rows, title="p", out=console())]
    assert titles[0] == "p" and set(titles[1:]) == {"p (continued)"} and len(titles) > 1
    assert {made.title for made in fitted(["solver", "s" * 41], rows, out=console())} == {None}


def test_what_the_budget_leaves_out_is_told(run: Run, tmp_path: Path, answered: list[str]) -> None:
    (tmp_path / "own.py").write_text(OWN)
    what = ("own.py:p", "--solvers", "clarabel,scs", "--repetitions", 3, "--report", "out")
    told = run("compare", *what, "--budget", 1e-9)
    assert len(answered) == 2 and "2 runs, complete but for 4 repetitions that --budget had no seconds for. out:" in told.stdout
    assert json.loads((tmp_path / "out" / "comparison.json").read_text())["left_out_by_budget"] == 4
    whole = run("compare", *what)
    assert len(answered) == 6 and "6 runs, complete. out:" in whole.stdout and "not repeated" not in whole.stderr


def test_a_total_that_shrinks_says_why(run: Run, tmp_path: Path, answered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.setattr("simopt.compare.work.PlanRun.over", lambda self, cell: cell.solver == "scs" and cell.repetition == 1)
    told = run("compare", "own.py:p", "--solvers", "clarabel,scs", "--repetitions", 2, "--budget", 7, "--report", "out")
    assert "(1 not repeated: over --budget 7 s)" in told.stderr.splitlines()[-1], told.stderr
    assert "but for 1 repetition that --budget had no seconds for" in told.stdout


def test_a_problem_that_is_named_twice_is_run_once(run: Run, tmp_path: Path, answered: list[str]) -> None:
    (tmp_path / "own.py").write_text(OWN)
    told = run("compare", "own.py:p", "own.py:p", "--solvers", "clarabel", "--repetitions", 1, "--report", "out")
    assert len(answered) == 1 and "1 run, complete." in told.stdout and "[1/1]" in told.stderr, told.output
    x = cp.Variable()
    two = plan.make_all({name: cp.Problem(cp.Minimize(x), [x >= 1]) for name in "ab"}, ["clarabel"], repetitions=1)
    assert two.size == 2, "two names are two instances"


@pytest.mark.parametrize(("load", "busy"), [(4.1, True), (2.0, False), (None, False)])
def test_a_busy_machine_is_told_once(
    load: float | None, busy: bool, answered: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(system, "load", lambda: load)
    monkeypatch.setattr(system, "cores", lambda: 2)
    with caplog.at_level(logging.WARNING, logger="simopt.compare.work"):
        measure("kernel-ridge", ["cholesky"], sizes=[20], repetitions=2, jobs=1)
    line = "simopt.compare: the machine is busy (load 4.1 on 2 cores): seconds are those of others, too"
    assert [each.getMessage() for each in caplog.records] == [line] * busy and len(answered) == 2


def test_the_page_has_the_load() -> None:
    pytest.importorskip("jinja2", reason="the page needs jinja2")
    from simopt.compare import page

    made = [
        replace(record("a", 1.0, size=n), system=json.dumps({"load": load, "cores_allowed": 2}))
        for n, load in ((1, 0.5), (2, 4.25), (3, 1.0))
    ]
    found = dict(page.about(made))
    assert found["load"] == "0.5 to 4.2, median 1.0 on 2 cores: where it is above them, seconds are those of others, too"
    assert dict(page.about(made[:1]))["load"] == "0.5 to 0.5, median 0.5" and "load" not in dict(page.about([record("a", 1.0)]))
