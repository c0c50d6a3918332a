r"""Appendix E.1: ordinal regression by regression and fixed thresholds. It is right for b_i = i − 1/2, not for the printed b_i = i − 1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from simopt.claims import *
from simopt.theorems.kj.ordinal.ordinal_worlds import HALF, ONE, ZERO, label, reduced

SECTION = "ordinal"
SIGNS = (1, -1)


def at_the_label(trial: Trial) -> Iterator[Instance]:
    """f = y at the first five of six labels, ε = 0 and 1/4."""
    for y in range(1, 6):
        for epsilon in (ZERO, Fraction(1, 4)):
            yield {"f": Fraction(y), "y": y, "epsilon": epsilon}


def grid(trial: Trial) -> Iterator[Instance]:
    """The identities, and all labels of four at f = −1, −3/4, …, 6, ε = 0 and 1/4."""
    yield {}
    for y in range(1, 5):
        for k in range(-4, 25):
            yield {"f": Fraction(k, 4), "y": y, "epsilon": Fraction(k % 2, 4)}


def compared(instance: Instance, offset: Fraction, labels: int) -> tuple[Any, Any, Any, list[Check]]:
    """f, y, ŷ as formulas, with b_ŷ ≤ f < b_{ŷ+1} as hypotheses."""
    thresholds = reduced(labels, offset)
    f, y, given = inputs(f=instance["f"], y=instance["y"], label=label(instance["f"], thresholds))
    found = label(instance["f"], thresholds)
    hypotheses = [at_least(f, given - offset, "f ≥ b_ŷ")] if found > 1 else []
    return f, y, given, hypotheses + ([at_most(f, given + 1 - offset, "f < b_ŷ₊₁", strict=True)] if found < labels else [])


def _plain(instance: Instance, offset: Fraction, labels: int = 4) -> Check:
    f, y, given, hypotheses = compared(instance, offset, labels)
    return at_most(abs(given - y), minimum(2 * abs(f - y), abs(f - y) + HALF), "ordinal error").given(*hypotheses)


def _insensitive(instance: Instance, offset: Fraction, labels: int = 4) -> Check:
    f, y, given, hypotheses = compared(instance, offset, labels)
    epsilon = inputs(epsilon=instance["epsilon"])
    loss = maximum(abs(f - y) - epsilon, 0)
    return at_most(abs(given - y), minimum(2 * loss + 2 * epsilon, loss + epsilon + HALF), "ordinal error").given(*hypotheses)


def _errors_of_k(offset: Fraction) -> Iterator[tuple[Any, Any, Any]]:
    """For an error of k ≥ 1 labels, f beyond the threshold by s ≥ 0: |f − y|, k and s, from either side."""
    k, s, given = symbols("k s label")
    yield (given + k) - (given + 1 - offset - s), k, s  # y = ŷ + k, f = b_{ŷ+1} − s
    yield (given - offset + s) - (given - k), k, s  # y = ŷ − k, f = b_ŷ + s


@claim(
    "KJ-E1a",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.1, thresholds b_i = i − 1",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=CONVENTION,
    says=r"For the thresholds b_1 = −∞, b_i = i − 1 (i > 1) and y_f = the largest i with f ≥ b_i: |y_f − y| ≤ min{2|f − y|, |f − y| + "
    r"1/2}.",
    instances=at_the_label,
    knobs={"offset": ONE},
    mutants={"b_i = i − 1/2": {"offset": HALF}},
    note="f = y = 1 has f ≥ b_2 = 1, so that y_f = 2. The thresholds belong halfway between the labels (KJ-E1a+).",
)
def printed_thresholds(instance: Instance, trial: Trial) -> Iterator[Check]:
    """f = y."""
    yield _plain(instance, trial["offset"], 6)


@claim(
    "KJ-E1a+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.1, thresholds b_i = i − 1/2",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For **b_i = i − 1/2** (i > 1), any r: |y_f − y| ≤ min{2|f − y|, |f − y| + 1/2}. If y_f and y are k ≥ 1 apart, f is beyond the "
    r"threshold next to y_f by s ≥ 0 and |f − y| = k − 1/2 + s, so that |f − y| + 1/2 − k = s and 2|f − y| − k = (k − 1) + 2s. (In "
    r"symbols; and r = 4, f = −1, −3/4, …, 6.)",
    instances=grid,
    exhaustive=True,
    knobs={"offset": HALF},
    mutants={"b_i = i − 1": {"offset": ONE}, "b_i = i − 5/8": {"offset": Fraction(5, 8)}},
    corrects="KJ-E1a",
    cost=0.3,
)
def thresholds_halfway(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both identities from either side; the grid."""
    if instance:
        yield _plain(instance, trial["offset"])
        return
    for distance, k, s in _errors_of_k(trial["offset"]):
        yield equal(distance + HALF - k, s, "|f − y| + 1/2 − k")
        yield equal(2 * distance - k, (k - 1) + 2 * s, "2|f − y| − k")


@claim(
    "KJ-E1a2",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.1, thresholds b_i = i − 1, ε-insensitive loss",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=CONVENTION,
    says=r"For b_i = i − 1 and every ε ≥ 0: |y_f − y| ≤ min{2ℓ_ε(f − y) + 2ε, ℓ_ε(f − y) + ε + 1/2}.",
    instances=at_the_label,
    knobs={"offset": ONE},
    mutants={"b_i = i − 1/2": {"offset": HALF}},
    note="f = y: the bound is min{2ε, ε + 1/2} < 1 for ε < 1/2, and y_f = y + 1 for y < r (KJ-E1a).",
)
def printed_thresholds_insensitive(instance: Instance, trial: Trial) -> Iterator[Check]:
    """f = y."""
    yield _insensitive(instance, trial["offset"], 6)


@claim(
    "KJ-E1a2+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.1, thresholds b_i = i − 1/2, ε-insensitive loss",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For **b_i = i − 1/2** and ε ≥ 0: |y_f − y| ≤ min{2ℓ_ε(f − y) + 2ε, ℓ_ε(f − y) + ε + 1/2}, by KJ-E1a+ and ℓ_ε(x) + ε = |x| + e, "
    r"e = max(ε − |x|, 0) ≥ 0. (In symbols; and a grid.)",
    instances=grid,
    exhaustive=True,
    knobs={"offset": HALF},
    mutants={"b_i = i − 1": {"offset": ONE}},
    corrects="KJ-E1a2",
    cost=0.4,
)
def thresholds_halfway_insensitive(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The slacks are those of KJ-E1a+ plus e and 2e."""
    if instance:
        yield _insensitive(instance, trial["offset"])
        return
    (e,) = symbols("e")
    for distance, k, s in _errors_of_k(trial["offset"]):
        yield equal((distance + e) + HALF - k, s + e, "ℓ_ε + ε + 1/2 − k")
        yield equal(2 * (distance + e) - k, (k - 1) + 2 * s + 2 * e, "2ℓ_ε + 2ε − k")


def far_from_labels(trial: Trial) -> Iterator[Instance]:
    """Beyond the end labels with thresholds of both kinds, and f = 4, y = 5 with b_i = i − 1."""
    for offset in (ONE, HALF):
        yield {"f": Fraction(-100), "y": 1, "offset": offset}
        yield {"f": Fraction(100), "y": 5, "offset": offset}
    yield {"f": Fraction(4), "y": 5, "offset": ONE}


@claim(
    "KJ-E1b",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.1, after Definition 25",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=MISSING_HYPOTHESIS,
    says=r"'From the definition of the thresholding scheme it is clear that' |f(x) − y(x)| ≤ |y_f(x) − y(x)| + 1/2.",
    instances=far_from_labels,
    knobs={"clipped": False},
    mutants={"f clipped, b_i = i − 1/2": {"clipped": True}},
    note="y = 1 and f = −100: y_f = 1, but |f − y| = 101, for every choice of thresholds. With the printed b_i = i − 1 also inside: f = "
    "4, y = 5 has y_f = 5 and |f − y| = 1.",
)
def labels_tell_predictions(instance: Instance, trial: Trial) -> Iterator[Check]:
    """|f − y| against |y_f − y| + 1/2."""
    f, y, offset = instance["f"], instance["y"], instance["offset"]
    if trial["clipped"]:
        f, offset = min(max(f, HALF), 5 + HALF), HALF
    yield at_most(abs(f - y), abs(label(f, reduced(5, offset)) - y) + HALF, "|f − y|")


@claim(
    "KJ-E1b+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.1, after Definition 25, corrected",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For **b_i = i − 1/2**: |f − y| ≤ |y_f − y| + 1/2 **+ dist(f, [1/2, r + 1/2])**, so ≤ |y_f − y| + 1/2 if 1/2 ≤ f ≤ r + 1/2. f = "
    r"y_f + s + e with |s| ≤ 1/2, |e| the distance: for both signs |k| + 1/2 + |e| ∓ (k + s + e) = (|k| ∓ k) + (1/2 ∓ s) + (|e| ∓ e), k = "
    r"y_f − y. (In symbols; and a grid.)",
    instances=grid,
    exhaustive=True,
    knobs={"half": HALF, "distance": ONE},
    mutants={"without the distance": {"distance": ZERO}, "3/8": {"half": Fraction(3, 8)}},
    corrects="KJ-E1b",
    cost=0.3,
)
def labels_tell_clipped_predictions(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity for both signs; the grid."""
    if instance:
        f, y, given, hypotheses = compared(instance, HALF, 4)
        outside = maximum(HALF - f, f - 4 - HALF, 0)
        yield at_most(abs(f - y), abs(given - y) + trial["half"] + trial["distance"] * outside, "|f − y|").given(*hypotheses)
        return
    k, s, e, size, away = symbols("k s e size away")
    for sign in SIGNS:
        bound = size + trial["half"] + trial["distance"] * away
        yield equal(bound - sign * (k + s + e), (size - sign * k) + (HALF - sign * s) + (away - sign * e), "slack")
