"""Terms that make the multipliers stationary in a leaf, whatever the others are: no numerical repair, and an exact 0 is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simopt.duality.atoms.base import Absorbs, Elementwise
from simopt.duality.atoms.huber import Huber
from simopt.duality.graph.affine import Key, Map, Picks
from simopt.duality.graph.programme import Leaf, Node, Programme, Row, Term, argument
from simopt.duality.graph.vectors import Indices, Mask


@dataclass(frozen=True, eq=False)
class Absorber:
    """sφ(Cx + b) where each entry of the argument has one entry of a leaf x, each another: u = −r/c cancels what the others left, r.

    An atom that absorbs anything can do so as it is. A gauge can where its scale may be chosen: where all that it has to do is to stand in
    a row ‖x‖ + … ≤ B (the row's multiplier is what the gauge needs), or as the argument of a power (whose multiplier is). Such a row or
    term is the `host`.
    """

    term: Term
    leaf: Leaf
    columns: Indices
    host: Row | Term | None


def absorbers(programme: Programme) -> list[Absorber]:
    """At most one for each entry of a leaf; atoms that absorb anything come first."""
    taken: dict[Key, Mask] = {key: np.zeros(leaf.size, dtype=bool) for key, leaf in programme.leaves.items()}
    found: list[tuple[Term, Leaf, Indices]] = []
    for kind in (Absorbs.ALL, Absorbs.SCALED):
        for term in programme.terms:
            below = term.argument.below
            if term.atom.absorbs is kind and len(below) == 1 and below[0] in programme.leaves:
                pattern = term.argument.pattern(below[0])
                if isinstance(pattern, Picks) and np.all(pattern.columns >= 0) and pattern.injective():
                    if not taken[below[0]][pattern.columns].any():
                        taken[below[0]][pattern.columns] = True
                        found.append((term, programme.leaves[below[0]], pattern.columns))
    scaled = {term.key for term, *_ in found if term.atom.absorbs is Absorbs.SCALED}
    return [Absorber(*each, _host(programme, each[0].key, scaled) if each[0].key in scaled else None) for each in found]


def _host(programme: Programme, key: Key, scaled: set[Key]) -> Row | Term | None:
    """The row or term that may give a gauge any scale."""
    uses = _uses(programme, key)
    if len(uses) != 1:
        return None
    host, below = uses[0]
    if isinstance(host, Row) and not host.equality:
        others_too = all(other in scaled and len(_uses(programme, other)) == 1 for other in below.below)
        return host if others_too and (below.size == 1 or _one_to_one(below, key)) else None
    if isinstance(host, Term) and isinstance(host.atom, Elementwise):
        raises = host.atom.absorbs is Absorbs.ALL or isinstance(host.atom, Huber)
        return host if raises and _one_to_one(below, key) else None
    return None


def _uses(programme: Programme, key: Key) -> list[tuple[Row | Node | None, Map]]:
    """The objective (None), rows and nodes that refer to a value, with their maps."""
    maps: list[tuple[Row | Node | None, Map]] = [(None, programme.objective), *((row, row.map) for row in programme.rows)]
    maps += [(node, argument(node)) for node in programme.nodes]
    return [(host, below) for host, below in maps if key in below.below]


def _one_to_one(below: Map, key: Key) -> bool:
    pattern = below.pattern(key)
    return below.below == (key,) and isinstance(pattern, Picks) and bool(np.all(pattern.columns >= 0)) and pattern.injective()
