"""What is proved of the optimum of a problem, whoever solves it: bounds that its runs and the claims about it are held against.

A process has the runs of several solvers on one problem, one after the other. What is proved of the last problem is remembered, so that it
is proved once. None of it is on the clock of a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from simopt.arithmetic import INTERVAL
from simopt.backends.table import CLARABEL
from simopt.compare.with_integers import WithIntegers
from simopt.model.status import Status

if TYPE_CHECKING:
    from simopt.certificates.certificate import Certificate
    from simopt.duality.declared import Declared
    from simopt.model.problem import Problem

REFERENCE_TOL = 1e-8
WITH_ANSWER = (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED)


@dataclass(frozen=True)
class KnownOptimum:
    """What is proved of the optimum in intervals: a status, bounds, and a feasible point by name if one is known."""

    status: Status
    lower: float = -math.inf
    upper: float = math.inf
    point: Mapping[str, Any] | None = None


class _LastProblem:
    """What was computed of the last problem, by its fingerprint and class."""

    def __init__(self) -> None:
        self.problem: tuple[str, type] | None = None
        self.results: dict[Any, Any] = {}

    def of(self, problem: Problem, what: Any, compute: Callable[[], Any]) -> Any:
        """What was computed of this problem, or is computed now."""
        key = problem.fingerprint(), type(problem)
        if key != self.problem:
            self.problem, self.results = key, {}
        if what not in self.results:
            self.results[what] = compute()
        return self.results[what]


_LAST = _LastProblem()


def lower_bound_by_all_means(problem: Problem, tol: float) -> float:
    """The best lower bound that `certify` proves, which also knows vertices, active sets and faces; −∞ for a problem of the catalogue.

    With it a point is judged by its objective, whatever its multipliers are: of two solvers with one point the one with poorer multipliers
    is no slower.
    """
    from simopt.duality.declared import Declared

    if not isinstance(problem, Declared):
        return -math.inf
    found: float = _LAST.of(problem, ("lower bound", tol), lambda: _lower_bound(problem, tol))
    return found


def _lower_bound(problem: Any, tol: float) -> float:
    from simopt.solving.cvxpy_values import untouched
    from simopt.solving.entry_points import certify

    with untouched(problem.programme.problem):
        for variable in problem.programme.problem.variables():
            variable.save_value(None)
        proven = certify(problem.programme.problem, tol=tol)
    return -proven.upper if problem.maximises else proven.lower


def proved_rigorously(problem: Problem, time_limit: float) -> KnownOptimum:
    """What the optimal vertex or the matrices of a programme prove in intervals, or CLARABEL's answer, or all means of `certify`.

    Each is tried where those before leave it open; only CLARABEL's answer for a problem of the catalogue. Of a maximum, of its negative.
    """
    found: KnownOptimum = _LAST.of(problem, ("in intervals", time_limit), lambda: _proved(problem, time_limit))
    return found


def _proved(problem: Problem, time_limit: float) -> KnownOptimum:
    from simopt.duality.declared import Declared
    from simopt.solving.entry_points import certify, solve

    if isinstance(problem, WithIntegers):
        return _of_minimum(Status.GAP_OPEN, certify(problem.form.original, rigorous=True, tol=REFERENCE_TOL), None)
    if (direct := proved_without_search(problem)) is not None:
        return direct
    original = problem.programme.problem if isinstance(problem, Declared) else problem
    found = solve(original, CLARABEL.name, tol=REFERENCE_TOL, time_limit=time_limit, rigorous=True, record=False)
    bounds = found.certificate
    if isinstance(problem, Declared) and found.status not in WITH_ANSWER:
        more = certify(original, rigorous=True, tol=REFERENCE_TOL)
        bounds = more if bounds is None or more.gap < bounds.gap or more.infeasible or more.unbounded else bounds
    if bounds is None:
        return KnownOptimum(found.status)
    return _of_minimum(found.status, bounds, found.point)


def proved_without_search(problem: Problem) -> KnownOptimum | None:
    """The optimum of a linear or quadratic programme of CVXPY, if its vertex or its matrices prove it in intervals, to the tolerance."""
    from simopt.duality.declared import Declared

    if not isinstance(problem, Declared) or isinstance(problem, WithIntegers):
        return None
    found: KnownOptimum | None = _LAST.of(problem, "without search", lambda: _proved_without_search(problem))
    return found


def _proved_without_search(declared: Declared) -> KnownOptimum | None:
    from simopt.solving.attempt import attempt
    from simopt.solving.linear_and_quadratic import by_matrices, by_vertex

    for prove in (partial(by_vertex, declared, None), partial(by_matrices, declared, None, {})):
        proven = attempt(partial(prove, INTERVAL, REFERENCE_TOL), [])
        if proven is not None and proven.certificate.closes(REFERENCE_TOL):
            return KnownOptimum(Status.OPTIMAL, proven.certificate.lower, proven.certificate.upper, proven.point)
    return None


def _of_minimum(status: Status, bounds: Certificate, point: Mapping[str, Any] | None) -> KnownOptimum:
    """Proven bounds on the minimum from those of the problem as written."""
    status = Status.INFEASIBLE if bounds.infeasible else Status.UNBOUNDED if bounds.unbounded else status
    if bounds.maximises:
        return KnownOptimum(status, -bounds.upper, -bounds.lower, point)
    return KnownOptimum(status, bounds.lower, bounds.upper, point)
