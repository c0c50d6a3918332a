"""Bytes that came over a network or were packed by somebody else, read up to a limit: twelve packed megabytes can be eight gigabytes."""

import gzip
import io
import zipfile
import zlib
from typing import Protocol

from simopt.core.errors import InvalidProblem

PIECE = 1 << 20  # bytes asked for at a time
MEMBERS = 1000  # files of an archive
_ENTRY = b"PK\1\2"  # with which every entry of the directory of an archive begins


class Stream(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, none at the end."""


def bounded(stream: Stream, most: int, where: str) -> bytes:
    """All bytes of a stream.

    Raises
    ------
    InvalidProblem
        naming `where` as soon as it is more than `most` bytes.
    """
    parts, left = [], most + 1
    while left and (part := stream.read(min(left, PIECE))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise InvalidProblem(f"{where}: more than the {most >> 20} MB that such a file may have")
    return b"".join(parts)


def gunzip(packed: bytes, most: int, where: str) -> bytes:
    """The content of a gzip file.

    Raises
    ------
    InvalidProblem
        when it is damaged, or holds more than `most` bytes.
    """
    try:
        return bounded(gzip.GzipFile(fileobj=io.BytesIO(packed)), most, f"{where} (unpacked)")
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidProblem(f"{where}: the gzip file is damaged ({error}); copy it again") from error


def zip_member(packed: bytes, member: str, most: int, where: str) -> bytes:
    """The first file called `member` in an archive, in whatever folder of it. Nothing is written to the disk.

    Raises
    ------
    InvalidProblem
        when the archive is damaged, has no such file, has it encrypted or packed otherwise than by deflation, or it is too large.
    """
    if packed.count(_ENTRY) > MEMBERS:
        raise InvalidProblem(f"{where}: more than {MEMBERS} files in the zip file")
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            inside = next((entry for entry in archive.infolist() if entry.filename.rsplit("/", 1)[-1] == member), None)
            if inside is None:
                raise InvalidProblem(f"{where}: no {member} inside")
            if inside.flag_bits & 1 or inside.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InvalidProblem(f"{where}: {member} is encrypted, or packed in a way that cannot be read within a limit")
            with archive.open(inside) as stream:
                return bounded(stream, most, f"{where} ({member})")
    except InvalidProblem:
        raise
    except zipfile.BadZipFile as error:
        raise InvalidProblem(f"{where}: not a zip file, or a damaged one ({error})") from error
    except (EOFError, OSError, RuntimeError, ValueError, OverflowError, zlib.error) as error:
        raise InvalidProblem(f"{where}: the zip file is damaged ({error})") from error
