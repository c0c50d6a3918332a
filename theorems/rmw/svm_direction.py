r"""Section 3.2 below the threshold: how the SVM's path enters the mean, and when its direction is the mean's.

Notation of svm_and_mean.py. From P_λ(g) = linear part + (1/n) Σ [⟨g, ψ_i⟩ − 1]_+ and the strong convexity of both parts,

    λ‖f_λ − ω_S/λ‖² ≤ P_λ(ω_S/λ) − linear part there = (1/n) Σ [m_i/λ − 1]_+,   that is   ‖λf_λ − ω_S‖² ≤ (1/n) Σ [m_i − λ]_+.

Direction: if f_λ = κω_S/λ with κ > 0 then Σ (a_i − κ/n) ψ_i = 0 for its multipliers, so that a_i = κ/n for all i if the ψ_i are
independent. κ = 1 is f_λ = ω_S/λ, λ ≥ λ*; with 0 < κ < 1 every margin is 1, that is, all m_i are equal. If they are, f_λ = ω_S/max(λ, λ*).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.rmw.labelled_samples import atoms_of, dependent_samples, independent_samples, samples
from simopt.theorems.small_worlds.exact_svm import Gram, gram, mean_margins, path, piece_at, square, threshold
from simopt.theorems.small_worlds.worlds import dot

FRACTIONS = tuple(Fraction(k, 12) for k in (1, 2, 3, 5, 7, 9, 11, 12, 13, 20))


def strengths(G: Gram) -> list[Fraction]:
    """λ below, at and above λ*, and very near 0."""
    edge = threshold(G) or Fraction(1)
    return [edge / 1000, *(share * edge for share in FRACTIONS)]


@sc.claim(
    "RMW-SVMl-path",
    place="Section 3.2",
    kind=sc.INEQUALITY,
    compares=("hinge-svm ~ mean-penalised",),
    says=r"The path of SVM solutions enters the mean continuously: ‖λf_λ − ω_S‖² ≤ (1/n) Σ [y_i f_S(x_i) − λ]_+ for every λ > 0, which is "
    r"0 exactly from λ* on, and ‖f_λ − f_μ‖ ≤ (|λ − μ|/λ) ‖f_μ‖. Scale: as λ falls ‖f_λ‖ does not fall, and λ‖f_λ‖ does not rise; "
    r"it is ‖ω_S‖ from λ* on.",
    instances=samples,
    knobs={"factor": Fraction(1)},
    mutants={"half the bound": {"factor": Fraction(1, 2)}},
    note="Scale: head of exact_svm.py. As ∂R is monotone, ⟨μf_μ − λf_λ, f_λ − f_μ⟩ ≥ 0, that is λ‖f_λ − f_μ‖² ≤ (μ − λ)⟨f_μ, f_λ − f_μ⟩. "
    "Sharp as λ → 0 for a single point of norm 1, where λf_λ = min(λ, 1) φ(x).",
)
def path_enters_the_mean_continuously(labels: list[int], features: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """Both bounds and both norms on a grid of λ; consecutive λ for the second bound, in both directions."""
    G = gram(atoms_of(labels, features))
    n, m, pieces = len(G), mean_margins(G), path(G)
    grid = strengths(G)
    shares = [piece_at(pieces, lam).multipliers(lam) for lam in grid]
    for lam, a in zip(grid, shares, strict=True):
        bound = sum((max(Fraction(0), value - lam) for value in m), Fraction(0)) / n
        yield sc.at_most(square(G, [x - Fraction(1, n) for x in a]), trial["factor"] * bound, "‖λf_λ − ω_S‖²")
    for i, j in zip(range(len(grid) - 1), range(1, len(grid)), strict=True):
        lam, mu = grid[i], grid[j]
        first, second = ([x / at for x in a] for a, at in ((shares[i], lam), (shares[j], mu)))
        apart = square(G, [x - y for x, y in zip(first, second, strict=True)])
        yield sc.at_most(apart, ((mu - lam) / lam) ** 2 * square(G, second), "‖f_λ − f_μ‖², μ > λ")
        yield sc.at_most(apart, ((mu - lam) / mu) ** 2 * square(G, first), "‖f_λ − f_μ‖², μ < λ")
        yield sc.at_most(square(G, second), square(G, first), "‖f_λ‖ does not grow with λ")
        yield sc.at_least(square(G, shares[j]), square(G, shares[i]), "λ‖f_λ‖ does not fall with λ")


@sc.claim(
    "RMW-SVMl-direction",
    place="Section 3.2",
    kind=sc.EQUIVALENCE,
    compares=("hinge-svm ~ mean-penalised",),
    says=r"Let **the φ(x_i) be linearly independent**. Then f_λ is a positive multiple of ω_S (the same classifier on the whole span of "
    r"the φ(x)) if and only if **λ ≥ λ* or all y_i f_S(x_i) are equal**; if these are equal it is for every λ > 0, with f_λ = ω_S/max(λ, "
    r"λ*).",
    instances=independent_samples,
    knobs={"scale": 1},
    mutants={"dependent points on a line": {"instances": dependent_samples}, "λ ≥ λ*/2 is enough": {"scale": 2}},
    note="A strictly positive definite kernel at distinct points, such as the Gaussian, makes the φ(x_i) independent. Without "
    "independence f_λ can have the direction of ω_S below λ*: RMW-SVMl-class.",
)
def svm_has_the_direction_of_the_mean(labels: list[int], features: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """‖f_λ‖²‖ω_S‖² − ⟨f_λ, ω_S⟩² is 0 or positive."""
    G = gram(atoms_of(labels, features))
    n, m, pieces, edge = len(G), mean_margins(G), path(G), threshold(G)
    size = sum(m, Fraction(0)) / n
    for lam in strengths(G):
        f = piece_at(pieces, lam).coefficients(lam)
        angle = square(G, f) * size - dot(f, m) ** 2
        if trial["scale"] * lam >= edge or min(m) == edge:
            yield sc.equal(angle, 0, "f_λ is parallel to ω_S")
            yield sc.at_least(dot(f, m), 0, "⟨f_λ, ω_S⟩ > 0", strict=True)
        else:
            yield sc.at_least(angle, 0, "f_λ is not parallel to ω_S", strict=True)
        if min(m) == edge:
            yield sc.equal(square(G, [c - Fraction(1, n) / max(lam, edge) for c in f]), 0, "equal margins: f_λ = ω_S/max(λ, λ*)")


def solved_by_hand(trial: sc.Trial) -> Iterator[sc.Instance]:
    """ψ on a line, or one ψ: λ < λ*, the solution f_λ and its multipliers a."""
    one, half, quarter = Fraction(1), Fraction(1, 2), Fraction(1, 4)
    for lam in (Fraction(1, 100), half, Fraction(99, 100)):
        yield {"psi": [one], "lam": lam, "f": one, "a": [lam]}
    yield {"psi": [one, half], "lam": half, "f": one, "a": [quarter, half]}
    yield {"psi": [one, half], "lam": Fraction(3, 16), "f": Fraction(4, 3), "a": [Fraction(0), half]}
    yield {"psi": [one, half], "lam": Fraction(1, 16), "f": Fraction(2), "a": [Fraction(0), quarter]}


def beyond_the_threshold(trial: sc.Trial) -> Iterator[sc.Instance]:
    """λ > λ*."""
    yield {"psi": [Fraction(1)], "lam": Fraction(2), "f": Fraction(1, 2), "a": [Fraction(1)]}


@sc.claim(
    "RMW-SVMl-class",
    place="Section 3.2",
    kind=sc.COUNTEREXAMPLE,
    compares=("hinge-svm ~ mean-penalised",),
    says=r"For classifiers λ ≥ λ* is sufficient, not necessary: for one sample, ψ = (1), and for two on a line, ψ = (1), (½), there are "
    r"λ < λ* for which the SVM classifies as the mean does, although f_λ ≠ ω_S/λ.",
    instances=solved_by_hand,
    exhaustive=True,
    mutants={"λ > λ*": {"instances": beyond_the_threshold}},
    note="ψ = (1), and ψ = (1), (½) with λ* = ¾: there f_λ is ω_S/λ, then 1 for ¼ ≤ λ ≤ ¾, (4λ)⁻¹, and 2 for λ ≤ ⅛: the path also stands "
    "still. So no threshold in λ is exact for 'the same classifier' on all samples.",
)
def same_classifier_below_the_threshold(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Optimality by a zero gap, f_λ and ω_S on one side of 0, and f_λ < ω_S/λ."""
    psi, lam, f, a = sc.inputs(**instance)
    n = len(psi)
    yield sc.at_least(sc.maximum(*[-x for x in a]) * -1, 0, "a ≥ 0")
    yield sc.at_most(sc.maximum(*a), Fraction(1, n), "a ≤ 1/n")
    pull = sc.total(x * p for x, p in zip(a, psi, strict=True))
    primal = sc.total(sc.maximum(0, 1 - f * p) for p in psi) / n + lam * f**2 / 2
    yield sc.equal(primal, sc.total(a) - pull**2 / (2 * lam), "P(f_λ) = D(a)")
    yield sc.at_least(f * sc.total(psi), 0, "f_λ ω_S > 0", strict=True)
    yield sc.at_most(f, sc.total(psi) / n / lam, "f_λ < ω_S/λ", strict=True)
