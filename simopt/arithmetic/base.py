"""What a formula may ask of an arithmetic."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from simopt.arrays import Array

Value = Any


class NotRational(ArithmeticError):
    """The formula leaves the rational numbers here."""


class Arithmetic(ABC):
    """Operations on values: scalars and arrays of one kind of number.

    Scalars and arrays of the same arithmetic combine with + - * /; plain Python numbers combine with them too. `matvec` and `rmatvec`
    take a matrix of floats (which stand for themselves exactly) or a lifted one.
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
        """max(x, 0). Of a number that overflowed it is as unknown as the number: an overflow to −∞ does not become 0."""
        return self.maximum(x, self.lift(0.0))

    def clip(self, x: Value, low: Any, high: Any) -> Value:
        """min(max(x, low), high)."""
        return self.minimum(self.maximum(x, self.lift(low)), self.lift(high))

    def norm(self, x: Value) -> Value:
        """Euclidean norm."""
        return self.sqrt(self.dot(x, x))
