r"""Theorem 31: good kernels are good similarities for ranking; the weights 2mC(r_i − f_i) of the regularised optimum, and their bounds.

A competitor W has the loss ε_0 = m Σ μ (f − r̃)² (plus a constant that both sides share) and the margin γ = 1/‖W‖; then C = 1/(2ε_1γ²) as
in the paper, or half of it (KJ-Thm31-e-sharp).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.goodness.admissible_weights import mapped
from simopt.theorems.kj.ranking.ranking_optimum import HALF, domains, loss, one_point, optimum
from simopt.theorems.kj.ranking.relevance_lists import BITS

SECTION = "ordinal"
TURN = Fraction(8483, 10000)  # above 4/(5 − 2√2)² = 0.84823…


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm31-d",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31: |α_i| ≤ 5μ_i mC√(mC)",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For C = 1/(2ε_1γ²), as it is set at the end, **γ ≤ 1, ε_1 ≤ 1 and m ≥ 2**: 2mCμ_i(1 + √(2mC)) ≤ 5μ_i mC√(mC). For e = ε_1γ² ≤ 1 "
    r"has mC − 1 = ((m − 2) + 2(1 − e))/(2e) ≥ 0, so s = √(mC) ≥ 1, and with q = √2 5s³ − 2s²(1 + qs) = s²((5 − 2q)(s − 1) + (3 − 2q)), "
    r"where 5 > 2q and 3 > 2q. (In symbols; √2 in enclosures.)",
    instances=once,
    exhaustive=True,
    knobs={"constant": 5},
    mutants={"4 in the place of 5": {"constant": 4}},
    note="The hypotheses are those under which the theorem says anything: ε_1 ≥ 1 is reached by w = 0, since E ‖η‖² ≤ 1, and m = 1 is no "
    "ranking. For any C > 0 the step needs mC ≥ 0.8482 (KJ-Thm31-d-all).",
)
def printed_bound_of_weights(instance: Instance, trial: Trial) -> Iterator[Check]:
    """mC ≥ 1; the difference; the signs of 5 − 2√2 and 3 − 2√2."""
    m, e, s, q = symbols("m e s q")
    five = trial["constant"]
    yield equal(m / (2 * e) - 1, ((m - 2) + 2 * (1 - e)) / (2 * e), "mC − 1")
    yield equal(five * s**3 - 2 * s**2 * (1 + q * s), s**2 * ((five - 2 * q) * (s - 1) + (five - 2 - 2 * q)), "the difference")
    for left, name in ((five, "5 > 2√2"), (five - 2, "3 > 2√2")):
        yield at_least(rational(left), 2 * root(2, bits=BITS), name, strict=True)


def strengths(trial: Trial) -> Iterator[Instance]:
    """mC just above and just below 4/(5 − 2√2)²; K = r = 1 at mC = 1/20 for the weights."""
    yield {"x": TURN}
    yield one_point("1/20")


def large_strengths(trial: Trial) -> Iterator[Instance]:
    """K = r = 1 at mC = 1."""
    yield one_point("1")


@claim(
    "KJ-Thm31-d-all",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31, ours: |α_i| ≤ 5μ_i mC√(mC) for every C > 0",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"Asked for every C > 0, which is more than the proof needs, 2mCμ_i(1 + √(2mC)) ≤ 5μ_i(mC)^{3/2} fails for mC < 4/(5 − 2√2)² = "
    r"0.8482, that is for ε_1γ² > 0.589m: (5 − 2√2)√x − 2 grows in x = mC, is positive at 0.8483 and negative at 0.8482. The weights fail "
    r"as well: K = r = 1, mC = 1/20 has w = 1/11 = 0.0909 > 5(mC)^{3/2} = 0.0559.",
    remains="that (5 − 2√2)√x − 2 grows, and that w = 2mC/(1 + 2mC) on the single point",
    instances=strengths,
    exhaustive=True,
    knobs={},
    mutants={"mC = 1": {"instances": large_strengths}},
    note="With ‖W'‖ ≤ √(mC/2) the condition becomes mC ≥ 0.3111 (KJ-Thm31-d-sharp).",
)
def bound_of_weights_at_small_strengths(instance: Instance, trial: Trial) -> Iterator[Check]:
    """5√x − 2(1 + √(2x)) above and below; the weight of one point."""
    x = inputs(x=instance["x"])
    if "gram" in instance:
        yield at_least((2 * x / (1 + 2 * x)) ** 2, 25 * x**3, "w²", strict=True)
        yield equal(max(map(abs, optimum(instance).weights)), 2 * x / (1 + 2 * x), "w")
        return
    below = x - Fraction(1, 10000)
    yield at_most(2 * (1 + root(2 * x, bits=BITS)), 5 * root(x, bits=BITS), "x = 0.8483", strict=True)
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
    note="The paper's own steps need ε_1γ² ≤ 0.589m (KJ-Thm31-d-all), ours 1.6m (KJ-Thm31-d-sharp). For γ ≤ 1 neither matters where m ≥ 2: "
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
