"""What a back end claims where it stops by itself, at its own tolerance, held against certified bounds on the optimum.

A claim is an optimal value, or that there is no feasible point, or no finite optimum. Nothing of this is on the clock of a run.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simopt.backends.table import CLARABEL, BackEnd
from simopt.core.errors import InvalidProblem
from simopt.model.gap_unit import ratio
from simopt.model.status import Status

if TYPE_CHECKING:
    from simopt.model.problem import Problem

TRUE, NOT_PROVEN, FALSE = "true", "not proven", "FALSE"
DOCUMENTED = {
    "clarabel": 1e-8, "ecos": 1e-8, "ecos_bb": 1e-8, "scs": 1e-5, "osqp": 1e-5, "piqp": 1e-8, "proxqp": 1e-8, "qpalm": 1e-8, "qoco": 1e-7,
    "daqp": 1e-6, "highs": 1e-7, "mosek": 1e-8, "gurobi": 1e-6,
}  # fmt: skip  # the solver's own tolerances, or those that CVXPY's interface sets where none is given
USUAL = 1e-4  # of a back end that is not in that table
BEYOND = 10.0  # times its tolerance: a claim that misses certified bounds by more is false
REFERENCE_TOL = 1e-8
CLAIMS = {Status.OPTIMAL: "optimal", Status.INFEASIBLE: "infeasible", Status.UNBOUNDED: "unbounded"}


@dataclass(frozen=True)
class SolverClaim:
    """What was claimed, the certified relative gap at the point that came with it, and what bounds on the optimum say.

    Attributes
    ----------
    claimed : str
        "optimal", "infeasible" or "unbounded".
    value : float
        the objective that an optimum is claimed to have; of a maximum, its negative.
    tolerance, gap : float
        the relative accuracy that the solver documents; the certified gap over max(|lower|, |upper|).
    verdict : str
        "true", "not proven" or "FALSE". The last only where bounds in interval arithmetic contradict the claim.
    """

    claimed: str
    value: float
    tolerance: float
    gap: float
    verdict: str


def examine(problem: Problem, backend: BackEnd, *, time_limit: float, options: dict[str, Any]) -> SolverClaim | None:
    """Run the back end once at its own tolerance and judge what it claims; None where it claims nothing.

    A value v is true if all certified bounds are within 10 tol (1 + max(|lower|, |upper|)) of it, and FALSE if it is further than that
    outside of them. "infeasible" is FALSE if there is a feasible point, "unbounded" if there is a lower bound, of the data as they
    are. Where the bounds at the solver's own point do not suffice, CLARABEL's are taken too.
    """
    import cvxpy as cp

    from simopt.backends import adapter
    from simopt.certificates.assessment import judge

    native = dict(options)
    limit = native.pop("max_iter", None)
    declaration = problem.for_back_ends(cones=backend.cones)
    result = adapter.run(
        declaration, backend, tol=None, max_iter=None if limit is None else int(limit), time_limit=time_limit, options=native
    )
    if result.status not in CLAIMS:
        return None
    tolerances = [float(native[name]) for name in backend.tolerance if name in native]
    tol = max(tolerances, default=DOCUMENTED.get(backend.name, USUAL))
    value, lower, upper, gap = math.nan, -math.inf, math.inf, math.nan
    if result.status is Status.OPTIMAL:
        if result.point is None or declaration.value is None:
            return None
        value = float(declaration.value) if isinstance(declaration.objective, cp.Minimize) else -float(declaration.value)
        with suppress(InvalidProblem):  # a point of the wrong form bounds nothing
            found = judge(problem, result.point, result.multipliers).certificate
            lower, upper = found.lower, found.upper
            gap = ratio(found.gap, max(abs(lower), abs(upper)))
        if _near(value, lower, upper, tol):
            return SolverClaim(CLAIMS[result.status], value, tol, gap, TRUE)
    return SolverClaim(CLAIMS[result.status], value, tol, gap, _verdict(problem, result.status, value, tol, time_limit))


def _slack(lower: float, upper: float, tol: float) -> float:
    finite = [abs(bound) for bound in (lower, upper) if math.isfinite(bound)]
    return BEYOND * tol * (1.0 + max(finite, default=0.0))


def _near(value: float, lower: float, upper: float, tol: float) -> bool:
    return max(abs(value - lower), abs(value - upper)) <= _slack(lower, upper, tol)


def _verdict(problem: Problem, status: Status, value: float, tol: float, time_limit: float) -> str:
    """What bounds in interval arithmetic say, which another solver's answer gives; bounds in floats contradict nothing.

    Bounds that are not finite contradict nothing either: a problem may miss feasibility by less than a solver's tolerance, and "unbounded"
    also stands for a dual without a feasible point.
    """
    from simopt.arithmetic import INTERVAL
    from simopt.certificates.assessment import judge

    if INTERVAL.name not in problem.arithmetics:
        return NOT_PROVEN
    proven, lower, upper = _reference(problem, time_limit)
    if status is Status.OPTIMAL:
        if _near(value, lower, upper, tol):
            return TRUE
        slack = _slack(lower, upper, tol)
        too_high, too_low = value > upper + slack, value < lower - slack
        return FALSE if (too_high and math.isfinite(upper)) or (too_low and math.isfinite(lower)) else NOT_PROVEN
    if proven is status:
        return TRUE
    if status is Status.INFEASIBLE and upper == math.inf:
        upper = judge(problem, problem.trivial_point(), None, INTERVAL).certificate.upper
    return FALSE if math.isfinite(upper if status is Status.INFEASIBLE else lower) else NOT_PROVEN


def _reference(problem: Problem, time_limit: float) -> tuple[Status, float, float]:
    """The status that CLARABEL's answer proves, and bounds on the optimum in interval arithmetic; of a maximum, on its negative."""
    from simopt.duality.declared import Declared
    from simopt.solving.entry_points import solve

    given = problem.programme.problem if isinstance(problem, Declared) else problem
    found = solve(given, CLARABEL.name, tol=REFERENCE_TOL, time_limit=time_limit, rigorous=True, record=False)
    bounds = found.certificate
    if bounds is None:
        return found.status, -math.inf, math.inf
    if isinstance(problem, Declared) and problem.maximises:
        return found.status, -bounds.upper, -bounds.lower
    return found.status, bounds.lower, bounds.upper
