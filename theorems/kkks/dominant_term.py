r"""Section 5.1, after Lemma 3: 'η₂ is clearly the dominant term', η₁ the bound of Lemma 2 and η₂ one of those of Proposition 1.

With ρ = (L/m)^{1/12}, L = log(m/δ), the bound η₁ is of the order of ρ⁶, the two forms of η₂ are at least C ρ⁴ and C ρ³. So the sentence is
about L/m: below 1 it is true, above 1 it is not. But there both η₂ exceed C, and a mean of |ŷ − ỹ| ≤ 1 needs no bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kkks.rational_lpav import lpav
from simopt.theorems.kkks.rational_tron import mean

CITATION = "Section 5.1, after Lemma 3, 'η₂ is clearly the dominant term'"


@sc.claim(
    "KK-eta2",
    place=CITATION,
    kind=sc.INEQUALITY,
    says=r"Let W ≥ 1, d ≥ 1, 0 < δ < 1, **m ≥ 2 and L = log(m/δ) ≤ m**; L' = log(Wm/δ) ≥ L. Then η₁ = 2(1 + √(log(1/δ)/2))/√m is at most "
    r"2√2 (L/m)^{1/2}, and so at most 2√2 times (dW²L'/m)^{1/3} and (W²L/m)^{1/4}; the quotients are at most 2√2 (L/m)^{1/6} and 2√2 "
    r"(L/m)^{1/4}. Because with log(1/δ) = 2s² and log m = ℓ ≥ log 2 > 2/3, 8(ℓ + 2s²) − 4(1 + s)² = 8(ℓ − 2/3) + 12(s − 1/3)²; with L/m = "
    r"ρ^{12}, ρ⁴ − ρ⁶ = ρ⁴(1 − ρ)(1 + ρ) and ρ³ − ρ⁶ = ρ³(1 − ρ)(1 + ρ + ρ²); and dW²L' − L = (d − 1)W²L' + (W² − 1)L' + (L' − L), W²L − L "
    r"= (W² − 1)L.",
    exhaustive=True,
    resolution=0.0,
    knobs={"eight": 8},
    mutants={"√2 for 2√2": {"eight": 2}},
    note="In bold: ours; W ≥ 1 is said in A.1. So η₁ + η₂ ≤ (1 + 2√2/C)η₂, C the constant of Proposition 1, of which KK-P1+ is what holds. "
    "Where L > m the sentence fails (KK-eta2-where), without loss. It is about the bounds: of what they bound either may be the larger "
    "(KK-eta2-terms).",
)
def first_bound_is_the_smaller(trial: sc.Trial) -> Iterator[sc.Check]:
    """log 2 > 2/3, then the identities."""
    s, length, rho, d, W, L, more = sc.symbols("s l rho d W L more")  # l = log m, L' = more
    yield sc.at_least(sc.log(sc.rational(2)), Fraction(2, 3), "log 2 > 2/3", strict=True)
    eight = trial["eight"]
    squares = eight * (length - Fraction(2, 3)) + 12 * (s - Fraction(1, 3)) ** 2
    yield sc.equal(eight * (length + 2 * s**2) - 4 * (1 + s) ** 2, squares, "8L/m − η₁², times m")
    yield sc.equal(rho**4 - rho**6, rho**4 * (1 - rho) * (1 + rho), "(L/m)^{1/3} − (L/m)^{1/2}")
    yield sc.equal(rho**3 - rho**6, rho**3 * (1 - rho) * (1 + rho + rho**2), "(L/m)^{1/4} − (L/m)^{1/2}")
    yield sc.equal(d * W**2 * more - L, (d - 1) * W**2 * more + (W**2 - 1) * more + (more - L), "dW²L' − L")
    yield sc.equal(W**2 * L - L, (W**2 - 1) * L, "W²L − L")


@sc.claim(
    "KK-eta2-where",
    place=CITATION + ", where log(m/δ) > m",
    kind=sc.COUNTEREXAMPLE,
    says=r"For every n ≥ 1 there are δ and m with η₁ > n η₂ for both forms without their constant: d = W = 1, m = 2, log(1/δ) = 2s², s = "
    r"n³. For η₁ > √2 s, and log(2/δ)/2 ≤ 2s² as log 2 ≤ 1 ≤ 2s²; and 8s⁶ − n⁶(2s²)² = 4n^{18}, 4s⁴ − n⁴ · 2s² = 2n^{10}(2n² − 1), where "
    r"2n² − 1 = 1 + 2(n − 1)(n + 1).",
    exhaustive=True,
    resolution=0.0,
    knobs={"power": 3},
    mutants={"s = n": {"power": 1}},
    note="With C in Proposition 1 take n above C times what is asked. Nothing is lost there: L > m, so η₂ > C, while a mean of |ŷ − ỹ| and "
    "the norm of a mean of (y − ȳ)x never exceed 1.",
)
def first_bound_is_the_larger(trial: sc.Trial) -> Iterator[sc.Check]:
    """log 2 ≤ 1, the sixth and the fourth power of η₁ = √2 s, and those of n η₂."""
    (n,) = sc.symbols("n")
    s = n ** trial["power"]
    yield sc.at_most(sc.log(sc.rational(2)), 1, "log 2")
    yield sc.equal(8 * s**6 - n**6 * (2 * s**2) ** 2, 4 * n**18, "η₁⁶ − (n η₂)⁶, η₂ = (2s²)^{1/3}")
    yield sc.equal(4 * s**4 - n**4 * 2 * s**2, 2 * n**10 * (2 * n**2 - 1), "η₁⁴ − (n η₂)⁴, η₂ = (2s²)^{1/4}")
    yield sc.equal(2 * n**2 - 1, 1 + 2 * (n - 1) * (n + 1), "2n² − 1")


def two_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """x = ±1, E[y|x] = 1/2, the first iterate w = 0: labels 1 and 0, and labels 1 and 1."""
    yield {"x": [1, -1], "y": [1, 0], "larger": 1}
    yield {"x": [1, -1], "y": [1, 1], "larger": 2}


@sc.claim(
    "KK-eta2-terms",
    place=CITATION + ", of the terms themselves",
    kind=sc.COUNTEREXAMPLE,
    says=r"x = ±1, u = 1/2, t = 1 (w^1 = 0): with the labels 1, 0 ‖mean (y − ȳ)x‖ = 1/2 and mean |ŷ − ỹ| = 0; with the labels 1, 1 it is "
    r"the other way round. So either of the terms that η₁ and η₂ bound in Lemma 3 may be the larger.",
    instances=two_samples,
    exhaustive=True,
    resolution=0.0,
    knobs={"tied": 0},
    mutants={"w^1 = 1/2": {"tied": Fraction(1, 2)}},
)
def either_term_may_be_the_larger(x: list[int], y: list[int], larger: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both terms of one sample, the fits by LPAV."""
    points, labels = [Fraction(v) for v in x], [Fraction(v) for v in y]
    half = [Fraction(1, 2)] * len(x)
    z = [trial["tied"] * v for v in points]
    noise = abs(mean([(a - b) * v for a, b, v in zip(labels, half, points, strict=True)], [1] * len(x)))
    fits = mean([abs(a - b) for a, b in zip(lpav(z, labels), lpav(z, half), strict=True)], [1] * len(x))
    found = (noise, fits) if larger == 1 else (fits, noise)
    yield sc.equal(list(found), [Fraction(1, 2), Fraction(0)], f"labels {y}")
