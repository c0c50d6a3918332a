"""Multipliers of a solver made more nearly stationary, in floats. The results are candidates like all multipliers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from simopt.arithmetic import FLOAT
from simopt.arithmetic.linear import blocks, bundled
from simopt.arithmetic.sparse import scaled_rows
from simopt.core.arrays import Array
from simopt.duality.atoms.base import GroupNorm
from simopt.duality.atoms.concave_homogeneous import ConcaveHomogeneous
from simopt.duality.atoms.matrix_fraction import MatrixFraction
from simopt.duality.atoms.perspective import Perspective
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.evaluation.backward import Backward, backward
from simopt.duality.evaluation.closing_terms import ClosingTerm
from simopt.duality.evaluation.fixed_multipliers import groups
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Definition, Epigraph, Programme, Row, Term
from simopt.duality.graph.vectors import Mask
from simopt.duality.stationarity.columns import Columns, System

ROUNDS = 4
LEFT = 1e-13  # of the terms of a residual: a smaller one need not be repaired, and is below the margins
INSIDE = 1e-10  # relative: how far a multiplier is drawn inside a domain with a curved boundary, so that its entries have a margin
SNAP = 1e-6  # of the scale: a multiplier as near to an end is put there
FAR = 0.9  # of the margin: as far as one step may go

Candidates = dict[Key, Array]
Prepared = tuple[Candidates, dict[Key, Mask]]


def completed(
    programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], ranges: bool = True, by: float = 2 * INSIDE
) -> Prepared:
    """The multipliers that a sweep uses, without those of closing terms and their parents; and where a residual is missing."""
    candidates = matched(programme, plan, candidates, by)
    draft = backward(FLOAT, programme, plan, candidates)
    deferred = {each.term.key for each in plan} | {each.epigraph_parent.key for each in plan if each.epigraph_parent is not None}
    used = {key: draft.used[key] for key in draft.scales if key in draft.used and key not in deferred}
    return {**candidates, **used}, draft.missing


def matched(programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], by: float = 2 * INSIDE) -> Candidates:
    """Multipliers of constants in perspectives and matrix fractions, chosen for those of denominators, which stationarity determines.

    They are drawn inside by the fraction `by`.
    """
    marked = [term for term in programme.terms if _has_denominator(term) and term.constant.any() and term.key in candidates]
    scales, found = backward(FLOAT, programme, plan, candidates).scales if marked else {}, dict(candidates)
    for term in marked:
        if term.key not in scales:
            continue
        u, s = candidates[term.key], scales[term.key]
        if isinstance(term.atom, Perspective):
            found[term.key] = term.atom.matched(u, s, term.constant, by)
        elif isinstance(term.atom, MatrixFraction) and not term.constant.all() and term.constant[0]:
            values = {each.key: np.zeros(each.size) for each in (*programme.leaves.values(), *programme.nodes)}
            found[term.key] = term.atom.matched(u, s, term.argument.value(FLOAT, values), by)
    return found


def _has_denominator(term: Term) -> bool:
    return isinstance(term.atom, (Perspective, MatrixFraction))


def repaired(
    programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], ranges: bool = True, by_margins: bool = False
) -> Prepared:
    """The multipliers moved by the least step, in units of their margins, that removes the residual.

    On a curved boundary they are projected in alternation: drawn inside, then moved to a residual of 0, and again. There the unit of an
    entry is its size; `by_margins` it is the margin where that is larger.
    """
    multipliers, wanted = completed(programme, plan, candidates)
    for _ in range(ROUNDS):
        multipliers = matched(programme, plan, multipliers)
        multipliers |= {
            term.key: term.atom.inward(multipliers[term.key], INSIDE)
            for term in programme.terms
            if _curved(term) and term.key in multipliers
        }
        system = System(programme, plan, backward(FLOAT, programme, plan, multipliers), wanted, ranges)
        moved = _stepped(system, multipliers, by_margins)
        if moved is None:
            break
        multipliers, fresh = completed(programme, plan, moved)
        wanted = joined(system.wanted, fresh)
    return multipliers, wanted


def widened(programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], ranges: bool = True) -> Prepared:
    """Repaired by margins, for problems where an entry of a norm's multiplier has to move that is 0."""
    return repaired(programme, plan, candidates, ranges, by_margins=True)


def stationary_inside(programme: Programme, candidates: Mapping[Key, Array], wanted: Mapping[Key, Mask]) -> Candidates | None:
    """The multipliers moved by the least step that removes the residual at the wanted entries, also those of closing terms; or None.

    At an entry of the point inside of its bounds the residual costs the bound its size times a distance, and the step its square. Where a
    domain is curved such a step leads out of it, and out of a cone of matrices, on whose boundary multipliers lie.
    """
    if any(_curved(term) or isinstance(term.atom, SemidefiniteCone) for term in programme.terms):
        return None
    system = System(programme, (), backward(FLOAT, programme, (), candidates), wanted)
    return _stepped(system, dict(candidates), by_margins=False)


def snapped(programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], ranges: bool = True) -> Prepared:
    """Repaired after multipliers near an end of their domain have been put there."""
    used, put = backward(FLOAT, programme, plan, candidates), dict(candidates)
    least = SNAP * _largest(used, candidates)
    for row in programme.rows:
        if not row.equality and row.key in candidates:
            put[row.key] = np.where(candidates[row.key] <= least, 0.0, candidates[row.key])
    for node in programme.nodes:
        if not isinstance(node, Definition) and node.atom.total is not None and node.key in used.used:
            u = used.used[node.key]
            s = used.scales[node.key][groups(node.atom, len(u))[0]]
            put[node.key] = np.where(u <= SNAP * s, 0.0, np.where(u >= (1.0 - SNAP) * s, s, u))
    return repaired(programme, plan, put, ranges)


def centred(programme: Programme, plan: Sequence[ClosingTerm], candidates: Mapping[Key, Array], ranges: bool = True) -> Prepared:
    """Repaired after all multipliers have been drawn inside, for problems where those that have to move are at ends of their domains."""
    used, put = backward(FLOAT, programme, plan, candidates), dict(candidates)
    least = INSIDE * _largest(used, candidates)
    put |= {row.key: np.maximum(candidates[row.key], least) for row in programme.rows if not row.equality and row.key in candidates}
    for node in programme.nodes:
        if not isinstance(node, Definition) and node.key in used.used and node.key in candidates:
            u, (group, count) = used.used[node.key], groups(node.atom, node.argument.size)
            mean = np.bincount(group, weights=u, minlength=count) / np.bincount(group, minlength=count)
            put[node.key] = node.atom.inward(u, INSIDE) if node.atom.total is None else u + INSIDE * (mean[group] - u)
    return repaired(programme, plan, put, ranges)


def _largest(used: Backward, candidates: Mapping[Key, Array]) -> float:
    return max((float(np.max(np.abs(u), initial=0.0)) for u in (*used.used.values(), *candidates.values())), default=0.0)


def joined(one: Mapping[Key, Mask], other: Mapping[Key, Mask]) -> dict[Key, Mask]:
    """Entries that are in one of both."""
    return {key: np.asarray(one.get(key, False) | np.asarray(other.get(key, False))) for key in (*one, *other)}


def _stepped(system: System, multipliers: Candidates, by_margins: bool) -> Candidates | None:
    """The multipliers moved by W²M'(MW²M')⁺(−r), W the margins, no farther than allowed; None if that is not needed or not possible."""
    if not system.columns or not system.width:
        return None
    before = backward(FLOAT, system.programme, system.plan, multipliers, dual_repair=system.dual_repair([]))
    if not before.residuals.keys() >= system.entries.keys():
        return None
    residual = np.concatenate([before.residuals[key][chosen] for key, chosen in system.entries.items()])
    margin = np.concatenate(
        [_reach(system, each, margin, by_margins) for each, margin in zip(system.columns, system.split(system.margins()), strict=True)]
    )
    matrix = scaled_rows(sp.vstack([each.rows for each in system.columns], format="csr"), margin)
    gram = sp.csr_array(matrix.T @ matrix)
    known = np.isfinite(gram.data).all() and np.isfinite(residual).all()
    if not (known and np.any(np.abs(residual) > LEFT * system.sizes(system.draft.used))):
        return None
    dual = _of_least_size(gram, -residual)
    steps, moved = np.clip(margin * (matrix @ dual), -FAR * margin, FAR * margin), dict(multipliers)
    if not steps.any():
        return None
    for each, step in zip(system.columns, system.split(steps), strict=True):
        own = each.balanced(step)
        if own.any():
            moved[each.row_or_node.key] = system.draft.used[each.row_or_node.key] + own
    return moved


def _of_least_size(gram: Any, right: Array) -> Array:
    """G⁺b for a Gram matrix whose diagonal is scaled to 1, block by block; 0 in a block whose scaled numbers are beyond the floats."""
    size, found = np.sqrt(np.maximum(gram.diagonal(), np.finfo(float).tiny)), np.zeros(len(right))
    for rows, _ in bundled(blocks(gram)):
        scaled = gram[rows][:, rows].toarray() / size[rows] / size[rows, None]
        part = right[rows] / size[rows]
        if np.isfinite(scaled).all() and np.isfinite(part).all():
            found[rows] = la.lstsq(scaled, part, cond=1e-12, lapack_driver="gelsy")[0] / size[rows]
    return found


def _reach(system: System, each: Columns, margin: Array, by_margins: bool) -> Array:
    """How far a step may go. Near a curved boundary it is farther than the margin of a single entry, as the next round draws it inside."""
    if not _curved(each.row_or_node):
        return margin
    size = np.abs(system.draft.used[each.row_or_node.key])
    return np.maximum(margin, size) if by_margins else size


def _curved(row_or_node: Row | Term | Epigraph) -> bool:
    return isinstance(row_or_node, Term) and isinstance(row_or_node.atom, (GroupNorm, ConcaveHomogeneous, Perspective))
