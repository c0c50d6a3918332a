"""Does one map serve every training set? Definition 3.4 measured: that the map is an equivalence on each set, then that it is one map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from simopt.core import validate
from simopt.core.errors import InvalidProblem
from simopt.equivalence.equivalence import Answer, Equivalence, Strength
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import RESOLUTION, NoImage, WeakReport, apart, check_resolution, mapped, slack, verify_weak


@dataclass(frozen=True, eq=False)
class StrongWitness:
    """How well the parameter that belongs to one set serves another: A(λ)(Z') beside B(Φ(λ, Z))(Z').

    Attributes
    ----------
    parameter : float
        λ.
    one, two : TrainingSet
        Z and Z'.
    image, other_image : float
        Φ(λ, Z) and Φ(λ, Z'); nan where they could not be computed.
    distance, error : float
        ‖A(λ)(Z') − B(Φ(λ, Z))(Z')‖ relative to the larger norm, and what the learners' radii and the map's accuracy explain of it.
    """

    parameter: float
    one: TrainingSet
    two: TrainingSet
    image: float
    other_image: float
    distance: float
    error: float

    @property
    def slack(self) -> tuple[float, float]:
        """Enclosure of minus the true distance."""
        return slack(self.distance, self.error)

    @property
    def stands(self) -> bool:
        """Φ(λ, Z) does not serve Z', whatever the errors."""
        return self.slack[1] < 0.0

    def replay(self, equivalence: Equivalence) -> StrongWitness:
        """Measure again, from λ, Z and Z' alone."""
        return compare(equivalence, self.parameter, self.one, self.two)


@dataclass(frozen=True)
class StrongReport:
    """The result of `verify_strong`: a `WeakReport` for each set that took part, and every comparison; `among` says of which pairs."""

    equivalence: str
    among: Strength
    weak: tuple[WeakReport, ...]
    compared: tuple[StrongWitness, ...]
    resolution: float

    @property
    def comparisons(self) -> int:
        """How many pairs and parameters were compared."""
        return len(self.compared)

    @property
    def witnesses(self) -> tuple[StrongWitness, ...]:
        """Comparisons against strong equivalence, the clearest first."""
        against = [witness for witness in self.compared if witness.stands]
        return tuple(sorted(against, key=lambda witness: witness.error - witness.distance))

    @property
    def undecided(self) -> tuple[StrongWitness, ...]:
        """Comparisons whose errors are larger than the resolution."""
        return tuple(w for w in self.compared if not w.stands and not w.slack[0] >= -self.resolution)

    @property
    def answer(self) -> Answer:
        """FAILS if the map is no equivalence on a set, or that of one does not serve another; HOLDS if all is satisfied; else UNDECIDED."""
        answers = {report.answer for report in self.weak}
        if self.witnesses or Answer.FAILS in answers:
            return Answer.FAILS
        return Answer.HOLDS if self.compared and not self.undecided and answers == {Answer.HOLDS} else Answer.UNDECIDED

    @property
    def holds(self) -> bool:
        """Whether the answer is HOLDS."""
        return self.answer is Answer.HOLDS

    @property
    def reason(self) -> str | None:
        """The witness of a failure, or why it is undecided; None where it holds."""
        for report in sorted(self.weak, key=lambda report: report.answer is not Answer.FAILS):
            if report.answer is Answer.FAILS or (report.answer is Answer.UNDECIDED and not self.witnesses):
                return f"on the set {report.fingerprint}: {report.reason}"
        for w in self.witnesses or self.undecided:
            return f"at λ = {w.parameter:g} the image {w.image:g} of one set leaves {w.distance:.3g} ± {w.error:.3g} on another"
        return None if self.compared else "no two sets have a parameter in common at which the equivalence exists"


def compare(equivalence: Equivalence, parameter: float, Z: TrainingSet, other: TrainingSet) -> StrongWitness:
    """Measure whether Φ(λ, Z) also serves the other set.

    If Z has no image nothing is measured, and the distance is ∞ ± ∞: `verify_weak` says of Z what that means for the claim.
    """

    def image(of: TrainingSet) -> float:
        try:
            return mapped(equivalence, parameter, of, equivalence.target.domain(of), equivalence.accuracy)
        except NoImage:
            return math.nan

    parameter = validate.finite("parameter", parameter)
    own = image(Z)
    distance, error = math.inf, math.inf
    if not math.isnan(own):
        try:
            distance, error = apart(equivalence, parameter, own, other) if own in equivalence.target.domain(other) else (math.inf, 0.0)
        except NoImage:  # a function that cannot be computed
            pass
    return StrongWitness(parameter, Z, other, own, image(other), distance, error)


def verify_strong(
    equivalence: Equivalence,
    sets: Sequence[TrainingSet],
    parameters: Sequence[float],
    *,
    among: Strength = Strength.STRONG,
    resolution: float = RESOLUTION,
) -> StrongReport:
    """Check Definition 3.4 on these sets and parameters: it holds to the resolution, fails with a witness, or is undecided.

    First Definition 3.3 on each set, by `verify_weak`: a map that ignores Z is one map for all sets, and need not be an equivalence on any.
    Then, over all ordered pairs of sets, that the Φ(λ, Z) of one serves the other: A(λ)(Z') = B(Φ(λ, Z))(Z').
    A witness is λ, Z, Z' at which it does not. It speaks against this map; where B(·)(Z) is one-to-one for both sets, against every map.

    `among=Strength.SAME_SIZE` compares sets of one size only. Sets on which the equivalence does not exist, and parameters outside the
    interval of one of the two sets, are not compared, nor is a set with itself. What is never compared is not checked on its own either.

    Raises
    ------
    InvalidProblem
        for `among=Strength.WEAK`, which compares nothing, and a resolution that is not between 0 and 1.
    """
    resolution = check_resolution(resolution)
    if among is Strength.WEAK:
        raise InvalidProblem("among: a weak equivalence makes no claim about two training sets")
    wanted = validate.vector("parameters", parameters, minimum=0).tolist()
    usable = [Z for Z in sets if equivalence.exists(Z) is None]
    inside = {id(Z): [lam for lam in wanted if lam in equivalence.intervals(Z)[0]] for Z in usable}
    shared: dict[int, set[float]] = {id(Z): set() for Z in usable}
    compared = []
    for Z, other in permutations(usable, 2):
        if Z.fingerprint() == other.fingerprint() or (among is Strength.SAME_SIZE and Z.n != other.n):
            continue
        for lam in inside[id(Z)]:
            if lam in inside[id(other)]:
                shared[id(Z)].add(lam)
                compared.append(compare(equivalence, lam, Z, other))
    weak = tuple(verify_weak(equivalence, Z, shared[id(Z)], resolution=resolution) for Z in usable if shared[id(Z)])
    return StrongReport(equivalence.name, among, weak, tuple(compared), resolution)


NEIGHBOURS = (
    "as it is",
    "targets doubled, or labels negated",
    "targets reversed",
    "one target changed",
    "the last sample doubled",
    "the last sample left out",
)


def neighbours(Z: TrainingSet) -> list[TrainingSet]:
    """Z and sets near it, as `NEIGHBOURS` says: targets doubled and reversed, one changed, the last sample doubled, the last left out.

    Labels ±1 stay labels: they are negated in place of doubled, and one changes its sign.
    """
    signs = bool(np.all(np.abs(Z.targets) == 1.0))
    changed = np.array(Z.targets)
    changed[0] = -changed[0] if signs else changed[0] + 1.0 + abs(changed[0])
    near = [Z, Z.with_targets((-1.0 if signs else 2.0) * Z.targets), Z.with_targets(Z.targets[::-1]), Z.with_targets(changed)]
    near.append(Z.subset([*range(Z.n), Z.n - 1]))
    return [*near, Z.without(Z.n - 1)] if Z.n > 1 else near
