"""The bounds that a vertex proves of a declaration without nonlinear terms, as floats."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array, Multipliers, Point
from simopt.duality.graph.programme import Leaf, Programme
from simopt.duality.graph.vectors import Mask
from simopt.duality.stationarity.implied import implied
from simopt.duality.vertices.linear_programme import LinearProgramme
from simopt.duality.vertices.simplex import optimal_vertex
from simopt.duality.vertices.vertex import Vertex, rounded_down, rounded_up


@dataclass(frozen=True, eq=False)
class OptimalVertex:
    """A vertex and its multipliers by name, with lower ≤ optimum ≤ upper; a bound that is not proven is infinite."""

    point: Point
    multipliers: Multipliers
    lower: float
    upper: float


def vertex_of(programme: Programme) -> OptimalVertex | None:
    """The vertex that HiGHS calls optimal; None where the programme is not linear, or no vertex is found that fits into floats."""
    linear = LinearProgramme.of(programme)
    found = None if linear is None else optimal_vertex(linear)
    if linear is None or found is None:
        return None
    upper = math.inf if found.upper is None else rounded_up(found.upper)
    lower = found.lower
    if lower is None and upper < math.inf:
        lower = found.lower_within(*_implied_ends(programme, linear, found, upper))
    below = -math.inf if lower is None else rounded_down(lower)
    return OptimalVertex(linear.by_name(found.point), linear.multipliers(found.multipliers), below, upper)


def _implied_ends(programme: Programme, linear: LinearProgramme, found: Vertex, upper: float) -> tuple[Array, Array]:
    """The bounds of all columns, and where a reduced cost asks for another end one that feasibility and f ≤ upper imply."""
    wanted, start = dict[int, Mask](), 0
    low, high = linear.low.copy(), linear.high.copy()
    asked = found.asking_for_ends()
    for variable in linear.variables:
        own = asked[start : start + variable.size]
        if isinstance(variable, Leaf) and own.any():
            wanted[variable.key] = own
        start += variable.size
    limits, start = implied(programme, upper, wanted), 0
    for variable in linear.variables:
        if variable.key in limits:
            part = slice(start, start + variable.size)
            least, most = limits[variable.key]
            low[part], high[part] = np.maximum(low[part], least), np.minimum(high[part], most)
        start += variable.size
    return low, high
