"""The graph form: the argument of every term becomes a variable, and the dual of its row is the term's multiplier.

One solve then gives the multipliers of all terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints import Equality
from cvxpy.transforms.indicator import indicator
from cvxpy.transforms.partial_optimize import PartialProblem

from simopt.backends import refinement
from simopt.backends.copies import with_arguments
from simopt.backends.diagonals import copied
from simopt.certificates.assessment import ENOUGH, Assessment, judge, rank
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import NotAvailable
from simopt.core.threads import quiet
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.atoms.symmetric_matrix import fold
from simopt.duality.atoms.trace_inverse import TraceInverse
from simopt.duality.graph.matrix_terms import has_matrices, is_folded
from simopt.duality.graph.programme import Term
from simopt.duality.helping_solves import CANDIDATE, none_tighter
from simopt.duality.units.measured import Measured
from simopt.duality.units.units import RAW, Sizes, degree, equilibrated

if TYPE_CHECKING:
    from simopt.duality.declared import Declared

TIGHT: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11, "max_iter": 200},
    "SCS": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iters": 20_000},
    "ECOS": {"abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11, "max_iters": 200},
    "HIGHS": {"qp_iteration_limit": 10_000, "time_limit": 60.0},  # it may not end for quadratic objectives (HiGHS 1583)
}
OTHERS = ("HIGHS", "SCS", "ECOS")  # tried after CLARABEL, if its certificate does not close
CLOSED, NEARLY = 1e-10, 1e-9  # gap / optimum at which nothing else is tried, and at which no other back end is
WITHIN, REACHED = 0.2, 1e-7  # precisions of SCS for large cones: the part of a tolerance, and one that it reaches
FURTHER = 0.1  # of the precision that a tolerance asks for: one more step
STALLED = 10 * REACHED  # the gap that an answer of the second may leave
ROUNDED = 1e-3  # of these: the tolerance against the scale
REFINED = 0.2  # of these: the gap to which an answer is refined


@dataclass(frozen=True)
class Link:
    """The row of a term's argument: its dual, times the sign, is the part of the term's multiplier that begins at `start`."""

    label: str
    number: int
    start: int
    size: int
    sign: int


def links(term: Term) -> Iterator[Link]:
    """The arguments of a term that are not constant. A single one of sign 1 has the name of the term."""
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

    The dual of such a row is the term's multiplier. Closing terms need none. The argument of a function of a symmetric matrix is compared
    by its triangle. A cone is a row itself, whose dual is the multiplier.

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
        alone = [each for each in declared.plan if sizes is RAW]  # in other units the units of these have to be taken out, too
        self.needless = {each.term.key for each in alone if each.leaf.key not in bounded}
        self.needless |= {each.epigraph_parent.key for each in alone if isinstance(each.epigraph_parent, Term)}
        self.measured = Measured(programme, sizes)
        self.known: dict[int, tuple[Any, Any]] = {}
        self.cones: list[Any] = []
        self.rows: dict[str, tuple[Any, float]] = {}  # label -> row, and what its dual is to be multiplied with
        objective = self.written(programme.problem.objective.expr) / sizes.objective
        for row in programme.every_row:
            if row.sides is not None:
                unit = sizes.maps.get(row.key, 1.0)
                left, right = (self.written(side) / unit for side in row.sides)
                self._add(row.name, left == right if row.equality else left <= right, unit)
        for term in programme.terms:
            if isinstance(term.atom, SemidefiniteCone):
                unit = sizes.maps.get(term.key, 1.0)
                matrix = self.written(term.source.args[0]) / unit
                self._add(term.name, matrix >> 0, unit)
                drawn = self.drawn(term, cp.Constant(0.0), [matrix * (unit / sizes.objective)])
                objective = objective - drawn if programme.maximises else objective + drawn
        shifted = self.shifted()
        objective = objective - shifted if programme.maximises else objective + shifted
        goal = cp.Maximize(objective) if programme.maximises else cp.Minimize(objective)
        self.problem = cp.Problem(goal, [*(row for row, _ in self.rows.values()), *self.cones])

    def _add(self, label: str, row: Any, unit: float) -> None:
        self.rows[label] = (row.set_label(label), self.sizes.objective / unit)

    def shifted(self) -> Any:
        """What is added to the objective beside the terms: nothing."""
        return cp.Constant(0.0)

    def drawn(self, term: Term, e: Any, args: Sequence[Any]) -> Any:
        """What stands in place of the term's function e of these arguments: the same."""
        return e

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
            self.known[id(e)] = (e, self._function_written(e, self.by_source.get(id(e))))
        return self.known[id(e)][1]

    def _function_written(self, e: Any, term: Term | None) -> Any:
        """A function in its units: as a term in graph form, or of its arguments where its term needs no multiplier of its own."""
        if term is not None and term.parts and term.key not in self.needless:
            return self._term(e, term)
        args = [self.written(a) for a in e.args]
        own = copied(e, args)
        return own if term is None or not term.parts else self.drawn(term, own, args)

    def _term(self, e: Any, term: Term) -> Any:
        p, row_unit = degree(term.atom), self.sizes.maps.get(term.key, 1.0)
        unit = 1.0 if p is None else row_unit  # of the argument
        own = {number for number, _ in term.parts}
        args = [argument / unit if unit != 1.0 and number in own else argument for number, argument in enumerate(e.args)]
        for link in links(term):
            argument = e.args[link.number]
            if is_folded(term, link.number):
                args[link.number] = self._matrix(term, link, argument, unit, row_unit)
                continue
            inner, z = self.written(argument) / row_unit, cp.Variable(argument.shape if argument.size == link.size else e.shape)
            outer = z * (unit / row_unit)
            row = inner == outer if argument.is_affine() else inner <= outer if argument.is_convex() else outer <= inner
            self._add(link.label, row, row_unit)
            args[link.number] = z
        if p is None or unit == 1.0:
            return self.drawn(term, self._function(term, e, args), args)
        scaled = cp.huber(args[0], e.M / unit) if isinstance(e, cp.huber) else self._function(term, e, args)
        with np.errstate(over="ignore"):  # an infinite factor is refused by the back end
            return float(np.exp2(p * np.log2(unit))) * scaled

    def _function(self, term: Term, e: Any, args: list[Any]) -> Any:
        """The function of other arguments, in a form with smaller cones than CVXPY's where there is one."""
        if not isinstance(term.atom, TraceInverse):
            return with_arguments(e, args)
        value, rows = term.atom.declared(args[0])
        self.cones += rows
        return value

    def _matrix(self, term: Term, link: Link, argument: Any, unit: float, row_unit: float) -> Any:
        """The symmetric variable in place of an argument, with the row of its triangle."""
        n = argument.shape[0]
        triangle, z = fold(n, getattr(term.atom, "trace", False)), cp.Variable((n, n), symmetric=True)
        inner = triangle @ cp.vec(self.written(argument) / row_unit, order="F")
        outer = (unit / row_unit) * (triangle @ cp.vec(z, order="F"))
        self._add(link.label, Equality(inner, outer), row_unit)  # == would exchange the sides where one has a subclass of the other's type
        return z

    def multipliers(self) -> Multipliers:
        """The duals of a form that was solved, by the names of `Declared`."""
        return self.declared.completed(self.point(), self.multipliers_of({label: row.dual_value for label, (row, _) in self.rows.items()}))

    def multipliers_of(self, duals: Mapping[str, Any]) -> Multipliers:
        """Duals of its rows by the names of `Declared`; others unchanged."""
        units = {label: unit for label, (_, unit) in self.rows.items()}
        flat = {label: np.asarray(dual, dtype=float).reshape(-1, order="F") * units.get(label, 1.0) for label, dual in duals.items()}
        return self.declared.assembled(flat)

    def point(self) -> Point:
        """The leaves' values after a solve; 0 for those in no row and no term, of which a back end knows nothing."""
        leaves, measured = self.declared.programme.leaves.values(), self.measured
        return {leaf.name: measured.solved_value(leaf) if measured.has_value(leaf) else np.zeros(leaf.size) for leaf in leaves}

    def point_of(self, values: Mapping[str, Any]) -> Point:
        """Values of its variables in the units of the declaration; others unchanged."""
        units = {leaf.name: self.measured.unit(leaf.variable) for leaf in self.declared.programme.leaves.values()}
        return {name: np.asarray(value, dtype=float) * units.get(name, 1.0) for name, value in values.items()}


@dataclass(frozen=True)
class Candidate:
    """Point and multipliers from one solve, the solver, and their assessment in floats."""

    solver: str
    point: Point
    multipliers: Multipliers
    assessment: Assessment

    @property
    def certificate(self) -> Certificate:
        """That of the assessment."""
        return self.assessment.certificate


def solved(declared: Declared, solver: str | None = None, **options: Any) -> tuple[Point, Multipliers]:
    """Point and multipliers from solves of the graph form, tight by default: candidates, which the judge assesses.

    The point has the smallest objective and the multipliers the largest bound, over all `candidates` with a finite gap, if there are any.

    Raises
    ------
    NotAvailable
        where no back end returns a point.
    """
    above, below = best_of(list(candidates(declared, solver, **options)))
    return above.point, below.multipliers


def best_of(attempts: Sequence[Candidate]) -> tuple[Candidate, Candidate]:
    """Whose point and whose multipliers `solved` returns."""
    attempts = [each for each in attempts if each.certificate.gap < np.inf] or attempts
    return min(attempts, key=lambda each: each.certificate.upper), max(attempts, key=lambda each: each.certificate.lower)


def candidates(declared: Declared, solver: str | None = None, tol: float = 0.0, **options: Any) -> Iterator[Candidate]:
    """Solves of the graph form, one after the other until a certificate closes: at `tol`, or nearly as well as floats can.

    The first solve is in units in which the numbers are near 1, the second in the declaration's units; of SCS, which has units of its own,
    in the other order. If no back end is named, the other installed ones follow, except for a problem of which CLARABEL reports that it has
    no optimum. SCS solves large cones in steps (`_in_steps`).

    Raises
    ------
    NotAvailable
        where no back end returns a point.
    """
    programme, some, failure = declared.programme, False, None
    units, first, installed = equilibrated(programme), solver or "CLARABEL", cp.installed_solvers()
    may_stall = not options and none_tighter(programme, first)
    attempts = [(first, sizes, options) for sizes in ((RAW, units) if first == cp.SCS else (units, RAW))]
    attempts += [] if solver or options else [(name, RAW if name == "SCS" else units, {}) for name in OTHERS if name in installed]
    for number, (name, sizes, chosen) in enumerate(attempts):
        form = GraphForm(declared, sizes)
        try:
            candidate = _in_steps(form, tol) if may_stall else _candidate(form, name, one_solve(form, name, chosen, tol), tol)
        except NotAvailable as error:
            failure = failure or error
            if number == 1 and not some and error.__cause__ is None:
                break
            continue
        some = True
        yield candidate
        if _ends_attempts(candidate.certificate, max(tol, CLOSED if number == 0 else NEARLY)):
            break
    if not some and failure is not None:
        raise failure


def _in_steps(form: GraphForm, tol: float) -> Candidate:
    """The best answer of SCS for large cones: at a precision that it reaches, and from there at those that `tol` asks for.

    The last is tried where the gap is open at the one before. A precision may be out of reach, and then iterates may run away from what
    they were near to.
    """
    precise = max(TIGHT["SCS"]["eps_abs"], WITHIN * tol)
    best, unjudged = None, None
    for precision in sorted({max(precise, REACHED), precise, max(TIGHT["SCS"]["eps_abs"], FURTHER * precise)}, reverse=True):
        started = best is not None or unjudged is not None
        try:
            answer = one_solve(form, cp.SCS, {**form.declared.iterations.options(precision, CANDIDATE), "warm_start": started})
        except NotAvailable:
            if not started:
                raise
            break
        reached = form.problem.status == cp.OPTIMAL
        if reached and precision > precise:
            unjudged = answer
            continue
        candidate = _candidate(form, cp.SCS, answer, tol)
        best = candidate if best is None else min(best, candidate, key=lambda each: rank(each.certificate))
        if reached or best.certificate.closes(max(tol, STALLED)):
            unjudged = None
        if not reached or best.certificate.closes(tol):
            break
    if unjudged is None:
        assert best is not None  # the first answer is judged, or left for later
        return best
    earlier = _candidate(form, cp.SCS, unjudged, tol)
    return earlier if best is None else min(best, earlier, key=lambda each: rank(each.certificate))


def _candidate(form: GraphForm, solver: str, answer: tuple[Point, Multipliers], tol: float) -> Candidate:
    """An answer with its assessment."""
    return Candidate(solver, *answer, judge(form.declared, *answer, enough=max(tol, ENOUGH)))


def _ends_attempts(certificate: Certificate, tol: float) -> bool:
    """Whether the gap is small against the optimum or, for an optimum near 0, against the rounding of its terms."""
    return certificate.closes(tol) and (certificate.gap_over_upper <= tol or certificate.closes(tol * ROUNDED))


def one_solve(form: GraphForm, solver: str, options: dict[str, Any], tol: float = 0.0) -> tuple[Point, Multipliers]:
    """Point and multipliers of one solve, tight if there are no options; `NotAvailable` where the back end returns none.

    Those of matrices are refined to where a gap of `tol` is proven, which is the easier the farther inside of their cones they lie.
    """
    with quiet():  # the back end's own status is not needed: the judge decides
        try:
            if solver == "CLARABEL" and not options and has_matrices(form.declared.programme):
                refinement.solve(form.problem, TIGHT[solver], REFINED * max(tol, CLOSED))
            else:
                form.problem.solve(**{"solver": solver, "warm_start": False, **(options or TIGHT.get(solver, {}))})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # CVXPY and back ends raise whatever they like (a panic of Rust is no Exception)
            raise NotAvailable(f"{solver} returned no point: {type(error).__name__}: {error}") from error
        finally:
            form.declared.iterations.spend(form.problem)
    arguments = (form.rows[link.label][0] for term in form.declared.programme.terms for link in links(term) if link.label in form.rows)
    if any(v.value is None for v in form.problem.variables()) or any(row.dual_value is None for row in arguments):
        raise NotAvailable(f"{solver} returned no point, and said {form.problem.status}")
    return form.point(), form.multipliers()
