"""Proofs of infeasibility: every point violates a row by more than a number that is above 0.

The least violation is the optimum of min t subject to g_i(x) ≤ t and |h_i(x)| ≤ t, over leaves within their bounds. Multipliers of this
problem, whoever suggested them, give a lower bound by the usual backward sweep. If it is proven to be above 0, they are the multipliers of
Farkas' lemma. Empty bounds of a leaf are a proof, too. A point has to lie in the closed domains of all functions: −z ≤ t for √z and log z.

The bound need not be the best. If multipliers at ends of their domains leave a residual of stationarity, multipliers far from any end may
not (`interior_multipliers`), nor multipliers that are rounded to few digits. Fractions decide cases that intervals do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints import Equality, Inequality

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, NotRational
from simopt.core.arrays import Multipliers
from simopt.core.errors import InvalidProblem, NotAvailable, Unreadable
from simopt.duality.declared import Declared
from simopt.duality.evaluation.bounds import box
from simopt.duality.graph.matrix_terms import symmetric_part, to_be_semidefinite
from simopt.duality.graph.programme import Programme
from simopt.duality.graph.vectors import above
from simopt.duality.graph_form import solved
from simopt.duality.infeasibility.interior_multipliers import interior_multipliers
from simopt.duality.units.measured import Measured
from simopt.duality.units.units import RAW

LARGEST = 60  # entries of leaves up to which fractions are tried where intervals do not suffice
GRID = 2.0**-12  # multipliers are rounded to its multiples, so that cancellations are exact


@dataclass(frozen=True)
class Infeasible:
    """Every point violates a row, or a bound, by at least `violation` > 0.

    Attributes
    ----------
    violation : float
        in the units of the rows as they were declared.
    reason : str
        the leaf whose bounds are empty; "a row" where the multipliers prove it.
    relaxed : Declared or None
        the problem of the least violation, to which the `multipliers` belong.
    """

    violation: float
    reason: str
    arithmetic: str
    relaxed: Declared | None = None
    multipliers: Multipliers | None = None


def infeasible(declared: Declared, num: Arithmetic = INTERVAL) -> Infeasible | None:
    """A proof that no point is feasible, from a few solves; None if none is found, which does not prove that a point is feasible.

    If intervals do not prove it of a small problem, fractions are tried, and `arithmetic` names them.

    Raises
    ------
    InvalidProblem
        for FLOAT: a bound of 1e-17 in floats may be one of 0.
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
    proofs = (_proof(rows, num) for rows in (_relaxed(programme), _domains(programme.problem)) if rows is not None)
    return next((proof for proof in proofs if proof is not None), None)


def _proof(rows: cp.Problem, num: Arithmetic) -> Infeasible | None:
    """The proof by a problem of the least violation, from the first multipliers whose bound the sweep proves to be above 0."""
    try:
        relaxed = Declared.of(rows)
    except (Unreadable, InvalidProblem):
        return None
    size = sum(leaf.size for leaf in relaxed.programme.leaves.values())
    for multipliers in _candidates(relaxed):
        for arithmetic in (INTERVAL, RATIONAL) if num is INTERVAL and size <= LARGEST else (num,):
            with suppress(NotRational):
                violation = arithmetic.lower(relaxed.dual_bound(multipliers, arithmetic))
                if 0.0 < violation < math.inf:
                    return Infeasible(violation, "a row", arithmetic.name, relaxed, multipliers)
    return None


def _candidates(relaxed: Declared) -> Iterator[Multipliers]:
    """The multipliers of the greatest bound, and those far from the ends of their domains; each also rounded."""
    with suppress(NotAvailable):
        yield from _rounded(solved(relaxed)[1])
    inner = interior_multipliers(relaxed.declare(), above=0.0)
    if inner is not None:
        yield from _rounded({name: y for name, y in inner.items() if name in relaxed.names})


def _rounded(multipliers: Multipliers) -> Iterator[Multipliers]:
    yield multipliers
    yield {name: np.rint(np.asarray(y) / GRID) * GRID for name, y in multipliers.items()}


def _relaxed(programme: Programme) -> cp.Problem | None:
    """min t, with t added to the right of each row, and tI to each Z ⪰ 0; rows that define a variable, and bounds, as they are.

    Where a variable that rows define as an epigraph has bounds of its own, these are what stays exact, and t is added to its rows.
    """
    t, exact_rows = cp.Variable(name="violation"), [bound.row for bounds in programme.bounds.values() for bound in bounds]
    rows = [each for row in programme.rows if row.sides is not None for each in _loose(*row.sides, row.equality, t)]
    rows += [each for row in _domain(programme.problem.objective.expr) for each in _loose(row.args[0], row.args[1], False, t)]
    rows += [z + t * np.eye(z.shape[-1]) >> 0 for term in programme.terms for z in map(symmetric_part, to_be_semidefinite(term))]
    bounded = any(row.sides is None for row in programme.rows)
    for row in programme.defining:
        if bounded and row.sides is not None and not row.equality:
            rows += _loose(*row.sides, False, t)
        else:
            exact_rows.append(row)
    exact = [row.sides[0] == row.sides[1] if row.equality else row.sides[0] <= row.sides[1] for row in exact_rows if row.sides is not None]
    symmetric = Measured(programme, RAW).instead  # a cone is loose, also where an attribute says it
    return cp.Problem(cp.Minimize(t), [row.tree_copy(symmetric) for row in (*rows, *exact)]) if rows else None


def _domains(problem: cp.Problem) -> cp.Problem | None:
    """min t for the domains of all functions and the rows without functions: outside of the domains other rows have no values."""
    t, rows = cp.Variable(name="violation"), [row for row in problem.constraints if isinstance(row, Inequality | Equality)]
    domains = [row for e in (problem.objective.expr, *(e for row in problem.constraints for e in row.args)) for row in _domain(e)]
    plain = [row for row in (*rows, *domains) if not any(_domain(e) for e in row.args)]
    loose = [each for row in plain for each in _loose(row.args[0], row.args[1], isinstance(row, Equality), t)]
    return cp.Problem(cp.Minimize(t), loose) if domains else None


def _domain(e: Any) -> list[Any]:
    """The domains of the functions in an expression, without the attributes of variables."""
    if not e.args:
        return []
    own = e.domain[: max(0, len(e.domain) - sum(len(argument.domain) for argument in e.args))]  # those of arguments come after
    below = [row for argument in e.args for row in _domain(argument)]
    return [row for row in (*own, *below) if isinstance(row, Inequality) and row.is_dcp()]


def _loose(left: Any, right: Any, equality: bool, t: Any) -> list[Any]:
    return [left - right <= t, *([right - left <= t] if equality else [])]
