"""Values of a problem with integers, flat and by name: what its variables hold, and the point of a user."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import cvxpy as cp
import numpy as np

from simopt.backends.adapter import dense_value
from simopt.core.arrays import Array, Point
from simopt.core.errors import InvalidProblem
from simopt.duality.reading.integers import Relaxation
from simopt.solving.complex_numbers import complex_value
from simopt.solving.cvxpy_values import untouched

Values = dict[str, Array | None]  # None where a variable has no value


def shapes(form: Relaxation) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes of all variables that have entries, those with integers first."""
    return [(each.name, each.variable.shape) for each in form.variables] + [(name, v.shape) for v, name in form.others]


def values(form: Relaxation) -> Values:
    """The values of the variables, flat, by name."""
    own = {each.name: value_of(each.variable) for each in form.variables}
    own |= {name: value_of(v) for v, name in form.others}
    return {name: None if value is None else value.reshape(-1, order="F") for name, value in own.items()}


def value_of(variable: cp.Variable) -> Array | None:
    """The value of a real or complex variable as a dense array, if it has one."""
    return complex_value(variable) if variable.is_complex() else dense_value(variable)


def values_at(form: Relaxation, point: Point) -> Values:
    """The values that a user's point has for all variables."""
    flat: Values = {}
    complex_names = {name for v, name in form.others if v.is_complex()}
    for name, shape in shapes(form):
        if name not in point:
            raise InvalidProblem(f"point: {name} is missing; it has {', '.join(sorted(point)) or 'nothing'}")
        value = np.asarray(point[name], dtype=complex if name in complex_names else float).reshape(-1, order="F")
        if value.size != math.prod(shape):
            raise InvalidProblem(f"point: {name} has {value.size} entries, expected {math.prod(shape)}")
        flat[name] = value
    return flat


@contextmanager
def other_values(form: Relaxation, known: Values) -> Iterator[None]:
    """These values in the variables without integers, and afterwards those that they had."""
    with untouched(form.original):
        for v, name in form.others:
            value = known[name]
            v.save_value(None if value is None else np.reshape(value, v.shape, order="F"))
        yield
