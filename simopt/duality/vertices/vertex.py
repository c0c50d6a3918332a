"""A basis of a linear programme proves bounds on its optimum: both, and equal, where it is optimal.

The rows W that hold with equality and the columns F that are at no bound make a square system. A_WF x_F = −b_W − A_WN x_N gives the
vertex, A_WFᵀ y = −c_F the multipliers, and d = c + Aᵀy the reduced costs, which are 0 at F. Then ⟨c, x⟩ = ⟨b_W, y⟩ + ⟨d_N, x_N⟩ for every
basis. It is an upper bound if x is feasible. It is a lower one if y ≥ 0 at inequalities and d has the sign that each x_j at a bound asks
for.

Both systems are solved in fractions, so that a vertex where many bases meet is as good as any other: no point has to lie inside. Signs are
decided in intervals, and in fractions where these contain 0.

Source: T. Koch, The final NETLIB-LP results, Oper. Res. Lett. 32 (2004), with the basis of a floating-point simplex method, as here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simopt.arithmetic import Interval, NotRational
from simopt.arithmetic.triangular import LargeBlock, as_fraction, block_triangular, pattern_of, solved_exactly
from simopt.core.arrays import Array
from simopt.duality.graph.vectors import Indices, Mask
from simopt.duality.vertices.linear_programme import Fractions, LinearProgramme, as_float, as_interval_vector


@dataclass(frozen=True, eq=False)
class SimplexBasis:
    """Masks of the basic columns and of the rows that hold with equality, as many; and the columns that are at their upper bound.

    `native` is the simplex code's own object for it.
    """

    basic: Mask
    tight: Mask
    at_upper: Mask
    native: Any = None


@dataclass(frozen=True, eq=False)
class Residuals:
    """The bounds and constants of the linear programme in x − x̄, for a vertex x̄, and the largest violation of a bound or row there."""

    low: Array
    high: Array
    constants: Array
    violation: float


def vertex(linear: LinearProgramme, basis: SimplexBasis) -> ProvenVertex | None:
    """The vertex of a basis; None where its matrix is singular or cannot be eliminated, or a number is no fraction or no float is near."""
    try:
        return ProvenVertex(linear, basis)
    except (NotRational, ZeroDivisionError, OverflowError, LargeBlock):
        return None


class ProvenVertex:
    """The two systems of a basis, solved, and the signs of their solutions.

    Attributes
    ----------
    lower, upper : fraction of python-flint or None
        below the optimum and above it; None where a sign is wrong.

    Raises
    ------
    ZeroDivisionError
        where the matrix of the basis is singular.
    NotRational, OverflowError
        where a number is no fraction, or no float is near it.
    LargeBlock
        where too many rows hang together.
    """

    def __init__(self, linear: LinearProgramme, basis: SimplexBasis) -> None:
        self.linear, self.basis = linear, basis
        self.columns, self.tight = np.flatnonzero(basis.basic), np.flatnonzero(basis.tight)
        self.rows = [linear.exact_row(i) for i in self.tight.tolist()]
        self.cost, offset = linear.exact_cost()
        low, high = linear.low, linear.high
        at_upper = np.isfinite(high) & (basis.at_upper | ~np.isfinite(low))  # a basis that is wrong may name an end that is infinite
        nearest = np.where(at_upper, high, np.where(np.isfinite(low), low, 0.0))
        self.start = np.where(basis.basic, 0.0, nearest)  # x at the columns that are at a bound
        self._solve()
        self.value = offset + self._inner(self.cost)
        self.lower = self._lower()
        self.upper = self.value if self._feasible() else None

    def _solve(self) -> None:
        place = {j: k for k, j in enumerate(self.columns.tolist())}
        by_row: list[Fractions] = [{place[j]: a for j, a in row.items() if j in place} for row, _ in self.rows]
        parts = block_triangular(pattern_of(by_row)) if len(by_row) == len(place) else None
        if parts is None:
            raise ZeroDivisionError("the matrix of the basis is singular")
        by_column: list[Fractions] = [{} for _ in place]
        for i, row in enumerate(by_row):
            for k, a in row.items():
                by_column[k][i] = a
        basic = solved_exactly(by_row, parts, {i: -self._at_bounds(row, b) for i, (row, b) in enumerate(self.rows)})
        right = {k: -self.cost[j] for j, k in place.items() if j in self.cost}
        duals, zero = solved_exactly(by_column, [(columns, rows) for rows, columns in reversed(parts)], right), as_fraction(0.0)
        self.y = {i: duals.get(k, zero) for k, i in enumerate(self.tight.tolist())}
        self.x = {j: as_fraction(float(self.start[j])) for j in np.flatnonzero(self.start).tolist()}
        self.x |= {j: basic.get(k, zero) for j, k in place.items()}

    @property
    def point(self) -> Array:
        """x, rounded."""
        return self._interval_x.mid

    @property
    def multipliers(self) -> Array:
        """y, rounded."""
        return self._interval_y.mid

    def residuals(self) -> Residuals:
        """What is left at this vertex, each number rounded once."""
        low, high = self.linear.low - self.start, self.linear.high - self.start
        for j in self.columns.tolist():
            low[j], high[j] = (
                float(end) if np.isinf(end) else as_float(as_fraction(float(end)) - self.x[j])
                for end in (self.linear.low[j], self.linear.high[j])
            )
        constants = (self.linear.matrix.matvec(self._interval_x) + self.linear.constants).mid
        constants = np.where(self.basis.tight, 0.0, constants)
        for i in np.flatnonzero(self.linear.equality & ~self.basis.tight).tolist():
            constants[i] = as_float(self._value(i))
        beyond = (low, -high, np.where(self.linear.equality, np.abs(constants), constants))
        return Residuals(low, high, constants, float(np.max(np.concatenate(beyond), initial=0.0)))

    def duals(self) -> tuple[Array, Array, float]:
        """Reduced costs, multipliers of all rows, and the size of the largest of these that has the wrong sign."""
        others, reduced = np.flatnonzero(~self.basis.basic), np.zeros(len(self.start))
        reduced[others] = [as_float(d) for d in self._reduced(others)]
        y = self.multipliers
        wrong = [abs(as_float(d)) for d in self._wrong().values()]
        return reduced, y, max([*wrong, float(np.max(-y, initial=0.0, where=~self.linear.equality))], default=0.0)

    def _at_bounds(self, row: Fractions, b: Any) -> Any:
        """A row's value with the basic columns at 0."""
        for j, a in row.items():
            if self.start[j]:
                b = b + a * as_fraction(float(self.start[j]))
        return b

    def _inner(self, row: Fractions) -> Any:
        """⟨a, x⟩."""
        return _total([a * self.x[j] for j, a in row.items() if j in self.x])

    @cached_property
    def _interval_x(self) -> Interval:
        return as_interval_vector(len(self.start), self.x)

    @cached_property
    def _interval_y(self) -> Interval:
        return as_interval_vector(len(self.linear.equality), self.y)

    def _feasible(self) -> bool:
        """Whether all bounds are in order, the basic columns within theirs, and all other rows hold."""
        if np.any(self.linear.low > self.linear.high):  # by less than HiGHS's tolerance
            return False
        low, high = self.linear.low[self.columns], self.linear.high[self.columns]
        for j, least, most in zip(self.columns.tolist(), low.tolist(), high.tolist(), strict=True):
            if (least > -np.inf and self.x[j] < as_fraction(least)) or (most < np.inf and self.x[j] > as_fraction(most)):
                return False
        others = np.flatnonzero(~self.basis.tight)
        if not len(others):
            return True
        values = self.linear.matrix[others].matvec(self._interval_x) + self.linear.constants[others]
        return all(self._holds(i) for i in others[self.linear.equality[others] | ~(values.high <= 0.0)].tolist())

    def _holds(self, i: int) -> bool:
        """Whether a row holds, in fractions."""
        value = self._value(i)
        return bool(value == 0) if self.linear.equality[i] else bool(value <= 0)

    def _value(self, i: int) -> Any:
        """A row's value, in fractions."""
        row, b = self.linear.exact_row(i)
        return b + self._inner(row)

    def _lower(self) -> Any:
        """The lower bound; a reduced cost of the wrong sign counts with the other bound of its column. None where that has none."""
        if any(y < 0 and not self.linear.equality[i] for i, y in self.y.items()):
            return None
        lost = as_fraction(0.0)
        for j, d in self._wrong().items():
            end = float(self.linear.low[j] if d > 0 else self.linear.high[j])
            if not np.isfinite(end):
                return None
            lost = lost + d * (as_fraction(float(self.start[j])) - as_fraction(end))
        return self.value - lost

    def _wrong(self) -> Fractions:
        """Reduced costs of the wrong sign."""
        reduced = self.linear.reduced_costs(self._interval_y)
        lower_end, upper_end = self.start == self.linear.low, self.start == self.linear.high
        right = (lower_end & (reduced.low >= 0.0)) | (upper_end & (reduced.high <= 0.0)) | (lower_end & upper_end) | self.basis.basic
        unsure = np.flatnonzero(~right)
        pairs = zip(unsure.tolist(), self._reduced(unsure), strict=True)
        return {j: d for j, d in pairs if d != 0 and not (d > 0 and lower_end[j]) and not (d < 0 and upper_end[j])}

    def _reduced(self, columns: Indices) -> Iterable[Any]:
        """Reduced costs in fractions."""
        reduced = {j: self.cost.get(j, as_fraction(0.0)) for j in columns.tolist()}
        if reduced:
            for (row, _), y in zip(self.rows, self.y.values(), strict=True):
                for j, a in row.items() if y else ():
                    if j in reduced:
                        reduced[j] = reduced[j] + a * y
        return reduced.values()


def _total(numbers: Sequence[Any]) -> Any:
    """The sum, pair by pair: one after the other, each would be added to a fraction with the denominators of all before it."""
    while len(numbers) > 1:
        pairs = [one + other for one, other in zip(numbers[::2], numbers[1::2], strict=False)]
        numbers = pairs + list(numbers[2 * len(pairs) :])
    return numbers[0] if numbers else as_fraction(0.0)


def rounded_down(number: Any) -> float:
    """The largest float that is not above a fraction of python-flint."""
    near = as_float(number)
    return near if as_fraction(near) <= number else float(np.nextafter(near, -np.inf))


def rounded_up(number: Any) -> float:
    """The least float that is not below a fraction of python-flint."""
    return -rounded_down(-number)
