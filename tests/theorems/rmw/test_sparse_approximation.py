"""Claims of section 13 of van Rooyen, Menon & Williamson, and the enumerations of supports, balls and partitions behind them."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from simopt.claims import Expected, catalogue
from simopt.theorems.rmw.exact_frank_wolfe import mean_of
from simopt.theorems.rmw.rational_sets import general, orthonormal
from simopt.theorems.rmw.sparse_hulls import best_sparse, partitions, smallest_balls, solution, squared_entropy_number
from simopt.theorems.rmw.theorem_22 import tight_clusters, with_far_point
from simopt.theorems.small_worlds.worlds import minus, squared


def test_whether_herding_outperforms_theorem_22_is_left_open() -> None:
    assert catalogue.find("RMW-mono").expected is Expected.OPEN


def test_linear_systems() -> None:
    assert solution([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(1)]], [Fraction(3), Fraction(1)]) == [2, -1]
    assert solution([[Fraction(1), Fraction(1)], [Fraction(2), Fraction(2)]], [Fraction(1), Fraction(0)]) is None
    assert solution([[Fraction(1), Fraction(1)], [Fraction(2), Fraction(2)]], [Fraction(1), Fraction(2)]) is None


def test_partitions_are_counted_by_stirling_numbers() -> None:
    for size, blocks, number in ((4, 2, 7), (5, 3, 25), (6, 3, 90), (3, 3, 1), (3, 1, 1)):
        made = list(partitions(size, blocks))
        assert len(made) == number == len({tuple(sorted(map(tuple, split))) for split in made})
        assert all(sorted(i for block in split for i in block) == list(range(size)) for split in made)


def test_simplex_has_known_distances_and_radii() -> None:
    for count in (3, 5, 6):
        points = orthonormal(count)
        best = best_sparse(points, mean_of(points), count)
        assert best == [Fraction(1, m) - Fraction(1, count) for m in range(1, count + 1)]
        assert squared_entropy_number(points, 1) == 1 - Fraction(1, count)
        largest = -(-count // 2)  # two blocks: the larger one decides
        assert squared_entropy_number(points, 2) == 1 - Fraction(1, largest)


def test_audit_has_its_ratio_on_the_simplex_with_four_corners() -> None:
    points = orthonormal(4)
    ratio = best_sparse(points, mean_of(points), 2)[1] / (2 * squared_entropy_number(points, 1) / 2)
    assert float(ratio) ** 0.5 == pytest.approx(0.577, abs=1e-3)


def test_points_on_a_line() -> None:
    points = [[Fraction(x)] for x in (0, 1, 2, 5, 6)]
    assert squared_entropy_number(points, 1) == 9
    assert squared_entropy_number(points, 2) == 1
    assert squared_entropy_number(points, 3) == Fraction(1, 4)
    assert best_sparse(points, [Fraction(11, 3)], 2) == [Fraction(16, 9), 0]


def test_repeated_and_dependent_points() -> None:
    points = [[Fraction(0), Fraction(0)]] * 2 + [[Fraction(2), Fraction(0)], [Fraction(1), Fraction(0)]]
    assert smallest_balls(points)[0, 1, 2, 3] == 1
    assert squared_entropy_number(points, 3) == 0
    assert best_sparse(points, [Fraction(1, 2), Fraction(1)], 4) == [Fraction(5, 4), 1, 1, 1]


@pytest.mark.parametrize("seed", range(4))
def test_balls_and_distances_agree_with_convex_programmes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = general(rng, 5, 3, 6)
    target = [Fraction(int(v), 6) for v in rng.integers(-6, 7, size=3)]
    X, t = np.array(points, dtype=float), np.array(target, dtype=float)
    centre, weights = cp.Variable(3), cp.Variable(5, nonneg=True)
    ball = cp.Problem(cp.Minimize(cp.max(cp.norm(X - cp.reshape(centre, (1, 3), order="C"), axis=1))))
    ball.solve(solver=cp.CLARABEL)
    assert float(smallest_balls(points)[0, 1, 2, 3, 4]) ** 0.5 == pytest.approx(ball.value, abs=1e-6)
    near = cp.Problem(cp.Minimize(cp.norm(X.T @ weights - t)), [cp.sum(weights) == 1])
    near.solve(solver=cp.CLARABEL)
    assert float(best_sparse(points, target, 4)[-1]) ** 0.5 == pytest.approx(near.value, abs=1e-5)


def test_formula_behind_the_sharp_constant_is_the_enumerated_distance() -> None:
    made = with_far_point(5)
    points = made["points"]
    N, far, k = 5, Fraction(100), 2
    weight, left = 1 - (k - 1) / far, k + 1
    missing = weight * (N - left) / N
    formula = (N - left) * (weight / N) ** 2 + missing**2 / ((k - 1) / far**2 + left)
    assert best_sparse(points, mean_of(points, made["shares"]), 2 * k)[-1] == formula
    assert squared_entropy_number(points, k) == 1 - Fraction(1, N)


def test_clusters_beat_herding_only_when_they_are_tight() -> None:
    for radius in (Fraction(1, 1000), Fraction(1, 100)):
        assert squared_entropy_number(tight_clusters(radius), 3) == radius**2


def test_coordinate_balls_cover_the_disc_and_fewer_do_not() -> None:
    """ε_4 = 1/√2 and ε_3 = √3/2 in the plane lie between the bounds of RMW-13-ball; the disc itself, by its rational points."""
    angles = [Fraction(k, 16) for k in range(-64, 65)]
    disc = [[r * (1 - t**2) / (1 + t**2), r * 2 * t / (1 + t**2)] for t in angles for r in (Fraction(1, 2), Fraction(1))]
    half = Fraction(1, 2)
    centres = [[x, y] for x in (half, -half) for y in (half, -half)]
    assert max(min(squared(minus(p, c)) for c in centres) for p in disc) <= half
    assert max(min(squared(minus(p, c)) for c in centres[:3]) for p in disc) > half
    for m, radius in ((3, 3**0.5 / 2), (4, 0.5**0.5)):
        assert m**-0.5 <= radius <= 4 * m**-0.5
