"""The process of a cell: its answer, or how it came to its end: by itself, when its time was up, or when we were told to stop."""

from __future__ import annotations

from simopt.compare import child as programme
from simopt.compare import system
from simopt.compare.child import ChildAnswer, ChildTask, described
from simopt.processes.worker import Died, Worker

START = 120.0  # seconds beyond the solver's own for imports, compilation, building the problem, and certificates
RUNS = 8.0  # runs of a sweep, at most, and the second round of a quick one

_running: dict[Worker, str] = {}  # and the comparison that it works for
_stopped: set[str] = set()


def perform(task: ChildTask, comparison: str = "") -> ChildAnswer:
    """The answer of a process of its own; a process that dies or hangs gives an answer that says so.

    Raises
    ------
    KeyboardInterrupt
        after the process has been ended.
    """
    limit = START + RUNS * task.cell.time_limit
    if comparison in _stopped:
        return ChildAnswer("interrupted", message="not started")
    worker = Worker(programme.perform, environment=system.thread_environment(task.cell.threads), silent=True)
    _running[worker] = comparison
    try:
        if comparison in _stopped:  # meanwhile
            return ChildAnswer("interrupted", message="not started")
        answer = worker.call(task, seconds=limit, polite=True)
        return answer if isinstance(answer, ChildAnswer) else _without(task, "failed", f"the process answered {answer!r:.60}")
    except TimeoutError:
        return _without(task, "time limit", f"ended from outside after {limit:g} s: it looked at no clock")
    except Died as error:
        if comparison in _stopped:
            return _without(task, "interrupted", "stopped by the user")
        return _without(task, "failed", str(error))
    except Exception as error:  # a defect of ours or of a problem's; those of solvers are in the answer
        return _without(task, "failed", f"{type(error).__name__}: {error}")
    finally:
        worker.end()
        del _running[worker]


def _without(task: ChildTask, status: str, message: str) -> ChildAnswer:
    """The answer for a process that gave none, and could not say where it ran, and on how many threads."""
    answer = described(ChildAnswer(status, message=message), task)
    answer.threads_seen = task.cell.threads
    return answer


def stop(comparison: str) -> None:
    """End every running cell of a comparison; those still waiting for their turn do not start.

    An end is Ctrl-C first, on which the driver ends what it has started; then the kill, for what does not listen.
    """
    _stopped.add(comparison)
    for worker, theirs in list(_running.items()):
        if theirs == comparison:
            worker.end(polite=True)
