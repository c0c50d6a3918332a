"""Standard output and standard error, such that nothing about them can stop a run or lose its result.

A reader that has seen enough (`| head`) ends nothing. A full disk behind standard output is reported once, by name. If standard error
cannot be written, only progress and words are lost. Characters outside of an encoding are written as escapes, so that names that are not
UTF-8 can be shown.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

from simopt.core.foreign_text import on_terminal


def say(text: str) -> None:
    """A line on standard error, where there still is one."""
    try:
        sys.stderr.write(f"{on_terminal(text)}\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass


def complain(text: str) -> None:
    """The error, on one line."""
    say(" ".join(f"simopt: {text}".split()))


def secure() -> None:
    """Open what the caller closed (`2>&-`), so that no file of ours takes its number, and guard both streams."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))
    sys.stdout, sys.stderr = _guarded(sys.stdout, "standard output"), _guarded(sys.stderr, "")


def _guarded(stream: TextIO, name: str) -> TextIO:
    return io.TextIOWrapper(
        io.BufferedWriter(_Guard(stream, name)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=bool(stream.line_buffering) or not name,
        write_through=getattr(stream, "write_through", False),
    )


class _Guard(io.RawIOBase):
    """A stream that takes everything once writing has failed; the failure is raised where it has a name and is no broken pipe."""

    def __init__(self, stream: TextIO, name: str) -> None:
        buffer: Any = stream.buffer
        self.raw = getattr(buffer, "raw", buffer)
        self.behind = stream  # which would close it if nobody held it
        self.called = name
        self.lost = False

    def write(self, data: Any) -> int | None:
        if self.lost:
            return len(data)
        try:
            written: int | None = self.raw.write(data)
            return written
        except OSError as error:
            self.lost = True
            if self.called and not isinstance(error, BrokenPipeError):
                raise OSError(error.errno, error.strerror, self.called) from error
            return len(data)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return bool(self.raw.isatty())

    def fileno(self) -> int:
        return int(self.raw.fileno())
