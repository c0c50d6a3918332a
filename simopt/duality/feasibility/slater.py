"""Slater points: all inequalities hold with slack there, so that a point that is moved towards one comes to satisfy them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints import PSD, Inequality

from simopt.arithmetic import FLOAT
from simopt.backends.diagonals import flattened
from simopt.core.arrays import Array
from simopt.core.threads import quiet
from simopt.duality.atoms.base import GroupNorm
from simopt.duality.evaluation.bounds import box, within
from simopt.duality.evaluation.equalities import drawn, is_affine, reach
from simopt.duality.evaluation.forward import forward
from simopt.duality.graph.affine import Key, Picks
from simopt.duality.graph.matrix_terms import symmetric_part, to_be_semidefinite
from simopt.duality.graph.programme import Leaf, Programme, Row
from simopt.duality.graph.vectors import Indices, is_zero
from simopt.duality.helping_solves import IterationBudget, helping_solver
from simopt.duality.units.measured import Measured
from simopt.duality.units.units import Sizes, equilibrated

LEAST = 1e-9  # the least slack, relative to the row, that a solver distinguishes from none
NEAR = 1e-6  # the least slack per unit of distance
ENTRY_SLACK = 1e-6  # the same for entries with their own slacks, of which solvers find nearly the centre


class SlaterCandidates:
    """Candidates for a Slater point, in floats; the caller proves what it needs of them.

    The last one that a solve found is kept. The same problem is judged many times, and all Slater points serve alike: moving x towards x̄
    costs θ(f(x̄) − f(x)), and for x̄ half as far θ doubles. Without `solves` 0 is the only one.
    """

    def __init__(self, programme: Programme, iterations: IterationBudget, solves: bool = True) -> None:
        self.programme, self.iterations, self.solves = programme, iterations, solves
        self.last: Inside | None = None

    def points(self, near: Mapping[Key, Array]) -> Iterator[Inside]:
        """0 moved into bounds and equalities; the point that was found last; those that solves find, at last beside 0 in place of x.

        Beside an x that is far from everything no solve may find one.
        """
        zero = within(FLOAT, self.programme, {key: np.zeros(leaf.size) for key, leaf in self.programme.leaves.items()})
        yield Inside(drawn(FLOAT, self.programme, zero), [])
        if self.last is not None:
            yield self.last
        for place in (near, zero) if self.solves else ():
            for found in slater_points(self.programme, place, self.iterations):
                self.last = found
                yield found
            if self.last is not None:
                return


@dataclass(frozen=True)
class Inside:
    """A point with slack in all inequalities, except in those that have none anywhere.

    Entries of affine rows without slack are equalities, and so are the arguments of norms that have to be 0 (`tight`). Entries of leaves
    without slack lie at the ends of their bounds (`ends`: indices and ends of each leaf), where other rows may hold without slack, too.
    """

    point: dict[Key, Array]
    tight: list[tuple[Row, Indices]]
    ends: dict[Key, tuple[Indices, Array]] = field(default_factory=dict)

    def at_ends(self, point: Mapping[Key, Array]) -> dict[Key, Array]:
        """The point with these entries put there."""
        moved = {key: x.copy() for key, x in point.items()}
        for key, (indices, ends) in self.ends.items():
            moved[key][indices] = ends
        return moved


@dataclass(frozen=True, eq=False)
class _SlackLimit:
    """e + σs ≤ 0, entry by entry: a row, a side of a leaf's bounds (`leaf`, its indices and ends), or a domain."""

    e: Any
    sizes: Array
    row: Row | None = None
    leaf: Leaf | None = None
    indices: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    ends: Array = field(default_factory=lambda: np.zeros(0))

    def with_slack(self, s: Any) -> Any:
        """e/σ + s where σ > 0, e elsewhere: an expression that must not be above 0."""
        slack = self.sizes > 0.0
        return cp.multiply(1.0 / np.where(slack, self.sizes, 1.0), self.e) + cp.multiply(slack.astype(float), s)


def slater_points(programme: Programme, near: Mapping[Key, Array], iterations: IterationBudget) -> Iterator[Inside]:
    """The point of the greatest slack s ≤ 1: g_i(x) + σ_i s ≤ 0 for every row and bound, h(x) = 0; none if s = 0.

    σ_i is the size of the row at the given point, beside it and at 0. Among such points a near one is preferred: a distance as large as the
    given point costs as much as a slack of NEAR. If there is no slack, or none that can be proven, each entry has its own slack s_i. The
    maximum of Σ √s_i has a positive s_i wherever that is possible; the other entries get σ_i = 0.
    """
    limits = [*_rows(programme, near), *_domains(programme)]
    for leaf in programme.leaves.values():
        limits += _bounds(programme, leaf, near[leaf.key])
    if not limits or not programme.leaves:
        return
    try:
        if (found := _largest(programme, limits, near, iterations)) is not None:
            yield found
        if (found := _largest(programme, _loosened(programme, limits, near, iterations), near, iterations)) is not None:
            yield found
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException:  # back ends raise any exception (a panic of Rust is no Exception): no Slater point is known
        return


def _largest(programme: Programme, limits: Sequence[_SlackLimit], near: Mapping[Key, Array], iterations: IterationBudget) -> Inside | None:
    s = cp.Variable()
    found = _solution(programme, near, s, [*(each.with_slack(s) for each in limits), s - 1], iterations)
    if found is None or s.value is None or not float(s.value) > LEAST:
        return None
    tight = [_equalities(programme, each.row, np.flatnonzero(each.sizes == 0.0)) for each in limits if each.row is not None]
    inside = Inside(found, [(row, entries) for row, entries in tight if len(entries)], _at_ends(limits))
    return replace(inside, point=inside.at_ends(found))


def _equalities(programme: Programme, row: Row, entries: Indices) -> tuple[Row, Indices]:
    """The entries of a row without slack, as entries that have to be 0: those of an affine row itself, for ‖z‖ ≤ 0 those of z."""
    if is_affine(programme, row):
        return row, entries
    pattern = row.map.pattern(row.map.below[0])
    term = next((term for term in programme.terms if term.key == row.map.below[0]), None)
    if len(row.map.below) > 1 or term is None or not (isinstance(pattern, Picks) and isinstance(term.atom, GroupNorm)):
        return row, entries[:0]
    nothing = is_zero(FLOAT, row.map.value(FLOAT, {term.key: np.zeros(term.size)}))
    groups = pattern.columns[entries[nothing[entries]]]
    return Row(-1 - row.key, row.name, term.argument, equality=True), np.flatnonzero(np.isin(term.atom.group, groups))


def _at_ends(limits: Sequence[_SlackLimit]) -> dict[Key, tuple[Indices, Array]]:
    found: dict[Key, tuple[Indices, Array]] = {}
    for each in limits:
        if each.leaf is not None and (at_end := each.sizes == 0.0).any():
            indices, ends = found.get(each.leaf.key, (each.indices[:0], each.ends[:0]))
            found[each.leaf.key] = np.append(indices, each.indices[at_end]), np.append(ends, each.ends[at_end])
    return found


def _loosened(
    programme: Programme, limits: Sequence[_SlackLimit], near: Mapping[Key, Array], iterations: IterationBudget
) -> list[_SlackLimit]:
    """The limits, with σ_i = 0 where no slack is possible."""
    slacks = [cp.Variable(len(each.sizes), bounds=[0, 1]) for each in limits]
    rows = [each.with_slack(s) for each, s in zip(limits, slacks, strict=True)]
    if _solution(programme, near, sum(cp.sum(cp.sqrt(s)) for s in slacks), rows, iterations) is None:
        return list(limits)
    return [
        replace(each, sizes=np.where(np.asarray(s.value) > ENTRY_SLACK, each.sizes, 0.0)) for each, s in zip(limits, slacks, strict=True)
    ]


def _solution(
    programme: Programme, near: Mapping[Key, Array], goal: Any, rows: Sequence[Any], iterations: IterationBudget
) -> dict[Key, Array] | None:
    """The greatest goal that a solve finds near a point, with rows ≤ 0. The variables, which are the user's, keep their values.

    It is solved in units in which the numbers are near 1: a back end ignores a slack of 1e-6 where values are 1e9.
    """
    leaves, sizes = list(programme.leaves.values()), equilibrated(programme)
    away = cp.max(cp.hstack([cp.norm_inf((_entries(leaf) - near[leaf.key]) / reach(near[leaf.key])) for leaf in leaves]))
    measured = Measured(programme, sizes)
    before = [leaf.variable.value for leaf in leaves]
    try:
        limits = [row.tree_copy(measured.instead) <= 0 for row in rows] + _exact_rows(programme, sizes, measured)
        nearest = cp.Maximize((goal - NEAR * away).tree_copy(measured.instead))
        solver, inside = helping_solver(programme), flattened(cp.Problem(nearest, limits))
        with quiet():  # the back end's own status is not needed
            inside.solve(**{"solver": solver, "warm_start": False, **iterations.interior_options(solver)})
        iterations.spend(inside)
        complete = all(measured.has_value(leaf) for leaf in leaves)
        return {leaf.key: measured.solved_value(leaf).reshape(-1, order="F") for leaf in leaves} if complete else None
    finally:
        for leaf, value in zip(leaves, before, strict=True):
            leaf.variable.save_value(value)


def _entries(leaf: Leaf) -> Any:
    return cp.vec(leaf.variable, order="F")


def _rows(programme: Programme, near: Mapping[Key, Array]) -> list[_SlackLimit]:
    broken = [row for row in programme.rows if not row.equality]
    zero = {key: np.zeros(leaf.size) for key, leaf in programme.leaves.items()}
    beside = {key: x + reach(x) * np.cos(np.arange(len(x))) for key, x in near.items()}
    at = [forward(FLOAT, programme, within(FLOAT, programme, point)).rows for point in (near, zero, beside)] if broken else []
    found = []
    for row in broken:
        if row.sides is not None:
            sizes = np.max([np.where(np.isfinite(rows[row.key]), np.abs(rows[row.key]), 0.0) for rows in at], axis=0)
            difference = cp.vec(row.sides[0] - row.sides[1], order="F")
            found.append(_SlackLimit(difference, np.where(sizes > 0.0, sizes, 1.0), row))
    return found


def _exact_rows(programme: Programme, sizes: Sizes, measured: Measured) -> list[Any]:
    found = []
    for row in (*(row for row in programme.rows if row.equality), *programme.defining):
        if row.sides is not None:
            left, right = (side.tree_copy(measured.instead) / sizes.maps.get(row.key, 1.0) for side in row.sides)
            found.append(left == right if row.equality else left <= right)
    return found


def _domains(programme: Programme) -> list[_SlackLimit]:
    """The domains of functions such as the logarithm, and of those of matrices."""
    sources = list({id(term.source): term.source for term in programme.terms}.values())  # also those in a partial optimum
    rows = [row for e in sources if not isinstance(e, PSD) for row in e.domain if isinstance(row, Inequality) and row.is_dcp()]
    matrices = [cp.lambda_max(-symmetric_part(z)) for term in programme.terms for z in to_be_semidefinite(term)]
    return [
        *(_SlackLimit(cp.vec(row.args[0] - row.args[1], order="F"), np.ones(row.size)) for row in rows),
        *(_SlackLimit(cp.vec(e, order="F"), np.ones(1)) for e in matrices),
    ]


def _bounds(programme: Programme, leaf: Leaf, x: Array) -> list[_SlackLimit]:
    """Both sides, with slack where the ends are apart."""
    ends, found = box(FLOAT, programme, leaf), []
    fixed = ends.below & ends.above & ~(ends.low < ends.high)
    for has, end, side in ((ends.below, ends.low, 1.0), (ends.above, ends.high, -1.0)):
        at = np.flatnonzero(has)
        if len(at):
            sizes = np.where(fixed, 0.0, np.maximum(np.abs(end), reach(x)))
            found.append(_SlackLimit(side * (end[at] - _entries(leaf)[at]), sizes[at], leaf=leaf, indices=at, ends=end[at]))
    return found
