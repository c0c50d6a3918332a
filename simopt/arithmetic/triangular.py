"""A x = b in fractions for a sparse square matrix, by substitution: only the blocks on its diagonal are eliminated.

A perfect matching puts an entry on each place of the diagonal. The strongly connected components of the graph of rows are then the blocks
of a block triangular form, which is unique. Bases of linear programmes and dynamics have blocks of one row for the most part.

Source: A. Pothen and C.-J. Fan, Computing the block triangular form of a sparse matrix, ACM Trans. Math. Softw. 16 (1990).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from simopt.arithmetic.matching import perfect_matching

LARGEST = 4000  # rows of a block: its dense matrix takes 1 GB, and its elimination minutes
Block = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows and columns
Fractions = Mapping[int, Any]  # the entries of a row, fractions of python-flint


class LargeBlock(ArithmeticError):
    """A block has too many rows to be eliminated."""


def block_triangular(pattern: Any) -> list[Block] | None:
    """The blocks, each after all those in whose columns its rows have entries; None where no entries can fill the diagonal."""
    by_row = sp.csr_array(pattern)
    matched = perfect_matching(by_row)
    if matched is None:
        return None
    row_of = np.empty(len(matched), dtype=np.intp)
    row_of[matched] = np.arange(len(matched))
    needs = sp.csr_array((np.ones(by_row.nnz), row_of[by_row.indices], by_row.indptr), shape=by_row.shape)  # row -> rows it waits for
    count, label = connected_components(needs, directed=True, connection="strong")
    members = np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label, minlength=count))[:-1])
    return [(members[k], matched[members[k]]) for k in _in_order(needs, label, count)]


def _in_order(needs: Any, label: NDArray[np.int32], count: int) -> list[int]:
    """The components, each after those that it waits for (depth first)."""
    edges = sp.coo_array(needs)
    between = sp.csr_array((np.ones(edges.nnz), (label[edges.row], label[edges.col])), shape=(count, count))
    starts, ends, targets = between.indptr[:-1].tolist(), between.indptr[1:].tolist(), between.indices.tolist()
    order, seen = list[int](), [False] * count
    for root in range(count):
        waiting = [] if seen[root] else [(root, starts[root])]
        seen[root] = True
        while waiting:
            node, at = waiting.pop()
            while at < ends[node] and seen[targets[at]]:
                at += 1
            if at == ends[node]:
                order.append(node)
                continue
            waiting += [(node, at + 1), (targets[at], starts[targets[at]])]
            seen[targets[at]] = True
    return order


def as_fraction(number: Any) -> Any:
    """A float or a fraction of Python, as one of python-flint."""
    import flint

    return flint.fmpq(*map(int, number.as_integer_ratio()))


def pattern_of(rows: Sequence[Fractions]) -> Any:
    """1 where an entry of a square matrix is not 0, sparse."""
    columns = [j for row in rows for j in row]
    starts = np.cumsum([0, *(len(row) for row in rows)])
    return sp.csr_array((np.ones(len(columns)), columns, starts), shape=(len(rows), len(rows)))


def solved_exactly(rows: Sequence[Fractions], parts: Sequence[Block], right: Fractions) -> dict[int, Any]:
    """The entries of x that are not 0, in fractions of python-flint, block by block; so is `right` given by those that are not 0.

    The fractions of a block of k rows have some 53 k bits each, however sparse it is. A block whose right-hand side is 0 is not looked at.

    Raises
    ------
    ZeroDivisionError
        where a block that is looked at is singular.
    LargeBlock
        where a block has more than LARGEST rows.
    """
    import flint

    if max((len(some) for some, _ in parts), default=0) > LARGEST:
        raise LargeBlock(f"a block has more than {LARGEST} rows")
    zero, found = flint.fmpq(0), dict[int, Any]()
    for some, columns in parts:
        known = [_rest(rows[i], right.get(i, zero), found) for i in some.tolist()]
        if not any(known):
            continue
        if len(some) == 1:
            found[int(columns[0])] = known[0] / rows[int(some[0])][int(columns[0])]
            continue
        matrix = flint.fmpq_mat(len(some), len(some), [rows[i].get(j, zero) for i in some.tolist() for j in columns.tolist()])
        solution = matrix.solve(flint.fmpq_mat(len(some), 1, known))
        found |= {j: solution[k, 0] for k, j in enumerate(columns.tolist()) if solution[k, 0]}
    return found


def _rest(row: Fractions, right: Any, x: Fractions) -> Any:
    """A right-hand side without what is known of its row."""
    for j, a in row.items():
        if j in x:
            right = right - a * x[j]
    return right
