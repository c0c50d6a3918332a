"""Gradients of affine maps with respect to entries of leaves, through definitions: sparse matrices of floats or intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix, reciprocal
from simopt.duality.graph.affine import Key, Map
from simopt.duality.graph.leaf_values import changing
from simopt.duality.graph.programme import Definition, Epigraph, Programme, Term
from simopt.duality.graph.vectors import Indices

Follow = Callable[[Term | Epigraph, Any], Any]


class Gradients:
    """Those of leaves and definitions, for chosen entries of leaves one after the other, and of maps of these.

    `Map.rows` turns gradients of values into those of a map: of an equality row that refers to leaves its matrix, for all their entries.

    Attributes
    ----------
    width : int
        the number of entries.
    """

    def __init__(self, programme: Programme, entries: Mapping[Key, Indices], num: Arithmetic) -> None:
        self.programme, self.width = programme, sum(len(chosen) for chosen in entries.values())
        self.values: dict[Key, Any] = {}
        self._rows: dict[Map, Any] = {}
        start = 0
        for key, chosen in entries.items():
            n, k = programme.leaves[key].size, len(chosen)
            unit = sp.csr_array((np.ones(k), (chosen, np.arange(start, start + k))), shape=(n, self.width))
            self.values[key] = IntervalMatrix(unit) if num is INTERVAL else unit
            start += k
        self.of_leaves = {*programme.leaves}
        for node in programme.nodes:
            if isinstance(node, Definition) and self.of_leaves.issuperset(set(node.row.map.below) - {node.key}):
                self.of_leaves.add(node.key)
                self.values[node.key] = _inverse(node, num) @ self.rows(node.row.map)
        self.num = num

    def rows(self, below: Map) -> Any:
        """The gradients of a map's entries; kept where it is one of leaves."""
        if not self.of_leaves.issuperset(below.below):
            return below.rows(self.values, self.width)
        if below not in self._rows:
            self._rows[below] = below.rows(self.values, self.width)
        return self._rows[below]

    def following(self, follow: Follow) -> Gradients:
        """The same with gradients of the values of terms: what `follow` returns for a term and the gradients of its argument."""
        found = object.__new__(Gradients)
        vars(found).update(vars(self), values=dict(self.values))
        for node in self.programme.nodes:
            if not isinstance(node, Definition):
                found.values[node.key] = follow(node, found.rows(node.argument))
            elif node.key not in self.of_leaves:
                found.values[node.key] = _inverse(node, self.num) @ found.rows(node.row.map)
        return found


def gradients(programme: Programme, entries: Mapping[Key, Indices], follow: Follow | None = None, num: Arithmetic = FLOAT) -> Gradients:
    """The gradients for these entries of leaves; what does not depend on multipliers is kept for the last entries that were asked for.

    The values of terms count as constants, or have the gradients that `follow` returns.
    """
    kind = (num.name, *changing(programme.problem))
    kept: Gradients = programme.gradients.of(kind, entries, lambda _: Gradients(programme, entries, num))
    return kept if follow is None else kept.following(follow)


def _inverse(node: Definition, num: Arithmetic) -> Any:
    """What the rows of a definition are multiplied with: −1/factor in the column that each of them defines."""
    n = len(node.columns)
    places = (node.columns, np.arange(n))
    if num is INTERVAL:
        factors = -reciprocal(Interval(node.factors))
        return IntervalMatrix(*(sp.csr_array((side, places), shape=(n, n)) for side in (factors.mid, factors.rad)))
    return sp.csr_array((-1.0 / node.factors, places), shape=(n, n))
