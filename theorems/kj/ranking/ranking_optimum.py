r"""Appendix F, proof of Theorem 31: the regularised optimum W' of ½‖W‖² + mC Σ μ_i (⟨W, Φ(z_i)⟩ − r_i)², its coefficients and its norm.

With x = mC, W' = Σ α_i Φ(z_i) and (PG + I/2x) α = Pr, so that α_i = 2xμ_i (r_i − f_i), f = Gα: the weights are w_i = 2x (r_i − f_i). All of
it is rational. In symbols α, G, μ and x are free, and r_i = f_i + α_i/(2xμ_i) is what they solve: every r arises so, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.claims import *
from simopt.theorems.kj.goodness.admissible_weights import mapped, squared_norm
from simopt.theorems.kj.landmarks.piecewise_linear import crossing
from simopt.theorems.small_worlds.sampled_worlds import weights

SECTION = "ordinal"
ONE, ZERO, HALF = Fraction(1), Fraction(0), Fraction(1, 2)
Numbers = list[Fraction]


def domain(masses: Sequence[Any], gram: Sequence[Sequence[Any]], targets: Sequence[Any], x: Any, **more: Any) -> Instance:
    """Pairs with masses μ, kernel G and targets r̃ (0 ≤ r̃ ≤ 1, for any logarithm), x = mC."""
    return {
        "masses": [Fraction(p) for p in masses],
        "gram": [[Fraction(k) for k in row] for row in gram],
        "targets": [Fraction(r) for r in targets],
        "x": Fraction(x),
        **more,
    }


def one_point(x: Any) -> Instance:
    """K = r = 1."""
    return domain([1], [[1]], [1], x)


def opposite(x: Any, rare: Any = Fraction(1, 1000)) -> Instance:
    """Φ = 1 and, rarely, Φ = −1; r = 1 at both: f is near −1 at the rare point."""
    return domain([1 - Fraction(rare), Fraction(rare)], [[1, -1], [-1, 1]], [1, 1], x)


def random_domain(rng: np.random.Generator, points: int) -> Instance:
    """A kernel of rank one to `points` with K(z, z) ≤ 1, targets in [0, 1], x from 1/8 to 16."""
    factor = rng.integers(-2, 3, size=(int(rng.integers(1, points + 1)), points))
    largest = max(1, int((factor**2).sum(axis=0).max()))
    gram = [[Fraction(int(k), largest) for k in row] for row in factor.T @ factor]
    targets = [Fraction(int(v), 4) for v in rng.integers(0, 5, size=points)]
    return domain(weights(rng, points), gram, targets, Fraction(2) ** int(rng.integers(-3, 5)))


def domains(trial: Trial) -> Iterator[Instance]:
    """One point, two opposite ones, random domains of two to five."""
    for x in ("1/20", "1/8", "5/16", "1/2", "17/20", "2", "32"):
        yield one_point(x)
        yield opposite(x)
    for _ in range(trial.count(25, 200)):
        yield random_domain(trial.rng, int(trial.rng.integers(2, 6)))


@dataclass(frozen=True)
class Optimum:
    """α, f = Gα, ‖W'‖² and w = α/μ."""

    alpha: Numbers
    predictions: Numbers
    square: Fraction
    weights: Numbers


def optimum(instance: Instance, x: Fraction | None = None) -> Optimum:
    """Solve (PG + I/2x) α = Pr exactly; the matrix is never singular."""
    p, gram, r = instance["masses"], instance["gram"], instance["targets"]
    strength = instance["x"] if x is None else x
    planes = [
        ([q * k + (1 / (2 * strength) if i == j else 0) for j, k in enumerate(row)], q * v)
        for i, (q, row, v) in enumerate(zip(p, gram, r, strict=True))
    ]
    alpha = crossing(planes)
    if alpha is None:
        raise ArithmeticError("PG + I/2mC is singular")
    return Optimum(alpha, mapped(gram, alpha), squared_norm(gram, alpha), [a / q for a, q in zip(alpha, p, strict=True)])


def loss(instance: Instance, f: Sequence[Fraction]) -> Fraction:
    """Σ μ (f − r)²: the loss of lists is m times it, plus a constant."""
    return sum((q * (v - r) ** 2 for q, v, r in zip(instance["masses"], f, instance["targets"], strict=True)), ZERO)


def symbolic() -> tuple[Expr, Expr, Expr, Expr, Expr]:
    """α, μ, f = Gα and r = f + α/(2xμ) at one point, and x = mC."""
    alpha, mu, f, x = symbols("alpha mu f x")
    return alpha, mu, f, f + alpha / (2 * x * mu), x


def once(trial: Trial) -> Iterator[Instance]:
    """One instance without data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm31-b",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31: the coefficients α",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"The minimiser of ½‖W‖² + mC Σ μ_i(⟨W, Φ(z_i)⟩ − r_i)² is W' = Σ α_i Φ(z_i), α = (PG + I/2mC)^{−1} Pr, and α_i = 2mCμ_i(r_i − "
    r"f_i), f = Gα: for every V the objective at W' + V is that at W' plus ½‖V‖² + mC Σ μ_i g_i², g_i = ⟨V, Φ(z_i)⟩, because ⟨W', V⟩ = Σ "
    r"α_i g_i. (In symbols, term by term.)",
    instances=once,
    exhaustive=True,
    knobs={"factor": 2},
    mutants={"(PG + I/mC)^{−1}": {"factor": 1}},
    note="The paper assumes that G is nonsingular. It is not needed: PG + I/2mC is always nonsingular, because PG has the nonnegative "
    "eigenvalues of √P G √P.",
    cost=0.3,
)
def coefficients_of_the_optimum(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Optimality of α and the system it solves, at one point."""
    alpha, mu, f, r, x = symbolic()
    (g,) = symbols("g")
    yield equal(alpha * g + x * mu * ((f + g - r) ** 2 - (f - r) ** 2), x * mu * g**2, "objective at W' + V, one term")
    yield equal(mu * f + alpha / (trial["factor"] * x), mu * r, "(PG + I/2mC) α = Pr, one row")
    yield equal(2 * x * mu * (r - f), alpha, "α = 2mCμ(r − f)")


@claim(
    "KJ-Thm31-c",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31: the norm of W'",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If **|r_i| ≤ 1** (printed: r_i ≤ 1), ‖W'‖ ≤ √(2mC). (Exactly, on random domains with K(z, z) ≤ 1; ½‖W'‖² ≤ mC Σ μ r² by "
    r"comparison with W = 0. KJ-Thm31-c-sharp has √(mC/2).)",
    instances=domains,
    knobs={"constant": Fraction(2)},
    mutants={"√(2mC/5)": {"constant": Fraction(2, 5)}},
    note="It is no loss of generality but a fact: r̃ is a mean of η_i, and 0 ≤ η_i ≤ F(1) ≤ 1 with either logarithm (KJ-F-eta). K(z, z) ≤ "
    "1 is not needed for it.",
    cost=0.3,
)
def norm_of_the_optimum(instance: Instance, trial: Trial) -> Iterator[Check]:
    """‖W'‖² ≤ 2mC."""
    yield at_most(optimum(instance).square, trial["constant"] * instance["x"], "‖W'‖²")


@claim(
    "KJ-Thm31-c-sharp",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31, ours: half the norm",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"(mC/2) Σ μ_i r_i² − ‖W'‖² = 2mC Σ μ_i (f_i − r_i/2)² ≥ 0, so that ‖W'‖ ≤ **√(mC/2)** for |r| ≤ 1, with equality iff f = r/2 and "
    r"|r| = 1 everywhere: K = r = 1, mC = 1/2. (In symbols, term by term: ‖W'‖² = Σ α_i f_i.)",
    instances=once,
    exhaustive=True,
    knobs={"part": Fraction(1, 2)},
    mutants={"2mC/5": {"part": Fraction(2, 5)}},
    cost=0.2,
)
def half_the_norm(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity."""
    alpha, mu, f, r, x = symbolic()
    yield equal(trial["part"] * x * mu * r**2 - alpha * f, 2 * x * mu * (f - r / 2) ** 2, "x/2 Σ μr² − ‖W'‖², one term")


@claim(
    "KJ-Thm31-e",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31: the loss of W'",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If a kernel is (ε_0, γ)-good for ranking (‖W*‖ ≤ 1, E ℓ_sq ≤ ε_0), the regularised optimum has E ℓ_sq ≤ ε_0 + 1/(2Cγ²). "
    r"(Exactly, on random domains, against the best competitors: ε_0 = L(W), γ = 1/‖W‖ for W' of 2C, 8C and C/2.)",
    instances=domains,
    knobs={"constant": Fraction(1, 2)},
    mutants={"1/(5Cγ²)": {"constant": Fraction(1, 5)}},
    note="The best constant is 1/4: KJ-Thm31-e-sharp.",
    cost=0.6,
)
def loss_of_the_optimum(instance: Instance, trial: Trial) -> Iterator[Check]:
    """m L(W') ≤ m L(a) + ‖a‖²/2C, divided by m: x = mC."""
    found = loss(instance, optimum(instance).predictions)
    for factor in (HALF, Fraction(2), Fraction(8)):
        other = optimum(instance, factor * instance["x"])
        yield at_most(found, loss(instance, other.predictions) + trial["constant"] * other.square / instance["x"], "E ℓ_sq/m")


@claim(
    "KJ-Thm31-e-sharp",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31, ours: half the excess",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"C(L(a) − L(W')) + ‖a‖²/4 = ‖W' − a/2‖² + mC Σ μ_i (⟨a, Φ(z_i)⟩ − f_i)² ≥ 0 for every a, L the loss of lists: L(W') ≤ ε_0 + "
    r"**1/(4Cγ²)** with a = W*/γ. (In symbols, term by term: ⟨W', a⟩ = Σ α_i ⟨a, Φ(z_i)⟩, ‖W'‖² = Σ α_i f_i.)",
    instances=once,
    exhaustive=True,
    knobs={"part": Fraction(1, 4)},
    mutants={"‖a‖²/5": {"part": Fraction(1, 5)}},
    note="1/4 is best: K = r = 1, mC → 0. So C = 1/(4ε_1γ²) will do in Theorem 31.",
    cost=0.3,
)
def half_the_excess(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity."""
    alpha, mu, f, r, x = symbolic()
    image, size = symbols("image size")  # ⟨a, Φ(z_i)⟩, and a share of ‖a‖² for each term
    gain = x * mu * ((image - r) ** 2 - (f - r) ** 2)
    square = alpha * f - alpha * image + Fraction(1, 4) * size  # ‖W' − a/2‖²
    yield equal(gain + trial["part"] * size, square + x * mu * (image - f) ** 2, "C(L(a) − L(W')) + ‖a‖²/4, one term")
