r"""Rademacher averages of linear classes, by enumeration of all signs, and the strong convexity behind the ℓ₁ one (Lemmas 16 and 22)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np

from simopt.claims import *
from simopt.ground.arrays import Array
from simopt.theorems.small_worlds.exact_tails import ball, enclosed
from simopt.theorems.small_worlds.sampled_worlds import weights

SECTION = "regression"
ONE = Fraction(1)


def sums(points: list[list[Fraction]]) -> Iterator[list[Fraction]]:
    """Σ σ_i x_i for all signs."""
    for signs in itertools.product((1, -1), repeat=len(points)):
        yield [sum((s * a for s, a in zip(signs, column, strict=True)), Fraction(0)) for column in zip(*points, strict=True)]


def vectors(trial: Trial) -> Iterator[Instance]:
    """Orthonormal vectors, for which ‖Σ σ_i x_i‖ = √n always, and random ones with coordinates in ¼ℤ."""
    for n in range(1, 7):
        yield {"points": [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]}
    for _ in range(trial.count(10, 60)):
        n, d = int(trial.rng.integers(1, 7)), int(trial.rng.integers(1, 4))
        yield {"points": [[Fraction(int(v), 4) for v in trial.rng.integers(-4, 5, size=d)] for _ in range(n)]}


@claim(
    "KJ-L16-rad",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Lemma 16, the Rademacher average",
    kind=IN_EXPECTATION,
    expected=HOLDS,
    says=r"For ‖x_i‖₂ ≤ C_X: E_σ sup_{‖w‖₂ ≤ C_W} (1/n) Σ σ_i ⟨w, x_i⟩ = (C_W/n) E_σ ‖Σ σ_i x_i‖ ≤ (C_W/n) √(Σ ‖x_i‖²) ≤ C_X C_W/√n, "
    r"because E ‖Σ σ_i x_i‖² = Σ ‖x_i‖². Equality for orthogonal x_i of length C_X.",
    instances=vectors,
    knobs={"share": ONE},
    mutants={"9/10 of it": {"share": Fraction(9, 10)}},
    cost=1.0,
)
def euclidean_average(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The mean over all signs, exactly for its square and by enclosed roots for itself; C_W = 1."""
    points = instance["points"]
    n = len(points)
    squares = [sum((a * a for a in s), Fraction(0)) for s in sums(points)]
    lengths = [sum((a * a for a in x), Fraction(0)) for x in points]
    yield equal(sum(squares, Fraction(0)) / 2**n, sum(lengths, Fraction(0)), "E ‖Σ σ_i x_i‖²")
    distinct = {square: squares.count(square) for square in squares}
    mean = total(count * root(square, bits=48) for square, count in distinct.items()) / 2**n
    if any(lengths):
        yield at_most(mean / n, trial["share"] * root(n * max(lengths), bits=48) / n, "E ‖Σ σ_i x_i‖/n", scale=1)


def columns(trial: Trial) -> Iterator[Instance]:
    """d columns of signs: all 2^{n−1} up to sign, for which max_j |Σ σ_i x_ij| = n always, and random ones."""
    for n in range(1, 6):
        yield {"points": [list(row) for row in zip(*itertools.product((1, -1), repeat=n), strict=True)], "halve": True}
    for _ in range(trial.count(12, 80)):
        n, d = int(trial.rng.integers(1, 8)), int(trial.rng.integers(1, 6))
        yield {"points": [[Fraction(int(v), 2) for v in trial.rng.integers(-2, 3, size=d)] for _ in range(n)], "halve": False}


@cache
def logarithm(value: int) -> Expr:
    """log of an integer, computed once."""
    return log(rational(value), bits=64)


@claim(
    "KJ-L22-rad",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Lemma 22, the Rademacher average",
    kind=IN_EXPECTATION,
    expected=HOLDS,
    says=r"For ‖x_i‖_∞ ≤ C_X in d dimensions: E_σ sup_{‖w‖₁ ≤ C_W} (1/n) Σ σ_i ⟨w, x_i⟩ = (C_W/n) E_σ max_j |Σ σ_i x_ij| ≤ C_X C_W √(2 "
    r"log(2d)/n).",
    instances=columns,
    knobs={"factor": Fraction(2)},
    mutants={"√(log(2d)/n)": {"factor": ONE}},
    note="With all 2^{n−1} columns of signs the left side is C_W: 1/√(2 log 2) = 0.849 of the bound, for every n.",
    cost=0.5,
)
def average_of_the_cross_polytope(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The mean over all signs, exactly; C_X = C_W = 1."""
    points = instance["points"]
    n = len(points)
    if instance["halve"]:
        points = [row[: len(row) // 2] for row in points]
    mean = sum((max(abs(a) for a in s) for s in sums(points)), Fraction(0)) / 2**n
    yield at_most(mean / n, root(trial["factor"] * logarithm(2 * len(points[0])) / n, bits=64), f"n = {n}, d = {len(points[0])}")


def laws(trial: Trial) -> Iterator[Instance]:
    """Pairs of probability vectors, near each other and far apart, and B."""
    yield {"p": [Fraction(51, 100), Fraction(49, 100)], "q": [Fraction(1, 2)] * 2, "B": ONE}
    for _ in range(trial.count(25, 150)):
        k = int(trial.rng.integers(2, 5))
        yield {"p": weights(trial.rng, k), "q": weights(trial.rng, k), "B": Fraction(int(trial.rng.integers(1, 9)), 2)}


def decoded_laws(point: Array, trial: Trial) -> Instance:
    """Two laws on three points from the cube [0, 1]^6."""
    u = [Fraction(int(np.ceil(64 * float(v))) + 1, 64) for v in point]
    p, q = ([part / sum(half) for part in half] for half in (u[:3], u[3:]))
    return {"p": p, "q": q, "B": Fraction(2)}


@claim(
    "KJ-L22-kl",
    paper=KAR_JAIN,
    section=SECTION,
    place="Proof of Lemma 22, strong convexity of the divergence",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"On {w ≥ 0: ‖w‖₁ = B} the function F(w) = KL(w/B ‖ μ) is 1/B²-strongly convex in ‖·‖₁: F(v) ≥ F(w) + ⟨∇F(w), v − w⟩ + ‖v − "
    r"w‖₁²/2B². The difference of the first three terms is KL(v/B ‖ w/B), for every μ.",
    instances=laws,
    decode=decoded_laws,
    dimension=6,
    evaluations=(40, 400),
    knobs={"modulus": ONE},
    mutants={"1.02/B²": {"modulus": Fraction(102, 100)}},
    note="Pinsker's inequality. Near w = v = (B/2, B/2) it is an equality to first order, so that 1/B² is the best modulus.",
    cost=1.0,
)
def divergence_is_strongly_convex(instance: Instance, trial: Trial) -> Iterator[Check]:
    """KL(v/B ‖ w/B) with enclosed logarithms."""
    B = instance["B"]
    v, w = ([B * part for part in instance[name]] for name in "pq")
    divergence = enclosed(sum(ball(a / B) * ball(a / b).log() for a, b in zip(v, w, strict=True)))
    apart = sum((abs(a - b) for a, b in zip(v, w, strict=True)), Fraction(0))
    if apart:
        yield at_least(divergence, trial["modulus"] * apart**2 / (2 * B**2), "KL(v/B ‖ w/B)", scale=(apart / B) ** 2)
