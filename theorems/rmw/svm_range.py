r"""Section 3.2: the constrained SVM and the penalised one, on the range of c where they correspond.

With R(g) = (1/n) Σ [1 − ⟨g, ψ_i⟩]_+ and f_λ the penalised solution, strong convexity of R + (λ/2)‖·‖² says for every g

    R(g) − R(f_λ) ≥ (λ/2)‖g − f_λ‖² + (λ/2)(‖f_λ‖² − ‖g‖²),

so that f_λ is the only minimiser of R on the ball ‖g‖² ≤ c = ‖f_λ‖². As λ falls from ∞, c rises from 0 to
c₁ = ‖f_0‖², f_0 = lim f_λ, and stands still on the flat pieces. It reaches c₁ at some λ₀ > 0, since R is piecewise linear. f_0 has the
least R of all, and the least norm among those; for c > c₁ the bound ‖ω‖² ≤ c does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.labelled_samples import atoms_of, dependent_samples, independent_samples, samples
from simopt.theorems.small_worlds.exact_svm import Gram, Piece, gram, hinge_risk, mean_margins, path, piece_at, square, threshold
from simopt.theorems.small_worlds.worlds import Vector, add, dot, minus, plus, scaled, squared


def samples_with_probes(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Samples of every kind, each with directions in which rivals of f_λ are sought."""
    for instance in samples(trial):
        width = len(instance["features"][0])
        turns = [[Fraction(int(k)) for k in trial.rng.integers(-3, 4, size=width)] for _ in range(3)]
        yield {**instance, "turns": [turn for turn in turns if any(turn)]}


def combined(atoms: list[Vector], coefficients: list[Fraction]) -> list[Any]:
    """Σ c_i ψ_i."""
    f: list[Any] = [Fraction(0)] * len(atoms[0])
    for c, atom in zip(coefficients, atoms, strict=True):
        f = plus(f, scaled(atom, c))
    return f


def risk(atoms: list[Vector], g: Vector) -> Fraction:
    """R(g)."""
    return Fraction(add(max(Fraction(0), 1 - dot(g, atom)) for atom in atoms)) / len(atoms)


def inside(piece: Piece) -> list[Fraction]:
    """The low end of a piece (or near 0), its middle, and its high end (or far out)."""
    high = piece.high if piece.high is not None else 4 * piece.low + 1
    low = piece.low if piece.low > 0 else high / 1000
    return [low, (low + high) / 2, high]


@sc.claim(
    "RMW-SVMc-range",
    place="Section 3.2",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm ~ hinge-svm-ball",),
    says=r"The penalised SVM is the Lagrangian form of the one under ‖ω‖² ≤ c exactly for **0 < c < c₁**, c₁ the least ‖ω‖² among the "
    r"minimisers of the hinge loss: λ ↦ c = ‖f_λ‖² maps (λ₀, ∞), λ₀ > 0, onto (0, c₁), decreasing off the flat pieces, each of which goes "
    r"to one c, and f_λ is the only solution at c = ‖f_λ‖². For every λ ≤ λ₀ f_λ is one function f₀ with ‖f₀‖² = c₁; for c > c₁ the bound "
    r"is not active and no λ gives more. (ω_S ≠ 0; if ω_S = 0 then f_λ = 0 for every λ, and c₁ = 0.)",
    instances=samples_with_probes,
    knobs={"growth": Fraction(1, 2), "flat": True, "beyond": Fraction(1)},
    mutants={
        "R(g) ≥ R(f_λ) + λ‖g − f_λ‖² in the ball": {"growth": Fraction(1)},
        "no flat pieces": {"flat": False},
        "onto (0, 2c₁)": {"beyond": Fraction(2)},
    },
    note="The paper writes 'the Lagrange multiplier problem associated with' and names no range. Exact paths; rivals g are points of the "
    "sphere ‖g‖ = ‖f_λ‖ (reflections) and other solutions of smaller norm. With independent φ(x_i) only the last piece is flat.",
)
def penalised_and_constrained_meet_on_the_true_range(
    labels: list[int], features: list[list[Fraction]], turns: list[list[Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """Monotonicity piece by piece, optimality in each ball against rivals, and the end of the path against all functions."""
    atoms = atoms_of(labels, features)
    G = gram(atoms)
    pieces = path(G)
    for above, below in pairwise(pieces):
        yield sc.equal(above.squared_norm(above.low), below.squared_norm(above.low), "‖f_λ‖ is continuous")
    for piece in pieces:
        low, middle, high = inside(piece)
        if piece.low == 0 or (piece.flat and trial["flat"]):
            yield sc.equal(piece.squared_norm(low), piece.squared_norm(high), "flat: one c")
        else:
            yield sc.at_least(piece.squared_norm(low), piece.squared_norm(high), "c falls as λ grows", strict=True)
        yield from _only_solution(atoms, combined(atoms, piece.coefficients(middle)), middle, turns, trial["growth"])
    yield from _end(G, pieces[-1], trial["beyond"])


def _only_solution(atoms: list[Vector], f: list[Any], lam: Fraction, turns: Sequence[Vector], growth: Fraction) -> Iterator[sc.Check]:
    """R(g) ≥ R(f) + (λ/2)‖g − f‖² for g with ‖g‖ ≤ ‖f‖."""
    rivals = [minus(f, scaled(turn, 2 * dot(f, turn) / squared(turn))) for turn in turns]
    rivals += [scaled(f, Fraction(1, 2)), [Fraction(0)] * len(f)]
    least, here = [risk(atoms, g) for g in rivals], risk(atoms, f)
    for g, value in zip(rivals, least, strict=True):
        yield sc.at_least(value, here + growth * lam * squared(minus(g, f)), "R(g) in the ball ‖g‖ ≤ ‖f_λ‖")


def _end(G: Gram, last: Piece, beyond: Fraction) -> Iterator[sc.Check]:
    """On the last piece Σ v_i ψ_i = 0 with −v_i in [0, 1/n], so that Σ −v_i bounds R from below: f_0 reaches it."""
    lam = inside(last)[0]
    ends = [-v for v in last.offset]
    yield sc.at_least(min(ends), 0, "−v ≥ 0")
    yield sc.at_most(max(ends), Fraction(1, len(G)), "−v ≤ 1/n")
    yield sc.equal(square(G, ends), 0, "Σ v_i ψ_i = 0")
    yield sc.equal(hinge_risk(G, last.coefficients(lam)), sum(ends, Fraction(0)), "R(f_0) = min R")
    if last.high is not None:
        yield sc.at_least(last.squared_norm(lam), beyond * last.squared_norm(last.high), "c₁ is reached at λ₀ > 0")


@sc.claim(
    "RMW-SVMc-mean",
    place="Section 3.2",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm-ball ~ mean-ball",),
    says=r"Let ω_S ≠ 0 and **c* = ‖ω_S‖²/λ*²**, λ* = max_i y_i f_S(x_i); c* ≥ 1 if ‖φ(x)‖ ≤ 1. For c ≤ c* the SVM under ‖ω‖² ≤ c is the "
    r"mean classifier, with the solution √c ω̂_S. If **the φ(x_i) are linearly independent**, it is so for no other c < c₁, the range "
    r"where the bound is active (RMW-SVMc-range): for c > c* √c ω̂_S is a solution only where its hinge loss is 0.",
    instances=independent_samples,
    knobs={"edge": Fraction(1)},
    mutants={"c* times 4": {"edge": Fraction(2)}, "dependent points on a line": {"instances": dependent_samples}},
    note="The paper takes c = 1. With t = √c/‖ω_S‖: tω_S is the solution for t ≤ 1/λ*; beyond, a rival f_μ in the same ball with a "
    "smaller loss is found on the exact path. On a line every c has the mean's direction. Were √c ω̂_S a solution for c* < c < c₁, it "
    "would be the f_λ of RMW-SVMc-range, by RMW-SVMl-direction with λ ≥ λ* or equal to f_{λ*}: then c ≤ c*. From c₁ on the least loss is "
    "0, as independent ψ_i can be given any margins.",
)
def constrained_svm_is_the_mean_up_to_its_own_threshold(
    labels: list[int], features: list[list[Fraction]], trial: sc.Trial
) -> Iterator[sc.Check]:
    """tω_S against the constrained solution of its ball."""
    atoms = atoms_of(labels, features)
    G = gram(atoms)
    n, m, pieces, edge = len(G), mean_margins(G), path(G), threshold(G)
    size = sum(m, Fraction(0)) / n
    yield sc.at_least(size, edge**2, "c* ≥ 1")
    for share in (Fraction(1, 2), Fraction(1), Fraction(17, 16), Fraction(2), Fraction(5)):
        t = share / edge
        own = hinge_risk(G, [t / n] * n)
        if share <= trial["edge"]:
            f = piece_at(pieces, 1 / t).coefficients(1 / t)
            yield sc.equal(square(G, [c - t / n for c in f]), 0, "t ≤ 1/λ*: tω_S = f_{1/t}")
        elif t * min(m) >= 1:
            yield sc.equal(own, 0, "all margins of tω_S are at least 1: no loss")
            yield sc.at_least(t * t * size, pieces[-1].squared_norm(inside(pieces[-1])[0]), "c ≥ c₁")
        else:
            yield sc.at_least(own, _rival(G, pieces, t * t * size), "t > 1/λ*: a rival in the ball has less loss", strict=True)


def _rival(G: Gram, pieces: list[Piece], capacity: Fraction) -> Fraction:
    """R(f_μ) for a μ with ‖f_μ‖² ≤ c, within 2⁻⁴⁰ of the least such μ, by bisection: a value that the ball allows."""
    low, high = Fraction(0), Fraction(1)
    while piece_at(pieces, high).squared_norm(high) > capacity:
        high *= 2
    for _ in range(40):
        middle = (low + high) / 2
        if piece_at(pieces, middle).squared_norm(middle) > capacity:
            low = middle
        else:
            high = middle
    return hinge_risk(G, piece_at(pieces, high).coefficients(high))
