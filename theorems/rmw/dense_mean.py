r"""Section 6.7: the linear loss objective does not return a sparse solution.

(1/n) Σ (1 − y_i⟨ω, φ(x_i)⟩) + (λ/2)‖ω‖² has the one minimiser ω_S/λ = Σ y_i φ(x_i)/(nλ): every point of the sample, with one weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.small_worlds.worlds import add, dot, minus, plus, scaled, squared


def determinant(a: Sequence[Any], b: Sequence[Any], c: Sequence[Any]) -> Any:
    """det(a, b, c) of three vectors of space."""
    return dot(a, [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]])


@sc.claim(
    "RMW-6.7",
    place="Section 6.7",
    kind=sc.IDENTITY,
    says=r"The linear loss objective (1/n) Σ (1 − y_i⟨ω, φ(x_i)⟩) + (λ/2)‖ω‖², λ > 0, does not return a sparse solution: its only "
    r"minimiser is Σ y_i φ(x_i)/(nλ), with the weight 1/(nλ) on every point. If the **φ(x_i) are linearly independent**, its only "
    r"expansion Σ c_i φ(x_i) is this one, c_i = y_i/(nλ) ≠ 0: no point can be left out.",
    remains="samples of more or fewer than three points: the objective is a sum over them, and Cramer's rule reads the same",
    exhaustive=True,
    knobs={"shift": 1},
    mutants={"ω_S/(2λ)": {"shift": 2}},
    note="Independent: different x_i under a strictly positive definite kernel. In symbols it is the determinant that must not be 0. "
    "Without it an expansion may be sparse: of n equal points with equal labels one is enough. (λ/2)‖ω‖² stands for the bound on ‖ω‖ in "
    "Theorem 2, which asks for the same direction.",
)
def every_point_has_the_same_weight(trial: sc.Trial) -> Iterator[sc.Check]:
    """The excess over the minimum as a square; the coefficients of the minimiser by Cramer's rule, in symbols."""
    lam, third = sc.symbols("lam")[0], Fraction(1, 3)
    w, labels = list(sc.symbols("w1 w2 w3")), list(sc.symbols("y1 y2 y3"))
    features = [list(sc.symbols(f"a{i} b{i} c{i}")) for i in range(3)]
    best: list[Any] = [Fraction(0)] * 3
    for y, phi in zip(labels, features, strict=True):
        best = plus(best, scaled(phi, y * third / (trial["shift"] * lam)))

    def objective(v: Sequence[Any]) -> Any:
        return add((1 - y * dot(v, phi)) * third for y, phi in zip(labels, features, strict=True)) + lam / 2 * squared(v)

    yield sc.equal(objective(w) - objective(best), lam / 2 * squared(minus(w, best)), "excess over the minimum")
    whole = determinant(*features)
    for i, y in enumerate(labels):
        replaced = [best if j == i else phi for j, phi in enumerate(features)]
        yield sc.equal(determinant(*replaced) / whole, y * third / lam, f"c_{i + 1} of the minimiser")
