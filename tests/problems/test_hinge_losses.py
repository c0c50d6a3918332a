"""Landmarked SVR, the hinge SVM, the mean classifier and isotonic regression against brute force and peers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from simopt.arithmetic import RATIONAL
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.problems import recipes
from simopt.problems.bounds import Ball, Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.problems.mean_classifier import MeanClassifier
from simopt.problems.recipes import small_kernel
from simopt.solving.entry_points import certify

ANGLES = np.linspace(0.0, 2.0 * np.pi, 20001)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)])


def random_multipliers(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    above, below = rng.uniform(0, 1.0 / n, size=(2, n))
    return np.where(above > below, above, 0.0), np.where(above > below, 0.0, below)


def test_svr_bounds_are_minima_of_the_lagrangian() -> None:
    rng = np.random.default_rng(0)
    features, targets = recipes.small_regression(rng, 5, 2)
    above, below = random_multipliers(rng, 5)
    fixed = float((below - above) @ targets - 0.1 * np.sum(above + below))
    g = features.T @ (above - below)
    multipliers = {"above": above, "below": below}
    ball = LandmarkedSVR(features, targets, Ball(1.7), 0.1)
    assert float(ball.dual_bound(multipliers)) == pytest.approx(fixed + float(np.min(1.7 * g @ CIRCLE)), rel=1e-6)
    penalised = LandmarkedSVR(features, targets, Penalty(0.3), 0.1)
    best = scipy.optimize.minimize(lambda w: fixed + g @ w + 0.15 * w @ w, np.zeros(2), tol=1e-14).fun
    assert float(penalised.dual_bound(multipliers)) == pytest.approx(best, rel=1e-9)


def test_svr_objectives_match_the_formula_written_out() -> None:
    rng = np.random.default_rng(1)
    features, targets = recipes.small_regression(rng, 7, 3)
    w = 0.1 * rng.normal(size=3)
    loss = sum(max(abs(float(w @ row) - y) - 0.2, 0.0) for row, y in zip(features, targets, strict=True)) / 7
    assert float(LandmarkedSVR(features, targets, Ball(2.0), 0.2).objective({"w": w})) == pytest.approx(loss, rel=1e-13)
    assert float(LandmarkedSVR(features, targets, Penalty(2.0), 0.2).objective({"w": w})) == pytest.approx(loss + w @ w, rel=1e-13)


@pytest.mark.parametrize("k", [-30, -9, 12, 30])
def test_doing_nothing_is_not_optimal_in_small_units(k: int) -> None:
    rng = np.random.default_rng(2)
    features, targets = recipes.small_regression(rng, 20, 3)
    s = 2.0**k
    one = certify(LandmarkedSVR(features, targets, Ball(3.0), 0.1), {"w": np.zeros(3)})
    scaled = certify(LandmarkedSVR(features, targets * s, Ball(3.0 * s), 0.1 * s), {"w": np.zeros(3)})
    assert one.relative_gap > 0.1
    assert scaled.relative_gap == one.relative_gap


def test_the_mean_is_the_solution_of_a_strongly_regularized_svm() -> None:
    K, y = small_kernel(np.random.default_rng(7), 14)
    labels = np.where(y > 0, 1.0, -1.0)
    threshold = float(np.max(labels * (K @ labels)) / 14)
    for factor in (1.0, 2.0):
        strength = factor * threshold * (1 + 1e-12)
        point = {"alpha": labels / (14 * strength)}
        assert certify(HingeSVM(K, labels, Penalty(strength)), point).relative_gap < 1e-12
        assert certify(HingeSVM(K, labels, Penalty(strength)), point, num=RATIONAL).relative_gap < 1e-12
    weak = HingeSVM(K, labels, Penalty(0.5 * threshold))
    assert certify(weak, {"alpha": labels / (14 * weak.regularization)}).relative_gap > 1e-4


def test_the_closed_form_of_the_mean_classifier_is_certified() -> None:
    K, y = small_kernel(np.random.default_rng(8), 14)
    labels = np.where(y > 0, 1.0, -1.0)
    problem = MeanClassifier(K, labels)
    size = math.sqrt(labels @ K @ labels) / 14
    found = certify(problem, {"alpha": labels / (14 * size)})
    assert found.upper == pytest.approx(1 - size, rel=1e-13)
    assert found.lower == pytest.approx(1 - size, rel=1e-13)
    assert found.relative_gap < 1e-13
    nothing = certify(problem, {"alpha": np.zeros(14)})
    assert nothing.relative_gap == pytest.approx(size, rel=1e-12)


def test_isotonic_regression_without_bound_agrees_with_scipy() -> None:
    rng = np.random.default_rng(9)
    y, w = np.cumsum(rng.normal(size=200)), rng.uniform(0.1, 2.0, size=200)
    fitted = scipy.optimize.isotonic_regression(y, weights=w).x
    problem = LipschitzIsotonic(np.arange(200.0), y, math.inf, w)
    assert certify(problem, {"x": fitted}).relative_gap < 1e-14
    assert certify(problem, {"x": fitted}, num=RATIONAL).relative_gap < 1e-14
    assert certify(replace(problem, lipschitz=0.1), {"x": fitted}).relative_gap > 1e-6


def test_isotonic_bounds_are_minima_of_the_lagrangian() -> None:
    rng = np.random.default_rng(10)
    z, y, w = np.sort(rng.uniform(size=6)), rng.normal(size=6), rng.uniform(0.5, 2.0, size=6)
    problem = LipschitzIsotonic(z, y, 1.3, w)
    up, down = rng.uniform(size=(2, 5))
    # where both rows have a multiplier, the common part is free to go: it only costs
    net = {"lipschitz": np.maximum(up - down, 0.0), "monotone": np.maximum(down - up, 0.0)}

    def lagrangian(x: Array) -> float:
        d = np.diff(x)
        return float(0.5 * w @ (x - y) ** 2 + net["lipschitz"] @ (d - 1.3 * np.diff(z)) - net["monotone"] @ d)

    best = scipy.optimize.minimize(lagrangian, y, tol=1e-14).fun
    assert float(problem.dual_bound(net)) == pytest.approx(best, abs=1e-9)
    assert float(problem.dual_bound({"lipschitz": up, "monotone": down})) == pytest.approx(float(problem.dual_bound(net)), rel=1e-12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"positions": np.array([0.0, 2.0, 1.0])}, "positions: not sorted, entry 1 is 2 and entry 2 is 1"),
        ({"positions": np.array([0.0, np.nan, 1.0])}, "positions: 1 of 3 values is not finite .first at index 1"),
        ({"weights": np.array([1.0, -2.0, 1.0])}, "weights: entry 1 is -2"),
        ({"weights": np.zeros(3)}, "weights: all are 0"),
        ({"weights": np.array([1.0, np.inf, 1.0])}, "weights: 1 of 3 values is not finite"),
        ({"targets": np.arange(4.0)}, "positions: 3 values, expected 4"),
        ({"lower_slopes": np.zeros(3)}, "lower_slopes: 3 values, expected 2"),
        ({"upper_slopes": np.array([1.0, -1.0])}, "upper_slopes: entry 1, between samples 1 and 2, is -1"),
        ({"lower_slopes": np.array([0.0, 2.0])}, "contradictory bounds between samples 1 and 2, slope at least 2 and at most 1"),
        ({"lower_slopes": np.ones(2), "low": 0.0, "high": 1.5, "outside": "clip"}, "contradictory bounds between samples 0 and 2, a climb"),
        ({"lower_slopes": np.ones(2), "low": 0.0, "high": 2.0 - 1e-15, "outside": "clip"}, "contradictory bounds between samples 0 and 2"),
        ({"low": 1.0, "high": 0.0}, "low, high: the range is empty, low is 1 and high is 0"),
        ({"low": 0.5}, "targets: 1 of 3 lie outside of the declared range .0.5, inf. .first at index 0: 0.; change the range"),
        ({"low": 0.5, "outside": "trim"}, "outside"),
        ({"lipschitz": -1.0}, "lipschitz"),
    ],
)
def test_isotonic_refuses_what_it_cannot_mean(fields: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"positions": np.arange(3.0), "targets": np.arange(3.0), "lipschitz": 1.0}
    with pytest.raises((InvalidProblem, UnknownName), match=message):
        LipschitzIsotonic(**{**good, **fields})
