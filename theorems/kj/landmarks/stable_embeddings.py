r"""Appendix B: 'although [8] uses pairs', 'this analysis holds for any stable embedding'. Consequences of stability alone.

An embedding gives every S coordinates q_1(·, S), …, q_D(·, S) in [−1, 1]; f_{S,w} = (1/D) Σ w_i q_i(·, S), ‖w‖_∞ ≤ B; F_S, g(S) as there.
It is c-stable if one changed point moves no f_{S,w} by more than c/n anywhere. Appendix B's own one has D = n, q_i = K(·, x_i), c = 2B.

Stability bounds the mean of g without any monotonicity, more slowly than the paper's n^{−1/2}: for m that divides n

    E g(S) ≤ 2BC_L/√m + 2cC_L m/n,    of order n^{−1/3} at m of order n^{2/3}.

L̂ is a mean over n/m blocks of m points. With the points of one block replaced by fixed ones no f moves by more than cm/n. The block is
a fresh sample for the embedding of the others, whose class has Rademacher average (B/D) Σ_i E |mean of σ_k q_i(x_k)| ≤ B/√m. Whether
n^{−1/2} follows from stability as well we do not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kj.landmarks.dipping_domains import ONE, ZERO, Domain, domain, random_domain
from simopt.theorems.kj.landmarks.piecewise_linear import box, largest, mass_differences
from simopt.theorems.kj.landmarks.stability import SECTION, Sample, moved_coordinate, samples

HALF = Fraction(1, 2)


@sc.claim(
    "KJ-B-pairs",
    section=SECTION,
    place="Appendix B: 'although [8] uses pairs of labeled points to define the embedding'",
    kind=sc.INEQUALITY,
    says=r"An embedding by pairs of points is stable, too: let f = (1/D) Σ w_i q_i, |w_i| ≤ B, where q_i in [−1, 1] depends on the points "
    r"of pair i. For D = n/2 pairs without common points one changed point moves f by |w_i| |q − q'|/D ≤ **4**B/n, twice the 2B/n of "
    r"KJ-B-stab; for all D = n_+ n_− pairs of two classes a changed point of the first, which is in n_− pairs, by ≤ 2B/n_+, and likewise. "
    r"For 2B ± w(q − q') = ½[(B ∓ w)(2 − (q − q')) + (B ± w)(2 + (q − q'))] ≥ 0. Equality at w = B, q = 1, q' = −1. (In symbols.)",
    exhaustive=True,
    knobs={"bound": 4},
    mutants={"2B/n": {"bound": 2}},
    note="'Identical with respect to being stable' in the order, not in the constant. What is tested of [8] is that its coordinates are "
    "bounded functions of x and a pair; its text was not at hand.",
)
def pairs_are_stable(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both signs for one pair; the sizes of both embeddings; the example that attains the bound."""
    w, q, other, B, n, plus, minus = sc.symbols("w q other B n plus minus")
    yield from moved_coordinate(w, q, other, B, 2 * B, ("q", "q'"))
    yield sc.equal(trial["bound"] * B / n, 2 * B / (n / 2), "n/2 pairs")
    yield sc.equal(minus * (2 * B) / (plus * minus), 2 * B / plus, "all pairs")
    yield sc.equal(B * (1 - (-1)) / (n / 2), 4 * B / n, "w = B, q = 1, q' = −1")


def coordinates(gram: Sequence[list[Fraction]], embedding: str, drawn: Sample) -> list[list[Fraction]]:
    """q_i(x, S), rows x, of the three embeddings: K(x, x_i); ½(K(x, x_{2i}) − K(x, x_{2i+1})); the mean of K(x, x_j) over j."""
    n = len(drawn)
    if embedding == "landmarks":
        return [[row[x] for x in drawn] for row in gram]
    if embedding == "pairs":
        return [[(row[a] - row[b]) / 2 for a, b in zip(drawn[::2], drawn[1::2], strict=True)] for row in gram]
    return [[sum((row[x] for x in drawn), ZERO) / n] for row in gram]


def embedded_gap(here: Domain, rows: list[list[Fraction]], drawn: Sample) -> Fraction:
    """g(S) of the coordinates `rows`, exactly; at most three coordinates."""
    D, counts = len(rows[0]), samples(drawn, len(here.masses))
    coefficients = mass_differences(here.masses, counts)
    return largest(coefficients, [[q / D for q in row] for row in rows], here.targets, box([here.B] * D))


def mixtures(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K(·, a) = (1, 0) and K(·, b) = (0, 1) on the points a and b; S = (a), S' = (b)."""
    yield domain([HALF, HALF], [[1, 0], [0, 1]], [0, 0], 1, 1) | {"embedding": "mean", "drawn": [0], "more": [1]}


def landmarks(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same points with the embedding by landmarks."""
    for made in mixtures(trial):
        yield made | {"embedding": "landmarks"}


@sc.claim(
    "KJ-B-any",
    section=SECTION,
    place="Appendix B: 'in fact this analysis holds for any stable embedding defined using training points'",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"If an embedding is stable and bounded, its classes grow with S, as the third step of Theorem 20 needs: each f ∈ F_S is in F_{S "
    r"∪ S'}, with weights bounded by 2B instead of B (the halved 1/n).",
    instances=mixtures,
    knobs={},
    mutants={"landmarks": {"instances": landmarks}},
    note="One coordinate, the mean of K(·, x_j) over S, is 2B-stable. With K(·, a) = (1, 0), K(·, b) = (0, 1) on {a, b}: F_{(a)} has (1, "
    "0), F_{(a, b)} has multiples of (1/2, 1/2) only, whatever the weights. The paper names the monotonicity as a requirement of [11], "
    "but not here. What stability gives is KJ-B-any+.",
)
def classes_grow(gram: list[list[Fraction]], embedding: str, drawn: list[int], more: list[int]) -> Iterator[sc.Check]:
    """The first coordinate of S with weight B: the least largest error of weights within 2B of S ∪ S', at the two points."""
    f = [row[0] / len(row) for row in coordinates(gram, embedding, tuple(drawn))]
    rows = coordinates(gram, embedding, (*drawn, *more))
    if len(rows[0]) == 1:
        yield sc.equal(f[0] * rows[1][0], f[1] * rows[0][0], "f is a multiple of the one coordinate")
        return
    first = [2 * row[0] / len(row) for row in rows]  # the weights (2B, 0)
    for here, there in zip(first, f, strict=True):
        yield sc.equal(here, there, "f with the weights (2B, 0)")


def changed_points(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Three embeddings on random domains, with targets beyond B, and K = 0; all samples with one changed point are tried."""
    for n in (2, 4):
        yield domain([HALF, HALF], [[0, 0], [0, 0]], [0, 2], 1, n) | {"embedding": "pairs", "drawn": [0] * n}
        yield domain([HALF, HALF], [[1, -1], [-1, 1]], [1, -1], 1, n) | {"embedding": "mean", "drawn": [0] * n}
    for k in range(trial.count(24, 200)):
        embedding = ("landmarks", "pairs", "mean")[k % 3]
        n = int(trial.rng.integers(1, 4)) * (2 if embedding == "pairs" else 1)
        points = int(trial.rng.integers(2, 5))
        made = random_domain(trial.rng, points, n, reach=int(trial.rng.integers(2, 9)))
        yield made | {"embedding": embedding, "drawn": [int(x) for x in trial.rng.integers(0, points, size=n)]}


@sc.claim(
    "KJ-B-any+",
    section=SECTION,
    place="Appendix B: what holds for any stable embedding",
    kind=sc.INEQUALITY,
    says=r"If the loss is C_L-Lipschitz in f and takes values in an interval of length M on the predictions, and the embedding is "
    r"**c-stable**, then **|g(S) − g(S^i)| ≤ (2cC_L + M)/n**: Theorem 19 for any stable embedding, and so McDiarmid's inequality for g. "
    r"(Embeddings by landmarks, by pairs and by a mean; absolute loss, M the largest |f| + |y|, c/n the largest move of f at these "
    r"samples; all exactly.)",
    instances=changed_points,
    knobs={"range": ONE, "moves": 2},
    mutants={"9/10 of the range": {"range": Fraction(9, 10)}},
    corrects="KJ-B-any",
    note="L_f moves by cC_L/n, the losses at the n − 1 common points by cC_L/n on average, and one loss is another one: M/n. The mean of "
    "g does not need Theorem 20's monotonicity: see the head of theorems/kj/landmarks/stable_embeddings.py for a bound of order n^{−1/3}.",
)
def gaps_of_stable_embeddings(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    B: Fraction,
    n: int,
    embedding: str,
    drawn: list[int],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The gaps of S and of all samples with another first point."""
    here, rows = Domain(masses, gram, targets, B, n), coordinates(gram, embedding, tuple(drawn))
    gap = embedded_gap(here, rows, tuple(drawn))
    for other in range(len(masses)):
        changed = (other, *drawn[1:])
        new = coordinates(gram, embedding, changed)
        found = list(zip(rows, new, strict=True))
        moved = max(_size([a - b for a, b in zip(*both, strict=True)]) for both in found)
        reach = max(B * max(map(_size, both)) + abs(y) for both, y in zip(found, targets, strict=True))
        bound = trial["moves"] * B * moved + trial["range"] * reach / len(drawn)
        yield sc.at_most(abs(gap - embedded_gap(here, new, changed)), bound, f"|g(S) − g(S')|, {embedding}")


def _size(row: list[Fraction]) -> Fraction:
    """sup |f|/B at a point, over ‖w‖_∞ ≤ B."""
    return sum((abs(q) for q in row), ZERO) / len(row)
