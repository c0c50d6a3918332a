"""Variables that an equality gives: f == Ψw makes f a name for Ψw instead of a variable of its own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simopt.duality.atoms.base import ConjugateDomain
from simopt.duality.graph.affine import Key, Picks
from simopt.duality.graph.programme import Definition, Leaf, Programme, Row


def defined(programme: Programme, candidates: Mapping[Key, Leaf]) -> None:
    """Turn equality rows into definitions of candidates, where a row has every entry of a variable once, with a known factor.

    Among several variables in a row one without a closing term is preferred (the others serve as leaves), then one with factors ±1.
    """
    alone = _in_closing_term(programme)
    for row in [row for row in programme.rows if row.equality]:
        found = []
        for key in row.map.below:
            if key in candidates and key in programme.leaves:
                pattern = row.map.pattern(key)
                if isinstance(pattern, Picks) and _gives(pattern, candidates[key]) and not _depends(programme, row, key):
                    found.append((key in alone, bool(np.any(np.abs(pattern.factors) != 1.0)), key, pattern))
        if found:
            *_, key, pattern = min(found, key=lambda each: each[:2])
            leaf = programme.leaves.pop(key)
            programme.nodes.append(Definition(key, leaf.name, leaf.shape, row, pattern.columns, pattern.factors))
            programme.rows.remove(row)


def _gives(pattern: Picks, leaf: Leaf) -> bool:
    whole = len(pattern.rows) == len(pattern.columns) == leaf.size and pattern.injective()
    return whole and bool(np.all(np.isfinite(pattern.factors) & (pattern.factors != 0.0)))


def _in_closing_term(programme: Programme) -> set[Key]:
    """Variables that stand alone in an atom that may be a closing term."""
    terms = [term for term in programme.terms if term.atom.conjugate_domain is not ConjugateDomain.OTHER]
    return {key for term in terms if len(term.argument.below) == 1 for key in term.argument.below}


def _depends(programme: Programme, row: Row, key: Key) -> bool:
    """Whether the variable's definition by the row depends on the variable itself."""
    return any(programme.reaches(below, key) for below in row.map.below if below != key)
