"""A linear programme kept by HiGHS between solves: built once, its bounds changed, solved again from the last basis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from simopt.core.arrays import Array
from simopt.solvers.goodness.exact_pivots import BASIC, LOWER, NEITHER, UPPER

TOLERANCE = 1e-9  # absolute, on numbers of size 1
SMALL = 1e-12  # entries below that are dropped; the least that HiGHS admits
OPTIONS: dict[str, Any] = {
    "presolve": "off",
    "solver": "simplex",
    "simplex_strategy": 1,  # dual: a change of bounds leaves the basis dual feasible
    "parallel": "off",
    "simplex_scale_strategy": 0,  # entries are of size 1 already; its scaling costs pivots
    "small_matrix_value": SMALL,
    "primal_feasibility_tolerance": TOLERANCE,
    "dual_feasibility_tolerance": TOLERANCE,
}


@dataclass(frozen=True)
class Basic:
    """A vertex: values of the columns, multipliers of the rows (∂value/∂right-hand side), pivots since the last one."""

    columns: Array
    rows: Array
    iterations: int


class HighsProgramme:
    """min costs·x subject to low ≤ x ≤ high and row_low ≤ Ax ≤ row_high, by the dual simplex method.

    Parameters
    ----------
    blocks : list of (m, k) matrices
        A, side by side; dense or sparse. Entries should be of size 1: those below 1e-12 are dropped (1e-9 is what HiGHS does by default).
    costs, low, high : (n,) array
    row_low, row_high : (m,) array
    """

    def __init__(
        self,
        blocks: list[Any],
        costs: Array,
        low: Array,
        high: Array,
        row_low: npt.ArrayLike,
        row_high: npt.ArrayLike,
    ) -> None:
        import highspy

        matrix = scipy.sparse.hstack([scipy.sparse.csc_array(block) for block in blocks], format="csc")
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = matrix.shape
        model.col_cost_, model.col_lower_, model.col_upper_ = costs, low, high
        model.row_lower_, model.row_upper_ = np.asarray(row_low, dtype=float), np.asarray(row_high, dtype=float)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        model.a_matrix_.value_ = matrix.data
        create: Any = highspy.Highs  # whose class has no types
        self.highs = create()
        self.highs.silent()
        for name, value in OPTIONS.items():
            self.highs.setOptionValue(name, value)
        self.highs.passModel(model)

    def set_bounds(self, count: int, low: Array, high: Array) -> None:
        """New bounds of the first `count` columns."""
        self.highs.changeColsBounds(count, np.arange(count, dtype=np.int32), low, high)

    def solve(self) -> Basic:
        """A vertex that is optimal to the tolerance of HiGHS, from the last one.

        If rounding keeps HiGHS from being sure, it starts again without a basis. The result is returned as it is, since others certify its
        bounds.

        Raises
        ------
        ArithmeticError
            with HiGHS's own word, when the programme has no solution or none was found.
        """
        import highspy

        self.highs.run()
        if self.highs.getModelStatus() == highspy.HighsModelStatus.kUnknown:
            self.highs.clearSolver()
            self.highs.run()
        status = self.highs.getModelStatus()
        found, info = self.highs.getSolution(), self.highs.getInfo()
        if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kUnknown) or not found.dual_valid:
            raise ArithmeticError(f"HiGHS: {self.highs.modelStatusToString(status)}")
        return Basic(np.array(found.col_value), np.array(found.row_dual), int(info.simplex_iteration_count))

    def sides(self) -> list[int]:
        """Where each column is, then each row, in the words of `exact_pivots`; all rows basic where HiGHS has no basis."""
        import highspy

        names = {
            highspy.HighsBasisStatus.kBasic: BASIC,
            highspy.HighsBasisStatus.kLower: LOWER,
            highspy.HighsBasisStatus.kUpper: UPPER,
        }
        found, model = self.highs.getBasis(), self.highs.getLp()
        if not found.valid:
            return [NEITHER] * model.num_col_ + [BASIC] * model.num_row_
        return [names.get(status, NEITHER) for status in (*found.col_status, *found.row_status)]
