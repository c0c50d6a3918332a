"""Records of arrays and plain values as one file: .npz (small) or .json (readable). Both bring back the same floats."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from simopt.core import jsonio, reading
from simopt.core.arrays import Array
from simopt.core.errors import InvalidFile, InvalidProblem
from simopt.core.writing import replacing

PLAIN = "meta"  # the entry of an .npz file that holds all that is no array, as JSON
INSIDE = "/"  # between the keys of nested records
DAMAGE = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)  # what damage raises


def save(path: str | os.PathLike[str], record: Mapping[str, Any], what: str) -> None:
    """Write a record, nested or not, all of it or nothing; `what` it is ("a herd") is for the messages.

    Raises
    ------
    InvalidProblem
        for a suffix other than .npz and .json.
    OSError
        when the file cannot be written.
    """
    if _suffix(path, what) == ".json":
        jsonio.write(path, record)
        return
    arrays: dict[str, Any] = {}
    rest = jsonio.plain(_without_arrays(record, "", arrays))
    with replacing(path) as out:
        np.savez_compressed(out, **{PLAIN: np.array(json.dumps(rest, allow_nan=False)), **arrays})


def load(path: str | os.PathLike[str], form: str, what: str) -> dict[str, Any]:
    """The record that `save` wrote, if its entry "format" is `form`. Arrays from .json files are lists.

    Raises
    ------
    InvalidProblem
        for a suffix other than .npz and .json.
    InvalidFile
        for a file that is corrupt, holds something else, or is larger than `simopt.core.reading` allows.
    OSError
        when it cannot be read.
    """
    record = jsonio.read(path) if _suffix(path, what) == ".json" else _read_npz(path, what)
    known = record.get("format") if isinstance(record, dict) else None
    if not isinstance(known, str) or known != form:
        raise InvalidFile(f"{path}: not {what} of format {form}")
    return record


@contextmanager
def rebuilding(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Make an object of a record inside: whatever goes wrong there, the file is damaged.

    Raises
    ------
    InvalidFile
        naming the file and what was wrong.
    """
    try:
        yield
    except DAMAGE as error:
        raise InvalidFile(f"{path}: not a whole {what.partition(' ')[2]} ({type(error).__name__}: {error})") from error


def entries(kind: type[Any], record: Mapping[str, Any], **made: Any) -> dict[str, Any]:
    """The entries of a record as fields of the dataclass `kind`, each held against its annotation; `made` are those that need more.

    Arrays are finite; those of `Indices` are whole numbers ≥ 0.

    Raises
    ------
    KeyError, TypeError, ValueError
        for an entry that is missing, that the class does not have, or that is of another kind.
    """
    declared = {item.name: item for item in fields(kind)}
    if odd := sorted(record.keys() - declared.keys() - {"format"}):
        raise KeyError(odd[0])
    values: dict[str, Any] = {}
    for name, item in declared.items():
        if name in made:
            values[name] = made[name]
        elif name in record:
            values[name] = _of_kind(name, str(item.type), record[name])
        elif item.default is MISSING and item.default_factory is MISSING:
            raise KeyError(name)
    return values


def _of_kind(name: str, annotation: str, value: Any) -> Any:
    if annotation in ("Array", "Indices"):
        return numbers(name, value, whole=annotation == "Indices")
    if value is None and annotation.endswith("| None"):
        return None
    outer, _, inner = annotation.removesuffix("| None").strip().partition("[")
    if outer == "tuple":
        return tuple(_of_kind(f"{name}[{i}]", inner.partition(",")[0], each) for i, each in enumerate(_is(name, list, value)))
    if outer == "float":
        number = _is(name, (int, float), value)
        if isinstance(number, bool) or not math.isfinite(number):
            raise ValueError(f"{name} is {number}, a finite number is needed")
        return float(number)
    if outer == "int" and isinstance(value, bool):
        raise TypeError(f"{name} is {value}, a whole number is needed")
    return _is(name, {"int": int, "bool": bool, "str": str, "Mapping": Mapping}[outer], value)


def _is(name: str, kind: type[Any] | tuple[type[Any], ...], value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is of type {type(value).__name__}")
    return value


def numbers(name: str, value: Any, *, whole: bool = False) -> Array:
    """Numbers from a file, an array or nested lists, as float64, all finite; `whole` ones as indices ≥ 0.

    Raises
    ------
    InvalidProblem
        for anything else.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidProblem(f"{name}: {error}") from error
    if array.size and array.dtype.kind not in ("iu" if whole else "iuf"):
        raise InvalidProblem(f"{name}: values that are not {'whole ' if whole else ''}numbers ({array.dtype})")
    out: Array = array.astype(np.intp if whole else np.float64)
    if not np.all(np.isfinite(out)) or (whole and np.any(out < 0)):
        raise InvalidProblem(f"{name}: holds a number that {'counts nothing' if whole else 'is not finite'}")
    return out


def _without_arrays(record: Mapping[str, Any], before: str, arrays: dict[str, Any]) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, np.ndarray):
            arrays[before + key] = value
        else:
            rest[key] = _without_arrays(value, before + key + INSIDE, arrays) if isinstance(value, Mapping) else value
    return rest


def _suffix(path: str | os.PathLike[str], what: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".npz", ".json"):
        raise InvalidProblem(f"path: {str(path)!r} ends in {suffix or 'nothing'}; {what} is saved as .npz or .json")
    return suffix


def _read_npz(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """Only stored or deflated members whose headers, sizes and sum agree with one another are unpacked; nothing is ever unpickled."""
    data = reading.content(path, reading.ARCHIVE)
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise InvalidFile(f"{path}: not {what} (no .npz archive, or one that was cut short)")
    if data.count(b"PK\1\2") > reading.MEMBERS:  # with which every entry of the directory begins
        raise InvalidFile(f"{path}: not {what} (more than {reading.MEMBERS} entries)")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > reading.ARCHIVE:
                raise InvalidFile(f"{path}: larger unpacked than the {reading.ARCHIVE >> 20} MB that {what} may have")
            arrays = {member.filename.removesuffix(".npy"): _array(archive, member) for member in members}
        record: dict[str, Any] = jsonio.parse(str(arrays.pop(PLAIN)), str(path))
        for name, value in arrays.items():
            *outer, last = name.split(INSIDE)
            place = record
            for key in outer:
                place = place[key]
            place[last] = value
        return record
    except InvalidFile:
        raise
    except (*DAMAGE, SyntaxError, TokenError, zipfile.BadZipFile, zlib.error) as error:  # NumPy parses headers as Python parses literals
        raise InvalidFile(f"{path}: not {what} ({error})") from error


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    """One array, whose header says what its member holds: so many numbers or letters of so many bytes."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or member.flag_bits & 1:
        raise ValueError(f"{member.filename} is packed or encrypted in a way that simopt does not write")
    form = np.lib.format
    with archive.open(member) as stream:
        read_header = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}[form.read_magic(stream)]
        shape, _, dtype = read_header(stream)
        size = math.prod(shape) * dtype.itemsize
        if dtype.kind not in "biufU" or min(shape, default=1) < 0 or not dtype.itemsize or size != member.file_size - stream.tell():
            raise ValueError(f"{member.filename} is no array of {dtype} of the shape {shape}")
    with archive.open(member) as stream:
        return form.read_array(stream, allow_pickle=False)
