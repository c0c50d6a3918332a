"""The one judge: bounds on the optimum from a point and multipliers, whoever produced them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.arithmetic.interval import EPS, as_interval
from simopt.certificates.certificate import Certificate
from simopt.core.errors import InvalidProblem
from simopt.model.entries import checked, finite, named
from simopt.model.gap_unit import EXCUSED, ROUNDING, ratio

if TYPE_CHECKING:
    from simopt.core.arrays import Array, Multipliers, Point
    from simopt.model.problem import Foreseen, Problem, Rescale

REPAIRED = 1e-6  # how near to the trivial point one has to be to be repaired to it where the optimum may be 0
HIDDEN = 1e-5  # of the scale: what rounding may hide of a gap in floats whose bounds stay where they are when the point is shaken
WORST = 1e-2  # of the scale: what it may in its worst case, by formulas for balls, hide of others
MOVED = 1e-4  # of the scale: how far a point that is shaken may move the bounds of one of which nothing is hidden
PERTURBATION_LIMIT = 0.005  # where data are read in blocks: what would have to be shaken by more than this is held against balls at once
UNDERFLOW = 1e-150  # the root of the smallest floats: a square of less sinks, and enclosures of what sank are as wide


@dataclass(frozen=True)
class Assessment:
    """A certificate with the restored point and the multipliers it was computed from (floats)."""

    certificate: Certificate
    point: Point
    multipliers: Multipliers | None


def judge(
    problem: Problem,
    point: Point,
    multipliers: Multipliers | None = None,
    num: Arithmetic = FLOAT,
    back: Rescale | None = None,
    near: float = 1.0,
) -> Assessment:
    """Certify, and keep the restored point and the multipliers that gave the bound.

    With `back`, point and multipliers are those of the problem in natural units: checked first, then mapped to the original. Floats are
    held against a shaken point, and against balls where that tells of something hidden, where gap / scale is below `near`: who asks
    whether the gap is at most tol need not know more of one that is not.
    """
    if num.name not in problem.arithmetics:
        raise InvalidProblem(f"arithmetic: {problem.name} has no {num.name} bounds; it has {', '.join(problem.arithmetics)}")
    with np.errstate(all="ignore"):  # far from the optimum formulas may overflow; what comes out is no bound and is treated so below
        given = checked("point", point, problem.trivial_point())
        if back is not None:
            given = named("point", back.point, given)
            multipliers = None if multipliers is None else named("multipliers", back.multipliers, checked("multipliers", multipliers, {}))
        about, name = problem.as_certified(num)
        with about.one_judgement():
            assessed = _assess(about, given, multipliers, num, near)
        return assessed if not name else replace(assessed, certificate=replace(assessed.certificate, assessed=name))


def _assess(problem: Problem, point: Point, multipliers: Multipliers | None, num: Arithmetic, near: float) -> Assessment:
    for name, value in point.items():
        if not np.all(np.isfinite(value)):
            first = int(np.argmax(~np.isfinite(np.ravel(value))))
            raise InvalidProblem(f"point: {name} is not finite (first at index {first}); finite numbers needed")
    restored = named("point", problem.restore, point)
    if num is FLOAT and isinstance(multipliers, Mapping) and finite(restored):
        given = checked("multipliers", multipliers, {})
        problem.foresee(lambda: _planned_evaluations(problem, restored, given))
    found = _bracketed(problem, restored, multipliers, num, near)
    if _may_be_zero(found.certificate):
        trivial = problem.trivial_point()
        if finite(trivial) and repair(restored, trivial) <= REPAIRED:
            other = _bracketed(problem, named("point", problem.restore, trivial), multipliers, num, near)
            if rank(other.certificate) < rank(found.certificate):
                found = other
    return replace(found, certificate=replace(found.certificate, infeasibility=repair(point, found.point)))


def _may_be_zero(found: Certificate) -> bool:
    """Whether the bracket is open and may be one around 0."""
    return found.lower <= 0.0 <= found.upper < math.inf and found.gap > 0.0


def rank(found: Certificate) -> tuple[float, float, float]:
    """The smaller, the better: by the gap, then by the bounds."""
    return found.gap, found.upper, -found.lower


def _bracketed(problem: Problem, restored: Point, multipliers: Multipliers | None, num: Arithmetic, near: float) -> Assessment:
    """The best of the bounds that the candidates give at a feasible point; the multipliers 0 are one where no other excludes 0."""
    evaluation = _PointEvaluation(problem, restored, num)
    gap, lower = math.inf, -math.inf
    multipliers_kept: Multipliers | None = None
    origin = "none"

    def better(candidates: list[tuple[str, Multipliers]]) -> None:
        nonlocal gap, lower, multipliers_kept, origin
        bounds = [(*evaluation.evaluate(candidate), candidate, giver) for giver, candidate in candidates]
        bounds.sort(key=lambda found: (found[0], -found[1]))  # a bound is one without a feasible point, too
        if bounds and origin == "none":
            multipliers_kept, origin = bounds[0][2:]
        for said, claimed, candidate, giver in bounds:
            if math.isfinite(gap) and abs(said) >= gap:
                break
            known, bound = evaluation.confirmed(said, claimed, candidate, near)
            if (known, -bound) < (gap, -lower):
                gap, lower, multipliers_kept, origin = known, bound, candidate, giver

    candidates = list(_candidates(problem, restored, multipliers))
    better(candidates)
    if lower <= 0.0 and gap > 0.0 and not evaluation.contradiction:
        better([("zero", zero) for zero in _zeros(candidates)])
    scale = max(abs(lower), abs(evaluation.upper))
    certificate = Certificate(
        upper=evaluation.upper,
        lower=lower,
        gap=gap,
        relative_gap=ratio(gap, scale),
        gap_over_upper=ratio(gap, abs(evaluation.upper)),
        scale=scale,
        infeasibility=0.0,
        multipliers_from=origin,
        arithmetic=num.name,
        gap_over_terms=evaluation.over_terms(lower, gap),
        open=evaluation.contradiction if gap == math.inf else "",
    )
    return Assessment(certificate, restored, multipliers_kept)


def _zeros(candidates: list[tuple[str, Multipliers]]) -> Iterator[Multipliers]:
    """The multipliers 0, of the names and shapes of those that are there, unless these are 0."""
    for _, candidate in candidates[:1]:
        if any(np.any(value) for value in candidate.values()):
            yield {name: np.zeros(np.shape(value)) for name, value in candidate.items()}


class _PointEvaluation:
    """One restored point, in one arithmetic, before which multipliers are weighed."""

    def __init__(self, problem: Problem, restored: Point, num: Arithmetic) -> None:
        self.problem, self.restored, self.num = problem, restored, num
        self.feasible = restored
        self.contradiction = ""  # what the two formulas of a gap said last where they do not agree
        self.primal = math.nan
        if finite(restored):
            self.primal = _value(self._objective)
        self.upper = _end(num.upper, self.primal, math.inf)

    def over_terms(self, lower: float, gap: float) -> float:
        """The gap as a fraction of the sizes of the terms. It is at most that of the value: where this is rounding they are not asked."""
        over_value = ratio(gap, max(abs(lower), abs(self.upper)))
        if over_value <= ROUNDING or not (math.isfinite(gap) and math.isfinite(self.upper)):
            return over_value if over_value <= ROUNDING else math.inf
        found = _value(self.problem.gap_over_terms, self.restored, self.upper, lower, gap)
        return float(found) if found >= 0.0 else math.inf

    def _objective(self) -> Any:
        if self.num is not FLOAT:  # what is feasible to rounding is not yet feasible
            self.feasible = self.problem.restore(self.restored, self.num)
        return self.problem.objective(self.feasible, self.num)

    def evaluate(self, candidate: Multipliers) -> tuple[float, float]:
        """Gap and lower bound that the multipliers give: (∞, ∞) where they prove that no point is feasible, (∞, −∞) for nothing."""
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

    def _dual(self, candidate: Multipliers) -> tuple[Any, float]:
        dual = _value(lambda *values: named("multipliers", self.problem.dual_bound, *values), candidate, self.num, self.upper)
        return dual, _end(self.num.lower, dual, -math.inf)

    def confirmed(self, gap: float, lower: float, candidate: Multipliers, near: float) -> tuple[float, float]:
        r"""Gap and lower bound that floats may claim: what they computed where rounding cannot have made it up, else what balls say.

        Let each of P, D and G = P − D be computed as sums of terms t. A sum of n products in any order is off by at most γ_n Σ|t| with
        γ_n = n u/(1 − n u), u = eps/2 (Higham 2002, §3.1), any other operation by u|t|; both carry on to the result through the
        absolute values of what they are multiplied with: of αᵀKα the terms are those of |α|ᵀ|K||α|, however small the sum. Ball
        arithmetic adds up just this, each bound twice as large: its radii r are c·eps·Σ|terms| with c the number of terms that meet in
        a sum, + 4. A float lies within the radius of the real value (half of it would do). Two things follow.

        The witnesses agree: |G − (P − D)| ≤ r_G + r_P + r_D, and neither is below 0 by more than that. Each radius is at least
        (n + 4) eps times the value itself, n terms being summed at the end, and n is the number of samples or of coefficients; what
        differs by no more than that is in agreement without asking the balls. A ball that overflowed explains nothing. Where numbers sink
        below the smallest floats balls explain much: of bounds that contradict each other by more than √eps of the scale no gap is
        claimed below what they miss. No lower bound is claimed above the upper one where balls had to explain it.

        Nothing is hidden: terms that cancel without a trace cancel alike in G and in P − D, and both may be 0 where P − D is 1e20. So a
        gap of at most near·scale is evaluated in balls, unless P and D, with which G agrees, are `_stable`: to ask that costs no more than
        the floats did. It counts for the balls' upper end as soon as that is more by WORST·scale. Less than this is left to floats: radii
        are the worst case of every rounding, some 2√n times what is seen, and of a norm that is near 0 they are √eps where floats, which
        know other formulas, are good to eps; in a ball of radius 10⁵ that is 10⁻³ of the scale. Of a bracket around 0 the terms are
        the unit, of which EXCUSED is left. Where the scale is 0 and no terms are known, there is nothing to leave: of no unit closes a gap
        of 0 only, and that it is 0 is for balls to prove, where exact zeros stay exact. What
        balls prove about the point that they make feasible is about the one of floats, too, where the two are not apart.
        """
        if self.num is not FLOAT or gap == math.inf:  # enclosures have been compared, and what claims nothing needs no witness
            return gap, lower
        size = abs(gap)
        scale = max(abs(self.upper), abs(lower))
        terms = max((np.size(value) for value in (*self.restored.values(), *candidate.values())), default=0) + 4
        off = max(abs(gap - (self.upper - lower)), lower - self.upper, -gap)
        agree = off <= terms * EPS * (abs(self.upper) + abs(lower) + size)
        if INTERVAL.name not in self.problem.arithmetics:
            return (size, lower) if agree else self._contradicted(f"{gap:.6g}", f"{self.upper - lower:.6g}")
        if not agree:
            if not off <= self._in_intervals.radii(candidate):
                return self._contradicted(f"{gap:.6g}", f"{self.upper - lower:.6g}")
            if lower - self.upper > math.sqrt(EPS) * scale:
                size = max(size, lower - self.upper)
            lower = min(lower, self.upper)
        if (ratio(size, scale) >= near and self.over_terms(lower, size) > ROUNDING) or (agree and self._stable(lower, candidate, scale)):
            return size, lower
        room = WORST * scale if scale < math.inf else 0.0
        self.problem.foresee(lambda: ([(INTERVAL, self.restored)], [(INTERVAL, candidate)]))
        proven = self._worst(candidate)
        if proven - size > room and self._stays():  # also where floats are infeasible by an ulp, and formulas say ∞
            proven = min(proven, self._in_intervals.evaluate(candidate)[0])
        around_zero = lower <= 0.0 <= self.upper or scale <= size
        left = proven - size <= room or self.over_terms(lower, proven) <= (EXCUSED if around_zero else ROUNDING)
        return (size if left else proven), lower

    def _contradicted(self, gap: str, difference: str) -> tuple[float, float]:
        """No gap and no bound, and what was said of them."""
        self.contradiction = (
            f"the formulas of gap and of bounds contradict each other: gap {gap}, upper − lower {difference}; "
            "one of them is wrong, or a number overflowed"
        )
        return math.inf, -math.inf

    def _stable(self, lower: float, candidate: Multipliers, scale: float) -> bool:
        r"""Whether P and D stay where they are, to MOVED·scale, when point and multipliers are shaken: then floats hide next to nothing.

        What cancels without a trace does so for these numbers only (stochastic arithmetic: Vignes 2004). Each entry x_i becomes
        x_i(1 ± δ r_i), r_i of random sign and of a size in [½, 1], E r_i² = 7/12, and the point is made feasible anew. A sum of n terms t
        moves by some δ(7/12)^½‖t‖, where rounding hides at most ½ n eps Σ|t| ≤ ½ n^{3/2} eps ‖t‖. A square αᵀKα, whose sums are nested and
        whose linear part vanishes where Kα does, moves by some (7/12) δ² Σ K_ii α_i², where rounding hides at most
            n eps |α|ᵀ|K||α| ≤ n² eps Σ K_ii α_i²                       (|K_ij|² ≤ K_ii K_jj, Cauchy–Schwarz).
        With δ² = (24/7) n² eps MOVED/HIDDEN, a square that hides h has moved by some 2h·MOVED/HIDDEN: one that moves by at most MOVED·scale
        hides at most ½ HIDDEN·scale, and a sum 2·10⁻⁹√n of what it moves. A norm, a root of a square, hides (HIDDEN/MOVED)^½ of it.

        P is asked on both sides, as a hinge moves on one; of D one is enough, since multipliers near these then give the bound. What
        restoring takes back of an entry, beyond MOVED of its array, is a norm that was not seen. Assumed is that the signs know nothing of
        the data, and that what cancels is made of the point or of the multipliers. What sinks below the smallest floats sinks when it is
        shaken, too: where the scale is not above the root of these, nothing is steady.

        Of so many terms that δ is above TURMOIL nothing would stay where it is; where that costs a pass over the data nothing is shaken.
        """
        delta, room, lost = _perturbation(self.restored, candidate), MOVED * scale, _lost(scale)

        def primal(side: float) -> float:
            point = _perturbed(self.restored, side)
            feasible = self.problem.restore_roughly(point, lost)
            return float(self.problem.objective(feasible)) if _apart(point, feasible) <= MOVED else math.inf

        return (
            UNDERFLOW < scale < math.inf
            and not _too_large(self.problem, delta)
            and all(abs(_value(primal, side) - self.upper) <= room - lost for side in (delta, -delta))
            and abs(self._dual(_perturbed(candidate, delta))[1] - lower) <= room
        )

    def _worst(self, candidate: Multipliers) -> float:
        """P − D at the point of floats, were all rounding in it to be against us: the smaller of the two witnesses' upper ends."""
        value = _value(self.problem.objective, self.restored, INTERVAL)
        if isinstance(value, float) and value == math.inf:  # no ball but a word: that a constraint holds with equality is not to be proven
            return self.upper - self._in_intervals._dual(candidate)[1]
        primal = _end(INTERVAL.upper, value, math.inf)
        _, lower = self._in_intervals._dual(candidate)
        gap = _end(INTERVAL.upper, _value(self.problem.gap, self.restored, candidate, INTERVAL), math.inf)
        return min(gap, primal - lower if math.isfinite(primal) and math.isfinite(lower) else math.inf)

    def _stays(self) -> bool:
        """Whether making the point feasible in balls, too, moves no entry by more than rounding does."""
        for name, ball in self._in_intervals.feasible.items():
            here, there = np.asarray(self.restored[name], dtype=float), INTERVAL.mid(ball)
            moved, size = (float(np.max(np.abs(x), initial=0.0)) for x in (here - there, here))
            if not moved <= math.sqrt(EPS) * size + UNDERFLOW:
                return False
        return True

    @cached_property
    def _in_intervals(self) -> _PointEvaluation:
        return _PointEvaluation(self.problem, self.restored, INTERVAL)

    def radii(self, candidate: Multipliers) -> float:
        """r_P + r_D + r_G, of a scene in intervals; ∞ never: what overflowed counts as nan."""
        dual, _ = self._dual(candidate)
        balls = (self.primal, dual, _value(self.problem.gap, self.feasible, candidate, self.num))
        total = float(sum(as_interval(ball).rad for ball in balls))
        return total if math.isfinite(total) else math.nan


def _perturbation(point: Point, multipliers: Multipliers) -> float:
    """δ of `_PointEvaluation._stable`."""
    terms = max((np.size(value) for value in (*point.values(), *multipliers.values())), default=0)
    return terms * math.sqrt(24 / 7 * EPS * MOVED / HIDDEN)


def _too_large(problem: Problem, delta: float) -> bool:
    """Whether shaking is not worth a pass over the data: balls can be had in the pass that floats take."""
    return bool(problem.in_blocks) and delta > PERTURBATION_LIMIT


def _lost(scale: float) -> float:
    """What making a shaken point feasible may cost, without that a better way is sought: it is no move."""
    return MOVED * scale / 3


def _planned_evaluations(problem: Problem, restored: Point, multipliers: Multipliers) -> Foreseen:
    """Points and multipliers at which formulas are evaluated where a certificate closes: in floats, and shaken, or in balls."""
    delta = _perturbation(restored, multipliers)
    if _too_large(problem, delta):
        balls = [INTERVAL] if INTERVAL.name in problem.arithmetics else []
        return [(num, restored) for num in (FLOAT, *balls)], [(num, multipliers) for num in (FLOAT, *balls)]
    sides = [problem.restore_roughly(_perturbed(restored, side), 0.0) for side in (delta, -delta)]
    return [(FLOAT, point) for point in (restored, *sides)], [(FLOAT, given) for given in (multipliers, _perturbed(multipliers, delta))]


def _perturbed(values: Mapping[str, Any], delta: float) -> dict[str, Any]:
    """Each entry x_i times 1 + δ r_i."""
    r, start, out = _factors(sum(np.size(value) for value in values.values())), 0, {}
    for name, value in values.items():
        x = np.asarray(value, dtype=float)
        out[name] = x * (1.0 + delta * r[start : start + x.size].reshape(x.shape))
        start += x.size
    return out


@lru_cache(maxsize=4)
def _factors(size: int) -> Array:
    """r_i, of any sign and of a size in [½, 1]: always the same, as is the word of the judge."""
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
    """The formula's value; nan where it divides by what may be 0 or leaves the floats."""
    try:
        return formula(*args)
    except (ZeroDivisionError, OverflowError):
        return math.nan


def _end(end: Callable[[Any], float], value: Any, unknown: float) -> float:
    """An end of a value; the infinite one where it is no number."""
    found = math.nan if isinstance(value, float) and math.isnan(value) else end(value)
    return unknown if math.isnan(found) else found


def _candidates(problem: Problem, restored: Point, given: Multipliers | None) -> Iterator[tuple[str, Multipliers]]:
    try:
        suggested = problem.multipliers(restored)
    except (ZeroDivisionError, OverflowError):  # of a point so far off that it suggests none
        suggested = None
    if given is not None:
        shaped = checked("multipliers", given, suggested or {})
        if finite(shaped):
            yield "solver", shaped
    if suggested is not None and finite(suggested):
        yield "point", suggested


def repair(given: Point, restored: Point) -> float:
    """The largest |given − restored| / (1 + |restored|) of an entry."""
    worst = 0.0
    for name, value in given.items():
        if name in restored:
            target = np.asarray(restored[name], dtype=float)
            if target.size:
                worst = max(worst, float(np.max(np.abs(np.asarray(value, dtype=float) - target) / (1.0 + np.abs(target)))))
    return worst
