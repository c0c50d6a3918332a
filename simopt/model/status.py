"""How a solve ends."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """How a solve ended. Only OPTIMAL says that the certificate closed to the tolerance asked for.

    INFEASIBLE says that multipliers, which the solution holds, bound the optimum by +∞. UNBOUNDED says of a `cvxpy.Problem` that
    a direction, which the solution holds beside a feasible point, is proven to lead from there to objectives without end; no other problem
    is unbounded, so that a solve that hears it from a back end has FAILED.
    """

    NOT_SOLVED = "not solved"
    OPTIMAL = "optimal"
    GAP_OPEN = "gap open"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
