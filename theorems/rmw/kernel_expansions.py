r"""Introduction, (1), and Section 2: which algorithms output Σ α_i y_i K(x, x_i) with α_i ≥ 0, Σ α_i = 1.

Write ψ_i = y_i φ(x_i), and let ψ be a convex potential (Definition 9): convex, ψ′(0) < 0, ψ(v) → 0, so that it never increases. Let ω
minimise (1/n) Σ ψ(⟨ω, ψ_i⟩) + (λ/2)‖ω‖², λ > 0, and p be the point nearest to ω of the cone of the ψ_i. By Moreau ω = p + q with
⟨p, q⟩ = 0 and ⟨q, ψ_i⟩ ≤ 0 for all i. So ⟨p, ψ_i⟩ ≥ ⟨ω, ψ_i⟩, no term of the loss is larger at p, and ‖p‖² = ‖ω‖² − ‖q‖²: q = 0, and
ω = Σ c_i ψ_i with c_i ≥ 0. If Σ c_i > 0, dividing by it changes no sign. If not, ω = 0, so that ψ′(0) ω_S = 0, and α_i = 1/n is a choice.
The same holds of the minimiser of least norm for λ = 0, where there is one.

Boosting takes no such p. It adds, step by step, base classifiers, and what it adds need not lie in the cone of the ψ_i. Let the
base classifiers be (4/5, 0), (0, 4/5), (3/5, 3/5) on x_1, x_2 and ½, ½, −½ on x. In every round, whatever the size of its steps, it votes
with the first for {(x_1, +)}, with the second for {(x_2, +)}, with the third for both. f(x) is > 0, > 0, < 0. The form asks for
K(x, x_1) > 0, K(x, x_2) > 0 and α_1 K(x, x_1) + α_2 K(x, x_2) < 0. A K that is chosen after the sample says nothing: K(x, x′) =
f(x) f(x′) does for every f that gets a point of the sample right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import flint
import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.rmw.labelled_samples import atoms_of, samples
from simopt.theorems.rmw.potentials import NOT_POTENTIALS, POTENTIALS
from simopt.theorems.small_worlds.exact_svm import gram, mean_margins, optimality_gap, path, piece_at, solve
from simopt.theorems.small_worlds.worlds import Vector, add, dot, minus, plus, scaled, squared

CITATION = "Introduction, (1), and Section 2"
LOSSES: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "squared hinge": (lambda v: -2 * np.maximum(1 - v, 0), lambda v: np.where(v < 1, 2.0, 0.0)),
    "logistic": (lambda v: -1 / (1 + np.exp(v)), lambda v: np.exp(v) / (1 + np.exp(v)) ** 2),
    "exponential": (lambda v: -np.exp(-v), lambda v: np.exp(-v)),
    "squared": (lambda v: -2 * (1 - v), lambda v: np.full_like(v, 2.0)),
}
"""First and second derivatives, in floats: they only propose ω, which is judged by enclosures."""


def penalised_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Samples of every kind with a loss and a strength; the hinge is solved exactly for every λ at once."""
    losses = trial["losses"]
    for i, instance in enumerate(samples(trial)):
        yield {**instance, "loss": "hinge", "strength": None}
        yield {**instance, "loss": losses[i % len(losses)], "strength": Fraction(2) ** (i % 5 - 9)}


def proposed(loss: str, atoms: Sequence[Vector], strength: Fraction) -> list[Fraction]:
    """A rational vector next to the minimiser of (1/n) Σ ψ(⟨ω, ψ_i⟩) + (λ/2)‖ω‖², by Newton's method on ω alone."""
    slope, curvature = LOSSES[loss]
    psi, lam = np.array(atoms, dtype=float), float(strength)

    def gradient(w: Array) -> Array:
        return np.asarray(lam * w + psi.T @ slope(psi @ w) / len(psi))

    w = np.zeros(psi.shape[1])
    for _ in range(60):
        way = np.linalg.solve(lam * np.eye(len(w)) + (psi.T * curvature(psi @ w)) @ psi / len(psi), gradient(w))
        step = 1.0
        while step > 1e-6 and np.linalg.norm(gradient(w - step * way)) > np.linalg.norm(gradient(w)):
            step /= 2
        w = w - step * way
    return [Fraction(float(value)) for value in w]


def squared_distance_to_cone(atoms: Sequence[Vector], target: Vector) -> Fraction:
    """The least ‖target − Σ c_i ψ_i‖² over c ≥ 0: the nearest point lies in the relative interior of a cone of independent ψ_i."""
    best = Fraction(squared(target))
    for size in range(1, len(atoms) + 1):
        for chosen in combinations(atoms, size):
            solved = solve([[Fraction(dot(a, b)) for b in chosen] for a in chosen], [[Fraction(dot(a, target)) for a in chosen]])
            if solved is not None and min(solved[0]) >= 0:
                columns = zip(*chosen, strict=True)
                best = min(best, Fraction(squared(minus(target, [dot(solved[0], column) for column in columns]))))
    return best


@sc.claim(
    "RMW-2-form",
    place=CITATION + ", the SVM and logistic regression",
    kind=sc.EQUIVALENCE,
    says=r"The SVM (3) and logistic regression output a classifier sign Σ α_i y_i K(x, x_i), α_i ≥ 0, Σ α_i = 1. Let ψ be a convex "
    r"potential (Definition 9), K the kernel of φ, λ > 0. The minimiser of (1/n) Σ ψ(y_i⟨ω, φ(x_i)⟩) + (λ/2)‖ω‖² is c Σ α_i y_i φ(x_i) "
    r"with α_i ≥ 0, Σ α_i = 1, c ≥ 0, and c = 0 only if ω_S = 0. (Tried for the hinge, its square, the logistic, the exponential.)",
    instances=penalised_samples,
    knobs={"losses": ("logistic", "exponential", "squared hinge")},
    mutants={"(1 − v)², which increases beyond 1": {"losses": ("squared",)}},
    note="'Of the form' means up to the factor c, as in section 6.6: the display of section 2 leaves out the sign, and the solution itself "
    "has Σ α_i = 1 for one λ at most. Without a penalty it holds of the minimiser of least norm, where one exists. An intercept, which "
    "(3) has not, is not of the form. Boosting: RMW-2-boosting. Proof in the head of kernel_expansions.py; the hinge is solved exactly on "
    "each piece of its path, the others as close to the cone as the enclosed gradient at a rational ω says.",
)
def minimisers_are_in_the_cone(
    features: list[list[Fraction]], labels: list[int], loss: str, strength: Fraction | None
) -> Iterator[sc.Check]:
    """The SVM's multipliers on each piece of the path; or the distance from the cone, against what the gradient leaves open."""
    atoms = atoms_of(labels, features)
    G = gram(atoms)
    if strength is None:
        pieces = path(G)
        for piece in pieces:
            lam = piece.low if piece.low > 0 else (piece.high or Fraction(1)) / 2
            coefficients = piece_at(pieces, lam).coefficients(lam)
            yield sc.equal(optimality_gap(G, coefficients, piece_at(pieces, lam).multipliers(lam), lam), 0, "P(f_λ) = D(a)")
            yield sc.at_least(min(coefficients), 0, "least weight")
            yield sc.at_least(add(coefficients), 0, "sum of the weights", strict=True)
        return
    potential = (POTENTIALS | NOT_POTENTIALS)[loss]
    w = proposed(loss, atoms, strength)
    gradient: list[Any] = scaled(w, strength)
    for atom in atoms:
        gradient = plus(gradient, scaled(atom, potential.slope(Fraction(dot(w, atom))) / len(atoms)))
    reach = squared(gradient) / strength**2  # ≥ ‖ω − w‖², the objective being λ-strongly convex
    yield sc.at_most(squared_distance_to_cone(atoms, w), reach, "squared distance of w from the cone", scale=1 + squared(w))
    if any(mean_margins(G)):
        yield sc.at_least(squared(w), reach, "ω ≠ 0", strict=True)
    else:
        yield sc.at_most(squared(w), reach, "ω_S = 0: ω = 0", scale=1)


BASE = {"x1": ["4/5", "0", "3/5"], "x2": ["0", "4/5", "3/5"]}
AT_X = ["1/2", "1/2", "-1/2"]


def boosted(base: Sequence[Sequence[Fraction]], labels: Sequence[int], rounds: int, step: Fraction) -> list[Fraction]:
    """Votes of boosting: in each round `step` for the base classifier with the largest |Σ w_i y_i h_j(x_i)|, w_i = exp(−y_i F(x_i)).

    `base` has a row h(x_i) for each point. This is coordinate descent on the exponential loss, AdaBoost but for the size of its steps.

    Raises
    ------
    ArithmeticError
        where enclosures do not tell which base classifier is best, as where two are equally good.
    """
    votes = [Fraction(0)] * len(base[0])
    for _ in range(rounds):
        margins = [y * Fraction(dot(row, votes)) for row, y in zip(base, labels, strict=True)]
        weights = [flint.arb(_rational(min(margins) - m)).exp() for m in margins]
        edges = [
            sum((w * _rational(y * row[j]) for w, row, y in zip(weights, base, labels, strict=True)), start=flint.arb(0))
            for j in range(len(votes))
        ]
        best = [j for j, edge in enumerate(edges) if all(abs(edge) > abs(other) for i, other in enumerate(edges) if i != j)]
        if not best:
            raise ArithmeticError("which base classifier is best is not decided")
        votes[best[0]] += step if edges[best[0]] > 0 else -step
    return votes


def _fractions(values: Sequence[str]) -> list[Fraction]:
    return [Fraction(value) for value in values]


def _rational(value: Fraction) -> Any:
    return flint.fmpq(value.numerator, value.denominator)


def three_samples(similarity: dict[str, Any], at_x: list[str]) -> Iterator[sc.Instance]:
    """{(x_1, +)}, {(x_2, +)} and both, boosted with small and with large steps."""
    for points in (["x1"], ["x2"], ["x1", "x2"]):
        for step in (Fraction(1, 10), Fraction(1)):
            yield {"K": similarity, "points": points, "at x": at_x, "step": step, "rounds": 4}


def similarities(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K(x, x_1) and K(x, x_2) by their signs, which are all that matters."""
    for first, second in product((-1, 0, 1), repeat=2):
        yield from three_samples({"x1": first, "x2": second}, AT_X)


def agreeing(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K(x, x_i) = Σ h_j(x) h_j(x_i), where all base classifiers say the same of x."""
    at_x = ["1/2"] * 3
    yield from three_samples({point: dot(_fractions(at_x), _fractions(row)) for point, row in BASE.items()}, at_x)


@sc.claim(
    "RMW-2-boosting",
    place=CITATION + ", boosting",
    kind=sc.EXISTENCE,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"Boosting outputs a classifier sign Σ α_i y_i K(x, x_i), α_i ≥ 0, Σ α_i = 1: for base classifiers with values in [−1, 1] there "
    r"is a similarity K, fixed before the sample is seen, for which this is true of every sample.",
    instances=similarities,
    constants=("K",),
    defeats="on the base classifiers of kernel_expansions.py K(x, x_1) ≤ 0 is defeated by the sample {(x_1, +)}, K(x, x_2) ≤ 0 by "
    "{(x_2, +)}, and all others by {(x_1, +), (x_2, +)}, to which x is negative. Only the signs of the two matter.",
    resolution=0.0,
    exhaustive=True,
    knobs={},
    mutants={"base classifiers that agree at x, and their kernel": {"instances": agreeing}},
    note="True where K may depend on the sample, of every classifier that gets one point right; true of what minimises a penalised "
    "potential (RMW-2-form). The samples are separable: the exponential loss has no minimiser over the span, and which base classifiers "
    "get votes depends on the path. The votes go to one of them in every round, with AdaBoost's own steps as with any other.",
)
def boosting_is_of_the_form(
    instance: sc.Instance, points: list[str], rounds: int, step: Fraction, K: dict[str, Fraction | int]
) -> Iterator[sc.Check]:
    """The largest value that f(x) Σ α_i y_i K(x, x_i) can have for the boosted f; α lies in a simplex, and all labels are +."""
    base = [_fractions(BASE[point]) for point in points]
    votes = boosted(base, [1] * len(base), rounds, step)
    at_x, similar = sc.inputs(at_x=instance["at x"], K=[K[point] for point in points])
    f = dot(votes, at_x)
    yield sc.distinct(f, 0, "f(x) ≠ 0")
    yield sc.at_least(sc.maximum(*(f * value for value in similar)), 0, "f(x) max_i y_i K(x, x_i), on the side of f(x)", strict=True)


@sc.claim(
    "RMW-2-boosting+",
    place=CITATION + ", boosting, corrected",
    kind=sc.EQUIVALENCE,
    says=r"With φ = (h_1, …, h_J), K = ⟨φ, φ⟩ and ψ_i = y_i φ(x_i), **the minimiser of least norm of the exponential loss of votes, where "
    r"there is one**, is of the form Σ α_i y_i K(x, x_i), α_i ≥ 0: it lies in the span of the ψ_i, F = Σ c_i ψ_i; its gradient is 0, "
    r"Σ w_i ψ_i = 0 with w_i = exp(−y_i F(x_i)) > 0; so F is also Σ (c_i + t w_i) ψ_i, and no coefficient is negative for "
    r"t ≥ max −c_i/w_i. What boosting outputs in general is a vote Σ c_t h_t, with ±h_t where the form has y_i K(·, x_i).",
    remains="samples of more than three points, where the sums read the same; that the gradient vanishes at a minimum",
    exhaustive=True,
    resolution=0.0,
    knobs={"both": 1},
    mutants={"Σ w_i ψ_i ≠ 0": {"both": 0}},
    corrects="RMW-2-boosting",
    note="A minimiser exists if and only if 0 lies in the relative interior of the hull of the ψ_i: no vote is right on all points unless "
    "it is 0 on all. Up to a factor, as in RMW-2-form. The same is true of logistic regression without penalty.",
)
def weights_at_a_minimum_can_be_added(trial: sc.Trial) -> Iterator[sc.Check]:
    """Three points in the plane, the third ψ such that the gradient is 0; and what t does to one coefficient."""
    t = sc.symbols("t")[0]
    c, w = list(sc.symbols("c1 c2 c3")), list(sc.symbols("w1 w2 w3"))
    psi = [list(sc.symbols(f"a{i} b{i}")) for i in range(2)]
    psi.append([-(w[0] * p + trial["both"] * w[1] * q) / w[2] for p, q in zip(*psi, strict=True)])
    for j in range(2):
        before = add(coefficient * atom[j] for coefficient, atom in zip(c, psi, strict=True))
        after = add((coefficient + t * weight) * atom[j] for coefficient, weight, atom in zip(c, w, psi, strict=True))
        yield sc.equal(after, before, f"Σ (c_i + t w_i) ψ_i = Σ c_i ψ_i, coordinate {j + 1}")
    yield sc.equal(c[0] + t * w[0], w[0] * (t - (-c[0] / w[0])), "≥ 0 for t ≥ −c_i/w_i")
