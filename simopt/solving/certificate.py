"""The way in to the judge: `certify`, for problems of simopt and for any `cvxpy.Problem`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simopt.arithmetic import BY_NAME, FLOAT, INTERVAL, Arithmetic
from simopt.ground import validate
from simopt.ground.errors import InvalidProblem, UnknownName
from simopt.solving.judgement import Certificate, Judgement, judge, ratio
from simopt.solving.problem import as_it_is, is_cvxpy

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

    Of one of simopt's problems the data are those that it has at this moment. It owns arrays up to 64 MB; others may write on larger ones,
    and on files that are mapped. Bounds that are no floats are of K + δI where K ⪰ 0 cannot be proven (`Certificate.judged`).

    Parameters
    ----------
    problem : Problem or cvxpy.Problem
    point, multipliers : dict, optional
        values of the variables; of the constraints, by name.
    num : Arithmetic
    rigorous : bool or str
        in place of `num`: True (or "interval") for interval arithmetic, "rational" for fractions.
    solver : str or None
        for a `cvxpy.Problem` whose certificate does not close with what it holds: the back end that solves it anew. The better of each
        bound is kept; a point that is given stays. None judges what is there. What a back end raises is a reason in `open`.
    tol : float
        gap / scale at which a `cvxpy.Problem` counts as closed.

    Raises
    ------
    InvalidProblem
        when the problem's formulas do not support the arithmetic, the point is not finite, an entry is missing or of the wrong size, or a
        Gram matrix that the problem does not own is no longer the one that was checked.
    NotAvailable
        for a back end that is not installed.
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
    return judge(as_it_is(problem), point, multipliers, num).certificate
