r"""Is β-uniform stability the same as being β-Lipschitz for the generalised Hamming metric? (Remark 4.6)

The remark is tried on a world that can be searched through. It has two orthonormal inputs, labels ±1, KRR at λ = 1 normalised by the size
of the set it gets (Definition 3.1), f_∅ = 0 and the loss |y − f(x)|. Its changes at y = 1 are those of f(x) because |f(x)| ≤ 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, pairwise

import simopt.claims as sc
from simopt.equivalence.hamming import hamming
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
def values(letters: Letters) -> tuple[Fraction, ...]:
    """KRR's function at λ = 1, by its values at the two inputs."""
    return tuple(ridge([ALPHABET[letter] for letter in letters], Fraction(len(letters)), 2))


def change(first: Letters, second: Letters) -> Fraction:
    """Largest change of the loss over the test points: of the values of f."""
    return max(abs(a - b) for a, b in zip(values(first), values(second), strict=True))


@cache
def stability(n: int) -> Fraction:
    """β(n): the largest change when one sample leaves a set of n, over all sets of n."""
    sets = combinations_with_replacement(range(len(ALPHABET)), n)
    return max(change(word, word[:i] + word[i + 1 :]) for word in sets for i in range(n))


LABELS: tuple[sc.Expr, ...] = tuple(sc.inputs(y=[y for _, _, y in ALPHABET]))
"""The four labels as inputs of formulas."""


@cache
def formulas(letters: Letters) -> tuple[sc.Expr, ...]:
    """The values of KRR's function as formulas in the labels."""
    samples: list[Sample] = [(1, ALPHABET[letter][1], LABELS[letter]) for letter in letters]
    return tuple(sc.rational(value) for value in ridge(samples, Fraction(len(letters)), 2))


def stated_change(first: Letters, second: Letters) -> sc.Expr:
    """`change` as a formula."""
    return sc.maximum(*(abs(a - b) for a, b in zip(formulas(first), formulas(second), strict=True)))


@cache
def stable(sizes: range) -> tuple[sc.Expr, tuple[sc.Check, ...]]:
    """β, the largest change when one sample leaves a set of one of these sizes, and that each of them is at most β."""
    beta = sc.inputs(beta=max(map(stability, sizes)))
    words = (word for n in sizes for word in combinations_with_replacement(range(len(ALPHABET)), n))
    left = dict.fromkeys((word, word[:i] + word[i + 1 :]) for word in words for i in range(len(word)))
    return beta, tuple(sc.at_most(stated_change(*pair), beta, "one sample leaves") for pair in left)


def every_set(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Each multiset, to be compared with all others."""
    largest = trial.count(3, 4)
    for word in world(largest):
        yield {"set": list(word), "largest": largest}


@sc.claim(
    "AK-R4.6",
    place="Remark 4.6",
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.CONSTANT,
    says=r"A is β-uniformly stable if and only if it is β-Lipschitz with respect to H; in particular stability with β gives "
    r"|ℓ(y, A(Z₁)(x)) − ℓ(y, A(Z₂)(x))| ≤ (sup_n β(n)) · H(Z₁, Z₂).",
    instances=every_set,
    knobs={"factor": 1},
    mutants={"2β for β": {"factor": 2}},
    note="The most favourable constant is tried, the largest β(n) of all sizes. n = 1, y = 1 against y = −1: H = 1, β = 1/2, change 1. "
    "Exchanging a sample is a removal and an insertion, yet counts once in H.",
)
def stable_is_lipschitz(instance: sc.Instance, largest: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """One set against all others, in formulas of the labels; the stability is what is given."""
    first, (beta, given) = tuple(instance["set"]), stable(SIZES)
    others = [second for second in world(largest) if second != first]
    bounds = [trial["factor"] * beta * hamming(first, second) for second in others]
    yield sc.at_most([stated_change(first, second) for second in others], bounds, "change").assuming(*given)


Learner = Callable[[Letters], Fraction]
"""A number, A(Z)(x), for every multiset Z; 0 for the empty one."""


def counting(letters: Letters) -> Fraction:
    """How often (e₁, 1) occurs more than (e₁, −1): one sample less changes it by at most 1, at every size."""
    return Fraction(letters.count(0) - letters.count(1))


def removal(learner: Learner, n: int) -> Fraction:
    """Largest change of a learner when one sample leaves a set of n."""
    sets = combinations_with_replacement(range(len(ALPHABET)), n)
    return max(abs(learner(word) - learner(word[:i] + word[i + 1 :])) for word in sets for i in range(n))


def through_smaller_sets(first: Letters, second: Letters) -> list[Letters]:
    """From the larger set to the other: its surplus leaves until the sizes agree, then samples are exchanged, one out and one in."""
    goal, here = Counter(second), Counter(first)
    chain, spare = [here.copy()], [*(here - goal).elements()]
    wanted = [*(goal - here).elements()]
    for k, letter in enumerate(spare):
        here[letter] -= 1
        chain.append(here.copy())
        if k >= len(spare) - len(wanted):
            here[wanted[k - len(spare) + len(wanted)]] += 1
            chain.append(here.copy())
    return [tuple(sorted(step.elements())) for step in chain]


def through_the_union(first: Letters, second: Letters) -> list[Letters]:
    """From the larger set to the other: what is missing comes in, then the surplus leaves."""
    goal, here = Counter(second), Counter(first)
    chain, spare = [here.copy()], [*(here - goal).elements()]
    for letter in (goal - here).elements():
        here[letter] += 1
        chain.append(here.copy())
    for letter in spare:
        here[letter] -= 1
        chain.append(here.copy())
    return [tuple(sorted(step.elements())) for step in chain]


def removals(chain: Sequence[Letters]) -> list[int]:
    """The sizes of the sets that one sample leaves, going along a chain in one direction or the other; 0 for a step that is none."""
    sizes = []
    for one, two in pairwise(chain):
        small, large = sorted((Counter(one), Counter(two)), key=Counter.total)
        sizes.append(large.total() if small < large and large.total() - small.total() == 1 else 0)
    return sorted(sizes)


@cache
def claimed(first: Letters, second: Letters, union: bool) -> list[int]:
    """The sizes k at which β(k) enters the two bounds, |first| ≥ |second|."""
    more, n, H = len(first), len(second), hamming(first, second)
    if union:
        return sorted([*range(more + 1, n + H + 1), *range(n + 1, n + H + 1)])
    return sorted([*range(n + 1, more + 1), *[n] * (2 * (H - (more - n)))])


def sets_and_learners(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Each multiset, to be compared with all others; functions of multisets drawn at random, eighths in [−1, 1]."""
    yield from every_set(trial)
    for _ in range(trial.count(5, 30)):
        yield {"eighths": [int(k) for k in trial.rng.integers(-8, 9, size=len(world(6)))]}


def pairs_of_sets(first: Letters, largest: int) -> Iterator[tuple[Letters, Letters]]:
    """The set and every other one, the larger of the two first."""
    for second in world(largest):
        if second != first:
            yield (first, second) if len(first) >= len(second) else (second, first)


@sc.claim(
    "AK-R4.6+",
    place="Remark 4.6, corrected",
    kind=sc.EQUIVALENCE,
    says=r"If the loss of A changes by at most L(n) H(Z₁, Z₂), n = |Z₁| ≥ |Z₂|, with L(n) → 0, A is L-uniformly stable, since H(Z, Z^i) = "
    r"1. If A is β-uniformly stable, n₁ = |Z₁| ≥ n₂ = |Z₂| and H = H(Z₁, Z₂), the loss changes by at most Σ_{n₂ < k ≤ n₁} β(k) + "
    r"2 β(n₂) (H − (n₁ − n₂)) (through smaller sets; f_∅ = 0), and by at most Σ_{n₁ < k ≤ n₂ + H} β(k) + Σ_{n₂ < k ≤ n₂ + H} β(k) (through "
    r"Z₁ ∪ Z₂). For sets of one size the first is 2 β(n) H, and is attained: by f = #a − #b between n times a and n times b, by KRR at "
    r"n = 1. Checked for sets of up to 3 (full effort: 4) of 4 samples, with KRR and with random functions of sets.",
    instances=sets_and_learners,
    knobs={"factor": Fraction(2), "metric": 1, "union": 0},
    mutants={
        "1.9 β per exchange": {"factor": Fraction(19, 10)},
        "half of H": {"metric": Fraction(1, 2)},
        "one step less through the union": {"union": 1},
    },
    corrects="AK-R4.6",
    note="The chains of sets are built for every pair, and their steps counted: what they give holds for every learner. Where β falls, the "
    "way through the union is the shorter one, and it needs no empty set.",
)
def stable_is_lipschitz_up_to_two(
    instance: sc.Instance, trial: sc.Trial, largest: int = 0, eighths: list[int] | None = None
) -> Iterator[sc.Check]:
    """One set against all others: both chains, and KRR along them; or one learner against all pairs of sets of at most 3."""
    cut = trial["union"]
    if eighths is not None:
        table = dict(zip(world(6), (Fraction(k, 8) for k in eighths), strict=True))
        beta = [Fraction(0), *(removal(lambda word: table.get(word, Fraction(0)), k) for k in range(1, 7))]
        pairs = [pair if len(pair[0]) >= len(pair[1]) else pair[::-1] for pair in combinations(world(3), 2)]
        for union in (False, True):
            bounds = [sum(beta[k] for k in claimed(*pair, union)[cut * union :]) for pair in pairs]
            yield sc.at_most([abs(table[first] - table[second]) for first, second in pairs], bounds, "change of a random learner")
        return
    first = tuple(instance["set"])
    for i in range(len(first)):
        rest = first[:i] + first[i + 1 :]
        yield sc.equal(trial["metric"] * (hamming(first, rest) if rest else 1), 1, "H(Z, Z^i)")
    pairs = list(pairs_of_sets(first, largest))
    for union, chain in ((False, through_smaller_sets), (True, through_the_union)):
        chains, sizes = [chain(*pair) for pair in pairs], [claimed(*pair, union)[cut * union :] for pair in pairs]
        wrong = sum(made[-1] != pair[1] or removals(made) != k for made, pair, k in zip(chains, pairs, sizes, strict=True))
        yield sc.equal(wrong, 0, f"chains that are not as counted, {chain.__name__.replace('_', ' ')}")
        bounds = [sum(map(stability, k)) for k in sizes]
        yield sc.at_most([change(*pair) for pair in pairs], bounds, f"change of KRR, {chain.__name__.replace('_', ' ')}")
    n = len(first)
    if first == (0,) * n:
        per_exchange, H = trial["factor"] * removal(counting, n), hamming(first, (1,) * n)
        yield sc.equal(abs(counting(first) - counting((1,) * n)), per_exchange * H, "#a − #b between n times a and n times b")
    if first == (0,):
        yield sc.equal(change(first, (1,)), trial["factor"] * stability(1), "KRR between one a and one b")
