r"""End of Appendix B: landmarks that are also the training set. The final bound, the ball ‖w‖₂ ≤ B of Algorithm 1, and its use.

The purpose of the bound: the empirical minimiser over F_S, landmarks and training set in one, is nearly as good as f = E[wK]. L(f̂) ≤ L̂(f̃) +
g(S) with f̃ = (1/n) Σ w(x_i)K(·, x_i) ∈ F_S. E L̂(f̃) ≤ L(f) + B(2 + √(n − 1))/n, because at x_1 the n − 1 other terms of f̃ are a mean of
independent ones. One point moves L̂(f̃) by ≤ 4B/n if |y| ≤ B: McDiarmid's inequality. g(S) by KJ-DD+.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.kj.goodness.finite_domains import insensitive_loss
from simopt.theorems.kj.landmarks.dipping_domains import (
    ONE,
    ZERO,
    Domain,
    alone,
    domain,
    gaps,
    indistinct,
    largest_gap,
    random_domain,
    signed_differences,
    small_domains,
)
from simopt.theorems.kj.landmarks.mean_gap import two_walks
from simopt.theorems.kj.landmarks.piecewise_linear import range_of_loss
from simopt.theorems.kj.regression.nearly_fair_coin import reached
from simopt.theorems.small_worlds.exact_tails import (
    Ball,
    Counts,
    ball,
    holds_for_all_levels,
    level_of,
    logarithm,
    multinomial,
    passed,
    tails,
)

SECTION = "regression"
HALF = Fraction(1, 2)


def outside_the_hypotheses(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Targets 0 and 100 that no f can tell apart; a landmark that misjudges itself."""
    yield indistinct(0, [0, 100], 50) | {"delta": Fraction(1, 20)}
    yield alone(60, 1) | {"delta": Fraction(4, 5)}


@sc.claim(
    "KJ-DD",
    section=SECTION,
    place="End of Appendix B",
    kind=sc.HIGH_PROBABILITY,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"If |K| ≤ 1 and the loss is C_L-Lipschitz, then for every δ, with probability ≥ 1 − δ over S, sup_{f ∈ F_S} (L_f − L̂^S_f) ≤ "
    r"4BC_L √(log(1/δ)/n).",
    instances=outside_the_hypotheses,
    knobs={"mean": ZERO, "range": 0},
    mutants={"plus 2√2B/√n + M√(log(1/δ)/2n)": {"mean": Fraction(283, 100), "range": 1}},
    note="K = 0, y = 0 or 100 fairly, B = 1, n = 50, δ = 1/20: the sample mean of |y| is off by more than the bound 0.98 with probability "
    "0.444. With |y| ≤ B: n = 1, K = 1 but K(x, x) = −1, y = −B, δ = 4/5: g = 1.97 always (60 points), the bound is 1.89. The derivation "
    "adds 2BC_L/√n and 6BC_L√(log(1/δ)/2n), of which the second alone is more than the result (KJ-DD-sum). Under |y| ≤ B the printed "
    "bound is true for δ ≤ 1/64 (KJ-DD-small), and we know no failure for δ ≤ 1/2.",
)
def double_dipping_as_printed(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], B: Fraction, n: int, delta: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """The exact probability that g(S) passes the enclosed bound."""
    M = range_of_loss(B, targets)
    level = sc.log(1 / sc.rational(delta))
    bound = trial["mean"] * B / sc.root(n) + 4 * B * sc.root(level / n) + trial["range"] * M * sc.root(level / (2 * n))
    yield passed(gaps(Domain(masses, gram, targets, B, n)), bound, delta, f"P(g(S) > {float(bound):.4f}), n = {n}")


@sc.claim(
    "KJ-DD-sum",
    section=SECTION,
    place="End of Appendix B, the last inequality",
    kind=sc.COUNTEREXAMPLE,
    says=r"E + 6BC_L √(log(1/δ)/2n) ≤ 4BC_L √(log(1/δ)/n) holds for no n, B, δ and no E ≥ 0: 6/√2 > 4.",
    exhaustive=True,
    knobs={"differences": 6},
    mutants={"with differences 4B/n": {"differences": 4}},
)
def printed_sum(trial: sc.Trial) -> Iterator[sc.Check]:
    """The two coefficients of BC_L √(log(1/δ)/n)."""
    yield sc.at_least(trial["differences"] / sc.root(2), 4, "6/√2 > 4", strict=True)


def every_size(trial: sc.Trial) -> Iterator[sc.Instance]:
    """n up to 60 one by one, and the tail n ≥ 60."""
    for n in range(1, 61):
        yield {"n": n}
    yield {}


@sc.claim(
    "KJ-DD-small",
    section=SECTION,
    place="End of Appendix B, ours: where the printed bound is true",
    kind=sc.INEQUALITY,
    says=r"Let |K| ≤ 1, ‖w‖_∞ ≤ B, |y| ≤ B and the absolute loss. For δ ≤ 1/64 the bound of KJ-DD+ or the trivial g(S) ≤ 2B is at most "
    r"the printed 4B √(log(1/δ)/n), for every n; so the printed bound holds. (It is enough to look at δ = 1/64.)",
    instances=every_size,
    knobs={"delta": Fraction(1, 64)},
    mutants={"δ ≤ 1/16": {"delta": Fraction(1, 16)}},
    note="4√(L/n) ≥ 2 for n ≤ 4L. Otherwise 2M_n/√n ≤ (4 − 2√2)√L is needed, which grows in L; M_n ≤ (2/√π)√(n + 2) because C(2m, m)/4^m ≤ "
    "1/√(πm), so that 2M_n/√n ≤ √(16 (1 + 2/n)/3.14).",
)
def printed_bound_for_small_levels(trial: sc.Trial, n: int | None = None) -> Iterator[sc.Check]:
    """The squares of the smaller of the two bounds and of the printed one, times n."""
    level = logarithm(1 / trial["delta"])
    room = (4 - sc.root(8, bits=64)) ** 2 * level
    if n is None:
        yield sc.at_most(Fraction(1600, 314) * (1 + Fraction(2, 60)), room, "n ≥ 60")
    elif n <= 4 * level.low:
        yield sc.at_most(4 * n, 16 * level, f"n = {n}")
    else:
        yield sc.at_most(4 * two_walks(n) ** 2 / n, room, f"n = {n}")


def bounded_domains(trial: sc.Trial) -> Iterator[sc.Instance]:
    """|y| ≤ B = 1: fair losses 0 and 1, one similarity for all, landmarks that misjudge themselves, random domains."""
    for n in (1, 4, 12, 40):
        yield indistinct(0, [0, 1], n)
        yield indistinct(1, [-1, 1], n)
    for count, n in ((30, 1), (6, 3), (4, 6)):
        yield alone(count, n)
    for _ in range(trial.count(12, 60)):
        points = int(trial.rng.integers(2, 4))
        n = int(trial.rng.integers(2, 13 if points == 2 else 5))
        yield random_domain(trial.rng, points, n)


@sc.claim(
    "KJ-DD+",
    section=SECTION,
    place="End of Appendix B, corrected",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let |K| ≤ 1, ‖w‖_∞ ≤ B, **|y| ≤ B** and the absolute loss (or any C_L-Lipschitz loss of range 2BC_L). For every δ in (0, 1), "
    r"with probability ≥ 1 − δ, sup_{f ∈ F_S} (L_f − L̂^S_f) ≤ (2 M_n/√n + 2√2 √log(1/δ)) BC_L/√n ≤ (2√2 + 2√2 √log(1/δ)) BC_L/√n.",
    instances=bounded_domains,
    knobs={"mean": ONE, "spread": Fraction(8)},
    mutants={"√(log(1/δ)/n)/4 alone": {"mean": ZERO, "spread": Fraction(1, 16)}},
    corrects="KJ-DD",
    note="KJ-T20-proved for the mean, McDiarmid's inequality with differences 4B/n (KJ-T19+) for the rest: M_n as there. All δ at once, "
    "exactly.",
)
def double_dipping(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], B: Fraction, n: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """P(g(S) ≥ t)/δ at every value t of g(S), with B = 1."""
    mean = trial["mean"] * (2 * two_walks(n)) ** 2 / n

    def exponent(t: Fraction) -> Ball | None:
        return level_of(ball(t) * ball(n).sqrt() - ball(mean).sqrt(), trial["spread"]) if t > 0 else None

    yield holds_for_all_levels(tails(list(gaps(Domain(masses, gram, targets, B, n)))), exponent, f"g(S), n = {n}")


def gap_in_ball(B: Fraction, gram: list[list[Fraction]], masses: list[Fraction], targets: list[Fraction], counts: Counts) -> Fraction:
    """g(S)² for f = n^{-1/2} Σ w_i K(·, x_i), ‖w‖₂ ≤ B, |y| = B: B² ‖v‖² with v_i = n^{-1/2} Σ_x c_x (−sign y_x) K(x, x_i)."""
    n = sum(counts)
    signed = signed_differences(masses, targets, counts)
    square = ZERO
    for j, k in enumerate(counts):
        if k:
            square += k * sum((a * row[j] for a, row in zip(signed, gram, strict=True)), ZERO) ** 2
    return Fraction(B**2 * square / n)


def signs(trial: sc.Trial) -> Iterator[sc.Instance]:
    """y = ±1, B = 1, n up to 60."""
    for n in (1, 2, 5, 12, 60):
        yield indistinct(1, [-1, 1], n)
    for count, n in ((20, 1), (6, 3), (4, 8)):
        yield alone(count, n)
    for _ in range(trial.count(10, 60)):
        points = int(trial.rng.integers(2, 5))
        n = int(trial.rng.integers(2, {2: 40, 3: 14, 4: 8}[points]))
        made = random_domain(trial.rng, points, n)
        yield made | {"targets": [Fraction(int(s)) for s in trial.rng.choice([-1, 1], size=points)]}


@sc.claim(
    "KJ-DD-l2",
    section=SECTION,
    place="Algorithm 1, comment in step 1: landmarks from the training set are justified in Appendix B",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let |K| ≤ 1, |y| ≤ B, absolute loss, f = n^{−1/2} Σ w_i K(·, x_i) with **‖w‖₂ ≤ B** as in Algorithm 1, the landmarks x_1, …, "
    r"x_n being the training set. For every δ, with probability ≥ 1 − δ, sup_f (L_f − L̂^S_f) ≤ (2√2 + 8 √log(1/δ)) B/√n. (Tried with y = "
    r"±B, where the supremum is a norm: all δ at once, exactly.)",
    instances=signs,
    knobs={"mean": Fraction(8), "spread": Fraction(64)},
    mutants={"√(log(1/δ)/n)/2 alone": {"mean": ZERO, "spread": Fraction(1, 4)}},
    note="Gap: Appendix B treats ‖w‖_∞ ≤ B with 1/n, and its McDiarmid argument says nothing here: one point moves g by up to B/√n "
    "(KJ-DD-l2-difference). Repair: the pair class of mean_gap.py gives E g ≤ 2√2 B/√n in this ball too; putting w_i = 0, g(S) − g(S^i) ≤ "
    "2|w_i|/√n + 2B/n, so Σ_i (g(S) − g(S^i))₊² ≤ 16B²/n, and the entropy method (Boucheron, Lugosi and Massart 2003, Theorem 2) gives "
    "P(g > E g + t) ≤ exp(−nt²/64B²).",
)
def double_dipping_in_the_ball(
    n: int, B: Fraction, gram: list[list[Fraction]], masses: list[Fraction], targets: list[Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """P(g(S) ≥ t)/δ at every value t; t² is rational."""
    pairs = [(gap_in_ball(B, gram, masses, targets, drawn), mass) for drawn, mass in multinomial(n, tuple(masses))]

    def exponent(square: Fraction) -> Ball | None:
        return level_of(ball(n * square).sqrt() - ball(trial["mean"]).sqrt(), trial["spread"])

    yield holds_for_all_levels(tails(pairs), exponent, f"g(S), n = {n}")


@sc.claim(
    "KJ-DD-l2-difference",
    section=SECTION,
    place="Algorithm 1, comment in step 1, ours: why Theorem 19 does not carry over",
    kind=sc.COUNTEREXAMPLE,
    says=r"With ‖w‖₂ ≤ B there are samples with g(S) − g(S^i) = B/√n for every n: all mass is on o, y = −B, S is n − 1 times a with K(·, "
    r"a) = 0 and once b with K(o, b) = 1, K(a, b) = K(b, b) = 0; c with K(·, c) = 0 takes the place of b. Then n (g(S) − g(S^i))² = B², "
    r"so that McDiarmid's inequality bounds P(g − E g > t) by exp(−2t²/B²) for every n. (n ≤ 30, g² exactly.)",
    instances=lambda trial: ({"n": n} for n in range(1, 31)),
    knobs={"scale": 1},
    mutants={"as for ‖w‖_∞ ≤ B, 16B²/n² for each point": {"scale": 17}},
)
def one_point_moves_the_gap_in_the_ball(n: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """n (g(S)² − g(S^i)²), g(S^i) = 0."""
    gram = [[ZERO, ZERO, ONE, ZERO], [ZERO] * 4, [ZERO] * 4, [ZERO] * 4]
    first, second = (gap_in_ball(ONE, gram, [ONE, ZERO, ZERO, ZERO], [-ONE] * 4, counts) for counts in ((0, n - 1, 1, 0), (0, n - 1, 0, 1)))
    yield sc.equal(second, 0, "g(S^i)")
    yield sc.at_least(n * first, trial["scale"], "Σ_i c_i²")


def outlier(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K = 1, y = 0 on all mass but 1/100, where y = 10; the sample is the one rare point."""
    yield domain([Fraction(99, 100), Fraction(1, 100)], [[1, 1], [1, 1]], [0, 10], 1, 1)


@sc.claim(
    "KJ-DD-util-onesided",
    section=SECTION,
    place="Appendix B, the bound is useful as follows: the step L̂_{f*} ≤ L_{f*} + ε",
    kind=sc.COUNTEREXAMPLE,
    says=r"sup_{f ∈ F_S} (L_f − L̂^S_f) ≤ ε does not imply L̂^S_{f*} ≤ L_{f*} + ε, nor L_{f̂} ≤ L_{f*} + 2ε for the empirical minimiser "
    r"f̂: K = 1, B = 1, P(y = 0) = 0.99, else y = 10, S = (10): f̂ = 1 has L = 1.08, f* = 0 has L = 0.1, and sup (L − L̂) is negative.",
    instances=outlier,
    exhaustive=True,
    knobs={"two_sided": 0},
    mutants={"with sup |L − L̂|": {"two_sided": 1}},
)
def one_side_is_not_enough(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], B: Fraction, n: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """L of f̂ = 1 and of f* = 0 by hand, g by the exact maximum."""

    fitted, best = (insensitive_loss(masses, targets, [Fraction(c)] * len(targets)) for c in (1, 0))
    other = abs(0 - targets[1]) - best  # L̂ − L at f*
    epsilon = max(largest_gap(Domain(masses, gram, targets, B, n), (0, 1)), ZERO) + trial["two_sided"] * other
    yield sc.at_least(fitted, best + 2 * epsilon, "L of the empirical minimiser", strict=True)
    yield sc.at_least(other, epsilon, "L̂ − L at the best predictor", strict=True)


def minimiser(gram: Array, targets: Array, frequencies: Array) -> Array:
    """Predictions on the whole domain of an empirical minimiser of the absolute loss over F_S, B = 1, by linear programming.

    With q_x the share of x in the sample, the weights of all copies of x add up to v_x q_x, |v_x| ≤ 1.
    """
    from scipy.optimize import linprog

    seen = np.flatnonzero(frequencies)
    A = gram[np.ix_(seen, seen)] * frequencies[seen]
    eye = np.eye(seen.size)
    found = linprog(
        np.concatenate([np.zeros(seen.size), frequencies[seen]]),
        A_ub=np.vstack([np.hstack([A, -eye]), np.hstack([-A, -eye])]),
        b_ub=np.concatenate([targets[seen], -targets[seen]]),
        bounds=[(-1, 1)] * seen.size + [(0, None)] * seen.size,
        method="highs",
    )
    return np.asarray(gram[:, seen] @ (frequencies[seen] * found.x[: seen.size]))


def settings(trial: sc.Trial) -> Iterator[sc.Instance]:
    """A coin; sizes, noise and seeds. Without noise and with an invertible K no f̂ is exact, as some x is rarer in S than in the domain."""
    yield {"coin": True, "n": 2000, "delta": 1e-9}
    for points, n in ((16, 400), (20, 2000)):
        for noise in (0.0, 0.5)[: trial.count(1, 2)]:
            yield {"points": points, "n": n, "noise": noise, "delta": 0.1, "seed": int(trial.rng.integers(2**32))}


def bound(n: int, delta: float) -> float:
    """(2 M_n + 2 + √(n − 1))/n + 4√2 √(log(1/δ)/n), the excess over L(f) with probability ≥ 1 − 2δ, B = 1."""
    mean = (2 * float(two_walks(n)) + 2 + math.sqrt(n - 1)) / n
    return mean + 4 * math.sqrt(2 * math.log(1 / delta) / n)


@sc.claim(
    "KJ-DD-util",
    section=SECTION,
    place="Appendix B, a predictor learned on its own landmarks",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let |K| ≤ 1, **|y| ≤ B**, absolute loss, and f = E[wK] with |w| ≤ B, L(f) = ε_0. The empirical minimiser f̂ over F_S, S both "
    r"landmarks and training set, has L(f̂) ≤ ε_0 + 2ε with probability ≥ 1 − 2δ, 2ε = B (2M_n + 2 + √(n − 1))/n + 4√2 B √(log(1/δ)/n): "
    r"ε_0 + O(B√(log(1/δ)/n)) for δ ≤ 1/2. (Two domains, draws; a nearly fair coin, which comes nearest, by its law.)",
    instances=settings,
    knobs={"share": 1.0},
    mutants={"no excess over ε_0": {"share": 0.0}},
    note="Gap: the paper bounds L̂_{f*} − L_{f*} by sup (L − L̂), the wrong side (KJ-DD-util-onesided), and f* depends on S. Repair in "
    "the head of double_dipping.py: f̃ in the place of f*, and McDiarmid's inequality for L̂(f̃).",
)
def learned_on_its_own_landmarks(
    n: int, delta: float, trial: sc.Trial, coin: bool = False, points: int = 0, noise: float = 0.0, seed: int = 0
) -> Iterator[sc.Check]:
    """Draws of S; what the coin reaches with a larger probability than 2δ."""
    if coin:
        yield sc.at_most(reached(n, 2 * delta), trial["share"] * bound(n, delta), "excess on a nearly fair coin")
        return
    rng = np.random.default_rng(seed)
    masses = rng.dirichlet(np.full(points, 2.0))
    gram = rng.choice([-1.0, 1.0], size=(points, points))
    f = gram @ (masses * rng.choice([-1.0, 1.0], size=points))
    targets = np.clip(f + noise * rng.choice([-1.0, 1.0], size=points), -1.0, 1.0)
    limit = float(masses @ np.abs(f - targets)) + trial["share"] * bound(n, delta)
    for _ in trial.draws(100_000):
        shares = trial.rng.multinomial(n, masses) / n
        learned = minimiser(gram, targets, shares)
        yield sc.outcome(float(masses @ np.abs(learned - targets)) > limit, 2 * delta)


def landmarked_loss(gram: list[list[Fraction]], targets: list[Fraction], counts: Counts, weights: list[Fraction]) -> Fraction:
    """L̂(f̃) on the sample with these counts."""
    n, total = sum(counts), ZERO
    for k, row, y in zip(counts, gram, targets, strict=True):
        if k:
            f = sum((c * w * a for c, w, a in zip(counts, weights, row, strict=True)), ZERO) / n
            total += k * abs(f - y)
    return total / n


@sc.claim(
    "KJ-DD-util-mean",
    section=SECTION,
    place="Appendix B, ours: the two means behind the repair",
    kind=sc.INEQUALITY,
    says=r"For |K| ≤ 1, |w| ≤ B and any y: E_S L̂(f̃) ≤ L(f) + B (2 + √(n − 1))/n; and for every sample L(f̂) ≤ L̂(f̃) + g(S) for each "
    r"empirical minimiser f̂, as L̂(f̂) ≤ L̂(f̃) because f̃ ∈ F_S. (w = ±1; all samples of small domains, exactly: g(S) ≥ L(f̃) − "
    r"L̂(f̃).)",
    instances=lambda trial: small_domains(trial, reach=8),
    knobs={"own": 2},
    mutants={"without the landmark's own term": {"own": 0}},
)
def means_of_the_repair(
    masses: list[Fraction], gram: list[list[Fraction]], targets: list[Fraction], B: Fraction, n: int, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Both, with w = −sign K(x, x), which is worst for the landmark's own term."""
    weights = [-ONE if row[x] > 0 else ONE for x, row in enumerate(gram)]
    f = [sum((p * w * a for p, w, a in zip(masses, weights, row, strict=True)), ZERO) for row in gram]
    risk = insensitive_loss(masses, targets, f)
    here, mean = Domain(masses, gram, targets, B, n), ZERO
    for drawn, mass in multinomial(n, tuple(masses)):
        empirical = landmarked_loss(gram, targets, drawn, weights)
        mean += mass * empirical
        landmarked = [sum((k * w * a for k, w, a in zip(drawn, weights, row, strict=True)), ZERO) / n for row in gram]
        loss = insensitive_loss(masses, targets, landmarked)
        if sum(1 for k in drawn if k) <= 3:
            yield sc.at_most(loss - empirical, largest_gap(here, drawn), "L(f̃) − L̂(f̃) against g(S)")
    yield sc.at_most(mean, risk + (trial["own"] + sc.root(n - 1)) / n, "E L̂(f̃)")
