r"""Theorem 13 where it fails: 0-1 error for γ < 1/2; ordinal error for Δ < γ̄ and for Δ < 2(1 − γ), γ̄ = max(γ, 1). Every learner, K ≡ 1.

The proof replaces the γ-margin loss by the 1-margin loss, which is larger if γ < 1 (KJ-Thm13-p3). Were it right, then for s > 0 the scores
sf with thresholds sb and margin sγ, ε_0 s, would give errors of order ε_0 s → 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from simopt.claims import *
from simopt.theorems.kj.ordinal.ordinal_worlds import HALF, ONE, ZERO, goodness, least_absolute, least_mislabelled, one_cell
from simopt.theorems.kj.ordinal.randomised_rounding import guaranteed, thirds

SECTION = "ordinal"
TENTH = Fraction(1, 10)


def small_margins(trial: Trial) -> Iterator[Instance]:
    """γ < 1/2: P(y = 2) = 3/10; a fair coin; a rare label; three labels between thresholds that coincide."""
    for gamma, p in ((TENTH, Fraction(3, 10)), (Fraction(49, 100), HALF), (Fraction(1, 4), Fraction(1, 1000))):
        yield one_cell({1: 1 - p, 2: p}, 2, -gamma, gamma, ONE)
    yield one_cell(dict.fromkeys((1, 2, 3), Fraction(1, 3)), 3, ZERO, Fraction(2, 5), ZERO)


@claim(
    "KJ-Thm13a",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, 0-1 error",
    kind=HIGH_PROBABILITY,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"If K is (ε_0, B)-good for ordinal regression with γ-margin loss, **b_2 ≤ … ≤ b_r**, it is (ε_0/γ̄)-useful for the mislabelling "
    r"error, γ̄ = max{γ, 1}.",
    instances=small_margins,
    knobs={"bound": "printed"},
    mutants={"ε_0/2γ": {"bound": "shift"}},
    note="γ < 1/2: K ≡ 1, r = 2, P(y = 2) = p: f = b_2 − γ has margin loss 2γp < p, and every learner, who sees x through K, mislabels p. "
    "γ = 1/10, p = 3/10: 0.06 against 0.3. For 1/2 ≤ γ < 1 the theorem is true, but not of Algorithm 1 as it stands (KJ-Thm13a+, "
    "KJ-Thm13a-plain); ε_0/2γ is true and sharp for all γ (KJ-Thm13a-shift, KJ-Thm13a-best). Without order it fails for γ ≥ 1, too "
    "(KJ-Def12-order).",
)
def mislabelling_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The least mislabelling of any learner against ε_0/γ̄."""
    gamma = instance["gamma"]
    divisor = max(gamma, ONE) if trial["bound"] == "printed" else 2 * gamma
    yield at_most(least_mislabelled(instance), goodness(instance) / divisor, "mislabelling of every learner")


def little_space(trial: Trial) -> Iterator[Instance]:
    """Δ < γ̄: rare far labels, one label only; γ < 1/2 and 1 ≤ Δ < 2(1 − γ): a fair coin, and three labels with ε_0 > γ."""
    yield one_cell({1: Fraction(7, 10), 12: Fraction(3, 10)}, 12, -ONE, ONE, TENTH)
    for gamma, delta in ((Fraction(2), ONE), (HALF, Fraction(9, 10))):
        p = (max(gamma, ONE) - delta) / (2 * gamma)  # ψ = 0
        yield one_cell({1: 1 - p, 2: p}, 3, -gamma, gamma, delta)
    for gamma, delta in ((ONE, HALF), (Fraction(2), ONE), (HALF, Fraction(9, 10))):
        yield one_cell({1: ONE}, 3, -gamma, gamma, delta)
    for gamma, delta in ((Fraction(2, 5), ONE), (Fraction(2, 5), Fraction(119, 100)), (TENTH, Fraction(17, 10))):
        yield one_cell({1: HALF, 2: HALF}, 2, ZERO, gamma, delta)
        yield thirds(4, 1, HALF, gamma, delta)


@claim(
    "KJ-Thm13b",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ordinal error",
    kind=HIGH_PROBABILITY,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"If K is (ε_0, B)-good for ordinal regression with γ-margin loss and Δ-spaced thresholds **in order, b_{j+1} ≥ b_j + Δ**, it is "
    r"ψ_{Δ/γ̄}(ε_0/γ̄)-useful for the absolute error, ψ_Δ(x) = (x + Δ − 1)/Δ, γ̄ = max{γ, 1}: ψ_{Δ/γ̄}(ε_0/γ̄) = 1 + (ε_0 − γ̄)/Δ.",
    instances=little_space,
    knobs={"bound": "printed"},
    mutants={"the best bound": {"bound": "best"}},
    note="γ = 1, Δ = 1/10, r = 12, K ≡ 1, labels 1 (0.7) and 12 (0.3): ε_0 = 0.9, the claim is 0, every learner has 3.3. Δ < γ̄ and ε_0 = "
    "0: the claim is negative. γ < 1/2, 1 ≤ Δ < 2(1 − γ), labels 1 and 2 fair: 1 + (γ − 1)/Δ < 1/2. It is true exactly for Δ ≥ max{γ̄, "
    "2(γ̄ − γ)} (KJ-Thm13b+, KJ-Thm13b-where); the best bound for all γ, Δ and r is KJ-Thm13b-best.",
)
def ordinal_error_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The least absolute error of any learner against ψ."""
    value, gamma, delta = goodness(instance), instance["gamma"], instance["delta"]
    bound = 1 + (value - max(gamma, ONE)) / delta if trial["bound"] == "printed" else guaranteed(value, gamma, delta, instance["labels"])
    yield at_most(least_absolute(instance), bound, "absolute error of every learner")


def below_one(trial: Trial) -> Iterator[Instance]:
    """ε_0 = 9/10: rare far labels; Δ = 1, γ = 1/4, labels 1, 3 and 4."""
    yield one_cell({1: Fraction(7, 10), 12: Fraction(3, 10)}, 12, -ONE, ONE, TENTH)
    yield thirds(4, 2, Fraction(7, 10), Fraction(1, 4), ONE)


def low_enough(trial: Trial) -> Iterator[Instance]:
    """ε_0 = min(Δ, γ + Δ/2) < 1, where the error is 1: labels 1 and 3 fair."""
    for gamma, delta in ((Fraction(1, 4), Fraction(4, 5)), (Fraction(1, 5), HALF)):
        yield one_cell({1: HALF, 3: HALF}, 3, ZERO, gamma, delta)


@claim(
    "KJ-Thm13d",
    paper=KAR_JAIN,
    section=SECTION,
    place="Section 3.3, after Theorem 13; Appendix E.2, the last sentence",
    kind=HIGH_PROBABILITY,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"If ε_0 < 1 with γ-margin loss and Δ-spaced thresholds **in order**, then for d and n large enough the ordinal error is ≤ 1.",
    instances=below_one,
    knobs={},
    mutants={"ε_0 ≤ min(Δ, γ + Δ/2)": {"instances": low_enough}},
    note="γ = 1, Δ = 1/10, r = 12, labels 1 (0.7) and 12 (0.3): ε_0 = 0.9, every learner has 3.3. Also with Δ = 1: γ = 1/4, labels 1, 3, "
    "4 (1/2, 7/20, 3/20): ε_0 = 0.9, 1.15. What is needed is ε_0 ≤ min(Δ, γ + Δ/2) (KJ-Thm13d+).",
)
def error_below_one(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ε_0 < 1; the least absolute error."""
    if goodness(instance) >= 1:
        raise ArithmeticError("ε_0 is not below 1")
    yield at_most(least_absolute(instance), ONE, "absolute error of every learner")


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm13b-where",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, ordinal error, ours: everywhere else it is false",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"Theorem 13 for the ordinal error is false for **all** γ, Δ > 0 with Δ < γ̄ or Δ < 2(γ̄ − γ): (1) one label, f far inside: ε_0 "
    r"= 0 and 0 − ψ = (γ̄ − Δ)/Δ > 0; also where ψ is cut off at 0: y = 2 with p = (γ̄ − Δ)/2γ, else 1, has ε_0 = 2γp and ψ = 0 < p (p = "
    r"1/2 if that is larger); (2) labels 1 and 2 fair, f = b_2: ε_0 = γ, and 1/2 − ψ = (2(γ̄ − γ) − Δ)/2Δ. 0-1 error for all γ < 1/2: the "
    r"same coin, 1/2 − γ. (In symbols. With KJ-Thm13b+ this is where it holds, exactly.)",
    remains="that no predictor does better on these worlds, where K ≡ 1, so that the theorem is false there; and 'iff' with KJ-Thm13b+",
    instances=once,
    exhaustive=True,
    knobs={"share": HALF},
    mutants={"chances 1/4 and 3/4": {"share": Fraction(1, 4)}},
)
def false_everywhere_else(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ε_0 of the coin, both differences."""
    gamma, larger, delta, f, b = symbols("gamma larger delta f b")
    p = trial["share"]
    coin = (1 - p) * (gamma - (b - f)) + p * (gamma - (f - b))
    yield equal(coin, gamma, "ε_0 of the coin, |f − b_2| ≤ γ")
    yield equal(p - (1 + (gamma - larger) / delta), (2 * (larger - gamma) - delta) / (2 * delta), "1/2 − ψ")
    yield equal(0 - (1 + (0 - larger) / delta), (larger - delta) / delta, "0 − ψ")
    rare = (larger - delta) / (2 * gamma)
    yield equal(1 + (2 * gamma * rare - larger) / delta, 0 * delta, "ψ at ε_0 = γ̄ − Δ")


def two_points(trial: Trial) -> Iterator[Instance]:
    """γ, p and η < γ."""
    for gamma, p, eta in product((Fraction(3, 10), HALF, Fraction(4, 5), Fraction(19, 20)), (TENTH, Fraction(2, 5)), (1, 8)):
        yield {"gamma": gamma, "p": p, "eta": gamma / (64 * eta)}


@claim(
    "KJ-Thm13a-plain",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 13, 0-1 error, and Algorithm 1",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"Thresholds as they minimise the margin loss, without a shift, do not reach ε_0/γ̄ if γ < 1, however large the sample: x_A with "
    r"y = 2 and mass 1 − p > 1/2, K(x_A, x_A) = (γ − η)/((1 − p)B), K = 0 else; x_B with y = 1. The only minimiser is f(x_A) = γ − η, b_2 "
    r"= −η: ε_0 = p(γ + η), and x_B, f = 0 ≥ b_2, is mislabelled: p > ε_0/γ̄ for γ + η < 1, and nothing below ε_0/(γ + η) is true of it.",
    instances=two_points,
    knobs={"shift": False},
    mutants={"thresholds shifted": {"shift": True}},
    note="The loss in (f(x_A), b_2) is convex, linear between b = f − γ, b = γ, so least at a crossing or at an end of |f| ≤ γ − η. The "
    "empirical loss tends to it, so does its minimiser. A random shift in [−γ, γ] mislabels ε_0/2γ.",
)
def plain_thresholds_mislabel(instance: Instance, trial: Trial) -> Iterator[Check]:
    """All crossings; the mislabelling at the least of them."""
    gamma: Fraction = instance["gamma"]
    p: Fraction = instance["p"]
    eta: Fraction = instance["eta"]
    top = gamma - eta
    corners = {(f, b) for f in (-top, ZERO, top) for b in (f - gamma, gamma)}

    def loss(f: Fraction, b: Fraction) -> Fraction:
        return (1 - p) * max(gamma - (f - b), ZERO) + p * max(gamma - b, ZERO)

    least = min(loss(*corner) for corner in corners)
    found = [corner for corner in corners if loss(*corner) == least]
    yield equal(Fraction(len(found)), ONE, "minimisers")
    f, b = found[0]
    yield equal(least, p * (gamma + eta), "ε_0")
    if trial["shift"]:
        wrong = (1 - p) * _passed(b - f, gamma) + p * _passed(-b, gamma)
    else:
        wrong = (1 - p) * (f < b) + p * (b <= 0)
    yield equal(wrong, p, "mislabelling")
    yield at_least(wrong, least / max(gamma, ONE), "mislabelling against ε_0/γ̄", strict=True)


def _passed(x: Fraction, gamma: Fraction) -> Fraction:
    """P(x + u > 0), u uniform on [−γ, γ]."""
    return min(max((gamma + x) / (2 * gamma), ZERO), ONE)
