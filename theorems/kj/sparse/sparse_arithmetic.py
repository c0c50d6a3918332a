r"""Arithmetic in Appendix D: how many weights are not 0, how long the features are, and the sum at the end of Theorem 23."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.sparse.sparse_landmarks import logarithm

SECTION = "regression"


@claim(
    "KJ-Thm9-p6",
    paper=KAR_JAIN,
    section=SECTION,
    place="After Lemma 22: Lemma 16 would give √(d/n)",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"For the unscaled Ψ = (K(·, x_1), …, K(·, x_d)), |K| ≤ 1: d − ‖Ψ‖₂² = Σ (1 − ψ_i)(1 + ψ_i) ≥ 0, with equality for K = ±1; so "
    r"C_X = √d, C_W = B (‖w‖₂ ≤ ‖w‖₁) in Lemma 16, a bound of order B√(d/n). (In symbols, term by term.)",
    instances=lambda trial: iter([{}]),
    exhaustive=True,
    knobs={"power": 2},
    mutants={"Σ |ψ_i|³": {"power": 3}},
)
def length_of_the_features(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity."""
    (psi,) = symbols("psi")
    yield equal(1 - psi ** trial["power"], (1 - psi) * (1 + psi), "d − ‖Ψ‖², one term")


def sizes(trial: Trial) -> Iterator[Instance]:
    """B/ε, τ and δ."""
    for ratio in (1, 3, 10, 100):
        for tau in (Fraction(1, 2), Fraction(1, 1000)):
            for delta in (Fraction(1, 2), Fraction(1, 10**6)):
                yield {"ratio": ratio, "tau": tau, "delta": delta}


@claim(
    "KJ-Thm9c",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 9, O(τ)-sparse",
    kind=RATE,
    expected=HOLDS,
    says=r"With d = ⌈1024 B² log(1/δ)/(τε²)⌉ (so that 32B √(log(1/δ)/τd) ≤ ε) and k = ⌈8B²/ε²⌉ for ε ≤ B, the share of non-zero weights "
    r"is k/d ≤ 9τ/(1024 log(1/δ)) = O(τ).",
    instances=sizes,
    knobs={"constant": Fraction(9)},
    mutants={"7τ/(1024 log(1/δ))": {"constant": Fraction(7)}},
)
def share_of_weights(instance: Instance, trial: Trial) -> Iterator[Check]:
    """k/d."""
    ratio, tau, level = instance["ratio"], instance["tau"], logarithm(1 / instance["delta"])
    d = math.ceil(1024 * ratio**2 * Fraction(level.high) / tau)
    yield at_most(Fraction(8 * ratio**2, d), trial["constant"] * tau / (1024 * level), f"k/d, d = {d}")


def one(trial: Trial) -> Iterator[Instance]:
    """One instance without data."""
    yield {}


@claim(
    "KJ-Thm9-p4",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Theorem 23, the sum of the two last terms",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=TYPO,
    says=r"B√(L/n) + B√(L/2n) ≤ 2B√(L/2n), L = log(1/δ).",
    instances=one,
    exhaustive=True,
    knobs={"factor": 2},
    mutants={"with 2√2": {"factor": 3}},
    note="1 + 1/√2 = 1.707 > 1.414 = 2/√2. In the same sentence 'with probability at most 1 − 3δ' should be 'at least'; and R_emp(ŵ) ≤ … "
    "+ ε_2 should have 3ε_2/2.",
)
def printed_sum(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Coefficients of B√(L/n)."""
    yield at_most(1 + 1 / root(2), trial["factor"] / root(2), "1 + 1/√2")


@claim(
    "KJ-Thm9-p4+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Theorem 23, the sum of the two last terms, corrected",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"The sum is (1 + √2) B√(L/2n). With the ranges of the losses (KJ-Thm9-p2+, KJ-L22+) the terms are B√(2L/n) and 2B√(L/2n), each "
    r"r B√(L/n) with r² = 2: r + 2/r = 2r + (2 − r²)/r, so 2B√(2L/n).",
    instances=one,
    exhaustive=True,
    knobs={"factor": 2},
    mutants={"B√(2L/n)": {"factor": 1}},
    corrects="KJ-Thm9-p4",
)
def corrected_sum(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both sums; s = √(L/2n), so that √(L/n) = rs."""
    r, s = symbols("r s")
    yield equal(r * s + s, (1 + r) * s, "as printed")
    yield equal(r + 2 / r, trial["factor"] * r + (2 - r**2) / r, "with the ranges")
