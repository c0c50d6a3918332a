"""The formulas of a problem compared with those that are derived from its declaration: each checks the other's bounds.

Both bound one optimum. So no lower bound of either lies above an upper bound of the other, whatever the point and the multipliers; and at
one point both have one objective. A contradiction is a defect of one of the two, or a declaration of another problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.arithmetic.interval import EPS
from simopt.conformance.setting import SEED, examples_of, reference, require
from simopt.core.errors import InvalidProblem, NotAvailable, Unreadable
from simopt.duality import Declared, solved
from simopt.model.problem import Problem
from simopt.solving.entry_points import certify

EXAMPLES = 1  # of a problem that the check looks at
ROUNDS = 3  # random points and multipliers of each
TOLERANCE = 1e-9  # of the scale: problems with a kernel declare a factor of K, cut at 1e-10 of its largest eigenvalue, and judge K itself
ROUNDED = 8 * EPS  # of the objective at 0 as it is declared: with constants that are floats, where formulas may take differences first
SAME = 1e-9  # of the scale and the value: by how much two formulas of one objective may differ


@dataclass(frozen=True)
class Judges:
    """A problem, its declaration read, and a solution of that: values of all variables and multipliers of all rows and terms, by name.

    `lower` and `upper` bracket the optimum by the formulas of the problem, to `tolerance`.
    """

    problem: Problem
    declared: Declared
    point: dict[str, Any]
    multipliers: dict[str, Any]
    lower: float
    upper: float
    tolerance: float

    def bounds(self, point: dict[str, Any], multipliers: dict[str, Any], num: Arithmetic) -> Iterator[tuple[str, float, float]]:
        """Whose bounds, the lower and the upper one."""
        known = self.declared.names
        own = {name: value for name, value in multipliers.items() if name in known}
        leaves = {leaf.name: point[leaf.name] for leaf in self.declared.programme.leaves.values()}
        judges: tuple[tuple[str, Problem, Any, Any], ...] = (
            ("its formulas", self.problem, point, multipliers),
            ("what is derived from its declaration", self.declared, leaves, own),
        )
        for whose, judge, x, v in judges:
            with np.errstate(all="ignore"):
                restored = judge.restore(x, num)
                upper = _end(num.upper, judge.objective(restored, num), math.inf)
                yield whose, _end(num.lower, judge.dual_bound(v, num), -math.inf), upper


def _end(end: Any, value: Any, unknown: float) -> float:
    found = float(end(value))
    return unknown if math.isnan(found) else found


def readable(cls: type[Problem]) -> list[int]:
    """The examples that are not degenerate, have a declaration, and one that can be read."""
    return [index for index, example in enumerate(examples_of(cls)) if not example.degenerate and _read(cls, index) is not None]


@cache
def _read(cls: type[Problem], index: int) -> Declared | None:
    try:
        return Declared.of(examples_of(cls)[index].problem.declare())
    except (InvalidProblem, Unreadable):  # a problem that is not convex for some data, or says what cannot be read
        return None


@cache
def judges(cls: type[Problem], index: int) -> Judges | None:
    """Both judges of an example, if the graph form of its declaration could be solved."""
    problem, declared = examples_of(cls)[index].problem, _read(cls, index)
    assert declared is not None
    try:
        leaves, multipliers = solved(declared)
    except NotAvailable:
        return None
    point = declared.variables(leaves)
    x, v, _, _ = reference(cls, index)
    found, own = certify(problem, x, v, INTERVAL), declared.scale()
    tolerance = TOLERANCE * problem.scale() + (ROUNDED * own if own < math.inf else 0.0)
    return Judges(problem, declared, point, multipliers, found.lower, found.upper, tolerance)


def compared(cls: type[Problem], index: int, rounds: int) -> tuple[int, int]:
    """Hold the bounds of both against the bracket at the solution, and at random points and multipliers of every size, near it and far.

    How many of the derived bounds were finite, of each side.

    Raises
    ------
    NotConforming
        when a bound of either excludes what the other proves.
    """
    both, where = judges(cls, index), examples_of(cls)[index].name
    if both is None:
        return 0, 0
    rng, counts = np.random.default_rng([SEED, index]), [0, 0]
    for number in range(rounds + 1):
        mix, size = (1.0, 0.0) if number == 0 else (float(rng.uniform() < 0.5), 10.0 ** rng.uniform(-4, 3))
        for num in (FLOAT, INTERVAL):
            x, v = (_drawn(values, mix, size, rng) for values in (both.point, both.multipliers))
            for whose, lower, upper in both.bounds(x, v, num):
                said = f"{where}: {whose} give, in {num.name} arithmetic, "
                require(lower <= both.upper + both.tolerance, f"{said}a lower bound {lower:.17g}, where {both.upper:.17g} is attained")
                require(
                    upper >= both.lower - both.tolerance, f"{said}a point of value {upper:.17g}, where {both.lower:.17g} is a lower bound"
                )
            counts = [counts[0] + math.isfinite(lower), counts[1] + math.isfinite(upper)]
    return counts[0], counts[1]


def _drawn(values: dict[str, Any], mix: float, size: float, rng: np.random.Generator) -> dict[str, Any]:
    return {name: mix * np.asarray(value) + size * rng.normal(size=np.shape(value)) for name, value in values.items()}


def same_objective(cls: type[Problem], index: int) -> bool:
    """Whether the declaration's variables are among those of a restored point; then both have to give it one value, if it is feasible.

    Raises
    ------
    NotConforming
        when the values differ by more than rounding, in floats, or their balls have no number in common.
    """
    both, where = judges(cls, index), examples_of(cls)[index].name
    if both is None:
        return False
    x = both.problem.restore(both.point)
    names = [leaf.name for leaf in both.declared.programme.leaves.values()]
    if not all(name in x for name in names):
        return False
    leaves = {name: x[name] for name in names}
    for num, share in ((FLOAT, SAME), (INTERVAL, 0.0)):
        one, other = both.problem.objective(x, num), both.declared.objective(leaves, num)
        apart = max(num.lower(one) - num.upper(other), num.lower(other) - num.upper(one))
        tolerance = both.tolerance + share * max(abs(num.upper(one)), both.problem.scale())
        feasible = max(num.upper(one), num.upper(other)) < math.inf  # to rounding is not proven
        require(
            not feasible or apart <= tolerance,
            f"{where}: the objective is {one} by its formula, and {other} as it is declared ({num.name})",
        )
    return True


def check_second_judge(cls: type[Problem]) -> None:
    """The bounds derived from the declaration and those of the formulas do not contradict each other."""
    for index in readable(cls)[:EXAMPLES]:
        same_objective(cls, index)
        compared(cls, index, ROUNDS)
