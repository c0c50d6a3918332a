"""A worker process: if it dies of its work, only that work is lost, and it ends when we do, however we end.

A forked process has all modules of this one and costs milliseconds; a fresh one costs its imports. Either has a session of its own: a
terminal's Ctrl-C comes to us alone, and processes that the work has started end with it. It holds the reading end of a pipe, its lifeline,
to which nobody writes. The system kills the process group as soon as nobody holds the other end, whatever the process is busy with.

This file is also the programme of a fresh process, from before anything of simopt can be imported: it needs the standard library only.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from queue import SimpleQueue
from typing import IO, Any, NoReturn

HEADER = struct.Struct("<Q")
GRACE = 3.0  # seconds that a process has to end in, once it has been told to or has closed its end
POLL = 0.005  # seconds between looks at whether it has ended
STDERR_CHARACTERS = 400  # characters of standard error that go into a message


class Died(RuntimeError):
    """The process ended, or was ended, before its answer came; the message says how."""


class Worker:
    """A process that answers calls of one function, one after another.

    Parameters
    ----------
    work : callable
        what answers a call. A fresh process gets it, and the arguments of each call, by pickle; objects of `__main__` by value.
    environment : mapping, optional
        of a fresh process; by default ours.
    fork : bool
        fork where that is safe: on Linux, in a process of one thread (those of OpenBLAS, which survives it, are not counted).
    silent : bool
        keep what a fresh process writes to standard error for the message of `Died`.
    """

    def __init__(self, work: Callable[..., Any], *, environment: Mapping[str, str] | None = None, fork: bool = False, silent: bool = False):
        self.calls = 0
        self._guard = threading.RLock()  # a handler of signals may come in between
        self._stderr: deque[bytes] = deque(maxlen=STDERR_CHARACTERS)  # the last lines: a process that answers many calls may write many
        self._listener: threading.Thread | None = None
        self._process: _Forked | subprocess.Popen[bytes]
        self._lifeline: int | None
        if fork and forkable():
            self._process, self._requests, self._answers, self._lifeline = _fork(work)
            _living.add(self)
            return
        self._process, self._lifeline = _start(environment, silent)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        _living.add(self)
        if silent:
            stderr = self._process.stderr
            self._listener = threading.Thread(target=lambda: self._stderr.extend(stderr or ()), daemon=True)
            self._listener.start()
        try:
            with suppress(BrokenPipeError):  # it has died already; a call will say how
                send(self._requests, pickle.dumps(sys.path))
                send(self._requests, pickled(work))
                receive(self._answers)  # it is ready
        except BaseException:
            self.end()
            raise

    @property
    def alive(self) -> bool:
        """Whether the process still runs and its pipes are ours."""
        return self in _living and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def call(self, *arguments: Any, seconds: float | None = None, polite: bool = False, **options: Any) -> Any:
        """The result of `work(*arguments, **options)` there; its exceptions are raised here.

        After the time limit the process is ended; `polite` sends Ctrl-C and waits GRACE before the kill. The same follows an exception
        while we wait.

        Raises
        ------
        Died
            when the process ends without an answer.
        TimeoutError
            after `seconds`.
        """
        return self._exchange(arguments, options, seconds, polite)

    def give_back(self) -> None:
        """Have the process, which is idle, give freed memory back to the system; one that does not answer is ended."""
        with suppress(Died, TimeoutError):
            self._exchange(None, {}, GRACE, False)

    def _exchange(self, arguments: tuple[Any, ...] | None, options: dict[str, Any], seconds: float | None, polite: bool) -> Any:
        """Send one request and wait for its answer; arguments None ask for freed memory."""
        self.calls += 1
        timed_out = threading.Event()
        timer = threading.Timer(seconds or 0.0, self._time_out, (timed_out, polite))
        timer.daemon = True  # an interrupt that comes before the next line must not make the program wait for it
        try:
            if seconds is not None:
                timer.start()
            with suppress(BrokenPipeError, ValueError):  # ValueError: another thread has ended it
                send(self._requests, pickled((self.calls, arguments, options)))
            return self._answer()
        except Died:
            if timed_out.is_set():
                raise TimeoutError from None
            raise
        except Exception:  # of the work: the worker is well
            raise
        except BaseException:
            self.end(polite)
            raise
        finally:
            timer.cancel()

    def _answer(self) -> Any:
        message = None
        with suppress(OSError, ValueError):  # another thread has ended it
            message = receive(self._answers)
        if message is None:
            raise Died(self._how())
        number, value, error = pickle.loads(message)
        if number != self.calls:  # two processes answer: the work has forked, and one of them was to mind other business
            self.end()
            raise Died("the process answered another call: its work has forked")
        if error is not None:
            raise error
        return value

    def interrupt(self) -> None:
        """Send what Ctrl-C sends: the work may stop and answer with what it has."""
        with self._guard, suppress(OSError):
            if self.alive and os.name == "posix":
                os.kill(self.pid, signal.SIGINT)

    def end(self, polite: bool = False) -> None:
        """End the process and what it has started, if they still run."""
        if self not in _living:
            return
        if polite:
            self.interrupt()
            self._wait(GRACE)
        self._kill()
        self._wait(GRACE)
        with self._guard:
            if self in _living:
                self._close()

    def _time_out(self, timed_out: threading.Event, polite: bool) -> None:
        timed_out.set()
        if polite:
            self.interrupt()
            self._wait(GRACE)
        self._kill()

    def _kill(self) -> None:
        with self._guard:
            if self not in _living or self._process.poll() is not None:
                return
            if isinstance(self._process, subprocess.Popen) and os.name != "posix":
                self._process.kill()
                return
            for kill in (os.killpg, os.kill):  # a process that has just been forked may have no group yet
                with suppress(OSError):
                    kill(self.pid, signal.SIGKILL)

    def _wait(self, seconds: float) -> int | None:
        """Its status once it has ended; None after so many seconds."""
        deadline = time.monotonic() + seconds
        while (status := self._process.poll()) is None and time.monotonic() < deadline:
            time.sleep(POLL)
        return status

    def _how(self) -> str:
        """How it came to its end; nothing of it is left."""
        if self not in _living:
            return "the process was ended"
        status = self._wait(GRACE)
        message = f"the process {ended(status)}" if status is not None else "the process closed its pipe and went on"
        self.end()
        if self._listener is not None:
            self._listener.join(GRACE)
        text = b"".join(self._stderr).decode(errors="replace").strip()[-STDERR_CHARACTERS:]
        return f"{message}: {text}" if text else message

    def _close(self) -> None:
        """Let go of the pipes: the end of a process that still runs."""
        _living.discard(self)
        if self._lifeline is not None:
            with suppress(OSError):
                os.close(self._lifeline)
            self._lifeline = None
        for stream in (self._requests, self._answers):
            with suppress(OSError, ValueError):  # what was left to send has no reader any more
                stream.close()


class Workers:
    """Workers of one function, as many as are called at a time; one that has died is replaced.

    `start` of them are started at once, the others when they are called for. They are safe from threads.
    """

    def __init__(self, work: Callable[..., Any], start: int = 0, **options: Any) -> None:
        self._make = partial(Worker, work, **options)
        self._all: list[Worker] = []
        self._ended = self._interrupted = False
        self._idle: list[Worker] = []
        for _ in range(start):
            self._idle.append(self._new())

    @contextmanager
    def one(self) -> Iterator[Worker]:
        """A worker of one's own, for a while.

        Raises
        ------
        Died
            after `close`.
        """
        worker = None
        while self._idle and worker is None:
            with suppress(IndexError):  # another thread has it
                last = self._idle.pop()
                worker = last if last.alive else None
        worker = worker or self._new()
        try:
            yield worker
        finally:
            if worker.alive:
                self._idle.append(worker)

    def call(self, *arguments: Any, **options: Any) -> Any:
        """`Worker.call`; if a worker dies that had answered others, it may have died of them, and a new one is called.

        Raises
        ------
        Died
            when the work ends a process that has done nothing else.
        """
        with self.one() as worker:
            fresh = not worker.calls
            try:
                return worker.call(*arguments, **options)
            except Died:
                if fresh or self._interrupted:
                    raise
        return self.call(*arguments, **options)

    def _new(self) -> Worker:
        if self._ended:
            raise Died("the process was not started")
        made = self._make()
        self._all.append(made)
        if self._ended:  # meanwhile
            made.end()
        return made

    def interrupt(self) -> None:
        """`Worker.interrupt` for all that are busy; a call whose worker dies of it is not repeated."""
        self._interrupted = True
        for worker in list(self._all):
            if worker not in self._idle:
                worker.interrupt()

    def close(self) -> None:
        """End them all, busy or not; there will be no others."""
        self._ended = True
        for worker in list(self._all):
            worker.end()


_living: set[Worker] = set()


def ended(status: int) -> str:
    """In words, how a process ended that had more to do."""
    if status < 0:
        with suppress(ValueError):
            name = signal.Signals(-status).name
            return f"was ended by {name}" + (" (by the system, which is out of memory?)" if name == "SIGKILL" else "")
    return f"ended with status {status} and no answer"


def forkable() -> bool:
    """Whether a fork is safe: a lock or a task of a thread that is not forked would be waited for in vain."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return False
    from threadpoolctl import threadpool_info

    try:
        threads = len(os.listdir("/proc/self/task"))
    except OSError:
        return False
    blas = [pool for pool in threadpool_info() if pool["internal_api"] == "openblas" and pool.get("threading_layer") == "pthreads"]
    return threads <= 1 + sum(int(pool["num_threads"]) - 1 for pool in blas)


def module(name: str, *arguments: str) -> list[str]:
    """The command that runs a module on our path of modules, to which the working folder does not belong unless it does here."""
    return [sys.executable, "-P", __file__, "module", json.dumps(sys.path), name, *arguments]


def flush() -> None:
    """Write out what Python and the C library keep for standard output and error."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # closed, or none at all
            stream.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


def pickled(value: Any) -> bytes:
    """By pickle if possible; objects of `__main__` or without a name go by value, by way of the package that joblib brings."""
    try:
        data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        if b"__main__" not in data:
            return data
    except (pickle.PicklingError, AttributeError, TypeError):
        pass
    try:
        dumps = import_module("cloudpickle").dumps
    except ImportError:  # older ones have it inside
        dumps = import_module("joblib.externals.cloudpickle").dumps
    made: bytes = dumps(value)
    return made


def send(stream: IO[bytes], message: bytes) -> None:
    """One message with its length before it. Streams have no buffers: their locks would not survive a fork."""
    for part in (HEADER.pack(len(message)), message):
        left = memoryview(part)
        while left:
            left = left[stream.write(left) :]


def receive(stream: IO[bytes]) -> bytearray | None:
    """The next message; None at the end, also in the middle of one."""
    head = _exactly(stream, HEADER.size)
    return head and _exactly(stream, HEADER.unpack(head)[0])


def _exactly(stream: Any, size: int) -> bytearray | None:
    data = bytearray(size)
    left = memoryview(data)
    while left:
        got = stream.readinto(left)
        if not got:
            return None
        left = left[got:]
    return data


class _Forked:
    """The interface of `subprocess.Popen` for a process that was forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._guard = threading.RLock()  # a handler of signals may come in between

    def poll(self) -> int | None:
        """Its status, if it has ended."""
        with self._guard:
            if self.returncode is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:  # somebody else has asked
                    self.returncode = 0
                else:
                    self.returncode = os.waitstatus_to_exitcode(status) if pid else None
            return self.returncode


def _start(environment: Mapping[str, str] | None, silent: bool) -> tuple[subprocess.Popen[bytes], int | None]:
    """A fresh process that runs this file, and our end of its lifeline."""
    command = [sys.executable, "-P", __file__, "work"]  # -P: nothing in this folder or the working folder shadows a module
    pipe, passed, ours = subprocess.PIPE, [], None
    if os.name == "posix":
        lifeline, ours = _pipe()
        passed = [lifeline] if silent else [lifeline, _standard_output()]
        command += map(str, passed)
    try:
        process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe if silent else None,
            env=environment,
            start_new_session=True,
            pass_fds=passed,
        )
    except BaseException:
        if ours is not None:
            os.close(ours)
        raise
    finally:
        for each in passed:
            os.close(each)
    return process, ours


def _standard_output() -> int:
    for each in (1, 2):
        with suppress(OSError):
            return _above(os.dup(each))
    return _above(os.open(os.devnull, os.O_WRONLY))


def _pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    return _above(reading), _above(writing)


def _above(file: int) -> int:
    """The same file by a number that standard input, output and error do not have, one of which may be closed."""
    import fcntl

    if file > 2:
        return file
    moved: int = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(file)
    return moved


def _fork(work: Callable[..., Any]) -> tuple[_Forked, IO[bytes], IO[bytes], int]:
    """A copy of this process that answers calls, the pipes to it and from it, and our end of its lifeline."""
    flush()  # or it would be written twice
    requests, answers, lifeline = _pipe(), _pipe(), _pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python counts the threads of OpenBLAS
        pid = os.fork()
    if not pid:
        _forked(work, requests, answers, lifeline)
    for end in (requests[0], answers[1], lifeline[0]):
        os.close(end)
    return _Forked(pid), os.fdopen(requests[1], "wb", 0), os.fdopen(answers[0], "rb", 0), lifeline[1]


def _forked(work: Callable[..., Any], requests: tuple[int, int], answers: tuple[int, int], lifeline: tuple[int, int]) -> NoReturn:
    status = 1
    try:
        os.setsid()
        _own_signals()
        for end in (requests[1], answers[0], lifeline[1]):
            os.close(end)
        _end_with(lifeline[0])
        _from_nowhere()
        _serve(work, _messages(os.fdopen(requests[0], "rb", 0)), os.fdopen(answers[1], "wb", 0))
        status = 0
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            flush()
        os._exit(status)  # handlers for the end of the interpreter belong to the parent


def _own_signals() -> None:
    """Drop the parent's handlers of signals: signals end this process, as a fresh one."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def _disown() -> None:
    """In a forked process: the workers are the parent's. To hold their lifelines would keep them alive when it ends."""
    for worker in list(_living):
        worker._close()


def living() -> list[Worker]:
    """The workers of this process that have not ended."""
    return [worker for worker in list(_living) if worker.alive]


def give_back() -> None:
    """Give freed memory, which the allocator keeps, back to the system."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def _rest() -> Any:
    give_back()


def _end_all() -> None:
    for worker in list(_living):
        worker.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown)
atexit.register(_end_all)


def _serve(work: Callable[..., Any], messages: Iterator[bytearray], answers: IO[bytes]) -> None:
    """Answer calls until there will be no more."""
    own = os.getpid()
    for message in messages:
        number = 0
        try:
            number, arguments, options = pickle.loads(message)
            wanted = _rest if arguments is None else partial(work, *arguments, **options)
            answer = pickle.dumps((number, wanted(), None), protocol=pickle.HIGHEST_PROTOCOL)
        except KeyboardInterrupt:  # by `interrupt`
            raise
        except BaseException as error:  # SystemExit as well: it is no reason to end
            answer = pickle.dumps((number, None, _sendable(error)))
        if os.getpid() != own:  # the work has forked, and this is the copy
            os._exit(0)
        flush()
        send(answers, answer)


def _sendable(error: BaseException) -> Exception:
    """The error itself if it is an `Exception` and can be pickled, else its text; a note holds the traceback."""
    sent: Exception = RuntimeError(f"{type(error).__name__}: {error}")
    if isinstance(error, Exception):
        with suppress(BaseException):
            if str(pickle.loads(pickle.dumps(error))) == str(error):
                sent = error
    sent.add_note("".join(traceback.format_exception(error)))
    return sent


def _end_with(lifeline: int) -> None:
    """Have the system kill our group when nobody holds the other end any more."""
    import fcntl
    import select

    fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
    signal.signal(signal.SIGIO, signal.SIG_DFL)  # where there is no choice of the signal: this one, whose default is the end
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([lifeline], [], [], 0)[0]:  # that was too late
        os._exit(1)


def _from_nowhere() -> None:
    """Give the work an empty standard input."""
    empty = os.open(os.devnull, os.O_RDONLY)
    if empty:
        os.dup2(empty, 0)
        os.close(empty)


def _messages(requests: IO[bytes]) -> Iterator[bytearray]:
    while (message := receive(requests)) is not None:
        yield message


def _watched(requests: IO[bytes]) -> Iterator[bytearray]:
    """Messages; their end is that of the process, whatever it is busy with. Without a lifeline a thread waits for it."""
    arrived: SimpleQueue[bytearray] = SimpleQueue()

    def read_all() -> None:
        for message in _messages(requests):
            arrived.put(message)
        os._exit(1)

    threading.Thread(target=read_all, daemon=True).start()
    while True:
        yield arrived.get()


def _work(lifeline: str = "", output: str = "2") -> None:
    """The programme of a fresh process.

    The path of modules, the work, and then calls come over standard input, answers leave by standard output; what the work prints goes to
    `output`.
    """
    requests, answers = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    os.dup2(int(output), 1)
    if output != "2":
        os.close(int(output))
    if lifeline:
        os.set_inheritable(int(lifeline), False)
        _end_with(int(lifeline))
    _from_nowhere()
    messages = _messages(requests) if lifeline else _watched(requests)
    status = 1
    try:
        sys.path[:] = pickle.loads(next(messages))
        work = pickle.loads(next(messages))
        send(answers, b"")
        _serve(work, messages, answers)
        status = 0
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            flush()
        os._exit(status)  # not by way of the interpreter's end, which would wait for threads of the work


def _module(path: str, name: str, *arguments: str) -> None:
    import runpy

    sys.path[:] = json.loads(path)
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    if sys.argv[1] == "work":
        _work(*sys.argv[2:])
    else:
        _module(*sys.argv[2:])
