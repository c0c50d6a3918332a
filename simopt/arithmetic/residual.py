r"""b − A x in floats, with a bound of what rounding leaves: the products are summed as if with twice as many bits.

Each product is split into a float and its error, and so is each sum; errors are added in floats. The sum of a row is done in a tree: halves
are added, then halves of that. The result is off by at most u|r| + γ²(|b| + |A||x|), γ = (n + 1)u/(1 − (n + 1)u), for rows of n entries.
(The errors are of at most log₂ n + 1 sums of u times the sizes, and adding them rounds once more.)

Source: T. Ogita, S. M. Rump and S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simopt.arithmetic.error_free import two_product, two_sum
from simopt.arithmetic.interval import EPS, TINY, Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.core.arrays import Array

CHUNK = 1 << 17  # products in memory at a time


def residual(a: Interval | IntervalMatrix, b: Interval, x: Array) -> Interval:
    """b − A x for all matrices and right-hand sides in the intervals; b and x have one or more columns."""
    sparse = isinstance(a, IntervalMatrix)
    total, rest, most = b.mid.copy(), np.zeros(b.shape), 0
    for rows, entries, columns in _parts(a.mid, sparse):
        most = max(most, entries.shape[1])
        for j in range(x.shape[1]):
            total[rows, j], rest[rows, j] = _summed(entries, x[:, j][columns], b.mid[rows, j])
    mid = total + rest
    gamma = (most + 4) * EPS
    size = abs(a.mid) @ np.abs(x)
    rad = b.rad + EPS * np.abs(mid) + gamma * gamma * (np.abs(b.mid) + size) + np.where(x.any(axis=0), most * TINY, 0.0)
    if not (a.exact if isinstance(a, IntervalMatrix) else not a.rad.any()):
        rad = rad + (a.rad @ np.abs(x)) * (1.0 + (a.shape[1] + 4) * EPS) + TINY
    return Interval(mid, rad * (1.0 + gamma + 16 * EPS))


def _parts(matrix: Any, sparse: bool) -> Iterator[tuple[Any, Array, Any]]:
    """Rows with the same number of entries, or nearly: which, their entries (0 where there are fewer), and in which columns these are."""
    if not sparse:
        step = max(1, CHUNK // max(matrix.shape[1], 1))
        for start in range(0, len(matrix), step):
            yield slice(start, start + step), matrix[start : start + step], slice(None)
        return
    counts = np.diff(matrix.indptr)
    kinds = np.frexp(counts.astype(float))[1]  # of one power of two
    for kind in np.unique(kinds[counts > 0]).tolist():
        members = np.flatnonzero((kinds == kind) & (counts > 0))
        width = int(counts[members].max())
        step = max(1, CHUNK // width)
        for start in range(0, len(members), step):
            rows = members[start : start + step]
            inside = np.arange(width) < counts[rows, None]
            at = np.where(inside, matrix.indptr[rows, None] + np.arange(width), 0)
            yield rows, np.where(inside, matrix.data[at], 0.0), matrix.indices[at]


def _summed(entries: Array, x: Array, b: Array) -> tuple[Array, Array]:
    """b − Σ entries · x by rows, as a float and the sum of its errors."""
    sums, lost = two_product(-entries, x)
    rest = lost.sum(axis=1)
    while sums.shape[1] > 1:
        half = sums.shape[1] // 2
        added, lost = two_sum(sums[:, :half], sums[:, half : 2 * half])
        rest = rest + lost.sum(axis=1)
        sums = np.concatenate([added, sums[:, 2 * half :]], axis=1) if sums.shape[1] % 2 else added
    total, lost = two_sum(b, sums[:, 0]) if sums.shape[1] else (b, np.zeros(len(b)))
    return total, rest + lost
