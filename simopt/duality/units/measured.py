"""A programme's variables in their units: the variables that a back end gets, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.core.arrays import Array
from simopt.duality.graph.matrix_terms import SEMIDEFINITE
from simopt.duality.graph.programme import Leaf, Programme
from simopt.duality.units.units import OBJECTIVE, Sizes

PLAIN = {"nonneg", "nonpos", "pos", "neg", "bounds"}  # attributes of variables that can be measured in another unit


class Measured:
    """x = σz with σ a power of two, for variables without structure outside of perspectives: CVXPY cannot write a perspective in σz.

    A variable that is semidefinite by attribute is a symmetric one, as its cone is a term.

    Attributes
    ----------
    instead : dict of int to cvxpy.Expression
        by `id`, the replacements of variables and perspectives in a `tree_copy`.
    """

    def __init__(self, programme: Programme, sizes: Sizes) -> None:
        whole = list(perspectives(programme))
        fixed = {v.id for e in whole for v in e.variables()}
        self.own: dict[int, tuple[Any, float]] = {}
        self.instead: dict[int, Any] = {id(e): e for e in whole}
        for v in programme.problem.variables():
            if v.id not in fixed and any(v.attributes.get(name) for name in SEMIDEFINITE):
                self.own[v.id] = _symmetric(v), 1.0
                self.instead[id(v)] = self.own[v.id][0]
        for v in (*programme.problem.variables(), *(leaf.variable for leaf in programme.leaves.values())):
            unit = sizes.values.get(programme.variables.get(v.id, OBJECTIVE), 1.0)
            if unit != 1.0 and v.id not in fixed and _plain(v):
                if v.id not in self.own:
                    self.own[v.id] = _over(v, unit), unit
                self.instead[id(v)] = self.written(v)

    def written(self, v: Any) -> Any:
        """The variable as σz."""
        if v.id not in self.own:
            return v
        z, unit = self.own[v.id]
        return z if unit == 1.0 else unit * z

    def unit(self, v: Any) -> float:
        """σ."""
        return self.own[v.id][1] if v.id in self.own else 1.0

    def solved_value(self, leaf: Leaf) -> Array:
        """The value after a solve, in the units of the declaration."""
        if leaf.variable.id not in self.own:
            return leaf.solved_value()
        z, unit = self.own[leaf.variable.id]
        value: Array = unit * np.asarray(z.value, dtype=float)
        return value

    def has_value(self, leaf: Leaf) -> bool:
        """Whether the variable has a value after a solve."""
        return self.own.get(leaf.variable.id, (leaf.variable, 1.0))[0].value is not None


def _plain(v: Any) -> bool:
    declared = {name for name, value in v.attributes.items() if value is not None and value is not False}
    return declared <= PLAIN and not any(isinstance(end, cp.Expression) or hasattr(end, "toarray") for end in v.attributes["bounds"] or ())


def _symmetric(v: Any) -> Any:
    """The variable without its cone, which is a term with a row of its own."""
    attributes = {name: value for name, value in v.attributes.items() if name in PLAIN and value is not None and value is not False}
    return cp.Variable(v.shape, name=v.name(), symmetric=True, **attributes)


def _over(v: Any, unit: float) -> Any:
    attributes = {name: value for name, value in v.attributes.items() if name in PLAIN}
    attributes["bounds"] = [np.asarray(end) / unit for end in attributes["bounds"]] if attributes["bounds"] else None
    return cp.Variable(v.shape, name=v.name(), **attributes)


def perspectives(programme: Programme) -> Iterator[Any]:
    """The perspectives in the objective and the rows, also of affine functions, which are no terms."""
    waiting = [programme.problem.objective.expr, *(side for row in programme.every_row for side in row.sides or ())]
    while waiting:
        e = waiting.pop()
        if isinstance(e, cp.perspective):
            yield e
        elif isinstance(e, PartialProblem):
            waiting.append(e.args[0].objective.expr)
        elif not isinstance(e, indicator):  # its constraints are rows
            waiting += e.args
