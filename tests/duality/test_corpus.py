"""The corpus of CVXPY's own problems: the list is whole, the same problems come again, and what does not come is named."""

import re
from collections.abc import Callable
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from corpus import LIST, CorpusChanged, Entry, entries, problems, wanted
from documented import MODELS, models
from fingerprint import fingerprint
from intercept import intercepted
from white_list import refusals

ANSWERS = {"optimal", "optimal_inaccurate", "infeasible", "infeasible_inaccurate", "unbounded", "unbounded_inaccurate"}


def spread(count: int) -> list[Entry]:
    """Lines from the first to the last, equally far apart."""
    every = entries()
    return [every[place] for place in np.linspace(0, len(every) - 1, count).astype(int)]


def test_the_list_is_well_formed() -> None:
    every = entries()
    assert len(every) >= 300
    assert len({entry.id for entry in every}) == len({entry.fingerprint for entry in every}) == len(every)
    for entry in every:
        assert re.fullmatch(r"[\w/]+\.py::.+#\d+", entry.id)
        assert re.fullmatch(r"[0-9a-f]{16}", entry.fingerprint)
        assert entry.variables > 0
        assert entry.rows >= 0
        assert (entry.optimum is not None) == (entry.status in ("optimal", "optimal_inaccurate"))
        assert entry.status in ANSWERS or entry.status.endswith(("Error", "Exception"))


def test_the_page_is_of_this_list() -> None:
    text = LIST.with_name("README.md").read_text(encoding="utf-8")
    every = entries()
    assert f"{len(every)} distinct continuous DCP problems" in text
    assert f"| {len(every)} | **in the list** |" in text
    for status in {entry.status for entry in every}:
        assert f"| {status} | {sum(entry.status == status for entry in every)} |" in text


def test_the_same_problems_come_again_and_others_are_named() -> None:
    dozen = spread(12)
    forged = replace(spread(3)[1], fingerprint="0" * 16)
    missing = replace(dozen[0], id=f"{dozen[0].test}#999")
    honest = [entry for entry in dozen if entry.id != forged.id]
    seen = {}
    with pytest.raises(CorpusChanged) as caught:
        for name, problem in problems([*honest, forged, missing]):
            seen[name] = (sum(variable.size for variable in problem.variables()), sum(row.size for row in problem.constraints))
            assert all(variable.value_sparse is None for variable in problem.variables() if variable.sparse_idx is not None)
            assert all(variable.value is None for variable in problem.variables() if variable.sparse_idx is None)
    assert seen == {entry.id: (entry.variables, entry.rows) for entry in honest}
    assert str(caught.value).splitlines()[1:] == [
        f"{forged.id}: other numbers or another structure",
        f"{missing.id}: never solved",
    ]


@pytest.mark.slow
def test_a_reader_may_stop_early() -> None:
    assert next(problems(spread(2)))[0] == entries()[0].id
    assert list(problems([])) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # CVXPY's, about powers that it approximates
def test_every_problem_comes_again_with_the_answer_of_the_list() -> None:
    listed = {entry.id: entry for entry in entries()}
    other = []
    for name, problem in problems():
        entry = listed.pop(name)
        if entry.status not in ANSWERS:
            continue  # CLARABEL fails on it
        problem.solve(solver="CLARABEL")
        value = None if entry.optimum is None else problem.value
        if problem.status != entry.status or (value is not None and abs(value - entry.optimum) > 1e-5 * (1 + abs(entry.optimum))):
            other.append(f"{name}: {problem.status} {problem.value}, not {entry.status} {entry.optimum}")
    assert not listed
    assert not other, "\n".join(other)


@pytest.mark.slow
def test_no_problem_is_made_of_an_answer() -> None:
    listed = {entry.id: entry.fingerprint for entry in entries()}
    came = {each.id: fingerprint(each.problem()) for each in intercepted(wanted(entries()), moved=True)}
    assert len(came) > 0.9 * len(listed)  # some tests notice that an answer was moved, and end
    assert [name for name in came if came[name] != listed[name]] == []


def program(scale: float = 1.0, **attributes: object) -> cp.Problem:
    x, y = cp.Variable(2, **attributes), cp.Variable()
    bound = cp.Parameter(nonneg=True, value=3.0 * scale)
    return cp.Problem(cp.Minimize(cp.norm(x) + y), [x[0] >= 1, y >= -bound, cp.sum(np.array([[1.0, 2.0], [0.0, 1e-3]]) @ x) == 3])


def test_a_fingerprint_is_of_structure_and_numbers_alone() -> None:
    once = fingerprint(program())
    assert fingerprint(program()) == once  # other variables
    assert fingerprint(program(1 + 1e-15)) == once  # other last bits
    assert fingerprint(program(1 + 1e-7)) != once
    assert fingerprint(program(nonneg=True)) != once
    assert fingerprint(program(bounds=[0, 1])) != fingerprint(program(bounds=[0, 2]))
    x = cp.Variable(2)
    square, cube = (cp.Problem(cp.Minimize(cp.sum(cp.power(cp.pos(x), p)))) for p in (2, 3))
    assert fingerprint(square) != fingerprint(cube)
    first, second = (cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [x[i] >= 0]) for i in range(2))
    assert fingerprint(first) != fingerprint(second)
    y, z = cp.Variable(), cp.Variable()
    same, other = (cp.Problem(cp.Minimize(y + 1), [y >= 1, w >= 2]) for w in (y, z))
    assert fingerprint(same) != fingerprint(other)  # which variable it is counts


X = cp.Variable(3)
M = cp.Variable((3, 3))


@pytest.mark.parametrize(
    ("make", "reasons"),
    [
        (lambda: cp.Problem(cp.Minimize(cp.norm(X) + cp.sum_squares(M) + cp.max(X) + cp.sum(cp.huber(X))), [cp.norm1(X) <= 1]), []),
        (lambda: cp.Problem(cp.Minimize(cp.pnorm(X, 3)), [cp.geo_mean(X) >= 1]), ["geo_mean", "p-norm, p > 1"]),
        (lambda: cp.Problem(cp.Minimize(cp.sum(cp.max(M, axis=1) + cp.power(X, -1)))), ["max, by axis", "power, p < 0"]),
        (lambda: cp.Problem(cp.Minimize(cp.quad_over_lin(X, X[0]))), ["quad_over_lin, denominator no constant"]),
        (lambda: cp.Problem(cp.Minimize(cp.trace(cp.Variable((2, 2), symmetric=True))), [M >> 0]), ["row PSD", "variable symmetric"]),
        (lambda: cp.Problem(cp.Minimize(cp.lambda_max(M) + cp.sum(cp.Variable(2, bounds=[0, 1])))), ["lambda_max"]),
        (lambda: cp.Problem(cp.Minimize(0), [cp.ExpCone(X[0], X[1], X[2])]), ["row ExpCone"]),
    ],
)
def test_what_the_white_list_refuses_is_named(make: Callable[[], cp.Problem], reasons: list[str]) -> None:
    assert refusals(make()) == reasons


def test_every_model_of_the_documentation_has_an_optimum() -> None:
    assert len(MODELS) >= 25
    for name, problem in models():
        problem.solve(solver="CLARABEL")
        assert problem.status == cp.OPTIMAL, name
        assert abs(problem.value) > 1e-3, name  # else "relative to the optimum" says nothing
    assert MODELS.keys() >= {
        *("portfolio", "group lasso", "quantile regression", "logistic regression", "optimal control", "robust Kalman filter"),
        *("maximum entropy", "nu svm", "total variation", "Chebyshev centre"),
    }
