r"""Lemma 17 and Corollary 11: good kernels are good similarities, on regularised problems with a known exact solution.

W' = Σ β_i Φ(x_i) minimises ½‖W‖² + C Σ p_i ℓ(⟨W, Φ(x_i)⟩, y_i) iff −β_i ∈ C p_i ∂ℓ(f_i, y_i), f = Kβ. So choose K = AᵀA and β in rationals,
|β_i| ≤ C p_i, and then targets: y_i beyond the tube on the side of β_i where |β_i| = C p_i, on its edge where 0 < |β_i| < C p_i, anywhere
inside where β_i = 0. Every other W = Σ a_i Φ(x_i) makes the kernel (L(W), 1/‖W‖)-good; the best one for given C is the W' of 2C.
Continuous cases are decided in closed form on [0, 1] with K(x, x') = xx'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.solvers.goodness.exact import exact_goodness
from simopt.theorems.kj.goodness.finite_domains import HALF, ONE, ZERO, Numbers, insensitive_loss, point_and_origin
from simopt.theorems.small_worlds.sampled_worlds import weights

SECTION = "regression"


def mapped(gram: list[Numbers], coefficients: Numbers) -> Numbers:
    """K a."""
    return [sum((k * a for k, a in zip(row, coefficients, strict=True)), ZERO) for row in gram]


def problem(rng: np.random.Generator, points: int) -> sc.Instance:
    """A random regularised problem with its solution β, and competitors a."""
    factor = rng.integers(-2, 3, size=(int(rng.integers(1, points + 1)), points))
    gram = [[Fraction(int(k), 8) for k in row] for row in factor.T @ factor]
    masses = weights(rng, points)
    C, epsilon = Fraction(int(rng.integers(1, 9)), 2), Fraction(int(rng.integers(0, 3)), 4)
    shares = [Fraction(int(s), 2) for s in rng.integers(-2, 3, size=points)]
    beta = [C * p * s for p, s in zip(masses, shares, strict=True)]
    targets = []
    for f, s in zip(mapped(gram, beta), shares, strict=True):
        side = 1 if s > 0 else -1
        beyond = Fraction(int(rng.integers(0, 7)), 4) if abs(s) == 1 else ZERO
        targets.append(f + side * (epsilon + beyond) if s else f + epsilon * Fraction(int(rng.integers(-2, 3)), 2))
    others = [[Fraction(int(v), 4) for v in rng.integers(-4, 5, size=points)] for _ in range(6)]
    others += [[2 * b for b in beta], [3 * b / 2 for b in beta]]
    return {"masses": masses, "gram": gram, "C": C, "epsilon": epsilon, "beta": beta, "targets": targets, "others": others}


def two_points(gamma: Fraction, epsilon_1: Fraction) -> sc.Instance:
    """x = γ with y = 1 and mass 2ε_1, and x = 0 = y: the kernel xx' is (0, γ)-good, C = 1/(4ε_1γ²), and W' = ½ loses exactly ε_1."""
    C = 1 / (4 * epsilon_1 * gamma**2)
    mass = 2 * epsilon_1
    here = point_and_origin(mass, gamma**2, [1, 0])
    return here | {"C": C, "epsilon": ZERO, "beta": [C * mass, ZERO], "others": [[1 / gamma**2, ZERO]]}


def problems(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The two points on which the constant is sharp, and random problems."""
    for gamma, epsilon_1 in ((ONE, Fraction(2, 5)), (Fraction(1, 2), Fraction(1, 10)), (Fraction(1, 10), Fraction(1, 4))):
        yield two_points(gamma, epsilon_1)
    for _ in range(trial.count(40, 300)):
        yield problem(trial.rng, int(trial.rng.integers(2, 6)))


def squared_norm(gram: list[Numbers], coefficients: Numbers) -> Fraction:
    """aᵀ K a."""
    return sum((a * b for a, b in zip(coefficients, mapped(gram, coefficients), strict=True)), ZERO)


def _against_competitors(
    loss: Callable[[Numbers], Fraction], gram: list[Numbers], beta: Numbers, others: list[Numbers], factor: Fraction
) -> Iterator[sc.Check]:
    """L(W') ≤ L(W) + factor · ‖W‖² for all competitors W."""
    least = loss(mapped(gram, beta))
    for a in others:
        yield sc.at_most(least, loss(mapped(gram, a)) + factor * squared_norm(gram, a), "loss of W'")


@sc.claim(
    "KJ-L17a",
    section=SECTION,
    place="Lemma 17, first part",
    kind=sc.EXISTENCE,
    says=r"Let K be a PSD kernel, (ε_0, γ)-good for a convex loss (‖W*‖ ≤ 1). For every C > 0 the minimiser W' of ½‖W‖² + C E ℓ(⟨W, "
    r"Φ(x)⟩, y) has E ℓ(⟨W', Φ(x)⟩, y) ≤ ε_0 + 1/(2Cγ²). (On finite domains with the ε-insensitive loss; sharper in KJ-L17a-sharp.)",
    instances=problems,
    knobs={"constant": Fraction(1, 2)},
    mutants={"1/(5Cγ²)": {"constant": Fraction(1, 5)}},
)
def regularised_optimum_is_good(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    C: Fraction,
    epsilon: Fraction,
    beta: list[Fraction],
    targets: list[Fraction],
    others: list[list[Fraction]],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """L(W') ≤ L(W) + ‖W‖²/2C for all competitors W, so ε_0 = L(W), γ = 1/‖W‖."""
    yield from _against_competitors(partial(insensitive_loss, masses, targets, epsilon=epsilon), gram, beta, others, trial["constant"] / C)


def dimensions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Dimensions 1 to 4."""
    for dimension in range(1, 5):
        yield {"dimension": dimension}


@sc.claim(
    "KJ-L17a-proof",
    section=SECTION,
    place="Lemma 17, ours: the step that gains a factor 2",
    kind=sc.IDENTITY,
    says=r"⟨W', a − W'⟩ = ‖a‖²/4 − ‖W' − a/2‖² ≤ ‖a‖²/4, while the paper drops ‖W'‖²/2 from ½‖W'‖² + C L(W') ≤ ½‖a‖² + C L(a). (In symbols "
    r"‖W'‖², ⟨W', a⟩ and ‖a‖², for every dimension.)",
    instances=dimensions,
    exhaustive=True,
    knobs={"part": Fraction(1, 4)},
    mutants={"‖a‖²/5": {"part": Fraction(1, 5)}},
)
def square_completed(trial: sc.Trial) -> Iterator[sc.Check]:
    """The identity."""
    ww, wa, aa = sc.symbols("ww wa aa")
    off = ww - wa + aa / 4  # ‖W' − a/2‖²
    yield sc.equal(wa - ww, trial["part"] * aa - off, "⟨W', a − W'⟩")


@sc.claim(
    "KJ-L17a-sharp",
    section=SECTION,
    place="Lemma 17, first part, ours: with the best constant",
    kind=sc.EXISTENCE,
    says=r"Under the hypotheses of Lemma 17, E ℓ(⟨W', Φ(x)⟩, y) ≤ ε_0 + 1/(4Cγ²), with equality on two points for every γ ≤ 1 and ε_1 = "
    r"1/(4Cγ²) ≤ ½.",
    instances=problems,
    knobs={"constant": Fraction(1, 4)},
    mutants={"1/(5Cγ²)": {"constant": Fraction(1, 5)}},
    note="C L(a) ≥ C L(W') − ⟨W', a − W'⟩ by convexity, a = W*/γ, and ⟨W', a − W'⟩ = ‖a‖²/4 − ‖W' − a/2‖² (KJ-L17a-proof).",
)
def regularised_optimum_is_better(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    C: Fraction,
    epsilon: Fraction,
    beta: list[Fraction],
    targets: list[Fraction],
    others: list[list[Fraction]],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """L(W') ≤ L(W) + ‖W‖²/4C for all competitors W."""
    yield from _against_competitors(partial(insensitive_loss, masses, targets, epsilon=epsilon), gram, beta, others, trial["constant"] / C)


@sc.claim(
    "KJ-L17b",
    section=SECTION,
    place="Lemma 17, second part",
    kind=sc.EXISTENCE,
    says=r"On a finite domain w_i = β_i/p_i has E[w(x') K(x, x')] = ⟨W', Φ(x)⟩ for all x, and |w_i| ≤ C for a 1-Lipschitz loss, because "
    r"|β_i| ≤ C p_i. (β solves the regularised problem: −β_i ∈ C p_i ∂ℓ(f_i, y_i), which is checked.)",
    instances=problems,
    knobs={"mass": 1},
    mutants={"w = β": {"mass": 0}},
    note="The paper's |w_i| ≤ 2C in one place (E.3) is not needed: α_i α_i* = 0 or not, only β_i = α_i − α_i* enters. For distributions "
    "that are not discrete the paper refers to variational techniques.",
)
def weights_represent_the_optimum(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    C: Fraction,
    epsilon: Fraction,
    beta: list[Fraction],
    targets: list[Fraction],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The predictions of w, their optimality, and max |w|."""
    w = [b / p ** trial["mass"] for b, p in zip(beta, masses, strict=True)]
    f = mapped(gram, beta)
    yield sc.equal(mapped(gram, [p * v for p, v in zip(masses, w, strict=True)]), f, "E[wK] = f")
    yield sc.at_most(max(map(abs, w)), C, "max |w|")
    for v, y, value in zip(w, targets, f, strict=True):
        over = y - value
        beyond, sided = abs(over) - epsilon, v * over >= 0
        optimal = abs(v) == C if beyond > 0 else (v == 0 or (beyond == 0 and sided))
        yield sc.true(trial["mass"] == 0 or (optimal and sided) or (v == 0 and beyond <= 0), "−β ∈ C p ∂ℓ", evidence=sc.EXACT)


def on_an_interval(trial: sc.Trial) -> Iterator[sc.Instance]:
    """D uniform on [0, 1], K = xx', the optimum W' given: y = 1 (1 ≤ W' < √2) and y = x² (0 < W'² < ½)."""
    for numerator in (8, 9, 10, 11):
        yield {"target": "one", "W": Fraction(numerator, 8)}
    for numerator in (1, 2, 4, 5):
        yield {"target": "square", "W": Fraction(numerator, 8)}


def _continuous(target: str, a: Fraction) -> Fraction:
    """∫ |a x − y(x)| dx over [0, 1]."""
    if target == "one":
        return 1 - a / 2 if a <= 1 else a / 2 - 1 + 1 / a
    if a <= 0:
        return Fraction(1, 3) - a / 2
    return a**3 / 3 - a / 2 + Fraction(1, 3) if a <= 1 else a / 2 - Fraction(1, 3)


def _cost(target: str, W: Fraction) -> Fraction:
    """The C for which W' = W: W = C (∫ x over f < y − ∫ x over f > y), w = ±C; f = y at x = 1/W, or at x = W."""
    return W / (1 / W**2 - HALF) if target == "one" else W / (HALF - W**2)


def _on_a_grid(target: str, C: Fraction, N: int) -> Any:
    points = [Fraction(2 * k + 1, 2 * N) for k in range(N)]
    gram = [[a * b for b in points] for a in points]
    found = exact_goodness(gram, [Fraction(1) if target == "one" else x**2 for x in points], C)
    return sc.between(found.lower, found.upper)


@sc.claim(
    "KJ-nondisc",
    section=SECTION,
    place="Lemma 17, C.2 and E.3: distributions that are not discrete, by variational techniques",
    kind=sc.EXISTENCE,
    says=r"Lemma 17 and the first part of Theorem 6 hold for every distribution with E √K(x, x) < ∞, separable H: W' = −C E[s(x)Φ(x)] with "
    r"s(x) ∈ ∂ℓ, |s| ≤ 1, so that w = −Cs. (On [0, 1] with K = xx', y = 1 and y = x², in closed form: E[wK(x, ·)] = W'x, |w| = C, L(W') ≤ "
    r"L(a) + a²/4C; and the midpoint grids of N cells have ε_0(C) ≤ L(W') + (C + 2)/N.)",
    instances=on_an_interval,
    knobs={"constant": Fraction(1, 4), "grid": 1},
    mutants={"a²/5C": {"constant": Fraction(1, 5)}},
    note="The paper gives no proof. One: ½‖W‖² + C E ℓ is strongly convex and continuous, so that W' exists, and the subdifferential of E "
    "ℓ consists of the integrals of the measurable selections of ∂ℓ·Φ (Ioffe & Tikhomirov; Rockafellar & Wets, Theorem 14.60). On the "
    "grid w_j with w_jx_j/N = ∫ wx over its cell has |w_j| ≤ C and f = W'x; the midpoint rule errs by ≤ (C + 2)/4N.",
)
def weights_on_an_interval(target: str, W: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Stationarity, the bound against competitors, and grids."""
    C = _cost(target, W)
    crossing = 1 / W if target == "one" else W
    below = HALF * crossing**2 if target == "one" else HALF - HALF * crossing**2  # ∫ x over f < y
    yield sc.equal(C * below - C * (HALF - below), W, "E[w(x') x']")
    loss = _continuous(target, W)
    for k in range(-8, 33):
        a = Fraction(k, 8)
        yield sc.at_most(loss, _continuous(target, a) + trial["constant"] * a**2 / C, "L(W') ≤ L(a) + a²/4C")
    yield sc.at_most(loss, _continuous(target, 2 * W) + trial["constant"] * 4 * W**2 / C, "a = 2W'")
    for N in (2, 4, 8):
        yield sc.at_most(_on_a_grid(target, C, N), loss + (C + 2) / N, f"ε_0(C) on {N} cells")


@sc.claim(
    "KJ-Cor11",
    section=SECTION,
    place="Corollaries 11 and 24",
    kind=sc.EXISTENCE,
    says=r"A PSD kernel that is (ε_0, γ)-good for a regression problem is, for every ε_1 > 0, (ε_0 + ε_1, O(1/(ε_1γ²)), 1)-good as a "
    r"similarity: R = 1 and B = 1/(4ε_1γ²) will do. (ε_0 = L(W), γ = 1/‖W‖ for each competitor W, C = B, so ε_1 = ‖W‖²/4C; finite "
    r"domains.)",
    instances=problems,
    knobs={"constant": Fraction(1, 4)},
    mutants={"B = 1/(5ε_1γ²)": {"constant": Fraction(1, 5)}},
    note="With τ = 1 this is Theorem 6. The reason given, w̄/B ≤ 1 in Theorem 10, does not prove it: Definition 7 is not monotone in τ "
    "(KJ-Cor11-reason). 1/4 cannot be improved (two points).",
)
def good_kernels_are_good_with_full_choice(
    gram: list[list[Fraction]],
    masses: list[Fraction],
    C: Fraction,
    beta: list[Fraction],
    targets: list[Fraction],
    epsilon: Fraction,
    others: list[list[Fraction]],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """|w| ≤ B and the loss of E[wK | R = 1], R = 1."""
    w = [b / p for b, p in zip(beta, masses, strict=True)]
    loss = insensitive_loss(masses, targets, mapped(gram, [p * v for p, v in zip(masses, w, strict=True)]), epsilon)
    for a in others:
        inverse = squared_norm(gram, a)
        if inverse:
            epsilon_1 = inverse / (4 * C)
            yield sc.at_most(loss, insensitive_loss(masses, targets, mapped(gram, a), epsilon) + epsilon_1, "loss")
            yield sc.at_most(max(map(abs, w)), trial["constant"] * inverse / epsilon_1, "max |w|")


def rare_landmarks(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K(·, a) = 1, K(·, b) = 0, y = 1, with masses τ and 1 − τ."""
    for tau in (Fraction(1, 10), Fraction(1, 1000)):
        yield {"tau": tau, "B": 1}


@sc.claim(
    "KJ-Cor11-reason",
    section=SECTION,
    place="After Corollary 24: the weak inequality w̄/B ≤ 1",
    kind=sc.COUNTEREXAMPLE,
    says=r"(ε_0, B, τ)-goodness does not imply (ε_0, B, τ')-goodness for τ' > τ: with K(·, a) = 1, K(·, b) = 0, y = 1, masses τ and 1 − τ "
    r"and ε = 0, R = 1{x = a}, w = 1 has loss 0, but with R = 1 and |w| ≤ 1 every loss is ≥ 1 − τ.",
    instances=rare_landmarks,
    exhaustive=True,
    knobs={"radius": 1},
    mutants={"B/τ for τ' = 1": {"radius": 0}},
    note="With B/τ in the place of B it is true (second part of Theorem 10).",
)
def choice_is_not_monotone(tau: Fraction, B: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both losses: f = w for R = 1{x = a}, f = τ w(a) for R = 1."""
    radius = B if trial["radius"] else B / tau
    yield sc.equal(abs(B * tau / tau - 1), 0, "loss with τ")
    yield sc.at_least(1 - min(tau * radius, ONE), 1 - tau, "least loss with τ' = 1")
