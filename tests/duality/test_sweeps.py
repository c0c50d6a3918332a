"""The two sweeps on small problems of every kind: bounds close in three arithmetics; none is beyond the optimum, whatever comes in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic
from simopt.core.errors import InvalidProblem, NotAvailable, UnknownName
from simopt.duality import Declared, solved
from simopt.duality.evaluation.backward import _BackwardSweep

N, D = 30, 4


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(N, D))
    return features, features @ rng.normal(size=D) + 0.3 * rng.normal(size=N)


A, y = data()
LABELS = np.where(y > 0, 1.0, -1.0)


def w() -> Any:
    return cp.Variable(D, name="w")


def ridge() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - y) / N + 0.1 * cp.sum_squares(x)))


def elastic_net() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - y) / N + 0.1 * cp.norm(x, 1) + 0.1 * cp.sum_squares(x)))


def huber() -> cp.Problem:
    x, f = w(), cp.Variable(N, name="f")
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(y - f, 0.2)) / N + 0.1 * cp.sum_squares(x)), [(f == A @ x).set_label("predictions")])


def svr_with_slacks() -> cp.Problem:
    x, up, down = w(), cp.Variable(N, name="up"), cp.Variable(N, nonneg=True, name="down")
    rows = [A @ x - y - 0.1 <= up, y - A @ x - 0.1 <= down, up >= 0, cp.norm(x, 2) <= 1]
    return cp.Problem(cp.Minimize(cp.sum(up + down) / N), rows)


def svr_nested() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum(cp.pos(cp.abs(A @ x - y) - 0.1)) / N + 0.05 * cp.sum_squares(x)))


def hinge_in_a_quadratic_ball() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - cp.multiply(LABELS, A @ x))) / N), [cp.sum_squares(x) <= 2])


def logistic() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(LABELS, A @ x))) / N + 0.05 * cp.sum_squares(x)))


def power_of_a_norm() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - y) / N + 0.3 * cp.power(cp.norm(x, 2), 1.5, approx=False)))


def huber_of_a_norm() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - y) / N + 0.3 * cp.huber(cp.norm(x, 2), 5.0)))


def three_norm_ball() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.norm(A @ x - y, 1) / N), [cp.norm(x, 3) <= 0.5])


def one_norm_ball() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.norm(A @ x - y, 2)), [cp.norm(x, 1) <= 1])


def largest_in_a_box() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.norm(A @ x - y, "inf")), [cp.abs(x) <= 0.5])


def two_norms_in_one_ball() -> cp.Problem:
    x, z = w(), cp.Variable(D, name="z")
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ (x + 2 * z) - y)), [2 * cp.norm(x, 2) + cp.norm(z, "inf") <= 1])


def portfolio() -> cp.Problem:
    x, factor = cp.Variable(D, name="w", bounds=[0, 1]), np.diag([1.0, 2.0, 0.5, 1.5]) + 0.1
    return cp.Problem(cp.Maximize(np.array([0.4, -0.3, 0.7, 0.2]) @ x - cp.quad_form(x, factor)))


def entropy() -> cp.Problem:
    x = cp.Variable(D, name="w")
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x)) + y[:D] @ x))


def log_barrier() -> cp.Problem:
    x = cp.Variable(D, name="w", bounds=[0, 2])
    return cp.Problem(cp.Minimize(-cp.sum(cp.log(x + 0.1)) + np.arange(1.0, 5.0) @ x))


def soft_max() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.log_sum_exp(A @ x) + cp.sum_squares(x - 1)))


def exponential() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.sum(cp.exp(A[:6] @ x)) + cp.sum_squares(x)))


def tail_of_losses() -> cp.Problem:
    x = w()
    return cp.Problem(cp.Minimize(cp.cvar(cp.abs(A @ x - y), 0.7) + 0.1 * cp.sum_squares(x)))


def geometric_mean() -> cp.Problem:
    x = cp.Variable(3, name="w", bounds=[0, 1])
    return cp.Problem(cp.Maximize(cp.geo_mean(x, [1, 2, 1]) - cp.sum_squares(x)))


def isotonic() -> cp.Problem:
    x = cp.Variable(N, name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(x - np.arange(N) - y)), [x[1:] - x[:-1] >= -0.5])


def constants() -> cp.Problem:
    x, t = w(), cp.Variable(name="t")
    return cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + t + cp.norm(cp.Constant([3.0, 4.0])) - cp.min(cp.Constant([2.0, 5.0]))), [t >= 3])


def cone() -> cp.Problem:
    x, t = w(), cp.Variable(name="t")
    return cp.Problem(cp.Minimize(t + 0.1 * cp.sum_squares(x)), [cp.SOC(t, A @ x - y)])


CLOSING: list[Callable[[], cp.Problem]] = [
    *(ridge, elastic_net, huber, svr_with_slacks, svr_nested, hinge_in_a_quadratic_ball, logistic, power_of_a_norm, huber_of_a_norm),
    *(three_norm_ball, one_norm_ball, largest_in_a_box, two_norms_in_one_ball, portfolio, entropy, log_barrier, soft_max, exponential),
    *(tail_of_losses, geometric_mean, isotonic, constants, cone),
]
each = pytest.mark.parametrize("declare", CLOSING, ids=lambda declare: declare.__name__)


@each
def test_bounds_close_in_floats_and_intervals_around_the_solvers_value(declare: Callable[[], cp.Problem]) -> None:
    declared, problem = Declared.of(declare()), declare()
    point, multipliers = solved(declared)
    assert declared.open(multipliers, declared.restore(point)) == ()
    problem.solve(solver="CLARABEL")
    value = -problem.value if declared.programme.maximises else problem.value
    for num, tol in ((FLOAT, 1e-8), (INTERVAL, 1e-6)):
        found = simopt.certify(declared, point, multipliers, num)
        assert found.closes(tol), found
        assert found.lower - 1e-5 * found.scale <= value <= found.upper + 1e-5 * found.scale


@pytest.mark.parametrize("declare", [ridge, elastic_net, huber, svr_nested, largest_in_a_box, tail_of_losses], ids=lambda d: d.__name__)
def test_fractions_prove_what_intervals_enclose(declare: Callable[[], cp.Problem]) -> None:
    declared = Declared.of(declare())
    point, multipliers = solved(declared)
    exact, interval = declared.dual_bound(multipliers, RATIONAL), declared.dual_bound(multipliers, INTERVAL)
    assert Fraction(INTERVAL.lower(interval)) <= exact <= Fraction(INTERVAL.upper(interval))
    restored = declared.restore(point, RATIONAL)
    assert exact <= declared.objective(restored, RATIONAL)
    assert declared.gap(restored, multipliers, RATIONAL) == declared.objective(restored, RATIONAL) - exact


@pytest.mark.thorough
@each
def test_no_multipliers_and_no_point_give_a_bound_beyond_the_optimum(declare: Callable[[], cp.Problem]) -> None:
    declared = Declared.of(declare())
    best = simopt.certify(declared, *solved(declared), INTERVAL)
    slack = 1e-12 * best.scale
    rng = np.random.default_rng(17)
    finite = 0
    for trial in range(40):
        size = 10.0 ** rng.uniform(-3, 2)
        multipliers = {name: size * rng.normal(size=n) for name, (_, _, n) in declared.names.items() if rng.uniform() < 0.9}
        point = {leaf.name: size * rng.normal(size=leaf.shape) for leaf in declared.programme.leaves.values()}
        for num in (FLOAT, INTERVAL):
            with np.errstate(all="ignore"):
                dual = declared.dual_bound(multipliers, num)
                lower = -math.inf if isinstance(dual, float) and math.isnan(dual) else num.lower(dual)
                restored = declared.restore(point, num)
                value = declared.objective(restored, num)
                upper = math.inf if isinstance(value, float) and math.isnan(value) else num.upper(value)
                assert lower <= best.upper + slack, trial
                assert upper >= best.lower - slack, trial
                if math.isfinite(lower) and math.isfinite(upper) and num is FLOAT:
                    finite += 1
                    gap = declared.gap(restored, multipliers)
                    assert abs(gap - (upper - lower)) <= 1e-10 * (abs(upper) + abs(lower) + gap)
    assert finite >= 5  # the sweep is not trivially open


@each
def test_a_point_alone_suggests_multipliers_that_bound(declare: Callable[[], cp.Problem]) -> None:
    declared = Declared.of(declare())
    point, _ = solved(declared)
    best = simopt.certify(declared, point, num=INTERVAL)
    suggested = declared.multipliers(declared.restore(point))
    assert suggested is not None
    assert declared.dual_bound(suggested) <= best.upper + 1e-12 * best.scale


@pytest.mark.parametrize("declare", [ridge, huber, logistic, power_of_a_norm, soft_max, exponential], ids=lambda d: d.__name__)
def test_where_terms_are_smooth_the_point_is_enough(declare: Callable[[], cp.Problem]) -> None:
    declared = Declared.of(declare())
    point, _ = solved(declared)
    found = simopt.certify(declared, point, num=INTERVAL)
    assert found.multipliers_from == "point" and found.closes(1e-8)


def test_the_equality_that_defines_the_predictions_has_the_multiplier_of_the_loss() -> None:
    problem = huber()
    problem.solve(solver="CLARABEL")
    declared = Declared.of(problem)
    v = {"predictions": problem.constraints[0].dual_value}
    assert declared.dual_bound(v) == pytest.approx(problem.value, rel=1e-7)


def test_a_reading_serves_a_path_of_parameters() -> None:
    x, strength = w(), cp.Parameter(nonneg=True, name="strength", value=1.0)
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(A @ x - y) + strength * cp.sum_squares(x))))
    for value in (0.01, 1.0, 100.0):
        strength.value = value
        best = np.linalg.solve(A.T @ A + value * np.eye(D), A.T @ y)
        assert simopt.certify(declared, {"w": best}, num=INTERVAL).closes(1e-10)
    strength.value = 0.0  # no closing term any more: a message, and no bound
    slopes = declared.multipliers({"w": best})
    assert declared.dual_bound(slopes) == -math.inf and "scale is 0" in declared.open(slopes)[0]


OPEN: dict[str, tuple[Callable[[Any], cp.Problem], str]] = {
    "unbounded": (lambda x: cp.Problem(cp.Minimize(cp.sum(x))), "w: no closing term .* \\(4 of 4"),
    "half a bound": (lambda x: cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1]), "and no bound takes it"),
}


@pytest.mark.parametrize("name", OPEN)
@pytest.mark.parametrize("num", [FLOAT, INTERVAL], ids=lambda num: num.name)
def test_what_does_not_close_is_open_with_the_reason_and_no_bound(name: str, num: Arithmetic) -> None:
    problem, reason = OPEN[name]
    declared = Declared.of(problem(w()))
    point = {"w": np.linalg.lstsq(A, y, rcond=None)[0] + 0.01}
    multipliers = declared.multipliers(point)
    assert multipliers is not None
    assert num.lower(declared.dual_bound(multipliers, num)) == -math.inf
    assert re.search(reason, declared.open(multipliers, num=num)[0])
    assert not simopt.certify(declared, point, multipliers, num).closes(1e6)


def test_an_infeasible_point_has_no_value_and_the_reason_is_said() -> None:
    x = w()
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum_squares(x)), [(A[:2] @ x == [1.0, 2.0]).set_label("fixed")]))
    point = {"w": np.ones(D)}
    assert declared.objective(point) == math.inf
    assert declared.open({}, point) == ("fixed: the equality is not proven to hold at entry 0",)
    outside = Declared.of(cp.Problem(cp.Minimize(cp.sum(cp.power(x, 1.5)) + cp.sum(x))))  # x^1.5 has the domain x ≥ 0
    assert outside.objective({"w": -np.ones(D)}) == math.inf
    assert "not proven to be in the domain" in outside.open({}, {"w": -np.ones(D)})[-1]


def test_points_outside_are_drawn_into_balls_and_boxes_exactly() -> None:
    for declare in (svr_with_slacks, three_norm_ball, one_norm_ball, two_norms_in_one_ball, hinge_in_a_quadratic_ball):
        declared = Declared.of(declare())
        far = {leaf.name: 1e3 * np.ones(leaf.shape) for leaf in declared.programme.leaves.values()}
        for num in (FLOAT, INTERVAL):
            assert math.isfinite(num.upper(declared.objective(declared.restore(far, num), num)))


@pytest.mark.parametrize("size", [1e160, 1e200, 1e308])
def test_an_overflow_is_no_bound(size: float) -> None:
    for declare in (ridge, huber, svr_with_slacks, logistic, exponential, soft_max, power_of_a_norm):
        declared = Declared.of(declare())
        best = simopt.certify(declared, *solved(declared), INTERVAL)
        for sign in (1.0, -1.0):
            multipliers = {name: np.full(n, sign * size) for name, (_, _, n) in declared.names.items()}
            point = {leaf.name: np.full(leaf.shape, sign * size) for leaf in declared.programme.leaves.values()}
            for num in (FLOAT, INTERVAL):
                found = simopt.certify(declared, point, multipliers, num)
                assert found.lower <= best.upper * (1 + 1e-12) and found.upper >= best.lower * (1 - 1e-12)


def test_bad_points_and_multipliers_are_named() -> None:
    declared = Declared.of(huber())
    with pytest.raises(InvalidProblem, match="predictions has 3 entries, expected 30"):
        declared.dual_bound({"predictions": np.zeros(3)})
    with pytest.raises(UnknownName, match="unknown multiplier 'prediction'; did you mean 'predictions'"):
        declared.dual_bound({"prediction": np.zeros(N)})
    with pytest.raises(InvalidProblem, match="point: no entry 'w'"):
        simopt.certify(declared, {"v": np.zeros(D)})
    with pytest.raises(InvalidProblem, match="w has shape"):
        simopt.certify(declared, {"w": np.zeros(3)})
    with pytest.raises(InvalidProblem, match="not finite"):
        simopt.certify(declared, {"w": np.full(D, np.nan)})


def test_a_solver_that_fails_says_so() -> None:
    x = w()
    declared = Declared.of(cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, x <= 0]))
    with pytest.raises(NotAvailable, match="infeasible"):
        solved(declared)


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
def test_a_norm_that_a_row_bounds_gets_the_multiplier_that_its_factor_asks_for(num: Arithmetic) -> None:
    """min cᵀx over 3‖x‖ ≤ 15 is −5‖c‖, with the multiplier ‖c‖/3, which is found where none is given."""
    x, c = cp.Variable(2, name="x"), np.array([3.0, 4.0])
    problem = cp.Problem(cp.Minimize(c @ x), [(3.0 * cp.norm(x) <= 15.0).set_label("ball")])
    bounds = simopt.certify(problem, {"x": -c}, {"ball": 0.0}, num, solver=None)
    assert bounds.lower == pytest.approx(-25.0, rel=1e-12) and bounds.lower <= -25.0 <= bounds.upper


def test_a_scale_below_zero_gives_no_bound_and_names_its_entry() -> None:
    out = SimpleNamespace(open=list[str]())
    sweep, node = SimpleNamespace(num=FLOAT, out=out), SimpleNamespace(name="abs", sign=1)
    assert _BackwardSweep._scale(sweep, node, np.array([1.0, 0.0, -1.0])) is None  # type: ignore[arg-type]
    assert out.open == ["abs: its scale is negative at entry 2"]
    assert _BackwardSweep._scale(sweep, node, np.array([1.0, 0.0, 2.0])).tolist() == [1.0, 0.0, 2.0]  # type: ignore[arg-type, union-attr]
