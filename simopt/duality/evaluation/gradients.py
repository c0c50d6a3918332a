"""Gradients of affine maps with respect to the leaves, through definitions: sparse matrices of floats or intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix, reciprocal
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Definition, Epigraph, Programme, Term
from simopt.duality.graph.vectors import Indices

Follow = Callable[[Term | Epigraph, Any], Any]


def gradients(
    programme: Programme, entries: Mapping[Key, Indices], follow: Follow | None = None, num: Arithmetic = FLOAT
) -> tuple[dict[Key, Any], int]:
    """Gradients of leaves and definitions with respect to these entries of leaves, one after the other; and the number of entries.

    `Map.rows` turns them into those of a map: of an equality row that refers to leaves its matrix, for all entries of the leaves. The
    values of terms count as constants, or have the gradient that `follow` returns for the term and the gradients of its argument.
    """
    width = sum(len(chosen) for chosen in entries.values())
    found: dict[Key, Any] = {}
    start = 0
    for key, chosen in entries.items():
        n, k = programme.leaves[key].size, len(chosen)
        unit = sp.csr_array((np.ones(k), (chosen, np.arange(start, start + k))), shape=(n, width))
        found[key] = IntervalMatrix(unit) if num is INTERVAL else unit
        start += k
    for node in programme.nodes:
        if isinstance(node, Definition):
            found[node.key] = _inverse(node, num) @ node.row.map.rows(found, width)
        elif follow is not None:
            found[node.key] = follow(node, node.argument.rows(found, width))
    return found, width


def _inverse(node: Definition, num: Arithmetic) -> Any:
    """What the rows of a definition are multiplied with: −1/factor in the column that each of them defines."""
    n = len(node.columns)
    places = (node.columns, np.arange(n))
    if num is INTERVAL:
        factors = -reciprocal(Interval(node.factors))
        return IntervalMatrix(*(sp.csr_array((side, places), shape=(n, n)) for side in (factors.mid, factors.rad)))
    return sp.csr_array((-1.0 / node.factors, places), shape=(n, n))
