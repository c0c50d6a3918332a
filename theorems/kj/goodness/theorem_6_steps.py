r"""Appendix C.2, the steps of the second part of Theorem 6 on the paper's four points (theorem_6_tight.py): signs, shares, arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.goodness.finite_domains import HALF, ZERO, predicted
from simopt.theorems.kj.goodness.theorem_6_tight import LEVELS, SIGNS, four_points, inner_products

SECTION = "regression"


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm6b-p1",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix C.2, part 2: zero loss at margin γ",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"‖x_i‖ = 1 and W = (1, 0, 0) has ⟨W, x_i⟩/γ = y_i on the four points, for 0 < γ **≤ 1/√2** (third coordinate c with c² = 1 − "
    r"2γ²).",
    instances=once,
    exhaustive=True,
    knobs={"coordinate": 0},
    mutants={"W = (0, 1, 0)": {"coordinate": 1}},
)
def first_coordinate(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Norms with c² replaced, and the values of W."""
    (gamma,) = symbols("gamma")
    for i, (signs, y) in enumerate(zip(SIGNS, (1, 1, -1, -1), strict=True)):
        point = [s * gamma for s in signs]
        yield equal(point[0] ** 2 + point[1] ** 2 + (1 - 2 * gamma**2), 1, f"‖x_{i + 1}‖²")
        yield equal(point[trial["coordinate"]] / gamma, y, f"⟨W, x_{i + 1}⟩/γ")


def large_weights(trial: Trial) -> Iterator[Instance]:
    """Weights that fit x_1 and x_4 exactly; γ = 1/2, the paper's ε = 1/10."""
    yield four_points(HALF, Fraction(2, 5)) | {"w": [Fraction(5, 2), ZERO, ZERO, -Fraction(5, 2)]}


@claim(
    "KJ-Thm6b-p2",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix C.2, part 2: lower bound of the loss",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=TYPO,
    says=r"On the four points E ℓ_0 ≥ (½ − ε)(2 − (½ − ε) 4γ² (w_4 − w_1)), with masses ½ − ε of x_1 and x_4.",
    instances=large_weights,
    knobs={"sign": -1},
    mutants={"w_1 − w_4": {"sign": 1}},
    note="γ = 1/2, ε = 1/10, w = (5/2, 0, 0, −5/2) has the loss 1/5, the bound is 8/5. The sign of w_4 − w_1 is wrong (KJ-Thm6b-p2+); "
    "max|w| ≥ 1/(8ε_1γ²) is not touched.",
)
def loss_from_weights(instance: Instance, trial: Trial) -> Iterator[Check]:
    """E ℓ_0 with exact predictions, against the bound."""
    w, f = instance["w"], predicted(instance, instance["w"])
    loss = sum((p * abs(a - y) for p, a, y in zip(instance["masses"], f, instance["targets"], strict=True)), ZERO)
    p, w1, w4, square = inputs(p=instance["masses"][0], w1=w[0], w4=w[3], square=instance["gamma"] ** 2)
    yield at_least(loss, p * (2 - p * 4 * square * trial["sign"] * (w1 - w4)), "E ℓ_0")


@claim(
    "KJ-Thm6b-p2+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix C.2, part 2: lower bound of the loss, corrected",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"With u_i = |y_i − f(x_i)| ≥ 0, u_1 ≥ 1 − f(x_1) and u_4 ≥ 1 + f(x_4): E ℓ_0 − (½ − ε)(2 − (½ − ε) 4γ² **(w_1 − w_4)**) = (½ − "
    r"ε)[(u_1 − 1 + f(x_1)) + (u_4 − 1 − f(x_4))] + ε(u_2 + u_3) ≥ 0.",
    instances=once,
    exhaustive=True,
    knobs={"sign": 1},
    mutants={"w_4 − w_1": {"sign": -1}},
    corrects="KJ-Thm6b-p2",
)
def loss_from_weights_corrected(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity in weights, masses, γ² and u."""
    e, square = symbols("e square")
    w, u = symbols("w1 w2 w3 w4"), symbols("u1 u2 u3 u4")
    p = [HALF - e, e, e, HALF - e]
    f = [sum((q * v * k for q, v, k in zip(p, w, row, strict=True)), start=0 * e) for row in inner_products(square)]
    bound = p[0] * (2 - p[0] * 4 * square * trial["sign"] * (w[0] - w[3]))
    loss = sum((q * a for q, a in zip(p, u, strict=True)), start=0 * e)
    yield equal(loss - bound, p[0] * ((u[0] - 1 + f[0]) + (u[3] - 1 - f[3])) + e * (u[1] + u[2]), "E ℓ_0 − bound")


def shares(trial: Trial) -> Iterator[Instance]:
    """No data, for the identities; then which points are heavy."""
    yield {}
    for epsilon_1 in LEVELS:
        yield {"epsilon_1": epsilon_1}


@claim(
    "KJ-Thm6b-p3",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix C.2, part 2: the heavy points, and the last lines",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"With ε = ½ − ε_1, E ℓ_0 ≤ ε_1 needs **w_1 − w_4** ≥ (1/4γ²)(2 − ε_1/(½ − ε))/(½ − ε) = 1/(4ε_1γ²), so max(|w_1|, |w_4|) ≥ "
    r"1/(8ε_1γ²). The 'heavy' points x_1, x_4 have the smaller mass of ε_1 and ½ − ε_1 iff ε_1 ≤ 1/4.",
    instances=shares,
    exhaustive=True,
    knobs={"times": 4},
    mutants={"1/(3ε_1γ²)": {"times": 3}},
    note="The wording only: for ε_1 < 1/4 the points called heavy are the light ones.",
)
def arithmetic_of_the_bound(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity, |w_1| + |w_4| ≥ w_1 − w_4 as a sum of terms that are ≥ 0, and masses."""
    if not instance:
        e1, square, w1, w4, u1, u4 = symbols("e1 square w1 w4 u1 u4")
        rest = HALF - (HALF - e1)
        yield equal(1 / (4 * square) * (2 - e1 / rest) / rest, 1 / (trial["times"] * e1 * square), "bound of w_1 − w_4")
        yield equal(u1 + u4 - (w1 - w4), (u1 - w1) + (u4 + w4), "u_1 ≥ w_1, u_4 ≥ −w_4")
        yield equal((HALF - e1) - e1, 2 * (Fraction(1, 4) - e1), "½ − ε_1 ≥ ε_1 iff ε_1 ≤ ¼")
        return
    e1 = inputs(epsilon_1=instance["epsilon_1"])
    light = instance["epsilon_1"] <= Fraction(1, 4)
    yield equal(minimum(e1, HALF - e1), e1 if light else HALF - e1, "the smaller mass")
