"""Single entries of affine maps in fractions: their gradients and constants, from the numbers that stand in them.

Where a formula rounds the numbers of a row, the fractions are needed, of a few rows alone. To pull a unit vector back through a whole map
costs as much as all its rows; here each map is asked for the one entry, and asks the maps below it for those that occur in it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import RATIONAL
from simopt.arithmetic.triangular import as_fraction
from simopt.duality.graph.affine import (
    Constant,
    Key,
    Map,
    Negation,
    ProductMap,
    Reference,
    RunningSums,
    ScalingMap,
    SelectionMap,
    SumMap,
    Totals,
    dense,
    matrix_of,
)
from simopt.duality.graph.vectors import Indices, vector

Gradient = dict[tuple[Key, int], Any]  # entries of values -> fractions of python-flint
Entry = tuple[Gradient, Any]  # and the constant


class ExactEntries:
    """Entries of maps with the numbers that their constants have at first use.

    Raises
    ------
    NotRational, ZeroDivisionError
        where a number is no fraction.
    """

    def __init__(self) -> None:
        self._computed: dict[tuple[int, int], Entry] = {}  # of maps that combine many entries, each computed once
        self._ends: dict[int, list[int]] = {}
        self._numbers: dict[int, Any] = {}
        self._matrices: dict[int, Any] = {}
        self._rules: dict[type[Map], Callable[[Any, int], Entry]] = {
            Reference: lambda of, i: ({(of.key, i): as_fraction(1.0)}, as_fraction(0.0)),
            Negation: lambda of, i: _scaled(self.entry(of.part, i), -1),
            SumMap: lambda of, i: _total([self.entry(part, i) for part in of.parts]),
            ScalingMap: self._multiple,
            SelectionMap: self._selected,
            ProductMap: self._product,
            Totals: lambda of, i: self._sum(of, i, np.flatnonzero(of.group == i)),
            RunningSums: lambda of, i: self._sum(of, i, np.arange(i - i % of.length, i + 1)),
        }

    def entry(self, of: Map, i: int) -> Entry:
        """Entry i of x ↦ A x + b."""
        rule = self._rules.get(type(of))
        return ({}, as_fraction(self._constant(of)[i])) if rule is None else rule(of, i)

    def _multiple(self, of: ScalingMap, i: int) -> Entry:
        _, factor = self.entry(of.factor, i)
        return _scaled(self.entry(of.part, i), 1 / factor if of.divides else factor)

    def _selected(self, of: SelectionMap, i: int) -> Entry:
        j, parts = int(of.index[i]), of.parts
        if len(parts) == 1:
            return self.entry(parts[0], j)
        if id(of) not in self._ends:
            self._ends[id(of)] = np.cumsum([part.size for part in parts]).tolist()
        ends = self._ends[id(of)]
        number = bisect_right(ends, j)
        return self.entry(parts[number], j - ends[number] + parts[number].size)

    def _product(self, of: ProductMap, i: int) -> Entry:
        def compute() -> Entry:
            column, row = divmod(i, of.shape[0])
            start = column * of.shape[1]
            return _total([_scaled(self.entry(of.part, start + j), as_fraction(a)) for j, a in self._row(of, row)])

        return self._once(of, i, compute)

    def _sum(self, of: Totals | RunningSums, i: int, members: Indices) -> Entry:
        return self._once(of, i, lambda: _total([self.entry(of.part, j) for j in members.tolist()]))

    def _once(self, of: Map, i: int, compute: Callable[[], Entry]) -> Entry:
        if (id(of), i) not in self._computed:
            self._computed[id(of), i] = compute()
        return self._computed[id(of), i]

    def _row(self, of: ProductMap, row: int) -> Iterable[tuple[int, Any]]:
        """Columns and numbers of a row of the matrix."""
        if id(of) not in self._matrices:
            matrix = matrix_of(RATIONAL, of.matrix, of.shape)
            self._matrices[id(of)] = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
        matrix = self._matrices[id(of)]
        if not sp.issparse(matrix):
            return [(j, a) for j, a in enumerate(matrix[row].tolist()) if a]
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        return zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)

    def _constant(self, of: Map) -> Any:
        """The numbers of a map that refers to nothing: floats where it stores them, else fractions."""
        if id(of) not in self._numbers:
            stored = of.read() if isinstance(of, Constant) else None
            flat: Any = vector(RATIONAL, of.constant(RATIONAL)) if stored is None else np.asarray(dense(stored), dtype=float)
            self._numbers[id(of)] = flat.reshape(-1, order="F")
        return self._numbers[id(of)]


def _scaled(entry: Entry, factor: Any) -> Entry:
    gradient, b = entry
    return {at: a * factor for at, a in gradient.items()}, b * factor


def _total(entries: Sequence[Entry]) -> Entry:
    total, constant = Gradient(), as_fraction(0.0)
    for gradient, b in entries:
        constant = constant + b
        for at, a in gradient.items():
            total[at] = total[at] + a if at in total else a
    return total, constant
