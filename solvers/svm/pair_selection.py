r"""Coordinate ascent by pairs on the dual of the SVM, the pair chosen by second-order gains.

With signed weights w_i = n a_i y_i the dual of the hinge SVM without intercept is, up to the factor 1/n,

    max  Σ y_i w_i − (C/2) wᵀKw   over the box  min(y_i, 0) ≤ w_i ≤ max(y_i, 0),   C = 1/(nλ),

with gradient r = y − f, f = C K w; with an intercept the weights also sum to 0.

Without intercept: i has the largest gain r_i²/K_ii of a step by itself. After that step, of length d (cut at the box), the residuals
are r − C d K_i. j has the largest gain on them, with the curvature K_jj − K_ij²/K_ii that is left to it when i moves along (K_jj if
i has stopped at its bound). Both then move to the maximum over their 2 × 2 box.
With intercept: i has the largest r_i of those that may grow, j the largest gain (r_i − r_j)²/(K_ii + K_jj − 2K_ij) of those that may
shrink. w_i grows by what w_j loses (Fan, Chen & Lin 2005, working set selection 2).

A step costs two passes over m samples, about 1.5 ns each a sample, and reads two rows of K; no memory beyond four vectors.
Source: Steinwart, Hush & Scovel 2011, §3, for pairs without intercept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.compiled import kernel

BLOCK = 256  # numbers whose largest is found at once
FLAT = 1e-12  # curvature, as a fraction of the diagonal, below which a direction counts as flat: the box ends the step
SINGULAR = 1e-14  # determinant, as a fraction of the diagonal's product, below which the maximum is sought on the edges of the box


@kernel
def largest(gains: Array) -> int:
    """Index of the largest of m non-negative numbers. Their bits are compared as integers, which is the same order and vectorises."""
    keys = gains.view(np.int64)
    best = np.int64(-1)
    start = 0
    for begin in range(0, keys.size, BLOCK):
        part = keys[begin : begin + BLOCK]  # its indices start at 0: of any that might be negative the loop would not vectorise
        block = np.int64(0)
        for p in range(part.size):
            block = max(block, part[p])
        if block > best:
            best = block
            start = begin
    for p in range(start, keys.size):
        if keys[p] == best:
            return p
    return 0


@kernel(any_order=True)
def gains_alone(residual: Array, up: Array, down: Array, inverse: Array, gains: Array) -> None:
    """gains_p = r_p²/K_pp where w_p may move as r_p says, else 0."""
    for p in range(residual.size):
        x = residual[p]
        z = max(x * up[p], 0.0) + min(x * down[p], 0.0)
        gains[p] = z * z * inverse[p]


@kernel(any_order=True)
def gains_beside(residual: Array, row: Array, shift: float, inverse: float, diagonal: Array, up: Array, down: Array, gains: Array) -> None:
    """gains_p = (r_p − shift·K_ip)²/(K_pp − K_ip² · inverse) where w_p may move so, else 0."""
    for p in range(residual.size):
        k = row[p]
        x = residual[p] - shift * k
        z = max(x * up[p], 0.0) + min(x * down[p], 0.0)
        gains[p] = z * z / max(diagonal[p] - k * k * inverse, FLAT * diagonal[p])


@kernel(any_order=True)
def gains_against(residual: Array, row: Array, top: float, own: float, diagonal: Array, down: Array, gains: Array) -> None:
    """gains_p = (top − r_p)²/(K_ii + K_pp − 2K_ip) where w_p may shrink and r_p < top, else 0."""
    for p in range(residual.size):
        z = max((top - residual[p]) * down[p], 0.0)
        both = own + diagonal[p]
        gains[p] = z * z / max(both - 2.0 * row[p], FLAT * both)


@kernel(any_order=True)
def move_alone(
    residual: Array, row_i: Array, row_j: Array, step_i: float, step_j: float, up: Array, down: Array, inverse: Array, gains: Array
) -> None:
    """r ← r − step_i K_i − step_j K_j, and the gains of `gains_alone` for the new r."""
    for p in range(residual.size):
        x = residual[p] - step_i * row_i[p] - step_j * row_j[p]
        residual[p] = x
        z = max(x * up[p], 0.0) + min(x * down[p], 0.0)
        gains[p] = z * z * inverse[p]


@kernel(any_order=True)
def move_against(residual: Array, row_i: Array, row_j: Array, step: float, floor: float, up: Array, gains: Array) -> None:
    """r ← r − step (K_i − K_j); gains_p = r_p − floor where w_p may grow and that is positive, else 0."""
    for p in range(residual.size):
        x = residual[p] - step * (row_i[p] - row_j[p])
        residual[p] = x
        gains[p] = max((x - floor) * up[p], 0.0)


@kernel
def best_in_box(
    g_i: float, g_j: float, k_ii: float, k_ij: float, k_jj: float, low_i: float, high_i: float, low_j: float, high_j: float
) -> tuple[float, float]:
    """The maximum of g·d − ½ dᵀ[[k_ii, k_ij], [k_ij, k_jj]]d over a box around 0: the stationary point, or the best of the four edges."""
    det = k_ii * k_jj - k_ij * k_ij
    if det > SINGULAR * k_ii * k_jj:
        x = (g_i * k_jj - g_j * k_ij) / det
        y = (g_j * k_ii - g_i * k_ij) / det
        if low_i <= x <= high_i and low_j <= y <= high_j:
            return x, y
    best_x = 0.0
    best_y = 0.0
    best = 0.0
    for edge in range(4):
        if edge < 2:
            x = low_i if edge == 0 else high_i
            y = min(max((g_j - k_ij * x) / k_jj, low_j), high_j)
        else:
            y = low_j if edge == 2 else high_j
            x = min(max((g_i - k_ij * y) / k_ii, low_i), high_i)
        value = (g_i - 0.5 * (k_ii * x + k_ij * y)) * x + (g_j - 0.5 * (k_ij * x + k_jj * y)) * y
        if value > best:
            best_x = x
            best_y = y
            best = value
    return best_x, best_y


@kernel
def free_directions(weights: Array, low: Array, high: Array, up: Array, down: Array) -> None:
    """up, down = 1 where a weight may grow, may shrink; else 0."""
    for p in range(weights.size):
        up[p] = 1.0 if weights[p] < high[p] else 0.0
        down[p] = 1.0 if weights[p] > low[p] else 0.0


@kernel
def ascend(
    gram: Array, diagonal: Array, weights: Array, residual: Array, low: Array, high: Array, cost: float, buffers: Array, steps: int
) -> int:
    """At most `steps` pair steps without intercept, on `weights` and `residual` in place; returns how many were of use.

    `gram` is (m, m), C-contiguous, with diagonal > 0 (give a positive number where K_ii = 0); `buffers` is (4, m) of any content.
    """
    gains, up, down, inverse = buffers[0], buffers[1], buffers[2], buffers[3]
    free_directions(weights, low, high, up, down)
    for p in range(weights.size):
        inverse[p] = 1.0 / diagonal[p]
    gains_alone(residual, up, down, inverse, gains)
    for count in range(steps):
        i = largest(gains)
        if not gains[i] > 0.0:
            return count
        row = gram[i]
        low_i = low[i] - weights[i]
        high_i = high[i] - weights[i]
        wanted = residual[i] / (cost * diagonal[i])
        step_i = min(max(wanted, low_i), high_i)
        gains_beside(residual, row, cost * step_i, inverse[i] if step_i == wanted else 0.0, diagonal, up, down, gains)
        gains[i] = 0.0
        j = largest(gains)
        step_j = 0.0
        if gains[j] > 0.0:
            low_j = low[j] - weights[j]
            high_j = high[j] - weights[j]
            step_i, step_j = best_in_box(
                residual[i] / cost, residual[j] / cost, diagonal[i], row[j], diagonal[j], low_i, high_i, low_j, high_j
            )
        before_i = weights[i]
        before_j = weights[j]
        # exactly on the bound where the step ends there
        weights[i] = low[i] if step_i == low_i else high[i] if step_i == high_i else min(max(before_i + step_i, low[i]), high[i])
        up[i] = 1.0 if weights[i] < high[i] else 0.0
        down[i] = 1.0 if weights[i] > low[i] else 0.0
        if step_j != 0.0:
            weights[j] = low[j] if step_j == low_j else high[j] if step_j == high_j else min(max(before_j + step_j, low[j]), high[j])
            up[j] = 1.0 if weights[j] < high[j] else 0.0
            down[j] = 1.0 if weights[j] > low[j] else 0.0
        if weights[i] == before_i and weights[j] == before_j:
            return count  # steps below the last digit: the residual is rounding
        move_alone(residual, row, gram[j], cost * step_i, cost * step_j, up, down, inverse, gains)
    return steps


@kernel
def ascend_balanced(
    gram: Array, diagonal: Array, weights: Array, residual: Array, low: Array, high: Array, cost: float, buffers: Array, steps: int
) -> int:
    """At most `steps` pair steps with Σ w kept, on `weights` and `residual` in place; returns how many were of use. See `ascend`."""
    gains, up, down = buffers[0], buffers[1], buffers[2]
    free_directions(weights, low, high, up, down)
    floor = np.inf
    for p in range(residual.size):
        floor = min(floor, residual[p])
    floor -= 1.0  # samples that fall below it are no candidates until the next call
    for p in range(residual.size):
        gains[p] = max((residual[p] - floor) * up[p], 0.0)
    for count in range(steps):
        i = largest(gains)
        if not gains[i] > 0.0:
            return count
        row = gram[i]
        gains_against(residual, row, residual[i], diagonal[i], diagonal, down, gains)
        j = largest(gains)
        if not gains[j] > 0.0:
            return count
        both = diagonal[i] + diagonal[j]
        wanted = (residual[i] - residual[j]) / (cost * max(both - 2.0 * row[j], FLAT * both))
        room_i = high[i] - weights[i]
        room_j = weights[j] - low[j]
        step = min(wanted, room_i, room_j)
        before_i = weights[i]
        before_j = weights[j]
        weights[i] = high[i] if step == room_i else min(before_i + step, high[i])
        weights[j] = low[j] if step == room_j else max(before_j - step, low[j])
        if weights[i] == before_i and weights[j] == before_j:
            return count
        up[i] = 1.0 if weights[i] < high[i] else 0.0
        down[i] = 1.0
        up[j] = 1.0
        down[j] = 1.0 if weights[j] > low[j] else 0.0
        move_against(residual, row, gram[j], cost * step, floor, up, gains)
    return steps


@kernel(any_order=True)
def add_rows(gram: Array, rows: NDArray[np.intp], coefficients: Array, total: Array) -> None:
    """total ← total + Σ_k coefficients_k K[rows_k], four rows at a time: |rows|·m numbers read, none copied."""
    whole = rows.size - rows.size % 4
    for k in range(0, whole, 4):
        a, b, c, d = gram[rows[k]], gram[rows[k + 1]], gram[rows[k + 2]], gram[rows[k + 3]]
        s, t, u, v = coefficients[k], coefficients[k + 1], coefficients[k + 2], coefficients[k + 3]
        for p in range(total.size):
            total[p] += s * a[p] + t * b[p] + u * c[p] + v * d[p]
    for k in range(whole, rows.size):
        a = gram[rows[k]]
        s = coefficients[k]
        for p in range(total.size):
            total[p] += s * a[p]


@kernel
def submatrix(gram: Array, index: NDArray[np.intp], out: Array) -> None:
    """out = K[index, index]."""
    for p in range(index.size):
        row = gram[index[p]]
        for q in range(index.size):
            out[p, q] = row[index[q]]
