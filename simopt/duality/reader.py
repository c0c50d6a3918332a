"""A `cvxpy.Problem` as a graph of terms."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints import Equality, Inequality

from simopt.duality.affine import Constant, Key, Map, Negation, Reference, Selection, Sum
from simopt.duality.bounds import bounded
from simopt.duality.definitions import defined
from simopt.duality.epigraphs import recognised
from simopt.duality.expressions import Expressions
from simopt.duality.programme import Leaf, Programme, Row
from simopt.errors import InvalidProblem, Unreadable

SIGNS = {"nonneg": -1, "pos": -1, "nonpos": 1, "neg": 1}


def read(problem: cp.Problem) -> Programme:
    """The terms of a declared problem: leaves, nodes in an order of evaluation, and rows.

    Parameters are read when the programme is evaluated, so that one reading serves a whole path.

    Raises
    ------
    Unreadable
        where the problem is not convex by CVXPY's rules, or has a variable, constraint or function that is not known; the message names
        the sub-expression.
    InvalidProblem
        where there is nothing to minimise over, or a constant is not finite.
    """
    if not isinstance(problem, cp.Problem):
        raise InvalidProblem(f"problem: {type(problem).__name__} given, a cvxpy.Problem needed")
    if not problem.variables():
        raise InvalidProblem("problem: it has no variables")
    for v in problem.variables():
        _admit(v)
    if not problem.is_dcp():
        raise Unreadable("the problem is not convex by CVXPY's rules (DCP)", _culprit(problem), "see problem.is_dcp() and its parts")
    reader = Expressions()
    maximises = isinstance(problem.objective, cp.Maximize)
    objective = reader.map(problem.objective.expr)
    rows = [row for number, constraint in enumerate(problem.constraints) for row in _rows(reader, number, constraint)]
    programme = Programme(problem, Negation(objective) if maximises else objective, maximises, terms=list(reader.terms.values()))
    names: dict[str, int] = {}
    for key, v in reader.variables.values():
        names[v.name()] = names.get(v.name(), 0) + 1
        name = v.name() if names[v.name()] == 1 else f"{v.name()} ({names[v.name()]})"
        programme.leaves[key] = Leaf(key, name, v.shape, v)
        rows += _attributes(reader, name, v)
    programme.rows = rows
    for label, times in Counter(row.name for row in rows).items():
        if times > 1:
            raise InvalidProblem(f"constraint {label!r}: {times} constraints have this label; give each its own")
    free = {key: leaf for key, leaf in programme.leaves.items() if not _has_bounds(reader, key)}
    defined(programme, free)
    recognised(programme)
    bounded(programme)
    programme.put_in_order()
    return programme


def _admit(v: Any) -> None:
    """Attributes are constraints: one that is overlooked makes it another problem."""
    for name, value in v.attributes.items():
        if name in (*SIGNS, "bounds") or value is None or value is False or (isinstance(value, (list, tuple)) and not len(value)):
            continue
        remedy = "integers and booleans are not convex" if name in ("boolean", "integer") else "write the attribute as constraints"
        raise Unreadable(f"variable {v.name()}: the attribute {name} is not known", "", remedy)
    if v.size == 0:
        raise InvalidProblem(f"variable {v.name()}: it has no entries, shape {v.shape}")


def _culprit(problem: cp.Problem) -> str:
    if not problem.objective.is_dcp():
        return str(problem.objective)
    return next((str(c) for c in problem.constraints if not c.is_dcp()), "")


def _has_bounds(reader: Expressions, key: Key) -> bool:
    v = next(v for own, v in reader.variables.values() if own == key)
    return any(v.attributes.get(name) for name in SIGNS) or v.attributes.get("bounds") is not None


def _rows(reader: Expressions, number: int, constraint: Any) -> list[Row]:
    """map ≤ 0 or map = 0, named by the label of the constraint or by its number."""
    kind, key, zero = type(constraint), next(reader.keys), cp.Constant(0)
    name = constraint.label or f"row {number}"
    if kind in (Equality, Inequality):
        left, right = constraint.args
    elif kind in (cp.Zero, cp.NonPos):
        left, right = constraint.args[0], zero
    elif kind is cp.NonNeg:
        left, right = zero, constraint.args[0]
    elif kind is cp.SOC:
        right, x = constraint.args
        left = cp.norm(x, 2) if x.ndim <= 1 or (1 in x.shape and right.size == 1) else cp.norm(x, 2, axis=constraint.axis)
    else:
        raise Unreadable(f"the constraint {kind.__name__} is not known", str(constraint), "read are ==, <= and second-order cones")
    shape = np.broadcast_shapes(left.shape, right.shape)
    parts = [reader.broadcast(left, shape), Negation(reader.broadcast(right, shape))]
    kept = tuple(part for part, side in zip(parts, (left, right), strict=True) if not _is_zero(side))
    below = kept[0] if len(kept) == 1 else Sum(kept or (parts[0],))
    return [Row(key, name, below, kind in (Equality, cp.Zero), (left, right))]


def _is_zero(e: Any) -> bool:
    return isinstance(e, cp.Constant) and not np.any(e.value.data if sp.issparse(e.value) else e.value)


def _attributes(reader: Expressions, variable: str, v: Any) -> list[Row]:
    """Rows for what a variable's attributes say."""
    own: Map = Reference(reader.variable(v), v.size)
    rows = []
    for name, sign in SIGNS.items():
        if v.attributes.get(name):
            rows.append(Row(next(reader.keys), f"{variable} {name}", own if sign > 0 else Negation(own)))
    for bound, sign in zip(v.attributes.get("bounds") or (), (-1, 1), strict=False):
        if isinstance(bound, cp.Expression):
            raise Unreadable(f"variable {variable}: a bound that is an expression", str(bound), "write it as a constraint")
        ends = np.broadcast_to(np.asarray(bound, dtype=float), v.shape).reshape(-1, order="F")
        at = np.flatnonzero(np.isfinite(ends))
        if np.any(np.isnan(ends)) or np.any(ends == -sign * np.inf):
            raise InvalidProblem(f"variable {variable}: its bounds {bound!r} leave no number")
        if at.size:
            apart = Sum((Selection((own,), at), Negation(Constant.of(ends[at]))))
            rows.append(
                Row(next(reader.keys), f"{variable} {'upper' if sign > 0 else 'lower'} bound", apart if sign > 0 else Negation(apart))
            )
    return rows
