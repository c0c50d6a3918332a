r"""Proposition 5.1: M-RLSR is weakly equivalent to KRR, with Φ = (mλ/2) C₀, if K Y ≠ 0; for m ≠ 2 it is not strongly equivalent.

Along the ridge path λ = 2λ₂/(m t^{m−2}), t = ‖f_{λ₂}‖, and −1 ≤ d log t / d log λ₂ ≤ 0. So d log λ / d log λ₂ = 1 − (m − 2)
d log t / d log λ₂ lies between min(1, m − 1) and max(1, m − 1). λ ↦ λ₂ is an increasing bijection of (0, ∞), for every m > 1, when t > 0.
The constrained form of the printed proof needs K Y ≠ 0 for its radius Γ as well. The sentences that follow the proposition are true: the
equivalence is not strong, and Assumptions 1 and 2 fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.data.similarities import Precomputed
from simopt.equivalence.training import TrainingSet
from simopt.theorems.ak.equivalences import m_power_rls_to_kernel_ridge
from simopt.theorems.ak.rational_power import fractional
from simopt.theorems.ak.rational_ridge import Sample, dot, minus, random_samples, ridge, risk, size
from simopt.theorems.ak.theorem_1 import gram_and_targets

POWERS = (1.05, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 7.0)
EDGES = (1e-9, 1e9)


def sets_and_parameters(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Kernels of every kind with K Y ≠ 0 and λ₂ from 1e-4 to 1e6; λ is the strength that the inverse map gives.

    Below 1e-4 the part of Y outside the range of a K of low rank, divided by nλ₂, hides f from certificates in float64.
    """
    kinds = ("gaussian", "linear", "repeated")
    for i in range(trial.count(48, 480)):
        K, y = gram_and_targets(trial.rng, kinds[i % 3])
        yield {"gram": K, "targets": y, "ridge": float(10.0 ** trial.rng.uniform(-4, 6)), "power": POWERS[i % len(POWERS)]}
    for power in POWERS:
        for strength in EDGES:
            yield {"gram": np.eye(1), "targets": np.ones(1), "ridge": strength, "power": power}


def sets_without_signal(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K Y = 0 exactly."""
    yield {"gram": np.ones((2, 2)), "targets": np.array([1.0, -1.0]), "ridge": 1.0, "power": 3.0}


def positive_and_negative_target(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Two samples at one point, k = 1, with targets of mean 0; λ = 1, m = 4."""
    yield {"targets": [1, -1], "regularization": 1, "power": 4}


def two_positive_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same with f_Z = ½: 2 (f − ȳ) + λ m f³ = 0 for ȳ = ¾."""
    yield {"targets": [1, Fraction(1, 2)], "regularization": 1, "power": 4, "size": Fraction(1, 2)}


@sc.claim(
    "AK-P5.1",
    place="Proposition 5.1",
    kind=sc.EQUIVALENCE,
    compares=("m-power-rls ~ kernel-ridge",),
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"For m > 1 and every training set Z, M-RLSR and KRR are weakly equivalent with Φ(λ, Z) = (mλ/2) C₀(Z, m, λ), C₀ = ‖f_Z‖^{m−2} "
    r"the root of F: Φ(·, Z) is a bijection of (0, ∞), so that Φ(λ, Z) > 0.",
    instances=positive_and_negative_target,
    resolution=0.0,
    mutants={"K Y ≠ 0": {"instances": two_positive_targets}},
    note="K Y = 0: two equal inputs with the targets 1 and −1 have f_Z = 0 for every λ, and for m = 4 Φ = 0, which is no parameter of KRR. "
    "Both learners are 0 on such a Z, so that any bijection would serve there; the one of the proposition does not.",
)
def link_is_a_parameter(regularization: int, power: int, targets: list[Fraction | int], size: Fraction | int = 0) -> Iterator[sc.Check]:
    """The first-order condition of f_Z, a number as all inputs are equal, and the sign of Φ at λ."""
    lam, m, f = sc.inputs(lam=regularization, m=power, f=size)
    targets = sc.inputs(y=targets)
    yield sc.equal(sc.total(2 * (f - y) for y in targets) / len(targets) + lam * m * f ** (power - 1), 0, "f_Z solves M-RLSR")
    yield sc.at_least(m * lam / 2 * f ** (power - 2), 0, "Φ(λ, Z)", strict=True)


@sc.claim(
    "AK-P5.1+",
    place="Proposition 5.1, corrected",
    kind=sc.EQUIVALENCE,
    says=r"Let m > 1 and **K Y ≠ 0**. M-RLSR with λ and KRR with λ₂ = Φ(λ, Z) = (mλ/2) C₀(Z, m, λ), C₀ = ‖f_Z‖^{m−2} the root of F, "
    r"have the same solution on Z, and Φ(·, Z) is an increasing bijection of (0, ∞): for λ₂ < λ₂', "
    r"min(1, m−1) ≤ (log λ' − log λ)/(log λ₂' − log λ₂) ≤ max(1, m−1).",
    instances=sets_and_parameters,
    resolution=1e-8,
    knobs={"factor": 1.0, "least": None},
    mutants={
        "Φ = mλ C₀": {"factor": 2.0},
        "elasticity at least 1": {"least": 1.0},
        "K Y = 0": {"instances": sets_without_signal},
    },
    note="The bounds on the elasticity give injectivity and both limits (λ₂ → 0 and → ∞ with λ), which the paper's proof leaves out. With "
    "K Y = 0 every f is 0: Φ = 0 for m > 2, not a point of (0, ∞), and undefined for m < 2; any bijection serves there.",
    corrects="AK-P5.1",
)
def power_and_ridge_have_one_path(gram: Array, targets: Array, ridge: float, power: float, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both solutions with their error radii, Φ against its formula, and the elasticity over a factor of two."""
    K, y, m, n = gram, targets, power, len(targets)
    Z = TrainingSet(np.arange(n, dtype=float)[:, None], y, Precomputed(K))
    link = m_power_rls_to_kernel_ridge(m)
    if link.exists(Z) is not None:
        yield sc.true(link.source(ridge, Z).norm() > 0, f"Φ = (mλ/2)‖f‖^{m - 2:g} ∈ (0, ∞), so ‖f‖ > 0")
        return
    lam, further = link.back(ridge, Z), link.back(2.0 * ridge, Z)
    power_rls, kernel_ridge = link.source(lam, Z), link.target(trial["factor"] * link(lam, Z), Z)
    size = power_rls.norm()
    error = (power_rls.error + kernel_ridge.error) / size
    yield sc.equal(power_rls.distance(kernel_ridge) / size, 0.0, "‖f_λ − g_Φ‖ / ‖f_λ‖", error=error)
    implied = math.log(m * lam / 2.0) + (m - 2.0) * math.log(size)
    slope = abs(m - 2.0) * power_rls.error / size
    yield sc.equal(math.log(link(lam, Z)), implied, "log Φ = log (mλ/2)‖f‖^{m−2}", error=slope + 1e-12, scale=max(1.0, abs(implied)))
    elasticity = math.log(further / lam) / math.log(2.0)
    rounding = 1e-13 * max(1.0, abs(math.log(lam))) / min(1.0, m - 1.0)
    least = min(1.0, m - 1.0) if trial["least"] is None else trial["least"]
    yield sc.at_least(elasticity, least, "elasticity from below", error=rounding)
    yield sc.at_most(elasticity, max(1.0, m - 1.0), "elasticity from above", error=rounding)


def opposite_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """x = e₁ twice with the targets 1 and −1, in a space with one dimension more: f_Z = 0. Every Γ is the square of a radius at m = 2."""
    for square in (1, Fraction(1, 10**6), 10**6):
        yield {"targets": [1, -1], "solution": 0, "square of radius": square}


def equal_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same with the targets 2 and 2: f_Z = e₁ at m = 2, λ = 1, and Γ = ‖f_Z‖²."""
    yield {"targets": [2, 2], "solution": 1, "square of radius": 1}


@sc.claim(
    "AK-P5.1Gam",
    place="Proposition 5.1, proof",
    kind=sc.EXISTENCE,
    compares=("m-power-rls ~ m-power-rls-ball",),
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"For m > 1, λ > 0 and every Z there is Γ > 0 such that M-RLSR on Z is equivalent to argmin (1/n) Σ (y − f(x))² s.t. ‖f‖^m ≤ Γ: "
    r"both have the same solution f_Z, and the constrained problem no other.",
    instances=opposite_targets,
    constants=("square of radius",),
    defeats="(0, Γ^{1/m}) is another solution in the ball for each Γ > 0. All m > 1, λ, Γ: AK_P5_1Gam_no_radius, AK_P5_1Gam_negated.",
    mutants={"K Y ≠ 0": {"instances": equal_targets}},
    note="K Y = 0 and a kernel whose space is larger than the span of the k(·, x_i): f_Z = 0, and whatever Γ > 0 every g in the ball that "
    "vanishes at the inputs has the least risk too, one of them at the distance Γ^{1/m}. (The solution of least norm is f_Z for every Γ.)",
)
def constrained_problem_has_one_solution(instance: sc.Instance, targets: list[int], solution: int) -> Iterator[sc.Check]:
    """m = 2, λ = 1: f_Z = t e₁ by its first-order condition; t e₁ + v e₂ has its risk, and is in the ball up to v² = r² − t²."""
    u, v = sc.symbols("u v")
    samples: list[Sample] = [(1, [1, 0], y) for y in targets]
    unseen = sc.equal(risk(samples, [u, v]), risk(samples, [u, 0]), "the risk does not see e₂")
    t, square = sc.inputs(t=solution, square=instance["square of radius"])
    targets = sc.inputs(y=targets)
    solves = sc.equal(sc.total(y - t for y in targets) / len(targets), t, "f_Z solves M-RLSR")
    yield sc.at_most(square - t**2, 0, "square of the distance of another solution in the ball from f_Z").assuming(unseen, solves)


def samples_with_signal(trial: sc.Trial) -> Iterator[sc.Instance]:
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


def samples_without_signal(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One point seen twice, with opposite targets."""
    x = [Fraction(1), Fraction(0)]
    samples = [(1, x, Fraction(1)), (1, x, Fraction(-1))]
    yield {"samples": samples, "mu": Fraction(1), "power": Fraction(3), "directions": [[Fraction(1), Fraction(1)]]}


@sc.claim(
    "AK-P5.1Gam+",
    place="Proposition 5.1, proof, corrected",
    kind=sc.EXISTENCE,
    says=r"Let m > 1, λ > 0 and **K Y ≠ 0**. Then M-RLSR on Z is the constrained problem argmin (1/n) Σ (y − f(x))² s.t. ‖f‖^m ≤ Γ with "
    r"Γ = ‖f_Z‖^m > 0: every v with ‖v‖^m ≤ Γ has risk(v) − risk(f_Z) ≥ (μ/n)(‖f_Z‖² − ‖v‖² + ‖v − f_Z‖²) ≥ 0, μ = (nλm/2)‖f_Z‖^{m−2}.",
    instances=samples_with_signal,
    resolution=0.0,
    knobs={"radius": Fraction(1)},
    mutants={"K Y = 0": {"instances": samples_without_signal}, "a ball three times as large": {"radius": Fraction(3)}},
    corrects="AK-P5.1Gam",
    note="The identity in the head of ivanov.py with λ = μ/n; f_Z ≠ 0 by AK-T1deg+. If K Y = 0 then Γ = 0, against the printed Γ > 0. f_Z "
    "is taken on the ridge path at μ, which is M-RLSR's λ = 2μ/(mn‖f‖^{m−2}).",
)
def radius_of_constrained_form_is_positive(
    samples: list[tuple[int, list[Fraction], Fraction]], mu: Fraction, power: Fraction, directions: list[list[Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """Γ, and the risk of points inside and on the sphere of radius ‖f_Z‖; scaling v into the ball by a rational bound on its norm."""
    m = power
    w = ridge(samples, mu, 2)
    square = dot(w, w)
    yield sc.at_least(fractional(square, m / 2), 0, "Γ", strict=True)
    for direction in directions:
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
            yield sc.at_least(risk(samples, inside) - risk(samples, w), room, "risk(v) − risk(f_Z)")
            yield sc.at_least(room, 0, "room inside the ball")


HALVES = tuple(range(3, 25))  # 2m: m = 3/2, 2, 5/2, …, 12


def one_sample_two_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """n = K = λ = 1, m a multiple of 1/2 other than 2; solutions f = 1 and f = 4 (squares, so that their powers are rational)."""
    for twice in HALVES:
        if twice != 4:
            yield {"twice": twice, "one": 1, "two": 2}


def one_sample_quadratic(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same with m = 2."""
    yield {"twice": 4, "one": 1, "two": 2}


@sc.claim(
    "AK-P5.1ns",
    place="after Proposition 5.1",
    kind=sc.COUNTEREXAMPLE,
    compares=("m-power-rls ~ kernel-ridge",),
    says=r"For m = 3/2, 5/2, 3, 7/2, …, 12 M-RLSR and KRR are not strongly equivalent: with n = K = λ = 1 and the targets y₁, y₂ whose "
    r"M-RLSR solutions are f₁ = 1 and f₂ = 4, Φ(1, Z₁) ≠ Φ(1, Z₂), and KRR with Φ(1, Z₁) does not give f₂ on Z₂.",
    instances=one_sample_two_targets,
    exhaustive=True,
    mutants={"m = 2": {"instances": one_sample_quadratic}},
    note="y = f + (m/2) f^{m−1} and Φ = (m/2) f^{m−2}; the same family serves every m ≠ 2, since 4^{m−2} ≠ 1. For m = 3 and y = 1, 2 the "
    "values are Φ = (√7 − 1)/2 and (√13 − 1)/2 (a test compares them).",
)
def one_map_does_not_serve_two_sets(twice: int, one: int, two: int) -> Iterator[sc.Check]:
    """The first-order conditions of both problems on both sets, exactly, and what differs."""
    half = Fraction(twice, 4)
    data = sc.inputs(one=one, two=two)
    maps, targets, solutions = [], [], []
    for t in data:
        f, bend, phi = t**2, half * t ** (twice - 2), half * t ** (twice - 4)
        y = f + bend
        yield sc.equal(2 * (f - y) + 2 * half * t ** (twice - 2), 0, "M-RLSR: 2(f − y) + m f^{m−1} = 0")
        yield sc.equal((f - y) + phi * f, 0, "KRR: (f − y) + Φ f = 0")
        maps.append(phi)
        targets.append(y)
        solutions.append(f)
    yield sc.at_least(abs(maps[0] - maps[1]), 0, "|Φ(1, Z₁) − Φ(1, Z₂)|", strict=True)
    yield sc.at_least(abs(targets[1] / (1 + maps[0]) - solutions[1]), 0, "|KRR(Φ(1, Z₁))(Z₂) − M-RLSR(1)(Z₂)|", strict=True)


def ratio_of_maps(q: sc.Expr) -> sc.Expr:
    """4^{m−2}, which is 1 for m = 2 only."""
    return q


def ratio_of_maps_of_ridge(q: sc.Expr) -> sc.Expr:
    """The same at m = 2."""
    return sc.rational(1)


@sc.claim(
    "AK-P5.1as",
    place="after Proposition 5.1",
    kind=sc.COUNTEREXAMPLE,
    says=r"Assumption 1 fails for M-RLSR and KRR for every m > 1 but 2: for every M > 0 there are λ > 0 and Z of two samples with one "
    r"input, k(x, x) = 1 and y₁ = 1, such that |Φ(λ, Z) − Φ(λ, Z²)| = M + 1. Assumption 2 fails for M-RLSR for every m > 1: for every "
    r"M > 0 there are λ₁, λ₂ > 0 and Z of one sample such that ‖A(λ₁)(Z) − A(λ₂)(Z)‖ = (M + 1)|λ₁ − λ₂|.",
    remains="that the first-order condition, which the formulas state, makes the solution for m > 1 (AK-S5wp), and that "
    "q = 4^{m−2} ≠ 1 and p = 4^{m−1} > 1",
    exhaustive=True,
    knobs={"ratio": ratio_of_maps, "share": 1},
    mutants={"m = 2": {"ratio": ratio_of_maps_of_ridge}, "K twice as large": {"share": 2}},
    note="Assumption 1: with L = (M + 1)/|q − 1| and c = 1/(4(1 + qL)), f_Z = c and f_{Z²} = 4c (times the function k(x, ·)) at "
    "λ = 2L c^{2−m}/m; Φ is L and qL. Assumption 2: k(x, x) = ε², y = 5ε/4 with ε² = 3m/(8(M + 1)(p − 1/4)); the solutions have norms 1 "
    "at λ₁ = ε²/(2m) and 1/4 at λ₂ = 2ε²p/m. For m = 2 Φ = λ and Assumption 1 holds with C = 0. Assumption 2 for KRR: AK-A2.",
)
def differences_pass_every_constant(trial: sc.Trial) -> Iterator[sc.Check]:
    """First-order conditions of both learners on Z and on Z without its second sample, and of M-RLSR at two λ."""
    M, m, p, q = sc.symbols("M m p q")
    for sign, case in ((1, "m > 2"), (-1, "m < 2")):
        bend = trial["ratio"](q)
        L = sign * (M + 1) / (q - 1)  # (m/2) λ c^{m−2}
        c = 1 / (4 * (1 + bend * L))
        second = 2 * c * (1 + L) - 1  # y₂, which makes the mean of the targets c (1 + L)
        for f, phi, targets, name in ((c, L, (1, second), "Z"), (4 * c, bend * L, (1,), "Z²")):
            residual = sc.total(y - f for y in targets) / len(targets)
            # (m/2) λ f^{m−1} = (m/2) λ c^{m−2} (f/c)^{m−2} f, and (f/c)^{m−2} is 1 or q.
            yield sc.equal(residual, L * (1 if name == "Z" else bend) * f, f"M-RLSR on {name}, {case}: mean of y − f = (mλ/2) f^(m−1)")
            yield sc.equal(residual, phi * f, f"KRR on {name}, {case}: mean of y − f = Φ f")
        yield sc.equal(sign * (bend * L - L), M + 1, f"|Φ(λ, Z) − Φ(λ, Z²)|, {case}")
    square = trial["share"] * 3 * m / (8 * (M + 1) * (p - Fraction(1, 4)))  # ε²
    first, other = square / (2 * m), 2 * square * p / m
    for w, lam, power in ((1, first, 1), (Fraction(1, 4), other, 1 / p)):
        yield sc.equal(2 * square * (Fraction(5, 4) - w), m * lam * power, f"2ε (y − εw) = mλ w^(m−1) at w = {w}")
    yield sc.equal(Fraction(3, 4) / (other - first), M + 1, "‖A(λ₁)(Z) − A(λ₂)(Z)‖/|λ₁ − λ₂|")
