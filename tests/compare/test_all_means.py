"""Points of a back end are judged with all that `certify` knows, off the clock."""

import cvxpy as cp
import numpy as np
import pytest

from simopt.backends.table import find
from simopt.compare import traces
from simopt.compare.traces import Point, RunOutcome
from simopt.duality.declared import Declared
from simopt.model.status import Status


def linear(sense: int = 1) -> cp.Problem:
    """Eight rows in six nonnegative variables, as a maximum or a minimum."""
    rng = np.random.default_rng(0)
    x, A, c = cp.Variable(6, nonneg=True, name="x"), rng.uniform(size=(8, 6)), rng.uniform(size=6)
    return cp.Problem(cp.Maximize(c @ x) if sense > 0 else cp.Minimize(-c @ x), [A @ x <= 1])


def measured(problem: cp.Problem) -> RunOutcome:
    backend = find("glpk_mi")
    if backend is None:
        pytest.skip("GLPK_MI, which gives no multipliers, needs cvxopt")
    return traces.measure(Declared.of(problem), backend, tol=1e-8, time_limit=10.0, options={})


@pytest.mark.parametrize("sense", [1, -1])
def test_a_point_without_multipliers_closes_with_the_bound_of_certify(sense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = linear(sense)
    found = measured(problem)
    optimum = problem.solve(solver="CLARABEL") * -sense
    assert found.status is Status.OPTIMAL and found.best is not None and found.best.relative_gap <= 1e-8
    assert found.best.lower - 1e-9 <= optimum <= found.best.upper + 1e-7
    assert found.certificate > 0.0 and found.solve == found.best.solve
    monkeypatch.setattr(traces, "_by_all_means", lambda problem, outcome, tol: outcome)
    alone = measured(problem)
    assert alone.status is Status.GAP_OPEN and alone.best is not None and alone.best.relative_gap > 1e-3


def test_bounds_above_the_objective_of_a_point_are_not_believed() -> None:
    point = Point(0.0, 1.0, 3, 1e-8, upper=1.0, lower=0.5, gap=0.5, relative_gap=0.5)
    assert traces._above(point, 1.0 - 1e-9).relative_gap == pytest.approx(1e-9)
    assert traces._above(point, 1.0 + 1e-6) == point == traces._above(point, 0.4)
    assert traces._above(point, 1.0 + 1e-16).gap == 0.0
