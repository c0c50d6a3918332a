"""A declaration that is a linear programme, as min ⟨c, x⟩ + c₀ subject to A x + b ≤ 0 or = 0 and low ≤ x ≤ high, its numbers exact.

x has the entries of all variables, also of those that equalities or epigraphs define, and the values of terms: a maximum or an absolute
value t = φ(z) is at least each of its parts, z_i ≤ t. A row c x_j + b ≤ 0 with c = ±1 is a bound, as −b/c is then a float; any other row is
one of A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import INTERVAL, Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix, below_each_other
from simopt.arithmetic.triangular import as_fraction
from simopt.core.arrays import Array
from simopt.duality.atoms.absolute import Absolute
from simopt.duality.atoms.largest_size import LargestSize
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.evaluation.fixed_multipliers import groups
from simopt.duality.graph.affine import Key, Map, Negation, Reference, SelectionMap, SumMap
from simopt.duality.graph.programme import Definition, Epigraph, Leaf, Programme, Row, Term
from simopt.duality.graph.vectors import Indices, Mask, vector
from simopt.duality.vertices.exact_entries import ExactEntries

LARGEST = (Maximum, Absolute, LargestSize)  # terms that are the largest of their entries, or of these and their negatives
MOST = 300_000  # entries of rows that are computed in fractions, as the declaration's formula rounds them
OPPOSITE = "−"  # before the name of a term: of the rows of the negatives
Fractions = dict[int, Any]  # entries of a row that are not 0, fractions of python-flint


@dataclass(frozen=True, eq=False)
class LinearProgramme:
    """The numbers of a linear programme; `rows` has the row and the entry of it that each row of `matrix` is.

    The entries of `matrix` and `constants` are intervals where the declaration's formula rounds them; `exact_row` has the numbers.
    """

    variables: list[Leaf | Definition | Epigraph | Term]
    objective: Map
    cost: IntervalMatrix
    offset: Interval
    rows: list[tuple[Row, Indices]]
    matrix: IntervalMatrix
    constants: Interval
    equality: Mask
    low: Array
    high: Array

    @classmethod
    def of(cls, programme: Programme, apart: Sequence[Term] = ()) -> LinearProgramme | None:
        """The present numbers of a programme; None where it is not linear, overflows, has too many rows that floats cannot hold,
        or rests on promises of signs.

        The values of the terms in `apart` are variables that nothing bounds.
        """
        if programme.promises:  # the rows z ≤ t of a term rest on the signs of its factors
            return None
        bounded = [term for term in programme.terms if term not in apart]
        if not all(isinstance(term.atom, LARGEST) for term in bounded):
            return None
        variables = [*programme.every_variable, *programme.terms]
        reading = _MapReader(variables)
        low, high = np.full(reading.width, -np.inf), np.full(reading.width, np.inf)
        rows = list[tuple[Row, Indices]]()
        matrices, constants, rounded = list[IntervalMatrix](), list[Interval](), 0
        for row in (*programme.every_row, *(row for term in bounded for row in _parts(term))):
            matrix, b = reading.read(row.map)
            rounded += int(np.sum(~(matrix.exact_rows & (b.rad == 0.0))))
            if rounded * reading.width > MOST:
                return None
            bounding = np.zeros(row.map.size, dtype=bool) if row.equality else _bounding(matrix, b)
            if bounding.any():
                _bound(matrix[bounding].mid, b.mid[bounding], low, high)
            others = np.flatnonzero(~bounding)
            rows.append((row, others))
            matrices.append(matrix[others])
            constants.append(b[others])
        cost, offset = reading.read(programme.objective)
        whole = below_each_other([IntervalMatrix(sp.csr_array((0, reading.width))), *matrices])
        b = INTERVAL.concat([Interval(np.zeros(0)), *constants])
        equality = np.concatenate([np.zeros(0, dtype=bool), *(np.full(len(chosen), row.equality) for row, chosen in rows)])
        read = cls(variables, programme.objective, cost, offset, rows, IntervalMatrix.of(whole), b, equality, low, high)
        numbers = (cost.mid.data, cost.rad.data, offset.mid, offset.rad, read.matrix.mid.data, read.matrix.rad.data, b.mid, b.rad)
        return read if all(np.isfinite(part).all() for part in numbers) else None

    @cached_property
    def _row_entries(self) -> list[tuple[Row, int]]:
        return [(row, int(i)) for row, chosen in self.rows for i in chosen]

    def name_of(self, i: int) -> str:
        """That of row i, for a message."""
        row, entry = self._row_entries[i]
        return f"{row.name} (entry {entry})"

    def exact_row(self, i: int) -> tuple[Fractions, Any]:
        """Row i of A and b_i in fractions.

        Raises
        ------
        NotRational
            where the declaration's numbers are none.
        """
        row, entry = self._row_entries[i]
        return self._exact(row.map, entry, self.matrix, self.constants, i)

    def exact_cost(self) -> tuple[Fractions, Any]:
        """c and c₀ in fractions; errors as those of `exact_row`."""
        return self._exact(self.objective, 0, self.cost, self.offset, 0)

    def _exact(self, of: Map, entry: int, matrix: IntervalMatrix, constants: Interval, i: int) -> tuple[Fractions, Any]:
        """The floats of row i, where these are its numbers; else the entry of the map in fractions."""
        if matrix.exact_rows[i] and constants.rad[i] == 0.0:
            part = slice(matrix.mid.indptr[i], matrix.mid.indptr[i + 1])
            pairs = zip(matrix.mid.indices[part].tolist(), matrix.mid.data[part].tolist(), strict=True)
            return {j: as_fraction(a) for j, a in pairs if a}, as_fraction(float(constants.mid[i]))
        gradient, b = self._entries.entry(of, entry)
        return {self._start[key] + j: a for (key, j), a in gradient.items() if a}, b

    @cached_property
    def _entries(self) -> ExactEntries:
        return ExactEntries()

    @cached_property
    def _start(self) -> dict[Key, int]:
        ends = np.cumsum([0, *(variable.size for variable in self.variables)]).tolist()
        return {variable.key: start for variable, start in zip(self.variables, ends, strict=False)}

    def read(self, below: Map) -> tuple[IntervalMatrix, Interval]:
        """The matrix and the constants of a map of the variables."""
        return self._reader.read(below)

    @cached_property
    def _reader(self) -> _MapReader:
        return _MapReader(self.variables)

    def index_of(self, variable: Leaf | Definition | Epigraph | Term) -> Indices:
        """Where the entries of a variable are in x."""
        return self._start[variable.key] + np.arange(variable.size)

    def point(self, values: Mapping[Key, Array]) -> Array:
        """x of the values of all variables by key."""
        return np.concatenate([values[variable.key] for variable in self.variables])

    def reduced_costs(self, y: Interval) -> Interval:
        """c + Aᵀy."""
        return self.matrix.T.matvec(y) + self.cost.dense()[0]

    def by_name(self, x: Array) -> dict[str, Array]:
        """The values of the leaves."""
        ends = np.cumsum([0, *(variable.size for variable in self.variables)])
        parts = zip(self.variables, ends, ends[1:], strict=False)
        return {v.name: x[start:end].reshape(v.shape, order="F") for v, start, end in parts if isinstance(v, Leaf)}

    def multipliers_of(self, named: Mapping[str, Array]) -> Array:
        """y of multipliers by name; 0 where there is none."""
        parts = (
            named[row.name].reshape(-1, order="F")[chosen] if row.name in named else np.zeros(len(chosen)) for row, chosen in self.rows
        )
        return np.concatenate([np.zeros(0), *parts])

    def multipliers(self, y: Array) -> dict[str, Array]:
        """The multipliers of rows and terms by name; those of bounds are 0."""
        named, start = dict[str, Array](), 0
        for row, chosen in self.rows:
            own = named.setdefault(row.name.removeprefix(OPPOSITE), np.zeros(row.map.size))
            own[chosen] += y[start : start + len(chosen)] * (-1.0 if row.name.startswith(OPPOSITE) else 1.0)
            start += len(chosen)
        return named


def _parts(term: Term) -> Iterator[Row]:
    """z_i ≤ t_j for the entries of group j, and −z_i ≤ t_j where φ is of their sizes; for t = −φ(z) with −t in place of t."""
    group, _ = groups(term.atom, term.argument.size)
    value = SelectionMap((Reference(term.key, term.size),), group)
    level = value if term.sign < 0 else Negation(value)
    yield Row(term.key, term.name, SumMap((term.argument, level)))
    if not isinstance(term.atom, Maximum):
        yield Row(term.key, OPPOSITE + term.name, SumMap((Negation(term.argument), level)))


class _MapReader:
    """The matrices and constants of maps of all variables."""

    def __init__(self, variables: Sequence[Leaf | Definition | Epigraph | Term]) -> None:
        ends = np.cumsum([0, *(variable.size for variable in variables)])
        self.width = int(ends[-1])
        unit = sp.eye_array(self.width, format="csr")
        parts = zip(variables, ends, ends[1:], strict=False)
        self.at = {variable.key: IntervalMatrix(unit[start:end]) for variable, start, end in parts}
        self.zeros = {variable.key: INTERVAL.zeros(variable.size) for variable in variables}

    def read(self, below: Map) -> tuple[IntervalMatrix, Interval]:
        constants = vector(INTERVAL, below.value(INTERVAL, self.zeros))
        return IntervalMatrix.of(below.made(self.at, self.width)), constants


def _bounding(matrix: IntervalMatrix, constants: Interval) -> Mask:
    """Rows ±x_j + b ≤ 0 whose b is a float."""
    single = (np.diff(matrix.mid.indptr) == 1) & matrix.exact_rows & (constants.rad == 0.0)
    entry = np.zeros(len(single))
    entry[single] = matrix.mid.data[matrix.mid.indptr[:-1][single]]
    return np.asarray(single & (np.abs(entry) == 1.0))


def _bound(matrix: Any, b: Array, low: Array, high: Array) -> None:
    columns, sign = matrix.indices, matrix.data
    np.minimum.at(high, columns[sign > 0.0], -b[sign > 0.0])
    np.maximum.at(low, columns[sign < 0.0], b[sign < 0.0])


def as_interval_vector(size: int, numbers: Mapping[int, Any]) -> Interval:
    """Fractions of python-flint at their indices, 0 elsewhere: the floats next to them, without a radius where they are equal."""
    mid, rad = np.zeros(size), np.zeros(size)
    for j, number in numbers.items():
        mid[j] = as_float(number)
        if as_fraction(float(mid[j])) != number:
            rad[j] = np.spacing(abs(mid[j]))
    return Interval(mid, rad)


def as_float(number: Any) -> float:
    """The float next to a fraction of python-flint.

    Raises
    ------
    OverflowError
        where none is.
    """
    return int(number.p) / int(number.q)
