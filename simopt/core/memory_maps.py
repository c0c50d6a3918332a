"""Whether an array has the memory of a mapped file."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any


def chain_of_bases(array: Any) -> Iterator[Any]:
    """An array, its base, the base of that, and so on, up to the object that holds the memory."""
    while array is not None:
        yield array
        array = getattr(array, "base", None)


def mapped(array: Any) -> bool:
    """Whether reading it may read a file: `numpy.memmap`, or a view of one."""
    return any(isinstance(each, mmap.mmap) for each in chain_of_bases(array))
