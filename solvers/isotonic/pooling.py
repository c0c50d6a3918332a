r"""Pool adjacent violators: the chain whose steps are either free or zero, min ½ Σ w_i (x_i − y_i)² subject to x_i ≤ x_{i+1}.

Blocks of samples are kept with their weighted means; a block whose mean is not above that of the one before is pooled with it. No sums run
over the whole chain, as they do in solvers/isotonic/chain_programme.py, so that a light sample beside a heavy one keeps all its digits.
Source: Barlow, Bartholomew, Bremner & Brunk 1972.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel


@kernel
def is_free(u: Any) -> Any:
    """Whether every step is free (u = ∞) or a tie (u = 0)."""
    for i in range(u.size):
        if 0.0 < u[i] < np.inf:
            return False
    return True


@kernel
def _pool(y: Any, w: Any, u: Any, mean: Any, mass: Any, start: Any, x: Any) -> None:
    """The fit, in x; the other three hold the blocks."""
    m, k = y.size, -1
    for i in range(m):
        if i > 0 and u[i - 1] == 0.0:
            mass[k] += w[i]
            mean[k] += (y[i] - mean[k]) * (w[i] / mass[k])
        else:
            k += 1
            mean[k], mass[k], start[k] = y[i], w[i], i
        if i < m - 1 and u[i] == 0.0:
            continue
        while k > 0 and mean[k - 1] >= mean[k]:
            k -= 1
            mass[k] += mass[k + 1]
            mean[k] += (mean[k + 1] - mean[k]) * (mass[k + 1] / mass[k])
    end = m
    for block in range(k, -1, -1):
        x[start[block] : end] = mean[block]
        end = start[block]


def pooled(y: Array, w: Array, u: Array, lo: float = -np.inf) -> Array:
    """The fit with x ≥ lo, shape (m,). O(m).

    Parameters
    ----------
    y, w : (m,) arrays
        targets; weights > 0.
    u : (m − 1,) array
        ∞, or 0 for x_i = x_{i+1}.
    lo : float
        lower bound of x.
    """
    m = y.size
    x = np.empty(m)
    _pool(y, w, u, np.empty(m), np.empty(m), np.empty(m, dtype=np.int64), x)
    out: Array = np.maximum(x, lo, out=x)
    return out
