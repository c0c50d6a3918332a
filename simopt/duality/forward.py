"""The forward sweep: all values at a point, the objective among them, and whether the point is feasible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import Arithmetic
from simopt.duality.affine import Key, Map
from simopt.duality.bounds import box, ordered
from simopt.duality.programme import Definition, Leaf, Programme, Row, Term
from simopt.duality.vectors import Value, above, full, is_zero, vector


@dataclass(frozen=True, eq=False)
class Forward:
    """Values of leaves and nodes, arguments z of terms, values of rows; and what is not proven to hold, in words."""

    values: dict[Key, Value]
    arguments: dict[Key, Value]
    rows: dict[Key, Value]
    objective: Value
    violated: tuple[str, ...]


def coefficients(num: Arithmetic, below: Map, key: Key, length: int) -> Value:
    """The factors c of a map Cx + b of one value, each entry of which has one entry of it: C times ones."""
    return below.value(num, {key: full(num, 1.0, length)}, linear=True)


def forward(num: Arithmetic, programme: Programme, point: Mapping[Key, Value]) -> Forward:
    """Evaluate everything at the leaves' values (flat vectors). Feasible is what is proven to be: a ball must lie inside."""
    values: dict[Key, Value] = {key: vector(num, point[key]) for key in programme.leaves}
    arguments: dict[Key, Value] = {}
    violated: list[str] = []
    for node in programme.nodes:
        if isinstance(node, Term):
            z = node.argument.value(num, values)
            if not node.atom.inside(num, z, node.proper).all():
                violated.append(f"{node.name}: the argument is not proven to be in the domain, {str(node.source)[:120]}")
            value = node.atom.value(num, z)
            values[node.key] = value if node.sign > 0 else -value
        else:
            values[node.key] = num.zeros(_length(node.shape))
            z = (node.row.map if isinstance(node, Definition) else node.argument).value(num, values)
            if isinstance(node, Definition):
                values[node.key] = num.group_sum(-z / num.lift(node.factors), node.columns, _length(node.shape))
            else:
                values[node.key] = node.atom.value(num, z)
        arguments[node.key] = z
    rows = {row.key: row.map.value(num, values) for row in programme.rows}
    for row in programme.rows:
        violated += _violated(num, row, rows[row.key])
    for key, leaf in programme.leaves.items():
        violated += _beyond(num, programme, leaf, values[key])
    return Forward(values, arguments, rows, num.sum(programme.objective.value(num, values)), tuple(violated))


def _length(shape: tuple[int, ...]) -> int:
    return math.prod(shape)


def _violated(num: Arithmetic, row: Row, value: Value) -> list[str]:
    if row.equality:
        return [] if is_zero(num, value).all() else [f"{row.name}: the equality is not proven to hold"]
    holds = np.asarray(value.high <= 0.0) if num.name == "interval" else ~above(num, value) & _numbers(num, value)
    return [] if holds.all() else [f"{row.name}: entry {int(np.argmin(holds))} is not proven to be ≤ 0"]


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
