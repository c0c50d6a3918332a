"""Exact rational numbers (`fractions.Fraction`), for formulas that stay among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.arithmetic import sparse
from simopt.arithmetic.base import Arithmetic, NotRational, Value, largest_of_groups, members
from simopt.core.arrays import Array


class Exact(Fraction):
    """A fraction that takes floats at their exact value. Python's `Fraction` would become a float in the first operation with one."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return _apply(Fraction.__add__, self, other)

    def __radd__(self, other: Any) -> Any:
        return _apply(Fraction.__radd__, self, other)

    def __sub__(self, other: Any) -> Any:
        return _apply(Fraction.__sub__, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _apply(Fraction.__rsub__, self, other)

    def __mul__(self, other: Any) -> Any:
        return _apply(Fraction.__mul__, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _apply(Fraction.__rmul__, self, other)

    def __truediv__(self, other: Any) -> Any:
        return _apply(Fraction.__truediv__, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _apply(Fraction.__rtruediv__, self, other)

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int):
            raise NotRational(f"the power {exponent} is not a whole number; use num.power")
        return Exact(Fraction.__pow__(self, exponent))

    def __neg__(self) -> Exact:
        return Exact(Fraction.__neg__(self))

    def __pos__(self) -> Exact:
        return self

    def __abs__(self) -> Exact:
        return Exact(Fraction.__abs__(self))


def _exact(x: Any) -> Exact:
    if isinstance(x, Exact):
        return x
    return Exact(x.item() if isinstance(x, np.generic) else x)  # numpy's integers would overflow inside a fraction


def _apply(operation: Any, one: Exact, other: Any) -> Any:
    result = operation(one, Fraction(_exact(other)) if isinstance(other, (float, np.generic)) else other)
    return Exact(result) if isinstance(result, Fraction) else result


def _inner(x: Any, y: Any) -> Exact:
    """Σ x_i y_i over the common denominator, a power of two for floats: the sum is reduced once, not after every term."""
    pairs = [(a.as_integer_ratio(), b.as_integer_ratio()) for a, b in zip(x, y, strict=True) if a and b]
    products = [(p * r, q * s) for (p, q), (r, s) in pairs]  # (p/q)(r/s)
    common = math.lcm(*(denominator for _, denominator in products))
    return Exact(sum(numerator * (common // denominator) for numerator, denominator in products), common)


class Rational(Arithmetic):
    """Fractions in scalars and in object arrays. Comparisons of fractions are exact, so NumPy's loops over objects are exact, too."""

    name = "rational"

    def lift(self, x: Any) -> Value:
        """The exact value of floats; fractions stay as they are."""
        array = np.asarray(x, dtype=object)
        if array.ndim == 0:
            return _exact(array.item())
        lifted = np.empty(array.shape, dtype=object)
        for index, entry in np.ndenumerate(array):
            lifted[index] = _exact(entry)
        return lifted

    def matvec(self, matrix: Any, x: Value) -> Value:
        """A x, row by row, skipping the zeros of A."""
        if sparse.is_sparse(matrix):
            sums = [_inner(entries, x[columns]) for entries, columns in sparse.rows(matrix)]
        else:
            sums = [_inner(row, x) for row in np.asarray(matrix, dtype=object)]
        return np.array(sums, dtype=object)

    def dot(self, x: Value, y: Value) -> Value:
        """Σ x_i y_i."""
        return _inner(self.lift(x), self.lift(y))

    def sum(self, x: Value) -> Value:
        """Σ x_i."""
        return sum(self.lift(x), Exact(0))

    def cumsum(self, x: Value) -> Value:
        """Partial sums."""
        return np.cumsum(self.lift(x))

    def group_sum(self, x: Value, groups: Any, count: int) -> Value:
        """Σ of the entries of each group."""
        members(groups, count)
        out = self.zeros(count)
        np.add.at(out, groups, self.lift(x))
        return out

    def group_max(self, x: Value, groups: Any, count: int) -> Value:
        """Largest entry of each group."""
        members(groups, count, least=1)
        return largest_of_groups(self.lift(x), groups, count)

    def minimum(self, x: Value, y: Value) -> Value:
        """Elementwise minimum."""
        return np.minimum(self.lift(x), self.lift(y))

    def maximum(self, x: Value, y: Value) -> Value:
        """Elementwise maximum."""
        return np.maximum(self.lift(x), self.lift(y))

    def abs(self, x: Value) -> Value:
        """Elementwise |x|."""
        return abs(self.lift(x))

    def sqrt(self, x: Value) -> Value:
        """Square root where it is rational."""
        if isinstance(x, np.ndarray):
            return self._each(self.sqrt, x)
        value = Fraction(x)
        if value < 0:
            raise NotRational(f"square root of the negative number {value}")
        top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if top * top != value.numerator or bottom * bottom != value.denominator:
            raise NotRational(f"the square root of {value} is not rational; use INTERVAL")
        return Exact(top, bottom)

    def power(self, x: Value, exponent: float) -> Value:
        """x^p for p a whole or half number, where the result is rational."""
        if isinstance(x, np.ndarray):
            return self._each(lambda entry: self.power(entry, exponent), x)
        twice = Fraction(exponent) * 2
        if twice.denominator != 1:
            raise NotRational(f"the power {exponent} is not a multiple of 1/2; use INTERVAL")
        whole, half = divmod(twice.numerator, 2)
        value = Exact(x) ** whole
        return value * self.sqrt(x) if half else value

    def exp(self, x: Value) -> Value:
        """Refused: e^x is rational at x = 0 only."""
        raise NotRational("exponentials are not rational; use INTERVAL")

    def log(self, x: Value) -> Value:
        """Refused: of the positive rationals only 1 has a rational logarithm."""
        raise NotRational("logarithms are not rational; use INTERVAL")

    def expm1(self, x: Value) -> Value:
        """Refused like e^x."""
        return self.exp(x)

    def log1p(self, x: Value) -> Value:
        """Refused like log x."""
        return self.log(x)

    def xlogx(self, x: Value) -> Value:
        """Refused like log x."""
        return self.log(x)

    def bennett(self, x: Value) -> Value:
        """Refused like log x."""
        return self.log(x)

    def max(self, x: Value) -> Value:
        """Largest entry."""
        return max(self.lift(x))

    def zeros(self, n: int) -> Value:
        """n zeros."""
        return self.lift(np.zeros(n))

    def concat(self, parts: Sequence[Value]) -> Value:
        """One array after another."""
        return np.concatenate([np.atleast_1d(np.asarray(p, dtype=object)) for p in parts])

    def lower(self, x: Value) -> float:
        """The largest float not above x, which may be an infinite float."""
        return x if isinstance(x, float) and math.isinf(x) else _round(Fraction(x), -math.inf)

    def upper(self, x: Value) -> float:
        """The smallest float not below x, which may be an infinite float."""
        return x if isinstance(x, float) and math.isinf(x) else _round(Fraction(x), math.inf)

    def mid(self, x: Value) -> Array:
        """Nearest floats."""
        return np.asarray(x, dtype=object).astype(float)

    @staticmethod
    def _each(function: Any, x: Any) -> Value:
        out = np.empty(x.shape, dtype=object)
        for index, entry in np.ndenumerate(x):
            out[index] = function(entry)
        return out


def _round(x: Fraction, towards: float) -> float:
    try:
        value = float(x)
    except OverflowError:
        value = math.inf if x > 0 else -math.inf
    if math.isinf(value):
        return value if (value > 0) == (towards > 0) else math.nextafter(value, 0.0)
    wrong = Fraction(value) < x if towards > 0 else Fraction(value) > x
    return math.nextafter(value, towards) if wrong else value


RATIONAL = Rational()
