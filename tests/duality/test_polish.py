"""Multipliers for a point that a solver found: slopes at kinks, without another solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT
from simopt.certificates.assessment import judge
from simopt.duality import Declared
from simopt.duality.evaluation.backward import backward

RNG = np.random.default_rng(7)
ROWS = RNG.normal(size=(120, 6))
LABELS = np.where(ROWS[:, 0] + 0.5 * RNG.normal(size=120) > 0, 1.0, -1.0)
TARGETS = ROWS @ np.arange(6.0) + RNG.standard_t(3, size=120)


def hinge() -> cp.Problem:
    w, b = cp.Variable(6, name="w"), cp.Variable(name="b")
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.1 * cp.sum(cp.pos(1 - cp.multiply(LABELS, ROWS @ w + b)))))


def quantile() -> cp.Problem:
    w = cp.Variable(6, name="w")
    r = TARGETS - ROWS @ w
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(0.9 * r, -0.1 * r)) / 120 + 1e-3 * cp.sum_squares(w)))


def fused() -> cp.Problem:
    x = cp.Variable(80, name="x")
    signal = np.repeat([0.0, 1.0, 0.0, -1.0], 20) + 0.1 * np.random.default_rng(1).normal(size=80)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - signal) + 0.05 * cp.norm1(x) + 0.2 * cp.norm1(cp.diff(x))))


def groups() -> cp.Problem:
    w = cp.Variable(6, name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(ROWS @ w - TARGETS) / 120 + 3 * (cp.norm(w[:3]) + cp.norm(w[3:]))))


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("make", [hinge, quantile, fused, groups])
def test_the_values_of_a_default_solve_close_by_themselves(make: Callable[[], cp.Problem], rigorous: bool) -> None:
    """CVXPY keeps no multipliers of functions: without those at kinks there is no bound worth its name."""
    problem = make()
    problem.solve(solver="CLARABEL")
    assert simopt.certify(problem, rigorous=rigorous, solver=None).closes(1e-8)


def point_of(problem: cp.Problem) -> dict[str, np.ndarray]:
    return {v.name(): np.asarray(v.value, dtype=float) for v in problem.variables()}


def test_slopes_at_kinks_make_the_point_stationary() -> None:
    problem = hinge()
    problem.solve(solver="CLARABEL")
    declared = Declared.of(problem)
    found = declared.polished(point_of(problem), {})
    assert found is not None
    (name,) = (term.name for term in declared.programme.terms if term.atom.has_kinks)
    inside = found[name][(found[name] > 1e-6) & (found[name] < 0.1 - 1e-6)]
    assert 3 <= len(inside) <= 2 * 8  # those at the margin, and the rest of each of them
    swept = backward(FLOAT, declared.programme, (), declared.candidates(found))
    assert all(np.max(np.abs(residual)) <= 1e-6 for residual in swept.residuals.values())


def test_a_point_far_from_stationary_is_not_polished() -> None:
    problem = hinge()
    problem.solve(solver="CLARABEL")
    declared, point = Declared.of(problem), point_of(problem)
    assert declared.polished({"w": point["w"] + 0.05, "b": point["b"]}, {}) is None  # no kink is near
    problem = fused()
    problem.solve(solver="CLARABEL")
    declared = Declared.of(problem)
    moved = {"x": problem.variables()[0].value * 1.05}
    assert declared.polished(moved, {}) is None  # the smooth part's slope is another one


def test_what_is_smooth_needs_no_polish() -> None:
    w = cp.Variable(6, name="w")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(ROWS @ w - TARGETS)), [cp.sum(w) == 1])
    problem.solve(solver="CLARABEL")
    assert Declared.of(problem).polished(point_of(problem), {}) is None


def test_perturbed_multipliers_are_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where stationarity has to be closed, intervals prove the bound; a search from perturbed multipliers would cost more."""
    problem = quantile()
    problem.solve(solver="CLARABEL")
    declared = Declared.of(problem)
    multipliers = declared.polished(point_of(problem), {})
    asked = list[str]()
    original = Declared.dual_bound

    def counted(self: Declared, multipliers: Any, num: Any = FLOAT, upper: float = np.inf) -> Any:
        asked.append(num.name)
        return original(self, multipliers, num, upper)

    monkeypatch.setattr(Declared, "dual_bound", counted)
    found = judge(declared, point_of(problem), multipliers, enough=1e-8).certificate
    assert found.closes(1e-8) and set(asked) <= {"float", "interval"}
    assert asked.count("float") == 1
