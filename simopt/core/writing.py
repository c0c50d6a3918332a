"""Files are written whole or not at all, and only here.

The content goes into a new file in the same folder, reaches the disk, and takes the name of the old file. The name of the new file cannot
be predicted, and it is opened only if nothing has that name (O_EXCL). So no planted link is followed, and no two threads, processes or
machines meet in it. It has the mode of the file that it replaces, or a new one by the umask.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

NEW = 0o666  # mode of a new file, of which the umask takes its part
TRIED = bytes(4096)  # what is written to see whether something can be
LINKS = 40  # followed one after the other, as by the system


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path as a `Path`, if a file may be written there.

    Raises
    ------
    OSError
        with the path, when it is a folder, or its folder does not exist or cannot be written to.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, a file name is needed", str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", str(target))
    special = _special(target)
    if not os.access(target if special else target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "cannot be written to" if special else "its folder cannot be written to", str(target))
    return target


def try_target(path: str | os.PathLike[str]) -> Path:
    """`check_target`, and a few bytes are written beside it and removed: before long work, an obstacle is known in time.

    Raises
    ------
    OSError
        with the path, also when the disk is full or read-only.
    """
    target = check_target(path)
    with _naming(target):
        if not _special(target):
            _try(_followed(target).parent)
    return target


def try_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made if need be, once a file could be written in it.

    Raises
    ------
    OSError
        with the path, when it is a file, or cannot be made or written to.
    """
    folder = Path(path)
    with _naming(folder):
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "is a file, a folder is needed", str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        _try(folder)
    return folder


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place at the end of the block, and is gone if the block fails.

    A link is followed, but not one of somebody else's in a folder where everybody may put some (/tmp): the system itself follows none
    there. A pipe or a device is written to, not replaced.

    Raises
    ------
    OSError
        with the path, see `check_target`; the file that was there is then as it was.
    """
    target = check_target(path)
    with _naming(target):
        if _special(target):
            with target.open("wb") as out:
                yield out
            return
        place = _followed(target)
        old = place.stat() if place.exists() else None
        with _new(place.parent, NEW if old is None else stat.S_IMODE(old.st_mode) & 0o777) as (temporary, out):
            yield out
            _sync(out)
            out.close()
            if old is not None:
                _like(old, temporary)
            temporary.replace(place)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file.

    Raises
    ------
    OSError
        with the path, see `replacing`.
    """
    with replacing(path) as out:
        out.write(content)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file. Half a surrogate pair, which UTF-8 cannot say, becomes its escape, which is that of JSON.

    Raises
    ------
    OSError
        with the path, see `replacing`.
    """
    write_bytes(path, text.encode("utf-8", errors="backslashreplace"))


@contextmanager
def _new(folder: Path, mode: int = NEW) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file in a folder, and its path; if it still has that name at the end, it goes."""
    temporary = folder / f".simopt-{secrets.token_hex(8)}.part"
    out = open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode))
    try:
        yield temporary, out
    finally:
        with suppress(OSError):  # what could not be written fails a second time here
            out.close()
        temporary.unlink(missing_ok=True)


def _try(folder: Path) -> None:
    with _new(folder) as (_, out):
        out.write(TRIED)
        _sync(out)


def _sync(out: IO[bytes]) -> None:
    """Wait until all of it is on the disk, where the file system supports that."""
    out.flush()
    try:
        os.fsync(out.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise


def _like(old: os.stat_result, new: Path) -> None:
    """Set the mode of the old file, and its owner where we may: else root would take files from their owners."""
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(new, old.st_uid, old.st_gid)
    new.chmod(stat.S_IMODE(old.st_mode) & 0o777)


def _special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _followed(target: Path) -> Path:
    """The target of a path: links in its folders are left to the system, its own are followed here."""
    place = target
    for _ in range(LINKS):
        if not place.is_symlink():
            return place
        link, folder = place.lstat(), place.parent.stat()
        everybody = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if everybody and link.st_uid not in (os.geteuid(), folder.st_uid):
            raise PermissionError(errno.EACCES, "a link that somebody else put there; it is not followed", str(target))
        place = place.parent / os.readlink(place)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(target))


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors name the target: a full disk is noticed by a write that has no name, or that of a temporary file."""
    try:
        yield
    except OSError as error:
        known = error.filename
        if error.errno is None or not (known is None or isinstance(known, int) or str(known).endswith(".part")):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
