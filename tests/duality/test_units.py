"""Units: graph forms in any of them have the optimum and the multipliers of the original; solved ones close at any size of the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import INTERVAL
from simopt.duality import Declared, GraphForm, graph_form, solved
from simopt.duality.units.units import RAW, Sizes, equilibrated, maps, natural_size

N, D = 40, 4
rng = np.random.default_rng(0)
X = rng.normal(size=(N, D))
Y = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.standard_t(3, size=N)
LABELS, FACTORS = np.sign(Y), np.sort(X[:, 0])
Model = Callable[[float, float], cp.Problem]


def w(n: int = D, **attributes: Any) -> cp.Variable:
    return cp.Variable(n, name="w", **attributes)


def ridge(s: float, k: float) -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum_squares(k * X @ x - s * Y) / N + 0.1 * k**2 * cp.sum_squares(x)))


def huber(s: float, k: float) -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(k * X @ x - s * Y, 0.2 * s)) / N + 0.1 * k**2 * cp.sum_squares(x)))


def svr(s: float, k: float) -> cp.Problem:
    x = w()
    loss = cp.sum(cp.pos(cp.abs(k * X @ x - s * Y) - 0.1 * s)) / N
    return cp.Problem(cp.Minimize(loss + 0.1 * k**2 / s * cp.sum_squares(x)))


def ball(s: float, k: float) -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum(cp.pos(cp.abs(k * X @ x - s * Y) - 0.1 * s)) / N), [cp.norm(x, 2) <= s / k])


def isotonic(s: float, k: float) -> cp.Problem:
    z = cp.Variable(N, name="w")
    steps = k * np.diff(FACTORS)
    return cp.Problem(cp.Minimize(cp.sum_squares(z - s * Y)), [z[1:] - z[:-1] >= 0, z[1:] - z[:-1] <= 2 * s / k * steps])


def lasso(s: float, k: float) -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum_squares(k * X @ x - s * Y) / N + 0.5 * s * k * cp.norm1(x)))


def hinge(s: float, k: float) -> cp.Problem:
    x, b = w(), cp.Variable(name="b")
    loss = cp.sum(cp.pos(1 - cp.multiply(LABELS, k * X @ x + b))) / N
    return cp.Problem(cp.Minimize(loss + 0.1 * k**2 * cp.sum_squares(x)))


UNITS = {hinge: lambda s, k: 1 / k, isotonic: lambda s, k: s}  # of w; of the others s/k
SIZES = [(1e-9, 1.0), (1e9, 1e-9), (1e-9, 1e6), (1.0, 1e9)]


@pytest.mark.parametrize(("s", "k"), SIZES)
@pytest.mark.parametrize("model", [ridge, huber, svr, ball, isotonic])
def test_the_certificate_closes_whatever_the_units_of_targets_and_features(model: Model, s: float, k: float) -> None:
    declared = Declared.of(model(s, k))
    point, multipliers = solved(declared)
    assert simopt.certify(declared, point, multipliers).closes(1e-8)
    assert simopt.certify(declared, point, multipliers, INTERVAL).closes(1e-6)


@pytest.mark.parametrize(("s", "k"), SIZES)
@pytest.mark.parametrize("model", [lasso, hinge])
def test_candidates_are_as_accurate_in_any_units(model: Model, s: float, k: float) -> None:
    unit = UNITS.get(model, lambda s, k: s / k)(s, k)
    one, other = (Declared.of(model(*units)) for units in ((1.0, 1.0), (s, k)))
    here, there = solved(one)[0]["w"], solved(other)[0]["w"]
    assert np.max(np.abs(there / unit - here)) <= 1e-7 * np.max(np.abs(here))


def exotic() -> dict[str, cp.Problem]:
    """All ways in which a unit goes through a graph: bounds, several arguments, minima, concave arguments, nesting, powers, slacks."""
    x, t, p = w(), cp.Variable(N, name="t"), cp.Variable(D, name="p", bounds=[0.1, 3.0])
    square = 0.3 * cp.sum_squares(x)
    r = X @ x - Y
    P = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.3
    return {
        "several arguments": cp.Problem(cp.Minimize(cp.sum(cp.maximum(0.3 * r, -0.7 * r, cp.square(r) - 5)) + square)),
        "a minimum": cp.Problem(cp.Maximize(cp.sum(cp.minimum(r, 0.2 - r, 1.0)) + cp.min(r) - square)),
        "slacks": cp.Problem(cp.Minimize(cp.sum(t) + square), [t >= r, t >= -2 * r, t >= 0.1]),
        "a threshold": cp.Problem(cp.Minimize(cp.sum(cp.huber(r, 0.4)) + square)),
        "a form": cp.Problem(cp.Minimize(cp.quad_form(x, P) + cp.norm1(r))),
        "powers": cp.Problem(cp.Minimize(cp.sum(cp.power(cp.abs(r), 1.5)) + cp.power(cp.norm(x, 2), 3))),
        "a concave argument": cp.Problem(cp.Minimize(-cp.sum(cp.log(cp.minimum(p, 2.0 - 0.1 * p))) + cp.sum_squares(p))),
        "no degree": cp.Problem(cp.Minimize(cp.sum(cp.logistic(r)) + cp.log_sum_exp(3 * x) + square)),
        "largest": cp.Problem(cp.Minimize(cp.sum_largest(r, 3) + cp.norm_inf(r) + square)),
        "signs": cp.Problem(cp.Minimize(cp.sum_squares(X @ (v := w(nonneg=True)) - Y) + cp.sum_squares(v)), [v <= 0.7]),
    }


def gaps(declared: Declared, sizes: Sizes) -> tuple[float, float]:
    point, multipliers = graph_form.one_solve(GraphForm(declared, sizes), "CLARABEL", {})
    found = simopt.certify(declared, point, multipliers)
    return found.upper, found.relative_gap


@pytest.mark.parametrize("name", exotic())
def test_any_powers_of_two_give_the_same_optimum_and_multipliers_that_close(name: str) -> None:
    declared = Declared.of(exotic()[name])
    value, gap = gaps(declared, RAW)
    assert gap <= 1e-7
    chance = np.random.default_rng(1)
    keys = [*declared.programme.leaves, *(node.key for node in declared.programme.nodes)]
    any_values = {key: float(2.0 ** chance.integers(-3, 4)) for key in keys}
    any_maps = {key: float(2.0 ** chance.integers(-3, 4)) for key, _ in maps(declared.programme)}
    for sizes in (Sizes(any_values, any_maps, 8.0), equilibrated(declared.programme)):
        again, gap = gaps(declared, sizes)
        assert gap <= 1e-7 and again == pytest.approx(value, rel=1e-6)


def test_units_are_powers_of_two_that_follow_the_data() -> None:
    sizes = equilibrated(Declared.of(huber(2.0**40, 2.0**-20)).programme)
    plain = equilibrated(Declared.of(huber(1.0, 1.0)).programme)
    assert all(math.frexp(unit)[0] == 0.5 for unit in (*sizes.values.values(), *sizes.maps.values(), sizes.objective))
    assert sizes.objective == 2.0**80 * plain.objective
    (leaf,) = Declared.of(huber(1.0, 1.0)).programme.leaves
    assert sizes.values[leaf] == 2.0**60 * plain.values[leaf]


def test_the_better_of_both_forms_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units that spoil the form: what was declared is solved, too."""
    declared = Declared.of(svr(1.0, 1.0))
    spoiled = Sizes({key: 1e-150 for key in declared.programme.leaves}, {}, 1e150)
    monkeypatch.setattr(graph_form, "equilibrated", lambda programme: spoiled)
    assert simopt.certify(declared, *solved(declared)).closes(1e-8)


class Panic(BaseException):
    """What a back end raises that is written in another language."""


def test_what_a_back_end_raises_in_one_form_leaves_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    declared, solve, calls = Declared.of(svr(1.0, 1.0)), cp.Problem.solve, []

    def panic(problem: cp.Problem, *args: Any, **options: Any) -> Any:
        calls.append(problem)
        if len(calls) == 1:
            raise Panic
        return solve(problem, *args, **options)

    monkeypatch.setattr(cp.Problem, "solve", panic)
    assert simopt.certify(declared, *solved(declared)).closes(1e-8) and len(calls) == 2
    calls.clear()
    monkeypatch.setattr(cp.Problem, "solve", lambda problem, **options: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        solved(declared)


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize(("s", "k"), SIZES)
def test_back_ends_are_given_these_units(solver: str, s: float, k: float) -> None:
    solution = simopt.solve(Declared.of(huber(s, k)), solver, rigorous=True)
    assert solution.optimal


def test_variables_that_other_units_would_change_keep_their_own() -> None:
    """In a perspective, which is written as it is, and of a structure or with bounds that are expressions."""
    v, t = cp.Variable(2, name="v"), cp.Variable(nonneg=True, name="t")
    diagonal, below = (
        cp.Variable((2, 2), name="diagonal", diag=True),
        cp.Variable(2, name="below", bounds=[None, 10.0 * cp.Constant([1.0, 2.0])]),
    )
    parts = [cp.perspective(cp.sum_squares(v), t), cp.sum_squares(diagonal - 1000.0 * np.eye(2)), cp.sum_squares(below - 1e4)]
    declared = Declared.of(cp.Problem(cp.Minimize(sum(parts) + cp.square(t - 1000.0)), [v >= 1.0]))
    form = GraphForm(declared, equilibrated(declared.programme))
    names = {leaf.name: leaf.variable.id for leaf in declared.programme.leaves.values()}
    assert not {names["v"], names["t"], names["diagonal"], names["below"]} & set(form.measured.own)


def test_a_scale_is_found_where_the_trivial_point_says_nothing() -> None:
    """min −⟨μ, x⟩ over x ≥ 0, Σx ≤ 1: nothing at 0, where no multiplier bounds it."""
    means = np.array([3.0, 1.0, 2.0])

    def invest(s: float) -> Declared:
        x = cp.Variable(3, name="x", nonneg=True)
        return Declared.of(cp.Problem(cp.Maximize(s * means @ x), [cp.sum(x) <= 5.0]))

    assert invest(1.0).scale() == natural_size(invest(1.0).programme)
    assert 1.0 < invest(1.0).scale() < 100.0
    assert invest(2.0**30).scale() == pytest.approx(2.0**30 * invest(1.0).scale(), rel=1e-12)
    zero = cp.Variable(2, name="x")
    assert Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(zero)))).scale() == 0.0  # 0 is optimal: there is no other unit
