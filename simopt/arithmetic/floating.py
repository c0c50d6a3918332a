"""float64, for the everyday certificate: no rigour beyond that of the formula.

A sum of products that overflowed may have any value, also a small one (1e200² − 1e200²), and any sign. It is nan here, which no later
maximum, minimum or root turns back into a number. So in a finite bound no sum has overflowed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simopt.arithmetic import elementary, sparse
from simopt.arithmetic.base import Arithmetic, Value, largest_of_groups, members
from simopt.core.arrays import Array
from simopt.core.frozen_matrix import matvec


class Floating(Arithmetic):
    """Plain float64."""

    name = "float"

    def lift(self, x: Any) -> Value:
        """Float64 scalar or array."""
        array = np.asarray(x, dtype=float)
        return float(array) if array.ndim == 0 else array

    def matvec(self, matrix: Any, x: Value) -> Value:
        """A x."""
        return _known(sparse.compressed(matrix) @ x if sparse.is_sparse(matrix) else matvec(np.asarray(matrix), x))

    def dot(self, x: Value, y: Value) -> Value:
        """Σ x_i y_i."""
        total = float(np.dot(x, y))
        return total if math.isfinite(total) else math.nan

    def sum(self, x: Value) -> Value:
        """Σ x_i."""
        total = float(np.sum(x))
        return total if math.isfinite(total) else math.nan

    def cumsum(self, x: Value) -> Value:
        """Partial sums."""
        return _known(np.cumsum(x))

    def group_sum(self, x: Value, groups: Any, count: int) -> Value:
        """Σ of the entries of each group."""
        members(groups, count)
        return _known(np.bincount(groups, weights=x, minlength=count))

    def group_max(self, x: Value, groups: Any, count: int) -> Value:
        """Largest entry of each group; nan where one is −∞, as for `pos`."""
        members(groups, count, least=1)
        return largest_of_groups(np.where(np.isneginf(x), np.nan, x), groups, count)

    def minimum(self, x: Value, y: Value) -> Value:
        """Elementwise minimum."""
        return np.minimum(x, y)

    def maximum(self, x: Value, y: Value) -> Value:
        """Elementwise maximum."""
        return np.maximum(x, y)

    def pos(self, x: Value) -> Value:
        """max(x, 0); nan for −∞, which is a number that overflowed and not one known to be negative."""
        if isinstance(x, np.ndarray) and x.ndim:
            out = np.maximum(x, 0.0)
            return np.where(np.isneginf(x), np.nan, out) if x.size and x.min() == -np.inf else out
        return np.nan if x == -np.inf else np.maximum(x, 0.0)

    def abs(self, x: Value) -> Value:
        """Elementwise |x|."""
        return np.abs(x)

    def sqrt(self, x: Value) -> Value:
        """Square root; rounding below zero counts as zero."""
        return np.sqrt(self.pos(x))

    def norm(self, x: Value) -> Value:
        """Euclidean norm, scaled against overflow and underflow."""
        largest = float(np.max(np.abs(x), initial=0.0))
        if largest == 0.0 or not np.isfinite(largest):
            return largest
        return largest * float(np.linalg.norm(np.asarray(x) / largest))

    def power(self, x: Value, exponent: float) -> Value:
        """x^p of x ≥ 0; rounding below zero counts as zero."""
        return np.power(self.pos(x), exponent)

    def exp(self, x: Value) -> Value:
        """Elementwise e^x."""
        return np.exp(x)

    def log(self, x: Value) -> Value:
        """Elementwise natural logarithm."""
        return np.log(x)

    def expm1(self, x: Value) -> Value:
        """Elementwise e^x − 1."""
        return np.expm1(x)

    def log1p(self, x: Value) -> Value:
        """Elementwise log(1 + x)."""
        return np.log1p(x)

    def xlogx(self, x: Value) -> Value:
        """x log x of x ≥ 0; rounding below zero counts as zero."""
        known = self.pos(x)
        return known * np.log(np.where(known == 0.0, 1.0, known))

    def bennett(self, x: Value) -> Value:
        """(1 + x) log(1 + x) − x of x ≥ −1; rounding below −1 counts as −1."""
        return elementary.bennett(np.maximum(np.where(np.isneginf(x), np.nan, x), -1.0))[0]

    def max(self, x: Value) -> Value:
        """Largest entry."""
        return float(np.max(x))

    def zeros(self, n: int) -> Value:
        """n zeros."""
        return np.zeros(n)

    def concat(self, parts: Sequence[Value]) -> Value:
        """One array after another."""
        return np.concatenate([np.atleast_1d(p) for p in parts])

    def lower(self, x: Value) -> float:
        """The float itself."""
        return float(x)

    def upper(self, x: Value) -> float:
        """The float itself."""
        return float(x)

    def mid(self, x: Value) -> Array:
        """The floats themselves."""
        return np.asarray(x, dtype=float)


def _known(sums: Any) -> Any:
    """Sums of products, nan where one overflowed (which their own sum, quickly computed, shows)."""
    return sums if math.isfinite(sums.sum()) else np.where(np.isfinite(sums), sums, np.nan)


FLOAT = Floating()
