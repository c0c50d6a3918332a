"""Problems that were read lately: a problem that is certified again is read again only where something in it has changed.

CVXPY's expressions do not change, but the numbers in them may: those of parameters, and of arrays that are written on. So all numbers are
compared, and the constraints one by one. What cannot be seen is an expression whose arguments were exchanged by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import cvxpy as cp

from simopt.duality.graph.leaf_values import changing, content, numbers
from simopt.duality.graph.programme import Programme
from simopt.duality.reading.leaves import leaves

MOST = 8  # problems that are remembered
LARGEST = 200_000  # numbers of one of them: larger ones would be held in memory, and reading them is little of their certificate

R = TypeVar("R")


@dataclass(frozen=True)
class _RecentReading(Generic[R]):
    """What a problem was when it was read: objective and labelled constraints, constants, and the numbers in these; and the result."""

    problem: cp.Problem
    parts: tuple[Any, ...]
    labels: tuple[str | None, ...]
    constants: tuple[Any, ...]
    numbers: tuple[Any, ...]
    changing: tuple[Any, ...]
    rests_on_values: bool
    result: R

    def holds(self, problem: cp.Problem) -> bool:
        """Whether reading it anew would give the same."""
        if self.problem is not problem or self.labels != _labels(problem):
            return False
        parts = (problem.objective, *problem.constraints)
        same = len(parts) == len(self.parts) and all(new is old for new, old in zip(parts, self.parts, strict=True))
        if not same or self.numbers != _contents(self.constants):
            return False
        return not self.rests_on_values or self.changing == changing(problem)


class LatelyRead(Generic[R]):
    """The last results of reading problems, the latest first."""

    def __init__(self) -> None:
        self._readings: tuple[_RecentReading[R], ...] = ()

    def of(self, problem: cp.Problem, read: Callable[[cp.Problem], R], rests: Callable[[R], bool]) -> R:
        """The result for this problem, computed by `read` where it is not known; `rests` says of it what `rests_on_values` does."""
        known = next((each for each in self._readings if each.holds(problem)), None)
        if known is None:
            result = read(problem)
            constants = _watched(problem)
            if constants is None:
                return result
            parts = (problem.objective, *problem.constraints)
            known = _RecentReading(
                problem, parts, _labels(problem), constants, _contents(constants), changing(problem), rests(result), result
            )
        self._readings = (known, *(each for each in self._readings if each.problem is not problem))[:MOST]
        return known.result


def rests_on_values(programme: Programme) -> bool:
    """Whether other values of parameters, or of the arrays that bound variables, might be read as another graph.

    Which variables are epigraphs depends on the signs of their costs, and of their factors in rows of one entry.
    """
    maps = (programme.objective, *(row.map for row in programme.every_row if row.map.size == 1))
    return any(each.varies for each in maps) or any(v.attributes.get("bounds") is not None for v in programme.problem.variables())


def _watched(problem: cp.Problem) -> tuple[Any, ...] | None:
    """The constants; None where the problem is large, or has values that may change and are not among those of `changing`."""
    found = leaves(problem)
    if found is None:
        return None
    listed = {id(leaf) for leaf in (*problem.parameters(), *problem.variables())}
    constants, others = ([leaf for leaf in found if isinstance(leaf, cp.Constant) is which] for which in (True, False))
    if any(id(leaf) not in listed for leaf in others):
        return None
    size = sum(leaf.size for leaf in others) + sum(part.size for leaf in constants for part in numbers(leaf.value))
    return tuple(constants) if size <= LARGEST else None


def _labels(problem: cp.Problem) -> tuple[str | None, ...]:
    return tuple(constraint.label for constraint in problem.constraints)


def _contents(constants: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(content(constant) for constant in constants)
