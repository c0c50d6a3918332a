"""The bounds that a vertex proves of a linear declaration, as floats."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from simopt.core.arrays import Multipliers, Point
from simopt.duality.graph.leaf_values import changing
from simopt.duality.graph.programme import Programme
from simopt.duality.vertices.linear_programme import LinearProgramme
from simopt.duality.vertices.safe_bound import safe_bound
from simopt.duality.vertices.simplex import further_vertices, inner_multipliers, optimal_vertex
from simopt.duality.vertices.vertex import rounded_down, rounded_up


@dataclass(frozen=True, eq=False)
class OptimalVertex:
    """A vertex, and multipliers of it or of another one, by name, with lower ≤ optimum ≤ upper; a bound that is not proven is infinite."""

    point: Point
    multipliers: Multipliers
    lower: float
    upper: float


def vertex_of(programme: Programme) -> OptimalVertex | None:
    """The vertex that HiGHS calls optimal, kept for the present values of parameters; None where there is none, see `_vertex_of`."""
    return cast("OptimalVertex | None", programme.optima.of(("vertex", *changing(programme.problem)), {}, lambda _: _vertex_of(programme)))


def _vertex_of(programme: Programme) -> OptimalVertex | None:
    """None where the programme is not linear, or no vertex is found that fits into floats.

    Where it proves one of the bounds alone, or none, further vertices are tried, and the best of each bound is taken. If none proves a
    lower bound, another solve is asked for multipliers that give one.
    """
    linear = LinearProgramme.of(programme)
    if linear is None:
        return None
    found = optimal_vertex(linear)
    high = low = found
    others = further_vertices(linear, found)
    with suppress(OverflowError):  # where no float is near a number, what is proven so far stays
        while high is None or low is None or high.upper is None or low.lower is None:
            other = next(others, None)
            if other is None:
                break
            if high is None or (other.upper is not None and (high.upper is None or other.upper < high.upper)):
                high = other
            if low is None or (other.lower is not None and (low.lower is None or other.lower > low.lower)):
                low = other
    if high is None or low is None:
        return None
    upper = math.inf if high.upper is None else rounded_up(high.upper)
    multipliers, lower = low.multipliers, -math.inf
    if low.lower is not None:
        lower = rounded_down(low.lower)
    elif (inner := inner_multipliers(linear)) is not None:
        multipliers, lower = inner, safe_bound(linear, inner)
    return OptimalVertex(linear.by_name(high.point), linear.multipliers(multipliers), lower, upper)
