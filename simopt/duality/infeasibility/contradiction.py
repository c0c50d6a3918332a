"""Equalities that no point within the bounds satisfies exactly, however little they miss: rounded numbers rarely agree.

Equalities A x + b = 0 are combined, in fractions, to ⟨y, A x + b⟩ = 0 with few entries left, by elimination. The combination has its
smallest and its largest value over the bounds low ≤ x ≤ high. If 0 is not between them, no point is feasible. Where nothing is left of
the entries, both are ⟨y, b⟩. A rank that floats cannot tell makes no difference here, and an amount of 1e-20 is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from simopt.arithmetic import NotRational
from simopt.arithmetic.triangular import as_fraction
from simopt.duality.evaluation.equalities import some_of
from simopt.duality.vertices.linear_programme import LinearProgramme, as_float

MOST = 300_000  # products of fractions: some seconds, of long ones


@dataclass(frozen=True)
class Contradiction:
    """Of these rows one is off by `amount` > 0 or more, wherever x is within the bounds: they have a y ≠ 0, Σ |y| = 1."""

    rows: tuple[str, ...]
    amount: float

    def __str__(self) -> str:
        them = "it" if len(self.rows) == 1 else "all"
        missed = f"as the numbers stand in floats; one is off by {self.amount:.2g} or more"
        return f"{some_of(self.rows)}: no point within the bounds satisfies {them} exactly, {missed}"


def contradiction(linear: LinearProgramme) -> Contradiction | None:
    """One that elimination comes upon; None if it comes upon none, if that takes too long, or where a number is no fraction."""
    try:
        return _Elimination(linear).contradiction()
    except (NotRational, ZeroDivisionError, OverflowError):
        return None


class _Elimination:
    """Equalities, of which one after the other is solved for an entry, and put into those that are left."""

    def __init__(self, linear: LinearProgramme) -> None:
        self.linear = linear
        self.rows: dict[int, dict[int, Any]] = {}  # those that are left
        self.constants: dict[int, Any] = {}
        self.combinations: dict[int, dict[int, Any]] = {}  # y of each
        self.rows_with: dict[int, set[int]] = {}  # an entry
        self.products = 0
        for i in np.flatnonzero(linear.equality).tolist():
            row, self.constants[i] = linear.exact_row(i)
            self.rows[i], self.combinations[i] = dict(row), {i: as_fraction(1.0)}
            for j in row:
                self.rows_with.setdefault(j, set()).add(i)
        self.by_length = [(len(row), i) for i, row in self.rows.items()]
        heapify(self.by_length)

    def contradiction(self) -> Contradiction | None:
        """The first one, the rows with the fewest entries before the others; entries without bounds are solved for first."""
        while self.by_length and self.products < MOST:
            length, i = heappop(self.by_length)
            if i not in self.rows or length != len(self.rows[i]):  # a later entry of the heap has its length
                continue
            row, constant, combination = self.rows.pop(i), self.constants.pop(i), self.combinations.pop(i)
            amount = max(self._least(row, constant, 1), self._least(row, constant, -1))
            if amount > 0:
                size = sum(abs(y) for y in combination.values())
                return Contradiction(tuple(map(self.linear.name_of, sorted(combination))), as_float(amount / size))
            for j in row:
                self.rows_with[j].discard(i)
            if row:
                self._solve(row, constant, combination, min(row, key=self._cost))
        return None

    def _cost(self, j: int) -> tuple[bool, int]:
        return bool(np.isfinite(self.linear.low[j]) or np.isfinite(self.linear.high[j])), len(self.rows_with[j])

    def _least(self, row: dict[int, Any], constant: Any, sign: int) -> Any:
        """min ±(⟨a, x⟩ + b) within the bounds; −1 where it is negative without end."""
        total = sign * constant
        for j, a in row.items():
            end = float(self.linear.low[j] if sign * a > 0 else self.linear.high[j])
            if not np.isfinite(end):
                return as_fraction(-1.0)
            total = total + sign * a * as_fraction(end)
        return total

    def _solve(self, row: dict[int, Any], constant: Any, combination: dict[int, Any], j: int) -> None:
        """Solve the row for entry j, and put it into all others."""
        for k in list(self.rows_with[j]):
            factor = self.rows[k][j] / row[j]
            self._subtract(self.rows[k], factor, row)
            self._subtract(self.combinations[k], factor, combination)
            self.constants[k] = self.constants[k] - factor * constant
            for entry in row:
                (self.rows_with[entry].add if entry in self.rows[k] else self.rows_with[entry].discard)(k)
            heappush(self.by_length, (len(self.rows[k]), k))

    def _subtract(self, of: dict[int, Any], factor: Any, other: dict[int, Any]) -> None:
        self.products += len(other)
        for j, a in other.items():
            of[j] = of[j] - factor * a if j in of else -factor * a
            if not of[j]:
                del of[j]
