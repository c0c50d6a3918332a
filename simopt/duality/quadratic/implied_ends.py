"""Bounds of variables that rows imply, where none are declared.

Of a row ⟨a, x⟩ + b ≤ 0 each x_j has a bound as soon as all others are bounded on the side that counts: a_j x_j ≤ −b − Σ min a_k x_k. Bounds
that are found serve other rows. Declared ones are not made tighter: that is not needed here, and need not end.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic.interval import EPS, TINY
from simopt.core.arrays import Array
from simopt.duality.vertices.linear_programme import LinearProgramme

SWEEPS = 10


def implied_ends(linear: LinearProgramme) -> tuple[Array, Array]:
    """Lower and upper bounds of all feasible x, rounded outwards; infinite where none is found."""
    low, high = linear.low.copy(), linear.high.copy()
    exact = linear.matrix.exact_rows & (linear.constants.rad == 0.0)
    both, above = np.flatnonzero(exact & linear.equality), np.flatnonzero(exact)
    matrix = sp.vstack([linear.matrix.mid[above], -linear.matrix.mid[both]], format="csr")
    matrix.eliminate_zeros()
    b = np.concatenate([linear.constants.mid[above], -linear.constants.mid[both]])
    a, column, counts = matrix.data, matrix.indices, np.diff(matrix.indptr)
    row = np.repeat(np.arange(len(counts)), counts)
    for _ in range(SWEEPS):
        end = np.where(a > 0.0, low[column], high[column])
        without = np.isinf(end)
        least = np.where(without, 0.0, a * np.where(without, 0.0, end))
        lacking, total, size = (np.bincount(row, each, len(counts)) for each in (without, least, np.abs(least)))
        known = lacking[row] - without == 0.0
        found = (-b[row] - (total[row] - least)) / a
        lost = (counts[row] + 8) * (EPS * ((size + np.abs(b))[row] / np.abs(a)) + TINY / np.abs(a)) + 4 * EPS * np.abs(found) + TINY
        reached = [np.full(len(low), np.inf), np.full(len(low), -np.inf)]
        for side, chosen in enumerate((known & (a > 0.0), known & (a < 0.0))):
            outwards = found[chosen] + (lost[chosen] if side == 0 else -lost[chosen])
            (np.minimum if side == 0 else np.maximum).at(reached[side], column[chosen], outwards)
        fresh = [np.isinf(high) & np.isfinite(reached[0]), np.isinf(low) & np.isfinite(reached[1])]
        if not (fresh[0].any() or fresh[1].any()):
            break
        high, low = np.where(fresh[0], reached[0], high), np.where(fresh[1], reached[1], low)
    return low, high
