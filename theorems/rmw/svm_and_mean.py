r"""Section 3.2: where the SVM is the mean classifier. It begins exactly at λ* = max_i y_i f_S(x_i).

Write ψ_i = y_i φ(x_i), m_i = ⟨ω_S, ψ_i⟩ = y_i f_S(x_i) and M = ‖ω_S‖², the mean of the m_i; f_λ is the SVM's solution. As the hinge is
at least 1 − yv,

    P_λ(g) ≥ (1/n) Σ (1 − ⟨g, ψ_i⟩) + (λ/2)‖g‖² = 1 − M/(2λ) + (λ/2)‖g − ω_S/λ‖²,

with equality at g = ω_S/λ if no hinge bends there: m_i ≤ λ for all i. So f_λ = ω_S/λ for λ ≥ λ*. If m_i > λ for some i, shrinking g = ω_S/λ
to tg, t < 1 near 1, leaves those hinges at 0 and gains. With S = (1/n) Σ over m_i > λ of m_i/λ > 0,

    P_λ(tω_S/λ) − P_λ(ω_S/λ) = (1 − t) ((1 − t) M/(2λ) − S) < 0.

No hypothesis on the φ(x_i) is needed for this: f_λ = ω_S/λ if and only if λ ≥ λ*.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import simopt.claims as sc
from simopt.theorems.rmw.labelled_samples import atoms_of, samples
from simopt.theorems.rmw.mean_minimises import direction
from simopt.theorems.small_worlds.exact_svm import Gram, gram, mean_margins, optimality_gap, path, piece_at, square, threshold
from simopt.theorems.small_worlds.worlds import dot, minus, scaled, squared

TS = (Fraction(0), Fraction(1, 2), Fraction(-3))


def unit_vectors(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Directions of w and ψ, and the radius √c of the ball; the first instance stands for the identity in symbols."""
    yield {}
    for t, u in product(TS, TS):
        for size in (Fraction(1, 2), Fraction(1)):
            yield {"t": t, "u": u, "size": size, "radius": trial["radius"]}


@sc.claim(
    "RMW-SVMc",
    place="Section 3.2",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm-ball ~ mean-ball",),
    says=r"If ‖φ(x)‖ ≤ 1, then for ‖ω‖² ≤ c = 1 every hinge is linear, [1 − y⟨ω, φ(x)⟩]_+ = 1 − y⟨ω, φ(x)⟩, so that the SVM under ‖ω‖² ≤ 1 "
    r"is the problem of Theorem 2: the same objective on the same ball. (In symbols, in the plane of ω and ψ = yφ(x).)",
    instances=unit_vectors,
    exhaustive=True,
    knobs={"radius": Fraction(1)},
    mutants={"c = 4": {"radius": Fraction(2)}},
    note="The same for every c ≤ 1. How far beyond c = 1 the mean goes on to be the solution: RMW-SVMc-range. The numbers are examples.",
)
def hinge_is_linear_on_the_unit_ball(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """1 − ⟨w, ψ⟩ as a sum of terms that are non-negative on the unit balls; then hinge and linear loss on numbers."""
    if not instance:
        w, psi = list(sc.symbols("a b")), list(sc.symbols("c d"))
        parts = squared(minus(w, psi)) + (1 - squared(w)) + (1 - squared(psi))
        yield sc.equal(1 - dot(w, psi), parts / 2, "1 − ⟨w, ψ⟩ = ½(‖w − ψ‖² + 1 − ‖w‖² + 1 − ‖ψ‖²)")
        return
    t, u, size, radius = sc.inputs(**instance)
    margin = dot(scaled(direction(t), radius), scaled(direction(u), size))
    yield sc.equal(sc.maximum(0, 1 - margin), 1 - margin, "[1 − y⟨ω, φ⟩]_+ = 1 − y⟨ω, φ⟩")


def largest_margin(G: Gram) -> Fraction:
    """λ*."""
    return threshold(G)


FRACTIONS = (Fraction(1, 3), Fraction(9, 10), 1 - Fraction(1, 2**40), Fraction(1), Fraction(21, 20), Fraction(4))


@sc.claim(
    "RMW-SVMl",
    place="Section 3.2",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm ~ mean-penalised",),
    says=r"The mean classifier is the solution of a highly regularised SVM. Exactly: with **λ* = max_i y_i f_S(x_i)**, f_S(x) = ⟨ω_S, "
    r"φ(x)⟩, the minimiser of (1/|S|) Σ [1 − y⟨ω, φ(x)⟩]_+ + (λ/2)‖ω‖² is ω_S/λ **if and only if λ ≥ λ***. For ‖φ(x)‖ ≤ 1 moreover "
    r"‖ω_S‖² ≤ λ* ≤ ‖ω_S‖ ≤ 1: λ ≥ 1 always suffices, λ < ‖ω_S‖² never.",
    instances=samples,
    knobs={"threshold": largest_margin},
    mutants={
        "λ* times 4/5": {"threshold": lambda G: Fraction(4, 5) * threshold(G)},
        "λ* times 5/4": {"threshold": lambda G: Fraction(5, 4) * threshold(G)},
        "λ ≥ ‖ω_S‖²": {"threshold": lambda G: sum(mean_margins(G), Fraction(0)) / len(G)},
        "λ ≥ 1": {"threshold": lambda G: Fraction(1)},
    },
    note="The paper says 'highly regularised'. f_λ comes from the exact path of solutions, is certified by a duality gap of 0 in rationals "
    "and compared with ω_S/λ; λ down to λ*(1 − 2⁻⁴⁰). No independence of the φ(x_i) is needed. This is about the vector; for classifiers "
    "λ* is sufficient and not always necessary: RMW-SVMl-direction, RMW-SVMl-class. The proof in symbols: RMW-SVMl-proof.",
)
def svm_is_the_mean_from_the_largest_margin_on(labels: list[int], features: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """For λ on both sides of λ*, at it and next to it: f_λ is optimal, and ‖f_λ − ω_S/λ‖² is positive or 0."""
    G = gram(atoms_of(labels, features))
    m, pieces, edge = mean_margins(G), path(G), threshold(G)
    size, claimed = sum(m, Fraction(0)) / len(G), trial["threshold"](G)
    for lam in (share * (edge or 1) for share in FRACTIONS):
        piece = piece_at(pieces, lam)
        solution = piece.coefficients(lam)
        yield sc.equal(optimality_gap(G, solution, piece.multipliers(lam), lam), 0, "P(f_λ) = D(a)")
        apart = square(G, [c - Fraction(1, len(G)) / lam for c in solution])
        if lam >= claimed:
            yield sc.equal(apart, 0, "λ ≥ λ*: f_λ = ω_S/λ")
        else:
            yield sc.at_least(apart, 0, "λ < λ*: f_λ ≠ ω_S/λ", strict=True)
    yield sc.at_least(edge, size, "λ* ≥ ‖ω_S‖²")
    yield sc.at_most(edge**2, size, "λ* ≤ ‖ω_S‖")
    yield sc.at_most(size, 1, "‖ω_S‖ ≤ 1")


@sc.claim(
    "RMW-SVMl-proof",
    place="Section 3.2",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm ~ mean-penalised",),
    says=r"The identities that prove RMW-SVMl: (1/n) Σ (1 − ⟨g, ψ_i⟩) + (λ/2)‖g‖² = 1 − M/(2λ) + (λ/2)‖g − ω_S/λ‖² for every g, and, if "
    r"the hinges of the i with m_i > λ are 0 at tω_S/λ, P(tω_S/λ) − P(ω_S/λ) = (1 − t)((1 − t)M/(2λ) − S), S = (1/n) Σ over these of "
    r"m_i/λ. The first shows that ω_S/λ is the only solution where m_i ≤ λ for all i, the second that it is none where S > 0.",
    knobs={"shift": 1},
    mutants={"ω_S/(2λ) instead of ω_S/λ": {"shift": 2}},
    note="Both sides are means over the points. The second holds for t ≥ max λ/m_i over m_i > λ, and is negative for 0 < 1 − t < 2λS/M.",
)
def why_the_threshold_is_the_largest_margin(trial: sc.Trial) -> Iterator[sc.Check]:
    """The first in ‖g‖², ⟨g, ω_S⟩ and M = ‖ω_S‖²; of the second a hinge that is not 0, and the sum, as M is also the mean of the m_i."""
    lam, t, gg, gw, M, S, m = sc.symbols("lam t gg gw M S m")
    scale = 1 / (trial["shift"] * lam)
    nearest = gg - 2 * scale * gw + scale**2 * M  # ‖g − ω_S/λ‖²
    yield sc.equal(1 - gw + lam / 2 * gg, 1 - M / (2 * lam) + lam / 2 * nearest, "linear loss, penalised")
    yield sc.equal((1 - t * m * scale) - (1 - m * scale), (1 - t) * m / lam, "a hinge with m_i ≤ λ, which is not 0")
    penalty = lam / 2 * M * ((t / lam) ** 2 - (1 / lam) ** 2)
    yield sc.equal((1 - t) * M / lam - (1 - t) * S + penalty, (1 - t) * ((1 - t) * M / (2 * lam) - S), "P(tω_S/λ) − P(ω_S/λ)")
