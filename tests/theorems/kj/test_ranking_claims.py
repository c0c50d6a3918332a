"""Appendix F: the audit's numbers, and the exact tools against floats, enumeration and sampling."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import isotonic_regression, minimize

from simopt.claims import Trial
from simopt.claims.kinds import Effort
from simopt.data import relevance
from simopt.problems.ranking_goodness import RankingGoodness
from simopt.solving.entry_points import solve
from simopt.theorems.kj.ranking.ranking_worlds import expected_relevance, masses, mean, random_world, squared_loss, world_of
from simopt.theorems.kj.ranking.relevance_lists import BINARY, NATURAL, discounts, eta, list_norm, nearest_descending
from simopt.theorems.kj.ranking.theorem_30 import (
    LandmarkWorld,
    all_lists,
    in_ball,
    label_excesses,
    label_world,
    landmark_excesses,
    landmark_worlds,
    learning,
    nearest_scores,
    trained,
)
from simopt.theorems.kj.ranking.theorem_31 import domains, loss, one_point, optimum


def quick() -> Trial:
    return Trial("test", 0, -1, Effort.QUICK, {})


def test_all_orders_of_all_lists_are_there() -> None:
    found = [tuple(made["placed"]) for made in nearest_scores(quick()) if made]
    assert len(found) == len(set(found)) == sum(3**m - 1 for m in (3, 4))


def test_nearest_descending_scores_against_isotonic_regression() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 5, 9):
        v = rng.integers(-5, 6, size=size)
        assert np.allclose([float(s) for s in nearest_descending(v.tolist())], isotonic_regression(v, increasing=False).x)


@pytest.mark.parametrize("base", [NATURAL, BINARY])
def test_lists_in_enclosures_agree_with_floats_and_with_all_permutations(base: str) -> None:
    for r in ((1, 0), (2, 2, 1), (0, 3, 1, 2)):
        assert np.allclose([float(value) for value in eta(r, base)], relevance.eta(r, base))
        D = [float(d) for d in discounts(len(r), base)]
        best = max(sum(d * v for d, v in zip(D, order, strict=True)) for order in itertools.permutations(r))
        assert float(list_norm(r, base)) == pytest.approx(best)


def test_regret_and_distance_in_floats_with_scores_just_off_the_tie() -> None:
    for made in itertools.islice(nearest_scores(quick()), 1, 200, 7):
        v, s = np.array(made["placed"], dtype=float), np.array([float(x) for x in made["scores"]])
        r = np.log2(1.0 + v)
        D = relevance.discounts(len(v))
        off = s - 1e-9 * np.arange(len(s))  # the order that ties are broken to
        regret = 1.0 + relevance.ndcg_loss(off, r)
        assert regret <= np.linalg.norm(D - D[::-1]) * np.linalg.norm(s / relevance.list_norm(v) - relevance.eta(r)) + 1e-9


def test_numbers_of_the_audit() -> None:
    D = relevance.discounts(2)
    assert np.linalg.norm(D - D[::-1]) == pytest.approx(0.753, abs=5e-4)
    assert relevance.eta([1, 0])[0] == pytest.approx(0.693, abs=5e-4) and relevance.eta([1, 1])[0] == pytest.approx(0.425, abs=5e-4)
    found = optimum(**one_point("1/20"))
    assert found.weights == [Fraction(1, 11)]
    assert 5 * 0.05**1.5 == pytest.approx(0.0559, abs=5e-5)
    assert 4 / (5 - 2 * np.sqrt(2)) ** 2 == pytest.approx(0.8482, abs=5e-5)
    ratios = [2 * np.linalg.norm(relevance.discounts(m)) * np.log(m) / np.sqrt(m) for m in (10, 1000, 10**5)]
    assert ratios == pytest.approx([3.3, 2.6, 2.24], abs=0.05)


def test_the_best_constant_falls_below_the_printed_one_by_a_logarithm() -> None:
    gain = []
    for m in (10**3, 10**4, 10**5, 10**6):
        D = relevance.discounts(m)
        gain.append(np.sqrt(2) * np.linalg.norm(D) / np.linalg.norm(D - D[::-1]))
    assert gain == pytest.approx([2.6, 4.0, 6.0, 8.2], abs=0.05)


def test_loss_of_lists_is_m_times_that_of_pairs_plus_a_constant() -> None:
    rng = np.random.default_rng(5)
    for m in (2, 3):
        made = random_world(rng, m)
        f = [Fraction(int(v), 4) for v in rng.integers(-4, 5, size=len(masses(made["queries"], made["documents"])))]
        relevances, rest = expected_relevance(world_of(made))
        pairs = mean(world_of(made), [(v - r) ** 2 for v, r in zip(f, relevances, strict=True)])
        assert float(squared_loss(world_of(made), f)) == pytest.approx(float(m * pairs + rest))
        assert float(rest) >= -1e-12


def test_optimum_is_the_minimiser() -> None:
    for made in itertools.islice(domains(quick()), 14, 20):
        G, p, r = (np.array(made[key], dtype=float) for key in ("gram", "masses", "targets"))
        x, found = float(made["x"]), optimum(**made)

        def objective(a: np.ndarray, G=G, p=p, r=r, x=x) -> float:
            return float(a @ G @ a / 2 + x * p @ (G @ a - r) ** 2)

        alpha = np.array([float(a) for a in found.alpha])
        assert objective(alpha) <= minimize(objective, np.zeros(len(r)), tol=1e-12).fun + 1e-9
        assert float(loss(made["masses"], made["targets"], found.predictions)) == pytest.approx(float(p @ (G @ alpha - r) ** 2))


def test_weights_that_ranking_needs_and_weights_that_do() -> None:
    g, e, m = 0.1, 0.05, 3
    h, p = float(relevance.eta([1.0] * m)[0]), 200.0 / 9.0 * e * g**2
    gram = np.array([[g**2, 0.6 * g], [0.6 * g, 1.0]])
    gamma = 1.0 / (h * np.hypot(1.0 / g, 0.75 / g - 1.25))
    epsilon_1, rows = e * m * h**2, np.repeat([0, 1], m)

    def least(bound: float) -> tuple[float, float]:
        found = solve(RankingGoodness(gram, np.ones(2 * m), rows, bound, rows, np.array([1.0 - p, p])), "clarabel", tol=1e-9)
        assert found.certificate is not None
        return found.certificate.lower, found.certificate.upper

    assert least(m / (140.0 * epsilon_1 * gamma**3))[0] > epsilon_1
    assert least(m / (2.0 * epsilon_1 * gamma**2) * (1.0 + 1.0 / gamma))[1] < epsilon_1


def test_excess_of_landmarks_against_sampling() -> None:
    rng = np.random.default_rng(7)
    made = list(landmark_worlds(quick()))[-1]
    law = landmark_excesses(LandmarkWorld(**made))
    assert sum(mass for _, mass in law) == 1
    p, w, K = (np.array(made[key], dtype=float) for key in ("masses", "weights", "gram"))
    B, m, r = float(made["bound"]), made["m"], np.array(made["relevance"], dtype=float)
    drawn = rng.multinomial(made["d"], p, size=20_000) / made["d"]
    f, landmarked = B * K @ (p * w), B * (drawn * w) @ K.T
    values = m * ((landmarked - r) ** 2 - (f - r) ** 2) @ p
    expected = float(sum(mass * value for value, mass in law))
    assert values.mean() == pytest.approx(expected, abs=5 * values.std() / np.sqrt(len(values)) + 1e-12)


def test_opposite_lists_always_cost_the_square_of_the_bound() -> None:
    half = [Fraction(1, 2)] * 2
    law = label_excesses(**label_world(half, [Fraction(1), Fraction(-1)], 1, bound=Fraction(1)))
    assert {excess for excess, mass in law if mass} == {1}
    law = label_excesses(**label_world(half, [Fraction(1), Fraction(-1)], 5, bound=Fraction(1)))
    assert {excess for excess, _ in law} == {Fraction(k, 5) ** 2 for k in (1, 3, 5)}


def test_least_squares_in_the_ball_is_optimal() -> None:
    rng = np.random.default_rng(2)
    for rows, columns in ((6, 3), (3, 6)):
        A, b = rng.normal(size=(rows, columns)), rng.normal(size=rows)
        for radius in (0.1, 100.0):
            w = in_ball(A, b, radius)
            pull = A.T @ (b - A @ w)
            assert np.linalg.norm(w) <= radius * (1 + 1e-9)
            assert float(pull @ w) == pytest.approx(radius * float(np.linalg.norm(pull)), abs=1e-7)


def test_training_on_everything_finds_the_order() -> None:
    made = next(iter(learning(quick())))
    found = all_lists(world_of(made))
    f = trained(found, made["gram"], made["bound"], made["d"], made["n"], np.random.default_rng(0))
    assert found.regret(f) == pytest.approx(0.0) and found.regret(np.zeros(2)) > 0.16
