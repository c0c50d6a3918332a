"""Changes of units that a declaration admits, derived from it: the powers of s that its fields, variables and multipliers take together.

The declaration depends on the numbers θ_i of its fields through the entries c of its affine maps. The entries form blocks: those of one
variable or term, and constants. Let a_i be the exponent of θ_i, u_v that of the value v and ρ_m that of the entries of the map m. All terms
of a sum have one unit, so by Euler's theorem on homogeneous functions

    Σ_i a_i ∂c/∂log θ_i = (ρ_m − u_v) c  for the entries c of each block,
    u_t = p ρ_z  for each term t = φ(z), φ of degree p;  u_t = ρ_z = 0 where φ has none.

The solutions are the changes of units (exponents of dimensional analysis: Buckingham 1914). Derivatives are computed by differences where
doubling θ does not give them. Solutions are rounded to fractions and tested: a change is proposed only if s = 2 and s = 4 change all
entries as predicted. Conformance then compares problems on both sides of it, and no certificate depends on it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.duality.atoms.quadratic_form import SemidefiniteForm
from simopt.duality.graph.programme import Definition, Epigraph, Leaf, Programme
from simopt.duality.units.units import OBJECTIVE, UnitBlock, blocks, degree, inside
from simopt.model.problem import Image

if TYPE_CHECKING:
    from simopt.duality.declaration import DeclaredProblem

P = TypeVar("P", bound="DeclaredProblem")
Unknown = tuple[str, Any]  # a field by name; a map or value by key
STEP = 1e-4  # of log θ: differences have errors of its square, and of rounding divided by it
ZERO = 1e-6  # smaller derivatives count as 0, if others have size 1
EXACT = 1e-9  # relative: the effect of rounding on the declared entries


@dataclass(frozen=True)
class UnitChange:
    """Exponents: s^e times each field, variable and multiplier of that name gives s^objective times the problem. Others stay."""

    fields: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)
    multipliers: Mapping[str, int] = field(default_factory=dict)
    objective: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{name} × s" + ("" if e == 1 else f"^{e}") for name, e in self.fields.items())

    def by(self, problem: P, s: float) -> P:
        """The problem in other units."""
        changed: P = scaled(problem, {name: s**e for name, e in self.fields.items()})
        return changed

    def rescalings(self, s: float) -> tuple[Callable[[Point], Point], Callable[[Multipliers], Multipliers]]:
        """The maps of points and of multipliers."""
        return partial(_rescaled, s, self.values), partial(_rescaled, s, self.multipliers)

    def image(self, problem: DeclaredProblem, s: float) -> Image:
        """As a law."""
        return Image(self.by(problem, s), s**self.objective, *self.rescalings(s))


def _rescaled(s: float, exponents: Mapping[str, int], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value) * s ** exponents.get(name, 0) for name, value in values.items()}


def numbers(problem: Any, before: str = "") -> dict[str, Any]:
    """The real fields by name, arrays first, also those of fields that are dataclasses ("bound.radius")."""
    found: dict[str, Any] = {}
    for item in dataclasses.fields(problem):
        value = getattr(problem, item.name)
        if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype == float):
            found[before + item.name] = value
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            found |= numbers(value, f"{before}{item.name}.")
    return dict(sorted(found.items(), key=lambda each: not isinstance(each[1], np.ndarray)))


def scaled(problem: Any, factors: Mapping[str, float]) -> Any:
    """The problem with the numbers of these names multiplied."""
    changed: dict[str, Any] = {}
    parts: dict[str, dict[str, float]] = {}
    for name, factor in factors.items():
        first, _, rest = name.partition(".")
        if rest:
            parts.setdefault(first, {})[rest] = factor
        else:
            changed[first] = getattr(problem, first) * factor
    return replace(problem, **changed, **{name: scaled(getattr(problem, name), inner) for name, inner in parts.items()})


def natural(problem: DeclaredProblem, changes: Iterable[UnitChange]) -> UnitChange:
    """The change (by 2) after which the leading field of each of the changes has size 1."""
    fields: dict[str, int] = {}
    values: dict[str, int] = {}
    multipliers: dict[str, int] = {}
    objective = 0
    for change in changes:
        name, exponent = next(iter(change.fields.items()))
        size = float(np.max(np.abs(numbers(problem)[name]), initial=0.0))
        k = -round(math.log2(size) / exponent) if 0.0 < size < math.inf else 0
        for sums, part in ((fields, change.fields), (values, change.values), (multipliers, change.multipliers)):
            for key, e in part.items():
                sums[key] = sums.get(key, 0) + k * e
        objective += k * change.objective
    return UnitChange(fields, values, multipliers, objective)


_known: dict[Any, tuple[UnitChange, ...]] = {}


def changes_of(problem: DeclaredProblem) -> tuple[UnitChange, ...]:
    """The changes of units of a problem, one for each number of free size.

    They are those of the first example of the same form whose numbers are not 0, if there is one, because the response to a number 0 is
    unknown. Small data are as informative as large ones, and all problems of one form have the same changes.
    """
    form = _form(problem)
    if form not in _known:
        examples: Iterable[Any] = (example.problem for example in type(problem).examples(np.random.default_rng(0)))
        speaking = (each for each in (*examples, problem) if all(np.any(value) for value in numbers(each).values()))
        first = next((each for each in speaking if _form(each) == form), None)
        if first is None:
            return tuple(_changes(problem, list(numbers(problem))))
        _known[form] = tuple(_changes(first, list(numbers(first))))
    return _known[form]


def _form(problem: DeclaredProblem) -> tuple[Any, ...]:
    """The types and names of a problem's parts."""
    kinds = [type(problem), *(type(getattr(problem, item.name)) for item in dataclasses.fields(problem))]
    leaves = problem.derived.programme.leaves.values()
    return (*kinds, *numbers(problem), *problem.derived.names, *(leaf.name for leaf in leaves))


def _blocks(problem: DeclaredProblem, factors: Mapping[str, float], like: list[UnitBlock]) -> list[Array] | None:
    """The entries of the blocks with numbers multiplied; None if the declaration changes its structure, or does not exist."""
    try:
        programme = scaled(problem, factors).derived.programme
        after = list(blocks(programme))
    except (InvalidProblem, ArithmeticError):
        return None
    same = [(b.home, b.value, len(b.entries)) for b in after] == [(b.home, b.value, len(b.entries)) for b in like]
    return [block.entries for block in after] if same and _functions(programme) == _functions(problem.derived.programme) else None


def _functions(programme: Programme) -> list[Any]:
    """The functions of the terms with their exponents, weights and counts, which have no unit."""
    plain = (Real, tuple)
    attributes = [{} if isinstance(term.atom, SemidefiniteForm) else vars(term.atom) for term in programme.terms]
    plain_ones = [{name: value for name, value in own.items() if isinstance(value, plain)} for own in attributes]
    return [(type(term.atom), own) for term, own in zip(programme.terms, plain_ones, strict=True)]


def _hold(problem: DeclaredProblem, fields: Mapping[str, int], powers: list[float]) -> bool:
    """Whether s = 2 and s = 4 multiply each block by the predicted power of s."""
    before = list(blocks(problem.derived.programme))
    for s in (2.0, 4.0):
        after = _blocks(problem, {name: s**e for name, e in fields.items()}, before)
        if after is None:
            return False
        for block, entries, e in zip(before, after, powers, strict=True):
            size = s**e * float(np.max(np.abs(block.entries), initial=0.0))
            if not np.allclose(entries, s**e * block.entries, rtol=EXACT, atol=EXACT * size):
                return False
    return True


def _equations(problem: DeclaredProblem, real: list[str]) -> Iterator[dict[Unknown, float]]:
    """Equations in the unknown exponents: factors whose weighted sum is 0."""
    programme = problem.derived.programme
    before = list(blocks(programme))
    slopes = [_slopes(problem, name, before) for name in real]
    yield from ({("field", name): 1.0} for name, found in zip(real, slopes, strict=True) if found is None)
    for number, block in enumerate(before):
        unknowns: list[tuple[Unknown, float]] = [(("map", block.home), -1.0)]
        if block.value is not None:
            unknowns.append((("value", block.value), 1.0))
        none = np.zeros(len(block.entries))
        table = np.column_stack([*(none if found is None else found[number] for found in slopes), block.entries])
        size = np.where(block.entries != 0.0, np.abs(block.entries), np.max(np.abs(table), axis=1, initial=0.0))
        table = table[size > 0.0] / size[size > 0.0, None]
        rows: Array = np.asarray(np.linalg.qr(table, mode="r")) / math.sqrt(max(len(table), 1))
        for row in rows:
            yield {("field", name): c for name, c in zip(real, row, strict=False)} | {unknown: sign * row[-1] for unknown, sign in unknowns}
    for term in programme.terms:
        p = degree(term.atom)
        if p is None:
            yield {("map", term.key): 1.0}
        matrix = {("map", inside(term.key)): 1.0} if isinstance(term.atom, SemidefiniteForm) else {}
        yield {("value", term.key): -1.0, ("map", term.key): p or 0.0} | matrix


def _slopes(problem: DeclaredProblem, name: str, before: list[UnitBlock]) -> list[Array] | None:
    """∂c/∂log θ of each block, k c where doubling θ multiplies c by 2^k; None if the declaration changes its structure."""
    up, down = (_blocks(problem, {name: math.exp(step)}, before) for step in (STEP, -STEP))
    if up is None or down is None:
        return None
    twice = _blocks(problem, {name: 2.0}, before) or [np.full(len(block.entries), np.nan) for block in before]
    found = []
    for block, one, other, two in zip(before, up, down, twice, strict=True):
        c = block.entries
        largest = int(np.argmax(np.abs(c))) if c.size else 0
        ratio = two[largest] / c[largest] if c.size and c[largest] != 0.0 else math.nan
        plain = ratio > 0.0 and np.allclose(two, ratio * c, rtol=EXACT, atol=EXACT * abs(two[largest]))
        found.append(c * math.log2(ratio) if plain else (one - other) / (2.0 * STEP))
    return found


def _solved(equations: Iterable[dict[Unknown, float]], real: list[str]) -> dict[Unknown, dict[str, float]]:
    """Each unknown by the fields that stay free: other unknowns are eliminated first, then later fields before earlier ones."""
    found = list(equations)
    others = dict.fromkeys(unknown for equation in found for unknown in equation if unknown[0] != "field")
    order: list[Unknown] = [*others, *(("field", name) for name in reversed(real))]
    column = {unknown: j for j, unknown in enumerate(order)}
    matrix = np.zeros((len(found), len(order)))
    for i, equation in enumerate(found):
        for unknown, c in equation.items():
            matrix[i, column[unknown]] = c
    pivots: list[Unknown] = []
    for unknown, j in column.items():
        rest = np.abs(matrix[len(pivots) :, j])
        if rest.size and rest.max() > ZERO:
            top = len(pivots)
            i = top + int(np.argmax(rest))
            matrix[[top, i]] = matrix[[i, top]]
            matrix[top] /= matrix[top, j]
            below = np.arange(len(matrix)) != top
            matrix[below] -= np.outer(matrix[below, j], matrix[top])
            pivots.append(unknown)
    free = [name for name in real if ("field", name) not in pivots]
    solved = {unknown: {name: -matrix[i, column["field", name]] for name in free} for i, unknown in enumerate(pivots)}
    return solved | {("field", name): {name: 1.0} for name in free}


def _changes(problem: DeclaredProblem, real: list[str]) -> Iterator[UnitChange]:
    derived, programme = problem.derived, problem.derived.programme
    solved = _solved(_equations(problem, real), real)
    homes = {row.key: node.key for node in programme.nodes if isinstance(node, Epigraph) for row in node.rows}
    variables = [node for node in (*programme.leaves.values(), *programme.nodes) if isinstance(node, (Leaf, Definition, Epigraph))]
    for free in (name for name in real if name in solved["field", name]):

        def exponent(kind: str, key: Any, free: str = free) -> Fraction:
            return Fraction(solved.get((kind, key), {}).get(free, 0.0)).limit_denominator(12)

        goal = exponent("map", OBJECTIVE)
        given = {name: exponent("field", name) for name in sorted(real, key=lambda name: name != free)}
        values = {node.name: exponent("value", node.key) for node in variables}
        multipliers = {name: goal - exponent("map", homes.get(key, key)) for name, (_, key, _) in derived.names.items()}
        powers = [exponent("map", block.home) - exponent("value", block.value) for block in blocks(programme)]
        least = math.lcm(goal.denominator, *(e.denominator for part in (given, values, multipliers) for e in part.values()))
        fields, points, duals = ({name: int(e * least) for name, e in part.items() if e} for part in (given, values, multipliers))
        if _hold(problem, fields, [float(e * least) for e in powers]):
            yield UnitChange(fields, points, duals, int(goal * least))
