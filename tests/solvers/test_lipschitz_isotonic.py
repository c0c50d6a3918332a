"""The chain's dynamic programme: exact on random, tied and adversarial chains, whatever the size of its chunks; PAV as its case L = ∞."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from simopt.core.arrays import Array
from simopt.model.status import Status
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solvers.isotonic.chain_fit import LEVEL, STEEP, fit_chain
from simopt.solvers.isotonic.chain_programme import chain_zeros
from simopt.solving.entry_points import certify, solve
from simopt.theorems.kkks.rational_lpav import rational_lpav


def chains(count: int, seed: int) -> list[tuple[Array, Array, Array]]:
    rng = np.random.default_rng(seed)
    found = []
    for trial in range(count):
        m = int(rng.integers(1, 120))
        y = rng.normal(size=m) if trial % 2 else (rng.uniform(size=m) < np.linspace(0, 1, m)).astype(float)
        w = rng.uniform(0.1, 3.0, m) if trial % 3 else np.ones(m)
        u = rng.exponential(size=m - 1) * 10.0 ** rng.uniform(-3, 0.5)
        u[rng.uniform(size=m - 1) < 0.1] = 0.0
        if trial % 4 == 0:
            u[rng.uniform(size=m - 1) < 0.2] = np.inf
        found.append((y, w, u))
    return found


def gap(x: Array, y: Array, w: Array, u: Array) -> float:
    """Σ τ⁺(u − d) + τ⁻ d with τ the cumulative residual: zero exactly at the optimum, and infinite where a step without bound is held."""
    tau, d = np.cumsum(w * (x - y))[:-1], np.diff(x)
    held = np.where(np.isinf(u), 0.0, u) - d
    weighted = np.where(np.isinf(u), np.where(tau > 1e-11, np.inf, 0.0), np.maximum(tau, 0.0) * held)
    return float((weighted + np.maximum(-tau, 0.0) * d).sum())


@pytest.mark.parametrize("capacity", [2, 3, 8, None])
def test_the_certificate_closes_and_chunks_do_not_matter(capacity: int | None) -> None:
    for y, w, u in chains(150, 3):
        x, state = fit_chain(y, w, u, capacity=capacity)
        d = np.diff(x)
        assert np.all(d >= 0) and np.all(d <= u + 1e-15)
        assert gap(x, y, w, u) <= 1e-11 * max(1.0, float(w @ y**2))
        assert np.all(d[state == LEVEL] <= 4e-16) and np.allclose(d[state == STEEP], u[state == STEEP], atol=1e-14)
        np.testing.assert_allclose(x, fit_chain(y, w, u)[0], atol=1e-12)


def test_without_bounds_it_is_scipys_isotonic_regression() -> None:
    rng = np.random.default_rng(8)
    cases = [
        np.sort(rng.normal(size=30)),
        -np.sort(rng.normal(size=30)),
        np.full(9, 2.5),
        np.array([4.0]),
        rng.integers(0, 3, size=60) * 1.0,
    ]
    for y in [*cases, *(rng.normal(size=200) for _ in range(20))]:
        for w in (np.ones(y.size), rng.uniform(0.01, 10.0, y.size)):
            x, _ = fit_chain(y, w, np.full(y.size - 1, np.inf))
            np.testing.assert_allclose(x, isotonic_regression(y, weights=w).x, atol=1e-13)


@pytest.mark.parametrize("m", [500, 20_000])
@pytest.mark.parametrize("step", [1e-3, 1e-6, 1e-9])
def test_alternating_labels_which_move_the_zero_farthest(m: int, step: float) -> None:
    y = (np.arange(m) % 2).astype(float)
    w, u = np.ones(m), np.full(m - 1, step)
    x, _ = fit_chain(y, w, u)
    assert gap(x, y, w, u) <= 1e-12 * m
    assert np.all(np.diff(x) >= 0) and np.all(np.diff(x) <= step * (1 + 1e-9) + 1e-15)


def test_a_range_is_kept_and_the_fit_in_it_is_the_best() -> None:
    """Against CLARABEL; clipping the fit without a range is not enough when steps are bounded."""
    import cvxpy as cp

    rng = np.random.default_rng(4)
    clipping_is_worse = 0
    for trial in range(30):
        m = int(rng.integers(2, 25))
        y, w, u = np.round(rng.normal(size=m), 1), rng.uniform(0.1, 3.0, m), np.round(0.3 * rng.exponential(size=m - 1), 1)
        lo, hi = (-0.3, 0.4) if trial % 3 else (-np.inf, 0.2)
        x, _ = fit_chain(y, w, u, lo, hi, capacity=3)
        v = cp.Variable(m)
        rows = [cp.diff(v) >= 0, cp.diff(v) <= u, v <= hi] + ([v >= lo] if lo > -np.inf else [])
        best = cp.Problem(cp.Minimize(0.5 * cp.sum(cp.multiply(w, cp.square(v - y)))), rows)
        best.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11)
        assert x.min() >= lo - 1e-15 and x.max() <= hi + 1e-15
        value = 0.5 * float(w @ (x - y) ** 2)
        assert value == pytest.approx(float(best.value), abs=1e-8)
        clipped = np.clip(fit_chain(y, w, u)[0], lo, hi)
        clipping_is_worse += 0.5 * float(w @ (clipped - y) ** 2) > value + 1e-6
    assert clipping_is_worse > 0


RANGES = [(-np.inf, np.inf), (-0.1, np.inf), (-np.inf, 0.2), (-0.1, 0.2), (0.5, 0.5), (2.0, 3.0), (-5.0, -4.0)]


def rational_excess(y: Array, w: Array, u: Array, lo: float, hi: float) -> float:
    """The objective's excess over the exact optimum, in units of max w · max(|y|, |lo|, |hi|)²."""
    x, _ = fit_chain(y, w, u, lo, hi, capacity=2)
    assert np.all(np.isfinite(x)) and x[0] >= lo and x[-1] <= hi and np.all(np.diff(x) >= 0)
    bounds = [None if np.isinf(bound) else Fraction(bound) for bound in (lo, hi)]
    steps = [None if np.isinf(step) else Fraction(float(step)) for step in u]
    targets, masses = [Fraction(float(value)) for value in y], [Fraction(float(value)) for value in w]
    best = rational_lpav(targets, steps, masses, *bounds)
    excess = sum(
        weight * ((Fraction(float(a)) - target) ** 2 - (b - target) ** 2) / 2
        for weight, a, b, target in zip(masses, x, best, targets, strict=True)
    )
    size = max(abs(value) for value in (*y, lo, hi) if np.isfinite(value)) or 1.0
    return float(excess / (Fraction(float(w.max())) * Fraction(float(size)) ** 2))


@pytest.mark.parametrize("orders", [0, 6, 12, 24])
@pytest.mark.parametrize("ranged", RANGES)
def test_weights_of_many_orders_ties_and_ranges_in_fractions(orders: int, ranged: tuple[float, float]) -> None:
    rng = np.random.default_rng(orders)
    for trial in range(60):
        m, unit = int(rng.integers(1, 9)), 10.0 ** rng.choice([0, -100, 100])
        y = [rng.normal(size=m), np.arange(m) % 2 * 1.0, -np.sort(rng.normal(size=m)), np.full(m, rng.normal())][trial % 4]
        u = rng.exponential(size=m - 1) * 10.0 ** rng.uniform(-6, 1)
        u[rng.uniform(size=m - 1) < 0.3] = 0.0
        u[rng.uniform(size=m - 1) < 0.2] = np.inf
        w = 10.0 ** (orders * rng.uniform(-0.5, 0.5, size=m))
        assert rational_excess(unit * y, w, unit * u, *(unit * bound for bound in ranged)) <= 1e-15, trial


def test_a_light_sample_below_the_range_does_not_lift_a_heavy_one() -> None:
    """Its zero drowns in the sums of the heavy one's, and was once found on the wrong side of the jump at lo."""
    y, w, u = np.full(3, -1.14624708), np.array([7.4e6, 1.9e11, 3.7e-9]), np.array([0.171, 0.315])
    np.testing.assert_array_equal(fit_chain(y, w, u, 2.0, 3.0)[0], 2.0)


@pytest.mark.parametrize(
    ("y", "u", "fit"),
    [
        ([-3.0, 0.9, 0.6, -0.6], [0.3, 0.9, 0.0], [-0.1, 0.2, 0.2, 0.2]),
        ([-3.0, -0.1, 2.2, 0.3], [0.3, 0.8, 0.0], [-0.1, 0.2, 1.0, 1.0]),
        ([-3.0, 2.1, -0.9, 0.2], [0.2, 0.4, 0.0], [-0.1, 0.1, 0.1, 0.1]),
    ],
)
def test_a_block_that_wants_beyond_its_step_climbs_it_whole(y: list[float], u: list[float], fit: list[float]) -> None:
    """The programme's rounding leaves the first step loose, whatever the steps behind it may do."""
    x, state = fit_chain(np.array(y), np.ones(4), np.array(u), -0.1)
    np.testing.assert_allclose(x, fit, atol=1e-15)
    assert state[0] == STEEP and state[-1] == LEVEL


def test_places_that_are_all_equal_give_the_mean_or_the_end_of_the_range() -> None:
    y, w = np.array([3.0, -1.0, 4.0, 0.0]), np.array([1.0, 2.0, 1.0, 4.0])
    for lo, hi, fit in ((-np.inf, np.inf, 0.625), (1.0, 2.0, 1.0), (-1.0, 0.5, 0.5)):
        np.testing.assert_allclose(fit_chain(y, w, np.zeros(3), lo, hi)[0], fit, rtol=1e-15)
    for lo in (4.0, -4.0):
        np.testing.assert_array_equal(fit_chain(np.full(3, 2.0), np.ones(3), np.zeros(2), lo)[0], max(lo, 2.0))


def test_zeros_are_the_last_values_of_the_fits_of_the_beginnings() -> None:
    y, w, u = chains(2, 11)[1]
    zeros = chain_zeros(y, w, u, capacity=4)
    for i in range(len(y)):
        assert zeros[i] == pytest.approx(fit_chain(y[: i + 1], w[: i + 1], u[:i])[0][-1], abs=1e-11)


@pytest.mark.parametrize("lipschitz", [0.0, 1e-6, 0.7, 1e6, np.inf])
def test_the_registered_solver_is_exact_on_ugly_data(lipschitz: float) -> None:
    rng = np.random.default_rng(2)
    z = np.sort(np.round(rng.uniform(size=80), 2))
    for y in (rng.normal(size=80), 1e-140 * rng.normal(size=80), 1e140 * rng.normal(size=80), 1e4 + rng.normal(size=80), np.zeros(80)):
        problem = LipschitzIsotonic(z, y, lipschitz)
        solution = solve(problem, "lpav", tol=1e-9)
        assert solution.status is Status.OPTIMAL, (solution.certificate, solution.message)
        assert solution.point is not None
        certified = certify(problem, solution.point, solution.multipliers)
        assert certified.relative_gap <= 1e-9
