"""Multipliers far inside of their domains, with half the best bound, for proofs that fail at the best bound.

At the optimum of the dual programme multipliers lie at ends of their domains, and exact stationarity may need them beyond. Here the least
margin to such an end is maximised, subject to at least half of the best bound. All multipliers can then follow the corrections.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from simopt.backends.diagonals import flattened
from simopt.core.arrays import Multipliers
from simopt.core.errors import Unreadable
from simopt.core.threads import quiet
from simopt.duality.dual_programme import dual

FRACTION = 0.5  # of the best bound


def interior_multipliers(problem: cp.Problem) -> Multipliers | None:
    """The multipliers of a minimisation problem by names of its rows and terms; None if its dual has no bound above 0, or no interior."""
    try:
        mirrored = dual(problem)
    except Unreadable:
        return None
    bound, margin = mirrored.objective.expr, cp.Variable()
    best = _optimum(mirrored)
    if best is None or not best > 0.0:
        return None
    rows = [_inside(each, margin) for each in mirrored.constraints]
    rows += [v >= margin for v in mirrored.variables() if v.is_nonneg()]
    widest = _optimum(cp.Problem(cp.Maximize(margin), [*rows, margin <= 1, bound >= FRACTION * best]))
    if widest is None or not widest > 0.0:
        return None
    return {v.name(): np.asarray(v.value, dtype=float) for v in mirrored.variables()}


def _optimum(problem: cp.Problem) -> float | None:
    problem = flattened(problem)
    with quiet():  # the back end's own status is not needed: the sweep decides
        try:
            problem.solve(solver=cp.CLARABEL)
        except KeyboardInterrupt:
            raise
        except BaseException:  # back ends raise whatever they like (a panic of Rust is no Exception)
            return None
    return None if any(v.value is None for v in problem.variables()) else float(np.asarray(problem.objective.value))


def _inside(row: Any, margin: Any) -> Any:
    """The row with this margin; an equality as it is."""
    kind, args = type(row), row.args
    if kind is cp.constraints.Inequality:
        return args[0] + margin * _touched(args[1]) <= args[1]
    if kind in (cp.SOC, cp.PowCone3D):
        return row.copy([args[0] - margin, *args[1:]])
    return row.copy([*args[:2], args[2] - margin]) if kind is cp.ExpCone else row


def _touched(e: Any) -> Any:
    """1 where the expression is not constantly 0 by its factor."""
    masked = isinstance(e, cp.multiply) and e.args[0].is_constant()
    return np.asarray(e.args[0].value != 0.0, dtype=float) if masked else 1.0
