r"""Section 6.6: the SVM restricted to the hull of the labelled feature vectors, and herding. They are one at λ = 1, and hardly elsewhere.

C is the hull of the ψ_i = y_i φ(x_i), ‖ψ_i‖ ≤ 1, and m_i = ⟨ω_S, ψ_i⟩. On C every hinge is linear (RMW-SVMc), so the objective is

    1 − ⟨ω, ω_S⟩ + (λ/2)‖ω‖² = (λ/2)‖ω − ω_S/λ‖² + 1 − ‖ω_S‖²/(2λ):

its minimiser over C is the point of C nearest to ω_S/λ. At λ = 1 this is ω_S, the target of herding. For λ ≠ 1 ω_S is the nearest point
only if (1/λ − 1)⟨ω_S, ψ_i − ω_S⟩ ≤ 0 for all i. The mean over i of the left side is 0, so that all m_i are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.rmw.labelled_samples import SPECIAL, atoms_of, samples
from simopt.theorems.small_worlds.exact_hull import hull_solution, mean_ray
from simopt.theorems.small_worlds.exact_svm import gram, mean_margins, path, piece_at, square, threshold
from simopt.theorems.small_worlds.worlds import dot, minus, plus, scaled, squared


def small_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Samples of two to three points, with the strengths asked for."""
    for features, labels in SPECIAL[2:]:
        for lam in trial["strengths"]:
            yield {"features": features, "labels": labels, "strength": lam}


@sc.claim(
    "RMW-6.6a",
    place="Section 6.6",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm ~ hinge-svm-hull",),
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"For every λ > 0, as normalising the coefficients of the SVM's solution to Σ α_i = 1 does not change its classifier, objective "
    r"(3) is equivalent to argmin over ω ∈ C of 1 − ⟨ω, ω_S⟩ + (λ/2)‖ω‖²: the minimisers classify alike, being positive multiples of each "
    r"other.",
    instances=small_samples,
    exhaustive=True,
    knobs={"strengths": (Fraction(1), Fraction(2))},
    mutants={"λ = 1": {"strengths": (Fraction(1),)}},
    note="ψ = (1, 0), (0, ½) and λ = 2: the SVM's solution is ω_S/2 = (¼, ⅛), the minimiser over C (7/20, 13/40). The norm is penalised at "
    "another scale once Σ α_i = 1 is imposed. At λ = 1, which the paper then takes, it is true.",
)
def restricting_to_the_hull_changes_the_classifier(
    labels: list[int], features: list[list[Fraction]], strength: Fraction
) -> Iterator[sc.Check]:
    """‖f‖²‖p‖² = ⟨f, p⟩² and ⟨f, p⟩ ≥ 0 for the SVM's solution f and the minimiser p over the hull."""
    G, lam = gram(atoms_of(labels, features)), strength
    f, p = piece_at(path(G), lam).coefficients(lam), hull_solution(G, lam)
    inner = dot(f, [dot(row, p) for row in G])
    yield sc.equal(square(G, f) * square(G, p), inner**2, f"parallel at λ = {lam}")
    yield sc.at_least(inner, 0, f"not opposite at λ = {lam}")


def samples_and_identity(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The first instance has no data: it stands for the identity in symbols. Then samples of every kind."""
    yield {}
    yield from samples(trial)


def within(ends: tuple[Fraction, Fraction], t: Fraction) -> bool:
    """t₀ ≤ t ≤ t₁."""
    return ends[0] <= t <= ends[1]


STRENGTHS = (Fraction(1, 2), Fraction(9, 10), Fraction(1), Fraction(10, 9), Fraction(3))


@sc.claim(
    "RMW-6.6a+",
    place="Section 6.6, corrected",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm ~ hinge-svm-hull", "hinge-svm-hull ~ mean-penalised"),
    says=r"Let ‖φ(x)‖ ≤ 1. (i) The SVM restricted to C has as its solution the point of C nearest to ω_S/λ. (ii) **At λ = 1** it is ω_S "
    r"for every sample, the solution of the SVM itself and of herding. (iii) **For λ ≠ 1 it is ω_S if and only if all y_i f_S(x_i) are "
    r"equal**, and then for every λ. (iv) For λ ≥ λ* = max_i y_i f_S(x_i) it is the SVM's own solution ω_S/λ if and only if ω_S/λ ∈ C, "
    r"that is for t₀ ≤ 1/λ ≤ t₁ with [t₀, t₁] ∋ 1 the part of the ray through ω_S that lies in C.",
    instances=samples_and_identity,
    knobs={"exception": 1, "in_hull": within},
    mutants={
        "(iii) for λ ≠ 9/10": {"exception": Fraction(9, 10)},
        "(iv) for every λ ≥ λ*": {"in_hull": lambda ends, t: True},
        "(iv) at λ = 1 only": {"in_hull": lambda ends, t: t == 1},
    },
    corrects="RMW-6.6a",
    note="Where the ψ_i and 0 are affinely independent t₀ = t₁ = 1: the restricted SVM is the SVM at λ = 1 only. If 0 ∈ C, t₀ ≤ 0 and (iv) "
    "holds for every λ ≥ 1. Exact nearest points.",
)
def svm_on_the_hull_is_herding_at_one(
    trial: sc.Trial, features: list[list[Fraction]] | None = None, labels: list[int] | None = None
) -> Iterator[sc.Check]:
    """The nearest point for five λ, its optimality among the atoms, and how it compares with ω_S and ω_S/λ."""
    if features is None or labels is None:
        yield _nearest_in_symbols()
        return
    G = gram(atoms_of(labels, features))
    n, m = len(G), mean_margins(G)
    ends = mean_ray(G) if any(m) else None
    for lam in STRENGTHS:
        p = hull_solution(G, lam)
        slopes = [lam * dot(row, p) - value for row, value in zip(G, m, strict=True)]
        yield sc.at_least(min(slopes), dot(p, slopes), "(i) no atom promises more")
        yield sc.at_most(max(dot(row, p) for row in G), 1, "(i) no hinge bends")
        apart = square(G, [w - Fraction(1, n) for w in p])
        if lam == trial["exception"] or min(m) == max(m):
            yield sc.equal(apart, 0, "(ii) λ = 1, or equal margins: ω_S")
        else:
            yield sc.at_least(apart, 0, "(iii) λ ≠ 1 and unequal margins: not ω_S", strict=True)
        if ends is None or lam < threshold(G):
            continue
        apart = square(G, [w - Fraction(1, n) / lam for w in p])
        if trial["in_hull"](ends, 1 / lam):
            yield sc.equal(apart, 0, "(iv) ω_S/λ ∈ C: the SVM's solution")
        else:
            yield sc.at_least(apart, 0, "(iv) ω_S/λ ∉ C: another", strict=True)


def _nearest_in_symbols() -> sc.Check:
    """1 − ⟨ω, ω_S⟩ + (λ/2)‖ω‖² in symbols."""
    lam, a, b, c, d = sc.symbols("lam a b c d")
    w, omega = [a, b], [c, d]
    left = 1 - dot(w, omega) + lam / 2 * squared(w)
    right = lam / 2 * squared(minus(w, scaled(omega, 1 / lam))) + 1 - squared(omega) / (2 * lam)
    return sc.equal(left, right, "(i) the objective on C")


def hulls(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Small samples and points of their hulls; the first instance stands for the identity in symbols."""
    yield {}
    for features, labels in SPECIAL:
        n = len(labels)
        for weights in ([Fraction(1)] + [Fraction(0)] * (n - 1), [Fraction(i + 1, n * (n + 1) // 2) for i in range(n)]):
            yield {"psi": [[y * x for x in point] for y, point in zip(labels, features, strict=True)], "weights": weights}


@sc.claim(
    "RMW-6.6b",
    place="Section 6.6",
    kind=sc.IDENTITY,
    compares=("hinge-svm-hull ~ mean-penalised",),
    says=r"For λ = 1: −⟨ω, ω_S⟩ + ½‖ω‖² = ½‖ω − ω_S‖² − ½‖ω_S‖², so the optimum over C of 1 − ⟨ω, ω_S⟩ + ½‖ω‖² is ω_S ∈ C, and it is the "
    r"only one.",
    instances=hulls,
    exhaustive=True,
    knobs={"lam": Fraction(1)},
    mutants={"λ = 2": {"lam": Fraction(2)}},
)
def svm_objective_is_the_herding_objective(
    trial: sc.Trial, psi: list[list[Fraction]] | None = None, weights: list[Fraction] | None = None
) -> Iterator[sc.Check]:
    """The identity in symbols; on numbers, other points of the hull are worse by ½‖ω − ω_S‖²."""
    lam = trial["lam"]
    if psi is None:
        a, b, c, d = sc.symbols("a b c d")
        w, omega = [a, b], [c, d]
        left = -dot(w, omega) + lam / 2 * squared(w)
        yield sc.equal(left, squared(minus(w, omega)) / 2 - squared(omega) / 2, "SVM objective = herding objective + constant")
        return
    points, shares = sc.inputs(psi=psi, weights=weights)
    point, omega = (_combined(points, each) for each in (shares, [Fraction(1, len(points))] * len(points)))
    values = [1 - dot(w, omega) + lam / 2 * squared(w) for w in (point, omega)]
    yield sc.equal(values[0] - values[1], squared(minus(point, omega)) / 2, "excess over ω_S")
    yield sc.equal(sc.total(shares), 1, "in the hull")


def _combined(psi: Any, weights: Any) -> list[Any]:
    out: list[Any] = [Fraction(0)] * len(psi[0])
    for p, w in zip(psi, weights, strict=True):
        out = plus(out, scaled(p, w))
    return out
