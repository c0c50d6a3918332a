"""CVXPY's expressions as affine maps of variables and of terms. A white list: a type that is not in it is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.binary_operators import DivExpression
from cvxpy.atoms.affine.concatenate import Concatenate
from cvxpy.atoms.affine.diag import diag_mat, diag_vec
from cvxpy.atoms.affine.hstack import Hstack
from cvxpy.atoms.affine.index import index, special_index
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.squeeze import squeeze
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.atoms.affine.vstack import Vstack

from simopt.duality.affine import Constant, Key, Map, Negation, Product, Reference, Scaling, Selection, Sum, Totals
from simopt.duality.atoms.base import Atom
from simopt.duality.library import ATOMS, Reading, axis_groups
from simopt.duality.programme import Term
from simopt.duality.vectors import Indices
from simopt.errors import InvalidProblem, Unreadable

READ = "read are sums, products with constants, indexing, stacking, and the atoms of simopt.duality.atoms"
SELECTING = (
    *(cp.reshape, cp.transpose, cp.broadcast_to, cp.upper_tri),  # public
    *(index, special_index, Promote, Hstack, Vstack, Concatenate, squeeze, diag_mat),
)


class Expressions:
    """Reads expressions; terms are collected in the order in which they are met, each expression once."""

    def __init__(self) -> None:
        self.keys = count()
        self.variables: dict[int, tuple[Key, Any]] = {}  # CVXPY's number -> our key, and the variable
        self.terms: dict[Key, Term] = {}
        self._read: dict[int, tuple[Any, Map]] = {}  # by identity; the expression is kept, or its number would be given to another
        self._names: dict[str, int] = {}

    def variable(self, v: Any) -> Key:
        """The key of a variable."""
        if v.id not in self.variables:
            self.variables[v.id] = (next(self.keys), v)
        return self.variables[v.id][0]

    def map(self, e: Any) -> Map:
        """The expression as an affine map of variables and terms.

        Raises
        ------
        Unreadable
            where it holds a type that is not known, a product of expressions, or complex numbers.
        InvalidProblem
            where a constant is not finite.
        """
        if id(e) not in self._read:
            if e.is_complex():
                raise Unreadable("complex numbers", str(e), "write real and imaginary parts as variables of their own")
            self._read[id(e)] = (e, self._new(e))
        return self._read[id(e)][1]

    def _new(self, e: Any) -> Map:
        kind = type(e)
        if kind is cp.Variable:
            return Reference(self.variable(e), e.size)
        if kind in (cp.Constant, cp.Parameter):
            return self._constant(e)
        if kind in AFFINE:
            return AFFINE[kind](self, e)
        if kind in ATOMS:
            return ATOMS[kind](Reading(self, e))
        if kind in SELECTING:
            return self._selection(e)
        raise Unreadable(f"{kind.__name__} is not known", str(e), READ)

    def _constant(self, e: Any) -> Constant:
        if isinstance(e, cp.Parameter):
            return Constant(lambda: _value_of(e), e.size, varies=True)
        value = e.value
        entries = value.data if sp.issparse(value) else np.asarray(value)
        if not np.all(np.isfinite(entries)):
            at = np.unravel_index(int(np.argmax(~np.isfinite(entries))), entries.shape)
            place = f"entry {tuple(map(int, at))}" if entries.ndim else "it"
            raise InvalidProblem(f"constant {str(e)[:80]}: {place} is {entries[at]}; constants must be finite")
        return Constant.of(value)

    def term(self, e: Any, atom: Atom, argument: Map, bend: Indices, sign: int, z: Any = None) -> Map:
        """A new node sign·φ(argument), as a map; with z, what CVXPY knows of the argument's sign counts."""
        if not argument.size:
            raise Unreadable("a function of no entries", str(e), "leave it out")
        key, name = next(self.keys), type(e).__name__
        self._names[name] = self._names.get(name, 0) + 1
        proper = np.full(argument.size, z is not None and bool(z.is_nonneg()))
        size = atom.outputs(argument.size)
        self.terms[key] = Term(key, f"{name} {self._names[name]}", atom, argument, sign, size, bend, proper, e)
        return Reference(key, size)

    def bend(self, e: Any) -> Indices:
        """1 for each entry of a convex expression, −1 of a concave one, 0 of an affine one."""
        side = 0 if e.is_affine() else 1 if e.is_convex() else -1
        return np.full(e.size, side)

    def broadcast(self, e: Any, shape: tuple[int, ...]) -> Map:
        """The expression's entries repeated to fill an array of this shape."""
        part = self.map(e)
        if e.shape == shape:
            return part
        number = np.arange(e.size).reshape(e.shape, order="F")
        return Selection((part,), np.broadcast_to(number, shape).reshape(-1, order="F").astype(np.intp))

    def factor(self, e: Any, shape: tuple[int, ...]) -> Map:
        """A constant that multiplies or divides: it is evaluated by itself, so that no term may stand in it."""
        found = self.broadcast(e, shape)
        if found.below:
            raise Unreadable("a factor that is a function of constants", str(e), "give its value as a constant or parameter of its own")
        return found

    def _selection(self, e: Any) -> Map:
        """What only moves entries: which goes where is found by having it move their numbers."""
        numbers, start = [], 0
        for argument in e.args:
            numbers.append(np.arange(start, start + argument.size, dtype=float).reshape(argument.shape, order="F"))
            start += argument.size
        moved = np.asarray(e.numeric(numbers)).reshape(-1, order="F")
        return Selection(tuple(self.map(argument) for argument in e.args), moved.astype(np.intp))

    def _sum(self, e: Any) -> Map:
        parts = tuple(self.broadcast(argument, e.shape) for argument in e.args)
        return parts[0] if len(parts) == 1 else Sum(parts)

    def _negation(self, e: Any) -> Map:
        return Negation(self.map(e.args[0]))

    def _total(self, e: Any) -> Map:
        return Totals(self.map(e.args[0]), *axis_groups(e.args[0].shape, e.axis, e.size))

    def _trace(self, e: Any) -> Map:
        n = e.args[0].shape[0]
        return Totals(Selection((self.map(e.args[0]),), np.arange(n) * (n + 1)), np.zeros(n, dtype=np.intp), 1)

    def _diagonal(self, e: Any) -> Map:
        """diag of a vector: what is off the diagonal is a constant 0."""
        if e.k != 0:
            raise Unreadable("a diagonal other than the main one", str(e), READ)
        n = e.args[0].size
        moved = np.full((n, n), n)
        np.fill_diagonal(moved, np.arange(n))
        return Selection((self.map(e.args[0]), Constant.of(np.zeros(1))), moved.reshape(-1, order="F"))

    def _scaling(self, e: Any) -> Map:
        one, other = e.args
        if not (one.is_constant() or other.is_constant()):
            raise Unreadable("a product of two expressions", str(e), "multiply by constants or parameters only")
        factor, part = (one, other) if one.is_constant() else (other, one)
        return Scaling(self.factor(factor, e.shape), self.broadcast(part, e.shape))

    def _quotient(self, e: Any) -> Map:
        part, factor = e.args
        if not factor.is_constant():
            raise Unreadable("a quotient of expressions", str(e), "divide by constants or parameters only")
        return Scaling(self.factor(factor, e.shape), self.broadcast(part, e.shape), divides=True)

    def _product(self, e: Any) -> Map:
        left, right = e.args
        if max(left.ndim, right.ndim) > 2:
            raise Unreadable("a product of arrays with more than two axes", str(e), "write one product a matrix")
        if left.is_constant():
            shape = left.shape if left.ndim == 2 else (1, left.size)
            return Product(self.factor(left, left.shape), shape, self.map(right), right.shape[1] if right.ndim == 2 else 1)
        if not right.is_constant():
            raise Unreadable("a product of two expressions", str(e), "multiply by constants or parameters only")
        # X M = (Mᵀ Xᵀ)ᵀ
        rows = left.shape[0] if left.ndim == 2 else 1
        shape = right.shape if right.ndim == 2 else (right.size, 1)
        turned = Selection((self.map(left),), _turned(rows, shape[0])) if rows > 1 else self.map(left)
        matrix = _transposed(self.factor(right, right.shape), shape)
        out = Product(matrix, (shape[1], shape[0]), turned, rows)
        return Selection((out,), _turned(shape[1], rows)) if rows > 1 and shape[1] > 1 else out


def _value_of(parameter: Any) -> Any:
    if parameter.value is None:
        raise InvalidProblem(f"parameter {parameter.name()}: it has no value; set parameter.value first")
    if not np.all(np.isfinite(parameter.value.data if sp.issparse(parameter.value) else parameter.value)):
        raise InvalidProblem(f"parameter {parameter.name()}: its value is not finite")
    return parameter.value


def _turned(rows: int, columns: int) -> Indices:
    """Where the entries of the transposed of a rows × columns matrix come from, both flat, column by column."""
    return np.arange(rows * columns).reshape((rows, columns), order="F").T.reshape(-1, order="F").astype(np.intp)


def _transposed(matrix: Map, shape: tuple[int, int]) -> Map:
    if isinstance(matrix, Constant):
        read = matrix.read
        return Constant(lambda: _as_matrix(read(), shape).T, matrix.size, matrix.varies)
    return Selection((matrix,), _turned(*shape))


def _as_matrix(values: Any, shape: tuple[int, int]) -> Any:
    return values if sp.issparse(values) else np.asarray(values, dtype=float).reshape(shape, order="F")


AFFINE: dict[type, Callable[[Expressions, Any], Map]] = {
    cp.AddExpression: Expressions._sum,
    cp.Sum: Expressions._total,
    cp.Trace: Expressions._trace,
    cp.multiply: Expressions._scaling,
    cp.MulExpression: Expressions._product,
    NegExpression: Expressions._negation,
    DivExpression: Expressions._quotient,
    diag_vec: Expressions._diagonal,
}
