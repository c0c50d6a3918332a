r"""Appendix A, Lemma 15: d random landmarks give a linear f̃ near f(x) = E[w(x')K(x, x')]. Exact probabilities, all δ at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.kj.landmarks.landmark_laws import ONE, decoded_landmarks, deviations, draws, hadamard, landmarked, mean_sizes, signs
from simopt.theorems.small_worlds.exact_tails import Ball, ball, holds_for_all_levels, level_of, tails

SECTION = "regression"
ZERO = Fraction(0)


def levels(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ε/B and δ, with the smallest d that the bound allows; rank one and orthogonal columns."""
    for epsilon, delta in (("1/2", "1/20"), ("1/2", "1/3"), ("1/4", "1/5"), ("3/4", "1/100"), ("1", "1/2")):
        for kind in ("signs", "rare") + (("hadamard",) if epsilon == "1" else ()):
            yield {"epsilon": Fraction(epsilon), "delta": Fraction(delta), "kind": kind}


@sc.claim(
    "KJ-L15",
    section=SECTION,
    place="Lemma 15",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let **|K| ≤ 1** and w: X → **[−B, B]** (printed {−B, B}). For all ε, δ > 0 some d(ε, δ) suffices: with probability ≥ 1 − δ "
    r"over d landmarks there is a linear f̃ with E_x |f̃(Ψ(x)) − f(x)| ≤ ε. Any d ≥ (B/ε)² (1 + √(2 log(1/δ)))² will do.",
    instances=levels,
    knobs={"share": ONE},
    mutants={"a sixteenth of d": {"share": Fraction(1, 16)}},
    note="d by KJ-L15+, from the same f̃ as in the paper. Without |K| ≤ 1 no d will do: K = N·1{x = x'} on N points.",
)
def landmarks_suffice(epsilon: Fraction, delta: Fraction, kind: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """P(E_x |f̃ − f| > ε) exactly, B = 1."""
    need = (1 + sc.root(2 * sc.log(1 / sc.rational(delta), bits=64), bits=64)) ** 2 / epsilon**2
    d = max(1, math.ceil(trial["share"] * Fraction(need.high)))
    made = {"signs": signs(d), "rare": signs(d, Fraction(1, 5)), "hadamard": hadamard(d)}[kind]
    bad = sum((mass for size, mass in mean_sizes(made) if size > epsilon), ZERO)
    yield sc.probability(bad, bad, delta, f"{kind}, d = {made['d']}")


@sc.claim(
    "KJ-L15+",
    section=SECTION,
    place="Lemma 15, ours: with a constant",
    kind=sc.HIGH_PROBABILITY,
    says=r"If |K| ≤ 1 and |w| ≤ B, then for every δ in (0, 1), with probability ≥ 1 − δ over d landmarks, E_x |f̃(x) − f(x)| ≤ (B/√d) (1 + "
    r"√(2 log(1/δ))).",
    instances=draws,
    decode=decoded_landmarks,
    dimension=8,
    evaluations=(60, 600),
    knobs={"mean": 1, "spread": Fraction(2)},
    mutants={"without B/√d": {"mean": 0}, "√(log(1/δ)/2)": {"spread": Fraction(1, 2)}},
    note="McDiarmid's inequality: one landmark moves E_x |f̃ − f| by ≤ 2B/d, and E |f̃(x) − f(x)| ≤ B/√d for each x. No condition ties δ "
    "to ε/B, as Lemma 15's proof needs. The largest P(bad)/δ is that of two fair signs, e^{(√2 − 1)²/2}/2 = 0.545.",
)
def landmarking_error(
    masses: list[Fraction], gram: list[list[Fraction]], weights: list[Fraction], d: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """P(E_x |f̃ − f| ≥ t)/δ at every value t, B = 1."""

    def exponent(t: Fraction) -> Ball | None:
        return level_of(ball(d * t**2).sqrt() - trial["mean"], trial["spread"])

    yield holds_for_all_levels(tails(mean_sizes(landmarked(masses, gram, weights, d))), exponent, f"E|f̃ − f|, d = {d}")


@sc.claim(
    "KJ-L15-p1",
    section=SECTION,
    place="Proof of Lemma 15, the Hoeffding step",
    kind=sc.HIGH_PROBABILITY,
    says=r"If |K| ≤ 1 and |w| ≤ B, then d = O((B²/ε²) log(1/δ²)) landmarks give P(|f̃(x) − f(x)| ≥ ε) < δ² for each x and δ ≤ 1/2: d ≥ "
    r"(2B²/ε²) log(2/δ²) is enough, as P(|f̃(x) − f(x)| ≥ ε) ≤ 2 exp(−dε²/2B²).",
    instances=draws,
    decode=decoded_landmarks,
    dimension=8,
    evaluations=(40, 400),
    knobs={"factor": Fraction(2)},
    mutants={"2 exp(−2dε²/B²)": {"factor": Fraction(1, 2)}},
)
def error_at_a_point(
    d: int, masses: list[Fraction], weights: list[Fraction], gram: list[list[Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """The exact tail at each point x and each value ε."""
    found = list(deviations(masses, weights, d, gram))

    def exponent(t: Fraction) -> Ball | None:
        x = ball(d * t**2 / trial["factor"]) - ball(2).log()
        return x if x > 0 else None

    for x in range(len(gram)):
        yield holds_for_all_levels(tails([(abs(off[x]), mass) for off, mass in found]), exponent, f"|f̃(x) − f(x)|, x = {x}")


@sc.claim(
    "KJ-L15-p2",
    section=SECTION,
    place="Proof of Lemma 15, Fubini and Markov",
    kind=sc.INEQUALITY,
    says=r"If P_L(|f̃(x) − f(x)| > ε) ≤ δ² for every x, then P_L(P_x(|f̃(x) − f(x)| > ε) > δ) ≤ δ. (On domains, for every ε that occurs, "
    r"δ² the largest of the probabilities over x; exactly.)",
    instances=draws,
    knobs={"power": 2},
    mutants={"δ³ in the conclusion": {"power": 6}},
    note="In squares, so that all is rational: P_x > δ iff P_x² > δ².",
)
def few_points_are_bad(
    masses: list[Fraction], weights: list[Fraction], d: int, gram: list[list[Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """P_L(P_x(bad)² > δ²)² ≤ δ²."""
    found = list(deviations(masses, weights, d, gram))
    sizes = sorted({abs(e) for off, _ in found for e in off})
    for epsilon in sizes[:: max(1, len(sizes) // 12)]:
        bad = [([abs(e) > epsilon for e in off], mass) for off, mass in found]
        square = max(sum((mass for flags, mass in bad if flags[x]), ZERO) for x in range(len(masses)))
        share = ZERO
        for flags, mass in bad:
            if sum((p for p, flag in zip(masses, flags, strict=True) if flag), ZERO) ** 2 > square:
                share += mass
        yield sc.at_most(share**2, square ** (trial["power"] // 2), f"P_L(P_x(bad) > δ)², ε = {float(epsilon):.3g}")


def mean_error(epsilon: Any, B: Any, delta: Any, reach: int = 2) -> Any:
    """(1 − δ)ε + 2Bδ: the mean of an error that is ε at most but on mass δ, and 2B there."""
    return (1 - delta) * epsilon + reach * B * delta


@sc.claim(
    "KJ-L15-p3",
    section=SECTION,
    place="Proof of Lemma 15, from points to the mean",
    kind=sc.IDENTITY,
    says=r"Let |f̃ − f| ≤ ε outside of a set of mass q ≤ δ, |f̃ − f| ≤ 2B on it and **ε ≤ 2B**. Then E_x |f̃ − f| ≤ (1 − q)ε + 2Bq = (1 − "
    r"δ)ε + 2Bδ − (δ − q)(2B − ε) ≤ (1 − δ)ε + 2Bδ.",
    exhaustive=True,
    knobs={"reach": 2},
    mutants={"|f̃ − f| ≤ B": {"reach": 1}},
)
def from_points_to_the_mean(trial: sc.Trial) -> Iterator[sc.Check]:
    """The identity."""
    q, epsilon, B, delta = sc.symbols("q epsilon B delta")
    bound = mean_error(epsilon, B, delta, trial["reach"])
    yield sc.equal(mean_error(epsilon, B, q), bound - (delta - q) * (2 * B - epsilon), "q ≤ δ")


def nearly_epsilon(trial: sc.Trial) -> Iterator[sc.Instance]:
    """δ just below ε/B, where (1 − δ)ε + 2Bδ is attained: |f̃ − f| is ε on mass 1 − δ and 2B on the rest."""
    for B, epsilon, delta in (
        (1, Fraction(1, 2), Fraction(49, 100)),
        (1, Fraction(1, 10), Fraction(9, 100)),
        (3, Fraction(2), Fraction(2, 3) - Fraction(1, 30)),
    ):
        yield {"B": B, "epsilon": epsilon, "delta": delta}


@sc.claim(
    "KJ-L15-p4",
    section=SECTION,
    place="Proof of Lemma 15, the last line",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.CONSTANT,
    says=r"(1 − δ)ε + 2Bδ < 2ε for δ < ε/B.",
    instances=nearly_epsilon,
    knobs={"times": 2},
    mutants={"3ε": {"times": 3}},
    note="B = 1, ε = 1/2, δ = 49/100: 1.235 > 1. Lemma 15 is untouched: 3ε, or δ ≤ ε/(2B − ε) (KJ-L15-p4+), and KJ-L15+ needs no "
    "condition.",
)
def twice_epsilon(B: int, epsilon: Fraction, delta: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The bound of the last line."""
    B, epsilon, delta = sc.inputs(B=B, epsilon=epsilon, delta=delta)
    yield sc.at_most(mean_error(epsilon, B, delta), trial["times"] * epsilon, "(1 − δ)ε + 2Bδ", strict=True)


@sc.claim(
    "KJ-L15-p4+",
    section=SECTION,
    place="Proof of Lemma 15, the last line, corrected",
    kind=sc.IDENTITY,
    says=r"3ε − (1 − δ)ε − 2Bδ = 2(ε − Bδ) + δε > 0 for δ < ε/B, and 2ε − (1 − δ)ε − 2Bδ = ε − δ(2B − ε) ≥ 0 for δ ≤ ε/(2B − ε), so for δ "
    r"≤ ε/2B.",
    exhaustive=True,
    knobs={"times": 3},
    mutants={"2ε for δ < ε/B": {"times": 2}},
    corrects="KJ-L15-p4",
)
def three_epsilon(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both identities."""
    epsilon, B, delta = sc.symbols("epsilon B delta")
    bound = mean_error(epsilon, B, delta)
    yield sc.equal(trial["times"] * epsilon - bound, 2 * (epsilon - B * delta) + delta * epsilon, "3ε")
    yield sc.equal(2 * epsilon - bound, epsilon - delta * (2 * B - epsilon), "2ε")


def cancelling(trial: sc.Trial) -> Iterator[sc.Instance]:
    """w = ±1 of equal mass and K = 1: f = 0; with one landmark |f̃| = 1, with two f̃ may be 0."""
    for d in (1, 2):
        yield landmarked([Fraction(1, 2)] * 2, [[1, 1], [1, 1]], [1, -1], d)


@sc.claim(
    "KJ-L15-p5",
    section=SECTION,
    place="Proof of Lemma 15: sup |f̃| = sup |f| = B",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.TYPO,
    says=r"sup_x |f(x)| = B = sup_x |w(x)|, for |K| = 1.",
    instances=cancelling,
    knobs={"share": ONE},
    mutants={"≥ 0": {"share": ZERO}},
    note="w = ±B on two halves and K = 1: f = 0. Only ≤ B is used (KJ-L15-p5+).",
)
def largest_value(masses: list[Fraction], weights: list[Fraction], gram: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """max_x |f(x)|."""
    w = weights
    top = max(abs(sum((p * v * k for p, v, k in zip(masses, w, row, strict=True)), ZERO)) for row in gram)
    yield sc.at_least(top, trial["share"] * max(abs(v) for v in w), "sup |f|")


@sc.claim(
    "KJ-L15-p5+",
    section=SECTION,
    place="Proof of Lemma 15: sup |f̃| and sup |f| are at most B",
    kind=sc.IDENTITY,
    says=r"If |K| ≤ 1 and |w| ≤ B, then |Σ p_i w_i k_i| ≤ B for masses p: B − s w k = ½[(B − sw)(1 + k) + (B + sw)(1 − k)] ≥ 0 for s = "
    r"±1, and B Σ p_i − s Σ p_i w_i k_i = Σ p_i (B − s w_i k_i), term by term. (In symbols.)",
    exhaustive=True,
    knobs={"bound": ONE},
    mutants={"B/2": {"bound": Fraction(1, 2)}},
    corrects="KJ-L15-p5",
)
def values_are_bounded(trial: sc.Trial) -> Iterator[sc.Check]:
    """The two identities for both signs."""
    B, p, w, k = sc.symbols("B p w k")
    for s in (1, -1):
        yield sc.equal(trial["bound"] * B - s * w * k, ((B - s * w) * (1 + k) + (B + s * w) * (1 - k)) / 2, "the bound of a term")
        yield sc.equal(B * p - s * p * w * k, p * (B - s * w * k), "the sum, one term")
