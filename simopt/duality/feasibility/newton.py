"""A step from a point that violates rows by little to where they hold with a little slack: Newton's, in floats.

Rows are linearised at x by the slopes of the terms in them. The step d is the least one, in units of the entries, with g_i + ∇g_i d = −ε_i
for the chosen entries and h + ∇h d = 0 for all equations. ε_i is above the rounding of a row. Convex rows lie above their linearisation,
by the square of the step; the caller looks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array
from simopt.duality.evaluation.bounds import within
from simopt.duality.evaluation.fixed_multipliers import groups
from simopt.duality.evaluation.forward import forward
from simopt.duality.evaluation.gradients import gradients
from simopt.duality.evaluation.least_step import least_step
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Epigraph, Programme, Term
from simopt.duality.graph.vectors import Indices

SLACK = 1e-13  # of the sizes of a row's terms: what is aimed at
SMALL = 1e-3  # of the largest entry: the least unit of an entry


def step_inside(programme: Programme, x: Mapping[Key, Array], chosen: Mapping[Key, Indices]) -> dict[Key, Array] | None:
    """x and the step, within the bounds of the leaves; None where a term has no slope there, or nothing can move."""
    here = forward(FLOAT, programme, x)
    if not here.has_slopes:
        return None

    def follow(node: Term | Epigraph, rows: Any) -> Any:
        z = here.arguments[node.key]
        group, count = groups(node.atom, len(z))
        slope = np.asarray(node.atom.slope(z, np.ones(count)), dtype=float)
        sign = node.sign if isinstance(node, Term) else 1
        sums = sp.csr_array((sign * slope, (group, np.arange(len(z)))), shape=(count, len(z))) @ rows
        outputs = node.size if isinstance(node, Term) else count
        return sums if count == outputs else sp.csr_array(np.ones((outputs, count))) @ sums

    leaves = programme.leaves
    at = gradients(programme, {key: np.arange(leaf.size) for key, leaf in leaves.items()}, follow)
    parts, right = [], []
    for row in programme.rows:
        entries = np.arange(row.map.size) if row.equality else chosen[row.key]
        if len(entries):
            own, value = at.rows(row.map).tocsr()[entries], here.rows[row.key][entries]
            sizes = abs(own) @ np.abs(_flat(leaves, x)) + np.abs(value)
            parts.append(own)
            right.append(-value - (0.0 if row.equality else SLACK) * sizes)
    if not parts:
        return None
    jacobian, goal, point = sp.vstack(parts, format="csr"), np.concatenate(right), _flat(leaves, x)
    if not all(np.isfinite(part).all() for part in (jacobian.data, goal, point)):
        return None
    units = np.abs(point) + SMALL * (float(np.max(np.abs(point), initial=0.0)) or 1.0)
    step = least_step(jacobian, units, goal, np.zeros(len(goal)))
    if not step.any():
        return None
    ends = np.cumsum([0, *(leaf.size for leaf in leaves.values())])
    return within(FLOAT, programme, {key: x[key] + step[a:b] for key, a, b in zip(leaves, ends, ends[1:], strict=False)})


def _flat(leaves: Mapping[Key, Any], x: Mapping[Key, Array]) -> Array:
    return np.concatenate([np.zeros(0), *(x[key] for key in leaves)])
