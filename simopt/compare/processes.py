"""The processes of cells: an answer, or how a process came to its end: by itself, when its time was up, or when we were told to stop.

A process that has answered is kept for the next cell of its comparison that wants the same environment, so that imports and compilation are
paid once. It is replaced after a crash, after a time-out, after a run that failed or left something behind, after CELLS cells, and when it
has grown by GROWN. Where memory cannot be told apart between two runs of a process (not on Linux), each cell has a process of its own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from simopt.compare import child as programme
from simopt.compare import system
from simopt.compare.child import ChildAnswer, ChildTask, Served, described
from simopt.processes.worker import Died, Worker, pickled

START = 120.0  # seconds beyond the solver's own for imports, compilation, building the problem, and certificates
RUNS = 12.0  # runs of a sweep, at most, the second round of a quick one, and those that examine what a back end claims
CELLS = 50  # that one process serves
GROWN = 256.0  # MB that a process may hold more than after its first cell
IDLE = 30.0  # seconds that a process waits for another cell where nobody says when the comparison ends: on a worker of a cluster

Wanted = tuple[str, frozenset[tuple[str, str]], tuple[str, ...]]  # a comparison, an environment, and a path of modules


@dataclass(eq=False)
class _Idle:
    """A process between two cells, and what it held after its first one."""

    worker: Worker
    wanted: Wanted
    megabytes: float


_running: dict[Worker, str] = {}  # and the comparison that it works for
_idle: list[_Idle] = []
_stopped: set[str] = set()
_open: set[str] = set()  # comparisons that will say when they end


@contextmanager
def keeping(comparison: str) -> Iterator[None]:
    """While this lasts the processes of a comparison are kept between its cells; then they are ended."""
    _open.add(comparison)
    try:
        yield
    finally:
        _open.discard(comparison)
        _release(comparison)


def perform(task: ChildTask, comparison: str = "") -> ChildAnswer:
    """The answer of a process; a process that dies or hangs gives an answer that says so.

    Without the name of a comparison the process is new, and ends with the answer. A process that dies in its second cell, or a later one,
    may have died of an earlier one: the cell is run once more in a new process, whose answer counts.

    Raises
    ------
    KeyboardInterrupt
        after the process has been ended.
    """
    environment = system.thread_environment(task.cell.threads)
    wanted = comparison, frozenset(environment.items()), tuple(sys.path)
    while True:
        if comparison in _stopped:
            return ChildAnswer("interrupted", message="not started")
        used = _take(wanted) if comparison else None
        worker = Worker(programme.serve, environment=environment, silent=True) if used is None else used.worker
        try:
            return _answer(task, worker, wanted, used)
        except Died as error:
            if comparison in _stopped:
                return _without(task, "interrupted", "stopped by the user")
            if used is None:
                return _without(task, "failed", str(error))


def _answer(task: ChildTask, worker: Worker, wanted: Wanted, used: _Idle | None) -> ChildAnswer:
    """The answer of this process, which is kept or ended.

    Raises
    ------
    Died
        when it gives none.
    """
    comparison = wanted[0]
    limit = START + RUNS * task.cell.time_limit
    keep = None
    _running[worker] = comparison
    try:
        if comparison in _stopped:  # meanwhile
            return ChildAnswer("interrupted", message="not started")
        served = worker.call(pickled(task), seconds=limit, polite=True)
        if not isinstance(served, Served):
            return _without(task, "failed", f"the process answered {served!r:.60}")
        least = served.megabytes if used is None else used.megabytes
        if comparison and served.reusable and worker.calls < CELLS and served.megabytes <= least + GROWN:
            keep = _Idle(worker, wanted, least)
        return served.answer
    except TimeoutError:
        return _without(task, "time limit", f"ended from outside after {limit:g} s, which solver, certificates and claim have not kept to")
    except Died:
        raise
    except Exception as error:  # a defect of ours or of a problem's; those of solvers are in the answer
        return _without(task, "failed", f"{type(error).__name__}: {error}")
    finally:
        if keep is None:
            worker.end()
        else:
            _put_back(keep)
        del _running[worker]


def _take(wanted: Wanted) -> _Idle | None:
    """A process that waits for such a cell; it is nobody else's from now on."""
    for entry in list(_idle):
        if entry.wanted == wanted:
            with suppress(ValueError):  # another thread has it
                _idle.remove(entry)
                if entry.worker.alive:
                    return entry
                entry.worker.end()
    return None


def _put_back(entry: _Idle) -> None:
    _idle.append(entry)
    comparison = entry.wanted[0]
    if comparison in _stopped:
        _release(comparison)
    elif comparison not in _open:
        timer = threading.Timer(IDLE, _end, (entry,))
        timer.daemon = True
        timer.start()


def _end(entry: _Idle) -> None:
    """End a process, unless it works again."""
    with suppress(ValueError):
        _idle.remove(entry)
        entry.worker.end()


def _release(comparison: str) -> None:
    """End the processes of a comparison that wait for a cell."""
    for entry in list(_idle):
        if entry.wanted[0] == comparison:
            _end(entry)


def _without(task: ChildTask, status: str, message: str) -> ChildAnswer:
    """The answer for a process that gave none, and could not say where it ran, and on how many threads."""
    answer = described(ChildAnswer(status, message=message), task)
    answer.threads_seen = task.cell.threads
    return answer


def stop(comparison: str) -> None:
    """End every process of a comparison; cells still waiting for their turn do not start.

    An end is Ctrl-C first, on which the driver ends what it has started; then the kill, for what does not listen.
    """
    _stopped.add(comparison)
    for worker, theirs in list(_running.items()):
        if theirs == comparison:
            worker.end(polite=True)
    _release(comparison)
