"""The values and dual values that a `cvxpy.Problem` holds: read, restored, and replaced by those of a solution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.reductions.solution import Solution as Unpacked

from simopt.backends.adapter import dense_value
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.core.threads import Turns, quiet
from simopt.duality.declared import Declared
from simopt.duality.graph.leaf_values import value_of
from simopt.duality.written_form import dual_variables
from simopt.model.status import Status

CVXPY_STATUS = {Status.OPTIMAL: cp.OPTIMAL, Status.INFEASIBLE: cp.INFEASIBLE, Status.UNBOUNDED: cp.UNBOUNDED} | dict.fromkeys(
    (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.INTERRUPTED), cp.settings.USER_LIMIT
)  # CVXPY's names; a point with any other status is "optimal_inaccurate" there
turns = Turns()  # a problem's variables hold the values of one solve at a time


def read(problem: cp.Problem) -> Declared:
    """The problem as it is declared; an error where a parameter has no value."""
    declared = Declared.of(problem)
    for parameter in problem.parameters():
        value_of(parameter)
    return declared


def values(declared: Declared, needed: bool) -> Point | None:
    """The values of the variables; None, or an error where they are needed, if one has no value."""
    point: Point = {}
    for leaf in declared.programme.leaves.values():
        value = dense_value(leaf.variable)
        if value is None and needed:
            raise InvalidProblem(f"variable {leaf.name}: it has no value; solve the problem first, or name a solver")
        if value is None:
            return None
        point[leaf.name] = value
    return point


def dual_values(declared: Declared) -> Multipliers:
    """The dual values that the constraints hold."""
    signed = ((name, dual.value, sign) for name, _, dual, sign in dual_variables(declared))
    return {name: sign * np.asarray(value, dtype=float) for name, value, sign in signed if value is not None}


@contextmanager
def untouched(problem: cp.Problem) -> Iterator[None]:
    """Restore the values of the variables afterwards, which a form of the problem shares."""
    before = [(v, v.value if v.sparse_idx is None else v.value_sparse) for v in problem.variables()]
    try:
        yield
    finally:
        for v, value in before:
            v.save_value(value, sparse_path=v.sparse_idx is not None)


def clear(problem: cp.Problem) -> None:
    """Remove the values and dual values of an earlier solve."""
    for variable in (*problem.variables(), *(dual for constraint in problem.constraints for dual in constraint.dual_variables)):
        variable.save_value(None)


def put_no_optimum(problem: cp.Problem, status: Status, infimum: float = -math.inf) -> None:
    """INFEASIBLE or UNBOUNDED into the problem, whose objective is above its `infimum`."""
    rises = isinstance(problem.objective, cp.Maximize) is (status is Status.UNBOUNDED)
    problem.unpack(Unpacked(CVXPY_STATUS[status], math.inf if rises else infimum, {}, {}, {}))


def put_values(problem: cp.Problem, status: Status, values_by_id: dict[int, Any]) -> None:
    """Values of all variables into the problem, with CVXPY's name of the status."""
    with quiet():
        problem.unpack(Unpacked(CVXPY_STATUS.get(status, cp.OPTIMAL_INACCURATE), None, values_by_id, {}, {}))
