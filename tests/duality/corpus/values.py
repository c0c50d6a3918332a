"""Whether a problem that was read has CVXPY's own values: of the objective, and of both sides of each constraint, at random points."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.arithmetic import FLOAT
from simopt.core.errors import InvalidProblem
from simopt.duality import Declared
from simopt.duality.evaluation.forward import forward
from simopt.duality.graph.programme import Term

DIFFERENT = 1e-6  # of 1 + the sizes: CVXPY takes fractions for exponents
DRAWS = 4


def compared(declared: Declared) -> tuple[int, str]:
    """(how many values both have, the first that differs); the variables hold nothing afterwards.

    Of a minimum over other variables CVXPY's value is a solver's: such a problem is passed over.
    """
    problem, count = declared.programme.problem, 0
    if any(isinstance(each, PartialProblem) for each in _below(problem)):
        return 0, ""
    rng = np.random.default_rng(0)
    try:
        for draw in range(DRAWS):
            for what, ours, theirs in _pairs(declared, rng, positive=bool(draw % 2)):
                both = np.isfinite(ours) & np.isfinite(theirs)
                count += int(np.count_nonzero(both))
                far = np.abs(ours - theirs)[both] > DIFFERENT * (1.0 + np.abs(ours) + np.abs(theirs))[both]
                if far.any():
                    return count, f"{what}: {ours[both][far][0]:.9g}, CVXPY's: {theirs[both][far][0]:.9g}"
    except InvalidProblem:  # a constant outside of a function's domain
        return count, ""
    finally:
        for variable in problem.variables():
            variable.save_value(None)
    return count, ""


def _below(problem: cp.Problem) -> Iterator[Any]:
    waiting: list[Any] = [problem.objective.expr, *problem.constraints]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [] if isinstance(node, PartialProblem) else node.args


def _pairs(declared: Declared, rng: np.random.Generator, *, positive: bool) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(what, its value here, CVXPY's) at one point, at which every variable is as its attributes and definitions say."""
    programme = declared.programme
    point = {}
    for leaf in programme.leaves.values():
        drawn = rng.normal(size=leaf.shape)
        drawn = leaf.variable.project(np.abs(drawn) + 0.1 if positive else drawn)
        point[leaf.name] = drawn.toarray() if hasattr(drawn, "toarray") else np.asarray(drawn)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        values = declared.variables(point)
        for variable, name in declared.written:
            variable.save_value(np.asarray(values[name], dtype=float))
        at = forward(FLOAT, programme, {key: np.asarray(point[leaf.name]).reshape(-1, order="F") for key, leaf in programme.leaves.items()})
        if any(
            isinstance(node, Term) and not node.atom.inside(FLOAT, at.arguments[node.key], node.proper).all() for node in programme.nodes
        ):
            return  # outside of a domain CVXPY's values are of other functions
        sign = -1.0 if declared.maximises else 1.0
        yield "objective", np.atleast_1d(sign * at.objective), _flat(programme.problem.objective.expr, ())
        for row in programme.rows:
            if row.sides is not None:
                left, right = (_flat(side, row.shape) for side in row.sides)
                yield row.name, np.asarray(at.rows[row.key], dtype=float), left - right


def _flat(expression: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        value = expression.value
    except (AssertionError, ValueError):  # a perspective where s is 0; a function of a matrix that is not symmetric here
        value = None
    if value is None:
        return np.full(int(np.prod(shape)), np.nan)
    dense = np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
    return np.broadcast_to(dense if dense.size > 1 or shape else dense.reshape(()), shape).reshape(-1, order="F")
