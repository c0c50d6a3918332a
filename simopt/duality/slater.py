"""Points inside: where all inequalities hold with room to spare, so that a point that is drawn towards one comes to satisfy them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints import Inequality

from simopt.arithmetic import FLOAT
from simopt.arrays import Array
from simopt.duality.affine import Key
from simopt.duality.bounds import box, within
from simopt.duality.equalities import drawn, reach
from simopt.duality.forward import forward
from simopt.duality.programme import Definition, Epigraph, Leaf, Programme, Row

LEAST = 1e-9  # a slack, relative to the row, that a solver tells from none


class Interior:
    """Candidates for a point inside of what is feasible, in floats: who uses one proves what it needs of it.

    The one that a solve found is kept: the same problem is judged many times, and all points inside serve alike, since what is lost by
    drawing x towards x̄ is θ(f(x̄) − f(x)), with x̄ half as far θ doubles.
    """

    def __init__(self, programme: Programme) -> None:
        self.programme = programme
        self.last: dict[Key, Array] | None = None

    def points(self, near: Mapping[Key, Array]) -> Iterator[dict[Key, Array]]:
        """0 drawn to where bounds and equalities hold; the point that was found last; and one from a solve."""
        zero = within(FLOAT, self.programme, {key: np.zeros(leaf.size) for key, leaf in self.programme.leaves.items()})
        yield drawn(FLOAT, self.programme, zero)
        if self.last is not None:
            yield self.last
        self.last = slater_point(self.programme, near)
        if self.last is not None:
            yield self.last


def slater_point(programme: Programme, near: Mapping[Key, Array]) -> dict[Key, Array] | None:
    """The point of the greatest slack s ≤ 1: g_i(x) + σ_i s ≤ 0 for every row and bound, h(x) = 0, in a box around a point; None if s = 0.

    σ_i is the size of the row at the point and at 0. The box loses nothing: with a point inside all are between it and a feasible one.
    """
    s = cp.Variable()
    leaves = programme.leaves.values()
    try:
        rows = [*_slack_rows(programme, near, s), *_exact_rows(programme), *_domains(programme, s)]
        rows += [row for leaf in leaves for row in _around(programme, leaf, near[leaf.key], s)]
        values = _solution(cp.Problem(cp.Maximize(s), [*rows, s <= 1]), leaves)
    except (cp.DCPError, cp.SolverError, ValueError, ArithmeticError):
        return None
    return values if s.value is not None and float(s.value) > LEAST else None


def _solution(problem: cp.Problem, leaves: Iterable[Leaf]) -> dict[Key, Array] | None:
    """What a solve finds; the variables, which are the user's, keep their values."""
    before = {leaf: leaf.variable.value for leaf in leaves}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the back end says of its answer is not asked
            problem.solve(solver=cp.CLARABEL, warm_start=False)
        missing = any(leaf.variable.value is None for leaf in leaves)
        return None if missing else {leaf.key: leaf.found().reshape(-1, order="F") for leaf in leaves}
    finally:
        for leaf, value in before.items():
            leaf.variable.save_value(value)


def _slack_rows(programme: Programme, near: Mapping[Key, Array], s: Any) -> list[Any]:
    broken = [row for row in programme.rows if not row.equality]
    zero = {key: np.zeros(leaf.size) for key, leaf in programme.leaves.items()}
    at = [forward(FLOAT, programme, within(FLOAT, programme, point)).rows for point in (near, zero)] if broken else []
    found = []
    for row in broken:
        sizes = np.max([np.where(np.isfinite(rows[row.key]), np.abs(rows[row.key]), 0.0) for rows in at], axis=0)
        if row.sides is None:
            continue
        left, right = row.sides
        shape = np.broadcast_shapes(left.shape, right.shape)
        found.append(left + s * np.where(sizes > 0.0, sizes, 1.0).reshape(shape, order="F") <= right)
    return found


def _exact_rows(programme: Programme) -> list[Any]:
    rows: list[Row] = [row for row in programme.rows if row.equality]
    for node in programme.nodes:
        rows += [node.row] if isinstance(node, Definition) else node.rows if isinstance(node, Epigraph) else []
    return [row.sides[0] == row.sides[1] if row.equality else row.sides[0] <= row.sides[1] for row in rows if row.sides is not None]


def _domains(programme: Programme, s: Any) -> list[Any]:
    """Where functions such as the logarithm are defined, with room."""
    expressions = [programme.problem.objective.expr, *(e for row in programme.rows for e in row.sides or ())]
    rows = [row for e in expressions for row in e.domain if row.is_dcp()]
    return [row.args[0] + s <= row.args[1] if isinstance(row, Inequality) else row for row in rows]


def _around(programme: Programme, leaf: Leaf, x: Array, s: Any) -> list[Any]:
    """The bounds of a leaf, with room where the ends are apart, and a box around x."""
    entries, ends = cp.vec(leaf.variable, order="F"), box(FLOAT, programme, leaf)
    rows = [cp.abs(entries - x) <= reach(x)]
    fixed = ends.below & ends.above & ~(ends.low < ends.high)
    for has, end, side in ((ends.below, ends.low, 1.0), (ends.above, ends.high, -1.0)):
        at = np.flatnonzero(has)
        if len(at):
            sizes = np.maximum(np.abs(end[at]), np.abs(x[at]))
            room = np.where(fixed[at], 0.0, np.where(sizes > 0.0, sizes, 1.0))
            rows.append(side * (entries[at] - end[at]) >= cp.multiply(s, room))
    return rows
