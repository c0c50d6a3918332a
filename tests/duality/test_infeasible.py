"""Proofs that no point is feasible: free variables, domains, multipliers at ends of theirs; and what is feasible, or not proven so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from quickly import quick

import simopt
from simopt.duality import Declared
from simopt.duality.infeasibility.infeasible import infeasible
from simopt.duality.infeasibility.interior_multipliers import interior_multipliers
from simopt.model.status import Status

x, y, z = cp.Variable(name="x"), cp.Variable(name="y"), cp.Variable(3, name="z")
A = np.array([[0.25, -1.5, 0.75], [1.0, 0.5, -0.25]])  # whose sums are floats
SKEW = np.array([[0.0, 2.0, 0.0], [-2.0, 1.0, 0.0], [-2.0, 0.0, 0.0]])
TENTHS = np.array([[0.3, -1.1, 0.7], [0.9, 0.2, -0.4]])  # whose sums are not

EMPTY: dict[str, Callable[[], list[Any]]] = {
    "free variables": lambda: [x + y >= 1, x + y <= 0],
    "equalities that contradict each other": lambda: [A @ z == 1, np.sum(A, axis=0) @ z == 4],
    "a norm at the end of its domain": lambda: [cp.norm(z) <= z[0] - 1],
    "a norm beside a row": lambda: [cp.norm(SKEW @ z - 1) <= 0, np.array([2.0, -1.0, 1.0]) @ z == 0.5],
    "a norm of what is not unique": lambda: [cp.norm(A @ z - 1) <= 0.5, np.sum(A, axis=0) @ z == 7],
    "a logarithm": lambda: [cp.log(x) >= y, y >= x],
    "an exponential of a sum": lambda: [cp.exp(x + y) <= -1 - z[0], x + y >= -0.5, z[0] >= 0],
    "an exponential": lambda: [cp.exp(x) <= y, y <= -1],
    "relative entropy": lambda: [cp.rel_entr(x + y, y + 1) <= -3, x + y <= 1, y <= 1],
    "a domain": lambda: [cp.sqrt(x - 1) >= y, x <= 0],
    "a domain of the objective": lambda: [x + y <= -1, y >= 0],
}
FEASIBLE: dict[str, Callable[[], list[Any]]] = {
    "one point": lambda: [x + y >= 1, x + y <= 1, x - y == 0],
    "none, but as near as one likes": lambda: [cp.exp(x) <= 0],
    "a cone that is touched": lambda: [cp.norm(z) <= z[0], z[0] >= 1],
    "equalities that rounding made independent": lambda: [TENTHS @ z == 1, np.sum(TENTHS, axis=0) @ z == 4],  # for a z of 1e16
    "equalities that say the same": lambda: [x + 2 * y == 1, 2 * x + 4 * y == 2],
}


@pytest.mark.parametrize("name", quick(EMPTY, "free variables", "a domain"))
def test_no_point_is_feasible_proven(name: str) -> None:
    goal = cp.Maximize(cp.log(x)) if name == "a domain of the objective" else cp.Minimize(0)
    proof = infeasible(Declared.of(cp.Problem(goal, EMPTY[name]())))
    assert proof is not None and proof.violation > 0.0


@pytest.mark.parametrize("name", quick(FEASIBLE, "equalities that say the same"))
def test_what_is_not_proven_empty_is_not_called_so(name: str) -> None:
    assert infeasible(Declared.of(cp.Problem(cp.Minimize(0), FEASIBLE[name]()))) is None


@pytest.mark.slow
def test_equalities_an_ulp_apart_hold_to_rounding_in_floats_and_contradict_each_other_in_fractions() -> None:
    rows = [x + y == 0.1 + 0.2, x + y == 0.3]
    proof = infeasible(Declared.of(cp.Problem(cp.Minimize(0), rows)))
    assert proof is not None and 0.0 < proof.violation < 1e-16 and proof.arithmetic == "rational"
    problem = cp.Problem(cp.Minimize(cp.square(x) + cp.square(y)), rows)
    assert simopt.solve(problem, "clarabel").status is not Status.INFEASIBLE  # a back end's point is judged, and holds to rounding
    assert not simopt.certify(problem, rigorous=True).closes(1.0)  # which is no proof that it is one


def test_interior_multipliers_have_a_margin() -> None:
    t = cp.Variable(name="t")
    rows = [(cp.norm(A @ z - 1) - 0.5 <= t).set_label("ball"), (7 - np.sum(A, axis=0) @ z <= t).set_label("row")]
    found = interior_multipliers(cp.Problem(cp.Minimize(t), rows))
    assert found is not None
    norm = next(u for name, u in found.items() if name.startswith("Pnorm"))
    assert found["ball"] - np.linalg.norm(norm) > 0.01 and found["row"] > 0.01
