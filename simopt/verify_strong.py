"""Witnesses against strong equivalence: one parameter and two training sets that no single map can serve (Definition 3.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from simopt.equivalence import Equivalence, Strength
from simopt.errors import InvalidProblem
from simopt.training import TrainingSet
from simopt.verify_equivalence import apart, blur_of


@dataclass(frozen=True, eq=False)
class Witness:
    """Against strong equivalence: Φ(λ, Z) ≠ Φ(λ, Z'), and B(Φ(λ, Z)) does not serve Z'.

    Attributes
    ----------
    parameter : float
        λ.
    one, two : TrainingSet
        Z and Z'.
    image, other_image : float
        Φ(λ, Z) and Φ(λ, Z').
    separation, blur : float
        |difference of the images| in the coordinate of the target's domain, and what the accuracy of the map explains of it.
    distance, error : float
        ‖A(λ)(Z') − B(Φ(λ, Z))(Z')‖ relative to the larger norm, and what the learners' errors explain of it.
    """

    parameter: float
    one: TrainingSet
    two: TrainingSet
    image: float
    other_image: float
    separation: float
    blur: float
    distance: float
    error: float

    @property
    def stands(self) -> bool:
        """Both differences exceed their error bars."""
        return self.separation > self.blur and self.distance > self.error

    def replay(self, equivalence: Equivalence) -> Witness:
        """Measure again, from λ, Z and Z' alone."""
        return compare(equivalence, self.parameter, self.one, self.two)


@dataclass(frozen=True)
class StrongReport:
    """Witnesses against strong equivalence, the clearest first, out of so many comparisons; `among` says which pairs were compared."""

    equivalence: str
    among: Strength
    comparisons: int
    witnesses: tuple[Witness, ...]

    @property
    def holds(self) -> bool:
        """Something was compared and nothing speaks against it."""
        return self.comparisons > 0 and not self.witnesses


def compare(equivalence: Equivalence, parameter: float, Z: TrainingSet, other: TrainingSet) -> Witness:
    """Measure whether Φ(λ, Z) also serves the other set."""
    image, needed = equivalence(parameter, Z), equivalence(parameter, other)
    domain = equivalence.target.domain(other)
    if image not in domain:
        return Witness(parameter, Z, other, image, needed, math.inf, 0.0, math.inf, 0.0)
    separation = abs(domain.coordinate(image) - domain.coordinate(needed))
    blur = blur_of(equivalence, domain, image) + blur_of(equivalence, domain, needed)
    distance, error = apart(equivalence, parameter, image, other)
    return Witness(parameter, Z, other, image, needed, separation, blur, distance, error)


def verify_strong(
    equivalence: Equivalence, sets: Sequence[TrainingSet], parameters: Sequence[float], *, among: Strength = Strength.STRONG
) -> StrongReport:
    """Look for λ, Z, Z' that contradict Definition 3.4, over all ordered pairs of the sets and all parameters.

    `among=Strength.SAME_SIZE` compares sets of one size only. Sets on which the equivalence does not exist, and parameters outside the
    interval of one of the two sets, are not compared.

    Raises
    ------
    InvalidProblem
        for `among=Strength.WEAK`, which compares nothing.
    """
    if among is Strength.WEAK:
        raise InvalidProblem("among: a weak equivalence makes no claim about two training sets")
    usable = [Z for Z in sets if equivalence.exists(Z) is None]
    count, found = 0, []
    for Z, other in permutations(usable, 2):
        if among is Strength.SAME_SIZE and Z.n != other.n:
            continue
        shared = [lam for lam in parameters if lam in equivalence.intervals(Z)[0] and lam in equivalence.intervals(other)[0]]
        count += len(shared)
        found += [w for w in (compare(equivalence, float(lam), Z, other) for lam in shared) if w.stands]
    found.sort(key=lambda witness: witness.distance - witness.error, reverse=True)
    return StrongReport(equivalence.name, among, count, tuple(found))


def neighbours(Z: TrainingSet) -> list[TrainingSet]:
    """Z and sets near it: targets doubled and reversed, one target changed, the last sample doubled, the last sample left out."""
    changed = np.array(Z.targets)
    changed[0] += 1.0 + abs(changed[0])
    near = [Z, Z.with_targets(2.0 * Z.targets), Z.with_targets(Z.targets[::-1]), Z.with_targets(changed)]
    near.append(Z.subset([*range(Z.n), Z.n - 1]))
    return [*near, Z.without(Z.n - 1)] if Z.n > 1 else near
