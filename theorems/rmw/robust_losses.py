r"""Which losses are robust to label noise: Theorem 13, Theorem 14 and the remarks between and after them.

Identities are in free symbols: a = ℓ(1, v) and b = ℓ(−1, v) at a score v, a2 and b2 at another score.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.loss_orders import collinearity, corrected, noisy
from simopt.theorems.small_worlds.worlds import CONVENTIONS, zero_one

PRINTED = ("A", "B")


@sc.claim(
    "RMW-T13",
    place="Theorem 13",
    kind=sc.EQUIVALENCE,
    says=r"Let ℓ(−1, v) ≠ ℓ(1, v) **for some v**. Then ℓ is robust to label noise iff ℓ(1, v) + ℓ(−1, v) = C for all v. If: ℓ_σ = (ℓ − "
    r"σC)/(1 − 2σ), affine and increasing in ℓ. Only if: on the events (v, 1), (v, −1), (w, 1) the points (ℓ, ℓ_σ) lie on a line iff σ "
    r"(ℓ(1, v) − ℓ(−1, v)) (S(w) − S(v)) = 0, S = ℓ(1, ·) + ℓ(−1, ·); so if labels matter at one v, S is constant (Lemma 23).",
    remains="Lemmas 12 and 23, by which robustness says that the points lie on a line",
    exhaustive=True,
    knobs={"weight": 1},
    mutants={"ℓ(1, v) + 2ℓ(−1, v) = C": {"weight": 2}},
    note="The condition on v is printed without a quantifier. 'For all v' would exclude linear loss, where ℓ(1, 0) = ℓ(−1, 0); the proof "
    "uses one v. Without it: a loss is robust iff it is label-free or has a constant sum (RMW-D10 tries this on 81 losses).",
)
def robust_iff_the_two_losses_add_up(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both directions as identities."""
    a, b, a2, b2, s, c = sc.symbols("a b a2 b2 s C")
    factor = 1 / (1 - 2 * s)
    weight = trial["weight"]
    rest = (c - a) / weight
    yield sc.equal(corrected(a, rest, s, s), factor * (a - s * c), "if: ℓ_σ(1, v)")
    yield sc.equal(corrected(rest, a, s, s), factor * (rest - s * c), "if: ℓ_σ(−1, v)")
    losses = [a, b, a2]
    fixed = [corrected(a, b, s, s), corrected(b, a, s, s), corrected(a2, b2, s, s)]
    yield sc.equal(collinearity(losses, fixed), s * factor * (b - a) * ((a2 + weight * b2) - (a + weight * b)), "only if: the determinant")


def at_zero(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Misclassification loss under each convention, at a negative score, at 0 and at a positive one."""
    for convention in trial["conventions"]:
        loss = zero_one(convention)
        yield {"convention": convention, "table": [[loss(y, v) for y in (1, -1)] for v in (-1, 0, 1)], "rate": Fraction(1, 4)}


@sc.claim(
    "RMW-T13b",
    place="after Theorem 13",
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.CONVENTION,
    says=r"Misclassification loss, ℓ₀₁(y, v) = [[yv < 0]] (A) or with 'ℓ₀₁(y, 0) = 1 always' (B), satisfies the condition of Theorem 13: "
    r"ℓ₀₁(1, v) + ℓ₀₁(−1, v) is the same for all v; so it orders distributions alike with and without noise.",
    instances=at_zero,
    exhaustive=True,
    knobs={"conventions": PRINTED},
    mutants={"a score of 0 costs ½": {"conventions": ("C",)}},
    note="At v = 0 the sum is 0 under A and 2 under B, elsewhere 1. Against Definition 10: Q = (score 0, label 1) and Q' = (score ±1 "
    "which is right under A and wrong under B) cost the same, under noise σ they differ by σ.",
)
def misclassification_loss_adds_up(table: list[list[Fraction]], rate: Fraction, convention: str) -> Iterator[sc.Check]:
    """The sum at 0 beside that elsewhere; then two distributions of equal risk, before and after noise."""
    below, middle, above = sc.inputs(loss=table)
    rate = sc.inputs(rate=rate)
    yield sc.equal(middle[0] + middle[1], above[0] + above[1], f"sum at 0 and above, {convention}")
    yield sc.equal(below[0] + below[1], above[0] + above[1], f"sum below and above, {convention}")
    if convention in PRINTED:
        same = above if convention == "A" else below
        yield sc.equal(middle[0], same[0], f"risks of Q and Q', {convention}")
        yield sc.equal(noisy(middle[0], middle[1], rate), noisy(same[0], same[1], rate), f"risks of Q_σ and Q'_σ, {convention}")


@sc.claim(
    "RMW-T13b+",
    place="after Theorem 13, corrected",
    kind=sc.EQUIVALENCE,
    says=r"With ℓ₀₁(y, 0) = ½ (convention C; the loss of a guess), ℓ₀₁(1, v) + ℓ₀₁(−1, v) = 1 at v < 0, v = 0 and v > 0, which is all v, "
    r"and E ℓ₀₁ under noise σ is σ + (1 − 2σ) ℓ₀₁. Under A and B this holds for distributions without scores 0.",
    instances=at_zero,
    exhaustive=True,
    knobs={"conventions": ("C",)},
    mutants={
        "convention A": {"conventions": ("A",)},
        "convention B": {"conventions": ("B",)},
        "all conventions": {"conventions": CONVENTIONS},
    },
    corrects="RMW-T13b",
)
def a_guess_adds_up(table: list[list[Fraction]]) -> Iterator[sc.Check]:
    """The sums and the noisy risks from the table of the loss."""
    (rate,) = sc.symbols("sigma")
    for plain, row, where in zip(table, sc.inputs(loss=table), ("v < 0", "v = 0", "v > 0"), strict=True):
        yield sc.equal(row[0] + row[1], 1, f"sum at {where}")
        yield sc.equal(noisy(plain[0], plain[1], rate), rate + (1 - 2 * rate) * plain[0], f"under noise, {where}")


@sc.claim(
    "RMW-T14",
    place="Theorem 14, with the hypothesis of Theorem 13",
    kind=sc.EQUIVALENCE,
    says=r"Let ℓ(−1, v) ≠ ℓ(1, v) **for some v**, as in Theorem 13. Then ℓ is convex in v and robust to label noise iff ℓ(y, v) = λyv + "
    r"g(y). Only if: ℓ(−1, ·) = C − ℓ(1, ·) turns the convexity gap at u < w and t u + (1 − t) w into its negative, so both gaps are 0 "
    r"and both losses are affine, with slopes that add up to 0. If: the loss is affine in v, and its sum over y is g(1) + g(−1).",
    remains="Theorem 13 (robust iff the sum over y is constant), and that a loss which is convex and concave is affine",
    exhaustive=True,
    knobs={"mirror": 1},
    mutants={"ℓ(−1, ·) = C − 2ℓ(1, ·)": {"mirror": 2}},
    note="Theorem 13 has the hypothesis, Theorem 14 does not repeat it. Without it any label-free convex loss is a third case: "
    "RMW-T14-label-free. The sign 'α_{−y} = −α_y = λ' of the proof gives ℓ = −λyv + g(y); λ may have either sign.",
)
def convex_and_robust_is_linear(trial: sc.Trial) -> Iterator[sc.Check]:
    """Convexity gaps, slopes and sums with all values free."""
    at_u, at_m, at_w, c, t = sc.symbols("at_u at_m at_w C t")
    gap = t * at_u + (1 - t) * at_w - at_m
    u, m, w = (c - trial["mirror"] * value for value in (at_u, at_m, at_w))
    yield sc.equal(t * u + (1 - t) * w - m, -gap, "only if: the two convexity gaps")
    up, down, g1, g2, v, lam = sc.symbols("up down g1 g2 v lam")
    added = (up * v + g1) + (down * v + g2)
    yield sc.equal(added - (g1 + g2), v * (up + down), "only if: a constant sum makes the slopes cancel")
    yield sc.equal((lam * v + g1) + (-lam * v + g2), g1 + g2, "if: the sum")
    x, z = sc.symbols("x z")
    yield sc.equal(lam * (t * x + (1 - t) * z) + g1, t * (lam * x + g1) + (1 - t) * (lam * z + g1), "if: convexity, with equality")


@sc.claim(
    "RMW-T14-label-free",
    place="Theorem 14 without the hypothesis of Theorem 13, our counterexample",
    kind=sc.COUNTEREXAMPLE,
    says=r"ℓ(y, v) = v² is convex and robust to label noise and not of the form λyv + g(y): noise does not change its risk, its second "
    r"difference is 2h², not 0. So Theorem 14 needs ℓ(−1, v) ≠ ℓ(1, v) for some v.",
    exhaustive=True,
    knobs={"label": 0},
    mutants={"v² + yv": {"label": 1}},
)
def squares_of_scores_are_robust(trial: sc.Trial) -> Iterator[sc.Check]:
    """Risk of one event under noise, and second differences."""
    v, h, s, lam, g = sc.symbols("v h s lam g")

    def loss(y: int) -> Any:
        return v**2 + trial["label"] * y * v

    yield sc.equal(noisy(loss(1), loss(-1), s), loss(1), "risk under noise")
    yield sc.equal((v + h) ** 2 - 2 * v**2 + (v - h) ** 2, 2 * h**2, "second difference of v²")
    yield sc.equal((lam * (v + h) + g) - 2 * (lam * v + g) + (lam * (v - h) + g), 0, "second difference of λyv + g(y)")


@sc.claim(
    "RMW-T14b",
    place="Section 5, before Theorem 14",
    kind=sc.EQUIVALENCE,
    says=r"Up to equivalence, linear loss is the only convex loss of Theorem 13: with **λ < 0** and **P fixed**, ℓ = λyv + g(y) satisfies "
    r"ℓ(P, f) − ℓ(P, f') = |λ| (ℓ_linear(P, f) − ℓ_linear(P, f')) for all f, f', so it orders classifiers as linear loss does; if also "
    r"g(1) = g(−1), then ℓ = |λ| ℓ_linear + β and the losses are order equivalent.",
    remains="Theorem 14: that every convex loss of Theorem 13 is of this form",
    exhaustive=True,
    knobs={"lam": -1},
    mutants={"λ > 0": {"lam": 1}},
    note="Read with Definition 11 and without the two hypotheses the sentence is false: RMW-T14b-literal.",
)
def robust_convex_losses_order_classifiers_alike(trial: sc.Trial) -> Iterator[sc.Check]:
    """Two classifiers on one event of each label, masses and values free."""
    size, g1, g2, p, q, f1, f2, h1, h2 = sc.symbols("size g1 g2 p q f1 f2 h1 h2")  # size = |λ|
    lam = trial["lam"] * size

    def risk(up: Any, down: Any) -> Any:
        return p * (lam * up + g1) + q * (-lam * down + g2)

    def linear_risk(up: Any, down: Any) -> Any:
        return p * (1 - up) + q * (1 + down)

    difference, other = (of(f1, f2) - of(h1, h2) for of in (risk, linear_risk))
    yield sc.equal(difference, size * other, "differences of risks under one P")
    v, g = sc.symbols("v g")
    for y in (1, -1):
        yield sc.equal(lam * y * v + g, size * (1 - y * v) + (g - size), f"g(1) = g(−1), y = {y}")


def literal_pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """λ, g(1), g(−1), and two distributions (score, label) that linear loss orders otherwise."""
    yield {"lam": -1, "g": [0, trial["offset"]], "first": [0, 1], "second": [0, -1]}


@sc.claim(
    "RMW-T14b-literal",
    place="Section 5, before Theorem 14, read with Definition 11",
    kind=sc.COUNTEREXAMPLE,
    says=r"−yv + g(y) with g(1) = 0, g(−1) = 1 is convex and robust and not order equivalent to 1 − yv: the distributions "
    r"(score 0, label −1) and (score 0, label 1) have equal linear loss 1, and losses 1 > 0.",
    instances=literal_pairs,
    quantifier=sc.SOME,
    exhaustive=True,
    knobs={"offset": 1},
    mutants={"g(1) = g(−1)": {"offset": 0}},
)
def constants_by_label_change_the_order(lam: int, g: list[int], first: list[int], second: list[int]) -> Iterator[sc.Check]:
    """Both losses on both distributions."""
    lam, g, first, second = sc.inputs(lam=lam, g=g, first=first, second=second)

    def linear_loss(event: Any) -> Any:
        return 1 - event[1] * event[0]

    up, down = lam * first[1] * first[0] + g[0], lam * second[1] * second[0] + g[1]
    yield sc.equal(linear_loss(first), linear_loss(second), "linear losses")
    yield sc.at_most(up, down, "losses λyv + g(y)", strict=True)
