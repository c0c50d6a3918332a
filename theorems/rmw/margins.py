r"""Margins and approximation (section 4.1 and section 12): the margin loss, the lemma of section 12 and Theorem 6.

All that matters about scores, margins and tolerances is how they are ordered, so that small integers stand for all numbers. For integers
[[a < b]] = min(1, max(0, b − a)) and [[a ≤ b]] = [[a < b + 1]], formulas that a proof file can state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.small_worlds.worlds import CONVENTIONS

HALF = Fraction(1, 2)
Step = Callable[[sc.Expr, sc.Expr], sc.Expr]


def below(a: sc.Expr, b: sc.Expr) -> sc.Expr:
    """[[a < b]] for integers."""
    return sc.minimum(1, sc.maximum(0, b - a))


def up_to(a: sc.Expr, b: sc.Expr) -> sc.Expr:
    """[[a ≤ b]] for integers."""
    return sc.minimum(1, sc.maximum(0, b - a + 1))


def halfway(a: sc.Expr, b: sc.Expr) -> sc.Expr:
    """[[a < b]], and ½ if a = b."""
    return HALF * (below(a, b) + up_to(a, b))


STEPS: dict[str, Step] = {"A": below, "B": up_to, "C": halfway}
"""ℓ₀₁(y, v) under each convention is the step from yv to 0."""


def scores(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Labels, scores and margins γ ≥ 0 in every order, under each convention."""
    for convention in CONVENTIONS:
        for y in (-1, 1):
            for v in range(-2, 3):
                for gamma in range(3):
                    yield {"convention": convention, "label": y, "score": v, "margin": gamma}


@sc.claim(
    "RMW-marg",
    place="Section 4.1",
    kind=sc.INEQUALITY,
    says=r"ℓ_γ(y, v) = [[yv < γ]] is an upper bound of ℓ₀₁(y, v) for γ ≥ 0, and ℓ_0 = ℓ₀₁, for the printed formula **ℓ₀₁(y, v) = "
    r"[[yv < 0]]** (A). So it is under B with [[yv ≤ γ]] and under C with ½ at yv = γ: if ℓ_γ treats yv = γ as ℓ₀₁ treats yv = 0. (Only "
    r"the order of yv, 0 and γ matters: integers −2 to 2 have all of them.)",
    instances=scores,
    exhaustive=True,
    knobs={"steps": STEPS},
    mutants={
        "the note ℓ₀₁(y, 0) = 1 (B) with the printed [[yv < γ]]": {"steps": STEPS | {"B": below}},
        "C with [[yv < γ]]": {"steps": STEPS | {"C": below}},
    },
    note="Under B with the printed strict ℓ_γ it fails at v = γ = 0 only: ℓ_0(y, 0) = 0 < 1.",
)
def margin_loss_bounds(convention: str, label: int, score: int, margin: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """ℓ_γ ≥ ℓ₀₁, with equality at γ = 0, for one label, score and margin; ℓ_γ is the step from yv to γ of the same convention."""
    step = trial["steps"][convention]
    y, v, gamma = sc.inputs(y=label, v=score, gamma=margin)
    zero_one = STEPS[convention](y * v, sc.rational(0))
    yield sc.at_least(step(y * v, gamma), zero_one, f"ℓ_γ ≥ ℓ₀₁, convention {convention}")
    if margin == 0:
        yield sc.equal(step(y * v, gamma), zero_one, f"ℓ_0 = ℓ₀₁, convention {convention}")


def close_scores(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All integers with |v − ṽ| ≤ ε ≤ 3, |v| ≤ 4 and ṽ < limit."""
    for epsilon in range(4):
        for v in range(-4, 5):
            for w in range(v - epsilon, min(v + epsilon + 1, trial["limit"])):
                yield {"score": v, "other": w, "epsilon": epsilon}


@sc.claim(
    "RMW-T6lem",
    place="Section 12, lemma",
    kind=sc.INEQUALITY,
    says=r"If |v − ṽ| ≤ ε and ṽ < 0, then v < ε: ε − v = (ε − (v − ṽ)) + (−ṽ) for all reals, a non-negative number and a positive one. "
    r"(Proved by this identity, and once more for all integers with |v| ≤ 4 and ε ≤ 3.)",
    instances=close_scores,
    exhaustive=True,
    knobs={"limit": 0},
    mutants={"ṽ ≤ 0": {"limit": 1}},
)
def a_negative_score_is_near(score: int, other: int, epsilon: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The identity in symbols, and the inequality under its hypotheses."""
    e, v, w = sc.symbols("e v w")
    yield sc.equal(e - v, (e - (v - w)) + (-w), "ε − v")
    v, w, e = sc.inputs(v=score, w=other, e=epsilon)
    yield sc.at_most(v, e, "v < ε", strict=True).assuming(sc.at_most(abs(v - w), e), sc.at_most(w, trial["limit"], strict=True))


def conventions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The conventions for ℓ₀₁ at 0."""
    for convention in CONVENTIONS:
        yield {"convention": convention}


FIRST, LAST, WIDEST = -3, 3, 3


@sc.claim(
    "RMW-T6",
    place="Theorem 6",
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.CONVENTION,
    says=r"There is a convention for ℓ₀₁ at 0 under which, for all P, f, ε ≥ 0 and α, ℓ_ε(P, f) ≤ α iff ℓ₀₁(P, f̃) ≤ α for all f̃ with "
    r"‖f − f̃‖_∞ ≤ ε, where ℓ_ε(y, v) = [[yv < ε]]; that is, ℓ_ε(P, f) = sup_f̃ ℓ₀₁(P, f̃).",
    instances=conventions,
    quantifier=sc.SOME,
    exhaustive=True,
    knobs={"margin": below},
    mutants={"ℓ_ε(y, v) = [[yv ≤ ε]]": {"margin": up_to}},
    note="One point x with P(y = 1) = η suffices. A ([[yv < 0]]): η = ½, f = 0, ε = 1 has ℓ_ε = 1, but any f̃ errs on at most one label. "
    "B (ℓ₀₁(y, 0) = 1): y = 1 and f = ε has ℓ_ε = 0, but f̃ = 0 has loss 1; it fails only where |f(x)| = ε. C (½ at 0) fails in both "
    "ways. The printed proof uses A in its first half and B in its second.",
)
def margins_and_approximation_as_printed(convention: str, trial: sc.Trial) -> Iterator[sc.Check]:
    """ℓ_ε against the supremum for one point, over all orders of f, ε and 0 and several η."""
    step = STEPS[convention]
    for epsilon in range(WIDEST + 1):
        for f in range(FIRST, LAST + 1):
            for eta in (Fraction(0), HALF, Fraction(1)):
                score, e, p = sc.inputs(f=f, e=epsilon, p=eta)
                printed = p * trial["margin"](score, e) + (1 - p) * trial["margin"](-score, e)
                reached = [
                    p * step(score + d, sc.rational(0)) + (1 - p) * step(-score - d, sc.rational(0)) for d in range(-epsilon, epsilon + 1)
                ]
                yield sc.equal(printed, sc.maximum(*reached), f"ℓ_ε and the supremum, convention {convention}")


def tolerances(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All orders of f, ε ≥ 0 and 0."""
    for epsilon in range(WIDEST + 1):
        for f in range(FIRST, LAST + 1):
            yield {"score": f, "epsilon": epsilon}


@sc.claim(
    "RMW-T6+",
    place="Theorem 6, with ≤ in both losses",
    kind=sc.EQUIVALENCE,
    says=r"With ℓ₀₁(y, v) = [[yv ≤ 0]] (B) and ℓ_ε(y, v) = [[yv ≤ ε]]: for all P, f, ε ≥ 0 and α, ℓ_ε(P, f) ≤ α iff ℓ₀₁(P, f̃) ≤ α for "
    r"all f̃ with ‖f − f̃‖_∞ ≤ ε. Indeed for every x and y, ℓ₀₁(y, f̃(x)) ≤ ℓ_ε(y, f(x)), with equality for both labels at the f̃(x) "
    r"nearest to 0. (Only the order of f(x), f̃(x), ε and 0 matters: integers have all of them.)",
    instances=tolerances,
    exhaustive=True,
    knobs={"margin": up_to, "zero_one": up_to},
    mutants={"[[yv < ε]]": {"margin": below}, "[[yv < 0]]": {"zero_one": below}},
    corrects="RMW-T6",
    note="Pointwise in x and y, so for every P. Averaging gives the theorem; RMW-T6-labels keeps the printed losses instead.",
)
def margins_and_approximation(score: int, epsilon: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Every approximation of the score, for both labels; and the one nearest to 0."""
    f, e = sc.inputs(f=score, e=epsilon)
    nearest = sc.maximum(f - e, sc.minimum(0, f + e))
    for y in (-1, 1):
        margin = trial["margin"](y * f, e)
        for d in range(-epsilon, epsilon + 1):
            yield sc.at_least(margin, trial["zero_one"](y * (f + d), sc.rational(0)), f"ℓ_ε(y, f) ≥ ℓ₀₁(y, f̃), y = {y}")
        yield sc.equal(margin, trial["zero_one"](y * nearest, sc.rational(0)), f"equality at the f̃ nearest to 0, y = {y}")


@sc.claim(
    "RMW-T6-labels",
    place="Theorem 6, ours: the printed losses where y is a function of x",
    kind=sc.EQUIVALENCE,
    says=r"With the printed ℓ₀₁(y, v) = [[yv < 0]] (A) and ℓ_ε(y, v) = [[yv < ε]] Theorem 6 is true for every P under which y is a "
    r"function of x: for every x and y, ℓ₀₁(y, f̃(x)) ≤ ℓ_ε(y, f(x)), with equality at f̃(x) = f(x) − yε. (Integers have all orders.)",
    instances=tolerances,
    exhaustive=True,
    knobs={"margin": below, "zero_one": below},
    mutants={"[[yv ≤ 0]]": {"zero_one": up_to}, "½ at 0": {"zero_one": halfway}},
)
def printed_losses_and_certain_labels(score: int, epsilon: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Every approximation of the score, for one label at a time."""
    f, e = sc.inputs(f=score, e=epsilon)
    for y in (-1, 1):
        margin = trial["margin"](y * f, e)
        for d in range(-epsilon, epsilon + 1):
            yield sc.at_least(margin, trial["zero_one"](y * (f + d), sc.rational(0)), f"ℓ_ε(y, f) ≥ ℓ₀₁(y, f̃), y = {y}")
        yield sc.equal(margin, trial["zero_one"](y * (f - y * e), sc.rational(0)), f"equality at f̃ = f − yε, y = {y}")
