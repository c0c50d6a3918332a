"""Kernel ridge regression and M-RLSR: formulas against brute force and high precision, extremes of scale, distance, messages."""

from __future__ import annotations

import itertools
import math
from typing import Any

import flint
import numpy as np
import pytest
import scipy.optimize

from simopt.arithmetic import FLOAT, INTERVAL
from simopt.certificates.assessment import judge
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.kernel_ridge import KernelRidge
from simopt.problems.m_power_rls import MPowerRLS, PowerBall, PowerPenalty
from simopt.problems.norms import gram_factor, norm_power
from simopt.problems.recipes import small_kernel
from simopt.solving.entry_points import certify

POWERS = (1.01, 1.3, 1.5, 2.0, 2.5, 3.0, 6.0, 12.0)


def path_point(gram: Array, targets: Array, strength: float, m: float) -> tuple[Array, float]:
    """α = (K + μI)^{-1}y with log μ from bisection of the increasing log μ − (m−2) log t(μ) − log(nλm/2)."""
    d, Q = np.linalg.eigh(gram)
    d, z = np.maximum(d, 1e-300), Q.T @ targets
    weight = np.log(d) + 2.0 * np.log(np.abs(z))

    def excess(s: float) -> float:
        log_t = 0.5 * np.logaddexp.reduce(weight - 2.0 * np.logaddexp(np.log(d), s))
        return float(s - (m - 2.0) * log_t - math.log(len(targets) * strength * m / 2.0))

    low, high = -4000.0, 4000.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    alpha: Array = Q @ (z * np.exp(-np.logaddexp(np.log(d), low)))
    return alpha, low


def test_dual_values_are_minima_of_the_lagrangian() -> None:
    rng = np.random.default_rng(0)
    L = rng.normal(size=(2, 2))
    K, y = L @ L.T, np.array([1.0, -0.4])
    for m, strength in itertools.product((1.3, 2.0, 3.0), (0.1, 2.0)):
        problem = MPowerRLS(K, y, PowerPenalty(strength, m))
        v = rng.normal(size=2)

        def lagrangian(x: Array, m: float = m, strength: float = strength, v: Array = v) -> float:
            f, alpha = x[:2], x[2:]
            return float(np.mean((y - f) ** 2) + strength * (alpha @ K @ alpha) ** (m / 2) + v @ (f - K @ alpha))

        best = min(scipy.optimize.minimize(lagrangian, rng.normal(size=4), method="BFGS", tol=1e-12).fun for _ in range(4))
        assert float(problem.dual_bound({"predictions": v})) == pytest.approx(best, rel=1e-5, abs=1e-7)


def test_m_equal_2_is_kernel_ridge_regression() -> None:
    K, y = small_kernel(np.random.default_rng(1), 12)
    ridge, power = KernelRidge(K, y, 0.03), MPowerRLS(K, y, PowerPenalty(0.03, 2.0))
    rng = np.random.default_rng(2)
    point, multipliers = {"alpha": rng.normal(size=12)}, {"predictions": rng.normal(size=12)}
    assert power.objective(point) == pytest.approx(ridge.objective(point), rel=1e-12)
    assert power.dual_bound(multipliers) == pytest.approx(ridge.dual_bound(multipliers), rel=1e-12)
    assert power.gap(point, multipliers) == pytest.approx(ridge.gap(point, multipliers), rel=1e-12)
    alpha = np.linalg.solve(K + 12 * 0.03 * np.eye(12), y)
    assert certify(ridge, {"alpha": alpha}).relative_gap < 1e-28


@pytest.mark.parametrize("m", POWERS)
def test_the_fenchel_young_term_is_accurate_near_and_far_from_equality(m: float) -> None:
    strength, t = 0.7, 1.9
    slope = strength * m * t ** (m - 1.0)
    for relative in (0.0, 1e-12, -1e-9, 1e-6, 3e-4, -0.01, 0.3, -0.9, 4.0):
        s = slope * (1.0 + relative)
        with flint.ctx.workprec(400):
            big_t, big_s, big_m, big_l = (flint.arb(value) for value in (t, s, m, strength))
            tau = (big_s / (big_l * big_m)) ** (1 / (big_m - 1))
            exact = float((big_l * big_t**big_m + big_s * tau * (big_m - 1) / big_m - big_s * big_t).mid())
        found = float(norm_power.fenchel_young(FLOAT, t, s, strength, m))
        # s itself is off by an ulp, which the conjugate amplifies by 1/(m − 1)
        floor = (3e-16 * m / (m - 1.0)) ** 2 * s * t
        if abs(relative) >= 1e-9 and math.isfinite(exact):
            assert found == pytest.approx(exact, rel=1e-5 if abs(relative) < 1e-6 else 1e-8)
        assert found >= 0
        assert relative != 0 or found <= floor
        ball = norm_power.fenchel_young(INTERVAL, INTERVAL.lift(t), INTERVAL.lift(s), strength, m)
        assert INTERVAL.lower(ball) <= exact * (1 + 1e-12)
        assert INTERVAL.upper(ball) >= exact * (1 - 1e-12)


@pytest.mark.parametrize("m", [1.01, 1.5, 2.0, 3.0, 12.0])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_certificates_close_at_extreme_scales(m: float, size: float) -> None:
    K, y = small_kernel(np.random.default_rng(0), 14)
    y = y * size
    for strength in (1e-12, 1e-6, 1.0, 1e6, 1e12):
        problem = MPowerRLS(K, y, PowerPenalty(strength, m))
        alpha, _ = path_point(K, y, strength, m)
        found, rigorous = (certify(problem, {"alpha": alpha}, num=num) for num in (FLOAT, INTERVAL))
        assert math.isfinite(found.upper)
        assert found.gap <= 1e-20 * problem.scale()
        # balls around Kα are 1e-15 |α| wide, and α grows as 1/√λ
        assert rigorous.gap <= 1e-16 * problem.scale()
        assert rigorous.lower <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize("m", [1.05, 1.5, 2.0, 3.0, 12.0])
def test_distance_holds_the_solution_and_is_of_the_size_of_the_error(m: float) -> None:
    rng = np.random.default_rng(5)
    K, y = small_kernel(rng, 14)
    for strength in (1e-3, 0.05):
        problem = MPowerRLS(K, y, PowerPenalty(strength, m))
        best, _ = path_point(K, y, strength, m)
        value = float(problem.objective({"alpha": best}))
        for error in (1.0, 1e-2, 1e-5):
            alpha = best + error * rng.normal(size=14)
            length = math.sqrt((alpha - best) @ K @ (alpha - best))
            gap = max(float(problem.objective({"alpha": alpha})) - value, 1e-16 * value)
            radius = problem.distance(gap, {"alpha": alpha})
            assert length <= radius * (1 + 1e-9)
            assert length <= problem.distance(gap) * (1 + 1e-9)
            if error <= 1e-5:
                t = math.sqrt(best @ K @ best)
                assert radius <= 1.5 * math.sqrt(2 * gap / (strength * m * min(1.0, m - 1.0) * t ** (m - 2.0)))


def test_the_solution_of_m_equal_1_is_0_from_the_threshold_on() -> None:
    K, y = small_kernel(np.random.default_rng(3), 10)
    threshold = 0.2 * math.sqrt(y @ K @ y)
    assert certify(MPowerRLS(K, y, PowerPenalty(threshold * (1 + 1e-12), 1.0)), {"alpha": np.zeros(10)}).relative_gap < 1e-14
    below = MPowerRLS(K, y, PowerPenalty(0.9 * threshold, 1.0))
    assert certify(below, {"alpha": np.zeros(10)}).relative_gap > 1e-3
    assert min(float(below.objective({"alpha": step * y})) for step in np.geomspace(1e-6, 1.0, 50)) < below.scale()


def test_powers_below_1_are_refused_with_the_reason() -> None:
    K, y = small_kernel(np.random.default_rng(3), 10)
    problem = MPowerRLS(K, y, PowerPenalty(0.1, 0.5))
    with pytest.raises(InvalidProblem, match=r"not convex for m = 0\.5.*solvers\.power\.stationary"):
        problem.declare()
    assert problem.multipliers({"alpha": y}) is None
    assert problem.dual_bound({"predictions": y}) == 0.0
    assert problem.gap({"alpha": y}, {"predictions": y}) == problem.objective({"alpha": y})


@pytest.mark.parametrize("m", [1.5, 3.0])
def test_the_part_of_K_outside_the_factor_leaves_no_gap(m: float) -> None:
    rng = np.random.default_rng(9)
    Q, _ = np.linalg.qr(rng.normal(size=(20, 20)))
    K = (Q * np.geomspace(1.0, 1e-13, 20)) @ Q.T
    K = 0.5 * (K + K.T)
    y = rng.normal(size=20)
    problem = MPowerRLS(K, y, PowerPenalty(1e-6, m))
    factor = problem.factor
    assert 0 < factor.rank < 18
    alpha, _ = path_point(factor.matrix @ factor.matrix.T, y, 1e-6, m)
    u = factor.matrix.T @ alpha
    judged = judge(problem, {"u": u, "f": factor.matrix @ u})
    assert judged.certificate.relative_gap < 1e-8
    bare = factor.vectors[:, : factor.rank] @ (u / np.sqrt(factor.values[: factor.rank]))
    assert judged.certificate.upper < problem.objective({"alpha": bare})


def test_scaling_by_powers_of_two_changes_no_bit_of_the_relative_gap() -> None:
    K, y = small_kernel(np.random.default_rng(4), 12)
    alpha = np.linalg.solve(K + 0.5 * np.eye(12), y)
    reference = certify(KernelRidge(K, y, 0.04), {"alpha": alpha}).relative_gap
    for k in (-30, -1, 17, 30):
        s = 2.0**k
        assert certify(KernelRidge(K, y * s, 0.04), {"alpha": alpha * s}).relative_gap == reference


def test_factors_are_shared_by_multiples_of_a_matrix_and_checked_matrices_are_not_checked_again() -> None:
    K, y = small_kernel(np.random.default_rng(4), 12)
    problem = KernelRidge(4096.0 * K, y, 0.04)
    natural = problem.normalised()[0]
    assert natural.gram[0, 0] == 1.0
    assert natural.factor.vectors is problem.factor.vectors
    assert KernelRidge(problem.gram, y, 0.1).gram is problem.gram
    assert gram_factor.has_factor(natural.gram)


MAKERS = [
    lambda K, y: KernelRidge(K, y, 1.0),
    lambda K, y: MPowerRLS(K, y, PowerPenalty(1.0, 3.0)),
    lambda K, y: HingeSVM(K, np.sign(y), Penalty(1.0)),
]


@pytest.mark.parametrize("make", MAKERS)
def test_gram_matrices_that_are_not_are_refused(make: Any) -> None:
    y = np.array([1.0, -2.0, 3.0])
    with pytest.raises(InvalidProblem, match=r"gram: not positive semidefinite, the smallest eigenvalue is -1"):
        make(np.diag([1.0, -1.0, 2.0]), y)
    with pytest.raises(InvalidProblem, match="gram: not symmetric, entry \\(0, 1\\)"):
        make(np.array([[1.0, 0.5, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.0]]), y)
    with pytest.raises(InvalidProblem, match="gram"):
        make(np.eye(2), y)
    make(np.diag([1.0, -1e-12, 1.0]), y)


@pytest.mark.parametrize(("field", "value"), [("regularization", 0.0), ("regularization", -1.0), ("power", 0.0), ("targets", [])])
def test_bad_fields_are_named(field: str, value: Any) -> None:
    given: dict[str, Any] = {"targets": np.ones(2), "regularization": 1.0, "power": 2.0, field: value}
    with pytest.raises(InvalidProblem, match=field):
        MPowerRLS(np.eye(2), given["targets"], PowerPenalty(given["regularization"], given["power"]))


def test_the_ball_agrees_with_the_penalised_form_at_its_own_radius() -> None:
    K, y = small_kernel(np.random.default_rng(6), 12)
    for m in (1.5, 3.0):
        alpha, _ = path_point(K, y, 0.02, m)
        radius = (alpha @ K @ alpha) ** (m / 2)
        assert certify(MPowerRLS(K, y, PowerBall(radius, m)), {"alpha": alpha}).relative_gap < 1e-12
        assert certify(MPowerRLS(K, y, PowerBall(0.5 * radius, m)), {"alpha": alpha}).relative_gap > 1e-6


def test_a_power_below_1_has_no_dual() -> None:
    with pytest.raises(InvalidProblem, match="not convex"):
        MPowerRLS(np.eye(2), np.ones(2), PowerPenalty(1.0, 0.5)).declare_dual()


@pytest.mark.parametrize("seed", range(20))
def test_the_gap_off_the_ball_has_no_root_of_rounding(seed: int) -> None:
    """v is a residual that K does not see: √(vᵀKv) is the root of rounding, and gap and bounds have to agree on it."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(10, 3))
    problem = MPowerRLS(features @ features.T, features[:, 0] + 0.3 * rng.normal(size=10), PowerBall(30.0, 2.5))
    fitted = np.linalg.lstsq(features, problem.targets)[0]
    point = problem.restore({"alpha": np.linalg.pinv(features.T) @ fitted})
    v = {"predictions": 0.2 * (problem.targets - problem.gram @ point["alpha"])}
    gap = problem.objective(point) - problem.dual_bound(v)
    assert abs(problem.gap(point, v) - gap) <= 1e-12 * problem.scale()
