r"""The best thresholds for given scores, exactly: isotonic regression of smoothed hinges.

Consider a stage with centres a⁰ and width h. Each hinge against threshold j has a slope in b that is a ramp, for u = f + γ + h(a⁰ − 1)
(above) or u = f − γ − ha⁰ (below). Up to a constant, −1 for a hinge above, it is clip((b − u)/h, 0, 1). So
    φ_j'(b) = c ( Σ clip((b − u)/h, 0, 1) − (hinges above j) ) + (what is fixed),
and the thresholds minimise Σ φ_j(b_j) such that b_j − steps_j does not fall. Pools of adjacent violators have one value b − steps, the root
of the sum of their φ'. Newton's method on the piecewise linear function finds it, within a bracket. A root in an interval on which φ' is 0
is the one that is met first: where nothing pulls a threshold, it stays.

This elimination of the thresholds leaves a differentiable convex function of the scores alone, whose gradient is the partial one at the
best thresholds. It has no direction without curvature, and needs no multipliers of its own for the order: those are running sums of φ'.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.hinges.stage import FLAT, HALVINGS, Indices, Line, RootBracket, between, narrowed
from simopt.solvers.ordinal.threshold_hinges import ThresholdHinges, tilt

ZERO = 4e-16  # of the number of hinges: a sum of ramps below it is rounding
SLIGHT = 1e-9  # of a hinge: what rounding makes of the sum of those that are fixed
TURNS = 100
LEAP = 4.0  # growth of the steps where no ramp gives a slope


class Ramps(NamedTuple):
    """The hinges by threshold, those above before those below: their positions i·columns + k in the table of multipliers, and their u.

    Those of threshold j are positions[segments[2j] : segments[2j+1]] and positions[segments[2j+1] : segments[2j+2]].
    """

    segments: Indices
    positions: Indices
    u: Array

    @classmethod
    def of(cls, hinges: ThresholdHinges) -> Ramps:
        """The positions; u is to be filled."""
        size, m = hinges.rank.size * hinges.columns, hinges.count
        out = cls(np.zeros(2 * m + 1, dtype=np.intp), np.empty(size, dtype=np.intp), np.empty(size))
        by_threshold(hinges.rank, m, hinges.every, out.segments, out.positions)
        return out


@kernel
def by_threshold(rank: Indices, count: int, every: bool, segments: Indices, positions: Indices) -> None:
    """Fill the segments and positions of `Ramps`."""
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
            positions[cursor[segment]] = i * columns + j - first
            cursor[segment] += 1


@kernel
def ramp_starts(f: Array, move: Array, t: float, gamma: float, centre: Array, width: float, ramps: Ramps) -> None:
    """u of every hinge at f + t move."""
    segments, positions, u = ramps
    columns = centre.shape[1]
    table = centre.ravel()
    for s in range(segments.size - 1):
        for p in range(segments[s], segments[s + 1]):
            i = positions[p] // columns
            x = f[i] + t * move[i]
            u[p] = x + gamma + width * (table[positions[p]] - 1.0) if s % 2 == 0 else x - gamma - width * table[positions[p]]


@kernel(any_order=True)
def ramp_sum(u: Array, b: float, inverse: float) -> tuple[float, int]:
    """Σ clip((b − u)·inverse, 0, 1) and how many lie inside."""
    total, inside_count = 0.0, 0
    for p in range(u.size):
        x = (b - u[p]) * inverse
        total += min(max(x, 0.0), 1.0)
        inside_count += 1 if 0.0 < x < 1.0 else 0
    return total, inside_count


@kernel
def root(u: Array, segments: Indices, first: int, last: int, steps: Array, targets: Array, width: float, start: float) -> float:
    """The common value c = b_j − steps_j of the pool first … last: where the sum of the ramps is that of the targets; −∞ or ∞ where it is
    more or less everywhere.

    It happens in a working set: a part of a final pool is pulled by order rows too, and what is fixed may pull more than its hinges hold.
    """
    target, size = 0.0, 1.0
    for j in range(first, last + 1):
        target += targets[j]
        size += segments[2 * j + 2] - segments[2 * j]
    if target < -SLIGHT:
        return -np.inf
    if target > size - 1.0 + SLIGHT:
        return np.inf
    target = min(max(target, 0.0), size - 1.0)
    c, low, high, leap = start, -np.inf, np.inf, width
    inverse = 1.0 / width
    for turn in range(TURNS):
        total, inside_count = -target, 0
        for j in range(first, last + 1):
            value, inside = ramp_sum(u[segments[2 * j] : segments[2 * j + 2]], c + steps[j], inverse)
            total += value
            inside_count += inside
        if abs(total) <= ZERO * size:
            break
        if total > 0.0:
            high = c
        else:
            low = c
        if inside_count > 0 and turn % 4 < 3:
            new = c - total * width / inside_count
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
    hinges: ThresholdHinges,
    fixed_b: Array,
    centre: Array,
    width: float,
    ramps: Ramps,
    b: Array,
    pools: Indices,
) -> int:
    """The best thresholds at f + t move, in the place of b, and the pool of each; how many pools there are. The ramps are moved there."""
    _, steps, gamma, sample_weight, every = hinges
    segments, _, u = ramps
    m = b.size
    ramp_starts(f, move, t, gamma, centre, width, ramps)
    targets, value, begin = np.empty(m), np.empty(m), np.empty(m, dtype=np.intp)
    top = -1
    for j in range(m):
        targets[j] = segments[2 * j + 1] - segments[2 * j] - fixed_b[j] / sample_weight
        top += 1
        begin[top] = j
        value[top] = root(u, segments, j, j, steps, targets, width, b[j] - steps[j])
        while not every and top > 0 and value[top - 1] > value[top]:
            top -= 1
            start = 0.5 * (value[top] + value[top + 1])
            if not np.isfinite(start):
                start = b[j] - steps[j]
            value[top] = root(u, segments, begin[top], j, steps, targets, width, start)
    stand_still(value[: top + 1], begin, b, steps, not every)
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
    hinges: ThresholdHinges,
    fixed_b: Array,
    centre: Array,
    width: float,
    ramps: Ramps,
    b: Array,
    pools: Indices,
    line: Line,
) -> float:
    """t in (0, 1] at which the derivative along the move, with the best thresholds of each t, is small, 1 if there; f − move is at 0."""
    _, _, _, sample_weight, _ = hinges
    choose(f, move, 0.0, hinges, fixed_b, centre, width, ramps, b, pools)
    value = sample_weight * tilt(f, move, 0.0, b, hinges, centre, width) + line.slope + line.curvature
    bracket, t = RootBracket(0.0, line.at_zero, 1.0, value), 1.0
    for turn in range(HALVINGS if value > FLAT * abs(line.at_zero) else 0):
        t = between(bracket, turn)
        choose(f, move, t - 1.0, hinges, fixed_b, centre, width, ramps, b, pools)
        value = sample_weight * tilt(f, move, t - 1.0, b, hinges, centre, width) + line.slope + t * line.curvature
        if abs(value) <= FLAT * abs(line.at_zero):
            break
        bracket = narrowed(bracket, t, value)
    return t
