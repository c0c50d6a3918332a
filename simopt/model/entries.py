"""Points and multipliers: mappings of names to arrays, checked before anything is computed from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem

Shapes = Mapping[str, tuple[int, ...]]


def checked(what: str, values: Any, shapes: Shapes) -> dict[str, Array]:
    """Float arrays of these shapes; entries of other names keep theirs.

    Matrices are read column by column where the shape is flat.

    Raises
    ------
    InvalidProblem
        where `values` is no mapping, or an entry is not an array of real numbers of the right size.
    """
    if not isinstance(values, Mapping):
        raise InvalidProblem(f"{what}: {type(values).__name__} given, a mapping of names to arrays needed")
    return {name: _entry(f"{what}: {name}", value, shapes.get(name)) for name, value in values.items()}


def shapes_of(values: Mapping[str, Any]) -> Shapes:
    """The shape of each entry."""
    return {name: np.shape(value) for name, value in values.items()}


def _entry(what: str, value: Any, known: tuple[int, ...] | None) -> Array:
    array = validate.numbers(what, value)
    shape = array.shape if known is None else known
    if array.size != math.prod(shape):
        raise InvalidProblem(f"{what} has shape {array.shape}, expected {shape}")
    return array.reshape(shape, order="F" if len(shape) == 1 else "C")  # a matrix in place of a vector: column by column, as in CVXPY


def finite(values: Mapping[str, Any]) -> bool:
    """Whether every entry of every array is a finite number."""
    return all(bool(np.isfinite(value).all()) for value in values.values())


def named(what: str, formula: Callable[..., Any], values: Mapping[str, Any], *rest: Any) -> Any:
    """The formula's value; an entry that it does not find is named."""
    try:
        return formula(values, *rest)
    except KeyError as error:
        if error.args[0] in values:
            raise  # a defect of the formula, which looked for something else by that name
        raise InvalidProblem(f"{what}: no entry {error}, only {', '.join(map(repr, values)) or 'none at all'}") from error
