r"""Lemmas 16 and 22: uniform bounds for linear predictors. As printed they forget the range of the loss; exact binomial witnesses.

A bound mean + √(spread · log(1/δ)) holds for all δ iff P(gap ≥ t) ≤ exp(−(t − mean)²/spread) at every value t > mean of the gap. The
Rademacher averages of the proofs are enumerated over all signs; behind the ℓ₁ one is the strong convexity of the divergence.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.kj.landmarks.piecewise_linear import range_of_loss
from simopt.theorems.kj.landmarks.uniform_gaps import ONE, WeightedPoints, coins, gaps, in_the_plane, indistinct, on_the_line, reach
from simopt.theorems.small_worlds.exact_tails import Ball, ball, enclosed, holds_for_all_levels, level_of, logarithm, passed, tails
from simopt.theorems.small_worlds.sampled_worlds import weights

SECTION = "regression"
ZERO = Fraction(0)


def far_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Predictions of size ≤ 1/100 for targets 0 and 1; then |y| = C_X C_W at n = 1 and large δ."""
    yield indistinct(100, Fraction(1, 100)) | {"delta": Fraction(1, 20)}
    yield coins(1) | {"delta": Fraction(9, 10)}


def gap_passed(here: WeightedPoints, bound: sc.Expr, delta: Fraction) -> sc.Check:
    """P(gap > bound) ≤ δ with the exact probability."""
    return passed(gaps(here), bound, delta, f"P(gap > {float(bound):.4f}), n = {here.n}")


@sc.claim(
    "KJ-L16",
    section=SECTION,
    place="Lemma 16",
    kind=sc.HIGH_PROBABILITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"If ‖x‖₂ ≤ C_X and the loss is C_L-Lipschitz in the prediction, then for every δ, with probability > 1 − δ over n points, "
    r"sup_{‖w‖₂ ≤ C_W} (L_w − L̂_w) ≤ 3 C_L C_X C_W √(log(1/δ)/n).",
    instances=far_targets,
    knobs={"mean": 0, "range": 0},
    mutants={"plus 2C_L C_X C_W/√n + M√(log(1/δ)/2n)": {"mean": 2, "range": 1}},
    note="x = ±1 fairly, y = 1 for x = 1 and 0 for x = −1, C_W = 1/100, n = 100, δ = 1/20: the gap is ½ − q, q the share of x = 1, if q < "
    "½; P(q ≤ 0.49) = 0.460. The bound of [23] that is used adds M√(log(1/δ)/2n) for a loss of range M; here M is replaced by C_L C_X "
    "C_W. Even with |y| ≤ C_X C_W (absolute loss, M = 2C_X C_W) δ must not be large: n = 1, y = 1 = C_W, δ = 9/10 has gap 1 > 0.974 "
    "always. Printed: Lipschitz in the second argument; the first is meant.",
)
def uniform_bound_as_printed(
    masses: list[Fraction],
    points: list[list[Fraction]],
    targets: list[Fraction],
    radius: Fraction,
    n: int,
    delta: Fraction,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The exact probability of a larger gap."""
    level, M = logarithm(1 / delta), range_of_loss(reach(radius, points), targets)
    bound = reach(radius, points) * (trial["mean"] / sc.root(n) + 3 * sc.root(level / n)) + trial["range"] * M * sc.root(level / (2 * n))
    yield gap_passed(WeightedPoints(masses, points, targets, radius, n), bound, delta)


def sums(points: list[list[Fraction]]) -> Iterator[list[Fraction]]:
    """Σ σ_i x_i for all signs."""
    for signs in itertools.product((1, -1), repeat=len(points)):
        yield [sum((s * a for s, a in zip(signs, column, strict=True)), Fraction(0)) for column in zip(*points, strict=True)]


def vectors(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Orthonormal vectors, for which ‖Σ σ_i x_i‖ = √n always, and random ones with coordinates in ¼ℤ."""
    for n in range(1, 7):
        yield {"points": [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]}
    for _ in range(trial.count(10, 60)):
        n, d = int(trial.rng.integers(1, 7)), int(trial.rng.integers(1, 4))
        yield {"points": [[Fraction(int(v), 4) for v in trial.rng.integers(-4, 5, size=d)] for _ in range(n)]}


@sc.claim(
    "KJ-L16-rad",
    section=SECTION,
    place="Proof of Lemma 16, the Rademacher average",
    kind=sc.IN_EXPECTATION,
    says=r"For ‖x_i‖₂ ≤ C_X: E_σ sup_{‖w‖₂ ≤ C_W} (1/n) Σ σ_i ⟨w, x_i⟩ = (C_W/n) E_σ ‖Σ σ_i x_i‖ ≤ (C_W/n) √(Σ ‖x_i‖²) ≤ C_X C_W/√n, "
    r"because E ‖Σ σ_i x_i‖² = Σ ‖x_i‖². Equality for orthogonal x_i of length C_X.",
    instances=vectors,
    knobs={"share": ONE},
    mutants={"9/10 of it": {"share": Fraction(9, 10)}},
)
def euclidean_average(points: list[list[Fraction]], trial: sc.Trial) -> Iterator[sc.Check]:
    """The mean over all signs, exactly for its square and by enclosed roots for itself; C_W = 1."""
    n = len(points)
    squares = [sum((a * a for a in s), Fraction(0)) for s in sums(points)]
    lengths = [sum((a * a for a in x), Fraction(0)) for x in points]
    yield sc.equal(sum(squares, Fraction(0)) / 2**n, sum(lengths, Fraction(0)), "E ‖Σ σ_i x_i‖²")
    distinct = {square: squares.count(square) for square in squares}
    mean = sc.total(count * sc.root(square, bits=48) for square, count in distinct.items()) / 2**n
    if any(lengths):
        yield sc.at_most(mean / n, trial["share"] * sc.root(n * max(lengths), bits=48) / n, "E ‖Σ σ_i x_i‖/n", scale=1)


def all_levels(here: WeightedPoints, mean: Fraction, scale: Fraction, name: str, *, centred: bool = False) -> sc.Check:
    """P(gap ≥ t)/δ for the bound √mean + √(spread log(1/δ)), at every value t of the gap."""

    def exponent(t: Fraction) -> Ball | None:
        return level_of(ball(t) - ball(mean).sqrt(), scale)

    return holds_for_all_levels(tails(gaps(here, centred=centred)), exponent, name)


def constant_and_line(trial: sc.Trial) -> Iterator[sc.Instance]:
    """No data, for the constant at δ = 1/5; then one dimension with targets up to 9/2."""
    yield {}
    yield from on_the_line(trial, far=9)


@sc.claim(
    "KJ-L16-bounded",
    section=SECTION,
    place="Lemma 16, ours: where the constant 3 is right, and without any bound on y",
    kind=sc.HIGH_PROBABILITY,
    says=r"(i) For the absolute loss with |y| ≤ C_X C_W the printed bound 3C_X C_W √(log(1/δ)/n) holds for δ ≤ 1/5, because (2 + √2 s) ≤ "
    r"3s for s² = log 5. (ii) For any y the centred loss ℓ(f, y) − ℓ(0, y) has the range 2C_L C_X C_W: its gap is ≤ C_L C_X C_W (2 + √2 "
    r"√log(1/δ))/√n with probability ≥ 1 − δ, for every δ.",
    instances=constant_and_line,
    knobs={"constant": 3, "range": Fraction(2)},
    mutants={"5/2 for δ ≤ 1/5": {"constant": Fraction(5, 2)}, "range/8": {"range": Fraction(1, 32)}},
    note="Centred losses are enough for what Lemma 16 is used for: the terms ℓ(0, y) cancel between the empirical minimiser and its "
    "competitor.",
)
def uniform_bound_without_range(
    trial: sc.Trial,
    masses: Sequence[Fraction] = (),
    points: Sequence[list[Fraction]] = (),
    targets: Sequence[Fraction] = (),
    radius: Fraction = ONE,
    n: int = 0,
) -> Iterator[sc.Check]:
    """The constant, and all levels of the centred gap."""
    if not masses:
        s = sc.root(logarithm(5), bits=64)
        yield sc.at_most(2 + sc.root(2, bits=64) * s, trial["constant"] * s, "δ = 1/5")
        return
    here, C = WeightedPoints(masses, points, targets, radius, n), reach(radius, points)
    yield all_levels(here, 4 * C**2 / n, trial["range"] * C**2 / n, f"centred gap, n = {n}", centred=True)


@sc.claim(
    "KJ-L16+",
    section=SECTION,
    place="Lemma 16, with the range of the loss",
    kind=sc.HIGH_PROBABILITY,
    says=r"If ‖x‖₂ ≤ C_X, the loss is C_L-Lipschitz in the prediction and takes values in an interval of length **M**, then for every δ "
    r"in (0, 1), with probability ≥ 1 − δ, sup_{‖w‖₂ ≤ C_W} (L_w − L̂_w) ≤ 2C_L C_X C_W/√n + M √(log(1/δ)/2n). (On the line with the "
    r"absolute loss, M = C_X C_W + sup |y|: all δ at once, exactly.)",
    instances=lambda trial: on_the_line(trial, far=6),
    knobs={"mean": ONE, "range": ONE},
    mutants={"M/8, without the mean": {"mean": ZERO, "range": Fraction(1, 8)}},
    corrects="KJ-L16",
    note="Symmetrisation, contraction and McDiarmid's inequality with differences M/n.",
)
def uniform_bound_with_range(
    masses: list[Fraction], points: list[list[Fraction]], targets: list[Fraction], radius: Fraction, n: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """All levels."""
    here, M = WeightedPoints(masses, points, targets, radius, n), trial["range"] * range_of_loss(reach(radius, points), targets)
    yield all_levels(here, trial["mean"] * 4 * reach(radius, points) ** 2 / n, M**2 / (2 * n), f"gap, n = {n}")


def small_levels(trial: sc.Trial) -> Iterator[sc.Instance]:
    """|y| = C_X C_W in one dimension at small δ; far targets at δ = 1/20."""
    yield coins(100) | {"delta": Fraction(1, 10**8)}
    yield coins(trial.count(200, 400)) | {"delta": Fraction(1, 10**8)}
    yield indistinct(100, Fraction(1, 100)) | {"delta": Fraction(1, 20)}


@sc.claim(
    "KJ-L22",
    section=SECTION,
    place="Lemma 22",
    kind=sc.HIGH_PROBABILITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"If ‖x‖_∞ ≤ C_X in d dimensions and the loss is C_L-Lipschitz in the prediction, then for every δ, with probability > 1 − δ "
    r"over n points, the supremum of L_w − L̂_w over ‖w‖₁ ≤ C_W, ‖w‖₀ ≤ k is ≤ 2C_L C_X C_W √(2 log(2d)/n) + C_L C_X C_W √(log(1/δ)/2n).",
    instances=small_levels,
    knobs={"range": 0},
    mutants={"M√(log(1/δ)/2n) in the second term": {"range": 1}},
    note="Fails even with |y| ≤ C_X C_W: d = 1, x = ±1 fairly, y = 1 = C_W, so that the gap is |mean of n signs|; at n = 100, δ = 10⁻⁸ "
    "the bound 0.539 is passed with probability 5.5 δ. The second term needs the range M of the loss, here 2C_X C_W, in the place of C_L "
    "C_X C_W. Far targets (|y| > C_X C_W) break it at δ = 1/20 as in KJ-L16.",
)
def sparse_bound_as_printed(
    masses: list[Fraction],
    points: list[list[Fraction]],
    targets: list[Fraction],
    radius: Fraction,
    n: int,
    delta: Fraction,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """The exact probability of a larger gap."""
    d, level, C = len(points[0]), logarithm(1 / delta), reach(radius, points)
    width = range_of_loss(reach(radius, points), targets) if trial["range"] else C
    bound = 2 * C * sc.root(2 * logarithm(2 * d) / n) + width * sc.root(level / (2 * n))
    yield gap_passed(WeightedPoints(masses, points, targets, radius, n), bound, delta)


def laws(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Pairs of probability vectors, near each other and far apart, and B."""
    yield {"p": [Fraction(51, 100), Fraction(49, 100)], "q": [Fraction(1, 2)] * 2, "B": ONE}
    for _ in range(trial.count(25, 150)):
        k = int(trial.rng.integers(2, 5))
        yield {"p": weights(trial.rng, k), "q": weights(trial.rng, k), "B": Fraction(int(trial.rng.integers(1, 9)), 2)}


def decoded_laws(point: Array, trial: sc.Trial) -> sc.Instance:
    """Two laws on three points from the cube [0, 1]^6."""
    u = [Fraction(int(np.ceil(64 * float(v))) + 1, 64) for v in point]
    p, q = ([part / sum(half) for part in half] for half in (u[:3], u[3:]))
    return {"p": p, "q": q, "B": Fraction(2)}


@sc.claim(
    "KJ-L22-kl",
    section=SECTION,
    place="Proof of Lemma 22, strong convexity of the divergence",
    kind=sc.INEQUALITY,
    says=r"On {w ≥ 0: ‖w‖₁ = B} the function F(w) = KL(w/B ‖ μ) is 1/B²-strongly convex in ‖·‖₁: F(v) ≥ F(w) + ⟨∇F(w), v − w⟩ + ‖v − "
    r"w‖₁²/2B². The difference of the first three terms is KL(v/B ‖ w/B), for every μ.",
    instances=laws,
    decode=decoded_laws,
    dimension=6,
    evaluations=(40, 400),
    knobs={"modulus": ONE},
    mutants={"1.02/B²": {"modulus": Fraction(102, 100)}},
    note="Pinsker's inequality. Near w = v = (B/2, B/2) it is an equality to first order, so that 1/B² is the best modulus.",
)
def divergence_is_strongly_convex(p: list[Fraction], q: list[Fraction], B: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """KL(v/B ‖ w/B) with enclosed logarithms."""
    v, w = ([B * part for part in law] for law in (p, q))
    divergence = enclosed(sum(ball(a / B) * ball(a / b).log() for a, b in zip(v, w, strict=True)))
    apart = sum((abs(a - b) for a, b in zip(v, w, strict=True)), Fraction(0))
    if apart:
        yield sc.at_least(divergence, trial["modulus"] * apart**2 / (2 * B**2), "KL(v/B ‖ w/B)", scale=(apart / B) ** 2)


def columns(trial: sc.Trial) -> Iterator[sc.Instance]:
    """d columns of signs: all 2^{n−1} up to sign, for which max_j |Σ σ_i x_ij| = n always, and random ones."""
    for n in range(1, 6):
        yield {"points": [list(row) for row in zip(*itertools.product((1, -1), repeat=n), strict=True)], "halve": True}
    for _ in range(trial.count(12, 80)):
        n, d = int(trial.rng.integers(1, 8)), int(trial.rng.integers(1, 6))
        yield {"points": [[Fraction(int(v), 2) for v in trial.rng.integers(-2, 3, size=d)] for _ in range(n)], "halve": False}


@sc.claim(
    "KJ-L22-rad",
    section=SECTION,
    place="Proof of Lemma 22, the Rademacher average",
    kind=sc.IN_EXPECTATION,
    says=r"For ‖x_i‖_∞ ≤ C_X in d dimensions: E_σ sup_{‖w‖₁ ≤ C_W} (1/n) Σ σ_i ⟨w, x_i⟩ = (C_W/n) E_σ max_j |Σ σ_i x_ij| ≤ C_X C_W √(2 "
    r"log(2d)/n).",
    instances=columns,
    knobs={"factor": Fraction(2)},
    mutants={"√(log(2d)/n)": {"factor": ONE}},
    note="With all 2^{n−1} columns of signs the left side is C_W: 1/√(2 log 2) = 0.849 of the bound, for every n.",
)
def average_of_the_cross_polytope(points: list[list[Fraction]], halve: bool, trial: sc.Trial) -> Iterator[sc.Check]:
    """The mean over all signs, exactly; C_X = C_W = 1."""
    n = len(points)
    if halve:
        points = [row[: len(row) // 2] for row in points]
    mean = sum((max(abs(a) for a in s) for s in sums(points)), Fraction(0)) / 2**n
    yield sc.at_most(mean / n, sc.root(trial["factor"] * logarithm(2 * len(points[0])) / n, bits=64), f"n = {n}, d = {len(points[0])}")


def line_and_plane(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One and two dimensions."""
    yield from on_the_line(trial, far=6)
    yield from in_the_plane(trial, far=6)


@sc.claim(
    "KJ-L22+",
    section=SECTION,
    place="Lemma 22, with the range of the loss",
    kind=sc.HIGH_PROBABILITY,
    says=r"If ‖x‖_∞ ≤ C_X, the loss is C_L-Lipschitz in the prediction and takes values in an interval of length **M**, then for every δ "
    r"in (0, 1), with probability ≥ 1 − δ, sup_{‖w‖₁ ≤ C_W} (L_w − L̂_w) ≤ 2C_L C_X C_W √(2 log(2d)/n) + M √(log(1/δ)/2n); with M = 2C_L "
    r"C_X C_W for the absolute loss if |y| ≤ C_X C_W, and for the centred loss always. (d ≤ 2: all δ at once, exactly.)",
    instances=line_and_plane,
    knobs={"mean": ONE, "range": ONE},
    mutants={"M/8, without the mean": {"mean": ZERO, "range": Fraction(1, 8)}},
    corrects="KJ-L22",
    note="KJ-L22-rad, contraction, and McDiarmid's inequality with differences M/n, as in KJ-L16+; the centred loss lies within "
    "±C_LC_XC_W. For ‖w‖₀ ≤ k too, as a smaller class. √(2 log(2d)) could be √(2 log d) + o(1); on the line 1 does, as in Lemma 16.",
)
def sparse_bound_with_range(
    masses: list[Fraction], points: list[list[Fraction]], targets: list[Fraction], radius: Fraction, n: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """All levels, of the loss and of the centred loss."""
    here, d, C = WeightedPoints(masses, points, targets, radius, n), len(points[0]), reach(radius, points)
    for centred in (False, True):
        M = trial["range"] * (2 * C if centred else range_of_loss(reach(radius, points), targets))
        massart = trial["mean"] * Fraction(logarithm(2 * d).high) * 8 * C**2 / n
        yield all_levels(here, massart, M**2 / (2 * n), f"{'centred ' * centred}gap, n = {n}, d = {d}", centred=centred)
