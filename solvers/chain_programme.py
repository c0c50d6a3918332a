r"""Exact dynamic programme for a chain: min ½ Σ w_i (x_i − y_i)² subject to 0 ≤ x_{i+1} − x_i ≤ u_i and x_0 ≥ lo.

F_i(x) is the least cost of samples 0 … i with x_i = x, and g_i its derivative: continuous (but for a jump at lo), increasing, piecewise
linear, with zero p_i. One step, F_{i+1}(x) = min_{x−u ≤ t ≤ x} F_i(t) + ½ w (x − y)²:

1. cut g at its zero p, shift the right part by u (u = ∞, or beyond the range of y: drop it), and fill the gap [p, p + u] with 0;
2. add w(x − y) to everything;
3. find the new zero by carrying breakpoints from one part to the other until their signs are right, and interpolate.

A breakpoint is stored by value, (b, v): on the left part its place is b and its value v + A b + C_L, on the right part b + S and
v + A b + C_R, where A = Σ w, and S, C_L, C_R are kept for the whole part, so that steps 1 and 2 cost O(1). Step 3 alone can be long: with
labels 0, 1, 0, 1, … and small u every zero is m/10 breakpoints away from the last. Breakpoints farther than `capacity` from the zero
therefore lie in chunks with a shift and a constant of their own, and a chunk on the wrong side is carried over as a whole. Neighbouring
chunks are merged while they fit into one, or many small ones would bring the quadratic time back.

O(m (c + m/c)) with c = capacity ~ √m, and O(m) on benign data; 4 m to 8 m floats.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simopt.arrays import Array
from simopt.kernel import kernel
from simopt.solvers.chain_breakpoints import C_LEFT, C_RIGHT, FREE, LEFT, LOCAL, RIGHT, SPARE, STACKED, A, S, cross, nearest, push, spill


@kernel
def _zeros(y: Any, w: Any, u: Any, lo: Any, zeros: Any, near: Any, far: Any, tags: Any, sizes: Any, stacks: Any) -> None:
    m = y.size
    room, capacity = near.shape[2] - SPARE, far.shape[2]
    count = np.zeros(6, dtype=np.int64)
    count[FREE] = sizes.size
    lazy = np.zeros(4)
    span = y.max() - y.min()  # no step of the fit is longer: a bound that is says nothing, and would drown the places in S
    total, outer = 0.0, 0.0  # slopes of g left of all breakpoints, and right of all
    p = 0.0
    for i in range(m):
        if i > 0:
            u_i = u[i - 1]
            for side in range(2):
                if count[LOCAL + side] == room:
                    spill(near, count[LOCAL + side] - capacity, side, far, tags, sizes, stacks, count)
            if u_i >= span:
                while count[STACKED + RIGHT] > 0:
                    count[STACKED + RIGHT] -= 1
                    stacks[2, count[FREE]] = stacks[RIGHT, count[STACKED + RIGHT]]
                    count[FREE] += 1
                count[LOCAL + RIGHT] = 0
                outer = 0.0
            else:
                lazy[S] += u_i  # every place on the right moves, the values there do not
            push(near, count, lazy, LEFT, p, 0.0)
            if 0.0 < u_i < span:
                push(near, count, lazy, RIGHT, p + u_i, 0.0)
        lazy[A] += w[i]
        lazy[C_LEFT] -= w[i] * y[i]
        lazy[C_RIGHT] += w[i] * (lazy[S] - y[i])
        total += w[i]
        outer += w[i]
        if i == 0:
            p = y[0]
            if p < lo:
                p = lo
                push(near, count, lazy, RIGHT, lo, w[0] * (lo - y[0]))
        elif y[i] < p:
            cross(near, LEFT, far, tags, sizes, stacks, count, lazy)
            p = _zero_between(near, far, tags, sizes, stacks, count, lazy, total, outer)
            if p < lo:
                b, g = nearest(near, RIGHT, far, tags, sizes, stacks, count, lazy)
                p = lo
                push(near, count, lazy, RIGHT, lo, g - total * (b - lo))
        elif i > 0 and y[i] <= p + u[i - 1]:
            p = y[i]
        else:
            cross(near, RIGHT, far, tags, sizes, stacks, count, lazy)
            p = _zero_between(near, far, tags, sizes, stacks, count, lazy, total, outer)
        zeros[i] = p


@kernel
def _zero_between(near: Any, far: Any, tags: Any, sizes: Any, stacks: Any, count: Any, lazy: Any, total: Any, outer: Any) -> Any:
    """The zero of g between the nearest breakpoints of both sides, or beyond them all."""
    left, low = nearest(near, LEFT, far, tags, sizes, stacks, count, lazy)
    right, high = nearest(near, RIGHT, far, tags, sizes, stacks, count, lazy)
    if np.isnan(left):
        return right - high / total
    if np.isnan(right):
        return left - low / outer
    if high - low <= 0.0:
        return left
    at = left + (right - left) * (-low / (high - low))
    return min(max(at, left), right)


def capacity_for(m: int) -> int:
    """Entries of a chunk: a power of two near √m/2, where the cost of carrying chunks equals that of carrying entries."""
    return max(128, 1 << round(0.5 * math.log2(max(m, 2)) - 1))


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
        entries of a chunk.
    """
    m = y.size
    size = capacity_for(m) if capacity is None else capacity
    slots = 2 * (3 * m) // size + 8 if 3 * m > 2 * size else 8
    near = np.empty((2, 2, 2 * size + SPARE))
    far = np.empty((slots, 2, size))  # pages that are never written cost nothing
    stacks = np.empty((3, slots), dtype=np.int64)
    stacks[2] = np.arange(slots)
    zeros = np.empty(m)
    _zeros(y, w, u, float(lo), zeros, near, far, np.empty((slots, 6)), np.empty(slots, dtype=np.int64), stacks)
    return zeros
