"""The sizes of a programme's numbers, and units in which they are near 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array
from simopt.duality.atoms.base import Atom
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.quadratic_form import SemidefiniteForm
from simopt.duality.evaluation.forward import forward
from simopt.duality.graph.affine import Key, Map
from simopt.duality.graph.programme import Definition, Epigraph, Leaf, Node, Programme, Term

OBJECTIVE: Key = -1
CONSTANTS, FAINT, EXACTLY = 3.0, 0.25, 100.0  # weights
LARGEST = 200  # of exponents
CANCELLED = 1e-8  # of the objective at other fractions: what is left of one that cancels


@dataclass(frozen=True)
class UnitBlock:
    """Entries of the map `home` (a row, the argument of a term or epigraph, the objective) that belong to one value; None: constants."""

    home: Key
    value: Key | None
    entries: Array


def blocks(programme: Programme) -> Iterator[UnitBlock]:
    """The vectors Ar, Br and b of a map Ax + By + b, with r of entries of size about 1 and random sign, no two alike."""
    values: dict[Key, Leaf | Node] = programme.leaves | {node.key: node for node in programme.nodes}
    zeros = {key: np.zeros(length(node)) for key, node in values.items()}
    for home, below in maps(programme):
        yield UnitBlock(home, None, below.value(FLOAT, zeros))
        for key in below.below:
            rng = np.random.default_rng(len(zeros[key]))
            r = rng.choice([-1.0, 1.0], len(zeros[key])) * rng.uniform(0.5, 1.0, len(zeros[key]))
            yield UnitBlock(home, key, below.value(FLOAT, zeros | {key: r}, linear=True))
    for term in programme.terms:
        if isinstance(term.atom, Huber):  # its threshold has the unit of its argument
            yield UnitBlock(term.key, None, np.atleast_1d(np.asarray(term.atom.threshold(FLOAT), dtype=float)))
        elif isinstance(term.atom, SemidefiniteForm):
            yield UnitBlock(inside(term.key), None, np.asarray(term.atom.matrix(FLOAT), dtype=float).reshape(-1))


def maps(programme: Programme) -> Iterator[tuple[Key, Map]]:
    """The objective, the rows, and the maps below terms, definitions and epigraphs."""
    yield OBJECTIVE, programme.objective
    for row in (*programme.rows, *(bound.row for bounds in programme.bounds.values() for bound in bounds)):
        yield row.key, row.map
    for node in programme.nodes:
        yield (node.row.key, node.row.map) if isinstance(node, Definition) else (node.key, node.argument)


def inside(key: Key) -> Key:
    """The home of the matrix of a quadratic form."""
    return OBJECTIVE - 1 - key


def length(node: Leaf | Node) -> int:
    """How many entries a value has."""
    return node.size if isinstance(node, (Leaf, Term)) else int(np.prod(node.shape))


def degree(atom: Atom) -> float | None:
    """The p of φ(cz) = c^p φ(z); for Huber's function with c times the threshold."""
    return 2.0 if isinstance(atom, Huber) else atom.degree


@dataclass(frozen=True)
class Sizes:
    """Powers of two: the unit of each value, of the entries of each map, and of the objective. A missing one is 1."""

    values: Mapping[Key, float] = field(default_factory=dict)
    maps: Mapping[Key, float] = field(default_factory=dict)
    objective: float = 1.0


RAW = Sizes()


def equilibrated(programme: Programme) -> Sizes:
    """Units σ of values, ρ of maps and τ of the objective in which the entries are near 1: powers of two.

    τ is the size of the objective at x = 0, or, if that is 0, at a fraction of σ; at unequal fractions where equal ones cancel, as they do
    in ⟨L, X⟩ for the Laplacian L of a graph.
    """
    sizes = {where: float(2.0 ** np.clip(np.round(log), -LARGEST, LARGEST)) for where, log in _logarithms(programme).items()}
    maps = {key: unit for (kind, key), unit in sizes.items() if kind == "map"}
    for node in programme.nodes:
        if isinstance(node, Epigraph):
            maps |= {row.key: maps.get(node.key, 1.0) for row in node.rows}
    values = {key: unit for (kind, key), unit in sizes.items() if kind == "value"}
    with np.errstate(all="ignore"):
        for fraction in (0.0, 0.01, 1.0):
            size, uneven = (
                abs(float(forward(FLOAT, programme, {key: x * values.get(key, 1.0) for key, x in point.items()}).objective))
                for point in _points(programme, fraction)
            )
            size = uneven if size < CANCELLED * uneven < math.inf else size
            if 0.0 < size < math.inf:
                return Sizes(values, maps, float(2.0 ** np.round(np.log2(size))))
    return Sizes(values, maps)


def _points(programme: Programme, fraction: float) -> tuple[dict[Key, Array], dict[Key, Array]]:
    """All entries equal, and no two alike."""
    even = {key: np.full(leaf.size, fraction) for key, leaf in programme.leaves.items()}
    return even, {key: x * np.random.default_rng(len(x)).uniform(0.5, 1.0, len(x)) for key, x in even.items()}


def natural_size(programme: Programme) -> float:
    """The largest part of the objective where each value has its unit; ∞ where there is none."""
    logarithms = _logarithms(programme)
    sizes = [
        float(np.max(np.abs(block.entries), initial=0.0) * np.exp2(logarithms.get(("value", block.value), 0.0)))
        for block in blocks(programme)
        if block.home == OBJECTIVE and block.value is not None
    ]
    return max(sizes, default=0.0) or math.inf


def natural_units(programme: Programme) -> dict[Key, float]:
    """The size of each value that the constants suggest, by least squares; 1 where only the objective would suggest one.

    The objective at 0 is large if constants of its terms are, which says nothing about the size of variables beside them.
    """
    return {key: float(np.exp2(log)) for (kind, key), log in _logarithms(programme, OBJECTIVE).items() if kind == "value"}


def _logarithms(programme: Programme, without: Key | None = None) -> dict[tuple[str, Key], float]:
    """log₂ of units, by least squares, of all maps or `without` one.

    Each block of a map m gives log ρ_m = log σ_v + log|entries|, its constants log ρ_m = log|entries| (with thrice the weight). A term of
    degree p gives σ_t = ρ^p, one without a degree σ_t = ρ = 1. The objective is a map like the others, with little weight.
    """
    unknowns: dict[tuple[str, Key], int] = {}

    def column(kind: str, key: Key) -> int:
        return unknowns.setdefault((kind, key), len(unknowns))

    equations: list[tuple[dict[int, float], float, float]] = []  # factors, right-hand side, weight
    for block in blocks(programme):
        size = float(np.max(np.abs(block.entries), initial=0.0))
        if 0.0 < size < math.inf and block.home != without:
            left = {column("map", block.home): 1.0}
            if block.value is not None:
                left[column("value", block.value)] = -1.0
            weight = FAINT if block.home == OBJECTIVE else CONSTANTS if block.value is None else 1.0
            equations.append((left, math.log2(size), weight))
    for term in programme.terms:
        p = degree(term.atom)
        if p is None:
            equations.append(({column("map", term.key): 1.0}, 0.0, 1.0))
        left = {column("value", term.key): -1.0, column("map", term.key): p or 0.0}
        if isinstance(term.atom, SemidefiniteForm):
            left[column("map", inside(term.key))] = 1.0
        equations.append((left, 0.0, EXACTLY))
    matrix, right = np.zeros((len(equations), len(unknowns))), np.zeros(len(equations))
    for i, (left, value, weight) in enumerate(equations):
        matrix[i, list(left)], right[i] = [weight * c for c in left.values()], weight * value
    found = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return {where: float(found[i]) for where, i in unknowns.items()}
