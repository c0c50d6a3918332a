r"""Definition 7 and Theorem 10: goodness with a choice function, and how it relates to goodness without. Exact on finite domains.

A choice R: X → {0, 1} with E R = τ > 0 gives f(x) = E[w(x')K(x, x') | R(x') = 1] = Σ p_i w_i R_i K(x, x_i)/τ. A randomised choice has R_i =
P(R = 1 | x_i) in [0, 1]; with u = wR, |u| ≤ BR, its least loss for given τ is a linear programme.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.theorems.kj.goodness.finite_domains import insensitive_loss
from simopt.theorems.kj.landmarks.piecewise_linear import box, corners, inner
from simopt.theorems.small_worlds.sampled_worlds import weights

SECTION = "regression"
ONE, ZERO = Fraction(1), Fraction(0)


def domain(rng: np.random.Generator, points: int) -> sc.Instance:
    """A random domain with weights w: K and y in quarters, B = 1, ε ∈ {0, 1/4}."""
    return {
        "masses": weights(rng, points),
        "gram": [[Fraction(int(k), 2) for k in row] for row in rng.integers(-2, 3, size=(points, points))],
        "targets": [Fraction(int(y), 4) for y in rng.integers(-4, 5, size=points)],
        "weights": [Fraction(int(w), 4) for w in rng.integers(-4, 5, size=points)],
        "epsilon": Fraction(int(rng.integers(0, 2)), 4),
    }


def predictor(masses: list[Fraction], gram: list[list[Fraction]], w: Sequence[Any], choice: Sequence[Any]) -> list[Any]:
    """f(x) = E[wK | R = 1]; with R = 1 it is E[wK]."""
    tau = total_of(p * r for p, r in zip(masses, choice, strict=True))
    return [total_of(p * v * r * k for p, v, r, k in zip(masses, w, choice, row, strict=True)) / tau for row in gram]


def total_of(terms: Any) -> Any:
    """Sum of fractions or formulas."""
    return sum(terms, ZERO)


def loss(masses: list[Fraction], targets: list[Fraction], epsilon: Fraction, f: Sequence[Fraction]) -> Fraction:
    """E max(|f − y| − ε, 0)."""
    return insensitive_loss(masses, targets, f, epsilon)


def least_loss(
    masses: list[Fraction], gram: list[list[Fraction]], epsilon: Fraction, targets: list[Fraction], choice: Sequence[int], B: Fraction = ONE
) -> Fraction:
    """min over |w| ≤ B of the loss of E[wK | R = 1] for R ∈ {0, 1}: reached where kinks and sides of the box cross."""
    chosen = [i for i, r in enumerate(choice) if r]
    tau = sum((masses[i] for i in chosen), ZERO)
    slopes = [[masses[i] * row[i] / tau for i in chosen] for row in gram]
    facets = box([B] * len(chosen))
    tubes = sorted({-epsilon, epsilon})
    kinks = [(a, y + e) for a, y in zip(slopes, targets, strict=True) if any(a) for e in tubes]
    return min(loss(masses, targets, epsilon, [inner(a, w) for a in slopes]) for w in corners([*kinks, *facets], facets))


def relaxed_loss(
    masses: list[Fraction], gram: list[list[Fraction]], epsilon: Fraction, targets: list[Fraction], tau: Fraction, B: float = 1.0
) -> float:
    """Loss of the best randomised choice with E R = τ that the linear programme in (u, R) finds, recomputed at a feasible point."""
    from scipy.optimize import linprog

    p, K, y = (np.array(numbers, dtype=float) for numbers in (masses, gram, targets))
    n, width, share = len(p), float(epsilon), float(tau)
    A, eye, none = K * p / share, np.eye(n), np.zeros((n, n))
    tube = [np.hstack([A, none, -eye]), np.hstack([-A, none, -eye])]
    inside = [np.hstack([eye, -B * eye, none]), np.hstack([-eye, -B * eye, none])]
    found = linprog(
        np.concatenate([np.zeros(2 * n), p]),
        A_ub=np.vstack(tube + inside),
        b_ub=np.concatenate([y + width, width - y, np.zeros(2 * n)]),
        A_eq=np.concatenate([np.zeros(n), p, np.zeros(n)])[None],
        b_eq=[share],
        bounds=[(-B, B)] * n + [(0, 1)] * n + [(0, None)] * n,
        method="highs",
    )
    choice = np.clip(found.x[n : 2 * n], 0, 1)
    u = np.clip(found.x[:n], -B * choice, B * choice)
    return float(p @ np.maximum(np.abs(K @ (p * u) / (p @ choice) - y) - width, 0))


def domains(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random domains of two and three points."""
    for _ in range(trial.count(10, 60)):
        yield domain(trial.rng, int(trial.rng.integers(2, 4)))


@sc.claim(
    "KJ-Def7",
    section=SECTION,
    place="Definition 7",
    kind=sc.DEFINITION,
    says=r"ε_0(B, τ) = min over |w| ≤ B and R with E R = τ > 0 of E ℓ_ε(E[wK | R = 1], y). It falls in B; with randomised R it is at most "
    r"that of any R ∈ {0, 1} with E R = τ; with R = 1 it is ε_0(B) of Definition 2. (Every R on two and three points, exactly; the "
    r"relaxation by a linear programme.)",
    instances=domains,
    knobs={"smaller": Fraction(1, 2)},
    mutants={"it grows in B": {"smaller": Fraction(2)}},
    resolution=1e-9,
    note="The definition has < ε_0, read as ≤, and needs τ > 0. R is typed as X → {0, 1}, but the proof of Theorem 10 takes P(R = 1 | x) "
    "= |w(x)|/B.",
)
def goodness_with_a_choice(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], epsilon: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Each choice function."""
    for choice in itertools.product((0, 1), repeat=len(masses)):
        if not any(choice):
            continue
        tau = sum((p for p, r in zip(masses, choice, strict=True) if r), ZERO)
        least = least_loss(masses, gram, epsilon, targets, choice)
        yield sc.at_most(least, least_loss(masses, gram, epsilon, targets, choice, trial["smaller"]), "B against B/2")
        relaxed = relaxed_loss(masses, gram, epsilon, targets, tau)
        yield sc.at_most(relaxed, least, "randomised against fixed")
        if all(choice):
            yield sc.equal(tau, 1, "R = 1")
            yield sc.at_least(relaxed, least, "R = 1: the choice is no choice")


@sc.claim(
    "KJ-Thm10a",
    section=SECTION,
    place="Theorem 10, first part",
    kind=sc.EXISTENCE,
    says=r"With a **randomised** R, as in the proof: if E[wK] has loss ε_0, |w| ≤ B, w̄ = E|w| > 0, then P(R = 1 | x) = |w(x)|/B and w̃ = "
    r"w̄ sign w have E R = w̄/B, |w̃| = w̄ ≤ B and E[w̃K | R = 1] = E[wK]; so K is (ε_0, B, w̄/B)-good, even (ε_0, w̄, w̄/B)-good.",
    instances=domains,
    knobs={"radius": ONE},
    mutants={"|w̃| ≤ w̄/2": {"radius": Fraction(1, 2)}},
    note="With R: X → {0, 1} as Definition 7 types it the statement fails on an atom (KJ-Thm10a-atom).",
)
def choice_from_weights(
    masses: list[Fraction], weights: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], epsilon: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Loss, radius and density, exactly; B = 1."""
    w = weights
    mean = total_of(p * abs(v) for p, v in zip(masses, w, strict=True))
    if mean == 0:
        yield sc.vacuous(True, "w = 0", evidence=sc.EXACT)
        return
    signs = [mean if v > 0 else -mean for v in w]
    choice = [abs(v) for v in w]
    yield sc.equal(total_of(p * r for p, r in zip(masses, choice, strict=True)), mean, "E R = w̄/B")
    first, second = predictor(masses, gram, w, [ONE] * len(w)), predictor(masses, gram, signs, choice)
    yield sc.at_most(loss(masses, targets, epsilon, second), loss(masses, targets, epsilon, first), "loss")
    yield sc.at_most(max(map(abs, signs)), trial["radius"] * mean, "max |w̃|")
    yield sc.at_most(mean, 1, "w̄ ≤ B")


def atom(trial: sc.Trial) -> Iterator[sc.Instance]:
    """X = {x}, K = 1, y = w = 1/2, B = 1."""
    yield {"masses": [ONE], "gram": [[ONE]], "targets": [Fraction(1, 2)], "weights": [Fraction(1, 2)], "epsilon": ZERO}


@sc.claim(
    "KJ-Thm10a-atom",
    section=SECTION,
    place="Theorem 10, first part, with R ∈ {0, 1} as Definition 7 has it",
    kind=sc.COUNTEREXAMPLE,
    says=r"X = {x}, K = 1, y = w = 1/2, B = 1: loss 0 and w̄/B = 1/2, but no R ∈ {0, 1} has E R = 1/2.",
    instances=atom,
    exhaustive=True,
    knobs={"levels": 1},
    mutants={"R ∈ {0, 1/2, 1}": {"levels": 2}},
)
def no_choice_on_an_atom(
    weights: list[Fraction], masses: list[Fraction], targets: list[Fraction], epsilon: Fraction, gram: list[list[Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """All choices."""
    w, levels = weights, trial["levels"]
    mean = total_of(p * abs(v) for p, v in zip(masses, w, strict=True))
    yield sc.equal(loss(masses, targets, epsilon, predictor(masses, gram, w, [ONE])), ZERO, "loss of w")
    for r in range(levels + 1):
        yield sc.true(masses[0] * Fraction(r, levels) != mean, f"E R for R = {r}/{levels}", evidence=sc.EXACT)


@sc.claim(
    "KJ-Thm10a-id",
    section=SECTION,
    place="Appendix D.2, the identity for the first part",
    kind=sc.IDENTITY,
    says=r"For masses p_i, signs s_i and m_i = |w_i|, w̄ = Σ p_i m_i, R_i = m_i/B: Σ p_i R_i = w̄/B and Σ p_i (s_i w̄) R_i k_i/(w̄/B) = Σ "
    r"p_i s_i m_i k_i. (Term by term, in symbols.)",
    exhaustive=True,
    knobs={"power": 1},
    mutants={"R = |w|": {"power": 0}},
)
def randomised_choice(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both sums."""
    p, s, m, k, B, mean = sc.symbols("p s m k B mean")  # mean = w̄
    choice = m / B ** trial["power"]
    yield sc.equal(p * choice, p * m / B, "P(R), one term")
    yield sc.equal(p * (s * mean) * choice * k / (mean / B), p * s * m * k, "E[w̃K | R], one term")


@sc.claim(
    "KJ-Thm10b",
    section=SECTION,
    place="Theorem 10, second part",
    kind=sc.IDENTITY,
    says=r"If K is (ε_0, B, τ)-good with w and R, then w̃_i = w_i R_i/τ gives Σ p_i w̃_i k_i = Σ p_i w_i R_i k_i/τ, the same predictor, "
    r"and B/τ ∓ w̃ = ((B ∓ w)R + B(1 − R))/τ ≥ 0: K is (ε_0, B/τ)-good. R may be randomised. (Term by term, in symbols.)",
    exhaustive=True,
    knobs={"power": 1},
    mutants={"w̃ = wR": {"power": 0}},
)
def weights_from_choice(trial: sc.Trial) -> Iterator[sc.Check]:
    """The predictor and the bound."""
    p, w, r, k, tau, B = sc.symbols("p w r k tau B")
    merged = w * r / tau ** trial["power"]
    yield sc.equal(p * merged * k, p * w * r * k / tau, "E[w̃K], one term")
    for sign in (1, -1):
        yield sc.equal(B / tau - sign * merged, ((B - sign * w) * r + B * (1 - r)) / tau, "|w̃| ≤ B/τ")
