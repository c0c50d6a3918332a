"""Points and multipliers of a conic form that prove bounds in fractions: floats from CLARABEL, moved inside, then corrected at pivots.

Every proof is checked by `simopt.recheck_certificate`, which decides; here are only attempts. The first takes rows that hold with equality
at the optimum as equations, so that a vertex is met exactly. The others move cones inwards: with s ∈ K + εe instead of s ∈ K, or
z ∈ K* + εe, corrections that are small beside ε stay in the cone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt import recheck_certificate as checker
from simopt.conic.exact_solution import Rationals, TooLarge, exact_solution, rational
from simopt.conic.form import EXPONENTIAL, NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE, ZERO, ConicForm
from simopt.core.arrays import Array

INWARDS = (1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)  # ε in parts of the largest number of b, or of c
DIGITS = 2.0**20  # parts of 1 to which short numbers are rounded
DEEPEST = (1e-1, 1e-2, 1e-3, *reversed(INWARDS))  # for a point without regard to its objective
TOLERANCE, STEPS, TIME_LIMIT = 1e-12, 200, 60.0
FACE = 1e-7  # of a certificate of infeasibility: an entry is 0 below this part of the largest


@dataclass(frozen=True)
class FloatSolution:
    """What CLARABEL ended with: its status, the point, and multipliers, those of a semidefinite cone as a whole matrix."""

    status: str
    x: Array
    z: Array


@dataclass(frozen=True)
class Step:
    """How far second-order and semidefinite cones move inwards, and nonnegative rows, in parts of the largest number of b or c.

    With `tight` nonnegative rows that hold with equality at the optimum are equations. With `short` the floats are rounded to few digits:
    on a face of a cone they may be in it, where those of the solver are not.
    """

    cones: float = 0.0
    rows: float = 0.0
    tight: bool = False
    short: bool = False


Vector = list[Fraction]
Exact = tuple[Vector, ...]


def point(form: ConicForm, problem: checker.ConicProblem) -> tuple[Vector | None, str]:
    """A feasible x in fractions with a small objective; or None, and why there is none."""

    attempts = (partial(_exact_point, form, step) for step in _steps(form))
    proved, why = _first(attempts, lambda x: checker.upper_bound(problem, *x), problem)
    return (None if proved is None else proved[0]), why


def multipliers(form: ConicForm, problem: checker.ConicProblem) -> tuple[tuple[Vector, Vector] | None, str]:
    """(w, z) in fractions, dual feasible, with a large dual objective; or None, and why there are none."""

    attempts = (partial(_exact_multipliers, form, step) for step in _steps(form))
    proved, why = _first(attempts, lambda pair: checker.lower_bound(problem, *pair), problem)
    return (None if proved is None else (proved[0], proved[1])), why


def infeasible(form: ConicForm, document: Callable[[Vector], dict[str, Any]], z: Array) -> tuple[Vector | None, str]:
    """z with Aᵀz = 0, z ∈ K*, bᵀz < 0, near the given floats or inside of the cone; or None, and why there is none.

    The inner ones are multipliers of min t subject to Ax + s = b + te, s ∈ K, t ≥ −1, whose optimum is above 0: there ⟨e, z⟩ = 1.
    """

    def near(threshold: float) -> Exact:
        start = z / max(-float(form.b @ z), 1e-300)
        face = np.abs(start) <= threshold * np.abs(start).max(initial=0.0)
        start = np.where(face & _of_kind(form, NONNEGATIVE), 0.0, start)
        for kind, size, rows in form.parts:
            if kind == SEMIDEFINITE:
                dead = face[rows].reshape(size, size).diagonal()
                start[rows] = np.where(dead[:, None] | dead, 0.0, start[rows].reshape(size, size)).ravel()
        return (_corrected_multipliers(feasibility(form), np.zeros(len(form.c)), start)[1],)

    def inside(step: Step) -> Exact:
        return (_exact_multipliers(_least_violation(form), step)[1][: len(form.b)],)

    def attempts() -> Iterator[Callable[[], Exact]]:
        yield from (partial(near, threshold) for threshold in (FACE, 1e-4, 0.0))
        yield from (partial(inside, step) for step in _steps(form))

    proved, why = _first(attempts(), lambda made: checker.check(document(made[0])), None)
    return (None if proved is None else proved[0]), why


def unbounded(form: ConicForm, document: Callable[[Vector, Vector], dict[str, Any]], r: Array) -> tuple[tuple[Vector, Vector] | None, str]:
    """(x, r) with x feasible, Pr = 0, −Ar ∈ K, cᵀr < 0, and r near the given floats or inside of the cone; or None, and why."""

    def near(threshold: float) -> Exact:
        start = r / max(-float(form.c @ r), 1e-300)
        slack = -(form.A @ start)
        tight = _of_kind(form, ZERO) | (_of_kind(form, NONNEGATIVE) & (slack <= threshold * np.abs(slack).max(initial=0.0)))
        return _on_equations(sp.vstack([form.P, form.A[tight]]), np.zeros(form.P.shape[0] + int(tight.sum())), start)

    problem = checker.ConicProblem(document([], []), checker.Budget())
    depths = (*(Step(depth, depth) for depth in DEEPEST), Step(tight=True), Step(tight=True, short=True))
    starts = (partial(_exact_point, feasibility(form), step) for step in depths)
    start, why = _first(starts, lambda x: checker.upper_bound(problem, *x), problem)
    if start is None:
        return None, why
    point = start[0]

    def attempts() -> Iterator[Callable[[], Exact]]:
        yield from (partial(near, threshold) for threshold in (FACE, -np.inf))
        yield from (partial(_exact_point, _descent(form), step) for step in _steps(form))

    proved, why = _first(attempts(), lambda made: checker.check(document(point, *made)), None)
    return (None if proved is None else (point, proved[0])), why


def feasibility(form: ConicForm) -> ConicForm:
    """The form with the objective 0."""
    return replace(form, P=sp.csr_array(form.P.shape), c=np.zeros(len(form.c)))


def _least_violation(form: ConicForm) -> ConicForm:
    """min t subject to Ax + s = b + te, s ∈ K, t ≥ −1."""
    n = len(form.c)
    column = sp.csr_array(-_centre(form, Step(1.0, 1.0))[:, None])
    last = sp.csr_array(([-1.0], ([0], [n])), shape=(1, n + 1))
    A = sp.vstack([sp.hstack([form.A, column]), last], format="csr")
    c = np.append(np.zeros(n), 1.0)
    return replace(form, P=sp.csr_array((n + 1, n + 1)), c=c, A=A, b=np.append(form.b, 1.0), cones=[*form.cones, (NONNEGATIVE, 1)])


def _descent(form: ConicForm) -> ConicForm:
    """min cᵀr subject to Pr = 0, −Ar ∈ K and −1 ≤ r ≤ 1."""
    n, one = len(form.c), sp.eye_array(len(form.c))
    equations = form.P[np.diff(form.P.indptr) > 0]
    count = equations.shape[0]
    A = sp.vstack([equations, form.A, one, -one], format="csr")
    b = np.concatenate([np.zeros(count + len(form.b)), np.ones(2 * n)])
    zero = [(ZERO, count)] if count else []
    return replace(form, P=sp.csr_array((n, n)), A=A, b=b, cones=[*zero, *form.cones, (NONNEGATIVE, 2 * n)])


def solved(form: ConicForm, c: Array | None = None, b: Array | None = None) -> FloatSolution:
    """CLARABEL's answer for the form, with another c or b if there is one."""
    import clarabel

    left = triangles(form)
    P, A = sp.csc_matrix(sp.triu(form.P)), sp.csc_matrix(left @ form.A)
    right = left @ (form.b if b is None else b)
    answer = clarabel.DefaultSolver(P, form.c if c is None else c, A, right, clarabel_cones(form), clarabel_settings()).solve()
    return FloatSolution(str(answer.status), np.array(answer.x, dtype=float), left.T @ np.array(answer.z, dtype=float))


def clarabel_cones(form: ConicForm) -> list[Any]:
    """The cones of a form as CLARABEL's."""
    import clarabel

    sized = {
        ZERO: clarabel.ZeroConeT,
        NONNEGATIVE: clarabel.NonnegativeConeT,
        SECOND_ORDER: clarabel.SecondOrderConeT,
        SEMIDEFINITE: clarabel.PSDTriangleConeT,
    }
    powers = iter(form.powers)
    return [
        sized[kind](size) if kind in sized else clarabel.ExponentialConeT() if kind == EXPONENTIAL else clarabel.PowerConeT(next(powers))
        for kind, size in form.cones
    ]


def clarabel_settings() -> Any:
    """Accurate, silent, one thread."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter, settings.time_limit, settings.max_threads = False, STEPS, TIME_LIMIT, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    return settings


def fractions(values: Rationals) -> Vector:
    """The same numbers as Python's fractions."""
    return [Fraction(int(x.p), int(x.q)) for x in values]


def _first(attempts: Any, check: Callable[[Exact], Any], problem: checker.ConicProblem | None) -> tuple[Exact | None, str]:
    """The first attempt that the checker accepts, and why the last one before it failed."""
    why = ""
    for attempt in attempts:
        if problem is not None:
            problem.budget = checker.Budget()
        try:
            made = attempt()
            check(made)
        except TooLarge as error:
            return None, str(error)
        except (checker.NotProved, checker.Malformed, np.linalg.LinAlgError, ValueError, OverflowError) as error:
            why = str(error) or type(error).__name__
        else:
            return made, why
    return None, why


def _steps(form: ConicForm) -> Iterator[Step]:
    if any(kind in (SECOND_ORDER, SEMIDEFINITE) for kind, _ in form.cones):
        yield from (Step(inwards, tight=True) for inwards in INWARDS[:4])
    else:
        yield Step(tight=True)
    yield from (Step(inwards, inwards) for inwards in INWARDS)
    yield Step(tight=True, short=True)


def _of_kind(form: ConicForm, *kinds: str) -> Any:
    mask = np.zeros(len(form.b), dtype=bool)
    for kind, _, rows in form.parts:
        mask[rows] = kind in kinds
    return mask


def _centre(form: ConicForm, step: Step) -> Array:
    """εe: the element of each cone that is farthest from its boundary."""
    centre = np.zeros(len(form.b))
    for kind, size, rows in form.parts:
        if kind == NONNEGATIVE:
            centre[rows] = step.rows
        elif kind == SECOND_ORDER:
            centre[rows.start] = step.cones
        elif kind == SEMIDEFINITE:
            centre[rows] = step.cones * np.eye(size).ravel()
    return centre


def _margins(form: ConicForm, v: Array) -> Array:
    """How far each entry of v may move without leaving the cone; ∞ in a zero cone, whose dual is everything."""
    margins = np.full(len(v), np.inf)
    for kind, size, rows in form.parts:
        if kind == NONNEGATIVE:
            margins[rows] = v[rows]
        elif kind == SECOND_ORDER:
            margins[rows] = (v[rows.start] - np.linalg.norm(v[rows][1:])) / np.sqrt(2 * size)
        elif kind == SEMIDEFINITE:
            matrix = v[rows].reshape(size, size)
            margins[rows] = np.linalg.eigvalsh((matrix + matrix.T) / 2)[0] / size
    return margins


def triangles(form: ConicForm) -> Any:
    """CLARABEL's rows of ours: of a matrix S the upper triangle, column by column, off the diagonal (S_ij + S_ji)/√2."""
    blocks = []
    for kind, size, rows in form.parts:
        if kind == SEMIDEFINITE:
            i, j = (index.T[np.triu(np.ones((size, size), dtype=bool)).T] for index in np.indices((size, size)))
            count = np.arange(len(i))
            weight = np.where(i == j, 0.5, np.sqrt(0.5))
            place = (np.tile(count, 2), np.concatenate([i + size * j, j + size * i]))
            blocks.append(sp.csr_array((np.tile(weight, 2), place), shape=(len(i), size * size)))
        else:
            blocks.append(sp.eye_array(rows.stop - rows.start, format="csr"))
    return sp.block_diag(blocks, format="csr") if blocks else sp.csr_array((0, 0))


def _exact_point(form: ConicForm, step: Step) -> Exact:
    unit = max(1.0, float(np.abs(form.b).max(initial=0.0)))
    answer = solved(form, b=form.b - unit * _centre(form, step))
    equations = _of_kind(form, ZERO)
    if step.tight:
        equations |= _of_kind(form, NONNEGATIVE) & (form.b - form.A @ answer.x < answer.z)
    return _on_equations(form.A[equations], form.b[equations], _short(answer.x) if step.short else answer.x)


def _on_equations(matrix: Any, right: Array, start: Array) -> Exact:
    x = exact_solution(matrix, [rational(float(v)) for v in right], start, np.ones(len(start)))
    if x is None:
        raise checker.NotProved("the equations contradict each other in the digits of their data")
    return (fractions(x),)


def _short(values: Array) -> Array:
    """Numbers of few digits near those of the solver: on a face of a cone they may be in it, where rounding has left it."""
    return np.round(values * DIGITS) / DIGITS


def _exact_multipliers(form: ConicForm, step: Step) -> Exact:
    unit = max(1.0, float(np.abs(form.c).max(initial=0.0)))
    inwards = unit * _centre(form, step)
    answer = solved(form, c=form.c + form.A.T @ inwards)
    z, slack = (_short(answer.z) if step.short else answer.z) + inwards, form.b - form.A @ answer.x
    if step.tight:
        z = np.where(_of_kind(form, NONNEGATIVE) & (slack > z), 0.0, z)
        margins = _margins(form, slack)
        for kind, _, rows in form.parts:
            if kind in (SECOND_ORDER, SEMIDEFINITE) and margins[rows.start] > np.abs(z[rows]).max():
                z[rows] = 0.0
    return _corrected_multipliers(form, answer.x, z)


def _corrected_multipliers(form: ConicForm, w: Array, z: Array) -> Exact:
    """(w, z) with Pw + Aᵀz + c = 0: entries of z move in pairs where a matrix is symmetric, and those of 0 stay."""
    moved: Any = np.flatnonzero(np.diff(sp.csc_array(form.P).indptr))
    pairs, weights = [], []
    margins = np.maximum(_margins(form, z), 0.0)
    margins[_of_kind(form, ZERO)] = np.inf
    for kind, size, rows in form.parts:
        if kind == SEMIDEFINITE:
            i, j = np.triu_indices(size)
            full = np.zeros((size, size), dtype=int)
            full[i, j] = full[j, i] = np.arange(len(i))
            matrix = z[rows].reshape(size, size)
            z[rows] = ((matrix + matrix.T) / 2).ravel()
            pairs.append(sp.csr_array((np.ones(size * size), (np.arange(size * size), full.ravel())), shape=(size * size, len(i))))
            live = np.diagonal(matrix) > 0.0  # elsewhere the whole row of a semidefinite matrix is 0, and stays so
            block = ((matrix + matrix.T) / 2)[np.ix_(live, live)]
            least = max(float(np.linalg.eigvalsh(block)[0]) / size, 0.0) if live.any() else 0.0
            weights.append(np.where(live[i] & live[j], least, 0.0))
        else:
            pairs.append(sp.eye_array(rows.stop - rows.start, format="csr"))
            weights.append(margins[rows])
    lift = sp.block_diag(pairs, format="csr") if pairs else sp.csr_array((0, 0))
    counts = np.maximum(lift.sum(axis=0), 1.0) if pairs else np.zeros(0)
    start = np.concatenate([w[moved], (lift.T @ z) / counts])
    system = sp.hstack([sp.csc_array(form.P)[:, moved], form.A.T @ lift]) if pairs else sp.csc_array(form.P)[:, moved]
    right = [rational(-float(v)) for v in form.c]
    solution = exact_solution(system, right, start, np.concatenate([np.full(len(moved), np.inf), *weights]))
    if solution is None:
        raise checker.NotProved("Pw + Aᵀz + c = 0 has no solution near the multipliers of the solver")
    values = fractions(solution)
    full_w = [Fraction(0)] * len(form.c)
    for j, value in zip(moved.tolist(), values, strict=False):
        full_w[j] = value
    columns = sp.csr_array(lift).indices  # each row of the lift has one entry
    return full_w, [values[len(moved) + j] for j in columns]
