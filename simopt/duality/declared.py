"""A declaration as a problem that the judge can assess: every formula of the certificate is derived."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic, Interval
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.evaluation.backward import Backward, Perturb, backward
from simopt.duality.evaluation.closing_terms import ClosingTerm, closing_terms
from simopt.duality.evaluation.distance import moduli, radius
from simopt.duality.evaluation.forward import Forward, forward, upper_to_rounding
from simopt.duality.evaluation.term_size import least_fraction, outer_size, own_sizes, term_size
from simopt.duality.feasibility.restoration import LITTLE, Restored, restored
from simopt.duality.feasibility.slater import SlaterCandidates
from simopt.duality.graph.affine import Key
from simopt.duality.graph.leaf_values import changing, numbers
from simopt.duality.graph.matrix_terms import has_matrices
from simopt.duality.graph.programme import Definition, Epigraph, Programme, Row, Term
from simopt.duality.graph.vectors import Value, vector
from simopt.duality.graph_form import GraphForm, Link, links
from simopt.duality.helping_solves import IterationBudget, helping_solver
from simopt.duality.infeasibility.interior_multipliers import interior_multipliers
from simopt.duality.reading.lately_read import LatelyRead, rests_on_values
from simopt.duality.reading.reader import read
from simopt.duality.recent import Recent
from simopt.duality.stationarity.closure import close_stationarity
from simopt.duality.stationarity.inward import InwardMultipliers
from simopt.duality.stationarity.polish import inside_of_bounds, polished
from simopt.duality.stationarity.repair import stationary_inside
from simopt.duality.units.units import equilibrated, natural_size, natural_units
from simopt.model.entries import Shapes
from simopt.model.gap_unit import EXCUSED, as_cancelled, ratio
from simopt.model.problem import ALL_CONES, Example, Problem, Rescale, hashed

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.data.datasets import Dataset

LOST = 0.25  # of the tolerance of a brief search: what a point may lose where it is restored
KINK = 1e-6  # of the largest entry of an argument: as near to a kink a solver's point counts as on it
PARTS = (1e-9, 1e-8, 1e-7, 1e-6)  # of multipliers far inside, that are mixed with those of a solver


@dataclass(frozen=True, eq=False)
class Declared(Problem):
    """min f(x) for a `cvxpy.Problem`, or min −f(x) if it maximises f.

    Point: the variables that nothing defines, by name. Multipliers: of constraints by their label (or "row 3", the fourth of the list), of
    terms by their name ("huber 1"); see `names`. A missing multiplier counts as 0.
    Scale: |f| at x = 0 clipped to its bounds. If that is 0 or infeasible, it is the bound of the slopes there, or the largest part of f for
    variables of the size that the constants suggest (`units.natural_size`).

    Parameters
    ----------
    programme : Programme
        the result of `simopt.duality.read` for the problem.
    """

    name: ClassVar[str] = "declared"
    title: ClassVar[str] = "a declared problem, its certificate derived"
    arithmetics: ClassVar[tuple[str, ...]] = ("float", "interval", "rational")

    intervals_first: ClassVar[bool] = True
    little: ClassVar[float] = LITTLE
    helped: ClassVar[bool] = True  # whether solves find a Slater point and multipliers inside of sets of matrices
    programme: Programme
    plan: tuple[ClosingTerm, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "plan", tuple(closing_terms(self.programme)))

    @classmethod
    def of(cls, problem: cp.Problem) -> Self:
        """Read a `cvxpy.Problem`, or remember how it was read; the errors are those of `read`.

        The graph is remembered, with what follows from its numbers. What was learned of points is not: it would depend on those before.
        """
        return cls(LATELY.of(problem, read, rests_on_values))

    def briefly(self, tol: float, draws_inside: bool = False, helped: bool = True) -> Declared:
        """The same problem, where a bound is sought by the first attempts alone, and a point may lose a part of `tol`.

        Multipliers are `moved_inside` only if asked for.
        """
        return Brief(self, tol, draws_inside, helped)

    def with_iterations(self, iterations: IterationBudget) -> Self:
        """This problem, whose helping solves count in this budget."""
        vars(self)["iterations"] = iterations
        return self

    @property
    def maximises(self) -> bool:
        """Whether the problem maximises f."""
        return self.programme.maximises

    def declare(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The problem that was read."""
        return self.programme.problem

    @cached_property
    def names(self) -> dict[str, tuple[Row | None, Key, int]]:
        """The rows and terms that have a multiplier: name → (row if it is one, key, number of entries)."""
        terms: dict[str, tuple[Row | None, Key, int]] = {
            term.name: (None, term.key, self.cones[term.key].n ** 2 if term.key in self.cones else term.argument.size)
            for term in self.programme.terms
        }
        return terms | {row.name: (row, row.key, row.map.size) for row in self.programme.every_row}

    @cached_property
    def cones(self) -> dict[Key, SemidefiniteCone]:
        """The cones by key, whose multiplier by name is the matrix U ⪰ 0 that CVXPY's dual value is, and by key the triangle of −U."""
        return {term.key: term.atom for term in self.programme.terms if isinstance(term.atom, SemidefiniteCone)}

    @cached_property
    def links(self) -> dict[str, tuple[Term, Link]]:
        """The rows of terms in the graph form, by label, whose dual is only a part of a multiplier or its negative."""
        found = {link.label: (term, link) for term in self.programme.terms for link in links(term)}
        return {label: each for label, each in found.items() if label not in self.names}

    def assembled(self, multipliers: Mapping[str, Any]) -> Multipliers:
        """The multipliers of a graph form by the names of `names`.

        Raises
        ------
        InvalidProblem
            where a part of one is of the wrong size.
        """
        found: Multipliers = {}
        for label, values in multipliers.items():
            if label not in self.links:
                found[label] = values
                continue
            term, link = self.links[label]
            part = np.asarray(values, dtype=float).reshape(-1, order="F")
            if part.size != link.size:
                raise InvalidProblem(f"multipliers: {label} has {part.size} entries, expected {link.size}")
            found.setdefault(term.name, np.zeros(term.argument.size))[link.start : link.start + link.size] = link.sign * part
        return found

    def for_back_ends(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The graph form."""
        return GraphForm(self).problem

    def normalised(self) -> tuple[Declared, Rescale]:
        """The problem whose graph form is in units in which its numbers are near 1, and the way back.

        Terms that have no multipliers in that form get theirs at the point.
        """
        form = GraphForm(self, equilibrated(self.programme))
        back = Rescale.together(form.point_of, lambda point, duals: self.completed(point, form.multipliers_of(duals)))
        return InUnits(self.programme, form), back

    def candidates(self, multipliers: Mapping[str, Any]) -> dict[Key, Array]:
        """Multipliers by key; the rows of an epigraph one below the other.

        Raises
        ------
        InvalidProblem
            where one is of the wrong size.
        UnknownName
            where nothing has the name.
        """
        by_key: dict[Key, Array] = {}
        for name, values in self.assembled(multipliers).items():
            if name not in self.names:
                raise UnknownName("multiplier", name, self.names)
            _, key, size = self.names[name]
            flat = np.array(values, dtype=float).reshape(-1, order="F")
            if flat.size != size:
                raise InvalidProblem(f"multipliers: {name} has {flat.size} entries, expected {size}")
            if not np.isfinite(flat).all():
                at = int(np.argmin(np.isfinite(flat)))
                raise InvalidProblem(f"multipliers: entry {at} of {name} is {flat[at]}; they must be finite")
            by_key[key] = flat if key not in self.cones else -self.cones[key].coordinates(flat.reshape(2 * (self.cones[key].n,), order="F"))
        for node in self.programme.nodes:
            if isinstance(node, Epigraph) and any(row.key in by_key for row in node.rows):
                by_key[node.key] = np.concatenate([by_key.get(row.key, np.zeros(row.map.size)) for row in node.rows])
        return by_key

    def multipliers(self, point: Point, rows: Multipliers | None = None) -> Multipliers | None:
        """The slopes of the terms at the point, given multipliers of rows (else 0); None where it is not in the domain of all.

        The point need not be feasible: where no rows hold strictly, rounding decides whether it is.
        """
        at = self._at(point, FLOAT)
        if not at.has_slopes:
            return None
        return self._named(self.backward(rows or {}, FLOAT, at).used)

    def polished(self, point: Point, rows: Multipliers) -> Multipliers | None:
        """The multipliers of rows and the slopes at a point of a solver, made stationary; None without a kink, or outside of a domain.

        An argument that is at most KINK of its largest entry away from a kink counts as on it. See `stationarity.polish`.
        """
        at = self._at(point, FLOAT)
        nodes = [node for node in self.programme.nodes if not isinstance(node, Definition) and node.atom.has_kinks]
        near = {node.key: node.atom.on_kinks(z := at.arguments[node.key], KINK * float(np.max(np.abs(z), initial=0.0))) for node in nodes}
        if not at.has_slopes or all(np.array_equal(z, at.arguments[key]) for key, z in near.items()):
            return None
        there = replace(at, arguments={**at.arguments, **near})
        with np.errstate(all="ignore"):
            slopes = backward(FLOAT, self.programme, (), self.candidates(rows), there).used
            found = polished(self.programme, self._values(point, FLOAT), slopes)
        return None if found is None else self._named(found)

    def stationary_inside(self, point: Point, multipliers: Multipliers) -> Multipliers | None:
        """The multipliers moved so that stationarity holds where the point is at no bound, of which no kink takes care; None where it does.

        See `stationarity.repair.stationary_inside`.
        """
        with np.errstate(all="ignore"):
            inside = inside_of_bounds(self.programme, self._values(point, FLOAT))
            found = stationary_inside(self.programme, self.candidates(multipliers), inside)
        return None if found is None else self._named(found)

    def completed(self, point: Point, multipliers: Multipliers) -> Multipliers:
        """The multipliers; terms in perspectives and of constants, which have none, get their slopes at the point."""
        nodes = [node for node in self.programme.nodes if isinstance(node, Term)]
        fixed = {node.name: node.constant | (not node.parts) for node in nodes}
        terms = [name for name, mask in fixed.items() if mask.any() and not (mask.all() and name in multipliers)]
        if not terms:
            return multipliers
        given = {name: values for name, values in multipliers.items() if name not in terms}
        slopes = self._named(self.backward(given, FLOAT, self._at(point, FLOAT)).used)
        found = {name: np.where(fixed[name], slopes[name], multipliers.get(name, 0.0)) for name in terms if name in slopes}
        return dict(multipliers) | found

    def moved_inside(self, multipliers: Multipliers) -> Iterator[Multipliers]:
        """(1 − θ)u + θū with multipliers ū far inside of their domains, for some small θ."""
        inner = self._inner.of(self._now(FLOAT), {}, lambda _: self._interior_multipliers())
        if inner is None:
            return
        given = {name: np.asarray(u, dtype=float).reshape(-1, order="F") for name, u in multipliers.items()}
        inside = {name: inner[name].reshape(-1, order="F") if name in inner else u for name, u in given.items()}
        for part in PARTS:
            yield {name: (1.0 - part) * u + part * inside[name] for name, u in given.items()}

    def _interior_multipliers(self) -> Multipliers | None:
        return interior_multipliers(self.programme.problem, solver=helping_solver(self.programme), iterations=self.iterations)

    @cached_property
    def _inner(self) -> Recent[Key, Multipliers | None]:
        return Recent(1)

    def _named(self, used: Mapping[Key, Value]) -> Multipliers:
        named = {name: np.array(used[key]) for name, (_, key, _) in self.names.items() if key in used}
        for name, (_, key, _) in self.names.items():
            if key in used and key in self.cones:
                named[name] = -self.cones[key].dual_matrix(FLOAT, np.array(used[key])).reshape(-1, order="F")
        for node in self.programme.nodes:
            if isinstance(node, Epigraph) and node.key in used:
                ends = np.cumsum([row.map.size for row in node.rows])[:-1]
                parts = np.split(np.array(used[node.key]), ends)
                named |= {row.name: part for row, part in zip(node.rows, parts, strict=True)}
        return named

    def arguments(self, point: Point) -> dict[Key, Array]:
        """The arguments of the terms at the point, in floats."""
        return {key: np.asarray(z, dtype=float) for key, z in self._at(point, FLOAT).arguments.items()}

    def values(self, point: Point) -> dict[Key, Array]:
        """The values of all variables and terms at the point by key, in floats."""
        return {key: np.asarray(value, dtype=float) for key, value in self._at(point, FLOAT).values.items()}

    def variables(self, point: Point) -> Point:
        """The values of all variables by name, also of definitions and epigraphs."""
        at, nodes = self._at(point, FLOAT), [node for node in self.programme.nodes if not isinstance(node, Term)]
        return {**point, **{node.name: _shaped(at.values[node.key], node.shape) for node in nodes}}

    @property
    def written(self) -> Iterator[tuple[Any, str]]:
        """CVXPY's variables that have entries, and their names in `variables`."""
        nodes = {node.key: node.name for node in self.programme.nodes} | {leaf.key: leaf.name for leaf in self.programme.leaves.values()}
        for variable in self.programme.problem.variables():
            if variable.size:
                yield variable, nodes[self.programme.variables[variable.id]]

    def backward(self, multipliers: Multipliers, num: Arithmetic, slopes: Forward | None = None, upper: float = math.inf) -> Backward:
        """The dual sweep: the bound, the losses at a point, and the reasons why it is open."""

        def sweep(candidates: Mapping[Key, Array]) -> Backward:
            with np.errstate(all="ignore"):
                found = backward(num, self.programme, self.plan, candidates, slopes)
                if slopes is not None:
                    return found
                if found.open and self.has_matrices:
                    inward = self._inward.of(self._now(FLOAT), {}, lambda _: InwardMultipliers(self))
                    inside = inward.proven(num, candidates, self.helped)
                    if inside is not None:
                        return inside
                return close_stationarity(num, self.programme, self.plan, candidates, found, upper, self.brief)

        return self._backwards.of((slopes, upper, self._now(num)), self.candidates(multipliers), sweep)

    @cached_property
    def _backwards(self) -> Recent[Key, Backward]:
        return Recent(2)

    @cached_property
    def _inward(self) -> Recent[Key, InwardMultipliers]:
        return Recent(1)

    @cached_property
    def iterations(self) -> IterationBudget:
        """What is left for solves that help."""
        return IterationBudget(self.programme)

    @cached_property
    def has_matrices(self) -> bool:
        """Whether multipliers have to be drawn inside of sets of matrices."""
        return has_matrices(self.programme)

    @cached_property
    def _forwards(self) -> Recent[Key, Forward]:
        return Recent(3)  # the trivial point, the judged one, and the one that intervals make of it

    @cached_property
    def _restorations(self) -> Recent[Key, Restored]:
        return Recent(2)

    @cached_property
    def _interiors(self) -> Recent[Key, SlaterCandidates]:
        return Recent(2)

    def _now(self, num: Arithmetic) -> tuple[Any, ...]:
        """The arithmetic, and the present values of parameters and of the bounds of variables."""
        return (num, *changing(self.programme.problem))

    def _values(self, point: Mapping[str, Any], num: Arithmetic) -> dict[Key, Value]:
        values = {}
        for key, leaf in self.programme.leaves.items():
            given = point[leaf.name]
            flat = vector(num, given if isinstance(given, Interval) else np.array(given))
            if len(flat) != leaf.size:
                raise InvalidProblem(f"point: {leaf.name} has {len(flat)} entries, expected {leaf.size}")
            values[key] = flat
        return values

    def _at(self, point: Point, num: Arithmetic) -> Forward:
        def sweep(values: Mapping[Key, Value]) -> Forward:
            with np.errstate(all="ignore"):
                return forward(num, self.programme, values)

        return self._forwards.of(self._now(num), self._values(point, num), sweep)

    def objective(self, point: Point, num: Arithmetic = FLOAT) -> Value:
        """f(x); ∞ where the point is not proven to be feasible."""
        at = self._at(point, num)
        return math.inf if at.violated else at.objective

    def restore(self, point: Point, num: Arithmetic = FLOAT) -> Point:
        """The leaves moved into their bounds, onto the equalities and, where rows are violated, towards a Slater point."""
        return self._restored(point, num, 0.0, self.helped)

    def restore_roughly(self, point: Point, max_loss: float) -> Point:
        """The same, but no Slater point is solved for where 0 is one that costs at most `max_loss`."""
        return self._restored(point, FLOAT, max_loss, self.helped)

    def restore_without_solves(self, point: Point) -> Point:
        """The same in floats, where no Slater point is solved for: it may stay infeasible."""
        return self._restored(point, FLOAT, 0.0, False)

    def _restored(self, point: Point, num: Arithmetic, max_loss: float, solves: bool) -> Point:
        interior = self._interiors.of((solves, self._now(FLOAT)), {}, lambda _: SlaterCandidates(self.programme, self.iterations, solves))

        def move(values: Mapping[Key, Value]) -> Restored:
            with np.errstate(all="ignore"):
                return restored(num, self.programme, values, interior, max_loss, self.little)

        values, found = self._restorations.of((max_loss, solves, *self._now(num)), self._values(point, num), move)
        self._forwards.keep(self._now(num), values, found)
        return {leaf.name: _shaped(leaf.structured(num, values[key]), leaf.shape) for key, leaf in self.programme.leaves.items()}

    def dual_bound(self, multipliers: Multipliers, num: Arithmetic = FLOAT, upper: float = math.inf) -> Value:
        """The bound of the backward sweep; −∞ where something is open."""
        found = self.backward(multipliers, num, upper=upper)
        return -math.inf if found.open else found.value

    def is_stationary(self, multipliers: Multipliers) -> bool:
        """Whether closing terms and bounds take what these multipliers leave of stationarity, in one sweep in floats."""
        with np.errstate(all="ignore"):
            return not backward(FLOAT, self.programme, self.plan, self.candidates(multipliers)).open

    def perturbed_dual_bound(self, multipliers: Multipliers, perturb: Perturb, upper: float = math.inf) -> float:
        """The bound of multipliers next to these in floats, with the pivots that these have; −∞ where others would be needed."""
        kept = self.backward(multipliers, FLOAT, upper=upper).perturbed
        with np.errstate(all="ignore"):
            beside = perturb(self.candidates(multipliers))
            found = backward(FLOAT, self.programme, self.plan, beside) if kept is None else kept(perturb)
        return -math.inf if found.open else float(found.value)

    def upper_to_rounding(self, point: Point, multipliers: Multipliers, upper: float = math.inf) -> float:
        """See `evaluation.forward.upper_to_rounding`; the multipliers are those that the sweep in floats uses."""
        with np.errstate(all="ignore"):
            used = self.backward(multipliers, FLOAT, upper=upper).used
            return upper_to_rounding(self.programme, self._values(point, INTERVAL), used)

    def gap(self, point: Point, multipliers: Multipliers, num: Arithmetic = FLOAT) -> Value:
        """The sum of the losses; ∞ where something is open or the point is not feasible."""
        at = self._at(point, num)
        if at.violated:
            return math.inf
        found = self.backward(multipliers, num, upper=num.upper(at.objective))
        if found.open:
            return math.inf
        with np.errstate(all="ignore"):
            return found.gap(num, at)

    def open(self, multipliers: Multipliers, point: Point | None = None, num: Arithmetic = FLOAT) -> tuple[str, ...]:
        """The reasons why there is no bound from these multipliers, or from this point; empty where there is one."""
        at = None if point is None else self._at(point, num)
        upper = math.inf if at is None or at.violated else num.upper(at.objective)
        return (*self.backward(multipliers, num, upper=upper).open, *(() if at is None else at.violated))

    def fingerprint(self) -> str:
        """Hash of the formulas, and of all numbers in them as they are at present."""
        problem = self.programme.problem
        return hashed((str(problem), *(numbers(number.value) for number in (*problem.constants(), *problem.parameters()))))

    def point_shapes(self) -> Shapes:
        """Those of the variables."""
        return {leaf.name: leaf.shape for leaf in self.programme.leaves.values()}

    def trivial_point(self) -> Point:
        """x = 0, clipped to the bounds."""
        zero = {leaf.name: np.zeros(leaf.shape) for leaf in self.programme.leaves.values()}
        found = self._trivial.of(self._now(FLOAT), {}, lambda _: self.restore(zero))
        return {name: value.copy() for name, value in found.items()}

    @cached_property
    def _trivial(self) -> Recent[Key, Point]:
        return Recent(1)

    def gap_over_terms(self, point: Point, upper: float, lower: float, gap: float) -> float:
        """The smaller of gap / Σ|terms| and, for a bracket around 0, the least δ for which all of it lies within T(δ).

        Σ|terms| is over the variables and functions of which the objective is the sum. T(δ) of `evaluation.term_size` also covers
        cancellation inside of functions; δ is computed up to 1e-6. No variable counts for more than a few of its natural units.
        """
        at = self._at(point, FLOAT)

        def fraction(units: Mapping[Key, float] | None = None) -> float:
            size = max(abs(upper), abs(lower), gap)
            own = own_sizes(self.programme, at, units)
            outer = ratio(gap, outer_size(self.programme, own))
            inner = least_fraction(size, lambda d: term_size(self.programme, at, d, own), EXCUSED)
            return min(outer, as_cancelled(inner, point))

        with np.errstate(all="ignore"):
            found = fraction()
            if found <= EXCUSED:  # units are computed only where they may excuse a gap
                found = max(found, fraction(self._units.of(self._now(FLOAT), {}, lambda _: natural_units(self.programme))))
        return found

    @cached_property
    def _units(self) -> Recent[Key, dict[Key, float]]:
        return Recent(1)

    def scale(self) -> float:
        """|f| at the trivial point; if that is 0 or infinite, the bound that its slopes give, or the size of f in its units."""
        return self._scale.of(self._now(FLOAT), {}, lambda _: self._size())

    @cached_property
    def _scale(self) -> Recent[Key, float]:
        return Recent(1)

    def _size(self) -> float:
        point = self.trivial_point()
        size = abs(float(self.objective(point)))
        if 0.0 < size < math.inf:
            return size
        found = self.backward(
            {}, FLOAT, self._at(point, FLOAT)
        )  # without `close_stationarity`: a unit has to be cheap, and as simple as the data
        bound = math.inf if found.open else abs(float(found.value))
        if bound < math.inf and (size == 0.0 or bound > 0.0):  # both are 0 where the trivial point is optimal
            return bound
        return natural_size(self.programme)

    def distance(self, gap: float, point: Point | None = None) -> float:
        """‖x − x*‖₂ ≤ √(gap/m) over all leaves x, m the least modulus of strong convexity by their squares; ∞ where one has none."""
        return radius(gap, np.concatenate([np.zeros(0), *moduli(self.programme).values()]))

    def distances(self, gap: float) -> dict[str, float]:
        """The same for each leaf by itself."""
        return {self.programme.leaves[key].name: radius(gap, m) for key, m in moduli(self.programme).items()}

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterator[Example]:
        """None: there is no problem before one is declared."""
        return iter(())

    @classmethod
    def from_data(cls, dataset: Dataset, rng: np.random.Generator) -> Self:
        """Refused: a declaration has its data already."""
        raise InvalidProblem("declared: a declared problem has its data; there is no recipe")


class Brief(Declared):
    """A declared problem whose bounds come at little cost, or not at all; what is kept of points is shared with the problem."""

    brief: ClassVar[bool] = True

    def __init__(self, declared: Declared, tol: float, draws_inside: bool = False, helped: bool = True) -> None:
        self.draws_inside: bool
        learned = ("_forwards", "_inner", "_interiors", "_trivial", "_units", "_scale", "_inward", "iterations")
        known = {name: getattr(declared, name) for name in (*learned, "names", "links", "cones", "has_matrices")}
        vars(self).update(programme=declared.programme, plan=declared.plan, **known)
        vars(self).update(little=max(LITTLE, LOST * tol), draws_inside=draws_inside, helped=helped)

    def moved_inside(self, multipliers: Multipliers) -> Iterator[Multipliers]:
        """As those of a problem, where that is asked for: it takes a solve."""
        return super().moved_inside(multipliers) if self.draws_inside else iter(())


@dataclass(frozen=True, eq=False)
class InUnits(Declared):
    """A declared problem whose graph form back ends are given in other units."""

    form: GraphForm

    def for_back_ends(self, *, cones: frozenset[str] = ALL_CONES) -> cp.Problem:
        """The graph form in these units."""
        return self.form.problem


@dataclass(frozen=True, eq=False)
class AsDeclared(Declared):
    """The graph form in the problem's own units."""

    def normalised(self) -> tuple[Declared, Rescale]:
        """The problem itself."""
        return self, Rescale()


LATELY: LatelyRead[Programme] = LatelyRead()


def _shaped(x: Value, shape: tuple[int, ...]) -> Value:
    """A new array of this shape."""
    if isinstance(x, Interval):
        return Interval(_shaped(x.mid, shape), _shaped(x.rad, shape))
    return np.array(x).reshape(shape, order="F")
