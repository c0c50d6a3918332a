"""Features in blocks of rows: views of an array or a memory map, blocks of a Dask array that are computed when they are asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from simopt.data.rows import Rows
from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem
from simopt.ground.fields import Axes

CACHE = 1 << 18  # numbers in a block: two megabytes, which stay in a processor's cache while they are used
LARGE = 1 << 20  # numbers in a block of a formula that is evaluated once
HELD = 128 * 2**20  # bytes up to which features that are not float64 in memory are read once and kept
FEWEST = 64  # rows in a block


def is_lazy(features: Any) -> bool:
    """Whether this is a Dask array, or what behaves like one."""
    return callable(getattr(features, "compute", None))


def feature_rows(name: str, features: Any) -> Any:
    """Features that are finite and whose squares float64 holds, looked at in blocks.

    An array or a memory map of float64 stays what it is, a view. So does a Dask array, or a memory map of another type, unless it takes
    at most 128 MB as float64: then it is read and kept.

    Raises
    ------
    InvalidProblem
        as `validate.matrix` and `validate.squarable` do.
    """
    streamed = is_lazy(features) or (isinstance(features, np.memmap) and features.dtype != np.float64)
    if not streamed:
        return validate.squarable(name, validate.matrix(name, features))
    source = Rows(name, features, memory=2 * HELD, first_look=False)
    if source.resident:
        return validate.squarable(name, source.array)
    largest = 0.0
    for part, block in RowBlocks(features, LARGE):
        top = float(np.max(np.abs(block)))
        if not math.isfinite(top):
            row, column = np.unravel_index(int(np.argmax(~np.isfinite(block))), block.shape)
            value, row = float(block[row, column]), part.start + int(row)
            raise InvalidProblem(f"{name}: {value} at row {row}, column {int(column)} is not finite; remove or replace it first")
        largest = max(largest, top)
    validate.squarable(name, np.array([largest]))
    return features


StreamedFeatures = Annotated[Any, feature_rows, Axes("n", "d")]


class RowBlocks:
    """Consecutive rows of an (n, d) array as (slice, float64 block) pairs; each iteration reads a Dask array once, a chunk at a time."""

    def __init__(self, features: Any, numbers: int = CACHE) -> None:
        n, d = (int(size) for size in features.shape)
        self.shape = (n, d)
        self.step = max(1, min(n, max(numbers // d, FEWEST)))
        self._features, self._pieces = features, []
        self._chunks = [slice(0, n)]
        if is_lazy(features):
            whole = features.rechunk({1: -1})
            self._pieces = list(whole.to_delayed().ravel())  # computed at a quarter of the cost of slices
            ends = np.cumsum(whole.chunks[0])
            self._chunks = [slice(int(end - size), int(end)) for size, end in zip(whole.chunks[0], ends, strict=True)]
        # the ranges of rows of the blocks
        self.parts = [slice(i, min(i + self.step, c.stop)) for c in self._chunks for i in range(c.start, c.stop, self.step)]

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        held, source = slice(0, 0), self._features
        for part in self.parts:
            if self._pieces and part.stop > held.stop:
                held, source = self._chunk(part.start)
            block = source[part.start - held.start : part.stop - held.start]
            yield part, block if block.dtype == np.float64 else block.astype(np.float64)

    def take(self, rows: npt.NDArray[np.intp] | slice) -> Array:
        """Copies of some of the rows, given by a slice or by increasing indices."""
        if not self._pieces:
            return np.ascontiguousarray(self._features[rows], dtype=np.float64)
        chosen = np.arange(self.shape[0])[rows] if isinstance(rows, slice) else rows
        out = np.empty((chosen.size, self.shape[1]))
        for chunk in self._chunks:
            first, last = (int(i) for i in np.searchsorted(chosen, (chunk.start, chunk.stop)))
            if first < last:
                out[first:last] = self._chunk(chunk.start)[1][chosen[first:last] - chunk.start]
        return out

    def _chunk(self, start: int) -> tuple[slice, Array]:
        """The chunk that begins with this row."""
        index = next(i for i, chunk in enumerate(self._chunks) if chunk.start == start)
        return self._chunks[index], np.asarray(self._pieces[index].compute(), dtype=np.float64)


class Products:
    """Ψw and Ψᵀv in floats, a pass over the rows each; the last of both is remembered, as objective, dual and gap ask for the same."""

    def __init__(self, rows: RowBlocks) -> None:
        self._rows = rows
        self._image = self._pull = (np.empty(0), np.empty(0))

    def image(self, w: Array) -> Array:
        """Ψw."""
        known, found = self._image
        if not np.array_equal(known, w):
            found = np.empty(self._rows.shape[0])
            for part, block in self._rows:
                found[part] = block @ w
            found.flags.writeable = False
            self._image = w.copy(), found
        return found

    def pull(self, v: Array) -> Array:
        """Ψᵀv."""
        known, found = self._pull
        if not np.array_equal(known, v):
            found = np.zeros(self._rows.shape[1])
            for part, block in self._rows:
                found = found + block.T @ v[part]
            found.flags.writeable = False
            self._pull = v.copy(), found
        return found
