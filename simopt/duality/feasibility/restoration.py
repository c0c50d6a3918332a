"""A feasible point near a given one: in the bounds, on the equalities, and on violated rows or nearer to a Slater point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from simopt.arithmetic import FLOAT, RATIONAL, Arithmetic
from simopt.arithmetic.eigenvalues import least_bound
from simopt.core.arrays import Array
from simopt.duality.atoms.semidefinite_cone import DecreasingMatrixAtom
from simopt.duality.evaluation.bounds import within
from simopt.duality.evaluation.equalities import drawn, is_affine
from simopt.duality.evaluation.forward import Forward, forward
from simopt.duality.feasibility.newton import step_inside
from simopt.duality.feasibility.slater import Inside, SlaterCandidates
from simopt.duality.graph.affine import Key
from simopt.duality.graph.programme import Programme, Row
from simopt.duality.graph.vectors import Indices, Value, floats, upper_ends

LEAST = 2.0**-50  # the first step towards a Slater point, where floats need none
LONGER = 8.0  # factor of each further step
SHORTER = 4  # attempts to shorten a step that succeeded
BEYOND = 1.001  # factor of the first step, so that rounding does not make it too short
ROUNDS = 3  # of rows that a point, moved onto others, comes to violate
LITTLE = 1e-9  # of the objective: for a smaller loss no better Slater point is sought
SMALL = 1e-6  # the same of a point that is moved by no more than its rows are violated: no Slater point is sought beside it
SHORT = 1e-3  # a step towards 0 as short as this shows that 0 is far inside: other Slater points cost as much

Restored = tuple[dict[Key, Value], Forward]


def restored(
    num: Arithmetic,
    programme: Programme,
    point: Mapping[Key, Value],
    interior: SlaterCandidates,
    max_loss: float = 0.0,
    little: float = LITTLE,
) -> Restored:
    """x in its bounds, on the equalities, on the affine rows that it violates, or (1 − θ)x + θx̄, θ the smallest found that is feasible.

    x̄ is a Slater point. A row g is convex, so g((1 − θ)x + θx̄) ≤ (1 − θ)g(x) + θg(x̄), which is ≤ 0 for θ = g(x)/(g(x) − g(x̄)) where
    g(x̄) < 0. θ is computed in floats, and raised until the arithmetic asked for proves the rows, with the equalities solved anew. If that
    fails the point stays near x and is violated. A Slater point that costs at most `max_loss` of the objective, or the fraction `little` of
    it, is the last one tried. Whoever allows more than LITTLE gets no other than 0 where a SHORT step towards it suffices; whoever allows a
    loss, where any does.
    """
    given = within(num, programme, point)
    found = forward(num, programme, given)
    if not found.violated:
        return given, found
    x = drawn(FLOAT, programme, {key: floats(num, value) for key, value in given.items()})
    values, there = _on_equalities(num, programme, x)
    if not there.violated:
        return values, there

    def is_near(restored: Restored, little: float) -> bool:
        upper = num.upper(restored[1].objective)
        return upper - float(num.mid(there.objective)) <= max(max_loss, little * abs(upper))

    best = _on_rows(num, programme, x, (values, there))
    if not best[1].violated and is_near(best, SMALL):
        return best
    for number, inside in enumerate(interior.points(x)):
        nearer, step = _towards(num, programme, x, inside, (values, there))
        if nearer is not None:
            if best[1].violated or num.upper(nearer[1].objective) < num.upper(best[1].objective):
                best = nearer
            if number > 0 or is_near(nearer, little):
                break
        if number == 0 and num is not RATIONAL:  # before another Slater point is solved for; a root is no fraction at any point
            inner = _into_rows(num, programme, x, (values, there))
            if not inner[1].violated and is_near(inner, SMALL):
                return inner
        if step <= (1.0 if max_loss > 0.0 else SHORT if little > LITTLE else 0.0):
            break
    return best


def _on_equalities(num: Arithmetic, programme: Programme, x: Mapping[Key, Array], tight: Sequence[tuple[Row, Indices]] = ()) -> Restored:
    """Floats as values: in their bounds and on the equalities."""
    values = within(num, programme, drawn(num, programme, x, tight))
    return values, forward(num, programme, values)


def _on_rows(num: Arithmetic, programme: Programme, x: Mapping[Key, Array], at: Restored) -> Restored:
    """Floats as values, moved onto the affine rows that they violate, as if these were equalities; as they were where that does not help.

    Where rows hold without slack at every feasible point, and those of a solver are violated by rounding, no Slater point helps.
    """
    moved, affine = at, [row for row in programme.rows if not row.equality and is_affine(programme, row)]
    tight = {row.key: (row, np.zeros(0, dtype=np.intp)) for row in affine}
    for _ in range(ROUNDS):
        broken = {key: np.flatnonzero(~(upper_ends(num, moved[1].rows[key]) <= 0.0)) for key in tight}
        more = {key: np.union1d(tight[key][1], entries) for key, entries in broken.items()}
        if all(len(more[key]) == len(entries) for key, (_, entries) in tight.items()):
            break
        tight = {key: (row, more[key]) for key, (row, _) in tight.items()}
        moved = _on_equalities(num, programme, x, list(tight.values()))
        if not moved[1].violated:
            return moved
    return at


def _into_rows(num: Arithmetic, programme: Programme, x: Mapping[Key, Array], at: Restored) -> Restored:
    """Floats as values, moved by Newton's steps to where the rows that they violate hold with a little slack; else as they were."""
    moved, chosen = at, {row.key: np.zeros(0, dtype=np.intp) for row in programme.rows if not row.equality}
    for _ in range(ROUNDS):
        broken = {key: np.flatnonzero(~(upper_ends(num, moved[1].rows[key]) <= 0.0)) for key in chosen}
        chosen = {key: np.union1d(entries, broken[key]) for key, entries in chosen.items()}
        nearer = step_inside(programme, x, chosen) if any(len(entries) for entries in broken.values()) else None
        if nearer is None:
            break
        x, moved = nearer, _on_equalities(num, programme, nearer)
        if not moved[1].violated:
            return moved
    return at


def _towards(num: Arithmetic, programme: Programme, x: Mapping[Key, Array], inside: Inside, at: Restored) -> tuple[Restored | None, float]:
    """The point that a small step θ leads to, from x towards a Slater point at which all is proven to hold, and θ; ∞ where it is not.

    θ of floats is made longer until the point is feasible. Then it is made as short as its chord allows, since g(x + θ(x̄ − x)) is convex
    in θ.
    """
    x = inside.at_ends(x)
    here = _on_equalities(num, programme, x, inside.tight) if inside.tight or inside.ends else at
    whole = _on_equalities(num, programme, inside.point, inside.tight)
    if not here[1].violated or whole[1].violated:
        return (None, np.inf) if whole[1].violated else (here, 0.0)

    def at_step(step: float) -> Restored:
        nearer = {key: value + step * (inside.point[key] - value) for key, value in x.items()}
        return _on_equalities(num, programme, nearer, inside.tight)

    step, found = max(LEAST, _chord(num, programme, inside, here, whole)) * BEYOND, whole
    while step < 1.0:
        found = at_step(step)
        if not found[1].violated:
            break
        step, found = step * LONGER, whole
    step = min(step, 1.0)
    for _ in range(SHORTER):
        fraction = _chord(num, programme, inside, here, found) * BEYOND
        if not LEAST < fraction * step < step / 2:
            break
        nearer = at_step(fraction * step)
        if nearer[1].violated:
            break
        step, found = fraction * step, nearer
    return found, step


def _chord(num: Arithmetic, programme: Programme, inside: Inside, here: Restored, there: Restored) -> float:
    """The greatest θ that a row, or an eigenvalue, needs which is violated here and not there."""
    tight, step = {row.key: entries for row, entries in inside.tight}, 0.0
    for row in programme.rows:
        if not row.equality:
            ends = (upper_ends(num, end[1].rows[row.key]) for end in (here, there))
            step = max(step, _step_length(*(np.delete(end, tight.get(row.key, [])) for end in ends)))
    for term in programme.terms:
        if isinstance(term.atom, DecreasingMatrixAtom):
            matrices = (term.atom.matrix(num, end[1].arguments[term.key]) for end in (here, there))
            step = max(step, _step_length(*(np.array([-least_bound(num, matrix)]) for matrix in matrices)))
    return step


def _step_length(value: Array, inner: Array) -> float:
    """The greatest θ over the entries of a violated row; ∞ where the other point is not inside."""
    broken = ~(value <= 0.0)
    if not broken.any():
        return 0.0
    with np.errstate(all="ignore"):
        step_lengths = np.where(inner < 0.0, value / (value - inner), np.inf)[broken]
    return float(np.max(np.where(np.isnan(step_lengths), np.inf, step_lengths)))
