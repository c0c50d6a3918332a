"""How a run ended, in words: a proven "infeasible" is a right answer, and a solver that cannot take a problem was not run on it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simopt.compare.record import Record
from simopt.compare.solver_claims import TRUE
from simopt.model.status import Status

UNSUPPORTED = Status.UNSUPPORTED.value
OPEN = ", the certificate is open"  # the end of messages of back ends; the status says so already


def no_optimum(runs: Sequence[Record]) -> str:
    """ "infeasible" or "unbounded" where one of the runs claims it and this is proven; "" else."""
    if any(run.success for run in runs):
        return ""
    return next((run.claimed for run in runs if run.claim_verdict == TRUE and run.claimed in ("infeasible", "unbounded")), "")


def refuses(runs: Sequence[Record]) -> bool:
    """Whether the solver of these runs cannot take the problem."""
    return bool(runs) and all(run.status == UNSUPPORTED for run in runs)


def in_words(status: str, message: str, relative_gap: float, proven: str = "") -> str:
    """The end of a run; `proven` is `no_optimum` of it."""
    if proven:
        return f"{proven}, proven"
    reason = message.removesuffix(OPEN)
    if status == UNSUPPORTED:
        return reason or "cannot take this problem"
    at = f" at {relative_gap:.1e}" if status == Status.GAP_OPEN.value and not math.isnan(relative_gap) else ""
    return f"{status}{at}" + (f": {reason}" if reason else "")
