"""Multipliers of every term from one solve: the argument of each is made a variable, the dual of whose row is the multiplier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.arrays import Multipliers, Point
from simopt.certificate import certify
from simopt.duality.measured import Measured
from simopt.duality.programme import Term
from simopt.duality.units import RAW, Sizes, degree, equilibrated
from simopt.errors import NotAvailable

if TYPE_CHECKING:
    from simopt.duality.declared import Declared

TIGHT = {"CLARABEL": {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "max_iter": 200, "warm_start": False}}
CLOSED = 1e-10  # gap / scale


@dataclass(frozen=True)
class Link:
    """The row of a term's argument: its dual, times the sign, is the part of the term's multiplier that begins at `start`."""

    label: str
    number: int
    start: int
    size: int
    sign: int


def links(term: Term) -> Iterator[Link]:
    """The arguments of a term that are not constant. One for all and of sign 1 bears the name of the term."""
    start, several = 0, len(term.parts) > 1
    flip = -1 if isinstance(term.source, (cp.minimum, cp.min)) else 1
    for number, size in term.parts:
        argument = term.source.args[number]
        if not argument.is_constant():
            sign = flip if argument.is_convex() else -flip
            yield Link("−" * (sign < 0) + term.name + f" of {number}" * several, number, start, size, sign)
        start += size


class GraphForm:
    """min f with each term φ(z) in place of φ(Ax + b), subject to z = Ax + b (z ≥ where φ rises in what is convex, ≤ where it falls).

    The dual of such a row is the term's multiplier. Terms that absorb what is left need none.

    In units σ, ρ, τ the programme is written in x/σ, its rows and the objective divided by ρ and τ. The unit of an argument leaves a
    homogeneous function as φ(ρz) = ρ^p φ(z), so that the power of a small number never meets that of a large one.

    Attributes
    ----------
    problem : cvxpy.Problem
        to be solved by anyone; its rows bear the names of `Declared.names` and `Declared.links`.
    """

    def __init__(self, declared: Declared, sizes: Sizes = RAW) -> None:
        self.declared, self.sizes, programme = declared, sizes, declared.programme
        self.by_source = {id(term.source): term for term in programme.terms}
        bounded = set(programme.bounds)
        alone = [each for each in declared.plan if sizes is RAW]  # in other units the unit has to leave these, too
        self.needless = {each.term.key for each in alone if each.leaf.key not in bounded}
        self.needless |= {each.host.key for each in alone if isinstance(each.host, Term)}
        self.measured = Measured(programme, sizes)
        self.known: dict[int, tuple[Any, Any]] = {}
        self.rows: dict[str, tuple[Any, float]] = {}  # label -> row, and what its dual is to be multiplied with
        objective = self.written(programme.problem.objective.expr) / sizes.objective
        for row in programme.all_rows():
            if row.sides is not None:
                unit = sizes.maps.get(row.key, 1.0)
                left, right = (self.written(side) / unit for side in row.sides)
                self._add(row.name, left == right if row.equality else left <= right, unit)
        goal = cp.Maximize(objective) if programme.maximises else cp.Minimize(objective)
        self.problem = cp.Problem(goal, [row for row, _ in self.rows.values()])

    def _add(self, label: str, row: Any, unit: float) -> None:
        self.rows[label] = (row.set_label(label), self.sizes.objective / unit)

    def written(self, e: Any) -> Any:
        """The expression in its units, with its terms in graph form."""
        if isinstance(e, cp.Variable):
            return self.measured.written(e)
        if isinstance(e, indicator):  # its constraints are rows
            return cp.Constant(0.0)
        if isinstance(e, PartialProblem):
            return self.written(e.args[0].objective.expr)
        if not e.args or e.is_constant() or isinstance(e, cp.perspective):
            return e
        if id(e) in self.declared.programme.rewritten:
            return self.written(self.declared.programme.rewritten[id(e)][1])
        if id(e) not in self.known:
            term = self.by_source.get(id(e))
            if term is None or not term.parts or term.key in self.needless:
                self.known[id(e)] = (e, e.copy([self.written(a) for a in e.args]))
            else:
                self.known[id(e)] = (e, self._term(e, term))
        return self.known[id(e)][1]

    def _term(self, e: Any, term: Term) -> Any:
        p, row_unit = degree(term.atom), self.sizes.maps.get(term.key, 1.0)
        unit = 1.0 if p is None else row_unit  # of the argument
        own = {number for number, _ in term.parts}
        given = [argument / unit if unit != 1.0 and number in own else argument for number, argument in enumerate(e.args)]
        for link in links(term):
            argument = e.args[link.number]
            inner, z = self.written(argument) / row_unit, cp.Variable(argument.shape if argument.size == link.size else e.shape)
            outer = z * (unit / row_unit)
            row = inner == outer if argument.is_affine() else inner <= outer if argument.is_convex() else outer <= inner
            self._add(link.label, row, row_unit)
            given[link.number] = z
        if p is None or unit == 1.0:
            return e.copy(given)
        scaled = cp.huber(given[0], e.M / unit) if isinstance(e, cp.huber) else e.copy(given)
        with np.errstate(over="ignore"):  # an infinite factor is refused by the back end
            return float(np.exp2(p * np.log2(unit))) * scaled

    def multipliers(self) -> Multipliers:
        """The duals of a form that was solved, by the names of `Declared`."""
        return self.declared.completed(self.point(), self.multipliers_of({label: row.dual_value for label, (row, _) in self.rows.items()}))

    def multipliers_of(self, duals: Mapping[str, Any]) -> Multipliers:
        """Duals of its rows by the names of `Declared`; others as they are."""
        units = {label: unit for label, (_, unit) in self.rows.items()}
        found = {label: np.asarray(dual, dtype=float).reshape(-1, order="F") * units.get(label, 1.0) for label, dual in duals.items()}
        return self.declared.assembled(found)

    def point(self) -> Point:
        """The leaves' values after a solve."""
        return {leaf.name: self.measured.found(leaf) for leaf in self.declared.programme.leaves.values()}

    def point_of(self, values: Mapping[str, Any]) -> Point:
        """Values of its variables in the units of the declaration; others as they are."""
        units = {leaf.name: self.measured.unit(leaf.variable) for leaf in self.declared.programme.leaves.values()}
        return {name: np.asarray(value, dtype=float) * units.get(name, 1.0) for name, value in values.items()}


def solved(declared: Declared, solver: str = "CLARABEL", **options: Any) -> tuple[Point, Multipliers]:
    """Point and multipliers from one solve of the graph form, tight by default: candidates, which the judge weighs.

    Solved is the form in units in which its numbers are near 1 and, where the certificate does not close with that, the form as it was
    declared: then the point is that with the smaller objective, the multipliers are those with the larger bound.

    Raises
    ------
    NotAvailable
        where the back end returns no point for either.
    """
    found, failure = [], None
    for units in (equilibrated(declared.programme), RAW):
        try:
            point, multipliers = _solved(GraphForm(declared, units), solver, options)
        except NotAvailable as error:
            failure = error
            continue
        certificate = certify(declared, point, multipliers)
        if certificate.closes(CLOSED):
            return point, multipliers
        found.append((certificate.upper, -certificate.lower, point, multipliers))
    if failure is not None and not found:
        raise failure
    return min(found, key=lambda each: each[0])[2], min(found, key=lambda each: each[1])[3]


def _solved(form: GraphForm, solver: str, options: dict[str, Any]) -> tuple[Point, Multipliers]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the back end says of its answer is not asked: the judge is
        try:
            form.problem.solve(solver=solver, **(options or TIGHT.get(solver, {})))
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # CVXPY and back ends raise whatever they like (a panic of Rust is no Exception)
            raise NotAvailable(f"{solver} returned no point: {type(error).__name__}: {error}") from error
    arguments = (form.rows[link.label][0] for term in form.declared.programme.terms for link in links(term) if link.label in form.rows)
    if any(v.value is None for v in form.problem.variables()) or any(row.dual_value is None for row in arguments):
        raise NotAvailable(f"{solver} returned no point, and said {form.problem.status}")
    return form.point(), form.multipliers()
