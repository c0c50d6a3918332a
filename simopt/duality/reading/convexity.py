"""Whether a problem is convex by CVXPY's rules; if not, the name of its class."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
from scipy.sparse.linalg import ArpackError

from simopt.core.errors import Unreadable
from simopt.duality.atoms.quadratic_form import missing, support


def convex(problem: cp.Problem) -> None:
    """Check that the problem is convex by CVXPY's rules (DCP).

    Raises
    ------
    Unreadable
        where it is not; geometric and quasiconvex programmes are named.
    """
    if _is_dcp(problem):
        return
    if problem.is_dgp():
        raise Unreadable(
            "the problem is a geometric programme (gp=True), which is not convex as it is written (DCP)",
            _culprit(problem),
            "certify and solve take it with gp=True",
        )
    if problem.is_dqcp():
        raise Unreadable(
            "the problem is quasiconvex (qcp=True), which is not convex (DCP)",
            _culprit(problem),
            "give the convex problem of one level: its objective as a constraint",
        )
    raise Unreadable("the problem is not convex by CVXPY's rules (DCP)", _culprit(problem), "see problem.is_dcp() and its parts")


def _is_dcp(problem: cp.Problem) -> bool:
    """CVXPY asks ARPACK whether matrices are semidefinite. If that fails, a proof answers, and CVXPY caches the answer."""
    try:
        return bool(problem.is_dcp())
    except ArpackError:
        for constant in problem.constants():
            _decide(constant)
        return bool(problem.is_dcp())


def _decide(constant: Any) -> None:
    for ask, remembered, sign in ((constant.is_psd, "_psd_test", 1), (constant.is_nsd, "_nsd_test", -1)):
        try:
            ask()
        except ArpackError:
            value = constant.value
            matrix = sign * (value.toarray() if hasattr(value, "toarray") else value)
            setattr(constant, remembered, support(matrix) is not None or missing(matrix) == 0.0)


def _culprit(problem: cp.Problem) -> str:
    if not problem.objective.is_dcp():
        return str(problem.objective)
    return next((str(c) for c in problem.constraints if not c.is_dcp()), "")
