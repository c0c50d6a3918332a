"""Sparse matrices of intervals against fractions: what they hold, and where they keep a number exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from simopt.arithmetic import Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix, below_each_other, reciprocal


def fractions(matrix: Any) -> np.ndarray:
    dense = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
    out = np.empty(dense.shape, dtype=object)
    out[:] = [[Fraction(float(x)) for x in row] for row in dense]
    return out


def holds(enclosure: IntervalMatrix, true: np.ndarray) -> bool:
    mid, rad = fractions(enclosure.mid), fractions(enclosure.rad)
    return bool(np.all(np.abs(mid - true) <= rad))


def drawn(seed: int, shape: tuple[int, int], whole: bool = False) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, shape).astype(float) if whole else rng.normal(size=shape) * 10.0 ** rng.integers(-8, 9, shape)
    return sp.csr_array(values * (rng.random(shape) < 0.4))


@pytest.mark.parametrize("seed", range(12))
def test_products_sums_and_transposes_hold_the_exact_matrix(seed: int) -> None:
    a, b, c = drawn(seed, (7, 5)), drawn(seed + 100, (5, 6)), drawn(seed + 200, (7, 6), whole=True)
    x, y, z = (IntervalMatrix.of(matrix) for matrix in (a, b, c))
    product = fractions(a) @ fractions(b)
    assert holds(x @ y, product) and holds(a @ y, product)
    assert holds(x @ y + z, product + fractions(c)) and holds(c + x @ y, product + fractions(c))
    assert holds((x @ y).T @ (x @ y), product.T @ product)
    assert holds(-(x @ y)[[2, 0, 2]], -product[[2, 0, 2]])
    assert holds(below_each_other([x @ y, c]), np.concatenate([product, fractions(c)]))
    vector = np.random.default_rng(seed).normal(size=6)
    values = (x @ y).matvec(Interval(vector))
    true = product @ [Fraction(float(v)) for v in vector]
    assert all(abs(Fraction(float(m)) - t) <= Fraction(float(r)) for m, r, t in zip(values.mid, values.rad, true, strict=True))


def test_radii_are_of_the_size_of_rounding() -> None:
    a, b = (IntervalMatrix(sp.csr_array(np.random.default_rng(seed).uniform(1.0, 2.0, (30, 30)))) for seed in (0, 1))
    found = a @ b
    assert 0.0 < found.rad.max() <= 40 * 2.0**-52 * found.mid.max()


def test_what_is_selected_negated_or_scaled_by_powers_of_two_stays_exact() -> None:
    a = drawn(3, (6, 4))
    unit = IntervalMatrix(sp.eye_array(4, format="csr"))
    twice = sp.csr_array(np.diag([2.0, -0.5, 4.0, 0.25]))
    rows = sp.csr_array(np.array([[0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]], dtype=float))
    for found in (a @ unit, -(a @ unit), a @ (twice @ unit), rows @ (a @ unit), (a @ unit)[[1, 1]]):
        assert found.exact_rows.all() and not found.rad.nnz
    assert (a @ unit + a @ unit).exact_rows.all()  # x + x rounds nothing
    third = sp.csr_array(np.full((4, 4), 1.0 / 3.0))
    assert not (third @ (third @ unit)).exact_rows.any()


def test_a_selection_that_takes_an_entry_twice_adds() -> None:
    """x_0 in both rows: the coefficients 0.1 and 0.2 meet in one entry, whose sum is no float."""
    both = IntervalMatrix(sp.csr_array(np.array([[1.0], [1.0]])))
    found = sp.csr_array(np.array([[0.1, 0.2]])) @ both
    assert found.rad.nnz and holds(found, np.array([[Fraction(0.1) + Fraction(0.2)]]))


def test_entries_of_one_place_are_a_sum() -> None:
    stored = sp.csr_array((np.array([1.0, 2.0**-60, 3.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    found = IntervalMatrix.of(stored)
    assert holds(found, np.array([[1 + Fraction(1, 2**60), Fraction(3)]])) and not found.exact_rows.any()
    assert holds(stored @ IntervalMatrix(sp.eye_array(2, format="csr")), np.array([[1 + Fraction(1, 2**60), Fraction(3)]]))


def test_products_that_underflow_are_held() -> None:
    tiny = sp.csr_array(np.array([[3.0 * 2.0**-600]]))
    found = tiny @ IntervalMatrix(tiny)
    assert found.mid.toarray()[0, 0] == 0.0 and holds(found, np.array([[9 * Fraction(1, 2**1200)]]))


def test_reciprocals_of_powers_of_two_are_exact() -> None:
    found = reciprocal(Interval(np.array([4.0, -0.5, 3.0])))
    np.testing.assert_array_equal(found.mid[:2], [0.25, -2.0])
    assert not found.rad[:2].any() and found.rad[2] > 0.0
