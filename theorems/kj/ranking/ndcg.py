r"""Appendix F, definitions: the NDCG loss, normalised relevance η, and the distribution μ of query-document pairs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kj.ranking.relevance_lists import BINARY, NATURAL, discounts, gains, inner, lists
from simopt.theorems.small_worlds.exact_tails import logarithm

SECTION = "ordinal"
TINY = Fraction(1, 10**15)  # enclosures of an equality between logarithms


def graded(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All lists of two to four documents with grades 0 to 2, not all 0 (four documents: descending ones)."""
    for m in (2, 3, 4):
        for r in lists(m, 2):
            if m < 4 or tuple(sorted(r, reverse=True)) == r:
                yield {"gains": gains(r)}


@sc.claim(
    "KJ-F-ndcg",
    section=SECTION,
    place="Appendix F, the NDCG loss and the norm ‖·‖_D",
    kind=sc.DEFINITION,
    says=r"ℓ_NDCG(s, r) = −(1/‖G(r)‖_D) Σ G(r_i)/F(π_s(i)), G(r) = 2^r − 1, F(t) = log(1 + t), ‖v‖_D = max_π Σ v_i/F(π(i)), π_s(i) the "
    r"position of document i. For **r ≥ 0, not all 0**, it lies in [−1, 0), is −1 if s sorts by relevance, and does not depend on the base "
    r"of the logarithm. (All orders of all lists of two and three documents with grades 0, 1, 2, and of four.)",
    remains="longer lists and higher grades: the rearrangement inequality",
    instances=graded,
    exhaustive=True,
    knobs={"worst": 0},
    mutants={"the least relevant first": {"worst": 1}},
    note="For r = 0 it is 0/0; where scores are tied π_s is not defined. `simopt.data.relevance` refuses the first and has three "
    "conventions for the second. A loss that is never positive makes Theorem 30 empty (KJ-Thm30); the regret is 1 + ℓ_NDCG.",
)
def loss_of_all_orders(gains: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Gains by position for every order; the sorted order attains ‖·‖_D; in symbols, 1/F may be multiplied by any unit."""
    g = sc.inputs(g=gains)
    best = sorted(range(len(g)), key=lambda i: gains[i], reverse=not trial["worst"])
    natural = discounts(len(g))
    unit, *D = sc.symbols("unit " + " ".join(f"D{t + 1}" for t in range(len(g))))
    norm = inner(natural, [g[i] for i in best])
    sorted_gains = [gains[i] for i in best]
    for order in itertools.permutations(range(len(g))):
        if [gains[i] for i in order] != sorted_gains:  # otherwise ‖G(r)‖_D is reached
            reached = inner(natural, [g[i] for i in order])
            yield sc.at_most(reached, norm, "Σ G/F")
            yield sc.at_least(reached, 0, "Σ G/F", strict=True)
    first, last = inner(D, [g[i] for i in best]), inner(D, list(g))
    yield sc.equal(inner([unit * d for d in D], list(g)) / inner([unit * d for d in D], [g[i] for i in best]), last / first, "another base")


def graded_lists(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All lists of two and three documents with grades 0 to 3; one relevant document among 5, 10 and 40."""
    for m in (2, 3):
        for r in lists(m, 3):
            yield {"gains": gains(r)}
    for m in (5, 10, 40):
        yield {"gains": gains([4, *[0] * (m - 1)])}


@sc.claim(
    "KJ-F-eta",
    section=SECTION,
    place="Appendix F, normalised relevance η",
    kind=sc.DEFINITION,
    says=r"η(r) = G(r)/‖G(r)‖_D has 0 ≤ η_i ≤ F(1), log 2 = 0.693 with the natural logarithm and 1 with base 2, attained iff document i "
    r"alone is relevant. So |r̃| ≤ 1 in Theorem 31 with either logarithm. η_i depends on the whole list: it falls as another document "
    r"becomes more relevant, from 0.693 in (1, 0) to 0.425 in (1, 1). (All lists of two and three documents with grades 0 to 3.)",
    remains="longer lists and higher grades: that ‖G‖_D is at least G_max/F(1)",
    instances=graded_lists,
    exhaustive=True,
    knobs={"largest": Fraction(1)},
    mutants={"η_i ≤ 9/10 F(1)": {"largest": Fraction(9, 10)}},
    note="F(1) Σ G_i/F(π(i)) ≥ G_max. For all-zero lists η is 0/0, so that Definitions 28 and 29 need a distribution without them.",
)
def normalised_relevance(gains: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """η in both logarithms, and η_1 after the last gain has grown by 1."""
    g = sc.inputs(g=gains)
    order = sorted(range(len(g)), key=lambda i: gains[i], reverse=True)
    alone = sum(1 for value in gains if value) == 1
    for base in (NATURAL, BINARY):
        first = logarithm(2) if base == NATURAL else sc.rational(1)
        norm = inner(discounts(len(g), base), [g[i] for i in order])
        largest = sc.maximum(*g) / norm
        if alone:
            yield sc.at_most(abs(largest - trial["largest"] * first), TINY, f"η of the only relevant document, {base}")
        else:
            yield sc.at_most(largest, trial["largest"] * first, f"η, {base}", strict=True)
    last = [*gains[:-1], gains[-1] + 1]
    moved = sorted(range(len(g)), key=lambda i: last[i], reverse=True)
    if gains[0]:
        norm = inner(discounts(len(g)), [g[i] for i in order])
        longer = inner(discounts(len(g)), [g[i] + 1 if i == len(g) - 1 else g[i] for i in moved])
        yield sc.at_most(g[0] / longer, g[0] / norm, "η_1 after a change of the last document", strict=True)


def generated(trial: sc.Trial) -> Iterator[sc.Instance]:
    """No data, for all lists; two queries, two or three documents each, lists of two and three."""
    yield {}
    for documents, m in ((2, 2), (2, 3), (3, 2)):
        yield {"documents": documents, "m": m}


@sc.claim(
    "KJ-F-mu",
    section=SECTION,
    place="Appendix F, the generative mechanism",
    kind=sc.IDENTITY,
    says=r"If q ~ D_Q and m documents are drawn independently from D_{P|q}, the i-th pair (p_i, q) has the law μ = D_Q × D_{P|q}, for "
    r"each i: a list of one has the mass P(q)P(p | q), and another document, before or after, multiplies what the lists with p_i = p have "
    r"by the sum of its chances, gathered one by one: a + (1 − a) = 1. (In symbols, by induction over documents and lists; and all lists "
    r"of two and three from two or three documents.)",
    instances=generated,
    exhaustive=True,
    knobs={"sorted": False},
    mutants={"each list sorted": {"sorted": True}},
    note="The pairs of one list are dependent, through q. Sorting or removing duplicates in lists, as benchmark data do, ends it.",
)
def law_of_each_pair(trial: sc.Trial, documents: int | None = None, m: int = 0) -> Iterator[sc.Check]:
    """One more document; marginals of D_Q × D_{P|q}^m against μ."""
    if documents is None:
        mass, chance, gathered = sc.symbols("mass chance gathered")
        yield sc.equal(mass * gathered + mass * chance, mass * (gathered + chance), "one more value of another document")
        yield sc.equal(mass * (gathered + (1 - gathered)), mass, "all its values")
        return
    chances = {}
    (first,) = sc.symbols("q")
    for q, weight in enumerate((first, 1 - first)):
        free = list(sc.symbols(" ".join(f"p{q}{j}" for j in range(documents - 1))))
        chances[q] = (weight, [*free, 1 - sc.total(free)])
    for i, q, p in itertools.product(range(m), chances, range(documents)):
        weight, law = chances[q]
        marginal = sc.rational(0)
        for drawn in itertools.product(range(documents), repeat=m):
            mass = weight
            for document in drawn:
                mass = mass * law[document]
            placed = tuple(sorted(drawn)) if trial["sorted"] else drawn
            if placed[i] == p:
                marginal = marginal + mass
        yield sc.equal(marginal, weight * law[p], f"pair {i + 1}")
