r"""The proof of Theorem 13 (Appendix E.2), from margin losses to labels."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.ordinal.ordinal_worlds import HALF, ONE, ZERO, label, margin_loss

SECTION = "ordinal"


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


def at_the_margin(trial: Trial) -> Iterator[Instance]:
    """f − b_y = γ, b_{y+1} far away."""
    for gamma in (Fraction(1, 10), HALF, Fraction(99, 100)):
        yield {"gamma": gamma}


def large_margins(trial: Trial) -> Iterator[Instance]:
    """γ = 1 and 3."""
    for gamma in (ONE, Fraction(3)):
        yield {"gamma": gamma}


@claim(
    "KJ-Thm13-p3",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.2, 'we can bound the 1-margin loss directly'",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"If E h(f) ≤ ε_0 for the γ-margin loss and E |f̃ − f| ≤ 2ε_1, then for every γ > 0 the 1-margin loss of f̃ is ≤ ε_0 + 4ε_1.",
    instances=at_the_margin,
    knobs={},
    mutants={"γ ≥ 1": {"instances": large_margins}},
    note="f̃ = f = b_y + γ, b_{y+1} far: the γ-margin loss is 0, the 1-margin loss 1 − γ; γ = 1/10: 0.9. This is where Theorem 13 fails: "
    "γ̄ comes from here.",
)
def one_margin_loss(instance: Instance, trial: Trial) -> Iterator[Check]:
    """f − b_y = γ, so ε_0 = 0; ε_1 = 0."""
    gamma = instance["gamma"]
    yield at_most(max(1 - gamma, ZERO), max(gamma - gamma, ZERO), "1-margin loss")


def distances(trial: Trial) -> Iterator[Instance]:
    """γ = 1/4, …, 3 and f − b in quarters from −4 to 4."""
    for gamma in (Fraction(1, 4), HALF, ONE, Fraction(2), Fraction(3)):
        for k in range(-16, 17):
            yield {"gamma": gamma, "x": Fraction(k, 4)}


@claim(
    "KJ-Thm13-p3+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.2, 'we can bound the 1-margin loss directly', corrected",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"[1 − x]_+ ≤ [γ − x]_+ **+ [1 − γ]_+**: each side of the 1-margin loss is at most that of the γ-margin loss if **γ ≥ 1**, and "
    r"larger by up to 1 − γ if γ < 1. For γ − x = p − q and 1 − γ = r − s in their positive and negative parts: p + r − (1 − x) = q + s ≥ "
    r"0. (In symbols; and a grid.)",
    instances=distances,
    exhaustive=True,
    knobs={"part": ONE},
    mutants={"without 1 − γ": {"part": ZERO}},
    corrects="KJ-Thm13-p3",
)
def larger_margins_cost_more(instance: Instance, trial: Trial) -> Iterator[Check]:
    """One side."""
    p, q, r, s = symbols("p q r s")
    yield equal(p + trial["part"] * r - ((p - q) + (r - s)), q + s, "p + r − (1 − x)")
    gamma, x = inputs(gamma=instance["gamma"], x=instance["x"])
    yield at_most(maximum(1 - x, 0), maximum(gamma - x, 0) + trial["part"] * maximum(1 - gamma, 0), "[1 − x]_+")


@claim(
    "KJ-Thm13-p4",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.2, 'h ≥ b_{k+1} + γ − b_2'",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If the label of f is wrong by k ≥ 1 and **b_{j+1} ≥ b_j + Δ**, h ≥ γ + (k − 1)Δ: f is below b_{ŷ+1} by s_0 > 0 (above b_ŷ by "
    r"s_0 ≥ 0), gaps exceed Δ by s_1, …, s_{k−1} ≥ 0, and γ + b_y − f = γ + (k − 1)Δ + Σ s_i. So |ŷ − y| ≤ 1 + (h − γ)/Δ where the label "
    r"is wrong. (In symbols, by induction over k.)",
    instances=once,
    exhaustive=True,
    knobs={"start": 0},
    mutants={"γ + kΔ": {"start": 1}},
    note="True also for Δ < γ; what then fails is 0 ≤ 1 + (0 − γ)/Δ where the label is right.",
)
def wrong_labels_cost(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The hinge of the far threshold."""
    gamma, delta, b, s, k, slack, f = symbols("gamma delta b s k slack f")
    yield equal(gamma + b - (b - s), gamma + (1 - 1 + trial["start"]) * delta + s, "the hinge, k = 1")
    threshold = f + (k - 1) * delta + slack  # where the hinge is γ + (k − 1)Δ + Σ s_i
    yield equal(gamma + (threshold + delta + s) - f, gamma + k * delta + (slack + s), "the hinge, from k to k + 1")


def narrow(trial: Trial) -> Iterator[Instance]:
    """γ = 1, Δ = 1/2 and less, f in the middle of its slot."""
    for delta in (HALF, Fraction(1, 10), Fraction(9, 10)):
        yield {"gamma": ONE, "delta": delta}


def wide(trial: Trial) -> Iterator[Instance]:
    """Δ ≥ γ."""
    for delta in (ONE, Fraction(3, 2)):
        yield {"gamma": ONE, "delta": delta}


@claim(
    "KJ-Thm13-p5",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.2, 'if the loss is greater than γ then it indicates a mislabeling'",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=MISSING_HYPOTHESIS,
    says=r"If h(f, y) > γ, then y is not the label of f.",
    instances=narrow,
    knobs={},
    mutants={"Δ ≥ γ": {"instances": wide}},
    note="γ = 1, Δ = 1/2, f in the middle of its slot: h = 3/2, and the label is right. The converse is what is used, and true: a wrong "
    "label has h ≥ γ (KJ-Thm13-p4).",
)
def large_loss_means_mislabelled(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The middle of the second slot of three."""
    gamma, delta = instance["gamma"], instance["delta"]
    b = [ZERO, delta]
    if label(delta / 2, b) != 2:
        raise ArithmeticError("f has another label")
    yield at_most(margin_loss(delta / 2, 2, b, gamma), gamma, "h where the label is right")


@claim(
    "KJ-Thm13-p5+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.2, 'if the loss is greater than γ then it indicates a mislabeling', corrected",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"**If Δ ≥ γ**, h > γ means that the label is wrong: f above b_y by s ≥ 0 and below b_{y+1} by t ≥ 0, s + t = Δ + v ≥ Δ, has h "
    r"one of 0, γ − s, γ − t and 2γ − s − t, which are γ − s, γ − t and γ − (Δ − γ) − v. And always a wrong label has h ≥ γ: one hinge is "
    r"γ + s. (In symbols.)",
    instances=once,
    exhaustive=True,
    knobs={"times": 1},
    mutants={"2Δ ≥ γ": {"times": 2}},
    corrects="KJ-Thm13-p5",
)
def when_large_loss_means_mislabelled(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both hinges where the label is right; one where it is wrong."""
    gamma, delta, s, v = symbols("gamma delta s v")
    t = delta + v - s
    yield equal((gamma - s) + (gamma - t), gamma - (trial["times"] * delta - gamma) - v, "both hinges")
    yield equal(gamma - (0 - s), gamma + s, "label wrong")
