"""What one certificate costs, in parts of the solver's time on the same problem: CLARABEL's, or that of the one that a case names.

The price is the processor's time of the first `simopt.certify` of a problem after the solver has solved it, over that of the solver itself.
What CVXPY has made of the problem is handed to it twice, and the faster run counts. Each of the three is done on a problem made anew, in a
process of its own, a copy of this one. There a limit holds, of seconds of the processor, for what comes before a certificate, and for that.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import cvxpy as cp

import simopt
from benchmarks.against import so_far
from benchmarks.pairs import SLOW, Ended, one_thread, processor_limit, within

RUNS = 2  # of the solver, of which the faster counts; where it is slow, one
TOLERANCES = (1e-8, 1e-6)
MODES = {"float": False, "rigorous": True}
SOLVED = (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
NOTHING_TO_CLOSE = {  # what an open certificate says of a problem, and what that means
    "no point within the bounds satisfies": "proven to have no exactly feasible point",
    "not proven to be convex": "not proven to be convex",
}


@dataclass(frozen=True)
class TimedProblem:
    """A problem that is made anew at each call.

    `family` is one of those for which a target is told together; `promised` says whether its certificate should close.
    """

    name: str
    make: Callable[[], cp.Problem]
    family: str = ""
    promised: bool = True
    options: dict[str, Any] = field(default_factory=dict)  # of Problem.solve
    solver: str = cp.CLARABEL
    solver_options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TimedCertificate:
    """One certificate: its seconds, its gap / scale, at which tolerance it closes (∞: at none), and what is said where it is open.

    With `over` the certificate did not end in these `seconds`; with `failed` there is none.
    """

    seconds: float = float("nan")
    gap: float = float("nan")
    closed: float = float("inf")
    open: str = ""
    over: bool = False
    failed: bool = False

    @property
    def nothing_to_close(self) -> str:
        """Why this certificate cannot close: what it says of the problem; empty where it closes, or says no such thing."""
        if self.closed <= min(TOLERANCES):
            return ""
        return next((meaning for words, meaning in NOTHING_TO_CLOSE.items() if words in self.open), "")


@dataclass(frozen=True)
class Measurement:
    """A case: variables, rows, the solver's seconds, its status unless that is "optimal", and both certificates."""

    name: str
    family: str
    promised: bool
    variables: int = 0
    rows: int = 0
    solver: float = float("nan")
    status: str = ""
    certificates: dict[str, TimedCertificate] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: dict[str, Any]) -> Measurement:
        """The outcome that `asdict` had made a dictionary of."""
        return cls(**{**stored, "certificates": {mode: TimedCertificate(**each) for mode, each in stored["certificates"].items()}})

    @property
    def stored(self) -> dict[str, Any]:
        """All fields, as JSON takes them."""
        return asdict(self)

    def ratio(self, mode: str) -> float:
        """The certificate's seconds over the solver's; nan where there is none, a lower bound where it did not end."""
        return self.certificates[mode].seconds / self.solver if mode in self.certificates else float("nan")


def solved(case: TimedProblem) -> tuple[int, int, float]:
    """Variables, rows, and the seconds of the solver without canonicalisation."""
    problem = case.make()
    sizes = problem.size_metrics
    data, chain, _ = problem.get_problem_data(case.solver, **case.options)
    times = []
    for _ in range(RUNS):
        gc.collect()
        start = so_far()
        chain.solve_via_data(problem, data, solver_opts=dict(case.solver_options))
        times.append(so_far() - start)
        if times[0] > SLOW:  # a run of this length needs no second, and the limit is of both
            break
    return sizes.num_scalar_variables, sizes.num_scalar_eq_constr + sizes.num_scalar_leq_constr, min(times)


def certified(case: TimedProblem, rigorous: bool, limit: float) -> tuple[str, TimedCertificate | None]:
    """The status of the solve, and the certificate where it is one."""
    problem = case.make()
    try:
        problem.solve(solver=case.solver, **case.options, **case.solver_options)
    except cp.SolverError:
        return "no point", None
    if problem.status not in SOLVED:
        return problem.status, None
    gc.collect()
    processor_limit(limit)
    start = so_far()
    try:
        if case.solver == cp.CLARABEL:
            found = simopt.certify(problem, rigorous=rigorous)
        else:
            found = simopt.certify(problem, rigorous=rigorous, solver=case.solver.lower())
    except Exception as error:
        return problem.status, TimedCertificate(so_far() - start, open=f"{type(error).__name__}: {error}", failed=True)
    taken = so_far() - start
    closed = min((tol for tol in TOLERANCES if found.closes(tol)), default=float("inf"))
    return problem.status, TimedCertificate(taken, found.relative_gap, closed, found.open)


def measured(case: TimedProblem, limit: float) -> Measurement:
    """The outcome of a case, no part of which goes on beyond the limit (in seconds of the processor)."""
    blank = Measurement(case.name, case.family, case.promised)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY's of inaccurate answers
        try:
            sizes = within(limit, partial(solved, case), processor=True)
        except Ended as error:
            return Measurement(**{**asdict(blank), "status": f"{case.solver}: {error}"})
        if sizes is None:
            return Measurement(**{**asdict(blank), "status": f"{case.solver}: over {limit:g} s"})
        status, certificates = "", dict[str, TimedCertificate]()
        for mode, rigorous in MODES.items():
            try:
                found = within(limit, partial(certified, case, rigorous, limit), processor=True)
            except Ended as error:
                certificates[mode] = TimedCertificate(open=str(error), failed=True)
                continue
            if found is None:
                certificates[mode] = TimedCertificate(limit, open=f"over {limit:g} s", over=True)
                continue
            status, certificate = found
            if certificate is not None:
                certificates[mode] = certificate
    variables, rows, solver = sizes
    return Measurement(case.name, case.family, case.promised, variables, rows, solver, status if status != cp.OPTIMAL else "", certificates)
