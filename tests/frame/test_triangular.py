"""Block triangular forms, and systems solved through them in fractions."""

from __future__ import annotations

import flint
import numpy as np
import pytest
import scipy.sparse as sp

from simopt.arithmetic.independent import matched
from simopt.arithmetic.triangular import block_triangular, solved_exactly


def shuffled_blocks(seed: int, sizes: list[int]) -> np.ndarray:
    """Regular blocks on a diagonal, whole numbers below them, rows and columns in another order."""
    rng, n = np.random.default_rng(seed), sum(sizes)
    matrix = np.tril(rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < 0.15), -1).astype(float)
    start = 0
    for size in sizes:
        part = slice(start, start + size)
        matrix[part, part] = rng.integers(1, 4, (size, size)) + 5 * np.eye(size)
        start += size
    return matrix[np.ix_(rng.permutation(n), rng.permutation(n))]


@pytest.mark.parametrize("seed", range(8))
def test_each_block_comes_after_those_in_whose_columns_it_has_entries(seed: int) -> None:
    sizes = [1, 1, 4, 1, 3, 1, 1, 2, 1]
    matrix = shuffled_blocks(seed, sizes)
    parts = block_triangular(sp.csr_array(matrix))
    assert parts is not None and sorted(len(rows) for rows, _ in parts) == sorted(sizes)
    known: set[int] = set()
    for rows, columns in parts:
        known |= set(columns.tolist())
        assert set(np.flatnonzero(matrix[rows].any(axis=0)).tolist()) <= known
    assert known == set(range(len(matrix)))


@pytest.mark.parametrize("seed", range(4))
def test_fractions_solve_a_system_and_its_transpose(seed: int) -> None:
    matrix = shuffled_blocks(seed, [1, 3, 1, 2, 1, 1])
    n = len(matrix)
    parts = block_triangular(sp.csr_array(matrix))
    assert parts is not None
    right = [flint.fmpq(k - 3, 7) for k in range(n)]
    for a, order in ((matrix, parts), (matrix.T, [(columns, rows) for rows, columns in reversed(parts)])):
        rows = [{j: flint.fmpq(int(x)) for j, x in enumerate(row) if x} for row in a.tolist()]
        for known in (right, [flint.fmpq(k == 2) for k in range(n)]):  # of the second, most blocks have 0 on the right
            x = solved_exactly(rows, order, {k: number for k, number in enumerate(known) if number})
            assert all(x.values())
            assert [sum((c * x.get(j, 0) for j, c in row.items()), flint.fmpq(0)) for row in rows] == known


def test_what_is_singular_has_no_form_or_no_solution() -> None:
    assert block_triangular(sp.csr_array(np.array([[1.0, 0.0], [1.0, 0.0]]))) is None
    parts = block_triangular(sp.csr_array(np.ones((2, 2))))
    assert parts is not None
    with pytest.raises(ZeroDivisionError):
        solved_exactly([{0: flint.fmpq(1), 1: flint.fmpq(1)}] * 2, parts, {0: flint.fmpq(1), 1: flint.fmpq(1)})


def test_a_matching_takes_large_entries_and_refuses_dependent_rows() -> None:
    rng = np.random.default_rng(0)
    matrix = sp.random_array((40, 70), density=0.1, rng=rng, format="csr") + sp.csr_array(np.eye(40, 70, 25) * 10.0)
    found = matched(matrix)
    assert found is not None and len(set(found.tolist())) == 40
    square = matrix.toarray()[:, found]
    assert np.linalg.cond(square) < 1e6 and np.min(np.abs(np.diag(square))) >= 1.0
    dependent = matrix.toarray()
    dependent[7] = dependent[3] + dependent[5]
    assert matched(sp.csr_array(dependent)) is None
    assert matched(sp.csr_array(np.zeros((2, 3)))) is None and matched(sp.csr_array(np.ones((3, 2)))) is None
