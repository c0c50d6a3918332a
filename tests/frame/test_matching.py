"""Matchings against those of SciPy; `test_linked_variables` has what SciPy's do not end with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import maximum_bipartite_matching

from simopt.arithmetic import matching
from simopt.arithmetic.matching import largest_product, perfect_matching


def random(seed: int) -> sp.csr_array:
    """Rows and at least as many columns, some without an entry; entries of all sizes, or powers of two with many ties."""
    rng = np.random.default_rng(seed)
    height = int(rng.integers(1, 30))
    matrix = sp.csr_array(sp.random(height, height + int(rng.integers(0, 12)), density=rng.uniform(0.05, 0.5), random_state=seed))
    matrix.data = np.exp(4.0 * rng.normal(size=matrix.nnz)) if seed % 2 else 2.0 ** rng.integers(-3, 4, matrix.nnz)
    return matrix


def compiled_too(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """As small matrices are matched, and as large ones."""
    return [lambda: None, lambda: monkeypatch.setattr(matching, "SMALL", 0)]


@pytest.mark.parametrize("seed", range(60))
def test_a_matching_is_perfect_where_one_is_and_has_the_largest_product(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = random(seed)
    dense, rows = matrix.toarray(), np.arange(matrix.shape[0])
    perfect = bool(np.all(np.asarray(maximum_bipartite_matching(matrix, perm_type="column")) >= 0))
    costs = np.where(dense > 0.0, -np.log2(np.where(dense > 0.0, dense, 1.0)), 1e6)
    least = costs[linear_sum_assignment(costs)].sum()
    found = perfect_matching(matrix)
    assert (found is not None) == perfect
    for begin in compiled_too(monkeypatch):
        begin()
        best = largest_product(matrix)
        assert (best is not None) == perfect
        for columns in (found, best) if perfect else ():
            assert columns is not None and len(set(columns.tolist())) == len(rows) and np.all(dense[rows, columns] > 0.0)
        if best is not None:
            assert costs[rows, best].sum() <= least + 1e-9


def ladder(levels: int, rows: int) -> sp.csr_array:
    """Two rows on each level that both want the columns of the next one; the columns of the last level are for two of its `rows`."""
    pairs = [(2 * level + k, 2 * level + j + step) for level in range(levels) for k in range(2) for j in range(2) for step in (0, 2)]
    pairs += [(2 * levels + k, 2 * levels + j) for k in range(rows) for j in range(2)]
    i, j = np.array(sorted(set(pairs))).T
    return sp.csr_array((np.ones(len(i)), (i, j)), shape=(2 * levels + rows, 2 * levels + 2))


@pytest.mark.parametrize("levels", [3, 300])
def test_each_place_is_looked_at_once_however_many_paths_lead_to_it(levels: int) -> None:
    for columns in (perfect_matching(ladder(levels, 2)), largest_product(ladder(levels, 2))):
        assert columns is not None and len(set(columns.tolist())) == 2 * levels + 2
    wide = sp.hstack([ladder(levels, 3), sp.csr_array((2 * levels + 3, 2))], format="csr")  # three rows want two columns
    assert perfect_matching(wide) is None and largest_product(wide) is None


def test_more_rows_than_columns_and_empty_rows_have_no_matching() -> None:
    for matrix in (np.ones((3, 2)), np.array([[1.0, 1.0], [0.0, 0.0]])):
        assert perfect_matching(sp.csr_array(matrix)) is None and largest_product(sp.csr_array(matrix)) is None
