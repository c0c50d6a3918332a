"""Algorithm 2: its steps in fractions, its guarantee with each count of steps, and where the printed constants need |x| ≤ 1."""

import math
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from simopt.core.errors import InvalidProblem, UnknownName
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.sparse.forward_greedy import RULES, forward_greedy, greedy_steps, iteration_count
from simopt.solving.entry_points import solve


def problem_of(seed=0, n=30, d=12, radius=1.0, beta=5.0, size=1.0):
    rng = np.random.default_rng(seed)
    X = size * rng.choice([-1.0, 1.0], size=(n, d))
    return SparseLandmarked(X, X[:, 0] * 0.5 - X[:, 1] * 0.5 + 0.2 * rng.normal(size=n), radius, 0.05, beta)


def exact_steps(problem, count):
    """δ_t of the printed rule in fractions, straight from the listing."""
    X = [[Fraction(v) for v in row] for row in problem.features.tolist()]
    y = [Fraction(v) for v in problem.targets.tolist()]
    C, beta, epsilon, n = Fraction(problem.radius), Fraction(problem.smoothness), Fraction(problem.epsilon), len(y)
    w = [Fraction(0)] * len(X[0])
    for _ in range(count):
        slopes = []
        for row, target in zip(X, y, strict=True):
            r = sum(a * b for a, b in zip(row, w, strict=True)) - target
            size = min(beta * max(abs(r) - epsilon, 0), Fraction(1))
            slopes.append(size if r > 0 else -size)
        theta = [sum(c * row[j] for c, row in zip(slopes, X, strict=True)) / n for j in range(len(w))]
        r = max(range(len(w)), key=lambda j: (abs(theta[j]), -j))
        delta = sum(a * b for a, b in zip(theta, w, strict=True)) + C * abs(theta[r])
        yield delta, list(w)
        eta = min(Fraction(1), delta / (4 * C * C * beta))
        w = [(1 - eta) * v for v in w]
        w[r] += eta * C * (-1 if theta[r] > 0 else 1)


def test_the_printed_steps_are_those_of_the_listing():
    problem = problem_of(n=7, d=4)
    found = [(step.delta, step.weights.copy()) for step in islice(greedy_steps(problem), 6)]
    for (delta, w), (exact, weights) in zip(found, exact_steps(problem, 6), strict=True):
        assert delta == pytest.approx(float(exact), rel=1e-12)
        np.testing.assert_allclose(w, [float(v) for v in weights], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("steps", [None, 5])
def test_an_unknown_rule_is_refused(steps):
    with pytest.raises((InvalidProblem, UnknownName), match="rule"):
        forward_greedy(problem_of(), 0.1, rule="nonsense", steps=steps)


@pytest.mark.parametrize("rule", ["corrected", "line-search", "pairwise", "corrective"])
@pytest.mark.parametrize("size", [0.1, 1.0, 4.0])
def test_the_corrected_count_of_steps_suffices(rule, size):
    problem = problem_of(size=size, radius=1.0 / size)
    best = solve(problem, "active-set", tol=1e-9).certificate.lower
    run = forward_greedy(problem, 0.1, rule=rule)
    assert run.limit == math.ceil(8 * problem.smoothness * (problem.radius * size) ** 2 / 0.1)
    assert problem.objective({"w": run.weights}) - best <= 0.1
    assert run.steps <= run.limit and np.count_nonzero(run.weights) <= run.steps
    assert np.sum(np.abs(run.weights)) <= problem.radius * (1 + 1e-12)
    assert np.all(run.deltas >= run.losses - best - 1e-12)
    if rule in ("corrected", "line-search"):  # each step lowers the loss by δ²/(8βC²X²) at least, or by δ/2 with η = 1
        fall = -np.diff(run.losses)
        curvature = problem.smoothness * (problem.radius * size) ** 2
        assert np.all(fall >= np.minimum(run.deltas[:-1] ** 2 / (8 * curvature), run.deltas[:-1] / 2) - 1e-12)


def test_the_printed_rule_keeps_its_promise_where_its_hypotheses_hold():
    for seed in range(3):
        epsilon = 0.25
        problem = problem_of(seed, beta=1.0 / epsilon)
        run = forward_greedy(problem, epsilon)
        best = solve(problem, "active-set", tol=1e-9).certificate.lower
        assert run.limit == iteration_count(problem, epsilon) == math.ceil(8 / epsilon**2)
        assert problem.objective({"w": run.weights}) - best <= epsilon


def test_the_printed_step_is_too_long_for_large_features():
    problem = problem_of(size=10.0, radius=1.0, beta=0.01)
    printed, corrected = (forward_greedy(problem, 1e-9, rule=rule, steps=300) for rule in ("printed", "corrected"))
    assert np.any(np.diff(printed.losses) > 0.0)
    assert np.all(np.diff(corrected.losses) <= 1e-12)


def test_pairwise_steps_converge_linearly_and_line_search_does_not():
    problem = problem_of(n=60, radius=0.8)
    pairwise, search = (forward_greedy(problem, 1e-9, rule=rule, steps=600) for rule in ("pairwise", "line-search"))
    assert pairwise.reached and not search.reached
    assert np.sum(np.abs(pairwise.weights)) <= problem.radius * (1 + 1e-12)


def test_corrections_trade_off_nearly_dependent_features():
    """The Gaussian of 20 points of the plane, ten of them twice: pairwise steps close the gap only after thousands of them."""
    points = np.random.default_rng(3).uniform(size=(20, 2))
    points = np.vstack([points, points[:10]])
    features = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2))
    problem = SparseLandmarked(features, np.sin(5.0 * points[:, 0]) - points[:, 1], 8.0, 0.02, 40.0)
    pairwise, corrective = (forward_greedy(problem, 1e-8, rule=rule, steps=2000) for rule in ("pairwise", "corrective"))
    assert corrective.reached and not pairwise.reached and corrective.steps <= 200
    best = solve(problem, "active-set", tol=1e-11).certificate
    assert best.lower - 1e-12 <= corrective.losses[-1] <= best.upper + 1e-8
    assert np.sum(np.abs(corrective.weights)) <= problem.radius * (1 + 1e-12)


def test_the_solver_and_its_rules():
    problem = problem_of()
    for rule in RULES:
        found = solve(problem, "forward-greedy", rule=rule, tol=0.2)
        assert found.optimal
    assert solve(problem, "forward-greedy", tol=1e-8).optimal
    assert solve(problem, "forward-greedy", rule="line-search", tol=1e-12, max_iter=20).status.value == "iteration limit"


def test_bad_input_is_named():
    problem = problem_of()
    with pytest.raises(UnknownName, match="rule"):
        forward_greedy(problem, 0.1, rule="print")
    with pytest.raises(InvalidProblem, match="tolerance"):
        forward_greedy(problem, 0.0)
    rough = SparseLandmarked(problem.features, problem.targets, 1.0, 0.1, math.inf)
    with pytest.raises(InvalidProblem, match="smoothness: .* finite β"):
        forward_greedy(rough, 0.1, steps=5)
    refused = solve(rough, "forward-greedy")
    assert refused.status.value == "unsupported" and "finite β" in refused.message
    zero = SparseLandmarked(problem.features, np.zeros(30), 1.0)
    assert forward_greedy(zero, 0.1).steps == 0
