r"""Multipliers for a ball far larger than the optimum needs.

The dual has −B‖g‖, g = Ψᵀs. If the ball is inactive, g is 0 at the optimum, and what a solver leaves of g, say 1e-12, costs 1e-12 B: a gap
that no better point closes. Multipliers next to a bound are put on it. Those strictly between, whose hinges are at their kinks, may be
changed at no cost in the hinges' part of the gap. The least change that makes g and g_b vanish is a small least-squares problem. The result
is a candidate like any other, made admissible afterwards and kept only if its bound is better.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.problems.thresholds.sides import HingeSide

FREE = 1e-6  # of 1/n: distance from its bounds of a multiplier that may change
STEPS = 2  # the second one removes what rounding left of the first
MOST_FREE = 4  # at most so many free multipliers for each equation: more say that the multipliers are not near an optimum


def balanced_out(
    rows: Array, sides: tuple[HingeSide, HingeSide], multipliers: tuple[Array, Array], order: Array | None
) -> dict[str, Array] | None:
    """p, q and ν with Ψᵀs = 0 and g_b = 0 as nearly as floats can, or None where too few or too many multipliers are free.

    Parameters
    ----------
    rows : (n, d) array
        Ψ in a unit in which its rows have about length 1.
    sides : pair of Side
        hinges above and below.
    multipliers : pair of arrays
        p and q in [0, 1/n].
    order : (r−2,) array or None
        ν; None where the thresholds are given and g_b is no concern. For IMC an empty array.
    """
    mass = 1.0 / len(rows)
    free = [np.flatnonzero((multiplier > FREE * mass) & (multiplier < (1.0 - FREE) * mass)) for multiplier in multipliers]
    steps = np.flatnonzero(order > FREE * mass) if order is not None else np.zeros(0, dtype=np.intp)
    count = 0 if order is None else sides[0].count
    size = sum(map(len, free)) + len(steps)
    if not 0 < size <= MOST_FREE * (rows.shape[1] + count):
        return None
    matrix = np.hstack(
        [_columns(rows, sides[0], free[0], 1.0, count), _columns(rows, sides[1], free[1], -1.0, count), _steps(rows, steps, count)]
    )
    out = [np.where(multiplier > 0.5 * mass, mass, 0.0) for multiplier in multipliers]
    for values, chosen, multiplier in zip(out, free, multipliers, strict=True):
        values[chosen] = multiplier[chosen]
    nu = np.zeros(0 if order is None else len(order))
    nu[steps] = 0.0 if order is None else order[steps]
    out.append(nu)
    for _ in range(STEPS):
        move = np.linalg.lstsq(matrix, -_residual(rows, sides, out, count), rcond=None)[0]
        start = 0
        for values, chosen, cap in zip(out, (*free, steps), (mass, mass, np.inf), strict=True):
            values[chosen] = np.clip(values[chosen] + move[start : start + len(chosen)], 0.0, cap)
            start += len(chosen)
    return dict(zip(("above", "below", "order"), out, strict=True))


def _columns(rows: Array, side: HingeSide, chosen: NDArray[np.intp], sign: float, count: int) -> Array:
    """Derivatives of (g, g_b) by the chosen multipliers of one side."""
    ends = np.zeros((count, len(chosen)))
    if count:
        ends[side.ends[chosen], np.arange(len(chosen))] = -sign
    return np.vstack([sign * rows[side.rows[chosen]].T, ends])


def _steps(rows: Array, chosen: NDArray[np.intp], count: int) -> Array:
    """Derivatives of (g, g_b) by ν_j of the chosen rows."""
    out = np.zeros((rows.shape[1] + count, len(chosen)))
    out[rows.shape[1] + chosen, np.arange(len(chosen))] = 1.0
    out[rows.shape[1] + chosen + 1, np.arange(len(chosen))] = -1.0
    return out


def _residual(rows: Array, sides: tuple[HingeSide, HingeSide], values: list[Array], count: int) -> Array:
    """(g, g_b)."""
    highs, lows = sides
    above, below, order = values
    s = np.bincount(highs.rows, above, highs.samples) - np.bincount(lows.rows, below, lows.samples)
    g: Array = rows.T @ s
    if not count:
        return g
    balance: Array = np.bincount(lows.ends, below, count) - np.bincount(highs.ends, above, count).astype(float)
    if order.size:
        balance[:-1] += order
        balance[1:] -= order
    return np.concatenate([g, balance])
