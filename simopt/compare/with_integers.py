"""A problem with integers as the judge sees it: the value of an integer point above, the bound of the relaxation below.

Back ends get the problem itself. What lies between both bounds is a property of the problem and its relaxation, not of a solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Multipliers, Point
from simopt.duality.declared import Declared
from simopt.duality.graph.vectors import Value
from simopt.duality.reading.integers import NEAR, Relaxation, relaxation
from simopt.duality.reading.reader import read
from simopt.model.problem import ALL_CONES, Rescale

if TYPE_CHECKING:
    import cvxpy as cp


@dataclass(frozen=True, eq=False)
class WithIntegers(Declared):
    """min f(x) with integer entries of x. A point counts only if these are integers; the dual bound is that of the relaxation."""

    arithmetics: ClassVar[tuple[str, ...]] = ("float",)
    intervals_first: ClassVar[bool] = False
    form: Relaxation

    @classmethod
    def of(cls, problem: cp.Problem) -> Self:
        """Read a problem with integers; the errors are those of `relaxation` and `read`."""
        form = relaxation(problem)
        return cls(read(form.problem), form)

    def for_back_ends(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The problem with its integers."""
        return self.form.original

    def normalised(self) -> tuple[Declared, Rescale]:
        """The problem as it is: in other units integers are none."""
        return self, Rescale()

    def _restored(self, point: Point, num: Arithmetic, max_loss: float, solves: bool) -> Point:
        """With integers rounded that are near to integers, and the rest moved as in the relaxation."""
        rounded = {name: np.array(value, dtype=float) for name, value in point.items()}
        for each in self.form.variables:
            if each.name in rounded:
                flat, why = each.rounded(rounded[each.name], NEAR)
                if not why:
                    rounded[each.name] = flat.reshape(each.variable.shape, order="F")
        return super()._restored(rounded, num, max_loss, solves)

    def _integral(self, point: Point) -> bool:
        values: dict[str, Any] = self.variables(point)
        return all(not each.rounded(values[each.name], 0.0)[1] for each in self.form.variables)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """f(x); ∞ where the point is not proven to be feasible, or has an entry that should be an integer and is none."""
        return super().objective(point, num) if self._integral(point) else math.inf

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The losses of the point beside the relaxation; ∞ where it has no value."""
        return super().gap(point, multipliers, num) if self._integral(point) else math.inf
