"""Features in blocks of rows: views of an array or a memory map, blocks of a Dask array that are computed when they are asked for."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from typing import Annotated, Any, NamedTuple

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


class Chunk(NamedTuple):
    """A range of rows of a Dask array, and what makes it."""

    rows: slice
    made: Any


class RowBlocks:
    """Consecutive rows of an (n, d) array as (slice, float64 block) pairs; each iteration reads a Dask array once, a chunk at a time."""

    def __init__(self, features: Any, numbers: int = CACHE) -> None:
        n, d = (int(size) for size in features.shape)
        self.shape = (n, d)
        self.step = max(1, min(n, max(numbers // d, FEWEST)))
        self._features = features
        self._chunks: list[Chunk] = []  # of a Dask array
        if is_lazy(features):
            whole = features.rechunk({1: -1})
            pieces = whole.to_delayed().ravel().tolist()  # computed at a quarter of the cost of slices
            ends = np.cumsum(whole.chunks[0]).tolist()
            self._chunks = [Chunk(slice(end - size, end), piece) for size, end, piece in zip(whole.chunks[0], ends, pieces, strict=True)]
        # the ranges of rows of the blocks
        ranges = [chunk.rows for chunk in self._chunks] or [slice(0, n)]
        self.parts = [slice(i, min(i + self.step, c.stop)) for c in ranges for i in range(c.start, c.stop, self.step)]

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        held, source, chunks = slice(0, 0), self._features, _read(self._chunks)
        for part in self.parts:
            if self._chunks and part.stop > held.stop:
                held, source = next(chunks)
            block = source[part.start - held.start : part.stop - held.start]
            yield part, block if block.dtype == np.float64 else block.astype(np.float64)

    def take(self, rows: npt.NDArray[np.intp] | slice) -> Array:
        """Copies of some of the rows, given by a slice or by increasing indices."""
        if not self._chunks:
            return np.ascontiguousarray(self._features[rows], dtype=np.float64)
        chosen = np.arange(self.shape[0])[rows] if isinstance(rows, slice) else rows
        out = np.empty((chosen.size, self.shape[1]))
        ends = [np.searchsorted(chosen, (chunk.rows.start, chunk.rows.stop)).tolist() for chunk in self._chunks]
        asked = [(chunk, slice(first, last)) for chunk, (first, last) in zip(self._chunks, ends, strict=True) if first < last]
        for (_, part), (held, block) in zip(asked, _read([chunk for chunk, _ in asked]), strict=True):
            out[part] = block[chosen[part] - held.start]
        return out


def _read(chunks: Sequence[Chunk]) -> Iterator[tuple[slice, Array]]:
    """One chunk after another; while one is in use, a cluster makes the next, one a worker and one more."""
    client = _cluster() if chunks else None
    if client is None:
        yield from ((chunk.rows, np.asarray(chunk.made.compute(), dtype=np.float64)) for chunk in chunks)
        return
    left = iter(chunks)
    ahead = deque(client.compute(chunk.made) for chunk in islice(left, 1 + len(client.ncores())))
    for chunk in chunks:
        block = np.asarray(ahead.popleft().result(), dtype=np.float64)
        ahead.extend(client.compute(following.made) for following in islice(left, 1))
        yield chunk.rows, block


def _cluster() -> Any:
    """The client of the cluster that Dask works on; None where it works in this process."""
    client = getattr(import_module("dask.base").get_scheduler(), "__self__", None)
    return client if hasattr(client, "ncores") else None


class Products:
    """Ψw and Ψᵀv in floats, a pass over the rows each.

    While one point is judged the last of both is remembered, as objective, dual and gap ask for the same. Never longer: memory maps and
    lazy arrays may have other numbers by then.
    """

    def __init__(self, rows: RowBlocks) -> None:
        self._rows = rows
        self._judging = threading.local()  # `last` products, where this thread is judging a point

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """For the time of one judgement."""
        self._judging.last = {}
        try:
            yield
        finally:
            self._judging.last = None

    def image(self, w: Array) -> Array:
        """Ψw."""

        def product() -> Array:
            out = np.empty(self._rows.shape[0])
            for part, block in self._rows:
                out[part] = block @ w
            return out

        return self._once("image", w, product)

    def pull(self, v: Array) -> Array:
        """Ψᵀv."""

        def product() -> Array:
            out = np.zeros(self._rows.shape[1])
            for part, block in self._rows:
                out += block.T @ v[part]
            return out

        return self._once("pull", v, product)

    def _once(self, which: str, given: Array, product: Callable[[], Array]) -> Array:
        last: dict[str, tuple[Array, Array]] | None = getattr(self._judging, "last", None)
        last = {} if last is None else last
        if which not in last or not np.array_equal(last[which][0], given):
            last[which] = given.copy(), product()
            last[which][1].flags.writeable = False
        return last[which][1]
