"""ECOS in a process of its own: it has no time limit and swallows interrupts, so it runs where it can be ended.

The child reads pickled argument tuples of `ecos.solve` from its standard input and writes pickled results; it needs neither CVXPY nor the
rest of simopt. It is started at first use and kept, and it does not see the terminal's Ctrl-C.
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import struct
import subprocess
import sys
import time
from contextlib import suppress
from typing import IO, Any

HEADER = struct.Struct("<Q")
READY = b"ready"
START_LIMIT = 60.0  # seconds for the child to import ECOS, on a machine that has other things to do


class ChildFailed(RuntimeError):
    """The child process died or ECOS refused the data."""


class Child:
    """A running child process."""

    def __init__(self) -> None:
        command = [sys.executable, "-P", __file__]  # -P: nothing in this folder or the working directory shadows a module
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        try:
            assert self._process.stdout is not None
            self._receive(self._process.stdout, len(READY), time.monotonic() + START_LIMIT)
        except BaseException:
            self.stop()
            raise

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):  # what was left to send has no reader any more
                    stream.close()

    def call(self, request: Any, seconds: float) -> Any:
        """Send one request and wait for the answer; TimeoutError after `seconds`."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        _write(stdin, request)
        deadline = time.monotonic() + seconds
        head = self._receive(stdout, HEADER.size, deadline)
        return pickle.loads(self._receive(stdout, HEADER.unpack(head)[0], deadline))

    def _receive(self, stream: IO[bytes], size: int, deadline: float) -> bytes:
        data = b""
        while len(data) < size:
            ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            piece = os.read(stream.fileno(), size - len(data))  # past the buffer, which `select` does not see
            if not piece:
                raise ChildFailed("the ECOS process ended without an answer")
            data += piece
        return data


_running: dict[int, Child] = {}  # by process: after a fork, the pipes belong to the parent


def start() -> Child:
    """The running child, started if there is none, so that its imports are not on the clock of a solve."""
    child = _running.get(os.getpid())
    if child is None or not child.alive:
        child = _running[os.getpid()] = Child()
    return child


def solve(request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Run `ecos.solve(*args, **options)` in the child.

    Raises
    ------
    TimeoutError
        after `seconds`; the child is ended.
    ChildFailed
        when the child dies or ECOS raises.
    """
    child = start()
    try:
        answer = child.call(request, seconds)
    except BaseException:
        del _running[os.getpid()]
        child.stop()
        raise
    if "error" in answer:
        raise ChildFailed(answer["error"])
    result: dict[str, Any] = answer["result"]
    return result


@atexit.register
def _stop_all() -> None:
    child = _running.pop(os.getpid(), None)
    if child is not None:
        child.stop()


def _write(stream: IO[bytes], message: Any) -> None:
    data = pickle.dumps(message)
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


def _serve() -> None:
    import ecos

    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever ECOS prints must not get among the answers
    sink.write(READY)
    sink.flush()
    while head := source.read(HEADER.size):
        request = pickle.loads(source.read(HEADER.unpack(head)[0]))
        try:
            answer = {"result": ecos.solve(*request["args"], verbose=False, **request["options"])}
        except (ValueError, TypeError, ArithmeticError, MemoryError) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        _write(sink, answer)


if __name__ == "__main__":
    _serve()
