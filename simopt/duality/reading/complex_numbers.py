"""A problem with complex numbers as one of real numbers: z = a + ib, and each constraint by its real and its imaginary part.

The parts of constants are floats, as they are: nothing is rounded. |z| is the Euclidean norm of (a, b).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.binary_operators import DivExpression
from cvxpy.atoms.affine.wraps import nsd_wrap, psd_wrap, symmetric_wrap
from cvxpy.reductions import Complex2Real
from cvxpy.reductions.complex2real.canonicalizers import Complex2RealCanonMethods
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.backends.copies import with_arguments
from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.graph.leaf_values import value_of
from simopt.duality.reading.convexity import convex
from simopt.duality.reading.geometric import names_of
from simopt.duality.reading.version import known_version

IMAGINARY = ", imaginary part"  # behind the label of a constraint
PARTS = ("complex", "imag", "hermitian", "diag", "sparsity", "PSD", "NSD")  # attributes of complex variables that are read
TWICE = (cp.tr_inv, cp.von_neumann_entr, cp.quantum_rel_entr)  # half of that of the real matrix, which has each eigenvalue twice


@dataclass(frozen=True, eq=False)
class SplitVariable:
    """A complex variable and the real variables of its parts; None for a part that is 0, or fixed by the other."""

    variable: cp.Variable
    name: str
    real: cp.Variable | None
    imaginary: cp.Variable | None
    skew: Any = None  # of a Hermitian variable: the matrix that makes Im z, column by column, of the entries above the diagonal

    def value(self, real: Array | None, imaginary: Array | None) -> Any:
        """The complex value with these parts."""
        shape = self.variable.shape
        a = np.zeros(shape) if real is None else np.reshape(real, shape, order="F")
        b = np.zeros(self.variable.size) if imaginary is None else np.reshape(imaginary, -1, order="F")
        whole = b if self.skew is None else self.skew @ b if imaginary is not None else np.zeros(self.variable.size)
        return a + 1j * np.reshape(whole, shape, order="F")

    def parts(self, value: Any) -> tuple[Array, Array]:
        """Real part, and imaginary part, that of a Hermitian variable as the entries above the diagonal."""
        z = np.reshape(np.asarray(value, dtype=complex), self.variable.shape, order="F")
        if self.skew is None:
            return z.real, z.imag
        return (z.real + z.real.T) / 2, (z.imag - z.imag.T)[np.triu_indices(len(z), 1)] / 2


@dataclass(frozen=True, eq=False)
class RealProblem:
    """The real problem of a complex one, and how its parts belong together.

    Attributes
    ----------
    problem : cvxpy.Problem
        its real variables are those of the original; each constraint has a label, that of its original or "row 3" for the fourth without
        one, and ", imaginary part" behind it for that part.
    variables : tuple of SplitVariable
    constraints : tuple
        (constraint, its real part, its imaginary part); None for a part that there is not.
    """

    problem: cp.Problem
    variables: tuple[SplitVariable, ...]
    constraints: tuple[tuple[Any, Any, Any], ...]


def is_complex(problem: cp.Problem) -> bool:
    """Whether a variable, a parameter or a constant of the problem is complex."""
    return any(leaf.is_complex() for leaf in (*problem.variables(), *problem.parameters(), *problem.constants()))


def real_problem(problem: cp.Problem) -> RealProblem:
    """The problem in real and imaginary parts.

    Raises
    ------
    Unreadable
        where it is not convex by CVXPY's rules, or has a function or an attribute of complex numbers that is not known.
    """
    known_version()
    convex(problem)
    names = {variable.id: name for variable, name in names_of(problem)}
    split = [_split(v, names[v.id]) for v in problem.variables() if v.is_complex() and v.size]
    reduction: Any = _RealParts()
    leaves = {each.variable: _expressions(each) for each in split}
    others = _IdsOfImaginaryParts()
    objective, _ = reduction.canonicalize_tree(problem.objective, others, leaves)
    rows, links = list[Any](), []
    for number, constraint in enumerate(problem.constraints):
        label = constraint.label or f"row {number}"
        parts = [_alone(part) for part in reduction.canonicalize_tree(constraint, others, leaves)]
        rows += [part.set_label(f"{label}{ending}") for part, ending in zip(parts, ("", IMAGINARY), strict=True) if part is not None]
        links.append((constraint, *parts))
    for each in split:
        for name in ("PSD", "NSD"):
            if each.variable.attributes[name]:
                matrix = _dilated(*leaves[each.variable])
                rows.append(cp.PSD(matrix if name == "PSD" else -matrix).set_label(f"{each.name} {name}"))
    return RealProblem(cp.Problem(objective, [*rows, *reduction.required]), tuple(split), tuple(links))


class _IdsOfImaginaryParts(dict[int, int]):
    """A number of its own for each constraint that is asked for."""

    def __missing__(self, number: int) -> int:
        return self.setdefault(number, -1 - len(self))


def _alone(part: Any) -> Any:
    """The constraint, where CVXPY gives a list of one."""
    return part[0] if isinstance(part, list) else part


def _dilated(real: Any, imaginary: Any) -> Any:
    """[A, −B; B, A] for A + iB: semidefinite where that is, with each of its eigenvalues twice."""
    if imaginary is None:
        return real
    real = cp.Constant(np.zeros(imaginary.shape)) if real is None else real
    return cp.bmat([[real, -imaginary], [imaginary, real]])


def _split(v: Any, name: str) -> SplitVariable:
    unknown = [
        key for key, value in v.attributes.items() if key not in PARTS and value is not None and value is not False and np.size(value)
    ]
    if unknown:
        raise Unreadable(f"variable {v.name()}: the attribute {unknown[0]} of complex numbers is not known", "", "write it as constraints")
    real, imaginary = f"Re {name}", f"Im {name}"
    if v.is_hermitian():  # as one with PSD or NSD is, too
        n = v.shape[0]
        i, j = np.triu_indices(n, 1)
        if not len(i):
            return SplitVariable(v, name, cp.Variable(v.shape, real, symmetric=True), None)
        column = np.arange(len(i))
        signs = np.concatenate([np.ones(len(i)), -np.ones(len(i))])
        skew = sp.csc_array((signs, (np.concatenate([i + n * j, j + n * i]), np.concatenate([column, column]))), shape=(n * n, len(i)))
        return SplitVariable(v, name, cp.Variable(v.shape, real, symmetric=True), cp.Variable(len(i), imaginary), skew)
    structure: dict[str, Any] = {key: v.attributes[key] for key in ("diag", "sparsity") if np.size(v.attributes[key]) and v.attributes[key]}
    b = cp.Variable(v.shape, imaginary, **structure)
    return SplitVariable(v, name, None if v.is_imag() else cp.Variable(v.shape, real, **structure), b)


def _expressions(split: SplitVariable) -> tuple[Any, Any]:
    if split.skew is None or split.imaginary is None:
        return split.real, split.imaginary
    return split.real, cp.reshape(split.skew @ split.imaginary, split.variable.shape, order="F")


class _RealParts(Complex2Real):
    """CVXPY's walk through a problem; a function of complex numbers that it does not know is refused by name."""

    def __init__(self) -> None:
        super().__init__()
        self.canon_methods: Any = Complex2RealCanonMethods()
        self.parameters: dict[int, tuple[Any, Any]] = {}
        self.partial: dict[int, tuple[Any, Any]] = {}
        self.required: list[Any] = []  # rows of partial optima

    def canonicalize_tree(self, expr: Any, real2imag: Any, leaf_map: Any) -> Any:
        """Real and imaginary part; of the optimum over some variables that of its objective, with its rows beside it."""
        if not isinstance(expr, PartialProblem):
            return super().canonicalize_tree(expr, real2imag, leaf_map)  # type: ignore[no-untyped-call]
        if id(expr) not in self.partial:
            inner = expr.args[0]
            self.partial[id(expr)] = self.canonicalize_tree(inner.objective.expr, real2imag, leaf_map)
            for constraint in inner.constraints:
                parts = [_alone(part) for part in self.canonicalize_tree(constraint, real2imag, leaf_map)]
                self.required += [part for part in parts if part is not None]
        return self.partial[id(expr)]

    def canonicalize_expr(self, expr: Any, real_args: Any, imag_args: Any, real2imag: Any, leaf_map: Any) -> Any:
        """Real and imaginary part of an expression, from those of its arguments."""
        if isinstance(expr, cp.Parameter) and expr.is_complex() and expr.is_hermitian():
            return self._hermitian_parameter(expr)
        if type(expr) in TWICE and any(part is not None for part in imag_args):
            pairs = zip(real_args, imag_args, strict=True)
            return with_arguments(expr, [symmetric_wrap(_both(*pair)) for pair in pairs]) / 2, None
        if all(part is None for part in imag_args) and expr.args and type(expr) not in self.canon_methods:
            return with_arguments(expr, real_args), None
        if isinstance(expr, psd_wrap | nsd_wrap):  # a promise that the quadratic form of the parts makes anew, and proves
            return real_args[0], imag_args[0]
        if expr.args and type(expr) not in self.canon_methods:
            raise Unreadable(f"{type(expr).__name__} of complex numbers is not known", str(expr), "write it with real and imaginary parts")
        try:
            parts = self._parts(expr, real_args, imag_args, real2imag, leaf_map)
        except (TypeError, ValueError, AssertionError, AttributeError) as error:  # CVXPY's own, of cases that it does not know
            said = " ".join(str(error).split())[:120]
            raise Unreadable(
                f"{type(expr).__name__} of these complex numbers is not known ({said})", str(expr), "write it with real and imaginary parts"
            ) from error
        for part in parts if isinstance(expr, cp.Expression) else ():
            if part is not None and part.shape != expr.shape:
                raise Unreadable(
                    f"{type(expr).__name__} whose part has the shape {part.shape}", str(expr), "write it with real and imaginary parts"
                )
        return parts

    def _parts(self, expr: Any, real_args: Any, imag_args: Any, real2imag: Any, leaf_map: Any) -> Any:
        kind = type(expr)
        if kind is cp.quad_over_lin:
            parts = [part for part in (real_args[0], imag_args[0]) if part is not None]
            if expr.axis is None:
                return expr.copy([cp.hstack([cp.vec(part, order="F") for part in parts]), real_args[1]]), None
            squares = [with_arguments(expr, [part, real_args[1]]) for part in parts]
            return sum(squares[1:], start=squares[0]), None
        if kind is DivExpression:
            return _quotient(*zip(real_args, imag_args, strict=True))
        if kind in (cp.norm1, cp.norm_inf):
            sizes, _ = super().canonicalize_expr(cp.abs(expr.args[0]), real_args, imag_args, real2imag, leaf_map)  # type: ignore[no-untyped-call]
            return with_arguments(expr, [sizes]), None
        if kind is cp.QuadForm and expr.args[1].is_constant():
            return _quadratic_form(expr, real_args, imag_args), None
        if kind in (cp.Pnorm, cp.PnormApprox) and expr.p == 2 and expr.axis is None and not expr.keepdims:
            return cp.norm(cp.hstack([cp.vec(part, order="F") for part in (real_args[0], imag_args[0]) if part is not None]), 2), None
        if kind is cp.SOC and imag_args[1] is not None:  # CVXPY puts a variable and a cone for each entry between
            parts = [part for part in (real_args[1], imag_args[1]) if part is not None]
            below = cp.hstack(parts) if expr.args[1].ndim < 2 or expr.axis == 1 else cp.vstack(parts)
            return cp.SOC(real_args[0], below, axis=expr.axis if below.ndim > 1 else 0), None
        return super().canonicalize_expr(expr, real_args, imag_args, real2imag, leaf_map)  # type: ignore[no-untyped-call]

    def _hermitian_parameter(self, p: Any) -> tuple[Any, Any]:
        """Parameters of its parts, with all entries: CVXPY's has those above the diagonal, and a promise around them."""
        if p.id not in self.parameters:
            value = value_of(p) if p.value is None else np.asarray(p.value)  # its parts are checked when they are read
            parts = ((value.real, "real"), (value.imag, "imag"))
            self.parameters[p.id] = tuple(cp.Parameter(p.shape, name=f"{p.name()}_{name}", value=part) for part, name in parts)  # type: ignore[assignment]
        return self.parameters[p.id]


def _both(real: Any, imaginary: Any) -> Any:
    """The real matrix of a Hermitian one, twice as large also where the imaginary part is 0."""
    return _dilated(real, cp.Constant(np.zeros(real.shape)) if imaginary is None else imaginary)


def _quotient(over: tuple[Any, Any], below: tuple[Any, Any]) -> tuple[Any, Any]:
    """(a + ib)/(c + id) = (a + ib)(c − id)/(c² + d²); CVXPY's own rule is that of products."""
    (a, b), (c, d) = over, below
    if d is None:
        return tuple(None if part is None else part / c for part in over)  # type: ignore[return-value]
    if c is None:
        return None if b is None else b / d, None if a is None else -a / d
    size = cp.square(c) + cp.square(d)
    real = [cp.multiply(factor, part) for factor, part in ((c, a), (d, b)) if part is not None]
    imaginary = [cp.multiply(factor, part) for factor, part in ((c, b), (-d, a)) if part is not None]
    return sum(real[1:], start=real[0]) / size, sum(imaginary[1:], start=imaginary[0]) / size


def _quadratic_form(expr: Any, real_args: Any, imag_args: Any) -> Any:
    """zᴴPz for P = A + iB, z = a + ib: (a, b) times [A, −B; B, A]; of a real or an imaginary z only A counts. Concave ones are −zᴴ(−P)z."""
    parts = [cp.vec(part, order="F") for part in (real_args[0], imag_args[0]) if part is not None]
    real, imaginary = real_args[1], imag_args[1]
    real = cp.Constant(np.zeros(imaginary.shape)) if real is None else real
    form = real if len(parts) == 1 else _both(real, imaginary)
    vector = cp.hstack(parts)
    if expr.args[1].is_psd():
        return expr.copy([vector, psd_wrap(form)])
    return -expr.copy([vector, psd_wrap(-form)])
