"""What a back end claims where it stops by itself, at its own tolerance, held against certified bounds on the optimum.

A claim is an optimal value, or that there is no feasible point, or no finite optimum. Nothing of this is on the clock of a run.

A claim is `FALSE` only if two things are proved. Bounds in interval arithmetic contradict it, and rounding does not excuse it. The latter
means of an optimum that the residuals of its own point and multipliers are over ten times its tolerance, in the programme that it was
given. Of "infeasible" and "unbounded" the contradiction survives any change of the data by 1e-6 (`simopt.conic.survival`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.backends.table import BackEnd
from simopt.compare.back_end_form import as_written
from simopt.compare.known_optimum import KnownOptimum, proved_rigorously, proved_without_search
from simopt.compare.with_integers import WithIntegers
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.model.gap_unit import ratio
from simopt.model.problem import Rescale
from simopt.model.status import Status

if TYPE_CHECKING:
    from simopt.backends.adapter import NativeResult
    from simopt.backends.own_residuals import OwnResiduals
    from simopt.model.problem import Problem

TRUE, NOT_PROVEN, FALSE = "true", "not proven", "FALSE"
BEYOND = 10.0  # times its tolerance: a claim that misses certified bounds by more is false
CLAIMS = {Status.OPTIMAL: "optimal", Status.INFEASIBLE: "infeasible", Status.UNBOUNDED: "unbounded"}
EITHER = ("kUnboundedOrInfeasible",)  # reported where a back end has found out that there is no optimum, and not why
WITHOUT_OPTIMUM = {Status.INFEASIBLE: "no point is feasible", Status.UNBOUNDED: "the objective falls without end"}
LARGEST = 1000  # numbers of a point that a record holds


@dataclass(frozen=True)
class SolverClaim:
    """What was claimed, the certified relative gap at the point that came with it, and what bounds on the optimum say.

    Attributes
    ----------
    claimed : str
        "optimal", "infeasible" or "unbounded".
    value : float
        the objective that an optimum is claimed to have; of a maximum, its negative.
    tolerance, gap : float
        the relative accuracy that the solver documents; the certified gap over max(|lower|, |upper|).
    residual : float
        the largest relative residual of its answer in the programme that it was given; nan where it is not known.
    verdict : str
        "true", "not proven" or "FALSE".
    reason : str
        why it is FALSE or not proven, in a sentence.
    bound : float
        the certified bound that contradicts a FALSE claim: of the optimum from the side that is missed; nan for another verdict.
    point : str
        JSON of a feasible point by name that proves an upper bound which contradicts; empty where none is needed, or it is too large.
    """

    claimed: str
    value: float
    tolerance: float
    gap: float
    verdict: str
    residual: float = math.nan
    reason: str = ""
    bound: float = math.nan
    point: str = ""


@dataclass(frozen=True)
class ClaimVerdict:
    """A verdict with its reason, and what shows that a claim is FALSE."""

    verdict: str
    reason: str = ""
    bound: float = math.nan
    point: Mapping[str, Any] | None = None


def examine(problem: Problem, backend: BackEnd, *, time_limit: float, options: dict[str, Any]) -> SolverClaim | None:
    """Run the back end once at its own tolerance and judge what it claims; None where it claims nothing, or says that it is inaccurate.

    A value v is true if all certified bounds are within 10 tol (1 + max(|lower|, |upper|)) of it. It is FALSE if it is further than that
    outside of them, and the answer's own residuals are over 10 tol. "infeasible" is FALSE if there is a feasible point, "unbounded" if
    there is a lower bound, for all data within 1e-6. Where the bounds at the solver's own point do not suffice, those of `certify` are
    taken.
    """
    import cvxpy as cp

    from simopt.backends import adapter

    native = dict(options)
    limit = native.pop("max_iter", None)
    form, back = as_written(problem) or (problem, Rescale())
    declaration = form.for_back_ends(cones=backend.cones)
    result = adapter.run(
        declaration,
        backend,
        tol=None,
        max_iter=None if limit is None else int(limit),
        time_limit=time_limit,
        options=native,
        examined=True,
    )
    if result.status not in CLAIMS or result.status_text.startswith("Almost") or "inaccurate" in result.status_text:
        return None
    tolerances = [float(native[name]) for name in backend.tolerance if name in native]
    tol = max(tolerances, default=backend.documented)
    if isinstance(problem, WithIntegers):
        tol = max(tol, backend.documented_gap)
    value, residual, own = math.nan, math.nan, KnownOptimum(result.status)
    if result.status is Status.OPTIMAL:
        if result.point is None or declaration.value is None:
            return None
        value = float(declaration.value) if isinstance(declaration.objective, cp.Minimize) else -float(declaration.value)
        own, residual = _of_its_point(problem, result, back), _largest(result.residuals)
    gap = ratio(own.upper - own.lower, max(abs(own.lower), abs(own.upper))) if math.isfinite(own.upper - own.lower) else math.nan
    if result.status is Status.OPTIMAL and _near(value, own, tol):
        found = ClaimVerdict(TRUE)
    else:
        found = _verdict(problem, result, value, tol, time_limit)
    return SolverClaim(CLAIMS[result.status], value, tol, gap, found.verdict, residual, found.reason, found.bound, _as_json(found.point))


def _largest(residuals: OwnResiduals | None) -> float:
    if residuals is None:
        return math.nan
    return residuals.primal if math.isnan(residuals.of_optimality) else residuals.of_optimality


def _of_its_point(problem: Problem, result: NativeResult, back: Rescale) -> KnownOptimum:
    """Bounds at its own point: from below by what is proved of the problem, or by its multipliers; a point of the wrong form has none."""
    from simopt.certificates.assessment import judge
    from simopt.duality.declared import Declared

    assert result.point is not None
    with suppress(InvalidProblem):
        point, direct = back.point(result.point), proved_without_search(problem)
        if direct is not None and isinstance(problem, Declared):
            value = float(problem.objective(problem.restore_without_solves(point)))
            if math.isfinite(value):
                return KnownOptimum(result.status, direct.lower, value)
        multipliers = None if result.multipliers is None else back.multipliers(result.multipliers)
        bounds = judge(problem, point, multipliers).certificate
        return KnownOptimum(result.status, bounds.lower, bounds.upper)
    return KnownOptimum(result.status)


def _slack(bounds: KnownOptimum, tol: float) -> float:
    finite = [abs(bound) for bound in (bounds.lower, bounds.upper) if math.isfinite(bound)]
    return BEYOND * tol * (1.0 + max(finite, default=0.0))


def _near(value: float, bounds: KnownOptimum, tol: float) -> bool:
    return max(abs(value - bounds.lower), abs(value - bounds.upper)) <= _slack(bounds, tol)


def _verdict(problem: Problem, result: NativeResult, value: float, tol: float, time_limit: float) -> ClaimVerdict:
    """What bounds in interval arithmetic say, which another solver's answer gives; bounds in floats contradict nothing.

    Bounds that are not finite contradict nothing either: a problem may miss feasibility by less than a solver's tolerance, and "unbounded"
    also stands for a dual without a feasible point.
    """
    from simopt.arithmetic import INTERVAL
    from simopt.certificates.assessment import judge

    if INTERVAL.name not in problem.arithmetics and not isinstance(problem, WithIntegers):
        return ClaimVerdict(NOT_PROVEN, "the problem has no bounds in interval arithmetic")
    known = proved_rigorously(problem, time_limit)
    if result.status is Status.OPTIMAL:
        return _of_optimum(known, value, tol, result.residuals)
    if known.status is result.status or (result.status_text in EITHER and known.status in WITHOUT_OPTIMUM):
        return ClaimVerdict(TRUE)
    if result.status is Status.INFEASIBLE and known.upper == math.inf and not isinstance(problem, WithIntegers):
        trivial = judge(problem, problem.trivial_point(), None, INTERVAL)
        known = KnownOptimum(known.status, known.lower, trivial.certificate.upper, trivial.point)
    found = _of_no_optimum(problem, known, result.status)
    if found.verdict == FALSE and not result.has_points:
        return ClaimVerdict(NOT_PROVEN, "CVXPY gave it bounds of its own for expressions, and no point was found within them")
    if found.verdict == FALSE and result.status_text in EITHER:
        return _of_no_optimum(problem, known, Status.UNBOUNDED)  # both words have to be false
    return found


def _of_optimum(known: KnownOptimum, value: float, tol: float, own: OwnResiduals | None) -> ClaimVerdict:
    """The verdict on a value, and on the answer that it is the value of.

    Exact residuals of 0 would make the point optimal, so that some residual is above 0 where the value is wrong. Without multipliers that
    of the point convicts of a value below the optimum; above it the better value itself does.
    """
    if not math.isfinite(value):
        return ClaimVerdict(NOT_PROVEN, "its point is outside of the domain of a function, by rounding or by more, and has no value")
    if _near(value, known, tol):
        return ClaimVerdict(TRUE)
    slack, limit = _slack(known, tol), BEYOND * tol
    too_high, too_low = (
        value > known.upper + slack,
        value < known.lower - slack,
    )
    if not (too_high or too_low):
        return ClaimVerdict(NOT_PROVEN, f"the bounds [{known.lower:.9g}, {known.upper:.9g}] allow its value and others")
    if known.status in WITHOUT_OPTIMUM:
        said = f"{WITHOUT_OPTIMUM[known.status]}, and it says {value:.12g}"
    else:
        said = (
            f"the optimum is at {'most' if too_high else 'least'} {known.upper if too_high else known.lower:.12g}, and it says {value:.12g}"
        )
    if own is None:
        return ClaimVerdict(NOT_PROVEN, f"{said}; but its own residuals are not known here")
    worst = own.primal if too_low and math.isnan(own.dual) else own.of_optimality
    if worst <= limit:
        return ClaimVerdict(NOT_PROVEN, f"{said}; but its own residuals are at most {worst:.1e}, within ten times its tolerance")
    residuals = "it gives no multipliers" if math.isnan(worst) else f"its own residual is {worst:.1e}, its tolerance {tol:g}"
    return ClaimVerdict(FALSE, f"{said}; {residuals}", known.upper if too_high else known.lower, known.point if too_high else None)


def _of_no_optimum(problem: Problem, known: KnownOptimum, claimed: Status) -> ClaimVerdict:
    """The verdict on "infeasible" or "unbounded", where it is not proven to be so."""
    from simopt.conic.form import conic_form
    from simopt.conic.survival import CHANGE, Survival, stays_bounded, stays_feasible

    without_points = claimed is Status.INFEASIBLE
    bound = known.upper if without_points else known.lower
    if bound == math.inf or (bound == -math.inf and not without_points):  # ∞ is no bound of a feasible problem
        what = "feasible point" if without_points else "finite bound"
        return ClaimVerdict(NOT_PROVEN, f"neither is the claim proven, nor is there a proven {what}")
    fallen = (
        "a feasible point, from which the objective falls without end" if bound == -math.inf else f"a feasible point of value {bound:.9g}"
    )
    said = f"there is {fallen}" if without_points else f"the objective is nowhere below {bound:.9g}"
    if without_points and isinstance(problem, WithIntegers):
        return ClaimVerdict(NOT_PROVEN, f"{said}; but it is not tried how a change of the data acts on integers")
    try:
        form = conic_form(problem.declare(), exact=False)
        stays = stays_feasible(form) if without_points else stays_bounded(form)
    except (Unreadable, InvalidProblem, MemoryError) as error:
        stays = Survival(False, f"not known how a change of the data by {CHANGE:g} acts ({error})")
    if not stays.holds:
        return ClaimVerdict(NOT_PROVEN, f"{said}; but {stays.why}")
    survives = f"and so it is for all data within {CHANGE:g} of these, relatively"
    return ClaimVerdict(FALSE, f"{said}, {survives}", bound, known.point if without_points else None)


def _as_json(point: Mapping[str, Any] | None) -> str:
    """The point by name, as JSON; empty where there is none, or it is larger than a record holds."""
    if point is None or sum(np.size(value) for value in point.values()) > LARGEST:
        return ""
    return json.dumps({name: np.asarray(value, dtype=float).tolist() for name, value in point.items()})
