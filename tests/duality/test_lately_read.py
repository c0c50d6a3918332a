"""A problem that was read is remembered, and whatever changes in it is seen."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.duality import Declared
from simopt.duality.graph.programme import Programme
from simopt.duality.reading import lately_read
from simopt.duality.reading.loops import FEWEST

A = np.array([[1.0, 2.0, 0.5], [0.5, -1.0, 1.0]])


def problem_of(matrix: Any, level: Any, box: Any = None, size: float = 1.0) -> cp.Problem:
    x = cp.Variable(3, bounds=box)
    return cp.Problem(cp.Minimize(cp.sum_squares(matrix @ x - 1) + size * cp.norm1(x)), [cp.sum(x) >= level])


def graph(problem: cp.Problem) -> Programme:
    return Declared.of(problem).programme


def bounds_of(problem: cp.Problem) -> tuple[float, float]:
    problem.solve(solver=cp.CLARABEL)
    found = simopt.certify(problem)
    assert found.closes(1e-7)
    return found.lower, found.upper


def test_it_is_read_once() -> None:
    problem = problem_of(A, 1.0)
    assert graph(problem) is graph(problem)
    assert graph(problem_of(A, 1.0)) is not graph(problem)


def test_the_last_ones_are_remembered_and_no_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    first = problem_of(A, 1.0)
    known = graph(first)
    others = [graph(problem_of(A, 1.0)) for _ in range(lately_read.MOST - 1)]
    assert graph(first) is known and len({id(each) for each in others}) == len(others)
    for _ in range(lately_read.MOST):
        graph(problem_of(A, 1.0))
    assert graph(first) is not known
    monkeypatch.setattr(lately_read, "LARGEST", 6)
    second = problem_of(A, 1.0)
    assert graph(second) is not graph(second)


def test_numbers_that_are_written_on_are_seen() -> None:
    """Constants of CVXPY are copies of what the user gave; whoever writes on these gets bounds of the new numbers."""
    matrix = cp.Constant(A.copy())
    problem = problem_of(matrix, 1.0)
    before = bounds_of(problem)
    matrix.value[0, 0] = 4.0
    changed = A.copy()
    changed[0, 0] = 4.0
    after = bounds_of(problem_of(changed, 1.0))
    declared = Declared.of(problem)
    x = {declared.programme.leaves[key].name: np.array([1.0, 0.0, 0.0]) for key in declared.programme.leaves}
    fresh = Declared.of(problem_of(changed, 1.0))
    point = dict(zip(fresh.point_shapes(), x.values(), strict=True))
    assert declared.objective(x) == fresh.objective(point) != problem_of(A, 1.0)
    assert abs(before[0] - after[0]) > 1e-3


def test_parameters_and_bounds_are_seen() -> None:
    level, low = cp.Parameter(value=1.0), np.array([-1.0, -1.0, -1.0])
    problem = problem_of(A, level, [low, np.full(3, 2.0)])
    for number in (1.0, 2.0, 0.5, 1.0):
        level.value = number
        ours, fresh = bounds_of(problem), bounds_of(problem_of(A, number, [low.copy(), np.full(3, 2.0)]))
        assert ours == pytest.approx(fresh, rel=1e-6)
    low[:] = 0.4
    assert bounds_of(problem) == pytest.approx(bounds_of(problem_of(A, 1.0, [np.full(3, 0.4), np.full(3, 2.0)])), rel=1e-6)


def test_the_sign_of_a_cost_decides_anew_what_is_an_epigraph() -> None:
    """min p t with x ≤ t ≤ 2: with p > 0 it is the maximum below it, with p < 0 it is its bound."""
    p, x, t = cp.Parameter(value=1.0), cp.Variable(), cp.Variable()
    problem = cp.Problem(cp.Minimize(p * t), [t >= x, x >= 1, t <= 2])
    for sign, optimum in ((1.0, 1.0), (-1.0, -2.0), (1.0, 1.0)):
        p.value = sign
        problem.solve(solver=cp.CLARABEL)
        found = simopt.certify(problem)
        assert found.lower == pytest.approx(optimum) == found.upper and found.closes(1e-8)


def test_labels_are_seen() -> None:
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(cp.square(x)), [x >= 1])
    declared = Declared.of(problem)
    problem.constraints[0].set_label("low")
    named = Declared.of(problem)
    assert named.programme is not declared.programme and "low" in named.names and "low" not in declared.names


def test_values_of_a_loop_are_read_each_time() -> None:
    """The joined problem is remembered, and takes the values that the problem holds."""
    x = [cp.Variable() for _ in range(FEWEST)]
    problem = cp.Problem(cp.Minimize(sum(cp.square(each - i) for i, each in enumerate(x))), [each <= 3 for each in x])
    problem.solve(solver=cp.CLARABEL)
    assert simopt.certify(problem, solver=None).closes(1e-6)
    for each in x:
        each.value = 0.0
    found = simopt.certify(problem, solver=None)
    assert found.upper == pytest.approx(sum(i**2 for i in range(FEWEST)))
