"""A feasible point near a given one: within the bounds, and drawn towards a point inside where a row is violated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arrays import Array
from simopt.duality.affine import Key
from simopt.duality.bounds import box
from simopt.duality.forward import Forward, forward
from simopt.duality.programme import Programme
from simopt.duality.vectors import Value, floats, vector

STEPS = 40  # how often the step back is doubled before it is given up
LEAST = 2.0**-50  # the first step back beyond what floats ask for


def within(num: Arithmetic, programme: Programme, point: Mapping[Key, Value]) -> dict[Key, Value]:
    """Each leaf drawn into its bounds."""
    drawn = {key: vector(num, point[key]) for key in programme.leaves}
    for key in programme.bounds:
        if key in drawn:
            drawn[key] = box(num, programme, programme.leaves[key]).clip(num, drawn[key])
    return drawn


def restored(num: Arithmetic, programme: Programme, point: Mapping[Key, Value]) -> tuple[dict[Key, Value], Forward]:
    """x in its bounds, then x̄ + θ(x − x̄), x̄ = 0 drawn into the bounds, with the largest θ ≤ 1 at which the rows are proven to hold.

    A row g is convex, so g(x̄ + θ(x − x̄)) ≤ (1 − θ)g(x̄) + θg(x), which is ≤ 0 for θ = −g(x̄)/(g(x) − g(x̄)) where g(x̄) < 0: θ is taken
    from floats, and lowered until the arithmetic asked for proves the rows. Where it does not, the point stays as it is, and is violated.
    """
    inside = within(num, programme, point)
    found = forward(num, programme, inside)
    broken = [row for row in programme.rows if not row.equality]
    if not found.violated or not broken:
        return inside, found
    given = {key: floats(num, value) for key, value in inside.items()}
    centre = within(FLOAT, programme, {key: np.zeros(leaf.size) for key, leaf in programme.leaves.items()})
    here, there = forward(FLOAT, programme, given), forward(FLOAT, programme, centre)
    theta = min((_share(here.rows[row.key], there.rows[row.key]) for row in broken), default=1.0)
    if not theta > 0.0:
        return inside, found
    back = LEAST
    for _ in range(STEPS):
        share = theta * (1.0 - back)
        nearer = {key: vector(num, centre[key] + share * (given[key] - centre[key])) for key in given}
        drawn = within(num, programme, nearer)
        there = forward(num, programme, drawn)
        if not there.violated:
            return drawn, there
        back = min(2.0 * back, 1.0)
    return inside, found


def _share(value: Array, inner: Array) -> float:
    """The least θ over the entries of a row that is violated; 0 where the centre is not inside."""
    broken = ~(value <= 0.0)
    if not broken.any():
        return 1.0
    with np.errstate(all="ignore"):
        shares = np.where(inner < 0.0, -inner / (value - inner), 0.0)[broken]
    return float(np.min(np.where(np.isfinite(shares), shares, 0.0)))
