"""Witness files: one instance of a claim, exactly, so that anyone can check it again.

Floats are written in hexadecimal and fractions as p/q, so that nothing is lost; the seed and the index travel with the instance because a
check may draw random numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from simopt.claims.kinds import Effort
from simopt.core import jsonio
from simopt.core.errors import InvalidFile
from simopt.core.reading import BYTES, EVIDENCE

FORMAT = "simopt-witness/1"
EXACT_IN_JSON = 2**53  # many readers of JSON round larger integers
LONGEST = 1 << 16  # bits of a whole number, as in a proof file
WIDEST = 1 << 12  # bytes of one entry of an array
FIRST = -3  # index of a trial: instances are counted from 0, the engine's own trials downward from −1
OUTCOMES = ("", "refuted", "satisfied")
NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
WHOLE = re.compile(r"-?0x[0-9a-f]+")
DTYPE = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64|96|128)|object|<U[0-9]{1,4}")


class BadWitness(InvalidFile):
    """A witness file that is corrupt, too large, or of a format that is not known."""


@dataclass(frozen=True)
class Witness:
    """The instance behind a verdict on one row, with everything that a replay needs."""

    claim: str
    row: str
    seed: int
    index: int
    effort: Effort
    instance: dict[str, Any]
    slack: float
    check: str = ""
    outcome: str = ""  # "refuted" or "satisfied"; empty in files of versions that did not write it
    version: str = ""

    def document(self) -> dict[str, Any]:
        """JSON-ready contents of the file."""
        return {
            "format": FORMAT,
            "simopt": self.version,
            "claim": self.claim,
            "row": self.row,
            "seed": self.seed,
            "index": self.index,
            "effort": self.effort.value,
            "check": self.check,
            "outcome": self.outcome,
            "slack": float(self.slack).hex(),
            "instance": encode(self.instance),
        }


def read(path: str | Path) -> Witness:
    """Read a witness file.

    Raises
    ------
    BadWitness
        if the file is missing, corrupt, larger than a witness may be, or of another format.
    """
    try:
        found = jsonio.read(path, EVIDENCE)
    except (OSError, ValueError) as error:
        raise BadWitness(f"{path}: not a readable witness file ({str(error).removeprefix(f'{path}: ')})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        name = found.get("format") if isinstance(found, dict) else None
        raise BadWitness(f"{path}: format {name!r} is not known here; this version reads {FORMAT!r}")
    try:
        instance, slack, outcome = decode(found["instance"]), float.fromhex(found["slack"]), _text(found.get("outcome", ""))
        if not isinstance(instance, dict) or not all(isinstance(name, str) for name in instance):
            raise TypeError("the instance is not a dictionary of names")
        if math.isnan(slack) or outcome not in OUTCOMES:
            raise ValueError(f"a slack of {slack} with the outcome {outcome!r}")
        seed, index = _counted(found["seed"], 0), _counted(found["index"], FIRST)
        claim, row, check, version = (_text(found[name]) for name in ("claim", "row", "check", "simopt"))
        return Witness(claim, row, seed, index, Effort(_text(found["effort"])), instance, slack, check, outcome, version)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError) as error:
        raise BadWitness(f"{path}: the file is damaged ({type(error).__name__}: {error})") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {type(value).__name__}")
    return value


def _counted(value: Any, least: int) -> int:
    if type(value) is not int or not least <= value < 1 << 64:
        raise ValueError(f"a whole number from {least} on is needed")
    return value


def encode(value: Any) -> Any:
    """Plain data as JSON without loss; raises TypeError for anything else."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value) if abs(int(value)) < EXACT_IN_JSON else {"int": hex(int(value))}
    if isinstance(value, float | np.floating):
        return {"float": float(value).hex()}
    if isinstance(value, Fraction):
        return {"fraction": [encode(value.numerator), encode(value.denominator)]}
    if isinstance(value, list):
        return [encode(entry) for entry in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(entry) for entry in value]}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(entry)] for key, entry in value.items()]}
    if isinstance(value, np.ndarray):
        return {"array": {"dtype": str(value.dtype), "shape": list(value.shape), "data": [encode(entry) for entry in value.flat]}}
    raise TypeError(f"an instance holds plain data (numbers, fractions, strings, lists, dictionaries, arrays), not {type(value).__name__}")


def decode(value: Any) -> Any:
    """Inverse of `encode`; what is longer than any instance, or of another form, is refused before it is computed.

    Raises
    ------
    TypeError, ValueError
        for what `encode` does not write.
    """
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "fraction":
        return _fraction(content)
    if kind == "int":
        return _whole(content)
    if kind == "tuple":
        return tuple(decode(entry) for entry in _list(content))
    if kind == "dict":
        return {decode(key): decode(entry) for key, entry in _list(content)}
    if kind == "array":
        return _array(**content)
    raise ValueError(f"unknown kind of value {kind!r}")


def _list(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise TypeError(f"a list is needed, not {type(content).__name__}")
    return content


def _whole(text: str) -> int:
    if not WHOLE.fullmatch(text) or len(text) > LONGEST // 4 + 3:
        raise ValueError(f"{text!r} is no whole number of at most {LONGEST} bits")
    return int(text, 16)


def _fraction(content: Any) -> Fraction:
    """Numerator and denominator; earlier files have "p/q"."""
    if isinstance(content, str):
        if not NUMBER.fullmatch(content):  # Fraction would compute 1e100000000
            raise ValueError(f"{content!r} is no fraction p/q")
        return Fraction(content)
    parts = [decode(part) for part in _list(content)]
    if not all(type(part) is int for part in parts):
        raise TypeError("a fraction is two whole numbers")
    return Fraction(*parts)


def _array(dtype: str, shape: list[int], data: list[Any]) -> Any:
    if not DTYPE.fullmatch(dtype) or np.dtype(dtype).itemsize > WIDEST:
        raise ValueError(f"arrays hold no {dtype!r} here")
    if not all(type(length) is int and length >= 0 for length in _list(shape)) or math.prod(shape) != len(_list(data)):
        raise ValueError(f"an array of shape {shape} does not hold {len(data)} entries")
    if np.dtype(dtype).itemsize * len(data) > BYTES:
        raise ValueError(f"an array of more than {BYTES >> 20} MB")
    array = np.empty(len(data), dtype=dtype)
    for i, entry in enumerate(data):
        array[i] = decode(entry)
    return array.reshape(shape)


def size(value: Any) -> int:
    """Number of scalars in an instance: what the smallest witness is smallest in."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, Mapping):
        return sum(size(entry) for entry in value.values())
    if isinstance(value, list | tuple):
        return sum(size(entry) for entry in value)
    return 1


def bulk(instance: Mapping[str, Any]) -> tuple[int, int]:
    """How small an instance is: by its scalars, and with as many by the bits of its whole numbers and fractions."""
    return size(instance), _bits(instance)


def _bits(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(_bits(entry) for entry in value.values())
    if isinstance(value, list | tuple):
        return sum(_bits(entry) for entry in value)
    if isinstance(value, Fraction):
        return value.numerator.bit_length() + value.denominator.bit_length()
    return value.bit_length() if isinstance(value, int) else 0
