"""Proofs that there is no optimum, as certificates: no point is feasible, or the objective falls without end."""

from __future__ import annotations

import math
from dataclasses import replace

from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, Arithmetic, NotRational
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Point
from simopt.duality.declared import Declared
from simopt.duality.infeasibility.infeasible import infeasible
from simopt.duality.infeasibility.unbounded import Unbounded, unbounded
from simopt.model.status import Status
from simopt.solving.cvxpy_values import untouched
from simopt.solving.problem_sense import infinite_bounds
from simopt.solving.remedies import remedy
from simopt.solving.solution import Solution, frozen


def proof_of_infeasibility(declared: Declared) -> Certificate | None:
    """A proof in intervals that no point is feasible, if one solve finds it."""
    with untouched(declared.programme.problem):
        proof = infeasible(declared)
    if proof is None:
        return None
    message = f"no point is feasible: each violates {proof.reason} by at least {proof.violation:.3g}"
    return infinite_bounds(declared, math.inf, math.inf, "none" if proof.multipliers is None else "solver", proof.arithmetic, message)


def proof_of_unboundedness(declared: Declared, num: Arithmetic, point: Point | None = None) -> Certificate | None:
    """A proof that the objective falls without end, if one solve finds it; in intervals, or in fractions where asked for and possible."""
    proof = _falling(declared, num, point)
    return None if proof is None else _certificate(declared, proof)


def without_optimum(declared: Declared, solution: Solution) -> Solution:
    """A solution without a point or a bound, with the proof that there is no optimum, if one is found."""
    lost = solution.status is Status.FAILED and solution.point is None
    if lost and (proven := proof_of_infeasibility(declared)) is not None:
        return replace(solution, status=Status.INFEASIBLE, certificate=proven, message=proven.open)
    bound = math.nan if solution.certificate is None else solution.certificate.lower
    if not (lost or (bound == -math.inf and solution.status in (Status.FAILED, Status.GAP_OPEN))):
        return solution
    start = None if solution.point is None else dict(solution.point)
    proof = _falling(declared, BY_NAME[solution.certificate.arithmetic] if solution.certificate else INTERVAL, start)
    if proof is None:
        return solution
    proven = _certificate(declared, proof)
    if proof.point is None:
        return replace(solution, certificate=proven if lost else solution.certificate, message=f"{solution.message}; {proven.open}")
    point = frozen(declared.variables(declared.restore(proof.point)))
    return replace(
        solution, status=Status.UNBOUNDED, certificate=proven, message=proven.open, point=point, direction=frozen(proof.direction)
    )


def _falling(declared: Declared, num: Arithmetic, point: Point | None) -> Unbounded | None:
    with untouched(declared.programme.problem):
        try:
            return unbounded(declared, INTERVAL if num is FLOAT else num, point)
        except NotRational:
            return unbounded(declared, INTERVAL, point)


def _certificate(declared: Declared, proof: Unbounded) -> Certificate:
    verb = "rises" if declared.maximises else "falls"
    rate = f", by at least {-proof.slope:.3g} for each unit of a direction with entries of at most 1" if proof.linear_rate else ""
    message = f"the objective {verb} without end{rate}"
    if proof.point is None:
        message = f"unbounded if feasible: {message}, but no point is proven to be feasible{remedy('is not proven to be ≤ 0')}"
    return infinite_bounds(declared, -math.inf if proof.point is not None else math.inf, -math.inf, "none", proof.arithmetic, message)
