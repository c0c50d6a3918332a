"""Weights on a simplex: probability vectors and indices checked, points drawn back onto Δ_k in any arithmetic."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes
from simopt.problems.norms import squares

UNIT_SUM = 1e-9  # |Σ p − 1| allowed of probabilities that are given as floats


def probabilities(name: str, p: npt.ArrayLike, *, length: int | None = None) -> Array:
    """A vector p ≥ 0 with |Σ p − 1| ≤ 1e-9. The floats given are the data: they are not divided by their sum.

    Raises
    ------
    InvalidProblem
        for the wrong length, a value that is negative or not finite (with its index), or a sum that is not 1.
    """
    out = validate.vector(name, p, length=length)
    _check_mass(name, out)
    return out


Probabilities = Annotated[Array, probabilities, Axes("n")]


def joint_probabilities(name: str, p: npt.ArrayLike) -> Array:
    """An (m, 2) array of P(x, y = −1), P(x, y = +1), all ≥ 0, with |Σ p − 1| ≤ 1e-9."""
    out = validate.matrix(name, p, cols=2)
    _check_mass(name, out)
    return out


JointProbabilities = Annotated[Array, joint_probabilities]


def _check_mass(name: str, p: Array) -> None:
    if np.any(p < 0):
        index = np.unravel_index(int(np.argmax(p < 0)), p.shape)
        where = f"index {index[0]}" if p.ndim == 1 else f"row {index[0]}, column {index[1]}"
        raise InvalidProblem(f"{name}: {float(p[index]):g} at {where} is negative; probabilities are numbers ≥ 0 with sum 1")
    total = math.fsum(p.ravel())
    if abs(total - 1.0) > UNIT_SUM:
        hint = "all are 0" if total == 0.0 else "divide by their sum"
        raise InvalidProblem(f"{name}: the probabilities sum to {total:.10g}, expected 1; {hint}")


def indices(name: str, chosen: npt.ArrayLike, size: int) -> npt.NDArray[np.intp]:
    """Distinct whole numbers in 0 … size − 1, at least one.

    Raises
    ------
    InvalidProblem
        naming the entry that is not whole, outside the range, or there twice.
    """
    raw = validate.vector(name, chosen)
    wrong = (raw != np.floor(raw)) | (raw < 0) | (raw >= size)
    if np.any(wrong):
        first = int(np.argmax(wrong))
        raise InvalidProblem(
            f"{name}: entry {first} is {float(raw[first]):g}, an index of one of the {size} points (0 to {size - 1}) needed"
        )
    out = raw.astype(np.intp)
    values, first_at, counts = np.unique(out, return_index=True, return_counts=True)
    if np.any(counts > 1):
        repeated = int(values[np.argmax(counts > 1)])
        raise InvalidProblem(
            f"{name}: point {repeated} is there {int(counts.max())} times (first at {int(first_at[np.argmax(counts > 1)])}); "
            "give each index once, a weight counts for how often"
        )
    out.setflags(write=False)
    return out


def on_simplex(num: Arithmetic, weights: Value) -> Value:
    """max(w, 0)/Σ max(w, 0), in `num`; equal weights where no w_j is positive. Exactly on the simplex in fractions."""
    w = num.pos(num.lift(weights))
    largest = float(np.max(num.mid(w), initial=0.0))
    if largest > 0.0:
        w = w / num.lift(squares.power_of_two(largest))  # so that the sum neither overflows nor vanishes
        total = num.sum(w)
        if num.lower(total) > 0.0:
            return w / total
    count = len(w)
    return (num.zeros(count) + num.lift(1.0)) / count
