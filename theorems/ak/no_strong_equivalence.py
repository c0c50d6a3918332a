"""What follows Proposition 5.1: for m ≠ 2 M-RLSR and KRR are not strongly equivalent, and Assumptions 1 and 2 fail."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *

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


def nothing_given(trial: Trial) -> Iterator[Instance]:
    """No data: M, m and the powers of 4 are symbols."""
    yield {}


def ratio_of_maps(q: Expr) -> Expr:
    """4^{m−2}, which is 1 for m = 2 only."""
    return q


def ratio_of_maps_of_ridge(q: Expr) -> Expr:
    """The same at m = 2."""
    return rational(1)


@claim(
    "AK-P5.1as",
    paper=AUDIFFREN_KADRI,
    place="after Proposition 5.1",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"Assumption 1 fails for M-RLSR and KRR for every m > 1 but 2: for every M > 0 there are λ > 0 and Z of two samples with one "
    r"input, k(x, x) = 1 and y₁ = 1, such that |Φ(λ, Z) − Φ(λ, Z²)| = M + 1. Assumption 2 fails for M-RLSR for every m > 1: for every "
    r"M > 0 there are λ₁, λ₂ > 0 and Z of one sample such that ‖A(λ₁)(Z) − A(λ₂)(Z)‖ = (M + 1)|λ₁ − λ₂|.",
    remains="that the first-order condition, which the formulas state, makes the solution for m > 1 (AK-S5wp), and that "
    "q = 4^{m−2} ≠ 1 and p = 4^{m−1} > 1",
    instances=nothing_given,
    exhaustive=True,
    knobs={"ratio": ratio_of_maps, "share": 1},
    mutants={"m = 2": {"ratio": ratio_of_maps_of_ridge}, "K twice as large": {"share": 2}},
    note="Assumption 1: with L = (M + 1)/|q − 1| and c = 1/(4(1 + qL)), f_Z = c and f_{Z²} = 4c (times the function k(x, ·)) at "
    "λ = 2L c^{2−m}/m; Φ is L and qL. Assumption 2: k(x, x) = ε², y = 5ε/4 with ε² = 3m/(8(M + 1)(p − 1/4)); the solutions have norms 1 "
    "at λ₁ = ε²/(2m) and 1/4 at λ₂ = 2ε²p/m. For m = 2 Φ = λ and Assumption 1 holds with C = 0. Assumption 2 for KRR: AK-A2.",
)
def differences_pass_every_constant(instance: Instance, trial: Trial) -> Iterator[Check]:
    """First-order conditions of both learners on Z and on Z without its second sample, and of M-RLSR at two λ."""
    M, m, p, q = symbols("M m p q")
    for sign, case in ((1, "m > 2"), (-1, "m < 2")):
        bend = trial["ratio"](q)
        L = sign * (M + 1) / (q - 1)  # (m/2) λ c^{m−2}
        c = 1 / (4 * (1 + bend * L))
        second = 2 * c * (1 + L) - 1  # y₂, which makes the mean of the targets c (1 + L)
        for f, phi, targets, name in ((c, L, (1, second), "Z"), (4 * c, bend * L, (1,), "Z²")):
            residual = total(y - f for y in targets) / len(targets)
            # (m/2) λ f^{m−1} = (m/2) λ c^{m−2} (f/c)^{m−2} f, and (f/c)^{m−2} is 1 or q.
            yield equal(residual, L * (1 if name == "Z" else bend) * f, f"M-RLSR on {name}, {case}: mean of y − f = (mλ/2) f^(m−1)")
            yield equal(residual, phi * f, f"KRR on {name}, {case}: mean of y − f = Φ f")
        yield equal(sign * (bend * L - L), M + 1, f"|Φ(λ, Z) − Φ(λ, Z²)|, {case}")
    square = trial["share"] * 3 * m / (8 * (M + 1) * (p - Fraction(1, 4)))  # ε²
    first, other = square / (2 * m), 2 * square * p / m
    for w, lam, power in ((1, first, 1), (Fraction(1, 4), other, 1 / p)):
        yield equal(2 * square * (Fraction(5, 4) - w), m * lam * power, f"2ε (y − εw) = mλ w^(m−1) at w = {w}")
    yield equal(Fraction(3, 4) / (other - first), M + 1, "‖A(λ₁)(Z) − A(λ₂)(Z)‖/|λ₁ − λ₂|")
