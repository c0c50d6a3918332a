"""Constraints and summands that were written one by one, in a loop: the same problem with all of a kind in one.

Expressions are of one kind if they differ in constants, variables and indices alone. Of N of them the k entries of each become a column of
one k × N expression: rows a_i @ x become A @ x, steps A @ x_t become A @ X, norms become norms along an axis. Variables of one shape become
the columns of one variable. No number is changed and none computed, so that both problems have the same optimum. What is not known here
stays as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.binary_operators import MulExpression
from cvxpy.atoms.affine.hstack import Hstack
from cvxpy.atoms.affine.index import index, special_index
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.atoms.affine.vstack import Vstack
from cvxpy.constraints import Equality, Inequality

from simopt.backends.diagonals import copied
from simopt.core.arrays import Array
from simopt.duality.reading.leaves import is_made_of_arguments, leaves

FEWEST = 8  # expressions of a kind, or variables of a shape: fewer cost little one by one
SIGNS = ("nonneg", "nonpos", "pos", "neg")  # attributes that columns of one variable may share
ROWS = (Equality, Inequality)
ELEMENTWISE = (cp.abs, cp.exp, cp.log, cp.entr, cp.logistic, cp.log1p, cp.Power, cp.PowerApprox, cp.maximum, cp.minimum)
SELECTING = (index, special_index, cp.reshape, cp.transpose, Hstack, Vstack)
INDEXED = (index, special_index)
NORMS = (cp.Pnorm, cp.PnormApprox)
LARGEST_MATRIX = 2_000_000  # entries of a matrix that is made of others


@dataclass(frozen=True, eq=False)
class JoinedRow:
    """A constraint in place of others: of several, whose entries are its columns, or of one. Its label tells the numbers of these."""

    constraint: Any
    members: tuple[Any, ...]

    def take_dual_values(self) -> None:
        """Take what the members hold; nothing, if one of them holds none."""
        for number, dual in enumerate(self.constraint.dual_variables):
            values = [member.dual_variables[number].value for member in self.members]
            if any(value is None for value in values):
                dual.save_value(None)
            elif len(values) == 1:
                dual.save_value(values[0])
            else:
                columns = np.column_stack([np.asarray(value, dtype=float).reshape(-1, order="F") for value in values])
                dual.save_value(columns.reshape(dual.shape, order="F"))


@dataclass(frozen=True, eq=False)
class JoinedProblem:
    """A problem with the same optimum; `variables` are the new ones, with those that are their columns."""

    problem: cp.Problem
    variables: tuple[tuple[cp.Variable, tuple[Any, ...]], ...]
    rows: tuple[JoinedRow, ...]

    def take_values(self) -> None:
        """Take the values and dual values that the problem as written holds."""
        for whole, members in self.variables:
            values = [member.value for member in members]
            known = all(value is not None for value in values)
            whole.save_value(np.column_stack([np.asarray(v, dtype=float).reshape(-1, order="F") for v in values]) if known else None)
        for row in self.rows:
            row.take_dual_values()


class _Unjoinable(Exception):
    """Nothing is known of how to join these."""


UNJOINABLE = (_Unjoinable, ValueError, TypeError, NotImplementedError)  # also what CVXPY raises of shapes that it does not take


def joined(problem: cp.Problem) -> JoinedProblem | None:
    """The problem with what is of one kind joined; None where there is nothing to join, or where parameters may change."""
    constraints = problem.constraints
    if not may_have_loops(problem):
        return None
    found = leaves(problem)
    if found is None or any(isinstance(leaf, cp.Parameter) for leaf in found) or any(constraint.label for constraint in constraints):
        return None
    try:
        return _joined(problem, _Joiner([leaf for leaf in found if isinstance(leaf, cp.Variable)]))
    except UNJOINABLE:
        return None


def _joined(problem: cp.Problem, joiner: _Joiner) -> JoinedProblem | None:
    constraints, goal = problem.constraints, problem.objective
    kinds: dict[Any, list[int]] = {}
    for number, constraint in enumerate(constraints):
        if type(constraint) in ROWS:
            kinds.setdefault((type(constraint), *map(joiner.kind, constraint.args)), []).append(number)
    rows, left = list[JoinedRow](), dict(enumerate(constraints))
    for numbers in kinds.values():
        members = [constraints[number] for number in numbers]
        row = joiner.row(members) if len(members) >= FEWEST else None
        if row is not None:
            rows.append(JoinedRow(row.set_label(f"row {numbers[0]} and {len(numbers) - 1} more"), tuple(members)))
            for number in numbers:
                del left[number]
    objective = joiner.sums(goal.expr)
    if not rows and objective is goal.expr:
        return None
    rows += [JoinedRow(joiner.rewritten_row(old).set_label(f"row {number}"), (old,)) for number, old in left.items()]
    form = cp.Problem(type(goal)(joiner.in_columns(objective)), [row.constraint for row in rows])
    return JoinedProblem(form, tuple(joiner.wholes.values()), tuple(rows))


def may_have_loops(problem: cp.Problem) -> bool:
    """Whether there are as many constraints or summands as a loop has."""
    return len(problem.constraints) >= FEWEST or _long(problem.objective.expr)


def _long(e: Any) -> bool:
    """Whether a sum of many stands in an expression, at its top."""
    while isinstance(e, (NegExpression, cp.multiply)):
        e = e.args[-1]
    return isinstance(e, cp.atoms.affine.add_expr.AddExpression) and (len(e.args) >= FEWEST or any(map(_long, e.args)))


class _Joiner:
    def __init__(self, variables: Sequence[cp.Variable]) -> None:
        self._kinds: dict[int, Any] = {}
        self._exact: dict[int, Any] = {}
        self._numbers: dict[Any, int] = {}
        self.wholes: dict[Any, tuple[cp.Variable, tuple[Any, ...]]] = {}
        self.column: dict[int, tuple[Any, int]] = {}  # of a variable's id: which of the wholes, and where
        shapes: dict[Any, list[Any]] = {}
        for v in variables:
            attributes = tuple(sorted(name for name, value in v.attributes.items() if value is not None and value is not False))
            if v.size and len(v.shape) <= 2 and set(attributes) <= set(SIGNS) and not v.is_complex():
                shapes.setdefault((v.shape, attributes), []).append(v)
        for key, members in shapes.items():
            if len(members) >= FEWEST:
                name = f"{members[0].name()} and {len(members) - 1} more"
                whole = cp.Variable((members[0].size, len(members)), name=name, **dict.fromkeys(key[1], True))
                self.wholes[key] = whole, tuple(members)
                self.column |= {v.id: (key, number) for number, v in enumerate(members)}

    def kind(self, e: Any) -> Any:
        """The same number for expressions that differ in constants, variables and indices alone."""
        if id(e) not in self._kinds:
            if isinstance(e, (cp.Constant, cp.Variable)):
                key: Any = (type(e), e.shape, self.column.get(e.id, (e.id,))[0] if isinstance(e, cp.Variable) else None)
            else:
                data = None if type(e) in INDEXED else _data(e)
                key = (type(e), e.shape, data, *map(self.kind, e.args)) if is_made_of_arguments(e) else (id(e),)
            self._kinds[id(e)] = self._numbers.setdefault(("kind", key), len(self._numbers))
        return self._kinds[id(e)]

    def exact(self, e: Any) -> Any:
        """The same number for expressions that are the same."""
        if id(e) not in self._exact:
            if isinstance(e, cp.Constant):
                value = e.value
                parts = (value.tocsc().indices, value.tocsc().indptr, value.tocsc().data) if sp.issparse(value) else (np.asarray(value),)
                key: Any = (cp.Constant, e.shape, *(part.tobytes() for part in parts))
            elif isinstance(e, cp.Variable):
                key = e.id
            else:
                key = (type(e), e.shape, _data(e), *map(self.exact, e.args)) if is_made_of_arguments(e) else (id(e),)
            self._exact[id(e)] = self._numbers.setdefault(("exact", key), len(self._numbers))
        return self._exact[id(e)]

    def row(self, members: Sequence[Any]) -> Any:
        """One constraint of many of a kind; None where it is not known how."""
        try:
            left, right = (self.columns([member.args[side] for member in members]) for side in (0, 1))
            found = left == right if type(members[0]) is Equality else left <= right
        except UNJOINABLE:
            return None
        return found if found.shape == (members[0].size, len(members)) else None

    def columns(self, members: Sequence[Any]) -> Any:
        """The k × N expression whose columns are the entries of the members; k × 1 where these are the same."""
        first = members[0]
        same = len({self.exact(e) for e in members}) == 1
        if same:
            return cp.reshape(self.in_columns(first), (first.size, 1), order="F")
        if isinstance(first, cp.Constant):
            return cp.Constant(np.column_stack([_flat(e) for e in members]))
        if isinstance(first, cp.Variable):
            return self._of_variables(members)
        make = JOINS.get(type(first))
        if make is None or any(len(e.shape) > 2 for e in (first, *first.args)):
            raise _Unjoinable
        found = make(self, members)
        if found.shape != (first.size, len(members)):
            raise _Unjoinable
        return found

    def arguments(self, members: Sequence[Any], number: int) -> Any:
        """The columns of one argument of each."""
        return self.columns([e.args[number] for e in members])

    def _of_variables(self, members: Sequence[Any]) -> Any:
        if any(e.id not in self.column for e in members):
            raise _Unjoinable
        keys, at = zip(*(self.column[e.id] for e in members), strict=True)
        if len(set(keys)) > 1:
            raise _Unjoinable
        whole, number = self.wholes[keys[0]][0], np.array(at)
        if np.array_equal(number, np.arange(whole.shape[1])):
            return whole
        if np.all(np.diff(number) == 1):
            return whole[:, int(number[0]) : int(number[-1]) + 1]
        return whole[:, number]

    def sums(self, e: Any) -> Any:
        """A scalar expression with summands of one kind in one sum."""
        if isinstance(e, (NegExpression, cp.multiply)):
            args = [a if a.is_constant() else self.sums(a) for a in e.args]
            return e if all(new is old for new, old in zip(args, e.args, strict=True)) else copied(e, args)
        if not isinstance(e, cp.atoms.affine.add_expr.AddExpression) or e.size > 1:
            return e
        kinds: dict[Any, list[Any]] = {}
        for a in e.args:
            kinds.setdefault(self.kind(a), []).append(a)
        parts, changed = [], False
        for members in kinds.values():
            total = self._total(members) if len(members) >= FEWEST else None
            new = [self.sums(a) for a in members] if total is None else [total]
            changed |= total is not None or any(one is not other for one, other in zip(new, members, strict=True))
            parts += new
        return cp.sum(cp.hstack(parts)) if changed and len(parts) > FEWEST else sum(parts[1:], start=parts[0]) if changed else e

    def _total(self, members: Sequence[Any]) -> Any:
        try:
            found = self.columns(members)
        except UNJOINABLE:
            return None
        return cp.sum(found) if found.shape[1] == len(members) else float(len(members)) * cp.sum(found)

    def in_columns(self, e: Any) -> Any:
        """The expression with columns in place of variables."""
        if not any(v.id in self.column for v in e.variables()):
            return e
        instead = {}
        for v in e.variables():
            if v.id in self.column:
                key, number = self.column[v.id]
                instead[v.id] = cp.reshape(self.wholes[key][0][:, number], v.shape, order="F")
        return _replaced(e, instead)

    def rewritten_row(self, constraint: Any) -> Any:
        """A copy of the constraint with columns in place of variables."""
        args = [self.in_columns(a) for a in constraint.args]
        data = constraint.get_data()
        return type(constraint)(*args) if type(constraint) in ROWS or data is None else constraint.copy(args)


def _data(e: Any) -> Any:
    """What a function is made of beside its arguments, as numbers: CVXPY's expressions and long arrays do not say them."""
    return None if (data := e.get_data()) is None else (_numbers(data), getattr(e, "keepdims", None))  # which norms leave out of their data


def _numbers(item: Any) -> Any:
    if isinstance(item, list | tuple):
        return tuple(map(_numbers, item))
    if isinstance(item, cp.Constant):
        return "constant", _numbers(item.value)
    if isinstance(item, np.ndarray):
        return item.shape, item.dtype.str, item.tobytes()
    return repr(item) if item is None or isinstance(item, bool | int | float | str | slice | Fraction | np.generic) else id(item)


def _replaced(e: Any, instead: dict[int, Any]) -> Any:
    if isinstance(e, cp.Variable):
        return instead.get(e.id, e)
    if not e.args or not any(v.id in instead for v in e.variables()):
        return e
    if not is_made_of_arguments(e):
        raise _Unjoinable
    return copied(e, [_replaced(a, instead) for a in e.args])


def _flat(constant: Any) -> Array:
    value = constant.value
    return np.asarray(value.toarray() if sp.issparse(value) else value, dtype=float).reshape(-1, order="F")


def _added(joiner: _Joiner, members: Sequence[Any]) -> Any:
    parts = [joiner.arguments(members, number) for number in range(len(members[0].args))]
    if any(a.shape not in ((), members[0].shape) for a in members[0].args) or any(len(e.args) != len(parts) for e in members):
        raise _Unjoinable
    return _of_shape(sum(parts[1:], start=parts[0]), members)


def _of_shape(e: Any, members: Sequence[Any]) -> Any:
    """The columns, with all their entries; what is the same in all columns is not spread."""
    if e.shape[0] != members[0].size:
        e = np.ones((members[0].size, 1)) @ e
    return e


def _negated(joiner: _Joiner, members: Sequence[Any]) -> Any:
    return -joiner.arguments(members, 0)


def _promoted(joiner: _Joiner, members: Sequence[Any]) -> Any:
    return _of_shape(joiner.arguments(members, 0), members)


def _multiplied(joiner: _Joiner, members: Sequence[Any]) -> Any:
    if any(a.shape not in ((), members[0].shape) for a in members[0].args):
        raise _Unjoinable
    return _of_shape(cp.multiply(*(joiner.arguments(members, number) for number in (0, 1))), members)


def _product(joiner: _Joiner, members: Sequence[Any]) -> Any:
    """A_i @ B_i, one of both a constant."""
    a, b = members[0].args
    m, n = a.shape if len(a.shape) == 2 else (1, a.size)
    p = b.shape[1] if len(b.shape) == 2 else 1
    same = [len({joiner.exact(e.args[side]) for e in members}) == 1 for side in (0, 1)]
    count = len(members)
    if not a.shape or not b.shape:
        raise _Unjoinable
    if all(e.args[0].is_constant() for e in members):
        if same[0]:
            matrix = joiner.in_columns(a) if len(a.shape) == 2 else cp.reshape(a, (1, n), order="F")
            inner = joiner.arguments(members, 1)
            return (
                matrix @ inner if p == 1 else cp.reshape(matrix @ cp.reshape(inner, (n, p * count), order="F"), (m * p, count), order="F")
            )
        if p == 1 and same[1]:
            values = [_matrix(e.args[0], m, n) for e in members]
            whole = sp.vstack(values, format="csr") if any(map(sp.issparse, values)) else np.vstack(values)
            flat = cp.reshape(joiner.in_columns(b), (n,), order="F")
            return cp.reshape(whole @ flat, (m, count), order="F")
        if p == 1 and m == 1:
            rows = joiner.columns([e.args[0] for e in members])
            return cp.reshape(cp.sum(cp.multiply(rows, joiner.arguments(members, 1)), axis=0), (1, count), order="F")
        if p == 1 and m * n * count <= LARGEST_MATRIX:
            blocks = sp.block_diag([_matrix(e.args[0], m, n) for e in members], format="csr")
            return cp.reshape(blocks @ cp.reshape(joiner.arguments(members, 1), (n * count,), order="F"), (m, count), order="F")
    elif all(e.args[1].is_constant() for e in members) and p == 1:
        right = joiner.arguments(members, 1)
        if same[0]:
            matrix = joiner.in_columns(a) if len(a.shape) == 2 else cp.reshape(joiner.in_columns(a), (1, n), order="F")
            return matrix @ right
        if m == 1:
            left = joiner.columns([e.args[0] for e in members])
            return cp.reshape(cp.sum(cp.multiply(left, right), axis=0), (1, count), order="F")
    raise _Unjoinable


def _matrix(constant: Any, m: int, n: int) -> Any:
    value = constant.value
    return value if sp.issparse(value) else np.asarray(value, dtype=float).reshape(m, n)


def _selected(joiner: _Joiner, members: Sequence[Any]) -> Any:
    """Entries of the arguments, by the indices that each member moves to its places."""
    first, count = members[0], len(members)
    numbers, start = [], 0
    for a in first.args:
        numbers.append(np.arange(start, start + a.size, dtype=float).reshape(a.shape, order="F"))
        start += a.size
    parts = [joiner.arguments(members, number) for number in range(len(first.args))]
    moved = [np.asarray(e.numeric(numbers)).reshape(-1, order="F").astype(int) for e in (members if type(first) in INDEXED else (first,))]
    if len(parts) == 1 and parts[0].shape[1] == 1 and len(moved) == count:  # many entries of one expression
        entries = cp.reshape(parts[0], (start,), order="F")
        return cp.reshape(entries[np.concatenate(moved)], (first.size, count), order="F")
    parts = [part if part.shape[1] == count else part @ np.ones((1, count)) for part in parts]
    whole = cp.vstack(parts) if len(parts) > 1 else parts[0]
    if all(np.array_equal(each, moved[0]) for each in moved):
        return whole if np.array_equal(moved[0], np.arange(start)) else whole[moved[0], :]
    flat = np.concatenate([each + start * number for number, each in enumerate(moved)])
    return cp.reshape(cp.reshape(whole, (start * count,), order="F")[flat], (first.size, count), order="F")


def _elementwise(joiner: _Joiner, members: Sequence[Any]) -> Any:
    if any(a.shape not in ((), members[0].shape) for a in members[0].args):
        raise _Unjoinable
    args = [joiner.arguments(members, number) for number in range(len(members[0].args))]
    shape = (members[0].size, len(members))
    return members[0].copy(
        [a if a.shape == shape else a + np.zeros(shape) if a.shape[0] == shape[0] else np.ones((*shape[:1], 1)) @ a for a in args]
    )


def _along(make: Callable[[Any, Any], Any]) -> Callable[[_Joiner, Sequence[Any]], Any]:
    """A function of all entries of an argument, along the columns."""

    def join(joiner: _Joiner, members: Sequence[Any]) -> Any:
        if members[0].size > 1 or getattr(members[0], "axis", None) is not None:
            raise _Unjoinable
        inner = joiner.arguments(members, 0)
        found = make(members[0], inner)
        return cp.reshape(found, (1, inner.shape[1]), order="F")

    return join


def _norm(e: Any, inner: Any) -> Any:
    if e.p != 2:
        raise _Unjoinable
    return cp.norm(inner, 2, axis=0)


def _squares(joiner: _Joiner, members: Sequence[Any]) -> Any:
    if any(e.args[1].value != 1.0 if e.args[1].is_constant() else True for e in members) or members[0].size > 1:
        raise _Unjoinable
    inner = joiner.arguments(members, 0)
    return cp.reshape(cp.sum(cp.square(inner), axis=0), (1, inner.shape[1]), order="F")


JOINS: dict[type, Callable[[_Joiner, Sequence[Any]], Any]] = {
    cp.atoms.affine.add_expr.AddExpression: _added,
    NegExpression: _negated,
    Promote: _promoted,
    cp.multiply: _multiplied,
    MulExpression: _product,
    cp.quad_over_lin: _squares,
    cp.Sum: _along(lambda e, inner: cp.sum(inner, axis=0)),
    cp.norm1: _along(lambda e, inner: cp.norm(inner, 1, axis=0)),
    cp.norm_inf: _along(lambda e, inner: cp.norm(inner, "inf", axis=0)),
    cp.max: _along(lambda e, inner: cp.max(inner, axis=0)),
    **dict.fromkeys(NORMS, _along(_norm)),
    **dict.fromkeys(SELECTING, _selected),
    **dict.fromkeys(ELEMENTWISE, _elementwise),
}
