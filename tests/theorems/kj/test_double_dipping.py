"""Appendix B: the largest gap against search, its mean and its stability, and the audit's numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from simopt.claims import Trial
from simopt.claims.kinds import Effort
from simopt.theorems.kj.landmarks import double_dipping
from simopt.theorems.kj.landmarks.dipping_domains import Domain, alone, domain, gaps, largest_gap, linear_gap, mean_gap, random_domain
from simopt.theorems.kj.landmarks.double_dipping import gap_in_ball, minimiser
from simopt.theorems.kj.landmarks.mean_gap import two_walks, walk
from simopt.theorems.kj.landmarks.stability import changes, sharp_pair

HALF = Fraction(1, 2)


def read(instance: dict) -> Domain:
    """The domain of an instance."""
    return Domain(*(instance[name] for name in Domain._fields))


def gap_at(instance: dict, counts: tuple[int, ...], v: np.ndarray) -> float:
    """L − L̂ of the predictor whose weights at the points add up to v."""
    n = sum(counts)
    off = np.array([float(p) - k / n for p, k in zip(instance["masses"], counts, strict=True)])
    predictions = np.array(instance["gram"], dtype=float) @ v / n
    return float(off @ np.abs(predictions - np.array(instance["targets"], dtype=float)))


@pytest.mark.parametrize("seed", range(6))
def test_largest_gap_is_that_of_a_fine_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = random_domain(rng, 3, 2, reach=6)
    for counts in ((2, 0, 0), (1, 1, 0), (0, 1, 1)):
        exact = float(largest_gap(read(made), counts))
        steps = [np.linspace(-k, k, 41) if k else np.zeros(1) for k in counts]
        found = max(gap_at(made, counts, np.array(v)) for v in itertools.product(*steps))
        assert exact - 0.1 <= found <= exact + 1e-12


def test_linear_gap_is_the_largest_gap_where_targets_are_large() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        made = random_domain(rng, 3, 2)
        made["targets"] = [Fraction(int(s) * 3, 2) for s in rng.choice([-1, 1], size=3)]
        for counts in ((2, 0, 0), (1, 0, 1), (0, 1, 1)):
            assert linear_gap(read(made), counts) == largest_gap(read(made), counts)


def test_walks_are_means_of_sums_of_signs() -> None:
    for k in range(8):
        sums = [abs(sum(signs)) for signs in itertools.product((1, -1), repeat=k)]
        assert walk(k) == Fraction(sum(sums), len(sums))
    assert [two_walks(n) for n in (1, 2, 3, 4)] == [1, 2, 2, Fraction(5, 2)]
    assert float(two_walks(400)) / 20 == pytest.approx(2 / np.sqrt(np.pi), rel=1e-2)


def test_landmarks_that_misjudge_themselves() -> None:
    # E g/B is 2 − 2/N for one point and 1 − 1/N for two: the printed constant 2 is reached in the limit for n = 1
    for count in (3, 10):
        assert mean_gap(read(alone(count, 1))) == 2 - Fraction(2, count)
        assert mean_gap(read(alone(count, 2))) == 1 - Fraction(1, count)


def test_sharp_pairs_for_every_size() -> None:
    for n, Y in ((1, 1), (3, 1), (5, 2)):
        made = sharp_pair(n, Fraction(Y))
        assert changes(read(made), made["pairs"]) == Fraction(3 + Y, n) - Fraction(2, n**2)


def test_numbers_of_the_audit() -> None:
    made = domain([HALF, HALF], [[0, 0], [0, 0]], [0, 100], 1, 50)
    limit = 4 * np.sqrt(np.log(20) / 50)
    bad = sum(float(mass) for gap, mass in gaps(read(made)) if gap > limit)
    assert bad == pytest.approx(0.4439, abs=1e-4)
    assert bad == pytest.approx(stats.binom.cdf(np.ceil(25 - limit / 2) - 1, 50, 0.5), rel=1e-9)
    one = tuple(int(x == 0) for x in range(100))
    assert linear_gap(read(alone(100, 1)), one) == Fraction(198, 100) > 1.8895


def test_gap_in_the_ball_is_larger_than_in_the_cube() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        made = random_domain(rng, 3, 3)
        made["targets"] = [Fraction(int(s)) for s in rng.choice([-1, 1], size=3)]
        for counts in ((3, 0, 0), (1, 1, 1), (0, 2, 1)):
            assert gap_in_ball(made["B"], made["gram"], made["masses"], made["targets"], counts) >= linear_gap(read(made), counts) ** 2


def test_minimiser_is_no_worse_than_random_weights() -> None:
    rng = np.random.default_rng(6)
    gram, targets, shares = rng.choice([-1.0, 1.0], size=(5, 5)), rng.normal(size=5), np.array([0.4, 0.0, 0.3, 0.2, 0.1])
    least = shares @ np.abs(minimiser(gram, targets, shares) - targets)
    for _ in range(200):
        assert least <= shares @ np.abs(gram @ (shares * rng.uniform(-1, 1, size=5)) - targets) + 1e-12


def test_printed_bound_is_needed_only_below_four_logarithms() -> None:
    trial = Trial("KJ-DD-small", 0, -1, Effort.QUICK, {})
    sizes = [made.get("n") for made in double_dipping.every_size(trial)]
    assert sizes == [*range(1, 61), None]
