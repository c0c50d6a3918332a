"""Integer points: from a back end that branches, or from the relaxation of a geometric programme."""

from __future__ import annotations

import math
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.backends import table
from simopt.backends.adapter import dense_value
from simopt.backends.table import BackEnd
from simopt.core.errors import NotAvailable, UnknownName
from simopt.core.threads import quiet
from simopt.duality.reading.complex_numbers import SplitVariable, is_complex, real_problem
from simopt.duality.reading.integers import NEAR, Relaxation
from simopt.solving.integer_bounds import convex_problem, judge_of
from simopt.solving.integer_values import Values, value_of


def solved_by_branching(
    form: Relaxation, solver: str | None, options: dict[str, Any], time_limit: float = math.inf
) -> tuple[str, cp.Problem]:
    """Solve a copy of the problem as CVXPY does, which shares its variables; why that failed, or nothing, and the copy.

    One with complex numbers is solved in real ones: CVXPY 1.9 takes moduli of complex numbers for linear functions when it chooses a back
    end, and HiGHS then solves another problem.
    """
    split: tuple[SplitVariable, ...] = ()
    if is_complex(form.original):
        real = real_problem(form.original)
        trial, split = real.problem, real.variables
    else:
        trial = cp.Problem(form.original.objective, [row.copy() for row in form.original.constraints])
    if form.geometric:  # CVXPY drops integers there
        return _solved_without_branching(form, solver, options, time_limit), trial
    more, backend = dict(options), _back_end(form, solver)
    if backend is not None and math.isfinite(time_limit) and isinstance(backend.time_limit, str) and backend.time_limit:
        more.setdefault(backend.time_limit, time_limit)
    try:
        with quiet():
            trial.solve(solver=None if backend is None else backend.cvxpy_name, **more)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # back ends raise whatever they like
        return f"{type(error).__name__}: {error}".removesuffix(": "), trial
    for each in split:
        parts = [None if part is None else dense_value(part) for part in (each.real, each.imaginary)]
        each.variable.save_value(None if all(part is None for part in parts) else each.value(*parts))
    return "", trial


def _back_end(form: Relaxation, solver: str | None) -> BackEnd | None:
    """The named back end, or HiGHS for a linear objective; None where CVXPY chooses."""
    if solver is None:
        is_linear = table.HIGHS.missing is None and (convex := convex_problem(form)).is_qp() and convex.objective.expr.is_pwl()
        return table.HIGHS if is_linear else None
    backend = table.find(solver)
    if backend is None:
        raise UnknownName("solver", solver, [known.name for known in table.listed() if known.missing is None])
    if backend.missing is not None:
        raise NotAvailable(backend.missing)
    return backend


def _solved_without_branching(form: Relaxation, solver: str | None, options: dict[str, Any], time_limit: float) -> str:
    """Solve the relaxation, and take its values where its integers are integers; why there are none, or nothing."""
    solution = judge_of(form).solve(form.problem, None, time_limit, tol=1e-8, solver=solver, **options)
    if solution.point is None:
        return f"the relaxation: {solution.message}"
    for each in form.variables:
        if each.rounded(dense_value(each.relaxed), NEAR)[1]:
            for v, _ in form.others:
                v.save_value(None)
            return "no back end looks for integers of geometric programmes, and those of the relaxation are none; give a point"
        each.variable.save_value(dense_value(each.relaxed))
    return ""


def completed(form: Relaxation, known: Values, tol: float, time_limit: float) -> Values:
    """The values with integers rounded, and those of the other variables from a certified solve with these integers, if there are any."""
    whole = dict(known)
    for each in form.variables:
        flat, why = each.rounded(known[each.name], NEAR)
        if why:
            return known
        whole[each.name] = flat
    if form.pure:
        return whole
    fixed = form.fixed({each.name: np.asarray(whole[each.name]) for each in form.variables})
    solution = judge_of(form).solve(fixed, None, time_limit, tol=tol)
    if solution.point is None:
        return whole
    for v, name in [*form.others, *((each.relaxed, each.name) for each in form.variables if not each.whole)]:
        value = value_of(v)
        whole[name] = whole[name] if value is None else value.reshape(-1, order="F")
    for each in form.variables:
        flat = np.array(whole[each.name])
        flat[each.entries] = np.rint(flat[each.entries])
        whole[each.name] = flat
    return whole
