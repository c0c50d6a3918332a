"""The values of rows that depend on others, at every solution of these: in fractions, so that a 0 is known to be one.

Rows h_I(x) = A_I x + b_I = 0 are solved for the pivots P, A_IP regular, while the other entries stay. With λ from A_IPᵀ λ = a_iP a further
row is h_i(x) = ⟨a_i − A_Iᵀλ, x⟩ + b_i − ⟨λ, b_I⟩, in which the pivots do not occur.
"""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.triangular import as_fraction, block_triangular, pattern_of, solved_exactly
from simopt.core.arrays import Array
from simopt.duality.graph.vectors import Indices
from simopt.duality.vertices.linear_programme import Fractions, as_float

MOST = 200  # rows of a block, whose fractions have as many times 53 bits


def following_rows(
    matrix: IntervalMatrix, constants: Interval, chosen: Indices, pivots: Indices, others: Indices, x: Array
) -> Interval | None:
    """h_i(x) for the rows in `others`; None where numbers are not known exactly, are too large, or too many hang together.

    A constant may be an interval: then a value is one.
    """
    if not matrix.exact_rows[chosen].all() or not matrix.exact_rows[others].all():
        return None
    rows = [_fractions(matrix, i) for i in chosen.tolist()]
    by_pivot: dict[int, Fractions] = {j: {} for j in pivots.tolist()}
    for e, row in enumerate(rows):
        for j in row.keys() & by_pivot.keys():
            by_pivot[j][e] = row[j]
    system = list(by_pivot.values())
    parts = block_triangular(pattern_of(system)) if system else []
    if parts is None or max((len(some) for some, _ in parts), default=0) > MOST:
        return None
    mid, rad = np.zeros(len(others)), np.zeros(len(others))
    for k, i in enumerate(others.tolist()):
        own = _fractions(matrix, i)
        try:
            factors = solved_exactly(system, parts, {p: own[j] for p, j in enumerate(by_pivot) if j in own})
            for e, factor in factors.items():
                for j, a in rows[e].items():
                    own[j] = own[j] - factor * a if j in own else -factor * a
            total = as_fraction(0.0)
            for j, a in own.items():
                if a and x[j]:
                    total = total + a * as_fraction(float(x[j]))
            for e, factor in ((i, as_fraction(1.0)), *((int(chosen[e]), -factor) for e, factor in factors.items())):
                total = total + factor * as_fraction(float(constants.mid[e]))
                rad[k] += np.nextafter(abs(as_float(factor)), np.inf) * float(constants.rad[e]) * (1.0 + 1e-12)
            mid[k] = as_float(total)
        except (ZeroDivisionError, OverflowError):  # pivots that are dependent, or a number larger than all floats
            return None
        rad[k] += np.spacing(abs(mid[k])) if as_fraction(float(mid[k])) != total else 0.0
    return Interval(mid, rad * (1.0 + 1e-12))


def _fractions(matrix: IntervalMatrix, i: int) -> Fractions:
    part = slice(matrix.mid.indptr[i], matrix.mid.indptr[i + 1])
    pairs = zip(matrix.mid.indices[part].tolist(), matrix.mid.data[part].tolist(), strict=True)
    return {j: as_fraction(a) for j, a in pairs if a}
