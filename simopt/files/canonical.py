"""A problem in CVXPY's canonical form, with numbers and no parameters: what formats for cones and for quadratic programmes hold.

min (or max) f + cᵀx + ½ xᵀPx subject to b − Ax in a product of cones, after CVXPY's own reductions, which put variables for functions. Rows
are equations, inequalities, second-order cones, matrices, exponential cones and power cones, in this order. Matrices are their lower
triangles column by column, unscaled; y exp(x/y) ≤ z is (z, y, x) in the exponential, x^α y^(1−α) ≥ |z| is (x, y, z) in the power cone.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints import SOC, ExpCone, NonNeg, PowCone3D, SvecPSD, Zero
from cvxpy.error import DCPError, DGPError, ParameterError, SolverError
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver
from cvxpy.utilities.psd_utils import TriangleKind

from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.files.names import ATTRIBUTE, FileNames

CONES: list[Any] = [Zero, NonNeg, SOC, SvecPSD, ExpCone, PowCone3D]


class _Formatter(ConicSolver):
    """For CVXPY a solver of all these cones, which is asked for its data and never run."""

    MIP_CAPABLE = True
    SUPPORTED_CONSTRAINTS = CONES
    MI_SUPPORTED_CONSTRAINTS = CONES
    EXP_CONE_ORDER: Any = (2, 1, 0)
    PSD_TRIANGLE_KIND: Any = TriangleKind.LOWER
    PSD_SQRT2_SCALING: Any = False

    def __init__(self, quadratic: bool) -> None:
        self.quadratic = quadratic

    def name(self) -> str:
        return "SIMOPT_FILES"

    def import_solver(self) -> None:
        """Nothing to import."""

    def supports_quad_obj(self) -> bool:
        return self.quadratic

    def cite(self, data: Any) -> str:
        return ""

    def solve_via_data(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError("only formats data")


@dataclass(frozen=True, eq=False)
class CanonicalForm:
    """The numbers of a problem, minimised; of a maximum these are those of its negative.

    Attributes
    ----------
    maximises : bool
        whether the problem is a maximum, so that f, c and P have the opposite sign.
    equations, inequalities : int
        rows of these kinds.
    cones, matrices : tuple of int
        sizes of second-order cones, numbers of rows of semidefinite matrices.
    exponential : int
        exponential cones.
    powers : tuple of float
        α of each power cone.
    booleans, integers : array of int
        columns.
    names : tuple of str
        of columns; those of variables that CVXPY has put are "_17".
    """

    maximises: bool
    offset: float
    cost: Array
    quadratic: sp.csc_array
    matrix: sp.csr_array
    right: Array
    equations: int
    inequalities: int
    cones: tuple[int, ...]
    matrices: tuple[int, ...]
    exponential: int
    powers: tuple[float, ...]
    booleans: np.ndarray
    integers: np.ndarray
    names: tuple[str, ...]


def canonical(problem: cp.Problem, quadratic: bool) -> CanonicalForm:
    """The canonical form of a problem; `quadratic` says whether a quadratic objective stays one, or becomes a second-order cone.

    Raises
    ------
    InvalidProblem
        for a problem that is not convex by CVXPY's rules, has a parameter without a value, no variables, numbers that are not finite, or
        a function that CVXPY has no cone for.
    """
    if not isinstance(problem, cp.Problem):
        raise InvalidProblem(f"problem: {type(problem).__name__} given, a cvxpy.Problem needed")
    if not problem.variables():
        raise InvalidProblem("problem: has no variables; there is nothing to choose")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data, _, inverse = problem.get_problem_data(_Formatter(quadratic), ignore_dpp=True)
    except (DCPError, DGPError, ParameterError, SolverError, NotImplementedError, ValueError) as error:
        raise InvalidProblem(f"problem: CVXPY has no canonical form of it ({str(error).strip().splitlines()[0]})") from error
    stuffed, dims, inner = data["param_prob"], data["dims"], inverse[-1]
    quadratic_part = sp.csc_array(data["P"]) if data.get("P") is not None else sp.csc_array((data["c"].size, data["c"].size))
    form = CanonicalForm(
        isinstance(problem.objective, cp.Maximize),
        float(inner["offset"]),
        np.asarray(data["c"], dtype=np.float64),
        quadratic_part,
        sp.csr_array(data["A"]),
        np.asarray(data["b"], dtype=np.float64),
        int(dims.zero),
        int(dims.nonneg),
        tuple(map(int, dims.soc)),
        tuple(map(int, dims.psd)),
        int(dims.exp),
        tuple(map(float, dims.p3d)),
        _flat(stuffed.x.boolean_idx),
        _flat(stuffed.x.integer_idx),
        _names(problem, stuffed, data["c"].size),
    )
    for what, numbers in (
        ("objective", form.cost),
        ("quadratic part", form.quadratic.data),
        ("rows", form.matrix.data),
        ("rows", form.right),
    ):
        if not np.isfinite(numbers).all():
            raise InvalidProblem(f"problem: {what}: a number is not finite; files hold finite ones")
    if not np.isfinite(form.offset):
        raise InvalidProblem("problem: objective: its constant is not finite")
    return form


def _flat(entries: Any) -> np.ndarray:
    return np.array(sorted(int(each[0]) for each in entries or ()), dtype=np.int64)


def _names(problem: cp.Problem, stuffed: Any, n: int) -> tuple[str, ...]:
    """Names of columns: those of the file that a problem was read from, else x or x[2] or X[0,2]; x0, x1, … where two would be equal."""
    names = [f"_{j}" for j in range(n)]
    known = getattr(problem, ATTRIBUTE, None)
    for variable in problem.variables():
        if variable.id not in stuffed.var_id_to_col:
            continue
        start = stuffed.var_id_to_col[variable.id]
        stem = _without_blanks(variable.name())
        if isinstance(known, FileNames) and variable.name() == "x" and len(known.columns) == variable.size:
            entries = [_without_blanks(name) for name in known.columns]
        elif variable.ndim == 0:
            entries = [stem]
        else:
            entries = [f"{stem}[{','.join(map(str, at[::-1]))}]" for at in np.ndindex(*variable.shape[::-1])]
        if start + len(entries) <= n:
            names[start : start + len(entries)] = entries
    if len(set(names)) < n or any(not name or name[0] in "*-$" for name in names):
        return tuple(f"x{j}" for j in range(n))
    return tuple(names)


def _without_blanks(name: str) -> str:
    """The name without blanks and characters that a terminal would obey, and not too long for a line."""
    return "".join(letter if letter.isprintable() and not letter.isspace() else "_" for letter in name)[:100]
