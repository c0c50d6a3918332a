r"""For which m the problem of section 5 has one solution, and what is lost for m ≤ 1.

Linear kernel in the plane, rational data; ‖w‖^m for rational m is enclosed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.theorems.ak.rational_power import fractional, objective
from simopt.theorems.ak.rational_ridge import Sample, dot, random_samples

POWERS = (Fraction(17, 16), Fraction(5, 4), Fraction(3, 2), Fraction(7, 4), Fraction(2), Fraction(5, 2), Fraction(3), Fraction(5))


def grid_point(rng: np.random.Generator) -> list[Fraction]:
    """A point of the plane with coordinates in eighths."""
    return [Fraction(int(k), 8) for k in rng.integers(-24, 25, size=2)]


def pairs_of_functions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Two different functions, collinear with 0 every third time, on data of every kind: also all x = 0, where only the penalty is left."""
    for i in range(trial.count(64, 640)):
        samples = random_samples(trial.rng, int(trial.rng.integers(1, 4)))
        if i % 4 == 0:
            samples = [(1, [Fraction(0), Fraction(0)], Fraction(1))]
        w = grid_point(trial.rng)
        v = [-2 * w[0], -2 * w[1]] if i % 3 == 0 else ([w[0] / 2, w[1] / 2] if i % 3 == 1 else grid_point(trial.rng))
        if v != w:
            yield {"samples": samples, "w": w, "v": v, "lam": Fraction(2) ** int(trial.rng.integers(-8, 9)), "power": POWERS[i % 8]}


def pairs_below(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same pairs with m = 1 and m = 1/2."""
    for i, instance in enumerate(pairs_of_functions(trial)):
        yield instance | {"power": Fraction(1, 1 + i % 2)}


@sc.claim(
    "AK-S5wp",
    place="Section 5",
    kind=sc.EXISTENCE,
    says=r"For m > 1, λ > 0 and every Z problem (8) has exactly one solution: the objective is strictly convex, P((f + g)/2) < (P(f) + "
    r"P(g))/2 for f ≠ g, and coercive, P(f) ≥ λ‖f‖^m (on the finite-dimensional span of the k(·, x_i), which holds every minimiser).",
    instances=pairs_of_functions,
    resolution=1e-40,
    mutants={"m ≤ 1": {"instances": pairs_below}},
    note="‖·‖^m is strictly convex for m > 1, by t^m where ‖f‖ ≠ ‖g‖ and by the parallelogram law where they are equal. Section 5 sets m "
    "> 0 and Appendix E uses m < 1; there neither Theorem 1 nor Proposition 5.1 applies (AK-S5wp-below).",
)
def objective_is_strictly_convex_and_coercive(
    samples: list[Sample], w: list[Fraction], v: list[Fraction], lam: Fraction, power: Fraction
) -> Iterator[sc.Check]:
    """The midpoint and the penalty."""
    m = power
    middle = [(a + b) / 2 for a, b in zip(w, v, strict=True)]
    average = (objective(samples, w, lam, m) + objective(samples, v, lam, m)) / 2
    yield sc.at_most(objective(samples, middle, lam, m) / average, 1, f"midpoint, m = {m}", strict=True)
    for f in (w, v):
        yield sc.at_least(objective(samples, f, lam, m), lam * fractional(dot(f, f), m / 2), f"coercive, m = {m}")


def below_one(trial: sc.Trial) -> Iterator[sc.Instance]:
    """n = K = y = 1 with three strengths."""
    yield {"strong": 10, "weak": Fraction(1, 10), "kink": 3}


@sc.claim(
    "AK-S5wp-below",
    place="Section 5 and Appendix E, our examples",
    kind=sc.COUNTEREXAMPLE,
    says=r"For n = K = y = 1 Theorem 1 and Proposition 5.1 fail for m ≤ 1. F(C) = (1 + λmC/2)^{2−m} − C, so that for m = 1/2 its sign is "
    r"that of (1 + λC/4)³ − C². m = 1/2, λ = 10: F(C) > 0 for every C ≥ 0, so that there is no root; λ = 1/10: F changes sign twice, so "
    r"that there are two. m = 1, λ = 3: P(±s) − P(0) > 0 for every s > 0, so that f = 0 is the solution, while KRR gives 1/(1 + μ) ≠ 0 "
    r"for every μ > 0.",
    instances=below_one,
    exhaustive=True,
    knobs={"exponent": 3, "slack": 0},
    mutants={"m = 3/2 in the place of 1/2": {"exponent": 1}, "m = 1, λ = 1": {"slack": 2}},
    note="The coefficients of the expanded cubic at λ = 10, and those of P(±s) − P(0), are non-negative and not all 0.",
)
def no_theory_below_one(strong: int, weak: Fraction, kink: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Identities in C and s, the signs of their coefficients, and the signs of the cubic at three points."""
    strong, weak, kink = sc.inputs(strong=strong, weak=weak, kink=kink)
    C, s = sc.symbols("C s")
    cubic = (1 + Fraction(10, 4) * C) ** trial["exponent"] - C**2
    coefficients = ((3 * strong / 4, Fraction(15, 2)), (3 * strong**2 / 16 - 1, Fraction(71, 4)), (strong**3 / 64, sc.rational("5/2") ** 3))
    yield sc.equal(cubic, 1 + sum(value * C**k for k, (_, value) in enumerate(coefficients, start=1)), "(1 + 5C/2)³ − C²")
    for k, (found, value) in enumerate(coefficients, start=1):
        yield sc.equal(found, value, f"coefficient of C^{k}")
        yield sc.at_least(found, 0, f"sign of the coefficient of C^{k}", strict=True)
    for at, sign in ((0, 1), (2, -1), (10**6, 1)):
        yield sc.at_least(sign * ((1 + weak * at / 4) ** 3 - at**2), 0, f"sign of F at C = {at}, λ = 1/10", strict=True)
    for side in (1, -1):
        yield sc.equal((1 - side * s) ** 2 + 3 * s - 1, s**2 + (3 - 2 * side) * s, f"P({side} s) − P(0)")
        yield sc.at_least(kink - trial["slack"] - 2 * side, 0, f"coefficient of s, side {side}", strict=True)
