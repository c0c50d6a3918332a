"""Features in blocks of rows: views of an array or a memory map, blocks of a Dask array that are computed when they are asked for."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import reduce
from importlib import import_module
from itertools import islice
from operator import add
from typing import Annotated, Any, NamedTuple, cast

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
HELD = 128 * 2**20  # bytes up to which features that are not float64 in memory are read once and kept
FEWEST = 64  # rows in a block
REMEMBERED = 3  # products of a kind and an arithmetic


_hearing = threading.local()  # of this thread: `ear`, if it listens, and features that are `looked_at`


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
    if features is getattr(_hearing, "looked_at", None):
        return features
    streamed = is_lazy(features) or (isinstance(features, np.memmap) and features.dtype != np.float64)
    if not streamed:
        return validate.squarable(name, validate.matrix(name, features))
    source = Rows(name, features, memory=2 * HELD, first_look=False)
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


@contextmanager
def _in_this_thread(name: str, value: Any) -> Iterator[None]:
    before = getattr(_hearing, name, None)
    setattr(_hearing, name, value)
    try:
        yield
    finally:
        setattr(_hearing, name, before)


def looked_at(features: Any) -> AbstractContextManager[None]:
    """Features of a problem, which `feature_rows` takes as they are inside: for the same problem in other units."""
    return _in_this_thread("looked_at", features)


StreamedFeatures = Annotated[Any, feature_rows, Axes("n", "d")]


class Ear:
    """What hears the rows of features as somebody reads them: the blocks of the first pass, in their order, and how many passes began."""

    def __init__(self, features: Any, hear: Callable[[Array], None]) -> None:
        self.features, self.hear = features, hear
        self.passes, self.rows = 0, 0

    @property
    def once(self) -> bool:
        """Whether the rows have been read exactly once, all of them."""
        return self.passes == 1 and self.rows == int(self.features.shape[0])


def listening(ear: Ear) -> AbstractContextManager[None]:
    """Passes over the features that begin in this thread are heard; of others, and of rows that are taken out, nothing is known."""
    return _in_this_thread("ear", ear)


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
        self._ahead: tuple[slice, Array | None] | None = None  # rows that the next pass copies, or has copied
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

    @property
    def in_memory(self) -> Array | None:
        """The features, where any row can be had again at the cost of reading memory; None of memory maps and of what has to be made."""
        held = isinstance(self._features, np.ndarray) and self._features.dtype == np.float64 and not mapped(self._features)
        return self._features if held else None

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        if self._ahead is not None and self._ahead[1] is None:
            yield from self._copying(self._ahead[0])
            return
        ear: Ear | None = getattr(_hearing, "ear", None)
        if ear is None or ear.features is not self._features:
            yield from self._blocks()
            return
        ear.passes += 1
        yield from self._blocks() if ear.passes > 1 else self._heard(ear)

    def _heard(self, ear: Ear) -> Iterator[tuple[slice, Array]]:
        """The blocks; where several are worked on at once, what hears them, in their order, is not waited for before the end."""
        with ThreadPoolExecutor(1) if hands() > 1 else nullcontext() as pool:
            hearing: deque[Future[None]] = deque()
            for part, block in self._blocks():
                if pool is None:
                    ear.hear(block)
                else:
                    hearing.append(pool.submit(ear.hear, block))
                    if len(hearing) > 2:
                        hearing.popleft().result()
                yield part, block
            for each in hearing:
                each.result()
            ear.rows = self.shape[0]

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        held, source, chunks = slice(0, 0), self._features, _read(self._chunks)
        for part in self.parts:
            if self._chunks and part.stop > held.stop:
                held, source = next(chunks)
            block = source[part.start - held.start : part.stop - held.start]
            yield part, block if block.dtype == np.float64 else block.astype(np.float64)

    def ahead(self, rows: slice) -> None:
        """Have the next pass copy these rows, an increasing range, for `take`, which is the next to ask for them."""
        self._ahead = rows, None

    def _copying(self, rows: slice) -> Iterator[tuple[slice, Array]]:
        chosen = range(self.shape[0])[rows]
        out, done = np.empty((len(chosen), self.shape[1])), 0
        for part, block in self._blocks():
            own = block[chosen[done] - part.start :: chosen.step] if done < len(chosen) and chosen[done] < part.stop else block[:0]
            own = own[: len(chosen) - done]
            out[done : done + len(own)] = own
            done += len(own)
            yield part, block
        self._ahead = rows, out

    def take(self, rows: npt.NDArray[np.intp] | slice) -> Array:
        """Copies of some of the rows, given by a slice or by increasing indices."""
        copied, self._ahead = self._ahead, None
        if copied is not None and copied[1] is not None and isinstance(rows, slice) and rows == copied[0]:
            return copied[1]
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


class Asked(NamedTuple):
    """A product that formulas ask for in an arithmetic: Ψw of a w, or Ψᵀv of the parts of a v."""

    which: str  # "image" or "pull"
    num: Arithmetic
    given: Any


class Products:
    """Ψw and Ψᵀv in any arithmetic, by ranges of rows, a pass over them each; those that are foreseen are made in one.

    While one point is judged the last of them are remembered, as objective, dual and gap ask for the same. Never longer: memory maps and
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

    def image(self, num: Arithmetic, w: Value) -> list[Value]:
        """Ψw."""
        return cast(list[Value], self._once(Asked("image", num, w)))

    def pull(self, num: Arithmetic, v: Sequence[Value]) -> Value:
        """Ψᵀv of the parts of v; of the floats 0 without a pass."""
        if num is FLOAT and not any(np.any(part) for part in v):
            return np.zeros(self._rows.shape[1])
        return self._once(Asked("pull", num, v))

    def foresee(self, asked: Sequence[Asked], follows: Callable[[slice, Value], Value] | None = None) -> None:
        """Make all of these, which nobody writes on, in one pass, to be remembered; with `follows` also Ψᵀv where v is that of the first
        one's f, by ranges of rows.
        """
        last = getattr(self._judging, "last", None)
        wanted = [] if last is None else [each for each in asked if self._known(each) is None]
        if last is None or not wanted:
            return
        follows, asked = (follows if wanted[0] is asked[0] else None), wanted
        extra = [] if follows is None else [Asked("pull", asked[0].num, [])]
        found: list[Any] = [[] if each.which == "image" else None for each in (*asked, *extra)]

        def work(item: tuple[int, tuple[slice, Array]]) -> list[Any]:
            """The products with one block, and at the end the v of `follows`."""
            k, (part, block) = item
            made = [num.matvec(block, given) if which == "image" else num.rmatvec(block, given[k]) for which, num, given in asked]
            if follows is not None:
                v = follows(part, made[0])
                made += [extra[0].num.rmatvec(block, v), v]
            return made

        for made in in_order(work, enumerate(self._rows)):
            if extra:
                extra[0].given.append(made.pop())
            for i, product in enumerate(made):
                if isinstance(found[i], list):
                    found[i].append(product)
                else:
                    found[i] = product if found[i] is None else found[i] + product
        for each, product in zip((*asked, *extra), found, strict=True):
            last.setdefault((each.which, each.num.name), []).append((each.given, product))

    def _once(self, asked: Asked) -> Any:
        which, num, given = asked
        if (known := self._known(asked)) is not None:
            return known
        product = (
            [num.matvec(block, given) for _, block in self._rows]
            if which == "image"
            else reduce(add, (num.rmatvec(block, part) for (_, block), part in zip(self._rows, given, strict=True)))
        )
        if (last := getattr(self._judging, "last", None)) is not None:
            key = which, num.name
            last[key] = [*last.get(key, [])[1 - REMEMBERED :], (_kept(given), product)]
        return product

    def _known(self, asked: Asked) -> Any:
        """The product if it is remembered, else None."""
        last = getattr(self._judging, "last", None) or {}
        return next((product for known, product in last.get((asked.which, asked.num.name), []) if _alike(known, asked.given)), None)


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, Interval) and isinstance(other, Interval):
        return np.array_equal(one.mid, other.mid) and np.array_equal(one.rad, other.rad)
    return type(one) is type(other) and np.array_equal(one, other)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return _same(one, other)


def _kept(given: Any) -> Any:
    if isinstance(given, list):
        return [_kept(part) for part in given]
    return given.copy() if isinstance(given, np.ndarray) else given  # whoever gave it may write on it
