"""Closing terms: the terms that make the multipliers stationary in a leaf, whatever the other multipliers are, without numerical error.

The conjugate of a closing term is finite for every multiplier. Hence the multiplier that cancels the residual exactly can always be taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simopt.duality.atoms.base import ConjugateDomain, Elementwise
from simopt.duality.atoms.huber import Huber
from simopt.duality.graph.affine import Key, Map, Picks
from simopt.duality.graph.programme import Leaf, Node, Programme, Row, Term, argument
from simopt.duality.graph.vectors import Indices, Mask


@dataclass(frozen=True, eq=False)
class ClosingTerm:
    """sφ(Cx + b) whose argument has one entry of a leaf x in each entry: u = −r/c cancels the residual r of the other multipliers.

    A term whose conjugate has a full domain is always one. A cone is one as far as −r/c is proven to lie in it. A norm is one where its
    scale may be chosen. That is so in two cases. The norm stands in a row ‖x‖ + … ≤ B only, whose multiplier is the norm's scale; or it is
    the argument of a power, whose multiplier is. This row or term is the `epigraph_parent`.
    """

    term: Term
    leaf: Leaf
    columns: Indices
    epigraph_parent: Row | Term | None


def closing_terms(programme: Programme) -> list[ClosingTerm]:
    """At most one for each entry of a leaf; terms whose conjugate has a full domain come first, then cones."""
    taken: dict[Key, Mask] = {key: np.zeros(leaf.size, dtype=bool) for key, leaf in programme.leaves.items()}
    found: list[tuple[Term, Leaf, Indices]] = []
    for kind in (ConjugateDomain.FULL, ConjugateDomain.CONE, ConjugateDomain.BALL):
        for term in programme.terms:
            below = term.argument.below
            if term.atom.conjugate_domain is kind and len(below) == 1 and below[0] in programme.leaves:
                pattern = term.argument.pattern(below[0])
                if isinstance(pattern, Picks) and np.all(pattern.columns >= 0) and pattern.injective():
                    if not taken[below[0]][pattern.columns].any():
                        taken[below[0]][pattern.columns] = True
                        found.append((term, programme.leaves[below[0]], pattern.columns))
    scaled = {term.key for term, *_ in found if term.atom.conjugate_domain is ConjugateDomain.BALL}
    return [ClosingTerm(*each, _parent_of(programme, each[0].key, scaled) if each[0].key in scaled else None) for each in found]


def _parent_of(programme: Programme, key: Key, scaled: set[Key]) -> Row | Term | None:
    """The row or term that may give a norm any scale."""
    uses = _uses(programme, key)
    if len(uses) != 1:
        return None
    epigraph_parent, below = uses[0]
    if isinstance(epigraph_parent, Row) and not epigraph_parent.equality:
        others_too = all(other in scaled and len(_uses(programme, other)) == 1 for other in below.below)
        return epigraph_parent if others_too and (below.size == 1 or _one_to_one(below, key)) else None
    if isinstance(epigraph_parent, Term) and isinstance(epigraph_parent.atom, Elementwise):
        raises = epigraph_parent.atom.conjugate_domain is ConjugateDomain.FULL or isinstance(epigraph_parent.atom, Huber)
        return epigraph_parent if raises and _one_to_one(below, key) else None
    return None


def _uses(programme: Programme, key: Key) -> list[tuple[Row | Node | None, Map]]:
    """The objective (None), rows and nodes that refer to a value, with their maps."""
    maps: list[tuple[Row | Node | None, Map]] = [(None, programme.objective), *((row, row.map) for row in programme.rows)]
    maps += [(node, argument(node)) for node in programme.nodes]
    return [(epigraph_parent, below) for epigraph_parent, below in maps if key in below.below]


def _one_to_one(below: Map, key: Key) -> bool:
    pattern = below.pattern(key)
    return below.below == (key,) and isinstance(pattern, Picks) and bool(np.all(pattern.columns >= 0)) and pattern.injective()
