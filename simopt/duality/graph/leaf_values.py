"""The values of constants and parameters, and proofs of their declared properties.

CVXPY's rules of sign and curvature rest on declared properties of leaves. CVXPY checks a value when it is assigned, to a tolerance, and
caches what it saw of a constant. Here signs are proven for the present numbers, each time that they are read. The quadratic form proves
that its matrix is semidefinite. No bound rests on other properties (symmetry, bounds, zeros, whole numbers).
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
        where it has none, or one that is no float, not finite, or not of the sign that was declared.
    """
    value = leaf.value
    if value is None:
        raise InvalidProblem(f"{_called(leaf)}: it has no value; set parameter.value first")
    entries = value.data if sp.issparse(value) else np.asarray(value)
    if isinstance(leaf, cp.Parameter):  # CVXPY itself makes floats of constants, and of arrays
        entries = as_floats(entries, _called(leaf))
    if not np.isfinite(entries).all():
        if isinstance(leaf, cp.Parameter):
            raise InvalidProblem(f"{_called(leaf)}: its value is not finite")
        at = np.unravel_index(int(np.argmax(~np.isfinite(entries))), entries.shape)
        subject = f"entry {tuple(map(int, at))}" if entries.ndim else "it"
        raise InvalidProblem(f"{_called(leaf)}: {subject} is {entries[at]}; constants must be finite")
    least, most = (float(entries.min(initial=0.0)), float(entries.max(initial=0.0)))  # without a copy: data may be large
    for sign, declared, worst in (("≥", leaf.is_nonneg(), least), ("≤", leaf.is_nonpos(), most)):
        if declared and worst != 0.0:  # CVXPY checks what is assigned, not what is written into the array
            raise InvalidProblem(f"{_called(leaf)}: declared {sign} 0, it holds {worst:g}; convexity rests on the sign")
    return value


def as_floats(value: Any, called: str) -> Array:
    """A user's numbers as an array of floats; complex ones stay complex.

    Raises
    ------
    InvalidProblem
        where one of them is no float, as an integer beyond 2⁵³ may be: a bound of the rounded problem is none of the user's.
    """
    entries = np.asarray(value.toarray() if sp.issparse(value) else value)
    if entries.dtype.kind in "bc" or (entries.dtype.kind in "iuf" and entries.dtype.itemsize < 8) or entries.dtype == float:
        return entries
    try:
        nearest = np.asarray(entries, dtype=float)
    except OverflowError:
        raise InvalidProblem(f"{called}: one of its integers is beyond all floats") from None
    pairs = enumerate(zip(entries.reshape(-1).tolist(), nearest.reshape(-1).tolist(), strict=True))
    if (at := next((i for i, (number, near) in pairs if number != near and near == near), None)) is not None:
        number, index = entries.reshape(-1)[at], tuple(map(int, np.unravel_index(at, entries.shape)))
        raise InvalidProblem(
            f"{called}: {f'entry {index}' if index else 'it'} is {number}, which no float is; "
            f"the nearest is {float(nearest.reshape(-1)[at])!r}: give that, or choose another unit"
        )
    return nearest


def _called(leaf: Any) -> str:
    """The name of a leaf in messages; long constants are cut, as formatting them is slow."""
    return f"constant {str(leaf)[:80]}" if isinstance(leaf, cp.Constant) else f"parameter {leaf.name()}"


def changing(problem: cp.Problem) -> tuple[Any, ...]:
    """The values that may change under a problem that was read: those of parameters, and the arrays that bound variables."""
    pairs = [v.attributes.get("bounds") for v in problem.variables()]
    bounds = [end for pair in pairs if isinstance(pair, list | tuple) for end in pair if not isinstance(end, cp.Expression)]
    contents = [part.tobytes() for end in bounds if end is not None for part in numbers(end)]
    return (*(content(parameter) for parameter in problem.parameters()), *contents)


def snapshot(problem: cp.Problem) -> tuple[Any, ...]:
    """All numbers of a problem at present."""
    return (*(content(constant) for constant in problem.constants()), *changing(problem))


def content(leaf: Any) -> tuple[bytes, ...]:
    """The bytes of a leaf's present value."""
    return tuple(part.tobytes() for part in numbers(leaf.value))


def numbers(value: Any) -> tuple[Array, ...]:
    """A constant's numbers; for a sparse one with their indices."""
    if sp.issparse(value):
        rows = value.tocsr()
        return rows.indptr, rows.indices, rows.data
    if np.iscomplexobj(value):
        return (np.asarray(value).real, np.asarray(value).imag)
    entries = np.asarray(value, dtype=float if value is None else None)  # not as floats: a number that is none would look like one
    if entries.dtype.kind in "biuf":
        return (entries,)
    return (np.frombuffer(repr(entries.tolist()).encode(), dtype=np.uint8),)  # Python's whole numbers of any length
