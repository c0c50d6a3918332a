r"""The best thresholds for given scores, exactly: isotonic regression of smoothed hinges.

In a stage with centres a⁰ and width h, each hinge against threshold j has a slope in b that is a ramp, for u = f + γ + h(a⁰ − 1) (above)
or u = f − γ − ha⁰ (below): up to a constant, −1 for a hinge above, it is clip((b − u)/h, 0, 1). So
    φ_j'(b) = c ( Σ clip((b − u)/h, 0, 1) − (hinges above j) ) + (what is fixed),
and the thresholds minimise Σ φ_j(b_j) such that b_j − steps_j does not fall. Pools of adjacent violators have one value b − steps, the root
of the sum of their φ'; it is found by Newton's method on the piecewise linear function, within a bracket. A root in an interval on which
φ' is 0 is the one that is met first: where nothing pulls a threshold, it stays.

Eliminating the thresholds in this way leaves a differentiable convex function of the scores alone (its gradient is the partial one, at the
best thresholds), has no curvature-free direction, and needs no multipliers of its own for the order: those are running sums of φ'.
"""

from __future__ import annotations

import numpy as np

from simopt.ground.arrays import Array
from simopt.ground.kernel import kernel
from simopt.solvers.hinges.two_hinges import FLAT, HALVINGS
from simopt.solvers.ordinal.threshold_hinges import Indices, tilt

ZERO = 4e-16  # of the number of hinges: a sum of ramps below it is rounding
SLIGHT = 1e-9  # of a hinge: what rounding makes of the sum of those that are fixed
TURNS = 100
LEAP = 4.0  # growth of the steps where no ramp gives a slope


@kernel
def by_threshold(rank: Indices, count: int, every: bool, segments: Indices, places: Indices) -> None:
    """Places i·columns + k of the hinges in the table of multipliers, by threshold, those above before those below.

    Those of threshold j are places[segments[2j] : segments[2j+1]] and places[segments[2j+1] : segments[2j+2]].
    """
    columns = count if every else 2
    segments[:] = 0
    for i in range(rank.size):
        first = 0 if every else rank[i] - 1
        for j in range(max(first, 0), min(first + columns, count)):
            segments[2 * j + (2 if j < rank[i] else 1)] += 1
    for s in range(2 * count):
        segments[s + 1] += segments[s]
    cursor = segments.copy()
    for i in range(rank.size):
        first = 0 if every else rank[i] - 1
        for j in range(max(first, 0), min(first + columns, count)):
            segment = 2 * j + (1 if j < rank[i] else 0)
            places[cursor[segment]] = i * columns + j - first
            cursor[segment] += 1


@kernel
def ramp_starts(
    f: Array, move: Array, t: float, gamma: float, centre: Array, width: float, segments: Indices, places: Indices, u: Array
) -> None:
    """u of every hinge at f + t move, in the order of `places`."""
    columns = centre.shape[1]
    table = centre.ravel()
    for s in range(segments.size - 1):
        for p in range(segments[s], segments[s + 1]):
            i = places[p] // columns
            x = f[i] + t * move[i]
            u[p] = x + gamma + width * (table[places[p]] - 1.0) if s % 2 == 0 else x - gamma - width * table[places[p]]


@kernel(any_order=True)
def ramps(u: Array, b: float, inverse: float) -> tuple[float, int]:
    """Σ clip((b − u)·inverse, 0, 1) and how many lie inside."""
    total, bent = 0.0, 0
    for p in range(u.size):
        x = (b - u[p]) * inverse
        total += min(max(x, 0.0), 1.0)
        bent += 1 if 0.0 < x < 1.0 else 0
    return total, bent


@kernel
def root(u: Array, segments: Indices, first: int, last: int, steps: Array, aims: Array, width: float, start: float) -> float:
    """The common value c = b_j − steps_j of the pool first … last: where the sum of the ramps is that of the aims; −∞ or ∞ where it is more
    or less everywhere.

    That happens in a working set: a part of a final pool is pulled by order rows too, and what is fixed may pull more than its hinges hold.
    """
    aim, size = 0.0, 1.0
    for j in range(first, last + 1):
        aim += aims[j]
        size += segments[2 * j + 2] - segments[2 * j]
    if aim < -SLIGHT:
        return -np.inf
    if aim > size - 1.0 + SLIGHT:
        return np.inf
    aim = min(max(aim, 0.0), size - 1.0)
    c, low, high, leap = start, -np.inf, np.inf, width
    inverse = 1.0 / width
    for turn in range(TURNS):
        total, bent = -aim, 0
        for j in range(first, last + 1):
            value, inside = ramps(u[segments[2 * j] : segments[2 * j + 2]], c + steps[j], inverse)
            total += value
            bent += inside
        if abs(total) <= ZERO * size:
            break
        if total > 0.0:
            high = c
        else:
            low = c
        if bent > 0 and turn % 4 < 3:
            new = c - total * width / bent
        elif high - low < np.inf:
            new = 0.5 * (low + high)
        else:
            new = c - leap if total > 0.0 else c + leap
            leap *= LEAP
        if not low < new < high:
            new = 0.5 * (low + high)
        if new == c or not np.isfinite(new):
            break
        c = new
    return c


@kernel
def stand_still(value: Array, begin: Indices, b: Array, steps: Array, ordered: bool) -> None:
    """Values of −∞ and ∞, of pools that by rounding alone are pulled without end, become what the pools had, or the nearest in order."""
    last = value.size - 1
    for pool in range(last, -1, -1):
        if value[pool] == -np.inf:
            value[pool] = b[begin[pool]] - steps[begin[pool]]
            if ordered and pool < last:
                value[pool] = min(value[pool], value[pool + 1])
    for pool in range(last + 1):
        if value[pool] == np.inf:
            value[pool] = b[begin[pool]] - steps[begin[pool]]
            if ordered and pool > 0:
                value[pool] = max(value[pool], value[pool - 1])


@kernel
def choose(
    f: Array,
    move: Array,
    t: float,
    gamma: float,
    share: float,
    ordered: bool,
    steps: Array,
    fixed_b: Array,
    centre: Array,
    width: float,
    segments: Indices,
    places: Indices,
    u: Array,
    b: Array,
    pools: Indices,
) -> int:
    """The best thresholds at f + t move, in the place of b, and the pool of each; how many pools there are."""
    m = b.size
    ramp_starts(f, move, t, gamma, centre, width, segments, places, u)
    aims, value, begin = np.empty(m), np.empty(m), np.empty(m, dtype=np.intp)
    top = -1
    for j in range(m):
        aims[j] = segments[2 * j + 1] - segments[2 * j] - fixed_b[j] / share
        top += 1
        begin[top] = j
        value[top] = root(u, segments, j, j, steps, aims, width, b[j] - steps[j])
        while ordered and top > 0 and value[top - 1] > value[top]:
            top -= 1
            start = 0.5 * (value[top] + value[top + 1])
            if not np.isfinite(start):
                start = b[j] - steps[j]
            value[top] = root(u, segments, begin[top], j, steps, aims, width, start)
    stand_still(value[: top + 1], begin, b, steps, ordered)
    for pool in range(top + 1):
        end = begin[pool + 1] if pool < top else m
        for j in range(begin[pool], end):
            b[j] = value[pool] + steps[j]
            pools[j] = pool
    return top + 1


@kernel
def line_search(
    f: Array,
    move: Array,
    rank: Indices,
    gamma: float,
    share: float,
    every: bool,
    steps: Array,
    fixed_b: Array,
    centre: Array,
    width: float,
    segments: Indices,
    places: Indices,
    u: Array,
    b: Array,
    pools: Indices,
    slope: float,
    curvature: float,
    at_zero: float,
    at_one: float,
) -> float:
    """t in (0, 1) at which the derivative along the move, with the best thresholds of each t, is small; negative at 0, positive at 1.

    False position and bisection by turns. f is at t = 1: f − move is at t = 0.
    """
    lower, value_lower, upper, value_upper = 0.0, at_zero, 1.0, at_one
    t = 1.0
    for turn in range(HALVINGS):
        share_of = value_lower / (value_lower - value_upper) if turn % 2 == 0 else 0.5
        t = lower + share_of * (upper - lower)
        choose(f, move, t - 1.0, gamma, share, not every, steps, fixed_b, centre, width, segments, places, u, b, pools)
        value = share * tilt(f, move, t - 1.0, rank, b, gamma, every, centre, width) + slope + t * curvature
        if abs(value) <= FLAT * abs(at_zero):
            break
        if value < 0.0:
            lower, value_lower = t, value
        else:
            upper, value_upper = t, value
    return t
