r"""Theorem 8 (21): of d landmarks a share τ is informative, and the sparse combination of these is near f. Exact binomial probabilities.

Informative landmarks are of two types, of probability qτ and (1 − q)τ, with columns w_1K(·, 1), w_2K(·, 2); among d draws m are
informative, a of the first type. f̃ = (a/m) w_1K_1 + (1 − a/m) w_2K_2, so that E_x |f̃ − f| = |a/m − q| G with
G = E_x |w_1K_1 − w_2K_2| ≤ 2B; f̃ = 0 if m = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import comb

import simopt.claims as sc
from simopt.theorems.small_worlds.exact_tails import logarithm

SECTION = "regression"
ONE, ZERO = Fraction(1), Fraction(0)


@cache
def far(m: int, q: Fraction, limit: Fraction) -> Fraction:
    """P(|a/m − q| > limit) for a ~ Bin(m, q)."""
    a, b = q.numerator, q.denominator - q.numerator
    bad = (k for k in range(m + 1) if abs(Fraction(k, m) - q) > limit)
    return Fraction(sum(comb(m, k) * a**k * b ** (m - k) for k in bad), q.denominator**m)


def excess(tau: Fraction, q: Fraction, d: int, limit: Fraction, most: int) -> tuple[Fraction, Fraction]:
    """Bounds on P(E_x |f̃ − f| > limit or m > most) over d landmarks, B = 1, |f| ≤ 1, G = 2; terms below 10⁻¹⁸ are left undecided."""
    a, b, unit = tau.numerator, tau.denominator - tau.numerator, tau.denominator**d
    low = unsure = ZERO
    for m in range(d + 1):
        weight = comb(d, m) * a**m * b ** (d - m)
        if weight * 10**18 < unit and m <= most:
            unsure += Fraction(weight, unit)
        elif m > most or (m == 0 and limit < 1):
            low += Fraction(weight, unit)
        elif m:
            low += Fraction(weight, unit) * far(m, q, limit / 2)
    return low, low + unsure


def settings(trial: sc.Trial) -> Iterator[sc.Instance]:
    """τ, q, ε_1 and δ."""
    for tau, q, epsilon_1, delta in (
        ("1/2", "1/2", "1/2", "1/10"),
        ("1/5", "1/2", "3/4", "1/5"),
        ("1", "1/3", "1/2", "1/100"),
        ("1/4", "1/10", "3/4", "1/3"),
    ):
        yield {"tau": Fraction(tau), "q": Fraction(q), "epsilon_1": Fraction(epsilon_1), "delta": Fraction(delta)}


@sc.claim(
    "KJ-Thm8a",
    section=SECTION,
    place="Theorems 8 and 21",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let **|K| ≤ 1** and let K be (ε_0, B, τ)-good. For some d = O(B² log(1/δ)/(τε_1²)), δ ≤ 1/2, with probability ≥ 1 − δ over d "
    r"landmarks, some w with ‖w‖₁ ≤ B has E ℓ_ε(⟨w, Ψ(x)⟩, y) ≤ ε_0 + ε_1, Ψ = (K(·, x_i)); and (row KJ-Thm8b) with the same probability "
    r"‖w‖₀ ≤ 3dτ/2 at once. With Λ = log(3/δ), d ≥ max{2(B/ε_1)²(1 + √(2Λ))², 10Λ}/τ will do. (Two types of informative landmarks, the "
    r"worst case E_x|f̃ − f| = 2B|a/m − q|; exactly.)",
    instances=settings,
    covers=("KJ-Thm8b",),
    knobs={"share": ONE},
    mutants={"a sixteenth of d": {"share": Fraction(1, 16)}},
    note="Chernoff's bounds for m ≥ dτ/2 and m ≤ 3dτ/2, KJ-L15+ given m, δ/3 each. The theorem has ε_1 ≤ B in mind: for ε_1 > B w = 0 "
    "will do, and then ‖w‖₀ ≤ 3dτ/2 costs nothing.",
)
def sparse_predictor_exists(tau: Fraction, delta: Fraction, epsilon_1: Fraction, q: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The probability that the loss or the number of entries is too large."""
    level = logarithm(3 / delta)
    need = max(2 / float(epsilon_1) ** 2 * (1 + math.sqrt(2 * float(level))) ** 2, 10 * float(level)) / float(tau)
    d = max(1, math.ceil(trial["share"] * Fraction(need)))
    most = math.floor(3 * d * tau / 2)
    yield sc.probability(*excess(tau, q, d, epsilon_1, d), delta, f"excess loss, d = {d}")
    yield sc.probability(*excess(tau, q, d, epsilon_1, most), delta, f"excess loss or too many entries, d = {d}", row="KJ-Thm8b")


def tail(n: int, p: Fraction, least: int) -> Fraction:
    """P(Bin(n, p) ≥ least)."""
    a, b = p.numerator, p.denominator - p.numerator
    return Fraction(sum(comb(n, k) * a**k * b ** (n - k) for k in range(max(0, least), n + 1)), p.denominator**n)


def densities(trial: sc.Trial) -> Iterator[sc.Instance]:
    """τ and δ."""
    for tau in ("1/2", "1/5", "1/20", "1/100")[: trial.count(3, 4)]:
        for delta in ("1/2", "1/10", "1/100"):
            yield {"tau": Fraction(tau), "delta": Fraction(delta)}


@sc.claim(
    "KJ-Thm8b-tail",
    section=SECTION,
    place="Proof of Theorem 8, the upper Chernoff bound, ours: with its condition",
    kind=sc.HIGH_PROBABILITY,
    says=r"P(m > 3dτ/2) ≤ δ for m ~ Bin(d, τ) if d ≥ c log(1/δ)/τ with c = 1/((3/2) log(3/2) − 1/2) = 9.25.",
    instances=densities,
    knobs={"share": ONE},
    mutants={"log(1/δ)/τ": {"share": Fraction(1, 9)}},
)
def few_are_informative(tau: Fraction, delta: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """The exact tail at the smallest d."""
    c = 1 / (1.5 * math.log(1.5) - 0.5)
    d = max(1, math.ceil(trial["share"] * Fraction(c * math.log(1 / delta)) / tau))
    bad = tail(d, tau, math.floor(3 * d * tau / 2) + 1)
    yield sc.probability(bad, bad, delta, f"P(m > 3dτ/2), d = {d}")


@sc.claim(
    "KJ-Thm8-l1",
    section=SECTION,
    place="Proof of Theorem 21, ‖w‖₁ ≤ B",
    kind=sc.IDENTITY,
    says=r"w_i = w(x_i)R(x_i)/m with m = Σ R(x_i) > 0 informative landmarks has B − ‖w‖₁ = Σ (B − |w(x_i)|)/m over the informative ones, "
    r"which is ≥ 0. (In symbols, term by term: m terms B/m make B; w = 0 if m = 0.)",
    instances=lambda trial: iter([{}]),
    exhaustive=True,
    knobs={"extra": 0},
    mutants={"m − 1/2 in the denominator": {"extra": Fraction(1, 2)}},
)
def norm_of_the_combination(trial: sc.Trial) -> Iterator[sc.Check]:
    """The identity, v_i = |w(x_i)|."""
    B, m, v = sc.symbols("B m v")
    yield sc.equal(B / m - v / (m - trial["extra"]), (B - v) / m, "B − ‖w‖₁, one term")
