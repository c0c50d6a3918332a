r"""Theorem 14, second part: kernels that are (0, γ)-good for ordinal regression need B of the order γ_1²/(ε_1γ²). Exact least bounds.

With e = ε_1/γ_1. The paper's four points x = (±γ, ±γ, √(1 − 2γ²)), masses e, ½ − e, ½ − e, e, labels 2, 2, 1, 1; and two points on a line,
x = 2γ with label 2 and mass e, x = 0 with label 1, on which the least B is as large as it ever is.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from simopt.claims import (
    HOLDS,
    IDENTITY,
    KAR_JAIN,
    TIGHTNESS,
    Check,
    Instance,
    Trial,
    at_least,
    at_most,
    claim,
    equal,
    symbols,
)
from simopt.solvers.goodness.ordinal_exact import exact_ordinal_bound
from simopt.theorems.kj.goodness.finite_domains import HALF, ONE, ZERO, domain
from simopt.theorems.kj.goodness.theorem_6_tight import SIGNS, inner_products

SECTION = "ordinal"
SHARES = [Fraction(v) for v in ("1/100", "1/20", "1/10", "1/6", "1/5", "1/4", "1/3", "2/5", "49/100")]  # ε_1/γ_1
MARGINS = [Fraction(v) for v in ("1/10", "1/2", "7/10")]
SCALES = [Fraction(v) for v in ("1/3", "1", "5/2")]  # γ_1


def four_points(gamma: Fraction, e: Fraction, gamma_1: Fraction) -> Instance:
    """The paper's instance."""
    made = domain([e, HALF - e, HALF - e, e], inner_products(gamma**2), [2, 2, 1, 1], gamma=gamma, gamma_1=gamma_1, share=e)
    return made | {"first": [a * gamma for a, _ in SIGNS], "threshold": ZERO, "norm": ONE, "classes": 2}


def two_points(gamma: Fraction, e: Fraction, gamma_1: Fraction) -> Instance:
    """x = 2γ, label 2, mass e, and x = 0, label 1: W = 1/γ and b_2 = 1 have margins 1."""
    made = domain([e, 1 - e], [[4 * gamma**2, 0], [0, 0]], [2, 1], gamma=gamma, gamma_1=gamma_1, share=e)
    return made | {"first": [2 * gamma, ZERO], "threshold": ONE, "norm": ONE, "classes": 2}


def smallest(instance: Instance) -> Fraction:
    """The smallest B with ε_0(B) ≤ ε_1 = e γ_1."""
    labels = [int(y) for y in instance["targets"]]
    level, gamma_1 = instance["share"] * instance["gamma_1"], instance["gamma_1"]
    found = exact_ordinal_bound(instance["gram"], labels, instance["classes"], level, instance["masses"], gamma_1)
    if found is None:
        raise ArithmeticError("no B does")
    return found[0]


def in_units(instance: Instance) -> Fraction:
    """γ_1²/(ε_1γ²)."""
    return Fraction(instance["gamma_1"] / (instance["share"] * instance["gamma"] ** 2))


def margins(instance: Instance) -> Iterator[Check]:
    """W* = e_1: f/γ − b_2 ≥ 1 for label 2, b_2 − f/γ ≥ 1 for label 1."""
    for x, y in zip(instance["first"], instance["targets"], strict=True):
        side = 1 if y == 2 else -1
        yield at_least(side * (x / instance["gamma"] - instance["threshold"]), 1, "margin of W*")


def tight_instances(trial: Trial) -> Iterator[Instance]:
    """Four points for γ ≤ 1/√2; two points beyond."""
    shares = SHARES if trial.count(0, 1) else SHARES[::2]
    for gamma, e in product(MARGINS, shares):
        yield four_points(gamma, e, SCALES[len(shares) % 3])
    for gamma, e, gamma_1 in product((Fraction(3, 4), Fraction(4)), shares[::2], SCALES[:2]):
        yield two_points(gamma, e, gamma_1)


@claim(
    "KJ-Thm14b",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 14, second part",
    kind=TIGHTNESS,
    expected=HOLDS,
    says=r"For every ε_1 < γ_1/2 and γ > 0 there are an ordinal regression problem and a kernel that is (0, γ)-good for it (**loss ≤ "
    r"0**), but (ε_1, B)-good as a similarity for the γ_1-margin loss only for B = Ω(γ_1²/(ε_1γ²)); E.3 has B ≥ γ_1²/(8ε_1γ²). (The "
    r"paper's four points for γ ≤ 1/√2, where they exist; two points for larger γ. Smallest B in fractions, thresholds free.)",
    instances=tight_instances,
    knobs={"c": Fraction(1, 8)},
    mutants={"c = 1/7": {"c": Fraction(1, 7)}},
    note="As in Theorem 6: 'loss < 0', which Definition 26 prints, is impossible; the four points do not exist for γ > 1/√2; the proof "
    "has w_4 − w_1 where w_1 − w_4 is right. The four points attain 1/8 iff ε_1 ≤ γ_1/6 (KJ-Thm14b-least); the two points have 1/4 "
    "throughout, which is best (KJ-Thm14b-two, KJ-Thm14a-sharp).",
    cost=0.5,
)
def weights_must_be_large(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Margins of W* at γ, and the smallest B."""
    yield from margins(instance)
    yield at_least(smallest(instance), trial["c"] * in_units(instance), "smallest B")


def on_four_points(trial: Trial) -> Iterator[Instance]:
    """No data, for what holds in symbols; then shares at two margins."""
    yield {}
    for gamma, e in product(MARGINS[:2], SHARES if trial.count(0, 1) else SHARES[::2]):
        yield four_points(gamma, e, SCALES[0])


@claim(
    "KJ-Thm14b-least",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 14, second part, ours: the smallest B on the four points",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"On the four points the smallest B that reaches ε_1 = eγ_1 is γ_1/(8eγ²) for e ≤ 1/6 and γ_1(1 − e)/(8γ²(2e² − e + 1/4)) for "
    r"1/6 ≤ e < 1/2, for all 0 < γ ≤ 1/√2: with hinges u_i ≥ 0, u_1 ≥ γ_1 − f(x_1) + b_2, u_4 ≥ γ_1 + f(x_4) − b_2, and f(x_1) − f(x_4) = "
    r"**4γ²e(w_1 − w_4)**, the loss is ≥ e(2γ_1 − 8γ²eB), and with the other pair, f(x_2) − f(x_3) = 4γ²(½ − e)(w_2 − w_3), ≥ γ_1 − "
    r"8γ²B(e² + (½ − e)²). (In symbols, and by exact programmes.)",
    instances=on_four_points,
    knobs={"turn": Fraction(1, 6), "sign": 1},
    mutants={"first branch up to 1/5": {"turn": Fraction(1, 5)}, "w_4 − w_1": {"sign": -1}},
    note="The same two branches as for ℓ_0 (KJ-Thm6b-least), with e in the place of ε_1: a free threshold does not help.",
    cost=0.4,
)
def least_bound_on_four_points(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The symbolic steps; then the closed form against the exact smallest B."""
    if not instance:
        yield from _four_points_in_symbols(trial["sign"])
        return
    e, square, gamma_1 = instance["share"], instance["gamma"] ** 2, instance["gamma_1"]
    least = gamma_1 / (8 * e * square) if e <= trial["turn"] else gamma_1 * (1 - e) / (8 * square * (2 * e**2 - e + Fraction(1, 4)))
    yield equal(smallest(instance), least, "smallest B")


def _four_points_in_symbols(sign: int) -> Iterator[Check]:
    """What is left of the losses beside the bounds; the losses at the two values of B; the share where they meet."""
    e, square, B, g, b = symbols("e square B gamma1 b")
    w, u = symbols("w1 w2 w3 w4"), symbols("u1 u2 u3 u4")
    p = [e, HALF - e, HALF - e, e]
    f = [sum((q * v * k for q, v, k in zip(p, w, row, strict=True)), start=0 * e) for row in inner_products(square)]
    yield equal(f[0] - f[3], 4 * square * e * sign * (w[0] - w[3]), "f(x_1) − f(x_4)")
    yield equal(f[1] - f[2], 4 * square * (HALF - e) * sign * (w[1] - w[2]), "f(x_2) − f(x_3)")
    over = [u[0] - (g - f[0] + b), u[1] - (g - f[1] + b), u[2] - (g + f[2] - b), u[3] - (g + f[3] - b)]  # all ≥ 0
    loss = sum((q * a for q, a in zip(p, u, strict=True)), start=0 * e)
    first = e * (2 * g - 4 * square * e * (w[0] - w[3]))
    both = g - 4 * square * (e**2 * (w[0] - w[3]) + (HALF - e) ** 2 * (w[1] - w[2]))
    yield equal(loss - first, e * (over[0] + over[3]) + (HALF - e) * (u[1] + u[2]), "loss − first bound, ≥ 0")
    yield equal(loss - both, e * (over[0] + over[3]) + (HALF - e) * (over[1] + over[2]), "loss − second bound, ≥ 0")
    one, two = g / (8 * e * square), g * (1 - e) / (8 * square * (2 * e**2 - e + Fraction(1, 4)))
    yield equal(e * (2 * g - 8 * square * e * one), e * g, "first bound at the first value")
    yield equal(g - 8 * square * two * (e**2 + (HALF - e) ** 2), e * g, "second bound at the second value")
    gap = (1 - e) * e - (2 * e**2 - e + Fraction(1, 4))
    yield equal(gap, (1 - 2 * e) * (6 * e - 1) / 4, "the second value is the larger one iff e ≥ 1/6")
    yield equal(4 * square * e * B - 4 * square * (HALF - e) * B, -8 * square * B * (Fraction(1, 4) - e), "which pair is reached first")


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm14b-two",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 14, second part, ours: two points, the best constant",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"x = 2γ with label 2 and mass ε_1/γ_1, x = 0 with label 1: K = xx' is (0, γ)-good (W = 1/γ, b_2 = 1) and no better (1 ≤ b_2 ≤ "
    r"2γW − 1), and (ε_1, B)-good for the γ_1-margin loss only for B ≥ **γ_1²/(4ε_1γ²)**, for all γ, γ_1 > 0 and **ε_1 ≤ γ_1/2**. With e "
    r"= ε_1/γ_1 ≤ ½ and hinges u_1 ≥ γ_1 − 4γ²e w_1 + b, u_2 ≥ γ_1 − b the loss is e(2γ_1 − 4γ²e w_1) + e(u_1 − …) + e(u_2 − …) + (1 − "
    r"2e)u_2; at w_1 = γ_1²/(4ε_1γ²), b = γ_1 it is ε_1.",
    instances=once,
    exhaustive=True,
    knobs={"c": Fraction(1, 4)},
    mutants={"c = 1/3": {"c": Fraction(1, 3)}},
    note="So the constant 1/4 of KJ-Thm14a-sharp cannot be improved at any γ, γ_1 and ε_1 ≤ γ_1/2, which is the range of the theorem; K ≤ "
    "1 for γ ≤ 1/2. The heavy point has no features and cannot be moved; it keeps the threshold at γ_1, so that the light point has to "
    "climb 2γ_1.",
)
def least_bound_on_two_points(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The loss as a bound and terms ≥ 0; the bound just before B_min; both hinges at B_min and b = γ_1."""
    e, square, g, w, b, u1, u2, short = symbols("e square gamma1 w b u1 u2 short")
    f = 4 * square * e * w
    rest = e * (u1 - (g - f + b)) + e * (u2 - (g - b)) + (1 - 2 * e) * u2
    yield equal(e * u1 + (1 - e) * u2, e * (2 * g - f) + rest, "loss")
    least = trial["c"] * g / (e * square)
    yield equal(least, trial["c"] * g**2 / (e * g * square), "B_min = cγ_1²/(ε_1γ²), ε_1 = eγ_1")
    yield equal(e * (2 * g - 4 * square * e * (least - short)), e * g + 4 * e**2 * square * short, "bound at B_min − s: ε_1 + 4e²γ²s")
    yield equal(g - 4 * square * e * least + g, g, "first hinge at B_min, b = γ_1: the loss is eγ_1 = ε_1")
    yield equal(g - g, 0 * g, "second hinge")


def on_a_line(trial: Trial) -> Iterator[Instance]:
    """Two points, ε_1 ≤ γ_1/2; x = ±2γ, labels 3 and 1, mass ε_1/2γ_1 each, and x = 0, label 2, ε_1 ≤ 2γ_1/3."""
    for gamma, e, gamma_1 in product((Fraction(1, 10), Fraction(3)), (Fraction(1, 50), Fraction(1, 3), HALF), SCALES[:2]):
        yield two_points(gamma, e, gamma_1)
    for gamma, e, gamma_1 in product((Fraction(1, 10), Fraction(2)), (Fraction(1, 50), HALF, Fraction(2, 3)), SCALES[:2]):
        square = 4 * gamma**2
        gram = [[square, -square, ZERO], [-square, square, ZERO], [ZERO, ZERO, ZERO]]
        made = domain([e / 2, e / 2, 1 - e], gram, [3, 1, 2], gamma=gamma, gamma_1=gamma_1, share=e, classes=3)
        yield made | {"first": [2 * gamma, -2 * gamma, ZERO]}


@claim(
    "KJ-Thm14b-line",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 14, second part, ours: points on a line, by exact programmes",
    kind=TIGHTNESS,
    expected=HOLDS,
    says=r"The smallest B on the two points is γ_1²/(4ε_1γ²) for ε_1 ≤ γ_1/2, and on three points, x = ±2γ with labels 3 and 1 and masses "
    r"ε_1/2γ_1 each, x = 0 with label 2, for **ε_1 ≤ 2γ_1/3**. (Smallest B with thresholds free, in fractions.)",
    instances=on_a_line,
    knobs={"c": Fraction(1, 4)},
    mutants={"c = 1/3": {"c": Fraction(1, 3)}},
    note="For two labels the theorem's ε_1 < γ_1/2 is where 1/4 is attained on the two points; more labels go further.",
    cost=0.4,
)
def least_bound_on_a_line(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Margins of W* = e_1, for three labels with b_2 = −1, b_3 = 1; the smallest B."""
    if instance["classes"] == 2:
        yield from margins(instance)
    else:
        for x, y in zip(instance["first"], instance["targets"], strict=True):
            f = x / instance["gamma"]
            below, above = (f + 1 if y == 2 else f - 1), (1 - f if y == 2 else -1 - f)
            yield at_least(below if y == 3 else above if y == 1 else min(below, above), 1, "margin of W*")
    yield equal(smallest(instance), trial["c"] * in_units(instance), "smallest B")


def on_a_cross(trial: Trial) -> Iterator[Instance]:
    """No data, for the norm of W; then (±γ, 0) and (0, ±M), for which (1 − 2e)M² ≥ 4eγ²."""
    yield {}
    for gamma, e, M in product((Fraction(3, 10), ONE), (Fraction(1, 50), Fraction(1, 10), Fraction(1, 6)), (1, 3, 10, 100)):
        arms = (gamma, ZERO), (-gamma, ZERO), (ZERO, Fraction(M)), (ZERO, -Fraction(M))
        gram = [[a * c + b * d for c, d in arms] for a, b in arms]
        yield domain([e, e, HALF - e, HALF - e], gram, [2, 1, 2, 1], gamma=gamma, gamma_1=SCALES[0], share=e, M=M, classes=2)


@claim(
    "KJ-Thm14b-cross",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 14, second part, ours: a cross, with K(x, x) ≤ 1 for all margins up to 1/√2",
    kind=TIGHTNESS,
    expected=HOLDS,
    says=r"(±γ, 0) with mass ε_1/γ_1 each and (0, ±M), labels by the signs: the kernel's margin is g, **g² = γ²/(1 + γ²/M²)** (W = (1/γ, "
    r"1/M)), and the smallest B is γ_1²/(4ε_1γ²) = **(1 − g²/M²)/4** · γ_1²/(ε_1g²) where (1 − 2e)M² ≥ 4eγ², e = ε_1/γ_1. (In symbols; by "
    r"exact programmes.)",
    instances=on_a_cross,
    knobs={"own": 1},
    mutants={"γ for its margin": {"own": 0}},
    note="For M = 1, 3, 10, 100 and γ = 3/10 the constant is .2294, .2475, .2498, .2500: it tends to 1/4, which the two points attain. "
    "With M = 1 K(x, x) ≤ 1, and every g ≤ 1/√2 occurs: at least 1/8.",
    cost=0.3,
)
def least_bound_on_a_cross(instance: Instance, trial: Trial) -> Iterator[Check]:
    """‖W‖² = 1/g² and the constant, in symbols; the smallest B in units of γ_1²/(ε_1g²)."""
    if not instance:
        gamma, M = symbols("gamma M")
        own = gamma**2 / (1 + gamma**2 / M**2)
        yield equal(1 / gamma**2 + 1 / M**2, 1 / own, "‖W‖²")
        yield equal(own / gamma**2, 1 - own / M**2, "g²/γ²")
        return
    square, M2 = instance["gamma"] ** 2, Fraction(instance["M"]) ** 2
    own = square / (1 + square / M2) if trial["own"] else square
    yield at_most(4 * instance["share"] * square, (1 - 2 * instance["share"]) * M2, "hypothesis")
    unit = instance["gamma_1"] / (instance["share"] * own)
    yield equal(smallest(instance) / unit, (1 - own / M2) / 4, "B_min ε_1g²/γ_1²")
