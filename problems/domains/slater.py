"""A point inside a level set of a loss: weights of small maximum whose loss is below the level. Blended with it, any point is feasible.

Linear losses by a few linear programmes with growing bounds, the squared loss along its ridge path.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array
from simopt.problems.losses.prediction_losses import Hinge, Insensitive, Loss

BISECTIONS = 60
INSIDE = 0.9  # fraction of the level that counts as well inside
FACTOR, STEPS = 4.0, 24  # by which bounds grow or shrink, and how often
EPS = float(np.finfo(np.float64).eps)


def inner_weights(columns: Array, y: Array, p: Array, loss: Loss, level: float) -> Array | None:
    """w with Σ p ℓ((columns w)_i, y_i) < level, or None where none was found. `columns` are p_j K_ij, shape (n, n), p > 0; y of size 1.

    max |w_j| is small: for the linear losses at most about four times what `INSIDE` · level takes.
    """
    lengths = np.linalg.norm(columns, axis=0)
    for units in (np.ones(len(y)), np.where(lengths > 0.0, lengths, 1.0)):  # in their own, columns of very different size all count
        scaled = columns / units
        found = _boxed(scaled, y, p, loss, level) if isinstance(loss, Insensitive | Hinge) else _ridge(scaled, y, p, level)
        if found is not None and _value(columns, y, p, loss, found / units) < level:
            return found / units
    return None


def ray(columns: Array, y: Array, p: Array, loss: Loss) -> Array | None:
    """q = −p ∂ℓ/∂f at the least of Σ p ℓ(columns w, y) over all w, where columnsᵀq = 0: what proves that no w has a smaller loss."""
    if not isinstance(loss, Insensitive | Hinge):
        root = np.sqrt(p)
        U, s, _ = scipy.linalg.svd(columns * root[:, None], full_matrices=False)
        basis = U[:, s > len(s) * EPS * s[0]]
        rest = root * y
        for _ in range(2):  # the second time for what rounding left of the first
            rest = rest - basis @ (basis.T @ rest)
        return np.asarray(2.0 * root * rest)
    from scipy.optimize import linprog

    rows, sides = _rows(columns, y, loss)
    free = [(None, None)] * len(y) + [(0.0, None)] * len(y)
    found = linprog(np.concatenate([np.zeros(len(y)), p]), A_ub=rows, b_ub=sides, bounds=free, method="highs-ds")
    if found.x is None:
        return None
    marginals: Array = found.ineqlin.marginals
    return -y * marginals if isinstance(loss, Hinge) else marginals[: len(y)] - marginals[len(y) :]


def _value(columns: Array, y: Array, p: Array, loss: Loss, w: Array) -> float:
    return float(p @ loss.value(FLOAT, columns @ w, y))


def _boxed(columns: Array, y: Array, p: Array, loss: Insensitive | Hinge, level: float) -> Array | None:
    """The first w of least loss among |w_j| ≤ B that has a loss of at most INSIDE · level, for B = 1, 4, 16, … or 1, ¼, …

    If the loss no longer falls as B grows, the last one.
    """
    bound, best, previous = 1.0, None, np.inf
    falling = False
    for _ in range(STEPS):
        w = _least(columns, y, p, loss, bound)
        value = np.inf if w is None else _value(columns, y, p, loss, w)
        if value <= INSIDE * level:
            best, falling = w, True
            bound /= FACTOR
            continue
        if falling or value > previous * (1.0 - 1e-9):
            return best if best is not None else w
        previous = value
        bound *= FACTOR
    return best


def _least(columns: Array, y: Array, p: Array, loss: Insensitive | Hinge, bound: float) -> Array | None:
    """A w of least loss with |w_j| ≤ B; None where HiGHS finds none."""
    from scipy.optimize import linprog

    n = len(y)
    rows, sides = _rows(columns * bound, y, loss)
    bounds = [(-1.0, 1.0)] * n + [(0.0, None)] * n
    found = linprog(np.concatenate([np.zeros(n), p]), A_ub=rows, b_ub=sides, bounds=bounds, method="highs-ds")
    return None if found.x is None else bound * np.clip(found.x[:n], -1.0, 1.0)


def _rows(columns: Array, y: Array, loss: Insensitive | Hinge) -> tuple[Array, Array]:
    """A and b of A (w, ξ) ≤ b, which says that ξ ≥ 0 bounds the losses of columns w."""
    eye = np.eye(len(y))
    if isinstance(loss, Hinge):
        return np.hstack([-y[:, None] * columns, -eye]), np.full(len(y), -loss.margin)
    rows = np.vstack([np.hstack([columns, -eye]), np.hstack([-columns, -eye])])
    return rows, np.concatenate([y + loss.epsilon, loss.epsilon - y])


def _ridge(columns: Array, y: Array, p: Array, level: float) -> Array | None:
    """(AᵀA + λI)⁻¹Aᵀb with A = √p∘columns, b = √p∘y, λ as large as a loss of nine tenths of the way to the level allows."""
    root = np.sqrt(p)
    U, s, Vt = scipy.linalg.svd(columns * root[:, None], full_matrices=False)
    real = s > len(s) * EPS * s[0]
    s, c, V = s[real], (U.T @ (root * y))[real], Vt[real].T
    least = max(float(p @ (y * y)) - float(c @ c), 0.0)
    if least >= level or not len(s):
        return None
    goal = INSIDE * (level - least)
    low, high = -60.0, 60.0  # of log λ/s_max²: the loss above the least one is Σ c²(λ/(s² + λ))²
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        lam = float(s[0]) ** 2 * np.exp(middle)
        low, high = (middle, high) if float(np.sum((c * lam / (s * s + lam)) ** 2)) <= goal else (low, middle)
    out: Array = V @ (s * c / (s * s + float(s[0]) ** 2 * np.exp(low)))
    return out
