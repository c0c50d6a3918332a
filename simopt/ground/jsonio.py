"""JSON as simopt writes it: null and never NaN, arrays as lists, fractions as "p/q", and files that are whole or not there."""

from __future__ import annotations

import dataclasses
import errno
import json
import math
import os
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from simopt.ground import reading
from simopt.ground.errors import InvalidFile


def plain(value: Any) -> Any:
    """`value` as JSON can say it: dict, list, str, int, float, bool or None.

    Finite floats stay floats (Python writes the shortest decimal that reads back as the same double); nan and ±∞ become null. Arrays
    become nested lists, fractions "p/q", enum members their values, dataclasses dicts of their fields, sets sorted lists, paths strings.

    Raises
    ------
    TypeError
        for anything else, rather than writing its repr.
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.longdouble):
        return plain(float(value))  # its item() is a long double again
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Path):
        return str(value)
    return _container(value)


def _container(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no meaning in JSON: {value!r}")


def dumps(value: Any) -> str:
    """`plain(value)` as indented JSON text with a final newline."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as a JSON file, all of it or nothing."""
    write_text(path, dumps(value))


def check_target(path: str | os.PathLike[str]) -> Path:
    """The path as a `Path`, if a file can be written there.

    Raises
    ------
    OSError
        with the path, when it is a folder or its folder does not exist or cannot be written to.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, a file name is needed", str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", str(target))
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "its folder cannot be written to", str(target))
    return target


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file by way of a temporary one beside it, so that a reader never sees half of it.

    Links are followed. What exists and is no plain file (a pipe, a device) is written to, not replaced. Half a surrogate pair, which UTF-8
    cannot say, becomes its escape, which is that of JSON.

    Raises
    ------
    OSError
        with the path, see `check_target`.
    """
    target = check_target(path).resolve()
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8", errors="backslashreplace")
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: str | os.PathLike[str], most: int = reading.BYTES) -> Any:
    """Content of a JSON file of at most so many bytes.

    Raises
    ------
    InvalidFile
        when it is not JSON, with the place, or larger than `simopt.ground.reading` allows.
    OSError
        when it cannot be read.
    """
    try:
        return parse(reading.content(path, most).decode(), str(path))
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{path}: not a text file (byte {error.start})") from error


def parse(text: str, where: str) -> Any:
    """What JSON text says; NaN and ∞, which JSON has no words for, are refused.

    Raises
    ------
    InvalidFile
        naming `where` and the place.
    """
    if text.count("[") + text.count("{") > reading.PARTS:
        raise InvalidFile(f"{where}: more than {reading.PARTS} lists and objects")
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise InvalidFile(f"{where}: not JSON, {error.msg} at line {error.lineno}, column {error.colno}") from error
    except RecursionError as error:
        raise InvalidFile(f"{where}: lists or objects nested too deeply") from error
    except ValueError as error:  # of more digits than Python reads, or no number
        raise InvalidFile(f"{where}: {str(error).partition(';')[0]}") from error


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")
