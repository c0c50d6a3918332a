"""The public functions `certify`, `solve` and `dual`: the one place that tells problems of simopt from a `cvxpy.Problem`."""

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
    gp: bool = False,
) -> Certificate:
    """Bound the optimum of `problem` by the restored point and the better of the given and the suggested multipliers.

    For a `cvxpy.Problem`, point and multipliers are its present values and dual values, whoever solved it, unless others are given. The
    bounds are those of the problem as written, also for a maximum; the problem stays unchanged.
    Complex numbers are read as pairs of real ones. With boolean or integer variables the bounds are those of the integer point and of the
    relaxation, in which they are real; no branching narrows them.

    For a problem of simopt the data are those at this moment. It owns arrays up to 64 MB; other code may write on larger ones, and on files
    that are mapped. Where K ⪰ 0 cannot be proven, bounds other than float ones are those of K + δI (`Certificate.judged`).

    Parameters
    ----------
    problem : Problem or cvxpy.Problem
    point, multipliers : dict, optional
        values of the variables; of the constraints, by name.
    num : Arithmetic
    rigorous : bool or str
        in place of `num`: True (or "interval") for interval arithmetic, "rational" for fractions.
    solver : str or None
        for a `cvxpy.Problem` whose certificate does not close with its present values: the back end that solves it anew. The better of each
        bound is kept; a given point stays. None judges the present values only. Exceptions of a back end become reasons in `open`. With the
        default a linear programme is solved by HiGHS at once: the basis of an optimal vertex proves both bounds.
    tol : float
        gap / max(|lower|, |upper|) at which a `cvxpy.Problem` counts as closed.
    gp : bool
        whether a `cvxpy.Problem` is a geometric programme, min f(x) with x > 0 for which log f(e^u) is convex. Bounds on the optimum of
        log f(e^u) are mapped back by exp, rounded outwards. The constants' logarithms are enclosed, not rounded.

    Raises
    ------
    InvalidProblem
        when the formulas do not support the arithmetic, the point is not finite, or an entry is missing or of the wrong size. Also when a
        Gram matrix that the problem does not own has changed since it was checked.
    NotAvailable
        for a back end that is not installed.
    Unreadable
        when no bound can be derived from a part of a `cvxpy.Problem`, or one with gp=True is no geometric programme.
    """
    num = arithmetic_for(rigorous) if rigorous else num
    tol = validate.positive("tol", tol)
    if is_cvxpy(problem):
        from simopt.solving import dispatch

        return dispatch.certify(problem, point, multipliers, num, solver, tol, gp=gp)
    _only_cvxpy(gp)
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
    gp: bool = False,
    **options: Any,
) -> Solution:
    """Solve a problem and certify the answer.

    For a `cvxpy.Problem` the solution's point has the values of all variables by name, and the bounds are those of the problem as written.
    Values, dual values, value and status are put into the problem too; "optimal" there means certified. If its certificate does not close,
    the back end also solves the problem as written, and the better of each bound is kept. One with integers is solved by the back end that
    CVXPY takes for them, or the one that is named.

    Parameters
    ----------
    problem : Problem or cvxpy.Problem
    solver : str, optional
        "clarabel", "ecos", "scs", another back end (`simopt list solvers`: all that CVXPY has installed, and those of packages), or a
        hand-written one of this problem. By default the best hand-written one, else "clarabel".
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
        gives the declaration of the normalised problem for a set of cones; `simopt.path` passes one that reuses it.
    record : bool
        False saves the work that only the record needs, which on a Gram matrix may cost more than the solve. There are then no certificates
        of iterates that the solver does not call good enough (the trace has the last ones only), and no fingerprint of the data (""). For
        data that a certificate reads several times (large arrays, memory maps, Dask) these certificates are skipped anyway.
    verbose : bool
        True prints the solving chain on standard error, step by step as it happens; see `simopt.solving.chain`.
    gp : bool
        whether a `cvxpy.Problem` is a geometric programme. Values, dual values, value and status are those that `problem.solve(gp=True)`
        would leave; multipliers and messages are those of the problem of logarithms.
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
        from simopt.solving import dispatch

        chosen: dict[str, Any] = {"solver": solver, "tol": tol, "rigorous": rigorous, "record": record, "report": report}
        return dispatch.solve(problem, progress, time_limit, gp=gp, **chosen, **options)
    _only_cvxpy(gp)
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


def _only_cvxpy(gp: bool) -> None:
    if validate.truth("gp", gp):
        raise InvalidProblem("gp: True for a problem of simopt, which is convex as it is; only a cvxpy.Problem is a geometric programme")


def dual(problem: cp.Problem | Problem, *, gp: bool = False) -> cp.Problem:
    """The dual programme of a `cvxpy.Problem`, or of the declaration of a problem of simopt.

    A minimum becomes a maximum and a maximum a minimum. Both values are equal under strong duality, for which a point inside of all rows
    that are not affine is enough; else the dual is a bound. The dual of min Σ_i φ_i(A_i x + b_i) is max Σ_i ⟨u_i, b_i⟩ − φ_i*(u_i) subject
    to Σ_i A_iᵀu_i = 0; that of max f is minus the dual of min −f.

    Variables have the names of the rows whose multipliers they are: the label of a constraint, "row 3" for the fourth without one, "x
    nonneg" for an attribute. Others have the names of terms ("huber 1", the first; see `simopt.duality`), or "… of" such a name where CVXPY
    needs more variables for a conjugate. Constraints have the name of the variable whose stationarity they are, and their dual values are
    the optimal values of that variable. Those of a term are called "scale of", "sign of" or "domain of" its name. (For a symmetric,
    diagonal or sparse variable they are its entries, each once. For a variable α that occurs only in Kα and αᵀKα they are Kα.) Parameters
    have their present values. The dual of a problem with complex variables z is that of its real problem in "Re z" and "Im z", where an
    equality is two, "row 3" and "row 3, imaginary part". With gp=True it is that of the problem of logarithms of a geometric programme, in
    "log x" for a variable x: its value is the logarithm of the optimum, under strong duality.

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
        where the problem is not convex by CVXPY's rules, or has an unknown variable, constraint or function. Also where it has a conjugate
        that cannot be declared, as that of a quadratic form whose matrix is not proven semidefinite. The message names the sub-expression.
    InvalidProblem
        where there is nothing to minimise over, two constraints have one label, or a constant or parameter has no finite value.
    """
    from simopt.duality import dual_programme
    from simopt.duality.reading.complex_numbers import is_complex, real_problem
    from simopt.duality.reading.geometric import log_problem

    if not is_cvxpy(problem):
        _only_cvxpy(gp)
    declared = problem if is_cvxpy(problem) else problem.declare()
    if validate.truth("gp", gp):
        return dual_programme.dual(log_problem(declared).problem)
    return dual_programme.dual(real_problem(declared).problem if is_complex(declared) else declared)
