r"""What K Y = 0 does to M-RLSR: the degenerate case of the proof of Theorem 1, and the radius Γ of the proof of Proposition 5.1.

Small problems with integer data, m = 4 and λ = 1, are decided exactly: with n = 2, α(C) = (K + 4C I)⁻¹ Y is a formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from simopt.claims import *
from simopt.theorems.ak.rational_power import fractional
from simopt.theorems.ak.rational_ridge import Sample, dot, minus, random_samples, ridge, risk, size

SHIFTS = (Fraction(1, 1000), Fraction(1), Fraction(10))


def small_problems(trial: Trial) -> Iterator[Instance]:
    """K = F Fᵀ ≠ 0 with F in {−1, 0, 1}^{2×2} and Y in {−1, 0, 1}², Y ≠ 0, each once."""
    grams = {(a * a + b * b, a * c + b * e, c * c + e * e) for a, b, c, e in product((-1, 0, 1), repeat=4)}
    for a, b, c in sorted(grams - {(0, 0, 0)}):
        for Y in product((-1, 0, 1), repeat=2):
            if any(Y):
                yield {"gram": [[a, b], [b, c]], "targets": list(Y)}


def invertible_problems(trial: Trial) -> Iterator[Instance]:
    """Those with det K ≠ 0."""
    for instance in small_problems(trial):
        (a, b), (_, c) = instance["gram"]
        if a * c != b * b:
            yield instance


def path_norm(K: Any, Y: Any, C: Fraction) -> Any:
    """(αᵀKα)^{m/2−1} at α = (K + (λmn/2) C I)⁻¹ Y, for λ = 1, m = 4, n = 2: the first term of F(C)."""
    (a, b), (_, c) = K
    p, q = a + 4 * C, c + 4 * C
    alpha = [(q * Y[0] - b * Y[1]) / (p * q - b * b), (p * Y[1] - b * Y[0]) / (p * q - b * b)]
    return quadratic(K, alpha)


def quadratic(K: Any, u: Any) -> Any:
    """uᵀKu."""
    return total(u[i] * K[i][j] * u[j] for i in range(2) for j in range(2))


def value(K: Any, Y: Any, a: Any) -> Any:
    """(1/2)‖Y − Ka‖² + (aᵀKa)²."""
    misfit = total((Y[i] - K[i][0] * a[0] - K[i][1] * a[1]) ** 2 for i in range(2))
    return misfit / 2 + quadratic(K, a) ** 2


@claim(
    "AK-T1deg",
    paper=AUDIFFREN_KADRI,
    place="Appendix C, proof, after (13)",
    kind=EXISTENCE,
    expected=REFUTED,
    defect=MISSING_HYPOTHESIS,
    says=r"In (13), C = (Σ d_j α'_j²)^{m/2−1} = 0 only if Y = 0: for every K ⪰ 0, Y ≠ 0 and every C > 0 the sum at α(C) is positive, so "
    r"that F is defined and has a root C₀ > 0. (Tried at m = 4, λ = 1, n = 2.)",
    instances=small_problems,
    exhaustive=True,
    mutants={"K invertible": {"instances": invertible_problems}},
    note="K = [[1, 1], [1, 1]], Y = (1, −1): the sum is 0 for every C, so f = 0 and α' = 0/0 at C₀ = 0 (m > 2), 0 to a negative power "
    "(m < 2).",
)
def only_zero_targets_are_degenerate(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The first term of F at three values of C."""
    K, Y = inputs(K=instance["gram"], Y=instance["targets"])
    for C in SHIFTS:
        yield at_least(path_norm(K, Y, C), 0, f"(Σ d α'²)^(m/2−1) at C = {C}", strict=True)


def product_with_gram(K: Any, Y: Any) -> list[Any]:
    """K Y."""
    return [K[i][0] * Y[0] + K[i][1] * Y[1] for i in range(2)]


def targets_alone(K: Any, Y: Any) -> list[Any]:
    """Y."""
    return list(Y)


@claim(
    "AK-T1deg+",
    paper=AUDIFFREN_KADRI,
    place="Appendix C, proof, after (13), corrected",
    kind=EXISTENCE,
    expected=HOLDS,
    says=r"For m > 1 and λ > 0 the sum Σ d_j α'_j² at α(C) vanishes (for one C > 0, and then for all) if and only if K Y = 0, and this "
    r"is exactly when f = 0 solves (8). (Tried at m = 4, λ = 1, n = 2: if K Y = 0 no a gives less than a = 0; if K Y ≠ 0 some a = εKY, "
    r"even ε = 1/64, does.)",
    remains="problems other than those listed: other n, K, Y, m and λ",
    instances=small_problems,
    exhaustive=True,
    knobs={"criterion": product_with_gram},
    mutants={"Y = 0 instead of K Y = 0": {"criterion": targets_alone}},
    corrects="AK-T1deg",
    note="The proof file covers the problems listed: all K = F Fᵀ and Y with entries of F and Y in {−1, 0, 1}, Y ≠ 0.",
)
def degenerate_iff_no_signal(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Sum and objective on both sides of the criterion."""
    degenerate = not any(trial["criterion"](instance["gram"], instance["targets"]))
    K, Y = inputs(K=instance["gram"], Y=instance["targets"])
    for C in SHIFTS:
        term = path_norm(K, Y, C)
        yield equal(term, 0, "the sum is 0") if degenerate else at_least(term, 0, "the sum is positive", strict=True)
    at_zero = value(K, Y, [0, 0])
    if degenerate:
        gram, targets, a = instance["gram"], instance["targets"], symbols("a b")
        rise = total(entry**2 for entry in product_with_gram(gram, a)) / 2 + quadratic(gram, a) ** 2
        yield equal(value(gram, targets, a) - value(gram, targets, [0, 0]), rise, "objective at a and at 0: squares")
    else:
        step = [entry / 64 for entry in product_with_gram(K, Y)]
        yield at_most(value(K, Y, step), at_zero, "objective at KY/64 and at 0", strict=True)


def opposite_targets(trial: Trial) -> Iterator[Instance]:
    """x = e₁ twice with the targets 1 and −1, in a space with one dimension more: f_Z = 0. Γ = 1, which stands for every Γ > 0."""
    yield {"targets": [1, -1], "solution": 0, "square of radius": 1}


def equal_targets(trial: Trial) -> Iterator[Instance]:
    """The same with the targets 2 and 2: f_Z = e₁ at m = 2, λ = 1, and Γ = ‖f_Z‖²."""
    yield {"targets": [2, 2], "solution": 1, "square of radius": 1}


@claim(
    "AK-P5.1Gam",
    paper=AUDIFFREN_KADRI,
    place="Proposition 5.1, proof",
    kind=EXISTENCE,
    expected=REFUTED,
    defect=MISSING_HYPOTHESIS,
    says=r"For m > 1, λ > 0 and every Z there is Γ > 0 such that M-RLSR on Z is equivalent to argmin (1/n) Σ (y − f(x))² s.t. ‖f‖^m ≤ Γ: "
    r"both have the same solution f_Z, and the constrained problem no other.",
    instances=opposite_targets,
    mutants={"K Y ≠ 0": {"instances": equal_targets}},
    note="K Y = 0 and a kernel whose space is larger than the span of the k(·, x_i): f_Z = 0, and whatever Γ > 0 every g in the ball that "
    "vanishes at the inputs has the least risk too, one of them at the distance Γ^{1/m}. (The solution of least norm is f_Z for every Γ.)",
)
def constrained_problem_has_one_solution(instance: Instance, trial: Trial) -> Iterator[Check]:
    """m = 2, λ = 1: f_Z = t e₁ by its first-order condition; t e₁ + v e₂ has its risk, and is in the ball up to v² = r² − t²."""
    u, v = symbols("u v")
    samples: list[Sample] = [(1, [1, 0], y) for y in instance["targets"]]
    unseen = equal(risk(samples, [u, v]), risk(samples, [u, 0]), "the risk does not see e₂")
    t, square = inputs(t=instance["solution"], square=instance["square of radius"])
    targets = inputs(y=instance["targets"])
    solves = equal(total(y - t for y in targets) / len(targets), t, "f_Z solves M-RLSR")
    yield at_most(square - t**2, 0, "square of the distance of another solution in the ball from f_Z").given(unseen, solves)


def sets_with_signal(trial: Trial) -> Iterator[Instance]:
    """Rational training sets of the plane with K Y ≠ 0, a KRR parameter μ/n, a power, and points to compare with."""
    made = 0
    while made < trial.count(40, 400):
        samples = random_samples(trial.rng, int(trial.rng.integers(1, 5)))
        mu = Fraction(2) ** int(trial.rng.integers(-6, 7))
        if any(ridge(samples, mu, 2)):
            made += 1
            others = [[Fraction(int(k), 8) for k in trial.rng.integers(-8, 9, size=2)] for _ in range(6)]
            power = Fraction(int(trial.rng.integers(5, 21)), 4)
            yield {"samples": samples, "mu": mu, "power": power, "directions": others}


def sets_without_signal(trial: Trial) -> Iterator[Instance]:
    """One point seen twice, with opposite targets."""
    x = [Fraction(1), Fraction(0)]
    samples = [(1, x, Fraction(1)), (1, x, Fraction(-1))]
    yield {"samples": samples, "mu": Fraction(1), "power": Fraction(3), "directions": [[Fraction(1), Fraction(1)]]}


@claim(
    "AK-P5.1Gam+",
    paper=AUDIFFREN_KADRI,
    place="Proposition 5.1, proof, corrected",
    kind=EXISTENCE,
    expected=HOLDS,
    says=r"Let m > 1, λ > 0 and **K Y ≠ 0**. Then M-RLSR on Z is the constrained problem argmin (1/n) Σ (y − f(x))² s.t. ‖f‖^m ≤ Γ with "
    r"Γ = ‖f_Z‖^m > 0: every v with ‖v‖^m ≤ Γ has risk(v) − risk(f_Z) ≥ (μ/n)(‖f_Z‖² − ‖v‖² + ‖v − f_Z‖²) ≥ 0, μ = (nλm/2)‖f_Z‖^{m−2}.",
    instances=sets_with_signal,
    resolution=0.0,
    knobs={"radius": Fraction(1)},
    mutants={"K Y = 0": {"instances": sets_without_signal}, "a ball three times as large": {"radius": Fraction(3)}},
    corrects="AK-P5.1Gam",
    note="If K Y = 0 then Γ = 0, against the printed Γ > 0. f_Z is taken on the ridge path at μ, which is M-RLSR's λ = 2μ/(mn‖f‖^{m−2}).",
)
def radius_of_constrained_form_is_positive(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Γ, and the risk of points inside and on the sphere of radius ‖f_Z‖; scaling v into the ball by a rational bound on its norm."""
    samples, mu, m = instance["samples"], instance["mu"], instance["power"]
    w = ridge(samples, mu, 2)
    square = dot(w, w)
    yield at_least(fractional(square, m / 2), 0, "Γ", strict=True)
    for direction in instance["directions"]:
        # 2⟨w, u⟩/⟨u, u⟩ u is the second point in which the line through w reflected at u meets the sphere: rational, and on it.
        length = dot(direction, direction)
        if length == 0:
            continue
        factor = trial["radius"] * 2 * dot(w, direction) / length
        v = [trial["radius"] * a - factor * b for a, b in zip(w, direction, strict=True)]
        for t in (Fraction(1), Fraction(1, 2), Fraction(0)):
            inside = [t * a for a in v]
            apart = minus(inside, w)
            room = mu / size(samples) * (square - dot(inside, inside) + dot(apart, apart))
            yield at_least(risk(samples, inside) - risk(samples, w), room, "risk(v) − risk(f_Z)")
            yield at_least(room, 0, "room inside the ball")
