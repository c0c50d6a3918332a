"""Variables that are coefficients of an element of a kernel's space: K itself is judged, singular or nearly so, and no factor of it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import simopt
from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.duality import Declared, solved
from simopt.duality.reading.kernel_element import SquaredNorm
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.kernel_ridge import KernelRidge

N = 8
FEATURES = np.random.default_rng(0).integers(-2, 3, (N, 3)).astype(float)
K = FEATURES @ FEATURES.T  # of rank 3
Y = np.array([1.0, -0.5, 0.25, 2.0, -1.0, 0.5, -2.0, 1.5])
LABELS = np.sign(Y)
PENALTY = 0.125


def norm(a: Any, matrix: np.ndarray = K) -> Any:
    return cp.quad_form(a, cp.psd_wrap(matrix))


def ridge(a: Any) -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum_squares(Y - K @ a) / N + PENALTY * norm(a)))


def hinge(a: Any) -> cp.Problem:
    f, b = cp.Variable(N, name="f"), cp.Variable(name="b")
    loss = cp.sum(cp.pos(1 - cp.multiply(LABELS, f + b))) / N
    return cp.Problem(cp.Minimize(loss + PENALTY * norm(a) + 0.01 * cp.square(b)), [f == a @ K])


def absolute_in_a_ball(a: Any) -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.sum(cp.abs(Y - K @ a))), [(norm(a) <= 0.5).set_label("ball")])


PROBLEMS = {"ridge": ridge, "hinge": hinge, "absolute, in a ball": absolute_in_a_ball}
over = pytest.mark.parametrize("name", PROBLEMS)


def read(problem: cp.Problem) -> Declared:
    return Declared.of(problem)


def recognised(declared: Declared) -> bool:
    return any(isinstance(term.atom, SquaredNorm) for term in declared.programme.terms)


@over
def test_what_a_singular_kernel_leaves_closes_in_every_arithmetic(name: str) -> None:
    declared = read(PROBLEMS[name](cp.Variable(N, name="alpha")))
    assert recognised(declared)
    point, multipliers = solved(declared)
    for num, tol in ((FLOAT, 1e-9), (INTERVAL, 1e-9), (RATIONAL, 1e-9)):
        found = simopt.certify(declared, point, multipliers, num)
        assert found.closes(tol), (num.name, found, declared.open(multipliers, point, num))


def test_the_bracket_of_ridge_regression_holds_its_optimum_in_fractions() -> None:
    """P(α) for (K + nλI)α = y, solved in fractions, is the optimum: yᵀ(y − Kα)/n."""
    exact = [[Fraction(K[i, j]) + (Fraction(N * PENALTY) if i == j else 0) for j in range(N)] + [Fraction(Y[i])] for i in range(N)]
    for i in range(N):
        pivot = exact[i][i]
        exact[i] = [x / pivot for x in exact[i]]
        for k in range(N):
            if k != i:
                exact[k] = [x - exact[k][i] * p for x, p in zip(exact[k], exact[i], strict=True)]
    alpha = [row[-1] for row in exact]
    fitted = [sum(Fraction(K[i, j]) * alpha[j] for j in range(N)) for i in range(N)]
    optimum = sum(Fraction(Y[i]) * (Fraction(Y[i]) - fitted[i]) for i in range(N)) / N
    declared = read(ridge(cp.Variable(N, name="alpha")))
    for num in (INTERVAL, RATIONAL):
        found = simopt.certify(declared, {"alpha": np.array(alpha, dtype=float)}, num=num)
        assert Fraction(found.lower) <= optimum <= Fraction(found.upper) and found.gap <= 1e-13


@over
def test_no_point_and_no_multipliers_give_a_bound_beyond_the_optimum(name: str) -> None:
    declared = read(PROBLEMS[name](cp.Variable(N, name="alpha")))
    point, multipliers = solved(declared)
    known = simopt.certify(declared, point, multipliers, INTERVAL)
    rng, lowers = np.random.default_rng(1), 0
    for _ in range(50):
        mix, size = float(rng.uniform() < 0.5), 10.0 ** rng.uniform(-3, 2)
        v = {key: mix * np.asarray(value) + size * rng.normal(size=np.shape(value)) for key, value in multipliers.items()}
        x = {key: mix * np.asarray(value) + size * rng.normal(size=np.shape(value)) for key, value in point.items()}
        lower = INTERVAL.lower(declared.dual_bound(v, INTERVAL))
        x = declared.restore(x, INTERVAL)
        upper = INTERVAL.upper(declared.objective(x, INTERVAL))
        assert lower <= known.upper and upper >= known.lower
        gap = declared.gap(x, v, INTERVAL)
        if math.isfinite(lower) and math.isfinite(upper):
            lowers += 1
            assert INTERVAL.lower(gap) <= upper - lower and INTERVAL.upper(gap) >= upper - lower - 1e-9 * (abs(upper) + abs(lower))
    assert lowers > 5


def test_without_a_multiplier_of_the_ball_there_is_no_bound() -> None:
    """s = 0, and ⟨q, Kα⟩ has no least value."""
    declared = read(absolute_in_a_ball(cp.Variable(N, name="alpha")))
    v = {"ball": np.zeros(1), "abs 1": np.full(N, 0.5)}
    for num in (FLOAT, INTERVAL, RATIONAL):
        assert num.lower(declared.dual_bound(v, num)) == -math.inf
        assert any("its scale is 0" in reason for reason in declared.open(v, num=num))


def test_a_variable_that_stands_elsewhere_too_is_no_element() -> None:
    a, more = cp.Variable(N, name="alpha"), cp.sum_squares(Y - K @ cp.Variable(N, name="other"))
    other, slanted = K + np.eye(N), K + 3 * np.eye(N) + np.triu(np.ones((N, N)), 1) - np.tril(np.ones((N, N)), -1)
    kernel = cp.Parameter((N, N), PSD=True, value=K + np.eye(N), name="kernel")
    for objective, rows in (
        (cp.sum_squares(Y - K @ a) + norm(a) + cp.sum(a), []),
        (cp.sum_squares(Y - K @ a) + norm(a), [a >= -1]),
        (cp.sum_squares(Y - K @ a) + norm(a, other), []),
        (cp.sum_squares(Y[:4] - K[:4] @ a) + norm(a), []),
        (cp.sum_squares(Y - slanted @ a) + norm(a, slanted), []),
        (cp.sum_squares(Y - K @ a) + norm(a) + norm(a), []),
        (cp.sum_squares(Y - kernel @ a) + cp.quad_form(a, kernel), []),
        (more + cp.quad_form(a, kernel), []),
        (more + norm(a) + cp.sum(cp.abs(a[:2])), []),
    ):
        assert not recognised(read(cp.Problem(cp.Minimize(objective), rows)))


def test_a_kernel_that_is_nearly_singular_is_judged_as_by_hand() -> None:
    """A Gaussian kernel whose inverse has entries of 1e9: the same bracket as from the formulas in α."""
    x = np.linspace(0.0, 1.0, 12)
    gram = np.exp(-((x[:, None] - x) ** 2) / 0.05) + 1e-9 * np.eye(12)
    y = np.sin(7 * x)
    a = cp.Variable(12, name="alpha")
    for by_hand, loss in (
        (KernelRidge(gram, y, 0.01), cp.sum_squares(y - gram @ a) / 12 + 0.01 * norm(a, gram)),
        (
            HingeSVM(gram, np.sign(y + 0.1), Penalty(0.01)),
            cp.sum(cp.pos(1 - cp.multiply(np.sign(y + 0.1), gram @ a))) / 12 + 0.005 * norm(a, gram),
        ),
    ):
        solution = simopt.solve(by_hand, tol=1e-10)
        known = simopt.certify(by_hand, solution.point, solution.multipliers, INTERVAL)
        declared = read(cp.Problem(cp.Minimize(loss)))
        assert recognised(declared)
        point, multipliers = solved(declared)
        found = simopt.certify(declared, point, multipliers, INTERVAL)
        assert found.closes(1e-9) and found.lower <= known.upper and known.lower <= found.upper, (found, known)
