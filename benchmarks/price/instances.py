"""Linear and convex quadratic programmes from MPS and QPS files, as CVXPY problems that a user would write of them.

A file says: minimise (or maximise) f + cᵀx + ½ xᵀQx subject to l ≤ A x ≤ u and a ≤ x ≤ b. The problem has one variable x of all columns.
Its constraints are the rows with l = u, then those with a finite l, then those with a finite u, and the same of the bounds of x.

Files lie in the folder that SIMOPT_INSTANCES names: `lp/*.mps.gz` and `qp/*.qps.gz`, such as Netlib's, and those of Maros and Mészáros
(*A repository of convex quadratic programming problems*, 1999). simopt carries none of them.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from simopt.core.errors import InvalidProblem, NotAvailable

FOLDER = "SIMOPT_INSTANCES"
ENDINGS = {"lp": ".mps.gz", "qp": ".qps.gz"}  # of the files in these subfolders
LEAST = 1e-12  # size of an entry of A that HiGHS keeps: its smallest setting


@dataclass(frozen=True, eq=False)
class Instance:
    """What a file says: f, c, Q (symmetric), A, and bounds of rows and columns, infinite where there is none."""

    maximises: bool
    offset: float
    cost: np.ndarray
    quadratic: sp.csc_array
    matrix: sp.csr_array
    rows: tuple[np.ndarray, np.ndarray]
    columns: tuple[np.ndarray, np.ndarray]

    def problem(self) -> cp.Problem:
        """The programme in CVXPY; Q is said to be semidefinite (of a maximum −Q), and not checked here."""
        x = cp.Variable(self.cost.size)
        objective = self.cost @ x + self.offset
        if self.quadratic.nnz:
            sign = -1.0 if self.maximises else 1.0
            objective += sign * 0.5 * cp.quad_form(x, sign * self.quadratic, assume_PSD=True)
        constraints = []
        for matrix, (lower, upper) in ((self.matrix, self.rows), (sp.eye_array(x.size, format="csr"), self.columns)):
            equal = lower == upper
            above, below = np.isfinite(lower) & ~equal, np.isfinite(upper) & ~equal
            for chosen, bound, sign in ((equal, lower, 0), (above, lower, 1), (below, upper, -1)):
                if chosen.any():
                    left = (x if chosen.all() else x[chosen]) if matrix is not self.matrix else matrix[chosen] @ x
                    constraints.append(left == bound[chosen] if not sign else left >= bound[chosen] if sign > 0 else left <= bound[chosen])
        return cp.Problem((cp.Maximize if self.maximises else cp.Minimize)(objective), constraints)


def files(kind: str) -> list[Path]:
    """The files of "lp" or "qp", small ones first.

    Raises
    ------
    NotAvailable
        when SIMOPT_INSTANCES is not set, or has no such file.
    """
    ending, named = ENDINGS[kind], os.environ.get(FOLDER, "")
    remedy = f"set {FOLDER} to a folder with {kind}/*{ending}"
    if not named:
        raise NotAvailable(f"{FOLDER} is not set; {remedy}")
    found = sorted((Path(named) / kind).glob(f"*{ending}"), key=lambda path: (path.stat().st_size, path.name))
    if not found:
        raise NotAvailable(f"{FOLDER}={named}: no {kind}/*{ending} there; {remedy}")
    return found


def read(path: Path) -> Instance:
    """What an MPS or QPS file says, packed (.gz) or not; HiGHS reads it.

    Entries of A are kept down to 1e-12. A negative upper bound of a column whose lower bound is 0 frees the lower one, as is usual of MPS.
    HiGHS leaves such a column without any value; its answer is the same for a file that says 0 itself.

    Raises
    ------
    InvalidProblem
        for a file that HiGHS refuses, and for columns that are integers.
    """
    import highspy

    content = path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "instance.mps"  # HiGHS goes by the ending, and knows no .qps
        plain.write_bytes(gzip.decompress(content) if path.suffix == ".gz" else content)
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("small_matrix_value", LEAST)
        if highs.readModel(str(plain)) == highspy.HighsStatus.kError:
            raise InvalidProblem(f"{path.name}: HiGHS cannot read it")
    model = highs.getModel()
    lp, hessian = model.lp_, model.hessian_
    if any(kind != highspy.HighsVarType.kContinuous for kind in lp.integrality_):
        raise InvalidProblem(f"{path.name}: has columns that are integers")
    matrix = lp.a_matrix_
    assert matrix.format_ == highspy.MatrixFormat.kColwise
    n, m = lp.num_col_, lp.num_row_
    lower, upper = np.array(lp.col_lower_), np.array(lp.col_upper_)
    return Instance(
        lp.sense_ == highspy.ObjSense.kMaximize,
        float(lp.offset_),
        np.array(lp.col_cost_),
        _symmetric(n, hessian),
        sp.csr_array(sp.csc_array((matrix.value_, matrix.index_, matrix.start_), shape=(m, n))),
        (np.array(lp.row_lower_), np.array(lp.row_upper_)),
        (np.where((lower == 0.0) & (upper < 0.0), -np.inf, lower), upper),
    )


def _symmetric(n: int, hessian: object) -> sp.csc_array:
    """Q of its lower triangle."""
    if hessian.dim_ == 0:  # type: ignore[attr-defined]
        return sp.csc_array((n, n))
    half = sp.csc_array((hessian.value_, hessian.index_, hessian.start_), shape=(n, n))  # type: ignore[attr-defined]
    return sp.csc_array(half + sp.tril(half, -1).T)
