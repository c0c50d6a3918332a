"""Witness files: one instance of a claim, exactly, so that anyone can check it again.

Floats are written in hexadecimal and fractions as p/q, so that nothing is lost; the seed and the index travel with the instance because a
check may draw random numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from simopt.claims.kinds import Effort
from simopt.ground.errors import InvalidProblem

FORMAT = "simopt-witness/1"
EXACT_IN_JSON = 2**53  # many readers of JSON round larger integers


class BadWitness(InvalidProblem):
    """A witness file that is corrupt or of a format that is not known."""


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
        if the file is missing, corrupt, or of another format.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadWitness(f"{path}: not a readable witness file ({error})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        name = found.get("format") if isinstance(found, dict) else None
        raise BadWitness(f"{path}: format {name!r} is not known here; this version reads {FORMAT!r}")
    try:
        instance = decode(found["instance"])
        if not isinstance(instance, dict):
            raise TypeError("the instance is not a dictionary")
        return Witness(
            str(found["claim"]), str(found["row"]), int(found["seed"]), int(found["index"]), Effort(found["effort"]), instance,
            float.fromhex(found["slack"]), str(found["check"]), str(found.get("outcome", "")), str(found["simopt"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise BadWitness(f"{path}: the file is damaged ({type(error).__name__}: {error})") from error


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
    """Inverse of `encode`."""
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "fraction":
        return Fraction(*map(decode, content)) if isinstance(content, list) else Fraction(content)
    if kind == "int":
        return int(content, 16)
    if kind == "tuple":
        return tuple(decode(entry) for entry in content)
    if kind == "dict":
        return {decode(key): decode(entry) for key, entry in content}
    if kind == "array":
        array = np.empty(len(content["data"]), dtype=content["dtype"])
        for i, entry in enumerate(content["data"]):
            array[i] = decode(entry)
        return array.reshape(content["shape"])
    raise ValueError(f"unknown kind of value {kind!r}")


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
