"""Problems with cones that have no interior: bounds by the same problem on faces of the cones (`simopt.duality.reading.faces`).

Where that does not help either, a bound by the user may: multipliers are then unbounded, or all but unbounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import islice

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arithmetic.definite import is_definite
from simopt.certificates.assessment import Assessment, judge, over_terms
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers
from simopt.core.threads import quiet
from simopt.duality.declared import Declared
from simopt.duality.graph.matrix_terms import symmetric_part
from simopt.duality.graph_form import best_of, candidates
from simopt.duality.helping_solves import helping_solver
from simopt.duality.reading.faces import Face, face, rank
from simopt.duality.reading.reader import read

SMALL = 1e-6  # of the upper bound: a gap that a message names


def on_faces(
    declared: Declared, best: Assessment | None, solver: str, num: Arithmetic, tol: float, point_stays: bool, notes: list[str]
) -> Assessment | None:
    """The assessment, with the upper bound of the restricted problem and the lower bound of the relaxed one where these are better.

    A note is added for each cone in whose interior no feasible point is known, and of which no face is guessed.

    Raises
    ------
    NotAvailable
        where the back end returns no point of such a problem.
    """
    if not (point_stays or _is_inside(declared, best)) and (faces := _by_points(declared, notes)):
        best = _better_upper(declared, best, _assessed_there(declared, faces, solver, num, tol), num)
    if best is not None and not best.certificate.closes(tol) and (faces := _by_multipliers(declared, best.multipliers or {})):
        best = _better_lower(declared, best, _assessed_there(declared, faces, solver, num, tol), faces, num)
    return best


def closing_bound(declared: Declared, best: Assessment, gap: Callable[[cp.Problem], float]) -> str:
    """The bounds Z ⪯ cI, ten times what Z is at the point, with which the gap is small: a message; empty where they do not help."""
    problem, at = declared.programme.problem, declared.arguments(best.point)
    rows, texts = [], []
    of_variables = {each.term.key for each in declared.plan}
    for term in declared.programme.terms:
        if term.key in declared.cones and term.key in (of_variables & declared.cones.keys() or declared.cones):
            cone, z = declared.cones[term.key], symmetric_part(term.source.args[0])
            largest = float(np.linalg.eigvalsh(cone.matrix(FLOAT, at[term.key]))[-1])
            if math.isfinite(largest) and largest > 0.0:
                bound = 10.0 ** math.ceil(math.log10(largest) + 1.0)
                rows.append(z << bound * np.eye(cone.n))
                texts.append(f"{str(z)[:60]} << {bound:g} I")
    small = gap(cp.Problem(problem.objective, [*problem.constraints, *rows])) if rows else math.inf
    return f"; with {' and '.join(texts)} as constraints the gap is {small:.1e} of |upper|" if small <= SMALL else ""


def _assessed_there(declared: Declared, faces: dict[str, Face], solver: str, num: Arithmetic, tol: float) -> Assessment:
    """Point and multipliers of the problem with these faces, judged as its own."""
    form = Declared(read(declared.programme.problem, faces)).with_iterations(declared.iterations)
    above, below = best_of(list(islice(candidates(form, solver, tol / 2), 1)))
    return judge(form, above.point, below.multipliers, num, enough=tol)


def _is_inside(declared: Declared, best: Assessment | None) -> bool:
    """Whether all matrices are definite at a feasible point: then no face has all of the feasible ones."""
    if best is None or best.certificate.upper == math.inf:
        return False
    at = declared.arguments(best.point)
    return all(is_definite(cone.matrix(FLOAT, at[key])) for key, cone in declared.cones.items())


def _by_points(declared: Declared, notes: list[str]) -> dict[str, Face]:
    """The faces on which a feasible point of largest rank lies: interior-point methods come near one if there is no objective."""
    problem = declared.programme.problem
    before = [(v, v.value) for v in problem.variables()]
    feasible = cp.Problem(cp.Minimize(0), [row.copy() for row in problem.constraints])  # dual values stay
    solver = helping_solver(declared.programme)
    try:
        with quiet():
            feasible.solve(solver=solver, **declared.iterations.interior_options(solver))
        declared.iterations.spend(feasible)
        values = {term.name: term.source.args[0].value for term in declared.programme.terms if term.key in declared.cones}
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException:  # back ends raise any exception (a panic of Rust is no Exception): no face is known
        return {}
    finally:
        for v, value in before:
            v.save_value(value)
    faces: dict[str, Face] = {}
    for name, value in values.items():
        if value is None:
            continue
        matrix = np.asarray(value, dtype=float)
        if (guess := face(matrix, restricted=True)) is not None:
            faces[name] = guess
        elif (positive := rank(matrix)) < len(matrix):
            notes.append(
                f"{name}: no feasible point inside of the cone is known, as {positive} of {len(matrix)} eigenvalues are above 0 at best, "
                "and no face with a simple basis"
            )
    return faces


def _by_multipliers(declared: Declared, multipliers: Multipliers) -> dict[str, Face]:
    """The faces on which the multipliers of cones lie."""
    faces: dict[str, Face] = {}
    for name, (_, key, _) in declared.names.items():
        if key in declared.cones and name in multipliers:
            n = declared.cones[key].n
            guess = face(np.reshape(np.asarray(multipliers[name], dtype=float), (n, n), order="F"), restricted=False)
            if guess is not None:
                faces[name] = guess
    return faces


def _better_upper(declared: Declared, best: Assessment | None, other: Assessment, num: Arithmetic) -> Assessment | None:
    if not other.certificate.upper < (math.inf if best is None else best.certificate.upper):
        return best
    lower, multipliers = (-math.inf, None) if best is None else (best.certificate.lower, best.multipliers)
    return _of_bounds(declared, Assessment(other.certificate, other.point, multipliers), other.certificate.upper, lower, num)


def _better_lower(declared: Declared, best: Assessment, other: Assessment, faces: dict[str, Face], num: Arithmetic) -> Assessment:
    if not other.certificate.lower > best.certificate.lower:
        return best
    multipliers = dict(other.multipliers or {})
    for name, each in faces.items():
        if name in multipliers:
            k = each.across.shape[1]
            multipliers[name] = each.whole(np.reshape(multipliers[name], (k, k), order="F")).reshape(-1, order="F")
    whole = Assessment(best.certificate, best.point, multipliers)
    return _of_bounds(declared, whole, best.certificate.upper, other.certificate.lower, num)


def _of_bounds(declared: Declared, at: Assessment, upper: float, lower: float, num: Arithmetic) -> Assessment:
    gap = max(math.nextafter(upper - lower, math.inf), 0.0)
    over = over_terms(declared, at.point, upper, lower, gap)
    bounds = Certificate.of_bounds(
        upper, lower, gap, over, infeasibility=at.certificate.infeasibility, multipliers_from="solver", arithmetic=num.name
    )
    return Assessment(bounds, at.point, at.multipliers)
