"""The forward sweep: all values at a point, the objective among them, and whether the point is feasible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.duality.evaluation.bounds import box, ordered
from simopt.duality.evaluation.equalities import Equations, equalities, holding, is_affine
from simopt.duality.graph.affine import Key, Map
from simopt.duality.graph.programme import Leaf, Programme, Row, Term, evaluated
from simopt.duality.graph.vectors import Mask, Value, above, floats, full, vector


@dataclass(frozen=True, eq=False)
class Forward:
    """Values of leaves and nodes, arguments z of terms, values of rows; and the conditions that are not proven, as messages.

    `has_slopes` is whether all terms are in their domains, whatever the rows are.
    """

    values: dict[Key, Value]
    arguments: dict[Key, Value]
    rows: dict[Key, Value]
    objective: Value
    violated: tuple[str, ...]
    has_slopes: bool


def coefficients(num: Arithmetic, below: Map, key: Key, length: int) -> Value:
    """The factors c of a map Cx + b of one value, each entry of which has one entry of it: C times ones."""
    return below.value(num, {key: full(num, 1.0, length)}, linear=True)


def forward(num: Arithmetic, programme: Programme, point: Mapping[Key, Value]) -> Forward:
    """Evaluate everything at the leaves' values (flat vectors). A point is feasible where that is proven: an interval must lie inside."""
    values: dict[Key, Value] = {key: vector(num, point[key]) for key in programme.leaves}
    arguments, violated = _through_nodes(num, programme, values)
    has_slopes = not violated
    rows = {row.key: row.map.value(num, values) for row in programme.rows}
    violated += _broken(num, programme, values, rows)
    for key, leaf in programme.leaves.items():
        violated += _beyond(num, programme, leaf, values[key])
    return Forward(values, arguments, rows, num.sum(programme.objective.value(num, values)), tuple(violated), has_slopes)


def _through_nodes(num: Arithmetic, programme: Programme, values: dict[Key, Value]) -> tuple[dict[Key, Value], list[str]]:
    """The arguments of the nodes, whose values are added to those of the leaves; and the arguments that are outside of a domain."""
    arguments: dict[Key, Value] = {}
    violated: list[str] = []
    for node in programme.nodes:
        z, values[node.key] = evaluated(num, node, values)
        if isinstance(node, Term) and not node.atom.inside(num, z, node.proper).all():
            violated.append(f"{node.name}: the argument is not proven to be in the domain, {str(node.source)[:120]}")
        arguments[node.key] = z
    return arguments, violated


def upper_to_rounding(programme: Programme, point: Mapping[Key, Value], multipliers: Mapping[Key, Value]) -> float:
    """The upper end of f(x) + Σ |y_i| max |h_i(x)| in intervals at floats x, over equalities h and rows that are not proven to hold.

    To first order it is what f costs where x is moved onto the rows. ∞ where x is not in the domains and bounds, or such a row has no
    multiplier.
    """
    values = dict(point)
    if _through_nodes(INTERVAL, programme, values)[1] or any(
        _beyond(INTERVAL, programme, leaf, point[key]) for key, leaf in programme.leaves.items()
    ):
        return math.inf
    total = INTERVAL.upper(INTERVAL.sum(programme.objective.value(INTERVAL, values)))
    for row in programme.rows:
        h = row.map.value(INTERVAL, values)
        off = np.maximum(h.high, -h.low) if row.equality else np.maximum(h.high, 0.0)
        if not np.any(off):
            continue
        y = np.abs(floats(FLOAT, multipliers[row.key])) if row.key in multipliers else np.zeros(len(off))
        if np.any((off > 0.0) & ~(y > 0.0)):
            return math.inf
        total += float(y @ off)
    return total if math.isfinite(total) else math.inf


def _broken(num: Arithmetic, programme: Programme, values: Mapping[Key, Value], rows: Mapping[Key, Value]) -> list[str]:
    """The rows that are not proven to hold, all at one point of the intervals.

    An affine inequality that is not proven to be ≤ 0 may be proven to be 0, which is needed for rows without a Slater point.
    """
    found = [reason for row in programme.rows if not row.equality for reason in _violated(num, row, rows[row.key])]
    if found:
        loose = [(row, np.flatnonzero(~_holds(num, rows[row.key]))) for row in programme.rows if not row.equality]
        loose = [(row, entries) for row, entries in loose if len(entries)]
        if all(is_affine(programme, row) for row, _ in loose) and not _unsolved(num, equalities(programme, loose), values):
            return []
    return [*_unsolved(num, equalities(programme), values), *found]


def _unsolved(num: Arithmetic, equations: Equations, values: Mapping[Key, Value]) -> list[str]:
    """The equations that are not proven to hold, all at one point of the intervals."""
    if not equations.size:
        return []
    holds, why = holding(num, equations, values)
    found, start = [], 0
    for row, entries in equations.chosen:
        own, start = holds[start : start + len(entries)], start + len(entries)
        if not own.all():
            failure = f"{row.name}: the equality is not proven to hold at entry {int(entries[np.argmin(own)])}"
            found.append(failure + (f" ({why})" if why else ""))
    return found


def _violated(num: Arithmetic, row: Row, value: Value) -> list[str]:
    holds = _holds(num, value)
    return [] if holds.all() else [f"{row.name}: entry {int(np.argmin(holds))} is not proven to be ≤ 0"]


def _holds(num: Arithmetic, value: Value) -> Mask:
    """Entries of a row that are proven to be ≤ 0."""
    return np.asarray(value.high <= 0.0) if num.name == "interval" else ~above(num, value) & _numbers(num, value)


def _numbers(num: Arithmetic, value: Value) -> np.ndarray:
    return ~np.isnan(value) if num.name == "float" else np.ones(len(value), dtype=bool)


def _beyond(num: Arithmetic, programme: Programme, leaf: Leaf, x: Value) -> list[str]:
    if leaf.key not in programme.bounds:
        return []
    ends = box(num, programme, leaf)
    out = ~ends.holds(num, x)
    if (meeting := ends.meeting(num)).any():
        out |= meeting & ~ordered(programme, leaf)
    found = [f"{leaf.name}: entry {int(np.argmax(out))} is not proven to be within its bounds"] if out.any() else []
    for row, entries in ends.rest:
        found += _violated(num, row, row.map.value(num, {leaf.key: x})[entries])
    return found
