"""Problems without an optimum: a direction along which the objective falls for ever, proven and replayed; and what is no proof of that."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.constraints import Equality, Inequality
from quickly import quick

import simopt
from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.core.errors import InvalidProblem
from simopt.duality import Declared
from simopt.duality.infeasibility.recession import at_most_zero
from simopt.duality.infeasibility.unbounded import Unbounded, recession, replayed, unbounded
from simopt.model.status import Status

A = np.array([[0.1, 0.2, 0.3], [1.0, -0.7, 0.4]])
x, y = cp.Variable(name="x"), cp.Variable(name="y")
z, n = cp.Variable(3, name="z"), cp.Variable(3, nonneg=True, name="n")
q = cp.Variable(nonneg=True, name="q")
b, S = cp.Variable(2, bounds=[1.0, np.inf], name="b"), cp.Variable((2, 2), symmetric=True, name="S")

FALLS: dict[str, Callable[[], cp.Problem]] = {
    "linear": lambda: cp.Problem(cp.Minimize(x - 2 * y), [x >= y]),
    "equalities that no floats satisfy": lambda: cp.Problem(cp.Minimize(cp.sum(z)), [A @ z == 1]),
    "signs and bounds": lambda: cp.Problem(cp.Maximize(cp.sum(n) - b[0] + 2 * b[1]), [n[0] <= 3]),
    "symmetric": lambda: cp.Problem(cp.Minimize(cp.trace(S)), [S[0, 1] == 1]),
    "exponential": lambda: cp.Problem(cp.Minimize(cp.exp(x) + x)),
    "logistic": lambda: cp.Problem(cp.Minimize(cp.logistic(x) - 2 * x + cp.log_sum_exp(z)), [z[0] <= x]),
    "square": lambda: cp.Problem(cp.Minimize(cp.square(x - y) + x + cp.quad_form(z, np.diag([1.0, 1.0, 0.0])) - z[2])),
    "Huber": lambda: cp.Problem(cp.Minimize(cp.huber(x, 0.5) - 1.5 * x)),
    "norms": lambda: cp.Problem(cp.Minimize(cp.norm(z - 1) - 2 * cp.sum(z)), [cp.abs(z[0] - z[1]) <= 1, cp.norm1(z[1:]) <= x]),
    "nested": lambda: cp.Problem(cp.Minimize(cp.square(cp.pos(x)) + x + cp.exp(cp.abs(y))), [cp.sqrt(-x) >= y]),
    "cones": lambda: cp.Problem(cp.Minimize(-y), [cp.ExpCone(x, y, z[0]), cp.SOC(z[0], z[1:]), cp.PowCone3D(z[0], y, z[1], 0.3)]),
    "quotient": lambda: cp.Problem(cp.Minimize(cp.quad_over_lin(z, x) - 2 * x), [x >= 1]),
    "perspective": lambda: cp.Problem(cp.Minimize(cp.perspective(cp.square(y) + 1, q) - 3 * q), [q >= 1]),
    "parameter": lambda: cp.Problem(cp.Minimize(cp.Parameter(nonneg=True, value=2.0) * cp.abs(x) + 3 * x)),
    "logarithm": lambda: cp.Problem(cp.Maximize(cp.sum(cp.log(n)) - n[0]), [n[2] <= 1, cp.sum(n) <= 3 * n[1]]),
    "root": lambda: cp.Problem(cp.Maximize(cp.sqrt(x) - cp.square(y))),
}


def falls_far(problem: cp.Problem, point: dict[str, Any], direction: dict[str, Any]) -> bool:
    """Whether CVXPY's own values fall from step to step, and its rows (of cones it only has distances to projections) hold to rounding."""
    values = []
    for t in (0.0, 1e2, 1e4, 1e6):
        for v in problem.variables():
            v.value = np.asarray(point[v.name()] + t * direction[v.name()])
        values.append(float(problem.objective.value))
        rows = [row for row in problem.constraints if isinstance(row, Equality | Inequality)]
        if any(np.max(row.violation()) > 1e-12 * (1.0 + t) for row in rows):
            return False
    sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    return bool(np.all(np.diff(np.array(values) * sign) < -1.0))


@pytest.mark.parametrize("name", quick(FALLS, "linear", "equalities that no floats satisfy", "nested", "logarithm"))
def test_along_the_direction_that_is_found_the_objective_falls_for_ever(name: str) -> None:
    problem = FALLS[name]()
    declared = Declared.of(problem)
    found = unbounded(declared)
    assert found is not None and found.point is not None and found.slope < 0.0
    assert falls_far(problem, declared.variables(declared.restore(found.point)), found.direction)
    num = BY_NAME[found.arithmetic]
    assert replayed(declared, found.direction, num) < 0.0 <= replayed(declared, {name: -d for name, d in found.direction.items()}, num)


@pytest.mark.parametrize("name", quick(FALLS, "signs and bounds"))
def test_a_solve_says_unbounded_and_keeps_point_and_direction(name: str) -> None:
    problem = FALLS[name]()
    solution = simopt.solve(problem, "clarabel")
    end = np.inf if isinstance(problem.objective, cp.Maximize) else -np.inf
    assert solution.status is Status.UNBOUNDED and solution.certificate.unbounded and not solution.certificate.infeasible
    assert (solution.certificate.lower, solution.certificate.upper) == (end, end) and not solution.certificate.closes(1e-8)
    assert problem.status == "unbounded" and problem.value == end and "without end" in solution.message
    assert all(v.value is None for v in problem.variables())
    assert falls_far(problem, solution.point, solution.direction)


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
def test_every_arithmetic_says_so_and_floats_by_intervals(num: Arithmetic) -> None:
    found = simopt.certify(cp.Problem(cp.Minimize(x - 2 * y), [x >= y]), num=num)
    assert found.unbounded and found.lower == -np.inf and found.arithmetic == ("interval" if num is FLOAT else num.name)
    if num is RATIONAL:  # in which e^x is not known
        fresh = cp.Variable()  # of which there is no value to be judged
        assert simopt.certify(cp.Problem(cp.Minimize(cp.exp(fresh) + fresh)), num=num).arithmetic == "interval"


def test_floats_prove_no_slope() -> None:
    with pytest.raises(InvalidProblem, match="floats prove no slope"):
        unbounded(Declared.of(cp.Problem(cp.Minimize(x))), FLOAT)


BOUNDED: dict[str, Callable[[], cp.Problem]] = {
    "a tiny slope upwards": lambda: cp.Problem(cp.Minimize(cp.abs(x) - (1.0 - 2.0**-52) * x)),
    "slopes that are equal": lambda: cp.Problem(cp.Minimize(cp.huber(x, 1) - 2 * x)),
    "an infimum that is not attained": lambda: cp.Problem(cp.Minimize(cp.exp(-x))),
    "a direction that nearly solves the rows": lambda: cp.Problem(cp.Minimize(-y), [x - y == 1, x - (1.0 + 2.0**-30) * y == 0]),
    "a curvature that is almost 0": lambda: cp.Problem(cp.Minimize(1e-20 * cp.square(x) - x)),
    "a matrix that is almost singular": lambda: cp.Problem(cp.Minimize(cp.quad_form(z, np.diag([1.0, 1.0, 1e-30])) - z[2])),
    "a logarithm against a slope": lambda: cp.Problem(cp.Maximize(cp.sum(cp.log(n)) - 1e-9 * cp.sum(n))),
    "a logarithm with a bound": lambda: cp.Problem(cp.Maximize(cp.log(x)), [x <= 1e9]),
    "an entropy": lambda: cp.Problem(cp.Maximize(cp.sum(cp.entr(n)) + 5 * cp.sum(n))),
    "a row that holds it": lambda: cp.Problem(cp.Minimize(-x), [cp.square(x) <= cp.log(1 + y), y <= 3]),
}


@pytest.mark.parametrize("name", quick(BOUNDED, "a tiny slope upwards", "an infimum that is not attained", "a logarithm with a bound"))
def test_what_is_bounded_is_never_unbounded(name: str) -> None:
    declared = Declared.of(BOUNDED[name]())
    assert unbounded(declared) is None
    for sign in (1.0, -1.0):  # whatever is suggested is judged, and no suggestion is believed
        suggested = {leaf.name: np.full(leaf.shape, sign) for leaf in recession(declared).programme.leaves.values()}
        assert replayed(declared, suggested, RATIONAL) >= 0.0


def test_what_falls_without_a_direction_stays_open() -> None:
    solution = simopt.solve(cp.Problem(cp.Minimize(-y), [cp.square(y) <= x]), "clarabel")
    assert solution.status is not Status.UNBOUNDED and solution.certificate.lower == -np.inf and "would help" in solution.certificate.open


@pytest.mark.slow
def test_without_a_feasible_point_it_is_unbounded_if_feasible() -> None:
    problem = cp.Problem(cp.Minimize(y), [cp.exp(x) <= 0])  # infeasible, but by no number above 0
    found = unbounded(Declared.of(problem))
    assert isinstance(found, Unbounded) and found.point is None and found.slope < 0.0
    certificate = simopt.certify(problem)
    assert not certificate.unbounded and not certificate.infeasible and (certificate.lower, certificate.upper) == (-np.inf, np.inf)
    assert "unbounded if feasible" in certificate.open and "Slater" in certificate.open


def test_infeasible_comes_before_unbounded() -> None:
    assert simopt.solve(cp.Problem(cp.Minimize(y), [x >= 1, x <= 0])).status is Status.INFEASIBLE


def test_a_direction_is_kept_by_pickling_and_is_read_only() -> None:
    solution = simopt.solve(cp.Problem(cp.Minimize(x - 2 * y), [x >= y]), "clarabel")
    again = pickle.loads(pickle.dumps(solution))
    assert again.direction == solution.direction == {"x": 1.0, "y": 1.0} and again.status is Status.UNBOUNDED
    with pytest.raises(ValueError, match="read-only"):
        again.direction["x"][...] = 2.0


def test_rows_without_slack_become_equivalent_equalities() -> None:
    rows = at_most_zero(2.0 * cp.norm1(z) + cp.max(cp.pos(n - 1)))
    assert [type(row).__name__ for row in rows] == ["Equality", "Inequality"]
    for value, holds in (([0.0, 0.0, 0.0], True), ([0.0, 1e-9, 0.0], False)):
        z.value, n.value = value, [1.0, 0.5, 0.0]
        assert bool(all(np.max(row.violation()) == 0.0 for row in rows)) is holds
