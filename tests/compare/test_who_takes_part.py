"""Who takes part: a solver that cannot take a problem is not run on it, and copies stand aside; a proven "infeasible" is no failure."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import pytest
from made_records import record
from typer.testing import Result

from simopt.backends import table as backends
from simopt.compare import plan, statistics, table
from simopt.compare.answer import answer
from simopt.compare.cell import INTEGERS
from simopt.compare.instance_seconds import instance_seconds
from simopt.compare.record import Record
from simopt.compare.standings import standings
from simopt.compare.traces import RELAXED
from simopt.core.errors import InvalidProblem

Run = Callable[..., Result]


def cone() -> cp.Problem:
    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.norm(x - 3)), [x >= 0, cp.sum(x) == 1])


def linear(**kind: Any) -> cp.Problem:
    x = cp.Variable(2, **kind)
    return cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [x >= 0, cp.sum(x) == 1])


def taking_part(problem: cp.Problem, solvers: list[str] | None = None) -> tuple[set[str], dict[str, str]]:
    made = plan.make_all({"p": problem}, solvers)
    return {each.chosen.name for each in made.candidates}, {name: reason for _, name, reason in made.unsuitable}


def refused(solver: str, **cell: Any) -> Record:
    return replace(
        record(solver, None, **cell),
        status="unsupported",
        message=f"{solver} cannot take second-order cones",
        points=(),
        certificate_seconds=4e-6,
        megabytes=0.0,
        relative_gap=float("nan"),
    )


def proven(run: Record, claimed: str = "infeasible") -> Record:
    return replace(run, status=claimed, message="x says so", claimed=claimed, claim_verdict="true", points=())


def test_a_solver_that_is_named_is_not_run_on_what_it_cannot_take() -> None:
    pytest.importorskip("highspy", reason="needs highs")
    made = plan.make_all({"cone": cone(), "linear": linear()}, ["highs", "clarabel"], repetitions=1)
    assert [(task.cell.problem, task.cell.solver) for task in made.wave(0)] == [
        ("cone", "clarabel"), ("linear", "highs"), ("linear", "clarabel"),
    ]  # fmt: skip
    assert made.unsuitable == [("cone", "highs", "it takes no second-order cones")]
    with pytest.raises(InvalidProblem, match=r"none of those that are named can take .*highs: it takes no second-order cones"):
        plan.make_all({"cone": cone()}, ["highs"])


def test_what_a_solver_cannot_take_is_named_where_there_are_other_problems() -> None:
    left_out = [("cone", "highs", "it takes no cones")]
    cone_, other = record("a", 1.0, problem="cone", size=None, data="own"), record("a", 1.0)
    assert table.unsuitable_lines(left_out, [cone_]) == ["highs: it takes no cones"]
    assert table.unsuitable_lines(left_out, [cone_, other]) == ["highs: it takes no cones   [cone]"]


def test_unsupported_is_no_failure_over_instances() -> None:
    made = [record("a", 1.0, size=1), record("b", 0.5, size=1), record("a", 1.0, size=2), refused("b", size=2)]
    assert [dict(each.seconds) for each in instance_seconds(made)] == [{"a": 1.0, "b": 0.5}, {"a": 1.0}]
    a, b = standings(made)
    assert (b.instances, b.certified, b.runs, b.failures, b.compared) == (1, 1, 1, 0, 1)
    assert b.means[0] == pytest.approx(0.5) and a.instances == 2
    assert statistics.success_rates(made) == {"a": (2, 2), "b": (1, 1)}
    row = table.blocks(made)[1][1][1]
    assert row[0] == "b" and row[-1] == "b cannot take second-order cones"
    assert set(row[1:-1]) <= {"–", "", "tolerance"}, "nothing was measured"
    (alone,) = standings([refused("b")])
    assert (alone.instances, alone.runs) == (0, 0) and not table.success_lines([refused("b")])


def test_copies_stand_aside_where_there_are_no_integers() -> None:
    names = {backend.name for backend in backends.usable()}
    there = {copy for copy, other in backends.COPIES.items() if {copy, other} <= names}
    if not there:
        pytest.skip("no copy is installed beside its original")
    playing, reasons = taking_part(linear())
    assert not there & playing and {backends.COPIES[copy] for copy in there} <= playing
    assert {copy: f"it is the code of {backends.COPIES[copy]} where there are no integers" for copy in there}.items() <= reasons.items()
    with_integers, _ = taking_part(linear(integer=True))
    assert there <= with_integers
    named, _ = taking_part(linear(), sorted(there))
    assert named == there, "who names a copy gets it"


@pytest.mark.parametrize("claimed", ["infeasible", "unbounded"])
def test_a_proven_end_without_optimum_is_no_failure(claimed: str) -> None:
    made = [proven(record("a", None, size=1), claimed), record("b", None, size=1), record("a", 1.0, size=2), record("b", 2.0, size=2)]
    (_, rows), _ = table.blocks(made)
    assert rows[0][1] == f"{claimed}, proven" and rows[0][-1] == "" and "never" not in rows[0]
    assert rows[1][1] == "0/1" and rows[1][-1].startswith("TIME LIMIT: ")
    assert statistics.success_rates(made) == {"a": (1, 1), "b": (1, 1)}
    assert all("1 of 1 runs certified" in line for line in table.success_lines(made))
    assert table.success_lines(made[:1]) == [] and table.over_instances([made[0], proven(record("a", None, size=3))]) == []
    assert answer(made)[0].endswith("; 1 more has no optimum")


def integer(solver: str, gap: float, name: str) -> Record:
    run = record(solver, None, size=None, problem=f"{name} {INTEGERS}", data="own")
    return replace(run, status="gap open", message=RELAXED, relative_gap=gap)


def test_an_integer_point_is_held_against_the_relaxation() -> None:
    one = [integer("a", 0.125, "p"), integer("b", 0.5, "p")]
    assert answer(one) == [
        "the one instance has integers and is held against its relaxation: between its best integer point and that bound is "
        "a relative gap of 0.12"
    ]
    assert table.blocks(one)[0][1][0][-1] == f"GAP OPEN at 1.2e-01: {RELAXED}"
    others = [record("a", 1.0, size=1), record("b", 2.0, size=1), record("a", None, size=2), record("b", None, size=2)]
    (told,) = answer([*one, *others])
    assert told == (
        "a fastest on 1 of 3 instances (1 with integers, held against the relaxation: relative gap 0.12, 1 solved by none, "
        "3 are too few to say more)"
    )
    (told,) = answer([*one, integer("a", 0.25, "q")])
    assert told == "no solver certified any of the 2 instances (2 with integers, held against the relaxation: relative gaps 0.12 to 0.25)"
    closed = replace(record("a", 1.0, size=None, problem=f"p {INTEGERS}", data="own"))
    assert answer([closed])[0].startswith("a alone was run: it certified 1 of 1")


def test_the_page_says_so_too() -> None:
    pytest.importorskip("jinja2", reason="the page needs jinja2")
    from simopt.compare import page

    made = [proven(record("a", None, size=1)), record("a", 1.0, size=2), refused("b", size=2), record("b", 1.0, size=3)]
    text = page.render(made, complete=True, planned=4, unsuitable=[])
    assert "infeasible, proven" in text and "cannot take it" in text and "b cannot take second-order cones" in text
    assert "4e-06" not in text and "INFEASIBLE" not in text


def test_a_proven_end_is_told_while_it_runs(run: Run, tmp_path: Any) -> None:
    (tmp_path / "own.py").write_text("import cvxpy as cp\nx = cp.Variable()\np = cp.Problem(cp.Minimize(x), [x >= 1, x <= 0])\n")
    result = run("compare", "own.py:p", "--solvers", "clarabel", "--repetitions", 1, "--report", "out")
    assert "(run 1): infeasible, proven" in result.stderr and "runs certified" not in result.stdout, result.output
