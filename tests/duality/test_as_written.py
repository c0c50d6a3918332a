"""`simopt.solve` and `simopt.certify` on an ordinary `cvxpy.Problem`: bounds in its sense, values put back, bad input named."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.backends.adapter import dense_value
from simopt.backends.table import CLARABEL
from simopt.certificates.assessment import judge
from simopt.core.errors import Interrupted, InvalidProblem, NotAvailable, Unreadable
from simopt.duality import Declared, GraphForm, solved
from simopt.duality.declared import InUnits
from simopt.duality.graph_form import candidates
from simopt.duality.written_form import WrittenForm
from simopt.model.problem import Rescale
from simopt.model.status import Status
from simopt.solving import back_end_solves, best_bounds, cvxpy_values
from simopt.solving.remedies import remedy
from simopt.solving.solution import Sample

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = X @ np.ones(3) + 0.3 * RNG.normal(size=40)


def huber() -> cp.Problem:
    w = cp.Variable(3, name="w")
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(X @ w - Y, 0.2)) / 40 + 0.05 * cp.sum_squares(w)))


def regression() -> cp.Problem:
    """A maximum, with variables that are defined, that are slack, and two kinds of rows."""
    w, f, t = cp.Variable(3, name="w"), cp.Variable(40, name="f"), cp.Variable(40, name="t")
    rows = [f == X @ w, t >= cp.abs(f - Y) - 0.1, (t >= 0).set_label("slack")]
    return cp.Problem(cp.Maximize(-cp.sum(t) - cp.sum_squares(w)), rows)


@pytest.mark.parametrize("solver", ["clarabel", "CLARABEL", "scs", "osqp"])
def test_a_problem_is_solved_by_any_back_end_and_its_values_are_put_back(solver: str) -> None:
    problem = huber()
    solution = simopt.solve(problem, solver, tol=1e-7)
    assert solution.status is Status.OPTIMAL and solution.certificate.closes(1e-7) and not solution.certificate.open
    (w,) = problem.variables()
    np.testing.assert_array_equal(w.value, solution.point["w"])
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(solution.value, rel=1e-12)
    reference = huber()
    reference.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    assert solution.certificate.lower - 1e-9 <= reference.value <= solution.certificate.upper + 1e-9


def test_a_maximum_is_bounded_as_it_was_written() -> None:
    problem, samples = regression(), list[Sample]()
    solution = simopt.solve(problem, "clarabel", progress=samples.append)
    certificate = solution.certificate
    assert solution.status is Status.OPTIMAL and certificate.maximises
    assert certificate.lower <= certificate.upper < 0.0
    assert solution.value == certificate.value == certificate.lower == pytest.approx(problem.value, rel=1e-12)
    assert all(sample.lower <= sample.upper < 0.0 for sample in (*samples, *solution.trace.samples)) and samples
    assert "≤ optimum ≤" in str(certificate) and "gap/|lower|" in str(certificate)
    assert simopt.certify(problem, rigorous=True).lower <= certificate.upper
    for num in (FLOAT, INTERVAL, RATIONAL):
        found = simopt.certify(problem, num=num)
        assert found.maximises and found.arithmetic == num.name and found.closes(1e-7)
        assert found.lower <= certificate.upper and certificate.lower <= found.upper


def cones() -> cp.Problem:
    A = np.array([[0.1, -0.1, 0.6, 0.1], [-0.5, 0.4, 1.3, 0.9], [-0.7, -1.3, -0.6, 0.0]])
    u, t, Z = cp.Variable(4, name="u"), cp.Variable(2, name="t"), cp.Variable((3, 2), name="Z")
    misfit = cp.sum_squares(u - 3) + cp.sum(t) + cp.sum_squares(Z - np.arange(6.0).reshape(3, 2))
    return cp.Problem(cp.Minimize(misfit), [cp.SOC(0.1 * cp.sum(u) + 1, A @ u), cp.SOC(t, Z, axis=0)])


def test_all_variables_and_the_dual_values_are_those_of_cvxpy() -> None:
    problem, reference = regression(), regression()
    solution = simopt.solve(problem, "clarabel", tol=1e-9)
    reference.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    assert set(solution.point) == {"w", "f", "t"}
    for ours, theirs in zip(problem.variables(), reference.variables(), strict=True):
        np.testing.assert_array_equal(ours.value, solution.point[ours.name()])
        np.testing.assert_allclose(ours.value, theirs.value, atol=1e-5)
    for row, other in zip(problem.constraints, reference.constraints, strict=True):
        np.testing.assert_allclose(row.dual_value, other.dual_value, atol=1e-4)
        assert np.max(np.abs(other.dual_value)) > 0.1  # so that a wrong sign would be seen


def test_dual_values_of_matrices_are_read_column_by_column() -> None:
    A, B = np.arange(6.0).reshape(2, 3), np.array([[1.0, 9.0, 2.0], [0.5, 9.0, 3.0]])
    U, V = cp.Variable((2, 3), name="U"), cp.Variable((2, 3), name="V")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(U - A) + cp.sum_squares(V - A)), [U + 2 * V <= B])
    assert simopt.solve(problem, "clarabel").optimal
    assert np.ptp(problem.constraints[0].dual_value) > 1.0
    problem.solve(solver="CLARABEL")
    assert simopt.certify(problem, solver=None).closes(1e-7)


def test_both_parts_of_a_cones_dual_values_are_those_of_cvxpy() -> None:
    problem, reference = cones(), cones()
    assert simopt.solve(problem, "clarabel", tol=1e-9).optimal
    reference.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12)
    for ours, theirs in zip(problem.constraints, reference.constraints, strict=True):
        for own, other in zip(ours.dual_variables, theirs.dual_variables, strict=True):
            np.testing.assert_allclose(own.value.reshape(-1, order="F"), other.value.reshape(-1, order="F"), atol=2e-3)
            assert np.max(np.abs(other.value)) > 0.1
    assert simopt.certify(reference, solver=None).closes(1e-8)  # the part of x is the norm's multiplier, which nothing else has


def test_a_back_end_that_fails_in_scaled_units_is_given_raw_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(form: Any, *arguments: Any, **options: Any) -> None:
        raise ArithmeticError("scaled")

    monkeypatch.setattr(Declared, "normalised", lambda self: (InUnits(self.programme, GraphForm(self)), Rescale()))
    monkeypatch.setattr(InUnits, "for_back_ends", refuses)
    assert simopt.solve(huber(), "clarabel").optimal


@pytest.mark.parametrize("module", ["evaluation.backward", "evaluation.forward", "stationarity.pivots"])
def test_for_every_reason_of_openness_there_is_something_that_would_help(module: str) -> None:
    source = inspect.getsource(import_module(f"simopt.duality.{module}"))
    reasons = re.findall(r'f?"((?:\{[a-z.]*name\}|pivots): .*?)"', source)
    assert reasons and all(remedy(reason) for reason in reasons), reasons


def test_structured_variables_are_solved_judged_and_put_back() -> None:
    A = np.arange(9.0).reshape(3, 3)
    diagonal, sparse = cp.Variable((3, 3), diag=True, name="D"), cp.Variable((3, 3), sparsity=[(0, 1), (1, 2)], name="P")
    for variable, mask in ((diagonal, np.eye(3)), (sparse, np.eye(3, k=1))):
        empty = cp.Variable(0, name="none")
        problem = cp.Problem(cp.Minimize(cp.sum_squares(variable - A) + cp.sum_squares(variable)), [empty >= 0])
        solution = simopt.solve(problem, rigorous=True)
        found, optimum = simopt.certify(problem, solver=None), float(np.sum(A**2) - np.sum((A * mask) ** 2) / 2)
        for certificate in (solution.certificate, found):
            assert certificate.lower - 1e-9 <= optimum <= certificate.upper + 1e-9 and certificate.upper < optimum + 1e-6
        np.testing.assert_allclose(solution.point[variable.name()], A / 2 * mask, atol=1e-6)
        np.testing.assert_array_equal(dense_value(variable), solution.point[variable.name()])


def test_what_a_solve_left_is_judged_and_stays() -> None:
    problem = regression()
    problem.solve(solver="SCS", eps_abs=1e-3, eps_rel=1e-3)
    before = [v.value.copy() for v in problem.variables()]
    duals = [row.dual_value.copy() for row in problem.constraints]
    found = simopt.certify(problem, rigorous=True, solver=None)
    assert found.arithmetic == "interval" and found.lower <= found.upper
    at = Declared.of(problem)
    values = {leaf.name: leaf.variable.value for leaf in at.programme.leaves.values()}
    assert found.lower == pytest.approx(-float(at.objective(values)), rel=1e-9)  # the value found there
    assert simopt.certify(problem, rigorous=True).gap < found.gap  # a solve finds better ones, and leaves these where they are
    assert all(np.array_equal(v.value, value) for v, value in zip(problem.variables(), before, strict=True))
    assert all(np.array_equal(row.dual_value, value) for row, value in zip(problem.constraints, duals, strict=True))
    tight = regression()
    tight.solve(solver="CLARABEL")
    assert simopt.certify(tight).gap < found.gap


def test_only_what_is_missing_is_solved_for(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(
        back_end_solves, "candidates", lambda declared, solver, tol: calls.append(solver) or candidates(declared, solver, tol)
    )
    problem = huber()
    with pytest.raises(InvalidProblem, match="variable w: it has no value"):
        simopt.certify(problem, solver=None)
    problem.solve(solver="CLARABEL")
    assert simopt.certify(problem).closes(1e-8) and not calls  # its functions are smooth
    x = cp.Variable(2, name="x", bounds=[1.0, 3.0])
    linear = cp.Problem(cp.Minimize(x[0] + x[1]), [x[0] <= x[1] + 1])
    linear.solve(solver="CLARABEL")
    x.value = [2.0, 2.0]
    assert simopt.certify(linear, solver=None).gap == pytest.approx(2.0) and not calls
    assert simopt.certify(linear).gap == 0.0 and not calls  # the values are poor: the basis of a vertex proves the optimum
    kinks = cp.Problem(cp.Minimize(cp.norm1(X[:, :2] @ x - Y) + cp.sum_squares(x)))
    kinks.solve(solver="CLARABEL")
    assert simopt.certify(kinks).closes(1e-8) and not calls  # its slopes at kinks are those that stationarity asks for
    x.value = [1.0, 1.0]
    assert np.isfinite(simopt.certify(kinks).gap) and calls == ["CLARABEL"]
    np.testing.assert_array_equal(x.value, [1.0, 1.0])


def test_values_that_are_given_are_judged_in_place_of_those_held() -> None:
    problem = huber()
    assert simopt.certify(problem, {"w": np.zeros(3)}).upper == pytest.approx(float(Declared.of(problem).objective({"w": np.zeros(3)})))
    with pytest.raises(InvalidProblem, match="cvxpy.Problem"):
        simopt.certify(Declared.of(problem))


def test_an_open_certificate_says_why_and_what_would_help() -> None:
    x = cp.Variable(2, name="x")
    x.value = [-1.0, -1.0]
    endless = simopt.certify(cp.Problem(cp.Maximize(cp.sum(x)), [x >= -1]), solver=None)
    assert (endless.lower, endless.upper) == (-2.0, np.inf)
    assert "x: " in endless.open and "(bounds on this variable would help)" in endless.open and "open: x" in str(endless)
    beside = simopt.certify(cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) >= 3, cp.sum(x) <= 2]), solver=None)
    assert beside.upper == np.inf and "a Slater point" in beside.open
    few = simopt.solve(cp.Problem(cp.Minimize(cp.sum_squares(X[:, :2] @ x - Y) + cp.sum_squares(x))), max_iter=1)
    assert few.optimal or few.certificate is None or few.certificate.open
    poor = simopt.certify(cp.Problem(cp.Minimize(cp.sum_squares(x - 1))), solver=None)
    assert "the gap is above 1e-08 of max(|lower|, |upper|)" in poor.open and not poor.closes(1e-8)


def test_variables_that_approximate_a_constraint_are_of_the_graph_form_alone() -> None:
    x, y, z = cp.Variable(2), cp.Variable(2), cp.Variable(2)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum(z)), [cp.RelEntrConeQuad(x, y, z, 2, 2), x == [1, 2], y <= 3]))
    with pytest.raises(InvalidProblem, match="it approximates a constraint"):
        WrittenForm(declared.programme).for_back_ends()


def test_a_variable_in_no_row_needs_no_value_of_a_back_end() -> None:
    x, y = cp.Variable((1, 2), nonneg=True, bounds=[2, 3]), cp.Variable(5)
    problem = cp.Problem(cp.Minimize(cp.sum(y)), [y >= 1, x[np.zeros((1, 2), dtype=bool)] <= 0])
    assert all(each.certificate.closes(1e-9) for each in candidates(Declared.of(problem)))
    assert simopt.certify(problem, rigorous=True).closes(1e-9)


def test_an_infeasible_or_unbounded_problem_is_never_optimal_and_keeps_no_values() -> None:
    x = cp.Variable(2, name="x")
    x.value = [1.0, 2.0]
    endless = cp.Problem(cp.Maximize(cp.sum(x)), [x >= 0])
    solution = simopt.solve(endless, "clarabel")
    assert solution.status is Status.UNBOUNDED and endless.status == "unbounded" and endless.value == np.inf and x.value is None
    assert "no optimum: the objective rises without end" in str(solution.certificate)
    for rows in ([x >= 1, x <= 0], [cp.norm(x) <= 1, cp.sum(x) >= 2]):
        for goal, end in ((cp.Minimize(cp.sum(x)), np.inf), (cp.Maximize(cp.sum(x)), -np.inf)):
            problem = cp.Problem(goal, rows)
            solution = simopt.solve(problem, "clarabel")
            assert solution.status is Status.INFEASIBLE and solution.certificate.infeasible and "no point is feasible" in solution.message
            assert problem.status == "infeasible" and problem.value == end and x.value is None
            found = simopt.certify(problem)
            assert found.infeasible and (found.lower, found.upper) == (end, end) and not found.closes(1e-8)
            assert "no optimum: no point is feasible" in str(found) and "open" not in str(found)


def test_an_interrupt_carries_the_solution_as_written() -> None:
    problem = regression()

    def stop(sample: Sample) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        simopt.solve(problem, "clarabel", progress=stop)
    found = caught.value.done
    assert found.status is Status.INTERRUPTED and found.certificate.maximises and problem.status == "user_limit"


def test_data_that_change_during_a_solve_are_noticed() -> None:
    w, shift = cp.Variable(3, name="w"), cp.Parameter(value=1.0)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - Y) + cp.sum_squares(w - shift)))

    def change(sample: Sample) -> None:
        shift.value = 2.0

    assert simopt.solve(problem, "clarabel", progress=change).status is Status.FAILED


def test_importing_simopt_does_not_import_cvxpy_and_its_type_is_known_without() -> None:
    code = (
        "import sys, simopt, simopt.solving.entry_points as c, simopt.model.problem as p; p.is_cvxpy(3); assert 'cvxpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class Modulus(cp.abs):
    """A function of the user's own."""


x = cp.Variable(2, name="x")
NAN, INF = np.array([1.0, np.nan]), np.array([np.inf, 1.0])
BAD: dict[str, tuple[Callable[[], cp.Problem], str]] = {
    "not convex": (lambda: cp.Problem(cp.Minimize(cp.sum(cp.sqrt(cp.abs(x))))), "not convex by CVXPY's rules"),
    "integers": (
        lambda: cp.Problem(cp.Minimize(cp.Variable(integer=True, bounds=[cp.Parameter(value=1.0), 5.0], name="k"))),
        "variable k: bounds of integers that are expressions",
    ),
    "booleans": (
        lambda: cp.Problem(cp.Minimize(cp.sum(~cp.Variable(2, boolean=[(0,)], name="k")))),
        "variable k, which is boolean in some entries only",
    ),
    "complex": (
        lambda: cp.Problem(cp.Minimize(cp.sum(Modulus(cp.Variable(2, complex=True, name="k"))))),
        "Modulus of complex numbers is not known",
    ),
    "an unknown function": (
        lambda: cp.Problem(cp.Minimize(cp.sum(Modulus(x)) + cp.tr_inv(cp.diag(x)))),
        "Modulus is not known",
    ),
    "nan": (lambda: cp.Problem(cp.Minimize(cp.sum_squares(x - NAN))), r"entry \(1,\) is nan"),
    "infinity in a row": (lambda: cp.Problem(cp.Minimize(cp.sum_squares(x)), [x <= INF]), r"entry \(0,\) is inf"),
    "nothing to choose": (lambda: cp.Problem(cp.Minimize(cp.Constant(1.0))), "it has no variables"),
    "no value": (lambda: cp.Problem(cp.Minimize(cp.sum_squares(x - cp.Parameter(2, name="p")))), "parameter p: it has no value"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_problems_are_named_by_both_entry_points(name: str) -> None:
    made, message = BAD[name]
    for function in (simopt.solve, simopt.certify):
        with pytest.raises(InvalidProblem, match=message):
            function(made())


def test_a_parameter_that_was_written_into_against_its_sign_is_named() -> None:
    strength = cp.Parameter(2, nonneg=True, name="strength", value=[1.0, 1.0])
    problem = cp.Problem(cp.Minimize(strength @ cp.square(x - 1)))
    assert simopt.solve(problem).optimal
    strength.value[1] = -1.0
    for function in (simopt.solve, simopt.certify):
        with pytest.raises(InvalidProblem, match="parameter strength: declared ≥ 0, it holds -1"):
            function(problem)


@pytest.mark.parametrize(
    ("values", "message"), [(np.ones(7), "row 1 has 7 entries, expected 40"), (np.full(40, np.nan), "entry 0 of row 1 is nan")]
)
def test_dual_values_of_the_wrong_shape_or_not_finite_are_named(values: Any, message: str) -> None:
    problem = regression()
    problem.solve(solver="CLARABEL")
    problem.constraints[1].dual_variables[0].save_value(values)
    with pytest.raises(InvalidProblem, match=message):
        simopt.certify(problem)


def test_values_that_are_not_finite_are_named() -> None:
    problem = huber()
    problem.variables()[0].save_value(np.array([0.0, np.inf, 0.0]))
    with pytest.raises(InvalidProblem, match="point: w is not finite"):
        simopt.certify(problem)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL], ids=lambda num: num.name)
def test_multipliers_that_are_not_finite_are_named_with_their_entry(num: Any, bad: float) -> None:
    declared = Declared.of(huber())
    name = next(name for name in declared.names if name.startswith("huber"))
    with pytest.raises(InvalidProblem, match=f"entry 2 of {name} is {bad}"):
        declared.dual_bound({name: np.where(np.arange(40) == 2, bad, 0.0)}, num)


@pytest.mark.parametrize("size", [1e160, 1e308])
def test_an_overflow_gives_no_bound_and_no_verdict(size: float) -> None:
    problem = cp.Problem(cp.Minimize(cp.sum_squares(size * x - size)), [cp.sum(x) <= size])
    x.value = [3.0, 3.0]
    for found in (simopt.certify(problem), simopt.certify(problem, rigorous=True), simopt.solve(problem).certificate):
        assert found is None or found.lower <= 0.0 <= found.upper or found.lower == -np.inf
        assert found is None or not np.isnan([found.lower, found.upper, found.gap]).any()


@pytest.mark.parametrize("error", [AssertionError("seven"), IndexError("too many"), type("Panic", (BaseException,), {})("rust")])
def test_whatever_a_back_end_raises_is_a_failed_solve_with_its_word(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(cp.Problem, "solve", fails)
    monkeypatch.setattr(cp.Problem, "get_problem_data", fails if isinstance(error, Exception) else cp.Problem.get_problem_data)
    with pytest.raises(NotAvailable, match=type(error).__name__) as caught:
        solved(Declared.of(huber()))
    assert caught.value.__cause__ is error
    if isinstance(error, Exception):
        assert simopt.solve(huber()).status is Status.UNSUPPORTED


def test_unreadable_is_an_invalid_problem_and_names_the_place() -> None:
    with pytest.raises(Unreadable, match="which is concave and minimised"):
        simopt.certify(cp.Problem(cp.Minimize(-cp.norm(x))))


def test_a_hundred_thousand_rows_are_read_without_a_copy_of_the_data() -> None:
    """`python -m benchmarks derived` times it; what would make it slow is a copy or a sparse form of the matrix."""
    n = 100_000
    features, targets = np.ones((n, 50)), np.ones(n)
    w, f, t = cp.Variable(50), cp.Variable(n), cp.Variable(n)
    fit = cp.Problem(cp.Minimize(cp.sum(cp.huber(features @ w - targets, 0.2)) + cp.sum_squares(w)), [features @ w <= targets + 10])
    slack = cp.Problem(cp.Minimize(cp.sum(t) + cp.sum_squares(w)), [f == features @ w, t >= targets - f, t >= 0])
    for problem in (fit, slack):
        tracemalloc.start()
        Declared.of(problem)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < features.nbytes / 2


def test_where_every_assessment_fails_the_certificate_is_open_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a routine gave up")

    problem = huber()
    problem.solve(solver="CLARABEL")
    monkeypatch.setattr(best_bounds, "judge", fails)
    found = simopt.certify(problem, solver=None)
    assert (found.lower, found.upper, found.gap) == (-np.inf, np.inf, np.inf) and "RuntimeError: a routine gave up" in found.open


def test_the_better_of_each_bound_is_kept_where_their_pair_is_judged_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """One assessment has the better point, the other the better multipliers; the judge of both together loses some of either bound."""
    problem = huber()
    problem.solve(solver="CLARABEL")
    declared = cvxpy_values.read(problem)
    best = judge(declared, {"w": problem.variables()[0].value})
    certificate = best.certificate
    near = replace(best, certificate=replace(certificate, lower=certificate.lower - 1.0, gap=certificate.gap + 1.0))
    far = replace(best, certificate=replace(certificate, upper=certificate.upper + 2.0, gap=certificate.gap + 2.0))
    for loses in ({"lower": certificate.lower - 0.5}, {"upper": certificate.upper + 0.5}):
        pair = replace(best, certificate=replace(certificate, gap=0.5, **loses))
        monkeypatch.setattr(best_bounds, "judge", lambda *_, pair=pair: pair)
        for found in (best_bounds.paired(declared, near, far, FLOAT), best_bounds.paired(declared, far, near, FLOAT)):
            assert (found.certificate.lower, found.certificate.upper) == (certificate.lower, certificate.upper)
            assert found.certificate.gap == pytest.approx(certificate.upper - certificate.lower, abs=1e-12)


def test_the_dual_values_of_a_solve_of_the_problem_as_written_are_kept() -> None:
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) >= 3.0).set_label("least")])
    point, multipliers = back_end_solves._answer_as_written(WrittenForm(cvxpy_values.read(problem).programme), CLARABEL, 1e-9)
    np.testing.assert_allclose(point["x"], 1.0, atol=1e-6)
    np.testing.assert_allclose(np.ravel(multipliers["least"]), 2.0, atol=1e-6)


DUALS: dict[str, Callable[[], cp.Problem]] = {
    "bounds": lambda: cp.Problem(
        cp.Minimize(cp.sum_squares(x - np.array([1.0, 2.0]))), [x <= 1.5, -x[1] <= -0.1, (4 * x[1] <= 5).set_label("four")]
    ),
    "linear": lambda: cp.Problem(cp.Minimize(np.array([1.0, 2.0]) @ x), [x >= -1, cp.sum(x) == 1, x <= 3]),
    "a sum that closes": lambda: cp.Problem(
        cp.Minimize(cp.log_sum_exp(cp.hstack([x[0], x[1] + np.log(2)])) - 0.875), [x[0] + x[1] >= np.log(2), x[0] <= np.log(5)]
    ),
    "a maximum": lambda: cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [x <= 2, cp.sum(x) <= 3.5]),
    "a kink": lambda: cp.Problem(cp.Minimize(cp.norm(x - np.array([1.0, 2.0]))), [3 * x[1] == 2 * x[0], x[0] <= 0.5]),
}


@pytest.mark.parametrize("name", DUALS)
def test_rows_that_no_bound_needs_have_the_dual_values_of_cvxpy(name: str) -> None:
    problem = DUALS[name]()
    assert simopt.solve(problem).status is Status.OPTIMAL
    ours = [np.array(row.dual_value) for row in problem.constraints]
    problem.solve(solver="CLARABEL")
    assert any(np.any(np.abs(row.dual_value) > 0.1) for row in problem.constraints)
    for own, row in zip(ours, problem.constraints, strict=True):
        np.testing.assert_allclose(np.ravel(own), np.ravel(row.dual_value), atol=2e-4)


def test_an_answer_to_another_programme_stays_open() -> None:
    """CVXPY 1.9.3 hands HiGHS bounds of expressions that are ∞ · 0: its optimum of a support vector machine is 40, that of w = 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = np.where(X @ np.ones(4) + rng.normal(size=80) > 0, 1.0, -1.0)
    w, b = cp.Variable(4, name="w"), cp.Variable(name="b")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 0.5 * cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver="HIGHS")
    value, judged = problem.value, simopt.certify(problem, solver=None)
    better = simopt.certify(problem, rigorous=True)
    assert better.closes(1e-6) and better.upper < 10.5
    assert judged.lower <= better.upper and judged.upper >= better.lower
    assert judged.closes(1e-6) == (abs(value - better.upper) <= 1e-6 * better.upper)
