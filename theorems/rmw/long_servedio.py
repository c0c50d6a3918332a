r"""Long and Servedio's example (sections 4.4 and 9): three points on which label noise ruins hinge loss but not the mean.

(1, 0) and (γ, 5γ) have mass ¼ each, (γ, −γ), 'the southern most point', has mass ½; all labels are 1. (The coordinates are those of
Long and Servedio; the paper prints them only as a figure.) With labels flipped at rate σ the hinge risk of w is Σ p_i h(⟨w, x_i⟩),
h(m) = (1 − σ)[1 − m]₊ + σ[1 + m]₊. Its slopes are −k = −(1 − 2σ) for |m| < 1, σ for m > 1 and anything between at m = 1. A w is a
minimiser iff slopes s_i that h has at the margins ⟨w, x_i⟩ satisfy Σ p_i s_i x_i = 0. It is the only one if two points span the plane whose
margins are 1 and whose slopes lie strictly inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.hinge_vertices import corners
from simopt.theorems.small_worlds.worlds import CONVENTIONS, Atom, add, by, dot, flipped, mean, risk, zero_one

SECTION = "Section 9"
QUARTER = Fraction(1, 4)
MASSES = (QUARTER, QUARTER, Fraction(1, 2))


def three_points(gamma: Any, masses: Sequence[Any] = MASSES) -> list[Atom]:
    """The distribution P; the southern most point comes last."""
    return [(p, 1, x) for p, x in zip(masses, ([1, 0], [gamma, 5 * gamma], [gamma, -gamma]), strict=True)]


def threshold(gamma: Any, slope: Any = 12) -> Any:
    """σ*(γ) = 12γ/(5 + 24γ): above it, and for γ < 1/6, hinge loss fails."""
    return slope * gamma / (5 + 2 * slope * gamma)


def correct(gamma: Any) -> list[Any]:
    """The minimiser of the noisy hinge risk up to the threshold, with margins 1/γ, 1, 1."""
    return [1 / gamma, 0]


def misled(gamma: Any) -> list[Any]:
    """The minimiser above the threshold, with margins 1, 1, (6γ − 1)/5."""
    return [1, (1 / gamma - 1) / 5]


def margins(world: Sequence[Atom], w: Sequence[Any]) -> list[Any]:
    """y⟨w, x⟩ for each point."""
    return [y * dot(w, x) for _, y, x in world]


def pull(world: Sequence[Atom], slopes: Sequence[Any]) -> list[Any]:
    """Σ p_i s_i x_i, the gradient that the slopes make."""
    return [add(p * s * x[j] for (p, _, x), s in zip(world, slopes, strict=True)) for j in range(2)]


@sc.claim(
    "RMW-LS2",
    place=SECTION,
    kind=sc.COUNTEREXAMPLE,
    says=r"Let 0 < γ < 1/6 and 0 < σ < ½. Every minimiser of the clean hinge risk has margins ≥ 1 on all three points, since (1/γ, 0) has "
    r"risk 0. For **σ > 12γ/(5 + 24γ)** the noisy hinge risk has the single minimiser (1, (1/γ − 1)/5), which gives the point of mass ½ "
    r"the margin (6γ − 1)/5 < 0 and the others 1: its error is ½. Given any σ ∈ (0, ½), γ = σ/3 is such a scale. The mean ((1 + 3γ)/4, "
    r"3γ/4) has margins (1 + 3γ)/4, γ(1 + 18γ)/4 and γ/4 > 0 on the three points, under every σ up to the factor 1 − 2σ.",
    remains="that a convex risk is least where it has the subgradient 0, and that the margins at kinks leave one minimiser",
    exhaustive=True,
    knobs={"masses": MASSES, "slope": 12},
    mutants={"equal masses": {"masses": (Fraction(1, 3),) * 3}, "σ* = 11γ/(5 + 22γ)": {"slope": 11}},
    note="The identities write every quantity that has to be positive as a product of positive factors. The mean is far from a large "
    "margin: γ/4 with features of norm 1. The clean hinge minimiser is not unique; all of them are correct.",
)
def noise_ruins_hinge_loss_and_not_the_mean(trial: sc.Trial) -> Iterator[sc.Check]:
    """Margins, stationarity and slopes with γ and σ as symbols."""
    gamma, sigma = sc.symbols("gamma sigma")
    world = three_points(gamma, trial["masses"])
    k = 1 - 2 * sigma
    yield from _equal_all(margins(world, correct(gamma)), [1 / gamma, 1, 1], "clean: margin")
    yield from _equal_all(margins(world, misled(gamma)), [1, 1, (6 * gamma - 1) / 5], "noisy: margin")
    slopes = [12 * gamma * k / 5, -2 * k / 5, -k]
    yield from _equal_all(pull(world, slopes), [0, 0], "noisy: gradient")
    level = threshold(gamma, trial["slope"])
    yield sc.equal(sigma - slopes[0], (5 + 24 * gamma) / 5 * (sigma - level), "slope at (1, 0) below σ iff σ > σ*")
    yield sc.equal(slopes[0] + k, k * (1 + 12 * gamma / 5), "slope at (1, 0) above −k")
    yield sc.equal(sigma - slopes[1], (2 + sigma) / 5, "slope at (γ, 5γ) below σ")
    yield sc.equal(slopes[1] + k, 3 * k / 5, "slope at (γ, 5γ) above −k")
    yield sc.equal(1 - (6 * gamma - 1) / 5, 6 * (1 - gamma) / 5, "southern margin below 1")
    yield sc.equal(1 + (6 * gamma - 1) / 5, (4 + 6 * gamma) / 5, "southern margin above −1")
    yield sc.equal(sigma - threshold(sigma / 3, trial["slope"]), sigma * (1 + 8 * sigma) / (5 + 8 * sigma), "γ = σ/3 is small enough")
    scores = [(1 + 3 * gamma) / 4, gamma * (1 + 18 * gamma) / 4, gamma / 4]
    yield from _equal_all(margins(world, mean(world)), scores, "mean: margin")
    yield from _equal_all(margins(world, mean(flipped(world, sigma))), [k * score for score in scores], "mean under noise: margin")


def _equal_all(left: Sequence[Any], right: Sequence[Any], name: str) -> Iterator[sc.Check]:
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        yield sc.equal(a, b, f"{name} {i + 1}")


@sc.claim(
    "RMW-LS2-threshold",
    place=SECTION + ", our converse",
    kind=sc.IDENTITY,
    says=r"The threshold is exact. For 0 < γ < 1 and 0 < σ ≤ 12γ/(5 + 24γ), (1/γ, 0) minimises the noisy hinge risk, alone if σ is below "
    r"the threshold, with margins 1/γ, 1 and 1: no error. Above it (1, (1/γ − 1)/5) is the only minimiser, whose southern margin (6γ − "
    r"1)/5 is not negative for γ ≥ 1/6. So hinge loss fails iff γ < 1/6 and σ > 12γ/(5 + 24γ).",
    remains="that a convex risk is least where it has the subgradient 0, and that the margins at kinks leave one minimiser",
    exhaustive=True,
    knobs={"slope": 12},
    mutants={"σ* = 11γ/(5 + 22γ)": {"slope": 11}},
    note="At γ = 1/6 above the threshold the southern score is 0: no error under convention A, one under B, half of one under C.",
)
def below_the_threshold_hinge_loss_is_right(trial: sc.Trial) -> Iterator[sc.Check]:
    """The other half of the certificate, and the noisy hinge itself."""
    gamma, sigma, m, step = sc.symbols("gamma sigma m step")
    world = three_points(gamma)
    k = 1 - 2 * sigma
    yield sc.equal(_inside(m + step, sigma) - _inside(m, sigma), -k * step, "slope of the noisy hinge for |m| < 1")
    yield sc.equal(sigma * (1 + m + step) - sigma * (1 + m), sigma * step, "slope of the noisy hinge for m > 1")
    slopes = [sigma, -sigma / (6 * gamma), -5 * sigma / (12 * gamma)]
    yield from _equal_all(pull(world, slopes), [0, 0], "gradient")
    room = (5 + 24 * gamma) / (12 * gamma) * (threshold(gamma, trial["slope"]) - sigma)
    yield sc.equal(slopes[2] + k, room, "slope at (γ, −γ) above −k iff σ < σ*")
    yield sc.equal(slopes[1] + k, room + sigma / (4 * gamma), "slope at (γ, 5γ) above −k")
    yield sc.equal(1 / gamma - 1, (1 - gamma) / gamma, "margin of (1, 0) above 1")


def _inside(m: Any, sigma: Any) -> Any:
    return (1 - sigma) * (1 - m) + sigma * (1 + m)


SCALES = (*(Fraction(1, d) for d in (100, 40, 20, 12, 10, 8, 7, 6, 5, 4)), Fraction(83, 500), Fraction(21, 125))


def scales_and_rates(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Scales around 1/6, and rates over (0, ½) and within a thousandth of the threshold."""
    for gamma in SCALES:
        level = threshold(gamma)
        near = [level * (1 + Fraction(side, 1000)) for side in (-10, -1, 0, 1, 10)]
        grid = [Fraction(j, 2 * trial.count(13, 49)) for j in range(1, trial.count(13, 49))]
        for rate in sorted({*near, *grid}):
            if 0 < rate < Fraction(1, 2):
                yield {"gamma": gamma, "rate": rate}


def printed_rule(gamma: Fraction, rate: Fraction) -> int:
    """Whether hinge loss fails by our threshold: 1 yes, −1 no, 0 on the boundary, where it has right and wrong minimisers."""
    level = threshold(gamma)
    if gamma >= Fraction(1, 6) or rate < level:
        return -1
    return 1 if rate > level else 0


def rule_at_one_fifth(gamma: Fraction, rate: Fraction) -> int:
    """The rule with γ < 1/5 instead of γ < 1/6."""
    return (
        printed_rule(min(gamma, Fraction(1, 7)), rate) if gamma < Fraction(1, 5) and rate > threshold(gamma) else printed_rule(gamma, rate)
    )


def rule_with_thirteen(gamma: Fraction, rate: Fraction) -> int:
    """The rule with 13γ/(5 + 26γ)."""
    level = threshold(gamma, 13)
    return -1 if gamma >= Fraction(1, 6) or rate < level else int(rate > level)


@sc.claim(
    "RMW-LS2-vertices",
    place=SECTION + ", our converse",
    kind=sc.EQUIVALENCE,
    says=r"For twelve scales γ from 1/100 to 1/4 and a grid of rates σ in (0, ½) with σ*, σ*(1 ± 1/1000) and σ*(1 ± 1/100): all minimisers "
    r"of the noisy hinge risk give the southern point a negative score iff γ < 1/6 and σ > σ* = 12γ/(5 + 24γ), all a score ≥ 0 iff γ ≥ 1/6 "
    r"or σ < σ*, and some of each at σ*. The error is then ½ or 0 under conventions A, B and C, except at γ = 1/6 "
    r"above the threshold, where the score is 0. The mean of P_σ errs nowhere.",
    instances=scales_and_rates,
    exhaustive=True,
    knobs={"rule": printed_rule},
    mutants={"13γ/(5 + 26γ)": {"rule": rule_with_thirteen}, "γ < 1/5": {"rule": rule_at_one_fifth}},
    note="The minimisers are found by enumerating vertices in rational arithmetic, without the slopes of RMW-LS2 and RMW-LS2-threshold.",
)
def all_minimisers_by_enumeration(gamma: Fraction, rate: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Corners of the set of minimisers, the southern scores there, and errors under each convention."""
    world = three_points(gamma)
    noisy = flipped(world, rate)
    _, best = corners(noisy)
    south = [margins(world, w)[2] for w in best]
    said = 1 if max(south) < 0 else -1 if min(south) >= 0 else 0
    yield sc.true(said == trial["rule"](gamma, rate), "the rule tells whether the southern point is lost", evidence=sc.EXACT)
    for convention in CONVENTIONS:
        loss = zero_one(convention)
        yield sc.equal(risk(world, loss, by(mean(noisy))), 0, f"error of the mean, {convention}")
        if said and south[0] != 0:
            expected = Fraction(1, 2) if said > 0 else 0
            yield sc.equal([risk(world, loss, by(w)) for w in best], [expected] * len(best), f"errors of the minimisers, {convention}")


@sc.claim(
    "RMW-LS1-literal",
    place="Section 4.4, the paraphrase of Long and Servedio read word by word",
    kind=sc.COUNTEREXAMPLE,
    says=r"No single scale γ ∈ (0, 1) serves every rate: at σ = ½·12γ/(5 + 24γ) the hinge risk has the only minimiser (1/γ, 0), which errs "
    r"nowhere. So P has to depend on σ.",
    remains="that a convex risk is least where it has the subgradient 0, and that the margins at kinks leave one minimiser",
    exhaustive=True,
    knobs={"part": Fraction(1, 2)},
    mutants={"twice the threshold": {"part": 2}},
    note="For hinge loss the same is true of every separable P on finitely many points: the clean risk grows at least linearly with the "
    "distance from {margins ≥ 1}, so a small share of noise cannot pull a minimiser out of it. For the fair reading see RMW-LS1.",
)
def one_scale_does_not_serve_all_rates(trial: sc.Trial) -> Iterator[sc.Check]:
    """The slopes of RMW-LS2-threshold at half the threshold."""
    (gamma,) = sc.symbols("gamma")
    sigma = trial["part"] * threshold(gamma)
    k = 1 - 2 * sigma
    slopes = [sigma, -sigma / (6 * gamma), -5 * sigma / (12 * gamma)]
    yield from _equal_all(pull(three_points(gamma), slopes), [0, 0], "gradient")
    yield sc.equal(slopes[2] + k, Fraction(1, 2), "slope at (γ, −γ) above −k")
    yield sc.equal(slopes[1] + k, (4 + 12 * gamma) / (5 + 24 * gamma), "slope at (γ, 5γ) above −k")
    yield from _equal_all(margins(three_points(gamma), correct(gamma)), [1 / gamma, 1, 1], "margin")
