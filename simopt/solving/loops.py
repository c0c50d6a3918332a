"""Problems that were written in loops: the same problem with all of a kind in one is certified.

Both have the same optimum. Where that certificate does not close, the problem is certified as it is written, and the better one counts.
"""

from __future__ import annotations

import cvxpy as cp

from simopt.arithmetic import Arithmetic
from simopt.certificates.assessment import rank
from simopt.certificates.certificate import Certificate
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.reading.lately_read import LatelyRead
from simopt.duality.reading.loops import JoinedProblem, joined
from simopt.solving import as_written
from simopt.solving.cvxpy_values import turns

LATELY: LatelyRead[JoinedProblem | None] = LatelyRead()


def certify(problem: cp.Problem, num: Arithmetic, solver: str | None, tol: float, values_stay: bool = False) -> Certificate:
    """Bounds from the values of the problem, and its dual values; see `simopt.certify`."""
    found = _joined(problem, num, solver, tol, values_stay)
    if found is not None and found.closes(tol):
        return found
    plain = as_written.certify(problem, None, None, num, solver, tol, values_stay)
    if found is None or plain.infeasible or plain.unbounded:
        return plain
    return found if rank(found) < rank(plain) else plain


def _joined(problem: cp.Problem, num: Arithmetic, solver: str | None, tol: float, values_stay: bool) -> Certificate | None:
    """The certificate of the joined problem; None where nothing is joined, or it is refused, so that the user's own words are named."""
    with turns.of(variable.id for variable in problem.variables()):
        form = LATELY.of(problem, joined, lambda _: True)
        if form is None or (solver is None and any(variable.value is None for variable in problem.variables())):
            return None
        form.take_values()
        try:
            return as_written.certify(form.problem, None, None, num, solver, tol, values_stay, problem)
        except (InvalidProblem, Unreadable):
            return None
