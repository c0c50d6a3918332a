"""Features in blocks of rows: views of an array or a memory map, blocks of a Dask array that are computed when they are asked for."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from importlib import import_module
from itertools import islice
from operator import add
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import Arithmetic, Value
from simopt.arithmetic.interval import Interval
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

    @property
    def at_hand(self) -> bool:
        """Whether a pass over the rows costs next to nothing: they are one block, and need not be made."""
        return len(self.parts) == 1 and not self._chunks and self._features.dtype == np.float64

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
    """Ψw and Ψᵀv in any arithmetic, by ranges of rows, a pass over them each.

    While one point is judged the last of both is remembered in each arithmetic, as objective, dual and gap ask for the same. Never longer:
    memory maps and lazy arrays may have other numbers by then.
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

    def image(self, num: Arithmetic, w: Value) -> list[Value]:
        """Ψw."""
        return self._once("image", num, [w], lambda: [num.matvec(block, w) for _, block in self._rows])

    def pull(self, num: Arithmetic, v: Sequence[Value]) -> Value:
        """Ψᵀv of the parts of v."""

        def product() -> list[Value]:
            return [reduce(add, (num.rmatvec(block, part) for (_, block), part in zip(self._rows, v, strict=True)))]

        return self._once("pull", num, v, product)[0]

    def _once(self, which: str, num: Arithmetic, given: Sequence[Value], product: Callable[[], list[Value]]) -> list[Value]:
        last: dict[tuple[str, str], tuple[Sequence[Value], list[Value]]] | None = getattr(self._judging, "last", None)
        if last is None:
            return product()
        known = last.get((which, num.name))
        if known is None or not all(map(_same, known[0], given)):
            known = last[which, num.name] = [_kept(part) for part in given], product()
        return known[1]


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, Interval) and isinstance(other, Interval):
        return np.array_equal(one.mid, other.mid) and np.array_equal(one.rad, other.rad)
    return type(one) is type(other) and np.array_equal(one, other)


def _kept(given: Value) -> Value:
    return given.copy() if isinstance(given, np.ndarray) else given  # whoever gave it may write on it
