"""Variables that are the maximum of the values below them: slacks, and the t of min t subject to t ≥ z_i."""

from __future__ import annotations

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.graph.affine import Key, Map, Picks, Residual, SelectionMap
from simopt.duality.graph.programme import Epigraph, Leaf, Programme, Row
from simopt.duality.graph.vectors import at_least_zero, full


def recognised(programme: Programme) -> None:
    """Turn variables into epigraphs if their cost is ≥ 0 and they stand in rows only, as −t_j, or as c t_j with c ≥ 0 in the others.

    If t_j is lowered to the maximum of its rows, the objective and the other rows do not grow, so the optimum stays. Every sweep checks
    again that the cost is ≥ 0: it takes t for a maximum only if its scale is proven to be ≥ 0.
    """
    cost: Residual = {}
    with np.errstate(all="ignore"):
        programme.objective.pull(FLOAT, np.ones(1), cost)
    for key, leaf in list(programme.leaves.items()):
        if not np.any(cost.get(key, np.zeros(1)) < 0.0) and not _buried(programme, key):
            above = _rows_of(programme, key, leaf)
            if above and (key in cost or len(above) < sum(key in row.map.below for row in programme.rows)):
                _replace(programme, leaf, above)


def _buried(programme: Programme, key: Key) -> bool:
    """Whether the variable occurs outside of the objective and rows."""
    return any(key in programme.below(node) for node in (*programme.terms, *programme.nodes))


def _rows_of(programme: Programme, key: Key, leaf: Leaf) -> list[tuple[Row, Picks]]:
    """The rows z_i − t_j ≤ 0, if they contain every t_j and t occurs in rows in no other way; else none."""
    above: list[tuple[Row, Picks]] = []
    for row in programme.rows:
        if key not in row.map.below:
            continue
        pattern = row.map.pattern(key)
        if row.equality:
            return []
        if isinstance(pattern, Picks) and np.all(pattern.columns >= 0) and np.all(pattern.factors == -1.0):
            above.append((row, pattern))
        elif not grows(FLOAT, row.map, key):
            return []
    taken = np.zeros(leaf.size, dtype=bool)
    for _, pattern in above:
        taken[pattern.columns] = True
    others = [below for row, _ in above for below in row.map.below if below != key]
    circular = any(programme.reaches(below, key) for below in others)
    return above if others and taken.all() and not circular else []  # without others they are its bounds


def grows(num: Arithmetic, below: Map, key: Key) -> bool:
    """Whether no entry of a map falls when an entry of one value grows, proven for the present values of the parameters."""
    pattern = below.pattern(key)
    if isinstance(pattern, Picks):
        return bool(np.all(pattern.factors >= 0.0))
    if below.size > 1:
        return False
    slope: Residual = {}
    below.pull(num, full(num, 1.0, 1), slope)
    return bool(at_least_zero(num, slope[key]).all())


def _replace(programme: Programme, leaf: Leaf, above: list[tuple[Row, Picks]]) -> None:
    rows = tuple(row for row, _ in above)
    group = np.concatenate([pattern.columns for _, pattern in above])
    fixed = np.concatenate([np.full(row.map.size, row.map.below == (leaf.key,)) for row in rows])
    stacked = rows[0].map if len(rows) == 1 else SelectionMap(tuple(row.map for row in rows), np.arange(len(group)))
    del programme.leaves[leaf.key]
    programme.nodes.append(Epigraph(leaf.key, leaf.name, leaf.shape, rows, stacked, Maximum(group, leaf.size, fixed)))
    programme.rows = [row for row in programme.rows if row not in rows]
