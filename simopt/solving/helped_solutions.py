"""Solutions with what further solves prove: of a back end's answer that is refined, and on faces of cones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from simopt.arithmetic import BY_NAME, INTERVAL, Arithmetic
from simopt.backends import refinement, table
from simopt.backends.table import BackEnd
from simopt.certificates.assessment import Assessment, judge
from simopt.duality.declared import Declared
from simopt.duality.graph.matrix_terms import has_large_cones
from simopt.duality.graph_form import best_of, candidates
from simopt.model.status import Status
from simopt.solving.attempt import attempt
from simopt.solving.best_bounds import joined
from simopt.solving.cvxpy_values import untouched
from simopt.solving.faces import on_faces
from simopt.solving.joined_solutions import assessment_of
from simopt.solving.solution import Solution, frozen


def is_refined(declared: Declared, backend: BackEnd) -> bool:
    """Whether the back end's answers are refined: these are inside of their sets, so that no other solve has to move them there."""
    programme = declared.programme
    return backend is table.CLARABEL and refinement.is_refined(programme.problem) and not has_large_cones(programme)


def with_refined_values(declared: Declared, solution: Solution) -> Solution:
    """The solution with what one answer of CLARABEL proves where it is refined, as in `certify`."""

    def assessed(backend: BackEnd, known: Assessment | None, num: Arithmetic, tol: float) -> Assessment | None:
        if not is_refined(declared, backend):
            return None
        above, below = best_of(list(islice(candidates(declared, backend.solver, tol / 2), 1)))
        return joined(declared, known, judge(declared, above.point, below.multipliers, num, enough=tol), num)

    return _helped(declared, solution, assessed)


def with_faces(declared: Declared, solution: Solution) -> Solution:
    """The solution with the bounds on faces of cones."""
    return _helped(declared, solution, lambda backend, known, num, tol: on_faces(declared, known, backend.solver, num, tol, False, []))


def _helped(
    declared: Declared, solution: Solution, prove: Callable[[BackEnd, Assessment | None, Arithmetic, float], Assessment | None]
) -> Solution:
    """The solution with what is proved of it with its back end, arithmetic and tolerance, where that is better."""
    made, known = solution.provenance, assessment_of(solution)
    backend, num = table.find(made.solver) or table.CLARABEL, INTERVAL if known is None else BY_NAME[known.certificate.arithmetic]
    with untouched(declared.programme.problem):
        better = attempt(lambda: prove(backend, known, num, made.tol), [])
    if better is None or better is known:
        return solution
    status, message = (Status.OPTIMAL, "") if better.certificate.closes(made.tol) else (solution.status, solution.message)
    return replace(
        solution,
        status=status,
        message=message,
        point=frozen(better.point),
        multipliers=frozen(better.multipliers or {}),
        certificate=better.certificate,
    )
