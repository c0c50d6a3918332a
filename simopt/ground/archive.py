"""Records of arrays and plain values as one file: .npz (small) or .json (readable). Both bring back the same floats."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simopt.ground import jsonio
from simopt.ground.errors import InvalidProblem
from simopt.ground.jsonio import InvalidFile
from simopt.ground.writing import replacing

PLAIN = "meta"  # the entry of an .npz file that holds all that is no array, as JSON
INSIDE = "/"  # between the keys of nested records


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
        for a file that is corrupt or holds something else.
    """
    found = jsonio.read(path) if _suffix(path, what) == ".json" else _read_npz(path, what)
    if not isinstance(found, dict) or found.get("format") != form:
        raise InvalidFile(f"{path}: not {what} of format {form}")
    return found


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
    # NumPy would take anything that is no archive for a pickle, and advise to load it unsafely
    if Path(path).is_file() and not zipfile.is_zipfile(path):
        raise InvalidFile(f"{path}: not {what} (no .npz archive, or one that was cut short)")
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
            record: dict[str, Any] = json.loads(str(arrays.pop(PLAIN)))
            for name, value in arrays.items():
                *outer, last = name.split(INSIDE)
                place = record
                for key in outer:
                    place = place[key]
                place[last] = value
            return record
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, EOFError) as error:
        raise InvalidFile(f"{path}: not {what} ({error})") from error
