"""Definitions 1 to 4, Algorithm 1, Theorems 5 and 6: the audit's numbers, the exact tools behind them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.optimize import linprog

from simopt.claims import catalogue
from simopt.claims.kinds import Effort
from simopt.theorems.kj.goodness.admissible_weights import _continuous, _cost
from simopt.theorems.kj.goodness.finite_domains import (
    HALF,
    domain,
    least_loss,
    least_violation,
    predicted,
    random_domain,
    with_targets_in_weights,
)
from simopt.theorems.kj.goodness.theorem_6 import LEVELS, MARGINS, four_points, inner_products, smallest
from simopt.theorems.kj.goodness.utility import within_cells
from simopt.theorems.kj.regression.algorithm_1 import FAMILIES, RegressionWorld, algorithm_1, empirical, sampled, unbounded, world
from simopt.theorems.kj.regression.cost_of_prediction import chance
from simopt.theorems.kj.regression.nearly_fair_coin import passed, reached
from simopt.theorems.kj.regression.scalar_fits import excesses, fits, on_the_line
from simopt.theorems.kj.regression.theorem_5 import constant, least_squared_error
from tests.theorems.conftest import quick


def test_least_violation_against_linear_programmes() -> None:
    rng = np.random.default_rng(3)
    for _ in range(6):
        made = random_domain(rng, 3, targets=[-1, 1, 2])
        bound, p = Fraction(2), np.array(made["masses"], dtype=float)
        K, y = np.array(made["gram"], dtype=float), np.array(made["targets"], dtype=float)
        best = 1.0
        for count in range(1, 4):
            for rows in map(list, combinations(range(3), count)):
                found = linprog(np.zeros(3), A_eq=(K * p)[rows], b_eq=y[rows], bounds=[(-2.0, 2.0)] * 3)
                best = min(best, 1.0 - p[rows].sum()) if found.status == 0 else best
        assert float(least_violation(made, bound)) == pytest.approx(best, abs=1e-9)


def test_both_definitions_on_the_two_examples_of_the_audit() -> None:
    one = domain([1], [[1]], [2])
    assert least_violation(with_targets_in_weights(one), Fraction(1)) == 0
    assert least_violation(one, Fraction(1)) == 1 and least_violation(one, Fraction(2)) == 0
    two = domain([HALF, HALF], [[0, 1], [0, 0]], [1, 0])
    assert least_violation(two, Fraction(2)) == 0
    assert least_violation(with_targets_in_weights(two), Fraction(10**6)) == HALF


def test_squared_error_numbers_of_the_audit() -> None:
    tenth = constant(1, [Fraction(9, 10), Fraction(1, 10)], [1, -1], Fraction(1))
    assert least_squared_error(tenth["targets"], tenth["masses"]) == Fraction(9, 25)
    assert least_loss(tenth, Fraction(1)).high == Fraction(1, 5)
    rare = constant(1, [Fraction(999, 1000), Fraction(1, 1000)], [1, -1], Fraction(1))
    assert float(least_squared_error(rare["targets"], rare["masses"]) / Fraction(least_loss(rare, Fraction(1)).high)) == pytest.approx(
        1.998
    )


def test_median_in_each_cell() -> None:
    made = domain([Fraction(1, 4)] * 4, [[0] * 4] * 4, [0, 4, 1, 2], cells=[0, 0, 1, 1])
    assert within_cells(made["cells"], made["masses"], made["targets"]) == Fraction(1, 4) * (4 + 1)


@pytest.mark.parametrize("gamma", MARGINS)
def test_inner_products_of_the_four_points(gamma: Fraction) -> None:
    g = float(gamma)
    third = np.sqrt(1.0 - 2.0 * g * g)
    X = np.array([[g, g, third], [g, -g, third], [-g, g, third], [-g, -g, third]])
    assert np.allclose(X @ X.T, np.array(inner_products(gamma**2), dtype=float))


def test_ratios_of_the_smallest_bound_to_the_printed_one() -> None:
    points = {e: four_points(HALF, e) for e in LEVELS}
    made = {e: float(smallest(at["masses"], at["gram"], at["targets"], e).high * 8 * e / 4) for e, at in points.items()}
    printed = {"1/10": 1.0, "1/6": 1.0, "1/5": 1.23, "1/4": 1.5, "1/3": 1.6, "2/5": 1.41, "49/100": 1.04}
    for level, ratio in printed.items():
        assert made[Fraction(level)] == pytest.approx(ratio, abs=0.006)


def test_excesses_have_total_probability_one_and_simulate() -> None:
    from simopt.claims import Trial

    trial = Trial("test", 0, -1, Effort.QUICK, {})
    for instance in fits(trial):
        law = excesses(**instance)
        assert sum(mass for _, mass in law) == 1 and min(value for value, _ in law) >= 0
    law = excesses("orthonormal", N=9, n=5)
    rng = np.random.default_rng(5)
    met = [len(set(rng.integers(0, 9, size=5))) for _ in range(20_000)]
    assert float(sum(v * m for v, m in law)) == pytest.approx(2 / 3 * (1 - np.mean(met) / 9), abs=0.004)


def test_worst_minimiser_on_the_line_against_a_grid() -> None:
    instance = on_the_line([HALF, HALF], [1, Fraction(-1, 2)], [Fraction(1, 2), 1], 2)
    grid = np.linspace(-1.0, 1.0, 4001)
    X, y = np.array([1.0, -0.5]), np.array([0.5, 1.0])
    risks = np.abs(np.outer(grid, X) - y)
    truth = risks @ [0.5, 0.5]
    for counts, (value, _) in zip(((0, 2), (1, 1), (2, 0)), excesses(**instance), strict=True):
        seen = risks @ np.array(counts)
        worst = truth[seen <= seen.min() + 1e-12].max() - truth.min()
        assert float(value) == pytest.approx(worst, abs=2e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_bounded_and_good(family: str) -> None:
    found = world(family, 0.0)
    assert np.abs(found.gram).max() <= 1.0 + 1e-12 and np.abs(found.weights).max() <= found.bound + 1e-9
    assert found.masses.sum() == pytest.approx(1.0)
    f = found.gram @ (found.masses * found.weights)
    assert found.risk(f) == pytest.approx(found.level, abs=1e-8)


def test_repeated_landmarks_give_the_predictions_of_their_copies() -> None:
    from simopt.problems.bounds import Ball
    from simopt.problems.landmarked_svr import LandmarkedSVR
    from simopt.solving.entry_points import solve

    found, rng = world("random signs", 0.05), np.random.default_rng(1)
    landmarks, sample = sampled(found.masses, 9, rng), sampled(found.masses, 12, rng)
    fit = algorithm_1(found, landmarks, sample)
    columns, rows = np.repeat(np.arange(6), landmarks.astype(int)), np.repeat(np.arange(6), sample.astype(int))
    plain = solve(LandmarkedSVR(found.gram[np.ix_(rows, columns)] / 3.0, found.targets[rows], Ball(found.bound), 0.05), tol=1e-8)
    assert plain.value == pytest.approx(fit.loss, abs=1e-6)
    assert empirical(found, sample, fit.predictions) == pytest.approx(fit.loss, abs=1e-9)


def test_nothing_is_learnt_without_a_bound() -> None:
    found, rng = unbounded(40), np.random.default_rng(2)
    assert found.risk(found.gram @ (found.masses * found.weights)) == 0.0
    landmarks, sample = sampled(found.masses, 10, rng), sampled(found.masses, 10, rng)
    fit = algorithm_1(found, landmarks, sample)
    assert np.all(fit.predictions[landmarks == 0] == 0.0)
    assert found.risk(fit.predictions) >= np.mean(landmarks == 0)


@pytest.mark.parametrize(("target", "y"), [("one", np.ones_like), ("square", np.square)])
def test_losses_on_the_interval(target: str, y: type) -> None:
    x = (np.arange(20_000) + 0.5) / 20_000
    for a in (Fraction(-1, 2), Fraction(1, 4), Fraction(5, 4)):
        assert float(_continuous(target, a)) == pytest.approx(np.abs(float(a) * x - y(x)).mean(), abs=1e-6)
    W = Fraction(9, 8) if target == "one" else Fraction(1, 4)
    costs = [
        float(W2**2) / 2 + float(_cost(target, W)) * float(_continuous(target, W2)) for W2 in (W - Fraction(1, 50), W, W + Fraction(1, 50))
    ]
    assert costs[1] < min(costs[0], costs[2])


def test_predictions_of_definition_2() -> None:
    made = domain([Fraction(1, 4), Fraction(3, 4)], [[1, 2], [3, 4]], [0, 0])
    assert predicted(made["masses"], made["gram"], [Fraction(1), Fraction(-1)]) == [Fraction(1, 4) - Fraction(3, 2), Fraction(3, 4) - 3]
    for bound, epsilon in product((Fraction(0), HALF), (Fraction(0), HALF)):
        assert least_loss(made, bound, epsilon).high == 0


def test_a_nearly_fair_coin_is_learnt_the_wrong_way_round() -> None:
    eta = 0.1
    coin = RegressionWorld(np.ones((2, 2)), np.array([1.0, -1.0]), np.array([0.5 + eta, 0.5 - eta]), 1.0, 0.0, 1.0 - 2.0 * eta, np.ones(2))
    fit = algorithm_1(coin, np.array([3.0, 2.0]), np.array([4.0, 5.0]))
    assert coin.risk(fit.predictions) - coin.level == pytest.approx(4.0 * eta, abs=1e-5)


def test_what_a_nearly_fair_coin_reaches_against_exact_tails() -> None:
    n, delta = 25, Fraction(1, 50)
    eta = Fraction(round(100 * reached(n, float(delta)) / 4 * n**0.5), 100 * 5)  # a multiple of 1/(100 √n)

    def tail(chance: Fraction, least: int) -> Fraction:
        return sum((comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(least, n + 1)), Fraction(0))

    assert tail(HALF - eta, 13) > delta >= tail(HALF - eta - Fraction(1, 500), 13)
    least = passed(n, 0.1, float(delta))
    assert tail(Fraction(2, 5), least) > delta >= tail(Fraction(2, 5), least + 1)


def test_chance_of_enough_informative_landmarks_is_a_binomial_tail() -> None:
    for d, tau, wanted in ((12, Fraction(1, 5), 3), (7, Fraction(1, 2), 7), (5, Fraction(1, 3), 6), (4, Fraction(1, 4), 0)):
        by_hand = sum((tau ** sum(s) * (1 - tau) ** (d - sum(s)) for s in product((0, 1), repeat=d) if sum(s) >= wanted), Fraction(0))
        assert chance(d, tau, wanted) == by_hand
    for tau, wanted in ((Fraction(1, 8), 2), (Fraction(1, 3), 5)):
        mean = sum((1 - chance(d, tau, wanted) for d in range(300)), Fraction(0))  # Σ P(more than d draws are needed)
        assert float(mean) == pytest.approx(float(wanted / tau), rel=1e-9)


@pytest.mark.parametrize("name", ["KJ-cost"])
def test_sizes_in_the_sentence_are_those_that_are_run(name: str) -> None:
    claim = catalogue.find(name)
    found = [(len(one["X"]), len(one["chosen"]), one["k"]) for one in claim.instances(quick(name))]
    for letter, values in zip("ndk", zip(*found, strict=True), strict=True):
        assert f"{letter} = " + " and ".join(str(v) for v in sorted(set(values))) in claim.says
