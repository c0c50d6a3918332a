r"""Largest value of Σ f_k(u_k) over sequences with 0 ≤ u_{k+1} − u_k ≤ s_k and values on a grid of [0, 1], whatever the f_k are.

Nothing is concave where a deviation is maximised over u ∈ 𝒰, but the samples form a chain: dynamic programming over the last value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel


@kernel
def _walk(gains: Any, steps: Any) -> Any:
    """One sequence: best(v) ← gain(v) + max of best over [v − step, v]."""
    points, levels = gains.shape
    best = gains[0].copy()
    for k in range(1, points):
        reach = np.empty(levels)
        for v in range(levels):
            top = best[v]
            for back in range(1, min(steps[k - 1], v) + 1):
                top = max(top, best[v - back])
            reach[v] = top + gains[k, v]
        best = reach
    return best.max()


@kernel
def _walk_pair(costs: Any, steps: Any, levels: Any) -> Any:
    """Two sequences with the gains costs[k] |u_k − u'_k|: the window is a square, taken one side after the other."""
    grid = 1.0 / (levels - 1)
    best = np.zeros((levels, levels))
    half = np.empty((levels, levels))
    for k in range(costs.size):
        if k > 0:
            for a in range(levels):
                for b in range(levels):
                    top = best[a, b]
                    for back in range(1, min(steps[k - 1], a) + 1):
                        top = max(top, best[a - back, b])
                    half[a, b] = top
            for a in range(levels):
                for b in range(levels):
                    top = half[a, b]
                    for back in range(1, min(steps[k - 1], b) + 1):
                        top = max(top, half[a, b - back])
                    best[a, b] = top
        for a in range(levels):
            for b in range(levels):
                best[a, b] += costs[k] * grid * abs(a - b)
    return best.max()


def _grid_steps(apart: Array, levels: int) -> Any:
    """How many levels u may rise between two places; a whole number reached up to rounding counts."""
    return np.minimum(np.floor(apart * (levels - 1) + 1e-9), levels - 1).astype(np.int64)


def best_sequence(gains: Array, apart: Array) -> float:
    """max over u of Σ_k gains[k, level of u_k].

    Parameters
    ----------
    gains : (K, levels) array
        f_k at the values 0, 1/(levels − 1), …, 1.
    apart : (K − 1,) array
        s_k ≥ 0.

    Returns
    -------
    The maximum over sequences on the grid: a lower bound of that over [0, 1]. O(K levels · largest rise).
    """
    return float(_walk(np.ascontiguousarray(gains), _grid_steps(apart, gains.shape[1])))


def best_pair(costs: Array, apart: Array, levels: int) -> float:
    """max over u, u' of Σ_k c_k |u_k − u'_k|, both on the grid. O(K levels² · largest rise)."""
    return float(_walk_pair(costs, _grid_steps(apart, levels), levels))
