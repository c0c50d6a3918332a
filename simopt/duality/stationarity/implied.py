"""Bounds that hold on {x feasible, f(x) ≤ U} without being declared: they take the residual of stationarity where no bound does.

A row ⟨c, x⟩ + Σ c_t t + b ≤ level over a box implies x_j ≤ (level − b − least value of all else)/c_j for c_j > 0, and likewise for c_j < 0.
The first rows are those of the programme and f ≤ U. A term t counts with its least value, for example 0 for a norm. The slack that is
left for it is a level of its own: |z| ≤ level of ‖z‖, z_i ≤ level of a maximum, which are rows again. Floats choose the rows that may
help. The bound of an entry is then computed in intervals, from the row's gradient in intervals, and rounded outward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simopt.arithmetic import INTERVAL, Interval
from simopt.core.arrays import Array
from simopt.duality.atoms.absolute import Absolute
from simopt.duality.atoms.base import GroupNorm
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.logistic import LogisticAtom
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.atoms.square import Square
from simopt.duality.evaluation.bounds import box
from simopt.duality.evaluation.fixed_multipliers import groups
from simopt.duality.evaluation.forward import coefficients
from simopt.duality.evaluation.gradients import Gradients, gradients
from simopt.duality.graph.affine import Key, Map, Picks, Residual
from simopt.duality.graph.programme import Definition, Epigraph, Programme, Term
from simopt.duality.graph.vectors import Mask, broadcast

ROUNDS = 3
ENTRIES = 3_000_000  # of a matrix of gradients
PROOFS = 400  # rows whose gradients are computed in intervals
NONNEGATIVE = (Absolute, GroupNorm, Huber, LogisticAtom, Square)

Limits = dict[Key, tuple[Array, Array]]


def implied(programme: Programme, upper: float, wanted: Mapping[Key, Mask]) -> Limits:
    """Low and high ends of the leaves, floats or ±∞, that hold for every feasible x with f(x) ≤ upper; `wanted` entries are the purpose.

    The optimum is among these x if upper ≥ optimum, for example the objective at a feasible point, or ∞. Hence a bound of f on this set
    bounds the optimum.
    """
    search = _Search(programme, wanted)
    for _ in range(ROUNDS):
        if search.done():
            break
        search.proofs = PROOFS
        for row in programme.rows:
            search.use(row.map, 1.0, np.zeros(row.map.size))
            if row.equality:
                search.use(row.map, -1.0, np.zeros(row.map.size))
        if np.isfinite(upper):
            search.use(programme.objective, 1.0, np.full(1, upper))
        for node in reversed(programme.nodes):
            if isinstance(node, (Term, Epigraph)) and node.key in search.levels:
                search.inward(node)
    return search.limits


@dataclass
class _Search:
    programme: Programme
    wanted: Mapping[Key, Mask]
    limits: Limits = field(default_factory=dict)
    levels: dict[Key, Array] = field(default_factory=dict)  # upper ends of the values of terms
    floors: dict[Key, Array] = field(default_factory=dict)  # lower ends
    proofs: int = PROOFS
    gradients: Gradients = field(init=False)
    rows: dict[Map, Any] = field(default_factory=dict)  # gradients and constants of maps with many entries, which every round uses

    def __post_init__(self) -> None:
        programme = self.programme
        for key, leaf in programme.leaves.items():
            ends = box(INTERVAL, programme, leaf)
            low, high = np.where(ends.below, ends.low.low, -np.inf), np.where(ends.above, ends.high.high, np.inf)
            self.limits[key] = low, high
        zeros = self._zeros()
        self.floors = {node.key: _floor(node, zeros) for node in programme.nodes if not isinstance(node, Definition)}
        self.gradients = gradients(programme, {key: np.arange(leaf.size) for key, leaf in programme.leaves.items()})

    def done(self) -> bool:
        """Whether every wanted entry has both ends."""
        return all(np.isfinite(end[self.wanted[key]]).all() for key in self.wanted for end in self.limits[key])

    def use(self, below: Map, sign: float, level: Array, own: Key | None = None) -> None:
        """Apply sign · map ≤ level to the leaves and terms, entry by entry, where that may help; `own` counts as 0."""
        known = len(below.below) == 1 and (below.below[0] in self.limits or below.below[0] in self.floors)
        pattern = below.pattern(below.below[0]) if known else None
        if isinstance(pattern, Picks):
            self._direct(below, below.below[0], pattern, sign, level)
            return
        for i in self._worthy(below, sign, level):
            if self.proofs:
                self.proofs -= 1
                self._prove(below, sign, i, float(level[i]), own)

    def _direct(self, below: Map, key: Key, pattern: Picks, sign: float, level: Array) -> None:
        """Rows with one entry of one leaf each, or of one term: c x + b ≤ level."""
        low, high = (end.copy() for end in self._ends(key))
        c = coefficients(INTERVAL, below, key, len(low)) * sign
        slack = INTERVAL.lift(np.where(np.isfinite(level), level, 0.0)) - below.value(INTERVAL, {key: INTERVAL.zeros(len(low))}) * sign
        known = np.isfinite(level) & (pattern.columns >= 0)
        up, down = known & (c.low > 0.0), known & (c.high < 0.0)
        end = slack / Interval(np.where(up | down, c.mid, 1.0), np.where(up | down, c.rad, 0.0))
        np.minimum.at(high, pattern.columns[up], end.high[up])
        np.maximum.at(low, pattern.columns[down], end.low[down])
        if key in self.limits:
            self.limits[key] = low, high
        else:
            self.levels[key] = high

    def _worthy(self, below: Map, sign: float, level: Array) -> Iterator[int]:
        """The entries that may bound a wanted entry of a leaf without that end, the nearest first; a single row is always tried."""
        if below.size == 1:
            yield 0
            return
        if below not in self.rows:
            whole = self.gradients.rows(below).tocsr()
            self.rows[below] = (whole, np.asarray(below.value(INTERVAL, self._zeros()).mid)) if whole.nnz <= ENTRIES else None
        if (known := self.rows[below]) is None:
            return
        rows, offset = known
        low, high = (np.concatenate([self.limits[key][side] for key in self.programme.leaves]) for side in (0, 1))
        needed = np.concatenate([self.wanted.get(key, np.zeros(leaf.size, dtype=bool)) for key, leaf in self.programme.leaves.items()])
        no_high, no_low = needed & np.isinf(high), needed & np.isinf(low)
        columns = np.flatnonzero(no_high | no_low)
        near = rows[:, columns].tocoo()
        asked = np.unique(near.row[np.where(sign * near.data > 0, no_high[columns][near.col], no_low[columns][near.col])])
        if not len(asked):
            return
        rows = rows[asked].tocoo()
        c, (i, j) = sign * rows.data, rows.coords
        with np.errstate(all="ignore"):
            least = np.where(c > 0, c * low[j], c * high[j])
        least = np.where(c == 0.0, 0.0, least)
        blind = np.isinf(least)
        total = np.bincount(i, np.where(blind, 0.0, least), len(asked))
        unknown = np.bincount(i, blind, len(asked))
        slack = (level - sign * offset)[asked][i] - total[i] + np.where(blind, 0.0, least)
        for helps in ((c > 0) & no_high[j], (c < 0) & no_low[j]):
            here = np.flatnonzero(helps & (unknown[i] - blind == 0) & np.isfinite(slack))
            order = here[np.argsort(np.abs(slack[here] / c[here]), kind="stable")]
            yield from asked[i[order[np.unique(j[order], return_index=True)[1]]]].tolist()

    def _zeros(self) -> dict[Key, Any]:
        """0 for leaves and terms; the values of definitions that follow."""
        found = {key: INTERVAL.zeros(leaf.size) for key, leaf in self.programme.leaves.items()}
        for node in self.programme.nodes:
            if isinstance(node, Definition):
                found[node.key] = INTERVAL.zeros(len(node.columns))
                z = node.row.map.value(INTERVAL, found)
                found[node.key] = INTERVAL.group_sum(-z / INTERVAL.lift(node.factors), node.columns, len(node.columns))
            else:
                found[node.key] = INTERVAL.zeros(node.size if isinstance(node, Term) else node.atom.count)
        return found

    def _prove(self, below: Map, sign: float, i: int, level: float, own: Key | None) -> None:
        """Pull one row back in intervals, and bound each entry of a leaf and each term by the slack that the others leave."""
        unit = np.zeros(below.size)
        unit[i] = sign
        into: Residual = {}
        constant = below.pull(INTERVAL, INTERVAL.lift(unit), into)
        if own is not None:
            into.pop(own, None)
        for node in reversed(self.programme.nodes):
            if isinstance(node, Definition) and (u := into.pop(node.key, None)) is not None:
                constant = constant + node.row.map.pull(INTERVAL, -u[node.columns] / INTERVAL.lift(node.factors), into)
                into.pop(node.key, None)
        parts: list[tuple[Key, Interval, Array]] = []  # coefficients, and the least of coefficient times value
        for key, pulled in into.items():
            low, high = self._ends(key)
            c = broadcast(INTERVAL, pulled, len(low))
            parts.append((key, c, _least(c, low, high)))
        finite = np.concatenate([np.where(np.isfinite(least), least, 0.0) for *_, least in parts]) if parts else np.zeros(0)
        unknown = sum(int(np.isinf(least).sum()) for *_, least in parts)
        spare = INTERVAL.lift(level) - constant - INTERVAL.sum(INTERVAL.lift(finite))
        if not np.isfinite(spare.high):
            return
        for key, c, least in parts:
            alone = unknown - np.isinf(least) == 0
            slack = INTERVAL.lift(np.full(len(least), float(spare.high))) + INTERVAL.lift(np.where(np.isfinite(least), least, 0.0))
            self._narrow(key, c, slack, alone)

    def _ends(self, key: Key) -> tuple[Array, Array]:
        if key in self.limits:
            return self.limits[key]
        floor = self.floors[key]
        return floor, self.levels.get(key, np.full(len(floor), np.inf))

    def _narrow(self, key: Key, c: Interval, slack: Interval, alone: Mask) -> None:
        """c_j x_j ≤ slack_j where all else is known."""
        low, high = self._ends(key)
        up, down = alone & (c.low > 0.0), alone & (c.high < 0.0)
        known = up | down
        end = slack / Interval(np.where(known, c.mid, 1.0), np.where(known, c.rad, 0.0))
        high = np.where(up, np.minimum(high, end.high), high)
        if key in self.limits:
            self.limits[key] = np.where(down, np.maximum(low, end.low), low), high
        else:
            self.levels[key] = high

    def inward(self, node: Term | Epigraph) -> None:
        """Apply a term's level to its argument."""
        n = node.argument.size
        group, _ = groups(node.atom, n)
        level = self.levels[node.key][group]
        if (isinstance(node, Term) and node.sign < 0) or not np.isfinite(level).any():
            return
        low, high = _around(node, level)
        for sign, ends in ((1.0, high), (-1.0, -low)):
            if np.isfinite(ends).any():
                self.use(node.argument, sign, ends, node.key)


def _least(c: Interval, low: Array, high: Array) -> Array:
    """A float below c x for all low ≤ x ≤ high; −∞ if there is none, 0 if c is exactly 0."""
    ends = np.where(np.isfinite(low), low, high), np.where(np.isfinite(high), high, low)  # of an entry with one end that end decides
    with np.errstate(all="ignore"):
        products = [INTERVAL.lift(end) * INTERVAL.lift(np.where(np.isfinite(x), x, 0.0)) for end in (c.low, c.high) for x in ends]
    least = np.min([product.low for product in products], axis=0)
    unknown = ((c.high > 0.0) & ~np.isfinite(low)) | ((c.low < 0.0) & ~np.isfinite(high))
    out: Array = np.where(unknown, -np.inf, least)  # an interval that overflowed contains −∞
    return out


def _around(node: Term | Epigraph, level: Array) -> tuple[Array, Array]:
    """Ends of the argument z of a term that is at most `level`, entry by entry, rounded outward."""
    above = np.maximum(level, 0.0)
    if isinstance(node.atom, (Maximum, LogisticAtom)):  # log(1 + e^z) ≥ z
        return np.full(len(level), -np.inf), level
    if isinstance(node.atom, Square):
        radius = INTERVAL.sqrt(INTERVAL.lift(above)).high
    elif isinstance(node.atom, Huber):  # φ(z) ≥ min(z², M|z|), so that |z| ≤ max(√level, level/M)
        m = node.atom.threshold(INTERVAL)
        far = (INTERVAL.lift(above) / m).high if INTERVAL.lower(m) > 0.0 else np.full(len(level), np.inf)
        radius = np.maximum(INTERVAL.sqrt(INTERVAL.lift(above)).high, far)
    elif isinstance(node.atom, (Absolute, GroupNorm)):  # a p-norm is at least each |z_i|
        radius = above
    else:
        radius = np.full(len(level), np.inf)
    return -radius, radius


def _floor(node: Term | Epigraph, zeros: Mapping[Key, Interval]) -> Array:
    """The least value of a term, if the atom knows it; for a maximum that of its constants."""
    if isinstance(node, Term) and node.sign < 0:
        return np.full(node.size, -np.inf)
    if isinstance(node.atom, Maximum):
        low, fixed = np.full(node.atom.count, -np.inf), np.flatnonzero(node.atom.takes)
        np.maximum.at(low, node.atom.group[fixed], node.argument.value(INTERVAL, zeros).low[fixed])
        return low
    return np.full(groups(node.atom, node.argument.size)[1], 0.0 if isinstance(node.atom, NONNEGATIVE) else -np.inf)
