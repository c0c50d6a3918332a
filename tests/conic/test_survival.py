"""What survives a change of the data: attacked by changes of the data."""

from dataclasses import replace
from typing import Any

import clarabel
import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from simopt.conic.form import SEMIDEFINITE, ConicForm, conic_form
from simopt.conic.proof import clarabel_cones, clarabel_settings, triangles
from simopt.conic.survival import CHANGE, stays_bounded, stays_feasible

x = cp.Variable(3, name="x")
X = cp.Variable((3, 3), symmetric=True, name="X")
ones = np.ones(3)
PROBLEMS = {
    "box": cp.Problem(cp.Minimize(ones @ x), [x >= 0, x <= 1]),
    "simplex": cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1, x >= 0]),
    "narrow": cp.Problem(cp.Minimize(ones @ x), [x >= 1, x <= 1 + 1e-5]),
    "ball": cp.Problem(cp.Minimize(cp.norm(x - 1)), [cp.norm(x) <= 0.5]),
    "exponential": cp.Problem(cp.Minimize(cp.sum(cp.exp(x))), [cp.sum(x) == 1]),
    "logarithm": cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [cp.sum(x) == 1]),
    "power": cp.Problem(cp.Minimize(cp.sum(cp.power(x, 1.5))), [cp.sum(x) == 1]),
    "semidefinite": cp.Problem(cp.Maximize(cp.sum(X)), [X >> 0, cp.diag(X) == 1]),
}


def changed(form: ConicForm, rng: np.random.Generator) -> ConicForm:
    """Numbers moved by 1e-6 relatively, each up or down: what is 0 stays 0. Rows of matrices, which must stay symmetric, are left alone."""

    def moved(values: Any) -> Any:
        return values * (1.0 + CHANGE * rng.choice([-1.0, 1.0], size=np.shape(values)))

    A = form.A.copy()
    A.data = moved(A.data)
    matrices = any(kind == SEMIDEFINITE for kind, _ in form.cones)
    return replace(form, A=form.A if matrices else A, b=moved(form.b), c=moved(form.c))


def status(form: ConicForm) -> str:
    left = triangles(form)
    P, A = sp.csc_matrix(sp.triu(form.P)), sp.csc_matrix(left @ form.A)
    return str(clarabel.DefaultSolver(P, form.c, A, left @ form.b, clarabel_cones(form), clarabel_settings()).solve().status)


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_proved_to_stay_does_so_under_changes(name: str) -> None:
    form, rng = conic_form(PROBLEMS[name], exact=False), np.random.default_rng(0)
    assert stays_feasible(form).holds and stays_bounded(form).holds
    for _ in range(5):
        assert "Infeasible" not in status(changed(form, rng))


def test_the_point_is_feasible() -> None:
    form = conic_form(PROBLEMS["box"])
    found = stays_feasible(form)
    assert found.x is not None and (form.b - form.A @ found.x >= 0).all()


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([x >= 1, x <= 1 + 1e-6], "no point inside of all rows"),
        ([x >= 1, x <= 1], "no point inside of all rows"),
        ([cp.sum(x) == 1, 2 * cp.sum(x) == 2, x >= 0], "equations depend on each other"),
        ([x[0] == 1, x[1] + x[2] == 2, x[0] + x[1] + x[2] == 3, x >= 0], "equations depend on each other"),
        ([x >= 1, cp.sum(x) == 1], "no point inside of all rows"),
    ],
)
def test_what_a_change_makes_infeasible_is_not_said_to_stay(rows: list[Any], why: str) -> None:
    found = stays_feasible(conic_form(cp.Problem(cp.Minimize(ones @ x), rows)))
    assert not found.holds and why in found.why


@pytest.mark.parametrize(
    "problem",
    [
        cp.Problem(cp.Minimize(x[0] - x[1]), [x[0] >= x[1]]),
        cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1]),
        cp.Problem(cp.Minimize(cp.sum(x)), [cp.sum(x) >= 0]),
        cp.Problem(cp.Minimize(cp.norm(x) - x[0])),
    ],
)
def test_what_a_change_makes_unbounded_is_not_said_to_stay(problem: cp.Problem) -> None:
    assert not stays_bounded(conic_form(problem)).holds


def test_widths_between_one_change_and_ten_are_decided_near_what_they_need() -> None:
    """1 ≤ x ≤ 1 + w: each side can move by 2e-6 at x = 1, so that w > 4e-6 is needed, and little more is enough."""
    decided = {}
    for width in (3.9e-6, 4.5e-6):
        decided[width] = stays_feasible(conic_form(cp.Problem(cp.Minimize(ones @ x), [x >= 1, x <= 1 + width]))).holds
    assert decided == {3.9e-6: False, 4.5e-6: True}


def test_equations_alone_are_examined() -> None:
    """A form without any cone, as of a quadratic programme with equations."""
    form = conic_form(cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1]), exact=False)
    assert stays_feasible(form).holds and stays_bounded(form).holds
    assert not stays_feasible(conic_form(cp.Problem(cp.Minimize(cp.sum_squares(x)), [x == 1, cp.sum(x) == 3]), exact=False)).holds
