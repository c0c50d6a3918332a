r"""Exact dynamic programme for a chain: min ½ Σ w_i (x_i − y_i)² subject to 0 ≤ x_{i+1} − x_i ≤ u_i and x_0 ≥ lo.

F_i(x) is the least cost of samples 0 … i with x_i = x, and g_i its derivative: continuous (but for a jump at lo), increasing, piecewise
linear, with zero p_i. One step, F_{i+1}(x) = min_{x−u ≤ t ≤ x} F_i(t) + ½ w (x − y)²:

1. cut g at its zero p, shift the right part by u (u = ∞, or beyond the range of y: drop it), and fill the gap [p, p + u] with 0;
2. add w(x − y) to everything;
3. find the new zero by carrying breakpoints from one part to the other until their signs are right, and interpolate.

A breakpoint is stored by value, (b, v). On the left part its place is b and its value v + A b + C_L, on the right part b + S and v + A
b + C_R. Here A = Σ w, and S, C_L, C_R are kept for the whole part, so that steps 1 and 2 cost O(1). Step 3 alone can be long: with labels
0, 1, 0, 1, … and small u every zero is m/10 breakpoints away from the last. Those that do not fit into the buffers beside the zero
therefore lie in chunks with a shift and a constant of their own. A chunk on the wrong side is carried over as a whole. Neighbouring chunks
are merged while they fit into one, or many small ones would bring the quadratic time back.

O(m (c + m/c)) at worst, with c ~ √m entries to a chunk; on random data a step carries about m^{1/3} entries. 4 m to 8 m floats.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.isotonic.chain_breakpoints import (
    C_LEFT,
    C_RIGHT,
    FREE,
    LEFT,
    LOCAL,
    RIGHT,
    SPARE,
    STACKED,
    A,
    S,
    carry,
    cross,
    drop_chunks,
    on_its_side,
    reload,
    spill,
    zero_between,
)


@kernel
def _zeros(y: Any, w: Any, u: Any, lo: Any, zeros: Any, near: Any, far: Any, tags: Any, sizes: Any, stacks: Any) -> None:
    """The loop keeps its numbers in local variables and works on the four arrays of the buffers; the tables are for chunks only."""
    limit = near.shape[2] - SPARE
    b_left, v_left, b_right, v_right = near[LEFT, 0], near[LEFT, 1], near[RIGHT, 0], near[RIGHT, 1]
    count, lazy = np.zeros(6, dtype=np.int64), np.zeros(4)
    count[FREE] = sizes.size
    span = y.max() - y.min()  # no step of the fit is longer: a bound that is says nothing, and would drown the places in the shift
    left, right = 0, 0  # entries of the buffers
    slope, shift, c_left, c_right, outer = 0.0, 0.0, 0.0, 0.0, 0.0  # outer: slope of g beyond all breakpoints on the right
    p, u_i = 0.0, 0.0
    for i in range(y.size):
        if i > 0:
            u_i = u[i - 1]
            if left == limit or right == limit:
                count[LOCAL + LEFT], count[LOCAL + RIGHT] = left, right
                _spill_full(near, limit, far, tags, sizes, stacks, count)
                left, right = count[LOCAL + LEFT], count[LOCAL + RIGHT]
            if u_i > 0.0:  # g = 0 on [p, p + u]; every place on the right moves, the values there do not
                b_left[left], v_left[left] = p, -slope * p - c_left
                left += 1
                if u_i < span:
                    b_right[right], v_right[right] = p - shift, -slope * (p - shift) - c_right
                    shift += u_i
                    right += 1
                else:
                    drop_chunks(RIGHT, stacks, count)
                    right, outer = 0, 0.0
        w_i, y_i = w[i], y[i]
        slope += w_i
        outer += w_i
        c_left -= w_i * y_i
        c_right += w_i * (shift - y_i)
        if i == 0 or p <= y_i <= p + u_i:
            p = y_i
        else:
            source = LEFT if y_i < p else RIGHT
            lift = c_left - c_right + slope * shift
            if source == LEFT:
                left, right = carry(b_left, v_left, left, b_right, v_right, right, limit, slope, c_left, -shift, lift, 1.0)
            else:
                right, left = carry(b_right, v_right, right, b_left, v_left, left, limit, slope, c_right, shift, -lift, -1.0)
            if left == limit or right == limit or (left == 0 and count[STACKED + LEFT] > 0) or (right == 0 and count[STACKED + RIGHT] > 0):
                lazy[A], lazy[S], lazy[C_LEFT], lazy[C_RIGHT] = slope, shift, c_left, c_right
                count[LOCAL + LEFT], count[LOCAL + RIGHT] = left, right
                cross(near, source, far, tags, sizes, stacks, count, lazy)
                reload(near, LEFT, far, tags, sizes, stacks, count)
                reload(near, RIGHT, far, tags, sizes, stacks, count)
                left, right = count[LOCAL + LEFT], count[LOCAL + RIGHT]
            below, low, above, high = np.nan, 0.0, np.nan, 0.0
            if left > 0:
                below, low = b_left[left - 1], v_left[left - 1] + slope * b_left[left - 1] + c_left
            if right > 0:
                above, high = b_right[right - 1] + shift, v_right[right - 1] + slope * b_right[right - 1] + c_right
            zero = _zero_near(below, low, above, high, slope, outer) if left + right > 0 else -c_left / slope
            p = on_its_side(zero, p, u_i, y_i)
        if p < lo:  # g jumps there: the breakpoint at lo takes the place of the zero
            at_lo = slope * (lo - p)
            b_right[right], v_right[right] = lo - shift, at_lo - slope * (lo - shift) - c_right
            right += 1
            p = lo
        zeros[i] = p


@kernel
def _spill_full(near: Any, limit: Any, far: Any, tags: Any, sizes: Any, stacks: Any, count: Any) -> None:
    """A buffer that is full keeps its nearer half."""
    for side in range(2):
        if count[LOCAL + side] == limit:
            spill(near, limit - far.shape[2], side, far, tags, sizes, stacks, count)


@kernel
def _zero_near(below: Any, low: Any, above: Any, high: Any, total: Any, outer: Any) -> Any:
    """The zero of g by its values at the nearest breakpoints of both sides: between them, or beyond them all (nan: there is none)."""
    if np.isnan(below):
        return above - high / total
    if np.isnan(above):
        return below - low / outer
    return zero_between(below, low, above, high)


def sizes_for(m: int) -> tuple[int, int]:
    """Entries of a chunk and of a buffer, powers of two.

    Near √m/3 the cost of carrying chunks equals that of carrying entries. The buffers are larger: benign data, whose zeros move a few
    hundred entries at most, are done with in them.
    """
    capacity = 1 << max(7, round(0.5 * math.log2(max(m, 2)) - 1.5))
    return capacity, max(1024, 4 * capacity)


def chain_zeros(y: Array, w: Array, u: Array, lo: float = -np.inf, capacity: int | None = None) -> Array:
    """The zeros p_i of g_i, from which x_m = p_m and x_i = p_i clipped to [x_{i+1} − u_i, x_{i+1}].

    Parameters
    ----------
    y, w : (m,) arrays
        targets and weights > 0.
    u : (m − 1,) array
        u_i ≥ 0, possibly ∞.
    lo : float
        lower bound of x_0.
    capacity : int, optional
        entries of a chunk; half of those of a buffer.
    """
    m = y.size
    size, limit = sizes_for(m) if capacity is None else (capacity, 2 * capacity)
    slots = 2 * (3 * m) // size + 8 if 3 * m > 2 * size else 8
    near = np.empty((2, 2, limit + SPARE))
    far = np.empty((slots, 2, size))  # pages that are never written cost nothing
    stacks = np.empty((3, slots), dtype=np.int64)
    stacks[2] = np.arange(slots)
    zeros = np.empty(m)
    _zeros(y, w, u, float(lo), zeros, near, far, np.empty((slots, 6)), np.empty(slots, dtype=np.int64), stacks)
    return zeros
