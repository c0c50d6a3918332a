r"""The proof of Theorem 5 (Appendix C.1): the ε-insensitive loss, the loss of f̃, and the norm of w̃."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import (
    HIGH_PROBABILITY,
    HOLDS,
    IDENTITY,
    INEQUALITY,
    KAR_JAIN,
    REFUTED,
    TYPO,
    Check,
    Instance,
    Trial,
    at_least,
    at_most,
    claim,
    equal,
    inputs,
    maximum,
)
from simopt.solvers.goodness.exact import exact_goodness
from simopt.theorems.kj.goodness.finite_domains import HALF, ONE, ZERO, insensitive_loss, mean, predicted, random_domains
from simopt.theorems.kj.landmarks.landmark_laws import draws
from simopt.theorems.small_worlds.exact_tails import Ball, ball, holds_for_all_levels, multinomial, tails

SECTION = "regression"
KINKS = [Fraction(k, 2) for k in range(-5, 6)]


def residuals(trial: Trial) -> Iterator[Instance]:
    """ε = 0 and ε = 1, with pairs of residuals at every kink, between and beyond."""
    for epsilon in (0, 1):
        for a in KINKS:
            for b in KINKS:
                yield {"a": a, "b": b, "epsilon": epsilon}


@claim(
    "KJ-loss",
    paper=KAR_JAIN,
    section=SECTION,
    place="Section 3.1, C.1 and E.1: the ε-insensitive loss",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"ℓ_ε(r) = max(|r| − ε, 0), ε ≥ 0, has |r| − ε ≤ ℓ_ε(r) ≤ |r| and |ℓ_ε(a) − ℓ_ε(b)| ≤ |a − b|. ℓ_{tε}(tr) = tℓ_ε(r), so that ε ∈ "
    r"{0, 1} is enough; there all sides are linear between the kinks −1, 0, 1 of each residual and the lines a = ±b, and what holds at "
    r"their crossings and on either side holds everywhere.",
    remains="that inequalities between functions that are linear between lines hold everywhere if they hold where the lines cross, "
    "and beyond",
    instances=residuals,
    exhaustive=True,
    knobs={"slope": 1},
    mutants={"9/10 Lipschitz": {"slope": Fraction(9, 10)}},
)
def loss_near_absolute_value(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both inequalities at one pair."""
    a, b, epsilon = inputs(a=instance["a"], b=instance["b"], epsilon=instance["epsilon"])
    first, second = (maximum(abs(r) - epsilon, 0) for r in (a, b))
    yield at_least(first, abs(a) - epsilon, "|r| − ε")
    yield at_most(first, abs(a), "|r|")
    yield at_most(abs(first - second), trial["slope"] * abs(a - b), "Lipschitz")


def landmarked(trial: Trial) -> Iterator[Instance]:
    """Random domains of two and three points; d up to 4."""
    for made in random_domains(trial.rng, trial.count(15, 40), most=3):
        yield made | {"d": int(trial.rng.integers(1, 5))}


@claim(
    "KJ-Thm5-p1",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix C.1, the loss of f̃",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If f has E ℓ_ε(f, y) ≤ ε_0, then E ℓ_ε(f̃(Ψ(x)), y) ≤ ε_0 + E |f̃(Ψ(x)) − f(x)| for every draw of landmarks. (All draws of up "
    r"to four landmarks, the best weights for |w| ≤ B, exactly; K of any size.)",
    instances=landmarked,
    knobs={"share": ONE},
    mutants={"half of E|f̃ − f|": {"share": HALF}},
    cost=0.4,
)
def loss_of_the_landmarked(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Every draw."""
    masses, d, epsilon = instance["masses"], instance["d"], instance["epsilon"]
    found = exact_goodness(instance["gram"], instance["targets"], instance["bound"], masses, epsilon=epsilon)
    f = predicted(instance, found.weights)
    for drawn, _ in multinomial(d, tuple(masses)):
        charges = [Fraction(k, d) * v for k, v in zip(drawn, found.weights, strict=True)]
        near = [sum((k * c for k, c in zip(row, charges, strict=True)), ZERO) for row in instance["gram"]]
        apart = mean(instance, [abs(a - b) for a, b in zip(near, f, strict=True)])
        yield at_most(insensitive_loss(instance, near, epsilon), found.upper + trial["share"] * apart, "loss of f̃")


def constants(trial: Trial) -> Iterator[Instance]:
    """w = 2 and w = 1/2 everywhere, three landmarks."""
    for value in (Fraction(2), HALF):
        yield {"weight": value, "d": 3}


@claim(
    "KJ-Thm5-p4",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix C.1: ‖w̃‖ ≈ E w²(x)",
    kind=IDENTITY,
    expected=REFUTED,
    defect=TYPO,
    says=r"‖w̃‖₂ ≈ E w²(x) with high probability.",
    instances=constants,
    knobs={"power": 4},
    mutants={"‖w̃‖² ≈ E w²": {"power": 2}},
    note="w = 2: ‖w̃‖ = 2, E w² = 4. It is ‖w̃‖² that E w² is the mean of (KJ-Thm5-p4+).",
)
def norm_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """‖w̃‖² = (1/d) Σ w(l_i)² against (E w²)², both exact for constant w."""
    w, d = inputs(w=instance["weight"], d=instance["d"])
    yield equal(d * w**2 / d, w ** trial["power"], "‖w̃‖²")


@claim(
    "KJ-Thm5-p4+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix C.1: ‖w̃‖² ≈ E w²(x), corrected",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"E ‖w̃‖**²** = E w², and if |w| ≤ B, then P(|‖w̃‖² − E w²| ≥ t) ≤ 2 exp(−2dt²/B⁴) for every t > 0. (Exactly, on domains.)",
    instances=draws,
    knobs={"factor": 2, "shift": 0},
    mutants={"exp(−8dt²/B⁴)": {"factor": 8}, "E ‖w̃‖² = E w² + 1/d": {"shift": 1}},
    corrects="KJ-Thm5-p4",
    note="Hoeffding's inequality for the mean of w(l_i)² ∈ [0, B²].",
    cost=0.4,
)
def squared_norm_concentrates(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Mean and tails over all draws, B = 1; every second w² halved, so that ‖w̃‖ varies."""
    masses, d = instance["masses"], instance["d"]
    squares = [v**2 / (1 + i % 2) for i, v in enumerate(instance["weights"])]
    expected = sum((p * v for p, v in zip(masses, squares, strict=True)), ZERO)
    law = []
    for drawn, mass in multinomial(d, tuple(masses)):
        law.append((sum((Fraction(k, d) * v for k, v in zip(drawn, squares, strict=True)), ZERO), mass))
    yield equal(sum((value * mass for value, mass in law), ZERO), expected + Fraction(trial["shift"], d), "E ‖w̃‖²")

    def exponent(t: Fraction) -> Ball | None:
        x = ball(trial["factor"] * d * t**2) - ball(2).log()
        return x if x > 0 else None

    yield holds_for_all_levels(tails([(abs(value - expected), mass) for value, mass in law]), exponent, "|‖w̃‖² − E w²|")
