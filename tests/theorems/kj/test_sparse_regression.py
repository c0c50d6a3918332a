"""Definition 7 to Theorem 10 and Algorithm 2: the audit's numbers, exact tools against brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from simopt.problems.goodness_choice import GoodnessChoice
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.sparse.forward_greedy import forward_greedy
from simopt.solvers.sparse.forward_selection import forward_selection
from simopt.theorems.kj.goodness.choice_functions import domain, least_loss, loss, predictor, relaxed_loss
from simopt.theorems.kj.goodness.finite_domains import insensitive
from simopt.theorems.kj.regression.smoothed_loss import slope, smoothed
from simopt.theorems.kj.sparse.algorithm_2 import (
    exact_problem,
    hadamard_problem,
    iterations,
    least_insensitive_risk,
    random_problem,
)
from simopt.theorems.kj.sparse.fully_corrective import fully_corrective, problems, residual
from simopt.theorems.kj.sparse.theorem_8 import excess, far, tail
from simopt.theorems.kj.sparse.theorem_9 import bayes_error
from tests.theorems.conftest import quick


@pytest.mark.parametrize(("clusters", "n", "error"), [(2**10, 5, 0.8595), (2**18, 10, 0.9502), (2**20, 5, 0.9956)])
def test_bayes_errors_of_the_audit(clusters: int, n: int, error: float) -> None:
    found = bayes_error(clusters, n)
    assert float(found.low) == pytest.approx(error, abs=6e-5)
    assert float(found.high) - float(found.low) < 1e-9


@pytest.mark.parametrize(("clusters", "n"), [(2, 1), (4, 1), (8, 3)])
def test_bayes_error_by_counting(clusters: int, n: int) -> None:
    rate, total = 2.0**-n, 0.0
    for v in range(1, clusters + 1):
        left = sum(math.comb(v, k) / 2**v * 2 * min(k, v - k) / v for k in range(v + 1))
        total += stats.binom.pmf(v - 1, clusters - 1, rate) * left
    assert float(bayes_error(clusters, n).low) == pytest.approx(total, rel=1e-12)


def test_printed_count_of_steps_on_a_dense_optimum() -> None:
    problem = hadamard_problem(512, 50.0)
    least = float(problem.risk(np.full(512, 50 / 512)))
    w, _ = problem.run(50, 20.0)
    assert float(problem.risk(w)) - least == pytest.approx(38.35, abs=0.01)
    assert 231 - least == pytest.approx(22.56, abs=0.01)
    w, steps = problem.run(iterations(50.0, 20.0, 1.0), 20.0)
    assert (steps, np.count_nonzero(w)) == (351, 351)
    assert float(problem.risk(w)) - least == pytest.approx(15.96, abs=0.01)
    assert iterations(1.0, 0.2, 5.0) == 200


def test_gradient_is_that_of_the_risk() -> None:
    rng = np.random.default_rng(0)
    for seed in range(4):
        problem = random_problem(np.random.default_rng(seed), 12, 5, 2.0, 0.7)
        w, step = rng.normal(size=5) / 4, 1e-6
        numeric = [(problem.risk(w + step * e) - problem.risk(w - step * e)) / (2 * step) for e in np.eye(5)]
        assert problem.gradient(w) == pytest.approx(np.array(numeric), abs=1e-5)


def test_exact_and_float_traces_agree() -> None:
    problem = exact_problem(np.random.default_rng(4), 3, 3)
    floats = type(problem)(
        problem.features.astype(float),
        problem.targets.astype(float),
        problem.masses.astype(float),
        float(problem.radius),
        float(problem.beta),
        None if problem.epsilon is None else float(problem.epsilon),
    )
    for (w, delta, eta), (v, other, step), _ in zip(problem.steps(), floats.steps(), range(4), strict=False):
        assert v == pytest.approx(w.astype(float), abs=1e-12)
        assert (float(delta), float(eta)) == pytest.approx((other, step))


def test_least_insensitive_risk_is_no_more_than_that_of_the_planted_predictor() -> None:
    problem = random_problem(np.random.default_rng(2), 20, 10, 1.0, 0.3)
    w, least = least_insensitive_risk(problem)
    assert np.abs(w).sum() <= 1 + 1e-9
    assert least <= float(problem.risk(np.zeros(10), smooth=False))


def test_smoothed_loss_is_the_infimal_convolution() -> None:
    beta, epsilon = Fraction(2), Fraction(1, 2)
    for r in (Fraction(k, 8) for k in range(-16, 17)):
        grid = [Fraction(k, 16) for k in range(-48, 49)]
        assert min(beta * v**2 / 2 + insensitive(r - v, epsilon) for v in grid) == smoothed(r, epsilon, beta)
        assert abs(slope(r, epsilon, beta)) <= 1


def test_choices_against_random_weights() -> None:
    rng = np.random.default_rng(3)
    made = domain(rng, 3)
    for choice in ((1, 1, 1), (1, 0, 1), (0, 1, 0)):
        least = least_loss(made["masses"], made["gram"], made["epsilon"], made["targets"], choice)
        for _ in range(50):
            w = [Fraction(int(v), 8) for v in rng.integers(-8, 9, size=3)]
            assert (
                loss(
                    made["masses"],
                    made["targets"],
                    made["epsilon"],
                    predictor(made["masses"], made["gram"], w, [Fraction(r) for r in choice]),
                )
                >= least
            )
        tau = sum((p for p, r in zip(made["masses"], choice, strict=True) if r), Fraction(0))
        assert relaxed_loss(made["masses"], made["gram"], made["epsilon"], made["targets"], tau) <= float(least) + 1e-9


def test_binomial_tails() -> None:
    assert float(tail(20, Fraction(1, 5), 7)) == pytest.approx(stats.binom.sf(6, 20, 0.2))
    assert far(4, Fraction(1, 2), Fraction(1, 4)) == Fraction(1, 8)
    made = {"tau": Fraction(1, 2), "q": Fraction(1, 2)}
    low, high = excess(made["tau"], made["q"], 3, Fraction(1, 2), 3)
    assert low == high == Fraction(1, 8) + Fraction(3, 8) + Fraction(3, 8) * Fraction(1, 2) + Fraction(1, 8) * Fraction(1, 4)


def test_landmarks_without_information() -> None:
    assert (1 - 1e-6) ** 1e5 == pytest.approx(0.905, abs=1e-3)
    assert 32 * math.sqrt(math.log(2e6) / 1e5) == pytest.approx(0.385, abs=1e-3)


def test_iterates_are_those_of_the_solver_with_the_printed_rule() -> None:
    problem = random_problem(np.random.default_rng(8), 30, 12, 1.0, 0.2)
    declared = SparseLandmarked(problem.features, problem.targets, 1.0, epsilon=problem.epsilon, smoothness=5.0)
    run = forward_greedy(declared, 0.2, rule="printed")
    w, steps = problem.run(iterations(1.0, 0.2, 5.0), 0.2)
    assert (steps, run.limit) == (len(run.deltas) - 1, 200)
    assert run.weights == pytest.approx(w, abs=1e-12)
    assert run.losses[-1] == pytest.approx(float(problem.risk(w)))


def test_relaxed_choice_is_that_of_the_declared_problem() -> None:
    made = domain(np.random.default_rng(5), 3)
    gram, targets, masses = (np.array(made[key], dtype=float) for key in ("gram", "targets", "masses"))
    tau = made["masses"][0] + made["masses"][1]
    declared = GoodnessChoice(gram, targets, 1.0, float(tau), masses=masses, epsilon=float(made["epsilon"])).declare()
    declared.solve(solver="CLARABEL")
    assert relaxed_loss(made["masses"], made["gram"], made["epsilon"], made["targets"], tau) == pytest.approx(declared.value, abs=1e-7)


def test_fully_corrective_steps_are_those_of_the_library() -> None:
    rng = np.random.default_rng(9)
    for _ in range(6):
        n, d = (int(v) for v in rng.integers(3, 8, 2))
        X, y = rng.integers(-4, 5, (n, d)) / 4, rng.integers(-8, 9, n) / 4
        columns = [[Fraction(v) for v in column] for column in X.T]
        for step in fully_corrective(columns, [Fraction(v) for v in y]):
            sizes = sorted((abs(g) for g in step.gradient), reverse=True)
            if step.chosen:
                fit = forward_selection(X, y, count=len(step.chosen)).weights
                assert set(np.flatnonzero(fit)) <= set(step.chosen)
                assert np.allclose(fit[list(step.chosen)], [float(w) for w in step.weights], atol=1e-9)
                assert float(step.risk) == pytest.approx(np.mean((X @ fit - y) ** 2), abs=1e-12)
            if len(sizes) > 1 and sizes[0] == sizes[1]:
                break  # the library breaks ties by rounding


def test_bound_on_fully_corrective_steps_is_reached_as_the_note_says() -> None:
    nearest = Fraction(0)
    for instance in list(problems(quick("KJ-FC")))[:3]:
        (rival,) = instance["rivals"]
        r = residual(instance["columns"], instance["targets"], dict(enumerate(rival)))
        risk, size = sum(v * v for v in r) / len(r), sum(map(abs, rival))
        for t, step in enumerate(fully_corrective(instance["columns"], instance["targets"])):
            assert step.risk == len(r) - t  # of n orthogonal columns each takes 1 off
            if t:
                nearest = max(nearest, (step.risk - risk) * (t + 1) / (4 * size**2))
    assert nearest == Fraction(5, 16)
