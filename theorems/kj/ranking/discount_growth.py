r"""Appendix F, how Theorem 30 depends on m, ε_1, d and n: the constant C_F for slow and fast discounts, and what the square root does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.ranking.relevance_lists import BITS, discounts, logarithm
from simopt.theorems.kj.regression.theorem_5 import SIZES, landmark_quantile

SECTION = "ordinal"
TURN = 15  # from here on the step of the induction is decided by one number


def short_lists(trial: Trial) -> Iterator[Instance]:
    """m = 2, …, 15."""
    for m in range(2, TURN + 1):
        yield {"m": m}


@claim(
    "KJ-Thm30-CF",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, the constant C_F",
    kind=RATE,
    expected=HOLDS,
    says=r"C_F = 2‖D‖₂ = O(√(m/log m)), F = log(1 + t), m ≥ 2; not sharp: 2√m/log(m + 1) ≤ C_F ≤ **4√m/log m** for m ≥ 15, so that C_F = "
    r"Θ(√m/log m). Proof by induction of Σ_{t≤m} 1/log²(t + 1) ≤ 4m/log² m: true at m = 15, and x/log² x has the slope (1 − 2/log x)/log² "
    r"x, where 4(1 − 2/log x) ≥ 1 for x ≥ 15. Below 15 C_F ≤ (17/5)√(m/log m), beyond ≤ 2.43√(m/log m), 2.43 = 4/√log 15.",
    remains="m > 15: the induction (mean value theorem for x/log² x, whose slope times log² x grows), and the bounds from it",
    instances=short_lists,
    exhaustive=True,
    knobs={"constant": Fraction(4), "small": Fraction(17, 5)},
    mutants={"2m/log² m": {"constant": Fraction(2)}, "2√(m/log m) below 15": {"small": Fraction(2)}},
    note="C_F log m/√m is 3.32, 3.13, 2.62, 2.36, 2.24, 2.18, 2.15 at m = 10, …, 10^7, and tends to 2. The best constant of the theorem is "
    "smaller still, O(√m/log² m): KJ-Thm30-growth.",
    cost=0.1,
)
def constant_of_the_discount(instance: Instance, trial: Trial) -> Iterator[Check]:
    """C_F² at m, and at m = 15 the induction."""
    m = inputs(m=instance["m"])
    squares = total(d**2 for d in discounts(instance["m"]))
    level = logarithm(instance["m"])
    if instance["m"] < TURN:
        yield at_most(4 * squares, trial["small"] ** 2 * m / level, "C_F²")
        return
    yield at_most(squares, trial["constant"] * m / level**2, "Σ 1/log² (t + 1), m = 15")
    yield at_least(trial["constant"] * (1 - 2 / level), 1, "slope times log², x = 15")
    yield at_least(squares, m / logarithm(instance["m"] + 1) ** 2, "from below, each term is at least the last")
    yield at_most(4 * rational(trial["constant"]) / level, trial["small"] ** 2, "4√m/log m against √(m/log m)")


def powers(trial: Trial) -> Iterator[Instance]:
    """No data, for t² in symbols; then exponents 3/5, 3/4, 9/10 (F = t^p) at m up to 512."""
    yield {}
    for p in ("3/5", "3/4", "9/10"):
        for m in (8, 64, trial.count(128, 512)):
            yield {"power": Fraction(p), "m": m}


@claim(
    "KJ-Thm30-sl",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, after Theorem 30: fast discounts",
    kind=RATE,
    expected=HOLDS,
    says=r"For F that grows super-linearly, F(t) ≥ ct, C_F = O(1): Σ_{t≤m} 1/F² ≤ 2/c², because 1/t² ≤ 1/(t − 1) − 1/t. Much less will do: "
    r"F = t^p with p > 1/2 has C_F ≤ 2√(1 + 1/(2p − 1)), 4.90 at p = 3/5. (Symbols for p = 1; enclosures at p = 3/5, 3/4, 9/10, m ≤ 128, "
    r"full effort 512.)",
    instances=powers,
    knobs={"least": Fraction(1, 2)},
    mutants={"1 + 1/(2p)": {"least": Fraction(0)}},
    note="At p = 1/2 the sum is Σ 1/t ~ log m: not bounded. What is needed is Σ 1/F² < ∞, by which Theorem 30 has a constant that does not "
    "depend on m.",
    cost=0.4,
)
def constant_of_fast_discounts(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The telescoping step for p = 1; sums of t^{−2p} against their bound."""
    if not instance:
        (t,) = symbols("t")
        yield equal(1 / (t - 1) - 1 / t - 1 / t**2, 1 / (t**2 * (t - 1)), "1/(t − 1) − 1/t − 1/t² ≥ 0 for t ≥ 2")
        return
    p = 2 * instance["power"]
    terms = [1 / root(rational(t) ** p.numerator, p.denominator, bits=BITS) for t in range(1, instance["m"] + 1)]
    yield at_most(total(terms), 1 + 1 / (p - 2 * trial["least"]), f"Σ t^(−{p})")


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm30-split",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, last display of the proof of Theorem 30",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"√(m/log m) √(ε_0 + 4Bmε_1) ≤ √(m/log m) √ε_0 + (2m/√log m) √(Bε_1) for ε_0, ε_1, B ≥ 0: with x = √ε_0, y = √(Bε_1) and l = "
    r"√(m/log m), (lx + 2l√m y)² − l²(x² + 4my²) = 4l²√m xy ≥ 0, and 2l√m = 2m/√log m. (In symbols.)",
    instances=once,
    exhaustive=True,
    knobs={"factor": 2},
    mutants={"m/√log m": {"factor": 1}},
)
def square_root_of_a_sum(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The difference of the squares, with u = √m and v = √log m, so that l = u/v."""
    x, y, u, v = symbols("x y u v")
    right = (u / v) * x + trial["factor"] * u**2 / v * y
    yield equal(right**2 - (u / v) ** 2 * (x**2 + 4 * u**2 * y**2), 4 * (u / v) ** 2 * u * x * y, "right² − left²")


def excess_levels(trial: Trial) -> Iterator[Instance]:
    """ε_0 = 0 and more, sizes 2^4 to 2^40; then laws of what landmarks cost."""
    for level in ("0", "1/1000", "1"):
        for k in range(4, 44, 4):
            yield {"level": Fraction(level), "size": 2**k}
    yield {"level": Fraction(0), "landmarks": list(SIZES)}


@claim(
    "KJ-Thm30-4th",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, end of the proof of Theorem 30: fourth roots",
    kind=RATE,
    expected=HOLDS,
    says=r"The excess NDCG regret falls as d^{−1/4} and n^{−1/4}: √(ε_0 + c/√n) − √ε_0 ≤ √c n^{−1/4}, with equality at ε_0 = 0. An upper "
    r"bound: for ε_0 > 0 it is at most c/(2√(ε_0 n)), which has the rate n^{−1/2} of regression. (Enclosures, c = 1; exact laws of E |f̃ − "
    r"f| for K = ±1 of rank one, roots of their 80 % quantiles against d.)",
    instances=excess_levels,
    knobs={"root": 4, "slope": -0.25},
    mutants={"n^{−1/3}": {"root": 3}, "d^{−1/2} from quantiles": {"slope": -0.5}},
    note="An artefact of passing through the squared error: by the triangle inequality in L₂ what landmarks cost falls as d^{−1/2} for all "
    "ε_0 (KJ-Thm30-half).",
    cost=0.5,
)
def fourth_roots(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The two bounds, or the slope."""
    if "landmarks" in instance:
        values = [math.sqrt(landmark_quantile(d, Fraction(1, 5))) for d in instance["landmarks"]]
        yield rate(instance["landmarks"], values, trial["slope"], name="root of the 80 % quantile against d")
        return
    level, size = inputs(level=instance["level"], size=instance["size"])
    gained = root(level + 1 / root(size, bits=96), bits=96) - root(level, bits=96)
    fourth = root(1 / size, trial["root"], bits=96)
    if instance["level"] == 0:
        yield equal(gained, fourth, "ε_0 = 0")
    else:
        yield at_most(gained, fourth, "n^{−1/4}")
        yield at_most(gained, 1 / (2 * root(level * size, bits=96)), "n^{−1/2}")
