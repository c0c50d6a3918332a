"""Affine maps as operators: x ↦ A x + b is evaluated, and u is pulled back to Aᵀu and ⟨u, b⟩, without forming a matrix.

A map is a small tree over the values to which it refers. Constants are read when a map is evaluated, so that a parameter may change between
two evaluations. A matrix is the user's own array, in the products with A and with Aᵀ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Interval
from simopt.arithmetic.floating import Floating
from simopt.arithmetic.interval import scaled_exactly
from simopt.arithmetic.interval_matrix import IntervalMatrix, below_each_other, reciprocal
from simopt.arithmetic.sparse import block_diagonal, is_identity, scaled_rows
from simopt.core.arrays import Array
from simopt.duality.graph.vectors import Indices, Value, broadcast, inner, product, stack, vector

CACHE_LIMIT = 100_000  # entries of a matrix

Key = int
Values = Mapping[Key, Value]
Residual = dict[Key, Value]
Gradients = Mapping[Key, Any]  # sparse matrices of floats, or `IntervalMatrix`: row i is the gradient of entry i of a value


@dataclass(frozen=True)
class Picks:
    """Row i takes factor_i times entry column_i of one value; −1 where it takes none.

    A factor is nan where it is not known exactly: where it involves a parameter, or a product that rounds.
    """

    columns: Indices
    factors: Array

    @property
    def rows(self) -> Indices:
        """Rows that take an entry."""
        return np.flatnonzero(self.columns >= 0)

    def injective(self) -> bool:
        """Whether no entry is taken twice."""
        taken = self.columns[self.rows]
        return not len(taken) or int(np.bincount(taken).max()) == 1


def _exact_products(x: Array, y: Array) -> Array:
    """Products that are exact: with 0 and ±1; nan elsewhere."""
    plain = (x == 0.0) | (y == 0.0) | (np.abs(x) == 1.0) | (np.abs(y) == 1.0)
    with np.errstate(all="ignore"):
        return np.where(plain, x * y, np.nan)


def _exact_sums(x: Array, y: Array) -> Array:
    """Sums that are exact: with 0, and of small whole numbers; nan elsewhere."""
    whole = (np.abs(x) <= 1e6) & (np.abs(y) <= 1e6) & (np.trunc(x) == x) & (np.trunc(y) == y)
    return np.where((x == 0.0) | (y == 0.0) | whole, x + y, np.nan)


class Mixed:
    """Rows that take several entries, or may."""


MIXED = Mixed()
Pattern = Picks | Mixed | None  # None: the value does not occur


class Map(ABC):
    """x ↦ A x + b."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many entries."""

    @abstractmethod
    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        """A x + b, or A x alone."""

    @abstractmethod
    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        """Add Aᵀu to the residual; return ⟨u, b⟩."""

    @abstractmethod
    def pattern(self, key: Key) -> Pattern:
        """How the rows depend on one value."""

    def rows(self, at: Gradients, width: int) -> Any:
        """A G, sparse, with `width` columns: the gradients of the entries, given those of the values as G (0 if missing).

        G is of floats or of intervals, and so is A G. The matrices of small maps without parameters are cached.
        """
        gradients = {key: at[key] for key in self.below if key in at}
        if self.varies or any(self.size * gradient.shape[0] > CACHE_LIMIT for gradient in gradients.values()):
            return self.made(at, width)
        parts = [self._matrix_of(key, gradient) @ gradient for key, gradient in gradients.items()]
        return sum(parts[1:], start=parts[0]) if parts else sp.csr_array((self.size, width))

    def _matrix_of(self, key: Key, gradient: Any) -> Any:
        """The matrix of one value, of the kind of its gradient."""
        n, proven = gradient.shape[0], isinstance(gradient, IntervalMatrix)
        if (key, proven) not in self._matrices:
            unit = sp.eye_array(n, format="csr")
            made = self.made({key: IntervalMatrix(unit) if proven else unit}, n)
            self._matrices[key, proven] = IntervalMatrix.of(made) if proven else sp.csr_array(made)
        return self._matrices[key, proven]

    @abstractmethod
    def made(self, at: Gradients, width: int) -> Any:
        """The same, computed anew."""

    @cached_property
    def _matrices(self) -> dict[tuple[Key, bool], Any]:
        return {}

    @cached_property
    def varies(self) -> bool:
        """Whether A or b may depend on parameters."""
        parts = [getattr(self, each.name) for each in fields(self)]  # type: ignore[arg-type]
        maps = [part for each in parts for part in (each if isinstance(each, tuple) else (each,)) if isinstance(part, Map)]
        return any(part.varies for part in maps)

    @cached_property
    def below(self) -> tuple[Key, ...]:
        """The values that occur, each once, in the order of the formula."""
        return tuple(dict.fromkeys(self._below()))

    @abstractmethod
    def _below(self) -> list[Key]: ...

    def constant(self, num: Arithmetic) -> Value:
        """The value of a map that refers to nothing."""
        return self.value(num, {})


@dataclass(frozen=True, eq=False)
class Reference(Map):
    """A variable, or the value of a node."""

    key: Key
    length: int

    @property
    def size(self) -> int:
        return self.length

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        return at[self.key]

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        into[self.key] = into[self.key] + u if self.key in into else u
        return num.lift(0.0)

    def pattern(self, key: Key) -> Pattern:
        return Picks(np.arange(self.size), np.ones(self.size)) if key == self.key else None

    def made(self, at: Gradients, width: int) -> Any:
        return at[self.key] if self.key in at else sp.csr_array((self.size, width))

    def _below(self) -> list[Key]:
        return [self.key]


@dataclass(frozen=True, eq=False)
class Constant(Map):
    """Numbers that are read anew each time: `read` returns floats, in the user's shape."""

    read: Callable[[], Any]
    length: int
    varies: bool = False

    @classmethod
    def of(cls, values: Any) -> Constant:
        """Numbers that do not change."""
        return cls(lambda: values, int(np.prod(values.shape)))

    @property
    def size(self) -> int:
        return self.length

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        return num.zeros(self.size) if linear else vector(num, dense(self.read()))

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        return inner(num, u, self.value(num, {}))

    def pattern(self, key: Key) -> Pattern:
        return None

    def made(self, at: Gradients, width: int) -> Any:
        return sp.csr_array((self.size, width))

    def _below(self) -> list[Key]:
        return []

    def factors(self) -> Array:
        """The floats, nan where they may change."""
        return np.full(self.size, np.nan) if self.varies else np.asarray(dense(self.read()), dtype=float).reshape(-1, order="F")


@dataclass(frozen=True, eq=False)
class Evaluated(Map):
    """Numbers computed from constants in the arithmetic asked for: a norm of data, a square of a parameter."""

    compute: Callable[[Arithmetic], Value]
    length: int
    varies = True  # a function may read anything

    @property
    def size(self) -> int:
        return self.length

    def _computed(self, num: Arithmetic) -> Value:
        """In floats where multipliers are symbols, which compute with floats."""
        return self.compute(FLOAT if isinstance(num, Floating) else num)

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        return num.zeros(self.length) if linear else self._computed(num)

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        return inner(num, u, self._computed(num))

    def pattern(self, key: Key) -> Pattern:
        return None

    def made(self, at: Gradients, width: int) -> Any:
        return sp.csr_array((self.size, width))

    def _below(self) -> list[Key]:
        return []


def _arithmetic(gradients: Any) -> Arithmetic:
    """The arithmetic of a matrix of gradients."""
    return INTERVAL if isinstance(gradients, IntervalMatrix) else FLOAT


def dense(values: Any) -> Any:
    """The array of a possibly sparse matrix."""
    return values.toarray() if hasattr(values, "toarray") else values


def factors_of(constant: Map) -> Array:
    """The entries of a constant that are known without reading parameters; nan elsewhere."""
    if isinstance(constant, Constant):
        return constant.factors()
    if isinstance(constant, SelectionMap) and len(constant.parts) == 1:
        return factors_of(constant.parts[0])[constant.index]
    if isinstance(constant, Negation):
        return -factors_of(constant.part)
    return np.full(constant.size, np.nan)


@dataclass(frozen=True, eq=False)
class SumMap(Map):
    """Σ of maps of one size."""

    parts: tuple[Map, ...]

    @property
    def size(self) -> int:
        return self.parts[0].size

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        total = None
        for part in self.parts:
            if not linear or part.below:
                term = part.value(num, at, linear)
                total = term if total is None else total + term
        return num.zeros(self.size) if total is None else total

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        total = num.lift(0.0)
        for part in self.parts:
            total = total + part.pull(num, u, into)
        return total

    def pattern(self, key: Key) -> Pattern:
        """The pattern of the sum: at most one entry in each row, the same in all parts."""
        found = [pattern for part in self.parts if (pattern := part.pattern(key)) is not None]
        if len(found) < 2:
            return found[0] if found else None
        columns, factors = np.full(self.size, -1), np.zeros(self.size)
        for pattern in found:
            if isinstance(pattern, Mixed) or np.any((columns >= 0) & (pattern.columns >= 0) & (columns != pattern.columns)):
                return MIXED
            factors = _exact_sums(factors, np.where(pattern.columns >= 0, pattern.factors, 0.0))
            columns = np.maximum(columns, pattern.columns)
        return Picks(np.where(factors == 0.0, -1, columns), factors)

    def made(self, at: Gradients, width: int) -> Any:
        parts = [part.made(at, width) for part in self.parts if any(key in at and at[key].nnz for key in part.below)]
        return sum(parts[1:], start=parts[0]) if parts else sp.csr_array((self.size, width))

    def _below(self) -> list[Key]:
        return [key for part in self.parts for key in part.below]


@dataclass(frozen=True, eq=False)
class Negation(Map):
    """−x."""

    part: Map

    @property
    def size(self) -> int:
        return self.part.size

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        return -self.part.value(num, at, linear)

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        return self.part.pull(num, -u, into)

    def pattern(self, key: Key) -> Pattern:
        pattern = self.part.pattern(key)
        return Picks(pattern.columns, -pattern.factors) if isinstance(pattern, Picks) else pattern

    def made(self, at: Gradients, width: int) -> Any:
        return -self.part.made(at, width)

    def _below(self) -> list[Key]:
        return list(self.part.below)


@dataclass(frozen=True, eq=False)
class ScalingMap(Map):
    """c ∘ x entry by entry, or x / c; c a constant."""

    factor: Map
    part: Map
    divides: bool = False

    @property
    def size(self) -> int:
        return self.part.size

    def _multiplied(self, num: Arithmetic, x: Value) -> Value:
        c = self.factor.constant(num)
        if num is INTERVAL and not self.divides and not c.rad.any():
            return scaled_exactly(x, c.mid)
        return x / c if self.divides else x * c

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        return self._multiplied(num, self.part.value(num, at, linear))

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        return self.part.pull(num, self._multiplied(num, u), into)

    def pattern(self, key: Key) -> Pattern:
        pattern = self.part.pattern(key)
        if not isinstance(pattern, Picks):
            return pattern
        c = factors_of(self.factor)
        factors = _exact_products(pattern.factors, np.where(np.abs(c) == 1.0, c, np.nan) if self.divides else c)
        return Picks(np.where(factors == 0.0, -1, pattern.columns), factors)

    def made(self, at: Gradients, width: int) -> Any:
        below = self.part.made(at, width)
        if not isinstance(below, IntervalMatrix):
            return scaled_rows(below, self._multiplied(FLOAT, np.ones(self.size)))
        factors = self.factor.constant(INTERVAL)
        factors = reciprocal(factors) if self.divides else factors
        return below.scaled(factors)

    def _below(self) -> list[Key]:
        return list(self.part.below)


def matrix_of(num: Arithmetic, constant: Map, shape: tuple[int, int]) -> Any:
    """A constant as a matrix: the user's floats, dense or sparse, or computed numbers."""
    if isinstance(constant, Constant):
        given = constant.read()
        return given if hasattr(given, "tocsr") else np.asarray(given, dtype=float).reshape(shape, order="F")
    flat = constant.constant(num)
    if isinstance(flat, Interval):
        return Interval(flat.mid.reshape(shape, order="F"), flat.rad.reshape(shape, order="F"))
    return flat.reshape(shape, order="F")


@dataclass(frozen=True, eq=False)
class ProductMap(Map):
    """A X, the columns of X one below the other. `matrix` reads A: a float array, or a constant that is evaluated."""

    matrix: Map
    shape: tuple[int, int]
    part: Map
    columns: int = 1

    @property
    def size(self) -> int:
        return self.shape[0] * self.columns

    def _matrix(self, num: Arithmetic) -> Any:
        return matrix_of(num, self.matrix, self.shape)

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        return product(num, self._matrix(num), self.part.value(num, at, linear), self.columns)

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        return self.part.pull(num, product(num, self._matrix(num).T, u, self.columns), into)

    def pattern(self, key: Key) -> Pattern:
        """The pattern of the product: at most one entry in each row of the matrix."""
        pattern = self.part.pattern(key)
        if not isinstance(pattern, Picks):
            return pattern
        if not isinstance(self.matrix, Constant) or self.matrix.varies:
            return MIXED
        entries = self._matrix(FLOAT)
        counts = np.diff(entries.tocsr().indptr) if hasattr(entries, "tocsr") else np.count_nonzero(entries, axis=1)
        if counts.max(initial=0) > 1:
            return MIXED
        row, column = entries.nonzero()
        inside, c = np.full(self.shape[0], -1), np.zeros(self.shape[0])
        inside[row], c[row] = column, np.asarray(entries[row, column]).reshape(-1)
        source = np.concatenate([np.where(inside < 0, -1, inside + j * self.shape[1]) for j in range(self.columns)])
        columns = np.where(source < 0, -1, pattern.columns[source])
        return Picks(columns, np.where(columns < 0, 0.0, _exact_products(np.tile(c, self.columns), pattern.factors[source])))

    def made(self, at: Gradients, width: int) -> Any:
        below = self.part.made(at, width)
        if not below.nnz:
            return sp.csr_array((self.size, width))
        matrix = self._matrix(_arithmetic(below))
        if not isinstance(below, IntervalMatrix):
            blocks = block_diagonal(sp.csr_array(matrix), self.columns)
            return blocks if is_identity(below) else blocks @ below
        whole = IntervalMatrix.of(matrix)
        return IntervalMatrix(*(block_diagonal(side, self.columns) for side in (whole.mid, whole.rad))) @ below

    def _below(self) -> list[Key]:
        return list(self.part.below)


@dataclass(frozen=True, eq=False)
class SelectionMap(Map):
    """Entries, in any order and number, of maps put one below the other: indexing, reshaping, stacking, broadcasting."""

    parts: tuple[Map, ...]
    index: Indices

    @property
    def size(self) -> int:
        return len(self.index)

    @cached_property
    def _plain(self) -> bool:
        return len(self.index) == self._whole and bool(np.array_equal(self.index, np.arange(self._whole)))

    @cached_property
    def _whole(self) -> int:
        return sum(part.size for part in self.parts)

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        whole = stack(num, [part.value(num, at, linear) for part in self.parts])
        if self._plain:
            return whole
        return broadcast(num, whole, self.size) if self._whole == 1 else whole[self.index]

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        if not self._plain:
            u = vector(num, num.sum(u)) if self._whole == 1 else num.group_sum(u, self.index, self._whole)
        total, start = num.lift(0.0), 0
        for part in self.parts:
            own = u if len(self.parts) == 1 else u[start : start + part.size]
            total, start = total + part.pull(num, own, into), start + part.size
        return total

    def pattern(self, key: Key) -> Pattern:
        """The patterns of the parts one below the other, restricted to the chosen entries."""
        found = [part.pattern(key) for part in self.parts]
        if all(pattern is None for pattern in found):
            return None
        columns, factors = [], []
        for part, pattern in zip(self.parts, found, strict=True):
            if isinstance(pattern, Mixed):
                return MIXED
            columns.append(np.full(part.size, -1) if pattern is None else pattern.columns)
            factors.append(np.zeros(part.size) if pattern is None else pattern.factors)
        return Picks(np.concatenate(columns)[self.index], np.concatenate(factors)[self.index])

    def made(self, at: Gradients, width: int) -> Any:
        return below_each_other([part.made(at, width) for part in self.parts])[self.index]

    def _below(self) -> list[Key]:
        return [key for part in self.parts for key in part.below]


def stacked(maps: Sequence[Map]) -> Map:
    """One map below the other."""
    return maps[0] if len(maps) == 1 else SelectionMap(tuple(maps), np.arange(sum(m.size for m in maps)))


@dataclass(frozen=True, eq=False)
class Totals(Map):
    """Sums over groups of entries."""

    part: Map
    group: Indices
    length: int

    @property
    def size(self) -> int:
        return self.length

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        x = self.part.value(num, at, linear)
        return vector(num, num.sum(x)) if self.size == 1 else num.group_sum(x, self.group, self.size)

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        return self.part.pull(num, broadcast(num, u, self.part.size) if self.size == 1 else u[self.group], into)

    def pattern(self, key: Key) -> Pattern:
        """At most one entry in each group."""
        pattern = self.part.pattern(key)
        if not isinstance(pattern, Picks):
            return pattern
        rows = pattern.rows
        if len(np.unique(self.group[rows])) < len(rows):
            return MIXED
        columns, factors = np.full(self.size, -1), np.zeros(self.size)
        columns[self.group[rows]], factors[self.group[rows]] = pattern.columns[rows], pattern.factors[rows]
        return Picks(columns, factors)

    def made(self, at: Gradients, width: int) -> Any:
        n = self.part.size
        return sp.csr_array((np.ones(n), (self.group, np.arange(n))), shape=(self.size, n)) @ self.part.made(at, width)

    def _below(self) -> list[Key]:
        return list(self.part.below)


@dataclass(frozen=True, eq=False)
class RunningSums(Map):
    """x_1, x_1 + x_2, … of each of the consecutive lines of `length` entries."""

    part: Map
    length: int

    @property
    def size(self) -> int:
        return self.part.size

    def _lines(self) -> list[Indices]:
        return list(np.arange(self.size).reshape(-1, self.length))

    def value(self, num: Arithmetic, at: Values, linear: bool = False) -> Value:
        x = self.part.value(num, at, linear)
        return stack(num, [num.cumsum(x[line]) for line in self._lines()])

    def pull(self, num: Arithmetic, u: Value, into: Residual) -> Value:
        return self.part.pull(num, stack(num, [num.cumsum(u[line[::-1]])[::-1] for line in self._lines()]), into)

    def pattern(self, key: Key) -> Pattern:
        return self.part.pattern(key) if self.length == 1 or key not in self.below else MIXED

    def made(self, at: Gradients, width: int) -> Any:
        line = sp.csr_array(np.tri(self.length))
        return block_diagonal(line, self.size // self.length) @ self.part.made(at, width)

    def _below(self) -> list[Key]:
        return list(self.part.below)
