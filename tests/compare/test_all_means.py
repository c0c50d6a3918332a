"""Points of a back end are judged with all that `certify` knows, off the clock."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from made_records import point, record

from simopt.backends import adapter
from simopt.backends.table import BackEnd, find
from simopt.certificates.certificate import Certificate
from simopt.compare import traces
from simopt.compare.known_optimum import lower_bound_by_all_means, proved_rigorously, proved_without_search
from simopt.compare.traces import Point, RunOutcome
from simopt.duality.declared import Declared
from simopt.model.status import Status
from simopt.solving import entry_points


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
    monkeypatch.setattr(traces, "lower_bound_by_all_means", lambda problem, tol: -math.inf)
    alone = measured(problem)
    assert alone.status is Status.GAP_OPEN and alone.best is not None and alone.best.relative_gap > 1e-3


def test_what_is_proved_of_a_problem_is_proved_once_for_all_solvers_and_anew_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    proofs, certify = list[bool](), entry_points.certify

    def proved(problem: cp.Problem, rigorous: bool = False, **options: Any) -> Certificate:
        proofs.append(rigorous)
        return certify(problem, rigorous=rigorous, **options)

    monkeypatch.setattr(entry_points, "certify", proved)
    for factor in (1.0, 2.0, 1.0):
        problem = linear()
        problem = cp.Problem(cp.Minimize(-factor * problem.objective.expr), problem.constraints)
        expected = problem.solve(solver="CLARABEL")
        for tol in (1e-6, 1e-6, 1e-8):
            assert lower_bound_by_all_means(Declared.of(problem), tol) == pytest.approx(expected, rel=1e-6)
        known = [proved_rigorously(Declared.of(problem), 10.0) for _ in range(2)]
        assert known[0] is known[1] and known[0].lower <= expected + 1e-6 and known[0].upper >= expected - 1e-6
    assert proofs.count(False) == 6


def quadratic(sense: int = 1) -> cp.Problem:
    """The projection of a point onto the simplex."""
    x = cp.Variable(3, name="x")
    distance = cp.sum_squares(x - np.array([2.0, 0.5, -1.0]))
    return cp.Problem(cp.Maximize(-distance) if sense > 0 else cp.Minimize(distance), [cp.sum(x) == 1, x >= 0])


@pytest.mark.parametrize("sense", [1, -1])
@pytest.mark.parametrize("make", [linear, quadratic])
def test_an_optimum_is_proved_without_a_search(make: Callable[[int], cp.Problem], sense: int) -> None:
    problem = make(sense)
    expected = -sense * problem.solve(solver="CLARABEL")  # of the minimum
    known = proved_without_search(Declared.of(problem))
    assert known is not None and known.status is Status.OPTIMAL and known.point is not None
    assert known.lower <= known.upper <= known.lower + 1e-8 * abs(expected)
    assert known.lower == pytest.approx(expected, rel=1e-6)


def test_of_a_cone_programme_none_is() -> None:
    assert proved_without_search(Declared.of(cp.Problem(cp.Minimize(cp.norm(cp.Variable(2) - 1.0))))) is None


def test_bounds_above_the_objective_of_a_point_are_not_believed() -> None:
    near = Point(0.0, 1.0, 3, 1e-8, upper=1.0, lower=0.5, gap=0.5, relative_gap=0.5)
    assert traces._above(near, 1.0 - 1e-9).relative_gap == pytest.approx(1e-9)
    assert traces._above(near, 1.0 + 1e-6) == near == traces._above(near, 0.4)
    assert traces._above(near, 1.0 + 1e-16).gap == 0.0


def test_a_proof_that_no_point_is_feasible_closes_no_gap() -> None:
    far = Point(0.0, 1.0, 3, 1e-8, upper=math.inf, lower=7e14, gap=math.inf, relative_gap=math.inf)
    assert traces._above(far, math.inf) == far
    x = cp.Variable(2, name="x")
    infeasible = Declared.of(cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) <= 1]))
    for name in ("piqp", "osqp", "scs", "clarabel"):
        if (backend := find(name)) is not None and not backend.missing:
            ending = traces.measure(infeasible, backend, tol=1e-8, time_limit=10.0, options={"max_iter": 30})
            assert ending.status is not Status.OPTIMAL, name


class OnlyPoints:
    """A back end's answers without their multipliers, and the programmes that it was given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.programmes: list[cp.Problem] = []
        run = adapter.run

        def without_multipliers(programme: cp.Problem, backend: BackEnd, **options: Any) -> adapter.NativeResult:
            self.programmes.append(programme)
            return replace(run(programme, backend, **options), multipliers=None)

        monkeypatch.setattr(adapter, "run", without_multipliers)


def test_a_sweep_ends_with_the_first_point_that_closes_by_all_means(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the same point comes back from tolerance after tolerance, as HiGHS's does, and the fastest of equal runs counts by chance."""
    clarabel = find("clarabel")
    assert clarabel is not None
    OnlyPoints(monkeypatch)
    outcome = traces.measure(Declared.of(linear()), clarabel, tol=1e-6, time_limit=10.0, options={})
    assert outcome.status is Status.OPTIMAL and min(point.tolerance for point in outcome.points) == 1e-6
    closing = next(point for point in outcome.points if point.relative_gap <= 1e-6)
    assert (outcome.setup, outcome.solve) == (closing.setup, closing.solve)


def test_back_ends_are_timed_on_the_problem_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """simopt's graph form has a variable more for each function, and may be harder for a solver, or easier."""
    clarabel, x = find("clarabel"), cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + cp.norm1(x)), [cp.sum(x) == 1, x <= 5])
    assert clarabel is not None
    seen = OnlyPoints(monkeypatch)
    traces.measure(Declared.of(problem), clarabel, tol=1e-6, time_limit=10.0, options={})
    assert seen.programmes
    for programme in seen.programmes:
        assert programme.variables() == problem.variables() and len(programme.constraints) == 2


def test_seconds_to_a_gap_are_those_of_the_first_run_that_reaches_it() -> None:
    runs = (point(0.3, 1e-2), point(0.2, 1e-9), point(0.1, 1e-9))
    sweep = replace(record("highs", 0.2), points=runs)
    assert [sweep.time_to(gap) for gap in (1e-1, 1e-6, 1e-12)] == [0.3, 0.2, math.inf]
