r"""Section 5.1: noise rates that depend on the label, mutually contaminated class distributions (Theorems 15 and 16), and how they relate.

s₁ and s₋₁ are the probabilities with which the labels 1 and −1 are flipped. a = ℓ(1, v) and b = ℓ(−1, v) are losses at a score v, a2 and b2
at another. All identities are in free symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.loss_orders import collinearity, corrected, noisy
from simopt.theorems.small_worlds.worlds import dot

CITATION = "Section 5.1"


@sc.claim(
    "RMW-ccn",
    place=CITATION + ", the corrected loss",
    kind=sc.IDENTITY,
    says=r"For s₁ + s₋₁ < 1 and ℓ̃(y, v) = ((1 − s_{−y}) ℓ(y, v) − s_y ℓ(−y, v))/(1 − s₋₁ − s₁): the expectation of ℓ̃ under class-"
    r"conditional noise is that of ℓ without noise, for every loss and every Q. At s₁ = s₋₁ = σ it is ℓ_σ.",
    exhaustive=True,
    knobs={"swapped": False},
    mutants={"s_y for s_{−y}": {"swapped": True}},
)
def class_conditional_correction_is_unbiased(trial: sc.Trial) -> Iterator[sc.Check]:
    """One event of each label at a score v, masses q and r."""
    a, b, s1, s2, q, r, s = sc.symbols("a b s1 s2 q r s")  # s2 = s₋₁
    rates = (s2, s1) if trial["swapped"] else (s1, s2)
    own, other = corrected(a, b, *rates), corrected(b, a, *rates[::-1])
    flipped = [q * (1 - s1) + r * s2, r * (1 - s2) + q * s1]
    yield sc.equal(flipped[0] * own + flipped[1] * other, q * a + r * b, "risk of ℓ̃ under noise")
    yield sc.equal(corrected(a, b, s, s), ((1 - s) * a - s * b) / (1 - 2 * s), "equal rates")


@sc.claim(
    "RMW-T15",
    place="Theorem 15 and Appendix 16",
    kind=sc.EQUIVALENCE,
    says=r"Let s₁ + s₋₁ < 1 and s₁ ℓ(−1, v) + s₋₁ ℓ(1, v) = C for all v. Then ℓ̃ = (ℓ − C)/(1 − s₋₁ − s₁), so that ℓ̃ and ℓ are order "
    r"equivalent; and the risk under noise is C + (1 − s₋₁ − s₁) times the clean one, so ℓ is robust to this noise. Conversely (ours), if "
    r"ℓ(1, v) ≠ ℓ(−1, v) for some v and ℓ̃, ℓ are order equivalent, then s₁ ℓ(−1, ·) + s₋₁ ℓ(1, ·) is constant.",
    remains="Lemma 23, by which order equivalent losses are affine in one another: the converse rests on it",
    exhaustive=True,
    knobs={"swapped": False},
    mutants={"s₁ ℓ(1, v) + s₋₁ ℓ(−1, v) = C": {"swapped": True}},
    note="The converse needs no positive rates; for label-free losses ℓ̃ = ℓ whatever the rates.",
)
def weighted_sums_make_losses_robust(trial: sc.Trial) -> Iterator[sc.Check]:
    """C is written out as the weighted sum, so that its constancy is the only hypothesis."""
    a, b, a2, b2, s1, s2 = sc.symbols("a b a2 b2 s1 s2")

    def weighted(up: Any, down: Any) -> Any:
        return s1 * up + s2 * down if trial["swapped"] else s1 * down + s2 * up

    c, factor = weighted(a, b), 1 / (1 - s2 - s1)
    yield sc.equal(corrected(a, b, s1, s2), factor * (a - c), "ℓ̃(1, v)")
    yield sc.equal(corrected(b, a, s2, s1), factor * (b - c), "ℓ̃(−1, v)")
    yield sc.equal(noisy(a, b, s1), c + (1 - s2 - s1) * a, "E ℓ(ỹ, v) for y = 1")
    yield sc.equal(noisy(b, a, s2), c + (1 - s2 - s1) * b, "E ℓ(ỹ, v) for y = −1")
    fixed = [corrected(a, b, s1, s2), corrected(b, a, s2, s1), corrected(a2, b2, s1, s2)]
    determinant = factor * (b - a) * (weighted(a2, b2) - c)
    yield sc.equal(collinearity([a, b, a2], fixed), determinant, "converse: the determinant of (v, ±1), (w, 1)")
    yield sc.equal(corrected(a, a, s1, s2), a, "label-free losses")


@sc.claim(
    "RMW-T15b",
    place=CITATION + ", after Theorem 15",
    kind=sc.COUNTEREXAMPLE,
    says=r"For linear loss s₁ (1 + v) + s₋₁ (1 − v) = s₁ + s₋₁ + (s₁ − s₋₁) v, which is constant only if s₁ = s₋₁; otherwise ℓ̃ and ℓ are "
    r"not order equivalent: on the events (1, ±1) and (0, 1) their determinant is 2(s₋₁ − s₁)/(1 − s₁ − s₋₁). No loss **that depends on "
    r"both label and score** is robust for all rates: if pb + qa = c and qb + pa = c' for two rates p ≠ q, then a = (pc' − qc)/(p² − q²), "
    r"so a, and likewise b, does not depend on v.",
    remains="Lemma 23 and the converse of Theorem 15, by which robustness makes the weighted sum constant",
    exhaustive=True,
    knobs={"slope": 1},
    mutants={"ℓ = 1": {"slope": 0}},
    note="'Non trivial' has to exclude losses that depend on the label alone or on the score alone: both are robust for all rates. The "
    "order by P(y = 1) survives noise with s₁ + s₋₁ < 1.",
)
def linear_loss_needs_equal_rates(trial: sc.Trial) -> Iterator[sc.Check]:
    """Linear loss, then any loss under two pairs of rates."""
    s1, s2, v, a, b, p, q = sc.symbols("s1 s2 v a b p q")

    def linear_loss(y: int, score: Any) -> Any:
        return 1 - trial["slope"] * y * score

    yield sc.equal(s1 * linear_loss(-1, v) + s2 * linear_loss(1, v), s1 + s2 + (s1 - s2) * v, "the weighted sum")
    events = ((1, 1), (-1, 1), (1, 0))
    fixed = [corrected(linear_loss(y, score), linear_loss(-y, score), *((s1, s2) if y == 1 else (s2, s1))) for y, score in events]
    plain = [linear_loss(y, score) for y, score in events]
    yield sc.equal(collinearity(plain, fixed), 2 * (s2 - s1) / (1 - s1 - s2), "determinant")
    c, c2 = p * b + q * a, q * b + p * a
    yield sc.equal((p * c2 - q * c) / (p**2 - q**2), a, "two pairs of rates give ℓ(1, v)")
    yield sc.equal((p * c - q * c2) / (p**2 - q**2), b, "two pairs of rates give ℓ(−1, v)")
    up, mass = sc.symbols("up mass")  # a loss g(y): E g = g(−1) + (g(1) − g(−1)) P(y = 1)
    flipped = mass * (1 - s1) + (1 - mass) * s2
    yield sc.equal(flipped - (up * (1 - s1) + (1 - up) * s2), (1 - s1 - s2) * (mass - up), "the order by P(y = 1) survives")


@sc.claim(
    "RMW-5.1",
    place=CITATION + ", before Theorem 16 (section 2.3 of Menon et al.)",
    kind=sc.EQUIVALENCE,
    says=r"For a **given π = P(Y = 1) ∈ (0, 1)** the noise rates s₁, s₋₁ ≥ 0, s₁ + s₋₁ < 1, and the contaminations α, β ≥ 0 of the class "
    r"distributions are related by an invertible transformation: with π̃ = π(1 − s₁) + (1 − π)s₋₁ noise makes P̃₊ and P̃₋ with α = "
    r"(1 − π)s₋₁/π̃ and β = πs₁/(1 − π̃); and π̃ = (π − β)/(1 − α − β), s₋₁ = απ̃/(1 − π), s₁ = β(1 − π̃)/π take it back. It is onto "
    r"**β < π < 1 − α**, since 1 − α − β = π(1 − π)(1 − s₁ − s₋₁)/(π̃(1 − π̃)).",
    exhaustive=True,
    knobs={"swapped": False},
    mutants={"s₁ and s₋₁ exchanged in α and β": {"swapped": True}},
    note="The paper does not say that π is given. Without π the share π̃ of positive labels after noise serves, which can be seen: "
    "π = π̃(1 − α) + (1 − π̃)β. α and β alone do not determine the rates. In symbols, one point with free masses for the classes.",
)
def noise_rates_and_contaminations(trial: sc.Trial) -> Iterator[sc.Check]:
    """Noisy class distributions at one point; then there and back, and back and there, with the signs of all that has to be positive."""
    p, q, s1, s2, pi, alpha, beta = sc.symbols("p q s1 s2 pi alpha beta")  # s2 = s₋₁

    def mixed(one: Any, other: Any) -> Any:
        return pi * (1 - one) + (1 - pi) * other

    def there(one: Any, other: Any) -> tuple[Any, Any]:
        up = mixed(one, other)
        if trial["swapped"]:
            one, other = other, one
        return (1 - pi) * other / up, pi * one / (1 - up)

    def back(a: Any, b: Any) -> tuple[Any, Any, Any]:
        up = (pi - b) / (1 - a - b)
        return up, b * (1 - up) / pi, a * up / (1 - pi)

    a, b = there(s1, s2)
    up = mixed(s1, s2)
    (positive,), (negative,) = contaminated([p], [q], a, b)
    yield sc.equal((pi * (1 - s1) * p + (1 - pi) * s2 * q) / up, positive, "P̃₊: P(x | noisy label 1)")
    yield sc.equal((pi * s1 * p + (1 - pi) * (1 - s2) * q) / (1 - up), negative, "P̃₋: P(x | noisy label −1)")
    for found, said, name in zip(back(a, b), (up, s1, s2), ("π̃", "s₁", "s₋₁"), strict=True):
        yield sc.equal(found, said, f"back from (α, β): {name}")
    _, rate1, rate2 = back(alpha, beta)
    for found, said, name in zip(there(rate1, rate2), (alpha, beta), ("α", "β"), strict=True):
        yield sc.equal(found, said, f"there from the rates of (α, β): {name}")
    yield sc.equal(1 - a - b, pi * (1 - pi) * (1 - s1 - s2) / (up * (1 - up)), "1 − α − β > 0")
    yield sc.equal(pi - b, up * (1 - a - b), "π > β")
    yield sc.equal(1 - a - pi, (1 - up) * (1 - a - b), "π < 1 − α")
    level = back(alpha, beta)[0]
    yield sc.equal(1 - level, (1 - alpha - pi) / (1 - alpha - beta), "1 − π̃ > 0 for β < π < 1 − α")
    yield sc.equal(1 - rate1 - rate2, level * (1 - level) * (1 - alpha - beta) / (pi * (1 - pi)), "s₁ + s₋₁ < 1")


@sc.claim(
    "RMW-T16",
    place="Theorem 16, 'robust' in the sense of Theorem 13",
    kind=sc.IDENTITY,
    says=r"Let **ℓ(1, v) + ℓ(−1, v) = C** for all v, P̃₊ = (1 − α) P₊ + α P₋, P̃₋ = β P₊ + (1 − β) P₋, α + β < 1. Then for every f "
    r"BER(P̃₊, P̃₋, f) = (1 − α − β) BER(P₊, P₋, f) + (α + β) C/2, so both have the same minimisers over every class. In symbols for one "
    r"point, with the masses p and q under P₊ and P₋ and the loss l: twice its part of BER is (1 − α − β)(p l + q (C − l)) + C (βp + αq), "
    r"and the masses add up to 1.",
    exhaustive=True,
    knobs={"share": 1},
    mutants={"(α + β) C": {"share": 2}},
    note="Theorem 13 excludes losses that ignore the label. By Definition 10 they are robust, and no C serves all f for them: "
    "RMW-T16-label-free.",
)
def balanced_error_under_contamination(trial: sc.Trial) -> Iterator[sc.Check]:
    """One point with free masses and loss, and the sum over the points."""
    p, q, up, c, alpha, beta = sc.symbols("p q l C alpha beta")
    clean = balanced_error([p], [q], [up], [c - up])
    rough = balanced_error(*contaminated([p], [q], alpha, beta), [up], [c - up])
    part = trial["share"] * (beta * p + alpha * q) * c / 2
    yield sc.equal(rough, (1 - alpha - beta) * clean + part, "balanced error, one point")
    yield sc.equal((beta * 1 + alpha * 1) * c / 2, (alpha + beta) * c / 2, "the masses add up to 1")


def balanced_error(positive: Sequence[Any], negative: Sequence[Any], up: Sequence[Any], down: Sequence[Any]) -> Any:
    """½ E_{P₊} ℓ(1, f) + ½ E_{P₋} ℓ(−1, f) from the masses of the points and the losses of f there."""
    return (dot(positive, up) + dot(negative, down)) / 2


def contaminated(positive: Sequence[Any], negative: Sequence[Any], alpha: Any, beta: Any) -> tuple[list[Any], list[Any]]:
    """(P̃₊, P̃₋)."""
    pairs = list(zip(positive, negative, strict=True))
    return [(1 - alpha) * p + alpha * m for p, m in pairs], [beta * p + (1 - beta) * m for p, m in pairs]


def two_classifiers(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Class distributions on two points, and two classifiers by their losses ℓ(1, ·) and ℓ(−1, ·) there."""
    free = trial["label_free"]
    losses = [[[0, 1], [0, 1] if free else [1, 0]], [[1, 0], [1, 0] if free else [0, 1]]]
    yield {"positive": [1, 0], "negative": [0, 1], "losses": losses, "alpha": "2/5", "beta": 0}


def needed_constants(positive: list[int], negative: list[int], losses: list[list[list[int]]], alpha: str, beta: int) -> list[Any]:
    """The C of Theorem 16, for each classifier."""
    p, q, classifiers, a, b = sc.inputs(positive=positive, negative=negative, losses=losses, alpha=alpha, beta=beta)
    needed = []
    for up, down in classifiers:
        clean = balanced_error(p, q, up, down)
        rough = balanced_error(*contaminated(p, q, a, b), up, down)
        needed.append((rough - (1 - a - b) * clean) * 2 / (a + b))
    return needed


@sc.claim(
    "RMW-T16-label-free",
    place="Theorem 16 for a robust loss without the sum rule, our counterexample",
    kind=sc.COUNTEREXAMPLE,
    says=r"Let P₊ and P₋ sit on one point each, α = 2/5, β = 0, and ℓ be label-free with losses (0, 1) for f and (1, 0) for f'. Theorem 16 "
    r"would need C = 2 for f and C = 0 for f': their equal balanced errors ½ become 7/10 and 3/10.",
    instances=two_classifiers,
    quantifier=sc.SOME,
    exhaustive=True,
    knobs={"label_free": True},
    mutants={"ℓ(−1, ·) = 1 − ℓ(1, ·)": {"label_free": False}},
)
def label_free_losses_have_no_constant(
    positive: list[int], negative: list[int], losses: list[list[list[int]]], alpha: str, beta: int
) -> Iterator[sc.Check]:
    """The C that each classifier asks for."""
    first, second = needed_constants(positive, negative, losses, alpha, beta)
    yield sc.equal(first, 2, "C for f")
    yield sc.equal(second, 0, "C for f'")
