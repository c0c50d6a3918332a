r"""Theorem 1: the linear loss answers for misclassification. Which part holds under which convention for ℓ₀₁(y, 0), and its proof.

f_P minimises the linear loss, alone if P(η = ½) = 0. The statement about ℓ₀₁ is true half by half, each under one of the
conventions that the paper prints. f_P is best under the note (B), where abstaining is an error; the regret bound holds under the formula
(A). Together they ask for ½ (C): under A f = 0 costs nothing and beats every classifier, under B it costs 1, more than the linear loss.

**At one x** conditional risks are functions of η = P(Y = 1 | x) and v = f(x), on the cells where they are bilinear.
ℓ₀₁ sees only the sign of v, and f_P only the side of η = ½. With both fixed, risks and regrets are bilinear in (η, v) on a rectangle, so
they are what their corners say. `interpolated` states that in symbols, and a claim about every η and v is checked at the corners. A corner
on the edge of an open cell stands for the limit. Statements about P are the means over x of those about one x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import simopt.claims as sc
from simopt.theorems.small_worlds.worlds import Loss, linear, zero_one

HALF = Fraction(1, 2)
SIDES = {"high": (HALF, Fraction(1)), "low": (Fraction(0), HALF)}
SIGNS = {1: (Fraction(0), Fraction(1)), 0: (Fraction(0), Fraction(0)), -1: (Fraction(-1), Fraction(0))}


@dataclass(frozen=True)
class EtaCell:
    """One side of η = ½ ("high": η ≥ ½, where f_P = 1; "low": η < ½, where f_P = −1), one sign of v, one convention for ℓ₀₁."""

    side: str
    sign: int
    convention: str

    @property
    def bayes(self) -> int:
        """f_P(x)."""
        return 1 if self.side == "high" else -1

    @property
    def zero_one(self) -> Loss:
        """ℓ₀₁ under the convention of the cell, on signs."""
        return zero_one(self.convention)

    def zero_one_regret(self, eta: Any, v: Any) -> Any:
        """ℓ₀₁(P, f) − ℓ₀₁(P, f_P); of v only the sign counts, which is the cell's."""
        return conditional(self.zero_one, eta, self.sign) - conditional(self.zero_one, eta, self.bayes)

    def linear_regret(self, eta: Any, v: Any) -> Any:
        """ℓ_linear(P, f) − ℓ_linear(P, f_P)."""
        return conditional(linear, eta, v) - conditional(linear, eta, self.bayes)

    def distance_from_half(self, eta: Any) -> Any:
        """|1 − 2η|."""
        return self.bayes * (2 * eta - 1)


def conditional(loss: Loss, eta: Any, v: Any) -> Any:
    """E[ℓ(Y, v) | x] = η ℓ(1, v) + (1 − η) ℓ(−1, v)."""
    return eta * loss(1, v) + (1 - eta) * loss(-1, v)


def cells(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The corners of all cells, under the conventions that the claim names."""
    for convention in trial["conventions"]:
        for side, heights in SIDES.items():
            for sign, widths in SIGNS.items():
                for eta in heights:
                    for v in sorted(set(widths)):
                        yield {"convention": convention, "side": side, "sign": sign, "eta": eta, "v": v}


def away_from_zero(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same without the cells v = 0."""
    yield from (instance for instance in cells(trial) if instance["sign"])


def opened(convention: str, side: str, sign: int, eta: Fraction, v: Fraction) -> tuple[EtaCell, Any, Any]:
    """The cell of an instance, and η and v as data of a proof."""
    return EtaCell(side, sign, convention), *sc.inputs(eta=eta, v=v)


def interpolated(cell: EtaCell, function: Callable[[Any, Any], Any], name: str) -> sc.Check:
    """A function of (η, v) is the bilinear interpolation of its corners, in symbols."""
    eta, v = sc.symbols("eta v")
    (a, b), (c, d) = SIDES[cell.side], SIGNS[cell.sign]
    if c == d:
        made = ((b - eta) * function(a, c) + (eta - a) * function(b, c)) / (b - a)
        return sc.equal(function(eta, c) + 0 * eta, made, f"{name}: linear in η at v = 0")
    left = (d - v) * function(a, c) + (v - c) * function(a, d)
    right = (d - v) * function(b, c) + (v - c) * function(b, d)
    made = ((b - eta) * left + (eta - a) * right) / ((b - a) * (d - c))
    return sc.equal(function(eta, v) + 0 * eta, made, f"{name}: bilinear in (η, v)")


def corners_of_the_linear_regret(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Corners of η ∈ [½ + t, 1] or [0, ½ − t] and v at least s away from f_P(x), for small s and t; both 0 closes the range."""
    for side in SIDES:
        for s, t in ((Fraction(0), Fraction(0)), (Fraction(1, 1000), Fraction(1, 1000)), (Fraction(1), trial["tie"])):
            for far, end in product((Fraction(2), s), (t, HALF)):
                yield {"side": side, "off": far, "tilt": end}


@sc.claim(
    "RMW-T1a",
    place="Theorem 1",
    kind=sc.EXISTENCE,
    says=r"f_P minimises ℓ_linear(P, f) over f ∈ [−1, 1]^X: at each x the excess of v = f(x) is |2η − 1| |v − f_P(x)| ≥ 0. It is the only "
    r"minimiser (up to P-null sets) if and only if **P(η = ½) = 0**: where η = ½ every value of f(x) is optimal.",
    instances=corners_of_the_linear_regret,
    exhaustive=True,
    knobs={"tie": HALF},
    mutants={"uniqueness at η = ½ too": {"tie": Fraction(0)}},
    note="The equality sign of the theorem needs P(η = ½) = 0. Section 10 has f(x) = −1 'if 1 − 2η(x) ≥ 0 i.e. when η(x) < ½'; the second "
    "reading is the definition of f_P.",
)
def bayes_minimises_linear_loss(instance: sc.Instance, side: str, tilt: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The excess as a product, in symbols, and its size at the corners; strict where both factors are meant to be positive."""
    cell = EtaCell(side, 1, "C")
    eta, v = sc.symbols("eta v")
    product_form = cell.distance_from_half(eta) * (1 - cell.bayes * v)
    yield sc.equal(cell.linear_regret(eta, v), product_form, "excess = |2η − 1| |v − f_P|")
    yield sc.equal(conditional(linear, HALF, v), 1, "η = ½: the same for every v")
    strict = instance["off"] != 0 and (tilt != 0 or trial["tie"] == 0)
    off, tilt = sc.inputs(off=instance["off"], tilt=tilt)
    excess = cell.linear_regret(HALF + cell.bayes * tilt, cell.bayes * (1 - off))
    yield sc.at_least(excess, 0, "excess > 0" if strict else "excess ≥ 0", strict=strict)


CITATION = "Theorem 1"


@sc.claim(
    "RMW-T1b",
    place=CITATION + ", with the note of Section 2",
    kind=sc.EXISTENCE,
    says=r"f_P ∈ argmin over f ∈ [−1, 1]^X of ℓ₀₁(P, f), for ℓ₀₁ with the printed note: **ℓ₀₁(y, 0) = 1 always** (B), an output of 0 "
    r"abstains and counts as an error.",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("B",)},
    mutants={"the formula [[yv < 0]], ℓ₀₁(y, 0) = 0": {"conventions": ("A",)}},
    note="Under the formula alone (A) f = 0 has ℓ₀₁(P, f) = 0, less than ℓ₀₁(P, f_P) = ¼ at η = ¾; there it holds among all f with "
    "f(x) ≠ 0 almost surely. Both halves of the theorem at once: RMW-T1-half.",
)
def bayes_is_best(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """ℓ₀₁(P, f) − ℓ₀₁(P, f_P) ≥ 0 at the corners of the cell."""
    cell, eta, v = opened(**instance)
    yield interpolated(cell, cell.zero_one_regret, "ℓ₀₁-regret")
    yield sc.at_least(cell.zero_one_regret(eta, v), 0, f"ℓ₀₁-regret, convention {cell.convention}, v {_sign(cell)} 0")


@sc.claim(
    "RMW-T1c",
    place=CITATION + ", with the formula of Section 2",
    kind=sc.INEQUALITY,
    says=r"For all f ∈ [−1, 1]^X, ℓ₀₁(P, f) − ℓ₀₁(P, f_P) ≤ ℓ_linear(P, f) − ℓ_linear(P, f_P), for the printed formula "
    r"**ℓ₀₁(y, v) = [[yv < 0]]** (A).",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("A",)},
    mutants={"the note ℓ₀₁(y, 0) = 1": {"conventions": ("B",)}},
    note="Under the note (B) it fails at f = 0 only: ½ > 0 at η = ½, ¾ > ½ at η = ¾; there it holds among all f with f(x) ≠ 0 almost "
    "surely. Both halves of the theorem at once: RMW-T1-half.",
)
def linear_regret_bounds(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """ℓ₀₁-regret ≤ linear regret at the corners of the cell."""
    cell, eta, v = opened(**instance)
    yield interpolated(cell, lambda eta, v: cell.linear_regret(eta, v) - cell.zero_one_regret(eta, v), "difference of the regrets")
    name = f"ℓ₀₁-regret ≤ linear regret, convention {cell.convention}, v {_sign(cell)} 0"
    yield sc.at_most(cell.zero_one_regret(eta, v), cell.linear_regret(eta, v), name)


@sc.claim(
    "RMW-T1-half",
    place=CITATION + ", ours: both halves under one convention",
    kind=sc.EQUIVALENCE,
    says=r"Let ℓ₀₁(y, 0) = a for both labels. For every P and all f ∈ [−1, 1]^X both ℓ₀₁(P, f) ≥ ℓ₀₁(P, f_P) and ℓ₀₁(P, f) − ℓ₀₁(P, f_P) "
    r"≤ ℓ_linear(P, f) − ℓ_linear(P, f_P) hold **if and only if a = ½** (C). (Only if: at η = ½ and f = 0 the two ask for 0 ≤ a − ½ ≤ 0.)",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("C",)},
    mutants={"a = 0": {"conventions": ("A",)}, "a = 1": {"conventions": ("B",)}},
    note="So neither printed convention makes the whole theorem true; each makes one half true (RMW-T1b, RMW-T1c). For one P and f = 0 the "
    "two ask for min(η, 1 − η) ≤ a ≤ max(η, 1 − η).",
)
def both_halves_ask_for_one_half(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both halves at the corners of the cell; and at η = ½, f = 0 with a as a symbol."""
    yield from bayes_is_best(instance, trial)
    yield from linear_regret_bounds(instance, trial)
    a, v = sc.symbols("a v")
    best = conditional(zero_one("C"), HALF, 1)  # f_P is never 0
    yield sc.equal(conditional(lambda y, score: a, HALF, 0) - best, a - HALF, "ℓ₀₁-regret of f = 0 at η = ½")
    yield sc.equal(conditional(linear, HALF, v) - conditional(linear, HALF, 1), 0, "linear regret of every f at η = ½")


@sc.claim(
    "RMW-T1d",
    place="Section 10, proof of Theorem 1",
    kind=sc.IDENTITY,
    expected=sc.REFUTED,
    defect=sc.CONVENTION,
    says=r"For all f ∈ [−1, 1]^X, ℓ₀₁(P, f) − ℓ₀₁(P, f_P) = E |1 − 2η| [[sign(2η − 1) f ≤ 0]], for ℓ₀₁(y, v) = [[yv < 0]] (A) or for "
    r"[[yv ≤ 0]] (B).",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("A", "B"), "at_zero": 1},
    mutants={"f ≠ 0": {"instances": away_from_zero}},
    note="At η = ¾, f = 0 the right side is ½, the left −¼ (A) or ¾ (B). Theorem 1 uses it for every f ∈ [−1, 1]^X.",
)
@sc.claim(
    "RMW-T1d+",
    place="Section 10, proof of Theorem 1, corrected",
    kind=sc.IDENTITY,
    says=r"ℓ₀₁(P, f) − ℓ₀₁(P, f_P) = E |1 − 2η| [[sign(2η − 1) f ≤ 0]] under A, B and C if f(x) ≠ 0 almost surely.",
    instances=away_from_zero,
    exhaustive=True,
    knobs={"conventions": ("A", "B", "C"), "at_zero": 1},
    mutants={"f = 0 too": {"instances": cells}},
    corrects="RMW-T1d",
)
@sc.claim(
    "RMW-T1d-half",
    place="Section 10, proof of Theorem 1, for every f",
    kind=sc.IDENTITY,
    says=r"If ℓ₀₁(y, 0) = ½ (C), then ℓ₀₁(P, f) − ℓ₀₁(P, f_P) = E |1 − 2η| ℓ₀₁(sign(2η − 1), f) for every f: the bracket is ½ at f = 0.",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("C",), "at_zero": HALF},
    mutants={"the bracket 1 at f = 0": {"at_zero": 1}, "ℓ₀₁(y, 0) = 1": {"conventions": ("B",)}, "ℓ₀₁(y, 0) = 0": {"conventions": ("A",)}},
)
def regret_formula(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """ℓ₀₁-regret = |1 − 2η| [[sign(2η − 1) v ≤ 0]]; `at_zero` says what the bracket is at v = 0."""
    cell, eta, v = opened(**instance)

    def formula(eta: Any, v: Any) -> Any:
        bracket = trial["at_zero"] if cell.sign == 0 else int(cell.bayes * cell.sign < 0)
        return cell.distance_from_half(eta) * bracket

    yield interpolated(cell, lambda eta, v: cell.zero_one_regret(eta, v) - formula(eta, v), "difference")
    yield sc.equal(cell.zero_one_regret(eta, v), formula(eta, v), f"regret, convention {cell.convention}, v {_sign(cell)} 0")


def _sign(cell: EtaCell) -> str:
    return {1: ">", 0: "=", -1: "<"}[cell.sign]


def conditional_risks(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Corners of the two sides, and of v ∈ [−r, 0] and (0, r] for the second statement."""
    r = trial["reach"]
    for side, heights in SIDES.items():
        for eta in heights:
            for sign, v in ((-1, -r), (-1, Fraction(0)), (1, Fraction(0)), (1, r)):
                yield {"convention": "C", "side": side, "sign": sign, "eta": eta, "v": v}


@sc.claim(
    "RMW-T1e",
    place="Section 10, proof of Theorem 1",
    kind=sc.IDENTITY,
    says=r"ℓ_linear(P, f_P) = E(1 − |1 − 2η|), and [[v ≤ 0]] ≤ 1 − v for v ∈ [−1, 1].",
    instances=conditional_risks,
    exhaustive=True,
    knobs={"factor": 2, "reach": Fraction(1)},
    mutants={"E(1 − |1 − η|)": {"factor": 1}, "v ∈ [−2, 2]": {"reach": Fraction(2)}},
)
def bayes_risk_of_the_linear_loss(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Conditional on x: identity at both ends of each side and in symbols; the inequality at the ends of its two pieces."""
    cell, eta, v = opened(**instance)

    def difference(eta: Any, v: Any) -> Any:
        return conditional(linear, eta, cell.bayes) - (1 - cell.bayes * (trial["factor"] * eta - 1))

    yield interpolated(cell, difference, "difference")
    yield sc.equal(difference(eta, v), 0, "E[ℓ_linear(Y, f_P) | x] = 1 − |1 − 2η|")
    yield sc.at_least(1 - v, int(cell.sign <= 0), "1 − v ≥ [[v ≤ 0]]")
