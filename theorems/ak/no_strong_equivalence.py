"""What follows Proposition 5.1: for m ≠ 2 M-RLSR and KRR are not strongly equivalent, and Assumptions 1 and 2 fail."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import (
    AUDIFFREN_KADRI,
    COUNTEREXAMPLE,
    HOLDS,
    Check,
    Expr,
    Instance,
    Trial,
    at_least,
    claim,
    equal,
    inputs,
    root,
    symbols,
)

HALVES = tuple(range(3, 25))  # 2m: m = 3/2, 2, 5/2, …, 12


def one_sample_two_targets(trial: Trial) -> Iterator[Instance]:
    """n = K = λ = 1, m a multiple of 1/2 other than 2; solutions f = 1 and f = 4 (squares, so that their powers are rational)."""
    for twice in HALVES:
        if twice != 4:
            yield {"twice": twice, "one": 1, "two": 2}


def one_sample_quadratic(trial: Trial) -> Iterator[Instance]:
    """The same with m = 2."""
    yield {"twice": 4, "one": 1, "two": 2}


@claim(
    "AK-P5.1ns",
    paper=AUDIFFREN_KADRI,
    place="after Proposition 5.1",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"For m = 3/2, 5/2, 3, 7/2, …, 12 M-RLSR and KRR are not strongly equivalent: with n = K = λ = 1 and the targets y₁, y₂ whose "
    r"M-RLSR solutions are f₁ = 1 and f₂ = 4, Φ(1, Z₁) ≠ Φ(1, Z₂), and KRR with Φ(1, Z₁) does not give f₂ on Z₂.",
    instances=one_sample_two_targets,
    exhaustive=True,
    mutants={"m = 2": {"instances": one_sample_quadratic}},
    note="y = f + (m/2) f^{m−1} and Φ = (m/2) f^{m−2}; the same family serves every m ≠ 2, since 4^{m−2} ≠ 1. For m = 3 and y = 1, 2 the "
    "values are Φ = (√7 − 1)/2 and (√13 − 1)/2 (a test compares them).",
)
def one_map_does_not_serve_two_sets(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The first-order conditions of both problems on both sets, exactly, and what differs."""
    half = Fraction(instance["twice"], 4)
    data = inputs(one=instance["one"], two=instance["two"])
    maps, targets, solutions = [], [], []
    for t in data:
        f, bend, phi = t**2, half * t ** (instance["twice"] - 2), half * t ** (instance["twice"] - 4)
        y = f + bend
        yield equal(2 * (f - y) + 2 * half * t ** (instance["twice"] - 2), 0, "M-RLSR: 2(f − y) + m f^{m−1} = 0")
        yield equal((f - y) + phi * f, 0, "KRR: (f − y) + Φ f = 0")
        maps.append(phi)
        targets.append(y)
        solutions.append(f)
    yield at_least(abs(maps[0] - maps[1]), 0, "|Φ(1, Z₁) − Φ(1, Z₂)|", strict=True)
    yield at_least(abs(targets[1] / (1 + maps[0]) - solutions[1]), 0, "|KRR(Φ(1, Z₁))(Z₂) − M-RLSR(1)(Z₂)|", strict=True)


def candidate_constants(trial: Trial) -> Iterator[Instance]:
    """Constants that Assumptions 1 and 2 might hold with."""
    for k in range(13):
        yield {"constant": 10**k}


def ridge_of_copies(m: Fraction, lam: Expr, mean: Fraction) -> Expr:
    """Φ(λ, Z) for equal inputs with k = 1 and mean target ȳ: Φ (1 + Φ)^{m−2} = (m/2) λ ȳ^{m−2}, solved for m = 3, 2 and 3/2."""
    if m == 3:
        return (root(1 + 6 * lam * mean) - 1) / 2
    if m == 2:
        return lam
    c = Fraction(9, 16) * lam**2 / mean
    return (c + root(c**2 + 4 * c)) / 2


@claim(
    "AK-P5.1as",
    paper=AUDIFFREN_KADRI,
    place="after Proposition 5.1",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"Assumptions 1 and 2 fail for M-RLSR and KRR (m = 3 and m = 3/2). Assumption 1: for every constant M, Z = ((x, 1), (x, 1/2)) "
    r"with k(x, x) = 1 has |Φ(λ, Z) − Φ(λ, Z²)| > M at λ = (100 M)². Assumption 2: for every M, one sample x = 1/(2M), y = 1 with "
    r"k(x, x') = xx' and m = 3 has ‖A(λ₁)(Z) − A(λ₂)(Z)‖ > M |λ₁ − λ₂| for two λ near 0. (The proof file covers M = 1, 10, 100, …, 10¹².)",
    remains="constants M other than those listed, and that the roots of these equations are the Φ and the solutions of the sentence",
    instances=candidate_constants,
    exhaustive=True,
    knobs={"powers": (Fraction(3), Fraction(3, 2))},
    mutants={"m = 2": {"powers": (Fraction(2),)}},
    note="The sets are formulas in M and the differences grow like √λ and λ², so that every M is "
    "passed. For m = 2 Φ = λ and Assumption 1 holds with C = 0; Assumption 2 fails for KRR too (AK-A2).",
)
def differences_pass_every_constant(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Φ on Z and on Z without its second sample from closed forms, which come first, and the secant of one sample near λ = 0."""
    r, c = symbols("r c")
    yield equal((r - 1) / 2 * (1 + (r - 1) / 2), (r**2 - 1) / 4, "m = 3: Φ(1 + Φ) = (3/2) λ ȳ with r² = 1 + 6 λ ȳ")
    yield equal(((c + r) / 2) ** 2 - c * (1 + (c + r) / 2), (r**2 - c**2 - 4 * c) / 4, "m = 3/2: Φ² = c(1 + Φ) with r² = c² + 4c")
    M = inputs(constant=instance["constant"])
    lam = (100 * M) ** 2
    for m in trial["powers"]:
        both, first = (ridge_of_copies(m, lam, mean) for mean in (Fraction(3, 4), Fraction(1)))
        yield at_least(abs(first - both), M, f"|Φ(λ, Z) − Φ(λ, Z²)|, m = {m}", strict=True)
    # One sample, m = 3: w = (1 − δ)/ε solves the problem for λ = 2 δ ε³ / (3 (1 − δ)²); δ = 1/2 and 1/4.
    eps = 1 / (2 * M)
    far, near = ((1 - delta) / eps for delta in (Fraction(1, 2), Fraction(1, 4)))
    strengths = [2 * delta * eps**3 / (3 * (1 - delta) ** 2) for delta in (Fraction(1, 2), Fraction(1, 4))]
    for w, strength in ((far, strengths[0]), (near, strengths[1])):
        yield equal(2 * eps * (eps * w - 1) + 3 * strength * w**2, 0, "2ε(εw − 1) + 3λw² = 0")
    yield at_least((near - far) / (strengths[0] - strengths[1]), M, "|A(λ₁)(Z) − A(λ₂)(Z)| / |λ₁ − λ₂|", strict=True)
