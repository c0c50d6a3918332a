"""What kind of programme a `cvxpy.Problem` is: a convex one is read as it is written, others through a convex problem of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simopt.core import validate
from simopt.core.errors import Unreadable
from simopt.duality.reading.complex_numbers import is_complex
from simopt.duality.reading.integers import has_integers
from simopt.duality.reading.loops import may_have_loops
from simopt.solving import as_written, complex_numbers, geometric, integers, loops

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.arithmetic import Arithmetic
    from simopt.certificates.certificate import Certificate
    from simopt.core.arrays import Multipliers, Point
    from simopt.solving.run import Progress
    from simopt.solving.solution import Solution


def certify(
    problem: cp.Problem,
    point: Point | None,
    multipliers: Multipliers | None,
    num: Arithmetic,
    solver: str | None,
    tol: float,
    *,
    gp: bool = False,
    values_stay: bool = False,
) -> Certificate:
    """See `simopt.certify`. With `values_stay` the problem's own values are certified, even where a solve finds better ones."""
    validate.truth("gp", gp)
    if has_integers(problem):
        return integers.certify(problem, point, multipliers, num, solver, tol, values_stay, gp=gp)
    if gp:
        return geometric.certify(problem, point, multipliers, num, solver, tol, values_stay)
    if is_complex(problem):
        return complex_numbers.certify(problem, point, multipliers, num, solver, tol, values_stay)
    if point is None and multipliers is None and may_have_loops(problem):
        return loops.certify(problem, num, solver, tol, values_stay)
    return as_written.certify(problem, point, multipliers, num, solver, tol, values_stay)


def solve(problem: cp.Problem, progress: Progress | None, time_limit: float, *, gp: bool = False, **options: Any) -> Solution:
    """See `simopt.solve`."""
    if options.pop("qcp", False):
        raise Unreadable(
            "qcp=True: quasiconvex programmes are not read", "", "give the convex problem of one level: its objective as a constraint"
        )
    validate.truth("gp", gp)
    if has_integers(problem):
        return integers.solve(problem, progress, time_limit, gp=gp, **options)
    if gp:
        return geometric.solve(problem, progress, time_limit, **options)
    if is_complex(problem):
        return complex_numbers.solve(problem, progress, time_limit, **options)
    return as_written.solve(problem, progress, time_limit, **options)
