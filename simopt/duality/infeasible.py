"""That no point is feasible, proven: every point violates a row by more than a number that is above 0.

The least violation is the optimum of min t subject to g_i(x) ≤ t and |h_i(x)| ≤ t, over leaves within their bounds. Multipliers of this
problem, whoever suggested them, give a lower bound by the sweep that gives every other; where it is proven to be above 0 they are what
Farkas' lemma calls for. Bounds of leaves that leave no number are no point's either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.arrays import Multipliers
from simopt.duality.bounds import box
from simopt.duality.declared import Declared
from simopt.duality.graph_form import solved
from simopt.duality.programme import Definition, Epigraph, Programme
from simopt.duality.vectors import above
from simopt.errors import InvalidProblem, NotAvailable, Unreadable


@dataclass(frozen=True)
class Infeasible:
    """Every point violates a row, or a bound, by at least `violation` > 0.

    Attributes
    ----------
    violation : float
        in the units of the rows as they were declared.
    reason : str
        the leaf whose bounds leave no number; "rows" where the multipliers prove it.
    relaxed : Declared or None
        the problem of the least violation, of which `multipliers` are.
    """

    violation: float
    reason: str
    arithmetic: str
    relaxed: Declared | None = None
    multipliers: Multipliers | None = None


def infeasible(declared: Declared, num: Arithmetic = INTERVAL) -> Infeasible | None:
    """A proof that no point is feasible, from one solve; None where there is none, which does not say that a point is.

    Raises
    ------
    InvalidProblem
        for FLOAT: a bound of 1e-17 in floats may be one of 0.
    NotRational
        where fractions do not suffice.
    """
    if num is FLOAT:
        raise InvalidProblem("arithmetic: floats prove no bound to be above 0; use INTERVAL or RATIONAL")
    programme = declared.programme
    for leaf in programme.leaves.values():
        ends = box(num, programme, leaf)
        crossed = ends.below & ends.above & above(num, ends.low, ends.high)
        if crossed.any():
            i = int(np.argmax(crossed))
            return Infeasible(num.lower(ends.low[i] - ends.high[i]), f"the bounds of {leaf.name} at entry {i}", num.name)
    rows = _relaxed(programme)
    if rows is None:
        return None
    try:
        relaxed = Declared.of(rows)
        _, multipliers = solved(relaxed)
    except (NotAvailable, Unreadable):
        return None
    violation = num.lower(relaxed.dual_bound(multipliers, num))
    return Infeasible(violation, "rows", num.name, relaxed, multipliers) if 0.0 < violation < math.inf else None


def _relaxed(programme: Programme) -> cp.Problem | None:
    """min t, with t added to the right of each row; what defines a variable, and bounds, as they are."""
    t, rows = cp.Variable(name="violation"), []
    for row in programme.rows:
        if row.sides is not None:
            left, right = row.sides
            rows += [left - right <= t] + ([right - left <= t] if row.equality else [])
    kept = [bound.row for bounds in programme.bounds.values() for bound in bounds]
    for node in programme.nodes:
        kept += [node.row] if isinstance(node, Definition) else node.rows if isinstance(node, Epigraph) else []
    exact = [row.sides[0] == row.sides[1] if row.equality else row.sides[0] <= row.sides[1] for row in kept if row.sides is not None]
    return cp.Problem(cp.Minimize(t), [*rows, *exact]) if rows else None
