"""min (or max) f + cᵀx + ½ xᵀQx subject to l ≤ Ax ≤ u and a ≤ x ≤ b, as MPS, QPS and LP files say it, and the CVXPY problem of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from simopt.core.arrays import Array
from simopt.core.errors import InvalidFile
from simopt.files.content import quoted
from simopt.files.names import FileNames, named

INFINITE = 1e20  # bounds of this size and above are none, in MPS and LP files
ROWS = ("equal rows", "lower rows", "upper rows")
COLUMNS = ("fixed columns", "lower bounds", "upper bounds")


@dataclass(frozen=True, eq=False)
class FileProgramme:
    """What a file says: f, c, Q (symmetric), A, bounds of rows and columns, infinite where there is none, and names.

    Attributes
    ----------
    path : str
        of the file, for messages.
    integers : array of bool, shape (n,)
    """

    path: str
    name: str
    maximises: bool
    offset: float
    cost: Array
    quadratic: sp.csc_array
    matrix: sp.csr_array
    rows: tuple[Array, Array]
    columns: tuple[Array, Array]
    integers: np.ndarray
    column_names: tuple[str, ...]
    row_names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse what no problem in CVXPY says.

        Raises
        ------
        InvalidFile
            for no columns, a bound that is ∞ on the wrong side, and a quadratic part with a diagonal entry of the wrong sign.
        """
        if not self.column_names:
            raise InvalidFile(f"{self.path}: COLUMNS: has no columns; there is nothing to choose")
        for names, (lower, upper) in ((self.row_names, self.rows), (self.column_names, self.columns)):
            for i in np.flatnonzero((lower >= INFINITE) | (upper <= -INFINITE))[:1]:
                raise InvalidFile(
                    f"{self.path}: {quoted(names[i])}: bounds [{lower[i]:g}, {upper[i]:g}]; {INFINITE:g} and above stands for infinity"
                )
        diagonal = self.quadratic.diagonal()
        for j in np.flatnonzero(diagonal > 0.0 if self.maximises else diagonal < 0.0)[:1]:
            kind = "concave, as a maximum has to be" if self.maximises else "convex"
            name = quoted(self.column_names[j])
            raise InvalidFile(
                f"{self.path}: quadratic part: entry {diagonal[j]:g} of column {name} on the diagonal makes it not {kind}; "
                "only convex problems are read"
            )

    def problem(self) -> cp.Problem:
        """The programme in CVXPY, with one variable x of all columns.

        Constraints are the rows with l = u, then those with a finite l, then those with a finite u, and the same of the bounds of x.
        Q is said to be semidefinite (of a maximum −Q), and not checked here: a certificate proves it, or leaves its bound open.
        Integers with the bounds 0 and 1 are booleans.
        """
        binary = self.integers & (self.columns[0] == 0.0) & (self.columns[1] == 1.0)
        whole = self.integers & ~binary
        kinds = (("boolean", binary), ("integer", whole))
        attributes: dict[str, Any] = {kind: True if at.all() else [np.flatnonzero(at)] for kind, at in kinds if at.any()}
        x = cp.Variable(self.cost.size, name="x", **attributes)
        objective = self.cost @ x + self.offset
        if self.quadratic.nnz:
            sign = -1.0 if self.maximises else 1.0
            objective += sign * 0.5 * cp.quad_form(x, sign * self.quadratic, assume_PSD=True)
        constraints = []
        entries: dict[str, tuple[str, ...]] = {}
        parts = (
            (self.matrix, self.rows, np.ones(len(self.row_names), dtype=bool), self.row_names, ROWS),
            (None, self.columns, ~binary, self.column_names, COLUMNS),
        )
        for matrix, (lower, upper), counted, names, labels in parts:
            equal = counted & (lower == upper)
            above, below = counted & np.isfinite(lower) & ~equal, counted & np.isfinite(upper) & ~equal
            for chosen, bound, sign, label in ((equal, lower, 0, labels[0]), (above, lower, 1, labels[1]), (below, upper, -1, labels[2])):
                if chosen.any():
                    left = (x if chosen.all() else x[chosen]) if matrix is None else matrix[chosen] @ x
                    row = left == bound[chosen] if not sign else left >= bound[chosen] if sign > 0 else left <= bound[chosen]
                    constraints.append(row.set_label(label))
                    entries[label] = tuple(names[i] for i in np.flatnonzero(chosen))
        problem = cp.Problem((cp.Maximize if self.maximises else cp.Minimize)(objective), constraints)
        return named(problem, FileNames(self.name, self.column_names, entries))


def widened(bounds: Array) -> Array:
    """Bounds of size 1e20 and above as infinite ones."""
    return np.where(np.abs(bounds) >= INFINITE, np.copysign(np.inf, bounds), bounds)
