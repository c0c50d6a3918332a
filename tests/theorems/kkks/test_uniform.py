"""The rows that are uniform in w: what is open, and the suprema against exhaustive search."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from simopt.claims import Expected, catalogue, runner
from simopt.claims.kinds import Verdict
from simopt.theorems.kkks import lemma_7, lemma_8
from simopt.theorems.kkks.chain_supremum import best_pair, best_sequence
from simopt.theorems.kkks.finite_models import finite_model, net, points_in_disc
from simopt.theorems.kkks.float_tron import lpav as float_lpav
from simopt.theorems.kkks.piecewise_linear import interpolating
from simopt.theorems.kkks.rational_lpav import lpav

OPEN = ["KK-T3", "KK-L8", "KK-L7"]


@pytest.mark.parametrize("name", OPEN)
def test_open_rows_have_the_verdict_they_had_last_and_say_what_is_missing(name: str) -> None:
    claim = catalogue.find(name)
    assert claim.expected is Expected.OPEN
    assert claim.note.startswith("Missing: ")
    result = runner.run(name)
    assert result.ok, result.trace
    assert all(row.checks and row.verdict is claim.last is Verdict.HOLDS for row in result.rows.values())


def test_row_covered_by_another_has_checks() -> None:
    assert catalogue.find("KK-L7").covers == ("KK-L4",)


def sequences(apart: np.ndarray, levels: int) -> list[tuple[int, ...]]:
    """All u on the grid with 0 ≤ u_{k+1} − u_k ≤ apart_k, as levels."""
    grid = range(levels)
    kept = []
    for u in itertools.product(grid, repeat=len(apart) + 1):
        if all(0 <= b - a <= s * (levels - 1) + 1e-9 for (a, b), s in zip(itertools.pairwise(u), apart, strict=True)):
            kept.append(u)
    return kept


@pytest.mark.parametrize("seed", range(6))
def test_best_sequence_and_pair_against_all_sequences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, levels = 4, 5
    apart = rng.choice([0.0, 0.25, 0.3, 0.5, 2.0], size=points - 1)
    gains, costs = rng.standard_normal((points, levels)), rng.standard_normal(points)
    every = sequences(apart, levels)
    assert best_sequence(gains, apart) == pytest.approx(max(sum(gains[k, v] for k, v in enumerate(u)) for u in every))
    pairs = (float(costs @ np.abs(np.subtract(a, b))) / (levels - 1) for a in every for b in every)
    assert best_pair(costs, apart, levels) == pytest.approx(max(pairs))


def test_deviations_are_those_of_functions_of_the_class() -> None:
    rng = np.random.default_rng(3)
    model = finite_model("circle", "sigmoid", 1.0)
    frequencies, ones = lemma_7.drawn(model, 300, rng)
    vectors = net(1.0, 5, (1.0,))
    found = lemma_7.deviations(model, frequencies, ones, vectors)
    k = len(model.X)
    for w in vectors:
        for start in (-1.0, -0.5, 0.0, 0.3):
            u, v = (np.clip(model.X @ w - s, 0, 1) for s in (start, 0.0))
            labels = frequencies @ u**2 - 2 * ones @ u + ones.sum() - np.mean(u**2 - 2 * u * model.means + model.means)
            assert abs(labels) <= found[lemma_7.LABELS] + 0.02  # the grid has 41 and 17 values
            assert abs((frequencies - 1 / k) @ np.square(u - model.means)) <= found[lemma_7.TRUE_MEANS] + 0.02
            assert abs((frequencies - 1 / k) @ np.abs(u - v)) <= found[lemma_7.PAIRS] + 0.04
    assert all(0 < value < 1 for value in found.values())
    nothing = lemma_7.deviations(model, np.full(k, 1 / k), model.means / k, vectors)
    assert max(nothing.values()) < 1e-12


def test_excess_is_that_of_the_best_function() -> None:
    model = finite_model("disc", "ramp around 0", 1.0)
    rng = np.random.default_rng(4)
    sample = model.sample(200, rng)
    everywhere = np.ones(len(model.X))
    for w in net(1.0, 4, (1.0,)):
        best = float_lpav(model.X @ w, model.means, everywhere).values
        assert lemma_8.excess(model, best, sample, w) >= -1e-12
        other = np.clip(model.X @ w + 0.4, 0, 1)
        assert np.mean(np.square(best - model.means)) <= np.mean(np.square(other - model.means)) + 1e-12


def test_disc_is_filled_evenly() -> None:
    points = points_in_disc(6000)
    assert np.all(np.linalg.norm(points, axis=1) < 1)
    assert np.allclose(points.mean(axis=0), 0, atol=1e-3)
    assert np.allclose(points.T @ points / 6000, np.eye(2) / 4, atol=1e-3)


def test_points_of_lemma_8_are_in_the_ball_and_near_at_both_vectors() -> None:
    k = 16
    tied, apart, labels, multiplicities = lemma_8.tied_pairs(k)
    epsilon = Fraction(1, 6 * k)
    for z, moved, side in zip(tied, apart, labels, strict=True):
        x = (z, side - Fraction(1, 2))
        assert x[0] ** 2 + x[1] ** 2 < 1 and x[0] + epsilon * x[1] == moved and abs(moved - z) <= epsilon
    assert apart == sorted(apart) and sum(multiplicities) == 2


@pytest.mark.parametrize("K", [1, 2])
def test_excess_at_the_near_vector_is_more_than_any_constant_times_epsilon(K: int) -> None:
    k = 16 * K
    _, apart, labels, multiplicities = lemma_8.tied_pairs(k)
    fit = lpav(apart, labels, multiplicities)
    masses = [Fraction(1, 2 * (2 * k - 1))] * (2 * k - 1) + [Fraction(1, 2)]  # half of the law at x_k^+, E y = 1/2 everywhere
    excess = sum(p * (v - Fraction(1, 2)) ** 2 for p, v in zip(masses, fit, strict=True))
    assert excess > K * Fraction(1, 6 * k)


def test_fit_at_a_near_vector_is_an_almost_minimiser_and_no_more() -> None:
    rng, furthest = np.random.default_rng(12), Fraction(0)
    for _ in range(60):
        n = int(rng.integers(2, 9))
        epsilon = Fraction(1, int(rng.choice([4, 16, 64])))
        z = [Fraction(int(v), 64) for v in rng.integers(-64, 65, n)]
        moved = [v + epsilon * Fraction(int(s), 2) for v, s in zip(z, rng.integers(-2, 3, n), strict=True)]
        y = [Fraction(int(v)) for v in rng.integers(0, 2, n)]
        here, there = lpav(z, y), lpav(moved, y)
        u = interpolating(z, here)
        risk = sum((u(t) - v) ** 2 for t, v in zip(moved, y, strict=True)) / n
        least = sum((a - b) ** 2 for a, b in zip(there, y, strict=True)) / n
        assert least <= risk <= least + 4 * epsilon
        furthest = max(furthest, (risk - least) / epsilon)
    assert furthest > 0
