"""The smoothed loss over the ℓ₁ ball: values by hand, the inf-convolution, the dual in fractions, the gap as a sum of its parts."""

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL
from simopt.core.errors import InvalidProblem
from simopt.data.datasets import load_dataset
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.sparse.forward_greedy import forward_greedy
from simopt.solving.entry_points import certify, solve


def random_problem(seed=0, n=20, d=6, **fields):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    values = {"radius": 1.5, "epsilon": 0.1, "smoothness": 4.0} | fields
    return SparseLandmarked(X, X[:, 0] + rng.normal(size=n), **values)


def by_hand(problem, w):
    total = 0.0
    for psi, y in zip(problem.features, problem.targets, strict=True):
        over = abs(float(psi @ w) - y) - problem.epsilon
        beta = problem.smoothness
        if over > 0:
            total += over if beta == math.inf else beta * over**2 / 2 if over < 1 / beta else over - 1 / (2 * beta)
    return total / len(problem.targets)


@pytest.mark.parametrize("beta", [0.3, 4.0, 1e4, math.inf])
def test_the_objective_is_the_mean_of_the_smoothed_loss(beta):
    problem = random_problem(smoothness=beta)
    rng = np.random.default_rng(1)
    for _ in range(5):
        w = rng.normal(size=6) / 4
        assert problem.objective({"w": w}) == pytest.approx(by_hand(problem, w), rel=1e-12)
    if beta < math.inf:
        v = cp.Variable(20)
        r = problem.features @ w - problem.targets
        convolution = beta / 2 * cp.sum_squares(v) + cp.sum(cp.pos(cp.abs(r - v) - problem.epsilon))
        assert cp.Problem(cp.Minimize(convolution / 20)).solve(solver="CLARABEL") == pytest.approx(problem.objective({"w": w}), abs=1e-7)


def test_one_sample_and_one_feature_by_hand():
    # loss of |w − 3| with ε = 1/2, β = 2 on |w| ≤ 1: at w = 1 the residual is −2, beyond ε + 1/β = 1, so 2 − 1/2 − 1/4 with slope −1
    problem = SparseLandmarked(np.ones((1, 1)), np.array([3.0]), 1.0, 0.5, 2.0)
    point = {"w": np.array([1.0])}
    assert problem.objective(point, RATIONAL) == Fraction(5, 4)
    assert problem.dual_bound({"above": np.zeros(1), "below": np.ones(1)}, RATIONAL) == Fraction(5, 4)
    assert problem.gap(point, problem.multipliers(point), RATIONAL) == 0
    assert certify(problem, point).gap == 0.0


def test_the_gap_at_a_point_is_delta_of_algorithm_2():
    problem = random_problem()
    rng = np.random.default_rng(2)
    for _ in range(5):
        w = problem.restore({"w": rng.normal(size=6)})["w"]
        r = problem.features @ w - problem.targets
        slopes = np.sign(r) * np.clip(problem.smoothness * (np.abs(r) - problem.epsilon), 0.0, 1.0)
        theta = problem.features.T @ slopes / len(r)
        delta = theta @ w + problem.radius * np.max(np.abs(theta))
        assert problem.gap({"w": w}, problem.multipliers({"w": w})) == pytest.approx(delta, rel=1e-9, abs=1e-14)


def test_restored_points_are_provably_inside_the_ball_and_keep_their_zeros():
    problem = random_problem()
    rng = np.random.default_rng(3)
    for num in (FLOAT, INTERVAL, RATIONAL):
        for size in (1e-3, 1.0, 1e9):
            w = size * rng.normal(size=6)
            w[2] = 0.0
            back = problem.restore({"w": w}, num)["w"]
            assert num.upper(num.sum(num.abs(back))) <= problem.radius
            assert float(num.mid(back)[2]) == 0.0


def test_no_sharper_bound_than_the_optimum_for_any_multipliers():
    problem = random_problem(seed=4)
    declared = problem.declare()
    declared.solve(solver="CLARABEL")
    rng = np.random.default_rng(5)
    for _ in range(20):
        multipliers = {key: rng.normal(size=20) / 10 for key in ("above", "below")}
        assert problem.dual_bound(multipliers) <= declared.value + 1e-7


def test_bad_input_is_named():
    with pytest.raises(InvalidProblem, match="radius"):
        random_problem(radius=0.0)
    with pytest.raises(InvalidProblem, match="epsilon"):
        random_problem(epsilon=-0.1)
    for beta in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidProblem, match="smoothness"):
            random_problem(smoothness=beta)
    with pytest.raises(InvalidProblem, match="features"):
        SparseLandmarked(np.ones((3, 2)), np.ones(4), 1.0)
    assert SparseLandmarked(np.ones((4, 2)), np.ones(4), 1.0).duplicates == ((0, 1),)


@pytest.mark.parametrize("solver", ["active-set", "interior-point", "forward-greedy", "clarabel"])
@pytest.mark.parametrize("beta", [4.0, math.inf])
def test_a_weight_is_how_often_a_sample_is_there(solver, beta):
    if solver == "forward-greedy" and beta == math.inf:
        pytest.skip("Algorithm 2 needs a finite β")
    one = random_problem(3, n=30, smoothness=beta)
    weights = np.random.default_rng(4).integers(0, 4, size=30)
    twice = np.repeat(np.arange(30), weights)
    weighed = SparseLandmarked(one.features, one.targets, one.radius, one.epsilon, beta, 0.7 * weights)
    repeated = SparseLandmarked(one.features[twice], one.targets[twice], one.radius, one.epsilon, beta)
    first, second = (solve(problem, solver, tol=1e-9) for problem in (weighed, repeated))
    assert first.optimal and second.optimal
    assert first.value == pytest.approx(second.value, rel=2e-9)
    np.testing.assert_allclose(first.point["w"], second.point["w"], atol=1e-5)
    assert certify(weighed, second.point).upper == pytest.approx(certify(repeated, second.point).upper, rel=1e-12)
    assert abs(certify(one, first.point).upper - first.value) > 1e-3  # weights make a difference


@pytest.mark.parametrize("rule", ["printed", "corrected", "line-search", "pairwise", "corrective"])
def test_algorithm_2_with_weights_takes_the_steps_of_repeated_samples(rule):
    one = random_problem(5, n=12, d=4)
    weights = np.random.default_rng(6).integers(0, 4, size=12)
    twice = np.repeat(np.arange(12), weights)
    weighed = SparseLandmarked(one.features, one.targets, one.radius, one.epsilon, one.smoothness, weights)
    repeated = SparseLandmarked(one.features[twice], one.targets[twice], one.radius, one.epsilon, one.smoothness)
    # few of them: where the line search of a pairwise step ends its columns are alike, and rounding picks one; elsewhere that comes later
    steps = 1 if rule in ("pairwise", "corrective") else 2
    first, second = (forward_greedy(problem, 1e-3, rule=rule, steps=steps) for problem in (weighed, repeated))
    np.testing.assert_array_equal(first.picks, second.picks)
    for name in ("deltas", "etas", "losses", "weights"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=1e-9, atol=1e-12)


def test_weights_are_as_many_as_the_samples_and_not_all_0():
    one = random_problem()
    for weights, words in (
        (np.ones(3), "weights: 3 values, expected 20"),
        (np.zeros(20), "weights"),
        (-np.ones(20), "weights: entry 0 is -1"),
    ):
        with pytest.raises(InvalidProblem, match=words):
            SparseLandmarked(one.features, one.targets, 1.0, weights=weights)


@pytest.mark.parametrize("landmarks", [9, 40])
def test_the_recipe_takes_the_similarities_themselves_and_the_scaled_map_is_the_same_problem(landmarks):
    data = load_dataset("yacht")
    chosen = {"samples": 60, "landmarks": landmarks}
    plain, scaled = (SparseLandmarked.from_data(data, np.random.default_rng(3), **chosen, scaled=each) for each in (False, True))
    assert np.abs(plain.features).max() == 1.0  # a landmark is its own nearest point, K(x, x) = 1
    np.testing.assert_allclose(plain.features, math.sqrt(landmarks) * scaled.features, rtol=1e-15)
    assert scaled.radius == pytest.approx(math.sqrt(landmarks) * plain.radius, rel=1e-15)
    w = np.random.default_rng(4).normal(size=landmarks)
    assert plain.objective({"w": w}) == pytest.approx(scaled.objective({"w": math.sqrt(landmarks) * w}), rel=1e-12)
    with pytest.raises(InvalidProblem, match="scaled"):
        SparseLandmarked.from_data(data, np.random.default_rng(3), scaled="no")
