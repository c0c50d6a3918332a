"""Multipliers of every term from one solve: the argument of each is made a variable, the dual of whose row is the multiplier."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.arrays import Array, Multipliers, Point
from simopt.duality.declared import Declared
from simopt.duality.programme import Definition, Epigraph, Row, Term
from simopt.errors import NotAvailable

TIGHT = {"CLARABEL": {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "max_iter": 200, "warm_start": False}}


class GraphForm:
    """min f with each term φ(z) in place of φ(Ax + b), subject to z = Ax + b (z ≥ where φ rises in what is convex, ≤ where it falls).

    The dual of such a row is the term's multiplier. Terms that absorb what is left need none.

    Attributes
    ----------
    problem : cvxpy.Problem
        to be solved by anyone.
    """

    def __init__(self, declared: Declared) -> None:
        self.declared, programme = declared, declared.programme
        self.by_source = {id(term.source): term for term in programme.terms}
        bounded = set(programme.bounds)
        self.needless = {each.term.key for each in declared.plan if each.leaf.key not in bounded}
        self.needless |= {each.host.key for each in declared.plan if isinstance(each.host, Term)}
        self.known: dict[int, tuple[Any, Any]] = {}
        self.links: dict[str, list[tuple[Any, int]]] = {}  # term -> rows and the sign with which their duals count
        self.added: list[Any] = []
        objective = self.written(programme.problem.objective.expr)
        self.rows = {row.name: self._row(row) for row in self._rows() if row.sides is not None}
        goal = cp.Maximize(objective) if programme.maximises else cp.Minimize(objective)
        self.problem = cp.Problem(goal, [*self.rows.values(), *self.added])

    def _rows(self) -> list[Row]:
        programme = self.declared.programme
        rows = [*programme.rows, *(bound.row for bounds in programme.bounds.values() for bound in bounds)]
        for node in programme.nodes:
            rows += [node.row] if isinstance(node, Definition) else node.rows if isinstance(node, Epigraph) else []
        return rows

    def _row(self, row: Row) -> Any:
        left, right = (self.written(side) for side in row.sides or ())
        return left == right if row.equality else left <= right

    def written(self, e: Any) -> Any:
        """The expression with its terms in graph form."""
        if isinstance(e, indicator):  # its constraints are rows
            return cp.Constant(0.0)
        if isinstance(e, PartialProblem):
            return self.written(e.args[0].objective.expr)
        if not e.args or e.is_constant() or isinstance(e, cp.perspective):
            return e
        if id(e) not in self.known:
            term = self.by_source.get(id(e))
            if term is None or not term.parts or term.key in self.needless:
                self.known[id(e)] = (e, e.copy([self.written(a) for a in e.args]))
            else:
                self.known[id(e)] = (e, self._term(e, term))
        return self.known[id(e)][1]

    def _term(self, e: Any, term: Term) -> Any:
        sizes = dict(term.parts)
        flip = -1 if isinstance(e, (cp.minimum, cp.min)) else 1
        given = list(e.args)
        links: dict[int, tuple[Any, int]] = {}
        for number, entries in sizes.items():
            argument = e.args[number]
            if argument.is_constant():
                links[number] = (np.zeros(entries), 1)
                continue
            z, inner = cp.Variable(argument.shape if argument.size == entries else e.shape), self.written(argument)
            if argument.is_affine():
                row, sign = inner == z, 1
            elif argument.is_convex():
                row, sign = inner <= z, 1
            else:
                row, sign = z <= inner, -1
            self.added.append(row)
            links[number] = (row, sign * flip)
            given[number] = z
        self.links[term.name] = [links[number] for number in sizes]
        return e.copy(given)

    def multipliers(self) -> Multipliers:
        """The duals of a form that was solved, by the names of `Declared`."""
        found = {name: _dual(row) for name, row in self.rows.items()}
        for name, links in self.links.items():
            found[name] = np.concatenate([sign * (row if isinstance(row, np.ndarray) else _dual(row)) for row, sign in links])
        return self.declared.completed(self.point(), found)

    def point(self) -> Point:
        """The leaves' values after a solve."""
        return {leaf.name: leaf.found() for leaf in self.declared.programme.leaves.values()}


def _dual(row: Any) -> Array:
    return np.asarray(row.dual_value, dtype=float).reshape(-1, order="F")


def solved(declared: Declared, solver: str = "CLARABEL", **options: Any) -> tuple[Point, Multipliers]:
    """Point and multipliers from one solve of the graph form, tight by default: candidates, which the judge weighs.

    Raises
    ------
    NotAvailable
        where the back end returns no point.
    """
    form = GraphForm(declared)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the back end says of its answer is not asked: the judge is
        try:
            form.problem.solve(solver=solver, **(options or TIGHT.get(solver, {})))
        except (cp.SolverError, ValueError) as error:  # of data that are not finite CVXPY says so by a ValueError
            raise NotAvailable(f"{solver} returned no point: {error}") from error
    if any(v.value is None for v in form.problem.variables()) or any(row.dual_value is None for row in form.added):
        raise NotAvailable(f"{solver} returned no point, and said {form.problem.status}")
    return form.point(), form.multipliers()
