"""A `cvxpy.Problem` as a graph of terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints import PSD

from simopt.arithmetic import INTERVAL
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.atoms.quadratic_form import SemidefiniteForm
from simopt.duality.evaluation.bounds import bounded
from simopt.duality.graph.affine import Constant, Key, Map, Negation, SelectionMap, SumMap
from simopt.duality.graph.epigraphs import recognised
from simopt.duality.graph.leaf_values import as_floats, snapshot
from simopt.duality.graph.matrix_terms import SEMIDEFINITE, has_matrices
from simopt.duality.graph.programme import Leaf, Programme, Row, Term
from simopt.duality.graph.vectors import Indices
from simopt.duality.reading.cones import APPROXIMATED, approximation, sides
from simopt.duality.reading.convexity import convex
from simopt.duality.reading.definitions import defined
from simopt.duality.reading.expressions import Expressions
from simopt.duality.reading.faces import Face
from simopt.duality.reading.kernel_element import elements
from simopt.duality.reading.leaves import structure, unique
from simopt.duality.reading.matrices import cones, declared_cones, fixed_entries, with_cones
from simopt.duality.reading.version import known_version
from simopt.duality.stationarity.norm_bound import NormBound

SIGNS = {"nonneg": -1, "pos": -1, "nonpos": 1, "neg": 1}
STRUCTURES = ("symmetric", "diag", "sparsity", *SEMIDEFINITE)


def read(problem: cp.Problem, faces: Mapping[str, Face] | None = None) -> Programme:
    """The terms of a declared problem: leaves, nodes in an order of evaluation, and rows.

    With `faces`, by the names of cones, those cones are restricted or relaxed: it is another problem then (`reading.faces`).

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
    known_version()
    if not any(v.size for v in problem.variables()):
        raise InvalidProblem("problem: it has no variables")
    for v in problem.variables():
        _admit(v)
    convex(problem)
    reader = Expressions()
    reader.faces = faces or {}
    maximises = isinstance(problem.objective, cp.Maximize)
    objective = reader.map(problem.objective.expr)
    rows, matrices = list[Row](), list[Term]()
    for kind, constraints in (("row", problem.constraints), ("indicator", reader.required)):
        _read_constraints(reader, kind, constraints, rows, matrices)
    variables = _named(reader)
    before = len(reader.required)
    for name, v in variables.items():
        matrices += declared_cones(reader, name, v)
    _read_constraints(reader, "indicator", reader.required, rows, matrices, before)
    goal = with_cones(Negation(objective) if maximises else objective, matrices)
    programme = Programme(problem, goal, maximises, terms=[*reader.terms.values(), *matrices])
    for name, v in variables.items():
        key = reader.variable(v)
        programme.leaves[key] = Leaf(key, name, v.shape, v, structure(v))
        rows += _attributes(reader, name, v)
    programme.rows, programme.rewritten, programme.promises = rows, reader.rewritten, bool(reader.promises)
    programme.variables = {number: key for number, (key, _) in reader.variables.items()}
    for label, count in Counter([*(row.name for row in rows), *(term.name for term in matrices)]).items():
        if count > 1:
            raise InvalidProblem(f"constraint {label!r}: {count} constraints have this label; give each its own")
    elements(programme)
    free = {key: leaf for key, leaf in programme.leaves.items() if not _has_bounds(reader, key)}
    defined(programme, free)
    recognised(programme)
    bounded(programme)
    if has_matrices(programme):
        fixed_entries(programme)
    programme.put_in_order()
    _forms(programme)
    return programme


def _read_constraints(
    reader: Expressions, kind: str, constraints: Sequence[Any], rows: list[Row], matrices: list[Term], start: int = 0
) -> None:
    """Read constraints into rows and cones; the list may grow meanwhile."""
    for number, constraint in enumerate(islice(constraints, start, None), start):
        name = constraint.label or f"{kind} {number}"
        if type(constraint) in APPROXIMATED:
            reader.required += approximation(constraint)
        elif isinstance(constraint, PSD):
            matrices += cones(reader, name, constraint)
        else:
            rows += _rows(reader, name, constraint)


def _named(reader: Expressions) -> dict[str, Any]:
    """The variables that were read, by names that are their own."""
    variables = [v for _, v in reader.variables.values()]
    return dict(zip(unique([v.name() for v in variables]), variables, strict=True))


def _forms(programme: Programme) -> None:
    """Give quadratic forms a bound of their argument; a form that is not proven semidefinite needs one."""
    problem = programme.problem
    for term in programme.terms:
        if not isinstance(term.atom, SemidefiniteForm):
            continue
        term.atom.largest = NormBound(programme, term, partial(snapshot, problem))
        if not term.source.args[1].parameters() and term.atom.shift(INTERVAL) is None:
            raise Unreadable(
                "a quadratic form with a matrix that is not proven semidefinite",
                str(term.source),
                "write sum_squares(F.T @ x) with P = F Fᵀ, or give bounds of x",
            )


def _admit(v: Any) -> None:
    """Check the attributes of a variable: they are constraints, and none may be overlooked."""
    for name, value in v.attributes.items():
        if (
            name in (*SIGNS, *STRUCTURES, "bounds")
            or value is None
            or value is False
            or (isinstance(value, (list, tuple)) and not len(value))
        ):
            continue
        remedy = "integers and booleans are not convex" if name in ("boolean", "integer") else "write the attribute as constraints"
        raise Unreadable(f"variable {v.name()}: the attribute {name} is not known", "", remedy)


def _has_bounds(reader: Expressions, key: Key) -> bool:
    v = next(v for own, v in reader.variables.values() if own == key)
    return any(v.attributes.get(name) for name in SIGNS) or v.attributes.get("bounds") is not None


def _rows(reader: Expressions, name: str, constraint: Any) -> list[Row]:
    """map ≤ 0 or map = 0."""
    left, right, equality = sides(reader, constraint)
    shape = np.broadcast_shapes(left.shape, right.shape)
    parts = [reader.broadcast(left, shape), Negation(reader.broadcast(right, shape))]
    nonzero = tuple(part for part, side in zip(parts, (left, right), strict=True) if not _is_zero(side))
    below = nonzero[0] if len(nonzero) == 1 else SumMap(nonzero or (parts[0],))
    return [Row(next(reader.keys), name, below, equality, (left, right))] if below.size else []


def _is_zero(e: Any) -> bool:
    return isinstance(e, cp.Constant) and not np.any(e.value.data if sp.issparse(e.value) else e.value)


def _attributes(reader: Expressions, variable: str, v: Any) -> list[Row]:
    """The rows of a variable's attributes."""
    own: Map = reader.map(v)
    entry_index, rows = structure(v), []
    there = (
        np.arange(v.size) if entry_index is None else np.flatnonzero(entry_index >= 0)
    )  # CVXPY ensures that 0 is within the bounds of the others
    for name, sign in SIGNS.items():
        if v.attributes.get(name):
            some = own if len(there) == v.size else SelectionMap((own,), there)
            rows.append(Row(next(reader.keys), f"{variable} {name}", some if sign > 0 else Negation(some)))
    for bound, sign in zip(v.attributes.get("bounds") or (), (-1, 1), strict=False):
        side = f"{variable} {'upper' if sign > 0 else 'lower'} bound"
        if isinstance(bound, cp.Expression):
            apart = SumMap((own, Negation(reader.broadcast(bound, v.shape))))
            rows.append(Row(next(reader.keys), side, apart if sign > 0 else Negation(apart)))
            continue
        ends = _flat(f"variable {side}", bound, v.shape)
        if np.any(np.isnan(ends)) or np.any(ends == -sign * np.inf):
            raise InvalidProblem(f"variable {variable}: its bounds {bound!r} leave no number")
        at = there[np.isfinite(ends[there])]
        if at.size:
            apart = SumMap((SelectionMap((own,), at), Negation(Constant(_ends_now(side, bound, v.shape, at), len(at)))))
            rows.append(Row(next(reader.keys), side, apart if sign > 0 else Negation(apart)))
    return rows


def _flat(side: str, bound: Any, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(as_floats(bound, side), shape).reshape(-1, order="F")


def _ends_now(side: str, bound: Any, shape: tuple[int, ...], at: Indices) -> Callable[[], Array]:
    """The ends as the user's array holds them at each call."""

    def read() -> Array:
        ends = _flat(f"variable {side}", bound, shape)[at]
        if not np.isfinite(ends).all():
            raise InvalidProblem(f"variable {side}: its array was changed, and an end is no number any more; read the problem again")
        return ends

    return read
