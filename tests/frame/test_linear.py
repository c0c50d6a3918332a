"""Systems of linear equations against their exact solutions in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval
from simopt.arithmetic.error_free import two_product, two_sum
from simopt.arithmetic.independent import forced
from simopt.arithmetic.interval import as_interval, scaled_exactly
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.linear import solve
from simopt.arithmetic.residual import residual


def hilbert(n: int) -> np.ndarray:
    return 1.0 / (1.0 + np.add.outer(np.arange(n), np.arange(n)))


def exact(matrix: Any, right: Any) -> np.ndarray:
    """Gauss and Jordan's elimination, in Python's fractions."""
    rows = [[Fraction(float(x)) for x in (*a, *np.atleast_1d(b))] for a, b in zip(matrix, right, strict=True)]
    n = len(rows)
    for i in range(n):
        pivot = next(k for k in range(i, n) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(n):
            if k != i and rows[k][i]:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return np.array([row[n:] for row in rows], dtype=object).reshape(np.shape(right))


def holds(interval: Interval, solution: np.ndarray) -> bool:
    pairs = zip(interval.mid.flat, interval.rad.flat, solution.flat, strict=True)
    return all(abs(Fraction(float(mid)) - x) <= Fraction(float(rad)) for mid, rad, x in pairs)


def ugly() -> dict[str, tuple[np.ndarray, np.ndarray, float]]:
    """Matrix, right-hand side, and the radius that is asked for, relative to the largest entry of its column."""
    rng = np.random.default_rng(0)
    a, powers = rng.normal(size=(12, 12)), 10.0 ** np.linspace(-150, 150, 12)
    nearly = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-12]])
    blocks = np.kron(np.eye(4), rng.normal(size=(3, 3)))
    return {
        "random": (a, rng.normal(size=12), 2e-16),
        "Hilbert": (hilbert(9), rng.normal(size=9), 2e-16),
        "rows of all sizes": (powers[:, None] * a, powers * rng.normal(size=12), 2e-16),
        "columns of all sizes": (a * powers[::-1], rng.normal(size=12), 2e-16),
        "both": (powers[:, None] * a * rng.permutation(powers) * 1e-5, rng.normal(size=12), 2e-16),
        "nearly singular": (nearly, np.array([1.0, 2.0]), 2e-16),
        "1 × 1": (np.array([[3.0]]), np.array([1.0]), 2e-16),
        "several right-hand sides": (a, rng.normal(size=(12, 3)) * [1.0, 1e200, 1e-200], 2e-16),
        "exact zeros": (blocks, np.concatenate([np.zeros(9), rng.normal(size=3)]), 2e-16),
        "a permutation": (np.eye(5)[rng.permutation(5)], rng.normal(size=5), 1e-28),
    }


@pytest.mark.parametrize("name", ugly())
def test_intervals_hold_the_exact_solution_and_are_as_narrow_as_floats_are_apart(name: str) -> None:
    matrix, right, width = ugly()[name]
    solution = exact(matrix, right)
    interval = solve(INTERVAL, matrix, right)
    assert interval is not None and interval.shape == right.shape and holds(interval, solution)
    assert np.all(interval.rad <= width * np.max(np.abs(interval.mid), axis=0))
    assert np.all(solve(RATIONAL, matrix, right) == solution)
    largest = np.max(np.abs(solution.astype(float)), axis=0)
    assert np.all(np.abs(solve(FLOAT, matrix, right) - solution.astype(float)) <= 2e-15 * largest)


def test_a_solution_of_all_sizes_is_narrow_in_each_entry() -> None:
    rng = np.random.default_rng(1)
    a, powers = rng.normal(size=(8, 8)) + 4 * np.eye(8), 10.0 ** np.linspace(-100, 100, 8)
    interval = solve(INTERVAL, a * powers, rng.normal(size=8))
    assert interval is not None and np.all(interval.rad <= 4e-16 * np.abs(interval.mid))


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_intervals_hold_the_solutions_of_every_system_in_given_intervals(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = Interval(rng.normal(size=(n, n)) + 3 * np.eye(n), 1e-3), Interval(rng.normal(size=n), 1e-2)
    interval = solve(INTERVAL, a, b)
    assert interval is not None and np.all(interval.rad < 0.3 * np.max(np.abs(interval.mid)))
    for _ in range(20):
        inside = [x.mid + x.rad * rng.choice([-0.999, 0.0, 0.999], size=x.shape) for x in (a, b)]
        assert holds(interval, exact(*inside))


def test_sums_and_products_are_floats_and_what_they_lose_exactly() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 500)) * 2.0 ** rng.integers(-60, 60, (2, 500))
    for found, true in ((two_sum(x, y), Fraction.__add__), (two_product(x, y), Fraction.__mul__)):
        for a, b, value, lost in zip(*(z.tolist() for z in (x, y, *found)), strict=True):
            exactly = true(Fraction(a), Fraction(b))
            assert value == float(exactly) and Fraction(value) + Fraction(lost) == exactly


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_radius_of_a_residual_holds_what_is_lost_where_it_cancels(sign: float) -> None:
    """b is A x, rounded: of forty products of one sign next to nothing is left, which is known to γ²|b|, far below the roundings of b."""
    rng = np.random.default_rng(3)
    a, x = rng.uniform(0.5, 1.0, (40, 40)), rng.uniform(0.5, 1.0, (40, 1)) * sign
    b = a @ x
    found = residual(as_interval(a), as_interval(b), x)
    assert holds(found, np.vectorize(Fraction)(b) - np.vectorize(Fraction)(a) @ np.vectorize(Fraction)(x))
    u, gamma = 2.0**-53, 41 * 2.0**-53
    assert np.all(found.rad > 0.0) and np.all(found.rad <= 5 * (u * np.abs(found.mid) + 2 * gamma**2 * np.abs(b)))


def test_nothing_is_proven_of_what_is_or_may_be_singular() -> None:
    third = 1.0 / 3.0
    singular = [np.zeros((1, 1)), np.ones((2, 2)), np.array([[1.0, third], [3.0, 3 * third]]), np.array([[0.0, 0.0], [1.0, 2.0]])]
    for matrix in singular:
        assert solve(INTERVAL, matrix, np.ones(len(matrix))) is None
    assert all(solve(RATIONAL, singular[i], np.ones(len(singular[i]))) is None for i in (0, 1, 3))
    assert solve(INTERVAL, Interval(np.eye(3), 0.5), np.ones(3)) is None
    assert solve(INTERVAL, Interval([[1.0]], [[1.0]]), np.ones(1)) is None
    assert solve(INTERVAL, hilbert(20), np.ones(20)) is None  # not singular, and not to be told from it
    assert solve(FLOAT, np.zeros((2, 2)), np.ones(2)) is None and solve(FLOAT, np.ones((2, 2)), np.ones(2)) is None


def test_what_is_not_finite_or_overflows_has_no_solution() -> None:
    for matrix, right in (([[np.inf]], [1.0]), ([[1.0]], [np.nan]), ([[1e-200]], [1e200])):
        assert solve(INTERVAL, np.array(matrix), np.array(right)) is None and solve(FLOAT, np.array(matrix), np.array(right)) is None
    assert solve(RATIONAL, np.array([[1e-200]]), np.array([1e200]))[0] == Fraction(1e200) / Fraction(1e-200)
    interval = solve(INTERVAL, np.array([[1e200]]), np.array([1e-200]))
    assert interval is not None and holds(interval, exact([[1e200]], [1e-200]))


def test_an_empty_system_has_the_empty_solution() -> None:
    assert all(len(solve(num, np.zeros((0, 0)), np.zeros(0))) == 0 for num in (FLOAT, INTERVAL, RATIONAL))


@pytest.mark.parametrize("shapes", [((2, 3), 2), ((2, 2), 3), (2, 2)])
def test_a_system_that_is_not_square_is_named(shapes: Any) -> None:
    with pytest.raises(ValueError, match=r"matrix: shape \(2"):
        solve(INTERVAL, np.ones(shapes[0]), np.ones(shapes[1]))


@pytest.mark.parametrize("num", [FLOAT, INTERVAL, RATIONAL])
def test_blocks_are_solved_by_themselves(num: Arithmetic) -> None:
    """Whatever the order of rows and columns. A block that is not square, or singular, leaves nothing."""
    rng = np.random.default_rng(3)
    sizes = [1] * 90 + [2, 3, 70, 5]
    dense = scipy.linalg.block_diag(*(np.round(rng.normal(size=(n, n)) * 8) / 8 + 4 * np.eye(n) for n in sizes))
    rows, columns = rng.permutation(len(dense)), rng.permutation(len(dense))
    matrix, right = dense[rows][:, columns], np.round(rng.normal(size=len(dense)) * 8)
    found = solve(num, num.lift(matrix), num.lift(right))
    assert found is not None
    for i, x in enumerate(solve(RATIONAL, RATIONAL.lift(matrix), RATIONAL.lift(right))):
        if num is INTERVAL:
            assert RATIONAL.lift(found.low)[i] <= x <= RATIONAL.lift(found.high)[i]
            assert found.rad[i] <= 1e-13 * (1.0 + abs(float(x)))
        else:
            assert abs(RATIONAL.lift(num.mid(found))[i] - x) <= RATIONAL.lift(1e-14 * (1.0 + abs(float(x))))
    without = matrix.copy()
    without[np.flatnonzero(rows == 0)] = 0.0
    without[np.flatnonzero(rows == 0), np.flatnonzero(columns == 1)] = 1.0
    assert solve(num, num.lift(without), num.lift(right)) is None


def test_rows_with_one_column_to_choose_take_it_one_after_the_other() -> None:
    """A triangle under any order of rows and columns; a row whose column another has taken has none, and the kernel stays."""
    rng = np.random.default_rng(5)
    n = 40
    triangle = np.tril(rng.random((n, n)) < 0.2, -1) | np.eye(n, dtype=bool)
    kernel = np.ones((3, 4), dtype=bool)
    pattern = np.block([[triangle, np.zeros((n, 4), bool)], [rng.random((3, n)) < 0.5, kernel], [triangle[:1], np.zeros((1, 4), bool)]])
    rows, columns = rng.permutation(len(pattern)), rng.permutation(n + 4)
    chosen, taken = forced(pattern[rows][:, columns])
    assert len(set(columns[taken])) == len(chosen) == n and set(columns[taken]) == set(range(n))
    first, own = rows[chosen], columns[taken]
    assert set(first) | {0, n + 3} == {*range(n), n + 3} and not set(first) >= {0, n + 3}  # of two equal rows one
    assert (np.triu(pattern[np.ix_(first, own)], 1) == 0).all() and pattern[first, own].all()
    assert forced(kernel)[0].size == 0 and forced(np.zeros((0, 3)))[1].size == 0


def exactly(matrix: Any, right: Any) -> np.ndarray:
    """The same by python-flint, for large matrices."""
    n, k = len(matrix), np.atleast_2d(np.transpose(right)).shape[0]
    a = flint.fmpq_mat(n, n, [flint.fmpq(*float(x).as_integer_ratio()) for x in np.ravel(matrix)])
    b = flint.fmpq_mat(n, k, [flint.fmpq(*float(x).as_integer_ratio()) for x in np.ravel(right)])
    found = [Fraction(int(x.p), int(x.q)) for x in a.solve(b).entries()]
    return np.array(found, dtype=object).reshape(np.shape(right))


def banded(n: int, seed: int) -> sp.csr_array:
    """A lower triangle with few entries beside its diagonal, rows and columns in another order, as dynamics have it."""
    rng = np.random.default_rng(seed)
    matrix = sp.diags_array([rng.choice([-1.0, 1.0], n), rng.normal(size=n - 1) * 0.5, rng.normal(size=n - 3) * 0.3], offsets=[0, -1, -3])
    return sp.csr_array(matrix.tocsr()[rng.permutation(n)][:, rng.permutation(n)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [0.0, 1e-12])
def test_a_large_sparse_system_is_enclosed_block_by_block(seed: int, width: float) -> None:
    n = 140
    matrix, right = banded(n, seed), np.random.default_rng(seed).normal(size=n)
    found = solve(INTERVAL, IntervalMatrix(matrix, None if not width else abs(matrix) * width), right)
    assert found is not None and holds(found, exactly(matrix.toarray(), right))
    assert np.max(found.rad) <= (1e-13 if not width else 1e-8) * np.max(np.abs(found.mid))
    floats = solve(FLOAT, matrix, right)
    np.testing.assert_allclose(matrix @ floats, right, atol=1e-12)
    if width:
        other = matrix + sp.csr_array((matrix.data * width * 0.99, matrix.indices, matrix.indptr), shape=matrix.shape)
        assert holds(found, exactly(other.toarray(), right))


def test_a_large_sparse_system_with_a_full_block_is_enclosed() -> None:
    rng, n = np.random.default_rng(5), 150
    matrix = sp.lil_array(banded(n, 5))
    matrix[50:60, 50:60] = rng.normal(size=(10, 10)) + 6 * np.eye(10)
    right = rng.normal(size=(n, 2))
    found = solve(INTERVAL, IntervalMatrix(sp.csr_array(matrix)), right)
    assert found is not None and holds(found, exactly(matrix.toarray(), right)) and np.max(found.rad) <= 1e-9 * np.max(np.abs(found.mid))


def test_sparse_and_dense_matrices_have_one_answer_where_none_is_proven() -> None:
    singular = sp.csr_array(np.kron(np.eye(100), np.ones((2, 2))))
    assert solve(INTERVAL, IntervalMatrix(singular), np.ones(200)) is None
    assert solve(INTERVAL, singular.toarray(), np.ones(200)) is None


def test_0_solves_a_block_with_0_on_the_right() -> None:
    """A multiplier at an end of its domain must not move, not even by 1e-40."""
    matrix = np.diag([2.0, 3.0, 5.0])
    found = solve(INTERVAL, matrix, np.array([1.0, 0.0, 0.0]))
    assert found is not None and not found.mid[1:].any() and not found.rad[1:].any() and found.mid[0] == 0.5


def test_products_by_powers_of_two_round_nothing() -> None:
    x = Interval(np.array([0.1, 0.3, 0.1, 5e-300]), np.array([0.0, 1e-3, 0.0, 0.0]))
    found = scaled_exactly(x, np.array([0.5, -4.0, 0.3, 2.0**-60]))
    np.testing.assert_array_equal(found.mid[:2], [0.05, -1.2])
    np.testing.assert_array_equal(found.rad[:2], [0.0, 4e-3])
    assert found.rad[2] > 0.0 and found.rad[3] > 0.0
