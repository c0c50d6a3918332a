"""What the benchmark `price` says of cases that end, are refused, fail or never end, and that an interrupt loses nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

import cvxpy as cp
import numpy as np
import pytest

import simopt

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.price import __main__ as bench

    return bench


def box(n: int = 3) -> cp.Problem:
    x = cp.Variable(n)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - np.arange(n))), [x <= 1])


def nowhere() -> cp.Problem:
    x = cp.Variable()
    return cp.Problem(cp.Minimize(x), [x >= 1, x <= 0])


def endless() -> None:
    while True:
        sum(range(1000))


def test_a_case_is_measured_in_either_arithmetic(bench: ModuleType) -> None:
    found = bench.measured(bench.TimedProblem("box", box), 30.0)
    assert (found.variables, found.rows, found.status) == (3, 3, "")
    for mode in ("float", "rigorous"):
        assert found.certificates[mode].closed == 1e-8 and found.ratio(mode) == found.certificates[mode].seconds / found.solver > 0
    assert bench.Measurement.of(found.stored) == found
    words = bench.line(found).split()
    assert words[:3] == ["box", "3", "3"] and words[-2:] == ["1e-08", "1e-08"]


def test_a_failed_solve_is_listed_and_not_counted(bench: ModuleType) -> None:
    failed = bench.measured(bench.TimedProblem("nowhere", nowhere), 30.0)
    assert failed.certificates == {} and failed.status == "infeasible"
    assert bench.line(failed).endswith("not counted: infeasible")
    assert bench.costs([failed], "float") == ([], []) and "closed 0 of 0 at 1e-8" in bench.counts([failed])


def test_a_problem_that_cannot_be_read_is_refused(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def certify(problem: cp.Problem, rigorous: bool) -> None:
        raise LookupError("no such thing")

    monkeypatch.setattr("simopt.certify", certify)
    found = bench.measured(bench.TimedProblem("box", box), 30.0)
    assert found.certificates["float"].failed and bench.costs([found], "float") == ([], [])
    assert "refused refused" in bench.line(found) and bench.line(found).endswith("LookupError: no such thing")
    assert "closed 0 of 1 at 1e-8, 0 at 1e-6, 1 refused" in bench.counts([found])


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be copied")
def test_a_certificate_without_end_is_stopped(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def certify(problem: cp.Problem, rigorous: bool) -> object:
        return endless()

    monkeypatch.setattr("simopt.certify", certify)
    monkeypatch.setattr("benchmarks.price.measure.MODES", {"float": False})
    box().solve(solver="CLARABEL")  # its imports are no part of what the limit has to leave room for
    found = bench.measured(bench.TimedProblem("box", box), 3.0)
    assert found.certificates["float"].over and found.certificates["float"].seconds == 3.0
    assert found.ratio("float") == 3.0 / found.solver and "> " in bench.line(found) and "over 3 s" in bench.line(found)
    assert bench.costs([found], "float") == ([found.ratio("float")],) * 2


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be copied")
def test_the_limit_is_of_the_processor(bench: ModuleType) -> None:
    """Waiting costs none of it; and a process that ends otherwise says with which status."""
    from benchmarks.pairs import Ended, within

    def waits() -> str:
        time.sleep(1.5)
        return "waited"

    assert within(0.2, waits, processor=True) == "waited"
    assert within(0.2, waits) is None
    assert within(0.2, endless, processor=True) is None
    with pytest.raises(Ended, match="status 7") as ended:
        within(5.0, partial(__import__("os")._exit, 7), processor=True)
    assert ended.value.status == 7


def test_a_lower_bound_is_told_as_one(bench: ModuleType) -> None:
    """The tenth and ninth of ten: an endless case above them changes neither, one below may raise them."""
    assert bench.quantile(range(1, 11), 0.9) == 9 and bench.quantile(range(1, 11), 0.5) == 5
    assert bench.against_target(4.0, [7.0], 5.0) == "4 (target 5: met)" and bench.against_target(6.0, [7.0], 5.0) == "6 (target 5: MISSED)"
    assert (
        bench.against_target(4.0, [2.0], 5.0) == "at least 4" and bench.against_target(6.0, [2.0], 5.0) == "at least 6 (target 5: MISSED)"
    )
    assert bench.against_target(4.0, [], None) == "4"


def test_what_is_not_promised_is_not_missed(bench: ModuleType) -> None:
    judged = {"float": bench.TimedCertificate(1.0, 1e-9, 1e-8), "rigorous": bench.TimedCertificate(2.0, 1e-7, 1e-6, "wide")}
    one = bench.Measurement("a", "", True, 1, 1, 1.0, "", judged)
    outcomes = [one, replace(one, name="b", promised=False)]
    assert bench.counts(outcomes) == (
        "float: closed 1 of 1 at 1e-8, 1 at 1e-6, 0 refused, 0 endless, left open 0 (target 0: met); "
        "rigorous: closed 0 of 1 at 1e-8, 1 at 1e-6, 0 refused, 0 endless, left open 1 (target 0: MISSED)"
    )
    assert "left open 1 (target 1: met)" in bench.counts(
        [one] * 20 + [replace(one, certificates={"float": replace(judged["float"], closed=1e-6)})], 0.95
    )


def contradicting() -> cp.Problem:
    """Both rows hold at x = 3 but for rounding."""
    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [0.1 * x[0] == 0.3, x[0] == 3])


def hollow() -> cp.Problem:
    """CVXPY takes the form for convex: its eigenvalue -1e-6 is within its tolerance."""
    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(cp.quad_form(x, np.diag([1e3, -1e-6]), assume_PSD=True) - x[1]), [cp.abs(x) <= 1e3])


def test_what_cannot_close_is_counted_apart(bench: ModuleType) -> None:
    def outcome(make: Callable[[], cp.Problem]) -> object:
        problem = make()
        problem.solve(solver=cp.CLARABEL)
        found = simopt.certify(problem, rigorous=True)
        closed = min((tol for tol in bench.TOLERANCES if found.closes(tol)), default=float("inf"))
        judged = {"rigorous": bench.TimedCertificate(1.0, found.relative_gap, closed, found.open)}
        return bench.Measurement(make.__name__, "", True, 1, 1, 1.0, "", judged)

    closes, without_point, not_convex = map(outcome, (box, contradicting, hollow))
    told = bench.counts([closes, without_point, not_convex])
    assert "rigorous: closed 1 of 3 at 1e-8, 1 at 1e-6" in told and "left open of the others 0 (target 0: met)" in told
    assert "1 proven to have no exactly feasible point" in told and "1 not proven to be convex" in told
    missed = replace(closes, certificates={"rigorous": replace(closes.certificates["rigorous"], closed=1e-6, open="wide")})
    assert "left open of the others 1 (target 0: MISSED)" in bench.counts([missed, without_point])


def test_an_interrupt_costs_one_case(bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases, ran = [bench.TimedProblem(name, box) for name in ("a", "b/c", "d")], []

    def measured(case: object, limit: float) -> object:
        ran.append(case.name)  # type: ignore[attr-defined]
        if ran == ["a", "b/c"]:
            raise KeyboardInterrupt
        return bench.Measurement(case.name, "", True, status=f"{limit:g}")  # type: ignore[attr-defined]

    monkeypatch.setattr(bench, "measured", measured)
    with pytest.raises(KeyboardInterrupt):
        [*bench.outcomes("models", cases, 5.0, tmp_path)]
    assert [each.name for each in bench.outcomes("models", cases, 5.0, tmp_path)] == ["a", "b/c", "d"]
    assert ran == ["a", "b/c", "b/c", "d"]
    assert [each.status for each in bench.outcomes("models", cases, 7.0, tmp_path)] == ["7"] * 3  # another limit is another measurement
    bench.forget(tmp_path)
    assert len([*bench.outcomes("models", cases, 5.0, tmp_path)]) == 3 and len(ran) == 10


def test_what_it_prints_is_sections_of_the_page(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with its summary as the last line; without a folder of files their sections are left out, and it is said why."""
    import datetime

    from benchmarks import page

    monkeypatch.delenv("SIMOPT_INSTANCES", raising=False)
    judged = {mode: bench.TimedCertificate(2.0, 1e-9, 1e-8) for mode in bench.MODES}
    monkeypatch.setattr(
        bench, "measured", lambda case, limit: bench.Measurement(case.name, case.family, case.promised, 1, 1, 1.0, "", judged)
    )
    monkeypatch.setattr(bench, "warm", lambda: None)
    monkeypatch.setattr(sys, "argv", ["price", "--sections=models,rows,lp,qp"])
    bench.main()
    said = capsys.readouterr()
    found = page.printed(said.out, datetime.date(2030, 1, 2))
    assert [title.partition(":")[0] for title in found] == ["price of a certificate"] * 2
    for body in found.values():
        assert body.startswith("2030-01-02; ") and ": MISSED)" in body.splitlines()[-1] and ": met)" in body.splitlines()[-1]
    assert said.err.count("left out. SIMOPT_INSTANCES is not set; set SIMOPT_INSTANCES to a folder with") == 2
