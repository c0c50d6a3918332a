"""The choice of multipliers that are corrected to remove the residual of stationarity, in floats.

The gradient of what a multiplier u_i multiplies is a column of r(u), and u_i has a margin to the boundary of its domain. A sum that the
domain fixes (Σu = s) is kept by the entry of the group with the largest margin. If the scale of a term depends on other multipliers, the
multipliers of the term move in proportion to it, and the gradient of the term is added to theirs. Pivots are chosen by a QR factorisation
with column pivoting of M√W, W the margins: far from the boundaries of their domains, and far from dependent. It is √W and not W, since on a
curved boundary the repair leaves small margins, and W would exclude these multipliers. W is tried last (`closure`), for problems where a
multiplier near the boundary that √W chooses has to leave its domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.arithmetic.independent import LARGE, matched, pivoted, with_unit_rows
from simopt.arithmetic.interval import as_interval
from simopt.arithmetic.interval_matrix import IntervalMatrix, below_each_other
from simopt.arithmetic.linear import blocks, bundled
from simopt.arithmetic.sparse import scaled_rows
from simopt.core.arrays import Array
from simopt.duality.atoms.base import ConjugateDomain
from simopt.duality.atoms.concave_homogeneous import ConcaveHomogeneous
from simopt.duality.atoms.perspective import Perspective
from simopt.duality.evaluation.backward import Backward
from simopt.duality.evaluation.closing_terms import ClosingTerm
from simopt.duality.evaluation.fixed_multipliers import DualRepair, FixedMultipliers, groups
from simopt.duality.evaluation.gradients import gradients
from simopt.duality.graph.affine import Key, Map
from simopt.duality.graph.programme import Definition, Epigraph, Programme, Row, Term
from simopt.duality.graph.vectors import Indices, Mask, at_least_zero, full, where

MOST = 1500  # wanted entries of a block whose columns are chosen by a dense factorisation
WIDEST = 50_000  # of all of it
WORK = 1e10  # multiplications that the choice may cost
INDEPENDENT = 1e-10  # of the largest: the least diagonal entry of R for a pivot
EDGE = 1e-7  # of the scale: a multiplier as near to the boundary of its domain counts as on it
ROUNDING = 1e-10  # of the terms of a residual: rounding in floats


@dataclass(frozen=True, eq=False)
class Columns:
    """The multipliers of one row or node: gradients of what they multiply, margins, and the entries that keep the sums of groups."""

    row_or_node: Row | Term | Epigraph
    rows: Any
    margin: Array
    rest: Mask | None = None

    @property
    def map(self) -> Map:
        """The map that they multiply."""
        return self.row_or_node.map if isinstance(self.row_or_node, Row) else self.row_or_node.argument

    def balanced(self, steps: Array) -> Array:
        """The steps of multipliers: with those of each group subtracted at the entry that keeps its sum, or those of their image."""
        if isinstance(self.row_or_node, Row):
            return steps
        matrix = self.row_or_node.atom.image(FLOAT)
        if matrix is not None:
            return np.asarray(matrix @ steps)
        if self.rest is None:
            return steps
        group, count = groups(self.row_or_node.atom, len(steps))
        return steps - np.where(self.rest, np.bincount(group, weights=steps, minlength=count)[group], 0.0)

    def steps(self, index: Indices) -> Any:
        """Unit steps at these entries, each taken off the one that keeps the sum: a sparse matrix with a row for each."""
        n, k = len(self.margin), len(index)
        unit = sp.csr_array((np.ones(k), (np.arange(k), index)), shape=(k, n))
        if self.rest is None or isinstance(self.row_or_node, Row):
            return unit
        keepers = _keepers(self.rest, *groups(self.row_or_node.atom, n))
        return unit - sp.csr_array((np.ones(k), (np.arange(k), keepers[index])), shape=(k, n))


@dataclass(frozen=True, eq=False)
class Pivots:
    """The entries of each row and node that are corrected, and the indices of the wanted entries that they determine."""

    parts: list[tuple[Columns, Indices]]
    solved_entries: Indices


class System:
    """The wanted entries of leaves, and the multipliers of a sweep in floats that may be corrected for them.

    Attributes
    ----------
    wanted : dict
        masks of leaves: the given ones, and entries in a norm that is at the boundary of its domain.
    ranges : bool
        whether multipliers whose domain is the range of a matrix may be corrected.
    """

    def __init__(
        self, programme: Programme, plan: Sequence[ClosingTerm], draft: Backward, wanted: Mapping[Key, Mask], ranges: bool = True
    ) -> None:
        self.programme, self.plan, self.draft, self.ranges = programme, plan, draft, ranges
        self.wanted = {key: mask.copy() for key, mask in wanted.items()}
        self.deferred = {each.term.key for each in plan} | {each.epigraph_parent.key for each in plan if each.epigraph_parent is not None}
        self.columns: list[Columns] = []
        self.fixed_entries: dict[Key, Mask] = {}
        self.gradients: list[tuple[Key, Any]] = []
        for each in plan:
            if (
                each.epigraph_parent is None
                and each.term.atom.conjugate_domain is ConjugateDomain.BALL
                and each.leaf.key in wanted
                and each.term.key in draft.used
            ):
                self._fix_entries(each)
        self.entries = {key: np.flatnonzero(mask) for key, mask in self.wanted.items()}
        self.width = sum(len(chosen) for chosen in self.entries.values())
        if self.width <= WIDEST:
            self._collect()

    def _fix_entries(self, each: ClosingTerm) -> None:
        """Fix the multipliers of a norm at the boundary of its domain where stationarity is wanted: they stay proportional to the scale."""
        term, u = each.term, self.draft.used[each.term.key]
        group, count = groups(term.atom, len(u))
        near = self.wanted[each.leaf.key][each.columns] | (term.atom.margin(FLOAT, u, self._scale(term)) <= EDGE * self._scale(term)[group])
        near = np.bincount(group, weights=near, minlength=count)[group] > 0
        self.fixed_entries[term.key] = near
        self.wanted[each.leaf.key][each.columns[near]] = True

    def _scale(self, node: Term | Epigraph) -> Array:
        s: Array = self.draft.scales[node.key]
        count = groups(node.atom, len(self.draft.used[node.key]))[1]
        return s if len(s) == count else np.broadcast_to(s, count)

    def _collect(self) -> None:
        at = gradients(self.programme, self.entries, self._follow)
        for row in self.programme.rows:
            if row.key not in self.deferred and row.key in self.draft.used:
                rows = at.rows(row.map)
                self._add(Columns(row, rows, self.margin(row)), rows)

    def matrix(self, num: Arithmetic, dual_repair: DualRepair, pivots: Pivots) -> Any:
        """M, sparse: the change of the residual at each wanted entry by a unit step of each pivot, in floats or intervals."""
        if num is FLOAT:
            return sp.vstack([each.rows[index] for each, index in pivots.parts], format="csr").T.tocsr()
        own: dict[Key, Any] = {}

        def follow(node: Term | Epigraph, rows: Any) -> Any:
            own[node.key] = rows
            count = node.size if isinstance(node, Term) else node.atom.count
            if node.key not in dual_repair.fixed or not self._moves(node):
                return IntervalMatrix(sp.csr_array((count, rows.shape[1])))
            fixed, n = dual_repair.fixed[node.key], rows.shape[0]
            group, scales = groups(node.atom, n)
            per_scale = where(
                num, fixed.mask, fixed.value(num, node.atom, full(num, float(_sign(node)), scales), num.zeros(n)), num.zeros(n)
            )
            places = (group, np.arange(n))
            return IntervalMatrix(*(sp.csr_array((side, places), shape=(scales, n)) for side in (per_scale.mid, per_scale.rad))) @ rows

        at = gradients(self.programme, self.entries, follow, num)
        parts = []
        for each, index in pivots.parts:
            key = each.row_or_node.key
            rows = IntervalMatrix.of(own[key] if key in own else at.rows(each.map))
            matrix = None if isinstance(each.row_or_node, Row) else each.row_or_node.atom.image(num)
            parts.append(each.steps(index) @ (rows if matrix is None else IntervalMatrix.of(as_interval(matrix).T) @ rows))
        return below_each_other(parts).T

    def _add(self, columns: Columns, rows: Any) -> None:
        self.gradients.append((columns.row_or_node.key, rows))
        self.columns.append(columns)

    def sizes(self, used: Mapping[Key, Array]) -> Any:
        """Σ|terms| of the residual at each wanted entry for these multipliers; those of the sweep where none are given."""
        return sum(abs(rows).T @ np.abs(used.get(key, self.draft.used[key])) for key, rows in self.gradients)

    def _follow(self, node: Term | Epigraph, rows: Any) -> Any:
        """The gradient of a term's value whose multipliers follow its scale; its own multipliers are columns."""
        n, width = rows.shape
        if not self._moves(node):
            return sp.csr_array((node.size if isinstance(node, Term) else node.atom.count, width))
        group, count = groups(node.atom, n)
        fixed = self.fixed(node, np.zeros(n, dtype=bool))
        margin = self.margin(node, fixed.rest)
        if fixed.rest is None:
            matrix = node.atom.image(FLOAT)
            self._add(Columns(node, rows if matrix is None else sp.csr_array(matrix.T @ rows), margin), rows)
        else:
            self._add(Columns(node, rows - rows[_keepers(fixed.rest, group, count)], margin, fixed.rest), rows)
        per_scale = fixed.value(FLOAT, node.atom, np.ones(count), np.zeros(n))
        return _sign(node) * (sp.csr_array((per_scale, (group, np.arange(n))), shape=(count, n)) @ rows)

    def _moves(self, node: Term | Epigraph) -> bool:
        """Whether the node's multipliers may be fixed. Closing terms come last and take the residual, unless their entries are fixed."""
        scales = groups(node.atom, node.argument.size)[1]
        known = node.key in self.draft.used and scales == node.atom.outputs(node.argument.size)
        return known and (node.key not in self.deferred or node.key in self.fixed_entries)

    def margin(self, row_or_node: Row | Term | Epigraph, rest: Mask | None = None) -> Array:
        """How far each entry of a multiplier may move, at present; with `rest` against the entry that keeps the sum."""
        if isinstance(row_or_node, Row):
            y = self.draft.used[row_or_node.key]
            return np.full(len(y), np.inf) if row_or_node.equality else y
        margin = self._margin(row_or_node)
        if rest is None:
            return margin * (row_or_node.key not in self.fixed_entries)
        return np.minimum(margin, margin[_keepers(rest, *groups(row_or_node.atom, len(margin)))]) * ~rest

    def _margin(self, node: Term | Epigraph) -> Array:
        u = self.draft.used[node.key]
        if not self.ranges and node.atom.image(FLOAT) is not None:
            return np.full(len(u), -1.0)
        margin = np.asarray(node.atom.margin(FLOAT, u, self._scale(node)), dtype=float)
        return np.minimum(margin, np.where(node.monotonicity == 0, np.inf, node.monotonicity * u)) if isinstance(node, Term) else margin

    def margins(self) -> Array:
        """How far each column may move; a row that is an equality farther than any other."""
        return finite(np.concatenate([each.margin for each in self.columns]))

    def split(self, x: Any) -> list[Any]:
        """The part of an array that belongs to each of the columns."""
        return np.split(x, np.cumsum([len(each.margin) for each in self.columns])[:-1])

    def chosen(self, power: float = 0.5) -> Pivots | str:
        """The pivots of M W^power and the entries that they determine; or why there are none."""
        for each in self.plan:  # such a term would take the residual in its own way
            if (
                each.term.key not in self.fixed_entries
                and self.wanted.get(each.leaf.key, np.zeros(each.leaf.size, dtype=bool))[each.columns].any()
            ):
                return f"{each.term.name} follows the residual of stationarity, though not in proportion"
        if self.width > WIDEST:
            return f"{self.width} entries of leaves are too many to solve for"
        if not self.columns:
            return "there are no multipliers"
        margin, rows = self.margins(), sp.vstack([each.rows for each in self.columns], format="csr")
        live = np.flatnonzero((margin > 0.0) & (np.diff(rows.indptr) > 0))
        matrix = sp.csr_array(scaled_rows(rows[live], margin[live] ** power).T)
        if not np.isfinite(matrix.data).all():
            return "the gradients of what they multiply overflow"
        solved_entries, chosen = list[Indices](), list[Indices]()
        for entries, multipliers in bundled([part for part in blocks(matrix) if all(map(len, part))]):
            part = matrix[entries][:, multipliers]
            if len(entries) >= LARGE and (columns := matched(part)) is not None:
                solved_entries.append(entries)
                chosen.append(multipliers[columns])
                continue
            if len(entries) > MOST or len(entries) * min(len(entries), len(multipliers)) * float(len(multipliers)) > WORK:
                return f"{len(entries)} entries of leaves and {len(multipliers)} multipliers are too many to choose from"
            own, best = _independent(part.toarray())
            solved_entries.append(entries[own])
            chosen.append(multipliers[best])
        if not chosen:
            return "no multiplier that is strictly inside of its domain has a part in what is left"
        marks = self.split(np.isin(np.arange(len(margin)), live[np.concatenate(chosen)]))
        parts = [(each, np.flatnonzero(mark)) for each, mark in zip(self.columns, marks, strict=True) if mark.any()]
        return Pivots(parts, np.sort(np.concatenate(solved_entries)))

    def masks(self, solved_entries: Indices) -> dict[Key, Mask]:
        """The entries of leaves with these indices."""
        found = {key: np.zeros(len(mask), dtype=bool) for key, mask in self.wanted.items()}
        starts = np.cumsum([0, *(len(chosen) for chosen in self.entries.values())])
        for (key, chosen), start in zip(self.entries.items(), starts[:-1], strict=True):
            found[key][chosen] = np.isin(np.arange(start, start + len(chosen)), solved_entries)
        return found

    def fixed(self, node: Term | Epigraph, pivots: Mask) -> FixedMultipliers:
        """The multipliers of a node when these pivots are corrected: the other entries stay in proportion to the scale."""
        u = node.atom.preimage(self.draft.used[node.key])
        n, (group, count) = len(u), groups(node.atom, len(u))
        s = self._scale(node)[group]
        unit = np.divide(u, s, out=np.zeros(n), where=s > 0.0)
        if not isinstance(node.atom, (ConcaveHomogeneous, Perspective)):  # their domains have no boundary there
            snapped = np.where(np.abs(np.abs(unit) - 1.0) <= EDGE, np.sign(unit), unit)
            beyond = node.atom.margin(FLOAT, snapped, np.ones(count)) < 0.0  # a small entry beside it is too much for ‖·‖₂
            unit = np.where(np.bincount(group, weights=beyond, minlength=count)[group] > 0, unit, snapped)
        if node.key in self.fixed_entries:
            return FixedMultipliers(np.zeros(n), unit, self.fixed_entries[node.key], np.zeros(n, dtype=bool))
        if node.atom.total is None:
            own = np.bincount(group, weights=pivots, minlength=count)[group] > 0
            proven = own | ((s <= 0.0) & (u != 0.0))
            if isinstance(node, Term) and node.atom.image(FLOAT) is not None:  # the sign of x says nothing of that of Ax
                proven |= node.monotonicity != 0
            return FixedMultipliers(np.where(s > 0.0, 0.0, u), unit, np.ones(n, dtype=bool), proven)
        rest = _largest(self._margin(node), group, count)
        ends = (unit == 1.0) & (node.atom.total > 1.0) & ~rest
        return FixedMultipliers(np.where(ends | rest, 0.0, u), np.where(ends, 1.0, 0.0), np.ones(n, dtype=bool), ~ends, rest)

    def dual_repair(self, parts: list[tuple[Columns, Indices]]) -> DualRepair:
        """All multipliers that are corrected, fixed, or have a scale that changes with them."""
        fixed: dict[Key, FixedMultipliers] = {}
        nodes = {node.key: node for node in self.programme.nodes}
        marked = {each.row_or_node.key: np.isin(np.arange(len(each.margin)), index) for each, index in parts}
        waiting = [*self.fixed_entries]
        for each, _ in parts:
            if isinstance(each.row_or_node, Row):
                y, mask = self.draft.used[each.row_or_node.key], marked[each.row_or_node.key]
                fixed[each.row_or_node.key] = FixedMultipliers(y, np.zeros(len(y)), mask, mask & (not each.row_or_node.equality))
                waiting += each.map.below
            else:
                waiting.append(each.row_or_node.key)
        seen: set[Key] = set()
        while waiting:
            key = waiting.pop()
            if key in seen or key not in nodes:
                continue
            seen.add(key)
            node = nodes[key]
            waiting += self.programme.below(node)
            if isinstance(node, Definition) or key not in self.draft.used or (key in self.deferred and key not in self.fixed_entries):
                continue
            n = len(self.draft.used[key])
            if self._moves(node):
                fixed[key] = _inside(node, self.fixed(node, marked.get(key, np.zeros(n, dtype=bool))))
            else:  # nothing is known of its scales: every entry has to be proven, which fails
                fixed[key] = FixedMultipliers(np.zeros(n), np.zeros(n), np.ones(n, dtype=bool), np.ones(n, dtype=bool))
        return DualRepair(fixed)


def finite(margin: Array) -> Array:
    """Margins, with 4 times the largest in place of ∞."""
    size = float(np.max(margin[np.isfinite(margin)], initial=0.0)) or 1.0
    return np.where(np.isfinite(margin), np.maximum(margin, 0.0), 4.0 * size)


def _independent(matrix: Array) -> tuple[Indices, Indices]:
    """Rows and as many columns that are far from dependent, columns of large entries first."""
    matrix = with_unit_rows(matrix)
    diagonal, order = pivoted(matrix)
    rank = int(np.sum(diagonal > INDEPENDENT * diagonal.max(initial=0.0)))
    rows = np.arange(len(matrix)) if rank == len(matrix) else np.sort(pivoted(matrix[:, order[:rank]].T)[1][:rank])
    return rows, order[:rank]


def _keepers(rest: Mask, group: Indices, count: int) -> Indices:
    """For each entry the one of its group that keeps the sum."""
    keeper = np.zeros(count, dtype=np.intp)
    keeper[group[rest]] = np.flatnonzero(rest)
    return keeper[group]


def _largest(x: Array, group: Indices, count: int) -> Mask:
    """The first largest entry of each group; nan counts as −∞."""
    x = np.where(np.isnan(x), -np.inf, x)
    most, first, chosen = np.full(count, -np.inf), np.full(count, len(x)), np.zeros(len(x) + 1, dtype=bool)
    np.maximum.at(most, group, x)
    reach = np.flatnonzero(x == most[group])
    np.minimum.at(first, group[reach], reach)
    chosen[first] = True  # a group without entries has the index beyond the last
    return chosen[:-1]


def _sign(node: Term | Epigraph) -> int:
    return node.sign if isinstance(node, Term) else 1


def _inside(node: Term | Epigraph, fixed: FixedMultipliers) -> FixedMultipliers:
    """The multipliers per unit of scale, drawn into the domain of φ* until that is proven; where it is not, the sweep has to prove it."""
    if fixed.rest is not None:
        return fixed
    unit, ones = fixed.unit, full(INTERVAL, 1.0, groups(node.atom, len(fixed.unit))[1])
    for shrink in (0.0, 2.0**-40):
        unit = node.atom.inward(unit, shrink)
        off = ~at_least_zero(INTERVAL, node.atom.margin(INTERVAL, INTERVAL.lift(unit), ones))
        if not off.any():
            return replace(fixed, unit=unit)
    return replace(fixed, proven=fixed.proven | off)
