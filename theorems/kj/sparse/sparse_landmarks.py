r"""Theorem 8: of d landmarks a share τ is informative, and the sparse combination of these is near f. Exact binomial probabilities.

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

from simopt.claims import *
from simopt.theorems.small_worlds.exact_tails import ball, enclosed

SECTION = "regression"
ONE, ZERO = Fraction(1), Fraction(0)


@cache
def logarithm(value: Fraction | int) -> Expr:
    """log of a number, computed once."""
    return log(rational(value), bits=64)


def tail(n: int, p: Fraction, least: int) -> Fraction:
    """P(Bin(n, p) ≥ least)."""
    a, b = p.numerator, p.denominator - p.numerator
    return Fraction(sum(comb(n, k) * a**k * b ** (n - k) for k in range(max(0, least), n + 1)), p.denominator**n)


@cache
def far(m: int, q: Fraction, limit: Fraction) -> Fraction:
    """P(|a/m − q| > limit) for a ~ Bin(m, q)."""
    a, b = q.numerator, q.denominator - q.numerator
    bad = (k for k in range(m + 1) if abs(Fraction(k, m) - q) > limit)
    return Fraction(sum(comb(m, k) * a**k * b ** (m - k) for k in bad), q.denominator**m)


def excess(instance: Instance, d: int, limit: Fraction, most: int) -> tuple[Fraction, Fraction]:
    """Bounds on P(E_x |f̃ − f| > limit or m > most) over d landmarks, B = 1, |f| ≤ 1, G = 2; terms below 10⁻¹⁸ are left undecided."""
    tau, q = instance["tau"], instance["q"]
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


def settings(trial: Trial) -> Iterator[Instance]:
    """τ, q, ε_1 and δ."""
    for tau, q, epsilon_1, delta in (
        ("1/2", "1/2", "1/2", "1/10"),
        ("1/5", "1/2", "3/4", "1/5"),
        ("1", "1/3", "1/2", "1/100"),
        ("1/4", "1/10", "3/4", "1/3"),
    ):
        yield {"tau": Fraction(tau), "q": Fraction(q), "epsilon_1": Fraction(epsilon_1), "delta": Fraction(delta)}


@claim(
    "KJ-Thm8a",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorems 8 and 21",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"Let **|K| ≤ 1** and let K be (ε_0, B, τ)-good. For some d = O(B² log(1/δ)/(τε_1²)), with probability ≥ 1 − δ over d landmarks, "
    r"some w with ‖w‖₁ ≤ B has E ℓ_ε(⟨w, Ψ(x)⟩, y) ≤ ε_0 + ε_1, Ψ = (K(·, x_i)); and (row KJ-Thm8b) with the same probability ‖w‖₀ ≤ "
    r"3dτ/2 at once. With Λ = log(3/δ), d ≥ max{2(B/ε_1)²(1 + √(2Λ))², 10Λ}/τ will do. (Two types of informative landmarks, the worst "
    r"case E_x|f̃ − f| = 2B|a/m − q|; exactly.)",
    instances=settings,
    covers=("KJ-Thm8b",),
    knobs={"share": ONE},
    mutants={"a sixteenth of d": {"share": Fraction(1, 16)}},
    note="Chernoff's bounds for m ≥ dτ/2 and m ≤ 3dτ/2, KJ-L15+ given m, δ/3 each. The theorem has ε_1 ≤ B in mind: for ε_1 > B w = 0 "
    "will do, and then ‖w‖₀ ≤ 3dτ/2 costs nothing.",
    cost=2.0,
)
def sparse_predictor_exists(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The probability that the loss or the number of entries is too large."""
    tau, delta, epsilon_1 = instance["tau"], instance["delta"], instance["epsilon_1"]
    level = logarithm(3 / delta)
    need = max(2 / float(epsilon_1) ** 2 * (1 + math.sqrt(2 * float(level))) ** 2, 10 * float(level)) / float(tau)
    d = max(1, math.ceil(trial["share"] * Fraction(need)))
    most = math.floor(3 * d * tau / 2)
    yield probability(*excess(instance, d, epsilon_1, d), delta, f"excess loss, d = {d}")
    yield probability(*excess(instance, d, epsilon_1, most), delta, f"excess loss or too many entries, d = {d}", row="KJ-Thm8b")


def densities(trial: Trial) -> Iterator[Instance]:
    """τ and δ."""
    for tau in ("1/2", "1/5", "1/20", "1/100")[: trial.count(3, 4)]:
        for delta in ("1/2", "1/10", "1/100"):
            yield {"tau": Fraction(tau), "delta": Fraction(delta)}


@claim(
    "KJ-Thm8b-tail",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Theorem 8, the upper Chernoff bound, ours: with its condition",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"P(m > 3dτ/2) ≤ δ for m ~ Bin(d, τ) if d ≥ c log(1/δ)/τ with c = 1/((3/2) log(3/2) − 1/2) = 9.25.",
    instances=densities,
    knobs={"share": ONE},
    mutants={"log(1/δ)/τ": {"share": Fraction(1, 9)}},
    cost=0.5,
)
def few_are_informative(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The exact tail at the smallest d."""
    tau, delta = instance["tau"], instance["delta"]
    c = 1 / (1.5 * math.log(1.5) - 0.5)
    d = max(1, math.ceil(trial["share"] * Fraction(c * math.log(1 / delta)) / tau))
    bad = tail(d, tau, math.floor(3 * d * tau / 2) + 1)
    yield probability(bad, bad, delta, f"P(m > 3dτ/2), d = {d}")


@claim(
    "KJ-Thm8-l1",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Theorem 21, ‖w‖₁ ≤ B",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"w_i = w(x_i)R(x_i)/m with m = Σ R(x_i) > 0 informative landmarks has B − ‖w‖₁ = Σ (B − |w(x_i)|)/m over the informative ones, "
    r"which is ≥ 0. (In symbols, term by term: m terms B/m make B; w = 0 if m = 0.)",
    instances=lambda trial: iter([{}]),
    exhaustive=True,
    knobs={"extra": 0},
    mutants={"m − 1/2 in the denominator": {"extra": Fraction(1, 2)}},
)
def norm_of_the_combination(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity, v_i = |w(x_i)|."""
    B, m, v = symbols("B m v")
    yield equal(B / m - v / (m - trial["extra"]), (B - v) / m, "B − ‖w‖₁, one term")


def rare_information(trial: Trial) -> Iterator[Instance]:
    """τ = 10⁻⁶, d = 10⁵, δ = 1/2; K(·, x') = 1 for informative x', else 0; y = B, w = B."""
    yield {"tau": Fraction(1, 10**6), "d": 10**5, "delta": Fraction(1, 2)}
    yield {"tau": Fraction(1, 10**9), "d": 10**7, "delta": Fraction(9, 10)}


@claim(
    "KJ-Thm9-p1",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Theorem 23, first line",
    kind=HIGH_PROBABILITY,
    expected=REFUTED,
    defect=TYPO,
    says=r"The excess loss due to landmarking is at most 32B √(log(1/(τδ))/d) with probability ≥ 1 − δ.",
    instances=rare_information,
    knobs={"printed": 1},
    mutants={"32B √(log(1/δ)/(τd))": {"printed": 0}},
    note="K(·, x') = 1 on a set of mass τ = 10⁻⁶, else 0, y = w = B: without an informative landmark every predictor is 0, the excess B. "
    "With d = 10⁵ that has probability 0.905, δ = 1/2, and the bound is 0.385B. Two lines later τ stands in the denominator, as in "
    "Theorem 8 (KJ-Thm9-p1+).",
)
def excess_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """(1 − τ)^d where the bound is below B."""
    tau, d, delta = instance["tau"], instance["d"], instance["delta"]
    bound = 32 * root((logarithm(1 / (tau * delta)) / d) if trial["printed"] else logarithm(1 / delta) / (tau * d), bits=64)
    none = enclosed((ball(1 - tau).log() * ball(d)).exp())
    if bound.low >= 1:
        none = enclosed(ball(0))  # no excess is larger
    yield probability(none, none, delta, f"P(excess > {float(bound):.3g} B), d = {d}")


def larger_sizes(trial: Trial) -> Iterator[Instance]:
    """τ, q, d and δ with τd ≥ 8 log(1/δ)."""
    for tau, q, d, delta in (("1/2", "1/2", 160, "1/2"), ("1", "1/5", 60, "1/3"), ("3/4", "1/2", 90, "1/10"), ("1/10", "1/2", 400, "1/50")):
        yield {"tau": Fraction(tau), "q": Fraction(q), "d": d, "delta": Fraction(delta)}
    yield {"tau": Fraction(1), "q": Fraction(1, 2), "d": 32, "delta": Fraction(1, 50)}


@claim(
    "KJ-Thm9-p1+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Theorem 23, second form of the excess",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"If **|K| ≤ 1**, τd ≥ 8 log(1/δ) and δ ≤ 1/2, the excess loss due to landmarking is at most B √(2/(τd)) (1 + √(2 log(1/δ))) ≤ "
    r"32B √(log(1/δ)/(τd)) with probability ≥ 1 − 2δ. (Two types of informative landmarks, exactly.)",
    instances=larger_sizes,
    knobs={"share": ONE},
    mutants={"a fourth": {"share": Fraction(1, 4)}},
    corrects="KJ-Thm9-p1",
    note="m ≥ τd/2 informative landmarks with probability ≥ 1 − δ (Chernoff), then KJ-L15+.",
    cost=1.5,
)
def excess_with_density(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The exact probability, and the comparison with the printed constant."""
    tau, d, delta = instance["tau"], instance["d"], instance["delta"]
    level = logarithm(1 / delta)
    bound = trial["share"] * root(2 / (tau * d), bits=64) * (1 + root(2 * level, bits=64))
    yield at_most(bound, 32 * root(level / (tau * d), bits=64), "against 32B √(log(1/δ)/(τd))")
    yield probability(*excess(instance, d, Fraction(bound.low), d), 2 * delta, f"P(excess > {float(bound):.3f} B), d = {d}")
