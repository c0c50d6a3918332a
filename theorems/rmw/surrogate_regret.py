r"""Theorem 1 for the misclassification loss, under each convention for ℓ₀₁(y, 0): which part holds under which.

No convention that the paper prints makes all of Theorem 1 true: under the formula (A) a score of 0 costs nothing, so that f = 0 beats
every classifier; under the note (B) it costs 1, more than the linear loss can answer for. With ½ (C) everything holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simopt.claims import (
    CONVENTION,
    EXISTENCE,
    HOLDS,
    IDENTITY,
    INEQUALITY,
    REFUTED,
    VAN_ROOYEN_MENON_WILLIAMSON,
    Check,
    Instance,
    Trial,
    at_least,
    at_most,
    claim,
    equal,
)
from simopt.theorems.rmw.surrogate_cells import HALF, Cell, away_from_zero, cells, interpolated, opened

PLACE = "Theorem 1"


@claim(
    "RMW-T1b",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place=PLACE,
    kind=EXISTENCE,
    expected=REFUTED,
    defect=CONVENTION,
    says=r"f_P ∈ argmin over f ∈ [−1, 1]^X of ℓ₀₁(P, f), both for ℓ₀₁(y, v) = [[yv < 0]] (A) and for ℓ₀₁(y, v) = [[yv ≤ 0]] (B).",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("A", "B")},
    mutants={"the note alone": {"conventions": ("B",)}, "ℓ₀₁(y, 0) = ½": {"conventions": ("C",)}},
    note="Fails under A only: f = 0 has ℓ₀₁(P, f) = 0, less than ℓ₀₁(P, f_P) = 1/4 at η = 3/4.",
)
@claim(
    "RMW-T1b+",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place=PLACE + ", corrected",
    kind=EXISTENCE,
    expected=HOLDS,
    says=r"f_P ∈ argmin over f ∈ [−1, 1]^X of ℓ₀₁(P, f) if ℓ₀₁(y, 0) = 1 (B) or ½ (C).",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("B", "C")},
    mutants={"ℓ₀₁(y, 0) = 0": {"conventions": ("A",)}},
    corrects="RMW-T1b",
    note="Under A it holds among all f with f(x) ≠ 0 almost surely.",
)
def bayes_is_best(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ℓ₀₁(P, f) − ℓ₀₁(P, f_P) ≥ 0 at the corners of the cell."""
    cell, eta, v = opened(instance)
    yield interpolated(cell, cell.zero_one_regret, "ℓ₀₁-regret")
    yield at_least(cell.zero_one_regret(eta, v), 0, f"ℓ₀₁-regret, convention {cell.convention}, v {_sign(cell)} 0")


@claim(
    "RMW-T1c",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place=PLACE,
    kind=INEQUALITY,
    expected=REFUTED,
    defect=CONVENTION,
    says=r"For all f ∈ [−1, 1]^X, ℓ₀₁(P, f) − ℓ₀₁(P, f_P) ≤ ℓ_linear(P, f) − ℓ_linear(P, f_P), both for ℓ₀₁(y, v) = [[yv < 0]] (A) and for "
    r"ℓ₀₁(y, v) = [[yv ≤ 0]] (B).",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("A", "B")},
    mutants={"the formula alone": {"conventions": ("A",)}, "ℓ₀₁(y, 0) = ½": {"conventions": ("C",)}},
    note="Fails under B only, at f = 0: ½ > 0 at η = ½, ¾ > ½ at η = ¾.",
)
@claim(
    "RMW-T1c+",
    paper=VAN_ROOYEN_MENON_WILLIAMSON,
    place=PLACE + ", corrected",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For all f ∈ [−1, 1]^X, ℓ₀₁(P, f) − ℓ₀₁(P, f_P) ≤ ℓ_linear(P, f) − ℓ_linear(P, f_P) if ℓ₀₁(y, 0) = 0 (A) or ½ (C).",
    instances=cells,
    exhaustive=True,
    knobs={"conventions": ("A", "C")},
    mutants={"ℓ₀₁(y, 0) = 1": {"conventions": ("B",)}},
    corrects="RMW-T1c",
    note="Under B it holds among all f with f(x) ≠ 0 almost surely. C is the only convention under which T1b and T1c both hold: at v = 0 "
    "they ask for min(η, 1 − η) ≤ ℓ₀₁(y, 0) ≤ max(η, 1 − η) for every η.",
)
def linear_regret_bounds(instance: Instance, trial: Trial) -> Iterator[Check]:
    """ℓ₀₁-regret ≤ linear regret at the corners of the cell."""
    cell, eta, v = opened(instance)
    yield interpolated(cell, lambda eta, v: cell.linear_regret(eta, v) - cell.zero_one_regret(eta, v), "difference of the regrets")
    name = f"ℓ₀₁-regret ≤ linear regret, convention {cell.convention}, v {_sign(cell)} 0"
    yield at_most(cell.zero_one_regret(eta, v), cell.linear_regret(eta, v), name)


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
