"""JSON as simopt writes it: null and never NaN, arrays as lists, fractions as "p/q"."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from simopt.core import reading
from simopt.core.errors import InvalidFile
from simopt.core.writing import write_text


def plain(value: Any) -> Any:
    """`value` as JSON can say it: dict, list, str, int, float, bool or None.

    Finite floats stay floats (Python writes the shortest decimal that reads back as the same double); nan and ±∞ become null. Arrays
    become nested lists, fractions "p/q", complex numbers [real, imaginary part], enum members their values, dataclasses dicts of their
    fields (a field with metadata {"json": key} under that key), sets sorted lists, paths strings.

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
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
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
        return {item.metadata.get("json", item.name): plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no meaning in JSON: {value!r}")


def dumps(value: Any) -> str:
    """`plain(value)` as indented JSON text with a final newline."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(path: str | os.PathLike[str], value: Any) -> None:
    """Write `value` as a JSON file, all of it or nothing.

    Raises
    ------
    OSError
        with the path, see `writing.replacing`.
    """
    write_text(path, dumps(value))


def read(path: str | os.PathLike[str], most: int = reading.BYTES) -> Any:
    """Content of a JSON file of at most so many bytes.

    Raises
    ------
    InvalidFile
        when it is not JSON, with the place, or larger than `simopt.core.reading` allows.
    OSError
        when it cannot be read.
    """
    try:
        return parse(reading.content(path, most).decode(), str(path))
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{path}: not a text file (byte {error.start})") from error


def parse(text: str, where: str) -> Any:
    """The value of JSON text; NaN and ∞, which JSON does not have, are refused.

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


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")
