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

from simopt.claims import (
    HOLDS,
    IDENTITY,
    INEQUALITY,
    KAR_JAIN,
    Check,
    Expr,
    Instance,
    Trial,
    at_most,
    claim,
    equal,
    symbols,
    total,
)
from simopt.theorems.kj.admissible_weights import mapped, squared_norm
from simopt.theorems.kj.piecewise_linear import crossing
from simopt.theorems.rmw.sampled_worlds import weights

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


def symbolic(k: int) -> tuple[list[Expr], list[list[Expr]], list[Expr], Expr, list[Expr], list[Expr]]:
    """α, G (symmetric), μ, x, f = Gα and r = f + α/(2xμ) in free symbols."""
    alpha, mu = (list(symbols(" ".join(f"{name}{i}" for i in range(k)))) for name in ("alpha", "mu"))
    gram = [[symbols(f"g{min(i, j)}{max(i, j)}")[0] for j in range(k)] for i in range(k)]
    (x,) = symbols("x")
    f = [total(g * a for g, a in zip(row, alpha, strict=True)) for row in gram]
    return alpha, gram, mu, x, f, [v + a / (2 * x * q) for v, a, q in zip(f, alpha, mu, strict=True)]


def counts(trial: Trial) -> Iterator[Instance]:
    """One to three points."""
    for k in (1, 2, 3):
        yield {"k": k}


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Expr:
    return total(u * v for u, v in zip(a, b, strict=True))


def _images(gram: list[list[Expr]], a: Sequence[Any]) -> list[Expr]:
    return [_dot(row, a) for row in gram]


@claim(
    "KJ-Thm31-b",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31: the coefficients α",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"The minimiser of ½‖W‖² + mC Σ μ_i(⟨W, Φ(z_i)⟩ − r_i)² is W' = Σ α_i Φ(z_i), α = (PG + I/2mC)^{−1} Pr, and α_i = 2mCμ_i(r_i − "
    r"f_i), f = Gα: for every β the objective at α + β is that at α plus ½β'Gβ + mC Σ μ_i (Gβ)_i². (In symbols for up to three points; "
    r"the inverse by Cramer's rule for two.)",
    instances=counts,
    exhaustive=True,
    knobs={"factor": 2},
    mutants={"(PG + I/mC)^{−1}": {"factor": 1}},
    note="The paper assumes that G is nonsingular. It is not needed: PG + I/2mC is always nonsingular, because PG has the nonnegative "
    "eigenvalues of √P G √P.",
    cost=0.3,
)
def coefficients_of_the_optimum(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Optimality of α, the system it solves; for one and two points the solution for free r."""
    k, factor = instance["k"], trial["factor"]
    alpha, gram, mu, x, f, r = symbolic(k)
    beta = symbols(" ".join(f"beta{i}" for i in range(k)))

    def value(a: Sequence[Any]) -> Expr:
        image = _images(gram, a)
        return _dot(a, image) / 2 + x * total(q * (v - t) ** 2 for q, v, t in zip(mu, image, r, strict=True))

    shift = _images(gram, beta)
    growth = _dot(beta, shift) / 2 + x * total(q * v**2 for q, v in zip(mu, shift, strict=True))
    yield equal(value([a + b for a, b in zip(alpha, beta, strict=True)]), value(alpha) + growth, "objective at α + β")
    for i in range(k):
        yield equal(mu[i] * f[i] + alpha[i] / (factor * x), mu[i] * r[i], "(PG + I/2mC) α = Pr")
    if k == 2:
        target = symbols("r0 r1")
        rows = [[mu[i] * gram[i][j] + (1 / (factor * x) if i == j else 0) for j in range(2)] for i in range(2)]
        determinant = rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
        solved = [(mu[i] * target[i] * rows[1 - i][1 - i] - rows[i][1 - i] * mu[1 - i] * target[1 - i]) / determinant for i in range(2)]
        image = _images(gram, solved)
        for i in range(2):
            yield equal(solved[i], 2 * x * mu[i] * (target[i] - image[i]), "α = 2mCμ(r − f)")


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
    r"|r| = 1 everywhere: K = r = 1, mC = 1/2. (In symbols for up to three points.)",
    instances=counts,
    exhaustive=True,
    knobs={"part": Fraction(1, 2)},
    mutants={"2mC/5": {"part": Fraction(2, 5)}},
    note="‖W'‖² = Σ α_i f_i = 2mC Σ μ_i (r_i − f_i) f_i.",
    cost=0.2,
)
def half_the_norm(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity, and one point."""
    alpha, _, mu, x, f, r = symbolic(instance["k"])
    rest = 2 * x * total(q * (v - t / 2) ** 2 for q, v, t in zip(mu, f, r, strict=True))
    yield equal(trial["part"] * x * total(q * t**2 for q, t in zip(mu, r, strict=True)) - _dot(alpha, f), rest, "x/2 Σ μr² − ‖W'‖²")


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
    says=r"C(L(a) − L(W')) + ‖a‖²/4 = ‖W' − a/2‖² + mC Σ μ_i (⟨a, Φ(z_i)⟩ − f_i)² ≥ 0 for every a in the span, L the loss of lists: L(W') "
    r"≤ ε_0 + **1/(4Cγ²)**. (In symbols for up to three points.)",
    instances=counts,
    exhaustive=True,
    knobs={"part": Fraction(1, 4)},
    mutants={"‖a‖²/5": {"part": Fraction(1, 5)}},
    note="1/4 is best: K = r = 1, mC → 0. So C = 1/(4ε_1γ²) will do in Theorem 31.",
    cost=0.3,
)
def half_the_excess(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity."""
    k = instance["k"]
    alpha, gram, mu, x, f, r = symbolic(k)
    a = symbols(" ".join(f"a{i}" for i in range(k)))
    image = _images(gram, a)
    gain = x * total(q * ((u - t) ** 2 - (v - t) ** 2) for q, u, v, t in zip(mu, image, f, r, strict=True))
    rest = [v - b / 2 for v, b in zip(alpha, a, strict=True)]
    square = _dot(rest, _images(gram, rest))
    apart = x * total(q * (u - v) ** 2 for q, u, v in zip(mu, image, f, strict=True))
    yield equal(gain + trial["part"] * _dot(a, image), square + apart, "C(L(a) − L(W')) + ‖a‖²/4")
