"""The one judge: bounds on the optimum from a point and multipliers, whoever produced them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.errors import InvalidProblem

if TYPE_CHECKING:
    from simopt.arrays import Multipliers, Point
    from simopt.problem import Problem


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
        when the problem's formulas do not support the arithmetic, or the point is not finite.
    """
    return judge(problem, point, multipliers, num).certificate


def judge(problem: Problem, point: Point, multipliers: Multipliers | None = None, num: Arithmetic = FLOAT) -> Judgement:
    """Certify, and keep the restored point and the multipliers that gave the bound."""
    if num.name not in problem.arithmetics:
        raise InvalidProblem(f"arithmetic: {problem.name} has no {num.name} bounds; it has {', '.join(problem.arithmetics)}")
    for name, value in point.items():
        if not np.all(np.isfinite(value)):
            raise InvalidProblem(f"point: {name} is not finite")
    restored = problem.restore(point)
    feasible = restored if num is FLOAT else problem.restore(restored, num)
    upper = num.upper(problem.objective(feasible, num))
    best: tuple[float, float, Multipliers | None, str] = (math.inf, -math.inf, None, "none")
    for origin, candidate in _candidates(problem, restored, multipliers):
        lower = num.lower(problem.dual_bound(candidate, num, upper))
        gap = num.upper(problem.gap(feasible, candidate, num)) if math.isfinite(lower) else math.inf
        if abs(gap) < best[0]:
            best = (abs(gap), lower, candidate, origin)
    gap, lower, kept, origin = best
    scale = problem.scale()
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
    if given is not None and all(np.all(np.isfinite(v)) for v in given.values()):
        yield "solver", given
    suggested = problem.multipliers(restored)
    if suggested is not None:
        yield "point", suggested


def _repair(given: Point, restored: Point) -> float:
    worst = 0.0
    for name, value in given.items():
        if name in restored:
            target = np.asarray(restored[name], dtype=float)
            if target.size:
                worst = max(worst, float(np.max(np.abs(np.asarray(value, dtype=float) - target) / (1.0 + np.abs(target)))))
    return worst


def ratio(gap: float, unit: Any) -> float:
    """gap / unit with 0/0 = 0 and x/0 = ∞."""
    if gap == 0.0:
        return 0.0
    return gap / unit if unit > 0 else math.inf
