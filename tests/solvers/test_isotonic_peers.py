"""L = ∞ against scipy and scikit-learn on the kinds of cases that their own suites hold, written anew; the fit as a function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from simopt.arrays import Array
from simopt.errors import InvalidProblem
from simopt.solvers.lipschitz_isotonic import lipschitz_isotonic

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
    with pytest.raises(InvalidProblem, match="weights: 1 values, expected 2"):
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
