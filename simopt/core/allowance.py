"""Limits for a computation whose size a file decides: so many seconds, and so much memory beyond what the process has."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

AGAIN = 1.0  # seconds until the signal is sent again, where code of the computation catches everything
STATM = Path("/proc/self/statm")  # where Linux says how many pages the process has


class _Over(BaseException):
    """Time is over: nothing that catches `Exception` catches it."""


@contextmanager
def allowed(seconds: float, memory: int) -> Iterator[None]:
    """Stop what runs inside after so many seconds, and let it have so many bytes of memory.

    Time is not bounded on systems without such signals (Windows), and outside of the main thread; memory is bounded under Linux only.

    Raises
    ------
    TimeoutError
        when the time is over.
    MemoryError
        as Python does, when memory is refused.
    """
    with ExitStack() as stack:
        stack.enter_context(_within(seconds))
        stack.enter_context(_beside(memory))
        yield


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: Any) -> None:
        raise _Over

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    except _Over:
        raise TimeoutError(f"it takes longer than {seconds:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _beside(memory: int) -> Iterator[None]:
    if find_spec("resource") is None or not STATM.is_file():
        yield
        return
    resource: Any = import_module("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    has = int(STATM.read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    wanted = [limit for limit in (has + memory, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
