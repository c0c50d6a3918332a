"""The SVM in a ball: certified, on the sphere where the ball binds, a minimiser of the loss where it does not, and its path's pieces."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from svm_cases import linear, noisy, ugly

from simopt.core.errors import UnknownName
from simopt.model.status import Status
from simopt.problems.bounds import Capacity, Penalty
from simopt.problems.hinge_svm import HingeSVM
from simopt.solvers.svm.ball import path_piece
from simopt.solvers.svm.fit import contiguous, svm_fits
from simopt.solving.driver import choose
from simopt.solving.entry_points import certify, solve


def norm(problem, solution):
    """‖f‖."""
    alpha = solution.point["alpha"]
    return math.sqrt(max(alpha @ problem.gram @ alpha, 0.0))


def test_it_is_the_default_solver():
    assert choose(HingeSVM.form("ball"), None).name == "svm"


@pytest.mark.parametrize("capacity", [1e-6, 0.5, 5.0, 50.0, 500.0])
def test_the_ball_binds_and_the_certificate_closes(capacity):
    problem = HingeSVM(*noisy(80, 0), Capacity(capacity))
    solution = solve(problem, "svm", tol=1e-9)
    assert solution.status is Status.OPTIMAL
    assert certify(problem, solution.point, solution.multipliers).relative_gap <= 1e-9
    assert solution.value > 1e-3
    # with a loss left the constraint is active
    assert norm(problem, solution) == pytest.approx(math.sqrt(capacity), rel=1e-6)


def test_it_is_the_penalised_solution_at_some_penalty():
    gram, labels = noisy(70, 1)
    for capacity in (3.0, 30.0, 300.0):
        solution = solve(HingeSVM(gram, labels, Capacity(capacity)), "svm", tol=1e-11)
        alpha, a = solution.point["alpha"], solution.multipliers["margins"] * labels
        strength = math.sqrt((a @ gram @ a) / (alpha @ gram @ alpha))
        problem = HingeSVM(gram, labels, Penalty(strength))
        penalised = solve(problem, "svm", tol=1e-12)
        difference = penalised.point["alpha"] - alpha
        judged = certify(problem, solution.point, solution.multipliers)
        assert judged.gap <= 1e-9
        assert math.sqrt(max(difference @ gram @ difference, 0.0)) <= problem.distance(judged.gap) + problem.distance(1e-12)


@pytest.mark.parametrize("name", [name for name, _, _ in ugly(24, 0)])
@pytest.mark.parametrize("capacity", [0.1, 3.0])
def test_ugly_data_close_and_agree_with_clarabel(name, capacity):
    gram, labels = next((K, y) for case, K, y in ugly(24, 2) if case == name)
    problem = HingeSVM(gram, labels, Capacity(capacity))
    ours, theirs = solve(problem, "svm"), solve(problem, "clarabel", tol=1e-7)
    assert ours.status is Status.OPTIMAL, ours.certificate
    # √c‖v‖ is known to the root of the rounding of vᵀKv where it cancels
    assert ours.certificate.lower <= theirs.value + 1e-7
    assert theirs.certificate.lower <= ours.value + 1e-7


def test_a_small_ball_gives_the_mean_classifier():
    gram, labels = noisy(50, 3)
    mean = labels / math.sqrt(labels @ gram @ labels)
    for capacity in (1.0, 1e-3):
        solution = solve(HingeSVM(gram, labels, Capacity(capacity)), "svm")
        assert solution.point["alpha"] == pytest.approx(math.sqrt(capacity) * mean, rel=1e-12)


def test_a_ball_larger_than_needed_changes_nothing():
    gram, labels = noisy(40, 4)  # independent features: a loss of 0 is reached by some f
    interpolation = math.sqrt(labels @ np.linalg.solve(gram, labels))
    values = [solve(HingeSVM(gram, labels, Capacity((factor * interpolation) ** 2)), "svm").value for factor in (1.0, 3.0, 1e3)]
    assert max(values) <= 1e-8
    assert solve(HingeSVM(gram, labels, Capacity((0.3 * interpolation) ** 2)), "svm").value > 1e-3


def test_a_ball_larger_than_needed_with_a_loss_left():
    # φ = 1 three times with y = +1 and once with y = −1: the loss (3(1 − f)_+ + (1 + f)_+)/4 is least at f = 1, where it is ½
    gram, labels = np.ones((4, 4)), np.array([1.0, 1.0, -1.0, 1.0])
    for capacity in (0.25, 1.0, 4.0, 100.0):
        problem = HingeSVM(gram, labels, Capacity(capacity))
        solution = solve(problem, "svm")
        size = min(1.0, math.sqrt(capacity))
        assert solution.status is Status.OPTIMAL
        assert solution.value == pytest.approx((3 * (1 - size) + 1 + size) / 4, abs=1e-8)
        assert float(gram[0] @ solution.point["alpha"]) == pytest.approx(size, abs=1e-7)


def test_a_flat_piece_of_the_norm():
    # one sample with K = 4: f(x) = y for all λ ≤ 4, with norm ½, and the ball of that radius is met by each of them
    for capacity, value in ((1 / 16, 0.5), (0.25, 0.0), (9.0, 0.0)):
        solution = solve(HingeSVM(np.array([[4.0]]), np.array([-1.0]), Capacity(capacity)), "svm")
        assert solution.status is Status.OPTIMAL
        assert solution.value == pytest.approx(value, abs=1e-8)


def test_a_flat_piece_in_the_middle_of_a_path():
    # φ = 1 and φ = ¼, both y = +1: f = 5C/4 up to 1, where it rests for 4/5 ≤ C ≤ 4 while the first sample's weight falls to 0; then C/4
    gram, labels = np.array([[1.0, 0.25], [0.25, 0.0625]]), np.ones(2)
    for size in (0.5, 1.0, 1.001, 2.0, 4.0, 5.0):
        problem = HingeSVM(gram, labels, Capacity(size**2))
        solution = solve(problem, "svm", tol=1e-10)
        assert solution.status is Status.OPTIMAL
        assert solution.value == pytest.approx((max(0.0, 1 - size) + max(0.0, 1 - size / 4)) / 2, abs=1e-9)
        assert min(size, 4.0) * (1 - 1e-9) <= norm(problem, solution) <= size * (1 + 1e-9)


def test_the_optimum_falls_and_is_convex_in_the_radius():
    gram, labels = noisy(60, 5)
    radii = np.geomspace(0.5, 40.0, 12)
    found = [solve(HingeSVM(gram, labels, Capacity(radius**2)), "svm", tol=1e-10).certificate for radius in radii]
    for one, two in pairwise(found):
        assert two.lower <= one.upper
    for k in range(1, len(radii) - 1):
        share = (radii[k] - radii[k - 1]) / (radii[k + 1] - radii[k - 1])
        assert found[k].lower <= (1 - share) * found[k - 1].upper + share * found[k + 1].upper + 1e-12


def test_inputs_are_not_changed_and_options_are_checked():
    gram, labels = (array.copy() for array in noisy(50, 6))
    kept = gram.copy(), labels.copy()
    problem = HingeSVM(gram, labels, Capacity(20.0))
    solve(problem, "svm")
    assert np.array_equal(gram, kept[0])
    assert np.array_equal(labels, kept[1])
    with pytest.raises(UnknownName, match="capacities"):
        solve(problem, "svm", capacities=3)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 20), rank=st.integers(1, 5), log_capacity=st.floats(-4, 0))
def test_random_problems(seed, n, rank, log_capacity):
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    problem = HingeSVM(linear(rng.normal(size=(n, rank))), labels, Capacity(10.0**log_capacity))
    assert solve(problem, "svm", tol=1e-7).status is Status.OPTIMAL


# The piece of the path.


@pytest.mark.parametrize("cost", [0.3, 3.0, 30.0])
def test_a_piece_foretells_the_path(cost):
    gram, labels = noisy(60, 7)
    gram = contiguous(gram)

    def fit_at(c):
        *_, fit = svm_fits(gram, labels, c, goal=1e-14)
        return fit

    fit = fit_at(cost)
    piece = path_piece(gram, fit)
    step = 1e-6 * cost
    moved = fit_at(cost + step)
    free = (np.abs(fit.weights) > 0) & (np.abs(fit.weights) < 1)
    assert np.array_equal(free, (np.abs(moved.weights) > 0) & (np.abs(moved.weights) < 1)), "a breakpoint: choose another C"
    assert moved.coefficients - fit.coefficients == pytest.approx(step * piece.direction, abs=1e-6 * step + 1e-10)
    assert piece.values == pytest.approx(gram @ piece.direction, abs=1e-10)
    assert piece.square == pytest.approx(piece.direction @ gram @ piece.direction, rel=1e-9)
    # samples on the margin stay there
    assert piece.values[free] == pytest.approx(0.0, abs=1e-9)
    size = math.sqrt(fit.coefficients @ gram @ fit.coefficients)
    for factor in (0.99, 1.01):
        reach = piece.reach(size, factor * size)
        ahead = fit.coefficients + reach * piece.direction
        assert math.sqrt(ahead @ gram @ ahead) == pytest.approx(factor * size, rel=1e-10)
        assert (reach > 0) == (factor > 1)


def test_a_piece_with_a_singular_kernel():
    rng = np.random.default_rng(8)
    gram, labels = contiguous(linear(rng.normal(size=(30, 2)))), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    *_, fit = svm_fits(gram, labels, 0.2, goal=1e-13)
    piece = path_piece(gram, fit)
    free = (np.abs(fit.weights) > 0) & (np.abs(fit.weights) < 1)
    assert np.count_nonzero(free) >= 1
    assert piece.values[free] == pytest.approx(0.0, abs=1e-8)
