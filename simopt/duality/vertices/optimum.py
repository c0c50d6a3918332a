"""The bounds that a vertex proves of a linear declaration, as floats."""

from __future__ import annotations

import math
from dataclasses import dataclass

from simopt.core.arrays import Multipliers, Point
from simopt.duality.graph.programme import Programme
from simopt.duality.vertices.linear_programme import LinearProgramme
from simopt.duality.vertices.safe_bound import safe_bound
from simopt.duality.vertices.simplex import inner_multipliers, optimal_vertex
from simopt.duality.vertices.vertex import rounded_down, rounded_up


@dataclass(frozen=True, eq=False)
class OptimalVertex:
    """A vertex and its multipliers by name, with lower ≤ optimum ≤ upper; a bound that is not proven is infinite."""

    point: Point
    multipliers: Multipliers
    lower: float
    upper: float


def vertex_of(programme: Programme) -> OptimalVertex | None:
    """The vertex that HiGHS calls optimal; None where the programme is not linear, or no vertex is found that fits into floats.

    If it proves no lower bound, another solve is asked for multipliers that give one.
    """
    linear = LinearProgramme.of(programme)
    found = None if linear is None else optimal_vertex(linear)
    if linear is None or found is None:
        return None
    upper = math.inf if found.upper is None else rounded_up(found.upper)
    multipliers, lower = found.multipliers, -math.inf
    if found.lower is not None:
        lower = rounded_down(found.lower)
    elif (inner := inner_multipliers(linear)) is not None:
        multipliers, lower = inner, safe_bound(linear, inner)
    return OptimalVertex(linear.by_name(found.point), linear.multipliers(multipliers), lower, upper)
