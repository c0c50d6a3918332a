"""Lemmas 15, 16, 17 and 22: the audit's exact probabilities, and the exact laws against sampling."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from simopt.theorems.kj.goodness.admissible_weights import mapped, problem, two_points
from simopt.theorems.kj.goodness.finite_domains import insensitive_loss
from simopt.theorems.kj.landmarks.landmark_laws import mean_sizes, random_landmarks, signs
from simopt.theorems.kj.landmarks.piecewise_linear import box, cross_polytope, crossing, largest, value
from simopt.theorems.kj.landmarks.risk_bounds import sums
from simopt.theorems.kj.landmarks.uniform_gaps import WeightedPoints, coins, corners, gaps, indistinct, reach


def chance(instance: dict, bound: float) -> float:
    """P(gap > bound)."""
    return sum(float(mass) for gap, mass in gaps(WeightedPoints(**instance)) if gap > bound)


def test_far_targets_break_lemma_16() -> None:
    found = chance(indistinct(100, Fraction(1, 100)), 3 * 0.01 * np.sqrt(np.log(20) / 100))
    assert found == pytest.approx(0.4602, abs=1e-4)
    assert found == pytest.approx(stats.binom.cdf(49, 100, 0.5))


@pytest.mark.parametrize(("n", "ratio"), [(100, 5.5), (400, 7.4)])
def test_bounded_targets_break_lemma_22(n: int, ratio: float) -> None:
    delta = 1e-8
    bound = 2 * np.sqrt(2 * np.log(2) / n) + np.sqrt(np.log(1 / delta) / (2 * n))
    found = chance(coins(n), bound)
    assert found / delta == pytest.approx(ratio, rel=0.02)
    assert found == pytest.approx(2 * stats.binom.sf(np.ceil(n * (1 + bound) / 2) - 1, n, 0.5), rel=1e-6)


def test_gap_over_the_square_is_that_of_a_search() -> None:
    for instance in (corners(3), coins(4)):
        d, C = len(instance["points"][0]), float(instance["radius"])
        found = max(gap for gap, _ in gaps(WeightedPoints(**instance)))
        X, y, p = (np.array(instance[key], dtype=float) for key in ("points", "targets", "masses"))
        n = instance["n"]
        ways = [w for w in itertools.product(np.linspace(-C, C, 41), repeat=d) if sum(map(abs, w)) <= C + 1e-12]
        best = max(
            float((p - np.array(k) / n) @ np.abs(X @ np.array(w) - y))
            for k in itertools.product(range(n + 1), repeat=len(p))
            if sum(k) == n
            for w in ways
        )
        assert best == pytest.approx(float(found), abs=1e-9)
        assert reach(instance["radius"], instance["points"]) == 1


def test_largest_value_against_vertices_of_the_box() -> None:
    slopes = [[Fraction(1), Fraction(2)], [Fraction(-1), Fraction(1)]]
    convex = largest([Fraction(1)] * 2, slopes, [Fraction(1), Fraction(0)], box([Fraction(1)] * 2))
    ends = itertools.product((Fraction(-1), Fraction(1)), repeat=2)
    assert convex == max(value([Fraction(1)] * 2, slopes, [Fraction(1), Fraction(0)], w) for w in ends)
    concave = largest([Fraction(-1)] * 2, slopes, [Fraction(1), Fraction(0)], box([Fraction(1)] * 2))
    assert concave == 0  # both kinks meet at (1/3, 1/3)
    assert crossing([(slopes[0], Fraction(1)), (slopes[1], Fraction(0))]) == [Fraction(1, 3)] * 2
    assert crossing([(slopes[0], Fraction(1)), (slopes[0], Fraction(0))]) is None
    assert len(cross_polytope(3, Fraction(1))) == 8


def test_law_of_the_landmarking_error_by_sampling() -> None:
    rng = np.random.default_rng(0)
    made = random_landmarks(rng, 3, 6)
    p, K, w = (np.array(made[key], dtype=float) for key in ("masses", "gram", "weights"))
    shares = rng.multinomial(6, p, size=20_000) / 6
    sampled = np.abs(((shares - p) * w) @ K.T) @ p
    exact = sum(float(size * mass) for size, mass in mean_sizes(made))
    assert sum(mass for _, mass in mean_sizes(made)) == 1
    assert sampled.mean() == pytest.approx(exact, abs=5 * sampled.std() / np.sqrt(20_000))
    assert {size for size, _ in mean_sizes(signs(2))} == {0, 1}


def test_constructed_problems_are_solved_by_their_coefficients() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        made = problem(rng, 3)
        gram, C = made["gram"], made["C"]

        def objective(a: list[Fraction], made: dict = made, gram: list = gram, C: Fraction = C) -> Fraction:
            f = mapped(gram, a)
            return sum((x * y for x, y in zip(a, f, strict=True)), Fraction(0)) / 2 + C * insensitive_loss(
                made["masses"], made["targets"], f, made["epsilon"]
            )

        best = objective(made["beta"])
        for _ in range(30):
            other = [b + Fraction(int(v), 16) for b, v in zip(made["beta"], rng.integers(-8, 9, size=3), strict=True)]
            assert objective(other) >= best


def test_two_points_are_sharp() -> None:
    gamma, epsilon_1 = Fraction(1, 3), Fraction(1, 5)
    made = two_points(gamma, epsilon_1)
    assert insensitive_loss(made["masses"], made["targets"], mapped(made["gram"], made["beta"]), made["epsilon"]) == epsilon_1
    assert insensitive_loss(made["masses"], made["targets"], mapped(made["gram"], made["others"][0]), made["epsilon"]) == 0


def test_sums_run_over_all_signs() -> None:
    assert sorted(s[0] for s in sums([[Fraction(1)], [Fraction(2)]])) == [-3, -1, 1, 3]
