"""Bounds of a problem with integers: the value of an integer point on one side, the relaxation on the other."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, NotRational
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Array, Multipliers
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.reading.complex_numbers import is_complex, real_problem
from simopt.duality.reading.geometric import log_problem
from simopt.duality.reading.integers import Relaxation
from simopt.model.gap_unit import ratio
from simopt.solving import as_written, complex_numbers, geometric
from simopt.solving.back_end_solves import TIME_LIMIT
from simopt.solving.cvxpy_values import untouched
from simopt.solving.integer_values import Values, other_values
from simopt.solving.remedies import HELP

SLACK = "with the numbers as floats hold them; integers cannot be moved by rounding, slack in the row would help"


def convex_problem(form: Relaxation) -> cp.Problem:
    """The convex problem in real numbers that is read for the relaxation."""
    if form.geometric:
        return log_problem(form.problem).problem
    return real_problem(form.problem).problem if is_complex(form.problem) else form.problem


def judge_of(form: Relaxation) -> Any:
    """The module whose `certify` and `solve` take the relaxation, and the problem with fixed integers."""
    return geometric if form.geometric else complex_numbers if is_complex(form.original) else as_written


@dataclass(frozen=True, eq=False)
class IntegerBounds:
    """How bounds are asked for.

    Parameters
    ----------
    solver : str or None
        the back end that may help; None where values and multipliers are judged as they are.
    claimed : cvxpy.Problem
        the problem as a back end for integers solved it.
    values_stay : bool
        whether the values are judged even where a solve finds better ones.
    """

    form: Relaxation
    num: Arithmetic
    solver: str | None
    tol: float
    claimed: cp.Problem
    values_stay: bool = False

    def of(self, known: Values, multipliers: Multipliers | None) -> Certificate:
        """The bounds of a point and of the relaxation."""
        below = self._of_relaxation(known, multipliers)
        if below.infeasible:
            return replace(below, open=f"of the relaxation: {below.open}")
        integers, reasons, moved = dict[str, Array](), list[str](), 0.0
        for each in self.form.variables:
            value = known[each.name]
            assert value is not None
            integers[each.name], why = each.rounded(value)
            flat = np.asarray(value, dtype=float).reshape(-1, order="F")
            moved = max(moved, float(np.max(np.abs(flat - integers[each.name]) / (1 + np.abs(flat)))))
            reasons += [why] if why else []
        if reasons:
            return self._of_bound(below, "; ".join(reasons))
        above = self._of_point_with(integers, known)
        if above.unbounded:
            return replace(above, open=f"with these integers: {above.open}")
        if not math.isfinite(above.value):
            why = above.open.replace(HELP["is not proven to be ≤ 0"], SLACK) if self.form.pure else above.open
            return self._of_bound(below, f"with these integers: {why}")
        return self._between(above.value, below, max(moved, above.infeasibility))

    def without_point(self, known: Values, multipliers: Multipliers | None, why: str) -> Certificate:
        """The bound of the relaxation alone, and why there is no point."""
        return self._of_bound(self._of_relaxation(known, multipliers), why)

    def _of_bound(self, below: Certificate, why: str) -> Certificate:
        if below.infeasible:
            return replace(below, open=f"of the relaxation: {below.open}")
        return self._between(-math.inf if below.maximises else math.inf, below, 0.0, why)

    def _of_relaxation(self, known: Values, multipliers: Multipliers | None) -> Certificate:
        form, judge = self.form, judge_of(self.form)
        for each in form.variables:
            value = known[each.name]
            each.relaxed.save_value(None if value is None else np.reshape(value, each.variable.shape, order="F"))
        for constraint, inner in form.constraints:
            for dual, copy in zip(constraint.dual_variables, inner.dual_variables, strict=True):
                copy.save_value(dual.value)
        form.put_decisions()
        below: Certificate = judge.certify(form.problem, None, multipliers, self.num, self.solver, self.tol)
        if below.gap < math.inf or below.infeasible or below.unbounded or self.solver is None:
            return below
        with untouched(form.original):  # a solve looks further for a proof that there is no optimum
            proof = judge.solve(form.problem, None, TIME_LIMIT, tol=self.tol, rigorous=self.num is not FLOAT).certificate
        return proof if proof is not None and (proof.infeasible or proof.unbounded) else below

    def _of_point_with(self, integers: dict[str, Array], known: Values) -> Certificate:
        """The certificate of the problem with these integers; without other variables it is in fractions, where its functions have some."""
        form, judge = self.form, judge_of(self.form)
        result: Certificate
        if form.pure:
            try:
                return self._of_constants(form.fixed(integers), as_written if form.geometric else judge)
            except Unreadable:  # functions of geometric programmes alone
                if not form.geometric:
                    raise
            point = {"t": np.ones(())}
            result = judge.certify(form.fixed(integers, in_logarithms=True), point, {}, self.num, None, self.tol)
            return result
        fixed = form.fixed(integers)
        if form.geometric:
            fixed = self._without_constant_rows(fixed)
        for each in form.variables:
            each.relaxed.save_value(np.reshape(integers[each.name], each.variable.shape, order="F"))
        with other_values(form, known):
            result = judge.certify(fixed, None, None, self.num, self.solver, self.tol, self.values_stay)
        return result

    def _of_constants(self, fixed: cp.Problem, judge: Any) -> Certificate:
        """The certificate of a problem whose only variable is t, at t = 0, in fractions where its functions have some."""
        point, num = {"t": np.zeros(())}, self.num
        result: Certificate
        try:
            result = judge.certify(fixed, point, {}, RATIONAL, None, self.tol)
        except (NotRational, InvalidProblem):
            result = judge.certify(fixed, point, {}, INTERVAL if num is RATIONAL else num, None, self.tol)
        if not math.isfinite(result.value) and num is FLOAT:
            result = judge.certify(fixed, point, {}, num, None, self.tol)  # in floats an equality holds to rounding
        return result

    def _without_constant_rows(self, fixed: cp.Problem) -> cp.Problem:
        """The problem without the rows in which integers are all that varied, if these are proven: logarithms of numbers are not exact."""
        rows = [row for row in fixed.constraints if not row.variables()]
        if not rows:
            return fixed
        check = cp.Problem(cp.Minimize(cp.Variable(nonneg=True, name="t")), rows)
        with suppress(InvalidProblem):
            if math.isfinite(self._of_constants(check, as_written).value):
                return cp.Problem(fixed.objective, [row for row in fixed.constraints if row.variables()])
        return fixed

    def _between(self, value: float, below: Certificate, moved: float, why: str = "") -> Certificate:
        """The certificate of a point's value and the bound of the relaxation; `why` there is no point, if there is none."""
        maximises = isinstance(self.form.original.objective, cp.Maximize)
        lower, upper = (value, below.upper) if maximises else (below.lower, value)
        is_finite = math.isfinite(lower) and math.isfinite(upper)
        gap = (math.nextafter(upper - lower, math.inf) if lower < upper else 0.0) if is_finite else math.inf
        over = ratio(gap, max(abs(lower), abs(upper))) if is_finite else math.inf
        rest = {"multipliers_from": below.multipliers_from, "arithmetic": below.arithmetic, "maximises": maximises}
        bounds = Certificate.of_bounds(upper, lower, gap, over, infeasibility=moved, **rest)
        bounds = replace(bounds, gap_over_upper=ratio(gap, abs(value)))
        if bounds.closes(self.tol):
            return bounds
        accurate = below.closes(self.tol) or below.gap <= self.tol * bounds.scale
        reasons = [why, *_reasons(below, is_finite, accurate, maximises), _claim(self.claimed)]
        return replace(bounds, open="; ".join(filter(None, reasons)))


def _reasons(below: Certificate, is_finite: bool, accurate: bool, maximises: bool) -> list[str]:
    """Why the bound of the relaxation and the value of a point are apart."""
    reasons = []
    if is_finite:
        nearer = "lower the bound, a better point raise its value" if maximises else "raise the bound, a better point lower its value"
        own = "" if accurate else ", whose own gap is open"
        reasons.append(
            f"the gap is that between the integer point and the relaxation, in which integers are real numbers{own}, "
            f"and not one of a solver: branching or cuts would {nearer}"
        )
    if below.open and not accurate:
        reasons.append(f"of the relaxation: {below.open}")
    if below.unbounded:
        verb = "rises" if maximises else "falls"
        reasons.append(f"the relaxation {verb} without end, which does not prove that its integer points do; bounds on them would help")
    return reasons


def _claim(problem: cp.Problem) -> str:
    """The bound that HiGHS claims for the problem that it solved, or that a back end calls it infeasible; empty where there is no claim."""
    if problem.solver_stats is not None and problem.status == cp.INFEASIBLE:
        return f"{problem.solver_stats.solver_name} claims that no point is feasible, which is not proven"
    more = None if problem.solver_stats is None else problem.solver_stats.extra_stats
    bound, value = getattr(more, "mip_dual_bound", None), getattr(more, "objective_function_value", None)
    if bound is None or value is None or problem.value is None or not all(map(math.isfinite, (bound, value, float(problem.value)))):
        return ""
    sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    claimed = float(problem.value) + sign * (float(bound) - float(value))  # HiGHS minimises, without the constant of the objective
    return f"{problem.solver_stats.solver_name} claims the bound {claimed:.12g}, which is not proven"
