"""Proofs that the objective has no least value: a feasible point, and a feasible direction along which the objective always falls.

Let x be a point of which all rows are proven. Let d be a direction with f_∞(d) < 0, g_∞(d) ≤ 0 for every row g ≤ 0 and A d = 0 for rows
Ax = b. Then each x + td, t ≥ 0, is feasible, and f(x + td) ≤ f(x) + t f_∞(d) → −∞. The direction is a feasible point of a declared problem
(`recession`), whose objective there is judged like any other. If no direction has a slope below 0, the problem may still be unbounded, as
−y is where y² ≤ x; such problems are not decided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, NotRational
from simopt.core.arrays import Array, Point
from simopt.core.errors import InvalidProblem, NotAvailable, Unreadable
from simopt.duality.declared import Declared
from simopt.duality.graph_form import solved
from simopt.duality.infeasibility.infeasible import LARGEST
from simopt.duality.infeasibility.recession import Recession

WHOLE = 24  # the largest common denominator of a direction's entries that is tried
NEAR = 1e-5  # the distance of an entry to a multiple of the denominator's reciprocal
GRID = 2.0**-12  # entries without a common denominator are rounded to its multiples


@dataclass(frozen=True)
class Unbounded:
    """Along `direction` the minimised objective falls without end, by at least −`slope` > 0 for each unit if `linear_rate` holds.

    Attributes
    ----------
    slope : float
    linear_rate : bool
        whether `slope` is a slope; False where a logarithm falls, or a root.
    direction : dict
        of all variables by name, in floats; `falls.restore` makes of it the one that is judged.
    falls : Declared
        the recession problem.
    point : dict or None
        the start, in floats; `Declared.restore` makes it feasible. None if none was found: the problem is unbounded if it is feasible.
    """

    slope: float
    linear_rate: bool
    direction: Point
    falls: Declared
    point: Point | None
    arithmetic: str


def unbounded(declared: Declared, num: Arithmetic = INTERVAL, point: Point | None = None) -> Unbounded | None:
    """A direction along which the objective falls without end, from one solve, and a feasible point: the given one, or from another solve.

    None if no direction is found, which does not prove that the problem is bounded. If intervals do not prove it of a small problem,
    fractions are tried, and `arithmetic` names them.

    Raises
    ------
    InvalidProblem
        for FLOAT: a slope of −1e-17 in floats may be one of 0.
    NotRational
        where fractions do not suffice.
    """
    if num is FLOAT:
        raise InvalidProblem("arithmetic: floats prove no slope to be below 0; use INTERVAL or RATIONAL")
    try:
        form = _form(declared)
        falls = Declared.of(form.problem)
        found, _ = solved(falls)
    except (NotAvailable, Unreadable, InvalidProblem, ValueError):
        return None
    for tried, slope, arithmetic in _slopes(falls, list(_directions(found)), num):
        if slope < 0.0:
            zeros = {name: np.zeros(v.shape) for v, name in declared.written}
            start = _start(declared, num, point)
            return Unbounded(slope, form.linear_rate, zeros | falls.variables(tried), falls, start, arithmetic)
    return None


def _slopes(falls: Declared, directions: list[Point], num: Arithmetic) -> Iterator[tuple[Point, float, str]]:
    """Slopes in the arithmetic asked for; for small problems also in fractions, which decide rows without slack."""
    for tried in directions:
        yield tried, _slope(falls, tried, num), num.name
    if num is INTERVAL and sum(leaf.size for leaf in falls.programme.leaves.values()) <= LARGEST:
        with suppress(NotRational):
            for tried in directions:
                yield tried, _slope(falls, tried, RATIONAL), RATIONAL.name


def _slope(falls: Declared, direction: Point, num: Arithmetic) -> float:
    return num.upper(falls.objective(falls.restore(direction, num), num))


def recession(declared: Declared) -> Declared:
    """The recession problem of a declared one, with the same names of variables; see `Recession`."""
    return Declared.of(_form(declared).problem)


def _form(declared: Declared) -> Recession:
    programme = declared.programme
    if programme.promises:
        raise Unreadable("directions without end where signs are promised, not proven", "", "use an expression whose sign CVXPY knows")
    names = {each.key: each.name for each in (*programme.nodes, *programme.leaves.values())}
    return Recession(programme.problem, {number: names[key] for number, key in programme.variables.items()})


def replayed(declared: Declared, direction: Point, num: Arithmetic = INTERVAL) -> float:
    """A bound on the slope along a recorded direction: the objective is unbounded if it is below 0 and a point is feasible."""
    falls = recession(declared)
    given = {leaf.name: np.asarray(direction[leaf.name], dtype=float) for leaf in falls.programme.leaves.values()}
    return _slope(falls, given, num)


def _directions(direction: Point) -> Iterator[Point]:
    """With entries of a small common denominator, so that rows hold exactly; as it is; and rounded to a grid."""
    largest = max(float(np.max(np.abs(d), initial=0.0)) for d in direction.values())
    if not 0.0 < largest < math.inf:
        return
    unit = {name: d / largest for name, d in direction.items()}
    for denominator in range(1, WHOLE + 1):
        if all(np.all(np.abs(d * denominator - np.rint(d * denominator)) <= NEAR) for d in unit.values()):
            yield {name: np.rint(d * denominator) / _power_above(denominator) for name, d in unit.items()}
            break
    yield direction
    yield {name: np.rint(d / GRID) * GRID for name, d in unit.items()}


def _power_above(n: int) -> float:
    return 2.0 ** math.ceil(math.log2(n))


def _start(declared: Declared, num: Arithmetic, point: Point | None) -> Point | None:
    """A feasible point: the one nearest to 0, the given one, or the minimum of f + ‖x‖², which is attained if a point is feasible."""
    for given in (declared.trivial_point(), point):
        if given is not None and _is_feasible(declared, num, given):
            return given
    problem = declared.programme.problem
    f = -problem.objective.expr if declared.maximises else problem.objective.expr
    squares = sum(cp.sum_squares(v) for v, _ in declared.written)
    try:
        near = Declared.of(cp.Problem(cp.Minimize(f + squares), problem.constraints))
        values = near.variables(solved(near)[0])
    except (NotAvailable, Unreadable, InvalidProblem):
        return None
    by_number: dict[int, Array] = {v.id: values[name] for v, name in near.written}
    given = {leaf.name: by_number[leaf.variable.id] for leaf in declared.programme.leaves.values()}
    return given if _is_feasible(declared, num, given) else None


def _is_feasible(declared: Declared, num: Arithmetic, point: Point) -> bool:
    return num.upper(declared.objective(declared.restore(point, num), num)) < math.inf
