r"""The simplex method in ℚ: from any basis to an optimal one, or to the proof that no point is feasible.

Beside the columns x stand the rows r = Ax as variables, so that W(x, r) = 0 with W = (A, −I), each between its ends. A basis is as many
of them as there are rows, with independent columns in W; all others are at an end, or at 0 where they have none. While basic variables are
outside of their range the costs are ±1 for these and 0 for the others; then those of the programme. The multipliers λ solve
(W_basic)ᵀλ = c_basic, the slopes are d = c − Wᵀλ. Bland's rule lets the first variable enter whose slope falls towards its other end; of
those that stop it first, the first leaves.

It ends. A variable within its range stays there, so that ever fewer are outside. Between two falls of that number the costs are fixed, and
Bland's rule visits no basis twice. If it ends while some are outside, then no point is feasible. Σ d·(x, r) = Σ c·(x, r) wherever r = Ax.
It is least here by the signs of d, and here it is larger than at any feasible point.

Sources: R. G. Bland, "New finite pivoting rules for the simplex method", Math. Oper. Res. 2 (1977); D. L. Applegate, W. Cook, S. Dash and
D. G. Espinoza, "Exact solutions to linear programming problems", Oper. Res. Lett. 35 (2007): floats find the basis, fractions judge it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flint import fmpq, fmpq_mat

BASIC, LOWER, UPPER, NEITHER = 0, -1, 1, 2  # where a variable is; NEITHER: at 0, with no end
Ends = Sequence[Fraction | None]


class NoFeasiblePoint(ArithmeticError):
    """No point is feasible: of the combination of the rows with `multipliers` no value is within the ends."""

    def __init__(self, multipliers: Sequence[Fraction]) -> None:
        super().__init__("no feasible point")
        self.multipliers = list(multipliers)


def optimal_vertex(
    costs: Sequence[Any], matrix: Sequence[Sequence[Any]], low: Ends, high: Ends, sides: Sequence[int]
) -> tuple[list[Fraction], list[Fraction]]:
    """x and the multipliers of the rows, at an optimal basis.

    Parameters
    ----------
    costs, matrix
        c of n fractions, A of m rows.
    low, high
        The ends of the n columns, then of the m rows; None: no end.
    sides
        Where each column is, then each row: BASIC, LOWER, UPPER or NEITHER. This basis may be singular (variables that are not needed leave
        it, rows enter), infeasible and not optimal.

    Raises
    ------
    Infeasible
        when no point is feasible.
    ArithmeticError
        when the objective has no minimum.
    ValueError
        for another number of ends or sides than n + m, or a lower end above the upper one.
    """
    size = len(costs) + len(matrix)
    if not len(low) == len(high) == len(sides) == size:
        raise ValueError(f"{len(low)} lower and {len(high)} upper ends and {len(sides)} sides for {size} columns and rows")
    for j, (a, b) in enumerate(zip(low, high, strict=True)):
        if a is not None and b is not None and a > b:
            raise ValueError(f"ends {j}: {a} > {b}")
    pivots = _PivotedProgramme(costs, matrix, low, high, sides)
    while pivots.step():
        pass
    return pivots.values[: len(costs)], pivots.multipliers


class _PivotedProgramme:
    """The programme with its present basis, in FLINT's fractions."""

    def __init__(self, costs: Sequence[Any], matrix: Sequence[Sequence[Any]], low: Ends, high: Ends, sides: Sequence[int]) -> None:
        self.count, self.size = len(matrix), len(costs) + len(matrix)
        rows = [[_fmpq(a) for a in row] + [_fmpq(-(i == j)) for j in range(self.count)] for i, row in enumerate(matrix)]
        self.columns = [[row[j] for row in rows] for j in range(self.size)]  # of W
        self.costs = [_fmpq(c) for c in costs] + [_fmpq(0)] * self.count
        self.low, self.high = [[None if end is None else _fmpq(end) for end in ends] for ends in (low, high)]
        self.sides = [side if side == BASIC else self._end(j, side) for j, side in enumerate(sides)]
        self.basic = self._independent()

    def _end(self, j: int, side: int) -> int:
        """`side` if variable j has that end; else one that it has."""
        has = {LOWER: self.low[j] is not None, UPPER: self.high[j] is not None}
        return side if has.get(side, False) else LOWER if has[LOWER] else UPPER if has[UPPER] else NEITHER

    def _independent(self) -> list[int]:
        """A basis of the basic variables, and of rows where these are too few or depend on each other."""
        basic = [j for j in range(self.size) if self.sides[j] == BASIC]
        if len(basic) == self.count and (not basic or self._square(basic).det() != 0):
            return basic
        order = basic + [j for j in range(self.size - self.count, self.size) if self.sides[j] != BASIC]
        reduced, rank = _matrix([self.columns[j] for j in order]).transpose().rref()
        chosen = [order[next(k for k in range(len(order)) if reduced[i, k] != 0)] for i in range(rank)]
        for j in order:
            self.sides[j] = BASIC if j in chosen else self._end(j, LOWER)
        return sorted(chosen)

    def _square(self, basic: Sequence[int]) -> fmpq_mat:
        """(W_basic)ᵀ."""
        return _matrix([self.columns[j] for j in basic])

    def step(self) -> bool:
        """One exchange, or a variable from one end to the other; False at an optimal basis, with its `values` and `multipliers`."""
        x = self._point()
        outside = {j: -1 if _below(x[j], self.low[j]) else 1 for j in self.basic if _below(x[j], self.low[j]) or _below(self.high[j], x[j])}
        costs = [_fmpq(outside.get(j, 0)) for j in range(self.size)] if outside else self.costs
        square = self._square(self.basic)
        multipliers = _solved(square, [costs[j] for j in self.basic])
        entering = self._entering(costs, multipliers)
        if entering is None:
            if outside:
                raise NoFeasiblePoint([_fraction(v) for v in multipliers])
            self.values, self.multipliers = [_fraction(v) for v in x], [_fraction(v) for v in multipliers]
            return False
        j, direction = entering
        rates = [-direction * rate for rate in _solved(square.transpose(), self.columns[j])]
        self._exchange(j, direction, x, rates, outside)
        return True

    def _point(self) -> list[fmpq]:
        """The variables at the ends as they are, the basic ones by W(x, r) = 0."""
        ends = {LOWER: self.low, UPPER: self.high}
        x: list[Any] = [_fmpq(0) if side in (BASIC, NEITHER) else ends[side][j] for j, side in enumerate(self.sides)]
        moved = [j for j, value in enumerate(x) if value != 0]
        rest = [-sum((x[j] * self.columns[j][i] for j in moved), _fmpq(0)) for i in range(self.count)]
        for j, value in zip(self.basic, _solved(self._square(self.basic).transpose(), rest), strict=True):
            x[j] = value
        return x

    def _entering(self, costs: Sequence[fmpq], multipliers: Sequence[fmpq]) -> tuple[int, int] | None:
        """The first variable that lowers the costs, and which way it goes."""
        for j, side in enumerate(self.sides):
            if side != BASIC and (side == NEITHER or self.low[j] != self.high[j]):
                slope = costs[j] - sum((a * y for a, y in zip(self.columns[j], multipliers, strict=True) if a != 0), _fmpq(0))
                if (slope < 0 and side != UPPER) or (slope > 0 and side != LOWER):
                    return j, 1 if slope < 0 else -1
        return None

    def _exchange(self, j: int, direction: int, x: Sequence[fmpq], rates: Sequence[fmpq], outside: dict[int, int]) -> None:
        """Variable j goes as far as it may; who stops it takes its place outside of the basis."""
        stops = []
        for k, rate in zip(self.basic, rates, strict=True):
            if rate != 0 and outside.get(k) != (1 if rate > 0 else -1):  # what goes further away meets no end
                side = outside.get(k, UPPER if rate > 0 else LOWER)  # from above it stops at its upper end, from below at its lower
                end = self.high[k] if side == UPPER else self.low[k]
                if end is not None:
                    stops.append(((end - x[k]) / rate, k, side))
        own, other = (self.high[j], UPPER) if direction > 0 else (self.low[j], LOWER)
        if own is not None and self.sides[j] != NEITHER:
            stops.append((abs(own - x[j]), j, other))
        if not stops:
            raise ArithmeticError("the objective has no minimum: no end stops a step that lowers it")
        _, k, side = min(stops, key=lambda stop: stop[:2])
        self.sides[j] = BASIC
        self.sides[k] = side
        self.basic = [i for i in range(self.size) if self.sides[i] == BASIC]


def _below(a: fmpq | None, b: fmpq | None) -> bool:
    return a is not None and b is not None and bool(a < b)


def _fmpq(value: Any) -> fmpq:
    from flint import fmpq

    return fmpq(int(value.numerator), int(value.denominator))


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _matrix(rows: Sequence[Sequence[fmpq]]) -> fmpq_mat:
    from flint import fmpq_mat

    return fmpq_mat([list(row) for row in rows])


def _solved(square: fmpq_mat, side: Sequence[fmpq]) -> list[fmpq]:
    """The solution of a square system."""
    return list(square.solve(_matrix([[value] for value in side])).entries()) if side else []
