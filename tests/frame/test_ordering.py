"""The order of floats is the one that NumPy's stable sort finds, on spread, crowded, tied and infinite numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from simopt.core import ordering
from simopt.core.arrays import Array


def same(z: Array) -> None:
    order, out = ordering.ordered(z)
    expected = np.argsort(z, kind="stable")
    np.testing.assert_array_equal(order, expected)
    np.testing.assert_array_equal(out, z[expected])


def kinds(m: int) -> list[Array]:
    """Laws of which two are crowded: nearly all of their numbers lie in one interval of the range."""
    rng = np.random.default_rng(m)
    return [
        rng.uniform(size=m),
        rng.normal(size=m) * 1e-300,
        rng.normal(size=m) * 1e307,
        rng.standard_cauchy(size=m) ** 3,
        np.append(rng.uniform(size=m - 1), 1e9),
        rng.integers(-3, 3, size=m).astype(float),
        np.where(rng.random(m) < 0.5, -0.0, 0.0),
        np.full(m, 0.1),
        np.arange(m, 0, -1.0),
        np.exp(rng.uniform(-700, 700, size=m)),
        np.repeat(rng.normal(size=m), 3)[:m],
    ]


@pytest.mark.parametrize("m", [1, 2, ordering.FEW - 1, ordering.FEW, 1000, 20_000])
def test_the_order_is_that_of_a_stable_sort(m: int) -> None:
    for z in kinds(m):
        same(z)
        same(np.repeat(z, 2)[::2])  # strided


def test_spread_numbers_need_no_comparisons_and_crowded_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    spread = ordering._radix_sort

    def watched(*arguments: object) -> bool:
        done = bool(spread(*arguments))
        compared.append(not done)
        return done

    monkeypatch.setattr(ordering, "_radix_sort", watched)
    for z in kinds(20_000):
        same(z)
    assert compared[:3] == [False] * 3 and compared[3:5] == [True] * 2


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_left_to_numpy(value: float) -> None:
    z = np.random.default_rng(0).normal(size=1000)
    z[[3, 500, 7]] = value
    same(z)
    same(np.array([1e308, -1e308] * 500))  # the range is beyond float64
    same(np.array([5e-324, 0.0] * 500))


@given(arrays(float, st.integers(0, 40), elements=st.floats(allow_nan=False)))
def test_any_floats(z: Array) -> None:
    few, ordering.FEW = ordering.FEW, 1
    try:
        same(z)
    finally:
        ordering.FEW = few
