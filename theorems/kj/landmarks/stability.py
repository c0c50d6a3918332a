r"""Theorem 19: how much one point moves a predictor built on its own sample, and the largest gap g(S); with McDiarmid's Theorem 18.

The proof (Appendix B) fails at its first display and where one point moves a mean of losses: it forgets the range of the loss. With it the
constant of KJ-T19+ is the best possible for every n.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Any

import simopt.claims as sc
from simopt.theorems.kj.landmarks.dipping_domains import ONE, ZERO, Domain, decoded_domain, domain, indistinct, largest_gap, random_domain
from simopt.theorems.kj.landmarks.piecewise_linear import box, largest, range_of_loss
from simopt.theorems.small_worlds.exact_tails import Counts, ball, holds_for_all_levels, tails
from simopt.theorems.small_worlds.sampled_worlds import weights

SECTION = "regression"
Sample = tuple[int, ...]
Pair = tuple[Sample, Sample]  # they differ in one point


def functions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Sums of signs, where the inequality is nearest to equality, and tables of random functions of up to four variables."""
    for n in range(1, 7):
        for scale in ((1,) * n, tuple(range(1, n + 1))):
            yield {"table": [sum(c * s for c, s in zip(scale, signs, strict=True)) for signs in itertools.product((1, -1), repeat=n)],
                   "laws": [[Fraction(1, 2)] * 2] * n}  # fmt: skip
    for _ in range(trial.count(30, 300)):
        n = int(trial.rng.integers(1, 5))
        values = int(trial.rng.integers(2, 4))
        size = values**n
        yield {
            "table": [int(v) for v in trial.rng.integers(-4, 5, size=size)],
            "laws": [weights(trial.rng, values) for _ in range(n)],
        }


@sc.claim(
    "KJ-T18",
    section=SECTION,
    place="Theorem 18, McDiarmid's inequality",
    kind=sc.HIGH_PROBABILITY,
    says=r"If X_1, …, X_n are independent and changing the i-th argument moves f by at most c_i, then P(f − E f > ε) ≤ exp(−2ε²/Σ c_i²) "
    r"for every ε > 0. (Checked at every value of f, exactly, with the smallest c_i.)",
    instances=functions,
    knobs={"factor": Fraction(2)},
    mutants={"exp(−8ε²/Σ c_i²)": {"factor": Fraction(8)}},
)
def differences_concentrate(table: list[int], laws: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """The exact tail of f − E f at each of its values."""
    points = list(itertools.product(*(range(len(law)) for law in laws)))
    f = {point: Fraction(value) for point, value in zip(points, table, strict=True)}
    masses = {point: prod((law[x] for law, x in zip(laws, point, strict=True)), start=ONE) for point in points}
    mean = sum((f[point] * masses[point] for point in points), ZERO)
    spread = ZERO
    for i, law in enumerate(laws):
        moves = [abs(f[x] - f[(*x[:i], other, *x[i + 1 :])]) for x in points for other in range(len(law))]
        spread += max(moves) ** 2
    found = tails([(f[point] - mean, masses[point]) for point in points])

    def exponent(t: Fraction) -> Any:
        return ball(trial["factor"] * t**2 / spread) if t > 0 else None

    yield holds_for_all_levels(found, exponent, "f − E f")


def moved_coordinate(w: Any, q: Any, other: Any, B: Any, bound: Any, letters: tuple[str, str]) -> Iterator[sc.Check]:
    """2B ∓ w(q − q') as half a sum of products of factors that are ≥ 0 for |w| ≤ B and |q|, |q'| ≤ 1; `bound` is what is claimed for 2B."""
    one, two = letters
    for sign in (1, -1):
        parts = (B - sign * w) * (2 + (q - other)) + (B + sign * w) * (2 - (q - other))
        yield sc.equal(bound - sign * w * (q - other), parts / 2, f"2B ∓ w({one} − {two})")
        yield sc.equal(2 + sign * (q - other), (1 + sign * q) + (1 - sign * other), f"2 ± ({one} − {two})")


@sc.claim(
    "KJ-B-stab",
    section=SECTION,
    place="Appendix B, stability of the embedding",
    kind=sc.INEQUALITY,
    says=r"If **|K| ≤ 1** and ‖w‖_∞ ≤ B, then |f_{S,w}(x) − f_{S^i,w}(x)| = |w_i| |K(x, x_i) − K(x, x_i')|/n ≤ 2B/n for all x: with w = "
    r"w_i, k = K(x, x_i), l = K(x, x_i'), 2B ± w(k − l) = ½[(B ∓ w)(2 − (k − l)) + (B ± w)(2 + (k − l))], where 2 ± (k − l) = (1 ± k) + "
    r"(1 ∓ l). All four factors are ≥ 0. Equality at w = B, k = 1, l = −1.",
    exhaustive=True,
    knobs={"bound": 2},
    mutants={"B/n": {"bound": 1}},
    note="The paper asks for K ≤ 1 only; then K = −10 against K = 1 moves f by 11B/n.",
)
def one_landmark_moves_the_predictor(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both signs."""
    w, k, other, B = sc.symbols("w k l B")
    yield from moved_coordinate(w, k, other, B, trial["bound"] * B, ("k", "l"))


def samples(drawn: Sample, points: int) -> Counts:
    """How often each of the points occurs."""
    return tuple(drawn.count(x) for x in range(points))


def changes(here: Domain, pairs: list[Pair] | None = None) -> Fraction:
    """max |g(S) − g(S^i)| over the given pairs of samples, or over all pairs."""
    points = len(here.masses)
    if pairs is None:
        everyone = itertools.product(range(points), repeat=here.n)
        pairs = [((x, *rest), (other, *rest)) for x, *rest in everyone for other in range(x)]
    found: dict[Counts, Fraction] = {}

    def gap(drawn: Sample) -> Fraction:
        counts = samples(tuple(drawn), points)
        if counts not in found:
            found[counts] = largest_gap(here, counts)
        return found[counts]

    return max(abs(gap(a) - gap(b)) for a, b in pairs)


def other_target(y: int) -> Iterator[sc.Instance]:
    """K = 0, targets 0 and y with equal chances, B = 1; one point with target 0 becomes one with target y."""
    for n in (1, 2, 5):
        yield indistinct(0, [0, y], n) | {"pairs": [((0,) * n, (1,) + (0,) * (n - 1))]}


def far_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Targets 0 and 10."""
    yield from other_target(10)


@sc.claim(
    "KJ-T19",
    section=SECTION,
    place="Theorem 19",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"If |K| ≤ 1 and the loss is C_L-Lipschitz in f(x), then |g(S) − g(S^i)| ≤ 6BC_L/n for g(S) = sup_{f ∈ F_S} (L_f − L̂^S_f) and "
    r"samples of n points that differ in the i-th.",
    instances=far_targets,
    knobs={"range": 0},
    mutants={"plus the range of the loss": {"range": 1}},
    note="K = 0 and |y| ∈ {0, 10}, B = 1: every f is 0, and g(S) moves by 10/n > 6/n. The proof bounds L̂^S_f − L̂^{S^i}_f by the "
    "Lipschitz property, which compares predictions for one target, not losses at two points (KJ-T19-p1). True as printed if the loss has "
    "a range M ≤ 4BC_L, so under |y| ≤ B.",
)
def gap_is_stable_as_printed(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    B: Fraction,
    n: int,
    pairs: list[Pair],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The change of g(S)."""
    bound = (6 * B + trial["range"] * range_of_loss(B, targets)) / n
    yield sc.at_most(changes(Domain(masses, gram, targets, B, n), pairs), bound, f"|g(S) − g(S')|, n = {n}")


def unlike_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Targets 0 and 1 = B."""
    yield from other_target(1)


def frequencies(here: Domain, drawn: Sample) -> list[Fraction]:
    """The empirical distribution of a sample."""
    return [Fraction(k, here.n) for k in samples(drawn, len(here.masses))]


def supremum(here: Domain, drawn: Sample, coefficients: list[Fraction]) -> Fraction:
    """sup_{f ∈ F_S} Σ_x c_x |f(x) − y(x)|, exactly."""
    counts = samples(drawn, len(here.masses))
    marks = [x for x, k in enumerate(counts) if k]
    slopes = [[row[x] / here.n for x in marks] for row in here.gram]
    return largest(coefficients, slopes, here.targets, box([counts[x] * here.B for x in marks]))


def _first_display(here: Domain, pairs: list[Pair], sign: int) -> Iterator[sc.Check]:
    """g(S) against sup (L_f − L̂^{S^i}_f) + sup ±(L̂^{S^i}_f − L̂^S_f), all over F_S."""
    for sample, neighbour in pairs:
        drawn, other = tuple(sample), tuple(neighbour)
        p, q, r = here.masses, frequencies(here, drawn), frequencies(here, other)
        whole, first, second = ([a - b for a, b in zip(x, z, strict=True)] for x, z in ((p, q), (p, r), (r, q)))
        bound = supremum(here, drawn, first) + supremum(here, drawn, [sign * c for c in second])
        yield sc.at_most(supremum(here, drawn, whole), bound, f"g(S), n = {here.n}")


@sc.claim(
    "KJ-T19-p0",
    section=SECTION,
    place="Appendix B, proof of Theorem 19, the first display",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.TYPO,
    says=r"g(S) = sup_{f ∈ F_S} (L_f − L̂^S_f) ≤ sup_{f ∈ F_S} (L_f − L̂^{S^i}_f) + sup_{f ∈ F_S} (L̂^S_f − L̂^{S^i}_f).",
    instances=unlike_targets,
    knobs={"sign": -1},
    mutants={"L̂^{S^i} − L̂^S": {"sign": 1}},
    note="K = 0, B = 1, y = 0 or 1 fairly, n = 1: f = 0, L = 1/2; S has y = 0, S^i has y = 1: 1/2 ≤ −1/2 − 1. The last difference has the "
    "wrong sign. Harmless: its bound is used for either sign (and is wrong for another reason, KJ-T19-p1).",
)
def first_display_as_printed(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    B: Fraction,
    n: int,
    pairs: list[Pair],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """All three suprema, exactly."""
    yield from _first_display(Domain(masses, gram, targets, B, n), pairs, trial["sign"])


def sharp_pair(n: int, Y: Fraction) -> sc.Instance:
    """All mass on o (y = −Y); n − 1 copies of a and one b, both predicted perfectly by w = B; then c in the place of b."""
    # points o, a, b, c;  K(o, a) = K(a, a) = K(b, a) = 1 = K(o, b) = …, K(c, a) = −1, K(·, c) = 0
    gram = [[0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, -1, -1, 0]]
    made = domain([ONE, ZERO, ZERO, ZERO], gram, [-Y, 1, 1, Y], 1, n)
    rest = (1,) * (n - 1)
    return made | {"pairs": [((2, *rest), (3, *rest))]}


def domains_and_sharp_pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The sharp pairs for n ≤ 6, and random domains with all their samples."""
    for n in range(1, 7):
        for Y in (ONE, Fraction(3)):
            yield sharp_pair(n, Y)
    for _ in range(trial.count(8, 60)):
        points = int(trial.rng.integers(2, 4))
        n = int(trial.rng.integers(1, 4))
        yield random_domain(trial.rng, points, n, reach=int(trial.rng.integers(2, 12)))


def neighbours(n: int, points: int) -> Pair:
    """All points in turn, and the same with another first one."""
    cycle = tuple(x % points for x in range(n))
    return cycle, ((cycle[0] + 1) % points, *cycle[1:])


def with_pairs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The witnesses of the printed sign; sharp pairs and random domains, two samples that differ in one point."""
    yield from unlike_targets(trial)
    for made in domains_and_sharp_pairs(trial):
        yield {"pairs": [neighbours(made["n"], len(made["masses"]))]} | made


@sc.claim(
    "KJ-T19-p0+",
    section=SECTION,
    place="Appendix B, proof of Theorem 19, the first display, corrected",
    kind=sc.INEQUALITY,
    says=r"g(S) ≤ sup_{f ∈ F_S} (L_f − L̂^{S^i}_f) + sup_{f ∈ F_S} (**L̂^{S^i}_f − L̂^S_f**), since L_f − L̂^S_f is the sum of both "
    r"differences for every f. (Exactly, on small domains.)",
    instances=with_pairs,
    knobs={"sign": 1},
    mutants={"the printed sign": {"sign": -1}},
    corrects="KJ-T19-p0",
)
def first_display(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    B: Fraction,
    n: int,
    pairs: list[Pair],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """All three suprema, exactly."""
    yield from _first_display(Domain(masses, gram, targets, B, n), pairs, trial["sign"])


def losses_on(here: Domain, drawn: Sample, other: Sample) -> Fraction:
    """sup_{f ∈ F_S} (L̂^{S'}_f − L̂^S_f) for the absolute loss: like g, with the masses of S' in the place of the domain's."""
    return largest_gap(here._replace(masses=frequencies(here, other)), samples(drawn, len(here.masses)))


@sc.claim(
    "KJ-T19-p1",
    section=SECTION,
    place="Appendix B, proof of Theorem 19, the first 2BC_L/n",
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"If |K| ≤ 1 and the loss is C_L-Lipschitz, sup_{f ∈ F_S} |L̂^S_f − L̂^{S^i}_f| ≤ 2BC_L/n.",
    instances=far_targets,
    knobs={"range": 0},
    mutants={"plus the range of the loss": {"range": 1}},
    note="The two means differ in one term, at two points with two targets: the difference is up to M/n, M the range of the loss.",
)
def means_differ_as_printed(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    B: Fraction,
    n: int,
    pairs: list[Pair],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """K = 0: the losses are |y_i| and |y_i'|."""
    ((drawn, other),) = pairs
    moved = losses_on(Domain(masses, gram, targets, B, n), drawn, other)
    yield sc.at_most(moved, (2 * B + trial["range"] * range_of_loss(B, targets)) / n, f"difference of the means, n = {n}")


@sc.claim(
    "KJ-T19-p1+",
    section=SECTION,
    place="Appendix B, proof of Theorem 19, with the range of the loss",
    kind=sc.INEQUALITY,
    says=r"If |K| ≤ 1 and the loss takes values in an interval of length M on the predictions of F_S, then |L̂^S_f − L̂^{S^i}_f| ≤ M/n; "
    r"for the absolute loss M = B + sup|y|, and this is attained.",
    instances=domains_and_sharp_pairs,
    knobs={"share": ONE},
    mutants={"half": {"share": Fraction(1, 2)}},
    note="The means differ in one of n terms. On the samples of KJ-T19-sharp, with Y ≥ B, w = B has loss 0 at b and B + Y at c.",
    corrects="KJ-T19-p1",
)
def means_differ(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    B: Fraction,
    n: int,
    trial: sc.Trial,
    pairs: list[Pair] | None = None,
) -> Iterator[sc.Check]:
    """The supremum over F_S, exactly, for two samples that differ in one point."""
    here, M = Domain(masses, gram, targets, B, n), range_of_loss(B, targets)
    for drawn, other in pairs or [neighbours(n, len(masses))]:
        moved = losses_on(here, tuple(drawn), tuple(other))
        yield sc.at_most(moved, trial["share"] * M / n, f"difference of the means, n = {n}")


def stability_bound(B: Any, Y: Any, n: Any, *, fields: int, saved: int) -> Any:
    """(3B + Y)/n − 2B/n² for 3 `fields` and 2 `saved`: what one point moves g by at most, for |y| ≤ Y and the absolute loss."""
    return (fields * B + Y) / n - saved * B / n**2


@sc.claim(
    "KJ-T19-sharp",
    section=SECTION,
    place="Theorem 19, ours: the constant is the best possible for every n",
    kind=sc.TIGHTNESS,
    says=r"For all n ≥ 1, B > 0, Y ≥ B some domain with |K| ≤ 1 and |y| ≤ Y and two samples have g(S) − g(S^i) = (3B + Y)/n − 2B/n². All "
    r"mass is on o with y = −Y; S is n − 1 times a and b with y = B, on which f = B for w = B, as on o: g(S) ≥ B + Y. In S^i the point c, "
    r"y = Y, is in the place of b, K(·, c) = 0, K(c, a) = −1; with s in [−B, B] the mean of the weights of a, g(S^i) = max_s G(s) for "
    r"G(s) = s(n−1)/n + Y − (n−1)/n (B − s(n−1)/n) − (Y + s(n−1)/n)/n, and G(B) − G(s) = 2((n−1)/n)² (B − s) ≥ 0.",
    remains="that g(S^i) is the largest G(s), and that f = B on o is admissible, from the samples of the sentence",
    exhaustive=True,
    knobs={"fields": 3},
    mutants={"2B + Y": {"fields": 2}},
    note="KJ-T19+ computes g for n ≤ 6 on these samples.",
)
def stability_is_sharp(trial: sc.Trial) -> Iterator[sc.Check]:
    """Both identities, in symbols."""
    n, B, Y, s = sc.symbols("n B Y s")
    part = (n - 1) / n

    def G(t: Any) -> Any:
        return t * part + Y - part * (B - t * part) - (Y + t * part) / n

    yield sc.equal(G(B) - G(s), 2 * part**2 * (B - s), "G(B) − G(s)")
    yield sc.equal(B + Y - G(B), stability_bound(B, Y, n, fields=trial["fields"], saved=2), "g(S) − g(S^i)")


@sc.claim(
    "KJ-T19+",
    section=SECTION,
    place="Theorem 19, with the range of the loss",
    kind=sc.INEQUALITY,
    says=r"Let |K| ≤ 1, ‖w‖_∞ ≤ B, |y| ≤ Y and the absolute loss (C_L = 1). Then |g(S) − g(S^i)| ≤ (3B + Y)/n − 2B/n² on every finite "
    r"domain; so 4B/n − 2B/n² if |y| ≤ B. In general it is at most (2BC_L + M)/n, M the range of the loss.",
    instances=domains_and_sharp_pairs,
    decode=decoded_domain,
    dimension=15,
    evaluations=(40, 400),
    knobs={"fields": 3, "saved": 2},
    mutants={"2B + Y": {"fields": 2}, "(4B − 3B/n)/n": {"saved": 3}},
    corrects="KJ-T19",
    note="Proof: let w be best for S and put w_i = 0. This moves f by ≤ B/n, so L_f by B/n and the losses at the n − 1 common points by "
    "B/n; at x_i' the loss is ≤ B(n − 1)/n + Y instead of ≥ 0. Sum: B/n + B(n − 1)/n² + B(n − 1)/n² + Y/n. Sharp for every n and Y ≥ B "
    "(KJ-T19-sharp).",
)
def gap_is_stable(
    masses: list[Fraction],
    gram: list[list[Fraction]],
    targets: list[Fraction],
    B: Fraction,
    n: int,
    trial: sc.Trial,
    pairs: list[Pair] | None = None,
) -> Iterator[sc.Check]:
    """The largest change over pairs of samples."""
    Y = max(abs(y) for y in targets)
    bound = stability_bound(B, Y, n, fields=trial["fields"], saved=trial["saved"])
    yield sc.at_most(changes(Domain(masses, gram, targets, B, n), pairs), bound, f"|g(S) − g(S')|, n = {n}")
