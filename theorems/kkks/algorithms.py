"""Algorithms 1 and 2, traced in rational arithmetic beside what they do by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice

import simopt.claims as sc
from simopt.theorems.kkks.index_models import random_model
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO, PiecewiseLinear, interpolating
from simopt.theorems.kkks.rational_tron import fitted, iterates, known
from simopt.theorems.small_worlds.worlds import dot

HALF = Fraction(1, 2)


def geometric(limit: Fraction, ratio: Fraction, t: int) -> Fraction:
    """limit · (1 − ratio^{t−1})."""
    return limit * (1 - ratio ** (t - 1))


def orthogonal_samples(trial: sc.Trial) -> Iterator[sc.Instance]:
    """x_j = a_j e_j, u(z) = clip(c + s z, 0, 1): one sample with u = z/2 and y = 1, and random ones."""
    yield {"lengths": [ONE], "labels": [ONE], "level": ZERO, "slope": HALF}
    for _ in range(trial.count(20, 60)):
        p = int(trial.rng.integers(1, 5))
        lengths = [Fraction(int(k), 8) for k in trial.rng.integers(1, 9, p)]
        labels = [Fraction(int(k), 8) for k in trial.rng.integers(0, 9, p)]
        level, slope = (Fraction(int(k), 8) for k in trial.rng.integers(1, 8, 2))
        yield {"lengths": lengths, "labels": labels, "level": level, "slope": slope}


@sc.claim(
    "KK-alg1",
    place="Section 3, Algorithm 1",
    kind=sc.ALGORITHM,
    says=r"GLM-tron is w^1 = 0, w^{t+1} = w^t + (1/m) Σ (y_i − u(w^t·x_i)) x_i (the w^0 of the proofs is w^1). For x_j = a_j e_j, j = 1 … "
    r"m, and u(z) = clip(c + s z, 0, 1), 0 ≤ c, y_j ≤ 1, 0 < s, |a_j| ≤ 1, it runs along w_j^t = (y_j − c)/(s a_j) · (1 − (1 − s "
    r"a_j²/m)^{t−1}): for x = y = 1, u = z/2, w^t = 0, 1, 3/2, 7/4, …",
    instances=orthogonal_samples,
    knobs={"start": ZERO, "mean": True},
    mutants={"w^1 = 1": {"start": ONE}, "a sum for the mean": {"mean": False}},
    note="Each step multiplies y_j − c − s a_j w_j by 1 − s a_j²/m ∈ [0, 1), so that c + s a_j w_j stays between c and y_j: it is never "
    "clipped.",
)
def known_transfer_by_hand(
    lengths: list[Fraction], labels: list[Fraction], level: Fraction, slope: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Ten iterates against the closed form."""
    a, y, c, s = lengths, labels, level, slope
    m = len(a)
    features = [[value if i == j else ZERO for j in range(m)] for i, value in enumerate(a)]
    u = PiecewiseLinear((-c / s, (1 - c) / s), (ZERO, ONE))
    share = m if trial["mean"] else 1
    for t, made in enumerate(islice(iterates(features, y, known(u), start=[trial["start"]] * m), 10), 1):
        for w, length, label in zip(made.w, a, y, strict=True):
            yield sc.equal(w, geometric((label - c) / (s * length), 1 - s * length**2 / share, t), f"t = {t}")


def short_traces(trial: sc.Trial) -> Iterator[sc.Instance]:
    """x = −a, a with any labels; three points whose trace was worked out by hand; random models."""
    for a in (Fraction(1, 4), HALF, ONE):
        for low, high in ((ZERO, ONE), (Fraction(1, 4), HALF), (ONE, Fraction(1, 8)), (HALF, HALF)):
            w = [geometric((high - low) / (2 * a), 1 - a**2, t) for t in range(1, 9)]
            yield {"features": [[-a], [a]], "labels": [low, high], "trace": w}
    trace = [ZERO, Fraction(1, 3), Fraction(4, 9), Fraction(29, 54)]
    yield {"features": [[-ONE], [ZERO], [ONE]], "labels": [ZERO, ONE, ONE], "trace": trace}
    for _ in range(trial.count(15, 50)):
        drawn = random_model(trial.rng, ONE)
        yield {"features": drawn["features"], "labels": drawn["labels"], "trace": []}


@sc.claim(
    "KK-alg2",
    place="Section 4, Algorithm 2",
    kind=sc.ALGORITHM,
    says=r"L-Isotron is w^1 = 0, u^t = LPAV(w^t·x_i, y_i), w^{t+1} = w^t + (1/m) Σ (y_i − u^t(w^t·x_i)) x_i. For x = −a, a, 0 < a ≤ 1, it "
    r"runs along w^t = (y_2 − y_1)/(2a) · (1 − (1 − a²)^{t−1}); for x = −1, 0, 1 and y = 0, 1, 1 it begins with 0, 1/3, 4/9, 29/54. "
    r"**Beyond the points, where the paper leaves it open, u^t is continued by constants**: then every h^t is nondecreasing in w^t·x, "
    r"1-Lipschitz and in [0, 1] everywhere.",
    instances=short_traces,
    knobs={"lipschitz": ONE, "beyond": "constant"},
    mutants={"PAV (Isotron)": {"lipschitz": None}, "the last pieces continued": {"beyond": "linear"}},
    note="At w^1 = 0 all z are tied and u^1 is the mean of y. Let Δ = y_2 − y_1 ≥ 0, else exchange the points. While 2aw^t ≤ Δ, u^t is "
    "the mean of y ± aw^t, w^{t+1} = (1 − a²)w^t + aΔ/2, and 2aw^{t+1} ≤ Δ.",
)
def fitted_transfer_by_hand(
    features: list[list[Fraction]], labels: list[Fraction], trace: list[Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """The iterates worked out by hand, and the predictors as functions."""
    fit = fitted(labels, [1] * len(labels), trial["lipschitz"])
    for t, made in enumerate(islice(iterates(features, labels, fit), max(len(trace), 4)), 1):
        if t <= len(trace):
            yield sc.equal(made.w, trace[t - 1], f"w^{t}")
        u = interpolating([Fraction(dot(made.w, x)) for x in features], made.predictions)
        ends = reached(u, trial["beyond"])
        yield sc.at_least(min(ends), 0, f"u^{t} ≥ 0")
        yield sc.at_most(max(ends), 1, f"u^{t} ≤ 1")
        yield sc.true(u.nondecreasing() and u.lipschitz() <= 1, f"u^{t} is nondecreasing and 1-Lipschitz", evidence=sc.EXACT)


def reached(u: PiecewiseLinear, beyond: str) -> Sequence[Fraction]:
    """Values at the ends of the points and 4 beyond, continued by constants or by the outermost pieces."""
    slopes = u.slopes() if beyond == "linear" else []
    first, last = (slopes[0], slopes[-1]) if slopes else (ZERO, ZERO)
    return [u.values[0] - 4 * first, u.values[0], u.values[-1], u.values[-1] + 4 * last]
