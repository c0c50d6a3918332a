"""Bounds of leaves: rows with one entry of one leaf in each entry. The minimum of the residual over the box is computed exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import INTERVAL, RATIONAL, Arithmetic
from simopt.core.errors import InvalidProblem
from simopt.duality.graph.affine import Key, Picks
from simopt.duality.graph.programme import Leaf, Programme, Row, VariableBound
from simopt.duality.graph.vectors import Indices, Mask, Value, above, full, is_zero, vector, where


def bounded(programme: Programme) -> None:
    """Turn inequality rows with one entry of one leaf in each entry, and nothing else, into bounds."""
    others = []
    for row in programme.rows:
        keys = row.map.below
        pattern = row.map.pattern(keys[0]) if len(keys) == 1 and keys[0] in programme.leaves else None
        if not row.equality and isinstance(pattern, Picks) and np.all(pattern.columns >= 0):
            programme.bounds.setdefault(keys[0], []).append(VariableBound(row, pattern.columns))
        else:
            others.append(row)
    programme.rows = others


@dataclass(frozen=True)
class VariableBox:
    """low ≤ x ≤ high at the entries where `below` and `above` say that there is such an end; elsewhere the ends have no meaning.

    `rest` are the entries of rows c x + b ≤ 0 that give no end, because the sign of c is not proven: they stay rows.
    """

    low: Value
    high: Value
    below: Mask
    above: Mask
    rest: list[tuple[Row, Indices]]

    def holds(self, num: Arithmetic, x: Value) -> Mask:
        """Entries at which x is proven to be in the box; an end itself is. Whether `meeting` ends are in order, `ordered` has to prove."""
        return (~self.below | _at_most(num, self.low, x)) & (~self.above | _at_most(num, x, self.high))

    def meeting(self, num: Arithmetic) -> Mask:
        """Entries whose two ends are one interval, so that either may be the larger."""
        if num is not INTERVAL:
            return np.zeros(len(self.below), dtype=bool)
        alike = (self.low.mid == self.high.mid) & (self.low.rad == self.high.rad) & (self.low.rad > 0.0)
        return np.asarray(self.below & self.above & alike)

    def clip(self, num: Arithmetic, x: Value) -> Value:
        """x where it is proven to be in the box, else the nearest end (also where intervals overlap)."""
        x = where(num, self.below & ~_at_most(num, self.low, x), self.low, x)
        return where(num, self.above & ~_at_most(num, x, self.high), self.high, x)


def _at_most(num: Arithmetic, x: Value, y: Value) -> Mask:
    """Entries with x ≤ y proven, or with x and y the same interval, as an end of the box that was computed twice is."""
    if num is INTERVAL:
        return np.asarray((x.high <= y.low) | ((x.mid == y.mid) & (x.rad == y.rad)))
    return np.asarray(x <= y, dtype=bool)


def box(num: Arithmetic, programme: Programme, leaf: Leaf) -> VariableBox:
    """The intersection of a leaf's bounds, read anew: a row c x + b ≤ 0 means x ≤ −b/c for c > 0 and x ≥ −b/c for c < 0.

    A row c x + b = 0 means both.
    """
    n = leaf.size
    low, high, is_low, is_high = num.zeros(n), num.zeros(n), np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    rest = []
    for bound in programme.bounds.get(leaf.key, []):
        ones, zeros = full(num, 1.0, n), num.zeros(n)
        c = bound.row.map.value(num, {leaf.key: ones}, linear=True)
        b = bound.row.map.value(num, {leaf.key: zeros})
        upward, downward, taken = above(num, c), above(num, -c), np.flatnonzero(bound.columns >= 0)
        if not (upward | downward)[taken].all():
            rest.append((bound.row, taken[~(upward | downward)[taken]]))
        one = full(num, 1.0, len(b))
        end = where(num, is_zero(num, c - one), -b, where(num, is_zero(num, c + one), b, -b / where(num, upward | downward, c, one)))
        for turn in _turns(bound.columns[taken]):
            i = taken[turn]
            at = bound.columns[i]
            here = np.zeros(n, dtype=bool)
            here[at] = True
            end_at = end[_bounding_rows(n, at, i)]
            both = np.full(len(upward), bound.row.equality)
            for side, limit in ((upward | both, "high"), (downward | both, "low")):
                new = here.copy()
                new[at] = side[i]
                if limit == "high":
                    high = where(num, new & is_high, num.minimum(high, end_at), where(num, new, end_at, high))
                    is_high = is_high | new
                else:
                    low = where(num, new & is_low, num.maximum(low, end_at), where(num, new, end_at, low))
                    is_low = is_low | new
    return VariableBox(low, high, is_low, is_high, rest)


def within(num: Arithmetic, programme: Programme, point: Mapping[Key, Value]) -> dict[Key, Value]:
    """Each leaf clipped to its bounds."""
    drawn = {key: vector(num, point[key]) for key in programme.leaves}
    for key in programme.bounds:
        if key in drawn:
            drawn[key] = box(num, programme, programme.leaves[key]).clip(num, drawn[key])
    return drawn


def ordered(programme: Programme, leaf: Leaf) -> Mask:
    """Entries with low ≤ high, decided in fractions; none if a bound is no fraction."""
    try:
        exact = box(RATIONAL, programme, leaf)
    except (InvalidProblem, ArithmeticError, ValueError):
        return np.zeros(leaf.size, dtype=bool)
    return np.asarray(~exact.below | ~exact.above | (exact.low <= exact.high), dtype=bool)


def _turns(columns: Indices) -> list[Indices]:
    """The rows in batches that have each entry at most once."""
    order = np.argsort(columns, kind="stable")
    ranked = columns[order]
    turn = np.empty(len(columns), dtype=int)
    turn[order] = np.arange(len(columns)) - np.searchsorted(ranked, ranked)
    return [np.flatnonzero(turn == t) for t in range(int(turn.max(initial=-1)) + 1)]


def _bounding_rows(n: int, at: Indices, rows: Indices) -> Indices:
    """For each entry of the leaf the row that bounds it; any row for an entry without bound."""
    bounding = np.full(n, rows[0])
    bounding[at] = rows
    return bounding
