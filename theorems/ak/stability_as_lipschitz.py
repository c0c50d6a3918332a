r"""Is β-uniform stability the same as being β-Lipschitz for the generalised Hamming metric? (Remark 4.6)

The remark is tried on a world that can be searched through: two orthonormal inputs, labels ±1, KRR at λ = 1 normalised by the size of the
set it gets (Definition 3.1), f_∅ = 0 and the loss |y − f(x)|, whose changes at y = 1 are those of f(x) because |f(x)| ≤ 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

from simopt.claims import AUDIFFREN_KADRI, CONSTANT, EQUIVALENCE, HOLDS, REFUTED, Check, Instance, Trial, at_most, claim
from simopt.hamming import hamming
from simopt.theorems.ak.rational_ridge import Sample, ridge

Letters = tuple[int, ...]

SIZES = range(1, 8)
"""β(n) ≤ 4/n here (AK-Ex.b+), so that β(1) = 1/2 is the largest of all as soon as it is that among these sizes."""

ALPHABET: tuple[Sample, ...] = tuple((1, x, Fraction(y)) for x in ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))) for y in (1, -1))
"""The samples (e₁, 1), (e₁, −1), (e₂, 1), (e₂, −1)."""


@cache
def world(largest: int) -> tuple[Letters, ...]:
    """All non-empty multisets of at most `largest` samples."""
    return tuple(word for n in range(1, largest + 1) for word in combinations_with_replacement(range(len(ALPHABET)), n))


@cache
def values(word: Letters) -> tuple[Fraction, ...]:
    """KRR's function at λ = 1, by its values at the two inputs."""
    return tuple(ridge([ALPHABET[letter] for letter in word], Fraction(len(word)), 2))


def change(first: Letters, second: Letters) -> Fraction:
    """Largest change of the loss over the test points: of the values of f."""
    return max(abs(a - b) for a, b in zip(values(first), values(second), strict=True))


@cache
def stability(n: int) -> Fraction:
    """β(n): the largest change when one sample leaves a set of n, over all sets of n."""
    sets = combinations_with_replacement(range(len(ALPHABET)), n)
    return max(change(word, word[:i] + word[i + 1 :]) for word in sets for i in range(n))


def every_set(trial: Trial) -> Iterator[Instance]:
    """Each multiset, to be compared with all others."""
    largest = trial.count(3, 4)
    for word in world(largest):
        yield {"set": list(word), "largest": largest}


@claim(
    "AK-R4.6",
    paper=AUDIFFREN_KADRI,
    place="Remark 4.6",
    kind=EQUIVALENCE,
    expected=REFUTED,
    defect=CONSTANT,
    says=r"A is β-uniformly stable if and only if it is β-Lipschitz with respect to H; in particular stability with β gives "
    r"|ℓ(y, A(Z₁)(x)) − ℓ(y, A(Z₂)(x))| ≤ (sup_n β(n)) · H(Z₁, Z₂).",
    instances=every_set,
    knobs={"factor": 1},
    mutants={"2β for β": {"factor": 2}},
    note="The most favourable constant is tried, the largest β(n) of all sizes. n = 1, y = 1 against y = −1: H = 1, β = 1/2, change 1. "
    "Exchanging a sample is a removal and an insertion, yet counts once in H.",
)
def stable_is_lipschitz(instance: Instance, trial: Trial) -> Iterator[Check]:
    """One set against all others."""
    first = tuple(instance["set"])
    beta = trial["factor"] * max(stability(n) for n in SIZES)
    others = [second for second in world(instance["largest"]) if second != first]
    yield at_most([change(first, second) for second in others], [beta * hamming(first, second) for second in others], "change")


@claim(
    "AK-R4.6+",
    paper=AUDIFFREN_KADRI,
    place="Remark 4.6, corrected",
    kind=EQUIVALENCE,
    expected=HOLDS,
    says=r"If A is L-Lipschitz with respect to H, it is β-uniformly stable with β = L (if L depends on n and → 0). If A is β-uniformly "
    r"stable and f_∅ = 0, then for n₁ = |Z₁| ≥ n₂ = |Z₂| the loss changes by at most Σ_{n₂ < k ≤ n₁} β(k) + 2 β(n₂) (H(Z₁, Z₂) − (n₁ − "
    r"n₂)); for sets of one size by 2 β(n) H(Z₁, Z₂), which is sharp.",
    instances=every_set,
    knobs={"factor": Fraction(2), "metric": 1},
    mutants={"1.9 β per exchange": {"factor": Fraction(19, 10)}, "L for half of H": {"metric": Fraction(1, 2)}},
    corrects="AK-R4.6",
)
def stable_is_lipschitz_up_to_two(instance: Instance, trial: Trial) -> Iterator[Check]:
    """One set against all others: the removals down to the smaller size, then the exchanges; and Lipschitz gives stable."""
    first = tuple(instance["set"])
    others = [second for second in world(instance["largest"]) if second != first]
    bounds = []
    for second in others:
        n, more = min(len(first), len(second)), max(len(first), len(second))
        removals = sum((stability(k) for k in range(n + 1, more + 1)), Fraction(0))
        bounds.append(removals + trial["factor"] * stability(n) * (hamming(first, second) - (more - n)))
    yield at_most([change(first, second) for second in others], bounds, "change along removals and exchanges")
    if len(first) > 1:
        lipschitz = max(change(first, second) / hamming(first, second) for second in others)
        for i in range(len(first)):
            yield at_most(change(first, first[:i] + first[i + 1 :]), trial["metric"] * lipschitz, "one removal, H = 1")
