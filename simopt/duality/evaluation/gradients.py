"""Gradients of affine maps with respect to the leaves, through definitions: sparse matrices of floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Definition, Epigraph, Programme, Term
from simopt.duality.graph.vectors import Indices

Follow = Callable[[Term | Epigraph, Any], Any]


def gradients(programme: Programme, entries: Mapping[Key, Indices], follow: Follow | None = None) -> tuple[dict[Key, Any], int]:
    """Gradients of leaves and definitions with respect to these entries of leaves, one after the other; and the number of entries.

    `Map.rows` turns them into those of a map: of an equality row that refers to leaves its matrix, for all entries of the leaves. The
    values of terms count as constants, or have the gradient that `follow` returns for the term and the gradients of its argument.
    """
    width = sum(len(chosen) for chosen in entries.values())
    found: dict[Key, Any] = {}
    start = 0
    for key, chosen in entries.items():
        n, k = programme.leaves[key].size, len(chosen)
        found[key] = sp.csr_array((np.ones(k), (chosen, np.arange(start, start + k))), shape=(n, width))
        start += k
    for node in programme.nodes:
        if isinstance(node, Definition):
            n = len(node.columns)
            solved = sp.csr_array((-1.0 / node.factors, (node.columns, np.arange(n))), shape=(n, n))
            found[node.key] = solved @ node.row.map.rows(found, width)
        elif follow is not None:
            found[node.key] = follow(node, node.argument.rows(found, width))
    return found, width
