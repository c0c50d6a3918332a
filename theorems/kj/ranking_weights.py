r"""Theorem 31: good kernels are good similarities for ranking; the weights 2mC(r_i − f_i) of the regularised optimum, and their bounds.

A competitor W has the loss ε_0 = m Σ μ (f − r̃)² (plus a constant that both sides share) and the margin γ = 1/‖W‖; then C = 1/(2ε_1γ²) as
in the paper, or half of it (KJ-Thm31-e-sharp).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import (
    CONSTANT,
    EXISTENCE,
    HOLDS,
    INEQUALITY,
    KAR_JAIN,
    REFUTED,
    Check,
    Instance,
    Trial,
    at_least,
    at_most,
    claim,
    inputs,
    rational,
    root,
)
from simopt.theorems.kj.admissible_weights import mapped
from simopt.theorems.kj.ranking_optimum import HALF, domains, loss, one_point, optimum
from simopt.theorems.kj.relevance_lists import BITS

SECTION = "ordinal"
TURN = Fraction(8483, 10000)  # above 4/(5 − 2√2)² = 0.84823…


def small_strengths(trial: Trial) -> Iterator[Instance]:
    """mC = 1/2 for the printed step; K = r = 1 at mC = 1/20 for the weights."""
    yield one_point("1/2")
    yield one_point("1/20")


def large_strengths(trial: Trial) -> Iterator[Instance]:
    """mC from 0.85 on."""
    for x in ("17/20", "9/8", "2", "50"):
        yield one_point(x)


@claim(
    "KJ-Thm31-d",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31: |α_i| ≤ 5μ_i mC√(mC)",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=CONSTANT,
    says=r"For every mC > 0, 2mCμ_i(1 + √(2mC)) ≤ 5μ_i(mC)^{3/2}, so that |w_i| ≤ 5(mC)^{3/2} where |r| ≤ 1 and K(z, z) ≤ 1.",
    instances=small_strengths,
    knobs={},
    mutants={"mC ≥ 17/20": {"instances": large_strengths}},
    note="At mC = 1/2: 2 > 1.77. The weights themselves fail at K = r = 1, mC = 1/20: w = 1/11 = 0.0909 > 0.0559. Theorem 31 is not "
    "touched where γ ≤ 1 (KJ-Thm31).",
)
def printed_bound_of_weights(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The squares: 4x²(1 + √(2x))² where √(2x) is rational, or the weights, against 25x³."""
    x = instance["x"]
    largest = max(map(abs, optimum(instance).weights))
    yield at_most(largest**2, 25 * x**3, "w²")
    if x == HALF:
        yield at_most(inputs(x=x) ** 2 * 16, 25 * inputs(x=x) ** 3, "4x²(1 + √(2x))² at √(2x) = 1")


def turning_point(trial: Trial) -> Iterator[Instance]:
    """mC just above 4/(5 − 2√2)², and just below."""
    yield {"x": TURN}


@claim(
    "KJ-Thm31-d+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31: |α_i| ≤ 5μ_i mC√(mC), with its condition",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"2mCμ_i(1 + √(2mC)) ≤ 5μ_i(mC)^{3/2} iff **mC ≥ 4/(5 − 2√2)² = 0.8482**, that is ε_1γ² ≤ 0.589m for C = 1/(2ε_1γ²): 5√x − 2(1 + "
    r"√(2x)) = (5 − 2√2)√x − 2 grows, is positive at 0.8483 and negative at 0.8482.",
    instances=turning_point,
    exhaustive=True,
    knobs={"shift": Fraction(0)},
    mutants={"from 0.8473 on": {"shift": Fraction(1, 1000)}},
    corrects="KJ-Thm31-d",
    note="With ‖W'‖ ≤ √(mC/2) the condition becomes mC ≥ 0.3111 (KJ-Thm31-d-sharp).",
)
def condition_of_the_printed_bound(instance: Instance, trial: Trial) -> Iterator[Check]:
    """5√x − 2(1 + √(2x)) above and below."""
    x = inputs(x=instance["x"])
    above, below = x - trial["shift"], x - Fraction(1, 10000)
    yield at_most(2 * (1 + root(2 * above, bits=BITS)), 5 * root(above, bits=BITS), "x = 0.8483", strict=True)
    yield at_least(2 * (1 + root(2 * below, bits=BITS)), 5 * root(below, bits=BITS), "x = 0.8482", strict=True)


@claim(
    "KJ-Thm31-d-sharp",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31, ours: weights with half the norm",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If 0 ≤ r ≤ 1 and K(z, z) ≤ 1, |w_i| ≤ **2mC(1 + √(mC/2))** for every mC > 0, and so |w_i| ≤ 5(mC)^{3/2} for **mC ≥ 5/16**, "
    r"that is ε_1γ² ≤ 1.6m. (Exactly, on random domains; Φ = ±1, the rarer one with w = 2mC(1 + 2mC/(1 + 2mC)), nearly attains it at mC = "
    r"1/2.)",
    instances=domains,
    knobs={"half": HALF, "cube": Fraction(25)},
    mutants={"2mC(1 + √(mC/8))": {"half": Fraction(1, 8)}, "√24 (mC)^{3/2}": {"cube": Fraction(24)}},
    note="2(1 + √(x/2)) ≤ 5√x iff (5 − √2)√x ≥ 2, x ≥ 0.3111. w_i = 2mC(r_i − f_i), |f_i| ≤ ‖W'‖.",
    cost=0.4,
)
def weights_with_half_the_norm(instance: Instance, trial: Trial) -> Iterator[Check]:
    """max |w| against both."""
    x, largest = instance["x"], max(map(abs, optimum(instance).weights))
    yield at_most(largest, 2 * x * (1 + root(rational(trial["half"] * x), bits=BITS)), "max |w|")
    if x >= Fraction(5, 16):
        yield at_most(largest**2, trial["cube"] * x**3, "max |w|², 25x³")


def admitted(trial: Trial) -> Iterator[Instance]:
    """The domains with competitors W' of 8C, C a number a list and m = 1, …, 4; mC ≥ 5/16."""
    for k, made in enumerate(domains(trial)):
        if made["x"] >= Fraction(5, 16):
            yield made | {"m": 1 + k % 4, "alone": len(made["masses"]) == 1}


def wide_margins(trial: Trial) -> Iterator[Instance]:
    """One point, K = r = 1, W* = 1 with γ = 100, so that ε_0 = m (1 − 1/γ)²; m = 2 and ε_1 = 1/50: mC = 1/200."""
    yield one_point("1/200") | {"m": 2, "alone": True, "gamma": Fraction(100)}


def _competitor(instance: Instance, part: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """ε_0/m and 1/γ² of the competitor, and ε_1/m for C = part/(ε_1γ²), mC = x."""
    if "gamma" in instance:
        inverse = 1 / instance["gamma"] ** 2
        level = loss(instance, [1 / instance["gamma"]])
    else:
        other = optimum(instance, 8 * instance["x"])
        level, inverse = loss(instance, other.predictions), other.square
    return level, inverse, part * inverse / instance["x"]


@claim(
    "KJ-Thm31",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 31",
    kind=EXISTENCE,
    expected=HOLDS,
    says=r"Let **K(z, z) ≤ 1** and **ε_1γ² ≤ 1.6m**. A kernel that is (ε_0, γ)-good for ranking (‖W*‖ ≤ 1, E ℓ_sq ≤ ε_0) is (ε_0 + ε_1, "
    r"B)-good as a similarity with B = 5(m/(2ε_1γ²))^{3/2} = O(m√m/(ε_1√ε_1γ³)): w = 2mC(r̃ − f), C = 1/(2ε_1γ²). (Exactly, on random "
    r"domains, lists of one to four; ε_0 and γ of the optimum for 8C.)",
    instances=admitted,
    knobs={"square": Fraction(25)},
    mutants={"γ = 100": {"instances": wide_margins}, "√24 in the place of 5": {"square": Fraction(24)}},
    note="The paper's own steps need ε_1γ² ≤ 0.589m (KJ-Thm31-d+), ours 1.6m (KJ-Thm31-d-sharp). For γ ≤ 1 neither matters where m ≥ 2: "
    "ε_1 ≥ 1 ≥ E ‖η‖² is reached by w = 0. For γ → ∞ it fails, as an O(·) too (KJ-Thm31-wide). |r̃| ≤ 1 is a fact (KJ-F-eta). Not sharp: "
    "KJ-Thm31-better.",
    cost=0.4,
)
def good_kernels_rank_well(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Loss and size of the weights; on one point, the least loss that weights within the bound have."""
    x, found = instance["x"], optimum(instance)
    level, _, added = _competitor(instance, HALF)
    square = trial["square"] * x**3
    charges = [p * w for p, w in zip(instance["masses"], found.weights, strict=True)]
    f = mapped(instance["gram"], charges)
    if instance["alone"]:
        bound = root(rational(square), bits=BITS)
        reached = (1 - bound) ** 2 if square < 1 else rational(0)
        yield at_most(reached, level + added, "least loss on one point")
    if "gamma" not in instance:
        yield at_most(loss(instance, f), level + added, "E ℓ_sq/m")
        yield at_most(max(map(abs, found.weights)) ** 2, square, "w²")


def compared(trial: Trial) -> Iterator[Instance]:
    """The domains, all mC."""
    for k, made in enumerate(domains(trial)):
        yield made | {"m": 1 + k % 4}


@claim(
    "KJ-Thm31-better",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 31, ours: a smaller bound",
    kind=EXISTENCE,
    expected=HOLDS,
    says=r"Let K(z, z) ≤ 1. A kernel that is (ε_0, γ)-good for ranking is (ε_0 + ε_1, B)-good as a similarity for **every** ε_1 > 0 with "
    r"**B = (m/(2ε_1γ²))(1 + (1 + √(1 + ε_0/ε_1))/(2γ))**, less than half of (m/(ε_1γ²))(1 + √(1 + ε_0/ε_1)/γ): O(m/(ε_1γ³)) for ε_0 ≤ "
    r"ε_1, where the theorem has (m/ε_1)^{3/2}/γ³. (Exactly, on random domains.)",
    instances=compared,
    knobs={"constant": Fraction(1, 2)},
    mutants={"m/(3ε_1γ²)": {"constant": Fraction(1, 3)}},
    note="C = 1/(4ε_1γ²) by KJ-Thm31-e-sharp. ⟨W', W' − a⟩ ≤ C(L(a) − L(W')) ≤ Cε_0 for a = W*/γ, because −W' is the gradient of CL at "
    "W', so that ‖W'‖ ≤ ‖a‖/2 + √(‖a‖²/4 + Cε_0) = (1 + √(1 + ε_0/ε_1))/(2γ), and |w| ≤ 2mC(1 + ‖W'‖). The order "
    "m/(ε_1γ³) is needed: KJ-Thm31-lower.",
    cost=0.4,
)
def smaller_bound_of_weights(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Loss and weights of the optimum for C = 1/(4ε_1γ²); ε_0 and γ of the optima for C/2, 4C and 16C."""
    x, m, found = instance["x"], instance["m"], optimum(instance)
    best = loss(instance, found.predictions)
    for factor in (HALF, Fraction(4), Fraction(16)):
        other = optimum(instance, factor * x)
        if not other.square:
            continue
        level, inverse = loss(instance, other.predictions), other.square
        added = inverse / (4 * x)  # ε_1/m
        yield at_most(best, level + added, "E ℓ_sq/m")
        grown = 1 + root(1 + rational(level / added), bits=BITS)
        front = rational(trial["constant"] * inverse / added)  # m/(ε_1γ²) = (1/γ²)/(ε_1/m)
        bound = front * (1 + grown * root(rational(inverse), bits=BITS) / 2)
        yield at_most(max(map(abs, found.weights)), bound, f"max |w|, m = {m}")
