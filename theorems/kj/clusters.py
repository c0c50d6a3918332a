r"""Theorem 9: labelled samples must grow with log(1/τ). The exact Bayes error where one of 1/τ clusters of landmarks is informative.

Points (c, u): a cluster c of C = 1/τ, equally likely, and u from a continuum. K((c, u), (c', u')) = h_{c'}(c, u), h independent fair signs,
and y = h_{c*}. With w = 1 and R = 1{c = c*} f = y: K is (0, 1, τ)-good. A learner who knows every sign h, but c* only through n labels,
is left with V = 1 + Bin(C − 1, 2^{−n}) clusters that agree with the labels, all equally likely; at a new point their signs are V fair
signs, and the least expected |f − y| is 2 min(plus, minus)/V, in the mean 1 − E|R_V|/V with R_V a sum of V fair signs. So some K and c* are
as bad.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import (
    HOLDS,
    INTERVAL_EVIDENCE,
    KAR_JAIN,
    RATE,
    REFUTED,
    SUBSTANTIVE,
    Check,
    Enclosure,
    Instance,
    Trial,
    at_most,
    claim,
    root,
)
from simopt.theorems.kj.sparse_landmarks import logarithm
from simopt.theorems.rmw.exact_tails import BITS, ball, enclosed

SECTION = "regression"


def bayes_error(clusters: int, n: int) -> Enclosure:
    """Enclosure of E[1 − E|R_V|/V], V = 1 + Bin(clusters − 1, 2^{−n}); what is beyond the last V counts as anything in [0, 1]."""
    import flint

    rate = Fraction(1, 2**n)
    last = math.ceil(clusters * rate + 12 * math.sqrt(clusters * rate) + 40)
    with flint.ctx.workprec(BITS):
        mass = (ball(-rate).log1p() * ball(clusters - 1)).exp()
        odds, walk = ball(rate / (1 - rate)), ball(1)
        error, left = ball(0), 1 - mass
        for v in range(2, min(last, clusters) + 1):
            mass *= odds * (clusters - v + 1) / (v - 1)  # P(V = v)
            if v % 2 and v > 2:
                walk *= ball(Fraction(v, v - 1))  # E|R_{2m+1}| = E|R_{2m}| (2m + 1)/(2m)
            error += mass * (1 - walk / v)
            left -= mass
        found, rest = enclosed(error), enclosed(left)
    return Enclosure(found.low, Fraction(found.high) + max(Fraction(rest.high), Fraction(0)), INTERVAL_EVIDENCE)


def constants(trial: Trial) -> Iterator[Instance]:
    """The hidden constant c, with τ = 2^{−(n + 6)} for n = ⌈c (1/ε_1²) log(1/(ε_1δ))⌉."""
    for c in (1, 2, 5, 20, 100)[: trial.count(4, 5)]:
        n = math.ceil(c * 4 * math.log(32))
        yield {"c": c, "epsilon_1": Fraction(1, 2), "delta": Fraction(1, 16), "clusters": 2 ** (n + 6)}


@claim(
    "KJ-Thm9b",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorems 9 and 23, labelled samples",
    kind=RATE,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"n = O((B²/ε_1²) log(B/(ε_1δ))) labelled samples, whatever τ is, are enough for a loss ≤ ε_0 + ε + ε_1 with probability ≥ 1 − "
    r"δ; as no loss here is above 2, for an expected loss ≤ ε_0 + ε + ε_1 + 2δ. (B = 1, ε = ε_0 = 0, ε_1 = 1/2, δ = 1/16, hidden "
    r"constants c from 1 to 20.)",
    instances=constants,
    knobs={"density": 0},
    mutants={"log(B/(τε_1δ))": {"density": 1}},
    note="One informative cluster in 2^{n + 6}: n labels leave about 64 clusters, and the best expected loss is 0.90 instead of 0.625, "
    "for every learner. It tends to 1 as τ → 0. Exact values: 0.8595 (τ = 2⁻¹⁰, n = 5), 0.9502 (2⁻¹⁸, 10), 0.9956 (2⁻²⁰, 5). The paper's "
    "proof has log(2d) with d ≥ 1/τ, so log(1/τ).",
    cost=0.5,
)
def labels_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The Bayes error after n labels."""
    clusters, epsilon_1, delta = instance["clusters"], instance["epsilon_1"], instance["delta"]
    n = math.ceil(instance["c"] / float(epsilon_1) ** 2 * math.log(clusters ** trial["density"] / float(epsilon_1 * delta)))
    yield at_most(bayes_error(clusters, n), epsilon_1 + 2 * delta, f"expected loss, τ = 2^−{clusters.bit_length() - 1}, n = {n}")


def settings(trial: Trial) -> Iterator[Instance]:
    """B/ε_1, τ and δ."""
    for ratio in (2, 5, 100, 10**4):
        for tau in (Fraction(1), Fraction(1, 100), Fraction(1, 10**9)):
            for delta in (Fraction(1, 2), Fraction(1, 100), Fraction(1, 10**9)):
                yield {"ratio": ratio, "tau": tau, "delta": delta}


@claim(
    "KJ-Thm9b+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorems 9 and 23, labelled samples, with log(1/τ)",
    kind=RATE,
    expected=HOLDS,
    says=r"n = O((B²/ε_1²) log(B/(**τ**ε_1δ))) labelled samples are enough: with d = ⌈8(B/ε_1)²(1 + √(2L))²/τ⌉, L = log(1/δ), B ≥ 2ε_1, δ "
    r"≤ 1/2 and n = ⌈60 (B/ε_1)² log(B/(τε_1δ))⌉ the terms 2B√(2 log(2d)/n) + 2B√(2L/n) of KJ-Thm9-p5+ are ≤ ε_1. And on the clusters n = "
    r"⌈log₂(1/(τδ))⌉ labels single out c* with probability (1 − 2^{−n})^{1/τ − 1} ≥ 1 − δ.",
    instances=settings,
    knobs={"constant": 60, "density": 1},
    mutants={"constant 36": {"constant": 36}, "without τ": {"density": 0}},
    corrects="KJ-Thm9b",
    cost=0.5,
)
def labels_with_density(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The sum of the terms in units of ε_1, and the chance of a single consistent cluster."""
    ratio, tau, delta = instance["ratio"], instance["tau"], instance["delta"]
    level = float(logarithm(1 / delta))
    d = math.ceil(8 * ratio**2 * (1 + math.sqrt(2 * level)) ** 2 / float(tau))
    density = tau if trial["density"] else Fraction(1)
    n = math.ceil(trial["constant"] * ratio**2 * math.log(ratio / float(density * delta)))
    terms = 2 * ratio * (root(2 * logarithm(2 * d) / n, bits=64) + root(2 * logarithm(1 / delta) / n, bits=64))
    yield at_most(terms, 1, f"terms, B/ε_1 = {ratio}")
    labels = math.ceil(math.log2(1 / float(density * delta)))
    missed = -ball(-Fraction(1, 2**labels)).log1p() * ball(1 / tau - 1)
    yield at_most(enclosed(missed), enclosed(-ball(-delta).log1p()), f"−log P(V = 1) against −log(1 − δ), n = {labels}")
