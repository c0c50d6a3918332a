"""A feasible point near a given one: within the bounds, on the equalities, and drawn towards a point inside where a row is violated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arrays import Array
from simopt.duality.affine import Key
from simopt.duality.bounds import within
from simopt.duality.equalities import drawn
from simopt.duality.forward import Forward, forward
from simopt.duality.programme import Programme
from simopt.duality.slater import Interior
from simopt.duality.vectors import Value, floats, upper_ends

LEAST = 2.0**-50  # the first step towards a point inside, where floats ask for none
LONGER = 8.0  # each further step
LITTLE = 1e-9  # of the objective: to lose less is as good as nothing, and no better point inside is asked for

Restored = tuple[dict[Key, Value], Forward]


def restored(num: Arithmetic, programme: Programme, point: Mapping[Key, Value], interior: Interior) -> Restored:
    """x in its bounds; on the equalities, where it is not; and (1 − θ)x + θx̄ with x̄ inside, with the smallest θ that is found to do.

    A row g is convex, so g((1 − θ)x + θx̄) ≤ (1 − θ)g(x) + θg(x̄), which is ≤ 0 for θ = g(x)/(g(x) − g(x̄)) where g(x̄) < 0. θ is taken from
    floats, and raised until the arithmetic asked for proves the rows, equalities that were solved anew among them. Where it does not, the
    point stays near x, and is violated.
    """
    given = within(num, programme, point)
    found = forward(num, programme, given)
    if not found.violated:
        return given, found
    x = drawn(FLOAT, programme, {key: floats(num, value) for key, value in given.items()})
    values, there = _settled(num, programme, x)
    if not there.violated:
        return values, there
    best = values, there
    for number, inside in enumerate(interior.points(x)):
        nearer = _towards(num, programme, x, inside, there)
        if nearer is not None:
            upper = num.upper(nearer[1].objective)
            if best[1].violated or upper < num.upper(best[1].objective):
                best = nearer
            if number > 0 or upper - float(num.mid(there.objective)) <= LITTLE * abs(upper):
                break
    return best


def _settled(num: Arithmetic, programme: Programme, x: Mapping[Key, Array]) -> Restored:
    """Floats as values: in their bounds, and on the equalities."""
    values = within(num, programme, drawn(num, programme, x))
    return values, forward(num, programme, values)


def _towards(num: Arithmetic, programme: Programme, x: Mapping[Key, Array], inside: Mapping[Key, Array], at: Forward) -> Restored | None:
    """What the least step θ leads to from x towards a point inside at which all is proven to hold."""
    whole = _settled(num, programme, inside)
    if whole[1].violated:
        return None
    broken = [row.key for row in programme.rows if not row.equality]
    ends = ((upper_ends(num, at.rows[key]), upper_ends(num, whole[1].rows[key])) for key in broken)
    step = max((_share(value, inner) for value, inner in ends), default=0.0)
    step = max(step, LEAST)
    while step < 1.0:
        found = _settled(num, programme, {key: value + step * (inside[key] - value) for key, value in x.items()})
        if not found[1].violated:
            return found
        step *= LONGER
    return whole


def _share(value: Array, inner: Array) -> float:
    """The greatest θ over the entries of a row that is violated; ∞ where the other point is not inside."""
    broken = ~(value <= 0.0)
    if not broken.any():
        return 0.0
    with np.errstate(all="ignore"):
        shares = np.where(inner < 0.0, value / (value - inner), np.inf)[broken]
    return float(np.max(np.where(np.isnan(shares), np.inf, shares)))
