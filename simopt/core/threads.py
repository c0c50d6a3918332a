"""Locks and filters of warnings for several threads, and threads that work on blocks of one computation."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, NamedTuple, TypeVar

from simopt.core import validate

Row = TypeVar("Row")
Item = TypeVar("Item")
Result = TypeVar("Result")


def lock() -> Any:
    """A lock that its own thread may take again. In a forked process it is free, because the thread that held it does not exist there."""
    made = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made._at_fork_reinit)  # type: ignore[attr-defined]
    return made


class Turns:
    """Locks of objects: a thread takes several at once; other threads that need one of them wait."""

    def __init__(self) -> None:
        self._taken: dict[int, Counter[Hashable]] = {}  # by thread; it may take again what it has
        self._changed = threading.Condition()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.__init__)  # type: ignore[misc]

    @contextmanager
    def of(self, objects: Iterable[Hashable]) -> Iterator[None]:
        """Wait until no other thread holds any of the objects, then hold all of them."""
        own, wanted = threading.get_ident(), Counter(objects)

        def free() -> bool:
            return not any(wanted.keys() & taken.keys() for thread, taken in self._taken.items() if thread != own)

        with self._changed:
            self._changed.wait_for(free)
            self._taken[own] = self._taken.get(own, Counter()) + wanted
        try:
            yield
        finally:
            with self._changed:
                left = self._taken.get(own, Counter()) - wanted
                self._taken[own] = left
                if not left:
                    del self._taken[own]
                self._changed.notify_all()


class Hands(NamedTuple):
    """A pool of threads that work on blocks, and their number."""

    pool: ThreadPoolExecutor
    number: int


_hands: ContextVar[Hands | None] = ContextVar("hands", default=None)


def at_once(count: int) -> AbstractContextManager[None]:
    """Inside, this thread works on `count` independent blocks at once: blocks of rows of streamed features, tiles of Gaussian
    similarities, blocks of a herd. Linear algebra uses one thread for each of them, in the whole process.

    Off by default. Sums over blocks are taken in the order of the blocks: results are equal to the last bit for every count. Each thread
    needs memory for a block, and a vector or two.

        >>> with at_once(2):
        ...     list(in_order(abs, [-3, 2, -1]))
        [3, 2, 1]

    Raises
    ------
    InvalidProblem
        for a count that is no whole number above 0.
    """
    return _at_once(validate.whole("count", count, minimum=1))


@contextmanager
def _at_once(count: int) -> Iterator[None]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), ThreadPoolExecutor(count) as pool:  # the pool starts a thread only when there is work for it
        token = _hands.set(Hands(pool, count) if count > 1 else None)
        try:
            yield
        finally:
            _hands.reset(token)


def hands() -> int:
    """The number of blocks that this thread works on at once."""
    found = _hands.get()
    return 1 if found is None else found.number


def in_order(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results of `work` on each item, in the order of the items. `at_once` sets how many run at a time; nested work runs one.

    This thread makes the items, and only a few of them in advance.
    """
    found = _hands.get()
    if found is None:
        yield from map(work, items)
        return
    under_way: deque[Future[Result]] = deque()
    try:
        for item in items:
            under_way.append(found.pool.submit(copy_context().run, _by_itself, work, item))
            if len(under_way) > 2 * found.number:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        wait([future for future in under_way if not future.cancel()])  # what runs may write to arrays of the caller


def _by_itself(work: Callable[[Item], Result], item: Item) -> Result:
    _hands.set(None)
    return work(item)


_filters = lock()
_inside: list[int] = []  # threads
_before: list[Any] = []  # the filters to restore


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings: simopt's status tells more of how a solve went.

    All threads share the filters of warnings, except in some builds of Python. The first thread that enters sets them, the last that
    leaves restores them. If every thread restored them, one could restore what another had set.
    """
    if getattr(sys.flags, "context_aware_warnings", False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
        return
    with _filters:
        if not _inside:
            _before.append(warnings.catch_warnings())
            _before[0].__enter__()
            warnings.simplefilter("ignore")
        _inside.append(threading.get_ident())
    try:
        yield
    finally:
        with _filters:
            _inside.remove(threading.get_ident())
            if not _inside:
                _before.pop().__exit__(None, None, None)


def until_stopped(rows: Generator[Row], stop: Callable[[], object]) -> Generator[Row]:
    """Rows of joblib as they come. If the caller stops early or is interrupted, running tasks are stopped without a warning of joblib."""
    try:
        for row in rows:  # noqa: UP028 (`yield from` would close joblib first, whose threads then wait for running tasks)
            yield row
    except BaseException:
        stop()
        raise
    finally:
        with quiet():
            rows.close()


def _alone() -> None:
    """Forget the other threads, which do not exist in a forked process."""
    own = [thread for thread in _inside if thread == threading.get_ident()]
    if _inside and not own:
        _before.pop().__exit__(None, None, None)
    _inside[:] = own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
