r"""Theorem 31 from below: weights that ranking needs. Queries of alike documents, η = h = 1/Σ D_t, so that all is in closed form."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.ranking.relevance_lists import discounts

SECTION = "ordinal"


def growing_margins(trial: Trial) -> Iterator[Instance]:
    """γ from 10 to 10^8, lists of two to five documents."""
    for m in (2, 3, 5):
        for k in range(1, 9):
            yield {"m": m, "gamma": Fraction(10**k)}


@claim(
    "KJ-Thm31-wide",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 31, ours: margins beyond 1",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"Without a bound on ε_1γ²/m Theorem 31 is false, whatever the constant of O(·): K = 1, all documents equally relevant, η = h = "
    r"1/Σ D_t, W* = 1 at the margin γ/h has ε_0 = mh²(1 − 1/γ)²; for ε_1 = mh²/γ weights need B ≥ h(1 − √(1 − 1/γ + 1/γ²)) ≥ **(h√γ/4)** "
    r"· 5(mh²/(2ε_1γ²))^{3/2}, γ ≥ 10. (γ = 10, …, 10^8, m = 2, 3, 5.)",
    remains="other m and γ, and that the loss of weights bounded by B is what the formula says",
    instances=growing_margins,
    exhaustive=True,
    knobs={"part": Fraction(1, 4)},
    mutants={"(h√γ/3)": {"part": Fraction(1, 3)}},
    note="Margins γ > 1 cannot be reached with small loss where K(z, z) ≤ 1, and no one means them; Definition 29 allows them.",
    cost=0.2,
)
def wide_margins_need_larger_weights(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The least B on one point against the printed order."""
    gamma = inputs(gamma=instance["gamma"])
    h = 1 / total(discounts(instance["m"]))
    least = h * (1 - root(1 - 1 / gamma + 1 / gamma**2, bits=128))  # m(h − B)² = ε_0 + ε_1
    strength = 1 / (2 * gamma)  # mC = m/(2ε_1(γ/h)²)
    printed = 5 * strength * root(strength, bits=128)
    yield at_least(least, trial["part"] * h * root(gamma, bits=128) * printed, "least B")


def tilted(trial: Trial) -> Iterator[Instance]:
    """No data, for what holds in symbols; then g and e = ε_1/(mh²)."""
    yield {}
    for g in ("1/10", "1/20", "1/100", "1/1000"):
        for e in ("1/10", "1/20", "1/100", "1/1000"):
            yield {"g": Fraction(g), "e": Fraction(e)}


@claim(
    "KJ-Thm31-lower",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 31, ours: a bound from below",
    kind=TIGHTNESS,
    expected=HOLDS,
    says=r"For every m, g ≤ 1/10 and ε_1 ≤ mh²/10 there is a (0, γ)-good kernel for ranking, K(z, z) ≤ 1, γ ≥ 4g/(5h), that is (ε_1, "
    r"B)-good only for **B ≥ m/(140ε_1γ³)**, so that B = O(m/(ε_1γ³)) of KJ-Thm31-better is the right order in m, ε_1 and γ, and "
    r"(m/ε_1)^{3/2}/γ³ of the theorem is not: a query with Φ = g e_0, and one of mass p = 200eg²/9, e = ε_1/(mh²), with Φ = (3e_0 − "
    r"4e_1)/5. (In symbols, and for g, e ∈ {1/10, 1/20, 1/100, 1/1000}.)",
    remains="other g and e, and that the two losses are those of the kernel and of weights bounded by B",
    instances=tilted,
    exhaustive=True,
    knobs={"part": Fraction(1, 140)},
    mutants={"m/(20ε_1γ³)": {"part": Fraction(1, 20)}},
    note="In units of h: with c_2 = pw_2 the predictions are f_1 and f_2 = sf_1 + 16c_2/25, s = 3/(5g), and the least loss is (s − 1 + "
    "16c_2/25)²/(1/p + s²/(1 − p)). It is ≤ e only if −16c_2/25 ≥ s − 1 − s/2 ≥ s/3, because 1/p + s²/(1 − p) ≤ s²/4e. The predictions of "
    "W*, f_1 = f_2 = 1, take a large component along e_1, which the rare query must pay for by itself.",
    cost=0.2,
)
def weights_that_are_needed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The form of the predictions and of the least loss in symbols; on the grid the least loss within B, against e, and the margin."""
    if not instance:
        p, s, t, f, g, c1, c2 = symbols("p s t f g c1 c2")
        first, second = g**2 * c1 + Fraction(3, 5) * g * c2, Fraction(3, 5) * g * c1 + c2
        yield equal(second, Fraction(3, 5) / g * first + Fraction(16, 25) * c2, "f_2")
        slope = (1 - p) + p * s**2
        best = ((1 - p) + p * s * (1 - t)) / slope
        least = (s - 1 + t) ** 2 / (1 / p + s**2 / (1 - p))
        yield equal((1 - p) * (f - 1) ** 2 + p * (s * f + t - 1) ** 2, slope * (f - best) ** 2 + least, "loss for every f_1")
        return
    g, e = inputs(g=instance["g"], e=instance["e"])
    p, s = Fraction(200, 9) * e * g**2, 3 / (5 * g)
    square = 1 / g**2 + (3 / (4 * g) - Fraction(5, 4)) ** 2  # ‖W*/γ‖² of the vector that predicts 1 for both
    yield at_most(square, (5 / (4 * g)) ** 2, "1/γ²")
    bound = trial["part"] * square * root(square, bits=96) / e
    left = s - 1 - Fraction(16, 25) * p * bound
    yield at_least(left, 0, "s − 1 + 16c_2/25 for w_2 = −B")
    yield at_least(left**2 / (1 / p + s**2 / (1 - p)), e, "least loss within B", strict=True)
