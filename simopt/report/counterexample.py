"""A witness in words: the instance, short enough to read, exact where it is small."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from simopt.claims import witness
from simopt.claims.witness import BadWitness, Witness

ENTRIES = 8  # of a list or of a row that are written out
ROWS = 6
DEPTH = 3
LONGEST = 400  # characters of one value


@dataclass(frozen=True)
class Shown:
    """The text of a page about a witness, or why it has none."""

    path: str
    check: str = ""
    outcome: str = ""
    slack: float | None = None
    seed: int | None = None
    lines: tuple[tuple[str, str], ...] = ()
    trouble: str = ""


def shown(path: str | Path | None) -> Shown | None:
    """The witness in this file; None if there is none. A file that cannot be read is said to be so."""
    if path is None:
        return None
    try:
        found: Witness = witness.read(path)
    except BadWitness as error:
        return Shown(str(path), trouble=str(error))
    lines = tuple((name, written(value)) for name, value in found.instance.items())
    return Shown(str(path), found.check, found.outcome, found.slack, found.seed, lines)


def written(value: Any, depth: int = 0) -> str:
    """A value of an instance as a person would write it; long ones are shortened and say how long they are."""
    text = _written(value, depth)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _written(value: Any, depth: int) -> str:
    if isinstance(value, np.ndarray):
        if value.ndim == 2 and value.size:
            return _matrix(value)
        shape = " × ".join(map(str, value.shape))
        return _list(value.ravel().tolist(), depth) + (f" (an array, {shape})" if value.ndim > 1 else "")
    if isinstance(value, (Fraction, int)) and not isinstance(value, bool):
        return _exact(value)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}".replace("-", "−")
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(row, (list, tuple)) and row and not isinstance(row[0], (list, tuple, Mapping)) for row in value):
            return _rows([list(row) for row in value], len(value))
        return _list(list(value), depth)
    if isinstance(value, Mapping):
        if depth >= DEPTH:
            return "{…}"
        parts = [f"{written(key, depth + 1)}: {written(entry, depth + 1)}" for key, entry in list(value.items())[:ENTRIES]]
        return "; ".join(parts) + _rest(len(value), ENTRIES)
    return str(value).replace("-", "−") if isinstance(value, np.integer) else str(value)


def _exact(value: Fraction | int) -> str:
    """Digits, of which Python writes no more than 4300: of a longer number how many there are."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 4 * LONGEST:
        return f"{'−' if value < 0 else ''}2^{math.log2(abs(value.numerator)) - math.log2(value.denominator):.1f}"
    return str(value).replace("-", "−")


def _list(values: list[Any], depth: int) -> str:
    if depth >= DEPTH:
        return "(…)"
    return "(" + ", ".join(written(value, depth + 1) for value in values[:ENTRIES]) + _rest(len(values), ENTRIES) + ")"


def _matrix(value: Any) -> str:
    return _rows(value.tolist(), value.shape[0])


def _rows(rows: list[list[Any]], count: int) -> str:
    lines = [", ".join(written(entry, DEPTH - 1) for entry in row[:ENTRIES]) + _rest(len(row), ENTRIES) for row in rows[:ROWS]]
    return "\n".join(f"({line})" for line in lines) + (f"\n… {count} rows" if count > ROWS else "")


def _rest(count: int, shown: int) -> str:
    return f", … {count} in all" if count > shown else ""
