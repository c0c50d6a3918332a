r"""Finite learners for the PAC-Bayes bounds: worlds, priors, and posteriors that come close to violating the bounds.

Samples of size n are listed by the counts of their atoms, in the order of `exact_tails.multinomial`; a learner is one posterior a sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.claims.transcendent import root_bounds
from simopt.core.arrays import Array
from simopt.theorems.small_worlds.exact_tails import Ball, average, ball, expected, multinomial
from simopt.theorems.small_worlds.sampled_worlds import disc_point, weights
from simopt.theorems.small_worlds.worlds import dot, minus, plus, scaled, squared

PARTS = 4096  # denominator of posterior weights


def rounded(probabilities: Array) -> list[Fraction]:
    """Positive rationals near the probabilities that add up to 1."""
    parts = [max(1, round(PARTS * float(p))) for p in probabilities]
    return [Fraction(part, sum(parts)) for part in parts]


def divergence(posterior: Sequence[Fraction], prior: Sequence[Fraction]) -> Ball:
    """D_KL between two distributions on a finite set, 0 log 0 = 0."""
    return sum((ball(q) * (ball(q) / ball(p)).log() for q, p in zip(posterior, prior, strict=True) if q > 0), ball(0))


def worst_posteriors(
    chances: list[Fraction], losses: list[list[Fraction]], prior: list[Fraction], beta: Fraction, n: int
) -> list[list[Fraction]]:
    """For each sample a distribution Q over the functions near the least of ℓ(S, Q̄) + D_KL(Q, π)/(βn) − ℓ_ββ(P, Q).

    A stationary point satisfies Q(f) ∝ π(f) exp(−βn ℓ(S, f) − n E_f/Q(E)), E_f = E_P e^{−β ℓ(·, f)}: iterated, with damping.
    """
    table, start, b = np.array(losses, dtype=float), np.array(prior, dtype=float), float(beta)
    annealed = np.array(chances, dtype=float) @ np.exp(-b * table)
    made = []
    for drawn, _ in multinomial(n, tuple(chances)):
        seen = np.array(drawn) @ table / n
        q = start
        for _ in range(60):
            log = np.log(start) - b * n * seen - n * annealed / (q @ annealed)
            new = np.exp(log - log.max())
            q = (q + new / new.sum()) / 2
        made.append(rounded(q))
    return made


def finite_learners(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Four examples (two points, both labels), three functions, n ≤ 3; and one function, which decides between two losses."""
    for p in (Fraction(1, 10), Fraction(1, 2)):
        one = {"chances": [p, 1 - p], "losses": [[Fraction(0)], [Fraction(2)]], "prior": [Fraction(1)], "beta": Fraction(20), "n": 1}
        yield one | {"posteriors": [[Fraction(1)]] * 2}
    for k in range(trial.count(40, 120)):
        scores = [[Fraction(int(v), 4) for v in trial.rng.integers(-6, 7, size=3)] for _ in range(2)]
        losses = [[1 - y * f for f in row] for row in scores for y in (1, -1)]
        made: sc.Instance = {"chances": weights(trial.rng, 4), "losses": losses, "prior": weights(trial.rng, 3)}
        made |= {"beta": Fraction(int(trial.rng.integers(1, 9)), 4), "n": int(trial.rng.integers(1, 4))}
        if k % 4 == 3:
            size = len(multinomial(made["n"], tuple(made["chances"])))
            yield made | {"posteriors": [weights(trial.rng, 3) for _ in range(size)]}
        else:
            yield made | {"posteriors": worst_posteriors(**made)}


def into_ball(vector: Sequence[Fraction]) -> list[Fraction]:
    """The vector, or a rational multiple of it just inside the unit ball."""
    length = squared(vector)
    if length <= 1:
        return list(vector)
    return scaled(vector, Fraction(int(1024 / root_bounds(Fraction(length), 2)[1]), 1024))


def mixture(
    rng: np.random.Generator, chances: list[Fraction], maps: list[Any], n: int, beta: Fraction, strength: Fraction, half: Fraction
) -> sc.Instance:
    """A learner with Ā^i(S) = ω_π^i + strength·βn (ω_S^i − ω_P^i) in the unit ball and mixing weights that are worst for the bound."""
    centres = [scaled(disc_point(rng)[: len(features[0])], Fraction(int(rng.integers(0, 3)), 2)) for features in maps]
    prior = weights(rng, len(maps))
    vectors, mixing = [], []
    for drawn, _ in multinomial(n, tuple(chances)):
        mine, gains = [], []
        for features, centre in zip(maps, centres, strict=True):
            apart = minus(average(drawn, features), expected(chances, features))
            mine.append(into_ball(plus(centre, scaled(apart, strength * beta * n))))
            gains.append(float(beta * n * dot(mine[-1], apart) - half * squared(minus(mine[-1], centre))))
        log = np.log(np.array(prior, dtype=float)) + np.array(gains)
        mixing.append(rounded(np.exp(log - log.max()) / np.exp(log - log.max()).sum()))
        vectors.append(mine)
    made: sc.Instance = {"chances": chances, "maps": maps, "centres": centres, "prior": prior, "n": n, "beta": beta}
    return made | {"vectors": vectors, "mixing": mixing}


def normal_learners(trial: sc.Trial, kinds: int) -> Iterator[sc.Instance]:
    """Normal posteriors N(Ā(S), 1) over one map, or mixtures over several; the first worlds are a fair coin and a rare point."""
    one = Fraction(1)
    coin, rare = [[one], [-one]], [[one], [-one]]
    for chances, features in (([one / 2, one / 2], coin), ([one / 16, 15 * one / 16], rare)):
        for n, beta in ((1, one / 4), (4, one / 4), (2, one / 8), (3, one), (6, one / 2)):
            for strength in (one / 2, one):
                yield mixture(trial.rng, chances, [features] * kinds, n, beta, strength, one / 2)
    for _ in range(trial.count(20, 80)):
        size = int(trial.rng.integers(2, 4))
        maps = [[disc_point(trial.rng) for _ in range(size)] for _ in range(kinds)]
        beta, strength = Fraction(int(trial.rng.integers(1, 9)), 8), Fraction(int(trial.rng.integers(1, 5)), 4)
        yield mixture(trial.rng, weights(trial.rng, size), maps, int(trial.rng.integers(1, 5)), beta, strength, one / 2)


def single_maps(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One feature map: Theorem 20."""
    yield from normal_learners(trial, 1)


def several_maps(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Two or three feature maps: Theorem 21."""
    yield from normal_learners(trial, 2)
    yield from normal_learners(trial, 3)
