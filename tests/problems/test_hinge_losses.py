"""Landmarked SVR, EXC, the hinge SVM, the mean classifier and isotonic regression against brute force and peers."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from simopt.arithmetic import FLOAT, RATIONAL
from simopt.arrays import Array
from simopt.certificate import certify
from simopt.errors import InvalidProblem, UnknownName
from simopt.problems import _exc_cases, _svr_cases
from simopt.problems._exc import best_constant_thresholds
from simopt.problems._recipes import small_kernel
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.exc_ordinal_penalised import EXCOrdinalPenalised
from simopt.problems.hinge_svm import HingeSVM
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.problems.landmarked_svr_penalised import LandmarkedSVRPenalised
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.problems.mean_classifier import MeanClassifier

ANGLES = np.linspace(0.0, 2.0 * np.pi, 20001)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)])


def random_prices(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    above, below = rng.uniform(0, 1.0 / n, size=(2, n))
    return np.where(above > below, above, 0.0), np.where(above > below, 0.0, below)


def test_svr_bounds_are_minima_of_the_lagrangian() -> None:
    rng = np.random.default_rng(0)
    features, targets = _svr_cases.instance(rng, 5, 2)
    above, below = random_prices(rng, 5)
    fixed = float((below - above) @ targets - 0.1 * np.sum(above + below))
    g = features.T @ (above - below)
    multipliers = {"above": above, "below": below}
    ball = LandmarkedSVR(features, targets, 1.7, 0.1)
    assert float(ball.dual_bound(multipliers)) == pytest.approx(fixed + float(np.min(1.7 * g @ CIRCLE)), rel=1e-6)
    penalised = LandmarkedSVRPenalised(features, targets, 0.3, 0.1)
    best = scipy.optimize.minimize(lambda w: fixed + g @ w + 0.15 * w @ w, np.zeros(2), tol=1e-14).fun
    assert float(penalised.dual_bound(multipliers)) == pytest.approx(best, rel=1e-9)


def test_svr_objectives_match_the_formula_written_out() -> None:
    rng = np.random.default_rng(1)
    features, targets = _svr_cases.instance(rng, 7, 3)
    w = 0.1 * rng.normal(size=3)
    loss = sum(max(abs(float(w @ row) - y) - 0.2, 0.0) for row, y in zip(features, targets, strict=True)) / 7
    assert float(LandmarkedSVR(features, targets, 2.0, 0.2).objective({"w": w})) == pytest.approx(loss, rel=1e-13)
    assert float(LandmarkedSVRPenalised(features, targets, 2.0, 0.2).objective({"w": w})) == pytest.approx(loss + w @ w, rel=1e-13)


@pytest.mark.parametrize("k", [-30, -9, 12, 30])
def test_doing_nothing_is_not_optimal_in_small_units(k: int) -> None:
    rng = np.random.default_rng(2)
    features, targets = _svr_cases.instance(rng, 20, 3)
    s = 2.0**k
    one = certify(LandmarkedSVR(features, targets, 3.0, 0.1), {"w": np.zeros(3)})
    scaled = certify(LandmarkedSVR(features, targets * s, 3.0 * s, 0.1 * s), {"w": np.zeros(3)})
    assert one.relative_gap > 0.1
    assert scaled.relative_gap == one.relative_gap


def written_out(features: Array, labels: Array, w: Array, b: Array, gamma: float) -> float:
    ends = np.concatenate([[-math.inf], b, [math.inf]])
    total = 0.0
    for row, label in zip(features, labels.astype(int), strict=True):
        f = float(w @ row)
        total += max(ends[label - 1] + gamma - f, 0.0) + max(f - ends[label] + gamma, 0.0)
    return total / len(labels)


def test_exc_objectives_match_the_formula_written_out() -> None:
    rng = np.random.default_rng(3)
    features, labels = _exc_cases.instance(rng, 12, 2, 4)
    point = {"w": rng.normal(size=2), "thresholds": np.sort(rng.normal(size=3))}
    expected = written_out(features, labels, point["w"], point["thresholds"], 0.7)
    assert float(EXCOrdinal(features, labels, 4, 0.7, radius=9.0).objective(point)) == pytest.approx(expected, rel=1e-13)
    penalised = EXCOrdinalPenalised(features, labels, 4, 0.7, regularization=0.4)
    assert float(penalised.objective(point)) == pytest.approx(expected + 0.2 * point["w"] @ point["w"], rel=1e-13)


@pytest.mark.parametrize("labels", [[1, 2, 3, 3], [1, 1, 4, 4, 4], [2, 2], [4], [3, 1, 4, 2, 2, 1]])
@pytest.mark.parametrize(("gamma", "delta"), [(1.0, 0.0), (0.3, 0.5), (1.0, 3.0)])
def test_best_constant_thresholds_against_every_combination_of_kinks(labels: list[int], gamma: float, delta: float) -> None:
    given = np.array(labels, dtype=float)
    j = np.arange(1, 4)
    kinks = np.unique(np.concatenate([sign * gamma - j * delta for sign in (1, -1)]))
    choices = (np.array(c) + j * delta for c in itertools.combinations_with_replacement(kinks, 3))
    best = min(written_out(np.zeros((len(given), 1)), given, np.zeros(1), b, gamma) for b in choices)
    found = best_constant_thresholds(given, 4, gamma, delta)
    assert np.all(np.diff(found) >= delta - 1e-12)
    assert written_out(np.zeros((len(given), 1)), given, np.zeros(1), found, gamma) == pytest.approx(best, abs=1e-12)
    # finer steps of one threshold at a time, or of all of them, do not improve on it: the problem is convex
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = np.maximum.accumulate(found - j * delta + 0.3 * rng.normal(size=3)) + j * delta
        assert written_out(np.zeros((len(given), 1)), given, np.zeros(1), other, gamma) >= best - 1e-12


@pytest.mark.parametrize("delta", [0.0, 0.5])
def test_repaired_multipliers_balance_the_thresholds(delta: float) -> None:
    rng = np.random.default_rng(4)
    features, labels = _exc_cases.instance(rng, 25, 2, 5)
    problem = EXCOrdinal(features, labels, 5, 1.0, delta, radius=2.0)
    for _ in range(20):
        given = {"above": rng.uniform(0, 0.05, 20), "below": rng.uniform(0, 0.05, 20), "order": rng.uniform(0, 0.1, 3)}
        assert len(problem.high_rows) == len(problem.low_rows) == 20
        prices = problem.repaired(problem.prices(given))
        _, g_b, _ = problem.gradients(FLOAT, prices)
        assert np.max(np.abs(g_b)) < 1e-15
        for before, after in zip(problem.prices(given)[:2], prices[:2], strict=True):
            assert np.all(after <= before + 1e-18)
            assert np.all(after >= 0)
        assert np.all(prices[2] >= 0)


def test_clipping_thresholds_into_the_box_never_raises_the_loss() -> None:
    rng = np.random.default_rng(5)
    features, labels = _exc_cases.instance(rng, 15, 2, 4)
    for delta in (0.0, 0.4, 2.0):
        problem = EXCOrdinal(features, labels, 4, 0.5, delta, radius=1.0)
        low, high = problem.box(math.inf)
        for _ in range(50):
            b = np.cumsum(np.concatenate([[8.0 * rng.normal()], delta + 6.0 * rng.exponential(size=2)]))
            direction = rng.normal(size=2)
            point = {"w": direction / np.linalg.norm(direction), "thresholds": b}
            restored = problem.restore(point)
            assert np.all(restored["thresholds"] >= low)
            assert np.all(restored["thresholds"] <= high)
            assert np.all(np.diff(restored["thresholds"]) >= delta - 1e-12)
            assert float(problem.objective(restored)) <= float(problem.objective(point)) + 1e-12


def test_exc_bounds_are_minima_of_the_lagrangian_over_ball_and_box() -> None:
    rng = np.random.default_rng(6)
    features, labels = np.array([[1.0, 0.2], [-0.5, 1.0], [0.3, -0.8]]), np.array([1.0, 2.0, 3.0])
    problem = EXCOrdinal(features, labels, 3, 0.4, 0.3, radius=1.5)
    for _ in range(5):
        given = {"above": rng.uniform(0, 1 / 3, 2), "below": rng.uniform(0, 1 / 3, 2), "order": rng.uniform(0, 0.2, 1)}
        p, q, nu = given["above"], given["below"], given["order"]
        low, high = problem.box(math.inf)

        def lagrangian(w: Array, b: Array, p: Array = p, q: Array = q, nu: Array = nu) -> float:
            f = features @ w
            hinges = p @ (f[:2] - b + 0.4) + q @ (b + 0.4 - f[1:])
            return float(hinges + nu[0] * (0.3 - b[1] + b[0]))

        corners = [np.array(corner) for corner in itertools.product(*zip(low, high, strict=True))]
        best_corner = min(corners, key=lambda b: lagrangian(np.zeros(2), b))
        best = min(lagrangian(1.5 * CIRCLE[:, i], best_corner) for i in range(0, len(ANGLES), 4))
        assert float(problem.bound(FLOAT, problem.prices(given), math.inf)) == pytest.approx(best, abs=1e-5)
        assert float(problem.dual_bound(given)) >= float(problem.bound(FLOAT, problem.prices(given), math.inf))


@pytest.mark.parametrize(
    ("fields", "message"), [({"classes": 1}, "classes"), ({"gamma": 0.0}, "gamma"), ({"labels": np.array([1.0, 2.0, 9.0])}, "labels")]
)
def test_exc_refuses_what_it_cannot_mean(fields: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"features": np.eye(3), "labels": np.array([1.0, 2.0, 3.0]), "classes": 3, "radius": 1.0}
    with pytest.raises(InvalidProblem, match=message):
        EXCOrdinal(**{**good, **fields})


def test_the_mean_is_the_solution_of_a_strongly_regularized_svm() -> None:
    K, y = small_kernel(np.random.default_rng(7), 14)
    labels = np.where(y > 0, 1.0, -1.0)
    threshold = float(np.max(labels * (K @ labels)) / 14)
    for factor in (1.0, 2.0):
        strength = factor * threshold * (1 + 1e-12)
        point = {"alpha": labels / (14 * strength)}
        assert certify(HingeSVM(K, labels, strength), point).relative_gap < 1e-12
        assert certify(HingeSVM(K, labels, strength), point, num=RATIONAL).relative_gap < 1e-12
    weak = HingeSVM(K, labels, 0.5 * threshold)
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
