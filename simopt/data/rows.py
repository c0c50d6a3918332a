"""Points in the rows of an array that need not fit into memory: NumPy arrays, memory maps, Dask arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

MEMORY = 256 * 2**20  # bytes that a herd may use for columns and blocks, beside vectors of n numbers
Indices = npt.NDArray[np.intp]


class Rows:
    """n points with p coordinates, read as float64 in blocks of rows.

    An array in memory is used as it is (converted once if it is not float64). A memory map or a Dask array is read block by block each time
    it is needed. If all of it fits into half of `memory` bytes, it is read into memory once. A pass checks that other points are finite;
    with `check_first=False` each block is checked when it is read, which is better for who reads once. With `checked=True` they are a
    matrix in memory that `validate.matrix` has seen, which is not looked at again.

    Raises
    ------
    InvalidProblem
        for anything that is not an n × p array of finite real numbers; non-finite ones with row and column.
    """

    def __init__(self, name: str, points: Any, *, memory: float = MEMORY, check_first: bool = True, checked: bool = False) -> None:
        self.name = name
        self._check_blocks = not check_first
        self.memory = validate.positive("memory", memory)
        self._lazy = callable(getattr(points, "compute", None))  # a Dask array, or what behaves like one
        self.resident = not (self._lazy or isinstance(points, np.memmap))
        if self.resident:
            self._source: Any = validate.frozen(points) if checked else validate.matrix(name, points)
            return
        self._source = points
        self._check_shape()
        if 8 * self.n * self.width <= self.memory / 2:
            self._source = validate.matrix(name, points)
            self._lazy, self.resident = False, True
        elif check_first:
            self._check_finite()

    @classmethod
    def of(cls, name: str, points: Any, *, memory: float = MEMORY, check_first: bool = True) -> Rows:
        """`points` itself if it is a `Rows` already."""
        return points if isinstance(points, Rows) else cls(name, points, memory=memory, check_first=check_first)

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self._source.shape[0])

    @property
    def width(self) -> int:
        """Number of coordinates p."""
        return int(self._source.shape[1])

    @property
    def array(self) -> Array:
        """All points, if they are in memory; else they are read, whatever that takes."""
        return self._source if self.resident else self.block(0, self.n)

    def block(self, start: int, stop: int) -> Array:
        """Rows start … stop − 1 as float64."""
        rows = self._read(self._source[start:stop])
        if self._check_blocks and not self.resident:
            self._finite(start, rows)
        return rows

    def take(self, indices: Sequence[int] | Indices) -> Array:
        """The rows with these indices as float64, in this order."""
        chosen = np.asarray(indices, dtype=np.intp)
        return self._read(self._source[chosen]) if chosen.size else np.empty((0, self.width))

    def blocks(self, step: int | None = None) -> Iterator[tuple[int, Array]]:
        """(first row, rows) over consecutive blocks of `step` rows; by default as many as take a quarter of the memory."""
        size = self.step if step is None else step
        for start in range(0, self.n, size):
            yield start, self.block(start, min(start + size, self.n))

    @property
    def step(self) -> int:
        """Rows that take a quarter of the memory as float64, at least one; all of them if they are in memory anyway."""
        return self.n if self.resident else max(1, min(self.n, int(self.memory / (32 * self.width))))

    def _read(self, part: Any) -> Array:
        plain = part.compute() if self._lazy else part
        return np.ascontiguousarray(validate.numbers(self.name, plain))

    def _check_shape(self) -> None:
        validate.lazy(self.name, self._source)
        shape, dtype = tuple(self._source.shape), np.dtype(self._source.dtype)
        if len(shape) != 2:
            raise InvalidProblem(f"{self.name}: points must stand in the rows of a matrix, but the shape is {shape}")
        if any(math.isnan(size) for size in shape):
            raise InvalidProblem(f"{self.name}: the shape {shape} is not known; call compute_chunk_sizes() on the Dask array first")
        if shape[0] < 1 or shape[1] < 1:
            raise InvalidProblem(f"{self.name}: shape {shape}, at least one row and one column needed")
        if dtype.kind not in "fiub":
            raise InvalidProblem(f"{self.name}: entries of type {dtype}, real numbers needed")

    def _check_finite(self) -> None:
        for start, rows in self.blocks():
            self._finite(start, rows)

    def _finite(self, start: int, rows: Array) -> None:
        wrong = ~np.isfinite(rows)
        if wrong.any():
            row, column = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            where = f"at row {start + int(row)}, column {int(column)}"
            raise InvalidProblem(f"{self.name}: {float(rows[row, column])} {where} is not finite; remove or replace it first")
