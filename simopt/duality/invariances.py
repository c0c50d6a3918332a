"""What moves nothing need not be free: entries of leaves that are 0 without loss.

Let B have the gradients of all that a programme computes from its leaves: of the objective, of rows and bounds, of the arguments of its
functions. If a column of B is a combination of others, Be_j = B_P c, then x and x + x_j (c − e_j) give the same in all of it, and the
second has 0 at j. Of x + y ≥ 1, x + y ≤ 0 it is y. Stationarity in such an entry follows from that in the others, which balls cannot tell;
an entry that is fixed is not asked for any. Columns are compared in fractions.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import RATIONAL, NotRational
from simopt.duality.affine import Map, Residual
from simopt.duality.programme import Programme, argument
from simopt.duality.vectors import Indices, broadcast

LARGEST = 60  # columns, and what else is decided in fractions
MOST = 400  # rows


def fixed(programme: Programme) -> list[Any]:
    """Constraints that set such entries to 0; none where there are none, or the programme is too large to tell."""
    leaves = list(programme.leaves.values())
    maps = [programme.objective, *(row.map for row in programme.rows), *(argument(node) for node in programme.nodes)]
    maps += [bound.row.map for bounds in programme.bounds.values() for bound in bounds]
    if sum(leaf.size for leaf in leaves) > LARGEST or sum(below.size for below in maps) > MOST:
        return []
    try:
        rows = np.array([row for below in maps for row in _gradients(programme, below)])
    except (NotRational, ArithmeticError, ValueError):
        return []
    free = _dependent(rows)
    starts = np.cumsum([0, *(leaf.size for leaf in leaves)])
    found = []
    for leaf, start in zip(leaves, starts, strict=False):
        own = free[(free >= start) & (free < start + leaf.size)] - start
        if len(own):
            entries = cp.vec(leaf.variable, order="F")[own]
            found += [entries <= 0, entries >= 0]  # as bounds
    return found


def _gradients(programme: Programme, below: Map) -> list[Any]:
    """Its rows, in the leaves alone: values of nodes stay if their arguments do."""
    found = []
    for i in range(below.size):
        unit, into = np.zeros(below.size), Residual()
        unit[i] = 1.0
        below.pull(RATIONAL, RATIONAL.lift(unit), into)
        parts = [(into.get(leaf.key, RATIONAL.zeros(leaf.size)), leaf.size) for leaf in programme.leaves.values()]
        found.append(RATIONAL.concat([broadcast(RATIONAL, part, size) for part, size in parts]))
    return found


def _dependent(matrix: Any) -> Indices:
    """The columns, not 0, that are combinations of those before them: where an elimination finds no pivot."""
    rest, row, found = matrix.copy(), 0, []
    for j in range(matrix.shape[1]):
        some = np.flatnonzero(rest[row:, j] != 0)
        if not len(some):
            found += [j] if (matrix[:, j] != 0).any() else []
            continue
        pivot = row + some[0]
        rest[[row, pivot]] = rest[[pivot, row]]
        live = row + 1 + np.flatnonzero(rest[row + 1 :, j] != 0)
        rest[live] = rest[live] - np.outer(rest[live, j] / rest[row, j], rest[row])
        row += 1
    return np.array(found, dtype=np.intp)
