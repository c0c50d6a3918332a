"""The one judge: bounds on the optimum from a point and multipliers, whoever produced them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.errors import InvalidProblem

if TYPE_CHECKING:
    from simopt.arrays import Multipliers, Point
    from simopt.problem import Problem

# By this share floats may put the lower bound above the upper one, for large coefficients cost both of them digits that a gap free of
# cancellation keeps. More is a mistake, of a dual or of a Gram matrix that is not PSD; in rigorous bounds anything is.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Certificate:
    """lower ≤ optimum ≤ upper.

    Attributes
    ----------
    upper, lower : float
        value of the restored point; value of the dual at the repaired multipliers.
    gap : float
        bound on upper − optimum, evaluated without cancellation where the problem knows how. A gap that comes out negative is rounding
        error, or a wrong dual: its size is reported, so that two bounds that contradict each other never close.
    relative_gap, gap_over_upper : float
        gap / scale and gap / |upper| (0/0 = 0).
    scale : float
        objective at the trivial point.
    infeasibility : float
        largest |given − restored| / (1 + |restored|) over the entries of the point.
    multipliers_from : str
        "solver" or "point", whichever gave the better bound; "none" when there was no bound.
    arithmetic : str
        arithmetic in which the bounds were evaluated.

    lower = upper = ∞ says that the multipliers prove the problem infeasible (`infeasible`).
    """

    upper: float
    lower: float
    gap: float
    relative_gap: float
    gap_over_upper: float
    scale: float
    infeasibility: float
    multipliers_from: str
    arithmetic: str

    @property
    def infeasible(self) -> bool:
        """Whether the lower bound is ∞: no point is feasible."""
        return self.lower == math.inf

    def closes(self, tol: float) -> bool:
        """Whether the relative gap is at most `tol`."""
        return self.relative_gap <= tol

    def __str__(self) -> str:
        return (
            f"{self.lower:.15g} ≤ optimum ≤ {self.upper:.15g}   gap {self.gap:.2e}   gap/scale {self.relative_gap:.2e}   "
            f"gap/|upper| {self.gap_over_upper:.2e}   repaired by {self.infeasibility:.1e}   "
            f"multipliers: {self.multipliers_from}   arithmetic: {self.arithmetic}"
        )


@dataclass(frozen=True)
class Judgement:
    """A certificate with the restored point and the multipliers it was computed from (floats)."""

    certificate: Certificate
    point: Point
    multipliers: Multipliers | None


def certify(problem: Problem, point: Point, multipliers: Multipliers | None = None, num: Arithmetic = FLOAT) -> Certificate:
    """Bound the optimum of `problem` by the restored point and the better of the given and the suggested multipliers.

    Raises
    ------
    InvalidProblem
        when the problem's formulas do not support the arithmetic, the point is not finite, or an entry is missing or of the wrong size.
    """
    return judge(problem, point, multipliers, num).certificate


def judge(problem: Problem, point: Point, multipliers: Multipliers | None = None, num: Arithmetic = FLOAT) -> Judgement:
    """Certify, and keep the restored point and the multipliers that gave the bound."""
    if num.name not in problem.arithmetics:
        raise InvalidProblem(f"arithmetic: {problem.name} has no {num.name} bounds; it has {', '.join(problem.arithmetics)}")
    with np.errstate(all="ignore"):  # far from the optimum formulas may overflow; what comes out is no bound and is treated so below
        return _judged(problem, point, multipliers, num)


def _judged(problem: Problem, given: Point, multipliers: Multipliers | None, num: Arithmetic) -> Judgement:
    scale = problem.scale()
    point = _shaped("point", given, problem.trivial_point())
    for name, value in point.items():
        if not np.all(np.isfinite(value)):
            raise InvalidProblem(f"point: {name} is not finite")
    restored = _named("point", problem.restore, point)
    feasible = restored if num is FLOAT else problem.restore(restored, num)
    upper = num.upper(problem.objective(feasible, num))
    upper = math.inf if math.isnan(upper) else upper
    best: tuple[float, float, Multipliers | None, str] = (math.inf, -math.inf, None, "none")
    for origin, candidate in _candidates(problem, restored, multipliers):
        lower = num.lower(_named("multipliers", problem.dual_bound, candidate, num, upper))
        if lower == math.inf and upper == math.inf:  # a proof that no point is feasible
            best = (math.inf, lower, candidate, origin)
            break
        gap = abs(num.upper(problem.gap(feasible, candidate, num))) if math.isfinite(lower) else math.inf
        if num is not FLOAT and lower <= upper:  # both are proven, and the terms of a gap may be enclosed less tightly than their sum
            width = math.nextafter(upper - lower, math.inf)
            gap = gap if gap <= width else width
        if lower - upper > (ROUNDING * max(abs(lower), abs(upper)) if num is FLOAT else 0.0):
            gap = max(gap, lower - upper)  # a contradiction, whatever the terms of the gap say
        if gap < best[0] or (gap == math.inf == best[0] and best[1] < lower < math.inf):  # a bound is one without a feasible point, too
            best = (gap, lower, candidate, origin)
    gap, lower, kept, origin = best
    certificate = Certificate(
        upper=upper,
        lower=lower,
        gap=gap,
        relative_gap=ratio(gap, scale),
        gap_over_upper=ratio(gap, abs(upper)),
        scale=scale,
        infeasibility=_repair(point, restored),
        multipliers_from=origin,
        arithmetic=num.name,
    )
    return Judgement(certificate, restored, kept)


def _candidates(problem: Problem, restored: Point, given: Multipliers | None) -> Iterator[tuple[str, Multipliers]]:
    suggested = problem.multipliers(restored)
    if given is not None:
        shaped = _shaped("multipliers", given, suggested or {})
        if all(np.all(np.isfinite(v)) for v in shaped.values()):
            yield "solver", shaped
    if suggested is not None:
        yield "point", suggested


def _shaped(what: str, given: Mapping[str, Any], pattern: Mapping[str, Any]) -> dict[str, Any]:
    """Float arrays of the shapes that entries of the same names have in `pattern`; other entries as they are."""
    out: dict[str, Any] = {}
    for name, value in given.items():
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError) as error:
            raise InvalidProblem(f"{what}: {name} is not an array of numbers ({error})") from error
        shape = np.shape(pattern[name]) if name in pattern else array.shape
        if array.size != math.prod(shape):
            raise InvalidProblem(f"{what}: {name} has shape {array.shape}, expected {shape}")
        out[name] = array.reshape(shape)
    return out


def _named(what: str, formula: Callable[..., Any], values: Mapping[str, Any], *rest: Any) -> Any:
    """The formula's value; an entry that it does not find is named."""
    try:
        return formula(values, *rest)
    except KeyError as error:
        raise InvalidProblem(f"{what}: no entry {error}, only {', '.join(map(repr, values)) or 'none at all'}") from error


def _repair(given: Point, restored: Point) -> float:
    worst = 0.0
    for name, value in given.items():
        if name in restored:
            target = np.asarray(restored[name], dtype=float)
            if target.size:
                worst = max(worst, float(np.max(np.abs(np.asarray(value, dtype=float) - target) / (1.0 + np.abs(target)))))
    return worst


def ratio(gap: float, unit: Any) -> float:
    """gap / unit with 0/0 = 0 and x/0 = ∞; ∞ also for a unit that overflowed."""
    if gap == 0.0:
        return 0.0
    return gap / unit if 0.0 < unit < math.inf else math.inf
