"""Bounds of leaves: rows with one entry of one leaf in each entry. The minimum of the residual over the box is computed exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import INTERVAL, RATIONAL, Arithmetic
from simopt.core.errors import InvalidProblem
from simopt.duality.graph.affine import Key, Picks
from simopt.duality.graph.programme import Leaf, Programme, Row, VariableBound
from simopt.duality.graph.vectors import Indices, Mask, Value, above, full, is_zero, replaced, vector, where


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
    lows: list[tuple[Indices, Value]] = []
    highs: list[tuple[Indices, Value]] = []
    rest = []
    for bound in programme.bounds.get(leaf.key, []):
        ones, zeros = full(num, 1.0, leaf.size), num.zeros(leaf.size)
        c = bound.row.map.value(num, {leaf.key: ones}, linear=True)
        b = bound.row.map.value(num, {leaf.key: zeros})
        upward, downward, taken = above(num, c), above(num, -c), np.flatnonzero(bound.columns >= 0)
        if not (upward | downward)[taken].all():
            rest.append((bound.row, taken[~(upward | downward)[taken]]))
        one = full(num, 1.0, len(b))
        end = where(num, is_zero(num, c - one), -b, where(num, is_zero(num, c + one), b, -b / where(num, upward | downward, c, one)))
        for side, ends in ((upward, highs), (downward, lows)):
            these = taken[(upward | downward if bound.row.equality else side)[taken]]
            ends.append((bound.columns[these], end[these]))
    (low, below), (high, over) = _tightest(num, leaf.size, lows, num.maximum), _tightest(num, leaf.size, highs, num.minimum)
    return VariableBox(low, high, below, over, rest)


def _tightest(num: Arithmetic, n: int, ends: list[tuple[Indices, Value]], better: Callable[[Value, Value], Value]) -> tuple[Value, Mask]:
    """The best of the ends of each entry, and where there is one. Ends of one entry are compared in pairs, until one is left."""
    found, is_found = num.zeros(n), np.zeros(n, dtype=bool)
    if not ends:
        return found, is_found
    at, values = np.concatenate([columns for columns, _ in ends]), num.concat([value for _, value in ends])
    while True:
        order = np.argsort(at, kind="stable")
        at, values = at[order], values[order]
        second = (np.arange(len(at)) - np.searchsorted(at, at)) % 2 == 1
        if not second.any():
            break
        two = np.flatnonzero(second)
        values = replaced(num, values, two - 1, better(values[two - 1], values[two]))[~second]
        at = at[~second]
    is_found[at] = True
    return replaced(num, found, at, values), is_found


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
