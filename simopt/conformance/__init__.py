"""One shared suite for every (problem, solver) pair, for simopt's own content and for other people's.

    python -m simopt.conformance my-problem            # after installing the package that registers it
    >>> from simopt.conformance import conformance
    >>> report = conformance(["my-problem"])            # doctest: +SKIP
    >>> report.ok, str(report)                          # doctest: +SKIP

`check_problem(cls)` and `check_solver(cls, name)` raise `NotConforming` with all that is wrong, each entry saying what to change. The
checks themselves are plain functions in PROBLEM_CHECKS and SOLVER_CHECKS, so that a test suite can run them one by one.
"""

from simopt.conformance.report import PROBLEM_CHECKS, SOLVER_CHECKS, Report, Row, check_problem, check_solver, conformance, pairs
from simopt.conformance.setting import NotConforming, executed

__all__ = [
    "PROBLEM_CHECKS",
    "SOLVER_CHECKS",
    "NotConforming",
    "Report",
    "Row",
    "check_problem",
    "check_solver",
    "conformance",
    "executed",
    "pairs",
]
