r"""The generalised Hamming metric: its closed form, the axioms of a metric, and where it parts from Hamming's (Definition 4.4, P4.5).

The definition minimises over subsets of the larger set and over permutations, which is: over injections of the smaller set into the larger.
Elements are the letters 0, 1, 2 and [a ≠ b] = min(1, |a − b|), so that definition and closed form are rational formulas in the elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import simopt.claims as sc
from simopt.equivalence.hamming import hamming

LETTERS = 3
LARGEST = 4

Letters = tuple[int, ...]


def multisets() -> list[Letters]:
    """All 34 non-empty multisets of at most 4 elements over 3 letters, each as a sorted tuple."""
    return [word for n in range(1, LARGEST + 1) for word in combinations_with_replacement(range(LETTERS), n)]


def pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All pairs of multisets up to their order and the names of the letters, neither of which the formulas notice."""
    seen = set()
    for first, second in product(multisets(), repeat=2):
        renamed = [tuple(tuple(sorted(order[z] for z in word)) for word in (first, second)) for order in permutations(range(LETTERS))]
        least = min(min(one, one[::-1]) for one in renamed)
        if least not in seen:
            seen.add(least)
            yield {"first": list(first), "second": list(second)}


def by_definition(first: Sequence[sc.Expr], second: Sequence[sc.Expr]) -> sc.Expr:
    """Size gap plus the least number of disagreements over all injections of the smaller set, both sets as formulas."""
    large, small = (first, second) if len(first) >= len(second) else (second, first)
    differ = [[sc.minimum(1, abs(z - w)) for w in small] for z in large]
    ways = [sc.total(differ[i][j] for j, i in enumerate(places)) for places in permutations(range(len(large)), len(small))]
    return len(large) - len(small) + sc.minimum(*ways)


def counts(letters: Sequence[sc.Expr]) -> list[sc.Expr]:
    """How often each letter occurs."""
    return [sc.total(1 - sc.minimum(1, abs(z - letter)) for z in letters) for letter in range(LETTERS)]


@sc.claim(
    "AK-D4.4",
    place="Definition 4.4",
    kind=sc.IDENTITY,
    says=r"H(Z₁, Z₂) = (size gap) + min over subsets of the larger set and over permutations of the Hamming distance to the smaller "
    r"= max(|Z₁|, |Z₂|) − |Z₁ ∩ Z₂| = max(|Z₁ ∖ Z₂|, |Z₂ ∖ Z₁|), with intersection and difference of multisets. "
    r"Proved here for all multisets of at most 4 elements over 3 letters.",
    remains="multisets of more than four elements or more than three letters",
    instances=pairs,
    exhaustive=True,
    knobs={"overlap": sc.minimum},
    mutants={"letters counted once": {"overlap": lambda a, b: sc.minimum(1, a, b)}},
    note="For all multisets: a map of the smaller set into the larger, one to one, agrees at most min(a, b) times on each element, |Z₁ ∩ "
    "Z₂| times in all, and one that takes the common elements to themselves does. So the least number of disagreements is that of the "
    "smaller set less |Z₁ ∩ Z₂|.",
)
def closed_form_of_the_metric(first: list[int], second: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Brute force over injections against both closed forms, and against the library's `hamming`."""
    z, w = sc.inputs(z=first, w=second)
    a, b = counts(z), counts(w)
    overlap = sc.total(trial["overlap"](p, q) for p, q in zip(a, b, strict=True))
    closed = max(len(z), len(w)) - overlap
    yield sc.equal(by_definition(z, w), closed, "definition and intersection")
    a, b = sc.inputs(a=multiplicity(first), b=multiplicity(second))
    yield sc.equal(metric(a, b), differences(a, b), "intersection and differences")
    yield sc.equal(metric(a, b), hamming(first, second), "computed by simopt.equivalence.hamming")


def metric(a: Sequence[Any], b: Sequence[Any]) -> sc.Expr:
    """max(|A|, |B|) − |A ∩ B| from how often each letter occurs."""
    return sc.maximum(sc.total(a), sc.total(b)) - sc.total(sc.minimum(p, q) for p, q in zip(a, b, strict=True))


def differences(a: Sequence[Any], b: Sequence[Any]) -> sc.Expr:
    """max(|A ∖ B|, |B ∖ A|) from how often each letter occurs."""
    gaps = [p - q for p, q in zip(a, b, strict=True)]
    return sc.maximum(sc.total(sc.maximum(0, gap) for gap in gaps), sc.total(sc.maximum(0, 0 - gap) for gap in gaps))


def multiplicity(sequence: Sequence[int]) -> list[int]:
    """How often each letter occurs in a word."""
    return [list(sequence).count(letter) for letter in range(LETTERS)]


def letter_pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Ordered pairs of letters: the training sets as sequences."""
    for first, second in product(product(range(LETTERS), repeat=2), repeat=2):
        yield {"first": list(first), "second": list(second)}


@sc.claim(
    "AK-P4.5",
    place="Proposition 4.5, Appendix B",
    kind=sc.INEQUALITY,
    says=r"H is a metric on training sets as unordered sequences (multisets) of any sizes: H ≥ 0, H(Z₁, Z₂) = 0 iff Z₁ = Z₂, H is "
    r"symmetric, and H(Z₁, Z₂) ≤ H(Z₁, Z) + H(Z, Z₂). Proved here for all multisets of at most 4 elements over 3 letters (39304 triples).",
    remains="multisets of more than four elements or more than three letters",
    instances=pairs,
    exhaustive=True,
    knobs={"order": 1},
    mutants={"ordered sequences": {"instances": letter_pairs}, "H²": {"order": 2}},
    note="On ordered sequences, as 𝒵 is printed, H is only a pseudometric: H(ab, ba) = 0. The sentence before Definition 4.4 says 'a "
    "metric on unordered sequences of different lengths', which is what is checked. In general: H = max(|A ∖ B|, |B ∖ A|), and each "
    "difference is subadditive letter by letter.",
)
def generalised_hamming_is_a_metric(first: list[int], second: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """The axioms for one pair, the triangle inequality through every multiset at once."""
    order = trial["order"]
    a, c = sc.inputs(a=multiplicity(first), c=multiplicity(second))
    apart, sizes = metric(a, c) ** order, (sc.total(a), sc.total(c))
    if first == second:
        yield sc.equal(apart, 0, "H(Z, Z) = 0")
    else:
        yield sc.at_least(apart, 1, "H > 0 between different sets")
    yield sc.equal(apart, metric(c, a) ** order, "symmetry")
    detours = [sc.total(_distance_to(b, x, n) ** order for x, n in zip((a, c), sizes, strict=True)) for b in map(multiplicity, multisets())]
    yield sc.at_most(apart, sc.minimum(*detours), "triangle inequality, through the best of all sets")


def _distance_to(known: Sequence[int], a: Sequence[Any], size: sc.Expr) -> sc.Expr:
    """`metric` to a multiset of known numbers, without the letters that it lacks: the shorter formula of the same value."""
    return sc.maximum(size, sum(known)) - sc.total(sc.minimum(p, q) for p, q in zip(a, known, strict=True) if q)


def orders_of_three(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The orders that the counts of one letter in three sets can have: which of them is least, next and largest."""
    for order in permutations("abc"):
        yield {"order": list(order)}


@sc.claim(
    "AK-B.G",
    place="Appendix B, before (7)",
    kind=sc.INEQUALITY,
    says=r"G_n counts the elements that differ between two unordered sequences of n, G_n(A, B) = n − Σ min(a, b) with a, b how often each "
    r"element occurs, and is subadditive: G_n(A, C) ≤ G_n(A, B) + G_n(B, C), since min(a, b) + min(b, c) − min(a, c) ≤ b for all "
    r"a, b, c ≥ 0.",
    remains="that G_n(A, B) = n − Σ min(a, b), which AK-D4.4 has for at most four elements over three letters",
    instances=orders_of_three,
    exhaustive=True,
    knobs={"middle": 1},
    mutants={"half of b": {"middle": sc.rational("1/2")}},
    note="Summed over the elements this is n − G(A, B) + n − G(B, C) − (n − G(A, C)) ≤ n. The formula for G_n is that of AK-D4.4 for sets "
    "of n elements each, whose note proves it for all.",
)
def counts_of_one_letter_are_subadditive(order: list[str], trial: sc.Trial) -> Iterator[sc.Check]:
    """The least count t, the next t + p, the largest t + p + q: what is left over is a symbol that is ≥ 0, or 0."""
    t, p, q = sc.symbols("t p q")
    rank = {name: k for k, name in enumerate(order)}
    count: dict[str, sc.Expr] = dict(zip(order, (t, t + p, t + p + q), strict=True))

    def least(one: str, two: str) -> sc.Expr:
        """min of two counts, which the order tells."""
        return count[min(one, two, key=rank.__getitem__)]

    room = trial["middle"] * count["b"] + least("a", "c") - least("a", "b") - least("b", "c")
    yield sc.equal(room, (p, sc.rational(0), q)[rank["b"]], f"{' ≤ '.join(order)}: room")


def orders_of_two(trial: sc.Trial) -> Iterator[sc.Instance]:
    """a ≤ b and b ≤ a."""
    yield {"order": ["a", "b"]}
    yield {"order": ["b", "a"]}


@sc.claim(
    "AK-B.7",
    place="Appendix B, (7)",
    kind=sc.INEQUALITY,
    says=r"If A and B are parts of Z₂, |A| ≥ |B| (in the proof Z₁² and Z₃², the parts nearest to Z₁ and Z₃), then |Z₂| ≥ |A| + "
    r"min over the parts Ẑ of A with |B| elements of G(Ẑ, B). With a, b, z how often one element occurs, z ≥ max(a, b): "
    r"z ≥ a + (b − min(a, b)), where the minimum of G is |B| − Σ min(a, b) over the elements.",
    remains="that the minimum of G is |B| − Σ min(a, b), which AK-D4.4 has for at most four elements over three letters",
    instances=orders_of_two,
    exhaustive=True,
    knobs={"union": 1},
    mutants={"A and B apart": {"union": 2}},
    note="Equality where Z₂ is the union of A and B. With it and AK-B.G the chain that follows (7) is correct line by line. A part Ẑ of A "
    "with |B| elements that contains A ∩ B has the least G (|A ∩ B| ≤ |B| ≤ |A|; note of AK-D4.4).",
)
def parts_of_a_set_fit_into_it(order: list[str], trial: sc.Trial) -> Iterator[sc.Check]:
    """The lesser count t, the larger t + p, and z = t + p + r: what is left over is r ≥ 0."""
    t, p, r = sc.symbols("t p r")
    count = dict(zip(order, (t, t + p), strict=True))
    z = t + p + r
    yield sc.equal(z - count["a"] - (count["b"] - t) - (trial["union"] - 1) * t, r, f"{' ≤ '.join(order)}: room")


def two_orders(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same two letters in two orders."""
    yield {"first": [0, 1], "second": [1, 0]}


def two_letters(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sequences that differ in one place."""
    yield {"first": [0, 1], "second": [0, 2]}


@sc.claim(
    "AK-P4.5fn",
    place="Section 4, footnote 1",
    kind=sc.COUNTEREXAMPLE,
    says=r"On ordered sequences Hamming's metric and the generalised one do not coincide: (a, b) and (b, a) have Hamming distance 2 and "
    r"H = 0.",
    instances=two_orders,
    exhaustive=True,
    quantifier=sc.SOME,
    mutants={"sequences that differ in one place": {"instances": two_letters}},
)
def hamming_sees_the_order(first: list[int], second: list[int]) -> Iterator[sc.Check]:
    """Both distances as formulas of the letters."""
    one, two = sc.inputs(z=first, w=second)
    plain = sc.total(sc.minimum(1, abs(z - w)) for z, w in zip(one, two, strict=True))
    yield sc.at_least(plain, by_definition(one, two) + sc.rational(1), "Hamming's distance is larger")
    yield sc.equal(plain, 2, "Hamming's distance")
    yield sc.equal(by_definition(one, two), 0, "H")
