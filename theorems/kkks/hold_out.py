r"""Sections 3 and 4: which h^t to take. The paper picks the one with the least error on a hold-out set; here is how large it has to be.

Let the T predictors be given. With probability ≥ 1 − δ the mean of (h^t(x) − y)² over k fresh samples is within √(log(2T/δ)/(2k)) of
err(h^t) for all t at once (Hoeffding, for numbers in [0, 1]). The one with the least mean is then within twice that of the least err(h^t);
and err(h) − ε(h) does not depend on h. Take a law with two places x = ±a and labels in {0, 1}. There the hold-out is three numbers: how
many samples have x = a, and how many ones there are at each. So the probability of a bad choice is a finite sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, product
from math import comb, lcm

import simopt.claims as sc
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO, PiecewiseLinear, ramp
from simopt.theorems.kkks.rational_tron import fitted, iterates, known

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)


def held_out(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Two predictors between which the noise decides; iterates of both algorithms, on one place and on two."""
    for root_k in (4, 10, 20)[: trial.count(2, 3)]:
        # err(0) − err(1) = 2p − 1: of the order 1/√k, and so is the mistake that is made with probability above 1/4
        means, tables = [HALF + Fraction(3, 10 * root_k)], [[ZERO], [ONE]]
        yield {"name": "h = 0 and h = 1", "means": means, "tables": tables, "k": root_k**2, "delta": QUARTER}
    for k in (20, 100, 400)[: trial.count(2, 3)]:
        for ones in (2, 3):  # of four training samples
            yield from iterates_on([ONE], [3 * QUARTER], [ones], ramp(ZERO), k)
    for k in (16, 30)[: trial.count(1, 2)]:
        for low, high in ((0, 4), (1, 3), (2, 1)):
            yield from iterates_on([-ONE, ONE], [QUARTER, 3 * QUARTER], [low, high], ramp(-HALF), k)


def iterates_on(points: list[Fraction], means: list[Fraction], ones: list[int], u: PiecewiseLinear, k: int) -> Iterator[sc.Instance]:
    """The first six h^t of GLM-tron and of L-Isotron as their values at the places, with four training samples at each."""
    features, labels, counts = [[x] for x in points], [Fraction(n, 4) for n in ones], [4] * len(points)
    for name, fit in (("GLM-tron", known(u)), ("L-Isotron", fitted(labels, counts))):
        tables = [now.predictions for now in islice(iterates(features, labels, fit, counts), 6)]
        yield {"name": f"{name}, {ones} ones of 4", "means": means, "tables": tables, "k": k, "delta": QUARTER}


def heads(k: int, p: Fraction) -> list[int]:
    """P(Bin(k, p) = s) times the k-th power of the denominator of p, s = 0 … k."""
    a, b = p.numerator, p.denominator
    return [comb(k, s) * a**s * (b - a) ** (k - s) for s in range(k + 1)]


def hold_outs(means: Sequence[Fraction], k: int) -> Iterator[tuple[int, list[int], list[int]]]:
    """Weight, samples at each place, and ones at each place; the means have one denominator, so that the weights have."""
    if len(means) == 1:
        for s, weight in enumerate(heads(k, means[0])):
            yield weight, [k], [s]
        return
    for right in range(k + 1):
        left = heads(k - right, means[0])
        for (s, p), (t, q) in product(enumerate(left), enumerate(heads(right, means[1]))):
            yield comb(k, right) * p * q, [k - right, right], [s, t]


def excesses(means: list[Fraction], tables: list[list[Fraction]], k: int, sign: int) -> dict[Fraction, Fraction]:
    """The law of ε(ĥ) − min ε(h^t); ĥ is the first with the least Σ (h(x) − y)² over the hold-out, with sign −1 the largest."""
    errors = [sum(((v - p) ** 2 for v, p in zip(values, means, strict=True)), ZERO) / len(means) for values in tables]
    unit = lcm(*(v.denominator for values in tables for v in values))
    scaled = [[int(v * unit) for v in values] for values in tables]
    weights = [0] * len(tables)
    for weight, counts, ones in hold_outs(means, k):
        # Σ (h − y)² less Σ y², which is the same for all
        sums = [sum((n * v - 2 * s * unit) * v for v, n, s in zip(values, counts, ones, strict=True)) for values in scaled]
        weights[min(range(len(sums)), key=lambda t: sign * sums[t])] += weight
    law: dict[Fraction, Fraction] = {}
    for error, weight in zip(errors, weights, strict=True):
        excess = error - min(errors)
        law[excess] = law.get(excess, ZERO) + Fraction(weight, sum(weights))
    return law


def quantile(law: dict[Fraction, Fraction], level: Fraction) -> Fraction:
    """The least value v with P(value ≤ v) ≥ share."""
    total = ZERO
    for value in sorted(law):
        total += law[value]
        if total >= level:
            return value
    return max(law)


@sc.claim(
    "KK-holdout",
    place="Section 3, after Theorem 1, and Section 4, after Theorem 2: choosing h^t by a hold-out set",
    kind=sc.HIGH_PROBABILITY,
    says=r"Let h^1, …, h^T have values in [0, 1], and let ĥ be the one of them with the least mean of (h(x) − y)² over **k samples that "
    r"had no part in them**. For every δ in (0, 1), with probability ≥ 1 − δ, ε(ĥ) ≤ min_t ε(h^t) + √(2 log(2T/δ)/k). (Exact "
    r"probabilities at δ = 1/4, for iterates of GLM-tron and L-Isotron on laws with one or two places, and for h^1 = 0, h^2 = 1 at E[y|x] "
    r"= 1/2 + 3/(10√k).)",
    instances=held_out,
    resolution=0.0,
    knobs={"sign": 1, "share": 1},
    mutants={"the largest error on the hold-out": {"sign": -1}, "a fifth of the bound": {"share": Fraction(1, 5)}},
    note="Proof in the head of hold_out.py. With T ≤ W√m + 1 and k = m this adds √(2 log(2T/δ)/m), which is within the bounds of both "
    "theorems: a hold-out of the size of the sample will do. The paper states no size, and that ε(h) equals err(h) 'up to a constant' "
    "means that err(h) − ε(h) does not depend on h (KK-err). The largest tightness is that of the (1 − δ)-quantile of ε(ĥ) − min ε(h^t) "
    "for the two constants.",
)
def choice_by_hold_out(
    k: int, delta: Fraction, tables: list[list[Fraction]], means: list[Fraction], name: str, trial: sc.Trial
) -> Iterator[sc.Check]:
    """P(excess > bound), and the quantile of the excess against the bound."""
    bound = trial["share"] * sc.root(2 * sc.log(sc.rational(2 * len(tables) / delta)) / k)
    law = excesses(means, tables, k, trial["sign"])
    bad = sum((p for excess, p in law.items() if excess > bound.low), ZERO)
    yield sc.probability(bad, bad, delta, f"P(excess > bound), {name}, k = {k}")
    yield sc.at_most(quantile(law, 1 - delta), bound, f"quantile of the excess, {name}, k = {k}")
