"""What constants and parameters hold, and what is proven of their promises.

CVXPY's rules of sign and curvature rest on what leaves promise. It looks at a value when it is assigned, to a tolerance; of a constant it
remembers what it saw. Here signs are proven of the numbers as they are, each time that they are read. That a matrix is semidefinite the
quadratic form proves in which it stands. What else is promised (symmetry, bounds, zeros, whole numbers) no bound rests on.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem


def value_of(leaf: Any) -> Any:
    """The value that a parameter or a constant holds.

    Raises
    ------
    InvalidProblem
        where it has none, or one that is not finite or not of the sign that was declared.
    """
    value = leaf.value
    if value is None:
        raise InvalidProblem(f"{_called(leaf)}: it has no value; set parameter.value first")
    entries = value.data if sp.issparse(value) else np.asarray(value)
    if not np.isfinite(entries).all():
        if isinstance(leaf, cp.Parameter):
            raise InvalidProblem(f"{_called(leaf)}: its value is not finite")
        at = np.unravel_index(int(np.argmax(~np.isfinite(entries))), entries.shape)
        place = f"entry {tuple(map(int, at))}" if entries.ndim else "it"
        raise InvalidProblem(f"{_called(leaf)}: {place} is {entries[at]}; constants must be finite")
    least, most = (float(entries.min(initial=0.0)), float(entries.max(initial=0.0)))  # without a copy: data may be large
    for word, declared, worst in (("≥", leaf.is_nonneg(), least), ("≤", leaf.is_nonpos(), most)):
        if declared and worst != 0.0:  # CVXPY checks what is assigned, not what is written into the array
            raise InvalidProblem(f"{_called(leaf)}: declared {word} 0, it holds {worst:g}; convexity rests on the sign")
    return value


def _called(leaf: Any) -> str:
    """What a message calls it: to write a large constant takes longer than to read it."""
    return f"constant {str(leaf)[:80]}" if isinstance(leaf, cp.Constant) else f"parameter {leaf.name()}"


def changing(problem: cp.Problem) -> tuple[Any, ...]:
    """What may change under a problem that was read: the values of parameters, and the arrays that bound variables."""
    given = [v.attributes.get("bounds") for v in problem.variables()]
    bounds = [end for pair in given if isinstance(pair, list | tuple) for end in pair if not isinstance(end, cp.Expression)]
    held_by = [part.tobytes() for end in bounds if end is not None for part in numbers(end)]
    return (*(content(parameter) for parameter in problem.parameters()), *held_by)


def snapshot(problem: cp.Problem) -> tuple[Any, ...]:
    """All numbers of a problem as they are now."""
    return (*(content(constant) for constant in problem.constants()), *changing(problem))


def content(leaf: Any) -> tuple[bytes, ...]:
    """The bytes of what a leaf holds at present."""
    return tuple(part.tobytes() for part in numbers(leaf.value))


def numbers(value: Any) -> tuple[Array, ...]:
    """A constant's numbers; of a sparse one with their places."""
    if sp.issparse(value):
        rows = value.tocsr()
        return rows.indptr, rows.indices, rows.data
    return (np.asarray(value, dtype=float),)
