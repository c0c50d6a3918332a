"""What people call: `certify`, `solve` and `dual`, of problems of simopt and of any `cvxpy.Problem`; here they part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simopt.arithmetic import FLOAT, Arithmetic, arithmetic_for
from simopt.certificates.assessment import judge
from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.model.problem import as_it_is, is_cvxpy
from simopt.solving import driver
from simopt.solving.chain import printer
from simopt.solving.run import Declare, Progress
from simopt.solving.solution import Solution

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.core.arrays import Multipliers, Point
    from simopt.model.problem import Problem


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
        gap / max(|lower|, |upper|) at which a `cvxpy.Problem` counts as closed.

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
    num = arithmetic_for(rigorous) if rigorous else num
    tol = validate.positive("tol", tol)
    if is_cvxpy(problem):
        from simopt.solving import as_written

        return as_written.certify(problem, point, multipliers, num, solver, tol)
    if point is None:
        raise InvalidProblem("point: NoneType given, a mapping of names to arrays needed; only a cvxpy.Problem holds one")
    return judge(as_it_is(problem), point, multipliers, num).certificate


def solve(
    problem: Problem | cp.Problem,
    solver: str | None = None,
    *,
    tol: float = 1e-8,
    time_limit: float = 60.0,
    rigorous: bool | str = False,
    progress: Progress | None = None,
    declare: Declare | None = None,
    record: bool = True,
    verbose: bool = False,
    **options: Any,
) -> Solution:
    """Solve a problem and certify the answer.

    Of a `cvxpy.Problem` the solution's point has the values of all variables by name, and the bounds are those of the problem as it was
    written. Values, dual values, value and status are put into the problem too; "optimal" there means certified. Where its certificate does
    not close, the back end is given the problem as written, too, and the better of each bound is kept.

    Parameters
    ----------
    problem : Problem or cvxpy.Problem
    solver : str, optional
        "clarabel", "ecos", "scs", another back end (`simopt list solvers`: all that CVXPY has installed, and those of packages), or a
        hand-written one of this problem; by default the best hand-written one, else "clarabel".
    tol : float
        relative gap, gap / max(|lower|, |upper|), that the certificate must reach; a gap that is rounding closes at any: see
        `Certificate.closes`.
    time_limit : float
        seconds on the solver's clock.
    rigorous : bool or str
        True (or "interval") evaluates the final bounds in interval arithmetic, "rational" in exact fractions.
    progress : callable, optional
        called with each certified `Sample`.
    declare : callable, optional
        gives the declaration of the normalised problem for a set of cones; `simopt.path` passes one that keeps it.
    record : bool
        False spares what is only for the record, which on a Gram matrix costs more than many a solve: certificates of iterates that the
        solver does not call good enough (the trace has the last ones only), and the fingerprint of the data (""). Of data that stay
        where they are (large arrays, memory maps, Dask), which a certificate reads several times, these certificates are spared anyway.
    verbose : bool
        True prints the solving chain on standard error, step by step as it happens; see `simopt.solving.chain`.
    **options
        options of the solver; an unknown one is an error. Those of back ends are native ones and handed on: `abstol=1e-10` of "qoco".

    Raises
    ------
    UnknownName
        for a solver or option that does not exist, with the nearest name.
    NotAvailable
        for a back end that is not installed.
    Interrupted
        on Ctrl-C; `done` is the solution with the best certified point so far (status INTERRUPTED).
    """
    report = printer() if validate.truth("verbose", verbose) else None
    if is_cvxpy(problem):
        from simopt.solving import as_written

        chosen: dict[str, Any] = {"solver": solver, "tol": tol, "rigorous": rigorous, "record": record, "report": report}
        return as_written.solve(problem, progress, time_limit, **chosen, **options)
    return driver.solve(
        problem,
        solver,
        tol=tol,
        time_limit=time_limit,
        rigorous=rigorous,
        progress=progress,
        declare=declare,
        record=record,
        report=report,
        **options,
    )


def dual(problem: cp.Problem | Problem) -> cp.Problem:
    r"""The dual programme of a `cvxpy.Problem`, or of what a problem of simopt declares.

    A minimum becomes a maximum and a maximum a minimum; both are one number where strong duality holds (a point inside of all rows that are
    not affine is enough), and else the dual is a bound. Of min Σ_i φ_i(A_i x + b_i) it is max Σ_i ⟨u_i, b_i⟩ − φ_i*(u_i) subject to
    Σ_i A_iᵀu_i = 0; of a maximum of f it is minus that of the minimum of −f.

    Variables bear the names of the rows whose multipliers they are (the label of a constraint, "row 3" of the fourth without one,
    "x nonneg" of an attribute) or of the terms ("huber 1", the first; see `simopt.duality`), and "… of" such a name where CVXPY needs more
    of them to say what a conjugate is. Constraints bear the name of the variable whose stationarity they are, and their dual values are the
    optimal values of that variable; those of a term, "scale of", "sign of" or "domain of" its name. (Of a symmetric, diagonal or sparse
    variable they are its entries, each once; of a variable α that stands in Kα and αᵀKα only they are Kα.) Parameters have the values that
    they hold now.

        >>> import cvxpy as cp, numpy as np
        >>> import simopt
        >>> X, y, w = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 3.0]), cp.Variable(2, name="w")
        >>> small = (cp.norm(w, 1) <= 2).set_label("small")
        >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), [small])
        >>> dual = simopt.dual(problem)
        >>> sorted(dual.var_dict)
        ['norm1 1', 'quad_over_lin 1', 'small']
        >>> print(round(problem.solve(solver="CLARABEL"), 6), round(dual.solve(solver="CLARABEL"), 6))
        1.0 1.0
        >>> stationary = next(row for row in dual.constraints if row.label == "w")
        >>> np.allclose(stationary.dual_value, w.value, atol=1e-4), np.allclose(dual.var_dict["small"].value, small.dual_value, atol=1e-4)
        (True, True)

    Raises
    ------
    Unreadable
        where the problem is not convex by CVXPY's rules, or has a variable, constraint or function that is not known; or has a conjugate
        that cannot be declared, as that of a quadratic form is whose matrix is not proven to be semidefinite. The message names the
        sub-expression.
    InvalidProblem
        where there is nothing to minimise over, two constraints have one label, or a constant or parameter has no finite value.
    """
    from simopt.duality import dual_programme

    return dual_programme.dual(problem if is_cvxpy(problem) else problem.declare())
