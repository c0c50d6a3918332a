"""A problem that is its declaration: all formulas of the certificate are derived."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import fields
from simopt.core.arrays import Multipliers, Point
from simopt.model.entries import Shapes
from simopt.model.problem import ALL_CONES, Law, Problem, Rescale, change_of_units

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.duality.declared import Declared
    from simopt.duality.units.dimensions import UnitChange


class DeclaredProblem(Problem):
    """min P(x) as `declare` writes it. A subclass has fields, `declare`, `examples` and `from_data`; see `docs/extending.md`.

    Objective, feasible point, dual bound, gap, distance and scale are those of `simopt.duality.Declared`. Units are read from the
    declaration, by the response of its numbers to a change of a field. It shows with which powers of s fields, variables and multipliers
    can be multiplied together (`simopt.duality.units.dimensions`).

    Point: the variables that nothing defines, by name. Multipliers: of constraints by label, of terms like "huber 1"; see
    `Declared.names`. Any method may be written by hand instead, where the derived one is slower or less accurate.
    """

    @cached_property
    def derived(self) -> Declared:
        """The declaration, read once."""
        from simopt.duality.declared import Declared

        return Declared.of(self.declare())

    def parameter(self, name: str) -> cp.Parameter:
        """A field, or a number that a field holds, as a parameter of the declaration, with the sign of its type.

        `parameters` has to list it; then `path` sweeps it.
        """
        import cvxpy as cp

        holder = getattr(self, self.holding()[name]) if name in self.holding() else self
        return cp.Parameter(name=name, nonneg=fields.is_nonnegative(type(holder), name), value=getattr(holder, name))

    def for_back_ends(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The declaration with a row for the multiplier of every term; without these rows where the terms are others for these cones."""
        from simopt.duality.declared import Declared

        read = self.derived if cones == ALL_CONES else Declared.of(self.declare(cones=cones))
        return read.for_back_ends() if read.names.keys() == self.derived.names.keys() else self.declare(cones=cones)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """P(x); ∞ where the point is not proven to be feasible."""
        return self.derived.objective(point, num)

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """A feasible point near `point`, as far as `Declared.restore` finds one."""
        return self.derived.restore(point, num)

    def restore_roughly(self, point: Point, max_loss: float) -> Point:
        """See `Declared.restore_roughly`."""
        return self.derived.restore_roughly(point, max_loss)

    def multipliers(self, point: Point) -> Multipliers | None:
        """The slopes of the terms at the point."""
        return self.derived.multipliers(point)

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = np.inf) -> Value:
        """The bound of the backward sweep."""
        return self.derived.dual_bound(multipliers, num, upper)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """P(x) − D as a sum of terms ≥ 0."""
        return self.derived.gap(point, multipliers, num)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖x − x*‖₂ over all variables, from the squares that they stand in."""
        return self.derived.distance(gap, point)

    @property
    def growth(self) -> int | None:
        """None: the terms themselves are known."""
        return None

    def gap_over_terms(self, point: Point, upper: float, lower: float, gap: float) -> float:
        """The gap as a fraction of the sizes of the terms at the point; see `Declared`."""
        return self.derived.gap_over_terms(point, upper, lower, gap)

    def point_shapes(self) -> Shapes:
        """Those of the variables."""
        return self.derived.point_shapes()

    def trivial_point(self) -> Point:
        """x = 0, clipped to the bounds."""
        return self.derived.trivial_point()

    def scale(self) -> float:
        """P at the trivial point; see `Declared`."""
        return self.derived.scale()

    @cached_property
    def changes(self) -> tuple[UnitChange, ...]:
        """The changes of units that the fields admit."""
        from simopt.duality.units.dimensions import changes_of

        return changes_of(self)

    def normalised(self) -> tuple[Self, Rescale]:
        """Each field of free size is scaled to size 1 by a power of two, together with the fields that depend on it."""
        from simopt.duality.units.dimensions import natural

        change = natural(self, self.changes)
        point, multipliers = change.rescalings(0.5)
        return change.by(self, 2.0), Rescale(point, lambda given: multipliers(self.derived.assembled(given)))

    @classmethod
    def laws(cls) -> list[Law]:
        """The changes of units that the declaration of the first ordinary example admits."""
        first: Any = next(example.problem for example in cls.examples(np.random.default_rng(0)) if not example.degenerate)
        return [change_of_units(str(change), change.image) for change in first.changes]
