"""Files that anybody may have written are data and nothing else, and reading one costs no more than the limits below.

The length of a file, the shapes of its arrays and the depth of its lists are compared with these limits before anything is made of them.
"""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path

from simopt.core.errors import InvalidFile

BYTES = 1 << 28  # of a file that is read as a whole; evidence and runs have limits of their own below it
EVIDENCE = 1 << 25  # bytes of a witness, and of a run of a comparison
PARTS = 1 << 22  # lists and objects of a JSON file: each takes some hundred bytes of memory for two in the file
ARCHIVE = 1 << 30  # bytes of an .npz file, and again of its arrays unpacked: twelve packed megabytes can be eight gigabytes
MEMBERS = 1000  # arrays of an .npz file
ROWS = 1 << 20  # of a Parquet table
AT_ONCE = 1 << 24  # bytes read in one go
PATIENCE = 10.0  # seconds until the next byte of a pipe


def content(path: str | os.PathLike[str], most: int = BYTES) -> bytes:
    """The bytes of a file, or of a pipe that somebody writes to, if they are no more than `most`.

    Raises
    ------
    InvalidFile
        naming the file, when it is longer, is a device, or is a pipe from which nothing comes.
    OSError
        when it cannot be opened or is a folder.
    """
    parts: list[bytes] = []
    left = most + 1
    with open(path, "rb", buffering=0, opener=_at_once) as file:
        place, found = file.fileno(), os.fstat(file.fileno())
        is_plain = stat.S_ISREG(found.st_mode)
        if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
            raise InvalidFile(f"{path}: is a device; a file or a pipe is needed")
        while left and not (is_plain and found.st_size > most):
            if not is_plain and not select.select([place], [], [], PATIENCE)[0]:
                raise InvalidFile(f"{path}: nothing came for {PATIENCE:g} s; it is a pipe that nobody writes to")
            part = os.read(place, min(left, AT_ONCE))
            if not part:
                return b"".join(parts)
            parts.append(part)
            left -= len(part)
    raise InvalidFile(f"{path}: larger than the {most >> 20} MB that such a file may have")


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


def _at_once(path: str, flags: int) -> int:
    """Opened without waiting, as one would for a pipe that nobody writes to."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
