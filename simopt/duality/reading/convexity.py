"""Whether a problem is convex by CVXPY's rules; if not, the name of its class."""

from __future__ import annotations

import re
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
    """The smallest expression that breaks the rules, and of what it is a part; what is convex or concave on the wrong side, with that."""
    if not problem.objective.is_dcp():
        aim = "concave and minimised" if isinstance(problem.objective, cp.Minimize) else "convex and maximised"
        (expression,) = problem.objective.args
        broken = _broken(expression)
        return f"{_as_called(expression)}, which is {aim}" if broken is None else f"{_as_called(broken)}, in the objective"
    for constraint in problem.constraints:
        if not constraint.is_dcp():
            broken = next((part for each in constraint.args if (part := _broken(each)) is not None), None)
            return _as_called(constraint) if broken is None else f"{_as_called(broken)}, in a constraint"
    return ""


def _broken(expression: Any) -> Any:
    """The smallest part that is neither convex nor concave while all of its own parts are; None where the whole is either."""
    if _has_curvature(expression):
        return None
    while (inner := next((each for each in expression.args if not _has_curvature(each)), None)) is not None:
        expression = inner
    return expression


def _has_curvature(expression: Any) -> bool:
    return bool(expression.is_convex() or expression.is_concave())


def _as_called(expression: Any) -> str:
    """In the names of functions that one writes: CVXPY's own are those of its classes, as PnormApprox, with arguments that nobody gave."""

    def called(match: re.Match[str]) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", match[1]).lower() + "("

    return re.sub(r"\b([A-Z][A-Za-z]+?)(?:Approx)?\(", called, str(expression)).replace(", None, False)", ")")
