"""Locks, filters of warnings and objects that the threads of a process have in common; several threads for blocks of one computation."""

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
    """A lock that its own thread may take again, and that is free in a forked process, which lacks the thread that held it."""
    made = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made._at_fork_reinit)  # type: ignore[attr-defined]
    return made


class Turns:
    """Locks of objects: a thread that takes some has them alone; others that want one of them wait."""

    def __init__(self) -> None:
        self._taken: dict[int, Counter[Hashable]] = {}  # by thread; it may take again what it has
        self._changed = threading.Condition()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.__init__)  # type: ignore[misc]

    @contextmanager
    def of(self, objects: Iterable[Hashable]) -> Iterator[None]:
        """Hold all of them, from when nobody else holds any."""
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
    """Threads that work on blocks, and how many they are."""

    pool: ThreadPoolExecutor
    number: int


_hands: ContextVar[Hands | None] = ContextVar("hands", default=None)


def at_once(count: int) -> AbstractContextManager[None]:
    """Inside, this thread works on `count` independent blocks at once: blocks of rows of streamed features, tiles of Gaussian
    similarities, blocks of a herd. Linear algebra takes one thread for each of them, in the whole process.

    Off by default. Sums over blocks are taken in the order of the blocks: results are the same to the last bit for every count. Each thread
    takes memory for a block, and a vector or two.

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

    with threadpool_limits(1), ThreadPoolExecutor(count) as pool:  # which starts no thread before there is work for it
        token = _hands.set(Hands(pool, count) if count > 1 else None)
        try:
            yield
        finally:
            _hands.reset(token)


def hands() -> int:
    """How many blocks are worked on at once here."""
    found = _hands.get()
    return 1 if found is None else found.number


def in_order(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Results of `work` on each item, in the order of the items; `at_once` sets how many run at a time, one in nested work.

    The items are made in this thread, only few of them ahead.
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
        wait([future for future in under_way if not future.cancel()])  # it may be writing on arrays of the caller


def _by_itself(work: Callable[[Item], Result], item: Item) -> Result:
    _hands.set(None)
    return work(item)


_filters = lock()
_inside: list[int] = []  # threads
_before: list[Any] = []  # the filters to set back


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings: simopt's status says better how a solve went.

    Their filters are those of all threads (but in some builds of Python): the first that comes in sets them, the last that leaves sets them
    back. If each did so, the last one could set back what another had set.
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
    """Rows of joblib as they come. A caller that wants no more, or is interrupted, stops running tasks without a warning of joblib."""
    try:
        for row in rows:  # noqa: UP028 (`yield from` would end joblib first, whose threads wait for what is under way)
            yield row
    except BaseException:
        stop()
        raise
    finally:
        with quiet():
            rows.close()


def _alone() -> None:
    """In a forked process the other threads are gone."""
    own = [thread for thread in _inside if thread == threading.get_ident()]
    if _inside and not own:
        _before.pop().__exit__(None, None, None)
    _inside[:] = own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
