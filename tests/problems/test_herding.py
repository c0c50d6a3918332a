"""Herding against enumeration of supports, non-negative least squares, the Frank–Wolfe gap and fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from simopt import solve
from simopt.arithmetic import INTERVAL, RATIONAL
from simopt.core.arrays import Array
from simopt.problems.herding import Herding
from simopt.problems.recipes import small_kernel
from simopt.solving.entry_points import certify


def nearest_by_enumeration(target: Array, atoms: Array) -> float:
    """min over the hull of the rows of `atoms` of the squared distance: the best of the affine hulls whose minimiser has weights ≥ 0."""
    best = math.inf
    for size in range(1, len(atoms) + 1):
        for support in itertools.combinations(range(len(atoms)), size):
            base, rest = atoms[support[0]], atoms[list(support[1:])]
            tail = np.linalg.lstsq((rest - base).T, target - base, rcond=None)[0] if size > 1 else np.zeros(0)
            if np.all(tail >= -1e-12) and np.sum(tail) <= 1 + 1e-12:
                best = min(best, float(np.sum((target - base - tail @ (rest - base)) ** 2)))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_herding_on_few_candidates_against_enumeration_and_nnls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.normal(size=(12, 3)), rng.choice([-1.0, 1.0], size=12)
    chosen = rng.choice(12, size=5, replace=False)
    p = rng.exponential(size=12)
    p = p / p.sum()
    problem = Herding(features @ features.T, labels, chosen, p)
    signed = labels[:, None] * features
    solution = solve(problem, "clarabel", tol=1e-9)
    enumerated = nearest_by_enumeration(p @ signed, signed[chosen])
    assert solution.optimal
    assert solution.value == pytest.approx(enumerated, abs=1e-8)
    heavy = 1e4  # a row that makes the sum of the weights 1
    system = np.vstack([signed[chosen].T, np.full(5, heavy)])
    weights = scipy.optimize.nnls(system, np.append(p @ signed, heavy))[0]
    assert float(problem.objective(problem.restore({"weights": weights}))) == pytest.approx(enumerated, abs=1e-6)
    assert solution.certificate is not None and solution.certificate.lower <= enumerated + 1e-12


def test_herding_bounds_hold_for_every_direction_and_scaling_sharpens_them() -> None:
    K, y = small_kernel(np.random.default_rng(1), 14)
    labels = np.where(y > 0, 1.0, -1.0)
    problem = Herding(K, labels, np.array([1, 4, 6, 11]))
    best = solve(problem, "clarabel", tol=1e-10)
    G, p = np.outer(labels, labels) * K, np.full(14, 1 / 14)
    rng = np.random.default_rng(2)
    for scattered in (0.0, 1e-3, 0.1, 10.0):
        beta = problem.difference(dict(best.point)) + scattered * rng.normal(size=14)
        margin = float(p @ G @ beta) - float(np.max((G @ beta)[problem.atoms]))
        plain = 2 * margin - float(beta @ G @ beta)
        bound = float(problem.dual_bound({"direction": beta}))
        assert plain <= bound + 1e-12
        assert bound <= best.value + 1e-12
        assert bound == pytest.approx(max(margin, 0.0) ** 2 / float(beta @ G @ beta), abs=1e-14)
        assert float(problem.dual_bound({"direction": 1e9 * beta})) == pytest.approx(bound, rel=1e-9, abs=1e-14)


def test_the_gap_of_herding_is_at_most_that_of_frank_wolfe() -> None:
    K, y = small_kernel(np.random.default_rng(3), 14)
    labels = np.where(y > 0, 1.0, -1.0)
    problem = Herding(K, labels, np.arange(5))
    G = np.outer(labels, labels) * K
    rng = np.random.default_rng(4)
    for _ in range(20):
        w = rng.dirichlet(np.ones(5))
        point = {"weights": w}
        c = problem.difference(point)
        gradient = -2.0 * (G @ c)[:5]
        frank_wolfe = float(w @ gradient - np.min(gradient))
        gap = float(problem.gap(point, problem.multipliers(point)))
        assert 0.0 <= gap <= frank_wolfe + 1e-14
        assert gap == pytest.approx(float(problem.objective(point)) - float(problem.dual_bound(problem.multipliers(point))), abs=1e-14)


def test_uniform_weights_on_all_points_are_the_mean_exactly() -> None:
    K, y = small_kernel(np.random.default_rng(5), 7)
    problem = Herding(K, np.where(y > 0, 1.0, -1.0))
    sevenths = {"weights": np.array([Fraction(1, 7)] * 7)}
    assert problem.objective(problem.restore(sevenths, RATIONAL), RATIONAL) == 0
    assert certify(problem, {"weights": np.ones(7)}, num=RATIONAL).gap == 0.0
    assert certify(problem, problem.trivial_point(), num=INTERVAL).gap < 1e-25 * problem.scale()


@pytest.mark.parametrize("exponent", [-3, -6, -9, -12])
def test_small_errors_of_herding_do_not_cancel(exponent: int) -> None:
    K, y = small_kernel(np.random.default_rng(6), 10)
    problem = Herding(K, np.where(y > 0, 1.0, -1.0))
    step = 10.0**exponent * np.array([1.0, -1.0, 0.5, 0, 0, 0, 0, 0, -0.5, 0])
    point = {"weights": 0.1 + step}
    exact = float(problem.objective(point, RATIONAL))
    assert exact > 0.0
    assert float(problem.objective(point)) == pytest.approx(exact, rel=1e-3)


def test_distance_of_herding_holds_the_optimum() -> None:
    K, y = small_kernel(np.random.default_rng(7), 14)
    labels = np.where(y > 0, 1.0, -1.0)
    problem = Herding(K, labels, np.array([0, 2, 5, 9]))
    best = dict(solve(problem, "clarabel", tol=1e-12).point or {})
    rng = np.random.default_rng(8)
    for size in (1e-6, 1e-3, 1.0):
        point = problem.restore({"weights": best["weights"] + size * rng.normal(size=4)})
        c = problem.scattered(point["weights"] - best["weights"]) * labels
        gap = float(problem.gap(point, problem.multipliers(point)))
        assert math.sqrt(c @ K @ c) <= problem.distance(gap, point) + 1e-7
