"""The lines of a file of unknown origin, packed by gzip or not, within limits of bytes; errors name file, line and section."""

from __future__ import annotations

import gzip
import io
import math
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from simopt.core import reading
from simopt.core.errors import InvalidFile

MOST = 1 << 29  # bytes of a problem's file, as it lies there and unpacked
LINE = 1 << 16  # bytes of one line
AT_ONCE = 1 << 20  # bytes that are unpacked in one go to count them
SHOWN = 40  # characters of a file that a message repeats
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)


@dataclass(frozen=True)
class TextFile:
    """A file's name, for messages, and its bytes."""

    path: str
    data: bytes

    def lines(self) -> Iterator[tuple[int, str]]:
        """Number and text of each line, without what ends it.

        Raises
        ------
        InvalidFile
            for a line that is not UTF-8, longer than `LINE`, or has a byte 0.
        """
        for number, line in enumerate(io.BytesIO(self.data), 1):
            if len(line) > LINE:
                raise self.wrong(number, "", f"longer than {LINE} bytes", "break it up")
            if b"\0" in line:
                raise self.wrong(number, "", "has a byte 0", "a text file is needed, packed ones end in .gz")
            try:
                yield number, line.decode("utf-8").rstrip()
            except UnicodeDecodeError as error:
                raise self.wrong(number, "", f"byte {error.start + 1} is not UTF-8", "save the file as UTF-8") from None

    def wrong(self, number: int, section: str, what: str, remedy: str) -> InvalidFile:
        """The error of one line: file, line, section, what is wrong, and what would be right."""
        return InvalidFile(f"{self.path}: line {number}{', ' if section else ''}{section}: {what}; {remedy}")


class SectionReader:
    """A pass over the lines of a file in sections; `line` and `section` are where it is."""

    def __init__(self, source: TextFile) -> None:
        self.source, self.line, self.section = source, 0, ""
        self.seen: set[str] = set()  # sections

    def fail(self, what: str, remedy: str) -> NoReturn:
        """Raise the error of the present line."""
        raise self.source.wrong(self.line, self.section, what, remedy)

    def finite(self, text: str) -> float:
        """The finite number that a text is; an error where it is none."""
        value = number(text)
        if value is None or math.isinf(value):
            infinite = f"{quoted(text)} is no finite number", "a decimal number below 1.8e308 is needed"
            self.fail(*(infinite if value else (f"{quoted(text)} is no number", "a decimal number is needed, such as 2.5")))
        return value


def quoted(text: str) -> str:
    """A piece of a file in a message, cut to `SHOWN` characters."""
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 1] + "…")


def number(text: str) -> float | None:
    """The decimal number that a text is, by IEEE 754 the nearest one; ±∞ where it overflows; None where it is none.

    No "nan", "inf", hexadecimal digits or underscores, which Python's own `float` takes.
    """
    return float(text) if NUMBER.fullmatch(text) else None


def whole(text: str) -> int | None:
    """The whole number that a text is, of at most 18 digits; None where it is none."""
    return int(text) if WHOLE.fullmatch(text) else None


def unpacked(path: str | os.PathLike[str]) -> TextFile:
    """The content of a file; one whose name ends in .gz is unpacked.

    Raises
    ------
    InvalidFile
        when it is longer than `MOST` bytes, packed or unpacked, or no gzip file although its name ends so.
    OSError
        when it cannot be opened.
    """
    shown, data = os.fspath(path), reading.content(path, MOST)
    if Path(path).suffix.lower() != ".gz":
        return TextFile(shown, data)
    try:
        if not _is_short(data):
            raise InvalidFile(f"{shown}: larger unpacked than the {MOST >> 20} MB that such a file may have; unpack it and cut it down")
        data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidFile(f"{shown}: cannot be unpacked ({error}); a gzip file is needed, or a name without .gz") from None
    return TextFile(shown, data)


def _is_short(data: bytes) -> bool:
    """Whether a gzip file unpacks to at most `MOST` bytes. They are counted and not held: a megabyte may stand for a thousand."""
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
        length = 0
        while length <= MOST and (part := len(packed.read(AT_ONCE))):
            length += part
    return length <= MOST
