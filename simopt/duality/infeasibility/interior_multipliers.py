"""Multipliers far inside of their domains, whose bound is below the best one by at most half of its size.

At the optimum of the dual programme multipliers and slopes lie at the ends of their domains, and exact stationarity may need them beyond.
Here the least margin to such an end is maximised, while the bound loses at most half of its size. All multipliers can then follow the
corrections. A small part of them is enough to give others a margin: (1 − θ)u + θū has θ times that of ū, and loses θ times as much.
"""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.backends.diagonals import flattened
from simopt.core.arrays import Multipliers
from simopt.core.errors import Unreadable
from simopt.core.threads import quiet
from simopt.duality.dual_programme import dual
from simopt.duality.helping_solves import IterationBudget

FRACTION = 0.5  # of the best bound, which may be lost
LEAST = 1e-9  # margin that a solver distinguishes from none
LARGEST = 20_000  # multipliers of a dual programme that is solved


def interior_multipliers(
    problem: cp.Problem, above: float = -math.inf, solver: str = cp.CLARABEL, iterations: IterationBudget | None = None
) -> Multipliers | None:
    """The multipliers by names of rows and terms; None if the dual has no bound above this, or no interior, or is too large."""
    try:
        mirrored = dual(problem)
    except Unreadable:
        return None
    if sum(v.size for v in mirrored.variables()) > LARGEST:
        return None
    sign, margin = (1.0 if isinstance(mirrored.objective, cp.Maximize) else -1.0), cp.Variable()
    bound, best = sign * mirrored.objective.expr, _optimum(mirrored, solver, iterations)
    if best is None or not sign * best > above:
        return None
    enough = bound >= sign * best - FRACTION * abs(best)
    rows = [_inside(each, margin) for each in mirrored.constraints]
    rows += [v >= margin for v in mirrored.variables() if v.is_nonneg()]
    rows += [v - margin * np.eye(v.shape[0]) >> 0 for v in mirrored.variables() if v.attributes["PSD"]]
    widest = _optimum(cp.Problem(cp.Maximize(margin), [*rows, margin <= 1, enough]), solver, iterations)
    if widest is None or not widest > LEAST:
        return None
    return {v.name(): np.asarray(v.value, dtype=float) for v in mirrored.variables()}


def _optimum(problem: cp.Problem, solver: str, iterations: IterationBudget | None) -> float | None:
    problem = flattened(problem)
    with quiet():  # the back end's own status is not needed: the sweep decides
        try:
            problem.solve(solver=solver, **({} if iterations is None else iterations.interior_options(solver)))
        except KeyboardInterrupt:
            raise
        except BaseException:  # back ends raise whatever they like (a panic of Rust is no Exception)
            return None
    if iterations is not None:
        iterations.spend(problem)
    return None if any(v.value is None for v in problem.variables()) else float(np.asarray(problem.objective.value))


def _inside(row: Any, margin: Any) -> Any:
    """The row with this margin; an equality as it is."""
    kind, args = type(row), row.args
    if kind is cp.constraints.Inequality:
        return args[0] + margin * _touched(args[1]) <= args[1]
    if kind in (cp.SOC, cp.PowCone3D):
        return row.copy([args[0] - margin, *args[1:]])
    if kind is cp.constraints.PSD:
        return args[0] - margin * np.eye(args[0].shape[0]) >> 0
    return row.copy([*args[:2], args[2] - margin]) if kind is cp.ExpCone else row


def _touched(e: Any) -> Any:
    """1 where the expression is not constantly 0 by its factor."""
    masked = isinstance(e, cp.multiply) and e.args[0].is_constant()
    return np.asarray(e.args[0].value != 0.0, dtype=float) if masked else 1.0
