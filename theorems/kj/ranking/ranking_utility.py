r"""Theorem 30 as a theorem: with probability ≥ 1 − 2δ the regret of Algorithm 1 on lists is at most, with s = 1 + √(2 log(1/δ)),

    ‖D − rev D‖₂ √(ε_0 + 2(B + η_max) m (B/√d) s + (4mB(B + η_max)/√n) s).

Worlds are finite, so that d landmarks and n lists are counts, the empirical minimiser is a small secular equation, and ε_0 and the regret
are exact up to rounding; scores that tie are ordered against us.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from simopt.claims import HIGH_PROBABILITY, HOLDS, KAR_JAIN, Check, Instance, Trial, at_most, claim, outcome
from simopt.data import relevance
from simopt.ground.arrays import Array
from simopt.problems.ranking_goodness import RankingGoodness
from simopt.solvers.goodness.box_squares import ranking_iterates
from simopt.theorems.kj.ranking.goodness_for_ranking import stacked
from simopt.theorems.kj.ranking.ranking_worlds import masses, world

SECTION = "ordinal"
TIE = 1e-9  # scores closer than this are tied


@dataclass(frozen=True)
class Lists:
    """The lists of a world in floats: pairs (L, m), η (L, m), probabilities (L,), grades of pairs (N,), μ (N,)."""

    pairs: Array
    eta: Array
    chances: Array
    grades: Array
    measure: Array

    def loss(self, f: Array) -> float:
        """E ‖f(x) − η‖²."""
        return float(self.chances @ np.sum((f[self.pairs] - self.eta) ** 2, axis=1))

    def regret(self, f: Array) -> float:
        """E (1 + ℓ_NDCG), worst ties."""
        rounded = np.round(f / TIE)
        losses = [relevance.ndcg_loss(rounded[row], self.grades[row], ties=relevance.WORST) for row in self.pairs]
        return float(self.chances @ (1.0 + np.array(losses)))


def lists(instance: Instance) -> Lists:
    """All lists of a world."""
    found = stacked(instance)
    pairs = found["documents"].reshape(-1, instance["m"])
    grades = np.array([grade for row in instance["grades"] for grade in row], dtype=float)
    eta = np.array([relevance.eta(grades[row]) for row in pairs])
    return Lists(pairs, eta, found["probabilities"], grades, np.array([float(p) for p in masses(instance)]))


def least_loss(instance: Instance, gram: Array, bound: float) -> float:
    """ε_0(B) from above: the loss of the best weights found."""
    found = stacked(instance)
    problem = RankingGoodness(gram, found["relevance"], found["qid"], bound, found["documents"], found["probabilities"])
    return min(float(problem.objective(problem.restore(step.point))) for step in ranking_iterates(problem, 1e-9, 80))


def in_ball(A: Array, b: Array, radius: float) -> Array:
    """The shortest minimiser of ‖Aw − b‖ over ‖w‖ ≤ radius, by its secular equation."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    keep = s > 1e-12 * max(1.0, float(s[0]))
    s, Vt, c = s[keep], Vt[keep], U[:, keep].T @ b

    def over(shift: float) -> float:
        return float(np.linalg.norm(s * c / (s**2 + shift))) - radius

    top = float(np.linalg.norm(s * c)) / radius
    shift = brentq(over, 0.0, top) if top > 0.0 and over(0.0) > 0.0 else 0.0
    out: Array = Vt.T @ (s * c / (s**2 + shift))
    return out


def trained(found: Lists, gram: Array, bound: float, d: int, n: int, rng: np.random.Generator) -> Array:
    """Predictions of Algorithm 1 on all pairs: Ψ(z) = (K(z, l_1), …, K(z, l_d))/√d, equal landmarks put together."""
    features = gram * np.sqrt(rng.multinomial(d, found.measure) / d)
    drawn = rng.multinomial(n, found.chances) / n
    root = np.sqrt(np.repeat(drawn, found.pairs.shape[1]))
    w = in_ball(features[found.pairs.ravel()] * root[:, None], found.eta.ravel() * root, bound)
    out: Array = features @ w
    return out


def learning(trial: Trial) -> Iterator[Instance]:
    """Lists of four from two documents, K = 1{z = z'} and a kernel of rank two; two queries of three documents, lists of three; K = 1."""
    two = world([1], [["13/20", "7/20"]], [[2, 1]], 4)
    three = world(["1/2", "1/2"], [["1/4", "1/4", "1/2"], ["1/4", "1/2", "1/4"]], [[3, 2, 1], [1, 4, 2]], 3)
    line = np.array([1.0, 0.5, 0.0, 0.0, 1.0, 0.5])
    for made, gram, bound in (
        (two, np.eye(2), 1.0),
        (two, np.array([[1.0, 0.6], [0.6, 0.5]]), 0.5),
        (three, (np.outer(line, line) + np.eye(6)) / 2.0, 2.0),
        (world([1], [["1/2", "1/2"]], [[2, 1]], 4), np.ones((2, 2)), 1.0),
    ):
        yield made | {"gram": gram, "bound": bound, "d": 10**10, "n": 10**10, "delta": 0.1}


@claim(
    "KJ-Thm30-useful",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 30, ours: the regret of Algorithm 1",
    kind=HIGH_PROBABILITY,
    expected=HOLDS,
    says=r"Let **|K| ≤ 1** and K be (ε_0, B)-good for ranking. For every δ, with probability ≥ 1 − 2δ over d landmarks and n lists, every "
    r"empirical minimiser of ℓ_sq over ‖w‖ ≤ B has **E (1 + ℓ_NDCG)** ≤ ‖D − rev D‖₂ √(ε_0 + 2(B + η_max)m(B/√d)s + (4mB(B + "
    r"η_max)/√n)s), s = 1 + √(2 log(1/δ)). (Three worlds, ε_0 = ε_0(B), exact regret with the worst ties; and K = 1, where all is tied "
    r"whatever is drawn, which comes nearest.)",
    instances=learning,
    knobs={"run": 1.0},
    mutants={"one landmark, one list": {"run": 0.0}},
    note="KJ-Thm30+, KJ-Thm30-dec with E_μ |f̃ − f| ≤ (B/√d)s (KJ-L15+), and KJ-Thm30-3+. The sizes are so large because the bound is "
    "above the largest regret, 0.37 for two documents, for smaller ones.",
    cost=1.0,
)
def regret_of_algorithm_1(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Draws of both samples."""
    found, gram, bound, delta = lists(instance), instance["gram"], instance["bound"], instance["delta"]
    m, d, n = instance["m"], instance["d"], instance["n"]
    level = least_loss(instance, gram, bound)
    slope = 2.0 * (bound + math.log(2.0)) * m * bound * (1.0 + math.sqrt(2.0 * math.log(1.0 / delta)))
    D = relevance.discounts(m)
    limit = float(np.linalg.norm(D - D[::-1])) * math.sqrt(level + slope / math.sqrt(d) + 2.0 * slope / math.sqrt(n))
    if np.ptp(gram) == 0.0:
        yield at_most(found.regret(np.zeros(len(gram))), limit, "regret where all is tied")
        return
    for _ in trial.draws(100_000):
        f = trained(found, gram, bound, max(1, int(trial["run"] * d)), max(1, int(trial["run"] * n)), trial.rng)
        yield outcome(found.regret(f) > limit + 1e-9, 2.0 * delta)
