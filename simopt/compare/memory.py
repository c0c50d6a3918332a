"""Peak memory of a piece of work, above what was resident before it, in this process and in those that it started."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from simopt.processes import worker

PROC = Path("/proc")


class PeakMemory:
    """Between construction and `megabytes()`, what memory rose to.

    On Linux the high-water mark of the process is set back at the start, so that neither the building of data nor an earlier run counts.
    Freed memory is given back first, here and in the idle processes of back ends. Children that live at the end (ECOS has one) are added.
    Elsewhere the mark cannot be set back: the figure is the rise of the mark of the whole process, 0 where an earlier step needed more.
    Where the system tells nothing at all it is nan.
    """

    def __init__(self) -> None:
        # freed memory that the allocator keeps would be resident already, and its use would cost nothing
        for helper in worker.living():
            helper.give_back()
        worker.give_back()
        self._linux = can_be_set_back()
        if self._linux:
            self._before = {number: _reset(number) for number in (os.getpid(), *children())}
        else:
            self._mark = _high_water()

    def megabytes(self) -> float:
        """MB since the start."""
        if not self._linux:
            return _high_water() - self._mark
        rises = [_status(process, "VmHWM") - self._before.get(process, 0.0) for process in (os.getpid(), *children())]
        return sum(max(0.0, rise) for rise in rises) / 1024.0


def can_be_set_back() -> bool:
    """Whether the high-water mark of a process can be set back (Linux)."""
    return (PROC / "self" / "clear_refs").exists()


def resident() -> float:
    """MB that this process holds now; 0 where the system does not say."""
    return _status(os.getpid(), "VmRSS") / 1024.0


def children() -> list[int]:
    """Processes that this one has started and that still run (Linux; empty elsewhere)."""
    found: list[int] = []
    for task in (PROC / "self" / "task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended meanwhile
            found += [int(word) for word in task.read_text(encoding="ascii").split()]
    return found


def _reset(process: int) -> float:
    """Set the high-water mark back; kilobytes resident now."""
    with suppress(OSError):  # a child that has ended, or one that we may not touch: its mark stands
        (PROC / str(process) / "clear_refs").write_text("5", encoding="ascii")
    return _status(process, "VmRSS")


def _status(process: int, field: str) -> float:
    with suppress(OSError):
        for line in (PROC / str(process) / "status").read_text(encoding="utf-8").splitlines():
            if line.startswith(field + ":"):
                return float(line.split()[1])
    return 0.0


def _high_water() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    unit = 1.0 if sys.platform == "darwin" else 1024.0  # bytes there, kilobytes elsewhere
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit / 2**20
