r"""Appendix D, (19): ‖u + v‖^m + ‖u − v‖^m against 2‖u‖^m + 2‖v‖^m, for m ≥ 2 and for m ≤ 2: row AK-19.

With a = ‖u‖², b = ‖v‖², w = ⟨u, v⟩, p = m/2 and s = a + b it compares (s + 2w)^p + (s − 2w)^p with 2s^p, and 2s^p with 2a^p + 2b^p: the
first by convexity of the power (p ≥ 1; concavity for p ≤ 1), the second because it is superadditive (subadditive for p ≤ 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import Any

from simopt.claims import *
from simopt.ground.arrays import Array
from simopt.theorems.ak.rational_power import fractional
from simopt.theorems.ak.rational_ridge import dot

STATEMENT = "Appendix D, proof of Theorem 3, (19)"


def turned(tangent: Fraction, ratio: Fraction, power: Fraction) -> Instance:
    """u = (1, 0) and v of length `ratio` at the angle whose half has this tangent: all angles and ratios, by homogeneity all pairs."""
    square = 1 + tangent**2
    v = [ratio * (1 - tangent**2) / square, ratio * 2 * tangent / square]
    return {"u": [Fraction(1), Fraction(0)], "v": v, "power": power}


def pairs(low: Fraction, high: Fraction, trial: Trial) -> Iterator[Instance]:
    """Angles from 0 to π, ratios from 0 to 1 (u and v may be exchanged), m (whole eighths) from low to high, and random ones."""
    for power in (low, low + Fraction(3, 8), low + Fraction(3, 4), high - Fraction(1, 8), high):
        for tangent in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(4)):
            for ratio in (Fraction(0), Fraction(1, 100), Fraction(1, 2), Fraction(1)):
                yield turned(tangent, ratio, power)
    for _ in range(trial.count(20, 400)):
        tangent, ratio = (Fraction(int(k), 32) for k in trial.rng.integers(0, 33, size=2))
        # Multiples of 1/8 keep the powers roots of order 16 at most.
        power = Fraction(int(trial.rng.integers(int(8 * low), int(8 * high) + 1)), 8)
        yield turned(4 * tangent, ratio, power)


def from_two(trial: Trial) -> Iterator[Instance]:
    """m from 2 to 8."""
    return pairs(Fraction(2), Fraction(8), trial)


def up_to_two(trial: Trial) -> Iterator[Instance]:
    """m from 1/8 to 2."""
    return pairs(Fraction(1, 8), Fraction(2), trial)


def between_one_and_two(trial: Trial) -> Iterator[Instance]:
    """m from 1 to 2."""
    return pairs(Fraction(1), Fraction(2), trial)


def decode_from_two(point: Array, trial: Trial) -> Instance:
    """Angle, ratio and m on a fine grid, so that the powers stay roots of moderate order."""
    tangent, ratio, share = (Fraction(round(float(x) * 256), 256) for x in point)
    return turned(4 * tangent, ratio, 2 + 6 * Fraction(round(share * 48), 48))


def decode_up_to_two(point: Array, trial: Trial) -> Instance:
    """Angle, ratio and m from 1/8 to 2."""
    tangent, ratio, share = (Fraction(round(float(x) * 256), 256) for x in point)
    return turned(4 * tangent, ratio, Fraction(1, 8) + Fraction(round(share * 15), 8))


def steps(instance: Instance) -> tuple[Any, Any, Any]:
    """(s + 2w)^p + (s − 2w)^p, 2s^p and 2a^p + 2b^p."""
    u, v, p = instance["u"], instance["v"], instance["power"] / 2
    a, b, w = dot(u, u), dot(v, v), dot(u, v)
    s = a + b
    top = fractional(s + 2 * w, p) + fractional(s - 2 * w, p)
    return top, 2 * fractional(s, p), 2 * fractional(a, p) + 2 * fractional(b, p)


@claim(
    "AK-19",
    paper=AUDIFFREN_KADRI,
    place=STATEMENT,
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For m ≥ 2 and u, v in a Hilbert space ‖u + v‖^m + ‖u − v‖^m ≥ 2‖u‖^m + 2‖v‖^m, in two steps with p = m/2 and "
    r"s = ‖u‖² + ‖v‖²: (s + 2⟨u, v⟩)^p + (s − 2⟨u, v⟩)^p ≥ 2s^p, and 2s^p ≥ 2‖u‖^{2p} + 2‖v‖^{2p}; equality for m = 2 and for v = 0.",
    instances=from_two,
    decode=decode_from_two,
    dimension=3,
    evaluations=(60, 600),
    knobs={"factor": Fraction(1)},
    mutants={"1 ≤ m ≤ 2": {"instances": between_one_and_two}, "2.02 for 2": {"factor": Fraction(101, 100)}},
    note="The steps are convexity and superadditivity of t ↦ t^p; the paper cites Newton's generalised binomial theorem (proved for even m "
    "in AK-19-even). Reversed for m ≤ 2: AK-19-reversed.",
)
def powers_of_norms(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both steps and the whole, as enclosures."""
    top, middle, bottom = steps(instance)
    yield at_least(top, trial["factor"] * middle, "(s + 2w)^p + (s − 2w)^p ≥ 2s^p")
    yield at_least(middle, trial["factor"] * bottom, "2s^p ≥ 2a^p + 2b^p")
    yield at_least(top, trial["factor"] * bottom, "(19)")
    if instance["power"] == 2 or not any(instance["v"]):
        yield equal(top, bottom, "equality")


@claim(
    "AK-19-reversed",
    paper=AUDIFFREN_KADRI,
    place=STATEMENT + ", ours for m ≤ 2",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For 0 < m ≤ 2 (19) and both its steps hold the other way round: ‖u + v‖^m + ‖u − v‖^m ≤ 2‖u‖^m + 2‖v‖^m.",
    instances=up_to_two,
    decode=decode_up_to_two,
    dimension=3,
    evaluations=(60, 600),
    knobs={"factor": Fraction(1)},
    mutants={"2 ≤ m ≤ 8": {"instances": from_two}, "1.98 for 2": {"factor": Fraction(99, 100)}},
    note="So the proof of Theorem 3 cannot be carried over to 1 < m < 2; AK-open uses strong monotonicity on a ball in its place.",
)
def powers_below_two(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both steps and the whole, as enclosures."""
    top, middle, bottom = steps(instance)
    yield at_most(top, trial["factor"] * middle, "(s + 2w)^p + (s − 2w)^p ≤ 2s^p")
    yield at_most(middle, trial["factor"] * bottom, "2s^p ≤ 2a^p + 2b^p")
    yield at_most(top, trial["factor"] * bottom, "(19) reversed")


def halves(trial: Trial) -> Iterator[Instance]:
    """u = v = 1/2."""
    yield {"u": Fraction(1, 2), "v": Fraction(1, 2)}


@claim(
    "AK-19-witness",
    paper=AUDIFFREN_KADRI,
    place=STATEMENT + ", our counterexample for m = 3/2",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"(19) needs m ≥ 2: at m = 3/2 and u = v = 1/2 in ℝ its left side is 1 and its right side 4 · 2^{−3/2} = √2.",
    instances=halves,
    exhaustive=True,
    quantifier=SOME,
    knobs={"m": Fraction(3, 2)},
    mutants={"m = 5/2": {"m": Fraction(5, 2)}},
)
def fails_below_two(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The left side is exact, the right one an enclosed root."""
    u, v = inputs(u=instance["u"], v=instance["v"])
    m = trial["m"]

    def power(x: Any) -> Any:
        return root(abs(x) ** m.numerator, m.denominator)

    left, right = power(u + v) + power(u - v), 2 * power(u) + 2 * power(v)
    yield at_most(left, right - Fraction(2, 5), "(19) is violated by more than 2/5")
    yield at_most(abs(right - root(rational(2))), Fraction(1, 10**50), "the right side is √2")


def even_powers(trial: Trial) -> Iterator[Instance]:
    """m = 2, 4, …, 16."""
    for p in range(1, 9):
        yield {"p": p}


@claim(
    "AK-19-even",
    paper=AUDIFFREN_KADRI,
    place=STATEMENT + ", m = 2p",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"For m = 2p, p = 1, …, 8, and all u, v with a = ‖u‖², b = ‖v‖², w = ⟨u, v⟩:  ‖u + v‖^m + ‖u − v‖^m − 2‖u‖^m − 2‖v‖^m = "
    r"2 Σ_{k ≥ 1} C(p, 2k) (a + b)^{p−2k} (2w)^{2k} + 2 Σ_{0 < j < p} C(p, j) a^j b^{p−j}. No term is negative, which is (19).",
    instances=even_powers,
    exhaustive=True,
    knobs={"first": 1},
    mutants={"without the terms in w²": {"first": 2}},
)
def even_powers_by_the_binomial_theorem(instance: Instance, trial: Trial) -> Iterator[Check]:
    """An identity of polynomials in a, b, w for each p."""
    p = instance["p"]
    a, b, w = symbols("a b w")
    s = a + b
    left = (s + 2 * w) ** p + (s - 2 * w) ** p - 2 * a**p - 2 * b**p
    right = rational(0)
    for k in range(trial["first"], p // 2 + 1):
        right = right + 2 * comb(p, 2 * k) * s ** (p - 2 * k) * (2 * w) ** (2 * k)
    for j in range(1, p):
        right = right + 2 * comb(p, j) * a**j * b ** (p - j)
    yield equal(left, right, f"m = {2 * p}")
