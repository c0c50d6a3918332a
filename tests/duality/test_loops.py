"""Problems that were written in loops: the joined problem is the same one, and its bounds are those of the problem as written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from cvxpy.transforms.indicator import indicator

import simopt
from simopt.arithmetic import FLOAT, INTERVAL
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.reading.loops import FEWEST, joined
from simopt.solving import as_written

N = FEWEST + 3


def draws(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def steps() -> cp.Problem:
    """Dynamics, with the first state given and bounded inputs."""
    rng = draws(0)
    step, push = rng.normal(size=(2, 2)) / 2, rng.normal(size=(2, 1))
    x, u = [cp.Variable(2) for _ in range(N + 1)], [cp.Variable(1) for _ in range(N)]
    rows = [x[0] == [1.0, -2.0]]
    for now, then, push_now in zip(x[:-1], x[1:], u, strict=True):
        rows += [then == step @ now + push @ push_now, cp.abs(push_now) <= 1]
    return cp.Problem(cp.Minimize(sum(map(cp.sum_squares, x)) + 0.1 * sum(map(cp.norm1, u))), rows)


def indexed() -> cp.Problem:
    """The same kind in one variable, entry by entry."""
    x, price = cp.Variable(N + 1), draws(1).random(N + 1)
    rows = [x[t + 1] >= 0.5 * x[t] + 0.1 for t in range(N)] + [x[0] >= 1]
    return cp.Problem(cp.Minimize(sum(price[t] * x[t] for t in range(N + 1))), rows)


def cones() -> cp.Problem:
    """A robust linear programme: norms that are the same, and norms that are not."""
    rng, x = draws(2), cp.Variable(4)
    same = [row @ x + 0.1 * cp.norm(x) <= 5 for row in 0.2 + rng.random((N, 4))]
    apart = [cp.norm(part @ x + shift) <= 9 for part, shift in zip(rng.normal(size=(N, 3, 4)), rng.normal(size=(N, 3)), strict=True)]
    return cp.Problem(cp.Maximize(rng.random(4) @ x), [*same, *apart, x >= -10])


def ball() -> cp.Problem:
    """The largest ellipse within halfplanes: a matrix between constants that differ."""
    a, b, points = cp.Variable((2, 2), symmetric=True), cp.Variable(2), draws(3).normal(size=(N, 2))
    return cp.Problem(cp.Minimize(-cp.log_det(a)), [cp.norm(a @ point + b) <= 1 for point in points])


def hinges() -> cp.Problem:
    """A support vector machine, sample by sample."""
    rng, w, b = draws(4), cp.Variable(3), cp.Variable()
    labels = rng.choice([-1.0, 1.0], N)
    loss = sum(cp.pos(1 - y * (row @ w + b)) for y, row in zip(labels, rng.normal(size=(N, 3)), strict=True))
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + loss))


def scalars() -> cp.Problem:
    """Many variables of one entry, nonnegative, with logarithms, largest entries and one sum over all."""
    rng = draws(5)
    x, t = [cp.Variable(nonneg=True) for _ in range(N)], [cp.Variable(pos=True) for _ in range(N)]
    rows = [cp.maximum(2 * a, 0.3) <= b for a, b in zip(x, t, strict=True)] + [sum(t) <= 9, sum(x) >= 1]
    return cp.Problem(cp.Maximize(sum(weight * cp.log(a) for weight, a in zip(rng.random(N) + 0.1, x, strict=True))), rows)


def products() -> cp.Problem:
    """Matrices that differ times vectors that differ, sparse ones, and stacked entries."""
    rng = draws(6)
    x = [cp.Variable(3) for _ in range(N)]
    rows = [part @ each == 1.0 for part, each in zip(rng.normal(size=(N, 2, 3)), x, strict=True)]
    rows += [sp.csr_array(np.diag(rng.random(3))) @ each >= -2 for each in x]
    rows += [cp.hstack([each[0], each[2]]) <= 4.0 + k for k, each in enumerate(x)]
    return cp.Problem(
        cp.Minimize(sum(cp.sum_squares(each - rng.normal(size=3)) for each in x) + sum(cp.norm_inf(each) for each in x)), rows
    )


def several_columns() -> cp.Problem:
    """Matrices as variables, from both sides, and sums along nothing."""
    rng, x = draws(7), [cp.Variable((2, 3)) for _ in range(N)]
    left = rng.normal(size=(2, 2))
    rows = [left @ each <= 3 + k for k, each in enumerate(x)] + [each @ rng.normal(size=3) >= -4 for each in x]
    rows += [cp.sum(each) == 1 for each in x]
    return cp.Problem(
        cp.Minimize(sum(cp.sum(cp.abs(each)) for each in x) + sum(cp.sum_squares(cp.vec(each, order="F")) for each in x)), rows
    )


MODELS: dict[str, Callable[[], cp.Problem]] = {
    each.__name__: each for each in (steps, indexed, cones, ball, hinges, scalars, products, several_columns)
}


@pytest.mark.parametrize("name", MODELS)
def test_the_joined_problem_has_the_same_values(name: str) -> None:
    """At any values of the variables: objective, all violations of rows, and the multipliers, entry by entry."""
    problem, rng = MODELS[name](), draws(11)
    problem.solve(solver=cp.CLARABEL)
    form = joined(problem)
    assert form is not None and len(form.problem.constraints) < max(len(problem.constraints), 1) + (not problem.constraints)
    for turn in range(3):
        for v in problem.variables() if turn else ():
            noise = rng.random(v.shape)
            v.value = noise + noise.T if v.attributes["symmetric"] else noise
        form.take_values()
        assert form.problem.objective.value == pytest.approx(problem.objective.value, rel=1e-12)
        for row in form.rows:
            ours = np.asarray(row.constraint.expr.value, dtype=float).reshape(-1, order="F")
            theirs = np.concatenate([np.asarray(each.expr.value, dtype=float).reshape(-1, order="F") for each in row.members])
            assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
            duals = np.concatenate([np.asarray(each.dual_value, dtype=float).reshape(-1, order="F") for each in row.members])
            assert np.array_equal(np.asarray(row.constraint.dual_value).reshape(-1, order="F"), duals)
    taken = [member for row in form.rows for member in row.members]
    assert sorted(id(each) for each in taken) == sorted(id(each) for each in problem.constraints)
    assert not any(each.label for each in problem.constraints)


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_its_bounds_are_those_of_the_problem_as_written(name: str, rigorous: bool) -> None:
    problem = MODELS[name]()
    problem.solve(solver=cp.CLARABEL)
    before = [np.array(v.value) for v in problem.variables()]
    plain = as_written.certify(problem, None, None, INTERVAL if rigorous else FLOAT, "clarabel", 1e-8)
    found = simopt.certify(problem, rigorous=rigorous)
    assert found.closes(1e-8) and plain.closes(1e-8)
    size = max(abs(plain.lower), abs(plain.upper))
    assert found.lower <= plain.upper + 1e-12 * size and plain.lower <= found.upper + 1e-12 * size
    assert max(abs(found.lower - plain.lower), abs(found.upper - plain.upper)) <= 1e-8 * size
    assert all(np.array_equal(v.value, value) for v, value in zip(problem.variables(), before, strict=True))


def test_what_is_written_once_stays_and_parameters_and_labels_do() -> None:
    x = cp.Variable(N)
    assert joined(cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= 1])) is None
    rows = [x[i] >= i for i in range(N)]
    assert joined(cp.Problem(cp.Minimize(cp.sum(x)), rows)) is not None
    p = cp.Parameter(value=1.0)
    assert joined(cp.Problem(cp.Minimize(cp.sum(x)), [*rows, x[0] <= p])) is None
    assert joined(cp.Problem(cp.Minimize(cp.sum(x)), [*rows, (x[0] <= 9).set_label("last")])) is None
    different = [cp.sum_largest(x, k) <= 99 for k in range(1, N)]
    assert joined(cp.Problem(cp.Minimize(cp.sum(x)), [*different, x >= 1])) is None


def _huber(x: cp.Variable) -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum_squares(x - 5) + sum(cp.huber(x[0], (k + 1) / 5) for k in range(N))))


def _huber_rows(x: cp.Variable) -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum_squares(x - 5)), [cp.huber(x[0], (k + 1) / 5) <= 1.3 + k / 100 for k in range(N)])


def _powers(x: cp.Variable) -> cp.Problem:
    """Exponents that are constants of CVXPY's."""
    return cp.Problem(cp.Minimize(cp.sum_squares(x - 5) + sum(cp.power(x[k % 3], cp.Constant(2 + k % 3)) for k in range(N))))


def _perspectives(x: cp.Variable) -> cp.Problem:
    """Functions of the same variables that differ in what is no argument."""
    t = cp.Variable(nonneg=True)
    y = cp.Variable()
    rows = [cp.perspective(cp.square(y - k), t) <= 100 - k for k in range(N)]
    return cp.Problem(cp.Minimize(cp.square(y + 3) + cp.square(t - 1) + cp.sum_squares(x)), rows)


def _long_indices(x: cp.Variable) -> cp.Problem:
    """Indices of so many entries that their text is cut; x has three entries."""
    rows = []
    for k in range(N):
        entries = np.zeros(1001, dtype=int)
        entries[500] = k % 3
        rows.append(x[entries] >= k / 10.0)
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), rows)


@pytest.mark.parametrize("make", [_huber, _huber_rows, _powers, _perspectives, _long_indices])
def test_functions_are_the_same_only_if_all_that_they_are_made_of_is(make: Callable[[cp.Variable], cp.Problem]) -> None:
    """Each of these was once taken for N times its first one, and had bounds that do not hold."""
    problem, rng = make(cp.Variable(3)), draws(13)
    form = joined(problem)
    for _ in range(3 if form is not None else 0):
        for v in problem.variables():
            v.value = 3 * rng.random(v.shape)
        assert form is not None
        form.take_values()
        assert form.problem.objective.value == pytest.approx(problem.objective.value, rel=1e-12)
        for row in form.rows:
            ours = np.asarray(row.constraint.expr.value, dtype=float).reshape(-1, order="F")
            theirs = np.concatenate([np.asarray(each.expr.value, dtype=float).reshape(-1, order="F") for each in row.members])
            assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
    plain = as_written.certify(problem, None, None, INTERVAL, "clarabel", 1e-6)
    found = simopt.certify(problem, rigorous=True, tol=1e-6)
    assert found.lower <= plain.upper and plain.lower <= found.upper


def test_rows_have_the_numbers_of_the_problem_as_written() -> None:
    x = [cp.Variable() for _ in range(N)]
    rows = [x[0] + x[1] <= 7, *(cp.exp(each) <= 9 + k for k, each in enumerate(x)), cp.bmat([[x[0], 1.0], [1.0, x[1]]]) >> 0]
    form = joined(cp.Problem(cp.Minimize(sum(map(cp.square, x))), rows))
    assert form is not None
    assert [each.label for each in form.problem.constraints] == [f"row 1 and {N - 1} more", "row 0", f"row {N + 1}"]


def test_what_is_made_of_more_than_arguments_stays_as_written() -> None:
    """CVXPY cannot make a perspective of other variables, nor an indicator."""
    t, y = [cp.Variable(nonneg=True) for _ in range(N)], [cp.Variable(2) for _ in range(N)]
    cost = sum(cp.perspective(cp.sum_squares(each - 1), scale) for each, scale in zip(y, t, strict=True))
    problem = cp.Problem(cp.Minimize(cost + sum(t)), [cp.sum(each) >= k for k, each in enumerate(y)] + [scale >= 1 for scale in t])
    assert joined(problem) is None
    problem = cp.Problem(cp.Minimize(indicator([t[0] >= 2]) + sum(t)), [scale >= 1 for scale in t])
    assert joined(problem) is None
    assert simopt.certify(problem).upper == pytest.approx(N + 1.0)


def test_an_infeasible_loop_is_told_and_an_error_names_what_the_user_wrote() -> None:
    x = [cp.Variable() for _ in range(N)]
    found = simopt.certify(cp.Problem(cp.Minimize(sum(map(cp.abs, x))), [*(each >= 2 for each in x), sum(x) <= 1]))
    assert found.infeasible
    problem = cp.Problem(cp.Minimize(sum(map(cp.sqrt, x))), [each >= 2 for each in x])
    with pytest.raises(Unreadable, match="sqrt|power|Power"):
        simopt.certify(problem)
    problem = cp.Problem(cp.Minimize(sum(map(cp.abs, x))), [each >= 2 for each in x])
    with pytest.raises(InvalidProblem, match=f"variable {x[0].name()}: it has no value"):
        simopt.certify(problem, solver=None)


def random_loops(rng: np.random.Generator) -> cp.Problem:
    """Rows and terms of random kinds over shared and own variables, whole numbers as data, so that much is degenerate."""
    n, k = int(rng.integers(1, 4)), int(rng.integers(FEWEST, FEWEST + 4))
    shared, own = cp.Variable(n), [cp.Variable(n) for _ in range(k)]

    def numbers(*shape: int) -> Any:
        return rng.integers(-2, 3, shape) / 2.0

    kinds: list[Callable[[int], Any]] = [
        lambda i: numbers(n) @ own[i] + numbers(n) @ shared <= 2 + float(rng.integers(0, 3)),
        lambda i: own[i] == numbers(n, n) @ own[i - 1] + numbers(n) if i else own[0] == numbers(n),
        lambda i: cp.norm(own[i] - numbers(n)) <= 3 + float(rng.integers(0, 2)),
        lambda i: cp.abs(own[i] - shared) <= 4,
        lambda i: own[i][0] - own[(i + 1) % k][n - 1] <= 1,
        lambda i: cp.max(own[i]) + cp.norm1(shared) <= 6,
    ]
    chosen = rng.choice(len(kinds), int(rng.integers(1, 4)), replace=False)
    terms: list[Callable[[int], Any]] = [
        lambda i: cp.sum_squares(own[i] - numbers(n)),
        lambda i: float(rng.integers(1, 4)) * cp.norm1(own[i] - shared),
        lambda i: cp.pos(numbers(n) @ own[i] + 1),
    ]
    some = rng.choice(len(terms), int(rng.integers(1, 3)), replace=False)
    cost = sum(terms[j](i) for j in some for i in range(k)) + cp.sum_squares(shared) + 0.01 * sum(map(cp.sum_squares, own))
    return cp.Problem(cp.Minimize(cost), [kinds[j](i) for j in chosen for i in range(k)])


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(6, 60))])
def test_random_loops_have_bounds_that_agree_and_none_is_lost(seed: int) -> None:
    """Bounds of the joined problem and of the one as written enclose one optimum; where one is finite so is what `certify` says."""
    problem = random_loops(draws(1000 + seed))
    try:
        problem.solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return
    plain = as_written.certify(problem, None, None, INTERVAL, "clarabel", 1e-8)
    found = simopt.certify(problem, rigorous=True)
    assert found.lower <= plain.upper and plain.lower <= found.upper
    assert math.isfinite(found.lower) or not math.isfinite(plain.lower) or found.infeasible
    assert math.isfinite(found.upper) or not math.isfinite(plain.upper)
    assert found.closes(1e-6) or not plain.closes(1e-6)
