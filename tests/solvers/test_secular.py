"""The root of the secular equation, checked by the sign of G in ball arithmetic on both sides of it."""

import math

import numpy as np
import pytest
from flint import arb
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from simopt.core.errors import InvalidProblem
from simopt.solvers.squares.secular import asymptotic_tangent, model_root, path_point, secular_root
from simopt.solvers.squares.spectrum import spectrum

EPS = np.finfo(float).eps


def check_against(exact, d, b, lam, m, samples=None):
    root = secular_root(spectrum(d, b, floor=0.0, samples=samples), lam, m)
    oracle = exact(d, b, lam, m, samples)
    size = max(1.0, abs(root.log_mu), abs(float(oracle.level.mid())), abs(m - 2) * abs(root.log_norm), abs(math.log(d.max())))
    allowed = 12 * EPS * size / min(1.0, m - 1.0)
    assert oracle.holds_root(root.log_mu - allowed, root.log_mu + allowed)
    assert abs(float((oracle.log_norm(arb(root.log_mu)) - arb(root.log_norm)).mid())) <= 30 * EPS * size + 2 * allowed
    return root


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    decades=st.lists(st.floats(-21, 0), min_size=1, max_size=12),
    heights=st.lists(st.floats(-9, 3), min_size=12, max_size=12),
    excess=st.floats(-4, math.log10(11)),
    strength=st.floats(-12, 12),
)
@example(decades=[0.0, -1.0], heights=[0.0] * 12, excess=1.3577527596991867e-06, strength=-1.0)  # m = 2 + 3e-6
def test_root_on_spectra_over_21_decades(exact, decades, heights, excess, strength):
    d = 10.0 ** np.array(decades)
    b = 10.0 ** np.array(heights[: d.size])
    root = check_against(exact, d, b, 10.0**strength, 1.0 + 10.0**excess)
    assert root.evaluations <= 20


def test_nearly_every_root_takes_at_most_ten_evaluations():
    rng = np.random.default_rng(1)
    counts = []
    for trial in range(4000):
        d = 10.0 ** rng.uniform(-21, 0, rng.integers(1, 30))
        b = rng.normal(size=d.size) * 10.0 ** rng.uniform(-8 * (trial % 2), 0, d.size)
        m = 1 + 10 ** rng.uniform(-3.4, math.log10(11))
        counts.append(secular_root(spectrum(d, b, floor=0.0), 10 ** rng.uniform(-12, 12), m).evaluations)
    counts = np.array(counts)
    assert np.mean(counts <= 10) >= 0.999
    assert counts.max() <= 20


@pytest.mark.parametrize("m", [1 + 1e-6, 1.001, 1.5, 2.0, 2 + 1e-9, 3.0, 12.0, 100.0])
@pytest.mark.parametrize("lam", [1e-12, 1e-3, 1.0, 1e12])
def test_powers_and_strengths_at_the_ends(exact, m, lam):
    check_against(exact, np.array([1e-21, 1e-9, 0.3, 1.0]), np.array([1.0, -2.0, 0.5, 1.0]), lam, m)


@pytest.mark.parametrize("size,height", [(1e-200, 1e200), (1e200, 1e-200), (1e150, 1e150), (1e-300, 1e-300)])
def test_scales_that_would_overflow(size, height):
    d, b = np.array([0.1, 0.7, 1.0]), np.array([1.0, 2.0, -1.0])
    for m in (1.2, 3.0):
        unit = secular_root(spectrum(d, b), 1.0, m)
        # K s, y h, λ h^(2−m) s^(m/2): μ is multiplied by s and ‖f‖ by h/√s
        log_lam = (2 - m) * math.log(height) + m / 2 * math.log(size)
        if abs(log_lam) > 690:
            continue
        scaled = secular_root(spectrum(d * size, b * height), math.exp(log_lam), m)
        assert scaled.log_mu == pytest.approx(unit.log_mu + math.log(size), abs=1e-10)
        assert scaled.log_norm == pytest.approx(unit.log_norm + math.log(height) - 0.5 * math.log(size), abs=1e-10)


def test_square_is_kernel_ridge():
    d, b = np.array([0.1, 0.7, 1.0]), np.array([1.0, 2.0, -1.0])
    root = secular_root(spectrum(d, b), 0.01, 2.0)
    assert root.log_mu == pytest.approx(math.log(3 * 0.01), rel=1e-15)
    assert root.log_norm == pytest.approx(0.5 * math.log(np.sum(d * b**2 / (d + 0.03) ** 2)), rel=1e-14)


def test_power_one_is_zero_exactly_from_the_threshold_on():
    d, b = np.array([0.2, 1.0]), np.array([1.0, 3.0])
    threshold = 2 / 2 * math.sqrt(np.sum(d * b**2))
    assert secular_root(spectrum(d, b), threshold * (1 + 1e-12), 1.0).zero
    below = secular_root(spectrum(d, b), threshold * 0.999, 1.0)
    assert not below.zero
    mu = math.exp(below.log_mu)
    assert mu * math.exp(below.log_norm) == pytest.approx(threshold * 0.999, rel=1e-12)


@pytest.mark.parametrize("m,limit", [(1.5, math.inf), (3.0, -math.inf), (2.0, math.log(0.2))])
def test_no_energy_in_the_range_of_the_kernel(m, limit):
    for d, b in ((np.array([1.0, 0.0]), np.array([0.0, 2.0])), (np.zeros(2), np.ones(2)), (np.ones(2), np.zeros(2))):
        root = secular_root(spectrum(d, b), 0.1, m)
        assert root.zero
        assert root.log_mu == pytest.approx(limit)


def test_negative_rounding_and_rank_deficiency_are_the_same_as_zero():
    d, b = np.array([1.0, 0.5]), np.array([1.0, 1.0])
    clean = secular_root(spectrum(np.append(d, 0.0), np.append(b, 5.0)), 1e-6, 1.5)
    noisy = secular_root(spectrum(np.append(d, -1e-17), np.append(b, 5.0)), 1e-6, 1.5)
    assert clean == noisy


@pytest.mark.parametrize("lam,m", [(0.0, 2.0), (-1.0, 2.0), (1.0, 0.9), (math.nan, 2.0), (math.inf, 2.0), (1.0, math.nan), (1.0, math.inf)])
def test_bad_parameters(lam, m):
    with pytest.raises(InvalidProblem):
        secular_root(spectrum(np.ones(2), np.ones(2)), lam, m)


def test_tangents_touch_and_lie_above():
    rng = np.random.default_rng(0)
    seen = spectrum(10.0 ** rng.uniform(-6, 0, 8), rng.normal(size=8))
    for s in np.linspace(-20, 20, 9):
        log_t, w, log_d, log_a, _ = path_point(seen.values, seen.energies, s)
        assert math.log(math.exp(log_d) + math.exp(s)) - log_a == pytest.approx(-log_t, abs=1e-12)
        step = 1e-5
        ahead, behind = (path_point(seen.values, seen.energies, s + x)[0] for x in (step, -step))
        assert (ahead - behind) / (2 * step) == pytest.approx(-w, abs=1e-8)
        for other in np.linspace(-20, 20, 17):
            there = path_point(seen.values, seen.energies, other)[0]
            assert np.logaddexp(log_d, other) - log_a >= -there - 1e-12
    log_a, log_d = asymptotic_tangent(seen)
    far = path_point(seen.values, seen.energies, 40.0)
    assert (far[3], far[2]) == pytest.approx((log_a, log_d), abs=1e-12)


@pytest.mark.parametrize("m", [1.0, 1.01, 1.7, 2.5, 11.0])
def test_model_root_solves_its_equation(m):
    for kappa in (-30.0, -1.0, 0.4):
        s = model_root(kappa, m, 0.5, -2.0)
        assert s - (m - 2) * (0.5 - np.logaddexp(-2.0, s)) == pytest.approx(kappa, abs=1e-12 * max(1, abs(s)))


@pytest.mark.parametrize("rest", [0.0, 4.0, 16.0])
def test_what_lies_outside_of_the_coordinates_is_counted_in_their_unit(rest):
    """ν² e^{2 log_height} is the energy of y in the null space of K, also where K = 0."""
    for eigenvalues, coordinates in (
        (np.zeros(2), np.array([3.0, 0.0])),
        (np.array([0.0, 2.0]), np.array([3.0, 5.0])),
        (np.zeros(1), np.zeros(1)),
    ):
        found = spectrum(eigenvalues, coordinates, rest=rest)
        energy = rest + float(np.sum(coordinates[eigenvalues == 0.0] ** 2))
        assert found.rest * math.exp(2.0 * found.log_height) == pytest.approx(energy, rel=1e-14)


def test_with_a_floor_of_zero_the_smallest_floats_count_as_zero():
    found = spectrum(np.array([1e-310, 1.0]), np.array([1.0, 1.0]), floor=0.0)
    assert found.values.tolist() == [1.0] and found.rest == 1.0
