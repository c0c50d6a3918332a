"""Starting the process of a cell, waiting for its answer, and ending it: when its time is up, or when we are told to stop."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from importlib import import_module
from typing import Any

from simopt.compare import system
from simopt.compare.child import HEADER, Answer, Task, described, send

START = 120.0  # seconds beyond the solver's own for imports, compilation, building the problem, and certificates
RUNS = 8.0  # runs of a sweep, at most, and the second round of a quick one
GRACE = 3.0  # seconds that a stopped process has to clean up
LAST_WORDS = 400  # characters of standard error that go into a message

_running: set[subprocess.Popen[bytes]] = set()
_guard = threading.Lock()
_stopped = threading.Event()


def perform(task: Task) -> Answer:
    """The answer of a process of its own; a process that dies or hangs gives an answer that says so.

    Raises
    ------
    KeyboardInterrupt
        after the process has been ended.
    """
    if _stopped.is_set():
        return Answer("interrupted", message="not started")
    message = _pickled(task)
    command = [sys.executable, "-c", "from simopt.compare.child import main; main()"]
    pipe = subprocess.PIPE
    # a group of its own: the terminal's Ctrl-C comes to us, and we pass it on
    child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=_environment(task.cell.threads), start_new_session=True)
    with _guard:
        _running.add(child)
    timer = threading.Timer(START + RUNS * task.cell.time_limit, _end, (child,))
    timer.daemon = True  # an interrupt that comes before the next line must not make the program wait for it
    try:
        timer.start()
        answer = _answer(child, message, timer, task.cell.time_limit)
        if not answer.system:  # the process is gone and could not say where it ran, and on how many threads
            answer = described(answer, task)
            answer.threads_seen = task.cell.threads
        return answer
    except BaseException:
        _end(child)
        raise
    finally:
        timer.cancel()
        with _guard:
            _running.discard(child)


def _pickled(task: Task) -> bytes:
    """The task; classes of a notebook or a script go by value, by way of the package that joblib brings (older ones have it inside)."""
    try:
        dumps = import_module("cloudpickle").dumps
    except ImportError:
        dumps = import_module("joblib.externals.cloudpickle").dumps
    made: bytes = dumps(task)
    return made


def _environment(threads: int) -> dict[str, str]:
    """Threads pinned; what can be imported here can be imported there."""
    paths = [path for path in sys.path if path]
    return {**system.pinned(threads), "PYTHONPATH": os.pathsep.join(paths)}


def _answer(child: subprocess.Popen[bytes], message: bytes, timer: threading.Timer, limit: float) -> Answer:
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    words: list[bytes] = []
    listener = threading.Thread(target=lambda: words.extend(child.stderr or ()), daemon=True)
    listener.start()
    found: Any = None
    with suppress(BrokenPipeError):
        send(child.stdin, message)
    head = child.stdout.read(HEADER.size)
    if len(head) == HEADER.size:
        body = child.stdout.read(HEADER.unpack(head)[0])
        if len(body) == HEADER.unpack(head)[0]:
            found = pickle.loads(body)
    child.wait()
    late = not timer.is_alive()  # it fired
    listener.join(GRACE)
    for stream in (child.stdin, child.stdout, child.stderr):
        with suppress(BrokenPipeError, ValueError):
            stream.close()
    if isinstance(found, Answer):
        return found
    if _stopped.is_set():
        return Answer("interrupted", message="stopped by the user")
    if late:
        return Answer("time limit", message=f"ended from outside after {START + RUNS * limit:g} s: it looked at no clock")
    text = b"".join(words).decode(errors="replace").strip()[-LAST_WORDS:]
    return Answer("failed", message=f"the process {_how(child.returncode)}" + (f": {text}" if text else ""))


def _how(code: int) -> str:
    if code < 0:
        with suppress(ValueError):
            name = signal.Signals(-code).name
            return f"was ended by {name}" + (" (by the system, which is out of memory?)" if name == "SIGKILL" else "")
    return f"ended with status {code} and no answer"


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ctrl-C, on which the driver ends what it has started (ECOS runs in a process too); then the end, for what does not listen."""
    if child.poll() is not None:
        return
    with suppress(OSError):
        child.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        child.wait(GRACE)
    with suppress(OSError):
        child.kill()


def stop_all() -> None:
    """End every running cell of this process; those still waiting for their turn do not start until `allow`."""
    _stopped.set()
    with _guard:
        running = list(_running)
    for child in running:
        _end(child)


def allow() -> None:
    """Cells may start again."""
    _stopped.clear()
