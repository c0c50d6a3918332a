r"""Appendix E.3 on regularised ordinal problems whose solution is known exactly: min ½‖W‖² + C E [b_y + 1 − f]_+ + [f − b_{y+1} + 1]_+.

W' = Σ (α_i − α_i*) Φ(x_i) and b are optimal iff 0 ≤ α_i, α_i* ≤ p_iC, each at its end where its hinge is not at the kink, and Σ α over
label j + 1 equals Σ α* over label j for every threshold between. So draw α, α* ∈ {0, p_iC} that balance, K = AᵀA/s in rationals, and keep
the draw if thresholds exist that fit the predictions f = K(α − α*): for each j an interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from simopt.claims import *
from simopt.theorems.kj.goodness.admissible_weights import mapped, squared_norm
from simopt.theorems.kj.goodness.finite_domains import ONE, ZERO, mean
from simopt.theorems.kj.ordinal.ordinal_worlds import margin_loss

SECTION = "ordinal"
Numbers = list[Fraction]


def interval(instance: Instance, f: Numbers, j: int) -> tuple[Fraction, Fraction]:
    """Ends of the b between labels j and j + 1 that α and α* admit: α_i = p_iC asks for f_i ≤ b + 1, 0 for f_i ≥ b + 1; likewise α*."""
    low, high = Fraction(-(10**6)), Fraction(10**6)
    for y, value, full, full_star in zip(instance["labels"], f, instance["alpha"], instance["alpha_star"], strict=True):
        if y == j + 1:
            low, high = (max(low, value - 1), high) if full else (low, min(high, value - 1))
        elif y == j:
            low, high = (low, min(high, value + 1)) if full_star else (max(low, value + 1), high)
    return low, high


def draw(rng: np.random.Generator) -> Instance | None:
    """One draw, or None where it does not balance or no thresholds fit."""
    size, classes = int(rng.integers(3, 8)), int(rng.integers(2, 4))
    labels = [int(y) for y in rng.integers(1, classes + 1, size=size)]
    full = [y > 1 and bool(rng.integers(0, 2)) for y in labels]
    full_star = [y < classes and bool(rng.integers(0, 2)) for y in labels]
    if not any(full):
        return None
    for j in range(1, classes):
        if sum(a for a, y in zip(full, labels, strict=True) if y == j + 1) != sum(
            a for a, y in zip(full_star, labels, strict=True) if y == j
        ):
            return None
    factor = rng.integers(-2, 3, size=(int(rng.integers(1, 4)), size))
    scale = int(2 ** rng.integers(0, 5))
    gram = [[Fraction(int(k), scale) for k in row] for row in factor.T @ factor]
    C = Fraction(int(rng.integers(1, 9)), 2)
    alpha, alpha_star = ([C / size * int(on) for on in chosen] for chosen in (full, full_star))
    made: Instance = {
        "masses": [Fraction(1, size)] * size,
        "gram": gram,
        "labels": labels,
        "C": C,
        "alpha": alpha,
        "alpha_star": alpha_star,
    }
    f = mapped(gram, beta(made))
    thresholds = []
    for j in range(1, classes):
        low, high = interval(made, f, j)
        if low > high:
            return None
        thresholds.append((low + high) / 2 if max(-low, high) < 10**5 else low if low > -(10**5) else high)
    others = [[Fraction(int(v), 4) for v in rng.integers(-4, 5, size=size)] for _ in range(4)]
    others += [[2 * b for b in beta(made)], [3 * b / 2 for b in beta(made)]]
    moved = [[b + Fraction(int(v), 2) for b, v in zip(thresholds, rng.integers(-2, 3, size=classes - 1), strict=True)] for _ in others]
    return made | {"thresholds": thresholds, "others": others, "moved": moved}


def beta(instance: Instance) -> Numbers:
    """α − α*."""
    return [a - b for a, b in zip(instance["alpha"], instance["alpha_star"], strict=True)]


def two_points(gamma: Fraction, e: Fraction) -> Instance:
    """x = 2γ, label 2, mass e, and x = 0, label 1: with C = 1/(4eγ²) both hinges of weight e are active, one of them at its kink."""
    C = 1 / (4 * e * gamma**2)
    return {"masses": [e, 1 - e], "gram": [[4 * gamma**2, ZERO], [ZERO, ZERO]], "labels": [2, 1], "C": C, "alpha": [e * C, ZERO],
            "alpha_star": [ZERO, e * C], "thresholds": [ONE], "others": [[1 / (2 * gamma**2), ZERO]], "moved": [[ONE]]}  # fmt: skip


def narrow_slot(C: Fraction) -> Instance:
    """x = −1, 0, 1 with labels 1, 2, 3: f = (−a, 0, a), a = 2C/3, b = ±a/2; the slot of x = 0 is narrower than 2: α_2 = α_2* > 0."""
    third, a = Fraction(1, 3), 2 * C / 3
    gram = [[Fraction(s * t) for t in (-1, 0, 1)] for s in (-1, 0, 1)]
    others, moved = [[third, ZERO, ONE], [-C / 2, ZERO, C / 2]], [[-a, a], [ZERO, a]]
    return {"masses": [third] * 3, "gram": gram, "labels": [1, 2, 3], "C": C, "alpha": [ZERO, C / 3, C / 3],
            "alpha_star": [C / 3, C / 3, ZERO], "thresholds": [-a / 2, a / 2], "others": others, "moved": moved}  # fmt: skip


def optima(trial: Trial) -> Iterator[Instance]:
    """The two points, on which the constant is sharp; both multipliers of one point positive; random problems."""
    for gamma, e in ((ONE, Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 10)), (Fraction(1, 10), Fraction(1, 4))):
        yield two_points(gamma, e)
    for C in (ONE, Fraction(1, 4)):
        yield narrow_slot(C)
    rng, wanted = trial.rng, trial.count(12, 80)
    while wanted:
        made = draw(rng)
        if made is not None:
            wanted -= 1
            yield made


def loss(instance: Instance, f: Numbers, thresholds: Numbers) -> Fraction:
    """E of both hinges at margin 1."""
    return mean(instance, [margin_loss(v, y, thresholds, ONE) for v, y in zip(f, instance["labels"], strict=True)])


@claim(
    "KJ-Thm14a-p",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.3, part 1: the weights of the regularised optimum",
    kind=EXISTENCE,
    expected=HOLDS,
    says=r"The minimiser of ½‖W‖² + C E [b_y + 1 − f]_+ + [f − b_{y+1} + 1]_+ over (W, b) is W' = Σ (α_i − α_i*) Φ(x_i) with 0 ≤ α_i, "
    r"α_i* ≤ p_iC; w = (α − α*)/p has E[wK] = f and |w| ≤ 2C, 'since we do not have any guarantee that α_iα_i* = 0'. Indeed **|w| ≤ C**, "
    r"for |α_i − α_i*| ≤ max(α_i, α_i*). (Exactly, on problems with known optimum, points with α_iα_i* > 0 among them.)",
    instances=optima,
    knobs={"printed": 2, "ours": 1},
    mutants={"9C/10": {"ours": Fraction(9, 10)}},
    note="Both multipliers of a point are positive where its slot is narrower than 2; its weight is then the smaller for it.",
    cost=0.6,
)
def weights_of_the_optimum(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The conditions of optimality for α, α* and b; predictions and size of w."""
    gram, masses, C, alpha, star = (instance[key] for key in ("gram", "masses", "C", "alpha", "alpha_star"))
    labels, b, difference = instance["labels"], instance["thresholds"], beta(instance)
    f = mapped(gram, difference)
    for j in range(1, len(b) + 1):
        up = sum((a for a, y in zip(alpha, labels, strict=True) if y == j + 1), ZERO)
        yield equal(up, sum((a for a, y in zip(star, labels, strict=True) if y == j), ZERO), "Σ α = Σ α* at a threshold")
    for p, y, value, a, a_star in zip(masses, labels, f, alpha, star, strict=True):
        below = b[y - 2] + 1 - value if y > 1 else None
        above = value - b[y - 1] + 1 if y <= len(b) else None
        yield true(_priced(below, a, C * p) and _priced(above, a_star, C * p), "complementary slackness", evidence=EXACT)
    w = [v / p for v, p in zip(difference, masses, strict=True)]
    yield equal(mapped(gram, [p * v for p, v in zip(masses, w, strict=True)]), f, "E[wK] = f")
    yield at_most(max(map(abs, w)), trial["printed"] * C, "max |w| ≤ 2C")
    yield at_most(max(map(abs, w)), trial["ours"] * C, "max |w| ≤ C")


def _priced(argument: Fraction | None, price: Fraction, cap: Fraction) -> bool:
    """Whether a multiplier fits its hinge: 0 below the kink (and where there is no hinge), the cap above it, anything between at it."""
    if argument is None:
        return price == 0
    return price == cap if argument > 0 else price == 0 if argument < 0 else 0 <= price <= cap


@claim(
    "KJ-Thm14a-exact",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.3, (3), ours: with the best constant",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"The regularised optimum (W', b') loses no more than any (a, b) and ‖a‖²/**4C** (the paper: ‖a‖²/2C, (3)); with equality on two "
    r"points. So C = γ_1/(4ε_1γ²) and B = γ_1C in Theorem 14. (In fractions, on problems with known optimum.)",
    instances=optima,
    knobs={"constant": Fraction(1, 4)},
    mutants={"‖a‖²/5C": {"constant": Fraction(1, 5)}},
    note="Convexity in (W, b) at an optimum in b, and ⟨W', a − W'⟩ ≤ ‖a‖²/4 (KJ-L17a-proof).",
    cost=0.6,
)
def optimum_against_competitors(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The loss of W' and b' against competitors with moved thresholds."""
    gram, C, b = instance["gram"], instance["C"], instance["thresholds"]
    least = loss(instance, mapped(gram, beta(instance)), b)
    for a, moved in zip(instance["others"], instance["moved"], strict=True):
        size = trial["constant"] * squared_norm(gram, a) / C
        for thresholds in (b, moved):
            yield at_most(least, loss(instance, mapped(gram, a), thresholds) + size, "loss of (W', b')")


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm14-id",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.3: margins and units",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"[x]_1 = [γx]_γ/γ for γ > 0, [x]_γ = [γ − x]_+: γ − γx = γ(1 − x), and [·]_+ is positively homogeneous. So weights and "
    r"thresholds × γ_1 turn margin 1 into margin γ_1 and losses × γ_1. (In symbols: the argument, and both sides for x = 1 − u and x = 1 "
    r"+ u, u ≥ 0.)",
    instances=once,
    exhaustive=True,
    knobs={"power": 1},
    mutants={"[x]_1 = [γx]_γ/γ²": {"power": 2}},
)
def margin_in_units(instance: Instance, trial: Trial) -> Iterator[Check]:
    """[·]_+ as (z + |z|)/2, with |γu| = γu and |−γu| = γu for γ > 0, u ≥ 0."""
    gamma, u, x = symbols("gamma u x")
    yield equal(gamma - gamma * x, gamma * (1 - x), "argument")
    for side in (1, -1):
        inside = side * u  # 1 − x
        whole = gamma - gamma * (1 - inside)
        left, right = (inside + u) / 2, (whole + gamma * u) / 2
        yield equal(left, right / gamma ** trial["power"], "x ≤ 1" if side == 1 else "x ≥ 1")


@claim(
    "KJ-Thm14-cor",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix E.3: 2C = γ_1/(ε_1γ²), and γ_1 = γ",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"With 2C = γ_1/(ε_1γ²): γ_1/(2Cγ²) = ε_1 and 2Cγ_1 = γ_1²/(ε_1γ²), which is 1/ε_1 for γ_1 = γ. With C = γ_1/(4ε_1γ²): "
    r"γ_1/(4Cγ²) = ε_1 and Cγ_1 = γ_1²/(4ε_1γ²), **1/(4ε_1)** for γ_1 = γ.",
    instances=once,
    exhaustive=True,
    knobs={"times": 2},
    mutants={"C = γ_1/(ε_1γ²)": {"times": 1}},
)
def choice_of_the_constant(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both choices of C."""
    e, g, g1 = symbols("epsilon1 gamma gamma1")
    C = g1 / (e * g**2) / trial["times"]
    yield equal(g1 / (2 * C * g**2), e, "loss of regularisation")
    yield equal(2 * C * g1, g1**2 / (e * g**2), "bound of the weights")
    yield equal(g**2 / (e * g**2), 1 / e, "γ_1 = γ")
    ours = C / 2
    yield equal(g1 / (4 * ours * g**2), e, "loss of regularisation, ours")
    yield equal(ours * g1, g1**2 / (4 * e * g**2), "bound of the weights, ours")
