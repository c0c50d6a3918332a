"""A `cvxpy.Problem` as its user wrote it: its values are judged, a solution is put into it, and bounds have its sense.

`Declared` minimises −f where the problem maximises f. Here bounds on min −f become those on max f, so that lower ≤ optimum ≤ upper always
holds for the problem as written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar, cast

import cvxpy as cp
import numpy as np
from cvxpy.reductions.solution import Solution as Unpacked

from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, Arithmetic, Interval, NotRational
from simopt.arithmetic.interval import EPS
from simopt.backends import adapter, refinement, table
from simopt.backends.adapter import dense_value
from simopt.backends.table import BackEnd
from simopt.certificates.assessment import CLAIMS_NOTHING, Assessment, Report, judge, over_terms, rank, repair
from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.errors import Interrupted, InvalidProblem, NotAvailable, UnknownName
from simopt.core.threads import Turns, quiet
from simopt.duality.declared import AsDeclared, Declared
from simopt.duality.graph.affine import Key, Residual
from simopt.duality.graph.leaf_values import value_of
from simopt.duality.graph.matrix_terms import has_large_cones
from simopt.duality.graph.programme import VariableBound
from simopt.duality.graph_form import best_of, candidates
from simopt.duality.helping_solves import none_tighter
from simopt.duality.infeasibility.infeasible import infeasible
from simopt.duality.infeasibility.unbounded import Unbounded, unbounded
from simopt.duality.quadratic.proven_bounds import proven_bounds
from simopt.duality.quadratic.quadratic_programme import QUADRATIC, QuadraticProgramme
from simopt.duality.vertices.optimum import vertex_of
from simopt.duality.written_form import LikeCvxpy, WrittenForm, completed, dual_variables
from simopt.model.gap_unit import ratio
from simopt.model.status import Status
from simopt.solving import driver
from simopt.solving.faces import closing_bound, on_faces
from simopt.solving.run import CHANGED, Progress
from simopt.solving.solution import Sample, Solution, Trace, frozen

CVXPY_STATUS = {Status.OPTIMAL: cp.OPTIMAL, Status.INFEASIBLE: cp.INFEASIBLE, Status.UNBOUNDED: cp.UNBOUNDED} | dict.fromkeys(
    (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.INTERRUPTED), cp.settings.USER_LIMIT
)  # CVXPY's names; a point with any other status is "optimal_inaccurate" there
HELP = {
    "no bound takes it": "bounds on this variable would help",
    "is not proven to be ≤ 0": "a point at which all inequalities hold strictly (a Slater point) would help",
    "equality is not proven to hold": "a variable in it that nothing else bounds would help: the equality then defines it",
    "not proven to be in the domain": "a point in the interior of the domain would help",
    "not proven to be within its bounds": "bounds that are apart would help",
    "its scale is 0": "a multiplier > 0 of the row in which it stands would help",
    "outside of the domain of the conjugate": "numbers nearer to 1, or another back end, would help",
    "that stationarity asks for": "a tighter solve, another back end, or bounds on the variables in it would help",
    "its scale is": "multipliers of another back end would help",
    "may be 0": "a factor that is known not to be 0 would help",
    "its factor in": "a factor that is known to be positive would help",
    "more than rounding leaves": "a tighter solve, or interval arithmetic, would help",
    "not proven to be convex": "bounds on the variables in it, or a sum of squares in its place, would help",
    "pivots: ": "a small square of the variables in the objective, or bounds on them, would help",
}  # part of a reason -> remedy
UNPROVEN = "of which no proof was found (another back end, bounds on the variables, or numbers nearer to 1 would help)"
turns = Turns()  # a problem's variables hold the values of one solve at a time
# statuses after which the problem as written is tried; the fraction of the time that the graph form gets
UNFINISHED, GRAPH_FORM = (Status.GAP_OPEN, Status.FAILED, Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.UNSUPPORTED), 0.75
TIGHTER, SMALLEST, TIME_LIMIT = 3, 1e-13, 60.0  # solves of the problem as written in `certify`: how many, least tolerance, seconds of each
INWARD = 1e-9  # relatively: less than a dual value is accurate to
T = TypeVar("T")
Answer = tuple[Point, Multipliers, Assessment | None]  # of a back end


def certify(
    problem: cp.Problem,
    point: Point | None,
    multipliers: Multipliers | None,
    num: Arithmetic,
    solver: str | None,
    tol: float,
    values_stay: bool = False,
) -> Certificate:
    """See `simopt.certify`. With `values_stay` the problem's own values are judged, even where a solve finds better ones."""
    with turns.of(variable.id for variable in problem.variables()):
        return _certified(_read(problem), point, multipliers, num, solver, tol, values_stay)


def _certified(
    declared: Declared,
    point: Point | None,
    multipliers: Multipliers | None,
    num: Arithmetic,
    solver: str | None,
    tol: float,
    values_stay: bool,
) -> Certificate:
    given = _values(declared, needed=solver is None) if point is None else point
    known = _duals(declared) if multipliers is None else multipliers
    reasons = list[str]()
    if solver is None:
        best = _tried(lambda: _assessed(declared, cast(Point, given), known, num, tol), reasons)
    else:
        backend, fixed = _back_end(solver), values_stay or point is not None
        best = _sought(declared, given, known, backend, fixed, not fixed and multipliers is None, num, tol, reasons)
        if reasons and (best is None or best.certificate.gap == math.inf):
            proof = _tried(lambda: _no_point(declared) or _certificate(declared, _no_end(declared, num)), reasons)
            if proof is not None and (proof.infeasible or proof.unbounded or best is None):
                return proof
    if best is None:
        best = _tried(lambda: _of_nothing(declared, known, num, tol), reasons)
    if best is None:
        message = "; ".join([*dict.fromkeys(reasons), UNPROVEN])
        return _infinite(declared, math.inf, -math.inf, "none", num.name, message)
    also = ""
    if solver is not None and best.certificate.lower == -math.inf:
        start = best.point
        proof = _tried(lambda: _certificate(declared, _no_end(declared, num, start)), reasons)
        if proof is not None and proof.unbounded:
            return proof
        also = "" if proof is None else f"; {proof.open}"
    if given is not None and solver is not None:
        best = replace(best, certificate=replace(best.certificate, infeasibility=repair(given, best.point)))
    bounds = _as_written(declared, best, tol)
    if bounds.open and solver is not None and declared.cones and not none_tighter(declared.programme, _back_end(solver).solver):
        also += _closing_bound(declared, best, _back_end(solver), num, tol)
    also += "".join(f"; {reason}" for reason in dict.fromkeys(reasons) if bounds.open)
    return replace(bounds, open=bounds.open + also)


def _sought(
    declared: Declared,
    point: Point | None,
    known: Multipliers,
    backend: BackEnd,
    fixed: bool,
    anywhere: bool,
    num: Arithmetic,
    tol: float,
    reasons: list[str],
) -> Assessment | None:
    """The best assessment of what is tried, one after the other until a certificate closes.

    First comes what costs little: the vertex of a linear programme, the values and one solve, briefly, and faces of cones. The matrices of
    a quadratic programme come first where it takes pivots to make the multipliers stationary. Where kinks are variables in them they come
    last, before a thorough search. Bounds of the brief search are not confirmed, and are forgotten then. Where the values need not be used
    bounds may come from `anywhere`.
    """

    def closed(best: Assessment | None) -> bool:
        return best is not None and best.certificate.closes(tol)

    anywhere = anywhere and backend is table.CLARABEL
    proven = _tried(lambda: _at_a_vertex(declared, point, num, tol), []) if anywhere else None
    smooth = all(isinstance(term.atom, QUADRATIC) for term in declared.programme.terms)
    if anywhere and proven is None and smooth and not declared.is_stationary(known):
        proven = _tried(lambda: _by_matrices(declared, point, known, num, tol), [])
    if closed(proven):
        return proven
    brief = declared.briefly(tol, helped=not _refines(declared, backend))
    best = _joined_by(declared, proven, _searched(brief, point, known, backend, fixed, num, tol, []), num)
    if declared.cones and not closed(best):
        notes = list[str]()
        with untouched(declared.programme.problem):
            faced = _tried(lambda: on_faces(declared, best, backend.solver, num, tol, fixed, notes), [])
        best = proven = best if faced is None else faced
        reasons += notes if best is None or best.certificate.upper == math.inf else []
    if closed(best) or (best is not None and best.certificate.gap < math.inf and none_tighter(declared.programme, backend.solver)):
        return best
    if anywhere and proven is None:
        proven = _tried(lambda: _by_matrices(declared, point, known, num, tol), [])
        if closed(proven):
            return proven
    return _joined_by(declared, proven, _searched(declared, point, known, backend, fixed, num, tol, reasons), num)


def _refines(declared: Declared, backend: BackEnd) -> bool:
    """Whether a solve gives a point and multipliers inside of their sets, so that no other solve has to move them there."""
    programme = declared.programme
    return backend is table.CLARABEL and refinement.is_refined(programme.problem) and not has_large_cones(programme)


def _closing_bound(declared: Declared, best: Assessment, backend: BackEnd, num: Arithmetic, tol: float) -> str:
    def gap(problem: cp.Problem) -> float:
        found = _searched(_read(problem).briefly(tol), None, {}, backend, False, num, tol, [])
        return math.inf if found is None else found.certificate.gap_over_upper

    with untouched(declared.programme.problem):
        return _tried(lambda: closing_bound(declared, best, gap), []) or ""


def _joined_by(declared: Declared, one: Assessment | None, other: Assessment | None, num: Arithmetic) -> Assessment | None:
    """`paired`, where there are two."""
    return one if other is None else other if one is None else paired(declared, one, other, num)


def _at_a_vertex(declared: Declared, point: Point | None, num: Arithmetic, tol: float) -> Assessment | None:
    """What the optimal vertex of a linear programme proves, in fractions; None for another problem, or without HiGHS."""
    found = vertex_of(declared.programme) if table.HIGHS.missing is None else None
    if found is None:
        return None
    vertex, upper = found.point, found.upper
    if upper == math.inf:  # rounding of the data leaves it outside of a row: intervals draw it back
        vertex = declared.restore(found.point)
        upper = INTERVAL.upper(declared.objective(declared.restore(vertex, INTERVAL), INTERVAL))
    gap = math.nextafter(upper - found.lower, math.inf) if found.lower < upper else 0.0
    return _assessment_of(declared, vertex, found.multipliers, (found.lower, upper, gap), point, num, tol)


def _by_matrices(declared: Declared, point: Point | None, known: Multipliers, num: Arithmetic, tol: float) -> Assessment | None:
    """What the matrices of a quadratic programme prove, at the given values or at those of an accurate solve; None for another problem."""
    with np.errstate(all="ignore"):
        quadratic = QuadraticProgramme.of(declared.programme)
    if quadratic is None:
        return None
    declared.candidates(known)  # an error where they are no multipliers of this problem
    linear = quadratic.linear
    given = None if point is None else linear.point(declared.values(point))
    found = proven_bounds(quadratic, given, linear.multipliers_of(known), tol)
    if found is None:
        return None
    at, rows = linear.by_name(found.point), linear.multipliers(found.multipliers)
    if num is FLOAT and found.upper == math.inf:  # rounding of the data may leave no point that is feasible
        at = declared.restore_without_solves(at)
        upper = float(declared.objective(at))
        found = replace(found, upper=upper, gap=abs(upper - found.lower))
    multipliers = rows if found.relative_gap <= tol else declared.multipliers(at, rows)
    if given is not None and (not found.solved or abs(quadratic.value(Interval(given)).mid - found.upper) > tol * abs(found.upper)):
        point = None  # it is the one that proves the bound, or not as good
    return _assessment_of(declared, at, multipliers or rows, (found.lower, found.upper, found.gap), point, num, tol)


def _assessment_of(
    declared: Declared,
    proving: Point,
    multipliers: Multipliers,
    proven: tuple[float, float, float],
    point: Point | None,
    num: Arithmetic,
    tol: float,
) -> Assessment:
    """Proven bounds, lower and upper, and their gap.

    The point is the given one, restored, if its objective is the upper bound up to `tol`, else the one that proves it. No Slater point is
    solved for: that may cost more than all the rest, and no bound depends on it.
    """
    lower, upper, gap = proven
    relative = ratio(gap, max(abs(lower), abs(upper)))
    over = relative if relative <= tol else over_terms(declared, proving, upper, lower, gap)
    bounds = Certificate.of_bounds(upper, lower, gap, over, multipliers_from="solver", arithmetic=num.name)
    restored = None if point is None else declared.restore_without_solves(point)
    near = restored is not None and abs(declared.objective(restored) - upper) <= tol * bounds.scale
    return Assessment(bounds, restored if restored is not None and near else proving, multipliers)


def _assessed(declared: Declared, point: Point, known: Multipliers, num: Arithmetic, tol: float) -> Assessment:
    """The assessment of a point with multipliers of rows, `completed` in one way after the other until it closes, or all have been tried.

    Whoever asks briefly need not know more of a gap above `tol`.
    """
    best: Assessment | None = None
    near = tol if declared.brief else CLAIMS_NOTHING
    for multipliers in completed(declared, point, known):
        found = judge(declared, point, multipliers, num, near=near, coarse=declared.brief, enough=tol)
        if best is None:
            best = found
        elif declared.brief:
            best = min(best, found, key=lambda each: rank(each.certificate))
        else:
            best = paired(declared, best, found, num)
        if best.certificate.closes(tol):
            break
    assert best is not None  # there is one completion at least
    return best


def _searched(
    declared: Declared,
    point: Point | None,
    known: Multipliers,
    backend: BackEnd,
    fixed: bool,
    num: Arithmetic,
    tol: float,
    reasons: list[str],
    answers: Sequence[Answer] | None = None,
) -> Assessment | None:
    """The best assessment of the point, if there is one, and of those of solves, until one closes; `fixed` is whether the point stays.

    The solves may be known by their `answers`. Where no solve is to help to make them feasible, they are judged once more with help.
    """
    best = None
    if point is not None and not answers:
        best = _tried(lambda: _assessed(declared, point, known, num, tol), reasons)
        if best is not None and best.certificate.closes(tol):
            return best
    tried: list[Answer] = []
    for other, more, assessed in _solves(declared, backend, tol, reasons) if answers is None else answers:
        tried.append((other, more, None))
        for at in (other,) if point is None else (point,) if fixed else (other, point):
            if assessed is not None and at is other and num is FLOAT:
                found: Assessment | None = assessed
            else:
                found = _tried(lambda at=at, more=more: judge(declared, at, more, num, enough=tol), reasons)  # type: ignore[misc]
            if found is not None:
                best = found if best is None else paired(declared, best, found, num)
                if best.certificate.closes(tol):
                    return best
        if not declared.helped:
            break
        if declared.brief:
            inside = partial(judge, declared.briefly(tol, draws_inside=True), at, more, num, enough=tol)
            found = _tried(inside, reasons)
            return best if found is None else found if best is None else paired(declared, best, found, num)
    return best if declared.helped else _searched(declared.briefly(tol), point, known, backend, fixed, num, tol, reasons, tried)


def _of_nothing(declared: Declared, known: Multipliers, num: Arithmetic, tol: float) -> Assessment | None:
    """The assessment of 0, drawn into the bounds, for a problem that no back end takes; None where it has no finite bound."""
    point = declared.trivial_point()
    found = _assessed(declared, point, known, num, tol)
    return found if math.isfinite(found.certificate.upper) or math.isfinite(found.certificate.lower) else None


def _back_end(name: str) -> BackEnd:
    found = table.find(name)
    if found is None:
        raise UnknownName("solver", name, [known.name for known in table.FIRST_CLASS])
    if found.missing is not None:
        raise NotAvailable(found.missing)
    return found


def _tried(compute: Callable[[], T], reasons: list[str]) -> T | None:
    """The computed value; None where the computation fails unexpectedly, and then the reason is appended.

    Back ends and eigenvalue routines raise whatever they like (a panic of Rust is no Exception), also where points are made feasible.
    """
    try:
        return compute()
    except (KeyboardInterrupt, MemoryError, InvalidProblem, NotRational, UnknownName):
        raise
    except NotAvailable as error:
        reasons.append(str(error))
    except BaseException as error:
        reasons.append(f"{type(error).__name__}: {error}".removesuffix(": "))
    return None


def _solves(declared: Declared, backend: BackEnd, tol: float, reasons: list[str]) -> Iterator[Answer]:
    """Points and multipliers from the back end: of the graph form, then of the problem as written at tighter and tighter tolerances.

    Those of one solve of the graph form come with their assessment in floats. The problem's values are restored after each. Of a linear
    programme HiGHS's vertex comes before the default back end: its residuals are rounding, those of an interior point are the tolerance.
    """
    at_a_vertex = backend is table.CLARABEL and table.HIGHS.missing is None and declared.programme.problem.is_lp()
    for chosen in (*([table.HIGHS] if at_a_vertex else []), backend):
        solves = candidates(declared, chosen.solver, tol / 2)
        with untouched(declared.programme.problem):
            found = _tried(lambda solves=solves: best_of(list(islice(solves, 1 if declared.brief else None))), reasons)  # type: ignore[misc]
        if found is not None:
            above, below = found
            yield above.point, below.multipliers, above.assessment if above is below else None
    written, previous = WrittenForm(declared.programme), math.nan
    for power in range(TIGHTER):
        native = max(tol * 1e-2**power, SMALLEST, backend.floor)
        if native == previous or (power and not backend.tolerance):
            return
        previous = native
        with untouched(declared.programme.problem):
            other = _tried(lambda native=native: _solved_as_written(written, backend, native), reasons)  # type: ignore[misc]
        if other is None:
            return
        yield *other, None


def _solved_as_written(written: WrittenForm, backend: BackEnd, tol: float) -> tuple[Point, Multipliers]:
    try:
        form, back = written.normalised()
        result = adapter.run(form.for_back_ends(cones=backend.cones), backend, tol=tol, max_iter=None, time_limit=TIME_LIMIT, options={})
    except (adapter.Refused, InvalidProblem) as error:
        raise NotAvailable(str(error)) from error
    if result.point is None:
        raise NotAvailable(f"{backend.name} returned no point of the problem as written, and said {result.status_text}")
    point = back.point(result.point)
    return point, back.multipliers(result.multipliers or {})


def paired(declared: Declared, one: Assessment, other: Assessment, num: Arithmetic) -> Assessment:
    """The better of each bound: the point of the smaller upper bound and the multipliers of the larger lower bound, judged together.

    lower ≤ optimum ≤ upper holds for bounds from different assessments, too. The assessment of the pair may be worse than both, by rounding
    or by the repair of multipliers. Then the bounds stay as they were, and the gap is upper − lower, rounded outwards.
    """
    first, second = one.certificate, other.certificate
    high = one if (first.upper, first.gap) <= (second.upper, second.gap) else other
    low = one if (-first.lower, first.gap) <= (-second.lower, second.gap) else other
    if high is low:
        return high
    upper, lower = high.certificate.upper, low.certificate.lower
    if not (math.isfinite(upper) and math.isfinite(lower)):  # each has one bound only: of a point or of multipliers
        return high if math.isfinite(upper) else low
    assessed = judge(declared, high.point, low.multipliers, num)
    pair = assessed.certificate
    if pair.upper <= upper and pair.lower >= lower and pair.gap < math.inf:
        return assessed
    rounding = 0.0 if num is not FLOAT else EPS * (abs(upper) + abs(lower)) * (4 + max(map(np.size, high.point.values()), default=0))
    gap = math.nextafter(upper - lower + rounding, math.inf)
    if gap < 0.0:  # they contradict each other: one of the formulas is wrong, or a number overflowed
        return one if (first.gap, first.upper) <= (second.gap, second.upper) else other
    bounds = Certificate.of_bounds(
        upper,
        lower,
        gap,
        over_terms(declared, high.point, upper, lower, gap),
        infeasibility=pair.infeasibility,
        multipliers_from=pair.multipliers_from,
        arithmetic=pair.arithmetic,
    )
    return Assessment(bounds, high.point, low.multipliers)


def solve(problem: cp.Problem, progress: Progress | None, time_limit: float, **options: Any) -> Solution:
    """Have the driver solve the problem; see `simopt.solve`."""
    with turns.of(variable.id for variable in problem.variables()):
        return _solved(_read(problem), progress, time_limit, options)


def _solved(declared: Declared, progress: Progress | None, requested_limit: float, options: dict[str, Any]) -> Solution:
    """Solve the graph form and, where its certificate does not close, the problem as written; the better of each bound is kept."""
    found: Solution | None = None
    time_limit = validate.seconds("time_limit", requested_limit)
    report: Report | None = options.get("report")
    if report is not None:
        programme = declared.programme
        sizes = f"{len(programme.leaves)} variables, {len(programme.terms)} terms, {len(programme.every_row)} constraints"
        report("read", f"the cvxpy.Problem as a graph: {sizes}" + (", max f as min −f" if declared.maximises else ""))

    def sampled(sample: Sample) -> None:
        if progress is not None:
            progress(_sample(declared, sample if found is None else _later(sample, found)))

    def run(form: Declared) -> Solution:
        """Solve one form in what is left of the time, and join the result to that of the form before."""
        if report is not None and form is not declared:
            report("form", (type(form).__doc__ or "").partition("\n")[0])
        left = GRAPH_FORM * time_limit if found is None else time_limit - found.provenance.solve_seconds
        try:
            more = driver.solve(form, progress=sampled, time_limit=left, **options)
        except Interrupted as stop:
            raise Interrupted(_put(declared, stop.done if found is None else _joined(declared, found, stop.done))) from None
        if found is None:
            return more
        joined = _joined(declared, found, more)
        if progress is not None and len(joined.trace.samples) > len(found.trace.samples) + len(more.trace.samples):
            try:
                progress(_sample(declared, joined.trace.samples[-1]))
            except KeyboardInterrupt:
                stopped = replace(joined, status=Status.INTERRUPTED, reported_status="interrupted", message="stopped by the user")
                raise Interrupted(_put(declared, stopped)) from None
        return joined

    found = first = run(declared)
    if found.point is None:
        found = _without_optimum(declared, found)
    for form in (LikeCvxpy, WrittenForm, AsDeclared):
        unfinished = found.status in UNFINISHED and found.reported_status != CHANGED[1]
        closed = found.certificate is not None and found.certificate.gap < math.inf
        if unfinished and found.provenance.solve_seconds < time_limit and not (form is AsDeclared and closed):
            found = run(form(declared.programme))  # a back end may succeed in other units or in CVXPY's form
    if found is not first and declared.fingerprint() != first.provenance.fingerprint:  # the last sample's listener may have changed them
        found = _changed(found)
    if declared.cones and found.status in UNFINISHED and found.reported_status != CHANGED[1]:
        found = _with_faces(declared, found)
    if found.point is not None:
        found = _without_optimum(declared, found)
    if found.status is Status.TIME_LIMIT:
        found = replace(found, message=f"the gap was still open after {found.provenance.solve_seconds:.3g} s")
    return _put(declared, found)


def _with_faces(declared: Declared, solution: Solution) -> Solution:
    """The solution with the bounds on faces of cones, where these are better."""
    made, known = solution.provenance, _assessment(solution)
    backend, num = table.find(made.solver), INTERVAL if known is None else BY_NAME[known.certificate.arithmetic]
    solver = (backend or table.CLARABEL).solver
    with untouched(declared.programme.problem):
        faced = _tried(lambda: on_faces(declared, known, solver, num, made.tol, False, []), [])
    if faced is None or faced is known:
        return solution
    status, message = (Status.OPTIMAL, "") if faced.certificate.closes(made.tol) else (solution.status, solution.message)
    return replace(
        solution,
        status=status,
        message=message,
        point=frozen(faced.point),
        multipliers=frozen(faced.multipliers or {}),
        certificate=faced.certificate,
    )


def _changed(solution: Solution) -> Solution:
    status, reported, message = CHANGED
    return replace(solution, status=status, reported_status=reported, message=message or "", point=None, multipliers=None, certificate=None)


def _later(sample: Sample, first: Solution) -> Sample:
    """A sample of a second solve on the clock of the first."""
    made = first.provenance
    return replace(sample, seconds=sample.seconds + made.solve_seconds, iteration=sample.iteration + made.iterations)


def _joined(declared: Declared, first: Solution, second: Solution) -> Solution:
    """Two consecutive solves of one problem as one solution: the better of each bound, one trace, and the sum of their seconds."""
    one, two = first.provenance, second.provenance
    made = replace(
        one,
        iterations=one.iterations + two.iterations,
        setup_seconds=one.setup_seconds + two.setup_seconds,
        solve_seconds=one.solve_seconds + two.solve_seconds,
    )
    samples = (*first.trace.samples, *(_later(sample, first) for sample in second.trace.samples))
    if second.reported_status == CHANGED[1] or one.fingerprint != two.fingerprint:
        status, reported, message = CHANGED
        blank = replace(second, point=None, multipliers=None, certificate=None)
        return replace(
            blank, status=status, reported_status=reported, message=message or "", trace=Trace(samples, "tolerance"), provenance=made
        )
    stopped = second.status is Status.INTERRUPTED
    better = second if stopped or (first.point is None and second.point is not None) else first
    ours, theirs = _assessment(first), _assessment(second)
    if ours is None or theirs is None:
        known = ours or theirs
    else:
        known = paired(declared, ours, theirs, BY_NAME[theirs.certificate.arithmetic])
        better = second if stopped or rank(theirs.certificate) < rank(ours.certificate) else first
        last = known.certificate
        if known is not ours and known is not theirs:
            samples += (Sample(made.solve_seconds, made.iterations, last.upper, last.lower, last.gap),)
    if known is not None:
        better = replace(better, point=frozen(known.point), multipliers=frozen(known.multipliers), certificate=known.certificate)
        if known.certificate.closes(one.tol) and not stopped:
            better = replace(better, status=Status.OPTIMAL, message="")
    return replace(better, trace=Trace(samples, "tolerance"), provenance=made)


def _assessment(solution: Solution) -> Assessment | None:
    if solution.point is None or solution.certificate is None:
        return None
    return Assessment(solution.certificate, dict(solution.point), None if solution.multipliers is None else dict(solution.multipliers))


def _no_point(declared: Declared) -> Certificate | None:
    """A proof in intervals that no point is feasible, if one solve finds it."""
    with untouched(declared.programme.problem):
        proof = infeasible(declared)
    if proof is None:
        return None
    message = f"no point is feasible: each violates {proof.reason} by at least {proof.violation:.3g}"
    return _infinite(declared, math.inf, math.inf, "none" if proof.multipliers is None else "solver", proof.arithmetic, message)


def _no_end(declared: Declared, num: Arithmetic, point: Point | None = None) -> Unbounded | None:
    """A proof that the objective falls without end, if one solve finds it; in intervals, or in fractions where asked for and possible."""
    with untouched(declared.programme.problem):
        try:
            return unbounded(declared, INTERVAL if num is FLOAT else num, point)
        except NotRational:
            return unbounded(declared, INTERVAL, point)


def _certificate(declared: Declared, proof: Unbounded | None) -> Certificate | None:
    """The certificate of a proof that the objective is unbounded."""
    if proof is None:
        return None
    verb = "rises" if declared.maximises else "falls"
    rate = f", by at least {-proof.slope:.3g} for each unit of a direction with entries of at most 1" if proof.linear_rate else ""
    message = f"the objective {verb} without end{rate}"
    if proof.point is None:
        message = f"unbounded if feasible: {message}, but no point is proven to be feasible{remedy('is not proven to be ≤ 0')}"
    return _infinite(declared, -math.inf if proof.point is not None else math.inf, -math.inf, "none", proof.arithmetic, message)


def _infinite(declared: Declared, upper: float, lower: float, multipliers_from: str, arithmetic: str, message: str) -> Certificate:
    """Bounds on the minimum that are infinite, in the problem's sense."""
    size = math.inf  # of the gap in every measure, of the scale, and of what has to be repaired
    found = Certificate(upper, lower, size, size, size, size, size, multipliers_from, arithmetic, open=message)
    return found.of_the_maximum() if declared.maximises else found


def _read(problem: cp.Problem) -> Declared:
    declared = Declared.of(problem)
    for parameter in problem.parameters():
        value_of(parameter)
    return declared


def _put(declared: Declared, solution: Solution) -> Solution:
    """The solution as written; its values and dual values replace those of an earlier solve in the problem."""
    problem = declared.programme.problem
    for variable in (*problem.variables(), *(dual for constraint in problem.constraints for dual in constraint.dual_variables)):
        variable.save_value(None)
    if solution.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        worst = math.inf if declared.maximises is (solution.status is Status.UNBOUNDED) else -math.inf
        problem.unpack(Unpacked(CVXPY_STATUS[solution.status], worst, {}, {}, {}))
        return solution
    if solution.point is None or solution.certificate is None:
        return solution
    point, multipliers = dict(solution.point), dict(solution.multipliers or {})
    whole = declared.variables(point)
    values = {v.id: np.zeros(v.shape) for v in problem.variables()} | {v.id: whole[name] for v, name in declared.written}
    with quiet():
        problem.unpack(Unpacked(CVXPY_STATUS.get(solution.status, cp.OPTIMAL_INACCURATE), None, values, {}, {}))
    multipliers |= _of_rows(declared, multipliers)
    for name, _, dual, sign in dual_variables(declared):
        if name in multipliers:
            dual.save_value(np.reshape(sign * multipliers[name], dual.shape, order="F"))
    certificate = _as_written(declared, Assessment(solution.certificate, point, multipliers), solution.provenance.tol)
    trace = replace(solution.trace, samples=tuple(_sample(declared, sample) for sample in solution.trace.samples))
    return replace(solution, point=frozen(whole), certificate=certificate, trace=trace)


def _of_rows(declared: Declared, multipliers: Multipliers) -> Multipliers:
    """Multipliers of rows that are missing, or 0 all over: stationarity gives them, and no bound needs them.

    The sweep computes those that close a residual; what is left in a variable belongs to its only bound on that side. Multipliers of terms
    are drawn in by INWARD, since the sweep draws those much farther in that rounding puts beyond the end of their domain.
    """
    lacking = {row.name for row in declared.programme.every_row if not np.any(multipliers.get(row.name, 0.0))}
    if not lacking:
        return {}
    try:
        with np.errstate(all="ignore"):
            swept = declared.backward({name: np.asarray(u) * (1.0 - INWARD) for name, u in multipliers.items()}, FLOAT)
    except InvalidProblem:
        return {}
    rows = {name: key for name, (row, key, _) in declared.names.items() if row is not None}
    found = {name: np.asarray(swept.used[key], dtype=float) for name, key in rows.items() if key in swept.used}
    for key, bounds in declared.programme.bounds.items():
        if key in swept.residuals:
            found |= _of_bounds(key, bounds, np.asarray(swept.residuals[key], dtype=float))
    return {name: u for name, u in found.items() if name in lacking and np.all(np.isfinite(u))}


def _of_bounds(key: Key, bounds: Sequence[VariableBound], left: Array) -> Multipliers:
    """What the residual of a variable leaves to its bounds cx + g ≤ 0, on each side and in each entry to the tightest one."""
    found: Multipliers = {}
    tightest: dict[tuple[int, bool], tuple[float, str, int, float]] = {}
    for bound in bounds:
        into: Residual = {}
        bound.row.map.pull(FLOAT, np.ones(bound.row.map.size), into)
        c = np.broadcast_to(np.asarray(into.get(key, 0.0), dtype=float), left.shape)[bound.columns] * (bound.columns >= 0)
        g = np.asarray(bound.row.map.value(FLOAT, {key: np.zeros(left.size)}), dtype=float)
        found[bound.row.name] = np.zeros(bound.row.map.size)
        for i in map(int, np.flatnonzero(c)):
            side, distance = (int(bound.columns[i]), bool(c[i] > 0.0)), float(-g[i] / abs(c[i]))
            if side not in tightest or distance < tightest[side][0]:
                tightest[side] = distance, bound.row.name, i, float(c[i])
    for (column, _), (_, name, entry, factor) in tightest.items():
        found[name][entry] = max(-left[column] / factor, 0.0)
    return found


def _without_optimum(declared: Declared, solution: Solution) -> Solution:
    """A solution without a point or a bound, with the proof that there is no optimum, if one is found."""
    lost = solution.status is Status.FAILED and solution.point is None
    if lost and (proven := _no_point(declared)) is not None:
        return replace(solution, status=Status.INFEASIBLE, certificate=proven, message=proven.open)
    bound = math.nan if solution.certificate is None else solution.certificate.lower
    if not (lost or (bound == -math.inf and solution.status in (Status.FAILED, Status.GAP_OPEN))):
        return solution
    start = None if solution.point is None else dict(solution.point)
    proof = _no_end(declared, BY_NAME[solution.certificate.arithmetic] if solution.certificate else INTERVAL, start)
    proven = _certificate(declared, proof)
    if proof is None or proven is None:
        return solution
    if proof.point is None:
        return replace(solution, certificate=proven if lost else solution.certificate, message=f"{solution.message}; {proven.open}")
    point = frozen(declared.variables(declared.restore(proof.point)))
    return replace(
        solution, status=Status.UNBOUNDED, certificate=proven, message=proven.open, point=point, direction=frozen(proof.direction)
    )


def _as_written(declared: Declared, assessed: Assessment, tol: float) -> Certificate:
    """Bounds in the problem's sense, with the reason where they do not close."""
    found = assessed.certificate
    why = "" if found.closes(tol) or found.infeasible or found.unbounded else found.open or _why(declared, assessed, tol)
    found = replace(found, open=why)
    return found.of_the_maximum() if declared.maximises else found


def _why(declared: Declared, assessed: Assessment, tol: float) -> str:
    num = BY_NAME[assessed.certificate.arithmetic]
    reasons = declared.open(assessed.multipliers or {}, declared.restore(assessed.point, num), num)
    if not reasons:
        near = f" ({assessed.certificate.reading})" if assessed.certificate.reading else ""
        return f"the gap is above {tol:g} of max(|lower|, |upper|){near}; values and multipliers of a tighter solve would help"
    return "; ".join(reason + remedy(reason) for reason in reasons)


def remedy(reason: str) -> str:
    """The remedy of a reason, in brackets."""
    return next((f" ({help})" for part, help in HELP.items() if part in reason), "")


def _sample(declared: Declared, sample: Sample) -> Sample:
    return replace(sample, lower=-sample.upper, upper=-sample.lower) if declared.maximises else sample


def _values(declared: Declared, needed: bool) -> Point | None:
    """The values of the variables; None, or an error where they are needed, if one has no value."""
    found: Point = {}
    for leaf in declared.programme.leaves.values():
        value = dense_value(leaf.variable)
        if value is None and needed:
            raise InvalidProblem(f"variable {leaf.name}: it has no value; solve the problem first, or name a solver")
        if value is None:
            return None
        found[leaf.name] = value
    return found


def _duals(declared: Declared) -> Multipliers:
    """The dual values that the constraints hold."""
    values = ((name, dual.value, sign) for name, _, dual, sign in dual_variables(declared))
    return {name: sign * np.asarray(value, dtype=float) for name, value, sign in values if value is not None}


@contextmanager
def untouched(problem: cp.Problem) -> Iterator[None]:
    """Restore the values of the variables afterwards, which a form of the problem shares."""
    before = [(v, v.value if v.sparse_idx is None else v.value_sparse) for v in problem.variables()]
    try:
        yield
    finally:
        for v, value in before:
            v.save_value(value, sparse_path=v.sparse_idx is not None)
