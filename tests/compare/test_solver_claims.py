"""What back ends claim by themselves, held against certified bounds: honest ones are not accused, and a liar is."""

import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.backends.table import CLARABEL, BackEnd, installed
from simopt.compare import solver_claims
from simopt.compare.record import from_row
from simopt.compare.solver_claims import FALSE, NOT_PROVEN, TRUE, examine
from simopt.core import registry
from simopt.duality.declared import Declared
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

for kind in (Shifted, Pessimist, Optimist):
    name = kind.__name__
    add_back_end(BackEnd(name=name.lower(), cvxpy_name=name.upper(), package="clarabel", cones=ALL, make=kind))
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


def test_bounds_in_floats_alone_contradict_nothing(liars: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Declared, "arithmetics", ("float",))
    (shifted,) = [entry for key, entry in registry.items("backend") if key == "shifted"]
    assert claim(projection(), shifted).verdict == NOT_PROVEN


def test_a_claim_within_ten_times_the_tolerance_is_not_false(liars: None, monkeypatch: pytest.MonkeyPatch) -> None:
    (shifted,) = [entry for key, entry in registry.items("backend") if key == "shifted"]
    assert claim(projection(), shifted).verdict == FALSE
    monkeypatch.setitem(solver_claims.DOCUMENTED, "shifted", 1e-4)
    off = abs(claim(projection(), shifted).value - 0.25)
    monkeypatch.setitem(solver_claims.DOCUMENTED, "shifted", off / 5)
    assert claim(projection(), shifted).verdict == TRUE


def test_records_of_earlier_versions_have_no_claims() -> None:
    made = simopt.compare_solvers(projection(), ["clarabel"], repetitions=1, tol=1e-6).records[0]
    row = {name: value for name, value in made.row().items() if not name.startswith("claim")}
    old = from_row(row, made.points, "here")
    assert old.claim_verdict == "" and replace(made, claimed="", claim_verdict="").cell == old.cell
