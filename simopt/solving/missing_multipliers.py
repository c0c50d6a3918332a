"""Multipliers that a solution lacks, since no bound needs them: stationarity gives them, for the dual values of a `cvxpy.Problem`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array, Multipliers
from simopt.core.errors import InvalidProblem
from simopt.duality.declared import Declared
from simopt.duality.graph.affine import Key, Residual
from simopt.duality.graph.programme import VariableBound

INWARD = 1e-9  # relatively: less than a dual value is accurate to


def missing_multipliers(declared: Declared, multipliers: Multipliers) -> Multipliers:
    """Multipliers of rows that are missing, or 0 all over.

    The sweep computes those that close a residual; what is left in a variable belongs to its only bound on that side. Multipliers of terms
    are drawn in by INWARD, since the sweep draws those much farther in that rounding puts beyond the end of their domain.
    """
    lacking = {row.name for row in declared.programme.every_row if not np.any(multipliers.get(row.name, 0.0))}
    if not lacking:
        return {}
    try:
        with np.errstate(all="ignore"):
            swept = declared.backward({name: np.asarray(u) * (1.0 - INWARD) for name, u in multipliers.items()}, FLOAT)
    except InvalidProblem:
        return {}
    rows = {name: key for name, (row, key, _) in declared.names.items() if row is not None}
    found = {name: np.asarray(swept.used[key], dtype=float) for name, key in rows.items() if key in swept.used}
    for key, bounds in declared.programme.bounds.items():
        if key in swept.residuals:
            found |= _of_bounds(key, bounds, np.asarray(swept.residuals[key], dtype=float))
    return {name: u for name, u in found.items() if name in lacking and np.all(np.isfinite(u))}


def _of_bounds(key: Key, bounds: Sequence[VariableBound], left: Array) -> Multipliers:
    """What the residual of a variable leaves to its bounds cx + g ≤ 0, on each side and in each entry to the tightest one."""
    found: Multipliers = {}
    tightest: dict[tuple[int, bool], tuple[float, str, int, float]] = {}
    for bound in bounds:
        into: Residual = {}
        bound.row.map.pull(FLOAT, np.ones(bound.row.map.size), into)
        c = np.broadcast_to(np.asarray(into.get(key, 0.0), dtype=float), left.shape)[bound.columns] * (bound.columns >= 0)
        g = np.asarray(bound.row.map.value(FLOAT, {key: np.zeros(left.size)}), dtype=float)
        found[bound.row.name] = np.zeros(bound.row.map.size)
        for i in map(int, np.flatnonzero(c)):
            side, distance = (int(bound.columns[i]), bool(c[i] > 0.0)), float(-g[i] / abs(c[i]))
            if side not in tightest or distance < tightest[side][0]:
                tightest[side] = distance, bound.row.name, i, float(c[i])
    for (column, _), (_, name, entry, factor) in tightest.items():
        found[name][entry] = max(-left[column] / factor, 0.0)
    return found
