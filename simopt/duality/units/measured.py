"""A programme's variables in their units: what a back end is given in place of them, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.core.arrays import Array
from simopt.duality.graph.programme import Leaf, Programme
from simopt.duality.units.units import OBJECTIVE, Sizes

PLAIN = {"nonneg", "nonpos", "pos", "neg", "bounds"}  # attributes of variables that can be measured in another unit


class Measured:
    """x = σz with σ a power of two, for variables without structure that no perspective contains: CVXPY cannot write one in σz.

    Attributes
    ----------
    instead : dict of int to cvxpy.Expression
        by `id`, what to put for variables and perspectives in a `tree_copy`.
    """

    def __init__(self, programme: Programme, sizes: Sizes) -> None:
        whole = list(perspectives(programme))
        fixed = {v.id for e in whole for v in e.variables()}
        self.own: dict[int, tuple[Any, float]] = {}
        self.instead: dict[int, Any] = {id(e): e for e in whole}
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
        return unit * z

    def unit(self, v: Any) -> float:
        """σ."""
        return self.own[v.id][1] if v.id in self.own else 1.0

    def solved_value(self, leaf: Leaf) -> Array:
        """What a solve left, in the units of the declaration."""
        if leaf.variable.id not in self.own:
            return leaf.solved_value()
        z, unit = self.own[leaf.variable.id]
        value: Array = unit * np.asarray(z.value, dtype=float)
        return value

    def has_value(self, leaf: Leaf) -> bool:
        """Whether a solve left one."""
        return self.own.get(leaf.variable.id, (leaf.variable, 1.0))[0].value is not None


def _plain(v: Any) -> bool:
    said = {name for name, value in v.attributes.items() if value is not None and value is not False}
    return said <= PLAIN and not any(isinstance(end, cp.Expression) or hasattr(end, "toarray") for end in v.attributes["bounds"] or ())


def _over(v: Any, unit: float) -> Any:
    said = {name: value for name, value in v.attributes.items() if name in PLAIN}
    said["bounds"] = [np.asarray(end) / unit for end in said["bounds"]] if said["bounds"] else None
    return cp.Variable(v.shape, name=v.name(), **said)


def perspectives(programme: Programme) -> Iterator[Any]:
    """Those in the objective and the rows, also where the function is affine and so no term."""
    waiting = [programme.problem.objective.expr, *(side for row in programme.every_row for side in row.sides or ())]
    while waiting:
        e = waiting.pop()
        if isinstance(e, cp.perspective):
            yield e
        elif isinstance(e, PartialProblem):
            waiting.append(e.args[0].objective.expr)
        elif not isinstance(e, indicator):  # whose constraints are rows
            waiting += e.args
