"""Solve one problem for many values of a scalar field: a regularisation path, a sweep over the radius."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from simopt.backends.table import BackEnd
from simopt.core import validate
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.model.problem import Problem, changed
from simopt.solving.driver import choose
from simopt.solving.entry_points import solve
from simopt.solving.solution import Solution


def path(
    problem: Problem, field: str, values: Iterable[float], solver: str | None = None, *, tol: float = 1e-8, **options: Any
) -> Iterator[tuple[float, Solution]]:
    """Pairs (value, Solution) for `problem` with `field` set to each value, solved as they are asked for.

    A back end canonicalises the declaration once if the field is one of `problem.parameters` and natural units do not depend on it. The
    parameter of the declaration then takes each value (DPP). Points are always judged for the problem with that value.

    >>> import numpy as np
    >>> from simopt.problems.bounds import Ridge
    >>> from simopt.problems.landmarked_least_squares import LandmarkedLeastSquares
    >>> problem = LandmarkedLeastSquares(np.eye(2), np.array([3.0, 0.0]), Ridge(0.5))
    >>> for strength, solution in path(problem, "regularization", [0.5, 1.0]):
    ...     print(strength, solution.point["w"].round(6))
    0.5 [1.5 0. ]
    1.0 [1. 0.]

    Raises
    ------
    UnknownName
        when the problem has no such field.
    InvalidProblem (at its step)
        for a value that is no number, or none that the problem admits.
    """
    known = problem.settable()
    if field not in known:
        raise UnknownName(f"field of {problem.name}", field, known)
    chosen = choose(problem, solver)
    sweep = _ParameterSweep(chosen, field, tol, options) if isinstance(chosen, BackEnd) and field in problem.parameters else None

    if not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise InvalidProblem(f"{field}: {values!r} given, several numbers needed")

    def each() -> Iterator[tuple[float, Solution]]:
        """Solve for one value after the other, as they are asked for."""
        for step, value in enumerate(values):
            number = validate.bound(f"{field}, value {step}", value)
            try:
                instance = changed(problem, **{field: number})
            except InvalidProblem as error:
                raise InvalidProblem(f"{error} (value {step})") from error
            yield number, (sweep.solve(instance) if sweep else solve(instance, solver, tol=tol, **options))

    return each()  # names are checked at the call, not at the first step


class _ParameterSweep:
    """A declaration that is reused while the normalised problems share their data."""

    def __init__(self, backend: BackEnd, field: str, tol: float, options: dict[str, Any]) -> None:
        self.backend, self.field, self.tol, self.options = backend, field, tol, options
        self.cached: tuple[Problem, Any] | None = None

    def solve(self, instance: Problem) -> Solution:
        """Solve with the parameter of the cached declaration set to this instance's value."""
        return solve(instance, self.backend.name, tol=self.tol, declare=self.declare, **self.options)

    def declare(self, normal: Problem, cones: frozenset[str]) -> Any:
        """The cached declaration if the data are the same, else a new one."""
        if self.cached is None or not self._same_data(self.cached[0], normal):
            self.cached = (normal, normal.for_back_ends(cones=cones))
        declaration = self.cached[1]
        parameter = declaration.param_dict.get(self.field)
        value = getattr(normal, self.field)
        # A declaration may have no parameter, for example where the value is infinite; then it has another form.
        if parameter is None or not np.all(np.isfinite(value)):
            return normal.for_back_ends(cones=cones)
        parameter.value = value
        return declaration

    def _same_data(self, one: Problem, two: Problem) -> bool:
        swept = one.holding().get(self.field, self.field)
        names = [item.name for item in dataclasses.fields(one) if item.name != swept]
        return all(_equal(getattr(one, name), getattr(two, name)) for name in names)


def _equal(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        return one is two or bool(np.array_equal(one, two))
    return bool(one == two)
