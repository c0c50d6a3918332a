"""The arithmetic of CVXPY's affine expressions, for `Map.pull` with multipliers that are variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from simopt.arithmetic.floating import Floating


class Symbol:
    """A flat expression; products are entry by entry."""

    __array_ufunc__ = None  # an array times a symbol is a symbol

    def __init__(self, expression: cp.Expression) -> None:
        self.expression = expression if expression.ndim == 1 else cp.reshape(expression, (expression.size,), order="F")

    def __len__(self) -> int:
        return int(self.expression.size)

    def __getitem__(self, at: Any) -> Symbol:
        return Symbol(self.expression[at])

    def __neg__(self) -> Symbol:
        return Symbol(-self.expression)

    def __add__(self, other: Any) -> Symbol:
        return Symbol(self.expression + plain(other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Symbol:
        return Symbol(cp.multiply(plain(other), self.expression))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return self * (1.0 / np.asarray(other))


def plain(x: Any) -> Any:
    """The expression of a symbol; numbers as they are."""
    return x.expression if isinstance(x, Symbol) else x


def expression(x: Any) -> cp.Expression:
    """Symbols and numbers as expressions."""
    return x.expression if isinstance(x, Symbol) else cp.Constant(x)


class _Symbolic(Floating):
    """Floats, and symbols where an operand is one."""

    name = "symbolic"

    def sum(self, x: Any) -> Any:
        if not isinstance(x, Symbol):
            return super().sum(x)
        return x if len(x) == 1 else Symbol(cp.sum(x.expression))

    def dot(self, x: Any, y: Any) -> Any:
        return self.sum(x * y)

    def concat(self, parts: Sequence[Any]) -> Any:
        return Symbol(cp.hstack([plain(x) for x in parts])) if any(isinstance(x, Symbol) for x in parts) else super().concat(parts)

    def matvec(self, matrix: Any, x: Any) -> Any:
        return Symbol(matrix @ x.expression) if isinstance(x, Symbol) else super().matvec(matrix, x)

    def group_sum(self, x: Any, groups: Any, count: int) -> Any:
        if not isinstance(x, Symbol):
            return super().group_sum(x, groups, count)
        return self.matvec(sp.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))), shape=(count, len(groups))), x)

    def cumsum(self, x: Any) -> Any:
        return Symbol(cp.cumsum(x.expression)) if isinstance(x, Symbol) else super().cumsum(x)


SYMBOLIC = _Symbolic()
