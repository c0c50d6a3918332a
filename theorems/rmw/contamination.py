r"""The margin for error Γ, what it says about approximations of the mean classifier, and σ-contamination (sections 4.1 and 4.2).

Γ(P, f) = sup{γ : ℓ_γ(P, f) = ℓ₀₁(P, f)} is the least margin yf(x) of the examples on the right side: it does not see how near to 0 the
others are. ℓ_γ treats yv = γ as ℓ₀₁ treats yv = 0 (RMW-marg). Worlds are rational and everything is decided exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import inf

import numpy as np

import simopt.claims as sc
from simopt.theorems.small_worlds.sampled_worlds import disc_point, weights
from simopt.theorems.small_worlds.worlds import CONVENTIONS, World, add, by, dot, mean, minus, mixed, plus, risk, scaled, squared, zero_one

Vector = Sequence[Fraction]
ONE = Fraction(1)
SURE, WRONG, TILTED = [ONE, Fraction(0)], [Fraction(-4, 5), Fraction(3, 5)], [Fraction(-3, 5), Fraction(4, 5)]


def margins(world: World, w: Vector) -> list[Fraction]:
    """The margins y⟨w, φ⟩ of the atoms."""
    return [y * dot(w, phi) for _, y, phi in world]


def margin_loss(world: World, w: Vector, gamma: Fraction, convention: str) -> Fraction:
    """ℓ_γ(P, w) = E ℓ₀₁(1, y⟨w, φ⟩ − γ)."""
    loss = zero_one(convention)
    return Fraction(add(p * loss(1, m - gamma) for (p, _, _), m in zip(world, margins(world, w), strict=True)))


def margin_for_error(world: World, w: Vector, convention: str) -> Fraction | float:
    """Γ(P, w): ℓ_γ rises with γ, and leaves ℓ_0 = ℓ₀₁ at the first margin above 0; under A and C already at a margin 0."""
    found = margins(world, w)
    if convention != "B" and 0 in found:
        return Fraction(0)
    return min((m for m in found if m > 0), default=inf)


def least_margin(world: World, w: Vector) -> Fraction:
    """min |f(x)|: the margin on both sides."""
    return min(abs(m) for m in margins(world, w))


def two_atoms(other: Vector) -> World:
    """y = 1, φ = (1, 0) with probability 7/10 and another vector with probability 3/10."""
    return [(Fraction(7, 10), 1, SURE), (Fraction(3, 10), 1, other)]


def random_world(rng: np.random.Generator) -> World:
    """Two to four examples of either label in the disc."""
    size = int(rng.integers(2, 5))
    return [(p, int(rng.choice([-1, 1])), disc_point(rng)) for p in weights(rng, size)]


def approximations(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Worlds and vectors within ε < Γ of their means, moved along an example or against it."""
    world = two_atoms(WRONG)
    moved = mean(mixed(world, [(ONE, 1, WRONG)], Fraction(34, 100)))
    yield {"world": world, "approximation": moved, "epsilon": Fraction(455, 1000)}
    for _ in range(trial.count(30, 90)):
        world = random_world(trial.rng)
        w = mean(world)
        room = margin_for_error(world, w, "B")
        for share in (Fraction(1, 4), Fraction(15, 16)):
            epsilon = share * (room if isinstance(room, Fraction) else ONE)
            for _, y, phi in world:
                for sign in (-1, 1):
                    yield {"world": world, "approximation": plus(w, scaled(phi, sign * y * epsilon)), "epsilon": epsilon}


def two_sided(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Only those of them with ε < min |f(x)|."""
    for instance in approximations(trial):
        if instance["epsilon"] < least_margin(instance["world"], mean(instance["world"])):
            yield instance


def moved_scores(
    world: list[tuple[Fraction, int, list[Fraction]]], approximation: list[Fraction], epsilon: Fraction, equality: bool
) -> Iterator[sc.Check]:
    """ℓ₀₁ = ℓ_ε at the mean, and ℓ₀₁ of the approximation against it, under each convention."""
    moved = approximation
    w = mean(world)
    yield sc.at_most(squared(minus(w, moved)), epsilon**2, "‖ω_S − ω̃_S‖² ≤ ε²")
    for convention in CONVENTIONS:
        name = f"convention {convention}"
        if not epsilon < margin_for_error(world, w, convention):
            yield sc.vacuous(True, f"ε ≥ Γ, {name}", evidence=sc.EXACT)
            continue
        error, other = (risk(world, zero_one(convention), by(v)) for v in (w, moved))
        yield sc.equal(error, margin_loss(world, w, epsilon, convention), f"ℓ₀₁ = ℓ_ε, {name}")
        if equality or epsilon < least_margin(world, w):
            yield sc.equal(other, error, f"ℓ₀₁(ω̃) = ℓ₀₁(ω), {name}")
        else:
            yield sc.at_most(other, error, f"ℓ₀₁(ω̃) ≤ ℓ₀₁(ω), {name}")


@sc.claim(
    "RMW-Gam",
    place="Section 4.1, after Theorem 6",
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"If ‖ω_S − ω̃_S‖ ≤ ε < Γ(S, ω_S), then ℓ₀₁(S, ω_S) = ℓ_ε(S, ω_S) = ℓ₀₁(S, ω̃_S); under each of the conventions A, B, C.",
    instances=approximations,
    knobs={"equality": True},
    mutants={"only where ε < min |f(x)|": {"instances": two_sided}, "≤": {"equality": False}},
    note="The first equality is true, the second fails: y φ = (1, 0) with weight 7/10 and (−4/5, 3/5) with weight 3/10 have margins .46 "
    "and −.26, Γ = .46, and ω̃ = (.0316, .3228), .4516 away, gets both right. Γ looks at one side; no margin is 0, so no convention helps.",
)
def margin_protects_as_printed(
    world: list[tuple[Fraction, int, list[Fraction]]], approximation: list[Fraction], epsilon: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Both equalities."""
    yield from moved_scores(world, approximation, epsilon, trial["equality"])


@sc.claim(
    "RMW-Gam+",
    place="Section 4.1, after Theorem 6, corrected",
    kind=sc.EQUIVALENCE,
    says=r"If ‖ω_S − ω̃_S‖ ≤ ε < Γ(S, ω_S), then ℓ₀₁(S, ω̃_S) ≤ ℓ_ε(S, ω_S) = ℓ₀₁(S, ω_S), with equality if also ε < min |f(x)|; under "
    r"each of the conventions A, B, C, ℓ_ε treating yv = ε as ℓ₀₁ treats yv = 0.",
    instances=approximations,
    knobs={"equality": False},
    mutants={"equality without min |f(x)|": {"equality": True}},
    corrects="RMW-Gam",
    note="Proof: |f − f̃| ≤ ε, so an example that f̃ gets wrong has yf < γ for some γ in (ε, Γ), where ℓ_γ = ℓ₀₁.",
)
def margin_protects(
    world: list[tuple[Fraction, int, list[Fraction]]], approximation: list[Fraction], epsilon: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """The inequality, and equality with a margin on both sides."""
    yield from moved_scores(world, approximation, epsilon, trial["equality"])


@sc.claim(
    "RMW-cont",
    place="Section 4.2",
    kind=sc.IDENTITY,
    says=r"For P̃ = (1 − σ)P + σQ: ω_P̃ = (1 − σ)ω_P + σω_Q and ‖ω_P − ω_P̃‖ = σ‖ω_P − ω_Q‖ ≤ 2σ if ‖φ‖ ≤ 1. (In symbols, for one event "
    r"and one coordinate, which add up, and in ‖·‖² and ⟨·, ·⟩: 4 − ‖ω_P − ω_Q‖² = 2(1 − ‖ω_P‖²) + 2(1 − ‖ω_Q‖²) + ‖ω_P + ω_Q‖², and 1 − "
    r"‖ω_P‖² is the mean of 1 − ‖φ‖² + ‖yφ − ω_P‖².)",
    exhaustive=True,
    knobs={"power": 1, "bound": 4},
    mutants={"σ²": {"power": 2}, "≤ √3 σ": {"bound": 3}},
)
def contaminated_mean(trial: sc.Trial) -> Iterator[sc.Check]:
    """The mean of the mixture, its distance, and the two identities behind the bound."""
    s, p, q, z, a, b = sc.symbols("s p q z a b")  # masses p and q of one event yφ, of which z is a coordinate; a and b those of ω_P and ω_Q
    yield sc.equal(((1 - s) * p + s * q) * z, (1 - s) * (p * z) + s * (q * z), "ω_P̃, one event")
    yield sc.equal((a - ((1 - s) * a + s * b)) ** 2, s ** (2 * trial["power"]) * (a - b) ** 2, "‖ω_P − ω_P̃‖², one coordinate")
    pp, pq, qq, zz, zp = sc.symbols("pp pq qq zz zp")  # ‖ω_P‖², ⟨ω_P, ω_Q⟩, ‖ω_Q‖², ‖φ‖² and ⟨yφ, ω_P⟩
    apart, both = pp - 2 * pq + qq, pp + 2 * pq + qq
    yield sc.equal(trial["bound"] - apart, 2 * (1 - pp) + 2 * (1 - qq) + both, "4 − ‖ω_P − ω_Q‖²")
    yield sc.equal(p * (1 - zz) + p * (zz - 2 * zp + pp), p * (1 + pp) - 2 * (p * zp), "mean of 1 − ‖φ‖² + ‖yφ − ω_P‖², one event")
    yield sc.equal((1 + pp) - 2 * pp, 1 - pp, "1 − ‖ω_P‖²: the masses add up to 1, the p ⟨yφ, ω_P⟩ to ‖ω_P‖²")


def contaminations(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Worlds, other worlds and shares σ: two chosen ones, then all of Q on one example or its opposite."""
    yield {"world": two_atoms(WRONG), "other": [(ONE, 1, WRONG)], "share": Fraction(34, 100)}
    yield {"world": two_atoms(TILTED), "other": [(ONE, 1, TILTED)], "share": Fraction(1, 4)}
    for _ in range(trial.count(30, 90)):
        world = random_world(trial.rng)
        share = Fraction(int(trial.rng.integers(1, 16)), 32)
        for _, y, phi in world:
            for label in (y, -y):
                yield {"world": world, "other": [(ONE, label, phi)], "share": share}


def right_everywhere(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Only those of them that the mean classifier gets right everywhere."""
    for instance in contaminations(trial):
        if min(margins(instance["world"], mean(instance["world"]))) > 0:
            yield instance


def contaminated_errors(world: World, other: World, share: Fraction, equality: bool, row: str, row_half: str) -> Iterator[sc.Check]:
    """ℓ₀₁ of ω_P̃ and of ω_P under P, where the lemma's hypothesis holds and where σ < Γ/2."""
    w, moved = mean(world), mean(mixed(world, other, share))
    square = share**2 * squared(minus(w, mean(other)))
    both = square < least_margin(world, w) ** 2
    for convention in CONVENTIONS:
        room = margin_for_error(world, w, convention)
        error, after = (risk(world, zero_one(convention), by(v)) for v in (w, moved))
        for holds, name in ((square < room**2, row), (2 * share < room, row_half)):
            text = f"convention {convention}"
            if not holds:
                yield sc.vacuous(True, text, evidence=sc.EXACT, row=name)
            else:
                yield sc.equal(after, error, text, row=name) if equality or both else sc.at_most(after, error, text, row=name)


@sc.claim(
    "RMW-L7",
    place="Lemma 7",
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"If σ‖ω_P − ω_Q‖ < Γ(P, ω_P), then ℓ₀₁(P, ω_P) = ℓ₀₁(P, ω_P̃); so (RMW-L7-half) if σ < Γ(P, ω_P)/2, the mean classifier is "
    r"immune to the effects of any Q; under each of the conventions A, B, C.",
    instances=contaminations,
    knobs={"equality": True},
    mutants={"P that the mean gets right everywhere": {"instances": right_everywhere}, "≤": {"equality": False}},
    covers=("RMW-L7-half",),
    note="y φ = (1, 0) with probability 7/10 and (−4/5, 3/5) with 3/10, Q at the second and σ = .34: σ‖ω_P − ω_Q‖ = .4516 < Γ = .46, "
    "margins (.46, −.26) become (.0316, .1684) and the error .3 becomes 0. With (−3/5, 4/5) and σ = 1/4 < Γ/2 = .26 the same happens. "
    "Contamination can only help: RMW-L7+.",
)
def immunity_as_printed(world: World, other: World, share: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The equality of the errors."""
    yield from contaminated_errors(world, other, share, trial["equality"], "RMW-L7", "RMW-L7-half")


@sc.claim(
    "RMW-L7+",
    place="Lemma 7, corrected",
    kind=sc.EQUIVALENCE,
    says=r"If σ‖ω_P − ω_Q‖ < Γ(P, ω_P), then ℓ₀₁(P, ω_P̃) ≤ ℓ₀₁(P, ω_P); so (RMW-L7-half+) also if σ < Γ(P, ω_P)/2, for any Q. There is "
    r"equality if σ‖ω_P − ω_Q‖ < min |⟨ω_P, φ(x)⟩|. Under each of the conventions A, B, C.",
    instances=contaminations,
    knobs={"equality": False},
    mutants={"equality without min |⟨ω_P, φ(x)⟩|": {"equality": True}},
    covers=("RMW-L7-half+",),
    corrects="RMW-L7",
    note="RMW-Gam+ with ω̃ = ω_P̃ and RMW-cont.",
)
def immunity(world: World, other: World, share: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The inequality, and equality with a margin on both sides."""
    yield from contaminated_errors(world, other, share, trial["equality"], "RMW-L7+", "RMW-L7-half+")
