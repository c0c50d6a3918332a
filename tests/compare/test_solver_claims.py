"""What back ends claim by themselves, held against certified bounds: honest ones are not accused, and a liar is."""

import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from typer.testing import Result

import simopt
from simopt.backends import adapter
from simopt.backends.own_residuals import OwnResiduals
from simopt.backends.table import CLARABEL, BackEnd, installed, usable
from simopt.compare import solver_claims
from simopt.compare.record import from_row
from simopt.compare.solver_claims import FALSE, NOT_PROVEN, TRUE, examine
from simopt.core import registry
from simopt.duality.declared import Declared
from simopt.model.status import Status
from simopt.problems.bounds import Ball
from simopt.problems.landmarked_svr import LandmarkedSVR

pytest.importorskip("pyarrow", reason="tables in Parquet need pyarrow")
pytest.importorskip("pandas", reason="tables of a comparison need pandas")

LIARS = """
from cvxpy.reductions.solution import failure_solution
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL
from simopt.backends.table import ALL, BackEnd, add_back_end

class Shifted(CLARABEL):
    "It solves another problem: its bounds on the variables are off by a tenth."
    def name(self):
        return "SHIFTED"
    def solve_via_data(self, data, *arguments, **options):
        return super().solve_via_data({**data, "b": data["b"] * 1.1}, *arguments, **options)

class Pessimist(CLARABEL):
    "It finds no problem feasible."
    def name(self):
        return "PESSIMIST"
    def invert(self, solution, inverse_data):
        return failure_solution("infeasible")

class Optimist(Pessimist):
    "It finds no problem bounded."
    def name(self):
        return "OPTIMIST"
    def invert(self, solution, inverse_data):
        return failure_solution("unbounded")

class Edge(CLARABEL):
    "Its right sides are off by half of its tolerance, and so are its costs in parts of the multipliers that they cause."
    def name(self):
        return "EDGE"
    def solve_via_data(self, data, *arguments, **options):
        return super().solve_via_data({**data, "b": data["b"] + 5e-9, "c": data["c"] * 0.995}, *arguments, **options)

for kind in (Shifted, Pessimist, Optimist, Edge):
    name = kind.__name__
    add_back_end(BackEnd(name=name.lower(), cvxpy_name=name.upper(), package="clarabel", cones=ALL, make=kind, documented=1e-8))
"""


@pytest.fixture
def liars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Plug-in back ends that claim what is not so."""
    (tmp_path / "liars.py").write_text(LIARS)
    monkeypatch.syspath_prepend(tmp_path)
    registry.load_plugins("backends")
    entries = {kind: dict(known) for kind, known in registry._entries.items()}
    import liars  # type: ignore[import-not-found]  # noqa: F401

    yield
    del sys.modules["liars"]
    for kind, known in entries.items():
        registry._entries[kind].clear()
        registry._entries[kind].update(known)


def projection(sense: int = 1) -> cp.Problem:
    """Least squares over a simplex, as a minimum or a maximum; the optimum is 0.25 up to the sign."""
    x = cp.Variable(4, name="x")
    objective = cp.sum_squares(x)
    return cp.Problem(cp.Minimize(objective) if sense > 0 else cp.Maximize(-objective), [cp.sum(x) == 1, x >= 0])


def claim(problem: Any, backend: BackEnd = CLARABEL, **options: Any) -> solver_claims.SolverClaim:
    found = examine(Declared.of(problem) if isinstance(problem, cp.Problem) else problem, backend, time_limit=10.0, options=options)
    assert found is not None
    return found


@pytest.mark.parametrize("backend", [b.name for b in installed()])
@pytest.mark.parametrize("sense", [1, -1])
def test_honest_back_ends_are_not_accused(backend: str, sense: int) -> None:
    (chosen,) = [b for b in installed() if b.name == backend]
    found = claim(projection(sense), chosen)
    assert (found.claimed, found.verdict) == ("optimal", TRUE)
    assert found.value == pytest.approx(0.25, abs=1e-4) and found.gap < 1e-3


def test_honest_claims_of_no_optimum() -> None:
    x = cp.Variable(2, name="x")
    infeasible = claim(cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) <= 1]))
    unbounded = claim(cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1]))
    assert (infeasible.claimed, infeasible.verdict) == ("infeasible", TRUE)
    assert (unbounded.claimed, unbounded.verdict) == ("unbounded", TRUE)
    assert math.isnan(infeasible.value)


def test_problems_of_the_catalogue() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 4))
    problem = LandmarkedSVR(features, features @ np.ones(4) + 0.3 * rng.normal(size=60), Ball(1.0), 0.1)
    for backend in installed():
        assert claim(problem, backend).verdict == TRUE


def test_who_stops_early_claims_nothing() -> None:
    assert examine(Declared.of(projection()), CLARABEL, time_limit=10.0, options={"max_iter": 1}) is None


def test_a_coarse_tolerance_is_no_lie() -> None:
    found = claim(projection(), tol_gap_abs=1e-2, tol_gap_rel=1e-2, tol_feas=1e-2)
    assert found.tolerance == 1e-2 and found.verdict == TRUE


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["shifted", "pessimist", "optimist"])
def test_a_lying_back_end_is_told_in_the_table_and_kept(name: str, liars: None, tmp_path: Path) -> None:
    made = simopt.compare_solvers({"projection": projection()}, ["clarabel", name], repetitions=1, tol=1e-6, folder=tmp_path / "r")
    honest, liar = made.records
    assert honest.claim_verdict == TRUE and liar.claim_verdict == FALSE, liar
    assert liar.claimed == {"shifted": "optimal", "pessimist": "infeasible", "optimist": "unbounded"}[name]
    (line,) = [line for line in made.text().splitlines() if line.startswith(f"| {name}")]
    assert "| FALSE |" in line
    kept = simopt.compare.load(tmp_path / "r").records
    assert [r.claim_verdict for r in kept] == [TRUE, FALSE]
    (shown,) = [row for row in json.loads((tmp_path / "r" / "comparison.json").read_text())["summary"] if row["solver"] == name]
    assert shown["claim_verdict"] == FALSE
    files = [json.loads(path.read_text()) for path in (tmp_path / "r" / "runs").glob("*.json")]
    (run,) = [run for run in files if run["solver"] == name]
    assert run["claim_reason"] == liar.claim_reason != "" and run["claim_bound"] == pytest.approx(0.25)
    assert run["claim_point"] == liar.claim_point and bool(liar.claim_point) == (name != "optimist")


def test_bounds_in_floats_alone_contradict_nothing(liars: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Declared, "arithmetics", ("float",))
    (shifted,) = [entry for key, entry in registry.items("backend") if key == "shifted"]
    assert claim(projection(), shifted).verdict == NOT_PROVEN


@pytest.mark.thorough
def test_each_verdict_stands_in_the_output_and_the_json_of_the_command(
    liars: None, run: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("""
import cvxpy as cp
x = cp.Variable(2, name="x")
SMALL = cp.Problem(cp.Minimize(cp.sum(x)), [1e-6 * x >= 1e-6])
""")
    command = ("compare", "own.py:SMALL", "--solvers", "clarabel,edge,pessimist", "--repetitions", "1", "--tol", "1e-4", "--report", "r")
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    words = {line.split()[0]: line for line in result.stdout.splitlines() if line.split()[:1] in (["clarabel"], ["edge"], ["pessimist"])}
    assert "true" in words["clarabel"] and "not proven" in words["edge"] and FALSE in words["pessimist"]
    shown = {row["solver"]: row["claim_verdict"] for row in json.loads(run(*command, "--json").stdout)["summary"]}
    assert shown == {"clarabel": TRUE, "edge": NOT_PROVEN, "pessimist": FALSE}


def plug_in(name: str) -> BackEnd:
    (found,) = [entry for key, entry in registry.items("backend") if key == name]
    return found


def test_a_claim_within_ten_times_the_tolerance_is_not_false(liars: None) -> None:
    shifted = plug_in("shifted")
    found = claim(projection(), shifted)
    assert found.verdict == FALSE and claim(projection(), replace(shifted, documented=1e-4)).verdict == FALSE
    assert claim(projection(), replace(shifted, documented=abs(found.value - 0.25) / 5)).verdict == TRUE
    assert claim(projection(), replace(shifted, documented=found.residual / 5)).verdict != FALSE


def small_rows(scale: float = 1e-6) -> cp.Problem:
    """min x₁ + x₂ for x ≥ 1, written so that a residual of 5e-9 moves the optimum by 5e-9 / scale."""
    x = cp.Variable(2, name="x")
    return cp.Problem(cp.Minimize(cp.sum(x)), [scale * x >= scale])


def test_an_honest_back_end_at_the_edge_of_its_tolerance_is_not_convicted(liars: None) -> None:
    """Its value is off by half a percent, since the problem is ill-conditioned: its own residuals are what it has promised."""
    found = claim(small_rows(), plug_in("edge"))
    assert abs(found.value - 2.0) > 1e-3 and 0.0 < found.residual <= 1e-8
    assert found.verdict == NOT_PROVEN and "within ten times its tolerance" in found.reason
    beyond = claim(small_rows(), replace(plug_in("edge"), documented=found.residual / 20))
    assert beyond.verdict == FALSE and beyond.bound == pytest.approx(2.0) and "the optimum is at least 2" in beyond.reason


def test_what_shows_that_a_claim_is_false_is_in_it(liars: None) -> None:
    too_high, infeasible, unbounded = (claim(projection(), plug_in(name)) for name in ("shifted", "pessimist", "optimist"))
    for found in (too_high, infeasible):
        x = np.array(json.loads(found.point)["x"])
        assert found.bound == pytest.approx(0.25) and x @ x <= found.bound + 1e-9 and abs(x.sum() - 1) < 1e-12 and x.min() >= 0
    assert unbounded.bound <= 0.25 and unbounded.bound == pytest.approx(0.25) and unbounded.point == ""


@pytest.mark.parametrize("width", [1e-7, 1e-4])
def test_infeasible_is_false_only_of_what_stays_feasible(width: float, liars: None) -> None:
    """1 ≤ x ≤ 1 + w has no point where a change of 1e-6 moves the ends past each other."""
    x = cp.Variable(2, name="x")
    found = claim(cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x <= 1 + width]), plug_in("pessimist"))
    assert found.verdict == (FALSE if width > 1e-5 else NOT_PROVEN)
    assert ("for all data within 1e-06" if width > 1e-5 else "may make the problem infeasible") in found.reason


def test_infeasible_of_equations_alone_is_false(liars: None) -> None:
    x = cp.Variable(2, name="x")
    found = claim(cp.Problem(cp.Minimize(cp.sum_squares(x)), [x[0] + 2 * x[1] == 1]), plug_in("pessimist"))
    assert found.verdict == FALSE


def test_unbounded_is_false_only_of_what_stays_bounded(liars: None) -> None:
    """min x₁ − x₂ for x₁ ≥ x₂ falls without end where one of the four ones changes."""
    x = cp.Variable(2, name="x")
    held = [x[0] - x[1] >= 0]
    found = claim(cp.Problem(cp.Minimize(x[0] - x[1]), held), plug_in("optimist"))
    assert found.verdict == NOT_PROVEN and "makes the problem unbounded" in found.reason
    assert claim(cp.Problem(cp.Minimize(x[0] - x[1]), [*held, cp.abs(x) <= 1]), plug_in("optimist")).verdict == FALSE


class Reported:
    """CLARABEL with other words for what it has found."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, status: Status, text: str) -> None:
        plain = adapter.run

        def reported(*arguments: Any, **options: Any) -> adapter.NativeResult:
            return replace(plain(*arguments, **options), status=status, status_text=text)

        monkeypatch.setattr(adapter, "run", reported)


def boundless(lower: float = -math.inf) -> cp.Problem:
    x = cp.Variable(2, name="x")
    return cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1, *([] if lower == -math.inf else [x >= lower])])


def test_infeasible_or_unbounded_is_false_only_where_both_words_are(monkeypatch: pytest.MonkeyPatch) -> None:
    open_below, bounded = Declared.of(boundless()), Declared.of(boundless(-1.0))
    with monkeypatch.context() as patched:
        Reported(patched, Status.INFEASIBLE, "kUnboundedOrInfeasible")
        result = adapter.run(bounded.for_back_ends(), CLARABEL, tol=None, max_iter=None, time_limit=10.0, options={})
    assert solver_claims._verdict(bounded, result, math.nan, 1e-8, 10.0).verdict == FALSE
    assert solver_claims._verdict(open_below, result, math.nan, 1e-8, 10.0).verdict == TRUE
    plainly = replace(result, status_text="kInfeasible")
    assert solver_claims._verdict(open_below, plainly, math.nan, 1e-8, 10.0).verdict == FALSE


@pytest.mark.parametrize("text", ["AlmostPrimalInfeasible", "primal infeasible inaccurate", "infeasible_inaccurate"])
def test_who_says_that_he_is_inaccurate_claims_nothing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Reported(monkeypatch, Status.INFEASIBLE, text)
    assert examine(Declared.of(projection()), CLARABEL, time_limit=10.0, options={}) is None


@pytest.mark.parametrize(("rows", "message"), [("none", "falls without end"), ("crossed", "no point is feasible")])
def test_an_optimum_of_a_problem_that_has_none_is_false(rows: str, message: str) -> None:
    """Its own residuals show it: no point has multipliers, or satisfies all rows."""
    x = cp.Variable(2, name="x")
    problem = boundless() if rows == "none" else cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) <= 1])
    declared = Declared.of(problem)
    own = OwnResiduals(primal=0.1, dual=0.1, gap=0.1)
    answer = adapter.NativeResult({"x": np.zeros(2)}, {}, Status.OPTIMAL, "solved", 1, 0.0, 0.0, (), own)
    found = solver_claims._verdict(declared, answer, 1.0, 1e-7, 10.0)
    assert found.verdict == FALSE and message in found.reason
    within = replace(answer, residuals=OwnResiduals(1e-8, 1e-8, 1e-8))
    assert solver_claims._verdict(declared, within, 1.0, 1e-7, 10.0).verdict == NOT_PROVEN


def test_an_optimum_whose_point_has_no_value_by_rounding_is_not_convicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """CVXPY's value of Σ x log x is ∞ where some x is −1e-12, which no solver has said."""
    x, plain = cp.Variable(3, name="x"), adapter.run
    problem = cp.Problem(cp.Minimize(-cp.sum(cp.entr(x)) + np.array([0.0, 0.0, 60.0]) @ x), [cp.sum(x) == 1])

    def negative(programme: cp.Problem, *arguments: Any, **options: Any) -> adapter.NativeResult:
        found = plain(programme, *arguments, **options)
        for variable in programme.variables():
            variable.save_value(np.where(np.abs(variable.value) < 1e-6, -1e-12, variable.value))
        return replace(found, residuals=OwnResiduals(1e-3, 1e-3, 1e-3))

    monkeypatch.setattr(adapter, "run", negative)
    found = examine(Declared.of(problem), CLARABEL, time_limit=10.0, options={})
    assert found is not None and found.value == math.inf
    assert found.verdict == NOT_PROVEN and "outside of the domain" in found.reason


def test_infeasible_of_an_unbounded_problem_is_false(liars: None) -> None:
    x = cp.Variable(2, name="x")
    found = claim(cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1]), plug_in("pessimist"))
    assert found.verdict == FALSE and "falls without end" in found.reason


@pytest.mark.thorough
def test_records_of_earlier_versions_have_no_claims() -> None:
    made = simopt.compare_solvers(projection(), ["clarabel"], repetitions=1, tol=1e-6).records[0]
    row = {name: value for name, value in made.row().items() if not name.startswith("claim")}
    old = from_row(row, made.points, "here")
    assert old.claim_verdict == "" and replace(made, claimed="", claim_verdict="").cell == old.cell


def test_who_calls_another_programme_infeasible_is_not_convicted() -> None:
    """HiGHS is given bounds of expressions, which CVXPY computes with ∞ · 0; its own words are right of what it was given."""
    highs = next((each for each in usable() if each.name == "highs"), None)
    if highs is None:
        pytest.skip("highs is not installed")
    rng = np.random.default_rng(0)
    X, W, b = rng.normal(size=(40, 3)), cp.Variable((3, 3), name="W"), cp.Variable((1, 3), name="b")
    lines = X @ W + np.ones((40, 1)) @ b
    r, level = np.tile(X.sum(axis=1)[:, None], 3) - lines, np.tile([0.1, 0.5, 0.9], (40, 1))
    loss = cp.sum(cp.maximum(cp.multiply(level, r), cp.multiply(level - 1, r)))
    problem = cp.Problem(cp.Minimize(loss), [lines[:, 0] <= lines[:, 1], lines[:, 1] <= lines[:, 2]])
    claim = examine(Declared.of(problem), highs, time_limit=10.0, options={})
    assert claim is not None and claim.verdict in (TRUE, NOT_PROVEN)
    if claim.claimed == "infeasible":  # not by every CVXPY
        assert "no point was found within" in claim.reason
