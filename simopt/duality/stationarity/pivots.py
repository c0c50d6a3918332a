"""Stationarity without a closing term: as many multipliers as there are entries are corrected until the residual is exactly 0.

Let r be the residual at k entries of leaves. Multipliers of rows and terms enter it linearly: r(u + δ) = r(u) + Mδ for a δ at k of them,
the pivots. This holds as long as the others stay or follow their scales in proportion (`fixed_multipliers`). M δ = −r(u) is solved in the
arithmetic asked for, and then r is 0; in intervals it is 0 for a vector in them. That vector gives a bound if each of its entries is in the
domain of its conjugate. This is proven for pivots and for multipliers that move with them. Floats choose the pivots (`columns`).

In floats a residual of the size of rounding counts as 0.

Source: C. Jansson, Rigorous lower and upper bounds in linear programming, SIAM J. Optim. 14 (2004). The same enclosures of dual solutions
are used here for cones instead of intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from simopt.arithmetic import FLOAT, RATIONAL, Arithmetic
from simopt.arithmetic.linear import solve
from simopt.core.arrays import Array
from simopt.duality.evaluation.backward import Backward, Perturb, backward
from simopt.duality.evaluation.closing_terms import ClosingTerm
from simopt.duality.evaluation.fixed_multipliers import DualRepair, groups
from simopt.duality.graph.affine import Key, Residual
from simopt.duality.graph.leaf_values import changing
from simopt.duality.graph.programme import Definition, Programme, Row, Term
from simopt.duality.graph.vectors import Mask, Value, broadcast, is_zero, where
from simopt.duality.recent import Recent
from simopt.duality.stationarity.columns import ROUNDING, Columns, Pivots, System
from simopt.duality.stationarity.lineality import Lineality
from simopt.duality.stationarity.repair import joined

Limits = Mapping[Key, tuple[Array, Array]]


class Pivoting:
    """A sweep whose multipliers are corrected at the wanted entries, and at those that the correction makes wanted.

    The correction does not depend on implied bounds, so that sweeps with and without them share it.

    Parameters
    ----------
    candidates : dict
        the multipliers as they are (`completed`), `repaired`, `snapped` or `centred`.
    wanted : dict
        masks of the leaves.
    power : float
        of the margins in the choice of pivots (`System.chosen`).
    """

    def __init__(
        self,
        num: Arithmetic,
        programme: Programme,
        plan: Sequence[ClosingTerm],
        candidates: Mapping[Key, Array],
        wanted: Mapping[Key, Mask],
        power: float = 0.5,
        ranges: bool = True,
    ) -> None:
        self.num, self.programme, self.plan, self.candidates, self.wanted, self.power = num, programme, plan, candidates, wanted, power
        self.ranges = ranges
        self._corrections: Recent[Key, tuple[System, _Correction | Backward]] = Recent(3)

    @cached_property
    def draft(self) -> Backward:
        """The sweep in floats, of the multipliers as they are."""
        return self._once("draft", {}, lambda: backward(FLOAT, self.programme, self.plan, self.candidates))  # type: ignore[no-any-return]

    def is_like(self, other: Pivoting) -> bool:
        """Whether the other one, of the same programme, corrects the same multipliers at the same entries, and chooses by the same rule."""
        by_rule = self.plan is other.plan and self.power == other.power and self.ranges == other.ranges
        return by_rule and _alike(self.candidates, other.candidates) and _alike(self.wanted, other.wanted)

    def _once(self, what: str, wanted: Mapping[Key, Mask], compute: Callable[[], Any]) -> Any:
        """What floats alone decide of these multipliers: another arithmetic asks for it again."""
        kind = (what, self.power, self.ranges, *(each.term.key for each in self.plan), *changing(self.programme.problem))
        inputs: dict[tuple[str, Key], Any] = {("multiplier", key): values for key, values in self.candidates.items()}
        inputs |= {("wanted", key): mask for key, mask in wanted.items()}
        return self.programme.choices.of(kind, inputs, lambda _: compute())

    def _choice(self, wanted: Mapping[Key, Mask]) -> tuple[System, Pivots | str]:
        system = System(self.programme, self.plan, self.draft, wanted, self.ranges)
        return system, system.chosen(self.power)

    def swept(self, implied: Limits) -> Backward:
        """The sweep; if it stays open, with the reason."""
        if len(self.draft.open) > len(self.draft.missing):
            return self.draft
        wanted = self.wanted
        while True:
            system, corrected = self._corrections.of(None, wanted, self._corrected)
            if isinstance(corrected, Backward):
                return corrected
            found = self._after(system, corrected, implied)
            if len(found.open) != len(found.missing) or not found.open:
                return found
            wanted = joined(system.wanted, found.missing)
            if all(key in system.wanted and np.array_equal(mask, system.wanted[key]) for key, mask in wanted.items()):
                return found

    def _corrected(self, wanted: Mapping[Key, Mask]) -> tuple[System, _Correction | Backward]:
        """What removes the residual, or nothing and the reason, or the sweep itself where it is open."""
        num = self.num
        system, pivots = self._once("pivots", wanted, lambda: self._choice(wanted))
        if isinstance(pivots, str):
            return system, _Correction(DualRepair(), why=pivots)
        dual_repair = system.dual_repair(pivots.parts)
        before = self.repaired(dual_repair)
        if not before.residuals.keys() >= system.entries.keys():
            return system, before
        matrix = _matrix(num, system, dual_repair, pivots)[pivots.solved_entries]
        delta = solve(num, matrix, -_residual(num, system, before, pivots))
        if delta is None:
            return system, _Correction(DualRepair(), why="their matrix is not proven to be regular")
        moved = DualRepair(_moved(num, dual_repair, pivots, delta), system.masks(pivots.solved_entries))
        return system, _Correction(moved, pivots, matrix)

    def repaired(self, dual_repair: DualRepair, implied: Limits | None = None) -> Backward:
        """The sweep, with the multipliers that a dual repair fixes."""
        return backward(self.num, self.programme, self.plan, self.candidates, dual_repair=dual_repair, implied=implied)

    def _after(self, system: System, correction: _Correction, implied: Limits) -> Backward:
        """The sweep with corrected pivots; bounds, or entries that follow from others, take the rest of the residual."""
        dual_repair, why = correction.dual_repair, correction.why
        after = self.repaired(dual_repair, implied)
        if fresh := _followers(self.num, system, dual_repair, after):
            dual_repair = replace(dual_repair, entries=joined(dual_repair.entries, fresh))
            after = self.repaired(dual_repair, implied)
        if not (_rounded(system, dual_repair, after) if self.num is FLOAT else _holds_zero(self.num, dual_repair, after)):
            after.open.append("pivots: what is left of stationarity is more than rounding leaves")
        if why and after.open:
            after.open.append(f"pivots: {why}")
        after.perturbed = partial(self._perturbed, system, replace(correction, dual_repair=dual_repair), implied)
        return after

    def _perturbed(self, system: System, correction: _Correction, implied: Limits, perturb: Perturb) -> Backward:
        """The sweep of multipliers next to these, corrected at the same pivots by the same matrix: for floats, which move it little."""
        own = perturb({key: fixed.own for key, fixed in correction.dual_repair.fixed.items()})
        fixed = {key: replace(each, own=own[key]) for key, each in correction.dual_repair.fixed.items()}
        beside, dual_repair = copy(self), replace(correction.dual_repair, fixed=fixed)
        beside.candidates = perturb(self.candidates)
        found, pivots = beside.repaired(dual_repair, implied), correction.pivots
        if pivots is None or (delta := solve(self.num, correction.matrix, -_residual(self.num, system, found, pivots))) is None:
            return found
        found = beside.repaired(replace(dual_repair, fixed=_moved(self.num, dual_repair, pivots, delta)), implied)
        if found.missing and len(found.open) == len(found.missing):
            again = Pivoting(
                self.num, self.programme, self.plan, beside.candidates, joined(system.wanted, found.missing), self.power, self.ranges
            )
            found = again.swept(implied)
        return found


def _alike(one: Mapping[Key, Any], other: Mapping[Key, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(value, other[key]) for key, value in one.items())


@dataclass(frozen=True, eq=False)
class _Correction:
    """The multipliers that remove the residual, with their pivots and the matrix of these, if there are any; else `why` there are none."""

    dual_repair: DualRepair
    pivots: Pivots | None = None
    matrix: Any = None
    why: str = ""


def _residual(num: Arithmetic, system: System, swept: Backward, pivots: Pivots) -> Value:
    """What a sweep leaves of stationarity at the entries that pivots determine."""
    return num.concat([swept.residuals[key][chosen] for key, chosen in system.entries.items()])[pivots.solved_entries]


def _followers(num: Arithmetic, system: System, dual_repair: DualRepair, after: Backward) -> dict[Key, Mask]:
    """Entries whose residual is 0 because that of the stationary entries is."""
    idle = {key: np.asarray(is_zero(num, u)) for key, u in after.used.items()}
    stationary, missing = (
        np.concatenate([masks.get(key, np.zeros(len(system.wanted[key]), dtype=bool))[chosen] for key, chosen in system.entries.items()])
        for masks in (dual_repair.entries, after.missing)
    )
    found = Lineality(system.programme, system.entries, idle).following(stationary, np.flatnonzero(missing))
    return system.masks(found) if len(found) else {}


def _moved(num: Arithmetic, dual_repair: DualRepair, pivots: Pivots, delta: Value) -> dict[Key, Any]:
    """The fixed multipliers, with the pivots corrected by δ."""
    fixed, start = dict(dual_repair.fixed), 0
    for each, index in pivots.parts:
        place, moved = np.zeros(len(each.margin), dtype=np.intp), np.zeros(len(each.margin), dtype=bool)
        place[index], moved[index] = np.arange(start, start + len(index)), True
        own = num.lift(fixed[each.row_or_node.key].own)
        fixed[each.row_or_node.key] = replace(fixed[each.row_or_node.key], own=where(num, moved, own + delta[place], own))
        start += len(index)
    return fixed


def _rounded(system: System, dual_repair: DualRepair, after: Backward) -> bool:
    """Whether the residual in floats is small against the terms of which it is a sum, at the corrected multipliers.

    The uncorrected ones may be 1e58 times as large, as an exponential makes them, so that all else would count as rounding.
    """
    left = [
        np.where(dual_repair.entries[key], after.residuals[key], 0.0)[chosen] if key in dual_repair.entries else np.zeros(len(chosen))
        for key, chosen in system.entries.items()
    ]
    return bool(np.all(np.abs(np.concatenate(left)) <= ROUNDING * system.sizes(after.used)))


def _holds_zero(num: Arithmetic, dual_repair: DualRepair, after: Backward) -> bool:
    """Whether 0 is in the enclosure of the residual where a vector of the multipliers leaves 0: it is, unless the matrix is of others."""
    for key, entries in dual_repair.entries.items():
        left = after.residuals.get(key)
        if left is not None and not np.all(left == 0 if num is RATIONAL else np.abs(left.mid) <= left.rad, where=entries):
            return False
    return True


def _matrix(num: Arithmetic, system: System, dual_repair: DualRepair, pivots: Pivots) -> Any:
    """M: the change of the residuals by a unit step of each pivot."""
    if num is RATIONAL:
        return np.column_stack([_column(system, dual_repair, each, int(i)) for each, index in pivots.parts for i in index])
    return system.matrix(num, dual_repair, pivots)


def _column(system: System, dual_repair: DualRepair, each: Columns, i: int) -> Value:
    """A unit step of one multiplier, taken off the one that keeps the sum, pulled back to the leaves in fractions."""
    into: Residual = {}
    step = RATIONAL.lift(each.steps(np.array([i])).toarray()[0])
    matrix = None if isinstance(each.row_or_node, Row) else each.row_or_node.atom.image(RATIONAL)
    each.map.pull(RATIONAL, step if matrix is None else RATIONAL.matvec(matrix, step), into)
    for node in reversed(system.programme.nodes):
        step = into.pop(node.key, None)
        if step is None or node is each.row_or_node:
            continue
        if isinstance(node, Definition):
            node.row.map.pull(RATIONAL, -broadcast(RATIONAL, step, len(node.columns))[node.columns] / RATIONAL.lift(node.factors), into)
        elif node.key in dual_repair.fixed:
            fixed, n = dual_repair.fixed[node.key], len(dual_repair.fixed[node.key].unit)
            step = broadcast(RATIONAL, -step if isinstance(node, Term) and node.sign < 0 else step, groups(node.atom, n)[1])
            node.argument.pull(
                RATIONAL, where(RATIONAL, fixed.mask, fixed.value(RATIONAL, node.atom, step, RATIONAL.zeros(n)), RATIONAL.zeros(n)), into
            )
        into.pop(node.key, None)
    zeros = {key: RATIONAL.zeros(system.programme.leaves[key].size) for key in system.entries}
    return RATIONAL.concat(
        [broadcast(RATIONAL, into.get(key, zeros[key]), len(zeros[key]))[chosen] for key, chosen in system.entries.items()]
    )
