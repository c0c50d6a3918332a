"""Features in blocks of rows: views of an array or a memory map, blocks of a Dask array that are computed when they are needed.

A pass over the rows of a large file is what costs time. `RowPass` lets several consumers join one: products with features, copies of rows,
and the digest of a fingerprint.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from copy import copy
from importlib import import_module
from itertools import islice
from typing import Annotated, Any, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.arithmetic.interval import Interval
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes
from simopt.core.memory_maps import mapped
from simopt.core.threads import hands, in_order
from simopt.data.rows import Rows

CACHE = 1 << 18  # numbers in a block: two megabytes, which stay in a processor's cache while they are used
LARGE = 1 << 20  # numbers in a block of a formula that is evaluated once
RESIDENT = 128 * 2**20  # bytes up to which features that are not float64 in memory are read into it
FEWEST = 64  # rows in a block
REMEMBERED = 3  # products of a kind and an arithmetic
Consumer = Callable[[slice, Array], None]  # takes the blocks of a pass, with their ranges of rows


def is_lazy(features: Any) -> bool:
    """Whether this is a Dask array, or what behaves like one."""
    return callable(getattr(features, "compute", None))


def feature_rows(name: str, features: Any) -> Any:
    """Features that are finite and whose squares float64 holds, checked in blocks.

    An array or a memory map of float64 stays what it is, a view. So does a Dask array, or a memory map of another type, unless it takes
    at most 128 MB as float64: then it is read into memory.

    Raises
    ------
    InvalidProblem
        as `validate.matrix` and `validate.squarable` do.
    """
    streamed = is_lazy(features) or (isinstance(features, np.memmap) and features.dtype != np.float64)
    if not streamed:
        return validate.squarable(name, validate.matrix(name, features))
    source = Rows(name, features, memory=2 * RESIDENT, check_first=False)
    if source.resident:
        return validate.squarable(name, source.array)
    largest = 0.0
    for part, block in RowBlocks(features):
        top = max(float(np.max(block)), -float(np.min(block)))  # nan where there is one
        if not math.isfinite(top):
            row, column = np.unravel_index(int(np.argmax(~np.isfinite(block))), block.shape)
            value, row = float(block[row, column]), part.start + int(row)
            raise InvalidProblem(f"{name}: {value} at row {row}, column {int(column)} is not finite; remove or replace it first")
        largest = max(largest, top)
    validate.squarable(name, np.array([largest]))
    return features


StreamedFeatures = Annotated[Any, feature_rows, Axes("n", "d")]


class Chunk(NamedTuple):
    """A range of rows of a Dask array, and the task that computes it."""

    rows: slice
    made: Any


class RowBlocks:
    """Consecutive rows of an (n, d) array as (slice, float64 block) pairs; each iteration reads a Dask array once, a chunk at a time."""

    def __init__(self, features: Any, numbers: int = CACHE) -> None:
        n, d = (int(size) for size in features.shape)
        self.shape = (n, d)
        self.step = max(1, min(n, max(numbers // d, FEWEST)))
        self.features = features
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
        """Whether a pass over the rows costs next to nothing: they are one block of an array."""
        return len(self.parts) == 1 and not self._chunks and self.features.dtype == np.float64

    @property
    def in_memory(self) -> Array | None:
        """The features, if they are an array in memory; None for memory maps and for features that are computed or converted."""
        held = isinstance(self.features, np.ndarray) and self.features.dtype == np.float64 and not mapped(self.features)
        return self.features if held else None

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        held, source, chunks = slice(0, 0), self.features, _read(self._chunks)
        for part in self.parts:
            if self._chunks and part.stop > held.stop:
                held, source = next(chunks)
            block = source[part.start - held.start : part.stop - held.start]
            yield part, block if block.dtype == np.float64 else block.astype(np.float64)

    def take(self, rows: npt.NDArray[np.intp] | slice) -> Array:
        """Copies of some of the rows, given by a slice or by increasing indices."""
        if not self._chunks:
            return np.ascontiguousarray(self.features[rows], dtype=np.float64)
        chosen = np.arange(self.shape[0])[rows] if isinstance(rows, slice) else rows
        out = np.empty((chosen.size, self.shape[1]))
        ends = [np.searchsorted(chosen, (chunk.rows.start, chunk.rows.stop)).tolist() for chunk in self._chunks]
        asked = [(chunk, slice(first, last)) for chunk, (first, last) in zip(self._chunks, ends, strict=True) if first < last]
        for (_, part), (held, block) in zip(asked, _read([chunk for chunk, _ in asked]), strict=True):
            out[part] = block[chosen[part] - held.start]
        return out


def _read(chunks: Sequence[Chunk]) -> Iterator[tuple[slice, Array]]:
    """One chunk after another; while one is in use, a cluster computes the next, one a worker and one more."""
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
    """The client of the cluster that Dask works on; None if it works in this process."""
    client = getattr(import_module("dask.base").get_scheduler(), "__self__", None)
    return client if hasattr(client, "ncores") else None


class Request(NamedTuple):
    """A product for formulas in an arithmetic: Ψw of a w ("matvec"), or Ψᵀv of the parts of a v ("rmatvec")."""

    kind: str
    num: Arithmetic
    argument: Any


class RowPass(RowBlocks):
    """Rows that are read once for all that need them: consumers join the next pass, and products that are prefetched share one.

    Products Ψw and Ψᵀv are computed by ranges of rows, in any arithmetic. The last of them are remembered `for_one_evaluation`: objective,
    dual and gap need the same. They are not remembered longer: memory maps and lazy arrays may change. One thread uses an object that
    consumers join or that remembers.
    """

    begun = finished = 0  # passes
    _consumers: tuple[Consumer, ...] = ()
    _copy: _Copy | None = None
    _products: dict[tuple[str, str], list[tuple[Any, Any]]] | None = None  # arguments and products, by kind and arithmetic

    @property
    def remembers(self) -> bool:
        """Whether products are remembered."""
        return self._products is not None

    def for_one_evaluation(self) -> Self:
        """The same rows, of which nothing has been read yet; products are remembered."""
        other = copy(self)
        other.begun = other.finished = 0
        other._consumers, other._copy, other._products = (), None, {}
        return other

    @property
    def read_once(self) -> bool:
        """Whether one pass was begun, and went through all rows."""
        return self.begun == self.finished == 1

    def join(self, consumer: Consumer) -> None:
        """Have the next pass give its blocks, in their order, to this consumer, too; see `__iter__`."""
        self._consumers = (*self._consumers, consumer)

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        """A pass. If several blocks are worked on at once, consumers have a thread of their own, and the pass waits for them at its end."""
        consumers, self._consumers = self._consumers, ()
        self.begun += 1
        with ThreadPoolExecutor(1) if consumers and hands() > 1 else nullcontext() as pool:
            under_way: deque[Future[None]] = deque()
            for part, block in super().__iter__():
                for consume in consumers:
                    if pool is None:
                        consume(part, block)
                    else:
                        under_way.append(pool.submit(consume, part, block))
                while len(under_way) > 2:
                    under_way.popleft().result()
                yield part, block
            for each in under_way:
                each.result()
        self.finished += 1

    def copy_ahead(self, rows: slice) -> None:
        """Have the next pass copy these rows, an increasing range, for the next call of `take`."""
        self._copy = _Copy(rows, self.shape)
        self.join(self._copy)

    def take(self, rows: npt.NDArray[np.intp] | slice) -> Array:
        """Copies of some of the rows; those that the last pass has copied are not read again."""
        made, self._copy = self._copy, None
        return made.out if made is not None and made.is_of(rows) else super().take(rows)

    def matvec(self, num: Arithmetic, w: Value) -> list[Value]:
        """Ψw, by ranges of rows."""
        return cast(list[Value], self._product(Request("matvec", num, w)))

    def rmatvec(self, num: Arithmetic, v: Sequence[Value]) -> Value:
        """Ψᵀv of the parts of v; of the floats 0 without a pass."""
        if num is FLOAT and not any(np.any(part) for part in v):
            return np.zeros(self.shape[1])
        return self._product(Request("rmatvec", num, v))

    def prefetch(self, requests: Sequence[Request], then: Callable[[slice, Value], Value] | None = None) -> None:
        """Make these products in one pass and remember them; nobody writes on their arguments.

        With `then`, a function of a range of rows and of f, the first product, also Ψᵀv for the v that it gives.
        """
        new = [] if self._products is None else [each for each in requests if self._known(each) is None]
        if self._products is None or not new:
            return
        for (kind, num, argument), product in self._made(new, then if new[0] is requests[0] else None):
            self._products.setdefault((kind, num.name), []).append((argument, product))

    def _made(self, requests: Sequence[Request], then: Callable[[slice, Value], Value] | None = None) -> list[tuple[Request, Any]]:
        """The requests, and that of `then`, with their products, in one pass."""
        every = [*requests] if then is None else [*requests, Request("rmatvec", requests[0].num, [])]
        products: list[list[Any]] = [[] for _ in every]

        def work(item: tuple[int, tuple[slice, Array]]) -> list[Any]:
            """The products with one block, and at the end the v of `then`."""
            k, (part, block) = item
            made = [num.matvec(block, x) if kind == "matvec" else num.rmatvec(block, x[k]) for kind, num, x in requests]
            if then is not None:
                v = then(part, made[0])
                made += [requests[0].num.rmatvec(block, v), v]
            return made

        for made in in_order(work, enumerate(self)):
            if then is not None:
                every[-1].argument.append(made.pop())
            for request, parts, product in zip(every, products, made, strict=True):
                if request.kind == "matvec" or not parts:
                    parts.append(product)
                else:
                    parts[0] = parts[0] + product
        return [(each, parts if each.kind == "matvec" else parts[0]) for each, parts in zip(every, products, strict=True)]

    def _product(self, request: Request) -> Any:
        product = self._known(request)
        if product is None:
            product = self._made([request])[0][1]
            if self._products is not None:
                key = request.kind, request.num.name
                self._products[key] = [*self._products.get(key, [])[1 - REMEMBERED :], (_copied(request.argument), product)]
        return product

    def _known(self, request: Request) -> Any:
        """The product if it is remembered, else None."""
        known = (self._products or {}).get((request.kind, request.num.name), [])
        return next((product for argument, product in known if _alike(argument, request.argument)), None)


class _Copy:
    """A consumer that copies an increasing range of rows."""

    def __init__(self, rows: slice, shape: tuple[int, int]) -> None:
        self.rows, self._left = rows, range(shape[0])[rows]
        self.out = np.empty((len(self._left), shape[1]))

    def __call__(self, part: slice, block: Array) -> None:
        if self._left and self._left[0] < part.stop:
            own = block[self._left[0] - part.start :: self._left.step][: len(self._left)]
            done = len(self.out) - len(self._left)
            self.out[done : done + len(own)] = own
            self._left = self._left[len(own) :]

    def is_of(self, rows: npt.NDArray[np.intp] | slice) -> bool:
        """Whether these rows have been copied, all of them."""
        return isinstance(rows, slice) and rows == self.rows and not self._left


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, Interval) and isinstance(other, Interval):
        return np.array_equal(one.mid, other.mid) and np.array_equal(one.rad, other.rad)
    return type(one) is type(other) and np.array_equal(one, other)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return _same(one, other)


def _copied(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_copied(part) for part in argument]
    return argument.copy() if isinstance(argument, np.ndarray) else argument  # the caller may write on it
