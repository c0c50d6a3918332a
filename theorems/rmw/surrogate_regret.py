r"""Theorem 1 for the misclassification loss, under each convention for ℓ₀₁(y, 0): which part holds under which.

Each half is true under one of the conventions that the paper prints: that f_P is best under the note (B), where abstaining is an error,
the regret bound under the formula (A). Together they ask for ½ (C): under A f = 0 costs nothing and beats every classifier, under B it
costs 1, more than the linear loss can answer for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simopt.claims import *
from simopt.theorems.rmw.surrogate_cells import HALF, Cell, away_from_zero, cells, conditional, interpolated, opened
from simopt.theorems.small_worlds.worlds import linear, zero_one

PLACE = "Theorem 1"


@claim(
    "RMW-T1b",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place=PLACE + ", with the note of Section 2",
    kind=EXISTENCE,
    expected=HOLDS,
    says=r"f_P ∈ argmin over f ∈ [−1, 1]^X of ℓ₀₁(P, f), for ℓ₀₁ with the printed note: **ℓ₀₁(y, 0) = 1 always** (B), an output of 0 "
    r"abstains and counts as an error.",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("B",)},
    mutants={"the formula [[yv < 0]], ℓ₀₁(y, 0) = 0": {"conventions": ("A",)}},
    note="Under the formula alone (A) f = 0 has ℓ₀₁(P, f) = 0, less than ℓ₀₁(P, f_P) = ¼ at η = ¾; there it holds among all f with "
    "f(x) ≠ 0 almost surely. Both halves of the theorem at once: RMW-T1-half.",
)
def bayes_is_best(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ℓ₀₁(P, f) − ℓ₀₁(P, f_P) ≥ 0 at the corners of the cell."""
    cell, eta, v = opened(instance)
    yield interpolated(cell, cell.zero_one_regret, "ℓ₀₁-regret")
    yield at_least(cell.zero_one_regret(eta, v), 0, f"ℓ₀₁-regret, convention {cell.convention}, v {_sign(cell)} 0")


@claim(
    "RMW-T1c",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place=PLACE + ", with the formula of Section 2",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For all f ∈ [−1, 1]^X, ℓ₀₁(P, f) − ℓ₀₁(P, f_P) ≤ ℓ_linear(P, f) − ℓ_linear(P, f_P), for the printed formula "
    r"**ℓ₀₁(y, v) = [[yv < 0]]** (A).",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("A",)},
    mutants={"the note ℓ₀₁(y, 0) = 1": {"conventions": ("B",)}},
    note="Under the note (B) it fails at f = 0 only: ½ > 0 at η = ½, ¾ > ½ at η = ¾; there it holds among all f with f(x) ≠ 0 almost "
    "surely. Both halves of the theorem at once: RMW-T1-half.",
)
def linear_regret_bounds(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ℓ₀₁-regret ≤ linear regret at the corners of the cell."""
    cell, eta, v = opened(instance)
    yield interpolated(cell, lambda eta, v: cell.linear_regret(eta, v) - cell.zero_one_regret(eta, v), "difference of the regrets")
    name = f"ℓ₀₁-regret ≤ linear regret, convention {cell.convention}, v {_sign(cell)} 0"
    yield at_most(cell.zero_one_regret(eta, v), cell.linear_regret(eta, v), name)


@claim(
    "RMW-T1-half",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place=PLACE + ", ours: both halves under one convention",
    kind=EQUIVALENCE,
    expected=HOLDS,
    says=r"Let ℓ₀₁(y, 0) = a for both labels. For every P and all f ∈ [−1, 1]^X both ℓ₀₁(P, f) ≥ ℓ₀₁(P, f_P) and ℓ₀₁(P, f) − ℓ₀₁(P, f_P) "
    r"≤ ℓ_linear(P, f) − ℓ_linear(P, f_P) hold **if and only if a = ½** (C). (Only if: at η = ½ and f = 0 the two ask for 0 ≤ a − ½ ≤ 0.)",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("C",)},
    mutants={"a = 0": {"conventions": ("A",)}, "a = 1": {"conventions": ("B",)}},
    note="So neither printed convention makes the whole theorem true; each makes one half true (RMW-T1b, RMW-T1c). For one P and f = 0 the "
    "two ask for min(η, 1 − η) ≤ a ≤ max(η, 1 − η).",
)
def both_halves_ask_for_one_half(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both halves at the corners of the cell; and at η = ½, f = 0 with a as a symbol."""
    yield from bayes_is_best(instance, trial)
    yield from linear_regret_bounds(instance, trial)
    a, v = symbols("a v")
    best = conditional(zero_one("C"), HALF, 1)  # f_P is never 0
    yield equal(conditional(lambda y, score: a, HALF, 0) - best, a - HALF, "ℓ₀₁-regret of f = 0 at η = ½")
    yield equal(conditional(linear, HALF, v) - conditional(linear, HALF, 1), 0, "linear regret of every f at η = ½")


@claim(
    "RMW-T1d",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 10, proof of Theorem 1",
    kind=IDENTITY,
    expected=REFUTED,
    defect=CONVENTION,
    says=r"For all f ∈ [−1, 1]^X, ℓ₀₁(P, f) − ℓ₀₁(P, f_P) = E |1 − 2η| [[sign(2η − 1) f ≤ 0]], for ℓ₀₁(y, v) = [[yv < 0]] (A) or for "
    r"[[yv ≤ 0]] (B).",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("A", "B"), "at_zero": 1},
    mutants={"f ≠ 0": {"instances": away_from_zero}},
    note="At η = ¾, f = 0 the right side is ½, the left −¼ (A) or ¾ (B). Theorem 1 uses it for every f ∈ [−1, 1]^X.",
)
@claim(
    "RMW-T1d+",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 10, proof of Theorem 1, corrected",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"ℓ₀₁(P, f) − ℓ₀₁(P, f_P) = E |1 − 2η| [[sign(2η − 1) f ≤ 0]] under A, B and C if f(x) ≠ 0 almost surely.",
    instances=away_from_zero,
    exhaustive=True,
    knobs={"conventions": ("A", "B", "C"), "at_zero": 1},
    mutants={"f = 0 too": {"instances": cells}},
    corrects="RMW-T1d",
)
@claim(
    "RMW-T1d-half",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place="Section 10, proof of Theorem 1, for every f",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"If ℓ₀₁(y, 0) = ½ (C), then ℓ₀₁(P, f) − ℓ₀₁(P, f_P) = E |1 − 2η| ℓ₀₁(sign(2η − 1), f) for every f: the bracket is ½ at f = 0.",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("C",), "at_zero": HALF},
    mutants={"the bracket 1 at f = 0": {"at_zero": 1}, "ℓ₀₁(y, 0) = 1": {"conventions": ("B",)}, "ℓ₀₁(y, 0) = 0": {"conventions": ("A",)}},
)
def regret_formula(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ℓ₀₁-regret = |1 − 2η| [[sign(2η − 1) v ≤ 0]]; `at_zero` says what the bracket is at v = 0."""
    cell, eta, v = opened(instance)

    def formula(eta: Any, v: Any) -> Any:
        bracket = trial["at_zero"] if cell.sign == 0 else int(cell.bayes * cell.sign < 0)
        return cell.distance_from_half(eta) * bracket

    yield interpolated(cell, lambda eta, v: cell.zero_one_regret(eta, v) - formula(eta, v), "difference")
    yield equal(cell.zero_one_regret(eta, v), formula(eta, v), f"regret, convention {cell.convention}, v {_sign(cell)} 0")


def _sign(cell: Cell) -> str:
    return {1: ">", 0: "=", -1: "<"}[cell.sign]
