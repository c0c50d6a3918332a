r"""The zeros of a chain's dynamic programme within a band around a coarser fit, where most breakpoints can be forgotten.

Bounds l_i ≤ x_i ≤ h_i beside 0 ≤ x_{i+1} − x_i ≤ u_i change nothing if the fit that obeys them touches none of them. The objective is
convex, and a point that is least among those near it is least of all. The zeros p_i (chain_programme.py) of a noisy chain wander far from
the fit, across hundreds of breakpoints that are of no use in the end. Within a band they wait at its edge. Breakpoints that the band has
passed are dropped, all but one: it stands for the bound, as if the derivative jumped there.

The band lies around the fit of one node to GROUP samples. Between nodes j and j + 1 let x follow the bounds u,
x_i = (1 − t_i) X_j + t_i X_{j+1}, where t_i is the fraction of u before i. Such an x is feasible if 0 ≤ X_{j+1} − X_j ≤ Σ u. Let φ_j be the
hats that 1 − t and t make, and put Σ_j W_j X_j², W_j = Σ_i w_i φ_j(i), in place of Σ_i w_i x_i². Then least squares over the nodes is a
chain again, with targets Σ_i w_i φ_j(i) y_i / W_j. It is solved in the same way, on ever fewer nodes. How far it is from the fit is not
known. On random data it is about as far as u allows in m^{1/4}/16 groups, on data with a pattern that fits into the groups further. So the
fit tells.

A part of g, on either side of its zero, is an array whose last entry is the nearest to the zero. The right part is mirrored, (x, g) to
(S − x, −g), so that both have the same rules. An entry (b, v) is at the place b and has the value v + A b + C. One that changes sides is
(S − b, −v − C − C' − A S) on the other. S = Σ u, A = Σ w, and C, C' of both sides change with every sample, the entries do not.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.isotonic.chain_breakpoints import on_its_side, zero_between

GROUP = 16  # samples from one node to the next
BLOCK = 32  # entries that are looked at and copied at a time: whole blocks are vectorised, and nothing is predicted wrongly
TIDY = 512  # entries, forgotten ones included, after which a part is moved back to the front of its array


class Nodes(NamedTuple):
    """The chain of the nodes: targets and weights, (n,), and what u allows from each to the next, (n − 1,)."""

    targets: Array
    weights: Array
    climbs: Array


@kernel
def _climb(u: Any, span: Any, climbs: Any) -> None:
    """The climb that u allows from each node to the next; no step is taken to be longer than `span`."""
    for j in range(climbs.size):
        climbs[j] = 0.0
        for i in range(j * GROUP, min((j + 1) * GROUP, u.size)):
            climbs[j] += min(u[i], span)


@kernel
def _gather(y: Any, w: Any, u: Any, span: Any, targets: Any, weights: Any, climbs: Any) -> None:
    """Targets and weights of the nodes, in zeroed arrays, and their climbs."""
    _climb(u, span, climbs)
    last = y.size - 1
    for j in range(climbs.size):
        stop = min((j + 1) * GROUP, last)
        share = 1.0 / climbs[j] if climbs[j] > 0.0 else 0.0
        t = 0.0
        for i in range(j * GROUP, stop):
            after = w[i] * t
            weights[j] += w[i] - after
            targets[j] += (w[i] - after) * y[i]
            weights[j + 1] += after
            targets[j + 1] += after * y[i]
            t += min(u[i], span) * share
    weights[climbs.size] += w[last]
    targets[climbs.size] += w[last] * y[last]
    for j in range(targets.size):
        targets[j] /= weights[j]


def node_indices(m: int) -> NDArray[np.intp]:
    """The nodes of m samples: every GROUP-th and the last one."""
    return np.append(np.arange(0, m - 1, GROUP), m - 1)


def climbs_of(u: Array, span: float) -> Array:
    """The climb that u allows from each node to the next, no step longer than `span`. O(m)."""
    climbs = np.empty(-(-u.size // GROUP))
    _climb(u, span, climbs)
    return climbs


def nodes_of(y: Array, w: Array, u: Array, span: float) -> Nodes:
    """The samples at `node_indices` as nodes. O(m)."""
    n = -(-u.size // GROUP) + 1
    nodes = Nodes(np.zeros(n), np.zeros(n), np.empty(n - 1))
    _gather(y, w, u, span, *nodes)
    return nodes


@kernel
def _carry(
    b_from: Any, v_from: Any, far: Any, near: Any, b_to: Any, v_to: Any, to: Any, slope: Any, const: Any, shift: Any, lift: Any
) -> Any:
    """Copy the entries of one part that are above 0, which are the last ones, to the end of the other part; how many they are."""
    first, start, held, whole = np.uint64(near - 1), np.uint64(to), np.uint64(near - far), np.uint64(0)
    above = BLOCK
    while above == BLOCK:
        above = 0
        for i in range(whole, whole + np.uint64(BLOCK)):
            above += 1 if (v_from[first - i] + slope * b_from[first - i] + const > 0.0) & (i < held) else 0
        whole += np.uint64(BLOCK)
    for i in range(whole):
        b_to[start + i] = shift - b_from[first - i]
    for i in range(whole):
        v_to[start + i] = lift - v_from[first - i]
    return np.int64(whole) - BLOCK + above


@kernel
def _forget(own: Any, far: Any, near: Any, other: Any, far_other: Any, near_other: Any, bound: Any, shift: Any) -> Any:
    """Leave one entry of those at or beyond the bound of a part: its new far end, and the near end of the other part."""
    while near - far > 1 and own[far + 1] <= bound:
        far += 1
    if near - far <= 1 and near_other > far_other and other[near_other - 1] >= shift - bound:
        far = near
        while near_other - far_other > 1 and other[near_other - 2] >= shift - bound:
            near_other -= 1
    return far, near_other


@kernel
def _tidy(b: Any, v: Any, far: Any, near: Any) -> Any:
    """Move a part to the front of its arrays; its near end."""
    for k in range(near - far):
        b[BLOCK + k], v[BLOCK + k] = b[far + k], v[far + k]
    return BLOCK + near - far


@kernel
def _zeros(y: Any, w: Any, u: Any, least: Any, most: Any, X: Any, climbs: Any, margin: Any, parts: Any, zeros: Any, edges: Any) -> Any:
    """The zeros and which of them wait at an edge, and True; False if there are too many entries. Places are counted from `least`."""
    b_left, v_left, b_right, v_right = parts[0], parts[1], parts[2], parts[3]
    limit = (b_left.size - 3 * BLOCK) // 4  # of entries, so that a step can carry all of them, in whole blocks
    span, mark = most - least, min(TIDY, limit)
    slope, shift, c_left, c_right = 0.0, 0.0, 0.0, 0.0
    b_left[: BLOCK + 1], v_left[: BLOCK + 1], b_right[: BLOCK + 1], v_right[: BLOCK + 1] = 0.0, -np.inf, -span, -np.inf
    b_left[BLOCK + 1], v_left[BLOCK + 1], b_right[BLOCK + 1], v_right[BLOCK + 1] = 0.0, 0.0, -span, 0.0
    far_left, left, far_right, right = BLOCK, BLOCK + 2, BLOCK, BLOCK + 2
    p, u_i, bottom = 0.0, span, 0.0
    for j in range(climbs.size):
        rate = (X[j + 1] - X[j]) / climbs[j] if climbs[j] > 0.0 else 0.0
        start = j * GROUP
        for i in range(start, start + GROUP if j < climbs.size - 1 else y.size):
            if i > 0:
                u_i = min(u[i - 1], span)
            bottom = X[j] - least - margin if i == start else bottom + rate * u_i
            top = bottom + 2.0 * margin
            # g is 0 on [p, p + u], unless that is beyond the band
            waits = (left == far_left and p + u_i <= bottom) or (right == far_right and p >= top)
            if i > 0 and u_i > 0.0 and not (waits and u_i < span):
                if left - far_left > 1 and b_left[left - 2] == p == b_left[left - 1]:
                    left -= 1  # of three at one place the middle one says nothing; where zeros stay at 0 or 1 there would be thousands
                b_left[left], v_left[left] = p, -slope * p - c_left
                left += 1
                if u_i < span:
                    b_right[right], v_right[right] = shift - p, -slope * (shift - p) - c_right
                    right += 1
                else:
                    b_right[BLOCK], v_right[BLOCK] = shift - span, -np.inf
                    b_right[BLOCK + 1], v_right[BLOCK + 1] = shift - span, -slope * (shift - span) - c_right
                    far_right, right = BLOCK, BLOCK + 2
            if i > 0 and u_i < span:
                shift += u_i
            y_i = y[i] - least
            slope += w[i]
            c_left -= w[i] * y_i
            c_right += w[i] * (y_i - shift)
            far_left, right = _forget(b_left, far_left, left, b_right, far_right, right, bottom, shift)
            far_right, left = _forget(b_right, far_right, right, b_left, far_left, left, shift - top, shift)
            lift = -(c_left + c_right + slope * shift)
            if y_i < p and left > far_left and v_left[left - 1] + slope * b_left[left - 1] + c_left > 0.0:
                count = _carry(b_left, v_left, far_left, left, b_right, v_right, right, slope, c_left, shift, lift)
                left -= count
                right += count
            elif y_i > p + u_i and right > far_right and v_right[right - 1] + slope * b_right[right - 1] + c_right > 0.0:
                count = _carry(b_right, v_right, far_right, right, b_left, v_left, left, slope, c_right, shift, lift)
                right -= count
                left += count
            if left == far_left:
                p = shift - b_right[right - 1]
            elif right == far_right:
                p = b_left[left - 1]
            else:
                below, under = b_left[left - 1], v_left[left - 1] + slope * b_left[left - 1] + c_left
                above, over = shift - b_right[right - 1], -(v_right[right - 1] + slope * b_right[right - 1] + c_right)
                p = on_its_side(zero_between(below, under, above, over), p, u_i, y_i)
            zeros[i], edges[i] = p + least, left == far_left or right == far_right
            if left >= mark or right >= mark:
                far_left, left = BLOCK, _tidy(b_left, v_left, far_left, left)
                far_right, right = BLOCK, _tidy(b_right, v_right, far_right, right)
                mark = max(mark, 2 * max(left, right))
                if mark > 2 * limit:
                    return False
    return True


def band_zeros(
    y: Array, w: Array, u: Array, least: float, most: float, X: Array, climbs: Array, margin: float
) -> tuple[Array, NDArray[np.bool_]] | None:
    """The zeros within `margin` of the fit X of the nodes, and which of them are bounds.

    None where more than some max(512, 4 √m) breakpoints are inside, on one side of a zero.

    If no x_i is one of these bounds, where x_m = p_m and x_i = p_i clipped to [x_{i+1} − u_i, x_{i+1}], the band holds nothing. A bound
    of an earlier sample that x touches is handed on from sample to sample, to one whose zero waits there.

    Parameters
    ----------
    y, w, u : (m,), (m,) and (m − 1,) arrays
        as for `chain_programme.chain_zeros`.
    least, most : float
        a range that the fit is in, whatever u is.
    X, climbs : (n,) and (n − 1,) arrays
        of `nodes_of`.
    margin : float
        > 0.
    """
    m = y.size
    parts = np.empty((4, 4 * max(TIDY, 4 * math.isqrt(m)) + 3 * BLOCK))
    zeros, edges = np.empty(m), np.empty(m, dtype=np.bool_)
    return (zeros, edges) if _zeros(y, w, u, least, most, X, climbs, margin, parts, zeros, edges) else None
