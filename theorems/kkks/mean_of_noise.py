r"""Section 5.1, Lemma 2: how long the mean of m independent vectors of mean 0 is, with exact binomial and multinomial probabilities.

P(‖mean‖ > b(δ)) ≤ δ for all δ in (0, 1) comes to finitely many inequalities P(‖mean‖ ≥ r) ≤ e^{−x(r)}, b(δ) < r exactly for
δ > e^{−x(r)}. For the printed bound x = 2 (√m r/2 − 1)², for that of McDiarmid's inequality (√m r − 1)²/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import simopt.claims as sc
from simopt.theorems.small_worlds.exact_tails import Ball, ball, expected, holds_for_all_levels, law, squared_distance, tails
from simopt.theorems.small_worlds.sampled_worlds import coin, disc_point, on_circle, weights
from simopt.theorems.small_worlds.worlds import Vector, minus, scaled, squared

ONE = Fraction(1)


def centred(probabilities: list[Fraction], features: list[Vector], n: int) -> sc.Instance:
    """The vectors minus their mean, divided by a power of two that brings them into the unit ball."""
    mean = expected(probabilities, features)
    moved = [minus(f, mean) for f in features]
    longest = max(squared(f) for f in moved)
    unit = ONE
    while longest * unit**2 > 1:
        unit /= 2
    return {"probabilities": probabilities, "features": [scaled(f, unit) for f in moved], "n": n}


def on_the_line(trial: sc.Trial) -> Iterator[sc.Instance]:
    """1 with probability p and −p/(1 − p): all two-point laws of mean 0 up to scale, n up to 60 and, for the fair coin, 199."""
    for n in (2, 3, 4, 5, 6, 8, 9, 11, 13, 20, 35, 60, *range(61, trial.count(61, 200), 20)):
        for p in (Fraction(1, 2), Fraction(2, 5), Fraction(1, 4), Fraction(1, 20)):
            yield coin(n, p, (ONE, -p / (1 - p)))
    for n in (100, 199):
        yield coin(n, Fraction(1, 2))


def in_the_plane(trial: sc.Trial) -> Iterator[sc.Instance]:
    """±e_1, ±e_2, an equilateral triangle up to rounding, and random triples minus their mean."""
    axes = [[ONE, Fraction(0)], [-ONE, Fraction(0)], [Fraction(0), ONE], [Fraction(0), -ONE]]
    third = on_circle(Fraction(7, 4))
    for n in (4, 5, 8):
        yield {"probabilities": [Fraction(1, 4)] * 4, "features": axes, "n": n}
        yield centred([Fraction(1, 3)] * 3, [axes[0], third, [third[0], -third[1]]], n)
    for _ in range(trial.count(8, 20)):
        n = int(trial.rng.integers(4, trial.count(9, 12)))
        yield centred(weights(trial.rng, 3), [disc_point(trial.rng) for _ in range(3)], n)


def noises(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Both."""
    yield from on_the_line(trial)
    yield from in_the_plane(trial)


def printed(square: Fraction, m: int, trial: sc.Trial) -> Ball | None:
    """x = 2 (√m r/2 − 1)² for r² = `square`, if b(δ) < r for some δ < 1."""
    if m * square <= trial["outside"] ** 2:
        return None
    return 2 * (ball(m * square).sqrt() / ball(trial["outside"]) - 1) ** 2


def by_differences(square: Fraction, m: int, trial: sc.Trial) -> Ball | None:
    """x = (√m r − 1)²/2."""
    if m * square <= 1:
        return None
    return (ball(m * square).sqrt() - 1) ** 2 / ball(trial["spread"])


@sc.claim(
    "KK-L2",
    place="Section 5.1, Lemma 2",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let z_1, …, z_m be independent with one law, mean 0 and ‖z_i‖ ≤ 1 (the paper prints ‖x_i‖). For every δ in (0, 1), with "
    r"probability ≥ 1 − δ, ‖mean z_i‖ ≤ 2 (1 + √(log(1/δ)/2))/√m.",
    instances=noises,
    knobs={"outside": Fraction(2)},
    mutants={"without the factor 2": {"outside": ONE}},
    note="All δ at once, exactly. P(bad)/δ is largest for small m on the line: 0.071 for 8 tosses of a fair coin. Appendix A.1 quotes the "
    "lemma with log(1/δ)/1 for log(1/δ)/2, which is weaker. KK-L2-sharp takes off 1/√m.",
)
def length_of_the_mean(n: int, probabilities: list[Fraction], features: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """P(‖mean‖ ≥ r)/δ at every value r."""
    m = n
    found = tails(law(m, probabilities, features, squared_distance))
    yield holds_for_all_levels(found, partial(printed, m=m, trial=trial), f"‖mean‖, m = {m}")


@sc.claim(
    "KK-L2-sharp",
    place="Section 5.1, Lemma 2, sharper",
    kind=sc.HIGH_PROBABILITY,
    says=r"Under the hypotheses of Lemma 2, ‖mean z_i‖ ≤ (1 + √(2 log(1/δ)))/√m with probability ≥ 1 − δ: less than the printed bound by "
    r"1/√m.",
    instances=noises,
    knobs={"spread": Fraction(2)},
    mutants={"√(log(1/δ)/2)": {"spread": Fraction(1, 2)}},
    note="McDiarmid's inequality: one z_i moves the norm by ≤ 2/m, and E‖mean‖ ≤ 1/√m. Its difference from the printed bound is "
    "KK-L2-difference.",
)
def length_of_the_mean_by_differences(
    n: int, probabilities: list[Fraction], features: list[list[Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """P(‖mean‖ ≥ r)/δ at every value r."""
    m = n
    found = tails(law(m, probabilities, features, squared_distance))
    yield holds_for_all_levels(found, partial(by_differences, m=m, trial=trial), f"‖mean‖, m = {m}")


@sc.claim(
    "KK-L2-difference",
    place="Section 5.1, Lemma 2, and KK-L2-sharp",
    kind=sc.IDENTITY,
    says=r"With log(1/δ) = 2 s² and 1/√m = r: 2 (1 + √(log(1/δ)/2))/√m − (1 + √(2 log(1/δ)))/√m = 1/√m for every δ.",
    exhaustive=True,
    knobs={"outside": 2},
    mutants={"without the factor 2": {"outside": 1}},
)
def difference_of_the_bounds(trial: sc.Trial) -> Iterator[sc.Check]:
    """√(log(1/δ)/2) = s and √(2 log(1/δ)) = 2s."""
    s, r = sc.symbols("s r")
    yield sc.equal(trial["outside"] * (1 + s) * r - (1 + 2 * s) * r, r, "difference")
