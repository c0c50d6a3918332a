r"""Section 3.2: what it means that the mean classifier prefers the margin to the sample hinge loss.

The SVM balances the hinge loss R and ‖ω‖², and 1/‖ω‖ is the margin: the half width of the strip |⟨ω, ·⟩| ≤ 1. Let f be its solution at λ
and g that at μ > λ. Each is best for its own objective, a = R(g) + (λ/2)‖g‖² − R(f) − (λ/2)‖f‖² ≥ 0 and b = R(f) + (μ/2)‖f‖² − R(g) −
(μ/2)‖g‖² ≥ 0, and a + b = ½(μ − λ)(‖f‖² − ‖g‖²).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.small_worlds.worlds import add, dot, scaled, squared

CITATION = "Section 3.2, 'preferentially optimizing the margin over the sample hinge loss'"


@sc.claim(
    "RMW-3.2",
    place=CITATION,
    kind=sc.INEQUALITY,
    says=r"The stronger the regularisation of the SVM, the more it prefers the margin 1/‖ω‖ to the hinge loss on the sample: for λ < μ "
    r"the solution at μ has no larger norm and no smaller hinge loss than that at λ. The mean classifier is the end of this path: if "
    r"ω_S ≠ 0, from λ* on the solution is ω_S/λ, whose margin λ/‖ω_S‖ grows without bound, and its hinge loss 1 − ‖ω_S‖²/λ to 1, that of "
    r"ω = 0.",
    remains="that the solution is ω_S/λ from λ* on, and no hinge bends there: RMW-SVMl",
    exhaustive=True,
    knobs={"penalty": Fraction(1, 2)},
    mutants={"−(λ/2)‖ω‖²": {"penalty": Fraction(-1, 2)}},
    note="The margin is that of the SVM's objective. The least margin min y f(x)/‖f‖ is not what the mean prefers (RMW-3.2-least): of all "
    "unit vectors it has the largest mean margin (Theorem 2).",
)
def norms_and_losses_along_the_path(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both inequalities as sums of what is ≥ 0, from two optimal solutions; then the mean."""
    lam, mu, F, G, Rf, Rg = sc.symbols("lam mu F G Rf Rg")  # F = ‖f‖², G = ‖g‖²
    a = Rg + lam * trial["penalty"] * G - Rf - lam * trial["penalty"] * F
    b = Rf + mu * trial["penalty"] * F - Rg - mu * trial["penalty"] * G
    yield sc.equal((mu - lam) / 2 * (F - G), a + b, "½(μ − λ)(‖f‖² − ‖g‖²) = a + b ≥ 0")
    yield sc.equal(Rg - Rf, a + lam / 2 * (F - G), "R(g) − R(f) = a + (λ/2)(‖f‖² − ‖g‖²) ≥ 0")
    omega = list(sc.symbols("u v"))
    yield sc.equal(squared(scaled(omega, 1 / lam)), squared(omega) / lam**2, "norm of ω_S/λ")
    yield sc.equal(1 - dot(scaled(omega, 1 / lam), omega), 1 - squared(omega) / lam, "mean of the hinges 1 − ⟨ω_S/λ, ψ_i⟩")


def separable(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Points ψ = yφ(x) of the unit ball and a direction that separates them; `third` is the odd one."""
    yield {"psi": [[1, 0], [1, 0], trial["third"]], "separating": [1, 2]}


@sc.claim(
    "RMW-3.2-least",
    place=CITATION + ", read as the least margin",
    kind=sc.COUNTEREXAMPLE,
    says=r"The mean does not optimise the least margin min y f(x)/‖f‖: for y φ(x) = (1, 0), (1, 0), (−3/5, 4/5) all have y⟨w, φ(x)⟩ = 1 at "
    r"w = (1, 2), and the mean (7/15, 4/15) misclassifies the third, with the score −1/15.",
    instances=separable,
    quantifier=sc.SOME,
    exhaustive=True,
    knobs={"third": ["-3/5", "4/5"]},
    mutants={"the third (0, 1/2)": {"third": [0, "1/2"]}},
)
def a_separable_sample_that_the_mean_gets_wrong(psi: list[list[int | str]], separating: list[int]) -> Iterator[sc.Check]:
    """Margins of the separating direction and of the mean; the points lie in the unit ball."""
    psi, w = sc.inputs(psi=psi, separating=separating)
    omega = [add(point[j] for point in psi) / 3 for j in range(2)]
    for point in psi:
        yield sc.at_most(squared(point), 1, "‖φ(x)‖ ≤ 1")
        yield sc.at_least(dot(w, point), 1, "y⟨w, φ(x)⟩ for w = (1, 2)")
    yield sc.at_most(dot(omega, psi[2]), 0, "y⟨ω_S, φ(x)⟩ of the third point", strict=True)
