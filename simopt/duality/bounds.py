"""Bounds of leaves: rows with one entry of one leaf each. What is left of stationarity is taken over a box exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import INTERVAL, Arithmetic
from simopt.duality.affine import Picks
from simopt.duality.programme import Bound, Leaf, Programme
from simopt.duality.vectors import Indices, Mask, Value, above, at_least_zero, full, is_zero, where


def bounded(programme: Programme) -> None:
    """Turn inequality rows that have one entry of one leaf in each entry, and nothing else, into bounds."""
    kept = []
    for row in programme.rows:
        keys = row.map.below
        pattern = row.map.pattern(keys[0]) if len(keys) == 1 and keys[0] in programme.leaves else None
        if not row.equality and isinstance(pattern, Picks) and np.all(pattern.columns >= 0):
            programme.bounds.setdefault(keys[0], []).append(Bound(row, pattern.columns))
        else:
            kept.append(row)
    programme.rows = kept


@dataclass(frozen=True)
class Box:
    """low ≤ x ≤ high where `below` and `above` say that there is such an end; the ends elsewhere mean nothing."""

    low: Value
    high: Value
    below: Mask
    above: Mask
    doubtful: str  # the row of which it is not proven on which side it bounds: it may say that nothing is feasible

    def holds(self, num: Arithmetic, x: Value) -> Mask:
        """Where x is proven to be in the box, which an end itself is."""
        return (~self.below | _at_most(num, self.low, x)) & (~self.above | _at_most(num, x, self.high))

    def clip(self, num: Arithmetic, x: Value) -> Value:
        """x where it is proven to be in the box, else the nearest end (of balls that overlap, too)."""
        x = where(num, self.below & ~_at_most(num, self.low, x), self.low, x)
        return where(num, self.above & ~_at_most(num, x, self.high), self.high, x)


def _at_most(num: Arithmetic, x: Value, y: Value) -> Mask:
    """Where x ≤ y is proven; also where both are one ball, as an end of the box is that was computed twice."""
    if num is INTERVAL:
        return np.asarray((x.high <= y.low) | ((x.mid == y.mid) & (x.rad == y.rad)))
    return np.asarray(x <= y, dtype=bool)


def box(num: Arithmetic, programme: Programme, leaf: Leaf) -> Box:
    """The intersection of a leaf's bounds, read anew: a row c x + b ≤ 0 says x ≤ −b/c for c > 0 and x ≥ −b/c for c < 0."""
    n = leaf.size
    low, high, is_low, is_high = num.zeros(n), num.zeros(n), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    doubtful = ""
    for bound in programme.bounds.get(leaf.key, []):
        c = bound.row.map.value(num, {leaf.key: full(num, 1.0, n)}, linear=True)
        b = bound.row.map.value(num, {leaf.key: num.zeros(n)})
        upward, downward = above(num, c), above(num, -c)
        sided = upward | downward
        end = -b / where(num, sided, c, full(num, 1.0, len(b)))
        if not (sided | (is_zero(num, c) & at_least_zero(num, -b))).all():
            doubtful = bound.row.name
        for rows in _turns(bound.columns):
            at = bound.columns[rows]
            place = np.full(n, rows[0])
            place[at] = rows
            new = np.zeros(n, dtype=bool)
            new[at] = upward[rows]
            high = where(num, new & is_high, num.minimum(high, end[place]), where(num, new, end[place], high))
            is_high = is_high | new
            new = np.zeros(n, dtype=bool)
            new[at] = downward[rows]
            low = where(num, new & is_low, num.maximum(low, end[place]), where(num, new, end[place], low))
            is_low = is_low | new
    return Box(low, high, is_low, is_high, doubtful)


def _turns(columns: Indices) -> list[Indices]:
    """The rows in batches that have each entry at most once."""
    order = np.argsort(columns, kind="stable")
    ranked = columns[order]
    turn = np.empty(len(columns), dtype=int)
    turn[order] = np.arange(len(columns)) - np.searchsorted(ranked, ranked)
    return [np.flatnonzero(turn == t) for t in range(int(turn.max(initial=-1)) + 1)]
