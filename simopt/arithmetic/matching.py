"""A column for each row of a sparse matrix, no column twice: perfect matchings of places, and of entries whose product is the largest.

SciPy's matchings take time exponential in the layers of a matrix, such as dynamics of many steps have: the depth-first search of its
Hopcroft–Karp, which both of its functions begin with, does not mark dead ends (its issue 26147). Here each phase looks at each place once.

Source: J. E. Hopcroft and R. M. Karp, An n^{5/2} algorithm for maximum matchings in bipartite graphs, SIAM J. Comput. 2 (1973);
I. S. Duff and J. Koster, On algorithms for permuting large entries to the diagonal of a sparse matrix, SIAM J. Matrix Anal. 22 (2001).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from simopt.core.compiled import kernel

SMALL = 200_000  # entries up to which Python is as fast as the import of numba, which takes 80 MB besides

Neighbours = Sequence[Sequence[int]]
Indices = NDArray[np.intp]


def perfect_matching(pattern: Any) -> Indices | None:
    """The column of each row; None where no matching has one for each."""
    by_row = sp.csr_array(pattern)
    starts, places = by_row.indptr.tolist(), by_row.indices.tolist()
    neighbours = [places[start:end] for start, end in pairwise(starts)]
    row_of, column_of = [-1] * by_row.shape[1], [-1] * by_row.shape[0]
    for i, own in enumerate(neighbours):
        free = next((j for j in own if row_of[j] < 0), -1)
        if free >= 0:
            row_of[free], column_of[i] = i, free
    while _lengthened(neighbours, row_of, column_of):
        pass
    return None if -1 in column_of else np.array(column_of, dtype=np.intp)


def _lengthened(neighbours: Neighbours, row_of: list[int], column_of: list[int]) -> bool:
    """Shortest augmenting paths from rows without a column, until no more are as short; whether there was one."""
    roots = [i for i, j in enumerate(column_of) if j < 0]
    level, queue = dict.fromkeys(roots, 0), list(roots)
    for i in queue:
        for j in neighbours[i]:
            owner = row_of[j]
            if owner >= 0 and owner not in level:
                level[owner] = level[i] + 1
                queue.append(owner)
    left = {i: iter(neighbours[i]) for i in queue}  # of each row the columns that no path has tried yet
    return any([_augmented(root, left, level, row_of, column_of) for root in roots])


def _augmented(root: int, left: dict[int, Iterator[int]], level: dict[int, int], row_of: list[int], column_of: list[int]) -> bool:
    """Take the first such path from this row, if there is one; a column is not tried again, wherever it led."""
    path = [root]
    while path:
        here = path[-1]
        column = next((j for j in left[here] if row_of[j] < 0 or level[row_of[j]] == level[here] + 1), -1)
        if column < 0:
            path.pop()
        elif row_of[column] >= 0:
            path.append(row_of[column])
        else:
            for i in reversed(path):
                row_of[column], column_of[i], column = i, column, column_of[i]
            return True
    return False


def largest_product(matrix: Any) -> Indices | None:
    """The column of each row, for the perfect matching whose entries have the largest product; None where no matching is perfect.

    By shortest augmenting paths, with the costs −log |a_ij|. Time: that of Dijkstra's algorithm for each row that several others compete
    with for the same column.
    """
    by_row = sp.csr_array(matrix)
    by_row.eliminate_zeros()
    if by_row.shape[0] > by_row.shape[1] or not np.diff(by_row.indptr).all():
        return None
    costs = -np.log2(np.abs(by_row.data))
    starts, columns = by_row.indptr.astype(np.int64), by_row.indices.astype(np.int64)
    if by_row.nnz < SMALL:  # Python is three times as fast with lists as with arrays
        column_of = _cheapest.python(starts.tolist(), columns.tolist(), costs.tolist(), by_row.shape[1])
    else:
        column_of = _cheapest(starts, columns, costs, by_row.shape[1])
    return None if -1 in column_of else np.array(column_of, dtype=np.intp)


@kernel
def _cheapest(starts: Sequence[int], columns: Sequence[int], costs: Sequence[float], width: int) -> list[int]:
    """The matching of least total cost, row by row; −1 for the first row that is left without a column, and for those after it.

    u_i + v_j ≤ c_ij for all entries, with equality where i and j are matched; v_j ≤ 0, and v_j = 0 where j is free.
    """
    height = len(starts) - 1
    row_of, column_of = [-1] * width, [-1] * height
    u, v = [0.0] * height, [0.0] * width
    for i in range(height):
        best = starts[i]
        for k in range(starts[i] + 1, starts[i + 1]):
            if costs[k] < costs[best]:
                best = k
        u[i] = costs[best]
        if row_of[columns[best]] < 0:
            row_of[columns[best]], column_of[i] = i, columns[best]
    distance, source, done = [np.inf] * width, [-1] * width, [False] * width
    touched = [-1] * width
    for root in range(height):
        if column_of[root] >= 0:
            continue
        count, here, length, end = 0, root, 0.0, -1
        heap = [(0.0, -1)]
        while end < 0:
            for k in range(starts[here], starts[here + 1]):
                j = columns[k]
                reach = length + max(costs[k] - u[here] - v[j], 0.0)  # below 0 by rounding alone
                if not done[j] and reach < distance[j]:
                    if distance[j] == np.inf:
                        touched[count] = j
                        count += 1
                    distance[j], source[j] = reach, here
                    heapq.heappush(heap, (reach, j))
            nearest = -1
            while len(heap) > 0 and nearest < 0:
                length, j = heapq.heappop(heap)
                if j >= 0 and not done[j]:
                    nearest = j
            if nearest < 0:
                return column_of
            done[nearest] = True
            if row_of[nearest] < 0:
                end = nearest
            else:
                here = row_of[nearest]
        u[root] += length
        for k in range(count):
            j = touched[k]
            if done[j] and j != end:
                v[j] -= length - distance[j]
                u[row_of[j]] += length - distance[j]
            distance[j], done[j] = np.inf, False
        while True:
            i = source[end]
            row_of[end], column_of[i], end = i, end, column_of[i]
            if i == root:
                break
    return column_of
