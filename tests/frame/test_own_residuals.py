"""Residuals of a back end's answer in the programme that it was given: small for honest answers, on all cones and interfaces."""

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from simopt.backends import adapter
from simopt.backends.own_residuals import OwnResiduals
from simopt.backends.table import CLARABEL, BackEnd, usable
from simopt.duality.declared import Declared
from simopt.model.status import Status

x = cp.Variable(3, name="x")
X = cp.Variable((3, 3), symmetric=True, name="X")
PROBLEMS = {
    "linear": cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x[0] + x[1] == 3]),
    "quadratic": cp.Problem(cp.Minimize(cp.sum_squares(x) - x[0]), [cp.sum(x) == 1, x >= 0]),
    "bounds": cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, bounds=[1, 2])))),
    "second-order": cp.Problem(cp.Minimize(cp.norm(x - 1)), [cp.norm(x) <= 0.5]),
    "exponential": cp.Problem(cp.Minimize(cp.sum(cp.exp(x))), [cp.sum(x) == 1]),
    "logarithm": cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [cp.sum(x) == 1]),
    "power": cp.Problem(cp.Minimize(cp.sum(cp.power(x, 1.5))), [cp.sum(x) == 1]),
    "semidefinite": cp.Problem(cp.Minimize(cp.trace(np.diag([1.0, 2.0, 3.0]) @ X) + X[0, 1]), [X >> 0, cp.trace(X) == 1, X[0, 2] >= 0.1]),
    "determinant": cp.Problem(cp.Maximize(cp.log_det(X) - cp.trace(X))),
}


def residuals(name: str, backend: BackEnd, declare: Any = Declared.of) -> tuple[Status, OwnResiduals | None]:
    problem = declare(PROBLEMS[name])
    declaration = problem if isinstance(problem, cp.Problem) else problem.for_back_ends(cones=backend.cones)
    found = adapter.run(declaration, backend, tol=None, max_iter=None, time_limit=10.0, options={}, examined=True)
    return found.status, found.residuals


@pytest.mark.thorough
@pytest.mark.parametrize("backend", usable(), ids=lambda each: each.name)
def test_an_honest_answer_is_within_its_documented_tolerance(backend: BackEnd) -> None:
    taken = 0
    for name in PROBLEMS:
        try:
            status, found = residuals(name, backend)
        except adapter.Refused:
            continue
        if status is not Status.OPTIMAL:
            continue
        assert found is not None and found.primal <= 10 * backend.documented, (name, found)
        assert math.isnan(found.dual) or found.of_optimality <= 10 * backend.documented, (name, found)
        taken += 1
    assert taken >= 1


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("declare", [Declared.of, lambda problem: problem], ids=["graph form", "as written"])
def test_clarabel_on_every_cone(name: str, declare: Any) -> None:
    status, found = residuals(name, CLARABEL, declare)
    assert status is Status.OPTIMAL and found is not None and found.of_optimality <= 1e-7


@pytest.mark.parametrize("part", ["x", "z"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_an_answer_that_is_moved_has_residuals(name: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One entry of the point, or of the multipliers, is moved by 0.01."""
    from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL as Interface

    invert = Interface.invert

    def moved(self: Any, solution: Any, inverse: Any) -> Any:
        found = invert(self, solution, inverse)
        values = found.primal_vars if part == "x" else found.dual_vars
        first = next(iter(values))
        values[first] = np.ravel(values[first]) + 0.01 * (np.arange(np.size(values[first])) == 0)
        return found

    monkeypatch.setattr(Interface, "invert", moved)
    _, found = residuals(name, CLARABEL)
    assert found is not None and found.of_optimality > 1e-4


def test_without_a_point_or_unasked_there_are_none() -> None:
    infeasible = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x <= 0])
    asked = adapter.run(infeasible, CLARABEL, tol=None, max_iter=None, time_limit=10.0, options={}, examined=True)
    unasked = adapter.run(PROBLEMS["linear"], CLARABEL, tol=None, max_iter=None, time_limit=10.0, options={})
    assert asked.residuals is None and unasked.residuals is None
