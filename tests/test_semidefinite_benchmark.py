"""The benchmark of semidefinite models: each is convex, of the same data each time, and is solved; refused ones are listed as that."""

from __future__ import annotations

import datetime
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
ORDER = 8


def loaded(name: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        return importlib.import_module(name)


MODELS = loaded("benchmarks.semidefinite.models").MODELS


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.semidefinite import __main__ as bench

    return bench


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_semidefinite_of_the_same_data_each_time_and_is_solved(bench: ModuleType, name: str) -> None:
    first, second = (bench.problem(MODELS[name], ORDER) for _ in range(2))
    data, others = (each.get_problem_data(cp.CLARABEL)[0] for each in (first, second))
    assert first.is_dcp() and data["dims"].psd
    assert all(np.array_equal(data[key], others[key]) for key in ("b", "c")) and (data["A"] != others["A"]).nnz == 0
    first.solve(solver=cp.CLARABEL)
    assert first.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)


def test_there_are_more_than_thirty_models_at_both_orders(bench: ModuleType) -> None:
    assert len(bench.small(False)) == len(MODELS) >= 30
    assert {each.solver for each in bench.small(False)} == {cp.CLARABEL}
    large = bench.large(False)
    assert {each.name for each in large} == set(MODELS) - bench.TOO_LARGE and bench.TOO_LARGE < set(MODELS) and len(large) >= 30
    assert all((each.solver, each.solver_options) == (cp.SCS, bench.PRECISION) for each in large)
    assert [each.name for each in bench.small(True)] == list(bench.QUICK) and not bench.large(True)


def test_the_solver_that_a_case_names_is_used(bench: ModuleType) -> None:
    """For the time of the solver, for the solve, and for what the certificate solves anew."""
    from benchmarks.price.measure import TimedProblem, measured

    def box() -> cp.Problem:
        x = cp.Variable(3)
        return cp.Problem(cp.Minimize(cp.sum_squares(x - np.arange(3))), [x <= 1])

    one = measured(TimedProblem("box", box, solver=cp.SCS, solver_options=bench.PRECISION), 30.0)
    assert one.solver > 0 and one.status == "" and one.certificates["rigorous"].closed <= 1e-6


def test_what_it_prints_is_sections_of_the_page(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A refused model counts as one that does not close, and a certificate that costs more than it should as missed."""
    from benchmarks import page

    def measured(case: Any, limit: float) -> Any:
        refused = {mode: bench.price.TimedCertificate(0.1, open="Unreadable: PSD", failed=True) for mode in bench.MODES}
        judged = {mode: bench.price.TimedCertificate(20.0, 1e-9, 1e-8) for mode in bench.MODES}
        return bench.Measurement(case.name, "", case.promised, 1, 1, 1.0, "", refused if case.name == "MAX-CUT" else judged)

    monkeypatch.setattr(bench.price, "measured", measured)
    monkeypatch.setattr(bench.price, "warm", lambda: None)
    monkeypatch.setattr(sys, "argv", ["semidefinite"])
    bench.main()
    small, large = page.printed(capsys.readouterr().out, datetime.date(2030, 1, 2)).items()
    promised = sum(model.promised for model in MODELS.values())
    assert small[0].endswith("n = 20") and f"closed {promised - 1} of {promised} at 1e-8" in small[1] and "1 refused" in small[1]
    assert large[0].endswith("n = 100, solved by SCS") and "Lovász θ" in large[1]
    assert "median 20 (target 10: MISSED), 0 at 10 × or less" in large[1]
