"""Files that anybody may have written are data and nothing else, and reading one costs no more than this page says.

What a file claims of itself (its length, the shapes of its arrays, the depth of its lists) is compared with these numbers before anything
is made of it.
"""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path

from simopt.ground.errors import InvalidFile

BYTES = 1 << 28  # of a file that is read as a whole; evidence and runs have limits of their own below it
EVIDENCE = 1 << 25  # bytes of a witness, and of a run of a comparison
PARTS = 1 << 22  # lists and objects of a JSON file: each takes some hundred bytes of memory for two in the file
ARCHIVE = 1 << 30  # bytes of an .npz file, and again of its arrays unpacked: twelve packed megabytes can be eight gigabytes
MEMBERS = 1000  # arrays of an .npz file
ROWS = 1 << 20  # of a Parquet table
PATIENCE = 10.0  # seconds until the next byte of a pipe


def content(path: str | os.PathLike[str], most: int = BYTES) -> bytes:
    """The bytes of a file, or of a pipe that somebody writes to, if they are no more than `most`.

    Raises
    ------
    InvalidFile
        naming the file, when it is longer, or is a pipe or a device from which nothing comes.
    OSError
        when it cannot be opened or is a folder.
    """
    with open(path, "rb", buffering=0, opener=_opened) as file:
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode):
            parts = [_whole(file.fileno(), most)] if found.st_size <= most else []
        else:
            parts = _streamed(file.fileno(), most, path)
    if not parts or sum(map(len, parts)) > most:
        raise InvalidFile(f"{path}: larger than the {most >> 20} MB that such a file may have")
    return b"".join(parts)


def plain_files(folder: Path, pattern: str) -> list[Path]:
    """The files of a folder that fit a pattern, sorted.

    Raises
    ------
    InvalidFile
        naming the first that is a pipe, a device, a folder, or a link to nothing.
    """
    found = sorted(folder.glob(pattern))
    for path in found:
        if not path.is_file():
            raise InvalidFile(f"{path}: no plain file; move it away")
    return found


def _opened(path: str, flags: int) -> int:
    """Opened at once: a pipe that nobody writes to would be waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _whole(place: int, most: int) -> bytes:
    parts, left = [], most + 1
    while left and (part := os.read(place, min(left, 1 << 24))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _streamed(place: int, most: int, path: str | os.PathLike[str]) -> list[bytes]:
    """All that comes, one byte beyond `most` at the latest."""
    parts: list[bytes] = []
    while sum(map(len, parts)) <= most:
        if not select.select([place], [], [], PATIENCE)[0]:
            raise InvalidFile(f"{path}: nothing came for {PATIENCE:g} s; it is a pipe or a device that nobody writes to")
        part = os.read(place, 1 << 20)
        if not part:
            break
        parts.append(part)
    return parts or [b""]
