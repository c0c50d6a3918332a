"""Theorems 1 and 2 and the uniform bounds behind them: the loops, the covers, and the law on which Theorem 2 fails."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, pairwise, product

import numpy as np
import pytest

from simopt.solvers.isotonic.lipschitz import lipschitz_isotonic
from simopt.theorems.kkks import float_tron, rational_tron
from simopt.theorems.kkks.finite_models import SETS, TRANSFERS, finite_model
from simopt.theorems.kkks.sharp_rates import bayes_risks
from simopt.theorems.kkks.uniform_bounds import complexity, deviation, fits_apart, log_cover, noise_against_fits, noise_radius


def test_two_points_keep_their_error_for_all_iterations_that_theorem_2_allows() -> None:
    n = 12  # C = 1: W = n³, at most n⁴ + 1 iterations, printed bound at most 2/n
    W = float(n**3)
    X, y = np.array([[-0.5 / W], [0.5 / W]]), np.array([0.0, 1.0])
    # 1 − g shrinks by the factor 1 − 1/(4W²) a step; that of a long run is a power of that of a short one.
    run = list(islice(float_tron.l_isotron(X, y, np.ones(2)), 200))
    errors = [float(np.mean((now.predictions - y) ** 2)) for now in run]
    assert np.allclose(errors, [0.25 * (1 - 1 / (4 * W**2)) ** (2 * t) for t in range(200)], rtol=1e-9)
    assert 0.25 * (1 - 1 / (4 * W**2)) ** (2 * n**4) > 2 / n
    assert min(errors) > 2 / n


@pytest.mark.parametrize("lipschitz", [1.0, 0.3, math.inf])
def test_lpav_with_counts_is_the_library_s(lipschitz: float) -> None:
    rng = np.random.default_rng(5)
    z, y, counts = rng.integers(-4, 5, 40) / 4.0, rng.random(40), rng.integers(1, 6, 40).astype(float)
    ours = float_tron.lpav(z, y, counts, lipschitz)
    assert np.allclose(ours.values, lipschitz_isotonic(z, y, lipschitz, counts).fitted, atol=1e-12)
    assert np.allclose(ours(z), ours.values, atol=1e-12)
    repeated = float_tron.lpav(np.repeat(z, counts.astype(int)), np.repeat(y, counts.astype(int)), np.ones(int(counts.sum())), lipschitz)
    assert np.allclose(np.repeat(ours.values, counts.astype(int)), repeated.values, atol=1e-12)


def test_loops_are_those_of_the_algorithms_in_fractions() -> None:
    rng = np.random.default_rng(6)
    X = rng.integers(-8, 9, (7, 2)) / 16
    y, counts = rng.integers(0, 2, 7).astype(float), rng.integers(1, 4, 7)
    rows, labels, times = [[Fraction(v) for v in x] for x in X], [Fraction(v) for v in y], [int(c) for c in counts]
    for bound, exact in ((1.0, Fraction(1)), (math.inf, None)):
        floats = islice(float_tron.l_isotron(X, y, counts.astype(float), bound), 6)
        for a, b in zip(floats, rational_tron.iterates(rows, labels, rational_tron.fitted(labels, times, exact), times), strict=False):
            assert np.allclose(a.w, [float(v) for v in b.w], atol=1e-12)
            assert np.allclose(a.predictions, [float(v) for v in b.predictions], atol=1e-12)


@pytest.mark.parametrize("points", list(SETS))
@pytest.mark.parametrize("transfer", list(TRANSFERS))
def test_finite_models_satisfy_the_hypotheses(points: str, transfer: str) -> None:
    found = finite_model(points, transfer, 2.0)
    assert np.all(np.linalg.norm(found.X, axis=1) <= 1 + 1e-12)
    assert found.W == pytest.approx(2.0)
    grid = np.linspace(-3, 3, 601)
    steps = np.diff(found.u(grid))
    assert np.all(steps >= 0) and np.all(steps <= np.diff(grid) + 1e-12) and np.all(np.abs(found.u(grid) - 0.5) <= 0.5)


def test_samples_have_the_law_of_the_model() -> None:
    found = finite_model("line", "ramp around 0", 1.0)
    sample = found.sample(400_000, np.random.default_rng(7))
    assert np.allclose(sample.frequencies, 1 / 9, atol=0.003)
    assert np.allclose(sample.labels, sample.means, atol=0.015)
    assert sample.noise() <= noise_radius(400_000, 1e-6)


@pytest.mark.parametrize(("epsilon", "radius"), [(0.5, 1.0), (0.25, 1.0), (0.125, 1.5), (0.3, 1.0)])
def test_tilted_cover_has_the_stated_size_and_reaches_every_function(epsilon: float, radius: float) -> None:
    rng = np.random.default_rng(8)
    steps = math.ceil(radius / epsilon)
    starts = math.ceil(0.5 / epsilon)
    assert log_cover(epsilon, radius) == pytest.approx(math.log(starts) + steps * math.log(2))
    grid = np.linspace(-radius, -radius + 2 * epsilon * steps, 64 * steps + 1)
    for _ in range(50):
        slopes = rng.choice([0.0, 1.0, rng.random()], size=grid.size - 1)
        u = np.clip(rng.random() * 0.5 + np.concatenate([[0], np.cumsum(slopes * np.diff(grid))]), 0, 1)
        tilted = u - grid / 2
        value = min(((2 * k + 1) * epsilon for k in range(starts)), key=lambda v: abs(v - u[0])) - grid[0] / 2
        cover = [value]
        for j in range(steps):
            part = slice(64 * j + 1, 64 * j + 65)
            sign = 1.0 if tilted[64 * j + 64] >= cover[-1] else -1.0
            cover.extend(cover[-1] + sign * 0.5 * (grid[part] - grid[64 * j]))
        fitted = np.clip(np.array(cover) + grid / 2, 0, 1)
        assert np.max(np.abs(fitted - u)) <= epsilon + 1e-12
        assert np.all(np.diff(fitted) >= -1e-12)


def test_bounds_fall_with_the_size_and_grow_with_the_width() -> None:
    sizes = [10.0**k for k in range(2, 12)]
    for bound in (
        lambda m: noise_against_fits(m, 2.0, 0.1),
        lambda m: fits_apart(m, 2.0, 0.1),
        lambda m: complexity(m, 2.0),
        lambda m: deviation(m, 2.0, 0.1),
        lambda m: noise_radius(m, 0.1),
    ):
        values = [bound(m) for m in sizes]
        assert all(b < a for a, b in pairwise(values))
    assert fits_apart(1e6, 4.0, 0.1) > fits_apart(1e6, 2.0, 0.1) > fits_apart(1e6, 2.0, 0.2)
    # (W² log² m/m)^{1/4} up to a constant: the ratio stays bounded over nine decades.
    ratios = [fits_apart(m, 1.0, 0.1) / (math.log(m) ** 2 / m) ** 0.25 for m in sizes]
    assert max(ratios) / min(ratios) < 2.0


def forms(d: float, W: float, m: float, delta: float) -> list[float]:
    """Both bounds of Proposition 1, without their constant."""
    return [(d * W**2 * math.log(W * m / delta) / m) ** (1 / 3), (W**2 * math.log(m / delta) / m) ** 0.25]


@pytest.mark.parametrize("m", [2.0, 3.0, 50.0, 1e4, 1e9])
@pytest.mark.parametrize(("d", "W"), [(1, 1.0), (1, 7.0), (20, 1.0)])
def test_eta_1_is_dominated_where_the_bounds_say_anything(m: float, d: float, W: float) -> None:
    for exponent in np.linspace(1e-3, 3.0 * m, 60):
        delta = math.exp(-min(exponent, 700.0))
        L = math.log(m / delta)
        assert noise_radius(m, delta) <= 2 * math.sqrt(2 * L / m) * (1 + 1e-12)
        if L <= m:
            assert noise_radius(m, delta) <= 2 * math.sqrt(2) * min(forms(d, W, m, delta)) * (1 + 1e-12)


def test_eta_1_dominates_for_a_small_delta() -> None:
    for n in (1, 2):
        delta = math.exp(-2.0 * n**6)
        assert noise_radius(2, delta) > n * (math.log(2 / delta) / 2) ** (1 / 3)
        assert noise_radius(2, delta) > n * (math.log(2 / delta) / 2) ** 0.25
    assert noise_radius(2, math.exp(-2.0)) < 3 * (math.log(2 / math.exp(-2.0)) / 2) ** (1 / 3)  # s = 1 does not defeat 3


def closed_form(j: int, W: float, delta: float) -> float:
    """What sharp_rates.py has for deviation(2^{12j}, W, δ/2)."""
    return ((24 * j + 40) * W + math.sqrt(math.log(4 / delta) / 2)) * 2.0 ** (-6 * j)


@pytest.mark.parametrize("j", [1, 2, 3, 4])
@pytest.mark.parametrize("W", [1.0, 2.0, 9.0])
@pytest.mark.parametrize("delta", [0.5, 1e-6])
def test_deviation_is_below_its_closed_form(j: int, W: float, delta: float) -> None:
    found = deviation(2.0 ** (12 * j), W, delta / 2)
    assert closed_form(j, W, delta) / 20 < found <= closed_form(j, W, delta)  # from below, so that the closed form says something


@pytest.mark.parametrize(("c", "d", "W", "delta"), [(1.0, 1, 1.0, 0.1), (1e-3, 50, 4.0, 0.01), (1e-6, 1, 1.0, 0.9)])
def test_joint_minimiser_is_below_both_rates_of_theorem_2(c: float, d: int, W: float, delta: float) -> None:
    A = 192 * W + 3 * math.sqrt(math.log(4 / delta) / 2)
    j = math.floor(math.log2(A / c)) + 1
    assert 3 * closed_form(j, W, delta) < c * min(forms(d, W, 2.0 ** (12 * j), delta))
    assert 3 * deviation(100.0, W, delta / 2) > c * min(forms(d, W, 100.0, delta))  # at small sizes it is not


@pytest.mark.parametrize("m", [1, 2, 3])
def test_bayes_risk_is_that_of_all_samples(m: int) -> None:
    low, high, p = Fraction(1, 4), Fraction(2, 3), 2
    laws = []
    for mean in (low, high):
        atoms = {(0, None): Fraction(1, 2), (1, 0): (1 - mean) / 2, (1, 1): mean / 2}
        laws.append([math.prod(atoms[atom] for atom in sample) for sample in product(atoms, repeat=m)])
    pairs = list(zip(*laws, strict=True))
    below, above, overlap = bayes_risks(m, p, low, high)
    assert below <= sum(a * b / (a + b) for a, b in pairs) <= above
    assert overlap == sum(min(a, b) for a, b in pairs)
    assert above - below < Fraction(1, 2**180)
