"""What a process has once and its threads share: locks, the filters of warnings, objects that hold what one solve at a time finds."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Row = TypeVar("Row")


def lock() -> Any:
    """A lock that its own thread may take again, and that is free in a forked process: who held it there is no more."""
    made = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made._at_fork_reinit)  # type: ignore[attr-defined]
    return made


class Turns:
    """Who takes some objects has them alone among threads; others who want one of them wait."""

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
    """Rows of joblib as they come; who wants no more, or is interrupted, stops what is under way, of which joblib then does not warn."""
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
    """In a forked process the others have left."""
    own = [thread for thread in _inside if thread == threading.get_ident()]
    if _inside and not own:
        _before.pop().__exit__(None, None, None)
    _inside[:] = own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)
