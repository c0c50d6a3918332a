"""The SVM path in λ: its closed form exactly from the threshold on, certified below it, and what any such path must do."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from svm_cases import linear, noisy, ugly

from simopt.arithmetic import RATIONAL
from simopt.core.errors import InvalidProblem
from simopt.model.status import Status
from simopt.problems.bounds import Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.solvers.svm.fit import contiguous, svm_fits
from simopt.solvers.svm.path import balanced_along, balanced_start, fits_along, mean_threshold, svm_path, threshold_of, warm_start
from simopt.solvers.svm.solvers import caps_of
from simopt.solving.entry_points import certify, solve


def mean_point(labels, strength):
    """Coefficients of ω_S/λ."""
    return {"alpha": labels / (labels.size * strength)}


def test_the_threshold_is_the_largest_margin_of_the_mean():
    gram, labels = noisy(30, 0)
    margins = [sum(labels[i] * labels[j] * gram[i, j] for j in range(30)) / 30 for i in range(30)]
    assert mean_threshold(gram, labels) == pytest.approx(max(margins), rel=1e-12)


def test_at_the_threshold_the_mean_is_optimal_in_exact_arithmetic():
    # integers and a power of two: K, the threshold and the coefficients are the real numbers themselves
    rng = np.random.default_rng(1)
    for _ in range(5):
        gram, labels = linear(rng.integers(-3, 4, size=(8, 8)).astype(float)), np.where(rng.random(8) < 0.5, 1.0, -1.0)
        threshold = mean_threshold(gram, labels)
        for factor in (1.0, 2.0, 1024.0):
            strength = 2.0 ** math.ceil(math.log2(threshold)) if factor > 1.0 else threshold
            problem = HingeSVM(gram, labels, Penalty(strength * factor))
            exact = certify(problem, mean_point(labels, strength * factor), {"margins": np.full(8, 0.125)})
            assert exact.gap <= 1e-14
            if factor > 1.0:
                assert certify(problem, mean_point(labels, strength * factor), {"margins": np.full(8, 0.125)}, RATIONAL).gap == 0.0


def test_exactly_at_a_threshold_that_is_a_power_of_two():
    gram, labels = np.diag([8.0, 8.0, 4.0, 2.0]), np.array([1.0, -1.0, 1.0, -1.0])
    assert mean_threshold(gram, labels) == 2.0
    point, multipliers = mean_point(labels, 2.0), {"margins": np.full(4, 0.25)}
    assert certify(HingeSVM(gram, labels, Penalty(2.0)), point, multipliers, RATIONAL).gap == 0.0
    assert svm_path(gram, labels, 2.0).points[0].closed_form
    below = svm_path(gram, labels, np.nextafter(2.0, 0.0)).points[0]
    assert not below.closed_form
    assert below.gap <= 1e-15
    # the margins of the first two samples are capped at 1 below the threshold: f = ω_S/λ would have 2/λ
    for strength in (1.75, 1.0, 0.25):
        (point,) = svm_path(gram, labels, strength, tol=1e-14).points
        assert labels * (gram @ point.coefficients) == pytest.approx(np.minimum(1.0, np.diag(gram) / (4 * strength)), abs=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_just_below_the_threshold_the_mean_is_not_optimal_if_features_are_independent(seed):
    gram, labels = noisy(40, seed)
    assert np.linalg.eigvalsh(gram)[0] > 1e-9
    threshold = mean_threshold(gram, labels)
    strengths = threshold * np.array([1.5, 1.0, 0.999, 0.9])
    path = svm_path(gram, labels, strengths, tol=1e-12)
    assert [p.closed_form for p in path.points] == [True, True, False, False]
    for point in path.points:
        problem = HingeSVM(gram, labels, Penalty(point.regularization))
        loss_of_mean = float(problem.objective(mean_point(labels, point.regularization)))
        difference = point.coefficients - mean_point(labels, point.regularization)["alpha"]
        apart = math.sqrt(max(difference @ gram @ difference, 0.0))
        if point.closed_form:
            assert apart <= 1e-14
            assert point.gap <= 1e-14
        else:
            # what the mean loses exceeds all that is uncertain about the optimum
            assert loss_of_mean > point.upper + 10 * point.gap
            assert apart > 10 * problem.distance(point.gap)
            assert np.min(point.multipliers) < 1 / 40 - 1e-6


def test_the_path_enters_the_mean_continuously():
    gram, labels = noisy(40, 5)
    threshold = mean_threshold(gram, labels)
    mean = labels / 40
    apart = []
    for shortfall in (1e-1, 1e-2, 1e-3):
        (point,) = svm_path(gram, labels, threshold * (1 - shortfall), tol=1e-13).points
        difference = point.coefficients * point.regularization - mean
        apart.append(math.sqrt(difference @ gram @ difference))
    assert apart[0] > 5 * apart[1] > 25 * apart[2] > 0


@pytest.mark.parametrize("name", [name for name, _, _ in ugly(40, 0)])
def test_every_point_is_certified_and_no_worse_than_a_fresh_solve(name):
    gram, labels = next((K, y) for case, K, y in ugly(40, 6) if case == name)
    size = max(mean_threshold(gram, labels), 1e-3)
    path = svm_path(gram, labels, size * np.array([1e-1, 2.0, 1e-4, 1.0, 1e-2]))
    for point in path.points:
        problem = HingeSVM(gram, labels, Penalty(point.regularization))
        judged = certify(problem, {"alpha": point.coefficients}, {"margins": point.multipliers})
        assert judged.gap <= 1.01e-8
        assert judged.upper == pytest.approx(point.upper, abs=1e-9)
        assert judged.gap == pytest.approx(point.gap, abs=1e-10)
        fresh = solve(problem, "svm")
        assert fresh.status is Status.OPTIMAL
        assert abs(fresh.value - point.upper) <= fresh.certificate.gap + point.gap + 1e-12


def test_points_come_in_the_order_given_and_do_not_depend_on_it():
    gram, labels = noisy(80, 7)
    strengths = mean_threshold(gram, labels) * np.array([0.3, 3.0, 0.01, 0.03, 1.0])
    path = svm_path(gram, labels, strengths)
    assert [p.regularization for p in path.points] == list(strengths)
    backwards = svm_path(gram, labels, strengths[::-1])
    for one, two in zip(path.points, backwards.points[::-1], strict=True):
        assert np.array_equal(one.coefficients, two.coefficients)


def test_norm_falls_and_optimum_is_concave_in_the_penalty():
    gram, labels = noisy(100, 8)
    strengths = mean_threshold(gram, labels) * np.geomspace(1e-4, 2.0, 15)
    points = svm_path(gram, labels, strengths, tol=1e-11).points
    allowed = 1e-6
    for one, two in pairwise(points):
        assert two.norm <= one.norm + allowed
        assert two.upper >= one.upper - 1e-10
    for a, b, c in zip(points, points[1:], points[2:], strict=False):
        share = (b.regularization - a.regularization) / (c.regularization - a.regularization)
        assert b.upper >= (1 - share) * (a.upper - a.gap) + share * (c.upper - c.gap) - 1e-12
        # the slope of P* in λ is ½‖f‖²
        slope = (c.upper - a.upper) / (c.regularization - a.regularization)
        assert 0.5 * c.norm**2 - allowed <= slope <= 0.5 * a.norm**2 + allowed


def test_a_start_from_the_neighbour_saves_work():
    gram, labels = noisy(300, 9)
    gram = contiguous(gram)
    *_, fit = svm_fits(gram, labels, 5.0, goal=1e-9)
    *_, cold = svm_fits(gram, labels, 5.2, goal=1e-9)
    *_, warm = svm_fits(gram, labels, 5.2, goal=1e-9, start=warm_start(fit, 5.2))
    assert warm.gap <= 1e-9
    assert warm.pair_steps < cold.pair_steps
    difference = warm.coefficients - cold.coefficients
    assert difference @ gram @ difference <= 2 * 2 * 5.2 * 300 * (warm.gap + cold.gap)


def test_a_start_keeps_the_function_where_no_weight_is_at_its_bound():
    gram, labels = noisy(50, 12)
    *_, fit = svm_fits(contiguous(gram + 5 * np.eye(50)), labels, 10.0, goal=1e-12)
    assert np.max(np.abs(fit.weights)) < 1.0  # such a kernel reaches every margin with small weights
    for cost in (20.0, 1e6):
        assert cost * warm_start(fit, cost) == pytest.approx(fit.coefficients, rel=1e-12)
    *_, bounded = svm_fits(contiguous(gram), labels, 0.1, goal=1e-12)
    full = np.abs(bounded.weights) == 1.0
    assert np.any(full)
    assert np.array_equal(warm_start(bounded, 0.2)[full], bounded.weights[full])


@pytest.mark.parametrize("intercept", [False, True])
def test_with_weights_each_fit_along_the_path_is_that_of_its_problem(intercept):
    gram, labels = noisy(80, 13)
    weights = np.random.default_rng(13).integers(0, 4, size=80).astype(float)
    at_one = HingeSVM(gram, labels, Penalty(1.0), intercept, weights)
    caps = caps_of(at_one)
    gram, threshold = contiguous(gram), threshold_of(gram, labels, caps)
    strengths = max(threshold, 1e-3) * np.array([2.0, 1.0, 0.8, 0.1, 1e-2, 1e-4])
    if intercept:
        fits = list(balanced_along(gram, labels, strengths, goal=1e-9, caps=caps))
    else:
        fits = list(fits_along(gram, labels, strengths, threshold, goal=1e-9, caps=caps))
        assert all(fit.pair_steps == 0 and fit.gap <= 1e-12 for fit in fits[:2])  # ω_S/λ
    for strength, fit in zip(strengths, fits, strict=True):
        point = {"alpha": fit.coefficients} | ({"bias": np.asarray(fit.intercept)} if intercept else {})
        problem = HingeSVM(gram, labels, Penalty(float(strength)), intercept, weights)
        assert certify(problem, point, {"margins": fit.multipliers}).gap <= 2e-9
    if intercept:
        for fit in fits:
            start = balanced_start(fit, labels, 3.0 * fit.cost, caps)
            assert abs(np.sum(start)) <= 1e-9 and np.all(np.abs(start) <= caps) and np.all(start * labels >= 0.0)


def test_inputs_are_not_changed():
    gram, labels = (array.copy() for array in noisy(60, 10))
    strengths = np.array([1e-2, 1e-4])
    kept = gram.copy(), labels.copy(), strengths.copy()
    svm_path(gram, labels, strengths)
    mean_threshold(gram, labels)
    assert all(np.array_equal(a, b) for a, b in zip((gram, labels, strengths), kept, strict=True))
    assert gram.flags.writeable


def test_data_that_are_not_right_are_named():
    gram, labels = noisy(6, 11)
    holed = gram.copy()
    holed[1, 2] = np.nan
    wrong = labels.copy()
    wrong[3] = 0.0
    for K, y, strengths, tol, message in (
        (gram, wrong, 0.1, 1e-8, r"labels: 1 of 6 labels are none of -1, 1 \(first at index 3: 0\)"),
        (holed, labels, 0.1, 1e-8, "gram: 1 of 36 values is not finite"),
        (gram[:5], labels, 0.1, 1e-8, "gram: shape"),
        (gram, labels[:4], 0.1, 1e-8, "gram: shape"),
        (gram, labels, [0.1, 0.0], 1e-8, "regularizations: entry 1 is 0"),
        (gram, labels, -1.0, 1e-8, "regularizations"),
        (gram, labels, "x", 1e-8, "regularizations"),
        (gram, labels, 0.1, 0.0, "tol"),
        (gram, labels, 0.1, 2.0, "tol"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            svm_path(K, y, strengths, tol=tol)
    with pytest.raises(InvalidProblem, match="labels"):
        mean_threshold(gram, wrong)


def test_degenerate_data():
    for gram, labels in ((np.zeros((3, 3)), np.array([1.0, -1.0, 1.0])), (np.ones((2, 2)), np.array([1.0, -1.0]))):
        path = svm_path(gram, labels, [1e-6, 1.0])
        assert path.threshold == 0.0
        for point in path.points:
            assert point.closed_form
            assert point.norm == 0.0
            assert point.upper == 1.0
            assert point.gap == 0.0
    (one,) = svm_path(np.array([[4.0]]), np.array([-1.0]), 1.0).points
    assert one.coefficients == pytest.approx([-0.25])
