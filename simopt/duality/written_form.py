"""The problem in CVXPY's own form for back ends, for problems whose graph form does not close.

A back end's dual values are the multipliers of rows. Functions have none in this form; their slopes at the restored point take their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import cvxpy as cp
import numpy as np
from cvxpy.constraints import PSD, Equality, Inequality

from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem
from simopt.duality.declared import Declared
from simopt.duality.quadratic.quadratic_programme import QUADRATIC
from simopt.model.problem import ALL_CONES, Rescale

if TYPE_CHECKING:
    from cvxpy.constraints.constraint import Constraint

ROWS = (Equality, Inequality, cp.Zero, cp.NonPos, cp.NonNeg, cp.SOC, PSD)  # their dual variable is the multiplier


@dataclass(frozen=True, eq=False)
class WrittenForm(Declared):
    """The problem as written, in its own units."""

    def for_back_ends(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The same objective and copies of the constraints, labelled by the names of `Declared.names`; the user's dual values stay.

        Raises
        ------
        InvalidProblem
            where a constraint cannot be copied, or is one that CVXPY approximates: the variables which do that have no values here.
        """
        problem = self.programme.problem
        written = {variable.id for variable in problem.variables()}
        for leaf in self.programme.leaves.values():
            if leaf.variable.id not in written:
                raise InvalidProblem(f"variable {leaf.name}: it approximates a constraint, and has no value in the form as written")
        try:
            return cp.Problem(problem.objective, [row.copy().set_label(name) for name, row in constraints_of(problem)])
        except (TypeError, ValueError) as error:
            raise InvalidProblem(f"a constraint cannot be copied: {error}") from error

    def normalised(self) -> tuple[Declared, Rescale]:
        """The problem itself; multipliers of rows are completed at the point that came with them."""

        def point(values: Point) -> Point:
            return {leaf.name: values[leaf.variable.name()] for leaf in self.programme.leaves.values()}

        def multipliers(at: Point, duals: Multipliers) -> Multipliers:
            rows = {name: sign * np.asarray(duals[label]) for name, label, _, sign in dual_variables(self) if label in duals}
            return next(completed(self, at, rows))

        return self, Rescale.together(point, multipliers)


@dataclass(frozen=True, eq=False)
class LikeCvxpy(WrittenForm):
    """The problem as written, solved once at the back end's own tolerances, as `problem.solve` does."""

    own_tolerance: ClassVar[bool] = True


def completed(declared: Declared, point: Point, rows: Multipliers) -> Iterator[Multipliers]:
    """The multipliers of rows with the slopes of the terms at the restored point; where that is not feasible, also without any.

    Near kinks of functions they are `polished` first. Where bounds are sought briefly they are made `stationary_inside` of bounds at last.
    Neither needs another solve.

    Where no rows hold strictly, rounding decides whether it is, and bounds may come with the slopes only, or without them only.
    """
    declared.candidates(rows)
    restored = declared.restore({name: np.asarray(value, dtype=float) for name, value in point.items()})
    polished = declared.polished(restored, rows)
    if polished is not None:
        yield polished
    if not rows:
        yield {}
        return
    if declared.objective(restored) == np.inf:
        yield rows
    slopes = declared.multipliers(restored, rows)
    if slopes is not None:
        yield {**slopes, **rows}
        smooth = all(isinstance(term.atom, QUADRATIC) for term in declared.programme.terms)  # these have their matrices
        moved = declared.stationary_inside(restored, {**slopes, **rows}) if declared.brief and not smooth else None
        if moved is not None:
            yield moved


def constraints_of(problem: cp.Problem) -> Iterator[tuple[str, Constraint]]:
    """The constraints with the names of their rows."""
    for number, constraint in enumerate(problem.constraints):
        yield constraint.label or f"row {number}", constraint


@dataclass(frozen=True)
class PartOfBatch:
    """One matrix of the dual value of a constraint on many, to be read and written like a dual variable."""

    whole: Any
    at: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        shape: tuple[int, ...] = self.whole.shape[-2:]
        return shape

    @property
    def value(self) -> Array | None:
        """The matrix, if there is one."""
        return None if self.whole.value is None else np.asarray(self.whole.value)[self.at]

    def save_value(self, value: Array) -> None:
        """Put the matrix among the others, which are 0 until they are known."""
        whole = np.zeros(self.whole.shape) if self.whole.value is None else np.array(self.whole.value)
        whole[self.at] = value
        self.whole.save_value(whole)


def dual_variables(declared: Declared) -> Iterator[tuple[str, str, Any, float]]:
    """Rows by name, with the label and the dual variable of their multiplier, and its sign in it.

    The cone ‖x‖ ≤ t has two dual variables: that of t is the row's multiplier y, that of x is −u of the norm, ‖u‖ ≤ y. A label with a
    number behind it belongs to one part of a cone (`simopt.backends.adapter`).
    """
    terms = {term.key: term for term in declared.programme.terms}
    for name, constraint in constraints_of(declared.programme.problem):
        if isinstance(constraint, PSD) and constraint.args[0].ndim > 2:
            for at in np.ndindex(constraint.args[0].shape[:-2]):
                yield f"{name} {at}", f"{name} {at}", PartOfBatch(constraint.dual_variables[0], at), 1.0
        if not isinstance(constraint, ROWS) or name not in declared.names:
            continue
        cone = isinstance(constraint, cp.SOC)
        yield name, f"{name} of 0" if cone else name, constraint.dual_variables[0], 1.0
        row = declared.names[name][0]
        for key in row.map.below if cone and row is not None else ():
            if key in terms and terms[key].source.args[0] is constraint.args[1]:
                yield terms[key].name, f"{name} of 1", constraint.dual_variables[1], -1.0
