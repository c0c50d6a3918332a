r"""Appendix B, what the bound is for: the empirical minimiser over F_S, landmarks and training set in one, is nearly as good as f = E[wK].

L(f̂) ≤ L̂(f̃) + g(S) with f̃ = (1/n) Σ w(x_i)K(·, x_i) ∈ F_S. E L̂(f̃) ≤ L(f) + B(2 + √(n − 1))/n, because at x_1 the n − 1 other terms of f̃ are
a mean of independent ones, and one point moves L̂(f̃) by ≤ 4B/n if |y| ≤ B: McDiarmid's inequality. g(S) by KJ-DD+.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from simopt.claims import *
from simopt.ground.arrays import Array
from simopt.theorems.kj.landmarks.dipping_domains import ONE, ZERO, largest_gap, small_domains
from simopt.theorems.kj.landmarks.mean_gap import two_walks
from simopt.theorems.kj.regression.nearly_fair_coin import reached
from simopt.theorems.small_worlds.exact_tails import Counts, multinomial

SECTION = "regression"


def minimiser(gram: Array, targets: Array, shares: Array) -> Array:
    """Predictions on the whole domain of an empirical minimiser of the absolute loss over F_S, B = 1, by linear programming.

    With q_x the share of x in the sample, the weights of all copies of x add up to v_x q_x, |v_x| ≤ 1.
    """
    from scipy.optimize import linprog

    seen = np.flatnonzero(shares)
    A = gram[np.ix_(seen, seen)] * shares[seen]
    eye = np.eye(seen.size)
    found = linprog(
        np.concatenate([np.zeros(seen.size), shares[seen]]),
        A_ub=np.vstack([np.hstack([A, -eye]), np.hstack([-A, -eye])]),
        b_ub=np.concatenate([targets[seen], -targets[seen]]),
        bounds=[(-1, 1)] * seen.size + [(0, None)] * seen.size,
        method="highs",
    )
    return np.asarray(gram[:, seen] @ (shares[seen] * found.x[: seen.size]))


def settings(trial: Trial) -> Iterator[Instance]:
    """A coin; sizes, noise and seeds. Without noise and with an invertible K no f̂ is exact, as some x is rarer in S than in the domain."""
    yield {"coin": True, "n": 2000, "delta": 1e-9}
    for points, n in ((16, 400), (20, 2000)):
        for noise in (0.0, 0.5)[: trial.count(1, 2)]:
            yield {"points": points, "n": n, "noise": noise, "delta": 0.1, "seed": int(trial.rng.integers(2**32))}


def bound(n: int, delta: float) -> float:
    """(2 M_n + 2 + √(n − 1))/n + 4√2 √(log(1/δ)/n), the excess over L(f) with probability ≥ 1 − 2δ, B = 1."""
    mean = (2 * float(two_walks(n)) + 2 + math.sqrt(n - 1)) / n
    return mean + 4 * math.sqrt(2 * math.log(1 / delta) / n)


@claim(
    "KJ-DD-util",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix B, a predictor learned on its own landmarks",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"Let |K| ≤ 1, **|y| ≤ B**, absolute loss, and f = E[wK] with |w| ≤ B, L(f) = ε_0. The empirical minimiser f̂ over F_S, S both "
    r"landmarks and training set, has L(f̂) ≤ ε_0 + 2ε with probability ≥ 1 − 2δ, 2ε = B (2M_n + 2 + √(n − 1))/n + 4√2 B √(log(1/δ)/n): "
    r"ε_0 + O(B√(log(1/δ)/n)). (Two domains, draws; a nearly fair coin, which comes nearest, by its law.)",
    instances=settings,
    knobs={"share": 1.0},
    mutants={"no excess over ε_0": {"share": 0.0}},
    note="Gap: the paper bounds L̂_{f*} − L_{f*} by sup (L − L̂), the wrong side (KJ-DD-util-onesided), and f* depends on S. Repair in "
    "the head of double_dipping_utility.py: f̃ in the place of f*, and McDiarmid's inequality for L̂(f̃).",
    cost=1.5,
)
def learned_on_its_own_landmarks(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Draws of S; what the coin reaches with a larger probability than 2δ."""
    if "coin" in instance:
        n, delta = instance["n"], instance["delta"]
        yield at_most(reached(n, 2 * delta), trial["share"] * bound(n, delta), "excess on a nearly fair coin")
        return
    rng = np.random.default_rng(instance["seed"])
    points, n, delta = instance["points"], instance["n"], instance["delta"]
    masses = rng.dirichlet(np.full(points, 2.0))
    gram = rng.choice([-1.0, 1.0], size=(points, points))
    f = gram @ (masses * rng.choice([-1.0, 1.0], size=points))
    targets = np.clip(f + instance["noise"] * rng.choice([-1.0, 1.0], size=points), -1.0, 1.0)
    limit = float(masses @ np.abs(f - targets)) + trial["share"] * bound(n, delta)
    for _ in trial.draws(100_000):
        shares = trial.rng.multinomial(n, masses) / n
        learned = minimiser(gram, targets, shares)
        yield outcome(float(masses @ np.abs(learned - targets)) > limit, 2 * delta)


def landmarked_loss(instance: Instance, counts: Counts, weights: list[Fraction]) -> Fraction:
    """L̂(f̃) on the sample with these counts."""
    n, total = sum(counts), ZERO
    for k, row, y in zip(counts, instance["gram"], instance["targets"], strict=True):
        if k:
            f = sum((c * w * a for c, w, a in zip(counts, weights, row, strict=True)), ZERO) / n
            total += k * abs(f - y)
    return total / n


@claim(
    "KJ-DD-util-mean",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix B, ours: the two means behind the repair",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For |K| ≤ 1, |w| ≤ B and any y: E_S L̂(f̃) ≤ L(f) + B (2 + √(n − 1))/n; and for every sample L(f̂) ≤ L̂(f̃) + g(S) for each "
    r"empirical minimiser f̂, as L̂(f̂) ≤ L̂(f̃) because f̃ ∈ F_S. (w = ±1; all samples of small domains, exactly: g(S) ≥ L(f̃) − "
    r"L̂(f̃).)",
    instances=lambda trial: small_domains(trial, reach=8),
    knobs={"own": 2},
    mutants={"without the landmark's own term": {"own": 0}},
    cost=0.5,
)
def means_of_the_repair(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both, with w = −sign K(x, x), which is worst for the landmark's own term."""
    masses, gram, n = instance["masses"], instance["gram"], instance["n"]
    weights = [-ONE if row[x] > 0 else ONE for x, row in enumerate(gram)]
    f = [sum((p * w * a for p, w, a in zip(masses, weights, row, strict=True)), ZERO) for row in gram]
    risk = sum((p * abs(v - y) for p, v, y in zip(masses, f, instance["targets"], strict=True)), ZERO)
    mean = ZERO
    for drawn, mass in multinomial(n, tuple(masses)):
        empirical = landmarked_loss(instance, drawn, weights)
        mean += mass * empirical
        landmarked = [sum((k * w * a for k, w, a in zip(drawn, weights, row, strict=True)), ZERO) / n for row in gram]
        loss = sum((p * abs(v - y) for p, v, y in zip(masses, landmarked, instance["targets"], strict=True)), ZERO)
        if sum(1 for k in drawn if k) <= 3:
            yield at_most(loss - empirical, largest_gap(instance, drawn), "L(f̃) − L̂(f̃) against g(S)")
    yield at_most(mean, risk + (trial["own"] + root(n - 1)) / n, "E L̂(f̃)")
