"""All stationary points for powers up to one, against brute force along the ridge path."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simopt.core.errors import InvalidProblem
from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty
from simopt.solvers.power.isolation import _RootSearch, evaluate, isolate
from simopt.solvers.power.stationary import spectral_stationary_points, stationary_points
from simopt.solvers.squares.spectrum import spectrum


def along_the_path(d, b, lam, m, s):
    """G and P(f) − P(0) at many s = log μ."""
    mu = np.exp(s)[:, None]
    norm = np.sqrt(np.sum(d * b**2 / (d + mu) ** 2, axis=1))
    value = -np.sum(d * b**2 * (d + 2 * mu) / (d + mu) ** 2, axis=1) / d.size + lam * norm**m
    return s - (m - 2) * np.log(norm) - math.log(d.size * lam * m / 2), value


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    clustered=st.booleans(),
    m=st.sampled_from([0.1, 0.3, 0.5, 0.9, 0.99]),
    strength=st.floats(-7, 1),
)
def test_enumeration_and_global_minimum_against_brute_force(seed, clustered, m, strength):
    rng = np.random.default_rng(seed)
    r = int(rng.integers(1, 25))
    d = 10.0 ** rng.choice([0, -3, -6], r) * rng.uniform(0.9, 1, r) if clustered else 10.0 ** rng.uniform(-8, 0, r)
    b = rng.normal(size=r) * (d**-0.5 if seed % 2 else 1.0)
    lam = 10.0**strength
    found = spectral_stationary_points(spectrum(d, b, floor=0.0), lam, m)
    s = np.linspace(-30, 30, 6001)
    equation, value = along_the_path(d, b, lam, m, s)
    best = min(0.0, float(value.min()))
    assert found.minimisers[0].value <= best + 1e-10 * abs(best) + 1e-13
    changes = s[:-1][np.diff(np.sign(equation)) != 0]
    for change in changes:  # every sign change on the grid is one of the points found
        assert any(change - 1e-9 <= p.high and p.low <= change + 0.011 for p in found.points)
    inside = [p for p in found.points if -30 < p.log_mu < 30 and p.kind != "double"]
    assert len(inside) >= len(changes)
    assert [p.kind for p in found.points[:-1] if p.kind != "double"] == ["minimum", "maximum"] * (len(inside) // 2) or len(inside) != len(
        found.points
    ) - 1


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), m=st.floats(0.05, 0.95), strength=st.floats(-6, 0))
def test_enclosures_hold_a_sign_change(exact, seed, m, strength):
    rng = np.random.default_rng(seed)
    d, b = 10.0 ** rng.uniform(-6, 0, 6), rng.normal(size=6)
    lam = 10.0**strength
    oracle = exact(d, b, lam, m)
    for p in spectral_stationary_points(spectrum(d, b, floor=0.0), lam, m).points[:-1]:
        if p.kind != "double":
            slack = 1e-13 * (1 + abs(p.log_mu))  # natural units are rounded
            low, high = oracle.equation(arb(p.low - slack)), oracle.equation(arb(p.high + slack))
            assert (low < 0 and high > 0) if p.kind == "minimum" else (low > 0 and high < 0)
            assert float(oracle.log_norm(arb(p.log_mu)).mid()) == pytest.approx(p.log_norm, abs=1e-11 * (1 + abs(p.log_mu)))


def test_two_clusters_have_four_stationary_points_besides_zero():
    # each cluster makes a hump of G; for λ between the valley and the lower hump there are two local minima f ≠ 0
    seen = spectrum(np.array([1.0, 1e-6]), np.ones(2))
    counts = [len(spectral_stationary_points(seen, lam, 0.1).points) for lam in (1e-4, 0.18, 1e3)]
    assert counts == [3, 5, 1]
    kinds = [p.kind for p in spectral_stationary_points(seen, 0.18, 0.1).points]
    assert kinds == ["minimum", "maximum", "minimum", "maximum", "minimum"]


def test_values_are_those_of_the_objective(kernel_problem):
    gram, y = kernel_problem(30)
    found = stationary_points(gram, y, 1e-3, 0.5)
    assert len(found.points) >= 3
    problem = MPowerRLS(gram, y, PowerPenalty(1e-3, 0.5))
    zero = float(problem.objective({"alpha": np.zeros(30)}))
    for p in found.points:
        value = float(problem.objective({"alpha": found.coefficients(p)}))
        assert p.value == pytest.approx(value - zero, abs=1e-11)
        assert value >= zero + found.minimisers[0].value - 1e-11
    assert found.points[-1].log_norm == -math.inf


def test_gradient_vanishes_at_every_point(kernel_problem):
    gram, y = kernel_problem(12, p=1)
    lam, m = 1e-3, 0.7
    found = stationary_points(gram, y, lam, m)
    for p in found.points[:-1]:
        a = found.coefficients(p)
        t = math.sqrt(a @ gram @ a)
        gradient = -2 / 12 * gram @ (y - gram @ a) + lam * m * t ** (m - 2) * gram @ a
        assert np.max(np.abs(gradient)) <= 1e-9


def threshold(d, b, m):
    """The λ from which on f = 0 is the global minimiser: max over μ of the data's gain divided by tᵐ."""
    s = np.linspace(-15, 15, 2_000_001)
    mu = np.exp(s)
    norm = np.sqrt(sum(x * z**2 / (x + mu) ** 2 for x, z in zip(d, b, strict=True)))
    gain = sum(x * z**2 * (x + 2 * mu) / (x + mu) ** 2 for x, z in zip(d, b, strict=True)) / d.size
    return float(np.max(gain / norm**m))


def test_tie_at_the_threshold_reports_both_with_zero_first():
    d, b, m = np.array([1.0, 0.5]), np.array([1.0, 2.0]), 0.5
    seen = spectrum(d, b)
    lam = threshold(d, b, m)
    assert not spectral_stationary_points(seen, lam * (1 - 1e-9), m).tied
    assert spectral_stationary_points(seen, lam * (1 - 1e-9), m).minimisers[0].log_norm > -math.inf
    assert spectral_stationary_points(seen, lam * (1 + 1e-9), m).minimisers[0].log_norm == -math.inf
    low, high = lam * (1 - 1e-9), lam * (1 + 1e-9)
    tied = None
    while tied is None:
        middle = 0.5 * (low + high)
        found = spectral_stationary_points(seen, middle, m)
        if found.tied:
            tied = found
        elif found.minimisers[0].log_norm > -math.inf:
            low = middle
        else:
            high = middle
        assert high - low > 1e-15
    assert [p.log_norm == -math.inf for p in tied.minimisers] == [True, False]
    # a point is tied whether its value came out a rounding error below zero or above
    near = [spectral_stationary_points(seen, middle * (1 + k * 2e-15), m) for k in range(-20, 21)]
    signs = {p.value > 0 for found in near if found.tied for p in found.minimisers if p.log_norm > -math.inf}
    assert signs == {True, False}


def test_double_root_where_minimum_and_maximum_merge():
    # one eigenvalue: G has its maximum at μ = 1/(1 − m), where it is zero for exactly one λ
    m = 0.5
    s = -math.log1p(-m)
    log_t = -math.log1p(math.exp(s))
    lam = 2 / m * math.exp(s + (2 - m) * log_t)
    found = spectral_stationary_points(spectrum(np.ones(1), np.ones(1)), lam, m)
    assert [p.kind for p in found.points] == ["double", "minimum"]
    assert found.points[0].low <= s <= found.points[0].high
    assert found.points[0].high - found.points[0].low < 1e-5
    assert len(spectral_stationary_points(spectrum(np.ones(1), np.ones(1)), lam * 1.001, m).points) == 1
    assert len(spectral_stationary_points(spectrum(np.ones(1), np.ones(1)), lam * 0.999, m).points) == 3


def test_power_one_has_one_point():
    d, b = np.array([0.3, 1.0]), np.array([2.0, 1.0])
    level = math.sqrt(np.sum(d * b**2))
    strong = spectral_stationary_points(spectrum(d, b), level * 1.01, 1.0)
    weak = spectral_stationary_points(spectrum(d, b), level * 0.99, 1.0)
    assert [p.log_norm for p in strong.points] == [-math.inf]
    assert len(weak.points) == 1
    assert weak.points[0].value < 0
    assert weak.minimisers == weak.points


def test_degenerate_and_bad_input():
    for gram, y in ((np.eye(2), np.zeros(2)), (np.zeros((2, 2)), np.ones(2)), (np.ones((2, 2)), np.array([1.0, -1.0]))):
        found = stationary_points(gram, y, 0.1, 0.5)
        assert [p.log_norm for p in found.points] == [-math.inf]
        assert not np.any(found.coefficients(found.minimisers[0]))
    one = stationary_points(np.array([[2.0]]), np.array([3.0]), 1e-3, 0.5)
    assert len(one.points) == 3
    for lam, m in ((0.0, 0.5), (1.0, 1.5), (1.0, 0.0), (math.nan, 0.5)):
        with pytest.raises(InvalidProblem):
            stationary_points(np.eye(2), np.ones(2), lam, m)


def test_rounding_bounds_of_the_equation_hold(exact):
    rng = np.random.default_rng(2)
    for _ in range(60):
        values, energies = np.sort(10.0 ** rng.uniform(-9, 0, 20)), rng.uniform(size=20) ** 2
        m, s, kappa = float(rng.uniform(0.05, 0.95)), float(rng.uniform(-25, 25)), float(rng.uniform(-20, 20))
        oracle = exact(values, np.ones(20), 1.0, m)
        mu = arb(s).exp()
        moments = [sum((arb(e) * arb(x) / (arb(x) + mu) ** k for x, e in zip(values, energies, strict=True)), arb(0)) for k in (2, 3)]
        truth = arb(s) + (2 - oracle.m) * moments[0].log() / 2 - arb(kappa)
        slope = 1 - (2 - oracle.m) * mu * moments[1] / moments[0]
        value, error, ours, slope_error = evaluate(values, energies, kappa, m, s)
        assert abs(float((truth - arb(value)).mid())) <= error
        assert abs(float((slope - arb(ours)).mid())) <= slope_error


def test_isolation_counts_even_numbers_of_simple_roots():
    rng = np.random.default_rng(5)
    for _ in range(200):
        values = np.sort(np.append(10.0 ** rng.uniform(-7, 0, 8), 1.0))
        roots, _ = isolate(values, rng.uniform(size=9), float(rng.uniform(-8, 2)), float(rng.uniform(0.05, 0.999)))
        if all(r.simple for r in roots):
            assert sum(r.rising for r in roots) * 2 == len(roots)


@pytest.mark.parametrize(("kappa", "rising"), [(-20.0, True), (-3.0, True), (-3.0, False), (-20.0, False)])
def test_the_enclosure_covers_a_bracket_of_neighbouring_numbers(kappa, rising):
    """The root lies strictly between two floats, and both are within the radius."""
    m = 0.5
    left, right = (2 * kappa, 0.0) if rising else (1.0, -4 * kappa)
    with ctx.workprec(300):
        while math.nextafter(left, right) < right:
            middle = 0.5 * (left + right)
            value = arb(middle) - (2 - m) * (1 + arb(middle).exp()).log() - arb(kappa)  # G of one eigenvalue
            assert value > 0 or value < 0
            left, right = (left, middle) if (value > 0) == rising else (middle, right)
    found = _RootSearch(np.ones(1), np.ones(1), kappa, m).newton(left, right, rising)
    assert Fraction(found.s) - Fraction(found.radius) <= Fraction(left)
    assert Fraction(found.s) + Fraction(found.radius) >= Fraction(right)
