"""Multipliers far inside of their domains, with half the best bound: what a proof needs for which the best bound is too much.

At the optimum of the dual programme multipliers lie at ends of their domains, and what stationarity asks of them, exactly, may be beyond.
Here the least room to such an end is made as large as it can be where the bound is at least half of the best: whatever rounding then asks
for, all multipliers can follow. An interior-point method would pass near there, but says nothing of it.
"""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints import Inequality

from simopt.arrays import Array, Multipliers
from simopt.duality.dual_programme import dual_programme
from simopt.duality.programme import Epigraph, Programme
from simopt.errors import Unreadable

SHARE = 0.5  # of the best bound


def interior_multipliers(programme: Programme) -> Multipliers | None:
    """By the names of `Declared.names`; None where the dual programme is not known, has no bound above 0, or no inside."""
    try:
        dual = dual_programme(programme.problem)
    except Unreadable:
        return None
    bound, room = dual.objective.args[0], cp.Variable()
    best = _optimum(dual)
    if best is None or not best > 0.0:
        return None
    rows = [row for each in dual.constraints for row in _inside(each, room)]
    rows += [v >= room for v in dual.variables() if v.is_nonneg()]
    widest = _optimum(cp.Problem(cp.Maximize(room), [*rows, room <= 1, bound >= SHARE * best]))
    if widest is None or not widest > 0.0:
        return None
    return _named(programme, {v.name(): np.asarray(v.value, dtype=float) for v in dual.variables()})


def _optimum(problem: cp.Problem) -> float | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the back end says of its answer is not asked: the sweep is
        try:
            problem.solve(solver=cp.CLARABEL)
        except (cp.SolverError, ValueError, ArithmeticError):
            return None
    return None if any(v.value is None for v in problem.variables()) else float(problem.objective.value)


def _inside(row: Any, room: Any) -> list[Any]:
    """The row with so much room to spare; an equality as it is."""
    if isinstance(row, Inequality):
        low, high = row.args
        return [low + room * _touched(high) <= high]
    if isinstance(row, (cp.SOC, cp.PowCone3D)):
        return [row.copy([row.args[0] - room, *row.args[1:]])]
    return [cp.ExpCone(*row.args[:2], row.args[2] - room)] if isinstance(row, cp.ExpCone) else [row]


def _touched(e: Any) -> Any:
    """1 where the expression is not a constant 0 by its factor."""
    masked = isinstance(e, cp.multiply) and e.args[0].is_constant()
    return np.asarray(e.args[0].value != 0.0, dtype=float) if masked else 1.0


def _named(programme: Programme, values: dict[str, Array]) -> Multipliers:
    """An epigraph's are those of its rows."""
    found = dict(values)
    for node in programme.nodes:
        if isinstance(node, Epigraph) and node.name in values:
            parts = np.split(found.pop(node.name), np.cumsum([row.map.size for row in node.rows])[:-1])
            found |= {row.name: part for row, part in zip(node.rows, parts, strict=True)}
    known = {row.name for row in programme.rows} | {node.name for node in programme.nodes if not isinstance(node, Epigraph)}
    known |= {row.name for node in programme.nodes if isinstance(node, Epigraph) for row in node.rows}
    return {name: value for name, value in found.items() if name in known}
