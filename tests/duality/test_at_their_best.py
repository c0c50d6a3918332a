"""`solve` is never worse than the back end's own solve, judged; `certify` solves anew where what it finds is poor; what fails is said."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse.linalg import ArpackNoConvergence

import simopt
from simopt.backends import adapter
from simopt.backends.table import CLARABEL, SCS
from simopt.compare.traces import measure
from simopt.core.errors import Interrupted
from simopt.duality import Declared, graph_form
from simopt.model.status import Status
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solving import linear_and_quadratic, search
from simopt.solving.solution import Sample

Make = Callable[[np.random.Generator], cp.Problem]


def scaled(rng: np.random.Generator) -> cp.Problem:
    """A quadratic programme with rows of sizes from 1e-5 to 1e5."""
    m, n = int(rng.integers(20, 40)), int(rng.integers(6, 14))
    x, size = cp.Variable(n), np.logspace(-5, 5, m)
    A, inside = rng.normal(size=(m, n)) * size[:, None], rng.normal(size=n)
    rows = [A @ x <= A @ inside + size * rng.random(m), x >= -100, x <= 100]
    return cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, np.diag(np.logspace(-6, 4, n))) + rng.normal(size=n) @ x), rows)


def underdetermined(rng: np.random.Generator) -> cp.Problem:
    """Least squares with more unknowns than equations: its optimum is 0."""
    m = int(rng.integers(2, 5))
    x = cp.Variable(m + int(rng.integers(1, 4)))
    return cp.Problem(cp.Minimize(cp.sum_squares(100.0 * rng.normal(size=(m, x.size)) @ x - 1)))


def cone(rng: np.random.Generator) -> cp.Problem:
    """A maximum over two cones, one of which is no inequality."""
    n = int(rng.integers(3, 7))
    x, F = cp.Variable(n), rng.normal(size=(n - 1, n))
    return cp.Problem(cp.Maximize(rng.normal(size=n) @ x), [cp.norm(F @ x - 1) <= 30.0, cp.SOC(cp.Constant(5.0), x)])


def linear(rng: np.random.Generator) -> cp.Problem:
    """A linear programme without bounds on its variables."""
    x, A = cp.Variable(5), rng.normal(size=(12, 5))
    return cp.Problem(cp.Minimize(rng.random(12) @ A @ x), [A @ x >= -rng.random(12)])


@pytest.mark.slow
@pytest.mark.parametrize("make", [scaled, underdetermined, cone, linear])
@pytest.mark.parametrize("name", ["CLARABEL", "SCS", pytest.param("ECOS", marks=pytest.mark.backend("ecos"))])
def test_solve_is_never_worse_than_the_back_ends_own_solve_judged(make: Make, name: str) -> None:
    """Where it does not close: an answer that closes has what was asked for."""
    for seed in range(2):
        problem, same = make(np.random.default_rng(seed)), make(np.random.default_rng(seed))
        same.solve(solver=name)
        theirs = simopt.certify(same, solver=None)
        ours = simopt.solve(problem, name.lower(), time_limit=4).certificate
        if ours.closes(1e-8):
            continue
        slack = 1e-9 * max(abs(v) for v in (theirs.lower, theirs.upper) if math.isfinite(v))
        assert ours.lower >= theirs.lower - slack and ours.upper <= theirs.upper + slack, (seed, str(ours), str(theirs))
        assert not theirs.closes(1e-8)


def open_in_units(monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Any], Any]) -> list[str]:
    """What a first solve returns is spoilt; the names of the variables of all solves."""
    run, calls = adapter.run, list[str]()

    def spoilt(*args: Any, **options: Any) -> Any:
        calls.append(str(options["tol"]))
        found = run(*args, **options)
        return spoil(found) if len(calls) == 1 else found

    monkeypatch.setattr(adapter, "run", spoilt)
    return calls


def half() -> cp.Problem:
    """min ‖x‖² over Σx ≥ 1, with a parameter."""
    x, least = cp.Variable(4, name="x"), cp.Parameter(value=1.0, name="least")
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) >= least])


@pytest.mark.parametrize("lost", ["point", "multipliers"])
def test_trace_seconds_and_iterations_are_of_all_solves(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(native: Any) -> Any:
        zero = {name: 0 * value + 7 * (lost == "point") for name, value in getattr(native, lost).items()}
        return adapter.NativeResult(**{**vars(native), lost: zero})

    monkeypatch.setattr("simopt.solving.run.ATTEMPTS", 1)
    calls, seen, problem = open_in_units(monkeypatch, spoil), list[Sample](), half()
    solution = simopt.solve(problem, "clarabel", progress=seen.append, tol=1e-7)
    assert solution.optimal and len(calls) == 2 and problem.status == "optimal"
    assert tuple(seen) == solution.trace.samples and len(seen) >= 2
    seconds, steps = [s.seconds for s in seen], [s.iteration for s in seen]
    assert seconds == sorted(seconds) and steps == sorted(steps)
    assert seconds[-1] == solution.provenance.solve_seconds and steps[-1] == solution.provenance.iterations
    assert not np.any(problem.variables()[0].value == 7) and problem.constraints[0].dual_value > 0.4


def test_all_solves_together_keep_to_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limits, run = list[float](), adapter.run

    def slow(*args: Any, **options: Any) -> Any:
        limits.append(options["time_limit"])
        found = run(*args, **options)
        return adapter.NativeResult(**{**vars(found), "multipliers": {}, "solve_seconds": 4.0})

    monkeypatch.setattr(adapter, "run", slow)
    monkeypatch.setattr(Declared, "multipliers", lambda *given: None)
    solution = simopt.solve(half(), "clarabel", time_limit=10.0)
    assert not solution.optimal and solution.provenance.solve_seconds < 10.0 + 4.0
    assert all(limit <= 10.0 - 4.0 * k for k, limit in enumerate(limits)) and len(limits) > 2


def test_a_parameter_changed_while_the_problem_as_written_is_solved_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(native: Any) -> Any:
        return adapter.NativeResult(**{**vars(native), "point": {name: 0 * value + 7 for name, value in native.point.items()}})

    for at in range(3):
        with monkeypatch.context() as patch:
            patch.setattr("simopt.solving.run.ATTEMPTS", 1)
            open_in_units(patch, spoil)
            problem, seen = half(), list[Sample]()

            def change(sample: Sample, seen: list[Sample] = seen, at: int = at, problem: cp.Problem = problem) -> None:
                seen.append(sample)
                if len(seen) == at + 1:
                    problem.parameters()[0].value = 2.0

            solution = simopt.solve(problem, "clarabel", progress=change)
            assert len(seen) <= at or (solution.status, solution.reported_status) == (Status.FAILED, "data changed")


def test_a_certificate_is_of_the_data_at_its_moment() -> None:
    problem = half()
    solution = simopt.solve(problem, "clarabel")
    before = solution.certificate
    problem.parameters()[0].value = 2.0
    there = simopt.certify(problem, solver=None)
    assert solution.certificate is before and before.upper == pytest.approx(0.25)
    assert there.upper >= 1.0 >= there.lower and not there.closes(1e-8)  # the optimum is 1 now, and the old values are judged
    anew = simopt.certify(problem)
    assert anew.closes(1e-8) and anew.lower == pytest.approx(1.0)


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(adapter, "run", stop)


def test_an_interrupt_of_a_solve_stays_one(interrupted: None) -> None:
    with pytest.raises(Interrupted):
        simopt.solve(half(), "clarabel")


def poor(kind: str, rng: np.random.Generator) -> cp.Problem:
    """A linear programme that was solved, and then spoilt."""
    problem = linear(rng)
    problem.solve(solver="CLARABEL")
    (x,), (row,) = problem.variables(), problem.constraints
    if kind != "values":
        row.dual_variables[0].save_value(np.full(12, 0.3))
    if kind != "duals":
        x.value = x.value + 5.0
    return problem


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("kind", ["values", "duals", "both"])
def test_what_stands_in_a_problem_is_replaced_where_it_leaves_the_gap_open(kind: str, rigorous: bool) -> None:
    problem = poor(kind, np.random.default_rng(1))
    (x,), (row,) = problem.variables(), problem.constraints
    values, duals = x.value.copy(), row.dual_value.copy()
    there = simopt.certify(problem, solver=None, rigorous=rigorous)
    found = simopt.certify(problem, rigorous=rigorous)
    assert not there.closes(1e-2) and found.closes(1e-8)
    assert there.lower <= found.lower and found.upper <= there.upper
    np.testing.assert_array_equal(x.value, values)
    np.testing.assert_array_equal(row.dual_value, duals)
    assert kind == "duals" or found.infeasibility > 0.1  # the point that is judged is not the one that stands there
    held = {leaf.name: x.value for leaf in Declared.of(problem).programme.leaves.values()}
    kept = simopt.certify(problem, held, rigorous=rigorous)
    assert kept.upper == there.upper and kept.lower >= there.lower  # who gives a point asks about it


def test_nothing_is_solved_where_the_certificate_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = scaled(np.random.default_rng(0))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    assert simopt.certify(problem, solver=None, tol=1e-6).closes(1e-6)
    monkeypatch.setattr(search, "answers", None)
    assert simopt.certify(problem, tol=1e-6).closes(1e-6)


class Panic(BaseException):
    """What a panic of Rust is to Python."""


ERRORS = [Panic("index out of bounds"), SystemExit(3), cp.SolverError("no"), ValueError("a shape"), GeneratorExit(), OSError("killed")]


@pytest.mark.parametrize("solved", [False, True])
@pytest.mark.parametrize("error", [*ERRORS, ArpackNoConvergence("no convergence", [], [])], ids=lambda error: type(error).__name__)
def test_whatever_a_back_end_does_certify_is_open_and_says_it(error: BaseException, solved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = half()
    if solved:
        problem.solve(solver="CLARABEL")
        problem.variables()[0].value = [9.0, 0.0, 0.0, 0.0]

    def fails(*args: Any, **options: Any) -> Iterator[None]:
        raise error

    monkeypatch.setattr(cp.Problem, "solve", fails)
    monkeypatch.setattr("cvxpy.reductions.solvers.solving_chain.SolvingChain.solve_via_data", fails)
    monkeypatch.setattr("clarabel.DefaultSolver", fails)
    found = simopt.certify(problem)
    assert not found.closes(1e-8) and type(error).__name__ in found.open
    assert found.lower <= 0.25 <= found.upper and (math.isfinite(found.upper) or not solved)
    solution = simopt.solve(half(), "clarabel")
    assert solution.status is Status.FAILED and type(error).__name__ in solution.message + solution.reported_status


def test_an_interrupt_of_a_certificate_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cp.Problem, "solve", stop)
    monkeypatch.setattr("clarabel.DefaultSolver", stop)
    with pytest.raises(KeyboardInterrupt):
        simopt.certify(half())


def test_a_back_end_that_is_not_there_is_an_error_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(CLARABEL), "missing", "it is not installed: pip install it")
    with pytest.raises(simopt.NotAvailable, match="not installed"):
        simopt.certify(half())


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_formulas_that_contradict_each_other_are_named(factor: float, rigorous: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = KernelRidge(np.eye(3) + 1.0, np.array([3.0, 0.0, 1.0]), regularization=0.5)
    right = KernelRidge.gap
    point = {"alpha": np.array([0.3, -0.2, 0.9])}
    assert not simopt.certify(problem, point, rigorous=rigorous).open
    monkeypatch.setattr(KernelRidge, "gap", lambda self, *args: factor * right(self, *args))
    found = simopt.certify(problem, point, rigorous=rigorous)
    assert found.gap == math.inf and "contradict each other" in found.open and "one of them is wrong" in str(found)
    monkeypatch.setattr(KernelRidge, "gap", lambda self, *args: right(self, *args) + factor)
    solution = simopt.solve(problem, rigorous=rigorous)
    assert not solution.optimal and "contradict each other" in solution.message


@pytest.mark.parametrize("rigorous", [False, True])
def test_of_a_linear_programme_a_vertex_is_tried_before_the_default_back_end(rigorous: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """If its basis cannot be proven, HiGHS's point is judged, where the gap is rounding. Who names a back end is given no other."""
    rng = np.random.default_rng(2)
    asked = list[str]()
    original = graph_form.one_solve

    def counted(form: graph_form.GraphForm, solver: str, options: dict[str, Any], tol: float) -> Any:
        asked.append(solver)
        return original(form, solver, options, tol)

    monkeypatch.setattr(graph_form, "one_solve", counted)
    monkeypatch.setattr(linear_and_quadratic, "vertex_of", lambda _: None)
    x, matrix = cp.Variable(12, nonneg=True), rng.normal(size=(6, 12))
    problem = cp.Problem(cp.Minimize(rng.random(12) @ x), [matrix @ x == matrix @ rng.random(12), x <= 3])
    found = simopt.certify(problem, rigorous=rigorous, tol=1e-11)
    assert found.closes(1e-11) and asked == ["HIGHS"]
    problem.solve(solver="CLARABEL")
    simopt.certify(problem, rigorous=rigorous, solver="scs", tol=1e-13)
    assert asked[1:] and "HIGHS" not in asked[1:]


def test_the_shapes_of_a_point_are_known_without_the_trivial_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making 0 feasible may cost more than the certificate."""
    x, y = cp.Variable(3, name="x"), cp.Variable((2, 2), name="y")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + cp.sum_squares(y)), [x[0] + cp.sum(y) == 2])
    declared = Declared.of(problem)
    assert declared.point_shapes() == {"x": (3,), "y": (2, 2)} == {name: v.shape for name, v in declared.trivial_point().items()}
    monkeypatch.setattr(Declared, "trivial_point", lambda self: pytest.fail("the trivial point is made feasible"))
    problem.solve(solver="CLARABEL")
    assert simopt.certify(problem, solver=None).upper < np.inf


@pytest.mark.parametrize("matrix", [np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 1.0], [0.0, 1.0, 1.0]]), np.diag([1.0, 2.0, 0.0])])
def test_quadratic_forms_over_bounds_close_in_the_units_of_back_ends(matrix: np.ndarray) -> None:
    """min ½⟨x, Px⟩ + ⟨c, x⟩ in x ≥ 0: back ends have no multiplier of ⟨x, Px⟩, and it is no closing term beside bounds."""
    x = cp.Variable(3, name="x")
    objective = 0.5 * cp.quad_form(x, matrix, assume_PSD=True) + np.array([-1.0, -3.0, 0.5]) @ x
    problem = Declared.of(cp.Problem(cp.Minimize(objective), [x >= 0, cp.sum(x) <= 5, x[0] + 2 * x[2] >= 0.5]))
    for backend in (CLARABEL, SCS):
        assert measure(problem, backend, tol=1e-6, time_limit=20.0, options={}).status is Status.OPTIMAL
