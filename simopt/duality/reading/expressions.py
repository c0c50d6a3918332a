"""CVXPY's expressions as affine maps of variables and of terms. A white list: any other type is refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.binary_operators import DivExpression
from cvxpy.atoms.affine.concatenate import Concatenate
from cvxpy.atoms.affine.diag import diag_mat, diag_vec
from cvxpy.atoms.affine.hstack import Hstack
from cvxpy.atoms.affine.index import index, special_index
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.squeeze import squeeze
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.atoms.affine.vstack import Vstack
from cvxpy.atoms.affine.wraps import Wrap, nonneg_wrap, nonpos_wrap
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.arithmetic import INTERVAL, RATIONAL, Arithmetic, NotRational
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.atoms.base import Atom, Elementwise
from simopt.duality.atoms.perspective import Perspective
from simopt.duality.graph.affine import (
    Constant,
    Evaluated,
    Key,
    Map,
    Negation,
    Reference,
    RunningSums,
    ScalingMap,
    SelectionMap,
    SumMap,
    Totals,
    stacked,
)
from simopt.duality.graph.leaf_values import value_of
from simopt.duality.graph.programme import Term
from simopt.duality.graph.vectors import Indices, Mask, Value
from simopt.duality.reading import products
from simopt.duality.reading.faces import Face
from simopt.duality.reading.leaves import structure
from simopt.duality.reading.library import ATOMS, AtomContext, axis_groups

READ = "read are sums, products with constants, indexing, stacking, and the atoms of simopt.duality.atoms"
WRAPS = (*Wrap.__subclasses__(), *(kind for wrap in Wrap.__subclasses__() for kind in wrap.__subclasses__()))  # promises about expressions
SIGNED = (nonneg_wrap, nonpos_wrap)
SELECTING = (
    *(cp.reshape, cp.transpose, cp.broadcast_to, cp.upper_tri),  # public
    *(index, special_index, Promote, Hstack, Vstack, Concatenate, squeeze, diag_mat),
)


class Expressions:
    """Reads expressions; terms are collected in the order in which they are met, each expression once."""

    def __init__(self) -> None:
        self.keys = count()
        self.variables: dict[int, tuple[Key, Any]] = {}  # CVXPY's id -> our key, and the variable
        self.terms: dict[Key, Term] = {}
        self._read: dict[int, tuple[Any, Map]] = {}  # by id; the expression is kept, so that its id is not reused
        self.counts: dict[str, int] = {}  # terms of each name
        self.required: list[Any] = []  # constraints that stand in expressions
        self.faces: Mapping[str, Face] = {}  # by names of cones
        self.promises: list[Any] = []  # expressions with a promise of their sign that is not proven
        self.rewritten: dict[int, tuple[Any, Any]] = {}  # by id: the expression, and the one that was read instead, equal up to rounding

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

    def put(self, e: Any, meaning: Map) -> None:
        """Set the map of an expression, where the caller knows more than the expression shows."""
        self._read[id(e)] = (e, meaning)

    def _new(self, e: Any) -> Map:
        kind = type(e)
        if kind is cp.Variable and not e.size:
            return Constant.of(np.zeros(e.shape))
        if kind is cp.Variable:
            own = Reference(self.variable(e), e.size)
            entry_index = structure(e)
            return own if entry_index is None else SelectionMap((Constant.of(np.zeros(1)), own), entry_index + 1)
        if kind in (cp.Constant, cp.Parameter):
            return self._constant(e)
        if kind in (cp.Trace, diag_mat) and e.is_constant() and (e.args[0].is_psd() or e.args[0].is_nsd()):
            return self._diagonal_of_semidefinite(e)
        if kind in AFFINE:
            return AFFINE[kind](self, e)
        if kind in ATOMS:
            return ATOMS[kind](AtomContext(self, e))
        if kind in SELECTING:
            return self._selection(e)
        raise Unreadable(f"{kind.__name__} is not known", str(e), READ)

    def _constant(self, e: Any) -> Constant:
        if isinstance(e, cp.Parameter):
            return Constant(lambda: value_of(e), e.size, varies=True)
        return Constant.of(value_of(e))

    def argument(self, e: Any, numbers: Sequence[int] = (0,), shape: tuple[int, ...] | None = None) -> Argument:
        """These arguments of an expression one below the other, each repeated to fill the shape, if one is given."""
        args = [e.args[number] for number in numbers]
        maps = [self.broadcast(z, z.shape if shape is None else shape) for z in args]
        monotonicity = [np.full(m.size, 0 if z.is_affine() else 1 if z.is_convex() else -1) for m, z in zip(maps, args, strict=True)]
        proper = [np.full(m.size, bool(z.is_nonneg()) and not self.promises) for m, z in zip(maps, args, strict=True)]
        parts = tuple((number, m.size) for number, m in zip(numbers, maps, strict=True))
        return Argument(stacked(maps), np.concatenate(monotonicity), np.concatenate(proper), parts)

    def term(self, e: Any, atom: Atom, z: Argument, sign: int) -> Map:
        """A new node sign·φ(z), as a map; a function of constants is a number."""
        if not z.map.size:
            raise Unreadable("a function of no entries", str(e), "leave it out")
        size = atom.outputs(z.map.size)
        if not z.map.below:
            return Evaluated(lambda num: _number(num, e, atom, z, sign), size)
        key, name = next(self.keys), type(e).__name__
        self.counts[name] = self.counts.get(name, 0) + 1
        self.terms[key] = Term(key, f"{name} {self.counts[name]}", atom, z.map, sign, size, z.monotonicity, z.proper, e, z.parts)
        return Reference(key, size)

    def factor(self, e: Any, shape: tuple[int, ...]) -> Map:
        """A constant that multiplies or divides, repeated to fill an array of this shape."""
        return self.broadcast(e, shape)

    def broadcast(self, e: Any, shape: tuple[int, ...]) -> Map:
        """The expression's entries repeated to fill an array of this shape."""
        part = self.map(e)
        if e.shape == shape:
            return part
        number = np.arange(e.size).reshape(e.shape, order="F")
        return SelectionMap((part,), np.broadcast_to(number, shape).reshape(-1, order="F").astype(np.intp))

    def _selection(self, e: Any) -> Map:
        """An expression that only moves entries: their new positions are found by applying it to their indices."""
        numbers, start = [], 0
        for argument in e.args:
            numbers.append(np.arange(start, start + argument.size, dtype=float).reshape(argument.shape, order="F"))
            start += argument.size
        moved = np.asarray(e.numeric(numbers)).reshape(-1, order="F")
        return SelectionMap(tuple(self.map(argument) for argument in e.args), moved.astype(np.intp))

    def _sum(self, e: Any) -> Map:
        parts = tuple(self.broadcast(argument, e.shape) for argument in e.args)
        return parts[0] if len(parts) == 1 else SumMap(parts)

    def _negation(self, e: Any) -> Map:
        return Negation(self.map(e.args[0]))

    def _total(self, e: Any) -> Map:
        return Totals(self.map(e.args[0]), *axis_groups(e.args[0].shape, e.axis, e.size))

    def _trace(self, e: Any) -> Map:
        """The trace of a matrix, or of each matrix of the last two axes."""
        z = e.args[0]
        diagonals = np.diagonal(np.arange(z.size).reshape(z.shape, order="F"), axis1=-2, axis2=-1)
        of = np.broadcast_to(np.arange(e.size).reshape((*e.shape, 1), order="F"), diagonals.shape)
        index, groups = (each.reshape(-1).astype(np.intp) for each in (diagonals, of))
        return Totals(SelectionMap((self.map(z),), index), groups, e.size)

    def _diagonal_of_semidefinite(self, e: Any) -> Map:
        """A trace or a diagonal whose sign CVXPY derives from a semidefinite matrix: the sign is proven."""
        inner = self._trace(e) if type(e) is cp.Trace else self._selection(e)
        sign = 1.0 if e.args[0].is_psd() else -1.0

        def proven(num: Arithmetic) -> Value:
            try:
                below = bool(np.any(inner.constant(RATIONAL) * int(sign) < 0))
            except NotRational:
                below = bool(np.any((inner.constant(INTERVAL) * sign).low < 0.0))
            if below:
                relation = "≥" if sign > 0 else "≤"
                raise InvalidProblem(
                    f"constant {str(e)[:80]}: {relation} 0 as its matrix is declared semidefinite, it holds an entry that is not"
                )
            return inner.constant(num)

        return Evaluated(proven, e.size)

    def _itself(self, e: Any) -> Map:
        """Real part and conjugate of a real expression; complex ones have been refused."""
        self.rewritten[id(e)] = (e, e.args[0])
        return self.map(e.args[0])

    def _promised(self, e: Any) -> Map:
        """An expression with a promise about its sign or structure, as ptp has: one about a sign that is not proven is not relied on."""
        if type(e) in SIGNED and not _is_range(e.args[0]):
            self.promises.append(e)
        return self.map(e.args[0])

    def _running(self, e: Any) -> Map:
        """cumsum: the axis becomes the first, along which the lines of a flat array run; without an axis they run row by row."""
        z = e.args[0]
        number = np.arange(z.size).reshape(z.shape, order="F")
        lines = number.reshape(1, -1) if e.axis is None else np.moveaxis(number, e.axis, -1).reshape(-1, number.shape[e.axis])
        index = lines.reshape(-1).astype(np.intp)
        sums = RunningSums(SelectionMap((self.map(z),), index), lines.shape[1])
        return sums if e.axis is None else SelectionMap((sums,), np.argsort(index))

    def _whole(self, e: Any) -> Map:
        """floor and ceil of constants, decided in fractions."""
        if not e.is_constant():
            raise Unreadable(f"{type(e).__name__} of a variable", str(e), "it is not convex; use it on constants")
        inner = self.map(e.args[0])
        down = type(e) is cp.floor

        def whole(num: Arithmetic) -> Value:
            return num.lift(np.array([float(math.floor(x) if down else math.ceil(x)) for x in inner.constant(RATIONAL)]))

        return Evaluated(whole, e.size)

    def _indicator(self, e: Any) -> Map:
        """0, with its constraints added to the problem."""
        self.required += e.args
        return Constant.of(np.zeros(1))

    def _partial(self, e: Any) -> Map:
        """The optimum over some variables: minimising it over the others is minimising over all."""
        self.required += e.args[0].constraints
        return self.map(e.args[0].objective.expr)

    def _perspective(self, e: Any) -> Map:
        return _Homogeneous(self, e).map(e.f)

    def _diagonal(self, e: Any) -> Map:
        """diag of a vector: entries off the diagonal are a constant 0."""
        entry_index = np.diag(np.arange(1, e.args[0].size + 1), e.k).reshape(-1, order="F")
        return SelectionMap((Constant.of(np.zeros(1)), self.map(e.args[0])), entry_index)


@dataclass(frozen=True)
class Argument:
    """The argument of a function: the map, the facts of DCP's rules about its entries (see `Term`), and the arguments it consists of."""

    map: Map
    monotonicity: Indices
    proper: Mask
    parts: tuple[tuple[int, int], ...] = ()  # (number, entries), in the order in which they lie one below the other

    def negative(self) -> Argument:
        """−z."""
        return Argument(Negation(self.map), -self.monotonicity, np.zeros(self.map.size, dtype=bool), self.parts)

    def picked(self, index: Indices) -> Argument:
        """Entries of z that are no longer entries of single arguments."""
        return Argument(SelectionMap((self.map,), index), self.monotonicity[index], self.proper[index])


def _is_range(e: Any) -> bool:
    """Whether this is max(z) − min(z), which is ≥ 0."""
    parts = e.args
    is_difference = len(parts) == 2 and type(parts[0]) is cp.max and type(parts[1]) is NegExpression and type(parts[1].args[0]) is cp.min
    return is_difference and parts[0].args[0] is parts[1].args[0].args[0]


def _number(num: Arithmetic, e: Any, atom: Atom, z: Argument, sign: int) -> Value:
    values = z.map.constant(num)
    if not atom.inside(num, values, z.proper).all():
        raise InvalidProblem(f"constant {str(e)[:80]}: its argument is not proven to be in the domain")
    return atom.value(num, values) if sign > 0 else -atom.value(num, values)


class _Homogeneous(Expressions):
    """Reads f(x) as tf(x/t): constants are multiplied by t, and each function φ becomes its perspective tφ(z/t), applied to tz(x/t)."""

    def __init__(self, outer: Expressions, e: Any) -> None:
        super().__init__()
        self.outer, self.whole, self.t = outer, e, outer.map(e.args[0])
        self.keys, self.terms, self.counts, self.required, self.promises = (
            outer.keys,
            outer.terms,
            outer.counts,
            outer.required,
            outer.promises,
        )

    def variable(self, v: Any) -> Key:
        return self.outer.variable(v)

    def map(self, e: Any) -> Map:
        if e.is_constant():
            return ScalingMap(self.outer.map(e), SelectionMap((self.t,), np.zeros(e.size, dtype=np.intp)))
        if type(e) is cp.perspective:  # homogeneous already
            return self.outer.map(e)
        if type(e) in (indicator, PartialProblem):
            raise Unreadable(f"{type(e).__name__} in a perspective", str(self.whole), "give its constraints to the problem")
        return super().map(e)

    def factor(self, e: Any, shape: tuple[int, ...]) -> Map:
        return self.outer.broadcast(e, shape)

    def term(self, e: Any, atom: Atom, z: Argument, sign: int) -> Map:
        """The perspective of the atom, whose argument is z above the t of all its outputs."""
        n, count = z.map.size, atom.outputs(z.map.size)
        if count > 1 and not isinstance(atom, Elementwise):
            raise Unreadable("a perspective of functions along an axis", str(self.whole), "write one perspective for each")
        t = SelectionMap((self.t,), np.zeros(count, dtype=np.intp))
        under = Argument(
            stacked([z.map, t]), np.append(z.monotonicity, np.zeros(count, dtype=np.intp)), np.append(z.proper, np.ones(count, dtype=bool))
        )
        return super().term(self.whole, Perspective(atom, n, count), under, sign)


AFFINE: dict[type, Callable[[Expressions, Any], Map]] = {
    cp.AddExpression: Expressions._sum,
    cp.Sum: Expressions._total,
    cp.Trace: Expressions._trace,
    cp.cumsum: Expressions._running,
    cp.floor: Expressions._whole,
    cp.ceil: Expressions._whole,
    cp.perspective: Expressions._perspective,
    indicator: Expressions._indicator,
    PartialProblem: Expressions._partial,
    cp.multiply: products.scaling,
    cp.MulExpression: products.matrix_product,
    cp.kron: products.kronecker,
    cp.conv: products.convolution,
    cp.convolve: products.convolution,
    NegExpression: Expressions._negation,
    DivExpression: products.quotient,
    diag_vec: Expressions._diagonal,
    cp.real: Expressions._itself,
    cp.conj: Expressions._itself,
    **dict.fromkeys(WRAPS, Expressions._promised),
}
