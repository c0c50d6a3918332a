"""The judge: bounds on the optimum from a point and multipliers, whoever produced them.

`judge` restores the point, evaluates the bounds, perturbs point and multipliers, and evaluates the bounds in intervals where the
perturbation moves them. It does not know which solver was asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.arithmetic.interval import EPS, as_interval
from simopt.certificates.certificate import Certificate
from simopt.core.errors import InvalidProblem
from simopt.model.entries import checked, finite, named, shapes_of
from simopt.model.gap_unit import EXCUSED, ROUNDING, ratio
from simopt.model.problem import for_one_evaluation

if TYPE_CHECKING:
    from simopt.core.arrays import Array, Multipliers, Point
    from simopt.model.problem import Problem, Rescale

K = TypeVar("K")
Report = Callable[[str, str], None]  # (step of the solving chain, what it did); see `simopt.solving.chain`
MOVED_INSIDE = "solver, moved inside"
REPAIRED = 1e-6  # largest repair at which the trivial point is tried, where the optimum may be 0
HIDDEN = 1e-5  # of the scale: what rounding may hide of a float gap whose bounds are stable under perturbation
UNKNOWN = 1e-4  # of the scale: bounds whose difference is off by more are not known, whatever the formula of the gap says
WORST = 1e-2  # of the scale: what rounding may hide of any other gap, in the worst case of the interval formulas
MOVED = 1e-4  # of the scale: how far a perturbation may move bounds that count as stable
PERTURBATION_LIMIT = 0.005  # where data are read in blocks: a larger relative perturbation is not tried, intervals are evaluated at once
FAR = 1e-7  # of the scale: a solver that says that its gap is larger need not know it to rounding
CLAIMS_NOTHING = 1.0 - 1e-9  # of the scale: a larger gap is that of the multipliers 0, to rounding, and not worth intervals
ENOUGH = 1e-11  # of the value: no other multipliers are tried for a smaller gap
UNDERFLOW = 1e-150  # the root of the smallest floats: the square of a smaller number underflows, and its enclosure is as wide


@dataclass(frozen=True)
class Assessment:
    """A certificate with the restored point and the multipliers it was computed from (floats); `coarse` as in `judge`."""

    certificate: Certificate
    point: Point
    multipliers: Multipliers | None
    coarse: bool = False


def judge(
    problem: Problem,
    point: Point,
    multipliers: Multipliers | None = None,
    num: Arithmetic = FLOAT,
    back: Rescale | None = None,
    near: float = CLAIMS_NOTHING,
    report: Report | None = None,
    coarse: bool = False,
    enough: float = ENOUGH,
) -> Assessment:
    """Certify, and keep the restored point and the multipliers that gave the bound.

    With `back`, point and multipliers are those of the problem in natural units. They are checked first, then mapped to the original.

    Bounds in floats are perturbed. Where they move, and gap / scale is below `near`, they are evaluated in intervals. A caller that asks
    whether the gap is at most tol need not know more of a larger one. With `coarse`, for a gap in floats of more than near·scale and
    FAR·scale, neither the multipliers 0 are tried nor the sizes of the terms asked, where both formulas of the gap agree. Where the given
    multipliers leave a gap of at most `enough` of the value, no others are tried.

    `report` is told what each step did.
    """
    if num.name not in problem.arithmetics:
        raise InvalidProblem(f"arithmetic: {problem.name} has no {num.name} bounds; it has {', '.join(problem.arithmetics)}")
    with np.errstate(all="ignore"):  # far from the optimum formulas may overflow; the result then counts as no bound
        given = checked("point", point, problem.point_shapes())
        if back is not None:
            given = named("point", back.point, given)
            multipliers = None if multipliers is None else named("multipliers", back.multipliers, checked("multipliers", multipliers, {}))
        about, name = problem.as_certified(num)
        assessed = _assess(for_one_evaluation(about), given, multipliers, num, near, report, coarse and num is FLOAT, enough)
        return assessed if not name else replace(assessed, certificate=replace(assessed.certificate, judged=name))


def _assess(
    problem: Problem,
    point: Point,
    multipliers: Multipliers | None,
    num: Arithmetic,
    near: float,
    report: Report | None,
    coarse: bool,
    enough: float,
) -> Assessment:
    for name, value in point.items():
        if not np.all(np.isfinite(value)):
            first = int(np.argmax(~np.isfinite(np.ravel(value))))
            raise InvalidProblem(f"point: {name} is not finite (first at index {first}); finite numbers needed")
    restored = named("point", problem.restore, point)
    if num is FLOAT and isinstance(multipliers, Mapping) and finite(restored) and _in_blocks(problem):
        given = checked("multipliers", multipliers, {})
        problem.prefetch(*_planned_evaluations(problem, restored, given, coarse))
    if report is not None:
        report("restore", f"the point moved by {repair(point, restored):.1e}")
    found = _bracketed(problem, restored, multipliers, num, near, report, enough, coarse)
    if not found.coarse and _may_be_zero(found.certificate):
        trivial = problem.trivial_point()
        if finite(trivial) and repair(restored, trivial) <= REPAIRED:
            if report is not None:
                report("restore", "the optimum may be 0: the trivial point is tried")
            other = _bracketed(problem, named("point", problem.restore, trivial), multipliers, num, near, report, enough)
            if rank(other.certificate) < rank(found.certificate):
                found = other
    return replace(found, certificate=replace(found.certificate, infeasibility=repair(point, found.point)))


def _may_be_zero(bounds: Certificate) -> bool:
    """Whether the bracket is open and contains 0."""
    return bounds.lower <= 0.0 <= bounds.upper < math.inf and bounds.gap > 0.0


def rank(bounds: Certificate) -> tuple[float, float, float]:
    """A sort key, the best first: by the gap, then by the bounds."""
    return bounds.gap, bounds.upper, -bounds.lower


def over_terms(problem: Problem, point: Point, upper: float, lower: float, gap: float) -> float:
    """`Certificate.gap_over_terms` of these bounds: gap / scale where that is rounding, else the problem's own measure; ∞ if unknown.

    The measure of the terms is at most that of the value, so that terms are not asked where gap / scale is rounding already.
    """
    over_value = ratio(gap, max(abs(lower), abs(upper)))
    if over_value <= ROUNDING or not (math.isfinite(gap) and math.isfinite(upper)):
        return over_value if over_value <= ROUNDING else math.inf
    found = _value(problem.gap_over_terms, point, upper, lower, gap)
    return float(found) if found >= 0.0 else math.inf


def _bracketed(
    problem: Problem,
    restored: Point,
    multipliers: Multipliers | None,
    num: Arithmetic,
    near: float,
    report: Report | None,
    enough: float,
    coarse: bool = False,
) -> Assessment:
    """The best of the bounds that the candidates give at a feasible point; the multipliers 0 are one where no other excludes 0."""
    evaluation = _PointEvaluation(problem, restored, num, report)
    candidates = list(_candidates(problem, restored, multipliers))
    if coarse:
        roughly = evaluation.bracketed_roughly(candidates, near)
        if roughly is not None:
            return roughly
    gap, lower = math.inf, -math.inf
    best: Multipliers | None = None
    origin = "none"
    proving: dict[str, bool] = {}  # whose multipliers -> whether their gap is finite, and stays so when it is confirmed

    def better(candidates: list[tuple[str, Multipliers]]) -> None:
        nonlocal gap, lower, best, origin
        bounds = [(*evaluation.evaluate(candidate), candidate, giver) for giver, candidate in candidates]
        bounds.sort(key=lambda found: (found[0], -found[1]))  # a lower bound counts without a feasible point, too
        if bounds and origin == "none":
            best, origin = bounds[0][2:]
        for evaluated, claimed, candidate, giver in bounds:
            proving[giver] = evaluated < math.inf
            numbers = (claimed, evaluation.upper, evaluated)
            evaluation.report_step("evaluate", f"multipliers of {giver}: {{:.9g}} ≤ optimum ≤ {{:.9g}}, gap {{:.1e}}", *numbers)
            if math.isfinite(gap) and abs(evaluated) >= gap:
                break
            known, bound = evaluation.confirmed(evaluated, claimed, candidate, near)
            proving[giver] = known < math.inf
            if (known, -bound) < (gap, -lower):
                gap, lower, best, origin = known, bound, candidate, giver

    def suffices() -> bool:
        return lower <= evaluation.upper and ratio(gap, max(abs(evaluation.upper), abs(lower))) <= enough

    better(candidates[:1])
    if not suffices():
        better(candidates[1:])
    if proving.get("solver") is False and evaluation.upper < math.inf and evaluation.over_terms(lower, gap) > EXCUSED:
        for moved in problem.moved_inside(candidates[0][1]):
            better([(MOVED_INSIDE, moved)])
            if gap < math.inf and origin == MOVED_INSIDE:
                break
    if lower <= 0.0 and gap > 0.0 and not suffices() and not evaluation.contradiction and not problem.brief:
        better([("zero", zero) for zero in _zeros(candidates)])
    over_value = ratio(gap, max(abs(lower), abs(evaluation.upper)))
    certificate = Certificate.of_bounds(
        evaluation.upper,
        lower,
        gap,
        over_value if lower <= evaluation.upper and over_value <= enough else evaluation.over_terms(lower, gap),
        multipliers_from=origin,
        arithmetic=num.name,
        open=evaluation.contradiction if gap == math.inf else "",
    )
    return Assessment(certificate, restored, best)


def _zeros(candidates: list[tuple[str, Multipliers]]) -> Iterator[Multipliers]:
    """The multipliers 0 with the names and shapes of the first candidate, unless that is 0."""
    for _, candidate in candidates[:1]:
        if any(np.any(value) for value in candidate.values()):
            yield {name: np.zeros(np.shape(value)) for name, value in candidate.items()}


class _PointEvaluation:
    """One restored point in one arithmetic, at which multipliers are evaluated."""

    def __init__(self, problem: Problem, restored: Point, num: Arithmetic, report: Report | None = None) -> None:
        self.problem, self.restored, self.num, self.report = problem, restored, num, report
        self.feasible = restored
        self.contradiction = ""  # the last two values of a gap whose formulas do not agree
        self.primal = math.nan
        if finite(restored):
            self.primal = _value(self._objective)
        self.upper = _end(num.upper, self.primal, math.inf)
        self._over: dict[tuple[float, float], float] = {}

    def report_step(self, step: str, text: str, *numbers: float) -> None:
        """Report a step, the numbers put into the text; nothing where no report is asked for."""
        if self.report is not None:
            self.report(step, text.format(*numbers))

    def over_terms(self, lower: float, gap: float) -> float:
        """The gap as a fraction of the sizes of the terms at the point; asked for several times, evaluated once."""
        if (lower, gap) not in self._over:
            self._over[lower, gap] = over_terms(self.problem, self.restored, self.upper, lower, gap)
        return self._over[lower, gap]

    def bracketed_roughly(self, candidates: list[tuple[str, Multipliers]], near: float) -> Assessment | None:
        """By the multipliers of the largest lower bound, where the gap is large and its two formulas agree; else None."""
        bounds = [(self._dual(candidate)[1], candidate, giver) for giver, candidate in candidates]
        lower, best, giver = max(bounds, key=lambda bound: bound[0], default=(-math.inf, {}, ""))
        scale = max(abs(self.upper), abs(lower))
        if not (math.isfinite(lower) and math.isfinite(self.upper) and self.upper - lower > max(near, FAR) * scale):
            return None
        gap = _value(self.problem.gap, self.restored, best, self.num)
        if not self._difference(gap, lower) <= self._agreeing(gap, lower, best):
            return None
        self.report_step(
            "evaluate", f"multipliers of {giver}: {{:.9g}} ≤ optimum ≤ {{:.9g}}, gap {{:.1e}}, coarsely", lower, self.upper, gap
        )
        found = Certificate.of_bounds(self.upper, lower, float(gap), math.inf, multipliers_from=giver, arithmetic=self.num.name)
        return Assessment(found, self.restored, best, coarse=True)

    def _difference(self, gap: float, lower: float) -> float:
        """How far the two formulas of the gap differ, or one of them is below 0."""
        return max(abs(gap - (self.upper - lower)), lower - self.upper, -gap)

    def _agreeing(self, gap: float, lower: float, candidate: Multipliers) -> float:
        """How far they may differ without a question to intervals."""
        terms = max((np.size(value) for value in (*self.restored.values(), *candidate.values())), default=0) + 4
        return terms * EPS * (abs(self.upper) + abs(lower) + abs(gap))

    def _objective(self) -> Any:
        if self.num is not FLOAT:  # what is feasible to rounding is not yet feasible
            self.feasible = self.problem.restore(self.restored, self.num)
        return self.problem.objective(self.feasible, self.num)

    def evaluate(self, candidate: Multipliers) -> tuple[float, float]:
        """Gap and lower bound of the multipliers; (∞, ∞) where they prove that no point is feasible, (∞, −∞) where they give no bound."""
        dual, lower = self._dual(candidate)
        if lower == math.inf:
            proof = self.problem.may_be_infeasible and self.upper == math.inf
            return math.inf, math.inf if proof else -math.inf
        if not (math.isfinite(lower) and math.isfinite(self.upper)):
            return math.inf, lower
        gap = _value(self.problem.gap, self.feasible, candidate, self.num)
        if self.num is FLOAT:
            return float(gap) if math.isfinite(gap) else math.inf, lower
        low, high = (_end(end, gap, side) for end, side in ((self.num.lower, -math.inf), (self.num.upper, math.inf)))
        least = math.nextafter(self.num.lower(self.primal) - self.num.upper(dual), -math.inf)
        width = math.nextafter(self.upper - lower, math.inf)
        if max(low, least, 0.0) > min(high, width):  # two proven enclosures of one number ≥ 0 that have nothing in common
            return self._contradicted(f"[{low:.6g}, {high:.6g}]", f"[{least:.6g}, {width:.6g}]")
        return min(high, width), lower

    def _dual(self, candidate: Multipliers, num: Arithmetic | None = None) -> tuple[Any, float]:
        num = num or self.num
        dual = _value(lambda *values: named("multipliers", self.problem.dual_bound, *values), candidate, num, self.upper)
        return dual, _end(num.lower, dual, -math.inf)

    def confirmed(self, gap: float, lower: float, candidate: Multipliers, near: float) -> tuple[float, float]:
        r"""Gap and lower bound that floats may claim: their own where rounding cannot explain them, else what intervals prove.

        Let each of P, D and G = P − D be computed as sums of terms t. A sum of n products in any order has an error of at most γ_n Σ|t|.
        Here γ_n = n u/(1 − n u) and u = eps/2 (Higham 2002, §3.1). Any other operation has an error of at most u|t|. Errors carry on to
        the result through the absolute values of the factors: the terms of αᵀKα are those of |α|ᵀ|K||α|, however small the sum is.
        Interval arithmetic adds up exactly these errors, each bound twice as large. Its radii r are c·eps·Σ|terms|, c being 4 more than
        the number of terms that meet in a sum. A float therefore lies within the radius of the real value. Two conclusions follow.

        The two formulas of the gap agree: |G − (P − D)| ≤ r_G + r_P + r_D, and neither is below 0 by more than that. Each radius is at
        least (n + 4) eps times the value itself, as n terms are summed at the end, n being the number of samples or of coefficients.
        A smaller difference counts as agreement without intervals. An interval that overflowed explains nothing. Near underflow intervals
        are wide. Hence bounds that contradict each other by more than √eps of the scale get a gap of at least this difference. Far from
        everything, where terms cancel, G may be 0 and P and D be wrong in all digits: a difference of more than UNKNOWN·scale is a gap,
        too. No lower bound is above the upper one where intervals had to explain the difference.

        Nothing is hidden: terms that cancel completely do so in G as in P − D, and both may be 0 where P − D is 1e20. Hence a gap of at
        most near·scale is evaluated in intervals, unless P and D, with which G agrees, are `_stable`. That test costs as much as the floats
        did. Where one of the two is, the other alone is evaluated: where P − D is small with its interval, so is what is hidden. The upper
        end of the interval counts as soon as it is larger by WORST·scale. A smaller excess is ignored, because radii are the worst case of
        every rounding, about 2√n times the typical error. For a norm near 0 they are √eps where floats, by other formulas, are good to eps;
        in a norm ball of radius 10⁵ this is 10⁻³ of the scale.

        For a bracket around 0 the terms are the unit, and EXCUSED of them is ignored. Where the scale is 0 and no terms are known, nothing
        is ignored: without a unit only a gap of 0 closes. Intervals have to prove that it is 0, and exact zeros stay exact in them.
        A proof about the point that intervals make feasible holds for the float point, too, where the two agree to rounding.
        """
        if self.num is not FLOAT or gap == math.inf:  # enclosures have been compared; an infinite gap claims nothing
            return gap, lower
        size = abs(gap)
        scale = max(abs(self.upper), abs(lower))
        off = self._difference(gap, lower)
        agree = off <= self._agreeing(gap, lower, candidate)
        if INTERVAL.name not in self.problem.arithmetics:
            return (size, lower) if agree else self._contradicted(f"{gap:.6g}", f"{self.upper - lower:.6g}")
        if not agree:
            radii = self._in_intervals.radii(candidate)
            self.report_step("perturb", "the two formulas of the gap differ by {:.1e}; intervals allow {:.1e}", off, radii)
            if not off <= radii:
                return self._contradicted(f"{gap:.6g}", f"{self.upper - lower:.6g}")
            if lower - self.upper > math.sqrt(EPS) * scale or off > UNKNOWN * scale:
                size = max(size, off)
            lower = min(lower, self.upper)
        if ratio(size, scale) >= near and self.over_terms(lower, size) > ROUNDING:
            self.report_step("perturb", "skipped: the gap is open in floats")
            return size, lower
        stable = self._stable(lower, candidate, scale) if agree else (False, False)
        if all(stable):
            self.report_step("perturb", "the bounds are stable")
            return size, lower
        slack = WORST * scale if scale < math.inf else 0.0
        if any(stable):
            moved = "lower" if stable[0] else "upper"
            proven = self.upper - self._dual(candidate, INTERVAL)[1] if stable[0] else self._upper_proven() - lower
            if proven - size <= slack:
                self.report_step("perturb", f"{moved} bound not stable: its interval proves a gap of {{:.1e}}, floats stand", proven)
                return size, lower
        if _in_blocks(self.problem):
            self.problem.prefetch([(INTERVAL, self.restored)], [(INTERVAL, candidate)])
        proven = self._worst(candidate)
        if proven - size > slack and self._same_point():  # also where floats are infeasible by an ulp, and formulas say ∞
            proven = min(proven, self._in_intervals.evaluate(candidate)[0])
        around_zero = lower <= 0.0 <= self.upper or scale <= size
        ignored = proven - size <= slack or self.over_terms(lower, proven) <= (EXCUSED if around_zero else ROUNDING)
        self.report_step("perturb", "not stable: intervals prove a gap of {:.1e}" + (", floats stand" if ignored else ""), proven)
        return (size if ignored else proven), lower

    def _contradicted(self, gap: str, difference: str) -> tuple[float, float]:
        """No gap and no bound; the two values are kept for the message."""
        self.contradiction = (
            f"the formulas of gap and of bounds contradict each other: gap {gap}, upper − lower {difference}; "
            "one of them is wrong, or a number overflowed"
        )
        return math.inf, -math.inf

    def _stable(self, lower: float, candidate: Multipliers, scale: float) -> tuple[bool, bool]:
        r"""Whether P, and whether D, moves by at most MOVED·scale under perturbation of point and multipliers: floats hide next to nothing.

        Terms that cancel completely do so for these numbers only (stochastic arithmetic: Vignes 2004). Each entry x_i becomes
        x_i(1 ± δ r_i), r_i of random sign and of a size in [½, 1], E r_i² = 7/12, and the point is made feasible anew. A sum of n terms t
        moves by some δ(7/12)^½‖t‖, where rounding hides at most ½ n eps Σ|t| ≤ ½ n^{3/2} eps ‖t‖. In a square αᵀKα sums are nested, and the
        linear part vanishes where Kα does. It moves by some (7/12) δ² Σ K_ii α_i², where rounding hides at most
            n eps |α|ᵀ|K||α| ≤ n² eps Σ K_ii α_i²                       (|K_ij|² ≤ K_ii K_jj, Cauchy–Schwarz).
        With δ² = (24/7) n² eps MOVED/HIDDEN, a square that hides h has moved by some 2h·MOVED/HIDDEN. One that moves by at most MOVED·scale
        hides at most ½ HIDDEN·scale, and a sum 2·10⁻⁹√n of what it moves. A norm, a root of a square, hides (HIDDEN/MOVED)^½ of it.

        P is perturbed on both sides, as a hinge may move on one only. For D one side is enough, since nearby multipliers then give the
        bound. If restoring moves an entry by more than MOVED of its array, a norm may be hidden, and the point counts as not stable.
        Two assumptions are made: the signs are independent of the data, and terms that cancel are made of the point or of the multipliers.
        Numbers that underflow do so under perturbation, too. Hence nothing counts as stable where the scale is not above UNDERFLOW.

        For many terms δ exceeds PERTURBATION_LIMIT; nothing would be stable. Where a test costs a pass over the data it is then skipped.
        """
        delta, limit, allowed = _perturbation(self.restored, candidate), MOVED * scale, _restoring_loss(scale)

        def primal(side: float) -> float:
            point = _perturbed(self.restored, side)
            feasible = self.problem.restore_roughly(point, allowed)
            return float(self.problem.objective(feasible)) if _apart(point, feasible) <= MOVED else math.inf

        if not UNDERFLOW < scale < math.inf or _too_large(self.problem, delta):
            return False, False
        return (
            self._primal_proven(candidate, scale)
            or all(abs(_value(primal, side) - self.upper) <= limit - allowed for side in (delta, -delta)),
            self._dual_stands(lower, candidate, delta, scale),
        )

    def _primal_proven(self, candidate: Multipliers, scale: float) -> bool:
        """Whether intervals prove nearly the same value of a derived objective: cheaper than to make perturbed points feasible.

        What the float point violates of its rows counts with their multipliers, as no float may hold with equality.
        """
        if not self.problem.intervals_first:
            return False
        return bool(_value(self.problem.upper_to_rounding, self.restored, candidate, self.upper) - self.upper <= HIDDEN * scale)

    def _dual_stands(self, lower: float, candidate: Multipliers, delta: float, scale: float) -> bool:
        """Whether D moves little under perturbation, or intervals prove nearly the same bound.

        Perturbed multipliers that have to be corrected need another correction, whose search costs more than intervals do.
        """
        if self.problem.intervals_first:
            perturb = partial(_perturbed, delta=delta)
            if abs(_value(self.problem.perturbed_dual_bound, candidate, perturb, self.upper) - lower) <= MOVED * scale:
                return True
            if lower - self._dual(candidate, INTERVAL)[1] <= HIDDEN * scale:
                return True
        return abs(self._dual(_perturbed(candidate, delta))[1] - lower) <= MOVED * scale

    def _upper_proven(self) -> float:
        """The upper end of P at the float point; ∞ also where a row holds with equality, which intervals cannot prove."""
        return _end(INTERVAL.upper, _value(self.problem.objective, self.restored, INTERVAL), math.inf)

    def _worst(self, candidate: Multipliers) -> float:
        """P − D at the float point in the worst case of rounding: the smaller upper end of the two formulas of the gap."""
        value = _value(self.problem.objective, self.restored, INTERVAL)
        if isinstance(value, float) and value == math.inf:  # no interval: a row holds with equality, which intervals cannot prove
            return self.upper - self._dual(candidate, INTERVAL)[1]
        primal = _end(INTERVAL.upper, value, math.inf)
        _, lower = self._in_intervals._dual(candidate)
        gap = _end(INTERVAL.upper, _value(self.problem.gap, self.restored, candidate, INTERVAL), math.inf)
        return min(gap, primal - lower if math.isfinite(primal) and math.isfinite(lower) else math.inf)

    def _same_point(self) -> bool:
        """Whether the point that intervals make feasible is the float point to rounding."""
        for name, interval in self._in_intervals.feasible.items():
            here, there = np.asarray(self.restored[name], dtype=float), INTERVAL.mid(interval)
            moved, size = (float(np.max(np.abs(x), initial=0.0)) for x in (here - there, here))
            if not moved <= math.sqrt(EPS) * size + UNDERFLOW:
                return False
        return True

    @cached_property
    def _in_intervals(self) -> _PointEvaluation:
        return _PointEvaluation(self.problem, self.restored, INTERVAL)

    def radii(self, candidate: Multipliers) -> float:
        """r_P + r_D + r_G of an evaluation in intervals; an overflow gives nan, never ∞."""
        dual, _ = self._dual(candidate)
        values = (self.primal, dual, _value(self.problem.gap, self.feasible, candidate, self.num))
        total = float(sum(as_interval(value).rad for value in values))
        return total if math.isfinite(total) else math.nan


def _perturbation(point: Point, multipliers: Multipliers) -> float:
    """δ of `_PointEvaluation._stable`."""
    terms = max((np.size(value) for value in (*point.values(), *multipliers.values())), default=0)
    return terms * math.sqrt(24 / 7 * EPS * MOVED / HIDDEN)


def _too_large(problem: Problem, delta: float) -> bool:
    """Whether a perturbation is not worth a pass over the data; intervals come in the pass that floats take."""
    return problem.row_pass is not None and delta > PERTURBATION_LIMIT


def _restoring_loss(scale: float) -> float:
    """How much restoring a perturbed point may add to the objective; it does not count as a move."""
    return MOVED * scale / 3


def _in_blocks(problem: Problem) -> bool:
    """Whether formulas take a pass over blocks of rows."""
    return problem.row_pass is not None and len(problem.row_pass.parts) > 1


def _planned_evaluations(
    problem: Problem, restored: Point, multipliers: Multipliers, coarse: bool
) -> tuple[list[tuple[Arithmetic, Point]], list[tuple[Arithmetic, Multipliers]]]:
    """Points and multipliers at which formulas are evaluated where a certificate closes: in floats, and perturbed, or in intervals."""
    if coarse:
        return [(FLOAT, restored)], [(FLOAT, multipliers)]
    delta = _perturbation(restored, multipliers)
    if _too_large(problem, delta):
        intervals = [INTERVAL] if INTERVAL.name in problem.arithmetics else []
        return [(num, restored) for num in (FLOAT, *intervals)], [(num, multipliers) for num in (FLOAT, *intervals)]
    sides = [problem.restore_roughly(_perturbed(restored, side), 0.0) for side in (delta, -delta)]
    return [(FLOAT, point) for point in (restored, *sides)], [(FLOAT, given) for given in (multipliers, _perturbed(multipliers, delta))]


def _perturbed(values: Mapping[K, Any], delta: float) -> dict[K, Any]:
    """Each entry x_i times 1 + δ r_i."""
    r, start, out = _factors(sum(np.size(value) for value in values.values())), 0, {}
    for name, value in values.items():
        x = np.asarray(value, dtype=float)
        out[name] = x * (1.0 + delta * r[start : start + x.size].reshape(x.shape))
        start += x.size
    return out


@lru_cache(maxsize=4)
def _factors(size: int) -> Array:
    """r_i, of random sign and of a size in [½, 1]; always the same, so that certificates are reproducible."""
    rng = np.random.default_rng(size)
    return rng.choice([-1.0, 1.0], size) * rng.uniform(0.5, 1.0, size)


def _apart(here: Point, there: Point) -> float:
    """The largest |here − there| of an entry, relative to the largest entry of its array."""
    worst = 0.0
    for name, value in here.items():
        if there[name] is not value:
            moved, size = (float(np.max(np.abs(x), initial=0.0)) for x in (value - there[name], value))
            worst = max(worst, ratio(moved, size))
    return worst


def _value(formula: Callable[..., Any], *args: Any) -> Any:
    """The formula's value; nan where it divides by 0 or overflows."""
    try:
        return formula(*args)
    except (ZeroDivisionError, OverflowError):
        return math.nan


def _end(end: Callable[[Any], float], value: Any, unknown: float) -> float:
    """An end of a value; `unknown` where it is no number."""
    found = math.nan if isinstance(value, float) and math.isnan(value) else end(value)
    return unknown if math.isnan(found) else found


def _candidates(problem: Problem, restored: Point, multipliers: Multipliers | None) -> Iterator[tuple[str, Multipliers]]:
    try:
        suggested = None if problem.brief and multipliers else problem.multipliers(restored)
    except (ZeroDivisionError, OverflowError):  # the point is too far off to suggest any
        suggested = None
    if multipliers is not None:
        shaped = checked("multipliers", multipliers, shapes_of(suggested or {}))
        if finite(shaped):
            yield "solver", shaped
    if suggested is not None and finite(suggested):
        yield "point", suggested


def repair(point: Point, restored: Point) -> float:
    """The largest |point − restored| / (1 + |restored|) of an entry."""
    worst = 0.0
    for name, value in point.items():
        if name in restored:
            target = np.asarray(restored[name], dtype=float)
            if target.size:
                worst = max(worst, float(np.max(np.abs(np.asarray(value, dtype=float) - target) / (1.0 + np.abs(target)))))
    return worst
