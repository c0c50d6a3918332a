"""The derived dual programme: its optimum is the problem's, its variables are the problem's multipliers and its multipliers the problem's
variables, all by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.core.errors import Unreadable
from tests.duality.corpus.documented import MODELS

TIGHT: dict[str, Any] = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
QUICK = ["group lasso", "robust Kalman filter", "portfolio"]  # scales that are multipliers of norms; a form; a maximum

rng = np.random.default_rng(3)
A, B, Y = rng.normal(size=(6, 3)), rng.normal(size=(6, 6)), rng.uniform(0.5, 1.5, 6)
SINGULAR = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-2.0, 0.0], [0.0, 3.0]])
SINGULAR = SINGULAR @ SINGULAR.T
FUNCTIONS: dict[str, Callable[[Any], Any]] = {  # of x > 0, convex; each in the objective, and in a row where its scale is a multiplier
    "squares over a number": lambda x: cp.quad_over_lin(x[1:] - 1, x[0]),
    "reciprocals": lambda x: cp.sum(cp.inv_pos(x)),
    "roots": lambda x: -cp.sum(cp.sqrt(x)),
    "harmonic mean": lambda x: -cp.harmonic_mean(x),
    "p-norm below 1": lambda x: -cp.pnorm(x, 0.5),
    "geometric mean": lambda x: -cp.geo_mean(x, [1, 2, 3, 1, 1, 1]),
    "relative entropy": lambda x: cp.sum(cp.rel_entr(x[:3], x[3:])),
    "divergence": lambda x: cp.sum(cp.kl_div(x, Y)),
    "semidefinite form": lambda x: cp.quad_form(x - Y, cp.psd_wrap(SINGULAR)),
    "definite form": lambda x: cp.quad_form(x - Y, SINGULAR + np.eye(6)),
    "powers": lambda x: cp.sum(cp.power(x, 1.5)) + cp.sum(cp.power(B @ x, 4)),
    "p-norm above 1": lambda x: cp.pnorm(B @ x - Y, 3),
    "norms of rows": lambda x: cp.sum(cp.norm(cp.reshape(B @ x, (3, 2), order="C"), 2, axis=1)),
    "Huber of norms": lambda x: cp.sum(cp.huber(cp.norm(cp.reshape(B @ x, (3, 2), order="C"), 2, axis=1), 0.5)),
    "square of a norm": lambda x: cp.square(cp.norm1(B @ x)),
    "logarithm of a sum": lambda x: cp.log_sum_exp(B @ x),
    "exponentials": lambda x: cp.sum(cp.exp(B @ x)),
    "barrier": lambda x: -cp.sum(cp.log(x)),
    "entropy": lambda x: -cp.sum(cp.entr(x)),
    "largest": lambda x: cp.sum_largest(B @ x, 2) + cp.max(cp.abs(B @ x)) - cp.sum(cp.minimum(x, Y)),
    "running maximum": lambda x: cp.sum(cp.cummax(B @ x)),
}


def agree(problem: cp.Problem) -> cp.Problem:
    """The derived dual, solved: of the other sense, of the same value, and with names that say what each of its parts is of."""
    dual = simopt.dual(problem)
    assert dual.is_dcp()
    assert isinstance(dual.objective, cp.Maximize) != isinstance(problem.objective, cp.Maximize)
    optimum = problem.solve(**TIGHT)
    assert dual.solve(**TIGHT) == pytest.approx(optimum, rel=1e-8, abs=1e-8)
    names, labels = [v.name() for v in dual.variables()], [row.label for row in dual.constraints]
    assert len({*names}) == len(names) and len({*labels}) == len(labels) and all(labels)
    return dual


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in MODELS])
def test_a_documented_model_and_its_dual_have_one_value(name: str) -> None:
    agree(MODELS[name](np.random.default_rng(0)))


@pytest.mark.slow
@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_in_the_objective_and_in_a_row_is_dualised(name: str, sense: Any) -> None:
    """min φ(x) + Σ|x − y|/2, and then min t + Σ|x − y|/2 subject to φ(x) ≤ t, 2φ(x) ≤ t + 3 on the same box."""
    x, t = cp.Variable(6, name="x"), cp.Variable(name="t")
    rows, rest = [x >= 0.1, x <= 2], cp.sum(cp.abs(x - Y)) / 2
    function, sign = FUNCTIONS[name](x), 1 if sense is cp.Minimize else -1
    agree(cp.Problem(sense(sign * (function + rest)), rows))
    agree(cp.Problem(sense(sign * (t + rest)), [*rows, function <= t, 2 * function <= t + 3]))


@pytest.mark.slow
def test_a_perspective_is_dualised() -> None:
    x, s = cp.Variable(2, name="x"), cp.Variable(name="s", nonneg=True)
    for function in (
        cp.sum(cp.huber(x, 0.5)),
        cp.norm(x, 2) + cp.sum(x),
        cp.log_sum_exp(x),
        cp.sum(cp.logistic(x)),
        cp.max(x),
    ):
        agree(cp.Problem(cp.Minimize(cp.perspective(function, s) + cp.square(s - 2)), [x >= np.array([-1.0, 1.5])]))


def test_each_programme_is_read_off_from_the_other() -> None:
    """Multipliers of rows are the dual's variables, and the dual's multipliers the variables: defined, bounded, epigraphs or neither."""
    x, f, t = cp.Variable(3, name="x", nonneg=True), cp.Variable(6, name="f"), cp.Variable(name="t")
    given = [(f == A @ x).set_label("fit"), (cp.norm(x, 2) <= 0.8).set_label("ball"), (f - Y <= t).set_label("above")]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(f - Y) + 2 * t + cp.norm1(x) / 4), given)
    for sense in (problem, cp.Problem(cp.Maximize(-problem.objective.expr), given)):
        dual = agree(sense)
        assert {v.name() for v in dual.variables()} == {"fit", "ball", "above", "x nonneg", "quad_over_lin 1", "norm1 1", "PnormApprox 1"}
        for row in given:
            assert np.allclose(dual.var_dict[row.label].value, row.dual_value, atol=1e-6)
        rows = {row.label: row.dual_value for row in dual.constraints}
        assert {"x", "f", "t", "domain of norm1 1"} <= rows.keys()
        for variable in (x, f, t):
            assert np.allclose(rows[variable.name()], variable.value, atol=1e-6)


def test_entries_of_structured_variables_are_multipliers_each_once() -> None:
    S, D = cp.Variable((3, 3), symmetric=True, name="S"), cp.Variable((3, 3), diag=True, name="D")
    goal = np.add.outer(np.arange(3.0), 2 * np.arange(3.0))
    row = (S + D <= 2.5).set_label("row")
    dual = agree(cp.Problem(cp.Minimize(cp.sum_squares(S - goal) + cp.sum_squares(D - 1)), [row]))
    rows = {each.label: each.dual_value for each in dual.constraints}
    assert np.allclose(sorted(rows["S"]), sorted(S.value[np.triu_indices(3)]), atol=1e-6)
    assert np.allclose(rows["D"], D.value.diagonal(), atol=1e-6)
    assert np.allclose(dual.var_dict["row"].value, row.dual_value, atol=1e-6)


def test_the_dual_of_the_dual_is_the_problem_again() -> None:
    problem = MODELS["Huber regression"](np.random.default_rng(0))
    assert simopt.dual(agree(problem)).solve(**TIGHT) == pytest.approx(problem.value, rel=1e-8)


def test_an_element_of_a_kernel_s_space_needs_no_factor_in_stationarity() -> None:
    alpha = cp.Variable(6, name="alpha")
    dual = agree(cp.Problem(cp.Minimize(cp.sum_squares(SINGULAR @ alpha - Y) + cp.quad_form(alpha, cp.psd_wrap(SINGULAR)))))
    stationary = next(row for row in dual.constraints if row.label == "alpha")
    assert np.allclose(stationary.dual_value, SINGULAR @ alpha.value, atol=1e-6)


def test_where_no_point_is_feasible_the_dual_has_no_bound_and_the_other_way_round() -> None:
    x = cp.Variable(2, name="x")
    for problem, status in (
        (cp.Problem(cp.Minimize(cp.norm1(x)), [cp.sum(x) >= 3, x <= 1]), cp.UNBOUNDED),
        (cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1]), cp.INFEASIBLE),
        (cp.Problem(cp.Minimize(cp.norm1(x)), [cp.multiply(np.array([0.0, 1.0]), x) <= -1]), cp.UNBOUNDED),  # 0 ≤ −1
    ):
        dual = simopt.dual(problem)
        dual.solve(solver="CLARABEL")
        assert dual.status == status


def test_what_cannot_be_dualised_is_named() -> None:
    x, matrix = cp.Variable(2, name="x"), cp.Parameter((2, 2), PSD=True, value=np.eye(2))
    form = cp.Problem(cp.Minimize(cp.quad_form(x, matrix) + cp.sum(x)))
    assert agree(form).value == pytest.approx(-0.5)
    matrix.value[0, 0] = -1.0  # written past CVXPY's check
    with pytest.raises(Unreadable, match=r"QuadForm 1: its conjugate.*not proven to be semidefinite in QuadForm\(x"):
        simopt.dual(form)
    with pytest.raises(Unreadable, match=r"not convex.*power\(x, 0.5\)\), which is concave"):
        simopt.dual(cp.Problem(cp.Minimize(cp.sum(cp.sqrt(x)))))
