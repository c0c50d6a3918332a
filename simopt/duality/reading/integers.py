"""A problem with boolean and integer variables: its relaxation, and the problem in which these are fixed numbers.

The relaxation has real numbers in their place, of booleans those in [0, 1], with bounds rounded to integers: its optimum bounds that of the
problem. With numbers fixed that are integers, the optimum over the other variables is no better than that of the problem.

A function of booleans has a variable y of its own in the relaxation: max(Σ x_i − n + 1, 0) ≤ y ≤ x_i for "and", x_i ≤ y ≤ min(Σ x_i, 1) for
"or", |x_1 − x_2| ≤ y ≤ min(x_1 + x_2, 2 − x_1 − x_2) for "xor". Where all x_i are 0 or 1, y is its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.elementwise.logic import And, LogicExpression, Not, Or, Xor
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.backends.copies import with_arguments
from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.graph.affine import dense
from simopt.duality.graph.leaf_values import as_floats
from simopt.duality.graph.vectors import Indices
from simopt.duality.reading.convexity import convex
from simopt.duality.reading.geometric import names_of
from simopt.duality.reading.leaves import structure
from simopt.duality.reading.version import known_version

WHOLE = 1e-6  # as near to an integer a value of the user's counts as it
NEAR = 1e-3  # and one of a back end that was asked for integers: the rounded point is checked in any case
SHAPED = ("symmetric", "diag", "sparsity", "PSD", "NSD")  # attributes of matrices that the relaxed variable has, too
KNOWN = ("boolean", "integer", "nonneg", "nonpos", "pos", "neg", "bounds", *SHAPED)  # attributes that are read beside each other


@dataclass(frozen=True, eq=False)
class IntegerVariable:
    """A variable with integer entries.

    Attributes
    ----------
    variable : cvxpy.Variable
    name : str
    entries : array of int
        indices of its integers, column by column.
    relaxed : cvxpy.Variable
        the real variable of the relaxation, of the same name.
    low, high : array
        the bounds of all entries, flat; those of integers are integers.
    rows : tuple
        the bounds as constraints, where the relaxed variable cannot have them itself.
    """

    variable: cp.Variable
    name: str
    entries: Indices
    relaxed: cp.Variable
    low: Array
    high: Array
    rows: tuple[Any, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether all entries are integers."""
        return len(self.entries) == self.variable.size

    def rounded(self, value: Any, within: float = WHOLE) -> tuple[Array, str]:
        """The value with its integer entries rounded, and why it is no value of the variable; empty where it is one."""
        flat = np.array(value, dtype=float).reshape(-1, order="F")
        nearest = np.rint(flat[self.entries]) + 0.0
        far = np.flatnonzero(~(np.abs(flat[self.entries] - nearest) <= within))
        flat[self.entries] = nearest
        if len(far):
            at = int(self.entries[far[0]])
            return flat, f"variable {self.name}: entry {at} is {float(np.ravel(value, order='F')[at])!r}, no integer"
        outside = self.entries[(nearest < self.low[self.entries]) | (nearest > self.high[self.entries])]
        if len(outside):
            at = int(outside[0])
            return flat, f"variable {self.name}: entry {at} is {flat[at]:g}, outside of its bounds"
        source = structure(self.relaxed) if self.whole else None
        if source is not None:
            like = np.where(source < 0, 0.0, flat[source])
            if len(other := np.flatnonzero(flat != like)):
                at = int(other[0])
                return flat, f"variable {self.name}: entry {at} is {flat[at]:g}, and {like[at]:g} in a matrix of its structure"
        return flat, ""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The relaxed problem; its other variables are those of the original, and its rows have the names and labels of that.

    `decisions` are the variables of functions of booleans: (variable, type of the function, its arguments in the relaxation). `geometric`
    is whether the problem is read as a geometric programme.
    """

    original: cp.Problem
    problem: cp.Problem
    variables: tuple[IntegerVariable, ...]
    constraints: tuple[tuple[Any, Any], ...]
    decisions: tuple[tuple[cp.Variable, type, tuple[Any, ...]], ...] = ()
    geometric: bool = False

    @property
    def others(self) -> list[tuple[cp.Variable, str]]:
        """The variables without integer entries, and their names."""
        own = {each.variable.id for each in self.variables}
        return [(v, name) for v, name in names_of(self.original) if v.id not in own]

    @property
    def pure(self) -> bool:
        """Whether all entries of all variables are integers."""
        return not self.others and all(each.whole for each in self.variables)

    def fixed(self, values: Mapping[str, Array], in_logarithms: bool = False) -> cp.Problem:
        """The problem with these integers, flat by name.

        One without other variables has a variable t, which its cost is raised by: f + t with t ≥ 0, or ft with t ≥ 1 `in_logarithms`.
        """
        known: dict[int, Any] = {}
        rows = []
        for each in self.variables:
            if each.whole:
                matrix = cp.Constant(values[each.name].reshape(each.variable.shape, order="F"))
                known[each.variable.id] = matrix
                for name in ("PSD", "NSD"):
                    if each.variable.attributes[name]:
                        rows.append(cp.PSD(matrix if name == "PSD" else -matrix).set_label(f"{each.name} {name}"))
            else:
                known[each.variable.id] = each.relaxed
                rows.append(cp.vec(each.relaxed, order="F")[each.entries] == values[each.name][each.entries])
        problem = _Substitution(known).of(self.original)
        objective = problem.objective
        if self.pure:
            minimises, f = isinstance(objective, cp.Minimize), objective.expr
            t = cp.Variable(pos=True, name="t", bounds=[1.0, np.inf]) if in_logarithms else cp.Variable(nonneg=True, name="t")
            cost = (f * t if minimises else f / t) if in_logarithms else f + t if minimises else f - t
            objective = cp.Minimize(cost) if minimises else cp.Maximize(cost)
        return cp.Problem(objective, [*problem.constraints, *rows])

    def put_decisions(self) -> None:
        """The values of `decisions` at those of the relaxed variables; none where these have none."""
        for y, kind, args in self.decisions:
            values = [arg.value for arg in args]
            none = any(value is None for value in values)
            y.save_value(None if none else np.clip(_value(kind, values, y.shape), 0.0, 1.0))


def has_integers(problem: cp.Problem) -> bool:
    """Whether a variable has boolean or integer entries."""
    return any(_is_integer(v) for v in problem.variables())


def relaxation(problem: cp.Problem, geometric: bool = False) -> Relaxation:
    """The problem with real numbers in place of integers.

    Raises
    ------
    Unreadable
        where it is not convex by CVXPY's rules, a variable with integers has an attribute that is not known, or stands in a part of the
        problem that cannot be copied.
    """
    known_version()
    if not geometric:
        convex(problem)
    found = []
    for v, name in names_of(problem):
        if not _is_integer(v):
            continue
        other = next((key for key, value in v.attributes.items() if key not in KNOWN and value is not None and value is not False), None)
        if other is not None:
            raise Unreadable(f"variable {name}: the attribute {other} of integers is not known", "", "write it as constraints")
        found.append(_relaxed(v, name, geometric))
    walk = _Substitution({each.variable.id: each.relaxed for each in found})
    relaxed = walk.of(problem)
    rows = [row for each in found for row in each.rows]
    whole = cp.Problem(relaxed.objective, [*relaxed.constraints, *rows])
    return Relaxation(problem, whole, tuple(found), tuple(walk.links), tuple(walk.decisions), geometric)


def _is_integer(v: Any) -> bool:
    return bool(v.size) and any(v.attributes[key] is not False and np.size(v.attributes[key]) for key in ("boolean", "integer"))


def _relaxed(v: Any, name: str, geometric: bool) -> IntegerVariable:
    boolean, integer = (_entries(v, which) for which in (v.boolean_idx, v.integer_idx))
    entries = np.union1d(boolean, integer).astype(np.intp)
    low, high = np.full(v.size, -np.inf), np.full(v.size, np.inf)
    if v.attributes["bounds"] is not None:
        if any(isinstance(end, cp.Expression) for end in v.attributes["bounds"]):
            raise Unreadable(f"variable {name}: bounds of integers that are expressions are not known", "", "write them as constraints")
        low, high = (
            np.array(np.broadcast_to(as_floats(end, f"variable {name}: a bound"), v.shape).reshape(-1, order="F"), dtype=float)
            for end in v.attributes["bounds"]
        )
    low[boolean], high[boolean] = np.maximum(low[boolean], 0.0), np.minimum(high[boolean], 1.0)
    if v.attributes["nonneg"] or v.attributes["pos"]:
        low = np.maximum(low, 0.0)
    if v.attributes["nonpos"] or v.attributes["neg"]:
        high = np.minimum(high, 0.0)
    if geometric:  # variables are above 0 there
        low[entries] = np.maximum(low[entries], 1.0)
    low[entries], high[entries] = np.ceil(low[entries]) + 0.0, np.floor(high[entries]) + 0.0
    shaped = {key: v.attributes[key] for key in SHAPED if v.attributes.get(key) is not None and v.attributes[key] is not False}
    shaped |= {"pos": True} if geometric else {}
    if not (shaped.keys() & {*SHAPED} or np.any(low > high)):
        ends = [end.reshape(v.shape, order="F") for end in (low, high)]
        return IntegerVariable(v, name, entries, cp.Variable(v.shape, name, bounds=ends, **shaped), low, high)
    relaxed = cp.Variable(v.shape, name, **shaped)
    source = structure(relaxed)
    if source is not None:
        low, high = np.where(source < 0, -np.inf, low), np.where(source < 0, np.inf, high)
    rows, flat = [], cp.vec(relaxed, order="F")
    for end, sign, which in ((low, 1, "lower"), (high, -1, "upper")):
        if len(at := np.flatnonzero(np.isfinite(end))):
            row = flat[at] >= end[at] if sign > 0 else flat[at] <= end[at]
            rows.append(row.set_label(f"{which} bounds of {name}"))
    return IntegerVariable(v, name, entries, relaxed, low, high, tuple(rows))


def _entries(v: Any, index: Any) -> Indices:
    if not len(index):
        return np.zeros(0, dtype=np.intp)
    return np.ravel(np.ravel_multi_index(tuple(np.asarray(each) for each in index), v.shape or (1,), order="F")).astype(np.intp)


def _value(kind: type, values: list[Any], shape: tuple[int, ...]) -> Array:
    """The value of a function of booleans at numbers, exact for those that are 0 or 1."""
    arrays = np.array([np.broadcast_to(np.asarray(dense(value), dtype=float), shape) for value in values])
    function: dict[type, Callable[[Array], Array]] = {
        Not: lambda x: 1.0 - x[0],
        And: lambda x: x.min(axis=0),
        Or: lambda x: x.max(axis=0),
        Xor: lambda x: x.sum(axis=0) % 2.0,
    }
    return function[kind](arrays)


class _Substitution:
    """A problem with expressions in place of variables, by id.

    `links` pairs each constraint with its copy. A function of booleans becomes a number where its arguments are numbers, else one of
    `decisions`. The optimum over some variables becomes its objective, with its rows beside the others.
    """

    def __init__(self, known: Mapping[int, Any]) -> None:
        self.known = known
        self.made: dict[int, Any] = {}
        self.links: list[tuple[Any, Any]] = []
        self.required: list[Any] = []
        self.decisions: list[tuple[cp.Variable, type, tuple[Any, ...]]] = []

    def of(self, problem: cp.Problem) -> cp.Problem:
        """The copy of the problem; its further rows have labels of their own."""
        objective = type(problem.objective)(self._walk(problem.objective.expr))
        for number, constraint in enumerate(problem.constraints):
            self.links.append((constraint, self._copied(constraint).set_label(constraint.label or f"row {number}")))
        labels = {inner.label for _, inner in self.links}
        count = 0
        for row in self.required:
            while (label := f"auxiliary row {count}") in labels:
                count += 1
            row.set_label(label)
            labels.add(label)
        return cp.Problem(objective, [*(inner for _, inner in self.links), *self.required])

    def _walk(self, e: Any) -> Any:
        if id(e) not in self.made:
            if isinstance(e, PartialProblem):
                self.made[id(e)] = self._walk(e.args[0].objective.expr)
                self.required += [self._copied(row) for row in e.args[0].constraints]
            elif isinstance(e, LogicExpression):
                self.made[id(e)] = self._decided(e, [self._walk(self._boolean(part, e)) for part in e.args])
            elif e.args:
                self.made[id(e)] = self._copied(e)
            else:
                self.made[id(e)] = self.known.get(e.id, e) if isinstance(e, cp.Variable) else e
        return self.made[id(e)]

    def _boolean(self, part: Any, whole: Any) -> Any:
        if isinstance(part, cp.Variable) and len(_entries(part, part.boolean_idx)) < part.size:
            raise Unreadable(
                f"a function of variable {part.name()}, which is boolean in some entries only", str(whole), "use two variables"
            )
        return part

    def _decided(self, e: Any, args: list[Any]) -> Any:
        """The function as a number, as 1 − x, or as a variable with its rows; "xor" of more than two is one of two after the other."""
        if all(isinstance(arg, cp.Constant) for arg in args):
            return cp.Constant(_value(type(e), [arg.value for arg in args], e.shape))
        if isinstance(e, Not):
            return 1 - args[0]
        if isinstance(e, Xor):
            last = args[0]
            for arg in args[1:]:
                last = self._decision(e, [last, arg])
            return last
        return self._decision(e, args)

    def _decision(self, e: Any, args: list[Any]) -> Any:
        kind = type(e)
        y = cp.Variable(e.shape, f"{kind.__name__.lower()} {len(self.decisions) + 1}", bounds=[0.0, 1.0])
        total = sum(args[1:], start=args[0])
        if kind is And:
            self.required += [*(y <= x for x in args), y >= total - (len(args) - 1)]
        elif kind is Or:
            self.required += [*(y >= x for x in args), y <= total]
        else:
            self.required += [y <= total, y >= args[0] - args[1], y >= args[1] - args[0], y <= 2 - total]
        self.decisions.append((y, kind, tuple(args)))
        return y

    def _copied(self, e: Any) -> Any:
        args = [self._walk(part) for part in e.args]
        if not isinstance(e, cp.constraints.constraint.Constraint) and all(new is old for new, old in zip(args, e.args, strict=True)):
            return e
        try:
            return with_arguments(e, args)
        except (TypeError, ValueError, AssertionError) as error:
            raise Unreadable(
                f"{type(e).__name__} cannot be copied: {error}", str(e), "write integers as an equality with real variables"
            ) from error
