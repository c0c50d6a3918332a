"""A problem that its user changed: its declaration and one more constraint, solved and certified like any other."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from frame_toy import toy

import simopt
from simopt.core import registry
from simopt.core.errors import InvalidProblem, UnknownName


def test_one_line_adds_a_constraint_and_the_bounds_are_of_what_comes_out() -> None:
    problem = toy(radius=0.3)
    free = simopt.solve(problem, tol=1e-10)
    assert free.point is not None and np.min(free.point["x"]) < -0.01, "the new row must matter"
    changed = problem.with_rows(lambda x: x >= 0)
    solution = simopt.solve(changed, "clarabel", tol=1e-8)
    assert solution.optimal and solution.point is not None and np.min(solution.point["x"]) >= 0
    assert solution.certificate is not None and solution.certificate.lower > free.value
    again = simopt.certify(changed, rigorous=True)
    assert again.closes(1e-7) and again.lower <= solution.certificate.upper


def test_what_the_row_cuts_off_is_told_by_the_bounds_of_both() -> None:
    """With the optimum itself allowed nothing changes; without it the optimum rises by what a hand-made problem says."""
    problem = toy(radius=0.3)
    free = simopt.solve(problem, tol=1e-10)
    assert free.point is not None and free.certificate is not None
    sum_ = float(np.sum(free.point["x"]))
    same = simopt.solve(problem.with_rows(lambda x: cp.sum(x) <= sum_ + 0.1), "clarabel", tol=1e-8)
    assert same.certificate is not None and same.certificate.lower <= free.value and free.certificate.lower <= same.value
    cut = simopt.solve(problem.with_rows(lambda x: cp.sum(x) <= sum_ - 0.1, lambda x, radius: [x[0] <= radius / 2]), "clarabel", tol=1e-8)
    x = cp.Variable(problem.matrix.shape[1])
    rows = [x <= 0.3, -x <= 0.3, cp.sum(x) <= sum_ - 0.1, x[0] <= 0.15]
    loss = cp.sum_squares(problem.matrix @ x - problem.targets) / 2 + problem.regularization / 2 * cp.sum_squares(x)
    by_hand = simopt.solve(cp.Problem(cp.Minimize(loss), rows), "clarabel", tol=1e-8)
    assert cut.optimal and by_hand.optimal and cut.certificate is not None and by_hand.certificate is not None
    assert cut.certificate.lower <= by_hand.value and by_hand.certificate.lower <= cut.value and cut.certificate.lower > free.value


def test_a_row_that_no_point_meets_is_proven_to_be_one() -> None:
    found = simopt.solve(toy(radius=0.3).with_rows(lambda x: cp.sum(x) >= 100), "clarabel")
    assert found.status is simopt.Status.INFEASIBLE and found.certificate is not None and found.certificate.infeasible


@pytest.mark.parametrize("name", ["kernel-ridge", "hinge-svm", "landmarked-svr", "lipschitz-isotonic", "exc-ordinal"])
def test_registered_problems(name: str) -> None:
    """Whatever the problem: the sum of the largest variable at most what it is at the optimum, less a percent of its size."""
    kind = registry.find("problem", name)
    problem = next(each.problem for each in kind.examples(np.random.default_rng(0)) if not each.degenerate)
    declared = problem.declare()
    free = simopt.solve(declared, "clarabel", tol=1e-6)
    variable = max(declared.variables(), key=lambda v: v.size)
    least = float(np.sum(variable.value)) - 0.01 * float(np.max(np.abs(variable.value)))
    names = {"scope": lambda v: cp.sum(v) <= least}
    exec(f"row = lambda {variable.name()}: scope({variable.name()})", names)
    cut = simopt.solve(problem.with_rows(names["row"]), "clarabel", tol=1e-6)
    assert cut.optimal and cut.certificate is not None and free.certificate is not None
    assert cut.certificate.upper >= free.certificate.lower
    assert np.sum(cut.point[variable.name()]) <= least + 1e-9 * (1 + abs(least))


def test_what_is_no_row_is_told() -> None:
    problem = replace(toy(), radius=0.5)
    with pytest.raises(UnknownName, match="variable or parameter of toy 'radus'; did you mean 'radius'"):
        problem.with_rows(lambda radus: radus >= 0)
    with pytest.raises(InvalidProblem, match="rows: a function needed in place 0, such as lambda w: w >= 0, got 3"):
        problem.with_rows(3)  # type: ignore[arg-type]
    with pytest.raises(InvalidProblem, match="place 1 gives True, a constraint needed"):
        problem.with_rows(lambda x: x >= 0, lambda: True)
