"""The arithmetic of CVXPY's affine expressions: what `Map.pull` asks of numbers, for multipliers that are variables."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import FLOAT


class Symbol:
    """A flat expression; products are entry by entry."""

    __array_ufunc__ = None  # an array times a symbol is a symbol

    def __init__(self, expression: Any) -> None:
        self.expression = expression if expression.ndim == 1 else cp.reshape(expression, (expression.size,), order="F")

    def __len__(self) -> int:
        return int(self.expression.size)

    def __getitem__(self, at: Any) -> Symbol:
        return Symbol(self.expression[at])

    def __neg__(self) -> Symbol:
        return Symbol(-self.expression)

    def __add__(self, other: Any) -> Symbol:
        return Symbol(self.expression + _plain(other))

    __radd__ = __add__

    def __mul__(self, other: Any) -> Symbol:
        return Symbol(cp.multiply(_plain(other), self.expression))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return self * (1.0 / np.asarray(other))


def _plain(x: Any) -> Any:
    return x.expression if isinstance(x, Symbol) else x


class _Symbolic(type(FLOAT)):  # type: ignore[misc]
    """Floats, and symbols where an operand is one."""

    name = "symbolic"

    def sum(self, x: Any) -> Any:
        return Symbol(cp.sum(x.expression)) if isinstance(x, Symbol) else super().sum(x)

    def dot(self, x: Any, y: Any) -> Any:
        return self.sum(x * y)

    def concat(self, parts: Any) -> Any:
        return Symbol(cp.hstack([_plain(x) for x in parts])) if any(isinstance(x, Symbol) for x in parts) else super().concat(parts)

    def matvec(self, matrix: Any, x: Any) -> Any:
        return Symbol(matrix @ x.expression) if isinstance(x, Symbol) else super().matvec(matrix, x)

    def group_sum(self, x: Any, index: Any, n: int) -> Any:
        if not isinstance(x, Symbol):
            return super().group_sum(x, index, n)
        return self.matvec(sp.csr_matrix((np.ones(len(index)), (index, np.arange(len(index)))), shape=(n, len(index))), x)

    def cumsum(self, x: Any) -> Any:
        return Symbol(cp.cumsum(x.expression)) if isinstance(x, Symbol) else super().cumsum(x)


SYMBOLIC = _Symbolic()
