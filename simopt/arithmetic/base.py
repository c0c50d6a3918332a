"""The operations that a formula may use, whatever the arithmetic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array

Value = Any


class NotRational(ArithmeticError):
    """The formula leaves the rational numbers here."""


class Arithmetic(ABC):
    """Operations on values: scalars and arrays of one kind of number.

    Scalars and arrays of the same arithmetic combine with + - * /; plain Python numbers combine with them too. `matvec` and `rmatvec`
    take a matrix of floats (which stand for themselves exactly), also a sparse one of SciPy, or a lifted one.

    `groups` gives the group of each entry, a number from 0 on, below `count`. A ValueError names the first that is none.
    """

    name: str

    @abstractmethod
    def lift(self, x: Any) -> Value:
        """Turn floats (exactly) or values into values."""

    @abstractmethod
    def matvec(self, matrix: Any, x: Value) -> Value:
        """A x."""

    def rmatvec(self, matrix: Any, x: Value) -> Value:
        """Aᵀ x."""
        return self.matvec(matrix.T, x)

    @abstractmethod
    def dot(self, x: Value, y: Value) -> Value:
        """Σ x_i y_i."""

    @abstractmethod
    def sum(self, x: Value) -> Value:
        """Σ x_i."""

    @abstractmethod
    def cumsum(self, x: Value) -> Value:
        """Partial sums."""

    @abstractmethod
    def group_sum(self, x: Value, groups: Any, count: int) -> Value:
        """Σ of the entries of each group, 0 exactly for an empty one: entries added up at their places in an array of `count`."""

    @abstractmethod
    def group_max(self, x: Value, groups: Any, count: int) -> Value:
        """Largest entry of each group; a ValueError names an empty one, which has none."""

    @abstractmethod
    def minimum(self, x: Value, y: Value) -> Value:
        """Elementwise minimum."""

    @abstractmethod
    def maximum(self, x: Value, y: Value) -> Value:
        """Elementwise maximum."""

    @abstractmethod
    def abs(self, x: Value) -> Value:
        """Elementwise |x|."""

    @abstractmethod
    def sqrt(self, x: Value) -> Value:
        """Elementwise square root of x ≥ 0."""

    @abstractmethod
    def power(self, x: Value, exponent: float) -> Value:
        """Elementwise x^p for x ≥ 0; p > 0 where x may be 0."""

    @abstractmethod
    def exp(self, x: Value) -> Value:
        """Elementwise e^x."""

    @abstractmethod
    def log(self, x: Value) -> Value:
        """Elementwise natural logarithm of x > 0."""

    @abstractmethod
    def expm1(self, x: Value) -> Value:
        """Elementwise e^x − 1, without cancellation near 0."""

    @abstractmethod
    def log1p(self, x: Value) -> Value:
        """Elementwise log(1 + x) of x > −1, without cancellation near 0."""

    @abstractmethod
    def xlogx(self, x: Value) -> Value:
        """Elementwise x log x of x ≥ 0, with 0 log 0 = 0: the negative entropy."""

    @abstractmethod
    def bennett(self, x: Value) -> Value:
        """Elementwise (1 + x) log(1 + x) − x ≥ 0 of x ≥ −1, without cancellation near 0: the function of Bennett's inequality.

        It is what relative entropies are made of: s log(s/t) − s + t = t b(s/t − 1).
        """

    @abstractmethod
    def max(self, x: Value) -> Value:
        """Largest entry."""

    @abstractmethod
    def zeros(self, n: int) -> Value:
        """n zeros."""

    @abstractmethod
    def concat(self, parts: Sequence[Value]) -> Value:
        """One array after another."""

    @abstractmethod
    def lower(self, x: Value) -> float:
        """A float not above the scalar x."""

    @abstractmethod
    def upper(self, x: Value) -> float:
        """A float not below the scalar x."""

    @abstractmethod
    def mid(self, x: Value) -> Array:
        """The nearest floats."""

    def pos(self, x: Value) -> Value:
        """max(x, 0). An overflow to −∞ does not become 0: the result is as unknown as the number."""
        return self.maximum(x, self.lift(0.0))

    def clip(self, x: Value, low: Any, high: Any) -> Value:
        """min(max(x, low), high)."""
        return self.minimum(self.maximum(x, self.lift(low)), self.lift(high))

    def norm(self, x: Value) -> Value:
        """Euclidean norm."""
        return self.sqrt(self.dot(x, x))


def members(groups: Any, count: int, least: int = 0) -> NDArray[np.intp]:
    """The sizes of the groups, which have at least so many entries each."""
    index = np.asarray(groups)
    wrong = (index < 0) | (index >= count)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(f"groups: entry {i} is in group {index[i]}, where there are groups 0 to {count - 1}; give each entry one of them")
    sizes = np.bincount(index, minlength=count)
    if sizes.size and sizes.min() < least:
        raise ValueError(f"groups: group {int(np.argmin(sizes))} of {count} is empty and has no largest entry; leave it out")
    return sizes


def largest_of_groups(x: Any, groups: Any, count: int) -> Any:
    """Largest number of each group, of which none is empty; floats or fractions. O(n): since NumPy 1.25 nothing that sorts is as fast."""
    out = np.empty(count, dtype=x.dtype)
    out[groups] = x
    with np.errstate(invalid="ignore"):  # unlike np.maximum, it warns of a nan
        np.maximum.at(out, groups, x)
    return out
