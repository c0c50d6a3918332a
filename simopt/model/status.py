"""How a solve ends."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    """How a solve ended. Only OPTIMAL says that the certificate closed: to the requested tolerance, or to rounding of its terms.

    INFEASIBLE says that multipliers, which the solution holds, bound the optimum by +∞. UNBOUNDED says that the solution of a
    `cvxpy.Problem` holds a feasible point and a direction along which the objective is proven to be unbounded. No other problem is
    unbounded: if a back end reports it for one, the solve has FAILED.
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
