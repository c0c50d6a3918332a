"""A problem with boolean and integer variables: its relaxation, and the problem in which these are fixed numbers.

The relaxation has real numbers in their place, of booleans those in [0, 1]: its optimum bounds that of the problem. With numbers fixed that
are integers, the optimum over the other variables is no better than that of the problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.graph.affine import dense
from simopt.duality.graph.vectors import Indices
from simopt.duality.reading.geometric import names_of
from simopt.duality.reading.version import known_version

WHOLE = 1e-6  # as near to an integer a value of the user's counts as it
NEAR = 1e-3  # and one of a back end that was asked for integers: the rounded point is checked in any case
KNOWN = ("boolean", "integer", "nonneg", "nonpos", "pos", "neg", "bounds")  # attributes that are read beside each other


@dataclass(frozen=True, eq=False)
class IntegerVariable:
    """A variable with integer entries: their indices, column by column, and the real variable of the relaxation, of the same name."""

    variable: cp.Variable
    name: str
    entries: Indices
    relaxed: cp.Variable

    @property
    def whole(self) -> bool:
        """Whether all entries are integers."""
        return len(self.entries) == self.variable.size

    def rounded(self, value: Any, within: float = WHOLE) -> tuple[Array, str]:
        """The value with its integer entries rounded, and why it is no value of the variable; empty where it is one."""
        flat = np.array(value, dtype=float).reshape(-1, order="F")
        nearest = np.rint(flat[self.entries])
        far = np.flatnonzero(~(np.abs(flat[self.entries] - nearest) <= within))
        flat[self.entries] = nearest
        if len(far):
            at = int(self.entries[far[0]])
            return flat, f"variable {self.name}: entry {at} is {float(np.ravel(value, order='F')[at])!r}, no integer"
        low, high = _ends(self.relaxed)
        outside = self.entries[(nearest < low[self.entries]) | (nearest > high[self.entries])]
        if len(outside):
            at = int(outside[0])
            return flat, f"variable {self.name}: entry {at} is {flat[at]:g}, outside of its bounds"
        return flat, ""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The relaxed problem; its other variables are those of the original, and its rows have the names and labels of that."""

    original: cp.Problem
    problem: cp.Problem
    variables: tuple[IntegerVariable, ...]
    constraints: tuple[tuple[Any, Any], ...]

    @property
    def others(self) -> list[tuple[cp.Variable, str]]:
        """The variables without integer entries, and their names."""
        own = {each.variable.id for each in self.variables}
        return [(v, name) for v, name in names_of(self.original) if v.id not in own]

    @property
    def pure(self) -> bool:
        """Whether all entries of all variables are integers."""
        return not self.others and all(each.whole for each in self.variables)

    def fixed(self, values: Mapping[str, Array]) -> cp.Problem:
        """The problem with these integers, flat by name; one without other variables has a variable t ≥ 0 that is added to its cost."""
        known: dict[int, Any] = {}
        rows = []
        for each in self.variables:
            if each.whole:
                known[each.variable.id] = cp.Constant(values[each.name].reshape(each.variable.shape, order="F"))
            else:
                known[each.variable.id] = each.relaxed
                rows.append(cp.vec(each.relaxed, order="F")[each.entries] == values[each.name][each.entries])
        problem, _ = _substituted(self.original, known)
        objective = problem.objective
        if self.pure:
            t = cp.Variable(nonneg=True, name="t")
            objective = cp.Minimize(objective.expr + t) if isinstance(objective, cp.Minimize) else cp.Maximize(objective.expr - t)
        return cp.Problem(objective, [*problem.constraints, *rows])


def has_integers(problem: cp.Problem) -> bool:
    """Whether a variable has boolean or integer entries."""
    return any(_is_integer(v) for v in problem.variables())


def relaxation(problem: cp.Problem) -> Relaxation:
    """The problem with real numbers in place of integers.

    Raises
    ------
    Unreadable
        where a variable with integers has an attribute beside signs and bounds, or stands in a part of the problem that cannot be copied.
    """
    known_version()
    found = []
    for v, name in names_of(problem):
        if not _is_integer(v):
            continue
        other = next((key for key, value in v.attributes.items() if key not in KNOWN and value is not None and value is not False), None)
        if other is not None:
            raise Unreadable(f"variable {name}: the attribute {other} of integers is not known", "", "write it as constraints")
        found.append(_relaxed(v, name))
    relaxed, links = _substituted(problem, {each.variable.id: each.relaxed for each in found})
    return Relaxation(problem, relaxed, tuple(found), links)


def _is_integer(v: Any) -> bool:
    return bool(v.size) and any(v.attributes[key] is not False and np.size(v.attributes[key]) for key in ("boolean", "integer"))


def _relaxed(v: Any, name: str) -> IntegerVariable:
    boolean, integer = (_entries(v, which) for which in (v.boolean_idx, v.integer_idx))
    low, high = np.full(v.size, -np.inf), np.full(v.size, np.inf)
    if v.attributes["bounds"] is not None:
        if any(isinstance(end, cp.Expression) for end in v.attributes["bounds"]):
            raise Unreadable(f"variable {name}: bounds of integers that are expressions are not known", "", "write them as constraints")
        low, high = (
            np.array(np.broadcast_to(np.asarray(dense(end), dtype=float), v.shape).reshape(-1, order="F")) for end in v.attributes["bounds"]
        )
    low[boolean], high[boolean] = np.maximum(low[boolean], 0.0), np.minimum(high[boolean], 1.0)
    signs = {key: True for key in ("nonneg", "nonpos", "pos", "neg") if v.attributes[key]}
    for key in signs:
        low, high = (np.maximum(low, 0.0), high) if key in ("nonneg", "pos") else (low, np.minimum(high, 0.0))
    ends = [end.reshape(v.shape, order="F") for end in (low, high)]
    return IntegerVariable(v, name, np.union1d(boolean, integer).astype(np.intp), cp.Variable(v.shape, name, bounds=ends))


def _entries(v: Any, index: Any) -> Indices:
    if not len(index):
        return np.zeros(0, dtype=np.intp)
    return np.ravel(np.ravel_multi_index(tuple(np.asarray(each) for each in index), v.shape or (1,), order="F")).astype(np.intp)


def _ends(v: Any) -> tuple[Array, Array]:
    low, high = (np.asarray(end, dtype=float).reshape(-1, order="F") for end in v.attributes["bounds"])
    return low, high


def _substituted(problem: cp.Problem, known: Mapping[int, Any]) -> tuple[cp.Problem, tuple[tuple[Any, Any], ...]]:
    """The problem with expressions in place of variables, by id, and each constraint with its copy."""
    made: dict[int, Any] = {}

    def walk(e: Any) -> Any:
        if id(e) not in made:
            made[id(e)] = _copied(e, walk) if e.args else known.get(e.id, e) if isinstance(e, cp.Variable) else e
        return made[id(e)]

    objective = type(problem.objective)(walk(problem.objective.expr))
    links = []
    for number, constraint in enumerate(problem.constraints):
        links.append((constraint, _copied(constraint, walk).set_label(constraint.label or f"row {number}")))
    return cp.Problem(objective, [inner for _, inner in links]), tuple(links)


def _copied(e: Any, walk: Any) -> Any:
    if any(isinstance(part, cp.Problem) for part in e.args):
        raise Unreadable(
            "a partial optimum in a problem with integers", str(e), "write its variables and constraints in the problem itself"
        )
    args = [walk(part) for part in e.args]
    if not isinstance(e, cp.constraints.constraint.Constraint) and all(new is old for new, old in zip(args, e.args, strict=True)):
        return e
    try:
        return e.copy(args)
    except (TypeError, ValueError, AssertionError) as error:
        raise Unreadable(
            f"{type(e).__name__} cannot be copied: {error}", str(e), "write integers as an equality with real variables"
        ) from error
