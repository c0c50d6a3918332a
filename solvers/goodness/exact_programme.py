r"""Linear programmes without rounding: HiGHS finds a basis in floats, pivots in ℚ make it optimal, and its vertex is judged.

The point is judged by its feasibility. With d = c − Aᵀy the multipliers are judged by their bound Σ_i y_i·(end of row i) + Σ_j d_j·(end of
column j). The signs of y and d say which end. Both are in fractions, so that what is returned is proved. Where no point is feasible,
multipliers of a positive bound for the objective 0 prove that.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import RATIONAL
from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.solvers.goodness.exact_pivots import Ends, NoFeasiblePoint, optimal_vertex
from simopt.solvers.goodness.highs_programme import HighsProgramme

Number = Fraction | int | float | str
Exact = NDArray[np.object_]


@dataclass(frozen=True)
class ExactVertex:
    """An optimal vertex, proved: x is feasible, y bounds the value from below, and both have the same value."""

    value: Fraction
    columns: tuple[Fraction, ...]
    rows: tuple[Fraction, ...]


def exact_programme(
    costs: Sequence[Fraction], matrix: Any, low: Ends, high: Ends, row_low: Ends, row_high: Ends, start: Sequence[int] | None = None
) -> ExactVertex:
    """min c·x subject to low ≤ x ≤ high, row_low ≤ Ax ≤ row_high in fractions; None: no bound. For small programmes (hundreds of columns).

    `start`, if given, is the basis to begin from (`exact_pivots.optimal_vertex`'s `sides`) in place of the one that HiGHS finds.

    Raises
    ------
    Infeasible
        when no point is feasible.
    ArithmeticError
        when there is no minimum.
    ValueError
        for a lower end above the upper one.
    """
    A = np.array(matrix, dtype=object).reshape(len(row_low), len(costs))
    c = _objects(costs)
    sides = _basis(A, c, low, high, row_low, row_high) if start is None else start
    try:
        values, multipliers = optimal_vertex(c.tolist(), A.tolist(), [*low, *row_low], [*high, *row_high], sides)
    except NoFeasiblePoint as error:
        proof = _bound(A, 0 * c, _objects(error.multipliers), low, high, row_low, row_high)
        if proof is None or proof <= 0:
            raise ArithmeticError(f"multipliers that bound 0 by {proof} prove nothing") from error
        raise
    value = _value(A, c, _objects(values), low, high, row_low, row_high)
    bound = _bound(A, c, _objects(multipliers), low, high, row_low, row_high)
    if value is None or value != bound:
        raise ArithmeticError(f"the two values {value} and {bound} of a vertex differ")
    return ExactVertex(value, tuple(values), tuple(multipliers))


def _objects(values: Sequence[Fraction]) -> Exact:
    out = np.empty(len(values), dtype=object)
    out[:] = [RATIONAL.lift(value) for value in values]
    return out


def _basis(A: Exact, c: Exact, low: Ends, high: Ends, row_low: Ends, row_high: Ends) -> list[int]:
    """Where each column is, then each row, when HiGHS ends; all rows basic if it fails before it has a basis."""
    ends = [_floats(side, sign) for side, sign in ((low, -1), (high, 1), (row_low, -1), (row_high, 1))]
    programme = HighsProgramme([A.astype(float)], c.astype(float), *ends)
    with contextlib.suppress(ArithmeticError):  # whatever it says of feasibility or of a minimum is decided in ℚ
        programme.solve()
    return programme.sides()


def _floats(ends: Ends, sign: int) -> NDArray[np.float64]:
    return np.array([sign * np.inf if end is None else float(end) for end in ends])


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
