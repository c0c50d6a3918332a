r"""Labels of classes: text or numbers, all of one type, none missing.

NumPy makes text of a number among texts, and cannot sort a text and a number, nor what is missing. So lists and arrays of objects are
looked at before they become an array of one type.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from simopt.core import validate
from simopt.core.errors import InvalidProblem

BYTES = "bytes are no labels; decode them to text first, label.decode() say"


def demand_labels(name: str, y: Any) -> None:
    """Refuse labels of mixed types, missing ones and bytes. O(n).

    Raises
    ------
    InvalidProblem
        naming the first index of each type.
    """
    raw = validate.entries(name, y)
    if isinstance(y, list | tuple) and raw.ndim == 1:
        raw = np.fromiter(y, dtype=object, count=len(y))
    if raw.dtype.kind == "S":
        raise InvalidProblem(f"{name}: {BYTES}")
    if raw.dtype.kind != "O":
        return
    first: dict[type, int] = {}
    for index, label in enumerate(raw.flat):
        if missing(label):
            raise InvalidProblem(f"{name}: {label!r} at index {index} is no label; remove the sample first, or give its class a name")
        if isinstance(label, bytes | bytearray):
            raise InvalidProblem(f"{name}: {validate.shown(label)} at index {index}; {BYTES}")
        first.setdefault(sort_of(label), index)
    if len(first) > 1:
        places = ", ".join(f"{type(raw.flat[index]).__name__} at index {index}" for index in first.values())
        raise InvalidProblem(f"{name}: labels of mixed types: {places}; use one type")


def missing(label: Any) -> bool:
    """True for None, nan, NaT, pandas.NA and masked values."""
    if label is None or label is np.ma.masked:
        return True
    same = label == label
    return not isinstance(same, bool | np.bool_ | np.ndarray) or (not isinstance(same, np.ndarray) and not bool(same))


def sort_of(label: Any) -> type:
    """Text, numbers (True and False are 1 and 0), or its own type."""
    return str if isinstance(label, str) else Real if isinstance(label, Real | np.bool_) else type(label)
