"""L = ∞ against scipy and scikit-learn on the kinds of cases that their own suites hold, written anew; the fit as a function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.solvers.isotonic.lipschitz import lipschitz_isotonic

RNG = np.random.default_rng(17)
CASES: dict[str, tuple[Array, Array | None]] = {
    "sorted already": (np.array([0.5, 1.0, 1.5, 7.0]), None),
    "reversed": (np.array([5.0, 4.0, 3.0, 2.0, 1.0]), None),
    "reversed, weighted": (np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.array([1.0, 10.0, 1.0, 0.1, 3.0])),
    "constant": (np.full(6, -2.0), None),
    "one sample": (np.array([4.0]), np.array([0.3])),
    "two falling": (np.array([1.0, 0.0]), np.array([3.0, 1.0])),
    "blocks that merge backwards": (np.array([3.0, 7.0, 5.0, 9.0, 8.0, 8.5, 0.0, 11.0, 10.0]), None),
    "a last sample that pulls all down": (np.append(np.arange(20.0), -1e3), None),
    "equal targets": (np.array([2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 3.0, 3.0]), None),
    "labels": ((RNG.uniform(size=200) < np.linspace(0, 1, 200)).astype(float), RNG.uniform(0.5, 2.0, 200)),
    "tiny and huge weights": (RNG.normal(size=60), 10.0 ** RNG.uniform(-12, 12, 60)),
    "large offset": (1e8 + RNG.normal(size=50), None),
}


@pytest.mark.parametrize("case", CASES, ids=list(CASES))
def test_without_a_bound_the_fit_is_scipys(case: str) -> None:
    y, w = CASES[case]
    fit = lipschitz_isotonic(np.arange(y.size), y, np.inf, w)
    np.testing.assert_allclose(fit.fitted, isotonic_regression(y, weights=w).x, rtol=1e-14, atol=1e-14 * np.max(np.abs(y)))
    assert fit.certificate.relative_gap <= 1e-12


def sklearn_fit(z: Array, y: Array, w: Array | None = None, **options: Any) -> Any:
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(**options).fit(z, y, w)


@pytest.mark.parametrize("weighted", [False, True])
def test_ties_in_z_and_any_order_are_scikit_learns(weighted: bool) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        z, y = rng.integers(0, 15, size=40) * 1.0, rng.normal(size=40)
        w = rng.uniform(0.1, 3.0, 40) if weighted else None
        fit, peer = lipschitz_isotonic(z, y, np.inf, w), sklearn_fit(z, y, w, out_of_bounds="clip")
        np.testing.assert_allclose(fit.fitted, peer.predict(z), atol=1e-13)
        at = rng.uniform(-3, 18, size=30)
        np.testing.assert_allclose(fit.function(at), peer.predict(at), atol=1e-13)


@pytest.mark.parametrize("orders", [0, 12, 24])
def test_weights_of_any_range_give_what_both_peers_give(orders: int) -> None:
    """A light sample beside a heavy one keeps its digits: sums that run over all samples would lose them beyond 16 orders."""
    rng = np.random.default_rng(orders)
    for trial in range(40):
        m = int(rng.choice([1, 2, 3, 10, 300]))
        y = [rng.normal(size=m), rng.integers(0, 3, size=m) * 1.0, np.cumsum(rng.normal(size=m)), -np.sort(rng.normal(size=m))][trial % 4]
        w = 10.0 ** (orders * rng.uniform(-0.5, 0.5, size=m))
        z = rng.integers(0, m, size=m) * 1.0
        fit = lipschitz_isotonic(np.arange(m), y, np.inf, w)
        np.testing.assert_allclose(fit.fitted, isotonic_regression(y, weights=w).x, atol=1e-14 * np.max(np.abs(y)))
        tied = lipschitz_isotonic(z, y, np.inf, w)
        np.testing.assert_allclose(tied.fitted, sklearn_fit(z, y, w).predict(z), atol=1e-14 * np.max(np.abs(y)))
        low, high = np.quantile(y, [0.3, 0.6])
        ranged = lipschitz_isotonic(z, y, np.inf, w, low=low, high=high, outside="keep")
        np.testing.assert_allclose(ranged.fitted, np.clip(tied.fitted, low, high), atol=1e-14 * np.max(np.abs(y)))


def test_the_order_of_the_samples_does_not_matter_and_falling_fits_are_negated_ones() -> None:
    rng = np.random.default_rng(9)
    z, y, w = rng.permutation(100) / 7.0, rng.normal(size=100), rng.uniform(0.1, 2.0, 100)
    order = rng.permutation(100)
    fit = lipschitz_isotonic(z, y, np.inf, w)
    np.testing.assert_array_equal(lipschitz_isotonic(z[order], y[order], np.inf, w[order]).fitted, fit.fitted[order])
    falling = sklearn_fit(z, y, w, increasing=False).predict(z)
    np.testing.assert_allclose(-lipschitz_isotonic(z, -y, np.inf, w).fitted, falling, atol=1e-14)


def test_lists_whole_numbers_single_precision_and_read_only_arrays_are_taken_and_left_as_they_are() -> None:
    y = np.array([3, 1, 2, 5, 4])
    expected = [2.0, 2.0, 2.0, 4.5, 4.5]
    frozen = y.astype(float)
    frozen.flags.writeable = False
    for given in (y.tolist(), y, y.astype(np.float32), y.astype(float)[::-1][::-1], frozen):
        kept = np.array(given, copy=True)
        assert lipschitz_isotonic(np.arange(5), given, np.inf).fitted.tolist() == expected
        np.testing.assert_array_equal(given, kept)
    memory = np.array([[3.0, 9.0], [1.0, 9.0], [2.0, 9.0], [5.0, 9.0], [4.0, 9.0]])[:, 0]
    assert lipschitz_isotonic(np.arange(5.0), memory, np.inf).fitted.tolist() == expected and not memory.flags.c_contiguous


def test_places_that_nearly_coincide_make_a_function_that_scikit_learns_agrees_with() -> None:
    z = np.array([0.0, 1.0, 1.0 + 1e-12, 2.0])
    y = np.array([0.0, 1.0, 5.0, 6.0])
    fit, peer = lipschitz_isotonic(z, y, np.inf), sklearn_fit(z, y)
    at = np.concatenate([z, np.linspace(0, 2, 41)])
    np.testing.assert_allclose(fit.function(at), peer.predict(at), atol=1e-14)
    assert np.all(np.isfinite(fit.function.slopes)) and np.all(np.isfinite(fit.function(np.linspace(-1, 3, 50))))


def test_a_hundred_thousand_samples_are_scipys() -> None:
    rng = np.random.default_rng(10)
    y = np.concatenate([np.arange(50_000) / 100.0, rng.normal(size=50_000)])
    fit = lipschitz_isotonic(np.arange(y.size), y, np.inf)
    np.testing.assert_allclose(fit.fitted, isotonic_regression(y).x, atol=1e-11)
    assert fit.certificate.relative_gap <= 1e-12


def test_samples_of_no_weight_are_left_out_as_in_scikit_learn() -> None:
    z, y = np.arange(6.0), np.array([100.0, 1.0, 3.0, -50.0, 2.0, 7.0])
    w = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 2.0])
    fit, peer = lipschitz_isotonic(z, y, np.inf, w), sklearn_fit(z, y, w, out_of_bounds="clip")
    np.testing.assert_allclose(fit.fitted, peer.predict(z), atol=1e-14)


def test_without_a_lipschitz_bound_a_range_clips_the_fit() -> None:
    rng = np.random.default_rng(4)
    y = np.linspace(-3, 3, 80) + rng.normal(size=80)
    low, high = np.quantile(y, [0.3, 0.6])
    fit = lipschitz_isotonic(np.arange(80), y, np.inf, low=low, high=high, outside="keep")
    np.testing.assert_allclose(fit.fitted, sklearn_fit(np.arange(80), y, y_min=low, y_max=high).predict(np.arange(80)), atol=1e-13)
    assert fit.certificate.relative_gap <= 1e-12
    assert fit.fitted.min() == low and fit.fitted.max() == high


def test_infinite_weights_and_lengths_that_differ_are_refused() -> None:
    with pytest.raises(InvalidProblem, match="weights: 1 of 2 values is not finite .first at index 1"):
        lipschitz_isotonic([0.0, 1.0], [0.0, 1.0], np.inf, [1.0, np.inf])
    with pytest.raises(InvalidProblem, match="positions: 3 values, expected 2"):
        lipschitz_isotonic([0.0, 1.0, 2.0], [0.0, 1.0])
    with pytest.raises(InvalidProblem, match="positions: 1 of 2 values is not finite"):
        lipschitz_isotonic([0.0, np.nan], [0.0, 1.0])
    with pytest.raises(InvalidProblem, match="weights: 1 value, expected 2, as many as targets"):
        lipschitz_isotonic([0.0, 1.0], [0.0, 1.0], 1.0, [1.0])


@pytest.mark.parametrize("lipschitz", [0.3, 2.0, np.inf])
def test_the_function_keeps_the_bound_and_passes_through_the_fit(lipschitz: float) -> None:
    rng = np.random.default_rng(5)
    z = np.round(rng.uniform(-2, 2, size=300), 2)
    y = np.tanh(z) + 0.5 * rng.normal(size=300)
    fit = lipschitz_isotonic(z, y, lipschitz, extrapolation="linear")
    np.testing.assert_array_equal(fit.function(z), fit.fitted)
    assert fit.function.lipschitz <= lipschitz * (1 + 1e-9)
    assert float(np.sum(fit.fitted - y)) == pytest.approx(0.0, abs=1e-11)
    assert fit.certificate.relative_gap <= 1e-12
    shuffled = rng.permutation(300)
    np.testing.assert_allclose(lipschitz_isotonic(z[shuffled], y[shuffled], lipschitz).fitted, fit.fitted[shuffled], atol=1e-12)
