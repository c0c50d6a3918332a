r"""Theorem 13: similarities that are good for ordinal regression are useful for it.

It says: if K is (ε_0, B)-good for ordinal regression with γ-margin loss and thresholds Δ apart, then learners on landmarks have

    (a) a 0-1 error of at most ε_0/γ̄, γ̄ = max(γ, 1);        (b) an ordinal error of at most ψ_{Δ/γ̄}(ε_0/γ̄), ψ_Δ(x) = (x + Δ − 1)/Δ;

and Section 3.3 around it: (c) ψ_Δ ≤ 1; (d) the ordinal error is ≤ 1 if ε_0 < 1; (e) d and n of O((B²/ε_1²) log(1/δ)) are enough.

Which claim checks what (s: in symbols, for all values; e: exactly, on finite problems; d: on samples drawn from finite domains):

    * (a)  KJ-Thm13a refuted (e)     KJ-Thm13a+ if γ ≥ 1/2 (s)
    *      ours                      KJ-Thm13a-shift: ε_0/2γ for all γ (s); KJ-Thm13a-best: no learner has less (e); KJ-Thm13a-plain: not
                                     without a shift of the thresholds (e)
    * (b)  KJ-Thm13b refuted (e)     KJ-Thm13b+ if Δ ≥ γ̄ and Δ ≥ 2(γ̄ − γ) (s); KJ-Thm13b-where: false for all other γ, Δ (s)
    *      ours                      KJ-Thm13-rounding: the best learner (s); KJ-Thm13b-rounding: its bound φ for all γ, Δ (s), which cannot
                                     be improved: KJ-Thm13b-best (e), KJ-Thm13b-all (s); KJ-Thm13b-shift: ε_0/min(2γ, Δ) by a shift (s)
    * (c)  KJ-Thm13c holds (s)
    * (d)  KJ-Thm13d refuted (e)     KJ-Thm13d+ if ε_0 < min(Δ, γ + Δ/2) (s)
    * (e)  KJ-Thm13e holds (d)       if γ + (r − 2)Δ = O(B), which KJ-Thm13e-scale shows to be needed (e); KJ-Thm13-total: constants (d)
    * the proof, Appendix E.2
    *      KJ-Thm13-p1 refuted (e)   loss of f̃ ≤ loss of f + 2ε_1 at a point; KJ-Thm13-p1+ in the mean (e)
    *      KJ-Thm13-p2 holds (e)     what landmarks cost
    *      KJ-Thm13-p3 refuted (e)   1-margin loss for γ-margin loss; KJ-Thm13-p3+ if γ ≥ 1 (s)
    *      KJ-Thm13-p4 holds (s)     a label that is wrong by k costs at least γ + (k − 1)Δ
    *      KJ-Thm13-p5 refuted (e)   a loss above γ is a wrong label; KJ-Thm13-p5+ if Δ ≥ γ (s)
    * all bounds                     KJ-Thm13-worlds: attacked on random problems (e)

As printed it fails: 0-1 error for γ < 1/2; ordinal error for Δ < γ̄ and for Δ < 2(γ̄ − γ); for every learner, with K ≡ 1. The proof replaces
the γ-margin loss by the 1-margin loss, which is larger if γ < 1 (KJ-Thm13-p3). Were it right, then for s > 0 the scores sf with thresholds
sb and margin sγ, ε_0 s, would give errors of order ε_0 s → 0. Everywhere else it holds, of these two learners:

A common random shift of all thresholds: the mislabelling error is ≤ ε_0/2γ, the ordinal error ≤ ε_0/min(2γ, Δ). Scores f and thresholds b
with margin loss h; the label is that of f + u. With u uniform on [−c, c], threshold b_j is passed with chance min(max(1/2 + (f − b_j)/2c,
0), 1). One draw of u serves all points; of finitely many shifts a hold-out finds one that is as good.

A score in [0, r − 1], rounded at random, has the best bound on the ordinal error. For α, κ ≥ 0 let S(f) = max_y (y − 1) − α −
κ[γ + b_y − f]_+, at least 0. If m ≤ 2α + κ(2γ + (m − 1)Δ) for m = 1, …, r − 1, then |S(f) − (y − 1)| ≤ α + κh(f, y) for all f and y
(KJ-Thm13-rounding). The label 1 + ⌊S⌋ + Bernoulli(S − ⌊S⌋) has that ordinal error.

Sizes: scores and thresholds are learned together. Lemma 16 is about scores only; with M = B + γ + (r − 2)Δ,

    E h(f̂, b̂) ≤ ε_0 + (B/√d)(1 + √(2 log(1/δ))) + (12M/√n)(1 + √(2 log(1/δ)))    with probability ≥ 1 − 2δ, for every δ.

Proof. |f| ≤ B, so that b_j may be kept in [−M, M] at no cost: cut b_j off at −(B + γ) − (r − j)Δ and (B + γ) + (j − 2)Δ. There 0 ≤ h ≤ 2M.
The two hinges are 1-Lipschitz in f − b_y and b_{y+1} − f. Rademacher averages: B/√n for f, twice. For thresholds, twice, E sup_b Σ σ_i
b_{y_i} = 2M E max_j Σ_{y_i ≥ j} σ_i ≤ 2M√n. The reasons: monotone b are mixtures of steps, and E max of a walk is ≤ E of its end's size
(reflection). So the mean of the largest gap is ≤ (4B + 8M)/√n ≤ 12M/√n, and McDiarmid adds 2M√(2 log(1/δ)/n). Landmarks: KJ-L15+, h is
1-Lipschitz in f.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise, product
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solving.entry_points import solve
from simopt.theorems.kj.landmarks.landmark_laws import deviations, draws, signs
from simopt.theorems.kj.ordinal.ordinal_worlds import (
    HALF,
    ONE,
    ZERO,
    Numbers,
    goodness,
    label,
    least_absolute,
    least_mislabelled,
    margin_loss,
    one_cell,
    random_cells,
    spaced,
)
from simopt.theorems.kj.regression.algorithm_1 import FAMILIES, sampled
from simopt.theorems.kj.regression.theorem_5 import constant_and_slopes, parts, step
from simopt.theorems.small_worlds.exact_tails import Ball, ball, holds_for_all_levels, tails

SECTION = "ordinal"
TENTH = Fraction(1, 10)
Chances = dict[int, Fraction]
CLASSES = 3
GAP = 1e-7  # relative, of the empirical problem


def small_margins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """γ < 1/2: P(y = 2) = 3/10; a fair coin; a rare label; three labels between thresholds that coincide."""
    for gamma, p in ((TENTH, Fraction(3, 10)), (Fraction(49, 100), HALF), (Fraction(1, 4), Fraction(1, 1000))):
        yield one_cell({1: 1 - p, 2: p}, 2, -gamma, gamma, ONE)
    yield one_cell(dict.fromkeys((1, 2, 3), Fraction(1, 3)), 3, ZERO, Fraction(2, 5), ZERO)


@sc.claim(
    "KJ-Thm13a",
    section=SECTION,
    place="Theorem 13, 0-1 error",
    kind=sc.HIGH_PROBABILITY,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
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
def mislabelling_as_printed(
    gamma: Fraction, shares: dict[int, Fraction], f: Fraction, thresholds: list[Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """The least mislabelling of any learner against ε_0/γ̄."""
    divisor = max(gamma, ONE) if trial["bound"] == "printed" else 2 * gamma
    yield sc.at_most(least_mislabelled(shares), goodness(f, thresholds, gamma, shares) / divisor, "mislabelling of every learner")


def thirds(labels: int, m: int, fraction: Fraction, gamma: Fraction, delta: Fraction) -> sc.Instance:
    """K ≡ 1, labels 1, 1 + m and 2 + m with chances 1/2, share/2 and (1 − share)/2, f = b_2."""
    return one_cell({1: HALF, 1 + m: fraction / 2, 2 + m: (1 - fraction) / 2}, labels, ZERO, gamma, delta)


def little_space(trial: sc.Trial) -> Iterator[sc.Instance]:
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


def best_lines(gamma: Fraction, delta: Fraction, labels: int) -> list[tuple[Fraction, Fraction]]:
    """Pairs (α, κ): the error is ≤ α + κ ε_0 for each, and no bound in ε_0, γ, Δ, r only is smaller than their minimum and (r − 1)/2."""
    if labels == 2 or delta >= 2 * gamma:
        steep = [(ZERO, 1 / (2 * gamma))]
        return steep + ([(HALF - gamma / delta, 1 / delta)] if delta > 0 and labels > 2 else [])
    return [(ZERO, (labels - 1) / (2 * gamma + (labels - 2) * delta))]


def guaranteed(value: Fraction, gamma: Fraction, delta: Fraction, labels: int) -> Fraction:
    """The best bound at ε_0."""
    return min(Fraction(labels - 1, 2), *(alpha + kappa * value for alpha, kappa in best_lines(gamma, delta, labels)))


@sc.claim(
    "KJ-Thm13b",
    section=SECTION,
    place="Theorem 13, ordinal error",
    kind=sc.HIGH_PROBABILITY,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"If K is (ε_0, B)-good for ordinal regression with γ-margin loss and Δ-spaced thresholds **in order, b_{j+1} ≥ b_j + Δ**, it is "
    r"ψ_{Δ/γ̄}(ε_0/γ̄)-useful for the absolute error, ψ_Δ(x) = (x + Δ − 1)/Δ, γ̄ = max{γ, 1}: ψ_{Δ/γ̄}(ε_0/γ̄) = 1 + (ε_0 − γ̄)/Δ.",
    instances=little_space,
    knobs={"bound": "printed"},
    mutants={"the best bound": {"bound": "best"}},
    note="γ = 1, Δ = 1/10, r = 12, K ≡ 1, labels 1 (0.7) and 12 (0.3): ε_0 = 0.9, the claim is 0, every learner has 3.3. Δ < γ̄ and ε_0 = "
    "0: the claim is negative. γ < 1/2, 1 ≤ Δ < 2(1 − γ), labels 1 and 2 fair: 1 + (γ − 1)/Δ < 1/2. It is true exactly for Δ ≥ max{γ̄, "
    "2(γ̄ − γ)} (KJ-Thm13b+, KJ-Thm13b-where); the best bound for all γ, Δ and r is KJ-Thm13b-best.",
)
def ordinal_error_as_printed(
    f: Fraction, thresholds: list[Fraction], gamma: Fraction, shares: dict[int, Fraction], delta: Fraction, labels: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """The least absolute error of any learner against ψ."""
    value = goodness(f, thresholds, gamma, shares)
    bound = 1 + (value - max(gamma, ONE)) / delta if trial["bound"] == "printed" else guaranteed(value, gamma, delta, labels)
    yield sc.at_most(least_absolute(shares, labels), bound, "absolute error of every learner")


@sc.claim(
    "KJ-Thm13c",
    section=SECTION,
    place="Section 3.3 and Appendix E.2: ψ",
    kind=sc.IDENTITY,
    says=r"ψ_Δ(x) = (x + Δ − 1)/Δ has sup over x ∈ [0, 1], Δ > 0 of 1: 1 − ψ_Δ(x) = (1 − x)/Δ ≥ 0, and ψ_Δ(1) = 1; ψ_1(x) = x. (In "
    r"symbols.)",
    exhaustive=True,
    knobs={"one": ONE},
    mutants={"x + Δ − 1/2": {"one": HALF}},
    note="But ψ_Δ(x) < 0 for x < 1 − Δ: ψ_{1/2}(1/5) = −3/5 cannot bound an error (KJ-Thm13b).",
)
def spacing_function(trial: sc.Trial) -> Iterator[sc.Check]:
    """The three identities."""
    x, delta = sc.symbols("x delta")

    def psi(value: Any, spacing: Any) -> Any:
        return (value + spacing - trial["one"]) / spacing

    yield sc.equal(1 - psi(x, delta), (1 - x) / delta, "1 − ψ")
    yield sc.equal(psi(1 + 0 * x, delta), 1 + 0 * x, "ψ(1)")
    yield sc.equal(psi(x, 1 + 0 * x), x, "ψ_1")


def below_one(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ε_0 = 9/10: rare far labels; Δ = 1, γ = 1/4, labels 1, 3 and 4."""
    yield one_cell({1: Fraction(7, 10), 12: Fraction(3, 10)}, 12, -ONE, ONE, TENTH)
    yield thirds(4, 2, Fraction(7, 10), Fraction(1, 4), ONE)


def low_enough(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ε_0 = min(Δ, γ + Δ/2) < 1, where the error is 1: labels 1 and 3 fair."""
    for gamma, delta in ((Fraction(1, 4), Fraction(4, 5)), (Fraction(1, 5), HALF)):
        yield one_cell({1: HALF, 3: HALF}, 3, ZERO, gamma, delta)


@sc.claim(
    "KJ-Thm13d",
    section=SECTION,
    place="Section 3.3, after Theorem 13; Appendix E.2, the last sentence",
    kind=sc.HIGH_PROBABILITY,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"If ε_0 < 1 with γ-margin loss and Δ-spaced thresholds **in order**, then for d and n large enough the ordinal error is ≤ 1.",
    instances=below_one,
    knobs={},
    mutants={"ε_0 ≤ min(Δ, γ + Δ/2)": {"instances": low_enough}},
    note="γ = 1, Δ = 1/10, r = 12, labels 1 (0.7) and 12 (0.3): ε_0 = 0.9, every learner has 3.3. Also with Δ = 1: γ = 1/4, labels 1, 3, "
    "4 (1/2, 7/20, 3/20): ε_0 = 0.9, 1.15. What is needed is ε_0 ≤ min(Δ, γ + Δ/2) (KJ-Thm13d+).",
)
def error_below_one(
    f: Fraction, thresholds: list[Fraction], gamma: Fraction, shares: dict[int, Fraction], labels: int
) -> Iterator[sc.Check]:
    """ε_0 < 1; the least absolute error."""
    if goodness(f, thresholds, gamma, shares) >= 1:
        raise ArithmeticError("ε_0 is not below 1")
    yield sc.at_most(least_absolute(shares, labels), ONE, "absolute error of every learner")


@sc.claim(
    "KJ-Thm13e",
    section=SECTION,
    place="Section 3.3, sizes",
    kind=sc.RATE,
    says=r"If **|K| ≤ 1**, **δ ≤ 1/2** and **γ + (r − 2)Δ = O(B)**, d and n are O((B²/ε_1²) log(1/δ)): d = ⌈(2B/ε_1)² s²⌉ and n = "
    r"⌈(24M/ε_1)² s²⌉ are enough for E h ≤ ε_0 + ε_1, s = 1 + √(2 log(2/δ)), M = B + γ + (r − 2)Δ, ordered thresholds in [−M, M] learned "
    r"(KJ-Thm13-total), and s² ≤ 11 log(1/δ), because s²/L falls in L = log(1/δ) and is below 11 at δ = 1/2. (The constant in enclosures; "
    r"exact laws of what landmarks cost, K = ±1 of rank one, and labels, K ≡ 0, γ = 1, r = 2 with nearly fair labels, fall as n^{−1/2}.)",
    instances=parts,
    knobs={"constant": 11},
    mutants={"10 log(1/δ)": {"constant": 10}},
    note="As printed, with B only, it is false as B → 0 or r → ∞: thresholds are not bounded by B (KJ-Thm13e-scale). With γ, Δ, r fixed "
    "and B bounded from below, which O(·) in ε_1 and δ may be taken to mean, it is true. Lemma 16 does not cover learning them. The error "
    "bounds add ε_1/2γ, or ε_1/min(2γ, Δ).",
)
def sizes_suffice(part: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """The constant at δ = 1/2; both slopes. With K ≡ 0 a wrong majority of chances 1/2 ± η costs 2γ·2η in margin loss."""
    yield constant_and_slopes(part, trial["constant"])


def needle(trial: sc.Trial) -> Iterator[sc.Instance]:
    """f̃ = f but at a point of mass 1/100, where it is off by 1; ε_1 = 1/200."""
    yield {"masses": [Fraction(99, 100), Fraction(1, 100)], "off": [ZERO, -ONE], "f": [ONE, ONE], "b": ZERO, "gamma": ONE}


def evenly(trial: sc.Trial) -> Iterator[sc.Instance]:
    """f̃ off by 2ε_1 everywhere."""
    yield {"masses": [HALF, HALF], "off": [-Fraction(1, 10)] * 2, "f": [ONE, ONE], "b": ZERO, "gamma": ONE}


@sc.claim(
    "KJ-Thm13-p1",
    section=SECTION,
    place="Appendix E.2, the first display",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.CONVENTION,
    says=r"If E |f̃(Ψ(x)) − f(x)| ≤ 2ε_1, then [f̃(Ψ(x)) − b_y]_γ ≤ [f(x) − b_y]_γ + 2ε_1, at each x as printed.",
    instances=needle,
    knobs={},
    mutants={"|f̃ − f| ≤ 2ε_1 everywhere": {"instances": evenly}},
    note="|f̃ − f| = 1 on mass 1/100. Harmless: it is used 'upon taking expectations' only (KJ-Thm13-p1+).",
)
def lipschitz_at_each_point(
    instance: sc.Instance, masses: list[Fraction], f: list[Fraction], b: Fraction, gamma: Fraction
) -> Iterator[sc.Check]:
    """2ε_1 is the mean of |f̃ − f|."""
    moves: list[Fraction] = instance["off"]
    apart = sum((p * abs(e) for p, e in zip(masses, moves, strict=True)), ZERO)
    for v, e in zip(f, moves, strict=True):
        yield sc.at_most(max(gamma - (v + e - b), ZERO), max(gamma - (v - b), ZERO) + apart, "[f̃ − b]_γ")


def pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """γ = 1, b_y = 0 and b_{y+1} = 0, 1, 2, 3: f and f̃ at −2, …, 4, which has all kinks and points beyond; they change order at width 2."""
    for width in range(4):
        for a, c in product(range(-2, 5), repeat=2):
            yield {"first": a, "second": c, "width": width}


@sc.claim(
    "KJ-Thm13-p1+",
    section=SECTION,
    place="Appendix E.2, the first two displays, corrected",
    kind=sc.INEQUALITY,
    says=r"|[f̃ − b]_γ − [f − b]_γ| ≤ |f̃ − f| at each point, and so **in the mean** E [f̃ − b_y]_γ ≤ E [f − b_y]_γ + E |f̃ − f|. The "
    r"**sum** of both sides, h, is 1-Lipschitz as well, as its slope is −1, 0 or 1. (γ = 1, which scaling allows; b_{y+1} − b_y = 0, "
    r"1, 2, 3, at all kinks, which change order at 2, and beyond; between these all is linear.)",
    remains="widths and scores between the integers: both sides are linear between the kinks, whose order changes at integers only",
    instances=pairs,
    exhaustive=True,
    knobs={"slope": ONE},
    mutants={"9/10 Lipschitz": {"slope": Fraction(9, 10)}},
    corrects="KJ-Thm13-p1",
)
def margin_losses_are_lipschitz(first: int, second: int, width: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """One side, and both."""
    here, there, gap = sc.inputs(first=first, second=second, width=width)

    def one(f: sc.Expr) -> sc.Expr:
        return sc.maximum(1 - f, 0)

    def both(f: sc.Expr) -> sc.Expr:
        return sc.maximum(1 - f, 0) + sc.maximum(1 - (gap - f), 0)

    apart = trial["slope"] * abs(here - there)
    yield sc.at_most(abs(one(here) - one(there)), apart, "one side")
    yield sc.at_most(abs(both(here) - both(there)), apart, "both sides")


def marked(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Landmark laws, d = 720 among them (below 710 the printed excess is above 2B); labels 1 to 3 in turn, γ and thresholds."""
    laws = [made for made in draws(trial) if made["d"] <= (7 if len(made["masses"]) > 2 else 20)]
    for k, made in enumerate([*laws, signs(720)]):
        yield made | {"gamma": (HALF, ONE, Fraction(2))[k % 3], "thresholds": [-Fraction(k % 2, 2), Fraction(1 + k % 4, 4)], "turn": k}


@sc.claim(
    "KJ-Thm13-p2",
    section=SECTION,
    place="Appendix E.2, the third display, and the excess by landmarks",
    kind=sc.HIGH_PROBABILITY,
    says=r"If |K| ≤ 1, |w| ≤ B and **δ ≤ 1/2**, with probability ≥ 1 − δ over d landmarks E h(f̃) ≤ ε_0 + 4ε_1, 4ε_1 = 64B√(log(1/δ)/d); "
    r"and half of that is enough: always E h(f̃) ≤ E h(f) + E |f̃ − f|, once, not twice, for the two-sided sum h. (All draws of the "
    r"landmarks, exactly.)",
    instances=marked,
    knobs={"share": ONE, "constant": 64},
    mutants={"half of E |f̃ − f|": {"share": HALF}, "B√(log(1/δ)/d)": {"constant": 1}},
    note="Twice as large as need be, as h is 1-Lipschitz (KJ-Thm13-p1+); with KJ-L15+ the excess is ≤ (B/√d)(1 + √(2 log(1/δ))), for "
    "every δ.",
)
def margin_loss_of_the_landmarked(
    masses: list[Fraction],
    d: int,
    gamma: Fraction,
    thresholds: list[Fraction],
    weights: list[Fraction],
    gram: list[list[Fraction]],
    turn: int,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """Every draw; the tail at each level, B = 1."""
    b = thresholds
    f = [sum((p * w * k for p, w, k in zip(masses, weights, row, strict=True)), ZERO) for row in gram]
    labels = [1 + (i + turn) % 3 for i in range(len(masses))]

    def loss(scores: list[Fraction]) -> Fraction:
        return sum((p * margin_loss(v, y, b, gamma) for p, v, y in zip(masses, scores, labels, strict=True)), ZERO)

    value, law, worst = loss(f), [], (ZERO, ONE)
    for off, mass in deviations(masses, weights, d, gram):
        found = loss([v + e for v, e in zip(f, off, strict=True)])
        apart = sum((p * abs(e) for p, e in zip(masses, off, strict=True)), ZERO)
        worst = max(worst, (found, value + trial["share"] * apart), key=lambda pair: pair[0] - pair[1])
        law.append((max(found - value, ZERO), mass))

    yield sc.at_most(*worst, "E h(f̃), the worst draw")

    def exponent(t: Fraction) -> Ball | None:
        x = ball(d * t**2 / Fraction(trial["constant"]) ** 2)
        return x if x > ball(2).log() else None  # δ ≤ 1/2

    yield holds_for_all_levels(tails(law), exponent, "E h(f̃) − ε_0")


def at_the_margin(trial: sc.Trial) -> Iterator[sc.Instance]:
    """f − b_y = γ, b_{y+1} far away."""
    for gamma in (Fraction(1, 10), HALF, Fraction(99, 100)):
        yield {"gamma": gamma}


def large_margins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """γ = 1 and 3."""
    for gamma in (ONE, Fraction(3)):
        yield {"gamma": gamma}


@sc.claim(
    "KJ-Thm13-p3",
    section=SECTION,
    place="Appendix E.2, 'we can bound the 1-margin loss directly'",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"If E h(f) ≤ ε_0 for the γ-margin loss and E |f̃ − f| ≤ 2ε_1, then for every γ > 0 the 1-margin loss of f̃ is ≤ ε_0 + 4ε_1.",
    instances=at_the_margin,
    knobs={},
    mutants={"γ ≥ 1": {"instances": large_margins}},
    note="f̃ = f = b_y + γ, b_{y+1} far: the γ-margin loss is 0, the 1-margin loss 1 − γ; γ = 1/10: 0.9. This is where Theorem 13 fails: "
    "γ̄ comes from here.",
)
def one_margin_loss(gamma: Fraction) -> Iterator[sc.Check]:
    """f − b_y = γ, so ε_0 = 0; ε_1 = 0."""
    yield sc.at_most(max(1 - gamma, ZERO), max(gamma - gamma, ZERO), "1-margin loss")


def distances(trial: sc.Trial) -> Iterator[sc.Instance]:
    """γ = 1/4, …, 3 and f − b in quarters from −4 to 4."""
    for gamma in (Fraction(1, 4), HALF, ONE, Fraction(2), Fraction(3)):
        for k in range(-16, 17):
            yield {"gamma": gamma, "x": Fraction(k, 4)}


@sc.claim(
    "KJ-Thm13-p3+",
    section=SECTION,
    place="Appendix E.2, 'we can bound the 1-margin loss directly', corrected",
    kind=sc.INEQUALITY,
    says=r"[1 − x]_+ ≤ [γ − x]_+ **+ [1 − γ]_+**: each side of the 1-margin loss is at most that of the γ-margin loss if **γ ≥ 1**, and "
    r"larger by up to 1 − γ if γ < 1. For γ − x = p − q and 1 − γ = r − s in their positive and negative parts: p + r − (1 − x) = q + s ≥ "
    r"0. (In symbols; and a grid.)",
    instances=distances,
    exhaustive=True,
    knobs={"part": ONE},
    mutants={"without 1 − γ": {"part": ZERO}},
    corrects="KJ-Thm13-p3",
)
def larger_margins_cost_more(gamma: Fraction, x: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """One side."""
    p, q, r, s = sc.symbols("p q r s")
    yield sc.equal(p + trial["part"] * r - ((p - q) + (r - s)), q + s, "p + r − (1 − x)")
    gamma, x = sc.inputs(gamma=gamma, x=x)
    yield sc.at_most(sc.maximum(1 - x, 0), sc.maximum(gamma - x, 0) + trial["part"] * sc.maximum(1 - gamma, 0), "[1 − x]_+")


@sc.claim(
    "KJ-Thm13-p4",
    section=SECTION,
    place="Appendix E.2, 'h ≥ b_{k+1} + γ − b_2'",
    kind=sc.INEQUALITY,
    says=r"If the label of f is wrong by k ≥ 1 and **b_{j+1} ≥ b_j + Δ**, h ≥ γ + (k − 1)Δ: f is below b_{ŷ+1} by s_0 > 0 (above b_ŷ by "
    r"s_0 ≥ 0), gaps exceed Δ by s_1, …, s_{k−1} ≥ 0, and γ + b_y − f = γ + (k − 1)Δ + Σ s_i. So |ŷ − y| ≤ 1 + (h − γ)/Δ where the label "
    r"is wrong. (In symbols, by induction over k.)",
    exhaustive=True,
    knobs={"start": 0},
    mutants={"γ + kΔ": {"start": 1}},
    note="True also for Δ < γ; what then fails is 0 ≤ 1 + (0 − γ)/Δ where the label is right.",
)
def wrong_labels_cost(trial: sc.Trial) -> Iterator[sc.Check]:
    """The hinge of the far threshold."""
    gamma, delta, b, s, k, slack, f = sc.symbols("gamma delta b s k slack f")
    yield sc.equal(gamma + b - (b - s), gamma + (1 - 1 + trial["start"]) * delta + s, "the hinge, k = 1")
    threshold = f + (k - 1) * delta + slack  # where the hinge is γ + (k − 1)Δ + Σ s_i
    yield sc.equal(gamma + (threshold + delta + s) - f, gamma + k * delta + (slack + s), "the hinge, from k to k + 1")


def narrow(trial: sc.Trial) -> Iterator[sc.Instance]:
    """γ = 1, Δ = 1/2 and less, f in the middle of its slot."""
    for delta in (HALF, Fraction(1, 10), Fraction(9, 10)):
        yield {"gamma": ONE, "delta": delta}


def wide(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Δ ≥ γ."""
    for delta in (ONE, Fraction(3, 2)):
        yield {"gamma": ONE, "delta": delta}


@sc.claim(
    "KJ-Thm13-p5",
    section=SECTION,
    place="Appendix E.2, 'if the loss is greater than γ then it indicates a mislabeling'",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"If h(f, y) > γ, then y is not the label of f.",
    instances=narrow,
    knobs={},
    mutants={"Δ ≥ γ": {"instances": wide}},
    note="γ = 1, Δ = 1/2, f in the middle of its slot: h = 3/2, and the label is right. The converse is what is used, and true: a wrong "
    "label has h ≥ γ (KJ-Thm13-p4).",
)
def large_loss_means_mislabelled(gamma: Fraction, delta: Fraction) -> Iterator[sc.Check]:
    """The middle of the second slot of three."""
    b = [ZERO, delta]
    if label(delta / 2, b) != 2:
        raise ArithmeticError("f has another label")
    yield sc.at_most(margin_loss(delta / 2, 2, b, gamma), gamma, "h where the label is right")


@sc.claim(
    "KJ-Thm13-p5+",
    section=SECTION,
    place="Appendix E.2, 'if the loss is greater than γ then it indicates a mislabeling', corrected",
    kind=sc.INEQUALITY,
    says=r"**If Δ ≥ γ**, h > γ means that the label is wrong: f above b_y by s ≥ 0 and below b_{y+1} by t ≥ 0, s + t = Δ + v ≥ Δ, has h "
    r"one of 0, γ − s, γ − t and 2γ − s − t, which are γ − s, γ − t and γ − (Δ − γ) − v. And always a wrong label has h ≥ γ: one hinge is "
    r"γ + s. (In symbols.)",
    exhaustive=True,
    knobs={"times": 1},
    mutants={"2Δ ≥ γ": {"times": 2}},
    corrects="KJ-Thm13-p5",
)
def when_large_loss_means_mislabelled(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both hinges where the label is right; one where it is wrong."""
    gamma, delta, s, v = sc.symbols("gamma delta s v")
    t = delta + v - s
    yield sc.equal((gamma - s) + (gamma - t), gamma - (trial["times"] * delta - gamma) - v, "both hinges")
    yield sc.equal(gamma - (0 - s), gamma + s, "label wrong")


def unlike_cells(trial: sc.Trial) -> Iterator[sc.Instance]:
    """γ, p and η < γ."""
    for gamma, p, eta in product((Fraction(3, 10), HALF, Fraction(4, 5), Fraction(19, 20)), (TENTH, Fraction(2, 5)), (1, 8)):
        yield {"gamma": gamma, "p": p, "eta": gamma / (64 * eta)}


def _passed(x: Fraction, gamma: Fraction) -> Fraction:
    """P(x + u > 0), u uniform on [−γ, γ]."""
    return min(max((gamma + x) / (2 * gamma), ZERO), ONE)


@sc.claim(
    "KJ-Thm13a-plain",
    section=SECTION,
    place="Theorem 13, 0-1 error, without a shift",
    kind=sc.COUNTEREXAMPLE,
    says=r"Thresholds that minimise the margin loss with weights |w| ≤ B, without a shift, do not reach ε_0/γ̄ if γ < 1, however large "
    r"the sample: x_A with y = 2 and mass 1 − p > 1/2, K(x_A, x_A) = (γ − η)/((1 − p)B), K = 0 else; x_B with y = 1. The only minimiser "
    r"is f(x_A) = γ − η, b_2 = −η: ε_0 = p(γ + η), and x_B, f = 0 ≥ b_2, is mislabelled: p > ε_0/γ̄ for γ + η < 1, and nothing below "
    r"ε_0/(γ + η) is true of it.",
    instances=unlike_cells,
    knobs={"shift": False},
    mutants={"thresholds shifted": {"shift": True}},
    note="The loss in (f(x_A), b_2) is convex, linear between b = f − γ, b = γ, so least at a crossing or at an end of |f| ≤ γ − η. The "
    "empirical loss tends to it, so does its minimiser. A random shift in [−γ, γ] mislabels ε_0/2γ. Algorithm 1 has ‖w‖₂ ≤ B, in the "
    "limit |f(x_A)| ≤ (γ − η)/√(1 − p) here, which may pass γ. With K(x_A, x_A) = (γ − η)/(B√(1 − p)) and B ≥ 1 it ends at the same "
    "f(x_A) and b_2, and mislabels x_B, p > ε_0/γ̄ for small p and η, as ε_0 = p(2γ − (γ − η)√(1 − p)).",
)
def plain_thresholds_mislabel(gamma: Fraction, p: Fraction, eta: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """All crossings; the mislabelling at the least of them."""
    top = gamma - eta
    corners = {(f, b) for f in (-top, ZERO, top) for b in (f - gamma, gamma)}

    def loss(f: Fraction, b: Fraction) -> Fraction:
        return (1 - p) * max(gamma - (f - b), ZERO) + p * max(gamma - b, ZERO)

    least = min(loss(*corner) for corner in corners)
    found = [corner for corner in corners if loss(*corner) == least]
    yield sc.equal(Fraction(len(found)), ONE, "minimisers")
    f, b = found[0]
    yield sc.equal(least, p * (gamma + eta), "ε_0")
    if trial["shift"]:
        wrong = (1 - p) * _passed(b - f, gamma) + p * _passed(-b, gamma)
    else:
        wrong = (1 - p) * (f < b) + p * (b <= 0)
    yield sc.equal(wrong, p, "mislabelling")
    yield sc.at_least(wrong, least / max(gamma, ONE), "mislabelling against ε_0/γ̄", strict=True)


@sc.claim(
    "KJ-Thm13b-where",
    section=SECTION,
    place="Theorem 13, ordinal error, ours: everywhere else it is false",
    kind=sc.IDENTITY,
    says=r"Theorem 13 for the ordinal error is false for **all** γ, Δ > 0 with Δ < γ̄ or Δ < 2(γ̄ − γ): (1) one label, f far inside: ε_0 "
    r"= 0 and 0 − ψ = (γ̄ − Δ)/Δ > 0; also where ψ is cut off at 0: y = 2 with p = (γ̄ − Δ)/2γ, else 1, has ε_0 = 2γp and ψ = 0 < p (p = "
    r"1/2 if that is larger); (2) labels 1 and 2 fair, f = b_2: ε_0 = γ, and 1/2 − ψ = (2(γ̄ − γ) − Δ)/2Δ. 0-1 error for all γ < 1/2: the "
    r"same coin, 1/2 − γ. (In symbols. With KJ-Thm13b+ this is where it holds, exactly.)",
    remains="that no predictor does better on these worlds, where K ≡ 1, so that the theorem is false there; and 'iff' with KJ-Thm13b+",
    exhaustive=True,
    knobs={"share": HALF},
    mutants={"chances 1/4 and 3/4": {"share": Fraction(1, 4)}},
)
def false_everywhere_else(trial: sc.Trial) -> Iterator[sc.Check]:
    """ε_0 of the coin, both differences."""
    gamma, larger, delta, f, b = sc.symbols("gamma larger delta f b")
    p = trial["share"]
    coin = (1 - p) * (gamma - (b - f)) + p * (gamma - (f - b))
    yield sc.equal(coin, gamma, "ε_0 of the coin, |f − b_2| ≤ γ")
    yield sc.equal(p - (1 + (gamma - larger) / delta), (2 * (larger - gamma) - delta) / (2 * delta), "1/2 − ψ")
    yield sc.equal(0 - (1 + (0 - larger) / delta), (larger - delta) / delta, "0 − ψ")
    rare = (larger - delta) / (2 * gamma)
    yield sc.equal(1 + (2 * gamma * rare - larger) / delta, 0 * delta, "ψ at ε_0 = γ̄ − Δ")


def coins(trial: sc.Trial) -> Iterator[sc.Instance]:
    """r and the bias η; n = ⌊1/16η²⌋."""
    for labels in (2, 5, 101):
        for eta in (Fraction(1, 5), Fraction(1, 10), Fraction(1, 20)):
            yield {"labels": labels, "eta": eta}


@sc.claim(
    "KJ-Thm13e-scale",
    section=SECTION,
    place="Section 3.3, sizes, ours: B is not enough",
    kind=sc.COUNTEREXAMPLE,
    says=r"n = O((B²/ε_1²) log(1/δ)) fails, whatever its constant, as B → 0 with γ, Δ, r, ε_1 fixed, and for fixed B as r → ∞: K ≡ 0 is "
    r"good for every B > 0; y is r with chance 1/2 ± η, else 1; Δ = 2γ, φ(ε_0) = (r − 1)(1/2 − η). For ε_1 < η(r − 1), from n ≤ 1/16η² "
    r"labels every learner has an absolute error > φ(ε_0) + ε_1 with chance ≥ 1/4 for one of the two signs. So n ≥ (r − 1)²/16ε_1² is "
    r"necessary for δ < 1/4 and ε_1 < (r − 1)/2, for every B. (Exactly, for nine pairs r, η.)",
    instances=coins,
    knobs={"times": 1},
    mutants={"16 times as many labels": {"times": 16}},
    note="An answer that is r with chance q exceeds by 2η(r − 1)q or 2η(r − 1)(1 − q): by ≥ η(r − 1) for one sign. So the two chances to "
    "fail add up to ≥ Σ_k min(P_+(k), P_−(k)) = 1 − TV, and TV² ≤ 1 − (1 − 4η²)^n ≤ 4nη² ≤ 1/4 (Hellinger).",
)
def thresholds_cost_labels(eta: Fraction, labels: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Half of the overlap of the two binomial laws; φ(ε_0) is the least error."""
    n = math.floor(trial["times"] / (16 * eta**2))
    low, high = Fraction(1, 2) - eta, Fraction(1, 2) + eta
    rare, common = low.numerator, high.numerator  # over the same denominator, as low + high = 1
    overlap = sum(math.comb(n, k) * min(rare**k * common ** (n - k), common**k * rare ** (n - k)) for k in range(n + 1))
    shared = Fraction(overlap, low.denominator**n)
    yield sc.at_least(shared / 2, Fraction(1, 4), f"chance to fail, n = {n}")
    value = low * (2 + 2 * (labels - 2))  # γ = 1, f = b_2 − γ: label r is at (r − 2)Δ + 2γ
    (_, kappa), *_ = best_lines(Fraction(1), Fraction(2), labels)
    yield sc.at_most(kappa * value, low * (labels - 1), "φ(ε_0)")


def kinks(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The identities; and, for γ = 1, all pairs of distances x = f − b_{y+1}, z = b_y − f ≤ −x in halves from −3 to 3."""
    yield {}
    for x, z in product(range(-6, 7), repeat=2):
        if x + z <= 0:
            yield {"x": Fraction(x, 2), "z": Fraction(z, 2)}


def _mislabelling_at_kinks(x: Fraction, z: Fraction, width: Fraction) -> sc.Check:
    """P(b_{y+1} passed) and P(b_y not passed), both ≤ their hinge over 2γ; u uniform on [−γ·width, γ·width], γ = 1."""
    above, below = sc.inputs(x=x, z=z)
    wrong = sum(sc.minimum(sc.maximum((width + v) / (2 * width), 0), 1) for v in (above, below))
    return sc.at_most(wrong, (sc.maximum(1 + above, 0) + sc.maximum(1 + below, 0)) / 2, "P(mislabelled)")


def _mislabelling_in_symbols(width: Fraction) -> Iterator[sc.Check]:
    """The chance to pass against its hinge over 2γ, for −γ ≤ x ≤ γ and for x ≥ γ."""
    gamma, x = sc.symbols("gamma x")
    passed = (width * gamma + x) / (2 * width * gamma)
    yield sc.equal((gamma + x) / (2 * gamma) - passed, 0 * x, "−γ ≤ x ≤ γ")
    yield sc.equal((gamma + x) / (2 * gamma) - 1, (x - gamma) / (2 * gamma), "x ≥ γ")


@sc.claim(
    "KJ-Thm13a-shift",
    section=SECTION,
    place="Theorem 13, 0-1 error, ours: the best bound",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let **|K| ≤ 1**. For every γ > 0 and all thresholds b_2 ≤ … ≤ b_r, K is **ε_0/2γ**-useful for the mislabelling error: with u "
    r"uniform on [−γ, γ], P_u(y_{f+u} ≠ y) ≤ h/2γ at each point. f + u passes b_{y+1} with chance (γ + x)/2γ, x = f − b_{y+1}, which is "
    r"[γ + x]_+/2γ for |x| ≤ γ; 0 for x ≤ −γ; and 1 = [γ + x]_+/2γ − (x − γ)/2γ for x ≥ γ. The same for b_y. (In symbols; and at the "
    r"kinks, between and beyond.)",
    remains="from points to 'useful': the integral over x and u, and how f and b are learned (KJ-Thm13e, statistical)",
    instances=kinks,
    exhaustive=True,
    knobs={"width": ONE},
    mutants={"u in [−γ/2, γ/2]": {"width": HALF}, "u in [−2γ, 2γ]": {"width": Fraction(2)}},
    note="So ε_0/γ, which the paper's argument gives, is twice too large. It is sharp (KJ-Thm13a-best). That f and b are learned to ε_1: "
    "KJ-Thm13e; the bound is then (ε_0 + ε_1)/2γ.",
)
def shifted_labels(trial: sc.Trial, x: Fraction | None = None, z: Fraction = ZERO) -> Iterator[sc.Check]:
    """The pointwise bound."""
    if x is None:
        yield from _mislabelling_in_symbols(trial["width"])
    else:
        yield _mislabelling_at_kinks(x, z, trial["width"])


@sc.claim(
    "KJ-Thm13a+",
    section=SECTION,
    place="Theorem 13, 0-1 error, corrected",
    kind=sc.HIGH_PROBABILITY,
    says=r"**If |K| ≤ 1, γ ≥ 1/2 and b_2 ≤ … ≤ b_r**, K is (ε_0/γ̄)-useful for the mislabelling error, by the shift of KJ-Thm13a-shift: "
    r"h/γ̄ − h/2γ = h(2γ − γ̄)/2γγ̄, and 2γ − γ̄ is γ for γ ≥ 1 and 2(γ − 1/2) for γ ≤ 1. (In symbols; the pointwise bound as there.)",
    remains="from points to 'useful': the integral over x and u, and how f and b are learned (KJ-Thm13e, statistical)",
    instances=kinks,
    exhaustive=True,
    knobs={"width": ONE, "least": HALF},
    mutants={"γ ≥ 1/3": {"least": Fraction(1, 3)}, "u in [−γ/2, γ/2]": {"width": HALF}},
    corrects="KJ-Thm13a",
    note="For γ ≥ 1 the thresholds as learned are enough; for γ < 1 they are not (KJ-Thm13a-plain), and for γ < 1/2 no learner is.",
)
def shifted_labels_for_large_margins(trial: sc.Trial, x: Fraction | None = None, z: Fraction = ZERO) -> Iterator[sc.Check]:
    """The pointwise bound, and that it is enough."""
    if x is not None:
        yield _mislabelling_at_kinks(x, z, trial["width"])
        return
    yield from _mislabelling_in_symbols(trial["width"])
    gamma, larger, h = sc.symbols("gamma larger h")
    yield sc.equal(h / larger - h / (2 * gamma), h * (2 * gamma - larger) / (2 * gamma * larger), "h/γ̄ − h/2γ")
    yield sc.equal(2 * gamma - 1, 2 * (gamma - trial["least"]), "γ̄ = 1")


def rare_labels(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Labels 1 to m equally likely, m + 1 at most as much; f = b_{m+1} − γ; m < N = min(r, ⌊2γ/Δ⌋ + 2), r = 7."""
    for gamma, delta in product((Fraction(1, 10), HALF, Fraction(4)), (ZERO, Fraction(1, 5), ONE, Fraction(3))):
        reached = 7 if delta == 0 else min(7, math.floor(2 * gamma / delta) + 2)
        for m, share in product(range(1, reached), (Fraction(1, 50), HALF, ONE)):
            p = share / (m + share)
            shares = dict.fromkeys(range(1, m + 1), (1 - p) / m) | {m + 1: p}
            yield one_cell(shares, 7, (m - 1) * delta - gamma, gamma, delta)


@sc.claim(
    "KJ-Thm13a-best",
    section=SECTION,
    place="Theorem 13, 0-1 error, ours: ε_0/2γ cannot be improved",
    kind=sc.TIGHTNESS,
    says=r"For all γ > 0, Δ ≥ 0, r ≥ 2 and every ε_0 ≤ 2γ(1 − 1/N), N = min(r, ⌊2γ/Δ⌋ + 2), there is a K (≡ 1, every B) on which no "
    r"learner mislabels less than ε_0/2γ: labels 1, …, m < N equally likely, m + 1 with chance p ≤ 1/(m + 1), thresholds Δ apart, f = "
    r"b_{m+1} − γ. For m = 1: y = 2 with chance p = ε_0/2γ ≤ 1/2. (Exactly, for twelve pairs γ, Δ and r = 7.)",
    instances=rare_labels,
    knobs={"times": ONE},
    mutants={"1001/1000": {"times": Fraction(1001, 1000)}},
    note="The shift puts no mass on m + 1, whose h is 2γ, and all thresholds b_2, …, b_{m+1} are within γ of f. Without spacing ε_0/2γ is "
    "sharp up to 1 − 1/r; with spacing the best bound for larger ε_0 is left open.",
)
def no_learner_does_better(
    f: Fraction, thresholds: list[Fraction], gamma: Fraction, shares: dict[int, Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """The least mislabelling of any learner."""
    bound = trial["times"] * goodness(f, thresholds, gamma, shares) / (2 * gamma)
    yield sc.at_least(least_mislabelled(shares), bound, "mislabelling of every learner")


@sc.claim(
    "KJ-Thm13-rounding",
    section=SECTION,
    place="Theorem 13, ordinal error, ours: the learner",
    kind=sc.INEQUALITY,
    says=r"Let **b_{j+1} ≥ b_j + Δ**, α, κ ≥ 0 and m ≤ 2α + κ(2γ + (m − 1)Δ) for m = 1, …, r − 1. Then S(f) = max(0, max_y (y − 1) − α − "
    r"κ[γ + b_y − f]_+) has |S − (y' − 1)| ≤ α + κh(f, y') for all f, y', and 0 ≤ S ≤ r − 1. From below: S is one of these terms at "
    r"least, and h one of its hinges. From above, every term: for m = y − y' > 0, with slacks s_1, s_2, s_3 ≥ 0 of two hinges and of b_y "
    r"− b_{y'+1} ≥ (m − 1)Δ, (y' − 1) + α + κ[γ + f − b_{y'+1}]_+ − ((y − 1) − α − κ[γ + b_y − f]_+) = 2α + κ(2γ + (m − 1)Δ) − m + κ(s_1 "
    r"+ s_2 + s_3); for y ≤ y' it is 2α + (y' − y) and both hinges. Rounded at random, E |ŷ − y| = |S − (y − 1)|. (In symbols.)",
    exhaustive=True,
    knobs={"margins": 2},
    mutants={"γ in the place of 2γ": {"margins": 1}},
    note="Each y asks S to be in an interval; intervals that meet in pairs meet. By the minimax theorem no rule that sees f only has a "
    "smaller bound than the chances of labels allow (KJ-Thm13b-best).",
)
def scores_meet_all_intervals(trial: sc.Trial) -> Iterator[sc.Check]:
    """The difference of the ends; the error of random rounding on either side."""
    alpha, kappa, gamma, delta, f, lower, m, first, second, third = sc.symbols("alpha kappa gamma delta f lower m s_1 s_2 s_3")
    upper = lower + (m - 1) * delta + third  # b_y from b_{y'+1}
    above = alpha + kappa * ((gamma + f - lower) + first)
    below = m - alpha - kappa * ((gamma + upper - f) + second)  # both from y' − 1
    excess = 2 * alpha + kappa * (trial["margins"] * gamma + (m - 1) * delta) - m
    yield sc.equal(above - below, excess + kappa * (first + second + third), "upper end of y' minus lower end of y > y'")
    over, under, less, r, y = sc.symbols("over under less r y")  # hinges ≥ 0, less = y' − y ≥ 0
    yield sc.equal(
        (less + alpha + kappa * over) - (0 - alpha - kappa * under), 2 * alpha + less + kappa * (over + under), "the same, y ≤ y'"
    )
    yield sc.equal((r - 1) - ((y - 1) - alpha - kappa * under), (r - y) + alpha + kappa * under, "r − 1 minus a term of S")
    yield sc.equal(alpha + kappa * (under + over) - (alpha + kappa * under), kappa * over, "h is at least each of its hinges")
    k, t = sc.symbols("k t")  # S = n + t, 0 ≤ t < 1; y − 1 = n − k, or n + 1 + k
    yield sc.equal((1 - t) * k + t * (k + 1), k + t, "E |ŷ − y|, y − 1 ≤ ⌊S⌋")
    yield sc.equal((1 - t) * (k + 1) + t * k, (k + 1) - t, "E |ŷ − y|, y − 1 > ⌊S⌋")


@sc.claim(
    "KJ-Thm13b+",
    section=SECTION,
    place="Theorem 13, ordinal error, corrected",
    kind=sc.HIGH_PROBABILITY,
    says=r"**If |K| ≤ 1, Δ ≥ γ̄, Δ ≥ 2(γ̄ − γ) and b_{j+1} ≥ b_j + Δ**, K is ψ_{Δ/γ̄}(ε_0/γ̄)-useful for the absolute error: α = 1 − "
    r"γ̄/Δ, κ = 1/Δ in KJ-Thm13-rounding, where 2α + κ(2γ + (m − 1)Δ) − m = (Δ − 2(γ̄ − γ))/Δ for every m, and α + κε_0 = "
    r"ψ_{Δ/γ̄}(ε_0/γ̄). For γ ≥ 1/2 the condition is Δ ≥ γ̄; for γ < 1/2 it is Δ ≥ 2(1 − γ). (In symbols.)",
    remains="from the identity to 'useful': the bound of KJ-Thm13-rounding, and how f and b are learned (KJ-Thm13e, statistical)",
    exhaustive=True,
    knobs={"times": 2},
    mutants={"Δ ≥ γ̄ − γ": {"times": 1}},
    corrects="KJ-Thm13b",
    note="Elsewhere it is false (KJ-Thm13b-where). It needs this learner, or thresholds shifted by a common u with density 1/Δ on |u| ≤ "
    "γ̄ − γ and u = 0 else: the thresholds as learned do not do (KJ-Thm13a-plain). How f and b are learned: KJ-Thm13e.",
)
def where_the_theorem_holds(trial: sc.Trial) -> Iterator[sc.Check]:
    """The condition of the learner; the bound; 2(1 − γ) ≤ 1 iff γ ≥ 1/2."""
    gamma, larger, delta, m, value = sc.symbols("gamma larger delta m value")
    alpha, kappa = 1 - larger / delta, 1 / delta
    excess = 2 * alpha + kappa * (2 * gamma + (m - 1) * delta) - m
    yield sc.equal(excess, (delta - trial["times"] * (larger - gamma)) / delta, "room")
    spacing, x = delta / larger, value / larger
    yield sc.equal(alpha + kappa * value, (x + spacing - 1) / spacing, "ψ")
    yield sc.equal(alpha, (delta - larger) / delta, "α")
    yield sc.equal(1 - 2 * (1 - gamma), 2 * (gamma - HALF), "γ̄ = 1")


@sc.claim(
    "KJ-Thm13b-rounding",
    section=SECTION,
    place="Theorem 13, ordinal error, ours: the best bound",
    kind=sc.HIGH_PROBABILITY,
    says=r"For **|K| ≤ 1**, all γ > 0, Δ ≥ 0, r ≥ 2 and thresholds **b_{j+1} ≥ b_j + Δ**, K is φ(ε_0)-useful for the absolute error: Δ ≥ "
    r"2γ: φ = min{ε_0/2γ, 1/2 + (ε_0 − γ)/Δ}; Δ ≤ 2γ: φ = ε_0 (r − 1)/(2γ + (r − 2)Δ) ≤ ε_0/Δ. In KJ-Thm13-rounding 2α + κ(2γ + (m − 1)Δ) "
    r"− m is (m − 1)(Δ − 2γ)/2γ, 0, and (r − 1 − m)(2γ − Δ)/(2γ + (r − 2)Δ). So φ ≤ ε_0/min(2γ, Δ). (In symbols.)",
    remains="from the identity to 'useful': the bound of KJ-Thm13-rounding, and how f and b are learned (KJ-Thm13e, statistical)",
    exhaustive=True,
    knobs={"extra": 0},
    mutants={"γ + (r − 2)Δ + 2γ": {"extra": 1}},
    note="The proof's 1 + (ε_0 − γ)/Δ for Δ ≥ γ, and ε_0/min(γ, Δ), are larger. Nothing is smaller (KJ-Thm13b-best).",
)
def best_rounding(trial: sc.Trial) -> Iterator[sc.Check]:
    """The three conditions; φ against ε_0/Δ, and against each other at ε_0 = γ."""
    gamma, delta, m, r = sc.symbols("gamma delta m r")
    reach = 2 * gamma + (r - 2) * delta + trial["extra"] * gamma

    def excess(alpha: Any, kappa: Any) -> Any:
        return 2 * alpha + kappa * (2 * gamma + (m - 1) * delta) - m

    yield sc.equal(excess(0, 1 / (2 * gamma)), (m - 1) * (delta - 2 * gamma) / (2 * gamma), "ε_0/2γ")
    yield sc.equal(excess(HALF - gamma / delta, 1 / delta), 0 * m, "1/2 + (ε_0 − γ)/Δ")
    yield sc.equal(
        excess(0, (r - 1) / reach), (r - 1 - m) * (2 * gamma - delta) / (2 * gamma + (r - 2) * delta), "ε_0 (r − 1)/(2γ + (r − 2)Δ)"
    )
    yield sc.equal(
        1 / delta - (r - 1) / (2 * gamma + (r - 2) * delta), (2 * gamma - delta) / (delta * (2 * gamma + (r - 2) * delta)), "ε_0/Δ"
    )


def sharp(trial: sc.Trial) -> Iterator[sc.Instance]:
    """r ≤ 7, margins, spacings; labels 1 and r, 1 and 2 for small ε_0, three labels for larger."""
    spacings = (ZERO, Fraction(1, 10), ONE, Fraction(2), Fraction(7, 2))
    for labels, gamma, delta in product((2, 3, 4, 7), (Fraction(1, 5), ONE, Fraction(5, 3)), spacings):
        top = labels if delta < 2 * gamma else 2
        for p in (Fraction(1, 50), Fraction(1, 3), HALF):
            yield one_cell({1: 1 - p, top: p}, labels, -gamma, gamma, delta)
        for m in range(1, labels - 1) if delta >= 2 * gamma else ():
            for share in (ZERO, Fraction(1, 3), ONE):
                yield thirds(labels, m, share, gamma, delta)


@sc.claim(
    "KJ-Thm13b-best",
    section=SECTION,
    place="Theorem 13, ordinal error, ours: the best bound cannot be improved",
    kind=sc.TIGHTNESS,
    says=r"For all γ > 0, Δ ≥ 0, r ≥ 2 and every ε_0 that is not above the margin loss of f = b_2 with y = 1 and y = r equally likely, "
    r"there is a problem (K ≡ 1, every B) of that ε_0 on which every learner has an absolute error ≥ φ(ε_0) (KJ-Thm13b-rounding): labels "
    r"1 and 2 (Δ ≥ 2γ) or 1 and r (Δ ≤ 2γ) for p ≤ 1/2; for Δ ≥ 2γ and ε_0 ≥ γ labels 1, 1 + m, 2 + m. (Exactly for 60 triples; the error "
    r"at the end is (r − 1)/2, beyond which it never goes.)",
    instances=sharp,
    knobs={"times": ONE},
    mutants={"1001/1000 of φ": {"times": Fraction(1001, 1000)}},
    note="The profile in ε_0 is concave and linear between these points, which chances of labels mix. So ε_0/min(2γ, Δ) is sharp for Δ ≥ "
    "2γ, and as r → ∞ for Δ < 2γ.",
)
def nothing_better(
    f: Fraction, thresholds: list[Fraction], gamma: Fraction, shares: dict[int, Fraction], delta: Fraction, labels: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """The least error of any learner against φ(ε_0), exactly."""
    bound = guaranteed(goodness(f, thresholds, gamma, shares), gamma, delta, labels)
    yield sc.at_least(least_absolute(shares, labels), trial["times"] * bound, "absolute error of every learner")


@sc.claim(
    "KJ-Thm13b-all",
    section=SECTION,
    place="Theorem 13, ordinal error, ours: the best bound cannot be improved, for all parameters",
    kind=sc.IDENTITY,
    says=r"With K ≡ 1: (1) labels 1 and 1 + m, the second with p ≤ 1/2, thresholds Δ apart, f = b_2 − γ: ε_0 = p(2γ + (m − 1)Δ), label 1 "
    r"+ j has error pm + j(1 − 2p), and κε_0 = pm for κ = m/(2γ + (m − 1)Δ): m = 1 for Δ ≥ 2γ, m = r − 1 for Δ ≤ 2γ. (2) Labels 1, 1 + m "
    r"and 2 + m, with 1/2, q/2, (1 − q)/2, f = b_2: ε_0 = γ + (m − q)Δ/2, the error of labels 1 to 1 + m is (m + 1 − q)/2 = 1/2 + (ε_0 − "
    r"γ)/Δ. (In symbols.)",
    remains="that these losses are those of the f named, and that no predictor does better where K ≡ 1",
    exhaustive=True,
    knobs={"reach": 2},
    mutants={"f = b_2": {"reach": 1}},
    note="As p and q vary, all ε_0 ≤ γ, or all up to the end for Δ ≤ 2γ, and all ε_0 from γ + (m − 1)Δ/2 to γ + mΔ/2 occur.",
)
def nothing_better_in_symbols(trial: sc.Trial) -> Iterator[sc.Check]:
    """ε_0 and the errors of the two families."""
    gamma, delta, m, j, p, q = sc.symbols("gamma delta m j p q")
    far = trial["reach"] * gamma + (m - 1) * delta  # h of label 1 + m, with h = 0 of label 1
    yield sc.equal(m / (2 * gamma + (m - 1) * delta) * (p * far), p * m, "κε_0")
    yield sc.equal((1 - p) * j + p * (m - j), p * m + j * (1 - 2 * p), "error of label 1 + j")
    value = gamma / 2 + q / 2 * (gamma + (m - 1) * delta) + (1 - q) / 2 * (gamma + m * delta)
    yield sc.equal(value, gamma + (m - q) * delta / 2, "ε_0 of three labels")
    error = j / 2 + q / 2 * (m - j) + (1 - q) / 2 * (m + 1 - j)
    yield sc.equal(error, HALF + (value - gamma) / delta, "their error")


@sc.claim(
    "KJ-Thm13b-shift",
    section=SECTION,
    place="Theorem 13, ordinal error, ours: by a shift",
    kind=sc.HIGH_PROBABILITY,
    says=r"For **|K| ≤ 1**, all γ, Δ > 0 and thresholds **b_{j+1} ≥ b_j + Δ**, K is **ε_0/min(2γ, Δ)**-useful for the absolute error: D = "
    r"min(2γ, Δ), u uniform on [−D/2, D/2], E_u |y_{f+u} − y| ≤ h/D at each point. Let f be above b_{y+1} by x = jΔ − D/2 + t, j ≥ 0 "
    r"whole, 0 ≤ t ≤ Δ (for x ≤ −D/2 it is never passed). Gaps ≥ Δ ≥ D: at most j + min(t/D, 1) thresholds are passed on average, and (γ "
    r"+ x)/D is that + j(Δ − D)/D + (γ − D/2)/D + max(t/D − 1, 0). Below b_y the same. (In symbols.)",
    remains="from points to 'useful': the number of thresholds passed on average, and how f and b are learned (KJ-Thm13e, statistical)",
    exhaustive=True,
    knobs={"width": ONE},
    mutants={"D = 2 min(2γ, Δ)": {"width": Fraction(2)}},
    note="Sharp for Δ ≥ 2γ and ε_0 ≤ γ; everywhere the best bound is that of KJ-Thm13b-rounding.",
)
def shifted_labels_in_order(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both cases; D = Δ − s = 2γ − v with s, v ≥ 0."""
    D, s, v, j, t = sc.symbols("D s v j t")
    unit = trial["width"] * D
    gamma, delta = (D + v) / 2, D + s
    hinge = (gamma + j * delta - D / 2 + t) / unit
    rest = j * s / D + v / (2 * D)
    yield sc.equal(hinge, j + t / D + rest, "t ≤ D")
    yield sc.equal(hinge, j + 1 + rest + (t - D) / D, "t ≥ D")


@sc.claim(
    "KJ-Thm13d+",
    section=SECTION,
    place="Section 3.3, after Theorem 13, corrected",
    kind=sc.HIGH_PROBABILITY,
    says=r"If **|K| ≤ 1, ε_0 < min(Δ, γ + Δ/2) and b_{j+1} ≥ b_j + Δ**, the ordinal error is ≤ 1 for d and n large enough (and < 1): 1 − "
    r"(1/2 + (ε_0 − γ)/Δ) = (γ + Δ/2 − ε_0)/Δ for Δ ≥ 2γ, where γ + Δ/2 ≤ Δ, and 1 − ε_0/Δ for Δ ≤ 2γ. For all ε_0 < 1 and all r it holds "
    r"iff Δ ≥ 1 and Δ ≥ 2(1 − γ). (In symbols.)",
    remains="the bound of KJ-Thm13b-rounding, its learning step (KJ-Thm13e, statistical), and that nothing smaller holds (KJ-Thm13b-best)",
    exhaustive=True,
    knobs={"part": HALF},
    mutants={"ε_0 < γ + Δ": {"part": ONE}},
    corrects="KJ-Thm13d",
    note="By KJ-Thm13b-rounding; labels 1 and 3 fair, Δ ≥ 2γ, have ε_0 = γ + Δ/2 and error 1, and the profile is increasing there if r ≥ "
    "4; for Δ ≤ 2γ the best bound tends to ε_0/Δ as r grows (KJ-Thm13b-best).",
)
def when_the_error_is_below_one(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both slacks."""
    gamma, delta, value = sc.symbols("gamma delta value")
    yield sc.equal(1 - (HALF + (value - gamma) / delta), (gamma + trial["part"] * delta - value) / delta, "Δ ≥ 2γ")
    yield sc.equal(1 - value / delta, (delta - value) / delta, "Δ ≤ 2γ")
    yield sc.equal(delta - (gamma + delta / 2), (delta - 2 * gamma) / 2, "γ + Δ/2 ≤ Δ")


def law(f: Fraction, thresholds: Numbers, reach: Fraction, mass: Fraction = ONE) -> Chances:
    """Chances of the labels of f + u: u uniform on [−reach, reach] with mass `mass`, 0 with the rest."""
    chances = {label(f, thresholds): ONE - mass if reach > 0 else ONE}
    if reach > 0:
        cuts = sorted({-reach, reach, *(b - f for b in thresholds if abs(b - f) < reach)})
        for low, high in pairwise(cuts):
            y = label(f + (low + high) / 2, thresholds)
            chances[y] = chances.get(y, ZERO) + mass * (high - low) / (2 * reach)
    return chances


def mislabelled(chances: Chances, y: int) -> Fraction:
    """P(ŷ ≠ y)."""
    return ONE - chances.get(y, ZERO)


def absolute(chances: Chances, y: int) -> Fraction:
    """E |ŷ − y|."""
    return sum((p * abs(c - y) for c, p in chances.items()), ZERO)


def worlds(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random thresholds, spacings and margins, one to three cells with chances of the labels."""
    for k in range(trial.count(60, 600)):
        yield random_cells(trial.rng, 1 + k % 3)


def decoded(point: Array, trial: sc.Trial) -> sc.Instance:
    """One point of r ≤ 5 labels, γ ∈ (0, 2], Δ ∈ (0, 4], one gap wider, f from below b_2 to above b_r; or two labels equally likely."""
    u = [Fraction(round(64 * float(value)), 64) for value in point]
    gamma, delta, labels = 2 * u[0] + Fraction(1, 32), 4 * u[1] + Fraction(1, 32), 2 + min(3, int(4 * u[2]))
    b = spaced(labels, delta)
    wider = [v + (2 * u[3] - 1 if 2 * u[3] > 1 and i > 0 else 0) for i, v in enumerate(b)]
    f = -gamma + u[4] * (wider[-1] + 2 * gamma)
    first, second = min(labels - 1, int(labels * u[5])), min(labels - 1, int(labels * u[6]))
    chances = [HALF * ((i == first) + (i == second)) for i in range(labels)]
    return {"masses": [ONE], "f": [f], "chances": [chances], "thresholds": wider, "gamma": gamma, "delta": delta, "labels": labels}


Cases = list[tuple[Fraction, int, Fraction]]  # f, y and their probability


def _cases(masses: list[Fraction], f: list[Fraction], chances: list[list[Fraction]]) -> Cases:
    cells = zip(masses, f, chances, strict=True)
    return [(v, y, mass * p) for mass, v, each in cells for y, p in enumerate(each, start=1) if p > 0]


def _risk(cases: Cases, predicted: Callable[[Fraction], Chances], cost: Callable[[Chances, int], Fraction]) -> Fraction:
    laws = {f: predicted(f) for f in {f for f, _, _ in cases}}
    return sum((p * cost(laws[f], y) for f, y, p in cases), ZERO)


def _within_cells(masses: list[Fraction], cells: list[list[Fraction]]) -> Fraction:
    """Least absolute error of labels that are constant on cells."""
    left = ZERO
    for mass, chances in zip(masses, cells, strict=True):
        left += mass * min(sum((p * abs(c - y) for y, p in enumerate(chances)), ZERO) for c in range(len(chances)))
    return left


def score(f: Fraction, thresholds: Numbers, gamma: Fraction, alpha: Fraction, kappa: Fraction) -> Fraction:
    """S(f)."""
    below = (i + 1 - alpha - kappa * max(gamma + b - f, ZERO) for i, b in enumerate(thresholds))
    return max(ZERO, *below)


def rounded(f: Fraction, thresholds: Numbers, gamma: Fraction, alpha: Fraction, kappa: Fraction) -> dict[int, Fraction]:
    """Chances of 1 + ⌊S⌋ + Bernoulli(S − ⌊S⌋)."""
    s = score(f, thresholds, gamma, alpha, kappa)
    low = math.floor(s)
    return {1 + low: 1 - (s - low), 2 + low: s - low}


@sc.claim(
    "KJ-Thm13-worlds",
    section=SECTION,
    place="Theorem 13, ours: attacked",
    kind=sc.INEQUALITY,
    says=r"On random problems of several cells, with Δ-spaced thresholds of unequal gaps, r ≤ 6 labels and rational γ, Δ: the "
    r"mislabelling error of the shift in [−γ, γ] is ≤ ε_0/2γ; the absolute error of the shift in [−D/2, D/2] is ≤ ε_0/D, D = min(2γ, Δ), "
    r"and that of random rounding ≤ α + κε_0 for the lines of KJ-Thm13b-rounding; where Δ ≥ max{γ̄, 2(γ̄ − γ)} that of the shift with "
    r"density 1/Δ on |u| ≤ γ̄ − γ ≤ ψ; and the least error within cells is ≤ φ(ε_0). (Labels of f + u by the rule itself, integrated "
    r"exactly over u; attacked.)",
    instances=worlds,
    decode=decoded,
    dimension=7,
    evaluations=(150, 3000),
    knobs={"reach": ONE},
    mutants={"shifts half as wide": {"reach": HALF}},
    note="γ < 1/2 and Δ ≥ 2(1 − γ) is among them; there the proof is KJ-Thm13b+. That of the shift with density 1/Δ: let c = γ̄ − γ, 2c ≤ "
    "Δ, x = f − b_{y+1}. For x < −c it is 0; for x < 0 the chance to pass is (x + c)/Δ ≤ 1 + (x − c)/Δ; for x = jΔ + t, 0 ≤ t < Δ, at "
    "most j + 1 − [c − t]_+/Δ + [t − Δ + c]_+/Δ ≤ j + 1 + (t − c)/Δ are passed; and 1 + (x − c)/Δ ≤ 1 + (h − γ̄)/Δ. Below b_y the same.",
)
def learners_keep_the_bounds(
    masses: list[Fraction],
    f: list[Fraction],
    chances: list[list[Fraction]],
    thresholds: list[Fraction],
    gamma: Fraction,
    delta: Fraction,
    labels: int,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """All learners, all bounds, in exact arithmetic."""
    cases, b = _cases(masses, f, chances), thresholds
    larger, reach, D = max(gamma, ONE), trial["reach"], min(2 * gamma, delta)
    value = sum((p * margin_loss(v, y, b, gamma) for v, y, p in cases), ZERO)
    yield sc.at_most(_risk(cases, lambda v: law(v, b, reach * gamma), mislabelled), value / (2 * gamma), "mislabelled, shift")
    yield sc.at_most(_risk(cases, lambda v: law(v, b, reach * D / 2), absolute), value / D, "absolute, shift")
    for alpha, kappa in best_lines(gamma, delta, labels):
        found = _risk(cases, partial(rounded, thresholds=b, gamma=gamma, alpha=alpha, kappa=kappa), absolute)
        yield sc.at_most(found, alpha + kappa * value, "absolute, rounding")
    if delta >= max(larger, 2 * (larger - gamma)):
        wide = larger - gamma
        found = _risk(cases, lambda v: law(v, b, wide, 2 * wide / delta), absolute)
        yield sc.at_most(found, 1 + (value - larger) / delta, "absolute, ψ")
    yield sc.at_most(_within_cells(masses, chances), guaranteed(value, gamma, delta, labels), "absolute, best within cells")


@dataclass(frozen=True, eq=False)
class OrdinalWorld:
    """A finite domain with labels 1 to 3, |w| ≤ B, and `level` ≤ ε_0(B), from a linear programme's multipliers."""

    gram: Array
    labels: Array
    masses: Array
    bound: float
    gamma: Fraction
    delta: Fraction
    level: float

    @property
    def reach(self) -> float:
        """M = B + γ + (r − 2)Δ."""
        return self.bound + float(self.gamma + (CLASSES - 2) * self.delta)

    def loss(self, scores: Array, thresholds: Array) -> float:
        """E h."""
        ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
        place = self.labels.astype(np.intp)
        low, high = ends[place - 1], ends[place]
        return float(self.masses @ (np.maximum(float(self.gamma) - scores + low, 0.0) + np.maximum(float(self.gamma) - high + scores, 0.0)))


@lru_cache(maxsize=32)
def ordinal_world(family: str, gamma: Fraction, delta: Fraction) -> OrdinalWorld:
    """A family of regression, labels by thirds of its targets, with ε_0."""
    make, bound = FAMILIES[family]
    gram, targets, masses = make()
    labels: Array = np.asarray(1 + np.searchsorted(np.quantile(targets, [0.34, 0.67]), targets), dtype=np.float64)
    problem = OrdinalGoodness(gram, labels, CLASSES, bound, masses, gamma=float(gamma), delta=float(delta))
    found = solve(problem, "simplex", tol=1e-9)
    if found.certificate is None:
        raise ArithmeticError("no certificate")
    return OrdinalWorld(gram, labels, masses, bound, gamma, delta, found.certificate.lower)


def learned(world: OrdinalWorld, d: int, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """f̂ on the domain and b̂: the least mean margin loss of n labels over ‖w‖₂ ≤ B, d landmarks, Δ-spaced thresholds; gap certified.

    Divided by γ, with the sample's shares as masses, this is `KernelOrdinalGoodness` with K = ΨΨᵀ and ‖W‖ ≤ B/γ.
    """
    landmarks, gamma = sampled(world.masses, d, rng), float(world.gamma)
    psi = world.gram * np.sqrt(landmarks / d)
    shares = sampled(world.masses, n, rng) / n
    problem = KernelOrdinalGoodness(psi @ psi.T, world.labels, CLASSES, gamma / world.bound, shares, delta=float(world.delta) / gamma)
    found = solve(problem, "interior-point", tol=GAP)
    if found.certificate is None or found.point is None:
        raise ArithmeticError("no certificate")
    scores: Array = gamma * (problem.gram @ np.asarray(found.point["alpha"], dtype=float))
    return scores, gamma * np.asarray(found.point["thresholds"], dtype=float)


def settings(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Families, γ and Δ; sizes at which the bound is below 1/3; δ = 1/5."""
    kinds = [("rank one", "1/2", "1/2"), ("cyclic", "1/4", "1"), ("four points", "1/2", "1/4"), ("blocks", "1", "0")]
    for family, gamma, delta in kinds[: trial.count(2, 4)]:
        yield {"family": family, "gamma": Fraction(gamma), "delta": Fraction(delta), "d": 10_000, "n": 200_000, "level": 0.2}


def _errors(world: OrdinalWorld, scores: Array, thresholds: Array) -> Iterator[sc.Check]:
    """Exact errors of the learners on the floats that were learned, thresholds spread to the spacing where rounding is short of it."""
    f, masses = [Fraction(float(v)) for v in scores], [Fraction(float(p)) for p in world.masses]
    b = [Fraction(float(thresholds[0]))]
    for value in thresholds[1:]:
        b.append(max(Fraction(float(value)), b[-1] + world.delta))
    gamma, delta, labels = world.gamma, world.delta, [int(y) for y in world.labels]
    value = sum((p * margin_loss(v, y, b, gamma) for p, v, y in zip(masses, f, labels, strict=True)), ZERO)
    wrong = sum((p * mislabelled(law(v, b, gamma), y) for p, v, y in zip(masses, f, labels, strict=True)), ZERO)
    yield sc.at_most(wrong, value / (2 * gamma), "mislabelled, shift")
    D = min(2 * gamma, delta)
    if D > 0:
        far = sum((p * absolute(law(v, b, D / 2), y) for p, v, y in zip(masses, f, labels, strict=True)), ZERO)
        yield sc.at_most(far, value / D, "absolute, shift")
    for alpha, kappa in best_lines(gamma, delta, CLASSES):
        laws = [rounded(v, b, gamma, alpha, kappa) for v in f]
        far = sum((p * absolute(chances, y) for p, chances, y in zip(masses, laws, labels, strict=True)), ZERO)
        yield sc.at_most(far, alpha + kappa * value, "absolute, rounding")


@sc.claim(
    "KJ-Thm13-total",
    section=SECTION,
    place="Theorem 13 and Appendix E.2, ours: thresholds learned",
    kind=sc.HIGH_PROBABILITY,
    says=r"If **|K| ≤ 1**, the empirical minimiser over ‖w‖₂ ≤ B and thresholds **b_{j+1} ≥ b_j + Δ, cut off to [−M, M]**, has, with "
    r"probability ≥ 1 − 2δ, E h(f̂, b̂) ≤ ε_0 + (B/√d) s + (12M/√n) s, s = 1 + √(2 log(1/δ)), M = B + γ + (r − 2)Δ. Labels of f̂ by the "
    r"shifts have mislabelling ≤ E h(f̂, b̂)/2γ and absolute error ≤ E h(f̂, b̂)/min(2γ, Δ), by random rounding ≤ φ(E h(f̂, b̂)). (Finite "
    r"domains, ε_0 by certified linear programmes.)",
    instances=settings,
    resolution=1e-9,
    knobs={"run": 1.0},
    mutants={"one landmark, one label": {"run": 0.0}},
    note="Proof: the head of theorems/kj/ordinal/theorem_13.py. Lemma 16, which the paper uses, is about linear predictors with a fixed "
    "loss: it does not cover thresholds. The cut keeps Δ and raises no loss of the sample. Without it E h has no bound: K ≡ 0, r = 2, and "
    "a sample without label 2, for which every b_2 ≥ γ is a minimiser.",
)
def learned_scores_and_thresholds(
    family: str, gamma: Fraction, delta: Fraction, d: int, n: int, level: float, trial: sc.Trial
) -> Iterator[sc.Check]:
    """One run with all learners; draws of the event that the margin loss is larger."""
    world = ordinal_world(family, gamma, delta)
    scores, thresholds = learned(world, d, n, trial.rng)
    yield from _errors(world, scores, thresholds)
    allowed = step(level) * (world.bound / math.sqrt(d) + 12.0 * world.reach / math.sqrt(n))
    landmarks, sample = (max(1, int(trial["run"] * size)) for size in (d, n))
    for _ in trial.draws(100_000):
        excess = world.loss(*learned(world, landmarks, sample, trial.rng)) - world.level
        yield sc.outcome(excess > allowed + 1e-6, 2.0 * level)
