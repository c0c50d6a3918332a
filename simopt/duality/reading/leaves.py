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

from simopt.ground.arrays import Array
from simopt.ground.errors import InvalidProblem


def value_of(leaf: Any) -> Any:
    """The value that a parameter or a constant holds.

    Raises
    ------
    InvalidProblem
        where it has none, or one that is not finite or not of the sign that was declared.
    """
    what = f"constant {str(leaf)[:80]}" if isinstance(leaf, cp.Constant) else f"parameter {leaf.name()}"
    value = leaf.value
    if value is None:
        raise InvalidProblem(f"{what}: it has no value; set parameter.value first")
    entries = value.data if sp.issparse(value) else np.asarray(value)
    if not np.all(np.isfinite(entries)):
        if isinstance(leaf, cp.Parameter):
            raise InvalidProblem(f"{what}: its value is not finite")
        at = np.unravel_index(int(np.argmax(~np.isfinite(entries))), entries.shape)
        place = f"entry {tuple(map(int, at))}" if entries.ndim else "it"
        raise InvalidProblem(f"{what}: {place} is {entries[at]}; constants must be finite")
    for sign, word, declared in ((1.0, "≥", leaf.is_nonneg()), (-1.0, "≤", leaf.is_nonpos())):
        if declared and np.any(sign * entries < 0.0):  # CVXPY checks what is assigned, not what is written into the array
            worst = float(entries.reshape(-1)[np.argmin(sign * entries)])
            raise InvalidProblem(f"{what}: declared {word} 0, it holds {worst:g}; convexity rests on the sign")
    return value


def diagonal_of(leaf: Any) -> None:
    """Prove the signs that the diagonal of a semidefinite matrix has; they count in its trace and its diagonal.

    Raises
    ------
    InvalidProblem
        where an entry has the other sign.
    """
    for sign, word, declared in ((1.0, "≥", leaf.is_psd()), (-1.0, "≤", leaf.is_nsd())):
        if declared and leaf.ndim == 2:
            value = leaf.value
            diagonal = sign * np.asarray(value.diagonal() if sp.issparse(value) else np.diag(value))
            if np.any(diagonal < 0.0):
                raise InvalidProblem(
                    f"{leaf.name()}: declared {word} 0 as a matrix, its diagonal holds {sign * diagonal.min():g}; convexity rests on the sign"
                )


def content(leaf: Any) -> tuple[bytes, ...]:
    """The bytes of what a leaf holds at present."""
    return tuple(part.tobytes() for part in numbers(leaf.value))


def numbers(value: Any) -> tuple[Array, ...]:
    """A constant's numbers; of a sparse one with their places."""
    if sp.issparse(value):
        rows = value.tocsr()
        return rows.indptr, rows.indices, rows.data
    return (np.asarray(value, dtype=float),)
