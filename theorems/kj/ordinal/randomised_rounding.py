r"""The best bound on the ordinal error from the margin loss, and the learner that has it: a score in [0, r − 1], rounded at random.

For α, κ ≥ 0 let S(f) = max_y (y − 1) − α − κ[γ + b_y − f]_+, at least 0. If m ≤ 2α + κ(2γ + (m − 1)Δ) for m = 1, …, r − 1, then
|S(f) − (y − 1)| ≤ α + κh(f, y) for all f and y (KJ-Thm13-rounding), and the label 1 + ⌊S⌋ + Bernoulli(S − ⌊S⌋) has that ordinal error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from simopt.claims import *
from simopt.theorems.kj.ordinal.ordinal_worlds import HALF, ONE, ZERO, Numbers, goodness, least_absolute, one_cell

SECTION = "ordinal"


def best_lines(gamma: Fraction, delta: Fraction, labels: int) -> list[tuple[Fraction, Fraction]]:
    """Pairs (α, κ): the error is ≤ α + κ ε_0 for each, and no bound in ε_0, γ, Δ, r only is smaller than their minimum and (r − 1)/2."""
    if labels == 2 or delta >= 2 * gamma:
        steep = [(ZERO, 1 / (2 * gamma))]
        return steep + ([(HALF - gamma / delta, 1 / delta)] if delta > 0 and labels > 2 else [])
    return [(ZERO, (labels - 1) / (2 * gamma + (labels - 2) * delta))]


def guaranteed(value: Fraction, gamma: Fraction, delta: Fraction, labels: int) -> Fraction:
    """The best bound at ε_0."""
    return min(Fraction(labels - 1, 2), *(alpha + kappa * value for alpha, kappa in best_lines(gamma, delta, labels)))


def score(f: Fraction, thresholds: Numbers, gamma: Fraction, alpha: Fraction, kappa: Fraction) -> Fraction:
    """S(f)."""
    below = (i + 1 - alpha - kappa * max(gamma + b - f, ZERO) for i, b in enumerate(thresholds))
    return max(ZERO, *below)


def rounded(f: Fraction, thresholds: Numbers, gamma: Fraction, alpha: Fraction, kappa: Fraction) -> dict[int, Fraction]:
    """Chances of 1 + ⌊S⌋ + Bernoulli(S − ⌊S⌋)."""
    s = score(f, thresholds, gamma, alpha, kappa)
    low = math.floor(s)
    return {1 + low: 1 - (s - low), 2 + low: s - low}


def thirds(labels: int, m: int, share: Fraction, gamma: Fraction, delta: Fraction) -> Instance:
    """K ≡ 1, labels 1, 1 + m and 2 + m with chances 1/2, share/2 and (1 − share)/2, f = b_2."""
    return one_cell({1: HALF, 1 + m: share / 2, 2 + m: (1 - share) / 2}, labels, ZERO, gamma, delta)


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm13-rounding",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ordinal error, ours: the learner",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"Let **b_{j+1} ≥ b_j + Δ**, α, κ ≥ 0 and m ≤ 2α + κ(2γ + (m − 1)Δ) for m = 1, …, r − 1. Then S(f) = max(0, max_y (y − 1) − α − "
    r"κ[γ + b_y − f]_+) has |S − (y' − 1)| ≤ α + κh(f, y') for all f, y', and 0 ≤ S ≤ r − 1. From below: S is one of these terms at "
    r"least, and h one of its hinges. From above, every term: for m = y − y' > 0, with slacks s_1, s_2, s_3 ≥ 0 of two hinges and of b_y "
    r"− b_{y'+1} ≥ (m − 1)Δ, (y' − 1) + α + κ[γ + f − b_{y'+1}]_+ − ((y − 1) − α − κ[γ + b_y − f]_+) = 2α + κ(2γ + (m − 1)Δ) − m + κ(s_1 "
    r"+ s_2 + s_3); for y ≤ y' it is 2α + (y' − y) and both hinges. Rounded at random, E |ŷ − y| = |S − (y − 1)|. (In symbols.)",
    instances=once,
    exhaustive=True,
    knobs={"margins": 2},
    mutants={"γ in the place of 2γ": {"margins": 1}},
    note="Each y asks S to be in an interval; intervals that meet in pairs meet. By the minimax theorem no rule that sees f only has a "
    "smaller bound than the chances of labels allow (KJ-Thm13b-best).",
)
def scores_meet_all_intervals(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The difference of the ends; the error of random rounding on either side."""
    alpha, kappa, gamma, delta, f, lower, m, first, second, third = symbols("alpha kappa gamma delta f lower m s_1 s_2 s_3")
    upper = lower + (m - 1) * delta + third  # b_y from b_{y'+1}
    above = alpha + kappa * ((gamma + f - lower) + first)
    below = m - alpha - kappa * ((gamma + upper - f) + second)  # both from y' − 1
    room = 2 * alpha + kappa * (trial["margins"] * gamma + (m - 1) * delta) - m
    yield equal(above - below, room + kappa * (first + second + third), "upper end of y' minus lower end of y > y'")
    over, under, less, r, y = symbols("over under less r y")  # hinges ≥ 0, less = y' − y ≥ 0
    yield equal((less + alpha + kappa * over) - (0 - alpha - kappa * under), 2 * alpha + less + kappa * (over + under), "the same, y ≤ y'")
    yield equal((r - 1) - ((y - 1) - alpha - kappa * under), (r - y) + alpha + kappa * under, "r − 1 minus a term of S")
    yield equal(alpha + kappa * (under + over) - (alpha + kappa * under), kappa * over, "h is at least each of its hinges")
    k, t = symbols("k t")  # S = n + t, 0 ≤ t < 1; y − 1 = n − k, or n + 1 + k
    yield equal((1 - t) * k + t * (k + 1), k + t, "E |ŷ − y|, y − 1 ≤ ⌊S⌋")
    yield equal((1 - t) * (k + 1) + t * k, (k + 1) - t, "E |ŷ − y|, y − 1 > ⌊S⌋")


@claim(
    "KJ-Thm13b+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ordinal error, corrected",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"**If Δ ≥ γ̄, Δ ≥ 2(γ̄ − γ) and b_{j+1} ≥ b_j + Δ**, K is ψ_{Δ/γ̄}(ε_0/γ̄)-useful for the absolute error: α = 1 − γ̄/Δ, κ = 1/Δ "
    r"in KJ-Thm13-rounding, where 2α + κ(2γ + (m − 1)Δ) − m = (Δ − 2(γ̄ − γ))/Δ for every m, and α + κε_0 = ψ_{Δ/γ̄}(ε_0/γ̄). For γ ≥ 1/2 "
    r"the condition is Δ ≥ γ̄; for γ < 1/2 it is Δ ≥ 2(1 − γ). (In symbols.)",
    remains="from the identity to 'useful': the bound of KJ-Thm13-rounding, and how f and b are learned (KJ-Thm13e, statistical)",
    instances=once,
    exhaustive=True,
    knobs={"times": 2},
    mutants={"Δ ≥ γ̄ − γ": {"times": 1}},
    corrects="KJ-Thm13b",
    note="Elsewhere it is false (KJ-Thm13b-where). It needs this learner, or thresholds shifted by a common u with density 1/Δ on |u| ≤ "
    "γ̄ − γ and u = 0 else: the thresholds as learned do not do (KJ-Thm13a-plain). How f and b are learned: KJ-Thm13e.",
)
def where_the_theorem_holds(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The condition of the learner; the bound; 2(1 − γ) ≤ 1 iff γ ≥ 1/2."""
    gamma, larger, delta, m, value = symbols("gamma larger delta m value")
    alpha, kappa = 1 - larger / delta, 1 / delta
    room = 2 * alpha + kappa * (2 * gamma + (m - 1) * delta) - m
    yield equal(room, (delta - trial["times"] * (larger - gamma)) / delta, "room")
    spacing, x = delta / larger, value / larger
    yield equal(alpha + kappa * value, (x + spacing - 1) / spacing, "ψ")
    yield equal(alpha, (delta - larger) / delta, "α")
    yield equal(1 - 2 * (1 - gamma), 2 * (gamma - HALF), "γ̄ = 1")


@claim(
    "KJ-Thm13b-rounding",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ordinal error, ours: the best bound",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"For all γ > 0, Δ ≥ 0, r ≥ 2 and thresholds **b_{j+1} ≥ b_j + Δ**, K is φ(ε_0)-useful for the absolute error: Δ ≥ 2γ: φ = "
    r"min{ε_0/2γ, 1/2 + (ε_0 − γ)/Δ}; Δ ≤ 2γ: φ = ε_0 (r − 1)/(2γ + (r − 2)Δ) ≤ ε_0/Δ. In KJ-Thm13-rounding 2α + κ(2γ + (m − 1)Δ) − m is "
    r"(m − 1)(Δ − 2γ)/2γ, 0, and (r − 1 − m)(2γ − Δ)/(2γ + (r − 2)Δ). So φ ≤ ε_0/min(2γ, Δ). (In symbols.)",
    remains="from the identity to 'useful': the bound of KJ-Thm13-rounding, and how f and b are learned (KJ-Thm13e, statistical)",
    instances=once,
    exhaustive=True,
    knobs={"extra": 0},
    mutants={"γ + (r − 2)Δ + 2γ": {"extra": 1}},
    note="The proof's 1 + (ε_0 − γ)/Δ for Δ ≥ γ, and ε_0/min(γ, Δ), are larger. Nothing is smaller (KJ-Thm13b-best).",
)
def best_rounding(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The three conditions; φ against ε_0/Δ, and against each other at ε_0 = γ."""
    gamma, delta, m, r = symbols("gamma delta m r")
    reach = 2 * gamma + (r - 2) * delta + trial["extra"] * gamma

    def room(alpha: Any, kappa: Any) -> Any:
        return 2 * alpha + kappa * (2 * gamma + (m - 1) * delta) - m

    yield equal(room(0, 1 / (2 * gamma)), (m - 1) * (delta - 2 * gamma) / (2 * gamma), "ε_0/2γ")
    yield equal(room(HALF - gamma / delta, 1 / delta), 0 * m, "1/2 + (ε_0 − γ)/Δ")
    yield equal(room(0, (r - 1) / reach), (r - 1 - m) * (2 * gamma - delta) / (2 * gamma + (r - 2) * delta), "ε_0 (r − 1)/(2γ + (r − 2)Δ)")
    yield equal(1 / delta - (r - 1) / (2 * gamma + (r - 2) * delta), (2 * gamma - delta) / (delta * (2 * gamma + (r - 2) * delta)), "ε_0/Δ")


def sharp(trial: Trial) -> Iterator[Instance]:
    """r ≤ 7, margins, spacings; labels 1 and r, 1 and 2 for small ε_0, three labels for larger."""
    spacings = (ZERO, Fraction(1, 10), ONE, Fraction(2), Fraction(7, 2))
    for labels, gamma, delta in product((2, 3, 4, 7), (Fraction(1, 5), ONE, Fraction(5, 3)), spacings):
        top = labels if delta < 2 * gamma else 2
        for p in (Fraction(1, 50), Fraction(1, 3), HALF):
            yield one_cell({1: 1 - p, top: p}, labels, -gamma, gamma, delta)
        for m in range(1, labels - 1) if delta >= 2 * gamma else ():
            for share in (ZERO, Fraction(1, 3), ONE):
                yield thirds(labels, m, share, gamma, delta)


@claim(
    "KJ-Thm13b-best",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ordinal error, ours: the best bound cannot be improved",
    kind=TIGHTNESS,
    expected=HOLDS,
    says=r"For all γ > 0, Δ ≥ 0, r ≥ 2 and every ε_0 that is not above the margin loss of f = b_2 with y = 1 and y = r equally likely, "
    r"there is a problem (K ≡ 1, every B) of that ε_0 on which every learner has an absolute error ≥ φ(ε_0) (KJ-Thm13b-rounding): labels "
    r"1 and 2 (Δ ≥ 2γ) or 1 and r (Δ ≤ 2γ) for p ≤ 1/2; for Δ ≥ 2γ and ε_0 ≥ γ labels 1, 1 + m, 2 + m. (Exactly for 60 triples; the error "
    r"at the end is (r − 1)/2, beyond which it never goes.)",
    instances=sharp,
    knobs={"times": ONE},
    mutants={"1001/1000 of φ": {"times": Fraction(1001, 1000)}},
    note="The profile in ε_0 is concave and linear between these points, which chances of labels mix. So ε_0/min(2γ, Δ) is sharp for Δ ≥ "
    "2γ, and as r → ∞ for Δ < 2γ.",
    cost=0.3,
)
def nothing_better(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The least error of any learner against φ(ε_0), exactly."""
    bound = guaranteed(goodness(instance), instance["gamma"], instance["delta"], instance["labels"])
    yield at_least(least_absolute(instance), trial["times"] * bound, "absolute error of every learner")


@claim(
    "KJ-Thm13b-all",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ordinal error, ours: the best bound cannot be improved, for all parameters",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"With K ≡ 1: (1) labels 1 and 1 + m, the second with p ≤ 1/2, thresholds Δ apart, f = b_2 − γ: ε_0 = p(2γ + (m − 1)Δ), label 1 "
    r"+ j has error pm + j(1 − 2p), and κε_0 = pm for κ = m/(2γ + (m − 1)Δ): m = 1 for Δ ≥ 2γ, m = r − 1 for Δ ≤ 2γ. (2) Labels 1, 1 + m "
    r"and 2 + m, with 1/2, q/2, (1 − q)/2, f = b_2: ε_0 = γ + (m − q)Δ/2, the error of labels 1 to 1 + m is (m + 1 − q)/2 = 1/2 + (ε_0 − "
    r"γ)/Δ. (In symbols.)",
    remains="that these losses are those of the f named, and that no predictor does better where K ≡ 1",
    instances=once,
    exhaustive=True,
    knobs={"reach": 2},
    mutants={"f = b_2": {"reach": 1}},
    note="As p and q vary, all ε_0 ≤ γ, or all up to the end for Δ ≤ 2γ, and all ε_0 from γ + (m − 1)Δ/2 to γ + mΔ/2 occur.",
)
def nothing_better_in_symbols(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ε_0 and the errors of the two families."""
    gamma, delta, m, j, p, q = symbols("gamma delta m j p q")
    far = trial["reach"] * gamma + (m - 1) * delta  # h of label 1 + m, with h = 0 of label 1
    yield equal(m / (2 * gamma + (m - 1) * delta) * (p * far), p * m, "κε_0")
    yield equal((1 - p) * j + p * (m - j), p * m + j * (1 - 2 * p), "error of label 1 + j")
    value = gamma / 2 + q / 2 * (gamma + (m - 1) * delta) + (1 - q) / 2 * (gamma + m * delta)
    yield equal(value, gamma + (m - q) * delta / 2, "ε_0 of three labels")
    error = j / 2 + q / 2 * (m - j) + (1 - q) / 2 * (m + 1 - j)
    yield equal(error, HALF + (value - gamma) / delta, "their error")


@claim(
    "KJ-Thm13d+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Section 3.3, after Theorem 13, corrected",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"If **ε_0 < min(Δ, γ + Δ/2) and b_{j+1} ≥ b_j + Δ**, the ordinal error is ≤ 1 for d and n large enough (and < 1): 1 − (1/2 + "
    r"(ε_0 − γ)/Δ) = (γ + Δ/2 − ε_0)/Δ for Δ ≥ 2γ, where γ + Δ/2 ≤ Δ, and 1 − ε_0/Δ for Δ ≤ 2γ. For all ε_0 < 1 and all r it holds iff Δ ≥ "
    r"1 and Δ ≥ 2(1 − γ). (In symbols.)",
    remains="the bound of KJ-Thm13b-rounding, its learning step (KJ-Thm13e, statistical), and that nothing smaller holds (KJ-Thm13b-best)",
    instances=once,
    exhaustive=True,
    knobs={"part": HALF},
    mutants={"ε_0 < γ + Δ": {"part": ONE}},
    corrects="KJ-Thm13d",
    note="By KJ-Thm13b-rounding; labels 1 and 3 fair, Δ ≥ 2γ, have ε_0 = γ + Δ/2 and error 1, and the profile is increasing there if r ≥ "
    "4; for Δ ≤ 2γ the best bound tends to ε_0/Δ as r grows (KJ-Thm13b-best).",
)
def when_the_error_is_below_one(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both slacks."""
    gamma, delta, value = symbols("gamma delta value")
    yield equal(1 - (HALF + (value - gamma) / delta), (gamma + trial["part"] * delta - value) / delta, "Δ ≥ 2γ")
    yield equal(1 - value / delta, (delta - value) / delta, "Δ ≤ 2γ")
    yield equal(delta - (gamma + delta / 2), (delta - 2 * gamma) / 2, "γ + Δ/2 ≤ Δ")
