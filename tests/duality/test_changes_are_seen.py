"""Problems that are remembered: a change of anything in them is seen, and large ones are forgotten."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import simopt
from simopt.arithmetic import FLOAT
from simopt.duality.declared import Declared
from simopt.duality.reading.lately_read import LARGEST
from simopt.duality.reading.leaves import leaves
from simopt.solving import as_written

N = 9


class ChangingModel:
    """A problem in loops or at once, with numbers that change."""

    def __init__(self, in_loops: bool) -> None:
        self.x, self.y, self.s = cp.Variable(N), cp.Variable(), cp.Variable(nonneg=True)
        self.parameter, self.scale = cp.Parameter(value=1.0), cp.Parameter(value=1.0, nonneg=True)
        self.number, self.m = cp.Constant(np.array([1.0])), cp.Constant(np.array(1.0))
        self.matrix, self.sparse = cp.Constant(np.diag(np.arange(1.0, N + 1))), cp.Constant(sp.csc_array(np.diag(np.arange(1.0, N + 1))))
        self.low = np.arange(N) / 2.0
        self.bounded = cp.Variable(N, bounds=[self.low, None])
        self.rows = [self.x[i] >= i / 3 for i in range(N)] if in_loops else [self.x >= np.arange(N) / 3]
        self.cost: Any = cp.sum_squares(self.x) + cp.square(self.s - 1) + cp.square(self.y - 5)

    def problem(self) -> cp.Problem:
        """With the values 3.5 for all variables, which no change moves."""
        made = cp.Problem(cp.Minimize(self.cost), self.rows)
        self.put(made)
        return made

    def put(self, problem: cp.Problem) -> None:
        for variable in problem.variables():
            variable.save_value(np.full(variable.shape, 4.5))


Change = Callable[[ChangingModel, cp.Problem], None]
CASES: dict[str, tuple[Callable[[ChangingModel], Any], Change]] = {
    "parameter": (lambda m: m.parameter * m.y, lambda m, _: m.parameter.save_value(3.0)),
    "parameter in a perspective": (lambda m: cp.perspective(cp.square(m.y - m.parameter), m.s), lambda m, _: m.parameter.save_value(3.0)),
    "array in a perspective": (lambda m: cp.perspective(cp.square(m.y - m.number[0]), m.s), lambda m, _: m.number.value.fill(3.0)),
    "M of a Huber function": (lambda m: cp.sum(cp.huber(m.x, m.m)), lambda m, _: m.m.value.fill(2.0)),
    "parameter M": (lambda m: cp.sum(cp.huber(m.x, m.scale)), lambda m, _: m.scale.save_value(2.0)),
    "matrix": (lambda m: cp.sum_squares(m.matrix @ m.x), lambda m, _: m.matrix.value.fill(1.0)),
    "sparse matrix": (lambda m: cp.sum_squares(m.sparse @ m.x), lambda m, _: m.sparse.value.data.fill(7.0)),
    "bounds": (lambda m: cp.sum(m.bounded), lambda m, _: m.bounded.attributes["bounds"][0].fill(4.0)),
    "row that is appended": (lambda m: cp.sum(m.x), lambda m, p: p.constraints.append(cp.sum(m.x) >= 41)),
    "row that is taken away": (lambda m: cp.sum(m.x), lambda m, p: p.constraints.clear()),
    "label": (lambda m: cp.sum(m.x), lambda m, p: p.constraints[0].set_label("first")),
}


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("in_loops", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_change_is_seen(name: str, in_loops: bool, rigorous: bool) -> None:
    """At the same values, bounds after a change are those of a problem that was never certified before."""
    term, change = CASES[name]
    found = []
    for certified_before in (True, False):
        model = ChangingModel(in_loops)
        model.cost = model.cost + term(model)
        problem = model.problem()
        if certified_before:
            simopt.certify(problem, solver=None, rigorous=rigorous)
        change(model, problem)
        model.put(problem)
        found.append(simopt.certify(problem, solver=None, rigorous=rigorous))
    assert (found[0].lower, found[0].upper) == (found[1].lower, found[1].upper)


def test_a_constant_of_an_appended_row_is_seen() -> None:
    """CVXPY lists the constants of a problem once, so that those of later rows are not among them."""
    bounds = []
    for certified_before in (True, False):
        model, row = ChangingModel(True), cp.Constant(np.ones(N))
        problem = model.problem()
        assert problem.constants()
        problem.constraints.append(row @ model.x <= 50)
        if certified_before:
            simopt.certify(problem, solver=None)
        row.value.fill(2.0)
        model.put(problem)
        bounds.append(simopt.certify(problem, solver=None).upper)
    assert bounds[0] == bounds[1]


def test_what_cannot_be_seen_is_not_remembered() -> None:
    """A support function holds its set beside its argument; a large problem would be held in memory."""
    x, u = cp.Variable(2), cp.Variable(2)
    support = cp.transforms.suppfunc(u, [cp.norm(u) <= 1])
    problem = cp.Problem(cp.Minimize(support(x) + cp.sum_squares(x - 1)))
    assert leaves(problem) is None and Declared.of(problem).programme is not Declared.of(problem).programme
    small = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)))
    assert Declared.of(small).programme is Declared.of(small).programme
    large = cp.Problem(cp.Minimize(cp.sum_squares(cp.Variable(LARGEST + 1) - 1)))
    Declared.of(large)
    held = weakref.ref(large)
    del large
    gc.collect()
    assert held() is None


def test_a_copy_is_another_problem() -> None:
    model = ChangingModel(True)
    problem = model.problem()
    first = simopt.certify(problem, solver=None)
    other = copy.deepcopy(problem)
    for variable in other.variables():
        variable.save_value(np.full(variable.shape, 6.0))
    assert simopt.certify(other, solver=None).upper > first.upper
    assert simopt.certify(problem, solver=None).upper == first.upper


@pytest.mark.thorough
def test_threads_certify_problems_of_their_own_parameters() -> None:
    """Four threads, each with its own problem, and one problem in all threads: every bound is that of a single thread."""

    def made(value: float) -> cp.Problem:
        model = ChangingModel(False)
        model.cost = model.cost + model.parameter * model.y
        model.parameter.value = value
        return model.problem()

    def bound(problem: cp.Problem) -> tuple[float, float]:
        found = simopt.certify(problem, solver=None)
        return found.lower, found.upper

    problems = [made(float(value)) for value in range(4)]
    alone = [as_written.certify(each, None, None, FLOAT, None, 1e-8) for each in map(made, map(float, range(4)))]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(bound, problems * 5))
        shared = list(pool.map(bound, [problems[2]] * 12))
    assert found == [(each.lower, each.upper) for each in alone] * 5
    assert set(shared) == {(alone[2].lower, alone[2].upper)}
