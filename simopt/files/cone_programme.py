"""min (or max) f + cᵀx + Σ⟨C_j, X_j⟩ over cones, as CBF files say it, and the CVXPY problem of it.

Rows are g = Ax + Σ_j ⟨F_ij, X_j⟩ + b in a product of cones, and matrices Σ_j x_j H_j + D ⪰ 0; entries of x lie in cones, X_j ⪰ 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from simopt.core.arrays import Array
from simopt.files.names import FileNames, named

LINEAR = {"L=": "equal", "L+": "at least", "L-": "at most"}


@dataclass(frozen=True)
class ConeBlock:
    """Consecutive entries of x, or rows, in one cone; α of a power cone, else 0."""

    kind: str
    start: int
    size: int
    power: float = 0.0


@dataclass(frozen=True, eq=False)
class ConeProgramme:
    """What a CBF file says.

    Attributes
    ----------
    dimensions : tuple of int
        d of each variable X_j.
    weights : dict
        j -> C_j, symmetric, as a column of d² numbers.
    products : dict
        j -> F_ij, symmetric, one row of d² numbers for each row i.
    maps, constants : tuple
        of each matrix that is semidefinite: all H_j, (d², n), and D, (d², 1).
    """

    path: str
    maximises: bool
    offset: float
    cost: Array
    variables: tuple[ConeBlock, ...]
    integers: np.ndarray
    dimensions: tuple[int, ...]
    weights: dict[int, sp.csr_array]
    rows: tuple[ConeBlock, ...]
    matrix: sp.csr_array
    products: dict[int, sp.csr_array]
    right: Array
    maps: tuple[sp.csr_array, ...]
    constants: tuple[sp.csr_array, ...]

    def problem(self) -> cp.Problem:
        """The programme in CVXPY: a variable x, and X0, X1, … for its matrices.

        Linear cones of one kind are one constraint, labelled "x equal", "x at least" or "x at most" and "rows equal", …; others have one
        each, "x 3 to 5 in Q", "rows 3 to 5 in Q". Counting begins at 0. Matrices are labelled "X0" and "matrix 0".
        """
        n = self.cost.size
        whole: dict[str, Any] = {"integer": [np.flatnonzero(self.integers)]} if self.integers.any() else {}
        x = cp.Variable(n, name="x", **whole) if n else None
        matrices = [cp.Variable((d, d), name=f"X{j}", symmetric=True) for j, d in enumerate(self.dimensions)]
        flat = [cp.vec(X, order="F") for X in matrices]
        objective: Any = self.offset
        if x is not None:
            objective = objective + self.cost @ x
        for j, weights in self.weights.items():
            objective = objective + cp.sum(cp.multiply(weights.toarray().reshape(self.dimensions[j], -1, order="F"), matrices[j]))
        entries: dict[str, tuple[str, ...]] = {}
        constraints: list[Any] = []

        def left(chosen: np.ndarray) -> Any:
            """Ax + Σ ⟨F, X⟩ of some rows."""
            parts = [self.matrix[chosen] @ x] if x is not None else []
            parts += [products[chosen] @ flat[j] for j, products in self.products.items()]
            return sum(parts[1:], parts[0]) if parts else cp.Constant(np.zeros(chosen.size))

        if x is not None:
            constraints += _within("x", self.variables, lambda chosen: (x[chosen], np.zeros(chosen.size)), entries)
        constraints += [(X >> 0).set_label(X.name()) for X in matrices]
        constraints += _within("rows", self.rows, lambda chosen: (left(chosen), self.right[chosen]), entries)
        for i, (coefficients, constant) in enumerate(zip(self.maps, self.constants, strict=True)):
            d = int(np.sqrt(constant.shape[0]) + 0.5)
            fixed = constant.toarray().reshape(d, d, order="F")
            value = fixed if x is None else cp.reshape(coefficients @ x, (d, d), order="F") + fixed
            constraints.append((cp.Constant(value) >> 0 if x is None else value >> 0).set_label(f"matrix {i}"))
        problem = cp.Problem((cp.Maximize if self.maximises else cp.Minimize)(objective), constraints)
        return named(problem, FileNames("", tuple(f"x[{j}]" for j in range(n)), entries))


def _within(
    what: str, blocks: tuple[ConeBlock, ...], of: Callable[[np.ndarray], tuple[Any, Array]], entries: dict[str, tuple[str, ...]]
) -> Iterator[Any]:
    """The constraints that put each block in its cone; `of` gives the expression of some entries, and what is added to it."""
    for kind, relation in LINEAR.items():
        parts = [np.arange(block.start, block.start + block.size) for block in blocks if block.kind == kind]
        if parts:
            chosen = np.concatenate(parts)
            expression, constant = of(chosen)
            right = np.where(constant == 0.0, 0.0, -constant)
            row = expression == right if kind == "L=" else expression >= right if kind == "L+" else expression <= right
            entries[f"{what} {relation}"] = tuple(f"{what} {i}" for i in chosen)
            yield row.set_label(f"{what} {relation}")
    for block in blocks:
        if block.kind not in LINEAR and block.kind != "F":
            chosen = np.arange(block.start, block.start + block.size)
            expression, constant = of(chosen)
            label = f"{what} {block.start} to {block.start + block.size - 1} in {block.kind}"
            entries[label] = tuple(f"{what} {i}" for i in chosen)
            yield _in_cone(block, expression + constant if constant.any() else expression).set_label(label)


def _in_cone(block: ConeBlock, y: Any) -> Any:
    """y in the cone; sums and products with numbers are exact, as the factors are 1 and 2.

    QR is 2 y₀y₁ ≥ ‖y₂, …‖² with y₀, y₁ ≥ 0, which is ‖(2y₀ − y₁, 2y₂, …)‖ ≤ 2y₀ + y₁. EXP is y₀ ≥ y₁ exp(y₂/y₁), and its dual EXP*
    y₀ ≥ −y₂ exp(y₁/y₂ − 1), y₂ ≤ 0. POW is y₀^α y₁^(1−α) ≥ |y₂|, and its dual POW* has y₀/α and y₁/(1−α) in their places.
    """
    if block.kind == "Q":
        return cp.SOC(y[0], y[1:]) if block.size > 1 else y[0] >= 0
    if block.kind == "QR":
        return cp.SOC(2 * y[0] + y[1], cp.hstack([2 * y[0] - y[1], 2 * y[2:]]) if block.size > 2 else 2 * y[0] - y[1])
    if block.kind == "EXP":
        return cp.ExpCone(y[2], y[1], y[0])
    if block.kind == "EXP*":
        return cp.ExpCone(y[2] - y[1], -y[2], y[0])
    if block.kind == "POW*":
        return cp.PowCone3D(y[0] / block.power, y[1] / (1.0 - block.power), y[2], block.power)
    return cp.PowCone3D(y[0], y[1], y[2], block.power)
