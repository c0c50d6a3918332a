r"""Linear programmes without rounding: HiGHS finds the optimal basis in floats, its vertex and multipliers are solved for in ℚ, and judged.

With basic columns B and rows E at one of their ends (as many), all other columns at theirs and all other rows without multiplier,
    A_EB x_B = r_E − A_EN x_N,        A_EBᵀ y_E = c_B.
The point is judged by its feasibility, the multipliers by their bound Σ_i y_i·(end of row i) + Σ_j d_j·(end of column j), d = c − Aᵀy, with
the ends that the signs of y and d ask for. Both are in fractions, so that what is returned is proved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import RATIONAL
from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.solvers.goodness.highs_programme import Programme

if TYPE_CHECKING:
    from flint import fmpq_mat

Number = Fraction | int | float | str
Exact = NDArray[np.object_]
Ends = Sequence[Fraction | None]


class Infeasible(ArithmeticError):
    """HiGHS found no feasible point. That is no proof."""


@dataclass(frozen=True)
class ExactVertex:
    """An optimal vertex, proved: x is feasible, y bounds the value from below, and both have the same value."""

    value: Fraction
    columns: tuple[Fraction, ...]
    rows: tuple[Fraction, ...]


def exact_programme(costs: Sequence[Fraction], matrix: Any, low: Ends, high: Ends, row_low: Ends, row_high: Ends) -> ExactVertex:
    """min c·x subject to low ≤ x ≤ high, row_low ≤ Ax ≤ row_high in fractions; None: no bound. For small programmes (hundreds of columns).

    Raises
    ------
    Infeasible
        when HiGHS finds no feasible point.
    ArithmeticError
        when the basis that HiGHS calls optimal is not optimal in ℚ, or there is no minimum.
    """
    A = np.array(matrix, dtype=object).reshape(len(row_low), len(costs))
    c = _objects(costs)
    basic, tight = _basis(A, c, low, high, row_low, row_high)
    x = _objects([_end(side, a, b) for side, a, b in zip(basic, low, high, strict=True)])
    y = np.full(len(row_low), Fraction(0), dtype=object)
    inside, edge = np.flatnonzero(basic == 0), np.flatnonzero(tight != 0)
    if len(inside) != len(edge):
        raise ArithmeticError(f"a basis of {len(inside)} columns and {len(edge)} rows")
    if len(inside):
        goal = _objects([_end(int(tight[i]), row_low[int(i)], row_high[int(i)]) for i in edge])
        square = A[np.ix_(edge, inside)]
        left = matrix_of(square)
        if left.det() == 0:
            raise ArithmeticError("the basis is singular in ℚ")
        x[inside] = 0
        x[inside] = solved(left, goal - RATIONAL.matvec(A[edge], x))
        y[edge] = solved(left.transpose(), c[inside])
    value = _value(A, c, x, low, high, row_low, row_high)
    bound = _bound(A, c, y, low, high, row_low, row_high)
    if value is None or value != bound:
        raise ArithmeticError(f"the two values {value} and {bound} of a vertex differ")
    return ExactVertex(value, tuple(map(Fraction, x)), tuple(map(Fraction, y)))


def _objects(values: Sequence[Fraction]) -> Exact:
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def _basis(A: Exact, c: Exact, low: Ends, high: Ends, row_low: Ends, row_high: Ends) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each column 0 if it is basic, else −1, 1 or 2 for its lower end, its upper end, or 0; for each row 0 if it is slack, else ∓1."""
    import highspy

    ends = [_floats(side, sign) for side, sign in ((low, -1), (high, 1), (row_low, -1), (row_high, 1))]
    programme = Programme([A.astype(float)], c.astype(float), *ends)
    try:
        programme.solve()
    except ArithmeticError as error:
        if programme.highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            raise Infeasible("no feasible point") from error
        raise
    status = highspy.HighsBasisStatus
    names = {status.kBasic: 0, status.kLower: -1, status.kUpper: 1, status.kZero: 2}
    found = programme.highs.getBasis()
    columns = np.array([names.get(s, 2) for s in list(found.col_status)], dtype=np.intp)
    rows = np.array([names.get(s, 0) for s in list(found.row_status)], dtype=np.intp)
    return columns, rows


def _floats(ends: Ends, sign: int) -> NDArray[np.float64]:
    return np.array([sign * np.inf if end is None else float(end) for end in ends])


def _end(side: int, low: Fraction | None, high: Fraction | None) -> Fraction:
    chosen = low if side == -1 else high if side == 1 else None
    return Fraction(0) if chosen is None else Fraction(chosen)


def _value(A: Exact, c: Exact, x: Exact, low: Ends, high: Ends, row_low: Ends, row_high: Ends) -> Fraction | None:
    """c·x; None where x is not feasible."""
    sums = RATIONAL.matvec(A, x) if len(A) else []
    for values, lows, highs in ((x, low, high), (sums, row_low, row_high)):
        for v, a, b in zip(values, lows, highs, strict=True):
            if (a is not None and v < a) or (b is not None and v > b):
                return None
    return Fraction(RATIONAL.dot(c, x))


def _bound(A: Exact, c: Exact, y: Exact, low: Ends, high: Ends, row_low: Ends, row_high: Ends) -> Fraction | None:
    """Σ_i y_i r_i + Σ_j d_j x_j at the ends that minimise it; None where one of them is infinite."""
    reduced = c - RATIONAL.rmatvec(A, y) if len(A) else c
    total = Fraction(0)
    for multipliers, lows, highs in ((y, row_low, row_high), (reduced, low, high)):
        for multiplier, a, b in zip(multipliers, lows, highs, strict=True):
            end = a if multiplier > 0 else b
            if multiplier != 0:
                if end is None:
                    return None
                total += Fraction(multiplier) * end
    return total


RATIONAL_TEXT = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?)", re.ASCII)


def fraction(name: str, x: Any) -> Fraction:
    """The exact value of a number or of a string such as "1/3" or "0.1", in the digits 0 to 9.

    Raises
    ------
    InvalidProblem
        for what is none.
    """
    if isinstance(x, np.str_):
        x = str(x)
    needed = "whole numbers, fractions, floats or strings such as '1/3' needed"
    if not (RATIONAL_TEXT.fullmatch(x) if isinstance(x, str) else validate.is_number(x) and not isinstance(x, bool | np.bool_)):
        raise InvalidProblem(f"{name}: {validate.shown(x)} is not a rational number; {needed}")
    if isinstance(x, np.ndarray):
        x = x[()]
    try:
        out = Fraction(*x.as_integer_ratio()) if isinstance(x, np.floating) else Fraction(int(x) if isinstance(x, np.integer) else x)
        float(out)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise InvalidProblem(f"{name}: {validate.shown(x)} is no rational number that float64 can come near to; {needed}") from error
    return out


def fractions(name: str, values: Any, ndim: int = 1) -> Exact:
    """A vector or matrix of exact values, checked entry by entry."""
    raw = validate.entries(name, values)
    if raw.dtype.kind not in "biufUO":
        raw = validate.numbers(name, values)  # which says what they are
    if raw.ndim != ndim:
        raise InvalidProblem(f"{name}: {raw.ndim}-dimensional with shape {raw.shape}, expected {'a vector' if ndim == 1 else 'a matrix'}")
    out = np.empty(raw.shape, dtype=object)
    for index, entry in np.ndenumerate(raw):
        position = ", ".join(map(str, index))
        out[index] = RATIONAL.lift(fraction(f"{name}[{position}]", entry))
    return out


def matrix_of(a: Exact) -> fmpq_mat:
    """The same as a matrix of FLINT."""
    from flint import fmpq, fmpq_mat

    return fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in a])


def solved(matrix: fmpq_mat, rhs: Exact) -> list[Any]:
    """The solution of a square system."""
    found = matrix.solve(matrix_of(rhs[:, None]))
    return [RATIONAL.lift(Fraction(int(x.p), int(x.q))) for x in found.entries()]
