"""Multipliers for a point that a solver found: at a kink of a function the slope is the one that stationarity asks for.

Smooth functions have one slope at the point, and it stays. The multipliers of rows are known to the solver's tolerance. A function with a
kink near the point has many slopes. Hence the multipliers of rows and kinks take up the residual of stationarity. They move by the least
step in units of their margins, in floats. Entries of the point at a bound are left out, as the bound takes their residual.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import FLOAT
from simopt.arithmetic.sparse import scaled_columns
from simopt.core.arrays import Array
from simopt.duality.evaluation.backward import backward
from simopt.duality.evaluation.bounds import box
from simopt.duality.evaluation.gradients import gradients
from simopt.duality.evaluation.least_step import gram_solver
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Programme, Row
from simopt.duality.graph.vectors import Mask
from simopt.duality.stationarity.columns import Columns, System, finite

ROUNDS = 2  # with new gradients: terms in rows follow the multipliers of these
STEPS = 30  # in a round
FAR = 0.9  # of the margin: as far as one step may go
AT_END = 1e-6  # of the largest entry: as near to a bound an entry counts as at it
LEFT = 1e-14  # of the terms of a residual: a smaller one needs no step
NEAR = 1e-6  # of these terms: a smaller residual is that of the point's own accuracy
FALLS = 0.5  # factor by which each step has to lower the residual


def polished(programme: Programme, point: Mapping[Key, Array], multipliers: Mapping[Key, Array]) -> dict[Key, Array] | None:
    """The multipliers, moved to a residual near 0 at the point's entries inside of their bounds; None where it stays."""
    inside = inside_of_bounds(programme, point)
    found = dict(multipliers)
    for _ in range(ROUNDS):
        draft = backward(FLOAT, programme, (), found)
        system = System(programme, (), draft, inside)
        if not draft.residuals.keys() >= system.entries.keys() or not _stepped(system):
            return None
        found |= {each.row_or_node.key: draft.used[each.row_or_node.key] for each in system.columns}
        of_leaves = gradients(programme, system.entries).of_leaves
        if all(of_leaves.issuperset(each.map.below) for each in system.columns):  # their gradients do not change
            break
    return found


def _stepped(system: System) -> bool:
    """Steps from the multipliers that the system's draft uses, which are changed; whether the residual is near 0 then."""
    used, columns = system.draft.used, [each for each in system.columns if _moves(each)]
    if not columns:
        return False
    residual = np.concatenate([system.draft.residuals[key][chosen] for key, chosen in system.entries.items()])
    enough = LEFT * np.asarray(system.sizes(used))
    ends = np.cumsum([len(each.margin) for each in columns])[:-1]
    whole = np.concatenate([each.margin for each in columns])
    live = np.flatnonzero(whole > 0.0)
    jacobian = sp.vstack([each.rows for each in columns], format="csr")[live].T.tocsr()
    last = np.inf
    for _ in range(STEPS):
        size = float(np.max(np.abs(residual), initial=0.0))
        if not size <= FALLS * last or not np.any(np.abs(residual) > enough):
            break
        last = size
        margin = finite(np.concatenate([system.margin(each.row_or_node, each.rest) for each in columns])[live])
        step = np.clip(_least_step(jacobian, margin, -residual), -FAR * margin, FAR * margin)
        residual = residual + jacobian @ step
        all_steps = np.zeros(len(whole))
        all_steps[live] = step
        for each, own in zip(columns, np.split(all_steps, ends), strict=True):
            used[each.row_or_node.key] = used[each.row_or_node.key] + each.balanced(own)
    return bool(np.all(np.abs(residual) <= NEAR / LEFT * enough))


def _least_step(jacobian: Any, margin: Array, right: Array) -> Array:
    """W²Jᵀ(JW²Jᵀ + δ)⁻¹r, W the margins and δ a little of the diagonal: nearly the least step, as the next one looks again."""
    scaled = scaled_columns(jacobian, margin)
    solver = gram_solver(scaled)
    if solver is None:
        return np.zeros(len(margin))
    found = margin * (scaled.T @ solver(right))
    return found if np.isfinite(found).all() else np.zeros(len(margin))


def inside_of_bounds(programme: Programme, point: Mapping[Key, Array]) -> dict[Key, Mask]:
    """Entries that are at no bound."""
    return {key: _inside(programme, key, x) for key, x in point.items()}


def _inside(programme: Programme, key: Key, x: Array) -> Mask:
    ends, little = box(FLOAT, programme, programme.leaves[key]), AT_END * float(np.max(np.abs(x), initial=0.0))
    return np.asarray(~((ends.below & (x - ends.low <= little)) | (ends.above & (ends.high - x <= little))))


def _moves(each: Columns) -> bool:
    return isinstance(each.row_or_node, Row) or each.row_or_node.atom.has_kinks
