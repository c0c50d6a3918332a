"""Proven lower bounds of least singular values, and the systems that they enclose, against fractions and known inverses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from simopt.arithmetic import INTERVAL, Interval, linear
from simopt.arithmetic.interval import as_interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.linear import solve
from simopt.arithmetic.singular_value import least_singular_value, norms


def banded(n: int, seed: int) -> sp.csr_array:
    """Entries of size 1 at most, five in a row, the diagonal not the largest."""
    rng = np.random.default_rng(seed)
    return sp.csr_array(
        sp.diags_array([0.3 * rng.uniform(-1, 1, n) for _ in range(4)] + [np.ones(n)], offsets=[-7, -2, 1, 3, 0], shape=(n, n))
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_is_below_the_least_singular_value_and_not_far(seed: int) -> None:
    matrix = banded(150, seed)
    least = np.linalg.svd(matrix.toarray(), compute_uv=False)[-1]
    bound = least_singular_value(IntervalMatrix(matrix), splu(sp.csc_matrix(matrix)))
    assert 0.2 * least < bound <= least * (1 + 1e-12)


@pytest.mark.parametrize("width", [1e-9, 1e-3, 0.5])
def test_no_matrix_in_the_intervals_is_nearer_to_a_singular_one(width: float) -> None:
    matrix = banded(150, 1)
    around = IntervalMatrix(matrix, width * abs(matrix))
    bound, factors = least_singular_value(around, splu(sp.csc_matrix(matrix))), np.random.default_rng(2)
    assert bound > 0.0 or width == 0.5
    for _ in range(20):
        near = matrix.toarray() * (1.0 + width * factors.choice([-1.0, 1.0], matrix.shape))
        assert bound <= np.linalg.svd(near, compute_uv=False)[-1] * (1 + 1e-12)


def test_nothing_is_proven_of_what_is_singular_to_rounding() -> None:
    matrix = banded(150, 3).tolil()
    matrix[5] = matrix[6]
    matrix[5, 5] += 1e-13
    matrix = sp.csr_array(matrix)
    assert least_singular_value(IntervalMatrix(matrix), splu(sp.csc_matrix(matrix))) == 0.0


def dynamics(steps: int) -> sp.csr_array:
    """x_{t+1} − A x_t for all steps: A turns and does not shrink, but |A| has a spectral radius above 1."""
    turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    return sp.csr_array(sp.eye_array(2 * steps) - sp.kron(sp.eye_array(steps, k=-1), turn))


def test_intervals_do_not_grow_along_dynamics(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = dynamics(150)
    right = np.zeros(300)
    right[0] = 1.0
    found = solve(INTERVAL, matrix, right)
    assert isinstance(found, Interval) and np.max(found.rad) < 1e-12
    x, c, s = [Fraction(1), Fraction(0)], Fraction(0.8), Fraction(0.6)
    for t in range(150):
        for k in range(2):
            assert abs(Fraction(float(found.mid[2 * t + k])) - x[k]) <= Fraction(float(found.rad[2 * t + k]))
        x = [c * x[0] - s * x[1], s * x[0] + c * x[1]]
    monkeypatch.setattr(linear, "least_singular_value", lambda a, factors: 0.0)
    assert np.max(solve(INTERVAL, matrix, right).rad) > 1.0  # what this is for


def test_right_hand_sides_in_intervals_and_several_of_them() -> None:
    matrix, rng = dynamics(100), np.random.default_rng(0)
    right = Interval(rng.normal(size=(200, 2)), np.full((200, 2), 1e-6))
    found = solve(INTERVAL, matrix, right)
    assert isinstance(found, Interval)
    for _ in range(10):
        one = np.linalg.solve(matrix.toarray(), right.mid + 1e-6 * rng.choice([-1.0, 1.0], (200, 2)))
        assert np.all(np.abs(one - found.mid) <= found.rad + 1e-12)


def test_norms_are_not_below_those_of_columns() -> None:
    columns = np.array([[3.0, 0.0, 1e200, 1e-300], [4.0, 0.0, 1e200, 1e-300]])
    assert np.all(norms(columns) >= [5.0, 0.0, 2**0.5 * 1e200, 2**0.5 * 1e-300])
    assert np.all(norms(columns) <= np.array([5.0, 0.0, 2**0.5 * 1e200, 2**0.5 * 1e-300]) * (1 + 1e-12) + 1e-310)
    assert as_interval(norms(np.zeros((0, 2)))).mid.shape == (2,)
