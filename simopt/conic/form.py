"""The conic form of a `cvxpy.Problem`: min ½xᵀPx + cᵀx + d subject to Ax + s = b and s ∈ K, as CVXPY writes it for CLARABEL."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints import PSD
from cvxpy.reductions.cvx_attr2constr import CvxAttr2Constr
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL

from simopt.backends.diagonals import flattened
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.reading.integers import has_integers

ZERO, NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE = "zero", "nonnegative", "second-order", "semidefinite"
EXPONENTIAL, POWER = "exponential", "power"  # of forms in floats alone
REFUSED = {"exp": "exponential cones", "p3d": "power cones", "pnd": "power cones"}  # fields of CVXPY's cone dimensions
LAYOUTS = {"diag": "diagonal", "sparsity": "entries that are not 0"}  # of a variable whose entries are not all in x


class WholeMatrices(CLARABEL):
    """CVXPY's interface to CLARABEL, but a semidefinite row stays the whole matrix: its triangle would be scaled by a rounded √2."""

    SUPPORTED_CONSTRAINTS = [kind for kind in CLARABEL.SUPPORTED_CONSTRAINTS if kind.__name__ != "SvecPSD"] + [PSD]

    def name(self) -> str:
        """A name of its own: CVXPY knows the interface by it."""
        return "CLARABEL with whole matrices"


@dataclass(frozen=True)
class ConicForm:
    """min ½xᵀPx + cᵀx + d subject to Ax + s = b, s ∈ K.

    Attributes
    ----------
    P, A : sparse matrix
        n × n, symmetric; m × n.
    c, b : array of n, of m
    d : float
    cones : list of (kind, size)
        in the order of the rows; a semidefinite cone of order k has k² rows, column by column. Exponential cones, ye^{x/y} ≤ z, and power
        cones, |z| ≤ x^α y^{1−α}, have three; they stand in no certificate file.
    maximises : bool
        whether the problem is a maximum; the form minimises minus its objective.
    variables : list of dict
        name, shape, offset, size and layout of each variable of the problem that CVXPY keeps as a part of x.
    powers : tuple of float
        the α of each power cone.
    """

    P: Any
    c: Array
    A: Any
    b: Array
    d: float
    cones: list[tuple[str, int]]
    maximises: bool
    variables: list[dict[str, Any]]
    powers: tuple[float, ...] = ()

    @property
    def parts(self) -> list[tuple[str, int, slice]]:
        """Kind, size and rows of each cone."""
        ends = np.cumsum([size * size if kind == SEMIDEFINITE else size for kind, size in self.cones], dtype=int).tolist()
        starts = [0, *ends][: len(ends)]
        return [(kind, size, slice(start, end)) for (kind, size), start, end in zip(self.cones, starts, ends, strict=True)]


def conic_form(problem: cp.Problem, quadratic: bool = True, exact: bool = True) -> ConicForm:
    """The conic form of a problem with its parameters at their present values; without `quadratic` squares become second-order cones.

    `exact` refuses the cones that have no proof in fractions.

    Raises
    ------
    Unreadable
        for integers, exponential and power cones if `exact`, and what CVXPY does not canonicalise.
    InvalidProblem
        for data that are not finite, or parameters without values.
    """
    if has_integers(problem):
        raise Unreadable("integer and boolean variables have no conic form", "", "certify their relaxation")
    own = flattened(cp.Problem(problem.objective, problem.constraints))  # a copy: what CVXPY remembers of theirs stays
    options = None if quadratic else {"use_quad_obj": False}
    try:
        data, chain, inverse = own.get_problem_data(WholeMatrices(), solver_opts=options, ignore_dpp=True)
    except cp.error.ParameterError as error:
        raise InvalidProblem(" ".join(str(error).split())[:300]) from error
    except MemoryError:
        raise
    except Exception as error:  # CVXPY's reductions raise whatever they like
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise Unreadable(f"CVXPY writes no conic form of it: {reason}") from error
    stuffed, dims = data["param_prob"], data["dims"]
    for name, what in REFUSED.items():
        if getattr(dims, name) and (exact or name == "pnd"):
            remedy = "zero, nonnegative, second-order and semidefinite ones have"
            raise Unreadable(f"{what} have no exact proof in fractions here", "", remedy)
    has_squares = data.get("P") is not None
    d = float(stuffed.apply_parameters(quad_obj=has_squares)[2 if has_squares else 1])
    sizes = [(ZERO, dims.zero), (NONNEGATIVE, dims.nonneg), *((SECOND_ORDER, n) for n in dims.soc), *((SEMIDEFINITE, n) for n in dims.psd)]
    sizes += [(EXPONENTIAL, 3)] * dims.exp + [(POWER, 3)] * len(dims.p3d)
    n = len(data["c"])
    P = sp.csr_array(sp.triu(data["P"]) + sp.triu(data["P"], 1).T) if has_squares else sp.csr_array((n, n))
    A = sp.csr_array(data["A"]) if data["A"] is not None else sp.csr_array((0, n))
    for matrix in (P, A):
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    form = ConicForm(
        P,
        np.asarray(data["c"], dtype=float),
        A,
        np.asarray(data["b"], dtype=float),
        d,
        [(kind, int(size)) for kind, size in sizes if size],
        isinstance(problem.objective, cp.Maximize),
        _variables(problem, stuffed, _without_attributes(chain, inverse)),
        tuple(map(float, dims.p3d)),
    )
    if form.A.shape[0] != len(form.b) or (form.parts[-1][2].stop if form.parts else 0) != len(form.b):
        raise Unreadable("CVXPY writes rows that its cones do not have", "", "another version of CVXPY may write others")
    if not all(np.isfinite(values).all() for values in (form.P.data, form.c, form.A.data, form.b)) or not math.isfinite(form.d):
        raise InvalidProblem("a constant of the problem is not finite")
    return form


def _without_attributes(chain: Any, inverse: Any) -> dict[int, Any]:
    """Of a variable with attributes, which are rows then, the variable without them that takes its place."""
    for reduction, record in zip(chain.reductions, inverse, strict=False):
        if isinstance(reduction, CvxAttr2Constr) and isinstance(record, tuple) and record and isinstance(record[0], dict):
            return record[0]
    return {}


def _variables(problem: cp.Problem, stuffed: Any, plain: dict[int, Any]) -> list[dict[str, Any]]:
    sizes = {variable.id: variable.size for variable in stuffed.variables}
    listed = []
    for variable in problem.variables():
        own = plain.get(variable.id, variable).id
        if own in sizes and own in stuffed.var_id_to_col:
            size, layout = sizes[own], "column by column"
            if size != variable.size:
                layout = next((text for name, text in LAYOUTS.items() if variable.attributes[name]), "upper triangle, row by row")
            offset = int(stuffed.var_id_to_col[own])
            row = {"name": variable.name(), "shape": list(variable.shape), "offset": offset, "size": size, "layout": layout}
            listed.append(row)
    return listed
