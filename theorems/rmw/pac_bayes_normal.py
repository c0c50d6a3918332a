r"""PAC-Bayes bounds for normal posteriors (section 11): Theorems 20 and 21, the divergence and the Hoeffding step of their proofs.

With Δ^i = ω_S^i − ω_P^i, ℓ(P, Ā^i) − ℓ(S, Ā^i) = ⟨Ā^i, Δ^i⟩, which the theorems bound. For all δ together the bounds with high probability
say that P(X ≥ x) ≤ e^{−x} at every value x > 0 of X. Here X is what exceeds the bound without log(1/δ), times βn.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import simopt.claims as sc
from simopt.arithmetic.precision import workprec
from simopt.theorems.rmw.posteriors import divergence, several_maps, single_maps
from simopt.theorems.small_worlds.exact_tails import (
    BITS,
    Ball,
    average,
    ball,
    enclosed,
    expected,
    holds_for_all_levels,
    multinomial,
    tails,
    unit_ratios,
)
from simopt.theorems.small_worlds.sampled_worlds import weights
from simopt.theorems.small_worlds.worlds import add, dot, minus, squared

CITATION = "Theorem 20"
HALF = Fraction(1, 2)


def lines(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Pairs of means in one and two dimensions."""
    yield {"first": [1], "second": [0]}
    yield {"first": [Fraction(1, 2), Fraction(1, 3)], "second": [0, 1]}


@sc.claim(
    "RMW-T20-KL",
    place="Section 11, proofs of Theorems 20 and 21",
    kind=sc.IDENTITY,
    expected=sc.REFUTED,
    defect=sc.CONSTANT,
    says=r"D_KL(N(a, 1), N(b, 1)) = ‖a − b‖².",
    instances=lines,
    knobs={"factor": Fraction(1)},
    mutants={"½‖a − b‖²": {"factor": HALF}},
    note="Twice the divergence; harmless, since the bounds only become weaker. The same slip, averaged over α(S), is in the proof of "
    "Theorem 21.",
)
def divergence_of_normals_as_printed(first: list[Fraction | int], second: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """E (log density of N(a, 1) − log density of N(b, 1)) from the two moments of N(a, 1), coordinate by coordinate."""
    a, b = sc.inputs(a=first, b=second)
    apart = sc.total((x - y) ** 2 for x, y in zip(a, b, strict=True))
    yield sc.equal(sc.total(normal_divergence(x, y) for x, y in zip(a, b, strict=True)), trial["factor"] * apart, "D_KL")


def normal_divergence(a: sc.Expr, b: sc.Expr) -> sc.Expr:
    """D_KL(N(a, 1), N(b, 1)) in one coordinate: E [(x − b)² − (x − a)²]/2 with E x = a and E x² = a² + 1."""
    square = a**2 + 1
    return ((square - 2 * b * a + b**2) - (square - 2 * a * a + a**2)) / 2


@sc.claim(
    "RMW-T20-KL+",
    place="Section 11, proofs of Theorems 20 and 21, corrected",
    kind=sc.IDENTITY,
    says=r"D_KL(N(a, 1), N(b, 1)) = ½‖a − b‖²: the mean under N(a, 1) of ½‖x − b‖² − ½‖x − a‖², coordinates add up, and E x_i = a_i, E "
    r"x_i² = a_i² + 1. (Two of them in symbols.)",
    exhaustive=True,
    knobs={"factor": HALF},
    mutants={"‖a − b‖²": {"factor": Fraction(1)}},
    corrects="RMW-T20-KL",
    note="For mixtures over tags D_KL(α(S), α_π) is added and ½‖·‖² averaged. So Theorems 20 and 21 hold with half of ‖Ā(S) − ω_π‖² (rows "
    "RMW-T20-half and RMW-T21-half).",
)
def divergence_of_normals(trial: sc.Trial) -> Iterator[sc.Check]:
    """The same in symbols."""
    a, c, b, d = sc.symbols("a c b d")
    yield sc.equal(normal_divergence(a, b) + normal_divergence(c, d), trial["factor"] * ((a - b) ** 2 + (c - d) ** 2), "D_KL")


def bounded_variables(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Z on 0 and 2 with a grid of probabilities, and on three points of [0, 2]."""
    for beta in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(5), Fraction(20)):
        for k in range(17):
            yield {"values": [Fraction(0), Fraction(2)], "probabilities": [Fraction(k, 16), 1 - Fraction(k, 16)], "beta": beta}
        for _ in range(trial.count(3, 30)):
            values = [Fraction(int(v), 16) for v in trial.rng.integers(0, 33, size=3)]
            yield {"values": values, "probabilities": weights(trial.rng, 3), "beta": beta}


@sc.claim(
    "RMW-T20h",
    place="Section 11, proof of Theorem 20: the unresolved lemma",
    kind=sc.INEQUALITY,
    says=r"If 0 ≤ Z ≤ 2 and β > 0, then −(1/β) log E e^{−βZ} ≥ E Z − β/2.",
    instances=bounded_variables,
    knobs={"share": Fraction(1)},
    mutants={"0.99 β/2": {"share": Fraction(99, 100)}},
    note="Printed as 'lemma LABEL:A_Hoeffding_Inequality', which does not exist; it is Hoeffding's lemma. e^{−βz} is convex, so Z on 0 "
    "and 2 is the worst, and then the second derivative of log E e^{−βZ} in β is at most 1 (RMW-T20-steps). Sharp as β → 0.",
)
def hoeffding_step(beta: Fraction, probabilities: list[Fraction], values: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """E Z + (1/β) log E e^{−βZ} against β/2."""

    law = list(zip(probabilities, values, strict=True))
    with workprec(BITS):
        moment = sum((ball(p) * (-ball(beta * z)).exp() for p, z in law), ball(0))
        excess = ball(add(p * z for p, z in law)) + moment.log() / ball(beta)
    yield sc.at_most(enclosed(excess), trial["share"] * beta / 2, "E Z + (1/β) log E e^{−βZ}", scale=beta / 2)


@sc.claim(
    "RMW-T20-steps",
    place="Section 11, proof of Theorem 20, ours: two squares",
    kind=sc.IDENTITY,
    says=r"With p + q = 1 and u = e^{−2β} the second derivative of log(p + q e^{−2β}) in β is 4pqu/(p + qu)² = 1 − ((p − qu)/(p + qu))² "
    r"≤ 1, so that Hoeffding's lemma (RMW-T20h) follows from Taylor's formula. For all reals s, d and k, b > 0 "
    r"s d = k s²/b + b d²/(4k) − (k/b)(s − b d/(2k))², which gives RMW-T20-quarter with s = ‖Ā(S) − ω_π‖, d = ‖Δ‖ and b = βn.",
    remains="that this is the second derivative, Taylor's formula, and where the square enters the proof of Theorem 20",
    exhaustive=True,
    knobs={"quarter": Fraction(1, 4)},
    mutants={"1/5": {"quarter": Fraction(1, 5)}},
)
def completed_squares(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both identities, the derivative by the chain rule du/dβ = −2u."""
    p, q, u = sc.symbols("p q u")
    # L = log(p + q u) has dL/dβ = −2qu/(p + qu) and so L'' = −2u d/du (−2qu/(p + qu)) = 4u (q (p + qu) − q·qu)/(p + qu)².
    second = 4 * u * (q * (p + q * u) - q * q * u) / (p + q * u) ** 2
    yield sc.equal(second, 1 - ((p - q * u) / (p + q * u)) ** 2, "second derivative")
    s, d, b, k = sc.symbols("s d b k")
    yield sc.equal(
        s * d, k * s**2 / b + trial["quarter"] * b * d**2 / k - k / b * (s - b * d / (2 * k)) ** 2, "the square that was completed"
    )


class Learner(NamedTuple):
    """Means Ā^i(S) of normal posteriors around the centres of their priors, with the weights α_i(S) of the maps, for each sample S."""

    chances: list[Fraction]
    maps: list[list[list[Fraction]]]
    centres: list[list[Fraction]]
    prior: list[Fraction]
    n: int
    beta: Fraction
    vectors: list[list[list[Fraction]]]
    mixing: list[list[Fraction]]


def moments(here: Learner) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """For each sample its probability, Σ_i α_i ⟨Ā^i, Δ^i⟩ and Σ_i α_i ‖Ā^i − ω_π^i‖²."""
    means = [expected(here.chances, features) for features in here.maps]
    for s, (drawn, mass) in enumerate(multinomial(here.n, tuple(here.chances))):
        gain = square = Fraction(0)
        parts = zip(here.mixing[s], here.vectors[s], here.maps, means, here.centres, strict=True)
        for share, vector, features, mean, centre in parts:
            gain += share * dot(vector, minus(average(drawn, features), mean))
            square += share * squared(minus(vector, centre))
        yield mass, gain, square


@sc.claim(
    "RMW-T20",
    place=CITATION,
    kind=sc.IN_EXPECTATION,
    says=r"If ‖φ(x)‖ ≤ 1, ‖Ā(S)‖ ≤ 1 for all S, and ω_π, β > 0 and Ā are fixed before the draw, then "
    r"E ℓ(P, Ā(S)) ≤ E [ℓ(S, Ā(S)) + ‖Ā(S) − ω_π‖²/(βn)] + β, and with probability at least 1 − δ "
    r"ℓ(P, Ā(S)) ≤ ℓ(S, Ā(S)) + (‖Ā(S) − ω_π‖² + log(1/δ))/(βn) + β. (RMW-T20-half: both with ½‖Ā(S) − ω_π‖².)",
    instances=single_maps,
    knobs={"beta": Fraction(1)},
    mutants={"β/8": {"beta": Fraction(1, 8)}},
    covers=("RMW-T20-half",),
    note="Exact: the expectations are rational. Learners Ā(S) = ω_π + c βn (ω_S − ω_P) come closest. Far from sharp: in expectation β/4 "
    "suffices beside ‖·‖² (RMW-T20-quarter).",
)
def normal_posteriors(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both bounds with both constants."""
    here = Learner(**instance)
    n, beta, found = here.n, here.beta, list(moments(here))
    gain, square = add(mass * g for mass, g, _ in found), add(mass * s for mass, _, s in found)
    for kappa, row in ((Fraction(1), ""), (HALF, "RMW-T20-half")):
        yield sc.at_most(gain, kappa * square / (beta * n) + trial["beta"] * beta, "in expectation", row=row)
        over = tails((beta * n * (g - trial["beta"] * beta) - kappa * s, mass) for mass, g, s in found)
        yield holds_for_all_levels(over, lambda x: ball(x) if x > 0 else None, "with high probability", row)


@sc.claim(
    "RMW-T20-quarter",
    place=CITATION + ", ours: the sharp bound in expectation",
    kind=sc.IN_EXPECTATION,
    says=r"If ‖φ(x)‖ ≤ 1 and ω_π is fixed before the draw, then for every κ, β > 0 and every learner "
    r"E ℓ(P, Ā(S)) ≤ E [ℓ(S, Ā(S)) + κ‖Ā(S) − ω_π‖²/(βn)] + β/(4κ). So in Theorem 20 β/4 will do for β (κ = 1), and β/2 with κ = ½.",
    instances=single_maps,
    knobs={"share": Fraction(1)},
    mutants={"0.99 β/(4κ)": {"share": Fraction(99, 100)}},
    note="Without PAC-Bayes: E⟨ω_π, Δ⟩ = 0, ⟨Ā − ω_π, Δ⟩ ≤ κ‖Ā − ω_π‖²/(βn) + βn‖Δ‖²/(4κ) (RMW-T20-steps), and "
    "E‖Δ‖² ≤ 1/n. Reached by Ā(S) = ω_π + βnΔ/(2κ) and ‖φ‖ = 1, ω_P = 0. ‖Ā‖ ≤ 1 is not needed. It gives nothing with high probability.",
)
def sharp_in_expectation(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """The expectations for three κ."""
    here = Learner(**instance)
    n, beta, found = here.n, here.beta, list(moments(here))
    gain, square = add(mass * g for mass, g, _ in found), add(mass * s for mass, _, s in found)
    for kappa in (HALF, Fraction(1), Fraction(2)):
        yield sc.at_most(gain, kappa * square / (beta * n) + trial["share"] * beta / (4 * kappa), f"κ = {kappa}")


def learners_with_tags(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One map for each of six points, 1 there and −1 elsewhere, of which the map of the point drawn is used; then mixtures."""
    one, size = Fraction(1), 6
    maps = [[[one if i == j else -one] for j in range(size)] for i in range(size)]
    even = [one / size] * size
    made: sc.Instance = {"chances": even, "maps": maps, "centres": [[Fraction(0)]] * size, "prior": even, "n": 1, "beta": one / 2}
    drawn = [counted.index(1) for counted, _ in multinomial(1, tuple(even))]
    vectors = [[[7 * one / 10]] * size for _ in drawn]
    yield made | {"vectors": vectors, "mixing": [[one * (i == j) for i in range(size)] for j in drawn]}
    yield from several_maps(trial)


@sc.claim(
    "RMW-T21",
    place="Theorem 21",
    kind=sc.IN_EXPECTATION,
    says=r"If ‖φ_i(x)‖ ≤ 1 and ‖Ā^i(S)‖ ≤ 1 for all i, x and S, and α_π, ω_π^i, β > 0, α and Ā^i are fixed before the draw, then "
    r"E E_{i~α(S)} ℓ(P, Ā^i(S)) ≤ E [E_i ℓ(S, Ā^i(S)) + (D_KL(α(S), α_π) + E_i ‖Ā^i(S) − ω_π^i‖²)/(βn)] + β, and with probability at "
    r"least 1 − δ the same without E_S and with log(1/δ) added to D_KL. (RMW-T21-half: with ½‖·‖².)",
    instances=learners_with_tags,
    knobs={"divergence": 1, "beta": Fraction(1)},
    mutants={"without D_KL(α, α_π)": {"divergence": 0}, "β/8": {"beta": Fraction(1, 8)}},
    covers=("RMW-T21-half",),
    note="The proof has the slip of RMW-T20-KL. Two, three and six maps; mixing weights near the worst for each sample.",
)
def mixtures_of_normals(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both bounds with both constants; the divergence of the tags is enclosed."""
    here = Learner(**instance)
    n, beta, found = here.n, here.beta, list(moments(here))
    for kappa, row in ((Fraction(1), ""), (HALF, "RMW-T21-half")):
        over: list[tuple[Ball, Fraction]] = []
        with workprec(BITS):
            mean = ball(0)
            for (mass, gain, square), mixing in zip(found, here.mixing, strict=True):
                tags = divergence(mixing, here.prior) * trial["divergence"]
                over.append((ball(beta * n * (gain - trial["beta"] * beta) - kappa * square) - tags, mass))
                mean += over[-1][0] * ball(mass)
        yield sc.at_most(enclosed(mean), 0, "in expectation, times βn", row=row)
        ratios = unit_ratios(over)
        name = "with high probability: P(bad)/δ"
        yield sc.at_most(ratios, 1, name, row=row) if ratios else sc.vacuous(True, name, evidence=sc.EXACT, row=row)
