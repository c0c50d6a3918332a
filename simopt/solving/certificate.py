"""The way in to the judge: `certify`, for problems of simopt and for any `cvxpy.Problem`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, Arithmetic
from simopt.ground import validate
from simopt.ground.errors import InvalidProblem, UnknownName
from simopt.solving.judgement import Certificate, Judgement, judge, ratio
from simopt.solving.problem import is_cvxpy

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.ground.arrays import Multipliers, Point
    from simopt.solving.problem import Problem

__all__ = ["Certificate", "Judgement", "arithmetic", "certify", "judge", "ratio"]


def arithmetic(rigorous: bool | str) -> Arithmetic:
    """INTERVAL for True, FLOAT for False, or the one of that name."""
    if isinstance(rigorous, str):
        if rigorous not in BY_NAME:
            raise UnknownName("arithmetic", rigorous, BY_NAME)
        return BY_NAME[rigorous]
    return INTERVAL if rigorous else FLOAT


def certify(
    problem: Problem | cp.Problem,
    point: Point | None = None,
    multipliers: Multipliers | None = None,
    num: Arithmetic = FLOAT,
    *,
    rigorous: bool | str = False,
    solver: str | None = "clarabel",
    tol: float = 1e-8,
) -> Certificate:
    """Bound the optimum of `problem` by the restored point and the better of the given and the suggested multipliers.

    Of a `cvxpy.Problem`, point and multipliers are the values and dual values found in it, whoever solved it, unless others are given. Its
    bounds are those of the problem as it was written, a maximum being one; the problem stays as it was.

    Parameters
    ----------
    problem : Problem or cvxpy.Problem
    point, multipliers : dict, optional
        values of the variables; of the constraints, by name.
    num : Arithmetic
    rigorous : bool or str
        in place of `num`: True (or "interval") for interval arithmetic, "rational" for fractions.
    solver : str or None
        for a `cvxpy.Problem` whose certificate does not close with what it holds: the back end that finds what is missing there
        (multipliers of its functions, or values if it was never solved). None leaves it missing.
    tol : float
        gap / max(|lower|, |upper|) at which a `cvxpy.Problem` counts as closed.

    Raises
    ------
    InvalidProblem
        when the problem's formulas do not support the arithmetic, the point is not finite, or an entry is missing or of the wrong size.
    Unreadable
        when a `cvxpy.Problem` holds something from which no bound can be derived.
    """
    num = arithmetic(rigorous) if rigorous else num
    tol = validate.positive("tol", tol)
    if is_cvxpy(problem):
        from simopt.duality import as_written

        return as_written.certify(problem, point, multipliers, num, solver, tol)
    if point is None:
        raise InvalidProblem("point: NoneType given, a mapping of names to arrays needed; only a cvxpy.Problem holds one")
    return judge(problem, point, multipliers, num).certificate
