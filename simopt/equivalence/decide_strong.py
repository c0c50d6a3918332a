r"""One Φ for all training sets, or two that show there is none: Definition 3.4, from nothing but how to fit both families.

On each set `decide` seeks the map. Then, at each λ that the sets share, one of the parameters found is tried on all of them:

* holds: at each λ one μ gives A(λ)(Z) = B(μ)(Z) on every set, to the resolution, and the families are weakly equivalent on each;
* fails: the enclosures of Φ(λ, Z) and Φ(λ, Z') have no point in common. That speaks against every map, not only against the one found;
* undecided: neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from simopt.core.errors import Interrupted, InvalidProblem
from simopt.equivalence.decide import COUNT, REACH, Decision, Progress, decide, listed, remembering
from simopt.equivalence.equivalence import Answer, Strength
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.map_search import MapOutcome, MapValue
from simopt.equivalence.strong import StrongWitness
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import RESOLUTION, check_resolution, relative_distance


@dataclass(frozen=True)
class OneMap:
    """At one λ: the best one μ for all sets, and what it leaves on the worst of them, relative to the norm; nan where there is none."""

    parameter: float
    value: float
    distance: float
    error: float


@dataclass(frozen=True, eq=False)
class StrongDecision:
    """The answer over some training sets.

    Attributes
    ----------
    source, target : str
    resolution : float
    sets : tuple of TrainingSet
        those on which both families are defined.
    left_out : tuple of str
        why other sets took no part.
    weak : tuple of Decision
        one a set, in the same order.
    rows, same_size : tuple of OneMap
        one μ for all sets, and for all sets of the size of the first.
    witnesses, sized : tuple of Witness
        pairs of sets whose enclosures of Φ(λ, ·) are disjoint, at most one a λ; of any size, and of the size of the first.
    wanted : int
        how many sets were to be measured; more than there are after an interrupt.
    """

    source: str
    target: str
    resolution: float
    sets: tuple[TrainingSet, ...]
    left_out: tuple[str, ...]
    weak: tuple[Decision, ...]
    rows: tuple[OneMap, ...]
    same_size: tuple[OneMap, ...]
    witnesses: tuple[StrongWitness, ...]
    sized: tuple[StrongWitness, ...]
    wanted: int = 0

    @property
    def answer(self) -> Answer:
        """For all sets: FAILS with two sets, or one on which the families are not weakly equivalent; HOLDS; or UNDECIDED."""
        return self._answer(self.sets, self.weak, self.rows, self.witnesses)

    @property
    def holds(self) -> bool:
        """Whether the answer is HOLDS."""
        return self.answer is Answer.HOLDS

    @property
    def among_one_size(self) -> Answer:
        """The same of the sets of the size of the first."""
        size = self.sets[0].n if self.sets else 0  # of none, after an interrupt
        chosen = [(Z, report) for Z, report in zip(self.sets, self.weak, strict=True) if Z.n == size]
        return self._answer([Z for Z, _ in chosen], [report for _, report in chosen], self.same_size, self.sized)

    @property
    def strength(self) -> Strength:
        """STRONG or SAME_SIZE where that is what holds, else WEAK."""
        if self.holds:
            return Strength.STRONG
        return Strength.SAME_SIZE if self.among_one_size is Answer.HOLDS else Strength.WEAK

    @property
    def witness(self) -> StrongWitness | None:
        """Two sets that show there is no one Φ: those that leave the largest distance beyond the radii."""
        return max(self.witnesses, key=lambda w: w.distance - w.error, default=None)

    @property
    def reason(self) -> str | None:
        """The witness of a failure, or why it is undecided; None where it holds."""
        if self.witness is not None:
            w, number = self.witness, {id(Z): i for i, Z in enumerate(self.sets)}
            one, two = number[id(w.one)], number[id(w.two)]
            apart = f"that of one leaves {w.distance:.3g} ± {w.error:.2g} on the other"
            image, its = _differ(w.image, w.other_image)
            return f"at λ = {w.parameter:.6g} sample {one} needs Φ = {image} and sample {two} needs {its}; {apart}"
        for answer in (Answer.FAILS, Answer.UNDECIDED):
            for i, report in enumerate(self.weak):
                if report.answer is answer:
                    return f"on sample {i}: {report.reason}"
        if len(self.sets) < self.wanted:
            return f"{self.wanted} samples were to be measured, {len(self.sets)} are"
        if len(self.sets) < 2:
            return "fewer than two samples on which both families are defined"
        for row in self.rows:
            if not row.distance + row.error <= self.resolution:
                return f"at λ = {row.parameter:.6g} no μ is known that serves all samples to the resolution {self.resolution:g}"
        return None if self.rows else "the samples have no parameter in common"

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        if self.holds:
            return (
                f"strongly equivalent among these {len(self.sets)} samples, to {self.resolution:g}: one Φ serves all at {len(self.rows)} λ"
            )
        said = {Answer.FAILS: "not strongly equivalent", Answer.UNDECIDED: "strongly equivalent or not: undecided"}[self.answer]
        size = f" (among those of size {self.sets[0].n} one Φ serves all)" if self.strength is Strength.SAME_SIZE else ""
        return f"{said}: {self.reason}{size}"

    def _answer(
        self, sets: Sequence[TrainingSet], weak: Sequence[Decision], rows: Sequence[OneMap], witnesses: Sequence[StrongWitness]
    ) -> Answer:
        answers = {report.answer for report in weak}
        if witnesses or Answer.FAILS in answers:
            return Answer.FAILS
        served = len(self.sets) >= self.wanted and bool(rows) and all(row.distance + row.error <= self.resolution for row in rows)
        return Answer.HOLDS if served and len(sets) > 1 and answers == {Answer.HOLDS} else Answer.UNDECIDED


def decide_strong(
    source: Family,
    target: Family,
    sets: Sequence[TrainingSet],
    parameters: Iterable[float] | None = None,
    *,
    resolution: float = RESOLUTION,
    progress: Progress | None = None,
) -> StrongDecision:
    """Does one Φ serve all these sets? `simopt.equivalence.strong.neighbours` gives some near a set.

    Sets on which a family is not defined (labels that are none, ω_S = 0) are left out, and told.

    Parameters
    ----------
    parameters : iterable of float, optional
        λ in the source's domain on every set; by default nine evenly spread over the part that the domains share.
    progress : callable, optional
        (set, sets, text), called after each parameter on each set.

    Raises
    ------
    InvalidProblem
        for λ outside a domain, no sets at all, and a resolution that is not between 0 and 1.
    Interrupted
        at Ctrl-C; `done` is the StrongDecision of the sets that are finished.
    """
    resolution = check_resolution(resolution)
    A, B = remembering(source), remembering(target)
    usable, left_out = _usable(A, B, sets)
    if not usable:
        raise InvalidProblem(f"sets: none on which both {A.name} and {B.name} are defined; " + "; ".join(left_out))
    shared = _intersection([A.domain(Z) for Z in usable])
    if parameters is not None:
        lams = listed(parameters, shared or A.domain(usable[0]), A.name)
    else:
        lams = [float(x) for x in shared.spaced(COUNT, reach=REACH)] if shared is not None else []
    weak: list[Decision] = []

    def made() -> StrongDecision:
        """The decision on the sets that are done so far, which is what an interrupt hands on."""
        done = usable[: len(weak)]
        rows = [_one_map(A, B, done, weak, lam) for lam in lams] if len(done) > 1 else []
        same = [i for i, Z in enumerate(done) if Z.n == done[0].n]
        alike, reports = [done[i] for i in same], [weak[i] for i in same]
        same_size = [_one_map(A, B, alike, reports, lam) for lam in lams] if len(alike) > 1 else []
        witnesses = [w for lam in lams if (w := _disjoint(A, B, done, weak, lam)) is not None]
        sized = [w for lam in lams if (w := _disjoint(A, B, alike, reports, lam)) is not None]
        found: Any = [*(tuple(x) for x in (done, left_out, weak, rows, same_size, witnesses, sized)), len(usable)]
        return StrongDecision(A.name, B.name, resolution, *found)

    try:
        for i, Z in enumerate(usable):

            def report(done: int, wanted: int, text: str, i: int = i) -> None:
                if progress is not None:
                    progress(i * wanted + done, len(usable) * wanted, f"sample {i}: {text}")

            weak.append(decide(A, B, Z, lams or None, resolution=resolution, progress=report))
        return made()
    except KeyboardInterrupt:
        raise Interrupted(made()) from None


def _differ(one: float, two: float) -> tuple[str, str]:
    """Both numbers with as few digits as show that they differ, six at least."""
    pairs = ((f"{one:.{digits}g}", f"{two:.{digits}g}") for digits in range(6, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{one:.17g}", f"{two:.17g}"))


def _usable(A: Family, B: Family, sets: Sequence[TrainingSet]) -> tuple[list[TrainingSet], list[str]]:
    """The sets on which both families are defined, each content once, and why the others are not."""
    usable: list[TrainingSet] = []
    left_out, seen = [], set()
    for i, Z in enumerate(sets):
        if Z.fingerprint() in seen:
            left_out.append(f"set {i}: the same as one before")
            continue
        seen.add(Z.fingerprint())
        try:
            for family in (A, B):
                family(family.domain(Z).at(0.0), Z)
        except InvalidProblem as error:
            left_out.append(f"set {i}: {error}")
        except ArithmeticError:
            usable.append(Z)  # a fit that fails is for `decide` to tell
        else:
            usable.append(Z)
    return usable, left_out


def _intersection(domains: Sequence[Interval]) -> Interval | None:
    low, high = max(domain.low for domain in domains), min(domain.high for domain in domains)
    return Interval(low, high) if low < high else None


def _at(report: Decision, lam: float) -> MapValue | None:
    return next((row for row in report.forward if row.parameter == lam), None)


def _one_map(A: Family, B: Family, sets: Sequence[TrainingSet], weak: Sequence[Decision], lam: float) -> OneMap:
    """The parameter, of those found on the sets, with the least distance on the worst set."""
    found = [row for report in weak if (row := _at(report, lam)) is not None and row.outcome is MapOutcome.FOUND]
    best = OneMap(lam, math.nan, math.inf, math.inf)
    for value in dict.fromkeys(row.value for row in found):
        worst = (0.0, 0.0)
        for Z in sets:
            left = _left(A, B, lam, value, Z)
            worst = max(worst, left, key=sum)
            if sum(worst) >= best.distance + best.error:
                break
        if sum(worst) < best.distance + best.error:
            best = OneMap(lam, value, *worst)
    return best


def _left(A: Family, B: Family, lam: float, mu: float, Z: TrainingSet) -> tuple[float, float]:
    """‖A(λ)(Z) − B(μ)(Z)‖ relative to the larger norm, and its error; ∞ where there is no such function."""
    if lam not in A.domain(Z) or mu not in B.domain(Z):
        return math.inf, 0.0
    try:
        return relative_distance(A(lam, Z), B(mu, Z))
    except (ArithmeticError, InvalidProblem):
        return 0.0, math.inf


def _disjoint(A: Family, B: Family, sets: Sequence[TrainingSet], weak: Sequence[Decision], lam: float) -> StrongWitness | None:
    """The pair of sets that is clearest against one Φ at λ: enclosures of what it could be without a common point."""
    rows = [(Z, row) for Z, report in zip(sets, weak, strict=True) if (row := _at(report, lam)) and row.outcome is MapOutcome.FOUND]
    against = []
    for (Z, row), (other, its) in combinations(rows, 2):
        if row.high < its.low or its.high < row.low:
            distance, error = _left(A, B, lam, row.value, other)
            against.append(StrongWitness(lam, Z, other, row.value, its.value, distance, error))
    return max(against, key=lambda w: w.distance - w.error, default=None)
