"""What the functions behind the solvers say to data and options that are not right, and what they leave alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.solvers.power.grid import power_grid
from simopt.solvers.power.single_fit import power_fit
from simopt.solvers.power.stationary import stationary_points
from simopt.solvers.squares.constrained_fit import constrained_fit
from simopt.solvers.squares.cross_validation import cross_validate

Fit = Callable[..., Any]
FITS: dict[str, Fit] = {
    "power_fit": lambda K, y, lam=0.1, m=1.5: power_fit(K, y, lam, m).coefficients,
    "power_grid": lambda K, y, lam=0.1, m=1.5: power_grid(K, y, lam, m).objective,
    "cross_validate": lambda K, y, lam=0.1, m=1.5: cross_validate(K, y, lam, m, folds=2).mean,
    "stationary_points": lambda K, y, lam=0.1, m=0.5: [p.log_mu for p in stationary_points(K, y, lam, m).points],
    "constrained_fit": lambda K, y, lam=0.1: constrained_fit(K, y, lam).coefficients,
}


@pytest.fixture
def data() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    return np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2)), rng.normal(size=8)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_data_that_are_not_right_are_named(fit: Fit, data: tuple[Array, Array]) -> None:
    K, y = data
    holed, infinite = K.copy(), y.copy()
    holed[2, 3] = holed[3, 2] = np.nan
    infinite[1] = np.inf
    for gram, targets, message in (
        (holed, y, r"gram: 2 of 64 values are not finite \(first at row 2, column 3\)"),
        (K, infinite, r"targets: 1 of 8 values is not finite \(first at index 1\)"),
        (K, y[:5], "gram: shape .* expected 5"),
        (K[:5], y, "gram: shape .* expected 8"),
        (y, y, "gram: 1-dimensional"),
        (K, y[:, None], "targets: 2-dimensional"),
        (np.zeros((0, 0)), np.zeros(0), "targets: no values"),
        (K, y * 1e-200, "float64 cannot hold its square"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            fit(gram, targets)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, "x", [[0.1]]])
def test_scalars_that_are_not_right_are_named(fit: Fit, bad: Any, data: tuple[Array, Array]) -> None:
    with pytest.raises(InvalidProblem, match=r"regularization|norm bound"):
        fit(*data, bad)
    if fit is not FITS["constrained_fit"]:
        with pytest.raises(InvalidProblem, match="power"):
            fit(*data, 0.1, bad)


@pytest.mark.parametrize("fit", [FITS["power_grid"], FITS["cross_validate"]])
def test_empty_and_partly_wrong_grids_are_named(fit: Fit, data: tuple[Array, Array]) -> None:
    for lam, m, message in (
        ([], 1.5, "regularizations: no values"),
        (0.1, [], "powers: no values"),
        ([0.1, 0.0], 1.5, r"regularizations: entry 1 is 0, numbers > 0 needed"),
        (0.1, [1.5, 0.5], r"powers: entry 1 is 0.5, numbers ≥ 1 needed; for powers below 1 use stationary_points"),
    ):
        with pytest.raises(InvalidProblem, match=message):
            fit(*data, lam, m)


@pytest.mark.parametrize("folds", [1, 9, -3, True, 2.5, "a", [], [[0.5]], [[[0], [1]]], [[9]], [[0, 0]], [[True, False]], [range(8)]])
def test_folds_that_are_not_right_are_named(folds: Any, data: tuple[Array, Array]) -> None:
    with pytest.raises(InvalidProblem, match="folds: "):
        cross_validate(*data, np.array([0.1]), np.array([1.5]), folds=folds)


def test_folds_may_be_a_numpy_integer(data: tuple[Array, Array]) -> None:
    one, two = (cross_validate(*data, np.array([0.1]), np.array([1.5]), folds=folds).errors for folds in (3, np.int64(3)))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_any_layout_gives_the_same_fit_and_is_left_alone(fit: Fit, data: tuple[Array, Array]) -> None:
    K, y = data
    expected = np.asarray(fit(K, y), dtype=float)
    wide, long = np.repeat(np.repeat(K, 2, 0), 2, 1), np.repeat(y, 2)
    layouts: tuple[tuple[Any, Any], ...] = (
        (np.asfortranarray(K), y),
        (wide[::2, ::2], long[::2]),
        (K.tolist(), y.tolist()),
        (K[::-1, ::-1].copy()[::-1, ::-1], y[::-1].copy()[::-1]),
    )
    for gram, targets in layouts:
        before = np.array(gram), np.array(targets)
        for part in (gram, targets):
            if isinstance(part, np.ndarray):
                part.setflags(write=False)
        assert np.allclose(np.asarray(fit(gram, targets), dtype=float), expected, rtol=1e-9, atol=1e-12)
        assert np.array_equal(before[0], gram) and np.array_equal(before[1], targets)
    single = np.asarray(fit(K.astype(np.float32), y.astype(np.float32)), dtype=float)
    assert np.allclose(single, expected, rtol=1e-3, atol=1e-4)
