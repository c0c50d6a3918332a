"""A geometric programme as a convex one: x = e^u, and log f(e^u) for f.

CVXPY's own reduction (`Dgp2Dcp`) rounds the logarithms of constants, of bounds, and some weights. Here each stays a formula, which
intervals enclose. So the bounds of the convex problem are proven for the numbers of the geometric one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.diag import diag_vec
from cvxpy.reductions import Dgp2Dcp
from cvxpy.reductions.dgp2dcp.canonicalizers import DgpCanonMethods

from simopt.backends.copies import with_arguments
from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.graph.leaf_values import as_floats
from simopt.duality.reading.leaves import unique
from simopt.duality.reading.library import ones_but
from simopt.duality.reading.version import known_version

Expression = Any
Rule = Callable[[Expression, Sequence[Expression]], Expression]


@dataclass(frozen=True, eq=False)
class LogProblem:
    """The convex problem of a geometric one, and how its parts belong together.

    Attributes
    ----------
    problem : cvxpy.Problem
        min or max of log f(e^u) + offset; each constraint has a label, that of its original or "row 3" for the fourth without one.
    offset : cvxpy.Parameter
        a number added to the objective, so that relative gaps can be measured where log f is near 0, or large.
    variables : tuple
        (x, name, u) for each variable x of the original that has entries; the name is that of x, with a number behind it if others have it.
    constraints : tuple
        (constraint, its convex form).
    auxiliary : tuple
        (expression, variables) for each function that needs variables of its own in the convex problem.
    """

    problem: cp.Problem
    offset: cp.Parameter
    variables: tuple[tuple[cp.Variable, str, cp.Variable], ...]
    constraints: tuple[tuple[Any, Any], ...]
    auxiliary: tuple[tuple[Any, tuple[cp.Variable, ...]], ...] = ()

    @property
    def shift(self) -> float:
        """The present value of the offset."""
        return float(np.asarray(self.offset.value))

    def put_auxiliary_values(self) -> None:
        """The values of `auxiliary` at the values of the original; the inner ones stay as they are where these give none."""
        for e, variables in self.auxiliary:
            inner = e.args[0].value
            if inner is None:
                continue
            with np.errstate(all="ignore"):
                for variable, value in zip(variables, AUXILIARY[type(e)](np.asarray(inner, dtype=float)), strict=True):
                    variable.save_value(value if np.all(np.isfinite(value)) else None)


def log_problem(problem: cp.Problem) -> LogProblem:
    """The convex problem of a geometric programme: min log f(e^u) subject to log g_i(e^u) ≤ log h_i(e^u).

    f and g_i are sums of monomials c·x₁^{a₁} ⋯ x_n^{a_n} with c > 0, h_i is a monomial, or what CVXPY's rules make of these.

    Raises
    ------
    Unreadable
        where it is no geometric programme by CVXPY's rules (DGP), or a variable has an attribute that these do not know.
    """
    known_version()
    if not problem.is_dgp():
        convex = problem.is_dcp()
        remedy = "it is convex as it is written: leave out gp=True" if convex else "see problem.is_dgp(); variables need pos=True"
        raise Unreadable("gp=True: the problem is no geometric programme by CVXPY's rules (DGP)", _culprit(problem), remedy)
    reduction = _Logarithms(problem)
    objective, rows = reduction.canonicalize_tree(problem.objective.expr)
    pairs = []
    for number, constraint in enumerate(problem.constraints):
        form, more = reduction.canonicalize_tree(constraint)
        label = constraint.label or f"row {number}"
        pairs.append((constraint, form.set_label(label)))
        rows += [*more, form]
    labels = {form.label for _, form in pairs}
    count = 0
    for row in rows:
        if row.label is None:
            while (label := f"auxiliary row {count}") in labels:
                count += 1
            labels.add(label)
            row.set_label(label)
    offset = cp.Parameter(value=0.0)
    sense = type(problem.objective)
    inner = reduction.canon_methods._variables
    named = tuple((x, name, inner[x]) for x, name in names_of(problem) if x in inner)
    return LogProblem(cp.Problem(sense(objective + offset), rows), offset, named, tuple(pairs), tuple(reduction.auxiliary))


def names_of(problem: cp.Problem) -> list[tuple[cp.Variable, str]]:
    """The variables that have entries, and names that are their own."""
    variables = [variable for variable in problem.variables() if variable.size]
    return list(zip(variables, unique([variable.name() for variable in variables]), strict=True))


class _Logarithms(Dgp2Dcp):
    """CVXPY's walk through a problem, with exact rules; a rule of CVXPY's own is used where it computes with no constant."""

    def __init__(self, problem: cp.Problem) -> None:
        super().__init__()
        self._id_to_var = {variable.id: variable for variable in problem.variables()}
        self.canon_methods = DgpCanonMethods(reduction=self)
        self.names = {variable.id: f"log {name}" for variable, name in names_of(problem)}
        self.auxiliary: list[tuple[Any, tuple[cp.Variable, ...]]] = []

    def canonicalize_tree(self, expr: Any, canonicalize_params: bool = True) -> tuple[Any, list[Any]]:
        """The logarithm of an expression, and rows that it needs.

        CVXPY takes each constant for a monomial, whatever it is made of: it is read as one number, where the reader knows its functions.
        """
        is_number = isinstance(expr, cp.Expression) and expr.is_constant() and not expr.variables()  # x⁰ is constant, and has one
        if is_number and not {*expr.atoms()} & {*GEOMETRIC}:
            return cp.log(expr), []
        logarithm, rows = super().canonicalize_tree(expr, canonicalize_params)
        return logarithm, rows

    def canonicalize_expr(self, expr: Any, args: list[Any], canonicalize_params: bool = True) -> tuple[Any, list[Any]]:
        """The logarithm of an expression, from those of its arguments, and rows that it needs.

        Raises
        ------
        Unreadable
            where CVXPY has no rule, or one that gives another shape than the expression has.
        """
        kind = type(expr)
        if kind is cp.Variable:
            return self._variable(expr)
        if kind in RULES:
            return RULES[kind](expr, args), []
        has_rule = kind in self.canon_methods or not isinstance(expr, cp.Expression) or _is_log_log(expr)
        logarithm, rows = super().canonicalize_expr(expr, args, canonicalize_params) if has_rule else (None, [])
        if logarithm is None or logarithm.shape != expr.shape:
            raise Unreadable(f"{kind.__name__} in a geometric programme, of such arguments", str(expr), "write it of vectors, or otherwise")
        if kind in AUXILIARY:
            known = {variable.id for variable in args[0].variables()}
            others = (variable for row in rows for variable in row.variables())
            fresh = {variable.id: variable for variable in (logarithm, *others) if variable.id not in known}
            self.auxiliary.append((expr, tuple(fresh.values())))
        return logarithm, rows

    def _variable(self, x: Any) -> tuple[Any, list[Any]]:
        known = self.canon_methods._variables
        if x in known:
            return known[x], []
        for name in ("boolean", "integer", "complex", "hermitian", "imag", "sparsity", "diag", "PSD", "NSD"):
            if x.attributes.get(name):
                raise Unreadable(f"variable {x.name()}: the attribute {name} of a geometric programme is not known", "", "leave it out")
        u = cp.Variable(x.shape, self.names.get(x.id), symmetric=bool(x.attributes.get("symmetric")))
        known[x] = u
        return u, self._bounds(u, x.attributes.get("bounds"))

    def _bounds(self, u: Any, bounds: Any) -> list[Any]:
        """Rows for low ≤ x ≤ high; an equality where both are one number, since no float may be its logarithm."""
        if bounds is None:
            return []
        ends, rows = [], []
        for bound in bounds:
            if isinstance(bound, cp.Expression):
                logarithm, more = self.canonicalize_tree(bound)
                rows += more
                ends.append((logarithm, _numbers(bound.value, u.shape)))
            else:
                ends.append((None, _numbers(bound, u.shape)))
        (_, low), (_, high) = ends
        if high is not None and np.any(high <= 0.0):
            raise Unreadable(f"{u.name()}: the upper bound {np.min(high):g} of a positive variable", "", "no point is feasible; look at it")
        if low is not None and high is not None:
            fixed = (low == high) & (low > 0.0) & np.isfinite(low)
        else:
            fixed = np.zeros(u.size, dtype=bool)
        for (logarithm, numbers), sign in zip(ends, (1, -1), strict=True):
            at = np.flatnonzero(fixed) if sign > 0 else np.zeros(0, dtype=int)
            rows += [_picked(u, at) == self._end(logarithm, numbers, u, at)] if at.size else []
            least = np.ones(u.size, dtype=bool) if numbers is None else (numbers > 0.0) & np.isfinite(numbers)
            at = np.flatnonzero(least & ~fixed)
            if at.size:
                some, end = _picked(u, at), self._end(logarithm, numbers, u, at)
                rows += [some >= end if sign > 0 else some <= end]
        return rows

    @staticmethod
    def _end(logarithm: Any, numbers: Array | None, u: Any, at: Any) -> Any:
        """The logarithms of a bound at some entries."""
        if logarithm is None:
            assert numbers is not None
            return cp.log(cp.Constant(numbers[at]))
        whole = logarithm if logarithm.shape == u.shape else cp.broadcast_to(logarithm, u.shape)
        return _picked(whole, at)


def _numbers(bound: Any, shape: tuple[int, ...]) -> Array | None:
    """A bound as an array of all entries, flat; None of a parameter without a value."""
    if bound is None:
        return None
    return np.broadcast_to(as_floats(bound, "a bound"), shape).reshape(-1, order="F")


def _picked(u: Any, at: Any) -> Any:
    """Entries of an expression, column by column; all of a vector as it is."""
    return cp.vec(u, order="F")[at] if at.size < u.size or u.ndim != 1 else u


def _is_log_log(e: Any) -> bool:
    """Whether the function by itself is log-log convex or concave; CVXPY's rule is then the function of the logarithms."""
    return bool(e.is_atom_log_log_convex() or e.is_atom_log_log_concave())


def _culprit(problem: cp.Problem) -> str:
    if not problem.objective.is_dgp():
        return str(problem.objective)
    return next((str(c) for c in problem.constraints if not c.is_dgp()), "")


def _row(e: Expression, shape: tuple[int, ...]) -> Expression:
    """The entries of an expression, repeated to fill an array of this shape, as a matrix of one row."""
    whole = e if e.shape == shape else cp.broadcast_to(e, shape)
    return cp.reshape(whole, (1, max(1, whole.size)), order="F")


def _sum_of(e: Expression, args: Sequence[Expression]) -> Expression:
    """log Σ_k e^{u_k}, entry by entry."""
    if len(args) == 1:
        return args[0]
    if e.size == 1:
        total = cp.log_sum_exp(cp.hstack([cp.vec(u, order="F") for u in args]))
        return total if e.shape == () else cp.reshape(total, e.shape, order="F")
    return cp.reshape(cp.log_sum_exp(cp.vstack([_row(u, e.shape) for u in args]), axis=0), e.shape, order="F")


def _total(u: Expression, axis: Any = None, keepdims: bool = False) -> Expression:
    return cp.log_sum_exp(u, axis=axis, keepdims=keepdims) if u.ndim else u


def _matrix_product(e: Expression, args: Sequence[Expression]) -> Expression:
    """log Σ_k e^{u_ik + v_kj}, one column after the other."""
    left, right = args
    if left.ndim > 2 or right.ndim > 2:
        raise Unreadable("a product of arrays of more than two dimensions in a geometric programme", str(e), "write products of matrices")
    if left.ndim == 0 or right.ndim == 0:
        return left + right
    k = left.shape[-1]
    left = cp.reshape(left, (left.size // k, k), order="F") if left.ndim == 1 else left
    right = cp.reshape(right, (k, right.size // k), order="F") if right.ndim == 1 else right
    columns = []
    for j in range(right.shape[1]):
        column = cp.broadcast_to(cp.reshape(right[:, j], (1, k), order="F"), left.shape)
        columns.append(cp.log_sum_exp(left + column, axis=1))
    return cp.reshape(cp.hstack(columns), e.shape, order="F")


def _trace(e: Expression, args: Sequence[Expression]) -> Expression:
    if args[0].ndim > 2:
        raise Unreadable("traces of an array of matrices in a geometric programme", str(e), "write one trace a matrix")
    return _total(cp.diag(args[0]))


def _norm(e: Expression, args: Sequence[Expression]) -> Expression:
    """log (Σ e^{pu})^{1/p}: the quotient by p is exact, 1/p is not."""
    p = float(getattr(e, "original_p", e.p))
    return _total(p * args[0], e.axis, e.keepdims) / p


def _diagonal_matrix(e: Expression, args: Sequence[Expression]) -> Expression:
    """CVXPY's own rule has entries 0 beside the diagonal, as if they were logarithms: it reads ones."""
    raise Unreadable(
        "a diagonal matrix in a geometric programme", str(e), "its other entries are 0, and log 0 is no number; use its entries"
    )


def _geometric_mean(e: Expression, args: Sequence[Expression]) -> Expression:
    """Σ w_k u_k / Σ w_k with floats w_k in the exact ratios of the weights."""
    weights = [Fraction(float(w)) if isinstance(w, (float, np.floating)) else Fraction(w) for w in e.p]
    scale = 1 if all(float(w) == w for w in weights) else lcm(*(w.denominator for w in weights))
    exact = [float(w * scale) for w in weights]
    if any(a != w * scale for a, w in zip(exact, weights, strict=True)):
        raise Unreadable("a geometric mean whose weights have a large common denominator", str(e), "give weights that are floats")
    if getattr(e, "axis", None) is not None:  # CVXPY 1.9.0 has geometric means of all entries only
        raise Unreadable("geo_mean along an axis", str(e), "write one geo_mean a row")
    u, n = cp.vec(args[0], order="F"), args[0].size
    if len(weights) < n:  # entries of weight 0 do not enter the mean
        u = u[[i for i in range(n) if not np.any(e.numeric([ones_but(args[0].shape, i)]))]]
    total = sum((w * u[i] for i, w in enumerate(exact[1:], 1)), start=exact[0] * u[0]) / cp.sum(cp.Constant(exact))
    return total if total.shape == e.shape else cp.reshape(total, e.shape, order="F")


def _quadratic_form(e: Expression, args: Sequence[Expression]) -> Expression:
    """log Σ P_ij e^{u_i + u_j}."""
    u, form = args
    n = u.size
    one, other = cp.reshape(u, (n, 1), order="F"), cp.reshape(u, (1, n), order="F")
    return _total(form + cp.broadcast_to(one, (n, n)) + cp.broadcast_to(other, (n, n)))


def _again(e: Expression, args: Sequence[Expression]) -> Expression:
    """A function that commutes with the logarithm, such as a maximum."""
    return with_arguments(e, args)


def _inverse(matrix: Array) -> tuple[Array, ...]:
    """log (I − X)⁻¹."""
    try:
        return (np.log(np.linalg.inv(np.eye(len(matrix)) - matrix)),)
    except np.linalg.LinAlgError:
        return (np.full(matrix.shape, np.nan),)


def _perron(matrix: Array) -> tuple[Array, ...]:
    """The logarithms of the largest eigenvalue of a positive matrix, and of its eigenvector."""
    values, vectors = np.linalg.eig(matrix)
    at = int(np.argmax(values.real))
    return np.log(values[at].real), np.log(np.abs(vectors[:, at].real))


GEOMETRIC = (
    cp.Prod,
    cp.cumprod,
    cp.gmatmul,
    cp.eye_minus_inv,
    cp.pf_eigenvalue,
    cp.one_minus_pos,
    cp.xexp,
)  # read in such programmes alone
AUXILIARY: dict[type, Callable[[Array], tuple[Array, ...]]] = {cp.eye_minus_inv: _inverse, cp.pf_eigenvalue: _perron}
RULES: dict[type, Rule] = {
    cp.AddExpression: _sum_of,
    cp.Sum: lambda e, args: _total(args[0], e.axis, e.keepdims),
    cp.norm1: lambda e, args: _total(args[0], e.axis, e.keepdims),
    cp.Trace: _trace,
    diag_vec: _diagonal_matrix,
    cp.multiply: lambda e, args: args[0] + args[1],
    cp.MulExpression: _matrix_product,
    cp.Pnorm: _norm,
    cp.PnormApprox: _norm,
    cp.norm_inf: lambda e, args: cp.max(args[0], axis=e.axis, keepdims=e.keepdims),
    cp.quad_over_lin: lambda e, args: _total(2.0 * args[0], e.axis, e.keepdims) - args[1],
    cp.QuadForm: _quadratic_form,
    cp.GeoMean: _geometric_mean,
    cp.GeoMeanApprox: _geometric_mean,
    cp.max: _again,
    cp.min: _again,
    cp.maximum: _again,
    cp.minimum: _again,
}  # CVXPY's type -> the logarithm; all others are CVXPY's own rules
