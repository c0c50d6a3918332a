r"""Section 3.2: feature normalisation, "which is high regularization in disguise".

Let r_i = ‖φ(x_i)‖. In terms of φ the SVM on φ(x)/‖φ(x)‖ has a margin and a weight for each point,

    [1 − y_i⟨ω, φ(x_i)⟩/r_i]_+ = (1/r_i) [r_i − y_i⟨ω, φ(x_i)⟩]_+.

If all r_i = r, then with ω = rω′ it is the SVM on φ at the strength λr²: more regularisation for r > 1, and less for r < 1. The paper
assumes ‖φ(x)‖ ≤ 1 throughout. If the r_i differ, it is the SVM on φ at no strength. Orthogonal ψ_i = y_i φ(x_i) show it. On φ the solution
at λ′ is Σ min(1/(nλ′), 1/r_i²) ψ_i, with the coordinates min(r_i/(nλ′), 1/r_i) along the ψ_i/r_i; on φ/r all of them are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.rmw.labelled_samples import Points
from simopt.theorems.small_worlds.exact_svm import gram, optimality_gap, path, piece_at
from simopt.theorems.small_worlds.worlds import dot, scaled, squared

CITATION = "Section 3.2, 'feature normalisation (which is high regularization in disguise)'"
LENGTHS = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
STRENGTHS = tuple(Fraction(2) ** k / 3 for k in range(-8, 9))


def of_lengths(lengths: tuple[Fraction, ...]) -> Points:
    """Orthogonal vectors of these lengths."""
    return [[length * int(i == j) for j in range(len(lengths))] for i, length in enumerate(lengths)]


def strengths(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Values of λ′, both below and above λ = 1, among them all at which two of the three coordinates are equal."""
    for other in STRENGTHS:
        yield {"lambda'": other, "psi": of_lengths(LENGTHS), "lengths": list(LENGTHS), "lambda": Fraction(1)}


def of_one_length(trial: sc.Trial) -> Iterator[sc.Instance]:
    """All lengths r, and λ′ = λr²."""
    for r in (Fraction(1, 2), Fraction(3)):
        yield {"lambda'": r**2, "psi": of_lengths((r, r, r)), "lengths": [r, r, r], "lambda": Fraction(1)}


@sc.claim(
    "RMW-3.2-normal",
    place=CITATION,
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"Feature normalisation is a choice of regularisation: for every sample with 0 < ‖φ(x)‖ ≤ 1 and every λ > 0 there is a λ′ such "
    r"that the SVM on φ(x)/‖φ(x)‖ at λ and the SVM on φ(x) at λ′ classify alike: their solutions are positive multiples of each other.",
    instances=strengths,
    constants=("lambda'",),
    defeats="y φ(x) = (1, 0, 0), (0, ½, 0), (0, 0, ¼) and λ = 1 defeat every λ′. On φ/‖φ‖ the solution is (1, 1, 1)/3, on φ it is "
    "(min(u, 1), min(u/2, 2), min(u/4, 4)), u = 1/(3λ′): the first two are equal only at u = 2, the first and the third only at u = 4.",
    resolution=0.0,
    knobs={},
    mutants={"all ‖φ(x)‖ equal, λ′ = λ‖φ‖²": {"instances": of_one_length}},
    note="λ′ ≥ λ, 'high', is not even asked for: with all ‖φ(x)‖ = r it is λr², below λ for r < 1. What [19] observed of test errors is "
    "its own experiment. Head of feature_normalisation.py.",
)
def normalised_svm_is_no_other_strength(instance: sc.Instance, psi: list[list[Fraction]], lengths: list[Fraction]) -> Iterator[sc.Check]:
    """Both solutions, each certified by a gap of 0, as functionals of φ(x): ‖f‖²‖g‖² = ⟨f, g⟩² and ⟨f, g⟩ ≥ 0."""
    unit = [scaled(vector, 1 / length) for vector, length in zip(psi, lengths, strict=True)]
    solved = []
    for atoms, strength in ((psi, instance["lambda'"]), (unit, instance["lambda"])):
        G = gram(atoms)
        piece = piece_at(path(G), strength)
        coefficients = piece.coefficients(strength)
        yield sc.equal(optimality_gap(G, coefficients, piece.multipliers(strength), strength), 0, "P(f) = D(a)")
        solved.append([dot(coefficients, column) for column in zip(*atoms, strict=True)])
    f, g = solved
    yield sc.equal(squared(f) * squared(g), dot(f, g) ** 2, "parallel")
    yield sc.at_least(dot(f, g), 0, "not opposite")


@sc.claim(
    "RMW-3.2-normal+",
    place=CITATION + ", corrected",
    kind=sc.EQUIVALENCE,
    says=r"Let r_i = ‖φ(x_i)‖ > 0. (i) **If all r_i = r**, the SVM on φ/r at λ, with ω = rω′, is the SVM on φ at λr²: for r > 1 more "
    r"regularisation, **for r < 1, as under the paper's ‖φ(x)‖ ≤ 1, less**. (ii) In general it is on φ an SVM with the margin r_i and "
    r"the weight 1/r_i for the i-th point: [1 − y_i⟨ω, φ(x_i)⟩/r_i]_+ = (1/r_i)[r_i − y_i⟨ω, φ(x_i)⟩]_+.",
    remains="that the mean of equal hinges is equal, and [ra]_+ = r[a]_+ for r > 0",
    exhaustive=True,
    resolution=0.0,
    knobs={"power": 2},
    mutants={"λr": {"power": 1}},
    corrects="RMW-3.2-normal",
    note="So normalisation is high regularisation where it shrinks long features. With ‖φ(x)‖ = 1 every λ ≥ 1 gives the mean classifier, "
    "with ‖φ(x)‖ = r every λ ≥ r² (RMW-SVMl): the same by (i).",
)
def what_normalising_does(trial: sc.Trial) -> Iterator[sc.Check]:
    """The arguments of the hinges, and the penalties."""
    lam, r, y = sc.symbols("lam r y")
    w, phi = list(sc.symbols("w1 w2")), list(sc.symbols("p1 p2"))
    longer = scaled(w, r)
    yield sc.equal(1 - y * dot(longer, phi) / r, 1 - y * dot(w, phi), "(i) the margins of rω′ on φ/r and of ω′ on φ")
    yield sc.equal(lam / 2 * squared(longer), lam * r ** trial["power"] / 2 * squared(w), "(i) the penalties")
    yield sc.equal(r * (1 - y * dot(w, phi) / r), r - y * dot(w, phi), "(ii) margin r and weight 1/r")
