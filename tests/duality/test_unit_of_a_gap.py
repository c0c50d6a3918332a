"""The unit of a gap: max(|lower|, |upper|), or the terms of the objective where the gap is their rounding. Nothing else closes one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT, INTERVAL
from simopt.duality import Declared
from simopt.model.gap_unit import ROUNDING
from simopt.problems.bounds import Ball
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.landmarked_least_squares import LandmarkedLeastSquares
from simopt.problems.landmarked_svr import LandmarkedSVR

LOSSES: dict[str, Callable[[cp.Expression], cp.Expression]] = {
    "squares": lambda r: cp.sum_squares(r) / r.size,
    "singular form": lambda r: cp.quad_form(r, 2.0 * np.diag(np.arange(r.size) % 3 > 0)),
    "norm": cp.norm,
    "huber": lambda r: cp.sum(cp.huber(r)),
    "absolute": cp.norm1,
    "insensitive": lambda r: cp.sum(cp.pos(cp.abs(r) - 0.1)),
    "largest": lambda r: cp.sum_largest(cp.abs(r), 3),
    "form": lambda r: cp.quad_form(r, np.ones((r.size, r.size)) + np.eye(r.size)),
}


def fit(loss: str, mean: float, rng: np.random.Generator, *, named: bool = False) -> tuple[cp.Problem, cp.Variable, cp.Variable]:
    """A fit with an intercept to targets of this mean, whose residuals have size 1; `named`, they are a variable that an equality gives."""
    features = rng.normal(size=(120, 3))
    targets = mean + features @ [1.0, -1.0, 0.5] + rng.normal(size=120)
    w, b = cp.Variable(3, name="w"), cp.Variable(name="b")
    residuals, given = features @ w + b - targets, cp.Variable(120, name="residuals")
    equations = [given == residuals] if named else []
    return cp.Problem(cp.Minimize(LOSSES[loss](given if named else residuals) + 1e-3 * cp.sum_squares(w)), equations), w, b


@pytest.mark.parametrize(("mean", "named"), [(0.0, False), (1e4, False), (1e8, False), (1e12, False), (1e8, True)])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_offset_hides_no_error(loss: str, mean: float, named: bool) -> None:
    problem, w, b = fit(loss, mean, np.random.default_rng(0), named=named)
    centred, u, v = fit(loss, 0.0, np.random.default_rng(0))  # the same fit: its multipliers are those of this one
    best = simopt.solve(centred, "clarabel", tol=1e-7)
    assert best.multipliers is not None
    declared = Declared.of(problem)
    for off in (0.9, 0.1):
        w.value, b.value = u.value, mean + v.value + off
        for rigorous in (False, True):
            alone = simopt.certify(problem, solver=None, rigorous=rigorous)
            known = simopt.certify(declared, {"w": w.value, "b": b.value}, best.multipliers, rigorous=rigorous)
            assert math.isfinite(known.upper) and not alone.closes(1e-8) and not known.closes(1e-8), f"{alone}\n{known}"
            assert named or loss == "norm" or math.isfinite(known.lower), str(known)  # a gap that is known, and too large


@pytest.mark.parametrize("rigorous", [False, True])
def test_a_residual_that_is_a_variable_has_the_terms_of_its_equation(rigorous: bool) -> None:
    """min ‖r‖² over r = Xw − y, y = Xw°: the optimum is 0, and r is rounding of terms of size 1, not a term of its own size."""
    rng = np.random.default_rng(0)
    features, best, other = rng.normal(size=(30, 4)), rng.normal(size=4), rng.normal(size=4)
    w, r = cp.Variable(4, name="w"), cp.Variable(30, name="r")
    targets = features @ best
    problem = cp.Problem(cp.Minimize(cp.sum_squares(r)), [r == features @ w - targets])
    inline = cp.Problem(cp.Minimize(cp.sum_squares(features @ w - targets)))
    for off, least, most in ((0.0, 0.0, 1e-14), (1e-9, 1e-10, 1e-9), (1e-3, 0.5, math.inf)):
        w.value = best + off * other
        r.value = features @ w.value - targets
        found, same = (simopt.certify(each, solver=None, rigorous=rigorous) for each in (problem, inline))
        assert found.gap_over_terms == pytest.approx(same.gap_over_terms, rel=0.02)
        assert least <= found.gap_over_terms <= most


@pytest.mark.parametrize("push", [1e3, 1e9, 1e16, 1e20])
def test_a_null_direction_excuses_no_error(push: float) -> None:
    rng = np.random.default_rng(1)
    half = rng.integers(-3, 4, size=(20, 4)).astype(float)
    matrix, null = np.hstack([half, -half[:, :1]]), np.array([1.0, 0.0, 0.0, 0.0, 1.0])
    x = cp.Variable(5)
    wrong = np.array([1.0, 1.5, 1.0, 1.0, 1.0])
    for targets in (matrix @ np.ones(5), matrix @ np.ones(5) + rng.normal(size=20)):
        expanded = cp.quad_form(x, matrix.T @ matrix) - 2.0 * (targets @ matrix) @ x + float(targets @ targets)
        for objective in (*(loss(matrix @ x - targets) for loss in (cp.sum_squares, cp.norm, cp.norm1)), expanded):
            x.value = wrong + push * null
            for rigorous in (False, True):
                found = simopt.certify(cp.Problem(cp.Minimize(objective)), solver=None, rigorous=rigorous)
                assert math.isfinite(found.upper) and not found.closes(1e-8), str(found)


@pytest.mark.parametrize("far", [1e9, 1e16])
@pytest.mark.parametrize("mean", [0.0, 1e8, 1e12])
def test_terms_that_cancel_far_out_excuse_no_error(mean: float, far: float) -> None:
    """f(x) + x has the same value for all large x, and terms as large as x."""
    x, y = cp.Variable(), cp.Variable()
    targets = mean + np.array([-1.0, 1.0])
    falling = {"max": cp.pos(x), "abs": cp.abs(x), "logistic": cp.logistic(x), "exponentials": cp.log_sum_exp(cp.hstack([x, 0]))}
    for loss in (cp.norm, cp.sum_squares):
        for name, function in falling.items():
            x.value, y.value = far, mean + 0.125
            for rigorous in (False, True):
                problem = cp.Problem(cp.Minimize(function - x + loss(y - targets)), [x >= 0])
                found = simopt.certify(problem, solver=None, rigorous=rigorous)
                assert math.isfinite(found.upper) and not found.closes(1e-8), (name, str(found))


@pytest.mark.parametrize("loss", [LandmarkedLeastSquares, LandmarkedSVR], ids=lambda kind: str(kind.name))
@pytest.mark.parametrize("mean", [1e8, 1e12])
def test_an_offset_hides_no_error_of_our_own_problems(loss: type[Any], mean: float) -> None:
    features = np.stack([np.ones(64), np.linspace(0.0, 1.0, 64)], axis=1)
    noise = np.where(np.arange(64) % 2, 0.125, -0.125)  # floats near 1e12 hold it
    problem = loss(features, mean + noise, Ball(2.0 * mean))
    for off in (0.0625, 0.25):
        for num in (FLOAT, INTERVAL):
            found = simopt.certify(problem, {"w": np.array([mean, off])}, num=num)
            assert math.isfinite(found.upper) and found.lower >= 0.0 and not found.closes(1e-8), str(found)


def zeros(rng: np.random.Generator, n: int) -> dict[str, cp.Problem]:
    """Problems whose optimum is 0."""
    x, matrix, y = cp.Variable(n), rng.normal(size=(n - 2, n)), np.sign(rng.normal(size=n - 2))
    return {
        "Σ|x|": cp.Problem(cp.Minimize(cp.sum(cp.abs(x)))),
        "‖x‖∞, bounded": cp.Problem(cp.Minimize(cp.norm_inf(x)), [x <= 1.0, x >= -2.0]),
        "norm": cp.Problem(cp.Minimize(cp.norm(matrix @ x - matrix @ np.ones(n)))),
        "norm of large numbers": cp.Problem(cp.Minimize(cp.norm(1e5 * (matrix @ x) - 1e7))),
        "squares": cp.Problem(cp.Minimize(cp.sum_squares(matrix @ x - 1))),
        "singular form": cp.Problem(cp.Minimize(cp.quad_form(x, matrix.T @ matrix)), [cp.sum(x) == 1.0, cp.abs(x) <= 2.0]),
        "hinges": cp.Problem(cp.Minimize(cp.sum(cp.pos(1 - cp.multiply(y, matrix @ x))))),
        "absolute values": cp.Problem(cp.Minimize(cp.norm1(matrix @ x - 1))),
    }


@pytest.mark.parametrize("n", [4, 9])
@pytest.mark.parametrize("name", list(zeros(np.random.default_rng(0), 4)))
def test_an_optimum_0_closes_or_reads_zero(name: str, n: int) -> None:
    problem = zeros(np.random.default_rng(n), n)[name]
    solution = simopt.solve(problem, "clarabel")
    for found in (simopt.certify(problem), simopt.certify(problem, rigorous=True)):
        near = found.lower >= -1e-6 * (found.upper + 1e-300) or found.lower == 0.0
        assert near or name == "singular form", str(found)  # whose P is proven to be ⪰ −δI, and no more
        assert found.gap == 0.0 or found.gap_over_terms <= 1e-8, str(found)
        assert found.closes(1e-8) == (found.gap == 0.0 or found.gap_over_terms <= ROUNDING), str(found)
    assert solution.optimal or "of its terms" in str(solution.certificate)


def test_a_norm_has_the_bound_0_without_a_solver() -> None:
    x, matrix = cp.Variable(5), np.arange(15.0).reshape(3, 5) ** 1.3
    x.value = np.array([1.00001, 1.0, 1.0, 1.0, 1.0])
    found = simopt.certify(cp.Problem(cp.Minimize(cp.norm(matrix @ x - matrix @ np.ones(5)))), solver=None)
    assert found.lower == 0.0 and not found.closes(1e-3) and found.reading.startswith("zero to "), str(found)


def test_a_wrong_point_is_not_replaced_by_0() -> None:
    x = cp.Variable(3)
    x.value = np.array([0.0, 1e-3, 0.0])
    found = simopt.certify(cp.Problem(cp.Minimize(cp.norm1(x))), solver=None)
    assert found.upper == 1e-3 and not found.closes(0.5)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
def test_what_cancels_in_a_linear_objective_is_rounding_and_no_more(size: float) -> None:
    x = cp.Variable(2, name="x")
    problem = Declared.of(cp.Problem(cp.Minimize(x[0] - x[1]), [x[0] >= size + 1e-3, x[1] <= size]))
    eps = float(np.finfo(float).eps)
    for off, closed in ((20 * eps, True), (1e5 * eps, False)):
        found = simopt.certify(problem, {"x": np.array([(size + 1e-3) * (1 + off), size])})
        assert found.closes(1e-14) is closed and found.relative_gap > 1e-14, str(found)
        assert (found.reading == "rounding of its terms") is closed


def test_a_solver_that_stops_by_its_own_unit_is_run_on() -> None:
    """Targets of 1e4 ± 1: the objective at 0 is 1e8 times that at the optimum, which is what `tol` is of."""
    x = np.linspace(0.0, 1.0, 40)[:, None]
    gram = np.exp(-((x - x.T) ** 2)) + 1.0
    targets = 1e4 + np.random.default_rng(0).normal(size=40)
    problem = KernelRidge(gram, targets, 1e-12)
    for solver in (None, "clarabel"):
        found = simopt.solve(problem, solver, tol=1e-6)
        assert found.certificate is not None
        assert found.optimal is found.certificate.closes(1e-6)
        assert not found.optimal or found.certificate.relative_gap <= 1e-6
