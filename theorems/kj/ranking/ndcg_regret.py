r"""Theorem 30: from squared error to NDCG. As printed it is empty; the regret 1 + ℓ_NDCG is what it must bound.

With D_t = 1/F(t), D(π) the discounts of documents placed by π, η the normalised relevance and s the scores:

    1 + ℓ_NDCG(s, r) = ⟨D(π_η) − D(π_s), η⟩ ≤ ⟨D(π_η) − D(π_s), η − s⟩ ≤ ‖D − rev D‖₂ ‖s − η‖₂ ≤ √2 ‖D‖₂ ‖s − η‖₂,

because π_s is the best order for s, and because of all orders the reversed one is farthest from D. Equality holds for s constant and
η = s + c (D − rev D), with ties of s broken against η: ‖D − rev D‖₂ cannot be improved for any m.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.claims import *
from simopt.theorems.kj.ranking.relevance_lists import BITS, descending, discounts, gains, inner, list_norm, lists, nearest_descending

SECTION = "ordinal"


def worst_orders(trial: Trial) -> Iterator[Instance]:
    """All lists of two and three documents with grades 0 to 2, the least relevant first."""
    for m in (2, 3):
        for r in lists(m, 2):
            yield {"gains": gains(r)}


def _worst_loss(values: list[int]) -> Any:
    """ℓ_NDCG of the order in which the least relevant document is first."""
    return -inner(discounts(len(values)), sorted(values)) / list_norm(values)


@claim(
    "KJ-Thm30",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 30",
    kind=HIGH_PROBABILITY,
    expected=VACUOUS,
    says=r"Every similarity that is (ε_0, B)-good for ranking m documents with respect to squared loss is O(√(m/log m) √ε_0)-useful with "
    r"respect to ℓ_NDCG: with probability ≥ 1 − δ the learner has E ℓ_NDCG ≤ c √(m/log m) √ε_0 + ε_1. **ℓ_NDCG ≤ 0**, so that every "
    r"learner has: all predictors are 0-useful.",
    instances=worst_orders,
    exhaustive=True,
    knobs={"added": 0},
    mutants={"the regret 1 + ℓ_NDCG": {"added": 1}},
    note="The regret form is KJ-Thm30+.",
    cost=0.1,
)
def useful_for_ndcg(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Whether the loss of the worst order is ≤ 0 already; lists of equal documents have no regret either."""
    worst = trial["added"] + _worst_loss(instance["gains"])
    if len(set(instance["gains"])) > 1:
        yield vacuous(worst.high <= 0, "the worst order passes any bound ≥ 0", evidence=EXACT)


def nearest_scores(trial: Trial) -> Iterator[Instance]:
    """No data, for what holds in symbols; all lists of three and four with grades 0 to 2, nearest scores of all orders."""
    yield {}
    for m in (3, 4):
        for r in lists(m, 2):
            v = gains(r)
            yield {"sorted": descending(v), "placed": v, "scores": nearest_descending(v)}


def _square_of_difference(m: int) -> Any:
    """‖D − rev D‖²."""
    D = discounts(m)
    return total((a - b) ** 2 for a, b in zip(D, reversed(D), strict=True))


def _regret_and_distance(instance: Instance) -> tuple[Any, Any, list[Check]]:
    """‖G‖_D times the regret, ‖G‖_D² times ‖s − η‖², and that s is the projection of the placed gains on descending vectors."""
    g, v, s = inputs(g=instance["sorted"], v=instance["placed"], s=instance["scores"])
    regret = inner(discounts(len(v)), [a - b for a, b in zip(g, v, strict=True)])
    rest = [a - b for a, b in zip(v, s, strict=True)]
    sums = [total(rest[: j + 1]) for j in range(len(rest))]
    nearest = [equal(inner(rest, s), 0, "⟨v − s, s⟩"), equal(sums[-1], 0, "Σ (v − s)")]
    nearest += [at_most(each, 0, "⟨v − s, first j⟩") for each in sums[:-1]]
    nearest += [at_least(a, b, "s descends") for a, b in itertools.pairwise(s)]
    return regret, total(e**2 for e in rest), nearest


@claim(
    "KJ-Thm30+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 30, the regret",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For r ≥ 0, not all 0, and any scores s (ties of s broken at will): **1 + ℓ_NDCG(s, r) ≤ ‖D − rev D‖₂ ‖s − η(r)‖₂**, D = "
    r"(1/F(1), …, 1/F(m)), so that E (1 + ℓ_NDCG) ≤ ‖D − rev D‖₂ √(E ℓ_sq) by Jensen's inequality. (For every m by the three steps at the "
    r"head of theorems/kj/ranking/ndcg_regret.py, in symbols: exchanges of two documents, Cauchy–Schwarz and Jensen by induction. Two "
    r"documents with equality; all lists of three and four with grades 0 to 2, in all orders, each with the nearest scores that give this "
    r"order: the projection on its isotonic cone, exact.)",
    instances=nearest_scores,
    exhaustive=True,
    knobs={"square": Fraction(1)},
    mutants={"9/10 ‖D − rev D‖²": {"square": Fraction(9, 10)}},
    note="Attained at m = 2 by every list (0.753 with natural logarithms), and at every m by real relevances (KJ-Thm30-sharp). Both sides "
    "are multiplied by ‖G‖_D. With base 2 η and s grow by 1/log 2, D shrinks by log 2: the bound is the same. With KJ-Thm30-dec and "
    "KJ-Thm30-3+ it is a theorem on Algorithm 1 (KJ-Thm30-useful).",
    cost=1.0,
)
def regret_of_nearest_scores(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The square of the inequality, for the projection; equality for two documents in the wrong order, s = (½, ½) of their sum."""
    if not instance:
        g, v, first, second = symbols("g v D1 D2")
        regret, mean = first * (g - v) + second * (v - g), (g + v) / 2
        distance = (v - mean) ** 2 + (g - mean) ** 2
        yield equal(regret**2, trial["square"] * 2 * (first - second) ** 2 * distance, "two documents")
        yield from _steps_for_all_lists()
        return
    regret, distance, nearest = _regret_and_distance(instance)
    bound = trial["square"] * _square_of_difference(len(instance["placed"])) * distance
    if instance["placed"] == instance["sorted"]:
        yield equal(distance, 0, "sorted lists").given(*nearest)
    else:
        yield at_most(regret**2, bound, "regret²").given(*nearest)


def _steps_for_all_lists() -> Iterator[Check]:
    """The three steps, a coordinate or an exchange at a time.

    An order is sorted by exchanges of two documents of which the larger stands lower: each raises ⟨D(π), s⟩ by (D_t − D_u)(x − y) ≥ 0, so
    that π_s is best for s, and of all ⟨D(π), D⟩ that of the reversed order is least. Cauchy–Schwarz: each coordinate adds squares. Jensen:
    two values at a time.
    """
    D, E, x, y, eta, s = symbols("D E x y eta s")
    yield equal((D * x + E * y) - (D * y + E * x), (D - E) * (x - y), "an exchange")
    yield equal((D - E) * eta, (D - E) * (eta - s) + (D - E) * s, "regret, one coordinate")
    yield equal((D - E) ** 2, D**2 + E**2 - 2 * D * E, "‖D(π) − D(π')‖², one coordinate")
    A, C, inner_product = symbols("A C inner")  # ‖a‖², ‖c‖² and ⟨a, c⟩ without the last coordinates x and y
    more = (A + x**2) * (C + y**2) - (inner_product + x * y) ** 2 - (A * C - inner_product**2)
    yield equal(more, A * y**2 - 2 * inner_product * x * y + C * x**2, "Cauchy–Schwarz: Σ_i (a_i y − c_i x)² is added")
    (p,) = symbols("p")
    yield equal(p * x**2 + (1 - p) * y**2 - (p * x + (1 - p) * y) ** 2, p * (1 - p) * (x - y) ** 2, "Jensen, two values")


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm30-sharp",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 30, ours: the constant is best for every m",
    kind=TIGHTNESS,
    expected=HOLDS,
    says=r"For every m the constant ‖D − rev D‖₂ is attained: s = (a, …, a), η = s + c(D − rev D), ties broken from the last document to "
    r"the first (or s disturbed so, by as little as one likes): the regret is c‖D − rev D‖², the distance c‖D − rev D‖. A pair t, m + 1 − "
    r"t with discounts D ≥ E adds 2c(D − E)² to the regret, 2c²(D − E)² to the distance² and a(D + E) + c(D − E)² to ‖η‖_D; a middle "
    r"document has D = E. With w = D_1 − D_m ≥ D − E, N = Σ D_t, S = ½‖D − rev D‖², c = 1/(S + wN) and a = cw: η ≥ 0 and ‖η‖_D = 1, so "
    r"that η = η(r) for r = log₂(1 + η). At m = 2 the constant is √2 (1/log 2 − 1/log 3) = 0.753. (In symbols, pair by pair.)",
    instances=once,
    exhaustive=True,
    knobs={"backward": True},
    mutants={"ties broken for η": {"backward": False}},
    cost=0.2,
)
def attained_by_constant_scores(instance: Instance, trial: Trial) -> Iterator[Check]:
    """What a pair adds to regret, distance² and norm; the choice of a and c; the number at m = 2."""
    a, c, D, E = symbols("a c D E")
    high, low = a + c * (D - E), a + c * (E - D)
    placed = (low, high) if trial["backward"] else (high, low)
    yield equal(D * high + E * low - (D * placed[0] + E * placed[1]), 2 * c * (D - E) ** 2, "regret, a pair")
    yield equal((high - a) ** 2 + (low - a) ** 2, 2 * c**2 * (D - E) ** 2, "distance², a pair")
    yield equal((D - E) ** 2 + (E - D) ** 2, 2 * (D - E) ** 2, "‖D − rev D‖², a pair")
    yield equal(D * high + E * low, a * (D + E) + c * (D - E) ** 2, "‖η‖_D, a pair")
    width, N, S = symbols("w N S")
    chosen = 1 / (S + width * N)
    yield equal(chosen * width * N + chosen * S, 1 + 0 * N, "‖η‖_D = aN + cS")
    yield equal(c * width + c * (E - D), c * (width - (D - E)), "η of the less relevant one")
    constant = root(_square_of_difference(2), bits=BITS)
    yield at_most(abs(constant - Fraction(753, 1000)), Fraction(1, 2000), "m = 2")


@claim(
    "KJ-Thm30-breg",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, the use of [27, Theorem 10]",
    kind=INEQUALITY,
    expected=VACUOUS,
    says=r"ℓ_NDCG(s, r) ≤ (C_F/√C_S) √ℓ_sq(s, η(r)), C_F = 2‖D‖₂, C_S = 2. **ℓ_NDCG ≤ 0** ≤ the right side for all s.",
    instances=worst_orders,
    exhaustive=True,
    knobs={"added": 0},
    mutants={"the regret 1 + ℓ_NDCG": {"added": 1}},
    note="The regret is what is bounded in [27]: KJ-Thm30-breg+.",
    cost=0.1,
)
def loss_against_distance(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Whether the loss of the worst order is ≤ 0 already."""
    worst = trial["added"] + _worst_loss(instance["gains"])
    if len(set(instance["gains"])) > 1:
        yield vacuous(worst.high <= 0, "the left side is ≤ 0, the right one is ≥ 0", evidence=EXACT)


def printed_instances(trial: Trial) -> Iterator[Instance]:
    """Two to four documents; a steep discount, in which the constant is nearly reached."""
    for m in range(2, 5):
        for r in lists(m, 2):
            v = gains(r)
            if v != descending(v):
                yield {"sorted": descending(v), "placed": v, "scores": nearest_descending(v)}


@claim(
    "KJ-Thm30-breg+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, the use of [27, Theorem 10], for the regret",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"**1 + ℓ_NDCG**(s, r) ≤ (C_F/√C_S) √ℓ_sq(s, η(r)) = √2 ‖D‖₂ ‖s − η(r)‖₂, C_F = 2‖D‖₂, C_S = 2: ‖D − rev D‖² = 2‖D‖² − 2⟨D, rev "
    r"D⟩ < 2‖D‖² because D > 0. (All lists of two to four documents with grades 0 to 2, in all orders, nearest scores.)",
    remains="lists of more than four documents and higher grades: KJ-Thm30+ for all m",
    instances=printed_instances,
    exhaustive=True,
    knobs={"constant": Fraction(2)},
    mutants={"(1/4) ‖D‖₂": {"constant": Fraction(1, 16)}},
    note="√2‖D‖ is never attained with F = log(1 + t): it is 3.2 times ‖D − rev D‖ at m = 2, twice at m = 100, and the ratio tends to "
    "infinity like log m (KJ-Thm30-growth). For positive discounts in general √2 cannot be improved: D = (1, θ, …), θ → 0.",
    cost=0.6,
)
def regret_by_the_printed_constant(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The printed constant for the regret."""
    regret, distance, nearest = _regret_and_distance(instance)
    square = trial["constant"] * total(d**2 for d in discounts(len(instance["placed"])))
    yield at_most(regret**2, square * distance, "regret²").given(*nearest)


def long_lists(trial: Trial) -> Iterator[Instance]:
    """m = 2, 4, …, 2^20."""
    yield {"m": [2**k for k in range(1, 21)]}


@claim(
    "KJ-Thm30-growth",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 30, ours: dependence on m",
    kind=RATE,
    expected=HOLDS,
    says=r"For F = log(1 + t) and all m, ‖D − rev D‖² ≤ 32(m + 1)/log⁴(m + 1) + (4/log² 2) √(m + 1): the regret is O(**√m/log² m**) √ℓ_sq, "
    r"where the theorem has √(m/log m). (m = 2, 4, …, 2^20; slope of ‖D − rev D‖ log² m/√m beyond 2^12.)",
    instances=long_lists,
    knobs={"long": 32.0, "short": 4.0},
    mutants={"3(m + 1)/log⁴(m + 1) alone": {"long": 3.0, "short": 0.0}},
    note="D − rev D = (D − c) − rev(D − c) with c = 1/log(m + 1), so that ‖D − rev D‖ ≤ 2‖D − c‖; D_t − c = log((m + 1)/(t + 1))/(log(t "
    "+ 1) log(m + 1)) is at most 1/log 2, and at most 2 log((m + 1)/(t + 1))/log²(m + 1) for t + 1 ≥ √(m + 1), where Σ log²((m + 1)/(t + "
    "1)) ≤ 2(m + 1). In the limit ‖D − rev D‖ log² m/√m → π/√3. By KJ-Thm30-sharp the order is exact.",
    cost=0.5,
)
def growth_of_the_best_constant(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The bound at all sizes, and that the ratio does not grow."""
    found = []
    for m in instance["m"]:
        D = 1.0 / np.log1p(np.arange(1, m + 1))
        found.append(float(np.sum((D - D[::-1]) ** 2)))
        bound = trial["long"] * (m + 1) / np.log(m + 1.0) ** 4 + trial["short"] * np.sqrt(m + 1.0) / np.log(2.0) ** 2
        yield at_most(found[-1], bound, f"‖D − rev D‖², m = {m}", scale=bound)
    m, squares = np.array(instance["m"][11:], dtype=float), np.array(found[11:])
    yield rate(m, squares * np.log(m) ** 4 / m, 0.0, tolerance=0.01, name="‖D − rev D‖² log⁴ m/m against m")
