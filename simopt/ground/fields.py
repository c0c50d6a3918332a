"""Types of fields that say what is checked: `features: Matrix`, `targets: Vector`, `delta: Positive = 1.0`.

What stands behind a type is `Annotated`: axes, named by letters (one letter is one length in all fields of a problem), and functions like
those of `simopt.ground.validate`, (name, value) → value. Own types are written alike:

    Probabilities = Annotated[Array, Axes("n", "k"), my_check]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_type_hints

import numpy as np

from simopt.ground import validate
from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem


@dataclass(frozen=True, init=False)
class Axes:
    """The letters of an array's axes: vectors and matrices."""

    letters: tuple[str, ...]

    def __init__(self, *letters: str) -> None:
        object.__setattr__(self, "letters", letters)

    def __call__(self, name: str, value: Any) -> Array:
        return validate.vector(name, value) if len(self.letters) == 1 else validate.matrix(name, value)


Matrix = Annotated[Array, Axes("n", "d")]
Vector = Annotated[Array, Axes("n")]
Labels = Annotated[Array, Axes("n"), validate.labels]
Gram = Annotated[Array, Axes("n", "n"), validate.gram]
Positive = Annotated[float, validate.positive]
NonNegative = Annotated[float, validate.nonnegative]


def checked(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    """Values of the fields of a class as its types ask for; numbers and arrays of other types have to be finite.

    Raises
    ------
    InvalidProblem
        naming the field, and of lengths that disagree both.
    """
    lengths: dict[str, tuple[int, str]] = {}
    found = {}
    for name, given in values.items():
        value, checks = given, _checks(kind).get(name, ())
        for check in checks or (_finite,):
            value = check(name, value)
        for axes in (check for check in checks if isinstance(check, Axes)):
            for letter, length in zip(axes.letters, value.shape, strict=True):
                known, first = lengths.setdefault(letter, (length, name))
                if length != known:
                    raise InvalidProblem(f"{name}: shape {value.shape}, but {letter} = {known} in {first}")
        found[name] = value
    return found


def is_nonnegative(kind: type, name: str) -> bool:
    """Whether the type of a field says that it is ≥ 0."""
    return bool({validate.positive, validate.nonnegative} & set(_checks(kind).get(name, ())))


@cache
def _checks(kind: type) -> dict[str, tuple[Any, ...]]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: tuple(filter(callable, getattr(hint, "__metadata__", ()))) for name, hint in hints.items()}


def _finite(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (validate.vector if value.ndim == 1 else validate.matrix)(name, value)
    return validate.finite(name, value) if isinstance(value, float) else value
